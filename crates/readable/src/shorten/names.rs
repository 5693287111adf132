//! Names of expressions, which make results independent of the order of declarations.

use lgm_algebra::expr::{ExprId, Exprs, Node, text};

/// Returns a name of an expression that does not depend on the order of its terms. Numbers in names are padded to equal
/// length, so that elements of arrays are in the order of their indices.
pub(super) fn name_of(exprs: &Exprs, id: ExprId) -> String {
    let node = exprs.node(id);
    let mut parts: Vec<String> = node.children().map(|child| name_of(exprs, child)).collect();
    let sign = match node {
        Node::Sum(_) => "+",
        Node::Product(_) => "*",
        Node::Symbol(symbol) => return in_order(&exprs.symbol_info(*symbol).name),
        _ if parts.is_empty() => return text(exprs, id),
        Node::Call(function, _) => return format!("{function:?}({})", parts.join(", ")),
        _ => return format!("({})", parts.join(", ")),
    };
    parts.sort_unstable();
    format!("({})", parts.join(sign))
}

/// The number of digits of numbers in names.
const DIGITS: usize = 12;

/// Returns a name with zero-padded numbers.
fn in_order(name: &str) -> String {
    let mut written = String::with_capacity(name.len() + DIGITS);
    let mut rest = name;
    while let Some(at) = rest.find(|letter: char| letter.is_ascii_digit()) {
        let (before, number) = rest.split_at(at);
        let end = number.find(|letter: char| !letter.is_ascii_digit());
        let (digits, behind) = number.split_at(end.unwrap_or(number.len()));
        written.push_str(before);
        (digits.len()..DIGITS).for_each(|_| written.push('0'));
        written.push_str(digits);
        rest = behind;
    }
    written.push_str(rest);
    written
}
