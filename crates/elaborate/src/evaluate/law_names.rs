//! The names available to the equations of an element: its formal parameters and the variables of its ports.

use crate::context::values::{DimId, Scalar, Value};
use crate::evaluate::Evaluator;
use crate::evaluate::law_scope::{LawScope, ScopePort};
use lgm_algebra::expr::{SymbolId, SymbolKind};
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_syntax::ast::{Expr, ExprKind, Name};
use rustc_hash::FxHashMap;

impl<'a> Evaluator<'a> {
    /// Returns the value of a plain name in a law.
    pub(super) fn law_name(&mut self, name: &'a Name) -> Value {
        let Some(scope) = &self.law else {
            return Value::Error;
        };
        // The index of a mode and the position follow the parameters, and shadow them.
        if let Some((_, value)) = scope.formals.iter().rev().find(|formal| formal.0 == &*name.text) {
            return value.clone();
        }
        match &*name.text {
            "pi" => {
                let expr = self.arena.exprs.pi();
                return Value::scalar(expr, DimId::PLAIN);
            }
            "time" => {
                return scope
                    .time
                    .map_or(Value::Error, |time| Value::scalar(time, DimId::UNKNOWN));
            }
            _ => {}
        }
        let of_port = match &scope.ports[..] {
            [port] if port.name.is_none() => port_variable(port, &name.text),
            _ => None,
        };
        if let Some(value) = of_port {
            return value;
        }
        if let Some(value) = self.global_constant(name) {
            return value;
        }
        match &self.law {
            Some(scope) if matches!(&scope.ports[..], [port] if port.name.is_none()) => {
                self.not_a_port_variable(name, port_is_bond(&self.law))
            }
            // `names` has reported every other name.
            _ => Value::Error,
        }
    }

    fn not_a_port_variable(&mut self, name: &'a Name, is_bond: bool) -> Value {
        if is_bond && matches!(&*name.text, "across" | "through") {
            let diagnostic = Diagnostic::error(Code::LGM0137, format!("a bond has no `{}` variable", name.text))
                .label(name.span, "only available in linear graphs")
                .help("the variables of a bond are `effort` and `flow`");
            self.report(diagnostic);
        }
        Value::Error
    }

    /// Evaluates `a.across` in a law.
    pub(super) fn law_member(&mut self, owner: &'a Expr, name: &'a Name) -> Value {
        let Some(scope) = &self.law else {
            return Value::Error;
        };
        let ExprKind::Name(port_name) = &owner.kind else {
            return Value::Error;
        };
        let Some(port) = scope.ports.iter().find(|port| port.name == Some(&*port_name.text)) else {
            // `names` has reported it.
            return Value::Error;
        };
        match port_variable(port, &name.text) {
            Some(value) => value,
            None => {
                let is_bond = port.is_bond;
                self.not_a_port_variable(name, is_bond)
            }
        }
    }

    /// Returns the variables of a port as symbols of their own.
    pub(crate) fn scope_port(
        &mut self,
        name: Option<&'a str>,
        range: std::ops::Range<u32>,
        start: u32,
        variables: &mut FxHashMap<SymbolId, u32>,
    ) -> ScopePort<'a> {
        let domain = self.graph.model.graph.ports[range.start as usize].domain;
        let (mut effort, mut flow) = (Vec::new(), Vec::new());
        let across_is_effort =
            domain.is_none_or(|domain| self.graph.model.graph.domains[domain.index()].effort_is_across);
        let dims = match domain {
            Some(domain) => (
                self.domain_dimension(domain, across_is_effort),
                self.domain_dimension(domain, !across_is_effort),
            ),
            None => (DimId::UNKNOWN, DimId::UNKNOWN),
        };
        for at in range {
            let exprs = &mut self.arena.exprs;
            let e = exprs.new_symbol("effort", SymbolKind::Measure);
            let f = exprs.new_symbol("flow", SymbolKind::Measure);
            variables.insert(e, 2 * (at - start));
            variables.insert(f, 2 * (at - start) + 1);
            let e = exprs.symbol(e);
            let mut f = exprs.symbol(f);
            if domain.is_none() && name == Some("out") {
                // Ports absorb; the flow of `out` is that of the outgoing arrow.
                f = exprs.neg(f);
            }
            effort.push(Scalar { expr: e, dim: dims.0 });
            flow.push(Scalar { expr: f, dim: dims.1 });
        }
        let (effort, flow) = (Value::column(effort), Value::column(flow));
        let (across, through) = match across_is_effort {
            true => (effort.clone(), flow.clone()),
            false => (flow.clone(), effort.clone()),
        };
        ScopePort {
            name,
            across,
            through,
            effort,
            flow,
            is_bond: domain.is_none(),
        }
    }
}

fn port_is_bond(law: &Option<LawScope>) -> bool {
    law.as_ref()
        .is_some_and(|scope| scope.ports.iter().any(|port| port.is_bond))
}

fn port_variable(port: &ScopePort, name: &str) -> Option<Value> {
    Some(match name {
        "across" if !port.is_bond => port.across.clone(),
        "through" if !port.is_bond => port.through.clone(),
        "effort" => port.effort.clone(),
        "flow" => port.flow.clone(),
        _ => return None,
    })
}
