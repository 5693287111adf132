/* Dormand and Prince's method of order 5(4) with step size control and dense output. */
#ifndef LGM_DOPRI5_H
#define LGM_DOPRI5_H

#include "lgm_rk4.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One integration on its way. */
typedef struct {
    /* The beginning and the end of the last step. */
    lgm_real before;
    lgm_real t;
    /* The states at t. */
    lgm_real x[LGM_ROOM(LGM_STATES)];
    lgm_real x_before[LGM_ROOM(LGM_STATES)];
    lgm_real slope[7][LGM_ROOM(LGM_STATES)];
    lgm_real trial[LGM_ROOM(LGM_STATES)];
    /* The step that is tried next. */
    lgm_real h;
    /* Largest local error of a step: relative, and absolute for states near zero; where that is 0, a thousandth of the relative
     * one times the scale of each state, which is the most that was seen of it. */
    lgm_real rtol;
    lgm_real atol;
    /* The largest size of each state until now. */
    lgm_real seen[LGM_ROOM(LGM_STATES)];
    /* No step is longer; 0 where nothing bounds them. */
    lgm_real longest;
    long steps;
    long rejected;
} lgm_dopri5;

/* Begins at a point; `stop` bounds the first step. The tolerances and the longest step must have been set. */
lgm_status lgm_dopri5_start(lgm_dopri5 *solver, lgm_motion f, void *context, lgm_real t,
    const lgm_real x[], lgm_real stop);

/* Makes one step that keeps the tolerances and does not pass `stop`. Where no step is small enough, the last status is
 * returned, LGM_NOT_FINITE if there is none. */
lgm_status lgm_dopri5_step(lgm_dopri5 *solver, lgm_motion f, void *context, lgm_real stop);

/* The slopes of a step of length h from t to `end`, whose first slope must be there, and the states at its end as a trial. */
lgm_status lgm_dopri5_stages(lgm_dopri5 *solver, lgm_motion f, void *context, lgm_real h, lgm_real end);

/* The difference of the two solutions of such a step in a state. */
lgm_real lgm_dopri5_difference(const lgm_dopri5 *solver, lgm_real h, int at);

/* The allowed error of a state at zero. */
lgm_real lgm_dopri5_near_zero(const lgm_dopri5 *solver, int at);

/* The states at a time within the last step, to order 4. */
void lgm_dopri5_dense(const lgm_dopri5 *solver, lgm_real t, lgm_real x[]);

#ifdef __cplusplus
}
#endif

#endif
