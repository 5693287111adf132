//! The `lgm-equations/1` schema, streamed: a system of a million states is never held as one text.

use super::{Matrices, MatrixOptions, double, expression, members};
use lgm_algebra::expr::{ExprId, SymbolId};
use lgm_model::blocks::BlockForm;
use lgm_model::system::{LinearForm, SparseMatrix, StateSystem};
use lgm_model::{Parameter, ParameterEntry};
use std::io::{self, Write};

/// Writes the equations as JSON: keys in the order of the schema, floats as the shortest text that reads back as
/// the same double, `null` for what is unknown, not finite or does not exist.
pub fn json(system: &StateSystem, options: MatrixOptions, out: &mut dyn Write) -> io::Result<()> {
    let mut writer = Writer { system, options, out };
    writer.system()
}

/// Writes a text in quotes, escaped as JSON asks.
pub fn write_json_string(out: &mut dyn Write, text: &str) -> io::Result<()> {
    out.write_all(b"\"")?;
    let mut written = 0;
    for (at, letter) in text.char_indices() {
        let escape = match letter {
            '"' => "\\\"".to_string(),
            '\\' => "\\\\".to_string(),
            '\n' => "\\n".to_string(),
            '\t' => "\\t".to_string(),
            '\r' => "\\r".to_string(),
            control if u32::from(control) < 0x20 => format!("\\u{:04x}", u32::from(control)),
            _ => continue,
        };
        out.write_all(&text.as_bytes()[written..at])?;
        out.write_all(escape.as_bytes())?;
        written = at + letter.len_utf8();
    }
    out.write_all(&text.as_bytes()[written..])?;
    out.write_all(b"\"")
}

/// Writes a number; JSON has no word for infinity or for what is not a number, so these are `null`.
pub fn write_json_number(out: &mut dyn Write, value: f64) -> io::Result<()> {
    if value.is_finite() {
        write!(out, "{value:?}")
    } else {
        out.write_all(b"null")
    }
}

struct Writer<'a> {
    system: &'a StateSystem,
    options: MatrixOptions,
    out: &'a mut dyn Write,
}

impl Writer<'_> {
    fn system(&mut self) -> io::Result<()> {
        let system = self.system;
        self.raw("{\n  \"schema\": \"lgm-equations/1\"")?;
        self.key("model")?;
        self.string(&system.model)?;
        self.variables()?;
        self.point()?;
        self.key("linear")?;
        self.raw(if system.linear { "true" } else { "false" })?;
        self.matrices()?;
        self.laws()?;
        if let Some(form) = system.block_form.as_ref().filter(|_| self.options.blocks) {
            self.key("blocks")?;
            self.blocks(form)?;
        }
        self.raw("\n}\n")
    }

    /// Parameters, states, inputs and outputs.
    fn variables(&mut self) -> io::Result<()> {
        let system = self.system;
        self.key("parameters")?;
        self.lines(&system.parameters, Writer::parameter)?;
        self.key("states")?;
        self.lines(&system.states, |writer, state| {
            writer.raw("{\"name\": ")?;
            writer.string(&state.name)?;
            writer.raw(", \"element\": ")?;
            writer.string(&state.element)?;
            writer.raw(", \"variable\": ")?;
            writer.string(state.variable.word())?;
            writer.raw(", \"unit\": ")?;
            writer.unit(state.unit.as_deref())?;
            writer.raw(", \"start\": ")?;
            writer.number(state.start_value)?;
            writer.raw("}")
        })?;
        self.key("inputs")?;
        self.lines(&system.inputs, |writer, input| {
            writer.raw("{\"name\": ")?;
            writer.string(&input.name)?;
            writer.raw(", \"unit\": ")?;
            writer.unit(input.unit.as_deref())?;
            if let Some(signal) = input.signal.filter(|_| input.is_internal) {
                writer.raw(", \"follows\": ")?;
                writer.expression(signal)?;
            }
            writer.raw("}")
        })?;
        self.key("outputs")?;
        self.lines(&system.outputs, |writer, output| {
            writer.name_and_unit(&output.name, output.unit.as_deref())
        })
    }

    /// The point at which the equations were linearised, if they were.
    fn point(&mut self) -> io::Result<()> {
        if let Some(point) = &self.system.linearized_at {
            self.key("linearized_at")?;
            self.raw("{\"equilibrium\": ")?;
            self.raw(if point.is_equilibrium { "true" } else { "false" })?;
            self.raw(", \"time\": ")?;
            self.number(point.time)?;
            for (name, list) in [
                ("states", &point.states),
                ("inputs", &point.inputs),
                ("outputs", &point.outputs),
            ] {
                write!(self.out, ", \"{name}\": ")?;
                self.list(list, |writer, entry| writer.number(entry.value))?;
            }
            self.raw("}")?;
        }
        Ok(())
    }

    /// Equations, assignments, dependent storage and loops.
    fn laws(&mut self) -> io::Result<()> {
        let system = self.system;
        self.key("equations")?;
        let derivatives: Vec<_> = system.states.iter().zip(&system.derivatives).collect();
        self.lines(&derivatives, |writer, (state, value)| {
            writer.raw("{\"der\": ")?;
            writer.string(&state.name)?;
            writer.raw(", \"expr\": ")?;
            writer.expression(**value)?;
            writer.raw("}")
        })?;
        self.key("output_equations")?;
        let outputs: Vec<_> = system.outputs.iter().zip(&system.output_values).collect();
        self.lines(&outputs, |writer, (output, value)| {
            writer.named_expression(&output.name, **value)
        })?;
        self.key("assignments")?;
        self.lines(&system.assignments, |writer, assignment| {
            let name = writer.symbol(assignment.symbol);
            writer.named_expression(&name, assignment.value)
        })?;
        self.key("mass_matrix")?;
        match &system.mass_matrix {
            None => self.raw("null")?,
            Some(matrix) => self.matrix(matrix, &Writer::expression, &|writer| writer.raw("\"0\""))?,
        }
        self.key("dependent")?;
        self.lines(&system.dependent, |writer, dependent| {
            writer.raw("{\"element\": ")?;
            writer.string(&dependent.element)?;
            writer.raw(", \"on\": ")?;
            writer.list(&dependent.on, |writer, name| writer.string(name))?;
            writer.raw(", \"equivalent\": ")?;
            writer.string(&dependent.equivalent)?;
            writer.raw("}")
        })?;
        self.key("loops")?;
        self.lines(&system.loops, |writer, each| {
            writer.raw("{\"unknowns\": ")?;
            writer.list(&each.unknowns, |writer, unknown| {
                let name = writer.symbol(*unknown);
                writer.string(&name)
            })?;
            writer.raw(", \"residuals\": ")?;
            writer.list(&each.residuals, |writer, residual| writer.expression(*residual))?;
            writer.raw(", \"linear\": ")?;
            writer.raw(if each.linear { "true}" } else { "false}" })
        })
    }

    /// Equations as the text has them, the vectors by their entries, the matrices by theirs.
    fn blocks(&mut self, form: &BlockForm) -> io::Result<()> {
        let numeric = self.options.numeric;
        for (key, equations) in [
            ("{\"equations\": ", &form.equations),
            (", \"measured\": ", &form.measured),
            (", \"output_equations\": ", &form.outputs),
        ] {
            self.raw(key)?;
            let lines = super::blocks::lines(self.system, form, equations, numeric);
            self.list(&lines, |writer, (left, right)| {
                writer.string(&format!("{left} = {right}"))
            })?;
        }
        self.raw(", \"vectors\": ")?;
        self.lines(&form.vectors, |writer, vector| {
            writer.raw("{\"name\": ")?;
            writer.string(&vector.name)?;
            writer.raw(", \"entries\": ")?;
            writer.list(&vector.entries, |writer, entry| writer.string(entry))?;
            writer.raw("}")
        })?;
        self.raw(", \"matrices\": ")?;
        self.lines(&form.matrices, |writer, matrix| {
            writer.raw("{\"name\": ")?;
            writer.string(&matrix.name)?;
            writer.raw(", \"value\": ")?;
            let system = writer.system;
            match numeric {
                true => {
                    let number = |id: ExprId| system.exprs.as_number(id).map_or(f64::NAN, double);
                    let numbers = matrix.entries.map(|id| number(*id));
                    writer.matrix(&numbers, &Writer::number, &|writer| writer.raw("0.0"))?;
                }
                false => writer.matrix(&matrix.entries, &Writer::expression, &|writer| writer.raw("\"0\""))?,
            }
            writer.raw("}")
        })?;
        self.raw("}")
    }

    fn parameter(&mut self, parameter: &Parameter) -> io::Result<()> {
        self.raw("{\"name\": ")?;
        self.string(&parameter.name)?;
        self.raw(", \"value\": ")?;
        self.shaped(parameter, &|writer, entry| writer.number(double(&entry.value)))?;
        if parameter.entries.iter().any(|entry| entry.derived.is_some()) {
            self.raw(", \"expr\": ")?;
            self.shaped(parameter, &|writer, entry| match entry.derived {
                Some(id) => writer.expression(id),
                None => writer.raw("null"),
            })?;
        }
        self.raw(", \"unit\": ")?;
        self.unit(parameter.unit.as_deref())?;
        self.raw("}")
    }

    /// A number, a list or a list of rows, by the shape of the parameter.
    fn shaped(
        &mut self,
        parameter: &Parameter,
        each: &dyn Fn(&mut Self, &ParameterEntry) -> io::Result<()>,
    ) -> io::Result<()> {
        match parameter.shape[..] {
            [] => each(self, &parameter.entries[0]),
            [_] => self.list(&parameter.entries, each),
            _ => {
                let columns = parameter.shape[1].max(1);
                let rows: Vec<&[ParameterEntry]> = parameter.entries.chunks(columns).collect();
                self.list(&rows, |writer, row| writer.list(row, each))
            }
        }
    }

    fn matrices(&mut self) -> io::Result<()> {
        match Matrices::of(self.system, self.options) {
            None => {
                for name in ["A", "B", "C", "D", "E", "F"] {
                    self.key(name)?;
                    self.raw("null")?;
                }
                Ok(())
            }
            Some(Matrices::Symbolic(form)) => self.form(form, &Writer::expression, &|writer| writer.raw("\"0\"")),
            Some(Matrices::Numeric(form)) => self.form(form, &Writer::number, &|writer| writer.raw("0.0")),
        }
    }

    fn form<T: Copy>(
        &mut self,
        form: &LinearForm<T>,
        entry: &dyn Fn(&mut Self, T) -> io::Result<()>,
        zero: &dyn Fn(&mut Self) -> io::Result<()>,
    ) -> io::Result<()> {
        for (name, member) in members() {
            self.key(name)?;
            self.matrix(member(form), entry, zero)?;
        }
        for (name, offset) in [("x_offset", &form.x_offset), ("y_offset", &form.y_offset)] {
            if let Some(offset) = offset {
                self.key(name)?;
                self.list(offset, |writer, value| entry(writer, *value))?;
            }
        }
        Ok(())
    }

    fn matrix<T: Copy>(
        &mut self,
        matrix: &SparseMatrix<T>,
        entry: &dyn Fn(&mut Self, T) -> io::Result<()>,
        zero: &dyn Fn(&mut Self) -> io::Result<()>,
    ) -> io::Result<()> {
        if !self.options.lists_entries(self.system) {
            return self.lines(&matrix.rows, |writer, row| {
                writer.raw("[")?;
                let mut stored = row.iter().peekable();
                for column in 0..matrix.columns {
                    if column > 0 {
                        writer.raw(", ")?;
                    }
                    match stored.next_if(|(at, _)| *at as usize == column) {
                        Some((_, value)) => entry(writer, *value)?,
                        None => zero(writer)?,
                    }
                }
                writer.raw("]")
            });
        }
        write!(
            self.out,
            "{{\"shape\": [{}, {}], \"rows\": [",
            matrix.rows.len(),
            matrix.columns
        )?;
        let entries = || {
            let rows = matrix.rows.iter().enumerate();
            rows.flat_map(|(row, entries)| entries.iter().map(move |(column, value)| (row, *column, *value)))
        };
        self.separated(entries(), |writer, (row, _, _)| write!(writer.out, "{row}"))?;
        self.raw("], \"cols\": [")?;
        self.separated(entries(), |writer, (_, column, _)| write!(writer.out, "{column}"))?;
        self.raw("], \"values\": [")?;
        self.separated(entries(), |writer, (_, _, value)| entry(writer, value))?;
        self.raw("]}")
    }

    fn separated<T>(
        &mut self,
        items: impl Iterator<Item = T>,
        mut each: impl FnMut(&mut Self, T) -> io::Result<()>,
    ) -> io::Result<()> {
        for (at, item) in items.enumerate() {
            if at > 0 {
                self.raw(", ")?;
            }
            each(self, item)?;
        }
        Ok(())
    }

    fn list<T>(&mut self, items: &[T], each: impl Fn(&mut Self, &T) -> io::Result<()>) -> io::Result<()> {
        self.raw("[")?;
        self.separated(items.iter(), |writer, item| each(writer, item))?;
        self.raw("]")
    }

    /// A list with a line for each item.
    fn lines<T>(&mut self, items: &[T], each: impl Fn(&mut Self, &T) -> io::Result<()>) -> io::Result<()> {
        if items.is_empty() {
            return self.raw("[]");
        }
        for (at, item) in items.iter().enumerate() {
            self.raw(if at == 0 { "[\n    " } else { ",\n    " })?;
            each(self, item)?;
        }
        self.raw("\n  ]")
    }

    fn key(&mut self, name: &str) -> io::Result<()> {
        write!(self.out, ",\n  \"{name}\": ")
    }

    fn name_and_unit(&mut self, name: &str, unit: Option<&str>) -> io::Result<()> {
        self.raw("{\"name\": ")?;
        self.string(name)?;
        self.raw(", \"unit\": ")?;
        self.unit(unit)?;
        self.raw("}")
    }

    fn named_expression(&mut self, name: &str, value: ExprId) -> io::Result<()> {
        self.raw("{\"name\": ")?;
        self.string(name)?;
        self.raw(", \"expr\": ")?;
        self.expression(value)?;
        self.raw("}")
    }

    fn unit(&mut self, unit: Option<&str>) -> io::Result<()> {
        match unit {
            Some(unit) => self.string(unit),
            None => self.raw("null"),
        }
    }

    fn symbol(&self, symbol: SymbolId) -> std::sync::Arc<str> {
        self.system.exprs.symbol_info(symbol).name.clone()
    }

    fn expression(&mut self, id: ExprId) -> io::Result<()> {
        let text = expression(&self.system.exprs, id);
        self.string(&text)
    }

    fn string(&mut self, text: &str) -> io::Result<()> {
        write_json_string(self.out, text)
    }

    fn number(&mut self, value: f64) -> io::Result<()> {
        write_json_number(self.out, value)
    }

    fn raw(&mut self, text: &str) -> io::Result<()> {
        self.out.write_all(text.as_bytes())
    }
}
