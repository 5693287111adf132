//! The size of the model: more than it may have is refused before it is made.

use crate::expand::Expansion;
use crate::names::recursion::{counted, too_large};
use lgm_source::Span;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;

/// A round of a loop in which nothing is made counts as this part of a part.
const ROUNDS: u64 = 10;

impl Expansion<'_, '_> {
    /// Counts a round that makes nothing: it takes its time too.
    pub(super) fn is_one_too_many(&mut self, span: Span) -> bool {
        self.empty_rounds += 1;
        let most = self.largest / ROUNDS;
        if self.empty_rounds <= most {
            return false;
        }
        let message = format!("the model's loops run more than {} empty iterations", counted(most));
        let diagnostic = Diagnostic::error(Code::LGM0129, message)
            .label(span, "this loop is one of them")
            .help("let the loop run over the indices that create something, instead of testing each one with `if`");
        self.report(diagnostic);
        self.reports.stop();
        true
    }

    /// Whether so many items more are allowed.
    pub(super) fn room_for(&mut self, more: u128, span: Span) -> bool {
        if u128::from(self.made).saturating_add(more) <= u128::from(self.largest) {
            return true;
        }
        let diagnostic = Diagnostic::error(Code::LGM0129, too_large(self.largest))
            .label(
                span,
                format!(
                    "this asks for about {} parts",
                    u128::from(self.made).saturating_add(more)
                ),
            )
            .help("lower the number of repetitions");
        self.report(diagnostic);
        self.reports.stop();
        false
    }
}
