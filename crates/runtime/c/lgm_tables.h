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

#ifdef __cplusplus
}
#endif

#endif
