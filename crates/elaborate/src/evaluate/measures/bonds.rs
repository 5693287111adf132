//! Measurements of bonds.

use crate::context::values::{Scalar, Value};
use crate::context::{ArrowBonds, EndKey, GraphPart, Place};
use crate::evaluate::Evaluator;
use crate::evaluate::measures::{Wanted, variable_word};
use lgm_model::{BondEnd, BondId, Measure, Variable};
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_syntax::ast::Expr;

impl<'a> Evaluator<'a> {
    /// Evaluates `effort(A -> B)` and `flow(A -> B)` for the only arrow between the two ends, entry by entry.
    pub(in crate::evaluate) fn of_bond(
        &mut self,
        wanted: Wanted,
        tail: &'a Expr,
        head: &'a Expr,
        place: Place,
    ) -> Value {
        let Wanted::Is(variable) = wanted else {
            return self.no_across(tail.span.to(head.span));
        };
        let Some(bonds) = self.arrow_between(tail, head, place) else {
            return Value::Error;
        };
        let entries = (0..bonds.width).map(|k| self.bond_variable(bonds, k, variable));
        let entries: Vec<Scalar> = entries.collect();
        Value::column(entries)
    }

    /// Returns the bonds of the arrow from one end to the other; errors are reported.
    fn arrow_between(&mut self, tail: &'a Expr, head: &'a Expr, place: Place) -> Option<ArrowBonds> {
        let mut ends = Vec::with_capacity(2);
        let mut ports: [Option<&str>; 2] = [None; 2];
        for (expr, port) in [tail, head].into_iter().zip(&mut ports) {
            if let Some((id, _, name)) = self.element_port(expr, place) {
                *port = Some(&name.text);
                ends.push(EndKey::Element(id));
                continue;
            }
            match self.graph_part(expr, place) {
                GraphPart::Nodes(view) => ends.push(EndKey::Node(view.base)),
                GraphPart::Element(id) => ends.push(EndKey::Element(id)),
                GraphPart::Failed | GraphPart::Absent => return None,
                _ => break,
            }
        }
        let found: Vec<ArrowBonds> = match ends[..] {
            [tail, head] => self
                .graph
                .bond_ends
                .arrows
                .get(&(tail, head))
                .cloned()
                .unwrap_or_default(),
            _ => Vec::new(),
        };
        let found: Vec<ArrowBonds> = found.into_iter().filter(|bonds| self.ends_at(bonds, ports)).collect();
        if let [bonds] = found[..] {
            return Some(bonds);
        }
        let drawn_back = match ends[..] {
            [tail, head] => self.graph.bond_ends.arrows.contains_key(&(head, tail)),
            _ => false,
        };
        let bond_span = tail.span.to(head.span);
        let (from, to) = (
            self.sources.slice(tail.span).to_string(),
            self.sources.slice(head.span).to_string(),
        );
        let diagnostic = if found.len() > 1 {
            Diagnostic::error(Code::LGM0142, "several bonds connect these two")
                .label(bond_span, format!("{} bonds have this direction", found.len()))
                .help(
                    "name the port if an end has several, `A -> f.el`, or measure the element at the other end of \
                    the bond",
                )
        } else if drawn_back {
            Diagnostic::error(Code::LGM0142, "this bond has the opposite direction")
                .label(bond_span, format!("the model declares `{to} -> {from}`"))
                .help(format!("write `{to} -> {from}`; power is positive along the arrow"))
        } else {
            Diagnostic::error(Code::LGM0142, "no such bond is drawn")
                .label(bond_span, format!("`{from}` and `{to}` are not joined by a bond"))
                .help("name the two ends of an arrow of this model")
        };
        self.report(diagnostic);
        None
    }

    /// Returns a variable of one scalar bond of an arrow.
    fn bond_variable(&mut self, bonds: ArrowBonds, k: u32, variable: Variable) -> Scalar {
        let id = BondId(bonds.first + k);
        let measure = match variable {
            Variable::Effort => Measure::BondEffort(id),
            Variable::Flow => Measure::BondFlow(id),
        };
        let node = [
            self.graph.model.graph.bonds[id.index()].tail,
            self.graph.model.graph.bonds[id.index()].head,
        ]
        .into_iter()
        .find_map(|end| match end {
            BondEnd::Node(node) => self.graph.model.graph.nodes[node.index()].domain,
            BondEnd::Port(_) => None,
        });
        let dim = self.variable_dim(variable, node);
        let expr = self.measure(measure, |model| {
            let entry = if bonds.width > 1 {
                format!("[{}]", k + 1)
            } else {
                String::new()
            };
            let bond = &model.graph.bonds[id.index()];
            let name = |end: BondEnd| match end {
                BondEnd::Node(node) => model.path_name(model.graph.nodes[node.index()].path),
                BondEnd::Port(port) => match model.graph.ports.get(port.index()) {
                    Some(about) => match about.name.as_deref() {
                        None | Some("in" | "out") => model.element_name(about.element),
                        Some(port) => format!("{}.{port}", model.element_name(about.element)),
                    },
                    // Its element failed and was reported.
                    None => String::new(),
                },
            };
            format!(
                "{}({} -> {}){entry}",
                variable_word(variable),
                name(bond.tail),
                name(bond.head)
            )
        });
        Scalar { expr, dim }
    }

    /// Returns true if the ends of an arrow match the given port names.
    fn ends_at(&self, bonds: &ArrowBonds, ports: [Option<&str>; 2]) -> bool {
        let bond = &self.graph.model.graph.bonds[bonds.first as usize];
        [bond.tail, bond.head]
            .into_iter()
            .zip(ports)
            .all(|(end, wanted)| match (end, wanted) {
                (_, None) => true,
                (BondEnd::Port(port), Some(wanted)) => {
                    let about = self.graph.model.graph.ports.get(port.index());
                    about.is_some_and(|about| about.name.as_deref() == Some(wanted))
                }
                (BondEnd::Node(_), Some(_)) => false,
            })
    }
}
