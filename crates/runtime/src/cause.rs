//! Causes of an early end of a run, each with a message.

use super::jump::Lost;
use super::real::Real;
use core::convert::Infallible;
use core::fmt::{Display, Formatter, Result};

/// The cause of an early end of a run, and the variable at fault.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cause<T, E = Infallible> {
    /// No solution was found for the algebraic loops of these elements.
    LoopNotSolved(&'static str),
    /// The initial values of interdependent storage are contradictory.
    StartsDisagree,
    /// A condition changes endlessly.
    Chatter,
    /// The rate of a state is not finite.
    Rate(&'static str),
    /// An output is not finite.
    Output(&'static str),
    /// The step size became too small; this state changes fastest.
    NoStep(&'static str),
    /// Something else is not finite.
    NotFinite,
    /// The states after a step of an input cannot be determined; the name is that of the state at fault.
    Jump(Lost<T>, &'static str),
    /// An event has no solution.
    Event(E),
}

impl<T: Real, E: Display> Display for Cause<T, E> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Cause::LoopNotSolved(elements) => write!(
                f,
                "Newton's method finds no solution for the algebraic loop of {elements}"
            ),
            Cause::StartsDisagree => f.write_str("initial values of dependent storage elements contradict each other"),
            Cause::Chatter => f.write_str("a condition keeps changing at one instant"),
            Cause::Rate(state) => write!(f, "the rate of `{state}` is not finite"),
            Cause::Output(output) => write!(f, "the output `{output}` is not finite"),
            Cause::NoStep(state) => write!(
                f,
                "no step is small enough, or the next one leaves the domain of the equations; `{state}` changes fastest"
            ),
            Cause::NotFinite => f.write_str("a value is not finite"),
            Cause::Jump(Lost::Endless(_), state) => {
                write!(f, "an input steps, and the resulting change of `{state}` is unbounded")
            }
            Cause::Jump(Lost::Open(_, one, other), state) => write!(
                f,
                "inputs step simultaneously, and `{state}` becomes {} or {}, depending on which is first",
                one.to_f64(),
                other.to_f64()
            ),
            Cause::Jump(Lost::NoWay, _) => f.write_str(
                "an input steps, and the states after the step were not found: the laws have no solution on the way",
            ),
            Cause::Event(cause) => cause.fmt(f),
        }
    }
}
