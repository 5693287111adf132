//! The histories of delayed signals in a run.
//!
//! A part of a run lasts at most as long as the shortest delay, so every value that it reads is recorded before it begins (the method of
//! steps).

use crate::failure::{Failure, FailureKind};
use crate::switching::course::Course;
use lgm_model::switching::Delay;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The maximum number of evaluations of the values before the start, each from the delayed values of the previous one.
const MOST_SWEEPS: usize = 200;

/// Values before the start that change by less than this fraction have converged.
const SETTLED: f64 = 1e-14;

impl Course<'_> {
    /// Returns the instant up to which delayed values are known.
    pub(super) fn known_until(&self) -> f64 {
        let delays = self.library.histories.iter().map(|history| history.delay());
        self.time + delays.fold(f64::INFINITY, f64::min)
    }

    /// Returns true if a part that ends here ends only because no later delayed values were known: nothing happens.
    pub(super) fn is_quiet(&self, (known, next): (f64, f64), steps: bool) -> bool {
        self.time == known && next > self.time && !steps
    }

    /// Sets the values before the start of the run: states have their initial values, and inputs are 0.
    pub(super) fn begin_histories(
        &mut self,
        modes: &[usize],
        starts: &FxHashMap<Arc<str>, f64>,
        discretes: &[f64],
    ) -> Result<(), Failure> {
        let start = self.plan.start;
        let delays = self.setup.events.model().switching.delays.clone();
        let fault = |delay: &Delay, what: String, help: &str| {
            let diagnostic = Diagnostic::error(Code::LGM0167, what)
                .label(delay.span, "this delay")
                .help(help);
            Failure::new(start, FailureKind::Events(Box::new(diagnostic)))
        };
        for (delay, history) in delays.iter().zip(&self.library.histories) {
            let time = history.delay();
            if !(time > 0.0 && time.is_finite()) {
                let what = format!("`{}` has a delay of {time} s", delay.name);
                return Err(fault(delay, what, "choose parameters that make it longer than 0 s"));
            }
        }
        let Some(first) = delays.first() else {
            return Ok(());
        };
        if self.plan.from_equilibrium {
            let what = format!("a run with `{}` cannot start from an equilibrium", first.name);
            return Err(fault(
                first,
                what,
                "approximate delays with `--pade 4`, or give initial values with `start`",
            ));
        }
        // A combination without equations is reported when the run enters it.
        let Ok(prepared) = self.library.prepared(modes) else {
            return Ok(());
        };
        let states = prepared.system.states.iter();
        let states: Vec<f64> = states
            .map(|state| starts.get(&state.name).copied().unwrap_or(0.0))
            .collect();
        let signals = prepared.held(start, discretes);
        let motion = prepared.motion(&self.setup.parameters, &signals, self.plan)?;
        let mut values = vec![0.0; delays.len()];
        for _ in 0..MOST_SWEEPS {
            for (history, value) in prepared.histories.iter().zip(&values) {
                history.begin(*value);
            }
            // Just before the start.
            motion.set_piece(start - 1.0, start);
            let found = prepared.call(&motion, &prepared.delayed, (start, &states), None);
            let is_settled = |(new, old): (&f64, &f64)| (new - old).abs() <= SETTLED * new.abs().max(old.abs());
            if found.iter().zip(&values).all(is_settled) {
                return Ok(());
            }
            values = found;
        }
        let at = values.iter().position(|value| !value.is_finite()).unwrap_or(0);
        let what = format!("`{}` has no value before the start of the run", delays[at].name);
        let help = "before the start, states have their initial values and inputs are 0; give its signal a value there";
        Err(fault(&delays[at], what, help))
    }
}
