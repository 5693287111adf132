//! Texts embedded in the program: the modules of the standard library, and the pages of codes.

use crate::context::{Refusal, invalid};
use crate::uri::LIBRARY;
use lgm_ide::LIBRARY as MODULES;
use lgm_source::codes::{Code, page};
use serde_json::{Value, json};
use std::sync::Arc;

/// The folder of the pages in these texts.
const PAGES: &str = "docs/codes/";

/// Returns the URI of the page of a code.
pub(crate) fn page_uri(code: Code) -> String {
    format!("{LIBRARY}{PAGES}{}.md", code.as_str())
}

/// Returns the text of a URI: `{ "text": ".." }`.
pub(crate) fn text(params: &Value) -> Result<Value, Refusal> {
    let uri = params.get("uri").and_then(Value::as_str);
    let uri = uri.ok_or_else(|| invalid("there is no `uri`"))?;
    let title = uri.strip_prefix(LIBRARY);
    let found = title.and_then(|title| page_text(title).or_else(|| module_text(title)));
    match found {
        Some(text) => Ok(json!({ "text": &*text })),
        None => Err(invalid(&format!(
            "{uri} is neither a standard library file nor the page of a code"
        ))),
    }
}

fn page_text(title: &str) -> Option<Arc<str>> {
    let name = title.strip_prefix(PAGES)?.strip_suffix(".md")?;
    let found = page(name).filter(|page| page.code.as_str() == name)?;
    Some(found.text.into())
}

fn module_text(title: &str) -> Option<Arc<str>> {
    let module = MODULES.iter().find(|module| module.title == title)?;
    Some(module.text.into())
}
