//! Models that compile but have an unintended meaning: units hidden by a number without one, masses between moving
//! nodes, laws without an energy. Each is reported, and valid models are not.

use crate::equations::networks;
use crate::support::pages::{Block, blocks, package};

use lgm::diagnostic::{Diagnostic, Severity};
use lgm::rendering::render;
use lgm::source::{NoFiles, SourceMap};
use networks::adapter::compile_numeric;
use std::fs;

/// All diagnostics of a text, and their rendered form.
fn said(text: &str) -> (Vec<Diagnostic>, String) {
    let mut map = SourceMap::default();
    let root = map.add("model.lgm", text, None);
    let request = lgm::Request {
        verify: true,
        ..lgm::Request::default()
    };
    let mut found = lgm::check(&NoFiles, &mut map, root, &request);
    // The remark that the equations hold is not an error.
    found.retain(|found| found.severity != Severity::Information);
    let shown = render(&map, &found, false);
    (found, shown)
}

/// Asserts that a text has no diagnostics.
fn silent(text: &str) {
    let (found, shown) = said(text);
    assert!(found.is_empty(), "{shown}\n{text}");
}

/// Asserts a single diagnostic with this code and severity, and these parts of its message.
fn says(text: &str, severity: Severity, code: &str, words: &[&str]) {
    let (found, shown) = said(text);
    assert!(found.len() == 1, "{shown}\n{text}");
    assert_eq!(
        (found[0].severity, found[0].code.as_str()),
        (severity, code),
        "{shown}\n{text}"
    );
    for word in words {
        assert!(shown.contains(word), "`{word}` is not said:\n{shown}\n{text}");
    }
}

fn warns(text: &str, words: &[&str]) {
    says(text, Severity::Warning, "LGM0209", words);
}

// ---- Undetected mistakes -----------------------------------------------------------------------------------------

/// `sum`, `list` and `root` without a range gave neither a value nor a diagnostic: the compiler stopped later, or
/// reported something else.
#[test]
fn a_sum_over_nothing_is_a_fault_of_its_own() {
    for call in ["sum()", "sum(2 [N/m])", "list()", "root()", "root(2 [N/m], 3 [N/m])"] {
        for place in [
            "spring : Spring(CALL) x -> gnd;",
            "param k = CALL; spring : Spring(k) x -> gnd;",
            "const k = CALL; spring : Spring(k*1 [N/m]) x -> gnd;",
            "input f = CALL; force : ForceSource(f) gnd -> x;",
            "state z = int(CALL);",
            "output y = CALL;",
        ] {
            let line = place.replace("CALL", call);
            let text = format!("model M {{\n  node x : translational;\n  body : Mass(2 [kg]) x -> gnd;\n  {line}\n}}");
            let (found, shown) = said(&text);
            let is_told = found
                .iter()
                .any(|found| found.code == "LGM0128" && text[found.labels[0].span.start as usize..].starts_with(call));
            assert!(is_told, "{shown}\n{text}");
        }
    }
}

/// Errors inside an unused definition are reported in the text that contains it.
#[test]
fn definitions_that_nothing_uses_are_checked() {
    let faults = |text: &str| {
        let mut map = SourceMap::default();
        let root = map.add("parts.lgm", text, None);
        let request = lgm::Request {
            every_model: true,
            ..lgm::Request::default()
        };
        let found = lgm::check(&NoFiles, &mut map, root, &request);
        let shown = render(&map, &found, false);
        assert!(!shown.contains("lgm__use"), "{shown}");
        let place = |each: &Diagnostic| map.slice(each.labels[0].span).to_string();
        let said = found
            .iter()
            .map(|each| format!("{} {}", each.code.as_str(), place(each)));
        (said.collect::<Vec<_>>(), shown)
    };
    for (text, expected) in [
        (
            "component P(a [ohm]) { port p, n : electrical; q : Resistor(a, a) p -> n; }",
            "LGM0132 a",
        ),
        (
            "component P(L [m]) { port p : translational; s : Spring(L) p -> gnd; }",
            "LGM0201 L",
        ),
        (
            "component P() { port p : electrical; r : Resistor(sin()*1 [ohm]) p -> gnd; }",
            "LGM0128 sin()",
        ),
        (
            "component P() { port p : electrical; m : Mass(2 [kg]) p -> gnd; }",
            "LGM0303 p",
        ),
        (
            "component P() { port q[2] vector : translational; s : Spring(2 [m]) q -> gnd; }",
            "LGM0201 2 [m]",
        ),
        (
            "element E(a [N]) : electrical { through = cos()*a*across; }",
            "LGM0128 cos()",
        ),
        (
            "element E(r [ohm]) : electrical { port a, b; a.across = r*a.through; b.across = r*atan2(1)*b.through; }",
            "LGM0128 atan2(1)",
        ),
        (
            "component Inner(C) { port p : electrical; c : Capacitor(C) p -> gnd; }
component Outer() { port p : electrical; inner : Inner(2 [ohm]) (p = p); }",
            "LGM0201 C",
        ),
    ] {
        let (found, shown) = faults(text);
        assert_eq!(found, [expected], "{shown}\n{text}");
    }
    // Its use is unknown, or nothing is wrong.
    for text in [
        "component P(R, C) { port p : electrical; r : Resistor(R) p -> gnd; c : Capacitor(R/C) p -> gnd; }",
        "component P(const n) { port p[n] : electrical; for i in 1:n-3 { r[i] : Resistor(1 [ohm]) p[i] -> gnd; } }",
        "component P(w [rad/s]) { port p : rotational; s : AngularVelocitySource(w[1] + w[2]) p -> gnd; }",
        "component P(m [kg] = 2) { port p; mass : Mass(m) p -> gnd; }",
        "component P(C [F]) { port p; c : C(C); p -> c; }",
        "element E(c) : bond { effort = c*int(flow); }",
        "element E(r) { across = r*through; }",
        // Beyond the limit of the check; it must not take long either.
        "component P() { port p : electrical; for i in 1:90000000 { r[i] : Resistor(1 [kg]) p -> gnd; } }",
    ] {
        let (found, shown) = faults(text);
        let is_silent = found
            .iter()
            .all(|said| !said.starts_with("LGM02") && !said.starts_with("LGM01"));
        assert!(is_silent, "{shown}\n{text}");
    }
}

/// All models of a file are checked, unless one is selected.
#[test]
fn every_model_of_a_file_is_checked() {
    let text = "component Part() { port p, n : translational; damper : Damper(2 [kg]) p -> n; }
model First { node x : translational; body : Mass(1 [N]) x -> gnd; part : Part() (p = x, n = gnd); }
model Second { node x : translational; body : Mass(1 [kg]) x -> gnd; part : Part() (p = x, n = gnd); }
model Third { node x : translational; body : Mass(1 [kg]) x -> gnd; source : ForceSource(1 [N]) gnd -> x; }";
    let found = |every_model: bool, model: Option<&str>| {
        let mut map = SourceMap::default();
        let root = map.add("model.lgm", text, None);
        let request = lgm::Request {
            settings: lgm::elaborate::Settings {
                model: model.map(str::to_string),
                ..lgm::elaborate::Settings::default()
            },
            every_model,
            ..lgm::Request::default()
        };
        let found = lgm::check(&NoFiles, &mut map, root, &request);
        let faults = found.iter().filter(|found| found.severity == Severity::Error);
        faults
            .map(|found| map.slice(found.labels[0].span).to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(found(true, None), ["2 [kg]", "1 [N]"], "the part is reported once");
    assert_eq!(found(true, Some("Second")), ["2 [kg]", "1 [N]"]);
    assert_eq!(found(false, None), [""; 0]);
    assert_eq!(found(false, Some("Second")), ["2 [kg]"]);
}

// ---- Numbers without a unit ---------------------------------------------------------------------------------------

/// A mass and the other elements at its node, with some parameters.
fn on_a_mass(rest: &str) -> String {
    format!(
        "model M {{
  param k = 50 [N/m];  param c = 2 [N.s/m];  param m = 2 [kg];  param L = 0.5 [m];  param tau = 3 [s];  param n = 2;
  node x : translational;
  body : Mass(m) x -> gnd;
  {rest}
  output v = across(body);
}}"
    )
}

#[test]
fn a_number_in_a_product_is_a_pure_one() {
    for (rest, mend) in [
        ("d : Damper(1*k) x -> gnd;", "1 [s]"),
        ("s : Spring(2*c) x -> gnd;", "2 [1/s]"),
        ("s : Spring(c/0.25) x -> gnd;", "0.25 [s]"),
        ("f : ForceSource(-m*9.81) gnd -> x;", "9.81 [m/s^2]"),
        ("signal g = 9.81*m;  f : ForceSource(g) gnd -> x;", "9.81 [m/s^2]"),
        ("param w = 9.81*m;  f : ForceSource(-2*w) gnd -> x;", "9.81 [m/s^2]"),
        ("param w [N] = 9.81*m;  f : ForceSource(w) gnd -> x;", "9.81 [m/s^2]"),
        (
            "f : ForceSource(3*sqrt(4*k*m)*across(x) + 5*across(x)) gnd -> x;",
            "has no unit",
        ),
        ("f : ForceSource(if time > 1 then 2*k else -4 [N]) gnd -> x;", "2 [m]"),
        ("f : ForceSource(max(2*k, 3 [N])) gnd -> x;", "2 [m]"),
        ("f : ForceSource(3 [N]*exp(-across(x)/0.1)) gnd -> x;", "0.1 [m/s]"),
        ("f : ForceSource(sum(i in 1:2, i*k)) gnd -> x;", "unit"),
        ("s : Spring(k) x -> gnd, start = 2*k;", "2 [m]"),
        ("experiment { stop = 10*L; }", "10 [s/m]"),
    ] {
        warns(&on_a_mass(rest), &[mend]);
    }
}

#[test]
fn a_number_alone_a_parameter_without_a_unit_and_pure_factors_are_right() {
    for rest in [
        "d : Damper(3) x -> gnd;",
        "d : Damper(n*k) x -> gnd;",
        "d : Damper(2*c) x -> gnd;",
        "d : Damper(2*0.7*sqrt(k*m)) x -> gnd;",
        "f : ForceSource(5*sin(2*pi*50*time)) gnd -> x;",
        "f : ForceSource(5*step(1)) gnd -> x;",
        "f : ForceSource(k*L*step(1) + 3) gnd -> x;",
        "f : ForceSource(5*across(x)*tau/L) gnd -> x;",
        "f : ForceSource(-m*9.81 [m/s^2]) gnd -> x;",
        "f : ForceSource(1/2*k*L) gnd -> x;",
        "f : ForceSource(sum(i in 1:3, i)*k*L) gnd -> x;",
        "state z = int(1);  f : ForceSource(z) gnd -> x;",
        "const two = 2;  d : Damper(two*k) x -> gnd;",
        "experiment { stop = 10*tau; points = 2*10; }",
    ] {
        silent(&on_a_mass(rest));
    }
}

/// A certain error is still an error.
#[test]
fn a_mismatch_without_a_number_is_an_error() {
    says(
        &on_a_mass("d : Damper(k) x -> gnd;"),
        Severity::Error,
        "LGM0201",
        &["[N/m]", "[N.s/m]"],
    );
    says(
        &on_a_mass("s : Spring(2*c + k) x -> gnd;"),
        Severity::Warning,
        "LGM0209",
        &["2"],
    );
}

/// A length in metres is not mistaken for millimetres because of a preceding number; an ambiguous case is not guessed.
#[test]
fn a_product_with_a_number_keeps_its_unit() {
    let text = |value: &str| {
        format!(
            "model M {{ param L = 1 [m];  param m = 1 [kg];  param d [mm] = {value};
  node x : translational;  s : Spring(2 [N/m]*d/L) x -> gnd;  b : Mass(m) x -> gnd;  output v = across(b); }}"
        )
    };
    let value = |words: &str| {
        let mut map = SourceMap::default();
        let root = map.add("model.lgm", text(words), None);
        let (system, found) = lgm::compile(&NoFiles, &mut map, root, &lgm::Request::default());
        let system = system.unwrap_or_else(|| panic!("{}", render(&map, &found, false)));
        let parameter = system
            .parameters
            .iter()
            .find(|parameter| &*parameter.name == "d")
            .unwrap();
        lgm::expr::to_f64(&parameter.entries[0].value)
    };
    assert_eq!(value("2*L"), 2.0);
    assert_eq!(value("2"), 0.002);
    assert_eq!(value("L"), 1.0);
    says(&text("2*m"), Severity::Error, "LGM0201", &["[kg]"]);
}

#[test]
fn functions_of_pure_numbers_give_integrals_a_unit() {
    for function in ["sin", "asin", "acos", "sinh", "cosh"] {
        let state = format!("input u [V] = 0.5; state s = int({function}(u/(1 [V])));");
        let text = format!("model M {{ {state} output y = s + 1 [m]; }}");
        says(&text, Severity::Error, "LGM0201", &["[s]", "[m]"]);
    }
}

// ---- Couplers -----------------------------------------------------------------------------------------------------

fn motor(coupler: &str) -> String {
    format!(
        "model Motor {{
  param K = 0.05 [N.m/A];  param J = 1e-4 [kg.m^2];  param R = 1 [ohm];
  input u [V] = 12;
  node s, e : electrical;  node shaft : rotational;
  supply : VoltageSource(u) s -> gnd;  winding : Resistor(R) s -> e;
  motor : {coupler} e -> gnd, shaft -> gnd;
  rotor : Inertia(J) shaft -> gnd;
  output w = across(rotor);
}}"
    )
}

#[test]
fn the_coupler_that_would_fit_is_named() {
    silent(&motor("Transformer(1/K)"));
    warns(&motor("Gyrator(1/K)"), &["`Transformer(1/K)` would fit"]);
    warns(&motor("Gyrator(2*K)"), &["`Transformer(1/(2*K))` would fit"]);
    for coupler in ["Gyrator(K)", "Transformer(K)"] {
        says(
            &motor(coupler),
            Severity::Error,
            "LGM0201",
            &["`Transformer(1/K)` would fit"],
        );
    }
    let cylinder = |coupler: &str| {
        format!(
            "model Cylinder {{
  param A = 20e-4 [m^2];  param m = 50 [kg];
  node chamber : fluid;  node rod : translational;
  pump : FlowSource(1e-4 [m^3/s]) gnd -> chamber;  tank : FluidCapacitor(1e-9 [m^3/Pa]) chamber -> gnd;
  cylinder : {coupler} chamber -> gnd, rod -> gnd;
  load : Mass(m) rod -> gnd;
  output v = across(load);
}}"
        )
    };
    silent(&cylinder("Gyrator(1/A)"));
    warns(&cylinder("Transformer(1/A)"), &["`Gyrator(1/A)` would fit"]);
    says(
        &cylinder("Transformer(A)"),
        Severity::Error,
        "LGM0201",
        &["`Gyrator(1/A)` would fit"],
    );
}

#[test]
fn the_page_about_signs_compiles_and_both_notations_agree() {
    let blocks = blocks(&fs::read_to_string(package().join("docs/signs.md")).unwrap());
    assert!(blocks.len() >= 5);
    let mut poles: Vec<(String, Vec<f64>)> = Vec::new();
    for Block { tag, text } in &blocks {
        match tag.as_str() {
            "lgm" => silent(text),
            "lgm warns" => {
                warns(text, &["`Transformer(1/K)` would fit"]);
                continue;
            }
            other => panic!("what is a block of `{other}`?"),
        }
        let compiled = compile_numeric(text).unwrap();
        // Trace and determinant of A do not depend on the choice of states.
        let rows = &compiled.linear.a;
        let a = nalgebra::DMatrix::from_fn(rows.len(), rows.len(), |row, column| rows[row][column]);
        let name = text.split_whitespace().nth(1).unwrap();
        poles.push((name.to_string(), vec![a.trace(), a.determinant()]));
    }
    for pair in [("MotorGraph", "MotorBonds"), ("CylinderGraph", "CylinderBonds")] {
        let of = |name: &str| &poles.iter().find(|entry| entry.0 == name).unwrap().1;
        for (x, y) in of(pair.0).iter().zip(of(pair.1)) {
            assert!((x - y).abs() <= 1e-9 * x.abs(), "{pair:?}: {x} and {y}");
        }
    }
}

// ---- Masses between moving nodes ----------------------------------------------------------------------------------

fn between(rest: &str) -> String {
    format!(
        "model M {{
  node a, b : translational;
  push : ForceSource(1 [N]) gnd -> a;  slide : Damper(3 [N.s/m]) a -> gnd;
  d : Damper(1 [N.s/m]) b -> gnd;
  {rest}
  output v = across(a);
}}"
    )
}

#[test]
fn a_mass_between_moving_nodes_is_reported() {
    let reported = |text: &str, words: &[&str]| says(text, Severity::Warning, "LGM0317", words);
    reported(
        &between("m : Mass(1 [kg]) a -> b;"),
        &["`m : Mass(..) a -> gnd;`", "`Inerter(..)`"],
    );
    reported(&between("m : Mass(1 [kg]) b -> a;"), &["`m : Mass(..) b -> gnd;`"]);
    // A shaking base is not at rest, but a base that a source moves steadily is equivalent to the reference.
    let on_base = |velocity: &str| {
        format!(
            "model M {{ node x, base : translational;  shake : VelocitySource({velocity}) base -> gnd;
  s : Spring(5 [N/m]) x -> base;  m : Mass(1 [kg]) x -> base;  output v = across(x); }}"
        )
    };
    reported(&on_base("sin(time)"), &["`m` is between two nodes"]);
    silent(&on_base("2 [m/s]"));
    reported(
        "model M { node a, b : rotational;  t : TorqueSource(1) gnd -> a;  J : Inertia(1) a -> b;  d : RotaryDamper(1) b -> gnd;
  output w = across(a); }",
        &["moment of inertia", "`RotaryInerter(..)`"],
    );
    reported(
        "model M { node a, b : thermal;  q : HeatSource(1) gnd -> a;  C : ThermalCapacitor(1) a -> b;  r : ThermalResistor(1) b -> gnd;
  s : ThermalResistor(1) a -> gnd;  output T = across(a); }",
        &["heat capacity"],
    );
    reported(
        "model M { node q[2] vector, p[2] vector : translational;  f : ForceSource([1, 0]) gnd -> q;
  m : Mass(1) q -> p;  d : Damper(1) p -> gnd;  e : Damper(2) q -> gnd;  output v = across(m)[1]; }",
        &["`m` is between two nodes"],
    );
    reported(
        "component Body(m [kg]) { port p, ref : translational;  mass : Mass(m) p -> ref; }
model M { node a, b : translational;  f : ForceSource(1) gnd -> a;  x : Body(2 [kg]) (p = a, ref = b);  d : Damper(1) b -> gnd;
  e : Damper(1) a -> gnd;  output v = across(a); }",
        &["`x.mass` is between two nodes"],
    );
}

#[test]
fn inerters_and_elements_that_may_lie_between_nodes_are_right() {
    silent(&between("m : Inerter(1 [kg]) a -> b;"));
    silent(&between("m : Mass(1 [kg]) gnd -> a;  s : Spring(1) a -> b;"));
    silent("model M { node a, b : electrical;  i : CurrentSource(1) gnd -> a;  C : Capacitor(1) a -> b;  r : Resistor(1) b -> gnd;
  s : Resistor(1) a -> gnd;  output u = across(a); }");
    silent("model M { node a, b : fluid;  q : FlowSource(1) gnd -> a;  C : FluidCapacitor(1) a -> b;  r : FluidResistor(1) b -> gnd;
  s : FluidResistor(1) a -> gnd;  output P = across(a); }");
    // A floating part has its own reference.
    silent(
        "model M { node x : translational;  node base : translational, floating;  f : ForceSource(1) base -> x;
  m : Mass(1) x -> base;  output v = across(m); }",
    );
}

/// An inerter between two masses: `(m1 + b) a1 - b a2 = F`, `(m2 + b) a2 - b a1 = 0`.
#[test]
fn an_inerter_adds_to_neither_mass_alone() {
    let text = "model M { node x, y : translational;  param F = 6 [N];
  push : ForceSource(F) gnd -> x;  m1 : Mass(1 [kg]) x -> gnd;  m2 : Mass(2 [kg]) y -> gnd;  j : Inerter(3 [kg]) x -> y;
  output a1 = der(across(m1));  output a2 = der(across(m2)); }";
    silent(text);
    let mut map = SourceMap::default();
    let root = map.add("model.lgm", text, None);
    let (system, _) = lgm::compile(&NoFiles, &mut map, root, &lgm::Request::default());
    let system = system.unwrap();
    let values: Vec<f64> = system
        .equations
        .output_values
        .iter()
        .map(|value| {
            let value_of = |symbol| {
                let parameter = system.parameters.iter().flat_map(|parameter| &parameter.entries);
                parameter
                    .clone()
                    .find(|entry| entry.symbol == symbol)
                    .map(|entry| lgm::expr::to_f64(&entry.value))
            };
            system.exprs.evaluate_f64(&[*value], &value_of).unwrap()[0]
        })
        .collect();
    // 4 a1 - 3 a2 = 6, 5 a2 = 3 a1.
    let a1 = 6.0 / (4.0 - 9.0 / 5.0);
    for (found, wanted) in values.iter().zip([a1, 0.6 * a1]) {
        assert!((found - wanted).abs() < 1e-12, "{values:?}");
    }
}

// ---- Laws without an energy ---------------------------------------------------------------------------------------

/// A two-port bond storage with a law, and the rest of the text.
fn field(law: &str) -> String {
    format!(
        "element F(c = 1.5, d = 0.8) : bond {{
  port a, b;
  {law}
}}
model M {{
  one x, y;  r : R(2);  m : I(1);  f : F(), start = [0.3, 0.4];  supply : Se(1);
  supply -> x -> r;  x -> f.a;  y -> f.b;  y -> m;
  output v = flow(y);
}}"
    )
}

#[test]
fn a_law_without_an_energy_is_refused() {
    for law in [
        "a.effort = int(a.flow)*(d + int(b.flow))/c;  b.effort = int(a.flow)^2/c;",
        "a.effort = c*int(b.flow)*int(a.flow);  b.effort = c*int(a.flow);",
        "a.effort = sin(int(a.flow) - int(b.flow));  b.effort = sin(int(a.flow) - int(b.flow));",
        "a.effort = exp(int(a.flow))*int(b.flow);  b.effort = 2*exp(int(a.flow));",
        "der((d + int(b.flow))*a.flow) = a.effort;  b.effort = a.flow^2;",
        "a.effort = int(2*a.flow)*(1 + int(b.flow)^2);  b.effort = int(2*a.flow)^2*int(b.flow);",
        "a.effort = int(a.flow)*(d + int(b.flow))/c;  b.effort = c*b.flow;",
    ] {
        says(
            &field(law),
            Severity::Error,
            "LGM0413",
            &["the law of `f` has no energy"],
        );
    }
    says(
        &field("a.effort = int(a.flow)*(d + int(b.flow))/c;  b.effort = int(a.flow)^2/c;"),
        Severity::Error,
        "LGM0413",
        &[
            "`effort(f.a)` changes with `f.b.q` by `2*f.a.q/3`",
            "`effort(f.b)` changes with `f.a.q` by `4*f.a.q/3`",
        ],
    );
}

#[test]
fn a_law_with_an_energy_is_taken() {
    for law in [
        // q^2 (d + x)/(2 c)
        "a.effort = int(a.flow)*(d + int(b.flow))/c;  b.effort = int(a.flow)^2/(2*c);",
        "a.effort = sin(int(a.flow) - int(b.flow));  b.effort = -sin(int(a.flow) - int(b.flow));",
        "a.effort = exp(int(a.flow))*int(b.flow);  b.effort = exp(int(a.flow));",
        // q^2/(2 L(x)) of a coil that attracts: its flow is q/L, the force -q^2 L'/(2 L^2) with L = 1/(d + x).
        "a.flow = int(a.effort)*(d + int(b.flow));  b.effort = int(a.effort)^2/2;",
        // The charge is counted twice: 2 q0 = int(2*a.flow).
        "a.effort = int(2*a.flow)*(1 + int(b.flow)^2);  b.effort = int(2*a.flow)^2*int(b.flow)/2;",
        // Functions that are equal only by an identity.
        "a.effort = 2*sin(int(a.flow))*cos(int(a.flow))*int(b.flow);  b.effort = (1 - cos(2*int(a.flow)))/2;",
        // A state that is not an integral of a port variable: it may dissipate.
        "a.effort = int(a.flow) + int(int(a.flow) - 2*int(b.flow));  b.effort = int(b.flow) + b.flow;",
    ] {
        silent(&field(law));
    }
}

/// Linear graphs, vectors and decisive values: an energy exists only if the two parameters are equal.
#[test]
fn an_energy_is_looked_for_with_the_parameters_at_hand() {
    let vector = |p: f64, q: f64| {
        format!(
            "element Net(k, p, q) : translational {{ port a, b;
  a.through = k*int(a.across)^3 + p*int(b.across)^2*int(a.across);  b.through = q*int(a.across)^2*int(b.across); }}
model M {{ param p = {p};  param q = {q};  node x, y : translational;
  f : ForceSource(1) gnd -> x;  m : Mass(1) x -> gnd;  n : Mass(1) y -> gnd;  s : Net(2, p, q) x -> gnd, y -> gnd;
  output v = across(m); }}"
        )
    };
    silent(&vector(3.0, 3.0));
    says(
        &vector(3.0, 3.5),
        Severity::Error,
        "LGM0413",
        &["`through(s.a)` changes with `s.b.int_v`"],
    );
}

// ---- Empty ranges and arrays -------------------------------------------------------------------------------------

/// A loop over an empty range creates nothing, and an array may have no entries: errors in later references name the
/// range and the array.
#[test]
fn empty_ranges_and_arrays_are_named_where_something_is_missed() {
    let empty = "this range is empty";
    let source = "src : CurrentSource(1) gnd -> a; e : Resistor(1) a -> gnd;";
    let of = |rest: &str| format!("model M {{ const N = 0; node a : electrical; {rest} }}");
    let fault = |text: &str, code: &str, words: &[&str]| says(&of(text), Severity::Error, code, words);
    let text = "for k in 1:N { r[k] : Resistor(1) a -> gnd; } output y = across(r[N]);";
    let words = [
        "in a loop without iterations",
        empty,
        "write an `if` around statements that need `r`",
    ];
    fault(&format!("{source} {text}"), "LGM0116", &words);
    let text = "node n[N] : electrical; output y = across(n[1]);";
    let words = [
        "the array is empty, so the index 1 is out of range",
        "a size of 0 and an empty range `1:0` are allowed",
    ];
    fault(&format!("{source} {text}"), "LGM0121", &words);
    let text = "for k in 1:N { r[k] : Resistor(1) a -> gnd; } output y = across(a);";
    fault(text, "LGM0312", &["this range is empty, so the loop has no iterations"]);
}
