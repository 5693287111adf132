//! Equations and a run next to the text: `lgm/equations`, `lgm/preview`, and the lenses that trigger them.

use crate::context::{Plot, Refusal, RequestContext, invalid};
use crate::held::Hunk;
use crate::protocol::convert::Places;
use gen_lsp_types::{CodeLens, CodeLensParams, Command, Uri};
use lgm_draw::{Kind, Refusal as Undrawn, draw, svg};
use lgm_emit::{MatrixOptions, TextOptions, html_body, text};
use lgm_ide::Snapshot;
use lgm_source::diagnostic::Severity;
use serde_json::{Value, json};

/// The maximum number of errors that a preview lists; the editor shows all.
const FAULTS: usize = 5;

fn uri_of(params: &Value) -> Result<Uri, Refusal> {
    let uri = params.pointer("/textDocument/uri").and_then(Value::as_str);
    uri.map(Uri::from).ok_or_else(|| invalid("`textDocument` has no `uri`"))
}

/// Returns the requested model if the text has several.
fn model_of(params: &Value) -> Option<&str> {
    params.get("model").and_then(Value::as_str)
}

/// The maximum number of elements with lines in a preview.
const MOST_PLACES: usize = 2000;

/// Returns the note that half-written lines keep their previous version.
fn note(held: &[Hunk]) -> Option<String> {
    let first = held.first()?.new.start + 1;
    let others = match held.len() {
        1 => String::new(),
        count => format!(", and {} more", count - 1),
    };
    Some(format!(
        "line {first} is incomplete{others}: this is the previous version of the model"
    ))
}

/// Applies a function to the snapshot of the requested model, in the steady text if lines are half-written.
fn on_model<R>(
    context: &mut RequestContext,
    params: &Value,
    work: impl FnOnce(&Snapshot, &Places) -> Option<R>,
) -> Result<Option<R>, Refusal> {
    context.on_steady(&uri_of(params)?, |places| {
        let other = model_of(params).and_then(|model| places.snapshot.of_model(model));
        work(other.as_ref().unwrap_or(places.snapshot), places)
    })
}

/// Returns the equations as text; null if the model has errors.
pub(crate) fn equations(context: &mut RequestContext, params: &Value) -> Result<Value, Refusal> {
    let printed = on_model(context, params, |snapshot, _| {
        let system = snapshot.system()?;
        Some(text(system, &TextOptions::default()))
    })?;
    Ok(json!({ "text": printed }))
}

/// The parts of a preview.
#[derive(Clone, Copy, Debug)]
struct Parts<'p>(Option<&'p Vec<Value>>);

impl Parts<'_> {
    /// Returns true if a part is requested. Drawings are made only on request.
    fn has(self, part: &str) -> bool {
        match self.0 {
            Some(parts) => parts.iter().any(|asked| asked == part),
            None => matches!(part, "equations" | "plot"),
        }
    }
}

/// `{ "title": .., "equations": HTML, "plot": SVG or null, "linear": .., "bonds": .., "notes": [..], "held": .., "parameters": .., "places": .. }`
pub(crate) fn preview(context: &mut RequestContext, params: &Value) -> Result<Value, Refusal> {
    let plot = context.plot;
    let parts = Parts(params.get("parts").and_then(Value::as_array));
    let shown = on_model(context, params, |snapshot, places| {
        // Values under `set` are in SI.
        let other = snapshot.with_values(&|name| params.get("set")?.get(name)?.as_f64());
        let mut answer = shown(other.as_ref().unwrap_or(snapshot), parts, plot);
        let notes = answer["notes"].as_array().cloned().unwrap_or_default();
        let held = note(places.hunks).map(Value::from);
        answer["notes"] = held.into_iter().chain(notes).collect();
        answer["held"] = json!(!places.hunks.is_empty());
        answer["parameters"] = parameters(snapshot);
        answer["places"] = elements(snapshot, places);
        Some(answer)
    })?;
    Ok(shown.unwrap_or_default())
}

/// Returns the parameters that can be set, with their values in SI.
fn parameters(snapshot: &Snapshot) -> Value {
    let all = snapshot.parameters().into_iter();
    all.map(|(name, value, unit)| json!({ "name": name, "value": value, "unit": unit }))
        .collect()
}

/// Returns the lines of the text that declare the elements of a model.
fn elements(snapshot: &Snapshot, places: &Places) -> Value {
    let Some(model) = snapshot.compilation().model() else {
        return json!({});
    };
    let root = places.snapshot.root();
    let line = |element: &lgm_model::Element| {
        let paths = std::iter::successors(Some(element.path), |path| model.paths[path.index()].parent);
        let mut spans = paths.map(|path| model.paths[path.index()].span);
        let own = spans.find(|span| span.source == root && !places.is_replaced(*span))?;
        Some((model.path_name(element.path), json!(places.range(own).start.line)))
    };
    let all = model.graph.elements.iter().take(MOST_PLACES).filter_map(line);
    Value::Object(all.collect())
}

fn shown(snapshot: &Snapshot, parts: Parts, plot: Plot) -> Value {
    let compilation = snapshot.compilation();
    let mut notes = Vec::new();
    let title = compilation.model().map_or("lgm", |model| &*model.heading.name);
    let system = if parts.has("equations") {
        snapshot.system()
    } else {
        None
    };
    let equations = system.map_or(String::new(), |system| html_body(system, MatrixOptions::default()));
    // The drawing shows a conflict with its message next to it.
    if compilation.system().is_none() || parts.has("equations") && system.is_none() {
        notes.extend(why_not(snapshot));
    }
    let formulated = compilation.formulated_model().zip(compilation.system());
    let picture = formulated.filter(|_| parts.has("plot")).map(|(model, system)| {
        let is_wanted = || !compilation.request().cancellation.is_cancelled();
        plot(model, system, &is_wanted)
    });
    let mut kept = |picture: Option<Result<String, String>>| match picture? {
        Ok(picture) => Some(picture),
        Err(reason) => {
            notes.push(reason);
            None
        }
    };
    let plot = kept(picture);
    let drawn = |part, kind| parts.has(part).then(|| drawing(snapshot, kind)).flatten();
    let linear = kept(drawn("linear", Kind::LinearGraph));
    let bonds = kept(drawn("bonds", Kind::BondGraph));
    json!({ "title": title, "equations": equations, "plot": plot, "linear": linear, "bonds": bonds, "notes": notes })
}

/// Returns the drawing of a model with its conflict, if any, or the reason why there is no drawing.
fn drawing(snapshot: &Snapshot, kind: Kind) -> Option<Result<String, String>> {
    let compilation = snapshot.compilation();
    let model = compilation.formulated_model().or_else(|| compilation.model())?;
    let drawn = draw(model, compilation.bond_graph()?, compilation.causality()?, kind);
    Some(drawn.map(|drawing| svg(&drawing)).map_err(|refusal| match refusal {
        Undrawn::TooLarge(count) => format!(
            "the model has {count} elements; a drawing is limited to {}",
            lgm_draw::MOST
        ),
        Undrawn::NoLinearGraph(reason) => format!("the model has no linear graph: {reason}"),
    }))
}

/// Returns the reasons why there are no equations: the first errors, or the size of the model.
fn why_not(snapshot: &Snapshot) -> Vec<String> {
    if let Some(model) = snapshot
        .compilation()
        .model()
        .filter(|_| snapshot.compilation().system().is_some())
    {
        let count = model.graph.elements.len();
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

/// Returns the lenses `equations` and `simulate` above each model.
pub(crate) fn lenses(context: &mut RequestContext, params: &CodeLensParams) -> Result<Option<Vec<CodeLens>>, Refusal> {
    if !context.world.settings.lenses {
        return Ok(None);
    }
    let uri = params.text_document.uri.0.clone();
    context.on_steady(&params.text_document.uri, |places| {
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
