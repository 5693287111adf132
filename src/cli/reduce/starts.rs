//! Starts of an augmented model: those that the exact model has.

use crate::Compilation;
use crate::cli::simulate::record::first_outputs;
use lgm_algebra::expr::SymbolKind;
use lgm_equations::bond::lower;
use lgm_equations::{Options, formulate_with_time};
use lgm_model::{ElementId, Law, Measure, Model, Output, PortId, Variable};
use lgm_source::stack;

/// Values that differ by this share of the larger one are not the same.
const SAME: f64 = 1e-9;

/// A storage element with one port or one vector of ports, as its measure is written: `across(wheel.j)`.
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

/// The linear storage of a model.
fn storage(model: &Model) -> Vec<Storage> {
    let of = |at: usize| {
        let Law::Storage { co_energy, .. } = &model.elements[at].law else {
            return None;
        };
        let id = ElementId(at as u32);
        let ports: Vec<PortId> = model.ports_of(id).collect();
        let first = &model.ports[ports.first()?.index()];
        let is_one = ports.iter().all(|port| model.ports[port.index()].name == first.name);
        let name = model.element_name(id);
        let word = match (first.domain, co_energy) {
            (Some(domain), variable) => {
                let is_effort = *variable == Variable::Effort;
                match model.domains[domain.index()].effort_is_across == is_effort {
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
    (0..model.elements.len()).filter_map(of).collect()
}

/// Statements that give storage the starts that it has in the exact model, where the augmented one begins elsewhere. Storage that was
/// dependent began where other storage did; now it begins at 0 unless its start is written. None if the values at the start are not known.
pub(super) fn missing_starts(exact: &Compilation, augmented: &Compilation) -> Option<Vec<String>> {
    let (before, after) = (exact.model()?, augmented.model()?);
    let (known, found) = (storage(before), storage(after));
    let pairs: Vec<(&Storage, &Storage)> = known
        .iter()
        .filter_map(|one| Some((one, found.iter().find(|other| other.name == one.name)?)))
        .filter(|(one, other)| one.ports.len() == other.ports.len())
        .collect();
    let measures = |of: &dyn Fn(&(&Storage, &Storage)) -> Vec<Measure>| pairs.iter().flat_map(of).collect::<Vec<_>>();
    let expected = values_at_start(exact, &measures(&|pair| pair.0.measures()))?;
    let begun = values_at_start(augmented, &measures(&|pair| pair.1.measures()))?;
    let mut statements = Vec::new();
    let mut at = 0;
    for (one, _) in &pairs {
        let range = at..at + one.ports.len();
        at = range.end;
        let (expected, begun) = (&expected[range.clone()], &begun[range]);
        let differs = |(one, other): (&f64, &f64)| (one - other).abs() > SAME * one.abs().max(other.abs());
        if expected.iter().any(|value| !value.is_finite()) {
            return None;
        }
        if expected.iter().zip(begun).any(differs) {
            let values: Vec<String> = expected.iter().map(|value| format!("{value:?}")).collect();
            let value = match &values[..] {
                [only] => only.clone(),
                _ => format!("[{}]", values.join(", ")),
            };
            let name = one.name.replace(['.', '[', ']', ','], "_").replace(' ', "");
            statements.push(format!(
                "signal begin_{} = {}, start = {value};",
                name.trim_matches('_'),
                one.written
            ));
        }
    }
    Some(statements)
}

/// Measured values just after the start of a model; none if they are not known.
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
            span: model.span,
        });
    }
    let graph = lower(&model);
    let (found, _) = stack::deep(|| formulate_with_time(&model, &graph, &Options::default()));
    first_outputs(&found?.0)
}
