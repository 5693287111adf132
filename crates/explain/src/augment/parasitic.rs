//! The parasitic elements of each domain, and their values.

use super::subject::Subject;
use lgm_algebra::expr::{SymbolId, text, to_f64};
use lgm_model::{Law, Model, StorageForm};
use rustc_hash::FxHashMap;

/// The parasitic elements that stand in series with storage, or beside it.
pub(super) enum Parasitic {
    /// A stiff spring, and a damper over the same ends.
    Compliance {
        /// The kind and the value of the spring.
        spring: (&'static str, String),
        /// The kind of the damper; its value is a resistance if `true`.
        damper: (&'static str, bool),
    },
    /// A small resistance in series, or a large one beside.
    Resistance(&'static str, String),
}

/// The element that stands in series with an A-type storage of a domain: a compliance in mechanics, a resistance elsewhere.
pub(super) fn in_series(domain: &str, stiffness: &str) -> Parasitic {
    let compliance = |spring: &'static str, damper: &'static str| Parasitic::Compliance {
        spring: (spring, stiffness.to_string()),
        damper: (damper, false),
    };
    let resistance = |kind: &'static str| Parasitic::Resistance(kind, format!("1/{stiffness}"));
    match domain {
        "translational" => compliance("Spring", "Damper"),
        "rotational" => compliance("TorsionSpring", "RotaryDamper"),
        "electrical" => resistance("Resistor"),
        "fluid" => resistance("FluidResistor"),
        "thermal" => resistance("ThermalResistor"),
        _ => Parasitic::Compliance {
            spring: ("TType", format!("1/{stiffness}")),
            damper: ("DType", true),
        },
    }
}

/// The element that stands beside a T-type storage of a domain.
pub(super) fn beside(domain: &str, stiffness: &str) -> (&'static str, String) {
    match domain {
        "translational" => ("Damper", format!("1/{stiffness}")),
        "rotational" => ("RotaryDamper", format!("1/{stiffness}")),
        "electrical" => ("Resistor", stiffness.to_string()),
        "fluid" => ("FluidResistor", stiffness.to_string()),
        "thermal" => ("ThermalResistor", stiffness.to_string()),
        _ => ("DType", stiffness.to_string()),
    }
}

/// The largest entry on the diagonal of a linear storage, as it is written over the parameters; none for other laws.
///
/// With it, `2*sqrt(stiffness*m)` damps what moves between the element and the rest critically or more: what moves there has at most the
/// inertia of the element.
pub(super) fn inertia(subject: &Subject<'_>) -> Option<String> {
    let model: &Model = subject.given.model;
    let Law::Storage { value, form, .. } = &model.graph.elements[subject.id.index()].law else {
        return None;
    };
    let entries = model.parameters.iter().flat_map(|parameter| &parameter.entries);
    let values: FxHashMap<SymbolId, f64> = entries.map(|entry| (entry.symbol, to_f64(&entry.value))).collect();
    let diagonal: Vec<_> = (0..value.rows).map(|at| value.get(at, at)).collect();
    let numbers = model
        .exprs
        .evaluate_unchecked(&diagonal, &|symbol| values.get(&symbol).copied());
    let largest = (0..diagonal.len()).max_by(|a, b| numbers[*a].total_cmp(&numbers[*b]))?;
    let written = text(&model.exprs, diagonal[largest]);
    Some(match form {
        StorageForm::Direct => written,
        StorageForm::Inverse => format!("1/({written})"),
    })
}

/// If the law of the element is a linear storage.
pub(super) fn is_linear(subject: &Subject<'_>) -> bool {
    matches!(
        subject.given.model.graph.elements[subject.id.index()].law,
        Law::Storage { .. }
    )
}
