//! Reported events, and reasons why an event has no solution.

use super::tables::Tables;
use core::fmt::{Display, Formatter, Result};

/// The number of consecutive events in almost no time that counts as accumulation.
pub const MOST_AT_ONCE: usize = 1000;

/// An event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happening {
    /// An element changes its mode.
    Mode {
        /// The element.
        element: usize,
        /// The previous mode.
        from: usize,
        /// The new mode.
        to: usize,
    },
    /// A block runs.
    Block(usize),
}

impl Happening {
    /// Returns the fields of a row in the list of events: kind, element, previous and new mode.
    pub fn fields(self, tables: &Tables) -> [&'static str; 4] {
        match self {
            Happening::Mode { element, from, to } => {
                let element = &tables.elements[element];
                let kind = if element.is_junction { "junction" } else { "mode" };
                [kind, element.name, element.modes[from].name, element.modes[to].name]
            }
            Happening::Block(block) => {
                let name = tables.blocks[block].name;
                [name.split(':').next().unwrap_or(name), name, "", ""]
            }
        }
    }
}

/// The reason why an event has no solution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The modes of this combination have no equations.
    NoEquations(usize),
    /// Modes that the program does not contain follow this combination.
    NotHeld(usize),
    /// No consistent modes exist after this combination.
    Disagree(usize),
    /// The value of a state just before the event is not known.
    UnknownState(&'static str),
    /// A block sets a variable that is not a state in this combination.
    NoState(&'static str, usize),
    /// An assignment of a block has no finite value.
    NoValue(usize),
    /// Blocks trigger each other endlessly at one instant; the event is the latest one.
    BlocksAccumulate(Happening),
    /// Too many events follow each other in almost no time; the event is the latest one.
    Accumulate(Happening),
}

/// A reason, with the tables from which its message takes names.
#[derive(Clone, Copy, Debug)]
pub struct EventCause {
    /// The reason.
    pub reason: Reason,
    /// The tables of the model.
    pub tables: &'static Tables,
}

impl PartialEq for EventCause {
    fn eq(&self, other: &EventCause) -> bool {
        self.reason == other.reason
    }
}

/// A combination in words: `d1 conducting, d2 blocking`.
struct Modes(&'static Tables, usize);

impl Display for Modes {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        for (at, element) in self.0.elements.iter().enumerate() {
            let comma = if at > 0 { ", " } else { "" };
            write!(f, "{comma}{} {}", element.name, self.0.mode(self.1, at).name)?;
        }
        Ok(())
    }
}

impl Display for EventCause {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let modes = |combination| Modes(self.tables, combination);
        match self.reason {
            Reason::NoEquations(at) => write!(
                f,
                "the modes contradict each other: {}; active there: {}",
                self.tables.combinations[at].conflict.unwrap_or(""),
                modes(at)
            ),
            Reason::NotHeld(at) => write!(
                f,
                "the next combination of modes is not part of this program: {}",
                modes(at)
            ),
            Reason::Disagree(at) => write!(f, "no consistent modes were found after: {}", modes(at)),
            Reason::UnknownState(state) => write!(f, "the value of `{state}` just before the event is unknown"),
            Reason::NoState(state, at) => write!(
                f,
                "`{state}` is not a state in these modes, so it cannot be set: {}",
                modes(at)
            ),
            Reason::NoValue(block) => write!(
                f,
                "an assignment of the block {} has no finite value",
                self.tables.blocks[block].name
            ),
            Reason::BlocksAccumulate(latest) => write!(
                f,
                "blocks trigger each other endlessly at one instant, the latest is {}",
                latest.fields(self.tables)[1]
            ),
            Reason::Accumulate(latest) => write!(
                f,
                "events accumulate: more than {MOST_AT_ONCE} of them in almost no time, the latest is {}",
                latest.fields(self.tables)[1]
            ),
        }
    }
}
