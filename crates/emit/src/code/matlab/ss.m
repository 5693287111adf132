function system = @name@_ss(model)
%@shout@_SS The model as a state space of the Control System Toolbox, or of Octave's package control.
%   @origin@
%
%   Where derivatives of inputs matter, the states are x - e*u.
    if nargin < 1
        model = @name@();
    end
    [a, b, c, d, e, f] = model.matrices();
    if any(f(:))
        error('lgm:linear', 'outputs depend on derivatives of inputs, which no state space says');
    end
    % With z = x - e*u: z' = a*z + (b + a*e)*u, y = c*z + (d + c*e)*u.
    system = ss(a, b + a * e, c, d + c * e, 'StateName', model.states(:, 1), 'InputName', model.inputs(:, 1), ...
        'OutputName', model.outputs(:, 1));
end
