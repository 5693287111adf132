/* The user's names of the columns that a run of @model@ writes and of its parameters, and the properties of its states. */
#include "lgm_names.h"
#include "lgm_tables.h"

#include <math.h>
#include <stddef.h>

const char *const lgm_column_names[1 + LGM_OUTPUTS + LGM_STATE_COLUMNS] = {
@column_names@};

const int lgm_column_states[LGM_ROOM(LGM_STATE_COLUMNS)] = {@column_states@};

const char *const lgm_parameter_names[LGM_ROOM(LGM_PARAMETERS)] = {
@parameter_names@};

const char *const lgm_state_names[LGM_ROOM(LGM_STATES)] = {
@state_names@};

const char *const lgm_output_names[LGM_ROOM(LGM_OUTPUTS)] = {
@output_names@};

const char *const lgm_loop_names[LGM_ROOM(LGM_UNKNOWNS)] = {
@loop_names@};

lgm_real *lgm_parameter(lgm_parameters *parameters, int entry) {
    switch (entry) {
@parameter_cases@    default:
        return NULL;
    }
}

const lgm_real lgm_state_scales[LGM_ROOM(LGM_STATES)] = {@state_scales@};
const int lgm_state_kinds[LGM_ROOM(LGM_STATES)] = {@state_kinds@};
const int lgm_start_given[LGM_ROOM(LGM_STATES)] = {@start_given@};
const int lgm_jumping_places[LGM_ROOM(LGM_CONDITIONS)] = {@jumping@};
const int lgm_bending_places[LGM_ROOM(LGM_BENDS)] = {@bending@};
@if loops@
const int lgm_settled_unknowns[LGM_UNKNOWNS] = {@settled_unknowns@};
const int lgm_stored_unknowns[LGM_UNKNOWNS] = {@stored_unknowns@};
@end@
@if change_tables@

const char *const lgm_element_names[LGM_ROOM(LGM_ELEMENTS)] = {
@element_names@};
const int lgm_is_junction[LGM_ROOM(LGM_ELEMENTS)] = {@is_junction@};
const char *const lgm_mode_names[LGM_ROOM(LGM_MODES)] = {
@mode_names@};
const char *const lgm_block_names[LGM_ROOM(LGM_BLOCKS)] = {
@block_names@};

const int lgm_modes_of[LGM_COMBINATIONS * LGM_ROOM(LGM_ELEMENTS)] = {@modes_of@};
const int lgm_has_equations[LGM_COMBINATIONS] = {@has_equations@};
const char *const lgm_conflicts[LGM_COMBINATIONS] = {
@conflicts@};
const int lgm_known[LGM_COMBINATIONS * LGM_ROOM(LGM_STATES)] = {@known@};
const int lgm_watches[LGM_COMBINATIONS * LGM_ROOM(LGM_MARGINS)] = {@watches@};
const int lgm_redundant[LGM_COMBINATIONS * LGM_ROOM(LGM_ELEMENTS)] = {@redundant@};

const int lgm_first_mode[LGM_ELEMENTS + 1] = {@first_mode@};
const int lgm_first_port[LGM_ELEMENTS + 1] = {@first_port@};
const int lgm_first_given[LGM_MODES + 1] = {@first_given@};
const int lgm_given[LGM_ROOM(LGM_GIVENS)] = {@given@};
const int lgm_first_change[LGM_MODES + 1] = {@first_change@};
const int lgm_change_to[LGM_ROOM(LGM_CHANGES)] = {@change_to@};
const int lgm_change_is_free[LGM_ROOM(LGM_CHANGES)] = {@change_is_free@};
const int lgm_change_margins[LGM_ROOM(LGM_CHANGES)] = {@change_margins@};
const int lgm_change_is_positive[LGM_ROOM(LGM_CHANGES)] = {@change_is_positive@};
const int lgm_change_is_above[LGM_ROOM(LGM_CHANGES)] = {@change_is_above@};
const int lgm_change_far[LGM_ROOM(LGM_CHANGES)] = {@change_far@};
const int lgm_first_set[LGM_CHANGES + 1] = {@first_set@};
const int lgm_set_ports[LGM_ROOM(LGM_SETS)] = {@set_ports@};
const int lgm_set_variables[LGM_ROOM(LGM_SETS)] = {@set_variables@};

const lgm_real lgm_periods[LGM_ROOM(LGM_BLOCKS)] = {@periods@};
const lgm_real lgm_firsts[LGM_ROOM(LGM_BLOCKS)] = {@firsts@};
const int lgm_first_assignment[LGM_BLOCKS + 1] = {@first_assignment@};
const int lgm_target_kinds[LGM_ROOM(LGM_ASSIGNMENTS)] = {@target_kinds@};
const int lgm_target_places[LGM_ROOM(LGM_ASSIGNMENTS)] = {@target_places@};
const int lgm_discrete_inputs[LGM_ROOM(LGM_DISCRETES)] = {@discrete_inputs@};
const int lgm_is_held[LGM_ROOM(LGM_INPUTS)] = {@is_held@};
const int lgm_start_known[LGM_ROOM(LGM_STATES)] = {@start_known@};
@end@
