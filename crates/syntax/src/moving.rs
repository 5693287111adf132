//! Moves the locations in a part of a tree after an edit before it.

use crate::ast::*;
use lgm_source::Span;
use std::sync::Arc;

/// A part of a tree with locations in the text.
pub trait Move {
    /// Adds this many bytes to every location.
    fn shift(&mut self, by: i64);
}

impl Move for Span {
    fn shift(&mut self, by: i64) {
        let moved = |at: u32| u32::try_from(i64::from(at) + by).expect("invariant: a text is shorter than 4 GB");
        (self.start, self.end) = (moved(self.start), moved(self.end));
    }
}

impl<T: Move> Move for Vec<T> {
    fn shift(&mut self, by: i64) {
        self.iter_mut().for_each(|part| part.shift(by));
    }
}

impl<T: Move> Move for Option<T> {
    fn shift(&mut self, by: i64) {
        self.iter_mut().for_each(|part| part.shift(by));
    }
}

impl<T: Move> Move for Box<T> {
    fn shift(&mut self, by: i64) {
        (**self).shift(by);
    }
}

impl<A: Move, B: Move> Move for (A, B) {
    fn shift(&mut self, by: i64) {
        self.0.shift(by);
        self.1.shift(by);
    }
}

/// Parts without a location.
macro_rules! fixed {
    ($($part:ty),*) => { $(impl Move for $part { fn shift(&mut self, _: i64) {} })* };
}

/// Structs; a field that is missing here does not compile.
macro_rules! whole {
    ($($part:ident { $($field:ident),* })*) => { $(
        impl Move for $part {
            fn shift(&mut self, by: i64) {
                let $part { $($field),* } = self;
                $($field.shift(by);)*
            }
        }
    )* };
}

/// Enums whose variants have fields.
macro_rules! choice {
    ($($part:ident { $($variant:ident($($field:ident),*))* })*) => { $(
        impl Move for $part {
            fn shift(&mut self, by: i64) {
                match self {
                    $($part::$variant($($field),*) => { $($field.shift(by);)* })*
                }
            }
        }
    )* };
}

fixed!(bool, i32, Arc<str>, Comparison);

whole! {
    Name { text, span }
    Import { target, span }
    Domain { doc, name, across, through, effort, pseudo, unknown, span }
    DomainVariable { name, unit }
    UnitExpr { factors, span }
    UnitFactor { name, exponent }
    Formal { structural, name, unit, default }
    Element { doc, name, formals, domain, ports, tables, equations, modes, span }
    Function { doc, name, formals, value, span }
    Const { doc, assigned, span }
    Table { name, value, attributes }
    ElementMode { name, law, changes, span }
    ModeChange { condition, to, sets, span }
    Setting { target, value }
    Equation { left, right, span }
    PortDecl { declared, domain }
    Declared { name, brackets, vector, span }
    Component { doc, name, formals, body, span }
    Model { doc, name, body, span }
    Modal { doc, name, formals, domain, mode, drive, equations, span }
    Statement { doc, kind, span }
    Faulty { declared, kind, uses }
    JunctionDecl { names, domain, flags, attributes }
    Assigned { name, unit, value }
    Indexed { declared, value, attributes }
    Attribute { name, value }
    Instance { declared, kind, arguments, bindings, branches, attributes }
    Argument { name, value }
    For { index, from, to, body }
    When { condition, body }
    Every { period, first, body }
    Assignment { target, value, span }
    ActionIf { branches, otherwise }
    If { branches, otherwise }
    Expr { kind, span }
    Over { function, index, from, to, body }
}

choice! {
    Item { Import(item) Domain(item) Element(item) Component(item) Modal(item) Model(item) Function(item) Const(item) }
    ImportTarget { Path(words, span) Module(name) }
    StatementKind {
        Node(junctions) Zero(junctions) One(junctions) Port(ports) Param(assigned) Const(assigned) Input(assigned)
        Signal(indexed) Output(indexed) State(indexed) Instance(instance) Chain(ends) For(each) If(choice)
        Experiment(settings) Discrete(indexed) When(when) Every(every) Table(table) Faulty(faulty)
    }
    Action { Assign(assignment) If(choice) }
}

impl Move for ExprKind {
    fn shift(&mut self, by: i64) {
        use ExprKind::*;
        match self {
            Text(_) | Missing => {}
            Number(_, unit) => unit.shift(by),
            Name(name) => name.shift(by),
            Member(base, name) => {
                base.shift(by);
                name.shift(by);
            }
            Index(base, indices) => {
                base.shift(by);
                indices.shift(by);
            }
            InUnit(base, unit) => {
                base.shift(by);
                unit.shift(by);
            }
            Call(name, arguments) => {
                name.shift(by);
                arguments.shift(by);
            }
            Over(over) => over.shift(by),
            List(list, unit) => {
                list.shift(by);
                unit.shift(by);
            }
            Sum(terms) | Product(terms) => terms.shift(by),
            Power(list) | And(list) | Or(list) => list.shift(by),
            Negate(part) | Not(part) => part.shift(by),
            Compare(_, left, right) | Bond(left, right) => {
                left.shift(by);
                right.shift(by);
            }
            If(branches, otherwise) => {
                branches.shift(by);
                otherwise.shift(by);
            }
        }
    }
}
