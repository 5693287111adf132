/* The interface of @model@ to the sources that all models share.
 *
 * @origin@
 */
#ifndef LGM_MODEL_H
#define LGM_MODEL_H

#include "@name@.h"

/* Their names are those of this model. */
#define LGM(name) @name@_##name

#include "lgm_prefix.h"

/* Single precision. */
#define LGM_FLOAT @float@
/* Algebraic loops may have several solutions, of which a run follows one; a state is a conserved quantity, of which stored
 * quantities may have several. */
#define LGM_BRANCHES @has_branches@
#define LGM_TOTALS @has_totals@
/* Steps of inputs move states, by the same at every point or along a way. */
#define LGM_MOVES @has_moves@
#define LGM_LINEAR @is_linear@
#define LGM_JUMPS @has_jumps@
/* Steps are bounded by what oscillates with time alone. */
#define LGM_BOUNDS_STEPS @has_bounds@
/* Derivatives along any direction are there. */
#define LGM_DIRECTIONAL @is_directional@
/* Known instants, values that switch between them, oscillations of time, conditions on states, pairs of starts that depend on each
 * other, entries of the matrix of the loops. */
#define LGM_INSTANTS @instants@
#define LGM_SWITCHES @switches@
#define LGM_PHASES @phases@
#define LGM_CROSSINGS @crossings@
#define LGM_CONSTRAINTS @constraint_count@
#define LGM_LOOP_ENTRIES @loop_entries@
/* The number of times that an iteration may go aside where the loops have no slopes. */
#define LGM_ASIDES @asides@

/* The experiment of the model; without a stop time, the stop is the start. */
#define LGM_PLAN_START @plan_start@
#define LGM_PLAN_STOP @plan_stop@
#define LGM_PLAN_POINTS @plan_points@
#define LGM_PLAN_RTOL @plan_rtol@
#define LGM_PLAN_ATOL @plan_atol@
@if fixed@
/* The length of a step of fixed length in seconds.
 *
 * @operations@ */
#define LGM_FIXED_STEP @fixed_step@
@end@

#endif
