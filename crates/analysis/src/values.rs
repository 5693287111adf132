//! Matrices A..F for the values of the parameters.

use lgm_algebra::expr::{ExprId, Exprs, SymbolId, to_f64};
use lgm_model::system::{LinearForm, SparseMatrix, StateSystem};
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use nalgebra::DMatrix;
use num_rational::BigRational;
use rustc_hash::FxHashMap;

/// Returns the values of all parameters, rounded to doubles.
pub(crate) fn parameter_values(system: &StateSystem) -> FxHashMap<SymbolId, f64> {
    let entries = system.parameters.iter().flat_map(|parameter| &parameter.entries);
    entries.map(|entry| (entry.symbol, to_f64(&entry.value))).collect()
}

/// Returns A..F for the exact values of the parameters; `None` without matrices in terms of the parameters, or without finite values.
pub(crate) fn exact_form(system: &StateSystem) -> Option<LinearForm<BigRational>> {
    let form = system.matrices.symbolic.as_ref()?;
    let entries = system.parameters.iter().flat_map(|parameter| &parameter.entries);
    let mut values: FxHashMap<SymbolId, BigRational> =
        entries.map(|entry| (entry.symbol, entry.value.clone())).collect();
    for assignment in &system.equations.assignments {
        let value = |symbol: SymbolId| values.get(&symbol).cloned();
        // A parameter that depends on more than the parameters is in no constant entry.
        if let Some(found) = system
            .exprs
            .evaluate_exact(&[assignment.value], &value)
            .ok()
            .and_then(|mut list| list.pop())
        {
            values.insert(assignment.symbol, found);
        }
    }
    try_map(form, |id| {
        let found = system
            .exprs
            .evaluate_exact(&[*id], &|symbol| values.get(&symbol).cloned());
        found.ok()?.pop()
    })
}

/// Returns an error for a system with delays that the analysis does not close itself.
pub(crate) fn without_delays(system: &StateSystem, property: &str) -> Result<(), Box<Diagnostic>> {
    // Nonlinear outputs are omitted.
    let is_open = |name: &str| system.outputs.iter().any(|output| *output.name == *name);
    let mut delays = system.events.delays.iter();
    if let Some(delay) = delays.find(|delay| !delay.output.as_ref().is_some_and(|name| is_open(name))) {
        let name = &system.exprs.symbol_info(delay.symbol).name;
        let message = format!(
            "`{}` has no {property} with a finite number of states: it contains `{name}`",
            system.model
        );
        let fault = Diagnostic::error(Code::LGM0725, message);
        return Err(Box::new(fault.help(
            "approximate delays with `--pade 4`, or with `PadeDelay` of `import signals;`",
        )));
    }
    Ok(())
}

/// Returns numeric A..F. For a nonlinear system, or a linear one without numeric matrices, the error states that `property` is unavailable.
pub fn numeric_form<'a>(system: &'a StateSystem, property: &str) -> Result<&'a LinearForm<f64>, Box<Diagnostic>> {
    without_delays(system, property)?;
    if let Some(form) = system.matrices.numeric.as_ref().filter(|_| system.equations.linear) {
        return Ok(form);
    }
    let message = format!("`{}` has no {property}: it has no numeric matrices A..F", system.model);
    let fault = Diagnostic::error(Code::LGM0701, message);
    Err(Box::new(if system.equations.linear {
        fault
            .note("the system is too large for explicit matrices")
            .help("run it with `lgm simulate`, or analyse a part of it")
    } else {
        fault
            .note("its equations are not linear with constant coefficients")
            .help("linearise it: `--equilibrium`, or `--at` with the values of states and inputs; or run it with `lgm simulate`")
    }))
}

/// Formats a number as the shortest decimal of its double, or exactly if that is as short.
pub(crate) fn in_digits(value: &BigRational) -> String {
    match value.is_integer() && value.numer().bits() < 53 {
        true => value.numer().to_string(),
        false => {
            let digits = format!("{:?}", to_f64(value));
            digits.strip_suffix(".0").unwrap_or(&digits).to_string()
        }
    }
}

/// Returns the expression of the shortest decimal that reads back as the double.
pub(crate) fn decimal(exprs: &mut Exprs, value: f64) -> ExprId {
    exprs.number(lgm_equations::shortest_decimal(value))
}

/// Converts the entries of the form; `None` if a conversion fails.
pub(crate) fn try_map<T: Clone, U: Clone>(
    form: &LinearForm<T>,
    mut change: impl FnMut(&T) -> Option<U>,
) -> Option<LinearForm<U>> {
    let mut matrix = |matrix: &SparseMatrix<T>| -> Option<SparseMatrix<U>> {
        let mut row = |row: &Vec<(u32, T)>| -> Option<Vec<(u32, U)>> {
            row.iter()
                .map(|(column, value)| Some((*column, change(value)?)))
                .collect()
        };
        Some(SparseMatrix {
            columns: matrix.columns,
            rows: matrix.rows.iter().map(&mut row).collect::<Option<_>>()?,
        })
    };
    Some(LinearForm {
        a: matrix(&form.a)?,
        b: matrix(&form.b)?,
        c: matrix(&form.c)?,
        d: matrix(&form.d)?,
        e: matrix(&form.e)?,
        f: matrix(&form.f)?,
        x_offset: None,
        y_offset: None,
    })
}

/// Returns the dense matrix.
pub(crate) fn dense(matrix: &SparseMatrix<f64>) -> DMatrix<f64> {
    let mut dense = DMatrix::zeros(matrix.rows.len(), matrix.columns);
    for (row, entries) in matrix.rows.iter().enumerate() {
        for (column, value) in entries {
            dense[(row, *column as usize)] = *value;
        }
    }
    dense
}
