//! The equations in block form, as text and as LaTeX: vectors of states, and the matrices that multiply them in brackets.

use crate::text::tables::{TextOptions, section, whole_matrix};
use crate::{MatrixOptions, double, expression, significant};
use lgm_algebra::expr::{ExprId, Node, print};
use lgm_model::blocks::{BlockEquation, BlockFactor, BlockForm, BlockMatrix, BlockProduct, BlockTerm, BlockVector};
use lgm_model::system::StateSystem;
use std::fmt::Write;

/// Matrices with more entries than this are described by their shape and their first and last entries.
const MOST_ENTRIES: usize = 36;
/// Characters that separate the parts of a text that is more than a single name or number.
const OPERATORS: [char; 5] = ['*', '/', '+', '-', ' '];
/// Entries with more nodes than this are omitted.
const LONGEST_ENTRY: u64 = 150;
/// The number of first entries that are shown of a large matrix.
const FIRST_ENTRIES: usize = 3;

/// The layout of equations.
pub(crate) trait Notation {
    /// Prints the name of a vector or of a single variable.
    fn vector(&self, vector: &BlockVector) -> String;
    /// Prints a time derivative.
    fn rate(&self, of: &str) -> String;
    /// Prints a matrix in brackets, optionally transposed.
    fn matrix(&self, name: &str, transposed: bool) -> String;
    /// Prints the product of an inverse and another factor.
    fn inverse(&self, of: &str, times: &str) -> String;
    /// Prints a fraction.
    fn over(&self, above: &str, below: &str) -> String;
    /// Prints a number or an expression of the parameters.
    fn scalar(&self, id: ExprId) -> String;
    /// Prints a text in parentheses.
    fn brackets(&self, inside: &str) -> String;
    /// Returns the separator of factors.
    fn times(&self) -> &'static str;
}

/// Prints both sides of an equation.
pub(crate) fn sides(
    system: &StateSystem,
    form: &BlockForm,
    equation: &BlockEquation,
    notation: &dyn Notation,
) -> (String, String) {
    let right = sum(system, form, &equation.right, notation);
    let right = if right.is_empty() { "0".to_string() } else { right };
    // A single term may follow an inverse without parentheses.
    let factor_of = |text: &str| match equation.right.len() {
        0 | 1 if !text.starts_with('-') => text.to_string(),
        _ => notation.brackets(text),
    };
    match &equation.left[..] {
        [only] if !only.negative => {
            let left = named(form, only, notation);
            let right = match &only.factor {
                BlockFactor::One => right,
                BlockFactor::Scalar(id) => notation.over(&factor_of(&right), &factor(system, *id, notation).1),
                BlockFactor::Matrix(at, transposed) => {
                    let matrix = notation.matrix(&form.matrices[*at].name, *transposed);
                    notation.inverse(&matrix, &factor_of(&right))
                }
                BlockFactor::Sum(products) => {
                    let factor = products_of(system, form, products, notation);
                    let is_bracketed = products.len() > 1;
                    let factor = if is_bracketed {
                        factor
                    } else {
                        notation.brackets(&factor)
                    };
                    notation.inverse(&factor, &factor_of(&right))
                }
            };
            (left, right)
        }
        terms => (sum(system, form, terms, notation), right),
    }
}

/// Prints the vector of a term, or its rate.
fn named(form: &BlockForm, term: &BlockTerm, notation: &dyn Notation) -> String {
    let vector = notation.vector(&form.vectors[term.vector]);
    match term.rate {
        true => notation.rate(&vector),
        false => vector,
    }
}

/// Returns whether a factor is negative, and the text of its absolute value in a form that can be multiplied.
fn factor(system: &StateSystem, id: ExprId, notation: &dyn Notation) -> (bool, String) {
    let text = notation.scalar(id);
    let node = system.exprs.node(id);
    match (text.strip_prefix('-'), node) {
        (Some(rest), Node::Product(_) | Node::Number(_)) => (true, rest.trim_start().to_string()),
        (_, Node::Sum(_) | Node::If(..) | Node::Relation(..)) => (false, notation.brackets(&text)),
        _ => (false, text),
    }
}

fn sum(system: &StateSystem, form: &BlockForm, terms: &[BlockTerm], notation: &dyn Notation) -> String {
    // Positive terms come first, as in a textbook.
    let mut written: Vec<(bool, String)> = terms
        .iter()
        .map(|term| {
            let name = named(form, term, notation);
            let (negative, factor) = match &term.factor {
                BlockFactor::One => (false, String::new()),
                BlockFactor::Scalar(id) => factor(system, *id, notation),
                BlockFactor::Matrix(at, transposed) => (false, notation.matrix(&form.matrices[*at].name, *transposed)),
                BlockFactor::Sum(products) => (false, products_of(system, form, products, notation)),
            };
            let text = match factor.is_empty() {
                true => name,
                false => format!("{factor}{}{name}", notation.times()),
            };
            (negative != term.negative, text)
        })
        .collect();
    written.sort_by_key(|entry| entry.0);
    added(written)
}

/// Prints a sum of products of matrices, in parentheses if it has several terms.
fn products_of(system: &StateSystem, form: &BlockForm, products: &[BlockProduct], notation: &dyn Notation) -> String {
    let mut written: Vec<(bool, String)> = Vec::with_capacity(products.len());
    for product in products {
        let (negative, scalar) = factor(system, product.scalar, notation);
        let mut parts: Vec<String> = if scalar == "1" { Vec::new() } else { vec![scalar] };
        for (at, transposed, inverted) in &product.factors {
            let matrix = notation.matrix(&form.matrices[*at].name, *transposed);
            parts.push(if *inverted {
                notation.inverse(&matrix, "").trim_end_matches('*').to_string()
            } else {
                matrix
            });
        }
        written.push((negative != product.is_negated, parts.join(notation.times())));
    }
    written.sort_by_key(|entry| entry.0);
    match &written[..] {
        [(false, only)] => only.clone(),
        _ => notation.brackets(&added(written)),
    }
}

/// Joins terms with their signs.
fn added(terms: Vec<(bool, String)>) -> String {
    let mut out = String::new();
    for (negative, text) in terms {
        match (out.is_empty(), negative) {
            (true, false) => {}
            (true, true) => out.push('-'),
            (false, false) => out.push_str(" + "),
            (false, true) => out.push_str(" - "),
        }
        out.push_str(&text);
    }
    out
}

/// Prints a few entries of a vector.
pub(crate) fn some(entries: &[String]) -> String {
    match entries {
        [first, second, .., last] if entries.len() > 4 => format!("{first}, {second}, .., {last}"),
        _ => entries.join(", "),
    }
}

/// Describes the shape of a matrix, and returns the shown entries; `None` represents a gap.
#[allow(clippy::type_complexity)]
pub(crate) fn shape_and_shown(matrix: &BlockMatrix) -> (String, Vec<Option<(usize, u32, ExprId)>>) {
    let entries = &matrix.entries;
    let (rows, columns, stored) = (entries.rows.len(), entries.columns, entries.stored());
    let lists = entries.rows.iter().enumerate();
    let all: Vec<(usize, u32, ExprId)> = lists
        .flat_map(|(row, list)| list.iter().map(move |(column, value)| (row + 1, column + 1, *value)))
        .collect();
    let is_diagonal = rows == columns && all.iter().all(|entry| entry.0 == entry.1 as usize);
    let kind = match () {
        () if is_diagonal => "diagonal".to_string(),
        () if stored == rows * columns => "full".to_string(),
        () => format!("{stored} nonzero entries"),
    };
    let shown = match all.len() > MOST_ENTRIES {
        true => {
            let first = all[..FIRST_ENTRIES].iter().map(|entry| Some(*entry));
            first.chain([None, all.last().copied()]).collect()
        }
        false => all.into_iter().map(Some).collect(),
    };
    (format!("{rows} by {columns}, {kind}"), shown)
}

/// Returns true if the block form omits an expression; the individual equations and numeric values show it.
fn is_long(system: &StateSystem, id: ExprId) -> bool {
    system.exprs.is_written_beyond(id, LONGEST_ENTRY)
}

/// Returns true if any entry of a matrix is omitted.
fn has_long_entry(system: &StateSystem, matrix: &BlockMatrix) -> bool {
    matrix
        .entries
        .rows
        .iter()
        .flatten()
        .any(|entry| is_long(system, entry.1))
}

/// The plain text notation.
struct Plain<'a> {
    system: &'a StateSystem,
    numeric: bool,
}

impl Plain<'_> {
    fn value(&self, id: ExprId) -> String {
        match self.system.exprs.as_number(id).filter(|_| self.numeric) {
            Some(number) => significant(double(number), 6),
            None if is_long(self.system, id) => "(..)".to_string(),
            None => expression(&self.system.exprs, id),
        }
    }
}

impl Notation for Plain<'_> {
    fn vector(&self, vector: &BlockVector) -> String {
        // The value of a source may be a sum.
        let name = &vector.name;
        match !vector.is_variable && (name.contains([' ', '/']) || name.starts_with('-')) {
            true => self.brackets(&vector.name),
            false => vector.name.clone(),
        }
    }
    fn rate(&self, of: &str) -> String {
        format!("der({of})")
    }
    fn matrix(&self, name: &str, transposed: bool) -> String {
        match transposed {
            true => format!("transpose([{name}])"),
            false => format!("[{name}]"),
        }
    }
    fn inverse(&self, of: &str, times: &str) -> String {
        format!("{of}^-1*{times}")
    }
    fn over(&self, above: &str, below: &str) -> String {
        // A value given by its inverse, such as a compliance 1/k, becomes a factor.
        if let Some(inverse) = below.strip_prefix("1/").filter(|rest| !rest.contains(OPERATORS)) {
            return format!("{inverse}*{above}");
        }
        match below.contains(OPERATORS) {
            true => format!("{above}/({below})"),
            false => format!("{above}/{below}"),
        }
    }
    fn scalar(&self, id: ExprId) -> String {
        self.value(id)
    }
    fn brackets(&self, inside: &str) -> String {
        format!("({inside})")
    }
    fn times(&self) -> &'static str {
        "*"
    }
}

/// Prints both sides of equations as plain text.
pub(crate) fn lines(
    system: &StateSystem,
    form: &BlockForm,
    equations: &[BlockEquation],
    numeric: bool,
) -> Vec<(String, String)> {
    let notation = Plain { system, numeric };
    equations
        .iter()
        .map(|equation| sides(system, form, equation, &notation))
        .collect()
}

/// Prints the block form for a terminal.
pub(crate) fn text(system: &StateSystem, form: &BlockForm, options: &TextOptions, out: &mut String) {
    let notation = Plain {
        system,
        numeric: options.matrices.numeric,
    };
    let vectors = form.vectors.iter().filter(|vector| vector.entries.len() > 1);
    let vectors = vectors.map(|vector| vec![vector.name.clone(), format!("= ({})", some(&vector.entries))]);
    section("vectors", vectors.collect(), out);
    let rows = |equations: &[BlockEquation]| -> Vec<Vec<String>> {
        let lines = lines(system, form, equations, notation.numeric).into_iter();
        lines.map(|(left, right)| vec![left, format!("= {right}")]).collect()
    };
    let mut equations = rows(&form.equations);
    // Declared integrals and the terms that outputs add are single equations.
    let storage = form
        .equations
        .iter()
        .flat_map(|equation| &equation.left[..1])
        .map(|term| form.vectors[term.vector].entries.len())
        .sum::<usize>();
    for (state, value) in system.states.iter().zip(&system.equations.derivatives).skip(storage) {
        let left = format!("der({})", state.name);
        equations.push(vec![left, format!("= {}", expression(&system.exprs, *value))]);
    }
    section("equations in blocks", equations, out);
    section("measured by sources", rows(&form.measured), out);
    section("output equations", rows(&form.outputs), out);
    if form.matrices.iter().any(|matrix| has_long_entry(system, matrix)) {
        out.push_str("\n(..) is an entry that is too long to be shown here: `--numeric` gives its value\n");
    }
    for matrix in &form.matrices {
        out.push('\n');
        let name = format!("[{}]", matrix.name);
        let entry = |id: ExprId| notation.value(id);
        let labels = vec![String::new(); matrix.entries.rows.len()];
        let whole = (matrix.entries.stored() <= MOST_ENTRIES && labels.len() <= MOST_ENTRIES)
            .then(|| whole_matrix(&name, &matrix.entries, &labels, None, options, &entry))
            .flatten();
        if let Some(whole) = whole {
            out.push_str(&whole);
            continue;
        }
        let (shape, shown) = shape_and_shown(matrix);
        let _ = writeln!(out, "{name} is {shape}");
        for entry in shown {
            let _ = match entry {
                Some((row, column, value)) => {
                    writeln!(out, "  {}[{row},{column}] = {}", matrix.name, notation.value(value))
                }
                None => writeln!(out, "  .."),
            };
        }
    }
}

/// The notation for LaTeX formulas.
pub(crate) struct Tex<'a> {
    pub system: &'a StateSystem,
    pub options: MatrixOptions,
}

impl Tex<'_> {
    pub fn value(&self, id: ExprId) -> String {
        match self.system.exprs.as_number(id).filter(|_| self.options.numeric) {
            Some(value) => crate::latex_words::number(double(value)),
            None if is_long(self.system, id) => "(\\ldots)".to_string(),
            None => print::latex(&self.system.exprs, id),
        }
    }
}

impl Notation for Tex<'_> {
    fn vector(&self, vector: &BlockVector) -> String {
        let name = match vector.is_variable || vector.entries.len() > 1 {
            true => self.system.exprs.latex_name(&vector.name),
            false => format!("\\mathtt{{{}}}", crate::latex_words::escaped(&vector.name)),
        };
        match vector.entries.len() {
            1 => name,
            _ => format!("\\boldsymbol{{{name}}}"),
        }
    }
    fn rate(&self, of: &str) -> String {
        format!("\\frac{{d}}{{dt}} {of}")
    }
    fn matrix(&self, name: &str, transposed: bool) -> String {
        let name = format!("\\left[{}\\right]", self.system.exprs.latex_name(name));
        match transposed {
            true => format!("{name}^{{T}}"),
            false => name,
        }
    }
    fn inverse(&self, of: &str, times: &str) -> String {
        format!("{of}^{{-1}} {times}")
    }
    fn over(&self, above: &str, below: &str) -> String {
        format!("\\frac{{1}}{{{below}}} {above}")
    }
    fn scalar(&self, id: ExprId) -> String {
        self.value(id)
    }
    fn brackets(&self, inside: &str) -> String {
        format!("\\left({inside}\\right)")
    }
    fn times(&self) -> &'static str {
        " \\, "
    }
}
