//! Measures: variables of the graph that expressions refer to.

use crate::bonds::End;
use crate::context::modal::ModalPort;
use crate::context::values::{DimId, Scalar, Value};
use crate::context::words::{junction_words, shape_words};
use crate::context::{ArrowBonds, NodeView, Place, Progress, Thing};
use crate::evaluate::Evaluator;
use crate::function_table::{MEASURES, MODAL_MEASURES};
use crate::laws::classify::{LARGEST_INVERSE, is_simple, solve};
use lgm_algebra::expr::ExprId;
use lgm_algebra::units::Dimension;
use lgm_model::{
    BondEnd, BondId, Connection, ElementId, JunctionKind, Law, Matrix, Measure, NodeId, PortId, StorageForm, Variable,
};
use lgm_source::Span;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_syntax::ast::{Argument, Expr, ExprKind, Name, StatementKind};

/// What of a port is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    Across,
    Through,
    Is(Variable),
}

impl<'a> Evaluator<'a> {
    /// The element that `T.in` names a port of, with that port; every other name with a dot is a member of a component.
    pub(crate) fn element_port(&mut self, expr: &'a Expr, place: Place) -> Option<(ElementId, &'a Expr, &'a Name)> {
        let ExprKind::Member(owner, port) = &expr.kind else {
            return None;
        };
        match self.graph_part(owner, place) {
            Some(Thing::Element(id)) => Some((id, owner, port)),
            _ => None,
        }
    }

    /// `across(..)` and its kin.
    pub fn measure_call(&mut self, name: &'a Name, arguments: &'a [Argument], place: Place, span: Span) -> Value {
        debug_assert!(MEASURES.contains(&&*name.text));
        if MODAL_MEASURES.contains(&&*name.text) {
            return self.modal_measure(name, arguments, place, span);
        }
        let Some(argument) = self.only_argument(name, arguments, span) else {
            return Value::Error;
        };
        let wanted = match &*name.text {
            "across" => Wanted::Across,
            "through" => Wanted::Through,
            "effort" => Wanted::Is(Variable::Effort),
            "flow" => Wanted::Is(Variable::Flow),
            "power" => return self.power_of_part(argument, place),
            _ => return self.energy_of(argument, place, span),
        };
        if let ExprKind::Bond(tail, head) = &argument.kind {
            return self.of_bond(wanted, tail, head, place);
        }
        if let Some((id, port)) = self.port_of_element(argument, place) {
            return self.of_element(wanted, id, Some(port), argument.span);
        }
        if let Some(port) = self.modal_port(argument, place) {
            return port.map_or(Value::Error, |port| self.of_port(wanted, port));
        }
        match self.thing(argument, place) {
            Thing::Nodes(view) => self.of_node(wanted, view, argument.span, span),
            Thing::Element(id) => self.of_element(wanted, id, None, argument.span),
            Thing::Modal(..) => {
                let diagnostic = Diagnostic::error(Code::LGM0140, "a port of a modal block must be named")
                    .label(argument.span, "which port is meant?")
                    .help(format!(
                        "write `{}({}.port[1])`",
                        name.text,
                        self.sources.slice(argument.span)
                    ));
                self.report(diagnostic);
                Value::Error
            }
            Thing::Component(frame) => {
                let owner = self.sources.slice(argument.span);
                let statements = self.scopes.bodies[self.scopes.frames[frame.0 as usize].body as usize].statements;
                let inside = statements.iter().find_map(|statement| match &statement.kind {
                    StatementKind::Instance(instance) => Some(&*instance.declared.name.text),
                    _ => None,
                });
                let example = format!("`{}({owner}.{})`", name.text, inside.unwrap_or(".."));
                let diagnostic = Diagnostic::error(
                    Code::LGM0138,
                    format!("`{}` is measured of an element or a node", name.text),
                )
                .label(argument.span, "this is a component")
                .help(format!("name an element inside it: {example}"));
                self.report(diagnostic);
                Value::Error
            }
            Thing::Failed | Thing::Absent | Thing::Indexed(_) => Value::Error,
        }
    }

    /// `T.a`: an element with one of its ports.
    pub fn port_of_element(&mut self, expr: &'a Expr, place: Place) -> Option<(ElementId, &'a Name)> {
        let ExprKind::Member(owner, port) = &expr.kind else {
            return None;
        };
        // A component may hold a member of this name; an element may not.
        match &owner.kind {
            ExprKind::Name(name) => {
                let slot = self.scopes.thing_slot(&name.text, place.frame)?;
                match self.scopes.things[slot] {
                    Thing::Element(id) => Some((id, port)),
                    _ => None,
                }
            }
            _ => match self.thing(owner, place) {
                Thing::Element(id) => Some((id, port)),
                _ => None,
            },
        }
    }

    fn variable(&self, wanted: Wanted, domain: Option<lgm_model::DomainId>) -> Option<Variable> {
        let effort_is_across = domain.map(|domain| self.graph.model.domains[domain.index()].effort_is_across);
        Some(match (wanted, effort_is_across) {
            (Wanted::Is(variable), _) => variable,
            (Wanted::Across, Some(true)) | (Wanted::Through, Some(false)) => Variable::Effort,
            (Wanted::Across, Some(false)) | (Wanted::Through, Some(true)) => Variable::Flow,
            (_, None) => return None,
        })
    }

    fn variable_dim(&mut self, variable: Variable, domain: Option<lgm_model::DomainId>) -> DimId {
        match domain {
            Some(domain) => {
                let effort_is_across = self.graph.model.domains[domain.index()].effort_is_across;
                self.domain_dimension(domain, effort_is_across == (variable == Variable::Effort))
            }
            None => DimId::UNKNOWN,
        }
    }

    fn no_across(&mut self, span: Span) -> Value {
        let diagnostic = Diagnostic::error(Code::LGM0139, "a bond has no across and through variables")
            .label(span, "this belongs to the bond graph")
            .help("measure `effort(..)` or `flow(..)`");
        self.report(diagnostic);
        Value::Error
    }

    fn of_element(&mut self, wanted: Wanted, id: ElementId, port: Option<&'a Name>, span: Span) -> Value {
        let groups = self.graph.port_groups(id);
        if groups.is_empty() {
            // Its connection failed and was reported.
            return Value::Error;
        }
        let range = match (port, &groups[..]) {
            (None, [only]) => only.1.clone(),
            (None, _) => {
                let names: Vec<String> = groups
                    .iter()
                    .filter_map(|group| group.0.as_ref().map(|name| name.to_string()))
                    .collect();
                let name = self.graph.model.element_name(id);
                let diagnostic = Diagnostic::error(
                    Code::LGM0140,
                    format!("`{name}` has several ports, and one must be named"),
                )
                .label(span, "which port is meant?")
                .help(format!("write `{name}.{}`", names.join(&format!("` or `{name}."))));
                self.report(diagnostic);
                return Value::Error;
            }
            (Some(port), _) => match groups.iter().find(|group| group.0.as_deref() == Some(&*port.text)) {
                Some(group) => group.1.clone(),
                None => {
                    let names: Vec<String> = groups
                        .iter()
                        .filter_map(|group| group.0.as_ref().map(|name| name.to_string()))
                        .collect();
                    let name = self.graph.model.element_name(id);
                    let mut diagnostic =
                        Diagnostic::error(Code::LGM0135, format!("`{name}` has no port `{}`", port.text))
                            .label(port.span, "no such port");
                    diagnostic.help = match names.is_empty() {
                        true => Some(format!("it has a single port: write `{name}` alone")),
                        false => lgm_source::nearest::did_you_mean(&port.text, names.iter().map(|name| &**name)),
                    };
                    self.report(diagnostic);
                    return Value::Error;
                }
            },
        };
        let domain = self.graph.model.ports[range.start as usize].domain;
        let Some(variable) = self.variable(wanted, domain) else {
            return self.no_across(span);
        };
        let dim = self.variable_dim(variable, domain);
        let entries = range.map(|at| Scalar {
            expr: self.port_measure(PortId(at), variable),
            dim,
        });
        let entries: Vec<Scalar> = entries.collect();
        Value::column(entries)
    }

    /// What is asked for of a port of a modal block.
    fn of_port(&mut self, wanted: Wanted, port: ModalPort) -> Value {
        let domain = self.graph.model.ports[port.coupler.index()].domain;
        let (Some(variable), Some(about)) = (self.variable(wanted, domain), domain) else {
            return Value::Error;
        };
        let is_across = self.graph.model.domains[about.index()].effort_is_across == (variable == Variable::Effort);
        let dim = self.variable_dim(variable, domain);
        let expr = self.of_modal_port(port, variable, is_across);
        Value::scalar(expr, dim)
    }

    /// A variable of a port: of a graph element along its branch, of a bond element along the drawn bond.
    pub fn port_measure(&mut self, port: PortId, variable: Variable) -> ExprId {
        let measure = match (&self.graph.model.ports[port.index()].connection, variable) {
            (Connection::Bond(bond), Variable::Effort) => Measure::BondEffort(*bond),
            (Connection::Bond(bond), Variable::Flow) => Measure::BondFlow(*bond),
            (_, Variable::Effort) => Measure::PortEffort(port),
            (_, Variable::Flow) => Measure::PortFlow(port),
        };
        self.measure(measure, |model| {
            let about = &model.ports[port.index()];
            let mut name = model.element_name(about.element);
            if let Some(port) = &about.name {
                name.push_str(&format!(".{port}"));
            }
            let entry = about.entry.map_or(String::new(), |entry| format!("[{entry}]"));
            let word = match about.domain {
                None => variable_word(variable),
                Some(domain) => {
                    let across = model.domains[domain.index()].effort_is_across == (variable == Variable::Effort);
                    if across { "across" } else { "through" }
                }
            };
            format!("{word}({name}){entry}")
        })
    }

    fn of_node(&mut self, wanted: Wanted, view: NodeView, argument: Span, whole: Span) -> Value {
        if view.is_ground() {
            if wanted == Wanted::Across {
                return Value::scalar(self.arena.exprs.zero(), DimId::UNKNOWN);
            }
            let diagnostic = Diagnostic::error(
                Code::LGM0141,
                "of the reference only `across(gnd)`, which is 0, can be measured",
            )
            .label(whole, "not defined")
            .help("measure an element that is connected to it, by its name: `through(..)`");
            self.report(diagnostic);
            return Value::Error;
        }
        let shape = &self.scopes.shapes[view.shape as usize];
        if !shape.sizes.is_empty() {
            let words = shape_words(shape);
            let diagnostic = Diagnostic::error(Code::LGM0115, "one node is needed here")
                .label(argument, format!("this is {words}"))
                .help("write its index, such as `[1]` behind it");
            self.report(diagnostic);
            return Value::Error;
        }
        let width = shape.width;
        let node = &self.graph.model.nodes[view.base as usize];
        let (kind, domain) = (node.kind, node.domain);
        let Some(variable) = self.variable(wanted, domain) else {
            return self.no_across(argument);
        };
        let common = match kind {
            JunctionKind::Zero => Variable::Effort,
            JunctionKind::One => Variable::Flow,
        };
        if variable != common {
            let name = self
                .graph
                .model
                .path_name(self.graph.model.nodes[view.base as usize].path);
            let diagnostic = if wanted == Wanted::Through {
                Diagnostic::error(
                    Code::LGM0141,
                    format!("nothing flows through the node `{name}` as a whole"),
                )
                .label(whole, "a node has no through variable of its own")
                .help("measure an element that is connected to it, by its name: `through(..)`")
            } else {
                let (word, other) = (variable_word(variable), variable_word(common));
                let kind = junction_words(kind);
                Diagnostic::error(
                    Code::LGM0141,
                    format!(
                        "`{name}` is {kind}: each of its bonds has {} of its own",
                        lgm_source::words::article(word)
                    ),
                )
                .label(whole, "which bond is meant?")
                .help(format!(
                    "name the bond, `{word}({name} -> R1)`, or measure `{other}({name})`"
                ))
            };
            self.report(diagnostic);
            return Value::Error;
        }
        let dim = self.variable_dim(variable, domain);
        let mut entries = Vec::with_capacity(width as usize);
        for k in 0..width {
            let id = NodeId(view.base + k);
            let expr = self.measure(Measure::Common(id), |model| {
                let node = &model.nodes[id.index()];
                let entry = node.entry.map_or(String::new(), |entry| format!("[{entry}]"));
                let word = if node.is_graph_node {
                    "across"
                } else {
                    variable_word(variable)
                };
                format!("{word}({}){entry}", model.path_name(node.path))
            });
            entries.push(Scalar { expr, dim });
        }
        Value::column(entries)
    }

    fn of_bond(&mut self, wanted: Wanted, tail: &'a Expr, head: &'a Expr, place: Place) -> Value {
        let Wanted::Is(variable) = wanted else {
            return self.no_across(tail.span.to(head.span));
        };
        let mut ends = Vec::with_capacity(2);
        let mut ports: [Option<&str>; 2] = [None; 2];
        for (expr, port) in [tail, head].into_iter().zip(&mut ports) {
            if let Some((id, _, name)) = self.element_port(expr, place) {
                *port = Some(&name.text);
                ends.push(End::Element(id, None).key());
                continue;
            }
            match self.thing(expr, place) {
                Thing::Nodes(view) => ends.push(End::Node(view).key()),
                Thing::Element(id) => ends.push(End::Element(id, None).key()),
                Thing::Failed | Thing::Absent => return Value::Error,
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
        let [bonds] = found[..] else {
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
                Diagnostic::error(Code::LGM0142, "several bonds join these two")
                    .label(bond_span, format!("{} bonds are drawn this way", found.len()))
                    .help("name the port where an end has several, `A -> f.el`, or measure the element at the other end of the one that is meant")
            } else if drawn_back {
                Diagnostic::error(Code::LGM0142, "this bond is drawn the other way round")
                    .label(bond_span, format!("the model draws `{to} -> {from}`"))
                    .help(format!("write `{to} -> {from}`; power is positive along the arrow"))
            } else {
                Diagnostic::error(Code::LGM0142, "no such bond is drawn")
                    .label(bond_span, format!("`{from}` and `{to}` are not joined by a bond"))
                    .help("name the two ends of an arrow of this model")
            };
            self.report(diagnostic);
            return Value::Error;
        };
        let mut entries = Vec::new();
        for k in 0..bonds.width {
            let id = BondId(bonds.first + k);
            let measure = match variable {
                Variable::Effort => Measure::BondEffort(id),
                Variable::Flow => Measure::BondFlow(id),
            };
            let node = [
                self.graph.model.bonds[id.index()].tail,
                self.graph.model.bonds[id.index()].head,
            ]
            .into_iter()
            .find_map(|end| match end {
                BondEnd::Node(node) => self.graph.model.nodes[node.index()].domain,
                BondEnd::Port(_) => None,
            });
            let dim = self.variable_dim(variable, node);
            let expr = self.measure(measure, |model| {
                let entry = if bonds.width > 1 {
                    format!("[{}]", k + 1)
                } else {
                    String::new()
                };
                let bond = &model.bonds[id.index()];
                let name = |end: BondEnd| match end {
                    BondEnd::Node(node) => model.path_name(model.nodes[node.index()].path),
                    BondEnd::Port(port) => match model.ports.get(port.index()) {
                        Some(about) => match about.name.as_deref() {
                            None | Some("in" | "out") => model.element_name(about.element),
                            Some(port) => format!("{}.{port}", model.element_name(about.element)),
                        },
                        // Its element failed, which was reported.
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
            entries.push(Scalar { expr, dim });
        }
        Value::column(entries)
    }

    /// Whether an arrow ends at the ports that are named of its ends.
    fn ends_at(&self, bonds: &ArrowBonds, ports: [Option<&str>; 2]) -> bool {
        let bond = &self.graph.model.bonds[bonds.first as usize];
        [bond.tail, bond.head]
            .into_iter()
            .zip(ports)
            .all(|(end, wanted)| match (end, wanted) {
                (_, None) => true,
                (BondEnd::Port(port), Some(wanted)) => {
                    let about = self.graph.model.ports.get(port.index());
                    about.is_some_and(|about| about.name.as_deref() == Some(wanted))
                }
                (BondEnd::Node(_), Some(_)) => false,
            })
    }

    /// The element of `power(..)` and `energy(..)`, which must be in a domain that has power.
    fn element_of_power(&mut self, argument: &'a Expr, place: Place, what: &str) -> Option<ElementId> {
        let id = match self.thing(argument, place) {
            Thing::Element(id) => id,
            Thing::Failed | Thing::Absent => return None,
            _ => {
                let diagnostic = Diagnostic::error(Code::LGM0138, format!("`{what}` is measured of an element"))
                    .label(argument.span, "this is no element")
                    .help("name an element: `power(spring)`");
                self.report(diagnostic);
                return None;
            }
        };
        let range = self.graph.model.elements[id.index()].ports.clone();
        if range.is_empty() {
            return None;
        }
        for at in range {
            let Some(domain) = self.graph.model.ports[at as usize].domain else {
                continue;
            };
            let domain = &self.graph.model.domains[domain.index()];
            if domain.pseudo {
                let name = domain.name.clone();
                let diagnostic = Diagnostic::error(Code::LGM0143, format!("the domain {name} has no {what}"))
                    .label(argument.span, format!("this is {name}"))
                    .note(format!("in {name} across times through is not a power"))
                    .help("measure `through(..)`, which is the power itself where it is a heat flow");
                self.report(diagnostic);
                return None;
            }
        }
        Some(id)
    }

    fn power_of_part(&mut self, argument: &'a Expr, place: Place) -> Value {
        if let ExprKind::Bond(tail, head) = &argument.kind {
            let e = self.of_bond(Wanted::Is(Variable::Effort), tail, head, place);
            let f = self.of_bond(Wanted::Is(Variable::Flow), tail, head, place);
            let pairs: Vec<(ExprId, ExprId)> = e
                .entries()
                .iter()
                .zip(f.entries())
                .map(|(e, f)| (e.expr, f.expr))
                .collect();
            return if e.is_error() || f.is_error() {
                Value::Error
            } else {
                self.power_value(&pairs)
            };
        }
        if let Some((id, port)) = self.port_of_element(argument, place) {
            let e = self.of_element(Wanted::Is(Variable::Effort), id, Some(port), argument.span);
            let f = self.of_element(Wanted::Is(Variable::Flow), id, Some(port), argument.span);
            let pairs: Vec<(ExprId, ExprId)> = e
                .entries()
                .iter()
                .zip(f.entries())
                .map(|(e, f)| (e.expr, f.expr))
                .collect();
            return if e.is_error() || f.is_error() {
                Value::Error
            } else {
                self.power_value(&pairs)
            };
        }
        let Some(id) = self.element_of_power(argument, place, "power") else {
            return Value::Error;
        };
        let several = self.graph.port_groups(id).len() > 1;
        let mut pairs = Vec::new();
        for at in self.graph.model.elements[id.index()].ports.clone() {
            let port = PortId(at);
            let e = self.port_measure(port, Variable::Effort);
            let mut f = self.port_measure(port, Variable::Flow);
            // Of a coupler the powers that it takes up are added; a bond out of it carries power away.
            if several
                && let Connection::Bond(bond) = self.graph.model.ports[at as usize].connection
                && self.graph.model.bonds[bond.index()].tail == BondEnd::Port(port)
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

    /// The energy of a linear storage: half of z' M z, with z its co-energy variable.
    fn energy_of(&mut self, argument: &'a Expr, place: Place, span: Span) -> Value {
        let Some(id) = self.element_of_power(argument, place, "energy") else {
            return Value::Error;
        };
        (self.read_law)(self, id);
        match self.graph.records[id.index()].progress {
            Progress::Done => {}
            Progress::Busy => {
                let diagnostic = Diagnostic::error(
                    Code::LGM0117,
                    "this energy is needed to find the value of the same element",
                )
                .label(span, "this use closes the circle")
                .help("break the circle: a value may depend on itself only through `state z = int(..)`");
                self.report(diagnostic);
                return Value::Error;
            }
            _ => return Value::Error,
        }
        let Law::Storage { co_energy, value, form } = self.graph.model.elements[id.index()].law.clone() else {
            let kind = self.graph.records[id.index()].instance.kind.span;
            if matches!(self.graph.model.elements[id.index()].law, Law::Nonlinear(_)) {
                let diagnostic = Diagnostic::error(
                    Code::LGM0143,
                    "the energy of a nonlinear law has no formula that is known here",
                )
                .label(argument.span, "this is no linear storage")
                .label(kind, "declared here")
                .help("integrate its power: `int(power(..))`");
                self.report(diagnostic);
                return Value::Error;
            }
            let diagnostic = Diagnostic::error(Code::LGM0143, "only a storage element has energy")
                .label(argument.span, "this stores none")
                .label(kind, "declared here")
                .help("measure its `power(..)`");
            self.report(diagnostic);
            return Value::Error;
        };
        let range = self.graph.model.elements[id.index()].ports.clone();
        let z: Vec<ExprId> = range.map(|at| self.port_measure(PortId(at), co_energy)).collect();
        let n = z.len();
        let matrix = match form {
            StorageForm::Direct => value,
            StorageForm::Inverse => {
                let (zero, one) = (self.arena.exprs.zero(), self.arena.exprs.one());
                let identity = Matrix {
                    rows: n,
                    columns: n,
                    entries: (0..n * n).map(|at| if at / n == at % n { one } else { zero }).collect(),
                };
                let simple = n <= LARGEST_INVERSE || is_simple(&self.arena.exprs, &value);
                let inverse = simple
                    .then(|| solve(&mut self.arena.exprs, &value, &identity))
                    .flatten();
                match inverse {
                    Some(inverse) => inverse,
                    None => {
                        let diagnostic =
                            Diagnostic::error(Code::LGM0603, "the energy of this stiffness is not built yet")
                                .label(
                                    argument.span,
                                    "its matrix has no inverse, or too large a one to be written",
                                )
                                .help("write the energy out from the forces and the stiffness of its parts");
                        self.report(diagnostic);
                        return Value::Error;
                    }
                }
            }
        };
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

fn variable_word(variable: Variable) -> &'static str {
    match variable {
        Variable::Effort => "effort",
        Variable::Flow => "flow",
    }
}
