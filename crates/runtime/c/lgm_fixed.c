/* Runs a model in steps of fixed length, as a real-time loop does, and writes every row as CSV.
 *
 * usage: PROGRAM [STEPS]
 */
#include "lgm_branch.h"
#include "lgm_names.h"
#include "lgm_rk4.h"
#include "lgm_numbers.h"
#include "lgm_run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* The length of a step in seconds. */
static const lgm_real step = LGM_FIXED_STEP;

static lgm_run run;
static lgm_rk4 work;
static lgm_real y[LGM_ROOM(LGM_OUTPUTS)];

static lgm_status motion(void *context, lgm_real t, const lgm_real x[], lgm_real dx[]) {
    lgm_run *const own = (lgm_run *)context;
    /* A controller would read its inputs once per step; the default signals are known in between too. */
    const lgm_real inside = lgm_run_inputs(own, t);
    return lgm_rates(&own->model, inside, x, own->u, own->du, dx);
}

#if LGM_BRANCHES
static lgm_real x_before[LGM_ROOM(LGM_STATES)];
static lgm_real x_after[LGM_ROOM(LGM_STATES)];
static lgm_real step_end;

static void copy_states(lgm_real to[], const lgm_real from[]) {
    for (int at = 0; at < LGM_STATES; at++) {
        to[at] = from[at];
    }
}

/* The way of the last step, in a straight line. */
static lgm_real along_step(lgm_run *own, lgm_real t, lgm_real x[]) {
    const lgm_real share = (t - own->t) / (step_end - own->t);
    for (int at = 0; at < LGM_STATES; at++) {
        x[at] = x_before[at] + share * (x_after[at] - x_before[at]);
    }
    return lgm_run_inputs(own, t);
}

static lgm_status take_step(lgm_real end) {
    run.t = end;
    copy_states(run.x, x_after);
    lgm_branch_accept(&run);
    return LGM_OK;
}

/* A step of the stepper, up to where the branch of the loops ends that the run follows. */
static lgm_status one_step(lgm_real end) {
    lgm_status status = LGM_OK;
    if (run.is_fresh != 0) {
        status = lgm_branch_begin(&run);
        run.is_fresh = 0;
    }
    copy_states(x_before, run.x);
    copy_states(x_after, run.x);
    lgm_branch_recall(&run, run.t);
    if (status == LGM_OK) {
        status = lgm_rk4_step(&work, motion, &run, run.t, end - run.t, x_after);
    }
    step_end = end;
    if (status == LGM_OK && lgm_branch_follow(&run, run.t, end, along_step) && !lgm_branch_is_lost(&run)) {
        return take_step(end);
    }
    if (status != LGM_OK && status != LGM_LOOP_NOT_SOLVED) {
        return status;
    }
    /* Slopes beyond the end of the branch are another one's: straight on to there, or to the next step. */
    status = lgm_run_rates(&run, run.t, run.x, x_after);
    for (int at = 0; at < LGM_STATES; at++) {
        x_after[at] = x_before[at] + (end - run.t) * x_after[at];
    }
    if (status != LGM_OK || lgm_branch_follow(&run, run.t, end, along_step)) {
        return (status != LGM_OK) ? status : take_step(end);
    }
    (void)along_step(&run, run.branch.after, run.x);
    run.t = run.branch.after;
    return lgm_branch_leave(&run);
}

#endif
/* One step to time `end`. Where a corner of the inputs lies within it, the step is made in two parts, so that both see the
 * inputs as they are on their side, and a jump of the inputs moves the states that it has to move. */
static lgm_status step_to(lgm_real end) {
    lgm_status status = LGM_OK;
    while (status == LGM_OK && run.t < end) {
        const lgm_real bound = lgm_run_bound(&run);
        const lgm_real reached = (bound <= end + LGM_ROUNDING * lgm_fabs(end)) ? bound : end;
        if (reached > run.t) {
#if LGM_BRANCHES
            status = one_step(reached);
        }
#else
            status = lgm_rk4_step(&work, motion, &run, run.t, reached - run.t, run.x);
        }
        run.t = reached;
#endif
        if (status == LGM_OK && run.t >= bound) {
            lgm_run_hold(&run);
            status = lgm_run_pass(&run);
        }
    }
    return status;
}

static lgm_status print_row(lgm_real t) {
    const lgm_status status = lgm_run_outputs(&run, t, run.x, y);
    (void)printf("%.9g", (double)t);
    for (int column = 0; column < LGM_OUTPUTS; column++) {
        (void)printf(",%.17g", (double)y[column]);
    }
    for (int column = 0; column < LGM_STATE_COLUMNS; column++) {
        (void)printf(",%.17g", (double)run.x[lgm_column_states[column]]);
    }
    (void)fputc('\n', stdout);
    return status;
}

int main(int count, char **arguments) {
    static lgm_parameters parameters;
    const long steps = (count > 1) ? strtol(arguments[1], NULL, 10) : 1000L;
    const lgm_real start = LGM_PLAN_START;
    lgm_status status;
    /* The tolerance of what a step of an input does to the states; steps of fixed length have none. */
    run.solver.rtol = LGM_PLAN_RTOL;
    run.solver.atol = LGM_PLAN_ATOL;
    lgm_defaults(&parameters);
    status = lgm_init(&run.model, &parameters, run.x);
    if (status == LGM_OK) {
        status = lgm_run_begin(&run, start, start + (lgm_real)steps * step, NULL);
    }
    for (int at = 0; at < 1 + LGM_OUTPUTS + LGM_STATE_COLUMNS; at++) {
        (void)printf("%s%s", (at > 0) ? "," : "", lgm_column_names[at]);
    }
    (void)fputc('\n', stdout);
    for (long at = 0; at <= steps && status == LGM_OK; at++) {
        const lgm_real t = start + (lgm_real)at * step;
        if (at > 0) {
            status = step_to(t);
        }
        if (status == LGM_OK) {
            status = print_row(t);
        }
    }
    if (status != LGM_OK) {
        char cause[256];
        lgm_run_cause(&run, status, run.t, run.x, cause, sizeof cause);
        (void)fprintf(stderr, "the run ends at %g s: %s\n", (double)run.t, cause);
        return 1;
    }
    return (fflush(stdout) == 0) ? 0 : 1;
}
