/* Whole runs of CVODE (Adams, fixed-point iteration) over the right-hand sides of rhs.c.
   Arguments: family, cells, angular frequency of the input, stop, file of the final states (doubles).
   Prints for each tolerance: rtol, error of the final states relative to their largest, CPU seconds, steps.
   The few functions of SUNDIALS 7 that are called are declared here, so that its libraries are enough. */
#define _GNU_SOURCE
#define WITHOUT_MAIN
#include "rhs.c"

typedef void *Context;
typedef void *Vector;
typedef int (*Rates)(double, Vector, Vector, void *);
int SUNContext_Create(int communicator, Context *context);
Vector N_VNew_Serial(long length, Context context);
double *N_VGetArrayPointer(Vector vector);
void *CVodeCreate(int method, Context context);
int CVodeInit(void *memory, Rates rates, double start, Vector states);
int CVodeSStolerances(void *memory, double relative, double absolute);
void *SUNNonlinSol_FixedPoint(Vector states, int acceleration, Context context);
int CVodeSetNonlinearSolver(void *memory, void *solver);
int CVodeSetUserData(void *memory, void *data);
int CVodeSetMaxNumSteps(void *memory, long steps);
int CVodeSetStopTime(void *memory, double stop);
int CVode(void *memory, double stop, Vector states, double *reached, int task);
int CVodeGetNumSteps(void *memory, long *steps);
void CVodeFree(void **memory);

enum { ADAMS = 1, NORMAL = 1 };

struct problem { right_hand_side family; long cells; double frequency; };

static int rates(double time, Vector states, Vector to, void *data) {
    const struct problem *problem = data;
    problem->family(problem->cells, sin(problem->frequency * time), N_VGetArrayPointer(states), N_VGetArrayPointer(to));
    return 0;
}

static double cpu_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec + 1e-9 * now.tv_nsec;
}

int main(int count, char **arguments) {
    if (count < 6) return 2;
    struct problem problem = {family_of(arguments[1]), atol(arguments[2]), atof(arguments[3])};
    double stop = atof(arguments[4]);
    long size = 2 * problem.cells;
    double *expected = malloc(size * sizeof *expected), largest = 0;
    FILE *file = fopen(arguments[5], "rb");
    if (!file || fread(expected, sizeof *expected, size, file) != (size_t)size) return 3;
    for (long k = 0; k < size; k++) largest = fmax(largest, fabs(expected[k]));
    Context context;
    if (SUNContext_Create(0, &context)) return 4;
    Vector states = N_VNew_Serial(size, context);
    for (int decade = 4; decade <= 9; decade++) {
        double rtol = pow(10, -decade), best = 1e300, reached, error = 0;
        long steps = 0;
        for (int round = 0; round < 2; round++) {
            double *x = N_VGetArrayPointer(states);
            memset(x, 0, size * sizeof *x);
            double begun = cpu_seconds();
            void *memory = CVodeCreate(ADAMS, context);
            CVodeInit(memory, rates, 0, states);
            CVodeSStolerances(memory, rtol, 1e-3 * rtol);
            CVodeSetUserData(memory, &problem);
            CVodeSetNonlinearSolver(memory, SUNNonlinSol_FixedPoint(states, 0, context));
            CVodeSetMaxNumSteps(memory, 100000000);
            CVodeSetStopTime(memory, stop);
            if (CVode(memory, stop, states, &reached, NORMAL) < 0) return 5;
            best = fmin(best, cpu_seconds() - begun);
            CVodeGetNumSteps(memory, &steps);
            CVodeFree(&memory);
            error = 0;
            for (long k = 0; k < size; k++) error = fmax(error, fabs(x[k] - expected[k]));
        }
        printf("%.17g %.17g %.17g %ld\n", rtol, error / largest, best, steps);
        fflush(stdout);
    }
    return 0;
}
