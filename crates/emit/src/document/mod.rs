//! The equations as a document: a sequence of headings, formulas and running text, independent of the output format.
//! Formulas are in LaTeX, which is the input of both [`latex()`](crate::latex()) and [`html()`](crate::html()).

mod parts;
mod setting;

pub(super) use parts::{After, DocumentPart, Inline, Type};

use crate::latex_lines::{LINE, breakable_pieces, equation, visible_length};
use crate::latex_words::number;
use crate::repeating::{Entries, Growth, Letters, Manner, Piece, gathered, stretched};
use crate::text::blocks::{Notation, Tex, shape_and_shown, sides, some};
use crate::text::followed;
use crate::{DocumentOptions, Matrices, double, expression, formula};
use lgm_algebra::expr::{ExprId, Exprs, print};
use lgm_model::SiUnit;
use lgm_model::blocks::{BlockEquation, BlockForm};
use lgm_model::system::{LinearForm, SparseMatrix, StateSystem};
use setting::{Expressions, Left, Style, Typeset, says_of, set, unit};
use std::cell::RefCell;
use std::rc::Rc;

/// The maximum width of a matrix in characters; wider matrices are listed entry by entry.
const MATRIX_LINE: usize = 96;

/// The maximum number of rows on a page; taller matrices are listed entry by entry.
const MATRIX_ROWS: usize = 40;

/// Returns the parts of the document of a system.
pub(super) fn document(system: &StateSystem, options: &DocumentOptions) -> Vec<DocumentPart> {
    set(pieces(system, options), &mut system.exprs.clone())
}

/// Returns the parts that [`document`] would return for `count` sections. `systems` are the systems with `first` sections, one section
/// more, and so on; `states` are those of the long system.
pub(super) fn stretched_document(
    systems: &[&StateSystem],
    counts: (u64, u64),
    states: usize,
    options: &DocumentOptions,
) -> Option<Vec<DocumentPart>> {
    let matrices = options.matrices.of_sections(states, options.flat)?;
    let short = DocumentOptions { matrices, ..*options };
    let all = systems.iter().map(|system| pieces(system, &short));
    let long = stretched(all.collect(), Growth::new(counts, options.most_entries)?)?;
    Some(set(long, &mut systems.first()?.exprs.clone()))
}

fn pieces(system: &StateSystem, options: &DocumentOptions) -> Vec<Piece<Typeset>> {
    let mut document = Document {
        system,
        options,
        scratch: Rc::new(RefCell::new(system.exprs.clone())),
        pieces: Vec::new(),
    };
    document.write();
    document.pieces
}

/// Returns the maximum number of matrix columns that the document may need.
pub(super) fn most_columns(system: &StateSystem) -> usize {
    let most = system.states.len().max(system.inputs.len()).max(10);
    most.min(MATRIX_LINE / 2)
}

struct Document<'a> {
    system: &'a StateSystem,
    options: &'a DocumentOptions,
    /// A copy of the arena for expressions that are typeset in parts.
    scratch: Rc<RefCell<Exprs>>,
    pieces: Vec<Piece<Typeset>>,
}

/// The functions that print the entries of a matrix.
struct Written<'e, T> {
    /// Prints an entry in one piece, inside a matrix.
    whole: &'e dyn Fn(T) -> String,
    /// Prints an entry in pieces between which a line may break.
    pieces: &'e dyn Fn(T) -> Vec<String>,
    is_zero: &'e dyn Fn(T) -> bool,
}

impl Document<'_> {
    fn write(&mut self) {
        let system = self.system;
        self.fixed(DocumentPart::Title(system.model.to_string()));
        self.quantities();
        if let Some(form) = system.matrices.blocks.as_ref().filter(|_| self.options.matrices.blocks) {
            self.blocks(form);
            return;
        }
        self.equations();
        match Matrices::of(system, self.options.matrices) {
            Some(Matrices::Symbolic(form)) => {
                let zero = |id: ExprId| system.exprs.is_zero(id);
                let scratch = Rc::clone(&self.scratch);
                let entries = Written {
                    whole: &|id| print::latex(&system.exprs, id),
                    pieces: &|id| breakable_pieces(&mut scratch.borrow_mut(), id),
                    is_zero: &zero,
                };
                self.matrices(form, &entries);
            }
            Some(Matrices::Numeric(form)) => {
                let entries = Written {
                    whole: &number,
                    pieces: &|value| vec![number(value)],
                    is_zero: &|value| value == 0.0,
                };
                self.matrices(form, &entries);
            }
            None => {}
        }
    }

    fn fixed(&mut self, part: DocumentPart) {
        self.pieces.push(Piece::Fixed(part));
    }

    /// Adds rows that may repeat over indices.
    fn rows(&mut self, title: &str, style: Style, rows: Vec<(Vec<String>, Expressions)>) {
        let rows = gathered(rows, Manner::new(Letters::Apart, self.options.flat));
        self.pieces.push(Piece::Rows(title.to_string(), style, rows));
    }

    fn quantities(&mut self) {
        self.parameters("Parameters", false);
        self.parameters("Constants of the modes", true);
        self.variables();
        if self.system.linearized_at.is_none() {
            self.starts();
        }
        let dependent = self.system.dependent.iter().map(|dependent| {
            let about = [
                dependent.element.to_string(),
                followed(dependent),
                dependent.equivalent.clone(),
            ];
            (about.to_vec(), Expressions::default())
        });
        self.rows("Dependent storage", Style::Dependent, dependent.collect());
        self.point();
    }

    fn parameters(&mut self, title: &str, is_constant: bool) {
        let system = self.system;
        let mut rows = Vec::new();
        for parameter in system.parameters.iter().filter(|each| each.is_constant == is_constant) {
            for entry in &parameter.entries {
                let name = system.exprs.symbol_info(entry.symbol).name.to_string();
                let derived = formula(&system.exprs, entry);
                let text = derived.map_or(String::new(), |id| expression(&system.exprs, id));
                let cells = vec![name, text, number(double(&entry.value)), words(&parameter.unit)];
                rows.push((cells, Expressions::right(derived)));
            }
        }
        self.rows(title, Style::Values, rows);
    }

    /// Adds states, inputs and outputs.
    fn variables(&mut self) {
        let system = self.system;
        let row = |name: &str, follows: Option<ExprId>, unit: &Option<SiUnit>| {
            let text = follows.map_or(String::new(), |id| expression(&system.exprs, id));
            (vec![name.to_string(), text, words(unit)], Expressions::right(follows))
        };
        let states = system.states.iter();
        let states = states.map(|state| row(&system.exprs.symbol_info(state.symbol).name, None, &state.unit));
        let inputs = system.inputs.iter().map(|input| {
            let follows = input.signal.filter(|_| input.is_internal);
            row(&system.exprs.symbol_info(input.symbol).name, follows, &input.unit)
        });
        let outputs = system
            .outputs
            .iter()
            .map(|output| row(&output.name, None, &output.unit));
        self.rows("States", Style::Names, states.collect());
        self.rows("Inputs", Style::Names, inputs.collect());
        self.rows("Outputs", Style::Names, outputs.collect());
    }

    /// Adds the operating point of the linearisation.
    fn point(&mut self) {
        let system = self.system;
        let Some(point) = &system.linearized_at else { return };
        let all = point.states.iter().chain(&point.inputs).chain(&point.outputs);
        let lines = all.map(|entry| {
            let exact = match system.exprs.as_number(entry.expression) {
                Some(_) => String::new(),
                None => format!("{} = ", print::latex(&system.exprs, entry.expression)),
            };
            let value = number(entry.value);
            let unit = unit(entry.unit.as_deref().unwrap_or_default());
            format!("{} &= {exact}{value}{unit}", system.exprs.latex_name(&entry.name))
        });
        let lines = lines.collect();
        self.aligned("Point of linearisation", lines);
        let words = "States, inputs and outputs below are deviations from it.".to_string();
        self.fixed(DocumentPart::Text(vec![Inline::Words(words)], After::End));
    }

    /// Adds the nonzero initial values of states.
    fn starts(&mut self) {
        let system = self.system;
        let states = system.states.iter().filter(|state| state.start_value != 0.0);
        let rows = states.map(|state| {
            let name = system.exprs.symbol_info(state.symbol).name.to_string();
            let cells = vec![name, number(state.start_value), words(&state.unit)];
            (cells, Expressions::default())
        });
        let rows: Vec<_> = rows.collect();
        let is_all = rows.len() == system.states.len();
        self.rows("Starts", Style::Starts(is_all), rows);
    }

    fn pieces_of(&self, id: ExprId) -> Vec<String> {
        breakable_pieces(&mut self.scratch.borrow_mut(), id)
    }

    /// Returns an equation with a name on the left side and a value on the right side.
    fn named(&self, name: &str, value: ExprId) -> (Vec<String>, Expressions) {
        let cells = vec![name.to_string(), expression(&self.system.exprs, value)];
        (cells, Expressions::right(Some(value)))
    }

    fn equations(&mut self) {
        let system = self.system;
        let assignments = system.read_assignments().iter();
        let assignments = assignments.map(|each| self.named(&system.exprs.symbol_info(each.symbol).name, each.value));
        let assignments = assignments.collect();
        self.rows("Assignments", Style::Equations, assignments);
        let mut lines = Vec::new();
        for at in 0..system.equations.loops.len() {
            for residual in system.read_residuals(at) {
                lines.extend(equation("0", &self.pieces_of(*residual)));
            }
        }
        self.aligned("Algebraic loops", lines);
        let rows = (0..system.states.len()).map(|state| {
            let read = system.read_equation(state);
            let cells = vec![read.left, expression(&system.exprs, read.right)];
            let left = self.left_side(state);
            (
                cells,
                Expressions {
                    left,
                    right: Some(read.right),
                },
            )
        });
        let rows = rows.collect();
        self.rows("State equations", Style::Equations, rows);
        let outputs = system.outputs.iter().enumerate();
        let outputs = outputs.map(|(at, output)| self.named(&output.name, system.read_output(at)));
        let outputs = outputs.collect();
        self.rows("Outputs", Style::Equations, outputs);
    }

    fn left_side(&self, state: usize) -> Left {
        let system = self.system;
        let terms = |terms: &[(u32, ExprId)]| {
            let term = |(at, factor): &(u32, ExprId)| (*factor, system.states[*at as usize].symbol);
            terms.iter().map(term).collect()
        };
        match (&system.equations.mass_form, &system.equations.mass_matrix) {
            (Some(form), _) => Left::MassesOfForm(terms(&form.equations[state].terms)),
            (None, Some(mass)) => Left::Masses(terms(&mass.rows[state])),
            (None, None) => Left::Rate(system.states[state].symbol),
        }
    }

    /// Adds the equations in block form, then the vectors and matrices in them.
    fn blocks(&mut self, form: &BlockForm) {
        let system = self.system;
        let notation = Tex {
            system,
            options: self.options.matrices,
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
            let entries: Vec<String> = vector
                .entries
                .iter()
                .map(|entry| system.exprs.latex_name(entry))
                .collect();
            let entries = some(&entries).replace("..", "\\ldots");
            vectors.push(format!("{} &= \\left({entries}\\right)", notation.vector(vector)));
        }
        self.aligned("Vectors", vectors);
        for matrix in &form.matrices {
            let value = |id: ExprId| notation.value(id);
            let entries = Written {
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
            self.fixed(says_of(&name, &shape));
            let lines: Vec<String> = shown
                .into_iter()
                .map(|entry| match entry {
                    Some((row, column, value)) => format!("{name}_{{{row},{column}}} &= {}", notation.value(value)),
                    None => "&\\;\\vdots".to_string(),
                })
                .collect();
            self.fixed(DocumentPart::Aligned(lines));
        }
    }

    /// Adds equations under a title; adds nothing if there are no equations.
    fn aligned(&mut self, title: &str, lines: Vec<String>) {
        if !lines.is_empty() {
            self.fixed(DocumentPart::Heading(title.to_string()));
            self.fixed(DocumentPart::Aligned(lines));
        }
    }

    fn matrices<T: Copy>(&mut self, form: &LinearForm<T>, entries: &Written<'_, T>) {
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
        self.fixed(DocumentPart::Heading("Matrix form".to_string()));
        self.fixed(DocumentPart::Formula(format!(
            "\\dot{{x}} = A x + B u{e}{x}, \\qquad y = C x + D u{f}{y}"
        )));
        let lists_entries = self.options.matrices.lists_entries(self.system);
        for (name, matrix) in form.matrices() {
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

    fn matrix<T: Copy>(&mut self, name: &str, matrix: &SparseMatrix<T>, lists_entries: bool, entries: &Written<'_, T>) {
        // Every column takes at least two characters, so a huge matrix is rejected before it is typeset.
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
                self.fixed(DocumentPart::Matrix(formula, size));
            }
            _ => {
                let is_asked_for = self.options.matrices.sparse || self.options.flat;
                let most = if is_asked_for {
                    usize::MAX
                } else {
                    self.options.most_entries
                };
                let entries = Entries::of(name, matrix, most, entries.pieces, entries.is_zero);
                self.pieces.push(Piece::Entries(entries));
            }
        }
    }
}

/// Prints a unit as a table cell.
fn words(unit: &Option<SiUnit>) -> String {
    unit.as_deref().unwrap_or_default().to_string()
}
