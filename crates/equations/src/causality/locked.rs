//! Couplers that lock each other, such as a ring of gears with incompatible ratios: the motion is zero for any input.

use super::Request;
use super::context::ConflictContext;
use super::decide::assign;
use super::elimination::Elimination;
use super::relation::co_energy;
use super::structure::{Equation, column_port, port_column};
use super::words::{Words, inner_facts, list};
use crate::bond::BondGraph;
use crate::parameter_values::sampled;
use lgm_algebra::expr::SymbolKind;
use lgm_algebra::{FromExpression, PrimeField};
use lgm_model::{ElementId, Law, Model, PortId, Variable};
use lgm_source::codes::Code;
use lgm_source::diagnostic::{Diagnostic, has_errors};
use rustc_hash::FxHashSet;
use std::convert::Infallible;

/// Warns about each across variable of storage that only couplers hold at zero for the given numbers, and names the couplers.
pub fn locked(model: &Model, graph: &BondGraph) -> Vec<Diagnostic> {
    if !model
        .graph
        .elements
        .iter()
        .any(|element| matches!(element.law, Law::Coupler { .. }))
    {
        return Vec::new();
    }
    let mut sampled = sampled(model, 1);
    let mut modulus = |id| sampled.from_expression(&model.exprs, id).unwrap_or(0);
    let (causality, faults) = assign(model, graph, &Request::default(), &mut modulus);
    if has_errors(&faults) || causality.dependent.is_empty() {
        return Vec::new();
    }
    let (mut field, structure) = (PrimeField, &causality.structure);
    let rows = structure.rows_in(&mut field, |_, id| Ok::<u64, Infallible>(modulus(id)));
    let rows = rows.unwrap_or_else(|never| match never {});
    let mut elimination = Elimination::new(rows.clone(), structure.columns);
    elimination.pivot_all(&mut field, structure.inner.iter().copied());
    let inner_steps = elimination.pivots.len();
    // The remaining rows relate the variables that sources give and the co-energies of storage.
    let unknown = (0..model.graph.ports.len() as u32).map(PortId).flat_map(|port| {
        let known = match &model.graph.elements[model.graph.ports[port.index()].element.index()].law {
            Law::Source { given, .. } => Some(*given),
            _ => co_energy(model, port),
        };
        let variables = [Variable::Effort, Variable::Flow].into_iter();
        let unknown = variables.filter(move |variable| Some(*variable) != known);
        unknown.map(move |variable| port_column(port, variable))
    });
    elimination.pivot_all(&mut field, unknown.collect::<Vec<u32>>());
    let context = ConflictContext {
        model,
        graph,
        structure,
        rows: &rows,
        words: Words { model, graph },
        inner: inner_facts(model, structure),
    };
    let mut rings: Vec<(Vec<ElementId>, PortId, u32)> = Vec::new();
    for (port, column) in zeros(model, &causality.dependent, &mut elimination) {
        let solution = context.solution(&elimination, inner_steps, &vec![(column, 1)]);
        let coupler = |row: &u32| match structure.equations[*row as usize] {
            Equation::Coupler(port, _) => Some(model.graph.ports[port.index()].element),
            _ => None,
        };
        let mut ring: Vec<ElementId> = context.proof(&solution).iter().filter_map(coupler).collect();
        ring.sort_unstable();
        ring.dedup();
        let is_across = context.words.is_across(port, column_port(column).1) == Some(true);
        if is_across && !ring.is_empty() && ring.iter().all(|id| is_fixed(model, *id)) {
            rings.push((ring, port, column));
        }
    }
    // A part connected to a ring is locked with it, and naming the ring is enough.
    rings.sort_by_key(|entry| entry.0.len());
    let mut shown: Vec<(Vec<ElementId>, PortId, u32)> = Vec::new();
    for entry in rings {
        let holds = |known: &Vec<ElementId>| known.iter().all(|id| entry.0.contains(id));
        if !shown.iter().any(|known| holds(&known.0)) {
            shown.push(entry);
        }
    }
    let warnings = shown.iter();
    warnings
        .map(|(ring, port, column)| warning(&context, ring, *port, *column))
        .collect()
}

/// Returns the co-energies of dependent storage that the remaining relations force to zero.
fn zeros(model: &Model, dependent: &[PortId], elimination: &mut Elimination<u64>) -> Vec<(PortId, u32)> {
    let mut pivots = Vec::new();
    for port in dependent {
        let column = co_energy(model, *port).map(|variable| port_column(*port, variable));
        if let Some(column) = column
            && let Some(row) = elimination.pivot(&mut PrimeField, column)
        {
            pivots.push((*port, column, row));
        }
    }
    // A row contains the columns of later pivots, and of variables with values of their own.
    let mut zero: FxHashSet<u32> = FxHashSet::default();
    let mut found = Vec::new();
    for (port, column, row) in pivots.into_iter().rev() {
        let entries = elimination.rows[row as usize].iter();
        if entries
            .map(|entry| entry.0)
            .all(|other| other == column || zero.contains(&other))
        {
            zero.insert(column);
            found.push((port, column));
        }
    }
    found.reverse();
    found
}

/// Returns true if the moduli of a coupler depend only on parameters. Others may be compatible along the motion, though not in general.
fn is_fixed(model: &Model, id: ElementId) -> bool {
    let Law::Coupler { matrix, .. } = &model.graph.elements[id.index()].law else {
        return false;
    };
    let symbols = model.exprs.symbols_of(&matrix.entries);
    let mut kinds = symbols.iter().map(|symbol| model.exprs.symbol_info(*symbol).kind);
    kinds.all(|kind| kind == SymbolKind::Parameter)
}

fn warning(context: &ConflictContext<'_>, ring: &[ElementId], port: PortId, column: u32) -> Diagnostic {
    let model = context.model;
    let names: Vec<String> = ring.iter().map(|id| format!("`{}`", model.element_name(*id))).collect();
    let (subject, verb) = match names.len() {
        1 => (names[0].clone(), "locks itself"),
        _ => (list(&names), "lock each other"),
    };
    let message = format!("{subject} {verb}: {} is always zero", context.name(column));
    let mut diagnostic = Diagnostic::warning(Code::LGM0323, message);
    for id in ring.iter().take(4) {
        diagnostic = diagnostic.label(model.element_span(*id), "a coupler in the ring");
    }
    diagnostic
        .label(context.words.port_span(port), "this storage cannot move")
        .help(
            "the ratios around a ring must multiply to 1: check for a wrong or inverted ratio, open the ring, or \
            insert a compliance",
        )
}
