function parameters = @name@_parameters()
%@shout@_PARAMETERS The parameters of @model@ with their units and defaults.
%   @origin@
%
%   A derived parameter is NaN, which says that it follows from the others; any other value holds.
    parameters = struct();
@parameter_defaults@end
