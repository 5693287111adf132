//! The calls of what says where something happens: instants, switches, oscillations and conditions on states.

use super::functions::wrapped;
use super::subject::Subject;
use super::template::values;
use lgm_kernels::Kernel;

values! {
    /// What says where something happens: corners, conditions and oscillations.
    pub(crate) struct CornerCalls {
        instants: usize,
        instants_call: String,
        switches: usize,
        switches_call: String,
        phases: usize,
        phases_call: String,
        bounds_steps: bool,
        crossings: usize,
        conditions: usize,
        jumping: String,
        conditions_call: String,
        bend_count: usize,
        bending: String,
        bends_call: String,
    }
}

/// Integers, one after the other.
pub(crate) fn integers(entries: &[usize]) -> String {
    let entries: Vec<String> = entries.iter().map(usize::to_string).collect();
    wrapped(&entries)
}

/// The calls; `add` takes a function's name, what it computes and the array of its results, and gives the statement that calls it.
/// It is asked only for what computes something.
pub(crate) fn corner_calls<'p>(
    subject: &'p Subject<'_>,
    mut add: impl FnMut(&str, &'p Kernel, &str) -> String,
) -> CornerCalls {
    let corners = &subject.corners;
    let mut add = |name: &str, kernel: &'p Kernel, out: &str| match kernel.outputs() {
        0 => String::new(),
        _ => add(name, kernel, out),
    };
    let instants_call = add("instants", corners.instants(), "instants");
    let switches_call = add("switches", corners.switches(), "values");
    // Where it is false, nothing asks how fast anything oscillates.
    let has_phases = subject.needs_fastest();
    let phases_call = match has_phases {
        true => add("phases", corners.phases(), "next"),
        false => String::new(),
    };
    let bends_call = add("crossings", corners.crossings(), "crossings");
    CornerCalls {
        instants: corners.instants().outputs(),
        instants_call,
        switches: corners.switches().outputs(),
        switches_call,
        phases: if has_phases { corners.phases().outputs() } else { 0 },
        phases_call,
        bounds_steps: subject.bounds_steps(),
        crossings: corners.crossings().outputs(),
        conditions: subject.jumping.len(),
        jumping: integers(&subject.jumping),
        conditions_call: match subject.jumping.is_empty() {
            true => String::new(),
            false => bends_call.clone(),
        },
        bend_count: subject.bending.len(),
        bending: integers(&subject.bending),
        bends_call,
    }
}
