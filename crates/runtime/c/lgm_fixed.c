/* Runs a model in steps of fixed length, as a real-time loop does, and writes every row as CSV. The inputs have their default signals
 * at the beginning of each step.
 *
 * usage: PROGRAM [STEPS]
 */
#include "lgm_model.h"
#include "lgm_names.h"
#include "lgm_signals.h"

#include <stdio.h>
#include <stdlib.h>

/* Rows hold only the outputs if states jump at the beginning of a step. */
#if LGM_MOVES || LGM_SETS_STATES
enum { STATE_COLUMNS = 0 };
#else
enum { STATE_COLUMNS = LGM_STATE_COLUMNS };
#endif

static lgm_model model;
static lgm_real x[LGM_ROOM(LGM_STATES)], y[LGM_ROOM(LGM_OUTPUTS)];
static lgm_real u[LGM_ROOM(LGM_INPUTS)], du[LGM_ROOM(LGM_INPUTS)];

/* Makes one step and writes the states before it. */
static int step(lgm_real t) {
    lgm_inputs(&model, lgm_later(t), u, du);
    for (int at = 0; at < LGM_STATES; at++) {
        x[at] = model.x[at];
    }
#if LGM_UNKNOWNS
    return lgm_step(&model, u, y);
#else
    lgm_step(&model, u, y);
    return 0;
#endif
}

static int begin(void) {
    static lgm_parameters parameters;
    lgm_defaults(&parameters);
#if LGM_CONSTRAINTS
    return lgm_begin(&model, &parameters);
#else
    lgm_begin(&model, &parameters);
    return 0;
#endif
}

int main(int count, char **arguments) {
    /* The number of steps is the first argument. By default the steps lead to the stop time of the experiment. */
    const double whole = ((wide)LGM_PLAN_STOP - (wide)LGM_PLAN_START) / (wide)LGM_STEP;
    const long planned = (whole > 0.0) ? (long)(whole + 0.5) : 1000L;
    const long steps = (count > 1) ? strtol(arguments[1], NULL, 10) : planned;
    if (begin() != 0) {
        (void)fputs("initial values of dependent storage elements contradict each other\n", stderr);
        return 1;
    }
    for (int at = 0; at < 1 + LGM_OUTPUTS + STATE_COLUMNS; at++) {
        (void)printf("%s%s", (at > 0) ? "," : "", lgm_column_names[at]);
    }
    (void)fputc('\n', stdout);
    for (long at = 0; at <= steps; at++) {
        const double t = (wide)LGM_PLAN_START + (double)at * (wide)LGM_STEP;
        if (step((lgm_real)t) != 0) {
            (void)fprintf(stderr, "Newton's method finds no solution of an algebraic loop at %g s\n", t);
            return 1;
        }
        (void)printf("%.9g", t);
        for (int column = 0; column < LGM_OUTPUTS; column++) {
            (void)printf(",%.17g", (wide)y[column]);
        }
        for (int column = 0; column < STATE_COLUMNS; column++) {
            (void)printf(",%.17g", (wide)x[lgm_column_states[column]]);
        }
        (void)fputc('\n', stdout);
    }
    return (fflush(stdout) == 0) ? 0 : 1;
}
