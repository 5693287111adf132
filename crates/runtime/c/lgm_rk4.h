/* Runge and Kutta's method of order 4 with a fixed step. */
#ifndef LGM_RK4_H
#define LGM_RK4_H

#include "lgm_model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* x' = f(t, x): writes dx and returns whether it has a value. The context is the caller's own. */
typedef lgm_status (*lgm_motion)(void *context, lgm_real t, const lgm_real x[], lgm_real dx[]);

/* Working memory of a step. */
typedef struct {
    lgm_real slope[4][LGM_ROOM(LGM_STATES)];
    lgm_real point[LGM_ROOM(LGM_STATES)];
} lgm_rk4;

/* Takes the states x from time t to t + h by four evaluations; they are left as they were where one has no value. */
lgm_status lgm_rk4_step(lgm_rk4 *work, lgm_motion f, void *context, lgm_real t, lgm_real h,
    lgm_real x[]);

#ifdef __cplusplus
}
#endif

#endif
