/* The branch of solutions of the algebraic loops that a run follows.
 *
 * Loops may have several solutions, such as that of an amplifier that saturates in either direction. A run follows the solution that
 * continues continuously from its last step. A step may extend beyond the end of that branch, and Newton's iteration may find another
 * one there. An accepted step is therefore followed from its beginning to its end. If the branch ends in between (two solutions meet
 * and vanish, or a limit is reached), that is an event: the run continues with the solution to which the loops move from there.
 */
#ifndef LGM_BRANCH_H
#define LGM_BRANCH_H

#include "lgm_run.h"

#if LGM_BRANCHES

#ifdef __cplusplus
extern "C" {
#endif

/* A point of a path, given by a time or a fraction of the path: writes its states and, into the run, its inputs; returns the time at
 * which the equations are evaluated there. */
typedef lgm_real (*lgm_way)(lgm_run *run, lgm_real place, lgm_real x[]);

/* Finds the solution at the current point, near the last one; the branch is that of this solution. */
lgm_status lgm_branch_begin(lgm_run *run);

/* Makes the next evaluation start from the solution at the current point, or at the start of the last step for an earlier time. */
void lgm_branch_recall(lgm_run *run, lgm_real t);

#if LGM_TOTALS
/* Does the same for a fraction of the last step: if several solutions exist, Newton's iteration might find another one from the start of
 * the step. */
void lgm_branch_recall_within(lgm_run *run, lgm_real share);

#endif
/* Follows the branch along a path, from the last solution on. Returns 0 if it ends before `to`; run->branch.after is then the first
 * position that it does not reach. */
int lgm_branch_follow(lgm_run *run, lgm_real from, lgm_real to, lgm_way way);

/* Returns true if the last evaluation at the end of the followed path found the solution of another branch. */
int lgm_branch_is_lost(const lgm_run *run);

/* Accepts the followed path as that of the run, which is now at its end. */
void lgm_branch_accept(lgm_run *run);

/* Moves from the end of the branch, which is the current point, to the next solution of the loops. */
lgm_status lgm_branch_leave(lgm_run *run);

/* Returns true if the branch ends just ahead, where no step is small enough; the run is then moved there. */
int lgm_branch_ends_ahead(lgm_run *run);

/* An event indicator for solvers that locate events themselves: 1 if the current solution continues the last one for which this was
 * true, along a straight line; -1 otherwise. */
lgm_real lgm_branch_sign(lgm_run *run);

#ifdef __cplusplus
}
#endif

#endif

#endif
