/* The functions of the model at a point, with a status. */
#ifndef LGM_POINT_H
#define LGM_POINT_H

#include "lgm_model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Sets the parameters and finds the initial states. */
lgm_status lgm_prepare(lgm_model *model, const lgm_parameters *parameters, lgm_real x[]);

/* Writes the time derivatives of the states, including infinite values and NaN. */
lgm_status lgm_rates(lgm_model *model, lgm_real t, const lgm_real x[], const lgm_real u[], const lgm_real du[], lgm_real dx[]);

/* Does the same, and writes the outputs; returns LGM_NOT_FINITE if a value is not finite. */
lgm_status lgm_finite_rates(lgm_model *model, lgm_real t, const lgm_real x[], const lgm_real u[], const lgm_real du[],
    lgm_real dx[]);
lgm_status lgm_finite_outputs(lgm_model *model, lgm_real t, const lgm_real x[], const lgm_real u[], const lgm_real du[],
    lgm_real y[]);

#ifdef __cplusplus
}
#endif

#endif
