/* Modes of elements that are complementary, found at once: of two variables of a port one is given in each of two modes, and the other
 * one has the right sign. Diodes, walls and valves are of this kind.
 *
 * The combination in force says how the free variables answer to offsets of the given ones over a short step (J. J. Moreau's time
 * stepping). That is a linear complementarity problem; the elements whose offsets are not 0 in its solution change their mode.
 */
#include "lgm_events.h"
#include "lgm_numbers.h"

#include <math.h>

#if LGM_EVENTS

enum {
    /* Rounds in which pairs of columns are turned until they are perpendicular. */
    TURNS = 60
};

/* The problem is that of a step of this share of the run, in which states go on as they begin to. */
static const real short_share = (real)1e-7;
/* Below this share of the values that it is a difference of, an answer is none. */
static const real no_answer = (real)1e-13;
/* A pivot below this share of the largest entry of its column is none. */
static const real least_pivot = (real)1e-12;
/* Ratios that differ by less than this share are the same. */
static const real tie = (real)1e-13;
/* Directions in which offsets move dependent storage by no more than this are left alone. */
static const real negligible = (real)1e-12;

/* An element that is complementary in the mode in force: its port, the change, the watched values of the variable that is free and of
 * what the other mode gives it, the margin of the change, and whether it is taken above 0. */
typedef struct {
    int element;
    int port;
    int change;
    int free;
    int other;
    int margin;
    int is_above;
} complementary;

static int find_pairs(int combination, complementary pairs[]) {
    int count = 0;
    for (int element = 0; element < LGM_ELEMENTS; element++) {
        const int port = lgm_first_port[element];
        const int mode = LGM_PLACE_IN(combination, element);
        const int change = lgm_first_change[mode];
        if (lgm_first_port[element + 1] - port != 1 || lgm_first_change[mode + 1] - change != 1) {
            continue;
        }
        {
            const int next = lgm_first_mode[element] + lgm_change_to[change];
            const int given = lgm_given[lgm_first_given[mode]];
            const int other = lgm_given[lgm_first_given[next]];
            const int has_sets = lgm_first_set[change] < lgm_first_set[change + 1];
            if (given < 0 || other < 0 || given == other || has_sets || lgm_change_margins[change] < 0 ||
                lgm_change_is_free[change] == 0) {
                continue;
            }
            pairs[count].element = element;
            pairs[count].port = port;
            pairs[count].change = change;
            pairs[count].free = LGM_WATCHED_PORTS + 2 * port + other;
            pairs[count].other = LGM_WATCHED_LAWS + next;
            pairs[count].margin = lgm_change_margins[change];
            pairs[count].is_above = lgm_change_is_above[change];
            count++;
        }
    }
    return count;
}

/* The watched values and the margins a short time behind this instant, where the offset of a port is 1 from now on; -1 stands for none.
 * Impulses count as values that last as long. */
static int answer(lgm_run *run, const real discretes[], int port, real watched[], real margins[]) {
    lgm_events *const events = &run->events;
    const real length = lgm_larger(short_share * events->whole, (real)1e3 * LGM_EPSILON * lgm_fabs(run->t));
    real offsets[LGM_ROOM(LGM_PORTS)] = {(real)0.0};
    real rates[LGM_ROOM(LGM_INPUTS)] = {(real)0.0};
    real kept[LGM_ROOM(LGM_STATES)];
    int is_found;
    for (int at = 0; at < LGM_STATES; at++) {
        kept[at] = run->x[at];
    }
    lgm_modes_hold(run, discretes, offsets);
    lgm_run_hold(run);
    if (port >= 0) {
        offsets[port] = (real)1.0;
        lgm_modes_hold(run, discretes, offsets);
        if (lgm_run_jump(run) != LGM_OK) {
            return 0;
        }
        rates[LGM_FIRST_OFFSET + port] = (real)1.0 / length;
    }
    is_found = lgm_run_rates(run, run->t, run->x, events->slope) == LGM_OK;
    for (int at = 0; at < LGM_STATES; at++) {
        events->point[at] = run->x[at] + (is_found ? length * events->slope[at] : (real)0.0);
    }
    is_found = lgm_events_watched(run, run->t + length, events->point, rates, watched) == LGM_OK &&
               lgm_events_margins(run, run->t + length, events->point, rates, margins) == LGM_OK;
    for (int at = 0; at < LGM_STATES; at++) {
        run->x[at] = kept[at];
    }
    return is_found;
}

/* Brings a variable into the basis in a row; returns the one that leaves. */
static int pivot(lgm_events *events, int rows, int row, int entering) {
    real *const table = events->table;
    const int width = 2 * rows + 2;
    const real by = table[row * width + entering];
    const int leaving = events->basis[row];
    for (int column = 0; column < width; column++) {
        table[row * width + column] /= by;
    }
    for (int other = 0; other < rows; other++) {
        const real factor = table[other * width + entering];
        for (int column = 0; column < width && other != row && factor != (real)0.0; column++) {
            table[other * width + column] -= factor * table[row * width + column];
        }
    }
    events->basis[row] = entering;
    return leaving;
}

/* Lexicographic: the right side first, then the columns of the inverse of the basis, which are those of w. The artificial variable
 * leaves where it may. */
static int is_less(const lgm_events *events, int rows, int entering, int a, int b) {
    const int width = 2 * rows + 2;
    const real *const row_a = events->table + a * width;
    const real *const row_b = events->table + b * width;
    for (int at = -1; at < rows; at++) {
        const int column = (at < 0) ? width - 1 : at;
        const real x = row_a[column] / row_a[entering];
        const real y = row_b[column] / row_b[entering];
        const real size = lgm_larger(lgm_larger(lgm_fabs(x), lgm_fabs(y)), LGM_LEAST);
        if (lgm_fabs(x - y) > tie * size) {
            return x < y;
        }
        if (at < 0 && (events->basis[a] == 2 * rows || events->basis[b] == 2 * rows)) {
            return events->basis[a] == 2 * rows;
        }
    }
    return 0;
}

/* The row that limits how far a variable can grow; -1 where none does. */
static int limiting_row(const lgm_events *events, int rows, int entering) {
    const int width = 2 * rows + 2;
    real largest = (real)0.0;
    int best = -1;
    for (int row = 0; row < rows; row++) {
        largest = lgm_larger(largest, lgm_fabs(events->table[row * width + entering]));
    }
    for (int row = 0; row < rows; row++) {
        if (events->table[row * width + entering] > least_pivot * largest &&
            (best < 0 || is_less(events, rows, entering, row, best))) {
            best = row;
        }
    }
    return best;
}

/* Solves w = M z + q, w >= 0, z >= 0, w'z = 0 by Lemke's method (C. E. Lemke, 1965), with ties broken lexicographically; 0 where it ends
 * on a ray. */
static int lemke(lgm_events *events, int rows, const real q[]) {
    const int width = 2 * rows + 2;
    const int artificial = 2 * rows;
    int first = 0;
    int leaving;
    for (int row = 0; row < rows; row++) {
        for (int column = 0; column < width; column++) {
            events->table[row * width + column] = (real)0.0;
        }
        events->table[row * width + row] = (real)1.0;
        for (int column = 0; column < rows; column++) {
            events->table[row * width + rows + column] = -events->matrix[row * rows + column];
        }
        events->table[row * width + artificial] = -(real)1.0;
        events->table[row * width + width - 1] = q[row];
        events->basis[row] = row;
        events->solution[row] = (real)0.0;
        first = (q[row] < q[first]) ? row : first;
    }
    if (!(q[first] < (real)0.0)) {
        return 1;
    }
    leaving = pivot(events, rows, first, artificial);
    for (int round = 0; round < 50 * (rows + 1); round++) {
        int entering;
        int row;
        if (leaving == artificial) {
            for (row = 0; row < rows; row++) {
                if (events->basis[row] >= rows && events->basis[row] < 2 * rows) {
                    events->solution[events->basis[row] - rows] = lgm_larger(events->table[row * width + width - 1], (real)0.0);
                }
            }
            return 1;
        }
        /* The complement of what has left comes in. */
        entering = (leaving < rows) ? leaving + rows : leaving - rows;
        row = limiting_row(events, rows, entering);
        if (row < 0) {
            return 0;
        }
        leaving = pivot(events, rows, row, entering);
    }
    return 0;
}

/* The sign that the free variable of an element must have; 0 where it answers to no offset. */
static real sign_of_free(const lgm_events *events, const complementary *pair, const real answers[], const real moved[], int count) {
    int strongest = 0;
    for (int column = 1; column < count; column++) {
        strongest = (lgm_fabs(answers[column]) >= lgm_fabs(answers[strongest])) ? column : strongest;
    }
    if (answers[strongest] == (real)0.0) {
        return (real)0.0;
    }
    (void)events;
    return ((moved[strongest] * answers[strongest] > (real)0.0) == (pair->is_above != 0)) ? -(real)1.0 : (real)1.0;
}

int lgm_lemke_modes(lgm_run *run, const lgm_real discretes[], int modes[]) {
    lgm_events *const events = &run->events;
    complementary pairs[LGM_ROOM(LGM_PORTS)];
    real signs[LGM_ROOM(LGM_PORTS)];
    real q[LGM_ROOM(LGM_PORTS)];
    const int count = find_pairs(run->model.combination, pairs);
    if (count < 2 || !answer(run, discretes, -1, events->answers[0], events->answer_margins[0])) {
        return 0;
    }
    for (int column = 0; column < count; column++) {
        if (!answer(run, discretes, pairs[column].port, events->answers[1], events->answer_margins[1])) {
            return 0;
        }
        for (int row = 0; row < count; row++) {
            const real own = events->answers[0][pairs[row].free] - events->answers[0][pairs[row].other];
            const real moved = events->answers[1][pairs[row].free] - events->answers[1][pairs[row].other];
            const real change = moved - own;
            const real size = lgm_larger(lgm_fabs(moved), lgm_fabs(own));
            events->matrix[row * count + column] = (lgm_fabs(change) > no_answer * size) ? change : (real)0.0;
            events->turned[row * count + column] =
                events->answer_margins[1][pairs[row].margin] - events->answer_margins[0][pairs[row].margin];
        }
    }
    for (int row = 0; row < count; row++) {
        signs[row] = sign_of_free(events, &pairs[row], events->matrix + row * count, events->turned + row * count, count);
    }
    for (int row = 0; row < count; row++) {
        q[row] = signs[row] * (events->answers[0][pairs[row].free] - events->answers[0][pairs[row].other]);
        for (int column = 0; column < count; column++) {
            /* Passive elements take power: what one variable gives, its conjugate takes with the other sign. */
            events->matrix[row * count + column] *= -signs[row] * signs[column];
        }
    }
    if (!lemke(events, count, q)) {
        return 0;
    }
    for (int at = 0; at < count; at++) {
        if (events->solution[at] > (real)0.0) {
            modes[pairs[at].element] = lgm_change_to[pairs[at].change];
        }
    }
    return 1;
}

/* Turns two columns of a matrix, and of the product of all turns, until they are perpendicular; 0 where they are already. */
static int turn(real a[], real turns[], int rows, int p, int q) {
    real pp = (real)0.0;
    real qq = (real)0.0;
    real pq = (real)0.0;
    real zeta, tangent, cosine, sine;
    for (int row = 0; row < rows; row++) {
        const real at_p = a[row * LGM_PORTS + p];
        const real at_q = a[row * LGM_PORTS + q];
        pp += at_p * at_p;
        qq += at_q * at_q;
        pq += at_p * at_q;
    }
    if (!(lgm_fabs(pq) > LGM_EPSILON * lgm_pow(pp * qq, (real)0.5))) {
        return 0;
    }
    zeta = (qq - pp) / ((real)2.0 * pq);
    tangent = ((zeta < (real)0.0) ? -(real)1.0 : (real)1.0) / (lgm_fabs(zeta) + lgm_pow((real)1.0 + zeta * zeta, (real)0.5));
    cosine = (real)1.0 / lgm_pow((real)1.0 + tangent * tangent, (real)0.5);
    sine = cosine * tangent;
    for (int row = 0; row < rows + LGM_PORTS; row++) {
        real *const entries = (row < rows) ? a + row * LGM_PORTS : turns + (row - rows) * LGM_PORTS;
        const real at_p = entries[p];
        entries[p] = cosine * at_p - sine * entries[q];
        entries[q] = sine * at_p + cosine * entries[q];
    }
    return 1;
}

/* Of the offsets that bring the joined storage as near as they can, the least, by one-sided turns of the columns (M. R. Hestenes). */
void lgm_lemke_least(lgm_run *run, int rows, const lgm_real wanted[], lgm_real offsets[]) {
    real *const a = run->events.joined;
    real *const turns = run->events.turned;
    for (int at = 0; at < LGM_PORTS * LGM_PORTS; at++) {
        turns[at] = (at / LGM_ROOM(LGM_PORTS) == at % LGM_ROOM(LGM_PORTS)) ? (real)1.0 : (real)0.0;
    }
    for (int round = 0; round < TURNS; round++) {
        int turned = 0;
        for (int p = 0; p < LGM_PORTS; p++) {
            for (int q = p + 1; q < LGM_PORTS; q++) {
                turned += turn(a, turns, rows, p, q);
            }
        }
        if (turned == 0) {
            break;
        }
    }
    for (int port = 0; port < LGM_PORTS; port++) {
        offsets[port] = (real)0.0;
    }
    for (int column = 0; column < LGM_PORTS; column++) {
        real size = (real)0.0;
        real share = (real)0.0;
        for (int row = 0; row < rows; row++) {
            size += a[row * LGM_PORTS + column] * a[row * LGM_PORTS + column];
            share += a[row * LGM_PORTS + column] * wanted[row];
        }
        for (int port = 0; port < LGM_PORTS && size > negligible * negligible; port++) {
            offsets[port] += turns[port * LGM_PORTS + column] * share / size;
        }
    }
}

#endif
