//! The results that a run writes, and their names: the quantities of `--columns` and `--show`.

use lgm_emit::rows::{Column, Columns};
use lgm_equations::{Quantity, StateSystem};
use lgm_model::SiUnit;
pub use lgm_model::system::Recorded as Source;
use lgm_simulate::{Inputs, Side, Signals};
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_source::nearest::did_you_mean;

/// One quantity over time: a column of a table, or a curve of a plot.
#[derive(Clone, Debug)]
pub struct Curve {
    /// The name of the quantity.
    pub name: String,
    /// The SI unit of the quantity.
    pub unit: Option<SiUnit>,
    /// The source of the values in a run.
    pub source: Source,
}

/// Returns the curves with a name: an output, all entries of a vector output, a state or an input.
pub fn named(name: &str, system: &StateSystem) -> Vec<Curve> {
    let curve = |source: Source| {
        let (name, unit) = match source {
            Source::Output(at) => (&system.outputs[at].name, &system.outputs[at].unit),
            Source::State(at) => (&system.states[at].name, &system.states[at].unit),
            Source::Input(at) => (&system.inputs[at].name, &system.inputs[at].unit),
        };
        Curve {
            name: name.to_string(),
            unit: unit.clone(),
            source,
        }
    };
    system.recorded(name).into_iter().map(curve).collect()
}

/// Joins names that were split at commas inside brackets, such as `K[1, 2]`.
fn whole_names(parts: &[String]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for part in parts {
        match names.last_mut() {
            Some(last) if last.matches('[').count() > last.matches(']').count() => {
                last.push(',');
                last.push_str(part);
            }
            _ => names.push(part.clone()),
        }
    }
    names
}

/// Returns the quantities that an option names. `purpose` is the verb for messages, such as `draw`.
pub fn asked_for(
    option: &[String],
    purpose: &str,
    system: &StateSystem,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<Curve> {
    let mut curves = Vec::new();
    for name in &whole_names(option) {
        let found = named(name.trim(), system);
        if found.is_empty() {
            let outputs = system.outputs.iter().map(|known| &*known.name);
            let states = system.states.iter().map(|known| &*known.name);
            let inputs = system.inputs.iter().map(|known| &*known.name);
            let names: Vec<&str> = outputs.chain(states).chain(inputs).collect();
            let message = format!("there is no output, state or input `{}` to {purpose}", name.trim());
            let mut diagnostic = Diagnostic::error(Code::LGM0905, message);
            diagnostic.help = did_you_mean(name, names);
            diagnostics.push(diagnostic);
        }
        curves.extend(found);
    }
    curves
}

/// The columns of a table after the time.
#[derive(Clone, Debug)]
pub struct Written {
    curves: Vec<Curve>,
    /// The number of inputs, if any of them is written.
    inputs: usize,
}

impl Written {
    /// Selects the columns of `--columns`, each once. Without that option, selects the outputs, and also the states on request.
    pub fn new(
        option: &[String],
        with_states: bool,
        system: &StateSystem,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Written {
        let mut curves: Vec<Curve> = Vec::new();
        for curve in asked_for(option, "write", system, diagnostics) {
            if curves.iter().all(|known| known.source != curve.source) {
                curves.push(curve);
            }
        }
        if option.is_empty() {
            let all = Columns::of(system);
            let curve = |quantity: &Quantity, source| Curve {
                name: quantity.name.to_string(),
                unit: quantity.unit.clone(),
                source,
            };
            let outputs = all.outputs.iter().enumerate();
            curves.extend(outputs.map(|(at, output)| curve(output, Source::Output(at))));
            if with_states {
                let states = all.states.iter();
                curves.extend(states.map(|(at, state)| curve(state, Source::State(*at))));
            }
        }
        let reads_inputs = curves.iter().any(|curve| matches!(curve.source, Source::Input(_)));
        Written {
            curves,
            inputs: if reads_inputs { system.inputs.len() } else { 0 },
        }
    }

    /// Selects outputs, states and declared inputs. A state or an input with the name of an output is represented by that output.
    pub fn all(system: &StateSystem) -> Written {
        let mut written = Written::new(&[], true, system, &mut Vec::new());
        let known = |name: &str, curves: &[Curve]| curves.iter().any(|curve| curve.name == name);
        // Between events, the run holds discrete variables constant.
        let is_discrete = |name: &str| system.events.discretes.iter().any(|known| **known == *name);
        for (at, input) in system.inputs.iter().enumerate() {
            if !input.is_internal && !is_discrete(&input.name) && !known(&input.name, &written.curves) {
                written.inputs = system.inputs.len();
                written.curves.push(Curve {
                    name: input.name.to_string(),
                    unit: input.unit.clone(),
                    source: Source::Input(at),
                });
            }
        }
        written
    }

    /// Returns the number of columns.
    pub fn count(&self) -> usize {
        self.curves.len()
    }

    /// Returns the columns with their names and units.
    pub fn columns(&self) -> impl Iterator<Item = Column> + '_ {
        self.curves.iter().map(|curve| Column {
            name: curve.name.clone(),
            unit: curve.unit.clone(),
            kind: match curve.source {
                Source::Output(_) => "output",
                Source::State(_) => "state",
                Source::Input(_) => "input",
            },
        })
    }

    /// Returns the values of one sample.
    pub fn values<'v>(
        &'v self,
        time: f64,
        outputs: &'v [f64],
        states: &'v [f64],
        inputs: &Inputs,
    ) -> impl Iterator<Item = f64> + 'v {
        let (mut values, mut rates) = (vec![0.0; self.inputs], vec![0.0; self.inputs]);
        if self.inputs > 0 {
            inputs.values(time, Side::After, &mut values, &mut rates);
        }
        self.curves.iter().map(move |curve| match curve.source {
            Source::Output(at) => outputs[at],
            Source::State(at) => states[at],
            Source::Input(at) => values[at],
        })
    }
}
