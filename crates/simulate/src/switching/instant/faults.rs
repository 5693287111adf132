//! Failure reports for an instant after which no modes are valid.

use crate::failure::{Failure, FailureKind};
use crate::switching::instant::transition::Instant;
use lgm_model::system::State;
use lgm_runtime::events::search::MOST_SEARCHED;
use lgm_source::Span;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use rustc_hash::FxHashSet;

impl Instant<'_, '_> {
    pub(super) fn failure(&self, diagnostic: Diagnostic) -> Failure {
        Failure::new(self.time, FailureKind::Events(Box::new(diagnostic)))
    }

    pub(super) fn unknown_state(&self, state: &State) -> Failure {
        let message = format!("the value of `{}` just before {} s is unknown", state.name, self.time);
        let help = match state.is_total() {
            true => {
                "an event connects or separates storage with nonlinear laws; put a small resistance in series with \
                 each, so that it has a state of its own"
            }
            false => {
                "this storage is not a state before the event, and its value has no short form; give it a state of \
                 its own"
            }
        };
        let mut diagnostic = Diagnostic::error(Code::LGM1012, message)
            .label(state.span, "its value is needed in the modes after the event")
            .help(help);
        if let Some(written) = state.written.as_ref().filter(|_| state.is_total()) {
            diagnostic = diagnostic.note(format!(
                "in these modes it is the {written}, which was not a state before"
            ));
        }
        self.failure(diagnostic)
    }

    pub(super) fn no_equations(&self, modes: &[usize], found: &[Diagnostic]) -> Failure {
        let words = self.library.words(modes);
        let why = found
            .first()
            .map_or("they have no equations".to_string(), |first| first.message.clone());
        let message = format!("the modes at {} s contradict each other: {why}", self.time);
        let mut diagnostic = Diagnostic::error(Code::LGM1012, message);
        if let Some(first) = found.first() {
            diagnostic.labels.clone_from(&first.labels);
            diagnostic.help.clone_from(&first.help);
        }
        self.failure(diagnostic.note(format!("active there: {words}")))
    }

    /// Reports that the search ended before all combinations were examined, so that valid modes may exist.
    pub(super) fn too_many(&self, began: &[usize], visited: &FxHashSet<Vec<usize>>, possible: usize) -> Failure {
        let mut failure = self.circle(began, visited);
        if let FailureKind::Events(diagnostic) = &mut failure.kind {
            diagnostic.message = format!("no consistent modes were found at {} s", self.time);
            let note = format!("only the first {MOST_SEARCHED} of {possible} combinations were tried");
            diagnostic.notes.push(note);
        }
        failure
    }

    pub(super) fn circle(&self, began: &[usize], visited: &FxHashSet<Vec<usize>>) -> Failure {
        let open = |at: &usize| visited.iter().any(|other| other[*at] != began[*at]);
        let names: Vec<String> = (0..began.len())
            .filter(open)
            .map(|at| format!("`{}`", self.library.name(at)))
            .collect();
        // Contradictory modes are more informative than a cycle.
        let contradicting = visited
            .iter()
            .find_map(|modes| self.library.fault_of(modes).map(|found| (modes, found)));
        if let Some((modes, found)) = contradicting {
            return self.no_equations(modes, &found);
        }
        let message = format!("no consistent modes of {} exist at {} s", names.join(", "), self.time);
        let mut tried: Vec<String> = visited.iter().map(|modes| self.library.words(modes)).collect();
        tried.sort();
        tried.truncate(4);
        let diagnostic = Diagnostic::error(Code::LGM1013, message)
            .note(format!("tried: {}", tried.join("; ")))
            .help(
                "add hysteresis to one of the conditions, as `Relay` and `Hysteresis` do, or a small resistance, damping \
                or mass where two elements determine the same variable",
            );
        self.failure(diagnostic)
    }
}

/// Returns the error for storage that cannot take an independent value.
pub(crate) fn cannot_be_set(time: f64, name: &str, span: Span) -> Diagnostic {
    Diagnostic::error(
        Code::LGM1015,
        format!("`{name}` cannot be set at {time} s: it follows from other storage or from a source"),
    )
    .label(span, "set here")
    .help("set the variable that determines it, or insert a resistance or a damper between the two")
}
