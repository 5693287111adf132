//! Impedance and sources from the equations of a model with a source at the port.

use super::probe::Test;
use crate::transfer::{Functions, functions};
use crate::values::numeric_form;
use lgm_model::system::StateSystem;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use std::sync::Arc;

/// The variable that the source gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EquivalentKind {
    /// The across variable, in series with the impedance.
    Across,
    /// The through variable, in parallel with the impedance: the network has no across variable of its own when open.
    Through,
}

/// Coefficients of descending powers of s, as expressions of the language or numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Ratio {
    /// Coefficients of the numerator.
    pub numerator: Vec<String>,
    /// Coefficients of the denominator; one that is zero stands for infinity.
    pub denominator: Vec<String>,
}

impl Ratio {
    /// Returns true if it is zero.
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
    /// The variable that the sources give.
    pub kind: EquivalentKind,
}

/// The equivalent of a network, from the equations with the test source as their last declared input.
pub fn equivalent(system: &StateSystem, test: Test, numeric: bool) -> Result<Equivalent, Box<Diagnostic>> {
    numeric_form(system, "equivalent")?;
    let count = system.declared_inputs().count();
    let inputs: Vec<usize> = (0..count).collect();
    let mut found = functions(system, &inputs, &[0], numeric).ok_or_else(|| {
        let fault = Diagnostic::error(Code::LGM0718, "the equivalent is too long over the parameters");
        Box::new(fault.help("ask for numbers with `--numeric`, or declare some of the parameters as `const`"))
    })?;
    let own = count - 1;
    let (kind, impedance) = match test {
        Test::Through => (EquivalentKind::Across, own),
        Test::Across if found.is_zero(own) => (EquivalentKind::Through, own),
        Test::Across => {
            // Of the current with the ends joined, the voltage of the open ends.
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
            // A flow into the network at the first end is a flow out of its source.
            if kind == EquivalentKind::Through {
                found.negate(input);
            }
            sources.push((declared.name.clone(), ratio(&mut found, input)));
        }
    }
    if found.is_exhausted() {
        let fault = Diagnostic::error(Code::LGM0718, "the equivalent is too long over the parameters");
        return Err(Box::new(fault.help("ask for numbers with `--numeric`")));
    }
    Ok(Equivalent {
        impedance,
        sources,
        kind,
    })
}
