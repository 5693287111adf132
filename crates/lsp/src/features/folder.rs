//! Diagnostics of all models in the folders of the editor, on request: open texts from the editor, other files from
//! disk.

use crate::context::{Refusal, RequestContext, failed};
use crate::diagnostics::{self, DiagnosticsOfUris};
use crate::uri;
use crate::world::folders;
use gen_lsp_types::{
    FullDocumentDiagnosticReport, Uri, WorkspaceDiagnosticReport, WorkspaceFullDocumentDiagnosticReport,
};

/// Checks every model; a text without errors has an empty list.
pub(crate) fn diagnostics(context: &mut RequestContext) -> Result<WorkspaceDiagnosticReport, Refusal> {
    let Some(files) = folders::models(&context.world.folders) else {
        let words = "the folders that are open in the editor contain too many files to check";
        return Err(failed(words.to_string()));
    };
    let out = context.out;
    let report = |words: &str| out.log_error(&format!("a compiler bug in {words}"));
    let mut found: DiagnosticsOfUris = diagnostics::of_world(context.cache, context.world, || true, report)?;
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
