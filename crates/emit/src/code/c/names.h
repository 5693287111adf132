/* The user's names of the columns that a run of @model@ writes, and of its parameters.
 *
 * @origin@
 */
#ifndef @guard@_NAMES_H
#define @guard@_NAMES_H

#include "@name@.h"

#ifdef __cplusplus
extern "C" {
#endif

/* States with a column of their own; the others are outputs under the same name. */
#define @name@_STATE_COLUMNS @state_columns@

/* The line that names the columns: the time, the outputs, the states. */
extern const char *const @name@_column_names[1 + @name@_OUTPUTS + @name@_STATE_COLUMNS];
/* The state of each column of a state. */
extern const int @name@_column_states[@name@_ROOM(@name@_STATE_COLUMNS)];
/* The name of each entry of each parameter, in order of declaration. */
extern const char *const @name@_parameter_names[@name@_ROOM(@name@_PARAMETERS)];

/* The names of the states and of the outputs, and the element whose algebraic loop each unknown belongs to. */
extern const char *const @name@_state_names[@name@_ROOM(@name@_STATES)];
extern const char *const @name@_output_names[@name@_ROOM(@name@_OUTPUTS)];
extern const char *const @name@_loop_names[@name@_ROOM(@name@_UNKNOWNS)];

/* An entry of the parameters by its place in that order. */
@name@_real *@name@_parameter(@name@_parameters *parameters, int entry);

#ifdef __cplusplus
}
#endif

#endif
