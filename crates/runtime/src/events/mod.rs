//! Events: modes of elements, sampled blocks and `when` blocks.
//!
//! In each part of a run between events, one combination of modes with its own equations is in force. All combinations
//! have the same array of states. A variable that is not a state in a combination is constant there. A part ends when a
//! condition becomes true (`watch`), or at an instant of an `every` block. At an event, blocks assign values (`blocks`)
//! and modes change, until nothing follows (`search`, `modes`, `enter`, `lemke`).
//!
//! If a mode sets a variable of a port, an input is added to this variable. This input, the offset, is the difference
//! between the variable just before a change and the value given by the law. At the change it steps to 0. A change of
//! modes therefore moves states in the same way as an input step, and conserves momentum, charge and flux linkage.

pub mod blocks;
pub mod cause;
pub mod complementarity;
pub mod enter;
pub mod instants;
pub mod lemke;
pub mod looks;
pub mod modes;
pub mod moment;
pub mod search;
pub mod switching;
pub mod tables;
pub mod watch;

use super::dopri5::Dopri5;
use super::model::Model;
use super::motion::Motion;
use super::run::{Plan, Run, RunEvents};
use super::system::Fault;
use cause::{EventCause, Happening};
use moment::{Events, Moment};
use switching::Switching;

/// The events of an instant.
#[derive(Clone, Copy, Debug)]
pub struct Report<'a, T> {
    /// The time.
    pub t: T,
    /// The events, in order.
    pub happened: &'a [Happening],
    /// The number of additional events.
    pub further: usize,
}

/// Events, and the function that receives their reports.
pub struct Reported<S: Switching, F> {
    events: Events<S>,
    report: F,
}

impl<S: Switching, F: FnMut(Report<'_, S::Real>)> Reported<S, F> {
    fn at<'r>(&'r mut self, motion: &'r mut Motion<S>, t: S::Real, x: &'r mut S::States) -> Moment<'r, S> {
        let events = &mut self.events;
        Moment { events, motion, t, x }
    }

    /// Reports the events, even if the last one has no solution.
    fn report(&mut self, t: S::Real, done: Result<(), Fault>) -> Result<(), Fault> {
        let events = &self.events;
        let happened = events.happened.as_ref();
        let count = happened.len().min(events.happenings);
        if count > 0 {
            (self.report)(Report {
                t,
                happened: &happened[..count],
                further: events.happenings - count,
            });
        }
        done
    }
}

impl<S: Switching, F: FnMut(Report<'_, S::Real>)> RunEvents<S> for Reported<S, F> {
    type Cause = EventCause;

    fn begin(&mut self, motion: &mut Motion<S>, t: S::Real, x: &mut S::States) -> Result<(), Fault> {
        let done = self.at(motion, t, x).begin();
        self.report(t, done)
    }

    fn next(&self, now: S::Real) -> S::Real {
        if self.events.is_due {
            now
        } else {
            self.events.instant
        }
    }

    fn pass(&mut self, motion: &mut Motion<S>, t: S::Real, x: &mut S::States) -> Result<(), Fault> {
        let done = self.at(motion, t, x).pass();
        self.report(t, done)
    }

    fn arrive(&mut self, motion: &mut Motion<S>, t: S::Real, x: &mut S::States) -> Result<(), Fault> {
        self.at(motion, t, x).arrive()
    }

    fn corner(
        &mut self,
        motion: &mut Motion<S>,
        t: S::Real,
        before: Option<&S::Inputs>,
        x: &mut S::States,
    ) -> Result<(), Fault> {
        let done = self.at(motion, t, x).corner(before);
        self.report(t, done)
    }

    fn first_within(
        &mut self,
        motion: &mut Motion<S>,
        solver: &Dopri5<S::States>,
        bound: S::Real,
    ) -> Option<(S::Real, S::Real)> {
        watch::watch(&mut self.events, motion, solver, bound)
    }

    fn row(&mut self, motion: &mut Motion<S>, t: S::Real, x: &S::States) -> Option<S::States> {
        self.at(motion, t, &mut { *x }).row()
    }

    fn cause(&self) -> Option<EventCause> {
        let tables = S::TABLES;
        self.events.reason.map(|reason| EventCause { reason, tables })
    }
}

impl<S, R, F> Run<S, R, Reported<S, F>>
where
    S: Switching,
    R: FnMut(S::Real, &S::Outputs, &S::States),
    F: FnMut(Report<'_, S::Real>),
{
    /// Prepares a run with events. `rows` receives the time, the outputs and the states of each row, and `report` the events of an
    /// instant.
    pub fn with_events(model: Model<S>, plan: Plan<S::Real>, rows: R, report: F) -> Run<S, R, Reported<S, F>> {
        let events = Events::new();
        Run::with(model, plan, rows, Reported { events, report })
    }
}

impl<S: Switching> Model<S> {
    /// Returns the combination of modes in force, as an index into the combinations of [`Switching::TABLES`].
    pub fn combination(&self) -> usize {
        self.system.held().combination
    }

    /// Switches to the equations of another combination; returns false, without a change, if it has none.
    pub fn set_combination(&mut self, combination: usize) -> bool {
        let row = S::TABLES.combinations.get(combination);
        let has_equations = row.is_some_and(|row| row.conflict.is_none());
        if has_equations {
            self.system.held_mut().combination = combination;
        }
        has_equations
    }
}
