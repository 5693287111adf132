//! The second integrator of `lgm simulate --verify` beside friction, clippers and diodes: runs that are right there are found right,
//! with every interval looked at, and faults are found all the same.
//!
//! That the runs are right was confirmed with SciPy: from each row to the next by its Radau (`rtol` 1e-11) or, for Chua's circuit,
//! DOP853, with laws written down by hand.

use crate::run_verification::{Change, NOTHING, found, found_of, plan_of, whole};
use lgm::simulate::{Corner, Inputs, Plan, Report, Side, Signals};

const FRICTION: &str = "element Friction(Fc [N], vs [m/s]) : translational { through = Fc*tanh(across/vs); }
model Friction {
  param Fc = 1 [N]; param vs = VS [m/s];
  input F [N] = 3*sin(2*pi*time);
  node x : translational;
  push : ForceSource(F) gnd -> x;
  m : Mass(1 [kg]) x -> gnd;
  fr : Friction(Fc, vs) x -> gnd;
  output v = across(m);
  experiment { stop = 3 [s]; points = 301; }
}";

/// The same mass on a spring, whose friction bends where it begins to slip.
const COULOMB: &str = "element Coulomb(Fc [N], vs [m/s]) : translational { through = Fc*max(min(across/vs, 1), -1); }
model Coulomb {
  param Fc = 1 [N];
  input F [N] = 3*sin(2*pi*time);
  node x : translational;
  push : ForceSource(F) gnd -> x;
  m : Mass(1 [kg]) x -> gnd;
  s : Spring(50 [N/m]) x -> gnd;
  f : Coulomb(Fc, 1e-4) x -> gnd;
  output v = across(m); output y = int(across(s));
  experiment { stop = 3 [s]; points = 301; }
}";

const CHUA: &str = "element ChuaDiode(Ga [S], Gb [S], Bp [V]) : electrical {
  through = Gb*across + 0.5*(Ga - Gb)*(abs(across + Bp) - abs(across - Bp));
}
model Chua {
  node a, b : electrical;
  c1 : Capacitor(10e-9) a -> gnd, start = 0.1;
  c2 : Capacitor(100e-9) b -> gnd;
  l : Inductor(18e-3) b -> gnd;
  r : Resistor(1800) a -> b;
  d : ChuaDiode(-0.757576e-3, -0.409091e-3, 1) a -> gnd;
  output v = across(c1);
  experiment { stop = 20 [ms]; points = 2001; }
}";

const DOUBLER: &str = "import nonlinear;
model Doubler {
  input u [V] = 5*sin(2*pi*50*time);
  node s, a, o : electrical;
  src : VoltageSource(u) s -> gnd;
  c1 : Capacitor(10e-6) s -> a;
  d1 : Diode() gnd -> a; d2 : Diode() a -> o;
  c2 : Capacitor(10e-6) o -> gnd;
  r : Resistor(1e5) o -> gnd;
  output v = across(c2);
  experiment { stop = 0.1 [s]; points = 201; }
}";

const CLIPPER: &str = "model Clipper {
  input u [V] = sin(2*pi*100*time);
  node s, m, o, f : electrical;
  src : VoltageSource(u) s -> gnd;
  r1 : Resistor(1e3) s -> m; r2 : Resistor(1e4) m -> o;
  cm : Capacitor(1e-10) m -> gnd;
  op : VoltageSource(min(max(-1e4*across(cm), -5), 5)) o -> gnd;
  rf : Resistor(1e3) o -> f; cf : Capacitor(1e-7) f -> gnd;
  output v = across(cf);
  experiment { stop = 0.02 [s]; points = 201; }
}";

const STOP: &str = "model Stop {
  param gap = 0.05 [m];
  input F [N] = 5*sin(2*pi*time);
  node x : translational;
  push : ForceSource(F) gnd -> x;
  m : Mass(1 [kg]) x -> gnd;
  state y = int(across(m));
  st : ForceSource(if y > gap then 1e7*(y - gap) + 1e3*across(m) else if y < -gap then 1e7*(y + gap) + 1e3*across(m) else 0) x -> gnd;
  output v = across(m);
  experiment { stop = 2 [s]; points = 201; }
}";

const CHARGED: &str = "import nonlinear;
model Charged {
  input u [V] = if time > 0.0131 then 4 else 2;
  node a, b : electrical;
  src : VoltageSource(u) a -> gnd;
  ra : Resistor(100) a -> b;
  d : Diode() b -> gnd;
  c : Capacitor(1e-5) b -> gnd;
  output v = across(c);
  experiment { stop = 0.03 [s]; points = 31; }
}";

/// The bend at 0.1 s falls anywhere within steps and intervals, before the first stage of a step and behind its last one.
const FALLING: &str = "model Falling {
  state h = int(-1), start = 0.1;
  state x = int(if h > 0 then 0 else 1000*h - 1e4*x);
  output y = x;
  experiment { stop = 0.3 [s]; points = 8; }
}";

const NARROW: &str = "model Narrow {
  input u [N] = exp(-((time - 0.62)/1e-4)^2);
  node x : translational;
  push : ForceSource(u) gnd -> x;
  m : Mass(1 [kg]) x -> gnd;
  d : Damper(1 [N.s/m]) x -> gnd;
  output v = across(m);
  experiment { stop = 1 [s]; points = 3; }
}";

/// It multiplies what a row may be off by 1e13 until the next one.
const LORENZ: &str = "model Lorenz {
  state x = int(10*(y - x)), start = 1;
  state y = int(x*(28 - z) - y), start = 1;
  state z = int(x*y - 8/3*z), start = 1;
  output w = x;
  experiment { stop = 66 [s]; points = 3; }
}";

fn all_rows(text: &str) -> (lgm::Whole, Plan) {
    let whole = whole(text);
    let plan = plan_of(&whole);
    let points = whole.system.experiment.points.unwrap_or(101) as usize;
    (whole, Plan { points, ..plan })
}

#[test]
fn runs_beside_corners_are_found_right() {
    let mut texts: Vec<(String, f64)> = ["1e-3", "1e-4", "1e-5"]
        .map(|vs| (FRICTION.replace("VS", vs), 2e-6))
        .into();
    // A step of the run itself is off by up to 86 tolerances where it passes a bend of Chua's diode.
    let others = [
        (COULOMB, 2e-6),
        (CHUA, 1e-4),
        (DOUBLER, 1e-5),
        (CLIPPER, 1e-5),
        (STOP, 1e-5),
        (CHARGED, 1e-5),
    ];
    texts.extend(others.map(|(text, apart)| (text.to_string(), apart)));
    texts.extend([FALLING, NARROW].map(|text| (text.to_string(), 2e-5)));
    for (text, apart) in texts {
        let (whole, plan) = all_rows(&text);
        let (report, _) = found(&whole, &plan, NOTHING);
        let name = &whole.system.model;
        println!("{name}: {}", report.summary());
        assert!(report.faults.is_empty(), "{name}: {:#?}", report.faults);
        assert_eq!((report.crossed, report.uncrossed), (report.intervals, 0), "{name}");
        assert!(report.states <= apart, "{name}: {}", report.summary());
    }
}

/// Where a model multiplies every error, a row that is far from what the second integrator comes to says nothing.
#[test]
fn what_the_model_multiplies_is_no_fault() {
    let (whole, plan) = all_rows(LORENZ);
    let (report, _) = found(&whole, &plan, NOTHING);
    assert!(report.faults.is_empty(), "{:#?}", report.faults);
    assert!(report.states > 0.1, "{}", report.summary());
}

/// Inputs whose steps pass unnoticed: the value before them goes on.
struct Frozen(Inputs);

impl Signals for Frozen {
    fn count(&self) -> usize {
        self.0.count()
    }

    fn values(&self, time: f64, side: Side, values: &mut [f64], rates: &mut [f64]) {
        self.0.values(time.min(0.013), side, values, rates);
    }

    fn corners(&self, from: f64, _: f64) -> Vec<Corner> {
        self.0.corners(from, 0.013)
    }
}

fn has_fault_of(report: &Report, state: &str) -> bool {
    report
        .faults
        .iter()
        .any(|fault| fault.what == format!("state `{state}`"))
}

#[test]
fn faults_beside_corners_are_found() {
    // One row that is wrong where the mass sticks, and one where it slips.
    for at in [2.44, 2.2] {
        let change: Change<'_> = &|time, _, states| {
            if (time - at).abs() < 1e-9 {
                states[0] += 2e-3;
            }
        };
        let (whole, plan) = all_rows(COULOMB);
        let (report, _) = found(&whole, &plan, change);
        assert!(has_fault_of(&report, "m.v"), "{at}: {}", report.summary());
    }
    // A rate that is wrong: a tenth more friction, where it slips.
    for text in [COULOMB.to_string(), FRICTION.replace("VS", "1e-5")] {
        let (whole, plan) = all_rows(&text);
        let (report, _) = found_of(&whole, &plan, &[(0, 1.1)], |inputs| inputs, NOTHING);
        assert!(has_fault_of(&report, "m.v"), "{}", report.summary());
    }
    // An event that comes too late: the stop is farther off in the run.
    let (whole, plan) = all_rows(STOP);
    let (report, _) = found_of(&whole, &plan, &[(0, 0.0505)], |inputs| inputs, NOTHING);
    assert!(has_fault_of(&report, "m.v"), "{}", report.summary());
    // A step of a source that the run does not see.
    let (whole, plan) = all_rows(CHARGED);
    let (report, _) = found_of(&whole, &plan, &[], Frozen, NOTHING);
    assert!(has_fault_of(&report, "c.v"), "{}", report.summary());
}
