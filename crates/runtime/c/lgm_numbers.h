/* The numbers that a model computes in, and what depends on how many digits they have. For sources, not for headers. */
#ifndef LGM_NUMBERS_H
#define LGM_NUMBERS_H

#include "lgm_tables.h"

#include <float.h>
#include <math.h>

typedef lgm_real real;

static inline real lgm_larger(real a, real b) {
    return (a > b) ? a : b;
}

static inline real lgm_smaller(real a, real b) {
    return (a < b) ? a : b;
}

static inline void lgm_copy(real to[], const real from[], int count) {
    for (int at = 0; at < count; at++) {
        to[at] = from[at];
    }
}

#ifdef __cplusplus
#define RESTRICT
#else
#define RESTRICT restrict
#endif

/* The unknowns of the algebraic loops of a model. */
#if LGM_UNKNOWNS
#define LGM_UNKNOWNS_OF(model) ((model)->w)
#else
#define LGM_UNKNOWNS_OF(model) ((const real *)0)
#endif

/* The part of a period, as an angle, that what looks at an oscillation of time may pass over at once. */
#define LGM_LARGEST_TURN ((real)0.7853981633974483)
/* Times and values within so many units of rounding are the same. */
#define LGM_ROUNDING ((real)64.0 * LGM_EPSILON)
/* A residual within so many units of rounding of its terms is zero. */
#define LGM_LOOP_ROUNDING ((real)8.0 * LGM_EPSILON)

#if LGM_FLOAT
#define LGM_EPSILON FLT_EPSILON
#define LGM_LEAST FLT_MIN
#define LGM_INFINITE HUGE_VALF
/* Seconds that lie between no two corners, wherever they are. */
#define LGM_NEAREST 1e-30F
/* The share by which starts that depend on each other may differ. */
#define LGM_AGREEMENT 1e-4F
/* A pivot below this share of its row is zero. */
#define LGM_SINGULAR 1e-6F
/* Tolerances of an unknown of the loops, as a share and by itself, and the part of a correction that rounding may leave. */
#define LGM_LOOP_RELATIVE 1e-6F
#define LGM_LOOP_ABSOLUTE 1e-10F
#define LGM_LOOP_NEARLY 8.0F
/* Bounds of the way of a step of inputs. */
#define LGM_JUMP_IN_PROPORTION 1e-4F
#define LGM_JUMP_COARSEST 1e-5F
#define LGM_JUMP_FINEST 2e-6F
#define LGM_JUMP_SAME 100.0F
#define lgm_fabs fabsf
#define lgm_pow powf
#define lgm_ceil ceilf
#define lgm_floor floorf
#define lgm_nextafter nextafterf
#else
#define LGM_EPSILON DBL_EPSILON
#define LGM_LEAST DBL_MIN
#define LGM_INFINITE HUGE_VAL
#define LGM_NEAREST 1e-200
#define LGM_AGREEMENT 1e-9
#define LGM_SINGULAR 1e-14
#define LGM_LOOP_RELATIVE 1e-13
#define LGM_LOOP_ABSOLUTE 1e-13
#define LGM_LOOP_NEARLY 1e4
#define LGM_JUMP_IN_PROPORTION 1e-6
#define LGM_JUMP_COARSEST 1e-11
#define LGM_JUMP_FINEST 1e-13
#define LGM_JUMP_SAME 1e4
#define lgm_fabs fabs
#define lgm_pow pow
#define lgm_ceil ceil
#define lgm_floor floor
#define lgm_nextafter nextafter
#endif

#endif
