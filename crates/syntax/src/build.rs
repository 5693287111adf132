//! The functions called by the grammar's actions: they build the tree and reject input that the grammar accepts but the
//! language does not.

mod items;
mod units;

use super::ast::*;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_source::{SourceId, Span};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;
use std::sync::Arc;

/// The result of one run of the generated parser.
#[derive(Debug)]
pub enum Parsed {
    /// The items of a file.
    File(Vec<Item>),
    /// One expression.
    Expression(Expr),
    /// A part that was read only to check it.
    Checked,
}

/// An entry of a domain body.
#[derive(Debug)]
pub enum DomainEntry {
    /// `across v [V];`
    Variable(Name, DomainVariable, Span),
    /// `effort = across;`
    Setting(Name, Name, Span),
    /// `pseudo;`
    Word(Name, Span),
}

/// An entry of an element or modal body.
#[derive(Debug)]
pub enum LawEntry {
    /// `port a, b;`
    Ports(Vec<PortDecl>, Span),
    /// `table t = [[0, 1], [2, 3]];`
    Table(Table),
    /// `mode i;`, `drive across;`
    Words(Name, Name, Span),
    /// `through = C*der(across);`
    Equation(Equation),
    /// `mode conducting { across = 0; }`: the keyword, the name and the law.
    Mode(Name, Name, Vec<Equation>, Span),
    /// `when through < 0 -> blocking;`, a change from the preceding mode.
    Change(ModeChange),
}

/// A part of a list of junctions.
#[derive(Debug)]
pub enum JunctionPart {
    /// `b[3]`
    Name(Declared),
    /// `on = closed`
    Attribute(Attribute),
}

/// A part of the text after the domain of junctions.
#[derive(Debug)]
pub enum JunctionTail {
    /// `floating`
    Flag(Name),
    /// `on = closed`
    Attribute(Attribute),
}

/// A part of the text after the parentheses of an instance.
#[derive(Debug)]
pub enum TailPart {
    /// `a -> b`
    Branch(Expr, Expr),
    /// `start = 1`
    Attribute(Attribute),
}

/// The sign before a part of a unit.
#[derive(Clone, Copy, Debug)]
pub enum UnitJoint {
    /// None: the first part.
    First,
    /// `.`
    Times(Span),
    /// `/`
    Over,
    /// `*`, which is rejected.
    Star(Span),
}

/// The parts of a unit with the sign before each.
pub type UnitList = Vec<(UnitJoint, Vec<UnitFactor>)>;

/// The shared data of the actions of one parse.
pub struct Context<'a> {
    source: SourceId,
    text: &'a str,
    docs: FxHashMap<usize, Arc<str>>,
    /// Names that the text declares; a unit symbol in this set does not indicate a misplaced unit.
    declared: FxHashSet<&'a str>,
    /// The distinct texts, shared by all of their occurrences.
    texts: RefCell<FxHashSet<Arc<str>>>,
    diagnostics: RefCell<Vec<Diagnostic>>,
}

impl<'a> Context<'a> {
    /// Returns the context of one text, with doc comments by the position of the following token.
    pub fn new(
        source: SourceId,
        text: &'a str,
        docs: &[(usize, Arc<str>)],
        declared: FxHashSet<&'a str>,
    ) -> Context<'a> {
        Context {
            source,
            text,
            docs: docs.iter().cloned().collect(),
            declared,
            texts: RefCell::default(),
            diagnostics: RefCell::default(),
        }
    }

    /// Returns the errors that the actions reported since the last call.
    pub fn take_diagnostics(&self) -> Vec<Diagnostic> {
        self.diagnostics.take()
    }

    fn report(&self, diagnostic: Diagnostic) {
        self.diagnostics.borrow_mut().push(diagnostic);
    }

    /// Returns the span `start..end`.
    pub fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.source, start, end)
    }

    /// Returns the words at a location.
    pub fn words(&self, span: Span) -> &'a str {
        self.text.get(span.start as usize..span.end as usize).unwrap_or("")
    }

    /// Returns a shared copy of a text.
    pub fn text(&self, text: &str) -> Arc<str> {
        if let Some(known) = self.texts.borrow().get(text) {
            return known.clone();
        }
        let new: Arc<str> = text.into();
        self.texts.borrow_mut().insert(new.clone());
        new
    }

    /// Returns a string without its quotes.
    pub fn unquoted(&self, text: &str) -> Arc<str> {
        self.text(text.trim_matches(['"', '\'']))
    }

    /// Returns the name written at `start`.
    pub fn name(&self, start: usize, text: &str) -> Name {
        Name {
            text: self.text(text),
            span: self.span(start, start + text.len()),
        }
    }

    /// Returns the `///` lines before the token at `start`.
    pub fn doc(&self, start: usize) -> Option<Arc<str>> {
        self.docs.get(&start).cloned()
    }

    // ---- Statements ----------------------------------------------------------------------------------------------

    /// Builds `name[i] : Kind(args) (bindings) a -> b, start = 1`.
    pub fn instance(
        &self,
        target: Expr,
        kind: Name,
        groups: (Vec<Argument>, Option<Vec<Attribute>>),
        tail: Vec<TailPart>,
    ) -> StatementKind {
        let (mut branches, mut attributes) = (Vec::new(), Vec::new());
        for part in tail {
            match part {
                TailPart::Branch(from, to) => branches.push((from, to)),
                TailPart::Attribute(attribute) => attributes.push(attribute),
            }
        }
        StatementKind::Instance(Box::new(Instance {
            declared: self.declared_as(target),
            kind,
            arguments: groups.0,
            bindings: groups.1,
            branches,
            attributes,
        }))
    }

    /// Converts the left-hand side of an instance, which is read as a reference because a chain of bonds starts in the same way.
    fn declared_as(&self, target: Expr) -> Declared {
        let span = target.span;
        let mut brackets = Vec::new();
        let mut rest = target;
        loop {
            match rest.kind {
                ExprKind::Index(base, indices) => {
                    brackets.push(indices);
                    rest = *base;
                }
                ExprKind::Member(base, member) => {
                    self.report(
                        Diagnostic::error(Code::LGM0043, "a declared name has no dots")
                            .label(span, format!("`{}` is a member of something else", member.text))
                            .help(format!("declare a plain name, such as `{}`", member.text)),
                    );
                    rest = *base;
                }
                ExprKind::Name(name) => {
                    brackets.reverse();
                    return Declared {
                        name,
                        brackets,
                        vector: None,
                        span,
                    };
                }
                _ => unreachable!("invariant: a reference is a name with members and indices"),
            }
        }
    }

    // ---- Expressions ---------------------------------------------------------------------------------------------

    /// Returns an expression over `start..end`.
    pub fn expr(&self, start: usize, kind: ExprKind, end: usize) -> Expr {
        Expr {
            kind,
            span: self.span(start, end),
        }
    }

    /// Returns a name as an expression.
    pub fn name_expr(&self, name: Name) -> Expr {
        Expr {
            span: name.span,
            kind: ExprKind::Name(name),
        }
    }

    /// Builds `base[i, j]`, or `base [V]` with a unit, whose symbols the text does not declare.
    pub fn index(&self, start: usize, base: Expr, brackets: (usize, Vec<Expr>), end: usize) -> Expr {
        let (open, indices) = brackets;
        if let [only] = &indices[..]
            && let Some(unit) = self.read_as_unit(only, (open, end))
        {
            return self.expr(start, ExprKind::InUnit(Box::new(base), unit), end);
        }
        self.expr(start, ExprKind::Index(Box::new(base), indices), end)
    }

    /// Builds `a < b`; rejects chained comparisons.
    pub fn compare(&self, first: Expr, rest: Vec<(usize, Comparison, Expr)>) -> Expr {
        let mut rest = rest.into_iter();
        let (_, comparison, second) = rest
            .next()
            .expect("invariant: the grammar reads at least one comparison");
        if let Some((at, _, third)) = rest.next() {
            let sign = self.text[at..].chars().take_while(|c| "<>=!".contains(*c)).count();
            let middle = self.words(second.span);
            self.report(
                Diagnostic::error(Code::LGM0021, "comparisons cannot be chained")
                    .label(self.span(at, at + sign), "a second comparison")
                    .help(format!(
                        "write `{} and {middle} {}`",
                        self.words(first.span.to(second.span)),
                        self.words(self.span(at, third.span.end as usize)),
                    )),
            );
        }
        Expr {
            span: first.span.to(second.span),
            kind: ExprKind::Compare(comparison, Box::new(first), Box::new(second)),
        }
    }

    /// Builds `a ^ b ^ c`.
    pub fn power(&self, start: usize, mut bases: Vec<Expr>, last: Expr, end: usize) -> Expr {
        bases.push(last);
        self.expr(start, ExprKind::Power(bases), end)
    }

    /// Builds `sum(i in a:b, body)`, `root(z in a:b, body)`.
    pub fn over(&self, start: usize, over: Over, end: usize) -> Expr {
        if !matches!(&*over.function.text, "sum" | "root" | "list") {
            self.report(
                Diagnostic::error(Code::LGM0022, format!("`{}` has no range", over.function.text))
                    .label(over.function.span, "only `sum`, `list` and `root` do")
                    .help("write `sum(i in 1:N, ..)`, `list(i in 1:N, ..)` or `root(z in a:b, ..)`"),
            );
            return self.expr(start, ExprKind::Missing, end);
        }
        self.expr(start, ExprKind::Over(Box::new(over)), end)
    }
}
