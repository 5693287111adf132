/* Runs an FMU whose sources are linked to it, as an importing tool does, and prints values row by row.
 *
 * usage: driver cs|me|state|directional START STOP POINTS TOLERANCE [REFERENCE=VALUE].. [TIME:REFERENCE=VALUE] -- REFERENCE..
 *
 * cs, me: the values of the references behind `--` at points from START to STOP, in co-simulation or model exchange. What is
 * given with a time is set when the run is there. state: co-simulation whose state is kept half way, written as bytes, read
 * into another instance, and gone on with in both. directional: the largest error of directional derivatives against
 * differences. */
#include "MODEL_instance.h"
#include "lgm_dopri5.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef FMI3
#include "fmi3Functions.h"
#define DO(name) fmi3##name
#define OK fmi3OK
typedef fmi3Instance instance;
typedef fmi3FMUState kept;
typedef fmi3Byte byte;
#else
#include "fmi2Functions.h"
#define DO(name) fmi2##name
#define OK fmi2OK
typedef fmi2Component instance;
typedef fmi2FMUstate kept;
typedef fmi2Byte byte;
#endif

enum { MOST = 100000, STATES = MODEL_STATES, CONDITIONS = INDICATORS };

static double start, stop, tolerance;
static int points;
static unsigned int columns[MOST];
static size_t column_count;
static unsigned int set_references[64];
static double set_values[64];
static int set_count;
static double late_time = HUGE_VAL, late_value;
static unsigned int late_reference;

static void check(int holds, const char *what) {
    if (!holds) {
        (void)fprintf(stderr, "%s failed\n", what);
        exit(1);
    }
}
#define MUST(call) check((int)(call) == (int)OK, #call)

static void get(instance c, const unsigned int *references, size_t count, double *values) {
#ifdef FMI3
    MUST(fmi3GetFloat64(c, references, count, values, count));
#else
    MUST(fmi2GetReal(c, references, count, values));
#endif
}

static void set(instance c, unsigned int reference, double value) {
#ifdef FMI3
    MUST(fmi3SetFloat64(c, &reference, 1, &value, 1));
#else
    MUST(fmi2SetReal(c, &reference, 1, &value));
#endif
}

#ifdef FMI3
static void say(fmi3InstanceEnvironment environment, fmi3Status status, fmi3String category, fmi3String message) {
    (void)environment;
    (void)fprintf(stderr, "%d %s: %s\n", (int)status, category, message);
}
#else
static void say(fmi2ComponentEnvironment environment, fmi2String name, fmi2Status status, fmi2String category,
    fmi2String message, ...) {
    (void)environment;
    (void)fprintf(stderr, "%s %d %s: %s\n", name, (int)status, category, message);
}
static const fmi2CallbackFunctions callbacks = {say, calloc, free, NULL, NULL};
#endif

static instance begin(int is_co_simulation) {
#ifdef FMI3
    instance c = is_co_simulation
        ? fmi3InstantiateCoSimulation("it", TOKEN, NULL, fmi3False, fmi3True, fmi3False, fmi3False, NULL, 0, NULL, say, NULL)
        : fmi3InstantiateModelExchange("it", TOKEN, NULL, fmi3False, fmi3True, NULL, say);
    check(c != NULL, "instantiation");
    check(fmi3InstantiateModelExchange("it", "other", NULL, fmi3False, fmi3False, NULL, NULL) == NULL, "refusal");
#else
    instance c = fmi2Instantiate("it", is_co_simulation ? fmi2CoSimulation : fmi2ModelExchange, TOKEN, NULL, &callbacks,
        fmi2False, fmi2True);
    check(c != NULL, "instantiation");
    MUST(fmi2SetupExperiment(c, fmi2True, tolerance, start, fmi2True, stop));
#endif
    for (int at = 0; at < set_count; at++) {
        set(c, set_references[at], set_values[at]);
    }
#ifdef FMI3
    MUST(fmi3EnterInitializationMode(c, fmi3True, tolerance, start, fmi3True, stop));
#else
    MUST(fmi2EnterInitializationMode(c));
#endif
    MUST(DO(ExitInitializationMode)(c));
    return c;
}

static double row_time(int row) {
    return (row + 1 >= points) ? stop : start + (double)row / (double)(points - 1) * (stop - start);
}

static void print_row(instance c) {
    static double values[MOST];
    get(c, columns, column_count, values);
    for (size_t at = 0; at < column_count; at++) {
        (void)printf("%s%.17g", (at > 0) ? "," : "", values[at]);
    }
    (void)putchar('\n');
}

static void step(instance c, double from, double to) {
#ifdef FMI3
    fmi3Boolean handle, end, early;
    double last;
    MUST(fmi3DoStep(c, from, to - from, fmi3False, &handle, &end, &early, &last));
#else
    MUST(fmi2DoStep(c, from, to - from, fmi2True));
#endif
}

static void together(void) {
    instance c = begin(1);
    print_row(c);
    for (int row = 1; row < points; row++) {
        step(c, row_time(row - 1), row_time(row));
        if (row_time(row) >= late_time - 1e-9 * (stop - start)) {
            set(c, late_reference, late_value);
            late_time = HUGE_VAL;
        }
        print_row(c);
    }
    MUST(DO(Terminate)(c));
    DO(FreeInstance)(c);
}

static MODEL_dopri5 solver;

/* The states within the last step; an FMU without conditions on states does not need them. */
static const double weights[7] = {(-12715105075.0 / 11282082432.0), 0.0, (87487479700.0 / 32700410799.0),
    (-10690763975.0 / 1880347072.0), (701980252875.0 / 199316789632.0),
    (-1453857185.0 / 822651844.0), (69997945.0 / 29380423.0)};

static void within(const MODEL_dopri5 *solver, double t, double x[]) {
    const double h = solver->t - solver->before;
    const double theta = (h > 0.0) ? (t - solver->before) / h : 1.0;
    const double rest = 1.0 - theta;
    for (int at = 0; at < STATES; at++) {
        const double change = solver->x[at] - solver->x_before[at];
        const double first = h * solver->slope[0][at] - change;
        const double last = change - h * solver->slope[6][at] - first;
        double bend = 0.0;
        for (int stage = 0; stage < 7; stage++) {
            bend += weights[stage] * solver->slope[stage][at];
        }
        x[at] = solver->x_before[at] + theta * (change + rest * (first + theta * (last + rest * h * bend)));
    }
}

static MODEL_status motion(void *context, double t, const double x[], double dx[]) {
    instance c = context;
    MUST(DO(SetTime)(c, t));
    MUST(DO(SetContinuousStates)(c, x, STATES));
#ifdef FMI3
    return (fmi3GetContinuousStateDerivatives(c, dx, STATES) == fmi3OK) ? 0 : 1;
#else
    return (fmi2GetDerivatives(c, dx, STATES) == fmi2OK) ? 0 : 1;
#endif
}

/* Does what an event asks for; returns the time of the next one. */
static double update(instance c) {
#ifdef FMI3
    fmi3Boolean again, end, nominals, values, is_known;
    double next;
    MUST(fmi3UpdateDiscreteStates(c, &again, &end, &nominals, &values, &is_known, &next));
    check(!again && !end && !nominals, "event");
    MUST(fmi3EnterContinuousTimeMode(c));
    return is_known ? next : HUGE_VAL;
#else
    fmi2EventInfo info;
    MUST(fmi2NewDiscreteStates(c, &info));
    check(!info.newDiscreteStatesNeeded && !info.terminateSimulation, "event");
    MUST(fmi2EnterContinuousTimeMode(c));
    return info.nextEventTimeDefined ? info.nextEventTime : HUGE_VAL;
#endif
}

static void place(instance c, double t, const double x[]) {
    MUST(DO(SetTime)(c, t));
    MUST(DO(SetContinuousStates)(c, x, STATES));
}

/* Which sides the indicators are on; whether one has changed since. */
static int look(instance c, double t, const double x[], double side[], int settles) {
    double z[CONDITIONS + 1];
    int has_changed = 0;
    place(c, t, x);
    MUST(DO(GetEventIndicators)(c, z, CONDITIONS));
    for (int at = 0; at < CONDITIONS; at++) {
        has_changed = has_changed || side[at] * z[at] < 0.0;
        if (settles && z[at] != 0.0) {
            side[at] = (z[at] > 0.0) ? 1.0 : -1.0;
        }
    }
    return has_changed;
}

static void exchange(void) {
    instance c = begin(0);
    static double x[STATES + 1], between[STATES + 1];
    double side[CONDITIONS + 1];
    double t = start;
    double next = update(c);
    int row = 1;
    solver.rtol = tolerance;
    solver.atol = 1e-3 * tolerance;
    print_row(c);
    while (t < stop) {
        double end = (next < stop) ? next : stop;
        int is_event = 0;
        end = (late_time < end) ? late_time : end;
        MUST(DO(GetContinuousStates)(c, x, STATES));
        for (int at = 0; at < CONDITIONS; at++) {
            side[at] = 0.0;
        }
        (void)look(c, t, x, side, 1);
        check(MODEL_dopri5_start(&solver, motion, c, t, x, end) == 0, "start");
        while (solver.t < end && !is_event) {
            double until;
            check(MODEL_dopri5_step(&solver, motion, c, end) == 0, "step");
            until = solver.t;
            for (int part = 1; part <= 2 && !is_event; part++) {
                const double at = solver.before + 0.5 * part * (solver.t - solver.before);
                within(&solver, at, between);
                if (look(c, at, between, side, 0)) {
                    is_event = 1;
                    until = at;
                }
            }
            if (is_event) {
                const double length = solver.t - solver.before;
                double low = solver.before;
                if (length > 1e-14 * (fabs(solver.t) + length) && length > 1e-9 * (stop - start)) {
                    const double before = solver.before;
                    memcpy(between, solver.x_before, sizeof solver.x_before);
                    check(MODEL_dopri5_start(&solver, motion, c, before, between, before + length / 8.0) == 0, "start");
                    solver.h = length / 8.0;
                    is_event = 0;
                    continue;
                }
                for (;;) {
                    const double middle = low + 0.5 * (until - low);
                    if (!(middle > low && middle < until)) {
                        break;
                    }
                    within(&solver, middle, between);
                    if (look(c, middle, between, side, 0)) {
                        until = middle;
                    } else {
                        low = middle;
                    }
                }
            } else {
                (void)look(c, solver.t, solver.x, side, 1);
            }
            while (row < points && row_time(row) < until - 1e-14 * fabs(until)) {
                within(&solver, row_time(row), between);
                place(c, row_time(row), between);
                print_row(c);
                row++;
            }
            within(&solver, until, between);
            t = until;
        }
        place(c, t, (t < solver.t) ? between : solver.x);
#ifdef FMI3
        MUST(fmi3EnterEventMode(c));
#else
        MUST(fmi2EnterEventMode(c));
#endif
        if (t >= late_time) {
            set(c, late_reference, late_value);
            late_time = HUGE_VAL;
        }
        next = update(c);
        while (row < points && row_time(row) <= t + 1e-14 * fabs(t)) {
            print_row(c);
            row++;
        }
    }
    MUST(DO(GetNominalsOfContinuousStates)(c, between, STATES));
    for (int at = 0; at < STATES; at++) {
        check(between[at] > 0.0, "a nominal above 0");
    }
    MUST(DO(Terminate)(c));
    DO(FreeInstance)(c);
}

#ifdef FMI3
#define GET_STATE fmi3GetFMUState
#define SET_STATE fmi3SetFMUState
#define FREE_STATE fmi3FreeFMUState
#define SIZE fmi3SerializedFMUStateSize
#define WRITE fmi3SerializeFMUState
#define READ fmi3DeserializeFMUState
#else
#define GET_STATE fmi2GetFMUstate
#define SET_STATE fmi2SetFMUstate
#define FREE_STATE fmi2FreeFMUstate
#define SIZE fmi2SerializedFMUstateSize
#define WRITE fmi2SerializeFMUstate
#define READ fmi2DeSerializeFMUstate
#endif

static void keep(void) {
    static double ends[3][MOST];
    instance c = begin(1);
    instance other = begin(1);
    kept state = NULL, read = NULL;
    byte *bytes;
    size_t size;
    const double middle = start + 0.5 * (stop - start);
    step(c, start, middle);
    MUST(GET_STATE(c, &state));
    MUST(SIZE(c, state, &size));
    bytes = malloc(size);
    MUST(WRITE(c, state, bytes, size));
    MUST(READ(other, bytes, size, &read));
    check(READ(other, bytes, size - 1, &read) != OK, "refusal of too few bytes");
    bytes[0] = (byte)(bytes[0] + 1);
    check(READ(other, bytes, size, &read) != OK, "refusal of other bytes");
    MUST(SET_STATE(other, read));
    step(c, middle, stop);
    get(c, columns, column_count, ends[0]);
    step(other, middle, stop);
    get(other, columns, column_count, ends[1]);
    MUST(SET_STATE(c, state));
    step(c, middle, stop);
    get(c, columns, column_count, ends[2]);
    check(memcmp(ends[0], ends[1], column_count * sizeof(double)) == 0, "the state read from bytes");
    check(memcmp(ends[0], ends[2], column_count * sizeof(double)) == 0, "the state set again");
    free(bytes);
    MUST(FREE_STATE(c, &state));
    MUST(FREE_STATE(c, &read));
    check(state == NULL, "freeing");
    MUST(DO(Reset)(c));
    DO(FreeInstance)(c);
    DO(FreeInstance)(other);
}

/* Columns are pairs: unknown, known. */
static void directional(void) {
    instance c = begin(0);
    static double x[STATES + 1];
    double worst = 0.0;
    (void)update(c);
    MUST(DO(GetContinuousStates)(c, x, STATES));
    for (int at = 0; at < STATES; at++) {
        /* Away from where starts happen to be. */
        x[at] += 1e-3 * (1.0 + fabs(x[at])) * (1.0 + 0.1 * at);
    }
    place(c, start, x);
    for (size_t pair = 0; pair + 1 < column_count; pair += 2) {
        const unsigned int unknown = columns[pair], known = columns[pair + 1];
        const double one = 1.0;
        double exact, here, beside[2];
        get(c, &known, 1, &here);
#ifdef FMI3
        MUST(fmi3GetDirectionalDerivative(c, &unknown, 1, &known, 1, &one, 1, &exact, 1));
#else
        MUST(fmi2GetDirectionalDerivative(c, &unknown, 1, &known, 1, &one, &exact));
#endif
        const double by = 1e-6 * (1.0 + fabs(here));
        for (int side = 0; side < 2; side++) {
            const double value = here + ((side == 0) ? -by : by);
            if (known <= STATES) {
                double moved[STATES + 1];
                memcpy(moved, x, sizeof x);
                moved[known - 1] = value;
                place(c, start, moved);
            } else {
                set(c, known, value);
            }
            get(c, &unknown, 1, &beside[side]);
            place(c, start, x);
        }
        if (known > STATES) {
            set(c, known, here);
        }
        {
            const double found = (beside[1] - beside[0]) / (2.0 * by);
            /* What rounding leaves of a difference. */
            const double rounded = 1e-9 * (fabs(beside[0]) + fabs(beside[1])) / by * 1e-3;
            const double error = fabs(found - exact) / (1e-3 * fabs(exact) + 1e-6 + rounded);
            if (error > 1.0) {
                (void)fprintf(stderr, "d %u / d %u: %.17g and %.17g\n", unknown, known, exact, found);
            }
            worst = (error > worst) ? error : worst;
        }
    }
    DO(FreeInstance)(c);
    (void)printf("%.3g\n", worst);
}

int main(int count, char **words) {
    int at = 6;
    check(count >= 7, "usage");
    start = atof(words[2]);
    stop = atof(words[3]);
    points = atoi(words[4]);
    tolerance = atof(words[5]);
    for (; at < count && strcmp(words[at], "--") != 0; at++) {
        const char *const colon = strchr(words[at], ':');
        const char *const reference = (colon != NULL) ? colon + 1 : words[at];
        const double value = atof(strchr(reference, '=') + 1);
        if (colon != NULL) {
            late_time = atof(words[at]);
            late_reference = (unsigned int)atol(reference);
            late_value = value;
        } else {
            set_references[set_count] = (unsigned int)atol(reference);
            set_values[set_count] = value;
            set_count++;
        }
    }
    for (at++; at < count && column_count < MOST; at++) {
        columns[column_count] = (unsigned int)atol(words[at]);
        column_count++;
    }
    if (strcmp(words[1], "cs") == 0) {
        together();
    } else if (strcmp(words[1], "me") == 0) {
        exchange();
    } else if (strcmp(words[1], "state") == 0) {
        keep();
    } else {
        directional();
    }
    return 0;
}
