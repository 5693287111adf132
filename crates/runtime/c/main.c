/* Runs a model over time and writes the rows of `lgm simulate` as CSV.
 *
 * usage: PROGRAM [--stop T] [--start T] [--points N] [--rtol R] [--atol A] [--events FILE] [PARAMETER=VALUE]..
 */
#include "lgm_names.h"
#include "lgm_numbers.h"
#include "lgm_run.h"
#if LGM_EVENTS
#include "lgm_events.h"
#endif

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static real plan_start = LGM_PLAN_START;
static real plan_stop = LGM_PLAN_STOP;
static int plan_points = LGM_PLAN_POINTS;

/* Returns the time of a row. The last row is exactly at the stop. */
static real row_time(int row) {
    if (row + 1 >= plan_points) {
        return plan_stop;
    }
    return plan_start + (real)row / (real)(plan_points - 1) * (plan_stop - plan_start);
}

/* The run; large models do not fit on a stack. */
static lgm_run run;
static real between[LGM_ROOM(LGM_STATES)];
static real outputs[LGM_ROOM(LGM_OUTPUTS)];
#if LGM_EVENTS
static real row_states[LGM_ROOM(LGM_STATES)];
/* The list of events, if requested. */
static FILE *event_file;
#endif
/* The last time and states, which a failure report contains. */
static real last_time;
static const real *last_states;

/* Prints a number with the fewest digits that read back as the same number. */
static void print_number(FILE *file, real value) {
    char text[40];
    if (isnan(value)) {
        (void)fputs("NaN", file);
        return;
    }
    for (int digits = 1; digits <= 17; digits++) {
        (void)snprintf(text, sizeof text, "%.*g", digits, (wide)value);
        if ((narrow)strtod(text, NULL) == value) {
            break;
        }
    }
    (void)fputs(text, file);
}

static lgm_status print_row(real t, const real x[]) {
    const lgm_status status = lgm_run_outputs(&run, t, x, outputs);
    last_time = t;
    last_states = x;
    if (status != LGM_OK) {
        return status;
    }
    print_number(stdout, t);
    for (int at = 0; at < LGM_OUTPUTS; at++) {
        (void)fputc(',', stdout);
        print_number(stdout, outputs[at]);
    }
#if LGM_EVENTS
    lgm_events_row(&run, t, x, row_states);
    x = row_states;
#endif
    for (int at = 0; at < LGM_STATE_COLUMNS; at++) {
        (void)fputc(',', stdout);
        print_number(stdout, x[lgm_column_states[at]]);
    }
    (void)fputc('\n', stdout);
    return LGM_OK;
}

#if LGM_EVENTS
/* Writes the events of the last instant: `time,kind,element,from,to`. */
static void print_events(void) {
    const lgm_events *const events = &run.events;
    const int count = (events->happenings < LGM_REPORTED) ? events->happenings : LGM_REPORTED;
    for (int at = 0; at < count && event_file != NULL; at++) {
        const lgm_event *const event = &events->happened[at];
        const int is_block = event->element < 0;
        print_number(event_file, run.t);
        if (is_block) {
            const char *const name = lgm_block_names[event->block];
            (void)fprintf(event_file, ",%.*s,%s,,\n", (int)strcspn(name, ":"), name, name);
        } else {
            const int first = lgm_first_mode[event->element];
            (void)fprintf(event_file, ",%s,%s,%s,%s\n", (lgm_is_junction[event->element] != 0) ? "junction" : "mode",
                lgm_element_names[event->element], lgm_mode_names[first + event->from], lgm_mode_names[first + event->to]);
        }
    }
    if (events->happenings > LGM_REPORTED) {
        (void)fprintf(stderr, "%d further events at %g s are not in the list\n", events->happenings - LGM_REPORTED, (wide)run.t);
    }
}

#endif
static lgm_status simulate(void) {
    int row = 1;
    lgm_status status = lgm_run_begin(&run, plan_start, plan_stop, NULL);
#if LGM_EVENTS
    print_events();
#endif
    if (status == LGM_OK) {
        status = print_row(run.t, run.x);
    }
    while (status == LGM_OK && run.t < plan_stop) {
        last_time = run.t;
        last_states = run.x;
        status = lgm_run_step(&run, plan_stop);
        while (status == LGM_OK && row < plan_points && row_time(row) < run.t - LGM_ROUNDING * lgm_fabs(run.t)) {
            lgm_dopri5_dense(&run.solver, row_time(row), between);
            status = print_row(row_time(row), between);
            row++;
        }
        if (status == LGM_OK && run.t >= lgm_run_bound(&run)) {
            last_time = run.t;
            last_states = run.x;
            lgm_run_hold(&run);
            status = lgm_run_pass(&run);
#if LGM_EVENTS
            print_events();
#endif
            /* At the instant of a step, the values after it apply. */
            while (status == LGM_OK && row < plan_points && row_time(row) <= run.t + LGM_ROUNDING * lgm_fabs(run.t)) {
                status = print_row(row_time(row), run.x);
                row++;
            }
        }
    }
    return status;
}

/* Returns the number after an option, or ends the program. */
static double number_of(const char *text, const char *what) {
    char *end = NULL;
    const double value = strtod(text, &end);
    if (end == text || *end != '\0') {
        (void)fprintf(stderr, "%s: `%s` is no number\n", what, text);
        exit(2);
    }
    return value;
}

static void set_parameter(lgm_parameters *parameters, const char *argument) {
    const char *const sign = strrchr(argument, '=');
    if (sign != NULL) {
        const size_t length = (size_t)(sign - argument);
        for (int at = 0; at < LGM_PARAMETERS; at++) {
            const char *const name = lgm_parameter_names[at];
            if (strlen(name) == length && strncmp(name, argument, length) == 0) {
                *lgm_parameter(parameters, at) = (narrow)number_of(sign + 1, name);
                return;
            }
        }
    }
    (void)fprintf(stderr, "`%s` names no parameter; the parameters are:\n", argument);
    for (int at = 0; at < LGM_PARAMETERS; at++) {
        (void)fprintf(stderr, "  %s\n", lgm_parameter_names[at]);
    }
    exit(2);
}

int main(int count, char **arguments) {
    static lgm_parameters parameters;
    lgm_status status;
    run.solver.rtol = LGM_PLAN_RTOL;
    run.solver.atol = LGM_PLAN_ATOL;
    lgm_defaults(&parameters);
    for (int at = 1; at < count; at++) {
        const char *const word = arguments[at];
#if LGM_EVENTS
        if (strcmp(word, "--events") == 0 && at + 1 < count) {
            at++;
            event_file = fopen(arguments[at], "w");
            if (event_file == NULL) {
                (void)fprintf(stderr, "%s cannot be written\n", arguments[at]);
                return 2;
            }
            (void)fputs("time,kind,element,from,to\n", event_file);
            continue;
        }
#endif
        if (strncmp(word, "--", 2) == 0 && at + 1 < count) {
            const double value = number_of(arguments[at + 1], word);
            at++;
            if (strcmp(word, "--stop") == 0) {
                plan_stop = (narrow)value;
            } else if (strcmp(word, "--start") == 0) {
                plan_start = (narrow)value;
            } else if (strcmp(word, "--points") == 0 && value >= 2.0 && value <= 1e9) {
                plan_points = (int)value;
            } else if (strcmp(word, "--rtol") == 0) {
                run.solver.rtol = (narrow)value;
            } else if (strcmp(word, "--atol") == 0) {
                run.solver.atol = (narrow)value;
            } else {
                (void)fprintf(stderr, "%s %s is not an option\n", word, arguments[at]);
                return 2;
            }
        } else {
            set_parameter(&parameters, word);
        }
    }
    if (!(plan_stop > plan_start)) {
        (void)fputs("write --stop T: the model defines no stop time\n", stderr);
        return 2;
    }
    for (int at = 0; at < 1 + LGM_OUTPUTS + LGM_STATE_COLUMNS; at++) {
        (void)printf("%s%s", (at > 0) ? "," : "", lgm_column_names[at]);
    }
    (void)fputc('\n', stdout);
    last_time = plan_start;
    last_states = run.x;
    status = lgm_prepare(&run.model, &parameters, run.x);
    if (status == LGM_OK) {
        status = simulate();
    }
    if (status != LGM_OK) {
        char cause[256];
        lgm_run_cause(&run, status, last_time, last_states, cause, sizeof cause);
        (void)fprintf(stderr, "the run ends at %g s: %s\n", (wide)last_time, cause);
        return 1;
    }
    return (fflush(stdout) == 0) ? 0 : 1;
}
