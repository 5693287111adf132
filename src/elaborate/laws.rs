//! Laws of elements: evaluated and classified once for every definition and shape, then filled with values.

use super::classify::{Fault, Rows, classify};
use super::load::ItemRef;
use super::model::{BondEnd, Connection, Dissipator, ElementId, Law, Matrix, Variable};
use super::quantities::argument_for;
use super::state::{Elaborator, EnvId, FrameId, Place, Progress};
use super::values::{Arena, DimId, Scalar, Value};
use crate::diagnostic::Diagnostic;
use crate::expr::{ExprId, Node, SymbolId, SymbolKind};
use crate::source::Span;
use crate::syntax::ast::{self, Expr, ExprKind, Item, Name};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// The names that an element's equations can use.
pub(super) struct LawScope<'a> {
    pub formals: Vec<(&'a str, Value)>,
    pub ports: Vec<ScopePort<'a>>,
    pub time: Option<ExprId>,
}

/// The variables of one port.
pub(super) struct ScopePort<'a> {
    pub name: Option<&'a str>,
    pub across: Value,
    pub through: Value,
    pub effort: Value,
    pub flow: Value,
    /// A bond has no across and through variables.
    pub is_bond: bool,
}

/// A law over formal parameters.
#[derive(Debug)]
pub(super) struct Template {
    /// Entries are expressions of the templates' own arena; `None` where a fault was reported.
    law: Option<Law>,
    /// The symbol of the first entry of the first formal parameter; the others follow.
    first: u32,
    /// How many there are.
    count: u32,
    time: SymbolId,
}

/// All laws met so far.
pub(super) struct Templates<'a> {
    arena: Arena,
    known: FxHashMap<Box<[u32]>, Rc<Template>>,
    key: Vec<u32>,
    /// Values that were found to be good storage values.
    pub good: FxHashMap<ExprId, bool>,
    _names: std::marker::PhantomData<&'a ()>,
}

impl Templates<'_> {
    pub fn new() -> Self {
        Templates {
            arena: Arena::default(),
            known: FxHashMap::default(),
            key: Vec::new(),
            good: FxHashMap::default(),
            _names: std::marker::PhantomData,
        }
    }
}

const NOWHERE: Place = Place {
    frame: FrameId(0),
    env: EnvId(0),
};

impl<'a> Elaborator<'a> {
    /// A plain name in a law.
    pub fn law_name(&mut self, name: &'a Name) -> Value {
        let Some(scope) = &self.law else {
            return Value::Error;
        };
        if let Some((_, value)) = scope.formals.iter().find(|formal| formal.0 == &*name.text) {
            return value.clone();
        }
        match &*name.text {
            "pi" => {
                let expr = self.arena.exprs.pi();
                return Value::scalar(expr, DimId::NONE);
            }
            "time" => {
                return scope
                    .time
                    .map_or(Value::Error, |time| Value::scalar(time, DimId::UNKNOWN));
            }
            _ => {}
        }
        match &scope.ports[..] {
            [port] if port.name.is_none() => match port_variable(port, &name.text) {
                Some(value) => value,
                None => self.not_a_port_variable(name, port_is_bond(&self.law)),
            },
            // `names` has reported every other name.
            _ => Value::Error,
        }
    }

    fn not_a_port_variable(&mut self, name: &'a Name, is_bond: bool) -> Value {
        if is_bond && matches!(&*name.text, "across" | "through") {
            let diagnostic = Diagnostic::error("LGM0137", format!("a bond has no `{}` variable", name.text))
                .label(name.span, "this belongs to linear graphs")
                .help("the variables of a bond are `effort` and `flow`");
            self.report(diagnostic);
        }
        Value::Error
    }

    /// `a.across` in a law.
    pub fn law_member(&mut self, owner: &'a Expr, name: &'a Name) -> Value {
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

    /// Classifies the law of an element, unless that was done.
    pub fn ensure_law(&mut self, id: ElementId) {
        let record = self.records[id.index()];
        if record.progress != Progress::Waiting {
            return;
        }
        self.records[id.index()].progress = Progress::Busy;
        let done = self.find_law(id).is_some();
        self.records[id.index()].progress = if done { Progress::Done } else { Progress::Failed };
    }

    fn find_law(&mut self, id: ElementId) -> Option<()> {
        let record = self.records[id.index()];
        let program = self.program;
        let Item::Element(element) = program.item(record.definition) else {
            return None;
        };
        let arguments = self.element_arguments(record.instance, element, record.place)?;
        let template = self.template(id, record.definition, element, &arguments)?;
        let law = self.fill(&template, &arguments)?;
        let law = self.oriented(id, law);
        self.check_law(id, &law)?;
        let ports = self.model.elements[id.index()].ports.len();
        let attributes = &record.instance.attributes;
        for attribute in attributes {
            let is_storage = matches!(law, Law::Storage { .. });
            let name = &attribute.name.text;
            if &**name != "start" {
                let diagnostic = Diagnostic::error("LGM0136", format!("an element takes no `{name}`"))
                    .label(attribute.name.span, "only `start` can stand here");
                self.report(diagnostic);
            } else if !is_storage {
                let diagnostic = Diagnostic::error("LGM0136", "only a storage element has a start value")
                    .label(attribute.name.span, "a start value is given here")
                    .label(record.instance.kind.span, "this stores no energy");
                self.report(diagnostic);
            }
        }
        if let Some(start) = self.start_of(attributes, ports, record.place) {
            self.model.elements[id.index()].start = start;
            self.model.elements[id.index()].start_span = attributes
                .iter()
                .find(|attribute| &*attribute.name.text == "start")
                .map(|found| found.value.span);
        }
        self.model.elements[id.index()].law = law;
        Some(())
    }

    /// The values of the formal parameters.
    fn element_arguments(
        &mut self,
        instance: &'a ast::Instance,
        element: &'a ast::Element,
        place: Place,
    ) -> Option<Vec<Value>> {
        let mut values: Vec<Value> = Vec::with_capacity(element.formals.len());
        for (at, formal) in element.formals.iter().enumerate() {
            let (value, span) = match (argument_for(instance, formal, at), &formal.default) {
                (Some(expr), _) => (self.eval(expr, place), expr.span),
                (None, Some(default)) => {
                    // A default may use the parameters before it.
                    let names = element.formals.iter().map(|formal| &*formal.name.text);
                    self.law = Some(LawScope {
                        formals: names.zip(values.iter().cloned()).collect(),
                        ports: Vec::new(),
                        time: None,
                    });
                    let value = self.eval(default, NOWHERE);
                    self.law = None;
                    (value, default.span)
                }
                (None, None) => return None,
            };
            let value = self.as_formal(&value, formal, span);
            if value.is_error() {
                return None;
            }
            values.push(value);
        }
        Some(values)
    }

    /// The law of a definition with arguments and ports of these shapes.
    fn template(
        &mut self,
        id: ElementId,
        at: ItemRef,
        element: &'a ast::Element,
        arguments: &[Value],
    ) -> Option<Rc<Template>> {
        let mut key = std::mem::take(&mut self.templates.key);
        key.clear();
        key.extend([at.file, at.item]);
        for (value, formal) in arguments.iter().zip(&element.formals) {
            let (rows, columns) = value.shape();
            key.extend([rows as u32, columns as u32]);
            for entry in value.entries() {
                key.push(entry.dim.0);
                if formal.structural {
                    key.push(entry.expr.0);
                }
            }
        }
        let groups = self.port_groups(id);
        for (_, range) in &groups {
            let domain = self.model.ports[range.start as usize].domain;
            key.extend([range.len() as u32, domain.map_or(u32::MAX, |domain| domain.0)]);
        }
        let found = self.templates.known.get(&key[..]).cloned();
        let template = match found {
            Some(template) => template,
            None => {
                let template = Rc::new(self.new_template(id, element, arguments, &groups));
                self.templates.known.insert(key.clone().into(), template.clone());
                template
            }
        };
        self.templates.key = key;
        Some(template)
    }

    /// The scalar ports of each declared port.
    pub fn port_groups(&self, id: ElementId) -> Vec<(Option<super::values::Text>, std::ops::Range<u32>)> {
        let range = self.model.elements[id.index()].ports.clone();
        let mut groups: Vec<(Option<super::values::Text>, std::ops::Range<u32>)> = Vec::with_capacity(2);
        for at in range {
            let name = &self.model.ports[at as usize].name;
            match groups.last_mut() {
                Some((last, range)) if last == name => range.end = at + 1,
                _ => groups.push((name.clone(), at..at + 1)),
            }
        }
        groups
    }

    fn new_template(
        &mut self,
        id: ElementId,
        element: &'a ast::Element,
        arguments: &[Value],
        groups: &[(Option<super::values::Text>, std::ops::Range<u32>)],
    ) -> Template {
        // Structural values are numbers in the law itself.
        let mut numbers: Vec<Option<Vec<num_rational::BigRational>>> = Vec::new();
        for (value, formal) in arguments.iter().zip(&element.formals) {
            let exprs: Vec<ExprId> = value.entries().iter().map(|entry| entry.expr).collect();
            numbers.push(if formal.structural {
                self.exact(&exprs, formal.name.span)
            } else {
                None
            });
        }
        std::mem::swap(&mut self.arena, &mut self.templates.arena);
        let first = self.arena.exprs.symbol_count() as u32;
        let mut formals = Vec::new();
        for ((value, formal), numbers) in arguments.iter().zip(&element.formals).zip(&numbers) {
            let mut at = 0;
            let exprs = &mut self.arena.exprs;
            let value = value.map(|entry| {
                let symbol = exprs.new_symbol(formal.name.text.clone(), SymbolKind::Parameter);
                let expr = match numbers {
                    Some(numbers) => exprs.number(numbers[at].clone()),
                    None => exprs.symbol(symbol),
                };
                at += 1;
                Scalar { expr, dim: entry.dim }
            });
            formals.push((&*formal.name.text, value));
        }
        let count = self.arena.exprs.symbol_count() as u32 - first;
        let time = self.arena.exprs.new_symbol("time", SymbolKind::Time);
        let mut variables = FxHashMap::default();
        let mut ports = Vec::new();
        for (at, (_, range)) in groups.iter().enumerate() {
            let name = element.ports.get(at).map(|port| &*port.declared.name.text);
            ports.push(self.scope_port(name, range.clone(), groups[0].1.start, &mut variables));
        }
        let time_expr = self.arena.exprs.symbol(time);
        self.law = Some(LawScope {
            formals,
            ports,
            time: Some(time_expr),
        });
        let rows = self.law_rows(id, element);
        self.law = None;
        let splits: Vec<usize> = groups[..groups.len() - 1]
            .iter()
            .map(|group| (group.1.end - groups[0].1.start) as usize)
            .collect();
        let ports = groups.last().map_or(0, |group| group.1.end) - groups[0].1.start;
        let law = rows.and_then(|(equations, spans)| {
            let found = Rows::new(&mut self.arena.exprs, &equations, &variables, ports as usize)
                .and_then(|rows| classify(&mut self.arena.exprs, rows, &splits));
            match found {
                Ok(law) => Some(law),
                Err(fault) => {
                    self.unclassified(id, element, fault, &spans);
                    None
                }
            }
        });
        std::mem::swap(&mut self.arena, &mut self.templates.arena);
        Template {
            law,
            first,
            count,
            time,
        }
    }

    fn scope_port(
        &mut self,
        name: Option<&'a str>,
        range: std::ops::Range<u32>,
        start: u32,
        variables: &mut FxHashMap<SymbolId, u32>,
    ) -> ScopePort<'a> {
        let domain = self.model.ports[range.start as usize].domain;
        let (mut effort, mut flow) = (Vec::new(), Vec::new());
        let across_is_effort = domain.is_none_or(|domain| self.model.domains[domain.index()].effort_is_across);
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
                // Ports absorb; the flow of `out` is that of the arrow that leaves it.
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

    /// The law's equations as expressions that are 0, entry by entry, with widths and dimensions checked.
    fn law_rows(&mut self, id: ElementId, element: &'a ast::Element) -> Option<(Vec<ExprId>, Vec<Span>)> {
        let mut rows = Vec::new();
        let mut spans = Vec::new();
        let mut good = true;
        for equation in &element.equations {
            let (left, right) = (self.eval(&equation.left, NOWHERE), self.eval(&equation.right, NOWHERE));
            if left.is_error() || right.is_error() {
                good = false;
                continue;
            }
            if left.shape() != right.shape() && !self.is_zero_side(&right) {
                self.law_width(id, element, equation, &left, &right);
                good = false;
                continue;
            }
            let (a, b) = (left.entries().to_vec(), right.entries().to_vec());
            for (at, entry) in a.iter().enumerate() {
                let other = b.get(at).copied().unwrap_or(b[0]);
                if entry.dim.is_known() && other.dim.is_known() && entry.dim != other.dim {
                    self.law_dimension(id, element, equation, entry.dim, other.dim);
                    good = false;
                    break;
                }
                rows.push(self.arena.exprs.sub(entry.expr, other.expr));
                spans.push(equation.span);
            }
        }
        good.then_some((rows, spans))
    }

    /// A lone `0` stands for a zero of any width.
    fn is_zero_side(&self, value: &Value) -> bool {
        matches!(value, Value::Scalar(scalar) if self.arena.exprs.is_zero(scalar.expr))
    }

    /// Where a fault of a law is shown: at the user's definition, or at the use of a library element.
    fn law_diagnostic(&self, diagnostic: Diagnostic, id: ElementId, equation: Span) -> Diagnostic {
        let instance = self.records[id.index()].instance;
        let use_span = self.model.elements[id.index()].law_span;
        if self.program.is_library(equation.source) {
            diagnostic
                .label(use_span, format!("for `{}`", instance.declared.name.text))
                .label(equation, "the law of the element")
        } else {
            diagnostic
                .label(equation, "in this law")
                .label(use_span, format!("used for `{}` here", instance.declared.name.text))
        }
    }

    fn law_width(
        &mut self,
        id: ElementId,
        element: &'a ast::Element,
        equation: &ast::Equation,
        left: &Value,
        right: &Value,
    ) {
        let ports = self.model.elements[id.index()].ports.len();
        let diagnostic = Diagnostic::error(
            "LGM0202",
            format!(
                "the widths in the law of `{}` do not agree: {} and {}",
                element.name.text,
                left.shape_text(),
                right.shape_text()
            ),
        );
        let mut diagnostic = self.law_diagnostic(diagnostic, id, equation.span);
        if let Some(Connection::Branch { span, .. }) = self
            .model
            .ports
            .get(self.model.elements[id.index()].ports.start as usize)
            .map(|port| port.connection.clone())
            && element.ports.is_empty()
        {
            diagnostic = diagnostic.label(span, format!("the node has width {ports}"));
        }
        let help = match (left, right) {
            (Value::Scalar(_), _) | (_, Value::Scalar(_)) if ports > 1 => {
                format!("a source on a vector node takes a vector: `[.., ..]` with {ports} entries")
            }
            _ => "the value must have the width of the nodes".to_string(),
        };
        self.report(diagnostic.help(help));
    }

    fn law_dimension(
        &mut self,
        id: ElementId,
        element: &'a ast::Element,
        equation: &ast::Equation,
        a: DimId,
        b: DimId,
    ) {
        let (left, right) = (self.dims.text(a), self.dims.text(b));
        let diagnostic = Diagnostic::error(
            "LGM0201",
            format!(
                "the two sides of the law of `{}` differ in dimension: {left} and {right}",
                element.name.text
            ),
        );
        let diagnostic = self.law_diagnostic(diagnostic, id, equation.span);
        let diagnostic = diagnostic
            .note(format!("`{}` is in {left}", self.sources.slice(equation.left.span)))
            .note(format!("`{}` is in {right}", self.sources.slice(equation.right.span)))
            .help("check the unit of the value that is given");
        self.report(diagnostic);
    }

    fn unclassified(&mut self, id: ElementId, element: &'a ast::Element, fault: Fault, spans: &[Span]) {
        let whole = match (element.equations.first(), element.equations.last()) {
            (Some(first), Some(last)) => first.span.to(last.span),
            _ => element.name.span,
        };
        let name = &element.name.text;
        let (diagnostic, span) = match fault {
            Fault::NotLinear(row) => (
                Diagnostic::error(
                    "LGM0602",
                    format!("`{name}` has a nonlinear law, and these are not built yet"),
                )
                .note("the law is accepted, but only linear laws are compiled so far"),
                spans.get(row).copied().unwrap_or(whole),
            ),
            Fault::Count(equations, ports) => (
                Diagnostic::error(
                    "LGM0310",
                    format!("the law of `{name}` has {equations} scalar equations for {ports} scalar ports"),
                )
                .help("write as many equations as there are ports"),
                whole,
            ),
            Fault::Dependent => (
                Diagnostic::error(
                    "LGM0311",
                    format!("the equations of `{name}` do not fix one variable of each port"),
                )
                .help("one equation follows from the others, or contradicts them"),
                whole,
            ),
            Fault::Form(words) => (
                Diagnostic::error(
                    "LGM0603",
                    format!("the law of `{name}` is of a form that is not built yet"),
                )
                .note(words),
                whole,
            ),
        };
        let diagnostic = self.law_diagnostic(diagnostic, id, span);
        self.report(diagnostic);
    }

    /// A law with the values of an instance in the places of the formal parameters.
    fn fill(&mut self, template: &Template, arguments: &[Value]) -> Option<Law> {
        let law = template.law.as_ref()?;
        let values: Vec<ExprId> = arguments
            .iter()
            .flat_map(|value| value.entries().iter().map(|entry| entry.expr))
            .collect();
        let mut fill = |matrix: &Matrix| Matrix {
            rows: matrix.rows,
            columns: matrix.columns,
            entries: matrix
                .entries
                .iter()
                .map(|entry| self.fill_entry(template, &values, *entry))
                .collect(),
        };
        Some(match law {
            Law::Storage { co_energy, value, form } => Law::Storage {
                co_energy: *co_energy,
                value: fill(value),
                form: *form,
            },
            Law::Dissipator(Dissipator::Resistance(matrix)) => Law::Dissipator(Dissipator::Resistance(fill(matrix))),
            Law::Dissipator(Dissipator::Conductance(matrix)) => Law::Dissipator(Dissipator::Conductance(fill(matrix))),
            Law::Dissipator(Dissipator::Implicit(p, q)) => Law::Dissipator(Dissipator::Implicit(fill(p), fill(q))),
            Law::Source { given, values: list } => Law::Source {
                given: *given,
                values: list
                    .iter()
                    .map(|entry| self.fill_entry(template, &values, *entry))
                    .collect(),
            },
            Law::Coupler { input, output, matrix } => Law::Coupler {
                input: *input,
                output: *output,
                matrix: fill(matrix),
            },
        })
    }

    fn fill_entry(&mut self, template: &Template, values: &[ExprId], entry: ExprId) -> ExprId {
        let exprs = &self.templates.arena.exprs;
        let symbol = |symbol: SymbolId| {
            let at = symbol.0.checked_sub(template.first)?;
            (at < template.count).then(|| values[at as usize])
        };
        // Most entries are a parameter or a number.
        match exprs.node(entry) {
            Node::Symbol(id) => {
                if let Some(value) = symbol(*id) {
                    return value;
                }
            }
            Node::Number(number) => return self.arena.exprs.number((**number).clone()),
            _ => {}
        }
        let time = self.model.time;
        let mut copies: FxHashMap<ExprId, ExprId> = FxHashMap::default();
        for id in exprs.reachable(&[entry]) {
            let out = &mut self.arena.exprs;
            let many = |list: &[ExprId]| list.iter().map(|child| copies[child]).collect::<Vec<_>>();
            let copy = match exprs.node(id) {
                Node::Number(number) => out.number((**number).clone()),
                Node::Pi => out.pi(),
                Node::Symbol(id) if *id == template.time => out.symbol(time),
                Node::Symbol(id) => symbol(*id).expect("invariant: a law holds formal parameters and time only"),
                Node::Sum(list) => out.sum(many(list)),
                Node::Product(list) => out.product(many(list)),
                Node::Power(a, b) => out.power(copies[a], copies[b]),
                Node::Call(function, list) => out.call(*function, many(list)),
                Node::Relation(relation, a, b) => out.relation(*relation, copies[a], copies[b]),
                Node::Not(a) => out.not(copies[a]),
                Node::If(c, a, b) => out.if_else(copies[c], copies[a], copies[b]),
            };
            copies.insert(id, copy);
        }
        copies[&entry]
    }

    /// A bond source gives its variable along the drawn bond; ports absorb.
    fn oriented(&mut self, id: ElementId, law: Law) -> Law {
        let Law::Source { given, values } = law else {
            return law;
        };
        let ports = self.model.elements[id.index()].ports.clone();
        let values = values
            .into_iter()
            .zip(ports)
            .map(|(value, port)| match self.model.ports[port as usize].connection {
                Connection::Bond(bond) if given == Variable::Flow => {
                    let leaves = self.model.bonds[bond.index()].tail == BondEnd::Port(super::model::PortId(port));
                    if leaves { self.arena.exprs.neg(value) } else { value }
                }
                _ => value,
            })
            .collect();
        Law::Source { given, values }
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
