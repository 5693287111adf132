//! The names and source locations of inputs that are created for the expressions of a law.

use lgm_model::{Law, Model, PortId, SiUnit, Variable};
use lgm_source::Span;
use std::sync::Arc;

/// The owner of an expression: the source of the name of a new input.
#[derive(Clone, Debug)]
pub(crate) struct Owner {
    /// The name of the whole expression, if it has one.
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

/// Returns the owner of an expression, given its number in the law of an element: the owner of a source's value is the
/// variable that the source gives.
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
