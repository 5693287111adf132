# Runs @model@ with OrdinaryDiffEq and writes the rows of `lgm simulate` as CSV.
#
# @origin_comment@
#
#     julia run_@name@.jl [--stop T] [--start T] [--points N] [--rtol R] [--atol A] [--stiff] [PARAMETER=VALUE]..

using OrdinaryDiffEq

include(joinpath(@__DIR__, "@name@.jl"))

"""
Times, outputs and states (one column a time) of a run with the default signals of the inputs. `algorithm` is one of
OrdinaryDiffEq's, such as `Rodas5P()` for stiff equations. Without `atol` (NaN), a thousandth of `rtol` times the scale of each
state is allowed near zero: the most that was seen of it.
"""
function simulate(model; start = @plan_start@, stop = @plan_stop_or_nan@, points = @plan_points@, rtol = @plan_rtol@,
    atol = @plan_atol@, algorithm = Tsit5())
    isnan(stop) && throw(ArgumentError("give `stop`: the model defines no stop time"))
    times = collect(range(start, stop; length = points))
    corners = together(float(start), @name@.corners(model, start, stop))
    begun = popfirst!(corners)[2]
    x = moved(model, begun, zeros(@inputs@), model.starts, true)
    states = zeros(@states@, points)
    states[:, 1] .= x
    # A negative scale was given by the model, and stays.
    scales, seen = Float64[@state_scales@], abs.(x)
    row = 2
    # At the instant of a corner the values after it hold.
    instants = max.(times, begun)
    longest = @name@.longest_step(model, start, stop)
    if isempty(corners) || corners[end][2] < stop
        push!(corners, (float(stop), NaN))
    end
    for (finish, after) in corners
        last = prevfloat(finish)
        while begun < finish && !isempty(x)
            # At a corner, the branch before it holds until the end of the piece.
            inside(t, begun = begun) = clamp(t, begun, last)
            slopes!(dx, x, model, t) = @name@.slopes!(dx, x, model, inside(t))
            by_states!(matrix, x, model, t) = @name@.slopes_by_states!(matrix, x, model, inside(t))
            f = ODEFunction(slopes!; jac = by_states!, jac_prototype = @name@.pattern())
            problem = ODEProblem(f, x, (begun, finish), model)
            reached = Ref(finish)
            function watch(out, x, t, integrator)
                u, du = @name@.inputs!(zeros(@inputs@), zeros(@inputs@), model, inside(t))
                out .= @name@.conditions(model, inside(t), x, u, du)
            end
            function stop_there!(integrator, _)
                reached[] = integrator.t
                terminate!(integrator)
            end
            count = length(@name@.conditions(model, inside(begun), x, zeros(@inputs@), zeros(@inputs@)))
            callback = count == 0 ? nothing : VectorContinuousCallback(watch, stop_there!, count)
            near_zero = isnan(atol) ? 1e-3 * rtol .* ifelse.(scales .< 0, .-scales, max.(seen, scales)) : fill(atol, length(x))
            solution = solve(problem, algorithm; reltol = rtol, abstol = near_zero, dtmax = longest, callback = callback,
                maxiters = 10^7)
            solution.t[end] < reached[] && throw(@name@.Fault("the run ends at $(solution.t[end]) s"))
            while row <= points && times[row] < reached[]
                states[:, row] .= solution(times[row])
                row += 1
            end
            x = copy(solution.u[end])
            foreach(found -> seen .= max.(seen, abs.(found)), solution.u)
            all(isfinite, x) || throw(@name@.Fault("the run ends at $(solution.t[end]) s"))
            if reached[] < finish
                # Past the condition, by less than matters.
                past = min(reached[] + 1e-12 * (finish - begun), finish)
                dx = zero(x)
                slopes!(dx, x, model, past)
                x .+= (past - reached[]) .* dx
                reached[] = past
            end
            begun = reached[]
        end
        begun = finish
        if !isnan(after)
            before, _ = @name@.inputs!(zeros(@inputs@), zeros(@inputs@), model, last)
            x = moved(model, after, before, x, false)
            begun = after
        end
        while row <= points && times[row] <= finish + 64 * eps(finish)
            states[:, row] .= x
            instants[row] = times[row] < finish - 64 * eps(finish) ? times[row] : max(times[row], begun)
            row += 1
        end
    end
    outputs = zeros(@outputs@, points)
    for (at, time) in enumerate(instants)
        u, du = @name@.inputs!(zeros(@inputs@), zeros(@inputs@), model, time)
        outputs[:, at] .= @name@.outputs!(zeros(@outputs@), model, time, states[:, at], u, du)
    end
    return times, outputs, states
end

"The states after a step of the inputs at a time: moved by E times the step."
function moved(model, t, before, x, is_start)
    after, slope = @name@.inputs!(zeros(@inputs@), zeros(@inputs@), model, t)
    least = 64 * eps() .* max.(abs.(before), abs.(after)) .+ 16 * eps(float(t)) .* abs.(slope)
    step = ifelse.(abs.(after .- before) .> least, after .- before, 0.0)
    (@name@.MOVES && any(!iszero, step)) || return copy(x)
@if jumps@
    # Before a run all inputs are 0: unknowns of loops are not where an earlier run left them.
    model.is_solved[] = model.is_solved[] && !is_start
    @name@.rates!(zero(x), model, t, x, before, zero(step))
    reached = jumped(model, t, before, step, x)
@else@
    # E is the same everywhere; at zero nothing else is rounded with it.
    still, rest = zeros(@inputs@), zero(x)
    reached = x .+ (@name@.rates!(zero(x), model, t, rest, still, step) .- @name@.rates!(zero(x), model, t, rest, still, still))
@end@
    return ifelse.(@name@.START_GIVEN .& is_start, x, reached)
end

@if jumps@
"""
The states after steps of inputs whose share in each state depends on the point: the limit of ever faster ramps.

The right sides are affine in the rates u' of the inputs, x' = f(x, u) + E(x, u) u': storage that sources determine gives and takes
charge and momentum at once. So the states go along dx/ds = E(x, u) step while the share s of the steps goes from 0 to 1. Conserved charges
and momenta determine the states at the end, whichever way the inputs take. If a second way ends elsewhere, the steps do not say where
the states come to.
"""
function jumped(model, t, before, step, x)
    sign, begun = ifelse.(iseven.(cumsum(step .!= 0)), -1.0, 1.0), copy(model.w)
    sizes, ends = abs.(x), Vector{Float64}[]
    for ahead in (0.5 .* sign, 0.0 .* sign)
        unknowns = [copy(begun) for _ in 1:3]
        slope(x, _, share) = slope_on_way(model, t, before, step, ahead, unknowns, x, share)
        sizes = largest_of_kind(max.(sizes, abs.(slope(x, nothing, 0.0))))
        solution = solve(ODEProblem(slope, copy(x), (0.0, 1.0)), DP8(); reltol = 1e-12, abstol = 1e-14 .* sizes)
        solution.t[end] < 1 && fail_at(t, "the states after that were not found: the laws have no solution on the way there")
        push!(ends, copy(solution.u[end]))
    end
    apart = findfirst(.!(abs.(ends[1] .- ends[2]) .<= 1e-8 .* sizes))
    apart === nothing || fail_at(t, "what that adds to $(@name@.STATES[apart]) depends on which of them is ahead")
    return ends[2]
end

"Growth of the states for the share of the way, from right sides at rest and at two high rates."
function slope_on_way(model, t, before, step, ahead, unknowns, x, share)
    fast = 2.0^40
    u = before .+ share .* (1 .+ ahead .* (1 - share)) .* step
    du = fast .* (1 .+ ahead .* (1 - 2 * share)) .* step
    rates = Vector{Float64}[]
    for factor in 0:2
        model.w .= unknowns[factor + 1]
        push!(rates, copy(@name@.rates!(zero(x), model, t, x, u, factor .* du)))
        unknowns[factor + 1] = copy(model.w)
    end
    model.w .= unknowns[1]
    slow, moved = (rates[2] .- rates[1]) ./ fast, (rates[3] .- rates[2]) ./ fast
    rounding = 64 * eps() .* abs.(rates[3]) ./ fast
    allowed = 1e-6 .* abs.(moved) .+ 1e-9 .* largest_of_kind(max.(abs.(x), abs.(moved))) .+ rounding
    faulty = findfirst(.!(abs.(moved .- slow) .<= allowed))
    faulty === nothing || fail_at(t, "what that adds to $(@name@.STATES[faulty]) is not in proportion to the step")
    return moved
end

"The largest of each state's kind: states of one unit are of one."
largest_of_kind(sizes) = [maximum(sizes[@name@.STATE_UNITS .== unit]; init = floatmin(Float64)) for unit in @name@.STATE_UNITS]

function fail_at(t, why)
    throw(@name@.Fault("the run ends at $t s: an input steps, and $why; `lgm simulate` may know it"))
end

@end@
"The first and the last of corners that are as near as rounding, which are passed at once; those at the start in front."
function together(start, corners)
    pairs = [(start, start)]
    for corner in corners
        first = pairs[end][1]
        if corner <= first + 64 * eps(first) + 1e-200
            pairs[end] = (first, corner)
        else
            push!(pairs, (corner, corner))
        end
    end
    return pairs
end

function main(words)
    given, options = @name@.Parameters(), Dict{Symbol, Any}()
    while !isempty(words)
        word = popfirst!(words)
        if word == "--stiff"
            options[:algorithm] = Rodas5P()
        elseif word == "--points"
            options[:points] = parse(Int, popfirst!(words))
        elseif startswith(word, "--")
            options[Symbol(word[3:end])] = parse(Float64, popfirst!(words))
        else
            name, value = rsplit(word, "="; limit = 2)
            @name@.set!(given, name, parse(Float64, value))
        end
    end
    times, outputs, states = simulate(@name@.Model(given); options...)
    println(join(@name@.COLUMNS, ","))
    for (at, time) in enumerate(times)
        println(join([time; outputs[:, at]; states[@name@.COLUMN_STATES, at]], ","))
    end
end

abspath(PROGRAM_FILE) == @__FILE__ && main(copy(ARGS))
