/* The default signals of the inputs, and the instants at which they or the equations have a step or a kink. */
#include "lgm_signals.h"
#include "lgm_numbers.h"

#include <math.h>

#include "lgm_corners.h"

void lgm_inputs(lgm_model *model, lgm_real t, lgm_real u[], lgm_real du[]) {
    real both[LGM_ROOM(2 * LGM_INPUTS)];
    (void)model; (void)t;
    both[0] = (real)0.0;
    system_inputs(model, t, both);
    for (int at = 0; at < LGM_INPUTS; at++) {
        u[at] = both[at];
        du[at] = both[LGM_INPUTS + at];
    }
}

lgm_real lgm_later(lgm_real t) {
#if LGM_SWITCHES
    return t + (real)4.0 * LGM_EPSILON * lgm_fabs(t);
#else
    return t;
#endif
}

#if LGM_PHASES
/* Returns the largest angular frequency of oscillations that depend only on time, in rad/s: the mean over a thousandth of the time. */
static real fastest(lgm_model *model, real start, real stop) {
    enum { PHASES = LGM_PHASES, COARSE = 1000 };
    real largest = (real)0.0;
    real last[PHASES] = {(real)0.0};
    real next[PHASES];
    (void)model;
    if (!(start < stop)) {
        return (real)0.0;
    }
    for (int sample = 0; sample <= COARSE; sample++) {
        const real t = start + (stop - start) * ((real)sample / (real)COARSE);
        (void)t;
        system_phases(model, t, next);
        for (int at = 0; at < PHASES; at++) {
            if (sample > 0 && lgm_fabs(next[at] - last[at]) > largest) {
                largest = lgm_fabs(next[at] - last[at]);
            }
            last[at] = next[at];
        }
    }
    return largest * (real)COARSE / (stop - start);
}

#endif
lgm_real lgm_longest_step(lgm_model *model, lgm_real start, lgm_real stop) {
#if LGM_BOUNDS_STEPS
    const real rate = fastest(model, start, stop);
    return (rate > (real)0.0 && isfinite(rate)) ? LGM_LARGEST_TURN / rate : LGM_INFINITE;
#else
    (void)model; (void)start; (void)stop;
    return LGM_INFINITE;
#endif
}

#if LGM_SWITCHES
enum { SWITCHES = LGM_SWITCHES, SAMPLES = 20000, INSIDE = 8 };

/* Computes the values that are constant between corners. */
static void look_at_conditions(lgm_model *model, real t, real values[]) {
    (void)model; (void)t;
    system_switches(model, t, values);
}

static int are_same(const real a[], const real b[]) {
    for (int at = 0; at < SWITCHES; at++) {
        /* Two NaNs are equal. */
        if (!(a[at] == b[at]) && (a[at] == a[at] || b[at] == b[at])) {
            return 0;
        }
    }
    return 1;
}

/* Returns the factor by which the fastest oscillation increases the number of samples. */
static int refinement(lgm_model *model, real start, real stop) {
#if LGM_PHASES
    const real needed = lgm_ceil(fastest(model, start, stop) * (stop - start) / LGM_LARGEST_TURN / (real)SAMPLES);
    return (needed > (real)1.0) ? ((needed < (real)64.0) ? (int)needed : 64) : 1;
#else
    (void)model; (void)start; (void)stop;
    return 1;
#endif
}

/* Returns the first number after the change between two instants; `until` if there is none. */
static real first_change_within(lgm_model *model, real from, real until) {
    real at_from[SWITCHES];
    real at_middle[SWITCHES];
    real low = from;
    real high = until;
    look_at_conditions(model, from, at_from);
    for (;;) {
        const real middle = low + (high - low) * (real)0.5;
        if (!(middle > low && middle < high)) {
            return high;
        }
        look_at_conditions(model, middle, at_middle);
        if (are_same(at_from, at_middle)) {
            low = middle;
        } else {
            high = middle;
        }
    }
}

/* Returns the first change between two instants, searched for at a number of samples; HUGE_VAL if there is none. */
static real scan(lgm_model *model, real from, real until, real width, real origin) {
    real values[SWITCHES];
    real reached[SWITCHES];
    real low = from;
    real number = lgm_floor((from - origin) / width);
    look_at_conditions(model, from, values);
    while (low < until) {
        real next = origin + number * width;
        number += (real)1.0;
        if (next <= low) {
            continue;
        }
        next = (next < until) ? next : until;
        look_at_conditions(model, next, reached);
        if (!are_same(values, reached)) {
            return first_change_within(model, low, next);
        }
        low = next;
    }
    return LGM_INFINITE;
}
#endif

lgm_real lgm_next_corner(lgm_model *model, lgm_real start, lgm_real after, lgm_real stop) {
    real found = LGM_INFINITE;
    (void)model; (void)start; (void)after; (void)stop;
#if LGM_INSTANTS
    {
        real instants[LGM_INSTANTS];
        system_instants(model, start, instants);
        for (int at = 0; at < LGM_INSTANTS; at++) {
            if (instants[at] > after && instants[at] <= stop && instants[at] < found) {
                found = instants[at];
            }
        }
    }
#endif
#if LGM_SWITCHES
    if (after < stop) {
        const real first = (after > start) ? after : start;
        const real begin = (after < start) ? lgm_nextafter(start, -LGM_INFINITE) : first;
        const real width = (stop - start) / ((real)SAMPLES * (real)refinement(model, start, stop));
        real until = (found < stop) ? lgm_nextafter(found, -LGM_INFINITE) : stop;
        const real coarse = scan(model, begin, until, width, start);
        found = (coarse < found) ? coarse : found;
        /* Changes within the present piece. */
        for (int round = 0; round < 3; round++) {
            until = (found < stop) ? lgm_nextafter(found, -LGM_INFINITE) : stop;
            if (until > first) {
                const real fine = scan(model, first, until, (until - first) / (real)INSIDE, first);
                if (!(fine < found)) {
                    break;
                }
                found = fine;
            }
        }
    }
#endif
    return found;
}

void lgm_conditions(lgm_model *model, lgm_real t, const lgm_real x[], const lgm_real u[],
    const lgm_real du[], lgm_real values[]) {
    (void)model; (void)t; (void)x; (void)u; (void)du; (void)values;
#if LGM_CONDITIONS
    {
        real crossings[LGM_CROSSINGS];
        system_crossings(model, t, x, u, du, LGM_UNKNOWNS_OF(model), crossings);
        for (int at = 0; at < LGM_CONDITIONS; at++) {
            values[at] = crossings[lgm_jumping_places[at]];
        }
    }
#endif
}
#if LGM_BENDS

void lgm_bends(lgm_model *model, lgm_real t, const lgm_real x[], const lgm_real u[], const lgm_real du[],
    lgm_real values[]) {
    real crossings[LGM_CROSSINGS];
    (void)model; (void)t; (void)x; (void)u; (void)du;
    system_crossings(model, t, x, u, du, LGM_UNKNOWNS_OF(model), crossings);
    for (int at = 0; at < LGM_BENDS; at++) {
        values[at] = crossings[lgm_bending_places[at]];
    }
}
#endif
