function model = @name@()
% @title@
% @origin@
% All quantities are in SI units. A run with changed parameters or another stop time:
%     model = @name@();
%     [t, y, x] = model.simulate(model.parameters('NAME', 1), 'stop', @example_stop@);
    model = struct('parameters', @parameters, 'outputs', @outputs, 'simulate', @simulate);
@if states@
    [model.initial_state, model.right_side] = deal(@initial_state, @right_side);
@end@
@if inputs@
    model.inputs = @inputs;
@end@
    model.columns = {@columns@};
@if loops@
    model.unknowns = @unknowns;
@end@
end

function p = parameters(varargin)
    % The parameters; pairs of a name and a value change them.
    p = struct();
@if parameters@
@parameter_fields@
    for k = 1:2:numel(varargin)
        p.(varargin{k}) = varargin{k + 1};
    end
@if derived_lines@
@derived_lines@
@end@
@end@
end

@if flat@
function list = entries_of(p)
    % All entries of the parameters in order of declaration, matrices row by row.
    list = cellfun(@(value) reshape(value.', [], 1), struct2cell(p), 'UniformOutput', false);
    list = vertcat(list{:});
end

@end@
@functions@

@if nonlinear@
function w = unknowns(@givens@, guesses)
    % The unknowns of the algebraic loop of @loops_words@: the solution from the first guess that leads to one.
    settings = optimset('Jacobian', 'on', 'TolX', 1e-12, 'TolFun', 1e-12, 'Display', 'off');
    for guess = guesses
        w = guess + fsolve(@(z) equations(@givens@, guess + z), zeros(@unknowns@, 1), settings);
        [r, m] = equations(@point@);
        step = lsqminnorm_of(m, r);
        if all(abs(step) <= 1e-6*(abs(w) + abs(guess)))
            w = w - step;
            return
        end
    end
    error('the algebraic loop of @loops_words@ has no solution at %g s', t);
end

function [r, m] = equations(@point@)
    r = residuals(@point@);
    m = loop_matrix(@point@);
end

function step = lsqminnorm_of(m, r)
    % The correction of Newton's method; without a slope there is none, and only zero is a solution.
    step = r;
    if any(r) && all(isfinite(m(:)))
        step = pinv(m)*r;
        if ~(max(abs(m*step - r)) <= 1e-6*max(abs(r)))
            step = inf(size(r));
        end
    end
end

function value = at(formula, t, x, p, memory, parts)
    % A function at a point, with the unknowns next to those of the last one.
    last = memory('last');
@if inputs@
    u = inputs(t, p);
@end@
@if rates@
    du = input_rates(t, p);
@end@
    try
        w = unknowns(@givens@, last.w);
    catch fault
        if isempty(last.t) || parts == 0
            rethrow(fault);
        end
        % The way from the last solution in two parts.
        at(formula, (last.t + t)/2, (last.x + x)/2, p, memory, parts - 1);
        value = at(formula, t, x, p, memory, parts - 1);
        return
    end
    memory('last') = struct('t', t, 'x', x, 'w', w);
    value = formula(@point@);
end

@else@
@if loops@
function w = unknowns(@givens@)
    % The unknowns of the algebraic loops, which are linear.
    w = zeros(@unknowns@, 1);
    w = -loop_matrix(@point@)\residuals(@point@);
end

function value = at(formula, t, x, p)
    % A function at a point.
@if inputs@
    u = inputs(t, p);
@end@
@if rates@
    du = input_rates(t, p);
@end@
    w = unknowns(@givens@);
    value = formula(@point@);
end

@end@
@end@
@if switches@
function found = switch_times(p, start, stop)
    % The times at which `switches` changes.
    found = [];
    grid = linspace(start, stop, 20001);
    for k = 1:20000
        low = grid(k);
        while ~isequaln_of(switches(low, p), switches(grid(k + 1), p))
            before = switches(low, p);
            high = grid(k + 1);
            middle = low + (high - low)/2;
            while low < middle && middle < high
                if isequaln_of(switches(middle, p), before)
                    low = middle;
                else
                    high = middle;
                end
                middle = low + (high - low)/2;
            end
            found(end + 1, 1) = high; %#ok<AGROW>
            low = high;
        end
    end
end

function yes = isequaln_of(a, b)
    yes = all(a == b | (isnan(a) & isnan(b)));
end

@end@
@if bounds_steps@
function step = longest_step(p, start, stop)
    % A part of the fastest oscillation of the inputs, so that a solver overlooks none.
    angles = arrayfun(@(t) phases(t, p), linspace(start, stop, 1001), 'UniformOutput', false);
    step = pi/4*(stop - start)/1000/max(max(max(abs(diff([angles{:}], 1, 2)))), realmin);
end

@end@
@if moves@
function x = moved(t, p, step)
    % What a step of the inputs adds to the states: the right sides contain the derivatives of inputs.
    x = zeros(@states@, 1);
    u = zeros(@inputs@, 1);
    rates = cell(1, 2);
    for k = 1:2
        du = (2 - k)*step;
@if loops@
        w = unknowns(@givens@);
@end@
        rates{k} = right_side(@point@);
    end
    x = rates{1} - rates{2};
end

@end@
@if conditions@
function [values, ends, directions] = changes(values, sides)
    % A value at rest at zero keeps its sign.
    values(values == 0) = realmin*sides(values == 0);
    ends = true(size(values));
    directions = zeros(size(values));
end

@end@
function [times, y, x] = simulate(p, varargin)
    % Times, outputs and states (one row per time) of a run with the default inputs. Pairs of a name and a value change the run.
    run = struct('start', @start@, 'stop', @stop@, 'points', @points@, 'rtol', @rtol@, 'atol', @atol@);
    for k = 1:2:numel(varargin)
        run.(varargin{k}) = varargin{k + 1};
    end
    times = linspace(run.start, run.stop, run.points).';
    x = zeros(run.points, @states@);
@if nonlinear@
    memory = containers.Map('KeyType', 'char', 'ValueType', 'any');
    guesses = struct('t', [], 'x', [], 'w', @guesses@);
    memory('last') = guesses;
@end@
@if states@
@if constraints@
    pairs = reshape(dependent_starts(p), 2, []);
    if any(abs(diff(pairs)) > 1e-9*max(abs(pairs)))
        error('the initial values of dependent storage contradict');
    end
@end@
    state = initial_state(p);
@if moves@
    state = state + (~@start_given@.').*moved(run.start, p, inputs(run.start, p));
@end@
    corners = @corner_times@;
    corners = [unique(corners(corners >= run.start & corners < run.stop)); run.stop];
@if conditions@
    restarts = [];
@end@
    for k = 1:numel(corners) - 1
        begin = corners(k);
        finish = corners(k + 1);
        times(abs(times - finish) <= 1e-14*abs(finish) + 1e-200) = finish;
        last = finish - eps(finish);  % a step at the end of a piece belongs to the next one
        rates = @(t, x) @clamped_rates@;
@if conditions@
        margins = @(t, x) @clamped_margins@;
@end@
@if conditions@
        while begin < finish
            later = times >= begin;
            x(later, :) = repmat(state.', sum(later), 1);
            inner = times > begin & times < finish;
            options = odeset('RelTol', run.rtol, 'AbsTol', run.atol, 'InitialStep', 1e-4*(finish - begin)@more_options@);
            sides = sign(margins(begin, state));
            sides(sides == 0) = 1;
            watched = odeset(options, 'Events', @(t, x) changes(margins(t, x), sides));
            [found, states] = @solver@(rates, [begin; times(inner); finish], state, watched);
            if found(end) < finish && found(end) > begin
                % Up to the change of a condition again, so that no step crosses it.
                inner = times > begin & times < found(end);
                options = odeset(options, 'InitialStep', 1e-4*(found(end) - begin));
                [found, states] = @solver@(rates, [begin; times(inner); found(end)], state, options);
            end
            if any(inner)
                x(inner, :) = states(2:end - 1, :);
            end
            state = states(end, :).';
            begin = found(end);
            if begin < finish
                behind = min(begin + 1e-12*(finish - begin), last);
                state = state + (behind - begin)*rates(behind, state);
                begin = behind;
                restarts(end + 1) = begin; %#ok<AGROW>
                if numel(restarts) > 100 && begin - restarts(end - 100) < 1e-8*(run.stop - run.start)
                    error('a condition keeps changing at %g s', begin);
                end
            end
        end
@else@
        later = times >= begin;
        x(later, :) = repmat(state.', sum(later), 1);
        inner = times > begin & times < finish;
        options = odeset('RelTol', run.rtol, 'AbsTol', run.atol, 'InitialStep', 1e-4*(finish - begin)@more_options@);
        [found, states] = @solver@(rates, [begin; times(inner); finish], state, options);
        if found(end) < finish
            error('the run ends at %g s', found(end));
        end
        if any(inner)
            x(inner, :) = states(2:end - 1, :);
        end
        state = states(end, :).';
@end@
@if moves@
        state = state + moved(finish, p, inputs(finish, p) - inputs(last, p));
@end@
    end
    x(times >= run.stop, :) = repmat(state.', sum(times >= run.stop), 1);
@end@
@if nonlinear@
    memory('last') = guesses;
@end@
    y = zeros(run.points, @outputs@);
@if states@
@else@
    rows = times;
    times = rows + 4e-16*abs(rows) + realmin*eps;  % a row at a step shows the value behind it
@end@
    for k = 1:run.points
        y(k, :) = @here_outputs@.';
    end
@if states@
@else@
    times = rows;
@end@
end
