/* Dormand and Prince's method of order 5(4) with step size control and dense output. */
#include "lgm_dopri5.h"
#include "lgm_numbers.h"

#include <math.h>

/* The weights of the previous slopes in the point of each stage. */
static const real shares[7][6] = {
    {(real)0.0, (real)0.0, (real)0.0, (real)0.0, (real)0.0, (real)0.0},
    {(real)(1.0 / 5.0), (real)0.0, (real)0.0, (real)0.0, (real)0.0, (real)0.0},
    {(real)(3.0 / 40.0), (real)(9.0 / 40.0), (real)0.0, (real)0.0, (real)0.0, (real)0.0},
    {(real)(44.0 / 45.0), (real)(-56.0 / 15.0), (real)(32.0 / 9.0), (real)0.0, (real)0.0, (real)0.0},
    {(real)(19372.0 / 6561.0), (real)(-25360.0 / 2187.0), (real)(64448.0 / 6561.0), (real)(-212.0 / 729.0), (real)0.0,
        (real)0.0},
    {(real)(9017.0 / 3168.0), (real)(-355.0 / 33.0), (real)(46732.0 / 5247.0), (real)(49.0 / 176.0),
        (real)(-5103.0 / 18656.0), (real)0.0},
    {(real)(35.0 / 384.0), (real)0.0, (real)(500.0 / 1113.0), (real)(125.0 / 192.0), (real)(-2187.0 / 6784.0),
        (real)(11.0 / 84.0)}};
static const real nodes[7] = {(real)0.0, (real)(1.0 / 5.0), (real)(3.0 / 10.0), (real)(4.0 / 5.0), (real)(8.0 / 9.0), (real)1.0,
    (real)1.0};
/* The solution of order 5 minus that of order 4. */
static const real differences[7] = {(real)(71.0 / 57600.0), (real)0.0, (real)(-71.0 / 16695.0), (real)(71.0 / 1920.0),
    (real)(-17253.0 / 339200.0), (real)(22.0 / 525.0), (real)(-1.0 / 40.0)};
static const real dense[7] = {(real)(-12715105075.0 / 11282082432.0), (real)0.0, (real)(87487479700.0 / 32700410799.0),
    (real)(-10690763975.0 / 1880347072.0), (real)(701980252875.0 / 199316789632.0),
    (real)(-1453857185.0 / 822651844.0), (real)(69997945.0 / 29380423.0)};

lgm_real lgm_dopri5_near_zero(const lgm_dopri5 *solver, int at) {
    real scale = lgm_state_scales[at];
    if (solver->atol > (real)0.0) {
        return solver->atol;
    }
    if (scale < (real)0.0) {
        scale = -scale;
    } else if (solver->seen[at] > scale) {
        scale = solver->seen[at];
    }
    return (real)1e-3 * solver->rtol * scale;
}

static real allowed(const lgm_dopri5 *solver, int at, real a, real b) {
    const real size = (lgm_fabs(a) > lgm_fabs(b)) ? lgm_fabs(a) : lgm_fabs(b);
    return lgm_dopri5_near_zero(solver, at) + solver->rtol * size;
}

static void see(lgm_dopri5 *solver) {
    for (int at = 0; at < LGM_STATES; at++) {
        const real size = lgm_fabs(solver->x[at]);
        solver->seen[at] = (size > solver->seen[at]) ? size : solver->seen[at];
    }
}

int lgm_dopri5_expects_more(lgm_dopri5 *solver, lgm_motion f, void *context, lgm_real horizon) {
    const real left = horizon - solver->t;
    const real ahead = (real)1e-6 * left;
    int are_any = 0;
    for (int at = 0; at < LGM_STATES; at++) {
        solver->trial[at] = solver->x[at] + ahead * solver->slope[0][at];
    }
    if (solver->atol > (real)0.0 || f(context, solver->t + ahead, solver->trial, solver->slope[1]) != LGM_OK) {
        return 0;
    }
    for (int at = 0; at < LGM_STATES; at++) {
        const real expected = (real)1e-3 * lgm_fabs(solver->slope[1][at]) * left;
        const real scale = lgm_state_scales[at];
        const real known = (scale > solver->seen[at]) ? scale : solver->seen[at];
        if (scale >= (real)0.0 && expected > (real)100.0 * known && isfinite(expected)) {
            solver->seen[at] = expected;
            are_any = 1;
        }
    }
    return are_any;
}

lgm_status lgm_dopri5_start(lgm_dopri5 *solver, lgm_motion f, void *context, lgm_real t,
    const lgm_real x[], lgm_real stop) {
    real value = (real)0.0;
    real rate = (real)0.0;
    lgm_status status;
    solver->before = t;
    solver->t = t;
    for (int at = 0; at < LGM_STATES; at++) {
        solver->x[at] = x[at];
        solver->x_before[at] = x[at];
    }
    see(solver);
    status = f(context, t, solver->x, solver->slope[0]);
    if (status != LGM_OK) {
        return status;
    }
    for (int at = 0; at < LGM_STATES; at++) {
        const real scale = allowed(solver, at, x[at], x[at]);
        const real own = lgm_fabs(x[at]) / scale;
        const real change = lgm_fabs(solver->slope[0][at]) / scale;
        if (!isfinite(change)) {
            return LGM_NOT_FINITE;
        }
        value = (own > value) ? own : value;
        rate = (change > rate) ? change : rate;
    }
    solver->h = (stop - t) * (real)1e-4;
    if (rate > (real)0.0) {
        /* A step that moves the states by a hundredth of their magnitude, or by the allowed error for states at zero. */
        const real natural = ((value > (real)1.0) ? value : (real)1.0) * (real)0.01 / rate;
        solver->h = (natural < solver->h) ? natural : solver->h;
    }
    /* The stop may be the next representable number after the time. */
    const real least = (real)1e-12 * (stop - t) + LGM_ROUNDING * lgm_fabs(t);
    solver->h = (solver->h > least) ? solver->h : least;
    return LGM_OK;
}

lgm_status lgm_dopri5_stages(lgm_dopri5 *solver, lgm_motion f, void *context, lgm_real h, lgm_real end) {
    lgm_status status = LGM_OK;
    for (int stage = 1; stage < 7 && status == LGM_OK; stage++) {
        for (int at = 0; at < LGM_STATES; at++) {
            real sum = (real)0.0;
            for (int other = 0; other < stage; other++) {
                sum += shares[stage][other] * solver->slope[other][at];
            }
            solver->trial[at] = solver->x[at] + h * sum;
        }
        status = f(context, (stage < 5) ? solver->t + nodes[stage] * h : end, solver->trial, solver->slope[stage]);
    }
    return status;
}

lgm_real lgm_dopri5_difference(const lgm_dopri5 *solver, lgm_real h, int at) {
    real sum = (real)0.0;
    for (int stage = 0; stage < 7; stage++) {
        sum += differences[stage] * solver->slope[stage][at];
    }
    return lgm_fabs(h * sum);
}

lgm_status lgm_dopri5_step(lgm_dopri5 *solver, lgm_motion f, void *context, lgm_real stop) {
    if (solver->t > solver->before) {
        /* The last slope of one step is the first of the next. */
        for (int at = 0; at < LGM_STATES; at++) {
            solver->slope[0][at] = solver->slope[6][at];
        }
    }
    for (;;) {
        const int is_bounded = solver->longest > (real)0.0 && solver->longest < solver->h;
        const real wanted = is_bounded ? solver->longest : solver->h;
        const real left = stop - solver->t;
        const int is_last = wanted >= left * (real)0.999;
        const real h = is_last ? left : wanted;
        const real end = is_last ? stop : solver->t + h;
        real error = (real)0.0;
        /* The sum is not finite if any slope is not. */
        real all = (real)0.0;
        lgm_status status;
        if (!(end > solver->t)) {
            return LGM_NOT_FINITE;
        }
        status = lgm_dopri5_stages(solver, f, context, h, end);
        if (status == LGM_OK) {
            for (int at = 0; at < LGM_STATES; at++) {
                const real most = allowed(solver, at, solver->x[at], solver->trial[at]);
                const real share = lgm_dopri5_difference(solver, h, at) / most;
                error = (share > error) ? share : error;
                all += share;
            }
        }
        if (status != LGM_OK || !(error <= (real)1.0) || !isfinite(all)) {
            const real factor =
                (status == LGM_OK && isfinite(all)) ? (real)0.9 * lgm_pow(error, (real)-0.2) : (real)0.1;
            solver->h = h * ((factor > (real)0.1) ? factor : (real)0.1);
            solver->rejected++;
            /* In such short steps the states do not change while time advances. */
            if (!(solver->h > (real)0.0625 * LGM_ROUNDING * lgm_fabs(solver->t))) {
                return (status == LGM_OK) ? LGM_NOT_FINITE : status;
            }
            continue;
        }
        solver->before = solver->t;
        solver->t = end;
        for (int at = 0; at < LGM_STATES; at++) {
            solver->x_before[at] = solver->x[at];
            solver->x[at] = solver->trial[at];
        }
        see(solver);
        {
            const real growth = (error > (real)1e-8) ? (real)0.9 * lgm_pow(error, (real)-0.2) : (real)5.0;
            /* A step shortened by `stop` does not limit the next one. */
            const real next = h * ((growth < (real)5.0) ? growth : (real)5.0);
            solver->h = (is_last && next < solver->h) ? solver->h : next;
        }
        solver->steps++;
        return LGM_OK;
    }
}

void lgm_dopri5_dense(const lgm_dopri5 *solver, lgm_real t, lgm_real x[]) {
    const real h = solver->t - solver->before;
    const real theta = (h > (real)0.0) ? (t - solver->before) / h : (real)1.0;
    const real rest = (real)1.0 - theta;
    for (int at = 0; at < LGM_STATES; at++) {
        const real change = solver->x[at] - solver->x_before[at];
        const real first = h * solver->slope[0][at] - change;
        const real last = change - h * solver->slope[6][at] - first;
        real bend = (real)0.0;
        for (int stage = 0; stage < 7; stage++) {
            bend += dense[stage] * solver->slope[stage][at];
        }
        x[at] = solver->x_before[at] + theta * (change + rest * (first + theta * (last + rest * h * bend)));
    }
}
