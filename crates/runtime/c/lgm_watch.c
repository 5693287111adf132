/* Conditions that end a part of a run: the instant at which one of them becomes true is located on the solution between the ends of a
 * step. */
#include "lgm_events.h"
#include "lgm_numbers.h"
#include "lgm_run.h"

#include <math.h>

#if LGM_EVENTS

enum {
    /* The maximum number of parabolas used to find the turn of a margin. */
    MOST_PARABOLAS = 8,
    /* The maximum number of parts of a step; their evaluation takes about a second. */
    MOST_PARTS = 1000000,
    /* The margins that conditions read; turns follow, at whose zeros a margin may have a peak or a bend, and then phases: arguments of
     * periodic functions within margins, in radians. */
    LGM_CONDITION_MARGINS = LGM_MARGINS - LGM_TURNS - LGM_WATCHED_PHASES
};

/* A condition acts slightly before its margin is 0. An instant known exactly, such as that of a sampled block or of an input step, takes
 * precedence within this fraction of the time. */
static const real same_instant = (real)1e-10;

/* A margin at a time. */
typedef struct {
    real t;
    real value;
} point;

/* Returns the value of a margin within its round-off: -0, or 0 if the margin is exactly 0. */
static real about_zero(real margin) {
    return (lgm_fabs(margin) > (real)0.0) ? -(real)0.0 : (real)0.0;
}

/* Evaluates the margins at a time within the last step; those within their round-off are 0. */
static void look_at_margins(lgm_run *run, real t, real margins[]) {
    lgm_events *const events = &run->events;
    lgm_dopri5_dense(&run->solver, t, events->point);
    (void)lgm_events_margins(run, t, events->point, NULL, margins);
    for (int at = 0; at < LGM_MARGINS; at++) {
        if (lgm_fabs(margins[at]) <= events->least[at]) {
            margins[at] = about_zero(margins[at]);
        }
    }
}

/* Returns 1 if a margin is exactly 0 at two samples, which one that passes through 0 is not. */
static int is_at_rest(real before, real after) {
    return !(lgm_fabs(before) > (real)0.0) && !(lgm_fabs(after) > (real)0.0) && signbit(before) == 0 && signbit(after) == 0;
}

/* Returns true if a change of modes is due, or the condition of a block has become true. */
static int acts(lgm_run *run, const real margins[]) {
    lgm_events *const events = &run->events;
    for (int at = 0; at < LGM_MARGINS; at++) {
        events->sides[at] = (lgm_fabs(margins[at]) > (real)0.0) ? margins[at] : events->going[at];
    }
    for (int element = 0; element < LGM_ELEMENTS; element++) {
        const int mode = LGM_PLACE_IN(run->model.combination, element);
        for (int change = lgm_first_change[mode]; change < lgm_first_change[mode + 1]; change++) {
            if (lgm_events_holds(change, events->sides)) {
                return 1;
            }
        }
    }
    for (int block = 0; block < LGM_BLOCKS; block++) {
        if (events->holding[block] == 0 && lgm_events_holds(LGM_CHANGES + block, margins)) {
            return 1;
        }
    }
    return 0;
}

/* Records which conditions of blocks hold. A margin that is 0 keeps its side, unless it has rested there since the previous sample. */
static void keep_margins(lgm_run *run, const real margins[], const real before[]) {
    lgm_events_remember(run, margins);
    for (int at = 0; at < LGM_MARGINS && before != NULL; at++) {
        if (is_at_rest(before[at], margins[at])) {
            run->events.last[at] = (real)0.0;
        }
    }
    for (int block = 0; block < LGM_BLOCKS; block++) {
        run->events.holding[block] = lgm_events_keeps(run, block, run->events.holding[block], margins);
    }
    for (int at = 0; at < LGM_MARGINS; at++) {
        if (lgm_fabs(margins[at]) > (real)0.0) {
            run->events.going[at] = (real)0.0;
        }
    }
}

int lgm_watch_begin(lgm_run *run) {
    lgm_events *const events = &run->events;
    real *const margins = events->seen[0];
    (void)lgm_events_margins(run, run->t, run->x, NULL, margins);
    for (int at = 0; at < LGM_MARGINS; at++) {
        if (lgm_fabs(margins[at]) <= events->least[at]) {
            margins[at] = about_zero(margins[at]);
        }
        /* For modes, a margin that was 0 after the event counts by its direction, as it did there, until it is nonzero. */
        events->going[at] = (lgm_fabs(events->margins[at]) <= events->least[at]) ? events->signs[at] : (real)0.0;
        /* The same applies to blocks if the margin depends on time alone. */
        if (lgm_modes_is_timed(run, at) && !(lgm_fabs(margins[at]) > (real)0.0)) {
            margins[at] = events->going[at];
        }
    }
    events->looks[0] = run->t;
    events->has_seen = 1;
    if (acts(run, margins)) {
        return 1;
    }
    keep_margins(run, margins, NULL);
    return 0;
}

/* Returns the first instant after `before`, at which no condition acts, up to `after`, at which one does. */
static real locate(lgm_run *run, real before, real after) {
    lgm_events *const events = &run->events;
    for (;;) {
        const real middle = before + (real)0.5 * (after - before);
        if (middle <= before || middle >= after) {
            return after;
        }
        look_at_margins(run, middle, events->with);
        if (acts(run, events->with)) {
            after = middle;
        } else {
            before = middle;
        }
    }
}

/* Returns an instant at which a condition acts near the turn of a margin, approximated by successive parabolas; HUGE_VAL if there is
 * none. */
static real refined(lgm_run *run, int margin, real vertex, point left, point middle, point right) {
    lgm_events *const events = &run->events;
    for (int parabola = 0; parabola < MOST_PARABOLAS; parabola++) {
        real rising, falling, curvature;
        point found;
        look_at_margins(run, vertex, events->with);
        if (acts(run, events->with)) {
            return vertex;
        }
        found.t = vertex;
        found.value = events->with[margin];
        /* The point nearest to 0 stays in the middle. */
        if (lgm_fabs(found.value) < lgm_fabs(middle.value)) {
            if (found.t < middle.t) {
                right = middle;
            } else {
                left = middle;
            }
            middle = found;
        } else if (found.t < middle.t) {
            left = found;
        } else {
            right = found;
        }
        rising = (middle.value - left.value) / (middle.t - left.t);
        falling = (right.value - middle.value) / (right.t - middle.t);
        curvature = (falling - rising) / (right.t - left.t);
        vertex = (real)0.5 * (left.t + middle.t) - (real)0.5 * rising / curvature;
        if (!(vertex > left.t && vertex < right.t && vertex != middle.t)) {
            return LGM_INFINITE;
        }
    }
    return LGM_INFINITE;
}

/* Returns an instant at which a condition acts between three samples at which none does: a margin may turn towards zero there. */
static real find_turn(lgm_run *run, int last) {
    lgm_events *const events = &run->events;
    real first = LGM_INFINITE;
    for (int at = 0; at < LGM_CONDITION_MARGINS; at++) {
        const point left = {events->looks[last - 2], events->seen[last - 2][at]};
        const point middle = {events->looks[last - 1], events->seen[last - 1][at]};
        const point right = {events->looks[last], events->seen[last][at]};
        const real rising = (middle.value - left.value) / (middle.t - left.t);
        const real falling = (right.value - middle.value) / (right.t - middle.t);
        const real curvature = (falling - rising) / (right.t - left.t);
        const real vertex = (real)0.5 * (left.t + middle.t) - (real)0.5 * rising / curvature;
        const real height =
            middle.value + (vertex - middle.t) * (rising + curvature * (vertex - left.t));
        const real ends = (lgm_fabs(left.value) > lgm_fabs(right.value)) ? lgm_fabs(left.value) : lgm_fabs(right.value);
        const int is_nearer = lgm_fabs(height) < lgm_fabs(left.value) && lgm_fabs(height) < lgm_fabs(middle.value) &&
                              lgm_fabs(height) < lgm_fabs(right.value);
        const int is_one_side = left.value * middle.value > (real)0.0 && middle.value * right.value > (real)0.0;
        if (is_one_side && vertex > left.t && vertex < right.t && (height * middle.value < (real)0.0 || is_nearer) &&
            lgm_fabs(height) < (real)0.5 * ends) {
            const real found = refined(run, at, vertex, left, middle, right);
            first = (found < first) ? found : first;
        }
    }
    return first;
}

/* Returns the time of a sample. */
static real time_of(int at, real from, real to) {
    return (at == LGM_LOOKS) ? to : from + (to - from) * (real)at / (real)LGM_LOOKS;
}

/* Returns the number of parts of a step such that no phase advances by more than half a period in one of them. */
static long count_parts(lgm_run *run, real from, real to) {
    lgm_events *const events = &run->events;
    real advance = (real)0.0;
    for (int at = 1; at <= LGM_LOOKS; at++) {
        real most = (real)0.0;
        look_at_margins(run, time_of(at, from, to), events->seen[at]);
        for (int phase = LGM_MARGINS - LGM_WATCHED_PHASES; phase < LGM_MARGINS; phase++) {
            const real change = lgm_fabs(events->seen[at][phase] - events->seen[at - 1][phase]);
            most = (change > most) ? change : most;
        }
        advance += most;
    }
    /* Half a period is pi. */
    advance = advance / (real)3.141592653589793;
    if (!(advance > (real)0.0)) {
        return 1L;
    }
    return (advance < (real)MOST_PARTS) ? (long)advance + 1L : (long)MOST_PARTS;
}

/* Returns 1 if both signs of a number are known, and differ. */
static int is_passed(real before, real after) {
    return (before < (real)0.0 && after > (real)0.0) || (before > (real)0.0 && after < (real)0.0);
}

/* Returns 1 if the first instant at which a condition acts must be looked for at the zeros between two samples. It need not if nothing changes
 * its sign, or if a single margin does, and a condition acts after it. */
static int is_divided(lgm_run *run, const real before[], const real after[]) {
    int margins = 0;
    int turns = 0;
    for (int at = 0; at < LGM_MARGINS - LGM_WATCHED_PHASES; at++) {
        if (is_passed(before[at], after[at])) {
            margins += (at < LGM_CONDITION_MARGINS) ? 1 : 0;
            turns += (at < LGM_CONDITION_MARGINS) ? 0 : 1;
        }
    }
    return turns > 0 || margins > 1 || (margins == 1 && !acts(run, after));
}

/* Returns the first instant between two samples at which a condition acts although it may act at neither of them: a window that the motion passes, or a
 * peak. The zeros of margins and turns divide the time between the samples, and the conditions are evaluated on both sides of each zero. No condition acts
 * until `idle`. */
static real find_passed(lgm_run *run, int right, real *idle) {
    lgm_events *const events = &run->events;
    const real end = events->looks[right];
    real left = *idle;
    real sides[LGM_ROOM(LGM_MARGINS)];
    for (int at = 0; at < LGM_MARGINS; at++) {
        sides[at] = events->seen[right - 1][at];
    }
    for (;;) {
        real ends[2] = {left, end};
        int is_found = 0;
        for (int at = 0; at < LGM_MARGINS - LGM_WATCHED_PHASES; at++) {
            real before = left;
            real after = ends[1];
            if (!is_passed(sides[at], events->seen[right][at])) {
                continue;
            }
            look_at_margins(run, after, events->with);
            if (is_found && !is_passed(sides[at], events->with[at])) {
                continue;
            }
            for (;;) {
                const real middle = before + (real)0.5 * (after - before);
                if (middle <= before || middle >= after) {
                    break;
                }
                look_at_margins(run, middle, events->with);
                if (is_passed(sides[at], events->with[at])) {
                    after = middle;
                } else {
                    before = middle;
                }
            }
            ends[0] = before;
            ends[1] = after;
            is_found = 1;
        }
        if (!is_found) {
            return LGM_INFINITE;
        }
        for (int side = 0; side < 2; side++) {
            look_at_margins(run, ends[side], events->with);
            if (acts(run, events->with)) {
                return locate(run, left, ends[side]);
            }
            keep_margins(run, events->with, NULL);
            left = ends[side];
            *idle = left;
        }
        if (left >= end) {
            return LGM_INFINITE;
        }
        for (int at = 0; at < LGM_MARGINS; at++) {
            sides[at] = events->with[at];
        }
    }
}

/* Returns the first instant within a part of the last step at which a condition acts; HUGE_VAL if there is none. */
static real first_in_part(lgm_run *run, real from, real to) {
    lgm_events *const events = &run->events;
    keep_margins(run, events->seen[0], NULL);
    for (int at = 1; at <= LGM_LOOKS; at++) {
        const real t = time_of(at, from, to);
        events->looks[at] = t;
        look_at_margins(run, t, events->seen[at]);
        real idle = events->looks[at - 1];
        if (is_divided(run, events->seen[at - 1], events->seen[at])) {
            const real passed = find_passed(run, at, &idle);
            if (passed < LGM_INFINITE) {
                return passed;
            }
        }
        if (acts(run, events->seen[at])) {
            return locate(run, idle, t);
        }
        if (at > 1) {
            /* A margin that turns between three samples may have crossed zero and come back. A condition that held at the first of them,
             * and no longer holds at the next, has not become true there. */
            real turn;
            keep_margins(run, events->seen[at - 2], NULL);
            turn = find_turn(run, at);
            if (turn < LGM_INFINITE) {
                return locate(run, events->looks[at - 2], turn);
            }
        }
        /* A condition that has become false may become true again within the step. */
        keep_margins(run, events->seen[at], events->seen[at - 1]);
    }
    events->looks[0] = to;
    for (int at = 0; at < LGM_MARGINS; at++) {
        events->seen[0][at] = events->seen[LGM_LOOKS][at];
    }
    events->has_seen = 1;
    return LGM_INFINITE;
}

/* Returns the first instant within the last step at which a condition acts; HUGE_VAL if there is none. */
static real first_margin(lgm_run *run) {
    lgm_events *const events = &run->events;
    const real from = run->solver.before;
    const real to = run->solver.t;
    long parts;
    real before = from;
    if (events->has_seen == 0 || events->looks[0] != from) {
        events->looks[0] = from;
        look_at_margins(run, from, events->seen[0]);
        /* The last step ended before a discontinuity, and this one begins after it. */
        if (acts(run, events->seen[0])) {
            return from;
        }
    }
    parts = (LGM_WATCHED_PHASES > 0) ? count_parts(run, from, to) : 1L;
    for (long part = 1; part < parts; part++) {
        const real end = from + (to - from) * ((real)part / (real)parts);
        const real found = first_in_part(run, before, end);
        if (found < LGM_INFINITE) {
            return found;
        }
        before = end;
    }
    return first_in_part(run, before, to);
}

int lgm_watch_step(lgm_run *run) {
    lgm_events *const events = &run->events;
    const real bound = lgm_run_bound(run);
    const real found = (LGM_MARGINS > 0) ? first_margin(run) : LGM_INFINITE;
    if (!(found < LGM_INFINITE)) {
        return 0;
    }
    lgm_dopri5_dense(&run->solver, found, run->x);
    run->t = (bound > found && bound - found <= same_instant * lgm_fabs(bound)) ? bound : found;
    run->is_fresh = 1;
    events->is_due = 1;
    events->has_seen = 0;
    return 1;
}

#endif
