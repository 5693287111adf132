/* Code shared by the functions of FMI 2.0 and FMI 3.0 for @model@: one instance, its variables and its events.
 *
 * @origin@
 */
#include "lgm_names.h"
#include "@name@_instance.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const lgm_instance_token = "{token}";

/* Without a stop time, corners are searched for this many seconds ahead. */
static const double look_ahead = @look_ahead@;

/* Marks inputs with a default signal; the others are zero until they are set. Those marked 2 always follow theirs. */
static const int has_signal[LGM_ROOM(LGM_INPUTS)] = {@has_signal@};

static void forget_values(lgm_instance *instance) {
    instance->has_dx = 0;
    instance->has_y = 0;
}

static lgm_result result_of(lgm_instance *instance, lgm_status status) {
    instance->status = status;
    return (status == LGM_OK) ? RESULT_OK : RESULT_NO_VALUE;
}

void lgm_instance_reset(lgm_instance *instance, int is_co_simulation) {
    (void)memset(instance, 0, sizeof *instance);
    lgm_defaults(&instance->parameters);
    instance->is_co_simulation = is_co_simulation;
    instance->run.is_line = is_co_simulation;
@if branches@
    instance->run.branch.is_exchanged = !is_co_simulation;
@end@
    instance->phase = PHASE_INSTANTIATED;
    for (int at = 0; at < LGM_INPUTS; at++) {
        instance->run.is_set[at] = (has_signal[at] == 0);
    }
    lgm_instance_plan(instance, @plan_start@, HUGE_VAL, 0.0);
}

void lgm_instance_plan(lgm_instance *instance, double start, double stop, double tolerance) {
    instance->start_time = start;
    instance->stop_time = (stop > start) ? stop : HUGE_VAL;
    instance->run.solver.rtol = @plan_rtol@;
    instance->run.solver.atol = @plan_atol@;
    if (tolerance > 0.0) {
        /* The allowed error of states near zero is proportional to it. */
        instance->run.solver.rtol = tolerance;
        instance->run.solver.atol = @plan_atol@ * (tolerance / @plan_rtol@);
    }
    instance->is_begun = 0;
}

/* Applies parameters that were set; x receives the resulting initial values. */
static lgm_result take_parameters(lgm_instance *instance, double x[]) {
    lgm_model *const model = &instance->run.model;
#if LGM_EVENTS
    /* Modes stay unchanged when parameters change during a run. */
    const int combination = model->combination;
#endif
    const lgm_status status = lgm_prepare(model, &instance->parameters, x);
#if LGM_EVENTS
    model->combination = combination;
#endif
    forget_values(instance);
    return result_of(instance, status);
}

lgm_result lgm_instance_begin(lgm_instance *instance) {
    lgm_run *const run = &instance->run;
    const double stop = (instance->stop_time < HUGE_VAL) ? instance->stop_time : instance->start_time + look_ahead;
    lgm_result result = take_parameters(instance, run->x);
    if (result != RESULT_OK) {
        return result;
    }
    for (int at = 0; at < LGM_STATES; at++) {
        if (instance->is_start_set[at] != 0) {
            run->x[at] = instance->starts[at];
        }
    }
    for (int at = 0; at < LGM_INPUTS; at++) {
        run->since[at] = instance->start_time;
    }
    result = result_of(instance, lgm_run_begin(run, instance->start_time, stop, instance->is_start_set));
    lgm_run_hold(run);
    instance->is_begun = 1;
    instance->are_parameters_new = 0;
    instance->are_inputs_new = 0;
    return result;
}

/* Applies the effects of changed inputs or parameters in a run and, at a corner, those of the corner. */
static lgm_result settle(lgm_instance *instance) {
    lgm_run *const run = &instance->run;
@if changing@
    /* A condition acts slightly before its margin is 0; an instant known exactly takes precedence within this distance. */
    const double soon = run->t + 1e-10 * fabs(run->t);
@else@
    const double soon = run->t + @rounding@ * fabs(run->t);
@end@
    lgm_status status = LGM_OK;
@if changing@
    if (instance->are_parameters_new != 0) {
        run->to = run->t;
    }
    if (lgm_run_bound(run) > run->t && lgm_run_bound(run) <= soon) {
        run->t = lgm_run_bound(run);
    }
@end@
    if (instance->are_parameters_new != 0 || lgm_run_bound(run) <= soon) {
        /* Other parameters may have other corners. */
        status = lgm_run_pass(run);
    } else if (instance->are_inputs_new != 0) {
@if changing@
        status = lgm_events_arrive(run);
        run->from = run->t;
        run->is_fresh = 1;
        status = (status == LGM_OK) ? lgm_events_corner(run) : status;
@else@
        status = lgm_run_jump(run);
@end@
    }
@if changing@
    if (status == LGM_OK && instance->is_co_simulation == 0) {
        status = lgm_events_pass(run);
    }
@end@
    instance->are_parameters_new = 0;
    instance->are_inputs_new = 0;
    forget_values(instance);
    lgm_run_hold(run);
    return result_of(instance, status);
}

/* Updates everything before values are read. */
static lgm_result refresh(lgm_instance *instance) {
    lgm_result result = RESULT_OK;
    if ((instance->phase & PHASES_BEFORE) != 0) {
        return (instance->is_begun != 0) ? RESULT_OK : lgm_instance_begin(instance);
    }
    if (instance->are_parameters_new == 1) {
        /* The states stay unchanged; contradictory initial values no longer matter. */
        result = take_parameters(instance, instance->dx);
@if constrained@
        if (instance->status == LGM_STARTS_DISAGREE) {
            result = RESULT_OK;
        }
@end@
        /* Applied; the corners have not been searched for yet. */
        instance->are_parameters_new = 2;
    }
    if (result == RESULT_OK && instance->phase == PHASE_STEP &&
        (instance->are_inputs_new != 0 || instance->are_parameters_new != 0)) {
        result = settle(instance);
    }
    return result;
}

/* Computes the event indicators at the current point. */
static void indicators(lgm_run *run, double values[]) {
    lgm_run_conditions(run, run->t, run->x, values);
@if branches@
    values[LGM_CONDITIONS] = lgm_branch_sign(run);
@end@
@if changing@
    lgm_events_indicators(run, values + INDICATORS_OF_STATES);
@end@
}

static lgm_result rates(lgm_instance *instance) {
    lgm_run *const run = &instance->run;
    lgm_result result = RESULT_OK;
    if (instance->has_dx == 0) {
        result = result_of(instance, lgm_run_rates(run, run->t, run->x, instance->dx));
        instance->has_dx = (result == RESULT_OK);
    }
    return result;
}

static lgm_result outputs(lgm_instance *instance) {
    lgm_run *const run = &instance->run;
    lgm_result result = RESULT_OK;
    if (instance->has_y == 0) {
        result = result_of(instance, lgm_run_outputs(run, run->t, run->x, instance->y));
        instance->has_y = (result == RESULT_OK);
    }
    return result;
}

lgm_result lgm_instance_get(lgm_instance *instance, unsigned int reference, double *value) {
    lgm_run *const run = &instance->run;
    const int at = (reference < (unsigned int)REFERENCE_END) ? (int)reference : (int)REFERENCE_END;
    lgm_result result = refresh(instance);
    if (at >= REFERENCE_END) {
        return RESULT_NO_SUCH_VARIABLE;
    }
    if (result != RESULT_OK) {
        return result;
    }
    if (at >= REFERENCE_CONDITIONS) {
        indicators(run, instance->signs);
        *value = instance->signs[at - REFERENCE_CONDITIONS];
    } else if (at >= REFERENCE_PARAMETERS) {
@if in_arrays@
        *value = run->model.p[at - REFERENCE_PARAMETERS];
@else@
        *value = *lgm_parameter(&run->model.p, at - REFERENCE_PARAMETERS);
@end@
    } else if (at >= REFERENCE_OUTPUTS) {
        result = outputs(instance);
        *value = instance->y[at - REFERENCE_OUTPUTS];
    } else if (at >= REFERENCE_INPUTS) {
        (void)lgm_run_inputs(run, run->t);
        *value = (at >= REFERENCE_INPUT_RATES) ? run->du[at - REFERENCE_INPUT_RATES] : run->u[at - REFERENCE_INPUTS];
    } else if (at >= REFERENCE_DERIVATIVES) {
        result = rates(instance);
        *value = instance->dx[at - REFERENCE_DERIVATIVES];
    } else if (at >= REFERENCE_STATES) {
@if changing@
        lgm_events_row(run, run->t, run->x, instance->dx_change);
        *value = instance->dx_change[at - REFERENCE_STATES];
@else@
        *value = run->x[at - REFERENCE_STATES];
@end@
    } else {
        *value = run->t;
    }
    return result;
}

lgm_result lgm_instance_states(lgm_instance *instance, double x[]) {
    const lgm_result result = refresh(instance);
    for (int at = 0; at < LGM_STATES && result == RESULT_OK; at++) {
        x[at] = instance->run.x[at];
    }
    return result;
}

lgm_result lgm_instance_rates(lgm_instance *instance, double dx[]) {
    lgm_result result = refresh(instance);
    if (result == RESULT_OK) {
        result = rates(instance);
    }
    for (int at = 0; at < LGM_STATES && result == RESULT_OK; at++) {
        dx[at] = instance->dx[at];
    }
    return result;
}

void lgm_instance_nominals(double nominals[]) {
    static const double sizes[LGM_ROOM(LGM_STATES)] = {@nominals@};
    for (int at = 0; at < LGM_STATES; at++) {
        nominals[at] = sizes[at];
    }
}

lgm_result lgm_instance_set(lgm_instance *instance, unsigned int reference, double value) {
    lgm_run *const run = &instance->run;
    const int at = (reference < (unsigned int)REFERENCE_END) ? (int)reference : (int)REFERENCE_END;
    const int is_before = (instance->phase & PHASES_BEFORE) != 0;
    if (at >= REFERENCE_CONDITIONS) {
        return RESULT_NO_SUCH_VARIABLE;
    }
    if (at >= REFERENCE_PARAMETERS) {
        *lgm_parameter(&instance->parameters, at - REFERENCE_PARAMETERS) = value;
        instance->are_parameters_new = 1;
    } else if (at >= REFERENCE_INPUTS && at < REFERENCE_OUTPUTS) {
        const int input = (at - REFERENCE_INPUTS) % LGM_ROOM(LGM_INPUTS);
        if (has_signal[input] == 2) {
            return RESULT_NO_SUCH_VARIABLE;
        }
        if (at >= REFERENCE_INPUT_RATES) {
            /* From the current value of the input. */
            (void)lgm_run_inputs(run, run->t);
            run->value[input] = (run->is_set[input] != 0) ? run->u[input] : run->value[input];
            run->rate[input] = value;
        } else {
            run->value[input] = value;
            run->is_set[input] = 1;
        }
        run->since[input] = is_before ? instance->start_time : run->t;
        instance->are_inputs_new = 1;
    } else if (at >= REFERENCE_STATES && at < REFERENCE_DERIVATIVES && is_before) {
        instance->starts[at - REFERENCE_STATES] = value;
        instance->is_start_set[at - REFERENCE_STATES] = 1;
    } else {
        return RESULT_NO_SUCH_VARIABLE;
    }
    instance->is_begun = instance->is_begun && !is_before;
    forget_values(instance);
    return RESULT_OK;
}

lgm_result lgm_instance_conditions(lgm_instance *instance, double values[]) {
    lgm_run *const run = &instance->run;
    const lgm_result result = refresh(instance);
    if (result == RESULT_OK) {
        indicators(run, values);
    }
    return result;
}

void lgm_instance_move(lgm_instance *instance, double t) {
    instance->run.t = t;
    forget_values(instance);
}

void lgm_instance_take_states(lgm_instance *instance, const double x[]) {
    for (int at = 0; at < LGM_STATES; at++) {
        instance->run.x[at] = x[at];
    }
    forget_values(instance);
}

lgm_result lgm_instance_completed(lgm_instance *instance, int *has_event) {
    const lgm_result result = refresh(instance);
    *has_event = 0;
@if branches@
    if (result == RESULT_OK) {
        *has_event = lgm_branch_sign(&instance->run) < 0.0;
    }
@end@
    return result;
}

lgm_result lgm_instance_enter_event(lgm_instance *instance) {
    lgm_status status = LGM_OK;
    /* Inputs that changed in continuous time have not stepped. */
    lgm_run_hold(&instance->run);
    instance->are_inputs_new = 0;
    instance->phase = PHASE_EVENT;
@if branches@
    /* In co-simulation the run itself leaves a branch. */
    if (instance->is_co_simulation == 0 && lgm_branch_sign(&instance->run) < 0.0) {
        status = lgm_branch_leave(&instance->run);
        forget_values(instance);
    }
@end@
    return result_of(instance, status);
}

lgm_result lgm_instance_update(lgm_instance *instance, int *has_moved) {
    lgm_run *const run = &instance->run;
    lgm_result result = refresh(instance);
    *has_moved = 0;
    for (int at = 0; at < LGM_STATES; at++) {
        instance->dx_change[at] = run->x[at];
    }
    if (result == RESULT_OK) {
        result = settle(instance);
    }
@if branches@
    if (result == RESULT_OK && instance->is_co_simulation == 0) {
        result = result_of(instance, lgm_branch_begin(run));
    }
@end@
    for (int at = 0; at < LGM_STATES; at++) {
        if (instance->dx_change[at] != run->x[at]) {
            *has_moved = 1;
        }
    }
    return result;
}

double lgm_instance_next_event(const lgm_instance *instance) {
@if corners@
    const lgm_run *const run = &instance->run;
@if changing@
    if (run->events.instant < HUGE_VAL && run->events.instant <= lgm_run_bound(run)) {
        return run->events.instant;
    }
@end@
    if (run->to <= run->horizon) {
        return run->to;
    }
    /* Later times have not been searched yet, unless the run stops there. */
    return (run->horizon < instance->stop_time) ? run->horizon : HUGE_VAL;
@else@
    (void)instance;
    return HUGE_VAL;
@end@
}

lgm_result lgm_instance_advance(lgm_instance *instance, double from, double length) {
    lgm_run *const run = &instance->run;
    const double wanted = from + length;
    lgm_result result = refresh(instance);
    while (result == RESULT_OK && run->t < wanted) {
        /* Events within round-off of the end belong to the step: at the instant of a corner, the values after it apply. */
        const double bound = lgm_run_bound(run);
        const double end = (bound <= wanted + @rounding@ * fabs(wanted)) ? bound : wanted;
        result = result_of(instance, lgm_run_step(run, end));
        forget_values(instance);
        if (result == RESULT_OK && (run->t >= bound || lgm_run_bound(run) <= run->t)) {
            lgm_run_hold(run);
            result = settle(instance);
        }
    }
    lgm_run_hold(run);
    return result;
}

lgm_result lgm_instance_directional(lgm_instance *instance, const unsigned int unknowns[], size_t unknown_count,
    const unsigned int knowns[], size_t known_count, const double known_changes[], double unknown_changes[]) {
@if changing@
    (void)instance; (void)unknowns; (void)unknown_count; (void)knowns; (void)known_count; (void)known_changes;
    (void)unknown_changes;
    return RESULT_NO_SUCH_VARIABLE;
@else@
    lgm_run *const run = &instance->run;
    lgm_result result = refresh(instance);
    double inside;
    if (result != RESULT_OK) {
        return result;
    }
    for (int at = 0; at < LGM_STATES + 2 * LGM_INPUTS; at++) {
        instance->seed[at] = 0.0;
    }
    for (size_t known = 0; known < known_count; known++) {
        const int at = (knowns[known] < (unsigned int)REFERENCE_END) ? (int)knowns[known] : (int)REFERENCE_END;
        if (at >= REFERENCE_STATES && at < REFERENCE_DERIVATIVES) {
            instance->seed[at - REFERENCE_STATES] += known_changes[known];
        } else if (at >= REFERENCE_INPUTS && at < REFERENCE_OUTPUTS) {
            instance->seed[LGM_STATES + at - REFERENCE_INPUTS] += known_changes[known];
        } else {
            return RESULT_NO_SUCH_VARIABLE;
        }
    }
@if branches@
    lgm_branch_recall(run, run->t);
@end@
    inside = lgm_run_inputs(run, run->t);
    result = result_of(instance, lgm_directional(&run->model, &instance->directions, inside, run->x, run->u, run->du, instance->seed,
        instance->dx_change, instance->y_change));
    for (size_t unknown = 0; unknown < unknown_count && result == RESULT_OK; unknown++) {
        const int at = (unknowns[unknown] < (unsigned int)REFERENCE_END) ? (int)unknowns[unknown] : (int)REFERENCE_END;
        if (at >= REFERENCE_STATES && at < REFERENCE_DERIVATIVES) {
            /* A state that is also an output. */
            unknown_changes[unknown] = instance->seed[at - REFERENCE_STATES];
        } else if (at >= REFERENCE_DERIVATIVES && at < REFERENCE_INPUTS) {
            unknown_changes[unknown] = instance->dx_change[at - REFERENCE_DERIVATIVES];
        } else if (at >= REFERENCE_OUTPUTS && at < REFERENCE_PARAMETERS) {
            unknown_changes[unknown] = instance->y_change[at - REFERENCE_OUTPUTS];
        } else {
            result = RESULT_NO_SUCH_VARIABLE;
        }
    }
    return result;
@end@
}

int lgm_instance_keep(const lgm_instance *instance, void **kept) {
    if (*kept == NULL) {
        *kept = malloc(sizeof *instance);
    }
    if (*kept == NULL) {
        return 0;
    }
    (void)memcpy(*kept, instance, sizeof *instance);
    return 1;
}

/* The token comes first, so that the bytes of another model are rejected. */
size_t lgm_instance_size(void) {
    return strlen(lgm_instance_token) + sizeof(lgm_instance);
}

void lgm_instance_write(const lgm_instance *kept, char bytes[]) {
    const size_t length = strlen(lgm_instance_token);
    (void)memcpy(bytes, lgm_instance_token, length);
    (void)memcpy(bytes + length, kept, sizeof *kept);
}

int lgm_instance_read(const char bytes[], size_t size, void **kept) {
    const size_t length = strlen(lgm_instance_token);
    if (size != lgm_instance_size() || memcmp(bytes, lgm_instance_token, length) != 0) {
        return 0;
    }
    if (*kept == NULL) {
        *kept = malloc(sizeof(lgm_instance));
    }
    if (*kept == NULL) {
        return 0;
    }
    (void)memcpy(*kept, bytes + length, sizeof(lgm_instance));
    return 1;
}

const char *lgm_instance_words(lgm_instance *instance) {
    lgm_run *const run = &instance->run;
    char cause[sizeof instance->words - 32];
    lgm_run_cause(run, instance->status, run->t, run->x, cause, sizeof cause);
    (void)snprintf(instance->words, sizeof instance->words, "at %g s: %s", run->t, cause);
    return instance->words;
}
