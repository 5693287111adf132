//! Transfer functions in lowest terms, as data and as JSON.

use lgm_analysis::{
    Factored, SymbolicTransfer, TransferFunction, factored, numeric_form, numeric_transfer, symbolic_transfer,
};
use lgm_equations::StateSystem;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use num_complex::Complex;
use serde_json::{Value, json};

/// The form of transfer functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Quotients of polynomials.
    Tf,
    /// Differential equations between input and output.
    Ode,
    /// Zeros, poles and gain.
    Zpk,
}

/// Transfer functions in the requested form.
#[derive(Debug)]
pub enum TransferResults {
    /// Symbolic coefficients in the parameters, highest power first.
    Symbols(SymbolicTransfer),
    /// Numeric coefficients, highest power first.
    Numbers(Vec<TransferFunction<f64>>),
    /// Zeros, poles and gains.
    Factors(Vec<Factored>),
}

/// Returns the coefficients in the syntax of the language.
pub fn in_words(found: &SymbolicTransfer) -> Vec<TransferFunction<String>> {
    let text = |id: &_| lgm_algebra::expr::text(&found.exprs, *id);
    let functions = found.functions.iter().map(|function| TransferFunction {
        input: function.input,
        output: function.output,
        numerator: function.numerator.iter().map(text).collect(),
        denominator: function.denominator.iter().map(text).collect(),
    });
    functions.collect()
}

/// Finds the transfer functions between some inputs and outputs. They are symbolic unless numbers are requested or symbolic forms are too
/// long.
///
/// # Errors
///
/// If the equations are nonlinear, or zeros and poles cannot be found.
pub fn transfer(
    system: &StateSystem,
    (form, numeric): (Form, bool),
    (inputs, outputs): (&[usize], &[usize]),
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<TransferResults, Box<Diagnostic>> {
    numeric_form(system, "transfer function")?;
    if form == Form::Zpk {
        return factored(system, inputs, outputs)
            .map(TransferResults::Factors)
            .ok_or_else(without_numbers);
    }
    if !numeric {
        if let Some(found) = symbolic_transfer(system, inputs, outputs) {
            return Ok(TransferResults::Symbols(found));
        }
        let message = "the symbolic transfer functions are too long: they are printed as numbers";
        let remark = Diagnostic::information(Code::LGM0708, message);
        diagnostics
            .push(remark.help("declare some of the parameters as `const`, or choose a pair with `--from` and `--to`"));
    }
    numeric_transfer(system, inputs, outputs)
        .map(TransferResults::Numbers)
        .ok_or_else(without_numbers)
}

fn without_numbers() -> Box<Diagnostic> {
    let fault = Diagnostic::error(
        Code::LGM0709,
        "the zeros and poles of this system could not be computed",
    );
    Box::new(
        fault
            .note(format!(
                "transfer functions are limited to {} states and to coefficients within the range of doubles; \
                 multiple zeros of high order have too few digits",
                lgm_analysis::MOST_STATES_OF_ZEROS
            ))
            .help(
                "use `lgm response` at some frequencies, or `lgm modes --near W --count N` for the poles near one \
                of them",
            ),
    )
}

/// Returns zeros or poles as a list of `[re, im]`.
fn pairs(list: &[Complex<f64>]) -> Value {
    json!(list.iter().map(|value| [value.re, value.im]).collect::<Vec<_>>())
}

/// Returns the JSON of `lgm transfer`, one value per pair.
pub fn transfer_json(form: Form, system: &StateSystem, found: &TransferResults) -> Vec<Value> {
    let quotient = |input: usize, output: usize, above: Value, below: Value| {
        let (from, to) = names(system, input, output);
        match form {
            Form::Ode => json!({"from": from, "to": to, "left": below, "right": above}),
            _ => json!({"from": from, "to": to, "num": above, "den": below}),
        }
    };
    match found {
        TransferResults::Symbols(symbolic) => {
            let list = in_words(symbolic);
            let each = list.iter();
            each.map(|one| quotient(one.input, one.output, json!(one.numerator), json!(one.denominator)))
                .collect()
        }
        TransferResults::Numbers(list) => {
            let each = list.iter();
            each.map(|one| quotient(one.input, one.output, json!(one.numerator), json!(one.denominator)))
                .collect()
        }
        TransferResults::Factors(list) => list.iter().map(|one| factors_json(system, one)).collect(),
    }
}

fn factors_json(system: &StateSystem, one: &Factored) -> Value {
    let (from, to) = names(system, one.input, one.output);
    json!({
        "from": from,
        "to": to,
        "zeros": pairs(&one.zeros),
        "poles": pairs(&one.poles),
        "gain": one.gain,
        "static_gain": one.static_gain,
        "relative_degree": one.relative_degree(),
    })
}

fn names(system: &StateSystem, input: usize, output: usize) -> (&str, &str) {
    (&system.inputs[input].name, &system.outputs[output].name)
}
