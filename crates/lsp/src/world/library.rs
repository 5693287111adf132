//! Texts that the program holds itself: the modules of the standard library, and the pages of codes.

use crate::context::{Refusal, invalid};
use crate::protocol::uri::LIBRARY;
use lgm_ide::Snapshot;
use lgm_source::cancellation::Cancellation;
use lgm_source::codes::{Code, page};
use lgm_source::{NoFiles, Source};
use serde_json::{Value, json};
use std::sync::Arc;

/// Where pages lie among these texts.
const PAGES: &str = "docs/codes/";

/// What an editor calls the page of a code.
pub(crate) fn page_uri(code: Code) -> String {
    format!("{LIBRARY}{PAGES}{}.md", code.as_str())
}

/// The text of a URI: `{ "text": ".." }`.
pub(crate) fn text(params: &Value) -> Result<Value, Refusal> {
    let uri = params.get("uri").and_then(Value::as_str);
    let uri = uri.ok_or_else(|| invalid("there is no `uri`"))?;
    let title = uri.strip_prefix(LIBRARY);
    let found = title.and_then(|title| page_text(title).or_else(|| module_text(title)));
    match found {
        Some(text) => Ok(json!({ "text": &*text })),
        None => Err(invalid(&format!(
            "{uri} is neither a text of the standard library nor the page of a code"
        ))),
    }
}

fn page_text(title: &str) -> Option<Arc<str>> {
    let name = title.strip_prefix(PAGES)?.strip_suffix(".md")?;
    let found = page(name).filter(|page| page.code.as_str() == name)?;
    Some(found.text.into())
}

fn module_text(title: &str) -> Option<Arc<str>> {
    let name = title.strip_prefix("stdlib/")?.strip_suffix(".lgm")?;
    let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    // An import of a module has its text.
    let text = is_name.then(|| format!("import {name};"))?;
    let snapshot = Snapshot::new(&NoFiles, None, "", &text, Cancellation::default());
    let is_it = |source: &&Source| source.name == title;
    let found = snapshot.map().iter().map(|entry| entry.1).find(is_it)?;
    Some(found.text.clone())
}
