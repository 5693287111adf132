/* The run in a combination of modes behind an instant: what the modes give steps from what was before, and moves the states. */
#include "lgm_events.h"
#include "lgm_numbers.h"

#include <math.h>

#if LGM_EVENTS

/* A margin counts as 0 where it is below this share of what its terms are worth; by the other one the states are moved to see that. */
static const real counts = (real)1e-11;
static const real moved = (real)1e-6;
/* A margin carries an impulse where a step of the inputs changes it by more than this share of its size. */
static const real impulse = (real)1e-9;
/* An impulse below this share of the relative tolerance, beside the largest one that the margin has had, is none. */
static const real faint = (real)0.1;
/* A smaller tolerance makes no impulse more distinct: places are known to 1e-11 of their size, and the speed of a fall from such a height
   is 1e-6 of the largest one. */
static const real finest_tolerance = (real)1e-6;
/* So far ahead, as a share of the run, a margin of 0 is looked at. */
static const real ahead_share = (real)1e-7;

static int is_watched(const lgm_run *run, int margin) {
    return lgm_watches[run->model.combination * LGM_ROOM(LGM_MARGINS) + margin];
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
    from->has_ports = 1;
    from->inputs_step = 0;
}

/* The margins where the run is, and how near to 0 each of them counts as 0. */
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
        events->least[at] = counts * events->sizes[at];
        events->signs[at] = events->margins[at];
    }
    return status;
}

/* Margins that are 0 get the sign of where they are going, a short way ahead; twice as far, with the rates there: what is at rest and
 * accelerates moves too. */
static lgm_status look_ahead(lgm_run *run, const real impulses[]) {
    lgm_events *const events = &run->events;
    const real ahead = lgm_larger(ahead_share * events->whole, (real)1e3 * LGM_EPSILON * lgm_fabs(run->t));
    int is_any = 0;
    int undecided[LGM_ROOM(LGM_MARGINS)];
    for (int at = 0; at < LGM_MARGINS; at++) {
        const int is_zero = lgm_fabs(events->margins[at]) <= events->least[at];
        undecided[at] = impulses[at] == (real)0.0 && is_zero && is_watched(run, at);
        events->signs[at] = (impulses[at] != (real)0.0) ? impulses[at] : events->margins[at];
        events->signs[at] = undecided[at] ? (real)0.0 : events->signs[at];
        is_any = is_any || undecided[at];
    }
    if (!is_any || lgm_run_rates(run, run->t, run->x, events->slope) != LGM_OK) {
        return LGM_OK;
    }
    for (int at = 0; at < LGM_STATES; at++) {
        events->point[at] = run->x[at] + ahead * events->slope[at];
    }
    if (lgm_run_rates(run, run->t + ahead, events->point, events->slope) == LGM_OK) {
        for (int at = 0; at < LGM_STATES; at++) {
            events->point[at] += ahead * events->slope[at];
        }
    }
    {
        const lgm_status status =
            lgm_events_margins(run, run->t + (real)2.0 * ahead, events->point, NULL, events->with);
        for (int at = 0; at < LGM_MARGINS && status == LGM_OK; at++) {
            const real change = events->with[at] - events->margins[at];
            if (undecided[at] && lgm_fabs(change) > events->least[at]) {
                events->signs[at] = change;
            }
        }
        return status;
    }
}

lgm_status lgm_modes_stand(lgm_run *run) {
    static const real none[LGM_ROOM(LGM_MARGINS)] = {(real)0.0};
    lgm_events *const events = &run->events;
    lgm_status status = lgm_events_watched(run, run->t, run->x, NULL, events->watched);
    for (int at = 0; at < LGM_PORTS; at++) {
        events->offsets[at] = (real)0.0;
    }
    status = (status == LGM_OK) ? look(run) : status;
    return (status == LGM_OK) ? look_ahead(run, none) : status;
}

/* The impulses of the margins by steps of the inputs. */
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

/* The value that a change that has closed sets at a port, if it does. */
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

/* At the start of a run, the offsets with which dependent storage has its starts, as far as elements with modes join it to other
 * storage. */
static lgm_status offsets_at_start(lgm_run *run, const lgm_before *from, real offsets[]) {
    lgm_events *const events = &run->events;
    real *const level = events->answers[1];
    real wanted[LGM_ROOM(LGM_STATES)];
    real values[LGM_ROOM(LGM_INPUTS)];
    int are_set[LGM_ROOM(LGM_INPUTS)];
    int states[LGM_ROOM(LGM_STATES)];
    int rows = 0;
    lgm_status status;
    /* Just before the start all inputs are 0, but those that are held. */
    for (int at = 0; at < LGM_INPUTS; at++) {
        values[at] = run->value[at];
        are_set[at] = run->is_set[at];
        if (lgm_is_held[at] == 0) {
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
    return status;
}

/* The offsets before an instant and behind it. */
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
            if (given < 0) {
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
    if (status == LGM_OK && from->has_ports == 0) {
        status = offsets_at_start(run, from, before);
    }
    if (status != LGM_OK) {
        return status;
    }
    find_offsets(run, from, has_sets, before, after);
    lgm_modes_hold(run, from->old_discretes, before);
    lgm_run_hold(run);
    for (int at = 0; at < LGM_INPUTS && from->inputs_step != 0; at++) {
        /* All but what is held. */
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
    return (status == LGM_OK) ? look_ahead(run, impulses) : status;
}

#endif
