//! `lgm equations --derive`: the steps are those of the source documents, and every step holds. For random networks the
//! variables come from the tableau of the network, which is independent of the compiler. The examples have a
//! derivation, or a reason for its absence.

use crate::causality::command::printed;
use crate::equations::networks;
use crate::support;

use lgm::explain::derivation::{Derivation, Rule, Sides, json, latex, markdown, text, typst};
use lgm::expr::{ExprId, SymbolId};
use lgm::model::{Model, Variable};
use lgm::source::SourceMap;
use lgm::{Compilation, Request};
use networks::generate::{generate, generate_scalar_graph};
use networks::network::{Change, Network, Output, Term, Value};
use networks::tableau::response;
use networks::write::write;
use serde_json::json;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use support::points::Disk;

/// Examples without a derivation, with part of the reason.
const REFUSED: [(&str, &str); 3] = [
    ("four_bar", "closed chains"),
    ("slider_crank", "closed chains"),
    ("two_discs", "nothing determines"),
];

fn compiled(text: &str, path: Option<PathBuf>) -> Compilation {
    let mut map = SourceMap::default();
    let root = map.add("model.lgm", text, path);
    Compilation::new(&Disk, map, root, Request::default())
}

fn example(name: &str) -> Derivation {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("examples/{name}.lgm"));
    let text = fs::read_to_string(&path).unwrap();
    compiled(&text, Some(path)).derivation(false).unwrap().unwrap()
}

/// All examples with a model.
fn examples() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let folders = [root.clone(), root.join("seeds")];
    let files = folders.iter().flat_map(|folder| fs::read_dir(folder).unwrap());
    let mut found: Vec<PathBuf> = files.map(|entry| entry.unwrap().path()).collect();
    found.retain(|path| path.extension().is_some_and(|extension| extension == "lgm"));
    found.sort();
    found
}

#[test]
fn every_example_is_derived_or_says_why_not() {
    let mut derived = 0;
    for path in examples() {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let compilation = compiled(&fs::read_to_string(&path).unwrap(), Some(path));
        let Some(system) = compilation.system() else { continue };
        let refused = REFUSED.iter().find(|entry| entry.0 == name);
        for is_full in [false, true] {
            match (compilation.derivation(is_full).unwrap(), refused) {
                (Ok(found), None) => {
                    derived += 1;
                    form(&name, &found);
                    let results = found.steps.iter().filter(|step| step.rule == Rule::Result).count();
                    assert!(results >= system.states.len() + system.outputs.len(), "{name}");
                }
                (Err(found), Some((_, reason))) => {
                    assert_eq!(found.code, "LGM0941", "{name}");
                    assert!(found.labels[0].message.contains(reason), "{name}: {found:?}");
                }
                (Ok(_), Some(_)) => panic!("{name} is derived: take it off the list"),
                (Err(found), None) => panic!("{name}: {found:?}"),
            }
        }
    }
    assert!(derived > 100, "only {derived}");
}

/// Numbers run from 1, each step follows from earlier rules or steps, and every form of it is complete.
fn form(name: &str, derivation: &Derivation) {
    for (at, step) in derivation.steps.iter().enumerate() {
        assert_eq!(step.number, at + 1, "{name}");
        let is_before = |number: &usize| *number >= 1 && *number < step.number;
        assert!(
            step.because.iter().all(is_before),
            "{name}: ({}) from {:?}",
            step.number,
            step.because
        );
        let needs = matches!(step.rule, Rule::Substitution);
        assert!(
            !needs || !step.because.is_empty(),
            "{name}: ({}) from nothing",
            step.number
        );
    }
    assert!(derivation.steps.is_sorted_by_key(|step| step.rule), "{name}");
    for (form, text) in [("latex", latex(derivation)), ("markdown", markdown(derivation))] {
        let escaped = text.replace("\\{", "").replace("\\}", "");
        let mut depth = 0i64;
        for letter in escaped.chars() {
            depth += match letter {
                '{' => 1,
                '}' => -1,
                _ => 0,
            };
            assert!(depth >= 0, "{name}: {form}");
        }
        assert_eq!(depth, 0, "{name}: {form}");
        assert_eq!(
            text.matches("\\left").count(),
            text.matches("\\right").count(),
            "{name}: {form}"
        );
    }
    let typst = typst(derivation);
    assert!(
        typst.matches('$').count() == 2 * derivation.steps.len(),
        "{name}: typst"
    );
    assert_eq!(typst.matches('(').count(), typst.matches(')').count(), "{name}: typst");
    assert_eq!(
        text(derivation).matches(" = ").count(),
        derivation.steps.len(),
        "{name}: text"
    );
}

/// The steps of one rule as text.
fn equations(derivation: &Derivation, rule: &str) -> Vec<String> {
    let value = json(derivation);
    let steps = value["steps"].as_array().unwrap().clone();
    let of_rule = steps.iter().filter(|step| step["rule"] == rule);
    of_rule
        .map(|step| step["equation"].as_str().unwrap().to_string())
        .collect()
}

/// De Silva, section 2: shell, remaining constitutive equations, nodes 2 and 3, loops 1 to 3, and what follows. Node 1 is "not useful".
#[test]
fn the_sound_system_is_derived_as_in_the_document() {
    let found = example("seeds/sound_system");
    assert_eq!(
        equations(&found, "shell"),
        [
            "Ls*der(coil.i) = coil.v",
            "Lc*der(spring.i) = spring.v",
            "Cm*der(mass.v) = mass.i"
        ]
    );
    assert_eq!(
        equations(&found, "constitutive"),
        ["speaker.v = Rs*speaker.i", "friction.v = Rb*friction.i"]
    );
    assert_eq!(
        equations(&found, "node"),
        [
            "coil.i - speaker.i = 0",
            "speaker.i - spring.i - friction.i - mass.i = 0"
        ]
    );
    assert_eq!(
        equations(&found, "loop"),
        [
            "vi - mass.v - speaker.v - coil.v = 0",
            "mass.v - spring.v = 0",
            "mass.v - friction.v = 0"
        ]
    );
    assert_eq!(
        equations(&found, "substitution"),
        [
            "Ls*der(coil.i) = vi - Rs*coil.i - mass.v",
            "Lc*der(spring.i) = mass.v",
            "Cm*der(mass.v) = coil.i - spring.i - mass.v/Rb",
        ]
    );
    let first = found.steps.iter().find(|step| step.rule == Rule::Substitution).unwrap();
    assert_eq!(first.because, [1, 8, 4, 6]);
}

/// His hydraulic actuator: "From Node 5, gyrator, Loop 2, Loop 5, R_v, Node 4, and Loop 3".
#[test]
fn the_hydraulic_actuator_is_derived_as_in_the_document() {
    let found = example("seeds/hydraulic_actuator");
    let lines = equations(&found, "substitution");
    assert_eq!(lines[1], "I*der(pipe_inertia.Q) = P_s - R*pipe_inertia.Q - tank.P");
    assert_eq!(lines[2], "C_f*der(tank.P) = pipe_inertia.Q - A*load.v");
    assert_eq!(lines[4], "der(return_spring.F) = k*load.v");
    assert_eq!(equations(&found, "shell").len(), 4);
}

#[test]
fn a_bond_graph_is_derived_in_its_own_words() {
    let found = example("lever");
    assert_eq!(equations(&found, "shell"), ["der(I1.p) = I1.e"]);
    let junctions = equations(&found, "junction");
    for wanted in [
        "T.in.f = I1.f",
        "F - I1.e - T.in.e = 0",
        "I2.f = T.out.f",
        "T.out.e - I2.e = 0",
    ] {
        assert!(junctions.iter().any(|line| line == wanted), "{wanted} in {junctions:?}");
    }
    // The dependent inertia uses the rate of the storage that determines it.
    assert!(equations(&found, "substitution").contains(&"der(I2.f) = ratio*der(I1.p)/m1".to_string()));
    assert!(text(&found).contains("the derivative of ("), "{}", text(&found));
    assert!(equations(&found, "node").is_empty() && equations(&found, "loop").is_empty());
}

#[test]
fn algebraic_loops_are_named() {
    let bridge = example("wheatstone_bridge");
    let solved = bridge.steps.iter().find(|step| step.together.len() > 1).unwrap();
    assert!(solved.is_solution(&bridge.exprs) && solved.because.len() >= 4);
    let rectifier = text(&example("diode_rectifier"));
    assert!(rectifier.contains("to be solved for diode.v"), "{rectifier}");
}

#[test]
fn the_json_is_as_documented() {
    let found = json(&example("oscillator"));
    assert_eq!(
        found["steps"][0],
        json!({"number": 1, "rule": "shell", "equation": "m*der(mass.v) = mass.F", "because": []})
    );
    let rules = found["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| step["rule"].as_str().unwrap());
    let known = Rule::ALL.map(Rule::word);
    assert!(rules.into_iter().all(|rule| known.contains(&rule)));
}

/// The variables of a network at one frequency, by name: real and imaginary parts, with one active input.
#[allow(clippy::needless_range_loop)] // An input is a column of the responses.
fn independent(network: &Network, model: &Model, omega: f64) -> Option<Vec<HashMap<String, [f64; 2]>>> {
    let responses = response(network, omega)?;
    let mut at = HashMap::new();
    for (row, output) in network.outputs.iter().enumerate() {
        at.insert(format!("{:?}", output.value[0].1), row);
    }
    let mut found = Vec::new();
    for input in 0..network.inputs {
        let value = |term: Term| {
            let number = &responses[*at.get(&format!("{term:?}"))?][input];
            Some([number.re.to_double(), number.im.to_double()])
        };
        let mut values: HashMap<String, [f64; 2]> = HashMap::new();
        for (index, port) in model.graph.ports.iter().enumerate() {
            let name = model.element_name(port.element);
            let element = network.elements.iter().position(|element| element.name == name)?;
            let own = &network.elements[element];
            let number = match &port.name {
                Some(word) => (0..own.ports.len()).find(|at| own.law.port_name(*at) == &**word)?,
                None => 0,
            };
            let entry = port.entry.map_or(0, |entry| entry as usize - 1);
            for variable in [Variable::Effort, Variable::Flow] {
                let is_first = port
                    .domain
                    .is_none_or(|domain| model.graph.domains[domain.index()].effort_is_across)
                    == (variable == Variable::Effort);
                let term = match is_first {
                    true => Term::First(element, number, entry),
                    false => Term::Second(element, number, entry),
                };
                let name = lgm::equations::port_variable_name(model, lgm::model::PortId(index as u32), variable);
                values.insert(name, value(term)?);
            }
        }
        for integral in 0..network.integrals.len() {
            values.insert(format!("z{}", integral + 1), value(Term::Integral(integral))?);
        }
        for (row, of_output) in responses.iter().enumerate().take(network.outputs.len()) {
            let number = &of_output[input];
            values.insert(format!("y{}", row + 1), [number.re.to_double(), number.im.to_double()]);
        }
        for other in 0..network.inputs {
            values.insert(format!("u{}", other + 1), [f64::from(u8::from(other == input)), 0.0]);
        }
        found.push(values);
    }
    Some(found)
}

/// The value of a symbol by its name: rates are j omega times their variable, energy variables are integrals.
fn named(name: &str, values: &HashMap<String, [f64; 2]>, omega: f64) -> Option<[f64; 2]> {
    if let Some(value) = values.get(name) {
        return Some(*value);
    }
    if let Some(inner) = name.strip_prefix("der(").and_then(|rest| rest.strip_suffix(')')) {
        let [re, im] = named(inner, values, omega)?;
        return Some([-omega * im, omega * re]);
    }
    let (element, variable) = name.rsplit_once('.')?;
    let (letter, entry) = variable.split_at(1);
    let whole = match letter {
        "p" => "e",
        "q" => "f",
        _ => return None,
    };
    let [re, im] = values.get(&format!("{element}.{whole}{entry}")).copied()?;
    Some([im / omega, -re / omega])
}

/// A step that contradicts the variables of the network. A variable that belongs to no port, such as the flow between
/// two junctions, gets its value from the first step in which it appears.
fn contradiction(
    derivation: &Derivation,
    values: &HashMap<String, [f64; 2]>,
    parameters: &HashMap<SymbolId, f64>,
    omega: f64,
) -> Option<String> {
    let exprs = &derivation.exprs;
    let mut told: HashMap<SymbolId, [f64; 2]> = HashMap::new();
    let sizes = values.values().map(|value| value[0].hypot(value[1]));
    let largest = sizes.fold(0.0, f64::max);
    let mut waiting: Vec<(ExprId, ExprId, usize)> = derivation
        .steps
        .iter()
        .map(|step| match step.sides {
            Sides::Scalar(left, right) => (left, right, step.number),
            Sides::Written { .. } => panic!("the network has no vectors"),
        })
        .collect();
    loop {
        let before = waiting.len();
        let mut left_over = Vec::new();
        for (left, right, number) in waiting {
            let mut symbols = exprs.symbols_of(&[left, right]);
            symbols.retain(|symbol| !parameters.contains_key(symbol));
            let factor = |of: SymbolId| {
                let value = |symbol| {
                    parameters
                        .get(&symbol)
                        .copied()
                        .or(Some(f64::from(u8::from(symbol == of))))
                };
                let sides = exprs.evaluate_f64(&[left, right], &value).unwrap();
                sides[0] - sides[1]
            };
            let (mut sum, mut size, mut unknown) = ([0.0, 0.0], 0.0f64, Vec::new());
            for symbol in symbols {
                let value = told.get(&symbol).copied();
                let value = value.or_else(|| named(&exprs.symbol_info(symbol).name, values, omega));
                let Some([re, im]) = value else {
                    unknown.push(symbol);
                    continue;
                };
                let factor = factor(symbol);
                sum = [sum[0] + factor * re, sum[1] + factor * im];
                size = size.max((factor * re).abs()).max((factor * im).abs());
            }
            match unknown[..] {
                // Round-off remains of a sum that should vanish.
                [] if sum[0].hypot(sum[1]) <= 1e-9 * size.max(1e-6 * largest) => {}
                [] => {
                    let sides = [left, right].map(|side| lgm::expr::text(exprs, side));
                    return Some(format!("({number}) {} = {}: {sum:?} of {size}", sides[0], sides[1]));
                }
                [own] if factor(own) != 0.0 => {
                    told.insert(own, sum.map(|part| -part / factor(own)));
                }
                _ => left_over.push((left, right, number)),
            }
        }
        if left_over.is_empty() || left_over.len() == before {
            return (!left_over.is_empty()).then(|| format!("{left_over:?} have unknown variables"));
        }
        waiting = left_over;
    }
}

/// The network with every port variable as an output.
fn measured(mut network: Network) -> Network {
    let mut terms = Vec::new();
    for element in 0..network.elements.len() {
        for port in 0..network.elements[element].ports.len() {
            for entry in 0..network.port_width(element, port) {
                terms.extend([Term::First(element, port, entry), Term::Second(element, port, entry)]);
            }
        }
    }
    terms.extend((0..network.integrals.len()).map(Term::Integral));
    let outputs = terms.into_iter().map(|term| Output {
        value: vec![(Value::new(1, 0), term)],
        change: Change::Value,
    });
    network.outputs = outputs.collect();
    network
}

/// Derives one network, in short form and in full, and compares each step; none if it has no equations or no
/// derivation.
fn compared(seed: u64, network: Network) -> Option<usize> {
    let network = measured(network);
    let source = write(&network);
    let compilation = compiled(&source, None);
    let (model, system) = (compilation.formulated_model()?, compilation.system()?);
    let omega = 1.7;
    let values = independent(&network, model, omega)?;
    let entries = system.parameters.iter().flat_map(|parameter| &parameter.entries);
    let parameters = entries
        .map(|entry| (entry.symbol, lgm::expr::to_f64(&entry.value)))
        .collect();
    let mut steps = 0;
    for is_full in [false, true] {
        let found = match compilation.derivation(is_full)? {
            Ok(found) => found,
            Err(refused) => {
                let reason = &refused.labels[0].message;
                assert!(!reason.contains("bug in lgm"), "seed {seed}: {reason}\n{source}");
                return None;
            }
        };
        for of_input in &values {
            if let Some(error) = contradiction(&found, of_input, &parameters, omega) {
                panic!("seed {seed}: {error}\n{source}\n{}", text(&found));
            }
        }
        steps += found.steps.len();
    }
    Some(steps)
}

/// Every step holds for the variables of the network according to its tableau.
#[test]
fn steps_of_random_networks_hold_for_the_reference() {
    let count = crate::support::cases::many(15);
    let (mut derived, mut steps) = (0, 0);
    for seed in 0..count {
        for network in [generate_scalar_graph(seed), generate(seed)] {
            if let Some(found) = compared(seed, network) {
                derived += 1;
                steps += found;
            }
        }
    }
    assert!(derived > count, "only {derived} of {} networks were derived", 2 * count);
    println!("{derived} of {} networks derived, {steps} steps compared", 2 * count);
}

#[test]
fn examples_of_the_help_run() {
    let help = printed("lgm equations --help");
    let lines: Vec<&str> = help
        .lines()
        .map(str::trim)
        .filter(|line| line.contains("--derive"))
        .collect();
    let lines: Vec<&str> = lines.into_iter().filter(|line| line.starts_with("lgm ")).collect();
    assert_eq!(lines.len(), 3, "{lines:?}");
    for line in lines {
        assert!(!printed(line).is_empty(), "{line}");
    }
}
