//! The error of components without terminal equations.

use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;

pub(super) fn refused(message: String, help: &str) -> Box<Diagnostic> {
    Box::new(Diagnostic::error(Code::LGM0719, message).help(help))
}
