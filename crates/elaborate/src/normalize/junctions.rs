//! Junctions that a condition turns on and off, as elements with two modes.
//!
//! A 1-junction that is on gets a bond without effort, and one that is off a bond without flow, which absorbs the remaining effort. A
//! 0-junction is the dual.

use lgm_algebra::expr::ExprId;
use lgm_model::switching::{Change, ControlledJunction, Mode, SwitchedElement};
use lgm_model::{
    Bond, BondEnd, BondId, Connection, Element, ElementId, JunctionKind, Law, Model, Port, PortId, StateChoice,
    Variable,
};

/// Adds an element with modes to each controlled junction.
pub(crate) fn control_junctions(model: &mut Model) {
    for controlled in std::mem::take(&mut model.switching.junctions) {
        control(model, &controlled);
    }
}

fn control(model: &mut Model, controlled: &ControlledJunction) {
    let node = &model.graph.nodes[controlled.node.index()];
    let (path, kind, domain, entry) = (node.path, node.kind, node.domain, node.entry);
    let (id, port) = (
        ElementId(model.graph.elements.len() as u32),
        PortId(model.graph.ports.len() as u32),
    );
    let bond = BondId(model.graph.bonds.len() as u32);
    model.graph.bonds.push(Bond {
        tail: BondEnd::Node(controlled.node),
        head: BondEnd::Port(port),
        span: controlled.span,
    });
    model.graph.ports.push(Port {
        element: id,
        name: None,
        entry,
        domain,
        connection: Connection::Bond(bond),
    });
    let zero = model.exprs.zero();
    let law = |given: Variable| Law::Source {
        given,
        values: vec![zero],
    };
    let (on, off) = match kind {
        JunctionKind::One => (law(Variable::Effort), law(Variable::Flow)),
        JunctionKind::Zero => (law(Variable::Flow), law(Variable::Effort)),
    };
    let not = model.exprs.not(controlled.condition);
    let mode = |name: &str, law: Law, condition: ExprId, to: usize| Mode {
        name: name.into(),
        law,
        changes: vec![Change {
            is_free: true,
            asks_ports: false,
            condition,
            to,
            sets: Vec::new(),
            span: controlled.span,
        }],
    };
    let modes = vec![
        mode("on", on.clone(), not, 1),
        mode("off", off, controlled.condition, 0),
    ];
    model.graph.elements.push(Element {
        path,
        kind: Element::JUNCTION.into(),
        ports: port.0..port.0 + 1,
        law: on,
        law_span: controlled.span,
        start: Vec::new(),
        start_span: None,
        nominal: Vec::new(),
        state_choice: StateChoice::CoEnergy,
        mode: None,
    });
    model.switching.elements.push(SwitchedElement {
        element: id,
        modes,
        first: 0,
    });
}
