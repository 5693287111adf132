//! The faults that were found, each once, and the place that is looked at.

use crate::context::scopes::{FrameId, Place};
use lgm_source::Span;
use lgm_source::cancellation::Cancellation;
use lgm_source::codes::Code;
use lgm_source::diagnostic::{Diagnostic, Label};
use rustc_hash::FxHashMap;

/// A fault that was met so often ends the work: a generated model can have a million instances of it.
pub(crate) const MOST_MET: usize = 100_000;

/// What is known of a fault that was reported.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reported {
    /// Where its diagnostic lies in the list; `None` where it was found before the expansion.
    pub at: Option<usize>,
    /// The last instance that showed it.
    pub last: FrameId,
    /// How many instances after the first one showed it.
    pub more: usize,
    /// How often it was met.
    pub met: usize,
}

/// The faults so far, and what they are reported for.
pub(crate) struct Reports {
    pub diagnostics: Vec<Diagnostic>,
    pub reported: FxHashMap<(Code, Span), Reported>,
    /// The parts that nothing declares, by the words that are said of them; and the first place that names each.
    missing: FxHashMap<String, Span>,
    /// How many errors were reported.
    pub errors: usize,
    /// Whether so much went wrong that nothing more is looked at.
    stopped: bool,
    /// Whether somebody waits for the answer.
    cancellation: Cancellation,
    /// The place that is looked at now, which the faults found are reported for.
    pub here: Place,
    /// The element whose law is being evaluated, and where it is used.
    pub law_use: Option<(String, Span)>,
    /// Options that give a parameter another shape than its declaration: what is said of them, and where.
    pub reshaped: Vec<(String, Span)>,
    /// The loops that make nothing, by the frames that they stand in.
    empty_loops: FxHashMap<FrameId, Vec<EmptyLoop>>,
}

/// A loop whose range is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EmptyLoop {
    pub range: Span,
    pub body: Span,
}

impl Reports {
    /// Returns true if the same is said of a part at another place already.
    pub fn is_missed_elsewhere(&mut self, message: &str, place: Span) -> bool {
        match self.missing.get(message) {
            Some(known) => *known != place,
            None => {
                self.missing.insert(message.to_string(), place);
                false
            }
        }
    }

    /// Starts with the faults that definitions have whatever their instances are.
    pub fn new(diagnostics: Vec<Diagnostic>, cancellation: Cancellation) -> Reports {
        let before_expansion = Reported {
            at: None,
            last: FrameId(0),
            more: 0,
            met: 0,
        };
        let reported = diagnostics
            .iter()
            .filter_map(|diagnostic| {
                let key = (diagnostic.code, diagnostic.labels.first()?.span);
                Some((key, before_expansion))
            })
            .collect();
        let missing = diagnostics.iter().filter(|diagnostic| diagnostic.code == Code::LGM0111);
        let missing = missing.filter_map(|diagnostic| {
            let place = diagnostic.labels.first()?.span;
            Some((diagnostic.message.clone(), place))
        });
        Reports {
            missing: missing.collect(),
            diagnostics,
            reported,
            errors: 0,
            stopped: false,
            cancellation,
            here: Place::MODEL,
            law_use: None,
            reshaped: Vec::new(),
            empty_loops: FxHashMap::default(),
        }
    }

    /// Remembers a loop that makes nothing.
    pub fn add_empty_loop(&mut self, frame: FrameId, found: EmptyLoop) {
        let known = self.empty_loops.entry(frame).or_default();
        if !known.contains(&found) {
            known.push(found);
        }
    }

    /// The loops of a frame that make nothing.
    pub fn empty_loops(&self, frame: FrameId) -> &[EmptyLoop] {
        self.empty_loops.get(&frame).map_or(&[], Vec::as_slice)
    }

    /// Looks at nothing more.
    pub fn stop(&mut self) {
        self.stopped = true;
    }

    /// Whether nothing more is looked at, because too much went wrong or the answer is not wanted any more.
    pub fn is_stopped(&self) -> bool {
        self.stopped || self.cancellation.is_cancelled()
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
                    format!("this fault occurred {MOST_MET} times; the rest of the model was not checked")
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
}
