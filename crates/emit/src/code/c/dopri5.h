/* Dormand and Prince's method of order 5(4) with step size control and dense output, for @model@.
 *
 * @origin@
 */
#ifndef @guard@_DOPRI5_H
#define @guard@_DOPRI5_H

#include "@name@_rk4.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One integration on its way. */
typedef struct {
    /* Where the last step began and ended. */
    @name@_real before;
    @name@_real t;
    /* The states at t. */
    @name@_real x[@name@_ROOM(@name@_STATES)];
    @name@_real x_before[@name@_ROOM(@name@_STATES)];
    @name@_real slope[7][@name@_ROOM(@name@_STATES)];
    @name@_real trial[@name@_ROOM(@name@_STATES)];
    /* The step that is tried next. */
    @name@_real h;
    /* Largest local error of a step: relative, and absolute for states near zero; where that is 0, a thousandth of the relative
     * one times the scale of each state, which is the most that was seen of it. */
    @name@_real rtol;
    @name@_real atol;
    /* The largest size of each state until now. */
    @name@_real seen[@name@_ROOM(@name@_STATES)];
    /* No step is longer; 0 where nothing bounds them. */
    @name@_real longest;
    long steps;
    long rejected;
} @name@_dopri5;

/* Begins at a point; `stop` bounds the first step. The tolerances and the longest step must have been set. */
@name@_status @name@_dopri5_start(@name@_dopri5 *solver, @name@_motion f, void *context, @name@_real t,
    const @name@_real x[], @name@_real stop);

/* Makes one step that keeps the tolerances and does not pass `stop`. Where no step is small enough, the last status is
 * returned, @name@_NOT_FINITE if there is none. */
@name@_status @name@_dopri5_step(@name@_dopri5 *solver, @name@_motion f, void *context, @name@_real stop);

/* The slopes of a step of length h from t to `end`, whose first slope must be there, and the states at its end as a trial. */
@name@_status @name@_dopri5_stages(@name@_dopri5 *solver, @name@_motion f, void *context, @name@_real h, @name@_real end);

/* What the two solutions of such a step differ by in a state. */
@name@_real @name@_dopri5_difference(const @name@_dopri5 *solver, @name@_real h, int at);

/* What is allowed of a state at zero. */
@name@_real @name@_dopri5_near_zero(const @name@_dopri5 *solver, int at);

/* The states at a time within the last step, to order 4. */
void @name@_dopri5_dense(const @name@_dopri5 *solver, @name@_real t, @name@_real x[]);

#ifdef __cplusplus
}
#endif

#endif
