/* Tables of the states, unknowns and conditions of a model. */
#ifndef LGM_TABLES_H
#define LGM_TABLES_H

#include "lgm_model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Scales of the states before they were seen; a negative one was given by the model, and stays. */
extern const lgm_real lgm_state_scales[LGM_ROOM(LGM_STATES)];
/* States of one kind have the same number. */
extern const int lgm_state_kinds[LGM_ROOM(LGM_STATES)];
/* True if the model gives the start: the state keeps its value if an input steps at the start. */
extern const int lgm_start_given[LGM_ROOM(LGM_STATES)];
/* The place of each condition at which the equations jump, or have a derivative discontinuity, among all conditions. */
extern const int lgm_jumping_places[LGM_ROOM(LGM_CONDITIONS)];
extern const int lgm_bending_places[LGM_ROOM(LGM_BENDS)];
#if LGM_UNKNOWNS
/* Where solutions of the loops are looked for at first, five lists. */
extern const lgm_real lgm_loop_guesses[5 * LGM_UNKNOWNS];
/* Linear loops have one solution; displacements of closed chains go on without leaps, to where they end at a dead centre. */
extern const int lgm_settled_unknowns[LGM_UNKNOWNS];
/* Unknowns that give stored quantities do not jump. */
extern const int lgm_stored_unknowns[LGM_UNKNOWNS];
#endif
#if LGM_EVENTS
/* Combinations of modes: the mode of each element, whether there are equations, the reason if there are none, what each state is, and
 * whether a margin is looked at. */
extern const int lgm_modes_of[LGM_COMBINATIONS * LGM_ROOM(LGM_ELEMENTS)];
extern const int lgm_has_equations[LGM_COMBINATIONS];
extern const char *const lgm_conflicts[LGM_COMBINATIONS];
extern const int lgm_known[LGM_COMBINATIONS * LGM_ROOM(LGM_STATES)];
extern const int lgm_watches[LGM_COMBINATIONS * LGM_ROOM(LGM_MARGINS)];
/* Elements: where their modes and their ports begin; and of each mode, the variable that it gives at each port: 0 for effort, 1 for flow,
 * -1 for none. */
extern const int lgm_first_mode[LGM_ELEMENTS + 1];
extern const int lgm_first_port[LGM_ELEMENTS + 1];
extern const int lgm_first_given[LGM_MODES + 1];
extern const int lgm_given[LGM_ROOM(LGM_GIVENS)];
/* The changes of each mode: where they lead, what they set, and of one whose condition is one comparison its margin, or -1, and whether
 * it is taken above 0. */
extern const int lgm_first_change[LGM_MODES + 1];
extern const int lgm_change_to[LGM_ROOM(LGM_CHANGES)];
/* 1 if the mode that follows may be tried without the condition: it is left by itself if it is wrong. */
extern const int lgm_change_is_free[LGM_ROOM(LGM_CHANGES)];
/* 1 if the condition does not hold without variables of the ports of the element. */
extern const int lgm_change_asks_ports[LGM_ROOM(LGM_CHANGES)];
extern const int lgm_change_margins[LGM_ROOM(LGM_CHANGES)];
extern const int lgm_change_is_above[LGM_ROOM(LGM_CHANGES)];
extern const int lgm_first_set[LGM_CHANGES + 1];
extern const int lgm_set_ports[LGM_ROOM(LGM_SETS)];
extern const int lgm_set_variables[LGM_ROOM(LGM_SETS)];
/* Blocks: the period and the first instant of those that are sampled, 0 of `when` blocks, and -1 of those that run initially; where their
 * assignments begin; the targets of these: a discrete variable (0), a choice (1), a state (2). */
extern const lgm_real lgm_periods[LGM_ROOM(LGM_BLOCKS)];
extern const lgm_real lgm_firsts[LGM_ROOM(LGM_BLOCKS)];
extern const int lgm_first_assignment[LGM_BLOCKS + 1];
extern const int lgm_target_kinds[LGM_ROOM(LGM_ASSIGNMENTS)];
extern const int lgm_target_places[LGM_ROOM(LGM_ASSIGNMENTS)];
/* The inputs of discrete variables; the inputs that are held between events; the states whose start is known. */
extern const int lgm_discrete_inputs[LGM_ROOM(LGM_DISCRETES)];
extern const int lgm_is_held[LGM_ROOM(LGM_INPUTS)];
extern const int lgm_start_known[LGM_ROOM(LGM_STATES)];
#endif

#ifdef __cplusplus
}
#endif

#endif
