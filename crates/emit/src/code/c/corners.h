/* The signals of @model@ and where they and the equations step or bend, as functions of arrays, for `lgm_signals.c`.
 *
 * @origin@
 */
@helpers@@programs@
@hooks@
