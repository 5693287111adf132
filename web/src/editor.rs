//! Answers to the editor of the page. Offsets count units of UTF-16.

use crate::page::{Page, text};
use crate::positions::Positions;
use lgm_compilation::stretched::Stretched;
use lgm_ide::{Action, Edit, NameKind, Problem, Snapshot};
use lgm_session::diagnostics::as_json;
use lgm_source::diagnostic::Severity;
use lgm_source::{SourceId, Span};
use serde_json::{Value, json};

/// One question about a text.
struct Asked<'a> {
    page: &'a Page,
    snapshot: &'a Snapshot,
    root: Positions,
    arguments: &'a Value,
}

/// Returns the answer to a question of the editor; `None` if the question is not one of these.
pub(crate) fn answer(page: &Page, snapshot: &Snapshot, question: &str, arguments: &Value) -> Option<Value> {
    let asked = Asked {
        page,
        snapshot,
        root: Positions::of(snapshot.map().get(snapshot.root())),
        arguments,
    };
    Some(match question {
        "check" => asked.check(),
        "problems" => asked.problems(),
        "colors" => asked.colors(),
        "hints" => asked.hints(),
        "hover" => asked.hover(),
        "complete" => asked.completions(),
        "definition" => snapshot
            .definition(asked.at())
            .map_or(Value::Null, |span| asked.place(span)),
        "rename" => asked.rename(),
        "actions" => asked.actions(),
        "format" => json!(snapshot.formatted()),
        "models" => {
            let models = snapshot.models().into_iter();
            models.map(|span| json!(snapshot.map().slice(span))).collect()
        }
        _ => return None,
    })
}

impl Asked<'_> {
    fn byte(&self, name: &str) -> u32 {
        self.root.byte(self.arguments[name].as_u64().unwrap_or_default())
    }

    fn at(&self) -> (SourceId, u32) {
        (self.snapshot.root(), self.byte("at"))
    }

    /// Returns a location with the name of its text. A text of the standard library is included, because no tab has it.
    fn place(&self, span: Span) -> Value {
        let source = self.snapshot.map().get(span.source);
        let is_root = span.source == self.snapshot.root();
        let mut value = match is_root {
            true => self.root.range(span),
            false => Positions::of(source).range(span),
        };
        value["file"] = json!(source.name);
        let is_open = is_root || self.page.tabs.0.contains_key(&source.name);
        if !is_open {
            value["text"] = json!(&*source.text);
        }
        value
    }

    /// Returns the JSON of `lgm check --format json`.
    fn check(&self) -> Value {
        let compilation = self.snapshot.compilation();
        let diagnostics = match Stretched::of(compilation, Stretched::WORTHWHILE) {
            Some(_) => compilation.diagnostics_of_others(),
            None => compilation.diagnostics(),
        };
        as_json(compilation.map(), &diagnostics)
    }

    fn problems(&self) -> Value {
        let one = |problem: &Problem| {
            let span = problem.span.filter(|span| span.source == self.snapshot.root());
            let start = Span::new(self.snapshot.root(), 0, 0);
            let mut value = self.root.range(span.unwrap_or(start));
            value["severity"] = json!(match problem.severity {
                _ if problem.is_hint => "hint",
                Severity::Error => "error",
                Severity::Warning => "warning",
                Severity::Information => "info",
            });
            value["code"] = json!(problem.code.map(|code| code.as_str()));
            value["message"] = json!(problem.message);
            value["unused"] = json!(problem.is_unused);
            let related = problem.related.iter().map(|(span, message)| {
                let mut place = self.place(*span);
                place["message"] = json!(message);
                place
            });
            value["related"] = related.collect();
            value
        };
        self.snapshot.problems().iter().map(one).collect()
    }

    fn colors(&self) -> Value {
        let one = |colored: lgm_ide::Colored| {
            json!([
                self.root.units(colored.span.start),
                self.root.units(colored.span.end),
                kind(colored.kind),
                colored.declares
            ])
        };
        self.snapshot.colors().into_iter().map(one).collect()
    }

    fn hints(&self) -> Value {
        let one =
            |hint: lgm_ide::Hint| json!({ "at": self.root.units(hint.at), "text": hint.text, "tooltip": hint.tooltip });
        self.snapshot.hints().into_iter().map(one).collect()
    }

    fn hover(&self) -> Value {
        let Some(hover) = self.snapshot.hover(self.at()) else {
            return Value::Null;
        };
        let mut value = self.root.range(hover.span);
        value["markdown"] = json!(hover.markdown);
        value
    }

    fn completions(&self) -> Value {
        let found = self.snapshot.completions(self.byte("at"));
        let one = |completion: &lgm_ide::Completion| {
            let own = completion.definition;
            let own = own.and_then(|definition| self.snapshot.documentation(definition, &completion.label));
            let documentation = own.or_else(|| completion.documentation.map(str::to_string));
            let mut value = self.root.range(completion.replace);
            value["label"] = json!(completion.label);
            value["kind"] = json!(kind(completion.kind));
            value["detail"] = json!(completion.detail);
            value["documentation"] = json!(documentation);
            value["insert"] = json!(completion.insert);
            value["import"] = completion.import.as_ref().map_or(Value::Null, |edit| self.edit(edit));
            value
        };
        let list: Vec<Value> = found.list.iter().take(MOST_COMPLETIONS).map(one).collect();
        json!({ "list": list, "incomplete": found.is_incomplete || found.list.len() > MOST_COMPLETIONS })
    }

    fn edit(&self, edit: &Edit) -> Value {
        let mut value = self.place(edit.span);
        value["insert"] = json!(edit.text);
        value
    }

    fn rename(&self) -> Value {
        let new = text(self.arguments, "name");
        if new.is_empty() {
            return match self.snapshot.renamed_name(self.at()) {
                Ok(span) => self.place(span),
                Err(reason) => json!({ "reason": reason }),
            };
        }
        match self.snapshot.rename(self.at(), new) {
            Ok(edits) => edits.iter().map(|edit| self.edit(edit)).collect(),
            Err(reason) => json!({ "reason": reason }),
        }
    }

    fn actions(&self) -> Value {
        let (from, to) = (self.byte("from"), self.byte("to"));
        let span = Span::new(self.snapshot.root(), from as usize, to.max(from) as usize);
        let one = |action: &Action| {
            let edits: Value = action.edits.iter().map(|edit| self.edit(edit)).collect();
            json!({ "title": action.title, "code": action.code.map(|code| code.as_str()), "fix": action.is_fix, "edits": edits })
        };
        self.snapshot.actions(span).iter().map(one).collect()
    }
}

/// The maximum number of completions in one list.
const MOST_COMPLETIONS: usize = 200;

/// Returns the class of a kind of names.
fn kind(kind: NameKind) -> &'static str {
    match kind {
        NameKind::Model | NameKind::Component | NameKind::Element => "class",
        NameKind::Domain => "type",
        NameKind::Module => "namespace",
        NameKind::Parameter => "constant",
        NameKind::Input | NameKind::Output | NameKind::Signal | NameKind::State | NameKind::Index => "variable",
        NameKind::Node | NameKind::Port | NameKind::Instance => "property",
        NameKind::Function => "function",
        NameKind::Keyword => "keyword",
        NameKind::Unit => "unit",
        NameKind::Mode => "enum",
    }
}
