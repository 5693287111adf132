//! The equations as a document: headings, formulas and running text in their order, whatever they are set by. Formulas are in LaTeX,
//! which is the notation of both [`latex()`](crate::latex()) and [`html()`](crate::html()).

use super::blocks::{Notation, Tex, shape_and_shown, sides, some};
use super::latex_lines::{LINE, breakable_pieces, equation, visible_length};
use super::{Matrices, MatrixOptions, double, formula, members};
use crate::latex_words::{escaped, number};
use crate::text::follows;
use lgm_algebra::expr::{ExprId, Exprs, Node, SymbolId, print};
use lgm_model::ParameterEntry;
use lgm_model::blocks::{BlockEquation, BlockForm};
use lgm_model::system::{Assignment, LinearForm, MassForm, SparseMatrix, StateSystem};
use std::cell::RefCell;
use std::fmt::Write;
use std::rc::Rc;

/// Columns of characters that a matrix may have before it is given entry by entry.
const MATRIX_LINE: usize = 96;

/// Rows that a page holds; a taller matrix is given entry by entry.
const MATRIX_ROWS: usize = 40;

/// A part of the document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// The name of the model.
    Title(String),
    /// The title of what follows.
    Heading(&'static str),
    /// Equations one below the other; `&` stands before the sign at which they are aligned.
    Aligned(Vec<String>),
    /// A formula that stands by itself.
    Formula(String),
    /// A matrix that stands by itself, in small type if it is wide.
    Matrix(String, Type),
    /// Running text.
    Text(Vec<Inline>, After),
}

/// The size of type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Normal,
    Small,
}

/// What follows running text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum After {
    /// The paragraph goes on, with a formula that stands by itself.
    Formula,
    /// It ends.
    End,
}

/// A piece of running text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Inline {
    /// Words as they are read; a space that no line ends at is U+00A0.
    Words(String),
    /// A formula within the line.
    Formula(String),
    /// An expression as the language writes it.
    Code(String),
}

/// The parts of the document of a system.
pub(super) fn document(system: &StateSystem, options: MatrixOptions) -> Vec<Part> {
    let mut document = Document {
        system,
        options,
        scratch: Rc::new(RefCell::new(system.exprs.clone())),
        parts: Vec::new(),
    };
    document.write();
    document.parts
}

/// How many columns the widest matrix of the document may have.
pub(super) fn most_columns(system: &StateSystem) -> usize {
    system.states.len().max(system.inputs.len()).max(10)
}

struct Document<'a> {
    system: &'a StateSystem,
    options: MatrixOptions,
    /// A copy of the arena, in which parts of expressions that are set by themselves are built.
    scratch: Rc<RefCell<Exprs>>,
    parts: Vec<Part>,
}

/// How the entries of matrices are set.
struct Entries<'e, T> {
    /// In one piece, inside a matrix.
    whole: &'e dyn Fn(T) -> String,
    /// In pieces between which a line may break.
    pieces: &'e dyn Fn(T) -> Vec<String>,
    is_zero: &'e dyn Fn(T) -> bool,
}

impl Document<'_> {
    fn write(&mut self) {
        let system = self.system;
        self.parts.push(Part::Title(system.model.to_string()));
        self.quantities();
        if let Some(form) = system.block_form.as_ref().filter(|_| self.options.blocks) {
            self.blocks(form);
            return;
        }
        self.equations();
        match Matrices::of(system, self.options) {
            Some(Matrices::Symbolic(form)) => {
                let zero = |id: ExprId| system.exprs.is_zero(id);
                let scratch = Rc::clone(&self.scratch);
                let entries = Entries {
                    whole: &|id| print::latex(&system.exprs, id),
                    pieces: &|id| breakable_pieces(&mut scratch.borrow_mut(), id),
                    is_zero: &zero,
                };
                self.matrices(form, &entries);
            }
            Some(Matrices::Numeric(form)) => {
                let entries = Entries {
                    whole: &number,
                    pieces: &|value| vec![number(value)],
                    is_zero: &|value| value == 0.0,
                };
                self.matrices(form, &entries);
            }
            None => {}
        }
    }

    fn name(&self, symbol: SymbolId) -> String {
        print::latex_name(&self.system.exprs.symbol_info(symbol).name)
    }

    fn quantities(&mut self) {
        let system = self.system;
        let lines = |is_constant: bool| -> Vec<String> {
            let mut lines = Vec::new();
            for parameter in system.parameters.iter().filter(|each| each.is_constant == is_constant) {
                for entry in &parameter.entries {
                    let unit = unit(parameter.unit.as_deref());
                    let derived = derived(&system.exprs, entry);
                    let value = number(double(&entry.value));
                    lines.push(format!("{} &= {derived}{value}{unit}", self.name(entry.symbol)));
                }
            }
            lines
        };
        let (parameters, constants) = (lines(false), lines(true));
        self.aligned("Parameters", parameters);
        self.aligned("Constants of the modes", constants);
        let states = system.states.iter();
        let states = states.map(|state| (self.name(state.symbol), state.unit.as_deref()));
        let inputs = system.inputs.iter().map(|input| {
            let follows = input.signal.filter(|_| input.is_internal);
            let follows = follows.map(|signal| format!(" = {}", print::latex(&system.exprs, signal)));
            let name = format!("{}{}", self.name(input.symbol), follows.unwrap_or_default());
            (name, input.unit.as_deref())
        });
        let outputs = system.outputs.iter();
        let outputs = outputs.map(|output| (print::latex_name(&output.name), output.unit.as_deref()));
        let lists = [
            ("States", quantities(states)),
            ("Inputs", quantities(inputs)),
            ("Outputs", quantities(outputs)),
        ];
        for (title, mut list) in lists {
            if !list.is_empty() {
                list.insert(0, Inline::Words(format!("{title}: ")));
                self.parts.push(Part::Text(list, After::End));
            }
        }
        if system.linearized_at.is_none() {
            self.starts();
        }
        for dependent in &system.dependent {
            let mut text = vec![Inline::Words(format!("Dependent storage: {}", follows(dependent)))];
            if !dependent.equivalent.is_empty() {
                text.push(Inline::Words(": equivalent ".to_string()));
                text.push(Inline::Code(dependent.equivalent.clone()));
            }
            text.push(Inline::Words(".".to_string()));
            self.parts.push(Part::Text(text, After::End));
        }
        if let Some(point) = &system.linearized_at {
            let all = point.states.iter().chain(&point.inputs).chain(&point.outputs);
            let lines: Vec<String> = all
                .map(|entry| {
                    let exact = match system.exprs.as_number(entry.expression) {
                        Some(_) => String::new(),
                        None => format!("{} = ", print::latex(&system.exprs, entry.expression)),
                    };
                    let value = number(entry.value);
                    let unit = unit(entry.unit.as_deref());
                    format!("{} &= {exact}{value}{unit}", print::latex_name(&entry.name))
                })
                .collect();
            self.aligned("Point of linearisation", lines);
            let words = "In what follows, states, inputs and outputs are deviations from it.".to_string();
            self.parts.push(Part::Text(vec![Inline::Words(words)], After::End));
        }
    }

    /// Where states start, if that is not zero.
    fn starts(&mut self) {
        let system = self.system;
        let states = system.states.iter().filter(|state| state.start_value != 0.0);
        let mut list: Vec<Inline> = Vec::new();
        for state in states {
            let words = if list.is_empty() { "Starts: " } else { ",\n" };
            list.push(Inline::Words(words.to_string()));
            let (name, value) = (self.name(state.symbol), number(state.start_value));
            list.push(Inline::Formula(format!(
                "{name}(0) = {value}{}",
                unit(state.unit.as_deref())
            )));
        }
        if !list.is_empty() {
            let is_all = system.states.iter().all(|state| state.start_value != 0.0);
            let end = if is_all { "." } else { "; all others from zero." };
            list.push(Inline::Words(end.to_string()));
            self.parts.push(Part::Text(list, After::End));
        }
    }

    fn pieces(&self, id: ExprId) -> Vec<String> {
        breakable_pieces(&mut self.scratch.borrow_mut(), id)
    }

    /// Masses times accelerations, loops, and outputs over accelerations.
    fn mass_form(&mut self, form: &MassForm) {
        let system = self.system;
        self.assignments(&form.assignments);
        let mut lines = Vec::new();
        for residual in form.residuals.iter().flatten() {
            lines.extend(equation("0", &self.pieces(*residual)));
        }
        self.aligned("Algebraic loops", lines);
        let mut lines = Vec::new();
        for row in &form.equations {
            let terms = row.terms.iter().map(|(state, factor)| {
                let rate = format!("\\frac{{d}}{{dt}} {}", self.name(system.states[*state as usize].symbol));
                let written = print::latex(&system.exprs, *factor);
                match system.exprs.node(*factor) {
                    Node::Number(_) if written == "1" => rate,
                    Node::Sum(_) | Node::If(..) | Node::Relation(..) => format!("\\left({written}\\right) {rate}"),
                    _ => format!("{written} \\, {rate}"),
                }
            });
            let left = terms.collect::<Vec<_>>().join(" + ").replace("+ -", "- ");
            lines.extend(equation(&left, &self.pieces(row.right)));
        }
        self.aligned("State equations", lines);
        let mut lines = Vec::new();
        for (output, value) in system.outputs.iter().zip(&form.outputs) {
            lines.extend(equation(&print::latex_name(&output.name), &self.pieces(*value)));
        }
        self.aligned("Outputs", lines);
    }

    fn assignments(&mut self, list: &[Assignment]) {
        let mut lines = Vec::new();
        for assignment in list {
            lines.extend(equation(&self.name(assignment.symbol), &self.pieces(assignment.value)));
        }
        self.aligned("Assignments", lines);
    }

    fn equations(&mut self) {
        let system = self.system;
        if let Some(form) = &system.mass_form {
            self.mass_form(form);
            return;
        }
        self.assignments(&system.assignments);
        let mut lines = Vec::new();
        for each in &system.loops {
            for residual in &each.residuals {
                lines.extend(equation("0", &self.pieces(*residual)));
            }
        }
        self.aligned("Algebraic loops", lines);
        let mut lines = Vec::new();
        for (row, value) in system.derivatives.iter().enumerate() {
            lines.extend(equation(&self.left_side(row), &self.pieces(*value)));
        }
        self.aligned("State equations", lines);
        let mut lines = Vec::new();
        for (output, value) in system.outputs.iter().zip(&system.output_values) {
            lines.extend(equation(&print::latex_name(&output.name), &self.pieces(*value)));
        }
        self.aligned("Outputs", lines);
    }

    /// The equations in blocks, then the vectors and the matrices in them.
    fn blocks(&mut self, form: &BlockForm) {
        let system = self.system;
        let notation = Tex {
            system,
            options: self.options,
        };
        let lines = |equations: &[BlockEquation]| -> Vec<String> {
            let sides = equations
                .iter()
                .map(|equation| sides(system, form, equation, &notation));
            sides.map(|(left, right)| format!("{left} &= {right}")).collect()
        };
        self.aligned("State equations", lines(&form.equations));
        self.aligned("Measured by sources", lines(&form.measured));
        self.aligned("Outputs", lines(&form.outputs));
        let mut vectors = Vec::new();
        for vector in form.vectors.iter().filter(|vector| vector.entries.len() > 1) {
            let entries: Vec<String> = vector.entries.iter().map(|entry| print::latex_name(entry)).collect();
            let entries = some(&entries).replace("..", "\\ldots");
            vectors.push(format!("{} &= \\left({entries}\\right)", notation.vector(vector)));
        }
        self.aligned("Vectors", vectors);
        for matrix in &form.matrices {
            let value = |id: ExprId| notation.value(id);
            let entries = Entries {
                whole: &value,
                pieces: &|id| vec![notation.value(id)],
                is_zero: &|id| system.exprs.is_zero(id),
            };
            let name = notation.matrix(&matrix.name, false);
            let (shape, shown) = shape_and_shown(matrix);
            if shown.iter().all(Option::is_some) {
                self.matrix(&name, &matrix.entries, false, &entries);
                continue;
            }
            self.says_of(&name, &shape);
            let lines: Vec<String> = shown
                .into_iter()
                .map(|entry| match entry {
                    Some((row, column, value)) => format!("{name}_{{{row},{column}}} &= {}", notation.value(value)),
                    None => "&\\;\\vdots".to_string(),
                })
                .collect();
            self.parts.push(Part::Aligned(lines));
        }
    }

    /// Equations under a title; nothing if there are none.
    fn aligned(&mut self, title: &'static str, lines: Vec<String>) {
        if !lines.is_empty() {
            self.parts.push(Part::Heading(title));
            self.parts.push(Part::Aligned(lines));
        }
    }

    /// `A is 4 by 4, zero but for`, in front of the entries of a matrix.
    fn says_of(&mut self, name: &str, shape: &str) {
        let text = vec![Inline::Formula(name.to_string()), Inline::Words(format!(" is {shape}"))];
        self.parts.push(Part::Text(text, After::Formula));
    }

    fn left_side(&self, row: usize) -> String {
        let rate = |state: usize| format!("\\frac{{d}}{{dt}} {}", self.name(self.system.states[state].symbol));
        let Some(mass) = &self.system.mass_matrix else {
            return rate(row);
        };
        let terms = mass.rows[row].iter().map(|(column, factor)| {
            let rate = rate(*column as usize);
            if self.system.exprs.is_one(*factor) {
                rate
            } else {
                let factor = print::latex(&self.system.exprs, *factor);
                format!("\\left({factor}\\right) {rate}")
            }
        });
        let terms: Vec<String> = terms.collect();
        if terms.is_empty() {
            "0".to_string()
        } else {
            terms.join(" + ")
        }
    }

    fn matrices<T: Copy>(&mut self, form: &LinearForm<T>, entries: &Entries<'_, T>) {
        let is_empty = |matrix: &SparseMatrix<T>| {
            !matrix
                .rows
                .iter()
                .flatten()
                .any(|(_, value)| !(entries.is_zero)(*value))
        };
        let e = if is_empty(&form.e) { "" } else { " + E \\dot{u}" };
        let f = if is_empty(&form.f) { "" } else { " + F \\dot{u}" };
        let x = if form.x_offset.is_some() { " + x_0" } else { "" };
        let y = if form.y_offset.is_some() { " + y_0" } else { "" };
        self.parts.push(Part::Heading("Matrix form"));
        self.parts.push(Part::Formula(format!(
            "\\dot{{x}} = A x + B u{e}{x}, \\qquad y = C x + D u{f}{y}"
        )));
        let lists_entries = self.options.lists_entries(self.system);
        for (name, member) in members() {
            let matrix = member(form);
            let rare = matches!(name, "E" | "F");
            if matrix.rows.is_empty() || matrix.columns == 0 || (rare && is_empty(matrix)) {
                continue;
            }
            self.matrix(name, matrix, lists_entries, entries);
        }
        for (name, offset) in [("x_0", &form.x_offset), ("y_0", &form.y_offset)] {
            let Some(offset) = offset else { continue };
            let column = SparseMatrix {
                columns: 1,
                rows: offset.iter().map(|value| vec![(0, *value)]).collect(),
            };
            self.matrix(name, &column, lists_entries, entries);
        }
    }

    fn matrix<T: Copy>(&mut self, name: &str, matrix: &SparseMatrix<T>, lists_entries: bool, entries: &Entries<'_, T>) {
        // Every column takes two characters at least, which spares a huge matrix from being set in vain.
        let fits = 2 * matrix.columns <= MATRIX_LINE && matrix.rows.len() <= MATRIX_ROWS;
        let whole = (!lists_entries && fits).then(|| {
            let mut widths = vec![1; matrix.columns];
            let mut rows = Vec::new();
            for row in &matrix.rows {
                let mut cells = vec!["0".to_string(); matrix.columns];
                for (column, value) in row {
                    let cell = (entries.whole)(*value);
                    let width = &mut widths[*column as usize];
                    *width = visible_length(&cell).max(*width);
                    cells[*column as usize] = cell;
                }
                rows.push(cells.join(" & "));
            }
            (rows, widths.iter().sum::<usize>() + 2 * matrix.columns)
        });
        match whole {
            Some((rows, width)) if width <= MATRIX_LINE => {
                let size = if width > LINE { Type::Small } else { Type::Normal };
                let rows = rows.join(" \\\\\n");
                let formula = format!("{name} = \\begin{{bmatrix}}\n{rows}\n\\end{{bmatrix}}");
                self.parts.push(Part::Matrix(formula, size));
            }
            _ => {
                let mut lines = Vec::new();
                for (row, list) in matrix.rows.iter().enumerate() {
                    for (column, value) in list.iter().filter(|item| !(entries.is_zero)(item.1)) {
                        let left = format!("{name}_{{{},{}}}", row + 1, column + 1);
                        lines.extend(equation(&left, &(entries.pieces)(*value)));
                    }
                }
                let (rows, columns) = (matrix.rows.len(), matrix.columns);
                self.says_of(name, &format!("{rows} by {columns}, zero but for"));
                if lines.is_empty() {
                    lines.push(format!("{name} &= 0"));
                }
                self.parts.push(Part::Aligned(lines));
            }
        }
    }
}

/// `expr = ` of a derived parameter.
fn derived(exprs: &Exprs, entry: &ParameterEntry) -> String {
    formula(exprs, entry)
        .map(|id| format!("{} = ", print::latex(exprs, id)))
        .unwrap_or_default()
}

/// A unit such as `N.s/m` or `m^3/s`, upright, after a thin space.
fn unit(unit: Option<&str>) -> String {
    let Some(unit) = unit.filter(|unit| !unit.is_empty() && *unit != "1") else {
        return String::new();
    };
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

/// Names with their units in brackets, each on a line of its own: `x [m], v [m/s].`
fn quantities<'u>(list: impl Iterator<Item = (String, Option<&'u str>)>) -> Vec<Inline> {
    let mut text = Vec::new();
    for (name, of) in list {
        if !text.is_empty() {
            text.push(Inline::Words(",\n".to_string()));
        }
        text.push(Inline::Formula(name));
        let unit = unit(of);
        if !unit.is_empty() {
            text.push(Inline::Words("\u{a0}".to_string()));
            text.push(Inline::Formula(format!("[{}]", unit.trim_start_matches("\\,"))));
        }
    }
    if !text.is_empty() {
        text.push(Inline::Words(".".to_string()));
    }
    text
}
