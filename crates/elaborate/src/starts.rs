//! What a model says of its start: the starts of storage, states and signals, and the equations of position of closed chains.

use super::origins::Side;
use super::plain_numbers::Claim;
use super::quantities::entry_names;
use super::state::{Elaborator, Place};
use super::values::{Agreement, DimId, Value};
use lgm_algebra::expr::{ExprId, Function, Node, SymbolKind};
use lgm_model::{ElementId, Law, StartCondition, StateChoice, Variable};
use lgm_source::Span;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_syntax::ast::{Attribute, Indexed};

impl<'a> Elaborator<'a> {
    /// The values of `start = ..` (or `guess`, or `nominal`) of a storage or a state, one an entry, in the dimensions given (the last one
    /// holds for all that follow).
    pub fn start_of(
        &mut self,
        attribute: &'a Attribute,
        width: usize,
        dimensions: &[DimId],
        place: Place,
    ) -> Option<Vec<Option<ExprId>>> {
        let value = self.eval(&attribute.value, place);
        let word = match &*attribute.name.text {
            "nominal" => "nominal value",
            _ => "start",
        };
        let entries = value.entries().to_vec();
        if value.is_error() {
            return None;
        }
        let exprs: Vec<ExprId> = entries.iter().map(|entry| entry.expr).collect();
        if exprs.iter().any(|expr| self.varies(*expr)) {
            let diagnostic = Diagnostic::error(
                Code::LGM0409,
                format!(
                    "a {} may depend on parameters only",
                    if word == "start" { "start value" } else { word }
                ),
            )
            .label(attribute.value.span, "this changes with time")
            .help("write a number or an expression of parameters");
            self.report(diagnostic);
            return None;
        }
        for (at, entry) in entries.iter().enumerate() {
            let wanted = dimensions.get(at).or(dimensions.last()).copied();
            let wanted = wanted.unwrap_or(DimId::UNKNOWN);
            if wanted.agreement(entry.dim) != Agreement::Yes {
                let claim = Claim::of(Side::of(&attribute.value, entry.dim), wanted);
                let (given, wanted) = (self.dims.text(entry.dim), self.dims.text(wanted));
                let diagnostic = Diagnostic::error(
                    Code::LGM0201,
                    match word {
                        "start" => format!("the start is given in {given}, but what starts is in {wanted}"),
                        _ => format!("the {word} is given in {given}, but the state is in {wanted}"),
                    },
                )
                .label(attribute.value.span, format!("this is in {given}"))
                .help(format!("give the {word} in {wanted}"));
                let diagnostic = self.explain_dimension(diagnostic, Some(&attribute.value));
                if !self.disagree(diagnostic, &[claim]) {
                    return None;
                }
            }
        }
        match (entries.len(), &value) {
            (count, _) if count == width => Some(exprs.into_iter().map(Some).collect()),
            (_, Value::Scalar(scalar)) => Some(vec![Some(scalar.expr); width]),
            _ => {
                let diagnostic = Diagnostic::error(
                    Code::LGM0202,
                    match word {
                        "start" => format!("{} starts a state of width {width}", value.shape_text()),
                        _ => format!("{} is the {word} of a state of width {width}", value.shape_text()),
                    },
                )
                .label(attribute.value.span, format!("this is {}", value.shape_text()))
                .help(format!(
                    "write a scalar for all entries, or a vector with {width} of them"
                ));
                self.report(diagnostic);
                None
            }
        }
    }

    /// The dimensions of the states that a linear storage is given starts of, one a port.
    pub fn start_dimensions(&mut self, id: ElementId, law: &Law) -> Vec<DimId> {
        let Law::Storage { co_energy, .. } = law else {
            return Vec::new();
        };
        let element = &self.model.elements[id.index()];
        if element.state_choice != StateChoice::CoEnergy {
            return Vec::new();
        }
        let dimension = |port: u32| {
            let domain = &self.model.domains[self.model.ports[port as usize].domain?.index()];
            let is_across = domain.effort_is_across == (*co_energy == Variable::Effort);
            if is_across {
                domain.across_dimension
            } else {
                domain.through_dimension
            }
        };
        let found: Vec<_> = element.ports.clone().map(dimension).collect();
        found.into_iter().map(|each| self.dims.optional(each)).collect()
    }

    /// Takes the start that a signal is given.
    pub fn signal_start(&mut self, signal: &'a Indexed, name: &str, value: &Value, place: Place) {
        let mut given = None;
        for attribute in &signal.attributes {
            if &*attribute.name.text == "start" {
                given = Some(attribute);
                continue;
            }
            let word = &attribute.name.text;
            let diagnostic = Diagnostic::error(Code::LGM0136, format!("a signal takes no `{word}`"))
                .label(attribute.name.span, "only `start` can stand here")
                .help("write `start = ..` for what the signal is at the start, which the starts of states then follow from");
            self.report(diagnostic);
        }
        let Some(attribute) = given else { return };
        if value.is_error() {
            return;
        }
        let dimensions: Vec<DimId> = value.entries().iter().map(|entry| entry.dim).collect();
        let Some(starts) = self.start_of(attribute, dimensions.len(), &dimensions, place) else {
            return;
        };
        let roots: Vec<ExprId> = value.entries().iter().map(|entry| entry.expr).collect();
        let reachable = self.arena.exprs.reachable(&roots);
        let holds_integral = reachable
            .iter()
            .any(|id| matches!(self.arena.exprs.node(*id), Node::Call(Function::Int, _)));
        if holds_integral {
            let diagnostic = Diagnostic::error(Code::LGM0409, "an integral has no start of its own here")
                .label(attribute.value.span, "this start is for a signal that holds `int(..)`")
                .label(signal.value.span, "the integral is in this")
                .help(
                    "declare the integral as a state, `state q = int(..), start = ..;`, and write the signal with `q`",
                );
            self.report(diagnostic);
            return;
        }
        let names = entry_names(name, value);
        for ((entry, start), name) in value.entries().to_vec().into_iter().zip(starts).zip(names) {
            let Some(start) = start else { continue };
            self.model.start_conditions.push(StartCondition {
                name: name.into(),
                value: entry.expr,
                start,
                span: attribute.value.span,
            });
        }
    }

    /// The equations of position of a state that closes a chain, one an entry, and where they stand. Other attributes than
    /// this one, `start`, `guess` and `nominal` are faults.
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
                    let diagnostic = Diagnostic::error(Code::LGM0136, format!("a state takes no `{name}`"))
                        .label(attribute.name.span, "only `start`, `guess`, `nominal` and `close` can stand here")
                        .help("write `start = ..` for its value at the beginning, `guess = ..` where that follows from other starts, `nominal = ..` for its size, or `close = ..` for the \
                             equation of position of a closed chain");
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
            .help("write one equation of position for each displacement that follows");
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
                "an equation of position holds displacements, parameters and time",
            )
            .label(span, "this holds something else")
            .help("write it over states: `state theta = int(across(crank));`, `close = r*sin(theta) + l*sin(phi)`");
            self.report(diagnostic);
            return None;
        }
        Some((exprs, span))
    }
}

/// Whether a call stands for a variable of the graph.
pub(super) fn is_measure(function: lgm_algebra::expr::Function) -> bool {
    use lgm_algebra::expr::Function;
    matches!(function, Function::Int | Function::Der)
}
