//! The second integrator of `lgm simulate --verify` with friction, clippers and diodes: it accepts correct runs while
//! checking every interval, and still detects errors.
//!
//! SciPy confirmed that the runs of friction, clippers, the stop, the backlash and Chua's circuit are correct: from
//! each sample to the next by its Radau (`rtol` 1e-11) or, for nonstiff models, DOP853 (`rtol` 1e-12), with handwritten
//! laws and a restart at each kink.

use crate::runs::run_verification::{Change, NOTHING, found, found_of, plan_of, whole};
use lgm::simulate::{Corner, Inputs, Method, Plan, Report, Side, Signals};

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

/// The same mass on a spring, whose friction has a kink at the onset of slipping.
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

pub const CHUA: &str = "element ChuaDiode(Ga [S], Gb [S], Bp [V]) : electrical {
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

/// The kink at 0.1 s is anywhere within steps and intervals, before the first stage of a step and after its last one.
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

/// It amplifies the error of a sample by 1e13 until the next one.
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

/// Explicit steps cross the kinks of these laws; the form of a law makes no difference.
pub const BACKLASH: &str =
    "element Gap(k [N/m], g [m]) : translational { through = k*(int(across) - max(min(int(across), g), -g)); }
model Backlash {
  input F [N] = 2*sin(3*time);
  node a, b : translational;
  push : ForceSource(F) gnd -> a;
  m1 : Mass(1 [kg]) a -> gnd;
  d1 : Damper(0.3 [N.s/m]) a -> gnd;
  gap : Gap(200 [N/m], 0.05 [m]) a -> b;
  dg : Damper(0.2 [N.s/m]) a -> b;
  m2 : Mass(0.5 [kg]) b -> gnd;
  s2 : Spring(20 [N/m]) b -> gnd;
  output v1 = across(m1); output v2 = across(m2);
  experiment { stop = 20 [s]; points = 2001; }
}";

pub const CLIPPED: &str = "model Clipped {
  param g = 0.01 [S];
  input u [V] = 3*sin(2*pi*50*time);
  node s, m : electrical;
  src : VoltageSource(u) s -> gnd;
  l : Inductor(0.1) s -> m;
  c : Capacitor(2e-5) m -> gnd;
  q : CurrentSource(g*(max(across(c), 1 [V]) - 1 [V] + min(across(c), -1.5 [V]) + 1.5 [V])) m -> gnd;
  r : Resistor(2000) m -> gnd;
  output v = across(c); output i = through(l);
  experiment { stop = 0.2 [s]; points = 2001; }
}";

pub const SATURATED: &str =
    "element Saturated(Fc [N], vs [m/s]) : translational { through = Fc*across/max(abs(across), vs); }
model Slip {
  input F [N] = 3*sin(2*pi*time);
  node x : translational;
  push : ForceSource(F) gnd -> x;
  m : Mass(1 [kg]) x -> gnd;
  s : Spring(50 [N/m]) x -> gnd;
  f : Saturated(1 [N], 0.02 [m/s]) x -> gnd;
  output v = across(m);
  experiment { stop = 6 [s]; points = 601; }
}";

/// An explicit step that crosses a kink passes its error test by accident: without a step that ends there, the errors
/// of these runs are 5 to 86 tolerances in an interval. SciPy's DOP853 (`rtol` 1e-12, restarted at each kink) finds the
/// same largest errors, before and after the fix.
#[test]
fn explicit_steps_end_at_bends() {
    let abs = "Gb*across + 0.5*(Ga - Gb)*(abs(across + Bp) - abs(across - Bp))";
    assert!(CHUA.contains(abs));
    let others = [
        "Gb*across + (Ga - Gb)*min(max(across, -Bp), Bp)",
        "if across > Bp then Gb*across + (Ga - Gb)*Bp else if across < -Bp then Gb*across - (Ga - Gb)*Bp else Ga*across",
    ];
    let mut texts: Vec<String> = [CHUA, BACKLASH, CLIPPED, SATURATED].map(String::from).into();
    texts.extend(others.map(|law| CHUA.replace(abs, law)));
    for text in texts {
        let (whole, plan) = all_rows(&text);
        let plan = Plan {
            method: Method::Tsit45,
            ..plan
        };
        let (report, _) = found(&whole, &plan, NOTHING);
        let name = &whole.system.model;
        assert!(report.faults.is_empty(), "{name}: {:#?}", report.faults);
        assert_eq!((report.crossed, report.uncrossed), (report.intervals, 0), "{name}");
        assert!(report.states <= 2e-6, "{name}: {}", report.summary());
    }
}

#[test]
fn runs_beside_corners_are_found_right() {
    let mut texts: Vec<(String, f64)> = ["1e-3", "1e-4", "1e-5"]
        .map(|vs| (FRICTION.replace("VS", vs), 2e-6))
        .into();
    let others = [
        (COULOMB, 2e-6),
        (CHUA, 2e-6),
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

/// If a model amplifies every error, a sample far from the result of the second integrator proves nothing.
#[test]
fn what_the_model_multiplies_is_no_fault() {
    let (whole, plan) = all_rows(LORENZ);
    let (report, _) = found(&whole, &plan, NOTHING);
    assert!(report.faults.is_empty(), "{:#?}", report.faults);
    assert!(report.states > 0.1, "{}", report.summary());
}

/// Inputs whose steps are missed: the previous value continues.
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
    // One wrong sample while the mass sticks, and one while it slips.
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
    // A wrong rate: friction increased by a tenth, while slipping.
    for text in [COULOMB.to_string(), FRICTION.replace("VS", "1e-5")] {
        let (whole, plan) = all_rows(&text);
        let (report, _) = found_of(&whole, &plan, &[(0, 1.1)], |inputs| inputs, NOTHING);
        assert!(has_fault_of(&report, "m.v"), "{}", report.summary());
    }
    // A late event: in the run, the stop is farther away.
    let (whole, plan) = all_rows(STOP);
    let (report, _) = found_of(&whole, &plan, &[(0, 0.0505)], |inputs| inputs, NOTHING);
    assert!(has_fault_of(&report, "m.v"), "{}", report.summary());
    // A step of a source that the run misses.
    let (whole, plan) = all_rows(CHARGED);
    let (report, _) = found_of(&whole, &plan, &[], Frozen, NOTHING);
    assert!(has_fault_of(&report, "c.v"), "{}", report.summary());
}
