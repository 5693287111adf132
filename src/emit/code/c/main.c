/* Runs @model@ over time and writes the rows of `lgm simulate` as CSV.
 *
 * @origin@
 *
 * usage: @program@ [--stop T] [--start T] [--points N] [--rtol R] [--atol A] [PARAMETER=VALUE]..
 */
#include "@name@_dopri5.h"
#include "@name@_names.h"
#include "@name@_signals.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef @name@_real real;

static real plan_start = @plan_start@;
static real plan_stop = @plan_stop@;
static int plan_points = @plan_points@;

/* The time of a row. The last row is exactly at the stop. */
static real row_time(int row) {
    if (row + 1 >= plan_points) {
        return plan_stop;
    }
    return plan_start + (real)row / (real)(plan_points - 1) * (plan_stop - plan_start);
}

/* What the solver's function needs besides time and states. */
typedef struct {
    @name@_model model;
    /* The corners that the solver is between: no value from beyond them is used. */
    real from;
    real to;
    real u[@NAME@_ROOM(@NAME@_INPUTS)];
    real du[@NAME@_ROOM(@NAME@_INPUTS)];
} run_context;

/* One run; the sizes of large models are too much for a stack. */
static run_context run;
static @name@_dopri5 solver;
static real states[@NAME@_ROOM(@NAME@_STATES)];
static real between[@NAME@_ROOM(@NAME@_STATES)];
static real outputs[@NAME@_ROOM(@NAME@_OUTPUTS)];
@if moves@
static const real start_given[@NAME@_ROOM(@NAME@_STATES)] = {@start_given@};
@end@

/* The inputs at a time between two corners: at the later one, the branch before it still holds. */
static real set_inputs(run_context *context, real t) {
    real inside = t;
    if (inside >= context->to) {
        inside = @nextafter@(context->to, -HUGE_VAL@suffix@);
    } else if (inside < context->from) {
        inside = context->from;
    }
    @name@_inputs(&context->model, inside, context->u, context->du);
    return inside;
}

static @name@_status motion(void *context, real t, const real x[], real dx[]) {
    run_context *const own = (run_context *)context;
    const real inside = set_inputs(own, t);
    return @name@_rhs(&own->model, inside, x, own->u, own->du, dx);
}

/* In as few digits as read back the same number. */
static void print_number(real value) {
    char text[40];
    if (isnan(value)) {
        (void)fputs("NaN", stdout);
        return;
    }
    for (int digits = 1; digits <= 17; digits++) {
        (void)snprintf(text, sizeof text, "%.*g", digits, (double)value);
        if ((real)strtod(text, NULL) == value) {
            break;
        }
    }
    (void)fputs(text, stdout);
}

static @name@_status print_row(real t, const real x[]) {
    const real inside = set_inputs(&run, t);
    const @name@_status status = @name@_outputs(&run.model, inside, x, run.u, run.du, outputs);
    if (status != @NAME@_OK) {
        return status;
    }
    print_number(t);
    for (int at = 0; at < @NAME@_OUTPUTS; at++) {
        (void)fputc(',', stdout);
        print_number(outputs[at]);
    }
    for (int at = 0; at < @NAME@_STATE_COLUMNS; at++) {
        (void)fputc(',', stdout);
        print_number(x[@name@_column_states[at]]);
    }
    (void)fputc('\n', stdout);
    return @NAME@_OK;
}

@if moves@
/* How much the rates du of the inputs change the slopes: what a step of the inputs moves the states by. */
static @name@_status step_slope(real t, const real x[], const real u[], const real step[], real change[]) {
    static const real still[@NAME@_ROOM(@NAME@_INPUTS)] = {@zero@};
    static real without[@NAME@_ROOM(@NAME@_STATES)];
    @name@_status status = @name@_rhs(&run.model, t, x, u, step, change);
    if (status == @NAME@_OK) {
        status = @name@_rhs(&run.model, t, x, u, still, without);
    }
    for (int at = 0; at < @NAME@_STATES; at++) {
        change[at] -= without[at];
    }
    return status;
}

/* A step of the inputs moves states by E times the step. Where E depends on states or inputs, the inputs go from before to
 * after in a straight line. At the start of a run, states whose start was given stay. */
static @name@_status move_states(real t, const real before[], real x[], int is_start) {
    enum { PIECES = @pieces@ };
    static const real share[4] = {@zero@, @half@, @half@, @one@};
    static const real weight[4] = {@one@, @two@, @two@, @one@};
    static real slope[@NAME@_ROOM(@NAME@_STATES)];
    static real point[@NAME@_ROOM(@NAME@_STATES)];
    static real moved[@NAME@_ROOM(@NAME@_STATES)];
    static real sum[@NAME@_ROOM(@NAME@_STATES)];
    real step[@NAME@_ROOM(@NAME@_INPUTS)];
    real u[@NAME@_ROOM(@NAME@_INPUTS)];
    int steps = 0;
    (void)set_inputs(&run, t);
    for (int at = 0; at < @NAME@_INPUTS; at++) {
        const real larger = (@fabs@(before[at]) > @fabs@(run.u[at])) ? @fabs@(before[at]) : @fabs@(run.u[at]);
        const real rounded = @rounding@ * larger;
        const real apart = t - @nextafter@(t, -HUGE_VAL@suffix@);
        step[at] = run.u[at] - before[at];
        if (@fabs@(step[at]) > rounded + (real)16.0 * apart * @fabs@(run.du[at])) {
            steps++;
        } else {
            step[at] = @zero@;
        }
    }
    if (steps == 0) {
        return @NAME@_OK;
    }
    for (int at = 0; at < @NAME@_STATES; at++) {
        moved[at] = x[at];
    }
    for (int piece = 0; piece < PIECES; piece++) {
        for (int at = 0; at < @NAME@_STATES; at++) {
            slope[at] = @zero@;
            sum[at] = @zero@;
        }
        for (int stage = 0; stage < 4; stage++) {
            const real way = ((real)piece + share[stage]) / (real)PIECES;
            @name@_status status;
            for (int at = 0; at < @NAME@_INPUTS; at++) {
@if linear@
                u[at] = @zero@ * way;
@else@
                u[at] = before[at] + way * step[at];
@end@
            }
            for (int at = 0; at < @NAME@_STATES; at++) {
@if linear@
                /* E is the same everywhere; at zero nothing else is rounded with it. */
                point[at] = @zero@;
@else@
                point[at] = moved[at] + share[stage] / (real)PIECES * slope[at];
@end@
            }
            status = step_slope(t, point, u, step, slope);
            if (status != @NAME@_OK) {
                return status;
            }
            for (int at = 0; at < @NAME@_STATES; at++) {
                sum[at] += weight[stage] * slope[at];
            }
        }
        for (int at = 0; at < @NAME@_STATES; at++) {
            moved[at] += sum[at] / (@six@ * (real)PIECES);
        }
    }
    for (int at = 0; at < @NAME@_STATES; at++) {
        x[at] = (is_start && start_given[at] > @zero@) ? x[at] : moved[at];
    }
    return @NAME@_OK;
}

@end@
@if conditional@
/* Evaluates the conditions on states at a point. */
static void conditions_at(real t, const real x[], real values[]) {
    static real slope[@NAME@_ROOM(@NAME@_STATES)];
    const real inside = set_inputs(&run, t);
    (void)@name@_rhs(&run.model, inside, x, run.u, run.du, slope);
    @name@_conditions(&run.model, inside, x, run.u, run.du, values);
}

static int has_changed(const real before[], const real values[]) {
    for (int at = 0; at < @NAME@_CONDITIONS; at++) {
        if (before[at] * values[at] < @zero@) {
            return 1;
        }
    }
    return 0;
}

/* A zero leaves the side as it was. */
static void settle(real before[], const real values[]) {
    for (int at = 0; at < @NAME@_CONDITIONS; at++) {
        if (values[at] != @zero@) {
            before[at] = (values[at] > @zero@) ? @one@ : -@one@;
        }
    }
}

@end@
/* Makes the rows from one corner to the next. */
static @name@_status piece(real end, int *row) {
    const real tiny = @rounding@;
    @name@_status status = @NAME@_OK;
@if conditional@
    real side[@NAME@_CONDITIONS];
    real values[@NAME@_CONDITIONS];
    real t = run.from;
    while (t < end) {
        int is_event = 0;
        for (int at = 0; at < @NAME@_CONDITIONS; at++) {
            side[at] = @zero@;
        }
        conditions_at(t, states, values);
        settle(side, values);
        status = @name@_dopri5_start(&solver, motion, &run, t, states, end);
        while (status == @NAME@_OK && solver.t < end && !is_event) {
            real until;
            status = @name@_dopri5_step(&solver, motion, &run, end);
            if (status != @NAME@_OK) {
                return status;
            }
            until = solver.t;
            for (int looked = 1; looked <= 2 && !is_event; looked++) {
                const real at = (looked == 1) ? solver.before + @half@ * (solver.t - solver.before) : solver.t;
                @name@_dopri5_dense(&solver, at, between);
                conditions_at(at, between, values);
                if (has_changed(side, values)) {
                    is_event = 1;
                    until = at;
                }
            }
            if (is_event) {
                /* A step across a jump is wrong, so it is made again in shorter ones until it is too short to matter. */
                const real length = solver.t - solver.before;
                if (length > tiny * (@fabs@(solver.t) + length) * (real)16.0 && length > @event_length@ * (end - run.from)) {
                    const real shorter = solver.before + length / (real)8.0;
                    real from = solver.before;
                    for (int at = 0; at < @NAME@_STATES; at++) {
                        between[at] = solver.x_before[at];
                    }
                    status = @name@_dopri5_start(&solver, motion, &run, from, between, shorter);
                    solver.h = shorter - from;
                    is_event = 0;
                    until = from;
                } else {
                    real low = solver.before;
                    for (;;) {
                        const real middle = low + @half@ * (until - low);
                        if (!(middle > low && middle < until)) {
                            break;
                        }
                        @name@_dopri5_dense(&solver, middle, between);
                        conditions_at(middle, between, values);
                        if (has_changed(side, values)) {
                            until = middle;
                        } else {
                            low = middle;
                        }
                    }
                }
            } else {
                settle(side, values);
            }
            while (*row < plan_points && row_time(*row) < until - tiny * @fabs@(until) && status == @NAME@_OK) {
                @name@_dopri5_dense(&solver, row_time(*row), between);
                status = print_row(row_time(*row), between);
                (*row)++;
            }
            if (is_event) {
                @name@_dopri5_dense(&solver, until, states);
                t = until;
            }
        }
        if (!is_event) {
            for (int at = 0; at < @NAME@_STATES; at++) {
                states[at] = solver.x[at];
            }
            t = end;
        }
        if (status != @NAME@_OK) {
            return status;
        }
    }
@else@
    status = @name@_dopri5_start(&solver, motion, &run, run.from, states, end);
    while (status == @NAME@_OK && solver.t < end) {
        status = @name@_dopri5_step(&solver, motion, &run, end);
        while (status == @NAME@_OK && *row < plan_points && row_time(*row) < solver.t - tiny * @fabs@(solver.t)) {
            @name@_dopri5_dense(&solver, row_time(*row), between);
            status = print_row(row_time(*row), between);
            (*row)++;
        }
    }
    for (int at = 0; at < @NAME@_STATES; at++) {
        states[at] = solver.x[at];
    }
@end@
    return status;
}

static @name@_status simulate(void) {
    @name@_status status = @NAME@_OK;
    real corner;
    real t = plan_start;
    int row = 0;
    run.from = t;
    run.to = HUGE_VAL@suffix@;
@if moves@
    {
        static const real still[@NAME@_ROOM(@NAME@_INPUTS)] = {@zero@};
        status = move_states(t, still, states, 1);
    }
@end@
    if (status == @NAME@_OK) {
        status = print_row(t, states);
        row = 1;
    }
    corner = @name@_next_corner(&run.model, plan_start, t, plan_stop);
    while (status == @NAME@_OK && t < plan_stop) {
        const real end = (corner < plan_stop) ? corner : plan_stop;
        run.from = t;
        run.to = (corner <= plan_stop) ? corner : HUGE_VAL@suffix@;
        status = piece(end, &row);
        if (status != @NAME@_OK) {
            return status;
        }
        t = end;
        run.from = t;
        run.to = HUGE_VAL@suffix@;
        if (corner <= t) {
@if moves@
            real before[@NAME@_ROOM(@NAME@_INPUTS)];
            @name@_inputs(&run.model, @nextafter@(t, -HUGE_VAL@suffix@), before, run.du);
            status = move_states(t, before, states, 0);
@end@
            corner = @name@_next_corner(&run.model, plan_start, t, plan_stop);
        }
        while (status == @NAME@_OK && row < plan_points && row_time(row) <= t + @rounding@ * @fabs@(t)) {
            status = print_row(row_time(row), states);
            row++;
        }
    }
    return status;
}

/* A number behind an option, or the end of the program. */
static double number_of(const char *text, const char *what) {
    char *end = NULL;
    const double value = strtod(text, &end);
    if (end == text || *end != '\0') {
        (void)fprintf(stderr, "%s: `%s` is no number\n", what, text);
        exit(2);
    }
    return value;
}

static void set_parameter(@name@_parameters *parameters, const char *argument) {
    const char *const sign = strrchr(argument, '=');
    if (sign != NULL) {
        const size_t length = (size_t)(sign - argument);
        for (int at = 0; at < @NAME@_PARAMETERS; at++) {
            const char *const name = @name@_parameter_names[at];
            if (strlen(name) == length && strncmp(name, argument, length) == 0) {
                *@name@_parameter(parameters, at) = (real)number_of(sign + 1, name);
                return;
            }
        }
    }
    (void)fprintf(stderr, "`%s` sets no parameter; they are:\n", argument);
    for (int at = 0; at < @NAME@_PARAMETERS; at++) {
        (void)fprintf(stderr, "  %s\n", @name@_parameter_names[at]);
    }
    exit(2);
}

int main(int count, char **arguments) {
    static @name@_parameters parameters;
    @name@_status status;
    solver.rtol = @plan_rtol@;
    solver.atol = @plan_atol@;
    @name@_defaults(&parameters);
    for (int at = 1; at < count; at++) {
        const char *const word = arguments[at];
        if (strncmp(word, "--", 2) == 0 && at + 1 < count) {
            const double value = number_of(arguments[at + 1], word);
            at++;
            if (strcmp(word, "--stop") == 0) {
                plan_stop = (real)value;
            } else if (strcmp(word, "--start") == 0) {
                plan_start = (real)value;
            } else if (strcmp(word, "--points") == 0 && value >= 2.0 && value <= 1e9) {
                plan_points = (int)value;
            } else if (strcmp(word, "--rtol") == 0) {
                solver.rtol = (real)value;
            } else if (strcmp(word, "--atol") == 0) {
                solver.atol = (real)value;
            } else {
                (void)fprintf(stderr, "%s %s is no option\n", word, arguments[at]);
                return 2;
            }
        } else {
            set_parameter(&parameters, word);
        }
    }
    if (!(plan_stop > plan_start)) {
        (void)fputs("write --stop T: the model does not say how long it is to run\n", stderr);
        return 2;
    }
    for (int at = 0; at < 1 + @NAME@_OUTPUTS + @NAME@_STATE_COLUMNS; at++) {
        (void)printf("%s%s", (at > 0) ? "," : "", @name@_column_names[at]);
    }
    (void)fputc('\n', stdout);
    status = @name@_init(&run.model, &parameters, states);
    if (status == @NAME@_OK) {
        status = simulate();
    }
    if (status != @NAME@_OK) {
        static const char *const words[4] = {"", "a value is not finite", "an algebraic loop has no solution",
            "the starts of dependent storage contradict"};
        (void)fprintf(stderr, "the run ends at %g s: %s\n", (double)solver.t, words[(int)status]);
        return 1;
    }
    return (fflush(stdout) == 0) ? 0 : 1;
}
