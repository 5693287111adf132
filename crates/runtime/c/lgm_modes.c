/* Transitions at an instant: the modes in force after it, and the states there.
 *
 * During the search, impulses take precedence over finite values in conditions, and states jump only in the final combination. A value
 * set by a change moves the states immediately, and stays whichever mode follows.
 */
#include "lgm_events.h"
#include "lgm_numbers.h"
#include "lgm_run.h"

#include <string.h>

#if LGM_EVENTS

enum {
    /* The maximum number of successive changes at one instant. */
    MOST_ROUNDS = 1000,
    /* The maximum number of combinations searched if changes form a cycle. */
    MOST_SEARCHED = 4096,
    /* The maximum number of elements whose modes are changed in pairs during the search. */
    MOST_PAIRED = 24
};

/* Returns the combination of these modes, or -1 if it is not part of the program. */
static int combination_of(const int modes[]) {
    for (int at = 0; at < LGM_COMBINATIONS; at++) {
        if (memcmp(modes, lgm_modes_of + at * LGM_ROOM(LGM_ELEMENTS), (size_t)LGM_ELEMENTS * sizeof modes[0]) == 0) {
            return at;
        }
    }
    return -1;
}

static void modes_of(int combination, int modes[]) {
    for (int element = 0; element < LGM_ELEMENTS; element++) {
        modes[element] = LGM_MODE_IN(combination, element);
    }
}

static int has_sets(int change) {
    return lgm_first_set[change] < lgm_first_set[change + 1];
}

/* Finds the acting changes, the first one of each element; returns the number of those that set nothing, and the total number. */
static int find_acting(lgm_run *run, int *count) {
    lgm_events *const events = &run->events;
    int others = 0;
    *count = 0;
    for (int element = 0; element < LGM_ELEMENTS; element++) {
        const int mode = LGM_PLACE_IN(run->model.combination, element);
        events->acting[element] = -1;
        for (int change = lgm_first_change[mode]; change < lgm_first_change[mode + 1]; change++) {
            if (lgm_events_holds(change, events->signs)) {
                events->acting[element] = change;
                (*count)++;
                others += !has_sets(change);
                break;
            }
        }
    }
    return others;
}

/* Closes the contacts that act now, together with those that closed earlier at this instant. The new values of a contact that closes
 * again follow those set before. */
static void close_contacts(lgm_run *run, int modes[]) {
    lgm_events *const events = &run->events;
    for (int element = 0; element < LGM_ELEMENTS; element++) {
        const int change = events->acting[element];
        if (change >= 0 && has_sets(change) && events->closed[element] >= 0) {
            for (int other = 0; other < LGM_ELEMENTS; other++) {
                events->closed[other] = -1;
            }
            events->has_base = 0;
            events->is_offered = 0;
            break;
        }
    }
    if (events->has_base == 0) {
        events->base = events->from;
        events->has_base = 1;
    }
    for (int element = 0; element < LGM_ELEMENTS; element++) {
        int change = events->acting[element];
        const real *values = events->watched;
        if (change < 0 || !has_sets(change)) {
            continue;
        }
        if (events->is_offered != 0) {
            const int mode = LGM_PLACE_IN(events->offered_in, element);
            const int to = lgm_change_to[change];
            for (int other = lgm_first_change[mode]; other < lgm_first_change[mode + 1]; other++) {
                if (lgm_change_to[other] == to && has_sets(other)) {
                    change = other;
                    values = events->offered;
                }
            }
        }
        for (int set = lgm_first_set[change]; set < lgm_first_set[change + 1]; set++) {
            events->set_values[set] = values[LGM_WATCHED_SETS + set];
        }
        events->closed[element] = change;
        if (events->first_closed[element] < 0) {
            events->first_closed[element] = lgm_change_to[change];
        }
    }
    for (int element = 0; element < LGM_ELEMENTS; element++) {
        if (events->closed[element] >= 0) {
            modes[element] = lgm_change_to[events->closed[element]];
        }
    }
}

static void note(lgm_events *events, int element, int from, int to) {
    const lgm_event event = {element, from, to, -1};
    if (events->happenings < LGM_REPORTED) {
        events->happened[events->happenings] = event;
    }
    events->happenings++;
}

/* Reports the changes of this instant. An element that has closed and reopened has changed twice. */
static void note_changes(lgm_run *run) {
    lgm_events *const events = &run->events;
    for (int element = 0; element < LGM_ELEMENTS; element++) {
        const int closed = events->first_closed[element];
        const int to = LGM_MODE_IN(run->model.combination, element);
        int from = LGM_MODE_IN(events->from.began, element);
        if (closed >= 0 && closed != from) {
            note(events, element, from, closed);
            from = closed;
        }
        if (from != to) {
            note(events, element, from, to);
        }
    }
}

/* Enters a combination that has equations; returns 0 if it has none, and -1 if it is not part of the program. */
static int try_modes(lgm_run *run, int modes[], lgm_status *status) {
    const int combination = combination_of(modes);
    if (combination < 0) {
        *status = lgm_events_fail(run, LGM_FAULT_NOT_HELD, run->model.combination, 0);
        return -1;
    }
    if (lgm_has_equations[combination] == 0) {
        return 0;
    }
    *status = lgm_modes_enter(run, &run->events.from, combination, 0);
    /* A combination in which a state has no rate is invalid. */
    return *status != LGM_OK || lgm_run_rates(run, run->t, run->x, run->events.slope) == LGM_OK;
}

static int count_of(int element) {
    return lgm_first_mode[element + 1] - lgm_first_mode[element];
}

/* Returns 1 if a change of an element may be tried without its condition, because the element always leaves a wrong mode. */
static int is_free(int element, int from, int to) {
    const int mode = lgm_first_mode[element] + from;
    int found = 0;
    for (int change = lgm_first_change[mode]; change < lgm_first_change[mode + 1]; change++) {
        found |= lgm_change_to[change] == to && lgm_change_is_free[change] != 0;
    }
    return found;
}

/* Returns 1 if an element may be tried in another mode, reached by one or two changes. */
static int may_try(int element, int from, int to) {
    int found = is_free(element, from, to);
    for (int mode = 0; mode < count_of(element); mode++) {
        found |= is_free(element, from, mode) && is_free(element, mode, to);
    }
    return found;
}

/* Enters the nearest modes that have equations, with one or two elements in other modes that may be tried; returns 0 if there are none. */
static int try_nearest(lgm_run *run, int modes[], int both_count, lgm_status *status) {
    int nearest[LGM_ROOM(LGM_ELEMENTS)];
    const int paired = (LGM_ELEMENTS < MOST_PAIRED) ? LGM_ELEMENTS : MOST_PAIRED;
    (void)memcpy(nearest, modes, sizeof nearest);
    for (int first = 0; first < ((both_count == 1) ? LGM_ELEMENTS : paired); first++) {
        for (int second = first + 1; second < ((both_count == 1) ? first + 2 : paired); second++) {
            const int others = (both_count == 1) ? 1 : count_of(second);
            for (int both = 0; both < count_of(first) * others; both++) {
                int free = may_try(first, modes[first], both / others);
                nearest[first] = both / others;
                if (both_count == 2) {
                    nearest[second] = both % others;
                    free = free && may_try(second, modes[second], nearest[second]);
                }
                if (nearest[first] != modes[first] && (both_count == 1 || nearest[second] != modes[second]) &&
                    free && try_modes(run, nearest, status) != 0) {
                    (void)memcpy(modes, nearest, sizeof nearest);
                    return 1;
                }
            }
            if (both_count == 2) {
                nearest[second] = modes[second];
            }
        }
        nearest[first] = modes[first];
    }
    return 0;
}

/* Enters these modes or, if they have no equations, the nearest ones that have, with at most `most` elements in other modes. */
static lgm_status enter_nearest(lgm_run *run, int modes[], int most) {
    lgm_status status = LGM_OK;
    if (try_modes(run, modes, &status) != 0) {
        return status;
    }
    for (int count = 1; count <= most && count <= LGM_ELEMENTS; count++) {
        if (try_nearest(run, modes, count, &status) != 0) {
            return status;
        }
    }
    return lgm_events_fail(run, LGM_FAULT_NO_EQUATIONS, combination_of(modes), 0);
}

/* No consistent modes exist. Contradictory modes are more informative than a cycle. */
static lgm_status fail_search(lgm_run *run, int fault) {
    for (int at = 0; at < LGM_COMBINATIONS; at++) {
        if (run->events.visited[at] != 0 && lgm_has_equations[at] == 0) {
            return lgm_events_fail(run, LGM_FAULT_NO_EQUATIONS, at, 0);
        }
    }
    return lgm_events_fail(run, fault, run->events.from.began, 0);
}

/* Returns 1 if each element was in its mode before the instant or in a tried combination, or may be tried in it. */
static int are_founded(const lgm_events *events, const int modes[]) {
    for (int element = 0; element < LGM_ELEMENTS; element++) {
        int is_founded = 0;
        for (int at = 0; at < LGM_COMBINATIONS && is_founded == 0; at++) {
            if (events->visited[at] != 0 || at == events->from.combination) {
                const int from = LGM_MODE_IN(at, element);
                is_founded = from == modes[element] || may_try(element, from, modes[element]);
            }
        }
        if (is_founded == 0) {
            return 0;
        }
    }
    return 1;
}

/* Searches the combinations of the acting elements for one in which at most contacts act. */
static lgm_status search(lgm_run *run, int modes[]) {
    lgm_events *const events = &run->events;
    lgm_status status = LGM_OK;
    int is_open[LGM_ROOM(LGM_ELEMENTS)];
    double possible = 1.0;
    int count = 0;
    for (int element = 0; element < LGM_ELEMENTS; element++) {
        possible *= (double)count_of(element);
    }
    for (int element = 0; element < LGM_ELEMENTS; element++) {
        /* Every element whose mode was changed in the search is open; all elements are, if that is not too many. */
        const int change = events->acting[element];
        is_open[element] = (change >= 0 && !has_sets(change)) || possible <= (double)MOST_SEARCHED;
        for (int other = 0; other < LGM_COMBINATIONS && is_open[element] == 0; other++) {
            is_open[element] = events->visited[other] != 0 &&
                               LGM_MODE_IN(other, element) != LGM_MODE_IN(events->from.combination, element);
        }
    }
    possible = 1.0;
    for (int element = 0; element < LGM_ELEMENTS; element++) {
        possible *= (is_open[element] != 0) ? (double)count_of(element) : 1.0;
    }
    for (int index = 0; index < MOST_SEARCHED && (double)index < possible && status == LGM_OK; index++) {
        int rest = index;
        for (int element = 0; element < LGM_ELEMENTS; element++) {
            if (is_open[element] != 0) {
                modes[element] = rest % count_of(element);
                rest /= count_of(element);
            }
        }
        if (are_founded(events, modes) && try_modes(run, modes, &status) > 0 && status == LGM_OK &&
            find_acting(run, &count) == 0) {
            return LGM_OK;
        }
    }
    if (status != LGM_OK) {
        return status;
    }
    return fail_search(run, (possible > (double)MOST_SEARCHED) ? LGM_FAULT_TOO_MANY : LGM_FAULT_CIRCLE);
}

/* Performs all acting changes that set nothing, or only the first one; returns 1 if this leads to a combination that was not tried yet. */
static int take_changes(lgm_run *run, int modes[], int is_first_alone) {
    lgm_events *const events = &run->events;
    int combination;
    for (int element = 0; element < LGM_ELEMENTS; element++) {
        if (events->acting[element] >= 0 && !has_sets(events->acting[element])) {
            modes[element] = lgm_change_to[events->acting[element]];
            if (is_first_alone) {
                break;
            }
        }
    }
    combination = combination_of(modes);
    if (combination < 0) {
        return 1;
    }
    if (events->visited[combination] != 0) {
        return 0;
    }
    events->visited[combination] = 1;
    return 1;
}

/* Performs the changes that act by an impulse on a bound; returns 0 if there are none. */
static int pull(const lgm_run *run, int modes[]) {
    const lgm_events *const events = &run->events;
    int is_any = 0;
    for (int element = 0; element < LGM_ELEMENTS; element++) {
        const int mode = LGM_PLACE_IN(run->model.combination, element);
        for (int change = lgm_first_change[mode]; change < lgm_first_change[mode + 1]; change++) {
            const int at = lgm_change_margins[change];
            if (at >= 0 && events->entered[at] != (real)0.0 && !has_sets(change) && lgm_events_holds(change, events->signs) != 0) {
                modes[element] = lgm_change_to[change];
                is_any = 1;
                break;
            }
        }
    }
    return is_any;
}

/* Lets acting contacts set their values, each computed from the values just before the instant. */
static lgm_status settle_contacts(lgm_run *run, int modes[]) {
    lgm_events *const events = &run->events;
    const int began = events->from.began;
    close_contacts(run, modes);
    /* Contacts at which an impulse would pull open. */
    for (int round = 0; round <= LGM_ELEMENTS && (round == 0 || pull(run, modes) != 0); round++) {
        const int combination = combination_of(modes);
        lgm_status status;
        if (combination < 0) {
            return lgm_events_fail(run, LGM_FAULT_NOT_HELD, run->model.combination, 0);
        }
        if (lgm_has_equations[combination] == 0) {
            return lgm_events_fail(run, LGM_FAULT_NO_EQUATIONS, combination, 0);
        }
        status = lgm_modes_enter(run, &events->base, combination, 1);
        if (status != LGM_OK) {
            return status;
        }
    }
    lgm_modes_before(run, &events->from, began);
    (void)memset(events->visited, 0, sizeof events->visited);
    events->visited[run->model.combination] = 1;
    return lgm_modes_enter(run, &events->from, run->model.combination, 0);
}

static void forget_contacts(lgm_run *run) {
    lgm_events *const events = &run->events;
    for (int at = 0; at < LGM_WATCHED; at++) {
        events->offered[at] = events->watched[at];
    }
    events->is_offered = 1;
    events->offered_in = run->model.combination;
    events->has_base = 0;
    for (int element = 0; element < LGM_ELEMENTS; element++) {
        events->closed[element] = -1;
        events->first_closed[element] = -1;
    }
}

/* Counts bounds that are exceeded here, and hold again after the step of the problem, as reached; returns 0 if there are none. */
static int keep_bounds(lgm_run *run) {
    lgm_events *const events = &run->events;
    int is_any = 0;
    for (int element = 0; element < LGM_ELEMENTS; element++) {
        const int mode = LGM_PLACE_IN(run->model.combination, element);
        /* The bound of a redundant element is not part of the problem. */
        const int is_bounded = LGM_IS_REDUNDANT(run->model.combination, element) == 0;
        for (int change = lgm_first_change[mode]; is_bounded && change < lgm_first_change[mode + 1]; change++) {
            const int at = lgm_change_margins[change];
            const int has_sets = lgm_first_set[change] < lgm_first_set[change + 1];
            /* A condition that already holds at the bound does not depend on the side. */
            if (at >= 0 && !has_sets && events->signs[at] != (real)0.0 && lgm_events_holds(change, events->signs) != 0) {
                events->least[at] = lgm_larger(events->least[at], (real)2.0 * lgm_fabs(events->margins[at]));
                events->signs[at] = (lgm_change_is_positive[change] != 0) ? -LGM_LEAST : LGM_LEAST;
                is_any = is_any || lgm_events_holds(change, events->signs) == 0;
            }
        }
    }
    return is_any;
}

/* Enters a combination that was not tried yet; returns 0 if it was, or has no equations. */
static int enter_new(lgm_run *run, int combination, int modes[], lgm_status *status) {
    lgm_events *const events = &run->events;
    if (events->visited[combination] != 0) {
        return 0;
    }
    events->visited[combination] = 1;
    if (lgm_has_equations[combination] == 0) {
        return 0;
    }
    modes_of(combination, modes);
    *status = lgm_modes_enter(run, &events->from, combination, 0);
    return 1;
}

/* Enters the modes in which no bound is exceeded; returns 0 if nothing follows from them, and whether they contradict each other. The
 * modes of a jump are not always those after it: an element that the jump has brought to a bound may leave it immediately. */
static int solve_modes(lgm_run *run, int modes[], int *is_solved, int *is_contradictory, lgm_status *status) {
    lgm_events *const events = &run->events;
    const int was_solved = *is_solved;
    const int here = run->model.combination;
    int solved[LGM_ROOM(LGM_ELEMENTS)];
    int combination;
    lgm_outcome outcome;
    *is_solved = 0;
    modes_of(here, solved);
    outcome = lgm_lemke_modes(run, events->from.discretes, solved);
    if (outcome != LGM_SOLVED) {
        *is_contradictory = outcome == LGM_UNSOLVABLE && here == events->from.combination;
        return 0;
    }
    combination = combination_of(solved);
    if (combination < 0) {
        *status = lgm_events_fail(run, LGM_FAULT_NOT_HELD, here, 0);
        return 1;
    }
    if (combination == here) {
        return keep_bounds(run);
    }
    *is_solved = enter_new(run, combination, modes, status);
    if (*is_solved || !was_solved || pull(run, solved) != 0) {
        return *is_solved;
    }
    lgm_modes_before(run, &events->from, events->from.began);
    (void)memset(events->visited, 0, sizeof events->visited);
    events->visited[here] = 1;
    return enter_new(run, combination, modes, status);
}

/* Enters a combination and finds the changes that act there; returns their number, or -1 if it cannot be entered. */
static int count_acting(lgm_run *run, int combination, lgm_status *status) {
    int count = -1;
    if (combination < 0 || lgm_has_equations[combination] == 0) {
        return count;
    }
    *status = lgm_modes_enter(run, &run->events.from, combination, 0);
    if (*status == LGM_OK && lgm_run_rates(run, run->t, run->x, run->events.slope) == LGM_OK) {
        (void)find_acting(run, &count);
    }
    return count;
}

/* Returns 1 if an element returns from its mode to another one, as a diode does, once its free variable exceeds a bound. A thyristor
 * without its gate does not return; dry friction that slides may also stick, if it sticks up to a larger force. */
static int returns(const lgm_events *events, int own, int to) {
    int found = 0;
    for (int change = lgm_first_change[own]; change < lgm_first_change[own + 1]; change++) {
        found |= lgm_change_to[change] == to && lgm_change_far[change] < 0 && lgm_lemke_holds_beyond(events, change) != 0;
    }
    return found;
}

/* Keeps elements in their former modes if a search has made them leave these needlessly, and they do not return. From the former modes,
 * only elements that act change to the modes found. Returns 0 if the run is not left in a combination in which no change acts. */
static int keep_former(lgm_run *run, const int found[], lgm_status *status) {
    lgm_events *const events = &run->events;
    int between[LGM_ROOM(LGM_ELEMENTS)] = {0};
    int left[LGM_ROOM(LGM_ELEMENTS)] = {0};
    int changed = 0;
    int keeps = 0;
    modes_of(events->from.combination, between);
    for (int element = 0; element < LGM_ELEMENTS; element++) {
        if (between[element] != found[element]) {
            left[element] = !returns(events, lgm_first_mode[element] + found[element], between[element]);
            keeps |= left[element];
            changed++;
        }
    }
    keeps = keeps && changed > 1;
    while (keeps != 0 && *status == LGM_OK) {
        const int count = count_acting(run, combination_of(between), status);
        int moves = 0;
        if (count <= 0) {
            return count == 0;
        }
        keeps = 0;
        for (int element = 0; element < LGM_ELEMENTS; element++) {
            if (events->acting[element] >= 0 && between[element] != found[element]) {
                between[element] = found[element];
                moves = 1;
            }
            keeps |= left[element] != 0 && between[element] != found[element];
        }
        keeps &= moves;
    }
    return 0;
}

/* Lets all elements stick that slide at rest, because others hold them: together they hold more. Returns 0 as `keep_former` does. */
static int stick(lgm_run *run, const int found[], lgm_status *status) {
    const lgm_events *const events = &run->events;
    int stuck[LGM_ROOM(LGM_ELEMENTS)] = {0};
    int is_any = 0;
    for (int element = 0; element < LGM_ELEMENTS; element++) {
        const int own = lgm_first_mode[element] + found[element];
        stuck[element] = found[element];
        for (int change = lgm_first_change[own]; change < lgm_first_change[own + 1]; change++) {
            const int at = lgm_change_margins[change];
            const int far = LGM_WATCHED_LAWS + lgm_first_mode[element] + lgm_change_far[change];
            if (at >= 0 && lgm_change_far[change] >= 0 && !(lgm_fabs(events->signs[at]) > (real)0.0) &&
                lgm_fabs(events->watched[far] - events->watched[LGM_WATCHED_LAWS + own]) > (real)0.0) {
                stuck[element] = lgm_change_to[change];
                is_any = 1;
                break;
            }
        }
    }
    return is_any && count_acting(run, combination_of(stuck), status) == 0;
}

/* Lets elements keep their former modes (step 0) and stick (step 1), if no change acts then. */
static lgm_status improve(lgm_run *run, int first_step) {
    lgm_events *const events = &run->events;
    lgm_status status = LGM_OK;
    for (int step = first_step; step < 2 && status == LGM_OK; step++) {
        const int here = run->model.combination;
        real signs[LGM_ROOM(LGM_MARGINS)];
        real least[LGM_ROOM(LGM_MARGINS)];
        int found[LGM_ROOM(LGM_ELEMENTS)] = {0};
        int is_better;
        modes_of(here, found);
        (void)memcpy(signs, events->signs, sizeof signs);
        (void)memcpy(least, events->least, sizeof least);
        is_better = (step == 0) ? keep_former(run, found, &status) : stick(run, found, &status);
        if (is_better == 0 && status == LGM_OK && run->model.combination != here) {
            status = lgm_modes_enter(run, &events->from, here, 0);
            (void)memcpy(events->signs, signs, sizeof signs);
            (void)memcpy(events->least, least, sizeof least);
        }
    }
    return status;
}

lgm_status lgm_modes_settle(lgm_run *run) {
    lgm_events *const events = &run->events;
    int modes[LGM_ROOM(LGM_ELEMENTS)] = {0};
    int kept[LGM_ROOM(LGM_ELEMENTS)] = {0};
    int one_by_one = 0;
    int is_solved = 0;
    lgm_status status;
    modes_of(events->from.combination, modes);
    status = enter_nearest(run, modes, 2);
    forget_contacts(run);
    (void)memset(events->visited, 0, sizeof events->visited);
    events->visited[run->model.combination] = 1;
    if (status == LGM_OK) {
        status = improve(run, 1);
        modes_of(run->model.combination, modes);
    }
    for (int round = 0; round < MOST_ROUNDS && status == LGM_OK; round++) {
        int count = 0;
        int is_contradictory = 0;
        const int others = find_acting(run, &count);
        if (count == 0) {
            status = improve(run, 0);
            note_changes(run);
            return status;
        }
        /* During the search, an invalid mode may transmit an impulse and thus close a contact; all other changes therefore come first. */
        if (others == 0) {
            status = settle_contacts(run, modes);
            continue;
        }
        if (!one_by_one && solve_modes(run, modes, &is_solved, &is_contradictory, &status)) {
            continue;
        }
        (void)memcpy(kept, modes, sizeof kept);
        if (!take_changes(run, modes, one_by_one)) {
            int is_tried = one_by_one;
            if (!one_by_one) {
                /* All changes at once lead to a cycle: from here on only the first one is performed. */
                one_by_one = 1;
                (void)memcpy(modes, kept, sizeof kept);
                is_tried = !take_changes(run, modes, 1);
            }
            if (is_tried) {
                status = search(run, modes);
                continue;
            }
        }
        /* No modes near contradictory ones are a solution: two thyristors that short a source do not block. */
        status = enter_nearest(run, modes, is_contradictory ? 0 : 2);
        if (status == LGM_EVENT_NOT_KNOWN && events->fault == LGM_FAULT_NO_EQUATIONS && one_by_one == 0 && is_contradictory == 0) {
            /* Many diodes that conduct at once, as in a bridge of five phases, short its sources. */
            one_by_one = 1;
            (void)memcpy(modes, kept, sizeof kept);
            status = lgm_modes_enter(run, &events->from, combination_of(modes), 0);
        }
    }
    return (status == LGM_OK) ? fail_search(run, LGM_FAULT_CIRCLE) : status;
}

#endif
