/* The branch of solutions of the algebraic loops that a run follows. */
#include "lgm_branch.h"
#include "lgm_numbers.h"
#include "lgm_run.h"

#include <math.h>
#include <stddef.h>

#if LGM_BRANCHES

enum {
    /* The maximum number of examined parts of a path. */
    PARTS = 400,
    /* The maximum number of moves from the end of a branch to another solution. */
    MOVES = 2000
};

/* Changes of an unknown below the first fraction of its magnitude, or below the second fraction of its largest value so far, are
 * continuous. */
static const real continuous = (real)1e-5;
static const real noise = (real)1e-7;
/* The largest deviation of the midpoint of a path from the chord, relative to its length; at a jump it is one half. */
static const real bent = (real)0.4;
/* Unknowns that differ by more than this fraction are on different branches. */
static const real elsewhere = (real)1e-3;
/* Parts of a step shorter than this fraction of it are an instant. */
static const real instant = (real)1e-12;
/* The distance before the end of a branch at which slopes are evaluated, as a fraction of the run; at the end itself they may not exist. */
static const real apart = (real)1e-7;
/* The longest move, relative to the unknowns. */
static const real longest_move = (real)0.05;

/* Makes the next search for a solution start from these unknowns. */
static void take(lgm_run *run, const real unknowns[]) {
    lgm_copy(run->model.w, unknowns, LGM_UNKNOWNS);
    run->model.is_solved = 1;
    run->model.is_frozen = 0;
}

static real size_of(const real values[]) {
    real most = (real)0.0;
    for (int at = 0; at < LGM_UNKNOWNS; at++) {
        most = lgm_larger(most, lgm_fabs(values[at]));
    }
    return most;
}

static real horizon_length(const lgm_run *run) {
    return run->horizon - run->start;
}

/* Returns the change of an unknown that always counts as continuous. */
static real small_change(const lgm_branch *branch, int at, real a, real b) {
    return continuous * lgm_larger(lgm_fabs(a), lgm_fabs(b)) + noise * branch->sizes[at] + LGM_LOOP_ABSOLUTE;
}

static int is_near(const lgm_branch *branch, const real a[], const real b[]) {
    for (int at = 0; at < LGM_UNKNOWNS; at++) {
        if (lgm_settled_unknowns[at] == 0 && !(lgm_fabs(a[at] - b[at]) <= small_change(branch, at, a[at], b[at]))) {
            return 0;
        }
    }
    return 1;
}

/* Returns true if the intermediate solution is between the two others, and not equal to one of them. */
static int is_way(const lgm_branch *branch, const real from[], const real between[], const real to[]) {
    for (int at = 0; at < LGM_UNKNOWNS; at++) {
        const real length = lgm_fabs(to[at] - from[at]);
        const real off = lgm_fabs(between[at] - (real)0.5 * (from[at] + to[at]));
        if (lgm_settled_unknowns[at] == 0 && !(off <= bent * length + small_change(branch, at, from[at], to[at]))) {
            return 0;
        }
    }
    return 1;
}

static int differs(int at, const real a[], const real b[]) {
    const real size = lgm_larger(lgm_fabs(a[at]), lgm_fabs(b[at]));
    return lgm_settled_unknowns[at] == 0 && lgm_fabs(a[at] - b[at]) > elsewhere * size + LGM_LOOP_ABSOLUTE;
}

static int is_elsewhere(const real a[], const real b[]) {
    for (int at = 0; at < LGM_UNKNOWNS; at++) {
        if (differs(at, a, b)) {
            return 1;
        }
    }
    return 0;
}

static void measure(lgm_branch *branch) {
    for (int at = 0; at < LGM_UNKNOWNS; at++) {
        branch->sizes[at] = lgm_larger(branch->sizes[at], lgm_fabs(branch->unknowns[at]));
    }
}

/* Keeps a point of the branch, some distance after the previous one. */
static void keep_anchor(lgm_run *run, real t, const real x[]) {
    lgm_branch *const branch = &run->branch;
    branch->anchors[0] = branch->anchors[1];
    branch->anchors[1].t = t;
    lgm_copy(branch->anchors[1].x, x, LGM_STATES);
    lgm_copy(branch->anchors[1].unknowns, branch->unknowns, LGM_UNKNOWNS);
}

static void keep_sign(lgm_run *run) {
    lgm_branch *const branch = &run->branch;
    (void)lgm_run_inputs(run, run->t);
    branch->sign.t = run->t;
    lgm_copy(branch->sign.x, run->x, LGM_STATES);
    lgm_copy(branch->sign_u, run->u, LGM_INPUTS);
}

lgm_status lgm_branch_begin(lgm_run *run) {
    lgm_branch *const branch = &run->branch;
    const real inside = lgm_run_inputs(run, run->t);
    lgm_status status;
    if (branch->is_begun != 0) {
        take(run, branch->unknowns);
    }
    status = lgm_rates(&run->model, inside, run->x, run->u, run->du, run->probe);
    if (status != LGM_OK) {
        return status;
    }
    if (branch->is_begun == 0) {
        for (int at = 0; at < LGM_UNKNOWNS; at++) {
            branch->sizes[at] = (real)0.0;
        }
    }
    branch->is_begun = 1;
    lgm_copy(branch->unknowns, run->model.w, LGM_UNKNOWNS);
    lgm_copy(branch->before, run->model.w, LGM_UNKNOWNS);
    measure(branch);
    keep_anchor(run, run->t, run->x);
    keep_anchor(run, run->t, run->x);
    keep_sign(run);
    return LGM_OK;
}

/* A path from the last point with a positive sign to the current point; inputs that were set change along it. */
static real from_sign(lgm_run *run, real share, real x[]) {
    const lgm_anchor *const sign = &run->branch.sign;
    const real inside = lgm_run_inputs(run, sign->t + share * (run->t - sign->t));
    for (int at = 0; at < LGM_STATES; at++) {
        x[at] = sign->x[at] + share * (run->x[at] - sign->x[at]);
    }
    for (int at = 0; at < LGM_INPUTS; at++) {
        if (run->is_set[at] != 0) {
            run->u[at] = run->branch.sign_u[at] + share * (run->u[at] - run->branch.sign_u[at]);
        }
    }
    return inside;
}

/* Returns true if the branch continues from there to the current point. Otherwise its end is kept until the event is handled. */
static int is_on_branch(lgm_run *run) {
    if (lgm_branch_follow(run, (real)0.0, (real)1.0, from_sign)) {
        return 1;
    }
    take(run, run->branch.end);
    run->model.is_frozen = 1;
    return 0;
}

void lgm_branch_recall(lgm_run *run, lgm_real t) {
    const lgm_branch *const branch = &run->branch;
    if (branch->is_begun == 0) {
        return;
    }
    if (branch->is_exchanged != 0) {
        (void)is_on_branch(run);
        return;
    }
    take(run, (t < run->t) ? branch->before : branch->unknowns);
}

/* Finds the solution at a position of a path, near a guess. */
static int solve_on(lgm_run *run, lgm_way way, real place, const real guess[]) {
    real *const x = run->branch.point;
    const real inside = way(run, place, x);
    return lgm_loops_near(&run->model, inside, x, run->u LGM_DU(, run->du), guess);
}

/* Returns true if the solution in the middle of a part of a path is between those at its ends. */
static int is_way_at(lgm_run *run, lgm_way way, real place, const real from[], const real to[]) {
    return solve_on(run, way, place, from) && is_way(&run->branch, from, run->model.w, to);
}

#if LGM_TOTALS
/* Returns the sign of the determinant of the loops at a position of a path; 0 if it is unknown. */
static int sign_on(lgm_run *run, lgm_way way, real place, const real unknowns[]) {
    real *const x = run->branch.point;
    const real inside = way(run, place, x);
    return lgm_loops_sign(&run->model, inside, x, run->u LGM_DU(, run->du), unknowns);
}

#endif
/* Returns true if the solution changes gradually between the last position reached on a path and the next one. */
static int is_whole_way(lgm_run *run, lgm_way way, real low, real high) {
    lgm_branch *const branch = &run->branch;
    const real half = (real)0.5 * (high - low);
    if (!is_way_at(run, way, low + half, branch->end, branch->reached)) {
        return 0;
    }
#if LGM_TOTALS
    /* Several solutions for storage may have the same total, and one of them may be in the middle of two others. The middles of both
     * halves are therefore examined as well. The determinants of adjacent solutions differ in sign; on one branch the sign does not
     * change. */
    lgm_copy(branch->trial, run->model.w, LGM_UNKNOWNS);
    if (!is_near(branch, branch->end, branch->trial)
        && !is_way_at(run, way, low + (real)0.5 * half, branch->end, branch->trial)) {
        return 0;
    }
    if (!is_near(branch, branch->trial, branch->reached)
        && !is_way_at(run, way, low + half + (real)0.5 * half, branch->trial, branch->reached)) {
        return 0;
    }
    return sign_on(run, way, low, branch->end) * sign_on(run, way, high, branch->reached) >= 0;
#else
    return 1;
#endif
}

int lgm_branch_follow(lgm_run *run, lgm_real from, lgm_real to, lgm_way way) {
    lgm_branch *const branch = &run->branch;
    const real *const found = run->model.w;
    const real shortest = lgm_larger(instant * (to - from), LGM_ROUNDING * lgm_fabs(to));
    real low = from;
    real high = to;
    lgm_copy(branch->last, found, LGM_UNKNOWNS);
    lgm_copy(branch->end, branch->unknowns, LGM_UNKNOWNS);
    /* A path with more turns than this has passed the error test of the solver. */
    for (int part = 0; part < PARTS; part++) {
        const real middle = low + (real)0.5 * (high - low);
        int is_on;
        is_on = solve_on(run, way, high, branch->end);
        lgm_copy(branch->reached, found, LGM_UNKNOWNS);
        if (is_on && !is_near(branch, branch->end, branch->reached)) {
            is_on = is_whole_way(run, way, low, high);
        }
        if (is_on && high >= to) {
            return 1;
        }
        if (is_on) {
            const real next = high + (real)2.0 * (high - low);
            low = high;
            high = (next < to) ? next : to;
            lgm_copy(branch->end, branch->reached, LGM_UNKNOWNS);
        } else if (high - low <= shortest || !(middle > low && middle < high)) {
            branch->after = high;
            return 0;
        } else {
            high = middle;
        }
    }
    return 1;
}

#if LGM_TOTALS
void lgm_branch_recall_within(lgm_run *run, lgm_real share) {
    lgm_branch *const branch = &run->branch;
    for (int at = 0; at < LGM_UNKNOWNS; at++) {
        branch->trial[at] = branch->before[at] + share * (branch->unknowns[at] - branch->before[at]);
    }
    take(run, branch->trial);
}

#endif
int lgm_branch_is_lost(const lgm_run *run) {
    return is_elsewhere(run->branch.last, run->branch.reached);
}

void lgm_branch_accept(lgm_run *run) {
    lgm_branch *const branch = &run->branch;
    lgm_copy(branch->before, branch->unknowns, LGM_UNKNOWNS);
    lgm_copy(branch->unknowns, branch->reached, LGM_UNKNOWNS);
    measure(branch);
    if (run->t - branch->anchors[1].t > apart * horizon_length(run)) {
        keep_anchor(run, run->t, run->x);
    }
}

/* Returns true if another solution exists near a guess after the branch has ended: because of round-off, its end remains a solution
 * slightly longer. */
static int is_found_near(lgm_run *run, const real guess[]) {
    const real inside = lgm_run_inputs(run, run->t);
    return lgm_loops_near(&run->model, inside, run->x, run->u LGM_DU(, run->du), guess)
        && is_elsewhere(run->model.w, run->branch.end);
}

/* Computes the drift of the unknowns as if each had a small inertia that stabilises the branch; returns 0 if there is no drift. */
static int drift(lgm_run *run, const real at[], real to[]) {
    const real inside = lgm_run_inputs(run, run->t);
    return lgm_loops_drift(&run->model, inside, run->x, run->u LGM_DU(, run->du), at, run->branch.slopes, run->branch.pivots, to);
}

static real product(const real a[], const real b[]) {
    real sum = (real)0.0;
    for (int at = 0; at < LGM_UNKNOWNS; at++) {
        sum += a[at] * b[at];
    }
    return sum;
}

/* Returns true if the unknowns drift from the end of the branch to another solution. */
static int drifts_to_another(lgm_run *run) {
    lgm_branch *const branch = &run->branch;
    const lgm_anchor *const anchor = &branch->anchors[0];
    const real size = size_of(branch->end);
    real inside = lgm_run_inputs(run, anchor->t);
    real share = (real)1.0;
    real *const at = branch->unknowns;
    lgm_copy(at, branch->end, LGM_UNKNOWNS);
    if (!lgm_loops_slopes(&run->model, inside, anchor->x, run->u LGM_DU(, run->du), anchor->unknowns, branch->slopes,
            branch->pivots)) {
        return 0;
    }
    for (int move = 0; move < MOVES && share > (real)1e-30; move++) {
        real most;
        real length;
        int is_value;
        if (!drift(run, at, branch->direction) || size_of(at) > (real)1e30) {
            return 0;
        }
        most = size_of(branch->direction);
        if (!(most > (real)0.0)) {
            return 0;
        }
        length = longest_move * (size_of(at) + lgm_larger(size, (real)1e-9)) / most;
        length = share * lgm_smaller(length, lgm_larger((real)1.0, share));
        for (int each = 0; each < LGM_UNKNOWNS; each++) {
            branch->trial[each] = at[each] - length * branch->direction[each];
        }
        is_value = drift(run, branch->trial, branch->next);
        if (is_value && product(branch->next, branch->direction) > (real)0.0) {
            lgm_copy(at, branch->trial, LGM_UNKNOWNS);
            share *= (real)2.0;
        } else {
            /* A solution is in between. */
            if (is_value && (is_found_near(run, branch->trial) || is_found_near(run, at))) {
                return 1;
            }
            share *= (real)0.25;
        }
    }
    return 0;
}

/* Returns true if another solution exists, near the end of the branch or elsewhere. */
static int finds_another(lgm_run *run) {
    int is_found = drifts_to_another(run) || is_found_near(run, run->branch.end);
    for (int guess = 0; guess < 5 && !is_found; guess++) {
        is_found = is_found_near(run, lgm_loop_guesses + guess * LGM_UNKNOWNS);
    }
    return is_found;
}

lgm_status lgm_branch_leave(lgm_run *run) {
    lgm_branch *const branch = &run->branch;
    int is_found;
    lgm_copy(branch->before, branch->unknowns, LGM_UNKNOWNS);
    is_found = finds_another(run);
    for (int at = 0; at < LGM_UNKNOWNS; at++) {
        is_found = is_found && !(lgm_stored_unknowns[at] != 0 && differs(at, run->model.w, branch->end));
    }
    lgm_copy(branch->unknowns, is_found ? run->model.w : branch->end, LGM_UNKNOWNS);
    return is_found ? LGM_OK : LGM_LOOP_NOT_SOLVED;
}

/* A straight continuation from the current point. */
static real straight_on(lgm_run *run, real t, real x[]) {
    for (int at = 0; at < LGM_STATES; at++) {
        x[at] = run->x[at] + (t - run->t) * run->probe[at];
    }
    return lgm_run_inputs(run, t);
}

/* Returns true if a straight continuation reaches the end of the branch before a time; the run is then moved there. */
static int ends_before(lgm_run *run, lgm_real to) {
    lgm_status status;
    lgm_branch_recall(run, run->t);
    status = lgm_run_rates(run, run->t, run->x, run->probe);
    if (status != LGM_OK || !(to > run->t) || lgm_branch_follow(run, run->t, to, straight_on)) {
        return 0;
    }
    (void)straight_on(run, run->branch.after, run->branch.point);
    run->t = run->branch.after;
    lgm_copy(run->x, run->branch.point, LGM_STATES);
    return 1;
}

int lgm_branch_ends_ahead(lgm_run *run) {
    static const real shares[4] = {(real)1e-12, (real)1e-10, (real)1e-8, (real)1e-6};
    const real bound = lgm_run_bound(run);
    for (int share = 0; share < 4; share++) {
        const real ahead = run->t + shares[share] * horizon_length(run);
        if (ends_before(run, (ahead < bound) ? ahead : bound)) {
            return 1;
        }
    }
    return 0;
}

lgm_real lgm_branch_sign(lgm_run *run) {
    if (run->branch.is_begun == 0) {
        return (real)1.0;
    }
    if (!is_on_branch(run)) {
        return -(real)1.0;
    }
    lgm_branch_accept(run);
    keep_sign(run);
    return (real)1.0;
}

#endif
