/* The default signals of the inputs of @model@, and where they or the equations step or bend.
 *
 * @origin@
 */
#include "@name@_signals.h"

#include <math.h>

#ifdef __cplusplus
#define RESTRICT
#else
#define RESTRICT restrict
#endif

typedef @name@_real real;

@helpers@@programs@
void @name@_inputs(@name@_model *model, @name@_real t, @name@_real u[], @name@_real du[]) {
    real both[@name@_ROOM(2 * @name@_INPUTS)];
    (void)model; (void)t;
    both[0] = @zero@;
    @inputs_call@
    for (int at = 0; at < @name@_INPUTS; at++) {
        u[at] = both[at];
        du[at] = both[@name@_INPUTS + at];
    }
}

@if phases@
/* The largest angular frequency of what oscillates with time alone, in rad/s: the mean of a thousandth of the time. */
static real fastest(@name@_model *model, real start, real stop) {
    enum { PHASES = @phases@, COARSE = 1000 };
    real largest = @zero@;
    real last[PHASES];
    real next[PHASES];
    (void)model;
    if (!(start < stop)) {
        return @zero@;
    }
    for (int sample = 0; sample <= COARSE; sample++) {
        const real t = start + (stop - start) * ((real)sample / (real)COARSE);
        (void)t;
        @phases_call@
        for (int at = 0; at < PHASES; at++) {
            if (sample > 0 && @fabs@(next[at] - last[at]) > largest) {
                largest = @fabs@(next[at] - last[at]);
            }
            last[at] = next[at];
        }
    }
    return largest * (real)COARSE / (stop - start);
}

@end@
@name@_real @name@_longest_step(@name@_model *model, @name@_real start, @name@_real stop) {
@if bounds_steps@
    const real rate = fastest(model, start, stop);
    return (rate > @zero@ && isfinite(rate)) ? @largest_turn@ / rate : HUGE_VAL@suffix@;
@else@
    (void)model; (void)start; (void)stop;
    return HUGE_VAL@suffix@;
@end@
}

@if switches@
enum { SWITCHES = @switches@, SAMPLES = 20000, INSIDE = 8 };

/* The values that are constant between corners. */
static void look(@name@_model *model, real t, real values[]) {
    (void)model; (void)t;
    @switches_call@
}

static int same(const real a[], const real b[]) {
    for (int at = 0; at < SWITCHES; at++) {
        /* Not a number is the same as not a number. */
        if (!(a[at] == b[at]) && (a[at] == a[at] || b[at] == b[at])) {
            return 0;
        }
    }
    return 1;
}

/* How many times as many samples the fastest oscillation needs. */
static int refinement(@name@_model *model, real start, real stop) {
@if phases@
    const real needed = @ceil@(fastest(model, start, stop) * (stop - start) / @largest_turn@ / (real)SAMPLES);
    return (needed > @one@) ? ((needed < @most_refined@) ? (int)needed : 64) : 1;
@else@
    (void)model; (void)start; (void)stop;
    return 1;
@end@
}

/* The first number after the change between two instants; `until` where there is none. */
static real first_change(@name@_model *model, real from, real until) {
    real at_from[SWITCHES];
    real at_middle[SWITCHES];
    real low = from;
    real high = until;
    look(model, from, at_from);
    for (;;) {
        const real middle = low + (high - low) * @half@;
        if (!(middle > low && middle < high)) {
            return high;
        }
        look(model, middle, at_middle);
        if (same(at_from, at_middle)) {
            low = middle;
        } else {
            high = middle;
        }
    }
}

/* Where something changes first between two instants, looked for at so many samples; HUGE_VAL where nothing does. */
static real scan(@name@_model *model, real from, real until, real width, real origin) {
    real values[SWITCHES];
    real reached[SWITCHES];
    real low = from;
    real number = @floor@((from - origin) / width);
    look(model, from, values);
    while (low < until) {
        real next = origin + number * width;
        number += @one@;
        if (next <= low) {
            continue;
        }
        next = (next < until) ? next : until;
        look(model, next, reached);
        if (!same(values, reached)) {
            return first_change(model, low, next);
        }
        low = next;
    }
    return HUGE_VAL@suffix@;
}
@end@

@name@_real @name@_next_corner(@name@_model *model, @name@_real start, @name@_real after, @name@_real stop) {
    real found = HUGE_VAL@suffix@;
    (void)model; (void)start; (void)after; (void)stop;
@if instants@
    {
        real instants[@instants@];
        @instants_call@
        for (int at = 0; at < @instants@; at++) {
            if (instants[at] > after && instants[at] <= stop && instants[at] < found) {
                found = instants[at];
            }
        }
    }
@end@
@if switches@
    if (after < stop) {
        const real first = (after > start) ? after : start;
        const real begin = (after < start) ? @nextafter@(start, -HUGE_VAL@suffix@) : first;
        const real width = (stop - start) / ((real)SAMPLES * (real)refinement(model, start, stop));
        real until = (found < stop) ? @nextafter@(found, -HUGE_VAL@suffix@) : stop;
        const real coarse = scan(model, begin, until, width, start);
        found = (coarse < found) ? coarse : found;
        /* What changes within the piece that is there now. */
        for (int round = 0; round < 3; round++) {
            until = (found < stop) ? @nextafter@(found, -HUGE_VAL@suffix@) : stop;
            if (until > first) {
                const real fine = scan(model, first, until, (until - first) / (real)INSIDE, first);
                if (!(fine < found)) {
                    break;
                }
                found = fine;
            }
        }
    }
@end@
    return found;
}

void @name@_conditions(@name@_model *model, @name@_real t, const @name@_real x[], const @name@_real u[],
    const @name@_real du[], @name@_real values[]) {
    (void)model; (void)t; (void)x; (void)u; (void)du; (void)values;
@if conditions_call@
    {
        static const int jumping[@name@_CONDITIONS] = {@jumping@};
        real crossings[@crossings@];
        @conditions_call@
        for (int at = 0; at < @name@_CONDITIONS; at++) {
            values[at] = crossings[jumping[at]];
        }
    }
@end@
}
@if bends@

void @name@_bends(@name@_model *model, @name@_real t, const @name@_real x[], const @name@_real u[], const @name@_real du[],
    @name@_real values[]) {
    static const int bending[@name@_BENDS] = {@bending@};
    real crossings[@crossings@];
    (void)model; (void)t; (void)x; (void)u; (void)du;
    @bends_call@
    for (int at = 0; at < @name@_BENDS; at++) {
        values[at] = crossings[bending[at]];
    }
}
@end@
