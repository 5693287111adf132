/* Conditions that end a part of a run: where one of them becomes true is located on the solution between the ends of a step. */
#include "lgm_events.h"
#include "lgm_numbers.h"

#include <math.h>

#if LGM_EVENTS

/* By so many parabolas the turn of a margin is looked for. */
enum { MOST_PARABOLAS = 8 };

/* A condition acts a little before its margin is 0. An instant that is known exactly, such as that of a sampled block or of an input's
 * step, comes first if it is this near, as a share of the time. */
static const real same_instant = (real)1e-10;

/* A margin at a time. */
typedef struct {
    real t;
    real value;
} point;

/* The margins at a time within the last step; those within their rounding are 0. */
static void look_at_margins(lgm_run *run, real t, real margins[]) {
    lgm_events *const events = &run->events;
    lgm_dopri5_dense(&run->solver, t, events->point);
    (void)lgm_events_margins(run, t, events->point, NULL, margins);
    for (int at = 0; at < LGM_MARGINS; at++) {
        if (lgm_fabs(margins[at]) <= events->least[at]) {
            margins[at] = (real)0.0;
        }
    }
}

/* True if a change of modes is to be taken, or the condition of a block has become true. */
static int acts(lgm_run *run, const real margins[]) {
    lgm_events *const events = &run->events;
    for (int at = 0; at < LGM_MARGINS; at++) {
        events->sides[at] = (lgm_fabs(margins[at]) > (real)0.0) ? margins[at] : events->going[at];
    }
    for (int element = 0; element < LGM_ELEMENTS; element++) {
        const int mode = LGM_PLACE_IN(run->model.combination, element);
        if (events->wanted[element] > 0) {
            continue;
        }
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

/* Takes over which conditions of blocks hold. */
static void keep_margins(lgm_run *run, const real margins[]) {
    for (int block = 0; block < LGM_BLOCKS; block++) {
        run->events.holding[block] = lgm_events_holds(LGM_CHANGES + block, margins);
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
            margins[at] = (real)0.0;
        }
        /* For modes, a margin that was 0 behind the event counts as it did there, by where it is going, until it is not 0. */
        events->going[at] = (lgm_fabs(events->margins[at]) <= events->least[at]) ? events->signs[at] : (real)0.0;
    }
    events->looks[0] = run->t;
    events->has_seen = 1;
    if (acts(run, margins)) {
        return 1;
    }
    keep_margins(run, margins);
    return 0;
}

/* The first instant after `before`, where no condition acts, until `after`, where one does. */
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

/* An instant at which a condition acts near the turn of a margin, which parabolas come nearer to one after the other; HUGE_VAL where
 * none does. */
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
        /* The point that is nearest to 0 stays in the middle. */
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

/* An instant at which a condition acts between three looks at which none does: where a margin turns towards zero. */
static real find_turn(lgm_run *run, int last) {
    lgm_events *const events = &run->events;
    real first = LGM_INFINITE;
    for (int at = 0; at < LGM_MARGINS; at++) {
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

/* The first instant within the last step at which a condition acts; HUGE_VAL where none does. */
static real first_margin(lgm_run *run) {
    lgm_events *const events = &run->events;
    const real from = run->solver.before;
    const real to = run->solver.t;
    if (events->has_seen == 0 || events->looks[0] != from) {
        events->looks[0] = from;
        look_at_margins(run, from, events->seen[0]);
    }
    keep_margins(run, events->seen[0]);
    for (int at = 1; at <= LGM_LOOKS; at++) {
        const real t = (at == LGM_LOOKS) ? to : from + (to - from) * (real)at / (real)LGM_LOOKS;
        events->looks[at] = t;
        look_at_margins(run, t, events->seen[at]);
        if (acts(run, events->seen[at])) {
            return locate(run, events->looks[at - 1], t);
        }
        if (at > 1) {
            /* A margin that turns between three looks may have crossed zero and come back. What held at the first of them and no more at the
             * next has not become true there. */
            real turn;
            keep_margins(run, events->seen[at - 2]);
            turn = find_turn(run, at);
            if (turn < LGM_INFINITE) {
                return locate(run, events->looks[at - 2], turn);
            }
        }
        /* A condition that has become false may become true again within the step. */
        keep_margins(run, events->seen[at]);
    }
    events->looks[0] = to;
    for (int at = 0; at < LGM_MARGINS; at++) {
        events->seen[0][at] = events->seen[LGM_LOOKS][at];
    }
    events->has_seen = 1;
    return LGM_INFINITE;
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
