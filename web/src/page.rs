//! The open texts, and the results for the selected one.

use crate::tabs::Tabs;
use crate::{editor, lg2ss, results, run};
use lgm_ide::Snapshot;
use lgm_session::diagnostics::as_json;
use lgm_session::{Faults, Session};
use lgm_source::SourceMap;
use lgm_source::cancellation::Cancellation;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use serde_json::{Value, json};
use std::cell::OnceCell;
use std::path::PathBuf;
use std::sync::Arc;

/// An answer: a value, or text that is JSON already.
pub(crate) enum Answer {
    Value(Value),
    /// Numbers of a printed result must not be parsed and printed again.
    Json(String),
}

impl From<Value> for Answer {
    fn from(value: Value) -> Answer {
        Answer::Value(value)
    }
}

/// The open texts, and the results for the selected one.
#[derive(Default)]
pub(crate) struct Page {
    pub(crate) tabs: Tabs,
    /// The name of the selected text.
    root: String,
    /// The selected model; by default the last one.
    model: Option<String>,
    snapshot: Option<Snapshot>,
    /// The snapshot of the selected model if it is another one than that of the whole text.
    selected: OnceCell<Option<Snapshot>>,
    session: OnceCell<Result<Session, Faults>>,
    /// The model linearised at its initial values, if it is nonlinear.
    linear: OnceCell<Result<Session, Faults>>,
}

/// Returns an error without a location.
pub(crate) fn refused(code: Code, message: impl Into<String>) -> Faults {
    Faults {
        map: SourceMap::default(),
        diagnostics: vec![Diagnostic::error(code, message.into())],
    }
}

fn no_text() -> Faults {
    refused(Code::LGM0910, "no text is open")
}

/// Returns an argument that is a text.
pub(crate) fn text<'a>(arguments: &'a Value, name: &str) -> &'a str {
    arguments[name].as_str().unwrap_or_default()
}

impl Page {
    /// Answers a question. Unknown questions and unreadable arguments have no answer.
    pub(crate) fn ask(&mut self, question: &str, arguments: &str) -> String {
        let arguments: Value = serde_json::from_str(arguments).unwrap_or_default();
        match self.answer(question, &arguments) {
            Ok(Answer::Value(value)) => json!({ "answer": value }).to_string(),
            Ok(Answer::Json(text)) => format!("{{\"answer\":{text}}}"),
            Err(faults) => {
                let diagnostics = as_json(&faults.map, &faults.diagnostics);
                json!({ "faults": diagnostics, "message": faults.to_string() }).to_string()
            }
        }
    }

    fn answer(&mut self, question: &str, arguments: &Value) -> Result<Answer, Faults> {
        if question == "open" {
            self.open(arguments);
            return Ok(Value::Null.into());
        }
        if question == "lg2ss" {
            return lg2ss::answer(arguments);
        }
        if question == "keywords" {
            return Ok(json!(lgm_ide::keywords().collect::<Vec<_>>()).into());
        }
        let snapshot = self.snapshot.as_ref();
        let snapshot = snapshot.ok_or_else(no_text)?;
        if let Some(value) = editor::answer(self, snapshot, question, arguments) {
            return Ok(value.into());
        }
        if question == "simulate" {
            return run::answer(self.session()?, arguments);
        }
        results::answer(self, snapshot, question, arguments)
    }

    /// Replaces the open texts, selects one of them, and a model in it.
    fn open(&mut self, arguments: &Value) {
        let files = arguments["files"].as_object();
        let files = files.into_iter().flatten();
        self.tabs.0 = files
            .filter_map(|(name, text)| Some((name.clone(), text.as_str()?.to_string())))
            .collect();
        self.root = text(arguments, "root").to_string();
        self.model = arguments["model"].as_str().map(str::to_string);
        (self.selected, self.session, self.linear) = Default::default();
        let own = self.tabs.0.get(&self.root).map_or("", String::as_str);
        let path = Some(PathBuf::from(&self.root));
        let before = self.snapshot.take();
        let after = Snapshot::after(
            before.as_ref(),
            &self.tabs,
            path,
            &self.root,
            own,
            Cancellation::default(),
        );
        self.snapshot = Some(after);
    }

    /// Returns the model with its equations.
    pub(crate) fn session(&self) -> Result<&Session, Faults> {
        let make = || {
            let snapshot = self.snapshot.as_ref().ok_or_else(no_text)?;
            let chosen = self.of_model(snapshot).unwrap_or(snapshot);
            // Hints show the same equations.
            Session::of(Arc::clone(chosen.compilation().symbolic()))
        };
        self.session.get_or_init(make).as_ref().map_err(Faults::clone)
    }

    /// Returns the model for linear analyses, and true if it was linearised at its initial values.
    pub(crate) fn linear(&self) -> Result<(&Session, bool), Faults> {
        let session = self.session()?;
        if session.equations().equations.linear {
            return Ok((session, false));
        }
        let linear = self.linear.get_or_init(|| session.linearized(&[], false));
        Ok((linear.as_ref().map_err(Faults::clone)?, true))
    }

    /// Returns the snapshot of the selected model if it is another one than that of the whole text.
    pub(crate) fn of_model(&self, snapshot: &Snapshot) -> Option<&Snapshot> {
        let make = || snapshot.of_model(self.model.as_deref()?);
        self.selected.get_or_init(make).as_ref()
    }
}
