//! Families of models that grow by cells of two states each, as texts and as handwritten right-hand sides.

// Each user of this file needs only some of its items.
#![allow(dead_code)]

use lgm::equations::{Options, StateSystem};
use lgm::source::{NoFiles, SourceMap};

/// One family.
pub struct Family {
    /// Its name, also used in `rhs.c`.
    pub name: &'static str,
    /// The model with n cells; its one input has a constant default.
    pub text: fn(usize) -> String,
    /// The right-hand side over the states in the order of the model: `(input, states, rates)`.
    pub hand: fn(f64, &[f64], &mut [f64]),
    /// The angular frequency of the sinusoidal input of a run, in rad/s: low enough that the waves are smooth.
    pub frequency: f64,
    /// The stop time in seconds.
    pub stop: f64,
}

/// All families.
pub const FAMILIES: [Family; 4] = [
    Family {
        name: "ladder",
        text: ladder,
        hand: ladder_by_hand,
        frequency: 6e3,
        stop: 0.01,
    },
    Family {
        name: "chain",
        text: chain,
        hand: chain_by_hand,
        frequency: 1.0,
        stop: 60.0,
    },
    Family {
        name: "gears",
        text: gears,
        hand: gears_by_hand,
        frequency: 4.0,
        stop: 12.0,
    },
    Family {
        name: "cubic",
        text: cubic,
        hand: cubic_by_hand,
        frequency: 0.6,
        stop: 60.0,
    },
];

/// The equations of a text over its parameters.
pub fn compile(text: &str) -> StateSystem {
    let mut map = SourceMap::default();
    let root = map.add("bench.lgm", text, None);
    let request = lgm::Request {
        equations: Options {
            numeric: false,
            ..Options::default()
        },
        ..lgm::Request::default()
    };
    let (system, diagnostics) = lgm::compile(&NoFiles, &mut map, root, &request);
    system.unwrap_or_else(|| panic!("{diagnostics:?}"))
}

/// A ladder of n sections as in examples/line.lgm.
pub fn ladder(n: usize) -> String {
    format!(
        "component Section(L [H], R [ohm], C [F]) {{
  port p, n, ref : electrical; node m : electrical;
  l : Inductor(L) p -> m; r : Resistor(R) m -> n; c : Capacitor(C) n -> ref;
}}
model Ladder {{
  const N = {n};
  param L = 1 [mH]; param R = 0.1 [ohm]; param C = 1 [uF]; param Rl = 50 [ohm];
  input u [V] = 0.5;
  node v[N + 1] : electrical;
  src : VoltageSource(u) v[1] -> gnd;
  for i in 1:N {{ cell[i] : Section(L = L, R = R, C = C) (p = v[i], n = v[i + 1], ref = gnd); }}
  load : Resistor(Rl) v[N + 1] -> gnd;
  output y = across(load);
}}"
    )
}

/// Masses in a chain, each on a spring and a damper.
pub fn chain(n: usize) -> String {
    format!(
        "component Cell(m [kg], k [N/m], b [N.s/m]) {{
  port left, right, ref : translational;
  mass : Mass(m) right -> ref; spring : Spring(k) right -> left; damper : Damper(b) right -> left;
}}
model Chain {{
  const N = {n};
  param m = 2 [kg]; param k = 50 [N/m]; param b = 0.4 [N.s/m];
  input F [N] = 0.5;
  node x[N + 1] : translational;
  wall : VelocitySource(0) x[1] -> gnd;
  for i in 1:N {{ cell[i] : Cell(m = m, k = k, b = b) (left = x[i], right = x[i + 1], ref = gnd); }}
  push : ForceSource(F) gnd -> x[N + 1];
  output v = across(x[N + 1]);
}}"
    )
}

/// Inertias on a shaft, each with a geared dependent inertia.
pub fn gears(n: usize) -> String {
    format!(
        "component Cell(J1 [kg.m^2], J2 [kg.m^2], r, k [N.m/rad]) {{
  port left, right, ref : rotational; node geared : rotational;
  first : Inertia(J1) right -> ref; gear : Transformer(r) right -> ref, geared -> ref; second : Inertia(J2) geared -> ref;
  shaft : TorsionSpring(k) right -> left;
}}
model Gears {{
  const N = {n};
  param J1 = 0.01 [kg.m^2]; param J2 = 0.02 [kg.m^2]; param r = 1.5; param k = 30 [N.m/rad];
  input tau [N.m] = 0.5;
  node w[N + 1] : rotational;
  wall : AngularVelocitySource(0) w[1] -> gnd;
  for i in 1:N {{ cell[i] : Cell(J1 = J1, J2 = J2, r = r, k = k) (left = w[i], right = w[i + 1], ref = gnd); }}
  push : TorqueSource(tau) gnd -> w[N + 1];
  output speed = across(w[N + 1]);
}}"
    )
}

/// Masses in a chain, each on a spring that hardens with the cube of its elongation.
pub fn cubic(n: usize) -> String {
    format!(
        "import nonlinear;
component Cell(m [kg], k1 [N/m], k3 [N/m^3]) {{
  port left, right, ref : translational;
  mass : Mass(m) right -> ref; spring : HardSpring(k1, k3) right -> left;
}}
model Cubic {{
  const N = {n};
  param m = 2 [kg]; param k1 = 20 [N/m]; param k3 = 3 [N/m^3];
  input F [N] = 0.5;
  node x[N + 1] : translational;
  wall : VelocitySource(0) x[1] -> gnd;
  for i in 1:N {{ cell[i] : Cell(m = m, k1 = k1, k3 = k3) (left = x[i], right = x[i + 1], ref = gnd); }}
  push : ForceSource(F) gnd -> x[N + 1];
  output v = across(x[N + 1]);
}}"
    )
}

/// x = i[0], v[0], i[1], v[1], ..
fn ladder_by_hand(u: f64, x: &[f64], rates: &mut [f64]) {
    let (l, r, c, load) = (1.0 / 1e-3, 0.1, 1.0 / 1e-6, 1.0 / 50.0);
    let end = x.len() - 2;
    let mut before = u;
    for k in (0..end).step_by(2) {
        rates[k] = (before - r * x[k] - x[k + 1]) * l;
        rates[k + 1] = (x[k] - x[k + 2]) * c;
        before = x[k + 1];
    }
    rates[end] = (before - r * x[end] - x[end + 1]) * l;
    rates[end + 1] = (x[end] - x[end + 1] * load) * c;
}

/// x = v[0], F[0], v[1], F[1], ..
fn chain_by_hand(u: f64, x: &[f64], rates: &mut [f64]) {
    let (m, stiffness, b) = (1.0 / 2.0, 50.0, 0.4);
    let end = x.len() - 2;
    let (mut stretch, mut force) = (x[0], x[1] + b * x[0]);
    for k in (0..end).step_by(2) {
        let after = x[k + 2] - x[k];
        let next = x[k + 3] + b * after;
        rates[k] = (next - force) * m;
        rates[k + 1] = stiffness * stretch;
        (stretch, force) = (after, next);
    }
    rates[end] = (u - force) * m;
    rates[end + 1] = stiffness * stretch;
}

/// x = w[0], tau[0], ..: every inertia drives a second one through a gear.
fn gears_by_hand(u: f64, x: &[f64], rates: &mut [f64]) {
    let (inertia, stiffness) = (1.0 / (0.01 + 1.5 * 1.5 * 0.02), 30.0);
    let end = x.len() - 2;
    let mut before = 0.0;
    for k in (0..end).step_by(2) {
        rates[k] = (x[k + 3] - x[k + 1]) * inertia;
        rates[k + 1] = stiffness * (x[k] - before);
        before = x[k];
    }
    rates[end] = (u - x[end + 1]) * inertia;
    rates[end + 1] = stiffness * (x[end] - before);
}

/// x = all velocities, then all elongations.
fn cubic_by_hand(u: f64, x: &[f64], rates: &mut [f64]) {
    let (m, k1, k3) = (1.0 / 2.0, 20.0, 3.0);
    let n = x.len() / 2;
    let (v, q) = x.split_at(n);
    let (forces, speeds) = rates.split_at_mut(n);
    let law = |q: f64| q * (k1 + k3 * q * q);
    let (mut force, mut before) = (law(q[0]), 0.0);
    for k in 0..n {
        let after = if k + 1 < n { law(q[k + 1]) } else { u };
        forces[k] = (after - force) * m;
        speeds[k] = v[k] - before;
        (force, before) = (after, v[k]);
    }
}
