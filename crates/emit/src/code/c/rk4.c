/* Runge and Kutta's method of order 4 with a fixed step, for @model@.
 *
 * @origin@
 */
#include "@name@_rk4.h"

#include <math.h>

typedef @name@_real real;

@name@_status @name@_rk4_step(@name@_rk4 *work, @name@_motion f, void *context, @name@_real t, @name@_real h,
    @name@_real x[]) {
    static const real share[4] = {@zero@, @half@, @half@, @one@};
    for (int stage = 0; stage < 4; stage++) {
        for (int at = 0; at < @name@_STATES; at++) {
            const real before = (stage > 0) ? work->slope[stage - 1][at] : @zero@;
            work->point[at] = x[at] + share[stage] * h * before;
        }
        const @name@_status status = f(context, t + share[stage] * h, work->point, work->slope[stage]);
        if (status != @name@_OK) {
            return status;
        }
    }
    for (int at = 0; at < @name@_STATES; at++) {
        const real middle = work->slope[1][at] + work->slope[2][at];
        work->point[at] = x[at] + h / @six@ * (work->slope[0][at] + @two@ * middle + work->slope[3][at]);
        if (!isfinite(work->point[at])) {
            return @name@_NOT_FINITE;
        }
    }
    for (int at = 0; at < @name@_STATES; at++) {
        x[at] = work->point[at];
    }
    return @name@_OK;
}
