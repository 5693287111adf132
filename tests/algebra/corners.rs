//! Jumps and kinks of expressions.

use crate::systems;

use lgm::equations::StateVariable;
use lgm::expr::{ExprId, Function, Relation};
use lgm::kernels::{Arguments, Corners, Layout};
use num_rational::BigRational;
use systems::Builder;

struct Times {
    builder: Builder,
    time: ExprId,
    period: ExprId,
    x: ExprId,
}

impl Times {
    fn new() -> Times {
        let mut builder = Builder::new("Times");
        // 0.7 s
        let period = builder.parameter("T", 7, None, None);
        let x = builder.state("x", StateVariable::Across, None, 0);
        let time = builder.system.exprs.symbol(builder.system.time);
        Times {
            builder,
            time,
            period,
            x,
        }
    }

    fn number(&mut self, numerator: i64, denominator: i64) -> ExprId {
        let value = BigRational::new(numerator.into(), denominator.into());
        self.builder.system.exprs.number(value)
    }

    fn corners(&self, root: ExprId) -> Corners {
        Corners::new(&self.builder.system.exprs, &[root], &Layout::new(&self.builder.system))
    }

    fn found(&self, root: ExprId, from: f64, to: f64) -> Vec<f64> {
        self.corners(root).times(&[0.7], from, to)
    }
}

#[test]
fn steps_pulses_and_ramps_are_where_they_say() {
    let mut times = Times::new();
    let (at, width) = (times.number(1, 10), times.number(1, 1_000_000));
    let time = times.time;
    let exprs = &mut times.builder.system.exprs;
    let step = exprs.call(Function::Step, [at, time]);
    let twice = exprs.add(times.period, times.period);
    let pulse = exprs.call(Function::Pulse, [twice, width, time]);
    let ramp = exprs.call(Function::Ramp, [times.period, time]);
    let beyond = exprs.integer(100);
    let late = exprs.call(Function::Step, [beyond, time]);
    let zero = exprs.zero();
    let first = exprs.call(Function::Step, [zero, time]);
    let root = exprs.sum([step, pulse, ramp, late, first]);
    assert_eq!(times.found(root, 0.0, 2.0), [0.0, 0.1, 0.7, 1.4, 1.4 + 1e-6]);
    assert_eq!(times.found(root, 0.1, 0.7), [0.1, 0.7]);
    assert_eq!(times.found(root, 2.0, 1.0), [0.0; 0]);
}

#[test]
fn relations_of_time_change_exactly_where_they_change() {
    let mut times = Times::new();
    let at = times.number(3, 10);
    let exprs = &mut times.builder.system.exprs;
    let after = exprs.relation(Relation::Greater, times.time, at);
    let from = exprs.relation(Relation::GreaterEqual, times.time, times.period);
    let both = exprs.sum([after, from]);
    // `time > 0.3` is still false at 0.3.
    assert_eq!(times.found(both, 0.0, 2.0), [0.3f64.next_up(), 0.7]);
}

#[test]
fn periodic_signals_have_all_their_corners() {
    let mut times = Times::new();
    let half = times.number(1, 2);
    let exprs = &mut times.builder.system.exprs;
    // A square wave: the fraction of time/T is below 1/2; a period of 0.7 s in 7000 s.
    let cycles = exprs.div(times.time, times.period);
    let whole = exprs.call(Function::Floor, [cycles]);
    let fraction = exprs.sub(cycles, whole);
    let root = exprs.relation(Relation::Less, fraction, half);
    let found = times.found(root, 0.1, 7000.0);
    assert_eq!(found.len(), 20_000);
    for (k, time) in found.iter().enumerate() {
        assert!((time - 0.35 * (k as f64 + 1.0)).abs() < 1e-9, "{time}");
    }
    // The same from a sine: 2000 s of 50 Hz would be missed by evenly spaced samples.
    let exprs = &mut times.builder.system.exprs;
    let (hundred, pi) = (exprs.integer(100), exprs.pi());
    let angle = exprs.product([hundred, pi, times.time]);
    let sine = exprs.call(Function::Sin, [angle]);
    let wave = exprs.call(Function::Sign, [sine]);
    let found = times.found(wave, 0.001, 2000.0);
    assert!((199_999..=400_000).contains(&found.len()), "{}", found.len());
}

#[test]
fn what_depends_on_states_is_a_condition() {
    let mut times = Times::new();
    let three = times.number(3, 1);
    let exprs = &mut times.builder.system.exprs;
    let contact = exprs.relation(Relation::Less, times.x, three);
    let smooth = exprs.power(times.x, three);
    let bounce = exprs.if_else(contact, smooth, three);
    let bent = exprs.call(Function::Abs, [smooth]);
    let steps = exprs.call(Function::Floor, [times.x]);
    let root = exprs.sum([bounce, bent, steps]);
    let corners = times.corners(root);
    assert_eq!(corners.times(&[0.7], 0.0, 10.0), [0.0; 0]);
    let conditions: Vec<(ExprId, bool)> = corners
        .conditions()
        .iter()
        .map(|condition| (condition.expression, condition.jumps))
        .collect();
    assert_eq!(conditions.len(), 3);
    for expected in [(contact, true), (bent, false), (steps, true)] {
        assert!(conditions.contains(&expected));
    }
    let signs = |x: f64| -> Vec<bool> {
        let at = Arguments {
            states: &[x],
            ..Arguments::default()
        };
        corners
            .crossings()
            .values(&at)
            .iter()
            .map(|value| *value > 0.0)
            .collect()
    };
    // Contact is lost and an integer is crossed between 2.9 and 3.1; the kink is at 0.
    let changed = |a: f64, b: f64| signs(a).iter().zip(signs(b)).filter(|(a, b)| **a != *b).count();
    assert_eq!((changed(2.9, 3.1), changed(1.9, 2.1), changed(-0.1, 0.1)), (2, 1, 2));
}

/// Returns true if each condition of a law jumps, in order of appearance.
fn jumps(law: impl Fn(&mut lgm::expr::Exprs, ExprId, ExprId) -> ExprId) -> Vec<bool> {
    let mut times = Times::new();
    let (x, a) = (times.x, times.period);
    let root = law(&mut times.builder.system.exprs, x, a);
    let corners = times.corners(root);
    corners.conditions().iter().map(|condition| condition.jumps).collect()
}

#[test]
fn laws_in_pieces_that_meet_bend_and_do_not_jump() {
    // if x > 0 then x/a else a*x
    let diode = jumps(|exprs, x, a| {
        let zero = exprs.zero();
        let (is_on, on, off) = (
            exprs.relation(Relation::Greater, x, zero),
            exprs.div(x, a),
            exprs.mul(x, a),
        );
        exprs.if_else(is_on, on, off)
    });
    assert_eq!(diode, [false]);
    // sign(x - a)*sqrt(abs(x - a))
    let orifice = jumps(|exprs, x, a| {
        let difference = exprs.sub(x, a);
        let (sign, size) = (
            exprs.call(Function::Sign, [difference]),
            exprs.call(Function::Abs, [difference]),
        );
        let root = exprs.call(Function::Sqrt, [size]);
        exprs.mul(sign, root)
    });
    assert_eq!(orifice, [false, false]);
}

#[test]
fn laws_in_pieces_that_do_not_meet_jump() {
    let friction = jumps(|exprs, x, a| {
        let sign = exprs.call(Function::Sign, [x]);
        exprs.mul(sign, a)
    });
    assert_eq!(friction, [true]);
    // if x < 2 then x/1000 else 1000*(x - 2) + 0.0022: a tenth too high at the junction, which should be at 0.002
    let high = jumps(|exprs, x, _| {
        let (two, thousand) = (exprs.integer(2), exprs.integer(1000));
        let offset = exprs.number(BigRational::new(22.into(), 10_000.into()));
        let is_low = exprs.relation(Relation::Less, x, two);
        let (low, beyond) = (exprs.div(x, thousand), exprs.sub(x, two));
        let steep = exprs.mul(thousand, beyond);
        let high = exprs.add(steep, offset);
        exprs.if_else(is_low, low, high)
    });
    assert_eq!(high, [true]);
    // Conditions that apply only where x > a: if x > 2*a then 5 else x, and a elsewhere.
    let inner = jumps(|exprs, x, a| {
        let (two, five) = (exprs.integer(2), exprs.integer(5));
        let twice = exprs.mul(two, a);
        let (is_inside, is_beyond) = (
            exprs.relation(Relation::Greater, x, a),
            exprs.relation(Relation::Greater, x, twice),
        );
        let above = exprs.if_else(is_beyond, five, x);
        exprs.if_else(is_inside, above, a)
    });
    assert_eq!(inner.iter().filter(|jumps| **jumps).count(), 1, "{inner:?}");
}
