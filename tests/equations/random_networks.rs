//! Random linear networks compared with an independent solution.
//!
//! `LGM_CASES=60 cargo test --test all agree_with_the_reference -- --nocapture` runs 60 times the usual number;
//! `LGM_SEED=17` is the first seed, and `LGM_TRACE=1` prints each seed as it begins. Every fourth network is also
//! compiled with symbolic matrices and verified by the compiler; in campaigns every network is. A failing network is
//! shrunk and printed as `.lgm` text with its seed.

use crate::equations::networks;
use crate::support::cases::{first_seed, is_campaign, many};

use networks::check::{Outcome, check, report};
use networks::convert::{copies, to_bonds};
use networks::generate::{generate, generate_scalar_graph};
use networks::network::{
    Change, Connection, Domain, Element, Junction, JunctionKind, Law, Matrix, Network, Output, Slot, Term, Value,
};
use networks::nodal::node_response;
use networks::scalar::{Complex, Scalar};
use networks::tableau::{Verdict, response, verdict};
use networks::write::{write, write_with_component};

/// Two references agree much better than the tolerance for the compiler.
fn assert_same(a: &[Vec<Complex>], b: &[Vec<Complex>], what: &str) {
    for (a, b) in a.iter().flatten().zip(b.iter().flatten()) {
        let error = a.sub(*b).size();
        assert!(
            error <= 1e-16 * a.size().max(b.size()).max(1e-9),
            "{what}: {a:?} and {b:?}"
        );
    }
}

#[test]
fn tableau_and_nodal_analysis_agree() {
    let mut compared = 0;
    for seed in 0..400 {
        let mut network = generate_scalar_graph(seed);
        network.outputs = (0..network.junctions.len())
            .map(|junction| Output {
                value: vec![(Value::new(1, 0), Term::Common(junction, 0))],
                change: Change::Value,
            })
            .collect();
        if let (Some(a), Some(b)) = (response(&network, 3.7), node_response(&network, 3.7)) {
            assert_same(&a, &b, &format!("seed {seed}\n{}", write(&network)));
            compared += 1;
        }
    }
    assert!(compared > 200, "only {compared} networks had a solution");
}

#[test]
fn linear_graphs_and_their_bond_graphs_agree_in_the_reference() {
    let mut compared = 0;
    for seed in 0..400 {
        let network = generate_scalar_graph(seed);
        let bonds = to_bonds(&network);
        let text = || format!("seed {seed}\n{}\n{}", write(&network), write(&bonds));
        assert_eq!(verdict(&network), verdict(&bonds), "{}", text());
        if let (Some(a), Some(b)) = (response(&network, 3.7), response(&bonds, 3.7)) {
            assert_same(&a, &b, &text());
            compared += 1;
        }
    }
    assert!(compared > 200, "only {compared} networks had a solution");
}

#[test]
fn copies_and_their_vector_graph_agree_in_the_reference() {
    let mut compared = 0;
    for seed in 0..200 {
        let (scalar, vector) = copies(&generate_scalar_graph(seed), 2 + (seed % 2) as usize, seed);
        let text = || format!("seed {seed}\n{}\n{}", write(&scalar), write(&vector));
        // Springs between copies outnumber the entries of the one vector spring, so the orders may differ.
        assert_eq!(kind_of(&verdict(&scalar)), kind_of(&verdict(&vector)), "{}", text());
        if let (Some(a), Some(b)) = (response(&scalar, 3.7), response(&vector, 3.7)) {
            assert_same(&a, &b, &text());
            compared += 1;
        }
    }
    assert!(compared > 100, "only {compared} networks had a solution");
}

/// The response at high frequency must grow according to the exact degrees.
#[test]
fn growth_and_order_fit_the_response_at_high_frequency() {
    let mut checked = 0;
    for seed in 0..300 {
        let network = generate(seed);
        let Verdict::WellPosed { growth, .. } = verdict(&network) else {
            continue;
        };
        let largest = |omega: f64| -> f64 {
            let values = response(&network, omega).expect("well-posed networks have a response");
            values.iter().flatten().map(|value| value.size()).fold(0.0, f64::max)
        };
        let (low, high) = (largest(1e13), largest(1e14));
        if low > 0.0 {
            let slope = (high / low).log10();
            assert!(
                (slope - growth as f64).abs() < 0.05,
                "seed {seed}: slope {slope}\n{}",
                write(&network)
            );
            checked += 1;
        }
    }
    assert!(checked > 100, "only {checked} networks were checked");
}

/// A series of R = 3, L = 0.5 and C = 0.125 at w = 2: the impedance is 3 + j(1 - 4) = 3 - 3j, so the current is (1 + j)/6.
#[test]
fn double_double_solves_a_series_circuit_to_thirty_digits() {
    let mut network = Network {
        inputs: 1,
        ..Network::default()
    };
    for name in ["a", "b", "c"] {
        network.junctions.push(Junction {
            name: name.to_string(),
            kind: JunctionKind::Node,
            domain: Some(Domain::Electrical),
            width: None,
            hidden: false,
        });
    }
    let node = |junction: usize| Some(Slot { junction, entry: None });
    let source = vec![vec![(Value::new(1, 0), Term::Input(0))]];
    for (name, law, kind, value, from, to, signals) in [
        (
            "s",
            Law::AcrossSource,
            "VoltageSource",
            Value::new(1, 0),
            node(0),
            None,
            source,
        ),
        (
            "r",
            Law::Resistance,
            "Resistor",
            Value::new(3, 0),
            node(0),
            node(1),
            Vec::new(),
        ),
        (
            "l",
            Law::TType,
            "Inductor",
            Value::new(5, -1),
            node(1),
            node(2),
            Vec::new(),
        ),
        (
            "c",
            Law::AType,
            "Capacitor",
            Value::new(125, -3),
            node(2),
            None,
            Vec::new(),
        ),
    ] {
        network.elements.push(Element {
            name: name.to_string(),
            law,
            matrix: Matrix::scalar(value),
            signals,
            ports: vec![Connection::Branch { from, to }],
            kind,
            named: false,
            hidden: false,
        });
    }
    network.outputs.push(Output {
        value: vec![(Value::new(6, 0), Term::Second(1, 0, 0))],
        change: Change::Value,
    });
    let value = response(&network, 2.0).unwrap()[0][0];
    assert!(value.sub(Complex::new(1.0, 1.0)).size() < 1e-30, "{value:?}");
    assert_eq!(verdict(&network), Verdict::WellPosed { order: 2, growth: -1 });
}

/// The parser's diagnostics of a text.
fn parse_faults(text: &str) -> String {
    let mut map = lgm::source::SourceMap::default();
    let root = map.add("network.lgm", text, None);
    let (_, diagnostics) = lgm::syntax::parse(root, text);
    lgm::rendering::render(&map, &diagnostics, false)
}

#[test]
fn every_text_parses() {
    for seed in 0..500 {
        let (_, vector) = copies(&generate_scalar_graph(seed), 2, seed);
        let graph = generate_scalar_graph(seed);
        let part = write_with_component(&graph, &|element| !graph.elements[element].law.is_source());
        for text in [write(&generate(seed)), write(&vector), write(&to_bonds(&graph)), part] {
            let faults = parse_faults(&text);
            assert!(faults.is_empty(), "seed {seed}\n{faults}\n{text}");
        }
    }
    for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/causality/headline")).unwrap() {
        let path = entry.unwrap().path();
        let faults = parse_faults(&std::fs::read_to_string(&path).unwrap());
        assert!(faults.is_empty(), "{}\n{faults}", path.display());
    }
}

/// The class of the network: well-posed, needing u'', ill-posed, loose.
fn kind_of(verdict: &Verdict) -> usize {
    match verdict {
        Verdict::WellPosed { growth, .. } if *growth >= 2 => 1,
        Verdict::WellPosed { .. } => 0,
        Verdict::IllPosed => 2,
        Verdict::Loose => 3,
    }
}

fn kinds(networks: impl Iterator<Item = Network>) -> [usize; 4] {
    let mut counts = [0; 4];
    for network in networks {
        counts[kind_of(&verdict(&network))] += 1;
    }
    counts
}

#[test]
fn most_random_networks_are_well_posed_and_some_are_not() {
    let [well, second, ill, loose] = kinds((0..500).map(generate));
    println!("well-posed {well}, needing u'' {second}, ill-posed {ill}, loose {loose}");
    assert!(well > 300, "only {well} of 500 are well-posed");
    assert!(
        second > 0 && ill > 10,
        "the generator should also make {second} + {ill} faulty ones"
    );
}

/// The usual number of networks.
const NETWORKS: u64 = 400;

/// Counts over all networks.
#[derive(Default)]
struct Tally {
    agreed: usize,
    refused: usize,
    open: usize,
    rounded: usize,
    worst: f64,
    failures: Vec<String>,
}

fn run(seeds: impl Iterator<Item = u64>, thorough: u64) -> Tally {
    let mut tally = Tally::default();
    for seed in seeds {
        let network = generate(seed);
        let thorough = seed % 8 < thorough;
        if std::env::var_os("LGM_TRACE").is_some() {
            eprintln!("seed {seed}");
        }
        match check(&network, thorough) {
            Ok(Outcome::Agreed(agreement)) => {
                tally.agreed += 1;
                tally.rounded += agreement.rounded;
                tally.worst = tally.worst.max(agreement.worst);
            }
            Ok(Outcome::Refused) => tally.refused += 1,
            Ok(Outcome::Open) => tally.open += 1,
            Err(error) if tally.failures.len() < 5 => tally.failures.push(report(seed, &network, thorough, &error)),
            Err(error) => {
                let line = error.lines().next().unwrap_or("");
                tally.failures.push(format!("seed {seed}: {line}"));
            }
        }
    }
    tally
}

#[test]
fn random_networks_agree_with_the_reference() {
    let seeds = first_seed()..first_seed() + many(NETWORKS);
    // The first two of every eight networks, one for each thread.
    let thorough = if is_campaign() { 8 } else { 2 };
    let parts: Vec<Tally> = std::thread::scope(|scope| {
        let parts: Vec<_> = (0..2)
            .map(|part| {
                scope.spawn({
                    let seeds = seeds.clone();
                    move || run(seeds.filter(|seed| seed % 2 == part), thorough)
                })
            })
            .collect();
        parts
            .into_iter()
            .map(|part| part.join().expect("a part of the networks panicked"))
            .collect()
    });
    let sum = |count: fn(&Tally) -> usize| -> usize { parts.iter().map(count).sum() };
    let failures: Vec<&String> = parts.iter().flat_map(|part| &part.failures).collect();
    println!(
        "{} agreed (worst {:e}, {} values within rounding only), {} refused rightly, {} open, {} failed",
        sum(|part| part.agreed),
        parts.iter().map(|part| part.worst).fold(0.0, f64::max),
        sum(|part| part.rounded),
        sum(|part| part.refused),
        sum(|part| part.open),
        failures.len(),
    );
    let shown: Vec<&str> = failures.iter().map(|failure| failure.as_str()).collect();
    assert!(failures.is_empty(), "{}", shown.join("\n"));
}

/// Networks of long runs that the compiler once got wrong, each for a different reason: numbers that make a loop of
/// couplers singular, zero entries of a matrix parameter, limits of the symbolic algebra, models without states,
/// integrands that need u''.
#[test]
fn networks_that_once_failed() {
    for seed in [65, 342, 992, 1145, 1966, 8016, 8959, 20856, 62401, 86552] {
        let network = generate(seed);
        if let Err(error) = check(&network, true) {
            panic!("{}", report(seed, &network, true, &error));
        }
    }
}

/// The formatter changes only whitespace: the equations stay the same for any layout.
#[test]
fn formatting_keeps_the_equations_of_random_networks() {
    let equations = |text: &str| {
        let mut map = lgm::source::SourceMap::default();
        let root = map.add("network.lgm", text, None);
        let (system, _) = lgm::compile(&lgm::source::NoFiles, &mut map, root, &lgm::Request::default());
        system.map(|system| {
            let mut json = Vec::new();
            lgm::emit::json(&system, lgm::emit::MatrixOptions::default(), &mut json).unwrap();
            String::from_utf8(json).unwrap()
        })
    };
    let mut compared = 0;
    for seed in 0..80 {
        let network = generate(seed);
        let text = write(&network);
        // Without comments the text fits on one line, and its statements may be far apart.
        let words: Vec<&str> = text.lines().map(|line| line.split("//").next().unwrap_or("")).collect();
        let before = equations(&text);
        for spaced in [words.join(" "), words.join("\n").replace("; ", " ;\n\n\n   ")] {
            let formatted = lgm::syntax::format(lgm::source::SourceId(0), &spaced).expect("it has no faults");
            assert_eq!(equations(&formatted), before, "seed {seed}\n{text}\n{formatted}");
        }
        compared += usize::from(before.is_some());
    }
    assert!(compared > 40, "only {compared} networks had equations");
}
