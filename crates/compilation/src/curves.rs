//! The curves that an experiment requests from a run.

use lgm_model::system::StateSystem;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_source::nearest::{corrections, nearest};

/// Returns an error for each name in `plot` of the experiment that is not an output, a state or an input. The states are known only after
/// the equations are formed.
pub fn unknown_curves(system: &StateSystem) -> Vec<Diagnostic> {
    let plotted = system.experiment.plot.iter();
    let unknown = plotted.filter(|(name, _)| system.recorded(name).is_empty());
    unknown
        .map(|(name, place)| {
            let all = || {
                let outputs = system.outputs.iter().map(|output| &*output.name);
                let states = system.states.iter().map(|state| &*state.name);
                let inputs = system.inputs.iter().filter(|input| !input.is_internal);
                outputs.chain(states).chain(inputs.map(|input| &*input.name))
            };
            let near = nearest(name, all());
            let mut diagnostic = Diagnostic::error(Code::LGM0111, format!("there is no output `{name}` to plot"))
                .label(*place, "the run has no output or state with this name")
                .help(match name.contains('.') {
                    _ if !near.is_empty() => format!("did you mean `{}`?", near.join("` or `")),
                    true => format!(
                        "declare an output: `output {} = across(..);`",
                        name.replace(['.', '['], "_").replace(']', "")
                    ),
                    false => format!("declare an output of this name: `output {name} = {name};`"),
                });
            diagnostic.fixes = corrections(*place, name, all());
            diagnostic
        })
        .collect()
}
