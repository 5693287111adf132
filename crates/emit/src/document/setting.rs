//! Typesetting of rows and matrices as formulas and running text.

use super::parts::{After, DocumentPart, Inline};
use crate::latex_lines::{breakable_pieces, equation};
use crate::latex_words::escaped;
use crate::repeating::{Entries, Format, Names, Piece, Range, Row};
use lgm_algebra::expr::{ExprId, Exprs, Node, SymbolId, print};
use std::fmt::Write;

/// Formulas and running text as a format.
pub(super) struct Typeset;

impl Format for Typeset {
    type Fixed = DocumentPart;
    type Style = Style;
    type Of = Expressions;
    /// Pieces between which a line may break.
    type Value = Vec<String>;
}

/// The layout of rows, and the meaning of their cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// Aligned equations: both sides.
    Equations,
    /// Names with their values: the name, a formula, the number, the unit.
    Values,
    /// Names in running text: the name, a formula, the unit.
    Names,
    /// Initial values in running text: the name, the number, the unit. False if other states start at zero.
    Starts(bool),
    /// Storage without its own state: the element, the elements that determine it, and its equivalent.
    Dependent,
}

/// The expressions of a row.
#[derive(Clone, Debug, Default)]
pub(super) struct Expressions {
    pub(super) left: Left,
    /// The right-hand side, or the formula of a value.
    pub(super) right: Option<ExprId>,
}

/// The left-hand side of an equation.
#[derive(Clone, Debug, Default)]
pub(super) enum Left {
    /// The name in the first cell.
    #[default]
    Name,
    /// The rate of a state.
    Rate(SymbolId),
    /// A row of a mass matrix: factors of rates.
    Masses(Vec<(ExprId, SymbolId)>),
    /// Masses times accelerations.
    MassesOfForm(Vec<(ExprId, SymbolId)>),
}

impl Expressions {
    pub(super) fn right(right: Option<ExprId>) -> Expressions {
        Expressions {
            left: Left::Name,
            right,
        }
    }

    /// Returns the symbols in the expressions.
    fn symbols(&self, exprs: &Exprs) -> Vec<SymbolId> {
        let (factors, mut symbols): (Vec<ExprId>, Vec<SymbolId>) = match &self.left {
            Left::Name => (Vec::new(), Vec::new()),
            Left::Rate(state) => (Vec::new(), vec![*state]),
            Left::Masses(terms) | Left::MassesOfForm(terms) => terms.iter().copied().unzip(),
        };
        let roots: Vec<ExprId> = factors.into_iter().chain(self.right).collect();
        symbols.extend(exprs.symbols_of(&roots));
        symbols.sort_unstable();
        symbols.dedup();
        symbols
    }
}

/// Typesets the parts of a document; `exprs` contains the expressions of its rows.
pub(super) fn set(pieces: Vec<Piece<Typeset>>, exprs: &mut Exprs) -> Vec<DocumentPart> {
    let mut parts = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Fixed(part) => parts.push(part),
            Piece::Rows(_, _, rows) if rows.is_empty() => {}
            Piece::Rows(title, style, rows) => set_rows(title, style, &rows, exprs, &mut parts),
            Piece::Entries(entries) => set_entries(entries, &mut parts),
        }
    }
    parts
}

fn set_rows(title: String, style: Style, rows: &[Row<Expressions>], exprs: &mut Exprs, parts: &mut Vec<DocumentPart>) {
    match style {
        Style::Equations | Style::Values => {
            let mut lines = Vec::new();
            for row in rows {
                let more = renamed(row, exprs, |exprs| match style {
                    Style::Equations => equation_of(row, exprs),
                    _ => vec![value_of(row, exprs)],
                });
                lines.extend(more.into_iter().map(|line| with_letters(&line)));
            }
            parts.push(DocumentPart::Heading(title));
            parts.push(DocumentPart::Aligned(lines));
        }
        Style::Names => {
            let mut text = vec![Inline::Words(format!("{title}: "))];
            for (at, row) in rows.iter().enumerate() {
                let name = renamed(row, exprs, |exprs| {
                    let follows = row.of.right.map(|id| format!(" = {}", print::latex(exprs, id)));
                    format!("{}{}", exprs.latex_name(&row.cells[0]), follows.unwrap_or_default())
                });
                listed(at, name, &row.ranges, &row.cells[2], &mut text);
            }
            text.push(Inline::Words(".".to_string()));
            parts.push(DocumentPart::Text(text, After::End));
        }
        Style::Starts(is_all) => {
            let mut text = vec![Inline::Words(format!("{title}: "))];
            for (at, row) in rows.iter().enumerate() {
                let (name, unit) = (exprs.latex_name(&row.cells[0]), unit(&row.cells[2]));
                let start = format!("{name}(0) = {}{unit}", row.cells[1]);
                listed(at, start, &row.ranges, "", &mut text);
            }
            let end = if is_all { "." } else { "; all others from zero." };
            text.push(Inline::Words(end.to_string()));
            parts.push(DocumentPart::Text(text, After::End));
        }
        Style::Dependent => parts.extend(rows.iter().map(|row| {
            let words = format!("{title}: {} follows {}", row.cells[0], row.cells[1]);
            let mut text = vec![Inline::Words(words)];
            if !row.cells[2].is_empty() {
                text.push(Inline::Words(": equivalent ".to_string()));
                text.push(Inline::Code(row.cells[2].clone()));
            }
            for_all(&row.ranges, &mut text);
            text.push(Inline::Words(".".to_string()));
            DocumentPart::Text(text, After::End)
        })),
    }
}

/// Calls `work` while the symbols of a row have the names in its cells.
fn renamed<R>(row: &Row<Expressions>, exprs: &mut Exprs, work: impl FnOnce(&mut Exprs) -> R) -> R {
    let Some(own) = &row.own else { return work(exprs) };
    let names = Names::between(own, &row.cells).expect("invariant: a row that stands for others has names");
    let before: Vec<_> = row
        .of
        .symbols(exprs)
        .into_iter()
        .map(|symbol| (symbol, exprs.symbol_info(symbol).name.clone()))
        .collect();
    for (symbol, name) in &before {
        exprs.rename(*symbol, names.put_into(name));
    }
    let done = work(exprs);
    for (symbol, name) in before {
        exprs.rename(symbol, name);
    }
    done
}

/// Returns the lines of an equation.
fn equation_of(row: &Row<Expressions>, exprs: &mut Exprs) -> Vec<String> {
    let left = match &row.of.left {
        Left::Name => exprs.latex_name(&row.cells[0]),
        Left::Rate(state) => rate(exprs, *state),
        Left::Masses(terms) => masses(exprs, terms),
        Left::MassesOfForm(terms) => masses_of_form(exprs, terms),
    };
    let right = row.of.right.expect("invariant: an equation has a right side");
    let mut pieces = breakable_pieces(exprs, right);
    if let (Some(last), false) = (pieces.last_mut(), row.ranges.is_empty()) {
        last.push(',');
        pieces.push(format!("\\quad {}", values(&row.ranges)));
    }
    equation(&left, &pieces)
}

fn rate(exprs: &Exprs, state: SymbolId) -> String {
    format!("\\frac{{d}}{{dt}} {}", exprs.latex_name(&exprs.symbol_info(state).name))
}

fn masses(exprs: &Exprs, terms: &[(ExprId, SymbolId)]) -> String {
    let terms = terms.iter().map(|(factor, state)| match exprs.is_one(*factor) {
        true => rate(exprs, *state),
        false => format!(
            "\\left({}\\right) {}",
            print::latex(exprs, *factor),
            rate(exprs, *state)
        ),
    });
    let terms: Vec<String> = terms.collect();
    match terms.is_empty() {
        true => "0".to_string(),
        false => terms.join(" + "),
    }
}

fn masses_of_form(exprs: &Exprs, terms: &[(ExprId, SymbolId)]) -> String {
    let terms = terms.iter().map(|(factor, state)| {
        let (rate, written) = (rate(exprs, *state), print::latex(exprs, *factor));
        match exprs.node(*factor) {
            Node::Number(_) if written == "1" => rate,
            Node::Sum(_) | Node::If(..) | Node::Relation(..) => format!("\\left({written}\\right) {rate}"),
            _ => format!("{written} \\, {rate}"),
        }
    });
    terms.collect::<Vec<_>>().join(" + ").replace("+ -", "- ")
}

/// Prints `name &= formula = number unit`.
fn value_of(row: &Row<Expressions>, exprs: &Exprs) -> String {
    let derived = row.of.right.map(|id| format!("{} = ", print::latex(exprs, id)));
    let derived = derived.unwrap_or_default();
    let (name, unit) = (exprs.latex_name(&row.cells[0]), unit(&row.cells[3]));
    let line = format!("{name} &= {derived}{}{unit}", row.cells[2]);
    match row.ranges.is_empty() {
        true => line,
        false => format!("{line}, \\quad {}", values(&row.ranges)),
    }
}

/// Typesets the indices of owners in a formula as letters, like those of values: `\mathrm{cell[\mathit{i} + 1]}`.
fn with_letters(formula: &str) -> String {
    let mut written = String::with_capacity(formula.len());
    let mut rest = formula;
    while let Some((front, behind)) = rest.split_once('[') {
        written.push_str(front);
        written.push('[');
        let (list, behind) = behind.split_once(']').unwrap_or((behind, ""));
        let indices = list.split(", ").map(|index| {
            let (letter, shift) = index.split_at(index.find(' ').unwrap_or(index.len()));
            match letter.len() == 1 && letter.starts_with(|letter: char| letter.is_ascii_lowercase()) {
                true => format!("\\mathit{{{letter}}}{shift}"),
                false => index.to_string(),
            }
        });
        written.push_str(&indices.collect::<Vec<_>>().join(", "));
        written.push(']');
        rest = behind;
    }
    written.push_str(rest);
    written
}

/// Prints the values of indices: `i = 2, ..., 5`.
fn values(ranges: &[Range]) -> String {
    let range = |range: &Range| {
        let Range {
            letter, first, last, ..
        } = range;
        let between = match last - first {
            1 => String::new(),
            2 => format!("{}, ", first + 1),
            _ => "\\ldots, ".to_string(),
        };
        format!("{letter} = {first}, {between}{last}")
    };
    ranges.iter().map(range).collect::<Vec<_>>().join(", \\; ")
}

/// Adds ` for i = 2, ..., 5` to running text.
fn for_all(ranges: &[Range], text: &mut Vec<Inline>) {
    if !ranges.is_empty() {
        text.push(Inline::Words(" for ".to_string()));
        text.push(Inline::Formula(values(ranges)));
    }
}

/// Adds an item of a list with its unit in brackets, each on a separate line: `x [m], v [m/s]`.
fn listed(at: usize, formula: String, ranges: &[Range], of: &str, text: &mut Vec<Inline>) {
    if at > 0 {
        text.push(Inline::Words(",\n".to_string()));
    }
    text.push(Inline::Formula(with_letters(&formula)));
    let unit = unit(of);
    if !unit.is_empty() {
        text.push(Inline::Words("\u{a0}".to_string()));
        text.push(Inline::Formula(format!("[{}]", unit.trim_start_matches("\\,"))));
    }
    for_all(ranges, text);
}

/// Prints a unit such as `N.s/m` or `m^3/s`, upright, after a thin space; empty if there is none.
pub(super) fn unit(unit: &str) -> String {
    if unit.is_empty() || unit == "1" {
        return String::new();
    }
    let mut set = String::new();
    let mut letters = unit.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '.' => set.push_str("\\,"),
            '^' => {
                let mut exponent = String::new();
                while let Some(next) = letters.next_if(|next| next.is_ascii_digit() || matches!(next, '-' | '+')) {
                    exponent.push(next);
                }
                let _ = write!(set, "^{{{exponent}}}");
            }
            _ => set.push_str(&escaped(&letter.to_string())),
        }
    }
    format!("\\,\\mathrm{{{set}}}")
}

/// Adds the entries of a matrix in separate lines, or their number.
fn set_entries(entries: Entries<Vec<String>>, parts: &mut Vec<DocumentPart>) {
    let Entries {
        name,
        rows,
        columns,
        count,
        list,
    } = entries;
    let shape = format!("{rows} by {columns}");
    let Some(list) = list else {
        let words = format!(" is {shape}, with {count} nonzero entries: ");
        let text = vec![
            Inline::Formula(name),
            Inline::Words(words),
            Inline::Code("--sparse".to_string()),
            Inline::Words(" lists them.".to_string()),
        ];
        parts.push(DocumentPart::Text(text, After::End));
        return;
    };
    parts.push(says_of(&name, &format!("{shape}, zero but for")));
    let lines = list.iter().flat_map(|(row, column, pieces)| {
        let left = format!("{name}_{{{row},{column}}}");
        equation(&left, pieces)
    });
    let mut lines: Vec<String> = lines.collect();
    if lines.is_empty() {
        lines.push(format!("{name} &= 0"));
    }
    parts.push(DocumentPart::Aligned(lines));
}

/// Returns the text before the entries of a matrix: `A is 4 by 4, zero but for`.
pub(super) fn says_of(name: &str, shape: &str) -> DocumentPart {
    let text = vec![Inline::Formula(name.to_string()), Inline::Words(format!(" is {shape}"))];
    DocumentPart::Text(text, After::Formula)
}
