//! Conditions that end a part of a run: the instant at which one of them becomes true is located on the solution within a step.

use super::super::array::Array;
use super::super::dopri5::Dopri5;
use super::super::loops::zeros;
use super::super::motion::Motion;
use super::super::real::Real;
use super::looks::{about_zero, first_within, is_at_rest, Watched};
use super::moment::{Events, Moment};
use super::switching::Switching;
use core::convert::Infallible;

/// The distance within which instants coincide, as a fraction of the time. A condition acts slightly before its margin is 0. An instant
/// known exactly, such as that of a sampled block or of an input step, therefore replaces it within this distance.
pub const SAME_INSTANT: f64 = 1e-10;

/// Returns true if the condition of a block holds, or has held and is not left yet. A margin within its round-off keeps its sign.
pub(crate) fn keeps<S: Switching>(condition: usize, held: bool, margins: &S::Margins, sides: &S::Margins) -> bool {
    let on_side = |at: usize| {
        if margins[at] == S::Real::c(0.0) {
            sides[at]
        } else {
            margins[at]
        }
    };
    S::holds(condition, margins) || (held && S::holds(condition, &S::Margins::of(on_side)))
}

/// Stores the signs of margins that are nonzero, or rest at 0 since the sample before.
pub(crate) fn remember<S: Switching>(sides: &mut S::Margins, margins: &S::Margins, before: Option<&S::Margins>) {
    for (at, (side, margin)) in sides.entries_mut().zip(margins.entries()).enumerate() {
        let rests = before.is_some_and(|before| is_at_rest(before[at], *margin));
        if *margin != S::Real::c(0.0) || rests {
            *side = *margin;
        }
    }
}

/// The conditions of a model, with their known signs.
struct Watching<'w, S: Switching> {
    motion: &'w mut Motion<S>,
    solver: Option<&'w Dopri5<S::States>>,
    least: &'w S::Margins,
    holding: &'w mut S::Flags,
    going: &'w mut S::Margins,
    sides: &'w mut S::Margins,
}

impl<S: Switching> Watching<'_, S> {
    fn look_at(&mut self, t: S::Real, x: &S::States, margins: &mut S::Margins) {
        if let Ok(found) = self.motion.margins((t, x), None) {
            *margins = found;
        }
        for (margin, least) in margins.entries_mut().zip(self.least.entries()) {
            if margin.abs() <= *least {
                *margin = about_zero(*margin);
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

    fn conditions(&self) -> usize {
        S::Margins::LENGTH - S::TABLES.turns - S::TABLES.phases
    }

    fn phases(&self) -> usize {
        S::TABLES.phases
    }

    /// Returns true if a change of modes is due, or if the condition of a block has become true.
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
        let elements = 0..S::Modes::LENGTH;
        let mut changes = elements.flat_map(|element| S::TABLES.mode(combination, element).changes);
        let mut blocks = S::TABLES.blocks.iter().zip(self.holding.entries());
        changes.any(|change| S::holds(change.condition, &sides))
            || blocks.any(|(block, holding)| !holding && S::holds(block.condition, margins))
    }

    fn take_over(&mut self, margins: &S::Margins, before: Option<&S::Margins>) {
        remember::<S>(self.sides, margins, before);
        for (holding, block) in self.holding.entries_mut().zip(S::TABLES.blocks) {
            *holding = keeps::<S>(block.condition, *holding, margins, self.sides);
        }
        for (going, margin) in self.going.entries_mut().zip(margins.entries()) {
            if *margin != S::Real::c(0.0) {
                *going = S::Real::c(0.0);
            }
        }
    }
}

impl<S: Switching> Moment<'_, S> {
    /// Begins to watch at the current point; returns true if a condition acts immediately. For modes, a margin that was 0 after the event
    /// keeps the sign of its direction there until it is nonzero; for blocks, only a margin that depends on time alone does.
    pub(crate) fn is_at_once(&mut self) -> bool {
        let known = self.events.margins;
        self.events.going = S::Margins::of(|at| match known.values[at].abs() <= known.least[at] {
            true => known.signs[at],
            false => S::Real::c(0.0),
        });
        let timed = self.in_force().timed;
        let mut watching = Watching {
            motion: self.motion,
            solver: None,
            least: &self.events.margins.least,
            holding: &mut self.events.holding,
            going: &mut self.events.going,
            sides: &mut self.events.sides,
        };
        let look = &mut self.events.looks[0];
        look.t = self.t;
        watching.look_at(self.t, self.x, &mut look.margins);
        for (at, margin) in look.margins.entries_mut().enumerate() {
            if timed[at] && *margin == S::Real::c(0.0) {
                *margin = watching.going[at];
            }
        }
        let acts = watching.acts(&look.margins);
        if !acts {
            watching.take_over(&look.margins, None);
        }
        self.events.is_due = acts;
        acts
    }
}

/// Returns the first instant within the last step at which a condition acts, and the time that it is assigned.
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
        sides: &mut events.sides,
    };
    let ends = (solver.before, solver.t);
    let Ok(found) = first_within(&mut watching, &mut events.looks, ends, &mut zeros());
    let found = found?;
    events.is_due = true;
    events.looks[0].t = S::Real::c(f64::NAN);
    let is_same = bound > found && bound - found <= S::Real::c(SAME_INSTANT) * bound.abs();
    Some((found, if is_same { bound } else { found }))
}
