//! Values in messages: their notation, and the locations of the parameters that they depend on.

use crate::Parameter;
use lgm_algebra::expr::{self, ExprId, Exprs, to_f64};
use lgm_source::diagnostic::{Diagnostic, Label};
use num_rational::BigRational;
use num_traits::Zero;

/// More parameters than this are not labelled in one diagnostic.
const LABELS: usize = 6;

/// Labels the values of the parameters that expressions depend on.
pub fn label_parameters(
    parameters: &[Parameter],
    exprs: &Exprs,
    mut diagnostic: Diagnostic,
    roots: &[ExprId],
) -> Diagnostic {
    let symbols = exprs.symbols_of(roots);
    let mut labelled = 0;
    for parameter in parameters {
        for entry in &parameter.entries {
            let here = |label: &Label| label.span == parameter.value_span;
            let known = symbols.binary_search(&entry.symbol).is_ok();
            if !known || labelled == LABELS || diagnostic.labels.iter().any(here) {
                continue;
            }
            labelled += 1;
            let name = &exprs.symbol_info(entry.symbol).name;
            let words = format!("`{name}` is {} here", shown(&entry.value));
            diagnostic = diagnostic.label(parameter.value_span, words);
        }
    }
    diagnostic
}

/// Returns a number in readable form: exact if that is short, otherwise rounded.
pub fn shown(value: &BigRational) -> String {
    let rounded = to_f64(value);
    let in_range = rounded.is_finite() && (rounded != 0.0 || value.is_zero());
    if !in_range {
        return expr::print::number(value);
    }
    let exact = expr::print::number(value);
    match exact.len() <= 12 {
        true => exact,
        false if (1e-4..1e9).contains(&rounded.abs()) => format!("{rounded}"),
        false => format!("{rounded:e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_given_in_few_digits() {
        let half = BigRational::new(1.into(), 2.into());
        assert_eq!(shown(&half), "0.5");
        assert_eq!(shown(&BigRational::new(1.into(), 3.into())), "1/3");
        let pi = BigRational::from_float(std::f64::consts::PI).unwrap();
        assert_eq!(shown(&pi), "3.141592653589793");
        let tiny = BigRational::from_float(1.5e-17).unwrap();
        assert_eq!(shown(&tiny), "1.5e-17");
    }
}
