//! The laws of switched elements in a step: lines in up to three ranges of the across variable.

use super::super::draw::{Domain, Element, Kind};

/// The conductances of lines, in SI units: none, blocking, conducting, and sticking. Springs integrate the residual
/// velocity of sticking elements, so these conduct better.
pub const CONDUCTANCES: [f64; 4] = [0.0, 1e-7, 1e5, 1e6];

const NONE: u8 = 0;
const BLOCKING: u8 = 1;
const CONDUCTING: u8 = 2;
const STICKING: u8 = 3;

/// The through variable up to which a thyristor counts as blocking: closed switches of the reference leave 1e-4 V,
/// which drive less through the resistors of thyristors.
const IDLE: f64 = 2e-5;

/// The fraction per second by which the through variable of a thyristor that turns off falls at `IDLE`. If it falls more
/// slowly, it fades exponentially and never reaches 0.
const FADING: f64 = 5e4;

/// The across variable from which a friction slides: sticking ones creep at up to 5e-6.
const SLIDING: f64 = 2e-5;

/// A monotone law in a step.
#[derive(Clone, Debug)]
pub struct Law {
    /// The across variables at which the ranges end.
    breaks: [f64; 2],
    /// The indices of the conductances in each range.
    pub conductances: [u8; 3],
    /// The through variables of the lines at an across variable of 0.
    pub offsets: [f64; 3],
}

/// The memory of an element between two steps.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    /// True while a thyristor conducts and while a friction slides.
    is_going: bool,
    /// The integral of the across variable.
    place: f64,
    /// The across variable in the last step.
    across: f64,
    /// True while a wall is touched.
    touches: bool,
    /// The across variable after a hit in this step.
    rebound: Option<f64>,
}

impl Law {
    /// The law of an element in a step.
    pub fn of(element: &Element, memory: &Memory, domain: Domain, (time, step): (f64, f64)) -> Law {
        let is_on = element.kind.gate().is_some_and(|gate| gate.is_on_before(time));
        match element.kind {
            Kind::Diode(_) if domain == Domain::Rotational => Law::from(0.0, NONE, STICKING),
            Kind::Diode(forward) => Law::from(forward, BLOCKING, CONDUCTING),
            Kind::Switch(_) if is_on => Law::line_of(CONDUCTING),
            Kind::Switch(_) => Law::line_of(BLOCKING),
            Kind::Transistor(_) if is_on => Law::line_of(CONDUCTING),
            Kind::Transistor(_) => Law {
                breaks: [0.0, f64::INFINITY],
                conductances: [CONDUCTING, BLOCKING, BLOCKING],
                offsets: [0.0; 3],
            },
            Kind::Thyristor(_) if is_on || memory.is_going => Law::from(0.0, BLOCKING, CONDUCTING),
            Kind::Thyristor(_) => Law::line_of(BLOCKING),
            Kind::Friction(sliding, _) if memory.is_going => Law::friction(sliding),
            Kind::Friction(_, sticking) => Law::friction(sticking),
            Kind::Brake(limit, _) => Law::friction(if is_on { limit } else { 0.0 }),
            Kind::Wall(gap, _) => {
                let reach = memory.rebound.unwrap_or((gap - memory.place) / step);
                Law::from(reach, NONE, STICKING)
            }
            Kind::Backlash(gap) => {
                let reach = |side: f64| (side * 0.5 * gap - memory.place) / step;
                Law {
                    breaks: [reach(-1.0), reach(1.0)],
                    conductances: [STICKING, NONE, STICKING],
                    offsets: [-1.0, 0.0, 1.0].map(|side| match side {
                        0.0 => 0.0,
                        side => -CONDUCTANCES[usize::from(STICKING)] * reach(side),
                    }),
                }
            }
            _ => unreachable!("no law that switches"),
        }
    }

    fn line_of(conductance: u8) -> Law {
        Law {
            breaks: [f64::INFINITY; 2],
            conductances: [conductance; 3],
            offsets: [0.0; 3],
        }
    }

    /// A line through the origin up to an across variable, and a steeper one from there.
    fn from(across: f64, below: u8, above: u8) -> Law {
        let offset = (CONDUCTANCES[usize::from(below)] - CONDUCTANCES[usize::from(above)]) * across;
        Law {
            breaks: [across, f64::INFINITY],
            conductances: [below, above, above],
            offsets: [0.0, offset, offset],
        }
    }

    fn friction(limit: f64) -> Law {
        let end = limit / CONDUCTANCES[usize::from(STICKING)];
        Law {
            breaks: [-end, end],
            conductances: [NONE, if limit > 0.0 { STICKING } else { NONE }, NONE],
            offsets: [-limit, 0.0, limit],
        }
    }

    /// The range of an across variable.
    pub fn piece(&self, across: f64) -> usize {
        self.breaks.iter().filter(|end| across > **end).count()
    }

    /// The line of a range.
    pub fn line(&self, piece: usize, across: f64) -> f64 {
        CONDUCTANCES[usize::from(self.conductances[piece])] * across + self.offsets[piece]
    }

    pub fn through(&self, across: f64) -> f64 {
        self.line(self.piece(across), across)
    }
}

impl Memory {
    /// Returns true if the step has to be repeated: a wall that is hit is left with a velocity, and a friction that
    /// comes to rest sticks.
    pub fn strike(&mut self, element: &Element, law: &Law, across: f64) -> bool {
        if let Kind::Friction(..) = element.kind {
            let stops = self.is_going && across * self.across <= 0.0;
            self.is_going &= !stops;
            return stops;
        }
        let Kind::Wall(_, restitution) = element.kind else {
            return false;
        };
        let touches = law.piece(across) > 0;
        if touches && !self.touches && restitution > 0.0 && self.across > 0.0 {
            self.rebound = Some(-restitution * self.across);
        }
        self.touches = touches;
        self.rebound.is_some()
    }

    /// Ends a step with an across variable. Returns false if the current of a thyristor has faded to values that are not resolved.
    pub fn follow(&mut self, element: &Element, law: &Law, across: f64, step: f64) -> bool {
        let mut is_resolved = true;
        match element.kind {
            Kind::Thyristor(_) => {
                let (through, before) = (law.through(across), law.through(self.across));
                is_resolved = !self.is_going || through > IDLE || through < (1.0 - FADING * step) * before;
                // A blocking thyristor leaks more than `IDLE` at a high voltage.
                self.is_going = law.piece(across) > 0 && through > IDLE;
            }
            Kind::Friction(..) => self.is_going = across.abs() > SLIDING,
            Kind::Wall(..) => {
                self.touches &= self.rebound.is_none();
                self.rebound = None;
            }
            _ => {}
        }
        self.place += step * across;
        self.across = across;
        is_resolved
    }
}
