/* Dormand and Prince's method of order 5(4) with step size control and dense output. */
#ifndef LGM_DOPRI5_H
#define LGM_DOPRI5_H

#include "lgm_point.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Computes x' = f(t, x): writes dx and returns the status. The context belongs to the caller. */
typedef lgm_status (*lgm_motion)(void *context, lgm_real t, const lgm_real x[], lgm_real dx[]);

/* The state of an integration. */
typedef struct {
    /* The beginning and the end of the last step. */
    lgm_real before;
    lgm_real t;
    /* The states at t. */
    lgm_real x[LGM_ROOM(LGM_STATES)];
    lgm_real x_before[LGM_ROOM(LGM_STATES)];
    lgm_real slope[7][LGM_ROOM(LGM_STATES)];
    lgm_real trial[LGM_ROOM(LGM_STATES)];
    /* The length of the next trial step. */
    lgm_real h;
    /* The largest local error of a step: relative, and absolute for states near zero. If the latter is 0, it is a thousandth of the
     * relative one times the scale of each state, which is its largest magnitude so far. */
    lgm_real rtol;
    lgm_real atol;
    /* The largest magnitude of each state so far. */
    lgm_real seen[LGM_ROOM(LGM_STATES)];
    /* The longest step; 0 if there is no limit. */
    lgm_real longest;
    long steps;
    long rejected;
} lgm_dopri5;

/* Begins at a point; `stop` limits the first step. The tolerances and the longest step must be set. */
lgm_status lgm_dopri5_start(lgm_dopri5 *solver, lgm_motion f, void *context, lgm_real t,
    const lgm_real x[], lgm_real stop);

/* Makes one step that satisfies the tolerances and does not pass `stop`. If no step is small enough, returns the last status, or
 * LGM_NOT_FINITE if there is none. */
lgm_status lgm_dopri5_step(lgm_dopri5 *solver, lgm_motion f, void *context, lgm_real stop);

/* Computes the slopes of a step of length h from t to `end`, whose first slope must be available, and the states at its end as a trial. */
lgm_status lgm_dopri5_stages(lgm_dopri5 *solver, lgm_motion f, void *context, lgm_real h, lgm_real end);

/* Returns the difference between the two solutions of such a step for a state. */
lgm_real lgm_dopri5_difference(const lgm_dopri5 *solver, lgm_real h, int at);

/* Returns the allowed error of a state at zero. */
lgm_real lgm_dopri5_near_zero(const lgm_dopri5 *solver, int at);

/* Called if no step is small enough: returns 1 if states become much larger by the horizon than they have been, because an event has
 * changed their drivers. Their scales are then increased. */
int lgm_dopri5_expects_more(lgm_dopri5 *solver, lgm_motion f, void *context, lgm_real horizon);

/* Computes the states at a time within the last step, to order 4. */
void lgm_dopri5_dense(const lgm_dopri5 *solver, lgm_real t, lgm_real x[]);

#ifdef __cplusplus
}
#endif

#endif
