//! Kernels compared with their source expressions.

use crate::algebra::random_expressions;
use crate::support::cases;
use crate::systems;

use cases::cases;
use lgm::equations::{StateSystem, StateVariable};
use lgm::expr::{ExprId, SymbolId};
use lgm::kernels::{Arguments, KernelOptions, Kernels, Layout, expression, operation::Space};
use proptest::prelude::*;
use systems::Builder;

/// Evaluators of this build.
fn evaluators() -> Vec<KernelOptions> {
    vec![KernelOptions { native: false }, KernelOptions { native: true }]
}

#[test]
fn kernels_are_shared_between_threads() {
    fn shared<T: Send + Sync + Clone>(value: &T) -> T {
        value.clone()
    }
    let system = systems::chain(50);
    let kernels = Kernels::new(&system, &KernelOptions::default());
    let kernels = shared(&kernels);
    let states: Vec<f64> = (0..50).map(f64::from).collect();
    let at = Arguments {
        states: &states,
        inputs: &[-1.0],
        ..Arguments::default()
    };
    // All of them reach the call that compiles machine code.
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..20 {
                    let found = kernels.derivatives.values(&at);
                    assert_eq!((found[0], found[1], found[49]), (0.0, 0.0, -50.0));
                }
            });
        }
    });
}

/// A system with at least one item of every kind that expressions can name.
fn some_symbols() -> (StateSystem, Vec<ExprId>) {
    let mut builder = Builder::new("Symbols");
    let mut leaves = vec![
        builder.parameter("p", 17, None, None),
        builder.parameter("q", -4, None, None),
    ];
    for k in 0..3 {
        leaves.push(builder.state(&format!("x{k}"), StateVariable::Across, None, 0));
    }
    let (input, rate) = builder.input("u", None);
    let (symbol, unknown) = builder.unknown("z");
    builder.system.equations.loops = vec![lgm::equations::AlgebraicLoop {
        unknowns: vec![symbol],
        residuals: vec![unknown],
        linear: true,
        guesses: Vec::new(),
        owners: Vec::new(),
        rated: Vec::new(),
    }];
    let time = builder.system.exprs.symbol(builder.system.time);
    leaves.extend([input, rate, unknown, time]);
    (builder.system, leaves)
}

/// Values for every slot of a layout.
struct Point {
    time: f64,
    spaces: [Vec<f64>; 5],
}

const SPACES: [Space; 5] = [
    Space::Parameters,
    Space::States,
    Space::Inputs,
    Space::Rates,
    Space::Unknowns,
];

impl Point {
    fn arguments(&self) -> Arguments<'_> {
        let [parameters, states, inputs, rates, unknowns] = &self.spaces;
        Arguments {
            time: self.time,
            parameters,
            states,
            inputs,
            rates,
            unknowns,
        }
    }

    fn value(&self, layout: &Layout, symbol: SymbolId) -> f64 {
        match layout.place_of(symbol).unwrap() {
            (Space::Time, _) => self.time,
            (space, index) => self.spaces[SPACES.iter().position(|entry| *entry == space).unwrap()][index as usize],
        }
    }
}

/// The same operations in the same order give the same bits, in machine code and interpreted. The sign of NaN is
/// ignored.
fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan()
}

fn numbers(count: usize) -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(prop_oneof![-3.0..3.0, Just(0.0), Just(1.0), -200.0..200.0], count)
}

proptest! {
    #![proptest_config(cases(600))]

    #[test]
    fn kernels_say_what_expressions_say(
        steps in random_expressions::steps(40),
        time in -1.0..3.0,
        parameters in numbers(2), states in numbers(3), inputs in numbers(1), rates in numbers(1), unknowns in numbers(1),
    ) {
        let (mut system, leaves) = some_symbols();
        let roots = random_expressions::build(&mut system.exprs, &leaves, system.time, &steps, false);
        let layout = Layout::new(&system);
        let point = Point { time, spaces: [parameters, states, inputs, rates, unknowns] };
        let value = |symbol| point.value(&layout, symbol);
        let expected = random_expressions::bounded(&system.exprs, &roots, time, &value);
        for options in evaluators() {
            let kernel = expression(&system.exprs, &roots, &layout, &options);
            let interpreted = kernel.values(&point.arguments());
            kernel.prepare();
            let found = kernel.values(&point.arguments());
            for (root, (a, b)) in roots.iter().zip(interpreted.iter().zip(&found)) {
                prop_assert!(same(*a, *b), "{} is {a:?} and {b:?}", lgm::expr::text(&system.exprs, *root));
            }
            for ((root, found), (value, error)) in roots.iter().zip(found).zip(&expected) {
                let agrees = found == *value || (found - value).abs() <= *error || error.is_infinite();
                prop_assert!(agrees, "{} is {found}, not {value} within {error}, {options:?}", lgm::expr::text(&system.exprs, *root));
                // Inside the library the difference must not be larger either.
                if error.is_finite() && let Ok(plain) = system.exprs.evaluate_f64(&[*root], &|symbol| Some(point.value(&layout, symbol))) {
                    prop_assert!((plain[0] - found).abs() <= 2.0 * error);
                }
            }
        }
    }
}

#[test]
fn the_pendulum_with_a_loop_and_a_mass_matrix() {
    for options in evaluators() {
        let system = systems::pendulum();
        let kernels = Kernels::new(&system, &options);
        assert_eq!(
            kernels.derivatives.prepare(),
            options.native && cfg!(feature = "native")
        );
        let parameters = kernels.parameters(&[]);
        assert_eq!(parameters, [0.5, 9.8]);
        let at = Arguments {
            parameters: &parameters,
            states: &[0.3, 0.7],
            unknowns: &[-0.4],
            ..Arguments::default()
        };
        assert_eq!(kernels.derivatives.values(&at), [0.7, -9.8 * 0.5 * 0.3f64.sin()]);
        assert_eq!(kernels.starts.values(&at), [1.0, 0.0]);
        assert_eq!(kernels.outputs.values(&at), [0.3]);
        let jacobian = &kernels.jacobians(&system).rates_by_states;
        assert_eq!((jacobian.rows, jacobian.columns), (2, 2));
        assert_eq!(jacobian.row_starts, [0, 1, 2]);
        assert_eq!(jacobian.columns_of, [1, 0]);
        // Through the assignment w1 = sin(theta).
        let slope = -(9.8 * 0.5) * 0.3f64.cos();
        let found = jacobian.values.values(&at);
        assert!(found[0] == 1.0 && (found[1] - slope).abs() < 1e-15);
        assert_eq!(kernels.jacobians(&system).rates_by_unknowns.stored(), 0);
        let mass = kernels.mass.as_ref().unwrap();
        assert_eq!(mass.values.values(&at), [1.0, 0.25]);
        let residual = -0.4 + (-0.4f64).exp() + 0.3f64.sin();
        assert!((kernels.residuals.values(&at)[0] - residual).abs() < 1e-15);
        assert!(
            (kernels.jacobians(&system).residuals_by_unknowns.values.values(&at)[0] - (1.0 + (-0.4f64).exp())).abs()
                < 1e-15
        );
        assert_eq!(kernels.jacobians(&system).residuals_by_states.columns_of, [0]);
        assert_eq!(
            kernels.jacobians(&system).residuals_by_states.values.values(&at),
            [0.3f64.cos()]
        );
    }
}

#[test]
fn derived_parameters_follow_those_that_are_set() {
    let mut builder = Builder::new("Derived");
    // c is declared before b, on which it depends.
    let a = builder.parameter("a", 20, None, None);
    let b_symbol = builder.system.exprs.new_symbol("b", lgm::expr::SymbolKind::Parameter);
    let b = builder.system.exprs.symbol(b_symbol);
    let three = builder.system.exprs.integer(3);
    let (c_value, b_value) = (builder.system.exprs.add(b, three), builder.system.exprs.mul(three, a));
    builder.parameter("c", 90, None, Some(c_value));
    builder.parameter("b", 60, None, Some(b_value));
    builder.system.parameters[2].entries[0].symbol = b_symbol;
    let kernels = Kernels::new(&builder.system, &KernelOptions::default());
    assert_eq!(kernels.parameters(&[]), [2.0, 9.0, 6.0]);
    assert_eq!(kernels.parameters(&[(0, 5.0)]), [5.0, 18.0, 15.0]);
    assert_eq!(kernels.parameters(&[(2, 1.0)]), [2.0, 4.0, 1.0]);
    assert_eq!(kernels.parameters(&[(1, 7.5), (0, 1.0)]), [1.0, 7.5, 3.0]);
}

#[test]
fn default_signals_come_with_their_rates() {
    let mut builder = Builder::new("Signals");
    let p = builder.parameter("p", 30, None, None);
    builder.input("u", None);
    builder.input("free", None);
    let system = &mut builder.system;
    let time = system.exprs.symbol(system.time);
    let angle = system.exprs.mul(p, time);
    let sine = system.exprs.call(lgm::expr::Function::Sin, [angle]);
    let one = system.exprs.one();
    let ramp = system.exprs.call(lgm::expr::Function::Ramp, [one, time]);
    system.inputs[0].signal = Some(system.exprs.add(sine, ramp));
    for options in evaluators() {
        let kernels = Kernels::new(system, &options);
        let parameters = kernels.parameters(&[]);
        let at = |time| {
            let at = Arguments {
                time,
                parameters: &parameters,
                ..Arguments::default()
            };
            kernels.inputs.values(&at)
        };
        let (early, late) = (at(0.5), at(1.5));
        assert_eq!((early[0], early[2]), (1.5f64.sin(), 3.0 * 1.5f64.cos()));
        assert_eq!((late[0], late[2]), (4.5f64.sin() + 0.5, 3.0 * 4.5f64.cos() + 1.0));
        assert!(early[1].is_nan() && early[3].is_nan());
    }
}

#[test]
fn a_long_chain_is_built_in_linear_time_and_is_right() {
    let count = 100_000;
    let system = systems::chain(count);
    for options in evaluators() {
        let kernels = Kernels::new(&system, &options);
        let states: Vec<f64> = (0..count).map(|k| (k as f64).sin()).collect();
        let at = Arguments {
            states: &states,
            inputs: &[2.5],
            ..Arguments::default()
        };
        let found = kernels.derivatives.values(&at);
        let entry = |k: usize| if k == 0 { 2.5 } else { states[k - 1] };
        for k in 0..count {
            let next = states.get(k + 1).copied().unwrap_or(0.0);
            let expected = entry(k) - 2.0 * states[k] + next;
            assert!((found[k] - expected).abs() <= 1e-15, "state {k}");
        }
        let jacobian = &kernels.jacobians(&system).rates_by_states;
        assert_eq!(jacobian.stored(), 3 * count - 2);
        let values = jacobian.values.values(&at);
        assert_eq!(jacobian.columns_of[2..5], [0, 1, 2]);
        assert_eq!(values[2..5], [1.0, -2.0, 1.0]);
    }
}

#[test]
fn repeated_equations_become_loops() {
    let system = systems::chain(1000);
    let kernels = Kernels::new(&system, &KernelOptions::default());
    let program = kernels.derivatives.program();
    let lanes: Vec<u32> = program.loops.iter().map(|entry| entry.count).collect();
    // The ends differ from the middle.
    assert_eq!(lanes, [998, 1]);
    assert_eq!(program.temporaries, 0);
    assert!(program.numbers.is_empty() && program.indices.is_empty());
    assert!(program.loops[0].body.len() <= 7, "{:?}", program.loops[0].body);
}

#[test]
fn loops_over_the_same_states_are_one_though_one_waits_for_a_number() {
    let n = 50;
    let mut builder = Builder::new("Pairs");
    let mass = builder.parameter("m", 20, None, None);
    let stiffness = builder.parameter("k", 35, None, None);
    let states: Vec<ExprId> = (0..=n)
        .flat_map(|k| [format!("v{k}"), format!("F{k}")])
        .map(|name| builder.state(&name, StateVariable::Across, None, 0))
        .collect();
    let exprs = &mut builder.system.exprs;
    let minus_one = exprs.integer(-1);
    let inverse = exprs.power(mass, minus_one);
    let mut derivatives = Vec::new();
    for k in 0..n {
        let pull = exprs.sub(states[2 * k + 1], states[2 * k + 3]);
        let stretch = exprs.sub(states[2 * k], states[2 * k + 2]);
        // 1/m is computed once, before the loop that uses it.
        derivatives.push(exprs.mul(inverse, pull));
        derivatives.push(exprs.mul(stiffness, stretch));
    }
    builder.system.equations.derivatives = derivatives;
    let system = builder.system;
    let layout = Layout::new(&system);
    let kernel = expression(
        &system.exprs,
        &system.equations.derivatives,
        &layout,
        &KernelOptions { native: false },
    );
    let long = kernel.program().loops.iter().filter(|entry| entry.count > 1);
    assert_eq!(long.count(), 1, "{:?}", kernel.program());
}

#[test]
fn long_sums_become_loops() {
    let mut builder = Builder::new("Sum");
    let count = 10_000;
    let mut terms = Vec::new();
    for k in 0..count {
        let x = builder.state(&format!("x{k}"), StateVariable::Across, None, 0);
        let factor = builder.system.exprs.integer(k + 2);
        terms.push(builder.system.exprs.mul(factor, x));
    }
    let sum = builder.system.exprs.sum(terms);
    builder.output("sum", None, sum);
    let system = &builder.system;
    let states: Vec<f64> = (0..count).map(|k| 1.0 / (k + 2) as f64).collect();
    for options in evaluators() {
        let kernel = expression(
            &system.exprs,
            &system.equations.output_values,
            &Layout::new(system),
            &options,
        );
        let at = Arguments {
            states: &states,
            ..Arguments::default()
        };
        assert!((kernel.values(&at)[0] - count as f64).abs() < 1e-9);
        assert!(kernel.program().loops.len() < 12);
    }
}

proptest! {
    #![proptest_config(cases(150))]

    /// Lanes in ascending order, descending order, with strides and irregular; two shapes that share data; different
    /// ends.
    #[test]
    fn repeated_expressions_say_the_same_in_every_lane(
        steps in random_expressions::steps(14),
        lanes in 1usize..150,
        stride in 1usize..4,
        order in 0u8..4,
        states in numbers(450),
        parameters in numbers(7),
    ) {
        let mut builder = Builder::new("Lanes");
        let names: Vec<ExprId> = (0..450).map(|k| builder.state(&format!("x{k}"), StateVariable::Across, None, 0)).collect();
        let entries: Vec<(i64, Option<ExprId>)> = vec![(10, None); 7];
        let entries = builder.matrix_parameter("p", &[7], &entries, None);
        let mut roots = Vec::new();
        for lane in 0..lanes {
            let place = match order {
                0 => lane * stride,
                1 => 449 - lane * stride,
                2 => (lane * lane * 7 + 3) % 450,
                _ => lane / 40 * 101 % 450 + lane % 40,
            };
            let exprs = &mut builder.system.exprs;
            let number = exprs.integer(if order == 0 { 3 } else { lane as i64 - 40 });
            let time = exprs.symbol(builder.system.time);
            let leaves = [names[place], names[(place + 1) % 450], names[449 - place], entries[0], entries[lane % 7], number, time];
            roots.extend(random_expressions::build(exprs, &leaves, builder.system.time, &steps, false));
            if lane % 60 == 59 {
                roots.push(names[place]);
            }
        }
        let system = builder.system;
        let layout = Layout::new(&system);
        let point = Point { time: 0.75, spaces: [parameters, states, Vec::new(), Vec::new(), Vec::new()] };
        let expected = random_expressions::bounded(&system.exprs, &roots, 0.75, &|symbol| point.value(&layout, symbol));
        for options in evaluators() {
            let kernel = expression(&system.exprs, &roots, &layout, &options);
            let interpreted = kernel.values(&point.arguments());
            kernel.prepare();
            let found = kernel.values(&point.arguments());
            for (root, (a, b)) in roots.iter().zip(interpreted.iter().zip(&found)) {
                prop_assert!(same(*a, *b), "{} is {a:?} and {b:?}", lgm::expr::text(&system.exprs, *root));
            }
            for ((root, found), (value, error)) in roots.iter().zip(found).zip(&expected) {
                let agrees = found == *value || (found - value).abs() <= *error || error.is_infinite();
                prop_assert!(agrees, "{} is {found}, not {value} within {error}, {options:?}", lgm::expr::text(&system.exprs, *root));
            }
        }
    }
}
