/* The user's names of the columns that a run of @model@ writes and of its parameters, and what is known of its states.
 *
 * @origin@
 */
#include "lgm_names.h"
#include "lgm_tables.h"

#include <math.h>
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

const @name@_real @name@_state_scales[@name@_ROOM(@name@_STATES)] = {@state_scales@};
const int @name@_state_kinds[@name@_ROOM(@name@_STATES)] = {@state_kinds@};
const int @name@_start_given[@name@_ROOM(@name@_STATES)] = {@start_given@};
const int @name@_jumping_places[@name@_ROOM(@name@_CONDITIONS)] = {@jumping@};
const int @name@_bending_places[@name@_ROOM(@name@_BENDS)] = {@bending@};
const int @name@_jacobian_rows[@name@_STATES + 1] = {@jacobian_rows@};
const int @name@_jacobian_columns[@name@_ROOM(@name@_JACOBIAN_ENTRIES)] = {@jacobian_columns@};
@if loops@
const @name@_real @name@_loop_guesses[5 * @name@_UNKNOWNS] = {@guesses@};
const int @name@_settled_unknowns[@name@_UNKNOWNS] = {@settled_unknowns@};
const int @name@_stored_unknowns[@name@_UNKNOWNS] = {@stored_unknowns@};
@end@
