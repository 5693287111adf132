//! Augmented models as text and as JSON.

use super::augment::Augmented;
use super::compare::Comparison;
use serde_json::{Value, json};
use std::io::{self, Write};

/// Prints the locations with their rules, and the comparison.
pub(super) fn write_augmented(
    augmented: &Augmented,
    compared: Option<&Comparison>,
    out: &mut dyn Write,
) -> io::Result<()> {
    if augmented.places.is_empty() {
        return writeln!(out, "no dependent storage: nothing to augment");
    }
    writeln!(out, "augmented")?;
    for place in &augmented.places {
        writeln!(out, "  {}: {}", place.element, place.at)?;
        writeln!(out, "    {:<12}{}", place.rule.word(), place.because)?;
        for (at, statement) in place.inserted.iter().enumerate() {
            let word = if at == 0 { "inserted" } else { "" };
            writeln!(out, "    {word:<12}{statement}")?;
        }
    }
    if let Some((first, others)) = augmented.starts.split_first() {
        writeln!(out, "  starts      {first}")?;
        for statement in others {
            writeln!(out, "              {statement}")?;
        }
    }
    match compared {
        Some(compared) => compared.write(out),
        None => Ok(()),
    }
}

/// Returns the augmented model and the comparison as JSON.
pub(super) fn augmented_json(augmented: &Augmented, compared: Option<&Comparison>) -> Value {
    let places = augmented.places.iter().map(|place| {
        json!({
            "element": place.element,
            "rule": place.rule.word(),
            "at": place.at,
            "because": place.because,
            "inserted": place.inserted,
        })
    });
    let places: Vec<Value> = places.collect();
    let mut value = json!({
        "places": places,
        "starts": augmented.starts,
        "stiffness": augmented.parameters.stiffness,
    });
    if let Some(damping) = &augmented.parameters.damping {
        value["damping"] = json!(damping);
    }
    if let Some(compared) = compared {
        value["comparison"] = compared.json();
    }
    value
}
