//! The arguments of kernels.

/// The arguments of every kernel; parts that a kernel does not read may be empty.
#[derive(Clone, Copy, Debug, Default)]
pub struct Arguments<'a> {
    /// The time in seconds. At the instant of a step, its new value applies.
    pub time: f64,
    /// Every entry of every parameter in declaration order, including derived ones (see [`crate::Kernels::parameters`]).
    pub parameters: &'a [f64],
    /// States in order.
    pub states: &'a [f64],
    /// Inputs in order.
    pub inputs: &'a [f64],
    /// Time derivatives of the inputs.
    pub rates: &'a [f64],
    /// Unknowns of all algebraic loops, in order.
    pub unknowns: &'a [f64],
}
