/* The floating-point type of a model, and constants that depend on its precision. For sources, not for headers. */
#ifndef LGM_NUMBERS_H
#define LGM_NUMBERS_H

#include "lgm_tables.h"

#include <float.h>
#include <math.h>

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

/* The largest phase angle of an oscillation in time, in radians, between two samples. */
#define LGM_LARGEST_TURN ((real)0.7853981633974483)
/* Times and values within this many units of round-off are equal. */
#define LGM_ROUNDING ((real)64.0 * LGM_EPSILON)
/* A residual within this many units of round-off of its terms is zero. */
#define LGM_LOOP_ROUNDING ((real)8.0 * LGM_EPSILON)

#if LGM_FLOAT
#define LGM_EPSILON FLT_EPSILON
#define LGM_LEAST FLT_MIN
#define LGM_INFINITE HUGE_VALF
/* Corners at most this many seconds apart have nothing in between, at any time. */
#define LGM_NEAREST 1e-30F
/* The largest relative difference of initial values that depend on each other. */
#define LGM_AGREEMENT 1e-4F
/* A pivot below this fraction of its row is zero. */
#define LGM_SINGULAR 1e-6F
/* The relative and the absolute tolerance of an unknown of the loops, and the fraction of a correction that round-off may leave. */
#define LGM_LOOP_RELATIVE 1e-6F
#define LGM_LOOP_ABSOLUTE 1e-10F
#define LGM_LOOP_NEARLY 8.0F
/* Bounds for the path of a step of inputs. */
#define LGM_JUMP_IN_PROPORTION 1e-4F
#define LGM_JUMP_COARSEST 1e-5F
#define LGM_JUMP_FINEST 2e-6F
#define LGM_JUMP_SAME 100.0F
#else
#define LGM_EPSILON DBL_EPSILON
#define LGM_LEAST DBL_MIN
#define LGM_INFINITE HUGE_VAL
/* Corners at most this many seconds apart have nothing in between, at any time. */
#define LGM_NEAREST 1e-200
/* The largest relative difference of initial values that depend on each other. */
#define LGM_AGREEMENT 1e-9
/* A pivot below this fraction of its row is zero. */
#define LGM_SINGULAR 1e-14
/* The relative and the absolute tolerance of an unknown of the loops, and the fraction of a correction that round-off may leave. */
#define LGM_LOOP_RELATIVE 1e-13
#define LGM_LOOP_ABSOLUTE 1e-13
#define LGM_LOOP_NEARLY 1e4
/* Bounds for the path of a step of inputs. */
#define LGM_JUMP_IN_PROPORTION 1e-6
#define LGM_JUMP_COARSEST 1e-11
#define LGM_JUMP_FINEST 1e-13
#define LGM_JUMP_SAME 1e4
#endif

#endif
