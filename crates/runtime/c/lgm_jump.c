/* The change of the states caused by a step of the inputs. */
#include "lgm_jump.h"
#include "lgm_names.h"
#include "lgm_numbers.h"
#include "lgm_run.h"

#include <math.h>
#include <stdio.h>

#if LGM_JUMPS

/* The reasons why the states after the steps are unknown: the equations could not be evaluated on the path, or their solution ends
 * there; a state would move without bound; the result depends on the path of the inputs. */
enum { NO_WAY, ENDLESS, OPEN };

/* The slopes of the ramps, in steps per second. If loops have no solution with the fastest ramps, slower ones are tried. */
static const real rates[3] = {(real)1.1805916207174113e21, (real)34359738368.0, (real)1.0};
/* The factor between two sets of rates, which reveals proportional growth; not a power of two, so that round-off shows. */
static const real faster = (real)3.0;
/* The accuracy of proportionality to the rates. */
static const real in_proportion = LGM_JUMP_IN_PROPORTION;
/* Bounded effects lose more than this fraction if the rates grow by the factor above; a square root keeps 0.58. */
static const real limited = (real)0.9;
/* Unbounded effects grow by more than this factor if the rates grow by the factor above. */
static const real growing = (real)1.5;
/* A state that moves by more than this multiple of the largest state of its kind moves without bound. */
static const real endless = (real)1e9;
/* The tolerance along the path, as a fraction of that of the run; its maximum and its minimum. */
static const real finer = (real)1e-2;
static const real coarsest = LGM_JUMP_COARSEST;
static const real finest = LGM_JUMP_FINEST;
/* The ends of two paths are equal within this many tolerances. */
static const real same = LGM_JUMP_SAME;
/* The smallest significant value of a state, as a fraction of the largest one of its kind. */
static const real of_kind = (real)1e-9;
/* The allowed error of a state, in units of the round-off of its slope differences. */
static const real roughness = (real)100.0;
/* The first part of the path, and the shortest one. */
static const real first_part = (real)(1.0 / 64.0);
static const real shortest = (real)1e-14;

/* Computes the inputs and their rates at a fraction of the path. On the second path, every other input is ahead. */
static void inputs_at(lgm_jump *jump, real share) {
    for (int at = 0; at < LGM_INPUTS; at++) {
        real done = share;
        real rate = (real)1.0;
        if (jump->is_bent != 0 && jump->order[at] % 2 == 0) {
            done = (real)0.5 * (share + share * share);
            rate = (real)0.5 + share;
        } else if (jump->is_bent != 0) {
            done = (real)0.5 * share * ((real)3.0 - share);
            rate = (real)1.5 - share;
        }
        jump->u[at] = jump->before[at] + done * jump->step[at];
        jump->du[at] = rate * jump->step[at];
    }
}

/* Computes the right-hand sides at a point with a multiple of the rates of the path; the loops start from their last solution with these
 * rates. */
static lgm_status evaluate(lgm_run *run, int with, const real x[], real factor, real right[]) {
    lgm_jump *const jump = &run->jump;
    lgm_status status;
    (void)with;
    for (int at = 0; at < LGM_INPUTS; at++) {
        jump->fast_du[at] = factor * jump->du[at];
    }
#if LGM_UNKNOWNS
    lgm_copy(run->model.w, jump->unknowns[with], LGM_UNKNOWNS);
    run->model.is_solved = 1;
#endif
    status = lgm_finite_rates(&run->model, jump->t, x, jump->u, jump->fast_du, right);
#if LGM_UNKNOWNS
    if (status == LGM_OK) {
        lgm_copy(jump->unknowns[with], run->model.w, LGM_UNKNOWNS);
    }
#endif
    return status;
}

static lgm_status lose(lgm_jump *jump, int why, int state) {
    jump->lost = why;
    jump->state = state;
    return LGM_JUMP_NOT_KNOWN;
}

/* Records the magnitude of a state, and whether it is the largest of its kind. */
static void note_size(lgm_jump *jump, int at, real size) {
    jump->largest[lgm_state_kinds[at]] = lgm_larger(jump->largest[lgm_state_kinds[at]], size);
}

/* Finds the largest magnitude of each kind so far. */
static void measure_kinds(lgm_jump *jump) {
    for (int at = 0; at < LGM_STATES; at++) {
        jump->largest[at] = (real)0.0;
    }
    for (int at = 0; at < LGM_STATES; at++) {
        note_size(jump, at, jump->sizes[at]);
    }
}

/* The growth of the right-hand sides of a state with slower and faster rates, for the step of a rate, and the round-off of the latter. */
typedef struct {
    real slow;
    real fast;
    real rounding;
} slopes;

static slopes slopes_of(const lgm_jump *jump, int at) {
    const real rate = rates[jump->rate];
    const real slower = faster * rate;
    const real fastest = faster * faster * rate;
    slopes found;
    found.slow = (jump->right[1][at] - jump->right[0][at]) / (slower - rate);
    found.fast = (jump->right[2][at] - jump->right[1][at]) / (fastest - slower);
    found.rounding = LGM_EPSILON * lgm_fabs(jump->right[2][at]) / slower;
    return found;
}

static int is_proportional(slopes found) {
    return lgm_fabs(found.fast - found.slow) <= in_proportion * lgm_fabs(found.fast) + (real)4.0 * found.rounding;
}

/* Computes the limits of the slopes of all states, with their round-off. */
static lgm_status limit(lgm_jump *jump, real dx[], real noise[]) {
    real most = (real)0.0;
    measure_kinds(jump);
    for (int at = 0; at < LGM_STATES; at++) {
        const slopes found = slopes_of(jump, at);
        if (is_proportional(found)) {
            note_size(jump, at, lgm_fabs(found.fast));
        }
        most = lgm_larger(most, jump->largest[lgm_state_kinds[at]]);
    }
    for (int at = 0; at < LGM_STATES; at++) {
        const slopes found = slopes_of(jump, at);
        const real apart = lgm_fabs(found.fast - found.slow);
        const real size = (jump->largest[lgm_state_kinds[at]] > (real)0.0) ? jump->largest[lgm_state_kinds[at]] : most;
        dx[at] = (real)0.0;
        if (is_proportional(found)) {
            dx[at] = found.fast;
            noise[at] = lgm_larger(noise[at], (apart < found.rounding) ? apart : found.rounding);
            continue;
        }
        if (lgm_fabs(found.fast) > growing * lgm_fabs(found.slow) && lgm_fabs(found.fast) > endless * size) {
            return lose(jump, (jump->rate == 0) ? ENDLESS : NO_WAY, at);
        }
        /* Slow ramps do not reveal the limit. */
        if (jump->rate > 0) {
            return lose(jump, NO_WAY, at);
        }
        if (lgm_fabs(found.fast) > limited * lgm_fabs(found.slow)) {
            dx[at] = found.fast;
            noise[at] = lgm_larger(noise[at], apart);
        }
    }
    return LGM_OK;
}

/* Computes the derivative of the states with respect to the fraction of the path. */
static lgm_status slope(lgm_run *run, real share, const real x[], real dx[], real noise[]) {
    lgm_jump *const jump = &run->jump;
    real factor = rates[jump->rate];
    inputs_at(jump, share);
    for (int with = 0; with < 3; with++) {
        if (evaluate(run, with, x, factor, jump->right[with]) != LGM_OK) {
            return lose(jump, NO_WAY, 0);
        }
        factor *= faster;
    }
    return limit(jump, dx, noise);
}

static lgm_status along(void *context, real share, const real x[], real dx[]) {
    lgm_run *const run = (lgm_run *)context;
    return slope(run, share, x, dx, run->jump.noise);
}

/* Solves the loops on the path without an impulse, and leaves them solved. */
static void still(lgm_run *run) {
    lgm_jump *const jump = &run->jump;
    inputs_at(jump, jump->way.t);
    /* A missing value also shows with the rates, or does not matter. */
    (void)evaluate(run, 3, jump->way.x, (real)0.0, jump->right[0]);
}

/* Computes the slope at the start of the path, with the fastest rates for which one exists. Before a run, when all inputs are 0, the
 * unknowns of the loops are closer to 0 than to their values after the steps. */
static lgm_status begin(lgm_run *run) {
    lgm_jump *const jump = &run->jump;
    lgm_dopri5 *const way = &jump->way;
    int why = NO_WAY;
    int state = 0;
    for (jump->rate = 0; jump->rate < 3; jump->rate++) {
#if LGM_UNKNOWNS
        /* The last solution of the loops, and their initial guesses; -1 represents the former. */
        const int first = (jump->is_begun != 0) ? -1 : 0;
        const int last = (jump->is_begun != 0) ? 0 : 5;
        for (int guess = first; guess < last; guess++) {
            for (int with = 0; with < 4; with++) {
                lgm_copy(jump->unknowns[with], (guess < 0) ? jump->begun : lgm_loop_guesses + guess * LGM_UNKNOWNS, LGM_UNKNOWNS);
            }
#else
        {
#endif
            still(run);
            for (int at = 0; at < LGM_STATES; at++) {
                jump->noise[at] = (real)0.0;
            }
            if (slope(run, (real)0.0, way->x, way->slope[0], jump->noise) == LGM_OK) {
                return LGM_OK;
            }
            if (jump->lost != NO_WAY) {
                why = jump->lost;
                state = jump->state;
            }
        }
    }
    return lose(jump, why, state);
}

/* Returns the allowed error of a state to which round-off may add this much; the largest magnitude of each kind must be known. */
static real allowed_error(const lgm_jump *jump, int at, real noise) {
    const real size = lgm_larger(jump->sizes[at], of_kind * jump->largest[lgm_state_kinds[at]]);
    return jump->tolerance * size + roughness * noise + LGM_LEAST;
}

/* Returns the error of the tried part, relative to the allowed error. */
static real excess_of(lgm_jump *jump, real length) {
    const lgm_dopri5 *const way = &jump->way;
    real excess = (real)0.0;
    for (int at = 0; at < LGM_STATES; at++) {
        jump->sizes[at] = lgm_larger(jump->sizes[at], lgm_fabs(way->trial[at]));
        for (int stage = 0; stage < 7; stage++) {
            jump->sizes[at] = lgm_larger(jump->sizes[at], lgm_fabs(length * way->slope[stage][at]));
        }
    }
    measure_kinds(jump);
    for (int at = 0; at < LGM_STATES; at++) {
        /* The effect of slope round-off on the state is proportional to the length of the part. */
        const real share = lgm_dopri5_difference(way, length, at) / allowed_error(jump, at, length * jump->noise[at]);
        /* NaN counts as too large. */
        excess = (share <= excess) ? excess : share;
    }
    return excess;
}

/* Saves the data that a failed part may overwrite; take_back restores them. */
static void keep(lgm_jump *jump) {
    lgm_copy(jump->sizes_before, jump->sizes, LGM_STATES);
#if LGM_UNKNOWNS
    for (int with = 0; with < 4; with++) {
        lgm_copy(jump->unknowns_before[with], jump->unknowns[with], LGM_UNKNOWNS);
    }
#endif
}

static void take_back(lgm_jump *jump) {
    lgm_copy(jump->sizes, jump->sizes_before, LGM_STATES);
#if LGM_UNKNOWNS
    for (int with = 0; with < 4; with++) {
        lgm_copy(jump->unknowns[with], jump->unknowns_before[with], LGM_UNKNOWNS);
    }
#endif
}

/* Follows the whole path; the states at its end are in jump->way.x. */
static lgm_status go(lgm_run *run, int is_bent) {
    lgm_jump *const jump = &run->jump;
    lgm_dopri5 *const way = &jump->way;
    real length = first_part;
    jump->is_bent = is_bent;
    way->t = (real)0.0;
    lgm_copy(way->x, run->x, LGM_STATES);
    for (int at = 0; at < LGM_STATES; at++) {
        jump->sizes[at] = lgm_fabs(run->x[at]);
    }
    if (begin(run) != LGM_OK) {
        return LGM_JUMP_NOT_KNOWN;
    }
    for (int at = 0; at < LGM_STATES; at++) {
        jump->added[at] = (real)0.0;
    }
    for (int part = 0; part < LGM_JUMP_PARTS; part++) {
        real excess = LGM_INFINITE;
        real factor;
        const int is_last = length >= (real)1.0 - way->t;
        length = is_last ? (real)1.0 - way->t : length;
        keep(jump);
        for (int at = 0; at < LGM_STATES; at++) {
            jump->noise[at] = (real)0.0;
        }
        if (lgm_dopri5_stages(way, along, run, length, way->t + length) == LGM_OK) {
            excess = excess_of(jump, length);
        } else if (jump->lost == ENDLESS) {
            return LGM_JUMP_NOT_KNOWN;
        }
        if (excess <= (real)1.0) {
            way->t = is_last ? (real)1.0 : way->t + length;
            lgm_copy(way->x, way->trial, LGM_STATES);
            lgm_copy(way->slope[0], way->slope[6], LGM_STATES);
            for (int at = 0; at < LGM_STATES; at++) {
                jump->added[at] += length * jump->noise[at];
            }
            still(run);
            if (is_last) {
                return LGM_OK;
            }
        } else {
            take_back(jump);
        }
        factor = (real)0.9 * lgm_pow(lgm_larger(excess, (real)1e-10), (real)-0.2);
        /* If the error is NaN, so is the factor. */
        factor = (factor >= (real)0.1) ? factor : (real)0.1;
        length *= (factor < (real)4.0) ? factor : (real)4.0;
        if (length < shortest * lgm_larger(way->t, LGM_EPSILON)) {
            break;
        }
    }
    return lose(jump, NO_WAY, 0);
}

/* Follows both paths. */
static lgm_status go_twice(lgm_run *run) {
    lgm_jump *const jump = &run->jump;
    lgm_status status = go(run, 1);
    lgm_copy(jump->other, jump->way.x, LGM_STATES);
    status = (status == LGM_OK) ? go(run, 0) : status;
    measure_kinds(jump);
    for (int at = 0; at < LGM_STATES && status == LGM_OK; at++) {
        if (!(lgm_fabs(jump->way.x[at] - jump->other[at]) <= same * allowed_error(jump, at, jump->added[at]))) {
            jump->values[0] = jump->way.x[at];
            jump->values[1] = jump->other[at];
            status = lose(jump, OPEN, at);
        }
    }
    return status;
}

lgm_status lgm_jump_go(lgm_run *run, const lgm_real step[], int is_start) {
    lgm_jump *const jump = &run->jump;
    lgm_status status;
    int order = 0;
    const real tolerance = finer * run->solver.rtol;
    jump->tolerance = (tolerance < coarsest) ? lgm_larger(tolerance, finest) : coarsest;
    jump->t = lgm_run_inputs(run, run->t);
    (void)is_start;
    for (int at = 0; at < LGM_INPUTS; at++) {
        order += (step[at] != (real)0.0);
        jump->order[at] = order;
        jump->step[at] = step[at];
        jump->before[at] = run->held[at];
    }
#if LGM_UNKNOWNS
    jump->is_begun = (is_start == 0 && run->model.is_solved != 0);
    lgm_copy(jump->begun, run->model.w, LGM_UNKNOWNS);
    /* The effect of a step may have any magnitude. */
    run->model.small = (real)0.0;
#endif
#if LGM_BRANCHES
    run->model.is_frozen = 0;
#endif
    status = go_twice(run);
#if LGM_UNKNOWNS
    run->model.small = LGM_LOOP_ABSOLUTE;
#endif
#if LGM_BRANCHES
    if (status == LGM_OK) {
        lgm_copy(run->branch.unknowns, run->model.w, LGM_UNKNOWNS);
    }
#endif
    return status;
}

void lgm_jump_cause(const lgm_run *run, char text[], size_t size) {
    const lgm_jump *const jump = &run->jump;
    const char *const state = lgm_state_names[jump->state];
    switch (jump->lost) {
    case ENDLESS:
        (void)snprintf(text, size, "an input steps, and the resulting change of `%s` is unbounded", state);
        break;
    case OPEN:
        (void)snprintf(text, size, "inputs step simultaneously, and `%s` becomes %g or %g, depending on which is first", state,
            (wide)jump->values[0], (wide)jump->values[1]);
        break;
    default:
        (void)snprintf(text, size, "an input steps, and the states after the step were not found: the laws have no solution on the way");
        break;
    }
}

#endif
