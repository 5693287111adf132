//! Evaluation of expressions of the language to values with dimensions.

use crate::context::values::{DimId, LARGEST_EXPONENT, LONGEST_LITERAL, Scalar, Value, decimal};
use crate::context::{Env, EnvId, GraphPart, Place, ValueSlot, pair};
use crate::evaluate::{Evaluator, Side};
use lgm_algebra::expr::Relation;
use lgm_source::Span;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_source::nearest::corrections;
use lgm_syntax::ast::{Comparison, Expr, ExprKind, Name, Over, UnitExpr};

/// The maximum number of entries of a list, or of a matrix given as a list of rows.
const LARGEST_LIST: usize = 250_000;
/// The maximum number of terms of an expanded `sum`, including nested sums.
const LONGEST_SUM: u64 = 200_000;

/// Names of the output of a component in other languages.
const OUTPUT_WORDS: [&str; 6] = ["out", "output", "outputs", "result", "val", "value"];

/// The maximum depth of evaluation; brackets nest at most 256 deep, and a chain of names adds to it.
const DEEPEST_EVALUATION: usize = 600;

impl<'a> Evaluator<'a> {
    /// Enters one more level of evaluation; reports an error and returns `false` if it nests too deeply.
    pub(crate) fn enter(&mut self, span: Span) -> bool {
        if self.depth >= DEEPEST_EVALUATION {
            let diagnostic = Diagnostic::error(
                Code::LGM0112,
                "this expression is nested too deeply through other names",
            )
            .label(span, "more than 600 levels are open here")
            .help("declare the names in order of use, or split the expression");
            self.report(diagnostic);
            return false;
        }
        self.depth += 1;
        true
    }

    /// Returns the value of an expression.
    pub(crate) fn eval(&mut self, expr: &'a Expr, place: Place) -> Value {
        match &expr.kind {
            ExprKind::Number(text, unit) => self.literal(expr.span, text, unit.as_ref(), false),
            ExprKind::Name(name) => self.name_value(name, place),
            ExprKind::Missing => Value::Error,
            _ => {
                if !self.enter(expr.span) {
                    return Value::Error;
                }
                let value = self.eval_compound(expr, place);
                self.depth -= 1;
                value
            }
        }
    }

    fn eval_compound(&mut self, expr: &'a Expr, place: Place) -> Value {
        match &expr.kind {
            ExprKind::Member(owner, name) => self.member(owner, name, None, place, expr.span),
            ExprKind::Index(base, indices) => self.index(base, indices, place, expr.span),
            ExprKind::Call(name, arguments) => self.call(name, arguments, place, expr.span),
            ExprKind::Over(over) => self.over(over, place, expr.span),
            ExprKind::List(items, unit) => self.list(items, unit.as_ref(), place, expr.span),
            ExprKind::Sum(terms) => self.sum(terms, place),
            ExprKind::Product(factors) => self.product(factors, place),
            ExprKind::Power(parts) => self.power(parts, place),
            ExprKind::Negate(inner) => match &inner.kind {
                // `-40 [degC]` is 40 degrees below zero.
                ExprKind::Number(text, Some(unit)) if self.unit(unit).is_some_and(|unit| !unit.is_multiple()) => {
                    self.literal(inner.span, text, Some(unit), true)
                }
                _ => {
                    let value = self.eval(inner, place);
                    self.negate(&value)
                }
            },
            ExprKind::InUnit(inner, written) => match (self.eval(inner, place), self.unit(written)) {
                (Value::Error, _) | (_, None) => Value::Error,
                (value, Some(unit)) => self.in_unit(&value, &unit, written.span, inner.span, Some(inner)),
            },
            ExprKind::Not(inner) => match self.eval_scalar(inner, place) {
                Some(scalar) => Value::scalar(self.arena.exprs.not(scalar.expr), DimId::NONE),
                None => Value::Error,
            },
            ExprKind::And(list) => self.logical(list, Relation::And, place),
            ExprKind::Or(list) => self.logical(list, Relation::Or, place),
            ExprKind::Compare(comparison, a, b) => self.compare(*comparison, a, b, place),
            ExprKind::If(branches, otherwise) => self.conditional(branches, otherwise, place),
            ExprKind::Bond(..) => {
                let diagnostic = Diagnostic::error(Code::LGM0124, "a bond is not a value")
                    .label(expr.span, "this names a bond")
                    .help("measure one of its variables: `flow(J -> R1)` or `effort(J -> R1)`");
                self.report(diagnostic);
                Value::Error
            }
            ExprKind::Text(_) => {
                let diagnostic = Diagnostic::error(Code::LGM0124, "a string is not a value")
                    .label(expr.span, "a number is required here")
                    .help("write a number, or a name without quotes");
                self.report(diagnostic);
                Value::Error
            }
            ExprKind::Number(..) | ExprKind::Name(_) | ExprKind::Missing => Value::Error,
        }
    }

    /// Returns the value of an expression that must be a scalar.
    pub(crate) fn eval_scalar(&mut self, expr: &'a Expr, place: Place) -> Option<Scalar> {
        match self.eval(expr, place) {
            Value::Scalar(scalar) => Some(scalar),
            Value::Error => None,
            value => {
                let diagnostic = Diagnostic::error(Code::LGM0206, "a scalar is required here")
                    .label(expr.span, format!("this is {}", value.shape_text()))
                    .help("write one entry of it, with an index such as `[1]`");
                self.report(diagnostic);
                None
            }
        }
    }

    fn literal(&mut self, span: Span, text: &str, unit: Option<&'a UnitExpr>, negated: bool) -> Value {
        let words = self.sources.slice(span);
        // An expression that was assembled elsewhere has no source text, and a sign is not part of it.
        let has_words = match (words.strip_prefix(text), unit) {
            _ if negated => false,
            (Some(rest), None) => rest.is_empty(),
            (Some(rest), Some(_)) => rest.trim_start().starts_with('[') && rest.ends_with(']'),
            (None, _) => false,
        };
        if let Some(scalar) = self.arena.literals.get(words).filter(|_| has_words) {
            return Value::Scalar(*scalar);
        }
        let Some(number) = decimal(text) else {
            let diagnostic = Diagnostic::error(Code::LGM0403, "this number is out of range")
                .label(
                    span,
                    format!(
                        "its power of ten is beyond {LARGEST_EXPONENT}, or it has more than {LONGEST_LITERAL} digits"
                    ),
                )
                .help("numbers must lie between 1e-308 and 1.8e308; check the exponent for an extra digit");
            self.report(diagnostic);
            return Value::Error;
        };
        let number = if negated { -number } else { number };
        let (number, dim) = match unit {
            None => (number, DimId::PLAIN),
            Some(written) => match self.unit(written) {
                Some(unit) => (unit.to_si(&number), self.dims.id(unit.dimension)),
                None => return Value::Error,
            },
        };
        let scalar = Scalar {
            expr: self.arena.exprs.number(number),
            dim,
        };
        if has_words {
            self.arena.literals.insert(words, scalar);
        }
        Value::Scalar(scalar)
    }

    fn list(&mut self, items: &'a [Expr], unit: Option<&'a UnitExpr>, place: Place, span: Span) -> Value {
        if items.len() > LARGEST_LIST {
            let diagnostic = Diagnostic::error(Code::LGM0207, "this list is too long")
                .label(span, format!("it has {} entries", items.len()))
                .help(format!("a vector or a matrix has at most {LARGEST_LIST} entries"));
            self.report(diagnostic);
            return Value::Error;
        }
        let mut rows: Vec<Value> = Vec::with_capacity(items.len());
        for item in items {
            rows.push(self.eval(item, place));
        }
        if rows.iter().any(Value::is_error) {
            return Value::Error;
        }
        // A list of lists is a matrix, row by row; a list of scalars is a column.
        let nested = items.iter().any(|item| matches!(item.kind, ExprKind::List(..)));
        let value = if nested {
            let width = rows[0].entries().len();
            if width * rows.len() > LARGEST_LIST {
                let diagnostic = Diagnostic::error(Code::LGM0207, "this matrix is too large")
                    .label(span, format!("it has {} entries", width * rows.len()))
                    .help(format!("a vector or a matrix has at most {LARGEST_LIST} entries"));
                self.report(diagnostic);
                return Value::Error;
            }
            for (row, item) in rows.iter().zip(items) {
                if row.entries().len() != width || row.shape().1 != 1 {
                    let diagnostic = Diagnostic::error(Code::LGM0207, "the rows of this matrix differ in length")
                        .label(item.span, format!("this row has {}", entries_text(row.entries().len())))
                        .label(items[0].span, format!("the first row has {}", entries_text(width)))
                        .help("write the same number of entries in every row, with 0 for empty ones");
                    self.report(diagnostic);
                    return Value::Error;
                }
            }
            let entries: Vec<Scalar> = rows.iter().flat_map(|row| row.entries().iter().copied()).collect();
            Value::array(rows.len(), width, true, entries)
        } else {
            let mut entries = Vec::with_capacity(rows.len());
            for (row, item) in rows.iter().zip(items) {
                match row {
                    Value::Scalar(scalar) => entries.push(*scalar),
                    _ => {
                        let diagnostic = Diagnostic::error(Code::LGM0207, "an entry of this list is not a scalar")
                            .label(item.span, format!("this is {}", row.shape_text()))
                            .help("a matrix is written by its rows: `[[a, b], [c, d]]`");
                        self.report(diagnostic);
                        return Value::Error;
                    }
                }
            }
            Value::array(entries.len(), 1, false, entries)
        };
        if value.entries().is_empty() {
            let diagnostic = Diagnostic::error(Code::LGM0207, "this list has no entries")
                .label(span, "empty")
                .help("write its entries: `[1, 2]`");
            self.report(diagnostic);
            return Value::Error;
        }
        match unit {
            Some(written) => match self.unit(written) {
                Some(unit) => self.in_unit(&value, &unit, written.span, span, items.first()),
                None => Value::Error,
            },
            None => value,
        }
    }

    /// Returns a member of an instance of a component, one of its values; in a law, a variable of a port.
    fn member(
        &mut self,
        owner: &'a Expr,
        name: &'a Name,
        indices: Option<&'a [Expr]>,
        place: Place,
        span: Span,
    ) -> Value {
        if self.law.is_some() {
            return self.law_member(owner, name);
        }
        let frame = match self.graph_part(owner, place) {
            GraphPart::Component(frame) => frame,
            GraphPart::Failed | GraphPart::Absent => return Value::Error,
            _ => {
                let diagnostic = Diagnostic::error(Code::LGM0119, format!("`{}` is not accessible here", name.text))
                    .label(name.span, "no such member")
                    .label(owner.span, "this is not an instance of a component")
                    .help(format!(
                        "measure one of its variables: `across({0})` or `through({0})`",
                        self.sources.slice(owner.span)
                    ));
                self.report(diagnostic);
                return Value::Error;
            }
        };
        let Some(slot) = self.scopes.value_slot(&name.text, frame) else {
            let body = &self.scopes.bodies[self.scopes.frames[frame.0 as usize].body as usize];
            let fixes = corrections(name.span, &name.text, body.values.keys().copied());
            let is_output = OUTPUT_WORDS.contains(&&*name.text) || fixes.is_empty();
            let outputs = is_output.then(|| body.outputs_text()).flatten();
            let help = outputs.or_else(|| lgm_source::nearest::did_you_mean(&name.text, body.values.keys().copied()));
            let kind = body.name.text.clone();
            let mut diagnostic = Diagnostic::error(Code::LGM0111, format!("`{kind}` has no value `{}`", name.text))
                .label(name.span, "not declared in the component");
            diagnostic.fixes = fixes;
            if let Some(help) = help {
                diagnostic = diagnostic.help(help);
            }
            self.report(diagnostic);
            return Value::Error;
        };
        let at = match indices {
            Some(list) => match self.index_pair(list, place) {
                Some(at) => Some(at),
                None => return Value::Error,
            },
            None => None,
        };
        self.slot_value(slot, at, &name.text, span, frame)
    }

    pub(crate) fn index(&mut self, base: &'a Expr, indices: &'a [Expr], place: Place, span: Span) -> Value {
        // A name declared with indices is looked up by them; any other value is indexed afterwards.
        if self.law.is_none() {
            if let ExprKind::Name(name) = &base.kind
                && self.scopes.loop_index(&name.text, place).is_none()
                && let Some(slot) = self.scopes.value_slot(&name.text, place.frame)
                && matches!(self.scopes.values[slot], ValueSlot::Indexed(_))
            {
                let Some(at) = self.index_pair(indices, place) else {
                    return Value::Error;
                };
                return self.slot_value(slot, Some(at), &name.text, span, place.frame);
            }
            if let ExprKind::Member(owner, name) = &base.kind
                && let GraphPart::Component(frame) = self.graph_part(owner, place)
                && let Some(slot) = self.scopes.value_slot(&name.text, frame)
                && matches!(self.scopes.values[slot], ValueSlot::Indexed(_))
            {
                return self.member(owner, name, Some(indices), place, span);
            }
            if let ExprKind::Member(owner, name) = &base.kind
                && let Some(GraphPart::Modal(first, at)) = self.known_graph_part(owner, place)
            {
                return self.modal_state(first, at as usize, name, indices, place, span);
            }
        }
        let value = self.eval(base, place);
        if value.is_error() {
            return Value::Error;
        }
        if let Some(written) = self.index_as_unit(base, indices, place, span) {
            if matches!(value, Value::Scalar(_)) {
                return match self.unit(&written) {
                    Some(unit) => self.in_unit(&value, &unit, written.span, base.span, Some(base)),
                    None => Value::Error,
                };
            }
            if !self.is_known_index(&indices[0], place) {
                self.not_a_unit(&written);
                return Value::Error;
            }
        }
        let Some(list) = self.integers(indices, place) else {
            return Value::Error;
        };
        let (i, j) = pair(&list);
        let (rows, columns) = value.shape();
        let Value::Array(array) = &value else {
            let diagnostic = Diagnostic::error(Code::LGM0120, "a scalar cannot be indexed")
                .label(span, "an index is written here")
                .label(base.span, "this is a scalar")
                .help("remove the index");
            self.report(diagnostic);
            return Value::Error;
        };
        let (row, column) = match list.len() {
            2 => (i, j),
            _ if columns == 1 => (i, 1),
            _ if rows == 1 => (1, i),
            _ => {
                let diagnostic = Diagnostic::error(Code::LGM0120, "a matrix has two indices")
                    .label(span, format!("this is {}", value.shape_text()))
                    .help("write `K[i, j]`, the row first");
                self.report(diagnostic);
                return Value::Error;
            }
        };
        if row < 1 || row > rows as i64 || column < 1 || column > columns as i64 {
            let (asked, outside) = match list.len() {
                2 => (
                    format!("row {row}, column {column}"),
                    format!("row {row}, column {column} lies"),
                ),
                _ => (
                    format!("the index is {}", list[0]),
                    format!("the index {} lies", list[0]),
                ),
            };
            let message = format!("{outside} outside of {}", value.shape_text());
            let diagnostic = Diagnostic::error(Code::LGM0121, message)
                .label(span, asked)
                .label(base.span, format!("this is {}", value.shape_text()))
                .help("indices run from 1 to the size of the value; give it more entries, or use a smaller index");
            self.report(diagnostic);
            return Value::Error;
        }
        Value::Scalar(array.entries[(row as usize - 1) * columns + column as usize - 1])
    }

    pub(super) fn over(&mut self, over: &'a Over, place: Place, span: Span) -> Value {
        if &*over.function.text == "root" {
            return self.root(over, place, span);
        }
        let (Some(from), Some(to)) = (self.integer(&over.from, place), self.integer(&over.to, place)) else {
            return Value::Error;
        };
        let range = over.from.span.to(over.to.span);
        let count = u64::try_from(i128::from(to) - i128::from(from) + 1).unwrap_or(0);
        if self.sum_depth == 0 {
            self.sum_terms = 0;
        }
        self.sum_terms = self.sum_terms.saturating_add(count);
        if self.sum_terms > LONGEST_SUM {
            let diagnostic = Diagnostic::error(Code::LGM0125, "this sum has too many terms")
                .label(range, format!("from {from} to {to}"))
                .help("at most 200000 terms can be written out, including nested sums; find a closed form");
            self.report(diagnostic);
            return Value::Error;
        }
        self.sum_depth += 1;
        let terms = self.terms_over(over, from, to, place);
        self.sum_depth -= 1;
        match terms {
            None => Value::Error,
            Some(terms) if &*over.function.text == "list" => self.list_of(terms, over, span),
            Some(terms) if terms.is_empty() => Value::scalar(self.arena.exprs.zero(), DimId::UNKNOWN),
            Some(terms) => self.add_up(&terms),
        }
    }

    /// Evaluates `list(i in a:b, expr)`: a column of scalars, or a matrix with the given vectors as rows.
    fn list_of(&mut self, terms: Vec<(bool, Value, &'a Expr)>, over: &'a Over, span: Span) -> Value {
        let width = terms.first().map_or(1, |term| term.1.entries().len());
        let is_scalar = |value: &Value| matches!(value, Value::Scalar(_));
        let alike = terms.iter().all(|term| {
            term.1.entries().len() == width && term.1.shape().1 == 1 && is_scalar(&term.1) == is_scalar(&terms[0].1)
        });
        if terms.is_empty() || !alike || width * terms.len() > LARGEST_LIST {
            let diagnostic = Diagnostic::error(
                Code::LGM0207,
                "this is neither a list of scalars nor a list of vectors of equal width",
            )
            .label(span, format!("it has {}", entries_text(terms.len())))
            .label(over.body.span, "each entry")
            .help("a list needs at least one entry, and all entries must have the same width");
            self.report(diagnostic);
            return Value::Error;
        }
        let rows = terms.len();
        let is_matrix = !is_scalar(&terms[0].1);
        let entries = terms.iter().flat_map(|term| term.1.entries().iter().copied()).collect();
        Value::array(rows, width, is_matrix, entries)
    }

    fn terms_over(&mut self, over: &'a Over, from: i64, to: i64, place: Place) -> Option<Vec<(bool, Value, &'a Expr)>> {
        let mark = self.scopes.envs.len();
        let mut terms = Vec::new();
        for value in from..=to {
            self.scopes.envs.push(Env {
                parent: place.env,
                name: &over.index.text,
                value,
            });
            let inner = Place {
                frame: place.frame,
                env: EnvId(mark as u32),
            };
            let term = self.eval(&over.body, inner);
            self.scopes.envs.truncate(mark);
            if term.is_error() {
                return None;
            }
            terms.push((false, term, &over.body));
        }
        Some(terms)
    }

    fn logical(&mut self, list: &'a [Expr], relation: Relation, place: Place) -> Value {
        let mut all = None;
        for item in list {
            let Some(scalar) = self.eval_scalar(item, place) else {
                return Value::Error;
            };
            all = Some(match all {
                None => scalar.expr,
                Some(before) => self.relate(relation, before, scalar.expr),
            });
        }
        match all {
            Some(expr) => Value::scalar(expr, DimId::NONE),
            None => Value::Error,
        }
    }

    /// Returns a relation, decided immediately if both sides are numbers.
    fn relate(
        &mut self,
        relation: Relation,
        a: lgm_algebra::expr::ExprId,
        b: lgm_algebra::expr::ExprId,
    ) -> lgm_algebra::expr::ExprId {
        let expr = self.arena.exprs.relation(relation, a, b);
        if self.arena.exprs.as_number(a).is_some()
            && self.arena.exprs.as_number(b).is_some()
            && let Ok(mut list) = self.arena.exprs.evaluate_exact(&[expr], &|_| None)
            && let Some(number) = list.pop()
        {
            return self.arena.exprs.number(number);
        }
        expr
    }

    fn compare(&mut self, comparison: Comparison, a: &'a Expr, b: &'a Expr, place: Place) -> Value {
        let (x, y) = (self.eval_scalar(a, place), self.eval_scalar(b, place));
        let (Some(x), Some(y)) = (x, y) else {
            return Value::Error;
        };
        if !self.same_dimension(Side::of(a, x.dim), Side::of(b, y.dim), "compared") {
            return Value::Error;
        }
        let relation = match comparison {
            Comparison::Less => Relation::Less,
            Comparison::LessEqual => Relation::LessEqual,
            Comparison::Greater => Relation::Greater,
            Comparison::GreaterEqual => Relation::GreaterEqual,
            Comparison::Equal => Relation::Equal,
            Comparison::NotEqual => Relation::NotEqual,
        };
        Value::scalar(self.relate(relation, x.expr, y.expr), DimId::NONE)
    }

    fn conditional(&mut self, branches: &'a [(Expr, Expr)], otherwise: &'a Expr, place: Place) -> Value {
        let mut conditions = Vec::new();
        let mut last = otherwise;
        let mut decided = false;
        for (condition, value) in branches {
            let Some(scalar) = self.eval_scalar(condition, place) else {
                return Value::Error;
            };
            // A decided condition selects its branch before the other branch is evaluated, so that structural recursion in an expression
            // ends.
            match self.arena.exprs.as_number(scalar.expr) {
                Some(number) if num_traits::Zero::is_zero(number) => {}
                Some(_) => {
                    last = value;
                    decided = true;
                }
                None => conditions.push((scalar.expr, value)),
            }
            if decided {
                break;
            }
        }
        let mut result = self.eval(last, place);
        for (condition, value) in conditions.into_iter().rev() {
            let branch = value;
            let value = self.eval(branch, place);
            if value.is_error() || result.is_error() {
                return Value::Error;
            }
            if value.shape() != result.shape() {
                self.width_mismatch(&value, branch.span, &result, last.span);
                return Value::Error;
            }
            let mut entries = Vec::with_capacity(value.entries().len());
            for (a, b) in value.entries().to_vec().into_iter().zip(result.entries().to_vec()) {
                if !self.same_dimension(Side::of(branch, a.dim), Side::of(last, b.dim), "chosen between") {
                    return Value::Error;
                }
                entries.push(Scalar {
                    expr: self.arena.exprs.if_else(condition, a.expr, b.expr),
                    dim: a.dim.joined(b.dim),
                });
            }
            result = match &result {
                Value::Array(array) => Value::array(array.rows, array.columns, array.matrix, entries),
                _ => Value::Scalar(entries[0]),
            };
        }
        result
    }
}

fn entries_text(count: usize) -> String {
    match count {
        1 => "1 entry".to_string(),
        count => format!("{count} entries"),
    }
}
