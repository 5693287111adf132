//! The formal parameters of the call that is being written.

use super::place::{Before, Inside};
use super::scope::{self, formals, ports};
use crate::functions::call;
use crate::{Signature, Snapshot};
use lgm_elaborate::MODAL_ARGUMENTS;
use lgm_elaborate::analysis::{DefinitionId, DefinitionKind};
use lgm_source::Span;
use lgm_syntax::token::Token;

/// Returns the signature for the open parentheses at a byte of the root text: the parameters of an element or a component, the ports of a
/// component, or the arguments of a function.
pub(crate) fn signature(snapshot: &Snapshot, at: u32) -> Option<Signature> {
    let text = snapshot.map().get(snapshot.root()).text.clone();
    let mut before = Before::new(snapshot, &text, at);
    if before.inside == Inside::Comment {
        return None;
    }
    // An incomplete word belongs to the argument.
    if before.word.start < before.word.end {
        before.word = Span {
            end: before.word.start,
            ..before.word
        };
    }
    loop {
        let (place, commas) = before.open()?;
        if let Some(found) = at_parenthesis(snapshot, &before, place, commas) {
            return Some(found);
        }
        // Leaves the brackets of a unit or an index, and any parentheses other than those of a call.
        before.tokens.truncate(place);
    }
}

fn at_parenthesis(snapshot: &Snapshot, before: &Before, place: usize, commas: usize) -> Option<Signature> {
    if before.tokens[place].1 == Token::BracketOpen {
        return None;
    }
    let named = before.argument_name(place);
    if let Some(id) = before.kind_before(place) {
        return Some(of_definition(
            snapshot,
            id,
            String::new(),
            formals(snapshot, id),
            named,
            commas,
        ));
    }
    match before.tokens[place.checked_sub(1)?].1 {
        Token::ParenClose => {
            let id = before.kind_of_statement()?;
            let is_component = snapshot.analysis().get(id).kind == DefinitionKind::Component;
            let head = "(..) ".to_string();
            is_component.then(|| of_definition(snapshot, id, head, ports(snapshot, id), named, commas))
        }
        Token::Name(name) => {
            let mut own = scope::outside(snapshot).filter(|id| *snapshot.analysis().get(*id).name == *name);
            if let Some(id) = own.next() {
                return Some(of_definition(
                    snapshot,
                    id,
                    String::new(),
                    formals(snapshot, id),
                    named,
                    commas,
                ));
            }
            let (label, formals, meaning) = call(name)?;
            // The last argument is repeatable: `min(a, b, c)`.
            let active = Some(commas.min(formals.len() - 1));
            Some(Signature {
                label: label.to_string(),
                formals,
                active,
                documentation: Some(meaning.to_string()),
            })
        }
        _ => None,
    }
}

/// Returns the signature `Spring(k [N/m])`, and with a head `Cell(..) (p : electrical, n : electrical)`.
fn of_definition(
    snapshot: &Snapshot,
    id: DefinitionId,
    head: String,
    members: Vec<DefinitionId>,
    named: Option<&str>,
    commas: usize,
) -> Signature {
    let analysis = snapshot.analysis();
    let mut words: Vec<(String, &str)> = members
        .into_iter()
        .map(|member| {
            let member = analysis.get(member);
            let words = snapshot.map().slice(member.span);
            let words = match (member.kind, member.of) {
                (DefinitionKind::Port, Some(of)) => format!("{words} : {}", analysis.get(of).name),
                _ => words.to_string(),
            };
            (words, &*member.name)
        })
        .collect();
    if head.is_empty() && analysis.get(id).kind == DefinitionKind::Modal {
        words.extend(MODAL_ARGUMENTS.iter().map(|name| (name.to_string(), *name)));
    }
    let by_name = words.iter().position(|(_, name)| named == Some(name));
    let mut label = format!("{}{head}(", analysis.get(id).name);
    let mut ranges = Vec::new();
    for (index, (words, _)) in words.iter().enumerate() {
        if index > 0 {
            label.push_str(", ");
        }
        let from = label.len();
        label.push_str(words);
        ranges.push(from..label.len());
    }
    label.push(')');
    let active = by_name.or(Some(commas)).filter(|active| *active < ranges.len());
    let documentation = analysis.get(id).doc.as_ref().map(|doc| doc.trim().to_string());
    Signature {
        label,
        formals: ranges,
        active,
        documentation,
    }
}
