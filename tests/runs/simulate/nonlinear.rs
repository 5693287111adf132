//! Systems built by hand: loops, mass matrices, conditions, stiffness and errors, compared with exact solutions.

use super::runs::{compile, example, finished, run, tight};
use super::systems::{Builder, sparse};
use lgm::equations::{AlgebraicLoop, StateSystem, StateVariable};
use lgm::expr::{ExprId, Exprs, Function, Relation};
use lgm::kernels::{KernelOptions, Kernels};
use lgm::simulate::{FailureKind, Inputs, Method, Plan, Silent, Summary, simulate};

/// A system of states with initial values; a function returns their rates in terms of their expressions.
fn system(states: &[(&str, i64)], rates: impl FnOnce(&mut Builder, &[ExprId]) -> Vec<ExprId>) -> StateSystem {
    let mut builder = Builder::new("Hand");
    let ids: Vec<ExprId> = states
        .iter()
        .map(|(name, start)| builder.state(name, StateVariable::Integral, None, *start))
        .collect();
    let rates = rates(&mut builder, &ids);
    builder.system.equations.derivatives = rates;
    for (id, (name, _)) in ids.iter().zip(states) {
        builder.output(name, None, *id);
    }
    builder.system.equations.linear = false;
    builder.system
}

fn decimal(exprs: &mut Exprs, thousandths: i64) -> ExprId {
    let value = exprs.integer(thousandths);
    let thousand = exprs.integer(1000);
    exprs.div(value, thousand)
}

fn minus(exprs: &mut Exprs, id: ExprId) -> ExprId {
    exprs.neg(id)
}

fn with(method: Method, stop: f64, points: usize) -> Plan {
    Plan {
        method,
        ..tight(stop, points)
    }
}

/// The largest error of the first state.
fn error(system: &StateSystem, plan: &Plan, exact: impl Fn(f64) -> f64) -> (f64, Summary) {
    let (rows, summary) = finished(system, &[], plan);
    let pairs = rows.times.iter().zip(&rows.states);
    let worst = pairs
        .map(|(time, row)| (row[0] - exact(*time)).abs())
        .fold(0.0, f64::max);
    (worst, summary)
}

/// `x' = -w`, `w^3 + w = x^3 + x`, so that w = x.
fn with_loop() -> StateSystem {
    system(&[("x", 1)], |builder, states| {
        let (symbol, w) = builder.unknown("w");
        let exprs = &mut builder.system.exprs;
        let three = exprs.integer(3);
        let (left, right) = (exprs.power(w, three), exprs.power(states[0], three));
        let (left, right) = (exprs.add(left, w), exprs.add(right, states[0]));
        let residual = exprs.sub(left, right);
        builder.system.equations.loops = vec![AlgebraicLoop {
            unknowns: vec![symbol],
            residuals: vec![residual],
            linear: false,
            guesses: Vec::new(),
            owners: Vec::new(),
            rated: Vec::new(),
        }];
        vec![minus(&mut builder.system.exprs, w)]
    })
}

#[test]
fn a_loop_is_solved_inside_by_every_method() {
    for (method, allowed) in [(Method::Tsit45, 1e-9), (Method::Bdf, 1e-7), (Method::Sdirk, 1e-7)] {
        let plan = Plan {
            rtol: if method == Method::Sdirk { 1e-9 } else { 1e-10 },
            ..with(method, 3.0, 31)
        };
        let (worst, _) = error(&with_loop(), &plan, |time| (-time).exp());
        assert!(worst < allowed, "{}: {worst:.1e}", method.word());
    }
}

#[test]
fn a_loop_without_a_solution_is_reported_with_its_unknown() {
    // w^2 = x, and x falls through zero at time 1.
    let failing = system(&[("x", 1)], |builder, states| {
        let (symbol, w) = builder.unknown("w");
        let exprs = &mut builder.system.exprs;
        let two = exprs.integer(2);
        let square = exprs.power(w, two);
        let residual = exprs.sub(square, states[0]);
        builder.system.equations.loops = vec![AlgebraicLoop {
            unknowns: vec![symbol],
            residuals: vec![residual],
            linear: false,
            guesses: Vec::new(),
            owners: Vec::new(),
            rated: Vec::new(),
        }];
        let exprs = &mut builder.system.exprs;
        let little = decimal(exprs, 1);
        let little = exprs.mul(little, w);
        let one = exprs.one();
        let rate = exprs.sub(little, one);
        vec![rate]
    });
    let (rows, result) = run(&failing, &[], &tight(2.0, 21));
    let failure = result.unwrap_err();
    assert_eq!(failure.kind, FailureKind::LoopNotSolved, "{failure:?}");
    assert_eq!(failure.blame.as_ref().map(|blame| blame.variable.as_str()), Some("w"));
    assert!((failure.time - 1.0).abs() < 1e-2, "{failure:?}");
    assert!(
        (9..=12).contains(&rows.times.len()),
        "the rows so far are kept: {:?}",
        rows.times
    );
}

#[test]
fn a_constant_mass_matrix_stands_before_the_rates() {
    // [2 1; 1 2] x' = [-3 x1 - 3 x2, -3 x1 - 3 x2], so that x1' = x2' = -(x1 + x2), with x1 = 1 and x2 = 0.
    let mut coupled = system(&[("x1", 1), ("x2", 0)], |builder, states| {
        let exprs = &mut builder.system.exprs;
        let sum = exprs.add(states[0], states[1]);
        let three = exprs.integer(-3);
        let rate = exprs.mul(three, sum);
        vec![rate, rate]
    });
    let (one, two) = (coupled.exprs.one(), coupled.exprs.integer(2));
    coupled.equations.mass_matrix = Some(sparse(2, 2, &[(0, 0, two), (0, 1, one), (1, 0, one), (1, 1, two)]));
    for (method, allowed) in [(Method::Tsit45, 1e-9), (Method::Bdf, 1e-7), (Method::Auto, 1e-9)] {
        let (worst, _) = error(&coupled, &with(method, 2.0, 21), |time| 0.5 + 0.5 * (-2.0 * time).exp());
        assert!(worst < allowed, "{}: {worst:.1e}", method.word());
    }
    coupled.equations.mass_matrix = Some(sparse(2, 2, &[(0, 0, one), (0, 1, one), (1, 0, one), (1, 1, one)]));
    let failure = run(&coupled, &[], &tight(2.0, 21)).1.unwrap_err();
    assert_eq!(failure.kind, FailureKind::SingularMass);
    assert_eq!(failure.blame.map(|blame| blame.variable).as_deref(), Some("x2"));
}

#[test]
fn a_mass_matrix_may_change_with_the_states() {
    // (1 + x^2) x' = -x (1 + x^2): an exponential again.
    let mut changing = system(&[("x", 1)], |builder, states| {
        let exprs = &mut builder.system.exprs;
        let two = exprs.integer(2);
        let square = exprs.power(states[0], two);
        let one = exprs.one();
        let mass = exprs.add(one, square);
        let rate = exprs.mul(mass, states[0]);
        vec![exprs.neg(rate)]
    });
    let exprs = &mut changing.exprs;
    let (x, two, one) = (exprs.symbol(changing.states[0].symbol), exprs.integer(2), exprs.one());
    let square = exprs.power(x, two);
    let mass = exprs.add(one, square);
    changing.equations.mass_matrix = Some(sparse(1, 1, &[(0, 0, mass)]));
    for (method, allowed) in [(Method::Tsit45, 1e-9), (Method::Bdf, 1e-7)] {
        let (worst, _) = error(&changing, &with(method, 3.0, 31), |time| (-time).exp());
        assert!(worst < allowed, "{}: {worst:.1e}", method.word());
    }
}

/// `x' = if x < 1 then 1 else 3`
fn with_condition() -> StateSystem {
    system(&[("x", 0)], |builder, states| {
        let exprs = &mut builder.system.exprs;
        let (one, three) = (exprs.one(), exprs.integer(3));
        let below = exprs.relation(Relation::Less, states[0], one);
        vec![exprs.if_else(below, one, three)]
    })
}

#[test]
fn a_condition_on_a_state_is_located() {
    let exact = |time: f64| if time < 1.0 { time } else { 1.0 + 3.0 * (time - 1.0) };
    for method in [Method::Tsit45, Method::Bdf, Method::Sdirk] {
        let (worst, summary) = error(&with_condition(), &with(method, 2.0, 21), exact);
        assert!(worst < 1e-9, "{}: {worst:.1e}", method.word());
        assert_eq!(summary.restarts, 1, "{}", method.word());
    }
}

/// The parts of a step that is repeated at a jump must not be shorter than the resolution of time, at any tolerance.
#[test]
fn a_condition_is_located_at_every_tolerance() {
    // The third run crosses zero from negative times.
    for (start, crossing) in [(0.0, 1.0), (1000.0, 1001.0), (-1.5, -0.5)] {
        for tolerance in [1e-3, 1e-6, 1e-9, 1e-12, 1e-14, 1e-16] {
            let plan = Plan {
                start,
                stop: start + 2.0,
                rtol: f64::max(tolerance, 1e-13),
                atol: Some(tolerance),
                ..with(Method::Tsit45, 2.0, 21)
            };
            let exact = |time: f64| (time - start) + 2.0 * (time - crossing).max(0.0);
            let (worst, _) = error(&with_condition(), &plan, exact);
            // The jump is 2, and a step of eight times 256 units of round-off of the time is not divided further.
            let resolution = 2.0 * 8.0 * 256.0 * f64::EPSILON * f64::abs(crossing);
            let allowed = 4.0 * plan.rtol + resolution;
            assert!(worst < allowed, "from {start} at {tolerance:e}: {worst:.1e}");
        }
    }
}

#[test]
fn a_condition_that_turns_back_at_once_is_reported() {
    // A relay without hysteresis: x' = if x < 1 then 1 else -1.
    let relay = system(&[("x", 0)], |builder, states| {
        let exprs = &mut builder.system.exprs;
        let one = exprs.one();
        let back = exprs.neg(one);
        let below = exprs.relation(Relation::Less, states[0], one);
        vec![exprs.if_else(below, one, back)]
    });
    let failure = run(&relay, &[], &tight(2.0, 21)).1.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Chatter, "{failure:?}");
    assert!((failure.time - 1.0).abs() < 1e-6, "{failure:?}");
}

#[test]
fn a_value_that_leaves_its_domain_is_reported_with_its_expression() {
    // x falls to zero, where its logarithm becomes undefined.
    let falling = system(&[("tank.V", 1)], |builder, states| {
        let exprs = &mut builder.system.exprs;
        let logarithm = exprs.call(Function::Log, [states[0]]);
        let little = decimal(exprs, 100);
        let part = exprs.mul(little, logarithm);
        let one = exprs.one();
        vec![exprs.sub(part, one)]
    });
    for method in [Method::Tsit45, Method::Bdf] {
        let failure = run(&falling, &[], &with(method, 2.0, 21)).1.unwrap_err();
        let FailureKind::LeftDomain(words) = &failure.kind else {
            panic!("{failure:?}")
        };
        assert!(words.starts_with("`log(-"), "{}: {words}", method.word());
        let blame = failure.blame.unwrap();
        assert_eq!(
            (blame.variable.as_str(), blame.expression.as_str()),
            ("tank.V", "log(tank.V)")
        );
        assert_eq!(blame.element.as_deref(), Some("tank"));
        assert!((0.7..1.0).contains(&failure.time), "{}", failure.time);
    }
}

#[test]
fn a_trial_step_out_of_the_domain_is_made_smaller() {
    // x approaches 1/2 faster and faster but never reaches it, although long steps do.
    let near = system(&[("x", 1)], |builder, states| {
        let exprs = &mut builder.system.exprs;
        let half = decimal(exprs, 500);
        let above = exprs.sub(states[0], half);
        let logarithm = exprs.call(Function::Log, [above]);
        let product = exprs.mul(above, logarithm);
        let twice = exprs.integer(2);
        let rate = exprs.mul(twice, product);
        let slow = exprs.mul(twice, above);
        let sum = exprs.sub(rate, slow);
        vec![sum]
    });
    // With y = log(x - 1/2): y' = 2 y - 2.
    let exact = |time: f64| 0.5 + (1.0 + (0.5_f64.ln() - 1.0) * (2.0 * time).exp()).exp();
    let plan = Plan {
        rtol: 1e-4,
        ..with(Method::Tsit45, 1.5, 16)
    };
    let (worst, _) = error(&near, &plan, exact);
    assert!(worst < 1e-3, "{worst:.1e}");
}

#[test]
fn a_state_without_bounds_ends_the_run_with_its_name() {
    // x' = x^2 with x(0) = 1 has a pole at time 1.
    let growing = system(&[("x", 1)], |builder, states| {
        let exprs = &mut builder.system.exprs;
        let two = exprs.integer(2);
        vec![exprs.power(states[0], two)]
    });
    for method in [Method::Auto, Method::Bdf] {
        let failure = run(&growing, &[], &with(method, 2.0, 21)).1.unwrap_err();
        assert!(
            matches!(
                failure.kind,
                FailureKind::StepTooSmall | FailureKind::LeftDomain(_) | FailureKind::StepNotSolved
            ),
            "{failure:?}"
        );
        assert!((failure.time - 1.0).abs() < 1e-3, "{failure:?}");
        assert_eq!(failure.blame.map(|blame| blame.variable).as_deref(), Some("x"));
    }
}

/// Robertson's reactions: rates from 0.04 to 3e7.
fn robertson() -> StateSystem {
    system(&[("x", 1), ("y", 0), ("z", 0)], |builder, states| {
        let exprs = &mut builder.system.exprs;
        let slow = decimal(exprs, 40);
        let (middle, fast, two) = (exprs.integer(10_000), exprs.integer(30_000_000), exprs.integer(2));
        let first = exprs.mul(slow, states[0]);
        let second = exprs.product([middle, states[1], states[2]]);
        let square = exprs.power(states[1], two);
        let third = exprs.mul(fast, square);
        let x = exprs.sub(second, first);
        let y = exprs.neg(x);
        let y = exprs.sub(y, third);
        vec![x, y, third]
    })
}

#[test]
fn stiff_equations_are_given_to_an_implicit_method() {
    let plan = Plan {
        rtol: 1e-6,
        atol: Some(1e-10),
        stop: 4e4,
        points: 2,
        ..Plan::default()
    };
    let (rows, summary) = finished(&robertson(), &[], &plan);
    assert_eq!(summary.method, Method::Bdf);
    assert!(summary.stiff_from.is_some_and(|time| time < 10.0), "{summary:?}");
    assert!(summary.steps < 3000, "{summary:?}");
    // From the test set for initial value problem solvers: x, y, z at 4e4.
    let expected = [3.898_902e-2, 1.622_006e-7, 9.610_108e-1];
    for (found, expected) in rows.states[1].iter().zip(expected) {
        assert!((found / expected - 1.0).abs() < 2e-4, "{found} is not {expected}");
    }
}

#[test]
fn what_is_not_stiff_stays_with_the_explicit_method() {
    let circle = system(&[("x", 1), ("y", 0)], |builder, states| {
        let exprs = &mut builder.system.exprs;
        let fast = exprs.integer(1000);
        let x = exprs.mul(fast, states[1]);
        let back = exprs.neg(states[0]);
        let y = exprs.mul(fast, back);
        vec![x, y]
    });
    let (worst, summary) = error(&circle, &tight(10.0, 101), |time| (1000.0 * time).cos());
    assert_eq!(summary.method, Method::Tsit45);
    assert!(worst < 1e-5, "{worst:.1e}");
}

/// `x'' + 2 decay x' + 25 x = push`, with x = 1 at the start.
fn vibration(decay_thousandths: i64, push: impl FnOnce(&mut Exprs, ExprId) -> ExprId) -> StateSystem {
    system(&[("x", 1), ("v", 0)], |builder, states| {
        let time = builder.system.time;
        let exprs = &mut builder.system.exprs;
        let time = exprs.symbol(time);
        let push = push(exprs, time);
        let (twice, stiffness) = (decimal(exprs, -2 * decay_thousandths), exprs.integer(-25));
        let (damping, spring) = (exprs.mul(twice, states[1]), exprs.mul(stiffness, states[0]));
        vec![states[1], exprs.sum([damping, spring, push])]
    })
}

#[test]
fn a_vibration_is_not_stiff_while_it_lasts() {
    for decay in [0, 1] {
        let free = vibration(decay, |exprs, _| exprs.zero());
        for rtol in [1e-3, 1e-6] {
            let plan = |method| Plan {
                rtol,
                method,
                stop: 4e3,
                points: 2,
                ..Plan::default()
            };
            let (_, free_choice) = finished(&free, &[], &plan(Method::Auto));
            let (_, explicit) = finished(&free, &[], &plan(Method::Tsit45));
            assert_eq!(
                free_choice.method,
                Method::Tsit45,
                "{decay} {rtol:.0e}: {free_choice:?}"
            );
            assert_eq!(free_choice.stiff_from, None);
            let share = free_choice.evaluations as f64 / explicit.evaluations as f64;
            assert!(share < 1.2, "{decay} {rtol:.0e}: {share}");
        }
    }
}

#[test]
fn a_vibration_that_has_died_away_is_passed_in_long_steps() {
    let dying = vibration(100, |exprs, _| exprs.zero());
    let plan = |method| Plan {
        method,
        stop: 2e4,
        points: 101,
        ..Plan::default()
    };
    let (_, summary) = finished(&dying, &[], &plan(Method::Auto));
    // Backward differentiation would be unstable this close to the imaginary axis.
    assert_eq!(summary.method, Method::Sdirk, "{summary:?}");
    assert!(summary.stiff_from.is_some_and(|time| time > 50.0 && time < 1000.0));
    let (_, explicit) = finished(&dying, &[], &plan(Method::Tsit45));
    assert!(
        summary.evaluations * 10 < explicit.evaluations,
        "{summary:?} {explicit:?}"
    );
}

#[test]
fn what_moves_again_is_given_back_to_the_explicit_method() {
    // At rest from about 150 s on, and excited at resonance from 2000 s on.
    let shaken = vibration(100, |exprs, time| {
        let (two_thousand, five) = (exprs.integer(2000), exprs.integer(5));
        let begun = exprs.call(Function::Step, [two_thousand, time]);
        let angle = exprs.mul(five, time);
        let sine = exprs.call(Function::Sin, [angle]);
        exprs.mul(begun, sine)
    });
    let plan = Plan {
        stop: 4000.0,
        points: 5,
        ..Plan::default()
    };
    let (rows, summary) = finished(&shaken, &[], &plan);
    assert_eq!(
        (summary.method, summary.stiff_from),
        (Method::Tsit45, None),
        "{summary:?}"
    );
    // At resonance x = -cos(5 t)/(2 decay 5).
    let exact = -(5.0 * 4000.0_f64).cos();
    assert!(
        (rows.states[4][0] - exact).abs() < 1e-4,
        "{} is not {exact}",
        rows.states[4][0]
    );
    assert!(rows.states[2][0].abs() < 1e-6, "{:?}", rows.states[2]);
}

#[test]
fn a_decay_beside_a_slow_drive_is_stiff() {
    // x' = -10^5 (x - cos t)
    let driven = system(&[("x", 1)], |builder, states| {
        let time = builder.system.time;
        let exprs = &mut builder.system.exprs;
        let time = exprs.symbol(time);
        let cosine = exprs.call(Function::Cos, [time]);
        let apart = exprs.sub(states[0], cosine);
        let fast = exprs.integer(-100_000);
        vec![exprs.mul(fast, apart)]
    });
    let plan = Plan {
        stop: 20.0,
        points: 11,
        ..Plan::default()
    };
    let (rows, summary) = finished(&driven, &[], &plan);
    assert_eq!(summary.method, Method::Bdf, "{summary:?}");
    assert!(summary.evaluations < 20_000, "{summary:?}");
    assert!(
        (rows.states[10][0] - 20.0_f64.cos()).abs() < 1e-4,
        "{:?}",
        rows.states[10]
    );
}

#[test]
fn a_plan_that_makes_no_sense_is_refused() {
    let good = with_condition();
    for plan in [
        Plan {
            stop: -1.0,
            ..Plan::default()
        },
        Plan {
            rtol: 0.0,
            ..Plan::default()
        },
        Plan {
            atol: Some(f64::NAN),
            ..Plan::default()
        },
        Plan {
            points: 0,
            ..Plan::default()
        },
    ] {
        let (rows, result) = run(&good, &[], &plan);
        assert!(matches!(result.unwrap_err().kind, FailureKind::Refused(_)));
        assert!(rows.times.is_empty());
    }
    let few = Plan {
        max_steps: 3,
        ..tight(2.0, 21)
    };
    assert_eq!(run(&good, &[], &few).1.unwrap_err().kind, FailureKind::TooManySteps);
}

/// A diode conducts for a short part of each period; in between nothing happens, and steps could skip a whole pulse.
#[test]
fn a_rectifier_is_followed_at_every_tolerance() {
    let system = compile(&example("diode_rectifier.lgm"));
    let kernels = Kernels::new(&system, &KernelOptions::default());
    let parameters = kernels.parameters(&[]);
    let run = |method: Method, rtol: f64| {
        let plan = Plan {
            stop: 0.1,
            points: 401,
            rtol,
            atol: Some(1e-3 * rtol),
            method,
            ..Plan::default()
        };
        let tables = vec![None; system.inputs.len()];
        let inputs = Inputs::new(&system, &kernels, &parameters, tables, plan.start);
        let mut volts = Vec::new();
        let mut sink = |_: f64, outputs: &[f64], _: &[f64]| volts.push(outputs[0]);
        let result = simulate(&system, &kernels, &parameters, &inputs, &plan, &mut sink, &Silent);
        result.unwrap_or_else(|failure| panic!("{} at {rtol:e}: {failure:?}", method.word()));
        volts
    };
    let exact = run(Method::Tsit45, 1e-11);
    for method in [Method::Auto, Method::Tsit45, Method::Bdf, Method::Sdirk, Method::TrBdf2] {
        for rtol in [1e-4, 1e-6, 1e-8] {
            let pairs = run(method, rtol)
                .into_iter()
                .zip(&exact)
                .map(|(found, exact)| (found - exact).abs());
            let worst = pairs.fold(0.0, f64::max);
            assert!(worst < 1e3 * rtol, "{} at {rtol:e}: {worst:.1e} V", method.word());
        }
    }
}

/// A mass thrown outwards at the end of a two-link arm: it moves along a straight line until the arm is straight.
#[test]
fn a_straight_arm_is_reported_as_a_singular_mass_matrix() {
    let text = "model Thrown {
      param m = 1; param L = 0.5;
      node turn[2] vector : rotational; node hand[2] vector : translational;
      state a = int(across(turn)[1]), start = 0.2; state b = int(across(turn)[2]), start = 1.6;
      links : Transformer([[-L*sin(a), -L*sin(b)], [L*cos(a), L*cos(b)]]) turn -> gnd, hand -> gnd;
      load : Mass(m) hand -> gnd, start = [0.4, 0.4];
    }";
    let (_, result) = run(&compile(text), &[], &tight(2.0, 21));
    let failure = result.unwrap_err();
    assert_eq!(failure.kind, FailureKind::SingularPosition, "{failure:?}");
    let blame = failure.blame.unwrap();
    assert!(blame.variable.starts_with("turn.w"), "{blame:?}");
    assert!(
        blame.states.contains("a = 0.87") && blame.states.contains("b = 0.87"),
        "{blame:?}"
    );
    // |p + t*v| = 2*L
    let (p, v) = (
        [
            0.5 * (0.2_f64.cos() + 1.6_f64.cos()),
            0.5 * (0.2_f64.sin() + 1.6_f64.sin()),
        ],
        0.4,
    );
    let (square, mixed, rest) = (2.0 * v * v, v * (p[0] + p[1]), p[0] * p[0] + p[1] * p[1] - 1.0);
    let time = ((mixed * mixed - square * rest).sqrt() - mixed) / square;
    assert!((failure.time - time).abs() < 1e-6, "{} {time}", failure.time);
}

/// A four-bar linkage whose crank cannot complete a turn, driven towards its limit at a constant rate.
#[test]
fn a_dead_centre_is_reported_as_one() {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/four_bar.lgm")).unwrap();
    let wheel = "wheel  : Inertia(J1) crank -> gnd, start = w_0;";
    assert!(text.contains(wheel) && text.contains("0.1 [m];          // crank"));
    let text = text
        .replace(wheel, "wheel : AngularVelocitySource(2) crank -> gnd;")
        .replace("0.1 [m];          // crank", "0.3 [m];");
    let mut system = compile(&text);
    system.experiment = Default::default();
    let (_, result) = run(&system, &[super::runs::Shape::Zero], &tight(2.0, 21));
    let failure = result.unwrap_err();
    assert_eq!(failure.kind, FailureKind::DeadCentre, "{failure:?}");
    // Coupler and rocker are aligned.
    let (a, b, c, d) = (0.3_f64, 0.35, 0.25, 0.32);
    let angle = ((a * a + d * d - (b + c) * (b + c)) / (2.0 * a * d)).acos();
    assert!(
        (failure.time - (angle - 1.0) / 2.0).abs() < 0.02,
        "{} {angle}",
        failure.time
    );
    // The same crank with a small initial speed swings back before it reaches the limit.
    let (rows, _) = finished(
        &compile(&text.replace(
            "wheel : AngularVelocitySource(2) crank -> gnd;",
            "wheel : Inertia(J1) crank -> gnd, start = 0.5;",
        )),
        &[super::runs::Shape::Zero],
        &tight(1.0, 11),
    );
    assert_eq!(rows.times.len(), 11);
}
