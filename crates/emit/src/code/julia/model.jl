"""
@title@

@origin@
All quantities are in SI units. A run with changed parameters or another stop time:

    times, values, states = @name@.simulate(@name@.Parameters(NAME = 1.0); stop = @example_stop@)
"""
module @name@

@if matrices@
using LinearAlgebra, SparseArrays
@end@
@if finite@
using ADTypes: AutoFiniteDiff
@end@
@if nonlinear@
using NonlinearSolve
@end@
@if states@
using OrdinaryDiffEq
@end@

@if states@
const STATES = @states_list@
@end@
const OUTPUTS = @outputs_list@
@if states@
const SCALES = @scales@  # typical sizes of the states
@end@
@if moves@
const START_GIVEN = @start_given@  # states that keep their initial values if the inputs step at the start
@end@
@if nonlinear@
const GUESSES = @guesses@  # of the unknowns of the algebraic loops
@end@

"The parameters of the model@derived_words@."
Base.@kwdef mutable struct Parameters
@parameter_fields@
@if derived_lines@

    function Parameters(values...)
        p = new(values...)
@derived_lines@
        return p
    end
@end@
end
@if flat@

"All entries of the parameters in order of declaration, matrices row by row."
entries_of(p) = reduce(vcat, [vec(permutedims([getfield(p, name);;])) for name in fieldnames(Parameters)])
@end@

@functions@
@if nonlinear@

"The unknowns of the algebraic loop of @loops_words@: the solution from the first guess that leads to one."
function unknowns(@givens@, guesses = GUESSES)
    for guess in guesses, method in (NewtonRaphson(), TrustRegion(), LevenbergMarquardt())
        rest(z, _) = residuals(@givens@, guess + z)
        slope(z, _) = loop_matrix(@givens@, guess + z)
        problem = NonlinearProblem(NonlinearFunction(rest; jac = slope), zero(guess))
        w = guess + solve(problem, method; abstol = 1e-12*maximum(abs, rest(zero(guess), nothing))).u
        r, m = residuals(@point@), loop_matrix(@point@)
        step = any(!iszero, r) && all(isfinite, m) ? pinv(Matrix(m))*r : r
        # Without a slope, only zero is a solution.
        has_slope = all(iszero, r) || maximum(abs, m*step - r) <= 1e-6*maximum(abs, r)
        has_slope && all(abs.(step) .<= 1e-6*(abs.(w) + abs.(guess))) && return w - step
    end
    error("the algebraic loop of @loops_words@ has no solution at $t s")
end
@else@
@if loops@

"The unknowns of the algebraic loops, which are linear."
function unknowns(@givens@)
    w = zeros(@unknowns@)
    return -(loop_matrix(@point@) \ residuals(@point@))
end
@end@
@end@
@if switches@

"The times at which `switches` changes."
function switch_times(p, start, stop)
    is_same(a, b) = isequal(switches(a, p) .+ 0.0, switches(b, p) .+ 0.0)
    found, grid = Float64[], range(start, stop; length = 20001)
    for (low, after) in zip(grid, grid[2:end])
        while !is_same(low, after)
            first, high = low, after
            middle = low + (high - low)/2
            while low < middle < high
                low, high = is_same(middle, first) ? (middle, high) : (low, middle)
                middle = low + (high - low)/2
            end
            push!(found, high)
            low = high
        end
    end
    return found
end
@end@
@if bounds_steps@

"A part of the fastest oscillation of the inputs, so that a solver overlooks none."
function longest_step(p, start, stop)
    angles = [phases(t, p) for t in range(start, stop; length = 1001)]
    turns = [abs(turn) for turn in reduce(vcat, diff(angles)) if !isnan(turn)]
    return pi/4*(stop - start)/1000/maximum(turns; init = 1e-300)
end
@end@
@if moves@

"What a step of the inputs adds to the states: the right sides contain the derivatives of inputs."
function moved(t, p, step)
    x, u = zeros(@states@), zeros(@inputs@)
    rates = map((step, zero(step))) do du
@if loops@
        w = unknowns(@givens@)
@end@
        return right_side(@point@)
    end
    return rates[1] - rates[2]
end
@end@

"Times, outputs and states (one row per time) of a run with the default inputs."
@if states@
function simulate(p = Parameters(); stop = @stop@, start = @start@, points = @points@, reltol = @rtol@,
    abstol = @atol@, method = @method@)
@else@
function simulate(p = Parameters(); stop = @stop@, start = @start@, points = @points@)
@end@
    times = collect(range(start, stop; length = Int(points)))
@if states@
@else@
    x = Float64[]
@end@
@if constraints@
    pairs = reshape(dependent_starts(p), 2, :)
    isapprox(pairs[1, :], pairs[2, :]; rtol = 1e-9) || error("the initial values of dependent storage contradict")
@end@
@if loops@
@if nonlinear@
    last, is_free = nothing, true  # time, states and unknowns of the last solution; whether a new one may be far from it
    function point(t, x, parts = 10)
@else@
    function point(t, x)
@end@
@if inputs@
        u = inputs(t, p)
@end@
@if rates@
        du = input_rates(t, p)
@end@
@if nonlinear@
        w = GUESSES[1]
        try
            w = unknowns(@givens@, last === nothing ? GUESSES : [last[3]])
        catch
            if last !== nothing && parts > 0  # the way from the last solution in two parts
                point((last[1] + t)/2, (last[2] + x)/2, parts - 1)
                return point(t, x, parts - 1)
            end
            is_free || rethrow()
            w = unknowns(@givens@)
        end
        last = (t, x, w)
@else@
        w = unknowns(@givens@)
@end@
        return @point@
    end
@end@
@if states@
    x = initial_state(p)
@if moves@
    x = ifelse.(START_GIVEN, x, x + moved(start, p, inputs(start, p)))
@end@
@end@
    states = fill(x, length(times))
@if states@
@if timed@
    corners = [start; sort(unique(filter(t -> start < t < stop, @corner_times@))); stop]
    for (from, to) in zip(corners, corners[2:end])
        times[abs.(times .- to) .<= 1e-14*abs(to) + 1e-200] .= to
@else@
    for (from, to) in [(start, stop)]
@end@
        latest = prevfloat(to)  # a step at the end of a piece belongs to the next one
@if nonlinear@
        is_free = true
        point(from, x)
        is_free = false
@end@
        rates(x, p, t) = right_side(@clamped@)
@if jacobian@
        f = ODEFunction(rates; jac = (x, p, t) -> jacobian(@clamped@))
@else@
        f = ODEFunction(rates)
@end@
@if conditions@
        margins(out, x, t, _) = copyto!(out, conditions(@clamped@))
        # The solver restarts where a condition changes its sign.
        callback = VectorContinuousCallback(margins, (_...) -> nothing, @changes@;
            rootfind = SciMLBase.RightRootFind, save_positions = (false, false))
@end@
        inside = (from .<= times) .& (times .< to)
        solution = solve(ODEProblem(f, x, (from, to), p), method; reltol, abstol, dt = 1e-4*(to - from),
            saveat = [times[inside]; to], maxiters = 10^7@more_options@)
        solution.t[end] < to && error("the run ends at $(solution.t[end]) s: $(solution.retcode)")
        states[inside] = solution.u[1:end - 1]
        x = solution.u[end]
@if moves@
        x = x + moved(to, p, inputs(to, p) - inputs(latest, p))
@end@
        states[times .>= to] .= [x]
    end
@end@
@if nonlinear@
    last, is_free = nothing, true
@end@
@if states@
    values = [outputs(@here@) for (t, x) in zip(times, states)]
@else@
    # A row at a step shows the value behind it.
    values = [outputs(@here@) for (t, x) in zip(nextfloat.(times, 4), states)]
@end@
    all(all.(isfinite, values)) || error("an output is not finite")
    return times, stack(values; dims = 1), stack(states; dims = 1)
end

if abspath(PROGRAM_FILE) == @__FILE__
    # `julia @name@.jl [@stop_word@reltol=1e-9 ..]` writes the rows of a run as CSV.
    options = [Symbol(name) => parse(Float64, value) for (name, value) in split.(ARGS, "=")]
    times, values, states = simulate(; options...)
    println(@csv_header@)
    foreach(row -> println(join([times[row]; values[row, :]; states[row, @column_states@]], ",")), eachindex(times))
end

end
