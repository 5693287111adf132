/* Kinks of laws within a step: the step is repeated so that it ends at the kink.
 *
 * The error estimate of a Runge-Kutta method compares two sums of slopes, and is valid if the right-hand sides are smooth. Across a
 * kink, such as that of a limit or of a condition with equal values on both sides, the two sums may happen to agree while both are
 * wrong. A step in which a condition with a kink changes is therefore examined: the effect of the kink on the states follows from the
 * change of slope there. If that is significant, the step is repeated up to the kink, and the next one begins after it with the
 * previous length.
 */
#ifndef LGM_BENDS_H
#define LGM_BENDS_H

#include "lgm_run.h"

#if LGM_BENDS

#ifdef __cplusplus
extern "C" {
#endif

/* Prepares for a restart of the solver. */
void lgm_bends_restart(lgm_run *run);

/* Returns the latest end of the next step: the kink up to which it is repeated, or `end`. */
lgm_real lgm_bends_end(lgm_run *run, lgm_real end);

/* Returns true if the last step crosses a significant kink. The solver is then back at the start of the step. */
int lgm_bends_cut(lgm_run *run);

#ifdef __cplusplus
}
#endif

#endif

#endif
