/* The change of its states by a step of the inputs.
 *
 * The right sides are affine in the rates u' of the inputs, x' = f(x, u) + E(x, u) u': storage that sources determine gives and takes
 * charge and momentum at once. In a ramp that takes no time the states go along dx/ds = E(x, u) (after - before) while the share s of
 * the steps goes from 0 to 1. E times the steps is what the right sides grow by where the rates do, both beyond all bounds: a limited
 * rate adds nothing, and what grows faster than the rates is no jump. The way is gone in parts whose error is estimated. Conserved
 * charges and momenta determine the states at its end, whichever way the inputs take; so it is gone a second time along another one,
 * and where the two end apart, the steps do not say where the states come to.
 */
#ifndef LGM_JUMP_H
#define LGM_JUMP_H

#include "lgm_run.h"

#if LGM_JUMPS

#ifdef __cplusplus
extern "C" {
#endif

/* Goes from the inputs held to these steps further, and leaves the states there in run->jump.way.x, and the loops solved there. */
lgm_status lgm_jump_go(lgm_run *run, const lgm_real step[], int is_start);

/* Writes why the last way did not come to its end, and which state is at fault. */
void lgm_jump_cause(const lgm_run *run, char text[], size_t size);

#ifdef __cplusplus
}
#endif

#endif

#endif
