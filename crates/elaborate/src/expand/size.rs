//! The size of the model: models that are too large are rejected before they are created.

use crate::expand::Expansion;
use crate::names::recursion::{counted, too_large};
use lgm_source::Span;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;

/// The number of empty loop iterations that count as one part.
const ROUNDS: u64 = 10;

impl Expansion<'_, '_> {
    /// Counts an empty loop iteration, which also takes time; returns true if there are too many.
    pub(super) fn is_one_too_many(&mut self, span: Span) -> bool {
        self.empty_rounds += 1;
        let most = self.largest / ROUNDS;
        if self.empty_rounds <= most {
            return false;
        }
        let message = format!("the model's loops run more than {} empty iterations", counted(most));
        let diagnostic = Diagnostic::error(Code::LGM0129, message)
            .label(span, "this loop is one of them")
            .help("loop only over the indices that create elements, instead of testing each one with `if`");
        self.report(diagnostic);
        self.reports.stop();
        true
    }

    /// Returns true if this number of further items is allowed.
    pub(super) fn room_for(&mut self, more: u128, span: Span) -> bool {
        if u128::from(self.made).saturating_add(more) <= u128::from(self.largest) {
            return true;
        }
        let diagnostic = Diagnostic::error(Code::LGM0129, too_large(self.largest))
            .label(
                span,
                format!(
                    "this creates about {} elements",
                    u128::from(self.made).saturating_add(more)
                ),
            )
            .help("reduce the number of iterations");
        self.report(diagnostic);
        self.reports.stop();
        false
    }
}
