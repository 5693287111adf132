//! The equations as text for a terminal.

pub(crate) mod blocks;
mod pieces;
mod stretched;
pub(crate) mod tables;

pub use stretched::stretched_text;
pub use tables::TextOptions;

use crate::repeating::{Entries, Letters, Manner, gathered};
use crate::{Matrices, MatrixOptions, double, expression, formula, shortest, significant};
use lgm_algebra::expr::{ExprId, Node, SymbolId};
use lgm_model::SiUnit;
use lgm_model::system::{
    AlgebraicLoop, DependentStorage, LinearForm, PointValue, SparseMatrix, StateSystem, StateVariable,
};
use lgm_model::{Parameter, ParameterEntry};
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Zero};
use pieces::{Pieces, written};
use rustc_hash::FxHashMap;
use std::fmt::Write;
use tables::whole_matrix;

/// Prints an overview of the system, each equation, and the matrices if they exist.
pub fn text(system: &StateSystem, options: &TextOptions) -> String {
    written(text_pieces(system, options).into_list())
}

/// Returns the parts of the text in order.
fn text_pieces(system: &StateSystem, options: &TextOptions) -> Pieces {
    let shortened;
    let system = if options.matrices.numeric {
        shortened = with_short_numbers(system);
        &shortened
    } else {
        system
    };
    let mut out = Pieces::default();
    out.push_str(&format!("model {}\n", system.model));
    if !system.events.modes.is_empty() {
        writeln!(out, "\nin the modes: {}", system.events.words()).expect("invariant: a text takes every line");
    }
    if let Some(form) = system.matrices.blocks.as_ref().filter(|_| options.matrices.blocks) {
        parameters(system, &mut out);
        inputs_and_outputs(system, options, &mut out);
        let mut blocks = String::new();
        crate::text::blocks::text(system, form, options, &mut blocks);
        out.push_str(&blocks);
        return out;
    }
    declarations(system, options, &mut out);
    if options.matrices.blocks {
        out.push_str(
            "\nThese equations are given one by one: blocks need a linear model, and not too many entries in them.\n",
        );
    }
    operating_point(system, &mut out);
    equations(system, options, &mut out);
    dependent_storage(system, options, &mut out);
    match Matrices::of(system, options.matrices) {
        Some(Matrices::Symbolic(form)) => {
            let zero = |id: ExprId| system.exprs.is_zero(id);
            matrices(
                system,
                form,
                options,
                &|id| expression(&system.exprs, id),
                &zero,
                &mut out,
            );
        }
        Some(Matrices::Numeric(form)) => {
            let zero = |value: f64| value == 0.0;
            matrices(system, form, options, &|value| significant(value, 6), &zero, &mut out);
        }
        None => out.push_str(no_matrices(system, options.matrices)),
    }
    out
}

/// Returns the same system with the long decimals in its equations rounded to six significant digits. Other numbers, such as
/// an exponent of 1/3, come from the model text and stay.
fn with_short_numbers(system: &StateSystem) -> StateSystem {
    let mut system = system.clone();
    let roots: Vec<&mut ExprId> = system.equations.shown_mut().collect();
    let exprs = &mut system.exprs;
    let reachable = exprs.reachable(&roots.iter().map(|id| **id).collect::<Vec<_>>());
    let mut replaced = FxHashMap::default();
    for id in reachable {
        let node = exprs.node(id).clone();
        let now = match &node {
            Node::Number(value) => short_decimal(value).map_or(id, |short| exprs.number(short)),
            _ => exprs.rebuild(&node, &replaced),
        };
        replaced.insert(id, now);
    }
    for id in roots {
        *id = replaced[id];
    }
    system
}

/// Rounds a non-integer decimal to six significant digits; none for other numbers.
fn short_decimal(value: &BigRational) -> Option<BigRational> {
    let mut rest = value.denom().clone();
    for prime in [2u32, 5] {
        while (&rest % prime).is_zero() {
            rest /= prime;
        }
    }
    if value.is_integer() || !rest.is_one() {
        return None;
    }
    let text = format!("{:.5e}", double(value));
    let (mantissa, exponent) = text.split_once('e')?;
    let digits: BigInt = mantissa.replace('.', "").parse().ok()?;
    let scale = BigRational::from_integer(BigInt::from(10)).pow(exponent.parse::<i32>().ok()? - 5);
    Some(BigRational::from_integer(digits) * scale)
}

/// Explains why there are no matrices to show.
fn no_matrices(system: &StateSystem, options: MatrixOptions) -> &'static str {
    if !system.equations.linear {
        "\nThe equations are not linear with constant coefficients, so there are no matrices.\n"
    } else if options.numeric {
        "\nThe system is too large for matrices in numbers.\n"
    } else {
        "\nThe system is too large for matrices in symbols.\n"
    }
}

fn declarations(system: &StateSystem, options: &TextOptions, out: &mut Pieces) {
    parameters(system, out);
    states(system, options, out);
    inputs_and_outputs(system, options, out);
}

/// Prints the constants and derived parameters among these symbols, with their values and formulas; an empty text if there are none.
pub fn definitions(system: &StateSystem, symbols: &[SymbolId]) -> String {
    let is_used = |parameter: &&Parameter| {
        let is_shown = |entry: &ParameterEntry| {
            symbols.contains(&entry.symbol) && (parameter.is_constant || formula(&system.exprs, entry).is_some())
        };
        parameter.entries.iter().any(is_shown)
    };
    let used = system.parameters.iter().filter(is_used);
    let mut out = Pieces::default();
    single(
        "with",
        used.map(|parameter| parameter_row(system, parameter)).collect(),
        &mut out,
    );
    written(out.into_list())
}

fn parameters(system: &StateSystem, out: &mut Pieces) {
    let row = |parameter: &&Parameter| parameter_row(system, parameter);
    let (constants, parameters): (Vec<&Parameter>, Vec<&Parameter>) =
        system.parameters.iter().partition(|parameter| parameter.is_constant);
    single("parameters", parameters.iter().map(row).collect(), out);
    single("constants", constants.iter().map(row).collect(), out);
}

/// Returns the name of a parameter, its value, and its formula if it has one.
fn parameter_row(system: &StateSystem, parameter: &Parameter) -> Vec<String> {
    let value = shaped(parameter, &|entry| shortest(double(&entry.value)));
    let unit = parameter
        .unit
        .as_deref()
        .filter(|unit| *unit != "1")
        .unwrap_or_default();
    let value = format!("= {value} {unit}");
    let mut row = vec![parameter.name.to_string(), value];
    if parameter
        .entries
        .iter()
        .any(|entry| formula(&system.exprs, entry).is_some())
    {
        let derived = shaped(parameter, &|entry| match entry.derived {
            Some(id) => expression(&system.exprs, id),
            None => shortest(double(&entry.value)),
        });
        row.push(format!(" from {derived}"));
    }
    row
}

fn states(system: &StateSystem, options: &TextOptions, out: &mut Pieces) {
    let states = system.states.iter().map(|state| {
        let what = match (state.variable, &state.written) {
            (_, Some(written)) => written.to_string(),
            (StateVariable::IntegralOfAcross, _) => format!("integral of across {}", state.element),
            (StateVariable::IntegralOfThrough, _) => format!("integral of through {}", state.element),
            (StateVariable::Integral, _) => "an integral".to_string(),
            (other, _) => format!("{} of {}", other.word(), state.element),
        };
        let start = format!(" {what}, starts at {}", shortest(state.start_value));
        vec![state.name.to_string(), words(&state.unit), start]
    });
    repeating("states", states.collect(), options, out);
}

/// Adds a section whose rows may repeat over indices.
fn repeating(title: &str, rows: Vec<Vec<String>>, options: &TextOptions, out: &mut Pieces) {
    out.section(
        title,
        gathered(of_nothing_else(rows), Manner::new(Letters::Free, options.flat)),
    );
}

/// Adds a section with all its rows.
fn single(title: &str, rows: Vec<Vec<String>>, out: &mut Pieces) {
    out.section(title, gathered(of_nothing_else(rows), Manner::new(Letters::None, true)));
}

/// Returns rows that consist only of cells.
fn of_nothing_else(rows: Vec<Vec<String>>) -> Vec<(Vec<String>, ())> {
    rows.into_iter().map(|cells| (cells, ())).collect()
}

/// Prints a unit for a table column: empty if the unit is unknown.
fn words(unit: &Option<SiUnit>) -> String {
    unit.as_deref().unwrap_or_default().to_string()
}

fn inputs_and_outputs(system: &StateSystem, options: &TextOptions, out: &mut Pieces) {
    let inputs = system.inputs.iter();
    let inputs = inputs.map(|input| {
        let mut row = vec![input.name.to_string(), words(&input.unit)];
        if let Some(signal) = input.signal.filter(|_| input.is_internal) {
            row.push(format!(" follows: {}", expression(&system.exprs, signal)));
        }
        row
    });
    repeating("inputs", inputs.collect(), options, out);
    let outputs = system.outputs.iter();
    let outputs = outputs.map(|output| vec![output.name.to_string(), words(&output.unit)]);
    repeating("outputs", outputs.collect(), options, out);
}

/// Prints the operating point of linearised equations.
fn operating_point(system: &StateSystem, out: &mut Pieces) {
    let Some(point) = &system.linearized_at else { return };
    let kind = match point.is_equilibrium {
        true => "linearised at this equilibrium",
        false => "linearised at this point",
    };
    let rows = |list: &[PointValue]| -> Vec<Vec<String>> {
        list.iter()
            .map(|entry| {
                let (expression, value) = (expression(&system.exprs, entry.expression), significant(entry.value, 6));
                let unit = entry.unit.as_deref().filter(|unit| *unit != "1").unwrap_or_default();
                let shown = format!("= {value} {unit}");
                let mut row = vec![entry.name.to_string(), shown];
                if system.exprs.as_number(entry.expression).is_none() {
                    row.push(format!(" from {expression}"));
                }
                row
            })
            .collect()
    };
    let mut all = rows(&point.states);
    all.extend(rows(&point.inputs));
    all.extend(rows(&point.outputs));
    let title = format!("{kind}; states, inputs and outputs below are deviations from it");
    single(&title, all, out);
}

/// Prints a number, a list or a list of rows, depending on the shape of the parameter.
fn shaped(parameter: &Parameter, entry: &dyn Fn(&ParameterEntry) -> String) -> String {
    let row = |entries: &[ParameterEntry]| {
        let list: Vec<String> = entries.iter().map(entry).collect();
        format!("[{}]", list.join(", "))
    };
    match parameter.shape[..] {
        [] => entry(&parameter.entries[0]),
        [_] => row(&parameter.entries),
        _ => {
            let rows: Vec<String> = parameter.entries.chunks(parameter.shape[1].max(1)).map(row).collect();
            format!("[{}]", rows.join(", "))
        }
    }
}

fn equations(system: &StateSystem, options: &TextOptions, out: &mut Pieces) {
    let exprs = &system.exprs;
    let right = |value: ExprId| format!("= {}", expression(exprs, value));
    let assignments = system.read_assignments().iter().map(|assignment| {
        let name = &exprs.symbol_info(assignment.symbol).name;
        vec![name.to_string(), right(assignment.value)]
    });
    repeating("assignments, in this order", assignments.collect(), options, out);
    for (at, each) in system.equations.loops.iter().enumerate() {
        algebraic_loop(system, each, system.read_residuals(at), out);
    }
    let derivatives = (0..system.states.len()).map(|state| {
        let equation = system.read_equation(state);
        vec![equation.left, right(equation.right)]
    });
    repeating("equations", derivatives.collect(), options, out);
    let outputs = system.outputs.iter().enumerate();
    let outputs = outputs.map(|(at, output)| vec![output.name.to_string(), right(system.read_output(at))]);
    repeating("output equations", outputs.collect(), options, out);
}

fn algebraic_loop(system: &StateSystem, each: &AlgebraicLoop, residuals: &[ExprId], out: &mut Pieces) {
    let names: Vec<&str> = each
        .unknowns
        .iter()
        .map(|unknown| &*system.exprs.symbol_info(*unknown).name)
        .collect();
    let kind = if each.linear { "linear" } else { "nonlinear" };
    let _ = write!(out, "\nalgebraic loop, {kind}: solve for {}\n", names.join(", "));
    for residual in residuals {
        let _ = writeln!(out, "  0 = {}", expression(&system.exprs, *residual));
    }
}

/// Names the elements that determine a storage element without its own state.
pub(super) fn followed(dependent: &DependentStorage) -> String {
    match dependent.on.is_empty() {
        true => "the sources alone".to_string(),
        false => dependent.on.join(" and "),
    }
}

fn dependent_storage(system: &StateSystem, options: &TextOptions, out: &mut Pieces) {
    let rows = system.dependent.iter().map(|dependent| {
        let mut about = format!("follows {}", followed(dependent));
        if !dependent.equivalent.is_empty() {
            about.push_str(&format!(": equivalent {}", dependent.equivalent));
        }
        vec![dependent.element.to_string(), about]
    });
    let rows: Vec<Vec<String>> = rows.collect();
    out.lines(
        "dependent storage",
        gathered(of_nothing_else(rows), Manner::new(Letters::Free, options.flat)),
    );
}

/// Returns the names of the rows and columns of a matrix.
fn labels(system: &StateSystem, matrix: &str) -> (Vec<String>, Vec<String>) {
    let states = || system.states.iter().map(|state| state.name.to_string()).collect();
    let inputs = || system.inputs.iter().map(|input| input.name.to_string()).collect();
    let rates = || {
        let rates = system.inputs.iter();
        rates.map(|input| format!("der({})", input.name)).collect()
    };
    let outputs = || system.outputs.iter().map(|output| output.name.to_string()).collect();
    match matrix {
        "A" => (states(), states()),
        "B" => (states(), inputs()),
        "C" => (outputs(), states()),
        "D" => (outputs(), inputs()),
        "E" => (states(), rates()),
        _ => (outputs(), rates()),
    }
}

fn matrices<T: Copy>(
    system: &StateSystem,
    form: &LinearForm<T>,
    options: &TextOptions,
    entry: &dyn Fn(T) -> String,
    is_zero: &dyn Fn(T) -> bool,
    out: &mut Pieces,
) {
    // Longer lists are unreadable, and the equations contain the same information.
    let most = if options.matrices.sparse {
        usize::MAX
    } else {
        options.most_entries
    };
    let is_empty = |matrix: &SparseMatrix<T>| !matrix.rows.iter().flatten().any(|(_, value)| !is_zero(*value));
    let term = |matrix: &SparseMatrix<T>, text: &str| {
        if is_empty(matrix) {
            String::new()
        } else {
            text.to_string()
        }
    };
    let offset = |offset: &Option<Vec<T>>, text: &str| offset.as_ref().map_or(String::new(), |_| text.to_string());
    let _ = write!(
        out,
        "\nmatrix form\n  der(x) = A*x + B*u{}{}\n  y = C*x + D*u{}{}\n",
        term(&form.e, " + E*der(u)"),
        offset(&form.x_offset, " + x_offset"),
        term(&form.f, " + F*der(u)"),
        offset(&form.y_offset, " + y_offset"),
    );
    for (name, matrix) in form.matrices() {
        let rare = matches!(name, "E" | "F");
        if matrix.rows.is_empty() || matrix.columns == 0 || (rare && is_empty(matrix)) {
            continue;
        }
        let (rows, columns) = labels(system, name);
        // Long state names can make a matrix too wide. The rows have the same names in the same order.
        let shown = (!options.matrices.lists_entries(system))
            .then(|| {
                whole_matrix(name, matrix, &rows, Some(&columns), options, entry)
                    .or_else(|| whole_matrix(name, matrix, &rows, None, options, entry))
            })
            .flatten();
        out.push('\n');
        match shown {
            Some(shown) => out.push_str(&shown),
            None => out.entries(Entries::of(name, matrix, most, entry, is_zero)),
        }
    }
    for (name, offset, matrix) in [("x_offset", &form.x_offset, "A"), ("y_offset", &form.y_offset, "C")] {
        let Some(offset) = offset else { continue };
        let column = SparseMatrix {
            columns: 1,
            rows: offset.iter().map(|value| vec![(0, *value)]).collect(),
        };
        let shown = (!options.matrices.lists_entries(system))
            .then(|| whole_matrix(name, &column, &labels(system, matrix).0, None, options, entry))
            .flatten();
        out.push('\n');
        match shown {
            Some(shown) => out.push_str(&shown),
            None => out.entries(Entries::of(name, &column, most, entry, is_zero)),
        }
    }
}
