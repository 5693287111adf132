/* Right-hand sides by hand, one loop a family: what compiled kernels are measured against.
   Arguments: family, cells, calls. Prints the time of the best of nine rounds in nanoseconds per call, and a checksum. */
#define _POSIX_C_SOURCE 199309L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Values are read through these, so that no compiler knows them. */
static volatile double given[] = {1e-3, 0.1, 1e-6, 50.0, 2.0, 50.0, 0.4, 0.01, 0.02, 1.5, 30.0, 20.0, 3.0};

/* x = i[0], v[0], i[1], v[1], ..; two sections at least, the ends written apart as one does. */
static void ladder(long n, double u, const double *restrict x, double *restrict out) {
    const double L = given[0], R = given[1], C = given[2], Rl = given[3];
    const double iL = 1 / L, iC = 1 / C, iRl = 1 / Rl;
    long e = 2 * n - 2;
    out[0] = (u - R * x[0] - x[1]) * iL;
    out[1] = (x[0] - x[2]) * iC;
    for (long k = 2; k < e; k += 2) {
        out[k] = (x[k - 1] - R * x[k] - x[k + 1]) * iL;
        out[k + 1] = (x[k] - x[k + 2]) * iC;
    }
    out[e] = (x[e - 1] - R * x[e] - x[e + 1]) * iL;
    out[e + 1] = (x[e] - x[e + 1] * iRl) * iC;
}

/* x = v[0], F[0], v[1], F[1], ..: mass k hangs on mass k - 1 by spring and damper k; the last is pushed. */
static void chain(long n, double u, const double *restrict x, double *restrict out) {
    const double m = given[4], stiffness = given[5], b = given[6];
    const double im = 1 / m;
    long e = 2 * n - 2;
    out[0] = (x[3] + b * (x[2] - x[0]) - x[1] - b * x[0]) * im;
    out[1] = stiffness * x[0];
    for (long k = 2; k < e; k += 2) {
        double stretch = x[k] - x[k - 2];
        out[k] = (x[k + 3] + b * (x[k + 2] - x[k]) - x[k + 1] - b * stretch) * im;
        out[k + 1] = stiffness * stretch;
    }
    double stretch = x[e] - x[e - 2];
    out[e] = (u - x[e + 1] - b * stretch) * im;
    out[e + 1] = stiffness * stretch;
}

/* x = w[0], tau[0], ..: every inertia carries another one through a gear. */
static void gears(long n, double u, const double *restrict x, double *restrict out) {
    const double J1 = given[7], J2 = given[8], r = given[9], stiffness = given[10];
    const double iJ = 1 / (J1 + r * r * J2);
    long e = 2 * n - 2;
    out[0] = (x[3] - x[1]) * iJ;
    out[1] = stiffness * x[0];
    for (long k = 2; k < e; k += 2) {
        out[k] = (x[k + 3] - x[k + 1]) * iJ;
        out[k + 1] = stiffness * (x[k] - x[k - 2]);
    }
    out[e] = (u - x[e + 1]) * iJ;
    out[e + 1] = stiffness * (x[e] - x[e - 2]);
}

/* x = all velocities, then all elongations: force k1 q + k3 q^3 of each spring. */
static void cubic(long n, double u, const double *restrict x, double *restrict out) {
    const double m = given[4], k1 = given[11], k3 = given[12];
    const double im = 1 / m;
    const double *restrict v = x, *restrict q = x + n;
    double *restrict force = out, *restrict speed = out + n;
    for (long k = 0; k < n - 1; k++) {
        double here = q[k] * (k1 + k3 * q[k] * q[k]), after = q[k + 1] * (k1 + k3 * q[k + 1] * q[k + 1]);
        force[k] = (after - here) * im;
    }
    force[n - 1] = (u - q[n - 1] * (k1 + k3 * q[n - 1] * q[n - 1])) * im;
    speed[0] = v[0];
    for (long k = 1; k < n; k++) speed[k] = v[k] - v[k - 1];
}

typedef void (*right_hand_side)(long, double, const double *restrict, double *restrict);

/* The family of a name. */
right_hand_side family_of(const char *name) {
    return !strcmp(name, "ladder") ? ladder : !strcmp(name, "chain") ? chain : !strcmp(name, "gears") ? gears : cubic;
}

#ifndef WITHOUT_MAIN
int main(int count, char **arguments) {
    if (count < 4) return 2;
    right_hand_side family = family_of(arguments[1]);
    long n = atol(arguments[2]), calls = atol(arguments[3]);
    double *x = malloc(2 * n * sizeof *x), *out = malloc(2 * n * sizeof *out);
    for (long k = 0; k < 2 * n; k++) x[k] = sin((double)k);
    double best = 1e300;
    for (int round = 0; round < 9; round++) {
        struct timespec a, b;
        clock_gettime(CLOCK_MONOTONIC, &a);
        for (long call = 0; call < calls; call++) {
            family(n, 0.5, x, out);
            /* Nobody may leave a call out. */
            __asm__ volatile("" : : "r"(out), "r"(x) : "memory");
        }
        clock_gettime(CLOCK_MONOTONIC, &b);
        double time = ((b.tv_sec - a.tv_sec) * 1e9 + (b.tv_nsec - a.tv_nsec)) / calls;
        if (time < best) best = time;
    }
    double sum = 0;
    for (long k = 0; k < 2 * n; k++) sum += out[k] * cos(0.7 * k);
    printf("%.17g %.17g\n", best, sum);
    return 0;
}
#endif
