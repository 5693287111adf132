//! Of what size states are in a short run of their own: what another solver is given as their sizes.

use crate::Sink;
use crate::plan::{Plan, Silent, Stop};
use crate::run::expected::OrUnit;
use crate::run::scales::SHARE;
use crate::simulator::Simulator;
use lgm_kernels::Kernels;
use lgm_model::system::StateSystem;

/// Systems of more states and loop unknowns than this are not run.
const LARGE: usize = 200;

/// The steps after which a trial ends, wherever it is then.
const STEPS: u64 = 2000;

/// A state has begun after this share of the rows: where it grows without bounds, how far it comes later says nothing of how exactly
/// it is to be known at first.
const BEGINNING: f64 = 0.01;

/// Looks at the states of a run as it is made.
struct Look {
    /// Rows that are its beginning, and those that have come.
    beginning: usize,
    rows: usize,
    /// The most of each state at the beginning, and in all.
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

/// What counts as the size of each state in a program that cannot look ahead, as a run of bounded length shows it: the
/// thousandth of the most that is allowed for near zero in runs here (`SHARE`), and no more than the state comes to at the beginning.
/// It is rounded to a power of ten, so that it is the same wherever it is found. 0 where nothing was seen: of a
/// state that does not move, in a large system, or where the run fails at once.
///
/// What is expected of a state from the equations as they are at the start ([`crate::state_scales`]) says nothing where they are
/// nonlinear: of a diode that does not conduct yet, a capacitor expects next to nothing.
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
        // A run that fails or is too long has shown sizes up to there.
        let _ = Simulator::new(system, kernels).run(&parameters, &signals, &plan, &mut look, &Silent);
    }
    let sizes = look.most.iter().zip(&look.early);
    sizes
        .map(|(most, early)| power_of_ten((SHARE * most).min(*early)))
        .collect()
}

/// The power of ten that is nearest in size; 0 of 0.
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
