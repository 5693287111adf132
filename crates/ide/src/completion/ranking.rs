//! Ranking of completions: if a value of a known unit is expected, items with that unit come first.

use super::place::Before;
use super::scope::formals;
use crate::equations::facts::meaning;
use crate::{Completion, NameKind, Snapshot};
use lgm_algebra::units::Dimension;
use lgm_elaborate::analysis::{Definition, DefinitionId, DefinitionKind};
use lgm_source::Span;
use lgm_syntax::ast::ExprKind;
use lgm_syntax::token::Token;

/// An expected unit as written, and its dimension.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    pub words: String,
    dimension: Dimension,
}

/// Returns the unit of the value at the location, or of the value whose unit is written there; none if it is unknown or the
/// value is part of a product.
pub(super) fn wanted(snapshot: &Snapshot, before: &Before<'_, '_>) -> Option<Wanted> {
    let mut end = before.tokens.len();
    let mut open = before.open();
    // In the brackets of a unit, the value precedes the brackets.
    if let Some((place, _)) = open.filter(|(place, _)| before.is_unit(*place)) {
        if place + 1 != end || !matches!(before.tokens[place - 1].1, Token::Number(_)) {
            return None;
        }
        end = place - 1;
        open = before.open_at(end);
    }
    let begins = [Token::ParenOpen, Token::Comma, Token::Equals, Token::Plus, Token::Minus];
    if !begins.contains(&before.tokens.get(end.checked_sub(1)?)?.1) {
        return None;
    }
    let analysis = snapshot.analysis();
    let words = match open {
        Some((place, commas)) => {
            let all = formals(snapshot, before.kind_before(place)?);
            let formal = match before.argument_name(place) {
                Some(name) => all.into_iter().find(|id| *analysis.get(*id).name == *name)?,
                None => *all.get(commas)?,
            };
            within(snapshot.map().slice(analysis.get(formal).unit?)).to_string()
        }
        // A statement without its value is not in the tree.
        None => match before.statement() {
            [
                (_, Token::Param | Token::Const | Token::Input, _),
                (_, Token::Name(_), _),
                (_, Token::BracketOpen, start),
                rest @ ..,
            ] => {
                let close = rest.iter().find(|entry| entry.1 == Token::BracketClose)?.0;
                let text = &snapshot.map().get(snapshot.root()).text;
                within(text.get(*start..close)?).to_string()
            }
            _ => return None,
        },
    };
    let dimension = dimension(&words)?;
    Some(Wanted { words, dimension })
}

/// Returns the rank of an item by its match with the expected unit; the best is 0. Names of arguments stay first.
pub(super) fn rank(snapshot: &Snapshot, wanted: &Wanted, offered: &Completion) -> u8 {
    let is_alike = |words: &str| dimension(words) == Some(wanted.dimension);
    let fits = match (offered.kind, offered.definition) {
        _ if offered.label.ends_with('=') => return 0,
        (NameKind::Unit, _) if offered.label == wanted.words => return 0,
        (NameKind::Unit, _) => is_alike(&offered.label),
        (_, Some(id)) => match unit_of_definition(snapshot, id) {
            Some(Known::Written(words)) => is_alike(words),
            Some(Known::Computed(dimension)) => dimension == wanted.dimension,
            None => false,
        },
        _ => false,
    };
    if fits { 1 } else { 2 }
}

/// The unit of a definition, as far as it is known.
enum Known<'s> {
    Written(&'s str),
    Computed(Dimension),
}

/// Returns the declared unit of a value or, if the model could be compiled, the inferred unit.
fn unit_of_definition(snapshot: &Snapshot, id: DefinitionId) -> Option<Known<'_>> {
    let definition = snapshot.analysis().get(id);
    if let Some(unit) = definition.unit {
        return Some(Known::Written(within(snapshot.map().slice(unit))));
    }
    if let Some(words) = unit_of_number(snapshot, definition) {
        return Some(Known::Written(words));
    }
    let model = snapshot.compilation().model()?;
    let is_it = |span: Span| span == definition.name_span;
    let parameters = model.parameters.iter().map(|known| (known.span, &known.unit));
    let constants = model.constants.iter().map(|known| (known.span, &known.unit));
    let signals = model.signals.iter().map(|known| (known.span, &known.unit));
    let mut all = parameters.chain(constants).chain(signals);
    let unit = all.find(|known| is_it(known.0))?.1.as_ref()?;
    Some(Known::Computed(unit.dimension))
}

/// Returns the unit of `param k = 50 [N/m];`.
fn unit_of_number<'s>(snapshot: &'s Snapshot, definition: &Definition) -> Option<&'s str> {
    use DefinitionKind::*;
    if !matches!(
        definition.kind,
        Parameter | Constant | Formal | StructuralFormal | Input
    ) {
        return None;
    }
    let (_, value) = snapshot.map().slice(definition.span).split_once('=')?;
    let value = value.trim_end().trim_end_matches(';').trim_end();
    let (number, unit) = value.strip_suffix(']')?.rsplit_once('[')?;
    number.trim().parse::<f64>().is_ok().then_some(unit)
}

/// Returns a unit without its brackets.
fn within(words: &str) -> &str {
    words.trim().trim_start_matches('[').trim_end_matches(']').trim()
}

/// Returns the dimension of a written unit, `N.s/m`; none if it is not a unit.
fn dimension(words: &str) -> Option<Dimension> {
    // A unit binds to a literal, so the number 1 is written before it.
    let (expr, faults) = lgm_syntax::parse_expression(lgm_source::SourceId(0), &format!("1 [{words}]"));
    match expr.kind {
        ExprKind::Number(_, Some(unit)) if faults.is_empty() => Some(meaning(&unit)?.dimension),
        _ => None,
    }
}
