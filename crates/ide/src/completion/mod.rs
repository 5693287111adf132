//! What can be written at a place, by what stands in front of it.
//!
//! The statement under the pointer is most often incomplete, so that the tree does not have it: the place is found from the tokens,
//! and names from the item around it, whose other statements are known.

mod place;
mod scope;
mod signature;
#[cfg(test)]
mod tests;
mod words;

use crate::hover::{function, of_definition};
use crate::symbols::{detail_of, kind_of};
use crate::{Completion, NameKind, Snapshot};
use lgm_algebra::units::named_units;
use lgm_elaborate::analysis::{Analysis, DefinitionId, DefinitionKind};
use lgm_elaborate::{PORT_VARIABLES, Program, function_names};
use lgm_source::Span;
use place::{Before, Body, Expected, Values};
pub(crate) use scope::{domain_of, kinds};
use scope::{fits, formals};
pub(crate) use signature::signature;
use words::{ATTRIBUTES, DOMAIN_ENTRIES, OF_COMPONENTS, OF_MODELS, STATEMENTS, item_snippet};
pub(crate) use words::{LAWS, MODAL_ENTRIES, SETTINGS, USUAL_UNITS};

/// Whether something can be the end of a branch or a bond.
fn is_end(analysis: &Analysis, id: DefinitionId, in_chain: bool) -> bool {
    match analysis.get(id).kind {
        DefinitionKind::Node | DefinitionKind::Junction | DefinitionKind::Port => true,
        // A component has nodes inside.
        DefinitionKind::Instance => {
            let of = analysis.get(id).of.map(|of| analysis.get(of).kind);
            in_chain || of == Some(DefinitionKind::Component)
        }
        _ => false,
    }
}

/// Whether something has a value that an expression may hold.
fn is_value(kind: DefinitionKind, values: Values) -> bool {
    use DefinitionKind::*;
    match kind {
        Parameter | Constant | Formal | StructuralFormal | Index => true,
        Input | Signal | State | Output => values == Values::Any,
        // Members of these, and of laws the variables of ports.
        Instance | Port => values != Values::Fixed,
        _ => false,
    }
}

/// What is offered at one place.
struct Offer<'s, 't> {
    snapshot: &'s Snapshot,
    before: Before<'s, 't>,
}

impl Offer<'_, '_> {
    fn analysis(&self) -> &Analysis {
        self.snapshot.analysis()
    }

    fn plain(&self, label: &str, kind: NameKind) -> Completion {
        Completion {
            label: label.to_string(),
            kind,
            detail: None,
            documentation: None,
            insert: label.to_string(),
            replace: self.before.word,
        }
    }

    fn known(&self, id: DefinitionId) -> Completion {
        let definition = self.analysis().get(id);
        Completion {
            detail: detail_of(self.snapshot, id),
            documentation: Some(of_definition(self.snapshot, id)),
            ..self.plain(&definition.name, kind_of(definition.kind))
        }
    }

    /// Words of the language, with what they write.
    fn words(&self, words: &[(&str, &str)]) -> Vec<Completion> {
        let offered = words.iter().map(|(word, insert)| Completion {
            insert: insert.to_string(),
            ..self.plain(word, NameKind::Keyword)
        });
        offered.collect()
    }

    /// What is declared in the item around the place, and is what is asked for.
    fn members(&self, is_wanted: impl Fn(DefinitionId) -> bool) -> Vec<Completion> {
        let item = self.analysis().item_at(self.snapshot.root(), self.before.at);
        let members = item.map(|item| self.analysis().members(item)).unwrap_or_default();
        let wanted = members.into_iter().filter(|id| is_wanted(*id));
        wanted.map(|id| self.known(id)).collect()
    }

    fn port_variables(&self) -> impl Iterator<Item = Completion> {
        PORT_VARIABLES.iter().map(|word| self.plain(word, NameKind::Function))
    }

    fn nodes(&self, in_chain: bool, of: Option<DefinitionId>) -> Vec<Completion> {
        let mut nodes =
            self.members(|id| is_end(self.analysis(), id, in_chain) && (in_chain || fits(self.snapshot, of, id)));
        nodes.push(self.plain("gnd", NameKind::Node));
        nodes
    }

    fn statement(&self, in_component: bool) -> Vec<Completion> {
        let mut found = self.words(STATEMENTS);
        let elsewhere = if in_component { OF_MODELS } else { OF_COMPONENTS };
        found.retain(|word| !elsewhere.contains(&word.label.as_str()));
        // A chain of bonds begins with the name of an element or a junction.
        found.extend(self.members(|id| {
            matches!(
                self.analysis().get(id).kind,
                DefinitionKind::Instance | DefinitionKind::Junction
            )
        }));
        found
    }

    fn entry(&self, body: Body) -> Vec<Completion> {
        match body {
            Body::Element => {
                let mut found = self.words(LAWS);
                found.extend(self.members(|id| self.analysis().get(id).kind == DefinitionKind::Port));
                found
            }
            Body::Domain if !self.before.statement().is_empty() => ["across", "through"]
                .map(|word| self.plain(word, NameKind::Keyword))
                .into(),
            Body::Domain => self.words(DOMAIN_ENTRIES),
            Body::Modal => self.words(MODAL_ENTRIES),
        }
    }

    /// The ports of a component that are not bound yet.
    fn bindings(&self, of: DefinitionId) -> Vec<Completion> {
        let ports = self.analysis().members(of).into_iter();
        let ports = ports.filter(|id| self.analysis().get(*id).kind == DefinitionKind::Port);
        let completion = |id| {
            let name = &self.analysis().get(id).name;
            Completion {
                label: format!("{name} ="),
                insert: format!("{name} = "),
                ..self.known(id)
            }
        };
        ports.map(completion).collect()
    }

    fn domains(&self) -> Vec<Completion> {
        let ids = (0..self.analysis().definitions.len() as u32).map(DefinitionId);
        ids.filter(|id| self.analysis().get(*id).kind == DefinitionKind::Domain)
            .map(|id| self.known(id))
            .collect()
    }

    fn units(&self) -> Vec<Completion> {
        let named = named_units().filter(|unit| unit.0 != "1");
        let named = named.map(|(name, dimension)| Completion {
            detail: Some(dimension.text()).filter(|text| text != name),
            ..self.plain(name, NameKind::Unit)
        });
        let usual = USUAL_UNITS.iter().map(|name| self.plain(name, NameKind::Unit));
        named.chain(usual).collect()
    }

    /// What an expression may hold: the arguments of what it is an argument of, indices, names, constants and functions.
    fn expression(&self, of: Option<DefinitionId>, values: Values) -> Vec<Completion> {
        let analysis = self.analysis();
        let mut found = Vec::new();
        for id in of.map(|of| formals(self.snapshot, of)).unwrap_or_default() {
            let name = &analysis.get(id).name;
            found.push(Completion {
                label: format!("{name} ="),
                insert: format!("{name} = "),
                ..self.known(id)
            });
        }
        let indices = self.before.loop_indices().into_iter();
        found.extend(indices.map(|name| self.plain(name, NameKind::Index)));
        found.extend(self.members(|id| is_value(analysis.get(id).kind, values)));
        if values == Values::Law {
            found.extend(self.port_variables());
        }
        let constants: &[&str] = if values == Values::Fixed {
            &["pi"]
        } else {
            &["time", "pi"]
        };
        found.extend(constants.iter().map(|word| self.plain(word, NameKind::Keyword)));
        let functions = function_names().filter(|name| found.iter().all(|known| known.label != *name));
        let functions: Vec<Completion> = functions
            .map(|name| Completion {
                documentation: function(name).map(str::to_string),
                insert: format!("{name}($1)"),
                ..self.plain(name, NameKind::Function)
            })
            .collect();
        found.extend(functions);
        found
    }

    fn member(&self, id: DefinitionId) -> Vec<Completion> {
        let members = self.analysis().members(id).into_iter();
        let mut list: Vec<Completion> = members.map(|id| self.known(id)).collect();
        if self.analysis().get(id).kind == DefinitionKind::Port {
            list.extend(self.port_variables());
        }
        list
    }

    fn all(&self) -> Vec<Completion> {
        match self.before.expected() {
            Expected::Nothing => Vec::new(),
            Expected::Item => ["import", "model", "component", "element", "modal", "domain"]
                .into_iter()
                .map(|word| Completion {
                    insert: item_snippet(word),
                    ..self.plain(word, NameKind::Keyword)
                })
                .collect(),
            Expected::Statement { in_component } => self.statement(in_component),
            Expected::Entry(body) => self.entry(body),
            Expected::Setting => self.words(SETTINGS),
            Expected::Output => self.members(|id| self.analysis().get(id).kind == DefinitionKind::Output),
            Expected::Kind => kinds(self.snapshot)
                .into_iter()
                .map(|id| Completion {
                    insert: kind_snippet(self.snapshot, id),
                    ..self.known(id)
                })
                .collect(),
            Expected::Domain => self.domains(),
            Expected::Unit => self.units(),
            Expected::Module => Program::modules()
                .map(|name| self.plain(name, NameKind::Module))
                .collect(),
            Expected::Member(id) => self.member(id),
            Expected::Flag => vec![self.plain("floating", NameKind::Keyword)],
            Expected::Attribute(of) => {
                let mut found = self.words(ATTRIBUTES);
                if of.is_some() {
                    found.extend(self.nodes(false, of));
                }
                found
            }
            Expected::Binding(of) => self.bindings(of),
            Expected::Node { in_chain, of } => self.nodes(in_chain, of),
            Expected::Measured => self.members(|id| {
                use DefinitionKind::*;
                matches!(self.analysis().get(id).kind, Node | Junction | Port | Instance)
            }),
            Expected::Expression { of, values } => self.expression(of, values),
        }
    }
}

/// What can be written at a byte of the root text.
pub(crate) fn completions(snapshot: &Snapshot, at: u32) -> Vec<Completion> {
    let text = snapshot.map().get(snapshot.root()).text.clone();
    if is_in_comment(&text, at as usize) {
        return Vec::new();
    }
    let before = Before::new(snapshot, &text, at);
    Offer { snapshot, before }.all()
}

/// `Spring(${1:k}) ${2:a} -> ${3:b}`
fn kind_snippet(snapshot: &Snapshot, id: DefinitionId) -> String {
    let analysis = snapshot.analysis();
    let names = formals(snapshot, id)
        .into_iter()
        .map(|formal| &analysis.get(formal).name);
    let names: Vec<String> = names.zip(1..).map(|(name, at)| format!("${{{at}:{name}}}")).collect();
    format!("{}({})$0", analysis.get(id).name, names.join(", "))
}

/// What of the path of a quoted import is written up to a byte of the root text.
pub(crate) fn import_path(snapshot: &Snapshot, at: u32) -> Option<Span> {
    let text = &snapshot.map().get(snapshot.root()).text;
    let before = text.get(..at as usize)?;
    let line = &before[before.rfind('\n').map_or(0, |end| end + 1)..];
    let (words, path) = line.split_once('"')?;
    let is_import = words.trim() == "import" && !path.contains('"');
    is_import.then(|| Span::new(snapshot.root(), at as usize - path.len(), at as usize))
}

/// Whether a place lies behind `//` in its line.
fn is_in_comment(text: &str, at: usize) -> bool {
    let before = text.get(..at).unwrap_or("");
    let line = &before[before.rfind('\n').map_or(0, |line| line + 1)..];
    let outside: String = line.split('"').step_by(2).collect();
    outside.contains("//")
}
