//! The data that stages pass on: the flat [`Model`], from elaboration to the bond graph, and the [`StateSystem`](system::StateSystem) with
//! its [blocks], which every emitter, analysis and solver reads.
//!
//! Elaboration passes the flat model to the bond graph.
//! AFTER THIS POINT there are no components, arrays, vectors, `for`, `if`, `const`, imports, units or names to look up. Every junction and
//! every port is scalar: a vector node of width n is n junctions, and a vector element is one element with n ports and an n-by-n law. Every
//! law is one of [`Law`], and every number is in SI. Names remain only as [`PathId`]s for printing, and as the spans in diagnostics.

pub mod blame;
pub mod blocks;
pub mod counts;
mod experiment;
mod graph;
mod ids;
pub mod instances;
mod law;
mod modes;
pub mod reading;
mod sparse;
pub mod switching;
pub mod system;
mod units;

pub use experiment::{Experiment, ExperimentEntry};
pub use graph::{Bond, BondEnd, Connection, Domain, Element, Graph, JunctionKind, Node, Port, StateChoice};
pub use ids::{BondId, DomainId, ElementId, NodeId, PathId, PortId, Variable};
pub use law::{Closed, Dissipator, Law, Matrix, NonlinearLaw, StorageForm};
pub use units::{Scale, SiUnit};

use lgm_algebra::expr::{ExprId, Exprs, SymbolId, SymbolKind};
use lgm_algebra::units::Dimension;
use lgm_source::Span;
use num_rational::BigRational;
use std::sync::Arc;

/// A flat model.
#[derive(Clone, Debug)]
pub struct Model {
    /// Its declaration.
    pub heading: Heading,
    /// All expressions and symbols of the model.
    pub exprs: Exprs,
    /// The symbol of `time`.
    pub time: SymbolId,
    /// Parameters in declaration order.
    pub parameters: Vec<Parameter>,
    /// Scalar compile-time constants in declaration order.
    pub constants: Vec<Constant>,
    /// Inputs in declaration order, followed by the internal ones.
    pub inputs: Vec<Input>,
    /// Signals, which are names of expressions.
    pub signals: Vec<Signal>,
    /// Named things.
    pub paths: Vec<Path>,
    /// Junctions, elements and bonds.
    pub graph: Graph,
    /// Variables of the graph that expressions refer to, each with its symbol (kind `Measure`).
    pub measures: Vec<(SymbolId, Measure)>,
    /// `state z = int(expr)` declarations that integrate an expression.
    pub integrals: Vec<Integral>,
    /// Outputs in declaration order, vector outputs expanded.
    pub outputs: Vec<Output>,
    /// Initial values given for signals.
    pub start_conditions: Vec<StartCondition>,
    /// The run settings, if the model has an `experiment` block.
    pub experiment: Option<Experiment>,
    /// The point at which the equations are evaluated: values that options give to states, inputs and time.
    pub point: Vec<GivenValue>,
    /// The changes at events.
    pub switching: switching::Switching,
}

/// The declaration of a model.
#[derive(Clone, Debug)]
pub struct Heading {
    /// The model's name.
    pub name: Arc<str>,
    /// Its `///` lines.
    pub doc: Option<Arc<str>>,
    /// The location of its name.
    pub span: Span,
    /// The size of the model as written, before later phases of elaboration transform its laws.
    pub counts: counts::Counts,
}

/// A value that an option gives to a state, an input or `time`.
#[derive(Clone, Debug)]
pub struct GivenValue {
    /// The name as it was written.
    pub name: Arc<str>,
    /// Its value in terms of the parameters.
    pub value: ExprId,
    /// The dimension of the value; none if unknown.
    pub dimension: Option<Dimension>,
    /// Where the name was written.
    pub name_span: Span,
    /// Where the value was written.
    pub span: Span,
}

/// A `const` or `signal` with a single numerical value, in the model or a component; the equations contain its value and not its name.
#[derive(Clone, Debug)]
pub struct Constant {
    /// Its value in SI.
    pub value: BigRational,
    /// The SI unit of the value; `None` if unknown.
    pub unit: Option<SiUnit>,
    /// Its name in the source.
    pub span: Span,
}

/// A `param` of the model: a number, a vector or a matrix; or a constant of a modal block.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its name.
    pub name: Arc<str>,
    /// `[]`, `[n]` or `[rows, columns]`.
    pub shape: Vec<usize>,
    /// Entries, row by row.
    pub entries: Vec<ParameterEntry>,
    /// The SI unit of the values ("kg", "N/m"); `None` if unknown.
    pub unit: Option<SiUnit>,
    /// The conversion from the unit after the name; that of SI without a unit.
    pub scale: Scale,
    /// Its name in the source.
    pub span: Span,
    /// The unit of the literal that is its value, as written, if the numbers are not those in SI and no unit follows the name: `uH`.
    pub literal_unit: Option<Arc<str>>,
    /// The location of its value: in the source, or in the option that replaces it.
    pub value_span: Span,
    /// True for a constant of a modal block, such as the stiffness of a mode, which cannot be declared or set.
    pub is_constant: bool,
}

/// One entry of a parameter.
#[derive(Clone, Debug)]
pub struct ParameterEntry {
    /// The symbol that laws use (kind `Parameter`), named `K` or `K[1, 2]`.
    pub symbol: SymbolId,
    /// The expression that defines it, if it depends on other parameters.
    pub derived: Option<ExprId>,
    /// The constant that its value is rounded from, if that is not rational: `2*pi/3`.
    pub exact: Option<ExprId>,
    /// Its value in SI.
    pub value: BigRational,
}

/// A scalar input, or one entry of a vector input.
#[derive(Clone, Debug)]
pub struct Input {
    /// `F` or `u[1]`.
    pub name: Arc<str>,
    /// The symbol of its value (kind `Input`).
    pub symbol: SymbolId,
    /// Its default signal, an expression of time and parameters.
    pub signal: Option<ExprId>,
    /// The SI unit, if known.
    pub unit: Option<SiUnit>,
    /// The conversion from the unit after the name; that of SI without a unit.
    pub scale: Scale,
    /// Its name in the source.
    pub span: Span,
    /// True for an internal input: a function of time, not settable, whose time derivative appears in the equations.
    pub is_internal: bool,
}

/// A `signal`, or an entry of it: the name of an expression.
#[derive(Clone, Debug)]
pub struct Signal {
    /// `u` or `u[1]`, after the path of its component.
    pub name: Arc<str>,
    /// Its value.
    pub value: ExprId,
    /// The SI unit, if it could be inferred.
    pub unit: Option<SiUnit>,
    /// Its name in the source.
    pub span: Span,
}

/// A named thing and the chain of instances that contain it.
#[derive(Clone, Debug)]
pub struct Path {
    /// The instance that it is a member of.
    pub parent: Option<PathId>,
    /// Its name.
    pub name: Arc<str>,
    /// Its indices, `cell[2]`.
    pub indices: Box<[i64]>,
    /// Its name in the declaration.
    pub span: Span,
}

/// A variable of the flat graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Measure {
    /// Effort of a port.
    PortEffort(PortId),
    /// Flow of a port, absorbing.
    PortFlow(PortId),
    /// The common variable of a junction: effort of a 0-junction, flow of a 1-junction.
    Common(NodeId),
    /// Effort of a bond.
    BondEffort(BondId),
    /// Flow of a bond, from tail to head.
    BondFlow(BondId),
}

/// `state z = int(expr), start = s;`
#[derive(Clone, Debug)]
pub struct Integral {
    /// Its name.
    pub path: PathId,
    /// Its symbol (kind `State`).
    pub symbol: SymbolId,
    /// The element whose law contains the integral; none for a declared state.
    pub owner: Option<ElementId>,
    /// The integrand.
    pub rate: ExprId,
    /// Its initial value.
    pub start: Option<ExprId>,
    /// The location of `start = ..` or `guess = ..`.
    pub start_span: Option<Span>,
    /// True if `start` is only an initial guess: `guess = ..`.
    pub is_guess: bool,
    /// Its typical magnitude: `nominal = ..`.
    pub nominal: Option<ExprId>,
    /// The position equation that closes a chain, `closure = 0`, and its location. It determines the displacement, with `start` as the
    /// initial guess.
    pub closure: Option<(ExprId, Span)>,
    /// The SI unit.
    pub unit: Option<SiUnit>,
    /// Its expression as the model writes it: `int(across(w))`.
    pub written: Arc<str>,
}

impl Integral {
    /// Returns a state that integrates from 0, without an owner or a unit.
    pub fn from_zero((path, symbol): (PathId, SymbolId), rate: ExprId, written: Arc<str>) -> Integral {
        Integral {
            path,
            symbol,
            owner: None,
            rate,
            start: None,
            start_span: None,
            is_guess: false,
            nominal: None,
            closure: None,
            unit: None,
            written,
        }
    }

    /// Returns true for a state that holds the integral of its rate from `start` on.
    pub fn is_state(&self) -> bool {
        self.closure.is_none()
    }

    /// Returns true if the integral of an expression from the initial time is this state minus its initial value. If the initial value is
    /// only a guess, the offset is unknown at compile time, and the integral needs its own state.
    pub fn holds(&self, rate: ExprId) -> bool {
        self.is_state() && !self.is_guess && self.rate == rate
    }
}

/// `signal x = value, start = s;`: a condition that the initial states must satisfy.
#[derive(Clone, Debug)]
pub struct StartCondition {
    /// The name of the signal, or of an entry of it.
    pub name: Arc<str>,
    /// Its value in terms of measures, states, inputs, parameters and time; may contain `der(..)` calls.
    pub value: ExprId,
    /// Its initial value in terms of the parameters.
    pub start: ExprId,
    /// The location of `start = ..`.
    pub span: Span,
}

/// A scalar output.
#[derive(Clone, Debug)]
pub struct Output {
    /// `v` or `y[1]`.
    pub name: Arc<str>,
    /// Its value in terms of measures, inputs, parameters and time; may contain `int(..)` and `der(..)` calls.
    pub value: ExprId,
    /// The expression as it was written.
    pub written: Arc<str>,
    /// The SI unit, if it could be inferred.
    pub unit: Option<SiUnit>,
    /// Its name in the source.
    pub span: Span,
}

impl Model {
    /// Returns a model without a graph, with the symbol of `time` among its symbols.
    pub fn new(heading: Heading, exprs: Exprs, time: SymbolId) -> Model {
        Model {
            heading,
            exprs,
            time,
            parameters: Vec::new(),
            constants: Vec::new(),
            inputs: Vec::new(),
            signals: Vec::new(),
            paths: Vec::new(),
            graph: Graph::default(),
            measures: Vec::new(),
            integrals: Vec::new(),
            outputs: Vec::new(),
            start_conditions: Vec::new(),
            experiment: None,
            point: Vec::new(),
            switching: Default::default(),
        }
    }

    /// Sets the value of a state, an input or the time at the point of evaluation.
    pub fn give(&mut self, name: Arc<str>, value: BigRational) {
        let value = self.exprs.number(value);
        self.point.push(GivenValue {
            name,
            value,
            dimension: None,
            name_span: self.heading.span,
            span: self.heading.span,
        });
    }

    /// Adds a state that integrates from 0, with a unique name; returns its index in the integrals.
    pub fn add_integral(&mut self, rate: ExprId, written: &str) -> usize {
        let taken = |name: &str| {
            self.paths
                .iter()
                .any(|path| path.parent.is_none() && *path.name == *name)
        };
        let name = (1..)
            .map(|number| format!("integral_{number}"))
            .find(|name| !taken(name));
        let name: Arc<str> = name.expect("invariant: numbers do not end").into();
        let path = PathId(self.paths.len() as u32);
        self.paths.push(Path {
            parent: None,
            name: name.clone(),
            indices: Box::default(),
            span: self.heading.span,
        });
        let symbol = self.exprs.new_symbol(name, SymbolKind::State);
        self.integrals
            .push(Integral::from_zero((path, symbol), rate, written.into()));
        self.integrals.len() - 1
    }

    /// Returns the name of a block in lists of events, given its line: `when:12`, or `controller.every:63` in a component.
    pub fn block_name(&self, block: &switching::EventBlock, line: impl std::fmt::Display) -> String {
        let kind = match block.trigger {
            switching::Trigger::Every { .. } => "every",
            switching::Trigger::Becomes(_) | switching::Trigger::Initially => "when",
        };
        match block.instance {
            Some(instance) => format!("{}.{kind}:{line}", self.path_name(instance)),
            None => format!("{kind}:{line}"),
        }
    }

    /// Returns the path as written by the user: `cell[2].c`.
    pub fn path_name(&self, id: PathId) -> String {
        let mut parts = Vec::new();
        let mut at = Some(id);
        while let Some(id) = at {
            let path = &self.paths[id.index()];
            let mut part = path.name.to_string();
            if !path.indices.is_empty() {
                let list: Vec<String> = path.indices.iter().map(i64::to_string).collect();
                part.push_str(&format!("[{}]", list.join(", ")));
            }
            parts.push(part);
            at = path.parent;
        }
        parts.reverse();
        parts.join(".")
    }

    /// Returns the name of an element.
    pub fn element_name(&self, id: ElementId) -> String {
        self.path_name(self.graph.elements[id.index()].path)
    }

    /// Returns the ports of an element.
    pub fn ports_of(&self, id: ElementId) -> impl Iterator<Item = PortId> + use<> {
        self.graph.ports_of(id)
    }

    /// Adds a source named `port` on a branch between two nodes. It is not in the text and has the location of the model. The
    /// prescribed variable has `values`, at most one so far.
    pub fn add_source(
        &mut self,
        (from, to, domain): (Option<NodeId>, Option<NodeId>, Option<DomainId>),
        indices: Box<[i64]>,
        given: Variable,
        values: Vec<ExprId>,
    ) -> PortId {
        let span = self.heading.span;
        let path = PathId(self.paths.len() as u32);
        self.paths.push(Path {
            parent: None,
            name: "port".into(),
            indices,
            span,
        });
        let (port, element) = (
            PortId(self.graph.ports.len() as u32),
            ElementId(self.graph.elements.len() as u32),
        );
        self.graph.ports.push(Port {
            element,
            name: None,
            entry: None,
            domain,
            connection: Connection::Branch { from, to, span },
        });
        self.graph.elements.push(Element {
            path,
            kind: "Source".into(),
            ports: port.0..port.0 + 1,
            law: Law::Source { given, values },
            law_span: span,
            start: Vec::new(),
            start_span: None,
            nominal: Vec::new(),
            state_choice: StateChoice::CoEnergy,
            mode: None,
        });
        port
    }

    /// Returns the location of an element's declaration.
    pub fn element_span(&self, id: ElementId) -> Span {
        self.paths[self.graph.elements[id.index()].path.index()].span
    }
}
