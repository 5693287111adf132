//! Widths and dimensions inferred without evaluation: needed for states, because their rates may depend on them.

use crate::context::values::{DimId, decimal};
use crate::context::{EnvId, FrameId, GraphPart, Origin, Place, ValueSlot, pair};
use crate::evaluate::Evaluator;
use crate::function_table::{DELAY, MEASURES};
use crate::syntax_queries::bindings;
use lgm_algebra::expr::Function;
use lgm_model::DomainId;
use lgm_source::Span;
use lgm_syntax::ast::{Expr, ExprKind, Name};

/// The depth to which names are followed; deeper names have width 1 and an unknown dimension.
const DEEPEST: usize = 64;

/// Returns the place of names that follow an instance of a component and a dot.
fn inside(frame: FrameId) -> Place {
    Place { frame, env: EnvId(0) }
}

impl<'a> Evaluator<'a> {
    /// Returns the number of entries of an expression, as far as it is known without evaluation.
    pub(in crate::evaluate) fn width_of(&mut self, expr: &'a Expr, place: Place, depth: usize) -> usize {
        if depth > DEEPEST {
            return 1;
        }
        match &expr.kind {
            ExprKind::List(items, _) => items.len(),
            ExprKind::Negate(inner) | ExprKind::InUnit(inner, _) => self.width_of(inner, place, depth + 1),
            ExprKind::Sum(terms) => terms.first().map_or(1, |term| self.width_of(&term.1, place, depth + 1)),
            ExprKind::Product(factors) => {
                // A matrix times a vector has the rows of the first factor that is not a scalar.
                let widths = factors.iter().map(|factor| &factor.1);
                widths
                    .map(|factor| self.width_of(factor, place, depth + 1))
                    .find(|width| *width > 1)
                    .unwrap_or(1)
            }
            ExprKind::Call(name, arguments) if matches!(&*name.text, "int" | "der" | DELAY) => arguments
                .first()
                .map_or(1, |argument| self.width_of(&argument.value, place, depth + 1)),
            ExprKind::Call(name, arguments) if MEASURES.contains(&&*name.text) => match arguments.first() {
                Some(argument) if !matches!(&*name.text, "power" | "energy") => {
                    self.measured_width(&argument.value, place)
                }
                _ => 1,
            },
            ExprKind::Name(name) if self.scopes.loop_index(&name.text, place).is_none() => {
                self.width_of_name(name, place, depth)
            }
            ExprKind::Member(owner, name) => match self.known_graph_part(owner, place) {
                Some(GraphPart::Component(frame)) => self.width_of_name(name, inside(frame), depth),
                _ => 1,
            },
            _ => 1,
        }
    }

    fn width_of_name(&mut self, name: &'a Name, place: Place, depth: usize) -> usize {
        let Some(slot) = self.scopes.value_slot(&name.text, place.frame) else {
            return 1;
        };
        let (origin, env) = match &self.scopes.values[slot] {
            ValueSlot::Done(value) => return value.shape().0,
            ValueSlot::Deferred(origin, env) => (*origin, *env),
            _ => return 1,
        };
        match self.definition_of(origin, Place { env, ..place }) {
            Some((expr, place)) => {
                if let Some(width) = self.inferred_widths.get(&slot) {
                    return *width;
                }
                // A name that occurs again during its own evaluation does not define itself.
                self.inferred_widths.insert(slot, 1);
                let width = self.width_of(expr, place, depth + 1);
                self.inferred_widths.insert(slot, width);
                width
            }
            None => {
                let value = self.slot_value(slot, None, &name.text, name.span, place.frame);
                value.shape().0
            }
        }
    }

    /// Returns the expression that defines a name, and the place of the expression: the value of a signal or an output, or the value that
    /// an instance binds to an input. `None` for names whose values depend on no state.
    fn definition_of(&self, origin: Origin<'a>, place: Place) -> Option<(&'a Expr, Place)> {
        match origin {
            Origin::Signal(indexed) | Origin::Output(indexed) => Some((&indexed.value, place)),
            Origin::Input(assigned) if place.frame != FrameId(0) => {
                let about = self.scopes.frames[place.frame.0 as usize];
                let mut bound = bindings(about.instance?).filter(|binding| binding.0.text == assigned.name.text);
                match bound.next() {
                    Some((_, expr)) => Some((expr, about.outer)),
                    None => Some((assigned.value.as_ref()?, place)),
                }
            }
            _ => None,
        }
    }

    fn measured_width(&mut self, expr: &'a Expr, place: Place) -> usize {
        if let Some((id, port)) = self.port_of_element(expr, place) {
            let groups = self.graph.port_groups(id);
            let group = groups.iter().find(|group| group.0.as_deref() == Some(&*port.text));
            return group.map_or(1, |group| group.1.len());
        }
        if self.modal_port(expr, place).is_some() {
            return 1;
        }
        match self.known_graph_part(expr, place) {
            Some(GraphPart::Nodes(view)) if !view.is_ground() => self.scopes.shapes[view.shape as usize].width as usize,
            Some(GraphPart::Element(id)) => self.graph.model.graph.elements[id.index()].ports.len().max(1),
            _ => 1,
        }
    }

    /// Returns a part of the graph by its name, if this is possible without evaluation.
    pub(in crate::evaluate) fn known_graph_part(&mut self, expr: &'a Expr, place: Place) -> Option<GraphPart> {
        match &expr.kind {
            ExprKind::Name(name) => {
                let slot = self.scopes.part_slot(&name.text, place.frame)?;
                Some(self.scopes.parts[slot].clone())
            }
            // Errors of the name are reported once, here and not at its uses.
            ExprKind::Index(..) | ExprKind::Member(..) => Some(self.graph_part(expr, place)),
            _ => None,
        }
    }

    /// Returns the domain of a part of the graph.
    pub(in crate::evaluate) fn domain_of(&mut self, expr: &'a Expr, place: Place) -> Option<DomainId> {
        let first_port = |this: &Self, id: lgm_model::ElementId| {
            let at = this.graph.model.graph.elements[id.index()].ports.clone().next()?;
            this.graph.model.graph.ports[at as usize].domain
        };
        if let Some((id, port)) = self.port_of_element(expr, place) {
            let groups = self.graph.port_groups(id);
            let group = groups.iter().find(|group| group.0.as_deref() == Some(&*port.text))?;
            return self.graph.model.graph.ports[group.1.start as usize].domain;
        }
        if let Some(port) = self.modal_port(expr, place) {
            return self.graph.model.graph.ports[port?.coupler.index()].domain;
        }
        match self.known_graph_part(expr, place)? {
            GraphPart::Modal(id, _) => first_port(self, id),
            GraphPart::Nodes(view) if !view.is_ground() => self.graph.model.graph.nodes[view.base as usize].domain,
            GraphPart::Element(id) => first_port(self, id),
            _ => None,
        }
    }

    /// Returns the dimension of an expression without evaluating it; unknown if it depends on itself.
    pub(in crate::evaluate) fn dimension_of(&mut self, expr: &'a Expr, place: Place, depth: usize) -> DimId {
        if depth > DEEPEST {
            return DimId::UNKNOWN;
        }
        let depth = depth + 1;
        match &expr.kind {
            ExprKind::Number(_, Some(unit)) | ExprKind::InUnit(_, unit) => match self.unit(unit) {
                Some(unit) => self.dims.id(unit.dimension),
                None => DimId::UNKNOWN,
            },
            ExprKind::Number(_, None) => DimId::PLAIN,
            ExprKind::List(items, unit) => match unit.as_ref().and_then(|unit| self.unit(unit)) {
                Some(unit) => self.dims.id(unit.dimension),
                None => self.first_known(items.iter(), place, depth),
            },
            ExprKind::Name(name) => self.dimension_of_name(name, None, name.span, place, depth),
            ExprKind::Index(base, indices) => match &base.kind {
                ExprKind::Name(name) => self.dimension_of_name(name, Some(indices), expr.span, place, depth),
                _ => self.dimension_of(base, place, depth),
            },
            ExprKind::Member(owner, name) => match self.known_graph_part(owner, place) {
                Some(GraphPart::Component(frame)) => {
                    self.dimension_of_name(name, None, expr.span, inside(frame), depth)
                }
                _ => DimId::UNKNOWN,
            },
            ExprKind::Negate(inner) => self.dimension_of(inner, place, depth),
            ExprKind::Sum(terms) => self.first_known(terms.iter().map(|term| &term.1), place, depth),
            ExprKind::Product(factors) => {
                let mut dim = DimId::NONE;
                for (divided, factor) in factors {
                    let other = self.dimension_of(factor, place, depth);
                    dim = match divided {
                        true => self.dims.over(dim, other),
                        false => self.dims.times(dim, other),
                    };
                }
                dim
            }
            ExprKind::Power(parts) => match &parts[..] {
                [base, exponent] => self.dimension_of_power(base, exponent, place, depth),
                _ => DimId::UNKNOWN,
            },
            ExprKind::If(branches, otherwise) => {
                let values = branches.iter().map(|branch| &branch.1).chain([&**otherwise]);
                self.first_known(values, place, depth)
            }
            ExprKind::Call(name, arguments) => {
                let Some(argument) = arguments.first().map(|argument| &argument.value) else {
                    return DimId::UNKNOWN;
                };
                match &*name.text {
                    "across" | "through" | "effort" | "flow" => self.measured_dimension(name, argument, place),
                    "int" | "der" => {
                        let dim = self.dimension_of(argument, place, depth);
                        self.dims.times_seconds(dim, if &*name.text == "int" { 1 } else { -1 })
                    }
                    "abs" | "floor" | "transpose" | DELAY => self.dimension_of(argument, place, depth),
                    "min" | "max" => self.first_known(arguments.iter().map(|entry| &entry.value), place, depth),
                    "sign" => DimId::NONE,
                    // These functions map pure numbers to pure numbers; an argument without a unit gives an unknown dimension.
                    name if Function::named(name).is_some_and(|facts| facts.is_pure) => {
                        let dim = self.dimension_of(argument, place, depth);
                        if dim.says_something() { DimId::NONE } else { dim }
                    }
                    _ => DimId::UNKNOWN,
                }
            }
            _ => DimId::UNKNOWN,
        }
    }

    fn first_known(&mut self, list: impl Iterator<Item = &'a Expr>, place: Place, depth: usize) -> DimId {
        let mut joined = DimId::PLAIN;
        for expr in list {
            joined = joined.joined(self.dimension_of(expr, place, depth));
            if joined.is_known() {
                break;
            }
        }
        joined
    }

    fn dimension_of_power(&mut self, base: &'a Expr, exponent: &'a Expr, place: Place, depth: usize) -> DimId {
        use num_traits::ToPrimitive;
        let dim = self.dimension_of(base, place, depth);
        let ExprKind::Number(text, None) = &exponent.kind else {
            return DimId::UNKNOWN;
        };
        let number = decimal(text).filter(|number| number.denom().bits() <= 6);
        match number.and_then(|number| Some((number.numer().to_i64()?, number.denom().to_i64()?))) {
            Some((numerator, denominator)) => self.dims.times_power(DimId::NONE, dim, numerator, denominator),
            _ => DimId::UNKNOWN,
        }
    }

    fn measured_dimension(&mut self, name: &'a Name, argument: &'a Expr, place: Place) -> DimId {
        let Some(domain) = self.domain_of(argument, place) else {
            return DimId::UNKNOWN;
        };
        let effort_is_across = self.graph.model.graph.domains[domain.index()].effort_is_across;
        let across = match &*name.text {
            "across" => true,
            "through" => false,
            "effort" => effort_is_across,
            _ => !effort_is_across,
        };
        self.domain_dimension(domain, across)
    }

    fn dimension_of_name(
        &mut self,
        name: &'a Name,
        indices: Option<&'a [Expr]>,
        span: Span,
        place: Place,
        depth: usize,
    ) -> DimId {
        if self.scopes.loop_index(&name.text, place).is_some() || &*name.text == "pi" {
            return DimId::PLAIN;
        }
        let Some(slot) = self.scopes.value_slot(&name.text, place.frame) else {
            return DimId::UNKNOWN;
        };
        let (at, entry) = match (&self.scopes.values[slot], indices) {
            (ValueSlot::Indexed(_), Some(list)) => {
                let Some(list) = self.integers(list, place) else {
                    return DimId::UNKNOWN;
                };
                let at = pair(&list);
                match &self.scopes.values[slot] {
                    ValueSlot::Indexed(map) => (Some(at), map.get(&at)),
                    _ => (None, None),
                }
            }
            (plain, _) => (None, Some(plain)),
        };
        let key = (slot, at);
        let (origin, env) = match entry {
            Some(ValueSlot::Done(value)) => return value.common_dim(),
            Some(ValueSlot::Deferred(origin, env)) => (*origin, *env),
            _ => return DimId::UNKNOWN,
        };
        let own = Place { env, ..place };
        let (expr, inner, seconds) = match (origin, self.definition_of(origin, own)) {
            (Origin::Input(assigned), Some(_)) if assigned.unit.is_some() => {
                let unit = assigned.unit.as_ref().and_then(|unit| self.unit(unit));
                return unit.map_or(DimId::UNKNOWN, |unit| self.dims.id(unit.dimension));
            }
            (_, Some((expr, inner))) => (expr, inner, 0),
            (Origin::State(indexed), None) => match &indexed.value.kind {
                ExprKind::Call(_, arguments) if !arguments.is_empty() => (&arguments[0].value, own, 1),
                _ => return DimId::UNKNOWN,
            },
            _ => return self.slot_value(slot, at, &name.text, span, place.frame).common_dim(),
        };
        if let Some(dim) = self.inferred.get(&key) {
            return *dim;
        }
        // A name that occurs again during its own evaluation does not define itself.
        self.inferred.insert(key, DimId::UNKNOWN);
        let dim = self.dimension_of(expr, inner, depth);
        let dim = self.dims.times_seconds(dim, seconds).named();
        self.inferred.insert(key, dim);
        dim
    }
}
