//! Line breaks in LaTeX equations that are too long for one line.

use lgm_algebra::expr::{ExprId, Exprs, Node, print};

/// The approximate number of characters that fit on a line.
pub(super) const LINE: usize = 78;

/// Returns the rows of an alignment for one equation; a new row starts when the next piece no longer fits.
pub(super) fn equation(left: &str, pieces: &[String]) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = format!("{left} &=");
    let mut length = visible_length(left) + 2;
    for (at, piece) in pieces.iter().enumerate() {
        let more = visible_length(piece) + 2;
        if at > 0 && length + more > LINE {
            lines.push(std::mem::replace(&mut line, "&\\quad".to_string()));
            length = 4;
        }
        line.push(' ');
        line.push_str(piece);
        length += more;
    }
    lines.push(line);
    lines
}

/// Splits an expression into pieces that may be on different lines: the terms of a sum, and those of a sum inside a term
/// that is itself too long. Every piece except the first begins with its sign.
pub(super) fn breakable_pieces(exprs: &mut Exprs, id: ExprId) -> Vec<String> {
    let terms: Vec<ExprId> = match exprs.node(id) {
        Node::Sum(terms) => terms.to_vec(),
        _ => vec![id],
    };
    let mut pieces = Vec::new();
    for (at, term) in terms.into_iter().enumerate() {
        let mut inner = pieces_of_term(exprs, term);
        if at > 0 {
            inner[0] = signed(&inner[0]);
        }
        pieces.append(&mut inner);
    }
    pieces
}

fn signed(text: &str) -> String {
    match text.strip_prefix('-') {
        Some(rest) => format!("- {}", rest.trim_start()),
        None => format!("+ {text}"),
    }
}

/// Splits a long fraction of a sum into the fraction of 1, times the bracketed sum, whose terms may be on different lines.
fn pieces_of_term(exprs: &mut Exprs, term: ExprId) -> Vec<String> {
    let set = print::latex(exprs, term);
    let Node::Product(factors) = exprs.node(term) else {
        return vec![set];
    };
    let factors = factors.to_vec();
    // The printer may factor a minus sign out of a sum; break the longest sum.
    let sum = factors
        .iter()
        .enumerate()
        .filter(|(_, factor)| matches!(exprs.node(**factor), Node::Sum(_)))
        .max_by_key(|(_, factor)| visible_length(&print::latex(exprs, **factor)));
    let Some((place, sum)) = sum
        .map(|(place, sum)| (place, *sum))
        .filter(|_| visible_length(&set) > LINE)
    else {
        return vec![set];
    };
    let others = factors.iter().enumerate().filter(|(at, _)| *at != place);
    let others: Vec<ExprId> = others.map(|(_, factor)| *factor).collect();
    let rest = exprs.product(others);
    let minus_one = exprs.integer(-1);
    let front = print::latex(exprs, rest);
    let front = match exprs.node(rest) {
        _ if exprs.is_one(rest) => String::new(),
        _ if rest == minus_one => "-".to_string(),
        Node::Sum(_) | Node::If(..) => format!("\\left({front}\\right)"),
        _ => front,
    };
    let mut pieces = breakable_pieces(exprs, sum);
    let last = pieces.len() - 1;
    pieces[0] = format!("{front} \\Bigl( {}", pieces[0]).trim_start().to_string();
    pieces[last].push_str(" \\Bigr)");
    pieces
}

/// Estimates the width of typeset text in characters. A command counts as one letter and grouping as none. The numerator and denominator
/// of a fraction both count in full, which overestimates the width.
pub(super) fn visible_length(tex: &str) -> usize {
    let mut length = 0;
    let mut letters = tex.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => {
                let mut name = String::new();
                while let Some(next) = letters.next_if(char::is_ascii_alphabetic) {
                    name.push(next);
                }
                let silent = [
                    "frac",
                    "mathrm",
                    "mathit",
                    "left",
                    "right",
                    "operatorname",
                    "text",
                    "dot",
                ];
                if !silent.contains(&name.as_str()) {
                    length += 1;
                }
                if name.is_empty() {
                    letters.next();
                }
            }
            '{' | '}' | '^' | '_' | ' ' => {}
            _ => length += 1,
        }
    }
    length
}

#[cfg(test)]
mod tests {
    use super::*;
    use lgm_algebra::expr::SymbolKind;

    fn symbol(exprs: &mut Exprs, name: &str) -> ExprId {
        let symbol = exprs.new_symbol(name, SymbolKind::Parameter);
        exprs.symbol(symbol)
    }

    #[test]
    fn a_long_fraction_breaks_inside_its_sum_and_keeps_its_other_factors() {
        let mut exprs = Exprs::default();
        let long: Vec<ExprId> = (0..30).map(|k| symbol(&mut exprs, &format!("long_name{k}"))).collect();
        let (a, b) = (symbol(&mut exprs, "a"), symbol(&mut exprs, "b"));
        let sum = exprs.sum(long);
        let short = exprs.add(a, b);
        let minus_one = exprs.integer(-1);
        let product = exprs.product([minus_one, sum, short]);
        let lines = equation("x", &breakable_pieces(&mut exprs, product));
        assert!(lines.len() > 2);
        let text = lines.join(" ");
        assert!(text.contains("\\Bigl(") && text.ends_with("\\Bigr)"), "{text}");
        assert!(text.contains("\\left(a + b\\right)"), "{text}");
        assert!(text.starts_with("x &= -"), "{text}");
        assert!(lines.iter().all(|line| visible_length(line) <= LINE + 8));
        // A sum that is the only other factor needs separate brackets.
        let product = exprs.product([sum, short]);
        let pieces = breakable_pieces(&mut exprs, product);
        assert!(pieces[0].starts_with("\\left(a + b\\right) \\Bigl("), "{}", pieces[0]);
    }
}
