//! Statements with another number of sections, or none if a statement violates the rules.

use crate::program::Program;
use lgm_source::SourceId;
use lgm_syntax::ast::{
    Argument, Assigned, Attribute, Declared, Expr, ExprKind, For, Indexed, Instance, Item, JunctionDecl, Statement,
    StatementKind,
};
use lgm_syntax::visit::child_expressions;
use std::sync::Arc;

/// The largest size, end of a loop or index that is independent of the number of sections.
pub(super) const MOST_FIXED: i64 = 8;

/// The largest number added to the index of a loop; added to the number of sections it may be twice as large.
pub(super) const MOST_SHIFT: i64 = 2;

/// Rewrites a model with `short` sections instead of `long`.
pub(super) struct Shortener<'a> {
    pub(super) program: &'a Program,
    /// The root text.
    pub(super) source: SourceId,
    /// The constant that defines the number of sections.
    pub(super) name: &'a str,
    pub(super) long: i64,
    pub(super) short: i64,
}

/// An integer: a multiple of the number of sections, plus a multiple of a loop index, plus a constant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Whole {
    sections: i64,
    index: i64,
    number: i64,
}

/// Returns the integer that an expression represents.
pub(super) fn integer(expr: &Expr) -> Option<i64> {
    match &expr.kind {
        ExprKind::Number(digits, None) => digits.parse().ok(),
        _ => None,
    }
}

/// The index of the loop around an expression, if it is in one.
type Index<'a> = Option<&'a str>;

impl Shortener<'_> {
    pub(super) fn statement(&self, statement: &Statement) -> Option<Statement> {
        let kind = match &statement.kind {
            StatementKind::Node(nodes) => StatementKind::Node(self.nodes(nodes)?),
            StatementKind::Param(assigned) => StatementKind::Param(self.assigned(assigned)?),
            StatementKind::Input(assigned) => StatementKind::Input(self.assigned(assigned)?),
            StatementKind::Const(assigned) => StatementKind::Const(self.constant(assigned)?),
            StatementKind::Signal(indexed) => StatementKind::Signal(self.indexed(indexed)?),
            StatementKind::Output(indexed) => StatementKind::Output(self.indexed(indexed)?),
            StatementKind::Instance(instance) => StatementKind::Instance(Box::new(self.instance(instance, None)?)),
            StatementKind::For(each) => StatementKind::For(Box::new(self.repeated(each)?)),
            StatementKind::Experiment(entries) => {
                let is_free = |entry: &Attribute| !self.names(&entry.value, self.name);
                entries.iter().all(is_free).then(|| statement.kind.clone())?
            }
            _ => return None,
        };
        Some(Statement {
            kind,
            ..statement.clone()
        })
    }

    fn nodes(&self, nodes: &JunctionDecl) -> Option<JunctionDecl> {
        let is_plain = |declared: &Declared| declared.vector.is_none() && self.are_places(&declared.brackets, None);
        (nodes.attributes.is_empty() && nodes.names.iter().all(is_plain)).then(|| nodes.clone())
    }

    fn assigned(&self, assigned: &Assigned) -> Option<Assigned> {
        let value = match &assigned.value {
            Some(value) => Some(self.value(value, None)?),
            None => None,
        };
        Some(Assigned {
            value,
            ..assigned.clone()
        })
    }

    fn constant(&self, constant: &Assigned) -> Option<Assigned> {
        if *constant.name.text == *self.name {
            let value = constant.value.as_ref()?;
            return Some(Assigned {
                value: Some(number(value, self.short)),
                ..constant.clone()
            });
        }
        // Another constant may be used both for sizes and for values.
        let is_free = constant
            .value
            .as_ref()
            .is_none_or(|value| !self.names(value, self.name));
        is_free.then(|| constant.clone())
    }

    fn indexed(&self, indexed: &Indexed) -> Option<Indexed> {
        let declared = &indexed.declared;
        let is_single = declared.brackets.is_empty() && declared.vector.is_none() && indexed.attributes.is_empty();
        let value = self.value(&indexed.value, None)?;
        is_single.then(|| Indexed {
            value,
            ..indexed.clone()
        })
    }

    fn repeated(&self, each: &For) -> Option<For> {
        let ends = [&each.from, &each.to];
        if *each.index.text == *self.name || !ends.into_iter().all(|end| self.is_place(end, None)) {
            return None;
        }
        let index = Some(&*each.index.text);
        let body = each.body.iter().map(|statement| match &statement.kind {
            StatementKind::Instance(instance) => Some(Statement {
                kind: StatementKind::Instance(Box::new(self.instance(instance, index)?)),
                ..statement.clone()
            }),
            _ => None,
        });
        Some(For {
            body: body.collect::<Option<_>>()?,
            ..each.clone()
        })
    }

    fn instance(&self, instance: &Instance, index: Index<'_>) -> Option<Instance> {
        let declared = &instance.declared;
        let has_name = declared.vector.is_none()
            && self.are_places(&declared.brackets, index)
            && (index.is_none() || declared.brackets.len() == 1);
        if !has_name || !self.takes_values(instance) {
            return None;
        }
        let values = |list: &[Attribute]| -> Option<Vec<Attribute>> {
            let value = |each: &Attribute| {
                Some(Attribute {
                    value: self.value(&each.value, index)?,
                    ..each.clone()
                })
            };
            list.iter().map(value).collect()
        };
        let argument = |each: &Argument| {
            Some(Argument {
                value: self.value(&each.value, index)?,
                ..each.clone()
            })
        };
        let mut ends = instance.branches.iter().flat_map(|(from, to)| [from, to]);
        let mut bound = instance.bindings.iter().flatten().map(|binding| &binding.value);
        if !ends.all(|end| self.is_end(end, index)) || !bound.all(|end| self.is_end(end, index)) {
            return None;
        }
        Some(Instance {
            arguments: instance.arguments.iter().map(argument).collect::<Option<_>>()?,
            attributes: values(&instance.attributes)?,
            ..instance.clone()
        })
    }

    /// Returns true if no argument that determines the size of the instance contains the number of sections.
    fn takes_values(&self, instance: &Instance) -> bool {
        let Some(at) = self.program.definition(&instance.kind.text, self.source) else {
            return false;
        };
        let formals = match self.program.item(at) {
            Item::Element(element) => &element.formals,
            Item::Component(component) => &component.formals,
            _ => return false,
        };
        let holds_number = || {
            let mut arguments = instance.arguments.iter();
            arguments.any(|argument| self.names(&argument.value, self.name))
        };
        !formals.iter().any(|formal| formal.structural) || !holds_number()
    }

    /// Returns true if an end of a branch is the reference or a node; in a loop, a node of the section.
    fn is_end(&self, end: &Expr, index: Index<'_>) -> bool {
        match &end.kind {
            ExprKind::Name(name) => index.is_none() || &*name.text == "gnd",
            ExprKind::Index(base, list) => {
                matches!(base.kind, ExprKind::Name(_)) && list.len() == 1 && self.is_place(&list[0], index)
            }
            _ => false,
        }
    }

    /// Returns a value with the long number of sections; none if it contains the loop index outside of names.
    fn value(&self, expr: &Expr, index: Index<'_>) -> Option<Expr> {
        let all = |list: &[Expr]| -> Option<Vec<Expr>> { list.iter().map(|each| self.value(each, index)).collect() };
        let signed = |list: &[(bool, Expr)]| -> Option<Vec<(bool, Expr)>> {
            let each = |(sign, each): &(bool, Expr)| Some((*sign, self.value(each, index)?));
            list.iter().map(each).collect()
        };
        let kind = match &expr.kind {
            ExprKind::Name(name) if *name.text == *self.name => return Some(number(expr, self.long)),
            ExprKind::Name(name) if Some(&*name.text) == index => return None,
            ExprKind::Number(..) | ExprKind::Name(_) => expr.kind.clone(),
            ExprKind::List(list, unit) => ExprKind::List(all(list)?, unit.clone()),
            ExprKind::Power(list) => ExprKind::Power(all(list)?),
            ExprKind::Sum(list) => ExprKind::Sum(signed(list)?),
            ExprKind::Product(list) => ExprKind::Product(signed(list)?),
            ExprKind::Negate(inner) => ExprKind::Negate(Box::new(self.value(inner, index)?)),
            ExprKind::InUnit(inner, unit) => ExprKind::InUnit(Box::new(self.value(inner, index)?), unit.clone()),
            _ => return self.is_plain(expr, index).then(|| expr.clone()),
        };
        Some(Expr { kind, ..expr.clone() })
    }

    /// Returns true if the number of sections and the loop index occur only in names.
    fn is_plain(&self, expr: &Expr, index: Index<'_>) -> bool {
        match &expr.kind {
            ExprKind::Name(name) => *name.text != *self.name && Some(&*name.text) != index,
            ExprKind::Index(base, list) => self.is_plain(base, index) && list.iter().all(|at| self.is_place(at, index)),
            ExprKind::Text(_) | ExprKind::Over(_) | ExprKind::Bond(..) | ExprKind::Missing => false,
            _ => {
                let mut plain = true;
                child_expressions(expr, &mut |child| plain = plain && self.is_plain(child, index));
                plain
            }
        }
    }

    fn are_places(&self, brackets: &[Vec<Expr>], index: Index<'_>) -> bool {
        match brackets {
            [] => true,
            [only] => only.len() == 1 && self.is_place(&only[0], index),
            _ => false,
        }
    }

    /// Returns true for a size, an end of a loop or an index that moves with the section (in a loop) or with a border (elsewhere).
    fn is_place(&self, expr: &Expr, index: Index<'_>) -> bool {
        match (self.whole(expr, index), index) {
            (
                Some(Whole {
                    sections: 0,
                    index: 1,
                    number,
                }),
                Some(_),
            ) => number.abs() <= MOST_SHIFT,
            (
                Some(Whole {
                    sections: 1,
                    index: 0,
                    number,
                }),
                None,
            ) => number.abs() <= 2 * MOST_SHIFT,
            (
                Some(Whole {
                    sections: 0,
                    index: 0,
                    number,
                }),
                None,
            ) => number <= MOST_FIXED,
            _ => false,
        }
    }

    fn whole(&self, expr: &Expr, index: Index<'_>) -> Option<Whole> {
        match &expr.kind {
            ExprKind::Number(..) => Some(Whole {
                number: integer(expr)?,
                ..Whole::default()
            }),
            ExprKind::Name(name) if Some(&*name.text) == index => Some(Whole {
                index: 1,
                ..Whole::default()
            }),
            ExprKind::Name(name) if *name.text == *self.name => Some(Whole {
                sections: 1,
                ..Whole::default()
            }),
            ExprKind::Sum(terms) => {
                let mut sum = Whole::default();
                for (negative, term) in terms {
                    let term = self.whole(term, index)?;
                    let sign = if *negative { -1 } else { 1 };
                    sum.sections = sum.sections.checked_add(sign * term.sections)?;
                    sum.index = sum.index.checked_add(sign * term.index)?;
                    sum.number = sum.number.checked_add(sign.checked_mul(term.number)?)?;
                }
                Some(sum)
            }
            _ => None,
        }
    }

    /// Returns true if a name occurs in an expression.
    fn names(&self, expr: &Expr, name: &str) -> bool {
        if let ExprKind::Name(found) = &expr.kind {
            return &*found.text == name;
        }
        let mut found = false;
        child_expressions(expr, &mut |child| found = found || self.names(child, name));
        found
    }
}

/// Returns a literal number in place of an expression.
fn number(expr: &Expr, value: i64) -> Expr {
    Expr {
        kind: ExprKind::Number(Arc::from(value.to_string()), None),
        span: expr.span,
    }
}
