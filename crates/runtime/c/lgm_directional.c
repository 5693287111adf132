/* Directional derivatives of rates and outputs with respect to states and inputs. */
#include "lgm_directional.h"
#include "lgm_numbers.h"

#include <math.h>

#include "lgm_partials.h"

/* Multiplies the rows of a sparse matrix by the changes. */
static void times_changes(const lgm_directions *work, const int rows[], const int columns[], int count, real products[]) {
    for (int row = 0; row < count; row++) {
        real sum = (real)0.0;
        for (int at = rows[row]; at < rows[row + 1]; at++) {
            sum += work->partials[at] * work->changes[columns[at]];
        }
        products[row] = sum;
    }
}

static int are_finite(const real values[], int count) {
    for (int at = 0; at < count; at++) {
        if (!isfinite(values[at])) {
            return 0;
        }
    }
    return 1;
}

lgm_status lgm_directional(lgm_model *model, lgm_directions *work, lgm_real t, const lgm_real x[], const lgm_real u[],
    const lgm_real du[], const lgm_real changes[], lgm_real dx_changes[], lgm_real y_changes[]) {
#if LGM_UNKNOWNS
    real *const followed = work->changes + (LGM_STATES + 2 * LGM_INPUTS);
    real right[LGM_UNKNOWNS];
#endif
    for (int at = 0; at < LGM_STATES + 2 * LGM_INPUTS; at++) {
        work->changes[at] = changes[at];
    }
#if LGM_UNKNOWNS
    /* The unknowns w of g(x, u, w) = 0 change by dw = -(dg/dw)^-1 dg. They are solved for first, so that the partial derivatives are
     * valid there. */
    for (int at = 0; at < LGM_UNKNOWNS; at++) {
        followed[at] = (real)0.0;
        right[at] = (real)0.0;
    }
    if (!lgm_loops_follow(model, t, x, u LGM_DU(, du), right)) {
        return LGM_LOOP_NOT_SOLVED;
    }
    system_residuals_partials(model, t, x, u, du, model->w, work->partials);
    times_changes(work, residuals_rows, residuals_columns, LGM_UNKNOWNS, right);
    if (!lgm_loops_follow(model, t, x, u LGM_DU(, du), right)) {
        return LGM_LOOP_NOT_SOLVED;
    }
    for (int at = 0; at < LGM_UNKNOWNS; at++) {
        followed[at] = -right[at];
    }
#endif
    system_rates_partials(model, t, x, u, du, LGM_UNKNOWNS_OF(model), work->partials);
    times_changes(work, rates_rows, rates_columns, LGM_STATES, dx_changes);
    system_outputs_partials(model, t, x, u, du, LGM_UNKNOWNS_OF(model), work->partials);
    times_changes(work, outputs_rows, outputs_columns, LGM_OUTPUTS, y_changes);
    return (are_finite(dx_changes, LGM_STATES) && are_finite(y_changes, LGM_OUTPUTS)) ? LGM_OK : LGM_NOT_FINITE;
}
