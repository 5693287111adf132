//! Dependent initial values: of storage without a state, and of signals.

use lgm::Request;
use lgm::diagnostic::has_errors;
use lgm::equations::{StateRequest, StateSystem};
use lgm::kernels::{KernelOptions, Kernels};
use lgm::rendering::render;
use lgm::simulate::{Inputs, Plan, Silent, Sink, Stop, simulate};
use lgm::source::{NoFiles, SourceMap};

fn compile_with(text: &str, states: StateRequest) -> StateSystem {
    let mut map = SourceMap::default();
    let root = map.add("model.lgm", text, None);
    let mut request = Request {
        verify: true,
        ..Request::default()
    };
    request.equations.states = states;
    let (system, diagnostics) = lgm::compile(&NoFiles, &mut map, root, &request);
    assert!(!has_errors(&diagnostics), "{}", render(&map, &diagnostics, false));
    system.unwrap()
}

fn compile(text: &str) -> StateSystem {
    compile_with(text, StateRequest::Natural)
}

/// The first sample of a run.
struct First(Vec<f64>, Vec<f64>);

impl Sink for First {
    fn row(&mut self, _: f64, outputs: &[f64], states: &[f64]) -> Result<(), Stop> {
        if self.0.is_empty() && self.1.is_empty() {
            (self.0, self.1) = (outputs.to_vec(), states.to_vec());
        }
        Ok(())
    }
}

/// Outputs and states at the start, with parameters set by name.
fn first_row(system: &StateSystem, set: &[(&str, f64)]) -> (Vec<f64>, Vec<f64>) {
    let kernels = Kernels::new(system, &KernelOptions { native: false });
    let place = |name: &str| {
        system
            .parameters
            .iter()
            .position(|parameter| *parameter.name == *name)
            .unwrap()
    };
    let set: Vec<(usize, f64)> = set.iter().map(|(name, value)| (place(name), *value)).collect();
    let parameters = kernels.parameters(&set);
    let inputs = Inputs::new(system, &kernels, &parameters, vec![None; system.inputs.len()], 0.0);
    let plan = Plan {
        stop: 1e-3,
        points: 2,
        ..Plan::default()
    };
    let mut first = First(Vec::new(), Vec::new());
    let done = simulate(system, &kernels, &parameters, &inputs, &plan, &mut first, &Silent);
    done.unwrap_or_else(|failure| panic!("{failure:?}"));
    (first.0, first.1)
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-10 * a.abs().max(b.abs()).max(1e-3)
}

const PENDULUM: &str = "model M {
  param m = 1 [kg];  param L = 0.5 [m];  param v0 = 0.8 [m/s];
  node joint : rotational;  node p[2] vector : translational;
  state theta = int(across(joint)), start = 0.3;
  arm    : Transformer([[L*cos(theta)], [L*sin(theta)]]) joint -> gnd, p -> gnd;
  bob    : Mass(m) p -> gnd;
  weight : ForceSource([0, -m*9.81 [m/s^2]]) gnd -> p;
  START
  output v = across(p)[1];
  output w = across(joint);
}";

/// A velocity state without a storage element for its initial value, in closed form, with other parameters too.
#[test]
fn a_velocity_follows_from_a_signal() {
    let given = "signal forward = across(p)[1], start = v0;";
    let system = compile(&PENDULUM.replace("START", given));
    let (outputs, states) = first_row(&system, &[]);
    assert!(
        close(outputs[0], 0.8) && close(states[0], 0.8 / (0.5 * 0.3_f64.cos())),
        "{outputs:?}"
    );
    let (outputs, states) = first_row(&system, &[("L", 0.25), ("v0", -2.0)]);
    assert!(
        close(outputs[0], -2.0) && close(states[0], -2.0 / (0.25 * 0.3_f64.cos())),
        "{outputs:?}"
    );
    // The initial value is an expression, and the run needs no search.
    assert!(system.starts.search.is_none());
}

#[test]
fn a_velocity_follows_from_storage_without_a_state() {
    let (c, s) = (0.3_f64.cos(), 0.3_f64.sin());
    let given = format!("p -> gnd, start = [{:.17}, {:.17}];", 2.0 * c, 2.0 * s);
    let system = compile(
        &PENDULUM
            .replace("START", "")
            .replace("p -> gnd;\n  weight", &format!("{given}\n  weight")),
    );
    let (outputs, _) = first_row(&system, &[]);
    assert!(close(outputs[1], 4.0), "{outputs:?}");
}

/// Position and velocity of a closed chain from the slider, by Newton's method, and again with other lengths.
#[test]
fn a_closed_chain_starts_where_its_slider_does() {
    let text = "model M {
      param r = 0.1 [m];  param l = 0.3 [m];
      node crank, rod : rotational;
      node pin[2] vector : translational;  node wrist[2] vector : translational;
      state theta = int(across(crank)), guess = GUESS;
      state phi = int(across(rod)), start = -0.2, close = r*sin(theta) + l*sin(phi);
      arm   : Transformer([[-r*sin(theta)], [r*cos(theta)]]) crank -> gnd, pin -> gnd;
      whole : Transformer([[-l*sin(phi)], [l*cos(phi)]]) rod -> gnd, wrist -> pin;
      guide : AcrossSource(0) wrist[2] -> gnd;
      wheel : Inertia(0.02 [kg.m^2]) crank -> gnd;
      slider : Mass(0.8 [kg]) wrist[1] -> gnd, start = -1.5 [m/s];
      signal x = r*cos(theta) + l*cos(phi), start = 0.36 [m];
      output reach = x;
      output speed = across(slider);
      output turned = int(across(crank));
    }";
    for (guess, sign) in [("0.5", 1.0), ("-0.5", -1.0)] {
        let system = compile(&text.replace("GUESS", guess));
        for (r, l) in [(0.1, 0.3), (0.12, 0.28)] {
            let set: &[(&str, f64)] = if r == 0.1 { &[] } else { &[("r", r), ("l", l)] };
            let (outputs, states) = first_row(&system, set);
            let cosine = (r * r + 0.36 * 0.36 - l * l) / (2.0 * r * 0.36);
            let theta = sign * cosine.acos();
            let phi = (-r * theta.sin() / l).asin();
            let w = -1.5 / (-r * theta.sin() + r * theta.cos() * phi.tan());
            assert!(
                close(outputs[0], 0.36) && close(outputs[1], -1.5),
                "{guess} {r}: {outputs:?}"
            );
            assert!(
                close(states[0], w) && close(states[1], theta),
                "{guess} {r}: {states:?}, {w} {theta}"
            );
            // Only the run with the original parameters begins with the compiler's initial values.
            if r == 0.1 {
                assert!(outputs[2].abs() < 1e-12, "{outputs:?}");
            }
        }
    }
}

/// Each condition has a single unknown after the previous one is solved.
#[test]
fn starts_follow_one_after_another() {
    let system = compile(
        "model Cascade {
  const N = 40;
  node x[N + 1] : translational;
  for i in 1:N + 1 { mass[i] : Mass(2) x[i] -> gnd; }
  for i in 1:N {
    spring[i] : Spring(3) x[i] -> x[i + 1], start = 1;
    signal both[i] = across(mass[i]) + i*across(mass[i + 1]), start = i;
  }
  signal first = 3*across(mass[1]), start = 6;
  output v = across(mass[1]);
}",
    );
    let mut velocity = 2.0;
    for (i, state) in system.states[..41].iter().enumerate() {
        assert!(close(state.start_value, velocity), "{} {velocity}", state.name);
        let next = i as f64 + 1.0;
        velocity = (next - velocity) / next;
    }
}

/// In linear and nonlinear models, with p as a state too; integrals start from the dependent initial value.
#[test]
fn linear_storage_starts_as_what_hangs_on_it() {
    let text = "model M {
      param k = 50;
      node x : translational;
      car     : Mass(2) x -> gnd;
      trailer : Mass(3) x -> gnd, start = 4;
      spring  : Spring(k) x -> gnd;
      signal pull = through(spring)^2/k, start = 2;
      signal half = through(spring)/2, start = 5;
      output v = across(car);
      output f = through(spring);
      output moved = int(across(spring));
    }";
    for (states, v) in [(StateRequest::Natural, 4.0), (StateRequest::Energy, 8.0)] {
        let system = compile_with(text, states);
        assert!(system.equations.linear && system.matrices.numeric.is_some());
        let (outputs, at) = first_row(&system, &[]);
        assert!(
            close(outputs[0], 4.0) && close(outputs[1], 10.0),
            "{states:?} {outputs:?}"
        );
        // The displacement of the spring.
        assert!(close(outputs[2], 10.0 / 50.0), "{states:?} {outputs:?}");
        assert!(close(at[0], v), "{states:?} {at:?}");
        // Conditions are not outputs.
        assert_eq!(system.outputs.len(), 3);
        assert_eq!(system.matrices.numeric.as_ref().unwrap().c.rows.len(), 3);
    }
}

/// A step of an input at the start time does not change a given initial value.
#[test]
fn a_start_that_follows_holds_just_after_a_step() {
    let text = "model M {
      input u = 1;
      node a, b : electrical;
      source : VoltageSource(u) a -> gnd;
      c1 : Capacitor(1) a -> b;
      c2 : Capacitor(2) b -> gnd;
      START
      r : Resistor(1) b -> gnd;
      output v = across(c2);
    }";
    let (moved, _) = first_row(&compile(&text.replace("START", "")), &[]);
    assert!(close(moved[0], 1.0 / 3.0), "{moved:?}");
    let given = "signal charge = 2*across(c2), start = 0.5;";
    let (kept, _) = first_row(&compile(&text.replace("START", given)), &[]);
    assert!(close(kept[0], 0.25), "{kept:?}");
}

/// The angle of a joint without inertia has a velocity that is a state, and no energy variable.
#[test]
fn a_velocity_without_storage_stays_a_velocity() {
    let text = PENDULUM.replace("START", "signal forward = across(p)[1], start = v0;");
    let system = compile_with(&text, StateRequest::Energy);
    let names: Vec<&str> = system.states.iter().map(|state| &*state.name).collect();
    assert_eq!(names, ["joint.w", "theta"]);
    let (outputs, _) = first_row(&system, &[]);
    assert!(close(outputs[0], 0.8), "{outputs:?}");
}

cases! {
    a_signal_that_contradicts_a_start: "
model M {
  node x : translational;
  car     : Mass(2) x -> gnd, start = 1;
  trailer : Mass(3) x -> gnd, start = 4;
  signal twice = 2*across(car), start = 6;
}";
    two_angles_from_one_height: "
model M {
  node a, b : rotational;
  state p = int(across(a)), guess = 0.1;
  state q = int(across(b)), guess = 0.2;
  first  : Inertia(2) a -> gnd;
  second : Inertia(3) b -> gnd;
  signal sum = sin(p) + sin(q), start = 0.5;
}";
    a_position_that_is_never_reached: "
model M {
  param L = 0.5;
  node joint : rotational;  node p[2] vector : translational;
  state theta = int(across(joint)), guess = 0.3;
  signal height = L*(1 - cos(theta)), start = 1.2;
  arm : Transformer([[L*cos(theta)], [L*sin(theta)]]) joint -> gnd, p -> gnd;
  bob : Mass(1) p -> gnd;
}";
    a_guess_that_leads_nowhere: "
model M {
  node joint : rotational;
  state theta = int(across(joint)), guess = 0.3;
  wheel : Inertia(1) joint -> gnd;
  spring : TorqueSource(-2*sin(theta)) gnd -> joint;
}";
    a_start_in_another_unit: "
model M {
  node x : translational;
  car : Mass(2) x -> gnd, start = 3 [km];
  state q = int(across(car)), start = 2 [s];
  signal twice = 2*across(car), start = 6 [N];
}";
    a_start_of_an_integral_in_a_signal: "
model M {
  node x : translational;
  car : Mass(2) x -> gnd;
  signal way = 2*int(across(car)), start = 6 [m];
}";
    a_signal_with_a_guess: "
model M {
  node x : translational;
  car : Mass(2) x -> gnd;
  signal speed = across(car), guess = 6;
}";
}
