//! Parameters of storage, and the shortest form of merged parameters.

use lgm_algebra::expr::{ExprId, Exprs, SymbolKind, text};
use lgm_equations::lowest_terms;
use lgm_model::{Law, Model, PortId, StorageForm};

/// The maximum length of a text; longer ones are unreadable.
const LONGEST: u64 = 2_000;

/// Returns `M` of a linear storage element with one port, as in `w = M*der(z)`.
pub(super) fn inertance(model: &Model, exprs: &mut Exprs, port: PortId) -> Option<ExprId> {
    let element = &model.graph.elements[model.graph.ports[port.index()].element.index()];
    match &element.law {
        Law::Storage { value, form, .. } if value.rows == 1 => Some(match form {
            StorageForm::Direct => value.get(0, 0),
            StorageForm::Inverse => inverse(exprs, value.get(0, 0)),
        }),
        _ => None,
    }
}

pub(super) fn inverse(exprs: &mut Exprs, id: ExprId) -> ExprId {
    let one = exprs.one();
    exprs.div(one, id)
}

/// Returns `own + gain^2*other`, with the gain unexpanded: the square is clearer than its expansion.
pub(super) fn with_other(exprs: &mut Exprs, own: ExprId, gain: ExprId, other: ExprId) -> ExprId {
    let two = exprs.integer(2);
    let negative = exprs.neg(gain);
    let plain = if shown(exprs, negative).len() < shown(exprs, gain).len() {
        negative
    } else {
        gain
    };
    let square = exprs.power(plain, two);
    let product = exprs.mul(square, other);
    let product = shortest(exprs, product);
    exprs.add(own, product)
}

/// Returns true if a text is a sum, so that it needs parentheses as a factor.
pub(super) fn is_sum(text: &str) -> bool {
    let mut depth = 0usize;
    text.char_indices().any(|(at, letter)| {
        match letter {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && (text[at..].starts_with(" + ") || text[at..].starts_with(" - "))
    })
}

/// Returns a text with a minus sign in front, or without it if one already applies to the whole text.
pub(super) fn negated(text: &str) -> String {
    match text.strip_prefix('-') {
        _ if is_sum(text) => format!("-({text})"),
        Some(rest) => rest.to_string(),
        None => format!("-{text}"),
    }
}

/// Formats a gain times a variable.
pub(super) fn times(gain: &str, variable: &str) -> String {
    match gain {
        "1" => variable.to_string(),
        "-1" => format!("-{variable}"),
        _ if is_sum(gain) => format!("({gain})*{variable}"),
        _ => format!("{gain}*{variable}"),
    }
}

/// Returns the expression in the form shown in equations.
pub(super) fn shortest(exprs: &mut Exprs, id: ExprId) -> ExprId {
    match exprs.is_written_beyond(id, LONGEST) {
        true => id,
        false => lowest_terms(exprs, id),
    }
}

/// Formats an expression; `None` if it is too long to read.
pub(super) fn readable(exprs: &Exprs, id: ExprId) -> Option<String> {
    (!exprs.is_written_beyond(id, LONGEST)).then(|| text(exprs, id))
}

/// Formats an expression; empty if it is too long to read.
pub(super) fn shown(exprs: &Exprs, id: ExprId) -> String {
    readable(exprs, id).unwrap_or_default()
}

/// Returns true if an expression contains only numbers and parameters.
pub(super) fn is_constant(exprs: &Exprs, id: ExprId) -> bool {
    let symbols = exprs.symbols_of(&[id]);
    symbols
        .iter()
        .all(|symbol| exprs.symbol_info(*symbol).kind == SymbolKind::Parameter)
}
