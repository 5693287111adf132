/* Runs over time: inputs, corners at which something has a step or a kink, and steps of controlled length between them.
 */
#include "lgm_bends.h"
#include "lgm_branch.h"
#if LGM_EVENTS
#include "lgm_events.h"
#endif
#include "lgm_jump.h"
#include "lgm_names.h"
#include "lgm_numbers.h"
#include "lgm_run.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>

lgm_real lgm_run_inputs(lgm_run *run, lgm_real t) {
    real inside = t;
    if (inside >= run->to) {
        inside = lgm_nextafter(run->to, -LGM_INFINITE);
        lgm_inputs(&run->model, inside, run->u, run->du);
    } else {
        inside = lgm_larger(inside, run->from);
        lgm_inputs(&run->model, lgm_later(inside), run->u, run->du);
    }
    for (int at = 0; at < LGM_INPUTS; at++) {
        if (run->is_set[at] != 0) {
            const real passed = (run->is_line != 0) ? t - run->since[at] : (real)0.0;
            run->u[at] = run->value[at] + run->rate[at] * passed;
            run->du[at] = run->rate[at];
        }
    }
    return inside;
}

lgm_status lgm_run_rates(lgm_run *run, lgm_real t, const lgm_real x[], lgm_real dx[]) {
    real inside;
#if LGM_BRANCHES
    lgm_branch_recall(run, t);
#endif
    inside = lgm_run_inputs(run, t);
    return lgm_finite_rates(&run->model, inside, x, run->u, run->du, dx);
}

#if LGM_BRANCHES
/* The path of the last step. */
static real along_step(lgm_run *run, real t, real x[]) {
    lgm_dopri5_dense(&run->solver, t, x);
    return lgm_run_inputs(run, t);
}

#endif
lgm_status lgm_run_outputs(lgm_run *run, lgm_real t, const lgm_real x[], lgm_real y[]) {
    real inside;
#if LGM_BRANCHES
    lgm_branch_recall(run, t);
#if LGM_TOTALS
    if (run->branch.is_begun != 0 && t < run->t && t > run->solver.before && t < run->solver.t) {
        lgm_branch_recall_within(run, (t - run->solver.before) / (run->t - run->solver.before));
    }
#endif
#endif
    inside = lgm_run_inputs(run, t);
    /* At a corner, the values after it, also of functions of time in outputs. */
    inside = (inside <= run->from) ? lgm_later(inside) : inside;
    return lgm_finite_outputs(&run->model, inside, x, run->u, run->du, y);
}

static lgm_status motion(void *context, real t, const real x[], real dx[]) {
    lgm_run *const run = (lgm_run *)context;
    const real inside = lgm_run_inputs(run, t);
#if LGM_BRANCHES
    /* Every attempt at a step begins with the solution at the end of the last one. */
    if (t < run->branch.latest) {
        lgm_branch_recall(run, run->t);
    }
    run->branch.latest = t;
#endif
    /* The stepper checks once per step that everything is finite. */
    return lgm_rates(&run->model, inside, x, run->u, run->du, dx);
}

int lgm_run_steps(lgm_run *run, lgm_real step[]) {
    const real apart = run->t - lgm_nextafter(run->t, -LGM_INFINITE);
    int steps = 0;
    (void)lgm_run_inputs(run, run->t);
    for (int at = 0; at < LGM_INPUTS; at++) {
        const real before = run->held[at];
        const real larger = (lgm_fabs(before) > lgm_fabs(run->u[at])) ? lgm_fabs(before) : lgm_fabs(run->u[at]);
        const real rounded = LGM_ROUNDING * larger;
        step[at] = run->u[at] - before;
        if (lgm_fabs(step[at]) > rounded + (real)16.0 * apart * lgm_fabs(run->du[at])) {
            steps++;
        } else {
            step[at] = (real)0.0;
        }
    }
    return steps;
}

#if LGM_MOVES
#if LGM_LINEAR
/* Computes the states after a step: E is constant, and at zero no other round-off enters. */
static lgm_status moved_states(lgm_run *run, const real step[], int is_start) {
    static const real still[LGM_ROOM(LGM_INPUTS)] = {(real)0.0};
    static const real rest[LGM_ROOM(LGM_STATES)] = {(real)0.0};
    const real inside = lgm_run_inputs(run, run->t);
    lgm_status status = lgm_finite_rates(&run->model, inside, rest, still, step, run->moved);
    (void)is_start;
    if (status == LGM_OK) {
        status = lgm_finite_rates(&run->model, inside, rest, still, still, run->without);
    }
    for (int at = 0; at < LGM_STATES; at++) {
        run->moved[at] = run->x[at] + (run->moved[at] - run->without[at]);
    }
    return status;
}

#else
/* Computes the states after a step. */
static lgm_status moved_states(lgm_run *run, const real step[], int is_start) {
    const lgm_status status = lgm_jump_go(run, step, is_start);
    for (int at = 0; at < LGM_STATES; at++) {
        run->moved[at] = run->jump.way.x[at];
    }
    return status;
}

#endif
#endif
/* Moves the states by E times the step of the inputs from their held values. At the start of a run, states with given initial values
 * stay. */
static lgm_status move_states(lgm_run *run, int is_start, const int given[]) {
#if LGM_MOVES
    real step[LGM_ROOM(LGM_INPUTS)];
    lgm_status status;
    if (lgm_run_steps(run, step) == 0) {
        return LGM_OK;
    }
    status = moved_states(run, step, is_start);
    if (status != LGM_OK) {
        return status;
    }
    for (int at = 0; at < LGM_STATES; at++) {
        const int stays = is_start && (lgm_start_given[at] != 0 || (given != NULL && given[at] != 0));
        run->x[at] = stays ? run->x[at] : run->moved[at];
    }
#else
    /* The equations contain no rates of inputs. */
    (void)run; (void)is_start; (void)given;
#endif
    return LGM_OK;
}

void lgm_run_hold(lgm_run *run) {
    (void)lgm_run_inputs(run, run->t);
    for (int at = 0; at < LGM_INPUTS; at++) {
        run->held[at] = run->u[at];
    }
}

lgm_status lgm_run_jump(lgm_run *run) {
    run->from = run->t;
    run->is_fresh = 1;
    return move_states(run, 0, NULL);
}

lgm_real lgm_run_bound(const lgm_run *run) {
    const real bound = (run->to < run->horizon) ? run->to : run->horizon;
#if LGM_EVENTS
    const real next = lgm_events_next(run);
    return (next < bound) ? next : bound;
#else
    return bound;
#endif
}

/* Finds the part of the time ahead that follows from the parameters: the next corner, and the longest step. Corners within round-off of
 * each other are one, and the values after the last of them apply. */
static void find_bounds(lgm_run *run, real now) {
    const real near = now + LGM_ROUNDING * lgm_fabs(now) + LGM_NEAREST;
    run->from = now;
    run->to = lgm_next_corner(&run->model, run->start, now, run->horizon);
    while (run->to <= near) {
        run->from = run->to;
        run->to = lgm_next_corner(&run->model, run->start, run->from, run->horizon);
    }
    run->solver.longest = lgm_longest_step(&run->model, run->start, run->horizon);
}

lgm_status lgm_run_pass(lgm_run *run) {
    /* An instant within round-off of the corner is at the corner. */
    const int is_near = run->to > run->t && run->to <= run->t + LGM_ROUNDING * lgm_fabs(run->t);
    real now = is_near ? run->to : run->t;
    run->is_fresh = 1;
#if LGM_EVENTS
    {
        /* The same applies to an instant of a block. */
        const real instant = lgm_events_next(run);
        if (now >= run->to && instant > now && instant <= now + LGM_ROUNDING * lgm_fabs(now)) {
            now = instant;
            run->t = instant;
        }
    }
    if (now < run->to && now < run->horizon && lgm_events_next(run) <= now) {
        return lgm_events_pass(run);
    }
    {
        const lgm_status status = lgm_events_arrive(run);
        if (status != LGM_OK) {
            return status;
        }
    }
#endif
    if (now >= run->horizon) {
        /* Extend by the same distance again. */
        const real length = run->horizon - run->start;
        run->start = run->horizon;
        run->horizon = now + length;
    }
    find_bounds(run, now);
#if LGM_EVENTS
    return lgm_events_corner(run);
#else
    return move_states(run, 0, NULL);
#endif
}

lgm_status lgm_run_begin(lgm_run *run, lgm_real t, lgm_real stop, const int given[]) {
    run->t = t;
    run->start = t;
    run->horizon = stop;
    run->is_fresh = 1;
    run->changes = 0;
#if LGM_BRANCHES
    run->branch.is_begun = 0;
#endif
    /* Before the start all inputs are zero. */
    for (int at = 0; at < LGM_INPUTS; at++) {
        run->held[at] = (real)0.0;
    }
    find_bounds(run, t);
#if LGM_EVENTS
    (void)given;
    return lgm_events_begin(run);
#else
    return move_states(run, 1, given);
#endif
}

void lgm_run_conditions(lgm_run *run, lgm_real t, const lgm_real x[], lgm_real values[]) {
#if LGM_CONDITIONS
    real inside;
#if LGM_BRANCHES
    lgm_branch_recall(run, t);
#endif
    inside = lgm_run_inputs(run, t);
#if LGM_UNKNOWNS
    /* The conditions use the solution of the loops. */
    (void)lgm_finite_rates(&run->model, inside, x, run->u, run->du, run->probe);
#endif
    lgm_conditions(&run->model, inside, x, run->u, run->du, values);
#else
    (void)run; (void)t; (void)x; (void)values;
#endif
}

#if LGM_CONDITIONS
static int has_changed(const real before[], const real values[]) {
    for (int at = 0; at < LGM_CONDITIONS; at++) {
        if (before[at] * values[at] < (real)0.0) {
            return 1;
        }
    }
    return 0;
}

/* A zero leaves the side unchanged. */
static void settle(real before[], const real values[]) {
    for (int at = 0; at < LGM_CONDITIONS; at++) {
        if (values[at] != (real)0.0) {
            before[at] = (values[at] > (real)0.0) ? (real)1.0 : -(real)1.0;
        }
    }
}

#endif
#if LGM_BRANCHES || LGM_CONDITIONS
/* Returns true if the change that was just found is one of a hundred within almost no time. */
static int is_chatter(lgm_run *run) {
    /* The horizon of an FMU without a stop time does not bound the run; the elapsed part of it is used. */
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

/* Returns true if the last step is so long that changes within it matter. */
static int is_long(const lgm_run *run) {
    const lgm_dopri5 *const solver = &run->solver;
    const real length = solver->t - solver->before;
    const real rounded = LGM_ROUNDING * (lgm_fabs(solver->t) + length) * (real)16.0;
    return length > rounded && length > (real)1e-9 * (lgm_run_bound(run) - run->from);
}

/* A step across a jump is wrong, so it is repeated in shorter steps until it is too short to matter. */
static lgm_status shorten_step(lgm_run *run) {
    lgm_dopri5 *const solver = &run->solver;
    const real before = solver->before;
    const real shorter = before + (solver->t - before) / (real)8.0;
    lgm_status status;
    for (int at = 0; at < LGM_STATES; at++) {
        run->between[at] = solver->x_before[at];
    }
#if LGM_BENDS
    lgm_bends_restart(run);
#endif
    status = lgm_dopri5_start(solver, motion, run, before, run->between, shorter);
    solver->h = shorter - before;
    return status;
}

#endif
#if LGM_CONDITIONS
/* Returns the first number after the change between the beginning of the last step and `until`. */
static real first_change(lgm_run *run, real until) {
    real values[LGM_CONDITIONS];
    real low = run->solver.before;
    real high = until;
    for (;;) {
        const real middle = low + (real)0.5 * (high - low);
        if (!(middle > low && middle < high)) {
            return high;
        }
        lgm_dopri5_dense(&run->solver, middle, run->between);
        lgm_run_conditions(run, middle, run->between, values);
        if (has_changed(run->side, values)) {
            high = middle;
        } else {
            low = middle;
        }
    }
}

#endif
/* Continues the run from a point at which its solver restarts. */
static lgm_status start_again(lgm_run *run, real t, const real x[]) {
    run->t = t;
    for (int at = 0; at < LGM_STATES; at++) {
        run->x[at] = x[at];
    }
    run->is_fresh = 1;
    return LGM_OK;
}

#if LGM_CONDITIONS
/* Returns true if a condition on states has changed within the last step, with the time up to which one has. */
static int is_changed(lgm_run *run, real *until) {
    const lgm_dopri5 *const solver = &run->solver;
    real values[LGM_CONDITIONS];
    for (int looked = 1; looked <= 2; looked++) {
        const real at = (looked == 1) ? solver->before + (real)0.5 * (solver->t - solver->before) : solver->t;
        lgm_dopri5_dense(solver, at, run->between);
        lgm_run_conditions(run, at, run->between, values);
        if (has_changed(run->side, values)) {
            *until = at;
            return 1;
        }
    }
    settle(run->side, values);
    return 0;
}

/* Called if no step is small enough: a jump may be just ahead, at which a state without a known magnitude fails every step. Returns true
 * if so; the run is then on the other side of the jump, some units of round-off further along the slope. */
static int is_beyond_jump(lgm_run *run) {
    const lgm_dopri5 *const solver = &run->solver;
    const real length = LGM_ROUNDING * lgm_fabs(solver->t) * (real)16.0;
    const real there = solver->t + length;
    real values[LGM_CONDITIONS];
    for (int at = 0; at < LGM_STATES; at++) {
        run->between[at] = solver->x[at] + length * solver->slope[0][at];
    }
    lgm_run_conditions(run, there, run->between, values);
    if (!has_changed(run->side, values) || there > lgm_run_bound(run)) {
        return 0;
    }
    (void)start_again(run, there, run->between);
    return 1;
}

#endif
#if LGM_BRANCHES
/* Leaves the end of the branch of the loops, at which the run is. */
static lgm_status leave_branch(lgm_run *run) {
    const lgm_status status = lgm_branch_leave(run);
    run->is_fresh = 1;
    return (status == LGM_OK && is_chatter(run)) ? LGM_CHATTER : status;
}

#endif
/* Restarts after a corner, or at a change of a condition. */
static lgm_status start_anew(lgm_run *run, real end) {
    lgm_status status = LGM_OK;
#if LGM_BRANCHES
    status = lgm_branch_begin(run);
    if (status != LGM_OK) {
        return status;
    }
    run->branch.latest = LGM_INFINITE;
#endif
#if LGM_CONDITIONS
    {
        real values[LGM_CONDITIONS];
        for (int at = 0; at < LGM_CONDITIONS; at++) {
            run->side[at] = (real)0.0;
        }
        lgm_run_conditions(run, run->t, run->x, values);
        settle(run->side, values);
    }
#endif
#if LGM_BENDS
    lgm_bends_restart(run);
#endif
    status = lgm_dopri5_start(&run->solver, motion, run, run->t, run->x, end);
    run->is_fresh = (status != LGM_OK);
    return status;
}

lgm_status lgm_run_step(lgm_run *run, lgm_real stop) {
    lgm_dopri5 *const solver = &run->solver;
    const real bound = lgm_run_bound(run);
    const real end = (stop < bound) ? stop : bound;
    lgm_status status = (run->is_fresh != 0) ? start_anew(run, end) : LGM_OK;
    while (status == LGM_OK) {
#if LGM_CONDITIONS
        real until = end;
#endif
#if LGM_BRANCHES
        run->branch.latest = LGM_INFINITE;
#endif
#if LGM_BENDS
        status = lgm_dopri5_step(solver, motion, run, lgm_bends_end(run, end));
#else
        status = lgm_dopri5_step(solver, motion, run, end);
#endif
        if (status == LGM_NOT_FINITE && lgm_dopri5_expects_more(solver, motion, run, run->horizon)) {
            return start_again(run, solver->t, solver->x);
        }
#if LGM_CONDITIONS
        if (status == LGM_NOT_FINITE && is_beyond_jump(run)) {
            return is_chatter(run) ? LGM_CHATTER : LGM_OK;
        }
#endif
#if LGM_BRANCHES
        if (status != LGM_OK) {
            /* The branch may end just ahead. */
            return lgm_branch_ends_ahead(run) ? leave_branch(run) : status;
        }
        if (!lgm_branch_follow(run, solver->before, solver->t, along_step)) {
            if (is_long(run)) {
                status = shorten_step(run);
                continue;
            }
            run->t = run->branch.after;
            lgm_dopri5_dense(solver, run->t, run->x);
            return leave_branch(run);
        }
        if (lgm_branch_is_lost(run) && is_long(run)) {
            status = shorten_step(run);
            continue;
        }
#else
        if (status != LGM_OK) {
            return status;
        }
#endif
#if LGM_CONDITIONS
        if (is_changed(run, &until)) {
            if (is_long(run)) {
                status = shorten_step(run);
                continue;
            }
            run->t = first_change(run, until);
            lgm_dopri5_dense(solver, run->t, run->x);
            run->is_fresh = 1;
            return is_chatter(run) ? LGM_CHATTER : LGM_OK;
        }
#endif
#if LGM_BENDS
        if (lgm_bends_cut(run)) {
            continue;
        }
#endif
#if LGM_EVENTS
        if (lgm_watch_step(run)) {
            return LGM_OK;
        }
#endif
        run->t = solver->t;
        for (int at = 0; at < LGM_STATES; at++) {
            run->x[at] = solver->x[at];
        }
#if LGM_BRANCHES
        lgm_branch_accept(run);
#endif
        return LGM_OK;
    }
    return status;
}

/* Returns the index of the first value that is not finite, or `count` if all are. */
static int first_not_finite(const real values[], int count) {
    int at = 0;
    while (at < count && isfinite(values[at])) {
        at++;
    }
    return at;
}

/* Returns the state that changes most relative to its allowed error. */
static int fastest_state(const lgm_run *run, const real x[], const real dx[]) {
    int fastest = 0;
    real most = (real)0.0;
    for (int at = 0; at < LGM_STATES; at++) {
        const real share = lgm_fabs(dx[at]) / (lgm_dopri5_near_zero(&run->solver, at) + run->solver.rtol * lgm_fabs(x[at]));
        if (share > most) {
            most = share;
            fastest = at;
        }
    }
    return fastest;
}

static void not_finite_cause(lgm_run *run, real t, const real x[], char text[], size_t size) {
    const real inside = lgm_run_inputs(run, t);
    real y[LGM_ROOM(LGM_OUTPUTS)];
    int at;
    (void)lgm_rates(&run->model, inside, x, run->u, run->du, run->probe);
    at = first_not_finite(run->probe, LGM_STATES);
    if (at < LGM_STATES) {
        (void)snprintf(text, size, "the rate of `%s` is not finite", lgm_state_names[at]);
        return;
    }
    (void)lgm_finite_outputs(&run->model, inside, x, run->u, run->du, y);
    at = first_not_finite(y, LGM_OUTPUTS);
    if (at < LGM_OUTPUTS) {
        (void)snprintf(text, size, "the output `%s` is not finite", lgm_output_names[at]);
        return;
    }
    at = fastest_state(run, x, run->probe);
    (void)snprintf(text, size, "no step is small enough, or the next one leaves the domain of the equations; `%s` changes fastest",
        lgm_state_names[at]);
}

#if LGM_UNKNOWNS
/* Returns the unknown of the algebraic loops that was last farthest from a solution. */
static int worst_unknown(const lgm_model *model) {
    int worst = 0;
    real most = (real)0.0;
    for (int at = 0; at < LGM_UNKNOWNS; at++) {
        const real share = lgm_fabs(model->step[at]) / (lgm_fabs(model->w[at]) + LGM_LOOP_ABSOLUTE);
        if (share > most) {
            most = share;
            worst = at;
        }
    }
    return worst;
}

#endif
void lgm_run_cause(lgm_run *run, lgm_status status, real t, const real x[], char text[], size_t size) {
    switch (status) {
    case LGM_NOT_FINITE:
        not_finite_cause(run, t, x, text, size);
        break;
#if LGM_UNKNOWNS
    case LGM_LOOP_NOT_SOLVED:
        (void)snprintf(text, size, "Newton's method finds no solution for the algebraic loop of `%s`",
            lgm_loop_names[worst_unknown(&run->model)]);
        break;
#endif
#if LGM_CONSTRAINTS
    case LGM_STARTS_DISAGREE:
        (void)snprintf(text, size, "initial values of dependent storage elements contradict each other");
        break;
#endif
#if LGM_BRANCHES || LGM_CONDITIONS
    case LGM_CHATTER:
        (void)snprintf(text, size, "a condition keeps changing at one instant");
        break;
#endif
#if LGM_EVENTS
    case LGM_EVENT_NOT_KNOWN:
        lgm_events_cause(run, text, size);
        break;
#endif
#if LGM_JUMPS
    case LGM_JUMP_NOT_KNOWN:
        lgm_jump_cause(run, text, size);
        break;
#endif
    default:
        (void)snprintf(text, size, "nothing is wrong");
        break;
    }
}
