"Why the states after a step of an input are not known: there is no way to them, or a state would move without bounds."
struct Lost <: Exception
    state::Int
end

"What of the way from before steps of inputs to after them is known."
mutable struct Way
    model::Model
    t::Float64
    before::Vector{Float64}
    step::Vector{Float64}
    "The inputs that step, by their places among those; and whether some are ahead of the others."
    order::Vector{Int}
    is_bent::Bool
    tolerance::Float64
    "The largest that was seen of each state and of its way."
    sizes::Vector{Float64}
    "By how much rounding may make slopes wrong in the part that is tried, and what that has added to the states so far."
    noise::Vector{Float64}
    added::Vector{Float64}
    "The unknowns of the loops with each of the rates, and without any."
    unknowns::Vector{Vector{Float64}}
    "How fast the ramps are, in their own steps for a second."
    rate::Float64
end

const FASTEST = 2.0^70
const KINDS = Int@state_kinds@

"The inputs and their rates at a share of the way. On the bent one, every other input is ahead."
function inputs_on(way::Way, share)
    way.is_bent || return way.before .+ share .* way.step, way.step
    is_ahead = iseven.(way.order)
    done = ifelse.(is_ahead, 0.5 * (share + share^2), 0.5 * share * (3 - share))
    return way.before .+ done .* way.step, ifelse.(is_ahead, 0.5 + share, 1.5 - share) .* way.step
end

"The right sides, where the loops have a solution near the last one with the same rates."
function evaluate(way::Way, which, x, u, du)
    model = way.model
    model.w .= way.unknowns[which]
    model.is_solved[] = true
    right = zero(x)
    try
        rates!(right, model, way.t, x, u, du)
    catch fault
        fault isa Fault || rethrow()
        right = [NaN]
    end
    if !all(isfinite, right)
        model.w .= way.unknowns[which]
        throw(Lost(0))
    end
    way.unknowns[which] = copy(model.w)
    return right
end

"""
Solves the loops on the way without an impulse, and leaves them so. What has no value there shows with the rates as well, or does not
matter.
"""
function still!(way::Way, share, x)
    u, du = inputs_on(way, share)
    try
        evaluate(way, 4, x, u, zero(du))
    catch lost
        lost isa Lost || rethrow()
    end
    return nothing
end

largest_of_kind(sizes) = [maximum(sizes[KINDS .== kind]) for kind in KINDS]

"What is allowed of the error of each state to which rounding may add so much."
allowed(way::Way, noise) =
    way.tolerance .* max.(way.sizes, 1e-9 .* largest_of_kind(way.sizes)) .+ 100 .* noise .+ floatmin(Float64)

"What the states grow by for the share of the way. Rates that differ by a factor show what grows in proportion to them."
function slope!(way::Way, share, x)
    u, du = inputs_on(way, share)
    factors = way.rate .* (1.0, 3.0, 9.0)
    right = [evaluate(way, which, x, u, factors[which] .* du) for which in 1:3]
    slow = (right[2] .- right[1]) ./ (factors[2] - factors[1])
    fast = (right[3] .- right[2]) ./ (factors[3] - factors[2])
    rounding, apart = eps() .* abs.(right[3]) ./ factors[2], abs.(fast .- slow)
    is_proportional = apart .<= 1e-6 .* abs.(fast) .+ 4 .* rounding
    sizes = ifelse.(is_proportional, max.(way.sizes, abs.(fast)), way.sizes)
    largest = largest_of_kind(sizes)
    largest = ifelse.(largest .> 0, largest, maximum(sizes))
    # Slow ramps do not show what becomes of a state.
    way.rate == FASTEST || all(is_proportional) || throw(Lost(0))
    grows = @. !is_proportional & (abs(fast) > 1.5 * abs(slow)) & (abs(fast) > 1e9 * largest)
    any(grows) && throw(Lost(findfirst(grows)))
    # What is limited loses a share where the rates grow.
    is_moved = is_proportional .| (abs.(fast) .> 0.9 .* abs.(slow))
    noise = ifelse.(is_proportional, min.(apart, rounding), apart)
    way.noise = max.(way.noise, ifelse.(is_moved, noise, 0.0))
    return ifelse.(is_moved, fast, 0.0)
end

"The slope where the way begins, with the fastest rates with which there is one."
function first_slope!(way::Way, guesses, x)
    failed = Lost(0)
    for rate in (FASTEST, 2.0^35, 1.0), guess in guesses
        way.rate, way.unknowns = rate, [copy(guess) for _ in 1:4]
        still!(way, 0.0, x)
        try
            return slope!(way, 0.0, x)
        catch lost
            lost isa Lost || rethrow()
            failed = lost.state > 0 ? lost : failed
        end
    end
    throw(failed)
end

# The method of Dormand and Prince: its nodes, its rows, and what its two results differ by.
const NODES = (1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0)
const ROWS = (
    [1 / 5],
    [3 / 40, 9 / 40],
    [44 / 45, -56 / 15, 32 / 9],
    [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729],
    [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656],
    [35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84],
)
const DIFFERENCE = [71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40]

"One part of the way: the states and the slope at its end, and its error in units of what is allowed."
function part!(way::Way, share, length_of, x, first)
    slopes, next = [first], x
    way.noise = zero(x)
    for stage in 1:6
        next = x .+ length_of .* sum(ROWS[stage] .* slopes)
        push!(slopes, slope!(way, share + NODES[stage] * length_of, next))
    end
    way.sizes = max.(way.sizes, abs.(next))
    foreach(slope -> way.sizes = max.(way.sizes, length_of .* abs.(slope)), slopes)
    # What rounding makes of slopes adds to the states in proportion to the length of the part.
    return next, slopes[end], maximum(length_of .* abs.(sum(DIFFERENCE .* slopes)) ./ allowed(way, length_of .* way.noise))
end

"The whole way."
function go!(way::Way, guesses, x, is_bent)
    way.is_bent, way.sizes, way.noise, way.added = is_bent, abs.(x), zero(x), zero(x)
    first = first_slope!(way, guesses, x)
    share, length_of = 0.0, 1 / 64
    for _ in 1:@jump_parts@
        is_last = length_of >= 1 - share
        length_of = min(length_of, 1 - share)
        known, excess, next, last = (copy(way.unknowns), way.sizes), Inf, x, first
        try
            next, last, excess = part!(way, share, length_of, x, first)
        catch lost
            lost isa Lost && lost.state == 0 || rethrow()
        end
        if excess <= 1
            x, first, share = next, last, is_last ? 1.0 : share + length_of
            way.added = way.added .+ length_of .* way.noise
            still!(way, share, x)
            is_last && return x
        else
            way.unknowns, way.sizes = known
        end
        length_of *= isfinite(excess) ? clamp(0.9 * max(excess, 1e-10)^-0.2, 0.1, 4.0) : 0.1
        length_of < 1e-14 * max(share, eps()) && break
    end
    throw(Lost(0))
end

"""
What steps of inputs do to states where the share of each depends on the point: the limit of ever faster ramps.

The right sides are affine in the rates u' of the inputs, x' = f(x, u) + E(x, u) u': storage that sources determine gives and takes
charge and momentum at once. In a ramp that takes no time the states go along dx/ds = E(x, u) (after - before) while the share s of the
steps goes from 0 to 1. E times the steps is what the right sides grow by where the rates do, both beyond all bounds: a limited rate adds
nothing, and what grows faster than the rates is no jump. The way is gone in parts whose error is estimated. Conserved charges and momenta
determine the states at its end, whichever way the inputs take; so it is gone a second time along another one, and where the two end
apart, the steps do not say where the states come to.
"""
function jumped(model::Model, t, before, step, x, is_start, rtol)
    guesses = @jump_guesses@
    if model.is_solved[] && !is_start
        guesses = [copy(model.w)]
    end
    way = Way(model, t, before, step, cumsum(step .!= 0), true, clamp(1e-2 * rtol, 1e-13, 1e-11), abs.(x), zero(x), zero(x),
        Vector{Float64}[], FASTEST)
    # What a step does may be of any size.
    model.small[] = 0.0
    try
        other = go!(way, guesses, x, true)
        reached = go!(way, guesses, x, false)
        at = findfirst(.!(abs.(reached .- other) .<= 1e4 .* allowed(way, way.added)))
        at === nothing || throw(Fault("the run ends at $t s: inputs step at once, and $(STATES[at]) is $(reached[at]) or " *
            "$(other[at]) afterwards: that depends on which of them is ahead"))
        return reached
    catch lost
        lost isa Lost || rethrow()
        why = lost.state > 0 ? "there is no bound of what that adds to $(STATES[lost.state])" :
            "the states after that were not found: the laws have no solution on the way there"
        throw(Fault("the run ends at $t s: an input steps, and $why"))
    finally
        model.small[] = 1e-13
    end
end

