//! Answers at locations marked with `|` in a text.

pub(crate) mod changes;
mod fixes;
mod hover;
mod modes;
mod storage;
mod words;

use crate::{Completion, NameKind, Snapshot};
use lgm_source::cancellation::Cancellation;
use lgm_source::{NoFiles, SourceId};

const OSCILLATOR: &str = "/// A mass on a spring.
model Oscillator {
  param m = 2 [kg];
  param k = 50 [N/m];
  param period = 2*pi*sqrt(m/k);
  input F [N] = 1;
  node x : translational;
  push : ForceSource(F) gnd -> x;
  mass : Mass(m) x -> gnd;
  spring : Spring(k) x -> gnd;
  output v = across(mass);
}
";

fn snapshot(text: &str) -> Snapshot {
    Snapshot::new(&NoFiles, None, "model.lgm", text, Cancellation::default())
}

/// Returns the snapshot of a text without the mark, and the location of the mark.
fn marked(text: &str) -> (Snapshot, u32) {
    let at = text.find('|').expect("a mark");
    (snapshot(&text.replacen('|', "", 1)), at as u32)
}

/// Returns the text with the mark after some words.
fn behind(text: &str, words: &str) -> (Snapshot, (SourceId, u32)) {
    let at = text.find(words).expect("the words") + words.len();
    let found = snapshot(text);
    let root = found.root();
    (found, (root, at as u32))
}

fn labels(list: &[Completion]) -> Vec<&str> {
    list.iter().map(|entry| entry.label.as_str()).collect()
}

#[test]
fn hovering_shows_the_law_and_the_equation_that_an_element_ended_in() {
    let (found, at) = behind(OSCILLATOR, "  spri");
    let hover = found.hover(at).expect("a hover");
    assert_eq!(found.map().slice(hover.span), "spring");
    for words in [
        "spring : Spring(k) x -> gnd;",
        "der(through) = k*across;",
        "Integral causality, state `spring.F`",
        "der(spring.F) = k*mass.v",
    ] {
        assert!(hover.markdown.contains(words), "{words}:\n{}", hover.markdown);
    }
}

#[test]
fn hovering_shows_values_units_and_functions() {
    let (found, at) = behind(OSCILLATOR, "param per");
    let hover = found.hover(at).expect("a hover");
    assert!(hover.markdown.contains("Value: 1.25664"), "{}", hover.markdown);
    let text = OSCILLATOR.replace("[kg]", "[g]");
    let (found, at) = behind(&text, "[g");
    assert_eq!(
        found.hover(at).map(|hover| hover.markdown).as_deref(),
        Some("1 g = 0.001 kg")
    );
    let (found, at) = behind(OSCILLATOR, "= acro");
    assert!(found.hover(at).expect("a hover").markdown.starts_with("`across(e)`"));
    let (found, at) = behind(OSCILLATOR, "x -> gn");
    assert!(found.hover(at).expect("a hover").markdown.starts_with("`gnd`"));
    let text = OSCILLATOR.replace("[kg]", "[percent]");
    let (found, at) = behind(&text, "[perc");
    assert_eq!(
        found.hover(at).map(|hover| hover.markdown).as_deref(),
        Some("1 percent = 0.01")
    );
}

#[test]
fn functions_constants_and_tables_lead_to_their_declarations() {
    let text = "/// The force of air.\nfunction drag(v [m/s], cd) = rho*cd*v*abs(v);\n/// Of air.\nconst rho = 1.2 [kg/m^3];\n\
                model M {\n  /// Of the motor.\n  table curve = [[0, 1], [2, 3]];\n  node x : translational;\n  m : Mass(1) x -> gnd;\n  \
                f : ForceSource(drag(across(m), cd = rho) + curve(time)) x -> gnd;\n}\n";
    for (words, declared, line, documented) in [
        (
            "Source(dr",
            "drag",
            "function drag(v [m/s], cd) = rho*cd*v*abs(v);",
            "The force of air.",
        ),
        (") + cur", "curve", "table curve = [[0, 1], [2, 3]];", "Of the motor."),
        ("cd = rh", "rho", "const rho = 1.2 [kg/m^3];", "Of air."),
        ("), c", "cd", "param cd", ""),
    ] {
        let (found, at) = behind(text, words);
        let markdown = found.hover(at).expect("a hover").markdown;
        assert!(markdown.contains(line) && markdown.contains(documented), "{markdown}");
        assert_eq!(
            found.map().slice(found.definition(at).expect("a declaration")),
            declared
        );
        assert!(found.references(at, true).len() >= 2, "{words}");
    }
    let (found, at) = behind(
        "import drives;\nmodel M { node x : translational; d : Drag(A = 2 [m^2], c = 0.3) x -> gnd; }\n",
        "Drag(A",
    );
    assert!(found.hover(at).expect("a hover").markdown.contains("frontal area"));
}

#[test]
fn hovering_shows_what_constants_and_inputs_are_worth() {
    let text = "model M {\n  const N = 3;\n  const r = 6 [mm];\n  param F0 = 2 [N];\n  input F [kN] = 1.5;\n  input p [N] = F0*sin(time);\n  \
                input q [N];\n  node x : translational;\n  m : Mass(1) x -> gnd;\n  f : ForceSource(F + p + q) gnd -> x;\n}\n";
    for (name, value) in [
        ("const N", "Value: 3"),
        ("const r", "Value: 0.006 m"),
        ("input F", "Value: 1500 N"),
        ("input p", "Value: `F0*sin(time)` N"),
    ] {
        let (found, at) = behind(text, name);
        let markdown = found.hover(at).expect("a hover").markdown;
        assert!(markdown.ends_with(value), "{markdown}");
    }
    let (found, at) = behind(text, "input q");
    assert!(!found.hover(at).expect("a hover").markdown.contains("Value"));
}

#[test]
fn equivalents_have_units() {
    for (text, name, words) in [
        (
            "model M {\n  node x : translational;\n  a : Mass(2) x -> gnd;\n  b : Mass(3) x -> gnd;\n}\n",
            "  b",
            "Equivalent: `5` kg.",
        ),
        // Two compliances in a row: 1/4 + 1/4.
        (
            "model M {\n  node x, y : translational;\n  m : Mass(1) x -> gnd;\n  s : Spring(4) x -> y;\n  t : Spring(4) y -> gnd;\n}\n",
            "  t",
            "Equivalent: `0.5` m/N.",
        ),
        // Referred to the motor, the load counts with the square of the ratio.
        (
            "model M {\n  node w : rotational;\n  node x : translational;\n  j : Inertia(1) w -> gnd;\n  \
             rack : Transformer(2 [m]) w -> gnd, x -> gnd;\n  m : Mass(3) x -> gnd;\n}\n",
            "  m",
            "Equivalent: `13` kg.m^2.",
        ),
    ] {
        let (found, at) = behind(text, name);
        let markdown = found.hover(at).expect("a hover").markdown;
        assert!(markdown.contains(words), "{markdown}");
    }
}

#[test]
fn dependent_storage_says_what_it_follows_from() {
    let text =
        "model Two {\n  node x : translational;\n  one_mass : Mass(2) x -> gnd;\n  other : Mass(3) x -> gnd;\n}\n";
    let hints = snapshot(text).hints();
    let texts: Vec<&str> = hints.iter().map(|hint| hint.text.as_str()).collect();
    assert_eq!(texts, ["state one_mass.v", "follows one_mass"]);
    assert!(
        hints[1].tooltip.contains("Derivative causality"),
        "{}",
        hints[1].tooltip
    );
}

#[test]
fn derived_parameters_show_their_values() {
    let hints = snapshot(OSCILLATOR).hints();
    let texts: Vec<&str> = hints.iter().map(|hint| hint.text.as_str()).collect();
    assert_eq!(texts, ["= 1.25664", "state mass.v", "state spring.F"]);
}

#[test]
fn definitions_lead_into_the_library_and_references_come_back() {
    let (found, at) = behind(OSCILLATOR, "mass : Ma");
    let span = found.definition(at).expect("a definition");
    assert_eq!(found.map().get(span.source).name, "stdlib/translational.lgm");
    assert_eq!(found.map().slice(span), "Mass");
    let (found, at) = behind(OSCILLATOR, "Mass(m");
    let places: Vec<(usize, usize)> = found
        .references(at, true)
        .into_iter()
        .map(|span| found.map().line_column(span.source, span.start))
        .collect();
    assert_eq!(places, [(3, 9), (5, 28), (9, 15)]);
}

#[test]
fn a_name_is_changed_wherever_it_means_the_same() {
    let text = "component Section(L) {\n  port p, n : electrical;\n  l : Inductor(L) p -> n;\n}\n\
                model Line {\n  const N = 2;\n  node v[N + 1] : electrical;\n  src : VoltageSource(1) v[1] -> gnd;\n\
                \x20 for i in 1:N { cell[i] : Section(L = 1) (p = v[i], n = v[i + 1]); }\n\
                \x20 end : Resistor(2) v[N + 1] -> gnd;\n  output y = through(cell[2].l);\n}\n";
    let (found, at) = behind(text, "  l");
    let edits = found.rename(at, "coil").expect("edits");
    let lines: Vec<usize> = edits
        .iter()
        .map(|edit| found.map().line_column(edit.span.source, edit.span.start).0)
        .collect();
    assert_eq!(lines, [3, 11]);
    let (found, at) = behind(text, "Section(L");
    assert_eq!(found.rename(at, "inductance").expect("edits").len(), 3);
    assert!(
        found
            .rename(at, "l")
            .unwrap_err()
            .contains("already declared in line 3")
    );
    assert!(found.rename(at, "model").unwrap_err().contains("is a reserved word"));
    let (found, at) = behind(text, "end : Resis");
    assert!(found.rename(at, "Ohm").unwrap_err().contains("standard library"));
}

#[test]
fn what_can_be_written_depends_on_the_place() {
    let at = |line: &str| {
        let text = OSCILLATOR.replace("  output v", &format!("{line}\n  output v"));
        let (found, at) = marked(&text);
        found.completions(at).list
    };
    let kinds = at("  damper : Da|");
    assert!(labels(&kinds).contains(&"Damper"));
    assert!(!labels(&kinds).contains(&"mass"));
    let damper = kinds.iter().find(|entry| entry.label == "Damper").expect("Damper");
    assert_eq!(
        (damper.insert.as_str(), damper.kind),
        ("Damper(${1:b})$0", NameKind::Element)
    );
    assert_eq!(labels(&at("  damper : Damper(2) |")), ["x", "gnd", "x -> gnd"]);
    assert!(labels(&at("  node y : |")).contains(&"rotational"));
    assert!(labels(&at("  param b [|")).contains(&"kg"));
    assert!(labels(&at("  param b = 2 [|")).contains(&"rpm"));
    assert!(labels(&at("  |")).contains(&"experiment"));
    let inside = at("  damper : Damper(|");
    assert_eq!(inside[0].label, "b =");
    assert!(labels(&inside).contains(&"k"));
    assert!(at("  // a damper : |").is_empty());
    assert!(at("  param b = 2.|").is_empty());
}

#[test]
fn a_long_list_is_cut_to_what_is_typed() {
    let parts: String = (1..=900)
        .map(|at| format!("  part{at} : Mass(1) x -> gnd;\n"))
        .collect();
    let text = |typed: &str| format!("model M {{\n  node x : translational;\n{parts}  {typed}|\n}}\n");
    let (found, at) = marked(&text(""));
    let all = found.completions(at);
    assert!(all.is_incomplete && all.list.len() == 250, "{}", all.list.len());
    // The typed text need not be a prefix; prefix matches come first.
    let (found, at) = marked(&text("part87"));
    let some = found.completions(at);
    assert!(some.is_incomplete);
    assert_eq!(labels(&some.list)[..3], ["part87", "part870", "part871"]);
    assert!(labels(&some.list).contains(&"part807") && !labels(&some.list).contains(&"part78"));
    let found_one = found.completions(at).list.remove(0);
    let definition = found_one.definition.expect("a definition");
    let words = found.documentation(definition, "part87").expect("words");
    assert!(words.contains("part87 : Mass(1) x -> gnd;"), "{words}");
    // The text has changed since, so the answer would concern another item.
    assert_eq!(found.documentation(definition, "part88"), None);
    let (found, at) = marked("model M {\n  pa|\n}\n");
    assert!(!found.completions(at).is_incomplete);
}

#[test]
fn members_come_after_a_dot_also_in_a_broken_text() {
    let text = "component Cell(R) {\n  port p, n : electrical;\n  r : Resistor(R) p -> n;\n}\n\
                model M {\n  node a : electrical;\n  cell[1] : Cell(2) (p = a, n = gnd);\n  output y = through(cell[1].|\n}\n";
    let (found, at) = marked(text);
    assert_eq!(labels(&found.completions(at).list), ["R", "p", "n", "r"]);
}

#[test]
fn a_broken_line_leaves_the_rest_alive() {
    let text = OSCILLATOR.replace("  mass :", "  broken : Spring((((\n  mass :");
    let (found, at) = behind(&text, "output v = across(ma");
    assert!(
        found
            .problems()
            .iter()
            .any(|problem| problem.code.is_some_and(|code| code.number() < 100)),
        "{:?}",
        found.problems()
    );
    assert!(found.hover(at).expect("a hover").markdown.contains("mass : Mass(m)"));
    let place = found.definition(at).expect("a definition");
    assert_eq!(found.map().line_column(place.source, place.start).0, 10);
}

#[test]
fn names_keep_their_meaning_where_the_statement_is_faulty() {
    let text = OSCILLATOR
        .replace("Mass(m) x", "Mass(m*) x")
        .replace("ForceSource(F)", "ForceSource(2*)(F");
    let lines = |places: Vec<lgm_source::Span>, found: &Snapshot| -> Vec<usize> {
        let line = |span: &lgm_source::Span| found.map().line_column(span.source, span.start).0;
        places.iter().map(line).collect()
    };
    let (found, at) = behind(&text, "ForceSource(2*)(F");
    assert_eq!(lines(found.references(at, true), &found), [6, 8]);
    let (found, at) = behind(&text, "  mas");
    assert_eq!(lines(found.references(at, true), &found), [9, 11]);
    let (found, at) = behind(&text, "across(mas");
    assert_eq!(lines(found.definition(at).into_iter().collect(), &found), [9]);
    let (found, at) = behind(&text, "node ");
    let edits = found.rename(at, "y").expect("edits");
    assert_eq!(
        lines(edits.iter().map(|edit| edit.span).collect(), &found),
        [7, 8, 9, 10]
    );
}

#[test]
fn a_signature_marks_the_argument_that_is_written() {
    let (found, at) = marked(&OSCILLATOR.replace("Spring(k)", "HardSpring(k, |"));
    // `HardSpring` is in a module that is not imported.
    assert!(found.signature(at).is_none());
    let (found, at) = marked(&format!(
        "import nonlinear;\n{}",
        OSCILLATOR.replace("Spring(k)", "HardSpring(k, |")
    ));
    let signature = found.signature(at).expect("a signature");
    assert!(signature.label.starts_with("HardSpring("), "{}", signature.label);
    assert_eq!(signature.active, Some(1));
    assert!(
        signature.label[signature.formals[1].clone()].starts_with("k3"),
        "{}",
        signature.label
    );
}

#[test]
fn symbols_folds_and_selections_follow_the_tree() {
    let found = snapshot(OSCILLATOR);
    let symbols = found.symbols();
    assert_eq!(symbols.len(), 1);
    let names: Vec<&str> = symbols[0].children.iter().map(|child| child.name.as_str()).collect();
    assert_eq!(names, ["m", "k", "period", "F", "x", "push", "mass", "spring", "v"]);
    assert_eq!(symbols[0].children[5].detail.as_deref(), Some("ForceSource"));
    assert_eq!(found.folds().len(), 1);
    let (found, at) = behind(OSCILLATOR, "sqrt(m");
    let selected: Vec<&str> = found
        .selections(at.1)
        .into_iter()
        .map(|span| found.map().slice(span))
        .collect();
    assert_eq!(selected[..3], ["m", "m/k", "sqrt(m/k)"]);
}

#[test]
fn every_name_of_a_whole_model_is_known() {
    let found = snapshot(OSCILLATOR);
    assert!(
        found
            .problems()
            .iter()
            .all(|problem| problem.severity != lgm_source::diagnostic::Severity::Error)
    );
    let names: Vec<&str> = found
        .colors()
        .into_iter()
        .map(|colored| found.map().slice(colored.span))
        .collect();
    assert_eq!(names.iter().filter(|name| **name == "mass").count(), 2);
    assert!(names.contains(&"Mass") && names.contains(&"translational"));
    assert_eq!(&*found.system().expect("equations").states[0].name, "mass.v");
}

#[test]
fn outputs_have_names_of_their_own() {
    let text = "model M {\n  node t : thermal;\n  tk : ThermalCapacitor(2) t -> gnd;\n  signal th = across(t);\n\
                \x20 output th = 2*th;\n  output t = th;\n  experiment { stop = 1 [s]; plot = [th]; }\n}\n";
    let lines = |words: &str| {
        let (found, at) = behind(text, words);
        let edits = found.rename(at, "zz").expect("edits");
        let line = |span: lgm_source::Span| found.map().line_column(span.source, span.start).0;
        edits.iter().map(|edit| line(edit.span)).collect::<Vec<usize>>()
    };
    assert_eq!(lines("output th"), [5, 7]);
    assert_eq!(lines("signal th"), [4, 5, 6]);
    assert_eq!(lines("plot = [th"), [5, 7]);
    let (found, at) = behind(text, "output th");
    assert!(found.rename(at, "tk").is_ok());
    assert!(found.rename(at, "t").is_err());
    assert!(found.rename(at, "t\u{e4}").unwrap_err().contains("is not a name"));
}

#[test]
fn a_model_that_is_not_closed_yet_knows_its_names() {
    let (found, at) = marked("model A {\n  node x : translational;\n  m : Mass(1) x -> gnd;\n  s : Spring(1) x -> |");
    assert_eq!(labels(&found.completions(at).list), ["x", "gnd"]);
    let (found, at) = marked("model A {\n  node x : translational;\n  m : Mass(1) x -> gnd;\n  output y = across(|");
    assert!(labels(&found.completions(at).list).contains(&"m"));
    let (found, at) = marked("model A {\n  for j in 1:2 { w[j] : Mass(1) a[|");
    assert!(labels(&found.completions(at).list).contains(&"j"));
}

#[test]
fn an_experiment_has_settings_and_outputs() {
    let (found, at) = marked(&OSCILLATOR.replace(
        "  output v = across(mass);\n",
        "  output v = across(mass);\n  experiment { | }\n",
    ));
    assert!(labels(&found.completions(at).list).contains(&"stop"));
    let (found, at) = marked(&OSCILLATOR.replace(
        "  output v = across(mass);\n",
        "  output v = across(mass);\n  experiment { plot = [|]; }\n",
    ));
    assert_eq!(labels(&found.completions(at).list), ["v", "mass.v", "spring.F", "F"]);
}

#[test]
fn a_named_argument_is_the_one_that_is_written() {
    let text = "component Pair(k [N/m], b [N.s/m] = 1, const N = 2) { }\nmodel M { p : Pair(b = 2, k = |";
    let (found, at) = marked(text);
    assert_eq!(found.signature(at).expect("a signature").active, Some(0));
    let (found, at) = behind(text, "const N");
    assert!(
        found.hover(at).expect("a hover").markdown.contains("const N"),
        "{:?}",
        found.hover(at)
    );
}

#[test]
fn every_word_that_begins_an_entry_of_a_law_is_one() {
    let of_law =
        |word: &str| lgm_elaborate::PORT_VARIABLES.contains(&word) || ["der", "port", "mode", "when"].contains(&word);
    assert!(crate::completion::LAWS.iter().all(|entry| of_law(entry.0)));
    let of_modal =
        |word: &str| lgm_elaborate::modal_words().any(|known| known == word) || ["mode", "drive"].contains(&word);
    assert!(crate::completion::MODAL_ENTRIES.iter().all(|entry| of_modal(entry.0)));
}

#[test]
fn every_setting_and_every_unit_that_is_offered_is_one() {
    let mut offered: Vec<&str> = crate::completion::SETTINGS.iter().map(|entry| entry.0).collect();
    let mut known = lgm_elaborate::EXPERIMENT_ENTRIES.to_vec();
    offered.sort_unstable();
    known.sort_unstable();
    assert_eq!(offered, known);
    for unit in crate::completion::USUAL_UNITS {
        let found = snapshot(&format!(
            "model M {{ param a = 1 [{unit}]; node x : electrical; r : Resistor(1) x -> gnd; }}\n"
        ));
        assert!(
            found
                .problems()
                .iter()
                .all(|problem| problem.code.is_none_or(|code| code.number() != 204)),
            "{unit}"
        );
    }
}

#[test]
fn imports_lead_to_the_files_that_were_read() {
    struct Files;
    impl lgm_source::Sources for Files {
        fn read(&self, path: &std::path::Path) -> Result<String, String> {
            match path.to_str() {
                Some("m/part.lgm") => Ok("import \"sub/part.lgm\";\n".to_string()),
                Some("m/sub/part.lgm") => Ok("component Inner(R) { }\n".to_string()),
                _ => Err("no such file".to_string()),
            }
        }
    }
    let text = "import \"sub/part.lgm\";\nimport \"part.lgm\";\n";
    let found = Snapshot::new(
        &Files,
        Some("m/main.lgm".into()),
        "m/main.lgm",
        text,
        Cancellation::default(),
    );
    let targets = found
        .links()
        .into_iter()
        .map(|link| found.map().get(link.target).name.clone());
    assert_eq!(targets.collect::<Vec<String>>(), ["m/sub/part.lgm", "m/part.lgm"]);
}

/// Returns the hints and the unused values of a text, warnings first.
fn hinted(text: &str) -> Vec<String> {
    let found = snapshot(text);
    let hints = found
        .problems()
        .into_iter()
        .filter(|problem| problem.is_hint || problem.is_unused);
    hints
        .map(|hint| {
            let message = hint.message.lines().next().unwrap_or_default();
            format!("{}: {message}", found.map().slice(hint.span.expect("a place")))
        })
        .collect()
}

#[test]
fn names_that_nothing_uses_and_indices_that_hide_are_hinted_at() {
    assert_eq!(hinted(OSCILLATOR), ["period: nothing uses the parameter `period`"]);
    let text = "component Cell(R [ohm], C [F]) {\n  port p : electrical;\n  r : Resistor(R) p -> gnd;\n}\nmodel M {\n  \
                param i = 2;\n  input u [V] = 1;\n  signal s = 2*u;\n  node n[2] : electrical;\n  \
                for i in 1:2 { r[i] : Resistor(i) n[i] -> gnd; }\n  src : VoltageSource(1) n[1] -> n[2];\n  \
                c : Cell(1, 2) (p = n[1]);\n  output y = across(src)*i;\n}\n";
    assert_eq!(
        hinted(text),
        [
            "C: nothing uses the parameter `C`",
            "s: nothing uses the signal `s`",
            "i: the index `i` shadows the value of the same name",
        ]
    );
    // A text with errors has no such information.
    assert!(hinted(&text.replace("Resistor(R)", "Resistr(R)")).is_empty());
}

#[test]
fn a_name_is_not_changed_into_a_word_of_the_body() {
    let element = "element Soft(k1, c = 2) : translational { der(through) = k1*across*c; }\n";
    let modal = "modal Bar(rho, L [m]) : translational {\n  mode i;\n  wave = i*pi/L;\n  mass = rho*L/2;\n  stiffness = mass*wave^2;\n  shape(x) = sin(wave*x);\n}\n";
    for (text, name, new) in [
        (element, "Soft(k", "across"),
        (element, "Soft(k", "through"),
        (modal, "Bar(rh", "mass"),
        (modal, "Bar(rh", "wave"),
        (modal, "mode ", "x"),
        (modal, "Bar(rh", "modes"),
        (modal, "Bar(rh", "conductance"),
        (modal, "Bar(rh", "length"),
    ] {
        let (found, at) = behind(text, name);
        assert!(found.rename(at, new).is_err(), "{name} to {new}");
        // `tabulated` is a free name: a table is read by a function.
        for free in ["other", "tabulated"] {
            assert!(found.rename(at, free).is_ok(), "{name} to {free}");
        }
    }
}

#[test]
fn near_names_of_another_kind_are_not_offered() {
    let text = OSCILLATOR.replace("across(mass)", "acros(mass)");
    let found = snapshot(&text);
    let place = found.problems()[0].span.expect("a place");
    let titles: Vec<String> = found.actions(place).into_iter().map(|action| action.title).collect();
    assert_eq!(titles, ["write `across`"]);
}
