//! The shared data of all phases of elaboration: the program, the names, the expressions, the flat graph and the
//! reports.
//!
//! [`Context`] is the lowest layer. It looks up names, reads units and reports errors, but does not evaluate. The evaluator and the phases
//! are layers above it (see [`layer!`]): a layer has the methods of all layers below, which do not depend on it.

mod layer;
mod reporting;

pub(crate) mod constants;
pub(crate) mod graph;
pub(crate) mod modal;
pub(crate) mod reports;
pub(crate) mod scopes;
pub(crate) mod values;
pub(crate) mod words;

pub(crate) use graph::*;
pub(crate) use layer::*;
pub(crate) use scopes::*;

use crate::program::Program;
use crate::units::unit_meaning;
use lgm_algebra::expr::{ExprId, Function, Node, SymbolKind};
use lgm_algebra::units::Unit;
use lgm_model::SiUnit;
use lgm_model::{Domain, DomainId, Measure, Model};
use lgm_source::cancellation::Cancellation;
use lgm_source::diagnostic::Diagnostic;
use lgm_source::{SourceMap, Span};
use lgm_syntax::ast::{self, Item, Name};
use reports::Reports;
use rustc_hash::FxHashMap;
use std::rc::Rc;
use std::sync::Arc;
use values::{Arena, DimId, Dimensions};

/// The work in progress.
pub(crate) struct Context<'a> {
    pub program: &'a Program,
    pub sources: &'a SourceMap,
    pub chosen: &'a ast::Model,
    pub reports: Reports,
    pub arena: Arena<'a>,
    pub dims: Dimensions,
    /// Units by their locations.
    units: FxHashMap<Span, Option<Rc<Unit>>>,
    /// Valid units by their text; large models have few.
    units_by_words: FxHashMap<&'a str, Rc<Unit>>,
    /// For each expression, in order of ids, true if it depends on anything except parameters.
    varying: Vec<bool>,
    pub scopes: Scopes<'a>,
    pub graph: Graph<'a>,
}

impl<'a> Context<'a> {
    /// Returns a context with only the chosen model's name and the errors of the definitions.
    pub fn new(
        program: &'a Program,
        sources: &'a SourceMap,
        chosen: &'a ast::Model,
        diagnostics: Vec<Diagnostic>,
        cancellation: Cancellation,
    ) -> Context<'a> {
        let mut arena = Arena::default();
        let time = arena.exprs.new_symbol("time", SymbolKind::Time);
        Context {
            program,
            sources,
            chosen,
            reports: Reports::new(diagnostics, cancellation),
            arena,
            dims: Dimensions::new(),
            units: FxHashMap::default(),
            units_by_words: FxHashMap::default(),
            varying: Vec::new(),
            scopes: Scopes::new(),
            graph: Graph::new(chosen, time),
        }
    }

    /// Returns the meaning of a unit, determined once for each location; its errors are reported.
    pub(crate) fn unit(&mut self, written: &ast::UnitExpr) -> Option<Rc<Unit>> {
        if let Some(known) = self.units.get(&written.span) {
            return known.clone();
        }
        let words = self.sources.slice(written.span);
        if let Some(known) = self.units_by_words.get(words) {
            let known = Some(known.clone());
            self.units.insert(written.span, known.clone());
            return known;
        }
        let unit = match unit_meaning(written) {
            Ok(unit) => {
                let unit = Rc::new(unit);
                // An expression assembled elsewhere has no source text.
                if words.starts_with('[') && words.ends_with(']') {
                    self.units_by_words.insert(words, unit.clone());
                }
                Some(unit)
            }
            // A name with letters that no unit contains is already reported.
            Err(_) if written.factors.iter().any(|factor| !factor.name.text.is_ascii()) => None,
            Err(diagnostic) => {
                self.report(diagnostic);
                None
            }
        };
        self.units.insert(written.span, unit.clone());
        unit
    }

    /// Returns the symbol of a variable of the graph.
    pub(crate) fn measure(&mut self, measure: Measure, name: impl FnOnce(&Model) -> String) -> ExprId {
        let symbol = match self.graph.measures.get(&measure) {
            Some(symbol) => *symbol,
            None => {
                let name = name(&self.graph.model);
                let symbol = self.arena.exprs.new_symbol(name, SymbolKind::Measure);
                self.graph.measures.insert(measure, symbol);
                self.graph.model.measures.push((symbol, measure));
                symbol
            }
        };
        self.arena.exprs.symbol(symbol)
    }

    /// Returns the domain that a name refers to, and adds it to the model at its first use.
    pub(crate) fn domain(&mut self, name: &'a Name) -> Option<DomainId> {
        let Some(at) = self.program.domain(&name.text, name.span.source) else {
            // `names` has reported it.
            return None;
        };
        if let Some(id) = self.graph.domain_ids.get(&at) {
            return Some(*id);
        }
        let Item::Domain(declared) = self.program.item(at) else {
            return None;
        };
        let (Some(across), Some(through), Some(effort)) = (&declared.across, &declared.through, &declared.effort)
        else {
            // `names` has reported missing ones.
            return None;
        };
        let effort_is_across = *effort.text == *across.name.text || &*effort.text == "across";
        let across_unit = across.unit.as_ref().and_then(|unit| self.unit(unit));
        let through_unit = through.unit.as_ref().and_then(|unit| self.unit(unit));
        // The notation of the declaration is kept if it is SI: `rad/s` is clearer than `1/s`.
        let shown = |written: &Option<ast::UnitExpr>, unit: Option<Rc<Unit>>| {
            let unit = unit?;
            if !unit.is_si() {
                return Some(SiUnit::of(unit.dimension));
            }
            let words = self.sources.slice(written.as_ref()?.span).trim();
            let words = words.trim_start_matches('[').trim_end_matches(']').trim();
            Some(SiUnit::new(words, unit.dimension))
        };
        let across_unit = shown(&across.unit, across_unit);
        let through_unit = shown(&through.unit, through_unit);
        if let Some(unit) = &through_unit {
            self.dims.words.insert(unit.dimension, unit.clone());
        }
        let id = DomainId(self.graph.model.graph.domains.len() as u32);
        self.graph.model.graph.domains.push(Domain {
            name: declared.name.text.clone(),
            across: across.name.text.clone(),
            across_unit,
            through: through.name.text.clone(),
            through_unit,
            effort_is_across,
            pseudo: declared.pseudo.is_some(),
        });
        self.graph.domain_ids.insert(at, id);
        Some(id)
    }

    /// Returns the expression of the time.
    pub(crate) fn time(&mut self) -> ExprId {
        self.arena.exprs.symbol(self.graph.model.time)
    }

    /// Returns the source text at a location, in one line.
    pub(crate) fn written(&self, span: Span) -> Arc<str> {
        let text = &self.sources.get(span.source).text;
        let written = text.get(span.start as usize..span.end as usize).unwrap_or("");
        written.split_whitespace().collect::<Vec<_>>().join(" ").into()
    }

    /// Returns true if an expression depends on anything except parameters.
    pub(crate) fn varies(&mut self, expr: ExprId) -> bool {
        // Children come before their parents, so one pass over the new expressions is enough.
        for at in self.varying.len()..self.arena.exprs.len() {
            let node = self.arena.exprs.node(ExprId(at as u32));
            let varies = match node {
                Node::Symbol(symbol) => self.arena.exprs.symbol_info(*symbol).kind != SymbolKind::Parameter,
                Node::Call(function, _) if is_measure(*function) => true,
                node => node.children().any(|child| self.varying[child.0 as usize]),
            };
            self.varying.push(varies);
        }
        self.varying[expr.0 as usize]
    }

    /// Returns the dimension of a domain's across (or through) variable.
    pub(crate) fn domain_dimension(&mut self, domain: DomainId, across: bool) -> DimId {
        let dimension = self.graph.model.graph.domains[domain.index()].dimension(across);
        self.dims.optional(dimension)
    }
}

/// Returns true if a call refers to a variable of the graph.
pub(crate) fn is_measure(function: Function) -> bool {
    matches!(function, Function::Int | Function::Der)
}
