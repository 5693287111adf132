//! Nonlinear laws in every causality: their equations, and that the flat graph's equations hold.

use lgm::diagnostic::Diagnostic;
use lgm::equations::StateSystem;
use lgm::expr::text;
use lgm::rendering::render;
use lgm::source::{NoFiles, SourceMap};

/// Compiles and verifies.
fn answer(text: &str) -> (Option<StateSystem>, Vec<Diagnostic>, String) {
    let mut map = SourceMap::default();
    let root = map.add("model.lgm", text, None);
    let request = lgm::Request {
        verify: true,
        ..lgm::Request::default()
    };
    let (system, diagnostics) = lgm::compile(&NoFiles, &mut map, root, &request);
    let shown = render(&map, &diagnostics, false);
    (system, diagnostics, shown)
}

/// The equations of a verified model, one on each line: assignments, loops, derivatives and outputs.
fn equations(text_of_model: &str) -> Vec<String> {
    let (system, diagnostics, shown) = answer(text_of_model);
    let system = system.unwrap_or_else(|| panic!("{text_of_model}\n{shown}"));
    let verified = diagnostics.iter().any(|diagnostic| diagnostic.code == "LGM0712");
    assert!(verified, "{text_of_model}\n{shown}");
    let write = |id| text(&system.exprs, id);
    let name = |symbol| system.exprs.symbol_info(symbol).name.to_string();
    let mut lines = Vec::new();
    for assignment in &system.equations.assignments {
        lines.push(format!("{} = {}", name(assignment.symbol), write(assignment.value)));
    }
    for each in &system.equations.loops {
        let unknowns: Vec<String> = each.unknowns.iter().map(|symbol| name(*symbol)).collect();
        let residuals: Vec<String> = each.residuals.iter().map(|residual| write(*residual)).collect();
        lines.push(format!("solve {}: {}", unknowns.join(", "), residuals.join(", ")));
    }
    for (state, rate) in system.states.iter().zip(&system.equations.derivatives) {
        lines.push(format!("der({}) = {}", state.name, write(*rate)));
    }
    for (output, value) in system.outputs.iter().zip(&system.equations.output_values) {
        lines.push(format!("{} = {}", output.name, write(*value)));
    }
    lines
}

#[test]
fn a_controlled_source_may_be_any_function_of_measures() {
    let found = equations(
        "model M { input u = 1; param k = 2;
           node x : translational;
           push : ForceSource(if across(mass) > 0 then min(u, k) else u) gnd -> x;
           mass : Mass(3) x -> gnd;
           drag : ForceSource(k*across(mass)*abs(across(mass))) x -> gnd;
           output p = power(mass); output a = der(across(mass)); }",
    );
    assert_eq!(
        found,
        [
            "der(mass.v) = ((if mass.v > 0 then min(u, k) else u) - k*mass.v*abs(mass.v))/3",
            "p = mass.v*((if mass.v > 0 then min(u, k) else u) - k*mass.v*abs(mass.v))",
            "a = ((if mass.v > 0 then min(u, k) else u) - k*mass.v*abs(mass.v))/3",
        ]
    );
}

#[test]
fn an_integral_may_have_any_integrand() {
    let found = equations(
        "model M { input u = 1; node x : translational;
           push : ForceSource(u) gnd -> x; mass : Mass(2) x -> gnd;
           state z = int(across(mass)^2), start = 3;
           output y = int(u*across(mass)); output q = z; }",
    );
    assert_eq!(found[1..3], ["der(z) = mass.v^2", "der(y) = u*mass.v"]);
}

#[test]
fn a_diode_takes_the_current_that_a_source_forces_on_it() {
    let found = equations(
        "import nonlinear; model M { input i = 1; param Is = 1e-9; node a, b : electrical;
           s : CurrentSource(i) gnd -> a; d : Diode(Is, 1) a -> b; c : Capacitor(2) b -> gnd;
           output v = across(d); }",
    );
    assert_eq!(found, ["der(c.v) = i/2", "v = log(i/Is + 1)"]);
}

#[test]
fn an_orifice_is_read_both_ways() {
    let element = "element Orifice(K) : fluid { through = K*sign(across)*sqrt(abs(across)); }";
    let forced = equations(&format!(
        "{element} model M {{ input Q = 1; node x, y : fluid; s : FlowSource(Q) gnd -> x;
           o : Orifice(2) x -> y; c : FluidCapacitor(1) y -> gnd; output p = across(o); }}"
    ));
    assert_eq!(forced, ["der(c.P) = Q", "p = Q*abs(Q)/4"]);
    let free = equations(&format!(
        "{element} model M {{ input P = 1; node x, y : fluid; s : PressureSource(P) x -> gnd;
           o : Orifice(2) x -> y; c : FluidCapacitor(1) y -> gnd; }}"
    ));
    assert_eq!(free.len(), 1, "{free:?}");
    assert!(free[0].contains("sqrt(abs(") && free[0].contains("sign("), "{free:?}");
}

#[test]
fn a_law_without_inverse_closes_a_loop_where_its_other_variable_is_given() {
    let found = equations(
        "element Cubic(a, b) : translational { through = a*across + b*across^3; }
         model M { input F = 1; node x, y : translational; push : ForceSource(F) gnd -> x;
           c : Cubic(1, 2) x -> y; m : Mass(2) y -> gnd; output v = across(c); }",
    );
    assert_eq!(found, ["solve c.v: F - 2*c.v^3 - c.v", "der(m.v) = F/2", "v = c.v"]);
}

#[test]
fn a_loop_of_several_laws_is_torn_on_one_variable() {
    let found = equations(
        "element Quadratic(c) : electrical { across = c*through*abs(through); }
         model M { input u = 1; param R = 5; node a, b, c : electrical;
           s : VoltageSource(u) a -> gnd; r : Resistor(R) a -> b;
           d1 : Quadratic(2) b -> c; d2 : Quadratic(3) c -> gnd; output i = through(d1); }",
    );
    let solved: Vec<&String> = found.iter().filter(|line| line.starts_with("solve ")).collect();
    assert_eq!(solved.len(), 1, "{found:?}");
    assert_eq!(
        solved[0].split(':').next().unwrap().matches(',').count(),
        0,
        "{found:?}"
    );
}

#[test]
fn linear_feedback_around_a_nonlinear_element_is_solved_in_symbols() {
    let found = equations(
        "model M { param k = 3; param R = 2; input u = 1; node a, b : electrical;
           s : VoltageSource(u - k*across(r)) a -> gnd; r : Resistor(R) a -> b; c : Capacitor(1) b -> gnd;
           sq : CurrentSource(1 [A/V^2]*across(c)^2) b -> gnd; }",
    );
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(!found[0].contains("across"), "{found:?}");
}

#[test]
fn nonlinear_storage_has_energy_variables_as_states() {
    let bond = equations(
        "element HardC(k1, k3) : bond { effort = k1*int(flow) + k3*int(flow)^3; }
         model M { input F = 1; one a; SE : Se(F); m : I(2); k : HardC(1, 3), start = 0.5; SE -> a -> m; a -> k;
           output e = effort(k); }",
    );
    assert_eq!(
        bond,
        ["der(m.p) = F - 3*k.q^3 - k.q", "der(k.q) = m.p/2", "e = k.q + 3*k.q^3"]
    );
    let (system, _, _) = answer(
        "import nonlinear; model M { node x : translational; m : Mass(1) x -> gnd;
           s : HardSpring(1, 2) x -> gnd, start = 0.25; }",
    );
    let system = system.unwrap();
    assert_eq!(&*system.states[1].name, "s.int_v");
    assert_eq!(system.states[1].start_value, 0.25);
}

#[test]
fn dependent_nonlinear_storage_adds_its_co_energy_jacobian() {
    // Two parallel capacitors: C(v) = 1 + v/5 of the nonlinear one adds to the 2 of the other.
    let found = equations(
        "element Curved(C0, C1) : electrical { der(C0*across + C1*across^2/2) = through; }
         model M { input i = 1; node a : electrical; s : CurrentSource(i) gnd -> a;
           plain : Capacitor(2) a -> gnd; c : Curved(1, 0.2) a -> gnd; output q = through(c); }",
    );
    assert_eq!(
        found,
        [
            "solve plain.v: plain.total_int_i - 0.1*plain.v^2 - 3*plain.v",
            "der(plain.total_int_i) = i",
            "q = i*(plain.v + 5)/(plain.v + 15)"
        ]
    );
    // Across a source it has no state at all.
    let driven = equations(
        "element Curved(C0, C1) : electrical { through = (C0 + C1*across)*der(across); }
         model M { input u = 1; node a : electrical; s : VoltageSource(u) a -> gnd;
           c : Curved(1, 0.2) a -> gnd; output i = through(c); }",
    );
    assert_eq!(driven, ["i = der(u)*(0.2*u + 1)"]);
}

#[test]
fn a_law_that_mixes_storage_and_loss_is_linear_where_it_is() {
    let (system, _, shown) = answer(
        "element Lossy(R, C) : electrical { through = C*der(across) + across/R; }
         model M { input i = 1; param C = 2; node a : electrical; s : CurrentSource(i) gnd -> a;
           l : Lossy(4, C) a -> gnd; output v = across(l); }",
    );
    let system = system.unwrap_or_else(|| panic!("{shown}"));
    assert!(system.equations.linear);
    let form = system.matrices.numeric.unwrap();
    assert_eq!(form.a.get(0, 0), Some(&-0.125));
    assert_eq!(form.b.get(0, 0), Some(&0.5));
}

#[test]
fn moduli_may_depend_on_inputs_time_and_signals() {
    let found = equations(
        "model M { input u = 1; node a : rotational; node b : translational;
           t : Transformer(1 + u^2) a -> gnd, b -> gnd;
           J : Inertia(2) a -> gnd; m : Mass(3) b -> gnd; }",
    );
    assert_eq!(found, ["der(J.w) = -2*u*J.w*der(u)*(u^2 + 1)/(u^4 + 2*u^2 + 5/3)"]);
    let varied = equations(
        "model M { node a : rotational; node b : translational;
           t : Transformer(2 + sin(time)) a -> gnd, b -> gnd;
           J : Inertia(2) a -> gnd; d : Damper(3) b -> gnd; }",
    );
    assert_eq!(varied, ["der(J.w) = 3*J.w*(cos(time)^2 - 4*sin(time) - 5)/2"]);
}

#[test]
fn a_damper_may_change_with_time() {
    let found = equations(
        "model M { input F = 1; node x : translational; s : ForceSource(F) gnd -> x;
           d : Damper(2 + 1 [kg/m]*abs(across(m))) x -> gnd; m : Mass(1) x -> gnd; }",
    );
    assert_eq!(found, ["der(m.v) = F - m.v*(abs(m.v) + 2)"]);
}

#[test]
fn a_second_rate_of_an_input_is_refused() {
    let (system, diagnostics, shown) = answer(
        "model M { input u = 1; node a : electrical; s : VoltageSource(u^2) a -> gnd; c : Capacitor(2) a -> gnd;
           output y = der(through(c)); }",
    );
    assert!(system.is_none());
    assert!(diagnostics.iter().any(|found| found.code == "LGM0502"), "{shown}");
}

#[test]
fn a_start_that_contradicts_the_mechanism_is_refused() {
    let (_, diagnostics, shown) = answer(
        "model M { param L = 2; node w : rotational; node p[2] vector : translational;
           state q = int(across(w)), start = 0.5;
           J : Inertia(1) w -> gnd, start = 3;
           arm : Transformer([[-L*sin(q)], [L*cos(q)]]) w -> gnd, p -> gnd;
           bob : Mass(1) p -> gnd, start = [1, 1]; }",
    );
    assert!(diagnostics.iter().any(|found| found.code == "LGM0425"), "{shown}");
}

/// Verification compares sums of forces with their terms: if a force vanishes, its round-off is not an error.
#[test]
fn forces_that_vanish_are_verified_too() {
    let joint_without_mass = "model M { param m = 1; param L = 0.5; param b = 0.02;
        node joint : rotational; node p[2] vector : translational;
        state theta = int(across(joint)), start = 2.5;
        arm : Transformer([[L*cos(theta)], [L*sin(theta)]]) joint -> gnd, p -> gnd;
        bob : Mass(m) p -> gnd; weight : ForceSource([0, -9.81*theta]) gnd -> p;
        bearing : RotaryDamper(b) joint -> gnd; }";
    let nothing_but_a_track = "model M { param a = 2; node h, v : translational; state s = int(across(h));
        vertical : Mass(2.7) v -> gnd; track : Transformer(-a*sin(0.7*s/1 [m]) - 0.13) h -> gnd, v -> gnd;
        output force = -through(track.b); }";
    let free_fall = "model M { param a = 2; node h, v : translational; state s = int(across(h));
        vertical : Mass(2.7) v -> gnd; track : Transformer(-a*sin(0.7*s/1 [m]) - 0.13) h -> gnd, v -> gnd;
        weight : ForceSource(-26) gnd -> v; output force = -through(track.b); }";
    for text in [joint_without_mass, nothing_but_a_track, free_fall] {
        equations(text);
    }
}

/// A loop without a solution at any point is not an error of the equations, and does not count as verified.
#[test]
fn a_loop_without_solution_is_not_verified() {
    let (system, diagnostics, shown) = answer(
        "element Square(a) : bond { flow = a*effort^2; }
         model M { one a; m : I(1), start = -3; k : Square(1); a -> m; a -> k; output x = effort(k); }",
    );
    assert!(system.is_some(), "{shown}");
    let codes: Vec<&str> = diagnostics.iter().map(|found| found.code.as_str()).collect();
    assert_eq!(codes, ["LGM0713"], "{shown}");
}
