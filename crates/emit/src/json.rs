//! The `lgm-equations/1` schema, streamed. The writer borrows from the system and writes lists item by item, so that a
//! system of a million states is never stored as one text.

use super::json_format::write_in_lines;
use super::{Matrices, MatrixOptions, double, expression, formula};
use crate::text::blocks;
use lgm_algebra::expr::{ExprId, Exprs, SymbolId};
use lgm_model::blocks::{BlockEquation, BlockForm};
use lgm_model::system::{LinearForm, MassForm, OperatingPoint, PointValue, SparseMatrix, StateSystem};
use lgm_model::{Parameter, ParameterEntry};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use std::io::{self, Write};

/// Writes the equations as JSON: keys in the order of the schema, floats as the shortest text that reads back as the
/// same double, `null` for unknown, non-finite or missing values.
pub fn json(system: &StateSystem, options: MatrixOptions, out: &mut dyn Write) -> io::Result<()> {
    let most = None;
    write_in_lines(out, &Equations { system, options, most })
}

/// A list whose items are created and written one at a time.
struct Each<F>(F);

impl<F, I> Serialize for Each<F>
where
    F: Fn() -> I,
    I: Iterator<Item: Serialize>,
{
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq((self.0)())
    }
}

/// A map whose entries are created one at a time.
struct Pairs<F>(F);

impl<F, I, K, V> Serialize for Pairs<F>
where
    F: Fn() -> I,
    I: Iterator<Item = (K, V)>,
    K: Serialize,
    V: Serialize,
{
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map((self.0)())
    }
}

fn names(list: &[std::sync::Arc<str>]) -> Vec<&str> {
    list.iter().map(|name| &**name).collect()
}

/// An expression in the modelling language.
struct Expression<'a>(&'a Exprs, ExprId);

impl Serialize for Expression<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&expression(self.0, self.1))
    }
}

/// The members of the top-level object.
pub(super) struct Equations<'a> {
    pub(super) system: &'a StateSystem,
    pub(super) options: MatrixOptions,
    /// If a matrix has more entries than this, only their number is written; without a limit all entries are listed.
    pub(super) most: Option<usize>,
}

impl Serialize for Equations<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.members(&mut map)?;
        map.end()
    }
}

impl Equations<'_> {
    /// Writes all members in the order of the schema.
    pub(super) fn members<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        let system = self.system;
        map.serialize_entry("schema", "lgm-equations/1")?;
        map.serialize_entry("model", &*system.model)?;
        if !system.events.modes.is_empty() {
            let modes = &system.events.modes;
            map.serialize_entry(
                "mode",
                &Pairs(|| modes.iter().map(|each| (&*each.element, &*each.mode))),
            )?;
            map.serialize_entry(
                "modes",
                &Pairs(|| modes.iter().map(|each| (&*each.element, names(&each.all)))),
            )?;
        }
        self.variables(map)?;
        if let Some(point) = &system.linearized_at {
            map.serialize_entry("linearized_at", &at(point))?;
        }
        map.serialize_entry("linear", &system.equations.linear)?;
        self.matrices(map)?;
        self.laws(map)?;
        if let Some(form) = system.matrices.blocks.as_ref().filter(|_| self.options.blocks) {
            map.serialize_entry("blocks", &self.blocks(form))?;
        }
        Ok(())
    }
}

#[derive(Serialize)]
struct State<'a> {
    name: &'a str,
    element: &'a str,
    variable: &'static str,
    unit: Option<&'a str>,
    start: f64,
}

#[derive(Serialize)]
struct Input<'a> {
    name: &'a str,
    unit: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    follows: Option<Expression<'a>>,
}

#[derive(Serialize)]
struct Output<'a> {
    name: &'a str,
    unit: Option<&'a str>,
}

#[derive(Serialize)]
struct Derivative<'a> {
    der: &'a str,
    expr: Expression<'a>,
}

#[derive(Serialize)]
struct Named<'a> {
    name: &'a str,
    expr: Expression<'a>,
}

#[derive(Serialize)]
struct Implicit<A, M, R, O> {
    assignments: A,
    mass_matrix: M,
    right: R,
    output_equations: O,
}

#[derive(Serialize)]
struct Dependent<'a, O> {
    element: &'a str,
    on: O,
    equivalent: &'a str,
}

#[derive(Serialize)]
struct Loop<U, R> {
    unknowns: U,
    residuals: R,
    linear: bool,
}

impl<'a> Equations<'a> {
    fn expression(&self, id: ExprId) -> Expression<'a> {
        Expression(&self.system.exprs, id)
    }

    fn symbol(&self, symbol: SymbolId) -> &'a str {
        &self.system.exprs.symbol_info(symbol).name
    }

    /// Writes parameters, states, inputs and outputs.
    fn variables<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        let system = self.system;
        let of_kind = |is_constant: bool| {
            let list = system.parameters.iter();
            list.filter(move |each| each.is_constant == is_constant)
                .map(|each| self.parameter(each))
        };
        map.serialize_entry("parameters", &Each(|| of_kind(false)))?;
        if system.parameters.iter().any(|each| each.is_constant) {
            map.serialize_entry("constants", &Each(|| of_kind(true)))?;
        }
        let states = || {
            system.states.iter().map(|state| State {
                name: &state.name,
                element: &state.element,
                variable: state.variable.word(),
                unit: state.unit.as_deref(),
                start: state.start_value,
            })
        };
        map.serialize_entry("states", &Each(states))?;
        let inputs = || {
            system.inputs.iter().map(|input| Input {
                name: &input.name,
                unit: input.unit.as_deref(),
                follows: input.signal.filter(|_| input.is_internal).map(|id| self.expression(id)),
            })
        };
        map.serialize_entry("inputs", &Each(inputs))?;
        let outputs = || {
            system.outputs.iter().map(|output| Output {
                name: &output.name,
                unit: output.unit.as_deref(),
            })
        };
        map.serialize_entry("outputs", &Each(outputs))
    }

    fn parameter(&self, parameter: &'a Parameter) -> impl Serialize {
        let derived = |entry: &ParameterEntry| formula(&self.system.exprs, entry).map(|id| self.expression(id));
        let is_derived = parameter.entries.iter().any(|entry| derived(entry).is_some());
        Described {
            name: &parameter.name,
            value: Shaped(parameter, |entry: &ParameterEntry| double(&entry.value)),
            expr: is_derived.then_some(Shaped(parameter, derived)),
            unit: parameter.unit.as_deref(),
        }
    }

    /// Writes equations, assignments, dependent storage and loops.
    fn laws<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        let system = self.system;
        let named = |name: &'a str, value: ExprId| Named {
            name,
            expr: self.expression(value),
        };
        let equations = || {
            let each = system.states.iter().zip(&system.equations.derivatives);
            each.map(|(state, value)| Derivative {
                der: &state.name,
                expr: self.expression(*value),
            })
        };
        map.serialize_entry("equations", &Each(equations))?;
        let outputs = || {
            let each = system.outputs.iter().zip(&system.equations.output_values);
            each.map(|(output, value)| named(&output.name, *value))
        };
        map.serialize_entry("output_equations", &Each(outputs))?;
        let assignments = || {
            let each = system.equations.assignments.iter();
            each.map(|assignment| named(self.symbol(assignment.symbol), assignment.value))
        };
        map.serialize_entry("assignments", &Each(assignments))?;
        let mass_matrix = system.equations.mass_matrix.as_ref();
        let mass_matrix = mass_matrix.map(|matrix| self.matrix(matrix, |id| self.symbolic_entry(id)));
        map.serialize_entry("mass_matrix", &mass_matrix)?;
        if let Some(form) = &system.equations.mass_form {
            let mut mass_matrix = SparseMatrix {
                columns: system.states.len(),
                rows: form.equations.iter().map(|equation| equation.terms.clone()).collect(),
            };
            mass_matrix.rows.iter_mut().for_each(|row| row.sort_unstable());
            map.serialize_entry("implicit", &self.implicit(form, &mass_matrix))?;
        }
        let dependent = || {
            system.dependent.iter().map(|dependent| Dependent {
                element: &dependent.element,
                on: Each(|| dependent.on.iter().map(|name| &**name)),
                equivalent: &dependent.equivalent,
            })
        };
        map.serialize_entry("dependent", &Each(dependent))?;
        let loops = || {
            system.equations.loops.iter().map(|each| Loop {
                unknowns: Each(|| each.unknowns.iter().map(|unknown| self.symbol(*unknown))),
                residuals: Each(|| each.residuals.iter().map(|residual| self.expression(*residual))),
                linear: each.linear,
            })
        };
        map.serialize_entry("loops", &Each(loops))
    }

    /// Returns the equations in the form of the text output, with factors before the rates: `mass_matrix*der(x) = right` over separate
    /// assignments.
    fn implicit(&self, form: &'a MassForm, mass_matrix: &SparseMatrix<ExprId>) -> impl Serialize {
        let named = move |name: &'a str, value: ExprId| Named {
            name,
            expr: self.expression(value),
        };
        let outputs = move || {
            let outputs = self.system.outputs.iter().zip(&form.outputs);
            outputs.map(move |(output, value)| named(&output.name, *value))
        };
        let assignments = move || {
            let assignments = form.assignments.iter();
            assignments.map(move |one| named(self.symbol(one.symbol), one.value))
        };
        Implicit {
            assignments: Each(assignments),
            mass_matrix: self.matrix(mass_matrix, move |id| self.symbolic_entry(id)),
            right: Each(move || form.equations.iter().map(|equation| self.expression(equation.right))),
            output_equations: Each(outputs),
        }
    }

    fn matrices<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        match Matrices::of(self.system, self.options) {
            None => ["A", "B", "C", "D", "E", "F"]
                .iter()
                .try_for_each(|name| map.serialize_entry(name, &())),
            Some(Matrices::Symbolic(form)) => self.form(form, map, |id| self.symbolic_entry(id)),
            Some(Matrices::Numeric(form)) => self.form(form, map, |value| Entry::Number(value.unwrap_or(0.0))),
        }
    }

    fn form<T: Copy, M: SerializeMap>(
        &self,
        form: &LinearForm<T>,
        map: &mut M,
        entry: impl Fn(Option<T>) -> Entry<'a>,
    ) -> Result<(), M::Error> {
        for (name, matrix) in form.matrices() {
            map.serialize_entry(name, &self.matrix(matrix, &entry))?;
        }
        for (name, offset) in [("x_offset", &form.x_offset), ("y_offset", &form.y_offset)] {
            let Some(offset) = offset else { continue };
            if self.most.is_some() && self.options.lists_entries(self.system) {
                let rows = offset.iter().map(|value| vec![(0, *value)]).collect();
                let column = SparseMatrix { columns: 1, rows };
                map.serialize_entry(name, &self.matrix(&column, &entry))?;
            } else {
                map.serialize_entry(name, &Each(|| offset.iter().map(|value| entry(Some(*value)))))?;
            }
        }
        Ok(())
    }

    fn matrix<'m, T, F>(&self, matrix: &'m SparseMatrix<T>, entry: F) -> Matrix<'m, T, F> {
        Matrix {
            matrix,
            lists_entries: self.options.lists_entries(self.system),
            most: self.most.unwrap_or(usize::MAX),
            entry,
        }
    }

    fn symbolic_entry(&self, id: Option<ExprId>) -> Entry<'a> {
        match id {
            Some(id) => Entry::Expression(self.expression(id)),
            None => Entry::Zero("0"),
        }
    }

    fn numeric_entry(&self, id: Option<ExprId>) -> Entry<'a> {
        let number = |id| self.system.exprs.as_number(id).map_or(f64::NAN, double);
        Entry::Number(id.map_or(0.0, number))
    }

    /// Returns the equations in the form of the text output, with the entries of vectors and matrices.
    fn blocks(&self, form: &'a BlockForm) -> impl Serialize {
        let numeric = self.options.numeric;
        let lines = |equations: &[BlockEquation]| -> Vec<String> {
            let lines = blocks::lines(self.system, form, equations, numeric).into_iter();
            lines.map(|(left, right)| format!("{left} = {right}")).collect()
        };
        let vectors = || {
            form.vectors.iter().map(|vector| Vector {
                name: &vector.name,
                entries: &vector.entries,
            })
        };
        let entry = move |id| match numeric {
            true => self.numeric_entry(id),
            false => self.symbolic_entry(id),
        };
        let matrices = move || {
            form.matrices.iter().map(move |matrix| Valued {
                name: &matrix.name,
                value: self.matrix(&matrix.entries, entry),
            })
        };
        Blocks {
            equations: lines(&form.equations),
            measured: lines(&form.measured),
            output_equations: lines(&form.outputs),
            vectors: Each(vectors),
            matrices: Each(matrices),
        }
    }
}

#[derive(Serialize)]
struct Described<'a, V, E> {
    name: &'a str,
    value: V,
    #[serde(skip_serializing_if = "Option::is_none")]
    expr: Option<E>,
    unit: Option<&'a str>,
}

/// A number, a list or a list of rows, depending on the shape of the parameter.
struct Shaped<'a, F>(&'a Parameter, F);

impl<V: Serialize, F: Fn(&ParameterEntry) -> V> Serialize for Shaped<'_, F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Shaped(parameter, each) = self;
        match parameter.shape[..] {
            [] => each(&parameter.entries[0]).serialize(serializer),
            [_] => serializer.collect_seq(parameter.entries.iter().map(each)),
            _ => {
                let rows = parameter.entries.chunks(parameter.shape[1].max(1));
                serializer.collect_seq(rows.map(|row| Each(|| row.iter().map(each))))
            }
        }
    }
}

/// The operating point of the linearisation.
#[derive(Serialize)]
struct Point<L> {
    equilibrium: bool,
    time: f64,
    states: L,
    inputs: L,
    outputs: L,
}

fn at<'p>(point: &'p OperatingPoint) -> impl Serialize + use<'p> {
    let values = |list: &'p Vec<PointValue>| Each(move || list.iter().map(|entry| entry.value));
    Point {
        equilibrium: point.is_equilibrium,
        time: point.time,
        states: values(&point.states),
        inputs: values(&point.inputs),
        outputs: values(&point.outputs),
    }
}

#[derive(Serialize)]
#[serde(untagged)]
enum Entry<'a> {
    Expression(Expression<'a>),
    Zero(&'static str),
    Number(f64),
}

/// A matrix as rows, or as its stored entries; `entry` returns the text of a stored entry, and of a missing
/// entry.
struct Matrix<'m, T, F> {
    matrix: &'m SparseMatrix<T>,
    lists_entries: bool,
    most: usize,
    entry: F,
}

#[derive(Serialize)]
struct Counted {
    shape: [usize; 2],
    count: usize,
}

#[derive(Serialize)]
struct Listed<R, C, V> {
    shape: [usize; 2],
    rows: R,
    cols: C,
    values: V,
}

impl<'a, T: Copy, F: Fn(Option<T>) -> Entry<'a>> Serialize for Matrix<'_, T, F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let SparseMatrix { columns, rows } = self.matrix;
        if !self.lists_entries {
            return serializer.collect_seq(rows.iter().map(|row| {
                Each(|| {
                    let mut stored = row.iter().peekable();
                    (0..*columns).map(move |column| {
                        let found = stored.next_if(|(at, _)| *at as usize == column);
                        (self.entry)(found.map(|(_, value)| *value))
                    })
                })
            }));
        }
        let entries = || {
            let rows = rows.iter().enumerate();
            rows.flat_map(|(row, entries)| entries.iter().map(move |(column, value)| (row, *column, *value)))
        };
        let shape = [rows.len(), *columns];
        let count = rows.iter().map(Vec::len).sum();
        if count > self.most {
            return Counted { shape, count }.serialize(serializer);
        }
        let listed = Listed {
            shape,
            rows: Each(|| entries().map(|(row, _, _)| row)),
            cols: Each(|| entries().map(|(_, column, _)| column)),
            values: Each(|| entries().map(|(_, _, value)| (self.entry)(Some(value)))),
        };
        listed.serialize(serializer)
    }
}

#[derive(Serialize)]
struct Blocks<V, M> {
    equations: Vec<String>,
    measured: Vec<String>,
    output_equations: Vec<String>,
    vectors: V,
    matrices: M,
}

#[derive(Serialize)]
struct Vector<'a> {
    name: &'a str,
    entries: &'a [String],
}

#[derive(Serialize)]
struct Valued<'a, V> {
    name: &'a str,
    value: V,
}
