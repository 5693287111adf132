/* Bends of laws that a step crosses: the step is made again so that it ends there.
 *
 * The error estimate of a Runge-Kutta method compares two sums of slopes, and holds where the right sides are smooth. Across a bend,
 * as of a limit, or of a condition whose sides meet, the two sums may happen to agree while both are wrong. So a step within which
 * a condition changes that bends the right sides is looked at: how much the bend adds to the states follows from the change of slope
 * of the right sides there. Where that matters, the step is made again up to the bend, and the next one begins behind it with the
 * length of before.
 */
#ifndef LGM_BENDS_H
#define LGM_BENDS_H

#include "lgm_run.h"

#if LGM_BENDS

#ifdef __cplusplus
extern "C" {
#endif

/* The solver begins anew. */
void lgm_bends_restart(lgm_run *run);

/* Where the next step ends at most: at the bend that it is made again for, or where it would anyway. */
lgm_real lgm_bends_end(lgm_run *run, lgm_real end);

/* Whether the last step leads across a bend that matters. Then the solver is back where the step began. */
int lgm_bends_cut(lgm_run *run);

#ifdef __cplusplus
}
#endif

#endif

#endif
