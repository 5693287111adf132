//! Powers and energies.

use crate::context::values::Value;
use crate::context::{GraphPart, Place, Progress};
use crate::evaluate::Evaluator;
use crate::evaluate::measures::Wanted;
use crate::law_forms::classify::{LARGEST_INVERSE, is_simple, solve};
use lgm_algebra::expr::ExprId;
use lgm_algebra::units::Dimension;
use lgm_model::{BondEnd, Connection, ElementId, Law, Matrix, PortId, StorageForm, Variable};
use lgm_source::Span;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_syntax::ast::{Expr, ExprKind};

impl<'a> Evaluator<'a> {
    /// Returns the element of `power(..)` and `energy(..)`, which must be in a domain with power.
    fn element_of_power(&mut self, argument: &'a Expr, place: Place, what: &str) -> Option<ElementId> {
        let id = match self.graph_part(argument, place) {
            GraphPart::Element(id) => id,
            GraphPart::Failed | GraphPart::Absent => return None,
            _ => {
                let diagnostic =
                    Diagnostic::error(Code::LGM0138, format!("`{what}` can only be measured on an element"))
                        .label(argument.span, "this is not an element")
                        .help("name an element: `power(spring)`");
                self.report(diagnostic);
                return None;
            }
        };
        let range = self.graph.model.graph.elements[id.index()].ports.clone();
        if range.is_empty() {
            return None;
        }
        for at in range {
            let Some(domain) = self.graph.model.graph.ports[at as usize].domain else {
                continue;
            };
            let domain = &self.graph.model.graph.domains[domain.index()];
            if domain.pseudo {
                let name = domain.name.clone();
                let diagnostic = Diagnostic::error(Code::LGM0143, format!("the domain {name} has no {what}"))
                    .label(argument.span, format!("this is {name}"))
                    .note(format!("in {name} across times through is not a power"))
                    .help("measure `through(..)`: a heat flow is already a power");
                self.report(diagnostic);
                return None;
            }
        }
        Some(id)
    }

    /// Returns the power of efforts and flows, entry by entry.
    fn product_of(&mut self, efforts: &Value, flows: &Value) -> Value {
        if efforts.is_error() || flows.is_error() {
            return Value::Error;
        }
        let pairs = efforts.entries().iter().zip(flows.entries());
        let pairs: Vec<(ExprId, ExprId)> = pairs.map(|(effort, flow)| (effort.expr, flow.expr)).collect();
        self.power_value(&pairs)
    }

    pub(in crate::evaluate) fn power_of_part(&mut self, argument: &'a Expr, place: Place) -> Value {
        if let ExprKind::Bond(tail, head) = &argument.kind {
            let e = self.of_bond(Wanted::Is(Variable::Effort), tail, head, place);
            let f = self.of_bond(Wanted::Is(Variable::Flow), tail, head, place);
            return self.product_of(&e, &f);
        }
        if let Some((id, port)) = self.port_of_element(argument, place) {
            let e = self.of_element(Wanted::Is(Variable::Effort), id, Some(port), argument.span);
            let f = self.of_element(Wanted::Is(Variable::Flow), id, Some(port), argument.span);
            return self.product_of(&e, &f);
        }
        let Some(id) = self.element_of_power(argument, place, "power") else {
            return Value::Error;
        };
        let several = self.graph.port_groups(id).len() > 1;
        let mut pairs = Vec::new();
        for at in self.graph.model.graph.elements[id.index()].ports.clone() {
            let port = PortId(at);
            let e = self.port_measure(port, Variable::Effort);
            let mut f = self.port_measure(port, Variable::Flow);
            // For a coupler the absorbed powers are added; power on an outgoing bond is negative.
            if several
                && let Connection::Bond(bond) = self.graph.model.graph.ports[at as usize].connection
                && self.graph.model.graph.bonds[bond.index()].tail == BondEnd::Port(port)
            {
                f = self.arena.exprs.neg(f);
            }
            pairs.push((e, f));
        }
        self.power_value(&pairs)
    }

    fn power_value(&mut self, pairs: &[(ExprId, ExprId)]) -> Value {
        let mut terms = Vec::with_capacity(pairs.len());
        for (e, f) in pairs {
            terms.push(self.arena.exprs.mul(*e, *f));
        }
        let watt = Dimension::integers([2, 1, -3, 0, 0, 0, 0]);
        let dim = self.dims.id(watt);
        Value::scalar(self.arena.exprs.sum(terms), dim)
    }

    /// Returns the energy of a linear storage: half of z' M z, where z is its co-energy variable.
    pub(in crate::evaluate) fn energy_of(&mut self, argument: &'a Expr, place: Place, span: Span) -> Value {
        let Some(id) = self.element_of_power(argument, place, "energy") else {
            return Value::Error;
        };
        (self.read_law)(self, id);
        match self.graph.records[id.index()].progress {
            Progress::Done => {}
            Progress::Busy => {
                let diagnostic = Diagnostic::error(Code::LGM0117, "the value of the element depends on its own energy")
                    .label(span, "this use closes the cycle")
                    .help("break the cycle: a value may depend on itself only through `state z = int(..)`");
                self.report(diagnostic);
                return Value::Error;
            }
            _ => return Value::Error,
        }
        let Law::Storage { co_energy, value, form } = self.graph.model.graph.elements[id.index()].law.clone() else {
            let kind = self.graph.records[id.index()].instance.kind.span;
            if matches!(self.graph.model.graph.elements[id.index()].law, Law::Nonlinear(_)) {
                let diagnostic =
                    Diagnostic::error(Code::LGM0143, "the energy of this nonlinear law has no known formula")
                        .label(argument.span, "this is not linear storage")
                        .label(kind, "declared here")
                        .help("integrate its power: `int(power(..))`");
                self.report(diagnostic);
                return Value::Error;
            }
            let diagnostic = Diagnostic::error(Code::LGM0143, "only a storage element has energy")
                .label(argument.span, "this stores none")
                .label(kind, "declared here")
                .help("for the absorbed energy, integrate the power: `int(power(..))`");
            self.report(diagnostic);
            return Value::Error;
        };
        let range = self.graph.model.graph.elements[id.index()].ports.clone();
        let z: Vec<ExprId> = range.map(|at| self.port_measure(PortId(at), co_energy)).collect();
        let matrix = match form {
            StorageForm::Direct => value,
            StorageForm::Inverse => match self.inverse(&value) {
                Some(inverse) => inverse,
                None => {
                    let diagnostic = Diagnostic::error(Code::LGM0603, "the energy of this stiffness is not supported")
                        .label(
                            argument.span,
                            "its matrix has no inverse, or the inverse is too large to be written",
                        )
                        .help("write the energy as a formula of the forces and stiffnesses");
                    self.report(diagnostic);
                    return Value::Error;
                }
            },
        };
        self.energy_of_form(&matrix, &z)
    }

    /// Returns the inverse of a matrix, if it exists and is short enough.
    fn inverse(&mut self, value: &Matrix) -> Option<Matrix> {
        let n = value.rows;
        if n > LARGEST_INVERSE && !is_simple(&self.arena.exprs, value) {
            return None;
        }
        let (zero, one) = (self.arena.exprs.zero(), self.arena.exprs.one());
        let identity = Matrix {
            rows: n,
            columns: n,
            entries: (0..n * n).map(|at| if at / n == at % n { one } else { zero }).collect(),
        };
        solve(&mut self.arena.exprs, value, &identity)
    }

    /// Returns half of z' M z.
    fn energy_of_form(&mut self, matrix: &Matrix, z: &[ExprId]) -> Value {
        let n = z.len();
        let half = self
            .arena
            .exprs
            .number(num_rational::BigRational::new(1.into(), 2.into()));
        let two = self.arena.exprs.integer(2);
        let mut terms = Vec::new();
        for row in 0..n {
            for column in 0..n {
                let entry = matrix.get(row, column);
                let square = if row == column {
                    self.arena.exprs.power(z[row], two)
                } else {
                    self.arena.exprs.mul(z[row], z[column])
                };
                terms.push(self.arena.exprs.product([half, entry, square]));
            }
        }
        let joule = self.dims.id(Dimension::integers([2, 1, -2, 0, 0, 0, 0]));
        Value::scalar(self.arena.exprs.sum(terms), joule)
    }
}
