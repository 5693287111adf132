//! Reporting: each fault once, with the instances that it arose in and how many others share it.

use super::state::{Elaborator, FrameId, Place};
use lgm_algebra::expr::SymbolId;
use lgm_model::PathId;
use lgm_model::instances::{SHOWN_LEVELS, label_once};
use lgm_source::codes::Code;
use lgm_source::diagnostic::{Diagnostic, Label, MOST_FAULTS};

/// A fault that was met so often ends the work: a generated model can have a million instances of it.
const MOST_MET: usize = 100_000;

/// What is known of a fault that was reported.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reported {
    /// Where its diagnostic lies in the list; `None` where it was found before the expansion.
    at: Option<usize>,
    /// The last instance that showed it.
    last: FrameId,
    /// How many instances after the first one showed it.
    more: usize,
    /// How often it was met.
    met: usize,
}

impl Reported {
    /// A fault of a definition itself, whatever its instances.
    pub fn before_expansion() -> Reported {
        Reported {
            at: None,
            last: FrameId(0),
            more: 0,
            met: 0,
        }
    }
}

impl<'a> Elaborator<'a> {
    /// Records a diagnostic, once for each code and place, however many instances show it.
    ///
    /// Where the fault lies in the body of a component, the diagnostic says in which instance it arose.
    pub fn report(&mut self, mut diagnostic: Diagnostic) {
        // A fault in the law of a library element lies in what the user gave it.
        if let (Some((name, span)), Some(first)) = (&self.law_use, diagnostic.labels.first()) {
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
        self.errors += usize::from(diagnostic.is_error());
        if self.errors > MOST_FAULTS {
            self.stopped = true;
            return;
        }
        if let Some(first) = diagnostic.labels.first() {
            let (frame, at) = (self.here.frame, self.diagnostics.len());
            let key = (diagnostic.code, first.span);
            if let Some(known) = self.reported.get_mut(&key) {
                // One instance may show a fault several times, always in a row.
                if known.last != frame {
                    known.last = frame;
                    known.more += 1;
                }
                known.met += 1;
                self.errors -= usize::from(diagnostic.is_error());
                self.stopped |= known.met >= MOST_MET && diagnostic.is_error();
                return;
            }
            let entry = Reported {
                at: Some(at),
                last: frame,
                more: 0,
                met: 1,
            };
            self.reported.insert(key, entry);
            diagnostic = self.with_place(diagnostic);
        }
        self.diagnostics.push(diagnostic);
    }

    /// Adds the rounds of the loops around the fault and the chain of instances that it arose in, the innermost first.
    fn with_place(&self, mut diagnostic: Diagnostic) -> Diagnostic {
        let mut rounds = Vec::new();
        let mut env = self.here.env;
        while env.0 != 0 {
            let around = &self.envs[env.0 as usize];
            rounds.push(format!("`{}` = {}", around.name, around.value));
            env = around.parent;
        }
        if !rounds.is_empty() {
            rounds.reverse();
            diagnostic = diagnostic.note(format!("found in the round of the loop with {}", rounds.join(", ")));
        }
        let mut chain = Vec::new();
        let mut frame = self.here.frame;
        while frame.0 != 0 {
            chain.push(frame);
            frame = self.frames[frame.0 as usize].outer.frame;
        }
        let left_out = match chain.len() > SHOWN_LEVELS {
            true => SHOWN_LEVELS - 1..chain.len() - 1,
            false => 0..0,
        };
        for (at, frame) in chain.iter().enumerate() {
            let about = &self.frames[frame.0 as usize];
            let (Some(path), Some(instance)) = (about.path, about.instance) else {
                continue;
            };
            let span = instance.declared.span;
            if left_out.contains(&at) || diagnostic.labels.iter().any(|label| label.span == span) {
                continue;
            }
            let words = format!(
                "in the instance `{}` of `{}`, made here",
                self.model.path_name(path),
                self.bodies[about.body as usize].name.text
            );
            diagnostic = diagnostic.label(span, words);
        }
        match left_out.len() {
            0 => diagnostic,
            count => diagnostic.note(format!("{count} levels of instances between these are not shown")),
        }
    }

    /// Says of each fault how many instances beside the one shown have it too.
    pub fn count_instances(&mut self) {
        for known in self
            .reported
            .values()
            .filter(|known| known.more > 0 || known.met >= MOST_MET)
        {
            let Some(diagnostic) = known.at.and_then(|at| self.diagnostics.get_mut(at)) else {
                continue;
            };
            let words = match known.more {
                _ if known.met >= MOST_MET => {
                    format!("this fault was met {MOST_MET} times; the rest of the model was not looked at")
                }
                1 => "and 1 more instance has this fault".to_string(),
                more => format!("and {more} more instances have this fault"),
            };
            diagnostic.notes.push(words);
        }
    }

    /// Where an option gave a parameter another shape, a fault of widths is the option's.
    pub fn blame_options(&mut self) {
        const WIDTHS: [Code; 6] = [
            Code::LGM0120,
            Code::LGM0121,
            Code::LGM0202,
            Code::LGM0206,
            Code::LGM0207,
            Code::LGM0208,
        ];
        for diagnostic in &mut self.diagnostics {
            if WIDTHS.contains(&diagnostic.code) {
                for (message, span) in &self.reshaped {
                    let label = Label {
                        span: *span,
                        message: message.clone(),
                    };
                    diagnostic.labels.insert(0, label);
                }
            }
        }
    }

    /// Shows where a parameter, an input or a state that a value depends on is declared.
    pub fn label_symbol(&self, diagnostic: Diagnostic, symbol: SymbolId) -> Diagnostic {
        let of_parameter = self.model.parameters.iter().find_map(|parameter| {
            let is = parameter.entries.iter().any(|entry| entry.symbol == symbol);
            is.then_some((parameter.span, "a `param`"))
        });
        let of_input = || {
            let found = self.model.inputs.iter().find(|input| input.symbol == symbol);
            found.map(|input| (input.span, "an `input`"))
        };
        let info = self.arena.exprs.symbol_info(symbol);
        match of_parameter.or_else(of_input) {
            Some((span, kind)) => label_once(diagnostic, span, format!("`{}` is declared here, as {kind}", info.name)),
            None => diagnostic,
        }
    }

    /// Shows where a name of the body that is looked at is declared, in whatever branch.
    pub fn label_declared(&self, diagnostic: Diagnostic, name: &str, frame: FrameId, words: &str) -> Diagnostic {
        let statements = self.bodies[self.frames[frame.0 as usize].body as usize].statements;
        match super::origins::declared_at(statements, name) {
            Some(span) => label_once(diagnostic, span, words.to_string()),
            None => diagnostic,
        }
    }

    /// Does something at another place, so that its faults are reported there.
    pub fn at<T>(&mut self, place: Place, work: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.here, place);
        let result = work(self);
        self.here = before;
        result
    }

    /// The place of the body that made a thing.
    pub fn place_of(&self, path: PathId) -> Place {
        let parent = self.model.paths[path.index()].parent;
        // Paths are made in the order of the frames; only that of the model itself has none.
        let frame = match self.frames.binary_search_by_key(&parent, |frame| frame.path) {
            Ok(at) => FrameId(at as u32),
            Err(_) => FrameId(0),
        };
        Place {
            frame,
            env: super::state::EnvId(0),
        }
    }
}

/// The words that stand at a place, shortened where they are long.
pub(super) fn short(words: &str) -> String {
    const LONGEST: usize = 48;
    let one_line = words.split_whitespace().collect::<Vec<_>>().join(" ");
    match one_line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}..", &one_line[..end]),
        None => one_line,
    }
}
