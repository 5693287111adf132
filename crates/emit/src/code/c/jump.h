/* What a step of the inputs of @model@ does to its states.
 *
 * @origin@
 *
 * The right sides are affine in the rates u' of the inputs, x' = f(x, u) + E(x, u) u': storage that sources determine gives and takes
 * charge and momentum at once. In a ramp that takes no time the states go along dx/ds = E(x, u) (after - before) while the share s of
 * the steps goes from 0 to 1. E times the steps is what the right sides grow by where the rates do, both beyond all bounds: a limited
 * rate adds nothing, and what grows faster than the rates is no jump. The way is gone in parts whose error is estimated. Conserved
 * charges and momenta determine the states at its end, whichever way the inputs take; so it is gone a second time along another one,
 * and where the two end apart, the steps do not say where the states come to.
 */
#ifndef @guard@_JUMP_H
#define @guard@_JUMP_H

#include "@name@_run.h"

/* The most parts of a way; one that takes more ends with @name@_JUMP_NOT_KNOWN. Each takes nineteen right-hand
 * sides. */
#ifndef @name@_JUMP_PARTS
#define @name@_JUMP_PARTS @jump_parts@
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Goes from the inputs held to these steps further, and leaves the states there in run->jump.way.x, and the loops solved there. */
@name@_status @name@_jump_go(@name@_run *run, const @name@_real step[], int is_start);

/* Writes why the last way did not come to its end, and which state is at fault. */
void @name@_jump_cause(const @name@_run *run, char text[], size_t size);

#ifdef __cplusplus
}
#endif

#endif
