//! The variables of an FMU: names, value references, start values and dependencies.

use super::super::subject::{Named, Subject};
use lgm_algebra::expr::print;
use lgm_kernels::{Arguments, Sensitivities, SparseKernel};
use lgm_model::SiUnit;
use lgm_model::system::{State, StateVariable};
use lgm_runtime::dopri5::UNKNOWN_SCALE;
use rustc_hash::{FxHashMap, FxHashSet};

/// The nominal magnitude of a state without any estimate, in SI units.
const UNKNOWN: f64 = 1e-3;

/// The role of a variable for the user of the FMU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Causality {
    Independent,
    Input,
    Output,
    Local,
    Parameter,
    /// Computed from parameters.
    Calculated,
}

/// One variable.
#[derive(Clone, Debug)]
pub(super) struct Variable {
    pub(super) name: String,
    pub(super) reference: usize,
    pub(super) causality: Causality,
    pub(super) unit: Option<SiUnit>,
    pub(super) description: String,
    /// The start value; none if it is computed.
    pub(super) start: Option<f64>,
    /// The index of the state that is differentiated, in the list of all variables.
    pub(super) rate_of: Option<usize>,
    /// True for a state that changes when an input jumps.
    pub(super) jumps: bool,
    /// The magnitude of a state, see [`nominal`].
    pub(super) nominal: Option<f64>,
}

/// All variables, and indices into their list.
pub(super) struct Variables {
    pub(super) list: Vec<Variable>,
    /// The rates of the states, in the order of the states.
    pub(super) rates: Vec<usize>,
    /// The outputs with their dependencies.
    pub(super) outputs: Vec<(usize, Vec<usize>)>,
    /// The dependencies of each rate.
    pub(super) rate_dependencies: Vec<Vec<usize>>,
    /// Functions that change sign at events.
    pub(super) conditions: Vec<usize>,
}

/// The start of each block of value references, as in the enumeration of `instance.h`.
struct References {
    states: usize,
    derivatives: usize,
    inputs: usize,
    input_rates: usize,
    outputs: usize,
    parameters: usize,
    conditions: usize,
}

impl References {
    fn of(subject: &Subject<'_>) -> References {
        let states = 1;
        let derivatives = states + subject.states.len();
        let inputs = derivatives + subject.states.len();
        let input_rates = inputs + subject.inputs.len();
        let outputs = input_rates + subject.inputs.len();
        let parameters = outputs + subject.outputs.len();
        References {
            states,
            derivatives,
            inputs,
            input_rates,
            outputs,
            parameters,
            conditions: parameters + subject.entries().count(),
        }
    }
}

/// The columns of a row of partial derivatives, including dependencies through loops.
struct Pattern<'a> {
    partials: &'a SparseKernel,
    /// All columns that any residual reads.
    through: &'a [usize],
    /// The number of columns before those of the unknowns.
    width: usize,
}

impl Pattern<'_> {
    fn row(&self, row: usize) -> Vec<usize> {
        let starts = &self.partials.row_starts;
        let own = &self.partials.columns_of[starts[row]..starts[row + 1]];
        let mut columns: Vec<usize> = own.iter().copied().filter(|column| *column < self.width).collect();
        if own.iter().any(|column| *column >= self.width) {
            columns.extend(self.through);
            columns.sort_unstable();
            columns.dedup();
        }
        columns
    }
}

impl Variable {
    /// Returns true if the variable may be a known of a partial derivative: a state, or an input that is set.
    fn is_known(&self) -> bool {
        self.causality == Causality::Input || self.nominal.is_some()
    }
}

/// Assigns unique names.
#[derive(Default)]
struct Names {
    taken: FxHashSet<String>,
}

impl Names {
    /// Returns the user's name without spaces inside brackets. If the name is taken, a remark on its kind follows.
    fn name(&mut self, users: &str, what: &str) -> String {
        let plain = users.replace(", ", ",");
        let mut name = plain.clone();
        let mut count = 1;
        while !self.taken.insert(name.clone()) {
            name = match count {
                1 => format!("{plain} ({what})"),
                _ => format!("{plain} ({what} {count})"),
            };
            count += 1;
        }
        name
    }
}

/// Returns the description of a state for an importing tool.
fn state_description(state: &State) -> String {
    match &state.written {
        Some(written) => written.to_string(),
        None => {
            let what = match state.variable {
                StateVariable::Across => "across variable",
                StateVariable::Through => "through variable",
                StateVariable::IntegralOfAcross => "integral of the across variable",
                StateVariable::IntegralOfThrough => "integral of the through variable",
                StateVariable::P => "momentum",
                StateVariable::Q => "displacement",
                StateVariable::Effort => "effort",
                StateVariable::Flow => "flow",
                StateVariable::Integral => "integral",
            };
            format!("{what} of {}", state.element)
        }
    }
}

/// Returns the columns on which each rate and each output depends, also through algebraic loops: states, inputs, input derivatives.
fn dependencies_in(subject: &Subject<'_>, sensitivities: &Sensitivities) -> (Vec<Vec<usize>>, Vec<Vec<usize>>) {
    let (states, inputs) = (subject.states.len(), subject.inputs.len());
    let width = states + 2 * inputs;
    let mut through: Vec<usize> = sensitivities.residuals.columns_of.clone();
    through.retain(|column| *column < width);
    through.sort_unstable();
    through.dedup();
    let pattern = |partials| Pattern {
        partials,
        through: &through,
        width,
    };
    let rate_columns: Vec<Vec<usize>> = (0..states).map(|row| pattern(&sensitivities.rates).row(row)).collect();
    let output_columns = (0..subject.outputs.len()).map(|row| pattern(&sensitivities.outputs).row(row));
    (rate_columns, output_columns.collect())
}

/// Returns the union of the dependencies in all combinations of modes.
fn dependencies(subject: &Subject<'_>, sensitivities: &[Sensitivities]) -> (Vec<Vec<usize>>, Vec<Vec<usize>>) {
    let mut rates = vec![Vec::new(); subject.states.len()];
    let mut outputs = vec![Vec::new(); subject.outputs.len()];
    for each in sensitivities {
        let (own_rates, own_outputs) = dependencies_in(subject, each);
        for (all, own) in rates
            .iter_mut()
            .zip(own_rates)
            .chain(outputs.iter_mut().zip(own_outputs))
        {
            all.extend(own);
            all.sort_unstable();
            all.dedup();
        }
    }
    (rates, outputs)
}

impl Variables {
    pub(super) fn new(subject: &Subject<'_>, sensitivities: &[Sensitivities]) -> Variables {
        let references = References::of(subject);
        let mut names = Names::default();
        // Variables that can be set keep their names.
        let inputs: Vec<String> = subject
            .inputs
            .iter()
            .map(|input| names.name(&input.name, "input"))
            .collect();
        let entries: Vec<String> = subject
            .entries()
            .map(|entry| names.name(&entry.name, "parameter"))
            .collect();

        let (rate_columns, output_columns) = dependencies(subject, sensitivities);
        let states = subject.states.len();
        let width = states + 2 * subject.inputs.len();
        let mut variables = Variables {
            list: vec![variable(
                names.name("time", "independent"),
                0,
                Causality::Independent,
                Some(SiUnit::second()),
            )],
            rates: Vec::new(),
            outputs: Vec::new(),
            rate_dependencies: Vec::new(),
            conditions: Vec::new(),
        };
        // The columns of a run are ordered: outputs (including states that are output unchanged), then the remaining states.
        let mut places = vec![usize::MAX; width];
        let shown: FxHashSet<usize> = subject.columns.states.iter().map(|entry| entry.0).collect();
        let as_output: FxHashMap<&str, usize> = (0..states)
            .filter(|state| !shown.contains(state))
            .map(|state| (subject.states[state].name.as_str(), state))
            .collect();
        let mut output_places = Vec::new();
        let nominals = nominals(subject);
        for (at, output) in subject.outputs.iter().enumerate() {
            let name = names.name(&output.name, "output");
            output_places.push(variables.list.len());
            match as_output.get(output.name.as_str()) {
                Some(&state) => {
                    places[state] = variables.list.len();
                    let mut entry =
                        state_variable(subject, state, name, &references, &rate_columns[state], nominals[state]);
                    entry.causality = Causality::Output;
                    variables.list.push(entry);
                }
                None => {
                    let reference = references.outputs + at;
                    variables
                        .list
                        .push(variable(name, reference, Causality::Output, output.unit.clone()));
                }
            }
        }
        for (state, quantity) in &subject.columns.states {
            places[*state] = variables.list.len();
            let name = names.name(&quantity.name, "state");
            let entry = state_variable(
                subject,
                *state,
                name,
                &references,
                &rate_columns[*state],
                nominals[*state],
            );
            variables.list.push(entry);
        }
        variables.add_rates(subject, &references, &mut names, &places);
        let read: FxHashSet<usize> = rate_columns.iter().chain(&output_columns).flatten().copied().collect();
        variables.add_inputs(subject, &inputs, &references, &mut names, &mut places, &read);
        variables.add_parameters(subject, &entries, references.parameters);
        variables.add_conditions(subject, &references, &mut names);
        // Inputs that are never set cannot be knowns of a partial derivative.
        let is_known = |place: &usize| variables.list.get(*place).is_some_and(|entry| entry.is_known());
        let placed = |columns: &[usize]| -> Vec<usize> {
            let mut list: Vec<usize> = columns.iter().map(|column| places[*column]).filter(is_known).collect();
            list.sort_unstable();
            list
        };
        let rate_dependencies = rate_columns.iter().map(|columns| placed(columns)).collect();
        let outputs = output_places.iter().zip(&output_columns);
        let outputs = outputs.map(|(place, columns)| (*place, placed(columns))).collect();
        variables.rate_dependencies = rate_dependencies;
        variables.outputs = outputs;
        variables
    }

    /// Adds the rates of the states.
    fn add_rates(&mut self, subject: &Subject<'_>, references: &References, names: &mut Names, places: &[usize]) {
        for (at, state) in subject.states.iter().enumerate() {
            self.rates.push(self.list.len());
            let own = &self.list[places[at]].name;
            // A composite state name also appears here in its plain form.
            let own = if own.contains(' ') {
                state.name.replace(", ", ",")
            } else {
                own.clone()
            };
            let name = names.name(&format!("der({own})"), "rate");
            let unit = rate_unit(&state.unit);
            let mut entry = variable(name, references.derivatives + at, Causality::Local, unit);
            entry.rate_of = Some(places[at]);
            self.list.push(entry);
        }
    }

    /// Adds the signs of conditions at which the equations jump or a solution ends.
    fn add_conditions(&mut self, subject: &Subject<'_>, references: &References, names: &mut Names) {
        let jumps = subject.jumping.iter().map(|_| "changes sign where the equations jump");
        let ends = subject
            .has_branches()
            .then_some("changes sign where the solution of a loop ends");
        let events = subject.held.iter().map(|held| held.indicators);
        let changes = events.flat_map(|count| (0..count).map(|_| "changes sign at an event"));
        for (at, description) in jumps.chain(ends).chain(changes).enumerate() {
            self.conditions.push(self.list.len());
            let name = names.name(&format!("condition[{}]", at + 1), "sign");
            let mut entry = variable(name, references.conditions + at, Causality::Local, None);
            entry.description = description.into();
            self.list.push(entry);
        }
    }

    fn add_inputs(
        &mut self,
        subject: &Subject<'_>,
        inputs: &[String],
        references: &References,
        names: &mut Names,
        places: &mut [usize],
        read: &FxHashSet<usize>,
    ) {
        let states = subject.states.len();
        let (start, _, _) = subject.plan();
        let parameters = subject.kernels.parameters(&[]);
        let values = subject.kernels.inputs.values(&Arguments {
            time: start,
            parameters: &parameters,
            ..Arguments::default()
        });
        let finite = |value: f64| Some(if value.is_finite() { value } else { 0.0 });
        for (at, (input, name)) in subject.inputs.iter().zip(inputs).enumerate() {
            let held = subject.held.as_ref();
            if held.is_some_and(|held| held.offsets.contains(&at)) {
                continue;
            }
            places[states + at] = self.list.len();
            let of = &subject.system.inputs[at];
            let causality = match of.is_internal {
                true => Causality::Local,
                false => Causality::Input,
            };
            let mut entry = variable(name.clone(), references.inputs + at, causality, input.unit.clone());
            entry.start = finite(values[at]).filter(|_| !of.is_internal);
            if let Some(signal) = of.signal {
                let signal = print::text(&subject.system.exprs, signal);
                entry.description = match of.is_internal {
                    true if held.is_some_and(|held| held.discretes.contains(&at)) => {
                        format!("a discrete variable with the initial value {signal}")
                    }
                    true => format!("follows: {signal}"),
                    false => format!("until it is set: {signal}"),
                };
            }
            self.list.push(entry);
        }
        for (at, (input, name)) in subject.inputs.iter().zip(inputs).enumerate() {
            let column = states + subject.inputs.len() + at;
            if !read.contains(&column) || subject.system.inputs[at].is_internal {
                continue;
            }
            places[column] = self.list.len();
            let unit = rate_unit(&input.unit);
            let rate = names.name(&format!("der({name})"), "rate");
            let mut entry = variable(rate, references.input_rates + at, Causality::Input, unit);
            entry.start = finite(values[subject.inputs.len() + at]);
            entry.description = format!("the time derivative of {name}, which the equations use");
            self.list.push(entry);
        }
    }

    fn add_parameters(&mut self, subject: &Subject<'_>, names: &[String], first: usize) {
        let units = subject.parameters.iter().flat_map(|parameter| {
            let entries = parameter.entries.iter();
            entries.map(|entry| (entry, parameter.unit.clone()))
        });
        for (at, ((entry, unit), name)) in units.zip(names).enumerate() {
            let causality = match entry.derived {
                Some(_) => Causality::Calculated,
                None => Causality::Parameter,
            };
            let mut own = variable(name.clone(), first + at, causality, unit);
            match &entry.derived {
                Some(follows) => own.description = format!("follows: {follows}"),
                None => own.start = Some(entry.value),
            }
            self.list.push(own);
        }
    }
}

fn variable(name: String, reference: usize, causality: Causality, unit: Option<SiUnit>) -> Variable {
    Variable {
        name,
        reference,
        causality,
        unit,
        description: String::new(),
        start: None,
        rate_of: None,
        jumps: false,
        nominal: None,
    }
}

/// Returns the magnitude of each state. An importing tool multiplies its relative tolerance by the magnitude to get an absolute one.
///
/// A `nominal = ..` in the model overrides all estimates. Otherwise the magnitude is the maximum of three estimates: the absolute initial
/// value, a thousandth of the expected magnitude, and the estimate from a short run. A tool has no other information
/// before a run. If the model has an absolute tolerance, the magnitude is at least what that tolerance requires.
pub(super) fn nominals(subject: &Subject<'_>) -> Vec<f64> {
    let (rtol, atol) = subject.tolerances();
    let least = atol.map_or(0.0, |atol| atol / rtol);
    let size = |((scale, seen), state): ((&f64, &f64), &State)| {
        let start = if state.start_value.is_finite() {
            state.start_value.abs()
        } else {
            0.0
        };
        match (*scale, start.max(*scale).max(*seen).max(least)) {
            (given, _) if given < 0.0 => -given,
            (_, known) if known > UNKNOWN_SCALE => known,
            // The magnitude is unknown.
            _ => UNKNOWN,
        }
    };
    let sizes = subject.scales().iter().zip(subject.trial_sizes());
    sizes.zip(&subject.system.states).map(size).collect()
}

fn state_variable(
    subject: &Subject<'_>,
    at: usize,
    name: String,
    references: &References,
    columns: &[usize],
    nominal: f64,
) -> Variable {
    let state = &subject.system.states[at];
    let Named { unit, .. } = &subject.states[at];
    let mut entry = variable(name, references.states + at, Causality::Local, unit.clone());
    entry.description = state_description(state);
    entry.nominal = Some(nominal);
    let first_rate = subject.states.len() + subject.inputs.len();
    entry.jumps = subject.held.is_some() || columns.iter().any(|column| *column >= first_rate);
    // An initial value is computed if it follows from parameters, or if an input jump at the start changes it.
    let follows = !subject.system.exprs.symbols_of(&[state.start]).is_empty();
    if !follows && (state.start_given || !entry.jumps) {
        entry.start = Some(state.start_value);
    }
    entry
}

/// Returns the unit of a rate, if known: `m/s` for `m`.
fn rate_unit(unit: &Option<SiUnit>) -> Option<SiUnit> {
    use lgm_algebra::units::Dimension;
    unit.as_ref()?.dimension.over(&Dimension::TIME).map(SiUnit::of)
}
