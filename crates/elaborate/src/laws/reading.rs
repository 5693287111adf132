//! Laws of elements: evaluated and classified once for every definition and shape, then filled with values.

use crate::context::values::{Agreement, DimId, Scalar, Text, Value};
use crate::context::{AtPlace, Place, Progress};
use crate::evaluate::declarations::ranges::Arguments;
use crate::evaluate::law_scope::LawScope;
use crate::law_forms::classify::{Fault, Rows, classify};
use crate::law_forms::templates::Template;
use crate::laws::LawReader;
use crate::laws::energy::always_has_energy;
use crate::laws::nonlinear::{LawState, hold_integrals, in_order, nonlinear_law};
use crate::program::ItemRef;
use lgm_algebra::expr::{ExprId, SymbolId, SymbolKind};
use lgm_model::{BondEnd, Connection, Dissipator, ElementId, Law, Matrix, Variable};
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_syntax::ast::{self, Attribute, ElementMode, Item};
use num_rational::BigRational;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// The equations of a law as expressions that equal 0, and the equations whose sides differ in a dimension that rests on a number.
type LawRows = (Vec<ExprId>, Vec<(usize, DimId, DimId)>);

impl<'a> LawReader<'_, 'a> {
    /// Classifies the law of an element, unless it is already classified.
    pub fn ensure_law(&mut self, id: ElementId) {
        let record = self.graph.records[id.index()];
        if record.progress != Progress::Waiting {
            return;
        }
        self.graph.records[id.index()].progress = Progress::Busy;
        let done = self.at(record.place, |this| this.find_law(id)).is_some();
        self.graph.records[id.index()].progress = if done { Progress::Done } else { Progress::Failed };
    }

    /// Returns the definition of an element.
    fn element_of(&self, id: ElementId) -> Option<&'a ast::Element> {
        let program = self.program;
        match program.item(self.graph.records[id.index()].definition) {
            Item::Element(element) => Some(element),
            _ => None,
        }
    }

    fn find_law(&mut self, id: ElementId) -> Option<()> {
        let record = self.graph.records[id.index()];
        let element = self.element_of(id)?;
        let path = self.graph.model.graph.elements[id.index()].path;
        let arguments = self.argument_values(record.instance, &element.formals, (path, record.place), &|_| false)?;
        let given = Arguments::Values(&element.formals, &arguments);
        if !self.is_within_ranges(record.instance, &element.name, given) {
            return None;
        }
        if !element.modes.is_empty() {
            return self.find_modes(id, element, &arguments);
        }
        let template = self.template(id, record.definition, (element, None), &arguments)?;
        for (at, left, right) in &template.mismatches {
            self.law_dimension(id, element, &element.equations[*at], (*left, *right), &arguments);
        }
        let mut states = Vec::new();
        let law = match &template.law {
            Some(Law::Nonlinear(law)) => self.fill_nonlinear(id, &template, law, &arguments, &mut states),
            _ => self.fill(&template, &arguments)?,
        };
        let law = self.oriented(id, law);
        self.check_arrow(id, matches!(law, Law::Source { .. }))?;
        self.check_law(id, &law)?;
        if let Law::Nonlinear(law) = &law
            && !template.has_energy
        {
            self.check_energy(id, element, law)?;
        }
        self.law_attributes(id, &law, &states);
        self.start_integrals(id, &states);
        self.graph.model.graph.elements[id.index()].law = law;
        Some(())
    }

    /// Reads the attributes of an instance: the initial values and magnitudes of its states.
    pub(super) fn law_attributes(&mut self, id: ElementId, law: &Law, states: &[LawState]) {
        let record = self.graph.records[id.index()];
        let ports = self.graph.model.graph.elements[id.index()].ports.len();
        let has_modes = !self.element_of(id).is_some_and(|element| element.modes.is_empty());
        let read = |attribute: &&'a Attribute| !(has_modes && &*attribute.name.text == "mode");
        let attributes = || record.instance.attributes.iter().filter(read);
        for attribute in attributes() {
            let is_storage = matches!(law, Law::Storage { .. }) || !states.is_empty();
            let name = &attribute.name.text;
            if !matches!(&**name, "start" | "nominal") {
                let diagnostic = Diagnostic::error(Code::LGM0136, format!("an element has no `{name}`"))
                    .label(attribute.name.span, "only `start` and `nominal` are allowed here")
                    .help(
                        "write `start = ..` for the initial value of the state, `nominal = ..` for its magnitude, \
                        or remove it",
                    );
                self.report(diagnostic);
            } else if !is_storage {
                let value = if &**name == "start" {
                    "start value"
                } else {
                    "nominal value"
                };
                let diagnostic = Diagnostic::error(Code::LGM0136, format!("only a storage element has a {value}"))
                    .label(attribute.name.span, format!("a {value} is given here"))
                    .label(record.instance.kind.span, "this stores no energy")
                    .help("remove it, or move it to the storage with the state");
                self.report(diagnostic);
            }
        }
        for attribute in attributes() {
            let dimensions = match (law, states) {
                (Law::Nonlinear(_), _) | (_, [_, ..]) => self.integral_dimensions(ports, states),
                _ => self.start_dimensions(id, law),
            };
            let Some(values) = self.start_of(attribute, ports, &dimensions, record.place) else {
                continue;
            };
            let element = &mut self.graph.model.graph.elements[id.index()];
            match &*attribute.name.text {
                "nominal" => element.nominal = values,
                _ => (element.start, element.start_span) = (values, Some(attribute.value.span)),
            }
        }
    }

    /// Returns the law of a definition, or of one of its modes, for arguments and ports of these shapes.
    pub(super) fn template(
        &mut self,
        id: ElementId,
        at: ItemRef,
        (element, mode): (&'a ast::Element, Option<(usize, &'a ElementMode)>),
        arguments: &[Value],
    ) -> Option<Rc<Template>> {
        let mut key = std::mem::take(&mut self.templates.key);
        key.clear();
        key.extend([at.file, at.item, mode.map_or(0, |mode| mode.0 as u32 + 1)]);
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
        let groups = self.graph.port_groups(id);
        for (_, range) in &groups {
            let domain = self.graph.model.graph.ports[range.start as usize].domain;
            key.extend([range.len() as u32, domain.map_or(u32::MAX, |domain| domain.0)]);
        }
        let found = self.templates.known.get(&key[..]).cloned();
        let template = match found {
            Some(template) => template,
            None => {
                let template = Rc::new(self.new_template(id, (element, mode.map(|mode| mode.1)), arguments, &groups));
                self.templates.known.insert(key.clone().into(), template.clone());
                template
            }
        };
        self.templates.key = key;
        Some(template)
    }

    fn new_template(
        &mut self,
        id: ElementId,
        (element, mode): (&'a ast::Element, Option<&'a ElementMode>),
        arguments: &[Value],
        groups: &[(Option<Text>, std::ops::Range<u32>)],
    ) -> Template {
        // Structural values are numbers in the law itself.
        let mut numbers: Vec<Option<Vec<BigRational>>> = Vec::new();
        for (value, formal) in arguments.iter().zip(&element.formals) {
            let exprs: Vec<ExprId> = value.entries().iter().map(|entry| entry.expr).collect();
            numbers.push(if formal.structural {
                self.exact(&exprs, formal.name.span)
            } else {
                None
            });
        }
        self.swap_arenas();
        let first = self.arena.exprs.symbol_count() as u32;
        let formals = self.formal_symbols(element, arguments, &numbers);
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
            tables: &element.tables,
            table: None,
        });
        let name = self.graph.records[id.index()].instance.declared.name.text.to_string();
        self.reports.law_use = Some((name, self.graph.model.graph.elements[id.index()].law_span));
        let rows = self.law_rows(id, element, arguments);
        let changes = mode.map_or(Some(Vec::new()), |mode| self.template_changes(mode));
        self.reports.law_use = None;
        self.law = None;
        let splits: Vec<usize> = groups[..groups.len() - 1]
            .iter()
            .map(|group| (group.1.end - groups[0].1.start) as usize)
            .collect();
        let ports = groups.last().map_or(0, |group| group.1.end) - groups[0].1.start;
        let mut integrals = Vec::new();
        let mut mismatches = Vec::new();
        let mut has_energy = true;
        let law = rows.filter(|_| changes.is_some()).and_then(|(equations, resting)| {
            mismatches = resting;
            let found = Rows::new(&mut self.arena.exprs, &equations, &variables, ports as usize)
                .and_then(|rows| classify(&mut self.arena.exprs, rows, &splits));
            let found = match found {
                // A nonlinear law, or a linear one without a class, is a law by residuals.
                Err(Fault::NotLinear | Fault::Form(_)) => {
                    nonlinear_law(&mut self.arena.exprs, &equations, &variables, ports as usize).map(|(law, found)| {
                        let states: Vec<_> = found.iter().map(|state| (state.symbol, state.rate)).collect();
                        has_energy = always_has_energy(&mut self.arena.exprs, &law, &states);
                        integrals = found;
                        Law::Nonlinear(law)
                    })
                }
                found => found,
            };
            match found {
                Ok(law) => Some(law),
                Err(fault) => {
                    self.unclassified(id, element, fault);
                    None
                }
            }
        });
        let mut changes = changes.unwrap_or_default();
        for change in &mut changes {
            let all = std::iter::once(&mut change.condition).chain(change.sets.iter_mut().map(|set| &mut set.1));
            for expr in all {
                *expr = hold_integrals(&mut self.arena.exprs, *expr, &variables, &mut integrals);
            }
        }
        self.swap_arenas();
        Template {
            variables: in_order(&variables, ports as usize),
            changes,
            law,
            integrals,
            mismatches,
            has_energy,
            first,
            count,
            time,
        }
    }

    /// Returns the symbols for formal parameters; numbers for structural ones.
    fn formal_symbols(
        &mut self,
        element: &'a ast::Element,
        arguments: &[Value],
        numbers: &[Option<Vec<BigRational>>],
    ) -> Vec<(&'a str, Value)> {
        let mut formals = Vec::new();
        for ((value, formal), numbers) in arguments.iter().zip(&element.formals).zip(numbers) {
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
        formals
    }

    /// Returns the law's equations as expressions that equal 0, entry by entry, with checked widths and dimensions.
    fn law_rows(&mut self, id: ElementId, element: &'a ast::Element, arguments: &[Value]) -> Option<LawRows> {
        let mut rows = Vec::new();
        let mut mismatches = Vec::new();
        let mut good = true;
        for (number, equation) in element.equations.iter().enumerate() {
            let (left, right) = (
                self.eval(&equation.left, Place::MODEL),
                self.eval(&equation.right, Place::MODEL),
            );
            if left.is_error() || right.is_error() {
                good = false;
                continue;
            }
            // A zero on the left would hide the width of the other side.
            let (left, right) = if self.is_zero_side(&left) {
                (right, left)
            } else {
                (left, right)
            };
            if left.shape() != right.shape() && !self.is_zero_side(&right) {
                self.law_width(id, element, equation, &left, &right);
                good = false;
                continue;
            }
            let (a, b) = (left.entries().to_vec(), right.entries().to_vec());
            for (at, entry) in a.iter().enumerate() {
                let other = b.get(at).copied().unwrap_or(b[0]);
                match entry.dim.agreement(other.dim) {
                    Agreement::Yes => {}
                    Agreement::RestsOnNumber => mismatches.push((number, entry.dim, other.dim)),
                    Agreement::No => {
                        self.law_dimension(id, element, equation, (entry.dim, other.dim), arguments);
                        good = false;
                        break;
                    }
                }
                rows.push(self.arena.exprs.sub(entry.expr, other.expr));
            }
        }
        mismatches.dedup_by_key(|mismatch| mismatch.0);
        good.then_some((rows, mismatches))
    }

    /// Returns true for a single `0`, which represents a zero of any width.
    fn is_zero_side(&self, value: &Value) -> bool {
        matches!(value, Value::Scalar(scalar) if self.arena.exprs.is_zero(scalar.expr))
    }

    /// Returns a law with the formal parameters replaced by the values of an instance.
    pub(super) fn fill(&mut self, template: &Template, arguments: &[Value]) -> Option<Law> {
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
                .map(|entry| self.fill_entry(template, &values, &FxHashMap::default(), *entry))
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
                    .map(|entry| self.fill_entry(template, &values, &FxHashMap::default(), *entry))
                    .collect(),
            },
            Law::Coupler { input, output, matrix } => Law::Coupler {
                input: *input,
                output: *output,
                matrix: fill(matrix),
            },
            Law::Nonlinear(_) => unreachable!("invariant: nonlinear laws are filled by fill_nonlinear"),
        })
    }

    /// Returns an entry of a template with values for its formal parameters, and for other symbols of its own.
    pub fn fill_entry(
        &mut self,
        template: &Template,
        values: &[ExprId],
        others: &FxHashMap<SymbolId, ExprId>,
        entry: ExprId,
    ) -> ExprId {
        let (templates, cx) = self.templates_and_context();
        let time = cx.graph.model.time;
        templates.fill_entry((&mut cx.arena.exprs, time), template, values, others, entry)
    }

    /// Returns the oriented law: a bond source sets its variable along the drawn bond, but ports absorb.
    fn oriented(&mut self, id: ElementId, law: Law) -> Law {
        let Law::Source { given, values } = law else {
            return law;
        };
        let ports = self.graph.model.graph.elements[id.index()].ports.clone();
        let values = values
            .into_iter()
            .zip(ports)
            .map(
                |(value, port)| match self.graph.model.graph.ports[port as usize].connection {
                    Connection::Bond(bond) if given == Variable::Flow => {
                        let leaves =
                            self.graph.model.graph.bonds[bond.index()].tail == BondEnd::Port(lgm_model::PortId(port));
                        if leaves { self.arena.exprs.neg(value) } else { value }
                    }
                    _ => value,
                },
            )
            .collect();
        Law::Source { given, values }
    }
}
