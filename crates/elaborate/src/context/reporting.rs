//! Reporting: each error once, with the instances that caused it and the number of further instances.

use crate::context::reports::{MOST_MET, Reported};
use crate::context::{Context, FrameId, Place};
use crate::syntax_queries::declared_at;
use lgm_algebra::expr::SymbolId;
use lgm_model::PathId;
use lgm_model::instances::{SHOWN_LEVELS, label_once};
use lgm_source::diagnostic::{Diagnostic, Label, MOST_FAULTS};

impl Context<'_> {
    /// Records a diagnostic, once for each code and location, for any number of instances.
    ///
    /// If the error is in the body of a component, the diagnostic names the instance.
    pub fn report(&mut self, mut diagnostic: Diagnostic) {
        // An error in the law of a library element is caused by the user's arguments.
        if let (Some((name, span)), Some(first)) = (&self.reports.law_use, diagnostic.labels.first()) {
            let label = Label {
                span: *span,
                message: format!("for `{name}` here"),
            };
            if self.program.is_library(first.span.source) {
                diagnostic.labels.insert(0, label);
            } else if !diagnostic.labels.iter().any(|label| label.span == *span) {
                diagnostic.labels.push(label);
            }
        }
        self.reports.errors += usize::from(diagnostic.is_error());
        if self.reports.errors > MOST_FAULTS {
            self.reports.stop();
            return;
        }
        if let Some(first) = diagnostic.labels.first() {
            let (frame, at) = (self.reports.here.frame, self.reports.diagnostics.len());
            let key = (diagnostic.code, first.span);
            if let Some(known) = self.reports.reported.get_mut(&key) {
                // One instance may cause an error several times, always consecutively.
                if known.last != frame {
                    known.last = frame;
                    known.more += 1;
                }
                known.met += 1;
                self.reports.errors -= usize::from(diagnostic.is_error());
                if known.met >= MOST_MET && diagnostic.is_error() {
                    self.reports.stop();
                }
                return;
            }
            let entry = Reported {
                at: Some(at),
                last: frame,
                more: 0,
                met: 1,
            };
            self.reports.reported.insert(key, entry);
            diagnostic = self.with_place(diagnostic);
        }
        self.reports.diagnostics.push(diagnostic);
    }

    /// Adds the iterations of the loops around the error and the chain of instances, the innermost first.
    fn with_place(&self, mut diagnostic: Diagnostic) -> Diagnostic {
        let mut rounds = Vec::new();
        let mut env = self.reports.here.env;
        while env.0 != 0 {
            let around = &self.scopes.envs[env.0 as usize];
            rounds.push(format!("`{}` = {}", around.name, around.value));
            env = around.parent;
        }
        if !rounds.is_empty() {
            rounds.reverse();
            diagnostic = diagnostic.note(format!("found in the iteration with {}", rounds.join(", ")));
        }
        let mut chain = Vec::new();
        let mut frame = self.reports.here.frame;
        while frame.0 != 0 {
            chain.push(frame);
            frame = self.scopes.frames[frame.0 as usize].outer.frame;
        }
        let left_out = match chain.len() > SHOWN_LEVELS {
            true => SHOWN_LEVELS - 1..chain.len() - 1,
            false => 0..0,
        };
        for (at, frame) in chain.iter().enumerate() {
            let about = &self.scopes.frames[frame.0 as usize];
            let (Some(path), Some(instance)) = (about.path, about.instance) else {
                continue;
            };
            let span = instance.declared.span;
            if left_out.contains(&at) || diagnostic.labels.iter().any(|label| label.span == span) {
                continue;
            }
            let words = format!(
                "in the instance `{}` of `{}`, created here",
                self.graph.model.path_name(path),
                self.scopes.bodies[about.body as usize].name.text
            );
            diagnostic = diagnostic.label(span, words);
        }
        match left_out.len() {
            0 => diagnostic,
            count => diagnostic.note(format!("{count} levels of instances between these are not shown")),
        }
    }

    /// Labels the declaration of a parameter, an input or a state that a value depends on.
    pub fn label_symbol(&self, diagnostic: Diagnostic, symbol: SymbolId) -> Diagnostic {
        let of_parameter = self.graph.model.parameters.iter().find_map(|parameter| {
            let is = parameter.entries.iter().any(|entry| entry.symbol == symbol);
            is.then_some((parameter.span, "a `param`"))
        });
        let of_input = || {
            let found = self.graph.model.inputs.iter().find(|input| input.symbol == symbol);
            found.map(|input| (input.span, "an `input`"))
        };
        let info = self.arena.exprs.symbol_info(symbol);
        match of_parameter.or_else(of_input) {
            Some((span, kind)) => label_once(diagnostic, span, format!("`{}` is declared here, as {kind}", info.name)),
            None => diagnostic,
        }
    }

    /// Labels the declaration of a name in the current body, in any branch.
    pub fn label_declared(&self, diagnostic: Diagnostic, name: &str, frame: FrameId, words: &str) -> Diagnostic {
        let statements = self.scopes.bodies[self.scopes.frames[frame.0 as usize].body as usize].statements;
        match declared_at(statements, name) {
            Some(span) => label_once(diagnostic, span, words.to_string()),
            None => diagnostic,
        }
    }

    /// Returns the place of the body that created a part of the model.
    pub fn place_of(&self, path: PathId) -> Place {
        let parent = self.graph.model.paths[path.index()].parent;
        // Paths are created in the order of the frames; only the frame of the model itself has none.
        let frame = match self.scopes.frames.binary_search_by_key(&parent, |frame| frame.path) {
            Ok(at) => FrameId(at as u32),
            Err(_) => FrameId(0),
        };
        Place::of(frame)
    }
}
