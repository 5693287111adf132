/* Directional derivatives of rates and outputs with respect to states and inputs. */
#ifndef LGM_DIRECTIONAL_H
#define LGM_DIRECTIONAL_H

#include "lgm_model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Working memory. */
typedef struct {
    lgm_real partials[LGM_ROOM(LGM_PARTIALS)];
#if LGM_UNKNOWNS
    lgm_real changes[LGM_STATES + 2 * LGM_INPUTS + LGM_UNKNOWNS];
#else
    lgm_real changes[LGM_ROOM(LGM_STATES + 2 * LGM_INPUTS)];
#endif
} lgm_directions;

/* Computes the changes of dx and y for the given changes of x, u and du, in this order; the loops are taken into account. */
lgm_status lgm_directional(lgm_model *model, lgm_directions *work, lgm_real t, const lgm_real x[], const lgm_real u[],
    const lgm_real du[], const lgm_real changes[], lgm_real dx_changes[], lgm_real y_changes[]);

#ifdef __cplusplus
}
#endif

#endif
