//! The nodes of expressions.

use num_rational::BigRational;
use std::sync::Arc;

/// An expression in an [`super::Exprs`] arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ExprId(pub u32);

/// A named quantity in an [`super::Exprs`] arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SymbolId(pub u32);

/// The meaning of a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SymbolKind {
    /// A `param`, or one entry of a vector or matrix `param`.
    Parameter,
    /// An `input`, or one entry of a vector `input`.
    Input,
    /// The time derivative of an input.
    InputRate,
    /// A state of the equations.
    State,
    /// A variable of the flat graph that a measure or an equation refers to.
    Measure,
    /// A shared subexpression, assigned before it is used.
    Assignment,
    /// `time`
    Time,
}

/// A symbol's name and kind.
#[derive(Clone, Debug)]
pub struct Symbol {
    /// The user's name; `K[1, 2]` for an entry.
    pub name: Arc<str>,
    /// The meaning of the symbol.
    pub kind: SymbolKind,
}

/// Functions of the language that remain in expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Function {
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Atan2,
    Sinh,
    Cosh,
    Tanh,
    Asinh,
    Exp,
    Log,
    Sqrt,
    Abs,
    Sign,
    Min,
    Max,
    Floor,
    /// `step(t0)`: 0 before t0, 1 from then on. The last argument of this function and of the next two is the time, which is not written in
    /// the source.
    Step,
    /// `pulse(t0, width)`
    Pulse,
    /// `ramp(t0)`: 0 before t0, time - t0 after.
    Ramp,
    /// `int(e)` of a measured expression.
    Int,
    /// `der(e)` of a measured expression.
    Der,
}

impl Function {
    /// All functions with their names in the language and their numbers of written arguments (`None`: one or more).
    pub const ALL: [(Function, &'static str, Option<usize>); 24] = [
        (Function::Sin, "sin", Some(1)),
        (Function::Cos, "cos", Some(1)),
        (Function::Tan, "tan", Some(1)),
        (Function::Asin, "asin", Some(1)),
        (Function::Acos, "acos", Some(1)),
        (Function::Atan, "atan", Some(1)),
        (Function::Atan2, "atan2", Some(2)),
        (Function::Sinh, "sinh", Some(1)),
        (Function::Cosh, "cosh", Some(1)),
        (Function::Tanh, "tanh", Some(1)),
        (Function::Asinh, "asinh", Some(1)),
        (Function::Exp, "exp", Some(1)),
        (Function::Log, "log", Some(1)),
        (Function::Sqrt, "sqrt", Some(1)),
        (Function::Abs, "abs", Some(1)),
        (Function::Sign, "sign", Some(1)),
        (Function::Min, "min", None),
        (Function::Max, "max", None),
        (Function::Floor, "floor", Some(1)),
        (Function::Step, "step", Some(1)),
        (Function::Pulse, "pulse", Some(2)),
        (Function::Ramp, "ramp", Some(1)),
        (Function::Int, "int", Some(1)),
        (Function::Der, "der", Some(1)),
    ];

    /// Returns true if the last argument is the time, which is not written.
    pub fn is_of_time(self) -> bool {
        matches!(self, Function::Step | Function::Pulse | Function::Ramp)
    }

    /// Returns the written arguments.
    pub fn written(self, arguments: &[ExprId]) -> &[ExprId] {
        match self.is_of_time() {
            true => &arguments[..arguments.len() - 1],
            false => arguments,
        }
    }

    /// Returns the name in the language.
    pub fn name(self) -> &'static str {
        Function::ALL
            .iter()
            .find(|entry| entry.0 == self)
            .map(|entry| entry.1)
            .expect("invariant: Function::ALL lists every function")
    }
}

/// A comparison or a logical operation, with values 0 and 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Relation {
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
    And,
    Or,
}

/// One node of an expression.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// An exact number.
    Number(Arc<BigRational>),
    /// `pi`
    Pi,
    /// A named quantity.
    Symbol(SymbolId),
    /// A sum of at least two terms, which are not sums; at most one number, in last position.
    Sum(Box<[ExprId]>),
    /// A product of at least two factors, which are not products; at most one number, in first position.
    Product(Box<[ExprId]>),
    /// A power; division is the power -1.
    Power(ExprId, ExprId),
    /// A function of the language.
    Call(Function, Box<[ExprId]>),
    /// A relation of two values.
    Relation(Relation, ExprId, ExprId),
    /// Logical negation.
    Not(ExprId),
    /// `if c then a else b`
    If(ExprId, ExprId, ExprId),
}

impl Node {
    /// Returns the ids of the node's children.
    pub fn children(&self) -> impl Iterator<Item = ExprId> + '_ {
        let (slice, fixed): (&[ExprId], [Option<ExprId>; 3]) = match self {
            Node::Number(_) | Node::Pi | Node::Symbol(_) => (&[], [None; 3]),
            Node::Sum(list) | Node::Product(list) | Node::Call(_, list) => (list, [None; 3]),
            Node::Power(a, b) | Node::Relation(_, a, b) => (&[], [Some(*a), Some(*b), None]),
            Node::Not(a) => (&[], [Some(*a), None, None]),
            Node::If(c, a, b) => (&[], [Some(*c), Some(*a), Some(*b)]),
        };
        slice.iter().copied().chain(fixed.into_iter().flatten())
    }
}
