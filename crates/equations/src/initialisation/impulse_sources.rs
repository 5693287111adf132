//! A model with sources that act on its storage, for computing the effect of impulses.
//!
//! A source of the conjugate of the co-energy variable acts only on a storage port: in parallel if the two share their
//! co-energy variable, such as a current source at a capacitor, otherwise in series. It has no other effect, and none
//! at all while it is 0.
//!
//! Controlled sources measure the flow into storage from the graph, which excludes the impulse at the storage itself. A
//! current in the storage equals the current in the branch that leads to it.

use crate::formulation::dependent_starts::{constant_part, declared_starts};
use crate::state_selection::links::{Carrier, Place};
use lgm_algebra::expr::{ExprId, Exprs, SymbolId, SymbolKind};
use lgm_model::{
    Bond, BondEnd, BondId, Connection, Element, ElementId, Input, JunctionKind, Law, Measure, Model, Node, NodeId,
    Port, PortId, StateChoice, Variable,
};
use lgm_source::Span;
use rustc_hash::FxHashMap;

/// The quantities that one impulse affects, with their weights.
pub(crate) type Push = Vec<(Carrier, ExprId)>;

/// The modified model.
pub(crate) struct Pushed {
    pub(crate) model: Model,
    /// The inputs of the impulses, one for each push.
    pub(crate) impulses: Vec<SymbolId>,
    /// Inputs that replace constants in sources, with their values.
    pub(crate) constants: Vec<(SymbolId, ExprId)>,
}

/// Returns the model with an input for each push, and one for each constant part of a source. The weights are
/// expressions of the given arena; returns `None` if they contain symbols that the model does not have.
pub(crate) fn pushed(model: &Model, exprs: &Exprs, pushes: &[Push]) -> Option<Pushed> {
    let known = model.exprs.symbol_count() as u32;
    let mut pushed = Pushed {
        model: model.clone(),
        impulses: Vec::with_capacity(pushes.len()),
        constants: Vec::new(),
    };
    pushed.model.start_conditions.clear();
    pushed.switch_constants();
    let mut copied = FxHashMap::default();
    for push in pushes {
        let symbol = pushed.input(format!("impulse {}", pushed.impulses.len() + 1));
        pushed.impulses.push(symbol);
        for (carrier, share) in push {
            if exprs.symbols_of(&[*share]).iter().any(|symbol| symbol.0 >= known) {
                return None;
            }
            let share = pushed.model.exprs.import(exprs, *share, &mut copied);
            let input = pushed.model.exprs.symbol(symbol);
            let value = pushed.model.exprs.mul(share, input);
            pushed.act(carrier, value)?;
        }
    }
    Some(pushed)
}

impl Pushed {
    fn input(&mut self, name: String) -> SymbolId {
        let symbol = self.model.exprs.new_symbol(name.clone(), SymbolKind::Input);
        self.model.inputs.push(Input {
            name: name.into(),
            symbol,
            signal: None,
            unit: None,
            scale: lgm_model::Scale::SI,
            is_internal: true,
            span: self.model.heading.span,
        });
        symbol
    }

    /// Replaces the constant parts of sources with inputs.
    fn switch_constants(&mut self) {
        let starts = declared_starts(&self.model);
        for at in 0..self.model.graph.elements.len() {
            let Law::Source { values, .. } = &self.model.graph.elements[at].law else {
                continue;
            };
            for (port, value) in values.clone().into_iter().enumerate() {
                let Some(constant) = constant_part(&mut self.model.exprs, value, &starts) else {
                    continue;
                };
                let symbol = self.input(format!("constant {}", self.constants.len() + 1));
                self.constants.push((symbol, constant));
                let exprs = &mut self.model.exprs;
                let (rest, input) = (exprs.sub(value, constant), exprs.symbol(symbol));
                let switched = exprs.add(rest, input);
                if let Law::Source { values, .. } = &mut self.model.graph.elements[at].law {
                    values[port] = switched;
                }
            }
        }
    }

    /// Adds a source of a value that acts on the owner of a state.
    fn act(&mut self, carrier: &Carrier, value: ExprId) -> Option<()> {
        let own = PortId(self.model.graph.ports.len() as u32);
        let (given, domain, path, connection) = match carrier {
            Carrier::Port(port) => {
                let about = self.model.graph.ports[port.index()].clone();
                let storage = &self.model.graph.elements[about.element.index()];
                let path = storage.path;
                let co_energy = match &storage.law {
                    Law::Storage { co_energy, .. } => *co_energy,
                    Law::Nonlinear(law) => law.storage[(port.0 - storage.ports.start) as usize]?.0,
                    _ => return None,
                };
                let connection = match about.connection {
                    Connection::Branch { from, to, span } => self.on_branch(*port, co_energy, (from, to, span))?,
                    Connection::Bond(bond) => self.on_bond(*port, own, co_energy, bond),
                };
                self.measure_from_outside(*port, co_energy.conjugate(), value);
                (co_energy.conjugate(), about.domain, path, connection)
            }
            Carrier::Velocity {
                variable,
                domain,
                path,
                at,
            } => {
                let connection = match at {
                    Place::Branch(branch) => branch.clone(),
                    Place::Junction(node) => {
                        let span = self.model.paths[path.index()].span;
                        Connection::Bond(self.bond(*node, BondEnd::Port(own), span))
                    }
                };
                (variable.conjugate(), *domain, *path, connection)
            }
        };
        let element = ElementId(self.model.graph.elements.len() as u32);
        self.model.graph.ports.push(Port {
            element,
            name: None,
            entry: None,
            domain,
            connection,
        });
        self.model.graph.elements.push(Element {
            path,
            kind: "impulse".into(),
            ports: own.0..own.0 + 1,
            law: Law::Source {
                given,
                values: vec![value],
            },
            law_span: self.model.paths[path.index()].span,
            start: Vec::new(),
            start_span: None,
            nominal: Vec::new(),
            state_choice: StateChoice::CoEnergy,
            mode: None,
        });
        Some(())
    }

    /// Makes sources that measure a variable of a storage port use the sum of that variable and the new source's value.
    fn measure_from_outside(&mut self, port: PortId, variable: Variable, value: ExprId) {
        let measured = match variable {
            Variable::Effort => Measure::PortEffort(port),
            Variable::Flow => Measure::PortFlow(port),
        };
        let model = &mut self.model;
        let found = model.measures.iter().find(|entry| entry.1 == measured);
        let Some(symbol) = found.map(|entry| entry.0) else {
            return;
        };
        let own = model.exprs.symbol(symbol);
        let together = model.exprs.add(own, value);
        for element in &mut model.graph.elements {
            if let Law::Source { values, .. } = &mut element.law {
                let of = |other: SymbolId| (other == symbol).then_some(together);
                *values = model.exprs.substitute(values, of);
            }
        }
    }

    /// Adds a source in parallel with the storage on a branch, or in series with it through a new node.
    fn on_branch(
        &mut self,
        port: PortId,
        co_energy: Variable,
        (mut from, to, span): (Option<NodeId>, Option<NodeId>, Span),
    ) -> Option<Connection> {
        let domain = &self.model.graph.domains[self.model.graph.ports[port.index()].domain?.index()];
        let is_across = domain.effort_is_across == (co_energy == Variable::Effort);
        if !is_across {
            let kind = match domain.effort_is_across {
                true => JunctionKind::Zero,
                false => JunctionKind::One,
            };
            let middle = Some(self.node(port, kind, true));
            self.model.graph.ports[port.index()].connection = Connection::Branch { from, to: middle, span };
            from = middle;
        }
        Some(Connection::Branch { from, to, span })
    }

    /// Adds a junction between the storage and its surroundings, with the storage's co-energy as common variable.
    fn on_bond(&mut self, port: PortId, own: PortId, co_energy: Variable, drawn: BondId) -> Connection {
        let kind = match co_energy {
            Variable::Effort => JunctionKind::Zero,
            Variable::Flow => JunctionKind::One,
        };
        let middle = BondEnd::Node(self.node(port, kind, false));
        let bond = &mut self.model.graph.bonds[drawn.index()];
        let (is_head, span) = (bond.head == BondEnd::Port(port), bond.span);
        *(if is_head { &mut bond.head } else { &mut bond.tail }) = middle;
        let mut join = |port: PortId| match is_head {
            true => self.bond(middle, BondEnd::Port(port), span),
            false => self.bond(BondEnd::Port(port), middle, span),
        };
        let (storage, source) = (join(port), join(own));
        self.model.graph.ports[port.index()].connection = Connection::Bond(storage);
        Connection::Bond(source)
    }

    fn bond(&mut self, tail: BondEnd, head: BondEnd, span: Span) -> BondId {
        self.model.graph.bonds.push(Bond { tail, head, span });
        BondId(self.model.graph.bonds.len() as u32 - 1)
    }

    fn node(&mut self, port: PortId, kind: JunctionKind, is_graph_node: bool) -> NodeId {
        let port = &self.model.graph.ports[port.index()];
        self.model.graph.nodes.push(Node {
            path: self.model.graph.elements[port.element.index()].path,
            entry: port.entry,
            kind,
            domain: port.domain,
            is_graph_node,
            floating: false,
        });
        NodeId(self.model.graph.nodes.len() as u32 - 1)
    }
}
