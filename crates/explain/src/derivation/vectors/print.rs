//! Equations between vectors as text, LaTeX and Typst.

use super::super::report::Sides;
use super::super::terms::is_negative;
use super::algebra::{Factor, Product, Sum, by_vector};
use super::lift::{Lift, stripped};
use lgm_algebra::expr::{ExprId, Exprs, Node, SymbolId, SymbolKind, print};

/// Matrices with more entries than this are described by their size.
const MOST_ENTRIES: usize = 100;

struct Notation {
    expression: fn(&Exprs, ExprId) -> String,
    matrix: fn(&str) -> String,
    transposed: fn(&str) -> String,
    inverse: fn(&str) -> String,
    rate: fn(&str) -> String,
    over: fn(&str, &str) -> String,
    brackets: fn(&str) -> String,
    times: &'static str,
    list: fn(&[String]) -> String,
    rows: fn(&[Vec<String>]) -> String,
    diagonal: fn(&[String]) -> String,
}

const TEXT: Notation = Notation {
    expression: print::text,
    matrix: |name| format!("[{name}]"),
    transposed: |of| format!("transpose({of})"),
    inverse: |of| format!("{of}^-1"),
    rate: |of| format!("der({of})"),
    over: |above, below| match below.contains(['*', '/', ' ']) && !below.starts_with('(') {
        true => format!("{above}/({below})"),
        false => format!("{above}/{below}"),
    },
    brackets: |inside| format!("({inside})"),
    times: "*",
    list: |entries| format!("[{}]", entries.join(", ")),
    rows: |rows| {
        let rows: Vec<String> = rows.iter().map(|row| format!("[{}]", row.join(", "))).collect();
        format!("[{}]", rows.join(", "))
    },
    diagonal: |entries| format!("diag([{}])", entries.join(", ")),
};

const LATEX: Notation = Notation {
    expression: print::latex,
    matrix: |name| format!("\\left[{name}\\right]"),
    transposed: |of| format!("{of}^{{T}}"),
    inverse: |of| format!("{of}^{{-1}}"),
    rate: |of| format!("\\frac{{d}}{{dt}}{of}"),
    over: |above, below| format!("\\frac{{1}}{{{below}}} \\, {above}"),
    brackets: |inside| format!("\\left({inside}\\right)"),
    times: " \\, ",
    list: |entries| format!("\\begin{{bmatrix}} {} \\end{{bmatrix}}", entries.join(" \\\\ ")),
    rows: |rows| {
        let rows: Vec<String> = rows.iter().map(|row| row.join(" & ")).collect();
        format!("\\begin{{bmatrix}} {} \\end{{bmatrix}}", rows.join(" \\\\ "))
    },
    diagonal: |entries| format!("\\operatorname{{diag}}\\left({}\\right)", entries.join(", ")),
};

const TYPST: Notation = Notation {
    expression: print::typst,
    matrix: |name| format!("[{name}]"),
    transposed: |of| format!("{of}^T"),
    inverse: |of| format!("{of}^(-1)"),
    rate: |of| format!("(d)/(d t) {of}"),
    over: |above, below| format!("1/({below}) {above}"),
    brackets: |inside| format!("({inside})"),
    times: " ",
    list: |entries| format!("vec(delim: \"[\", {})", entries.join(", ")),
    rows: |rows| {
        let rows: Vec<String> = rows.iter().map(|row| row.join(", ")).collect();
        format!("mat(delim: \"[\", {})", rows.join("; "))
    },
    diagonal: |entries| format!("op(\"diag\")({})", entries.join(", ")),
};

/// Returns the same equation in all notations.
fn in_all(written: impl Fn(&Notation) -> String) -> Sides {
    Sides::Written {
        text: written(&TEXT),
        latex: written(&LATEX),
        typst: written(&TYPST),
    }
}

/// Writes equations of a model.
pub(super) struct Writing<'w, 'a> {
    lift: &'w mut Lift<'a>,
}

impl<'w, 'a> Writing<'w, 'a> {
    pub(super) fn new(lift: &'w mut Lift<'a>) -> Writing<'w, 'a> {
        Writing { lift }
    }

    /// Writes an equation; a solved one has a single rate on the left and the inverse of its factor on the right.
    pub(super) fn equation(&mut self, left: &Sum, right: &Sum, is_solved: bool) -> Sides {
        for term in left.iter().chain(right) {
            self.lift.shown(term.vector);
        }
        let of_left = by_vector(left);
        in_all(|notation| match (&of_left[..], is_solved) {
            ([(vector, products)], true) => {
                let own = self.vector(notation, *vector);
                format!("{own} = {}", self.solved(notation, products, right))
            }
            _ => format!("{} = {}", self.side(notation, left), self.side(notation, right)),
        })
    }

    /// Writes the right-hand side divided by the factor of the left-hand side.
    fn solved(&self, notation: &Notation, products: &[Product], right: &Sum) -> String {
        let text = self.side(notation, right);
        let is_one = matches!(products, [only] if only.factors.is_empty() && self.lift.table.exprs.is_one(only.scalar));
        let is_single = by_vector(right).len() == 1 && !text.starts_with('-');
        let inside = if is_single {
            text.clone()
        } else {
            (notation.brackets)(&text)
        };
        let (negative, factor) = self.coefficient(notation, products);
        match products.iter().all(|product| product.factors.is_empty()) {
            _ if is_one || text == "0" => text,
            true => {
                let sign = if negative { "-" } else { "" };
                format!("{sign}{}", (notation.over)(&inside, &factor))
            }
            false => {
                let is_single =
                    matches!(products, [only] if only.factors.len() == 1 && self.lift.table.exprs.is_one(only.scalar));
                let is_bracketed = is_single || products.len() > 1;
                let factor = if is_bracketed {
                    factor
                } else {
                    (notation.brackets)(&factor)
                };
                let sign = if negative { "-" } else { "" };
                format!("{sign}{}{}{inside}", (notation.inverse)(&factor), notation.times)
            }
        }
    }

    /// Writes a sum, with its positive terms first.
    fn side(&self, notation: &Notation, sum: &Sum) -> String {
        let mut terms: Vec<(bool, String)> = Vec::new();
        for (vector, products) in by_vector(sum) {
            let (negative, factor) = self.coefficient(notation, &products);
            let own = self.vector(notation, vector);
            terms.push((
                negative,
                if factor.is_empty() {
                    own
                } else {
                    format!("{factor}{}{own}", notation.times)
                },
            ));
        }
        added(terms)
    }

    /// Writes the factor of a vector without its sign; a factor 1 is empty.
    fn coefficient(&self, notation: &Notation, products: &[Product]) -> (bool, String) {
        let exprs = &self.lift.table.exprs;
        let mut parts: Vec<(bool, String)> = products.iter().map(|product| self.product(notation, product)).collect();
        let negative = parts.iter().all(|part| part.0);
        if let [(_, only)] = &parts[..] {
            let is_sum = matches!(exprs.node(products[0].scalar), Node::Sum(_)) && products[0].factors.is_empty();
            return (
                negative,
                if is_sum {
                    (notation.brackets)(only)
                } else {
                    only.clone()
                },
            );
        }
        for part in &mut parts {
            part.0 ^= negative;
            if part.1.is_empty() {
                part.1 = "1".to_string();
            }
        }
        (negative, (notation.brackets)(&added(parts)))
    }

    /// Writes a product without its sign.
    fn product(&self, notation: &Notation, product: &Product) -> (bool, String) {
        let exprs = &self.lift.table.exprs;
        let text = (notation.expression)(exprs, product.scalar);
        let negative = is_negative(exprs, product.scalar);
        let text = match negative {
            true => text.trim_start_matches('-').trim_start().to_string(),
            false => text,
        };
        let mut parts: Vec<String> = Vec::new();
        if text != "1" {
            let is_sum = matches!(exprs.node(product.scalar), Node::Sum(_)) && !product.factors.is_empty();
            parts.push(if is_sum { (notation.brackets)(&text) } else { text });
        }
        parts.extend(product.factors.iter().map(|factor| self.factor(notation, *factor)));
        (negative, parts.join(notation.times))
    }

    fn factor(&self, notation: &Notation, factor: Factor) -> String {
        matrix(self.lift, notation, factor)
    }

    fn vector(&self, notation: &Notation, vector: SymbolId) -> String {
        let shown = self.lift.names.get(&vector);
        shown.map_or(String::new(), |shown| {
            (notation.expression)(&self.lift.table.exprs, *shown)
        })
    }

    /// Writes the values of a source.
    pub(super) fn values(&mut self, vector: SymbolId, values: &[ExprId]) -> Sides {
        self.lift.shown(vector);
        in_all(|notation| {
            let list: Vec<String> = values
                .iter()
                .map(|value| (notation.expression)(&self.lift.table.exprs, *value))
                .collect();
            let right = match &list[..] {
                [only] => only.clone(),
                _ => (notation.list)(&list),
            };
            format!("{} = {right}", self.vector(notation, vector))
        })
    }
}

fn added(mut terms: Vec<(bool, String)>) -> String {
    terms.sort_by_key(|term| term.0);
    let mut out = String::new();
    for (negative, text) in terms {
        out.push_str(match (out.is_empty(), negative) {
            (true, false) => "",
            (true, true) => "-",
            (false, false) => " + ",
            (false, true) => " - ",
        });
        out.push_str(&text);
    }
    if out.is_empty() { "0".to_string() } else { out }
}

fn matrix(lift: &Lift<'_>, notation: &Notation, factor: Factor) -> String {
    let name = (notation.expression)(&lift.table.exprs, lift.matrix_names[factor.matrix]);
    let mut text = (notation.matrix)(&name);
    if factor.rate {
        text = (notation.rate)(&text);
    }
    if factor.transposed {
        text = (notation.transposed)(&text);
    }
    if factor.inverse {
        text = (notation.inverse)(&text);
    }
    text
}

/// Writes the entries of a matrix or of its rate.
pub(super) fn definition(lift: &Lift<'_>, at: usize, rate: bool) -> Sides {
    let factor = Factor {
        matrix: at,
        transposed: false,
        inverse: false,
        rate,
    };
    in_all(|notation| {
        let (named, exprs) = (&lift.matrices[at], &lift.table.exprs);
        let entries = if rate { &named.rates } else { &named.entries };
        let is_diagonal = named.rows == named.columns
            && entries
                .iter()
                .enumerate()
                .all(|(place, entry)| place % (named.columns + 1) == 0 || exprs.is_zero(*entry));
        let text = |entry: &ExprId| (notation.expression)(exprs, *entry);
        let right = match is_diagonal {
            _ if !is_diagonal && entries.len() > MOST_ENTRIES => {
                format!("{} by {}, not written out", named.rows, named.columns)
            }
            true => {
                let diagonal: Vec<String> = entries.iter().step_by(named.columns + 1).map(text).collect();
                (notation.diagonal)(&diagonal)
            }
            false => {
                let rows: Vec<Vec<String>> = entries
                    .chunks(named.columns.max(1))
                    .map(|row| row.iter().map(text).collect())
                    .collect();
                (notation.rows)(&rows)
            }
        };
        format!("{} = {right}", matrix(lift, notation, factor))
    })
}

impl Lift<'_> {
    /// Creates the printed name of a vector.
    pub(super) fn shown(&mut self, vector: SymbolId) {
        if !self.names.contains_key(&vector) {
            let name = self.vector_name(vector);
            let symbol = self.table.exprs.new_symbol(name, SymbolKind::Measure);
            let id = self.table.exprs.symbol(symbol);
            self.names.insert(vector, id);
        }
    }

    /// Returns the name of a vector.
    pub(super) fn vector_name(&self, vector: SymbolId) -> String {
        let name = &*self.table.exprs.symbol_info(vector).name;
        if self.entries.get(&vector).is_none_or(|entries| entries.len() == 1) {
            return name.to_string();
        }
        match name.strip_prefix("der(").and_then(|rest| rest.strip_suffix(')')) {
            Some(inside) => format!("der({})", stripped(inside)),
            None => stripped(name).to_string(),
        }
    }
}
