//! The operations of a kernel on doubles. Every evaluator, and every emitter, must match `apply`.

use lgm_algebra::expr::{Function, doubles};

/// The source of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Space {
    /// The time; its only index is 0.
    Time,
    /// Entries of parameters in declaration order.
    Parameters,
    /// States.
    States,
    /// Inputs.
    Inputs,
    /// Time derivatives of the inputs.
    Rates,
    /// Unknowns of all algebraic loops in order.
    Unknowns,
    /// The program's own table of numbers.
    Numbers,
    /// The program's working memory.
    Temporaries,
}

/// An operation on one double.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Unary {
    Negate,
    Absolute,
    /// -1, 0 or 1.
    Sign,
    Floor,
    SquareRoot,
    /// 1 if the operand is 0, otherwise 0.
    Not,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Tanh,
    Asinh,
    Exp,
    /// `exp(a) - 1` without cancellation near 0.
    ExpMinusOne,
    Log,
}

impl Unary {
    /// Returns the operation that computes a function; `None` if a function has several arguments or no value.
    pub fn of(function: Function) -> Option<Unary> {
        Some(match function {
            Function::Sin => Unary::Sin,
            Function::Cos => Unary::Cos,
            Function::Tan => Unary::Tan,
            Function::Asin => Unary::Asin,
            Function::Acos => Unary::Acos,
            Function::Atan => Unary::Atan,
            Function::Sinh => Unary::Sinh,
            Function::Cosh => Unary::Cosh,
            Function::Tanh => Unary::Tanh,
            Function::Asinh => Unary::Asinh,
            Function::Exp => Unary::Exp,
            Function::Log => Unary::Log,
            Function::Sqrt => Unary::SquareRoot,
            Function::Abs => Unary::Absolute,
            Function::Sign => Unary::Sign,
            Function::Floor => Unary::Floor,
            Function::Atan2
            | Function::Min
            | Function::Max
            | Function::Step
            | Function::Pulse
            | Function::Ramp
            | Function::Int
            | Function::Der => return None,
        })
    }
}

/// An operation on two doubles. Relations and logic are 1 for true and 0 for false.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    /// NaN if either operand is NaN; -0 is below 0.
    Minimum,
    /// NaN if either operand is NaN; 0 is above -0.
    Maximum,
    Less,
    LessEqual,
    Equal,
    NotEqual,
    And,
    Or,
    Atan2,
    /// By multiplication if the exponent is an integer with a magnitude below 1024.
    Power,
}

impl Space {
    /// All spaces in the order of their codes.
    pub const ALL: [Space; 8] = [
        Space::Time,
        Space::Parameters,
        Space::States,
        Space::Inputs,
        Space::Rates,
        Space::Unknowns,
        Space::Numbers,
        Space::Temporaries,
    ];
}

impl Unary {
    /// All operations, in order.
    pub const ALL: [Unary; 19] = [
        Unary::Negate,
        Unary::Absolute,
        Unary::Sign,
        Unary::Floor,
        Unary::SquareRoot,
        Unary::Not,
        Unary::Sin,
        Unary::Cos,
        Unary::Tan,
        Unary::Asin,
        Unary::Acos,
        Unary::Atan,
        Unary::Sinh,
        Unary::Cosh,
        Unary::Tanh,
        Unary::Asinh,
        Unary::Exp,
        Unary::ExpMinusOne,
        Unary::Log,
    ];

    /// Returns the value of the operation.
    #[inline]
    pub fn apply(self, a: f64) -> f64 {
        match self {
            Unary::Negate => -a,
            Unary::Absolute => a.abs(),
            Unary::Sign => doubles::sign(a),
            Unary::Floor => a.floor(),
            Unary::SquareRoot => a.sqrt(),
            Unary::Not => f64::from(a == 0.0),
            Unary::Sin => a.sin(),
            Unary::Cos => a.cos(),
            Unary::Tan => a.tan(),
            Unary::Asin => a.asin(),
            Unary::Acos => a.acos(),
            Unary::Atan => a.atan(),
            Unary::Sinh => a.sinh(),
            Unary::Cosh => a.cosh(),
            Unary::Tanh => a.tanh(),
            Unary::Asinh => a.asinh(),
            Unary::Exp => a.exp(),
            Unary::ExpMinusOne => a.exp_m1(),
            Unary::Log => a.ln(),
        }
    }

    /// Returns true if the operation calls a mathematics library.
    pub fn is_library_function(self) -> bool {
        !matches!(
            self,
            Unary::Negate | Unary::Absolute | Unary::Sign | Unary::Floor | Unary::SquareRoot | Unary::Not
        )
    }
}

impl Binary {
    /// All operations, in order.
    pub const ALL: [Binary; 14] = [
        Binary::Add,
        Binary::Subtract,
        Binary::Multiply,
        Binary::Divide,
        Binary::Minimum,
        Binary::Maximum,
        Binary::Less,
        Binary::LessEqual,
        Binary::Equal,
        Binary::NotEqual,
        Binary::And,
        Binary::Or,
        Binary::Atan2,
        Binary::Power,
    ];

    /// Returns the value of the operation.
    #[inline]
    pub fn apply(self, a: f64, b: f64) -> f64 {
        match self {
            Binary::Add => a + b,
            Binary::Subtract => a - b,
            Binary::Multiply => a * b,
            Binary::Divide => a / b,
            Binary::Minimum => doubles::minimum(a, b),
            Binary::Maximum => doubles::maximum(a, b),
            Binary::Less => f64::from(a < b),
            Binary::LessEqual => f64::from(a <= b),
            Binary::Equal => f64::from(a == b),
            Binary::NotEqual => f64::from(a != b),
            Binary::And => f64::from(a != 0.0 && b != 0.0),
            Binary::Or => f64::from(a != 0.0 || b != 0.0),
            Binary::Atan2 => a.atan2(b),
            Binary::Power => doubles::power(a, b),
        }
    }

    /// Returns true if the operation calls a mathematics library.
    pub fn is_library_function(self) -> bool {
        matches!(self, Binary::Atan2 | Binary::Power)
    }
}
