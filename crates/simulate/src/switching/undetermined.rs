//! Currents that ideal elements leave open: a loop of diodes that all conduct carries any current around it.

use crate::switching::instant::standing::Standing;
use crate::switching::library::Library;
use lgm_equations::switching::Condition;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use rustc_hash::FxHashSet;

/// The elements that were looked at, with the combination in force.
pub(crate) type Seen = FxHashSet<(Vec<usize>, usize)>;

/// A warning where elements with modes form a loop in one part of a run, from its beginning to its end.
///
/// One of them blocks then with nothing across it. If it conducted as well, the loop would have no equations, and only elements with modes
/// would be at fault.
pub(crate) fn undetermined(
    library: &mut Library<'_>,
    (begun, ended): (&Standing, &Standing),
    seen: &mut Seen,
) -> Option<Diagnostic> {
    let prepared = &begun.prepared;
    for (element, changes) in prepared.changes.iter().enumerate() {
        for change in changes.iter().filter(|_| begun.wanted[element].is_none()) {
            let Condition::Margin(at, _) = change.condition else {
                continue;
            };
            let is_zero = |standing: &Standing| standing.margins[at].abs() <= standing.least[at];
            let stays_zero = is_zero(begun) && is_zero(ended);
            if !stays_zero || !seen.insert((prepared.modes.clone(), element)) {
                continue;
            }
            let mut modes = prepared.modes.clone();
            modes[element] = change.to;
            if let Err(found) = library.prepared(&modes)
                && let Some(warning) = found.first().and_then(|conflict| warning(library, conflict))
            {
                return Some(warning);
            }
        }
    }
    None
}

/// The warning, if a conflict is one between elements with modes alone.
fn warning(library: &Library<'_>, conflict: &Diagnostic) -> Option<Diagnostic> {
    let model = library.events.model();
    let elements = model.switching.elements.iter().map(|switched| switched.element);
    let own: Vec<_> = elements.map(|id| model.element_span(id)).collect();
    let are_own = conflict.labels.iter().all(|label| own.contains(&label.span));
    if conflict.labels.len() < 2 || !are_own {
        return None;
    }
    let message = "ideal elements form a loop, so that what flows around it is not determined";
    let warning = Diagnostic::warning(Code::LGM1026, message)
        .note("the rows show one way in which they may share it; everything else is determined")
        .help("put a small resistance or damping in series with one of them");
    let labels = conflict.labels.iter();
    Some(labels.fold(warning, |warning, label| warning.label(label.span, "in the loop")))
}
