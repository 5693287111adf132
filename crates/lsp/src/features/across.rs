//! Requests across all open texts: a name declared in an imported file is used in texts that the file does not refer
//! to.

use crate::context::{Refusal, RequestContext, failed};
use crate::protocol::convert::{Places, workspace_edit};
use crate::protocol::tokens;
use crate::world::folders;
use gen_lsp_types::{
    BaseSymbolInformation, Location, ReferenceParams, RenameParams, TextDocumentPositionParams, TextEdit, Uri,
    WorkspaceEdit, WorkspaceSymbol, WorkspaceSymbolLocation, WorkspaceSymbolParams, WorkspaceSymbolResponse,
};
use lgm_source::SourceId;
use lgm_source::words::has_word;

/// A location that is valid in several snapshots: the URI of its text, its byte offset, and the name there.
type Place = (String, u32, String);

/// Returns the declaration of the name at a position, or else the position itself, together with the name.
fn declared(context: &mut RequestContext, at: &TextDocumentPositionParams) -> Result<Option<Place>, Refusal> {
    context.on(&at.text_document.uri, |places| {
        let here = (places.snapshot.root(), places.offset(at.position));
        let span = places.snapshot.definition(here);
        let (source, offset) = span.map_or(here, |span| (span.source, span.start));
        let name = places.snapshot.renamed_name(here).ok();
        let name = name.or(span).map_or("", |span| places.snapshot.map().slice(span));
        Some((places.uri_of(source), offset, name.to_string()))
    })
}

/// Queries every text that imports the text of a name: open texts, and the models in the folders of the editor.
fn ask_all<R>(
    context: &mut RequestContext,
    at: &TextDocumentPositionParams,
    mut ask: impl FnMut(&Places, (SourceId, u32)) -> R,
) -> Result<Vec<R>, Refusal> {
    let own = &at.text_document.uri;
    let here = context.on(own, |places| {
        Some(ask(places, (places.snapshot.root(), places.offset(at.position))))
    })?;
    let mut answers: Vec<R> = here.into_iter().collect();
    let Some((uri, offset, name)) = declared(context, at)? else {
        return Ok(answers);
    };
    for other in context.world.documents.keys().filter(|other| **other != own.0) {
        let there = context.on(&Uri::from(other.as_str()), |places| {
            let source = places.source_of(&uri)?;
            Some(ask(places, (source, offset)))
        })?;
        answers.extend(there);
    }
    let Some(files) = folders::models(&context.world.folders) else {
        let words = "the folders that are open in the editor contain too many files to search";
        return Err(failed(words.to_string()));
    };
    for path in files {
        let is_open = context.world.opened(&lgm_files::resolve(&path)).is_some();
        // A file that does not contain the name, or cannot be read, does not use the name.
        let text = (!is_open).then(|| lgm_files::read_text(&path).ok()).flatten();
        let Some(text) = text.filter(|text| has_word(text, &name)) else {
            continue;
        };
        let there = context.on_closed(&path, text, |places| {
            let source = places.source_of(&uri)?;
            Some(ask(places, (source, offset)))
        })?;
        answers.extend(there);
    }
    Ok(answers)
}

pub(crate) fn references(
    context: &mut RequestContext,
    params: &ReferenceParams,
) -> Result<Option<Vec<Location>>, Refusal> {
    let with_declaration = params.context.include_declaration;
    let answers = ask_all(context, &params.text_document_position_params, |places, at| {
        let spans = places.snapshot.references(at, with_declaration);
        spans.into_iter().map(|span| places.location(span)).collect::<Vec<_>>()
    })?;
    let mut all: Vec<Location> = Vec::new();
    for location in answers.into_iter().flatten() {
        if !all.contains(&location) {
            all.push(location);
        }
    }
    Ok(Some(all))
}

pub(crate) fn rename(context: &mut RequestContext, params: &RenameParams) -> Result<Option<WorkspaceEdit>, Refusal> {
    let answers = ask_all(context, &params.text_document_position_params, |places, at| {
        places.edits(&places.snapshot.rename(at, &params.new_name)?)
    })?;
    let mut all: Vec<(String, TextEdit)> = Vec::new();
    for answer in answers {
        // If one text cannot be changed, no text is changed.
        for edit in answer.map_err(failed)? {
            if !all.contains(&edit) {
                all.push(edit);
            }
        }
    }
    Ok(Some(workspace_edit(context.world, all, context.client.versioned_edits)))
}

/// Returns the declarations of the open texts whose names contain the query.
pub(crate) fn symbols(
    context: &mut RequestContext,
    params: &WorkspaceSymbolParams,
) -> Result<Option<WorkspaceSymbolResponse>, Refusal> {
    let wanted = &params.query;
    let mut found = Vec::new();
    for uri in context.world.documents.keys() {
        let own = context.on(&Uri::from(uri.as_str()), |places| {
            let mut own = Vec::new();
            for symbol in places.snapshot.symbols() {
                gather(places, wanted, symbol, None, &mut own);
            }
            Some(own)
        })?;
        found.extend(own.unwrap_or_default());
    }
    Ok(Some(WorkspaceSymbolResponse::WorkspaceSymbolList(found)))
}

fn gather(
    places: &Places,
    wanted: &str,
    symbol: lgm_ide::Symbol,
    container: Option<&str>,
    found: &mut Vec<WorkspaceSymbol>,
) {
    if lgm_ide::is_part(wanted, &symbol.name) {
        found.push(WorkspaceSymbol {
            location: WorkspaceSymbolLocation::Location(places.location(symbol.name_span)),
            data: None,
            base_symbol_information: BaseSymbolInformation {
                name: symbol.name.clone(),
                kind: tokens::symbol_kind(symbol.kind),
                tags: None,
                container_name: container.map(str::to_string),
            },
        });
    }
    for child in symbol.children {
        gather(places, wanted, child, Some(&symbol.name), found);
    }
}
