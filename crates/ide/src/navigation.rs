//! Navigation from a name to its declaration and its uses, and renaming.

use crate::modes::{mode_at, uses_of};
use crate::{Edit, Snapshot};
use lgm_elaborate::analysis::{Definition, DefinitionId, DefinitionKind, Use};
use lgm_elaborate::{PORT_VARIABLES, modal_words};
use lgm_source::{SourceId, Span};
use lgm_syntax::ast::{Argument, Expr, ExprKind, ImportTarget, Item};
use lgm_syntax::token::{self, Token};

/// Returns the name at a location; between two adjacent names, the one that begins there has priority.
pub(crate) fn name_at(snapshot: &Snapshot, at: (SourceId, u32)) -> Option<Use> {
    snapshot.analysis().at(at.0, at.1)
}

/// Returns the location of the declaration of a name.
pub(crate) fn definition(snapshot: &Snapshot, at: (SourceId, u32)) -> Option<Span> {
    match name_at(snapshot, at) {
        Some(found) => Some(snapshot.analysis().get(found.definition).name_span),
        None => match mode_at(snapshot, at) {
            Some(found) => Some(found.mode.name.span),
            None => imported(snapshot, at),
        },
    }
}

/// Returns the beginning of the text that the import at a location refers to.
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

/// Returns every reference to the definition of the name at the location.
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

/// Returns the name at the location if it can be renamed.
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

const NO_NAME: &str = "there is no declared name here";

/// Returns the changes that rename the definition of the name at the location.
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

/// Returns the changes that rename a mode.
fn rename_mode(snapshot: &Snapshot, at: (SourceId, u32), new: &str) -> Result<Vec<Edit>, String> {
    let found = mode_at(snapshot, at).ok_or(NO_NAME)?;
    if *found.mode.name.text == *new {
        return Ok(Vec::new());
    }
    is_name(new)?;
    if found.element.modes.iter().any(|mode| *mode.name.text == *new) {
        return Err(format!("`{}` already has a mode `{new}`", found.element.name.text));
    }
    let edits = uses_of(snapshot, found.mode).into_iter().map(|entry| Edit {
        span: entry.span,
        text: new.to_string(),
    });
    Ok(edits.collect())
}

/// Checks that a text is a name that can be declared.
fn is_name(text: &str) -> Result<(), String> {
    let lexed = token::lex(SourceId(0), text);
    let fault = match &lexed.tokens[..] {
        [(_, Token::Name(name), _)] if *name == text && text.is_ascii() => None,
        [(_, token, _)] if token.is_reserved() => Some(format!("`{text}` is a reserved word")),
        _ => Some(format!(
            "`{text}` is not a name: letters, digits and `_`, a letter or `_` first"
        )),
    };
    let reserved = ["time", "pi", "gnd"]
        .contains(&text)
        .then(|| format!("`{text}` has a predefined meaning"));
    match fault.or(reserved) {
        None => Ok(()),
        Some(fault) => Err(fault),
    }
}

/// Returns an error if the new name already has a meaning in the body that declares the old one.
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
            // Definitions of the body itself, such as `wave = 2*pi/L`.
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
        true => Err(format!("`{new}` already has a meaning in `{}`", within.name)),
        false => Ok(()),
    }
}

/// Returns true if the left side of an equation defines a name: `wave` or `shape(x)`.
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

/// Returns an error if the new name has another meaning where the old name is used.
fn collides(snapshot: &Snapshot, id: DefinitionId, definition: &Definition, new: &str) -> Result<(), String> {
    let analysis = snapshot.analysis();
    let shown = |other: DefinitionId| {
        let (line, _) = snapshot.map().line_column(
            analysis.get(other).name_span.source,
            analysis.get(other).name_span.start,
        );
        format!(
            "`{new}` is already declared in line {line} of {}",
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
        // Items share one scope; declarations in an item, including loop indices, share that of the item.
        let clashes = match (is_item, other.within) {
            (true, None) => (other.kind == DefinitionKind::Domain) == (definition.kind == DefinitionKind::Domain),
            // Outputs have a separate namespace.
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
