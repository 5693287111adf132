//! Declared states: their rates, initial values and closures, evaluated after the graph is complete.

use crate::context::values::DimId;
use crate::context::{Place, is_measure};
use crate::outputs::Results;
use lgm_algebra::expr::{ExprId, Node, SymbolKind};
use lgm_model::SiUnit;
use lgm_model::{Integral, PathId};
use lgm_source::Span;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_syntax::ast::{self, Attribute, Expr, ExprKind};

impl<'a> Results<'_, 'a> {
    /// Evaluates the rates and initial values of integrals, in declaration order.
    pub(crate) fn evaluate_states(&mut self) {
        for at in 0..self.expanded.states.len() {
            let later = self.expanded.states[at];
            let (indexed, place) = (later.statement, later.place);
            self.reports.here = place;
            let Ok(indices) = self.declared_indices(&indexed.declared, place) else {
                continue;
            };
            let name = &indexed.declared.name;
            let Some(slot) = self.scopes.value_slot(&name.text, place.frame) else {
                continue;
            };
            let symbols = self.slot_value(slot, indices, &name.text, name.span, place.frame);
            let ExprKind::Call(function, arguments) = &indexed.value.kind else {
                self.state_without_integral(indexed);
                continue;
            };
            if &*function.text != "int" {
                self.state_without_integral(indexed);
                continue;
            }
            let [argument] = &arguments[..] else {
                self.wrong_count(function, "one argument", arguments.len(), indexed.value.span);
                continue;
            };
            let rate = self.eval(&argument.value, place);
            if rate.is_error() || symbols.is_error() {
                continue;
            }
            if rate.shape() != symbols.shape() {
                self.width_mismatch(&rate, argument.value.span, &symbols, indexed.declared.span);
                continue;
            }
            let dims: Vec<DimId> = rate.entries().iter().map(|entry| entry.dim).collect();
            let dims: Vec<DimId> = dims.into_iter().map(|dim| self.dims.times_seconds(dim, 1)).collect();
            let named = |word: &str| indexed.attributes.iter().find(|found| &*found.name.text == word);
            let given = named("start").or(named("guess"));
            let start = given.and_then(|given| self.start_of(given, dims.len(), &dims, place));
            let sized = named("nominal");
            let nominal = sized.and_then(|sized| self.start_of(sized, dims.len(), &dims, place));
            let closure = self.closure_of(&indexed.attributes, rate.shape().0, place);
            let written = self.written(indexed.value.span);
            let list = indices.map_or(Vec::new(), |(i, j)| if j == 0 { vec![i] } else { vec![i, j] });
            let parent: Option<PathId> = self.scopes.frames[place.frame.0 as usize].path;
            let is_guess = given.is_some_and(|given| &*given.name.text == "guess");
            for (k, (entry, symbol)) in rate
                .entries()
                .to_vec()
                .into_iter()
                .zip(symbols.entries().to_vec())
                .enumerate()
            {
                let mut indices = list.clone();
                if rate.entries().len() > 1 {
                    indices.push(k as i64 + 1);
                }
                let path = self.graph.path(parent, name, &indices);
                let lgm_algebra::expr::Node::Symbol(symbol) = *self.arena.exprs.node(symbol.expr) else {
                    continue;
                };
                let dim = dims[k];
                let of_entry =
                    |list: &Option<Vec<Option<ExprId>>>| list.as_ref().and_then(|list| list.get(k).copied().flatten());
                let (start, nominal) = (of_entry(&start), of_entry(&nominal));
                let unit = self.dims.get(dim).map(SiUnit::of);
                self.graph.model.integrals.push(Integral {
                    path,
                    symbol,
                    owner: None,
                    rate: entry.expr,
                    start,
                    start_span: given.map(|given| given.value.span),
                    is_guess,
                    nominal,
                    closure: closure.as_ref().map(|(list, span)| (list[k], *span)),
                    unit,
                    written: written.clone(),
                });
            }
        }
    }

    fn state_without_integral(&mut self, indexed: &ast::Indexed) {
        let name = &indexed.declared.name.text;
        let (label, help) = match integral_inside(&indexed.value) {
            Some(integral) => {
                let integral = self.sources.slice(integral);
                (
                    "`int(..)` must be the whole expression here",
                    format!(
                        "write `state {name} = {integral};`, with `, start = ..` for its initial value, and a \
                         `signal` for values computed from it"
                    ),
                )
            }
            None => (
                "this is not `int(..)`",
                format!("write `state {name} = int(..);`, or `signal {name} = ..;` for a value without memory"),
            ),
        };
        let diagnostic = Diagnostic::error(Code::LGM0408, format!("the state `{name}` must be an integral"))
            .label(indexed.value.span, label)
            .help(help);
        self.report(diagnostic);
    }

    /// Returns the position equations of a state that closes a chain, one per entry, and their locations. Attributes other than `closure`,
    /// `start`, `guess` and `nominal` are errors.
    pub fn closure_of(
        &mut self,
        attributes: &'a [Attribute],
        width: usize,
        place: Place,
    ) -> Option<(Vec<ExprId>, Span)> {
        let mut found = None;
        for attribute in attributes {
            match &*attribute.name.text {
                "start" | "guess" | "nominal" => {}
                "close" => found = Some(attribute),
                name => {
                    let diagnostic = Diagnostic::error(Code::LGM0136, format!("a state has no `{name}`"))
                        .label(
                            attribute.name.span,
                            "only `start`, `guess`, `nominal` and `close` are allowed here",
                        )
                        .help(
                            "write `start = ..` for its initial value, `guess = ..` if the initial value follows \
                            from others, `nominal = ..` for its magnitude, or `close = ..` for the position equation \
                            of a closed chain",
                        );
                    self.report(diagnostic);
                }
            }
        }
        let attribute = found?;
        let value = self.eval(&attribute.value, place);
        if value.is_error() {
            return None;
        }
        let span = attribute.value.span;
        let exprs: Vec<ExprId> = value.entries().iter().map(|entry| entry.expr).collect();
        if exprs.len() != width {
            let diagnostic = Diagnostic::error(
                Code::LGM0202,
                format!("{} closes a chain with {width} displacements", value.shape_text()),
            )
            .label(span, format!("this is {}", value.shape_text()))
            .help("write one position equation for each dependent displacement");
            self.report(diagnostic);
            return None;
        }
        let exprs_of = &self.arena.exprs;
        let is_position = |id: ExprId| match exprs_of.node(id) {
            Node::Symbol(symbol) => matches!(
                exprs_of.symbol_info(*symbol).kind,
                SymbolKind::Parameter | SymbolKind::State | SymbolKind::Time
            ),
            Node::Call(function, _) => !is_measure(*function),
            _ => true,
        };
        if !exprs_of.reachable(&exprs).into_iter().all(is_position) {
            let diagnostic = Diagnostic::error(
                Code::LGM0430,
                "a position equation may contain only displacements, parameters and time",
            )
            .label(span, "this contains other variables")
            .help(
                "write it in terms of states: `state theta = int(across(crank));`, `close = r*sin(theta) + \
                l*sin(phi)`",
            );
            self.report(diagnostic);
            return None;
        }
        Some((exprs, span))
    }
}

/// Returns the first `int(..)` in a sum, a product or a negation.
fn integral_inside(expr: &Expr) -> Option<Span> {
    match &expr.kind {
        ExprKind::Call(name, _) if &*name.text == "int" => Some(expr.span),
        ExprKind::Sum(list) | ExprKind::Product(list) => list.iter().find_map(|term| integral_inside(&term.1)),
        ExprKind::Negate(inner) | ExprKind::InUnit(inner, _) => integral_inside(inner),
        _ => None,
    }
}
