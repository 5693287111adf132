//! From a name to its declaration and to its uses, and to another name.

use crate::modes::{mode_at, uses_of};
use crate::{Edit, Snapshot};
use lgm_elaborate::analysis::{Definition, DefinitionId, DefinitionKind, Use};
use lgm_elaborate::{PORT_VARIABLES, modal_words};
use lgm_source::{SourceId, Span};
use lgm_syntax::ast::{Argument, Expr, ExprKind, ImportTarget, Item};
use lgm_syntax::token::{self, Token};

/// The name at a place: the first of two that touch it is the one that begins there.
pub(crate) fn name_at(snapshot: &Snapshot, at: (SourceId, u32)) -> Option<Use> {
    snapshot.analysis().at(at.0, at.1)
}

/// Where the name at the place is declared.
pub(crate) fn definition(snapshot: &Snapshot, at: (SourceId, u32)) -> Option<Span> {
    match name_at(snapshot, at) {
        Some(found) => Some(snapshot.analysis().get(found.definition).name_span),
        None => match mode_at(snapshot, at) {
            Some(found) => Some(found.mode.name.span),
            None => imported(snapshot, at),
        },
    }
}

/// The beginning of the text that the import at a place means.
fn imported(snapshot: &Snapshot, (source, at): (SourceId, u32)) -> Option<Span> {
    let program = snapshot.compilation().program();
    let target = program.ast(source)?.items.iter().find_map(|item| match item {
        Item::Import(import) if (import.span.start..=import.span.end).contains(&at) => Some(&import.target),
        _ => None,
    })?;
    let found = match target {
        ImportTarget::Path(_, quoted) => program.imported(*quoted)?,
        ImportTarget::Module(module) => {
            let name = format!("stdlib/{}.lgm", module.text);
            let mut all = snapshot.map().iter();
            all.find(|entry| entry.1.path.is_none() && *entry.1.name == *name)?.0
        }
    };
    Some(Span::new(found, 0, 0))
}

/// Every place that means what the name at the place means.
pub(crate) fn references(snapshot: &Snapshot, at: (SourceId, u32), with_declaration: bool) -> Vec<Span> {
    let Some(found) = name_at(snapshot, at) else {
        let uses = mode_at(snapshot, at).map(|found| uses_of(snapshot, found.mode));
        let wanted = uses.unwrap_or_default().into_iter();
        let wanted = wanted.filter(|entry| with_declaration || !entry.declares());
        return wanted.map(|entry| entry.span).collect();
    };
    let mut uses: Vec<Use> = snapshot.analysis().uses_of(found.definition).copied().collect();
    uses.sort_by_key(|entry| (!entry.declares, entry.span));
    let wanted = uses.into_iter().filter(|entry| with_declaration || !entry.declares);
    wanted.map(|entry| entry.span).collect()
}

/// The name at the place, if it can be given another one.
pub(crate) fn renamed_name(snapshot: &Snapshot, at: (SourceId, u32)) -> Result<Span, String> {
    let (span, declared, name) = match (name_at(snapshot, at), mode_at(snapshot, at)) {
        (Some(found), _) => {
            let definition = snapshot.analysis().get(found.definition);
            (found.span, definition.name_span, &definition.name)
        }
        (None, Some(found)) => (found.span, found.mode.name.span, &found.mode.name.text),
        (None, None) => return Err(NO_NAME.to_string()),
    };
    match snapshot.compilation().program().is_library(declared.source) {
        true => Err(format!("`{name}` belongs to the standard library")),
        false => Ok(span),
    }
}

const NO_NAME: &str = "there is no name here that a text declares";

/// The changes that give what the name at the place means another name.
pub(crate) fn rename(snapshot: &Snapshot, at: (SourceId, u32), new: &str) -> Result<Vec<Edit>, String> {
    renamed_name(snapshot, at)?;
    if name_at(snapshot, at).is_none() {
        return rename_mode(snapshot, at, new);
    }
    let found = name_at(snapshot, at).ok_or(NO_NAME)?;
    let definition = snapshot.analysis().get(found.definition);
    if *definition.name == *new {
        return Ok(Vec::new());
    }
    is_name(new)?;
    collides(snapshot, found.definition, definition, new)?;
    means_something(snapshot, definition, new)?;
    let uses = snapshot.analysis().uses_of(found.definition);
    Ok(uses
        .map(|entry| Edit {
            span: entry.span,
            text: new.to_string(),
        })
        .collect())
}

/// The changes that give a mode another name.
fn rename_mode(snapshot: &Snapshot, at: (SourceId, u32), new: &str) -> Result<Vec<Edit>, String> {
    let found = mode_at(snapshot, at).ok_or(NO_NAME)?;
    if *found.mode.name.text == *new {
        return Ok(Vec::new());
    }
    is_name(new)?;
    if found.element.modes.iter().any(|mode| *mode.name.text == *new) {
        return Err(format!("`{}` has a mode `{new}` already", found.element.name.text));
    }
    let edits = uses_of(snapshot, found.mode).into_iter().map(|entry| Edit {
        span: entry.span,
        text: new.to_string(),
    });
    Ok(edits.collect())
}

/// Whether a text is a name that can be declared.
fn is_name(text: &str) -> Result<(), String> {
    let lexed = token::lex(SourceId(0), text);
    let fault = match &lexed.tokens[..] {
        [(_, Token::Name(name), _)] if *name == text && text.is_ascii() => None,
        [(_, token, _)] if token.is_reserved() => Some(format!("`{text}` is a word of the language")),
        _ => Some(format!(
            "`{text}` is not a name: letters, digits and `_`, a letter or `_` first"
        )),
    };
    let reserved = ["time", "pi", "gnd"]
        .contains(&text)
        .then(|| format!("`{text}` has a meaning of its own"));
    match fault.or(reserved) {
        None => Ok(()),
        Some(fault) => Err(fault),
    }
}

/// Whether the body that a name is declared in gives the new name a meaning of its own.
fn means_something(snapshot: &Snapshot, definition: &Definition, new: &str) -> Result<(), String> {
    let Some(within) = definition.within.map(|within| snapshot.analysis().get(within)) else {
        return Ok(());
    };
    let is_word = match within.kind {
        DefinitionKind::Element => PORT_VARIABLES.contains(&new),
        DefinitionKind::Modal => {
            let source = within.name_span.source;
            let items = snapshot
                .compilation()
                .program()
                .ast(source)
                .map_or(&[][..], |ast| &ast.items);
            // What the body itself defines, as `wave = 2*pi/L`.
            let defines = items.iter().any(|item| match item {
                Item::Modal(modal) if modal.name.span == within.name_span => {
                    modal.equations.iter().any(|equation| is_defined(&equation.left, new))
                }
                _ => false,
            });
            defines || modal_words().any(|word| word == new)
        }
        _ => false,
    };
    match is_word {
        true => Err(format!("`{new}` means something of its own in `{}`", within.name)),
        false => Ok(()),
    }
}

/// Whether the left side of an equation defines a name: `wave` or `shape(x)`.
fn is_defined(left: &Expr, name: &str) -> bool {
    match &left.kind {
        ExprKind::Name(found) => *found.text == *name,
        ExprKind::Call(found, arguments) => {
            let is_coordinate = |argument: &Argument| is_defined(&argument.value, name);
            *found.text == *name || arguments.iter().any(is_coordinate)
        }
        _ => false,
    }
}

/// Whether something else has the new name where the old one is used.
fn collides(snapshot: &Snapshot, id: DefinitionId, definition: &Definition, new: &str) -> Result<(), String> {
    let analysis = snapshot.analysis();
    let shown = |other: DefinitionId| {
        let (line, _) = snapshot.map().line_column(
            analysis.get(other).name_span.source,
            analysis.get(other).name_span.start,
        );
        format!(
            "`{new}` is declared already, in line {line} of {}",
            snapshot.map().get(analysis.get(other).name_span.source).name
        )
    };
    let is_item = definition.within.is_none();
    let others = analysis
        .definitions
        .iter()
        .zip(0..)
        .map(|(other, at)| (other, DefinitionId(at)));
    for (other, place) in others.filter(|entry| entry.1 != id && *entry.0.name == *new) {
        // Items share one scope; what is declared in an item shares that of the item, indices of its loops among it.
        let clashes = match (is_item, other.within) {
            (true, None) => (other.kind == DefinitionKind::Domain) == (definition.kind == DefinitionKind::Domain),
            // Outputs have names of their own.
            (false, within) => {
                let is_output = |kind| kind == DefinitionKind::Output;
                within == definition.within && is_output(other.kind) == is_output(definition.kind)
            }
            (true, Some(_)) => false,
        };
        if clashes {
            return Err(shown(place));
        }
    }
    Ok(())
}
