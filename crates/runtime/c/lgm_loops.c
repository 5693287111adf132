/* Algebraic loops: Newton's method for the unknowns within each call, starting from the last solution. Included in the source of a
 * model with loops; `residuals` and `loop_matrix` are its equations.
 */

enum {
    /* The maximum number of halvings of a step. */
    HALVINGS = 40,
    /* The maximum number of steps across kinks of a law that are accepted although they do not reduce the error. */
    OVER_BENDS = 12
};

static int are_finite(const real values[], int count) {
    for (int at = 0; at < count; at++) {
        if (!isfinite(values[at])) {
            return 0;
        }
    }
    return 1;
}

/* Factorises a dense matrix in place, with partial pivoting over scaled rows; returns 0 if it is singular. */
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

/* Factorises the matrix of the loops from its stored entries. */
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

/* Replaces a right-hand side by the solution. */
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

/* Returns the largest correction, in units of the magnitude below which its unknown is negligible. */
static real size_of_step(const lgm_model *model, const real step[], real small) {
    real most = (real)0.0;
    for (int at = 0; at < LGM_UNKNOWNS; at++) {
        const real counts = LGM_LOOP_RELATIVE * lgm_fabs(model->w[at]) + small;
        const real size = lgm_fabs(step[at]) / ((counts > LGM_LEAST) ? counts : LGM_LEAST);
        most = (size > most) ? size : most;
    }
    return most;
}

/* Returns true if the remainder of every correction is round-off: small compared with its unknown, or at some point hardly smaller than
 * the previous one. */
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

/* Returns true if every residual is zero except for the round-off of its terms, as given by its partial derivatives. */
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

/* Searches for a step that is an improvement: halves the length until the next correction is smaller than the current one, whose size is
 * given. Leaves the next correction in place of the residuals. */
static int shorten(lgm_model *model, real t, const real x[], const real u[] LGM_DU(, const real du[]), real size) {
    real length = (real)1.0;
    for (int halving = 0; halving < HALVINGS; halving++) {
        for (int at = 0; at < LGM_UNKNOWNS; at++) {
            model->trial[at] = model->w[at] - length * model->step[at];
        }
        residuals(model, t, x, u LGM_DU(, du), model->trial, model->residuals);
        if (are_finite(model->residuals, LGM_UNKNOWNS)) {
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

/* Leaves a point at which the loops have no slopes: sets unknowns that are almost zero to zero, then moves slightly aside. */
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

/* Improves the unknowns to a solution, down to round-off; returns 0 if none is found.
 *
 * Corrections are measured relative to their unknowns, which may have any magnitude: a charge may be 1e-12 C. An unknown that is zero,
 * or cancels to zero, has no significant digits. If corrections are small in absolute terms, they are therefore continued as long as
 * they shrink substantially. The first such point, `fallback`, is an acceptable solution if the iteration fails. */
static int iterate(lgm_model *model, real t, const real x[], const real u[] LGM_DU(, const real du[]), int *has_fallback) {
    real last = LGM_INFINITE;
    int over_bends = 0;
    for (int iteration = 0; iteration < LGM_ITERATIONS; iteration++) {
        residuals(model, t, x, u LGM_DU(, du), model->w, model->residuals);
        loop_matrix(model, t, x, u LGM_DU(, du), model->w, model->entries);
        if (!are_finite(model->residuals, LGM_UNKNOWNS)) {
            return 0;
        }
        if (size_of_step(model, model->residuals, (real)0.0) == (real)0.0) {
            return 1;
        }
        if (!are_finite(model->entries, LGM_LOOP_ENTRIES) || !factorise_loops(model)) {
            /* At rest a turbulent law has no slope, or an infinite one; it has a finite slope nearby. */
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
        if (shorten(model, t, x, u LGM_DU(, du), plain_size)) {
            last = size_of_step(model, model->residuals, (real)0.0);
            copy_unknowns(model->w, model->trial);
            continue;
        }
        if (is_zero || (size < LGM_LOOP_NEARLY && over_bends > 0)) {
            /* No step leads closer than round-off allows. */
            return 1;
        }
        /* At a kink of a law, the slope before it may not lead to a solution, but the slope after it does. */
        if (over_bends >= OVER_BENDS) {
            return 0;
        }
        over_bends++;
        last = LGM_INFINITE;
        take_step(model);
    }
    return 0;
}

static int newton(lgm_model *model, real t, const real x[], const real u[] LGM_DU(, const real du[])) {
    int has_fallback = 0;
    for (int at = 0; at < LGM_UNKNOWNS; at++) {
        model->last_step[at] = LGM_INFINITE;
    }
    if (iterate(model, t, x, u LGM_DU(, du), &has_fallback)) {
        return 1;
    }
    if (has_fallback != 0) {
        copy_unknowns(model->w, model->fallback);
    }
    return has_fallback;
}

/* Solves the algebraic loops, starting from the last solution; the first time from several guesses. */
static int solve_loops(lgm_model *model, real t, const real x[], const real u[] LGM_DU(, const real du[])) {
#if LGM_BRANCHES
    if (model->is_frozen) {
        return 1;
    }
#endif
    if (model->is_solved) {
        copy_unknowns(model->solution, model->w);
        if (newton(model, t, x, u LGM_DU(, du))) {
            return 1;
        }
        /* A failed iteration gives no better guess for the next one. */
        copy_unknowns(model->w, model->solution);
        return 0;
    }
    for (int guess = 0; guess < 5 && !model->is_solved; guess++) {
        copy_unknowns(model->w, lgm_loop_guesses + guess * LGM_UNKNOWNS);
        model->is_solved = newton(model, t, x, u LGM_DU(, du));
    }
    return model->is_solved;
}

/* Computes d(dx)/dx - d(dx)/dw (dg/dw)^-1 dg/dx for loops g(x, w) = 0, column by column. */
#if LGM_DENSE
static int jacobian_through_loops(lgm_model *model, real t, const real x[], const real u[] LGM_DU(, const real du[]),
    real jacobian[][LGM_STATES]) {
#else
static int jacobian_through_loops(lgm_model *model, real t, const real x[], const real u[] LGM_DU(, const real du[]),
    real entries[]) {
#endif
    const real *const direct = model->direct;
    const real *const by_loop = model->by_loop;
    const real *const by_state = model->by_state;
    if (!solve_loops(model, t, x, u LGM_DU(, du))) {
        return 0;
    }
    rates_by_states(model, t, x, u LGM_DU(, du), model->w, model->direct);
    rates_by_unknowns(model, t, x, u LGM_DU(, du), model->w, model->by_loop);
    residuals_by_states(model, t, x, u LGM_DU(, du), model->w, model->by_state);
    loop_matrix(model, t, x, u LGM_DU(, du), model->w, model->entries);
    if (!factorise_loops(model)) {
        return 0;
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
#if LGM_DENSE
            jacobian[row][column] = entry;
#else
            for (int at = lgm_jacobian_rows[row]; at < lgm_jacobian_rows[row + 1]; at++) {
                if (lgm_jacobian_columns[at] == column) {
                    entries[at] = entry;
                }
            }
#endif
        }
    }
    return 1;
}

int lgm_loops_follow(lgm_model *model, lgm_real t, const lgm_real x[], const lgm_real u[] LGM_DU(, const lgm_real du[]), lgm_real right[]) {
    if (!solve_loops(model, t, x, u LGM_DU(, du))) {
        return 0;
    }
    loop_matrix(model, t, x, u LGM_DU(, du), model->w, model->entries);
    if (!factorise_loops(model)) {
        return 0;
    }
    solve_factors(model->factors, model->pivots, LGM_UNKNOWNS, right);
    return 1;
}

int lgm_loops_near(lgm_model *model, lgm_real t, const lgm_real x[], const lgm_real u[] LGM_DU(, const lgm_real du[]),
    const lgm_real w[]) {
    copy_unknowns(model->w, w);
    model->is_solved = 1;
    model->is_frozen = 0;
    return solve_loops(model, t, x, u LGM_DU(, du));
}

int lgm_loops_slopes(lgm_model *model, lgm_real t, const lgm_real x[], const lgm_real u[] LGM_DU(, const lgm_real du[]),
    const lgm_real w[], lgm_real slopes[], int pivots[]) {
    copy_unknowns(model->w, w);
    loop_matrix(model, t, x, u LGM_DU(, du), model->w, model->entries);
    if (!are_finite(model->entries, LGM_LOOP_ENTRIES) || !factorise_loops(model)) {
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

int lgm_loops_sign(lgm_model *model, lgm_real t, const lgm_real x[], const lgm_real u[] LGM_DU(, const lgm_real du[]),
    const lgm_real w[]) {
    int sign = 1;
    copy_unknowns(model->w, w);
    loop_matrix(model, t, x, u LGM_DU(, du), model->w, model->entries);
    if (!are_finite(model->entries, LGM_LOOP_ENTRIES) || !factorise_loops(model)) {
        return 0;
    }
    for (int at = 0; at < LGM_UNKNOWNS; at++) {
        const int is_exchanged = model->pivots[at] != at;
        const int is_negative = model->factors[at * LGM_UNKNOWNS + at] < (real)0.0;
        sign = (is_exchanged != is_negative) ? -sign : sign;
    }
    return sign;
}

int lgm_loops_drift(lgm_model *model, lgm_real t, const lgm_real x[], const lgm_real u[] LGM_DU(, const lgm_real du[]),
    const lgm_real w[], const lgm_real slopes[], const int pivots[], lgm_real drift[]) {
    copy_unknowns(model->w, w);
    residuals(model, t, x, u LGM_DU(, du), model->w, model->residuals);
    for (int at = 0; at < LGM_UNKNOWNS; at++) {
        drift[at] = model->residuals[at];
    }
    if (!are_finite(drift, LGM_UNKNOWNS)) {
        return 0;
    }
    solve_factors(slopes, pivots, LGM_UNKNOWNS, drift);
    return are_finite(drift, LGM_UNKNOWNS);
}
