//! The names and places of inputs that are made for what a law holds.

use lgm_model::{Law, Model, PortId, SiUnit, Variable};
use lgm_source::Span;
use std::sync::Arc;

/// Whose expression it is: what a new input is named after.
#[derive(Clone, Debug)]
pub(crate) struct Owner {
    /// What the whole expression is called, where it has a name.
    pub(crate) whole: Option<Arc<str>>,
    pub(crate) name: Arc<str>,
    pub(crate) unit: Option<SiUnit>,
    pub(crate) span: Span,
}

pub(crate) fn owner(name: String, span: Span) -> Owner {
    Owner {
        whole: None,
        name: name.into(),
        unit: None,
        span,
    }
}

/// The owner of the expression of this number in the law of an element: a source's value is the variable that it gives.
pub(crate) fn owner_of_law(model: &Model, at: usize, number: usize) -> Owner {
    let element = &model.graph.elements[at];
    let plain = owner(model.path_name(element.path), element.law_span);
    let Law::Source { given, .. } = &element.law else {
        return plain;
    };
    let port = &model.graph.ports[PortId(element.ports.start + number as u32).index()];
    let (word, unit) = match port.domain.map(|id| &model.graph.domains[id.index()]) {
        Some(domain) if domain.effort_is_across == (*given == Variable::Effort) => {
            (&*domain.across, domain.across_unit.clone())
        }
        Some(domain) => (&*domain.through, domain.through_unit.clone()),
        None if *given == Variable::Effort => ("e", None),
        None => ("f", None),
    };
    let entry = port.entry.map(|entry| format!("[{entry}]")).unwrap_or_default();
    Owner {
        whole: Some(format!("{}.{word}{entry}", plain.name).into()),
        unit,
        ..plain
    }
}
