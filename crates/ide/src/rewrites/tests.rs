//! Each change is applied, and the changed text is compiled.

use crate::tests::changes::{offered, snapshot, with_change};
use crate::trial::is_sound;
use lgm_analysis::poles;
use lgm_source::Span;

/// Returns the text with the change whose title has this beginning.
#[track_caller]
fn made(text: &str, words: &str, title: &str) -> String {
    let text = with_change(text, words, |action| action.title.starts_with(title));
    assert!(is_sound(&snapshot(&text)), "{text}");
    text
}

fn state_names(text: &str) -> Vec<String> {
    let found = snapshot(text);
    let system = found.compilation().system().expect("a system");
    system.states.iter().map(|state| state.name.to_string()).collect()
}

/// Returns the rates of the modes in rad/s, the slowest first.
fn rates(text: &str) -> Vec<f64> {
    let found = snapshot(text);
    let numeric = found
        .compilation()
        .system()
        .and_then(|system| system.matrices.numeric.as_ref())
        .expect("numbers");
    let mut rates: Vec<f64> = poles(&numeric.a)
        .expect("poles")
        .iter()
        .map(|pole| pole.norm())
        .collect();
    rates.sort_by(f64::total_cmp);
    rates
}

const GEARED: &str = "model Geared {
  node a, b : rotational;
  drive : TorqueSource(1) gnd -> a;
  motor : Inertia(0.5 [kg.m^2]) a -> gnd;
  gear : Transformer(3) a -> gnd, b -> gnd;
  /// The driven quantities.
  load : Inertia(2 [kg.m^2]) b -> gnd;
  spring : TorsionSpring(40 [N.m/rad]) b -> gnd;
}
";

#[test]
fn dependent_storage_takes_the_state_of_another() {
    assert_eq!(state_names(GEARED), ["motor.w", "spring.tau"]);
    let text = made(GEARED, "  load", "retain `load` and not `motor`");
    assert_eq!(state_names(&text), ["load.w", "spring.tau"]);
    assert!(
        text.contains("  /// The driven quantities.\n  load : Inertia(2 [kg.m^2]) b -> gnd;\n  motor"),
        "{text}"
    );
    for (before, after) in rates(GEARED).iter().zip(rates(&text)) {
        assert!((before - after).abs() < 1e-12 * before, "{before} {after}");
    }
    // Elements with a state have no offers.
    assert!(offered(GEARED, "  motor").is_empty());
}

#[test]
fn a_compliance_frees_the_storage_and_keeps_the_slow_modes() {
    let text = made(GEARED, "  load", "insert a TorsionSpring between `b` and `load`");
    assert_eq!(
        state_names(&text),
        ["motor.w", "load_joint.tau", "load.w", "spring.tau"]
    );
    let (before, after) = (rates(GEARED), rates(&text));
    for (before, after) in before.iter().zip(&after) {
        assert!((before - after).abs() < 1e-3 * before, "{before} {after}");
    }
    assert!(after[2] > 50.0 * before[1], "{after:?}");
    assert!(
        text.contains("load_loss : RotaryDamper(load_loss_value) b -> load_end;"),
        "{text}"
    );
}

/// Returns true if a change whose title has this beginning is offered after some words.
fn is_offered(text: &str, words: &str, title: &str) -> bool {
    offered(text, words)
        .iter()
        .any(|action| action.title.starts_with(title))
}

#[test]
fn nothing_is_put_in_that_begins_elsewhere_or_makes_a_loop_unstable() {
    // The freed element would start from zero, although it previously started with the others.
    let started = GEARED.replace(
        "motor : Inertia(0.5 [kg.m^2]) a -> gnd",
        "motor : Inertia(0.5 [kg.m^2]) a -> gnd, start = 2",
    );
    assert!(!is_offered(&started, "  load", "insert"));
    assert!(is_offered(&started, "  load", "retain `load` and not `motor`"));
    // A position controlled without damping stays constant; any lag between the motor and the measurement destabilises
    // it.
    let controlled = "model Axis {\n  param Kp = 500 [N.m];\n  node w1, w2 : rotational;\n  state turned = int(across(load));\n  \
                      motor : TorqueSource(-Kp*turned) gnd -> w1;\n  rotor : Inertia(0.01 [kg.m^2]) w1 -> gnd;\n  \
                      gear : Transformer(0.5) w1 -> gnd, w2 -> gnd;\n  load : Inertia(0.1 [kg.m^2]) w2 -> gnd;\n}\n";
    let offers = offered(controlled, "  load :");
    let titles: Vec<&str> = offers.iter().map(|offer| offer.title.as_str()).collect();
    assert_eq!(titles, ["retain `load` and not `rotor`: declare it first"]);
    assert!(greatest_growth(&made(controlled, "  load :", titles[0])) < 1e-9);
    // Only the controller prevents the change.
    let driven = controlled.replace("-Kp*turned", "-Kp");
    assert!(is_offered(&driven, "  load :", "insert a TorsionSpring"));
    // With the change made by hand, the loop is unstable.
    let by_hand = controlled
        .replace("node w1, w2", "node w1, w2, w3")
        .replace("Inertia(0.1 [kg.m^2]) w2", "Inertia(0.1 [kg.m^2]) w3")
        .replace(
            "  load :",
            "  shaft : TorsionSpring(1e6) w2 -> w3;\n  loss : RotaryDamper(100) w2 -> w3;\n  load :",
        );
    assert!(greatest_growth(&by_hand) > 1e-5, "{}", greatest_growth(&by_hand));
}

/// Returns the real part of the rightmost pole.
fn greatest_growth(text: &str) -> f64 {
    let found = snapshot(text);
    let system = found.compilation().system();
    let numeric = system
        .and_then(|system| system.matrices.numeric.as_ref())
        .expect("numbers");
    let poles = poles(&numeric.a).expect("poles");
    poles.iter().map(|pole| pole.re).fold(f64::NEG_INFINITY, f64::max)
}

#[test]
fn the_title_names_what_loses_its_state() {
    // A ring of three capacitors: each follows the other two, and the one that loses its state is not the first.
    let text = "model M {\n  node a, b : electrical;\n  s : CurrentSource(1) gnd -> a;\n  r : Resistor(1) a -> b;\n  \
                ra : Resistor(2) b -> gnd;\n  c1 : Capacitor(1 [mF]) a -> gnd;\n  c2 : Capacitor(2 [mF]) a -> b;\n  \
                c3 : Capacitor(3 [mF]) b -> gnd;\n}\n";
    let retained = offered(text, "  c3");
    let retained = retained.iter().filter(|action| action.title.starts_with("retain"));
    let retained: Vec<&str> = retained.map(|action| action.title.as_str()).collect();
    assert_eq!(retained, ["retain `c3` and not `c2`: declare it first"]);
    assert_eq!(state_names(text), ["c1.v", "c2.v"]);
    assert_eq!(state_names(&made(text, "  c3", retained[0])), ["c3.v", "c1.v"]);
    // Curves of an experiment are kept.
    let plotted = GEARED.replace("  spring", "  experiment { stop = 1 [s]; plot = [motor.w]; }\n  spring");
    assert!(!is_offered(&plotted, "  load", "retain"));
}

#[test]
fn of_a_large_part_of_the_text_nothing_is_tried() {
    let found = snapshot(GEARED);
    assert!(found.actions(Span::new(found.root(), 0, GEARED.len())).is_empty());
}

#[test]
fn capacitors_in_parallel_are_separated_by_a_resistor() {
    let text = "model M {\n  node a : electrical;\n  r : Resistor(1 [kohm]) a -> gnd;\n  c1 : Capacitor(1 [uF]) a -> gnd;\n  \
                c2 : Capacitor(3 [uF]) gnd -> a;\n}\n";
    let freed = made(text, "  c2", "insert a Resistor between `a` and `c2`");
    assert_eq!(state_names(&freed), ["c1.v", "c2.v"]);
    let (before, after) = (rates(text), rates(&freed));
    assert!((before[0] - after[0]).abs() < 0.02 * before[0], "{before:?} {after:?}");
}

#[test]
fn inductors_in_series_are_separated_by_a_resistor_beside_one() {
    let text = "model M {\n  node a, b : electrical;\n  s : VoltageSource(1) a -> gnd;\n  l1 : Inductor(1 [mH]) a -> b;\n  \
                node c : electrical;\n  l2 : Inductor(2 [mH]) b -> c;\n  r : Resistor(10 [ohm]) c -> gnd;\n}\n";
    let freed = made(text, "  l2", "insert a Resistor next to `l2`");
    assert_eq!(state_names(&freed), ["l1.i", "l2.i"]);
    let (before, after) = (rates(text), rates(&freed));
    assert!((before[0] - after[0]).abs() < 0.01 * before[0], "{before:?} {after:?}");
}

#[test]
fn an_input_whose_derivative_is_needed_passes_a_low_pass() {
    let text = "model M {\n  input u [V] = 1;\n  node a, b : electrical;\n  s : VoltageSource(u) a -> gnd;\n  \
                c1 : Capacitor(1 [uF]) a -> b;\n  c2 : Capacitor(1 [uF]) b -> gnd;\n  r : Resistor(1 [kohm]) b -> gnd;\n}\n";
    let fixed = made(text, "  s :", "pass `u` through a low-pass filter");
    assert!(fixed.contains("state u_slow = int((u - u_slow)/u_tau);"), "{fixed}");
    assert!(fixed.contains("VoltageSource(u_slow)"), "{fixed}");
    // A source whose derivative is not needed has no offers.
    let plain = text.replace("c1 : Capacitor(1 [uF])", "c1 : Resistor(1 [kohm])");
    assert!(offered(&plain, "  s :").is_empty());
}

const FLOATING: &str = "model M {\n  node a : electrical;\n  node b, c : electrical;\n  feed : VoltageSource(12) a -> gnd;\n  \
                        wind : Transformer(0.5) a -> gnd, b -> c;\n  load : Resistor(5) b -> c;\n}\n";

#[test]
fn a_part_that_floats_gets_a_datum_or_needs_none() {
    let text = made(FLOATING, "node b", "ground `b`");
    assert!(
        text.contains("  node b, c : electrical;\n  b_datum : VoltageSource(0 [V]) b -> gnd;\n"),
        "{text}"
    );
    let text = made(FLOATING, "node b", "declare it `floating`");
    assert!(text.contains("node b, c : electrical, floating;"), "{text}");
}

#[test]
fn only_the_nodes_that_float_are_declared_so() {
    let text = FLOATING.replace(
        "  node a : electrical;\n  node b, c : electrical;\n",
        "  node a, b, d, c : electrical;\n  r : Resistor(1) a -> d;\n",
    );
    let text = made(&text, "node a, b", "declare it `floating`");
    assert!(
        text.contains("  node a, d : electrical;\n  node b, c : electrical, floating;\n"),
        "{text}"
    );
}

#[test]
fn a_missing_argument_is_given_in_its_unit() {
    for (written, wanted) in [
        ("Spring x -> gnd", "Spring(k = 1 [N/m]) x -> gnd"),
        ("Spring() x -> gnd", "Spring(k = 1 [N/m]) x -> gnd"),
    ] {
        let text = format!("model M {{\n  node x : translational;\n  m : Mass(1) x -> gnd;\n  s : {written};\n}}\n");
        let text = made(&text, "  s : Spri", "give `k`: 1 [N/m]");
        assert!(text.contains(wanted), "{text}");
    }
}

#[test]
fn windows_line_ends_and_crowded_lines_stay_whole() {
    let text = made(&GEARED.replace('\n', "\r\n"), "  load", "insert a TorsionSpring");
    assert!(!text.replace("\r\n", "").contains('\n'), "{text:?}");
    let crowded = GEARED.replace(
        "a -> gnd, b -> gnd;\n  /// The driven quantities.\n  load",
        "a -> gnd, b -> gnd; load",
    );
    let text = made(&crowded, "gnd; load", "insert a TorsionSpring");
    assert_eq!(state_names(&text).len(), 4, "{text}");
}

/// Returns a text with two A-types of a declared domain, and with the given parts to insert between them.
fn own_domain(effort: &str, parts: &str) -> String {
    format!(
        "domain own {{ across p [Pa]; through q [m^3/s]; effort = {effort}; }}\n\
         element Volume(C [m^3/Pa]) : own {{ through = C*der(across); }}\n{parts}\
         model M {{\n  node a : own;\n  v1 : Volume(1e-6) a -> gnd;\n  v2 : Volume(3e-6) a -> gnd;\n}}\n"
    )
}

#[test]
fn what_is_put_in_is_found_by_its_law() {
    // For any form of the law and unit of its parameter: 1/(3e-6 * 1e4) = 33.3 Pa.s/m^3, rounded to the faster side.
    for (law, written) in [
        (
            "element Vent(R [Pa.s/m^3]) : own { across = R*through; }\n",
            "param v2_value = 10 [Pa.s/m^3];",
        ),
        (
            "element Vent(R [kPa.s/m^3]) : own { through*R = across; }\n",
            "param v2_value = 10 [Pa.s/m^3];",
        ),
        (
            "element Vent(G [m^3/s/Pa]) : own { flow = G*effort; }\n",
            "param v2_value = 1e-1 [m^3/s/Pa];",
        ),
        (
            "element Vent(R) : own { through = across/R; }\n",
            "param v2_value = 10;",
        ),
    ] {
        let text = own_domain("across", law);
        let freed = made(&text, "  v2", "insert a Vent between `a` and `v2`");
        assert!(freed.contains(written), "{freed}");
        assert_eq!(state_names(&freed), ["v1.p", "v2.p"]);
        // Through 10 Pa.s/m^3, the two volumes come together at 1/(10*0.75e-6) rad/s.
        let rates = rates(&freed);
        assert!((rates[1] / (1.0 / 7.5e-6) - 1.0).abs() < 1e-9, "{rates:?}");
    }
    // If the domain has no such element, one that adopts the domain of its nodes does.
    let text = own_domain("across", "");
    assert!(made(&text, "  v2", "insert a DType between").contains("param v2_value = 10;"));
    // A user element with the name of a library element has priority.
    let text = "element Resistor(G [1/ohm]) : electrical { through = G*across; }\nmodel M {\n  node a : electrical;\n  \
                c1 : Capacitor(1 [uF]) a -> gnd;\n  c2 : Capacitor(3 [uF]) a -> gnd;\n}\n";
    let freed = made(text, "  c2", "insert a Resistor between");
    assert!(freed.contains("param c2_value = 1e-1 [1/ohm];"), "{freed}");
}

#[test]
fn where_effort_is_through_a_compliance_with_a_loss_is_put_in() {
    let parts = "element Soft(k [Pa.s/m^3]) : own { across = k*through; }\n";
    assert!(!is_offered(&own_domain("through", parts), "  v2", "insert a Soft"));
    let parts = "element Soft(l [Pa.s^2/m^3]) : own { across = l*der(through); }\n\
                 element Brake(r [Pa.s/m^3]) : own { across = r*through; }\n";
    let freed = made(
        &own_domain("through", parts),
        "  v2",
        "insert a Soft between `a` and `v2`",
    );
    assert_eq!(state_names(&freed), ["v1.p", "v2_joint.q", "v2.p"]);
    // The inverse of 2*3e-6*1e4 = 0.06, rounded up to 0.1, and of that times 1e4.
    assert!(freed.contains("param v2_value = 1e-3 [Pa.s^2/m^3];"), "{freed}");
    assert!(freed.contains("param v2_loss_value = 10 [Pa.s/m^3];"), "{freed}");
    assert!(freed.contains("v2_loss : Brake(v2_loss_value) a -> v2_end;"), "{freed}");
}

#[test]
fn without_known_poles_nothing_is_put_in() {
    let stored = |part: &str| {
        format!(
            "import nonlinear;\nmodel M {{\n  node a : electrical;\n  r : {part} a -> gnd;\n  c1 : Capacitor(1 [uF]) a -> gnd;\n  \
             c2 : Capacitor(3 [uF]) a -> gnd;\n}}\n"
        )
    };
    assert!(is_offered(&stored("Resistor(1)"), "  c2", "insert"));
    assert!(!is_offered(&stored("Diode()"), "  c2", "insert"));
    assert!(is_offered(&stored("Diode()"), "  c2", "retain"));
    // The number of states beyond which poles are not computed.
    let many = |count: usize| {
        stored("Resistor(1)").replace(
            "  c1 :",
            &format!(
                "  node n[{count}] : electrical;\n  for i in 1:{count} {{ k[i] : Capacitor(i) n[i] -> gnd; g[i] : Resistor(i) n[i] -> a; }}\n  c1 :"
            ),
        )
    };
    assert!(is_offered(&many(20), "  c2", "insert"));
    assert!(!is_offered(&many(300), "  c2", "insert"));
}

#[test]
fn a_datum_is_the_source_of_the_domain() {
    let text = "domain own { across p [Pa]; through q [m^3/s]; effort = across; }\n\
                element Level(p [Pa]) : own { across = p; }\nelement Vent(R [Pa.s/m^3]) : own { across = R*through; }\n\
                model M {\n  node a : own;\n  node b, c : own;\n  feed : Level(12) a -> gnd;\n  \
                wind : Transformer(0.5) a -> gnd, b -> c;\n  load : Vent(5) b -> c;\n}\n";
    let text = made(text, "node b", "ground `b`");
    assert!(text.contains("b_datum : Level(0 [Pa]) b -> gnd;"), "{text}");
}

#[test]
fn storage_beside_what_it_follows_in_a_loop_or_a_component_is_retained() {
    let pairs = "model Pairs {\n  node x[2] : translational;\n  node y[2] : translational;\n  for i in 1:2 {\n    \
                 m[i] : Mass(i*1 [kg]) x[i] -> gnd;\n    g[i] : Transformer(2) x[i] -> gnd, y[i] -> gnd;\n    \
                 q[i] : Mass(4 [kg]) y[i] -> gnd;\n  }\n}\n";
    assert_eq!(state_names(pairs), ["m[1].v", "m[2].v"]);
    let text = made(pairs, "    q", "retain `q[1]`, `q[2]` and not `m[1]`, `m[2]`");
    assert_eq!(state_names(&text), ["q[1].v", "q[2].v"]);
    let geared = "component Two(n) {\n  port s, l : rotational;\n  j1 : Inertia(1) s -> gnd;\n  g : Transformer(n) s -> gnd, l -> gnd;\n  \
                  j2 : Inertia(2) l -> gnd;\n}\nmodel M {\n  node a, b, c, d : rotational;\n  p : Two(2) (s = a, l = b);\n  \
                  k : TorsionSpring(5) b -> c;\n  q : Two(3) (s = c, l = d);\n}\n";
    let text = made(geared, "  j2", "retain `p.j2`, `q.j2` and not `p.j1`, `q.j1`");
    assert_eq!(state_names(&text), ["p.j2.w", "k.tau", "q.j2.w"]);
}

#[test]
fn storage_is_retained_in_a_line_that_it_shares() {
    let text = "model M {\n  node x : translational;\n  m : Mass(1) x -> gnd; /* c */ n : Mass(2) x -> gnd; d : Damper(1) x -> gnd; // tail\n}\n";
    let moved = made(text, "*/ n", "retain `n` and not `m`");
    assert!(
        moved.contains("  n : Mass(2) x -> gnd;\n  m : Mass(1) x -> gnd; /* c */ d : Damper(1) x -> gnd; // tail\n"),
        "{moved}"
    );
    let text = "model M { node x : translational; m : Mass(1) x -> gnd; n : Mass(2) x -> gnd; }\n";
    let moved = made(text, "gnd; n", "retain `n` and not `m`");
    assert_eq!(
        moved,
        "model M { node x : translational; n : Mass(2) x -> gnd; m : Mass(1) x -> gnd; }\n"
    );
}

#[test]
fn what_is_put_in_is_beyond_what_the_experiment_resolves() {
    // Without a mode, and with a mode of 2 rad/s; the sample interval is 0.4 ms.
    let run = "  experiment { stop = 0.2 [s]; points = 501; }\n  spring";
    let text = made(&GEARED.replace("  spring", run), "  load", "insert a TorsionSpring");
    let rates = rates(&text);
    assert!(rates[2] > 25_000.0, "{rates:?}");
    assert!(
        text.contains("far beyond the modes of the model and the samples of the experiment"),
        "{text}"
    );
}

/// Three inertias after rigid gears; the torque at the teeth jumps with the motor's.
const GEARS: &str = include_str!("../../../../examples/rigid_gears.lgm");

#[test]
fn what_is_put_in_decays_between_the_rows_of_the_experiment() {
    // The sample interval is 0.5 ms: ten time constants at 20000 1/s. A lightly damped pair of poles at this distance would keep ringing.
    for storage in ["  wheels ", "  load "] {
        let text = made(GEARS, storage, "insert a TorsionSpring");
        assert!(
            text.contains("the response gains two more modes, which decay at 20000 1/s or faster,"),
            "{text}"
        );
        let found = snapshot(&text);
        let numeric = found
            .compilation()
            .system()
            .and_then(|system| system.matrices.numeric.as_ref());
        let poles = poles(&numeric.expect("numbers").a).expect("poles");
        let fast: Vec<f64> = poles.iter().map(|pole| -pole.re).filter(|rate| *rate > 100.0).collect();
        assert!(
            fast.len() == 2 && fast.iter().all(|rate| *rate >= 20_000.0),
            "{poles:?}"
        );
    }
}

#[test]
fn the_comment_names_what_no_longer_jumps() {
    let text = made(GEARS, "  load ", "insert a TorsionSpring");
    let words = "  // At the start and at jumps of a source, `tooth_torque` takes up to 0.0005 s to settle where it was at once.\n";
    assert!(text.contains(words), "{text}");
    // Quantities that do not jump with a source are not named.
    let slow = GEARS.replace("  output tooth_torque = through(second_stage.a);\n", "");
    assert!(!made(&slow, "  load ", "insert a TorsionSpring").contains("At the start"));
    // A source without a jumping input has an effect at the start.
    let measured = GEARED.replace("  spring", "  output torque = through(gear.b);\n  spring");
    assert!(made(&measured, "  load", "insert a TorsionSpring").contains("`torque` takes up to"));
}

#[test]
fn the_comment_says_which_way_softens() {
    let capacitors = |resistor: &str| {
        format!(
            "{resistor}model M {{\n  node a : electrical;\n  r : Resistor(1) a -> gnd;\n  c1 : Capacitor(1 [uF]) a -> gnd;\n  \
             c2 : Capacitor(3 [uF]) a -> gnd;\n}}\n"
        )
    };
    let said = |text: &str, place: &str, words: &str| {
        let text = made(text, place, "insert a ");
        assert!(
            text.contains(&format!("; a {words} value makes it noticeable.")),
            "{text}"
        );
    };
    said(GEARED, "  load", "smaller");
    said(&capacitors(""), "  c2", "larger");
    let conductance = "element Resistor(G [1/ohm]) : electrical { through = G*across; }\n";
    said(&capacitors(conductance), "  c2", "smaller");
    let inductors = "model M {\n  node a, b, c : electrical;\n  s : VoltageSource(1) a -> gnd;\n  l1 : Inductor(1 [mH]) a -> b;\n  \
                     l2 : Inductor(2 [mH]) b -> c;\n  r : Resistor(10 [ohm]) c -> gnd;\n}\n";
    said(inductors, "  l2", "smaller");
}

#[test]
fn a_low_pass_is_beyond_the_rows_of_the_experiment() {
    let text = "model M {\n  input u [V] = 1;\n  node a, b : electrical;\n  s : VoltageSource(u) a -> gnd;\n  \
                c1 : Capacitor(1 [F]) a -> b;\n  c2 : Capacitor(1 [F]) b -> gnd;\n  r : Resistor(1 [ohm]) b -> gnd;\n  \
                experiment { stop = 0.1 [s]; points = 101; }\n}\n";
    // The sample interval is 1 ms, although the modes would allow 10 ms.
    assert!(made(text, "  s :", "pass `u` through a low-pass filter").contains("param u_tau = 1e-4 [s];"));
}

#[test]
fn a_coupler_that_fits_is_offered_first() {
    let text = "model M {\n  param K = 0.05 [N.m/A];\n  node e : electrical;\n  node w : rotational;\n  \
                u : VoltageSource(1) e -> gnd;\n  mach : Gyrator(1/K) e -> gnd, w -> gnd;\n  j : Inertia(1 [kg.m^2]) w -> gnd;\n  \
                k : Capacitor(1 [F]) e -> gnd;\n}\n";
    let titles: Vec<String> = offered(text, "Gyrator(1")
        .into_iter()
        .map(|action| action.title)
        .collect();
    assert_eq!(
        titles.first().map(String::as_str),
        Some("write `Transformer(1/K)`"),
        "{titles:?}"
    );
    assert!(made(text, "Gyrator(1", "write `Transformer").contains("mach : Transformer(1/K) e"));
}

#[test]
fn storage_in_components_loops_bond_graphs_and_nonlinear_models_is_retained() {
    let check = |text: &str, words: &str, title: &str, before: &[&str], after: &[&str]| {
        assert_eq!(state_names(text), before);
        assert_eq!(state_names(&made(text, words, title)), after);
    };
    check(
        "import nonlinear;\nmodel M {\n  node a : electrical;\n  r : Diode() a -> gnd;\n  c1 : Capacitor(1 [uF]) a -> gnd;\n  \
         c2 : Capacitor(3 [uF]) a -> gnd;\n}\n",
        "  c2",
        "retain `c2` and not `c1`: declare it first",
        &["c1.v"],
        &["c2.v"],
    );
    check(
        "component Load(J) { port s : rotational; rotor : Inertia(J) s -> gnd; }\nmodel M {\n  node a : rotational;\n  \
         motor : Inertia(1) a -> gnd;\n  load : Load(2) (s = a);\n}\n",
        "  load",
        "retain `load.rotor` and not `motor`: declare it first",
        &["motor.w"],
        &["load.rotor.w"],
    );
    check(
        "model M {\n  node x[2] : electrical;\n  d1 : Capacitor(1) x[1] -> gnd;\n  d2 : Capacitor(1) x[2] -> gnd;\n  \
         for i in 1:2 {\n    c[i] : Capacitor(i) x[i] -> gnd;\n    r[i] : Resistor(1) x[i] -> gnd;\n  }\n}\n",
        "    c[i]",
        "retain `c[1]`, `c[2]` and not `d1`, `d2`: declare it first",
        &["d1.v", "d2.v"],
        &["c[1].v", "c[2].v"],
    );
    check(
        "model M {\n  one A : translational;\n  drive : Se(1);\n  m1 : I(1);\n  m2 : I(2);\n  drive -> A;\n  A -> m1;\n  A -> m2;\n}\n",
        "  m2",
        "retain `m2` and not `m1`: declare it first",
        &["m1.p"],
        &["m2.p"],
    );
}
