/* The branch of solutions of the algebraic loops that a run follows.
 *
 * Loops may have several solutions, as that of an amplifier which saturates to either side. A run stays with the one that goes
 * on continuously from its last step. A step may lead beyond where that one ends, and Newton's iteration may find another one
 * there; so a step that was accepted is followed from its beginning to its end. Where the branch ends in between (two solutions
 * meet and vanish, or a limit is reached), that is an event: the run goes on with the solution that the loops come to from there.
 */
#ifndef LGM_BRANCH_H
#define LGM_BRANCH_H

#include "lgm_run.h"

#if LGM_BRANCHES

#ifdef __cplusplus
extern "C" {
#endif

/* A point of a way, which is a time or a share of it: writes its states and, into the run, its inputs; returns the time at which
 * equations are to be evaluated there. */
typedef lgm_real (*lgm_way)(lgm_run *run, lgm_real place, lgm_real x[]);

/* Finds the solution where the run is, next to the last one; the branch is that of this solution. */
lgm_status lgm_branch_begin(lgm_run *run);

/* The next evaluation looks for a solution next to that where the run is, or where its last step began if the time is before that. */
void lgm_branch_recall(lgm_run *run, lgm_real t);

#if LGM_TOTALS
/* The same at a share of the last step: of many solutions, Newton's iteration may find another one from where the step began. */
void lgm_branch_recall_within(lgm_run *run, lgm_real share);

#endif
/* Follows the branch along a way, from the last solution on; 0 where it ends before `to`: run->branch.after is the first place that
 * it does not reach. */
int lgm_branch_follow(lgm_run *run, lgm_real from, lgm_real to, lgm_way way);

/* Whether the last evaluation at the end of the way that was followed found the solution of another branch. */
int lgm_branch_is_lost(const lgm_run *run);

/* The way that was followed is that of the run, which is at its end now. */
void lgm_branch_accept(lgm_run *run);

/* Goes from the end of the branch, where the run is now, to the solution that the loops come to from there. */
lgm_status lgm_branch_leave(lgm_run *run);

/* Whether the branch ends just ahead, where no step is small enough: then the run is there now. */
int lgm_branch_ends_ahead(lgm_run *run);

/* 1 where the solution where the run is now goes on continuously from the last one for which that was so, straight from there;
 * -1 where it does not: an indicator of an event, for solvers that locate events by themselves. */
lgm_real lgm_branch_sign(lgm_run *run);

#ifdef __cplusplus
}
#endif

#endif

#endif
