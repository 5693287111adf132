//! Declarations of nodes, junctions and ports: their sizes, widths and domains.

use crate::context::{GraphPart, NodeShape, NodeView, Place};
use crate::expand::{Deferred, Expansion};
use lgm_model::{JunctionKind, Node};
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_syntax::ast::{Declared, JunctionDecl, Statement, StatementKind};

impl<'a> Expansion<'_, 'a> {
    pub(crate) fn declare_junctions(&mut self, statement: &'a Statement, place: Place) {
        match &statement.kind {
            StatementKind::Node(declared) => self.junctions(declared, None, place),
            StatementKind::Zero(declared) => self.junctions(declared, Some(JunctionKind::Zero), place),
            StatementKind::One(declared) => self.junctions(declared, Some(JunctionKind::One), place),
            StatementKind::Port(list) => {
                for port in list {
                    self.component_port(port, place);
                }
            }
            _ => {}
        }
    }

    /// Returns the sizes and the width in brackets; `None` if they failed.
    pub fn node_shape(&mut self, declared: &'a Declared, place: Place) -> Option<NodeShape> {
        let mut sizes = Vec::new();
        for (at, group) in declared.brackets.iter().enumerate() {
            let list = self.integers(group, place)?;
            for (size, expr) in list.iter().zip(group) {
                if *size < 0 {
                    let diagnostic = Diagnostic::error(Code::LGM0401, "a size cannot be negative")
                        .label(expr.span, format!("this is {size}"))
                        .help("write a size of at least 0");
                    self.report(diagnostic);
                    return None;
                }
            }
            if declared.vector.is_some() && at + 1 == declared.brackets.len() {
                let [width @ 1..=100_000] = list[..] else {
                    let diagnostic =
                        Diagnostic::error(Code::LGM0401, "the width of a vector must be between 1 and 100000")
                            .label(declared.span, "expected one width at the end")
                            .help("`node q[N][2] vector` is N vector nodes of width 2");
                    self.report(diagnostic);
                    return None;
                };
                return Some(NodeShape {
                    sizes,
                    width: width as u32,
                    vector: true,
                });
            }
            sizes.extend(list);
        }
        if let Some(span) = declared.vector {
            let diagnostic = Diagnostic::error(Code::LGM0122, "a vector needs its width")
                .label(span, "no width is given")
                .help(format!("write `{}[2] vector`", declared.name.text));
            self.report(diagnostic);
            return None;
        }
        if sizes.len() > 2 {
            let diagnostic = Diagnostic::error(Code::LGM0123, format!("{} sizes are written here", sizes.len()))
                .label(declared.span, "at most two are possible")
                .help("write `v[N, M]`, or use a single index");
            self.report(diagnostic);
            return None;
        }
        Some(NodeShape {
            sizes,
            width: 1,
            vector: false,
        })
    }

    fn junctions(&mut self, declared: &'a JunctionDecl, kind: Option<JunctionKind>, place: Place) {
        let domain = match &declared.domain {
            Some(name) => match self.domain(name) {
                Some(domain) => Some(domain),
                None => return self.failed(&declared.names, place),
            },
            None => None,
        };
        if !declared.attributes.is_empty() {
            self.scopes.keep_envs();
            self.rest.controlled.push(Deferred {
                statement: declared,
                place,
            });
        }
        let floating = declared.flags.iter().any(|flag| &*flag.text == "floating");
        let node_kind = match (kind, domain) {
            (Some(kind), _) => kind,
            (None, Some(domain)) if !self.graph.model.graph.domains[domain.index()].effort_is_across => {
                JunctionKind::One
            }
            (None, _) => JunctionKind::Zero,
        };
        for declared in &declared.names {
            let Some(shape) = self.node_shape(declared, place) else {
                self.failed(std::slice::from_ref(declared), place);
                continue;
            };
            let count: u128 = shape.sizes.iter().map(|size| *size as u128).product();
            let all = count.saturating_mul(u128::from(shape.width));
            if !self.room_for(all, declared.span) {
                return;
            }
            self.made += all as u64;
            let parent = self.scopes.frames[place.frame.0 as usize].path;
            let base = self.graph.model.graph.nodes.len() as u32;
            let second = shape.sizes.get(1).copied().unwrap_or(1);
            for at in 0..count as i64 {
                let path = match shape.sizes.len() {
                    0 => self.graph.path(parent, &declared.name, &[]),
                    1 => self.graph.path(parent, &declared.name, &[at + 1]),
                    _ => self
                        .graph
                        .path(parent, &declared.name, &[at / second + 1, at % second + 1]),
                };
                for entry in 1..=shape.width {
                    self.graph.model.graph.nodes.push(Node {
                        path,
                        entry: shape.vector.then_some(entry),
                        kind: node_kind,
                        domain,
                        is_graph_node: kind.is_none(),
                        floating,
                    });
                }
            }
            let view = NodeView {
                base,
                shape: self.scopes.shapes.insert_full(shape).0 as u32,
            };
            self.set_part(&declared.name, None, GraphPart::Nodes(view), place);
        }
    }

    fn failed(&mut self, names: &'a [Declared], place: Place) {
        for declared in names {
            self.set_part(&declared.name, None, GraphPart::Failed, place);
        }
    }
}
