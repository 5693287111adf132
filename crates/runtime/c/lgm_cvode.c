/* Runs a model with CVODE of SUNDIALS (6 or later): backward differentiation with the exact Jacobian, for stiff equations.
 *
 * Writes time, outputs and states as CSV at the points of the plan, up to the time given as argument. The inputs have their default
 * signals, and the solver is restarted at each of their corners. No step is long enough to miss a turn of an oscillation in time.
 */
#include "lgm_branch.h"
#include "lgm_names.h"
#include "lgm_numbers.h"
#include "lgm_run.h"

#include <cvode/cvode.h>
#include <math.h>
#include <nvector/nvector_serial.h>
#include <stdio.h>
#include <stdlib.h>
#include <sundials/sundials_config.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>

#if SUNDIALS_VERSION_MAJOR < 7
#define SUN_COMM_NULL NULL
#endif

/* SUNDIALS must be built for the same floating-point type. */
typedef char same_numbers[(sizeof(sunrealtype) == sizeof(lgm_real)) ? 1 : -1];

static lgm_run run;
/* The reason why the equations had no value. */
static lgm_status status = LGM_OK;
static lgm_real y[LGM_ROOM(LGM_OUTPUTS)];
#if LGM_DENSE
static lgm_real entries[LGM_STATES][LGM_STATES];
#else
static lgm_real entries[LGM_ROOM(LGM_JACOBIAN_ENTRIES)];
#endif

/* Moves the run to the time of the solver. */
static void take(sunrealtype t, N_Vector x) {
    run.t = t;
    for (int at = 0; at < LGM_STATES; at++) {
        run.x[at] = N_VGetArrayPointer(x)[at];
    }
}

static void give(N_Vector x) {
    for (int at = 0; at < LGM_STATES; at++) {
        N_VGetArrayPointer(x)[at] = run.x[at];
    }
}

static int right_side(sunrealtype t, N_Vector x, N_Vector dx, void *context) {
    (void)context;
    take(t, x);
    /* A positive return value requests a smaller step. */
    return (lgm_run_rates(&run, t, run.x, N_VGetArrayPointer(dx)) == LGM_OK) ? 0 : 1;
}

static int jacobian(sunrealtype t, N_Vector x, N_Vector dx, SUNMatrix matrix, void *context, N_Vector a, N_Vector b,
    N_Vector c) {
    sunrealtype inside;
    (void)dx; (void)context; (void)a; (void)b; (void)c;
    take(t, x);
#if LGM_BRANCHES
    lgm_branch_recall(&run, t);
#endif
    inside = lgm_run_inputs(&run, t);
#if LGM_UNKNOWNS
    if (lgm_jacobian(&run.model, inside, run.x, run.u LGM_DU(, run.du), entries) != 0) {
        return 1;
    }
#else
    lgm_jacobian(&run.model, inside, run.x, run.u LGM_DU(, run.du), entries);
#endif
    (void)SUNMatZero(matrix);
    for (int row = 0; row < LGM_STATES; row++) {
#if LGM_DENSE
        for (int column = 0; column < LGM_STATES; column++) {
            SM_ELEMENT_D(matrix, row, column) = entries[row][column];
        }
#else
        for (int at = lgm_jacobian_rows[row]; at < lgm_jacobian_rows[row + 1]; at++) {
            SM_ELEMENT_D(matrix, row, lgm_jacobian_columns[at]) = entries[at];
        }
#endif
    }
    return 0;
}
#if LGM_BRANCHES

/* The solver stops at the end of the branch of the loops. */
static int end_of_branch(sunrealtype t, N_Vector x, sunrealtype *sign, void *context) {
    (void)context;
    take(t, x);
    *sign = lgm_branch_sign(&run);
    return 0;
}
#endif

/* Initial scales of the states; negative ones were given by the model and stay. */
static lgm_real scales[LGM_ROOM(LGM_STATES)];

/* Sets the tolerances from here on. Near zero, if the model gives none, the tolerance is a thousandth of the relative one times the
 * scale of the state, which is its largest magnitude so far. */
static int set_tolerances(void *solver, N_Vector x, N_Vector near_zero) {
    const lgm_real relative = LGM_PLAN_RTOL;
    const lgm_real absolute = LGM_PLAN_ATOL;
    for (int at = 0; at < LGM_STATES; at++) {
        const lgm_real size = lgm_fabs(N_VGetArrayPointer(x)[at]);
        if (scales[at] >= (real)0.0 && size > scales[at]) {
            scales[at] = size;
        }
        N_VGetArrayPointer(near_zero)[at] =
            (absolute > (real)0.0) ? absolute : (lgm_real)1e-3 * relative * lgm_fabs(scales[at]);
    }
    return CVodeSVtolerances(solver, relative, near_zero);
}

/* Restarts the solver at the current point. */
static int start_anew(void *solver, N_Vector x, N_Vector near_zero) {
    give(x);
#if LGM_BRANCHES
    status = lgm_branch_begin(&run);
    if (status != LGM_OK) {
        return 1;
    }
#endif
    return CVodeReInit(solver, run.t, x) || set_tolerances(solver, x, near_zero)
        || CVodeSetMaxStep(solver, run.solver.longest);
}

/* Continues to a time, or to an earlier event, and handles that event. */
static int go_on(void *solver, N_Vector x, N_Vector near_zero, sunrealtype to) {
    const sunrealtype bound = lgm_run_bound(&run);
    sunrealtype t = run.t;
    const int outcome = CVodeSetStopTime(solver, bound) ? -1 : CVode(solver, (bound < to) ? bound : to, x, &t, CV_NORMAL);
    take(t, x);
    if (outcome < 0) {
        return 1;
    }
#if LGM_BRANCHES
    if (outcome == CV_ROOT_RETURN) {
        status = (lgm_branch_sign(&run) < (real)0.0) ? lgm_branch_leave(&run) : LGM_OK;
        return status != LGM_OK || start_anew(solver, x, near_zero);
    }
#endif
    if (t >= bound) {
        lgm_run_hold(&run);
        status = lgm_run_pass(&run);
        return status != LGM_OK || start_anew(solver, x, near_zero);
    }
    return 0;
}

static int print_row(sunrealtype t) {
    status = lgm_run_outputs(&run, t, run.x, y);
    (void)printf("%.17g", (wide)t);
    for (int at = 0; at < LGM_OUTPUTS; at++) {
        (void)printf(",%.17g", (wide)y[at]);
    }
    for (int at = 0; at < LGM_STATE_COLUMNS; at++) {
        (void)printf(",%.17g", (wide)run.x[lgm_column_states[at]]);
    }
    (void)printf("\n");
    return status != LGM_OK;
}

int main(int count, char **arguments) {
    static lgm_parameters parameters;
    const sunrealtype start = LGM_PLAN_START;
    const sunrealtype stop = (count > 1) ? (sunrealtype)atof(arguments[1]) : LGM_PLAN_STOP;
    const int points = LGM_PLAN_POINTS;
    SUNContext sundials = NULL;
    N_Vector x;
    N_Vector near_zero;
    SUNMatrix matrix;
    SUNLinearSolver linear;
    void *solver;
    int failed;
    failed = SUNContext_Create(SUN_COMM_NULL, &sundials);
    x = N_VNew_Serial(LGM_STATES, sundials);
    near_zero = N_VNew_Serial(LGM_STATES, sundials);
    matrix = SUNDenseMatrix(LGM_STATES, LGM_STATES, sundials);
    linear = SUNLinSol_Dense(x, matrix, sundials);
    solver = CVodeCreate(CV_BDF, sundials);
    if (failed || x == NULL || near_zero == NULL || matrix == NULL || linear == NULL || solver == NULL) {
        (void)fputs("SUNDIALS does not start\n", stderr);
        return 1;
    }
    for (int at = 0; at < LGM_STATES; at++) {
        scales[at] = lgm_state_scales[at];
    }
    lgm_defaults(&parameters);
    run.solver.rtol = LGM_PLAN_RTOL;
    run.solver.atol = LGM_PLAN_ATOL;
#if LGM_BRANCHES
    run.branch.is_exchanged = 1;
#endif
    status = lgm_prepare(&run.model, &parameters, run.x);
    if (status == LGM_OK) {
        status = lgm_run_begin(&run, start, stop, NULL);
    }
    give(x);
    failed = status != LGM_OK || CVodeInit(solver, right_side, start, x) || set_tolerances(solver, x, near_zero)
        || CVodeSetLinearSolver(solver, linear, matrix) || CVodeSetJacFn(solver, jacobian)
#if LGM_BRANCHES
        || CVodeRootInit(solver, 1, end_of_branch)
#endif
        || start_anew(solver, x, near_zero);
    for (int at = 0; at < 1 + LGM_OUTPUTS + LGM_STATE_COLUMNS; at++) {
        (void)printf("%s%s", (at > 0) ? "," : "", lgm_column_names[at]);
    }
    (void)printf("\n");
    for (int row = 0; row < points && !failed; row++) {
        const sunrealtype wanted = (row + 1 < points) ? start + (stop - start) * row / (points - 1) : stop;
        while (run.t < wanted && !failed) {
            failed = go_on(solver, x, near_zero, wanted);
        }
        failed = failed || print_row(run.t);
    }
    if (failed) {
        char cause[256] = "CVODE gives up";
        if (status != LGM_OK) {
            lgm_run_cause(&run, status, run.t, run.x, cause, sizeof cause);
        }
        (void)fprintf(stderr, "the run ends at %g s: %s\n", (wide)run.t, cause);
    }
    CVodeFree(&solver);
    (void)SUNLinSolFree(linear);
    SUNMatDestroy(matrix);
    N_VDestroy(x);
    N_VDestroy(near_zero);
    (void)SUNContext_Free(&sundials);
    return failed ? 1 : 0;
}
