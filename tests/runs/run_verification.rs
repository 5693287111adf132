//! Verification of runs detects its target, samples changed afterwards, and accepts correct ones.

use lgm::diagnostic::has_errors;
use lgm::equations::{self, FlatGraph, StateRequest};
use lgm::kernels::{KernelOptions, Kernels};
use lgm::simulate::{Corner, Inputs, Plan, Report, Side, Signals, Silent, Sink, Stop, Verifier, simulate};
use lgm::source::{NoFiles, SourceMap};
use lgm::{Compilation, Request, Whole};
use std::path::Path;

/// A model with all derived data.
pub(crate) fn whole(text: &str) -> Whole {
    let mut map = SourceMap::default();
    let root = map.add("model.lgm", text, None);
    let request = Request {
        equations: equations::Options {
            symbolic: false,
            ..equations::Options::default()
        },
        ..Request::default()
    };
    let compilation = Compilation::new(&NoFiles, map, root, request);
    let diagnostics = compilation.diagnostics();
    assert!(!has_errors(&diagnostics), "{diagnostics:#?}");
    compilation.into_parts().1.unwrap()
}

/// Two capacitors in series on a source that steps, one of them nonlinear, in the order of their names.
fn bent(linear: &str, cubic: &str) -> String {
    let mut lines = [
        format!("{linear} : Capacitor(2) a -> b;"),
        format!("{cubic} : Cubic(1, 3) b -> gnd;"),
    ];
    lines.sort();
    format!(
        "element Cubic(a, c) {{ across = a*int(through) + c*int(through)^3; }}
model Bent {{
  input u = step(0.25);
  node a, b : electrical;
  {}
  leak   : Resistor(10) b -> gnd;
  source : VoltageSource(u) a -> gnd;
  output v = across({cubic});
  experiment {{ stop = 1; points = 5; }}
}}",
        lines.join("\n  ")
    )
}

/// Changes samples on their way from the run to its verification.
pub(crate) type Change<'c> = &'c dyn Fn(f64, &mut Vec<f64>, &mut Vec<f64>);

struct Changing<'a, 'b, 'c> {
    verifier: &'a mut Verifier<'b>,
    change: Change<'c>,
}

impl Sink for Changing<'_, '_, '_> {
    fn unknowns(&mut self, unknowns: &[f64]) {
        self.verifier.unknowns(unknowns);
    }

    fn row(&mut self, time: f64, outputs: &[f64], states: &[f64]) -> Result<(), Stop> {
        let (mut outputs, mut states) = (outputs.to_vec(), states.to_vec());
        (self.change)(time, &mut outputs, &mut states);
        self.verifier.row(time, &outputs, &states)
    }
}

/// A plan according to the model's experiment.
pub(crate) fn plan_of(whole: &Whole) -> Plan {
    let asked = &whole.system.experiment;
    Plan {
        stop: asked.stop.unwrap_or(1.0),
        points: asked.points.unwrap_or(101).min(31) as usize,
        ..Plan::default()
    }
}

/// The findings of verification in a run with changed samples; the number of samples passed on.
pub(crate) fn found(whole: &Whole, plan: &Plan, change: Change<'_>) -> (Report, usize) {
    found_of(whole, plan, &[], |inputs| inputs, change)
}

/// The same for a run with parameters and signals other than the verified ones.
pub(crate) fn found_of<S: Signals>(
    whole: &Whole,
    plan: &Plan,
    others: &[(usize, f64)],
    other_signals: impl Fn(Inputs) -> S,
    change: Change<'_>,
) -> (Report, usize) {
    let kernels = Kernels::new(&whole.system, &KernelOptions::default());
    let parameters = kernels.parameters(&[]);
    let signals = |parameters: &[f64]| {
        let tables = whole.system.inputs.iter().map(|_| None).collect();
        Inputs::new(&whole.system, &kernels, parameters, tables, plan.start)
    };
    let inputs = signals(&parameters);
    let states = StateRequest::default();
    let graph = FlatGraph::new(&whole.model, &whole.graph, &whole.system, &whole.retained, states);
    let graph = graph.unwrap_or_else(|fault| panic!("{}", fault.message)).unwrap();
    let mut rows = 0;
    let mut count = |_: f64, _: &[f64], _: &[f64]| rows += 1;
    let verifier = Verifier::new(graph, &whole.system, &kernels, &parameters, &inputs, plan, &mut count);
    let mut verifier = verifier.unwrap_or_else(|fault| panic!("{fault:?}"));
    let all = Verifier::plan_of(plan);
    let mut sink = Changing {
        verifier: &mut verifier,
        change,
    };
    let run_with = kernels.parameters(others);
    let run_signals = other_signals(signals(&run_with));
    let summary = simulate(
        &whole.system,
        &kernels,
        &run_with,
        &run_signals,
        &all,
        &mut sink,
        &Silent,
    );
    let summary = summary.unwrap_or_else(|fault| panic!("{fault:?}"));
    let (report, last) = verifier.finish(summary.steps);
    assert_eq!(last, Ok(()));
    (report, rows)
}

pub(crate) const NOTHING: Change<'static> = &|_, _, _| {};

const OSCILLATOR: &str = "model Oscillator {
  param m = 2 [kg]; param k = 50 [N/m]; param b = 3 [N.s/m];
  input F [N] = 2*step(0.2) + sin(5*time);
  node x : translational;
  mass : Mass(m) x -> gnd; spring : Spring(k) x -> gnd; damper : Damper(b) x -> gnd;
  push : ForceSource(F) gnd -> x;
  output v = across(mass);
  output f = through(spring) + through(damper);
}";

/// A divider of capacitors: a step of its source changes its state.
const DIVIDER: &str = "model Divider {
  input u [V] = 2*step(0.25);
  node s, x : electrical;
  src : VoltageSource(u) s -> gnd;
  c1 : Capacitor(1e-3) s -> x;
  c2 : Capacitor(3e-3) x -> gnd;
  r : Resistor(100) x -> gnd;
  output v = across(c2); output i = through(r);
}";

const DIODE: &str = "import nonlinear;
model Rectifier {
  input u [V] = 5*sin(20*time);
  node a, b : electrical;
  src : VoltageSource(u) a -> gnd;
  d : Diode() a -> b;
  c : Capacitor(1e-3) b -> gnd;
  r : Resistor(50) b -> gnd;
  output v = across(c);
  output i = through(d);
}";

const STATIC: &str = "model Static {
  input u [V] = 3*sin(time);
  node a, b : electrical;
  src : VoltageSource(u) a -> gnd;
  r1 : Resistor(10) a -> b; r2 : Resistor(20) b -> gnd;
  output v = across(r2);
}";

const STIFF: &str = "model Stiff {
  input u [V] = 10*sin(2*pi*60*time);
  node a, b : electrical;
  src : VoltageSource(u) a -> gnd;
  r : Resistor(10) a -> b;
  c : Capacitor(1e-9) b -> gnd;
  output z = across(b);
  experiment { stop = 10 [ms]; points = 31; }
}";

/// Heat flow times temperature is not a power.
const PSEUDO: &str = "model Wall {
  input T [K] = 300 + 20*step(0.1);
  node a, b : thermal;
  src : TemperatureSource(T) a -> gnd;
  r : ThermalResistor(0.5) a -> b;
  c : ThermalCapacitor(2) b -> gnd;
  output t = across(c);
}";

#[test]
fn good_runs_are_verified() {
    for text in [OSCILLATOR, DIVIDER, DIODE, STATIC, PSEUDO] {
        let whole = whole(text);
        let plan = plan_of(&whole);
        let (report, rows) = found(&whole, &plan, NOTHING);
        println!("{}: {}", whole.system.model, report.summary());
        assert!(report.faults.is_empty(), "{}: {:#?}", whole.system.model, report.faults);
        assert_eq!(rows, plan.points, "the rows at events are not handed on");
        assert!(report.rows as usize >= plan.points && report.equations > 100);
        assert_eq!(report.gaps(), None, "{}", whole.system.model);
        if !whole.system.states.is_empty() {
            assert_eq!(report.crossed, report.intervals);
            // No energy is summed if the model has none.
            assert_eq!(report.balanced > 0, text != PSEUDO, "{}", whole.system.model);
        }
    }
}

/// If a sample misses an edge by round-off, on either side, it counts for the side of the sample.
#[test]
fn edges_that_rows_miss_by_rounding_are_no_faults() {
    let charged = |edge: f64| {
        format!(
            "model Rc {{ input u [V] = step({edge:?}); node a, b : electrical; s : VoltageSource(u) a -> gnd; \
             r : Resistor(1 [kohm]) a -> b; c : Capacitor(10 [uF]) b -> gnd; output i = through(r); output v = across(c); }}"
        )
    };
    let in_series = "model Series { signal u = step(0.02) * 1 [V]; node a, b : electrical; s : VoltageSource(u) a -> gnd; \
        c1 : Capacitor(1 [uF]) a -> b; c2 : Capacitor(2 [uF]) b -> gnd; r : Resistor(1 [Mohm]) b -> gnd; output v = across(c2); }";
    let mut cases = vec![(charged(0.02), 0.1, 11), (in_series.to_string(), 0.1, 11)];
    cases.extend([0.007, 0.009, 0.011, 0.013].map(|edge| (charged(edge), 0.02, 501)));
    for (text, stop, points) in cases {
        let whole = whole(&text);
        let plan = Plan {
            stop,
            points,
            ..Plan::default()
        };
        let (report, rows) = found(&whole, &plan, NOTHING);
        assert!(report.faults.is_empty(), "{text}: {:#?}", report.faults);
        assert_eq!(rows, points, "{text}");
    }
}

/// A mesh without a drive: a run's values of its current are the round-off of zero.
const UNDRIVEN: &str = "element Core(ps, I0, La) : electrical { int(across) = ps*tanh(through/I0) + La*through; }
model M {
  node n0, n1, n2, n3 : electrical;
  input u = 11.5*sin(100*time);
  js : CurrentSource(1.84*u/10) gnd -> n0;  rj : Resistor(3.04) n3 -> gnd;
  e1 : Resistor(0.255) n0 -> gnd;
  e2 : Resistor(12.9) n1 -> n0;
  e3 : Inductor(0.00111) n2 -> n1;
  e4 : Core(0.0806, 0.0045, 0.000624) n3 -> n1;
  e5 : Core(0.0356, 0.00524, 0.0051) n2 -> n1;
  e6 : Core(0.0604, 0.0365, 0.00054) n3 -> gnd;
  e7 : Capacitor(8.03e-05) n1 -> n2;
  e8 : Inductor(0.00637) n0 -> n1;
  output y0 = through(e3);
  output y1 = through(e4);
  output y2 = through(e5);
  output y3 = through(e6);
  output y4 = across(e7);
  output y5 = through(e8);
}";

#[test]
fn rounding_of_what_stays_zero_is_no_fault() {
    let whole = whole(UNDRIVEN);
    let plan = Plan {
        stop: 0.1,
        points: 101,
        rtol: 1e-8,
        ..Plan::default()
    };
    let (report, _) = found(&whole, &plan, NOTHING);
    assert!(report.faults.is_empty(), "{:#?}", report.faults);
    assert_eq!(report.gaps(), None);
}

/// Each change of the samples, with an expected word of the message.
#[test]
fn changed_rows_are_found_out() {
    let changes: [(&str, Change<'_>, &str); 10] = [
        // One sample between steps is interpolated wrongly.
        (
            OSCILLATOR,
            &|time, _, states| {
                if (time - 0.6).abs() < 1e-9 {
                    states[0] *= 1.01
                }
            },
            "mass.v",
        ),
        // An output is frozen.
        (OSCILLATOR, &|_, outputs, _| outputs[0] = 0.0, "output `v`"),
        // A force that contradicts its elements.
        (
            OSCILLATOR,
            &|time, outputs, _| {
                if time > 0.6 {
                    outputs[1] += 1e-4
                }
            },
            "output `f`",
        ),
        // The state does not follow a step of its source; the other capacitor does instead.
        (
            DIVIDER,
            &|time, _, states| {
                if (time - 0.25).abs() < 1e-9 {
                    states[0] = 0.0
                }
            },
            "is not conserved in a step",
        ),
        // The same, with the charges of the other one given by a nonlinear law.
        (
            &bent("first", "second"),
            &|time, _, states| {
                if (time - 0.25).abs() < 1e-9 {
                    states[0] += 0.01
                }
            },
            "differs from its integrated rate",
        ),
        (
            &bent("second", "first"),
            &|time, _, states| {
                if (time - 0.25).abs() < 1e-9 {
                    states[0] += 0.01
                }
            },
            "differs from its integrated rate",
        ),
        // Charge appears at the start without a cause.
        (
            DIVIDER,
            &|_, _, states| states[0] += 1.0,
            "is not conserved at the start",
        ),
        // Interpolation between the steps of a stiff system is wrong.
        (
            STIFF,
            &|time, _, states| {
                if time > 0.004 && time < 0.0045 {
                    states[0] += 1.0
                }
            },
            "state `c.v`",
        ),
        // A state drifts by more than the tolerance.
        (
            DIODE,
            &|time, _, states| states[0] *= 1.0 + 1e-2 * (40.0 * time).sin(),
            "c.v",
        ),
        (
            STATIC,
            &|time, outputs, _| {
                if time > 0.6 {
                    outputs[0] = 1.0
                }
            },
            "output `v`",
        ),
    ];
    for (at, (text, change, word)) in changes.iter().enumerate() {
        let whole = whole(text);
        let (report, _) = found(&whole, &plan_of(&whole), change);
        let said: Vec<String> = report
            .faults
            .iter()
            .map(|fault| format!("{} {}", fault.what, fault.words))
            .collect();
        assert!(
            said.iter().any(|said| said.contains(word)),
            "{at}: {word} is not in {said:#?}"
        );
    }
}

/// Runs of all examples pass.
#[test]
fn the_runs_of_the_examples_are_verified() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let mut models = 0;
    for inside in [folder.clone(), folder.join("seeds")] {
        let mut files: Vec<_> = std::fs::read_dir(inside)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        files.sort();
        for path in files
            .into_iter()
            .filter(|path| path.extension().is_some_and(|ending| ending == "lgm"))
        {
            let text = std::fs::read_to_string(&path).unwrap();
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            if !text.contains("experiment") {
                continue;
            }
            let whole = whole(&text);
            let has_signals = whole.system.inputs.iter().all(|input| input.signal.is_some());
            if !has_signals || whole.system.states.len() > 6 {
                continue;
            }
            let begun = std::time::Instant::now();
            // A fifth of the run includes its start, its steps and its laws.
            let plan = plan_of(&whole);
            let plan = Plan {
                stop: plan.start + 0.2 * (plan.stop - plan.start),
                points: 21,
                ..plan
            };
            let (report, _) = found(&whole, &plan, NOTHING);
            println!(
                "{name}: {:.1} s, {}; {:?}",
                begun.elapsed().as_secs_f64(),
                report.summary(),
                report.gaps()
            );
            assert!(report.faults.is_empty(), "{name}: {:#?}", report.faults);
            models += 1;
        }
    }
    assert!(models > 10, "{models}");
}

/// Signals that differ from the model's.
struct Off<'a>(&'a Inputs);

impl Signals for Off<'_> {
    fn count(&self) -> usize {
        self.0.count()
    }

    fn values(&self, time: f64, side: Side, values: &mut [f64], rates: &mut [f64]) {
        self.0.values(time, side, values, rates);
        values[0] *= 1.0 + 1e-6;
    }

    fn corners(&self, from: f64, to: f64) -> Vec<Corner> {
        self.0.corners(from, to)
    }
}

#[test]
fn inputs_that_are_not_as_written_are_found_out() {
    let whole = whole(OSCILLATOR);
    let plan = plan_of(&whole);
    let kernels = Kernels::new(&whole.system, &KernelOptions::default());
    let parameters = kernels.parameters(&[]);
    let inputs = Inputs::new(&whole.system, &kernels, &parameters, vec![None], plan.start);
    let inputs = Off(&inputs);
    let states = StateRequest::default();
    let graph = FlatGraph::new(&whole.model, &whole.graph, &whole.system, &whole.retained, states);
    let graph = graph.unwrap_or_else(|fault| panic!("{}", fault.message)).unwrap();
    let mut none = |_: f64, _: &[f64], _: &[f64]| {};
    let verifier = Verifier::new(graph, &whole.system, &kernels, &parameters, &inputs, &plan, &mut none);
    let mut verifier = verifier.unwrap_or_else(|fault| panic!("{fault:?}"));
    let all = Verifier::plan_of(&plan);
    simulate(
        &whole.system,
        &kernels,
        &parameters,
        &inputs,
        &all,
        &mut verifier,
        &Silent,
    )
    .unwrap();
    let (report, _) = verifier.finish(100);
    assert_eq!(report.faults.len(), 1, "{:#?}", report.faults);
    assert_eq!(report.faults[0].what, "input `F`");
}

/// The command reports the verified properties, and passes on the requested samples.
#[test]
fn the_command_says_what_was_verified() {
    let folder = tempfile();
    let file = folder.join("model.lgm");
    std::fs::write(&file, DIVIDER).unwrap();
    let run = |more: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_lgm"));
        command
            .arg("simulate")
            .arg(&file)
            .args(["--stop", "1", "--points", "11"])
            .args(more);
        let output = command.output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap(), said)
    };
    let (code, rows, said) = run(&["--verify"]);
    assert_eq!((code, rows.lines().count()), (Some(0), 12), "{said}");
    assert!(
        said.starts_with("verified: ") && said.contains("at 2 jumps") && said.contains("energy over"),
        "{said}"
    );
    assert_eq!(rows, run(&[]).1, "verification changes no row");
    assert_eq!(run(&["--events", "--verify"]).1, run(&["--events"]).1);
    let (code, _, said) = run(&["--verify", "--monte-carlo", "3", "--vary", "x=uniform(1, 2)"]);
    assert!(code != Some(0) && said.contains("LGM0"), "{said}");
    std::fs::remove_dir_all(folder).unwrap();
}

fn tempfile() -> std::path::PathBuf {
    let folder = std::env::temp_dir().join(format!("lgm-run-verification-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}
