//! Signals in place of the expressions of inputs: tables, and functions of a caller.

use crate::inputs::history::History;
use crate::inputs::signals::Side;
use crate::inputs::table::Table;
use std::fmt;
use std::sync::Arc;

/// The signal of one input.
#[derive(Clone, Debug)]
pub enum Signal {
    /// Samples over time.
    Table(Table),
    /// A function of time.
    Function(Function),
    /// A value some time earlier in the same run.
    Delayed(Arc<History>),
}

/// A function of time: its value and its rate, in SI units. It must be continuous, because a run does not search for its steps.
#[derive(Clone)]
pub struct Function(Arc<dyn Fn(f64) -> (f64, f64) + Send + Sync>);

impl Function {
    /// The signal of a function that returns the value and the time derivative at a time.
    pub fn new(function: impl Fn(f64) -> (f64, f64) + Send + Sync + 'static) -> Function {
        Function(Arc::new(function))
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Function")
    }
}

impl From<Table> for Signal {
    fn from(table: Table) -> Signal {
        Signal::Table(table)
    }
}

impl Signal {
    /// The value and the rate at a time, on one side of it.
    pub(crate) fn at(&self, time: f64, side: Side) -> (f64, f64) {
        match self {
            Signal::Table(table) => table.at(time, side),
            Signal::Function(function) => (function.0)(time),
            Signal::Delayed(history) => history.at(time, side),
        }
    }

    /// Times from one to another, both included, at which the value or its slope is known to change.
    pub(crate) fn corners(&self, from: f64, to: f64) -> Vec<f64> {
        match self {
            Signal::Table(table) => table.corners(from, to),
            // The corners of a delayed signal are known only during the run.
            Signal::Function(_) | Signal::Delayed(_) => Vec::new(),
        }
    }
}
