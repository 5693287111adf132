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

/* x = i[0], v[0], i[1], v[1], .. */
static void ladder(long n, double u, const double *restrict x, double *restrict out) {
    const double L = given[0], R = given[1], C = given[2], Rl = given[3];
    const double iL = 1 / L, iC = 1 / C;
    for (long k = 0; k < n; k++) {
        double before = k > 0 ? x[2 * k - 1] : u;
        double after = k + 1 < n ? x[2 * k + 2] : x[2 * k + 1] / Rl;
        out[2 * k] = (before - R * x[2 * k] - x[2 * k + 1]) * iL;
        out[2 * k + 1] = (x[2 * k] - after) * iC;
    }
}

/* x = v[0], F[0], v[1], F[1], ..: mass k hangs on mass k - 1 by spring and damper k; the last is pushed. */
static void chain(long n, double u, const double *restrict x, double *restrict out) {
    const double m = given[4], stiffness = given[5], b = given[6];
    const double im = 1 / m;
    for (long k = 0; k < n; k++) {
        double v = x[2 * k];
        double stretch = v - (k > 0 ? x[2 * k - 2] : 0);
        double pull = x[2 * k + 1] + b * stretch;
        double after = k + 1 < n ? x[2 * k + 3] + b * (x[2 * k + 2] - v) : u;
        out[2 * k] = (after - pull) * im;
        out[2 * k + 1] = stiffness * stretch;
    }
}

/* x = w[0], tau[0], ..: every inertia carries another one through a gear. */
static void gears(long n, double u, const double *restrict x, double *restrict out) {
    const double J1 = given[7], J2 = given[8], r = given[9], stiffness = given[10];
    const double iJ = 1 / (J1 + r * r * J2);
    for (long k = 0; k < n; k++) {
        double w = x[2 * k];
        double after = k + 1 < n ? x[2 * k + 3] : u;
        out[2 * k] = (after - x[2 * k + 1]) * iJ;
        out[2 * k + 1] = stiffness * (w - (k > 0 ? x[2 * k - 2] : 0));
    }
}

/* x = v[0], q[0], ..: force k1 q + k3 q^3 of each spring. */
static void cubic(long n, double u, const double *restrict x, double *restrict out) {
    const double m = given[4], k1 = given[11], k3 = given[12];
    const double im = 1 / m;
    for (long k = 0; k < n; k++) {
        double q = x[2 * k + 1], force = k1 * q + k3 * q * q * q;
        double after = u;
        if (k + 1 < n) {
            double p = x[2 * k + 3];
            after = k1 * p + k3 * p * p * p;
        }
        out[2 * k] = (after - force) * im;
        out[2 * k + 1] = x[2 * k] - (k > 0 ? x[2 * k - 2] : 0);
    }
}

int main(int count, char **arguments) {
    if (count < 4) return 2;
    void (*family)(long, double, const double *restrict, double *restrict) =
        !strcmp(arguments[1], "ladder") ? ladder : !strcmp(arguments[1], "chain") ? chain : !strcmp(arguments[1], "gears") ? gears : cubic;
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
