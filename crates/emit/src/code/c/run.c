/* Runs of @model@ over time: its inputs, the corners at which something steps or bends, and steps of controlled length between
 * them.
 *
 * @origin@
 */
@if branches@
#include "@name@_branch.h"
@else@
#include "@name@_run.h"
@end@
@if bends@
#include "@name@_bends.h"
@end@
@if jumps@
#include "@name@_jump.h"
@end@
#include "@name@_names.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>

typedef @name@_real real;

@name@_real @name@_run_inputs(@name@_run *run, @name@_real t) {
    real inside = t;
    if (inside >= run->to) {
        inside = @nextafter@(run->to, -HUGE_VAL@suffix@);
    } else if (inside < run->from) {
        inside = run->from;
    }
    @name@_inputs(&run->model, inside, run->u, run->du);
    for (int at = 0; at < @name@_INPUTS; at++) {
        if (run->is_set[at] != 0) {
            const real passed = (run->is_line != 0) ? t - run->since[at] : @zero@;
            run->u[at] = run->value[at] + run->rate[at] * passed;
            run->du[at] = run->rate[at];
        }
    }
    return inside;
}

@name@_status @name@_run_rates(@name@_run *run, @name@_real t, const @name@_real x[], @name@_real dx[]) {
    real inside;
@if branches@
    @name@_branch_recall(run, t);
@end@
    inside = @name@_run_inputs(run, t);
    return @name@_rhs(&run->model, inside, x, run->u, run->du, dx);
}

@if branches@
/* The way of the last step. */
static real along_step(@name@_run *run, real t, real x[]) {
    @name@_dopri5_dense(&run->solver, t, x);
    return @name@_run_inputs(run, t);
}

@end@
@name@_status @name@_run_outputs(@name@_run *run, @name@_real t, const @name@_real x[], @name@_real y[]) {
    real inside;
@if branches@
    @name@_branch_recall(run, t);
@if totals@
    if (run->branch.is_begun != 0 && t < run->t && t > run->solver.before && t < run->solver.t) {
        @name@_branch_recall_within(run, (t - run->solver.before) / (run->t - run->solver.before));
    }
@end@
@end@
    inside = @name@_run_inputs(run, t);
    return @name@_outputs(&run->model, inside, x, run->u, run->du, y);
}

static @name@_status motion(void *context, real t, const real x[], real dx[]) {
    @name@_run *const run = (@name@_run *)context;
    const real inside = @name@_run_inputs(run, t);
@if branches@
    /* Every attempt at a step begins with the solution where the last one ended. */
    if (t < run->branch.latest) {
        @name@_branch_recall(run, run->t);
    }
    run->branch.latest = t;
@end@
    /* The stepper looks once a step whether everything is finite. */
    return @name@_rates(&run->model, inside, x, run->u, run->du, dx);
}

@if moves@
static const int start_given[@name@_ROOM(@name@_STATES)] = {@start_given@};

/* By how much each input steps from those held to those now; 0 where none does. */
static int steps_of(@name@_run *run, real step[]) {
    const real apart = run->t - @nextafter@(run->t, -HUGE_VAL@suffix@);
    int steps = 0;
    (void)@name@_run_inputs(run, run->t);
    for (int at = 0; at < @name@_INPUTS; at++) {
        const real before = run->held[at];
        const real larger = (@fabs@(before) > @fabs@(run->u[at])) ? @fabs@(before) : @fabs@(run->u[at]);
        const real rounded = @rounding@ * larger;
        step[at] = run->u[at] - before;
        if (@fabs@(step[at]) > rounded + (real)16.0 * apart * @fabs@(run->du[at])) {
            steps++;
        } else {
            step[at] = @zero@;
        }
    }
    return steps;
}

@if linear@
/* Where the states are after a step: E is the same everywhere, and at zero nothing else is rounded with it. */
static @name@_status moved_states(@name@_run *run, const real step[], int is_start) {
    static const real still[@name@_ROOM(@name@_INPUTS)] = {@zero@};
    static const real rest[@name@_ROOM(@name@_STATES)] = {@zero@};
    const real inside = @name@_run_inputs(run, run->t);
    @name@_status status = @name@_rhs(&run->model, inside, rest, still, step, run->moved);
    (void)is_start;
    if (status == @name@_OK) {
        status = @name@_rhs(&run->model, inside, rest, still, still, run->without);
    }
    for (int at = 0; at < @name@_STATES; at++) {
        run->moved[at] = run->x[at] + (run->moved[at] - run->without[at]);
    }
    return status;
}

@else@
/* Where the states are after a step. */
static @name@_status moved_states(@name@_run *run, const real step[], int is_start) {
    const @name@_status status = @name@_jump_go(run, step, is_start);
    for (int at = 0; at < @name@_STATES; at++) {
        run->moved[at] = run->jump.way.x[at];
    }
    return status;
}

@end@
@end@
/* A step of the inputs from those held moves states by E times the step. At the start of a run, states whose start was given stay. */
static @name@_status move_states(@name@_run *run, int is_start, const int given[]) {
@if moves@
    real step[@name@_ROOM(@name@_INPUTS)];
    @name@_status status;
    if (steps_of(run, step) == 0) {
        return @name@_OK;
    }
    status = moved_states(run, step, is_start);
    if (status != @name@_OK) {
        return status;
    }
    for (int at = 0; at < @name@_STATES; at++) {
        const int stays = is_start && (start_given[at] != 0 || (given != NULL && given[at] != 0));
        run->x[at] = stays ? run->x[at] : run->moved[at];
    }
@else@
    /* Rates of the inputs are not in the equations. */
    (void)run; (void)is_start; (void)given;
@end@
    return @name@_OK;
}

void @name@_run_hold(@name@_run *run) {
    (void)@name@_run_inputs(run, run->t);
    for (int at = 0; at < @name@_INPUTS; at++) {
        run->held[at] = run->u[at];
    }
}

@name@_status @name@_run_jump(@name@_run *run) {
    run->from = run->t;
    run->is_fresh = 1;
    return move_states(run, 0, NULL);
}

@name@_real @name@_run_bound(const @name@_run *run) {
    return (run->to < run->horizon) ? run->to : run->horizon;
}

/* What of the time ahead follows from the parameters: where the next corner is, and how long steps may be. Corners as near as
 * rounding are one: the values after the last of them hold. */
static void look_ahead(@name@_run *run, real now) {
    const real near = now + @rounding@ * @fabs@(now) + @nearest@;
    run->from = now;
    run->to = @name@_next_corner(&run->model, run->start, now, run->horizon);
    while (run->to <= near) {
        run->from = run->to;
        run->to = @name@_next_corner(&run->model, run->start, run->from, run->horizon);
    }
    run->solver.longest = @name@_longest_step(&run->model, run->start, run->horizon);
}

@name@_status @name@_run_pass(@name@_run *run) {
    /* What is within rounding of the corner is at it. */
    const int is_near = run->to > run->t && run->to <= run->t + @rounding@ * @fabs@(run->t);
    const real now = is_near ? run->to : run->t;
    run->is_fresh = 1;
    if (now >= run->horizon) {
        /* As far again. */
        const real length = run->horizon - run->start;
        run->start = run->horizon;
        run->horizon = now + length;
    }
    look_ahead(run, now);
    return move_states(run, 0, NULL);
}

@name@_status @name@_run_begin(@name@_run *run, @name@_real t, @name@_real stop, const int given[]) {
    run->t = t;
    run->start = t;
    run->horizon = stop;
    run->is_fresh = 1;
    run->changes = 0;
@if branches@
    run->branch.is_begun = 0;
@end@
    /* Before the start all inputs are zero. */
    for (int at = 0; at < @name@_INPUTS; at++) {
        run->held[at] = @zero@;
    }
    look_ahead(run, t);
    return move_states(run, 1, given);
}

void @name@_run_conditions(@name@_run *run, @name@_real t, const @name@_real x[], @name@_real values[]) {
@if conditional@
    real inside;
@if branches@
    @name@_branch_recall(run, t);
@end@
    inside = @name@_run_inputs(run, t);
@if loops@
    /* What the loops have for a solution is in the conditions. */
    (void)@name@_rhs(&run->model, inside, x, run->u, run->du, run->probe);
@end@
    @name@_conditions(&run->model, inside, x, run->u, run->du, values);
@else@
    (void)run; (void)t; (void)x; (void)values;
@end@
}

@if conditional@
static int has_changed(const real before[], const real values[]) {
    for (int at = 0; at < @name@_CONDITIONS; at++) {
        if (before[at] * values[at] < @zero@) {
            return 1;
        }
    }
    return 0;
}

/* A zero leaves the side as it was. */
static void settle(real before[], const real values[]) {
    for (int at = 0; at < @name@_CONDITIONS; at++) {
        if (values[at] != @zero@) {
            before[at] = (values[at] > @zero@) ? @one@ : -@one@;
        }
    }
}

@end@
@if events@
/* Whether the change that was just found is one of a hundred within no time. */
static int is_chatter(@name@_run *run) {
    /* The horizon of an FMU without a stop says nothing of the run: what has passed of it does. */
    const real ahead = (real)1e-6 * (run->horizon - run->start);
    const real passed = run->t - run->start;
    const real length = (passed > ahead) ? passed : ahead;
    if (run->changes == 0 || run->t - run->changed > (real)1e-8 * length) {
        run->changes = 0;
        run->changed = run->t;
    }
    run->changes++;
    return run->changes >= 100;
}

/* Whether the last step is so long that what changes within it matters. */
static int is_long(const @name@_run *run) {
    const @name@_dopri5 *const solver = &run->solver;
    const real length = solver->t - solver->before;
    const real rounded = @rounding@ * (@fabs@(solver->t) + length) * (real)16.0;
    return length > rounded && length > @event_length@ * (@name@_run_bound(run) - run->from);
}

/* A step across a jump is wrong, so it is made again in shorter ones until it is too short to matter. */
static @name@_status shorten(@name@_run *run) {
    @name@_dopri5 *const solver = &run->solver;
    const real before = solver->before;
    const real shorter = before + (solver->t - before) / (real)8.0;
    @name@_status status;
    for (int at = 0; at < @name@_STATES; at++) {
        run->between[at] = solver->x_before[at];
    }
@if bends@
    @name@_bends_restart(run);
@end@
    status = @name@_dopri5_start(solver, motion, run, before, run->between, shorter);
    solver->h = shorter - before;
    return status;
}

@end@
@if conditional@
/* The first number after the change between the beginning of the last step and `until`. */
static real first_change(@name@_run *run, real until) {
    real values[@name@_CONDITIONS];
    real low = run->solver.before;
    real high = until;
    for (;;) {
        const real middle = low + @half@ * (high - low);
        if (!(middle > low && middle < high)) {
            return high;
        }
        @name@_dopri5_dense(&run->solver, middle, run->between);
        @name@_run_conditions(run, middle, run->between, values);
        if (has_changed(run->side, values)) {
            high = middle;
        } else {
            low = middle;
        }
    }
}

@end@
@if conditional@
/* Whether a condition on states has changed within the last step, and until when one has. */
static int is_changed(@name@_run *run, real *until) {
    const @name@_dopri5 *const solver = &run->solver;
    real values[@name@_CONDITIONS];
    for (int looked = 1; looked <= 2; looked++) {
        const real at = (looked == 1) ? solver->before + @half@ * (solver->t - solver->before) : solver->t;
        @name@_dopri5_dense(solver, at, run->between);
        @name@_run_conditions(run, at, run->between, values);
        if (has_changed(run->side, values)) {
            *until = at;
            return 1;
        }
    }
    settle(run->side, values);
    return 0;
}

/* Where no step is short enough, a jump may be just ahead that a state without a size yet does not forgive. Whether it is: then the
 * run is on its other side, some units of rounding further along the slope. */
static int is_beyond_jump(@name@_run *run) {
    const @name@_dopri5 *const solver = &run->solver;
    const real length = @rounding@ * @fabs@(solver->t) * (real)16.0;
    const real there = solver->t + length;
    real values[@name@_CONDITIONS];
    for (int at = 0; at < @name@_STATES; at++) {
        run->between[at] = solver->x[at] + length * solver->slope[0][at];
    }
    @name@_run_conditions(run, there, run->between, values);
    if (!has_changed(run->side, values) || there > @name@_run_bound(run)) {
        return 0;
    }
    run->t = there;
    for (int at = 0; at < @name@_STATES; at++) {
        run->x[at] = run->between[at];
    }
    run->is_fresh = 1;
    return 1;
}

@end@
@if branches@
/* The run is where the branch of the loops has ended, and leaves it. */
static @name@_status leave_branch(@name@_run *run) {
    const @name@_status status = @name@_branch_leave(run);
    run->is_fresh = 1;
    return (status == @name@_OK && is_chatter(run)) ? @name@_CHATTER : status;
}

@end@
/* A new beginning: after a corner, or where something has changed. */
static @name@_status start_anew(@name@_run *run, real end) {
    @name@_status status = @name@_OK;
@if branches@
    status = @name@_branch_begin(run);
    if (status != @name@_OK) {
        return status;
    }
    run->branch.latest = HUGE_VAL@suffix@;
@end@
@if conditional@
    {
        real values[@name@_CONDITIONS];
        for (int at = 0; at < @name@_CONDITIONS; at++) {
            run->side[at] = @zero@;
        }
        @name@_run_conditions(run, run->t, run->x, values);
        settle(run->side, values);
    }
@end@
@if bends@
    @name@_bends_restart(run);
@end@
    status = @name@_dopri5_start(&run->solver, motion, run, run->t, run->x, end);
    run->is_fresh = (status != @name@_OK);
    return status;
}

@name@_status @name@_run_step(@name@_run *run, @name@_real stop) {
    @name@_dopri5 *const solver = &run->solver;
    const real bound = @name@_run_bound(run);
    const real end = (stop < bound) ? stop : bound;
    @name@_status status = (run->is_fresh != 0) ? start_anew(run, end) : @name@_OK;
    while (status == @name@_OK) {
@if conditional@
        real until = end;
@end@
@if branches@
        run->branch.latest = HUGE_VAL@suffix@;
@end@
@if bends@
        status = @name@_dopri5_step(solver, motion, run, @name@_bends_end(run, end));
@else@
        status = @name@_dopri5_step(solver, motion, run, end);
@end@
@if conditional@
        if (status == @name@_NOT_FINITE && is_beyond_jump(run)) {
            return is_chatter(run) ? @name@_CHATTER : @name@_OK;
        }
@end@
@if branches@
        if (status != @name@_OK) {
            /* The branch may end just ahead. */
            return @name@_branch_ends_ahead(run) ? leave_branch(run) : status;
        }
        if (!@name@_branch_follow(run, solver->before, solver->t, along_step)) {
            if (is_long(run)) {
                status = shorten(run);
                continue;
            }
            run->t = run->branch.after;
            @name@_dopri5_dense(solver, run->t, run->x);
            return leave_branch(run);
        }
        if (@name@_branch_is_lost(run) && is_long(run)) {
            status = shorten(run);
            continue;
        }
@else@
        if (status != @name@_OK) {
            return status;
        }
@end@
@if conditional@
        if (is_changed(run, &until)) {
            if (is_long(run)) {
                status = shorten(run);
                continue;
            }
            run->t = first_change(run, until);
            @name@_dopri5_dense(solver, run->t, run->x);
            run->is_fresh = 1;
            return is_chatter(run) ? @name@_CHATTER : @name@_OK;
        }
@end@
@if bends@
        if (@name@_bends_cut(run)) {
            continue;
        }
@end@
        run->t = solver->t;
        for (int at = 0; at < @name@_STATES; at++) {
            run->x[at] = solver->x[at];
        }
@if branches@
        @name@_branch_accept(run);
@end@
        return @name@_OK;
    }
    return status;
}

/* The first value that is not finite, or `count` where all are. */
static int first_not_finite(const real values[], int count) {
    int at = 0;
    while (at < count && isfinite(values[at])) {
        at++;
    }
    return at;
}

/* The state that changes most for what is allowed of its error. */
static int fastest_state(const @name@_run *run, const real x[], const real dx[]) {
    int fastest = 0;
    real most = @zero@;
    for (int at = 0; at < @name@_STATES; at++) {
        const real share = @fabs@(dx[at]) / (@name@_dopri5_near_zero(&run->solver, at) + run->solver.rtol * @fabs@(x[at]));
        if (share > most) {
            most = share;
            fastest = at;
        }
    }
    return fastest;
}

static void not_finite_cause(@name@_run *run, real t, const real x[], char text[], size_t size) {
    const real inside = @name@_run_inputs(run, t);
    real y[@name@_ROOM(@name@_OUTPUTS)];
    int at;
    (void)@name@_rates(&run->model, inside, x, run->u, run->du, run->probe);
    at = first_not_finite(run->probe, @name@_STATES);
    if (at < @name@_STATES) {
        (void)snprintf(text, size, "the rate of `%s` is not finite", @name@_state_names[at]);
        return;
    }
    (void)@name@_outputs(&run->model, inside, x, run->u, run->du, y);
    at = first_not_finite(y, @name@_OUTPUTS);
    if (at < @name@_OUTPUTS) {
        (void)snprintf(text, size, "the output `%s` is not finite", @name@_output_names[at]);
        return;
    }
    at = fastest_state(run, x, run->probe);
    (void)snprintf(text, size, "no step is small enough, or the next one leaves the domain of the equations; `%s` changes fastest",
        @name@_state_names[at]);
}

/* The unknown of the algebraic loops that was furthest from a solution last. */
static int worst_unknown(const @name@_model *model) {
    int worst = 0;
@if loops@
    real most = @zero@;
    for (int at = 0; at < @name@_UNKNOWNS; at++) {
        const real share = @fabs@(model->step[at]) / (@fabs@(model->w[at]) + @loop_absolute@);
        if (share > most) {
            most = share;
            worst = at;
        }
    }
@else@
    (void)model;
@end@
    return worst;
}

void @name@_run_cause(@name@_run *run, @name@_status status, real t, const real x[], char text[], size_t size) {
    switch (status) {
    case @name@_NOT_FINITE:
        not_finite_cause(run, t, x, text, size);
        break;
    case @name@_LOOP_NOT_SOLVED:
        (void)snprintf(text, size, "the algebraic loop of `%s` has no solution that Newton's iteration finds",
            @name@_loop_names[worst_unknown(&run->model)]);
        break;
    case @name@_STARTS_DISAGREE:
        (void)snprintf(text, size, "the starts of storage elements that depend on each other contradict");
        break;
    case @name@_CHATTER:
        (void)snprintf(text, size, "a condition changes again and again within no time");
        break;
@if jumps@
    case @name@_JUMP_NOT_KNOWN:
        @name@_jump_cause(run, text, size);
        break;
@end@
    default:
        (void)snprintf(text, size, "nothing is wrong");
        break;
    }
}
