//! The capabilities of the editor, as declared at the start, and those of this server.

use crate::protocol::tokens;
use crate::uri;
use gen_lsp_types::{
    ChangeNotifications, CodeActionKind, CodeActionOptions, CodeActionProvider, CodeLensOptions, CompletionOptions,
    DefinitionProvider, DiagnosticOptions, DiagnosticProvider, DocumentFormattingProvider, DocumentHighlightProvider,
    DocumentLinkOptions, DocumentOnTypeFormattingOptions, DocumentRangeFormattingProvider, DocumentSymbolProvider,
    FileOperationFilter, FileOperationOptions, FileOperationPattern, FileOperationRegistrationOptions,
    FoldingRangeProvider, Full, HoverProvider, InlayHintProvider, PositionEncodingKind, ReferencesProvider,
    RenameOptions, RenameProvider, Save, SelectionRangeProvider, SemanticTokensOptions, SemanticTokensProvider,
    ServerCapabilities, SignatureHelpOptions, TextDocumentSync, TextDocumentSyncKind, TextDocumentSyncOptions,
    WorkspaceFoldersServerCapabilities, WorkspaceOptions, WorkspaceSymbolProvider,
};
use lgm_source::Encoding;
use serde_json::Value;
use std::path::PathBuf;

/// The capabilities declared by the editor.
#[derive(Clone, Debug, Default)]
pub(crate) struct Client {
    /// Its column encoding: the first supported one in its list.
    pub encoding: Encoding,
    /// The folders that are open in the editor.
    pub folders: Vec<PathBuf>,
    /// True if completions may contain placeholders.
    pub snippets: bool,
    /// True if the editor requests the documentation of a completion when it is selected.
    pub resolves_documentation: bool,
    /// True if edits to several documents may include version numbers.
    pub versioned_edits: bool,
    /// True if the editor pulls diagnostics, and does so again on request. Then none are pushed for open texts.
    pub pulls: bool,
    /// True if the editor can watch files on request.
    pub watches: bool,
    /// True if the editor shows the related locations of a diagnostic.
    pub shows_related: bool,
    /// True if the editor shows the progress of long work.
    pub shows_progress: bool,
    /// The requests for refreshing its data.
    pub refreshes: Vec<&'static str>,
}

impl Client {
    /// Reads the parameters of `initialize`; unreadable entries count as missing.
    pub(crate) fn new(params: &Value) -> Client {
        let is = |path: &str| params.pointer(path).and_then(Value::as_bool).unwrap_or(false);
        let encodings = params.pointer("/capabilities/general/positionEncodings");
        let mut encodings = encodings.and_then(Value::as_array).into_iter().flatten();
        let known = encodings.find_map(|name| match name.as_str()? {
            "utf-8" => Some(Encoding::Utf8),
            "utf-16" => Some(Encoding::Utf16),
            "utf-32" => Some(Encoding::Utf32),
            _ => None,
        });
        Client {
            encoding: known.unwrap_or_default(),
            folders: folders(params),
            snippets: is("/capabilities/textDocument/completion/completionItem/snippetSupport"),
            resolves_documentation: params
                .pointer("/capabilities/textDocument/completion/completionItem/resolveSupport/properties")
                .and_then(Value::as_array)
                .is_some_and(|list| list.iter().any(|name| name == "documentation")),
            versioned_edits: is("/capabilities/workspace/workspaceEdit/documentChanges"),
            pulls: params
                .pointer("/capabilities/textDocument/diagnostic")
                .is_some_and(Value::is_object)
                && is("/capabilities/workspace/diagnostics/refreshSupport"),
            shows_related: is("/capabilities/textDocument/publishDiagnostics/relatedInformation"),
            shows_progress: is("/capabilities/window/workDoneProgress"),
            refreshes: [
                (
                    "/capabilities/workspace/inlayHint/refreshSupport",
                    "workspace/inlayHint/refresh",
                ),
                (
                    "/capabilities/workspace/codeLens/refreshSupport",
                    "workspace/codeLens/refresh",
                ),
            ]
            .into_iter()
            .filter_map(|(path, method)| is(path).then_some(method))
            .collect(),
            watches: is("/capabilities/workspace/didChangeWatchedFiles/dynamicRegistration"),
        }
    }
}

/// Returns the folders of the workspace, links resolved.
fn folders(params: &Value) -> Vec<PathBuf> {
    let list = params.get("workspaceFolders").and_then(Value::as_array);
    let mut uris: Vec<&Value> = list
        .into_iter()
        .flatten()
        .filter_map(|folder| folder.get("uri"))
        .collect();
    if uris.is_empty() {
        uris.extend(params.get("rootUri"));
    }
    let mut found: Vec<PathBuf> = uris.iter().filter_map(|uri| uri::to_path(uri.as_str()?)).collect();
    if found.is_empty() {
        found.extend(params.get("rootPath").and_then(Value::as_str).map(PathBuf::from));
    }
    found.iter().map(|path| lgm_files::resolve(path)).collect()
}

/// Returns the requests that this server supports.
pub(crate) fn of_server(client: &Client) -> ServerCapabilities {
    let characters = |text: &str| Some(text.chars().map(String::from).collect());
    let encoding = match client.encoding {
        Encoding::Utf8 => PositionEncodingKind::UTF8,
        Encoding::Utf16 => PositionEncodingKind::UTF16,
        Encoding::Utf32 => PositionEncodingKind::UTF32,
    };
    ServerCapabilities {
        position_encoding: Some(encoding),
        text_document_sync: Some(TextDocumentSync::Options(TextDocumentSyncOptions {
            open_close: Some(true),
            change: Some(TextDocumentSyncKind::Incremental),
            save: Some(Save::Bool(true)),
            ..TextDocumentSyncOptions::default()
        })),
        hover_provider: Some(HoverProvider::Bool(true)),
        completion_provider: Some(CompletionOptions {
            trigger_characters: characters(".[(,\"/"),
            resolve_provider: Some(true),
            ..CompletionOptions::default()
        }),
        signature_help_provider: Some(SignatureHelpOptions {
            trigger_characters: characters("(,"),
            ..SignatureHelpOptions::default()
        }),
        definition_provider: Some(DefinitionProvider::Bool(true)),
        references_provider: Some(ReferencesProvider::Bool(true)),
        document_highlight_provider: Some(DocumentHighlightProvider::Bool(true)),
        rename_provider: Some(RenameProvider::RenameOptions(RenameOptions {
            prepare_provider: Some(true),
            ..RenameOptions::default()
        })),
        document_symbol_provider: Some(DocumentSymbolProvider::Bool(true)),
        workspace_symbol_provider: Some(WorkspaceSymbolProvider::Bool(true)),
        folding_range_provider: Some(FoldingRangeProvider::Bool(true)),
        selection_range_provider: Some(SelectionRangeProvider::Bool(true)),
        semantic_tokens_provider: Some(SemanticTokensProvider::SemanticTokensOptions(SemanticTokensOptions {
            legend: tokens::legend(),
            full: Some(Full::Bool(true)),
            ..SemanticTokensOptions::default()
        })),
        inlay_hint_provider: Some(InlayHintProvider::Bool(true)),
        code_lens_provider: Some(CodeLensOptions::default()),
        code_action_provider: Some(CodeActionProvider::CodeActionOptions(CodeActionOptions {
            code_action_kinds: Some(vec![CodeActionKind::QuickFix, CodeActionKind::RefactorRewrite]),
            ..CodeActionOptions::default()
        })),
        document_formatting_provider: Some(DocumentFormattingProvider::Bool(true)),
        document_range_formatting_provider: Some(DocumentRangeFormattingProvider::Bool(true)),
        document_on_type_formatting_provider: Some(DocumentOnTypeFormattingOptions {
            first_trigger_character: ";".to_string(),
            more_trigger_character: None,
        }),
        document_link_provider: Some(DocumentLinkOptions::default()),
        diagnostic_provider: client.pulls.then(|| {
            DiagnosticProvider::DiagnosticOptions(DiagnosticOptions {
                inter_file_dependencies: true,
                ..DiagnosticOptions::default()
            })
        }),
        workspace: Some(WorkspaceOptions {
            workspace_folders: Some(WorkspaceFoldersServerCapabilities {
                supported: Some(true),
                change_notifications: Some(ChangeNotifications::Bool(true)),
            }),
            file_operations: Some(FileOperationOptions {
                will_rename: Some(FileOperationRegistrationOptions::new(vec![FileOperationFilter {
                    scheme: Some("file".to_string()),
                    pattern: FileOperationPattern {
                        glob: "**/*.lgm".to_string(),
                        ..FileOperationPattern::default()
                    },
                }])),
                ..FileOperationOptions::default()
            }),
            ..WorkspaceOptions::default()
        }),
        ..ServerCapabilities::default()
    }
}
