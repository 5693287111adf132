/* Runs @model@ with CVODE of SUNDIALS (6 or later): backward differentiation with the exact Jacobian, for stiff equations.
 *
 * @origin@
 *
 * Writes time, outputs and states as CSV at @plan_points@ points to the time given as argument. The solver is started anew
 * at each corner of the inputs, which take their default signals; its steps overlook no turn of what oscillates with time.
 */
@if branches@
#include "@name@_branch.h"
@end@
#include "@name@_names.h"
#include "@name@_run.h"

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

/* SUNDIALS must have been built for the same numbers. */
typedef char same_numbers[(sizeof(sunrealtype) == sizeof(@name@_real)) ? 1 : -1];

static @name@_run run;
/* Why the equations had no value. */
static @name@_status status = @name@_OK;
static @name@_real y[@name@_ROOM(@name@_OUTPUTS)];
static @name@_real entries[@name@_ROOM(@name@_JACOBIAN_ENTRIES)];

/* The run goes where the solver is, or back. */
static void take(sunrealtype t, N_Vector x) {
    run.t = t;
    for (int at = 0; at < @name@_STATES; at++) {
        run.x[at] = N_VGetArrayPointer(x)[at];
    }
}

static void give(N_Vector x) {
    for (int at = 0; at < @name@_STATES; at++) {
        N_VGetArrayPointer(x)[at] = run.x[at];
    }
}

static int right_side(sunrealtype t, N_Vector x, N_Vector dx, void *context) {
    (void)context;
    take(t, x);
    /* A positive value asks for a smaller step. */
    return (@name@_run_rates(&run, t, run.x, N_VGetArrayPointer(dx)) == @name@_OK) ? 0 : 1;
}

static int jacobian(sunrealtype t, N_Vector x, N_Vector dx, SUNMatrix matrix, void *context, N_Vector a, N_Vector b,
    N_Vector c) {
    sunrealtype inside;
    (void)dx; (void)context; (void)a; (void)b; (void)c;
    take(t, x);
@if branches@
    @name@_branch_recall(&run, t);
@end@
    inside = @name@_run_inputs(&run, t);
    if (@name@_jacobian(&run.model, inside, run.x, run.u, run.du, entries) != @name@_OK) {
        return 1;
    }
    (void)SUNMatZero(matrix);
    for (int row = 0; row < @name@_STATES; row++) {
        for (int at = @name@_jacobian_rows[row]; at < @name@_jacobian_rows[row + 1]; at++) {
            SM_ELEMENT_D(matrix, row, @name@_jacobian_columns[at]) = entries[at];
        }
    }
    return 0;
}
@if branches@

/* Where the branch of the loops ends, the solver stops. */
static int end_of_branch(sunrealtype t, N_Vector x, sunrealtype *sign, void *context) {
    (void)context;
    take(t, x);
    *sign = @name@_branch_sign(&run);
    return 0;
}
@end@

/* Scales of the states before they were seen; a negative one was given by the model, and stays. */
static @name@_real scales[@name@_ROOM(@name@_STATES)] = {@state_scales@};

/* The tolerances from here on: near zero, where the model asks for none, a thousandth of the relative one times the scale of each
 * state, which is the most that was seen of it. */
static int set_tolerances(void *solver, N_Vector x, N_Vector near_zero) {
    const @name@_real relative = @plan_rtol@;
    const @name@_real absolute = @plan_atol@;
    for (int at = 0; at < @name@_STATES; at++) {
        const @name@_real size = @fabs@(N_VGetArrayPointer(x)[at]);
        if (scales[at] >= @zero@ && size > scales[at]) {
            scales[at] = size;
        }
        N_VGetArrayPointer(near_zero)[at] =
            (absolute > @zero@) ? absolute : (@name@_real)1e-3 * relative * @fabs@(scales[at]);
    }
    return CVodeSVtolerances(solver, relative, near_zero);
}

/* The solver begins anew where the run is. */
static int start_anew(void *solver, N_Vector x, N_Vector near_zero) {
    give(x);
@if branches@
    status = @name@_branch_begin(&run);
    if (status != @name@_OK) {
        return 1;
    }
@end@
    return CVodeReInit(solver, run.t, x) || set_tolerances(solver, x, near_zero)
        || CVodeSetMaxStep(solver, run.solver.longest);
}

/* Goes on to a time, or to where something happens before that, and does what happens there. */
static int go_on(void *solver, N_Vector x, N_Vector near_zero, sunrealtype to) {
    const sunrealtype bound = @name@_run_bound(&run);
    sunrealtype t = run.t;
    const int outcome = CVodeSetStopTime(solver, bound) ? -1 : CVode(solver, (bound < to) ? bound : to, x, &t, CV_NORMAL);
    take(t, x);
    if (outcome < 0) {
        return 1;
    }
@if branches@
    if (outcome == CV_ROOT_RETURN) {
        status = (@name@_branch_sign(&run) < @zero@) ? @name@_branch_leave(&run) : @name@_OK;
        return status != @name@_OK || start_anew(solver, x, near_zero);
    }
@end@
    if (t >= bound) {
        @name@_run_hold(&run);
        status = @name@_run_pass(&run);
        return status != @name@_OK || start_anew(solver, x, near_zero);
    }
    return 0;
}

static int print_row(sunrealtype t) {
    status = @name@_run_outputs(&run, t, run.x, y);
    (void)printf("%.17g", (double)t);
    for (int at = 0; at < @name@_OUTPUTS; at++) {
        (void)printf(",%.17g", (double)y[at]);
    }
    for (int at = 0; at < @name@_STATE_COLUMNS; at++) {
        (void)printf(",%.17g", (double)run.x[@name@_column_states[at]]);
    }
    (void)printf("\n");
    return status != @name@_OK;
}

int main(int count, char **arguments) {
    static @name@_parameters parameters;
    const sunrealtype start = @plan_start@;
    const sunrealtype stop = (count > 1) ? (sunrealtype)atof(arguments[1]) : @plan_stop@;
    const int points = @plan_points@;
    SUNContext sundials = NULL;
    N_Vector x;
    N_Vector near_zero;
    SUNMatrix matrix;
    SUNLinearSolver linear;
    void *solver;
    int failed;
    failed = SUNContext_Create(SUN_COMM_NULL, &sundials);
    x = N_VNew_Serial(@name@_STATES, sundials);
    near_zero = N_VNew_Serial(@name@_STATES, sundials);
    matrix = SUNDenseMatrix(@name@_STATES, @name@_STATES, sundials);
    linear = SUNLinSol_Dense(x, matrix, sundials);
    solver = CVodeCreate(CV_BDF, sundials);
    if (failed || x == NULL || near_zero == NULL || matrix == NULL || linear == NULL || solver == NULL) {
        (void)fputs("SUNDIALS does not start\n", stderr);
        return 1;
    }
    @name@_defaults(&parameters);
    run.solver.rtol = @plan_rtol@;
    run.solver.atol = @plan_atol@;
@if branches@
    run.branch.is_exchanged = 1;
@end@
    status = @name@_init(&run.model, &parameters, run.x);
    if (status == @name@_OK) {
        status = @name@_run_begin(&run, start, stop, NULL);
    }
    give(x);
    failed = status != @name@_OK || CVodeInit(solver, right_side, start, x) || set_tolerances(solver, x, near_zero)
        || CVodeSetLinearSolver(solver, linear, matrix) || CVodeSetJacFn(solver, jacobian)
@if branches@
        || CVodeRootInit(solver, 1, end_of_branch)
@end@
        || start_anew(solver, x, near_zero);
    for (int at = 0; at < 1 + @name@_OUTPUTS + @name@_STATE_COLUMNS; at++) {
        (void)printf("%s%s", (at > 0) ? "," : "", @name@_column_names[at]);
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
        if (status != @name@_OK) {
            @name@_run_cause(&run, status, run.t, run.x, cause, sizeof cause);
        }
        (void)fprintf(stderr, "the run ends at %g s: %s\n", (double)run.t, cause);
    }
    CVodeFree(&solver);
    (void)SUNLinSolFree(linear);
    SUNMatDestroy(matrix);
    N_VDestroy(x);
    N_VDestroy(near_zero);
    (void)SUNContext_Free(&sundials);
    return failed ? 1 : 0;
}
