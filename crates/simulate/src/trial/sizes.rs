//! The magnitudes of states in a short separate run, for use by another solver.

use crate::Sink;
use crate::motion::scales::SHARE;
use crate::plan::{Plan, Silent, Stop};
use crate::run::expected::OrUnit;
use crate::simulator::Simulator;
use lgm_kernels::Kernels;
use lgm_model::system::StateSystem;

/// Systems with more states and loop unknowns than this are not run.
const LARGE: usize = 200;

/// The number of steps after which a trial ends.
pub(crate) const STEPS: u64 = 2000;

/// The fraction of the samples that counts as the beginning: later unbounded growth does not affect the initial scale.
const BEGINNING: f64 = 0.01;

/// Examines the states during a run.
struct Look {
    /// The number of rows in the beginning, and of those received.
    beginning: usize,
    rows: usize,
    /// The largest magnitude of each state at the beginning, and overall.
    early: Vec<f64>,
    most: Vec<f64>,
}

impl Sink for Look {
    fn row(&mut self, _time: f64, _outputs: &[f64], states: &[f64]) -> Result<(), Stop> {
        for (most, state) in self.most.iter_mut().zip(states) {
            if state.is_finite() {
                *most = most.max(state.abs());
            }
        }
        if self.rows < self.beginning {
            self.early.copy_from_slice(&self.most);
        }
        self.rows += 1;
        Ok(())
    }
}

/// Returns the magnitude of each state for programs without a look-ahead, from a run of bounded length: a thousandth of
/// the largest tolerance near zero in runs here (`SHARE`), and at most the state's initial range. It is rounded to a
/// power of ten, so that it is identical on every machine. It is 0 without data: for a constant state, in a large
/// system, or if the run fails immediately.
///
/// The estimate from the equations at the start ([`crate::state_scales`]) is useless for nonlinear equations: a diode
/// that does not conduct yet suggests almost no change for a capacitor.
pub fn trial_sizes(system: &StateSystem, kernels: &Kernels, plan: &Plan) -> Vec<f64> {
    let states = system.states.len();
    let mut look = Look {
        beginning: 1 + (BEGINNING * plan.points as f64) as usize,
        rows: 0,
        early: vec![0.0; states],
        most: vec![0.0; states],
    };
    if states + kernels.residuals.outputs() <= LARGE {
        let parameters = kernels.parameters(&[]);
        let signals = OrUnit::new(system, kernels, &parameters, plan.start);
        let plan = Plan {
            max_steps: STEPS,
            ..plan.clone()
        };
        // A run that fails or is too long has still revealed magnitudes.
        let _ = Simulator::new(system, kernels).run(&parameters, &signals, &plan, &mut look, &Silent);
    }
    let sizes = look.most.iter().zip(&look.early);
    sizes
        .map(|(most, early)| power_of_ten((SHARE * most).min(*early)))
        .collect()
}

/// Returns the nearest power of ten; 0 for 0.
fn power_of_ten(size: f64) -> f64 {
    match size.log10().round() {
        exponent if exponent.is_finite() => 10f64.powi(exponent as i32),
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::power_of_ten;

    #[test]
    fn sizes_are_powers_of_ten() {
        for (size, power) in [(0.0, 0.0), (1.0, 1.0), (0.0098, 0.01), (2.5e-13, 1e-13), (4e7, 1e8)] {
            assert!((power_of_ten(size) - power).abs() <= 1e-15 * power, "{size}");
        }
    }
}
