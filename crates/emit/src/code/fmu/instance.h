/* Declarations shared by the functions of FMI 2.0 and FMI 3.0 for @model@: one instance, its variables and its events.
 *
 * @origin@
 *
 * All quantities are in SI units. An instance is one struct of plain numbers: copying its bytes saves its state.
 */
#ifndef LGM_INSTANCE_H
#define LGM_INSTANCE_H

@if branches@
#include "lgm_branch.h"
@end@
@if changing@
#include "lgm_events.h"
@else@
#include "lgm_directional.h"
@end@
#include "lgm_run.h"

#include <stddef.h>

/* Event indicators: the conditions on states, the continuation of the branch that the loops follow, and the conditions of events. */
enum {
@if branches@
    INDICATORS_OF_STATES = LGM_CONDITIONS + 1,
@else@
    INDICATORS_OF_STATES = LGM_CONDITIONS,
@end@
@if changing@
    INDICATORS = INDICATORS_OF_STATES + LGM_ELEMENTS + LGM_BLOCKS
@else@
    INDICATORS = INDICATORS_OF_STATES
@end@
};

/* Value references: one block after another, each in the order of the arrays of the model. */
enum {
    REFERENCE_TIME = 0,
    REFERENCE_STATES = 1,
    REFERENCE_DERIVATIVES = REFERENCE_STATES + LGM_STATES,
    REFERENCE_INPUTS = REFERENCE_DERIVATIVES + LGM_STATES,
    REFERENCE_INPUT_RATES = REFERENCE_INPUTS + LGM_INPUTS,
    REFERENCE_OUTPUTS = REFERENCE_INPUT_RATES + LGM_INPUTS,
    REFERENCE_PARAMETERS = REFERENCE_OUTPUTS + LGM_OUTPUTS,
    REFERENCE_CONDITIONS = REFERENCE_PARAMETERS + LGM_PARAMETERS,
    REFERENCE_END = REFERENCE_CONDITIONS + INDICATORS
};

/* The phase of an instance. Each phase is one bit, so that a function can define the phases in which it may be called. */
typedef enum {
    PHASE_INSTANTIATED = 1,
    PHASE_INITIALIZATION = 2,
    PHASE_EVENT = 4,
    PHASE_CONTINUOUS = 8,
    PHASE_STEP = 16,
    PHASE_TERMINATED = 32
} instance_phase;

enum {
    PHASES_BEFORE = PHASE_INSTANTIATED | PHASE_INITIALIZATION,
    PHASES_RUNNING = PHASE_EVENT | PHASE_CONTINUOUS | PHASE_STEP,
    PHASES_ALL = PHASES_BEFORE | PHASES_RUNNING | PHASE_TERMINATED
};

/* The result of a request. */
typedef enum {
    RESULT_OK,
    /* No variable has the value reference, or none for which this is allowed now. */
    RESULT_NO_SUCH_VARIABLE,
    /* The equations have no value here; the status of the model gives the reason. */
    RESULT_NO_VALUE
} lgm_result;

typedef struct {
    lgm_run run;
    lgm_parameters parameters;
    /* Initial values that were set, and their indices. */
    double starts[LGM_ROOM(LGM_STATES)];
    int is_start_set[LGM_ROOM(LGM_STATES)];
    double start_time;
    /* HUGE_VAL if no stop time is known. */
    double stop_time;
    /* Values at the present point, if they are computed. */
    double dx[LGM_ROOM(LGM_STATES)];
    double y[LGM_ROOM(LGM_OUTPUTS)];
    int has_dx;
    int has_y;
    /* True if the initial values were computed from the set values. */
    int is_begun;
    int are_parameters_new;
    int are_inputs_new;
    int is_co_simulation;
    instance_phase phase;
    /* The reason for a missing value. */
    lgm_status status;
    /* The reason in words. */
    char words[320];
    /* Working memory. */
    double seed[LGM_ROOM(LGM_STATES + 2 * LGM_INPUTS)];
    double dx_change[LGM_ROOM(LGM_STATES)];
    double y_change[LGM_ROOM(LGM_OUTPUTS)];
@if changing@
@else@
    lgm_directions directions;
@end@
    double signs[LGM_ROOM(INDICATORS)];
} lgm_instance;

/* The token of the modelDescription.xml that belongs to these sources. */
extern const char *const lgm_instance_token;

/* Resets everything to the state after instantiation. */
void lgm_instance_reset(lgm_instance *instance, int is_co_simulation);

/* Sets the start and stop times of the run (HUGE_VAL if unknown), and the tolerance of the solver of co-simulation (0 if unknown). */
void lgm_instance_plan(lgm_instance *instance, double start, double stop, double tolerance);

/* Computes the initial values from the set values: the end of initialisation. */
lgm_result lgm_instance_begin(lgm_instance *instance);

lgm_result lgm_instance_get(lgm_instance *instance, unsigned int reference, double *value);
lgm_result lgm_instance_set(lgm_instance *instance, unsigned int reference, double value);

/* Computes the states at the present point, and their time derivatives. */
lgm_result lgm_instance_states(lgm_instance *instance, double x[]);
lgm_result lgm_instance_rates(lgm_instance *instance, double dx[]);
/* Writes the typical magnitudes of the states. */
void lgm_instance_nominals(double nominals[]);
/* Computes functions that change their sign at an event. */
lgm_result lgm_instance_conditions(lgm_instance *instance, double values[]);
/* Moves the present point, for model exchange. */
void lgm_instance_move(lgm_instance *instance, double t);
void lgm_instance_take_states(lgm_instance *instance, const double x[]);

/* Completes a step of an external solver; `has_event` is set if it has passed an event whose time is not known in advance. */
lgm_result lgm_instance_completed(lgm_instance *instance, int *has_event);

/* Enters event mode and performs the events; `has_moved` is set if a state has changed. */
lgm_result lgm_instance_enter_event(lgm_instance *instance);
lgm_result lgm_instance_update(lgm_instance *instance, int *has_moved);
/* Returns the time of the next known event; HUGE_VAL if there is none. */
double lgm_instance_next_event(const lgm_instance *instance);

/* Continues in co-simulation from the current time, which is `from` except for round-off, to `from + length`. */
lgm_result lgm_instance_advance(lgm_instance *instance, double from, double length);

/* Computes the changes of the unknowns for given changes of the knowns. */
lgm_result lgm_instance_directional(lgm_instance *instance, const unsigned int unknowns[],
    size_t unknown_count, const unsigned int knowns[], size_t known_count, const double known_changes[],
    double unknown_changes[]);

/* Copies an instance to the memory at `kept`, or to new memory if that is null; returns 0 if memory is exhausted. */
int lgm_instance_keep(const lgm_instance *instance, void **kept);

/* Serialises the instance to `lgm_instance_size()` bytes, and restores it; returns 0 if the bytes are not a state of this model. */
size_t lgm_instance_size(void);
void lgm_instance_write(const lgm_instance *kept, char bytes[]);
int lgm_instance_read(const char bytes[], size_t size, void **kept);

/* Returns the reason for a missing value in words. */
const char *lgm_instance_words(lgm_instance *instance);

#endif
