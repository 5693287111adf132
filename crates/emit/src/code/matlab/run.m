function @name@_run(file, parameters, varargin)
%@shout@_RUN Writes the rows of `lgm simulate` as CSV.
%   @origin@
%
%   @name@_run('run.csv')
%   @name@_run('run.csv', parameters, 'stop', 10, 'solver', @ode15s)
%
%   The parameters are a struct as @name@_parameters makes it; for the options see @name@_simulate.
    if nargin < 2
        parameters = @name@_parameters();
    end
    model = @name@(parameters);
    [times, outputs, states] = @name@_simulate(model, varargin{:});
    rows = [times, outputs, states(:, model.column_states)];
    out = fopen(file, 'w');
    if out < 0
        error('lgm:file', 'cannot write %s', file);
    end
    fprintf(out, '%s', model.columns{1});
    fprintf(out, ',%s', model.columns{2:end});
    fprintf(out, '\n');
    format = ['%.17g', repmat(',%.17g', 1, size(rows, 2) - 1), '\n'];
    fprintf(out, format, rows');
    fclose(out);
end
