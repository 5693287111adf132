/* A run from event to event: sampled blocks, `when` blocks whose condition has become true, and changes of modes. */
#include "lgm_branch.h"
#include "lgm_events.h"
#include "lgm_names.h"
#include "lgm_numbers.h"
#include "lgm_run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if LGM_EVENTS

static real higher(real a, real b) {
    return (a > b) ? a : b;
}

static real lower(real a, real b) {
    return (a < b) ? a : b;
}

#include "lgm_changes.h"

/* The fraction of the run that counts as almost no time: physical events do not occur this often. */
static const real no_time = (real)1e-5;

/* A scale below the first value means that no magnitude is known. The second value is the scale of a state without a known magnitude, as
 * a fraction of its expected magnitude. */
static const real unknown_scale = (real)1e-30;
static const real unseen = (real)1e-3;

int lgm_events_holds(int condition, const lgm_real margins[]) {
    return system_condition(condition, margins);
}

int lgm_events_keeps(lgm_run *run, int block, int held, const lgm_real margins[]) {
    lgm_events *const events = &run->events;
    if (system_condition(LGM_CHANGES + block, margins)) {
        return 1;
    }
    for (int at = 0; at < LGM_MARGINS && held != 0; at++) {
        events->on_side[at] = (lgm_fabs(margins[at]) > (real)0.0) ? margins[at] : events->last[at];
    }
    return held != 0 && system_condition(LGM_CHANGES + block, events->on_side);
}

void lgm_events_remember(lgm_run *run, const lgm_real margins[]) {
    for (int at = 0; at < LGM_MARGINS; at++) {
        if (lgm_fabs(margins[at]) > (real)0.0) {
            run->events.last[at] = margins[at];
        }
    }
}

/* Moves to a point at which a function of the model is evaluated, with the loops solved there. */
static lgm_status go_to(lgm_run *run, real t, const real x[], real *inside) {
#if LGM_BRANCHES
    lgm_branch_recall(run, t);
#endif
    *inside = lgm_run_inputs(run, t);
#if LGM_UNKNOWNS
    return lgm_rates(&run->model, *inside, x, run->u, run->du, run->probe);
#else
    (void)x;
    return LGM_OK;
#endif
}

lgm_status lgm_events_margins(lgm_run *run, lgm_real t, const lgm_real x[], const lgm_real du[], lgm_real margins[]) {
    real inside;
    const lgm_status status = go_to(run, t, x, &inside);
    if (status == LGM_OK) {
        system_margins(&run->model, inside, x, run->u, (du != NULL) ? du : run->du, LGM_UNKNOWNS_OF(&run->model), margins);
    }
    return status;
}

lgm_status lgm_events_watched(lgm_run *run, lgm_real t, const lgm_real x[], const lgm_real du[], lgm_real watched[]) {
    real inside;
    const lgm_status status = go_to(run, t, x, &inside);
    if (status == LGM_OK) {
        system_watched(&run->model, inside, x, run->u, (du != NULL) ? du : run->du, LGM_UNKNOWNS_OF(&run->model), watched);
    }
    return status;
}

lgm_real lgm_events_assigned(lgm_run *run, lgm_real t, int assignment) {
    lgm_events *const events = &run->events;
    real value[1] = {(real)0.0};
    system_assigned(&run->model, assignment, t, events->watched + LGM_WATCHED_READ, run->u, events->temporaries, value);
    return value[0];
}

lgm_status lgm_events_fail(lgm_run *run, int fault, int combination, int at) {
    run->events.fault = fault;
    run->events.fault_combination = combination;
    run->events.fault_at = at;
    return LGM_EVENT_NOT_KNOWN;
}

/* Returns a time with fewer decimal digits if it differs only by the round-off of its computation. */
static real plain(real time, real size) {
    const double digits = 14.0 - floor(log10((wide)size));
    double whole, rounded;
    if (!(digits >= 0.0 && digits <= 290.0)) {
        return time;
    }
    whole = round((wide)time * pow(10.0, digits));
    if (digits <= 22.0) {
        rounded = whole / pow(10.0, digits);
    } else {
        char text[64];
        (void)snprintf(text, sizeof text, "%.0fe-%d", whole, (int)digits);
        rounded = strtod(text, NULL);
    }
    return (fabs(rounded - (wide)time) <= 2.0 * (wide)LGM_EPSILON * (wide)size) ? (narrow)rounded : time;
}

/* Returns an instant of a block, computed from its number to avoid accumulated round-off. */
static real instant_of(int block, real number) {
    real time;
    real size;
    if (lgm_periods[block] <= (real)0.0) {
        return LGM_INFINITE;
    }
    time = lgm_firsts[block] + number * lgm_periods[block];
    size = higher(lgm_fabs(time), lgm_fabs(lgm_firsts[block]));
    return plain(time, size);
}

lgm_real lgm_events_next(const lgm_run *run) {
    return (run->events.is_due != 0) ? run->t : run->events.instant;
}

static void find_instant(lgm_run *run) {
    real first = LGM_INFINITE;
    for (int block = 0; block < LGM_BLOCKS; block++) {
        first = lower(instant_of(block, run->events.next[block]), first);
    }
    run->events.instant = first;
}

/* Returns the margins at the current point. A margin within its round-off is 0; one that depends on time alone counts as it does just after
 * this instant. */
static const real *margins_now(lgm_run *run) {
    lgm_events *const events = &run->events;
    for (int at = 0; at < LGM_MARGINS; at++) {
        const real zero = lgm_modes_is_timed(run, at) ? events->signs[at] : (real)0.0;
        events->with[at] = (lgm_fabs(events->margins[at]) <= events->least[at]) ? zero : events->margins[at];
    }
    return events->with;
}

/* Returns true if the condition of a block holds at the start: a condition of time that is false there becomes true even if it is true
 * just after it. */
static int holds_at_start(lgm_run *run, int block) {
    lgm_events *const events = &run->events;
    (void)margins_now(run);
    for (int at = 0; at < LGM_MARGINS; at++) {
        events->with[at] = lgm_modes_is_timed(run, at) ? events->margins[at] : events->with[at];
    }
    return lgm_events_holds(LGM_CHANGES + block, events->with);
}

/* Returns true if the condition of a block holds at the current point and not only slightly later, or has held and is not left yet. */
static int keeps(lgm_run *run, int block, int held) {
    return lgm_events_keeps(run, block, held, margins_now(run));
}

/* Executes the assignments of a block; a sampled one reads the time of its own instant. */
static lgm_status assign(lgm_run *run, int block) {
    lgm_events *const events = &run->events;
    const real t = lower(instant_of(block, events->next[block] - (real)1.0), run->t);
    for (int at = lgm_first_assignment[block]; at < lgm_first_assignment[block + 1]; at++) {
        const real value = lgm_events_assigned(run, t, at);
        const int place = lgm_target_places[at];
        if (!isfinite(value)) {
            return lgm_events_fail(run, LGM_FAULT_NO_VALUE, run->model.combination, block);
        }
        switch (lgm_target_kinds[at]) {
        case 0:
            events->from.discretes[place] = value;
            run->u[lgm_discrete_inputs[place]] = value;
            break;
        case 1:
            events->temporaries[place] = value;
            break;
        default:
            if (LGM_KNOWN_AS(run->model.combination, place) == 0) {
                return lgm_events_fail(run, LGM_FAULT_NO_STATE, run->model.combination, place);
            }
            events->from.x[place] = value;
            events->from.is_set[place] = 1;
            break;
        }
    }
    return LGM_OK;
}

/* Gives ports the values that follow from the storage set by blocks: a switch that closes at the same instant connects the set values. */
static void follow_sets(lgm_run *run) {
    lgm_events *const events = &run->events;
    lgm_before set = events->from;
    int is_any = 0;
    for (int at = 0; at < LGM_STATES; at++) {
        is_any |= set.is_set[at];
    }
    for (int at = 0; at < LGM_DISCRETES; at++) {
        set.discretes[at] = set.old_discretes[at];
    }
    /* Modes that contradict the set values give way, and their ports keep the previous ones. */
    if (is_any != 0 && lgm_modes_enter(run, &set, set.combination, 0) == LGM_OK) {
        for (int at = 0; at < 2 * LGM_PORTS; at++) {
            events->from.ports[at] = events->watched[LGM_WATCHED_PORTS + at];
        }
    }
}

/* Runs the marked blocks in source order, and then finds the modes. */
static lgm_status run_blocks(lgm_run *run) {
    lgm_events *const events = &run->events;
    lgm_status status = LGM_OK;
    lgm_modes_before(run, &events->from, run->model.combination);
    (void)lgm_run_inputs(run, run->t);
    for (int block = 0; block < LGM_BLOCKS && status == LGM_OK; block++) {
        const lgm_event event = {-1, 0, 0, block};
        if (events->is_run[block] == 0) {
            continue;
        }
        status = assign(run, block);
        if (events->happenings < LGM_REPORTED) {
            events->happened[events->happenings] = event;
        }
        events->happenings++;
    }
    if (status != LGM_OK) {
        return status;
    }
    follow_sets(run);
    return lgm_modes_settle(run);
}

/* Marks the blocks whose condition has become true, and returns their number. */
static int find_became(lgm_run *run) {
    lgm_events *const events = &run->events;
    int count = 0;
    for (int block = 0; block < LGM_BLOCKS; block++) {
        const int holds = keeps(run, block, events->holding[block]);
        events->is_run[block] = holds && events->holding[block] == 0;
        events->holding[block] = holds;
        count += events->is_run[block];
    }
    lgm_events_remember(run, margins_now(run));
    return count;
}

static int has_become(lgm_run *run) {
    for (int block = 0; block < LGM_BLOCKS; block++) {
        if (run->events.holding[block] == 0 && keeps(run, block, 0)) {
            return 1;
        }
    }
    return 0;
}

/* Performs all events at the current point, until no event follows. */
static lgm_status happen(lgm_run *run) {
    lgm_events *const events = &run->events;
    lgm_status status = LGM_OK;
    int due = 0;
    for (int block = 0; block < LGM_BLOCKS; block++) {
        events->is_run[block] = instant_of(block, events->next[block]) <= run->t;
        events->next[block] += (real)events->is_run[block];
        due += events->is_run[block];
    }
    find_instant(run);
    if (due > 0) {
        status = run_blocks(run);
    }
    for (int round = 0; round < LGM_MOST_AT_ONCE && status == LGM_OK; round++) {
        if (find_became(run) == 0) {
            const int combination = run->model.combination;
            lgm_modes_before(run, &events->from, combination);
            status = lgm_modes_settle(run);
            if (status == LGM_OK && run->model.combination == combination && !has_become(run)) {
                return LGM_OK;
            }
            continue;
        }
        status = run_blocks(run);
        /* The side given by the event, at any distance: a ball that bounces ever more softly has left the floor each time. */
        for (int block = 0; block < LGM_BLOCKS && status == LGM_OK; block++) {
            if (events->is_run[block] != 0) {
                events->holding[block] = lgm_events_holds(LGM_CHANGES + block, events->margins) || keeps(run, block, 0);
            }
        }
    }
    return (status == LGM_OK) ? lgm_events_fail(run, LGM_FAULT_BLOCKS_ACCUMULATE, run->model.combination, 0) : status;
}

/* Starts to watch the conditions after an event; returns 1 if one acts immediately. */
static int is_at_once(lgm_run *run) {
    run->events.is_due = lgm_watch_begin(run);
    return run->events.is_due;
}

/* Ends a run whose events accumulate. */
static lgm_status mind_accumulation(lgm_run *run) {
    lgm_events *const events = &run->events;
    const long place = events->count % LGM_MOST_AT_ONCE;
    if (events->count >= LGM_MOST_AT_ONCE && run->t - events->recent[place] < no_time * events->whole) {
        return lgm_events_fail(run, LGM_FAULT_ACCUMULATE, run->model.combination, 0);
    }
    events->recent[place] = run->t;
    events->count++;
    return LGM_OK;
}

static int is_unknown(const lgm_dopri5 *solver, int at) {
    return lgm_state_scales[at] >= (real)0.0 && lgm_state_scales[at] <= unknown_scale && solver->seen[at] <= unknown_scale;
}

/* Gives a scale to a state that begins to move in new modes and has been zero so far: that of other states of its kind; without any, the
 * value that it reaches with its initial rate. */
static void give_scales(lgm_run *run) {
    lgm_events *const events = &run->events;
    lgm_dopri5 *const solver = &run->solver;
    int are_any = 0;
    for (int at = 0; at < LGM_STATES; at++) {
        const real size = lgm_fabs(run->x[at]);
        solver->seen[at] = (size > solver->seen[at]) ? size : solver->seen[at];
        are_any = are_any || is_unknown(solver, at);
    }
    if (!are_any || solver->atol > (real)0.0 || lgm_run_rates(run, run->t, run->x, events->slope) != LGM_OK) {
        return;
    }
    for (int at = 0; at < LGM_STATES; at++) {
        real expected = lgm_fabs(events->slope[at]) * (run->horizon - run->t);
        if (!is_unknown(solver, at)) {
            continue;
        }
        for (int other = 0; other < LGM_STATES; other++) {
            if (lgm_state_kinds[other] == lgm_state_kinds[at] && solver->seen[other] > expected) {
                expected = solver->seen[other];
            }
        }
        events->point[at] = unseen * expected;
    }
    for (int at = 0; at < LGM_STATES; at++) {
        if (is_unknown(solver, at) && isfinite(events->point[at])) {
            solver->seen[at] = events->point[at];
        }
    }
}

/* Performs all events at the current point, after those already performed. */
static lgm_status go_through(lgm_run *run) {
    lgm_events *const events = &run->events;
    lgm_status status;
    do {
        events->is_due = 0;
        status = mind_accumulation(run);
        status = (status == LGM_OK) ? lgm_modes_stand(run) : status;
        status = (status == LGM_OK) ? happen(run) : status;
    } while (status == LGM_OK && is_at_once(run));
    give_scales(run);
    return status;
}

lgm_status lgm_events_pass(lgm_run *run) {
    run->events.happenings = 0;
    return go_through(run);
}

lgm_status lgm_events_arrive(lgm_run *run) {
    lgm_events *const events = &run->events;
    real now[LGM_ROOM(LGM_INPUTS)];
    lgm_status status;
    for (int at = 0; at < LGM_INPUTS; at++) {
        now[at] = run->value[at];
        if (lgm_is_held[at] == 0 && run->is_set[at] != 0 && run->is_line == 0) {
            run->value[at] = run->held[at];
        }
    }
    status = lgm_events_watched(run, run->t, run->x, NULL, events->watched);
    for (int at = 0; at < LGM_PORTS; at++) {
        events->offsets[at] = (real)0.0;
    }
    lgm_modes_before(run, &events->from, run->model.combination);
    for (int at = 0; at < LGM_INPUTS; at++) {
        run->value[at] = now[at];
    }
    return status;
}

/* Applies the steps of inputs: the modes after them are found together with the resulting states. */
static lgm_status step_inputs(lgm_run *run) {
    lgm_events *const events = &run->events;
    real step[LGM_ROOM(LGM_INPUTS)];
    lgm_status status = LGM_OK;
    if (lgm_run_steps(run, step) > 0) {
        events->from.inputs_step = 1;
        for (int at = 0; at < LGM_INPUTS; at++) {
            events->from.inputs[at] = run->u[at] - step[at];
        }
        status = lgm_modes_settle(run);
        give_scales(run);
    }
    return status;
}

lgm_status lgm_events_begin(lgm_run *run) {
    lgm_events *const events = &run->events;
    lgm_status status;
    (void)memset(events, 0, sizeof *events);
    events->whole = run->horizon - run->start;
    run->model.combination = LGM_FIRST_COMBINATION;
    for (int at = 0; at < LGM_INPUTS; at++) {
        run->is_set[at] = (lgm_is_held[at] != 0) ? 0 : run->is_set[at];
    }
    (void)lgm_run_inputs(run, run->t);
    events->from.combination = LGM_FIRST_COMBINATION;
    events->from.began = LGM_FIRST_COMBINATION;
    events->from.inputs_step = 1;
    for (int at = 0; at < LGM_DISCRETES; at++) {
        events->from.discretes[at] = run->u[lgm_discrete_inputs[at]];
        events->from.old_discretes[at] = events->from.discretes[at];
    }
    for (int at = 0; at < LGM_STATES; at++) {
        events->from.x[at] = run->x[at];
        events->from.is_known[at] = lgm_start_known[at];
    }
    for (int block = 0; block < LGM_BLOCKS; block++) {
        if (lgm_periods[block] > (real)0.0) {
            const real passed = (run->t - lgm_firsts[block]) / lgm_periods[block] - (real)1e-9;
            events->next[block] = (passed > (real)0.0) ? lgm_ceil(passed) : (real)0.0;
        }
    }
    status = lgm_modes_settle(run);
    for (int block = 0; block < LGM_BLOCKS && status == LGM_OK; block++) {
        events->holding[block] = holds_at_start(run, block);
        if (lgm_periods[block] < (real)0.0) {
            for (int other = 0; other < LGM_BLOCKS; other++) {
                events->is_run[other] = (other == block);
            }
            status = run_blocks(run);
        }
    }
    status = (status == LGM_OK) ? happen(run) : status;
    status = (status == LGM_OK && is_at_once(run)) ? go_through(run) : status;
    give_scales(run);
    return status;
}

lgm_status lgm_events_corner(lgm_run *run) {
    int is_timed = 0;
    lgm_status status;
    run->events.happenings = 0;
    status = step_inputs(run);
    for (int at = 0; at < LGM_MARGINS; at++) {
        is_timed = is_timed || lgm_modes_is_timed(run, at);
    }
    if (status == LGM_OK && is_timed) {
        status = lgm_modes_stand(run);
    }
    if (status == LGM_OK && (lgm_events_next(run) <= run->t || is_at_once(run))) {
        status = go_through(run);
    }
    return status;
}

void lgm_events_row(lgm_run *run, lgm_real t, const lgm_real x[], lgm_real row[]) {
    lgm_events *const events = &run->events;
    int are_dependent = 0;
    for (int at = 0; at < LGM_STATES; at++) {
        row[at] = x[at];
        are_dependent = are_dependent || LGM_KNOWN_AS(run->model.combination, at) != 1;
    }
    if (are_dependent && lgm_events_watched(run, t, x, NULL, events->level) == LGM_OK) {
        for (int at = 0; at < LGM_STATES; at++) {
            const int kind = LGM_KNOWN_AS(run->model.combination, at);
            row[at] = (kind == 1) ? x[at] : ((kind == 2) ? events->level[at] : (real)NAN);
        }
    }
}

void lgm_events_indicators(lgm_run *run, lgm_real values[]) {
    lgm_events *const events = &run->events;
    (void)lgm_events_margins(run, run->t, run->x, NULL, events->with);
    for (int element = 0; element < LGM_ELEMENTS; element++) {
        const int mode = LGM_PLACE_IN(run->model.combination, element);
        values[element] = LGM_INFINITE;
        for (int change = lgm_first_change[mode]; change < lgm_first_change[mode + 1]; change++) {
            const real own = system_indicator(change, events->with, events->least);
            values[element] = lower(own, values[element]);
        }
        /* A mode without an exit. */
        values[element] = (values[element] < LGM_INFINITE) ? values[element] : (real)1.0;
    }
    for (int block = 0; block < LGM_BLOCKS; block++) {
        values[LGM_ELEMENTS + block] = system_indicator(LGM_CHANGES + block, events->with, events->least);
    }
}

/* Appends the description of a combination to a text: d1 conducting, d2 blocking. */
static void write_modes(int combination, char text[], size_t size) {
    for (int element = 0; element < LGM_ELEMENTS; element++) {
        const size_t length = strlen(text);
        (void)snprintf(text + length, size - length, "%s%s %s", (element > 0) ? ", " : "", lgm_element_names[element],
            lgm_mode_names[LGM_PLACE_IN(combination, element)]);
    }
}

void lgm_events_cause(const lgm_run *run, char text[], size_t size) {
    const lgm_events *const events = &run->events;
    const int at = events->fault_at;
    const int recorded = (events->happenings < LGM_REPORTED) ? events->happenings : LGM_REPORTED;
    const lgm_event *const event = &events->happened[(recorded > 0) ? recorded - 1 : 0];
    const char *const latest = (event->element < 0) ? lgm_block_names[event->block] : lgm_element_names[event->element];
    switch (events->fault) {
    case LGM_FAULT_NO_EQUATIONS:
        (void)snprintf(text, size, "the modes contradict each other: %s; active there: ", lgm_conflicts[events->fault_combination]);
        write_modes(events->fault_combination, text, size);
        break;
    case LGM_FAULT_NOT_HELD:
        (void)snprintf(text, size, "the next combination of modes is not part of this program: ");
        write_modes(events->fault_combination, text, size);
        break;
    case LGM_FAULT_CIRCLE:
    case LGM_FAULT_TOO_MANY:
        (void)snprintf(text, size, "no consistent modes were found after: ");
        write_modes(events->fault_combination, text, size);
        break;
    case LGM_FAULT_UNKNOWN_STATE:
        (void)snprintf(text, size, "the value of `%s` just before the event is unknown", lgm_state_names[at]);
        break;
    case LGM_FAULT_NO_STATE:
        (void)snprintf(text, size, "`%s` is not a state in these modes, so it cannot be set: ", lgm_state_names[at]);
        write_modes(events->fault_combination, text, size);
        break;
    case LGM_FAULT_NO_VALUE:
        (void)snprintf(text, size, "an assignment of the block %s has no finite value", lgm_block_names[at]);
        break;
    case LGM_FAULT_BLOCKS_ACCUMULATE:
        (void)snprintf(text, size, "blocks trigger each other endlessly at one instant, the latest is %s", latest);
        break;
    default:
        (void)snprintf(text, size, "events accumulate: more than %d of them in almost no time, the latest is %s", (int)LGM_MOST_AT_ONCE,
            latest);
        break;
    }
}

#endif
