//! Operations on doubles. Every evaluator matches these functions, down to the sign of a zero: `evaluate_f64`, kernels (interpreted or as
//! machine code), and forward differentiation.

use crate::expr::{Function, Relation};

/// Returns -1, 0 or 1; NaN for NaN.
#[inline]
pub fn sign(a: f64) -> f64 {
    if a == 0.0 || a.is_nan() { a.abs() } else { a.signum() }
}

/// Returns the smaller value; NaN if either is NaN, so that an error is not hidden; -0 is below 0 (`minimum` of IEEE 754-2019, 9.6).
#[inline]
pub fn minimum(a: f64, b: f64) -> f64 {
    if a < b {
        a
    } else if b < a {
        b
    } else if a == b {
        if a.is_sign_negative() { a } else { b }
    } else {
        f64::NAN
    }
}

/// Returns the greater value; NaN if either is NaN; 0 is above -0 (`maximum` of IEEE 754-2019, 9.6).
#[inline]
pub fn maximum(a: f64, b: f64) -> f64 {
    -minimum(-a, -b)
}

/// Computes `a^b`, by multiplication if b is an integer with a magnitude below 1024.
#[inline]
pub fn power(a: f64, b: f64) -> f64 {
    if b == b.trunc() && b.abs() < 1024.0 {
        a.powi(b as i32)
    } else {
        a.powf(b)
    }
}

/// Returns true if a relation holds. Conditions are numbers too: every value except 0 is true.
#[inline]
pub fn holds(relation: Relation, a: f64, b: f64) -> bool {
    match relation {
        Relation::Less => a < b,
        Relation::LessEqual => a <= b,
        Relation::Greater => a > b,
        Relation::GreaterEqual => a >= b,
        Relation::Equal => a == b,
        Relation::NotEqual => a != b,
        Relation::And => a != 0.0 && b != 0.0,
        Relation::Or => a != 0.0 || b != 0.0,
    }
}

/// Computes the value of a function. NaN outside its domain, for too few arguments, and for `int` and `der`, which have no value in
/// themselves.
pub fn call(function: Function, arguments: &[f64]) -> f64 {
    let first = arguments.first().copied().unwrap_or(f64::NAN);
    let second = arguments.get(1).copied().unwrap_or(f64::NAN);
    // Functions of time.
    let time = arguments.last().copied().unwrap_or(f64::NAN);
    match function {
        Function::Sin => first.sin(),
        Function::Cos => first.cos(),
        Function::Tan => first.tan(),
        Function::Asin => first.asin(),
        Function::Acos => first.acos(),
        Function::Atan => first.atan(),
        Function::Atan2 => first.atan2(second),
        Function::Sinh => first.sinh(),
        Function::Cosh => first.cosh(),
        Function::Tanh => first.tanh(),
        Function::Asinh => first.asinh(),
        Function::Exp => first.exp(),
        Function::Log => first.ln(),
        Function::Sqrt => first.sqrt(),
        Function::Abs => first.abs(),
        Function::Sign => sign(first),
        Function::Min => arguments.iter().copied().reduce(minimum).unwrap_or(f64::NAN),
        Function::Max => arguments.iter().copied().reduce(maximum).unwrap_or(f64::NAN),
        Function::Floor => first.floor(),
        Function::Step => f64::from(time >= first),
        Function::Pulse => f64::from(time >= first && time < first + second),
        Function::Ramp => maximum(time - first, 0.0),
        Function::Int | Function::Der => f64::NAN,
    }
}
