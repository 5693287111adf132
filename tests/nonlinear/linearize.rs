//! Linearisation: closed forms, the record of the two-link arm, and finite differences of every nonlinear example.

use crate::support;

use lgm::Request;
use lgm::analysis::{LinearizeRequest, poles};
use lgm::diagnostic::{Diagnostic, Severity};
use lgm::elaborate::Settings;
use lgm::equations::{LinearForm, SparseMatrix, StateSystem};
use lgm::expr::{ExprId, SymbolId, text, to_f64};
use lgm::rendering::render;
use lgm::source::{NoFiles, SourceMap};
use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;
use support::program::{example, json, run};
use support::records::{Record, numbers};

/// The system of a text, linearised if requested.
fn compile(
    source: &str,
    at: &[String],
    linearize: Option<LinearizeRequest>,
) -> (Option<StateSystem>, Vec<Diagnostic>, SourceMap) {
    let mut map = SourceMap::default();
    let root = map.add("model.lgm", source, None);
    let point = at
        .iter()
        .map(|text| (text.clone(), map.add(format!("--at {text}"), text.as_str(), None)))
        .collect();
    let request = Request {
        settings: Settings {
            point,
            ..Settings::default()
        },
        linearize,
        ..Request::default()
    };
    let (system, diagnostics) = lgm::compile(&NoFiles, &mut map, root, &request);
    (system, diagnostics, map)
}

fn at(source: &str, point: &[&str], equilibrium: bool) -> StateSystem {
    let point: Vec<String> = point.iter().map(|text| text.to_string()).collect();
    let asked = LinearizeRequest {
        equilibrium,
        symbolic: true,
    };
    let (system, diagnostics, map) = compile(source, &point, Some(asked));
    system.unwrap_or_else(|| panic!("{}", render(&map, &diagnostics, false)))
}

/// The one error of a linearisation.
fn fault(source: &str, point: &[&str], equilibrium: bool) -> (Diagnostic, String) {
    let point: Vec<String> = point.iter().map(|text| text.to_string()).collect();
    let asked = LinearizeRequest {
        equilibrium,
        symbolic: true,
    };
    let (system, diagnostics, map) = compile(source, &point, Some(asked));
    assert!(system.is_none(), "{source} was linearised");
    let shown = render(&map, &diagnostics, false);
    let mut errors = diagnostics
        .into_iter()
        .filter(|diagnostic| diagnostic.severity == Severity::Error);
    let first = errors.next().expect("a fault is reported");
    assert!(errors.next().is_none(), "{shown}");
    (first, shown)
}

/// The symbolic rows of a matrix as texts.
fn texts(system: &StateSystem, matrix: impl Fn(&LinearForm<ExprId>) -> &SparseMatrix<ExprId>) -> Vec<Vec<String>> {
    let matrix = matrix(system.matrices.symbolic.as_ref().expect("small systems have symbols"));
    let entry = |row: usize, column: usize| match matrix.get(row, column) {
        Some(id) => text(&system.exprs, *id),
        None => "0".to_string(),
    };
    (0..matrix.rows.len())
        .map(|row| (0..matrix.columns).map(|column| entry(row, column)).collect())
        .collect()
}

fn dense(matrix: &SparseMatrix<f64>) -> Vec<Vec<f64>> {
    (0..matrix.rows.len())
        .map(|row| {
            (0..matrix.columns)
                .map(|column| matrix.get(row, column).copied().unwrap_or(0.0))
                .collect()
        })
        .collect()
}

fn pendulum() -> String {
    fs::read_to_string(example("pendulum.lgm")).unwrap()
}

#[test]
fn a_pendulum_hangs_and_stands_on_its_head() {
    let hanging = at(&pendulum(), &["theta=0", "joint.w=0"], false);
    assert_eq!(
        texts(&hanging, |form| &form.a),
        [["-b/(m*L^2)", "-g/L"], ["1", "0"]],
        "hanging"
    );
    let standing = at(&pendulum(), &["theta=pi", "joint.w=0"], false);
    assert_eq!(texts(&standing, |form| &form.a), [["-b/(m*L^2)", "g/L"], ["1", "0"]]);
    assert!(standing.matrices.symbolic.as_ref().unwrap().x_offset.is_none());
    let form = standing.matrices.numeric.as_ref().unwrap();
    let list = poles(&form.a).unwrap();
    // One pole in the right half plane: it falls over.
    let half: f64 = 0.02 / 0.25 / 2.0;
    let root = (half * half + 9.81 / 0.5).sqrt();
    assert!((list[0].re + half + root).abs() < 1e-12 && (list[1].re + half - root).abs() < 1e-12);
}

#[test]
fn an_equilibrium_is_found_and_its_units_are_kept() {
    let found = at(&pendulum(), &["theta=0.4"], true);
    assert_eq!(texts(&found, |form| &form.a), [["-b/(m*L^2)", "-g/L"], ["1", "0"]]);
    let point = found.linearized_at.as_ref().unwrap();
    assert!(point.is_equilibrium);
    assert_eq!(point.states[0].unit.as_deref(), Some("rad/s"));
    let rod = point.outputs.iter().find(|entry| &*entry.name == "rod_y").unwrap();
    assert_eq!((rod.value, rod.unit.as_deref()), (9.81, Some("N")));
    assert_eq!(text(&found.exprs, rod.expression), "m*g");
    let upright = at(&pendulum(), &["theta=3"], true);
    assert!((upright.linearized_at.unwrap().states[1].value - std::f64::consts::PI).abs() < 1e-12);
}

/// A tank that empties through an orifice, closed form: h' = (u - c sqrt(h))/A.
const TANK: &str = "\
element Orifice(c) : fluid { through = c*sign(across)*sqrt(abs(across)); }
model Tank {
  param C = 2; param c = 3;
  input u = 6;
  node p : fluid;
  feed : FlowSource(u) gnd -> p;
  tank : FluidCapacitor(C) p -> gnd, start = 1;
  hole : Orifice(c) p -> gnd;
  output q = through(hole);
}
";

#[test]
fn a_tank_has_the_time_constant_of_its_level() {
    let system = at(TANK, &[], true);
    // 3*sqrt(P) = 6: P = 4, and dq/dP = c/(2*sqrt(P)).
    let form = system.matrices.numeric.as_ref().unwrap();
    let point = system.linearized_at.as_ref().unwrap();
    assert!((point.states[0].value - 4.0).abs() < 1e-12);
    assert!((dense(&form.a)[0][0] + 3.0 / 4.0 / 2.0).abs() < 1e-12);
    assert!((dense(&form.c)[0][0] - 0.75).abs() < 1e-12);
    assert_eq!(dense(&form.b), [[0.5]]);
    assert_eq!(texts(&system, |form| &form.b), [["1/C"]]);
    // The pressure at the equilibrium has no closed form, so it is a parameter of the result.
    let added = system.parameters.last().unwrap();
    assert_eq!(
        (&*added.name, to_f64(&added.entries[0].value)),
        ("tank.P_0", point.states[0].value)
    );
    // If the tank is empty, the orifice has an infinite slope.
    let (diagnostic, shown) = fault(TANK, &["tank.P=0"], false);
    assert_eq!(diagnostic.code, "LGM0706", "{shown}");
}

/// A law given only by a residual: `across = through + 2*through^3`, in a loop with a resistance.
const LOOP: &str = "\
element Cubic(a, b) : electrical { across = b*through + a*through^3; }
model Loop {
  param R = 3; param a = 2; param b = 1; param C = 0.5;
  input u = 0;
  node s, x : electrical;
  src : VoltageSource(u) s -> gnd;
  r : Resistor(R) s -> x;
  c : Capacitor(C) x -> gnd;
  d : Cubic(a, b) x -> gnd;
  output i = through(d);
}
";

#[test]
fn an_unknown_of_a_loop_follows_by_the_theorem_of_implicit_functions() {
    // i + 2 i^3 = v at i = 1, v = 3: di/dv = 1/(1 + 6 i^2) = 1/7.
    let system = at(LOOP, &["c.v=3", "u=6"], false);
    assert!(system.equations.loops.is_empty());
    let form = system.matrices.numeric.as_ref().unwrap();
    assert!((dense(&form.c)[0][0] - 1.0 / 7.0).abs() < 1e-12);
    assert!((dense(&form.a)[0][0] + (1.0 / 3.0 + 1.0 / 7.0) / 0.5).abs() < 1e-12);
    // At rest the unknown is zero, and the result has no parameter for it.
    let rest = at(LOOP, &[], false);
    assert!((dense(&rest.matrices.numeric.as_ref().unwrap().a)[0][0] + (1.0 / 3.0 + 1.0) / 0.5).abs() < 1e-12);
    assert!(!rest.parameters.iter().any(|parameter| parameter.name.contains("_0")));
}

#[test]
fn a_loop_that_determines_nothing_names_its_unknown() {
    // The voltage has a triple zero at a current of 1, so it does not determine how the current continues.
    let source = LOOP.replace(
        "across = b*through + a*through^3",
        "across = a*(b*through - b)^3 + a*(b*through - b)^5",
    );
    let (diagnostic, shown) = fault(&source, &["c.v=0"], false);
    assert_eq!(diagnostic.code, "LGM0705", "{shown}");
    assert!(shown.contains("d.i"), "{shown}");
}

/// A mass with dry friction or a stop, whose law has a kink.
fn bending(law: &str) -> String {
    format!(
        "model Bend {{
  param s = 1;
  input F = 0;
  node x : translational;
  signal v = s*across(mass);
  push : ForceSource(F) gnd -> x;
  mass : Mass(2) x -> gnd;
  drag : ForceSource({law}) x -> gnd;
  output speed = across(mass);
}}
"
    )
}

#[test]
fn a_corner_is_an_error_that_names_state_element_and_expression() {
    for (law, shown_part) in [
        ("if v > 0 then 2*v else v", "s*mass.v > 0"),
        ("3*abs(v)", "abs(s*mass.v)"),
        ("max(v, -v)", "max("),
        ("s*sign(v)", "sign(s*mass.v)"),
        ("s*floor(v)", "floor(s*mass.v)"),
    ] {
        let (diagnostic, shown) = fault(&bending(law), &[], false);
        assert_eq!(diagnostic.code, "LGM0703", "{shown}");
        for part in ["`der(mass.v)` of `mass`", shown_part, "mass.v = 0"] {
            assert!(shown.contains(part), "{part} is not in\n{shown}");
        }
        // Next to the kink a derivative exists.
        let beside = at(&bending(law), &["mass.v=0.25"], false);
        assert!(beside.equations.linear);
    }
}

#[test]
fn what_bends_without_a_corner_is_linearised() {
    for (law, slope) in [
        ("v*abs(v)", 0.0),
        ("5*v + sign(v)*v^2", 5.0),
        ("if v < 0 then -v^2 + 4*v else 4*v", 4.0),
        ("max(2*v, 2*v + v^3)", 2.0),
        ("if v == 0 then 0 else 0.5*v", 0.5),
    ] {
        let system = at(&bending(law), &[], false);
        let form = system.matrices.numeric.as_ref().unwrap();
        assert_eq!(dense(&form.a), [[-slope / 2.0]], "{law}");
    }
}

/// The active pieces of limits, absolute values and signs are written instead of the functions; kinks that depend only
/// on parameters stay.
#[test]
fn limits_are_as_they_hold_at_the_point() {
    for (law, speed, slope) in [
        ("s*min(max(v, -2), 2)", "0.5", "-s^2/2"),
        ("s*min(max(v, -2), 2)", "5", "0"),
        ("abs(s*v)", "0.5", "-s^2/2"),
        ("abs(s*v)", "-0.5", "s^2/2"),
        ("sign(v)*v^2", "-1", "-s^2"),
        ("v*max(s, 3)", "1", "-s*max(s, 3)/2"),
    ] {
        let system = at(&bending(law), &[&format!("mass.v={speed}")], false);
        let found = texts(&system, |form| &form.a)[0][0].clone();
        println!("{law} at {speed}: {found}");
        assert_eq!(found, slope, "{law} at {speed}");
    }
}

#[test]
fn where_all_moves_on_there_is_no_equilibrium() {
    let source = "model Fall { param m = 1; param s = 1; node x : translational; m1 : Mass(m) x -> gnd; w : ForceSource(9.81*s) gnd -> x; state h = int(across(x)); output f = sin(s*h); }";
    let (diagnostic, shown) = fault(source, &[], true);
    assert_eq!(diagnostic.code, "LGM0704", "{shown}");
    assert!(shown.contains("`der(m1.v)` of `m1`"), "{shown}");
}

#[test]
fn a_name_that_is_no_state_and_a_wrong_unit_are_reported() {
    let (diagnostic, shown) = fault(&pendulum(), &["thета=1"], false);
    assert!(diagnostic.code.as_str().starts_with("LGM09"), "{shown}");
    let (diagnostic, shown) = fault(&pendulum(), &["tetha=1"], false);
    assert_eq!(diagnostic.code, "LGM0929");
    assert!(shown.contains("did you mean `theta`?"), "{shown}");
    let (diagnostic, _) = fault(&pendulum(), &["joint.w=2 [m]"], false);
    assert_eq!(diagnostic.code, "LGM0201");
    let turning = at(&pendulum(), &["joint.w=30 [rpm]", "theta=0"], false);
    let value = turning.linearized_at.unwrap().states[0].value;
    assert!((value - std::f64::consts::PI).abs() < 1e-12);
}

#[test]
fn the_two_link_arm_about_its_equilibrium_is_that_of_the_record() {
    let record = Record::load("two_link_linearized");
    let wanted = &record.json["linear"];
    let mut options: Vec<String> = record
        .parameters()
        .iter()
        .filter(|(name, _)| !name.starts_with("tau"))
        .flat_map(|(name, value)| ["--set".to_string(), format!("{name}={value}")])
        .collect();
    options.extend(["--equilibrium", "--numeric"].map(String::from));
    let found = json("equations", &example("two_link_arm.lgm"), &options);
    assert_eq!(found["linear"], true);
    let point = &found["linearized_at"];
    let names: Vec<&str> = found["states"]
        .as_array()
        .unwrap()
        .iter()
        .map(|state| state["name"].as_str().unwrap())
        .collect();
    let place = |name: &str| names.iter().position(|other| *other == name).unwrap();
    let order = ["theta[1]", "theta[2]", "J.w[1]", "J.w[2]"].map(place);
    for (k, wanted) in record.json["equilibrium"].as_array().unwrap().iter().enumerate() {
        let value = point["states"][order[k]].as_f64().unwrap();
        assert!((value - wanted.as_f64().unwrap()).abs() < 1e-9, "{value}");
    }
    // The springs' moments depend on the angles, so a change of an angle acts through them too.
    let springs = [place("K.tau[1]"), place("K.tau[2]")];
    let (a, b) = (numbers(&found["A"]), numbers(&found["B"]));
    let k = |name: &str| record.json["parameters"][name].as_f64().unwrap();
    let stiffness = [[k("K1") + k("K2"), -k("K2")], [-k("K2"), k("K2")]];
    let (wanted_a, wanted_b) = (numbers(&wanted["A"]), numbers(&wanted["B"]));
    for (row, from) in order.iter().enumerate() {
        for (column, to) in order.iter().enumerate() {
            let mut value = a[*from][*to];
            if column < 2 {
                value += springs
                    .iter()
                    .zip(&stiffness)
                    .map(|(spring, row)| a[*from][*spring] * row[column])
                    .sum::<f64>();
            }
            let wanted = wanted_a[row][column];
            assert!(
                (value - wanted).abs() <= 1e-8 * wanted.abs().max(1.0),
                "A[{row}][{column}]: {value}, {wanted}"
            );
        }
        for (value, wanted) in b[*from].iter().zip(&wanted_b[row]) {
            assert!((value - wanted).abs() <= 1e-8 * wanted.abs().max(1.0));
        }
    }
}

// ---- Finite differences ------------------------------------------------------------------------------------------

type Values = HashMap<SymbolId, f64>;

fn evaluate(system: &StateSystem, roots: &[ExprId], values: &Values) -> Vec<f64> {
    system
        .exprs
        .evaluate_unchecked(roots, &|symbol| values.get(&symbol).copied())
}

fn assign(system: &StateSystem, values: &mut Values) {
    for assignment in &system.equations.assignments {
        let value = evaluate(system, &[assignment.value], values)[0];
        values.insert(assignment.symbol, value);
    }
}

/// Derivatives and outputs, loops solved by Newton's method with differences.
fn right_sides(system: &StateSystem, values: &mut Values) -> Vec<f64> {
    let unknowns: Vec<SymbolId> = system.equations.unknowns().collect();
    let residuals: Vec<ExprId> = system.equations.residuals().collect();
    let at = |values: &mut Values, z: &[f64]| {
        values.extend(unknowns.iter().copied().zip(z.iter().copied()));
        assign(system, values);
        nalgebra::DVector::from_vec(evaluate(system, &residuals, values))
    };
    let guesses = system.first_unknowns(0.0);
    let mut z: Vec<f64> = unknowns
        .iter()
        .zip(guesses)
        .map(|(unknown, guess)| values.get(unknown).copied().unwrap_or(guess))
        .collect();
    for _ in 0..100 {
        if z.is_empty() {
            break;
        }
        let value = at(values, &z);
        let n = z.len();
        let mut jacobian = nalgebra::DMatrix::zeros(n, n);
        for column in 0..n {
            let step = 1e-7 * (1.0 + z[column].abs());
            let mut beside = z.clone();
            beside[column] += step;
            let change = (at(values, &beside) - &value) / step;
            jacobian.set_column(column, &change);
        }
        let Some(step) = jacobian.lu().solve(&value) else { break };
        let mut scale = 1.0;
        while scale > 1e-6 {
            let trial: Vec<f64> = z.iter().zip(step.iter()).map(|(z, step)| z - scale * step).collect();
            if at(values, &trial).norm() < value.norm() {
                z = trial;
                break;
            }
            scale /= 2.0;
        }
        if scale <= 1e-6 {
            break;
        }
    }
    at(values, &z);
    assign(system, values);
    let roots: Vec<ExprId> = system
        .equations
        .derivatives
        .iter()
        .chain(&system.equations.output_values)
        .copied()
        .collect();
    evaluate(system, &roots, values)
}

fn examples() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in ["", "seeds"] {
        for entry in fs::read_dir(example(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "lgm") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

#[test]
fn every_nonlinear_example_has_the_derivatives_of_finite_differences() {
    let mut checked = Vec::new();
    for path in examples() {
        let source = fs::read_to_string(&path).unwrap();
        let (Some(system), ..) = compile(&source, &[], None) else {
            panic!("{}", path.display())
        };
        if system.equations.linear {
            continue;
        }
        // Near the initial values, away from kinks.
        let mut point: Vec<String> = Vec::new();
        let mut values: Values = HashMap::new();
        let parameters = system.parameters.iter().flat_map(|parameter| &parameter.entries);
        values.extend(parameters.map(|entry| (entry.symbol, to_f64(&entry.value))));
        values.insert(system.time, 0.0);
        for (k, state) in system.states.iter().enumerate() {
            let value = state.start_value * 1.01 + 0.11 * (1.0 + k as f64).sin();
            point.push(format!("{}={value:?}", state.name));
            values.insert(state.symbol, value);
        }
        for (k, input) in system.inputs.iter().enumerate() {
            let value = 0.37 + 0.2 * k as f64;
            point.push(format!("{}={value:?}", input.name));
            values.insert(input.symbol, value);
            values.insert(system.input_rates[k], 0.0);
        }
        let asked = LinearizeRequest {
            equilibrium: false,
            symbolic: false,
        };
        let (linear, diagnostics, map) = compile(&source, &point, Some(asked));
        let linear = linear.unwrap_or_else(|| panic!("{}\n{}", path.display(), render(&map, &diagnostics, false)));
        let form = linear.matrices.numeric.as_ref().unwrap();
        let (a, b, e) = (dense(&form.a), dense(&form.b), dense(&form.e));
        let (c, d, f) = (dense(&form.c), dense(&form.d), dense(&form.f));
        let states = system.states.iter().map(|state| state.symbol);
        let inputs = system.inputs.iter().map(|input| input.symbol);
        let columns: Vec<SymbolId> = states.chain(inputs).chain(system.input_rates.iter().copied()).collect();
        let (n, m) = (system.states.len(), system.inputs.len());
        right_sides(&system, &mut values);
        for (column, symbol) in columns.iter().enumerate() {
            let middle = values[symbol];
            let step = 1e-5 * (1.0 + middle.abs());
            let at = |value: f64| {
                let mut values = values.clone();
                values.insert(*symbol, value);
                right_sides(&system, &mut values)
            };
            let (above, below) = (at(middle + step), at(middle - step));
            for row in 0..above.len() {
                let found = (above[row] - below[row]) / (2.0 * step);
                let entry = match (row < n, column) {
                    (true, k) if k < n => a[row][k],
                    (true, k) if k < n + m => b[row][k - n],
                    (true, k) => e[row][k - n - m],
                    (false, k) if k < n => c[row - n][k],
                    (false, k) if k < n + m => d[row - n][k - n],
                    (false, k) => f[row - n][k - n - m],
                };
                let size = entry.abs().max(found.abs()).max(above[row].abs() * 1e-2).max(1e-3);
                assert!(
                    (found - entry).abs() <= 2e-5 * size,
                    "{}: row {row}, {}: {entry} and {found}",
                    path.display(),
                    system.exprs.symbol_info(*symbol).name
                );
            }
        }
        checked.push(path.file_stem().unwrap().to_string_lossy().to_string());
    }
    assert!(checked.len() >= 14, "{checked:?}");
}

/// Numeric and symbolic results agree, and already linear models keep their matrices.
#[test]
fn a_linear_model_is_its_own_linearisation() {
    let source = fs::read_to_string(example("oscillator.lgm")).unwrap();
    let (Some(plain), ..) = compile(&source, &[], None) else {
        panic!("the oscillator compiles")
    };
    let about = at(&source, &["mass.v=2"], false);
    assert_eq!(texts(&about, |form| &form.a), texts(&plain, |form| &form.a));
    assert_eq!(texts(&about, |form| &form.b), texts(&plain, |form| &form.b));
    let rest = at(&source, &["F=3"], true);
    let point = rest.linearized_at.as_ref().unwrap();
    let spring = point.states.iter().find(|entry| &*entry.name == "spring.F").unwrap();
    assert!((spring.value - 3.0).abs() < 1e-12);
}

#[test]
fn a_number_without_a_unit_at_a_point_is_in_the_declared_unit() {
    let tank = "element Orifice(k) : fluid { through = k*sign(across)*sqrt(abs(across)); }
      model T { input q [l/s] = 4; node t : fluid; s : FlowSource(q) gnd -> t; c : FluidCapacitor(2e-4) t -> gnd, start = 1000;
                o : Orifice(1e-4) t -> gnd; output p = across(c); }";
    // The flow of 5 l/s needs 2500 Pa, where the slope of the orifice is 1e-6: with 2e-4, a pole at -0.005.
    for point in ["q=5", "q=5 [l/s]", "q=0.005 [m^3/s]"] {
        let system = at(tank, &[point], true);
        let pole = dense(&system.matrices.numeric.as_ref().unwrap().a)[0][0];
        assert!((pole + 0.005).abs() < 1e-12, "{point}: {pole}");
    }
}

/// At rest nothing flows through the orifice of an accumulator, and its slope is infinite there. A search that ended
/// near that point would give slopes that are pure round-off.
#[test]
fn an_equilibrium_with_an_infinite_slope_has_no_linearisation() {
    let file = "tests/corpus/starts/accumulator_at_rest.lgm";
    let output = run(&["modes", "--equilibrium", file].map(String::from));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{said}");
    for word in [
        "[LGM0703]",
        "`der(line.P)` of `line` has a kink at this point",
        "line.P = 9666670, m.v = 0, sp.F = 7733.33, acc.int_Q = 0.00116846",
    ] {
        assert!(said.contains(word), "{word}: {said}");
    }
    // With flow the slope is finite.
    let point = ["modes", "--linearize", "--at", "line.P=9e6, acc.int_Q=0.0011", file].map(String::from);
    assert!(run(&point).status.success());
}
