//! A model that contains only one definition, with the formal parameters as model parameters.

use crate::Compilation;
use lgm_elaborate::node_for;
use lgm_source::SourceMap;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_syntax::ast::{Formal, Item, PortDecl, StatementKind};
use std::fmt::Write as _;

/// A model with one instance.
pub(super) struct Own {
    /// The name of the model.
    pub model: String,
    /// The name of the instance.
    pub instance: String,
    /// The text of the model.
    pub text: String,
}

/// The result of writing the model.
pub(super) enum Written {
    Text(Own),
    Refused(Box<Diagnostic>),
    /// The file does not contain the definition.
    NoDefinition,
}

/// Values for parameters without a default. No sum, difference or product of a few of them vanishes.
const VALUES: [&str; 8] = ["1.3", "0.7", "1.9", "2.3", "0.37", "3.1", "1.1", "0.53"];

fn refused(message: String, help: &str) -> Written {
    Written::Refused(Box::new(Diagnostic::error(Code::LGM0719, message).help(help)))
}

/// Writes the model of a component or an element that the file defines.
pub(super) fn written(
    compilation: &Compilation,
    name: &str,
    needs_values: bool,
    is_set: &dyn Fn(&str) -> bool,
) -> Written {
    let (map, tree) = (compilation.map(), compilation.program().ast(compilation.root()));
    let items = tree.map_or(&[][..], |tree| &tree.items);
    let definition = items.iter().find(|item| match item {
        Item::Component(component) => *component.name.text == *name,
        Item::Element(element) => *element.name.text == *name,
        Item::Modal(modal) => *modal.name.text == *name,
        _ => false,
    });
    let (formals, ports, domain) = match definition {
        Some(Item::Component(component)) => {
            let ports = component.body.iter().flat_map(|statement| match &statement.kind {
                StatementKind::Port(ports) => &ports[..],
                _ => &[],
            });
            (&component.formals, ports.collect::<Vec<&PortDecl>>(), None)
        }
        Some(Item::Element(element)) => {
            if element.domain.as_ref().is_some_and(|domain| &*domain.text == "bond") {
                let help = "its law is its terminal equation";
                return refused(format!("`{name}` is a bond graph element"), help);
            }
            (
                &element.formals,
                element.ports.iter().collect(),
                element.domain.as_ref(),
            )
        }
        Some(_) => {
            let help = "name an instance of it in a model";
            return refused(
                format!("the modal block `{name}` has modes and ports only where it is used"),
                help,
            );
        }
        None => return Written::NoDefinition,
    };
    let instance = unused("part", &ports);
    let mut text = String::new();
    if let Some(fault) = parameters(map, name, formals, (needs_values, is_set), &mut text) {
        return fault;
    }
    let arguments: Vec<String> = formals
        .iter()
        .map(|formal| format!("{0} = {0}", formal.name.text))
        .collect();
    let mut ends = Vec::new();
    for port in &ports {
        if port.domain.as_ref().or(domain).is_none() {
            let help = "name an instance of it in a model";
            return refused(
                format!(
                    "the port `{}` of `{name}` has the domain of its node",
                    port.declared.name.text
                ),
                help,
            );
        }
        let declared = node_for(map, &port.declared.name.text, port, domain);
        // Internally, only differences of across variables may matter.
        let _ = writeln!(text, "{declared}, floating;");
        ends.push(port.declared.name.text.to_string());
    }
    let arguments = arguments.join(", ");
    let _ = match definition {
        Some(Item::Element(_)) => {
            if ends.is_empty() {
                let Some(domain) = domain else {
                    let help = "name an instance of it in a model";
                    return refused(format!("`{name}` has the domain of its nodes"), help);
                };
                let end = unused("end", &[]);
                let _ = writeln!(text, "  node {end} : {}, floating;", domain.text);
                ends.push(end);
            }
            let branches: Vec<String> = ends.iter().map(|end| format!("{end} -> gnd")).collect();
            writeln!(text, "  {instance} : {name}({arguments}) {};", branches.join(", "))
        }
        _ => {
            let bindings: Vec<String> = ends.iter().map(|end| format!("{end} = {end}")).collect();
            writeln!(text, "  {instance} : {name}({arguments}) ({});", bindings.join(", "))
        }
    };
    let model = format!("{name}__alone");
    Written::Text(Own {
        text: format!("\nmodel {model} {{\n{text}}}\n"),
        model,
        instance,
    })
}

/// Returns a name that no port has.
fn unused(name: &str, ports: &[&PortDecl]) -> String {
    let mut name = name.to_string();
    while ports.iter().any(|port| *port.declared.name.text == *name) {
        name.push('_');
    }
    name
}

/// Declares the formal parameters as parameters. A required parameter without a value is an error.
fn parameters(
    map: &SourceMap,
    name: &str,
    formals: &[Formal],
    (needs_values, is_set): (bool, &dyn Fn(&str) -> bool),
    text: &mut String,
) -> Option<Written> {
    for (at, formal) in formals.iter().enumerate() {
        let own = &*formal.name.text;
        let keyword = if formal.structural { "const" } else { "param" };
        let unit = formal.unit.as_ref().map_or("", |unit| map.slice(unit.span));
        let value = match &formal.default {
            Some(value) => map.slice(value.span),
            None if (formal.structural || needs_values) && !is_set(own) => {
                let help = format!("set it: `--set {own}=..`");
                return Some(refused(format!("`{own}` of `{name}` has no value"), &help));
            }
            None => VALUES[at % VALUES.len()],
        };
        let _ = match (unit, formal.structural) {
            ("", _) | (_, true) => writeln!(text, "  {keyword} {own} = {value};"),
            _ => writeln!(text, "  {keyword} {own} {unit} = {value};"),
        };
    }
    None
}
