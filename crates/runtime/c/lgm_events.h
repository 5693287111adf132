/* Events: modes of elements, sampled blocks and `when` blocks.
 *
 * In each part of a run between events, one combination of modes with its own equations is in force. All combinations have the same
 * array of states; an entry that is not a state in one of them is constant there. A part ends when a condition becomes true
 * (lgm_watch.c), or at an instant of an `every` block. At an event blocks assign values (lgm_events.c) and modes change, until nothing
 * follows (lgm_modes.c, lgm_lemke.c).
 *
 * If a mode gives a variable of a port, an input is added to it. This input, the offset, is the difference between the variable just
 * before a change and the value from the law. At the change it steps to 0. A change of modes therefore moves states in the same way as
 * an input step, and conserves momentum, charge and flux linkage.
 */
#ifndef LGM_EVENTS_H
#define LGM_EVENTS_H

#include "lgm_run.h"
#include "lgm_tables.h"

#include <stddef.h>

#if LGM_EVENTS

#ifdef __cplusplus
extern "C" {
#endif

/* The mode of an element in a combination, as an index into its own modes and into those of all elements; and the role of a state there:
 * a state (1), dependent on others (2), or without a value (0). */
#define LGM_MODE_IN(combination, element) (lgm_modes_of[(combination) * LGM_ROOM(LGM_ELEMENTS) + (element)])
#define LGM_PLACE_IN(combination, element) (lgm_first_mode[element] + LGM_MODE_IN(combination, element))
#define LGM_IS_REDUNDANT(combination, element) (lgm_redundant[(combination) * LGM_ROOM(LGM_ELEMENTS) + (element)])
#define LGM_KNOWN_AS(combination, state) (lgm_known[(combination) * LGM_ROOM(LGM_STATES) + (state)])

/* The reasons why an event has no outcome. */
enum {
    LGM_FAULT_NO_EQUATIONS = 1,
    LGM_FAULT_NOT_HELD,
    LGM_FAULT_CIRCLE,
    LGM_FAULT_TOO_MANY,
    LGM_FAULT_UNKNOWN_STATE,
    LGM_FAULT_NO_STATE,
    LGM_FAULT_NO_VALUE,
    LGM_FAULT_BLOCKS_ACCUMULATE,
    LGM_FAULT_ACCUMULATE
};

/* Performs the start of a run: the modes that agree with the initial values, the blocks that run initially, and those of the first
 * instant. */
lgm_status lgm_events_begin(lgm_run *run);

/* Returns the next known instant of an event, or the current time if an event is due. */
lgm_real lgm_events_next(const lgm_run *run);

/* Performs all events at the current point. */
lgm_status lgm_events_pass(lgm_run *run);

/* Records the run just before inputs step, with the held inputs. */
lgm_status lgm_events_arrive(lgm_run *run);

/* Performs the events after that: a step of an input moves states in the modes that follow, and may make conditions true. */
lgm_status lgm_events_corner(lgm_run *run);

/* Writes the values of dependent states of the combination in force into a row. */
void lgm_events_row(lgm_run *run, lgm_real t, const lgm_real x[], lgm_real row[]);

/* Computes event indicators for an external solver: for each element with modes and each block, a number that is positive until one of
 * its conditions acts. */
void lgm_events_indicators(lgm_run *run, lgm_real values[]);

/* Writes the reason why an event has no outcome. */
void lgm_events_cause(const lgm_run *run, char text[], size_t size);

/* Records the reason why an event has no outcome. */
lgm_status lgm_events_fail(lgm_run *run, int fault, int combination, int at);

/* The functions of the model: margins of conditions and watched values in the combination in force, with these rates of the inputs or
 * their own; conditions by number; values that blocks assign. */
lgm_status lgm_events_margins(lgm_run *run, lgm_real t, const lgm_real x[], const lgm_real du[], lgm_real margins[]);
lgm_status lgm_events_watched(lgm_run *run, lgm_real t, const lgm_real x[], const lgm_real du[], lgm_real watched[]);
int lgm_events_holds(int condition, const lgm_real margins[]);
/* Returns 1 if the condition of a block holds, or has held and is not left yet: a margin of 0 has not changed its side. */
int lgm_events_keeps(lgm_run *run, int block, int held, const lgm_real margins[]);
/* Records the sides of nonzero margins. */
void lgm_events_remember(lgm_run *run, const lgm_real margins[]);
lgm_real lgm_events_assigned(lgm_run *run, lgm_real t, int assignment);

/* Records the values of the run just before the instant, for states and dependent storage of this combination. */
void lgm_modes_before(lgm_run *run, lgm_before *from, int began);

/* Returns 1 for a margin that depends on time, parameters and discrete variables alone. */
int lgm_modes_is_timed(const lgm_run *run, int margin);

/* Returns the length of the step of the complementarity problem, which is also the duration of an impulse. The states continue with
 * their initial slope. */
lgm_real lgm_modes_short(const lgm_run *run);

/* Makes two steps of this length from the current point, into `point`; returns 0 if the right-hand side has no value. */
int lgm_modes_two_steps(lgm_run *run, lgm_real ahead);

/* Evaluates the conditions at the current point, without a change. */
lgm_status lgm_modes_stand(lgm_run *run);

/* Finds the modes after this instant, and the states there; `from` of the events holds the known values before it. */
lgm_status lgm_modes_settle(lgm_run *run);

/* Enters a combination after an instant; with the values set there, if `has_sets`. */
lgm_status lgm_modes_enter(lgm_run *run, const lgm_before *from, int combination, int has_sets);

/* Sets discrete variables and offsets to their values from now on. */
void lgm_modes_hold(lgm_run *run, const lgm_real discretes[], const lgm_real offsets[]);

/* Returns 1 if a change acts once its bound is exceeded; a change without a bound acts here. */
int lgm_lemke_holds_beyond(const lgm_events *events, int change);

/* The result of a problem: all bounds hold; no offsets satisfy them; or they are too few, or do not describe all changes. */
typedef enum { LGM_SOLVED, LGM_UNSOLVABLE, LGM_UNPOSED } lgm_outcome;

/* Finds the modes in which all complementary elements agree. */
lgm_outcome lgm_lemke_modes(lgm_run *run, const lgm_real discretes[], int modes[]);

/* Computes the least offsets with which dependent storage has its initial values. */
void lgm_lemke_least(lgm_run *run, int rows, const lgm_real wanted[], lgm_real offsets[]);

/* Begins to watch at the current point; returns 1 if a condition acts immediately. */
int lgm_watch_begin(lgm_run *run);

/* Finds the first instant within the last step at which a condition acts; the run is moved there if one exists. */
int lgm_watch_step(lgm_run *run);

#ifdef __cplusplus
}
#endif

#endif

#endif
