//! Velocities needed by moduli: a storage element of value 0 wherever the rate of a displacement is measured.

use crate::assembly::linearity::varies;
use lgm_algebra::expr::{ExprId, Exprs, Node, SymbolId};
use lgm_model::{
    Bond, BondEnd, BondId, Connection, Element, ElementId, Integral, Law, Matrix, Measure, Model, NodeId, PathId, Port,
    PortId, StateChoice, StorageForm, Variable,
};
use lgm_source::Span;
use rustc_hash::{FxHashMap, FxHashSet};

/// The reference of a measured velocity.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    path: PathId,
    entry: Option<u32>,
    variable: Variable,
    pub(crate) ends: Ends,
    span: Span,
}

/// The reference of a velocity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Ends {
    /// Across a branch between two nodes of the graph (`None` is the reference).
    Branch(Option<NodeId>, Option<NodeId>),
    /// The common variable of a junction of a bond graph.
    Junction(NodeId),
}

/// Returns the velocities of displacements that moduli depend on.
pub(crate) fn velocities(model: &Model) -> Vec<Place> {
    let mut roots = Vec::new();
    for element in &model.graph.elements {
        if let Law::Coupler { matrix, .. } = &element.law {
            roots.extend(
                matrix
                    .entries
                    .iter()
                    .copied()
                    .filter(|entry| varies(&model.exprs, *entry)),
            );
        }
    }
    let modulating: FxHashSet<SymbolId> = model.exprs.symbols_of(&roots).into_iter().collect();
    if modulating.is_empty() {
        return Vec::new();
    }
    let measures = model.measures.iter().copied().collect();
    model
        .integrals
        .iter()
        // The displacement that closes a chain follows from the others; so does its velocity.
        .filter(|integral| integral.is_state() && modulating.contains(&integral.symbol))
        .filter_map(|integral| place_of(model, &measures, integral))
        .collect()
}

/// The measured variables by their symbols.
type Measures = FxHashMap<SymbolId, Measure>;

/// Returns the measure that an expression consists of, and true if it is negated.
fn measure_of(model: &Model, measures: &Measures, id: ExprId) -> Option<(Measure, bool)> {
    let (symbol, negative) = match model.exprs.node(id) {
        Node::Symbol(symbol) => (*symbol, false),
        Node::Product(list) if list.len() == 2 && is_minus_one(&model.exprs, list[0]) => {
            match model.exprs.node(list[1]) {
                Node::Symbol(symbol) => (*symbol, true),
                _ => return None,
            }
        }
        _ => return None,
    };
    Some((*measures.get(&symbol)?, negative))
}

fn is_minus_one(exprs: &Exprs, id: ExprId) -> bool {
    exprs
        .as_number(id)
        .is_some_and(|number| *number == num_rational::BigRational::from_integer((-1).into()))
}

fn place_of(model: &Model, measures: &Measures, integral: &Integral) -> Option<Place> {
    let span = model.paths[integral.path.index()].span;
    if let Node::Sum(list) = model.exprs.node(integral.rate) {
        // The expression is a difference of the across variables of two nodes.
        let [a, b] = **list else { return None };
        let ((Measure::Common(a), a_minus), (Measure::Common(b), b_minus)) =
            (measure_of(model, measures, a)?, measure_of(model, measures, b)?)
        else {
            return None;
        };
        let (first, second) = (&model.graph.nodes[a.index()], &model.graph.nodes[b.index()]);
        let fits = a_minus != b_minus && first.is_graph_node && second.is_graph_node && first.domain == second.domain;
        let (from, to) = if a_minus { (b, a) } else { (a, b) };
        return fits.then_some(Place {
            path: integral.path,
            entry: None,
            variable: first.kind.common(),
            ends: Ends::Branch(Some(from), Some(to)),
            span,
        });
    }
    match measure_of(model, measures, integral.rate)?.0 {
        Measure::Common(node) => junction_place(model, node, span),
        measure @ (Measure::PortEffort(port) | Measure::PortFlow(port)) => {
            let about = &model.graph.ports[port.index()];
            let Connection::Branch { from, to, .. } = about.connection else {
                return None;
            };
            let variable = if matches!(measure, Measure::PortEffort(_)) {
                Variable::Effort
            } else {
                Variable::Flow
            };
            let is_across =
                model.graph.domains[about.domain?.index()].effort_is_across == (variable == Variable::Effort);
            is_across.then(|| Place {
                path: model.graph.elements[about.element.index()].path,
                entry: about.entry,
                variable,
                ends: Ends::Branch(from, to),
                span,
            })
        }
        measure @ (Measure::BondEffort(bond) | Measure::BondFlow(bond)) => {
            let variable = if matches!(measure, Measure::BondEffort(_)) {
                Variable::Effort
            } else {
                Variable::Flow
            };
            let bond = &model.graph.bonds[bond.index()];
            [bond.tail, bond.head].into_iter().find_map(|end| match end {
                BondEnd::Node(node) if model.graph.nodes[node.index()].kind.common() == variable => {
                    junction_place(model, node, span)
                }
                _ => None,
            })
        }
    }
}

fn junction_place(model: &Model, id: NodeId, span: Span) -> Option<Place> {
    let node = &model.graph.nodes[id.index()];
    let variable = node.kind.common();
    let is_across = node
        .domain
        .is_some_and(|domain| model.graph.domains[domain.index()].effort_is_across == (variable == Variable::Effort));
    Some(Place {
        path: node.path,
        entry: node.entry,
        variable,
        ends: if is_across {
            Ends::Branch(Some(id), None)
        } else {
            Ends::Junction(id)
        },
        span,
    })
}

/// The linear storage ports that carry velocities: the first one for each location and each solved variable.
pub(crate) struct Carriers {
    /// For branches between two nodes, the smaller index first.
    branches: FxHashMap<(Variable, Option<NodeId>, Option<NodeId>), PortId>,
    /// The bonds at a node.
    bonds: FxHashMap<(Variable, NodeId), PortId>,
}

impl Carriers {
    pub(crate) fn of(model: &Model) -> Carriers {
        let mut carriers = Carriers {
            branches: FxHashMap::default(),
            bonds: FxHashMap::default(),
        };
        for (port, id) in model.graph.ports.iter().zip(0..) {
            let Law::Storage { co_energy, .. } = model.graph.elements[port.element.index()].law else {
                continue;
            };
            match &port.connection {
                Connection::Branch { from, to, .. } => {
                    let (a, b) = Carriers::ordered(*from, *to);
                    carriers.branches.entry((co_energy, a, b)).or_insert(PortId(id));
                }
                Connection::Bond(bond) => {
                    let bond = &model.graph.bonds[bond.index()];
                    for end in [bond.tail, bond.head] {
                        if let BondEnd::Node(node) = end {
                            carriers.bonds.entry((co_energy, node)).or_insert(PortId(id));
                        }
                    }
                }
            }
        }
        carriers
    }

    fn ordered(a: Option<NodeId>, b: Option<NodeId>) -> (Option<NodeId>, Option<NodeId>) {
        if a <= b { (a, b) } else { (b, a) }
    }

    /// Returns the port at a location, for either direction of its branch.
    pub(crate) fn at(&self, place: &Place) -> Option<PortId> {
        let (branch, node) = match place.ends {
            Ends::Junction(node) => (None, Some(node)),
            Ends::Branch(a, b) => (Some(Carriers::ordered(a, b)), a.xor(b)),
        };
        let branch = branch.and_then(|(a, b)| self.branches.get(&(place.variable, a, b)));
        let bond = node.and_then(|node| self.bonds.get(&(place.variable, node)));
        branch.into_iter().chain(bond).min().copied()
    }
}

/// Returns the model with a storage element of value 0 at each location, and their ports.
pub(crate) fn with_velocities(model: &Model, places: &[Place]) -> (Model, Vec<PortId>) {
    let mut model = model.clone();
    let mut ports = Vec::with_capacity(places.len());
    for place in places {
        let (element, port) = (
            ElementId(model.graph.elements.len() as u32),
            PortId(model.graph.ports.len() as u32),
        );
        let (connection, domain) = match place.ends {
            Ends::Branch(from, to) => {
                let node = from.or(to).map(|node| &model.graph.nodes[node.index()]);
                let domain = node.and_then(|node| node.domain);
                let connection = Connection::Branch {
                    from,
                    to,
                    span: place.span,
                };
                (connection, domain)
            }
            Ends::Junction(node) => {
                let bond = BondId(model.graph.bonds.len() as u32);
                model.graph.bonds.push(Bond {
                    tail: BondEnd::Node(node),
                    head: BondEnd::Port(port),
                    span: place.span,
                });
                (Connection::Bond(bond), None)
            }
        };
        model.graph.ports.push(Port {
            element,
            name: None,
            entry: place.entry,
            domain,
            connection,
        });
        let zero = model.exprs.zero();
        model.graph.elements.push(Element {
            path: place.path,
            kind: Element::VELOCITY.into(),
            ports: port.0..port.0 + 1,
            law: Law::Storage {
                co_energy: place.variable,
                value: Matrix {
                    rows: 1,
                    columns: 1,
                    entries: vec![zero],
                },
                form: StorageForm::Direct,
            },
            law_span: place.span,
            start: Vec::new(),
            start_span: None,
            nominal: Vec::new(),
            state_choice: StateChoice::CoEnergy,
            mode: None,
        });
        ports.push(port);
    }
    (model, ports)
}
