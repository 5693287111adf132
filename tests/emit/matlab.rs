//! Emitted functions for MATLAB, in Octave: they agree with the kernels and with runs of `lgm simulate`, and names are
//! legal.
//!
//! The tests need Octave, named by `LGM_OCTAVE` or `octave-cli`; without it they print a message and pass.

use crate::support;

use std::fs;
use std::path::Path;
use std::process::Command;
use support::emitted::{
    RECTIFIED, RECTIFIED_ROWS, Rows, assert_rectified_within, emit, examples, for_each, must, rectifier, simulated,
    stop,
};
use support::points::{Found, Point, compiled};

/// The program, if available.
pub fn octave() -> Option<String> {
    let octave = std::env::var("LGM_OCTAVE").unwrap_or_else(|_| "octave-cli".to_string());
    if Command::new(&octave)
        .arg("--version")
        .output()
        .is_ok_and(|output| output.status.success())
    {
        return Some(octave);
    }
    eprintln!("skipped: there is no `{octave}`; name Octave by LGM_OCTAVE");
    None
}

/// Runs statements in a folder and returns their output.
fn run(octave: &str, folder: &Path, statements: &str) -> String {
    must(&mut command(octave, folder, statements))
}

/// The command that runs statements in a folder.
pub fn command(octave: &str, folder: &Path, statements: &str) -> Command {
    let script = folder.join("lgm_test_script.m");
    fs::write(&script, statements).unwrap();
    let mut command = Command::new(octave);
    command.current_dir(folder).args(["-q", "--norc"]).arg(script);
    command
}

/// The name of the model's file.
fn name(folder: &Path) -> String {
    let files = fs::read_dir(folder).unwrap();
    let names = files.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut found = names.filter_map(|name| Some(name.strip_suffix("_run.m")?.to_string()));
    found.next().expect("there is a driver")
}

fn column(values: &[f64]) -> String {
    let list: Vec<String> = values.iter().map(|value| format!("{value:?}")).collect();
    format!("reshape([{}], [], 1)", list.join(" "))
}

/// The values of the functions of a folder at a point.
fn found(octave: &str, folder: &Path, point: &Point) -> Found {
    let statements = format!(
        "m = {}();
t = {:?}; x = {}; u = {}; du = {};
show = @(values) printf('%s\\n', sprintf(' %.17g', values));
show(m.unknowns(t, x, u, du));
show(m.rhs(t, x, u, du));
show(m.outputs_at(t, x, u, du));
[rows, columns, entries] = find(m.jacobian(t, x, u, du));
show(rows); show(columns); show(entries);
[u, du] = m.inputs_at(t);
show([u; du]);
show(m.starts);
",
        name(folder),
        point.time,
        column(&point.states),
        column(&point.inputs),
        column(&point.rates)
    );
    let printed = run(octave, folder, &statements);
    let lines: Vec<Vec<f64>> = printed
        .lines()
        .map(|line| line.split_whitespace().map(|word| word.parse().unwrap()).collect())
        .collect();
    let [unknowns, derivatives, outputs, rows, columns, entries, signals, starts] = lines.as_slice() else {
        panic!("eight lines: {printed}");
    };
    let entries = rows.iter().zip(columns).zip(entries);
    Found {
        unknowns: unknowns.clone(),
        derivatives: derivatives.clone(),
        outputs: outputs.clone(),
        jacobian: entries
            .map(|((row, column), value)| (*row as usize - 1, *column as usize - 1, *value))
            .collect(),
        signals: signals.clone(),
        starts: starts.clone(),
    }
}

#[test]
fn every_example_computes_what_the_kernels_compute() {
    let Some(octave) = octave() else { return };
    for_each(&examples(), |file| {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path().join("code");
        emit(file, "matlab", &folder, &[]);
        let point = Point::new(compiled(file));
        point.compare(&found(&octave, &folder, &point))
    });
}

#[test]
fn runs_are_those_of_simulate() {
    let Some(octave) = octave() else { return };
    // Steps of inputs, a loop, conditions on time, states moved by E, a derived parameter, a vector, conditions on
    // states.
    let files: Vec<_> = [
        "speed_loop.lgm",
        "oscillator.lgm",
        "rigid_gears.lgm",
        "milling_machine.lgm",
        "seeds/lg2ss_sewing_EF.lgm",
        "pendulum.lgm",
        "seeds/five_mass_seven_spring.lgm",
    ]
    .map(support::program::example)
    .to_vec();
    for_each(&files, |file| {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path().join("code");
        emit(file, "matlab", &folder, &[]);
        let (name, stop) = (name(&folder), stop(file));
        let further = match stop.as_slice() {
            [_, stop] => format!(", 'stop', {stop}"),
            _ => String::new(),
        };
        run(
            &octave,
            &folder,
            &format!("{name}_run('run.csv', {name}_parameters(), 'rtol', 1e-11, 'atol', 1e-13{further});"),
        );
        let rows = Rows::read(&fs::read_to_string(folder.join("run.csv")).unwrap());
        let (difference, place) = simulated(file, &stop).difference(&rows)?;
        // Between its steps, Octave's solver interpolates by a polynomial of degree four.
        match difference <= 1e-8 {
            true => Ok(()),
            false => Err(format!("{difference:e} of the range ({place})")),
        }
    });
}

#[test]
fn no_pulse_of_a_rectifier_is_stepped_over() {
    let Some(octave) = octave() else { return };
    let scratch = tempfile::tempdir().unwrap();
    let (file, folder) = (rectifier(scratch.path()), scratch.path().join("code"));
    emit(&file, "matlab", &folder, &[]);
    let name = name(&folder);
    let set: String = RECTIFIED.map(|(name, value)| format!("p.{name} = {value};\n")).concat();
    let options: Vec<String> = RECTIFIED_ROWS
        .chunks(2)
        .map(|pair| format!(", '{}', {}", pair[0].trim_start_matches('-'), pair[1]))
        .collect();
    let statements = format!(
        "p = {name}_parameters();\n{set}{name}_run('run.csv', p{});",
        options.concat()
    );
    run(&octave, &folder, &statements);
    // If the error estimate of Octave's ode45 misses the start of a pulse, the error is 1.3e-3 at the usual tolerance,
    // and 1.5e-6 at a tenth of that tolerance.
    assert_rectified_within(
        3e-3,
        &file,
        &RECTIFIED,
        &Rows::read(&fs::read_to_string(folder.join("run.csv")).unwrap()),
    );
}

/// A model with keywords or functions of the language as names, names that differ only in case, and very long names.
const NAMES: &str = "
model zeros {
  param end [kg] = 2;
  param function [N/m] = 50;
  param eps = 1.5;
  param ones = [1, 2];
  param persistent [kg] = end*eps;
  param a_name_of_more_than_sixty_three_letters_which_is_too_long_for_it_1 = 0.25 [N.s/m];
  param a_name_of_more_than_sixty_three_letters_which_is_too_long_for_it_2 = 0.5 [N.s/m];
  param G = [[1, 2], [3, 4]];
  input while_ [N] = 1;
  input u = [0.5, 0.25] [N];
  node x, X : translational;
  p1 : ForceSource(while_ + u[1]*ones[2] + u[2]*G[2, 1]) gnd -> x;
  a : Mass(persistent) x -> gnd;
  A : Mass(end)  X -> gnd;
  b : Spring(function) x -> X;
  B : Damper(a_name_of_more_than_sixty_three_letters_which_is_too_long_for_it_1)    X -> gnd;
  D : Damper(a_name_of_more_than_sixty_three_letters_which_is_too_long_for_it_2)    X -> gnd;
  output return_ = across(a);
  output Return_ = across(A);
  output K = through(b);
  experiment { stop = 1 [s]; points = 11; }
}
";

#[test]
fn words_of_the_language_are_names_all_the_same_and_parameters_can_be_changed() {
    let Some(octave) = octave() else { return };
    let scratch = tempfile::tempdir().unwrap();
    let (file, folder) = (scratch.path().join("Größe 'one'.lgm"), scratch.path().join("code"));
    fs::write(&file, NAMES).unwrap();
    emit(&file, "matlab", &folder, &[]);
    let name = name(&folder);
    assert_eq!(name, "zeros_");
    // Derived parameters follow, unless they are set themselves.
    for (statement, setting) in [
        ("", "eps=1.5"),
        ("p.end_ = 3;", "end=3"),
        ("p.ones_(2) = -4;", "ones=[1, -4]"),
        ("p.G(2, 1) = 5;", "G=[[1, 2], [5, 4]]"),
        ("p.persistent_ = 1.25;", "persistent=1.25"),
    ] {
        let statements =
            format!("p = zeros__parameters();\n{statement}\nzeros__run('run.csv', p, 'rtol', 1e-11, 'atol', 1e-13);");
        run(&octave, &folder, &statements);
        let rows = Rows::read(&fs::read_to_string(folder.join("run.csv")).unwrap());
        let expected = simulated(&file, &["--set".into(), setting.into()]);
        let (difference, place) = expected.difference(&rows).unwrap();
        assert!(difference <= 1e-8, "{setting}: {difference:e} {place}");
    }
}

#[test]
fn linear_models_have_matrices() {
    let Some(octave) = octave() else { return };
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join("code");
    emit(&support::program::example("oscillator.lgm"), "matlab", &folder, &[]);
    let name = name(&folder);
    // x' = a*x + b*u + e*u' agrees with the right sides.
    let statements = format!(
        "m = {name}(); [a, b, c, d, e, f] = m.matrices();
x = (1:columns(a))'/7; u = (1:columns(b))'/3; du = u/5;
assert(m.rhs(0, x, u, du), a*x + b*u + e*du, -1e-12);
assert(m.outputs_at(0, x, u, du), c*x + d*u + f*du, -1e-12);
printf('matrices');"
    );
    assert_eq!(run(&octave, &folder, &statements), "matrices");
    // The state space needs a package.
    let statements = format!(
        "found = pkg('list', 'control');
if isempty(found)
    printf('none');
else
    pkg load control
    m = {name}(); s = {name}_ss(m); [a, b, c, d] = m.matrices();
    assert(s.a, a); assert(s.b, b); assert(s.c, c); assert(s.d, d);
    assert(s.stname, m.states(:, 1)); assert(s.inname, m.inputs(:, 1)); assert(s.outname, m.outputs(:, 1));
    printf('state space');
end"
    );
    match run(&octave, &folder, &statements).as_str() {
        "none" => eprintln!("skipped in part: Octave has no package control"),
        printed => assert_eq!(printed, "state space"),
    }
}
