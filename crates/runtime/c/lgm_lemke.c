/* The modes after an instant, found for all elements at once.
 *
 * The combination in force determines the response of the free variables of ports to offsets of the given ones over a short step (J.
 * J. Moreau's time stepping). With the bounds of all modes this is one linear complementarity problem: a bound holds unless the given
 * variable of the port leaves the value from the law, and the change then takes place.
 */
#include "lgm_events.h"
#include "lgm_numbers.h"
#include "lgm_run.h"

#include <math.h>
#include <string.h>

#if LGM_EVENTS

enum {
    /* The maximum number of rounds in which pairs of columns are made perpendicular. */
    TURNS = 60
};

/* A response below this fraction of the values whose difference it is counts as zero. */
static const real no_answer = (real)1e-13;
/* A pivot below this fraction of the largest entry of its column counts as zero. */
static const real least_pivot = (real)1e-12;
/* Ratios that differ by less than this fraction are equal. */
static const real tie = (real)1e-13;
/* A sum below this fraction of its terms may be round-off: half of the digits. */
static const real cancels = (real)1e-8;
/* Directions in which offsets move dependent storage by no more than this are ignored. */
static const real negligible = (real)1e-12;

/* A change that may follow: the quantity, a margin or the difference of two watched values, stays on one side of 0 unless the given
 * variable of the port moves, upwards if the free one reaches the bound from above. A decided change occurs in any case. */
typedef struct {
    int element;
    int port;
    int change;
    int margin;
    int free;
    int wanted;
    int is_upper;
    int is_above;
    int is_decided;
} bounded;

/* Adds the two bounds of a decided change: the free variable has the value that the next mode gives. */
static int decide(int element, int port, int change, int given, bounded bounds[]) {
    const int next = lgm_first_mode[element] + lgm_change_to[change];
    for (int is_above = 0; is_above < 2; is_above++) {
        const bounded bound = {element, port, change, -1, LGM_WATCHED_PORTS + 2 * port + 1 - given, LGM_WATCHED_LAWS + next, is_above,
                               is_above, 1};
        bounds[is_above] = bound;
    }
    return lgm_first_given[next + 1] > lgm_first_given[next] && lgm_given[lgm_first_given[next]] == 1 - given;
}

int lgm_lemke_holds_beyond(const lgm_events *events, int change) {
    const int margin = lgm_change_margins[change];
    real reached[LGM_ROOM(LGM_MARGINS)];
    for (int at = 0; at < LGM_MARGINS; at++) {
        reached[at] = events->signs[at];
    }
    if (margin >= 0) {
        reached[margin] = (lgm_change_is_positive[change] != 0) ? (real)1.0 : -(real)1.0;
    }
    return lgm_events_holds(change, reached);
}

/* Adds the bounds of an element in the mode in force; returns 0 if a change occurs that no bound describes. */
static int find_limits(const lgm_run *run, int element, bounded bounds[], int *count) {
    const int combination = run->model.combination;
    const int port = lgm_first_port[element];
    const int mode = LGM_PLACE_IN(combination, element);
    const int given = lgm_given[lgm_first_given[mode]];
    const int first = *count;
    if (lgm_first_port[element + 1] - port != 1 || given < 0 || LGM_IS_REDUNDANT(combination, element) != 0) {
        return 1;
    }
    for (int change = lgm_first_change[mode]; change < lgm_first_change[mode + 1]; change++) {
        const int margin = lgm_change_margins[change];
        if (lgm_first_set[change] < lgm_first_set[change + 1] || lgm_lemke_holds_beyond(&run->events, change) == 0) {
            continue;
        }
        if (margin < 0) {
            *count = first + 2;
            return decide(element, port, change, given, bounds + first);
        }
        {
            const bounded bound = {element, port, change, margin, 0, 0, lgm_change_is_positive[change], lgm_change_is_above[change], 0};
            bounds[*count] = bound;
            *count += 1;
        }
    }
    return 1;
}

/* Computes the watched values and the margins a short time after this instant, with an offset of 1 at a port from now on; -1 selects no
 * port. Impulses count as values of that duration. */
static int answer(lgm_run *run, const real discretes[], int port, real watched[], real margins[]) {
    lgm_events *const events = &run->events;
    const real length = lgm_modes_short(run);
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
    }
    /* A capacitor that a conducting diode ties to a source follows the rate of the source. */
    (void)lgm_run_inputs(run, run->t + length);
    for (int at = 0; at < LGM_INPUTS; at++) {
        rates[at] = run->du[at];
    }
    if (port >= 0) {
        rates[LGM_FIRST_OFFSET + port] = (real)1.0 / length;
    }
    if (lgm_modes_two_steps(run, (real)0.5 * length) == 0) {
        (void)memcpy(events->point, run->x, sizeof events->point);
    }
    is_found = lgm_events_watched(run, run->t + length, events->point, rates, watched) == LGM_OK &&
               lgm_events_margins(run, run->t + length, events->point, rates, margins) == LGM_OK;
    for (int at = 0; at < LGM_STATES; at++) {
        run->x[at] = kept[at];
    }
    for (int at = 0; at < LGM_MARGINS; at++) {
        margins[at] += events->entered[at] / length;
    }
    return is_found;
}

/* Brings a variable into the basis in a row; returns the variable that leaves. */
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

/* Lexicographic comparison: the right-hand side first, then the columns of the inverse of the basis, which are those of w. The
 * artificial variable leaves whenever it may. */
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

/* Returns the row that limits the growth of a variable; -1 if none does. */
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

/* Returns -1 if the sum of the solution times these terms is negative, 1 if it may be 0 or is round-off, and 0 if it is positive. */
static int sign_of_sum(const lgm_events *events, int rows, const real terms[], int stride) {
    real sum = (real)0.0;
    real noise = (real)0.0;
    for (int row = 0; row < rows; row++) {
        const real part = events->solution[row] * terms[row * stride];
        sum += part;
        noise += cancels * lgm_fabs(part);
    }
    return (sum < -noise) ? -1 : (sum <= noise);
}

/* Returns 1 if the ray on which a variable enters proves that no solution exists. Its direction y of z is nonnegative; with M'y <= 0 and
 * y'q < 0, w >= 0 is impossible, because y'w = (M'y)'z + y'q (J. Farkas). Round-off also leads to rays. */
static int is_contradiction(lgm_events *events, int rows, const real q[], int entering) {
    int is_certain;
    for (int row = 0; row < rows; row++) {
        events->solution[row] = (row + rows == entering) ? (real)1.0 : (real)0.0;
    }
    for (int row = 0; row < rows; row++) {
        const int variable = events->basis[row];
        if (variable >= rows && variable < 2 * rows) {
            events->solution[variable - rows] = lgm_larger(-events->table[row * (2 * rows + 2) + entering], (real)0.0);
        }
    }
    is_certain = sign_of_sum(events, rows, q, 1) < 0;
    for (int column = 0; column < rows; column++) {
        is_certain = is_certain && sign_of_sum(events, rows, events->matrix + column, rows) != 0;
    }
    return is_certain;
}

/* Solves w = M z + q, w >= 0, z >= 0, w'z = 0 by Lemke's method (C. E. Lemke, 1965), with ties broken lexicographically. */
static lgm_outcome lemke(lgm_events *events, int rows, const real q[]) {
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
        return LGM_SOLVED;
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
            return LGM_SOLVED;
        }
        /* The complement of the variable that has left enters. */
        entering = (leaving < rows) ? leaving + rows : leaving - rows;
        row = limiting_row(events, rows, entering);
        if (row < 0) {
            return is_contradiction(events, rows, q, entering) ? LGM_UNSOLVABLE : LGM_UNPOSED;
        }
        leaving = pivot(events, rows, row, entering);
    }
    return LGM_UNPOSED;
}

/* Scales offsets and distances so that each bound responds to its own offset by 1. Zeros stay zeros. */
static void balance(lgm_events *events, int count, real q[]) {
    for (int at = 0; at < count; at++) {
        const real own = events->matrix[at * count + at];
        if (own > (real)0.0) {
            const real scale = lgm_pow(own, -(real)0.5);
            for (int other = 0; other < count; other++) {
                events->matrix[at * count + other] *= scale;
                events->matrix[other * count + at] *= scale;
            }
            q[at] *= scale;
        }
    }
}

/* Returns the distance of a quantity to its bound. */
static real distance_to(const bounded *bound, const real watched[], const real margins[]) {
    const real value = (bound->margin >= 0) ? margins[bound->margin] : watched[bound->free] - watched[bound->wanted];
    return (bound->is_upper != 0) ? -value : value;
}

lgm_outcome lgm_lemke_modes(lgm_run *run, const lgm_real discretes[], int modes[]) {
    lgm_events *const events = &run->events;
    bounded bounds[LGM_ROOM(LGM_BOUNDS)];
    real q[LGM_ROOM(LGM_BOUNDS)];
    lgm_outcome outcome;
    /* Redundant elements are not part of the problem, and decided changes read no impulses. */
    int is_whole = 1;
    int count = 0;
    for (int element = 0; element < LGM_ELEMENTS; element++) {
        if (find_limits(run, element, bounds, &count) == 0) {
            return LGM_UNPOSED;
        }
        is_whole = is_whole && LGM_IS_REDUNDANT(run->model.combination, element) == 0;
    }
    if (count < 2 || !answer(run, discretes, -1, events->answers[0], events->answer_margins[0])) {
        return LGM_UNPOSED;
    }
    for (int at = 0; at < LGM_MARGINS; at++) {
        is_whole = is_whole && !(lgm_fabs(events->entered[at]) > (real)0.0);
    }
    for (int row = 0; row < count; row++) {
        q[row] = distance_to(&bounds[row], events->answers[0], events->answer_margins[0]);
    }
    for (int column = 0; column < count; column++) {
        const int is_known = column > 0 && bounds[column - 1].port == bounds[column].port;
        if (!is_known && !answer(run, discretes, bounds[column].port, events->answers[1], events->answer_margins[1])) {
            return LGM_UNPOSED;
        }
        for (int row = 0; row < count; row++) {
            const real with = distance_to(&bounds[row], events->answers[1], events->answer_margins[1]);
            const real size = lgm_larger(lgm_fabs(with), lgm_fabs(q[row]));
            const real change = (lgm_fabs(with - q[row]) > no_answer * size) ? with - q[row] : (real)0.0;
            events->matrix[row * count + column] = (bounds[column].is_above != 0) ? change : -change;
        }
    }
    balance(events, count, q);
    outcome = lemke(events, count, q);
    if (outcome != LGM_SOLVED) {
        return is_whole ? outcome : LGM_UNPOSED;
    }
    for (int at = 0; at < count; at++) {
        int is_largest = events->solution[at] > (real)0.0;
        for (int other = 0; other < count; other++) {
            is_largest = is_largest && !(bounds[other].element == bounds[at].element && events->solution[other] > events->solution[at]);
        }
        if (is_largest || bounds[at].is_decided != 0) {
            modes[bounds[at].element] = lgm_change_to[bounds[at].change];
        }
    }
    return LGM_SOLVED;
}

/* Rotates two columns of a matrix, and of the product of all rotations, until they are perpendicular; returns 0 if they already are. */
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

/* Computes the smallest offsets that bring the joined storage as near as possible to its values, by one-sided rotations of the columns
 * (M. R. Hestenes). */
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
