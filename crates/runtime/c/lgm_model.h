/* The model as used by the sources of a run. */
#ifndef LGM_MODEL_H
#define LGM_MODEL_H

#include "MODEL.h"

/* The result of a call. */
typedef enum {
    LGM_OK = 0,
    /* A result is not a finite number: the arguments are outside the domain of the equations. */
    LGM_NOT_FINITE = 1,
#if LGM_UNKNOWNS
    /* Newton's method finds no solution of an algebraic loop. */
    LGM_LOOP_NOT_SOLVED = 2,
#endif
#if LGM_CONSTRAINTS
    /* Initial values of dependent storage elements contradict each other. */
    LGM_STARTS_DISAGREE = 3,
#endif
#if LGM_BRANCHES || LGM_CONDITIONS || LGM_EVENTS
    /* A condition on states changes repeatedly within almost no time. */
    LGM_CHATTER = 4,
#endif
#if LGM_MOVES || LGM_EVENTS
    /* An input steps, and the equations do not determine the states after the step. */
    LGM_JUMP_NOT_KNOWN = 5,
#endif
#if LGM_EVENTS
    /* No consistent modes exist at an event, or an assignment has no value. */
    LGM_EVENT_NOT_KNOWN = 6
#endif
} lgm_status;

