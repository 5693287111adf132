//! One network in several notations has one transfer function.
//!
//! A random scalar linear graph is compiled unchanged, as a bond graph, and with a part of it in a component. Several
//! coupled copies are compiled as separate scalar graphs and as one graph of vectors. `LGM_CASES` multiplies the number
//! of cases.

use crate::equations::networks;
use crate::support::cases::many;

use networks::adapter::{Compiled, compile_numeric};
use networks::compare::{FREQUENCIES, matrix_response};
use networks::convert::{copies, to_bonds};
use networks::generate::generate_scalar_graph;
use networks::network::Network;
use networks::random::Random;
use networks::scalar::Scalar;
use networks::tableau::{Verdict, verdict};
use networks::write::{write, write_with_component};

/// Compares two compiled forms, to 1e-8 of the largest value or to the round-off of their entries as doubles.
fn same(a: &Compiled, b: &Compiled, inputs: usize) -> Result<(), String> {
    for omega in FREQUENCIES {
        let (first, first_bounds) = matrix_response(&a.linear, inputs, omega).ok_or("jw is an eigenvalue")?;
        let (second, second_bounds) = matrix_response(&b.linear, inputs, omega).ok_or("jw is an eigenvalue")?;
        for output in 0..first.len() {
            let scale = first[output].iter().map(|value| value.size()).fold(1e-12, f64::max);
            for input in 0..inputs {
                let error = first[output][input].sub(second[output][input]).size();
                let allowed = 4.0 * (first_bounds[output][input] + second_bounds[output][input]);
                if error.is_nan() || error > (1e-8 * scale).max(allowed) {
                    return Err(format!(
                        "y{} from u{} at w = {omega}: {:?} and {:?}",
                        output + 1,
                        input + 1,
                        first[output][input],
                        second[output][input]
                    ));
                }
            }
        }
    }
    Ok(())
}

/// Compiles all forms, and compares each with the first. `same_order` if no form has additional storage.
fn compare(seed: u64, network: &Network, texts: &[String], same_order: bool) -> Result<bool, String> {
    let reported = |error: String| format!("seed {seed}: {error}\n{}", texts.join("\n"));
    let well_posed = matches!(verdict(network), Verdict::WellPosed { .. });
    let mut compiled = Vec::new();
    for text in texts {
        match compile_numeric(text) {
            Ok(it) if well_posed => compiled.push(it),
            Ok(_) => {}
            Err(error) if well_posed => return Err(format!("seed {seed}: {error}\n{text}")),
            Err(_) => {}
        }
    }
    let Some((first, others)) = compiled.split_first() else {
        return Ok(false);
    };
    for other in others {
        if same_order && first.states.len() != other.states.len() {
            return Err(reported(format!("states {:?} and {:?}", first.states, other.states)));
        }
        same(first, other, network.inputs).map_err(reported)?;
    }
    Ok(true)
}

fn run(usual: u64, one: impl Fn(u64) -> Result<bool, String>) {
    let seeds = many(usual);
    let mut compared = 0;
    let mut failures = Vec::new();
    for seed in 0..seeds {
        match one(seed) {
            Ok(true) => compared += 1,
            Ok(false) => {}
            Err(error) => failures.push(error),
        }
    }
    println!("{compared} of {seeds} networks compared, {} failed", failures.len());
    let shown: Vec<&str> = failures.iter().take(3).map(String::as_str).collect();
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), shown.join("\n"));
    assert!(
        compared > seeds / 2,
        "only {compared} of {seeds} networks were well-posed"
    );
}

#[test]
fn graph_bond_graph_and_component_agree() {
    run(125, |seed| {
        let network = generate_scalar_graph(seed);
        let mut random = Random::new(seed ^ 0xc03b);
        let mut inside: Vec<bool> = network.elements.iter().map(|_| random.percent(50)).collect();
        inside[0] = true;
        // A component has no inputs, so sources stay outside.
        for (element, inside) in network.elements.iter().zip(&mut inside) {
            *inside &= !element.law.is_source();
        }
        let part = write_with_component(&network, &|element| inside[element]);
        compare(
            seed,
            &network,
            &[write(&network), write(&to_bonds(&network)), part],
            true,
        )
    });
}

#[test]
fn copies_and_vectors_agree() {
    run(60, |seed| {
        let (scalar, vector) = copies(&generate_scalar_graph(seed), 2 + (seed % 2) as usize, seed);
        compare(seed, &scalar, &[write(&scalar), write(&vector)], false)
    });
}
