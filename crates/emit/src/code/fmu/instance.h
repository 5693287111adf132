/* What the functions of FMI 2.0 and FMI 3.0 for @model@ share: one instance, its variables and its events.
 *
 * @origin@
 *
 * All quantities are in SI units. An instance is one struct of plain numbers: to copy its bytes is to keep its state.
 */
#ifndef @guard@_INSTANCE_H
#define @guard@_INSTANCE_H

#include "lgm_branch.h"
@if changing@
#include "lgm_events.h"
@end@

#include <stddef.h>

/* Event indicators: the conditions on states, whether the branch goes on that the loops follow, and the conditions of events. */
enum {
@if branches@
    INDICATORS_OF_STATES = @name@_CONDITIONS + 1,
@else@
    INDICATORS_OF_STATES = @name@_CONDITIONS,
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
    REFERENCE_DERIVATIVES = REFERENCE_STATES + @name@_STATES,
    REFERENCE_INPUTS = REFERENCE_DERIVATIVES + @name@_STATES,
    REFERENCE_INPUT_RATES = REFERENCE_INPUTS + @name@_INPUTS,
    REFERENCE_OUTPUTS = REFERENCE_INPUT_RATES + @name@_INPUTS,
    REFERENCE_PARAMETERS = REFERENCE_OUTPUTS + @name@_OUTPUTS,
    REFERENCE_CONDITIONS = REFERENCE_PARAMETERS + @name@_PARAMETERS,
    REFERENCE_END = REFERENCE_CONDITIONS + INDICATORS
};

/* What an instance is doing. One bit each, so that a function can say when it may be called. */
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

/* How a request ended. */
typedef enum {
    RESULT_OK,
    /* No variable has the value reference, or none that this may be done to now. */
    RESULT_NO_SUCH_VARIABLE,
    /* The equations have no value here; the status of the model says why. */
    RESULT_NO_VALUE
} @name@_result;

typedef struct {
    @name@_run run;
    @name@_parameters parameters;
    /* Starts that were set, and which. */
    double starts[@name@_ROOM(@name@_STATES)];
    int is_start_set[@name@_ROOM(@name@_STATES)];
    double start_time;
    /* HUGE_VAL where nobody has said when the run stops. */
    double stop_time;
    /* Values at the present point, where they are there already. */
    double dx[@name@_ROOM(@name@_STATES)];
    double y[@name@_ROOM(@name@_OUTPUTS)];
    int has_dx;
    int has_y;
    /* Whether the starts were computed from what is set. */
    int is_begun;
    int are_parameters_new;
    int are_inputs_new;
    int is_co_simulation;
    instance_phase phase;
    /* Why there was no value. */
    @name@_status status;
    /* What it says in words. */
    char words[320];
    /* Working memory. */
    double seed[@name@_ROOM(@name@_STATES + 2 * @name@_INPUTS)];
    double dx_change[@name@_ROOM(@name@_STATES)];
    double y_change[@name@_ROOM(@name@_OUTPUTS)];
    double signs[@name@_ROOM(INDICATORS)];
} @name@_instance;

/* The token of the modelDescription.xml that belongs to these sources. */
extern const char *const @name@_instance_token;

/* Everything as it is after instantiation. */
void @name@_instance_reset(@name@_instance *instance, int is_co_simulation);

/* When the run starts, when it stops (HUGE_VAL where unknown), and the tolerance of the solver of co-simulation (0 where
 * unknown). */
void @name@_instance_plan(@name@_instance *instance, double start, double stop, double tolerance);

/* Computes the starts from what is set: the end of initialisation. */
@name@_result @name@_instance_begin(@name@_instance *instance);

@name@_result @name@_instance_get(@name@_instance *instance, unsigned int reference, double *value);
@name@_result @name@_instance_set(@name@_instance *instance, unsigned int reference, double value);

/* The states at the present point, and their time derivatives. */
@name@_result @name@_instance_states(@name@_instance *instance, double x[]);
@name@_result @name@_instance_rates(@name@_instance *instance, double dx[]);
/* Of what size the states are. */
void @name@_instance_nominals(double nominals[]);
/* Functions that change their sign where an event is. */
@name@_result @name@_instance_conditions(@name@_instance *instance, double values[]);
/* Model exchange moves the present point so. */
void @name@_instance_move(@name@_instance *instance, double t);
void @name@_instance_take_states(@name@_instance *instance, const double x[]);

/* A step of another's solver ends here; `has_event` says whether it has passed an event whose time is not known beforehand. */
@name@_result @name@_instance_completed(@name@_instance *instance, int *has_event);

/* Enters event mode, and does what happens there; `has_moved` says whether a state has changed. */
@name@_result @name@_instance_enter_event(@name@_instance *instance);
@name@_result @name@_instance_update(@name@_instance *instance, int *has_moved);
/* HUGE_VAL where no event is known. */
double @name@_instance_next_event(const @name@_instance *instance);

/* Co-simulation: goes on from where it is, which is `from` but for rounding, to `from + length`. */
@name@_result @name@_instance_advance(@name@_instance *instance, double from, double length);

/* How the unknowns change where the knowns change so. */
@name@_result @name@_instance_directional(@name@_instance *instance, const unsigned int unknowns[],
    size_t unknown_count, const unsigned int knowns[], size_t known_count, const double known_changes[],
    double unknown_changes[]);

/* Copies an instance to where `kept` points, into new memory where that is nowhere; 0 where there is no memory. */
int @name@_instance_keep(const @name@_instance *instance, void **kept);

/* What was kept as bytes, `@name@_instance_size()` of them, and back; 0 where bytes are no state of this model. */
size_t @name@_instance_size(void);
void @name@_instance_write(const @name@_instance *kept, char bytes[]);
int @name@_instance_read(const char bytes[], size_t size, void **kept);

/* In words, why there was no value. */
const char *@name@_instance_words(@name@_instance *instance);

#endif
