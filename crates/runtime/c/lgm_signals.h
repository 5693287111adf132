/* The default signals of the inputs, and the instants at which they or the equations have a step or a kink.
 *
 * For programs that run the model themselves; a program with its own inputs does not need this.
 */
#ifndef LGM_SIGNALS_H
#define LGM_SIGNALS_H

#include "lgm_model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Computes the inputs u and their time derivatives du at a time. At the instant of a step the new value applies. */
void lgm_inputs(lgm_model *model, lgm_real t, lgm_real u[], lgm_real du[]);

/* Returns the time at which inputs that step are read: a few units in the last place later, so that a period of 0.1 s is over at the third of
 * its instants although 0.3 in doubles is less than 3 times 0.1. */
lgm_real lgm_later(lgm_real t);

/* Returns the first instant after `after`, and not after `stop`, at which an expression of time has a step or a kink; HUGE_VAL if there
 * is none. A condition that changes twice between two of some 20,000 samples from `start` to `stop` may be missed. */
lgm_real lgm_next_corner(lgm_model *model, lgm_real start, lgm_real after, lgm_real stop);

/* Returns the longest step in which a solver misses no turn of an oscillation in time between two times, for the parameters of the
 * model; HUGE_VAL if nothing oscillates, or if the equations are linear and follow every turn in proportion. */
lgm_real lgm_longest_step(lgm_model *model, lgm_real start, lgm_real stop);

/* Computes functions that change their sign when a condition on states changes; call this after lgm_finite_rates at the same point. */
void lgm_conditions(lgm_model *model, lgm_real t, const lgm_real x[], const lgm_real u[],
    const lgm_real du[], lgm_real values[]);
#if LGM_BENDS

/* Does the same for kinks of the equations. */
void lgm_bends(lgm_model *model, lgm_real t, const lgm_real x[], const lgm_real u[], const lgm_real du[],
    lgm_real values[]);
#endif

#ifdef __cplusplus
}
#endif

#endif
