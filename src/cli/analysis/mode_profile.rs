//! Mode shapes over positions, as a plot.

use crate::cli::profile::Positions;
use lgm_analysis::Mode;
use lgm_emit::plot::profile_svg;
use lgm_emit::significant;
use lgm_equations::StateSystem;
use lgm_model::system::Recorded;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_source::nearest::did_you_mean;
use num_complex::Complex;

/// Number of modes drawn, starting with the slowest.
const DRAWN: usize = 6;

/// Draws the entries of a vector in each mode, scaled to a maximum of 1. The vector is a declared output or consists of states.
pub(super) fn draw(
    system: &StateSystem,
    modes: &[Mode],
    declared: usize,
    (name, over): (&str, Option<&str>),
) -> Result<String, Box<Diagnostic>> {
    let entries = system.recorded(name);
    let is_moving = |entry: &Recorded| !matches!(entry, Recorded::Input(_));
    if entries.is_empty() || !entries.iter().all(is_moving) {
        let outputs = system.outputs.iter().take(declared).map(|output| &*output.name);
        let names: Vec<&str> = outputs.chain(system.states.iter().map(|state| &*state.name)).collect();
        let fault = Diagnostic::error(Code::LGM0905, format!("there is no output or state `{name}` to draw"));
        let help = did_you_mean(name, names);
        return Err(Box::new(help.into_iter().fold(fault, Diagnostic::help)));
    }
    let positions = Positions::of(system, over, (name, entries.len()))?;
    // Modes have the same numbers as in the printed list.
    let mut shown: Vec<(usize, &Mode)> = modes.iter().filter(|mode| mode.pole.im >= 0.0).enumerate().collect();
    shown.sort_by(|a, b| a.1.pole.norm().total_cmp(&b.1.pole.norm()));
    let curves = shown.into_iter().take(DRAWN).map(|(at, mode)| {
        let values: Vec<Complex<f64>> = entries.iter().map(|entry| of_mode(system, mode, *entry)).collect();
        let largest = values.iter().copied().max_by(|a, b| a.norm().total_cmp(&b.norm()));
        let unit = largest.filter(|value| value.norm() > 0.0).unwrap_or(Complex::ONE);
        let values: Vec<f64> = values.iter().map(|value| (value / unit).re).collect();
        let text = format!("mode {}: {} rad/s", at + 1, significant(mode.pole.norm(), 4));
        positions.series(text, None, &values)
    });
    let title = format!("{}: {name}, shapes", system.model);
    Ok(profile_svg(&positions.figure(title, curves.collect())))
}

/// Returns the value of an output or a state in a mode.
fn of_mode(system: &StateSystem, mode: &Mode, entry: Recorded) -> Complex<f64> {
    match entry {
        Recorded::State(at) => mode.shape[at],
        Recorded::Output(at) => {
            let row = system.matrices.numeric.as_ref().and_then(|form| form.c.rows.get(at));
            let terms = row.into_iter().flatten();
            terms.map(|(state, value)| mode.shape[*state as usize] * *value).sum()
        }
        Recorded::Input(_) => Complex::ZERO,
    }
}
