//! What is seen from a port, computed and printed.

use super::polynomials::polynomial;
use super::shared::{LinearModel, formulated};
use lgm_analysis::{Equivalent, EquivalentKind, Place, Ratio, Test, equivalent, probe};
use lgm_equations::Options;
use lgm_equations::bond::lower;
use lgm_model::Model;
use lgm_source::diagnostic::Diagnostic;
use serde_json::{Value, json};

/// The equivalent by a through source at the port; where that cannot be, as at an open end, by an across source.
pub(super) fn find(
    model: &LinearModel,
    whole: &Model,
    place: &Place,
    numeric: bool,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Equivalent> {
    let options = Options {
        states: model.states.request(),
        ..Options::default()
    };
    let mut first: Vec<Diagnostic> = Vec::new();
    for test in [Test::Through, Test::Across] {
        let mut found = Vec::new();
        let one = probe(whole, place, test).map_err(|fault| found.push(*fault)).ok();
        let system = one.and_then(|probe| {
            let graph = lower(&probe.model);
            formulated(probe.model, &graph, &options, &model.linearize, &mut found)
        });
        let result = system.and_then(|(_, system)| {
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
pub(super) fn coefficients(list: &[String], numeric: bool) -> Value {
    let value = |text: &String| match text.parse::<f64>() {
        Ok(number) if numeric => json!(number),
        _ => json!(text),
    };
    list.iter().map(value).collect()
}

/// A ratio as JSON.
pub(super) fn ratio_json(ratio: &Ratio, numeric: bool) -> Value {
    json!({"num": coefficients(&ratio.numerator, numeric), "den": coefficients(&ratio.denominator, numeric)})
}

/// The word of a kind of source.
pub(super) fn kind_word(kind: EquivalentKind) -> &'static str {
    match kind {
        EquivalentKind::Across => "across",
        EquivalentKind::Through => "through",
    }
}

/// One source as an object, several as a list.
pub(super) fn sources_json(found: &Equivalent, numeric: bool) -> Value {
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
pub(super) fn ratio_text(ratio: &Ratio) -> String {
    match polynomial(&ratio.denominator).as_str() {
        "1" => polynomial(&ratio.numerator),
        "0" => "infinite".to_string(),
        below => format!("({})/({below})", polynomial(&ratio.numerator)),
    }
}
