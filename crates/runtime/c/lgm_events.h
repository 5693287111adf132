/* Events: modes of elements, sampled blocks and `when` blocks.
 *
 * In each part of a run between events one combination of modes is in force, which has equations of its own. All combinations have the
 * same array of states; what is no state in one of them stands still there. A part ends where a condition becomes true (lgm_watch.c),
 * or at an instant of an `every` block. At an event blocks assign (lgm_events.c) and modes change, until nothing follows (lgm_modes.c,
 * lgm_lemke.c).
 *
 * If a mode gives a variable of a port, an input is added to it, the offset: the difference between what the variable was just
 * before a change and what the law gives. At the change it steps to 0. So a change of modes moves states as a step of an input does,
 * and keeps momentum, charge and flux linkage.
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

/* The mode of an element in a combination, among its own and among those of all elements; and whether a state is one there (1), follows
 * from others (2), or has no value (0). */
#define LGM_MODE_IN(combination, element) (lgm_modes_of[(combination) * LGM_ROOM(LGM_ELEMENTS) + (element)])
#define LGM_PLACE_IN(combination, element) (lgm_first_mode[element] + LGM_MODE_IN(combination, element))
#define LGM_KNOWN_AS(combination, state) (lgm_known[(combination) * LGM_ROOM(LGM_STATES) + (state)])

/* The reasons for which an event has no answer. */
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

/* The start of a run: the modes that agree with the starts, the blocks that run initially, and those of the first instant. */
lgm_status lgm_events_begin(lgm_run *run);

/* The next instant at which something happens that is known beforehand, or where the run is if an event is due there. */
lgm_real lgm_events_next(const lgm_run *run);

/* All that happens where the run is. */
lgm_status lgm_events_pass(lgm_run *run);

/* The run just before inputs step, with the inputs that are held. */
lgm_status lgm_events_arrive(lgm_run *run);

/* The events behind that: a step of an input moves states in the modes that follow, and may make conditions true. */
lgm_status lgm_events_corner(lgm_run *run);

/* Gives states that are dependent in the combination in force their values in a row. */
void lgm_events_row(lgm_run *run, lgm_real t, const lgm_real x[], lgm_real row[]);

/* For another's solver: of each element with modes and of each block a number that is above 0 until a condition of it acts. */
void lgm_events_indicators(lgm_run *run, lgm_real values[]);

/* Writes why an event has no answer. */
void lgm_events_cause(const lgm_run *run, char text[], size_t size);

/* Keeps why an event has no answer. */
lgm_status lgm_events_fail(lgm_run *run, int fault, int combination, int at);

/* The functions of the model: margins of conditions and watched values in the combination in force, where the inputs have these rates,
 * or their own; conditions by their numbers; values that blocks assign. */
lgm_status lgm_events_margins(lgm_run *run, lgm_real t, const lgm_real x[], const lgm_real du[], lgm_real margins[]);
lgm_status lgm_events_watched(lgm_run *run, lgm_real t, const lgm_real x[], const lgm_real du[], lgm_real watched[]);
int lgm_events_holds(int condition, const lgm_real margins[]);
lgm_real lgm_events_assigned(lgm_run *run, int assignment);

/* A value of the run at this combination's state or dependent storage. */
void lgm_modes_before(lgm_run *run, lgm_before *from, int began);

/* Looks at the conditions where the run is, without any change. */
lgm_status lgm_modes_stand(lgm_run *run);

/* Finds the modes behind this instant, and the states there; `from` of the events is what is known before. */
lgm_status lgm_modes_settle(lgm_run *run);

/* The run in a combination behind an instant; with what is set there, if `has_sets`. */
lgm_status lgm_modes_enter(lgm_run *run, const lgm_before *from, int combination, int has_sets);

/* Holds discrete variables and offsets, all as they are from now on. */
void lgm_modes_hold(lgm_run *run, const lgm_real discretes[], const lgm_real offsets[]);

/* The modes in which all complementary elements agree: 1, and the modes, where they were found. */
int lgm_lemke_modes(lgm_run *run, const lgm_real discretes[], int modes[]);

/* The least offsets with which dependent storage has its starts. */
void lgm_lemke_least(lgm_run *run, int rows, const lgm_real wanted[], lgm_real offsets[]);

/* Begins to watch where the run is; 1 if a condition acts at once. */
int lgm_watch_begin(lgm_run *run);

/* Looks for the first instant within the last step at which a condition acts; the run is there if there is one. */
int lgm_watch_step(lgm_run *run);

#ifdef __cplusplus
}
#endif

#endif

#endif
