//! Reports on an instant behind which there are no modes.

use crate::failure::{Failure, FailureKind};
use crate::switching::instant::transition::Instant;
use lgm_model::system::State;
use lgm_runtime::events::search::MOST_SEARCHED;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use rustc_hash::FxHashSet;

impl Instant<'_, '_> {
    fn failure(&self, diagnostic: Diagnostic) -> Failure {
        Failure::new(self.time, FailureKind::Events(Box::new(diagnostic)))
    }

    pub(super) fn unknown_state(&self, state: &State) -> Failure {
        let message = format!("the value of `{}` just before {} s is not known", state.name, self.time);
        let help = match state.is_total() {
            true => {
                "an event joins or parts storage with nonlinear laws; put a small resistance in series with each of them, so that it \
                 is a state of its own"
            }
            false => {
                "this storage is no state before the event and has no value in a short form; give it a state of its own"
            }
        };
        let mut diagnostic = Diagnostic::error(Code::LGM1012, message)
            .label(state.span, "its value is needed in the modes behind the event")
            .help(help);
        if let Some(written) = state.written.as_ref().filter(|_| state.is_total()) {
            diagnostic = diagnostic.note(format!("in these modes it is the {written}, which was no state before"));
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
        self.failure(diagnostic.note(format!("in force there: {words}")))
    }

    /// The search has ended before all combinations were looked through, so that there may be modes that agree.
    pub(super) fn too_many(&self, began: &[usize], visited: &FxHashSet<Vec<usize>>, possible: usize) -> Failure {
        let mut failure = self.circle(began, visited);
        if let FailureKind::Events(diagnostic) = &mut failure.kind {
            diagnostic.message = format!("no modes that agree with each other were found at {} s", self.time);
            let note = format!("of {possible} combinations, the first {MOST_SEARCHED} were looked through");
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
        // Modes that contradict each other say more than a circle does.
        let contradicting = visited
            .iter()
            .find_map(|modes| self.library.fault_of(modes).map(|found| (modes, found)));
        if let Some((modes, found)) = contradicting {
            return self.no_equations(modes, &found);
        }
        let message = format!(
            "no modes of {} agree with each other at {} s",
            names.join(", "),
            self.time
        );
        let mut tried: Vec<String> = visited.iter().map(|modes| self.library.words(modes)).collect();
        tried.sort();
        tried.truncate(4);
        let diagnostic = Diagnostic::error(Code::LGM1013, message)
            .note(format!("tried: {}", tried.join("; ")))
            .help("give one of the conditions a hysteresis, or lay a small resistance, damping or mass where two elements decide the same variable");
        self.failure(diagnostic)
    }
}
