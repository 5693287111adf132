/* The right-hand side of an emitted model against the loop by hand of rhs.c, both compiled with the same flags. The model's
   name is given as -DMODEL=Name and -DHEADER="Name.h", the family's as -DFAMILY="name"; the argument is the number of calls.
   Prints the nanoseconds per call of the loop by hand and of the emitted function, each the best of many short rounds, and the
   largest difference of their results. */
#define _POSIX_C_SOURCE 199309L
#include HEADER
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define JOINED(a, b) a##b
#define OF(a, b) JOINED(a, b)

typedef void (*right_hand_side)(long, double, const double *restrict, double *restrict);
right_hand_side family_of(const char *name);

static OF(MODEL, _model) model;
static OF(MODEL, _parameters) parameters;

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(int count, char **arguments) {
    const long calls = (count > 1) ? atol(arguments[1]) : 1;
    right_hand_side by_hand = family_of(FAMILY);
    double *x = malloc(STATES * sizeof *x), *emitted = malloc(STATES * sizeof *x), *hand = malloc(STATES * sizeof *x);
    const double u[1] = {0.5};
    double best[2] = {1e300, 1e300}, difference = 0, size = 0;
    OF(MODEL, _defaults)(&parameters);
    OF(MODEL, _init)(&model, &parameters, x);
    for (long k = 0; k < STATES; k++) x[k] = sin((double)k);
    /* They take turns, so that what else the machine does hits all of them. */
    for (int round = 0; round < 200; round++) {
        for (int which = 0; which < 2; which++) {
            const double begun = seconds();
            for (long call = 0; call < calls; call++) {
                if (which == 0) {
                    by_hand(STATES / 2, u[0], x, hand);
                } else {
                    OF(MODEL, _rhs)(&model, 0.0, x, u, emitted);
                }
                /* Nobody may leave a call out. */
                __asm__ volatile("" : : "r"(hand), "r"(emitted), "r"(x) : "memory");
            }
            const double time = 1e9 * (seconds() - begun) / (double)calls;
            if (time < best[which]) best[which] = time;
        }
    }
    for (long k = 0; k < STATES; k++) {
        difference = fmax(difference, fabs(hand[k] - emitted[k]));
        size = fmax(size, fabs(hand[k]));
    }
    printf("%.17g %.17g %.17g\n", best[0], best[1], difference / size);
    return 0;
}
