//! Diagnostics of all models in the folders of the editor, on request: open texts as they are, other files as they are on disk.

use crate::context::{Refusal, RequestContext, failed};
use crate::diagnostics::{self, Found};
use crate::protocol::uri;
use crate::world::folders;
use gen_lsp_types::{
    FullDocumentDiagnosticReport, Uri, WorkspaceDiagnosticReport, WorkspaceFullDocumentDiagnosticReport,
};

/// Checks every model; a text without faults has an empty list.
pub(crate) fn diagnostics(context: &mut RequestContext) -> Result<WorkspaceDiagnosticReport, Refusal> {
    let Some(files) = folders::models(&context.world.folders) else {
        let words = "the folders that are open in the editor hold more files than can be checked";
        return Err(failed(words.to_string()));
    };
    let out = context.out;
    let report = |words: &str| out.log_error(&format!("a fault of the compiler in {words}"));
    let mut found: Found = diagnostics::of_world(context.cache, context.world, || true, report)?;
    for path in files {
        if context.world.opened(&lgm_files::resolve(&path)).is_some() {
            continue;
        }
        found.entry(uri::of_path(&path)).or_default();
        let Ok(text) = lgm_files::read_text(&path) else {
            continue;
        };
        let own = context.on_closed(&path, text, |places| Some(diagnostics::of_places(places)))?;
        for (place, problem) in own.into_iter().flatten() {
            let list = found.entry(place).or_default();
            if !list.contains(&problem) {
                list.push(problem);
            }
        }
    }
    let version = |uri: &str| context.world.documents.get(uri).map(|document| document.version);
    let items = found.into_iter().map(|(uri, items)| {
        let full_document_diagnostic_report = FullDocumentDiagnosticReport { result_id: None, items };
        WorkspaceFullDocumentDiagnosticReport {
            version: version(&uri),
            uri: Uri(uri),
            full_document_diagnostic_report,
        }
        .into()
    });
    Ok(WorkspaceDiagnosticReport { items: items.collect() })
}
