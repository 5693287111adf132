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

@if change_counts@
/* Events: combinations of modes and the one in which the search at the start begins; elements with modes, their ports, their modes, the
 * variables that these give, their changes and what they set; margins of conditions; blocks, their assignments, discrete variables, what
 * blocks read and choose by; the first input that is an offset; whether the energy of storage is known. */
#define LGM_EVENTS 1
#define LGM_COMBINATIONS @combination_count@
#define LGM_FIRST_COMBINATION @first_combination@
#define LGM_ELEMENTS @element_count@
#define LGM_PORTS @port_count@
#define LGM_MODES @mode_count@
#define LGM_GIVENS @given_count@
#define LGM_CHANGES @change_count@
#define LGM_SETS @set_count@
#define LGM_MARGINS @margin_count@
#define LGM_BLOCKS @block_count@
#define LGM_ASSIGNMENTS @assignment_count@
#define LGM_DISCRETES @discrete_count@
#define LGM_READ @read_count@
#define LGM_TEMPORARIES @temporary_count@
#define LGM_FIRST_OFFSET @first_offset@
#define LGM_KNOWS_ENERGY @knows_energy@
@else@
/* Nothing happens at events. */
#define LGM_EVENTS 0
#define LGM_COMBINATIONS 1
@end@

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
