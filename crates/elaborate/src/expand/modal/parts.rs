//! The nodes and elements of an expanded modal block.

use crate::context::modal::{ModalBlock, Mode};
use crate::context::{GraphPart, Place, Progress, Record};
use crate::expand::Expansion;
use crate::expand::modal::starts::Starts;
use crate::expand::modal::{ModeValues, ResidualValues};
use crate::program::ItemRef;
use lgm_algebra::expr::ExprId;
use lgm_model::{
    Connection, Dissipator, DomainId, Element, ElementId, JunctionKind, Law, Matrix, Node, NodeId, Path, PathId, Port,
    StateChoice, StorageForm, Variable,
};
use lgm_source::Span;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use std::rc::Rc;
use std::sync::Arc;

/// The common data of all parts of a block.
#[derive(Clone, Copy)]
pub(crate) struct Parts {
    pub domain: DomainId,
    pub definition: ItemRef,
    pub path: PathId,
    pub place: Place,
    pub wants_residual: bool,
}

/// The two ends of a branch; `None` is the reference.
type Ends = (Option<NodeId>, Option<NodeId>);

impl<'a> Expansion<'_, 'a> {
    /// Makes the coupler, then the parts of each mode, then the residual.
    pub(crate) fn make_parts(
        &mut self,
        mut block: ModalBlock<'a>,
        values: Vec<ModeValues<'a>>,
        parts: Parts,
        starts: Starts,
    ) -> Option<GraphPart> {
        let first = ElementId(self.graph.model.graph.elements.len() as u32);
        let shapes = self.shape_values(&block, &values)?;
        let residual = match parts.wants_residual {
            true => Some(self.residual_values(&block, &values, &shapes)?),
            false => None,
        };
        let external = self.external_ends(&block, parts)?;
        let modal: Vec<NodeId> = (1..)
            .take(values.len())
            .map(|k| self.inner_node(parts, "mode", k))
            .collect();
        // The residual of a block that is driven by through variables is in series with the coupler, and its parts are in series with each
        // other; in the dual all are in parallel.
        let across = block.rules.across;
        let mut coupled = external.clone();
        let mut laws: Vec<(&str, Law, Vec<Ends>)> = Vec::new();
        if let Some(ResidualValues { compliance, resistance }) = residual {
            let storage = compliance.map(|matrix| self.storage(parts, !across, matrix, StorageForm::Direct));
            let dissipator = resistance.map(|matrix| self.dissipator(parts, !across, matrix));
            let wanted = [
                ("residual", "inner", storage),
                ("residual_loss", "inner_loss", dissipator),
            ];
            for (name, joint, law) in wanted {
                let Some(law) = law else { continue };
                if across {
                    laws.push((name, law, external.clone()));
                    continue;
                }
                let outer = coupled;
                coupled = (1..)
                    .zip(&outer)
                    .map(|(k, ends)| (Some(self.inner_node(parts, joint, k)), ends.1))
                    .collect();
                let ends = outer.iter().zip(&coupled).map(|(outer, inner)| (outer.0, inner.0));
                laws.push((name, law, ends.collect()));
            }
        }
        self.coupler(&block, parts, shapes, &modal, &coupled);
        for (k, (value, node)) in (1..).zip(values.into_iter().zip(&modal)) {
            let mode = self.mode(&block, parts, value, *node, k);
            block.modes.push(mode);
        }
        for (name, law, ends) in laws {
            let is_storage = matches!(law, Law::Storage { .. });
            let id = ElementId(self.part(&block, parts, (name, None), law, &ends).0 - first.0);
            match is_storage {
                true => block.residual.storage = Some(id),
                false => block.residual.dissipator = Some(id),
            }
        }
        let relative = |id: ElementId| ElementId(id.0 - first.0);
        for mode in &mut block.modes {
            mode.storage = relative(mode.storage);
            mode.restoring = mode.restoring.map(|(id, value)| (relative(id), value));
        }
        self.give_starts(&block, first, starts)?;
        let at = self.graph.blocks.len() as u32;
        self.graph.blocks.push(Rc::new(block));
        Some(GraphPart::Modal(first, at))
    }

    /// Returns the values of the shapes, ports by modes.
    fn shape_values(&mut self, block: &ModalBlock<'a>, values: &[ModeValues<'a>]) -> Option<Matrix> {
        let (rows, columns) = (block.ports.len(), values.len());
        let mut entries = vec![self.arena.exprs.zero(); rows * columns];
        for (column, mode) in values.iter().enumerate() {
            let list = self.shapes_at(block, (column as u32 + 1, &mode.scope), &block.ports)?;
            for (row, value) in list.into_iter().enumerate() {
                entries[row * columns + column] = value.expr;
            }
        }
        Some(Matrix { rows, columns, entries })
    }

    /// Returns the checked branches; ports created for checking are removed.
    fn external_ends(&mut self, block: &ModalBlock<'a>, parts: Parts) -> Option<Vec<Ends>> {
        let name = block.modal.domain.as_ref()?;
        let mut list = Vec::with_capacity(block.ports.len());
        let mut good = true;
        for (from, to) in &block.instance.branches {
            let ends = (self.branch_end(from, parts.place), self.branch_end(to, parts.place));
            let (Some(tail), Some(head)) = ends else {
                good = false;
                continue;
            };
            if tail.is_vector() || head.is_vector() {
                let diagnostic = Diagnostic::error(Code::LGM0202, "a port of a modal block must be scalar")
                    .label(from.span.to(to.span), "this is a vector node")
                    .help("write one entry of it: `q[1]`");
                self.report(diagnostic);
                good = false;
                continue;
            }
            let first = self.graph.model.graph.ports.len();
            // No element has these ports yet; they are created again, in order, with the coupler.
            let id = ElementId(self.graph.model.graph.elements.len() as u32);
            good &= self.branch(id, block.instance, None, Some((parts.domain, name)), tail, head);
            for port in self.graph.model.graph.ports.drain(first..) {
                if let Connection::Branch { from, to, .. } = port.connection {
                    list.push((from, to));
                }
            }
        }
        good.then_some(list)
    }

    fn inner_node(&mut self, parts: Parts, name: &str, k: i64) -> NodeId {
        let path = self.inner_path(parts, name, Some(k));
        let id = NodeId(self.graph.model.graph.nodes.len() as u32);
        let effort_is_across = self.graph.model.graph.domains[parts.domain.index()].effort_is_across;
        self.graph.model.graph.nodes.push(Node {
            path,
            entry: None,
            kind: match effort_is_across {
                true => JunctionKind::Zero,
                false => JunctionKind::One,
            },
            domain: Some(parts.domain),
            is_graph_node: true,
            floating: false,
        });
        id
    }

    fn inner_path(&mut self, parts: Parts, name: &str, index: Option<i64>) -> PathId {
        let id = PathId(self.graph.model.paths.len() as u32);
        let span = self.graph.model.paths[parts.path.index()].span;
        self.graph.model.paths.push(Path {
            parent: Some(parts.path),
            name: name.into(),
            indices: index.into_iter().collect(),
            span,
        });
        id
    }

    fn port(&mut self, parts: Parts, name: Option<&Arc<str>>, entry: Option<u32>, ends: Ends, span: Span) {
        self.graph.branching.join(ends.0, ends.1);
        let model = &mut self.graph.model;
        model.graph.ports.push(Port {
            element: ElementId(model.graph.elements.len() as u32),
            name: name.cloned(),
            entry,
            domain: Some(parts.domain),
            connection: Connection::Branch {
                from: ends.0,
                to: ends.1,
                span,
            },
        });
    }

    /// Adds an element over its ports, from the given first port on.
    fn element_over(
        &mut self,
        block: &ModalBlock<'a>,
        parts: Parts,
        first: u32,
        element: (PathId, Arc<str>),
        law: Law,
    ) {
        let (path, kind) = element;
        let model = &mut self.graph.model;
        model.graph.elements.push(Element {
            path,
            kind,
            ports: first..model.graph.ports.len() as u32,
            law,
            law_span: block.instance.kind.span,
            start: Vec::new(),
            start_span: None,
            nominal: Vec::new(),
            state_choice: StateChoice::CoEnergy,
            mode: None,
        });
        self.graph.records.push(Record {
            instance: block.instance,
            definition: parts.definition,
            place: parts.place,
            progress: Progress::Done,
        });
    }

    /// Adds a named part over branches: a part of a mode, or of the whole block with one port for each of its ports.
    fn part(
        &mut self,
        block: &ModalBlock<'a>,
        parts: Parts,
        name: (&str, Option<u32>),
        law: Law,
        ends: &[Ends],
    ) -> ElementId {
        let (name, mode) = name;
        let id = ElementId(self.graph.model.graph.elements.len() as u32);
        let path = self.inner_path(parts, name, mode.map(i64::from));
        let first = self.graph.model.graph.ports.len() as u32;
        let span = block.instance.kind.span;
        for (k, ends) in (1..).zip(ends) {
            self.port(parts, None, mode.is_none().then_some(k), *ends, span);
        }
        self.element_over(block, parts, first, (path, name.into()), law);
        self.graph.model.graph.elements[id.index()].mode = mode;
        id
    }

    /// Returns the across or the through variable of the block's domain.
    fn variable_of(&self, parts: Parts, across: bool) -> Variable {
        let effort_is_across = self.graph.model.graph.domains[parts.domain.index()].effort_is_across;
        if effort_is_across == across {
            Variable::Effort
        } else {
            Variable::Flow
        }
    }

    /// Adds the coupler `port.across = S*mode.across`, or `mode.across = S'*port.across` for the dual.
    fn coupler(&mut self, block: &ModalBlock<'a>, parts: Parts, shapes: Matrix, modal: &[NodeId], coupled: &[Ends]) {
        let first = self.graph.model.graph.ports.len() as u32;
        let span = block.instance.kind.span;
        let (mode_name, port_name): (Arc<str>, Arc<str>) = ("mode".into(), "port".into());
        let spans: Vec<Span> = block
            .instance
            .branches
            .iter()
            .map(|(from, to)| from.span.to(to.span))
            .collect();
        let across = block.rules.across;
        for group in [across, !across] {
            match group {
                true => {
                    for ((k, ends), span) in (1..).zip(coupled).zip(&spans) {
                        self.port(parts, Some(&port_name), Some(k), *ends, *span);
                    }
                }
                false => {
                    for (k, node) in (1..).zip(modal) {
                        self.port(parts, Some(&mode_name), Some(k), (Some(*node), None), span);
                    }
                }
            }
        }
        let variable = self.variable_of(parts, true);
        let matrix = match across {
            false => shapes,
            true => transposed(&shapes),
        };
        let law = Law::Coupler {
            input: variable,
            output: variable,
            matrix,
        };
        self.element_over(block, parts, first, (parts.path, block.modal.name.text.clone()), law);
    }

    /// Returns a storage whose co-energy variable is the across variable or, with `through`, the through variable.
    fn storage(&self, parts: Parts, through: bool, value: Matrix, form: StorageForm) -> Law {
        Law::Storage {
            co_energy: self.variable_of(parts, !through),
            value,
            form,
        }
    }

    /// Returns a resistance (`across = value*through`) or a conductance.
    fn dissipator(&self, parts: Parts, resistance: bool, value: Matrix) -> Law {
        let effort_is_across = self.graph.model.graph.domains[parts.domain.index()].effort_is_across;
        Law::Dissipator(match resistance == effort_is_across {
            true => Dissipator::Resistance(value),
            false => Dissipator::Conductance(value),
        })
    }

    fn mode(&mut self, block: &ModalBlock<'a>, parts: Parts, value: ModeValues<'a>, node: NodeId, k: u32) -> Mode<'a> {
        let primary = self.storage(
            parts,
            block.rules.across,
            single(value.primary.expr),
            StorageForm::Direct,
        );
        let restoring = value.restoring.map(|entry| {
            let value = single(entry.expr);
            (
                self.storage(parts, !block.rules.across, value, StorageForm::Inverse),
                entry.expr,
            )
        });
        let (dissipation, loss) = (value.dissipation, value.loss);
        let of = |name: &'static str| (name, Some(k));
        let joint = |this: &mut Self, name: &str| this.inner_node(parts, name, i64::from(k));
        let (storage, drawn_back);
        if block.rules.across {
            // In series: from the node of the mode to the reference, with a joint after each part except the last.
            let mut from = node;
            let mut next = |this: &mut Self, last: bool, name: &str| {
                let to = (!last).then(|| joint(this, name));
                let ends = [(Some(from), to)];
                from = to.unwrap_or(from);
                ends
            };
            let ends = next(self, restoring.is_none() && dissipation.is_none(), "behind_inertia");
            storage = self.part(block, parts, of("inertia"), primary, &ends);
            drawn_back = restoring.map(|(law, value)| {
                let ends = next(self, dissipation.is_none(), "behind_capacity");
                if let Some(loss) = loss {
                    let law = self.dissipator(parts, false, single(loss.expr));
                    self.part(block, parts, of("loss"), law, &ends);
                }
                (self.part(block, parts, of("capacity"), law, &ends), value)
            });
            if let Some(value) = dissipation {
                let ends = next(self, true, "");
                let law = self.dissipator(parts, true, single(value.expr));
                self.part(block, parts, of("resistor"), law, &ends);
            }
        } else {
            storage = self.part(block, parts, of("mass"), primary, &[(Some(node), None)]);
            drawn_back = restoring.map(|(law, value)| {
                let mut ends = (Some(node), None);
                if let Some(loss) = loss {
                    let between = joint(self, "behind_spring");
                    ends.1 = Some(between);
                    let law = self.dissipator(parts, true, single(loss.expr));
                    self.part(block, parts, of("loss"), law, &[(Some(between), None)]);
                }
                (self.part(block, parts, of("spring"), law, &[ends]), value)
            });
            if let Some(value) = dissipation {
                let law = self.dissipator(parts, false, single(value.expr));
                self.part(block, parts, of("damper"), law, &[(Some(node), None)]);
            }
        }
        Mode {
            scope: value.scope,
            storage,
            restoring: drawn_back,
            dissipation: dissipation.map(|value| value.expr),
            loss: loss.map(|value| value.expr),
        }
    }
}

fn single(value: ExprId) -> Matrix {
    Matrix {
        rows: 1,
        columns: 1,
        entries: vec![value],
    }
}

fn transposed(matrix: &Matrix) -> Matrix {
    let entries = (0..matrix.columns)
        .flat_map(|column| (0..matrix.rows).map(move |row| (row, column)))
        .map(|(row, column)| matrix.get(row, column))
        .collect();
    Matrix {
        rows: matrix.columns,
        columns: matrix.rows,
        entries,
    }
}
