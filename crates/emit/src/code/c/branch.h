/* The branch of solutions of the algebraic loops that a run of @model@ follows.
 *
 * @origin@
 *
 * Loops may have several solutions, as that of an amplifier which saturates to either side. A run stays with the one that goes
 * on continuously from its last step. A step may lead beyond where that one ends, and Newton's iteration may find another one
 * there; so a step that was accepted is followed from its beginning to its end. Where the branch ends in between (two solutions
 * meet and vanish, or a limit is reached), that is an event: the run goes on with the solution that the loops come to from there.
 */
#ifndef @guard@_BRANCH_H
#define @guard@_BRANCH_H

#include "@name@_run.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A point of a way, which is a time or a share of it: writes its states and, into the run, its inputs; returns the time at which
 * equations are to be evaluated there. */
typedef @name@_real (*@name@_way)(@name@_run *run, @name@_real place, @name@_real x[]);

/* Finds the solution where the run is, next to the last one; the branch is that of this solution. */
@name@_status @name@_branch_begin(@name@_run *run);

/* The next evaluation looks for a solution next to that where the run is, or where its last step began if the time is before that. */
void @name@_branch_recall(@name@_run *run, @name@_real t);

@if totals@
/* The same at a share of the last step: of many solutions, Newton's iteration may find another one from where the step began. */
void @name@_branch_recall_within(@name@_run *run, @name@_real share);

@end@
/* Follows the branch along a way, from the last solution on; 0 where it ends before `to`: run->branch.after is the first place that
 * it does not reach. */
int @name@_branch_follow(@name@_run *run, @name@_real from, @name@_real to, @name@_way way);

/* Whether the last evaluation at the end of the way that was followed found the solution of another branch. */
int @name@_branch_is_lost(const @name@_run *run);

/* The way that was followed is that of the run, which is at its end now. */
void @name@_branch_accept(@name@_run *run);

/* Goes from the end of the branch, where the run is now, to the solution that the loops come to from there. */
@name@_status @name@_branch_leave(@name@_run *run);

/* Whether the branch ends just ahead, where no step is small enough: then the run is there now. */
int @name@_branch_ends_ahead(@name@_run *run);

/* 1 where the solution where the run is now goes on continuously from the last one for which that was so, straight from there;
 * -1 where it does not: an indicator of an event, for solvers that locate events by themselves. */
@name@_real @name@_branch_sign(@name@_run *run);

#ifdef __cplusplus
}
#endif

#endif
