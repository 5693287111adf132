//! The parasitic elements of each domain, and their values.

use super::subject::Subject;
use lgm_algebra::expr::{SymbolId, text, to_f64};
use lgm_model::{Law, Model, StorageForm};
use rustc_hash::FxHashMap;

/// The parasitic elements in series with storage, or in parallel with it.
pub(super) enum Parasitic {
    /// A stiff spring with a damper in parallel.
    Compliance {
        /// The kind and the value of the spring.
        spring: (&'static str, String),
        /// The kind of the damper; `true` if its value is a resistance.
        damper: (&'static str, bool),
    },
    /// A small resistance in series, or a large one in parallel.
    Resistance(&'static str, String),
}

/// Returns the element in series with A-type storage of a domain: a compliance in mechanics, a resistance in other domains.
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

/// Returns the element in parallel with T-type storage of a domain.
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

/// Returns the largest diagonal entry of a linear storage, in terms of the parameters; `None` for other laws.
///
/// With it, `2*sqrt(stiffness*m)` damps the motion between the element and the rest at least critically: the moving inertia is at most the
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

/// Returns true if the law of the element is linear storage.
pub(super) fn is_linear(subject: &Subject<'_>) -> bool {
    matches!(
        subject.given.model.graph.elements[subject.id.index()].law,
        Law::Storage { .. }
    )
}
