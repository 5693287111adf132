//! Exact derivatives compared with difference quotients: in exact rationals if the expression has them, otherwise
//! extrapolated.

use crate::algebra::random_expressions;
use crate::support::cases;

use cases::cases;
use lgm::expr::{ExprId, Exprs, Function, Gradient, Relation, SymbolId, SymbolKind};
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Signed, Zero};
use proptest::prelude::*;

fn rational(numerator: i64, denominator: i64) -> BigRational {
    BigRational::new(numerator.into(), denominator.into())
}

struct Symbols {
    exprs: Exprs,
    time: SymbolId,
    x: SymbolId,
    y: SymbolId,
}

impl Symbols {
    fn new() -> Symbols {
        let mut exprs = Exprs::default();
        let time = exprs.new_symbol("time", SymbolKind::Time);
        let x = exprs.new_symbol("x", SymbolKind::State);
        let y = exprs.new_symbol("y", SymbolKind::State);
        Symbols { exprs, time, x, y }
    }

    fn at(&self, root: ExprId, x: &BigRational, y: &BigRational) -> Option<BigRational> {
        let value = |symbol: SymbolId| {
            Some(if symbol == self.x {
                x.clone()
            } else if symbol == self.y {
                y.clone()
            } else {
                rational(7, 11)
            })
        };
        Some(self.exprs.evaluate_exact(&[root], &value).ok()?.remove(0))
    }
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn of_rational_expressions(steps in random_expressions::steps(10), x in 1i64..5000, y in -4000i64..4000) {
        let mut symbols = Symbols::new();
        let leaves = [symbols.x, symbols.y, symbols.time].map(|symbol| symbols.exprs.symbol(symbol));
        let roots = random_expressions::build(&mut symbols.exprs, &leaves, symbols.time, &steps, true);
        let mut gradient = Gradient::new(&mut symbols.exprs, &[symbols.x, symbols.y]);
        let (x, y) = (rational(x, 997), rational(y, 1009));
        let step = BigRational::new(BigInt::one(), BigInt::from(10).pow(60));
        for root in roots {
            let row = gradient.row(&mut symbols.exprs, root).unwrap();
            for column in 0..2 {
                let entry = row.iter().find(|entry| entry.0 == column).map(|entry| entry.1);
                let (dx, dy) = if column == 0 { (step.clone(), BigRational::zero()) } else { (BigRational::zero(), step.clone()) };
                let sides = (symbols.at(root, &(&x + &dx), &(&y + &dy)), symbols.at(root, &(&x - &dx), &(&y - &dy)));
                let (Some(above), Some(below)) = sides else { continue };
                let quotient = (above - below) / (&step + &step);
                let exact = match entry {
                    Some(entry) => match symbols.at(entry, &x, &y) {
                        Some(value) => value,
                        // A pole of the derivative alone: 0/0 in an inactive branch.
                        None => continue,
                    },
                    None => BigRational::zero(),
                };
                let size = exact.abs() + BigRational::one();
                // A jump within the step would appear as a quotient beyond 1e30.
                let jumps = quotient.abs() > rational(1, 1) * BigRational::from_integer(BigInt::from(10).pow(40));
                prop_assert!(jumps || ((&quotient - &exact) / size).abs() < rational(1, 1_000_000_000_000_000_000), "{} by column {column}", lgm::expr::text(&symbols.exprs, root));
            }
            // Differentiation by single symbols gives the same entries.
            let alone = symbols.exprs.differentiate(root, symbols.x).unwrap();
            let entry = row.iter().find(|entry| entry.0 == 0).map(|entry| entry.1);
            prop_assert_eq!(alone, entry.unwrap_or_else(|| symbols.exprs.zero()));
        }
    }
}

/// The derivative with respect to x at a point, by central differences with two extrapolations: accurate to about
/// 1e-10.
fn extrapolated(f: &dyn Fn(f64) -> f64, x: f64) -> f64 {
    let central = |h: f64| (f(x + h) - f(x - h)) / (2.0 * h);
    let h = 1e-2;
    let (a, b, c) = (central(h), central(h / 2.0), central(h / 4.0));
    let (d, e) = ((4.0 * b - a) / 3.0, (4.0 * c - b) / 3.0);
    (16.0 * e - d) / 15.0
}

#[test]
fn of_every_function() {
    for facts in Function::ALL {
        let (function, name, arity) = (facts.function, facts.name, facts.arguments);
        if matches!(function, Function::Int | Function::Der) {
            continue;
        }
        let mut symbols = Symbols::new();
        let exprs = &mut symbols.exprs;
        let (x, time) = (exprs.symbol(symbols.x), exprs.symbol(symbols.time));
        // Arguments that vary with x and time, within the domain of every function: 0.5 + 0.3 x^2 t and x - 1/4.
        let factor = exprs.number(rational(3, 10));
        let half = exprs.number(rational(1, 2));
        let two = exprs.integer(2);
        let square = exprs.power(x, two);
        let product = exprs.product([factor, square, time]);
        let first = exprs.sum([half, product]);
        let quarter = exprs.number(rational(1, 4));
        let second = exprs.sub(x, quarter);
        let arguments = [first, second, half];
        let mut arguments = arguments[..arity.unwrap_or(3)].to_vec();
        if function.is_of_time() {
            arguments.push(time);
        }
        let root = exprs.call(function, arguments);
        for (wanted, at_x, at_time) in [
            (symbols.x, 0.8, 0.9),
            (symbols.x, -0.6, 1.1),
            (symbols.time, 0.7, 0.6),
            (symbols.time, 0.9, 1.7),
        ] {
            let derivative = symbols.exprs.differentiate(root, wanted).unwrap();
            let evaluate = |root: ExprId, x: f64, time: f64| {
                let value = |symbol| Some(if symbol == symbols.x { x } else { time });
                symbols.exprs.evaluate_f64(&[root], &value).unwrap()[0]
            };
            let quotient = if wanted == symbols.x {
                extrapolated(&|x| evaluate(root, x, at_time), at_x)
            } else {
                extrapolated(&|time| evaluate(root, at_x, time), at_time)
            };
            let exact = evaluate(derivative, at_x, at_time);
            assert!(
                (exact - quotient).abs() <= 1e-8 * (1.0 + exact.abs()),
                "{name} at {at_x}, {at_time}: {exact} but {quotient}"
            );
        }
    }
}

#[test]
fn of_powers_with_variable_exponents() {
    let mut symbols = Symbols::new();
    let exprs = &mut symbols.exprs;
    let (x, y) = (exprs.symbol(symbols.x), exprs.symbol(symbols.y));
    let root = exprs.power(x, y);
    let by_x = symbols.exprs.differentiate(root, symbols.x).unwrap();
    let by_y = symbols.exprs.differentiate(root, symbols.y).unwrap();
    let value = |root: ExprId| {
        let at = |symbol| Some(if symbol == symbols.x { 1.7 } else { 2.3 });
        symbols.exprs.evaluate_f64(&[root], &at).unwrap()[0]
    };
    assert!((value(by_x) - 2.3 * 1.7f64.powf(1.3)).abs() < 1e-14);
    assert!((value(by_y) - 1.7f64.powf(2.3) * 1.7f64.ln()).abs() < 1e-14);
}

#[test]
fn the_branch_in_force_decides() {
    let mut symbols = Symbols::new();
    let exprs = &mut symbols.exprs;
    let (x, y) = (exprs.symbol(symbols.x), exprs.symbol(symbols.y));
    let condition = exprs.relation(Relation::Less, x, y);
    let two = exprs.integer(2);
    let (a, b) = (exprs.power(x, two), exprs.mul(two, x));
    let root = exprs.if_else(condition, a, b);
    let rate = symbols.exprs.differentiate(root, symbols.x).unwrap();
    assert_eq!(symbols.at(rate, &rational(3, 1), &rational(4, 1)), Some(rational(6, 1)));
    assert_eq!(symbols.at(rate, &rational(3, 1), &rational(3, 1)), Some(rational(2, 1)));
    // A part common to both branches needs no condition.
    let constant = symbols.exprs.one();
    let shifted = symbols.exprs.add(a, constant);
    let root = symbols.exprs.if_else(condition, a, shifted);
    let rate = symbols.exprs.differentiate(root, symbols.x).unwrap();
    assert_eq!(lgm::expr::text(&symbols.exprs, rate), "2*x");
}

#[test]
fn integrals_have_none() {
    let mut symbols = Symbols::new();
    let x = symbols.exprs.symbol(symbols.x);
    let root = symbols.exprs.call(Function::Int, [x]);
    assert_eq!(symbols.exprs.differentiate(root, symbols.x), None);
    assert_eq!(symbols.exprs.differentiate(root, symbols.y), Some(symbols.exprs.zero()));
}

#[test]
fn a_sum_of_many_terms_takes_linear_time() {
    let mut symbols = Symbols::new();
    let names: Vec<SymbolId> = (0..100_000)
        .map(|k| symbols.exprs.new_symbol(format!("x{k}"), SymbolKind::State))
        .collect();
    let three = symbols.exprs.integer(3);
    let terms: Vec<ExprId> = names
        .iter()
        .map(|name| {
            let x = symbols.exprs.symbol(*name);
            symbols.exprs.power(x, three)
        })
        .collect();
    let root = symbols.exprs.sum(terms);
    let mut gradient = Gradient::new(&mut symbols.exprs, &names);
    let row = gradient.row(&mut symbols.exprs, root).unwrap();
    assert_eq!(row.len(), names.len());
    assert_eq!(lgm::expr::text(&symbols.exprs, row[99_999].1), "3*x99999^2");
}
