//! The possible completions at a location, by the preceding text.
//!
//! The statement at the cursor is usually incomplete and therefore missing from the tree. The context is found from the tokens, and names
//! from the item around it, whose other statements are known.

mod curves;
mod expected;
mod place;
mod ranking;
mod scope;
mod signature;
#[cfg(test)]
mod tests;
mod words;

use crate::functions::function;
use crate::modes::{element_at, element_of};
use crate::symbols::{detail_of, kind_of};
use crate::{Completion, Completions, Edit, NameKind, Snapshot};
use expected::{Body, Expected, Values};
use lgm_algebra::units::{Dimension, named_units};
use lgm_elaborate::analysis::{Analysis, DefinitionId, DefinitionKind};
use lgm_elaborate::{EXPERIMENT_METHODS, LIBRARY, MEASURES, MODAL_ARGUMENTS, PORT_VARIABLES, Program, function_names};
use lgm_source::Span;
use lgm_syntax::ast::Element;
use lgm_syntax::token::Token;
use place::{Before, Inside};
use rustc_hash::FxHashSet;
use scope::{Shape, assigned_in_modal, fits, fits_port, formals, is_formal, ports, shape};
pub(crate) use scope::{domain_of, kinds};
pub(crate) use signature::signature;
use words::{ATTRIBUTES, DOMAIN_ENTRIES, FLAGS, MODE, OF_COMPONENTS, OF_ELEMENTS, OF_MODELS, STATEMENTS, item_snippet};
pub(crate) use words::{LAWS, MODAL_ENTRIES, SETTINGS, USUAL_UNITS};

/// Longer lists are truncated: they are unreadable and slow to send.
const MOST: usize = 250;

/// Returns true if a definition can be the end of a branch or a bond.
fn is_end(analysis: &Analysis, id: DefinitionId, in_chain: bool) -> bool {
    match analysis.get(id).kind {
        DefinitionKind::Node | DefinitionKind::Port => true,
        DefinitionKind::Junction | DefinitionKind::Instance => in_chain,
        _ => false,
    }
}

/// Returns true if a definition has a value that an expression may contain.
fn is_value(kind: DefinitionKind, values: Values) -> bool {
    use DefinitionKind::*;
    match kind {
        Parameter | Formal if values == Values::Constant => false,
        Parameter | Constant | Formal | StructuralFormal | Index | Table => true,
        Input | Signal | State | Discrete | Output => values == Values::Any,
        // Members of these and, in laws, the variables of ports.
        Instance | Port => matches!(values, Values::Any | Values::Law | Values::Set),
        _ => false,
    }
}

/// The maximum number of complete branches offered.
const MOST_BRANCHES: usize = 4;

/// The completions at one location.
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
            definition: None,
            import: None,
            insert: label.to_string(),
            replace: self.before.word,
        }
    }

    fn known(&self, id: DefinitionId) -> Completion {
        let definition = self.analysis().get(id);
        Completion {
            detail: detail_of(self.snapshot, id),
            definition: Some(id),
            ..self.plain(&definition.name, kind_of(definition.kind))
        }
    }

    /// Returns keywords with the text that each inserts.
    fn words(&self, words: &[(&str, &str)]) -> Vec<Completion> {
        let offered = words.iter().map(|(word, insert)| Completion {
            insert: insert.to_string(),
            ..self.plain(word, NameKind::Keyword)
        });
        offered.collect()
    }

    /// Returns keywords without those already in the statement or experiment at the location.
    fn not_given(&self, words: &[(&str, &str)]) -> Vec<Completion> {
        let mut found = self.words(words);
        let given = self.before.assigned();
        found.retain(|word| !given.contains(&word.label.as_str()));
        found
    }

    /// Returns the requested declarations of the item around the location.
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
        if in_chain {
            let mut ends = self.members(|id| is_end(self.analysis(), id, true));
            ends.push(self.plain("gnd", NameKind::Node));
            return ends;
        }
        // The ends of a branch are both scalar or both vectors.
        let known = self.before.branch_begins_at().and_then(|name| self.before.named(name));
        let is_vector = |id: DefinitionId| shape(self.snapshot, id) == Shape::Vector;
        let goes_with = |id: DefinitionId| known.is_none_or(|begin| is_vector(begin) == is_vector(id));
        let mut nodes = self.ends(|id| fits(self.snapshot, of, id) && goes_with(id));
        let branches = match self.before.branch_begins_at() {
            Some(_) => Vec::new(),
            None => self.branches(&nodes),
        };
        nodes.push(self.plain("gnd", NameKind::Node));
        nodes.extend(branches);
        nodes
    }

    /// Returns complete branches: from each of the first nodes to the reference.
    fn branches(&self, nodes: &[Completion]) -> Vec<Completion> {
        let whole = nodes
            .iter()
            .filter(|node| node.insert == node.label)
            .take(MOST_BRANCHES);
        whole
            .map(|node| Completion {
                detail: node.detail.clone(),
                ..self.plain(&format!("{} -> gnd", node.label), NameKind::Node)
            })
            .collect()
    }

    /// Returns the nodes and ports of the item at the location, and those of its components by their paths.
    fn ends(&self, is_wanted: impl Fn(DefinitionId) -> bool) -> Vec<Completion> {
        let analysis = self.analysis();
        let is_end = |id: DefinitionId| is_end(analysis, id, false) && is_wanted(id);
        // An array of nodes: an index selects one of them.
        let indexed = |id: DefinitionId, name: Completion| Completion {
            insert: match shape(self.snapshot, id) {
                Shape::Array => format!("{}[$1]", name.insert),
                _ => name.insert,
            },
            ..name
        };
        let item = analysis.item_at(self.snapshot.root(), self.before.at);
        let members = item.map(|item| analysis.members(item)).unwrap_or_default();
        let own = members.iter().copied().filter(|id| is_end(*id));
        let mut found: Vec<Completion> = own.map(|id| indexed(id, self.known(id))).collect();
        let is_component = |id: DefinitionId| {
            let of = analysis.get(id).of.map(|of| analysis.get(of).kind);
            of == Some(DefinitionKind::Component) && shape(self.snapshot, id) == Shape::Scalar
        };
        for instance in members.into_iter().filter(|id| is_component(*id)) {
            let inner = analysis.members(instance).into_iter().filter(|id| is_end(*id));
            found.extend(inner.map(|id| {
                let path = format!("{}.{}", analysis.get(instance).name, analysis.get(id).name);
                let known = self.known(id);
                let (label, insert) = (path.clone(), path);
                // The documentation is found by name, and this is a path.
                indexed(
                    id,
                    Completion {
                        label,
                        insert,
                        definition: None,
                        ..known
                    },
                )
            }));
        }
        found
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
            Body::Element | Body::Mode => {
                let mut found = self.words(LAWS);
                found.retain(|word| body == Body::Element || !OF_ELEMENTS.contains(&word.label.as_str()));
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

    /// Returns the possible targets of a block: discrete variables, states, and measures of storage.
    fn action(&self) -> Vec<Completion> {
        use DefinitionKind::{Discrete, State};
        let assigned = |name: Completion| Completion {
            insert: format!("{} := ${{1:0}};", name.insert),
            ..name
        };
        let targets = self.members(|id| matches!(self.analysis().get(id).kind, Discrete | State));
        let mut found: Vec<Completion> = targets.into_iter().map(assigned).collect();
        let measures = ["across", "through"].map(|name| Completion {
            insert: format!("{name}($1) := ${{2:0}};"),
            documentation: function(name),
            ..self.plain(name, NameKind::Function)
        });
        found.extend(measures);
        found.extend(self.words(&[("if", "if ${1:condition} { $0 }")]));
        found
    }

    /// Returns the modes of an element.
    fn modes(&self, element: Option<&Element>) -> Vec<Completion> {
        let modes = element.map_or(&[][..], |element| &element.modes);
        modes
            .iter()
            .map(|mode| self.plain(&mode.name.text, NameKind::Mode))
            .collect()
    }

    /// Returns the possible targets of a change of modes: the variables of the port, or of each port.
    fn settings(&self) -> Vec<Completion> {
        let ports = self.members(|id| self.analysis().get(id).kind == DefinitionKind::Port);
        if !ports.is_empty() {
            return ports;
        }
        self.port_variables().map(|name| self.assigned(name)).collect()
    }

    /// Returns the unbound ports of a component.
    fn bindings(&self, of: DefinitionId, open: usize) -> Vec<Completion> {
        let (given, _) = self.before.given(open);
        let ports = ports(self.snapshot, of).into_iter();
        let ports = ports.filter(|id| !given.contains(&&*self.analysis().get(*id).name));
        ports.map(|id| self.assigned(self.known(id))).collect()
    }

    /// Returns a name as the target of an assignment.
    fn assigned(&self, name: Completion) -> Completion {
        Completion {
            insert: format!("{} = ", name.label),
            label: format!("{} =", name.label),
            ..name
        }
    }

    /// Returns the missing arguments.
    fn arguments(&self, of: DefinitionId, open: usize) -> Vec<Completion> {
        let (given, unnamed) = self.before.given(open);
        let is_left = |name: &str| !given.contains(&name);
        let formals = formals(self.snapshot, of).into_iter().skip(unnamed);
        let formals = formals.filter(|id| is_left(&self.analysis().get(*id).name));
        let mut found: Vec<Completion> = formals.map(|id| self.assigned(self.known(id))).collect();
        if self.analysis().get(of).kind == DefinitionKind::Modal {
            let common = MODAL_ARGUMENTS.iter().filter(|name| is_left(name));
            found.extend(common.map(|name| self.assigned(self.plain(name, NameKind::Parameter))));
        }
        found
    }

    /// Returns true if the condition of a `when` block begins at the location.
    fn is_condition_of_block(&self) -> bool {
        matches!(self.before.statement(), [(_, Token::When, _)])
    }

    fn domains(&self) -> Vec<Completion> {
        let ids = (0..self.analysis().definitions.len() as u32).map(DefinitionId);
        let domains = ids.filter(|id| self.analysis().get(*id).kind == DefinitionKind::Domain);
        let mut found: Vec<Completion> = domains.map(|id| self.known(id)).collect();
        // Elements of bond graphs and their ports belong to this domain, which no text declares.
        let first = self.before.statement().first().map(|entry| entry.1);
        if first == Some(Token::Element) || self.before.item_word() == Some(Token::Element) {
            found.push(self.plain("bond", NameKind::Domain));
        }
        found
    }

    /// Returns the named units of a dimension if it is known, and otherwise also common units without a name.
    fn units(&self, of: Option<&str>) -> Vec<Completion> {
        let is_wanted = |dimension: &Dimension| of.is_none_or(|of| dimension.text() == of);
        let named = named_units().filter(|unit| unit.0 != "1" && is_wanted(&unit.1));
        let named = named.map(|(name, dimension)| Completion {
            detail: Some(dimension.text()).filter(|text| text != name),
            ..self.plain(name, NameKind::Unit)
        });
        let usual = USUAL_UNITS.iter().map(|name| self.plain(name, NameKind::Unit));
        let usual = usual.filter(|_| of.is_none());
        named.chain(usual).collect()
    }

    /// Returns the possible parts of an expression: the arguments of its own expression, indices, names, constants and
    /// functions.
    fn expression(&self, of: Option<(DefinitionId, usize)>, values: Values) -> Vec<Completion> {
        let analysis = self.analysis();
        let mut found = of.map(|(of, open)| self.arguments(of, open)).unwrap_or_default();
        if values == Values::Mode {
            let coordinates = self.before.coordinates().into_iter();
            found.extend(coordinates.map(|name| self.plain(name, NameKind::Index)));
            let assigned = assigned_in_modal(self.snapshot, self.before.at).into_iter();
            found.extend(assigned.map(|name| self.plain(name, NameKind::Parameter)));
        }
        let indices = self.before.loop_indices().into_iter();
        found.extend(indices.map(|name| self.plain(name, NameKind::Index)));
        let declared = self.before.declared();
        found.extend(self.members(|id| {
            let known = analysis.get(id);
            is_value(known.kind, values) && Some(&*known.name) != declared
        }));
        let outside = scope::outside(self.snapshot).filter(|id| Some(&*analysis.get(*id).name) != declared);
        found.extend(outside.map(|id| self.known(id)));
        let is_call =
            |id: DefinitionId| matches!(analysis.get(id).kind, DefinitionKind::Function | DefinitionKind::Table);
        for name in found.iter_mut().filter(|name| name.definition.is_some_and(is_call)) {
            name.insert = format!("{}($1)", name.label);
        }
        if matches!(values, Values::Law | Values::Set) {
            found.extend(self.port_variables());
        }
        let constants: &[&str] = match values {
            Values::Constant | Values::Fixed | Values::Mode => &["pi"],
            Values::Any if self.is_condition_of_block() => &["time", "pi", "initially"],
            Values::Any | Values::Law | Values::Set => &["time", "pi"],
        };
        found.extend(constants.iter().map(|word| self.plain(word, NameKind::Keyword)));
        // Measurements and time-varying values are not allowed in fixed values or in a law.
        let is_allowed = |name: &str| match values {
            Values::Any => name != "before",
            Values::Law => !MEASURES.contains(&name) && name != "before",
            Values::Set => !MEASURES.contains(&name),
            _ if name == "before" => false,
            Values::Constant | Values::Fixed | Values::Mode => {
                !MEASURES.contains(&name) && !["step", "pulse", "ramp"].contains(&name)
            }
        };
        let functions =
            function_names().filter(|name| found.iter().all(|known| known.label != *name) && is_allowed(name));
        let functions: Vec<Completion> = functions
            .map(|name| Completion {
                documentation: function(name),
                insert: format!("{name}($1)"),
                ..self.plain(name, NameKind::Function)
            })
            .collect();
        found.extend(functions);
        found
    }

    /// Returns the possible definitions of an instance: first those in scope, then those of library modules with their imports.
    fn kinds(&self) -> Vec<Completion> {
        let in_scope = kinds(self.snapshot);
        let analysis = self.analysis();
        let names: FxHashSet<&str> = in_scope.iter().map(|id| &*analysis.get(*id).name).collect();
        let program = self.snapshot.compilation().program();
        let mut others: Vec<(&str, &str)> = program
            .importable_kinds()
            .filter(|kind| !names.contains(kind.0))
            .collect();
        others.sort_unstable();
        let others = others.into_iter().filter_map(|(name, module)| {
            let (span, text) = program.importing(module, self.snapshot.map(), self.snapshot.root())?;
            Some(Completion {
                detail: Some(format!("import {module}")),
                documentation: described(module, name),
                insert: format!("{name}($1)$0"),
                import: Some(Edit { span, text }),
                ..self.plain(name, NameKind::Element)
            })
        });
        let known = in_scope.iter().map(|id| Completion {
            insert: kind_snippet(self.snapshot, *id),
            ..self.known(*id)
        });
        known.chain(others).collect()
    }

    fn member(&self, id: DefinitionId) -> Vec<Completion> {
        let members = self.analysis().members(id).into_iter();
        let of = self.analysis().get(id).of.map(|of| self.analysis().get(of).kind);
        let is_element = matches!(of, Some(DefinitionKind::Element | DefinitionKind::Modal));
        // The arguments of an element are not accessible; those of a component are.
        let members = members.filter(|id| !(is_element && is_formal(self.analysis().get(*id).kind)));
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
            Expected::Setting => self.not_given(SETTINGS),
            Expected::Method => {
                let methods = EXPERIMENT_METHODS.iter();
                methods.map(|word| self.plain(word, NameKind::Keyword)).collect()
            }
            Expected::Curve => {
                let mut found = self.members(|id| self.analysis().get(id).kind == DefinitionKind::Output);
                let others = curves::others(self.snapshot, &self.before);
                let others = others.into_iter().map(|(name, kind)| self.plain(&name, kind));
                found.extend(others);
                found
            }
            Expected::CurveOf(_) => {
                let states = curves::states_of(self.snapshot, &self.before).into_iter();
                states.map(|name| self.plain(&name, NameKind::State)).collect()
            }
            Expected::Kind => self.kinds(),
            Expected::Domain => self.domains(),
            Expected::Unit => self.units(None),
            Expected::UnitOfTime => {
                let mut units = self.units(Some("s"));
                units.push(self.plain("ms", NameKind::Unit));
                units
            }
            Expected::PortVariable => self.port_variables().collect(),
            Expected::Module => Program::modules()
                .map(|name| self.plain(name, NameKind::Module))
                .collect(),
            Expected::Member(id) => self.member(id),
            Expected::Flag { of_domain } => {
                let mut found = self.not_given(FLAGS);
                found.retain(|word| of_domain || word.label != "floating");
                found
            }
            Expected::Action => self.action(),
            Expected::First => vec![self.plain("from", NameKind::Keyword)],
            Expected::Mode(of) => self.modes(match of {
                Some(of) => element_of(self.snapshot, of),
                None => element_at(self.snapshot, self.before.at),
            }),
            Expected::Set => self.settings(),
            Expected::Attribute(of) => {
                let mut found = self.not_given(ATTRIBUTES);
                let element = of.and_then(|of| element_of(self.snapshot, of));
                if element.is_some_and(|element| !element.modes.is_empty()) {
                    found.extend(self.not_given(MODE));
                }
                if of.is_some() {
                    found.extend(self.nodes(false, of));
                }
                found
            }
            Expected::Binding(of, open) => self.bindings(of, open),
            Expected::Node { in_chain, of } => self.nodes(in_chain, of),
            Expected::Bound(port) => {
                let mut nodes = self.ends(|id| fits_port(self.snapshot, port, id));
                nodes.push(self.plain("gnd", NameKind::Node));
                nodes
            }
            Expected::Measured { of_elements } => self.members(|id| {
                use DefinitionKind::*;
                match self.analysis().get(id).kind {
                    Instance => true,
                    Node | Junction | Port => !of_elements,
                    _ => false,
                }
            }),
            Expected::Expression { of, values } => self.expression(of, values),
        }
    }
}

/// Returns the possible completions at a byte of the root text.
pub(crate) fn completions(snapshot: &Snapshot, at: u32) -> Completions {
    let text = snapshot.map().get(snapshot.root()).text.clone();
    let before = Before::new(snapshot, &text, at);
    let typed = &text[before.word.start as usize..(at as usize).max(before.word.start as usize)];
    let offer = Offer { snapshot, before };
    let is_ranked = matches!(offer.before.expected(), Expected::Unit | Expected::Expression { .. });
    let wanted = is_ranked.then(|| ranking::wanted(snapshot, &offer.before)).flatten();
    let mut list = offer.all();
    if let Some(wanted) = wanted {
        // A unit without a name is written as in the declaration.
        let is_listed = list.iter().any(|entry| entry.label == wanted.words);
        if offer.before.expected() == Expected::Unit && !is_listed {
            list.push(offer.plain(&wanted.words, NameKind::Unit));
        }
        list.sort_by_cached_key(|entry| ranking::rank(snapshot, &wanted, entry));
    }
    limited(list, typed)
}

/// Returns true if a name contains all letters of a query, in order.
pub fn is_part(query: &str, name: &str) -> bool {
    let mut letters = name.chars().flat_map(char::to_lowercase);
    query
        .chars()
        .flat_map(char::to_lowercase)
        .all(|letter| letters.any(|other| other == letter))
}

/// Returns a short list completely, and filters a long list by the letters typed so far; names that begin with them come first.
fn limited(mut list: Vec<Completion>, typed: &str) -> Completions {
    let is_incomplete = list.len() > MOST;
    if is_incomplete {
        list.retain(|entry| is_part(typed, &entry.label));
        list.sort_by_key(|entry| !entry.label.starts_with(typed));
        list.truncate(MOST);
    }
    Completions { list, is_incomplete }
}

/// Returns the first line of the description of an element or a component of a library module.
fn described(module: &str, name: &str) -> Option<&'static str> {
    let text = LIBRARY.iter().find(|known| known.name == module)?.text;
    let heads = ["element", "component", "modal"].map(|word| format!("\n{word} {name}"));
    let is_head = |at: &usize, head: &String| {
        let rest = &text[at + head.len()..];
        !rest.starts_with(|letter: char| letter.is_alphanumeric() || letter == '_')
    };
    let at = heads.iter().find_map(|head| {
        text.match_indices(head.as_str())
            .map(|found| found.0)
            .find(|at| is_head(at, head))
    })?;
    let lines = text[..at].lines().rev().take_while(|line| line.starts_with("///"));
    lines.last().map(|line| line.trim_start_matches('/').trim_start())
}

/// Returns the snippet of a kind: `Spring(${1:k}) ${2:a} -> ${3:b}`.
fn kind_snippet(snapshot: &Snapshot, id: DefinitionId) -> String {
    let analysis = snapshot.analysis();
    let names = formals(snapshot, id)
        .into_iter()
        .map(|formal| &analysis.get(formal).name);
    let names: Vec<String> = names.zip(1..).map(|(name, at)| format!("${{{at}:{name}}}")).collect();
    format!("{}({})$0", analysis.get(id).name, names.join(", "))
}

/// The possible targets of a quoted path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathKind {
    /// `import "parts/cell.lgm";`
    Import,
    /// `modes = table("modes.csv")`
    Table,
}

/// Returns, for a location in a quoted path, the part of the path before the location, and the kind of its target.
pub(crate) fn path_at(snapshot: &Snapshot, at: u32) -> Option<(Span, PathKind)> {
    let text = snapshot.map().get(snapshot.root()).text.clone();
    let before = Before::new(snapshot, &text, at);
    let Inside::Text(span) = before.inside else {
        return None;
    };
    let kind = match before.tokens[..] {
        [.., (_, Token::Import, _), _] => PathKind::Import,
        [.., (_, Token::Name("table"), _), (_, Token::ParenOpen, _), _] => PathKind::Table,
        _ => return None,
    };
    Some((span, kind))
}
