/* Runs @model@ with CVODE of SUNDIALS (6 or later): backward differentiation with the exact Jacobian, for stiff equations.
 *
 * @origin@
 *
 * Writes time, outputs and states as CSV at @plan_points@ points to the time given as argument. The solver is started anew
 * at each corner of the inputs, which take their default signals; its steps overlook no turn of what oscillates with time.
 */
#include "@name@_names.h"
#include "@name@_signals.h"

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

static @name@_model model;
static @name@_real u[@NAME@_ROOM(@NAME@_INPUTS)];
static @name@_real du[@NAME@_ROOM(@NAME@_INPUTS)];
static @name@_real y[@NAME@_ROOM(@NAME@_OUTPUTS)];
static @name@_real entries[@NAME@_ROOM(@NAME@_JACOBIAN_ENTRIES)];
static @name@_real piece_end = HUGE_VAL@suffix@;

static sunrealtype inside_piece(sunrealtype t) {
    return (t >= piece_end) ? @nextafter@(piece_end, -HUGE_VAL@suffix@) : t;
}

static int right_side(sunrealtype t, N_Vector x, N_Vector dx, void *context) {
    const sunrealtype inside = inside_piece(t);
    (void)context;
    @name@_inputs(&model, inside, u, du);
    /* A positive value asks for a smaller step. */
    return (@name@_rhs(&model, inside, N_VGetArrayPointer(x), u, du, N_VGetArrayPointer(dx)) == @NAME@_OK) ? 0 : 1;
}

static int jacobian(sunrealtype t, N_Vector x, N_Vector dx, SUNMatrix matrix, void *context, N_Vector a, N_Vector b,
    N_Vector c) {
    const sunrealtype inside = inside_piece(t);
    (void)dx; (void)context; (void)a; (void)b; (void)c;
    @name@_inputs(&model, inside, u, du);
    if (@name@_jacobian(&model, inside, N_VGetArrayPointer(x), u, du, entries) != @NAME@_OK) {
        return 1;
    }
    (void)SUNMatZero(matrix);
    for (int row = 0; row < @NAME@_STATES; row++) {
        for (int at = @name@_jacobian_rows[row]; at < @name@_jacobian_rows[row + 1]; at++) {
            SM_ELEMENT_D(matrix, row, @name@_jacobian_columns[at]) = entries[at];
        }
    }
    return 0;
}

/* Scales of the states before they were seen; a negative one was given by the model, and stays. */
static @name@_real scales[@NAME@_ROOM(@NAME@_STATES)] = {@state_scales@};

/* The tolerances from here on: near zero, where the model asks for none, a thousandth of the relative one times the scale of each
 * state, which is the most that was seen of it. */
static int set_tolerances(void *solver, N_Vector x, N_Vector near_zero) {
    const @name@_real relative = @plan_rtol@;
    const @name@_real absolute = @plan_atol@;
    for (int at = 0; at < @NAME@_STATES; at++) {
        const @name@_real size = @fabs@(N_VGetArrayPointer(x)[at]);
        if (scales[at] >= @zero@ && size > scales[at]) {
            scales[at] = size;
        }
        N_VGetArrayPointer(near_zero)[at] =
            (absolute > @zero@) ? absolute : (@name@_real)1e-3 * relative * @fabs@(scales[at]);
    }
    return CVodeSVtolerances(solver, relative, near_zero);
}

static void print_row(sunrealtype t, N_Vector x) {
    const sunrealtype inside = inside_piece(t);
    @name@_inputs(&model, inside, u, du);
    (void)@name@_outputs(&model, inside, N_VGetArrayPointer(x), u, du, y);
    (void)printf("%.17g", (double)t);
    for (int at = 0; at < @NAME@_OUTPUTS; at++) {
        (void)printf(",%.17g", (double)y[at]);
    }
    for (int at = 0; at < @NAME@_STATE_COLUMNS; at++) {
        (void)printf(",%.17g", (double)N_VGetArrayPointer(x)[@name@_column_states[at]]);
    }
    (void)printf("\n");
}

int main(int count, char **arguments) {
    static @name@_parameters parameters;
    const sunrealtype start = @plan_start@;
    const sunrealtype stop = (count > 1) ? (sunrealtype)atof(arguments[1]) : @plan_stop@;
    const int points = @plan_points@;
    sunrealtype t = start;
    sunrealtype corner;
    SUNContext sundials = NULL;
    N_Vector x;
    N_Vector near_zero;
    SUNMatrix matrix;
    SUNLinearSolver linear;
    void *solver;
    int failed;
    failed = SUNContext_Create(SUN_COMM_NULL, &sundials);
    x = N_VNew_Serial(@NAME@_STATES, sundials);
    near_zero = N_VNew_Serial(@NAME@_STATES, sundials);
    matrix = SUNDenseMatrix(@NAME@_STATES, @NAME@_STATES, sundials);
    linear = SUNLinSol_Dense(x, matrix, sundials);
    solver = CVodeCreate(CV_BDF, sundials);
    if (failed || x == NULL || near_zero == NULL || matrix == NULL || linear == NULL || solver == NULL) {
        (void)fputs("SUNDIALS does not start\n", stderr);
        return 1;
    }
    @name@_defaults(&parameters);
    if (@name@_init(&model, &parameters, N_VGetArrayPointer(x)) != @NAME@_OK) {
        (void)fputs("the starts have no values\n", stderr);
        return 1;
    }
    failed = CVodeInit(solver, right_side, t, x) || set_tolerances(solver, x, near_zero)
        || CVodeSetLinearSolver(solver, linear, matrix) || CVodeSetJacFn(solver, jacobian)
        || CVodeSetMaxStep(solver, @name@_longest_step(&model, start, stop));
    for (int at = 0; at < 1 + @NAME@_OUTPUTS + @NAME@_STATE_COLUMNS; at++) {
        (void)printf("%s%s", (at > 0) ? "," : "", @name@_column_names[at]);
    }
    (void)printf("\n");
    corner = @name@_next_corner(&model, start, t, stop);
    for (int row = 0; row < points && !failed; row++) {
        const sunrealtype wanted = start + (stop - start) * row / (points - 1);
        while (t < wanted && !failed) {
            const sunrealtype end = (corner < wanted) ? corner : wanted;
            piece_end = corner;
            failed = CVodeSetStopTime(solver, (corner < stop) ? corner : stop)
                || CVode(solver, end, x, &t, CV_NORMAL) < 0;
            if (t >= corner) {
                piece_end = HUGE_VAL@suffix@;
                corner = @name@_next_corner(&model, start, t, stop);
                failed = failed || CVodeReInit(solver, t, x) || set_tolerances(solver, x, near_zero);
            }
        }
        piece_end = (corner > t) ? corner : HUGE_VAL@suffix@;
        print_row(t, x);
    }
    CVodeFree(&solver);
    (void)SUNLinSolFree(linear);
    SUNMatDestroy(matrix);
    N_VDestroy(x);
    N_VDestroy(near_zero);
    (void)SUNContext_Free(&sundials);
    return failed ? 1 : 0;
}
