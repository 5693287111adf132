//! A dependent storage element in its text, and the places near it.

use lgm_model::{Connection, ElementId, Measure, Model, NodeId, PortId};
use lgm_source::SourceId;
use lgm_syntax::ast::{self, Expr, ExprKind, Instance, Statement, StatementKind};

/// The rule by which a place was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Between a coupler on the causal path and the node or junction of the element: a connection of bodies or of circuits.
    Connection,
    /// Between the element and its node or junction.
    Element,
    /// Beside the element, over its ends.
    Beside,
    /// At a port of the component that holds the element.
    Port,
}

impl Rule {
    /// The word of the JSON.
    pub fn word(self) -> &'static str {
        match self {
            Rule::Connection => "connection",
            Rule::Element => "element",
            Rule::Beside => "beside",
            Rule::Port => "port",
        }
    }
}

/// A place with what was put there.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// The element that was dependent.
    pub element: String,
    /// The rule by which the place was chosen.
    pub rule: Rule,
    /// The place in words.
    pub at: String,
    /// The reason for the place, as a sentence.
    pub because: String,
    /// The statements that were added.
    pub inserted: Vec<String>,
}

/// Values just after the start, by what is measured: of one port, or of a bond. None if they are not known.
pub type Starts<'a> = dyn Fn(&[Measure]) -> Option<Vec<f64>> + 'a;

/// A model in its text.
pub struct Given<'a> {
    /// The flat model.
    pub model: &'a Model,
    /// The text.
    pub text: &'a str,
    /// Its source.
    pub source: SourceId,
    /// The model in the tree of the text.
    pub declared: &'a ast::Model,
    /// Values at the start.
    pub starts: &'a Starts<'a>,
}

/// The dependent element, as it stands in the flat model.
pub(super) struct Subject<'a> {
    pub(super) given: &'a Given<'a>,
    pub(super) id: ElementId,
    pub(super) name: String,
    /// If its co-energy variable is an across variable, or of a bond element an effort.
    pub(super) is_across: bool,
    pub(super) ports: Vec<PortId>,
}

/// The statement that declares an instance by itself.
pub(super) fn instance_of<'a>(given: &Given<'a>, name: &str) -> Option<&'a Instance> {
    given.declared.body.iter().find_map(|statement| match &statement.kind {
        StatementKind::Instance(instance) => {
            let is_named = *instance.declared.name.text == *name && instance.declared.brackets.is_empty();
            is_named.then_some(&**instance)
        }
        _ => None,
    })
}

/// The statement of an instance.
pub(super) fn statement_of<'a>(given: &Given<'a>, name: &str) -> Option<&'a Statement> {
    given.declared.body.iter().find(|statement| match &statement.kind {
        StatementKind::Instance(instance) => *instance.declared.name.text == *name,
        _ => false,
    })
}

/// The nodes that a port is joined to, by a branch or a bond.
pub(super) fn nodes_of(model: &Model, port: PortId) -> Vec<NodeId> {
    match &model.graph.ports[port.index()].connection {
        Connection::Branch { from, to, .. } => [*from, *to].into_iter().flatten().collect(),
        Connection::Bond(bond) => {
            let bond = &model.graph.bonds[bond.index()];
            let ends = [bond.tail, bond.head].into_iter();
            ends.filter_map(|end| match end {
                lgm_model::BondEnd::Node(node) => Some(node),
                lgm_model::BondEnd::Port(_) => None,
            })
            .collect()
        }
    }
}

/// If an end of a branch is the reference.
pub(super) fn is_reference(end: &Expr) -> bool {
    matches!(&end.kind, ExprKind::Name(name) if &*name.text == "gnd")
}
