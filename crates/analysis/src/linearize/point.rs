//! The point at which equations are examined: values of states, inputs and time, exact if they were given exactly.

use super::corners::decimal;
use lgm_algebra::expr::{ExprId, Node, SymbolId, SymbolKind, to_f64};
use lgm_algebra::units::Dimension;
use lgm_model::SiUnit;
use lgm_model::system::StateSystem;
use lgm_model::{GivenValue, Model};
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_source::nearest::did_you_mean;
use rustc_hash::FxHashMap;

/// Values of all symbols of the equations except assignments.
#[derive(Clone, Debug)]
pub(super) struct Point {
    /// Numeric values.
    pub(super) values: FxHashMap<SymbolId, f64>,
    /// Values in terms of the parameters, for states, inputs, their rates and time; not for unknowns of loops.
    pub(super) exact: FxHashMap<SymbolId, ExprId>,
    /// The arguments of `step` and similar functions.
    pub(super) time: f64,
}

impl Point {
    /// Returns the initial values of the states and the values of the inputs at time 0, overridden by the options.
    pub(super) fn asked_for(model: &Model, system: &mut StateSystem, diagnostics: &mut Vec<Diagnostic>) -> Point {
        let mut values: FxHashMap<SymbolId, f64> = system
            .parameters
            .iter()
            .flat_map(|parameter| &parameter.entries)
            .map(|entry| (entry.symbol, to_f64(&entry.value)))
            .collect();
        let mut exact: FxHashMap<SymbolId, ExprId> = FxHashMap::default();
        for state in &system.states {
            exact.insert(state.symbol, state.start);
        }
        let mut given: Vec<SymbolId> = Vec::new();
        // The model may have received values after the equations were derived, so the arena of the equations does not contain them.
        let mut copied: FxHashMap<ExprId, ExprId> = FxHashMap::default();
        for entry in &model.point {
            match symbol_of(system, &entry.name) {
                None => diagnostics.push(unknown(system, entry)),
                Some((symbol, unit)) => {
                    let wanted = unit.map(|unit| unit.dimension);
                    if let (Some(wanted), Some(dimension)) = (wanted, entry.dimension)
                        && wanted != dimension
                    {
                        let (wanted, found) = (worded(wanted), worded(dimension));
                        diagnostics.push(
                            Diagnostic::error(
                                Code::LGM0201,
                                format!("`{}` is given in {found}, but is in {wanted}", entry.name),
                            )
                            .label(entry.span, format!("this is in {found}"))
                            .help("omit the unit for SI, or write a unit of the same dimension"),
                        );
                    }
                    given.push(symbol);
                    exact.insert(symbol, system.exprs.import(&model.exprs, entry.value, &mut copied));
                }
            }
        }
        let zero = system.exprs.zero();
        let at_time = *exact.entry(system.time).or_insert(zero);
        let time = evaluate(system, &values, at_time);
        values.insert(system.time, time);
        for at in 0..system.inputs.len() {
            let (symbol, signal) = (system.inputs[at].symbol, system.inputs[at].signal);
            exact.insert(system.input_rates[at], zero);
            if given.contains(&symbol) {
                continue;
            }
            let signal = signal.unwrap_or(zero);
            // A signal that changes with time is evaluated at the instant.
            let steady = is_steady(system, signal);
            let value = if steady {
                signal
            } else {
                let value = evaluate(system, &values, signal);
                decimal(&mut system.exprs, value)
            };
            exact.insert(symbol, value);
        }
        let symbols: Vec<(SymbolId, ExprId)> = exact.iter().map(|(symbol, value)| (*symbol, *value)).collect();
        for (symbol, value) in symbols {
            let value = evaluate(system, &values, value);
            values.insert(symbol, value);
        }
        Point { values, exact, time }
    }

    /// The value of a symbol.
    pub(super) fn value(&self, symbol: SymbolId) -> Option<f64> {
        self.values.get(&symbol).copied()
    }
}

fn evaluate(system: &StateSystem, values: &FxHashMap<SymbolId, f64>, id: ExprId) -> f64 {
    system
        .exprs
        .evaluate_unchecked(&[id], &|symbol| values.get(&symbol).copied())[0]
}

fn is_steady(system: &StateSystem, id: ExprId) -> bool {
    let exprs = &system.exprs;
    exprs.reachable(&[id]).into_iter().all(|id| match exprs.node(id) {
        Node::Symbol(symbol) => exprs.symbol_info(*symbol).kind == SymbolKind::Parameter,
        _ => true,
    })
}

/// Returns the symbol of a state, an input or time, and its unit.
fn symbol_of(system: &StateSystem, name: &str) -> Option<(SymbolId, Option<SiUnit>)> {
    if name == "time" {
        return Some((system.time, Some(SiUnit::second())));
    }
    let state = system.states.iter().find(|state| &*state.name == name);
    let input = system.declared_inputs().find(|input| &*input.name == name);
    state
        .map(|state| (state.symbol, state.unit.clone()))
        .or_else(|| input.map(|input| (input.symbol, input.unit.clone())))
}

fn worded(dimension: Dimension) -> String {
    match dimension.is_none() {
        true => "a pure number".to_string(),
        false => format!("[{}]", dimension.text()),
    }
}

fn unknown(system: &StateSystem, entry: &GivenValue) -> Diagnostic {
    let states = system.states.iter().map(|state| &*state.name);
    let names = states.chain(system.declared_inputs().map(|input| &*input.name));
    let fault = Diagnostic::error(
        Code::LGM0929,
        format!("`{}` has no state and no input `{}`", system.model, entry.name),
    )
    .label(entry.name_span, "this option has no effect");
    match did_you_mean(&entry.name, names) {
        Some(help) => fault.help(help),
        None => fault,
    }
}
