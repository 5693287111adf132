/* The functions of FMI 2.0 for @model@, model exchange and co-simulation.
 *
 * @origin@
 */
#include "@name@_instance.h"
#include "fmi2Functions.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    @name@_instance own;
    const fmi2CallbackFunctions *callbacks;
    fmi2Boolean is_logging;
    char *name;
} component;

static void tell(const component *c, fmi2Status status, const char *message) {
    if (c->callbacks != NULL && c->callbacks->logger != NULL && (c->is_logging != fmi2False || status >= fmi2Error)) {
        c->callbacks->logger(c->callbacks->componentEnvironment, c->name, status, "logStatusError", "%s", message);
    }
}

/* Returns the instance if a function may be called in this phase. */
static component *enter(fmi2Component c, int phases, const char *function) {
    component *const own = (component *)c;
    if (own != NULL && ((int)own->own.phase & phases) == 0) {
        char message[96];
        (void)snprintf(message, sizeof message, "%s cannot be called now", function);
        tell(own, fmi2Error, message);
        return NULL;
    }
    return own;
}

static fmi2Status answer(component *c, @name@_result result) {
    switch (result) {
    case RESULT_OK:
        return fmi2OK;
    case RESULT_NO_SUCH_VARIABLE:
        tell(c, fmi2Error, "no variable has this value reference, or it cannot be set or differentiated now");
        return fmi2Error;
    default:
        tell(c, fmi2Discard, @name@_instance_words(&c->own));
        return fmi2Discard;
    }
}

const char *fmi2GetTypesPlatform(void) {
    return fmi2TypesPlatform;
}

const char *fmi2GetVersion(void) {
    return fmi2Version;
}

fmi2Status fmi2SetDebugLogging(fmi2Component c, fmi2Boolean loggingOn, size_t nCategories, const fmi2String categories[]) {
    component *const own = enter(c, PHASES_ALL, "fmi2SetDebugLogging");
    (void)nCategories; (void)categories;
    if (own == NULL) {
        return fmi2Error;
    }
    own->is_logging = loggingOn;
    return fmi2OK;
}

fmi2Component fmi2Instantiate(fmi2String instanceName, fmi2Type fmuType, fmi2String fmuGUID, fmi2String fmuResourceLocation,
    const fmi2CallbackFunctions *functions, fmi2Boolean visible, fmi2Boolean loggingOn) {
    const char *const name = (instanceName != NULL) ? instanceName : "";
    component *const own = (component *)calloc(1, sizeof *own);
    (void)fmuResourceLocation; (void)visible;
    if (own == NULL) {
        return NULL;
    }
    own->callbacks = functions;
    own->is_logging = loggingOn;
    own->name = (char *)calloc(strlen(name) + 1, 1);
    if (own->name == NULL) {
        free(own);
        return NULL;
    }
    (void)memcpy(own->name, name, strlen(name));
    if (fmuGUID == NULL || strcmp(fmuGUID, @name@_instance_token) != 0) {
        tell(own, fmi2Error, "the GUID is not the one of this binary: modelDescription.xml belongs to another model");
        fmi2FreeInstance(own);
        return NULL;
    }
    @name@_instance_reset(&own->own, fmuType == fmi2CoSimulation);
    return own;
}

void fmi2FreeInstance(fmi2Component c) {
    component *const own = (component *)c;
    if (own != NULL) {
        free(own->name);
        free(own);
    }
}

fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean toleranceDefined, fmi2Real tolerance, fmi2Real startTime,
    fmi2Boolean stopTimeDefined, fmi2Real stopTime) {
    component *const own = enter(c, PHASE_INSTANTIATED, "fmi2SetupExperiment");
    if (own == NULL) {
        return fmi2Error;
    }
    @name@_instance_plan(&own->own, startTime, (stopTimeDefined != fmi2False) ? stopTime : HUGE_VAL,
        (toleranceDefined != fmi2False) ? tolerance : 0.0);
    return fmi2OK;
}

fmi2Status fmi2EnterInitializationMode(fmi2Component c) {
    component *const own = enter(c, PHASE_INSTANTIATED, "fmi2EnterInitializationMode");
    if (own == NULL) {
        return fmi2Error;
    }
    own->own.phase = PHASE_INITIALIZATION;
    return fmi2OK;
}

fmi2Status fmi2ExitInitializationMode(fmi2Component c) {
    component *const own = enter(c, PHASE_INITIALIZATION, "fmi2ExitInitializationMode");
    fmi2Status status;
    if (own == NULL) {
        return fmi2Error;
    }
    status = answer(own, @name@_instance_begin(&own->own));
    if (status == fmi2OK) {
        own->own.phase = (own->own.is_co_simulation != 0) ? PHASE_STEP : PHASE_EVENT;
    }
    return status;
}

fmi2Status fmi2Terminate(fmi2Component c) {
    component *const own = enter(c, PHASES_RUNNING, "fmi2Terminate");
    if (own == NULL) {
        return fmi2Error;
    }
    own->own.phase = PHASE_TERMINATED;
    return fmi2OK;
}

fmi2Status fmi2Reset(fmi2Component c) {
    component *const own = enter(c, PHASES_ALL, "fmi2Reset");
    if (own == NULL) {
        return fmi2Error;
    }
    @name@_instance_reset(&own->own, own->own.is_co_simulation);
    return fmi2OK;
}

fmi2Status fmi2GetReal(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, fmi2Real value[]) {
    component *const own = enter(c, PHASES_ALL, "fmi2GetReal");
    fmi2Status status = (own != NULL) ? fmi2OK : fmi2Error;
    for (size_t at = 0; at < nvr && status == fmi2OK; at++) {
        status = answer(own, @name@_instance_get(&own->own, vr[at], &value[at]));
    }
    return status;
}

fmi2Status fmi2SetReal(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, const fmi2Real value[]) {
    component *const own = enter(c, PHASES_BEFORE | PHASES_RUNNING, "fmi2SetReal");
    fmi2Status status = (own != NULL) ? fmi2OK : fmi2Error;
    for (size_t at = 0; at < nvr && status == fmi2OK; at++) {
        status = answer(own, @name@_instance_set(&own->own, vr[at], value[at]));
    }
    return status;
}

/* All variables are real: no other type can be read or set. */
static fmi2Status nothing_of_this_type(fmi2Component c, size_t count) {
    component *const own = (component *)c;
    if (own == NULL || count > 0) {
        return (own == NULL) ? fmi2Error : answer(own, RESULT_NO_SUCH_VARIABLE);
    }
    return fmi2OK;
}

fmi2Status fmi2GetInteger(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, fmi2Integer value[]) {
    (void)vr; (void)value;
    return nothing_of_this_type(c, nvr);
}

fmi2Status fmi2GetBoolean(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, fmi2Boolean value[]) {
    (void)vr; (void)value;
    return nothing_of_this_type(c, nvr);
}

fmi2Status fmi2GetString(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, fmi2String value[]) {
    (void)vr; (void)value;
    return nothing_of_this_type(c, nvr);
}

fmi2Status fmi2SetInteger(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, const fmi2Integer value[]) {
    (void)vr; (void)value;
    return nothing_of_this_type(c, nvr);
}

fmi2Status fmi2SetBoolean(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, const fmi2Boolean value[]) {
    (void)vr; (void)value;
    return nothing_of_this_type(c, nvr);
}

fmi2Status fmi2SetString(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, const fmi2String value[]) {
    (void)vr; (void)value;
    return nothing_of_this_type(c, nvr);
}

fmi2Status fmi2GetFMUstate(fmi2Component c, fmi2FMUstate *FMUstate) {
    component *const own = enter(c, PHASES_ALL, "fmi2GetFMUstate");
    const int is_kept = own != NULL && FMUstate != NULL && @name@_instance_keep(&own->own, FMUstate);
    return is_kept ? fmi2OK : fmi2Error;
}

fmi2Status fmi2SetFMUstate(fmi2Component c, fmi2FMUstate FMUstate) {
    component *const own = enter(c, PHASES_ALL, "fmi2SetFMUstate");
    if (own == NULL || FMUstate == NULL) {
        return fmi2Error;
    }
    (void)memcpy(&own->own, FMUstate, sizeof own->own);
    return fmi2OK;
}

fmi2Status fmi2FreeFMUstate(fmi2Component c, fmi2FMUstate *FMUstate) {
    (void)c;
    if (FMUstate != NULL) {
        free(*FMUstate);
        *FMUstate = NULL;
    }
    return fmi2OK;
}

fmi2Status fmi2SerializedFMUstateSize(fmi2Component c, fmi2FMUstate FMUstate, size_t *size) {
    if (c == NULL || FMUstate == NULL) {
        return fmi2Error;
    }
    *size = @name@_instance_size();
    return fmi2OK;
}

fmi2Status fmi2SerializeFMUstate(fmi2Component c, fmi2FMUstate FMUstate, fmi2Byte serializedState[], size_t size) {
    if (c == NULL || FMUstate == NULL || size < @name@_instance_size()) {
        return fmi2Error;
    }
    @name@_instance_write((const @name@_instance *)FMUstate, serializedState);
    return fmi2OK;
}

fmi2Status fmi2DeSerializeFMUstate(fmi2Component c, const fmi2Byte serializedState[], size_t size, fmi2FMUstate *FMUstate) {
    const component *const own = (const component *)c;
    if (own == NULL || FMUstate == NULL) {
        return fmi2Error;
    }
    if (!@name@_instance_read(serializedState, size, FMUstate)) {
        tell(own, fmi2Error, "these bytes are no state of this model");
        return fmi2Error;
    }
    return fmi2OK;
}

fmi2Status fmi2GetDirectionalDerivative(fmi2Component c, const fmi2ValueReference vUnknown_ref[], size_t nUnknown,
    const fmi2ValueReference vKnown_ref[], size_t nKnown, const fmi2Real dvKnown[], fmi2Real dvUnknown[]) {
    component *const own = enter(c, PHASE_INITIALIZATION | PHASES_RUNNING, "fmi2GetDirectionalDerivative");
    if (own == NULL) {
        return fmi2Error;
    }
    return answer(own, @name@_instance_directional(&own->own, vUnknown_ref, nUnknown, vKnown_ref, nKnown, dvKnown, dvUnknown));
}

/* Model exchange. */

fmi2Status fmi2EnterEventMode(fmi2Component c) {
    component *const own = enter(c, PHASE_EVENT | PHASE_CONTINUOUS, "fmi2EnterEventMode");
    if (own == NULL) {
        return fmi2Error;
    }
    return answer(own, @name@_instance_enter_event(&own->own));
}

fmi2Status fmi2NewDiscreteStates(fmi2Component c, fmi2EventInfo *fmi2eventInfo) {
    component *const own = enter(c, PHASE_EVENT, "fmi2NewDiscreteStates");
    fmi2Status status;
    int has_moved;
    double next;
    if (own == NULL || fmi2eventInfo == NULL) {
        return fmi2Error;
    }
    status = answer(own, @name@_instance_update(&own->own, &has_moved));
    next = @name@_instance_next_event(&own->own);
    fmi2eventInfo->newDiscreteStatesNeeded = fmi2False;
    fmi2eventInfo->terminateSimulation = fmi2False;
    fmi2eventInfo->nominalsOfContinuousStatesChanged = fmi2False;
    fmi2eventInfo->valuesOfContinuousStatesChanged = has_moved ? fmi2True : fmi2False;
    fmi2eventInfo->nextEventTimeDefined = (next < HUGE_VAL) ? fmi2True : fmi2False;
    fmi2eventInfo->nextEventTime = (next < HUGE_VAL) ? next : 0.0;
    return status;
}

fmi2Status fmi2EnterContinuousTimeMode(fmi2Component c) {
    component *const own = enter(c, PHASE_EVENT, "fmi2EnterContinuousTimeMode");
    if (own == NULL) {
        return fmi2Error;
    }
    own->own.phase = PHASE_CONTINUOUS;
    return fmi2OK;
}

fmi2Status fmi2CompletedIntegratorStep(fmi2Component c, fmi2Boolean noSetFMUStatePriorToCurrentPoint,
    fmi2Boolean *enterEventMode, fmi2Boolean *terminateSimulation) {
    component *const own = enter(c, PHASE_CONTINUOUS, "fmi2CompletedIntegratorStep");
    int has_event = 0;
    (void)noSetFMUStatePriorToCurrentPoint;
    if (own == NULL) {
        return fmi2Error;
    }
    const fmi2Status status = answer(own, @name@_instance_completed(&own->own, &has_event));
    *enterEventMode = (has_event != 0) ? fmi2True : fmi2False;
    *terminateSimulation = fmi2False;
    return status;
}

fmi2Status fmi2SetTime(fmi2Component c, fmi2Real time) {
    component *const own = enter(c, PHASE_EVENT | PHASE_CONTINUOUS, "fmi2SetTime");
    if (own == NULL) {
        return fmi2Error;
    }
    @name@_instance_move(&own->own, time);
    return fmi2OK;
}

fmi2Status fmi2SetContinuousStates(fmi2Component c, const fmi2Real x[], size_t nx) {
    component *const own = enter(c, PHASE_EVENT | PHASE_CONTINUOUS, "fmi2SetContinuousStates");
    if (own == NULL || nx != @name@_STATES) {
        return fmi2Error;
    }
    @name@_instance_take_states(&own->own, x);
    return fmi2OK;
}

fmi2Status fmi2GetDerivatives(fmi2Component c, fmi2Real derivatives[], size_t nx) {
    component *const own = enter(c, PHASES_ALL, "fmi2GetDerivatives");
    if (own == NULL || nx != @name@_STATES) {
        return fmi2Error;
    }
    return answer(own, @name@_instance_rates(&own->own, derivatives));
}

fmi2Status fmi2GetEventIndicators(fmi2Component c, fmi2Real eventIndicators[], size_t ni) {
    component *const own = enter(c, PHASES_ALL, "fmi2GetEventIndicators");
    if (own == NULL || ni != INDICATORS) {
        return fmi2Error;
    }
    return answer(own, @name@_instance_conditions(&own->own, eventIndicators));
}

fmi2Status fmi2GetContinuousStates(fmi2Component c, fmi2Real x[], size_t nx) {
    component *const own = enter(c, PHASES_ALL, "fmi2GetContinuousStates");
    if (own == NULL || nx != @name@_STATES) {
        return fmi2Error;
    }
    return answer(own, @name@_instance_states(&own->own, x));
}

fmi2Status fmi2GetNominalsOfContinuousStates(fmi2Component c, fmi2Real x_nominal[], size_t nx) {
    if (c == NULL || nx != @name@_STATES) {
        return fmi2Error;
    }
    @name@_instance_nominals(x_nominal);
    return fmi2OK;
}

/* Co-simulation. */

fmi2Status fmi2SetRealInputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, const fmi2Integer order[],
    const fmi2Real value[]) {
    component *const own = enter(c, PHASE_INITIALIZATION | PHASE_STEP, "fmi2SetRealInputDerivatives");
    fmi2Status status = (own != NULL) ? fmi2OK : fmi2Error;
    for (size_t at = 0; at < nvr && status == fmi2OK; at++) {
        const long input = (long)vr[at] - (long)REFERENCE_INPUTS;
        if (order[at] != 1 || input < 0 || input >= @name@_INPUTS) {
            return answer(own, RESULT_NO_SUCH_VARIABLE);
        }
        status = answer(own, @name@_instance_set(&own->own, vr[at] + @name@_INPUTS, value[at]));
    }
    return status;
}

fmi2Status fmi2GetRealOutputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, const fmi2Integer order[],
    fmi2Real value[]) {
    (void)vr; (void)order; (void)value;
    return nothing_of_this_type(c, nvr);
}

fmi2Status fmi2DoStep(fmi2Component c, fmi2Real currentCommunicationPoint, fmi2Real communicationStepSize,
    fmi2Boolean noSetFMUStatePriorToCurrentPoint) {
    component *const own = enter(c, PHASE_STEP, "fmi2DoStep");
    (void)noSetFMUStatePriorToCurrentPoint;
    if (own == NULL) {
        return fmi2Error;
    }
    return answer(own, @name@_instance_advance(&own->own, currentCommunicationPoint, communicationStepSize));
}

fmi2Status fmi2CancelStep(fmi2Component c) {
    /* No step is in progress when this can be called. */
    (void)c;
    return fmi2Error;
}

fmi2Status fmi2GetStatus(fmi2Component c, const fmi2StatusKind s, fmi2Status *value) {
    (void)c; (void)s; (void)value;
    return fmi2Discard;
}

fmi2Status fmi2GetRealStatus(fmi2Component c, const fmi2StatusKind s, fmi2Real *value) {
    component *const own = enter(c, PHASES_ALL, "fmi2GetRealStatus");
    if (own == NULL || s != fmi2LastSuccessfulTime) {
        return fmi2Discard;
    }
    *value = own->own.run.t;
    return fmi2OK;
}

fmi2Status fmi2GetIntegerStatus(fmi2Component c, const fmi2StatusKind s, fmi2Integer *value) {
    (void)c; (void)s; (void)value;
    return fmi2Discard;
}

fmi2Status fmi2GetBooleanStatus(fmi2Component c, const fmi2StatusKind s, fmi2Boolean *value) {
    if (c == NULL || s != fmi2Terminated) {
        return fmi2Discard;
    }
    *value = fmi2False;
    return fmi2OK;
}

fmi2Status fmi2GetStringStatus(fmi2Component c, const fmi2StatusKind s, fmi2String *value) {
    (void)c; (void)s; (void)value;
    return fmi2Discard;
}
