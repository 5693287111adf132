//! The curves of an experiment apart from outputs.

use super::place::Before;
use crate::trial::changed;
use crate::{Edit, NameKind, Snapshot};
use lgm_model::system::StateSystem;
use lgm_source::Span;
use lgm_syntax::token::Token;

/// Models with more elements than this are not compiled to find the names of their states.
const LARGEST: usize = 1000;

/// Applies a function to the equations of the model without the experiment at this location, which may be incomplete.
fn with_system<R: Default>(snapshot: &Snapshot, before: &Before, work: impl FnOnce(&StateSystem) -> R) -> R {
    if let Some(system) = snapshot.compilation().system() {
        return work(system);
    }
    let without = || {
        let span = experiment(before)?;
        let text = String::new();
        let trial = changed(snapshot, &[Edit { span, text }])?;
        let is_small = trial.compilation().model()?.graph.elements.len() <= LARGEST;
        is_small.then(|| trial.compilation().system().map(work))?
    };
    without().unwrap_or_default()
}

/// Returns the experiment around the location: from its keyword to its closing brace, or to the location if there is none.
fn experiment(before: &Before) -> Option<Span> {
    let from = before.tokens.iter().rposition(|entry| entry.1 == Token::Experiment)?;
    let mut depth = 1;
    let mut end = before.word.end.max(before.at) as usize;
    for (_, token, after) in &before.after {
        match token {
            Token::BraceOpen => depth += 1,
            Token::BraceClose => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            end = *after;
            break;
        }
    }
    Some(Span::new(before.snapshot.root(), before.tokens[from].0, end))
}

/// Returns the names of states and inputs.
pub(super) fn others(snapshot: &Snapshot, before: &Before) -> Vec<(String, NameKind)> {
    with_system(snapshot, before, |system| {
        let states = system
            .states
            .iter()
            .map(|state| (state.name.to_string(), NameKind::State));
        let inputs = system
            .declared_inputs()
            .map(|input| (input.name.to_string(), NameKind::Input));
        states.chain(inputs).collect()
    })
}

/// Returns the states of the instance whose path ends with the dot at the location; the names omit this path.
pub(super) fn states_of(snapshot: &Snapshot, before: &Before) -> Vec<String> {
    let begins = |token: &Token<'_>| matches!(token, Token::Comma | Token::Equals);
    let mut depth = 0;
    let from = before.tokens.iter().rposition(|entry| {
        match entry.1 {
            Token::BracketClose => depth += 1,
            Token::BracketOpen => depth -= 1,
            _ => {}
        }
        depth < 0 || depth == 0 && begins(&entry.1)
    });
    let start = from.map_or(0, |from| before.tokens[from].2);
    let end = before.tokens.last().map_or(start, |entry| entry.2);
    let path = snapshot
        .map()
        .slice(Span::new(snapshot.root(), start, end))
        .replace(char::is_whitespace, "");
    with_system(snapshot, before, |system| {
        let names = system.states.iter().filter_map(|state| {
            let name = state.name.replace(' ', "");
            name.strip_prefix(&path).map(str::to_string)
        });
        names.collect()
    })
}
