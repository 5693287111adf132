/* The user's names of the columns that a run of @model@ writes, and of its parameters.
 *
 * @origin@
 */
#include "@name@_names.h"

#include <stddef.h>

const char *const @name@_column_names[1 + @name@_OUTPUTS + @name@_STATE_COLUMNS] = {
@column_names@};

const int @name@_column_states[@name@_ROOM(@name@_STATE_COLUMNS)] = {@column_states@};

const char *const @name@_parameter_names[@name@_ROOM(@name@_PARAMETERS)] = {
@parameter_names@};

const char *const @name@_state_names[@name@_ROOM(@name@_STATES)] = {
@state_names@};

const char *const @name@_output_names[@name@_ROOM(@name@_OUTPUTS)] = {
@output_names@};

const char *const @name@_loop_names[@name@_ROOM(@name@_UNKNOWNS)] = {
@loop_names@};

@name@_real *@name@_parameter(@name@_parameters *parameters, int entry) {
    switch (entry) {
@parameter_cases@    default:
        return NULL;
    }
}
