//! Elements with modes: a law for each mode, and the changes between them.

use crate::context::values::Value;
use crate::context::{AtPlace, Place};
use crate::law_forms::templates::{Template, TemplateChange};
use crate::laws::LawReader;
use crate::laws::nonlinear::LawState;
use crate::syntax_queries::argument_for;
use lgm_algebra::expr::{ExprId, Node, SymbolId};
use lgm_model::switching::{Change, Mode, PortSetting, SwitchedElement};
use lgm_model::{ElementId, Law, PortId, Variable};
use lgm_source::Span;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_source::nearest::{corrections, did_you_mean};
use lgm_syntax::ast::{self, ElementMode, Expr, ExprKind};
use rustc_hash::FxHashMap;

impl<'a> LawReader<'_, 'a> {
    /// Reads the laws of all modes of an element. The law of the model's element is that of the mode in which the search at the start
    /// begins.
    pub(super) fn find_modes(&mut self, id: ElementId, element: &'a ast::Element, arguments: &[Value]) -> Option<()> {
        let record = self.graph.records[id.index()];
        let first = self.first_mode(id, element);
        let mut states = Vec::new();
        let mut modes = Vec::with_capacity(element.modes.len());
        for (at, mode) in element.modes.iter().enumerate() {
            let template = self.template(id, record.definition, (&mode.law, Some((at, mode))), arguments)?;
            for (row, left, right) in &template.mismatches {
                let equation = &mode.law.equations[*row];
                self.law_dimension(id, &mode.law, equation, (*left, *right), arguments);
            }
            let law = match &template.law {
                Some(Law::Nonlinear(law)) => self.fill_nonlinear(id, &template, law, arguments, &mut states),
                _ => self.fill(&template, arguments)?,
            };
            // In all of its modes the element absorbs power, like other elements.
            self.check_arrow(id, false)?;
            self.check_law(id, &law)?;
            let changes = self.changes(id, (element, mode), &template, arguments, &mut states);
            let name = mode.name.text.clone();
            modes.push(Mode { name, law, changes });
        }
        let law = modes[first].law.clone();
        self.law_attributes(id, &law, &states);
        self.start_integrals(id, &states);
        self.graph.model.graph.elements[id.index()].law = law;
        self.graph.model.switching.elements.push(SwitchedElement {
            element: id,
            modes,
            first,
        });
        Some(())
    }

    /// Returns the mode in `mode = ..` of an instance; by default the first mode.
    fn first_mode(&mut self, id: ElementId, element: &'a ast::Element) -> usize {
        let record = self.graph.records[id.index()];
        let mut attributes = record.instance.attributes.iter();
        let Some(attribute) = attributes.rfind(|attribute| &*attribute.name.text == "mode") else {
            return 0;
        };
        let names = || element.modes.iter().map(|mode| &*mode.name.text);
        let written = match &attribute.value.kind {
            ExprKind::Name(name) => &*name.text,
            _ => "",
        };
        if let Some(found) = names().position(|name| name == written) {
            return found;
        }
        let span = attribute.value.span;
        let message = format!("`{}` has no mode `{}`", element.name.text, self.sources.slice(span));
        let mut diagnostic = Diagnostic::error(Code::LGM0160, message)
            .label(span, "not declared")
            .label(element.name.span, "declared here");
        diagnostic.fixes = corrections(span, written, names());
        diagnostic.help = did_you_mean(written, names())
            .or_else(|| Some(format!("its modes are `{}`", names().collect::<Vec<_>>().join("`, `"))));
        self.report(diagnostic);
        0
    }

    /// Returns the changes of a mode in terms of the port variables, evaluated in the scope of a template; none if a change has an error.
    pub(super) fn template_changes(&mut self, mode: &'a ElementMode) -> Option<Vec<TemplateChange>> {
        let mut changes = Some(Vec::new());
        for change in &mode.changes {
            let condition = self.eval_scalar(&change.condition, Place::MODEL);
            let mut sets = Some(Vec::new());
            for set in &change.sets {
                let target = self.set_variable(&set.target);
                self.at_event = true;
                let value = self.eval_scalar(&set.value, Place::MODEL);
                self.at_event = false;
                match (target, value, &mut sets) {
                    (Some(target), Some(value), Some(list)) => list.push((target, value.expr)),
                    _ => sets = None,
                }
            }
            match (condition, sets, &mut changes) {
                (Some(condition), Some(sets), Some(list)) => list.push(TemplateChange {
                    condition: condition.expr,
                    sets,
                }),
                _ => changes = None,
            }
        }
        changes
    }

    /// Returns the variable of a port that a change sets.
    fn set_variable(&mut self, target: &'a Expr) -> Option<SymbolId> {
        let is_name = matches!(&target.kind, ExprKind::Name(_) | ExprKind::Member(..));
        let scalar = match is_name {
            true => self.eval_scalar(target, Place::MODEL)?,
            false => return self.no_variable(target),
        };
        let Node::Symbol(symbol) = *self.arena.exprs.node(scalar.expr) else {
            return self.no_variable(target);
        };
        match self.arena.exprs.symbol_info(symbol).kind {
            lgm_algebra::expr::SymbolKind::Measure => Some(symbol),
            _ => self.no_variable(target),
        }
    }

    fn no_variable(&mut self, target: &'a Expr) -> Option<SymbolId> {
        let diagnostic = Diagnostic::error(Code::LGM0162, "a mode change can only set port variables")
            .label(target.span, "this is not a variable of a port")
            .help("write `across = ..` or `through = ..`, or name the port: `a.across = ..`");
        self.report(diagnostic);
        None
    }

    /// Returns the changes of a mode with the values of an instance.
    fn changes(
        &mut self,
        id: ElementId,
        (element, mode): (&'a ast::Element, &'a ElementMode),
        template: &Template,
        arguments: &[Value],
        states: &mut Vec<LawState>,
    ) -> Vec<Change> {
        let entries = arguments.iter().flat_map(|value| value.entries().iter());
        let values: Vec<ExprId> = entries.map(|entry| entry.expr).collect();
        let mut own: FxHashMap<SymbolId, ExprId> = FxHashMap::default();
        self.own_variables(id, &template.variables, &mut own);
        self.own_integrals(id, template, &values, &mut own, states);
        let start = self.graph.model.graph.elements[id.index()].ports.start;
        let mut changes = Vec::with_capacity(template.changes.len());
        let mut is_sound = true;
        for (change, written) in template.changes.iter().zip(&mode.changes) {
            let mut sets = Vec::with_capacity(change.sets.len());
            for (symbol, value) in &change.sets {
                let find = |at: &usize| [template.variables[*at].0, template.variables[*at].1].contains(symbol);
                let Some(at) = (0..template.variables.len()).find(find) else {
                    continue;
                };
                let variable = match template.variables[at].0 == *symbol {
                    true => Variable::Effort,
                    false => Variable::Flow,
                };
                let value = self.fill_entry(template, &values, &own, *value);
                sets.push(PortSetting {
                    port: PortId(start + at as u32),
                    variable,
                    value,
                });
            }
            let condition = self.fill_entry(template, &values, &own, change.condition);
            let record = self.graph.records[id.index()];
            // An argument is shown where it is passed, and once.
            let given = self.number_as_condition(&written.condition, element, arguments, record.instance);
            let span = given.unwrap_or(written.condition.span);
            is_sound = is_sound && self.at(record.place, |this| this.check_condition(condition, span));
            let to = element.modes.iter().position(|mode| mode.name.text == written.to.text);
            changes.push(Change {
                is_free: false,
                asks_ports: false,
                condition,
                // `names` has reported a mode that does not exist.
                to: to.unwrap_or(0),
                sets,
                span: written.span,
            });
        }
        changes
    }

    /// Returns the location of an argument that a condition takes for a condition although it is a number: `gate` in `gate and across > 0`.
    fn number_as_condition(
        &self,
        condition: &'a Expr,
        element: &'a ast::Element,
        arguments: &[Value],
        instance: &'a ast::Instance,
    ) -> Option<Span> {
        let mut open = vec![condition];
        while let Some(expr) = open.pop() {
            match &expr.kind {
                ExprKind::Not(inner) => open.push(inner),
                ExprKind::And(list) | ExprKind::Or(list) => open.extend(list),
                ExprKind::Name(name) => {
                    let mut formals = element.formals.iter().zip(arguments).enumerate();
                    let found = formals.find(|(_, (formal, _))| formal.name.text == name.text);
                    if let Some((at, (formal, value))) = found
                        && let [scalar] = value.entries()
                        && !self.is_condition(scalar.expr)
                    {
                        return argument_for(instance, formal, at).map(|argument| argument.span);
                    }
                }
                _ => {}
            }
        }
        None
    }
}
