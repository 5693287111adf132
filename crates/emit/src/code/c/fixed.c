/* Runs @model@ in steps of fixed length, as a real-time loop does, and writes every row as CSV.
 *
 * @origin@
 *
 * @operations@
 *
 * usage: @program@_fixed [STEPS]
 */
@if branches@
#include "@name@_branch.h"
@end@
#include "@name@_names.h"
#include "@name@_rk4.h"
#include "@name@_run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* The length of a step in seconds. */
static const @name@_real step = @fixed_step@;

static @name@_run run;
static @name@_rk4 work;
static @name@_real y[@name@_ROOM(@name@_OUTPUTS)];

static @name@_status motion(void *context, @name@_real t, const @name@_real x[], @name@_real dx[]) {
    @name@_run *const own = (@name@_run *)context;
    /* A controller would read its inputs once per step; the default signals are known in between too. */
    const @name@_real inside = @name@_run_inputs(own, t);
    return @name@_rates(&own->model, inside, x, own->u, own->du, dx);
}

@if branches@
static @name@_real x_before[@name@_ROOM(@name@_STATES)];
static @name@_real x_after[@name@_ROOM(@name@_STATES)];
static @name@_real step_end;

static void copy_states(@name@_real to[], const @name@_real from[]) {
    for (int at = 0; at < @name@_STATES; at++) {
        to[at] = from[at];
    }
}

/* The way of the last step, in a straight line. */
static @name@_real along_step(@name@_run *own, @name@_real t, @name@_real x[]) {
    const @name@_real share = (t - own->t) / (step_end - own->t);
    for (int at = 0; at < @name@_STATES; at++) {
        x[at] = x_before[at] + share * (x_after[at] - x_before[at]);
    }
    return @name@_run_inputs(own, t);
}

static @name@_status take_step(@name@_real end) {
    run.t = end;
    copy_states(run.x, x_after);
    @name@_branch_accept(&run);
    return @name@_OK;
}

/* A step of the stepper, up to where the branch of the loops ends that the run follows. */
static @name@_status one_step(@name@_real end) {
    @name@_status status = @name@_OK;
    if (run.is_fresh != 0) {
        status = @name@_branch_begin(&run);
        run.is_fresh = 0;
    }
    copy_states(x_before, run.x);
    copy_states(x_after, run.x);
    @name@_branch_recall(&run, run.t);
    if (status == @name@_OK) {
        status = @name@_rk4_step(&work, motion, &run, run.t, end - run.t, x_after);
    }
    step_end = end;
    if (status == @name@_OK && @name@_branch_follow(&run, run.t, end, along_step) && !@name@_branch_is_lost(&run)) {
        return take_step(end);
    }
    if (status != @name@_OK && status != @name@_LOOP_NOT_SOLVED) {
        return status;
    }
    /* Slopes beyond the end of the branch are another one's: straight on to there, or to the next step. */
    status = @name@_run_rates(&run, run.t, run.x, x_after);
    for (int at = 0; at < @name@_STATES; at++) {
        x_after[at] = x_before[at] + (end - run.t) * x_after[at];
    }
    if (status != @name@_OK || @name@_branch_follow(&run, run.t, end, along_step)) {
        return (status != @name@_OK) ? status : take_step(end);
    }
    (void)along_step(&run, run.branch.after, run.x);
    run.t = run.branch.after;
    return @name@_branch_leave(&run);
}

@end@
/* One step to time `end`. Where a corner of the inputs lies within it, the step is made in two parts, so that both see the
 * inputs as they are on their side, and a jump of the inputs moves the states that it has to move. */
static @name@_status step_to(@name@_real end) {
    @name@_status status = @name@_OK;
    while (status == @name@_OK && run.t < end) {
        const @name@_real bound = @name@_run_bound(&run);
        const @name@_real reached = (bound <= end + @rounding@ * @fabs@(end)) ? bound : end;
        if (reached > run.t) {
@if branches@
            status = one_step(reached);
        }
@else@
            status = @name@_rk4_step(&work, motion, &run, run.t, reached - run.t, run.x);
        }
        run.t = reached;
@end@
        if (status == @name@_OK && run.t >= bound) {
            @name@_run_hold(&run);
            status = @name@_run_pass(&run);
        }
    }
    return status;
}

static @name@_status print_row(@name@_real t) {
    const @name@_status status = @name@_run_outputs(&run, t, run.x, y);
    (void)printf("%.9g", (double)t);
    for (int column = 0; column < @name@_OUTPUTS; column++) {
        (void)printf(",%.17g", (double)y[column]);
    }
    for (int column = 0; column < @name@_STATE_COLUMNS; column++) {
        (void)printf(",%.17g", (double)run.x[@name@_column_states[column]]);
    }
    (void)fputc('\n', stdout);
    return status;
}

int main(int count, char **arguments) {
    static @name@_parameters parameters;
    const long steps = (count > 1) ? strtol(arguments[1], NULL, 10) : 1000L;
    const @name@_real start = @plan_start@;
    @name@_status status;
    /* The tolerance of what a step of an input does to the states; steps of fixed length have none. */
    run.solver.rtol = @plan_rtol@;
    run.solver.atol = @plan_atol@;
    @name@_defaults(&parameters);
    status = @name@_init(&run.model, &parameters, run.x);
    if (status == @name@_OK) {
        status = @name@_run_begin(&run, start, start + (@name@_real)steps * step, NULL);
    }
    for (int at = 0; at < 1 + @name@_OUTPUTS + @name@_STATE_COLUMNS; at++) {
        (void)printf("%s%s", (at > 0) ? "," : "", @name@_column_names[at]);
    }
    (void)fputc('\n', stdout);
    for (long at = 0; at <= steps && status == @name@_OK; at++) {
        const @name@_real t = start + (@name@_real)at * step;
        if (at > 0) {
            status = step_to(t);
        }
        if (status == @name@_OK) {
            status = print_row(t);
        }
    }
    if (status != @name@_OK) {
        char cause[256];
        @name@_run_cause(&run, status, run.t, run.x, cause, sizeof cause);
        (void)fprintf(stderr, "the run ends at %g s: %s\n", (double)run.t, cause);
        return 1;
    }
    return (fflush(stdout) == 0) ? 0 : 1;
}
