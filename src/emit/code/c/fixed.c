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
#include "@name@_signals.h"

#include <stdio.h>
#include <stdlib.h>

/* The length of a step in seconds. */
static const @name@_real step = @fixed_step@;

static @name@_model model;
static @name@_rk4 work;
static @name@_real u[@NAME@_ROOM(@NAME@_INPUTS)];
static @name@_real du[@NAME@_ROOM(@NAME@_INPUTS)];

static @name@_status motion(void *context, @name@_real t, const @name@_real x[], @name@_real dx[]) {
    @name@_model *const own = (@name@_model *)context;
    /* A controller would read its inputs once a step; the default signals are known in between too. */
    @name@_inputs(own, t, u, du);
    return @name@_rates(own, t, x, u, du, dx);
}

int main(int count, char **arguments) {
    static @name@_parameters parameters;
    static @name@_real x[@NAME@_ROOM(@NAME@_STATES)];
    static @name@_real y[@NAME@_ROOM(@NAME@_OUTPUTS)];
    const long steps = (count > 1) ? strtol(arguments[1], NULL, 10) : 1000L;
    @name@_status status;
    @name@_defaults(&parameters);
    status = @name@_init(&model, &parameters, x);
    for (int at = 0; at < 1 + @NAME@_OUTPUTS + @NAME@_STATE_COLUMNS; at++) {
        (void)printf("%s%s", (at > 0) ? "," : "", @name@_column_names[at]);
    }
    (void)fputc('\n', stdout);
    for (long at = 0; at <= steps && status == @NAME@_OK; at++) {
        const @name@_real t = @plan_start@ + (@name@_real)at * step;
        @name@_inputs(&model, t, u, du);
        status = @name@_outputs(&model, t, x, u, du, y);
        (void)printf("%.9g", (double)t);
        for (int column = 0; column < @NAME@_OUTPUTS; column++) {
            (void)printf(",%.17g", (double)y[column]);
        }
        for (int column = 0; column < @NAME@_STATE_COLUMNS; column++) {
            (void)printf(",%.17g", (double)x[@name@_column_states[column]]);
        }
        (void)fputc('\n', stdout);
        if (status == @NAME@_OK) {
            status = @name@_rk4_step(&work, motion, &model, t, step, x);
        }
    }
    return (status == @NAME@_OK) ? 0 : 1;
}
