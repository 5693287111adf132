//! Causes of an early end of a run, in a sentence each.

use super::jump::Lost;
use super::real::Real;
use core::convert::Infallible;
use core::fmt::{Display, Formatter, Result};

/// The cause of an early end of a run, and the variable at fault.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cause<T, E = Infallible> {
    /// The algebraic loops of these elements have no solution that was found.
    LoopNotSolved(&'static str),
    /// Starts that depend on each other contradict.
    StartsDisagree,
    /// A condition changes without an end.
    Chatter,
    /// The rate of a state is not finite.
    Rate(&'static str),
    /// An output is not finite.
    Output(&'static str),
    /// No step is small enough; this state changes fastest.
    NoStep(&'static str),
    /// Something else is not finite.
    NotFinite,
    /// The states after a step of an input are not known; the name is that of the state at fault.
    Jump(Lost<T>, &'static str),
    /// An event has no answer.
    Event(E),
}

impl<T: Real, E: Display> Display for Cause<T, E> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Cause::LoopNotSolved(elements) => write!(
                f,
                "the algebraic loop of {elements} has no solution that Newton's iteration finds"
            ),
            Cause::StartsDisagree => f.write_str("the starts of storage elements that depend on each other contradict"),
            Cause::Chatter => f.write_str("a condition changes again and again within no time"),
            Cause::Rate(state) => write!(f, "the rate of `{state}` is not finite"),
            Cause::Output(output) => write!(f, "the output `{output}` is not finite"),
            Cause::NoStep(state) => write!(
                f,
                "no step is small enough, or the next one leaves the domain of the equations; `{state}` changes fastest"
            ),
            Cause::NotFinite => f.write_str("a value is not finite"),
            Cause::Jump(Lost::Endless(_), state) => {
                write!(
                    f,
                    "an input steps, and there is no bound of what that adds to `{state}`"
                )
            }
            Cause::Jump(Lost::Open(_, one, other), state) => write!(
                f,
                "inputs step at once, and `{state}` is {} or {} afterwards: that depends on which of them is ahead",
                one.to_f64(),
                other.to_f64()
            ),
            Cause::Jump(Lost::NoWay, _) => f.write_str(
                "an input steps, and the states after that were not found: the laws have no solution on the way there",
            ),
            Cause::Event(cause) => cause.fmt(f),
        }
    }
}
