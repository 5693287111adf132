//! Equations and a run beside the text: `lgm/equations`, `lgm/preview`, and the lenses that ask for them.

use crate::context::{Plot, Refusal, RequestContext, invalid};
use gen_lsp_types::{CodeLens, CodeLensParams, Command, Uri};
use lgm_emit::{MatrixOptions, TextOptions, html_body, text};
use lgm_ide::Snapshot;
use lgm_source::diagnostic::Severity;
use serde_json::{Value, json};

/// The most faults that a preview names; the editor has them all.
const FAULTS: usize = 5;

fn uri_of(params: &Value) -> Result<Uri, Refusal> {
    let uri = params.pointer("/textDocument/uri").and_then(Value::as_str);
    uri.map(Uri::from).ok_or_else(|| invalid("`textDocument` has no `uri`"))
}

/// The model that is asked about, where the text has several.
fn model_of(params: &Value) -> Option<&str> {
    params.get("model").and_then(Value::as_str)
}

/// Does something with the snapshot of the model that is asked about.
fn on_model<R>(
    context: &mut RequestContext,
    params: &Value,
    work: impl FnOnce(&Snapshot) -> Option<R>,
) -> Result<Option<R>, Refusal> {
    context.on(&uri_of(params)?, |places| {
        let other = model_of(params).and_then(|model| places.snapshot.of_model(model));
        work(other.as_ref().unwrap_or(places.snapshot))
    })
}

/// The equations as text; null where the model has faults.
pub(crate) fn equations(context: &mut RequestContext, params: &Value) -> Result<Value, Refusal> {
    let printed = on_model(context, params, |snapshot| {
        let system = snapshot.system()?;
        Some(text(system, &TextOptions::default()))
    })?;
    Ok(json!({ "text": printed }))
}

/// `{ "title": .., "equations": HTML, "plot": SVG or null, "notes": [..] }`
pub(crate) fn preview(context: &mut RequestContext, params: &Value) -> Result<Value, Refusal> {
    let plot = context.plot;
    let shown = on_model(context, params, |snapshot| Some(shown(snapshot, plot)))?;
    Ok(shown.unwrap_or_default())
}

fn shown(snapshot: &Snapshot, plot: Plot) -> Value {
    let compilation = snapshot.compilation();
    let mut notes = Vec::new();
    let title = compilation.model().map_or("lgm", |model| &*model.name);
    let equations = match snapshot.system() {
        Some(system) => html_body(system, MatrixOptions::default()),
        None => {
            notes.extend(why_not(snapshot));
            String::new()
        }
    };
    let picture = compilation
        .formulated_model()
        .zip(compilation.system())
        .map(|(model, system)| {
            let is_wanted = || !compilation.request().cancellation.is_cancelled();
            plot(model, system, &is_wanted)
        });
    let plot = match picture {
        Some(Ok(picture)) => Some(picture),
        Some(Err(reason)) => {
            notes.push(reason);
            None
        }
        None => None,
    };
    json!({ "title": title, "equations": equations, "plot": plot, "notes": notes })
}

/// Why there are no equations: the first faults, or the size of the model.
fn why_not(snapshot: &Snapshot) -> Vec<String> {
    if let Some(model) = snapshot
        .compilation()
        .model()
        .filter(|_| snapshot.compilation().system().is_some())
    {
        let count = model.elements.len();
        return vec![format!(
            "equations of {count} elements are not shown here: `lgm equations` prints them"
        )];
    }
    let faults = snapshot.problems();
    let mut faults = faults.iter().filter(|problem| problem.severity == Severity::Error);
    let mut words: Vec<String> = faults
        .by_ref()
        .take(FAULTS)
        .map(|problem| {
            let message = problem.message.lines().next().unwrap_or_default();
            match problem.code {
                Some(code) => format!("{code}: {message}"),
                None => message.to_string(),
            }
        })
        .collect();
    let more = faults.count();
    if more > 0 {
        words.push(format!("and {more} more"));
    }
    if words.is_empty() {
        words.push("there is no model in this text".to_string());
    }
    words
}

/// `equations` and `simulate` above each model.
pub(crate) fn lenses(context: &mut RequestContext, params: &CodeLensParams) -> Result<Option<Vec<CodeLens>>, Refusal> {
    if !context.world.settings.lenses {
        return Ok(None);
    }
    let uri = params.text_document.uri.0.clone();
    context.on(&params.text_document.uri, |places| {
        let lens = |span, title: &str, part: &str| CodeLens {
            range: places.range(span),
            command: Some(Command {
                title: title.to_string(),
                tooltip: None,
                command: "lgm.preview".to_string(),
                arguments: Some(vec![json!(uri), json!(part), json!(places.snapshot.map().slice(span))]),
            }),
            data: None,
        };
        let models = places.snapshot.models().into_iter();
        Some(
            models
                .flat_map(|span| [lens(span, "equations", "equations"), lens(span, "simulate", "plot")])
                .collect(),
        )
    })
}
