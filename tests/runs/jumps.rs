//! Steps of inputs into nonlinear storage: charges, momenta and fluxes are conserved for any solver steps.

use lgm::Request;
use lgm::kernels::{KernelOptions, Kernels};
use lgm::rendering::render;
use lgm::simulate::{FailureKind, Inputs, Plan, Silent, Sink, Stop, simulate};
use lgm::source::{NoFiles, SourceMap};

/// Outputs of all samples.
#[derive(Default)]
struct Rows(Vec<Vec<f64>>);

impl Sink for Rows {
    fn row(&mut self, _: f64, outputs: &[f64], _: &[f64]) -> Result<(), Stop> {
        self.0.push(outputs.to_vec());
        Ok(())
    }
}

/// The outputs in samples at 0, 1/2 and 1 times the stop time, or the reason why there are none.
fn rows(text: &str, stop: f64, rtol: f64) -> Result<Vec<Vec<f64>>, FailureKind> {
    let mut map = SourceMap::default();
    let root = map.add("model.lgm", text, None);
    let (system, diagnostics) = lgm::compile(&NoFiles, &mut map, root, &Request::default());
    let system = system.unwrap_or_else(|| panic!("{text}\n{}", render(&map, &diagnostics, false)));
    let kernels = Kernels::new(&system, &KernelOptions { native: false });
    let parameters = kernels.parameters(&[]);
    let inputs = Inputs::new(&system, &kernels, &parameters, vec![None; system.inputs.len()], 0.0);
    let plan = Plan {
        stop,
        points: 3,
        rtol,
        ..Plan::default()
    };
    let mut rows = Rows::default();
    match simulate(&system, &kernels, &parameters, &inputs, &plan, &mut rows, &Silent) {
        Ok(_) => Ok(rows.0),
        Err(failure) => Err(failure.kind),
    }
}

/// The zero of an increasing function.
fn zero(from: f64, to: f64, of: impl Fn(f64) -> f64) -> f64 {
    let (mut from, mut to) = (from, to);
    for _ in 0..400 {
        let middle = 0.5 * (from + to);
        match of(middle) > 0.0 {
            true => to = middle,
            false => from = middle,
        }
    }
    0.5 * (from + to)
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-8 * b.abs()
}

/// A source that steps by u charges a linear capacitor in series with one of `across = a*q + c*q^3`. Both have the same
/// charge: `C*(u - a*q - c*q^3) = q`. The scales range from a femtofarad to a farad, and from almost linear to a change
/// of slope by a factor of a million.
#[test]
fn a_capacitor_that_is_not_linear_shares_the_charge() {
    for (capacitance, voltage, time) in [
        (1e-15, 800.0, 1e-9),
        (1e-6, 5.0, 1e-3),
        (1.0, 0.01, 1.0),
        (1e-14, 1e-3, 1e-6),
    ] {
        for bend in [1e-3, 1.0, 1e3, 1e6] {
            let a = 0.577 / capacitance;
            let c = bend / capacitance / f64::powi(capacitance * voltage, 2);
            let charge = |u: f64| {
                let most = capacitance * u;
                zero(0.0, most, |q| q - capacitance * (u - a * q - c * q.powi(3)))
            };
            for (begin, input) in [
                (0, format!("{voltage:e}*step(0)")),
                (1, format!("{voltage:e}*step({:e})", 0.5 * time)),
            ] {
                let text = format!(
                    "element Cubic(a, c) {{ across = a*int(through) + c*int(through)^3; }}
model M {{
  input u = {input};
  node n1, n2 : electrical;
  linear : Capacitor({capacitance:e}) n2 -> n1;
  bent   : Cubic({a:e}, {c:e}) n1 -> gnd;
  leak   : Resistor({:e}) n1 -> gnd;
  source : VoltageSource(u) n2 -> gnd;
  output v = across(bent);
}}",
                    1e12 * time / capacitance
                );
                let q = charge(voltage);
                let expected = a * q + c * q.powi(3);
                let found = rows(&text, time, 1e-6).unwrap();
                assert!(
                    near(found[begin][0], expected),
                    "{text}\n{} and {expected}",
                    found[begin][0]
                );
                if begin == 1 {
                    assert_eq!(found[0][0], 0.0, "{text}");
                }
            }
        }
    }
}

/// A current that steps flows through a linear inductor in series with a saturating one, with a third in parallel:
/// fluxes are conserved in the loop of the three, which starts without flux. If it saturates sharply, the flux
/// initially moves a million times faster than at the end.
#[test]
fn saturating_inductors_share_the_current() {
    for (current, knee, power) in [
        (0.1, 0.01, 5),
        (1.0, 0.01, 5),
        (30.0, 0.01, 5),
        (1e4, 0.01, 5),
        (1e6, 1e-5, 7),
        (1e6, 1e-8, 7),
    ] {
        let text = format!(
            "element Saturating() : electrical {{ through = int(across)/0.2 + (int(across)/{knee:e})^{power}; }}
model M {{
  input i [A] = {current:e}*step(0.5);
  node a, b : electrical;
  source : CurrentSource(i) gnd -> a;
  first  : Inductor(0.1) a -> b;
  second : Saturating() b -> gnd;
  third  : Inductor(0.3) a -> gnd;
  output i1 = through(first); output i2 = through(second); output i3 = through(third);
}}"
        );
        // The flux of the second inductor is x: the first carries its current, and in the loop 0.1*i1 + x = 0.3*i3.
        let of = |x: f64| x / 0.2 + (x / knee).powi(power);
        let flux = zero(0.0, 0.3 * current, |x| 0.1 * of(x) + x - 0.3 * (current - of(x)));
        let found = rows(&text, 1.0, 1e-6).unwrap();
        assert_eq!(found[0], [0.0; 3]);
        let expected = [of(flux), of(flux), current - of(flux)];
        let is_near = found[1].iter().zip(expected).all(|(a, b)| near(*a, b));
        assert!(is_near, "{text}\n{:?} and {expected:?}", found[1]);
    }
}

/// The charge passes instantaneously, so a limited current adds nothing meanwhile.
#[test]
fn a_limit_leaves_nothing_of_an_impulse() {
    for limit in ["100", "1e-9", "1e6"] {
        let text = format!(
            "model M {{
  input f = 2*pulse(0.25, 0.5);
  node n : electrical;
  store  : Capacitor(3) n -> gnd;
  source : VoltageSource(f) n -> gnd;
  state z = int(min(max(f - through(store), -{limit}), {limit})), start = 0;
  state charge = int(f - through(store)), start = 0;
  output y = z; output q = charge;
}}"
        );
        let limit: f64 = limit.parse().unwrap();
        let found = rows(&text, 1.0, 1e-6).unwrap();
        let expected = [
            [0.0, 0.0],
            [0.25 * limit.min(2.0), 0.5 - 6.0],
            [0.5 * limit.min(2.0), 1.0],
        ];
        for (row, expected) in found.iter().zip(expected) {
            let is_near = row
                .iter()
                .zip(expected)
                .all(|(a, b)| (a - b).abs() <= 1e-9 * b.abs().max(limit.min(1.0)));
            assert!(is_near, "{text}\n{found:?}");
        }
    }
}

/// A current through a resistance that the same input sets: `v*(2 + k*f) = u` while both rise, and therefore its
/// logarithm.
#[test]
fn a_gain_that_steps_with_the_source_goes_along() {
    for place in ["input", "signal"] {
        let text = format!(
            "model M {{
  {place} f = 1.89*step(0.5);
  node n1, n2 : electrical;
  c1 : Capacitor(1e-9) n2 -> gnd;
  c2 : Capacitor(1e-9) n2 -> n1;
  source : VoltageSource(100*f) n1 -> gnd;
  extra  : CurrentSource(-0.277*f*through(c1)) gnd -> n2;
  output v = across(c1);
}}"
        );
        let found = rows(&text, 1.0, 1e-6).unwrap();
        let expected = 100.0 / 0.277 * (1.0 + 0.277 * 1.89 / 2.0f64).ln();
        assert!(near(found[1][0], expected), "{place}: {found:?} and {expected}");
    }
}

/// A signal written in place is independent of an input with the same signal: the input may be given another one.
#[test]
fn an_input_that_is_replaced_leaves_what_is_written_in_place() {
    let text = "model M {
  input f = step(0.5);
  node n1, n2 : electrical;
  c1 : Capacitor(1) n2 -> gnd;
  c2 : Capacitor(1) n2 -> n1;
  source : VoltageSource(f) n1 -> gnd;
  extra  : CurrentSource(-2*step(0.5)*through(c1)) gnd -> n2;
  output v = across(c1);
}";
    let FailureKind::JumpOpen { stepping, .. } = rows(text, 1.0, 1e-6).unwrap_err() else {
        panic!("the two are as good as any others");
    };
    assert_eq!(stepping, "`f`, `extra(time)` step at once");
}

/// A step of a source into storage, and an integral.
pub fn integral(of: &str) -> String {
    format!(
        "model M {{
  input u = step(0.5);
  input k = 1 + 2*step(0.5);
  node a : electrical;
  source : VoltageSource(u) a -> gnd;
  store  : Capacitor(2) a -> gnd;
  state z = int({of}), start = 0;
  output y = z;
}}"
    )
}

/// A quantity that the steps do not determine is NaN.
#[test]
fn jumps_without_an_answer_are_reported() {
    let square = rows(&integral("through(store)^2"), 1.0, 1e-6).unwrap_err();
    assert_eq!(square, FailureKind::JumpEndless("`u`, `k` step at once".into()));
    let FailureKind::JumpOpen { one, other, .. } = rows(&integral("k*through(store)"), 1.0, 1e-6).unwrap_err() else {
        panic!("the charge passes while k rises");
    };
    // If k and the charge rise together, their product integrates to 2*(1 + 3)/2.
    assert!(near(one, 4.0) && (other - 4.0).abs() > 0.1, "{one} and {other}");
    let found = rows(&integral("u*through(store)"), 1.0, 1e-6).unwrap();
    assert!(near(found[1][0], 1.0), "{found:?}");
}

/// A linear and a cubic capacitor in series on a source of 1 V that is switched on at the start: with the charge q, the
/// voltages are `q/2 + q + 3*q^3 = 1`, in any order of these lines of the model.
fn shares_a_volt_in_any_order(lines: [&str; 4], rest: &str) {
    let charge = zero(0.0, 1.0, |q| 1.5 * q + 3.0 * q.powi(3) - 1.0);
    let expected = [0.5 * charge, 1.0 - 0.5 * charge];
    for first in 0..lines.len() {
        let mut forwards = lines;
        forwards.rotate_left(first);
        let mut backwards = forwards;
        backwards.reverse();
        for lines in [forwards, backwards] {
            let text = format!(
                "element Cubic(a, c) : electrical {{ across = a*int(through) + c*int(through)^3; }}
model M {{
  {}
  r  : Resistor(1) n1 -> gnd;
  output v = across(c1);
  output w = across(c2);
  {rest}
}}",
                lines.join("\n  ")
            );
            let found = rows(&text, 1e-3, 1e-6).unwrap();
            let is_near = found[0].iter().zip(expected).all(|(a, b)| near(*a, b));
            assert!(is_near, "{text}\n{found:?} and {expected:?}");
        }
    }
}

/// A constant that reaches dependent storage through a source's measured variable is switched on at the start.
#[test]
fn a_constant_that_a_source_measures_charges_what_it_controls() {
    let lines = [
        "c1 : Capacitor(2) n1 -> gnd;",
        "c2 : Cubic(1, 3) n2 -> n1;",
        "e3 : VoltageSource(0.5) n3 -> gnd;",
        "e  : VoltageSource(2*through(r3)) n2 -> gnd;",
    ];
    shares_a_volt_in_any_order(lines, "node n1, n2, n3 : electrical;\n  r3 : Resistor(1) n3 -> gnd;");
}

/// A source controlled by storage with an initial value is 0 before the run, and steps at the start, whatever is
/// measured at the storage.
#[test]
fn a_source_that_storage_with_a_start_controls_charges_what_it_acts_on() {
    for (start, measure) in [
        ("c0 : Capacitor(2) n0 -> gnd, start = 0.25;", "across(c0)"),
        ("c0 : Capacitor(2) n0 -> gnd, start = 0.25;", "through(r0)"),
        (
            "c0 : Capacitor(2) n0 -> gnd;\n  state z = int(-z), start = 0.25;",
            "(z + across(c0))",
        ),
    ] {
        let source = format!("e  : VoltageSource(4*{measure}) n2 -> gnd;");
        let lines = [
            "c1 : Capacitor(2) n1 -> gnd;",
            "c2 : Cubic(1, 3) n2 -> n1;",
            start,
            &source,
        ];
        shares_a_volt_in_any_order(lines, "node n0, n1, n2 : electrical;\n  r0 : Resistor(1) n0 -> gnd;");
    }
}

/// A function that is a term in one place and a factor in another is a single function, which may step while the other
/// term does not.
#[test]
fn a_function_of_time_is_one_wherever_it_is_a_term() {
    let expected = 100.0 / 0.277 * (1.0 + 0.277 * 1.89 / 2.0f64).ln();
    for (f, g) in [
        ("f", "g"),
        ("1.89*step(0.5)", "ramp(0.7)"),
        ("(1.89*step(0.5))", "ramp(0.7)/2"),
    ] {
        for (source, gain) in [
            (format!("100*{f} + 3*{g}"), format!("0.277*{f}")),
            (format!("3*{g} - 100*(-{f} - 2*{g})"), format!("({f} + {g}/4)*0.277")),
            (format!("p*{f}"), format!("q*{f}")),
        ] {
            let text = format!(
                "model M {{
  param p = 100;
  param q = 0.277;
  signal f = 1.89*step(0.5);
  signal g = ramp(0.7);
  node n1, n2 : electrical;
  c1 : Capacitor(1e-9) n2 -> gnd;
  c2 : Capacitor(1e-9) n2 -> n1;
  source : VoltageSource({source}) n1 -> gnd;
  extra  : CurrentSource(-({gain})*through(c1)) gnd -> n2;
  output v = across(c1);
}}"
            );
            let found = rows(&text, 1.0, 1e-6).unwrap_or_else(|kind| panic!("{text}\n{kind:?}"));
            assert!(near(found[1][0], expected), "{text}\n{found:?} and {expected}");
        }
    }
}

/// A function is not a multiple of its product with a parameter that may be 0.
#[test]
fn a_parameter_of_zero_hides_no_function_of_time() {
    let text = "model M {
  param none = 0;
  signal f = 1.89*step(0.5);
  node n1, n2, n3, n4 : electrical;
  first  : VoltageSource(none*f) n3 -> gnd;
  c3 : Capacitor(1) n4 -> n3;
  c4 : Capacitor(1) n4 -> gnd;
  c1 : Capacitor(1e-9) n2 -> gnd;
  c2 : Capacitor(1e-9) n2 -> n1;
  source : VoltageSource(100*f) n1 -> gnd;
  extra  : CurrentSource(-0.277*f*through(c1)) gnd -> n2;
  output v = across(c1);
}";
    let found = rows(text, 1.0, 1e-6).unwrap();
    let expected = 100.0 / 0.277 * (1.0 + 0.277 * 1.89 / 2.0f64).ln();
    assert!(near(found[1][0], expected), "{found:?} and {expected}");
}

/// A source that is a product with an input is 0 before the input steps, whatever the other factors: the force
/// `0.126*f*v2` on the mass is an impulse of `0.126*2^2/2`, because the spring deflects with the velocity `v2 = v1 +
/// f'` while f rises.
#[test]
fn what_an_input_multiplies_begins_with_it_alone() {
    for unity in ["1", "unity"] {
        let text = format!(
            "model M {{
  input f = 2*step(0);
  state unity = int(1 - unity), start = 1;
  node n1, n2 : translational;
  mass   : Mass(1) n1 -> gnd;
  spring : Spring(1) n2 -> n1;
  push   : ForceSource(f*{unity}) gnd -> n2;
  other  : ForceSource(-0.126*f*across(push)*{unity}) gnd -> n1;
  output v = across(mass);
}}"
        );
        let found = rows(&text, 1e-6, 1e-6).unwrap_or_else(|kind| panic!("{text}\n{kind:?}"));
        assert!(near(found[0][0], 0.252), "{text}\n{found:?}");
    }
}

/// Other measurements change no initial value, even if an output is a second derivative of the starting quantity.
#[test]
fn an_output_that_is_a_rate_of_a_rate_changes_no_start() {
    for more in ["", "output z = der(through(c1));"] {
        let lines = [
            "c1 : Capacitor(2) n1 -> gnd;",
            "c2 : Cubic(1, 3) n2 -> n1;",
            "c0 : Capacitor(2) n0 -> gnd, start = 0.25;",
            "e  : VoltageSource(4*across(c0)) n2 -> gnd;",
        ];
        let rest = format!("node n0, n1, n2 : electrical;\n  r0 : Resistor(1) n0 -> gnd;\n  {more}");
        shares_a_volt_in_any_order(lines, &rest);
    }
}
