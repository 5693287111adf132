function x = @name@_jump(model, t, before, step, x, is_start, rtol)
%@shout@_JUMP The states after steps of inputs.
%   @origin@
%
%   The right sides are affine in the rates of the inputs: storage that sources determine gives and takes charge and momentum at
%   once. In a ramp that takes no time the states go along dx/ds = e*step while the share s of the steps goes from 0 to 1, where
%   e*step is what the right sides grow by where the rates do, both beyond all bounds: a limited rate adds nothing, and what grows
%   faster than the rates is no jump. The way is gone in parts whose error is estimated. Conserved charges and momenta determine its
%   end, whichever way the inputs take; so it is gone a second time along another one, and where the two end apart, the steps do not
%   say where the states come to.
    way = struct('t', t, 'tolerance', min(max(1e-2 * rtol, 1e-13), 1e-11), 'is_endless', false);
    way.model = model;
    way.before = before;
    way.step = step;
    way.order = cumsum(step ~= 0);
    % States of one unit are of one kind.
    [~, ~, kinds] = unique(model.states(:, 2));
    way.kinds = kinds(:);
    way.guesses = guesses_of(model, is_start);
    if isKey(model.memory, 'small')
        % What a step does may be of any size.
        usual = model.memory('small');
        model.memory('small') = 0; %#ok<NASGU>
        put_back = onCleanup(@() remember(model.memory, 'small', usual)); %#ok<NASGU>
    end
    [other, ~, lost] = go(way, x, true);
    if isempty(lost)
        [x, way, lost] = go(way, x, false);
    end
    if ~isempty(lost)
        error('lgm:jump', 'the run ends at %g s: an input steps, and %s', t, lost);
    end
    apart = find(~(abs(x - other) <= 1e4 * allowed(way, way.added)), 1);
    if ~isempty(apart)
        error('lgm:jump', ['the run ends at %g s: inputs step at once, and %s is %g or %g afterwards: that depends on which of ', ...
            'them is ahead'], t, model.states{apart, 1}, x(apart), other(apart));
    end
end

function remember(memory, key, value)
    memory(key) = value; %#ok<NASGU>
end

function guesses = guesses_of(model, is_start)
    % Where the unknowns of the loops are looked for, one guess a column: before a run, when all inputs are 0, they are near 0 rather
    % than where they are after the steps.
    guesses = zeros(0, 1);
    if isKey(model.memory, 'guesses')
        guesses = model.memory('guesses');
        if model.memory('is_solved') && ~is_start
            guesses = model.memory('w');
        end
    end
end

function [x, way, lost] = go(way, x, is_bent)
    % The whole way; why it does not come to its end, or nothing.
    way.is_bent = is_bent;
    way.sizes = abs(x);
    way.noise = zeros(size(x));
    way.added = zeros(size(x));
    [slopes, way, lost] = first_slope(way, x);
    if ~isempty(lost)
        return
    end
    share = 0;
    part = 1 / 64;
    for count = 1:@jump_parts@
        is_last = part >= 1 - share;
        part = min(part, 1 - share);
        known = way;
        [next, last, excess, way, lost] = one_part(way, share, part, x, slopes);
        if way.is_endless
            return
        end
        if excess <= 1
            x = next;
            slopes = last;
            share = share + part;
            way.added = way.added + part * way.noise;
            if is_last
                share = 1;
            end
            way = still(way, share, x);
            if is_last
                lost = '';
                return
            end
        else
            way = known;
        end
        factor = 0.1;
        if isfinite(excess)
            factor = min(max(0.9 * max(excess, 1e-10)^-0.2, 0.1), 4);
        end
        part = factor * part;
        if part < 1e-14 * max(share, eps)
            break
        end
    end
    lost = no_way();
end

function why = no_way()
    why = 'the states after that were not found: the laws have no solution on the way there';
end

function [dx, way, lost] = first_slope(way, x)
    % The slope where the way begins, with the fastest rates with which there is one; in their own steps for a second.
    found = '';
    for rate = [2^70, 2^35, 1]
        way.rate = rate;
        way.is_fastest = rate > 2^60;
        for at = 1:size(way.guesses, 2)
            way.unknowns = repmat(way.guesses(:, at), 1, 4);
            way.is_endless = false;
            way = still(way, 0, x);
            [dx, way, lost] = slope(way, 0, x);
            if isempty(lost)
                return
            end
            if way.is_endless
                found = lost;
            end
        end
    end
    way.is_endless = ~isempty(found);
    lost = found;
    if isempty(found)
        lost = no_way();
    end
end

function [next, last, excess, way, lost] = one_part(way, share, part, x, first)
    % A step of Dormand and Prince's method: the states and the slope at its end, and its error in units of what is allowed.
    rows = {1 / 5, [3 / 40; 9 / 40], [44 / 45; -56 / 15; 32 / 9], ...
        [19372 / 6561; -25360 / 2187; 64448 / 6561; -212 / 729], ...
        [9017 / 3168; -355 / 33; 46732 / 5247; 49 / 176; -5103 / 18656], ...
        [35 / 384; 0; 500 / 1113; 125 / 192; -2187 / 6784; 11 / 84]};
    nodes = [1 / 5, 3 / 10, 4 / 5, 8 / 9, 1, 1];
    difference = [71 / 57600; 0; -71 / 16695; 71 / 1920; -17253 / 339200; 22 / 525; -1 / 40];
    way.noise = zeros(size(x));
    slopes = first;
    last = first;
    next = x;
    excess = Inf;
    lost = '';
    for stage = 1:6
        next = x + part * (slopes * rows{stage});
        [last, way, lost] = slope(way, share + nodes(stage) * part, next);
        if ~isempty(lost)
            return
        end
        slopes(:, end + 1) = last; %#ok<AGROW>
    end
    way.sizes = max([way.sizes, abs(next), part * abs(slopes)], [], 2);
    % What rounding makes of slopes adds to the states in proportion to the length of the part.
    excess = max(part * abs(slopes * difference) ./ allowed(way, part * way.noise));
end

function largest = largest_of_kind(way, sizes)
    largest = accumarray(way.kinds, sizes, [numel(sizes), 1], @max);
    largest = largest(way.kinds);
end

function most = allowed(way, noise)
    % What is allowed of the error of each state to which rounding may add so much.
    most = way.tolerance * max(way.sizes, 1e-9 * largest_of_kind(way, way.sizes)) + 100 * noise + realmin;
end

function [u, du] = inputs_on(way, share)
    % The inputs and their rates at a share of the way. On the bent one, every other input is ahead.
    done = share * ones(size(way.step));
    rate = ones(size(way.step));
    if way.is_bent
        is_ahead = mod(way.order, 2) == 0;
        done(is_ahead) = 0.5 * (share + share^2);
        rate(is_ahead) = 0.5 + share;
        done(~is_ahead) = 0.5 * share * (3 - share);
        rate(~is_ahead) = 1.5 - share;
    end
    u = way.before + done .* way.step;
    du = rate .* way.step;
end

function [right, way] = evaluate(way, which, x, u, du)
    % The right sides, where the loops have a solution near the last one with the same rates; empty where there is none.
    memory = way.model.memory;
    has_loops = isKey(memory, 'guesses');
    if has_loops
        memory('w') = way.unknowns(:, which);
        memory('is_solved') = true;
    end
    try
        right = way.model.rhs(way.t, x, u, du);
    catch fault
        if ~strcmp(fault.identifier, 'lgm:loop')
            rethrow(fault);
        end
        right = NaN;
    end
    if ~all(isfinite(right))
        right = [];
        if has_loops
            memory('w') = way.unknowns(:, which); %#ok<NASGU>
        end
    elseif has_loops
        way.unknowns(:, which) = memory('w');
    end
end

function way = still(way, share, x)
    % Solves the loops on the way without an impulse, and leaves them so. What has no value there shows with the rates as well, or does
    % not matter.
    [u, du] = inputs_on(way, share);
    [~, way] = evaluate(way, 4, x, u, 0 * du);
end

function [dx, way, lost] = slope(way, share, x)
    % What the states grow by for the share of the way. Rates that differ by a factor show what grows in proportion to them.
    [u, du] = inputs_on(way, share);
    factors = way.rate * [1, 3, 9];
    right = zeros(numel(x), 3);
    dx = zeros(size(x));
    for which = 1:3
        [found, way] = evaluate(way, which, x, u, factors(which) * du);
        if isempty(found)
            lost = no_way();
            return
        end
        right(:, which) = found;
    end
    slow = (right(:, 2) - right(:, 1)) / (factors(2) - factors(1));
    fast = (right(:, 3) - right(:, 2)) / (factors(3) - factors(2));
    rounding = eps * abs(right(:, 3)) / factors(2);
    apart = abs(fast - slow);
    is_proportional = apart <= 1e-6 * abs(fast) + 4 * rounding;
    sizes = way.sizes;
    sizes(is_proportional) = max(sizes(is_proportional), abs(fast(is_proportional)));
    largest = largest_of_kind(way, sizes);
    largest(largest == 0) = max(sizes);
    grows = ~is_proportional & abs(fast) > 1.5 * abs(slow) & abs(fast) > 1e9 * largest;
    lost = '';
    if ~way.is_fastest && ~all(is_proportional)
        % Slow ramps do not show what becomes of a state.
        lost = no_way();
        return
    end
    if any(grows)
        way.is_endless = true;
        lost = sprintf('there is no bound of what that adds to %s', way.model.states{find(grows, 1), 1});
        return
    end
    % What is limited loses a share where the rates grow.
    is_moved = is_proportional | abs(fast) > 0.9 * abs(slow);
    noise = apart;
    noise(is_proportional) = min(apart(is_proportional), rounding(is_proportional));
    way.noise(is_moved) = max(way.noise(is_moved), noise(is_moved));
    dx(is_moved) = fast(is_moved);
end
