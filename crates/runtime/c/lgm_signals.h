/* The default signals of the inputs, and where they or the equations step or bend.
 *
 * For programs that run the model by itself; a program that has inputs of its own needs none of this.
 */
#ifndef LGM_SIGNALS_H
#define LGM_SIGNALS_H

#include "lgm_model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The inputs u and their time derivatives du at a time. A step has its new value at the instant itself. */
void lgm_inputs(lgm_model *model, lgm_real t, lgm_real u[], lgm_real du[]);

/* The first instant after `after`, and not after `stop`, at which what depends on time alone steps or bends; HUGE_VAL where
 * there is none. A condition that changes twice between two of some 20,000 samples from `start` to `stop` may be missed. */
lgm_real lgm_next_corner(lgm_model *model, lgm_real start, lgm_real after, lgm_real stop);

/* The longest step in which a solver overlooks no turn of what oscillates with time alone between two times, at the parameters
 * that the model has; HUGE_VAL where nothing does, or where the equations are linear and answer every turn in proportion. */
lgm_real lgm_longest_step(lgm_model *model, lgm_real start, lgm_real stop);

/* Functions that change their sign where a condition on states changes; to be called after lgm_rhs at the same point. */
void lgm_conditions(lgm_model *model, lgm_real t, const lgm_real x[], const lgm_real u[],
    const lgm_real du[], lgm_real values[]);
#if LGM_BENDS

/* The same where the equations bend. */
void lgm_bends(lgm_model *model, lgm_real t, const lgm_real x[], const lgm_real u[], const lgm_real du[],
    lgm_real values[]);
#endif

#ifdef __cplusplus
}
#endif

#endif
