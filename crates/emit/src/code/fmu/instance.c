/* What the functions of FMI 2.0 and FMI 3.0 for @model@ share: one instance, its variables and its events.
 *
 * @origin@
 */
#include "lgm_names.h"
#include "@name@_instance.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const @name@_instance_token = "@token@";

/* Without a stop, corners are looked for so far ahead. */
static const double look_ahead = @look_ahead@;

/* Which inputs have a default signal; the others are at zero until they are set. Those with a 2 always follow theirs. */
static const int has_signal[@name@_ROOM(@name@_INPUTS)] = {@has_signal@};

static void forget_values(@name@_instance *instance) {
    instance->has_dx = 0;
    instance->has_y = 0;
}

static @name@_result result_of(@name@_instance *instance, @name@_status status) {
    instance->status = status;
    return (status == @name@_OK) ? RESULT_OK : RESULT_NO_VALUE;
}

void @name@_instance_reset(@name@_instance *instance, int is_co_simulation) {
    (void)memset(instance, 0, sizeof *instance);
    @name@_defaults(&instance->parameters);
    instance->is_co_simulation = is_co_simulation;
    instance->run.is_line = is_co_simulation;
@if branches@
    instance->run.branch.is_exchanged = !is_co_simulation;
@end@
    instance->phase = PHASE_INSTANTIATED;
    for (int at = 0; at < @name@_INPUTS; at++) {
        instance->run.is_set[at] = (has_signal[at] == 0);
    }
    @name@_instance_plan(instance, @plan_start@, HUGE_VAL, 0.0);
}

void @name@_instance_plan(@name@_instance *instance, double start, double stop, double tolerance) {
    instance->start_time = start;
    instance->stop_time = (stop > start) ? stop : HUGE_VAL;
    instance->run.solver.rtol = @plan_rtol@;
    instance->run.solver.atol = @plan_atol@;
    if (tolerance > 0.0) {
        /* What is allowed of states near zero grows and shrinks with it. */
        instance->run.solver.rtol = tolerance;
        instance->run.solver.atol = @plan_atol@ * (tolerance / @plan_rtol@);
    }
    instance->is_begun = 0;
}

/* Takes over parameters that were set; x gets the starts that follow from them. */
static @name@_result take_parameters(@name@_instance *instance, double x[]) {
    const @name@_status status = @name@_init(&instance->run.model, &instance->parameters, x);
    forget_values(instance);
    return result_of(instance, status);
}

@name@_result @name@_instance_begin(@name@_instance *instance) {
    @name@_run *const run = &instance->run;
    const double stop = (instance->stop_time < HUGE_VAL) ? instance->stop_time : instance->start_time + look_ahead;
    @name@_result result = take_parameters(instance, run->x);
    if (result != RESULT_OK) {
        return result;
    }
    for (int at = 0; at < @name@_STATES; at++) {
        if (instance->is_start_set[at] != 0) {
            run->x[at] = instance->starts[at];
        }
    }
    for (int at = 0; at < @name@_INPUTS; at++) {
        run->since[at] = instance->start_time;
    }
    result = result_of(instance, @name@_run_begin(run, instance->start_time, stop, instance->is_start_set));
    @name@_run_hold(run);
    instance->is_begun = 1;
    instance->are_parameters_new = 0;
    instance->are_inputs_new = 0;
    return result;
}

/* Does what follows from a change of inputs or parameters in a run; at a corner, what happens there. */
static @name@_result settle(@name@_instance *instance) {
    @name@_run *const run = &instance->run;
@if changing@
    /* A condition acts a little before its margin is 0: an instant that is known exactly comes first if it is this near. */
    const double soon = run->t + 1e-10 * fabs(run->t);
@else@
    const double soon = run->t + @rounding@ * fabs(run->t);
@end@
    @name@_status status = @name@_OK;
@if changing@
    if (instance->are_parameters_new != 0) {
        run->to = run->t;
    }
    if (@name@_run_bound(run) > run->t && @name@_run_bound(run) <= soon) {
        run->t = @name@_run_bound(run);
    }
@end@
    if (instance->are_parameters_new != 0 || @name@_run_bound(run) <= soon) {
        /* Other parameters may have other corners. */
        status = @name@_run_pass(run);
    } else if (instance->are_inputs_new != 0) {
@if changing@
        status = @name@_events_arrive(run);
        run->from = run->t;
        run->is_fresh = 1;
        status = (status == @name@_OK) ? @name@_events_corner(run) : status;
@else@
        status = @name@_run_jump(run);
@end@
    }
@if changing@
    if (status == @name@_OK && instance->is_co_simulation == 0) {
        status = @name@_events_pass(run);
    }
@end@
    instance->are_parameters_new = 0;
    instance->are_inputs_new = 0;
    forget_values(instance);
    @name@_run_hold(run);
    return result_of(instance, status);
}

/* Brings everything up to date before values are read. */
static @name@_result refresh(@name@_instance *instance) {
    @name@_result result = RESULT_OK;
    if ((instance->phase & PHASES_BEFORE) != 0) {
        return (instance->is_begun != 0) ? RESULT_OK : @name@_instance_begin(instance);
    }
    if (instance->are_parameters_new == 1) {
        /* The states stay where they are; that starts contradict does not matter any more. */
        result = take_parameters(instance, instance->dx);
        if (instance->status == @name@_STARTS_DISAGREE) {
            result = RESULT_OK;
        }
        /* Taken over; the corners are not looked for yet. */
        instance->are_parameters_new = 2;
    }
    if (result == RESULT_OK && instance->phase == PHASE_STEP &&
        (instance->are_inputs_new != 0 || instance->are_parameters_new != 0)) {
        result = settle(instance);
    }
    return result;
}

/* The event indicators where the run is. */
static void indicators(@name@_run *run, double values[]) {
    @name@_run_conditions(run, run->t, run->x, values);
@if branches@
    values[@name@_CONDITIONS] = @name@_branch_sign(run);
@end@
@if changing@
    @name@_events_indicators(run, values + INDICATORS_OF_STATES);
@end@
}

static @name@_result rates(@name@_instance *instance) {
    @name@_run *const run = &instance->run;
    @name@_result result = RESULT_OK;
    if (instance->has_dx == 0) {
        result = result_of(instance, @name@_run_rates(run, run->t, run->x, instance->dx));
        instance->has_dx = (result == RESULT_OK);
    }
    return result;
}

static @name@_result outputs(@name@_instance *instance) {
    @name@_run *const run = &instance->run;
    @name@_result result = RESULT_OK;
    if (instance->has_y == 0) {
        result = result_of(instance, @name@_run_outputs(run, run->t, run->x, instance->y));
        instance->has_y = (result == RESULT_OK);
    }
    return result;
}

@name@_result @name@_instance_get(@name@_instance *instance, unsigned int reference, double *value) {
    @name@_run *const run = &instance->run;
    const int at = (reference < (unsigned int)REFERENCE_END) ? (int)reference : (int)REFERENCE_END;
    @name@_result result = refresh(instance);
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
        *value = run->model.p[at - REFERENCE_PARAMETERS];
    } else if (at >= REFERENCE_OUTPUTS) {
        result = outputs(instance);
        *value = instance->y[at - REFERENCE_OUTPUTS];
    } else if (at >= REFERENCE_INPUTS) {
        (void)@name@_run_inputs(run, run->t);
        *value = (at >= REFERENCE_INPUT_RATES) ? run->du[at - REFERENCE_INPUT_RATES] : run->u[at - REFERENCE_INPUTS];
    } else if (at >= REFERENCE_DERIVATIVES) {
        result = rates(instance);
        *value = instance->dx[at - REFERENCE_DERIVATIVES];
    } else if (at >= REFERENCE_STATES) {
@if changing@
        @name@_events_row(run, run->t, run->x, instance->dx_change);
        *value = instance->dx_change[at - REFERENCE_STATES];
@else@
        *value = run->x[at - REFERENCE_STATES];
@end@
    } else {
        *value = run->t;
    }
    return result;
}

@name@_result @name@_instance_states(@name@_instance *instance, double x[]) {
    const @name@_result result = refresh(instance);
    for (int at = 0; at < @name@_STATES && result == RESULT_OK; at++) {
        x[at] = instance->run.x[at];
    }
    return result;
}

@name@_result @name@_instance_rates(@name@_instance *instance, double dx[]) {
    @name@_result result = refresh(instance);
    if (result == RESULT_OK) {
        result = rates(instance);
    }
    for (int at = 0; at < @name@_STATES && result == RESULT_OK; at++) {
        dx[at] = instance->dx[at];
    }
    return result;
}

void @name@_instance_nominals(double nominals[]) {
    static const double sizes[@name@_ROOM(@name@_STATES)] = {@nominals@};
    for (int at = 0; at < @name@_STATES; at++) {
        nominals[at] = sizes[at];
    }
}

@name@_result @name@_instance_set(@name@_instance *instance, unsigned int reference, double value) {
    @name@_run *const run = &instance->run;
    const int at = (reference < (unsigned int)REFERENCE_END) ? (int)reference : (int)REFERENCE_END;
    const int is_before = (instance->phase & PHASES_BEFORE) != 0;
    if (at >= REFERENCE_CONDITIONS) {
        return RESULT_NO_SUCH_VARIABLE;
    }
    if (at >= REFERENCE_PARAMETERS) {
        *@name@_parameter(&instance->parameters, at - REFERENCE_PARAMETERS) = value;
        instance->are_parameters_new = 1;
    } else if (at >= REFERENCE_INPUTS && at < REFERENCE_OUTPUTS) {
        const int input = (at - REFERENCE_INPUTS) % @name@_ROOM(@name@_INPUTS);
        if (has_signal[input] == 2) {
            return RESULT_NO_SUCH_VARIABLE;
        }
        if (at >= REFERENCE_INPUT_RATES) {
            /* From where the input is now. */
            (void)@name@_run_inputs(run, run->t);
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

@name@_result @name@_instance_conditions(@name@_instance *instance, double values[]) {
    @name@_run *const run = &instance->run;
    const @name@_result result = refresh(instance);
    if (result == RESULT_OK) {
        indicators(run, values);
    }
    return result;
}

void @name@_instance_move(@name@_instance *instance, double t) {
    instance->run.t = t;
    forget_values(instance);
}

void @name@_instance_take_states(@name@_instance *instance, const double x[]) {
    for (int at = 0; at < @name@_STATES; at++) {
        instance->run.x[at] = x[at];
    }
    forget_values(instance);
}

@name@_result @name@_instance_completed(@name@_instance *instance, int *has_event) {
    const @name@_result result = refresh(instance);
    *has_event = 0;
@if branches@
    if (result == RESULT_OK) {
        *has_event = @name@_branch_sign(&instance->run) < 0.0;
    }
@end@
    return result;
}

@name@_result @name@_instance_enter_event(@name@_instance *instance) {
    @name@_status status = @name@_OK;
    /* Inputs that moved in continuous time have not stepped. */
    @name@_run_hold(&instance->run);
    instance->are_inputs_new = 0;
    instance->phase = PHASE_EVENT;
@if branches@
    /* In co-simulation the run leaves a branch by itself. */
    if (instance->is_co_simulation == 0 && @name@_branch_sign(&instance->run) < 0.0) {
        status = @name@_branch_leave(&instance->run);
        forget_values(instance);
    }
@end@
    return result_of(instance, status);
}

@name@_result @name@_instance_update(@name@_instance *instance, int *has_moved) {
    @name@_run *const run = &instance->run;
    @name@_result result = refresh(instance);
    *has_moved = 0;
    for (int at = 0; at < @name@_STATES; at++) {
        instance->dx_change[at] = run->x[at];
    }
    if (result == RESULT_OK) {
        result = settle(instance);
    }
@if branches@
    if (result == RESULT_OK && instance->is_co_simulation == 0) {
        result = result_of(instance, @name@_branch_begin(run));
    }
@end@
    for (int at = 0; at < @name@_STATES; at++) {
        if (instance->dx_change[at] != run->x[at]) {
            *has_moved = 1;
        }
    }
    return result;
}

double @name@_instance_next_event(const @name@_instance *instance) {
@if corners@
    const @name@_run *const run = &instance->run;
@if changing@
    if (run->events.instant < HUGE_VAL && run->events.instant <= @name@_run_bound(run)) {
        return run->events.instant;
    }
@end@
    if (run->to <= run->horizon) {
        return run->to;
    }
    /* Nobody has looked further yet, unless the run stops there. */
    return (run->horizon < instance->stop_time) ? run->horizon : HUGE_VAL;
@else@
    (void)instance;
    return HUGE_VAL;
@end@
}

@name@_result @name@_instance_advance(@name@_instance *instance, double from, double length) {
    @name@_run *const run = &instance->run;
    const double wanted = from + length;
    @name@_result result = refresh(instance);
    while (result == RESULT_OK && run->t < wanted) {
        /* What happens within rounding of the end belongs to the step: at the instant of a corner the values after it hold. */
        const double bound = @name@_run_bound(run);
        const double end = (bound <= wanted + @rounding@ * fabs(wanted)) ? bound : wanted;
        result = result_of(instance, @name@_run_step(run, end));
        forget_values(instance);
        if (result == RESULT_OK && (run->t >= bound || @name@_run_bound(run) <= run->t)) {
            @name@_run_hold(run);
            result = settle(instance);
        }
    }
    @name@_run_hold(run);
    return result;
}

@name@_result @name@_instance_directional(@name@_instance *instance, const unsigned int unknowns[], size_t unknown_count,
    const unsigned int knowns[], size_t known_count, const double known_changes[], double unknown_changes[]) {
@if changing@
    (void)instance; (void)unknowns; (void)unknown_count; (void)knowns; (void)known_count; (void)known_changes;
    (void)unknown_changes;
    return RESULT_NO_SUCH_VARIABLE;
@else@
    @name@_run *const run = &instance->run;
    @name@_result result = refresh(instance);
    double inside;
    if (result != RESULT_OK) {
        return result;
    }
    for (int at = 0; at < @name@_STATES + 2 * @name@_INPUTS; at++) {
        instance->seed[at] = 0.0;
    }
    for (size_t known = 0; known < known_count; known++) {
        const int at = (knowns[known] < (unsigned int)REFERENCE_END) ? (int)knowns[known] : (int)REFERENCE_END;
        if (at >= REFERENCE_STATES && at < REFERENCE_DERIVATIVES) {
            instance->seed[at - REFERENCE_STATES] += known_changes[known];
        } else if (at >= REFERENCE_INPUTS && at < REFERENCE_OUTPUTS) {
            instance->seed[@name@_STATES + at - REFERENCE_INPUTS] += known_changes[known];
        } else {
            return RESULT_NO_SUCH_VARIABLE;
        }
    }
@if branches@
    @name@_branch_recall(run, run->t);
@end@
    inside = @name@_run_inputs(run, run->t);
    result = result_of(instance, @name@_directional(&run->model, inside, run->x, run->u, run->du, instance->seed,
        instance->dx_change, instance->y_change));
    for (size_t unknown = 0; unknown < unknown_count && result == RESULT_OK; unknown++) {
        const int at = (unknowns[unknown] < (unsigned int)REFERENCE_END) ? (int)unknowns[unknown] : (int)REFERENCE_END;
        if (at >= REFERENCE_STATES && at < REFERENCE_DERIVATIVES) {
            /* A state that is an output too. */
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

int @name@_instance_keep(const @name@_instance *instance, void **kept) {
    if (*kept == NULL) {
        *kept = malloc(sizeof *instance);
    }
    if (*kept == NULL) {
        return 0;
    }
    (void)memcpy(*kept, instance, sizeof *instance);
    return 1;
}

/* The token stands in front, so that the bytes of another model are refused. */
size_t @name@_instance_size(void) {
    return strlen(@name@_instance_token) + sizeof(@name@_instance);
}

void @name@_instance_write(const @name@_instance *kept, char bytes[]) {
    const size_t length = strlen(@name@_instance_token);
    (void)memcpy(bytes, @name@_instance_token, length);
    (void)memcpy(bytes + length, kept, sizeof *kept);
}

int @name@_instance_read(const char bytes[], size_t size, void **kept) {
    const size_t length = strlen(@name@_instance_token);
    if (size != @name@_instance_size() || memcmp(bytes, @name@_instance_token, length) != 0) {
        return 0;
    }
    if (*kept == NULL) {
        *kept = malloc(sizeof(@name@_instance));
    }
    if (*kept == NULL) {
        return 0;
    }
    (void)memcpy(*kept, bytes + length, sizeof(@name@_instance));
    return 1;
}

const char *@name@_instance_words(@name@_instance *instance) {
    @name@_run *const run = &instance->run;
    char cause[sizeof instance->words - 32];
    @name@_run_cause(run, instance->status, run->t, run->x, cause, sizeof cause);
    (void)snprintf(instance->words, sizeof instance->words, "at %g s: %s", run->t, cause);
    return instance->words;
}
