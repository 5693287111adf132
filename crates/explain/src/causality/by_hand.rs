//! Strokes by hand, as text: `I1=flow`.

use crate::names::Names;
use lgm_model::{Law, PortId, Variable};
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_source::nearest::did_you_mean;

/// Reads the ports and the variables that their elements set.
pub(super) fn strokes(names: Names<'_>, texts: &[String]) -> Result<Vec<(PortId, Variable)>, Box<Diagnostic>> {
    let mut found: Vec<(PortId, Variable)> = Vec::new();
    for text in texts {
        let fault = |message: String| Diagnostic::error(Code::LGM0904, format!("`--stroke {text}`: {message}"));
        let (name, word) = text.split_once('=').unwrap_or((text, ""));
        let (name, word) = (name.trim(), word.trim());
        let ports = (0..names.model.graph.ports.len() as u32).map(PortId);
        let ports: Vec<PortId> = ports.filter(|port| is_free(names, *port)).collect();
        let Some(port) = ports.iter().copied().find(|port| names.port(*port) == name) else {
            let known: Vec<String> = ports.iter().map(|port| names.port(*port)).collect();
            let message = fault(format!(
                "no storage element, resistor or nonlinear element is called `{name}`"
            ));
            let help = did_you_mean(name, known.iter().map(String::as_str));
            return Err(Box::new(message.help(help.unwrap_or_else(|| {
                "sources always set their own variable, and strokes of junctions and couplers follow".to_string()
            }))));
        };
        let set = match (word, names.effort_is_across(port)) {
            ("effort", _) | ("across", Some(true)) | ("through", Some(false)) => Variable::Effort,
            ("flow", _) | ("across", Some(false)) | ("through", Some(true)) => Variable::Flow,
            _ => {
                let help = format!("write the variable that it sets: `--stroke {name}=effort` or `{name}=flow`");
                return Err(Box::new(
                    fault(format!("`{word}` is no variable of `{name}`")).help(help),
                ));
            }
        };
        if found.iter().any(|stroke| stroke.0 == port) {
            return Err(Box::new(
                fault(format!("`{name}` already has a stroke")).help("remove one of them"),
            ));
        }
        found.push((port, set));
    }
    Ok(found)
}

/// Returns true if neither the law of a port's element nor its neighbours alone decide its stroke.
fn is_free(names: Names<'_>, port: PortId) -> bool {
    let element = names.model.graph.ports[port.index()].element;
    let law = &names.model.graph.elements[element.index()].law;
    !matches!(law, Law::Source { .. } | Law::Coupler { .. })
}
