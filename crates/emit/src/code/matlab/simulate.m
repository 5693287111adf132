function [times, outputs, states] = @name@_simulate(model, varargin)
%@shout@_SIMULATE Times, outputs and states (one row a time) of a run with the default signals of the inputs.
%   @origin@
%
%   [times, outputs, states] = @name@_simulate(@name@(), 'stop', 10, 'points', 501)
%
%   Options: start, stop (seconds), points (number of rows), rtol, atol, solver: @ode45, or @ode15s for stiff equations.
%   Without atol, a thousandth of rtol times the scale of each state is allowed near zero: the most that was seen of it.
    options = struct('start', @plan_start@, 'stop', @plan_stop_or_nan@, 'points', @plan_points@, 'rtol', @plan_rtol@, ...
        'atol', @plan_atol@, 'solver', @ode45);
    for at = 1:2:numel(varargin)
        if ~isfield(options, varargin{at})
            error('lgm:option', 'there is no option %s', varargin{at});
        end
        options.(varargin{at}) = varargin{at + 1};
    end
    start = options.start;
    stop = options.stop;
    if isnan(stop)
        error('lgm:option', 'give ''stop'': the model defines no stop time');
    end
    times = linspace(start, stop, options.points)';
    states = zeros(options.points, numel(model.starts));
    corners = together(start, model.corners(start, stop));
    begin = corners(1, 2);
    x = moved(model, begin, zeros(size(model.inputs, 1), 1), model.starts, true);
    states(1, :) = x';
    row = 2;
    seen = abs(x);
    % At the instant of a corner the values after it hold.
    instants = max(times, begin);
    longest = model.longest_step(start, stop);
    if corners(end, 2) < stop
        corners = [corners; stop, NaN];
    end
    for pair = corners(2:end, :)'
        finish = pair(1);
        last = finish - eps(finish);
        while begin < finish && ~isempty(x)
            % At a corner, the branch before it holds until the end of the piece.
            f = @(t, x) slope(model, min(max(t, begin), last), x);
            wanted = times(times > begin & times < finish);
            % Three instants at least: a solver then gives what is asked for alone.
            span = unique([begin; begin + (finish - begin) / 2; wanted; finish]);
            [t, found, event] = integrate(model, options, f, span, x, last, longest, near_zero(options, seen));
            seen = max(seen, max(abs(found), [], 1)');
            for at = find(times > begin & times < event)'
                [~, place] = min(abs(t - times(at)));
                states(at, :) = found(place, :);
                row = at + 1;
            end
            x = found(end, :)';
            if event < finish
                % Past the condition, by less than matters.
                past = min(event + 1e-12 * (finish - begin), finish);
                x = x + (past - event) * f(past, x);
                event = past;
            end
            begin = event;
        end
        begin = finish;
        if ~isnan(pair(2))
            x = moved(model, pair(2), model.inputs_at(last), x, false);
            begin = pair(2);
        end
        while row <= options.points && times(row) <= finish + 64 * eps(finish)
            states(row, :) = x';
            if times(row) >= finish - 64 * eps(finish)
                instants(row) = max(times(row), begin);
            end
            row = row + 1;
        end
    end
    outputs = zeros(options.points, size(model.outputs, 1));
    for at = 1:options.points
        [u, du] = model.inputs_at(instants(at));
        outputs(at, :) = model.outputs_at(instants(at), states(at, :)', u, du)';
    end
end

function pairs = together(start, corners)
    % The first and the last of corners that are as near as rounding, which are passed at once; those at the start in front.
    pairs = [start, start];
    for corner = corners(:)'
        if corner <= pairs(end, 1) + 64 * eps(pairs(end, 1)) + 1e-200
            pairs(end, 2) = corner;
        else
            pairs = [pairs; corner, corner];
        end
    end
end

function [t, found, event] = integrate(model, options, f, span, x, last, longest, absolute)
    % From the first instant of the span to the last one, or to the event before it.
    % Solvers take no tolerance below some hundred roundings.
    settings = odeset('RelTol', max(options.rtol, 3e-14), 'AbsTol', absolute);
    if isfinite(longest)
        settings = odeset(settings, 'MaxStep', longest);
    end
    if ~any(strcmp(func2str(options.solver), {'ode45', 'ode23', 'ode113', 'ode78', 'ode89'}))
        settings = odeset(settings, 'Jacobian', @(t, x) slope_by_states(model, min(t, last), x), ...
            'InitialSlope', f(span(1), x));
    end
    event = span(end);
    if isempty(model.conditions(span(1), x, model.inputs_at(span(1)), zeros(size(model.inputs, 1), 1)))
        [t, found] = options.solver(f, span, x, settings);
    else
        settings = odeset(settings, 'Events', @(t, x) crossing(model, min(t, last), x));
        [t, found, instants, at_instants] = options.solver(f, span, x, settings);
        first = find(instants(:) > span(1), 1);
        if ~isempty(first)
            event = instants(first);
            before = t < event;
            t = [t(before); event];
            found = [found(before, :); at_instants(first, :)];
        end
    end
    if t(end) < event || ~all(isfinite(found(end, :)))
        error('lgm:run', 'the run ends at %g s', t(end));
    end
end

function absolute = near_zero(options, seen)
    % What is allowed of each state near zero. A negative scale was given by the model, and stays.
    scales = [@state_scales@]';
    absolute = options.atol;
    if isnan(absolute)
        given = scales < 0;
        scales = max(seen, scales);
        fixed = [@state_scales@]';
        scales(given) = -fixed(given);
        absolute = 1e-3 * options.rtol * scales;
    end
end

function dx = slope(model, t, x)
    [u, du] = model.inputs_at(t);
    dx = model.rhs(t, x, u, du);
end

function matrix = slope_by_states(model, t, x)
    [u, du] = model.inputs_at(t);
    matrix = model.jacobian(t, x, u, du);
end

function [values, is_end, direction] = crossing(model, t, x)
    [u, du] = model.inputs_at(t);
    values = model.conditions(t, x, u, du);
    is_end = ones(size(values));
    direction = zeros(size(values));
end

function x = moved(model, t, before, x, is_start)
    % The states after a step of the inputs: moved by e times the step.
    [after, rates] = model.inputs_at(t);
    least = 64 * eps * max(abs(before), abs(after)) + 16 * eps(t) * abs(rates);
    step = after - before;
    step(~(abs(step) > least)) = 0;
    if ~model.moves || ~any(step)
        return
    end
    given = x;
@if jumps@
    if isKey(model.memory, 'guesses')
        % Before a run all inputs are 0: unknowns of loops are not where an earlier run left them.
        model.memory('is_solved') = model.memory('is_solved') && ~is_start;
        model.rhs(t, x, before, 0 * step);
    end
    x = @name@_jump(model, t, before, step, x);
@else@
    % e is the same everywhere; at zero nothing else is rounded with it.
    none = 0 * step;
    x = x + (model.rhs(t, 0 * x, none, step) - model.rhs(t, 0 * x, none, none));
@end@
    kept = model.start_given & is_start;
    x(kept) = given(kept);
end
