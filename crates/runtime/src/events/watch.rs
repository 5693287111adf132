//! Conditions that end a part of a run: where one of them becomes true is located on the solution between the ends of a step.

use super::super::array::Array;
use super::super::dopri5::Dopri5;
use super::super::loops::zeros;
use super::super::motion::Motion;
use super::super::real::Real;
use super::looks::{first_within, Watched};
use super::moment::{Events, Moment, NOT_ASSUMED};
use super::switching::Switching;
use core::convert::Infallible;

/// A condition acts a little before its margin is 0. An instant that is known exactly, such as that of a sampled block or of an input's
/// step, comes first if it is this near, as a share of the time.
const SAME_INSTANT: f64 = 1e-10;

/// The conditions of a model with what is known of them.
struct Watching<'w, S: Switching> {
    motion: &'w mut Motion<S>,
    solver: Option<&'w Dopri5<S::States>>,
    least: &'w S::Margins,
    holding: &'w mut S::Flags,
    going: &'w mut S::Margins,
    wanted: &'w S::Modes,
}

impl<S: Switching> Watching<'_, S> {
    fn look_at(&mut self, t: S::Real, x: &S::States, margins: &mut S::Margins) {
        if let Ok(found) = self.motion.margins((t, x), None) {
            *margins = found;
        }
        for (margin, least) in margins.entries_mut().zip(self.least.entries()) {
            if margin.abs() <= *least {
                *margin = S::Real::c(0.0);
            }
        }
    }
}

impl<S: Switching> Watched for Watching<'_, S> {
    type Real = S::Real;
    type Margins = S::Margins;
    type Fault = Infallible;

    fn look(&mut self, t: S::Real, margins: &mut S::Margins) -> Result<(), Infallible> {
        let mut x = zeros();
        if let Some(solver) = self.solver {
            solver.dense(t, &mut x);
        }
        self.look_at(t, &x, margins);
        Ok(())
    }

    /// True if a change of modes is to be taken, or the condition of a block has become true.
    fn acts(&self, margins: &S::Margins) -> bool {
        let zero = S::Real::c(0.0);
        let sides = S::Margins::of(|at| {
            if margins[at] == zero {
                self.going[at]
            } else {
                margins[at]
            }
        });
        let combination = self.motion.combination();
        let elements = (0..S::Modes::LENGTH).filter(|element| self.wanted[*element] == NOT_ASSUMED);
        let mut changes = elements.flat_map(|element| S::TABLES.mode(combination, element).changes);
        let mut blocks = S::TABLES.blocks.iter().zip(self.holding.entries());
        changes.any(|change| S::holds(change.condition, &sides))
            || blocks.any(|(block, holding)| !holding && S::holds(block.condition, margins))
    }

    fn take_over(&mut self, margins: &S::Margins) {
        for (holding, block) in self.holding.entries_mut().zip(S::TABLES.blocks) {
            *holding = S::holds(block.condition, margins);
        }
        for (going, margin) in self.going.entries_mut().zip(margins.entries()) {
            if *margin != S::Real::c(0.0) {
                *going = S::Real::c(0.0);
            }
        }
    }
}

impl<S: Switching> Moment<'_, S> {
    /// Begins to watch where the run is; true if a condition acts at once. For modes, a margin that was 0 behind the event counts as it did
    /// there, by where it is going, until it is not 0.
    pub(crate) fn is_at_once(&mut self) -> bool {
        let known = self.events.margins;
        self.events.going = S::Margins::of(|at| match known.values[at].abs() <= known.least[at] {
            true => known.signs[at],
            false => S::Real::c(0.0),
        });
        let mut watching = Watching {
            motion: self.motion,
            solver: None,
            least: &self.events.margins.least,
            holding: &mut self.events.holding,
            going: &mut self.events.going,
            wanted: &self.events.wanted,
        };
        let look = &mut self.events.looks[0];
        look.t = self.t;
        watching.look_at(self.t, self.x, &mut look.margins);
        let acts = watching.acts(&look.margins);
        if !acts {
            watching.take_over(&look.margins);
        }
        self.events.is_due = acts;
        acts
    }
}

/// Looks for the first instant within the last step at which a condition acts; returned is also the time at which it counts.
pub(crate) fn watch<S: Switching>(
    events: &mut Events<S>,
    motion: &mut Motion<S>,
    solver: &Dopri5<S::States>,
    bound: S::Real,
) -> Option<(S::Real, S::Real)> {
    if S::Margins::LENGTH == 0 {
        return None;
    }
    let mut watching = Watching {
        motion,
        solver: Some(solver),
        least: &events.margins.least,
        holding: &mut events.holding,
        going: &mut events.going,
        wanted: &events.wanted,
    };
    let ends = (solver.before, solver.t);
    let Ok(found) = first_within(&mut watching, &mut events.looks, ends, &mut zeros());
    let found = found?;
    events.is_due = true;
    events.looks[0].t = S::Real::c(f64::NAN);
    let is_same = bound > found && bound - found <= S::Real::c(SAME_INSTANT) * bound.abs();
    Some((found, if is_same { bound } else { found }))
}
