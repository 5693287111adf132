//! Common mistakes in models and their messages: units without dots, kinds with shortened names, outputs used as
//! variables.

use crate::support::command;

use command::{ends_with, err, lgm, out};
use lgm::diagnostic::{Diagnostic, Severity};
use lgm::rendering::render;
use lgm::source::{NoFiles, SourceMap};
use std::fs;

/// The diagnostics of a text, without remarks, and their rendered form.
fn found(text: &str) -> (Vec<Diagnostic>, String) {
    let mut map = SourceMap::default();
    let root = map.add("model.lgm", text, None);
    let mut found = lgm::check(&NoFiles, &mut map, root, &lgm::Request::default());
    found.retain(|found| found.severity != Severity::Information);
    let shown = render(&map, &found, false);
    (found, shown)
}

/// Asserts the codes of a text, and parts of the rendered messages.
#[track_caller]
fn says(text: &str, codes: &[&str], words: &[&str]) {
    let (found, shown) = found(text);
    let given: Vec<&str> = found.iter().map(|found| found.code.as_str()).collect();
    assert_eq!(given, codes, "{shown}");
    for word in words {
        assert!(shown.contains(word), "`{word}` is not in\n{shown}");
    }
}

#[test]
fn units_without_dots_get_the_unit_that_is_meant() {
    for (written, meant) in [
        ("Nm/rad", "N.m/rad"),
        ("Nms/rad", "N.m.s/rad"),
        ("Ns/m", "N.s/m"),
        ("kgm^2", "kg.m^2"),
        ("kg.m2", "kg.m^2"),
        ("kgm2", "kg.m^2"),
        ("kNm", "kN.m"),
        ("rad/Nm", "rad/(N.m)"),
        ("W/m2", "W/m^2"),
        ("m3/s", "m^3/s"),
    ] {
        let text = format!("model M {{ param k = 3 [{written}]; output y = k; }}");
        says(&text, &["LGM0204"], &[&format!("write `[{meant}]`")]);
        says(&text.replace(written, meant), &[], &[]);
    }
    says(
        "model M { param k = 3 [Nf]; output y = k; }",
        &["LGM0204"],
        &["write `nF`"],
    );
}

#[test]
fn a_kind_without_its_ending_leads_to_the_source() {
    for (kind, domain) in [
        ("Force", "translational"),
        ("Torque", "rotational"),
        ("Voltage", "electrical"),
        ("Pressure", "fluid"),
    ] {
        let text = format!("model M {{ node x : {domain}; s : {kind}(1) gnd -> x; d : DType(1) x -> gnd; }}");
        says(&text, &["LGM0149"], &[&format!("did you mean `{kind}Source`?")]);
    }
}

#[test]
fn an_output_that_is_read_leads_to_a_signal() {
    let text = "model M { node x : translational; m : Mass(1) x -> gnd; output v = across(m); output w = 2*v; }";
    says(text, &["LGM0110"], &["declare `signal v = ..;`, and `output v = v;`"]);
}

#[test]
fn a_unit_behind_a_state_is_no_index_though_an_element_has_its_name() {
    let text = "model M { node x : translational; m : Mass(1) x -> gnd; state vo [m] = int(across(m)); }";
    says(
        text,
        &["LGM0155"],
        &["write only `vo`: its unit follows from its value"],
    );
}

#[test]
fn a_bond_into_a_source_is_drawn_the_other_way_round() {
    for source in ["Se", "Sf"] {
        let text = format!("model M {{ one A; S : {source}(1); R1 : R(3); A -> S; A -> R1; }}");
        says(&text, &["LGM0315"], &["must point away from it", "`S -> J;`"]);
    }
}

const CONTROLLER: &str = "model Speed {
  param J = 0.01 [kg.m^2];
  input ref [rad/s] = 10;
  node shaft : rotational;
  signal e = ref - across(rotor);
  state ie = int(e);
  motor : TorqueSource(KP*e + KI*ie) gnd -> shaft;
  rotor : Inertia(J) shaft -> gnd;
  output w = across(rotor);
}";

#[test]
fn a_controller_without_units_is_offered_that_of_its_integral_gain() {
    let text = "model Speed { input ref [m/s] = 10; node x : translational; m : Mass(2) x -> gnd;
  signal e = ref - across(m); state ie = int(e); f : ForceSource(KP*e + 7*ie) gnd -> x; output v = across(m); }";
    says(&text.replace("KP", "0.5 [N.s/m]"), &["LGM0209"], &["`7 [N/m]`"]);
    let (_, shown) = found(&text.replace("KP", "0.5"));
    assert!(shown.contains("`7 [1/s]`"), "{shown}");
}

#[test]
fn a_torque_is_no_energy() {
    let text = CONTROLLER
        .replace("KP", "0.5 [N.m.s/rad]")
        .replace("KI", "7 [N.m.s/rad]");
    let (_, shown) = found(&text);
    assert!(shown.contains("[N.m]") && !shown.contains("[J]"), "{shown}");
    let (equations, _) = ran(
        "model T { node a : rotational; J : Inertia(1) a -> gnd; k : TorsionSpring(2) a -> gnd; output t = -through(k); }",
        &["equations", "m.lgm"],
        0,
    );
    assert!(equations.lines().any(|line| line.trim() == "t N.m"), "{equations}");
}

/// `fx[1]` with an incompatible unit gave an error, `write fx[1]`; so did one within a sum.
#[test]
fn an_entry_of_a_signal_is_shown_beside_a_unit_that_does_not_fit() {
    let text = "model A {
  node p[2] vector : translational;
  state r = int(across(p)), start = [1, 2];
  stars : Mass(diag([1, 2])) p -> gnd;
  for i in 1:2 { signal fx[i] = -i*r[i]; }
  pull : ForceSource([FIRST, fx[2]]) gnd -> p;
  output v = across(p);
}";
    for first in ["fx[1]", "sum(i in 1:2, fx[i])", "list(i in 1:2, fx[i])[2]"] {
        says(
            &text.replace("FIRST", first),
            &["LGM0209", "LGM0209"],
            &["`F` is given in [m], but is declared in [N]"],
        );
    }
}

#[test]
fn the_help_for_a_storage_whose_value_changes_names_the_port_that_is_missing() {
    let text = "model G { node e : electrical; input w = 1; r : Resistor(1) e -> gnd; C : Capacitor(1 + w) e -> gnd; }";
    says(text, &["LGM0410"], &["with a second port for the change", "LGM0413"]);
}

#[test]
fn heat_capacities_of_absolute_temperatures_need_a_start() {
    let text = "model R { input To [K] = 293; node a, o : thermal; w : TemperatureSource(To) o -> gnd; r : ThermalResistor(0.1) o -> a;
  c : ThermalCapacitor(5000) a -> gnd; output T = across(c); }";
    says(
        text,
        &["LGM0451"],
        &["the temperature of `c` starts at 0 K", "start = 293"],
    );
    says(&text.replace("a -> gnd; o", "a -> gnd, start = 280; o"), &[], &[]);
    // Temperatures above those of the surroundings start at 0, and storage at a source starts at the source's value.
    says(&text.replace("293", "20"), &[], &[]);
    let (_, shown) = found(&text.replace("a -> gnd; o", "o -> gnd; d : HeatSource(1) gnd -> a; o"));
    assert!(!shown.contains("LGM0451"), "{shown}");
}

#[test]
fn gears_that_lock_each_other_are_named() {
    let text = "model E { param r = 1; node a, b, c : rotational; J : Inertia(1) a -> gnd; K : Inertia(2) c -> gnd;
  g1 : Transformer(2) a -> gnd, b -> gnd; g2 : Transformer(3) b -> gnd, c -> gnd; g3 : Transformer(r) c -> gnd, a -> gnd;
  h : Transformer(5) c -> gnd, d -> gnd; node d : rotational; L : Inertia(1) d -> gnd;
  m : TorqueSource(1) gnd -> a; output w = across(J); }";
    says(text, &["LGM0323"], &["`g1`, `g2` and `g3` lock each other"]);
    // Around this ring the ratios multiply to 1, so it can turn.
    says(&text.replace("r = 1;", "r = 1/6;"), &["LGM0322"], &[]);
}

/// Runs a command on a text, and returns its standard output and standard error.
#[track_caller]
fn ran(text: &str, words: &[&str], code: i32) -> (String, String) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("m.lgm"), text).unwrap();
    let run = lgm(folder.path(), words);
    ends_with(&run, code);
    (out(&run), err(&run))
}

const HARD: &str = "element Hard(k) : translational { through = k*int(across)^3; }
model H { node x : translational; m : Mass(1) x -> gnd, start = 1; h : Hard(2) x -> gnd; f : ForceSource(sin(time)) gnd -> x; output v = across(m); }";

#[test]
fn modes_of_what_is_not_linear_offer_to_linearize() {
    let (_, said) = ran(HARD, &["modes", "m.lgm"], 1);
    assert!(said.contains("LGM0930") && said.contains("use `--linearize`"), "{said}");
}

#[test]
fn a_picture_comes_without_rows() {
    let (rows, _) = ran(HARD, &["simulate", "m.lgm", "--stop", "1", "--plot", "a.svg"], 0);
    assert!(rows.is_empty(), "{rows}");
}

/// Five time constants of 2 s, like `lgm simulate` without a stop time.
#[test]
fn an_emitted_program_runs_as_long_as_simulate_does() {
    let text = "model L { node x : translational; m : Mass(2) x -> gnd; d : Damper(1) x -> gnd; f : ForceSource(1) gnd -> x; }";
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("m.lgm"), text).unwrap();
    let run = lgm(folder.path(), &["simulate", "m.lgm"]);
    ends_with(&run, 0);
    assert!(out(&run).lines().last().unwrap().starts_with("10,"), "{}", out(&run));
    let emitted = lgm(folder.path(), &["emit", "m.lgm", "--target", "python", "-o", "code"]);
    ends_with(&emitted, 0);
    assert!(err(&emitted).contains("LGM0936"), "{}", err(&emitted));
    let page = fs::read_to_string(folder.path().join("code/README.md")).unwrap();
    assert!(page.contains("`python l.py > run.csv`"), "{page}");
}

#[test]
fn what_depends_on_time_is_left_out_of_matrices_alone() {
    let text = HARD.replace("h : Hard(2)", "h : Spring(2)");
    let (_, said) = ran(&text, &["simulate", "m.lgm", "--stop", "1", "-o", "a.csv"], 0);
    assert!(!said.contains("LGM0504"), "{said}");
    let (_, said) = ran(&text, &["equations", "m.lgm", "--numeric"], 0);
    assert!(said.contains("LGM0504"), "{said}");
}

/// A model with an instance of a signal component.
fn signal(instance: &str) -> String {
    format!(
        "import signals;\nmodel M {{ param a = 3; param none = 0; param fc = 50 [Hz]; input x = 1; c : {instance}; output y = c.y; }}"
    )
}

#[test]
fn wrong_arguments_of_library_components_are_refused_at_the_instance() {
    for (instance, code, words) in [
        (
            "LowPass(2.5, 3) (u = x)",
            "LGM0401",
            "`order` of `LowPass` must be a whole number from 1",
        ),
        ("HighPass(2.5, 3) (u = x)", "LGM0401", "this is 2.5"),
        ("LowPass(-1, 3) (u = x)", "LGM0401", "this is -1"),
        ("PadeDelay(0, 3) (u = x)", "LGM0401", "this is 0"),
        (
            "RateLimiter(-1) (u = x)",
            "LGM0414",
            "`rising` of `RateLimiter` must not be negative",
        ),
        ("RateLimiter(1, -2*a) (u = x)", "LGM0414", "this is -6"),
        (
            "Limiter(high = -2, low = 2) (u = x)",
            "LGM0414",
            "`low` of `c` is above `high`",
        ),
        ("Limiter(-a) (u = x)", "LGM0414", "`high` is -3"),
        ("DeadZone(1, a) (u = x)", "LGM0414", "`low` is 3"),
        (
            "PI(0, 3, high = 9) (setpoint = x, measured = 0)",
            "LGM0414",
            "because `Kp` is 0",
        ),
        (
            "PI(none, 3, high = 9) (setpoint = x, measured = 0)",
            "LGM0414",
            "give the time",
        ),
        (
            "PID(2, 0, 1, 1, high = 9) (setpoint = x, measured = 0)",
            "LGM0414",
            "because `Ki` is 0",
        ),
    ] {
        let (found, shown) = found(&signal(instance));
        let errors: Vec<&str> = found
            .iter()
            .filter(|found| found.is_error())
            .map(|found| found.code.as_str())
            .collect();
        assert_eq!(errors, [code], "{shown}");
        assert!(shown.contains(words) && !shown.contains("stdlib"), "{shown}");
    }
    for instance in [
        "LowPass(6/2, 3) (u = x)",
        "Limiter(x, 2) (u = x)",
        "PI(2, none, high = 2*x) (setpoint = x, measured = 0)",
        "PI(0, 3, high = 9, Tt = 1) (setpoint = x, measured = 0)",
    ] {
        let (found, shown) = found(&signal(instance));
        assert!(!found.iter().any(Diagnostic::is_error), "{shown}");
    }
    says(
        "model M { node n : electrical; r : Resistor(1) n -> gnd; s : CurrentSource(trapezoid(0, 0.1, 0, 0.2)) gnd -> n; }",
        &["LGM0414"],
        &["the rise time must be longer than 0 s"],
    );
}

/// A negative force of friction would drive, and a negative restitution passes through the wall.
#[test]
fn wrong_arguments_of_library_elements_are_refused_at_the_instance() {
    for (instance, words) in [
        (
            "DryFriction(-1 [N]) x -> gnd",
            "`Fc` of `DryFriction` must not be negative",
        ),
        (
            "DryFriction(F, -F) x -> gnd",
            "`Fs` of `DryFriction` must not be negative",
        ),
        ("StribeckFriction(-F) x -> gnd", "this is -2"),
        ("Wall(1 [m], 1.5) x -> gnd", "`e` of `Wall` must be from 0 to 1"),
        ("Wall(1 [m], -0.5) x -> gnd", "this is -0.5"),
        ("Backlash(-1 [mm]) x -> gnd", "`gap` of `Backlash` must not be negative"),
        ("RotaryDryFriction(-1) w -> gnd", "`Tc`"),
        ("BearingFriction(-1) w -> gnd", "`tau_c`"),
        ("RotaryWall(1, 2) w -> gnd", "`e` of `RotaryWall`"),
        ("RotaryBacklash(-1) w -> gnd", "`gap` of `RotaryBacklash`"),
        ("Clutch(-2) w -> gnd", "`capacity` of `Clutch` must not be negative"),
        ("Brake(-2) w -> gnd", "`capacity` of `Brake` must not be negative"),
        ("IdealDiode(-0.7) n -> gnd", "`Von` of `IdealDiode`"),
        ("CheckValve(-1) f -> gnd", "`Popen` of `CheckValve`"),
        ("ReliefValve(-1) f -> gnd", "`Pset` of `ReliefValve`"),
    ] {
        let text = |instance: &str| {
            format!(
                "import switching; import drives; model M {{ param F = 2 [N]; node x : translational; node w : rotational; \
                 node n : electrical; node f : fluid; m : Mass(1) x -> gnd; j : Inertia(1) w -> gnd; \
                 r : Resistor(1) n -> gnd; p : FluidResistor(1) f -> gnd; e : {instance}; output v = across(m); }}"
            )
        };
        let (found, shown) = found(&text(instance));
        let errors: Vec<&str> = found
            .iter()
            .filter(|found| found.is_error())
            .map(|found| found.code.as_str())
            .collect();
        assert_eq!(errors, ["LGM0414"], "{shown}");
        assert!(shown.contains(words) && !shown.contains("stdlib"), "{shown}");
    }
}

#[test]
fn hertz_for_an_angular_frequency_is_warned_of() {
    for (instance, help) in [
        ("LowPass(2, 10 [Hz]) (u = x)", "write `2*pi*10 [rad/s]`"),
        ("Notch(1 [kHz], 5) (u = x)", "write `2*pi*1 [kHz]`"),
        ("Notch(fc, 5) (u = x)", "write `2*pi*fc`"),
    ] {
        let (found, shown) = found(&signal(instance));
        let warned = found
            .iter()
            .find(|found| found.code == "LGM0212")
            .unwrap_or_else(|| panic!("{shown}"));
        assert!(shown.contains(help) && warned.fixes.len() == 1, "{shown}");
    }
    for instance in [
        "Notch(2*pi*fc, 5) (u = x)",
        "Notch(2*pi*10 [Hz], 5) (u = x)",
        "Notch(600 [rpm], 5) (u = x)",
        "Notch(a, 5) (u = x)",
    ] {
        let (found, shown) = found(&signal(instance));
        assert!(!found.iter().any(|found| found.code == "LGM0212"), "{shown}");
    }
}

const CART: &str = "model U { param m = 2 [kg]; param k = 3 [N/m]; input F [N] = 1; node x : translational;
  f : ForceSource(F) gnd -> x; M : Mass(m) x -> gnd; s : Spring(k) x -> gnd; output y = int(across(M)) [mm]; output z = across(M) [m/s]; }";

/// Brackets after a scalar are a unit, even if the model declares the symbol. After a vector they are an index.
#[test]
fn a_unit_after_a_scalar_is_no_index() {
    says(&CART.replace("[mm]", "[m]"), &[], &[]);
    let text = CART
        .replace("[mm]", "[m]")
        .replace("[m/s]", "[m/h]")
        .replace("s : Spring", "h : Spring");
    let (rows, _) = ran(&text, &["simulate", "m.lgm", "--stop", "1", "--points", "2"], 0);
    let plain = CART
        .replace("param m =", "param mass =")
        .replace("Mass(m)", "Mass(mass)");
    let plain = plain.replace("[mm]", "[m]").replace("[m/s]", "[m/h]");
    let (expected, _) = ran(&plain, &["simulate", "m.lgm", "--stop", "1", "--points", "2"], 0);
    let numbers = |rows: &str| {
        rows.lines()
            .nth(2)
            .unwrap()
            .split(',')
            .take(3)
            .map(str::to_string)
            .collect::<Vec<_>>()
    };
    assert_eq!(numbers(&rows), numbers(&expected));
    says(
        "model V { param m = 2; node x[2] vector : translational; f : ForceSource([m, 3]) gnd -> x; M : Mass(1) x -> gnd; output y = across(M) [m]; }",
        &["LGM0402"],
        &[
            "`[m]` is an index here, because the model declares `m`",
            "to use the unit, rename `m`",
        ],
    );
    says(
        "model V { const m = 2; node x[2] vector : translational; f : ForceSource([m, 3]) gnd -> x; M : Mass(1) x -> gnd; output y = across(M)[m]; }",
        &[],
        &[],
    );
}

#[test]
fn units_of_other_countries_and_of_periods() {
    says("model M { param k = 2 [ozf.in/A]; output y = k; }", &[], &[]);
    says(
        "model M { node a : electrical; node s : rotational; m : Gyrator(2 [oz.in/A]) s -> gnd, a -> gnd; b : RotaryDamper(1) s -> gnd; v : VoltageSource(1) a -> gnd; }",
        &["LGM0201"],
        &["`oz` is a unit of mass; in a force or a torque, write `ozf`"],
    );
    says(
        &signal("SampleHold(1000 [Hz]) (u = x)").replace("param a = 3; param none = 0; param fc = 50 [Hz]; ", ""),
        &["LGM0201"],
        &["write `1/(1000 [Hz])`"],
    );
    says(
        "model M { param q = 3 [mN.m/(1000 rpm)]; output y = q; }",
        &["LGM0026"],
        &["a unit contains no numbers except `1`"],
    );
    says(
        "model M { param q = 3 [N m]; output y = q; }",
        &["LGM0024"],
        &["write `N.m`"],
    );
}

#[test]
fn habits_of_other_languages_lead_to_this_one() {
    let circuit = |statement: &str| {
        format!("model M {{ node b : electrical; c : Capacitor(1) b -> gnd; r : Resistor(1) b -> gnd; {statement} }}")
    };
    for (text, code, help) in [
        (
            "# text\nmodel M { output y = 1; }".to_string(),
            "LGM0005",
            "write `// text` for a comment",
        ),
        (
            "model M { input u = 1; output y = u > 0 ? 1 : 0; }".to_string(),
            "LGM0005",
            "write `if u > 0 then 1 else 0`",
        ),
        (
            circuit("d : Capacitor(1,5 [uF]) b -> gnd;"),
            "LGM0132",
            "write `1.5 [uF]`",
        ),
        (circuit("d : Capacitor(1 [uF]) b -> 0;"), "LGM0046", "write `gnd`"),
        (
            circuit("Capacitor(1 [uF]) b -> gnd;"),
            "LGM0046",
            "`c1 : Capacitor(..) b -> gnd;`",
        ),
        (circuit("output y = voltage(c);"), "LGM0145", "write `across(c)`"),
        (circuit("output y = current(c);"), "LGM0145", "write `through(c)`"),
        (
            "import signals; model M { input u = 1; c : Lag(2) (u); output y = c.y; }".to_string(),
            "LGM0046",
            "`(u = u)`",
        ),
        (
            "import signals; model M { input u = 1; c : Lag(2) (u = u); output y = c.out; }".to_string(),
            "LGM0111",
            "its output is `y`",
        ),
        (
            "import signals; model M { input u = 1; c : Lag(2) (u = u); output y = c; }".to_string(),
            "LGM0113",
            "write its output: `c.y`",
        ),
    ] {
        says(&text, &[code], &[help]);
    }
}

/// The help gives the value in the unit of the model, and not the same number.
#[test]
fn a_number_without_its_unit_on_the_command_line_is_converted() {
    let folder = tempfile::tempdir().unwrap();
    let text = "import signals;\nmodel M { input u = 1; sh : SampleHold(1 [ms]) (u = u); output y = sh.y; }";
    fs::write(folder.path().join("m.lgm"), text).unwrap();
    let run = lgm(
        folder.path(),
        &["simulate", "m.lgm", "--stop", "1", "--set", "sh.T=0.05"],
    );
    ends_with(&run, 0);
    assert!(
        err(&run).contains("write `50 [ms]` or `0.05 [s]` for this value"),
        "{}",
        err(&run)
    );
}

#[test]
fn a_sweep_of_modes_is_drawn_over_its_parameter() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("m.lgm"), CART).unwrap();
    let run = lgm(
        folder.path(),
        &["modes", "m.lgm", "--sweep", "k=1:9:5", "--plot", "a.svg"],
    );
    ends_with(&run, 0);
    let drawn = fs::read_to_string(folder.path().join("a.svg")).unwrap();
    assert!(
        drawn.contains("mode 1") && drawn.contains("natural frequencies over k"),
        "{drawn}"
    );
    let run = lgm(
        folder.path(),
        &[
            "modes", "m.lgm", "--sweep", "k=1:9:2", "--sweep", "m=1:2:2", "--plot", "b.svg",
        ],
    );
    ends_with(&run, 2);
    assert!(err(&run).contains("2 parameters vary"), "{}", err(&run));
    ends_with(&lgm(folder.path(), &["modes", "m.lgm", "--plot", "b.svg"]), 2);
    assert!(!folder.path().join("b.svg").exists());
}
