function x = @name@_jump(model, t, before, step, x)
%@shout@_JUMP The states after steps of inputs: the limit of ever faster ramps.
%   @origin@
%
%   The right sides are affine in the rates of the inputs: storage that sources determine gives and takes charge and momentum at
%   once. So the states go along dx/ds = e*step while the share s of the steps goes from 0 to 1. Conserved charges and momenta
%   determine the states at the end, whichever way the inputs take. If a second way ends elsewhere, the steps do not say where the
%   states come to.
    % States of one unit are of one kind.
    [~, ~, kinds] = unique(model.states(:, 2));
    sign = ones(size(step));
    sign(mod(cumsum(step ~= 0), 2) == 0) = -1;
    begun = [];
    if isKey(model.memory, 'w')
        begun = model.memory('w');
    end
    sizes = abs(x);
    ends = zeros(numel(x), 2);
    for way = 1:2
        ahead = 0.5 * (2 - way) * sign;
        known = containers.Map('KeyType', 'double', 'ValueType', 'any');
        for factor = 0:2
            known(factor) = begun;
        end
        slope = @(share, x) slope_on_way(model, t, before, step, ahead, kinds, known, share, x);
        sizes = largest(kinds, max(sizes, abs(slope(0, x))));
        settings = odeset('RelTol', 1e-12, 'AbsTol', 1e-14 * sizes);
        [shares, found] = ode45(slope, [0, 0.5, 1], x, settings);
        if shares(end) < 1
            fail(t, 'the states after that were not found: the laws have no solution on the way there');
        end
        ends(:, way) = found(end, :)';
    end
    apart = find(~(abs(ends(:, 1) - ends(:, 2)) <= 1e-8 * sizes), 1);
    if ~isempty(apart)
        fail(t, sprintf('what that adds to %s depends on which of them is ahead', model.states{apart, 1}));
    end
    x = ends(:, 2);
end

function moved = slope_on_way(model, t, before, step, ahead, kinds, known, share, x)
    % Growth of the states for the share of the way, from right sides at rest and at two high rates.
    fast = 2^40;
    u = before + share * (1 + ahead * (1 - share)) .* step;
    du = fast * (1 + ahead * (1 - 2 * share)) .* step;
    rates = zeros(numel(x), 3);
    for factor = 0:2
        if ~isempty(known(factor))
            model.memory('w') = known(factor); %#ok<NASGU>
        end
        rates(:, factor + 1) = model.rhs(t, x, u, factor * du);
        if ~isempty(known(factor))
            known(factor) = model.memory('w');
            model.memory('w') = known(0);
        end
    end
    slow = (rates(:, 2) - rates(:, 1)) / fast;
    moved = (rates(:, 3) - rates(:, 2)) / fast;
    rounding = 64 * eps * abs(rates(:, 3)) / fast;
    allowed = 1e-6 * abs(moved) + 1e-9 * largest(kinds, max(abs(x), abs(moved))) + rounding;
    faulty = find(~(abs(moved - slow) <= allowed), 1);
    if ~isempty(faulty)
        fail(t, sprintf('what that adds to %s is not in proportion to the step', model.states{faulty, 1}));
    end
end

function sizes = largest(kinds, sizes)
    largest_of_kind = accumarray(kinds(:), sizes, [], @max);
    sizes = max(largest_of_kind(kinds(:)), realmin);
end

function fail(t, why)
    error('lgm:jump', 'the run ends at %g s: an input steps, and %s; `lgm simulate` may know it', t, why);
end
