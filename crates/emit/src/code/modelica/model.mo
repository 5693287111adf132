// @model@: state equations.
// @origin@
// All quantities are in SI units.
model @name@ @description@
@parameter_lines@@variable_lines@
@if protected_lines@
protected
  // Intermediate values.
@protected_lines@
@end@
@if initial_lines@
initial equation
@initial_lines@
@end@
@if equation_lines@
equation
@equation_lines@
@end@
@if has_stop@
  annotation(experiment(StartTime=@plan_start@, StopTime=@plan_stop@, Tolerance=@plan_rtol@, Interval=@interval@));
@end@
end @name@;
