//! Lowest terms by the optional feature `symbolica`, against the records of known answers and plain arithmetic, never
//! against `crates/algebra`. Run by hand and in one thread, for without a licence key the library allows one instance, and a
//! second thread counts as a second one; so everything here is one test.
//!
//! `cargo test --features symbolica --test symbolica -- --test-threads=1`

mod support;

use lgm::Request;
use lgm::algebra::NormalForms;
use lgm::equations::{Options, SparseMatrix, StateSystem};
use lgm::expr::{ExprId, Exprs, Function, SymbolKind, text};
use lgm::source::{NoFiles, SourceMap};
use nalgebra::DMatrix;
use num_bigint::BigInt;
use num_rational::BigRational;
use support::arithmetic::{Bindings, evaluate};
use support::linear::{Linear, assert_same_matrices, assert_same_poles, assert_same_response};
use support::program::example;
use support::records::{Dice, Record, bindings, drawn};

#[test]
fn lowest_terms() {
    common_factors_are_cancelled();
    numbers_stay_exact_however_long();
    what_is_no_rational_function_counts_as_a_symbol();
    what_would_be_too_large_has_no_normal_form();
    entries_agree_with_the_records_at_many_points();
    entries_are_printed_in_lowest_terms();
}

/// Relative tolerance of all comparisons.
const TOLERANCE: f64 = 1e-9;

/// Records with symbolic A..F: for each state of the record, in its order, the state of the model and its unit in the
/// record's measure.
const CASES: &[(&str, &[(&str, &str)])] = &[
    (
        "lg2ss_electrical",
        &[("inductor_5.i", "1"), ("capacitor_6.v", "1"), ("inductor_7.i", "1")],
    ),
    ("lg2ss_rotary_gearbox", &[("shaft.tau", "1"), ("load.w", "1")]),
    ("lg2ss_EF_cap_loop", &[("capacitor_3.v", "1"), ("coil_5.i", "1")]),
    ("sound_system", &[("coil.i", "1"), ("spring.i", "1"), ("mass.v", "1")]),
    (
        "woofer",
        &[("first_coil.i", "1"), ("capacitor.v", "1"), ("second_coil.i", "1")],
    ),
    (
        "tweeter",
        &[("first_capacitor.v", "1"), ("coil.i", "1"), ("second_capacitor.v", "1")],
    ),
    (
        "hydraulic_actuator",
        &[
            ("pipe_inertia.Q", "1"),
            ("tank.P", "1"),
            ("load.v", "1"),
            ("return_spring.F", "1"),
        ],
    ),
    ("two_masses", &[("first_mass.p", "ma")]),
    ("lever_arm", &[("first_mass.p", "m1")]),
    ("gyrator_field", &[("inertia.p", "m")]),
    (
        "split_path_capacitors",
        &[("left_capacitor.q", "C1"), ("right_capacitor.q", "C2")],
    ),
    (
        "split_path_inertias",
        &[("first_mass.p", "m1"), ("second_mass.p", "m2"), ("spring.q", "1/k")],
    ),
    (
        "two_springs",
        &[("inertia.p", "m"), ("first_spring.q", "1"), ("second_spring.q", "1")],
    ),
];

/// The equations of a seed. Internal cancellation is disabled, so that every entry reaches the feature.
fn compiled(name: &str) -> StateSystem {
    let path = example(&format!("seeds/{name}.lgm"));
    let mut map = SourceMap::default();
    let root = map.add(name, std::fs::read_to_string(path).unwrap(), None);
    let request = Request {
        equations: Options {
            size_limit: 0,
            ..Options::default()
        },
        ..Request::default()
    };
    let (system, diagnostics) = lgm::compile(&NoFiles, &mut map, root, &request);
    let shared = diagnostics.iter().any(|diagnostic| diagnostic.code == "LGM0503");
    assert!(!shared, "{name}: entries were left uncancelled");
    let system = system.unwrap_or_else(|| panic!("{name} has no equations"));
    assert!(system.assignments.is_empty(), "{name}: subexpressions were left shared");
    system
}

/// A..F of the system at given parameter values.
fn at(system: &StateSystem, bindings: &Bindings) -> Linear {
    let form = system.symbolic.as_ref().unwrap();
    let dense = |matrix: &SparseMatrix<ExprId>| {
        DMatrix::from_fn(matrix.rows.len(), matrix.columns, |row, column| {
            let entry = matrix.get(row, column);
            entry.map_or(0.0, |id| evaluate(&text(&system.exprs, *id), bindings))
        })
    };
    Linear {
        states: system.states.iter().map(|state| state.name.to_string()).collect(),
        inputs: system.inputs.iter().map(|input| input.name.to_string()).collect(),
        outputs: system.outputs.iter().map(|output| output.name.to_string()).collect(),
        a: dense(&form.a),
        b: dense(&form.b),
        c: dense(&form.c),
        d: dense(&form.d),
        e: dense(&form.e),
        f: dense(&form.f),
    }
}

fn entries_agree_with_the_records_at_many_points() {
    for (name, states) in CASES {
        let record = Record::load(name);
        let system = compiled(name);
        for seed in 1..=5 {
            let parameters = drawn(&record.parameters(), seed);
            let bindings = bindings(&parameters);
            let found = at(&system, &bindings);
            let expected = record.symbolic(&parameters);
            let what = format!("{name}, point {seed}");
            for omega in record.frequencies() {
                let at = format!("{what}, omega = {omega}");
                assert_same_response(&at, &found.response(omega), &expected.response(omega), TOLERANCE);
            }
            assert_same_poles(&what, &found.poles(), &expected.poles(), TOLERANCE);
            assert_eq!(found.states.len(), states.len(), "{what}: {:?}", found.states);
            let order: Vec<(usize, f64)> = states
                .iter()
                .map(|(state, scale)| {
                    let place = found.states.iter().position(|other| other == state);
                    let place = place.unwrap_or_else(|| panic!("{what}: no state {state} in {:?}", found.states));
                    (place, 1.0 / evaluate(scale, &bindings))
                })
                .collect();
            assert_same_matrices(&what, &found.over(&order), &expected, TOLERANCE);
        }
    }
}

/// Entries as printed in the source documents of the records.
fn entries_are_printed_in_lowest_terms() {
    let entries = [
        ("lg2ss_electrical", 1, 2, "-R2*L7/(L3*L5 + L3*L7 + L5*L7)"),
        ("lg2ss_electrical", 2, 1, "(L3*R4 - R2*L5)/(L3*L5 + L3*L7 + L5*L7)"),
        ("lg2ss_rotary_gearbox", 2, 1, "TF5/(C4 + TF5^2*C7)"),
        ("hydraulic_actuator", 3, 3, "-(R_v*A^2 + b)/m"),
    ];
    for (name, row, column, expected) in entries {
        let system = compiled(name);
        let form = system.symbolic.as_ref().unwrap();
        let entry = *form.a.get(row - 1, column - 1).unwrap();
        assert_eq!(text(&system.exprs, entry), expected, "{name}, A[{row}, {column}]");
    }
}

/// An expression over three symbols, and its construction.
struct Bench {
    exprs: Exprs,
    symbols: [ExprId; 3],
}

impl Bench {
    fn new() -> Bench {
        let mut exprs = Exprs::default();
        // Names that the library's parser would not accept.
        let symbols = ["a.v[1]", "k[1, 2]", "pi2"].map(|name| {
            let symbol = exprs.new_symbol(name, SymbolKind::Parameter);
            exprs.symbol(symbol)
        });
        Bench { exprs, symbols }
    }

    /// The normal form, which has the same value at random points.
    fn normal(&mut self, id: ExprId) -> String {
        let found = NormalForms::default().normal_form(&mut self.exprs, id).unwrap();
        let (before, after) = (text(&self.exprs, id), text(&self.exprs, found));
        let mut dice = Dice::new(7);
        for _ in 0..10 {
            let mut bindings = Bindings::new();
            for name in ["a.v[1]", "k[1, 2]", "pi2"] {
                bindings.insert(name.to_owned(), dice.between(0.5, 3.0));
            }
            let (expected, value) = (evaluate(&before, &bindings), evaluate(&after, &bindings));
            assert!(
                (value - expected).abs() <= TOLERANCE * expected.abs().max(1.0),
                "{before} became {after}"
            );
        }
        after
    }
}

fn common_factors_are_cancelled() {
    let mut bench = Bench::new();
    let [a, b, c] = bench.symbols;
    let exprs = &mut bench.exprs;
    // (a^2 - b^2)/(a*c - b*c) is (a + b)/c.
    let two = exprs.integer(2);
    let (aa, bb) = (exprs.power(a, two), exprs.power(b, two));
    let (ac, bc) = (exprs.mul(a, c), exprs.mul(b, c));
    let (top, bottom) = (exprs.sub(aa, bb), exprs.sub(ac, bc));
    let quotient = exprs.div(top, bottom);
    assert_eq!(bench.normal(quotient), "(a.v[1] + k[1, 2])/pi2");
}

fn numbers_stay_exact_however_long() {
    let mut bench = Bench::new();
    let [a, b, _] = bench.symbols;
    let exprs = &mut bench.exprs;
    // (a/n + b/n)*n is a + b, for a number n of fifty digits over one of thirty.
    let long = BigRational::new(BigInt::from(7).pow(60), BigInt::from(3).pow(64));
    let (n, inverse) = (exprs.number(long.clone()), exprs.number(long.recip()));
    let (first, second) = (exprs.mul(a, inverse), exprs.mul(b, inverse));
    let sum = exprs.add(first, second);
    let product = exprs.mul(sum, n);
    assert_eq!(bench.normal(product), "a.v[1] + k[1, 2]");
    let difference = bench.exprs.sub(product, a);
    let difference = bench.exprs.sub(difference, b);
    assert_eq!(bench.normal(difference), "0");
}

fn what_is_no_rational_function_counts_as_a_symbol() {
    let mut exprs = Exprs::default();
    let symbol = exprs.new_symbol("a", SymbolKind::Parameter);
    let a = exprs.symbol(symbol);
    // (s^2 + s)/s is s + 1, for s = sin(a).
    let sine = exprs.call(Function::Sin, [a]);
    let square = exprs.mul(sine, sine);
    let sum = exprs.add(square, sine);
    let quotient = exprs.div(sum, sine);
    let found = NormalForms::default().normal_form(&mut exprs, quotient).unwrap();
    assert_eq!(text(&exprs, found), "sin(a) + 1");
}

/// If the result would be unreadable there is none, and this is determined quickly.
fn what_would_be_too_large_has_no_normal_form() {
    let mut exprs = Exprs::default();
    let mut product = exprs.one();
    for factor in 0..24 {
        let symbol = exprs.new_symbol(format!("a{factor}"), SymbolKind::Parameter);
        let (a, one) = (exprs.symbol(symbol), exprs.one());
        let sum = exprs.add(a, one);
        product = exprs.mul(product, sum);
    }
    let one = exprs.one();
    let sum = exprs.add(product, one);
    let mut forms = NormalForms::default();
    assert_eq!(forms.normal_form(&mut exprs, sum), None);
    assert!(!forms.complete());
}
