//! The completions at a mark.

use crate::{PathKind, Snapshot};
use lgm_source::NoFiles;
use lgm_source::cancellation::Cancellation;

/// Returns the completions at the mark `|` of a text.
fn offered(text: &str) -> Vec<String> {
    let at = text.find('|').expect("a mark");
    let text = text.replacen('|', "", 1);
    let found = Snapshot::new(&NoFiles, None, "model.lgm", &text, Cancellation::default());
    found
        .completions(at as u32)
        .list
        .into_iter()
        .map(|entry| entry.label)
        .collect()
}

/// Returns the completions at the mark of a line in a model with two domains.
fn in_model(line: &str) -> Vec<String> {
    offered(&format!(
        "domain d {{ across a [V]; through b [A]; effort = across; }}\n\
         component Cell(R) {{ port p, n : electrical; r : Resistor(R) p -> n; }}\n\
         model M {{\n  node x, y : translational;\n  node e : electrical;\n  param k = 2 [N/m];\n  input F [N] = 1;\n  \
         m : Mass(1) x -> gnd;\n  {line}\n  s : Spring(k) x -> y;\n}}\n"
    ))
}

#[track_caller]
fn holds(found: &[String], wanted: &[&str], unwanted: &[&str]) {
    for word in wanted {
        assert!(found.iter().any(|label| label == word), "no {word} in {found:?}");
    }
    for word in unwanted {
        assert!(found.iter().all(|label| label != word), "{word} in {found:?}");
    }
}

#[test]
fn branches_end_at_nodes_of_their_domain() {
    holds(&in_model("d : Damper(1) |"), &["x", "y", "gnd"], &["e", "k", "m"]);
    holds(&in_model("d : Damper(1) |"), &["x -> gnd", "y -> gnd"], &["e -> gnd"]);
    holds(
        &in_model("r : Resistor(1) e -> |"),
        &["e", "gnd"],
        &["x", "y", "e -> gnd"],
    );
    holds(&in_model("t : Transformer(1) |"), &["e", "x", "gnd"], &[]);
    assert!(in_model("d : Damper(1) x |").is_empty(), "an arrow follows");
    holds(&in_model("d : Damper(1) x -> |"), &["y", "gnd"], &["e"]);
}

#[test]
fn a_value_does_not_follow_from_itself() {
    holds(&in_model("output twice = 1; output v = |"), &["twice", "k"], &["v"]);
    holds(&in_model("signal w = |"), &["k"], &["w"]);
}

#[test]
fn a_comma_is_followed_by_what_it_can_be() {
    holds(
        &in_model("node z : translational, |"),
        &["floating"],
        &["x", "electrical"],
    );
    holds(&in_model("d : Mass(1) x -> gnd, |"), &["start", "nominal"], &["k", "F"]);
    holds(&in_model("state z = int(F), |"), &["start", "nominal"], &["x", "k"]);
    assert!(in_model("node z, |").is_empty());
}

#[test]
fn ports_are_bound_to_nodes() {
    holds(&in_model("c : Cell(2) (|"), &["p =", "n ="], &["x", "R ="]);
    holds(&in_model("c : Cell(2) (p = e, |"), &["n ="], &["x"]);
    holds(&in_model("c : Cell(2) (p = |"), &["e", "gnd"], &["k", "p ="]);
    holds(&in_model("c : Cell(|"), &["R =", "k"], &["p ="]);
}

#[test]
fn parameters_are_made_of_parameters_and_measures_of_parts() {
    holds(&in_model("param q = |"), &["k", "pi", "sqrt"], &["F", "x", "m", "time"]);
    holds(&in_model("signal q = |"), &["k", "F", "time", "across"], &["x"]);
    holds(&in_model("output q = across(|"), &["x", "m", "s"], &["k", "F"]);
    assert!(in_model("param |").is_empty());
}

#[test]
fn bodies_without_statements_have_entries_of_their_own() {
    let element = offered("element E(k [N/m]) : translational { | }\n");
    holds(
        &element,
        &["across", "through", "der", "port"],
        &["node", "param", "experiment"],
    );
    let law = offered("element E(k [N/m]) : translational { der(through) = | }\n");
    holds(&law, &["k", "across", "through", "sin"], &["node"]);
    let domain = offered("domain d { | }\n");
    holds(&domain, &["across", "through", "effort"], &["node", "der"]);
    assert_eq!(
        offered("domain d { across v [V]; through i [A]; effort = | }\n"),
        ["across", "through"]
    );
    let modal = offered("modal B(L [m]) : translational {\n  mode i;\n  |\n}\n");
    holds(&modal, &["mass", "stiffness", "shape"], &["node", "across"]);
    let law = offered("modal B(L [m]) : translational {\n  mode i;\n  mass = |\n}\n");
    holds(&law, &["L", "pi", "sqrt"], &["node"]);
}

#[test]
fn components_and_models_have_statements_of_their_own() {
    holds(
        &offered("component C(k) {\n  |\n}\n"),
        &["port", "node", "signal"],
        &["input", "experiment"],
    );
    holds(
        &offered("model M {\n  |\n}\n"),
        &["input", "experiment", "node"],
        &["port"],
    );
}

/// Returns a text without its mark, and the location of the mark.
fn marked(text: &str) -> (Snapshot, u32) {
    let at = text.find('|').expect("a mark");
    let text = text.replacen('|', "", 1);
    let found = Snapshot::new(&NoFiles, None, "model.lgm", &text, Cancellation::default());
    (found, at as u32)
}

#[test]
fn the_path_in_quotes_is_known_up_to_the_place() {
    let found = |text: &str| {
        let (found, at) = marked(text);
        let (span, kind) = found.path_at(at)?;
        Some((found.map().slice(span).to_string(), kind))
    };
    let import = |path: &str| Some((path.to_string(), PathKind::Import));
    assert_eq!(found("import \"parts/ce|\n"), import("parts/ce"));
    assert_eq!(found("  import \"|\";\n"), import(""));
    assert_eq!(found("import \"pa|rts/cell.lgm\";\n"), import("pa"));
    assert_eq!(found("import \"a.lgm\";|\n"), None);
    assert_eq!(found("import non|\n"), None);
    assert_eq!(found("// import \"a|\n"), None);
    let table = Some(("runs/m".to_string(), PathKind::Table));
    assert_eq!(
        found("model M {\n  b : Cantilever(modes = table(\"runs/m|\"), at = [1]) a -> gnd;\n}\n"),
        table
    );
    assert_eq!(found("model M {\n  b : Cantilever(modes = table(\"runs/m|\n}\n"), table);
    // Other strings have no known contents.
    assert!(offered("model M {\n  b : Cantilever(modes = \"a|\") a -> gnd;\n}\n").is_empty());
}

#[test]
fn in_comments_nothing_is_offered() {
    for comment in [
        "/* d : | */",
        "/*\n  d :\n |\n*/",
        "// d : |",
        "/// d : |",
        "/* d : |\n",
    ] {
        assert!(in_model(comment).is_empty(), "{comment}");
    }
    // After a comment, and with `/*` in a string.
    holds(&in_model("/* node */ d : |"), &["Mass"], &[]);
    holds(&in_model("/* node */|"), &["node"], &[]);
    assert!(!offered("import \"a/*b.lgm\";\nmodel M {\n  |\n}\n").is_empty());
}

#[test]
fn units_follow_the_signs_between_units_and_stand_behind_lists() {
    for line in [
        "param q = 2 [N.|",
        "param q [N/|",
        "param q = [1, 2] [|",
        "d : Damper(1 [N*|",
    ] {
        holds(&in_model(line), &["kg", "s"], &["x"]);
    }
    for line in ["param q = 2 [m^|", "param q = 2.|", "param q = 2 [m |"] {
        assert!(in_model(line).is_empty(), "{line}");
    }
    // An index after an index is not an unit.
    holds(&in_model("signal q = across(n[1][|"), &["k"], &["kg"]);
}

#[test]
fn what_is_given_already_is_not_offered_again() {
    let of = |call: &str| {
        offered(&format!(
            "component C(R, L, const N = 2) {{ port p, n : electrical; }}\nmodel M {{\n  node e : electrical;\n  c : {call};\n}}\n"
        ))
    };
    holds(&of("C(|"), &["R =", "L =", "N ="], &[]);
    holds(&of("C(L = 1, |"), &["R =", "N ="], &["L ="]);
    holds(&of("C(|, L = 1)"), &["R =", "N ="], &["L ="]);
    holds(&of("C(2, |"), &["L =", "N ="], &["R ="]);
    holds(&of("C(min(2, 3), |"), &["L =", "N ="], &["R ="]);
    holds(&of("C(1, 2) (|, n = e)"), &["p ="], &["n ="]);
    let settings = offered("model M { experiment { stop = 1 [s]; |; points = 5; } }\n");
    holds(&settings, &["start", "plot"], &["stop", "points"]);
    holds(
        &in_model("d : Mass(1) x -> gnd, start = 1, |"),
        &["nominal", "gnd"],
        &["start"],
    );
}

#[test]
fn modal_blocks_take_arguments_of_their_own_and_bodies_their_coordinates() {
    let call = offered("import distributed;\nmodel M {\n  b : Cantilever(modes = 3, |, at = [1]) a -> gnd;\n}\n");
    holds(&call, &["L =", "over =", "residual ="], &["modes =", "at ="]);
    let body = |line: &str| {
        offered(&format!(
            "modal B(L [m]) : translational {{\n  mode i;\n  wave = i*pi/L;\n  {line}\n}}\n"
        ))
    };
    holds(
        &body("shape(x) = sin(|"),
        &["x", "wave", "L", "i", "pi"],
        &["across", "time", "shape"],
    );
    holds(&body("compliance(x, y) = |"), &["x", "y", "wave"], &[]);
    holds(&body("mass = |"), &["wave", "L"], &["x", "through"]);
}

#[test]
fn an_experiment_has_methods_and_plots_outputs_states_and_inputs() {
    let experiment = |text: &str| {
        offered(&format!(
            "model M {{\n  node x : translational;\n  param k = 2;\n  input F [N] = 1;\n  f : ForceSource(F) gnd -> x;\n  \
             m : Mass(k) x -> gnd;\n  output v = across(m);\n  experiment {{ stop = 1 [s]; {text} }}\n}}\n"
        ))
    };
    assert_eq!(experiment("method = |"), lgm_elaborate::EXPERIMENT_METHODS);
    holds(&experiment("plot = [|];"), &["v", "m.v", "F"], &["k", "x", "stop"]);
    // An unclosed list.
    holds(&experiment("plot = [v, |"), &["v", "m.v", "F"], &["k"]);
    assert_eq!(experiment("plot = [v, m.|"), ["v"]);
    let cells = "component Cell(R) { port p : electrical; r : Resistor(R) p -> gnd; c : Capacitor(R) p -> gnd; }\n\
                 model M {\n  node a[2] : electrical;\n  for i in 1:2 { cell[i] : Cell(i) (p = a[i]); }\n  \
                 experiment { plot = [cell[2].|] }\n}\n";
    assert_eq!(offered(cells), ["c.v"]);
}

#[test]
fn elements_of_bond_graphs_have_a_domain_that_no_text_declares() {
    holds(&offered("element R2(r) : |"), &["bond", "electrical"], &[]);
    holds(&in_model("node z : |"), &["electrical"], &["bond"]);
}

#[test]
fn functions_and_ports_have_signatures() {
    let signature = |line: &str| {
        let (found, at) = marked(&format!(
            "component Cell(R) {{ port p, n : electrical; r : Resistor(R) p -> n; }}\nmodel M {{\n  node e : electrical;\n  {line}\n}}\n"
        ));
        let found = found.signature(at)?;
        let active = found
            .active
            .map(|active| found.label[found.formals[active].clone()].to_string());
        Some((found.label, active.unwrap_or_default()))
    };
    let is = |label: &str, active: &str| Some((label.to_string(), active.to_string()));
    assert_eq!(signature("signal q = atan2(1, |"), is("atan2(y, x)", "x"));
    assert_eq!(signature("signal q = max(1, 2, |"), is("max(a, b)", "b"));
    assert_eq!(signature("c : Cell(sqrt(|"), is("sqrt(x)", "x"));
    assert_eq!(signature("c : Cell((1 + |"), is("Cell(R)", "R"));
    assert_eq!(
        signature("c : Cell(1) (|"),
        is("Cell(..) (p : electrical, n : electrical)", "p : electrical")
    );
    assert_eq!(
        signature("c : Cell(1) (n = e, p = |"),
        is("Cell(..) (p : electrical, n : electrical)", "p : electrical")
    );
    assert_eq!(signature("// c : Cell(|"), None);
}

#[test]
fn what_never_compiles_at_a_place_is_not_offered() {
    // Ends of branches: neither junctions nor components, but nodes inside components; no vectors with scalars.
    let ends = |line: &str| {
        in_model(&format!(
            "node q[2] vector : translational;\n  node v[2] : electrical;\n  one J : translational;\n  cell : Cell(2) (p = e, n = gnd);\n  {line}"
        ))
    };
    holds(
        &ends("d : Damper(1) x -> |"),
        &["x", "y", "gnd"],
        &["q", "J", "cell", "e"],
    );
    holds(&ends("d : Damper(1) q -> |"), &["gnd"], &["x", "y"]);
    holds(&ends("d : Resistor(1) e -> |"), &["cell.n", "v", "gnd"], &["cell", "x"]);
    // Ports are bound to nodes of their domain.
    holds(&ends("c : Cell(2) (p = |"), &["e", "v", "gnd"], &["x", "y", "q", "J"]);
    // A named argument is a value.
    holds(&in_model("d : Damper(b = |"), &["k"], &["b =", "b"]);
    holds(&in_model("param bb = |"), &["k"], &["bb"]);
    holds(&in_model("const bb = |"), &["pi"], &["bb", "k", "F", "m"]);
    holds(&in_model("if |"), &[], &["k", "F", "m", "time"]);
    holds(&ends("r : Resistor(1) v[|"), &[], &["k", "F", "m", "time"]);
    holds(&in_model("output z = energy(|"), &["m"], &["x", "y", "e"]);
    holds(&in_model("output z = power(|"), &["m"], &["x", "y", "e"]);
    holds(&in_model("output z = m.|"), &[], &["m"]);
    holds(
        &in_model("t : Transformer(2) x -> gnd, y -> gnd;\n  output z = through(t.|"),
        &["a", "b"],
        &["r"],
    );
    holds(
        &in_model("experiment { stop = 5 [|"),
        &["s", "min", "ms"],
        &["kg", "N/m", "V"],
    );
    assert!(offered("component X(|").is_empty());
    assert!(offered("component X(const |").is_empty());
    holds(&offered("component X(k [|"), &["kg"], &[]);
    holds(&offered("component X(k = |"), &["sqrt"], &[]);
}

#[test]
fn ports_of_an_element_have_their_variables() {
    for text in [
        "element Foo(k) { port a, b; a.|\n}\n",
        "element Foo(a) { port a, b; a.across = |b.}\n",
        "element Foo(k) { port a, b; a.across = k*b.|\n}\n",
    ] {
        let text = match text.contains("|b.") {
            true => text.replace("|b.", "b.|"),
            false => text.to_string(),
        };
        holds(&offered(&text), &["across", "through"], &["k"]);
    }
}

#[test]
fn parts_of_the_library_are_offered_with_their_import() {
    let text = "/// A model.\nmodel M {\n  node a : electrical;\n  d : Dio\n}\n";
    let at = text.find("Dio").expect("the word") + 3;
    let found = Snapshot::new(&NoFiles, None, "model.lgm", text, Cancellation::default());
    let list = found.completions(at as u32).list;
    let diode = list.iter().find(|entry| entry.label == "Diode").expect("a diode");
    let import = diode.import.as_ref().expect("an import");
    assert_eq!((import.span.start, import.text.as_str()), (0, "import nonlinear;\n\n"));
    // Definitions in scope need no import.
    assert!(
        list.iter()
            .any(|entry| entry.label == "Resistor" && entry.import.is_none())
    );
    let text = format!("import nonlinear;\n{text}");
    let at = text.find("Dio").expect("the word") + 3;
    let found = Snapshot::new(&NoFiles, None, "model.lgm", &text, Cancellation::default());
    let list = found.completions(at as u32).list;
    let diodes: Vec<_> = list.iter().filter(|entry| entry.label == "Diode").collect();
    assert!(diodes.len() == 1 && diodes[0].import.is_none());
}

/// Returns the first completions, up to the requested number.
#[track_caller]
fn begins(found: &[String], wanted: &[&str]) {
    assert_eq!(&found[..wanted.len().min(found.len())], wanted, "{found:?}");
}

#[test]
fn what_has_the_unit_of_the_place_comes_first() {
    let model = |line: &str| {
        offered(&format!(
            "component Part(mass [kg], stiff [N/m]) {{ port p : translational; m : Mass(mass) p -> gnd; s : Spring(stiff) p -> gnd; }}\n\
             model M {{\n  param a = 2 [kg];\n  param b = 3;\n  param c = 4 [kN/m];\n  param d [N/m] = 5;\n  node x : translational;\n  \
             m : Mass(1) x -> gnd;\n  {line}\n}}\n"
        ))
    };
    begins(&model("s : Spring(|) x -> gnd;"), &["k =", "c", "d", "a", "b"]);
    begins(&model("s : Spring(k = |) x -> gnd;"), &["c", "d", "a", "b"]);
    begins(&model("n : Mass(|"), &["m =", "a", "b"]);
    begins(&model("p : Part(1, |) (p = x);"), &["stiff =", "c", "d"]);
    begins(&model("param e [N/m] = |;"), &["c", "d", "a"]);
    begins(&model("param e [N/m] = 2 + |;"), &["c", "d", "a"]);
    // The unit of a product is unknown.
    begins(&model("s : Spring(2*|) x -> gnd;"), &["k =", "a", "b"]);
    // Units are ranked in the same way; a unit that occurs only in the declaration is also listed.
    begins(&model("s : Spring(3 [|]) x -> gnd;"), &["N/m"]);
    begins(&model("n : Mass(3 [|]) x -> gnd;"), &["kg", "g", "t"]);
    begins(&model("s : Spring(2*3 [|]) x -> gnd;"), &["m"]);
    begins(&model("param e [N/m] = 3 [|"), &["N/m"]);
}

/// Returns an element with modes and a line of it.
fn in_element(line: &str) -> Vec<String> {
    offered(&format!(
        "element Stop(gap [m], e = 0) : translational {{\n  mode free {{ through = 0; }}\n  {line}\n  mode touch {{ across = 0; }}\n}}\n"
    ))
}

#[test]
fn elements_have_modes_and_changes_between_them() {
    holds(
        &in_element("|"),
        &["mode", "when", "through", "port"],
        &["every", "discrete"],
    );
    holds(
        &in_element("mode third { | }"),
        &["through", "across"],
        &["port", "mode", "when", "param"],
    );
    holds(
        &in_element("when |"),
        &["across", "gap", "time"],
        &["before", "initially", "free"],
    );
    assert_eq!(in_element("when across > gap -> |"), ["free", "touch"]);
    holds(
        &in_element("when across > gap -> touch, |"),
        &["across =", "through ="],
        &["gap"],
    );
    holds(
        &in_element("when across > gap -> touch, across = |"),
        &["before", "across", "e"],
        &["touch"],
    );
    holds(
        &in_element("when across > gap -> touch, across = -e*before(|"),
        &["across", "gap"],
        &[],
    );
    holds(&in_element("through = |"), &["gap", "across"], &["before", "initially"]);
}

#[test]
fn instances_begin_in_a_mode_and_junctions_have_conditions() {
    let found = |line: &str| {
        offered(&format!(
            "element Sw(c) : electrical {{ mode open {{ through = 0; }} when c -> shut; mode shut {{ across = 0; }} when not c -> open; }}\n\
             model M {{\n  node x : electrical;\n  signal z = sin(time);\n  {line}\n}}\n"
        ))
    };
    holds(&found("s : Sw(z > 0) x -> gnd, |"), &["mode", "start"], &[]);
    holds(&found("r : Resistor(1) x -> gnd, |"), &["start"], &["mode"]);
    assert_eq!(found("s : Sw(z > 0) x -> gnd, mode = |"), ["open", "shut"]);
    holds(&found("one A : electrical, |"), &["floating", "on"], &["z"]);
    holds(&found("one A, |"), &["on"], &["floating", "z"]);
    holds(
        &found("one A, on = |"),
        &["z", "time"],
        &["x", "on", "before", "initially"],
    );
    holds(&found("zero J : electrical, on = z > |"), &["z"], &["floating"]);
}

#[test]
fn blocks_assign_discrete_variables_and_states() {
    holds(
        &in_model("|"),
        &["discrete", "when", "every"],
        &["initially", "from", "mode"],
    );
    holds(
        &in_model("when |"),
        &["initially", "F", "across", "time"],
        &["before", "x"],
    );
    holds(&in_model("when F > |"), &["F", "k"], &["initially"]);
    holds(&in_model("every |"), &["pi"], &["F", "from", "time"]);
    assert_eq!(in_model("every 1*k |"), ["from"]);
    assert!(in_model("discrete |").is_empty());
    let block = "discrete n = 0; state s = int(F); when F > 1 {";
    holds(
        &in_model(&format!("{block} | }}")),
        &["n", "s", "if", "across"],
        &["F", "k", "param", "node", "when", "x"],
    );
    holds(
        &in_model(&format!("{block} n := | }}")),
        &["n", "s", "F", "k"],
        &["before", "x"],
    );
    holds(&in_model(&format!("{block} across(| }}")), &["m"], &["k"]);
    holds(
        &in_model(&format!("{block} if F > | {{ n := 1; }} }}")),
        &["F", "n"],
        &["x"],
    );
    holds(
        &in_model(&format!("{block} if F > 2 {{ | }} }}")),
        &["n", "s"],
        &["F", "node"],
    );
    holds(&in_model("discrete n = 0; signal q = |"), &["n"], &[]);
    let component = offered("component C(k) {\n  |\n}\n");
    holds(&component, &["discrete", "when", "every"], &[]);
}

/// A file with a function, a constant and tables, and a mark in an expression.
fn with_functions(expression: &str) -> String {
    format!(
        "/// The force of air.\nfunction drag(v [m/s], cd) = rho*cd*v*abs(v);\nconst rho = 1.2 [kg/m^3];\n\
         model M {{\n  table curve = [[0, 1], [2, 3]];\n  node x : translational;\n  m : Mass(1) x -> gnd;\n  \
         f : ForceSource(drag(across(m), 1) + curve(time)) x -> gnd;\n  output y = {expression};\n}}\n"
    )
}

#[test]
fn functions_constants_and_tables() {
    let found = offered(&with_functions("|"));
    holds(&found, &["drag", "rho", "curve", "sin"], &[]);
    let text = with_functions("drag(1, |)");
    let at = text.find('|').unwrap();
    let taken = Snapshot::new(
        &NoFiles,
        None,
        "model.lgm",
        &text.replace('|', "2"),
        Cancellation::default(),
    );
    let signature = taken.signature(at as u32).unwrap();
    assert_eq!((&*signature.label, signature.active), ("drag(v [m/s], cd)", Some(1)));
}

#[test]
fn elements_of_modules_are_described() {
    let text = "model M {\n  node x : electrical;\n  d : |\n}\n";
    let taken = Snapshot::new(
        &NoFiles,
        None,
        "model.lgm",
        &text.replace('|', ""),
        Cancellation::default(),
    );
    let list = taken.completions(text.find('|').unwrap() as u32).list;
    let described = |name: &str| {
        let entry = list.iter().find(|entry| entry.label == name).unwrap();
        entry.documentation.unwrap_or_default()
    };
    assert_eq!(
        described("IdealDiode"),
        "An ideal diode. It blocks below `Von`, and conducts with `Von` across it."
    );
    assert!(described("PID").starts_with("A PID controller with limits"));
}
