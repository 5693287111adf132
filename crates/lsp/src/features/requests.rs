//! Requests about one open text: parameters in, results out.

use crate::context::{Refusal, RequestContext, failed, invalid};
use crate::diagnostics;
use crate::features::{across, completion, folder, formatting, imports, preview, renamed};
use crate::library;
use crate::protocol::convert::{Places, markdown, workspace_edit};
use crate::protocol::tokens;
use crate::uri;
use crate::world::documents::World;
use gen_lsp_types::{Code as CodeOfFault, *};
use lgm_source::Span;
use lgm_source::codes::Code;
use lsp_server::ErrorCode;
use serde_json::Value;
use std::sync::Arc;

/// Returns true if the text that a request is about has changed since.
pub(crate) fn is_overtaken(params: &Value, context: &World, latest: &World) -> bool {
    let uri = params
        .pointer("/textDocument/uri")
        .and_then(Value::as_str)
        .unwrap_or_default();
    match (context.documents.get(uri), latest.documents.get(uri)) {
        (Some(old), Some(new)) => !Arc::ptr_eq(&old.text, &new.text),
        (old, _) => old.is_some(),
    }
}

/// The supported methods.
const METHODS: [&str; 27] = [
    "textDocument/hover",
    "textDocument/completion",
    "completionItem/resolve",
    "textDocument/signatureHelp",
    "textDocument/definition",
    "textDocument/references",
    "textDocument/documentHighlight",
    "textDocument/prepareRename",
    "textDocument/rename",
    "textDocument/documentSymbol",
    "workspace/symbol",
    "workspace/willRenameFiles",
    "workspace/diagnostic",
    "textDocument/foldingRange",
    "textDocument/selectionRange",
    "textDocument/semanticTokens/full",
    "textDocument/inlayHint",
    "textDocument/codeAction",
    "textDocument/formatting",
    "textDocument/rangeFormatting",
    "textDocument/onTypeFormatting",
    "textDocument/documentLink",
    "textDocument/diagnostic",
    "textDocument/codeLens",
    "lgm/equations",
    "lgm/preview",
    "lgm/libraryText",
];

pub(crate) fn is_known(method: &str) -> bool {
    METHODS.contains(&method)
}

/// Returns true if the answer requires equations in terms of the parameters, or a run.
pub(crate) fn is_heavy(request: &lsp_server::Request) -> bool {
    matches!(
        request.method.as_str(),
        "lgm/equations" | "lgm/preview" | "textDocument/hover"
    )
}

/// Returns the result of a request.
pub(crate) fn answer(context: &mut RequestContext, method: &str, params: Value) -> Result<Value, Refusal> {
    match method {
        "textDocument/hover" => typed::<HoverRequest>(params, |params| hover(context, &params)),
        "textDocument/completion" => typed::<CompletionRequest>(params, |params| completion::list(context, &params)),
        "completionItem/resolve" => {
            typed::<CompletionResolveRequest>(params, |item| completion::resolve(context, item))
        }
        "textDocument/signatureHelp" => typed::<SignatureHelpRequest>(params, |params| signature(context, &params)),
        "textDocument/definition" => typed::<DefinitionRequest>(params, |params| definition(context, &params)),
        "textDocument/references" => typed::<ReferencesRequest>(params, |params| across::references(context, &params)),
        "textDocument/documentHighlight" => {
            typed::<DocumentHighlightRequest>(params, |params| highlights(context, &params))
        }
        "textDocument/prepareRename" => {
            typed::<PrepareRenameRequest>(params, |params| prepare_rename(context, &params))
        }
        "textDocument/rename" => typed::<RenameRequest>(params, |params| across::rename(context, &params)),
        "workspace/willRenameFiles" => {
            typed::<WillRenameFilesRequest>(params, |params| renamed::imports(context, &params))
        }
        "workspace/diagnostic" => typed::<WorkspaceDiagnosticRequest>(params, |_| folder::diagnostics(context)),
        "textDocument/documentSymbol" => typed::<DocumentSymbolRequest>(params, |params| symbols(context, &params)),
        "workspace/symbol" => typed::<WorkspaceSymbolRequest>(params, |params| across::symbols(context, &params)),
        "textDocument/foldingRange" => typed::<FoldingRangeRequest>(params, |params| folds(context, &params)),
        "textDocument/selectionRange" => typed::<SelectionRangeRequest>(params, |params| selections(context, &params)),
        "textDocument/semanticTokens/full" => typed::<SemanticTokensRequest>(params, |params| {
            context.on(&params.text_document.uri, |places| {
                let (data, result_id) = (tokens::tokens(places), None);
                Some(SemanticTokens { result_id, data })
            })
        }),
        "textDocument/inlayHint" => typed::<InlayHintRequest>(params, |params| hints(context, &params)),
        "textDocument/codeAction" => typed::<CodeActionRequest>(params, |params| actions(context, &params)),
        "textDocument/formatting" => {
            typed::<DocumentFormattingRequest>(params, |params| formatting::whole(context, &params))
        }
        "textDocument/rangeFormatting" => {
            typed::<DocumentRangeFormattingRequest>(params, |params| formatting::range(context, &params))
        }
        "textDocument/onTypeFormatting" => {
            typed::<DocumentOnTypeFormattingRequest>(params, |params| formatting::on_type(context, &params))
        }
        "textDocument/documentLink" => typed::<DocumentLinkRequest>(params, |params| links(context, &params)),
        "textDocument/diagnostic" => typed::<DocumentDiagnosticRequest>(params, |params| problems(context, &params)),
        "textDocument/codeLens" => typed::<CodeLensRequest>(params, |params| preview::lenses(context, &params)),
        "lgm/equations" => preview::equations(context, &params),
        "lgm/preview" => preview::preview(context, &params),
        "lgm/libraryText" => library::text(&params),
        _ => Err(Refusal::Fault(
            ErrorCode::MethodNotFound,
            format!("`{method}` is not supported"),
        )),
    }
}

fn typed<R: Request>(
    params: Value,
    work: impl FnOnce(R::Params) -> Result<R::Result, Refusal>,
) -> Result<Value, Refusal> {
    let params = serde_json::from_value(params).map_err(|error| invalid(&error.to_string()))?;
    serde_json::to_value(work(params)?).map_err(|error| Refusal::Fault(ErrorCode::InternalError, error.to_string()))
}

fn hover(context: &mut RequestContext, params: &HoverParams) -> Result<Option<Hover>, Refusal> {
    let at = &params.text_document_position_params;
    let range = Range {
        start: at.position,
        end: at.position,
    };
    context.on_lines(&at.text_document.uri, range, |places| {
        let at = places.offset(at.position);
        let hover = places.snapshot.hover((places.snapshot.root(), at))?;
        Some(Hover {
            contents: Contents::MarkupContent(markdown(hover.markdown)),
            range: (hover.span.source == places.snapshot.root()).then(|| places.range(hover.span)),
        })
    })
}

fn signature(context: &mut RequestContext, params: &SignatureHelpParams) -> Result<Option<SignatureHelp>, Refusal> {
    context.at(&params.text_document_position_params, |places, at| {
        let found = places.snapshot.signature(at)?;
        // These count in UTF-16, independent of the agreed encoding of positions.
        let column = |at: usize| found.label.get(..at).map_or(0, |text| text.encode_utf16().count()) as u32;
        let formals = found.formals.iter().map(|formal| ParameterInformation {
            label: ParameterInformationLabel::Tuple((column(formal.start), column(formal.end))),
            documentation: None,
        });
        let active = found.active.map(|active| ActiveParameter::Int(active as u32));
        Some(SignatureHelp {
            signatures: vec![SignatureInformation {
                parameters: Some(formals.collect()),
                label: found.label.clone(),
                documentation: found
                    .documentation
                    .clone()
                    .map(|text| Documentation::MarkupContent(markdown(text))),
                active_parameter: None,
            }],
            active_signature: Some(0),
            active_parameter: active,
        })
    })
}

fn definition(context: &mut RequestContext, params: &DefinitionParams) -> Result<Option<DefinitionResponse>, Refusal> {
    context.at(&params.text_document_position_params, |places, at| {
        let span = places.snapshot.definition((places.snapshot.root(), at))?;
        Some(DefinitionResponse::Definition(Definition::Location(
            places.location(span),
        )))
    })
}

fn highlights(
    context: &mut RequestContext,
    params: &DocumentHighlightParams,
) -> Result<Option<Vec<DocumentHighlight>>, Refusal> {
    context.at(&params.text_document_position_params, |places, at| {
        let root = places.snapshot.root();
        let spans = places.snapshot.references((root, at), true);
        let here = spans.into_iter().filter(|span| span.source == root);
        Some(
            here.map(|span| DocumentHighlight {
                range: places.range(span),
                kind: None,
            })
            .collect(),
        )
    })
}

fn prepare_rename(
    context: &mut RequestContext,
    params: &PrepareRenameParams,
) -> Result<Option<PrepareRenameResult>, Refusal> {
    let found = context.at(&params.text_document_position_params, |places, at| {
        let name = places.snapshot.renamed_name((places.snapshot.root(), at));
        Some(name.map(|span| {
            PrepareRenameResult::PrepareRenamePlaceholder(PrepareRenamePlaceholder {
                range: places.range(span),
                placeholder: places.snapshot.map().slice(span).to_string(),
            })
        }))
    })?;
    found.transpose().map_err(failed)
}

fn symbols(
    context: &mut RequestContext,
    params: &DocumentSymbolParams,
) -> Result<Option<DocumentSymbolResponse>, Refusal> {
    context.on(&params.text_document.uri, |places| {
        let symbols = places.snapshot.symbols().into_iter();
        let symbols = symbols.map(|found| nested(places, found)).collect();
        Some(DocumentSymbolResponse::DocumentSymbolList(symbols))
    })
}

#[expect(deprecated, reason = "the type has no default, so every field must be named")]
fn nested(places: &Places, symbol: lgm_ide::Symbol) -> DocumentSymbol {
    let children: Vec<_> = symbol.children.into_iter().map(|child| nested(places, child)).collect();
    DocumentSymbol {
        name: symbol.name,
        detail: symbol.detail,
        kind: tokens::symbol_kind(symbol.kind),
        tags: None,
        deprecated: None,
        range: places.range(symbol.span),
        selection_range: places.range(symbol.name_span),
        children: (!children.is_empty()).then_some(children),
    }
}

fn folds(context: &mut RequestContext, params: &FoldingRangeParams) -> Result<Option<Vec<FoldingRange>>, Refusal> {
    context.on(&params.text_document.uri, |places| {
        let fold = |span: Span| {
            let range = places.range(span);
            let is_comment = places.snapshot.map().slice(span).starts_with("/");
            FoldingRange {
                start_line: range.start.line,
                start_character: None,
                end_line: range.end.line,
                end_character: None,
                kind: is_comment.then_some(FoldingRangeKind::Comment),
                collapsed_text: None,
            }
        };
        Some(places.snapshot.folds().into_iter().map(fold).collect())
    })
}

fn selections(
    context: &mut RequestContext,
    params: &SelectionRangeParams,
) -> Result<Option<Vec<SelectionRange>>, Refusal> {
    context.on(&params.text_document.uri, |places| {
        let of = |at: &Position| {
            let spans = places.snapshot.selections(places.offset(*at));
            // From the outside in, each range is the parent of the next.
            let nested = spans.into_iter().rev().fold(None, |parent, span| {
                let range = places.range(span);
                let parent = parent.map(Box::new);
                Some(SelectionRange { range, parent })
            });
            // The protocol requires a range for each position.
            nested.unwrap_or(SelectionRange {
                range: Range { start: *at, end: *at },
                parent: None,
            })
        };
        Some(params.positions.iter().map(of).collect())
    })
}

fn hints(context: &mut RequestContext, params: &InlayHintParams) -> Result<Option<Vec<InlayHint>>, Refusal> {
    let settings = context.world.settings;
    context.on_steady(&params.text_document.uri, |places| {
        let (wanted, source) = (places.span(params.range), places.snapshot.root());
        let is_replaced = |at| {
            places.is_replaced(Span {
                source,
                start: at,
                end: at,
            })
        };
        let is_here = |at| (wanted.start..=wanted.end).contains(&at) && !is_replaced(at);
        let hints = places.snapshot.hints().into_iter();
        let hints = hints.filter(|hint| is_here(hint.at) && settings.shows(hint.kind));
        let hints = hints.map(|hint| InlayHint {
            position: places.position(places.snapshot.root(), hint.at),
            label: Label::String(hint.text),
            kind: None,
            text_edits: None,
            tooltip: Some(Tooltip::MarkupContent(markdown(hint.tooltip))),
            padding_left: Some(true),
            padding_right: None,
            data: None,
        });
        Some(hints.collect())
    })
}

fn actions(
    context: &mut RequestContext,
    params: &CodeActionParams,
) -> Result<Option<Vec<CodeActionResponse>>, Refusal> {
    let versioned = context.client.versioned_edits;
    let is_wanted = |kind: &CodeActionKind| {
        let wanted = params.context.only.as_ref();
        wanted.is_none_or(|only| {
            only.iter().any(|asked| {
                *asked == CodeActionKind::Empty
                    || asked == kind
                    || (*asked == CodeActionKind::Refactor && *kind == CodeActionKind::RefactorRewrite)
            })
        })
    };
    let imports = imports::offers(context, &params.text_document.uri, params.range)?;
    context.on_lines(&params.text_document.uri, params.range, |places| {
        let (mut found, mut is_preferred) = (Vec::new(), false);
        for action in imports
            .into_iter()
            .chain(places.snapshot.actions(places.span(params.range)))
        {
            let kind = match action.is_fix {
                true => CodeActionKind::QuickFix,
                false => CodeActionKind::RefactorRewrite,
            };
            let Ok(edits) = places.edits(&action.edits) else {
                continue;
            };
            if !is_wanted(&kind) {
                continue;
            }
            let code = action.code.map(|code| CodeOfFault::String(code.as_str().to_string()));
            let mended = params.context.diagnostics.iter();
            let mended: Vec<_> = mended
                .filter(|known| code.is_some() && known.code == code)
                .cloned()
                .collect();
            // The first of several changes for a conflict is the most likely one.
            let is_first =
                action.code == Some(Code::LGM0301) && action.is_fix && !std::mem::replace(&mut is_preferred, true);
            found.push(CodeActionResponse::CodeAction(CodeAction {
                title: action.title,
                is_preferred: is_first.then_some(true),
                kind: Some(kind),
                diagnostics: (!mended.is_empty()).then_some(mended),
                edit: Some(workspace_edit(places.world, edits, versioned)),
                ..CodeAction::default()
            }));
        }
        Some(found)
    })
}

fn links(context: &mut RequestContext, params: &DocumentLinkParams) -> Result<Option<Vec<DocumentLink>>, Refusal> {
    context.on(&params.text_document.uri, |places| {
        let link = |link: lgm_ide::Link| DocumentLink {
            range: places.range(link.span),
            target: Some(Uri(places.uri_of(link.target))),
            tooltip: None,
            data: None,
        };
        Some(places.snapshot.links().into_iter().map(link).collect())
    })
}

fn problems(
    context: &mut RequestContext,
    params: &DocumentDiagnosticParams,
) -> Result<DocumentDiagnosticReport, Refusal> {
    let uri = params.text_document.uri.0.as_str();
    let out = context.out;
    let report = |words: &str| out.log_error(&format!("a compiler bug in {words}"));
    let mut found = diagnostics::of_world(context.cache, context.world, || true, report)?;
    let items = match found.remove(uri) {
        Some(items) => items,
        None if uri.starts_with(uri::LIBRARY) => Vec::new(),
        None => return Err(invalid(&format!("{uri} is not open"))),
    };
    let full_document_diagnostic_report = FullDocumentDiagnosticReport { result_id: None, items };
    Ok(DocumentDiagnosticReport::RelatedFullDocumentDiagnosticReport(
        RelatedFullDocumentDiagnosticReport {
            related_documents: None,
            full_document_diagnostic_report,
        },
    ))
}
