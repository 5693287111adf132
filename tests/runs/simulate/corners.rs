//! Steps and corners of inputs, initial values, and steady states.

use super::runs::{Shape, Shapes, compile, example, finished, run, run_with, tight};
use lgm::kernels::{KernelOptions, Kernels};
use lgm::simulate::{FailureKind, Plan, Progress, Silent, Sink, Stop, simulate};

/// A source charges two capacitors in series: the state is the voltage of one of them, which steps move
/// instantaneously.
fn divider(start: &str) -> String {
    format!(
        "model Divider {{
  param C1 = 1 [F]; param C2 = 3 [F]; param R = 2 [ohm];
  input u [V];
  node a, b : electrical;
  source : VoltageSource(u) a -> gnd;
  upper : Capacitor(C1) a -> b;
  lower : Capacitor(C2) b -> gnd{start};
  leak : Resistor(R) b -> gnd;
  output v = across(lower);
  output i = through(source);
}}"
    )
}

#[test]
fn a_step_moves_states_at_the_start_and_later() {
    let system = compile(&divider(""));
    let decay = |time: f64| (-time / 8.0).exp();
    // The lower capacitor receives a quarter of a step, and discharges with (C1 + C2) R = 8 s.
    let (rows, summary) = finished(&system, &[Shape::Constant(4.0)], &tight(4.0, 41));
    for (time, row) in rows.times.iter().zip(&rows.outputs) {
        assert!((row[0] - decay(*time)).abs() < 1e-9, "{time}: {}", row[0]);
    }
    let notes: Vec<&str> = summary.notes.iter().map(|note| note.code.as_str()).collect();
    assert_eq!(notes, ["LGM1022"], "the current carries an impulse, reported once");
    assert!(
        summary.notes[0]
            .message
            .starts_with("`i` would contain an impulse where `u` steps at 0 s")
    );

    let (rows, summary) = finished(&system, &[Shape::Pulse(4.0, 1.0, 2.0)], &tight(4.0, 41));
    for (time, row) in rows.times.iter().zip(&rows.outputs) {
        let expected = match *time {
            time if time < 1.0 => 0.0,
            time if time < 2.0 => decay(time - 1.0),
            time => decay(time - 1.0) - decay(time - 2.0),
        };
        assert!((row[0] - expected).abs() < 1e-9, "{time}: {} is not {expected}", row[0]);
    }
    assert_eq!(summary.notes.len(), 1, "reported once");
    assert_eq!(rows.times[10], 1.0);
    assert!(
        (rows.outputs[10][0] - 1.0).abs() < 1e-12,
        "the row at a corner is the one after it"
    );
}

#[test]
fn a_given_start_is_the_value_after_the_step_at_the_start() {
    let system = compile(&divider("").replace("a -> b;", "a -> b, start = 1;"));
    assert_eq!(&*system.states[0].name, "upper.v");
    let (rows, _) = finished(&system, &[Shape::Constant(4.0)], &tight(4.0, 41));
    assert_eq!((rows.states[0][0], rows.outputs[0][0]), (1.0, 3.0));
    // A later step still moves it.
    let (rows, _) = finished(&system, &[Shape::Pulse(4.0, 2.0, 3.0)], &tight(4.0, 3));
    let expected = 1.0 - (-2.0_f64 / 8.0).exp();
    assert!((rows.outputs[1][0] - expected).abs() < 1e-9, "{}", rows.outputs[1][0]);
}

#[test]
fn a_short_pulse_is_not_stepped_over() {
    let text = example("oscillator.lgm");
    let system = compile(&text);
    let (width, at) = (1e-6, 2.0);
    let pulse = Shape::Pulse(1.0 / width, at, at + width);
    let (rows, _) = finished(&system, &[pulse], &tight(4.0, 5));
    assert!(rows.outputs[1].iter().all(|value| *value == 0.0), "nothing before");
    // A unit impulse gives a mass of 2 kg a velocity of 0.5 m/s, which has oscillated several times a second later.
    let largest = rows.outputs[3]
        .iter()
        .fold(0.0_f64, |most, value| most.max(value.abs()));
    assert!(largest > 0.01, "{:?}", rows.outputs);
}

#[test]
fn steps_inside_the_equations_are_corners_too() {
    let system = compile(
        "model Cart { param m = 2 [kg]; node x : translational;
  push : ForceSource(6*step(0.3) - 6*step(0.7)) gnd -> x; mass : Mass(m) x -> gnd;
  output v = across(mass); }",
    );
    let (rows, summary) = finished(&system, &[], &tight(1.0, 11));
    let expected = |time: f64| 3.0 * ((time - 0.3).max(0.0) - (time - 0.7).max(0.0));
    for (time, row) in rows.times.iter().zip(&rows.outputs) {
        assert!((row[0] - expected(*time)).abs() < 1e-12, "{time}: {}", row[0]);
    }
    assert_eq!(summary.restarts, 2);
    assert!(summary.rejected == 0, "{summary:?}");
}

#[test]
fn further_rows_stand_on_both_sides_of_corners() {
    let system = compile(&divider(""));
    let plan = Plan {
        events: true,
        ..tight(4.0, 5)
    };
    let (rows, result) = run(&system, &[Shape::Pulse(4.0, 1.5, 2.0)], &plan);
    result.unwrap();
    assert_eq!(rows.times, [0.0, 1.0, 1.5, 1.5, 2.0, 2.0, 3.0, 4.0]);
    assert!(rows.outputs[2][0].abs() < 1e-12 && (rows.outputs[3][0] - 1.0).abs() < 1e-12);
}

const TANK: &str = "model Tank {
  param C = 2 [m^3/Pa]; param R = 5 [Pa.s/m^3]; param J = 1 [kg.m^2];
  input q [m^3/s];
  node p : fluid; node w : rotational;
  pump : FlowSource(q) gnd -> p;
  tank : FluidCapacitor(C) p -> gnd;
  pipe : FluidResistor(R) p -> gnd;
  wheel : Inertia(J) w -> gnd, start = 3;
  output P = across(tank);
  output speed = across(wheel);
}";

#[test]
fn a_run_may_begin_at_rest() {
    let system = compile(TANK);
    let plan = Plan {
        from_equilibrium: true,
        ..tight(10.0, 11)
    };
    let (rows, summary) = finished(&system, &[Shape::Constant(0.4)], &plan);
    for row in &rows.outputs {
        assert!((row[0] - 2.0).abs() < 1e-12 && row[1] == 3.0, "{row:?}");
    }
    let note = &summary.notes[0];
    assert_eq!(note.code, "LGM1021");
    assert!(
        note.message.contains("`wheel.w`") && !note.message.contains("tank"),
        "{}",
        note.message
    );

    let pushed = compile(&TANK.replace("output P", "motor : TorqueSource(1) gnd -> w;\n  output P"));
    let failure = run(&pushed, &[Shape::Constant(0.4)], &plan).1.unwrap_err();
    assert_eq!(failure.kind, FailureKind::NoEquilibrium);
    assert_eq!(failure.blame.map(|blame| blame.variable).as_deref(), Some("wheel.w"));
}

#[test]
fn starts_of_dependent_storage_are_compared_again_where_parameters_change() {
    let system = compile(
        "model Gears {
  param J1 = 1 [kg.m^2]; param J2 = 2 [kg.m^2]; param n = 2; param w0 = 3 [rad/s];
  node a, b : rotational;
  first : Inertia(J1) a -> gnd, start = w0;
  gears : Transformer(n) a -> gnd, b -> gnd;
  second : Inertia(J2) b -> gnd, start = 2*w0;
  output w = across(second);
}",
    );
    let place = |name: &str| {
        system
            .parameters
            .iter()
            .position(|parameter| &*parameter.name == name)
            .unwrap()
    };
    assert!(run_with(&system, &[(place("w0"), 5.0)], &[], &tight(1.0, 2)).1.is_ok());
    let failure = run_with(&system, &[(place("n"), 2.5)], &[], &tight(1.0, 2))
        .1
        .unwrap_err();
    let FailureKind::Starts { given, follows } = failure.kind else {
        panic!("{failure:?}")
    };
    assert!((given - 6.0).abs() < 1e-12 && (follows - 7.5).abs() < 1e-12 || (given - 3.0).abs() < 1e-12);
}

#[test]
fn a_value_of_an_input_or_an_output_that_is_none_is_reported() {
    let system = compile(
        "model Log { param m = 1 [kg]; input F [N]; node x : translational;
  push : ForceSource(F) gnd -> x; mass : Mass(m) x -> gnd; output y = log(1 - across(mass)/(1 [m/s])); }",
    );
    let (rows, result) = run(&system, &[Shape::Constant(2.1)], &tight(1.0, 11));
    let failure = result.unwrap_err();
    let blame = failure.blame.clone().unwrap();
    assert_eq!(blame.variable, "y", "{failure:?}");
    assert_eq!(blame.expression, "log(1 - mass.v)");
    assert_eq!(rows.times.len(), 5, "up to the row at 0.4 s");
    assert_eq!(failure.time, 0.5);
    let failure = run(&system, &[Shape::Constant(f64::NAN)], &tight(1.0, 11))
        .1
        .unwrap_err();
    assert!(matches!(failure.kind, FailureKind::LeftDomain(_)), "{failure:?}");
    assert_eq!(failure.blame.unwrap().variable, "F");
}

/// Stops a run at a time.
struct Until(f64);

impl Progress for Until {
    fn reached(&self, time: f64) -> Result<(), Stop> {
        if time < self.0 { Ok(()) } else { Err(Stop::Interrupted) }
    }
}

/// Stops after three samples.
struct Full(usize);

impl Sink for Full {
    fn row(&mut self, _: f64, _: &[f64], _: &[f64]) -> Result<(), Stop> {
        self.0 += 1;
        if self.0 > 3 {
            Err(Stop::Refused("the disk is full".into()))
        } else {
            Ok(())
        }
    }
}

#[test]
fn a_run_ends_when_the_user_or_the_sink_says_so() {
    let system = compile(TANK);
    let kernels = Kernels::new(&system, &KernelOptions::default());
    let signals = Shapes(vec![Shape::Constant(1.0)]);
    let parameters = kernels.parameters(&[]);
    let plan = tight(10.0, 11);
    let mut last = 0.0;
    let mut sink = |time: f64, _: &[f64], _: &[f64]| last = time;
    let failure = simulate(&system, &kernels, &parameters, &signals, &plan, &mut sink, &Until(4.5)).unwrap_err();
    assert_eq!(failure.kind, FailureKind::Stopped(Stop::Interrupted));
    assert!(failure.is_stop() && (3.0..=5.0).contains(&last), "{last}");
    let failure = simulate(&system, &kernels, &parameters, &signals, &plan, &mut Full(0), &Silent).unwrap_err();
    assert_eq!(
        failure.kind,
        FailureKind::Stopped(Stop::Refused("the disk is full".into()))
    );
}

#[test]
fn a_system_without_states_has_rows_as_well() {
    let system = compile(
        "model Static { param R = 2 [ohm]; input u [V]; node a : electrical;
  source : VoltageSource(u) a -> gnd; load : Resistor(R) a -> gnd; output i = through(load); }",
    );
    let (rows, _) = finished(&system, &[Shape::Pulse(4.0, 0.25, 0.5)], &tight(1.0, 5));
    let found: Vec<f64> = rows.outputs.iter().map(|row| row[0]).collect();
    assert_eq!(found, [0.0, 2.0, 0.0, 0.0, 0.0]);
}
