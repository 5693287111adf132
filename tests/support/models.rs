//! Models shared by several tests.

/// One state with x' = u - x/T, so that a step gives 1 - exp(-t/T); it does not define a stop time.
pub const LAG: &str = "\
model Lag {
  param T = 2 [s];
  input u = 1;
  state x = int((u - x)/T);
  output y = x;
  output twice = 2*x;
  // the experiment
}
";

/// The same with an experiment.
pub fn lag(experiment: &str) -> String {
    LAG.replace("// the experiment", experiment)
}
