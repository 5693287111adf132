//! `root(z in a:b, expr)`: the only root of an expression in an interval, to full double precision.
//!
//! Frequency equations have one root in each interval with known ends, so bisection is enough: it always converges, and ends at two
//! neighbouring doubles. A pole also changes sign, but grows, unlike a root.

use crate::context::Place;
use crate::context::values::{DimId, Value};
use crate::evaluate::Evaluator;
use lgm_algebra::expr::{ExprId, Exprs, Function, Node, Relation, SymbolId, SymbolKind, doubles};
use lgm_source::Span;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_syntax::ast::Over;
use num_rational::BigRational;
use num_traits::ToPrimitive;

/// The number of parts of the interval that are searched for sign changes.
const PARTS: usize = 64;

/// An expression of one unknown as a list of steps, each in terms of earlier ones: it is evaluated about a hundred times.
struct Steps {
    list: Vec<Step>,
}

enum Step {
    Number(f64),
    Unknown,
    Sum(Vec<usize>),
    Product(Vec<usize>),
    Power(usize, usize),
    Call(Function, Vec<usize>),
    Relation(Relation, usize, usize),
    Not(usize),
    If(usize, usize, usize),
}

impl Steps {
    /// Returns the steps of an expression; `Err` contains a symbol other than the unknown.
    fn new(exprs: &Exprs, root: ExprId, unknown: SymbolId) -> Result<Steps, SymbolId> {
        let order = exprs.reachable(&[root]);
        let at = |id: &ExprId| order.binary_search(id).expect("invariant: children are reachable");
        let many = |list: &[ExprId]| list.iter().map(at).collect::<Vec<usize>>();
        let mut list = Vec::with_capacity(order.len());
        for id in &order {
            list.push(match exprs.node(*id) {
                Node::Number(number) => Step::Number(number.to_f64().unwrap_or(f64::NAN)),
                Node::Pi => Step::Number(std::f64::consts::PI),
                Node::Symbol(symbol) if *symbol == unknown => Step::Unknown,
                Node::Symbol(symbol) => return Err(*symbol),
                Node::Sum(list) => Step::Sum(many(list)),
                Node::Product(list) => Step::Product(many(list)),
                Node::Power(a, b) => Step::Power(at(a), at(b)),
                Node::Call(function, list) => Step::Call(*function, many(list)),
                Node::Relation(relation, a, b) => Step::Relation(*relation, at(a), at(b)),
                Node::Not(a) => Step::Not(at(a)),
                Node::If(c, a, b) => Step::If(at(c), at(a), at(b)),
            });
        }
        Ok(Steps { list })
    }

    fn value(&self, unknown: f64, values: &mut Vec<f64>) -> f64 {
        values.clear();
        for step in &self.list {
            let value = match step {
                Step::Number(number) => *number,
                Step::Unknown => unknown,
                Step::Sum(list) => list.iter().map(|at| values[*at]).sum(),
                Step::Product(list) => list.iter().map(|at| values[*at]).product(),
                Step::Power(a, b) => doubles::power(values[*a], values[*b]),
                Step::Call(function, list) => {
                    let arguments: Vec<f64> = list.iter().map(|at| values[*at]).collect();
                    doubles::call(*function, &arguments)
                }
                Step::Relation(relation, a, b) => {
                    f64::from(u8::from(doubles::holds(*relation, values[*a], values[*b])))
                }
                Step::Not(a) => f64::from(u8::from(values[*a] == 0.0)),
                Step::If(c, a, b) => values[if values[*c] == 0.0 { *b } else { *a }],
            };
            values.push(value);
        }
        values.last().copied().unwrap_or(f64::NAN)
    }
}

/// The reason why there is no single root.
enum Fault {
    /// The expression has no finite value here.
    NotFinite(f64),
    /// The number of sign changes.
    Changes(usize),
    /// A change of sign at a discontinuity of the expression.
    Pole(f64),
}

/// Returns the only root of a function in an interval.
fn only_root(mut value: impl FnMut(f64) -> f64, from: f64, to: f64) -> Result<f64, Fault> {
    let mut changes = 0;
    let mut bracket = None;
    let mut before: Option<(f64, f64)> = None;
    let mut exact = None;
    for part in 0..=PARTS {
        let x = match part {
            PARTS => to,
            _ => from + (to - from) * part as f64 / PARTS as f64,
        };
        let y = value(x);
        if !y.is_finite() {
            return Err(Fault::NotFinite(x));
        }
        if y == 0.0 {
            // A root at a sample point counts once, and the count restarts at the next point.
            changes += 1;
            exact = Some(x);
            before = None;
            continue;
        }
        if let Some((x0, y0)) = before
            && (y0 < 0.0) != (y < 0.0)
        {
            changes += 1;
            bracket = Some((x0, y0, x, y));
        }
        before = Some((x, y));
    }
    if changes != 1 {
        return Err(Fault::Changes(changes));
    }
    let Some((mut a, mut ya, mut b, mut yb)) = bracket else {
        return exact.ok_or(Fault::Changes(0));
    };
    let largest = ya.abs().max(yb.abs());
    loop {
        let middle = a + (b - a) / 2.0;
        if middle <= a || middle >= b {
            break;
        }
        let y = value(middle);
        if !y.is_finite() {
            return Err(Fault::Pole(middle));
        }
        if y == 0.0 {
            return Ok(middle);
        }
        if (y < 0.0) == (ya < 0.0) {
            (a, ya) = (middle, y);
        } else {
            (b, yb) = (middle, y);
        }
    }
    if ya.abs().min(yb.abs()) > largest {
        return Err(Fault::Pole(a));
    }
    Ok(if ya.abs() <= yb.abs() { a } else { b })
}

impl<'a> Evaluator<'a> {
    /// Returns the value of `root(z in a:b, expr)`, a number, so all of its parts must be compile-time constants.
    pub(super) fn root(&mut self, over: &'a Over, place: Place, span: Span) -> Value {
        let ends = [
            self.structural(&over.from, place, "the interval of a root"),
            self.structural(&over.to, place, "the interval of a root"),
        ];
        let [Some(from), Some(to)] = ends.map(|end| end.map(|end| lgm_algebra::expr::to_f64(&end))) else {
            return Value::Error;
        };
        if from >= to {
            let diagnostic = Diagnostic::error(Code::LGM0441, "the interval of this root is empty")
                .label(over.from.span.to(over.to.span), format!("from {from} to {to}"))
                .help("write the smaller end first");
            self.report(diagnostic);
            return Value::Error;
        }
        let unknown = self
            .arena
            .exprs
            .new_symbol(over.index.text.clone(), SymbolKind::Parameter);
        let symbol = self.arena.exprs.symbol(unknown);
        self.bound.push((&over.index.text, Value::scalar(symbol, DimId::PLAIN)));
        let body = self.eval_scalar(&over.body, place);
        self.bound.pop();
        let Some(body) = body else {
            return Value::Error;
        };
        let steps = match Steps::new(&self.arena.exprs, body.expr, unknown) {
            Ok(steps) => steps,
            Err(symbol) => {
                let name = self.arena.exprs.symbol_info(symbol).name.clone();
                let diagnostic = Diagnostic::error(Code::LGM0402, "a root must be known at compile time")
                    .label(over.body.span, format!("this depends on `{name}`"))
                    .help(format!("declare it as a structural parameter: `const {name} = ..;`"));
                let diagnostic = self.label_symbol(diagnostic, symbol);
                self.report(diagnostic);
                return Value::Error;
            }
        };
        let mut values = Vec::new();
        let found = only_root(|x| steps.value(x, &mut values), from, to);
        let fault = match found.map(|root| (root, BigRational::from_float(root))) {
            Ok((_, Some(exact))) => {
                let expr = self.arena.exprs.number(exact);
                return Value::scalar(expr, DimId::PLAIN);
            }
            Ok((root, None)) => Fault::NotFinite(root),
            Err(fault) => fault,
        };
        let interval = format!("between {from} and {to}");
        let name = &over.index.text;
        let (words, help) = match fault {
            Fault::NotFinite(x) => (
                format!("it has no finite value at `{name}` = {x}"),
                "avoid the overflow: write `1/cosh(z)` instead of `cosh(z)`, or narrow the interval",
            ),
            Fault::Changes(0) => (
                format!("its sign does not change {interval}"),
                "choose an interval with one change of sign and no double root",
            ),
            Fault::Changes(count) => (
                format!("its sign changes {count} times {interval}"),
                "choose an interval with one change of sign",
            ),
            Fault::Pole(x) => (
                format!("its sign changes at a pole, near `{name}` = {x}"),
                "multiply the equation by the vanishing denominator: `sin(z) - z*cos(z)` instead of `tan(z) - z`",
            ),
        };
        let diagnostic = Diagnostic::error(Code::LGM0441, "this expression has no single root in its interval")
            .label(span, words)
            .help(help);
        self.report(diagnostic);
        Value::Error
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_are_found_to_the_last_digit() {
        let root = only_root(|x| x * x - 2.0, 0.0, 2.0);
        assert!(matches!(root, Ok(x) if (x - 2f64.sqrt()).abs() <= f64::EPSILON * 2.0));
        assert!(
            matches!(only_root(|x| x - 1.0, 0.0, 2.0), Ok(1.0)),
            "at a point that is looked at"
        );
        assert!(matches!(only_root(|x| x - 2.0, 0.0, 2.0), Ok(2.0)), "at an end");
    }

    #[test]
    fn what_is_no_single_root_is_refused() {
        assert!(matches!(only_root(|x| x * x + 1.0, 0.0, 2.0), Err(Fault::Changes(0))));
        assert!(matches!(only_root(|x: f64| x.sin(), 1.0, 7.0), Err(Fault::Changes(2))));
        assert!(matches!(
            only_root(|x: f64| 1.0 / (x - 0.9), 0.0, 2.0),
            Err(Fault::Pole(_))
        ));
        assert!(matches!(
            only_root(|x: f64| x.exp() - 1e300, 0.0, 1e4),
            Err(Fault::NotFinite(_))
        ));
    }
}
