//! From a text to equations, in symbols and in numbers, and to everything that is printed of them.

use lgm::analysis::{ResponseRequest, poles, response};
use lgm::diagnostic::has_errors;
use lgm::elaborate::Settings;
use lgm::emit::{self, MatrixOptions, TextOptions};
use lgm::equations::{Options, StateRequest, StateSystem};
use lgm::kernels::{Arguments, Kernel, KernelOptions, Kernels};
use lgm::source::{SourceId, SourceMap, Sources};
use lgm::syntax::parse_expression;
use lgm::{Request, compile};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// More parts than this are refused: a text of a few bytes may ask for a hundred million, rightly, and would take its
/// time.
const LARGEST: u64 = 200;

/// Term operations that symbolic entries may take, a fraction of what is allowed otherwise, so that the fuzzer gets
/// on. What the limit leaves undone is given with shared subexpressions, so that this way is taken often too.
const OPERATIONS: u64 = 200_000;

/// The files that a fuzzed text may import. Nothing is read from the disk.
struct Files<'t> {
    /// The text itself, which may import itself.
    root: &'t str,
}

impl Sources for Files<'_> {
    fn read(&self, path: &Path) -> Result<String, String> {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        match name {
            "main.lgm" => Ok(self.root.to_string()),
            "parts.lgm" => Ok("import \"main.lgm\"; element Leak(G) : fluid { through = G*across; }".to_string()),
            "broken.lgm" => Ok("element Broken(k : translational { through = ; }".to_string()),
            _ => Err("no such file".to_string()),
        }
    }
}

/// Any text has equations or errors; equations are verified, printed in every form, and read back.
pub fn pipeline(text: &str) {
    let mut map = SourceMap::default();
    let root = map.add("main.lgm", text, Some(PathBuf::from("models/main.lgm")));
    // The length of a text says which states are asked for, so that one text is always treated alike.
    let states = [StateRequest::Natural, StateRequest::Power, StateRequest::Energy][text.len() % 3];
    let request = Request {
        settings: Settings {
            largest: LARGEST,
            ..Settings::default()
        },
        equations: Options {
            states,
            size_limit: OPERATIONS,
            ..Options::default()
        },
        verify: true,
        ..Request::default()
    };
    let (system, found) = compile(&Files { root: text }, &mut map, root, &request);
    super::diagnostics(&map, &found);
    assert!(
        system.is_some() != has_errors(&found),
        "equations and errors at once, or neither"
    );
    if let Some(fault) = found.iter().find(|diagnostic| diagnostic.code == "LGM0711") {
        panic!("the equations do not hold: {fault:#?}");
    }
    if let Some(system) = &system {
        printed(system);
        analysed(&map, system);
        computed(system);
    }
}

/// All that is printed of a system; the JSON is read back, and its expressions are expressions of the language.
fn printed(system: &StateSystem) {
    for numeric in [false, true] {
        let matrices = MatrixOptions {
            numeric,
            sparse: system.states.len() % 2 == 1,
            blocks: false,
        };
        let options = TextOptions {
            matrices,
            ..TextOptions::default()
        };
        assert!(!emit::text(system, &options).is_empty(), "no text");
        assert!(!emit::latex(system, matrices).is_empty(), "no LaTeX");
        let mut json = Vec::new();
        emit::json(system, matrices, &mut json).expect("a vector takes everything");
        let value: Value = serde_json::from_slice(&json).expect("the JSON is read back");
        assert_eq!(value["schema"], "lgm-equations/1");
        assert_eq!(value["states"].as_array().map(Vec::len), Some(system.states.len()));
        for list in ["equations", "output_equations", "assignments"] {
            for entry in value[list].as_array().into_iter().flatten() {
                let expression = entry["expr"].as_str().expect("an equation has an expression");
                let (_, faults) = parse_expression(SourceId(0), expression);
                assert!(!has_errors(&faults), "`{expression}` is no expression: {faults:#?}");
                assert!(
                    !expression.contains("int("),
                    "`{expression}` holds an integral without a state"
                );
            }
        }
    }
}

/// The conclusions that are drawn from matrices in numbers.
fn analysed(map: &SourceMap, system: &StateSystem) {
    let (_, found) = response(system, &ResponseRequest::all(system, vec![0.0, 1.0, 1e3]));
    super::diagnostics(map, &found);
    if let Some(form) = system.matrices.numeric.as_ref().filter(|_| system.equations.linear) {
        let found = poles(&form.a);
        assert!(
            found.is_none_or(|list| list.len() == system.states.len()),
            "as many poles as states"
        );
    }
}

/// The compiled functions take arrays of the system's sizes, and machine code computes what the evaluator does, to the
/// last bit.
fn computed(system: &StateSystem) {
    let native = KernelOptions { native: true };
    let kernels = Kernels::new(system, &native);
    let parameters = kernels.parameters(&[]);
    let unknowns = vec![0.5; system.equations.loops.iter().map(|each| each.unknowns.len()).sum()];
    let rates = vec![1.0; system.inputs.len()];
    let mut at = Arguments {
        parameters: &parameters,
        rates: &rates,
        unknowns: &unknowns,
        ..Arguments::default()
    };
    let states = kernels.starts.values(&at);
    assert_eq!(states.len(), system.states.len(), "a start for each state");
    // At a corner of many signals, and where few have one.
    for time in [0.0, 0.3] {
        at.time = time;
        let both = kernels.inputs.values(&at);
        assert_eq!(
            both.len(),
            2 * system.inputs.len(),
            "a signal and its rate for each input"
        );
        let inputs = &both[..system.inputs.len()];
        let now = Arguments {
            states: &states,
            inputs,
            ..at
        };
        called(&kernels.derivatives, &now, system.states.len());
        called(&kernels.outputs, &now, system.outputs.len());
        called(&kernels.residuals, &now, unknowns.len());
        let jacobians = kernels.jacobians(system);
        for sparse in [
            &jacobians.rates_by_states,
            &jacobians.rates_by_unknowns,
            &jacobians.residuals_by_unknowns,
        ] {
            called(&sparse.values, &now, sparse.stored());
        }
        if let Some(mass) = &kernels.mass {
            called(&mass.values, &now, mass.stored());
        }
    }
}

fn called(kernel: &Kernel, at: &Arguments<'_>, count: usize) {
    let interpreted = kernel.values(at);
    assert_eq!(interpreted.len(), count, "one number for each output");
    kernel.prepare();
    let same = |(a, b): (&f64, &f64)| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan();
    assert!(
        interpreted.iter().zip(&kernel.values(at)).all(same),
        "machine code computes something else"
    );
}
