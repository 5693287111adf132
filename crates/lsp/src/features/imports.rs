//! Imports of undefined names in a model, from the models next to it.

use crate::context::{Refusal, RequestContext};
use crate::uri;
use crate::world::{files, folders};
use gen_lsp_types::{Range, Uri};
use lgm_ide::Action;
use lgm_source::words::has_word;
use std::path::Path;

/// The maximum number of files that are offered for one name.
const MOST: usize = 3;

/// Returns the actions that import the files with the missing definitions of a part of a text. Imports stay in the folder of the model, so
/// only files in and below this folder are examined.
pub(crate) fn offers(context: &mut RequestContext, uri: &Uri, range: Range) -> Result<Vec<Action>, Refusal> {
    let missing = context.on(uri, |places| {
        let spans = places.snapshot.undefined_kinds(places.span(range));
        let names = spans
            .into_iter()
            .map(|span| places.snapshot.map().slice(span).to_string());
        Some(names.collect::<Vec<_>>())
    })?;
    let missing = missing.unwrap_or_default();
    let own = uri::to_path(&uri.0).map(|path| lgm_files::resolve(&path));
    let (Some(own), false) = (own, missing.is_empty()) else {
        return Ok(Vec::new());
    };
    let Some(folder) = own.parent() else {
        return Ok(Vec::new());
    };
    let allowed = files::Files::new(context.world, Some(&own)).allowed().to_vec();
    if !allowed.iter().any(|open| folder.starts_with(open)) {
        return Ok(Vec::new());
    }
    let beside = folders::models(&[folder.to_path_buf()]).unwrap_or_default();
    let mut found = Vec::new();
    for name in &missing {
        let mut count = 0;
        for path in beside.iter().filter(|path| **path != own) {
            if count < MOST && defines(context, path, name)? {
                count += 1;
                found.extend(importing(context, uri, folder, path)?);
            }
        }
    }
    Ok(found)
}

/// Returns true if a file defines a kind of this name, in the editor or on disk.
fn defines(context: &mut RequestContext, path: &Path, name: &str) -> Result<bool, Refusal> {
    let open = context
        .world
        .opened(path)
        .map(|entry| (entry.0.to_string(), entry.1.text.to_string()));
    // A file that cannot be read defines nothing.
    let text = match &open {
        Some((_, text)) => Some(text.clone()),
        None => lgm_files::read_text(path).ok(),
    };
    let Some(text) = text.filter(|text| has_word(text, name)) else {
        return Ok(false);
    };
    let is_defined = match open {
        Some((uri, _)) => context.on(&Uri(uri), |places| Some(places.snapshot.defines_kind(name)))?,
        None => context.on_closed(path, text, |places| Some(places.snapshot.defines_kind(name)))?,
    };
    Ok(is_defined.unwrap_or(false))
}

fn importing(context: &mut RequestContext, uri: &Uri, folder: &Path, path: &Path) -> Result<Option<Action>, Refusal> {
    let parts = path.strip_prefix(folder).ok().into_iter().flatten();
    let parts: Option<Vec<&str>> = parts.map(|part| part.to_str()).collect();
    let Some(written) = parts.map(|parts| parts.join("/")) else {
        return Ok(None);
    };
    context.on(uri, |places| places.snapshot.importing(&written))
}
