/* Kinks of laws within a step: the step is repeated so that it ends at the kink. */
#include "lgm_branch.h"
#include "lgm_bends.h"
#include "lgm_numbers.h"
#include "lgm_run.h"

#include <math.h>

#if LGM_BENDS

/* The largest error that a kink may add to a state, as a fraction of the allowed error. */
static const real may_add = (real)0.25;
/* The distance on both sides of a kink at which the right-hand sides are evaluated, as a fraction of the step. */
static const real beside = (real)(1.0 / 64.0);
/* The accuracy of a located kink, as a fraction of the step; the interpolation is hardly more accurate. */
static const real located = (real)1e-5;
/* Kinks closer to an end of a step than this fraction of it need no separate step. */
static const real at_once = (real)1e-5;
/* Bounds of the error of Dormand and Prince's method at a kink, times the change of slope and the square of the step (Peano kernel of
 * degree 1). The first bound applies in the middle; the others apply per fraction of the step before or after the kink. */
static const real kernel = (real)0.0225;
static const real kernel_at_begin = (real)0.0912;
static const real kernel_at_end = (real)0.131;

enum {
    /* The maximum number of consecutive repetitions of a step. */
    MOST_AGAIN = 8,
    /* The maximum number of kinks examined within a step. */
    MOST_WITHIN = 20
};

/* Evaluates all conditions at a time within the last step. */
static void look_at_bends(lgm_run *run, real t) {
    lgm_bending *const bends = &run->bends;
    real inside;
    lgm_dopri5_dense(&run->solver, t, run->between);
#if LGM_BRANCHES
    lgm_branch_recall(run, t);
#endif
    inside = lgm_run_inputs(run, t);
#if LGM_UNKNOWNS
    /* The conditions use the solution of the loops. */
    (void)lgm_rates(&run->model, inside, run->between, run->u, run->du, run->probe);
#endif
    lgm_bends(&run->model, inside, run->between, run->u, run->du, bends->values);
}

/* Returns true if a condition has changed its side since the last evaluation. */
static int has_bent(const lgm_bending *bends) {
    for (int at = 0; at < LGM_BENDS; at++) {
        if (bends->side[at] * bends->values[at] < (real)0.0) {
            return 1;
        }
    }
    return 0;
}

/* Records the sides of the last computed values; a zero leaves a side unchanged. */
static void keep_bends(lgm_bending *bends) {
    for (int at = 0; at < LGM_BENDS; at++) {
        if (bends->values[at] != (real)0.0) {
            bends->side[at] = (bends->values[at] > (real)0.0) ? (real)1.0 : -(real)1.0;
        }
    }
}

/* Returns the first change of a condition between two times; the conditions are evaluated there. */
static real first_between(lgm_run *run, real low, real high) {
    const real near = located * (run->solver.t - run->solver.before);
    while (high - low > near) {
        const real middle = low + (real)0.5 * (high - low);
        if (!(middle > low && middle < high)) {
            break;
        }
        look_at_bends(run, middle);
        if (has_bent(&run->bends)) {
            high = middle;
        } else {
            low = middle;
        }
    }
    look_at_bends(run, high);
    return high;
}

/* Returns true if a kink adds more to the states than the allowed error. */
static int matters(lgm_run *run, real bend) {
    const lgm_dopri5 *const solver = &run->solver;
    const real length = solver->t - solver->before;
    const real share = (bend - solver->before) / length;
    const real first = bend - beside * length;
    const real last = bend + beside * length;
    const real times[3] = {(first > solver->before) ? first : solver->before, bend, (last < solver->t) ? last : solver->t};
    real most = kernel;
    most = (kernel_at_begin * share < most) ? kernel_at_begin * share : most;
    most = (kernel_at_end * ((real)1.0 - share) < most) ? kernel_at_end * ((real)1.0 - share) : most;
    if (share < at_once || (real)1.0 - share < at_once) {
        return 0;
    }
    for (int side = 0; side < 3; side++) {
        lgm_dopri5_dense(solver, times[side], run->between);
        if (lgm_run_rates(run, times[side], run->between, run->bends.rates[side]) != LGM_OK) {
            return 0;
        }
    }
    for (int at = 0; at < LGM_STATES; at++) {
        real (*const rates)[LGM_ROOM(LGM_STATES)] = run->bends.rates;
        const real before = (rates[1][at] - rates[0][at]) / (times[1] - times[0]);
        const real behind = (rates[2][at] - rates[1][at]) / (times[2] - times[1]);
        const real adds = most * length * length * lgm_fabs(behind - before);
        const real allowed = lgm_dopri5_near_zero(solver, at) + solver->rtol * lgm_fabs(run->between[at]);
        if (adds > may_add * allowed) {
            return 1;
        }
    }
    return 0;
}

/* Returns the first significant kink within the last step, or the end of the step if there is none. */
static real first_bend(lgm_run *run) {
    lgm_bending *const bends = &run->bends;
    const lgm_dopri5 *const solver = &run->solver;
    real low = solver->before;
    if (bends->is_known == 0 || bends->end != low) {
        for (int at = 0; at < LGM_BENDS; at++) {
            bends->side[at] = (real)0.0;
        }
        look_at_bends(run, low);
        keep_bends(bends);
    }
    bends->is_known = 0;
    for (int half = 1; half <= 2; half++) {
        const real high = (half == 1) ? solver->before + (real)0.5 * (solver->t - solver->before) : solver->t;
        look_at_bends(run, high);
        for (int within = 0; within < MOST_WITHIN && has_bent(bends); within++) {
            const real bend = first_between(run, low, high);
            if (matters(run, bend)) {
                return bend;
            }
            keep_bends(bends);
            low = bend;
            look_at_bends(run, high);
        }
        keep_bends(bends);
        low = high;
    }
    bends->is_known = 1;
    bends->end = solver->t;
    return solver->t;
}

void lgm_bends_restart(lgm_run *run) {
    run->bends.is_known = 0;
    run->bends.again = 0;
    run->bends.has_target = 0;
}

lgm_real lgm_bends_end(lgm_run *run, lgm_real end) {
    lgm_bending *const bends = &run->bends;
    return (bends->has_target != 0 && bends->target < end) ? bends->target : end;
}

int lgm_bends_cut(lgm_run *run) {
    lgm_bending *const bends = &run->bends;
    lgm_dopri5 *const solver = &run->solver;
    const real length = solver->t - solver->before;
    const int is_long = length * at_once > LGM_ROUNDING * lgm_fabs(solver->t);
    const real bend = (is_long && bends->again < MOST_AGAIN) ? first_bend(run) : solver->t;
    if (bend < solver->t) {
        bends->again++;
        bends->length = (bends->has_target != 0) ? bends->length : length;
        bends->has_target = 1;
        bends->target = bend;
        /* The first slope of the step is still available. */
        solver->t = solver->before;
        for (int at = 0; at < LGM_STATES; at++) {
            solver->x[at] = solver->x_before[at];
        }
        solver->h = bend - solver->t;
        return 1;
    }
    bends->is_known = bends->is_known && is_long && bends->again < MOST_AGAIN;
    bends->again = 0;
    if (bends->has_target != 0 && solver->t >= bends->target) {
        /* After the kink, steps have the length of the step that crossed it. */
        bends->has_target = 0;
        solver->h = bends->length;
    }
    return 0;
}

#endif
