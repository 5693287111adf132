//! The errors found so far, each once, and the current place.

use crate::context::scopes::{FrameId, Place};
use lgm_source::Span;
use lgm_source::cancellation::Cancellation;
use lgm_source::codes::Code;
use lgm_source::diagnostic::{Diagnostic, Label};
use rustc_hash::FxHashMap;

/// The number of occurrences of one error that ends the work: a generated model can have a million.
pub(crate) const MOST_MET: usize = 100_000;

/// The record of a reported error.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reported {
    /// The index of its diagnostic in the list; `None` if it was found before the expansion.
    pub at: Option<usize>,
    /// The last instance with the error.
    pub last: FrameId,
    /// The number of further instances with the error.
    pub more: usize,
    /// The number of occurrences.
    pub met: usize,
}

/// The errors so far, and the context for which they are reported.
pub(crate) struct Reports {
    pub diagnostics: Vec<Diagnostic>,
    pub reported: FxHashMap<(Code, Span), Reported>,
    /// The missing parts by their messages, and the first location that names each.
    missing: FxHashMap<String, Span>,
    /// The number of reported errors.
    pub errors: usize,
    /// True if the number of errors has reached the limit, so the work stops.
    stopped: bool,
    /// The cancellation flag of the caller.
    cancellation: Cancellation,
    /// The current place, for which errors are reported.
    pub here: Place,
    /// The element whose law is being evaluated, and the location of its use.
    pub law_use: Option<(String, Span)>,
    /// Options that change the shape of a parameter: their messages and locations.
    pub reshaped: Vec<(String, Span)>,
    /// The empty loops, by their frames.
    empty_loops: FxHashMap<FrameId, Vec<EmptyLoop>>,
}

/// A loop whose range is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EmptyLoop {
    pub range: Span,
    pub body: Span,
}

impl Reports {
    /// Returns true if another location already has the same message.
    pub fn is_missed_elsewhere(&mut self, message: &str, place: Span) -> bool {
        match self.missing.get(message) {
            Some(known) => *known != place,
            None => {
                self.missing.insert(message.to_string(), place);
                false
            }
        }
    }

    /// Returns reports with the errors of definitions by themselves.
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

    /// Records an empty loop.
    pub fn add_empty_loop(&mut self, frame: FrameId, found: EmptyLoop) {
        let known = self.empty_loops.entry(frame).or_default();
        if !known.contains(&found) {
            known.push(found);
        }
    }

    /// Returns the empty loops of a frame.
    pub fn empty_loops(&self, frame: FrameId) -> &[EmptyLoop] {
        self.empty_loops.get(&frame).map_or(&[], Vec::as_slice)
    }

    /// Stops the work.
    pub fn stop(&mut self) {
        self.stopped = true;
    }

    /// Returns true if the work stops because of too many errors or a cancellation.
    pub fn is_stopped(&self) -> bool {
        self.stopped || self.cancellation.is_cancelled()
    }

    /// Adds to each error the number of further instances with it.
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
                    format!("this problem occurred {MOST_MET} times; the rest of the model was not checked")
                }
                1 => "and 1 more instance has this problem".to_string(),
                more => format!("and {more} more instances have this problem"),
            };
            diagnostic.notes.push(words);
        }
    }

    /// Attributes width errors to an option that changed the shape of a parameter, if any.
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
