//! The matrices of a modal block: the values of its modes, and its shapes at the ports.

use lgm_algebra::expr::{ExprId, Exprs, SymbolId, text, to_f64};
use lgm_equations::{lowest_terms, shortest_decimal};
use lgm_model::{Dissipator, ElementId, Law, Model};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The values of the modes of a block, as its tables have them.
#[derive(Clone, Debug, PartialEq)]
pub struct ModalMatrices {
    /// Kinds of parts in the words of the block, `mass` and `spring`, with the value for each mode; none where the mode has no such
    /// part.
    pub parts: Vec<(Arc<str>, Vec<Option<String>>)>,
    /// The ports: `port[1]`.
    pub ports: Vec<String>,
    /// The shape of each mode at each port; a row a mode.
    pub shapes: Vec<Vec<String>>,
}

/// The matrices of a modal block; none if the name is that of something else.
pub fn modal_matrices(model: &Model, component: &str) -> Option<ModalMatrices> {
    let ids = (0..model.elements.len() as u32).map(ElementId);
    let is_part = |id: &ElementId| {
        let parent = model.paths[model.elements[id.index()].path.index()].parent;
        parent.is_some_and(|parent| model.path_name(parent) == component)
    };
    let members: Vec<ElementId> = ids.clone().filter(is_part).collect();
    let coupler = ids.into_iter().find(|id| model.element_name(*id) == component)?;
    let count = members.iter().filter_map(|id| model.elements[id.index()].mode).max()? as usize;
    let mut exprs = model.exprs.clone();
    let formulas = formulas(model, &mut exprs);
    let mut parts: Vec<(Arc<str>, Vec<Option<String>>)> = Vec::new();
    for id in members {
        let element = &model.elements[id.index()];
        let (Some(mode), Some(value)) = (element.mode, value(&element.law)) else {
            continue;
        };
        let at = match parts.iter().position(|part| part.0 == element.kind) {
            Some(at) => at,
            None => {
                parts.push((element.kind.clone(), vec![None; count]));
                parts.len() - 1
            }
        };
        parts[at].1[mode as usize - 1] = Some(shortest(&mut exprs, &formulas, value));
    }
    let Law::Coupler { matrix, .. } = &model.elements[coupler.index()].law else {
        return None;
    };
    // Across variables of the modes follow from those of the ports in the dual, and the other way round else.
    let ports = model.ports_of(coupler).filter_map(|port| {
        let port = &model.ports[port.index()];
        let is_port = port.name.as_deref() == Some("port");
        is_port.then(|| format!("port[{}]", port.entry.unwrap_or(1)))
    });
    let ports: Vec<String> = ports.collect();
    let is_dual = matrix.rows == count
        && model.ports_of(coupler).next().is_some_and(|first| {
            let first = &model.ports[first.index()];
            first.name.as_deref() == Some("port")
        });
    let shape = |mode: usize, port: usize| match is_dual {
        true => matrix.get(mode, port),
        false => matrix.get(port, mode),
    };
    let mut row = |mode: usize| {
        let list = (0..ports.len()).map(|port| shortest(&mut exprs, &formulas, shape(mode, port)));
        list.collect()
    };
    let shapes = (0..count).map(&mut row).collect();
    Some(ModalMatrices { parts, ports, shapes })
}

/// The value of a part with one port.
fn value(law: &Law) -> Option<ExprId> {
    let matrix = match law {
        Law::Storage { value, .. } => value,
        Law::Dissipator(Dissipator::Resistance(matrix) | Dissipator::Conductance(matrix)) => matrix,
        _ => return None,
    };
    matrix.entries.first().copied()
}

/// The formulas of the constants over the parameters alone; roots of frequency equations are numbers.
fn formulas(model: &Model, exprs: &mut Exprs) -> FxHashMap<SymbolId, ExprId> {
    let mut known: FxHashMap<SymbolId, ExprId> = FxHashMap::default();
    let constants = model.parameters.iter().filter(|parameter| parameter.is_constant);
    for entry in constants.flat_map(|parameter| &parameter.entries) {
        let Some(formula) = entry.derived else { continue };
        let formula = match exprs.as_number(formula) {
            Some(number) => {
                let decimal = shortest_decimal(to_f64(number));
                exprs.number(decimal)
            }
            // A constant stands after those that it follows from.
            None => exprs.substitute(&[formula], |symbol| known.get(&symbol).copied())[0],
        };
        known.insert(entry.symbol, formula);
    }
    known
}

fn shortest(exprs: &mut Exprs, formulas: &FxHashMap<SymbolId, ExprId>, value: ExprId) -> String {
    let value = exprs.substitute(&[value], |symbol| formulas.get(&symbol).copied())[0];
    let value = lowest_terms(exprs, value);
    text(exprs, value)
}
