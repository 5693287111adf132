/* The branch of solutions of the algebraic loops that a run of @model@ follows.
 *
 * @origin@
 */
#include "@name@_branch.h"

#include <math.h>
#include <stddef.h>

typedef @name@_real real;

enum {
    /* The most parts of a way that are looked at. */
    PARTS = 400,
    /* The most moves from the end of a branch to another solution. */
    MOVES = 2000
};

/* Changes of an unknown below this share of its size are continuous, and so are those below that of the largest value it had. */
static const real continuous = (real)1e-5;
static const real noise = (real)1e-7;
/* How far the middle of a way may be from the middle between its ends, as a share of their distance; at a jump it is half. */
static const real bent = (real)0.4;
/* Unknowns that differ by more than this share are on different branches. */
static const real elsewhere = (real)1e-3;
/* Parts of a step shorter than this share of it are an instant. */
static const real instant = (real)1e-12;
/* The slopes at the end of a branch, where they may be lost, are taken so far before it, as a share of the run. */
static const real apart = (real)1e-7;
/* The longest move, as a share of the unknowns. */
static const real longest_move = (real)0.05;

/* Linear loops have one solution; and displacements of closed chains go on without leaps, to where they end at a dead centre. */
static const int is_settled[@name@_UNKNOWNS] = {@settled_unknowns@};

/* Unknowns that say what storage holds do not jump. */
static const int is_stored[@name@_UNKNOWNS] = {@stored_unknowns@};

static void copy(real to[], const real from[], int count) {
    for (int at = 0; at < count; at++) {
        to[at] = from[at];
    }
}

/* The next solution is looked for next to these unknowns. */
static void take(@name@_run *run, const real unknowns[]) {
    copy(run->model.w, unknowns, @name@_UNKNOWNS);
    run->model.is_solved = 1;
    run->model.is_frozen = 0;
}

static real larger(real a, real b) {
    return (a > b) ? a : b;
}

static real smaller(real a, real b) {
    return (a < b) ? a : b;
}

static real size_of(const real values[]) {
    real most = @zero@;
    for (int at = 0; at < @name@_UNKNOWNS; at++) {
        most = larger(most, @fabs@(values[at]));
    }
    return most;
}

static real horizon_length(const @name@_run *run) {
    return run->horizon - run->start;
}

/* The change of an unknown that is continuous whatever lies between. */
static real small_change(const @name@_branch *branch, int at, real a, real b) {
    return continuous * larger(@fabs@(a), @fabs@(b)) + noise * branch->sizes[at] + @loop_absolute@;
}

static int is_near(const @name@_branch *branch, const real a[], const real b[]) {
    for (int at = 0; at < @name@_UNKNOWNS; at++) {
        if (is_settled[at] == 0 && !(@fabs@(a[at] - b[at]) <= small_change(branch, at, a[at], b[at]))) {
            return 0;
        }
    }
    return 1;
}

/* Whether the solution between two others is between them, and not at one of them. */
static int is_way(const @name@_branch *branch, const real from[], const real between[], const real to[]) {
    for (int at = 0; at < @name@_UNKNOWNS; at++) {
        const real length = @fabs@(to[at] - from[at]);
        const real off = @fabs@(between[at] - @half@ * (from[at] + to[at]));
        if (is_settled[at] == 0 && !(off <= bent * length + small_change(branch, at, from[at], to[at]))) {
            return 0;
        }
    }
    return 1;
}

static int differs(int at, const real a[], const real b[]) {
    const real size = larger(@fabs@(a[at]), @fabs@(b[at]));
    return is_settled[at] == 0 && @fabs@(a[at] - b[at]) > elsewhere * size + @loop_absolute@;
}

static int is_elsewhere(const real a[], const real b[]) {
    for (int at = 0; at < @name@_UNKNOWNS; at++) {
        if (differs(at, a, b)) {
            return 1;
        }
    }
    return 0;
}

static void measure(@name@_branch *branch) {
    for (int at = 0; at < @name@_UNKNOWNS; at++) {
        branch->sizes[at] = larger(branch->sizes[at], @fabs@(branch->unknowns[at]));
    }
}

/* Keeps a point of the branch, some way behind the one before. */
static void keep_anchor(@name@_run *run, real t, const real x[]) {
    @name@_branch *const branch = &run->branch;
    branch->anchors[0] = branch->anchors[1];
    branch->anchors[1].t = t;
    copy(branch->anchors[1].x, x, @name@_STATES);
    copy(branch->anchors[1].unknowns, branch->unknowns, @name@_UNKNOWNS);
}

static void keep_sign(@name@_run *run) {
    @name@_branch *const branch = &run->branch;
    (void)@name@_run_inputs(run, run->t);
    branch->sign.t = run->t;
    copy(branch->sign.x, run->x, @name@_STATES);
    copy(branch->sign_u, run->u, @name@_INPUTS);
}

@name@_status @name@_branch_begin(@name@_run *run) {
    @name@_branch *const branch = &run->branch;
    const real inside = @name@_run_inputs(run, run->t);
    @name@_status status;
    if (branch->is_begun != 0) {
        take(run, branch->unknowns);
    }
    status = @name@_rates(&run->model, inside, run->x, run->u, run->du, run->probe);
    if (status != @name@_OK) {
        return status;
    }
    if (branch->is_begun == 0) {
        for (int at = 0; at < @name@_UNKNOWNS; at++) {
            branch->sizes[at] = @zero@;
        }
    }
    branch->is_begun = 1;
    copy(branch->unknowns, run->model.w, @name@_UNKNOWNS);
    copy(branch->before, run->model.w, @name@_UNKNOWNS);
    measure(branch);
    keep_anchor(run, run->t, run->x);
    keep_anchor(run, run->t, run->x);
    keep_sign(run);
    return @name@_OK;
}

/* From where the sign was positive last to where the run is; inputs that are set have moved on the way. */
static real from_sign(@name@_run *run, real share, real x[]) {
    const @name@_anchor *const sign = &run->branch.sign;
    const real inside = @name@_run_inputs(run, sign->t + share * (run->t - sign->t));
    for (int at = 0; at < @name@_STATES; at++) {
        x[at] = sign->x[at] + share * (run->x[at] - sign->x[at]);
    }
    for (int at = 0; at < @name@_INPUTS; at++) {
        if (run->is_set[at] != 0) {
            run->u[at] = run->branch.sign_u[at] + share * (run->u[at] - run->branch.sign_u[at]);
        }
    }
    return inside;
}

/* Whether the branch goes on from there to where the run is. Where it does not, its end holds until the event is dealt with. */
static int is_on_branch(@name@_run *run) {
    if (@name@_branch_follow(run, @zero@, @one@, from_sign)) {
        return 1;
    }
    take(run, run->branch.end);
    run->model.is_frozen = 1;
    return 0;
}

void @name@_branch_recall(@name@_run *run, @name@_real t) {
    const @name@_branch *const branch = &run->branch;
    if (branch->is_begun == 0) {
        return;
    }
    if (branch->is_exchanged != 0) {
        (void)is_on_branch(run);
        return;
    }
    take(run, (t < run->t) ? branch->before : branch->unknowns);
}

/* The solution at a place of a way, next to a guess. */
static int solve_on(@name@_run *run, @name@_way way, real place, const real guess[]) {
    real *const x = run->branch.point;
    const real inside = way(run, place, x);
    return @name@_loops_near(&run->model, inside, x, run->u, run->du, guess);
}

/* Whether the solution at a place in the middle of a part of a way is between those at the ends of this part. */
static int is_way_at(@name@_run *run, @name@_way way, real place, const real from[], const real to[]) {
    return solve_on(run, way, place, from) && is_way(&run->branch, from, run->model.w, to);
}

@if totals@
/* The sign of the determinant of the loops at a place of a way; 0 where it is not known. */
static int sign_on(@name@_run *run, @name@_way way, real place, const real unknowns[]) {
    real *const x = run->branch.point;
    const real inside = way(run, place, x);
    return @name@_loops_sign(&run->model, inside, x, run->u, run->du, unknowns);
}

@end@
/* Whether the solution changes little by little from the last place of a way that was reached to the next one. */
static int is_whole_way(@name@_run *run, @name@_way way, real low, real high) {
    @name@_branch *const branch = &run->branch;
    const real half = @half@ * (high - low);
    if (!is_way_at(run, way, low + half, branch->end, branch->reached)) {
        return 0;
    }
@if totals@
    /* What is stored may have many solutions of one total. One of them may lie in the middle of two others, so the middles of both
     * halves are looked at, too; and the determinants of neighbours differ in sign, while that of one branch keeps it. */
    copy(branch->trial, run->model.w, @name@_UNKNOWNS);
    if (!is_near(branch, branch->end, branch->trial)
        && !is_way_at(run, way, low + @half@ * half, branch->end, branch->trial)) {
        return 0;
    }
    if (!is_near(branch, branch->trial, branch->reached)
        && !is_way_at(run, way, low + half + @half@ * half, branch->trial, branch->reached)) {
        return 0;
    }
    return sign_on(run, way, low, branch->end) * sign_on(run, way, high, branch->reached) >= 0;
@else@
    return 1;
@end@
}

int @name@_branch_follow(@name@_run *run, @name@_real from, @name@_real to, @name@_way way) {
    @name@_branch *const branch = &run->branch;
    const real *const found = run->model.w;
    const real shortest = larger(instant * (to - from), @rounding@ * @fabs@(to));
    real low = from;
    real high = to;
    copy(branch->last, found, @name@_UNKNOWNS);
    copy(branch->end, branch->unknowns, @name@_UNKNOWNS);
    /* A way that winds more than this has passed the error test of the solver. */
    for (int part = 0; part < PARTS; part++) {
        const real middle = low + @half@ * (high - low);
        int is_on;
        is_on = solve_on(run, way, high, branch->end);
        copy(branch->reached, found, @name@_UNKNOWNS);
        if (is_on && !is_near(branch, branch->end, branch->reached)) {
            is_on = is_whole_way(run, way, low, high);
        }
        if (is_on && high >= to) {
            return 1;
        }
        if (is_on) {
            const real next = high + @two@ * (high - low);
            low = high;
            high = (next < to) ? next : to;
            copy(branch->end, branch->reached, @name@_UNKNOWNS);
        } else if (high - low <= shortest || !(middle > low && middle < high)) {
            branch->after = high;
            return 0;
        } else {
            high = middle;
        }
    }
    return 1;
}

@if totals@
void @name@_branch_recall_within(@name@_run *run, @name@_real share) {
    @name@_branch *const branch = &run->branch;
    for (int at = 0; at < @name@_UNKNOWNS; at++) {
        branch->trial[at] = branch->before[at] + share * (branch->unknowns[at] - branch->before[at]);
    }
    take(run, branch->trial);
}

@end@
int @name@_branch_is_lost(const @name@_run *run) {
    return is_elsewhere(run->branch.last, run->branch.reached);
}

void @name@_branch_accept(@name@_run *run) {
    @name@_branch *const branch = &run->branch;
    copy(branch->before, branch->unknowns, @name@_UNKNOWNS);
    copy(branch->unknowns, branch->reached, @name@_UNKNOWNS);
    measure(branch);
    if (run->t - branch->anchors[1].t > apart * horizon_length(run)) {
        keep_anchor(run, run->t, run->x);
    }
}

/* Whether there is another solution next to a guess where the branch has ended: rounding makes its end a solution for a little
 * longer. */
static int is_found_near(@name@_run *run, const real guess[]) {
    const real inside = @name@_run_inputs(run, run->t);
    return @name@_loops_near(&run->model, inside, run->x, run->u, run->du, guess)
        && is_elsewhere(run->model.w, run->branch.end);
}

/* Where the unknowns move if each had a little inertia with which the branch was stable; 0 where that is nowhere. */
static int drift(@name@_run *run, const real at[], real to[]) {
    const real inside = @name@_run_inputs(run, run->t);
    return @name@_loops_drift(&run->model, inside, run->x, run->u, run->du, at, run->branch.slopes, run->branch.pivots, to);
}

static real product(const real a[], const real b[]) {
    real sum = @zero@;
    for (int at = 0; at < @name@_UNKNOWNS; at++) {
        sum += a[at] * b[at];
    }
    return sum;
}

/* Whether the unknowns come to another solution from the end of the branch as they drift. */
static int drifts_to_another(@name@_run *run) {
    @name@_branch *const branch = &run->branch;
    const @name@_anchor *const anchor = &branch->anchors[0];
    const real size = size_of(branch->end);
    real inside = @name@_run_inputs(run, anchor->t);
    real share = @one@;
    real *const at = branch->unknowns;
    copy(at, branch->end, @name@_UNKNOWNS);
    if (!@name@_loops_slopes(&run->model, inside, anchor->x, run->u, run->du, anchor->unknowns, branch->slopes,
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
        if (!(most > @zero@)) {
            return 0;
        }
        length = longest_move * (size_of(at) + larger(size, (real)1e-9)) / most;
        length = share * smaller(length, larger(@one@, share));
        for (int each = 0; each < @name@_UNKNOWNS; each++) {
            branch->trial[each] = at[each] - length * branch->direction[each];
        }
        is_value = drift(run, branch->trial, branch->next);
        if (is_value && product(branch->next, branch->direction) > @zero@) {
            copy(at, branch->trial, @name@_UNKNOWNS);
            share *= @two@;
        } else {
            /* A solution lies between. */
            if (is_value && (is_found_near(run, branch->trial) || is_found_near(run, at))) {
                return 1;
            }
            share *= @quarter@;
        }
    }
    return 0;
}

/* Whether there is another solution to go on with, next to the end of the branch or anywhere. */
static int finds_another(@name@_run *run) {
    int is_found = drifts_to_another(run) || is_found_near(run, run->branch.end);
    for (int guess = 0; guess < 5 && !is_found; guess++) {
        is_found = is_found_near(run, @name@_loop_guesses + guess * @name@_UNKNOWNS);
    }
    return is_found;
}

@name@_status @name@_branch_leave(@name@_run *run) {
    @name@_branch *const branch = &run->branch;
    int is_found;
    copy(branch->before, branch->unknowns, @name@_UNKNOWNS);
    is_found = finds_another(run);
    for (int at = 0; at < @name@_UNKNOWNS; at++) {
        is_found = is_found && !(is_stored[at] != 0 && differs(at, run->model.w, branch->end));
    }
    copy(branch->unknowns, is_found ? run->model.w : branch->end, @name@_UNKNOWNS);
    return is_found ? @name@_OK : @name@_LOOP_NOT_SOLVED;
}

/* Straight on from where the run is. */
static real straight_on(@name@_run *run, real t, real x[]) {
    for (int at = 0; at < @name@_STATES; at++) {
        x[at] = run->x[at] + (t - run->t) * run->probe[at];
    }
    return @name@_run_inputs(run, t);
}

/* Whether the branch ends before a time if the run goes straight on: then the run is there now. */
static int ends_before(@name@_run *run, @name@_real to) {
    @name@_status status;
    @name@_branch_recall(run, run->t);
    status = @name@_run_rates(run, run->t, run->x, run->probe);
    if (status != @name@_OK || !(to > run->t) || @name@_branch_follow(run, run->t, to, straight_on)) {
        return 0;
    }
    (void)straight_on(run, run->branch.after, run->branch.point);
    run->t = run->branch.after;
    copy(run->x, run->branch.point, @name@_STATES);
    return 1;
}

int @name@_branch_ends_ahead(@name@_run *run) {
    static const real shares[4] = {(real)1e-12, (real)1e-10, (real)1e-8, (real)1e-6};
    const real bound = @name@_run_bound(run);
    for (int share = 0; share < 4; share++) {
        const real ahead = run->t + shares[share] * horizon_length(run);
        if (ends_before(run, (ahead < bound) ? ahead : bound)) {
            return 1;
        }
    }
    return 0;
}

@name@_real @name@_branch_sign(@name@_run *run) {
    if (run->branch.is_begun == 0) {
        return @one@;
    }
    if (!is_on_branch(run)) {
        return -@one@;
    }
    @name@_branch_accept(run);
    keep_sign(run);
    return @one@;
}
