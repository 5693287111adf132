//! The only place where the tests call the compiler.

use super::compare::Linear;
use super::random::Random;
use lgm::Request;
use lgm::diagnostic::has_errors;
use lgm::equations::{Options, SparseMatrix, StateSystem};
use lgm::expr::{ExprId, SymbolId};
use lgm::rendering::render;
use lgm::source::{NoFiles, SourceMap};
use num_traits::ToPrimitive;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The parts of a compiled model that the tests use.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// A..F in numbers.
    pub linear: Linear,
    /// Names of the states.
    pub states: Vec<String>,
}

/// The prefix of a compiler panic in the errors of [`compile_numeric`].
pub const PANIC: &str = "the compiler panicked: ";

/// Compiles a text without imports. The error is the rendered diagnostic, or reports a panic. `thorough` adds symbolic
/// matrices and the compiler's own verification.
pub fn compile_system(source: &str, thorough: bool) -> Result<StateSystem, String> {
    let mut map = SourceMap::default();
    let root = map.add("network.lgm", source, None);
    let request = Request {
        verify: thorough,
        equations: Options {
            symbolic: thorough,
            ..Options::default()
        },
        ..Request::default()
    };
    let compiled = catch_unwind(AssertUnwindSafe(|| lgm::compile(&NoFiles, &mut map, root, &request)));
    let (system, diagnostics) = compiled.map_err(|payload| {
        let text = payload.downcast_ref::<String>().map(String::as_str);
        format!(
            "{PANIC}{}",
            text.or(payload.downcast_ref::<&str>().copied()).unwrap_or("?")
        )
    })?;
    if has_errors(&diagnostics) {
        return Err(render(&map, &diagnostics, false));
    }
    system.ok_or_else(|| "there are neither equations nor errors".to_string())
}

/// Compiles a linear model to numbers.
pub fn compile_numeric(source: &str) -> Result<Compiled, String> {
    numbers(&compile_system(source, false)?)
}

/// The numbers of a compiled model.
pub fn numbers(system: &StateSystem) -> Result<Compiled, String> {
    let numeric = system
        .matrices
        .numeric
        .as_ref()
        .ok_or("there are no numeric matrices")?;
    let dense = |matrix: &SparseMatrix<f64>| {
        let columns = 0..matrix.columns;
        let row = |row: usize| {
            columns
                .clone()
                .map(|column| matrix.get(row, column).copied().unwrap_or(0.0))
                .collect()
        };
        (0..matrix.rows.len()).map(row).collect()
    };
    Ok(Compiled {
        linear: Linear {
            a: dense(&numeric.a),
            b: dense(&numeric.b),
            c: dense(&numeric.c),
            d: dense(&numeric.d),
            e: dense(&numeric.e),
            f: dense(&numeric.f),
        },
        states: system.states.iter().map(|state| state.name.to_string()).collect(),
    })
}

/// Evaluates the symbolic equations at random states, inputs and input rates with the given parameters, and compares
/// them with the matrices. The error names the differences.
pub fn expressions_fit_numbers(system: &StateSystem, linear: &Linear) -> Result<(), String> {
    let mut random = Random::new(system.states.len() as u64);
    let mut any = |count: usize| {
        (0..count)
            .map(|_| random.between(1, 1999) as f64 / 1000.0 - 1.0)
            .collect::<Vec<f64>>()
    };
    let (states, inputs, rates) = (
        any(system.states.len()),
        any(system.inputs.len()),
        any(system.inputs.len()),
    );
    let mut values = HashMap::new();
    for parameter in &system.parameters {
        for entry in &parameter.entries {
            values.insert(entry.symbol, entry.value.to_f64().ok_or("a parameter is no double")?);
        }
    }
    values.extend(
        system
            .states
            .iter()
            .map(|state| state.symbol)
            .zip(states.iter().copied()),
    );
    values.extend(
        system
            .inputs
            .iter()
            .map(|input| input.symbol)
            .zip(inputs.iter().copied()),
    );
    values.extend(system.input_rates.iter().copied().zip(rates.iter().copied()));
    let evaluate = |values: &HashMap<SymbolId, f64>, roots: &[ExprId]| {
        let found = system.exprs.evaluate_f64(roots, &|symbol| values.get(&symbol).copied());
        found.map_err(|fault| format!("an equation has no value: {fault:?}"))
    };
    for assignment in &system.equations.assignments {
        let value = evaluate(&values, &[assignment.value])?[0];
        values.insert(assignment.symbol, value);
    }
    let of = |rows: [&Vec<Vec<f64>>; 3], row: usize| {
        let factors = [&states, &inputs, &rates];
        let terms = rows
            .iter()
            .zip(factors)
            .flat_map(|(rows, factors)| rows[row].iter().zip(factors));
        let terms: Vec<f64> = terms.map(|(entry, factor)| entry * factor).collect();
        (
            terms.iter().sum::<f64>(),
            terms.iter().map(|term| term.abs()).sum::<f64>(),
        )
    };
    for (what, roots, rows) in [
        (
            "derivative",
            &system.equations.derivatives,
            [&linear.a, &linear.b, &linear.e],
        ),
        (
            "output",
            &system.equations.output_values,
            [&linear.c, &linear.d, &linear.f],
        ),
    ] {
        for (row, found) in evaluate(&values, roots)?.into_iter().enumerate() {
            let (expected, scale) = of(rows, row);
            let fits = (found - expected).abs() <= 1e-6 * scale.max(1e-9);
            if !fits {
                return Err(format!(
                    "{what} {} as an expression is {found:e}, by the matrices {expected:e}",
                    row + 1
                ));
            }
        }
    }
    Ok(())
}
