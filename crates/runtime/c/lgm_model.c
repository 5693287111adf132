/* One instance of a model: right sides, outputs and the Jacobian, with the algebraic loops solved. */
#include "lgm_model.h"
#include "lgm_numbers.h"

#include <math.h>

#include "lgm_equations.h"

#if LGM_UNKNOWNS
enum {
    /* The most halvings of a step of the loops. */
    HALVINGS = 40,
    /* So many steps are taken over a derivative discontinuity of a law though they do not lead nearer. */
    OVER_BENDS = 12
};
#endif

/* A sum is finite only where every term is; eight sums at once do not wait for each other. Finite terms may have a sum that is
 * not: then they are looked at one by one. */
static int all_finite(const real values[], int count) {
    real sum = (real)0.0;
    real sum_0 = (real)0.0, sum_1 = (real)0.0, sum_2 = (real)0.0, sum_3 = (real)0.0;
    real sum_4 = (real)0.0, sum_5 = (real)0.0, sum_6 = (real)0.0, sum_7 = (real)0.0;
    int at = 0;
    for (; at <= count - 8; at += 8) {
        sum_0 += values[at];
        sum_1 += values[at + 1];
        sum_2 += values[at + 2];
        sum_3 += values[at + 3];
        sum_4 += values[at + 4];
        sum_5 += values[at + 5];
        sum_6 += values[at + 6];
        sum_7 += values[at + 7];
    }
    for (; at < count; at++) {
        sum += values[at];
    }
    sum += ((sum_0 + sum_1) + (sum_2 + sum_3)) + ((sum_4 + sum_5) + (sum_6 + sum_7));
    if (isfinite(sum)) {
        return 1;
    }
    for (at = 0; at < count; at++) {
        if (!isfinite(values[at])) {
            return 0;
        }
    }
    return 1;
}

#if LGM_UNKNOWNS
/* Factors of a dense matrix in place, with partial pivoting over scaled rows; 0 where it is singular. */
static int factorise(real a[], int pivots[], int size) {
    for (int step = 0; step < size; step++) {
        int best = step;
        real most = (real)0.0;
        for (int row = step; row < size; row++) {
            real scale = (real)0.0;
            for (int column = 0; column < size; column++) {
                const real entry = lgm_fabs(a[row * size + column]);
                scale = (entry > scale) ? entry : scale;
            }
            const real share = (scale > (real)0.0) ? lgm_fabs(a[row * size + step]) / scale : (real)0.0;
            if (share > most) {
                most = share;
                best = row;
            }
        }
        if (!(most > LGM_SINGULAR)) {
            return 0;
        }
        for (int column = 0; column < size; column++) {
            const real kept = a[step * size + column];
            a[step * size + column] = a[best * size + column];
            a[best * size + column] = kept;
        }
        pivots[step] = best;
        for (int row = step + 1; row < size; row++) {
            const real factor = a[row * size + step] / a[step * size + step];
            a[row * size + step] = factor;
            for (int column = step + 1; column < size; column++) {
                a[row * size + column] -= factor * a[step * size + column];
            }
        }
    }
    return 1;
}

/* The same of the matrix of the loops, from its stored entries. */
static int factorise_loops(lgm_model *model) {
    for (int at = 0; at < LGM_UNKNOWNS * LGM_UNKNOWNS; at++) {
        model->factors[at] = (real)0.0;
    }
    for (int row = 0; row < LGM_UNKNOWNS; row++) {
        for (int at = loop_rows[row]; at < loop_rows[row + 1]; at++) {
            model->factors[row * LGM_UNKNOWNS + loop_columns[at]] = model->entries[at];
        }
    }
    return factorise(model->factors, model->pivots, LGM_UNKNOWNS);
}

/* Replaces a right side by the solution. */
static void solve_factors(const real a[], const int pivots[], int size, real right[]) {
    for (int step = 0; step < size; step++) {
        const real kept = right[step];
        right[step] = right[pivots[step]];
        right[pivots[step]] = kept;
    }
    for (int row = 0; row < size; row++) {
        for (int column = 0; column < row; column++) {
            right[row] -= a[row * size + column] * right[column];
        }
    }
    for (int row = size - 1; row >= 0; row--) {
        for (int column = row + 1; column < size; column++) {
            right[row] -= a[row * size + column] * right[column];
        }
        right[row] /= a[row * size + row];
    }
}

/* The largest correction in units of what does not matter of its unknown, which is no less than a size that does not matter of any. */
static real size_of_step(const lgm_model *model, const real step[], real small) {
    real most = (real)0.0;
    for (int at = 0; at < LGM_UNKNOWNS; at++) {
        const real counts = LGM_LOOP_RELATIVE * lgm_fabs(model->w[at]) + small;
        const real size = lgm_fabs(step[at]) / ((counts > LGM_LEAST) ? counts : LGM_LEAST);
        most = (size > most) ? size : most;
    }
    return most;
}

/* True if the rest of every correction is rounding: it is small beside its unknown, or once it was not much smaller than the one
 * before. */
static int is_stuck(lgm_model *model) {
    int are_all = 1;
    for (int at = 0; at < LGM_UNKNOWNS; at++) {
        const real size = lgm_fabs(model->step[at]);
        const int goes_on = size > LGM_LOOP_RELATIVE * lgm_fabs(model->w[at]) && size <= (real)0.25 * model->last_step[at];
        model->last_step[at] = goes_on ? size : (real)0.0;
        are_all = are_all && !goes_on;
    }
    return are_all;
}

/* True if every residual is zero but for the rounding of the terms that it sums, as its partial derivatives show them. */
static int is_rounding(const lgm_model *model) {
    for (int row = 0; row < LGM_UNKNOWNS; row++) {
        const real residual = model->residuals[row];
        real sum = (real)0.0;
        real sizes = (real)0.0;
        for (int at = loop_rows[row]; at < loop_rows[row + 1]; at++) {
            const real term = model->entries[at] * model->w[loop_columns[at]];
            sum += term;
            sizes += lgm_fabs(term);
        }
        if (!(lgm_fabs(residual) <= LGM_LOOP_ROUNDING * (sizes + lgm_fabs(residual - sum)))) {
            return 0;
        }
    }
    return 1;
}

/* Looks for a step that is an improvement: the length is halved until the next correction is smaller than this one, whose size is
 * given. The next one is left in place of the residuals. */
static int shorten(lgm_model *model, real t, const real x[], const real u[], const real du[], real size) {
    real length = (real)1.0;
    (void)t; (void)x; (void)u; (void)du;
    for (int halving = 0; halving < HALVINGS; halving++) {
        for (int at = 0; at < LGM_UNKNOWNS; at++) {
            model->trial[at] = model->w[at] - length * model->step[at];
        }
        system_residuals(model, t, x, u, du, model->trial, model->residuals);
        if (all_finite(model->residuals, LGM_UNKNOWNS)) {
            solve_factors(model->factors, model->pivots, LGM_UNKNOWNS, model->residuals);
            const real next = size_of_step(model, model->residuals, model->small);
            if (next <= ((real)1.0 - (real)0.25 * length) * size) {
                return 1;
            }
        }
        length *= (halving < 20) ? (real)0.5 : (real)0.0625;
    }
    return 0;
}

static void copy_unknowns(real to[], const real from[]) {
    for (int at = 0; at < LGM_UNKNOWNS; at++) {
        to[at] = from[at];
    }
}

static void take_step(lgm_model *model) {
    for (int at = 0; at < LGM_UNKNOWNS; at++) {
        model->w[at] -= model->step[at];
    }
}

/* Leaves a place where the loops have no slopes: to zero if unknowns are as good as zero, from there aside by a little. */
static void leave_rest(lgm_model *model) {
    int are_tiny = 0;
    for (int at = 0; at < LGM_UNKNOWNS; at++) {
        const real size = lgm_fabs(model->w[at]);
        const int is_tiny = size > (real)0.0 && size <= model->small;
        are_tiny = are_tiny || is_tiny;
        model->w[at] = is_tiny ? (real)0.0 : model->w[at];
    }
    for (int at = 0; at < LGM_UNKNOWNS && are_tiny == 0; at++) {
        const real size = lgm_fabs(model->w[at]);
        model->w[at] += (real)0.001 * (real)(1 + at % 7) * ((size > (real)0.0) ? size : (real)1.0);
    }
}

/* Brings the unknowns nearer to a solution until rounding ends it; 0 where none is found.
 *
 * Corrections are measured by their unknowns, whatever size these are of: a charge may be 1e-12 C. What is zero, or balances to zero,
 * has no digits to be right. So where corrections are small by a measure of no unit, they are made as long as they become much
 * smaller; and the first of these places, `fallback`, is as good as a solution if the iteration comes to nothing. */
static int iterate(lgm_model *model, real t, const real x[], const real u[], const real du[], int *has_fallback) {
    real last = LGM_INFINITE;
    int over_bends = 0;
    (void)t; (void)x; (void)u; (void)du;
    for (int iteration = 0; iteration < LGM_ITERATIONS; iteration++) {
        system_residuals(model, t, x, u, du, model->w, model->residuals);
        system_loop_matrix(model, t, x, u, du, model->w, model->entries);
        if (!all_finite(model->residuals, LGM_UNKNOWNS)) {
            return 0;
        }
        if (size_of_step(model, model->residuals, (real)0.0) == (real)0.0) {
            return 1;
        }
        if (!all_finite(model->entries, LGM_LOOP_ENTRIES) || !factorise_loops(model)) {
            /* At rest a turbulent law has no slope, or an infinite one; beside it there is one. */
            if (over_bends >= LGM_ASIDES) {
                return 0;
            }
            over_bends++;
            last = LGM_INFINITE;
            leave_rest(model);
            continue;
        }
        copy_unknowns(model->step, model->residuals);
        solve_factors(model->factors, model->pivots, LGM_UNKNOWNS, model->step);
        const real size = size_of_step(model, model->step, (real)0.0);
        const real plain_size = size_of_step(model, model->step, model->small);
        const int is_zero = is_rounding(model);
        const int is_tiny = plain_size <= (real)1.0;
        const int has_stopped = last < LGM_LOOP_NEARLY && size < LGM_LOOP_NEARLY && size > (real)0.5 * last;
        const int is_done = size <= (real)1.0 || has_stopped || (is_zero && plain_size < LGM_LOOP_NEARLY);
        if (is_done || (is_tiny && is_stuck(model))) {
            take_step(model);
            return 1;
        }
        if (is_tiny) {
            if (*has_fallback == 0) {
                *has_fallback = 1;
                copy_unknowns(model->fallback, model->w);
            }
            last = LGM_INFINITE;
            take_step(model);
            continue;
        }
        if (shorten(model, t, x, u, du, plain_size)) {
            last = size_of_step(model, model->residuals, (real)0.0);
            copy_unknowns(model->w, model->trial);
            continue;
        }
        if (is_zero || (size < LGM_LOOP_NEARLY && over_bends > 0)) {
            /* No step leads nearer than rounding allows. */
            return 1;
        }
        /* Where a law bends, the slope before the bend may lead nowhere, and the one behind it does. */
        if (over_bends >= OVER_BENDS) {
            return 0;
        }
        over_bends++;
        last = LGM_INFINITE;
        take_step(model);
    }
    return 0;
}

static int newton(lgm_model *model, real t, const real x[], const real u[], const real du[]) {
    int has_fallback = 0;
    for (int at = 0; at < LGM_UNKNOWNS; at++) {
        model->last_step[at] = LGM_INFINITE;
    }
    if (iterate(model, t, x, u, du, &has_fallback)) {
        return 1;
    }
    if (has_fallback != 0) {
        copy_unknowns(model->w, model->fallback);
    }
    return has_fallback;
}

/* Solves the algebraic loops, from the last solution on; the first time from several values. */
static int solve_loops(lgm_model *model, real t, const real x[], const real u[], const real du[]) {
#if LGM_BRANCHES
    if (model->is_frozen) {
        return 1;
    }
#endif
    if (model->is_solved) {
        copy_unknowns(model->solution, model->w);
        if (newton(model, t, x, u, du)) {
            return 1;
        }
        /* Half an iteration is no better guess for the next. */
        copy_unknowns(model->w, model->solution);
        return 0;
    }
    for (int guess = 0; guess < 5 && !model->is_solved; guess++) {
        copy_unknowns(model->w, lgm_loop_guesses + guess * LGM_UNKNOWNS);
        model->is_solved = newton(model, t, x, u, du);
    }
    return model->is_solved;
}
#if LGM_BRANCHES

int lgm_loops_near(lgm_model *model, lgm_real t, const lgm_real x[], const lgm_real u[],
    const lgm_real du[], const lgm_real w[]) {
    copy_unknowns(model->w, w);
    model->is_solved = 1;
    model->is_frozen = 0;
    return solve_loops(model, t, x, u, du);
}

int lgm_loops_slopes(lgm_model *model, lgm_real t, const lgm_real x[], const lgm_real u[],
    const lgm_real du[], const lgm_real w[], lgm_real slopes[], int pivots[]) {
    (void)t; (void)x; (void)u; (void)du;
    copy_unknowns(model->w, w);
    system_loop_matrix(model, t, x, u, du, model->w, model->entries);
    if (!all_finite(model->entries, LGM_LOOP_ENTRIES) || !factorise_loops(model)) {
        return 0;
    }
    for (int at = 0; at < LGM_UNKNOWNS * LGM_UNKNOWNS; at++) {
        slopes[at] = model->factors[at];
    }
    for (int at = 0; at < LGM_UNKNOWNS; at++) {
        pivots[at] = model->pivots[at];
    }
    return 1;
}

#if LGM_TOTALS
int lgm_loops_sign(lgm_model *model, lgm_real t, const lgm_real x[], const lgm_real u[],
    const lgm_real du[], const lgm_real w[]) {
    int sign = 1;
    (void)t; (void)x; (void)u; (void)du;
    copy_unknowns(model->w, w);
    system_loop_matrix(model, t, x, u, du, model->w, model->entries);
    if (!all_finite(model->entries, LGM_LOOP_ENTRIES) || !factorise_loops(model)) {
        return 0;
    }
    for (int at = 0; at < LGM_UNKNOWNS; at++) {
        const int is_exchanged = model->pivots[at] != at;
        const int is_negative = model->factors[at * LGM_UNKNOWNS + at] < (real)0.0;
        sign = (is_exchanged != is_negative) ? -sign : sign;
    }
    return sign;
}

#endif
int lgm_loops_drift(lgm_model *model, lgm_real t, const lgm_real x[], const lgm_real u[],
    const lgm_real du[], const lgm_real w[], const lgm_real slopes[], const int pivots[], lgm_real drift[]) {
    (void)t; (void)x; (void)u; (void)du;
    copy_unknowns(model->w, w);
    system_residuals(model, t, x, u, du, model->w, model->residuals);
    for (int at = 0; at < LGM_UNKNOWNS; at++) {
        drift[at] = model->residuals[at];
    }
    if (!all_finite(drift, LGM_UNKNOWNS)) {
        return 0;
    }
    solve_factors(slopes, pivots, LGM_UNKNOWNS, drift);
    return all_finite(drift, LGM_UNKNOWNS);
}
#endif

#endif
void lgm_defaults(lgm_parameters *parameters) {
    system_defaults(parameters);
}

lgm_status lgm_init(lgm_model *model, const lgm_parameters *parameters, lgm_real x[]) {
#if LGM_UNKNOWNS
    model->is_solved = 0;
    model->small = LGM_LOOP_ABSOLUTE;
#endif
#if LGM_BRANCHES
    model->is_frozen = 0;
#endif
    system_parameters(model, parameters);
    system_starts(model, (real)0.0, x);
    if (!all_finite(x, LGM_STATES)) {
        return LGM_NOT_FINITE;
    }
#if LGM_CONSTRAINTS
    {
        real pairs[2 * LGM_CONSTRAINTS];
        system_constraints(model, (real)0.0, pairs);
        for (int at = 0; at < LGM_CONSTRAINTS; at++) {
            const real given = pairs[2 * at];
            const real follows = pairs[2 * at + 1];
            const real most = (lgm_fabs(given) > lgm_fabs(follows)) ? lgm_fabs(given) : lgm_fabs(follows);
            if (!(lgm_fabs(follows - given) <= LGM_AGREEMENT * most)) {
                return LGM_STARTS_DISAGREE;
            }
        }
    }
#endif
    return LGM_OK;
}

lgm_status lgm_rates(lgm_model *model, lgm_real t, const lgm_real x[], const lgm_real u[],
    const lgm_real du[], lgm_real dx[]) {
    (void)model; (void)t; (void)x; (void)u; (void)du; (void)dx;
#if LGM_UNKNOWNS
    if (!solve_loops(model, t, x, u, du)) {
        return LGM_LOOP_NOT_SOLVED;
    }
#endif
    system_derivatives(model, t, x, u, du, LGM_UNKNOWNS_OF(model), dx);
    return LGM_OK;
}

lgm_status lgm_rhs(lgm_model *model, lgm_real t, const lgm_real x[], const lgm_real u[],
    const lgm_real du[], lgm_real dx[]) {
    const lgm_status status = lgm_rates(model, t, x, u, du, dx);
    if (status != LGM_OK) {
        return status;
    }
    return all_finite(dx, LGM_STATES) ? LGM_OK : LGM_NOT_FINITE;
}

lgm_status lgm_outputs(lgm_model *model, lgm_real t, const lgm_real x[], const lgm_real u[],
    const lgm_real du[], lgm_real y[]) {
    (void)model; (void)t; (void)x; (void)u; (void)du;
#if LGM_UNKNOWNS
    if (!solve_loops(model, t, x, u, du)) {
        return LGM_LOOP_NOT_SOLVED;
    }
#endif
    system_outputs(model, t, x, u, du, LGM_UNKNOWNS_OF(model), y);
    return all_finite(y, LGM_OUTPUTS) ? LGM_OK : LGM_NOT_FINITE;
}

#if LGM_COMBINATIONS == 1
lgm_status lgm_jacobian(lgm_model *model, lgm_real t, const lgm_real x[], const lgm_real u[],
    const lgm_real du[], lgm_real entries[]) {
    (void)model; (void)t; (void)x; (void)u; (void)du;
#if LGM_UNKNOWNS
    /* With loops g(x, w) = 0: df/dx - df/dw (dg/dw)^-1 dg/dx, a column at a time. */
    const real *const direct = model->direct;
    const real *const by_loop = model->by_loop;
    const real *const by_state = model->by_state;
    if (!solve_loops(model, t, x, u, du)) {
        return LGM_LOOP_NOT_SOLVED;
    }
    system_direct(model, t, x, u, du, model->w, model->direct);
    system_by_unknowns(model, t, x, u, du, model->w, model->by_loop);
    system_by_states(model, t, x, u, du, model->w, model->by_state);
    system_loop_matrix(model, t, x, u, du, model->w, model->entries);
    if (!factorise_loops(model)) {
        return LGM_LOOP_NOT_SOLVED;
    }
    for (int column = 0; column < LGM_STATES; column++) {
        for (int row = 0; row < LGM_UNKNOWNS; row++) {
            model->step[row] = (real)0.0;
            for (int at = by_state_rows[row]; at < by_state_rows[row + 1]; at++) {
                if (by_state_columns[at] == column) {
                    model->step[row] = by_state[at];
                }
            }
        }
        solve_factors(model->factors, model->pivots, LGM_UNKNOWNS, model->step);
        for (int row = 0; row < LGM_STATES; row++) {
            real entry = (real)0.0;
            for (int at = direct_rows[row]; at < direct_rows[row + 1]; at++) {
                if (direct_columns[at] == column) {
                    entry = direct[at];
                }
            }
            for (int at = by_loop_rows[row]; at < by_loop_rows[row + 1]; at++) {
                entry -= by_loop[at] * model->step[by_loop_columns[at]];
            }
            for (int at = lgm_jacobian_rows[row]; at < lgm_jacobian_rows[row + 1]; at++) {
                if (lgm_jacobian_columns[at] == column) {
                    entries[at] = entry;
                }
            }
        }
    }
#else
    system_jacobian(model, t, x, u, du, LGM_UNKNOWNS_OF(model), entries);
#endif
    return all_finite(entries, LGM_JACOBIAN_ENTRIES) ? LGM_OK : LGM_NOT_FINITE;
}
#endif
#if LGM_DIRECTIONAL

/* Rows of a sparse matrix times the changes. */
static void times_changes(const lgm_model *model, const int rows[], const int columns[], int count, real products[]) {
    for (int row = 0; row < count; row++) {
        real sum = (real)0.0;
        for (int at = rows[row]; at < rows[row + 1]; at++) {
            sum += model->partials[at] * model->changes[columns[at]];
        }
        products[row] = sum;
    }
}

lgm_status lgm_directional(lgm_model *model, lgm_real t, const lgm_real x[], const lgm_real u[],
    const lgm_real du[], const lgm_real changes[], lgm_real dx_changes[], lgm_real y_changes[]) {
#if LGM_UNKNOWNS
    real *const followed = model->changes + (LGM_STATES + 2 * LGM_INPUTS);
#endif
    (void)model; (void)t; (void)x; (void)u; (void)du;
    for (int at = 0; at < LGM_STATES + 2 * LGM_INPUTS; at++) {
        model->changes[at] = changes[at];
    }
#if LGM_UNKNOWNS
    /* The unknowns w of g(x, u, w) = 0 follow: dw = -(dg/dw)^-1 dg. */
    if (!solve_loops(model, t, x, u, du)) {
        return LGM_LOOP_NOT_SOLVED;
    }
    system_loop_matrix(model, t, x, u, du, model->w, model->entries);
    if (!factorise_loops(model)) {
        return LGM_LOOP_NOT_SOLVED;
    }
    for (int at = 0; at < LGM_UNKNOWNS; at++) {
        followed[at] = (real)0.0;
    }
    system_residuals_partials(model, t, x, u, du, model->w, model->partials);
    times_changes(model, residuals_rows, residuals_columns, LGM_UNKNOWNS, model->step);
    solve_factors(model->factors, model->pivots, LGM_UNKNOWNS, model->step);
    for (int at = 0; at < LGM_UNKNOWNS; at++) {
        followed[at] = -model->step[at];
    }
#endif
    system_rates_partials(model, t, x, u, du, LGM_UNKNOWNS_OF(model), model->partials);
    times_changes(model, rates_rows, rates_columns, LGM_STATES, dx_changes);
    system_outputs_partials(model, t, x, u, du, LGM_UNKNOWNS_OF(model), model->partials);
    times_changes(model, outputs_rows, outputs_columns, LGM_OUTPUTS, y_changes);
    return (all_finite(dx_changes, LGM_STATES) && all_finite(y_changes, LGM_OUTPUTS)) ? LGM_OK : LGM_NOT_FINITE;
}
#endif
