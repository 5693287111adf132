/* Runs over time: its inputs, the corners at which something steps or bends, and steps of controlled length between
 * them.
 *
 * For programs that run the model by itself. A run is one struct of plain numbers: to copy it is to keep where the run is.
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
    /* The unknowns where the run is, where its last step began, and where the way ends that was followed last. */
    lgm_real unknowns[LGM_UNKNOWNS];
    lgm_real before[LGM_UNKNOWNS];
    lgm_real reached[LGM_UNKNOWNS];
    /* Those that the solver came to by itself there. */
    lgm_real last[LGM_UNKNOWNS];
    /* The largest value of each unknown so far. */
    lgm_real sizes[LGM_UNKNOWNS];
    /* The unknowns at the end of the branch, and the first place that it does not reach. */
    lgm_real end[LGM_UNKNOWNS];
    lgm_real after;
    /* Two points on the branch, the first one some way before the other. */
    lgm_anchor anchors[2];
    /* The time that was evaluated last: an earlier one belongs to another attempt at a step. */
    lgm_real latest;
    int is_begun;
    /* Whether it is another's solver that makes the steps: then an indicator shows it the end of the branch. */
    int is_exchanged;
    /* Where the sign of the branch was positive last, and the inputs there. */
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
/* The way from before a step of the inputs to after it (see lgm_jump.h). */
typedef struct {
    /* Where it is, and its slopes; the time is the share of the steps that is made. */
    lgm_dopri5 way;
    /* The inputs before, by how much each steps, and its place among those that do. */
    lgm_real before[LGM_ROOM(LGM_INPUTS)];
    lgm_real step[LGM_ROOM(LGM_INPUTS)];
    int order[LGM_ROOM(LGM_INPUTS)];
    /* Whether some inputs are ahead of the others. */
    int is_bent;
    /* The instant, and the inputs and their rates at the point of the way that was evaluated last. */
    lgm_real t;
    lgm_real u[LGM_ROOM(LGM_INPUTS)];
    lgm_real du[LGM_ROOM(LGM_INPUTS)];
    lgm_real fast_du[LGM_ROOM(LGM_INPUTS)];
    /* Which rate of the ramps is used, and the tolerance of the way. */
    int rate;
    lgm_real tolerance;
    /* The largest that was seen of each state and of its way: now, and before the part that is tried. */
    lgm_real sizes[LGM_ROOM(LGM_STATES)];
    lgm_real sizes_before[LGM_ROOM(LGM_STATES)];
    /* By how much rounding may make the slope of each state wrong in the part that is tried, and what that has added to it so far. */
    lgm_real noise[LGM_ROOM(LGM_STATES)];
    lgm_real added[LGM_ROOM(LGM_STATES)];
    lgm_real largest[LGM_ROOM(LGM_STATES)];
    /* The right sides with each of the rates, and where the other way ended. */
    lgm_real right[3][LGM_ROOM(LGM_STATES)];
    lgm_real other[LGM_ROOM(LGM_STATES)];
#if LGM_UNKNOWNS
    /* The unknowns of the loops with each of the rates, and without any: now, and before the part that is tried. */
    lgm_real unknowns[4][LGM_UNKNOWNS];
    lgm_real unknowns_before[4][LGM_UNKNOWNS];
    /* Those before the steps, if the loops have been solved there. */
    lgm_real begun[LGM_UNKNOWNS];
    int is_begun;
#endif
    /* Why the states after the steps are not known, which of them it is, and two values that it may have. */
    int lost;
    int state;
    lgm_real values[2];
} lgm_jump;

#endif
#if LGM_BENDS
/* Bends of laws within steps (see lgm_bends.h). */
typedef struct {
    /* On which side each condition is as far as the last step was looked at; 0 where it has none yet. */
    lgm_real side[LGM_BENDS];
    lgm_real values[LGM_BENDS];
    /* Where the last step ended that stands, if its sides are known. */
    lgm_real end;
    int is_known;
    /* How often in a row the last step was made again. */
    int again;
    /* The bend up to which the next step is made, and how long it was before. */
    int has_target;
    lgm_real target;
    lgm_real length;
    /* The right sides before, at and behind a bend. */
    lgm_real rates[3][LGM_ROOM(LGM_STATES)];
} lgm_bending;

#endif
#if LGM_EVENTS
/* The beginnings of the watched values of each kind: values of states by their names, the effort and the flow of each port of elements with
 * modes, what the mode in force gives at a port, what the law of each mode gives, what changes set, what blocks read, the energy. */
enum {
    LGM_WATCHED_PORTS = LGM_STATES,
    LGM_WATCHED_GIVEN = LGM_WATCHED_PORTS + 2 * LGM_PORTS,
    LGM_WATCHED_LAWS = LGM_WATCHED_GIVEN + LGM_PORTS,
    LGM_WATCHED_SETS = LGM_WATCHED_LAWS + LGM_MODES,
    LGM_WATCHED_READ = LGM_WATCHED_SETS + LGM_SETS,
    LGM_WATCHED_ENERGY = LGM_WATCHED_READ + LGM_READ,
    LGM_WATCHED = LGM_WATCHED_ENERGY + 1
};

enum {
    /* So many events in a row within no time accumulate. */
    LGM_MOST_AT_ONCE = 1000,
    /* Between the ends of a step the conditions are looked at this number of times. */
    LGM_LOOKS = 4,
    /* The events of one instant that are kept for a report. */
    LGM_REPORTED = 16 + 4 * (LGM_ELEMENTS + LGM_BLOCKS)
};

/* The state of a run just before an instant. */
typedef struct {
    /* The combination of modes in which the search begins, and the one at the beginning of the instant. */
    int combination;
    int began;
    /* The values of states, those included that are dependent in this combination. */
    lgm_real x[LGM_ROOM(LGM_STATES)];
    int is_known[LGM_ROOM(LGM_STATES)];
    /* Effort and flow of the ports of elements with modes; not known at the start of a run. */
    lgm_real ports[LGM_ROOM(2 * LGM_PORTS)];
    int has_ports;
    /* The difference between what a port's variable is and what the law gives. */
    lgm_real offsets[LGM_ROOM(LGM_PORTS)];
    /* The discrete variables before the instant, and as they were assigned. */
    lgm_real old_discretes[LGM_ROOM(LGM_DISCRETES)];
    lgm_real discretes[LGM_ROOM(LGM_DISCRETES)];
    /* 1 if inputs step at this instant, and what they were before; at the start all of them were 0. */
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
    /* The run behind the last event: watched values, offsets, the margins of conditions as they are, the size below which
     * each of them counts as 0, and their signs: impulses before finite values, and what is 0 by where it is going. */
    lgm_real watched[LGM_WATCHED];
    lgm_real offsets[LGM_ROOM(LGM_PORTS)];
    lgm_real margins[LGM_ROOM(LGM_MARGINS)];
    lgm_real least[LGM_ROOM(LGM_MARGINS)];
    lgm_real signs[LGM_ROOM(LGM_MARGINS)];
    /* The directions of margins that were 0 behind the last event and are 0 still; and the margins with these in their places. */
    lgm_real going[LGM_ROOM(LGM_MARGINS)];
    lgm_real sides[LGM_ROOM(LGM_MARGINS)];
    /* The most that the terms of each margin have been worth, and its largest impulse. */
    lgm_real sizes[LGM_ROOM(LGM_MARGINS)];
    lgm_real impulses[LGM_ROOM(LGM_MARGINS)];
    lgm_before from;
    /* The contacts of this instant: what was known before the first closed, what each would set by the values just before the instant,
     * the change by which each has closed, the first mode that each came to, and what is set. */
    lgm_before base;
    int has_base;
    lgm_real offered[LGM_WATCHED];
    int is_offered;
    int offered_in;
    int closed[LGM_ROOM(LGM_ELEMENTS)];
    int first_closed[LGM_ROOM(LGM_ELEMENTS)];
    lgm_real set_values[LGM_ROOM(LGM_SETS)];
    /* One more than the mode that is wanted of each element whose mode is assumed, now and before the instant; 0 of the others. */
    int wanted[LGM_ROOM(LGM_ELEMENTS)];
    int wanted_before[LGM_ROOM(LGM_ELEMENTS)];
    /* The change of each element that acts, or -1; the combinations that were tried. */
    int acting[LGM_ROOM(LGM_ELEMENTS)];
    unsigned char visited[LGM_COMBINATIONS];
    /* 1 if the condition of each block holds, and the number of its next instant. */
    int holding[LGM_ROOM(LGM_BLOCKS)];
    int is_run[LGM_ROOM(LGM_BLOCKS)];
    lgm_real next[LGM_ROOM(LGM_BLOCKS)];
    /* The first of these instants, how long the run is, and times of the last events. */
    lgm_real instant;
    lgm_real whole;
    lgm_real recent[LGM_MOST_AT_ONCE];
    long count;
    /* 1 if an event is due where the run is. */
    int is_due;
    /* Margins at the looks at the last step. */
    lgm_real seen[LGM_LOOKS + 1][LGM_ROOM(LGM_MARGINS)];
    lgm_real looks[LGM_LOOKS + 1];
    int has_seen;
    /* The events of this instant, how many there were, and the energy that storage has lost in them and in all. */
    lgm_event happened[LGM_REPORTED];
    int happenings;
    int is_lost_known;
    lgm_real lost;
    lgm_real lost_in_all;
    /* The event without an answer: the reason, the combination, and the element, state or block. */
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
    lgm_real matrix[LGM_ROOM(LGM_PORTS * LGM_PORTS)];
    lgm_real table[LGM_ROOM(LGM_PORTS * (2 * LGM_PORTS + 2))];
    int basis[LGM_ROOM(LGM_PORTS)];
    lgm_real solution[LGM_ROOM(LGM_PORTS)];
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
    /* Where the run is. */
    lgm_real t;
    lgm_real x[LGM_ROOM(LGM_STATES)];
    /* The corners that it is between: no value from beyond them is used. HUGE_VAL where none comes. */
    lgm_real from;
    lgm_real to;
    /* Corners are looked for between these; what is beyond is looked for when the run is there. */
    lgm_real start;
    lgm_real horizon;
    /* The inputs and their rates at the point that was evaluated last. */
    lgm_real u[LGM_ROOM(LGM_INPUTS)];
    lgm_real du[LGM_ROOM(LGM_INPUTS)];
    /* An input that is set has this value and rate instead of its default signal; where `is_line` holds, it moves from `since`
     * on at that rate. */
    int is_set[LGM_ROOM(LGM_INPUTS)];
    lgm_real value[LGM_ROOM(LGM_INPUTS)];
    lgm_real rate[LGM_ROOM(LGM_INPUTS)];
    lgm_real since[LGM_ROOM(LGM_INPUTS)];
    int is_line;
    /* The inputs just before now (see lgm_run_hold). */
    lgm_real held[LGM_ROOM(LGM_INPUTS)];
    /* Whether the solver begins anew with the next step. */
    int is_fresh;
    /* The sides on which the conditions on states are. */
    lgm_real side[LGM_ROOM(LGM_CONDITIONS)];
    /* So many of them have changed, or branches ended, since this time, which is hardly before now. */
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

/* Begins at time t with the states x; corners are looked for up to `stop`. The model, x, the inputs that are set and the
 * tolerances of the solver must be there. A step of the inputs at the start moves the states, but for those whose start the
 * model gives or `given` marks, which may be NULL. */
lgm_status lgm_run_begin(lgm_run *run, lgm_real t, lgm_real stop, const int given[]);

/* The end of the piece of the run that it is in: a corner, an event, or the place from which further ones are to be looked for. */
lgm_real lgm_run_bound(const lgm_run *run);

/* One step of the solver, to `stop` at most or the end of the piece. It ends early where a condition on states changes, an event is, or
 * the branch of solutions that the loops follow ends. Between its two ends, solver.before and t, lgm_dopri5_dense gives the
 * states. */
lgm_status lgm_run_step(lgm_run *run, lgm_real stop);

/* Keeps the inputs as they are now, before a corner is passed or inputs are set. */
void lgm_run_hold(lgm_run *run);

/* The growth of each input from those held to those now, 0 where there is no step; returns the number of steps. */
int lgm_run_steps(lgm_run *run, lgm_real step[]);

/* Moves the states by a step of the inputs, from those held to those that are set now; LGM_JUMP_NOT_KNOWN, and the states as
 * they were, where that does not follow from the equations. */
lgm_status lgm_run_jump(lgm_run *run);

/* Goes from one piece to the next: does what the corner does to the states, as lgm_run_jump, and what happens at an event, and looks
 * for the corner that follows. */
lgm_status lgm_run_pass(lgm_run *run);

/* Writes the inputs and their rates at a time within the piece into u and du; returns the time at which equations are to be
 * evaluated: at the end of the piece, the branch before it still holds. */
lgm_real lgm_run_inputs(lgm_run *run, lgm_real t);

/* The time derivatives of the states, the outputs and the conditions at a point within the piece. */
lgm_status lgm_run_rates(lgm_run *run, lgm_real t, const lgm_real x[], lgm_real dx[]);
lgm_status lgm_run_outputs(lgm_run *run, lgm_real t, const lgm_real x[], lgm_real y[]);
void lgm_run_conditions(lgm_run *run, lgm_real t, const lgm_real x[], lgm_real values[]);

/* Writes why a call failed at time t with states x, which element or variable is at fault, into text of `size` characters. */
void lgm_run_cause(lgm_run *run, lgm_status status, lgm_real t, const lgm_real x[], char text[], size_t size);

#ifdef __cplusplus
}
#endif

#endif
