//! Masses and similar elements that do not end at the reference.
//!
//! The law of a mass holds for its velocity relative to an inertial frame. Between two moving nodes, the same law describes another device,
//! an inerter, which resists the relative acceleration of its ends. A mass on a shaking base would depend only on its acceleration relative
//! to the base. Likewise, heat that enters a body does not leave at another end. A capacitor between two nodes is still a capacitor, and a
//! fluid capacitor is a membrane.

use crate::connect::GraphCheck;
use crate::context::{AtPlace, Branching};
use lgm_model::{Connection, ElementId, Law, NodeId, Variable};
use lgm_source::Span;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_syntax::ast::Item;

/// A library kind whose law holds only relative to the reference.
struct Grounded {
    kind: &'static str,
    /// Its description.
    noun: &'static str,
    /// The effect of the element between two nodes.
    otherwise: &'static str,
    /// The kind intended for this effect.
    instead: Option<&'static str>,
}

const GROUNDED: [Grounded; 3] = [
    Grounded {
        kind: "Mass",
        noun: "mass",
        otherwise: "it would resist only the acceleration of one node relative to the other",
        instead: Some("Inerter"),
    },
    Grounded {
        kind: "Inertia",
        noun: "moment of inertia",
        otherwise: "it would resist only the acceleration of one node relative to the other",
        instead: Some("RotaryInerter"),
    },
    Grounded {
        kind: "ThermalCapacitor",
        noun: "heat capacity",
        otherwise: "all heat that enters at one node would leave at the other",
        instead: None,
    },
];

impl GraphCheck<'_, '_> {
    /// Warns of masses, inertias and heat capacities without an end at the reference or at a constant value.
    pub fn check_references(&mut self) {
        let suspects: Vec<(ElementId, usize)> = (0..self.graph.model.graph.elements.len() as u32)
            .filter_map(|at| Some((ElementId(at), self.grounded_kind(ElementId(at))?)))
            .collect();
        if suspects.is_empty() {
            return;
        }
        let mut steady = self.steady_nodes();
        for (id, kind) in suspects {
            let moving = self.graph.model.graph.elements[id.index()]
                .ports
                .clone()
                .find_map(|port| {
                    let Connection::Branch { from, to, span } = self.graph.model.graph.ports[port as usize].connection
                    else {
                        return None;
                    };
                    let moves =
                        |node: Option<NodeId>, steady: &mut Branching| node.is_some_and(|node| steady.part(node) != 0);
                    (moves(from, &mut steady) && moves(to, &mut steady)).then_some(span)
                });
            if let Some(span) = moving {
                self.between_nodes(id, &GROUNDED[kind], span);
            }
        }
    }

    /// Returns the table entry of a library element.
    fn grounded_kind(&self, id: ElementId) -> Option<usize> {
        let Item::Element(element) = self.program.item(self.graph.records.get(id.index())?.definition) else {
            return None;
        };
        let kind = GROUNDED.iter().position(|entry| *entry.kind == *element.name.text)?;
        self.program.is_library(element.name.span.source).then_some(kind)
    }

    /// Returns the nodes with a constant across variable relative to the reference, joined with the reference: nodes connected by constant
    /// sources, and the references of floating parts.
    fn steady_nodes(&mut self) -> Branching {
        let mut steady = Branching::default();
        for (at, node) in self.graph.model.graph.nodes.iter().enumerate() {
            if node.floating {
                steady.join(Some(NodeId(at as u32)), None);
            }
        }
        for at in 0..self.graph.model.graph.elements.len() {
            let element = &self.graph.model.graph.elements[at];
            let Law::Source { given, values } = &element.law else {
                continue;
            };
            let pairs: Vec<_> = values.iter().copied().zip(element.ports.clone()).collect();
            let given = *given;
            for (value, port) in pairs {
                let port = &self.graph.model.graph.ports[port as usize];
                let (Some(domain), Connection::Branch { from, to, .. }) = (port.domain, &port.connection) else {
                    continue;
                };
                let (from, to) = (*from, *to);
                let effort_is_across = self.graph.model.graph.domains[domain.index()].effort_is_across;
                if effort_is_across == (given == Variable::Effort) && !self.varies(value) {
                    steady.join(from, to);
                }
            }
        }
        steady
    }

    fn between_nodes(&mut self, id: ElementId, kind: &Grounded, span: Span) {
        let record = self.graph.records[id.index()];
        let name = self.graph.model.element_name(id);
        let words = self.sources.slice(record.instance.kind.span);
        let first = record.instance.branches.first();
        let from = first.map_or("x", |(from, _)| self.sources.slice(from.span));
        let declared = &record.instance.declared.name.text;
        let to_ground = format!("draw it to the reference, `{declared} : {words}(..) {from} -> gnd;`");
        let help = match kind.instead {
            Some(instead) => format!("{to_ground}; for such a device use `{instead}(..)`"),
            None => to_ground,
        };
        let diagnostic = Diagnostic::warning(
            Code::LGM0317,
            format!(
                "the {} `{name}` is between two nodes, neither of which is at rest",
                kind.noun
            ),
        )
        .label(span, "neither end is `gnd` or held at a constant value")
        .note(kind.otherwise)
        .help(help);
        self.at(record.place, |this| this.report(diagnostic));
    }
}
