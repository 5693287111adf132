//! Events as they are reported, and reasons for which an event has no answer.

use super::tables::Tables;
use core::fmt::{Display, Formatter, Result};

/// So many events in a row within no time accumulate.
pub const MOST_AT_ONCE: usize = 1000;

/// An event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happening {
    /// An element changes its mode.
    Mode {
        /// The element.
        element: usize,
        /// Its mode before.
        from: usize,
        /// Its mode behind.
        to: usize,
    },
    /// A block runs.
    Block(usize),
}

impl Happening {
    /// The fields of a list of events: kind, element, modes before and behind.
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

/// The reason for which an event has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The modes of this combination have no equations.
    NoEquations(usize),
    /// Modes follow this combination that the program does not hold.
    NotHeld(usize),
    /// No modes agree behind this combination.
    Disagree(usize),
    /// The value of a state just before is not known.
    UnknownState(&'static str),
    /// A block sets what is no state in this combination.
    NoState(&'static str, usize),
    /// An assignment of a block has no finite value.
    NoValue(usize),
    /// Blocks follow each other at one instant.
    BlocksAccumulate,
    /// Events follow each other within no time.
    Accumulate,
}

/// The reason with the tables that its sentence takes names from.
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

/// A combination in words: d1 conducting, d2 blocking.
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
                "the modes contradict each other: {}; in force there: {}",
                self.tables.combinations[at].conflict.unwrap_or(""),
                modes(at)
            ),
            Reason::NotHeld(at) => write!(f, "modes follow that this program does not hold, on: {}", modes(at)),
            Reason::Disagree(at) => write!(
                f,
                "no modes that agree with each other were found behind: {}",
                modes(at)
            ),
            Reason::UnknownState(state) => write!(f, "the value of `{state}` just before is not known"),
            Reason::NoState(state, at) => write!(
                f,
                "`{state}` is no state in these modes, so that it cannot be set: {}",
                modes(at)
            ),
            Reason::NoValue(block) => write!(
                f,
                "an assignment of the block {} has no finite value",
                self.tables.blocks[block].name
            ),
            Reason::BlocksAccumulate => f.write_str("blocks follow each other at one instant without end"),
            Reason::Accumulate => write!(
                f,
                "events accumulate: more than {MOST_AT_ONCE} of them in next to no time"
            ),
        }
    }
}
