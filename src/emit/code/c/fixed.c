/* Runs @model@ in steps of fixed length, as a real-time loop does, and writes every row as CSV.
 *
 * @origin@
 *
 * @operations@
 *
 * usage: @program@_fixed [STEPS]
 */
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
static @name@_real y[@NAME@_ROOM(@NAME@_OUTPUTS)];

static @name@_status motion(void *context, @name@_real t, const @name@_real x[], @name@_real dx[]) {
    @name@_run *const own = (@name@_run *)context;
    /* A controller would read its inputs once per step; the default signals are known in between too. */
    const @name@_real inside = @name@_run_inputs(own, t);
    return @name@_rates(&own->model, inside, x, own->u, own->du, dx);
}

/* One step to time `end`. Where a corner of the inputs lies within it, the step is made in two parts, so that both see the
 * inputs as they are on their side, and a jump of the inputs moves the states that it has to move. */
static @name@_status step_to(@name@_real end) {
    @name@_status status = @NAME@_OK;
    while (status == @NAME@_OK && run.t < end) {
        const @name@_real bound = @name@_run_bound(&run);
        const @name@_real reached = (bound <= end + @rounding@ * @fabs@(end)) ? bound : end;
        if (reached > run.t) {
            status = @name@_rk4_step(&work, motion, &run, run.t, reached - run.t, run.x);
        }
        run.t = reached;
        if (status == @NAME@_OK && run.t >= bound) {
            @name@_run_hold(&run);
            status = @name@_run_pass(&run);
        }
    }
    return status;
}

static @name@_status print_row(@name@_real t) {
    const @name@_status status = @name@_run_outputs(&run, t, run.x, y);
    (void)printf("%.9g", (double)t);
    for (int column = 0; column < @NAME@_OUTPUTS; column++) {
        (void)printf(",%.17g", (double)y[column]);
    }
    for (int column = 0; column < @NAME@_STATE_COLUMNS; column++) {
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
    @name@_defaults(&parameters);
    status = @name@_init(&run.model, &parameters, run.x);
    if (status == @NAME@_OK) {
        status = @name@_run_begin(&run, start, start + (@name@_real)steps * step, NULL);
    }
    for (int at = 0; at < 1 + @NAME@_OUTPUTS + @NAME@_STATE_COLUMNS; at++) {
        (void)printf("%s%s", (at > 0) ? "," : "", @name@_column_names[at]);
    }
    (void)fputc('\n', stdout);
    for (long at = 0; at <= steps && status == @NAME@_OK; at++) {
        const @name@_real t = start + (@name@_real)at * step;
        if (at > 0) {
            status = step_to(t);
        }
        if (status == @NAME@_OK) {
            status = print_row(t);
        }
    }
    if (status != @NAME@_OK) {
        char cause[256];
        @name@_run_cause(&run, status, run.t, run.x, cause, sizeof cause);
        (void)fprintf(stderr, "the run ends at %g s: %s\n", (double)run.t, cause);
        return 1;
    }
    return (fflush(stdout) == 0) ? 0 : 1;
}
