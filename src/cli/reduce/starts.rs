//! Initial values of an augmented or reduced model, taken from the original model.

use crate::Compilation;
use crate::cli::interrupt;
use lgm_algebra::expr::SymbolKind;
use lgm_equations::bond::lower;
use lgm_equations::{Options, StateSystem, formulate_with_time};
use lgm_model::{ElementId, Law, Measure, Model, Output, PortId, Variable};
use lgm_session::run::record::{Patience, first_outputs};
use lgm_source::stack;
use std::time::Duration;

/// Values differ if their difference exceeds this fraction of the larger value.
const DIFFERENT: f64 = 1e-9;

/// Largest relative difference of outputs with equal initial values.
const ALIKE: f64 = 1e-6;

/// Maximum duration of the first step of a run.
const PATIENCE: Duration = Duration::from_secs(10);

/// A storage element with one port or one vector of ports, identified by its measure: `across(wheel.j)`.
struct Storage {
    name: String,
    written: String,
    ports: Vec<PortId>,
    co_energy: Variable,
}

impl Storage {
    fn measures(&self) -> Vec<Measure> {
        let measure = |port: &PortId| match self.co_energy {
            Variable::Effort => Measure::PortEffort(*port),
            Variable::Flow => Measure::PortFlow(*port),
        };
        self.ports.iter().map(measure).collect()
    }
}

/// Returns the linear storage of a model.
fn storage(model: &Model) -> Vec<Storage> {
    let of = |at: usize| {
        let Law::Storage { co_energy, .. } = &model.graph.elements[at].law else {
            return None;
        };
        let id = ElementId(at as u32);
        let ports: Vec<PortId> = model.ports_of(id).collect();
        let first = &model.graph.ports[ports.first()?.index()];
        let is_one = ports
            .iter()
            .all(|port| model.graph.ports[port.index()].name == first.name);
        let name = model.element_name(id);
        let word = match (first.domain, co_energy) {
            (Some(domain), variable) => {
                let is_effort = *variable == Variable::Effort;
                match model.graph.domains[domain.index()].effort_is_across == is_effort {
                    true => "across",
                    false => "through",
                }
            }
            (None, Variable::Effort) => "effort",
            (None, Variable::Flow) => "flow",
        };
        is_one.then(|| Storage {
            written: format!("{word}({name})"),
            name,
            ports,
            co_energy: *co_energy,
        })
    };
    (0..model.graph.elements.len()).filter_map(of).collect()
}

/// Storage that two models share, with its values just after the start of each model.
type Compared = (Storage, Vec<f64>, Vec<f64>);

/// Returns the storage with the same name in both models. None if the values at the start are unknown.
fn compared(exact: &Compilation, other: &Compilation) -> Option<Vec<Compared>> {
    let (before, after) = (exact.model()?, other.model()?);
    let mut found = storage(after);
    let pairs: Vec<(Storage, Storage)> = storage(before)
        .into_iter()
        .filter_map(|one| {
            let at = found.iter().position(|other| other.name == one.name)?;
            Some((one, found.swap_remove(at)))
        })
        .filter(|(one, other)| one.ports.len() == other.ports.len())
        .collect();
    let measures = |of: &dyn Fn(&(Storage, Storage)) -> Vec<Measure>| pairs.iter().flat_map(of).collect::<Vec<_>>();
    let expected = values_at_start(exact, &measures(&|pair| pair.0.measures()))?;
    let begun = values_at_start(other, &measures(&|pair| pair.1.measures()))?;
    if expected.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let mut at = 0;
    let each = pairs.into_iter().map(|(one, _)| {
        let range = at..at + one.ports.len();
        at = range.end;
        (one, expected[range.clone()].to_vec(), begun[range].to_vec())
    });
    Some(each.collect())
}

/// Returns true if values differ.
fn differ(expected: &[f64], begun: &[f64]) -> bool {
    let differs = |(one, other): (&f64, &f64)| (one - other).abs() > DIFFERENT * one.abs().max(other.abs());
    expected.iter().zip(begun).any(differs)
}

/// Returns a statement that sets the initial value of storage.
fn statement(storage: &Storage, values: &[f64]) -> String {
    let values: Vec<String> = values.iter().map(|value| format!("{value:?}")).collect();
    let value = match &values[..] {
        [only] => only.clone(),
        _ => format!("[{}]", values.join(", ")),
    };
    let name = storage.name.replace(['.', '[', ']', ','], "_").replace(' ', "");
    let (name, written) = (name.trim_matches('_'), &storage.written);
    format!("signal begin_{name} = {written}, start = {value};")
}

/// Returns statements that set storage to its initial values in the exact model, if the augmented model starts from other values. Storage
/// that was dependent started with the value that follows from other storage. In the augmented model it starts at 0 unless an initial value
/// is written. None if the values at the start are unknown.
pub(super) fn missing_starts(exact: &Compilation, augmented: &Compilation) -> Option<Vec<String>> {
    let found = compared(exact, augmented)?.into_iter();
    let missing = found.filter(|(_, expected, begun)| differ(expected, begun));
    Some(missing.map(|(one, expected, _)| statement(&one, &expected)).collect())
}

/// Returns statements that set elements of a reduced model to the initial values of the elements that were merged into them, if no values
/// are written. None if the values at the start are unknown. Input steps at the start affect both models equally, so the difference equals
/// the required initial value.
pub(super) fn merged_starts(whole: &Compilation, reduced: &Compilation, elements: &[String]) -> Option<Vec<String>> {
    let found = compared(whole, reduced)?.into_iter();
    let own = found.filter(|(one, expected, begun)| elements.contains(&one.name) && differ(expected, begun));
    let start = |(one, expected, begun): Compared| {
        let difference: Vec<f64> = expected.iter().zip(&begun).map(|(one, other)| one - other).collect();
        statement(&one, &difference)
    };
    Some(own.map(start).collect())
}

/// Returns true if the outputs of two models have equal initial values; None if these are unknown.
pub(super) fn begin_alike(whole: &Compilation, reduced: &Compilation) -> Option<bool> {
    let (before, after) = (whole.system()?, reduced.system()?);
    let first = |system| stack::deep(|| begun(system));
    let (expected, begun) = (first(before)?, first(after)?);
    let largest = expected.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
    let are_same = |(one, other): (&f64, &f64)| {
        one == other || (one - other).abs() <= ALIKE * one.abs().max(other.abs()).max(DIFFERENT * largest)
    };
    Some(expected.len() == begun.len() && expected.iter().zip(&begun).all(are_same))
}

/// Returns measured values just after the start of a model; None if they are unknown.
pub(super) fn values_at_start(compilation: &Compilation, measures: &[Measure]) -> Option<Vec<f64>> {
    let mut model = compilation.model()?.clone();
    model.outputs.clear();
    for (at, measure) in measures.iter().enumerate() {
        let known = model.measures.iter().find(|known| known.1 == *measure);
        let symbol = match known {
            Some(known) => known.0,
            None => {
                let symbol = model.exprs.new_symbol(format!("start {at}"), SymbolKind::Measure);
                model.measures.push((symbol, *measure));
                symbol
            }
        };
        let name = format!("start {at}");
        let value = model.exprs.symbol(symbol);
        model.outputs.push(Output {
            name: name.as_str().into(),
            value,
            written: name.as_str().into(),
            unit: None,
            span: model.heading.span,
        });
    }
    let graph = lower(&model);
    let (found, _) = stack::deep(|| formulate_with_time(&model, &graph, &Options::default()));
    begun(&found?.0)
}

/// Returns the outputs just after the start.
fn begun(system: &StateSystem) -> Option<Vec<f64>> {
    first_outputs(system, &Patience::new(PATIENCE, &interrupt::is_not_asked_for))
}
