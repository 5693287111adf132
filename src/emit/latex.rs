//! The equations as a LaTeX document that needs nothing but amsmath.

use super::{Matrices, MatrixOptions, double, members, significant};
use crate::elaborate::model::ParameterEntry;
use crate::equations::{LinearForm, SparseMatrix, StateSystem};
use crate::expr::{ExprId, Exprs, Node, SymbolId, print};
use std::fmt::Write;

/// Characters of TeX source that fit on a line, roughly: commands count as one character.
const LINE: usize = 78;

/// Columns of characters that a matrix may have before it is given entry by entry.
const MATRIX_LINE: usize = 96;

/// Rows that a page holds; a taller matrix is given entry by entry.
const MATRIX_ROWS: usize = 40;

/// Writes a standalone document: `\documentclass{article}` and amsmath, nothing else.
pub fn latex(system: &StateSystem, options: MatrixOptions) -> String {
    let mut document = Document {
        system,
        options,
        out: String::new(),
    };
    document.write();
    document.out
}

struct Document<'a> {
    system: &'a StateSystem,
    options: MatrixOptions,
    out: String,
}

impl Document<'_> {
    fn write(&mut self) {
        let system = self.system;
        let columns = system.states.len().max(system.inputs.len()).max(10);
        let _ = write!(
            self.out,
            "\\documentclass{{article}}\n\\usepackage{{amsmath}}\n\\setcounter{{MaxMatrixCols}}{{{columns}}}\n\
             \\setlength{{\\textwidth}}{{170mm}}\n\\setlength{{\\oddsidemargin}}{{-5mm}}\n\
             \\setlength{{\\textheight}}{{230mm}}\n\\setlength{{\\topmargin}}{{-10mm}}\n\
             \\setlength{{\\parindent}}{{0pt}}\n\\allowdisplaybreaks\n\\begin{{document}}\n\\section*{{{}}}\n",
            escaped(&system.model)
        );
        self.quantities();
        self.equations();
        match Matrices::of(system, self.options) {
            Some(Matrices::Symbolic(form)) => {
                let zero = |id: ExprId| system.exprs.is_zero(id);
                self.matrices(form, &|id| print::latex(&system.exprs, id), &zero);
            }
            Some(Matrices::Numeric(form)) => self.matrices(form, &number, &|value| value == 0.0),
            None => {}
        }
        self.out.push_str("\\end{document}\n");
    }

    fn name(&self, symbol: SymbolId) -> String {
        print::latex_name(&self.system.exprs.symbol_info(symbol).name)
    }

    fn quantities(&mut self) {
        let system = self.system;
        if !system.parameters.is_empty() {
            self.out.push_str("\\subsection*{Parameters}\n\\begin{align*}\n");
            let mut lines = Vec::new();
            for parameter in &system.parameters {
                for entry in &parameter.entries {
                    let unit = unit(parameter.unit.as_deref());
                    let derived = derived(&system.exprs, entry);
                    let value = number(double(&entry.value));
                    lines.push(format!("{} &= {derived}{value}{unit}", self.name(entry.symbol)));
                }
            }
            self.rows(&lines);
            self.out.push_str("\\end{align*}\n");
        }
        let states: Vec<String> = system
            .states
            .iter()
            .map(|state| format!("${}${}", self.name(state.symbol), in_brackets(state.unit.as_deref())))
            .collect();
        let inputs: Vec<String> = system
            .inputs
            .iter()
            .map(|input| format!("${}${}", self.name(input.symbol), in_brackets(input.unit.as_deref())))
            .collect();
        let outputs: Vec<String> = system
            .outputs
            .iter()
            .map(|output| {
                format!(
                    "${}${}",
                    print::latex_name(&output.name),
                    in_brackets(output.unit.as_deref())
                )
            })
            .collect();
        for (title, list) in [("States", states), ("Inputs", inputs), ("Outputs", outputs)] {
            if !list.is_empty() {
                let _ = writeln!(self.out, "{title}: {}.\\par", list.join(",\n"));
            }
        }
    }

    fn rows(&mut self, lines: &[String]) {
        self.out.push_str(&lines.join(" \\\\\n"));
        self.out.push('\n');
    }

    /// Rows of an alignment for one equation; a long sum goes on in the next row.
    fn equation(&self, left: &str, right: ExprId, lines: &mut Vec<String>) {
        let exprs = &self.system.exprs;
        let mut line = format!("{left} &=");
        let terms: Vec<ExprId> = match exprs.node(right) {
            Node::Sum(terms) => terms.to_vec(),
            _ => vec![right],
        };
        let mut length = visible_length(left) + 2;
        for (at, term) in terms.into_iter().enumerate() {
            let set = print::latex(exprs, term);
            let (sign, set) = match set.strip_prefix('-') {
                Some(rest) => (" - ", rest.trim_start().to_string()),
                None if at > 0 => (" + ", set),
                None => (" ", set),
            };
            let more = visible_length(&set) + 3;
            if at > 0 && length + more > LINE {
                lines.push(std::mem::replace(&mut line, "&\\quad".to_string()));
                length = 4;
            }
            line.push_str(sign);
            line.push_str(&set);
            length += more;
        }
        lines.push(line);
    }

    fn equations(&mut self) {
        let system = self.system;
        let mut lines = Vec::new();
        for assignment in &system.assignments {
            self.equation(&self.name(assignment.symbol), assignment.value, &mut lines);
        }
        self.alignment("Assignments", &lines);
        let mut lines = Vec::new();
        for each in &system.loops {
            for residual in &each.residuals {
                self.equation("0", *residual, &mut lines);
            }
        }
        self.alignment("Algebraic loops", &lines);
        let mut lines = Vec::new();
        for (row, value) in system.derivatives.iter().enumerate() {
            self.equation(&self.left_side(row), *value, &mut lines);
        }
        self.alignment("State equations", &lines);
        let mut lines = Vec::new();
        for (output, value) in system.outputs.iter().zip(&system.output_values) {
            self.equation(&print::latex_name(&output.name), *value, &mut lines);
        }
        self.alignment("Outputs", &lines);
    }

    fn alignment(&mut self, title: &str, lines: &[String]) {
        if !lines.is_empty() {
            let _ = write!(self.out, "\\subsection*{{{title}}}\n\\begin{{align*}}\n");
            self.rows(lines);
            self.out.push_str("\\end{align*}\n");
        }
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

    fn matrices<T: Copy>(&mut self, form: &LinearForm<T>, entry: &dyn Fn(T) -> String, is_zero: &dyn Fn(T) -> bool) {
        let is_empty = |matrix: &SparseMatrix<T>| !matrix.rows.iter().flatten().any(|(_, value)| !is_zero(*value));
        let e = if is_empty(&form.e) { "" } else { " + E \\dot{u}" };
        let f = if is_empty(&form.f) { "" } else { " + F \\dot{u}" };
        let x = if form.x_offset.is_some() { " + x_0" } else { "" };
        let y = if form.y_offset.is_some() { " + y_0" } else { "" };
        let _ = write!(
            self.out,
            "\\subsection*{{Matrix form}}\n\\[ \\dot{{x}} = A x + B u{e}{x}, \\qquad y = C x + D u{f}{y} \\]\n"
        );
        let lists_entries = self.options.lists_entries(self.system);
        for (name, member) in members() {
            let matrix = member(form);
            let rare = matches!(name, "E" | "F");
            if matrix.rows.is_empty() || matrix.columns == 0 || (rare && is_empty(matrix)) {
                continue;
            }
            self.matrix(name, matrix, lists_entries, entry, is_zero);
        }
        for (name, offset) in [("x_0", &form.x_offset), ("y_0", &form.y_offset)] {
            let Some(offset) = offset else { continue };
            let column = SparseMatrix {
                columns: 1,
                rows: offset.iter().map(|value| vec![(0, *value)]).collect(),
            };
            self.matrix(name, &column, lists_entries, entry, is_zero);
        }
    }

    fn matrix<T: Copy>(
        &mut self,
        name: &str,
        matrix: &SparseMatrix<T>,
        lists_entries: bool,
        entry: &dyn Fn(T) -> String,
        is_zero: &dyn Fn(T) -> bool,
    ) {
        // Every column takes two characters at least, which spares a huge matrix from being set in vain.
        let fits = 2 * matrix.columns <= MATRIX_LINE && matrix.rows.len() <= MATRIX_ROWS;
        let whole = (!lists_entries && fits).then(|| {
            let mut widths = vec![1; matrix.columns];
            let mut rows = Vec::new();
            for row in &matrix.rows {
                let mut cells = vec!["0".to_string(); matrix.columns];
                for (column, value) in row {
                    let cell = entry(*value);
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
                let size = if width > LINE { "\\small" } else { "" };
                let _ = write!(
                    self.out,
                    "{{{size}\\[ {name} = \\begin{{bmatrix}}\n{}\n\\end{{bmatrix}} \\]}}\n",
                    rows.join(" \\\\\n")
                );
            }
            _ => {
                let mut entries = Vec::new();
                for (row, list) in matrix.rows.iter().enumerate() {
                    for (column, value) in list.iter().filter(|item| !is_zero(item.1)) {
                        entries.push(format!("{name}_{{{},{}}} &= {}", row + 1, column + 1, entry(*value)));
                    }
                }
                let (rows, columns) = (matrix.rows.len(), matrix.columns);
                let _ = writeln!(self.out, "${name}$ is {rows} by {columns}, zero but for");
                self.out.push_str("\\begin{align*}\n");
                if entries.is_empty() {
                    entries.push(format!("{name} &= 0"));
                }
                self.rows(&entries);
                self.out.push_str("\\end{align*}\n");
            }
        }
    }
}

/// `expr = ` of a derived parameter.
fn derived(exprs: &Exprs, entry: &ParameterEntry) -> String {
    entry
        .derived
        .map(|id| format!("{} = ", print::latex(exprs, id)))
        .unwrap_or_default()
}

/// A number with a power of ten instead of an `e`.
fn number(value: f64) -> String {
    if value.is_infinite() {
        return if value > 0.0 { "\\infty" } else { "-\\infty" }.to_string();
    }
    let text = significant(value, 6);
    match text.split_once('e') {
        Some((mantissa, exponent)) => format!("{mantissa} \\cdot 10^{{{exponent}}}"),
        None => text,
    }
}

/// Plain text, with TeX's own characters made harmless.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for letter in text.chars() {
        match letter {
            '_' | '&' | '%' | '#' | '$' | '{' | '}' => {
                out.push('\\');
                out.push(letter);
            }
            '\\' => out.push_str("\\textbackslash{}"),
            '^' => out.push_str("\\textasciicircum{}"),
            '~' => out.push_str("\\textasciitilde{}"),
            _ => out.push(letter),
        }
    }
    out
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

fn in_brackets(text: Option<&str>) -> String {
    match unit(text) {
        set if set.is_empty() => set,
        set => format!("~$[{}]$", set.trim_start_matches("\\,")),
    }
}

/// About how many characters wide the set text is: a command counts as one letter, grouping as none, and of a
/// fraction the numerator and denominator as they stand, which errs on the safe side.
fn visible_length(tex: &str) -> usize {
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
