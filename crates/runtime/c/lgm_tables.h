/* Tables of the states, unknowns and conditions of a model. */
#ifndef LGM_TABLES_H
#define LGM_TABLES_H

#include "lgm_model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Initial scales of the states; negative ones were given by the model and stay. */
extern const lgm_real lgm_state_scales[LGM_ROOM(LGM_STATES)];
/* States of one kind have the same number. */
extern const int lgm_state_kinds[LGM_ROOM(LGM_STATES)];
/* True if the model gives the initial value: the state keeps it if an input steps at the start. */
extern const int lgm_start_given[LGM_ROOM(LGM_STATES)];
/* The index, in the list of all conditions, of each condition at which the equations have a jump, or a kink. */
extern const int lgm_jumping_places[LGM_ROOM(LGM_CONDITIONS)];
extern const int lgm_bending_places[LGM_ROOM(LGM_BENDS)];
#if LGM_UNKNOWNS
/* Linear loops have one solution; displacements of closed chains continue without jumps, up to a dead centre. */
extern const int lgm_settled_unknowns[LGM_UNKNOWNS];
/* Unknowns that give stored quantities do not jump. */
extern const int lgm_stored_unknowns[LGM_UNKNOWNS];
#endif
#if LGM_EVENTS
/* Combinations of modes: the mode of each element, whether equations exist, the reason if they do not, the role of each state, and
 * whether a margin is watched. */
extern const int lgm_modes_of[LGM_COMBINATIONS * LGM_ROOM(LGM_ELEMENTS)];
extern const int lgm_has_equations[LGM_COMBINATIONS];
extern const char *const lgm_conflicts[LGM_COMBINATIONS];
extern const int lgm_known[LGM_COMBINATIONS * LGM_ROOM(LGM_STATES)];
extern const int lgm_watches[LGM_COMBINATIONS * LGM_ROOM(LGM_MARGINS)];
/* Elements: the start indices of their modes and of their ports; and for each mode, the variable that it gives at each port: 0 for
 * effort, 1 for flow, -1 for none. */
extern const int lgm_first_mode[LGM_ELEMENTS + 1];
extern const int lgm_first_port[LGM_ELEMENTS + 1];
extern const int lgm_first_given[LGM_MODES + 1];
extern const int lgm_given[LGM_ROOM(LGM_GIVENS)];
/* 1 for each element of a combination whose mode is redundant because of other modes. */
extern const int lgm_redundant[LGM_COMBINATIONS * LGM_ROOM(LGM_ELEMENTS)];
/* The changes of each mode: their targets, the values that they set, and the comparison in the condition that bounds the free variable
 * of the port: its margin, or -1, whether it holds if the margin is positive, and whether it holds if the variable is above the bound. */
extern const int lgm_first_change[LGM_MODES + 1];
extern const int lgm_change_to[LGM_ROOM(LGM_CHANGES)];
/* 1 if the next mode may be tried without the condition, because the element always leaves a wrong mode. */
extern const int lgm_change_is_free[LGM_ROOM(LGM_CHANGES)];
extern const int lgm_change_margins[LGM_ROOM(LGM_CHANGES)];
extern const int lgm_change_is_positive[LGM_ROOM(LGM_CHANGES)];
extern const int lgm_change_is_above[LGM_ROOM(LGM_CHANGES)];
/* The mode beyond the next bound in the same direction; -1 if there is none. */
extern const int lgm_change_far[LGM_ROOM(LGM_CHANGES)];
extern const int lgm_first_set[LGM_CHANGES + 1];
extern const int lgm_set_ports[LGM_ROOM(LGM_SETS)];
extern const int lgm_set_variables[LGM_ROOM(LGM_SETS)];
/* Blocks: the period and the first instant of sampled ones, 0 for `when` blocks, and -1 for those that run initially; the start index of
 * their assignments; the targets of these: a discrete variable (0), a choice (1), a state (2). */
extern const lgm_real lgm_periods[LGM_ROOM(LGM_BLOCKS)];
extern const lgm_real lgm_firsts[LGM_ROOM(LGM_BLOCKS)];
extern const int lgm_first_assignment[LGM_BLOCKS + 1];
extern const int lgm_target_kinds[LGM_ROOM(LGM_ASSIGNMENTS)];
extern const int lgm_target_places[LGM_ROOM(LGM_ASSIGNMENTS)];
/* The inputs of discrete variables; the inputs that are held between events; the states with known initial values. */
extern const int lgm_discrete_inputs[LGM_ROOM(LGM_DISCRETES)];
extern const int lgm_is_held[LGM_ROOM(LGM_INPUTS)];
extern const int lgm_start_known[LGM_ROOM(LGM_STATES)];
#endif

#ifdef __cplusplus
}
#endif

#endif
