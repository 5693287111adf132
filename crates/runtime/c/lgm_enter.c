/* Entering a combination of modes after an instant: the variables given by the modes step from their previous values, and move the
 * states. */
#include "lgm_events.h"
#include "lgm_numbers.h"
#include "lgm_run.h"

#include <math.h>
#include <string.h>

#if LGM_EVENTS

/* A margin below the first fraction of the magnitude of its terms counts as 0; the states are perturbed by the second fraction to find
 * that magnitude. */
static const real counts = (real)1e-11;
static const real moved = (real)1e-6;
/* A margin has an impulse if a step of the inputs changes it by more than this fraction of its magnitude. */
static const real impulse = (real)1e-9;
/* An impulse counts as none below this fraction of the relative tolerance times the largest impulse of the margin so far. */
static const real faint = (real)0.1;
/* A smaller tolerance does not make impulses more distinct. Positions are known to 1e-11 of their magnitude; a fall from such a height
 * reaches 1e-6 of the largest speed. */
static const real finest_tolerance = (real)1e-6;
/* A value set by a block must be reached to this fraction of the change, which the least squares may leave. */
static const real reached = (real)3e-6;
/* Margins are also evaluated these fractions of the run ahead, to find their directions: the shortest step that shows a direction
 * counts. */
static const real ahead_shares[3] = {(real)1e-12, (real)1e-10, (real)1e-7};
/* A margin that crosses 0 within this fraction of the run counts as 0. Event instants are located to this accuracy, so a margin can keep
 * a remainder that exceeds its round-off in another combination of modes. */
static const real resolved_share = (real)1e-11;

/* The duration of an impulse, as a fraction of the run. */
static const real short_share = (real)1e-10;

lgm_real lgm_modes_short(const lgm_run *run) {
    return lgm_larger(short_share * run->events.whole, (real)1e3 * LGM_EPSILON * lgm_fabs(run->t));
}

static int is_watched(const lgm_run *run, int margin) {
    return lgm_watches[run->model.combination * LGM_ROOM(LGM_MARGINS) + margin];
}

int lgm_modes_is_timed(const lgm_run *run, int margin) {
    return lgm_watches[run->model.combination * LGM_ROOM(LGM_MARGINS) + margin] == 2;
}

void lgm_modes_hold(lgm_run *run, const lgm_real discretes[], const lgm_real offsets[]) {
    for (int at = 0; at < LGM_DISCRETES + LGM_PORTS; at++) {
        const int is_discrete = at < LGM_DISCRETES;
        const int input = is_discrete ? lgm_discrete_inputs[at] : LGM_FIRST_OFFSET + at - LGM_DISCRETES;
        run->is_set[input] = 1;
        run->value[input] = is_discrete ? discretes[at] : offsets[at - LGM_DISCRETES];
        run->rate[input] = (real)0.0;
    }
}

void lgm_modes_before(lgm_run *run, lgm_before *from, int began) {
    const lgm_events *const events = &run->events;
    const int combination = run->model.combination;
    from->combination = combination;
    from->began = began;
    for (int at = 0; at < LGM_STATES; at++) {
        const int kind = LGM_KNOWN_AS(combination, at);
        from->is_known[at] = (kind != 0);
        from->x[at] = (kind == 1) ? run->x[at] : events->watched[at];
    }
    for (int at = 0; at < 2 * LGM_PORTS; at++) {
        from->ports[at] = events->watched[LGM_WATCHED_PORTS + at];
    }
    for (int at = 0; at < LGM_PORTS; at++) {
        from->offsets[at] = events->offsets[at];
    }
    for (int at = 0; at < LGM_DISCRETES; at++) {
        from->discretes[at] = run->value[lgm_discrete_inputs[at]];
        from->old_discretes[at] = from->discretes[at];
    }
    (void)memset(from->is_set, 0, sizeof from->is_set);
    from->has_ports = 1;
    from->inputs_step = 0;
}

/* Evaluates the margins at the current point, and the magnitude below which each counts as 0. */
static lgm_status look(lgm_run *run) {
    lgm_events *const events = &run->events;
    lgm_status status = lgm_events_margins(run, run->t, run->x, NULL, events->margins);
    for (int at = 0; at < LGM_MARGINS; at++) {
        const real size = lgm_fabs(events->margins[at]);
        if (is_watched(run, at) && isfinite(size)) {
            events->sizes[at] = lgm_larger(events->sizes[at], size);
        }
    }
    for (int state = 0; state < LGM_STATES && status == LGM_OK; state++) {
        const real value = run->x[state];
        if (LGM_KNOWN_AS(run->model.combination, state) != 1 || value * ((real)1.0 + moved) == value) {
            continue;
        }
        run->x[state] = value * ((real)1.0 + moved);
        status = lgm_events_margins(run, run->t, run->x, NULL, events->with);
        run->x[state] = value;
        for (int at = 0; at < LGM_MARGINS; at++) {
            const real size = lgm_fabs(events->with[at] - events->margins[at]) / moved;
            if (is_watched(run, at) && isfinite(size)) {
                events->sizes[at] = lgm_larger(events->sizes[at], size);
            }
        }
    }
    for (int at = 0; at < LGM_MARGINS; at++) {
        /* A margin of time, parameters and discrete variables alone has the rounding of time. */
        events->least[at] = lgm_modes_is_timed(run, at) ? LGM_ROUNDING * lgm_fabs(run->t) : counts * events->sizes[at];
        events->signs[at] = events->margins[at];
    }
    return status;
}

int lgm_modes_two_steps(lgm_run *run, lgm_real ahead) {
    lgm_events *const events = &run->events;
    for (int step = 0; step < 2; step++) {
        const real *const x = (step == 0) ? run->x : events->point;
        if (lgm_run_rates(run, run->t + (real)step * ahead, x, events->slope) != LGM_OK) {
            return 0;
        }
        for (int at = 0; at < LGM_STATES; at++) {
            events->point[at] = x[at] + ahead * events->slope[at];
        }
    }
    return 1;
}

/* Returns 1 if a margin is the bound of a change of the modes in force. */
static int is_bound(const lgm_run *run, int margin) {
    for (int element = 0; element < LGM_ELEMENTS; element++) {
        const int mode = LGM_PLACE_IN(run->model.combination, element);
        for (int change = lgm_first_change[mode]; change < lgm_first_change[mode + 1]; change++) {
            if (lgm_change_margins[change] == margin) {
                return 1;
            }
        }
    }
    return 0;
}

/* Gives margins that are 0 the sign of their direction, two steps ahead: a body at rest that accelerates also moves. */
static lgm_status look_ahead(lgm_run *run, const real impulses[]) {
    lgm_events *const events = &run->events;
    const real finest = (real)1e3 * LGM_EPSILON * lgm_fabs(run->t);
    const real resolved = lgm_larger(resolved_share * events->whole, finest);
    /* The change of each margin, for a step long enough that the change is not round-off; and the change per resolved time. */
    real going[LGM_ROOM(LGM_MARGINS)] = {(real)0.0};
    real known[LGM_ROOM(LGM_MARGINS)] = {(real)0.0};
    for (int share = 0; share < 3; share++) {
        const real ahead = lgm_larger(ahead_shares[share] * events->whole, finest);
        int is_open = 0;
        for (int at = 0; at < LGM_MARGINS; at++) {
            const real least = lgm_larger(events->least[at], lgm_fabs(known[at]));
            const int crosses = share == 0 || lgm_fabs(events->margins[at]) <= least;
            is_open = is_open || (is_watched(run, at) && going[at] == (real)0.0 && crosses);
        }
        if (!is_open || lgm_modes_two_steps(run, ahead) == 0) {
            break;
        }
        {
            const real there = run->t + (real)2.0 * ahead;
            const lgm_status status = lgm_events_margins(run, there, events->point, NULL, events->with);
            if (status != LGM_OK) {
                return status;
            }
        }
        for (int at = 0; at < LGM_MARGINS; at++) {
            const real change = events->with[at] - events->margins[at];
            if (is_watched(run, at) && going[at] == (real)0.0) {
                known[at] = change * resolved / ahead;
                going[at] = (lgm_fabs(change) > events->least[at]) ? change : (real)0.0;
            }
        }
    }
    for (int at = 0; at < LGM_MARGINS; at++) {
        const real size = lgm_fabs(events->margins[at]);
        /* A `when` block requires an actual change of sign of its margin. */
        if (size <= lgm_fabs(known[at]) && is_bound(run, at) != 0) {
            events->least[at] = lgm_larger(events->least[at], (real)2.0 * size);
        }
        events->signs[at] = (is_watched(run, at) && size <= events->least[at]) ? going[at] : events->margins[at];
        events->signs[at] = (impulses[at] != (real)0.0) ? impulses[at] : events->signs[at];
    }
    return LGM_OK;
}

lgm_status lgm_modes_stand(lgm_run *run) {
    static const real none[LGM_ROOM(LGM_MARGINS)] = {(real)0.0};
    lgm_events *const events = &run->events;
    lgm_status status = lgm_events_watched(run, run->t, run->x, NULL, events->watched);
    for (int at = 0; at < LGM_PORTS; at++) {
        events->offsets[at] = (real)0.0;
    }
    status = (status == LGM_OK) ? look(run) : status;
    for (int at = 0; at < LGM_MARGINS; at++) {
        events->entered[at] = (real)0.0;
    }
    return (status == LGM_OK) ? look_ahead(run, none) : status;
}

/* Computes the impulses of the margins caused by steps of the inputs. */
static lgm_status find_impulses(lgm_run *run, real impulses[]) {
    static const real still[LGM_ROOM(LGM_INPUTS)] = {(real)0.0};
    lgm_events *const events = &run->events;
    lgm_status status = lgm_events_margins(run, run->t, run->x, events->step, events->with);
    if (status == LGM_OK) {
        status = lgm_events_margins(run, run->t, run->x, still, events->without);
    }
    for (int at = 0; at < LGM_MARGINS; at++) {
        const real size = lgm_larger(lgm_fabs(events->with[at]), lgm_fabs(events->without[at]));
        const real change = events->with[at] - events->without[at];
        impulses[at] = (is_watched(run, at) && lgm_fabs(change) > impulse * size) ? change : (real)0.0;
        events->impulses[at] = lgm_larger(events->impulses[at], lgm_fabs(impulses[at]));
        if (!(lgm_fabs(impulses[at]) > faint * lgm_larger(run->solver.rtol, finest_tolerance) * events->impulses[at])) {
            impulses[at] = (real)0.0;
        }
    }
    return status;
}

/* Returns 1 and the value that a closed change sets at a port, if it sets one. */
static int is_set_there(const lgm_events *events, int element, int port, int given, real *value) {
    const int change = events->closed[element];
    for (int set = (change < 0) ? 0 : lgm_first_set[change]; change >= 0 && set < lgm_first_set[change + 1]; set++) {
        if (lgm_set_ports[set] == port && lgm_set_variables[set] == given) {
            *value = events->set_values[set];
            return 1;
        }
    }
    return 0;
}

/* Computes the offsets with which dependent storage has its own values, if elements with modes connect it to other storage: its initial
 * values and, if a block has set storage, its previous or set values. */
static lgm_status offsets_of_values(lgm_run *run, const lgm_before *from, real offsets[]) {
    lgm_events *const events = &run->events;
    real *const level = events->answers[1];
    real wanted[LGM_ROOM(LGM_STATES)];
    real values[LGM_ROOM(LGM_INPUTS)];
    int are_set[LGM_ROOM(LGM_INPUTS)];
    int states[LGM_ROOM(LGM_STATES)];
    int rows = 0;
    lgm_status status;
    /* Just before the start all inputs are 0, except held ones. */
    for (int at = 0; at < LGM_INPUTS; at++) {
        values[at] = run->value[at];
        are_set[at] = run->is_set[at];
        if (lgm_is_held[at] == 0 && from->has_ports == 0) {
            run->value[at] = (real)0.0;
            run->is_set[at] = 1;
        }
    }
    status = lgm_events_watched(run, run->t, run->x, NULL, level);
    for (int at = 0; at < LGM_STATES; at++) {
        if (LGM_KNOWN_AS(run->model.combination, at) == 2 && from->is_known[at] != 0) {
            wanted[rows] = from->x[at] - level[at];
            states[rows] = at;
            rows++;
        }
    }
    for (int port = 0; port < LGM_PORTS && rows > 0 && status == LGM_OK; port++) {
        offsets[port] = (real)1.0;
        lgm_modes_hold(run, from->discretes, offsets);
        status = lgm_events_watched(run, run->t, run->x, NULL, events->answers[0]);
        for (int row = 0; row < rows; row++) {
            events->joined[row * LGM_PORTS + port] = events->answers[0][states[row]] - level[states[row]];
        }
        offsets[port] = (real)0.0;
    }
    for (int at = 0; at < LGM_INPUTS; at++) {
        if (lgm_is_held[at] == 0) {
            run->value[at] = values[at];
            run->is_set[at] = are_set[at];
        }
    }
    if (rows > 0 && status == LGM_OK) {
        lgm_lemke_least(run, rows, wanted, offsets);
    }
    if (rows > 0 && status == LGM_OK && from->has_ports != 0) {
        /* Values set by a block must be reached exactly; other storage may adjust. */
        lgm_modes_hold(run, from->discretes, offsets);
        status = lgm_events_watched(run, run->t, run->x, NULL, events->answers[0]);
        for (int row = 0; row < rows && status == LGM_OK; row++) {
            const int at = states[row];
            const real left = lgm_fabs(events->answers[0][at] - from->x[at]);
            if (from->is_set[at] != 0 && left > reached * lgm_fabs(wanted[row])) {
                return lgm_events_fail(run, LGM_FAULT_NO_STATE, run->model.combination, at);
            }
        }
    }
    return status;
}

/* Computes the offsets before an instant and after it. */
static void find_offsets(lgm_run *run, const lgm_before *from, int has_sets, real before[], real after[]) {
    const lgm_events *const events = &run->events;
    const int combination = run->model.combination;
    for (int element = 0; element < LGM_ELEMENTS; element++) {
        const int mode = LGM_PLACE_IN(combination, element);
        const int differs = LGM_MODE_IN(from->combination, element) != LGM_MODE_IN(combination, element);
        for (int port = lgm_first_port[element]; port < lgm_first_port[element + 1]; port++) {
            const int given = lgm_given[lgm_first_given[mode] + port - lgm_first_port[element]];
            const real value = events->level[LGM_WATCHED_GIVEN + port];
            real set = (real)0.0;
            if (given < 0 || LGM_IS_REDUNDANT(combination, element) != 0) {
                continue;
            }
            if (from->has_ports != 0 && differs) {
                before[port] = from->ports[2 * port + given] - value;
            } else if (from->offsets[port] != (real)0.0) {
                before[port] = from->offsets[port];
            }
            if (has_sets && is_set_there(events, element, port, given, &set)) {
                after[port] = set - value;
            }
        }
    }
}

lgm_status lgm_modes_enter(lgm_run *run, const lgm_before *from, int combination, int has_sets) {
    lgm_events *const events = &run->events;
    real before[LGM_ROOM(LGM_PORTS)] = {(real)0.0};
    real after[LGM_ROOM(LGM_PORTS)] = {(real)0.0};
    real impulses[LGM_ROOM(LGM_MARGINS)] = {(real)0.0};
    lgm_status status;
    int steps = 0;
    int is_any_set = 0;
    run->model.combination = combination;
    run->from = run->t;
    for (int at = 0; at < LGM_STATES; at++) {
        const int is_state = LGM_KNOWN_AS(combination, at) == 1;
        if (is_state && from->is_known[at] == 0) {
            return lgm_events_fail(run, LGM_FAULT_UNKNOWN_STATE, combination, at);
        }
        run->x[at] = is_state ? from->x[at] : (real)0.0;
    }
    lgm_modes_hold(run, from->discretes, before);
    status = lgm_events_watched(run, run->t, run->x, NULL, events->level);
    for (int at = 0; at < LGM_STATES; at++) {
        is_any_set = is_any_set || from->is_set[at] != 0;
    }
    if (status == LGM_OK && (from->has_ports == 0 || is_any_set)) {
        status = offsets_of_values(run, from, before);
    }
    if (status != LGM_OK) {
        return status;
    }
    find_offsets(run, from, has_sets, before, after);
    lgm_modes_hold(run, from->old_discretes, before);
    lgm_run_hold(run);
    for (int at = 0; at < LGM_INPUTS && from->inputs_step != 0; at++) {
        /* All inputs except held ones. */
        run->held[at] = (lgm_is_held[at] != 0) ? run->held[at] : from->inputs[at];
    }
    lgm_modes_hold(run, from->discretes, after);
    (void)lgm_run_inputs(run, run->t);
    for (int at = 0; at < LGM_INPUTS; at++) {
        events->step[at] = run->u[at] - run->held[at];
        steps += (events->step[at] != (real)0.0);
    }
    if (steps > 0) {
        status = lgm_run_jump(run);
        status = (status == LGM_OK) ? find_impulses(run, impulses) : status;
    }
    for (int at = 0; at < LGM_PORTS; at++) {
        events->offsets[at] = after[at];
    }
    status = (status == LGM_OK) ? lgm_events_watched(run, run->t, run->x, NULL, events->watched) : status;
    status = (status == LGM_OK) ? look(run) : status;
    /* The round-off of an instant also leaves steps: an impulse must exceed what the value gives in its duration. */
    for (int at = 0; at < LGM_MARGINS; at++) {
        const int is_impulse = lgm_fabs(impulses[at]) > lgm_modes_short(run) * lgm_fabs(events->margins[at]);
        impulses[at] = (is_impulse != 0) ? impulses[at] : (real)0.0;
        events->entered[at] = impulses[at];
    }
    return (status == LGM_OK) ? look_ahead(run, impulses) : status;
}

#endif
