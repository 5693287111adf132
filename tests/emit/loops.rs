//! Systems that emitted code solves within each call: mass matrices, loops with many unknowns or tiny ones, and laws
//! with infinite slope at rest.

use crate::emit::fmu::driven::{Driven, SANITIZED, has_compiler};
use crate::runs::simulate::shapes;
use crate::support;
use crate::systems;

use lgm::emit::code::{self, CodeOptions, Origin, Target};
use lgm::equations::{StateSystem, StateVariable};
use lgm::expr::Function;
use lgm::kernels::{KernelOptions, Kernels};
use lgm::session::trial_runs::Simulated;
use lgm::simulate::{Method, Plan, Silent, simulate};
use shapes::Shapes;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use support::emitted::{Rows, TIGHT, compile, emit, must, python, rust_program, simulated};
use support::program::succeed;
use systems::{Builder, sparse};

/// Two coupled oscillators with position-dependent masses: some rows of the mass matrix couple rates, others do not.
fn coupled() -> StateSystem {
    let mut builder = Builder::new("Coupled");
    let mass = builder.parameter("m", 20, Some("kg"), None);
    let stiffness = builder.parameter("k", 35, Some("N/m"), None);
    let q = [("a.x", 1), ("b.x", 0)]
        .map(|(name, start)| builder.state(name, StateVariable::IntegralOfAcross, Some("m"), start));
    let v = ["a.v", "b.v"].map(|name| builder.state(name, StateVariable::Across, Some("m/s"), 0));
    let exprs = &mut builder.system.exprs;
    let one = exprs.one();
    let coupling = exprs.call(Function::Cos, [q[0]]);
    let square = exprs.mul(q[1], q[1]);
    let grown = exprs.add(mass, square);
    let pull = exprs.mul(stiffness, q[0]);
    let first = exprs.neg(pull);
    let stretch = exprs.sub(q[0], q[1]);
    let cube = exprs.product([stretch, stretch, stretch]);
    let second = exprs.add(stretch, cube);
    let entries = [
        (0, 0, one),
        (1, 1, one),
        (2, 2, mass),
        (2, 3, coupling),
        (3, 2, coupling),
        (3, 3, grown),
    ];
    builder.system.equations.mass_matrix = Some(sparse(4, 4, &entries));
    builder.system.equations.derivatives = vec![v[0], v[1], first, second];
    let energy = builder.system.exprs.mul(v[0], v[1]);
    builder.output("product", None, energy);
    builder.system.equations.linear = false;
    builder.system
}

/// The samples of a run of the library, which solves with the mass matrix directly.
fn run(system: &StateSystem) -> Rows {
    let kernels = Kernels::new(system, &KernelOptions::default());
    let plan = Plan {
        stop: 3.0,
        points: 501,
        rtol: 1e-11,
        atol: Some(1e-14),
        method: Method::Tsit45,
        ..Plan::default()
    };
    let mut names = vec!["time".to_string()];
    names.extend(system.outputs.iter().map(|output| output.name.to_string()));
    names.extend(system.states.iter().map(|state| state.name.to_string()));
    let mut values = Vec::new();
    let mut sink = |time: f64, outputs: &[f64], states: &[f64]| values.push([&[time], outputs, states].concat());
    let parameters = kernels.parameters(&[]);
    let signals = Shapes(Vec::new());
    simulate(system, &kernels, &parameters, &signals, &plan, &mut sink, &Silent).unwrap();
    Rows { names, values }
}

/// Emits a system into a folder.
fn write(system: &StateSystem, target: Target, folder: &Path) {
    let origin = Origin {
        file: "coupled".to_string(),
        version: "0",
        hash: "none".to_string(),
    };
    let package = code::package(system, &origin, target, &CodeOptions::default(), None, &Simulated).unwrap();
    for file in package.files {
        let path = folder.join(file.path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, file.contents).unwrap();
    }
}

const STOP: [&str; 2] = ["--stop", "3"];

#[test]
fn a_mass_matrix_is_solved_with_in_emitted_code() {
    let system = coupled();
    let expected = run(&system);
    let check = |language: &str, text: &str| {
        let (difference, place) = expected.difference(&Rows::read(text)).unwrap();
        assert!(difference <= 1e-9, "{language}: {difference:e} {place}");
    };
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join("c");
    write(&system, Target::C, &folder);
    check(
        "C",
        &must(Command::new(compile(&folder, &["-O0"])).args(TIGHT).args(STOP)),
    );
    let folder = scratch.path().join("rust");
    write(&system, Target::Rust, &folder);
    check(
        "Rust",
        &must(Command::new(rust_program(&folder)).args(TIGHT).args(STOP)),
    );
    let Some(python) = python("numpy, scipy") else { return };
    let folder = scratch.path().join("python");
    write(&system, Target::Python, &folder);
    let mut python = Command::new(python);
    check(
        "Python",
        &must(python.arg(folder.join("coupled.py")).args(TIGHT).args(STOP)),
    );
}

/// A ladder of diodes without storage between them.
fn ring(count: usize) -> String {
    format!(
        "import nonlinear;
model Ring {{
  const N = {count};
  input u [V] = N*(1 + 0.2*sin(50*time));
  node a[N + 1] : electrical;
  node b[N] : electrical;
  source : VoltageSource(u) a[1] -> gnd;
  for i in 1:N {{
    r[i] : Resistor(0.01 [ohm]) a[i] -> b[i];
    d[i] : Diode() b[i] -> a[i + 1];
    g[i] : Resistor(1000 [ohm]) a[i + 1] -> gnd;
  }}
  c : Capacitor(1 [mF]) a[N + 1] -> gnd;
  output y = across(c);
  experiment {{ stop = 0.05 [s]; points = 11; }}
}}"
    )
}

#[test]
fn loops_of_more_unknowns_than_a_small_computer_has_room_for_are_solved() {
    let scratch = tempfile::tempdir().unwrap();
    let file = scratch.path().join("ring.lgm");
    let text = ring(70).replace("stop = 0.05 [s]; points = 11", "stop = 0.001 [s]; points = 3");
    fs::write(&file, text).unwrap();
    let expected = simulated(&file, &[]);
    let folder = scratch.path().join("c");
    emit(&file, "c", &folder, &[]);
    let header = fs::read_to_string(folder.join("Ring.h")).unwrap();
    let unknowns = header
        .lines()
        .find_map(|line| line.strip_prefix("enum { Ring_UNKNOWNS = "));
    let unknowns = unknowns.and_then(|line| line.strip_suffix(" };"));
    assert!(unknowns.unwrap().parse::<usize>().unwrap() > 64);
    let rows = Rows::read(&must(Command::new(compile(&folder, &["-O0"])).args(TIGHT)));
    let (difference, place) = expected.difference(&rows).unwrap();
    assert!(difference <= 1e-9, "C: {difference:e} {place}");
    let folder = scratch.path().join("rust");
    emit(&file, "rust", &folder, &[]);
    let rows = Rows::read(&must(Command::new(rust_program(&folder)).args(TIGHT)));
    let (difference, place) = expected.difference(&rows).unwrap();
    assert!(difference <= 1e-9, "Rust: {difference:e} {place}");
}

#[test]
fn iterations_on_loops_are_bounded_as_asked() {
    let scratch = tempfile::tempdir().unwrap();
    let file = scratch.path().join("ring.lgm");
    fs::write(&file, ring(2)).unwrap();
    for (further, expected) in [(&["--loop-iterations", "7"][..], "7"), (&[], "50")] {
        let folder = scratch.path().join(expected);
        emit(&file, "c", &folder, further);
        let source = fs::read_to_string(folder.join("Ring.c")).unwrap();
        let number = format!("Ring_ITERATIONS = {expected},");
        assert!(source.contains(&number), "{number}");
    }
}

/// Tanks at rest, where the slope of a turbulent flow is infinite: the scales of the states are found nearby.
const TANKS: &str = "element Turbulent(c [Pa.s^2/m^6]) : fluid { across = c*through*abs(through); }
model Tanks {
  input u [Pa] = 1e4*tanh(time/7);
  node p0, p1, p2, p3, p4 : fluid;
  src : PressureSource(u) p0 -> gnd;
  r1 : FluidResistor(8e10) p0 -> p1;
  c1 : FluidCapacitor(2e-11) p1 -> gnd;
  r2 : FluidResistor(1e11) p1 -> p2;
  c2 : FluidCapacitor(2e-10) p2 -> gnd;
  r3 : FluidResistor(1e10) p2 -> p3;
  c3 : FluidCapacitor(4e-10) p3 -> gnd;
  r4 : Turbulent(2.7e17) p3 -> p4;
  c4 : FluidCapacitor(2.4e-10) p4 -> gnd;
  leak : FluidResistor(1.6e11) p4 -> gnd;
  output pn = across(p4);
  experiment { stop = 17 [s]; points = 3; }
}
";

#[test]
fn tanks_that_rest_before_a_turbulent_flow_come_to_an_end_in_c() {
    let scratch = tempfile::tempdir().unwrap();
    let file = scratch.path().join("tanks.lgm");
    fs::write(&file, TANKS).unwrap();
    let folder = scratch.path().join("c");
    emit(&file, "c", &folder, &[]);
    let program = compile(&folder, &["-O0"]);
    let run = Command::new("timeout").arg("60").arg(program).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let rows = Rows::read(&String::from_utf8(run.stdout).unwrap());
    let last = rows.values.last().unwrap()[1];
    // By an implicit method of order 5 at a tolerance of 1e-11.
    assert!((last - 536.17499).abs() < 1e-3, "{last}");
}

/// Capacitors of at most 10 pF whose voltage grows with the cube of the charge: a loop determines the charge of one of
/// them, 1e-12 C, from that of the other and the total voltage.
const CHARGES: &str = "element Cubic(a, c) : electrical { across = a*int(through) + c*int(through)^3; }
model Charges {
  input u [V] = 200*(pulse(1e-6 [s], 1e-6 [s]) + pulse(3e-6 [s], 1e-6 [s]));
  node a, n : electrical;
  s : VoltageSource(u) a -> gnd;
  c1 : Cubic(1e11, 1e36) a -> n;
  c2 : Cubic(3e11, 5e37) n -> gnd;
  r : Resistor(1e6 [ohm]) n -> gnd;
  output q2 = int(through(c2));
  experiment { stop = 5e-6 [s]; points = 101; }
}
";

/// A purely relative tolerance: no absolute tolerance suits the magnitudes of the states.
const CHARGES_RTOL: [&str; 2] = ["--rtol", "1e-11"];

/// The model in a file, and the result of `lgm simulate`. Its first state is the charge that is not an output.
fn charges(scratch: &Path) -> (PathBuf, Rows) {
    let file = scratch.join("charges.lgm");
    fs::write(&file, CHARGES).unwrap();
    let file_name = file.display().to_string();
    let words = ["simulate", &file_name, "--method", "tsit45"];
    let words: Vec<String> = words.into_iter().chain(CHARGES_RTOL).map(String::from).collect();
    let rows = Rows::read(&succeed(&words));
    (file, rows)
}

/// The charge amplifies errors of the other one by a factor of hundreds, so this tolerance remains.
#[track_caller]
fn assert_charges(what: &str, expected: &Rows, rows: &Rows) {
    let (difference, place) = expected.difference(rows).unwrap();
    assert!(difference <= 1e-7, "{what}: {difference:e} {place}");
}

#[test]
fn tiny_unknowns_of_loops_are_solved_for_in_emitted_c() {
    let scratch = tempfile::tempdir().unwrap();
    let (file, expected) = charges(scratch.path());
    let folder = scratch.path().join("c");
    emit(&file, "c", &folder, &[]);
    let rows = Rows::read(&must(Command::new(compile(&folder, &["-O0"])).args(CHARGES_RTOL)));
    assert_charges("C", &expected, &rows);
}

#[test]
fn tiny_unknowns_of_loops_are_solved_for_in_emitted_rust() {
    let scratch = tempfile::tempdir().unwrap();
    let (file, expected) = charges(scratch.path());
    let folder = scratch.path().join("rust");
    emit(&file, "rust", &folder, &[]);
    let rows = must(Command::new(rust_program(&folder)).args(CHARGES_RTOL));
    assert_charges("Rust", &expected, &Rows::read(&rows));
}

#[test]
fn tiny_unknowns_of_loops_are_solved_for_in_fmus() {
    if !has_compiler() {
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let (file, expected) = charges(scratch.path());
    for target in ["fmu2", "fmu3"] {
        let driven = Driven::new(&file, target, &scratch.path().join(target), &SANITIZED);
        let rows = driven.rows("cs", &expected, CHARGES_RTOL[1], &[]);
        assert_charges(target, &expected, &rows);
    }
}
