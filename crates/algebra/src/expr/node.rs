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

/// The facts of a function that do not depend on its arguments.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// The function.
    pub function: Function,
    /// The name in the language.
    pub name: &'static str,
    /// The number of written arguments; `None` for one or more.
    pub arguments: Option<usize>,
    /// True if it maps a pure number to a pure number.
    pub is_pure: bool,
    /// The value at the number 0, if simplification uses it.
    pub(super) at_zero: Option<u8>,
    /// The text in front of the arguments and after them in LaTeX.
    pub(super) latex: [&'static str; 2],
    /// The text in front of the arguments in Typst; `)` follows them.
    pub(super) typst: &'static str,
}

/// Defines the functions: name, number of arguments, whether pure, value at 0, LaTeX and Typst.
macro_rules! functions {
    ($($(#[$note:meta])* $function:ident: $name:literal, $arguments:expr, $is_pure:literal, $at_zero:expr, $latex:expr, $typst:literal;)+) => {
        /// Functions of the language that remain in expressions.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs)]
        pub enum Function {
            $($(#[$note])* $function,)+
        }

        impl Function {
            /// All functions, in order.
            pub const ALL: [Facts; [$($name),+].len()] = [$(Facts {
                function: Function::$function,
                name: $name,
                arguments: $arguments,
                is_pure: $is_pure,
                at_zero: $at_zero,
                latex: $latex,
                typst: $typst,
            }),+];
        }
    };
}

functions! {
    Sin: "sin", Some(1), true, Some(0), [r"\sin\left(", r"\right)"], "sin(";
    Cos: "cos", Some(1), true, Some(1), [r"\cos\left(", r"\right)"], "cos(";
    Tan: "tan", Some(1), true, Some(0), [r"\tan\left(", r"\right)"], "tan(";
    Asin: "asin", Some(1), true, Some(0), [r"\arcsin\left(", r"\right)"], "arcsin(";
    Acos: "acos", Some(1), true, None, [r"\arccos\left(", r"\right)"], "arccos(";
    Atan: "atan", Some(1), true, Some(0), [r"\arctan\left(", r"\right)"], "arctan(";
    Atan2: "atan2", Some(2), false, None, [r"\operatorname{atan2}\left(", r"\right)"], r#"op("atan2")("#;
    Sinh: "sinh", Some(1), true, Some(0), [r"\sinh\left(", r"\right)"], "sinh(";
    Cosh: "cosh", Some(1), true, Some(1), [r"\cosh\left(", r"\right)"], "cosh(";
    Tanh: "tanh", Some(1), true, Some(0), [r"\tanh\left(", r"\right)"], "tanh(";
    Asinh: "asinh", Some(1), true, Some(0), [r"\operatorname{arsinh}\left(", r"\right)"], r#"op("arsinh")("#;
    Exp: "exp", Some(1), true, Some(1), [r"\exp\left(", r"\right)"], "exp(";
    Log: "log", Some(1), true, None, [r"\ln\left(", r"\right)"], "ln(";
    Sqrt: "sqrt", Some(1), false, None, [r"\sqrt{", "}"], "sqrt(";
    Abs: "abs", Some(1), false, None, [r"\left|", r"\right|"], "abs(";
    Sign: "sign", Some(1), false, None, [r"\operatorname{sgn}\left(", r"\right)"], r#"op("sign")("#;
    Min: "min", None, false, None, [r"\min\left(", r"\right)"], "min(";
    Max: "max", None, false, None, [r"\max\left(", r"\right)"], "max(";
    Floor: "floor", Some(1), false, None, [r"\left\lfloor ", r"\right\rfloor "], "floor(";
    /// `step(t0)`: 0 before t0, 1 from then on. The last argument of this function and of the next two is the time, which is not
    /// written in the source.
    Step: "step", Some(1), false, None, [r"\operatorname{step}\left(", r"\right)"], r#"op("step")("#;
    /// `pulse(t0, width)`
    Pulse: "pulse", Some(2), false, None, [r"\operatorname{pulse}\left(", r"\right)"], r#"op("pulse")("#;
    /// `ramp(t0)`: 0 before t0, time - t0 after.
    Ramp: "ramp", Some(1), false, None, [r"\operatorname{ramp}\left(", r"\right)"], r#"op("ramp")("#;
    /// `int(e)` of a measured expression.
    Int: "int", Some(1), false, None, [r"\int\left(", r"\right) dt"], "integral (";
    /// `der(e)` of a measured expression.
    Der: "der", Some(1), false, None, [r"\frac{d}{dt}\left(", r"\right)"], r#"op("der")("#;
}

impl Function {
    /// Returns what is known of the function.
    pub fn facts(self) -> &'static Facts {
        const ALL: &[Facts] = &Function::ALL;
        &ALL[self as usize]
    }

    /// Returns the function with a name in the language.
    pub fn named(name: &str) -> Option<&'static Facts> {
        const ALL: &[Facts] = &Function::ALL;
        ALL.iter().find(|facts| facts.name == name)
    }

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
        self.facts().name
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
