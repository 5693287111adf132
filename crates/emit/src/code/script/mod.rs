//! Functions of a model in languages that have solvers of their own, so that emitted files carry none.
//!
//! [`Writer`] prints each [`Function`] in a [`ScriptLanguage`]: in the user's names ([`super::named`]), or over arrays for a model with
//! too many states. A target adds its language, the declaration of its parameters, and a template that runs the functions.

mod facts;
mod functions;
mod layout;
mod places;

pub(crate) use facts::{Facts, Notation, facts};
pub(crate) use functions::{Head, ScriptLanguage, Writer, derived};
pub(crate) use layout::{Style, wrapped_statement, wrapped_words};
pub(crate) use places::Places;
