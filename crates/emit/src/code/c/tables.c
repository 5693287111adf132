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
@if several@
@else@
const int @name@_jacobian_rows[@name@_STATES + 1] = {@jacobian_rows@};
const int @name@_jacobian_columns[@name@_ROOM(@name@_JACOBIAN_ENTRIES)] = {@jacobian_columns@};
@end@
@if loops@
const @name@_real @name@_loop_guesses[5 * @name@_UNKNOWNS] = {@guesses@};
const int @name@_settled_unknowns[@name@_UNKNOWNS] = {@settled_unknowns@};
const int @name@_stored_unknowns[@name@_UNKNOWNS] = {@stored_unknowns@};
@end@
@if change_tables@

const char *const @name@_element_names[@name@_ROOM(LGM_ELEMENTS)] = {
@element_names@};
const int @name@_is_junction[@name@_ROOM(LGM_ELEMENTS)] = {@is_junction@};
const char *const @name@_mode_names[@name@_ROOM(LGM_MODES)] = {
@mode_names@};
const char *const @name@_block_names[@name@_ROOM(LGM_BLOCKS)] = {
@block_names@};

const int @name@_modes_of[LGM_COMBINATIONS * @name@_ROOM(LGM_ELEMENTS)] = {@modes_of@};
const int @name@_has_equations[LGM_COMBINATIONS] = {@has_equations@};
const char *const @name@_conflicts[LGM_COMBINATIONS] = {
@conflicts@};
const int @name@_known[LGM_COMBINATIONS * @name@_ROOM(@name@_STATES)] = {@known@};
const int @name@_watches[LGM_COMBINATIONS * @name@_ROOM(LGM_MARGINS)] = {@watches@};

const int @name@_first_mode[LGM_ELEMENTS + 1] = {@first_mode@};
const int @name@_first_port[LGM_ELEMENTS + 1] = {@first_port@};
const int @name@_first_given[LGM_MODES + 1] = {@first_given@};
const int @name@_given[@name@_ROOM(LGM_GIVENS)] = {@given@};
const int @name@_first_change[LGM_MODES + 1] = {@first_change@};
const int @name@_change_to[@name@_ROOM(LGM_CHANGES)] = {@change_to@};
const int @name@_change_is_free[@name@_ROOM(LGM_CHANGES)] = {@change_is_free@};
const int @name@_change_asks_ports[@name@_ROOM(LGM_CHANGES)] = {@change_asks_ports@};
const int @name@_change_margins[@name@_ROOM(LGM_CHANGES)] = {@change_margins@};
const int @name@_change_is_above[@name@_ROOM(LGM_CHANGES)] = {@change_is_above@};
const int @name@_first_set[LGM_CHANGES + 1] = {@first_set@};
const int @name@_set_ports[@name@_ROOM(LGM_SETS)] = {@set_ports@};
const int @name@_set_variables[@name@_ROOM(LGM_SETS)] = {@set_variables@};

const @name@_real @name@_periods[@name@_ROOM(LGM_BLOCKS)] = {@periods@};
const @name@_real @name@_firsts[@name@_ROOM(LGM_BLOCKS)] = {@firsts@};
const int @name@_first_assignment[LGM_BLOCKS + 1] = {@first_assignment@};
const int @name@_target_kinds[@name@_ROOM(LGM_ASSIGNMENTS)] = {@target_kinds@};
const int @name@_target_places[@name@_ROOM(LGM_ASSIGNMENTS)] = {@target_places@};
const int @name@_discrete_inputs[@name@_ROOM(LGM_DISCRETES)] = {@discrete_inputs@};
const int @name@_is_held[@name@_ROOM(@name@_INPUTS)] = {@is_held@};
const int @name@_start_known[@name@_ROOM(@name@_STATES)] = {@start_known@};
@end@
