/* The change of the states caused by a step of the inputs.
 *
 * The right-hand sides are affine in the rates u' of the inputs, x' = f(x, u) + E(x, u) u': storage determined by sources exchanges
 * charge and momentum instantaneously. In a ramp of zero duration the states follow dx/ds = E(x, u) (after - before), while the
 * fraction s of the steps goes from 0 to 1. E times the steps is the growth of the right-hand sides when the rates grow without bound:
 * a bounded rate adds nothing, and growth faster than the rates is not a jump. The path is integrated with an error estimate.
 * Conserved charges and momenta determine the states at its end, for any path of the inputs. A second path is therefore integrated; if
 * the two ends differ, the steps do not determine the states.
 */
#ifndef LGM_JUMP_H
#define LGM_JUMP_H

#include "lgm_run.h"

#if LGM_JUMPS

#ifdef __cplusplus
extern "C" {
#endif

/* Applies these steps to the held inputs; leaves the resulting states in run->jump.way.x, and the loops solved there. */
lgm_status lgm_jump_go(lgm_run *run, const lgm_real step[], int is_start);

/* Writes the reason why the last path was not completed, and the state at fault. */
void lgm_jump_cause(const lgm_run *run, char text[], size_t size);

#ifdef __cplusplus
}
#endif

#endif

#endif
