function model = @name@(given)
%@shout@ @title@
%   @origin@
@if description@
%
%   @description@
@end@
%
%   model = @name@() has the defaults of the parameters, model = @name@(parameters) those of a struct as
%   @name@_parameters makes it. A derived parameter that is NaN follows from the others; any other value holds.
%   All quantities are in SI units; arrays are columns. Runs in MATLAB and in Octave.
%
%   dx = model.rhs(t, x, u, du)          the time derivatives of the states x for inputs u with the derivatives du
%   y = model.outputs_at(t, x, u, du)    the outputs
%   J = model.jacobian(t, x, u, du)      d(dx)/dx as a sparse matrix
%   [u, du] = model.inputs_at(t)         the default signals of the inputs and their time derivatives
%   [a, b, c, d, e, f] = model.matrices()  of x' = a*x + b*u + e*u', y = c*x + d*u + f*u', where the equations are linear
%   model.starts                         the states that a run begins with
%   model.states, inputs, outputs        names and units
    if nargin < 1
        given = @name@_parameters();
    end
    p = zeros(@parameters@, 1);
@parameter_lines@    s = zeros(@scratch@, 1);
@derived_lines@    starts = zeros(@states@, 1);
    @starts_call@
    if ~all(isfinite(starts))
        error('lgm:start', 'a start is not finite');
    end
@if constraints@
    pairs = zeros(2 * @constraint_count@, 1);
    @constraints_call@
    pairs = reshape(pairs, 2, [])';
    if ~all(abs(diff(pairs, 1, 2)) <= 1e-9 * max(abs(pairs), [], 2))
        error('lgm:start', 'the starts of dependent storage contradict');
    end
@end@
    % The last solution of the algebraic loops, where the next one is looked for.
    memory = containers.Map('KeyType', 'char', 'ValueType', 'any');
    memory('is_solved') = false;
@if loops@
    memory('guesses') = @guesses@;
@end@
    model = struct();
    model.name = @name_string@;
    % Names in the first column, units in the second one.
    model.states = @states_list@;
    model.inputs = @inputs_list@;
    model.outputs = @outputs_list@;
    model.parameters = @parameters_list@;
    model.values = p;
    model.linear = @linear@;
    model.starts = starts;
    model.start_given = logical(@start_given@);
    % Whether the states move when an input steps.
    model.moves = @moves@;
    % The columns of a run: time, outputs, states that are no output; the last ones by their numbers.
    model.columns = @columns_list@;
    model.column_states = @column_states@;
    model.memory = memory;
    model.rhs = @(t, x, u, du) rhs(p, s, memory, t, x, u, du);
    model.outputs_at = @(t, x, u, du) outputs_at(p, s, memory, t, x, u, du);
    model.jacobian = @(t, x, u, du) jacobian(p, s, memory, t, x, u, du);
    model.unknowns = @(t, x, u, du) unknowns(p, s, memory, t, x, u, du);
    model.inputs_at = @(t) inputs_at(p, s, t);
    model.conditions = @(t, x, u, du) conditions(p, s, memory, t, x, u, du);
    model.corners = @(start, stop) corners(p, s, start, stop);
    model.longest_step = @(start, stop) longest_step(p, s, start, stop);
    model.matrices = @() matrices(p, s, memory);
end

function dx = rhs(p, s, memory, t, x, u, du)
    dx = zeros(@states@, 1);
@if loops@
    w = unknowns(p, s, memory, t, x, u, du);
@end@
    @derivatives_call@
end

function y = outputs_at(p, s, memory, t, x, u, du)
    y = zeros(@outputs@, 1);
@if loops@
    w = unknowns(p, s, memory, t, x, u, du);
@end@
    @outputs_call@
end

function total = jacobian(p, s, memory, t, x, u, du)
    entries = zeros(@direct_count@, 1);
@if loops@
    w = unknowns(p, s, memory, t, x, u, du);
@end@
    @direct_call@
    total = sparse(@direct_places@, entries, @states@, @states@);
@if loops@
    % With loops g(x, w) = 0: df/dx - df/dw (dg/dw)^-1 dg/dx.
    entries = zeros(@by_loop_count@, 1);
    @by_loop_call@
    by_loop = sparse(@by_loop_places@, entries, @states@, @unknowns@);
    entries = zeros(@by_state_count@, 1);
    @by_state_call@
    by_state = sparse(@by_state_places@, entries, @unknowns@, @states@);
    total = total - sparse(by_loop * (loop_matrix_at(p, s, t, x, u, du, w) \ full(by_state)));
@end@
end

function [u, du] = inputs_at(p, s, t)
    both = zeros(2 * @inputs@, 1);
    @inputs_call@
    u = both(1:@inputs@);
    du = both(@inputs@ + 1:end);
end

function values = conditions(p, s, memory, t, x, u, du)
    % Functions that change their sign where a condition on states changes.
    values = zeros(@crossings@, 1);
@if loops@
    w = unknowns(p, s, memory, t, x, u, du);
@end@
    @conditions_call@
    values = values(@jumping@);
end

function w = unknowns(p, s, memory, t, x, u, du)
    % The unknowns of the algebraic loops; the first time they are looked for from several values.
@if loops@
    if memory('is_solved')
        [w, found] = newton(p, s, memory('w'), t, x, u, du);
    else
        guesses = memory('guesses');
        for at = 1:size(guesses, 2)
            [w, found] = newton(p, s, guesses(:, at), t, x, u, du);
            if found
                break
            end
        end
    end
    if ~found
        error('lgm:loop', 'an algebraic loop has no solution at %g s', t);
    end
    memory('w') = w;
    memory('is_solved') = true;
@else@
    w = zeros(0, 1);
@end@
end
@if loops@

function step = residuals_at(p, s, t, x, u, du, w)
    step = zeros(@unknowns@, 1);
    @residuals_call@
end

function matrix = loop_matrix_at(p, s, t, x, u, du, w)
    entries = zeros(@loop_count@, 1);
    @loop_matrix_call@
    matrix = full(sparse(@loop_places@, entries, @unknowns@, @unknowns@));
end

function [w, found] = newton(p, s, w, t, x, u, du)
    % Nearer to a solution until rounding ends it; the length of a step is halved until the next correction is smaller.
    [w, found, fallback] = iterate(p, s, w, t, x, u, du);
    if ~found && ~isempty(fallback)
        w = fallback;
        found = true;
    end
end

function [w, found, fallback] = iterate(p, s, w, t, x, u, du)
    % Corrections are measured by their unknowns, whatever size these are of: a charge may be 1e-12 C. What is zero, or balances to
    % zero, has no digits to be right. So where corrections are small by a measure of no unit, they are made as long as they become
    % much smaller; and the first of these places is as good as a solution if the iteration comes to nothing.
    found = false;
    fallback = [];
    % The size of an unknown below which its value does not matter.
    small = 1e-13;
    last = Inf;
    last_step = Inf(size(w));
    over_bends = 0;
    for iteration = 1:50
        residuals = residuals_at(p, s, t, x, u, du, w);
        matrix = loop_matrix_at(p, s, t, x, u, du, w);
        if ~all(isfinite(residuals))
            return
        end
        if ~any(residuals)
            found = true;
            return
        end
        up = 0;
        if all(isfinite(matrix(:)))
            [low, up, order] = lu(matrix);
        end
        if any(diag(up) == 0)
            % At rest a turbulent law has no slope, or an infinite one; beside it there is one.
            if over_bends >= @asides@
                return
            end
            over_bends = over_bends + 1;
            last = Inf;
            is_tiny = w ~= 0 & abs(w) <= small;
            if any(is_tiny)
                w(is_tiny) = 0;
            else
                w = w + 0.001 * (1 + mod((0:@unknowns@ - 1)', 7)) .* (abs(w) + (w == 0));
            end
            continue
        end
        step = up \ (low \ (order * residuals));
        now = size_of_step(step, w, 0);
        plain = size_of_step(step, w, small);
        % Whether every residual is zero but for the rounding of the terms that it sums.
        terms = abs(matrix) * abs(w) + abs(residuals - matrix * w);
        is_zero = all(abs(residuals) <= 8 * eps * terms);
        found = now <= 1 || (last < 1e4 && now < 1e4 && now > 0.5 * last) || (is_zero && plain < 1e4);
        if ~found && plain <= 1
            [found, last_step] = is_stuck(step, w, last_step);
        end
        if found
            w = w - step;
            return
        end
        if plain <= 1
            if isempty(fallback)
                fallback = w;
            end
            last = Inf;
            w = w - step;
            continue
        end
        is_better = false;
        for halving = 0:39
            share = 0.5^max(halving, 4 * halving - 60);
            residuals = residuals_at(p, s, t, x, u, du, w - share * step);
            if all(isfinite(residuals))
                following = up \ (low \ (order * residuals));
                if size_of_step(following, w, small) <= (1 - 0.25 * share) * plain
                    last = size_of_step(following, w, 0);
                    is_better = true;
                    break
                end
            end
        end
        if ~is_better && (is_zero || (now < 1e4 && over_bends > 0))
            % No step leads nearer than rounding allows.
            found = true;
            return
        end
        if ~is_better
            % Where a law bends, the slope before the bend may lead nowhere, and the one behind it does.
            if over_bends >= 12
                return
            end
            over_bends = over_bends + 1;
            last = Inf;
            share = 1;
        end
        w = w - share * step;
    end
end

function most = size_of_step(step, w, small)
    % The largest correction in units of what does not matter of its unknown, which is no less than a size that does not matter of any.
    most = max(abs(step) ./ max(1e-13 * abs(w) + small, realmin));
end

function [stuck, last_step] = is_stuck(step, w, last_step)
    % Whether what is left of every correction is rounding: it is small beside its unknown, or once it was not much smaller than the
    % one before.
    goes_on = abs(step) > 1e-13 * abs(w) & abs(step) <= 0.25 * last_step;
    last_step = abs(step);
    last_step(~goes_on) = 0;
    stuck = ~any(goes_on);
end
@end@

function found = corners(p, s, start, stop)
    % The instants after `start` at which what depends on time alone steps or bends, to be met by a solver.
    instants = zeros(@instants_count@, 1);
    @instants_call@
    found = instants(instants > start & instants <= stop);
@if switches@
    count = 20000 * refinement(p, s, start, stop);
    found = [found; changes(p, s, [just_before(start); linspace(start, stop, count + 1)'])];
    for pass = 1:3
        ends = unique([start; found; stop]);
        known = numel(ends);
        for at = 1:numel(ends) - 1
            last = just_before(ends(at + 1));
            if ends(at) < last
                found = [found; changes(p, s, linspace(ends(at), last, 9)')]; %#ok<AGROW>
            end
        end
        if numel(unique([start; found; stop])) == known
            break
        end
    end
@end@
    found = unique(found(found > start));
end

function longest = longest_step(p, s, start, stop)
    % The longest step in which a solver overlooks no turn of what oscillates with time alone between two times; infinite where
    % nothing does, or where the equations are linear and answer every turn in proportion.
    longest = Inf;
@if bounds_steps@
    rate = fastest(p, s, start, stop);
    if rate > 0 && isfinite(rate)
        longest = @largest_turn@ / rate;
    end
@end@
end
@if phases@

function phases = phases_at(p, s, t)
    phases = zeros(@phase_count@, 1);
    @phases_call@
end

function largest = fastest(p, s, start, stop)
    % The largest angular frequency of what oscillates with time alone, in rad/s: the mean of a thousandth of the time.
    largest = 0;
    if start < stop
        before = phases_at(p, s, start);
        for share = (1:1000) / 1000
            now = phases_at(p, s, start + (stop - start) * share);
            largest = max([largest; abs(now - before)]);
            before = now;
        end
        largest = 1000 * largest / (stop - start);
    end
end
@end@
@if switches@

function values = switches_at(p, s, t)
    values = zeros(@switch_count@, 1);
    @switches_call@
end

function count = refinement(p, s, start, stop)
    % How many times as many samples oscillations of time ask for.
    count = 1;
@if phases@
    turns = fastest(p, s, start, stop) * (stop - start) / @largest_turn@;
    if isfinite(turns)
        count = min(max(ceil(turns / 20000), 1), 64);
    end
@end@
end

function t = just_before(t)
    t = t - eps(t);
end

function found = changes(p, s, times)
    % The first numbers after each change from one time to the next.
    found = zeros(0, 1);
    low = times(1);
    values = switches_at(p, s, low);
    for at = 2:numel(times)
        reached = switches_at(p, s, times(at));
        while ~isequaln(values, reached)
            before = low;
            after = times(at);
            at_after = reached;
            while true
                middle = before + (after - before) / 2;
                if middle <= before || middle >= after
                    break
                end
                at_middle = switches_at(p, s, middle);
                if isequaln(at_middle, values)
                    before = middle;
                else
                    after = middle;
                    at_after = at_middle;
                end
            end
            found(end + 1, 1) = after; %#ok<AGROW>
            low = after;
            values = at_after;
        end
        low = times(at);
    end
end
@end@

function [a, b, c, d, e, f] = matrices(p, s, memory)
    % Of x' = a*x + b*u + e*u', y = c*x + d*u + f*u'.
    if ~@linear@
        error('lgm:linear', 'the equations are not linear');
    end
    [a, b, e] = columns_of(@(x, u, du) rhs(p, s, memory, 0, x, u, du));
    [c, d, f] = columns_of(@(x, u, du) outputs_at(p, s, memory, 0, x, u, du));
end

function varargout = columns_of(of)
    sizes = [@states@, @inputs@, @inputs@];
    none = {zeros(@states@, 1), zeros(@inputs@, 1), zeros(@inputs@, 1)};
    rest = of(none{:});
    varargout = cell(1, 3);
    for place = 1:3
        matrix = zeros(numel(rest), sizes(place));
        for at = 1:sizes(place)
            arguments_ = none;
            arguments_{place}(at) = 1;
            matrix(:, at) = of(arguments_{:}) - rest;
        end
        varargout{place} = matrix;
    end
end

@programs@@helpers@
