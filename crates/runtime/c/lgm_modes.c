/* Transitions at an instant: the modes in force behind it, and the states there.
 *
 * In the search conditions read impulses before finite values, and states jump only in the combination that is found. A value that a
 * change sets moves the states at once, and stays whatever mode follows.
 */
#include "lgm_events.h"
#include "lgm_numbers.h"

#include <string.h>

#if LGM_EVENTS

enum {
    /* Changes follow each other at one instant this number of times at most. */
    MOST_ROUNDS = 1000,
    /* If changes lead in a circle, at most this number of combinations is looked through. */
    MOST_SEARCHED = 4096,
    /* Of the elements, so many have their modes changed two by two in the search. */
    MOST_PAIRED = 24
};

/* The combination of these modes, or -1 if the program does not hold it. */
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

/* The changes that act, the first one of each element; how many of them set nothing, and how many there are. */
static int find_acting(lgm_run *run, int *count) {
    lgm_events *const events = &run->events;
    int others = 0;
    *count = 0;
    for (int element = 0; element < LGM_ELEMENTS; element++) {
        const int mode = LGM_PLACE_IN(run->model.combination, element);
        events->acting[element] = -1;
        if (events->wanted[element] > 0) {
            continue;
        }
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

/* Closes contacts that act now, together with those that closed at this instant before. One that closes again comes after what was set
 * before. */
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

/* Reports the changes of this instant. An element that has closed and opened again has changed twice. */
static void note_changes(lgm_run *run) {
    lgm_events *const events = &run->events;
    for (int element = 0; element < LGM_ELEMENTS; element++) {
        const int closed = events->first_closed[element];
        int to = LGM_MODE_IN(run->model.combination, element);
        int from = LGM_MODE_IN(events->from.began, element);
        /* Events leave out assumed modes. */
        to = (events->wanted[element] > 0) ? events->wanted[element] - 1 : to;
        from = (events->wanted_before[element] > 0) ? events->wanted_before[element] - 1 : from;
        if (closed >= 0 && closed != from) {
            note(events, element, from, closed);
            from = closed;
        }
        if (from != to) {
            note(events, element, from, to);
        }
    }
}

/* A combination that has equations is entered; 0 where there are none, and -1 where the program does not hold it. */
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
    return 1;
}

static int count_of(int element) {
    return lgm_first_mode[element + 1] - lgm_first_mode[element];
}

/* 1 if a change of an element may be tried without its condition, since a mode that is wrong is left by itself. */
static int is_free(int element, int from, int to) {
    const int mode = lgm_first_mode[element] + from;
    int found = 0;
    for (int change = lgm_first_change[mode]; change < lgm_first_change[mode + 1]; change++) {
        found |= lgm_change_to[change] == to && lgm_change_is_free[change] != 0;
    }
    return found;
}

/* 1 if an element may be tried in a mode instead of another one, by one change or by two. */
static int may_try(int element, int from, int to) {
    int found = is_free(element, from, to);
    for (int mode = 0; mode < count_of(element); mode++) {
        found |= is_free(element, from, mode) && is_free(element, mode, to);
    }
    return found;
}

/* Takes the nearest modes; those that were wanted in the places of assumed ones are kept. */
static void assume(lgm_events *events, int modes[], const int nearest[]) {
    for (int element = 0; element < LGM_ELEMENTS; element++) {
        if (nearest[element] != modes[element] && !may_try(element, modes[element], nearest[element])) {
            events->wanted[element] = modes[element] + 1;
        }
        modes[element] = nearest[element];
    }
}

/* The nearest modes that have equations, with one element in another mode than it is wanted in, or two; 0 where there are none. */
static int try_nearest(lgm_run *run, int modes[], int both_count, int are_free, lgm_status *status) {
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
                    free == are_free && try_modes(run, nearest, status) != 0) {
                    assume(&run->events, modes, nearest);
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

/* The run in these modes; where they have no equations, in the nearest ones that have. Modes that elements may be tried in come first.
 * Others are assumed, and the modes in their places are kept. */
static lgm_status enter_nearest(lgm_run *run, int modes[]) {
    lgm_status status = LGM_OK;
    if (try_modes(run, modes, &status) != 0) {
        return status;
    }
    for (int count = 1; count <= 2; count++) {
        for (int are_free = 1; are_free >= 0; are_free--) {
            if (try_nearest(run, modes, count, are_free, &status) != 0) {
                return status;
            }
        }
    }
    return lgm_events_fail(run, LGM_FAULT_NO_EQUATIONS, combination_of(modes), 0);
}

/* 1 if no change leaves a mode of an element without variables of its ports. */
static int may_stay(int element, int mode) {
    const int place = lgm_first_mode[element] + mode;
    for (int change = lgm_first_change[place]; change < lgm_first_change[place + 1]; change++) {
        if (lgm_change_asks_ports[change] == 0) {
            return 0;
        }
    }
    return 1;
}

/* 1 if effort and flow of the ports of an element are zero beside the largest of the values of ports and states. */
static int is_idle(const lgm_run *run, int element) {
    const lgm_events *const events = &run->events;
    real own = (real)0.0;
    real most = (real)0.0;
    for (int at = 0; at < LGM_STATES; at++) {
        most = (lgm_fabs(events->watched[at]) < LGM_INFINITE) ? lgm_larger(most, lgm_fabs(events->watched[at])) : most;
    }
    for (int at = 0; at < 2 * LGM_PORTS; at++) {
        const real size = lgm_fabs(events->watched[LGM_WATCHED_PORTS + at]);
        const int is_own = at / 2 >= lgm_first_port[element] && at / 2 < lgm_first_port[element + 1];
        most = lgm_larger(most, size);
        own = is_own ? lgm_larger(own, size) : own;
    }
    return own <= (real)1e-6 * most;
}

/* Puts the elements whose modes were assumed back into the modes that were wanted, one after the other: the others may have changed so
 * that these have equations now. 1 if an element stays there. Where these have none, the assumed mode stands in if nothing can flow;
 * else it is a fault, since it is no answer, as that of a relay that is shut without its coil. */
static int put_back(lgm_run *run, int modes[], lgm_status *status) {
    lgm_events *const events = &run->events;
    for (int element = 0; element < LGM_ELEMENTS; element++) {
        const int assumed = modes[element];
        const int mode = events->wanted[element] - 1;
        int found;
        int count = 0;
        events->wanted[element] = 0;
        if (mode < 0 || mode == assumed) {
            continue;
        }
        modes[element] = mode;
        found = try_modes(run, modes, status);
        if (*status != LGM_OK) {
            return 1;
        }
        if (found != 0) {
            (void)find_acting(run, &count);
            if (events->acting[element] < 0 || lgm_change_to[events->acting[element]] != assumed) {
                events->visited[run->model.combination] = 1;
                return 1;
            }
        }
        modes[element] = assumed;
        (void)try_modes(run, modes, status);
        if (found == 0 && (may_stay(element, mode) == 0 || is_idle(run, element) == 0)) {
            modes[element] = mode;
            *status = lgm_events_fail(run, LGM_FAULT_NO_EQUATIONS, combination_of(modes), 0);
        }
        if (*status != LGM_OK) {
            return 1;
        }
        events->wanted[element] = (found == 0) ? mode + 1 : 0;
    }
    return 0;
}

/* No modes agree. Modes that contradict each other say more than a circle does. */
static lgm_status fail_search(lgm_run *run, int fault) {
    for (int at = 0; at < LGM_COMBINATIONS; at++) {
        if (run->events.visited[at] != 0 && lgm_has_equations[at] == 0) {
            return lgm_events_fail(run, LGM_FAULT_NO_EQUATIONS, at, 0);
        }
    }
    return lgm_events_fail(run, fault, run->events.from.began, 0);
}

/* 1 if each element was in its mode before the instant or in a combination that was tried, or may be tried in it. */
static int are_founded(const lgm_events *events, const int modes[]) {
    for (int element = 0; element < LGM_ELEMENTS; element++) {
        int is_founded = 0;
        for (int at = 0; at < LGM_COMBINATIONS && is_founded == 0; at++) {
            if (events->visited[at] != 0 || at == events->from.combination) {
                const int before = (at == events->from.combination) ? events->wanted_before[element] : 0;
                const int from = (before > 0) ? before - 1 : LGM_MODE_IN(at, element);
                is_founded = from == modes[element] || may_try(element, from, modes[element]);
            }
        }
        if (is_founded == 0) {
            return 0;
        }
    }
    return 1;
}

/* The combinations of the elements that act, looked through one after the other for one in which contacts act at most. */
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
        /* Every element whose mode was changed in the search is open, and all if that is not too much. */
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

/* Takes all changes that act and set nothing, or the first one alone; 1 if that leads to a combination that was not tried yet. */
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

/* Contacts that act set their values, each by the values just before the instant. */
static lgm_status settle_contacts(lgm_run *run, int modes[]) {
    lgm_events *const events = &run->events;
    const int began = events->from.began;
    lgm_status status;
    int combination;
    close_contacts(run, modes);
    combination = combination_of(modes);
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
    lgm_modes_before(run, &events->from, began);
    (void)memset(events->visited, 0, sizeof events->visited);
    events->visited[combination] = 1;
    return lgm_modes_enter(run, &events->from, combination, 0);
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

/* The modes that complementary elements agree on, if they were not tried yet. */
static int solve_modes(lgm_run *run, int modes[], lgm_status *status) {
    lgm_events *const events = &run->events;
    int solved[LGM_ROOM(LGM_ELEMENTS)];
    int combination;
    modes_of(run->model.combination, solved);
    if (!lgm_lemke_modes(run, events->from.discretes, solved)) {
        return 0;
    }
    combination = combination_of(solved);
    if (combination < 0) {
        *status = lgm_events_fail(run, LGM_FAULT_NOT_HELD, run->model.combination, 0);
        return 1;
    }
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

lgm_status lgm_modes_settle(lgm_run *run) {
    lgm_events *const events = &run->events;
    int modes[LGM_ROOM(LGM_ELEMENTS)] = {0};
    int kept[LGM_ROOM(LGM_ELEMENTS)] = {0};
    int one_by_one = 0;
    lgm_status status;
    modes_of(events->from.combination, modes);
    (void)memcpy(events->wanted_before, events->wanted, sizeof events->wanted);
    for (int element = 0; element < LGM_ELEMENTS; element++) {
        modes[element] = (events->wanted[element] > 0) ? events->wanted[element] - 1 : modes[element];
        events->wanted[element] = 0;
    }
    status = enter_nearest(run, modes);
    forget_contacts(run);
    (void)memset(events->visited, 0, sizeof events->visited);
    events->visited[run->model.combination] = 1;
    for (int round = 0; round < MOST_ROUNDS && status == LGM_OK; round++) {
        int count = 0;
        const int others = find_acting(run, &count);
        if (count == 0) {
            if (put_back(run, modes, &status) != 0) {
                continue;
            }
            note_changes(run);
            return status;
        }
        /* In the search a mode that cannot hold may pass on an impulse, and close a contact that way: so all other changes come first. */
        if (others == 0) {
            status = settle_contacts(run, modes);
            continue;
        }
        if (!one_by_one && solve_modes(run, modes, &status)) {
            continue;
        }
        (void)memcpy(kept, modes, sizeof kept);
        if (!take_changes(run, modes, one_by_one)) {
            int is_tried = one_by_one;
            if (!one_by_one) {
                /* All at once leads in a circle: from here on the first change alone is taken. */
                one_by_one = 1;
                (void)memcpy(modes, kept, sizeof kept);
                is_tried = !take_changes(run, modes, 1);
            }
            if (is_tried) {
                status = search(run, modes);
                continue;
            }
        }
        status = enter_nearest(run, modes);
    }
    return (status == LGM_OK) ? fail_search(run, LGM_FAULT_CIRCLE) : status;
}

#endif
