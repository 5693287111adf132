/* Runge and Kutta's method of order 4 with a fixed step, for @model@.
 *
 * @origin@
 */
#ifndef @guard@_RK4_H
#define @guard@_RK4_H

#include "@name@.h"

#ifdef __cplusplus
extern "C" {
#endif

/* x' = f(t, x): writes dx and returns whether it has a value. The context is the caller's own. */
typedef @name@_status (*@name@_motion)(void *context, @name@_real t, const @name@_real x[], @name@_real dx[]);

/* Working memory of a step. */
typedef struct {
    @name@_real slope[4][@name@_ROOM(@name@_STATES)];
    @name@_real point[@name@_ROOM(@name@_STATES)];
} @name@_rk4;

/* Takes the states x from time t to t + h by four evaluations; they are left as they were where one has no value. */
@name@_status @name@_rk4_step(@name@_rk4 *work, @name@_motion f, void *context, @name@_real t, @name@_real h,
    @name@_real x[]);

#ifdef __cplusplus
}
#endif

#endif
