//! Properties of every random network.

use super::adapter::{Compiled, PANIC, compile_system, expressions_fit_numbers, numbers};
use super::compare::{Agreement, agree};
use super::network::{Change, Network, Output, Term, Value};
use super::shrink::shrink;
use super::tableau::{Verdict, verdict};
use super::write::write;

/// The outcome of a network.
#[derive(Clone, Copy, Debug)]
pub enum Outcome {
    /// It compiled, has the right order and agrees with the reference.
    Agreed(Agreement),
    /// It is ill-posed or would need u'', and the compiler rejected it.
    Refused,
    /// The reference cannot determine whether it must compile.
    Open,
}

/// The network with every measured variable of its sources replaced by a separate input.
fn opened(network: &Network) -> Network {
    let mut out = network.clone();
    for element in &mut out.elements {
        for signal in &mut element.signals {
            if signal.iter().any(|(_, term)| !matches!(term, Term::Input(_))) {
                signal.retain(|(_, term)| matches!(term, Term::Input(_)));
                signal.push((Value::new(1, 0), Term::Input(out.inputs)));
                out.inputs += 1;
            }
        }
    }
    out
}

/// Returns true if the loop closed by controlled sources is regular: it neither removes nor adds modes.
fn loop_is_regular(network: &Network, order: usize) -> bool {
    matches!(verdict(&opened(network)), Verdict::WellPosed { order: own, .. } if own == order)
}

/// The largest growth with frequency of any integrand: an integrand that needs u'' is rejected, although its integral
/// grows less.
fn integrand_growth(network: &Network) -> i64 {
    let mut integrands = network.clone();
    integrands.outputs.retain(|output| output.change == Change::Integral);
    for output in &mut integrands.outputs {
        output.change = Change::Value;
    }
    integrands.outputs.extend(network.integrals.iter().map(|rate| Output {
        value: rate.clone(),
        change: Change::Value,
    }));
    match verdict(&integrands) {
        Verdict::WellPosed { growth, .. } => growth,
        Verdict::IllPosed | Verdict::Loose => 0,
    }
}

/// Returns true if verification failed because coefficients are rounded to doubles. Equations that hold only for the given
/// numbers have no exact form. If values spread over many decades, the equations violate a law by more than
/// verification allows. The comparison with the reference bounds this error, and is still made.
fn is_rounding_of_numbers(error: &str) -> bool {
    error.contains("equations do not satisfy") && error.contains("equations hold for these numbers only")
}

/// Compiles a network and compares the result with the reference. The error describes the difference. `thorough` adds
/// symbolic matrices and the compiler's own verification.
pub fn check(network: &Network, thorough: bool) -> Result<Outcome, String> {
    let mut system = compile_system(&write(network), thorough);
    if system.as_ref().is_err_and(|error| is_rounding_of_numbers(error)) {
        system = compile_system(&write(network), false);
    }
    let compiled = system.as_ref().map_err(String::clone).and_then(numbers);
    if let Err(error) = &compiled
        && error.starts_with(PANIC)
    {
        return Err(error.clone());
    }
    let found = verdict(network);
    let (order, growth) = match (&found, &compiled) {
        (Verdict::IllPosed, Ok(_)) => return Err("compiled, but the network is ill-posed".to_string()),
        (Verdict::IllPosed, Err(_)) => return Ok(Outcome::Refused),
        (Verdict::Loose, _) => return Ok(Outcome::Open),
        (Verdict::WellPosed { order, growth }, _) => (*order, *growth),
    };
    match compiled {
        Ok(_) if growth >= 2 => Err("compiled, but an output needs u''".to_string()),
        Ok(compiled) => {
            expressions_fit_numbers(&system?, &compiled.linear)?;
            sound(network, &compiled, order).map(Outcome::Agreed)
        }
        Err(_) if growth >= 2 || integrand_growth(network) >= 2 => Ok(Outcome::Refused),
        Err(_) if network.is_controlled() && !loop_is_regular(network, order) => Ok(Outcome::Open),
        Err(error) => Err(format!(
            "refused, but the network is well-posed and of order {order}:\n{error}"
        )),
    }
}

fn sound(network: &Network, compiled: &Compiled, order: usize) -> Result<Agreement, String> {
    // An integral adds a state unless storage already contains it.
    let most = order + network.integral_outputs();
    if !(order..=most).contains(&compiled.states.len()) {
        return Err(format!(
            "{} states {:?}, but there are {order} finite modes",
            compiled.states.len(),
            compiled.states
        ));
    }
    agree(network, &compiled.linear)
}

/// The first line of an error, by which shrinking distinguishes faults.
fn headline(error: &str) -> String {
    error
        .split([':', '[', '\n', '='])
        .next()
        .unwrap_or("")
        .chars()
        .filter(|c| !c.is_ascii_digit())
        .collect()
}

/// A failing network after shrinking, reported in full.
pub fn report(seed: u64, network: &Network, thorough: bool, error: &str) -> String {
    let wanted = headline(error);
    let small = shrink(network, &|smaller| {
        check(smaller, thorough).is_err_and(|error| headline(&error) == wanted)
    });
    let reported = check(&small, thorough).err().unwrap_or_default();
    format!("seed {seed}: {reported}\n{:?}\n{}", verdict(&small), write(&small))
}
