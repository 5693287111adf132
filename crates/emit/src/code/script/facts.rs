//! The parts of a model that the templates of scripts print.

use crate::code::stability::stiffness;
use crate::code::subject::Subject;
use crate::code::template::values;
use crate::rows::csv_field;
use crate::significant;

values! {
    /// The parts of a model that the templates of all scripts print, with numbers in the notation of a language.
    pub(crate) struct Facts {
        title: String,
        origin: String,
        model: String,
        states: usize,
        inputs: usize,
        parameters: usize,
        rates: bool,
        loops: bool,
        nonlinear: bool,
        loops_words: String,
        guesses: String,
        moves: bool,
        start_given: String,
        instants: bool,
        switches: bool,
        timed: bool,
        conditions: bool,
        jumping: bool,
        bending: bool,
        jumps: String,
        bounds_steps: bool,
        stiff: bool,
        jacobian: bool,
        has_stop: bool,
        start: String,
        stop: String,
        points: usize,
        rtol: String,
        atol: String,
        scales: String,
        point: String,
        givens: String,
        constraints: bool,
        header: String,
    }
}

/// The arguments of functions of a point, as far as the model has them.
pub(super) fn point(subject: &Subject<'_>) -> String {
    let further = [
        (!subject.inputs.is_empty(), ", u"),
        (subject.reads_rates, ", du"),
        (subject.unknowns() > 0, ", w"),
    ];
    let further = further.into_iter().filter(|part| part.0).map(|part| part.1);
    std::iter::once("t, x, p").chain(further).collect()
}

/// The notation of a language.
#[derive(Clone, Copy)]
pub(crate) struct Notation {
    pub(crate) literal: fn(f64) -> String,
    /// A list of numbers, truth values or lists.
    pub(crate) list: fn(&[String]) -> String,
    pub(crate) boolean: fn(bool) -> &'static str,
    /// The first index of an array.
    pub(crate) first: usize,
    pub(crate) no_number: &'static str,
    pub(crate) quote: fn(&str) -> String,
}

/// Returns the facts of a model.
pub(crate) fn facts(subject: &Subject<'_>, notation: Notation) -> Facts {
    let Notation {
        literal,
        list,
        boolean,
        quote,
        first,
        ..
    } = notation;
    let (system, corners) = (subject.system, &subject.corners);
    let (start, stop, points) = subject.plan();
    let (rtol, atol) = subject.tolerances();
    let numbers = |values: &mut dyn Iterator<Item = f64>| list(&values.map(literal).collect::<Vec<_>>());
    let guesses = subject.guesses().map(|guess| numbers(&mut guess.into_iter()));
    let given = system.states.iter().map(|state| boolean(state.start_given).to_string());
    let sizes = subject.scales().iter().zip(subject.trial_sizes());
    let scales = sizes.map(|(scale, trial)| if *scale < 0.0 { -scale } else { scale.max(*trial) });
    let stiffness = if subject.states.is_empty() {
        Some(false)
    } else {
        stiffness(subject)
    };
    let (loops, stiff) = (subject.unknowns() > 0, stiffness == Some(true));
    let [instants, switches, crossings] = [corners.instants(), corners.switches(), corners.crossings()];
    let (instants, switches) = (instants.outputs() > 0, switches.outputs() > 0);
    let columns = subject.columns.table();
    let header: Vec<String> = columns.iter().map(|column| csv_field(&column.name)).collect();
    let point = point(subject);
    Facts {
        title: quote(&match subject.description.as_str() {
            "" => format!("{}: state equations.", system.model),
            text => format!("{}: {text}", system.model),
        }),
        origin: quote(&subject.origin.sentence()),
        model: quote(&system.model),
        states: subject.states.len(),
        inputs: subject.inputs.len(),
        parameters: subject.parameters.len(),
        rates: subject.reads_rates,
        loops,
        nonlinear: system.equations.loops.iter().any(|each| !each.linear),
        loops_words: quote(&subject.loops_in_words()),
        guesses: list(&guesses),
        moves: subject.moves,
        start_given: list(&given.collect::<Vec<_>>()),
        instants,
        switches,
        timed: instants || switches,
        conditions: crossings.outputs() > 0,
        jumping: !subject.jumping.is_empty(),
        bending: !subject.bending.is_empty(),
        jumps: match subject.jumping.is_empty() || subject.bending.is_empty() {
            true => String::new(),
            false => list(
                &subject
                    .jumping
                    .iter()
                    .map(|at| (at + first).to_string())
                    .collect::<Vec<_>>(),
            ),
        },
        bounds_steps: subject.bounds_steps(),
        stiff,
        jacobian: stiff && !loops,
        has_stop: stop.is_some(),
        start: literal(start),
        stop: literal(stop.unwrap_or(start)),
        points,
        rtol: literal(rtol),
        atol: atol.map_or(notation.no_number.to_string(), literal),
        scales: numbers(&mut scales.map(|size| if size > 0.0 { rounded(size) } else { 1.0 })),
        givens: point.trim_end_matches(", w").to_string(),
        constraints: !system.starts.constraints.is_empty() && !subject.states.is_empty(),
        point,
        header: header.join(","),
    }
}

/// Rounds a size to three digits.
fn rounded(value: f64) -> f64 {
    significant(value, 3).parse().unwrap_or(value)
}
