/* The user's names of the columns that a run writes, and of its parameters. */
#ifndef LGM_NAMES_H
#define LGM_NAMES_H

#include "lgm_model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The header: the time, the outputs, the states. */
extern const char *const lgm_column_names[1 + LGM_OUTPUTS + LGM_STATE_COLUMNS];
/* The state of each column of a state. */
extern const int lgm_column_states[LGM_ROOM(LGM_STATE_COLUMNS)];
/* The name of each entry of each parameter, in order of declaration. */
extern const char *const lgm_parameter_names[LGM_ROOM(LGM_PARAMETERS)];

/* The names of the states and of the outputs. */
extern const char *const lgm_state_names[LGM_ROOM(LGM_STATES)];
extern const char *const lgm_output_names[LGM_ROOM(LGM_OUTPUTS)];

/* The element whose algebraic loop each unknown belongs to. */
extern const char *const lgm_loop_names[LGM_ROOM(LGM_UNKNOWNS)];

#if LGM_EVENTS
/* The names of elements with modes and whether each is a junction, of their modes, and of blocks. */
extern const char *const lgm_element_names[LGM_ROOM(LGM_ELEMENTS)];
extern const int lgm_is_junction[LGM_ROOM(LGM_ELEMENTS)];
extern const char *const lgm_mode_names[LGM_ROOM(LGM_MODES)];
extern const char *const lgm_block_names[LGM_ROOM(LGM_BLOCKS)];
#endif

/* Returns an entry of the parameters by its index in that order. */
lgm_real *lgm_parameter(lgm_parameters *parameters, int entry);

#ifdef __cplusplus
}
#endif

#endif
