/* Runs of @model@ over time: its inputs, the corners at which something steps or bends, and steps of controlled length between
 * them.
 *
 * @origin@
 *
 * For programs that run the model by itself. A run is one struct of plain numbers: to copy it is to keep where the run is.
 */
#ifndef @guard@_RUN_H
#define @guard@_RUN_H

#include "@name@_dopri5.h"
#include "@name@_signals.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

@if branches@
/* A point on the branch of solutions of the algebraic loops. */
typedef struct {
    @name@_real t;
    @name@_real x[@name@_ROOM(@name@_STATES)];
    @name@_real unknowns[@name@_UNKNOWNS];
} @name@_anchor;

/* The branch that a run follows (see @name@_branch.h). */
typedef struct {
    /* The unknowns where the run is, where its last step began, and where the way ends that was followed last. */
    @name@_real unknowns[@name@_UNKNOWNS];
    @name@_real before[@name@_UNKNOWNS];
    @name@_real reached[@name@_UNKNOWNS];
    /* Those that the solver came to by itself there. */
    @name@_real last[@name@_UNKNOWNS];
    /* The largest value of each unknown so far. */
    @name@_real sizes[@name@_UNKNOWNS];
    /* The unknowns at the end of the branch, and the first place that it does not reach. */
    @name@_real end[@name@_UNKNOWNS];
    @name@_real after;
    /* Two points on the branch, the first one some way before the other. */
    @name@_anchor anchors[2];
    /* The time that was evaluated last: an earlier one belongs to another attempt at a step. */
    @name@_real latest;
    int is_begun;
    /* Whether it is another's solver that makes the steps: then an indicator shows it the end of the branch. */
    int is_exchanged;
    /* Where the sign of the branch was positive last, and the inputs there. */
    @name@_anchor sign;
    @name@_real sign_u[@name@_ROOM(@name@_INPUTS)];
    /* Working memory. */
    @name@_real slopes[@name@_UNKNOWNS * @name@_UNKNOWNS];
    int pivots[@name@_UNKNOWNS];
    @name@_real direction[@name@_UNKNOWNS];
    @name@_real trial[@name@_UNKNOWNS];
    @name@_real next[@name@_UNKNOWNS];
    @name@_real point[@name@_ROOM(@name@_STATES)];
} @name@_branch;

@end@
@if jumps@
/* The way from before a step of the inputs to after it (see @name@_jump.h). */
typedef struct {
    /* Where it is, and its slopes; the time is the share of the steps that is made. */
    @name@_dopri5 way;
    /* The inputs before, by how much each steps, and its place among those that do. */
    @name@_real before[@name@_ROOM(@name@_INPUTS)];
    @name@_real step[@name@_ROOM(@name@_INPUTS)];
    int order[@name@_ROOM(@name@_INPUTS)];
    /* Whether some inputs are ahead of the others. */
    int is_bent;
    /* The instant, and the inputs and their rates at the point of the way that was evaluated last. */
    @name@_real t;
    @name@_real u[@name@_ROOM(@name@_INPUTS)];
    @name@_real du[@name@_ROOM(@name@_INPUTS)];
    @name@_real fast_du[@name@_ROOM(@name@_INPUTS)];
    /* Which rate of the ramps is used, and the tolerance of the way. */
    int rate;
    @name@_real tolerance;
    /* The largest that was seen of each state and of its way: now, and before the part that is tried. */
    @name@_real sizes[@name@_ROOM(@name@_STATES)];
    @name@_real sizes_before[@name@_ROOM(@name@_STATES)];
    /* By how much rounding may make the slope of each state wrong in the part that is tried, and what that has added to it so far. */
    @name@_real noise[@name@_ROOM(@name@_STATES)];
    @name@_real added[@name@_ROOM(@name@_STATES)];
    @name@_real largest[@name@_ROOM(@name@_STATES)];
    /* The right sides with each of the rates, and where the other way ended. */
    @name@_real right[3][@name@_ROOM(@name@_STATES)];
    @name@_real other[@name@_ROOM(@name@_STATES)];
@if loops@
    /* The unknowns of the loops with each of the rates, and without any: now, and before the part that is tried. */
    @name@_real unknowns[4][@name@_UNKNOWNS];
    @name@_real unknowns_before[4][@name@_UNKNOWNS];
    /* Those before the steps, if the loops have been solved there. */
    @name@_real begun[@name@_UNKNOWNS];
    int is_begun;
@end@
    /* Why the states after the steps are not known, which of them it is, and two values that it may have. */
    int lost;
    int state;
    @name@_real values[2];
} @name@_jump;

@end@
@if bends@
/* Where laws bend within steps (see @name@_bends.h). */
typedef struct {
    /* On which side each condition is as far as the last step was looked at; 0 where it has none yet. */
    @name@_real side[@name@_BENDS];
    @name@_real values[@name@_BENDS];
    /* Where the last step ended that stands, if its sides are known. */
    @name@_real end;
    int is_known;
    /* How often in a row the last step was made again. */
    int again;
    /* The bend up to which the next step is made, and how long it was before. */
    int has_target;
    @name@_real target;
    @name@_real length;
    /* The right sides before, at and behind a bend. */
    @name@_real rates[3][@name@_ROOM(@name@_STATES)];
} @name@_bending;

@end@
typedef struct {
    @name@_model model;
    @name@_dopri5 solver;
@if bends@
    @name@_bending bends;
@end@
@if branches@
    @name@_branch branch;
@end@
@if jumps@
    @name@_jump jump;
@end@
    /* Where the run is. */
    @name@_real t;
    @name@_real x[@name@_ROOM(@name@_STATES)];
    /* The corners that it is between: no value from beyond them is used. HUGE_VAL where none comes. */
    @name@_real from;
    @name@_real to;
    /* Corners are looked for between these; what is beyond is looked for when the run is there. */
    @name@_real start;
    @name@_real horizon;
    /* The inputs and their rates at the point that was evaluated last. */
    @name@_real u[@name@_ROOM(@name@_INPUTS)];
    @name@_real du[@name@_ROOM(@name@_INPUTS)];
    /* An input that is set has this value and rate instead of its default signal; where `is_line` holds, it moves from `since`
     * on at that rate. */
    int is_set[@name@_ROOM(@name@_INPUTS)];
    @name@_real value[@name@_ROOM(@name@_INPUTS)];
    @name@_real rate[@name@_ROOM(@name@_INPUTS)];
    @name@_real since[@name@_ROOM(@name@_INPUTS)];
    int is_line;
    /* The inputs just before now (see @name@_run_hold). */
    @name@_real held[@name@_ROOM(@name@_INPUTS)];
    /* Whether the solver begins anew with the next step. */
    int is_fresh;
    /* The sides on which the conditions on states are. */
    @name@_real side[@name@_ROOM(@name@_CONDITIONS)];
    /* So many of them have changed, or branches ended, since this time, which is hardly before now. */
    int changes;
    @name@_real changed;
    /* Working memory. */
    @name@_real between[@name@_ROOM(@name@_STATES)];
    @name@_real probe[@name@_ROOM(@name@_STATES)];
@if moves@
    @name@_real moved[@name@_ROOM(@name@_STATES)];
    @name@_real without[@name@_ROOM(@name@_STATES)];
@end@
} @name@_run;

/* Begins at time t with the states x; corners are looked for up to `stop`. The model, x, the inputs that are set and the
 * tolerances of the solver must be there. A step of the inputs at the start moves the states, but for those whose start the
 * model gives or `given` marks, which may be NULL. */
@name@_status @name@_run_begin(@name@_run *run, @name@_real t, @name@_real stop, const int given[]);

/* Where the piece of the run ends that it is in: at a corner, or where further ones are to be looked for. */
@name@_real @name@_run_bound(const @name@_run *run);

/* One step of the solver, to `stop` at most or the end of the piece. It ends early where a condition on states changes, or the
 * branch of solutions that the loops follow ends. Between its two ends, solver.before and t, @name@_dopri5_dense gives the
 * states. */
@name@_status @name@_run_step(@name@_run *run, @name@_real stop);

/* Keeps the inputs as they are now, before a corner is passed or inputs are set. */
void @name@_run_hold(@name@_run *run);

/* What a step of the inputs, from those held to those that are set now, does to the states; @name@_JUMP_NOT_KNOWN, and the states as
 * they were, where that does not follow from the equations. */
@name@_status @name@_run_jump(@name@_run *run);

/* Goes from one piece to the next: does what the corner does to the states, as @name@_run_jump, and looks for the corner that
 * follows. */
@name@_status @name@_run_pass(@name@_run *run);

/* Writes the inputs and their rates at a time within the piece into u and du; returns the time at which equations are to be
 * evaluated: at the end of the piece, the branch before it still holds. */
@name@_real @name@_run_inputs(@name@_run *run, @name@_real t);

/* The time derivatives of the states, the outputs and the conditions at a point within the piece. */
@name@_status @name@_run_rates(@name@_run *run, @name@_real t, const @name@_real x[], @name@_real dx[]);
@name@_status @name@_run_outputs(@name@_run *run, @name@_real t, const @name@_real x[], @name@_real y[]);
void @name@_run_conditions(@name@_run *run, @name@_real t, const @name@_real x[], @name@_real values[]);

/* Writes why a call failed at time t with states x, which element or variable is at fault, into text of `size` characters. */
void @name@_run_cause(@name@_run *run, @name@_status status, @name@_real t, const @name@_real x[], char text[], size_t size);

#ifdef __cplusplus
}
#endif

#endif
