//! Verification detects its target: equations changed after they were derived.

use lgm::diagnostic::{Diagnostic, has_errors};
use lgm::equations::{StateRequest, StateSystem, formulate, verify};
use lgm::expr::{ExprId, Exprs, Node};
use lgm::source::{NoFiles, SourceMap};
use lgm::{bond, elaborate, equations};

const LINEAR: &str = "model Linear {
  param m = 2 [kg]; param k = 50 [N/m]; param b = 3 [N.s/m];
  input F [N];
  node x : translational;
  mass : Mass(m) x -> gnd; spring : Spring(k) x -> gnd; damper : Damper(b) x -> gnd;
  push : ForceSource(F) gnd -> x;
  output v = across(mass);
  output gone = int(across(mass));
}";

const NONLINEAR: &str = "import nonlinear;
model Nonlinear {
  param m = 2 [kg];
  input F [N];
  node x : translational;
  mass : Mass(m) x -> gnd; spring : HardSpring(20 [N/m], 3 [N/m^3]) x -> gnd;
  push : ForceSource(F) gnd -> x;
  output v = across(mass);
  output gone = int(across(mass));
}";

/// A model with its equations.
struct Compiled {
    model: lgm::model::Model,
    graph: bond::BondGraph,
    system: StateSystem,
}

fn compiled(text: &str) -> Compiled {
    let mut map = SourceMap::default();
    let root = map.add("model.lgm", text, None);
    let (program, diagnostics) = elaborate::load(&NoFiles, &mut map, root);
    assert!(!has_errors(&diagnostics), "{diagnostics:?}");
    let (model, diagnostics) = elaborate::elaborate(&program, &map, &elaborate::Settings::default());
    assert!(!has_errors(&diagnostics), "{diagnostics:?}");
    let model = model.unwrap();
    let graph = bond::lower(&model);
    let (system, diagnostics) = formulate(&model, &graph, &equations::Options::default());
    assert!(!has_errors(&diagnostics), "{diagnostics:?}");
    let system = system.unwrap();
    Compiled { model, graph, system }
}

impl Compiled {
    fn verify(&self, system: &StateSystem) -> Vec<Diagnostic> {
        verify(&self.model, &self.graph, system, &[], StateRequest::default(), true).into_diagnostics(&self.model)
    }
}

/// The verification diagnostic for changed equations.
fn said(text: &str, change: impl Fn(&mut StateSystem)) -> Vec<Diagnostic> {
    let compiled = compiled(text);
    let mut system = compiled.system.clone();
    change(&mut system);
    compiled.verify(&system)
}

fn codes(diagnostics: &[Diagnostic]) -> Vec<&str> {
    diagnostics.iter().map(|diagnostic| diagnostic.code.as_str()).collect()
}

/// Equations that become wrong after a set time are detected, even if that time is later than a second or in a
/// condition.
#[test]
fn equations_are_looked_at_on_every_side_of_what_happens_at_set_times() {
    for late in ["step(2.5)", "pulse(3, 1)", "ramp(4)", "if time > 5 then 1 else 0"] {
        for (import, law) in [
            ("", "Damper(2)"),
            ("import nonlinear;\n", "HardSpring(20 [N/m], 3 [N/m^3])"),
        ] {
            let text = format!(
                "{import}model M {{ node a : translational; mass : Mass(1) a -> gnd; other : {law} a -> gnd;\n\
                 push : ForceSource(1) gnd -> a; output w = {late} + across(mass); }}"
            );
            let (clean, frozen) = (said(&text, |_| ()), said(&text, without_time));
            assert_eq!(codes(&clean), ["LGM0712"], "{text}: {clean:#?}");
            assert!(codes(&frozen).contains(&"LGM0711"), "{text}: {frozen:#?}");
        }
    }
}

/// A law without a value after 2 s leaves one side unchecked, and a message reports this.
#[test]
fn points_without_values_are_counted() {
    for (import, other) in [
        ("", "Damper(2)"),
        ("import nonlinear;\n", "HardSpring(20 [N/m], 3 [N/m^3])"),
    ] {
        let of = |force: &str| {
            format!(
                "{import}model M {{ node a : translational; mass : Mass(1) a -> gnd; other : {other} a -> gnd;\n\
                 push : ForceSource({force}) gnd -> a; output w = across(mass); }}"
            )
        };
        let whole = said(&of("if time < 2 then 1 else sqrt(1 + time)"), |_| ());
        let half = said(&of("if time < 2 then 1 else sqrt(1 - time)"), |_| ());
        let of = |found: &[Diagnostic]| {
            let last = found.last().unwrap();
            assert_eq!(last.code, "LGM0712");
            let notes = last.notes.join("\n");
            let label = last.labels[0].message.clone();
            let points = label.split_once(" satisfied at ").unwrap().1;
            let points: usize = points.split(' ').next().unwrap().parse().unwrap();
            (points, notes.contains("could not be checked"))
        };
        let ((all, known), (some, unknown)) = (of(&whole), of(&half));
        assert!(some < all && unknown && !known, "{all} {some}: {half:#?}");
    }
}

/// Freezes the first output's function of time at its initial value.
fn without_time(system: &mut StateSystem) {
    let (time, zero) = (system.time, system.exprs.zero());
    let inputs: Vec<_> = system.inputs.iter().map(|input| input.symbol).collect();
    let frozen = |symbol| (symbol == time || inputs.contains(&symbol)).then_some(zero);
    system.equations.output_values[0] = system.exprs.substitute(&[system.equations.output_values[0]], frozen)[0];
}

#[test]
fn equations_that_were_changed_are_found_out() {
    for text in [LINEAR, NONLINEAR] {
        assert_eq!(codes(&said(text, |_| {})), ["LGM0712"], "{text}");
        for rate in 0..2 {
            let found = said(text, |system| {
                let exprs = &mut system.exprs;
                let (value, two) = (system.equations.derivatives[rate], exprs.integer(2));
                system.equations.derivatives[rate] = exprs.mul(value, two);
            });
            assert!(codes(&found).contains(&"LGM0711"), "{text}\n{found:?}");
        }
        let found = said(text, |system| {
            let exprs = &mut system.exprs;
            system.equations.output_values[0] = exprs.neg(system.equations.output_values[0]);
        });
        assert_eq!(codes(&found), ["LGM0711"], "{text}\n{found:?}");
        assert!(found[0].message.contains("output `v`"), "{found:?}");
    }
}

/// Models with poor conditioning that were once reported as compiler bugs.
#[test]
fn conditioning_is_no_fault() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/equations/verification");
    for (name, is_readable) in [
        ("verify_clamp", true),
        ("repro3_buck_pwl", true),
        ("buck_pwl2", true),
        ("colebrook_verify", true),
        ("bricard_verify", false),
    ] {
        let text = std::fs::read_to_string(folder.join(format!("{name}.lgm"))).unwrap();
        let found = said(&text, |_| {});
        println!("{name}: {found:?}");
        assert!(codes(&found).contains(&"LGM0712"), "{name}: {found:#?}");
        assert!(!codes(&found).contains(&"LGM0711"), "{name}: {found:#?}");
        if is_readable {
            assert_eq!(codes(&found), ["LGM0712"], "{name}: {found:#?}");
        }
    }
}

/// One modification of an expression.
#[derive(Clone, Copy, Debug)]
enum Change {
    /// A changed sign of a term.
    Sign(usize),
    /// An omitted term.
    Dropped(usize),
    /// A term increased by a millionth.
    Millionth(usize),
}

/// A law without a value at the value of its source: the remaining equations are not all.
#[test]
fn equations_without_a_value_are_named() {
    let root = "element Root(k) : electrical { across = k*sqrt(through); }
model M {
  node a, b : electrical;
  source : CurrentSource(-1) gnd -> a;
  root : Root(2) a -> gnd;
  other : VoltageSource(3) b -> gnd;
  R : Resistor(1) b -> gnd;
  output v = across(root);
}";
    let found = said(root, |_| ());
    assert_eq!(codes(&found), ["LGM0713", "LGM0712"], "{found:?}");
    assert!(found[0].labels[0].message.contains("the law of `root`"), "{found:?}");
    let found = said(&root.replace("(-1)", "(1)"), |_| ());
    assert_eq!(codes(&found), ["LGM0712"], "{found:?}");
}

/// A crank at constant speed with an elastic rod. The position equation contains time, and the rates that the heavy pin
/// and the elastic rod need are inputs that follow from time. Positions and velocities agree only if both use one
/// clock.
const STRETCHING: &str = "model Crank {
  param a = 0.15;  param l = 0.4;  param w0 = 3;
  signal theta = w0*time;
  node crank, rod : rotational;
  node pin[2] vector : translational;  node end[2] vector : translational;
  state len = int(across(stretch)), start = 0;
  node stretch : translational;
  state phi = int(across(rod)), start = 0, close = a*sin(theta) + (l + len)*sin(phi);
  drive : AngularVelocitySource(w0) crank -> gnd;
  arm   : Transformer([[-a*sin(theta)], [a*cos(theta)]]) crank -> gnd, pin -> gnd;
  turn  : Transformer([[-(l+len)*sin(phi)], [(l+len)*cos(phi)]]) rod -> gnd, mid -> pin;
  node mid[2] vector : translational;
  reach : Transformer([[cos(phi)],[sin(phi)]]) stretch -> gnd, end -> mid;
  axial : Spring(500) stretch -> gnd;
  guide : AcrossSource(0) end[2] -> gnd;
  slider : Mass(2) end[1] -> gnd;
  rotary : Inertia(0.1) rod -> gnd;
  heavy : Mass([[1, 0], [0, 1]]) pin -> gnd;
  output y = phi;
  output v = across(slider);
}
";

#[test]
fn chains_that_follow_from_time_are_looked_at_by_one_clock() {
    let found = said(STRETCHING, |_| ());
    assert_eq!(codes(&found), ["LGM0712"], "{found:?}");
    let found = said(STRETCHING, |system| {
        let last = system.equations.derivatives.len() - 1;
        let (two, rate) = (system.exprs.integer(2), system.equations.derivatives[last]);
        system.equations.derivatives[last] = system.exprs.mul(two, rate);
    });
    assert!(codes(&found).contains(&"LGM0711"), "{found:?}");
}

/// The terms of a sum, or the expression itself.
fn terms(exprs: &Exprs, id: ExprId) -> Vec<ExprId> {
    match exprs.node(id) {
        Node::Sum(list) => list.to_vec(),
        _ => vec![id],
    }
}

fn changed(exprs: &mut Exprs, id: ExprId, change: Change) -> ExprId {
    let of = |at: usize| terms(exprs, id)[at];
    let (term, numerator, denominator) = match change {
        Change::Sign(at) => (of(at), -2, 1),
        Change::Dropped(at) => (of(at), -1, 1),
        Change::Millionth(at) => (of(at), 1, 1_000_000),
    };
    let factor = num_rational::BigRational::new(numerator.into(), denominator.into());
    let factor = exprs.number(factor);
    let added = exprs.mul(factor, term);
    exprs.add(id, added)
}

/// The location of an expression in the equations.
#[derive(Clone, Copy, Debug)]
enum Place {
    Rate(usize),
    Output(usize),
    Assignment(usize),
    Residual(usize, usize),
}

fn slot(system: &mut StateSystem, place: Place) -> &mut ExprId {
    match place {
        Place::Rate(at) => &mut system.equations.derivatives[at],
        Place::Output(at) => &mut system.equations.output_values[at],
        Place::Assignment(at) => &mut system.equations.assignments[at].value,
        Place::Residual(at, row) => &mut system.equations.loops[at].residuals[row],
    }
}

/// Several modifications of every kind, spread over the equations.
fn changes(system: &StateSystem) -> Vec<(Place, Change)> {
    let mut places: Vec<Place> = (0..system.equations.derivatives.len()).map(Place::Rate).collect();
    places.extend((0..system.equations.output_values.len()).map(Place::Output));
    places.extend((0..system.equations.assignments.len()).map(Place::Assignment));
    for (at, each) in system.equations.loops.iter().enumerate() {
        places.extend((0..each.residuals.len()).map(|row| Place::Residual(at, row)));
    }
    let every = places.len().div_ceil(4).max(1);
    let mut list = Vec::new();
    for (count, place) in places.into_iter().step_by(every).enumerate() {
        let id = *slot(&mut system.clone(), place);
        let among = terms(&system.exprs, id).len();
        let at = (7 * count + 3) % among;
        // If it is alone in a residual, a scaled term changes nothing, and an omitted one leaves no equation.
        if matches!(place, Place::Residual(..)) && among == 1 {
            continue;
        }
        list.extend([Change::Sign(at), Change::Dropped(at), Change::Millionth(at)].map(|change| (place, change)));
    }
    list
}

/// The largest observable effect of a modification on derivatives and outputs: a term that is zero at all points, or on
/// which nothing depends, has none.
fn matters(system: &StateSystem, other: &StateSystem) -> bool {
    let values = |system: &StateSystem, seed: u64| -> Vec<f64> {
        let kernels = lgm::kernels::Kernels::new(system, &lgm::kernels::KernelOptions { native: false });
        let spread = |k: usize| ((seed + 13 * k as u64) as f64 * 0.754_877).fract() * 2.0 - 1.0;
        let states: Vec<f64> = (0..system.states.len())
            .map(|k| system.states[k].start_value + spread(k))
            .collect();
        let inputs: Vec<f64> = (0..system.inputs.len()).map(|k| spread(k + 40)).collect();
        let rates: Vec<f64> = (0..system.inputs.len()).map(|k| spread(k + 80)).collect();
        let unknowns: Vec<f64> = system.first_unknowns(0.1);
        let at = lgm::kernels::Arguments {
            time: 0.7,
            parameters: &kernels.parameters(&[]),
            states: &states,
            inputs: &inputs,
            rates: &rates,
            unknowns: &unknowns,
        };
        let kernels = [&kernels.derivatives, &kernels.outputs, &kernels.residuals];
        kernels.iter().flat_map(|kernel| kernel.values(&at)).collect()
    };
    (1..4).any(|seed| {
        let (a, b) = (values(system, seed), values(other, seed));
        let largest = a
            .iter()
            .filter(|a| a.is_finite())
            .fold(0.0, |most: f64, a| most.max(a.abs()));
        a.iter()
            .zip(&b)
            .any(|(a, b)| (a - b).abs() > 1e-9 * a.abs().max(1e-6 * largest))
    })
}

/// Wrong signs, omitted terms and coefficients off by a millionth, in equations of every kind, are all detected.
#[test]
fn every_change_of_the_equations_of_the_examples_is_found() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let (mut made, mut missed, mut models) = (0, Vec::new(), 0);
    for inside in [folder.clone(), folder.join("seeds")] {
        let mut files: Vec<_> = std::fs::read_dir(inside)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        files.sort();
        for path in files
            .into_iter()
            .filter(|path| path.extension().is_some_and(|extension| extension == "lgm"))
        {
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            let begun = std::time::Instant::now();
            let compiled = compiled(&std::fs::read_to_string(&path).unwrap());
            if compiled.system.states.len() > 12 || begun.elapsed().as_secs_f64() > 1.0 {
                continue;
            }
            models += 1;
            let clean = compiled.verify(&compiled.system);
            assert_eq!(codes(&clean), ["LGM0712"], "{name}: {clean:#?}");
            for (place, change) in changes(&compiled.system) {
                let mut system = compiled.system.clone();
                let id = *slot(&mut system, place);
                let now = changed(&mut system.exprs, id, change);
                *slot(&mut system, place) = now;
                if !matters(&compiled.system, &system) {
                    continue;
                }
                made += 1;
                let found = compiled.verify(&system);
                if !codes(&found).contains(&"LGM0711") {
                    missed.push(format!("{name} {place:?} {change:?}: {:?}", codes(&found)));
                }
            }
            println!("{name}: {:.2} s", begun.elapsed().as_secs_f64());
        }
    }
    println!("{made} changes of {models} models; {} were not found", missed.len());
    assert!(made > 250 && models > 30, "{made} changes of {models} models");
    assert!(
        missed.is_empty(),
        "{} of {made} were not found:\n{}",
        missed.len(),
        missed.join("\n")
    );
}
