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

/// Defines operations: the name of each, the function of the language that it computes, and its value.
macro_rules! operations {
    (
        $(#[$about:meta])* $kind:ident($($operand:ident),+):
        $($(#[$note:meta])* $name:ident $(= $function:ident)? => $value:expr,)+
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs)]
        pub enum $kind {
            $($(#[$note])* $name,)+
        }

        impl $kind {
            /// All operations, in order.
            pub const ALL: [$kind; [$(stringify!($name)),+].len()] = [$($kind::$name),+];

            /// Returns the operation that computes a function of this number of arguments; `None` if there is none.
            pub fn of(function: Function) -> Option<$kind> {
                match function {
                    $($(Function::$function => Some($kind::$name),)?)+
                    _ => None,
                }
            }

            /// Returns the function of the language that the operation computes; `None` if there is none.
            pub fn function(self) -> Option<Function> {
                match self {
                    $($($kind::$name => Some(Function::$function),)?)+
                    _ => None,
                }
            }

            /// Returns the value of the operation.
            #[inline]
            pub fn apply(self, $($operand: f64),+) -> f64 {
                match self {
                    $($kind::$name => $value,)+
                }
            }
        }
    };
}

operations! {
    /// An operation on one double.
    Unary(a):
    Negate => -a,
    Absolute = Abs => a.abs(),
    /// -1, 0 or 1.
    Sign = Sign => doubles::sign(a),
    Floor = Floor => a.floor(),
    SquareRoot = Sqrt => a.sqrt(),
    /// 1 if the operand is 0, otherwise 0.
    Not => f64::from(a == 0.0),
    Sin = Sin => a.sin(),
    Cos = Cos => a.cos(),
    Tan = Tan => a.tan(),
    Asin = Asin => a.asin(),
    Acos = Acos => a.acos(),
    Atan = Atan => a.atan(),
    Sinh = Sinh => a.sinh(),
    Cosh = Cosh => a.cosh(),
    Tanh = Tanh => a.tanh(),
    Asinh = Asinh => a.asinh(),
    Exp = Exp => a.exp(),
    /// `exp(a) - 1` without cancellation near 0.
    ExpMinusOne => a.exp_m1(),
    Log = Log => a.ln(),
}

operations! {
    /// An operation on two doubles. Relations and logic are 1 for true and 0 for false.
    Binary(a, b):
    Add => a + b,
    Subtract => a - b,
    Multiply => a * b,
    Divide => a / b,
    /// NaN if either operand is NaN; -0 is below 0.
    Minimum = Min => doubles::minimum(a, b),
    /// NaN if either operand is NaN; 0 is above -0.
    Maximum = Max => doubles::maximum(a, b),
    Less => f64::from(a < b),
    LessEqual => f64::from(a <= b),
    Equal => f64::from(a == b),
    NotEqual => f64::from(a != b),
    And => f64::from(a != 0.0 && b != 0.0),
    Or => f64::from(a != 0.0 || b != 0.0),
    Atan2 = Atan2 => a.atan2(b),
    /// By multiplication if the exponent is an integer with a magnitude below 1024.
    Power => doubles::power(a, b),
}

impl Unary {
    /// Returns true if the operation calls a mathematics library.
    pub fn is_library_function(self) -> bool {
        !matches!(
            self,
            Unary::Negate | Unary::Absolute | Unary::Sign | Unary::Floor | Unary::SquareRoot | Unary::Not
        )
    }
}

impl Binary {
    /// Returns true if the operation calls a mathematics library.
    pub fn is_library_function(self) -> bool {
        matches!(self, Binary::Atan2 | Binary::Power)
    }
}
