//! Impedance and sources from the equations of a model with a source at the port.

use super::probe::Test;
use crate::transfer::{Functions, functions};
use crate::values::numeric_form;
use lgm_model::system::StateSystem;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use std::sync::Arc;

/// The variable that the source sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EquivalentKind {
    /// The across variable, in series with the impedance.
    Across,
    /// The through variable, in parallel with the impedance, if the open-circuit across variable does not exist.
    Through,
}

/// Coefficients of descending powers of s, as expressions of the language or as numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Ratio {
    /// Coefficients of the numerator.
    pub numerator: Vec<String>,
    /// Coefficients of the denominator; a zero denominator means infinity.
    pub denominator: Vec<String>,
}

impl Ratio {
    /// Returns true if the ratio is zero.
    pub fn is_zero(&self) -> bool {
        let is_zero = |text: &String| matches!(text.as_str(), "0" | "0.0" | "-0.0");
        self.numerator.iter().all(is_zero)
    }
}

/// The equivalent of a network at a port.
#[derive(Clone, Debug, PartialEq)]
pub struct Equivalent {
    /// Across over through, with the through variable into the network.
    pub impedance: Ratio,
    /// The source of each input that reaches the port.
    pub sources: Vec<(Arc<str>, Ratio)>,
    /// The variable that the sources set.
    pub kind: EquivalentKind,
}

/// Computes the equivalent of a network from equations whose last declared input is the test source.
pub fn equivalent(system: &StateSystem, test: Test, numeric: bool) -> Result<Equivalent, Box<Diagnostic>> {
    numeric_form(system, "equivalent")?;
    let count = system.declared_inputs().count();
    let inputs: Vec<usize> = (0..count).collect();
    let mut found = functions(system, &inputs, &[0], numeric).ok_or_else(|| {
        let fault = Diagnostic::error(Code::LGM0718, "the equivalent is too long in terms of the parameters");
        Box::new(fault.help("use `--numeric` for numbers, or declare some of the parameters as `const`"))
    })?;
    let own = count - 1;
    let (kind, impedance) = match test {
        Test::Through => (EquivalentKind::Across, own),
        Test::Across if found.is_zero(own) => (EquivalentKind::Through, own),
        Test::Across => {
            // The open-circuit voltage divided by the short-circuit current.
            for input in 0..own {
                found.divide(input, own);
                found.negate(input);
            }
            found.invert(own);
            (EquivalentKind::Across, own)
        }
    };
    let ratio = |found: &mut Functions, at: usize| {
        let (numerator, denominator) = found.written(at);
        Ratio { numerator, denominator }
    };
    let impedance = match kind {
        EquivalentKind::Across => ratio(&mut found, impedance),
        EquivalentKind::Through => Ratio {
            numerator: vec!["1".to_string()],
            denominator: vec!["0".to_string()],
        },
    };
    let mut sources = Vec::new();
    for (input, declared) in system.declared_inputs().take(own).enumerate() {
        if !found.is_zero(input) {
            // A flow into the network at the first end leaves the source there.
            if kind == EquivalentKind::Through {
                found.negate(input);
            }
            sources.push((declared.name.clone(), ratio(&mut found, input)));
        }
    }
    if found.is_exhausted() {
        let fault = Diagnostic::error(Code::LGM0718, "the equivalent is too long in terms of the parameters");
        return Err(Box::new(fault.help("use `--numeric` for numbers")));
    }
    Ok(Equivalent {
        impedance,
        sources,
        kind,
    })
}
