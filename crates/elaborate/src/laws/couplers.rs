//! The coupler that matches two ports instead of the written one: an electric motor is a transformer in a linear graph and a gyrator in a
//! bond graph.

use crate::context::Place;
use crate::context::values::{DimId, Scalar, Value};
use crate::context::words::short;
use crate::evaluate::dimensions::plain_numbers::all_agree;
use crate::evaluate::law_scope::LawScope;
use crate::laws::LawReader;
use crate::syntax_queries::argument_for;
use lgm_algebra::expr::SymbolKind;
use lgm_model::ElementId;
use lgm_source::diagnostic::Fix;
use lgm_syntax::ast::{self, Expr, ExprKind, Item};
use rustc_hash::FxHashMap;

/// A matching coupler.
pub struct Fitting {
    /// The displayed text `` `Transformer(1/K)` ``, shortened if long.
    pub shown: String,
    /// The change that inserts it.
    pub fix: Fix,
}

/// The library couplers that adopt the domains of their nodes.
const COUPLERS: [&str; 2] = ["Transformer", "Gyrator"];

impl<'a> LawReader<'_, 'a> {
    /// Returns the couplers that match the dimension of the written modulus, or its reciprocal.
    pub fn fitting_couplers(&mut self, id: ElementId, element: &'a ast::Element, arguments: &[Value]) -> Vec<Fitting> {
        let source = element.name.span.source;
        if !COUPLERS.contains(&&*element.name.text) || !self.program.is_library(source) {
            return Vec::new();
        }
        let (Some(Value::Scalar(modulus)), Some(formal)) = (arguments.first(), element.formals.first()) else {
            return Vec::new();
        };
        let dim = modulus.dim.firm();
        let instance = self.graph.records[id.index()].instance;
        let Some(written) = argument_for(instance, formal, 0) else {
            return Vec::new();
        };
        let inverse = self.dims.over(DimId::NONE, dim);
        let ways = [
            (dim, self.sources.slice(written.span).to_string()),
            (inverse, self.reciprocal(written)),
        ];
        let mut fitting = Vec::new();
        for (at, (dim, words)) in ways.iter().enumerate() {
            for kind in COUPLERS {
                let program = self.program;
                let definition = program.definition(kind, source).map(|at| program.item(at));
                let Some(Item::Element(candidate)) = definition else {
                    continue;
                };
                if self.coupler_fits(id, candidate, *dim) {
                    let shown = format!("`{kind}({})`", short(words));
                    let mut edits = vec![(instance.kind.span, kind.to_string())];
                    if at > 0 {
                        edits.push((written.span, words.clone()));
                    }
                    let fix = Fix {
                        title: format!("write {shown}"),
                        edits,
                    };
                    fitting.push(Fitting { shown, fix });
                }
            }
        }
        fitting
    }

    /// Returns the text of the reciprocal of an expression.
    fn reciprocal(&self, expr: &Expr) -> String {
        let words = |expr: &Expr| self.sources.slice(expr.span).to_string();
        match &expr.kind {
            ExprKind::Product(factors) => match &factors[..] {
                [(false, one), (true, other)] if words(one) == "1" => words(other),
                _ => format!("1/({})", words(expr)),
            },
            ExprKind::Sum(_) | ExprKind::Negate(_) | ExprKind::If(..) => format!("1/({})", words(expr)),
            _ => format!("1/{}", words(expr)),
        }
    }

    /// Returns true if the law of a coupler with a modulus of this dimension is dimensionally consistent at the ports of an element.
    fn coupler_fits(&mut self, id: ElementId, candidate: &'a ast::Element, dim: DimId) -> bool {
        let groups = self.graph.port_groups(id);
        let scalar = groups.iter().all(|group| group.1.len() == 1);
        if !scalar || groups.len() != candidate.ports.len() || !dim.is_known() {
            return false;
        }
        let outer = self.law.take();
        if outer.is_none() {
            self.swap_arenas();
        }
        let exprs = &mut self.arena.exprs;
        let symbol = exprs.new_symbol("modulus", SymbolKind::Parameter);
        let expr = exprs.symbol(symbol);
        let mut variables = FxHashMap::default();
        let mut ports = Vec::new();
        for (port, (_, range)) in candidate.ports.iter().zip(&groups) {
            let name = Some(&*port.declared.name.text);
            ports.push(self.scope_port(name, range.clone(), groups[0].1.start, &mut variables));
        }
        let formals = candidate.formals.iter().take(1);
        let modulus = Value::Scalar(Scalar { expr, dim });
        self.law = Some(LawScope {
            formals: formals.map(|formal| (&*formal.name.text, modulus.clone())).collect(),
            ports,
            time: None,
            tables: &[],
            table: None,
        });
        let mut pairs = Vec::with_capacity(candidate.equations.len());
        for equation in &candidate.equations {
            let sides = [&equation.left, &equation.right];
            let [left, right] = sides.map(|side| self.eval(side, Place::MODEL).common_dim());
            pairs.push((left, right));
        }
        self.law = outer;
        if self.law.is_none() {
            self.swap_arenas();
        }
        all_agree(&pairs)
    }
}
