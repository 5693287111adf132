//! The matrices of a modal block: the values of its modes, and its shapes at the ports.

use lgm_algebra::expr::{ExprId, Exprs, SymbolId, text, to_f64};
use lgm_equations::{lowest_terms, shortest_decimal};
use lgm_model::{Dissipator, ElementId, Law, Model};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The values of the modes of a block, from its tables.
#[derive(Clone, Debug, PartialEq)]
pub struct ModalMatrices {
    /// Kinds of parts as named by the block, `mass` and `spring`, with the value for each mode; none if the mode has no such part.
    pub parts: Vec<(Arc<str>, Vec<Option<String>>)>,
    /// The ports: `port[1]`.
    pub ports: Vec<String>,
    /// The shape of each mode at each port; one row per mode.
    pub shapes: Vec<Vec<String>>,
    /// True if the modes share the through variables of the ports, so that their parts are in series.
    pub is_dual: bool,
    /// True if the block has a residual: parts that belong to no mode.
    pub has_residual: bool,
}

impl ModalMatrices {
    /// Returns the terminal equations with the modes n, in terms of the values in the table. They relate the ports to the variables of the
    /// modes, and these to the given variables of the ports. `None` if the block has a residual.
    pub fn equations(&self) -> Option<Vec<String>> {
        if self.has_residual {
            return None;
        }
        let has = |kind: &str| self.parts.iter().any(|part| *part.0 == *kind);
        let (storage, restoring, dissipator) = match self.is_dual {
            true => ("inertia", "capacity", "resistor"),
            false => ("mass", "spring", "damper"),
        };
        let mut terms = vec![format!("{storage}[n]*s")];
        if has(dissipator) {
            terms.push(format!("{dissipator}[n]"));
        }
        if has(restoring) {
            terms.push(match has("loss") {
                true => format!("1/(s/{restoring}[n] + loss[n])"),
                false => format!("{restoring}[n]/s"),
            });
        }
        let (found, given, variable) = match self.is_dual {
            true => ("through", "across", "q"),
            false => ("across", "through", "v"),
        };
        let mut lines: Vec<String> = (1..)
            .zip(&self.ports)
            .map(|(at, port)| format!("{found}({port}) = sum of shape[n, {at}]*{variable}[n] over the modes n"))
            .collect();
        let sides = (1..).zip(&self.ports);
        let right: Vec<String> = sides
            .map(|(at, port)| format!("shape[n, {at}]*{given}({port})"))
            .collect();
        lines.push(format!("({})*{variable}[n] = {}", terms.join(" + "), right.join(" + ")));
        let is_whole = self.parts.iter().all(|part| part.1.iter().all(Option::is_some));
        if !is_whole {
            lines.push("modes without a value contribute nothing".to_string());
        }
        Some(lines)
    }
}

/// Returns the matrices of a modal block, in terms of the parameters or as numbers; `None` if `component` is not a modal block.
pub fn modal_matrices(model: &Model, component: &str, numeric: bool) -> Option<ModalMatrices> {
    let ids = (0..model.graph.elements.len() as u32).map(ElementId);
    let is_part = |id: &ElementId| {
        let parent = model.paths[model.graph.elements[id.index()].path.index()].parent;
        parent.is_some_and(|parent| model.path_name(parent) == component)
    };
    let members: Vec<ElementId> = ids.clone().filter(is_part).collect();
    let coupler = ids.into_iter().find(|id| model.element_name(*id) == component)?;
    let has_residual = members.iter().any(|id| model.graph.elements[id.index()].mode.is_none());
    let count = members
        .iter()
        .filter_map(|id| model.graph.elements[id.index()].mode)
        .max()? as usize;
    let mut exprs = model.exprs.clone();
    let formulas = formulas(model, &mut exprs);
    let entries = model.parameters.iter().flat_map(|parameter| &parameter.entries);
    let numbers: FxHashMap<SymbolId, f64> = entries.map(|entry| (entry.symbol, to_f64(&entry.value))).collect();
    let mut written = |value: ExprId| match numeric {
        true => {
            let found = exprs.evaluate_unchecked(&[value], &|symbol| numbers.get(&symbol).copied());
            format!("{:?}", found[0])
        }
        false => shortest(&mut exprs, &formulas, value),
    };
    let mut parts: Vec<(Arc<str>, Vec<Option<String>>)> = Vec::new();
    for id in members {
        let element = &model.graph.elements[id.index()];
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
        parts[at].1[mode as usize - 1] = Some(written(value));
    }
    let Law::Coupler { matrix, .. } = &model.graph.elements[coupler.index()].law else {
        return None;
    };
    // In the dual, the across variables of the modes follow from the ports; otherwise the across variables of the ports follow from the
    // modes.
    let ports = model.ports_of(coupler).filter_map(|port| {
        let port = &model.graph.ports[port.index()];
        let is_port = port.name.as_deref() == Some("port");
        is_port.then(|| format!("port[{}]", port.entry.unwrap_or(1)))
    });
    let ports: Vec<String> = ports.collect();
    let is_dual = matrix.rows == count
        && model.ports_of(coupler).next().is_some_and(|first| {
            let first = &model.graph.ports[first.index()];
            first.name.as_deref() == Some("port")
        });
    let shape = |mode: usize, port: usize| match is_dual {
        true => matrix.get(mode, port),
        false => matrix.get(port, mode),
    };
    let mut row = |mode: usize| {
        let list = (0..ports.len()).map(|port| written(shape(mode, port)));
        list.collect()
    };
    let shapes = (0..count).map(&mut row).collect();
    Some(ModalMatrices {
        parts,
        ports,
        shapes,
        is_dual,
        has_residual,
    })
}

/// Returns the value of a part with one port.
fn value(law: &Law) -> Option<ExprId> {
    let matrix = match law {
        Law::Storage { value, .. } => value,
        Law::Dissipator(Dissipator::Resistance(matrix) | Dissipator::Conductance(matrix)) => matrix,
        _ => return None,
    };
    matrix.entries.first().copied()
}

/// Returns the formulas of the constants in terms of the parameters only; roots of frequency equations are numbers.
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
            // A constant comes after the constants that it depends on.
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
