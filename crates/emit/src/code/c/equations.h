/* The equations of @model@ as functions of arrays, for `lgm_model.c`.
 *
 * @origin@
 */
@helpers@@programs@
@hooks@static void system_defaults(lgm_parameters *parameters) {
@default_lines@}

static void system_parameters(lgm_model *model, const lgm_parameters *parameters) {
    real *const p = model->p;
@parameter_lines@}
@if loop_solver@

static const int loop_rows[LGM_UNKNOWNS + 1] = {@loop_rows@};
static const int loop_columns[@loop_room@] = {@loop_columns@};
static const int direct_rows[LGM_STATES + 1] = {@direct_rows@};
static const int direct_columns[@direct_room@] = {@direct_columns@};
static const int by_loop_rows[LGM_STATES + 1] = {@by_loop_rows@};
static const int by_loop_columns[@by_loop_room@] = {@by_loop_columns@};
static const int by_state_rows[LGM_UNKNOWNS + 1] = {@by_state_rows@};
static const int by_state_columns[@by_state_room@] = {@by_state_columns@};
@end@
@if directional@

static const int rates_rows[LGM_STATES + 1] = {@rates_partials_rows@};
static const int rates_columns[@rates_partials_room@] = {@rates_partials_columns@};
static const int outputs_rows[LGM_OUTPUTS + 1] = {@outputs_partials_rows@};
static const int outputs_columns[@outputs_partials_room@] = {@outputs_partials_columns@};
@if loop_solver@
static const int residuals_rows[LGM_UNKNOWNS + 1] = {@residuals_partials_rows@};
static const int residuals_columns[@residuals_partials_room@] = {@residuals_partials_columns@};
@end@
@end@
