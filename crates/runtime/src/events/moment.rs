//! A run at an event: the data known there, and the functions that evaluate the model.

use super::super::array::Array;
use super::super::branch::Point;
use super::super::loops::zeros;
use super::super::motion::Motion;
use super::super::real::Real;
use super::super::system::{At, Fault, System};
use super::cause::{Happening, Reason, MOST_AT_ONCE};
use super::looks::{Look, LOOKS};
use super::switching::Switching;
use super::tables::{Combination, Known};

/// The state of a run just before an instant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Before<S: Switching> {
    /// The combination of modes in which the search begins, and that at the beginning of the instant.
    pub(crate) combination: usize,
    pub(crate) began: usize,
    /// The values of states, including those dependent in this combination.
    pub(crate) x: S::States,
    pub(crate) is_known: S::Knowns,
    /// Effort and flow of the ports of elements with modes; unknown at the start of a run.
    pub(crate) ports: Option<S::Powers>,
    /// The difference between a port's variable and the value given by the law.
    pub(crate) offsets: S::Ports,
    /// The discrete variables before the instant, and after the assignments.
    pub(crate) old_discretes: S::Discretes,
    pub(crate) discretes: S::Discretes,
    /// The inputs just before, if they step at this instant; at the start all are 0.
    pub(crate) inputs: Option<S::Inputs>,
    /// True for each state that a block has set.
    pub(crate) is_set: S::Knowns,
}

/// The contacts of an instant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Contacts<S: Switching> {
    /// The state of the run before the first contact closed.
    pub(crate) base: Option<Before<S>>,
    /// The watched values just before the instant, and the combination there.
    pub(crate) offered: Option<(S::Watched, usize)>,
    /// The last and the first change by which each element has closed.
    pub(crate) closed: S::Acting,
    pub(crate) first_closed: S::Acting,
    /// The set values.
    pub(crate) set_values: S::Sets,
}

/// Margins of conditions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Margins<S: Switching> {
    /// The margins, the magnitude below which each of them counts as 0, and their signs. Impulses determine the sign first; zero margins
    /// have the sign of their direction.
    pub(crate) values: S::Margins,
    pub(crate) least: S::Margins,
    pub(crate) signs: S::Margins,
    /// The largest magnitude of the terms of each margin, and its largest impulse.
    pub(crate) sizes: S::Margins,
    pub(crate) impulses: S::Margins,
    /// The impulses of the change to the combination in force.
    pub(crate) entered: S::Margins,
}

/// The events of a run, with their memory.
#[derive(Clone, Debug)]
pub struct Events<S: Switching> {
    /// The data after the last event: watched values, offsets, margins.
    pub(crate) watched: S::Watched,
    pub(crate) offsets: S::Ports,
    pub(crate) margins: Margins<S>,
    /// The directions of margins that were 0 after the last event and are still 0.
    pub(crate) going: S::Margins,
    /// The last nonzero margins: the condition of a block keeps the side given by them.
    pub(crate) sides: S::Margins,
    pub(crate) from: Before<S>,
    pub(crate) contacts: Contacts<S>,
    /// The combinations that were tried.
    pub(crate) visited: S::Visited,
    /// For each block: if its condition holds, if it runs next, and the number of its next instant.
    pub(crate) holding: S::Flags,
    pub(crate) is_run: S::Flags,
    pub(crate) next: S::Numbers,
    pub(crate) temporaries: S::Temporaries,
    /// The first of these instants, and the times of the last events.
    pub(crate) instant: S::Real,
    pub(crate) recent: [S::Real; MOST_AT_ONCE],
    pub(crate) count: usize,
    /// True if an event is due at the current point.
    pub(crate) is_due: bool,
    /// The sampled margins of the last step.
    pub(crate) looks: [Look<S::Real, S::Margins>; LOOKS + 1],
    /// The events of this instant, and their number.
    pub(crate) happened: S::Happened,
    pub(crate) happenings: usize,
    /// The reason why the last event has no solution.
    pub(crate) reason: Option<Reason>,
}

impl<S: Switching> Events<S> {
    /// Creates the memory of a run.
    pub(crate) fn new() -> Events<S> {
        const {
            assert!(
                S::Real::EPSILON < 1e-12,
                "single precision cannot determine the active modes"
            )
        }
        let zero = S::Real::c(0.0);
        let none = zeros::<S::Margins>();
        let never = Look {
            t: S::Real::c(f64::NAN),
            margins: none,
        };
        Events {
            watched: zeros(),
            offsets: zeros(),
            margins: Margins {
                values: none,
                least: none,
                signs: none,
                sizes: none,
                impulses: none,
                entered: none,
            },
            going: none,
            sides: none,
            from: Before {
                combination: S::TABLES.first,
                began: S::TABLES.first,
                x: zeros(),
                is_known: S::Knowns::filled(false),
                ports: None,
                offsets: zeros(),
                old_discretes: zeros(),
                discretes: zeros(),
                inputs: None,
                is_set: S::Knowns::filled(false),
            },
            contacts: Contacts {
                base: None,
                offered: None,
                closed: S::Acting::filled(None),
                first_closed: S::Acting::filled(None),
                set_values: zeros(),
            },
            visited: S::Visited::filled(false),
            holding: S::Flags::filled(false),
            is_run: S::Flags::filled(false),
            next: zeros(),
            temporaries: zeros(),
            instant: S::Real::c(f64::INFINITY),
            recent: [zero; MOST_AT_ONCE],
            count: 0,
            is_due: false,
            looks: [never; LOOKS + 1],
            happened: S::Happened::filled(Happening::Block(0)),
            happenings: 0,
            reason: None,
        }
    }

    /// Returns the latest recorded event, of this instant or of an earlier one.
    pub(crate) fn latest(&self) -> Happening {
        self.happened[self.happenings.clamp(1, S::Happened::LENGTH) - 1]
    }

    /// Records an event of this instant.
    pub(crate) fn note(&mut self, happening: Happening) {
        if self.happenings < S::Happened::LENGTH {
            self.happened[self.happenings] = happening;
        }
        self.happenings += 1;
    }
}

impl<S: Switching> Motion<S> {
    /// Returns the combination of modes in force.
    pub(crate) fn combination(&self) -> usize {
        self.model.system.held().combination
    }

    /// Returns the inputs at a time.
    pub(crate) fn inputs(&mut self, t: S::Real) -> S::Inputs {
        self.point(t, zeros()).u
    }

    /// Returns the held values of discrete variables.
    pub(crate) fn discretes(&self) -> S::Discretes {
        let held = self.model.system.held().values;
        S::Discretes::of(|at| held.map_or(S::Real::c(0.0), |held| held[at]))
    }

    /// Sets the held values of all discrete variables and offsets.
    pub(crate) fn hold(&mut self, discretes: &S::Discretes, offsets: &S::Ports) {
        self.model.system.held_mut().values = Some(S::Held::of(|at| {
            if at < S::Discretes::LENGTH {
                discretes[at]
            } else {
                offsets[at - S::Discretes::LENGTH]
            }
        }));
    }

    /// Computes the right-hand sides at a time, with the solution of the loops nearest to that of the current point.
    pub(crate) fn rates(&mut self, t: S::Real, x: &S::States) -> Option<S::States> {
        self.branch.recall(&mut self.model, false);
        let mut rates = zeros();
        self.rates_at(t, x, &mut rates).ok().map(|_| rates)
    }

    /// Computes the states two steps of length `ahead` later; none if the right-hand side has no value.
    pub(crate) fn two_steps(&mut self, t: S::Real, x: &S::States, ahead: S::Real) -> Option<S::States> {
        let rates = self.rates(t, x)?;
        let middle = S::States::of(|at| x[at] + ahead * rates[at]);
        let rates = self.rates(t + ahead, &middle)?;
        Some(S::States::of(|at| middle[at] + ahead * rates[at]))
    }

    /// Evaluates a function of the model at a time, with these rates of the inputs or, without any, their own.
    fn evaluate<A: Array<Item = S::Real>>(
        &mut self,
        (t, x): (S::Real, &S::States),
        du: Option<&S::Inputs>,
        function: impl FnOnce(&mut S, At<'_, S>, &S::Unknowns, &mut A),
    ) -> Result<A, Fault> {
        let here = self.point(t, *x);
        self.evaluate_at(&here, x, du, function)
    }

    fn evaluate_at<A: Array<Item = S::Real>>(
        &mut self,
        here: &Point<S>,
        x: &S::States,
        du: Option<&S::Inputs>,
        function: impl FnOnce(&mut S, At<'_, S>, &S::Unknowns, &mut A),
    ) -> Result<A, Fault> {
        self.branch.recall(&mut self.model, false);
        let own = At {
            t: here.t,
            x,
            u: &here.u,
            du: &here.du,
        };
        self.model.loops.solve(&mut self.model.system, own)?;
        let mut values = zeros();
        let at = At {
            du: du.unwrap_or(&here.du),
            ..own
        };
        function(&mut self.model.system, at, &self.model.loops.w, &mut values);
        Ok(values)
    }

    /// Computes the margins in the combination in force.
    pub(crate) fn margins(&mut self, at: (S::Real, &S::States), du: Option<&S::Inputs>) -> Result<S::Margins, Fault> {
        self.evaluate(at, du, S::margins)
    }

    /// Computes the watched values in the combination in force.
    pub(crate) fn watched(&mut self, at: (S::Real, &S::States), du: Option<&S::Inputs>) -> Result<S::Watched, Fault> {
        self.evaluate(at, du, S::watched)
    }

    /// Computes the watched values just before the start, when all inputs except the held ones are 0.
    pub(crate) fn watched_before(&mut self, t: S::Real, x: &S::States) -> Result<S::Watched, Fault> {
        let mut here = self.point(t, *x);
        let own = here.u;
        (here.u, here.du) = (zeros(), zeros());
        for at in 0..S::Held::LENGTH {
            let input = S::TABLES.held_input(at);
            here.u[input] = own[input];
        }
        self.evaluate_at(&here, x, None, S::watched)
    }

    /// Returns the length of the run.
    pub(crate) fn whole(&self) -> S::Real {
        self.plan.stop - self.plan.start
    }
}

/// A run at the instant of an event.
pub(crate) struct Moment<'r, S: Switching> {
    pub(crate) events: &'r mut Events<S>,
    pub(crate) motion: &'r mut Motion<S>,
    pub(crate) t: S::Real,
    pub(crate) x: &'r mut S::States,
}

impl<S: Switching> Moment<'_, S> {
    /// Returns the tables of the combination in force.
    pub(crate) fn in_force(&self) -> &'static Combination {
        &S::TABLES.combinations[self.motion.combination()]
    }

    /// Computes the margins at the current point.
    pub(crate) fn margins(&mut self, du: Option<&S::Inputs>) -> Result<S::Margins, Fault> {
        self.motion.margins((self.t, self.x), du)
    }

    /// Computes the watched values at the current point.
    pub(crate) fn watched(&mut self) -> Result<S::Watched, Fault> {
        self.motion.watched((self.t, self.x), None)
    }

    /// Stores the reason why an event has no solution.
    pub(crate) fn fail(&mut self, reason: Reason) -> Fault {
        self.events.reason = Some(reason);
        Fault::EventNotKnown
    }

    /// Returns the current state of the run, for the events after this instant.
    pub(crate) fn before(&self, began: usize) -> Before<S> {
        let known = self.in_force().known;
        let watched = &self.events.watched;
        let discretes = self.motion.discretes();
        Before {
            combination: self.motion.combination(),
            began,
            x: S::States::of(|at| match known[at] {
                Known::State => self.x[at],
                _ => watched[at],
            }),
            is_known: S::Knowns::of(|at| known[at] != Known::No),
            ports: Some(S::Powers::of(|at| watched[S::TABLES.places.ports + at])),
            offsets: self.events.offsets,
            old_discretes: discretes,
            discretes,
            inputs: None,
            is_set: S::Knowns::filled(false),
        }
    }
}

/// Returns a short time, as a fraction of the run, that exceeds the round-off of the time.
pub(crate) fn short<S: System>(share: f64, motion: &Motion<S>, t: S::Real) -> S::Real {
    let whole = motion.plan.stop - motion.plan.start;
    (S::Real::c(share) * whole).maximum(S::Real::c(1e3 * S::Real::EPSILON) * t.abs())
}
