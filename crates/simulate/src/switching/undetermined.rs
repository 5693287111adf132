//! Loads with an undetermined distribution over ideal elements: a loop of conducting diodes carries any current around it.

use crate::switching::instant::standing::{Before, Standing};
use crate::switching::instant::transition::Instant;
use crate::switching::library::Combinations;
use lgm_equations::switching::Combination;
use lgm_model::ElementId;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use rustc_hash::FxHashSet;

/// The elements that were examined, with the combination in force.
pub(crate) type Seen = FxHashSet<(Vec<usize>, usize)>;

/// Returns a remark if the distribution of a load over elements with modes is undetermined throughout one part of a run.
///
/// Either the mode of one element is redundant, or an element blocks without a voltage and would be redundant in its other mode, in
/// which it would stay. Of two antiparallel thyristors, the other one would leave it. All such elements are named, in the order of the
/// text.
pub(crate) fn undetermined(
    instant: &mut Instant<'_, '_>,
    (begun, ended): (&Standing, &Standing),
    times: (f64, f64),
    seen: &mut Seen,
) -> Option<Diagnostic> {
    let prepared = &begun.prepared;
    let sharing = |combination: &Combination| combination.redundant.concat();
    let mut all: Vec<ElementId> = sharing(&prepared.combination);
    for (element, changes) in prepared.changes.iter().enumerate() {
        for change in changes {
            let Some(bound) = change.bound else { continue };
            let is_zero = |standing: &Standing| standing.margins[bound.margin].abs() <= standing.least[bound.margin];
            if !is_zero(begun) || !is_zero(ended) || !seen.insert((prepared.modes.clone(), element)) {
                continue;
            }
            let mut modes = prepared.modes.clone();
            modes[element] = change.to;
            let Ok(other) = instant.library.prepared(&modes) else {
                continue;
            };
            let mut stays = |time: f64, standing: &Standing| {
                instant.time = time;
                let from = Before::of(standing, standing.prepared.modes.clone());
                let found = instant.enter(&from, other.clone(), &[]);
                found.is_ok_and(|there| !there.acts(element))
            };
            if stays(times.0, begun) && stays(times.1, ended) {
                all.extend(sharing(&other.combination));
            }
        }
    }
    all.sort_unstable();
    all.dedup();
    (!all.is_empty()).then(|| remark(instant.library, &all))
}

fn remark(library: &Combinations<'_>, sharing: &[ElementId]) -> Diagnostic {
    let model = library.events.model();
    let message =
        "the distribution of a load over ideal elements is not determined: the run uses the one of least norm";
    let remark = Diagnostic::information(Code::LGM1026, message)
        .note("everything outside of these elements is determined")
        .help("to choose a distribution, put a small resistance or damping in series with each of them");
    let spans = sharing.iter().map(|element| model.element_span(*element));
    spans.fold(remark, |remark, span| remark.label(span, "shares the load"))
}
