//! The origin of the dimension of an expression, for messages about mismatches.

use crate::context::values::DimId;
use crate::context::words::short;
use crate::context::{AtPlace, Env, EnvId, FrameId, Place};
use crate::evaluate::Evaluator;
use crate::function_table::MEASURES;
use crate::syntax_queries::argument_for;
use lgm_model::instances::label_once;
use lgm_source::Span;
use lgm_source::diagnostic::Diagnostic;
use lgm_syntax::ast::{Assigned, Expr, ExprKind, Formal, Indexed, Name, Statement, StatementKind, UnitExpr};
use lgm_syntax::visit::find_in_statements;

/// The maximum number of listed parts of an expression, and of shown declarations.
const SHOWN_PARTS: usize = 5;
const SHOWN_DECLARATIONS: usize = 3;

/// A part of an expression with its own dimension.
struct DimensionedPart<'a> {
    expr: &'a Expr,
    dim: DimId,
    /// The origin of its dimension, except its own text.
    because: Option<String>,
    declared: Option<(Span, String)>,
}

/// The declaration that a name refers to.
enum Declaration<'a> {
    Formal(usize, &'a Formal),
    Assigned(&'a Assigned),
    Indexed(&'a Indexed),
}

impl<'a> Evaluator<'a> {
    /// Adds to a diagnostic the origin of the dimension of an expression: its parts and their declarations.
    pub(crate) fn explain_dimension(&mut self, mut diagnostic: Diagnostic, expr: Option<&'a Expr>) -> Diagnostic {
        let Some(expr) = expr else {
            return diagnostic;
        };
        let mut parts = Vec::new();
        self.dimension_parts(expr, &mut parts);
        for part in parts
            .iter()
            .filter(|part| part.declared.is_some())
            .take(SHOWN_DECLARATIONS)
        {
            if let Some((span, message)) = &part.declared {
                diagnostic = label_once(diagnostic, *span, message.clone());
            }
        }
        let plain = matches!(&parts[..], [only] if std::ptr::eq(only.expr, expr) && only.because.is_none());
        if parts.is_empty() || plain {
            return diagnostic;
        }
        let mut list = Vec::new();
        for part in parts.iter().take(SHOWN_PARTS) {
            let words = short(self.sources.slice(part.expr.span));
            let dim = self.dims.text(part.dim);
            list.push(match &part.because {
                Some(because) => format!("`{words}` is in {dim}, {because}"),
                None => format!("`{words}` is in {dim}"),
            });
        }
        if parts.len() > list.len() {
            list.push(format!("and {} more parts", parts.len() - list.len()));
        }
        diagnostic.note(match &parts[..] {
            [only] if std::ptr::eq(only.expr, expr) => list.remove(0),
            _ => format!("in `{}`: {}", short(self.sources.slice(expr.span)), list.join("; ")),
        })
    }

    /// Collects the parts that determine the dimension of an expression.
    fn dimension_parts(&mut self, expr: &'a Expr, parts: &mut Vec<DimensionedPart<'a>>) {
        // A sum or product with very many parts needs no longer explanation.
        if parts.len() > 10 * SHOWN_PARTS {
            return;
        }
        match &expr.kind {
            ExprKind::Number(_, Some(_)) => self.add_part(expr, None, None, parts),
            ExprKind::Name(name) => self.add_name(name, expr, parts),
            ExprKind::Member(..) => {
                let because = self.law.is_some().then(|| "the variable of the port".to_string());
                self.add_part(expr, because, None, parts);
            }
            ExprKind::Call(name, arguments) if MEASURES.contains(&&*name.text) => {
                let argument = arguments.first().map(|argument| &argument.value);
                let because = argument.and_then(|argument| self.measured_domain(argument));
                self.add_part(expr, because, None, parts);
            }
            ExprKind::Call(_, arguments) => {
                for argument in arguments {
                    self.dimension_parts(&argument.value, parts);
                }
            }
            ExprKind::Sum(terms) => {
                // The first term with a dimension determines the dimension of the sum.
                for (_, term) in terms {
                    let before = parts.len();
                    self.dimension_parts(term, parts);
                    if parts.len() > before {
                        break;
                    }
                }
            }
            ExprKind::Product(factors) => {
                for (_, factor) in factors {
                    self.dimension_parts(factor, parts);
                }
            }
            ExprKind::Power(list) => {
                if let Some(base) = list.first() {
                    self.dimension_parts(base, parts);
                }
            }
            ExprKind::Negate(inner) | ExprKind::InUnit(inner, _) => self.dimension_parts(inner, parts),
            // A mode's variable, `bar.v[1]`, has a value only with its index.
            ExprKind::Index(base, _) if matches!(base.kind, ExprKind::Member(..)) => {
                self.add_part(expr, None, None, parts)
            }
            // A name declared with indices has a value only with these.
            ExprKind::Index(base, _) => match &base.kind {
                ExprKind::Name(name) => self.add_name(name, expr, parts),
                _ => self.dimension_parts(base, parts),
            },
            ExprKind::Over(over) if &*over.function.text != "root" => {
                let here = self.reports.here;
                let (first, last) = (self.integer(&over.from, here), self.integer(&over.to, here));
                let Some(value) = first.filter(|first| Some(*first) <= last) else {
                    return;
                };
                // The first term.
                let env = EnvId(self.scopes.envs.len() as u32);
                let (parent, name) = (here.env, &*over.index.text);
                self.scopes.envs.push(Env { parent, name, value });
                self.at(Place { env, ..here }, |this| this.dimension_parts(&over.body, parts));
                self.scopes.envs.truncate(env.0 as usize);
            }
            ExprKind::If(branches, otherwise) => match branches.first() {
                Some((_, value)) => self.dimension_parts(value, parts),
                None => self.dimension_parts(otherwise, parts),
            },
            ExprKind::List(items, _) => {
                if let Some(first) = items.first() {
                    self.dimension_parts(first, parts);
                }
            }
            _ => {}
        }
    }

    /// Adds a name, or an entry of it.
    fn add_name(&mut self, name: &'a Name, expr: &'a Expr, parts: &mut Vec<DimensionedPart<'a>>) {
        if let Some((because, declared)) = self.name_origin(name, expr) {
            self.add_part(expr, because, declared, parts);
        }
    }

    fn add_part(
        &mut self,
        expr: &'a Expr,
        because: Option<String>,
        declared: Option<(Span, String)>,
        parts: &mut Vec<DimensionedPart<'a>>,
    ) {
        // Its value is already known, so nothing is evaluated again.
        let dim = self.eval(expr, self.reports.here).common_dim();
        if dim.says_something() {
            parts.push(DimensionedPart {
                expr,
                dim,
                because,
                declared,
            });
        }
    }

    /// Returns the origin of the dimension of a name: text, and the location of its declaration. `None` for a loop index and
    /// similar.
    #[allow(clippy::type_complexity)]
    fn name_origin(&mut self, name: &'a Name, expr: &'a Expr) -> Option<(Option<String>, Option<(Span, String)>)> {
        let text = &*name.text;
        if let Some(scope) = &self.law {
            let is_formal = scope.formals.iter().any(|formal| formal.0 == text);
            let because = (!is_formal).then(|| "the variable of the port".to_string());
            return Some((because, None));
        }
        if self.scopes.loop_index(text, self.reports.here).is_some() {
            return None;
        }
        self.scopes.value_slot(text, self.reports.here.frame)?;
        let dim = self.eval(expr, self.reports.here).common_dim();
        let shown = self.dims.text(dim);
        let by_unit = |unit: &UnitExpr| (unit.span, format!("`{text}` is declared in {shown} here"));
        let by_value = |value: &Expr| (value.span, format!("`{text}` is in {shown} by this value"));
        let declared = match self.declaration(text, self.reports.here.frame)? {
            Declaration::Formal(at, formal) => {
                let about = self.scopes.frames[self.reports.here.frame.0 as usize];
                let argument = about.instance.and_then(|instance| argument_for(instance, formal, at));
                match (&formal.unit, argument) {
                    (Some(unit), _) => Some(by_unit(unit)),
                    (None, Some(argument)) => Some((argument.span, format!("`{text}` is given in {shown} here"))),
                    (None, None) => formal.default.as_ref().map(by_value),
                }
            }
            Declaration::Assigned(assigned) => match (&assigned.unit, &assigned.value) {
                (Some(unit), _) => Some(by_unit(unit)),
                (None, Some(value)) => Some(by_value(value)),
                (None, None) => None,
            },
            Declaration::Indexed(indexed) => Some(by_value(&indexed.value)),
        };
        Some((None, declared))
    }

    /// Returns the expression that defines a name of the current body, and the place of its evaluation.
    pub(in crate::evaluate) fn defining_expression(&mut self, name: &str) -> Option<(&'a Expr, Place)> {
        let here = self.reports.here;
        Some(match self.declaration(name, here.frame)? {
            Declaration::Formal(at, formal) => {
                let about = self.scopes.frames[here.frame.0 as usize];
                match about.instance.and_then(|instance| argument_for(instance, formal, at)) {
                    Some(argument) => (argument, about.outer),
                    None => (formal.default.as_ref()?, here),
                }
            }
            Declaration::Assigned(assigned) => (assigned.value.as_ref()?, here),
            Declaration::Indexed(indexed) => (&indexed.value, here),
        })
    }

    /// Returns the part of an expression that is given in hertz: a number, or a name that is declared in hertz or defined by such a number.
    /// A product may contain the factor 2*pi, and is not examined.
    pub(in crate::evaluate) fn in_hertz(&mut self, expr: &'a Expr, depth: usize) -> Option<&'a Expr> {
        let depth = depth.checked_sub(1)?;
        let is_hertz = |unit: &UnitExpr| {
            let [only] = &unit.factors[..] else { return false };
            only.name.text.ends_with("Hz") && only.exponent == (1, 1)
        };
        match &expr.kind {
            ExprKind::Number(_, Some(unit)) | ExprKind::InUnit(_, unit) | ExprKind::List(_, Some(unit)) => {
                is_hertz(unit).then_some(expr)
            }
            ExprKind::Negate(inner) => self.in_hertz(inner, depth),
            ExprKind::Name(name) => {
                let unit = match self.declaration(&name.text, self.reports.here.frame)? {
                    Declaration::Formal(_, formal) => formal.unit.as_ref(),
                    Declaration::Assigned(assigned) => assigned.unit.as_ref(),
                    Declaration::Indexed(_) => None,
                };
                if let Some(unit) = unit {
                    return is_hertz(unit).then_some(expr);
                }
                let (defining, place) = self.defining_expression(&name.text)?;
                let found = self.at(place, |this| this.in_hertz(defining, depth));
                found.map(|_| expr)
            }
            _ => None,
        }
    }

    /// Returns the declaration of a value in the body of a frame.
    fn declaration(&self, name: &str, frame: FrameId) -> Option<Declaration<'a>> {
        let body = &self.scopes.bodies[self.scopes.frames[frame.0 as usize].body as usize];
        let formals: &'a [Formal] = body.formals;
        let mut formals = formals.iter().enumerate();
        match formals.find(|formal| &*formal.1.name.text == name) {
            Some((at, formal)) => Some(Declaration::Formal(at, formal)),
            None => declaration_in(body.statements, name),
        }
    }

    /// Returns a description of the domain of a measured part of the graph.
    fn measured_domain(&mut self, expr: &'a Expr) -> Option<String> {
        let domain = self.domain_of(expr, self.reports.here)?;
        let name = &self.graph.model.graph.domains[domain.index()].name;
        Some(format!("a variable of the domain {name}",))
    }
}

fn declaration_in<'a>(statements: &'a [Statement], name: &str) -> Option<Declaration<'a>> {
    find_in_statements(statements, &mut |statement| match &statement.kind {
        StatementKind::Param(assigned) | StatementKind::Const(assigned) | StatementKind::Input(assigned) => {
            (&*assigned.name.text == name).then_some(Declaration::Assigned(assigned))
        }
        StatementKind::Signal(indexed) | StatementKind::State(indexed) => {
            (&*indexed.declared.name.text == name).then_some(Declaration::Indexed(indexed))
        }
        _ => None,
    })
}
