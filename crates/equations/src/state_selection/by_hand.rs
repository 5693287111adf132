//! Variables that elements set by hand (`--stroke`), and the reasons why some cannot.

use crate::bond::BondGraph;
use crate::causality::Causality;
use crate::causality::elimination::Row;
use crate::causality::relation::determining;
use crate::causality::words::{Words, list};
use lgm_model::{Law, Model, PortId, Variable};
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;

/// Reports strokes that the causality does not have, and the sources and earlier strokes that set their variables. `rows` are the rows of
/// the junction structure, in the field in which causality was decided.
pub(crate) fn contradictions(
    model: &Model,
    graph: &BondGraph,
    causality: &Causality,
    strokes: &[(PortId, Variable)],
    rows: &[Row<u64>],
) -> Vec<Diagnostic> {
    let words = Words { model, graph };
    let holds = |stroke: &(PortId, Variable)| causality.solved[stroke.0.index()] == Some(stroke.1.conjugate());
    let mut found = Vec::new();
    for (at, &(port, set)) in strokes.iter().enumerate().filter(|entry| !holds(entry.1)) {
        let earlier: Vec<_> = strokes[..at].iter().filter(|stroke| holds(stroke)).collect();
        let known = |other: PortId| {
            let element = &model.graph.elements[model.graph.ports[other.index()].element.index()];
            match &element.law {
                Law::Source { given, .. } => Some(*given),
                _ => earlier.iter().find(|stroke| stroke.0 == other).map(|stroke| stroke.1),
            }
        };
        let by = determining(model, causality, rows.to_vec(), (port, set), known);
        let name = words.port(port);
        let what = words.variable(model.graph.ports[port.index()].domain, set);
        let names: Vec<String> = by.iter().map(|port| words.port(*port)).collect();
        let reason = match names.len() {
            0 => format!("the connections force its {what} to be zero"),
            1 => format!("{} sets it already", list(&names)),
            _ => format!("{} set it already", list(&names)),
        };
        let by_hand = by.iter().filter(|port| earlier.iter().any(|stroke| stroke.0 == **port));
        let by_hand: Vec<String> = by_hand.map(|port| words.port(*port)).collect();
        let diagnostic = Diagnostic::error(Code::LGM0927, format!("{name} cannot set its {what}: {reason}")).label(
            words.port_span(port),
            format!("the rest of the model gives it its {what}"),
        );
        found.push(match by_hand.is_empty() {
            true => diagnostic.help(format!(
                "remove this `--stroke`: only the other variable of {name} is free"
            )),
            false => diagnostic.help(format!(
                "remove this `--stroke`, or put it before that of {}",
                list(&by_hand)
            )),
        });
    }
    found
}
