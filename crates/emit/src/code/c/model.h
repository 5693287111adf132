/* @title@
 *
 * @origin@
@if description@
 *
 * @description@
@end@
 *
 * All quantities are in SI units. Nothing here allocates memory or keeps state of its own: everything is in the structs and
 * arrays that the caller gives. No two arguments of a call may overlap.
 */
#ifndef @guard@_H
#define @guard@_H

#ifdef __cplusplus
extern "C" {
#endif

/* The numbers that everything is computed in. */
typedef @real@ @name@_real;

#define @name@_STATES @states@
#define @name@_INPUTS @inputs@
#define @name@_OUTPUTS @outputs@
/* Entries of all parameters, derived ones included. */
#define @name@_PARAMETERS @parameters@
/* Unknowns of algebraic loops, which are solved by Newton's iteration within each call. */
#define @name@_UNKNOWNS @unknowns@
@if loop_solver@
/* The iterations of a call at most; where a solution takes more, the call returns @name@_LOOP_NOT_SOLVED. */
#ifndef @name@_ITERATIONS
#define @name@_ITERATIONS @loop_iterations@
#endif
@end@
@if jumps@
/* The most parts of the way that a step of inputs brings the states along; one that takes more ends with @name@_JUMP_NOT_KNOWN. Each
 * takes nineteen right-hand sides. */
#ifndef @name@_JUMP_PARTS
#define @name@_JUMP_PARTS @jump_parts@
#endif
@end@
/* Conditions on states at which the equations jump, and those at which they have a derivative discontinuity. */
#define @name@_CONDITIONS @conditions@
#define @name@_BENDS @bend_count@
/* States with a column of their own in the rows of a run; the others are outputs under the same name. */
#define @name@_STATE_COLUMNS @state_columns@
@if several@
@else@
/* Stored entries of the Jacobian; all others are zero. */
#define @name@_JACOBIAN_ENTRIES @entries@
@end@
/* The number of elements that an array has which may be empty. */
#define @name@_ROOM(count) ((count) > 0 ? (count) : 1)

/* Where each state is in x and dx. */
@state_indices@
/* Where each input is in u, and its time derivative in du. */
@input_indices@
/* Where each output is in y. */
@output_indices@
/* Parameters, with units and defaults. A derived parameter that is NAN follows from the others; any other value holds. */
typedef struct {
@parameter_members@} @name@_parameters;

/* What a call returns. */
typedef enum {
    @name@_OK = 0,
    /* A result is not a finite number: the arguments are outside the domain of the equations. */
    @name@_NOT_FINITE = 1,
    /* An algebraic loop has no solution that Newton's iteration finds in the iterations that it is allowed. */
    @name@_LOOP_NOT_SOLVED = 2,
    /* The starts of storage elements that depend on each other contradict. */
    @name@_STARTS_DISAGREE = 3,
    /* A condition on states changes again and again within no time. */
    @name@_CHATTER = 4,
    /* An input steps, and what the states are after that does not follow from the equations. */
@if changing@
    @name@_JUMP_NOT_KNOWN = 5,
    /* At an event no modes agree, or an assignment has no value. */
    @name@_EVENT_NOT_KNOWN = 6
@else@
    @name@_JUMP_NOT_KNOWN = 5
@end@
} @name@_status;

/* The memory of one instance of the model. */
typedef struct {
@if changing@
    /* The combination of modes in force. */
    int combination;
@end@
    /* All entries of all parameters in order of declaration, derived ones computed. */
    @name@_real p[@name@_ROOM(@name@_PARAMETERS)];
    /* Working memory. */
    @name@_real s[@scratch@];
@if loop_solver@
    /* The unknowns of the algebraic loops as they were solved for last, where the next solution is looked for. */
    @name@_real w[@name@_UNKNOWNS];
    @name@_real solution[@name@_UNKNOWNS];
    @name@_real residuals[@name@_UNKNOWNS];
    @name@_real trial[@name@_UNKNOWNS];
    @name@_real step[@name@_UNKNOWNS];
    @name@_real last_step[@name@_UNKNOWNS];
    @name@_real fallback[@name@_UNKNOWNS];
    @name@_real entries[@loop_room@];
    @name@_real factors[@name@_UNKNOWNS * @name@_UNKNOWNS];
    int pivots[@name@_UNKNOWNS];
    @name@_real direct[@direct_room@];
    @name@_real by_loop[@by_loop_room@];
    @name@_real by_state[@by_state_room@];
    /* If the loops have been solved before. */
    int is_solved;
    /* The size of an unknown below which its value does not matter. */
    @name@_real small;
@if branches@
    /* Whether the unknowns hold as they are, solution or not. */
    int is_frozen;
@end@
@end@
@if directional@
    /* Partial derivatives of one kind, and the changes that they are taken along, those of the unknowns last. */
    @name@_real partials[@partials_room@];
    @name@_real changes[@name@_ROOM(@name@_STATES + 2 * @name@_INPUTS + @name@_UNKNOWNS)];
@end@
} @name@_model;

/* Gives every parameter its default. */
void @name@_defaults(@name@_parameters *parameters);

/* Takes over parameters and computes what follows from them, and the states that a run begins with. */
@name@_status @name@_init(@name@_model *model, const @name@_parameters *parameters, @name@_real x[]);

/* The time derivatives of the states, dx, at time t for states x, inputs u and their time derivatives du. */
@name@_status @name@_rhs(@name@_model *model, @name@_real t, const @name@_real x[], const @name@_real u[],
    const @name@_real du[], @name@_real dx[]);

/* The same without a look at whether the results are finite numbers: for a stepper that looks once a step. */
@name@_status @name@_rates(@name@_model *model, @name@_real t, const @name@_real x[], const @name@_real u[],
    const @name@_real du[], @name@_real dx[]);

/* The outputs y. */
@name@_status @name@_outputs(@name@_model *model, @name@_real t, const @name@_real x[], const @name@_real u[],
    const @name@_real du[], @name@_real y[]);

@if several@
@else@
/* The stored entries of d(dx)/dx, row by row. Row r has the entries
 * @name@_jacobian_rows[r] .. @name@_jacobian_rows[r + 1] - 1 with their columns in @name@_jacobian_columns. */
@name@_status @name@_jacobian(@name@_model *model, @name@_real t, const @name@_real x[], const @name@_real u[],
    const @name@_real du[], @name@_real entries[]);

@end@
@if directional@
/* How much dx and y change, to first order, where x, u and du change as `changes` says, in this order; loops follow. */
@name@_status @name@_directional(@name@_model *model, @name@_real t, const @name@_real x[], const @name@_real u[],
    const @name@_real du[], const @name@_real changes[], @name@_real dx_changes[], @name@_real y_changes[]);

@end@
@if branches@
/* What follows a branch of solutions of the loops needs. The unknowns of the model come to the solution next to w; 0 where none is
 * found. */
int @name@_loops_near(@name@_model *model, @name@_real t, const @name@_real x[], const @name@_real u[],
    const @name@_real du[], const @name@_real w[]);

/* The slopes of the loops at a point with unknowns w, in factors; 0 where they are singular. */
int @name@_loops_slopes(@name@_model *model, @name@_real t, const @name@_real x[], const @name@_real u[],
    const @name@_real du[], const @name@_real w[], @name@_real slopes[], int pivots[]);

@if totals@
/* The sign of the determinant of the loops at a point with unknowns w; 0 where it is not known. */
int @name@_loops_sign(@name@_model *model, @name@_real t, const @name@_real x[], const @name@_real u[],
    const @name@_real du[], const @name@_real w[]);

@end@
/* How far unknowns w are from a solution as these slopes see it; 0 where there is no value. */
int @name@_loops_drift(@name@_model *model, @name@_real t, const @name@_real x[], const @name@_real u[],
    const @name@_real du[], const @name@_real w[], const @name@_real slopes[], const int pivots[], @name@_real drift[]);

@end@
@if several@
@else@
extern const int @name@_jacobian_rows[@name@_STATES + 1];
extern const int @name@_jacobian_columns[@name@_ROOM(@name@_JACOBIAN_ENTRIES)];
@end@

#ifdef __cplusplus
}
#endif

#endif
