"""
@title@

@origin@
@if description@

@description@
@end@

All quantities are in SI units. Needs nothing but the standard library: `run_@name@.jl` runs it with OrdinaryDiffEq.

    using .@name@
    model = @name@.Model(@name@.Parameters())    # what follows from other parameters, follows
    @name@.slopes!(dx, x, model, t)               # for ODEProblem, with the default signals of the inputs
"""
module @name@

using LinearAlgebra
using SparseArrays

"Names and units of the states, in the order of `x` and `dx`."
const STATES = @states_list@
const STATE_UNITS = @state_units@
"Names and units of the inputs, in the order of `u`, and of their time derivatives in `du`."
const INPUTS = @inputs_list@
const INPUT_UNITS = @input_units@
"Names and units of the outputs, in the order of `y`."
const OUTPUTS = @outputs_list@
const OUTPUT_UNITS = @output_units@
"Every entry of every parameter."
const ENTRIES = @parameters_list@
"Whether the equations are linear with constant coefficients."
const LINEAR = @linear@
"Whether the states move when an input steps."
const MOVES = @moves@
"Whether the start of a state was given: no step of an input moves it."
const START_GIVEN = @start_given@
"Rows and columns of the entries of the Jacobian that may differ from zero."
const JACOBIAN = (Int@jacobian_rows@, Int@jacobian_columns@)
"The columns of a run: time, outputs, states that are no output; the last ones by their numbers."
const COLUMNS = @columns_list@
const COLUMN_STATES = Int@column_states@

"The equations have no value, or an algebraic loop no solution."
struct Fault <: Exception
    what::String
end
Base.showerror(io::IO, fault::Fault) = print(io, fault.what)

"Parameters with their units and defaults. A derived one that is `NaN` follows from the others; any other value holds."
Base.@kwdef mutable struct Parameters
@parameter_fields@end

"Sets one entry of a parameter by the name of the model's language, such as `K[1, 2]`."
function set!(given::Parameters, name::AbstractString, value::Real)
@parameter_cases@    throw(ArgumentError("there is no parameter $name"))
end

@helpers@@programs@"""
The model with values of its parameters: `Model(Parameters(m = 3.0))`.

`starts` are the states that a run begins with. A model remembers the last solution of algebraic loops, from which the next one
is looked for: each thread needs its own.
"""
struct Model
    p::Vector{Float64}
    s::Vector{Float64}
    w::Vector{Float64}
    is_solved::Base.RefValue{Bool}
    u::Vector{Float64}
    du::Vector{Float64}
    starts::Vector{Float64}
end

function Model(given::Parameters = Parameters())
    p = zeros(@parameters@)
@parameter_lines@    s = zeros(@scratch@)
@derived_lines@    starts = zeros(@states@)
    @starts_call@
    all(isfinite, starts) || throw(Fault("a start is not finite"))
@if constraints@
    pairs = zeros(2 * @constraint_count@)
    @constraints_call@
    for (given_start, follows) in zip(pairs[1:2:end], pairs[2:2:end])
        abs(follows - given_start) <= 1e-9 * max(abs(given_start), abs(follows)) ||
            throw(Fault("the starts of dependent storage contradict"))
    end
@end@
    return Model(p, s, zeros(@unknowns@), Ref(false), zeros(@inputs@), zeros(@inputs@), starts)
end

"The time derivatives of the states for inputs `u` with the time derivatives `du`."
function rates!(dx, model::Model, t, x, u, du)
    p, s, w = model.p, model.s, model.w
    solve_loops!(model, t, x, u, du)
    @derivatives_call@
    return dx
end

"The outputs."
function outputs!(y, model::Model, t, x, u, du)
    p, s, w = model.p, model.s, model.w
    solve_loops!(model, t, x, u, du)
    @outputs_call@
    return y
end

"The default signals of the inputs and their time derivatives."
function inputs!(u, du, model::Model, t)
    p, s = model.p, model.s
    both = zeros(2 * @inputs@)
    @inputs_call@
    u .= both[1:@inputs@]
    du .= both[(@inputs@ + 1):end]
    return u, du
end

"d(dx)/dx as a sparse matrix with the pattern of `JACOBIAN`."
function jacobian(model::Model, t, x, u, du)
    p, s, w = model.p, model.s, model.w
    solve_loops!(model, t, x, u, du)
    entries = zeros(@direct_count@)
    @direct_call@
    total = sparse(JACOBIAN..., zeros(length(JACOBIAN[1])), @states@, @states@)
    for (row, column, entry) in zip(Int@direct_rows@, Int@direct_columns@, entries)
        total[row, column] = entry
    end
@if loops@
    # With loops g(x, w) = 0: df/dx - df/dw (dg/dw)^-1 dg/dx.
    by_loop, by_state = zeros(@states@, @unknowns@), zeros(@unknowns@, @states@)
    entries = zeros(@by_loop_count@)
    @by_loop_call@
    for (row, column, entry) in zip(@by_loop_places@, entries)
        by_loop[row, column] = entry
    end
    entries = zeros(@by_state_count@)
    @by_state_call@
    for (row, column, entry) in zip(@by_state_places@, entries)
        by_state[row, column] = entry
    end
    through = by_loop * (loop_matrix(model, t, x, u, du) \ by_state)
    for (row, column) in zip(JACOBIAN...)
        total[row, column] -= through[row, column]
    end
@end@
    return total
end

"Functions that change their sign where a condition on states changes."
function conditions(model::Model, t, x, u, du)
    p, s, w = model.p, model.s, model.w
    solve_loops!(model, t, x, u, du)
    values = zeros(@crossings@)
    @conditions_call@
    return values[Int@jumping@]
end

"The right-hand side of an `ODEProblem` whose parameter is the model, with the default signals of the inputs."
function slopes!(dx, x, model::Model, t)
    inputs!(model.u, model.du, model, t)
    rates!(dx, model, t, x, model.u, model.du)
    return nothing
end

"Its Jacobian, for `ODEFunction(slopes!; jac = slopes_by_states!, jac_prototype = pattern())`."
function slopes_by_states!(matrix, x, model::Model, t)
    inputs!(model.u, model.du, model, t)
    matrix .= jacobian(model, t, x, model.u, model.du)
    return nothing
end

"A matrix of ones where the Jacobian may differ from zero."
pattern() = sparse(JACOBIAN..., ones(length(JACOBIAN[1])), @states@, @states@)

"Solves the algebraic loops; the first time from several values."
function solve_loops!(model::Model, t, x, u, du)
@if loops@
    if model.is_solved[]
        newton!(model, t, x, u, du) || throw(Fault("an algebraic loop has no solution at $t s"))
        return nothing
    end
    for guess in @guesses@
        model.w .= guess
        if newton!(model, t, x, u, du)
            model.is_solved[] = true
            return nothing
        end
    end
    throw(Fault("an algebraic loop has no solution at $t s"))
@else@
    return nothing
@end@
end
@if loops@

function residuals(model::Model, t, x, u, du)
    p, s, w = model.p, model.s, model.w
    step = zeros(@unknowns@)
    @residuals_call@
    return step
end

function loop_matrix(model::Model, t, x, u, du)
    p, s, w = model.p, model.s, model.w
    entries = zeros(@loop_count@)
    @loop_matrix_call@
    matrix = zeros(@unknowns@, @unknowns@)
    for (row, column, entry) in zip(@loop_places@, entries)
        matrix[row, column] = entry
    end
    return matrix
end

"The size of an unknown of the loops below which its value does not matter."
const SMALL = 1e-13

"""
The largest correction in units of what does not matter of its unknown, which is no less than a size that does not matter of any.
"""
size_of_step(step, w, small) = maximum(abs.(step) ./ max.(1e-13 .* abs.(w) .+ small, floatmin(Float64)))

"""
Whether what is left of every correction is rounding: it is small beside its unknown, or once it was not much smaller than the one
before.
"""
function is_stuck!(last_step, step, w)
    goes_on = @. (abs(step) > 1e-13 * abs(w)) & (abs(step) <= 0.25 * last_step)
    last_step .= ifelse.(goes_on, abs.(step), 0.0)
    return !any(goes_on)
end

"Nearer to a solution until rounding ends it; the length of a step is halved until the next correction is smaller."
function newton!(model::Model, t, x, u, du)
    fallback = Vector{Float64}[]
    iterate!(model, t, x, u, du, fallback) && return true
    isempty(fallback) && return false
    model.w .= first(fallback)
    return true
end

"""
The same. Corrections are relative to their unknowns, which may have any size: a charge may be 1e-12 C. What is zero, or balances to
zero, has no digits to be right. So where corrections are small by a measure of no unit, they are made as long as they become much
smaller; and the first of these places is as good as a solution if the iteration comes to nothing.
"""
function iterate!(model::Model, t, x, u, du, fallback)
    last, last_step, over_bends = Inf, fill(Inf, @unknowns@), 0
    for _ in 1:50
        wanted, matrix = residuals(model, t, x, u, du), loop_matrix(model, t, x, u, du)
        all(isfinite, wanted) || return false
        all(iszero, wanted) && return true
        factors = all(isfinite, matrix) ? lu(matrix; check = false) : nothing
        if factors === nothing || !issuccess(factors)
            # At rest a turbulent law has no slope, or an infinite one; beside it there is one.
            over_bends < @asides@ || return false
            over_bends, last = over_bends + 1, Inf
            is_tiny = @. (model.w != 0) & (abs(model.w) <= SMALL)
            aside = 0.001 .* (1 .+ mod.(0:(@unknowns@ - 1), 7)) .* ifelse.(iszero.(model.w), 1.0, abs.(model.w))
            model.w .= any(is_tiny) ? ifelse.(is_tiny, 0.0, model.w) : model.w .+ aside
            continue
        end
        step, before = factors \ wanted, copy(model.w)
        now, plain = size_of_step(step, before, 0.0), size_of_step(step, before, SMALL)
        # Whether every residual is zero but for the rounding of the terms that it sums.
        terms = abs.(matrix) * abs.(before) .+ abs.(wanted .- matrix * before)
        is_zero = all(abs.(wanted) .<= 8 * eps() .* terms)
        is_done = now <= 1 || (last < 1e4 && now < 1e4 && now > 0.5 * last) || (is_zero && plain < 1e4)
        if is_done || (plain <= 1 && is_stuck!(last_step, step, before))
            model.w .= before .- step
            return true
        end
        if plain <= 1
            isempty(fallback) && push!(fallback, before)
            last = Inf
            model.w .= before .- step
            continue
        end
        is_better = false
        for halving in 0:39
            share = 0.5^max(halving, 4 * halving - 60)
            model.w .= before .- share .* step
            wanted = residuals(model, t, x, u, du)
            all(isfinite, wanted) || continue
            following = factors \ wanted
            if size_of_step(following, before, SMALL) <= (1 - 0.25 * share) * plain
                last = size_of_step(following, before, 0.0)
                is_better = true
                break
            end
        end
        if !is_better && (is_zero || (now < 1e4 && over_bends > 0))
            # No step leads nearer than rounding allows.
            model.w .= before
            return true
        end
        if !is_better
            # Where a law bends, the slope before the bend may lead nowhere, and the one behind it does.
            over_bends < 12 || return false
            over_bends, last = over_bends + 1, Inf
            model.w .= before .- step
        end
    end
    return false
end
@end@

"The instants after `start` at which what depends on time alone steps or bends, to be met by a solver."
function corners(model::Model, start, stop)
    p, s, t = model.p, model.s, start
    instants = zeros(@instants_count@)
    @instants_call@
    found = Set(time for time in instants if start < time <= stop)
@if switches@
    grid = range(start, stop; length = 20_000 * refinement(model, start, stop) + 1)
    union!(found, changes(model, [prevfloat(float(start)); grid]))
    for _ in 1:3
        ends = [start; sort!(collect(found)); stop]
        known = length(found)
        for (low, high) in zip(ends[1:(end - 1)], ends[2:end])
            last = prevfloat(float(high))
            low < last && union!(found, changes(model, range(low, last; length = 9)))
        end
        length(found) == known && break
    end
@end@
    return sort!([time for time in found if time > start])
end

"The longest step in which a solver overlooks no turn of what oscillates with time alone between two times, at most all of it."
function longest_step(model::Model, start, stop)
@if bounds_steps@
    rate = fastest(model, start, stop)
    return 0 < rate < Inf ? min(@largest_turn@ / rate, stop - start) : stop - start
@else@
    # Linear equations answer every turn in proportion.
    return stop - start
@end@
end
@if phases@

function phases_at(model::Model, t)
    p, s = model.p, model.s
    phases = zeros(@phase_count@)
    @phases_call@
    return phases
end

"The largest angular frequency of what oscillates with time alone, in rad/s: the mean of a thousandth of the time."
function fastest(model::Model, start, stop)
    largest, before = 0.0, phases_at(model, start)
    start < stop || return largest
    for at in 1:1000
        now = phases_at(model, start + (stop - start) * at / 1000)
        # What is no number is no oscillation.
        largest = maximum(way for way in [largest; abs.(now .- before)] if !isnan(way))
        before = now
    end
    return 1000 * largest / (stop - start)
end
@end@
@if switches@

function switches(model::Model, t)
    p, s = model.p, model.s
    values = zeros(@switch_count@)
    @switches_call@
    return values
end

"How many times as many samples oscillations of time ask for."
function refinement(model::Model, start, stop)
@if phases@
    turns = fastest(model, start, stop) * (stop - start) / @largest_turn@
    return isfinite(turns) ? clamp(ceil(Int, turns / 20_000), 1, 64) : 1
@else@
    return 1
@end@
end

"The first numbers after each change from one time to the next."
function changes(model::Model, times)
    found, low = Float64[], first(times)
    values = switches(model, low)
    for time in Iterators.drop(times, 1)
        reached = switches(model, time)
        while !isequal(values, reached)
            before, after, at_after = low, time, reached
            while true
                middle = before + (after - before) / 2
                (middle <= before || middle >= after) && break
                at_middle = switches(model, middle)
                if isequal(at_middle, values)
                    before = middle
                else
                    after, at_after = middle, at_middle
                end
            end
            push!(found, after)
            low, values = after, at_after
        end
        low = time
    end
    return found
end
@end@

"A, B, C, D, E, F of x' = A x + B u + E u', y = C x + D u + F u', where the equations are linear."
function matrices(model::Model)
    LINEAR || throw(Fault("the equations are not linear"))
    n, m = @states@, @inputs@
    function columns(of, count)
        rest = of(zeros(n), zeros(m), zeros(m))
        found = [zeros(count, n), zeros(count, m), zeros(count, m)]
        for (place, matrix) in enumerate(found), at in axes(matrix, 2)
            arguments = [zeros(n), zeros(m), zeros(m)]
            arguments[place][at] = 1.0
            matrix[:, at] .= of(arguments...) .- rest
        end
        return found
    end
    a, b, e = columns((x, u, du) -> rates!(zeros(n), model, 0.0, x, u, du), n)
    c, d, f = columns((x, u, du) -> outputs!(zeros(@outputs@), model, 0.0, x, u, du), @outputs@)
    return a, b, c, d, e, f
end

end
