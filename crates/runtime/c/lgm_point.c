/* The functions of the model at a point, with a status. */
#include "lgm_point.h"
#include "lgm_numbers.h"

#include <math.h>

/* A sum is finite only if every term is; eight independent sums are computed in parallel. Finite terms may have a sum that overflows:
 * they are then examined individually. */
static int all_finite(const real values[], int count) {
    real sum = (real)0.0;
    real sum_0 = (real)0.0, sum_1 = (real)0.0, sum_2 = (real)0.0, sum_3 = (real)0.0;
    real sum_4 = (real)0.0, sum_5 = (real)0.0, sum_6 = (real)0.0, sum_7 = (real)0.0;
    int at = 0;
    for (; at <= count - 8; at += 8) {
        sum_0 += values[at];
        sum_1 += values[at + 1];
        sum_2 += values[at + 2];
        sum_3 += values[at + 3];
        sum_4 += values[at + 4];
        sum_5 += values[at + 5];
        sum_6 += values[at + 6];
        sum_7 += values[at + 7];
    }
    for (; at < count; at++) {
        sum += values[at];
    }
    sum += ((sum_0 + sum_1) + (sum_2 + sum_3)) + ((sum_4 + sum_5) + (sum_6 + sum_7));
    if (isfinite(sum)) {
        return 1;
    }
    for (at = 0; at < count; at++) {
        if (!isfinite(values[at])) {
            return 0;
        }
    }
    return 1;
}

lgm_status lgm_prepare(lgm_model *model, const lgm_parameters *parameters, lgm_real x[]) {
#if LGM_CONSTRAINTS
    if (lgm_init(model, parameters, x) != 0) {
        return all_finite(x, LGM_STATES) ? LGM_STARTS_DISAGREE : LGM_NOT_FINITE;
    }
#else
    lgm_init(model, parameters, x);
#endif
    return all_finite(x, LGM_STATES) ? LGM_OK : LGM_NOT_FINITE;
}

lgm_status lgm_rates(lgm_model *model, lgm_real t, const lgm_real x[], const lgm_real u[], const lgm_real du[],
    lgm_real dx[]) {
    (void)du;
#if LGM_UNKNOWNS
    if (lgm_rhs(model, t, x, u LGM_DU(, du), dx) != 0) {
        return LGM_LOOP_NOT_SOLVED;
    }
#else
    lgm_rhs(model, t, x, u LGM_DU(, du), dx);
#endif
    return LGM_OK;
}

lgm_status lgm_finite_rates(lgm_model *model, lgm_real t, const lgm_real x[], const lgm_real u[], const lgm_real du[],
    lgm_real dx[]) {
    const lgm_status status = lgm_rates(model, t, x, u, du, dx);
    if (status != LGM_OK) {
        return status;
    }
    return all_finite(dx, LGM_STATES) ? LGM_OK : LGM_NOT_FINITE;
}

lgm_status lgm_finite_outputs(lgm_model *model, lgm_real t, const lgm_real x[], const lgm_real u[], const lgm_real du[],
    lgm_real y[]) {
    (void)du;
#if LGM_UNKNOWNS
    if (lgm_outputs(model, t, x, u LGM_DU(, du), y) != 0) {
        return LGM_LOOP_NOT_SOLVED;
    }
#else
    lgm_outputs(model, t, x, u LGM_DU(, du), y);
#endif
    return all_finite(y, LGM_OUTPUTS) ? LGM_OK : LGM_NOT_FINITE;
}
