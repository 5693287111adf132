/* Runs over time: inputs, corners at which something has a step or a kink, and steps of controlled length between them.
 *
 * For programs that run the model themselves. A run is one struct of plain numbers: copying it saves its state.
 */
#ifndef LGM_RUN_H
#define LGM_RUN_H

#include "lgm_dopri5.h"
#include "lgm_signals.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#if LGM_BRANCHES
/* A point on the branch of solutions of the algebraic loops. */
typedef struct {
    lgm_real t;
    lgm_real x[LGM_ROOM(LGM_STATES)];
    lgm_real unknowns[LGM_UNKNOWNS];
} lgm_anchor;

/* The branch that a run follows (see lgm_branch.h). */
typedef struct {
    /* The unknowns at the current point, at the start of the last step, and at the end of the last followed path. */
    lgm_real unknowns[LGM_UNKNOWNS];
    lgm_real before[LGM_UNKNOWNS];
    lgm_real reached[LGM_UNKNOWNS];
    /* The unknowns that the solver itself found there. */
    lgm_real last[LGM_UNKNOWNS];
    /* The largest value of each unknown so far. */
    lgm_real sizes[LGM_UNKNOWNS];
    /* The unknowns at the end of the branch, and the first position that it does not reach. */
    lgm_real end[LGM_UNKNOWNS];
    lgm_real after;
    /* Two points on the branch, the first one some distance before the other. */
    lgm_anchor anchors[2];
    /* The last evaluated time: an earlier one belongs to another attempt at a step. */
    lgm_real latest;
    int is_begun;
    /* True if an external solver makes the steps: an indicator then shows it the end of the branch. */
    int is_exchanged;
    /* The last point at which the sign of the branch was positive, and the inputs there. */
    lgm_anchor sign;
    lgm_real sign_u[LGM_ROOM(LGM_INPUTS)];
    /* Working memory. */
    lgm_real slopes[LGM_UNKNOWNS * LGM_UNKNOWNS];
    int pivots[LGM_UNKNOWNS];
    lgm_real direction[LGM_UNKNOWNS];
    lgm_real trial[LGM_UNKNOWNS];
    lgm_real next[LGM_UNKNOWNS];
    lgm_real point[LGM_ROOM(LGM_STATES)];
} lgm_branch;

#endif
#if LGM_JUMPS
/* The path from before a step of the inputs to after it (see lgm_jump.h). */
typedef struct {
    /* The position and its slopes; the time is the completed fraction of the steps. */
    lgm_dopri5 way;
    /* The inputs before, the step of each, and its rank among the stepping inputs. */
    lgm_real before[LGM_ROOM(LGM_INPUTS)];
    lgm_real step[LGM_ROOM(LGM_INPUTS)];
    int order[LGM_ROOM(LGM_INPUTS)];
    /* True if some inputs are ahead of the others. */
    int is_bent;
    /* The instant, and the inputs and their rates at the last evaluated point of the path. */
    lgm_real t;
    lgm_real u[LGM_ROOM(LGM_INPUTS)];
    lgm_real du[LGM_ROOM(LGM_INPUTS)];
    lgm_real fast_du[LGM_ROOM(LGM_INPUTS)];
    /* The rate of the ramps in use, and the tolerance of the path. */
    int rate;
    lgm_real tolerance;
    /* The largest magnitude of each state and of its path so far: now, and before the part being tried. */
    lgm_real sizes[LGM_ROOM(LGM_STATES)];
    lgm_real sizes_before[LGM_ROOM(LGM_STATES)];
    /* The possible round-off of the slope of each state in the part being tried, and its accumulated effect so far. */
    lgm_real noise[LGM_ROOM(LGM_STATES)];
    lgm_real added[LGM_ROOM(LGM_STATES)];
    lgm_real largest[LGM_ROOM(LGM_STATES)];
    /* The right-hand sides with each of the rates, and the end of the other path. */
    lgm_real right[3][LGM_ROOM(LGM_STATES)];
    lgm_real other[LGM_ROOM(LGM_STATES)];
#if LGM_UNKNOWNS
    /* The unknowns of the loops with each of the rates, and without any: now, and before the part being tried. */
    lgm_real unknowns[4][LGM_UNKNOWNS];
    lgm_real unknowns_before[4][LGM_UNKNOWNS];
    /* The unknowns before the steps, if the loops were solved there. */
    lgm_real begun[LGM_UNKNOWNS];
    int is_begun;
#endif
    /* The reason why the states after the steps are unknown, the affected state, and two values that it may have. */
    int lost;
    int state;
    lgm_real values[2];
} lgm_jump;

#endif
#if LGM_BENDS
/* Kinks of laws within steps (see lgm_bends.h). */
typedef struct {
    /* The side of each condition at the end of the examined part of the last step; 0 if it has none yet. */
    lgm_real side[LGM_BENDS];
    lgm_real values[LGM_BENDS];
    /* The end of the last accepted step, if its sides are known. */
    lgm_real end;
    int is_known;
    /* The number of consecutive repetitions of the last step. */
    int again;
    /* The kink at which the next step ends, and the original length of the step. */
    int has_target;
    lgm_real target;
    lgm_real length;
    /* The right-hand sides before, at and after a kink. */
    lgm_real rates[3][LGM_ROOM(LGM_STATES)];
} lgm_bending;

#endif
#if LGM_EVENTS
/* The start indices of the watched values of each kind: values of states by name, effort and flow of each port of elements with modes,
 * the values that the mode in force gives at a port, the value from the law of each mode, values set by changes, values read by
 * blocks. */
enum {
    LGM_WATCHED_PORTS = LGM_STATES,
    LGM_WATCHED_GIVEN = LGM_WATCHED_PORTS + 2 * LGM_PORTS,
    LGM_WATCHED_LAWS = LGM_WATCHED_GIVEN + LGM_PORTS,
    LGM_WATCHED_SETS = LGM_WATCHED_LAWS + LGM_MODES,
    LGM_WATCHED_READ = LGM_WATCHED_SETS + LGM_SETS,
    LGM_WATCHED = LGM_WATCHED_READ + LGM_ROOM(LGM_READ)
};

enum {
    /* More consecutive events than this within almost no time count as an accumulation. */
    LGM_MOST_AT_ONCE = 1000,
    /* The number of samples of the conditions between the ends of a step. */
    LGM_LOOKS = 4,
    /* The events of one instant that are kept for a report. */
    LGM_REPORTED = 16 + 4 * (LGM_ELEMENTS + LGM_BLOCKS)
};

/* The state of a run just before an instant. */
typedef struct {
    /* The combination of modes in which the search begins, and the one at the beginning of the instant. */
    int combination;
    int began;
    /* The values of states, including those that are dependent in this combination. */
    lgm_real x[LGM_ROOM(LGM_STATES)];
    int is_known[LGM_ROOM(LGM_STATES)];
    /* 1 for each state that a block has set. */
    int is_set[LGM_ROOM(LGM_STATES)];
    /* Effort and flow of the ports of elements with modes; unknown at the start of a run. */
    lgm_real ports[LGM_ROOM(2 * LGM_PORTS)];
    int has_ports;
    /* The difference between the variable of a port and the value from the law. */
    lgm_real offsets[LGM_ROOM(LGM_PORTS)];
    /* The discrete variables before the instant, and after the assignments. */
    lgm_real old_discretes[LGM_ROOM(LGM_DISCRETES)];
    lgm_real discretes[LGM_ROOM(LGM_DISCRETES)];
    /* 1 if inputs step at this instant, and their previous values; at the start all of them were 0. */
    int inputs_step;
    lgm_real inputs[LGM_ROOM(LGM_INPUTS)];
} lgm_before;

/* An event: an element, or -1, with its modes, or a block. */
typedef struct {
    int element;
    int from;
    int to;
    int block;
} lgm_event;

/* Modes, discrete variables and blocks (see lgm_events.h). */
typedef struct {
    /* The run after the last event: watched values, offsets, the computed margins of conditions, the magnitude below which each of them
     * counts as 0, and their signs: impulses take precedence over finite values, and zeros count by their direction. */
    lgm_real watched[LGM_WATCHED];
    lgm_real offsets[LGM_ROOM(LGM_PORTS)];
    lgm_real margins[LGM_ROOM(LGM_MARGINS)];
    lgm_real least[LGM_ROOM(LGM_MARGINS)];
    lgm_real signs[LGM_ROOM(LGM_MARGINS)];
    /* The directions of margins that were 0 after the last event and still are; and the margins with these in their places. */
    lgm_real going[LGM_ROOM(LGM_MARGINS)];
    lgm_real sides[LGM_ROOM(LGM_MARGINS)];
    /* The last nonzero margins, which determine the conditions of blocks; and the margins with these in their places. */
    lgm_real last[LGM_ROOM(LGM_MARGINS)];
    lgm_real on_side[LGM_ROOM(LGM_MARGINS)];
    /* The largest magnitude of the terms of each margin so far, and its largest impulse. */
    lgm_real sizes[LGM_ROOM(LGM_MARGINS)];
    lgm_real impulses[LGM_ROOM(LGM_MARGINS)];
    /* The impulses of the change to the combination in force. */
    lgm_real entered[LGM_ROOM(LGM_MARGINS)];
    lgm_before from;
    /* The contacts of this instant: the known values before the first one closed, the values that each would set (computed just before
     * the instant), the change by which each has closed, the first mode that each reached, and the values set. */
    lgm_before base;
    int has_base;
    lgm_real offered[LGM_WATCHED];
    int is_offered;
    int offered_in;
    int closed[LGM_ROOM(LGM_ELEMENTS)];
    int first_closed[LGM_ROOM(LGM_ELEMENTS)];
    lgm_real set_values[LGM_ROOM(LGM_SETS)];
    /* The acting change of each element, or -1; the combinations that were tried. */
    int acting[LGM_ROOM(LGM_ELEMENTS)];
    unsigned char visited[LGM_COMBINATIONS];
    /* 1 if the condition of each block holds, and the number of its next instant. */
    int holding[LGM_ROOM(LGM_BLOCKS)];
    int is_run[LGM_ROOM(LGM_BLOCKS)];
    lgm_real next[LGM_ROOM(LGM_BLOCKS)];
    /* The first of these instants, the length of the run, and the times of the last events. */
    lgm_real instant;
    lgm_real whole;
    lgm_real recent[LGM_MOST_AT_ONCE];
    long count;
    /* 1 if an event is due at the current point. */
    int is_due;
    /* Margins at the samples of the last step. */
    lgm_real seen[LGM_LOOKS + 1][LGM_ROOM(LGM_MARGINS)];
    lgm_real looks[LGM_LOOKS + 1];
    int has_seen;
    /* The events of this instant, and their number. */
    lgm_event happened[LGM_REPORTED];
    int happenings;
    /* The event without an outcome: the reason, the combination, and the element, state or block. */
    int fault;
    int fault_combination;
    int fault_at;
    /* Working memory. */
    lgm_real level[LGM_WATCHED];
    lgm_real answers[2][LGM_WATCHED];
    lgm_real answer_margins[2][LGM_ROOM(LGM_MARGINS)];
    lgm_real with[LGM_ROOM(LGM_MARGINS)];
    lgm_real without[LGM_ROOM(LGM_MARGINS)];
    lgm_real step[LGM_ROOM(LGM_INPUTS)];
    lgm_real point[LGM_ROOM(LGM_STATES)];
    lgm_real slope[LGM_ROOM(LGM_STATES)];
    lgm_real temporaries[LGM_ROOM(LGM_TEMPORARIES)];
    lgm_real matrix[LGM_ROOM(LGM_BOUNDS * LGM_BOUNDS)];
    lgm_real table[LGM_ROOM(LGM_BOUNDS * (2 * LGM_BOUNDS + 2))];
    int basis[LGM_ROOM(LGM_BOUNDS)];
    lgm_real solution[LGM_ROOM(LGM_BOUNDS)];
    lgm_real joined[LGM_ROOM(LGM_STATES * LGM_PORTS)];
    lgm_real turned[LGM_ROOM(LGM_PORTS * LGM_PORTS)];
} lgm_events;

#endif
typedef struct {
    lgm_model model;
    lgm_dopri5 solver;
#if LGM_BENDS
    lgm_bending bends;
#endif
#if LGM_BRANCHES
    lgm_branch branch;
#endif
#if LGM_JUMPS
    lgm_jump jump;
#endif
#if LGM_EVENTS
    lgm_events events;
#endif
    /* The current time. */
    lgm_real t;
    lgm_real x[LGM_ROOM(LGM_STATES)];
    /* The corners before and after the current point: no value from beyond them is used. HUGE_VAL if none follows. */
    lgm_real from;
    lgm_real to;
    /* The interval in which corners are searched for; later ones are searched for when the run is there. */
    lgm_real start;
    lgm_real horizon;
    /* The inputs and their rates at the last evaluated point. */
    lgm_real u[LGM_ROOM(LGM_INPUTS)];
    lgm_real du[LGM_ROOM(LGM_INPUTS)];
    /* An input that is set has this value and rate instead of its default signal; if `is_line` is set, it changes at that rate from
     * `since` on. */
    int is_set[LGM_ROOM(LGM_INPUTS)];
    lgm_real value[LGM_ROOM(LGM_INPUTS)];
    lgm_real rate[LGM_ROOM(LGM_INPUTS)];
    lgm_real since[LGM_ROOM(LGM_INPUTS)];
    int is_line;
    /* The inputs just before now (see lgm_run_hold). */
    lgm_real held[LGM_ROOM(LGM_INPUTS)];
    /* True if the solver restarts with the next step. */
    int is_fresh;
    /* The sides of the conditions on states. */
    lgm_real side[LGM_ROOM(LGM_CONDITIONS)];
    /* The number of changes since this time, which is hardly before now. */
    int changes;
    lgm_real changed;
    /* Working memory. */
    lgm_real between[LGM_ROOM(LGM_STATES)];
    lgm_real probe[LGM_ROOM(LGM_STATES)];
#if LGM_MOVES
    lgm_real moved[LGM_ROOM(LGM_STATES)];
    lgm_real without[LGM_ROOM(LGM_STATES)];
#endif
} lgm_run;

/* Begins at time t with the states x; corners are searched for up to `stop`. The model, x, the set inputs and the tolerances of the
 * solver must be initialised. A step of the inputs at the start moves the states, except those whose initial value the model gives or
 * `given` marks; `given` may be NULL. */
lgm_status lgm_run_begin(lgm_run *run, lgm_real t, lgm_real stop, const int given[]);

/* Returns the end of the current piece of the run: a corner, an event, or the end of the searched interval. */
lgm_real lgm_run_bound(const lgm_run *run);

/* Makes one step of the solver, at most to `stop` or the end of the piece. It ends early at an event whose time is not known in advance.
 * Between its ends, solver.before and t, lgm_dopri5_dense gives the states. */
lgm_status lgm_run_step(lgm_run *run, lgm_real stop);

/* Records the current inputs, before a corner is passed or inputs are set. */
void lgm_run_hold(lgm_run *run);

/* Computes the change of each input from its held value to the current one, 0 if there is no step; returns the number of steps. */
int lgm_run_steps(lgm_run *run, lgm_real step[]);

/* Moves the states by a step of the inputs, from the held values to the current ones. If the equations do not determine the result,
 * returns LGM_JUMP_NOT_KNOWN and leaves the states unchanged. */
lgm_status lgm_run_jump(lgm_run *run);

/* Passes from one piece to the next: applies the effect of the corner on the states, as lgm_run_jump does, and any events, and searches
 * for the next corner. */
lgm_status lgm_run_pass(lgm_run *run);

/* Writes the inputs and their rates at a time within the piece into u and du; returns the time at which the equations are to be
 * evaluated: at the end of the piece, the values before it apply. */
lgm_real lgm_run_inputs(lgm_run *run, lgm_real t);

/* Computes the time derivatives of the states, the outputs and the conditions at a point within the piece. */
lgm_status lgm_run_rates(lgm_run *run, lgm_real t, const lgm_real x[], lgm_real dx[]);
lgm_status lgm_run_outputs(lgm_run *run, lgm_real t, const lgm_real x[], lgm_real y[]);
void lgm_run_conditions(lgm_run *run, lgm_real t, const lgm_real x[], lgm_real values[]);

/* Writes the reason why a call failed at time t with states x, and the element or variable at fault, into a text of `size` characters. */
void lgm_run_cause(lgm_run *run, lgm_status status, lgm_real t, const lgm_real x[], char text[], size_t size);

#ifdef __cplusplus
}
#endif

#endif
