//! Moduli and parameters shown at elements, with the signs of the drawn half arrows.

use super::graph::{Graph, PortEnd};
use crate::content::Content;
use lgm_algebra::expr::{ExprId, text};
use lgm_model::{Dissipator, ElementId, Law, Matrix, StorageForm, Variable};

/// The maximum length of a value in characters; longer values are not written.
const LONGEST: usize = 28;

/// Writes the modulus or the parameter of every element with a single value.
pub(super) fn write(content: &Content<'_>, graph: &mut Graph) {
    for vertex in 0..graph.vertices.len() {
        let element = graph.vertices[vertex].element;
        if let Some(element) = element.filter(|element| !content.is_switched(*element)) {
            let value = value(content, graph, vertex, element);
            graph.vertices[vertex].value = value.filter(|text| text.chars().count() <= LONGEST);
        }
    }
}

/// Returns the ports of an element at its bonds, and whether power enters there.
fn ends(graph: &Graph, vertex: usize) -> Vec<(PortEnd, bool)> {
    let tails = graph.bonds.iter().filter(|bond| bond.tail == vertex);
    let heads = graph.bonds.iter().filter(|bond| bond.head == vertex);
    let out = tails.filter_map(|bond| Some((bond.ports[0]?, false)));
    let mut all: Vec<(PortEnd, bool)> = heads
        .filter_map(|bond| Some((bond.ports[1]?, true)))
        .chain(out)
        .collect();
    all.sort_by_key(|(end, _)| end.port);
    all
}

fn value(content: &Content<'_>, graph: &Graph, vertex: usize, element: ElementId) -> Option<String> {
    let model = content.model;
    let ends = ends(graph, vertex);
    let single = |matrix: &Matrix| (matrix.entries.len() == 1).then(|| matrix.entries[0]);
    match &model.graph.elements[element.index()].law {
        Law::Storage { value, form, .. } => Some(written(content, single(value)?, *form == StorageForm::Inverse, 1)),
        Law::Dissipator(Dissipator::Resistance(matrix)) => Some(written(content, single(matrix)?, false, 1)),
        Law::Dissipator(Dissipator::Conductance(matrix)) => Some(written(content, single(matrix)?, true, 1)),
        Law::Source { given, values } => {
            let ([value], [(end, _)]) = (&values[..], &ends[..]) else {
                return None;
            };
            let sign = match given {
                Variable::Effort => end.effort_sign,
                Variable::Flow => end.flow_sign,
            };
            Some(written(content, *value, false, sign))
        }
        Law::Coupler { input, output, matrix } => {
            let [(x, x_is_in), (y, y_is_in)] = ends[..] else {
                return None;
            };
            if x_is_in == y_is_in {
                return None;
            }
            let (is_inverse, sign) = modulus(*input, *output, x, y, x_is_in);
            Some(written(content, single(matrix)?, is_inverse, sign))
        }
        Law::Dissipator(Dissipator::Implicit(..)) | Law::Nonlinear(_) => None,
    }
}

/// Returns a coupler obeys `y = M x`, and its conjugates `conj(x) = -M conj(y)`, absorbing. Returns true if the modulus of Karnopp's
/// `effort_in = m effort_out` or `effort_in = r flow_out` is 1/M instead of M, and its sign.
fn modulus(input: Variable, output: Variable, x: PortEnd, y: PortEnd, x_is_in: bool) -> (bool, i8) {
    let efforts = x.effort_sign * y.effort_sign;
    match (input, output, x_is_in) {
        (Variable::Effort, Variable::Effort, is_inverse) => (is_inverse, efforts),
        (Variable::Flow, Variable::Flow, x_is_in) => (!x_is_in, -efforts),
        (Variable::Flow, Variable::Effort, false) => (false, x.flow_sign * y.effort_sign),
        (Variable::Flow, Variable::Effort, true) => (false, -y.flow_sign * x.effort_sign),
        (Variable::Effort, Variable::Flow, true) => (true, y.flow_sign * x.effort_sign),
        (Variable::Effort, Variable::Flow, false) => (true, -x.flow_sign * y.effort_sign),
    }
}

/// Formats an expression or its reciprocal, with its sign.
fn written(content: &Content<'_>, value: ExprId, is_inverse: bool, sign: i8) -> String {
    let own = text(&content.model.exprs, value);
    let is_plain = own
        .chars()
        .all(|letter| letter.is_alphanumeric() || "_.[]".contains(letter));
    let text = match (is_inverse, is_plain) {
        (true, true) if own == "1" => own,
        (true, true) => format!("1/{own}"),
        (true, false) => match own.strip_prefix("1/") {
            Some(below) if below.chars().all(|letter| letter.is_alphanumeric() || letter == '_') => below.to_string(),
            _ => format!("1/({own})"),
        },
        (false, _) => own,
    };
    match (sign < 0, text.strip_prefix('-')) {
        (false, _) => text,
        (true, Some(rest)) if !rest.contains([' ', '+']) => rest.to_string(),
        (true, _) if text.contains([' ', '+', '-']) => format!("-({text})"),
        (true, _) => format!("-{text}"),
    }
}
