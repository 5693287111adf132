//! The equivalent of a network at a port, as data and as JSON.

use crate::analysis::modes::formulated;
use lgm_algebra::expr::SymbolId;
use lgm_analysis::{
    Equivalent, EquivalentKind, LinearizeRequest, Place, Ratio, Reduction, Test, equivalent, linearize, observe, probe,
    stepwise,
};
use lgm_compilation::Whole;
use lgm_equations::bond::lower;
use lgm_equations::{Options, StateRequest, StateSystem, formulate_with_time, shortest_decimal};
use lgm_model::Model;
use lgm_model::system::OperatingPoint;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use serde_json::{Value, json};
use std::sync::Arc;

/// The form of the equations of a network.
#[derive(Clone, Copy, Debug)]
pub struct PortRequest {
    /// The choice of states.
    pub states: StateRequest,
    /// The linearisation of a nonlinear network.
    pub linearize: Option<LinearizeRequest>,
}

/// A network, and its port.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'n> {
    /// The network.
    pub network: &'n Model,
    /// The port.
    pub place: &'n Place,
    /// True if the network is the whole model, whose operating point is the point of linearisation.
    pub is_whole: bool,
}

/// Derives the equations of a network with a test source at a port, and with outputs for variables measured elsewhere. `None` if the test is
/// impossible; the reasons are added.
pub fn probed(
    asked: PortRequest,
    seen: Seen<'_>,
    (test, measures, is_symbolic): (Test, &[SymbolId], bool),
    reasons: &mut Vec<Diagnostic>,
) -> Option<StateSystem> {
    let options = Options {
        states: asked.states,
        symbolic: is_symbolic,
        ..Options::default()
    };
    let probe = probe(seen.network, seen.place, test, measures);
    let probe = probe.map_err(|fault| reasons.push(*fault)).ok()?;
    let graph = lower(&probe.model);
    let (made, found) = formulate_with_time(&probe.model, &graph, &options);
    reasons.extend(found.into_iter().filter(Diagnostic::is_error));
    let (system, own) = made?;
    if system.equations.linear || asked.linearize.is_none() {
        return Some(system);
    }
    let changed = own.unwrap_or(probe.model);
    linearized(asked, seen, (changed, test, system, is_symbolic), reasons)
}

/// Linearises the equations of a nonlinear network with a test source at the operating point of the whole model. The test source has the
/// value of the variable that it replaces.
fn linearized(
    asked: PortRequest,
    seen: Seen<'_>,
    (mut changed, test, system, symbolic): (Model, Test, StateSystem, bool),
    reasons: &mut Vec<Diagnostic>,
) -> Option<StateSystem> {
    let refusal = |message: String, help: &str| Diagnostic::error(Code::LGM0718, message).help(help);
    if !seen.is_whole {
        reasons.push(refusal(
            "the network behind a coupler is not linear".to_string(),
            "choose the port of the coupler: `lgm thevenin FILE --linearize --at COUPLER.PORT`",
        ));
        return None;
    }
    let point = operating_point(asked, seen, reasons)?;
    let is_exact = |name: &str| {
        !asked.linearize.is_some_and(|linearize| linearize.equilibrium)
            && seen.network.point.iter().any(|given| *given.name == *name)
    };
    let mut given: Vec<(Arc<str>, f64)> = vec![("test".into(), point.outputs[usize::from(test == Test::Across)].value)];
    for state in &system.states {
        match point.states.iter().find(|known| known.name == state.name) {
            Some(known) if known.value != state.start_value => given.push((state.name.clone(), known.value)),
            Some(_) => {}
            None => {
                let message = format!(
                    "`{}` has a state only after the element is removed, and no value at the point",
                    state.name
                );
                reasons.push(refusal(message, "choose two nodes, such as `--at a,b`"));
                return None;
            }
        }
    }
    given.extend(point.inputs.iter().map(|input| (input.name.clone(), input.value)));
    given.push(("time".into(), point.time));
    let is_there = |name: &str| {
        name == "time"
            || system.states.iter().any(|state| *state.name == *name)
            || system.declared_inputs().any(|input| *input.name == *name)
    };
    changed
        .point
        .retain(|kept| is_exact(&kept.name) && is_there(&kept.name));
    for (name, value) in given {
        if is_there(&name) && !is_exact(&name) {
            changed.give(name, shortest_decimal(value));
        }
    }
    let request = LinearizeRequest {
        equilibrium: false,
        symbolic,
    };
    let (system, found) = linearize(&changed, &system, &request);
    reasons.extend(found.into_iter().filter(Diagnostic::is_error));
    system
}

/// Returns the operating point of the whole model, with the variables of the port as outputs: through, then across.
fn operating_point(asked: PortRequest, seen: Seen<'_>, reasons: &mut Vec<Diagnostic>) -> Option<OperatingPoint> {
    let observed = observe(seen.network, seen.place);
    let observed = observed.map_err(|fault| reasons.push(*fault)).ok()?;
    let options = Options {
        states: asked.states,
        symbolic: false,
        ..Options::default()
    };
    let graph = lower(&observed);
    let linearize = asked.linearize.map(|linearize| LinearizeRequest {
        symbolic: false,
        ..linearize
    });
    let (_, system) = formulated(observed, &graph, &options, linearize, reasons)?;
    system.linearized_at
}

/// Finds the equivalent with a through source at the port. If this is impossible, as at an open end, an across source is used.
pub fn find(
    asked: PortRequest,
    seen: Seen<'_>,
    numeric: bool,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Equivalent> {
    let mut first: Vec<Diagnostic> = Vec::new();
    for test in [Test::Through, Test::Across] {
        let mut found = Vec::new();
        let result = probed(asked, seen, (test, &[], true), &mut found).and_then(|system| {
            let found_here = equivalent(&system, test, numeric);
            found_here.map_err(|fault| found.push(*fault)).ok()
        });
        if result.is_some() {
            return result;
        }
        if first.is_empty() {
            first = found;
        }
    }
    diagnostics.extend(first);
    None
}

/// Formats coefficients as JSON.
pub fn coefficients(list: &[String], numeric: bool) -> Value {
    let value = |text: &String| match text.parse::<f64>() {
        Ok(number) if numeric => json!(number),
        _ => json!(text),
    };
    list.iter().map(value).collect()
}

/// Formats a ratio as JSON.
pub fn ratio_json(ratio: &Ratio, numeric: bool) -> Value {
    json!({"num": coefficients(&ratio.numerator, numeric), "den": coefficients(&ratio.denominator, numeric)})
}

/// Returns the name of a kind of source.
pub fn kind_word(kind: EquivalentKind) -> &'static str {
    match kind {
        EquivalentKind::Across => "across",
        EquivalentKind::Through => "through",
    }
}

/// Formats sources as JSON: a single source as an object, several sources as a list.
pub fn sources_json(found: &Equivalent, numeric: bool) -> Value {
    let each = found.sources.iter().map(|(input, ratio)| {
        let mut value = ratio_json(ratio, numeric);
        value["input"] = json!(&**input);
        value["kind"] = json!(kind_word(found.kind));
        value
    });
    let mut list: Vec<Value> = each.collect();
    match list.len() {
        1 => list.swap_remove(0),
        0 => Value::Null,
        _ => Value::Array(list),
    }
}

/// Formats the steps as `[{"rule", "of", "impedance", "source", "kind"}]`.
pub fn steps_json(steps: &[Reduction]) -> Value {
    let each = steps.iter().map(|step| {
        let ratio = |ratio: &Option<Ratio>| ratio.as_ref().map(|ratio| ratio_json(ratio, false));
        json!({
            "rule": step.rule.word(),
            "of": step.of,
            "from": step.ends.0.as_deref().unwrap_or("gnd"),
            "to": step.ends.1.as_deref().unwrap_or("gnd"),
            "impedance": ratio(&step.impedance),
            "source": ratio(&step.source),
            "kind": step.source.as_ref().map(|_| if step.impedance.is_some() { "across" } else { "through" }),
        })
    });
    each.collect()
}

/// Finds the equivalent of a model at the port that `place` names, with the steps of a series-parallel reduction.
pub fn thevenin(
    whole: &Whole,
    asked: PortRequest,
    (place, numeric): (&str, bool),
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<(Equivalent, Vec<Reduction>)> {
    let place = Place::named(&whole.model, place);
    let place = place.map_err(|fault| diagnostics.push(*fault)).ok()?;
    let seen = Seen {
        network: &whole.model,
        place: &place,
        is_whole: true,
    };
    let found = find(asked, seen, numeric, diagnostics)?;
    Some((found, stepwise(&whole.model, &place).unwrap_or_default()))
}

/// Returns the JSON of `lgm thevenin`.
pub fn thevenin_json(found: &Equivalent, steps: &[Reduction], numeric: bool) -> Value {
    json!({
        "source": sources_json(found, numeric),
        "impedance": ratio_json(&found.impedance, numeric),
        "kind": kind_word(found.kind),
        "steps": steps_json(steps),
    })
}
