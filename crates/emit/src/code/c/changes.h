/* The changes of @model@ at events, as functions of arrays, for `lgm_events.c`.
 *
 * @origin@
 */
@helpers@@programs@
@hooks@/* Conditions over margins: those of changes, then those of blocks. */
static int system_condition(int condition, const real m[]) {
    (void)m;
    switch (condition) {
@conditions@    default:
        return 0;
    }
}

/* The same as a number that is below 0 where a condition holds; margins within `least` of 0 are 0. */
static real system_indicator(int condition, const real m[], const real least[]) {
    (void)m; (void)least;
    switch (condition) {
@indicators@    default:
        return (real)1.0;
    }
}
