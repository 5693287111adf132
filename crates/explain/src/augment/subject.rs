//! A dependent storage element in its text, and the locations near it.

use lgm_model::{Connection, ElementId, Measure, Model, NodeId, PortId};
use lgm_source::SourceId;
use lgm_syntax::ast::{self, Expr, ExprKind, Instance, Statement, StatementKind};

/// The rule that selected a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Between a coupler on the causal path and the node or junction of the element: a connection of bodies or of circuits.
    Connection,
    /// Between the element and its node or junction.
    Element,
    /// In parallel with the element.
    Beside,
    /// At a port of the component that contains the element.
    Port,
}

impl Rule {
    /// Returns the name used in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Rule::Connection => "connection",
            Rule::Element => "element",
            Rule::Beside => "beside",
            Rule::Port => "port",
        }
    }
}

/// A location with the inserted statements.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// The element that was dependent.
    pub element: String,
    /// The rule that selected the location.
    pub rule: Rule,
    /// The location in words.
    pub at: String,
    /// The reason for the location, as a sentence.
    pub because: String,
    /// The statements that were added.
    pub inserted: Vec<String>,
}

/// Returns values just after the start, by their measurement: at one port, or on a bond. `None` if they are unknown.
pub type Starts<'a> = dyn Fn(&[Measure]) -> Option<Vec<f64>> + 'a;

/// A model with its source text.
pub struct ModelText<'a> {
    /// The flat model.
    pub model: &'a Model,
    /// The text.
    pub text: &'a str,
    /// The source id of the text.
    pub source: SourceId,
    /// The model in the syntax tree of the text.
    pub declared: &'a ast::Model,
    /// Values at the start.
    pub starts: &'a Starts<'a>,
}

/// The dependent element in the flat model.
pub(super) struct Subject<'a> {
    pub(super) given: &'a ModelText<'a>,
    pub(super) id: ElementId,
    pub(super) name: String,
    /// True if its co-energy variable is an across variable, or an effort for a bond element.
    pub(super) is_across: bool,
    pub(super) ports: Vec<PortId>,
}

/// Returns the separate statement that declares an instance.
pub(super) fn instance_of<'a>(given: &ModelText<'a>, name: &str) -> Option<&'a Instance> {
    given.declared.body.iter().find_map(|statement| match &statement.kind {
        StatementKind::Instance(instance) => {
            let is_named = *instance.declared.name.text == *name && instance.declared.brackets.is_empty();
            is_named.then_some(&**instance)
        }
        _ => None,
    })
}

/// Returns the statement of an instance.
pub(super) fn statement_of<'a>(given: &ModelText<'a>, name: &str) -> Option<&'a Statement> {
    given.declared.body.iter().find(|statement| match &statement.kind {
        StatementKind::Instance(instance) => *instance.declared.name.text == *name,
        _ => false,
    })
}

/// Returns the nodes that a branch or a bond connects to a port.
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

/// Returns true if an end of a branch is the reference.
pub(super) fn is_reference(end: &Expr) -> bool {
    matches!(&end.kind, ExprKind::Name(name) if &*name.text == "gnd")
}
