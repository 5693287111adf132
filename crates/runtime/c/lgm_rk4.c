/* Runge and Kutta's method of order 4 with a fixed step. */
#include "lgm_rk4.h"
#include "lgm_numbers.h"

#include <math.h>

lgm_status lgm_rk4_step(lgm_rk4 *work, lgm_motion f, void *context, lgm_real t, lgm_real h,
    lgm_real x[]) {
    static const real share[4] = {(real)0.0, (real)0.5, (real)0.5, (real)1.0};
    for (int stage = 0; stage < 4; stage++) {
        for (int at = 0; at < LGM_STATES; at++) {
            const real before = (stage > 0) ? work->slope[stage - 1][at] : (real)0.0;
            work->point[at] = x[at] + share[stage] * h * before;
        }
        const lgm_status status = f(context, t + share[stage] * h, work->point, work->slope[stage]);
        if (status != LGM_OK) {
            return status;
        }
    }
    for (int at = 0; at < LGM_STATES; at++) {
        const real middle = work->slope[1][at] + work->slope[2][at];
        work->point[at] = x[at] + h / (real)6.0 * (work->slope[0][at] + (real)2.0 * middle + work->slope[3][at]);
        if (!isfinite(work->point[at])) {
            return LGM_NOT_FINITE;
        }
    }
    for (int at = 0; at < LGM_STATES; at++) {
        x[at] = work->point[at];
    }
    return LGM_OK;
}
