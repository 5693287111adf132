//! Measurements of a modal block: motion and internal forces at any position, and the variables of its ports.

use crate::context::modal::{ModalPort, Position};
use crate::context::values::{DimId, Scalar, Value};
use crate::context::{GraphPart, Place};
use crate::evaluate::Evaluator;
use crate::evaluate::modal::residual::{Kept, kept_compliance, kept_resistance};
use crate::modal_rules::Shape;
use lgm_algebra::expr::{ExprId, Function};
use lgm_model::{ElementId, PortId, Variable};
use lgm_source::Span;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_syntax::ast::{Argument, Expr, ExprKind, Name};

impl<'a> Evaluator<'a> {
    /// Evaluates `displacement(bar, x)` and similar measures.
    pub(in crate::evaluate) fn modal_measure(
        &mut self,
        name: &'a Name,
        arguments: &'a [Argument],
        place: Place,
        span: Span,
    ) -> Value {
        self.measured_at(name, arguments, place, span).unwrap_or(Value::Error)
    }

    fn measured_at(&mut self, name: &'a Name, arguments: &'a [Argument], place: Place, span: Span) -> Option<Value> {
        let Some((owner, positions)) = arguments.split_first() else {
            return Some(self.wrong_position_count(name, 1, 0, span));
        };
        let (first, at) = match self.graph_part(&owner.value, place) {
            GraphPart::Modal(first, at) => (first, at as usize),
            GraphPart::Failed | GraphPart::Absent => return None,
            _ => {
                let diagnostic = Diagnostic::error(
                    Code::LGM0138,
                    format!("`{}` can only be measured on a modal block", name.text),
                )
                .label(owner.value.span, "this is not an instance")
                .help("measure `across(..)` and `through(..)` of elements and nodes");
                self.report(diagnostic);
                return None;
            }
        };
        let rules = self.graph.blocks[at].rules.clone();
        let dimensions = rules.dimensions();
        if positions.len() != dimensions || positions.iter().any(|argument| argument.name.is_some()) {
            return Some(self.wrong_position_count(name, dimensions, positions.len(), span));
        }
        let mut coordinates = Vec::with_capacity(dimensions);
        for position in positions {
            let scalar = self.eval_scalar(&position.value, place)?;
            if self.varies(scalar.expr) {
                let diagnostic = Diagnostic::error(Code::LGM0443, "a position may depend on parameters only")
                    .label(position.value.span, "this changes with time")
                    .help("measure at a fixed position");
                self.report(diagnostic);
                return None;
            }
            coordinates.push(scalar);
        }
        let sides = self.graph.blocks[at].sides.clone();
        for (k, (coordinate, position)) in coordinates.iter().zip(positions).enumerate() {
            let side: Vec<Scalar> = sides.get(k).copied().into_iter().collect();
            self.check_position(position.value.span, &[*coordinate], &side)?;
        }
        let function = match &*name.text {
            "velocity" | "displacement" => "shape",
            other => other,
        };
        if rules.tabulated.contains(&function)
            && let Some(table) = self.table_of(self.graph.blocks[at].instance).flatten()
        {
            let written = positions[0].value.span.to(positions[positions.len() - 1].value.span);
            self.table_column(written, &coordinates, table, function)?;
        }
        match &*name.text {
            "velocity" | "displacement" => self.motion(first, at, &coordinates, &*name.text == "displacement"),
            _ => self.internal(first, at, &coordinates, name),
        }
    }

    fn wrong_position_count(&mut self, name: &Name, wanted: usize, given: usize, span: Span) -> Value {
        let words = if wanted == 1 { "x" } else { "x, y" };
        let diagnostic = Diagnostic::error(
            Code::LGM0128,
            format!("`{}` requires a modal block and a position", name.text),
        )
        .label(span, format!("{given} of {wanted} coordinates are given"))
        .help(format!("write `{}(bar, {words})`", name.text));
        self.report(diagnostic);
        Value::Error
    }

    /// Returns the motion variable of the domain: across, or through for the dual.
    fn moving(&mut self, first: ElementId, at: usize) -> (Variable, DimId) {
        let domain =
            self.graph.model.graph.ports[self.graph.model.graph.elements[first.index()].ports.start as usize].domain;
        let across = !self.graph.blocks[at].rules.across;
        match domain {
            Some(domain) => {
                let effort = self.graph.model.graph.domains[domain.index()].effort_is_across == across;
                let dim = self.domain_dimension(domain, across);
                (if effort { Variable::Effort } else { Variable::Flow }, dim)
            }
            None => (Variable::Flow, DimId::UNKNOWN),
        }
    }

    fn part_measure(&mut self, first: ElementId, part: ElementId, variable: Variable) -> ExprId {
        let ports = self.graph.model.graph.elements[(first.0 + part.0) as usize]
            .ports
            .clone();
        self.port_measure(PortId(ports.start), variable)
    }

    /// Returns the sum over the modes of the shape times the velocity, or the displacement, of the mode.
    fn motion(&mut self, first: ElementId, at: usize, coordinates: &[Scalar], displaced: bool) -> Option<Value> {
        let (variable, dim) = self.moving(first, at);
        let point = [Position::Point(coordinates.to_vec())];
        let mut terms = Vec::new();
        let mut rates = Vec::new();
        for k in 0..self.graph.blocks[at].modes.len() {
            let shape = self.mode_shape(at, k, "shape", &point)?;
            if self.arena.exprs.is_zero(shape) {
                continue;
            }
            match (displaced, self.modal_displacement(first, at, k, variable)) {
                (true, Some(moved)) => terms.push(self.arena.exprs.mul(shape, moved)),
                _ => {
                    let mode = self.graph.blocks[at].modes[k].storage;
                    let rate = self.part_measure(first, mode, variable);
                    rates.push(self.arena.exprs.mul(shape, rate));
                }
            }
        }
        self.residual_terms(first, at, coordinates, displaced, &mut terms, &mut rates)?;
        // Unrestrained rigid-body motion is integrated.
        if !rates.is_empty() {
            let rate = self.arena.exprs.sum(rates);
            terms.push(match displaced {
                true => self.arena.exprs.call(Function::Int, [rate]),
                false => rate,
            });
        }
        let dim = match displaced {
            true => self.dims.times_seconds(dim, 1),
            false => dim,
        };
        Some(Value::scalar(self.arena.exprs.sum(terms), dim))
    }

    /// Returns the displacement of a mode, if its restoring storage determines it.
    fn modal_displacement(&mut self, first: ElementId, at: usize, k: usize, moving: Variable) -> Option<ExprId> {
        let mode = &self.graph.blocks[at].modes[k];
        let (part, value) = mode.restoring.filter(|_| mode.loss.is_none())?;
        let held = self.part_measure(first, part, moving.conjugate());
        Some(self.arena.exprs.div(held, value))
    }

    /// Returns a function of the position for one mode.
    fn mode_shape(&mut self, at: usize, k: usize, name: &str, point: &[Position]) -> Option<ExprId> {
        let block = &self.graph.blocks[at];
        let (rules, instance) = (block.rules.clone(), block.instance);
        let mut known = block.formals.clone();
        known.extend(block.modes[k].scope.iter().cloned());
        let shape = rules.shape(name)?;
        let Some(position @ Position::Point(coordinates)) = point.first() else {
            return None;
        };
        let owner = self.graph.blocks[at].owner.clone();
        let value = self.with_scope(instance, known, |this| this.shape_at(shape, coordinates))?;
        Some(self.constant_at(&owner, name, k as u32 + 1, position, value).expr)
    }

    /// Returns the contribution of the omitted modes at a position, due to the forces at the ports.
    fn residual_terms(
        &mut self,
        first: ElementId,
        at: usize,
        coordinates: &[Scalar],
        displaced: bool,
        terms: &mut Vec<ExprId>,
        rates: &mut Vec<ExprId>,
    ) -> Option<()> {
        let residual = self.graph.blocks[at].residual;
        let rules = self.graph.blocks[at].rules.clone();
        let (variable, _) = self.moving(first, at);
        let parts = [
            (residual.storage, "compliance"),
            (residual.dissipator, rules.resistance()),
        ];
        for (part, name) in parts {
            let (Some(part), Some(shape)) = (part, rules.shape(name)) else {
                continue;
            };
            let is_storage = name == "compliance";
            let ports = self.graph.model.graph.elements[(first.0 + part.0) as usize]
                .ports
                .clone();
            for (column, port) in ports.enumerate() {
                let value = self.residual_between(at, shape, is_storage, coordinates, column)?;
                let driving = self.port_measure(PortId(port), variable.conjugate());
                let exprs = &mut self.arena.exprs;
                match (is_storage, displaced) {
                    (true, true) => terms.push(exprs.mul(value, driving)),
                    (true, false) => {
                        let rate = exprs.call(Function::Der, [driving]);
                        rates.push(exprs.mul(value, rate));
                    }
                    // The contribution of a loss is a velocity.
                    (false, _) => rates.push(exprs.mul(value, driving)),
                }
            }
        }
        Some(())
    }

    /// Returns the compliance or the resistance of the modes omitted between a position and a port.
    fn residual_between(
        &mut self,
        at: usize,
        shape: &Shape<'a>,
        is_storage: bool,
        coordinates: &[Scalar],
        column: usize,
    ) -> Option<ExprId> {
        let block = self.graph.blocks[at].clone();
        let (here, there) = (Position::Point(coordinates.to_vec()), block.ports[column].clone());
        let kept: Vec<(usize, Kept)> = block
            .modes
            .iter()
            .enumerate()
            .filter_map(|(k, mode)| {
                let restoring = mode.restoring.map(|restoring| restoring.1);
                let kept = match is_storage {
                    true => kept_compliance(restoring),
                    false => kept_resistance(&block.rules, restoring, mode.dissipation, mode.loss),
                };
                Some((k, kept?))
            })
            .collect();
        let whole = self.averaged(&block, shape, &here, &there, block.instance.kind.span)?;
        let mut parts = Vec::with_capacity(kept.len());
        for (k, kept) in kept {
            let shapes = self.shapes_at(
                &block,
                (k as u32 + 1, &block.modes[k].scope),
                &[here.clone(), there.clone()],
            )?;
            parts.push((shapes[0].expr, shapes[1].expr, kept));
        }
        Some(self.less_kept(whole, &parts))
    }

    /// Evaluates `force(bar, x)`, `shear(beam, x)`, `moment(beam, x)`: the sum of the contributions of the modes' displacements.
    fn internal(&mut self, first: ElementId, at: usize, coordinates: &[Scalar], name: &Name) -> Option<Value> {
        let rules = self.graph.blocks[at].rules.clone();
        if rules.shape(&name.text).is_none() {
            let modal = self.graph.blocks[at].modal;
            let diagnostic = Diagnostic::error(
                Code::LGM0446,
                format!("`{}` does not define its {}", modal.name.text, name.text),
            )
            .label(name.span, "measured here")
            .label(modal.name.span, format!("no `{}(x)` in this block", name.text))
            .help(format!(
                "define `{}(x) = ..;` in the block: the {0} at x for a unit displacement of the mode",
                name.text
            ));
            self.report(diagnostic);
            return None;
        }
        let (variable, _) = self.moving(first, at);
        let point = [Position::Point(coordinates.to_vec())];
        let mut terms = Vec::new();
        for k in 0..self.graph.blocks[at].modes.len() {
            let shape = self.mode_shape(at, k, &name.text, &point)?;
            if self.arena.exprs.is_zero(shape) {
                continue;
            }
            let moved = match self.modal_displacement(first, at, k, variable) {
                Some(moved) => moved,
                None => {
                    let mode = self.graph.blocks[at].modes[k].storage;
                    let rate = self.part_measure(first, mode, variable);
                    self.arena.exprs.call(Function::Int, [rate])
                }
            };
            terms.push(self.arena.exprs.mul(shape, moved));
        }
        Some(Value::scalar(self.arena.exprs.sum(terms), DimId::UNKNOWN))
    }

    /// Evaluates `bar.v[i]`, `bar.F[i]`: the across or through variable of a mode's storage, by the symbol of the domain.
    pub(in crate::evaluate) fn modal_state(
        &mut self,
        first: ElementId,
        at: usize,
        name: &'a Name,
        indices: &'a [Expr],
        place: Place,
        span: Span,
    ) -> Value {
        let block = &self.graph.blocks[at];
        let (across, count) = (block.rules.across, block.modes.len());
        let start = self.graph.model.graph.elements[first.index()].ports.start as usize;
        let Some(domain) = self.graph.model.graph.ports[start].domain else {
            return Value::Error;
        };
        let about = &self.graph.model.graph.domains[domain.index()];
        let symbols = [about.across.to_string(), about.through.to_string()];
        let Some(is_through) = symbols
            .iter()
            .position(|symbol| *symbol == *name.text)
            .map(|at| at == 1)
        else {
            let mut diagnostic =
                Diagnostic::error(Code::LGM0111, format!("a modal block has no value `{}`", name.text))
                    .label(name.span, "unknown");
            diagnostic.help = Some(format!(
                "its modes have `{}[i]` and `{}[i]`; measure its ports as `across(port[k])`",
                symbols[0], symbols[1]
            ));
            self.report(diagnostic);
            return Value::Error;
        };
        let Some([k]) = self
            .integers(indices, place)
            .as_deref()
            .and_then(|list| <[i64; 1]>::try_from(list).ok())
        else {
            return Value::Error;
        };
        if k < 1 || k > count as i64 {
            let diagnostic = Diagnostic::error(Code::LGM0121, format!("the index {k} is outside 1:{count}"))
                .label(
                    span,
                    format!(
                        "there {} {count}",
                        if count == 1 {
                            "is only one mode of"
                        } else {
                            "are modes 1 to"
                        }
                    ),
                )
                .help("modes are numbered from 1 to `modes`");
            self.report(diagnostic);
            return Value::Error;
        }
        let mode = &self.graph.blocks[at].modes[k as usize - 1];
        let part = match is_through == across {
            true => Some(mode.storage),
            false => mode.restoring.map(|restoring| restoring.0),
        };
        let Some(part) = part else {
            let diagnostic = Diagnostic::error(Code::LGM0111, format!("mode {k} has no `{}`", name.text))
                .label(span, "a rigid-body mode, which has no stiffness")
                .help("measure the variable that moves, or choose another mode");
            self.report(diagnostic);
            return Value::Error;
        };
        let effort = self.graph.model.graph.domains[domain.index()].effort_is_across != is_through;
        let variable = if effort { Variable::Effort } else { Variable::Flow };
        let dim = self.domain_dimension(domain, !is_through);
        let expr = self.part_measure(first, part, variable);
        Value::scalar(expr, dim)
    }

    /// Resolves `bar.port[k]` to the scalar ports of the flat graph (those of the coupler and, in series with it, of the residual).
    pub(in crate::evaluate) fn modal_port(&mut self, expr: &'a Expr, place: Place) -> Option<Option<ModalPort>> {
        let ExprKind::Index(base, indices) = &expr.kind else {
            return None;
        };
        let ExprKind::Member(owner, name) = &base.kind else {
            return None;
        };
        if &*name.text != "port" {
            return None;
        }
        let Some(GraphPart::Modal(first, at)) = self.known_graph_part(owner, place) else {
            return None;
        };
        let block = &self.graph.blocks[at as usize];
        let (count, across, modes) = (block.ports.len(), block.rules.across, block.modes.len());
        let residual = [block.residual.storage, block.residual.dissipator];
        let Some([k]) = self
            .integers(indices, place)
            .as_deref()
            .and_then(|list| <[i64; 1]>::try_from(list).ok())
        else {
            return Some(None);
        };
        if k < 1 || k > count as i64 {
            let diagnostic = Diagnostic::error(Code::LGM0121, format!("the index {k} is outside 1:{count}"))
                .label(
                    expr.span,
                    format!("there {} {count}", if count == 1 { "is only" } else { "are" }),
                )
                .help("each position of `at`, then of `over`, is one port, in this order");
            self.report(diagnostic);
            return Some(None);
        }
        let start = self.graph.model.graph.elements[first.index()].ports.start;
        let offset = if across { 0 } else { modes as u32 };
        let residual = residual.map(|part| {
            let ports = self.graph.model.graph.elements[(first.0 + part?.0) as usize]
                .ports
                .clone();
            Some(PortId(ports.start + k as u32 - 1))
        });
        Some(Some(ModalPort {
            coupler: PortId(start + offset + k as u32 - 1),
            residual,
            in_series: !across,
        }))
    }

    /// Returns a variable of a port of a modal block.
    pub(in crate::evaluate) fn of_modal_port(
        &mut self,
        port: ModalPort,
        variable: Variable,
        is_across: bool,
    ) -> ExprId {
        let mut sum = self.port_measure(port.coupler, variable);
        // In series the across variables add up; in parallel the through variables do.
        for residual in port
            .residual
            .into_iter()
            .flatten()
            .filter(|_| is_across == port.in_series)
        {
            let more = self.port_measure(residual, variable);
            sum = self.arena.exprs.add(sum, more);
        }
        sum
    }
}
