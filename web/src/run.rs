//! Runs of the selected model.

use crate::page::{Answer, refused};
use lgm_session::diagnostics::as_json;
use lgm_session::run::columns::Written;
use lgm_session::run::failures;
use lgm_session::run::happened::Happened;
use lgm_session::run::inputs::InputValue;
use lgm_session::run::plan::RunOptions;
use lgm_session::{Faults, Session, Value as Parameter};
use lgm_simulate::{Inputs, Method, Silent, Sink, Stop};
use lgm_source::codes::Code;
use serde_json::{Map, Value, json};

/// The maximum number of values of one run; more would fill the memory of the worker.
const MOST_VALUES: usize = 20_000_000;

/// Keeps the samples by columns.
struct Kept<'k> {
    columns: &'k Written,
    inputs: &'k Inputs,
    times: Vec<f64>,
    values: Vec<Vec<f64>>,
}

impl Sink for Kept<'_> {
    fn row(&mut self, time: f64, outputs: &[f64], states: &[f64]) -> Result<(), Stop> {
        if self.times.len() * (self.values.len() + 1) >= MOST_VALUES {
            let words = format!("the page keeps at most {MOST_VALUES} values of a run: choose fewer points");
            return Err(Stop::Refused(words));
        }
        self.times.push(time);
        let values = self.columns.values(time, outputs, states, self.inputs);
        for (kept, value) in self.values.iter_mut().zip(values) {
            kept.push(value);
        }
        Ok(())
    }
}

/// Returns a value of a parameter: a number in SI, a list, or a literal with a unit.
fn parameter(value: &Value) -> Option<Parameter> {
    Some(match value {
        Value::Number(number) => Parameter::Number(number.as_f64().filter(|number| number.is_finite())?),
        Value::String(text) => Parameter::Text(text.clone()),
        Value::Array(list) => Parameter::List(list.iter().map(parameter).collect::<Option<_>>()?),
        _ => return None,
    })
}

fn options(arguments: &Value) -> Result<RunOptions, Faults> {
    let method = match &arguments["method"] {
        Value::Null => None,
        written => {
            let method = written.as_str().and_then(Method::of_word);
            let words = Method::ALL.map(|entry| entry.1).join(", ");
            Some(method.ok_or_else(|| refused(Code::LGM0926, format!("the methods are {words}, and not {written}")))?)
        }
    };
    Ok(RunOptions {
        stop: arguments["stop"].as_f64(),
        start: arguments["start"].as_f64(),
        points: arguments["points"].as_u64(),
        rtol: arguments["rtol"].as_f64(),
        method,
        ..RunOptions::default()
    })
}

/// Runs the model: `{"time": [..], "columns": {name: [..]}, ..}`. A run that fails has the samples up to its failure.
pub(crate) fn answer(session: &Session, arguments: &Value) -> Result<Answer, Faults> {
    let given = arguments["parameters"].as_object().into_iter().flatten();
    let mut values: Vec<(String, Parameter)> = Vec::new();
    for (name, value) in given {
        let words = || format!("`{name}` is a number, a list or a text with a unit, and not {value}");
        let value = parameter(value).ok_or_else(|| refused(Code::LGM0903, words()))?;
        values.push((name.clone(), value));
    }
    let other = match values.is_empty() {
        true => None,
        false => Some(session.with_parameters(&values)?),
    };
    let session = other.as_ref().unwrap_or(session);
    let inputs = arguments["inputs"].as_object().into_iter().flatten();
    let mut signals: Vec<(String, InputValue)> = Vec::new();
    for (name, text) in inputs {
        let words = || format!("the signal of `{name}` is an expression, and not {text}");
        let text = text.as_str().ok_or_else(|| refused(Code::LGM0920, words()))?;
        signals.push((name.clone(), InputValue::Text(text.to_string())));
    }
    let prepared = session.prepare(&options(arguments)?, &signals)?;
    let ready = prepared.ready;
    let columns = Written::all(&ready.system);
    let mut kept = Kept {
        columns: &columns,
        inputs: &ready.inputs,
        times: Vec::new(),
        values: vec![Vec::new(); columns.count()],
    };
    let mut happened = Happened::default();
    let ended = ready.run(&mut kept, &Silent, &mut happened);
    let mut notes = prepared.diagnostics;
    let failure = match ended {
        Ok(summary) => {
            notes.extend(summary.notes);
            Value::Null
        }
        Err(failure) => {
            let diagnostic = failures::diagnostic(&failure, &ready.system, &ready.inputs);
            as_json(&ready.map, &[diagnostic])
        }
    };
    let (mut values, mut about) = (Map::new(), Map::new());
    for (column, list) in columns.columns().zip(kept.values) {
        let unit = column.unit.map(|unit| unit.to_string());
        about.insert(column.name.clone(), json!({ "unit": unit, "kind": column.kind }));
        values.insert(column.name, json!(list));
    }
    let events = happened.events.iter().map(|event| {
        json!({ "time": event.time, "kind": event.kind, "element": event.element, "from": event.from, "to": event.to })
    });
    let plot = ready.system.experiment.plot.iter().map(|entry| entry.0.clone());
    let answer = json!({
        "time": kept.times,
        "columns": values,
        "about": about,
        "plot": plot.collect::<Vec<_>>(),
        "events": events.collect::<Vec<_>>(),
        "notes": as_json(&ready.map, &notes),
        "failure": failure,
    });
    Ok(answer.into())
}
