//! Expressions to rational functions and back, and their printed form.

use crate::support::cases;

use cases::cases;
use lgm::algebra::{
    DoubleValues, ExactValues, Field, FromExpression, PrimeField, RationalFunctions, Sampled, SharedExpressions,
};
use lgm::expr::print::{latex, text};
use lgm::expr::{Evaluated, ExprId, Exprs, Function, Relation, SymbolId, SymbolKind};
use num_bigint::BigInt;
use num_rational::BigRational;
use proptest::prelude::*;

mod reader;

use reader::{read, value_of};

/// The printed form that a person would write; symbols are declared in the given order.
fn printed(symbols: &str, typed: &str) -> String {
    let mut exprs = Exprs::default();
    let id = read(&mut exprs, symbols, typed);
    let mut field = RationalFunctions::default();
    let f = field.from_expression(&exprs, id).unwrap();
    assert!(!field.exhausted());
    let back = field.to_expression(&mut exprs, &f);
    // The printed form is the same function.
    let again = field.from_expression(&exprs, back).unwrap();
    assert_eq!(f, again, "{typed}");
    text(&exprs, back)
}

#[test]
fn rational_functions_are_written_as_people_write_them() {
    let cases = [
        ("R3 R5 C6", "-1/(C6*R3) - 1/(C6*R5)", "-(R3 + R5)/(R3*R5*C6)"),
        ("C6 R3 R5", "-1/(C6*R3) - 1/(C6*R5)", "-(R3 + R5)/(C6*R3*R5)"),
        ("C6", "1/C6", "1/C6"),
        ("m b", "-b/m", "-b/m"),
        ("C4 TF5 C7", "TF5/(C4 + C7*TF5^2)", "TF5/(C4 + TF5^2*C7)"),
        ("C4 C7 TF5", "TF5/(C7*TF5^2 + C4)", "TF5/(C4 + C7*TF5^2)"),
        ("a b m1 m2", "1/(m1 + m2*(b/a)^2)", "a^2/(a^2*m1 + b^2*m2)"),
        (
            "R1 C1 C2 C3",
            "1/(R1*C1*C2 + R1*C1*C3 + R1*C2*C3)",
            "1/(R1*(C1*C2 + C1*C3 + C2*C3))",
        ),
        ("alpha m3", "2*alpha*m3", "2*alpha*m3"),
        ("a b", "b - a", "b - a"),
        ("a b", "(a^2 - b^2)/(a + b)", "a - b"),
        ("a b c", "(b - a)/c + a/c", "b/c"),
        ("k", "0.5*k", "k/2"),
        ("k m", "1.5*k/m", "3*k/(2*m)"),
        ("m g", "-9.81*m*g", "-9.81*m*g"),
        ("k1 m", "0.5*k1 + 9.81*m", "k1/2 + 9.81*m"),
        ("k1 m", "1/(0.5*k1 + 9.81*m)", "1/(k1/2 + 9.81*m)"),
        ("a b", "(a + 2*b)/2", "a/2 + b"),
        ("a b", "a/3 + b/3", "(a + b)/3"),
        ("E", "2.1e11*E", "2.1e11*E"),
        ("a b c d", "1/((a + b)*(c + d))", "1/((a + b)*(c + d))"),
        ("a b c", "1/(a + b + c)^2", "1/(a + b + c)^2"),
        (
            "a b c",
            "(a + b + c)^2/(2*a*(b + c)^3)",
            "(a + b + c)^2/(2*a*(b + c)^3)",
        ),
        ("a", "a - a", "0"),
        ("a", "a/a", "1"),
        ("a", "1/3 + a - a", "1/3"),
        ("m L theta", "m*(L*cos(theta))^2 + m*(L*sin(theta))^2", "m*L^2"),
        ("m L theta", "m*L*sin(theta)^2", "m*L*sin(theta)^2"),
        ("m theta", "m*cos(theta)*cos(theta)", "m*cos(theta)^2"),
        ("m x", "m*cosh(x)^2 - m*sinh(x)^2", "m"),
        ("a", "sqrt(a)*sqrt(a)", "a"),
        ("a b", "sqrt(a + b)^3", "sqrt(a + b)*(a + b)"),
        ("a", "sqrt(2)*a*sqrt(2)", "2*a"),
        ("a", "a*sqrt(4*a/a)", "2*a"),
        ("a b", "sqrt(a/b)^2*b", "a"),
        ("a", "sqrt(a^2)", "sqrt(a^2)"),
        (
            "m b k s",
            "(1/(m*s + b) + s/k)/(s/(k*m*s + k*b))",
            "(m*s^2 + b*s + k)/s",
        ),
        ("a b", "(a + b)^0.5*(a + b)^0.5/a", "(a + b)/a"),
        ("a b", "1 - exp(a/b)", "1 - exp(a/b)"),
        ("a b", "a^b*a/a^2", "a^b/a"),
        ("a", "2*pi*a/(4*pi)", "a/2"),
        ("x", "if x > 1 then x else 2", "if x > 1 then x else 2"),
        ("x y", "y*(if x > 1 then x else 2)", "y*(if x > 1 then x else 2)"),
    ];
    for (symbols, typed, expected) in cases {
        assert_eq!(printed(symbols, typed), expected, "of {typed}");
    }
}

#[test]
fn text_takes_as_few_parentheses_as_it_can() {
    for typed in [
        "-(R3 + R5)/(C6*R3*R5)",
        "(F - b*v - s)/m",
        "L*cos(theta)",
        "a^2",
        "-a^2",
        "2*a",
        "(-a)^2",
        "(a + b)^2",
        "a^b^c",
        "(a^b)^c",
        "a^(b + c)",
        "a^(-b)",
        "1/a^2",
        "1/(a*b)",
        "a/(b + c)",
        "a - (if c > 0 then a else b)",
        "if a < b and not (b < c or c == a) then 1 else if a != b then 2 else 3",
        "min(a, b + 1, -c)",
        "atan2(a, b)*pi",
        "1e-12*a",
        "2.1e11",
        "0.001*a",
        "1 - a",
        "-a - 1",
        "a*(b < c)",
        "(a < b) == (b < c)",
        "a/3",
        "-2*a/(3*b)",
        "a*(-b)^c",
        "step(0.1)*10",
    ] {
        let mut exprs = Exprs::default();
        let id = read(&mut exprs, "a b c F v s m L theta R3 R5 C6", typed);
        let once = text(&exprs, id);
        if !typed.starts_with("step") {
            assert_eq!(once, typed);
        }
        let again = read(&mut exprs, "", &once);
        assert_eq!(text(&exprs, again), once);
    }
}

#[test]
fn latex_sets_subscripts_fractions_and_greek() {
    let latex_of = |names: &[&str], build: &dyn Fn(&mut Exprs, &[ExprId]) -> ExprId| {
        let mut exprs = Exprs::default();
        let ids: Vec<ExprId> = names
            .iter()
            .map(|name| {
                let symbol = exprs.new_symbol(*name, SymbolKind::Parameter);
                exprs.symbol(symbol)
            })
            .collect();
        let id = build(&mut exprs, &ids);
        latex(&exprs, id)
    };
    let only = |name: &str| latex_of(&[name], &|_, ids| ids[0]);
    assert_eq!(only("m1"), "m_{1}");
    assert_eq!(only("TF5"), "\\mathit{TF}_{5}");
    assert_eq!(only("mass.v"), "v_{\\mathrm{mass}}");
    assert_eq!(only("cell[2].c.v"), "v_{\\mathrm{cell[2].c}}");
    assert_eq!(only("K[1, 2]"), "K_{1, 2}");
    assert_eq!(only("alpha"), "\\alpha");
    assert_eq!(only("omega_n"), "\\omega_{n}");
    assert_eq!(only("k_spring"), "k_{\\mathrm{spring}}");
    assert_eq!(
        latex_of(&["R3", "R5", "C6"], &|exprs, ids| {
            let sum = exprs.add(ids[0], ids[1]);
            let product = exprs.product(ids.to_vec());
            let quotient = exprs.div(sum, product);
            exprs.neg(quotient)
        }),
        "-\\frac{R_{3} + R_{5}}{R_{3} \\, R_{5} \\, C_{6}}"
    );
    assert_eq!(
        latex_of(&["theta", "k"], &|exprs, ids| {
            let sine = exprs.call(Function::Sin, [ids[0]]);
            let root = exprs.call(Function::Sqrt, [ids[1]]);
            let two = exprs.integer(2);
            let square = exprs.power(sine, two);
            exprs.mul(square, root)
        }),
        "\\sin\\left(\\theta\\right)^{2} \\, \\sqrt{k}"
    );
    assert_eq!(
        latex_of(&["x"], &|exprs, ids| {
            let zero = exprs.zero();
            let condition = exprs.relation(Relation::GreaterEqual, ids[0], zero);
            let minus = exprs.neg(ids[0]);
            exprs.if_else(condition, ids[0], minus)
        }),
        "\\begin{cases} x & \\text{if } x \\ge 0 \\\\ -x & \\text{otherwise} \\end{cases}"
    );
}

#[test]
fn a_deep_expression_is_printed_and_read_without_recursion() {
    let mut exprs = Exprs::default();
    let a = exprs.new_symbol("a", SymbolKind::Parameter);
    let a = exprs.symbol(a);
    let mut id = a;
    for _ in 0..30_000 {
        let sine = exprs.call(Function::Sin, [id]);
        id = exprs.add(sine, a);
    }
    assert_eq!(text(&exprs, id).len(), 1 + 30_000 * "sin() + a".len());
    assert!(latex(&exprs, id).len() > 30_000);
    assert!(Sampled::new(1).from_expression(&exprs, id).is_ok());
    assert!(RationalFunctions::default().from_expression(&exprs, id).is_ok());
}

#[test]
fn a_division_by_zero_is_reported_by_every_field() {
    let mut exprs = Exprs::default();
    let id = read(&mut exprs, "a b", "1/((a + b)^2 - a^2 - 2*a*b - b^2)");
    let fault = Evaluated::DivisionByZero;
    assert_eq!(Sampled::new(1).from_expression(&exprs, id), Err(fault.clone()));
    assert_eq!(
        RationalFunctions::default().from_expression(&exprs, id),
        Err(fault.clone())
    );
    let values = (0..2)
        .map(|s| (SymbolId(s), BigRational::from_integer(BigInt::from(s + 2))))
        .collect();
    assert_eq!(ExactValues::new(values).from_expression(&exprs, id), Err(fault.clone()));
    assert_eq!(
        SharedExpressions::new(exprs.clone(), 1).from_expression(&exprs, id),
        Err(fault)
    );
}

#[test]
fn sampled_values_respect_the_identities_that_rational_functions_know() {
    let mut exprs = Exprs::default();
    for zero in [
        "sin(a*b)^2 + cos(a*b)^2 - 1",
        "cosh(a)^2 - sinh(a)^2 - 1",
        "sqrt(a*b)^2 - a*b",
        "sqrt(a*b/2) * sqrt(2*a*b) - a*b",
        "(1/a)*a - 1",
        "exp(a)*b - b*exp(a)",
    ] {
        let id = read(&mut exprs, "a b", zero);
        assert_eq!(Sampled::new(3).from_expression(&exprs, id), Ok(0), "{zero}");
    }
    let id = read(&mut exprs, "a b", "exp(a) - exp(b)");
    assert_ne!(Sampled::new(3).from_expression(&exprs, id), Ok(0));
}

#[test]
fn shared_expressions_drop_what_vanishes() {
    let mut exprs = Exprs::default();
    let a = read(&mut exprs, "a b", "a + b");
    let b = read(&mut exprs, "a b", "a - b");
    let c = read(&mut exprs, "a b", "a^2 - b^2");
    let mut field = SharedExpressions::new(exprs.clone(), 5);
    let (a, b, c) = (
        field.from_expression(&exprs, a).unwrap(),
        field.from_expression(&exprs, b).unwrap(),
        field.from_expression(&exprs, c).unwrap(),
    );
    let product = field.mul(&a, &b);
    let zero = field.sub(&product, &c);
    assert!(field.is_zero(&zero));
    assert_eq!(zero, field.zero());
    let quotient = field.div(&c, &a);
    assert_eq!(quotient, b, "equal functions share the first expression found");
    let minus = field.neg(&a);
    let arena = field.into_exprs();
    assert_eq!(text(&arena, minus.expression), "-(a + b)");
}

/// Rational expressions over a, b, c, as text.
fn typed(depth: u32) -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("a".to_string()),
        Just("b".to_string()),
        Just("c".to_string()),
        (1i32..9).prop_map(|n| n.to_string()),
        (1i32..99).prop_map(|n| format!("{}.{}", n / 10, n % 10)),
    ];
    leaf.prop_recursive(depth, 24, 2, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(x, y)| format!("({x} + {y})")),
            (inner.clone(), inner.clone()).prop_map(|(x, y)| format!("({x} - {y})")),
            (inner.clone(), inner.clone()).prop_map(|(x, y)| format!("({x})*({y})")),
            (inner.clone(), inner.clone()).prop_map(|(x, y)| format!("({x})/({y})")),
            (inner.clone(), 2u32..4).prop_map(|(x, n)| format!("({x})^{n}")),
            inner.prop_map(|x| format!("(-({x}))")),
        ]
    })
}

fn values() -> std::collections::HashMap<&'static str, BigRational> {
    let number = |n: i64, d: i64| BigRational::new(BigInt::from(n), BigInt::from(d));
    [("a", number(17, 5)), ("b", number(-23, 7)), ("c", number(101, 13))]
        .into_iter()
        .collect()
}

fn exact(exprs: &Exprs, id: ExprId) -> Option<BigRational> {
    let values = values();
    let map = (0..exprs.symbol_count() as u32)
        .map(|s| (SymbolId(s), values[&*exprs.symbol_info(SymbolId(s)).name].clone()))
        .collect();
    ExactValues::new(map).from_expression(exprs, id).ok()
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn every_reading_agrees_with_exact_values(typed in typed(5)) {
        let mut exprs = Exprs::default();
        let id = read(&mut exprs, "a b c", &typed);
        let mut field = RationalFunctions::default();
        let Ok(f) = field.from_expression(&exprs, id) else {
            prop_assert!(exact(&exprs, id).is_none());
            return Ok(());
        };
        prop_assert!(!field.exhausted());
        let back = field.to_expression(&mut exprs, &f);
        // The printed form parses to the same function, and prints identically again.
        let output = text(&exprs, back);
        let reread = read(&mut exprs, "", &output);
        prop_assert_eq!(field.from_expression(&exprs, reread).unwrap(), f.clone(), "{}", output);
        prop_assert_eq!(text(&exprs, reread), output);
        if let Some(value) = exact(&exprs, id) {
            prop_assert_eq!(exact(&exprs, back), Some(value.clone()));
            prop_assert_eq!(value_of(&text(&exprs, id), &values()), value.clone());
            let doubles = (0..3).map(|s| {
                let name = &*exprs.symbol_info(SymbolId(s)).name;
                (SymbolId(s), num_traits::ToPrimitive::to_f64(&values()[name]).unwrap())
            });
            let rounded = DoubleValues::new(doubles.collect()).from_expression(&exprs, back).unwrap();
            let value = num_traits::ToPrimitive::to_f64(&value).unwrap();
            prop_assert!((rounded - value).abs() <= 1e-6 * (1.0 + value.abs()));
        }
        // Evaluation in the prime field gives the same function.
        let mut sampled = Sampled::new(8);
        if let Ok(image) = sampled.from_expression(&exprs, id) {
            let point = sampled.clone();
            let direct = f.evaluate_prime(|variable| point.symbol(SymbolId(variable.0)));
            prop_assert_eq!(direct, Some(image));
        }
    }

    #[test]
    fn field_laws_hold_exactly(x in typed(3), y in typed(3), z in typed(3)) {
        let mut exprs = Exprs::default();
        let mut field = RationalFunctions::default();
        let mut list = Vec::new();
        for typed in [&x, &y, &z] {
            let id = read(&mut exprs, "a b c", typed);
            match field.from_expression(&exprs, id) {
                Ok(f) => list.push(f),
                Err(_) => return Ok(()),
            }
        }
        let (x, y, z) = (&list[0], &list[1], &list[2]);
        let left = { let s = field.add(x, y); field.mul(&s, z) };
        let right = { let p = field.mul(x, z); let q = field.mul(y, z); field.add(&p, &q) };
        prop_assert_eq!(left, right);
        let left = { let s = field.add(x, y); field.add(&s, z) };
        let right = { let s = field.add(y, z); field.add(x, &s) };
        prop_assert_eq!(left, right);
        let left = { let s = field.mul(x, y); field.mul(&s, z) };
        let right = { let s = field.mul(y, z); field.mul(x, &s) };
        prop_assert_eq!(&left, &right);
        if !left.is_zero() {
            let inverse = field.invert(&left);
            prop_assert_eq!(field.mul(&left, &inverse), field.one());
            prop_assert!(!left.denominator().is_negative());
        }
        prop_assert!(!field.exhausted());
        // Cancelled, with integer coefficients without a common factor.
        if let Some(value) = left.evaluate_prime(|v| PrimeField.sample(u64::from(v.0), 2)) {
            let parts = [left.numerator(), left.denominator()].map(|p| p.evaluate_prime(|v| PrimeField.sample(u64::from(v.0), 2)));
            prop_assert_eq!(PrimeField.mul(&value, &parts[1]), parts[0]);
        }
    }
}
