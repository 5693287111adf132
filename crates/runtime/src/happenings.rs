//! What happens in a run beside its motion: events, or nothing.

use super::dopri5::Dopri5;
use super::loops::zeros;
use super::motion::Motion;
use super::real::Real;
use super::system::{Fault, System};
use core::convert::Infallible;
use core::fmt::{Debug, Display};

/// What happens in a run beside its motion.
pub trait Happenings<S: System> {
    /// Why an event has no answer.
    type Cause: Copy + Debug + PartialEq + Display;

    /// The start of a run.
    fn begin(&mut self, motion: &mut Motion<S>, t: S::Real, x: &mut S::States) -> Result<(), Fault>;
    /// The next instant at which something happens that is known beforehand, or now if an event is due.
    fn next(&self, now: S::Real) -> S::Real;
    /// All that happens at an instant.
    fn pass(&mut self, motion: &mut Motion<S>, t: S::Real, x: &mut S::States) -> Result<(), Fault>;
    /// The same behind a corner: a step of an input may make conditions true.
    fn corner(&mut self, motion: &mut Motion<S>, t: S::Real, x: &mut S::States) -> Result<(), Fault>;
    /// The first instant within the last step at which an event is due, and the time at which it counts: the bound of the step if that is
    /// the same.
    fn first_within(
        &mut self,
        motion: &mut Motion<S>,
        solver: &Dopri5<S::States>,
        bound: S::Real,
    ) -> Option<(S::Real, S::Real)>;
    /// The states of a row, if they are not those of the run.
    fn row(&mut self, motion: &mut Motion<S>, t: S::Real, x: &S::States) -> Option<S::States>;
    /// Why the last event has no answer.
    fn cause(&self) -> Option<Self::Cause>;
}

/// Nothing happens.
#[derive(Clone, Copy, Debug)]
pub struct Never;

impl<S: System> Happenings<S> for Never {
    type Cause = Infallible;

    fn begin(&mut self, motion: &mut Motion<S>, t: S::Real, x: &mut S::States) -> Result<(), Fault> {
        motion.move_states(t, &zeros(), x, true)
    }

    fn next(&self, _: S::Real) -> S::Real {
        S::Real::c(f64::INFINITY)
    }

    fn pass(&mut self, _: &mut Motion<S>, _: S::Real, _: &mut S::States) -> Result<(), Fault> {
        Ok(())
    }

    fn corner(&mut self, _: &mut Motion<S>, _: S::Real, _: &mut S::States) -> Result<(), Fault> {
        Ok(())
    }

    fn first_within(&mut self, _: &mut Motion<S>, _: &Dopri5<S::States>, _: S::Real) -> Option<(S::Real, S::Real)> {
        None
    }

    fn row(&mut self, _: &mut Motion<S>, _: S::Real, _: &S::States) -> Option<S::States> {
        None
    }

    fn cause(&self) -> Option<Infallible> {
        None
    }
}
