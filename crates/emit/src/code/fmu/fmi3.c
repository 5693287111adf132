/* The functions of FMI 3.0 for @model@, model exchange and co-simulation.
 *
 * @origin@
 */
#include "@name@_instance.h"
#include "fmi3Functions.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    @name@_instance own;
    fmi3InstanceEnvironment environment;
    fmi3LogMessageCallback log;
    fmi3Boolean is_logging;
} component;

static void tell(const component *c, fmi3Status status, const char *message) {
    if (c->log != NULL && (c->is_logging || status >= fmi3Error)) {
        c->log(c->environment, status, "logStatusError", message);
    }
}

/* Returns the instance if a function may be called in this phase. */
static component *enter(fmi3Instance instance, int phases, const char *function) {
    component *const own = (component *)instance;
    if (own != NULL && ((int)own->own.phase & phases) == 0) {
        char message[96];
        (void)snprintf(message, sizeof message, "%s cannot be called now", function);
        tell(own, fmi3Error, message);
        return NULL;
    }
    return own;
}

static fmi3Status answer(component *c, @name@_result result) {
    switch (result) {
    case RESULT_OK:
        return fmi3OK;
    case RESULT_NO_SUCH_VARIABLE:
        tell(c, fmi3Error, "no variable has this value reference, or it cannot be set or differentiated now");
        return fmi3Error;
    default:
        tell(c, fmi3Discard, @name@_instance_words(&c->own));
        return fmi3Discard;
    }
}

const char *fmi3GetVersion(void) {
    return fmi3Version;
}

fmi3Status fmi3SetDebugLogging(fmi3Instance instance, fmi3Boolean loggingOn, size_t nCategories,
    const fmi3String categories[]) {
    component *const own = enter(instance, PHASES_ALL, "fmi3SetDebugLogging");
    (void)nCategories; (void)categories;
    if (own == NULL) {
        return fmi3Error;
    }
    own->is_logging = loggingOn;
    return fmi3OK;
}

static fmi3Instance instantiate(fmi3String token, fmi3Boolean loggingOn, fmi3InstanceEnvironment environment,
    fmi3LogMessageCallback logMessage, int is_co_simulation) {
    component *const own = (component *)calloc(1, sizeof *own);
    if (own == NULL) {
        return NULL;
    }
    own->environment = environment;
    own->log = logMessage;
    own->is_logging = loggingOn;
    if (token == NULL || strcmp(token, @name@_instance_token) != 0) {
        tell(own, fmi3Error, "the token is not the one of this binary: modelDescription.xml belongs to another model");
        free(own);
        return NULL;
    }
    @name@_instance_reset(&own->own, is_co_simulation);
    return own;
}

fmi3Instance fmi3InstantiateModelExchange(fmi3String instanceName, fmi3String instantiationToken, fmi3String resourcePath,
    fmi3Boolean visible, fmi3Boolean loggingOn, fmi3InstanceEnvironment instanceEnvironment,
    fmi3LogMessageCallback logMessage) {
    (void)instanceName; (void)resourcePath; (void)visible;
    return instantiate(instantiationToken, loggingOn, instanceEnvironment, logMessage, 0);
}

fmi3Instance fmi3InstantiateCoSimulation(fmi3String instanceName, fmi3String instantiationToken, fmi3String resourcePath,
    fmi3Boolean visible, fmi3Boolean loggingOn, fmi3Boolean eventModeUsed, fmi3Boolean earlyReturnAllowed,
    const fmi3ValueReference requiredIntermediateVariables[], size_t nRequiredIntermediateVariables,
    fmi3InstanceEnvironment instanceEnvironment, fmi3LogMessageCallback logMessage,
    fmi3IntermediateUpdateCallback intermediateUpdate) {
    (void)instanceName; (void)resourcePath; (void)visible; (void)eventModeUsed; (void)earlyReturnAllowed;
    (void)requiredIntermediateVariables; (void)nRequiredIntermediateVariables; (void)intermediateUpdate;
    return instantiate(instantiationToken, loggingOn, instanceEnvironment, logMessage, 1);
}

fmi3Instance fmi3InstantiateScheduledExecution(fmi3String instanceName, fmi3String instantiationToken,
    fmi3String resourcePath, fmi3Boolean visible, fmi3Boolean loggingOn, fmi3InstanceEnvironment instanceEnvironment,
    fmi3LogMessageCallback logMessage, fmi3ClockUpdateCallback clockUpdate, fmi3LockPreemptionCallback lockPreemption,
    fmi3UnlockPreemptionCallback unlockPreemption) {
    (void)instanceName; (void)instantiationToken; (void)resourcePath; (void)visible; (void)loggingOn; (void)clockUpdate;
    (void)lockPreemption; (void)unlockPreemption;
    if (logMessage != NULL) {
        logMessage(instanceEnvironment, fmi3Error, "logStatusError", "the model has no clocks to be scheduled");
    }
    return NULL;
}

void fmi3FreeInstance(fmi3Instance instance) {
    free(instance);
}

fmi3Status fmi3EnterInitializationMode(fmi3Instance instance, fmi3Boolean toleranceDefined, fmi3Float64 tolerance,
    fmi3Float64 startTime, fmi3Boolean stopTimeDefined, fmi3Float64 stopTime) {
    component *const own = enter(instance, PHASE_INSTANTIATED, "fmi3EnterInitializationMode");
    if (own == NULL) {
        return fmi3Error;
    }
    @name@_instance_plan(&own->own, startTime, stopTimeDefined ? stopTime : HUGE_VAL, toleranceDefined ? tolerance : 0.0);
    own->own.phase = PHASE_INITIALIZATION;
    return fmi3OK;
}

fmi3Status fmi3ExitInitializationMode(fmi3Instance instance) {
    component *const own = enter(instance, PHASE_INITIALIZATION, "fmi3ExitInitializationMode");
    fmi3Status status;
    if (own == NULL) {
        return fmi3Error;
    }
    status = answer(own, @name@_instance_begin(&own->own));
    if (status == fmi3OK) {
        own->own.phase = (own->own.is_co_simulation != 0) ? PHASE_STEP : PHASE_EVENT;
    }
    return status;
}

fmi3Status fmi3EnterEventMode(fmi3Instance instance) {
    component *const own = enter(instance, PHASE_EVENT | PHASE_CONTINUOUS, "fmi3EnterEventMode");
    if (own == NULL) {
        return fmi3Error;
    }
    return answer(own, @name@_instance_enter_event(&own->own));
}

fmi3Status fmi3Terminate(fmi3Instance instance) {
    component *const own = enter(instance, PHASES_RUNNING, "fmi3Terminate");
    if (own == NULL) {
        return fmi3Error;
    }
    own->own.phase = PHASE_TERMINATED;
    return fmi3OK;
}

fmi3Status fmi3Reset(fmi3Instance instance) {
    component *const own = enter(instance, PHASES_ALL, "fmi3Reset");
    if (own == NULL) {
        return fmi3Error;
    }
    @name@_instance_reset(&own->own, own->own.is_co_simulation);
    return fmi3OK;
}

fmi3Status fmi3GetFloat64(fmi3Instance instance, const fmi3ValueReference valueReferences[], size_t nValueReferences,
    fmi3Float64 values[], size_t nValues) {
    component *const own = enter(instance, PHASES_ALL, "fmi3GetFloat64");
    fmi3Status status = (own != NULL && nValues == nValueReferences) ? fmi3OK : fmi3Error;
    for (size_t at = 0; at < nValueReferences && status == fmi3OK; at++) {
        status = answer(own, @name@_instance_get(&own->own, valueReferences[at], &values[at]));
    }
    return status;
}

fmi3Status fmi3SetFloat64(fmi3Instance instance, const fmi3ValueReference valueReferences[], size_t nValueReferences,
    const fmi3Float64 values[], size_t nValues) {
    component *const own = enter(instance, PHASES_BEFORE | PHASES_RUNNING, "fmi3SetFloat64");
    fmi3Status status = (own != NULL && nValues == nValueReferences) ? fmi3OK : fmi3Error;
    for (size_t at = 0; at < nValueReferences && status == fmi3OK; at++) {
        status = answer(own, @name@_instance_set(&own->own, valueReferences[at], values[at]));
    }
    return status;
}

/* All variables have the type Float64: no other type can be read or set, and there are no clocks. */
static fmi3Status nothing_of_this_type(fmi3Instance instance, size_t count) {
    component *const own = (component *)instance;
    if (own == NULL || count > 0) {
        return (own == NULL) ? fmi3Error : answer(own, RESULT_NO_SUCH_VARIABLE);
    }
    return fmi3OK;
}

#define NOTHING_OF_TYPE(Type) \
    fmi3Status fmi3Get##Type(fmi3Instance instance, const fmi3ValueReference valueReferences[], \
        size_t nValueReferences, fmi3##Type values[], size_t nValues) { \
        (void)valueReferences; (void)values; (void)nValues; \
        return nothing_of_this_type(instance, nValueReferences); \
    } \
    fmi3Status fmi3Set##Type(fmi3Instance instance, const fmi3ValueReference valueReferences[], \
        size_t nValueReferences, const fmi3##Type values[], size_t nValues) { \
        (void)valueReferences; (void)values; (void)nValues; \
        return nothing_of_this_type(instance, nValueReferences); \
    }

NOTHING_OF_TYPE(Float32)
NOTHING_OF_TYPE(Int8)
NOTHING_OF_TYPE(UInt8)
NOTHING_OF_TYPE(Int16)
NOTHING_OF_TYPE(UInt16)
NOTHING_OF_TYPE(Int32)
NOTHING_OF_TYPE(UInt32)
NOTHING_OF_TYPE(Int64)
NOTHING_OF_TYPE(UInt64)
NOTHING_OF_TYPE(Boolean)
NOTHING_OF_TYPE(String)

fmi3Status fmi3GetBinary(fmi3Instance instance, const fmi3ValueReference valueReferences[], size_t nValueReferences,
    size_t valueSizes[], fmi3Binary values[], size_t nValues) {
    (void)valueReferences; (void)valueSizes; (void)values; (void)nValues;
    return nothing_of_this_type(instance, nValueReferences);
}

fmi3Status fmi3SetBinary(fmi3Instance instance, const fmi3ValueReference valueReferences[], size_t nValueReferences,
    const size_t valueSizes[], const fmi3Binary values[], size_t nValues) {
    (void)valueReferences; (void)valueSizes; (void)values; (void)nValues;
    return nothing_of_this_type(instance, nValueReferences);
}

fmi3Status fmi3GetClock(fmi3Instance instance, const fmi3ValueReference valueReferences[], size_t nValueReferences,
    fmi3Clock values[]) {
    (void)valueReferences; (void)values;
    return nothing_of_this_type(instance, nValueReferences);
}

fmi3Status fmi3SetClock(fmi3Instance instance, const fmi3ValueReference valueReferences[], size_t nValueReferences,
    const fmi3Clock values[]) {
    (void)valueReferences; (void)values;
    return nothing_of_this_type(instance, nValueReferences);
}

fmi3Status fmi3GetIntervalDecimal(fmi3Instance instance, const fmi3ValueReference valueReferences[],
    size_t nValueReferences, fmi3Float64 intervals[], fmi3IntervalQualifier qualifiers[]) {
    (void)valueReferences; (void)intervals; (void)qualifiers;
    return nothing_of_this_type(instance, nValueReferences);
}

fmi3Status fmi3GetIntervalFraction(fmi3Instance instance, const fmi3ValueReference valueReferences[],
    size_t nValueReferences, fmi3UInt64 counters[], fmi3UInt64 resolutions[], fmi3IntervalQualifier qualifiers[]) {
    (void)valueReferences; (void)counters; (void)resolutions; (void)qualifiers;
    return nothing_of_this_type(instance, nValueReferences);
}

fmi3Status fmi3GetShiftDecimal(fmi3Instance instance, const fmi3ValueReference valueReferences[],
    size_t nValueReferences, fmi3Float64 shifts[]) {
    (void)valueReferences; (void)shifts;
    return nothing_of_this_type(instance, nValueReferences);
}

fmi3Status fmi3GetShiftFraction(fmi3Instance instance, const fmi3ValueReference valueReferences[],
    size_t nValueReferences, fmi3UInt64 counters[], fmi3UInt64 resolutions[]) {
    (void)valueReferences; (void)counters; (void)resolutions;
    return nothing_of_this_type(instance, nValueReferences);
}

fmi3Status fmi3SetIntervalDecimal(fmi3Instance instance, const fmi3ValueReference valueReferences[],
    size_t nValueReferences, const fmi3Float64 intervals[]) {
    (void)valueReferences; (void)intervals;
    return nothing_of_this_type(instance, nValueReferences);
}

fmi3Status fmi3SetIntervalFraction(fmi3Instance instance, const fmi3ValueReference valueReferences[],
    size_t nValueReferences, const fmi3UInt64 counters[], const fmi3UInt64 resolutions[]) {
    (void)valueReferences; (void)counters; (void)resolutions;
    return nothing_of_this_type(instance, nValueReferences);
}

fmi3Status fmi3SetShiftDecimal(fmi3Instance instance, const fmi3ValueReference valueReferences[],
    size_t nValueReferences, const fmi3Float64 shifts[]) {
    (void)valueReferences; (void)shifts;
    return nothing_of_this_type(instance, nValueReferences);
}

fmi3Status fmi3SetShiftFraction(fmi3Instance instance, const fmi3ValueReference valueReferences[],
    size_t nValueReferences, const fmi3UInt64 counters[], const fmi3UInt64 resolutions[]) {
    (void)valueReferences; (void)counters; (void)resolutions;
    return nothing_of_this_type(instance, nValueReferences);
}

/* A capability that modelDescription.xml does not declare. */

static fmi3Status not_supported(fmi3Instance instance, const char *function) {
    if (instance != NULL) {
        char message[96];
        (void)snprintf(message, sizeof message, "%s is not supported", function);
        tell((const component *)instance, fmi3Error, message);
    }
    return fmi3Error;
}

fmi3Status fmi3GetNumberOfVariableDependencies(fmi3Instance instance, fmi3ValueReference valueReference,
    size_t *nDependencies) {
    (void)valueReference; (void)nDependencies;
    return not_supported(instance, "fmi3GetNumberOfVariableDependencies");
}

fmi3Status fmi3GetVariableDependencies(fmi3Instance instance, fmi3ValueReference dependent,
    size_t elementIndicesOfDependent[], fmi3ValueReference independents[], size_t elementIndicesOfIndependents[],
    fmi3DependencyKind dependencyKinds[], size_t nDependencies) {
    (void)dependent; (void)elementIndicesOfDependent; (void)independents; (void)elementIndicesOfIndependents;
    (void)dependencyKinds; (void)nDependencies;
    return not_supported(instance, "fmi3GetVariableDependencies");
}

fmi3Status fmi3GetAdjointDerivative(fmi3Instance instance, const fmi3ValueReference unknowns[], size_t nUnknowns,
    const fmi3ValueReference knowns[], size_t nKnowns, const fmi3Float64 seed[], size_t nSeed,
    fmi3Float64 sensitivity[], size_t nSensitivity) {
    (void)unknowns; (void)nUnknowns; (void)knowns; (void)nKnowns; (void)seed; (void)nSeed; (void)sensitivity; (void)nSensitivity;
    return not_supported(instance, "fmi3GetAdjointDerivative");
}

fmi3Status fmi3EnterConfigurationMode(fmi3Instance instance) {
    return not_supported(instance, "fmi3EnterConfigurationMode");
}

fmi3Status fmi3ExitConfigurationMode(fmi3Instance instance) {
    return not_supported(instance, "fmi3ExitConfigurationMode");
}

fmi3Status fmi3EvaluateDiscreteStates(fmi3Instance instance) {
    return not_supported(instance, "fmi3EvaluateDiscreteStates");
}

fmi3Status fmi3EnterStepMode(fmi3Instance instance) {
    return not_supported(instance, "fmi3EnterStepMode");
}

fmi3Status fmi3ActivateModelPartition(fmi3Instance instance, fmi3ValueReference clockReference,
    fmi3Float64 activationTime) {
    (void)clockReference; (void)activationTime;
    return not_supported(instance, "fmi3ActivateModelPartition");
}

fmi3Status fmi3GetFMUState(fmi3Instance instance, fmi3FMUState *FMUState) {
    component *const own = enter(instance, PHASES_ALL, "fmi3GetFMUState");
    const int is_kept = own != NULL && FMUState != NULL && @name@_instance_keep(&own->own, FMUState);
    return is_kept ? fmi3OK : fmi3Error;
}

fmi3Status fmi3SetFMUState(fmi3Instance instance, fmi3FMUState FMUState) {
    component *const own = enter(instance, PHASES_ALL, "fmi3SetFMUState");
    if (own == NULL || FMUState == NULL) {
        return fmi3Error;
    }
    (void)memcpy(&own->own, FMUState, sizeof own->own);
    return fmi3OK;
}

fmi3Status fmi3FreeFMUState(fmi3Instance instance, fmi3FMUState *FMUState) {
    (void)instance;
    if (FMUState != NULL) {
        free(*FMUState);
        *FMUState = NULL;
    }
    return fmi3OK;
}

fmi3Status fmi3SerializedFMUStateSize(fmi3Instance instance, fmi3FMUState FMUState, size_t *size) {
    if (instance == NULL || FMUState == NULL) {
        return fmi3Error;
    }
    *size = @name@_instance_size();
    return fmi3OK;
}

fmi3Status fmi3SerializeFMUState(fmi3Instance instance, fmi3FMUState FMUState, fmi3Byte serializedState[], size_t size) {
    if (instance == NULL || FMUState == NULL || size < @name@_instance_size()) {
        return fmi3Error;
    }
    @name@_instance_write((const @name@_instance *)FMUState, (char *)serializedState);
    return fmi3OK;
}

fmi3Status fmi3DeserializeFMUState(fmi3Instance instance, const fmi3Byte serializedState[], size_t size,
    fmi3FMUState *FMUState) {
    const component *const own = (const component *)instance;
    if (own == NULL || FMUState == NULL) {
        return fmi3Error;
    }
    if (!@name@_instance_read((const char *)serializedState, size, FMUState)) {
        tell(own, fmi3Error, "these bytes are no state of this model");
        return fmi3Error;
    }
    return fmi3OK;
}

fmi3Status fmi3GetDirectionalDerivative(fmi3Instance instance, const fmi3ValueReference unknowns[], size_t nUnknowns,
    const fmi3ValueReference knowns[], size_t nKnowns, const fmi3Float64 seed[], size_t nSeed, fmi3Float64 sensitivity[],
    size_t nSensitivity) {
    component *const own = enter(instance, PHASE_INITIALIZATION | PHASES_RUNNING, "fmi3GetDirectionalDerivative");
    if (own == NULL || nSeed != nKnowns || nSensitivity != nUnknowns) {
        return fmi3Error;
    }
    return answer(own, @name@_instance_directional(&own->own, unknowns, nUnknowns, knowns, nKnowns, seed, sensitivity));
}

fmi3Status fmi3UpdateDiscreteStates(fmi3Instance instance, fmi3Boolean *discreteStatesNeedUpdate,
    fmi3Boolean *terminateSimulation, fmi3Boolean *nominalsOfContinuousStatesChanged,
    fmi3Boolean *valuesOfContinuousStatesChanged, fmi3Boolean *nextEventTimeDefined, fmi3Float64 *nextEventTime) {
    component *const own = enter(instance, PHASE_EVENT, "fmi3UpdateDiscreteStates");
    fmi3Status status;
    int has_moved;
    double next;
    if (own == NULL) {
        return fmi3Error;
    }
    status = answer(own, @name@_instance_update(&own->own, &has_moved));
    next = @name@_instance_next_event(&own->own);
    *discreteStatesNeedUpdate = fmi3False;
    *terminateSimulation = fmi3False;
    *nominalsOfContinuousStatesChanged = fmi3False;
    *valuesOfContinuousStatesChanged = (has_moved != 0);
    *nextEventTimeDefined = (next < HUGE_VAL);
    *nextEventTime = (next < HUGE_VAL) ? next : 0.0;
    return status;
}

/* Model exchange. */

fmi3Status fmi3EnterContinuousTimeMode(fmi3Instance instance) {
    component *const own = enter(instance, PHASE_EVENT, "fmi3EnterContinuousTimeMode");
    if (own == NULL) {
        return fmi3Error;
    }
    own->own.phase = PHASE_CONTINUOUS;
    return fmi3OK;
}

fmi3Status fmi3CompletedIntegratorStep(fmi3Instance instance, fmi3Boolean noSetFMUStatePriorToCurrentPoint,
    fmi3Boolean *enterEventMode, fmi3Boolean *terminateSimulation) {
    component *const own = enter(instance, PHASE_CONTINUOUS, "fmi3CompletedIntegratorStep");
    int has_event = 0;
    (void)noSetFMUStatePriorToCurrentPoint;
    if (own == NULL) {
        return fmi3Error;
    }
    const fmi3Status status = answer(own, @name@_instance_completed(&own->own, &has_event));
    *enterEventMode = (has_event != 0) ? fmi3True : fmi3False;
    *terminateSimulation = fmi3False;
    return status;
}

fmi3Status fmi3SetTime(fmi3Instance instance, fmi3Float64 time) {
    component *const own = enter(instance, PHASE_EVENT | PHASE_CONTINUOUS, "fmi3SetTime");
    if (own == NULL) {
        return fmi3Error;
    }
    @name@_instance_move(&own->own, time);
    return fmi3OK;
}

fmi3Status fmi3SetContinuousStates(fmi3Instance instance, const fmi3Float64 continuousStates[], size_t nContinuousStates) {
    component *const own = enter(instance, PHASE_EVENT | PHASE_CONTINUOUS, "fmi3SetContinuousStates");
    if (own == NULL || nContinuousStates != @name@_STATES) {
        return fmi3Error;
    }
    @name@_instance_take_states(&own->own, continuousStates);
    return fmi3OK;
}

fmi3Status fmi3GetContinuousStateDerivatives(fmi3Instance instance, fmi3Float64 derivatives[], size_t nContinuousStates) {
    component *const own = enter(instance, PHASES_ALL, "fmi3GetContinuousStateDerivatives");
    if (own == NULL || nContinuousStates != @name@_STATES) {
        return fmi3Error;
    }
    return answer(own, @name@_instance_rates(&own->own, derivatives));
}

fmi3Status fmi3GetEventIndicators(fmi3Instance instance, fmi3Float64 eventIndicators[], size_t nEventIndicators) {
    component *const own = enter(instance, PHASES_ALL, "fmi3GetEventIndicators");
    if (own == NULL || nEventIndicators != INDICATORS) {
        return fmi3Error;
    }
    return answer(own, @name@_instance_conditions(&own->own, eventIndicators));
}

fmi3Status fmi3GetContinuousStates(fmi3Instance instance, fmi3Float64 continuousStates[], size_t nContinuousStates) {
    component *const own = enter(instance, PHASES_ALL, "fmi3GetContinuousStates");
    if (own == NULL || nContinuousStates != @name@_STATES) {
        return fmi3Error;
    }
    return answer(own, @name@_instance_states(&own->own, continuousStates));
}

fmi3Status fmi3GetNominalsOfContinuousStates(fmi3Instance instance, fmi3Float64 nominals[], size_t nContinuousStates) {
    if (instance == NULL || nContinuousStates != @name@_STATES) {
        return fmi3Error;
    }
    @name@_instance_nominals(nominals);
    return fmi3OK;
}

fmi3Status fmi3GetNumberOfEventIndicators(fmi3Instance instance, size_t *nEventIndicators) {
    *nEventIndicators = INDICATORS;
    return (instance != NULL) ? fmi3OK : fmi3Error;
}

fmi3Status fmi3GetNumberOfContinuousStates(fmi3Instance instance, size_t *nContinuousStates) {
    *nContinuousStates = @name@_STATES;
    return (instance != NULL) ? fmi3OK : fmi3Error;
}

/* Co-simulation. */

fmi3Status fmi3GetOutputDerivatives(fmi3Instance instance, const fmi3ValueReference valueReferences[],
    size_t nValueReferences, const fmi3Int32 orders[], fmi3Float64 values[], size_t nValues) {
    (void)valueReferences; (void)orders; (void)values; (void)nValues;
    return nothing_of_this_type(instance, nValueReferences);
}

fmi3Status fmi3DoStep(fmi3Instance instance, fmi3Float64 currentCommunicationPoint, fmi3Float64 communicationStepSize,
    fmi3Boolean noSetFMUStatePriorToCurrentPoint, fmi3Boolean *eventHandlingNeeded, fmi3Boolean *terminateSimulation,
    fmi3Boolean *earlyReturn, fmi3Float64 *lastSuccessfulTime) {
    component *const own = enter(instance, PHASE_STEP, "fmi3DoStep");
    fmi3Status status;
    (void)noSetFMUStatePriorToCurrentPoint;
    if (own == NULL) {
        return fmi3Error;
    }
    status = answer(own, @name@_instance_advance(&own->own, currentCommunicationPoint, communicationStepSize));
    *eventHandlingNeeded = fmi3False;
    *terminateSimulation = fmi3False;
    *earlyReturn = fmi3False;
    *lastSuccessfulTime = own->own.run.t;
    return status;
}
