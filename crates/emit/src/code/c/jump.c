/* What a step of the inputs of @model@ does to its states.
 *
 * @origin@
 */
#include "@name@_jump.h"
#include "@name@_names.h"

#include <math.h>
#include <stdio.h>

typedef @name@_real real;

/* Why the states after the steps are not known: the equations could not be evaluated, or their solution ends, on the way there; a
 * state would move without bounds; where one comes to depends on the way that the inputs take. */
enum { NO_WAY, ENDLESS, OPEN };

/* How fast the ramps are, in their own steps for a second. Loops that have no solution with the fastest are asked for slower ones. */
static const real rates[3] = {(real)1.1805916207174113e21, (real)34359738368.0, @one@};
/* Rates that differ by so much show what grows in proportion. It is no power of two, so that rounding shows as well. */
static const real faster = (real)3.0;
/* What is in proportion to the rates is so to this share. */
static const real in_proportion = @jump_in_proportion@;
/* What is limited loses more than this share where the rates grow by the factor above; a square root keeps 0.58. */
static const real limited = (real)0.9;
/* What grows without bounds beside the rates grows by more than this where these grow by the factor above. */
static const real growing = (real)1.5;
/* A state that moves by so many times the largest one of its kind is moved without bounds. */
static const real endless = (real)1e9;
/* The tolerance of the way, as a share of that of the run and at most and least. */
static const real finer = (real)1e-2;
static const real coarsest = @jump_coarsest@;
static const real finest = @jump_finest@;
/* The ends of two ways are the same within so many tolerances. */
static const real same = @jump_same@;
/* Nothing of a state is smaller than this share of the largest one of its kind. */
static const real of_kind = (real)1e-9;
/* So many differences of slopes that rounding makes are allowed of a state. */
static const real roughness = (real)100.0;
/* The first part of the way, and the shortest. */
static const real first_part = (real)(1.0 / 64.0);
static const real shortest = (real)1e-14;

/* States of one kind have the same number. */
static const int kinds[@name@_ROOM(@name@_STATES)] = {@state_kinds@};

static void copy(real to[], const real from[], int count) {
    for (int at = 0; at < count; at++) {
        to[at] = from[at];
    }
}

static real larger(real a, real b) {
    return (a > b) ? a : b;
}

/* The inputs and their rates at a share of the way. On the bent one, every other input is ahead. */
static void inputs_at(@name@_jump *jump, real share) {
    for (int at = 0; at < @name@_INPUTS; at++) {
        real done = share;
        real rate = @one@;
        if (jump->is_bent != 0 && jump->order[at] % 2 == 0) {
            done = @half@ * (share + share * share);
            rate = @half@ + share;
        } else if (jump->is_bent != 0) {
            done = @half@ * share * ((real)3.0 - share);
            rate = (real)1.5 - share;
        }
        jump->u[at] = jump->before[at] + done * jump->step[at];
        jump->du[at] = rate * jump->step[at];
    }
}

/* The right sides at a point with so many times the rates of the way, where the loops have a solution near the last one with these
 * rates. */
static @name@_status evaluate(@name@_run *run, int with, const real x[], real factor, real right[]) {
    @name@_jump *const jump = &run->jump;
    @name@_status status;
    (void)with;
    for (int at = 0; at < @name@_INPUTS; at++) {
        jump->fast_du[at] = factor * jump->du[at];
    }
@if loops@
    copy(run->model.w, jump->unknowns[with], @name@_UNKNOWNS);
    run->model.is_solved = 1;
@end@
    status = @name@_rhs(&run->model, jump->t, x, jump->u, jump->fast_du, right);
@if loops@
    if (status == @name@_OK) {
        copy(jump->unknowns[with], run->model.w, @name@_UNKNOWNS);
    }
@end@
    return status;
}

static @name@_status lose(@name@_jump *jump, int why, int state) {
    jump->lost = why;
    jump->state = state;
    return @name@_JUMP_NOT_KNOWN;
}

/* Notes a state's size, which is the largest of its kind or not. */
static void note_size(@name@_jump *jump, int at, real size) {
    jump->largest[kinds[at]] = larger(jump->largest[kinds[at]], size);
}

/* The largest of each kind that was seen. */
static void measure_kinds(@name@_jump *jump) {
    for (int at = 0; at < @name@_STATES; at++) {
        jump->largest[at] = @zero@;
    }
    for (int at = 0; at < @name@_STATES; at++) {
        note_size(jump, at, jump->sizes[at]);
    }
}

/* What the right sides of a state grow by with slower and faster rates, for the step of a rate, and the rounding of the latter. */
typedef struct {
    real slow;
    real fast;
    real rounding;
} slopes;

static slopes slopes_of(const @name@_jump *jump, int at) {
    const real rate = rates[jump->rate];
    const real slower = faster * rate;
    const real fastest = faster * faster * rate;
    slopes found;
    found.slow = (jump->right[1][at] - jump->right[0][at]) / (slower - rate);
    found.fast = (jump->right[2][at] - jump->right[1][at]) / (fastest - slower);
    found.rounding = @epsilon@ * @fabs@(jump->right[2][at]) / slower;
    return found;
}

static int is_proportional(slopes found) {
    return @fabs@(found.fast - found.slow) <= in_proportion * @fabs@(found.fast) + (real)4.0 * found.rounding;
}

/* The limits of the slopes of all states, with the noise that rounding makes of them. */
static @name@_status limit(@name@_jump *jump, real dx[], real noise[]) {
    real most = @zero@;
    measure_kinds(jump);
    for (int at = 0; at < @name@_STATES; at++) {
        const slopes found = slopes_of(jump, at);
        if (is_proportional(found)) {
            note_size(jump, at, @fabs@(found.fast));
        }
        most = larger(most, jump->largest[kinds[at]]);
    }
    for (int at = 0; at < @name@_STATES; at++) {
        const slopes found = slopes_of(jump, at);
        const real apart = @fabs@(found.fast - found.slow);
        const real size = (jump->largest[kinds[at]] > @zero@) ? jump->largest[kinds[at]] : most;
        dx[at] = @zero@;
        if (is_proportional(found)) {
            dx[at] = found.fast;
            noise[at] = larger(noise[at], (apart < found.rounding) ? apart : found.rounding);
            continue;
        }
        if (@fabs@(found.fast) > growing * @fabs@(found.slow) && @fabs@(found.fast) > endless * size) {
            return lose(jump, (jump->rate == 0) ? ENDLESS : NO_WAY, at);
        }
        /* Slow ramps do not show what becomes of it. */
        if (jump->rate > 0) {
            return lose(jump, NO_WAY, at);
        }
        if (@fabs@(found.fast) > limited * @fabs@(found.slow)) {
            dx[at] = found.fast;
            noise[at] = larger(noise[at], apart);
        }
    }
    return @name@_OK;
}

/* What the states grow by for the share of the way. */
static @name@_status slope(@name@_run *run, real share, const real x[], real dx[], real noise[]) {
    @name@_jump *const jump = &run->jump;
    real factor = rates[jump->rate];
    inputs_at(jump, share);
    for (int with = 0; with < 3; with++) {
        if (evaluate(run, with, x, factor, jump->right[with]) != @name@_OK) {
            return lose(jump, NO_WAY, 0);
        }
        factor *= faster;
    }
    return limit(jump, dx, noise);
}

static @name@_status along(void *context, real share, const real x[], real dx[]) {
    @name@_run *const run = (@name@_run *)context;
    return slope(run, share, x, dx, run->jump.noise);
}

/* Solves the loops where the way is without an impulse, and leaves them so. */
static void still(@name@_run *run) {
    @name@_jump *const jump = &run->jump;
    inputs_at(jump, jump->way.t);
    /* What has no value there shows with the rates as well, or does not matter. */
    (void)evaluate(run, 3, jump->way.x, @zero@, jump->right[0]);
}

/* The slope where the way begins, with the fastest rates with which there is one. Before a run, when all inputs are 0, the unknowns
 * of the loops are near 0 rather than where they are after the steps. */
static @name@_status begin(@name@_run *run) {
    @name@_jump *const jump = &run->jump;
    @name@_dopri5 *const way = &jump->way;
    int why = NO_WAY;
    int state = 0;
    for (jump->rate = 0; jump->rate < 3; jump->rate++) {
@if loops@
        /* Where the loops were solved last, and where they are looked for at first; -1 stands for the former. */
        const int first = (jump->is_begun != 0) ? -1 : 0;
        const int last = (jump->is_begun != 0) ? 0 : 5;
        for (int guess = first; guess < last; guess++) {
            for (int with = 0; with < 4; with++) {
                copy(jump->unknowns[with], (guess < 0) ? jump->begun : @name@_loop_guesses + guess * @name@_UNKNOWNS, @name@_UNKNOWNS);
            }
@else@
        {
@end@
            still(run);
            for (int at = 0; at < @name@_STATES; at++) {
                jump->noise[at] = @zero@;
            }
            if (slope(run, @zero@, way->x, way->slope[0], jump->noise) == @name@_OK) {
                return @name@_OK;
            }
            if (jump->lost != NO_WAY) {
                why = jump->lost;
                state = jump->state;
            }
        }
    }
    return lose(jump, why, state);
}

/* What is allowed of the error of a state to which rounding may add so much; the largest of each kind must be known. */
static real allowed(const @name@_jump *jump, int at, real noise) {
    const real size = larger(jump->sizes[at], of_kind * jump->largest[kinds[at]]);
    return jump->tolerance * size + roughness * noise + @least@;
}

/* The error of the part that was tried, in units of what is allowed. */
static real excess_of(@name@_jump *jump, real length) {
    const @name@_dopri5 *const way = &jump->way;
    real excess = @zero@;
    for (int at = 0; at < @name@_STATES; at++) {
        jump->sizes[at] = larger(jump->sizes[at], @fabs@(way->trial[at]));
        for (int stage = 0; stage < 7; stage++) {
            jump->sizes[at] = larger(jump->sizes[at], @fabs@(length * way->slope[stage][at]));
        }
    }
    measure_kinds(jump);
    for (int at = 0; at < @name@_STATES; at++) {
        /* What rounding makes of a slope adds to the state in proportion to the length of the part. */
        const real share = @name@_dopri5_difference(way, length, at) / allowed(jump, at, length * jump->noise[at]);
        /* What is no number is too much. */
        excess = (share <= excess) ? excess : share;
    }
    return excess;
}

/* Keeps what a part that fails may spoil, or takes it back. */
static void keep(@name@_jump *jump) {
    copy(jump->sizes_before, jump->sizes, @name@_STATES);
@if loops@
    for (int with = 0; with < 4; with++) {
        copy(jump->unknowns_before[with], jump->unknowns[with], @name@_UNKNOWNS);
    }
@end@
}

static void take_back(@name@_jump *jump) {
    copy(jump->sizes, jump->sizes_before, @name@_STATES);
@if loops@
    for (int with = 0; with < 4; with++) {
        copy(jump->unknowns[with], jump->unknowns_before[with], @name@_UNKNOWNS);
    }
@end@
}

/* Goes the whole way; the states at its end are in jump->way.x. */
static @name@_status go(@name@_run *run, int is_bent) {
    @name@_jump *const jump = &run->jump;
    @name@_dopri5 *const way = &jump->way;
    real length = first_part;
    jump->is_bent = is_bent;
    way->t = @zero@;
    copy(way->x, run->x, @name@_STATES);
    for (int at = 0; at < @name@_STATES; at++) {
        jump->sizes[at] = @fabs@(run->x[at]);
    }
    if (begin(run) != @name@_OK) {
        return @name@_JUMP_NOT_KNOWN;
    }
    for (int at = 0; at < @name@_STATES; at++) {
        jump->added[at] = @zero@;
    }
    for (int part = 0; part < @name@_JUMP_PARTS; part++) {
        real excess = HUGE_VAL@suffix@;
        real factor;
        const int is_last = length >= @one@ - way->t;
        length = is_last ? @one@ - way->t : length;
        keep(jump);
        for (int at = 0; at < @name@_STATES; at++) {
            jump->noise[at] = @zero@;
        }
        if (@name@_dopri5_stages(way, along, run, length, way->t + length) == @name@_OK) {
            excess = excess_of(jump, length);
        } else if (jump->lost == ENDLESS) {
            return @name@_JUMP_NOT_KNOWN;
        }
        if (excess <= @one@) {
            way->t = is_last ? @one@ : way->t + length;
            copy(way->x, way->trial, @name@_STATES);
            copy(way->slope[0], way->slope[6], @name@_STATES);
            for (int at = 0; at < @name@_STATES; at++) {
                jump->added[at] += length * jump->noise[at];
            }
            still(run);
            if (is_last) {
                return @name@_OK;
            }
        } else {
            take_back(jump);
        }
        factor = (real)0.9 * @pow@(larger(excess, (real)1e-10), (real)-0.2);
        /* Where the error is no number, so is the factor. */
        factor = (factor >= (real)0.1) ? factor : (real)0.1;
        length *= (factor < (real)4.0) ? factor : (real)4.0;
        if (length < shortest * larger(way->t, @epsilon@)) {
            break;
        }
    }
    return lose(jump, NO_WAY, 0);
}

/* Both ways. */
static @name@_status go_twice(@name@_run *run) {
    @name@_jump *const jump = &run->jump;
    @name@_status status = go(run, 1);
    copy(jump->other, jump->way.x, @name@_STATES);
    status = (status == @name@_OK) ? go(run, 0) : status;
    measure_kinds(jump);
    for (int at = 0; at < @name@_STATES && status == @name@_OK; at++) {
        if (!(@fabs@(jump->way.x[at] - jump->other[at]) <= same * allowed(jump, at, jump->added[at]))) {
            jump->values[0] = jump->way.x[at];
            jump->values[1] = jump->other[at];
            status = lose(jump, OPEN, at);
        }
    }
    return status;
}

@name@_status @name@_jump_go(@name@_run *run, const @name@_real step[], int is_start) {
    @name@_jump *const jump = &run->jump;
    @name@_status status;
    int order = 0;
    const real tolerance = finer * run->solver.rtol;
    jump->tolerance = (tolerance < coarsest) ? larger(tolerance, finest) : coarsest;
    jump->t = @name@_run_inputs(run, run->t);
    (void)is_start;
    for (int at = 0; at < @name@_INPUTS; at++) {
        order += (step[at] != @zero@);
        jump->order[at] = order;
        jump->step[at] = step[at];
        jump->before[at] = run->held[at];
    }
@if loops@
    jump->is_begun = (is_start == 0 && run->model.is_solved != 0);
    copy(jump->begun, run->model.w, @name@_UNKNOWNS);
    /* What a step does may be of any size. */
    run->model.small = @zero@;
@end@
@if branches@
    run->model.is_frozen = 0;
@end@
    status = go_twice(run);
@if loops@
    run->model.small = @loop_absolute@;
@end@
@if branches@
    if (status == @name@_OK) {
        copy(run->branch.unknowns, run->model.w, @name@_UNKNOWNS);
    }
@end@
    return status;
}

void @name@_jump_cause(const @name@_run *run, char text[], size_t size) {
    const @name@_jump *const jump = &run->jump;
    const char *const state = @name@_state_names[jump->state];
    switch (jump->lost) {
    case ENDLESS:
        (void)snprintf(text, size, "an input steps, and there is no bound of what that adds to `%s`", state);
        break;
    case OPEN:
        (void)snprintf(text, size, "inputs step at once, and `%s` is %g or %g afterwards: that depends on which of them is ahead", state,
            (double)jump->values[0], (double)jump->values[1]);
        break;
    default:
        (void)snprintf(text, size, "an input steps, and the states after that were not found: the laws have no solution on the way there");
        break;
    }
}
