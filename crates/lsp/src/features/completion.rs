//! Completion in the form of the protocol: the candidates at a location, and their documentation on request.

use crate::context::{Refusal, RequestContext};
use crate::protocol::convert::{Places, markdown};
use crate::protocol::tokens;
use crate::uri;
use crate::world::files::Files;
use crate::world::folders;
use gen_lsp_types::{
    CompletionItem, CompletionItemKind, CompletionItemTextEdit, CompletionList, CompletionParams, CompletionResponse,
    Documentation, InsertTextFormat, TextEdit, Uri,
};
use lgm_ide::{Completion, DefinitionId, PathKind};
use lgm_source::Span;
use serde_json::json;
use std::path::Path;

/// Returns the possible completions at a location.
pub(crate) fn list(
    context: &mut RequestContext,
    params: &CompletionParams,
) -> Result<Option<CompletionResponse>, Refusal> {
    let (with_snippets, resolves) = (context.client.snippets, context.client.resolves_documentation);
    context.at(&params.text_document_position_params, |places, at| {
        if let Some((span, kind)) = places.snapshot.path_at(at) {
            return Some(paths(places, span, kind));
        }
        let found = places.snapshot.completions(at);
        let is_incomplete = found.is_incomplete;
        let items = found.list.into_iter();
        let items = items
            .enumerate()
            .map(|(rank, entry)| CompletionItem {
                // Without it, editors sort by label.
                sort_text: Some(format!("{rank:04}")),
                ..item(places, entry, with_snippets, resolves)
            })
            .collect();
        Some(match is_incomplete {
            false => CompletionResponse::CompletionItemList(items),
            true => CompletionResponse::CompletionList(CompletionList {
                is_incomplete,
                items,
                ..CompletionList::default()
            }),
        })
    })
}

fn item(places: &Places, found: Completion, with_snippets: bool, resolves: bool) -> CompletionItem {
    let is_snippet = with_snippets && found.insert.contains('$');
    let new_text = match is_snippet {
        true => found.insert,
        false => without_places(&found.insert),
    };
    // Describing declarations takes time: editors that can do so request the descriptions of visible ones only.
    let name = found.label.trim_end_matches(" =").to_string();
    let (words, data) = match found.definition {
        Some(id) if resolves => (
            None,
            Some(json!({ "uri": places.uri, "definition": id.0, "name": name })),
        ),
        Some(id) => (places.snapshot.documentation(id, &name), None),
        None => (found.documentation.map(str::to_string), None),
    };
    CompletionItem {
        label: found.label,
        kind: Some(tokens::completion_kind(found.kind)),
        detail: found.detail,
        documentation: words.map(documentation),
        insert_text_format: Some(match is_snippet {
            true => InsertTextFormat::Snippet,
            false => InsertTextFormat::PlainText,
        }),
        text_edit: Some(CompletionItemTextEdit::TextEdit(TextEdit {
            range: places.range(found.replace),
            new_text,
        })),
        additional_text_edits: found.import.map(|edit| {
            vec![TextEdit {
                range: places.range(edit.span),
                new_text: edit.text,
            }]
        }),
        data,
        ..CompletionItem::default()
    }
}

fn documentation(words: String) -> Documentation {
    Documentation::MarkupContent(markdown(words))
}

/// Returns a completion with its documentation, or unchanged if the text has changed since and the candidate is a different one.
pub(crate) fn resolve(context: &mut RequestContext, mut item: CompletionItem) -> Result<CompletionItem, Refusal> {
    let known = item.data.as_ref().and_then(|data| {
        let id = data.get("definition")?.as_u64()?.try_into().ok()?;
        let (uri, name) = (data.get("uri")?.as_str()?, data.get("name")?.as_str()?);
        context
            .world
            .documents
            .contains_key(uri)
            .then(|| (Uri::from(uri), DefinitionId(id), name.to_string()))
    });
    if let Some((uri, id, name)) = known {
        let words = context.on(&uri, |places| places.snapshot.documentation(id, &name))?;
        item.documentation = words.map(documentation);
    }
    Ok(item)
}

/// Returns the completions of a quoted path.
fn paths(places: &Places, span: Span, kind: PathKind) -> CompletionResponse {
    let path = uri::to_path(places.uri);
    let begun = places.snapshot.map().slice(span);
    let names = match path.as_deref().and_then(Path::parent) {
        Some(own) => {
            let ending = match kind {
                PathKind::Import => ".lgm",
                PathKind::Table => ".csv",
            };
            folders::readable(own, begun, ending, Files::new(places.world, path.as_deref()).allowed())
        }
        None => Vec::new(),
    };
    // The last part of the path is replaced.
    let from = begun.rfind('/').map_or(0, |at| at + 1);
    let replace = Span {
        start: span.start + from as u32,
        ..span
    };
    let item = |name: String| CompletionItem {
        label: name.clone(),
        kind: Some(match name.ends_with('/') {
            true => CompletionItemKind::Folder,
            false => CompletionItemKind::File,
        }),
        text_edit: Some(CompletionItemTextEdit::TextEdit(TextEdit {
            range: places.range(replace),
            new_text: name,
        })),
        ..CompletionItem::default()
    };
    CompletionResponse::CompletionItemList(names.into_iter().map(item).collect())
}

/// Returns a snippet as plain text: `${1:k}` becomes `k`, and `$0` is removed.
fn without_places(snippet: &str) -> String {
    let mut out = String::new();
    let mut letters = snippet.chars().peekable();
    let mut open = 0;
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => out.extend(letters.next()),
            '$' => {
                let is_named = letters.next_if_eq(&'{').is_some();
                while letters.next_if(char::is_ascii_digit).is_some() {}
                if is_named {
                    letters.next_if_eq(&':');
                    open += 1;
                }
            }
            '}' if open > 0 => open -= 1,
            _ => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snippets_become_plain_text() {
        assert_eq!(
            without_places("Spring(${1:k}, ${2:0.5 [N/m]})$0;"),
            "Spring(k, 0.5 [N/m]);"
        );
        assert_eq!(without_places("model ${1:Name} {\n    $0\n}"), "model Name {\n    \n}");
        assert_eq!(without_places("a\\$b"), "a$b");
    }
}
