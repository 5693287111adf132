//! A run at an event: what is known there, and the functions of the model by which it is looked at.

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
    /// The combination of modes in which the search begins, and the one at the beginning of the instant.
    pub(crate) combination: usize,
    pub(crate) began: usize,
    /// The values of states, those included that are dependent in this combination.
    pub(crate) x: S::States,
    pub(crate) is_known: S::Knowns,
    /// Effort and flow of the ports of elements with modes; not known at the start of a run.
    pub(crate) ports: Option<S::Powers>,
    /// The difference between what a port's variable is and what the law gives.
    pub(crate) offsets: S::Ports,
    /// The discrete variables before the instant, and as they were assigned.
    pub(crate) old_discretes: S::Discretes,
    pub(crate) discretes: S::Discretes,
    /// The inputs just before, where they step at this instant; at the start all are 0.
    pub(crate) inputs: Option<S::Inputs>,
}

/// In the place of a mode that is wanted: the mode in force is not assumed.
pub(crate) const NOT_ASSUMED: usize = usize::MAX;

/// The contacts of an instant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Contacts<S: Switching> {
    /// The run before the first of them closed.
    pub(crate) base: Option<Before<S>>,
    /// The watched values just before the instant, and the combination there.
    pub(crate) offered: Option<(S::Watched, usize)>,
    /// The change by which each element has closed, and the first one.
    pub(crate) closed: S::Acting,
    pub(crate) first_closed: S::Acting,
    /// The values that are set.
    pub(crate) set_values: S::Sets,
}

/// Margins of conditions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Margins<S: Switching> {
    /// The margins as they are, the size below which each of them counts as 0, and their signs: impulses before finite values, and
    /// what is 0 by where it is going.
    pub(crate) values: S::Margins,
    pub(crate) least: S::Margins,
    pub(crate) signs: S::Margins,
    /// The most that the terms of each margin have been worth, and its largest impulse.
    pub(crate) sizes: S::Margins,
    pub(crate) impulses: S::Margins,
}

/// The events of a run, with their memory.
#[derive(Clone, Debug)]
pub struct Events<S: Switching> {
    /// The run behind the last event: watched values, offsets, margins.
    pub(crate) watched: S::Watched,
    pub(crate) offsets: S::Ports,
    pub(crate) margins: Margins<S>,
    /// The directions of margins that were 0 behind the last event and are 0 still.
    pub(crate) going: S::Margins,
    /// The modes that are wanted of elements whose modes are assumed, now and before the instant; [`NOT_ASSUMED`] of the others.
    pub(crate) wanted: S::Modes,
    pub(crate) wanted_before: S::Modes,
    pub(crate) from: Before<S>,
    pub(crate) contacts: Contacts<S>,
    /// The combinations that were tried.
    pub(crate) visited: S::Visited,
    /// True if the condition of each block holds, and if it is to run; the number of its next instant.
    pub(crate) holding: S::Flags,
    pub(crate) is_run: S::Flags,
    pub(crate) next: S::Numbers,
    pub(crate) temporaries: S::Temporaries,
    /// The first of these instants, and times of the last events.
    pub(crate) instant: S::Real,
    pub(crate) recent: [S::Real; MOST_AT_ONCE],
    pub(crate) count: usize,
    /// True if an event is due where the run is.
    pub(crate) is_due: bool,
    /// Margins at the looks at the last step.
    pub(crate) looks: [Look<S::Real, S::Margins>; LOOKS + 1],
    /// The events of this instant, how many there were, and the energy that storage has lost in them.
    pub(crate) happened: S::Happened,
    pub(crate) happenings: usize,
    pub(crate) lost: S::Real,
    pub(crate) is_lost_known: bool,
    /// The reason of the last event without an answer.
    pub(crate) reason: Option<Reason>,
}

impl<S: Switching> Events<S> {
    /// Before a run.
    pub(crate) fn new() -> Events<S> {
        const {
            assert!(
                S::Real::EPSILON < 1e-12,
                "single precision does not tell which modes hold"
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
            },
            going: none,
            wanted: S::Modes::filled(NOT_ASSUMED),
            wanted_before: S::Modes::filled(NOT_ASSUMED),
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
            lost: zero,
            is_lost_known: false,
            reason: None,
        }
    }

    /// Notes an event of this instant.
    pub(crate) fn note(&mut self, happening: Happening) {
        if self.happenings < S::Happened::LENGTH {
            self.happened[self.happenings] = happening;
        }
        self.happenings += 1;
    }
}

impl<S: Switching> Motion<S> {
    /// The combination of modes in force.
    pub(crate) fn combination(&self) -> usize {
        self.model.system.held().combination
    }

    /// The inputs at a time.
    pub(crate) fn inputs(&mut self, t: S::Real) -> S::Inputs {
        self.point(t, zeros()).u
    }

    /// Discrete variables as they are held.
    pub(crate) fn discretes(&self) -> S::Discretes {
        let held = self.model.system.held().values;
        S::Discretes::of(|at| held.map_or(S::Real::c(0.0), |held| held[at]))
    }

    /// Holds discrete variables and offsets, all as they are from now on.
    pub(crate) fn hold(&mut self, discretes: &S::Discretes, offsets: &S::Ports) {
        self.model.system.held_mut().values = Some(S::Held::of(|at| {
            if at < S::Discretes::LENGTH {
                discretes[at]
            } else {
                offsets[at - S::Discretes::LENGTH]
            }
        }));
    }

    /// The right sides at a time, with the loops solved next to where the run is.
    pub(crate) fn rates(&mut self, t: S::Real, x: &S::States) -> Option<S::States> {
        self.branch.recall(&mut self.model, false);
        let mut rates = zeros();
        self.rates_at(t, x, &mut rates).ok().map(|_| rates)
    }

    /// Evaluates a function of the model at a time, where the inputs have these rates, or their own.
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

    /// The margins in the combination in force.
    pub(crate) fn margins(&mut self, at: (S::Real, &S::States), du: Option<&S::Inputs>) -> Result<S::Margins, Fault> {
        self.evaluate(at, du, S::margins)
    }

    /// The watched values in the combination in force.
    pub(crate) fn watched(&mut self, at: (S::Real, &S::States), du: Option<&S::Inputs>) -> Result<S::Watched, Fault> {
        self.evaluate(at, du, S::watched)
    }

    /// The watched values just before the start, where all inputs are 0 but those that are held.
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

    /// The length of the run.
    pub(crate) fn whole(&self) -> S::Real {
        self.plan.stop - self.plan.start
    }
}

/// A run where something happens.
pub(crate) struct Moment<'r, S: Switching> {
    pub(crate) events: &'r mut Events<S>,
    pub(crate) motion: &'r mut Motion<S>,
    pub(crate) t: S::Real,
    pub(crate) x: &'r mut S::States,
}

impl<S: Switching> Moment<'_, S> {
    /// The combination of modes in force with its tables.
    pub(crate) fn in_force(&self) -> &'static Combination {
        &S::TABLES.combinations[self.motion.combination()]
    }

    /// The margins where the run is.
    pub(crate) fn margins(&mut self, du: Option<&S::Inputs>) -> Result<S::Margins, Fault> {
        self.motion.margins((self.t, self.x), du)
    }

    /// The watched values where the run is.
    pub(crate) fn watched(&mut self) -> Result<S::Watched, Fault> {
        self.motion.watched((self.t, self.x), None)
    }

    /// Keeps why an event has no answer.
    pub(crate) fn fail(&mut self, reason: Reason) -> Fault {
        self.events.reason = Some(reason);
        Fault::EventNotKnown
    }

    /// The run as it is, for what comes after this instant.
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
        }
    }
}

/// A short time, as a share of a run: rounding of the time does not swallow it.
pub(crate) fn short<S: System>(share: f64, motion: &Motion<S>, t: S::Real) -> S::Real {
    let whole = motion.plan.stop - motion.plan.start;
    (S::Real::c(share) * whole).maximum(S::Real::c(1e3 * S::Real::EPSILON) * t.abs())
}
