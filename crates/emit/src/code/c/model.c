/* @title@
 *
 * @origin@
@if description@
 *
 * @description@
@end@
 */
#include "@name@.h"

#include <math.h>

#ifdef __cplusplus
#define RESTRICT
#else
#define RESTRICT restrict
#endif

typedef @name@_real real;

@helpers@@programs@
/* A sum is finite only where every term is; eight sums at once do not wait for each other. Finite terms may have a sum that is
 * not: then they are looked at one by one. */
static int all_finite(const real values[], int count) {
    real sum = @zero@;
    real sum_0 = @zero@, sum_1 = @zero@, sum_2 = @zero@, sum_3 = @zero@;
    real sum_4 = @zero@, sum_5 = @zero@, sum_6 = @zero@, sum_7 = @zero@;
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

@if loop_solver@
static const int loop_rows[@name@_UNKNOWNS + 1] = {@loop_rows@};
static const int loop_columns[@loop_room@] = {@loop_columns@};

/* Factors of a dense matrix in place, with partial pivoting over scaled rows; 0 where it is singular. */
static int factorise(real a[], int pivots[], int size) {
    for (int step = 0; step < size; step++) {
        int best = step;
        real most = @zero@;
        for (int row = step; row < size; row++) {
            real scale = @zero@;
            for (int column = 0; column < size; column++) {
                const real entry = @fabs@(a[row * size + column]);
                scale = (entry > scale) ? entry : scale;
            }
            const real share = (scale > @zero@) ? @fabs@(a[row * size + step]) / scale : @zero@;
            if (share > most) {
                most = share;
                best = row;
            }
        }
        if (!(most > @singular@)) {
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
static int factorise_loops(@name@_model *model) {
    for (int at = 0; at < @name@_UNKNOWNS * @name@_UNKNOWNS; at++) {
        model->factors[at] = @zero@;
    }
    for (int row = 0; row < @name@_UNKNOWNS; row++) {
        for (int at = loop_rows[row]; at < loop_rows[row + 1]; at++) {
            model->factors[row * @name@_UNKNOWNS + loop_columns[at]] = model->entries[at];
        }
    }
    return factorise(model->factors, model->pivots, @name@_UNKNOWNS);
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
static real size_of_step(const @name@_model *model, const real step[], real small) {
    real most = @zero@;
    for (int at = 0; at < @name@_UNKNOWNS; at++) {
        const real counts = @loop_relative@ * @fabs@(model->w[at]) + small;
        const real size = @fabs@(step[at]) / ((counts > @least@) ? counts : @least@);
        most = (size > most) ? size : most;
    }
    return most;
}

/* Whether what is left of every correction is rounding: it is small beside its unknown, or once it was not much smaller than the one
 * before. */
static int is_stuck(@name@_model *model) {
    int are_all = 1;
    for (int at = 0; at < @name@_UNKNOWNS; at++) {
        const real size = @fabs@(model->step[at]);
        const int goes_on = size > @loop_relative@ * @fabs@(model->w[at]) && size <= @quarter@ * model->last_step[at];
        model->last_step[at] = goes_on ? size : @zero@;
        are_all = are_all && !goes_on;
    }
    return are_all;
}

/* Whether every residual is zero but for the rounding of the terms that it sums, as its partial derivatives show them. */
static int is_rounding(const @name@_model *model) {
    for (int row = 0; row < @name@_UNKNOWNS; row++) {
        const real residual = model->residuals[row];
        real sum = @zero@;
        real sizes = @zero@;
        for (int at = loop_rows[row]; at < loop_rows[row + 1]; at++) {
            const real term = model->entries[at] * model->w[loop_columns[at]];
            sum += term;
            sizes += @fabs@(term);
        }
        if (!(@fabs@(residual) <= @loop_rounding@ * (sizes + @fabs@(residual - sum)))) {
            return 0;
        }
    }
    return 1;
}

/* Looks for a step that is an improvement: the length is halved until the next correction is smaller than this one, whose size is
 * given. The next one is left in place of the residuals. */
static int shorten(@name@_model *model, real t, const real x[], const real u[], const real du[], real size) {
    real length = @one@;
    (void)t; (void)x; (void)u; (void)du;
    for (int halving = 0; halving < @loop_halvings@; halving++) {
        for (int at = 0; at < @name@_UNKNOWNS; at++) {
            model->trial[at] = model->w[at] - length * model->step[at];
        }
        @trial_call@
        if (all_finite(model->residuals, @name@_UNKNOWNS)) {
            solve_factors(model->factors, model->pivots, @name@_UNKNOWNS, model->residuals);
            const real next = size_of_step(model, model->residuals, @loop_small@);
            if (next <= (@one@ - @quarter@ * length) * size) {
                return 1;
            }
        }
        length *= (halving < 20) ? @half@ : (real)0.0625;
    }
    return 0;
}

static void copy_unknowns(real to[], const real from[]) {
    for (int at = 0; at < @name@_UNKNOWNS; at++) {
        to[at] = from[at];
    }
}

static void take_step(@name@_model *model) {
    for (int at = 0; at < @name@_UNKNOWNS; at++) {
        model->w[at] -= model->step[at];
    }
}

/* Leaves a place where the loops have no slopes: to zero if unknowns are as good as zero, from there aside by a little. */
static void leave_rest(@name@_model *model) {
    int are_tiny = 0;
    for (int at = 0; at < @name@_UNKNOWNS; at++) {
        const real size = @fabs@(model->w[at]);
        const int is_tiny = size > @zero@ && size <= @loop_small@;
        are_tiny = are_tiny || is_tiny;
        model->w[at] = is_tiny ? @zero@ : model->w[at];
    }
    for (int at = 0; at < @name@_UNKNOWNS && are_tiny == 0; at++) {
        const real size = @fabs@(model->w[at]);
        model->w[at] += (real)0.001 * (real)(1 + at % 7) * ((size > @zero@) ? size : @one@);
    }
}

/* Brings the unknowns nearer to a solution until rounding ends it; 0 where none is found.
 *
 * Corrections are measured by their unknowns, whatever size these are of: a charge may be 1e-12 C. What is zero, or balances to zero,
 * has no digits to be right. So where corrections are small by a measure of no unit, they are made as long as they become much
 * smaller; and the first of these places, `fallback`, is as good as a solution if the iteration comes to nothing. */
static int iterate(@name@_model *model, real t, const real x[], const real u[], const real du[], int *has_fallback) {
    real last = HUGE_VAL@suffix@;
    int over_bends = 0;
    (void)t; (void)x; (void)u; (void)du;
    for (int iteration = 0; iteration < @name@_ITERATIONS; iteration++) {
        @residuals_call@
        @loop_matrix_call@
        if (!all_finite(model->residuals, @name@_UNKNOWNS)) {
            return 0;
        }
        if (size_of_step(model, model->residuals, @zero@) == @zero@) {
            return 1;
        }
        if (!all_finite(model->entries, @loop_entries@) || !factorise_loops(model)) {
            /* At rest a turbulent law has no slope, or an infinite one; beside it there is one. */
            if (over_bends >= @asides@) {
                return 0;
            }
            over_bends++;
            last = HUGE_VAL@suffix@;
            leave_rest(model);
            continue;
        }
        copy_unknowns(model->step, model->residuals);
        solve_factors(model->factors, model->pivots, @name@_UNKNOWNS, model->step);
        const real size = size_of_step(model, model->step, @zero@);
        const real plain_size = size_of_step(model, model->step, @loop_small@);
        const int is_zero = is_rounding(model);
        const int is_tiny = plain_size <= @one@;
        const int has_stopped = last < @loop_nearly@ && size < @loop_nearly@ && size > @half@ * last;
        const int is_done = size <= @one@ || has_stopped || (is_zero && plain_size < @loop_nearly@);
        if (is_done || (is_tiny && is_stuck(model))) {
            take_step(model);
            return 1;
        }
        if (is_tiny) {
            if (*has_fallback == 0) {
                *has_fallback = 1;
                copy_unknowns(model->fallback, model->w);
            }
            last = HUGE_VAL@suffix@;
            take_step(model);
            continue;
        }
        if (shorten(model, t, x, u, du, plain_size)) {
            last = size_of_step(model, model->residuals, @zero@);
            copy_unknowns(model->w, model->trial);
            continue;
        }
        if (is_zero || (size < @loop_nearly@ && over_bends > 0)) {
            /* No step leads nearer than rounding allows. */
            return 1;
        }
        /* Where a law bends, the slope before the bend may lead nowhere, and the one behind it does. */
        if (over_bends >= @loop_bends@) {
            return 0;
        }
        over_bends++;
        last = HUGE_VAL@suffix@;
        take_step(model);
    }
    return 0;
}

static int newton(@name@_model *model, real t, const real x[], const real u[], const real du[]) {
    int has_fallback = 0;
    for (int at = 0; at < @name@_UNKNOWNS; at++) {
        model->last_step[at] = HUGE_VAL@suffix@;
    }
    if (iterate(model, t, x, u, du, &has_fallback)) {
        return 1;
    }
    if (has_fallback != 0) {
        copy_unknowns(model->w, model->fallback);
    }
    return has_fallback;
}

const real @name@_loop_guesses[5 * @name@_UNKNOWNS] = {@guesses@};

/* Solves the algebraic loops, from the last solution on; the first time from several values. */
static int solve_loops(@name@_model *model, real t, const real x[], const real u[], const real du[]) {
@if branches@
    if (model->is_frozen) {
        return 1;
    }
@end@
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
        copy_unknowns(model->w, @name@_loop_guesses + guess * @name@_UNKNOWNS);
        model->is_solved = newton(model, t, x, u, du);
    }
    return model->is_solved;
}
@if branches@

int @name@_loops_near(@name@_model *model, @name@_real t, const @name@_real x[], const @name@_real u[],
    const @name@_real du[], const @name@_real w[]) {
    copy_unknowns(model->w, w);
    model->is_solved = 1;
    model->is_frozen = 0;
    return solve_loops(model, t, x, u, du);
}

int @name@_loops_slopes(@name@_model *model, @name@_real t, const @name@_real x[], const @name@_real u[],
    const @name@_real du[], const @name@_real w[], @name@_real slopes[], int pivots[]) {
    (void)t; (void)x; (void)u; (void)du;
    copy_unknowns(model->w, w);
    @loop_matrix_call@
    if (!all_finite(model->entries, @loop_entries@) || !factorise_loops(model)) {
        return 0;
    }
    for (int at = 0; at < @name@_UNKNOWNS * @name@_UNKNOWNS; at++) {
        slopes[at] = model->factors[at];
    }
    for (int at = 0; at < @name@_UNKNOWNS; at++) {
        pivots[at] = model->pivots[at];
    }
    return 1;
}

@if totals@
int @name@_loops_sign(@name@_model *model, @name@_real t, const @name@_real x[], const @name@_real u[],
    const @name@_real du[], const @name@_real w[]) {
    int sign = 1;
    (void)t; (void)x; (void)u; (void)du;
    copy_unknowns(model->w, w);
    @loop_matrix_call@
    if (!all_finite(model->entries, @loop_entries@) || !factorise_loops(model)) {
        return 0;
    }
    for (int at = 0; at < @name@_UNKNOWNS; at++) {
        const int is_exchanged = model->pivots[at] != at;
        const int is_negative = model->factors[at * @name@_UNKNOWNS + at] < @zero@;
        sign = (is_exchanged != is_negative) ? -sign : sign;
    }
    return sign;
}

@end@
int @name@_loops_drift(@name@_model *model, @name@_real t, const @name@_real x[], const @name@_real u[],
    const @name@_real du[], const @name@_real w[], const @name@_real slopes[], const int pivots[], @name@_real drift[]) {
    (void)t; (void)x; (void)u; (void)du;
    copy_unknowns(model->w, w);
    @residuals_call@
    for (int at = 0; at < @name@_UNKNOWNS; at++) {
        drift[at] = model->residuals[at];
    }
    if (!all_finite(drift, @name@_UNKNOWNS)) {
        return 0;
    }
    solve_factors(slopes, pivots, @name@_UNKNOWNS, drift);
    return all_finite(drift, @name@_UNKNOWNS);
}
@end@

@end@
void @name@_defaults(@name@_parameters *parameters) {
@default_lines@}

@name@_status @name@_init(@name@_model *model, const @name@_parameters *parameters, @name@_real x[]) {
    real *const p = model->p;
@if loop_solver@
    model->is_solved = 0;
@if jumps@
    model->small = @loop_absolute@;
@end@
@end@
@if branches@
    model->is_frozen = 0;
@end@
@parameter_lines@@starts_call@    if (!all_finite(x, @name@_STATES)) {
        return @name@_NOT_FINITE;
    }
@if constraints@
    {
        real pairs[2 * @constraint_count@];
        @constraints_call@
        for (int at = 0; at < @constraint_count@; at++) {
            const real given = pairs[2 * at];
            const real follows = pairs[2 * at + 1];
            const real most = (@fabs@(given) > @fabs@(follows)) ? @fabs@(given) : @fabs@(follows);
            if (!(@fabs@(follows - given) <= @agreement@ * most)) {
                return @name@_STARTS_DISAGREE;
            }
        }
    }
@end@
    return @name@_OK;
}

@name@_status @name@_rates(@name@_model *model, @name@_real t, const @name@_real x[], const @name@_real u[],
    const @name@_real du[], @name@_real dx[]) {
    (void)model; (void)t; (void)x; (void)u; (void)du; (void)dx;
@if loop_solver@
    if (!solve_loops(model, t, x, u, du)) {
        return @name@_LOOP_NOT_SOLVED;
    }
@end@
    @derivatives_call@
    return @name@_OK;
}

@name@_status @name@_rhs(@name@_model *model, @name@_real t, const @name@_real x[], const @name@_real u[],
    const @name@_real du[], @name@_real dx[]) {
    const @name@_status status = @name@_rates(model, t, x, u, du, dx);
    if (status != @name@_OK) {
        return status;
    }
    return all_finite(dx, @name@_STATES) ? @name@_OK : @name@_NOT_FINITE;
}

@name@_status @name@_outputs(@name@_model *model, @name@_real t, const @name@_real x[], const @name@_real u[],
    const @name@_real du[], @name@_real y[]) {
    (void)model; (void)t; (void)x; (void)u; (void)du;
@if loop_solver@
    if (!solve_loops(model, t, x, u, du)) {
        return @name@_LOOP_NOT_SOLVED;
    }
@end@
    @outputs_call@
    return all_finite(y, @name@_OUTPUTS) ? @name@_OK : @name@_NOT_FINITE;
}

const int @name@_jacobian_rows[@name@_STATES + 1] = {@jacobian_rows@};
const int @name@_jacobian_columns[@name@_ROOM(@name@_JACOBIAN_ENTRIES)] = {@jacobian_columns@};

@name@_status @name@_jacobian(@name@_model *model, @name@_real t, const @name@_real x[], const @name@_real u[],
    const @name@_real du[], @name@_real entries[]) {
    (void)model; (void)t; (void)x; (void)u; (void)du;
@if loop_solver@
    /* With loops g(x, w) = 0: df/dx - df/dw (dg/dw)^-1 dg/dx, a column at a time. */
    static const int direct_rows[@name@_STATES + 1] = {@direct_rows@};
    static const int direct_columns[@direct_room@] = {@direct_columns@};
    static const int by_loop_rows[@name@_STATES + 1] = {@by_loop_rows@};
    static const int by_loop_columns[@by_loop_room@] = {@by_loop_columns@};
    static const int by_state_rows[@name@_UNKNOWNS + 1] = {@by_state_rows@};
    static const int by_state_columns[@by_state_room@] = {@by_state_columns@};
    const real *const direct = model->direct;
    const real *const by_loop = model->by_loop;
    const real *const by_state = model->by_state;
    if (!solve_loops(model, t, x, u, du)) {
        return @name@_LOOP_NOT_SOLVED;
    }
    @direct_call@
    @by_loop_call@
    @by_state_call@
    @loop_matrix_call@
    if (!factorise_loops(model)) {
        return @name@_LOOP_NOT_SOLVED;
    }
    for (int column = 0; column < @name@_STATES; column++) {
        for (int row = 0; row < @name@_UNKNOWNS; row++) {
            model->step[row] = @zero@;
            for (int at = by_state_rows[row]; at < by_state_rows[row + 1]; at++) {
                if (by_state_columns[at] == column) {
                    model->step[row] = by_state[at];
                }
            }
        }
        solve_factors(model->factors, model->pivots, @name@_UNKNOWNS, model->step);
        for (int row = 0; row < @name@_STATES; row++) {
            real entry = @zero@;
            for (int at = direct_rows[row]; at < direct_rows[row + 1]; at++) {
                if (direct_columns[at] == column) {
                    entry = direct[at];
                }
            }
            for (int at = by_loop_rows[row]; at < by_loop_rows[row + 1]; at++) {
                entry -= by_loop[at] * model->step[by_loop_columns[at]];
            }
            for (int at = @name@_jacobian_rows[row]; at < @name@_jacobian_rows[row + 1]; at++) {
                if (@name@_jacobian_columns[at] == column) {
                    entries[at] = entry;
                }
            }
        }
    }
@else@
    @jacobian_call@
@end@
    return all_finite(entries, @name@_JACOBIAN_ENTRIES) ? @name@_OK : @name@_NOT_FINITE;
}
@if directional@

/* Rows of a sparse matrix times the changes. */
static void times_changes(const @name@_model *model, const int rows[], const int columns[], int count, real products[]) {
    for (int row = 0; row < count; row++) {
        real sum = @zero@;
        for (int at = rows[row]; at < rows[row + 1]; at++) {
            sum += model->partials[at] * model->changes[columns[at]];
        }
        products[row] = sum;
    }
}

@name@_status @name@_directional(@name@_model *model, @name@_real t, const @name@_real x[], const @name@_real u[],
    const @name@_real du[], const @name@_real changes[], @name@_real dx_changes[], @name@_real y_changes[]) {
    static const int rates_rows[@name@_STATES + 1] = {@rates_partials_rows@};
    static const int rates_columns[@rates_partials_room@] = {@rates_partials_columns@};
    static const int outputs_rows[@name@_OUTPUTS + 1] = {@outputs_partials_rows@};
    static const int outputs_columns[@outputs_partials_room@] = {@outputs_partials_columns@};
@if loop_solver@
    static const int residuals_rows[@name@_UNKNOWNS + 1] = {@residuals_partials_rows@};
    static const int residuals_columns[@residuals_partials_room@] = {@residuals_partials_columns@};
    real *const followed = model->changes + (@name@_STATES + 2 * @name@_INPUTS);
@end@
    (void)model; (void)t; (void)x; (void)u; (void)du;
    for (int at = 0; at < @name@_STATES + 2 * @name@_INPUTS; at++) {
        model->changes[at] = changes[at];
    }
@if loop_solver@
    /* The unknowns w of g(x, u, w) = 0 follow: dw = -(dg/dw)^-1 dg. */
    if (!solve_loops(model, t, x, u, du)) {
        return @name@_LOOP_NOT_SOLVED;
    }
    @loop_matrix_call@
    if (!factorise_loops(model)) {
        return @name@_LOOP_NOT_SOLVED;
    }
    for (int at = 0; at < @name@_UNKNOWNS; at++) {
        followed[at] = @zero@;
    }
    @residuals_partials_call@
    times_changes(model, residuals_rows, residuals_columns, @name@_UNKNOWNS, model->step);
    solve_factors(model->factors, model->pivots, @name@_UNKNOWNS, model->step);
    for (int at = 0; at < @name@_UNKNOWNS; at++) {
        followed[at] = -model->step[at];
    }
@end@
    @rates_partials_call@
    times_changes(model, rates_rows, rates_columns, @name@_STATES, dx_changes);
    @outputs_partials_call@
    times_changes(model, outputs_rows, outputs_columns, @name@_OUTPUTS, y_changes);
    return (all_finite(dx_changes, @name@_STATES) && all_finite(y_changes, @name@_OUTPUTS)) ? @name@_OK : @name@_NOT_FINITE;
}
@end@
