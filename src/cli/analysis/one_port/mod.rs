//! The equivalent of a network at a port, computed and printed.

pub(in crate::cli) mod convert;
pub(in crate::cli) mod thevenin;

use super::polynomials::{polynomial, quotient};
use super::shared::{LinearModel, formulated};
use lgm_algebra::expr::SymbolId;
use lgm_analysis::{Equivalent, EquivalentKind, Place, Ratio, Reduction, Test, equivalent, probe};
use lgm_equations::bond::lower;
use lgm_equations::{Options, StateSystem};
use lgm_model::Model;
use lgm_source::diagnostic::Diagnostic;
use serde_json::{Value, json};
use std::io::{self, Write};

/// The equations of a network with a test at a place, and with outputs for what is measured elsewhere; none where the test cannot be, with
/// the reasons added.
fn probed(
    model: &LinearModel,
    (whole, place): (&Model, &Place),
    (test, measures, is_symbolic): (Test, &[SymbolId], bool),
    reasons: &mut Vec<Diagnostic>,
) -> Option<StateSystem> {
    let options = Options {
        states: model.states.request(),
        symbolic: is_symbolic,
        ..Options::default()
    };
    let mut found = Vec::new();
    let one = probe(whole, place, test, measures);
    let system = one.map_err(|fault| found.push(*fault)).ok().and_then(|probe| {
        let graph = lower(&probe.model);
        formulated(probe.model, &graph, &options, &model.linearize, &mut found)
    });
    reasons.append(&mut found);
    system.map(|(_, system)| system)
}

/// The equivalent by a through source at the port; where that cannot be, as at an open end, by an across source.
fn find(
    model: &LinearModel,
    whole: &Model,
    place: &Place,
    numeric: bool,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Equivalent> {
    let mut first: Vec<Diagnostic> = Vec::new();
    for test in [Test::Through, Test::Across] {
        let mut found = Vec::new();
        let result = probed(model, (whole, place), (test, &[], true), &mut found).and_then(|system| {
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

/// Coefficients as JSON.
fn coefficients(list: &[String], numeric: bool) -> Value {
    let value = |text: &String| match text.parse::<f64>() {
        Ok(number) if numeric => json!(number),
        _ => json!(text),
    };
    list.iter().map(value).collect()
}

/// A ratio as JSON.
fn ratio_json(ratio: &Ratio, numeric: bool) -> Value {
    json!({"num": coefficients(&ratio.numerator, numeric), "den": coefficients(&ratio.denominator, numeric)})
}

/// The word of a kind of source.
fn kind_word(kind: EquivalentKind) -> &'static str {
    match kind {
        EquivalentKind::Across => "across",
        EquivalentKind::Through => "through",
    }
}

/// One source as an object, several as a list.
fn sources_json(found: &Equivalent, numeric: bool) -> Value {
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

/// A ratio on one line.
fn ratio_text(ratio: &Ratio) -> String {
    match polynomial(&ratio.denominator).as_str() {
        "0" => "infinite".to_string(),
        below => quotient(&polynomial(&ratio.numerator), below),
    }
}

/// The steps of a reduction, numbered as later steps refer to them.
fn write_steps(steps: &[Reduction], out: &mut dyn Write) -> io::Result<()> {
    for (at, step) in steps.iter().enumerate() {
        let end = |end: &Option<String>| end.as_deref().unwrap_or("gnd").to_string();
        let ends = format!("{} -> {}", end(&step.ends.0), end(&step.ends.1));
        write!(
            out,
            "  {}: {} of {}, {ends}: ",
            at + 1,
            step.rule.word(),
            step.of.join(", ")
        )?;
        let source = step.source.as_ref().map(ratio_text);
        match (&step.impedance, source) {
            (Some(impedance), None) => writeln!(out, "across/through = {}", ratio_text(impedance))?,
            (Some(impedance), Some(source)) => {
                writeln!(
                    out,
                    "across/through = {}, across source {source}",
                    ratio_text(impedance)
                )?;
            }
            (None, source) => writeln!(out, "through source {}", source.as_deref().unwrap_or("0"))?,
        }
    }
    Ok(())
}

/// The steps as `[{"rule", "of", "impedance", "source", "kind"}]`.
fn steps_json(steps: &[Reduction]) -> Value {
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
