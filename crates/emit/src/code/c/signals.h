/* The default signals of the inputs of @model@, and where they or the equations step or bend.
 *
 * @origin@
 *
 * For programs that run the model by itself; a program that has inputs of its own needs none of this.
 */
#ifndef @guard@_SIGNALS_H
#define @guard@_SIGNALS_H

#include "@name@.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Conditions on states at which the equations jump. */
#define @name@_CONDITIONS @conditions@
@if bends@
/* Conditions on states at which they bend. */
#define @name@_BENDS @bend_count@
@end@

/* The inputs u and their time derivatives du at a time. A step has its new value at the instant itself. */
void @name@_inputs(@name@_model *model, @name@_real t, @name@_real u[], @name@_real du[]);

/* The first instant after `after`, and not after `stop`, at which what depends on time alone steps or bends; HUGE_VAL where
 * there is none. A condition that changes twice between two of some 20,000 samples from `start` to `stop` may be missed. */
@name@_real @name@_next_corner(@name@_model *model, @name@_real start, @name@_real after, @name@_real stop);

/* The longest step in which a solver overlooks no turn of what oscillates with time alone between two times, at the parameters
 * that the model has; HUGE_VAL where nothing does, or where the equations are linear and answer every turn in proportion. */
@name@_real @name@_longest_step(@name@_model *model, @name@_real start, @name@_real stop);

/* Functions that change their sign where a condition on states changes; to be called after @name@_rhs at the same point. */
void @name@_conditions(@name@_model *model, @name@_real t, const @name@_real x[], const @name@_real u[],
    const @name@_real du[], @name@_real values[]);
@if bends@

/* The same where the equations bend. */
void @name@_bends(@name@_model *model, @name@_real t, const @name@_real x[], const @name@_real u[], const @name@_real du[],
    @name@_real values[]);
@end@

#ifdef __cplusplus
}
#endif

#endif
