//! Values that are invalid before any computation: undefined, beyond the range of doubles, negative storage, a spring
//! without stiffness, a coupler that couples nothing.
//!
//! Every value is examined only once, even if several elements share it.

use crate::diagnosis::blame::Blame;
use lgm_algebra::expr::{Evaluated, ExprId, Node, SymbolId, print, to_f64};
use lgm_model::blame::shown;
use lgm_model::{Dissipator, Element, ElementId, Law, Matrix, Model, StorageForm};
use lgm_source::Span;
use lgm_source::codes::Code;
use lgm_source::diagnostic::{Diagnostic, Label};
use num_rational::BigRational;
use num_traits::{Signed, Zero};
use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt::{self, Display};

/// Checks the values of a model: errors LGM0403 and LGM0420, warnings LGM0427, LGM0428 and LGM0429.
pub(crate) fn check(model: &Model) -> Vec<Diagnostic> {
    let mut work = ValueCheck {
        blame: Blame::new(model),
        bad: FxHashSet::default(),
        seen: FxHashMap::default(),
        weighed: FxHashSet::default(),
        said: FxHashMap::default(),
        diagnostics: Vec::new(),
    };
    work.parameters();
    for (index, element) in model.graph.elements.iter().enumerate() {
        work.element(ElementId(index as u32), element);
    }
    for integral in &model.integrals {
        let path = &model.paths[integral.path.index()];
        let name = model.path_name(integral.path);
        for (value, what) in [
            (Some(integral.rate), "the integrand"),
            (integral.start, "the initial value"),
            (integral.nominal, "the nominal value"),
        ] {
            if let Some(value) = value {
                work.value(value, &format_args!("{what} of `{name}`"), path.span);
            }
        }
    }
    for input in &model.inputs {
        if let Some(signal) = input.signal {
            work.value(signal, &format_args!("the signal of `{}`", input.name), input.span);
        }
    }
    for output in &model.outputs {
        work.value(output.value, &format_args!("output `{}`", output.name), output.span);
    }
    work.diagnostics
}

/// Adds later findings. A warning about a value is omitted if a finding explains it better: one problem, one
/// diagnostic.
pub(crate) fn merge(diagnostics: &mut Vec<Diagnostic>, mut found: Vec<Diagnostic>) {
    const OF_VALUES: [Code; 3] = [Code::LGM0427, Code::LGM0428, Code::LGM0429];
    diagnostics.retain(|known| {
        if !OF_VALUES.contains(&known.code) {
            return true;
        }
        let is_coupler = known.code == Code::LGM0429;
        for finding in &mut found {
            if is_coupler && finding.code == Code::LGM0322 {
                // That warning lacks the location of the zero.
                finding.labels.splice(0..0, known.labels.iter().cloned());
                return false;
            }
            if is_coupler && finding.code == Code::LGM0301 {
                return false;
            }
            let same = |label: &Label| known.labels.first().is_some_and(|first| first.span == label.span);
            if finding.is_error() && finding.labels.iter().any(same) {
                return false;
            }
        }
        true
    });
    diagnostics.extend(found);
}

/// The maximum number of labels for one error.
const PLACES: usize = 8;
/// Larger matrices are not checked for negative energy: in exact numbers that takes too long.
const LARGEST_WEIGHED: usize = 64;

/// The name of an element as in messages; formatted only for an error.
struct Quoted<'a>(&'a Model, ElementId);

impl Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.0.element_name(self.1))
    }
}

struct ValueCheck<'a> {
    blame: Blame<'a>,
    /// Reported parameters, so that consequences are not reported again.
    bad: FxHashSet<SymbolId>,
    /// Examined values, with true for each valid one.
    seen: FxHashMap<ExprId, bool>,
    /// Single values of storage and couplers that were examined more closely.
    weighed: FxHashSet<(ExprId, bool)>,
    /// The index of the diagnostic for each value that divides by zero or is not a number.
    said: FxHashMap<ExprId, usize>,
    diagnostics: Vec<Diagnostic>,
}

impl ValueCheck<'_> {
    fn parameters(&mut self) {
        let model = self.blame.model;
        for parameter in &model.parameters {
            for entry in &parameter.entries {
                if is_in_range(&entry.value) {
                    continue;
                }
                self.bad.insert(entry.symbol);
                let name = &model.exprs.symbol_info(entry.symbol).name;
                self.out_of_range(
                    &format_args!("parameter `{name}`"),
                    &entry.value,
                    parameter.value_span,
                    &[],
                );
            }
        }
    }

    fn element(&mut self, id: ElementId, element: &Element) {
        let name = &Quoted(self.blame.model, id);
        let span = element.law_span;
        match &element.law {
            Law::Storage { value, form, .. } => {
                if self.matrix(value, name, span) {
                    self.storage(name, span, value, *form);
                }
            }
            Law::Dissipator(Dissipator::Resistance(value) | Dissipator::Conductance(value)) => {
                self.matrix(value, name, span);
            }
            Law::Dissipator(Dissipator::Implicit(efforts, flows)) => {
                let _ = self.matrix(efforts, name, span) && self.matrix(flows, name, span);
            }
            Law::Coupler { matrix, .. } => {
                if self.matrix(matrix, name, span) {
                    self.coupler(name, span, matrix);
                }
            }
            Law::Source { values, .. } => {
                for value in values {
                    self.value(*value, &format_args!("the value of {name}"), span);
                }
            }
            Law::Nonlinear(law) => {
                for residual in &law.residuals {
                    self.value(*residual, &format_args!("the law of {name}"), span);
                }
            }
        }
        for start in element.start.iter().flatten() {
            let place = element.start_span.unwrap_or(span);
            self.value(*start, &format_args!("the initial value of {name}"), place);
        }
        for nominal in element.nominal.iter().flatten() {
            self.value(*nominal, &format_args!("the nominal value of {name}"), span);
        }
    }

    /// Returns true if every entry has a usable value.
    fn matrix(&mut self, matrix: &Matrix, name: &dyn Display, span: Span) -> bool {
        let mut good = true;
        for entry in &matrix.entries {
            good &= self.value(*entry, &format_args!("the value of {name}"), span);
        }
        good
    }

    /// Returns true if an expression has a value, or if the parameters do not decide that.
    fn value(&mut self, root: ExprId, what: &dyn Display, span: Span) -> bool {
        if let Some(known) = self.seen.get(&root) {
            return *known;
        }
        let good = self.look(root, what, span);
        self.seen.insert(root, good);
        good
    }

    fn look(&mut self, root: ExprId, what: &dyn Display, span: Span) -> bool {
        let exprs = &self.blame.model.exprs;
        if !self.bad.is_empty() && exprs.symbols_of(&[root]).iter().any(|symbol| self.bad.contains(symbol)) {
            return false;
        }
        match self.blame.exact(root) {
            Ok(value) if is_in_range(&value) => true,
            Ok(value) => {
                self.out_of_range(what, &value, span, &[root]);
                false
            }
            Err(_) => match self.undefined_part(root) {
                Some((part, fault)) => {
                    self.undefined(what, span, root, part, &fault);
                    false
                }
                // It depends on more than parameters, and nothing in it is undefined yet.
                None => true,
            },
        }
    }

    /// Returns the innermost part of an expression that has no value although all its own parts have one.
    fn undefined_part(&self, root: ExprId) -> Option<(ExprId, Evaluated)> {
        let exprs = &self.blame.model.exprs;
        let parts = exprs.reachable(&[root]);
        // A value that a condition excludes is not an error.
        if parts.iter().any(|part| matches!(exprs.node(*part), Node::If(..))) {
            return None;
        }
        parts.into_iter().find_map(|part| match exprs.node(part) {
            Node::Power(..) | Node::Call(..) => match self.blame.exact(part) {
                Err(Evaluated::NoValue(_)) => self.zero_divisor(part),
                Err(fault) if is_own_fault(exprs.node(part), &fault) => Some((part, fault)),
                _ => None,
            },
            _ => None,
        })
    }

    /// Returns an expression if it is a power that divides by zero.
    fn zero_divisor(&self, part: ExprId) -> Option<(ExprId, Evaluated)> {
        let Node::Power(base, exponent) = self.blame.model.exprs.node(part) else {
            return None;
        };
        let divides = self.blame.exact(*exponent).is_ok_and(|value| value.is_negative());
        let is_zero = self.blame.exact(*base).is_ok_and(|value| value.is_zero());
        (divides && is_zero).then_some((part, Evaluated::DivisionByZero))
    }

    fn undefined(&mut self, what: &dyn Display, span: Span, root: ExprId, part: ExprId, fault: &Evaluated) {
        let exprs = &self.blame.model.exprs;
        let cause = match exprs.node(part) {
            Node::Power(base, _) => *base,
            _ => part,
        };
        if let Some(index) = self.said.get(&cause) {
            // One zero is one error, wherever it is used.
            let labels = &mut self.diagnostics[*index].labels;
            if labels.len() < PLACES && labels.iter().all(|label| label.span != span) {
                let message = format!("{what} too");
                labels.push(Label { span, message });
            }
            return;
        }
        self.said.insert(cause, self.diagnostics.len());
        let (message, words, help) = match (fault, exprs.node(part)) {
            (Evaluated::DivisionByZero, Node::Power(base, _)) => {
                let divisor = print::brief(exprs, *base);
                (
                    format!("{what} divides by zero: `{divisor}` is 0"),
                    format!("this contains a division by `{divisor}`"),
                    format!("give the parameters values at which `{divisor}` is not zero"),
                )
            }
            (Evaluated::NotFinite(Some(function)), Node::Call(_, arguments)) => {
                let list: Vec<String> = arguments.iter().map(|argument| self.blame.value(*argument)).collect();
                (
                    format!(
                        "{what} is not a number: `{}` is taken of {}",
                        function.name(),
                        list.join(" and ")
                    ),
                    format!("this contains `{}`", print::brief(exprs, part)),
                    format!("keep the argument of `{}` within its domain", function.name()),
                )
            }
            _ => (
                format!(
                    "{what} is not a number: `{}` has no finite real value",
                    print::brief(exprs, part)
                ),
                "this has no value".to_string(),
                "check the numbers from which it is computed".to_string(),
            ),
        };
        let diagnostic = Diagnostic::error(Code::LGM0420, message).label(span, words).help(help);
        let diagnostic = self.blame.label_parameters(diagnostic, &[root]);
        self.diagnostics.push(diagnostic);
    }

    fn out_of_range(&mut self, what: &dyn Display, value: &BigRational, span: Span, roots: &[ExprId]) {
        let side = match to_f64(value).is_finite() {
            true => "too small",
            false => "too large",
        };
        let diagnostic = Diagnostic::error(
            Code::LGM0403,
            format!("{what} is {}, {side} for double precision", rounded(value)),
        )
        .label(span, "beyond the range of double precision, 1e-308 to 1.8e308")
        .help("for an ideal connection, remove the element instead of giving it an extreme value");
        let diagnostic = self.blame.label_parameters(diagnostic, roots);
        self.diagnostics.push(diagnostic);
    }

    fn exact_matrix(&self, value: &Matrix) -> Option<Vec<Vec<BigRational>>> {
        (0..value.rows)
            .map(|row| {
                (0..value.columns)
                    .map(|column| self.blame.exact(value.get(row, column)).ok())
                    .collect()
            })
            .collect()
    }

    fn storage(&mut self, name: &dyn Display, span: Span, value: &Matrix, form: StorageForm) {
        let known = value.rows == 1 && !self.weighed.insert((value.entries[0], form == StorageForm::Direct));
        if known || value.rows > LARGEST_WEIGHED {
            return;
        }
        let Some(numbers) = self.exact_matrix(value) else {
            return;
        };
        if value.rows == 1 && numbers[0][0].is_zero() && form == StorageForm::Inverse {
            let diagnostic = Diagnostic::warning(
                Code::LGM0428,
                format!("the stiffness of {name} is zero, so its through variable keeps its initial value"),
            )
            .label(span, format!("this is {}", self.blame.value(value.entries[0])))
            .help(format!(
                "remove {name} if nothing should be there, or give it a nonzero value"
            ));
            let diagnostic = self.blame.label_parameters(diagnostic, &value.entries);
            self.diagnostics.push(diagnostic);
            return;
        }
        let Some(direction) = negative_direction(numbers) else {
            return;
        };
        let words = match value.rows {
            1 => format!("this is {}", self.blame.value(value.entries[0])),
            _ => {
                let list: Vec<String> = direction.iter().map(shown).collect();
                format!("for entries in the ratio {} the energy is negative", list.join(" : "))
            }
        };
        let message = match value.rows {
            1 => format!("the value of the storage {name} is negative"),
            _ => format!("the matrix of the storage {name} is not positive: its energy can be negative"),
        };
        let diagnostic = Diagnostic::warning(Code::LGM0427, message).label(span, words).help(
            "storage with negative energy can drive a system without a source: correct the sign unless this is \
                intended",
        );
        let diagnostic = self.blame.label_parameters(diagnostic, &value.entries);
        self.diagnostics.push(diagnostic);
    }

    fn coupler(&mut self, name: &dyn Display, span: Span, matrix: &Matrix) {
        let numbers = matrix.entries.iter().map(|entry| self.blame.exact(*entry));
        if !numbers
            .into_iter()
            .all(|value| value.is_ok_and(|value| value.is_zero()))
        {
            return;
        }
        let diagnostic = Diagnostic::warning(
            Code::LGM0429,
            format!("the modulus of {name} is zero: it couples nothing"),
        )
        .label(span, format!("this is {}", self.blame.value(matrix.entries[0])))
        .help("remove the coupler if nothing should be coupled, or change the value");
        let diagnostic = self.blame.label_parameters(diagnostic, &matrix.entries);
        self.diagnostics.push(diagnostic);
    }
}

/// Returns true if a value is zero or within the range of doubles.
fn is_in_range(value: &BigRational) -> bool {
    let rounded = to_f64(value);
    rounded.is_finite() && (rounded != 0.0 || value.is_zero())
}

/// Returns true if a node itself causes the lack of a value: not one of its parts, and not a measured variable.
fn is_own_fault(node: &Node, fault: &Evaluated) -> bool {
    use lgm_algebra::expr::Function::{Der, Int};
    match (node, fault) {
        (Node::Call(Int | Der, _), _) => false,
        (Node::Call(function, _), Evaluated::NotFinite(Some(failed))) => function == failed,
        (Node::Power(..), Evaluated::DivisionByZero | Evaluated::NotFinite(None)) => true,
        _ => false,
    }
}

/// Formats a number of any size with a few digits: `1.2e309`.
fn rounded(value: &BigRational) -> String {
    let text = shown(value);
    if text.len() <= 20 {
        return text;
    }
    let digits = |number: &num_bigint::BigInt| number.magnitude().to_string().len() as i64;
    format!("about 1e{}", digits(value.numer()) - digits(value.denom()))
}

/// Returns a vector for which a symmetric matrix gives a negative value; `None` if the matrix is positive definite or semidefinite.
fn negative_direction(matrix: Vec<Vec<BigRational>>) -> Option<Vec<BigRational>> {
    let n = matrix.len();
    // Rows of `[A | I]` are eliminated together; a row of the right half is then the vector whose value is the pivot.
    let mut left = matrix;
    let mut right: Vec<Vec<BigRational>> = (0..n)
        .map(|row| {
            (0..n)
                .map(|column| BigRational::from_integer(i32::from(row == column).into()))
                .collect()
        })
        .collect();
    for pivot in 0..n {
        if left[pivot][pivot].is_negative() {
            return Some(right[pivot].clone());
        }
        if left[pivot][pivot].is_zero() {
            // Semidefinite matrices have a zero row here; otherwise a step along it lowers the value without limit.
            let other = (pivot + 1..n).find(|column| !left[pivot][*column].is_zero());
            let Some(other) = other else { continue };
            let slope = left[pivot][other].clone();
            let level = left[other][other].clone();
            let two = BigRational::from_integer(2.into());
            let one = BigRational::from_integer(1.into());
            let factor = -(level + one) / (two * slope);
            let vector = (0..n).map(|at| &right[other][at] + &factor * &right[pivot][at]);
            return Some(vector.collect());
        }
        for row in pivot + 1..n {
            let factor = &left[row][pivot] / &left[pivot][pivot];
            if factor.is_zero() {
                continue;
            }
            for column in 0..n {
                let change = &factor * &left[pivot][column];
                left[row][column] -= change;
                let change = &factor * &right[pivot][column];
                right[row][column] -= change;
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(value: i64) -> BigRational {
        BigRational::from_integer(value.into())
    }

    fn energy(matrix: &[Vec<BigRational>], vector: &[BigRational]) -> BigRational {
        let mut sum = BigRational::zero();
        for (row, a) in matrix.iter().zip(vector) {
            for (entry, b) in row.iter().zip(vector) {
                sum += a * entry * b;
            }
        }
        sum
    }

    #[test]
    fn a_direction_of_negative_energy_is_found_exactly_where_there_is_one() {
        let cases: [(&[&[i64]], bool); 7] = [
            (&[&[1, 3], &[3, 4]], true),
            (&[&[0, 1], &[1, 0]], true),
            (&[&[0, 1], &[1, 7]], true),
            (&[&[2, -1], &[-1, 2]], false),
            (&[&[1, -1], &[-1, 1]], false),
            (&[&[0, 0], &[0, -1]], true),
            (&[&[2, 1, 0], &[1, 2, 1], &[0, 1, -5]], true),
        ];
        for (rows, expected) in cases {
            let matrix: Vec<Vec<BigRational>> = rows
                .iter()
                .map(|row| row.iter().map(|v| number(*v)).collect())
                .collect();
            let found = negative_direction(matrix.clone());
            assert_eq!(found.is_some(), expected, "{rows:?}");
            if let Some(vector) = found {
                assert!(energy(&matrix, &vector).is_negative(), "{rows:?}: {vector:?}");
            }
        }
    }
}
