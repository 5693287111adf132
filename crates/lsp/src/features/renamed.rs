//! Updates of imports after a file is renamed.

use crate::context::{Refusal, RequestContext};
use crate::protocol::convert::{Places, workspace_edit};
use crate::uri;
use crate::world::folders;
use gen_lsp_types::{RenameFilesParams, TextEdit, Uri, WorkspaceEdit};
use std::path::Path;

/// Returns the changes of all models that import renamed files, including open models and those in the folders of the editor.
pub(crate) fn imports(
    context: &mut RequestContext,
    params: &RenameFilesParams,
) -> Result<Option<WorkspaceEdit>, Refusal> {
    let mut all: Vec<(String, TextEdit)> = Vec::new();
    for file in &params.files {
        let (Some(old), Some(new)) = (uri::to_path(&file.old_uri.0), uri::to_path(&file.new_uri.0)) else {
            continue;
        };
        // The file itself is still under its old name.
        let old = lgm_files::resolve(&old);
        let open: Vec<String> = context.world.documents.keys().cloned().collect();
        for own in open {
            let edits = context.on(&Uri::from(own.as_str()), |places| {
                Some(changed(places, &own, &old, &new))
            })?;
            all.extend(edits.into_iter().flatten());
        }
        let name = old.file_name().map(|name| name.to_string_lossy().into_owned());
        let name = name.unwrap_or_default();
        for path in folders::models(&context.world.folders).unwrap_or_default() {
            let is_open = context.world.opened(&lgm_files::resolve(&path)).is_some();
            let text = (!is_open).then(|| lgm_files::read_text(&path).ok()).flatten();
            let Some(text) = text.filter(|text| text.contains(&name)) else {
                continue;
            };
            let own = uri::of_path(&path);
            let edits = context.on_closed(&path, text, |places| Some(changed(places, &own, &old, &new)))?;
            all.extend(edits.into_iter().flatten());
        }
    }
    let versioned = context.client.versioned_edits;
    Ok((!all.is_empty()).then(|| workspace_edit(context.world, all, versioned)))
}

/// Returns the changes of the quoted paths of a text from the old name of a file to its new name. The path of a file that leaves the folder
/// of the model is unchanged: no import could read the file.
fn changed(places: &Places, own: &str, old: &Path, new: &Path) -> Vec<(String, TextEdit)> {
    let folder = uri::to_path(own).and_then(|path| Some(lgm_files::resolve(path.parent()?)));
    let written = folder.as_ref().and_then(|folder| new.strip_prefix(folder).ok());
    let Some(written) = written.and_then(Path::to_str) else {
        return Vec::new();
    };
    let links = places.snapshot.links().into_iter().filter(|link| {
        let path = places.snapshot.map().get(link.target).path.as_deref();
        path.is_some_and(|path| lgm_files::resolve(path) == old)
    });
    let edit = |link: lgm_ide::Link| TextEdit {
        range: places.range(link.span),
        new_text: format!("\"{}\"", written.replace('\\', "/")),
    };
    links.map(|link| (own.to_string(), edit(link))).collect()
}
