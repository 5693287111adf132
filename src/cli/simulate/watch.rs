//! Monitors a run: shows its progress on a terminal, and ends it on request.

use crate::cli::interrupt;
use lgm_session::run::failures::instant;
use lgm_simulate::{Progress, Stop, Summary};
use std::io::{IsTerminal, Write};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// Runs shorter than this show no progress.
const PATIENCE: Duration = Duration::from_secs(1);

/// Time between two updates of the progress bar.
const REFRESH: Duration = Duration::from_millis(100);

/// The number of steps between two readings of the clock.
const STEPS: u32 = 16;

/// Length of the progress bar in characters.
const LENGTH: usize = 32;

/// Progress of a single run or a batch.
#[derive(Debug)]
pub(super) struct Watch {
    from: f64,
    to: f64,
    /// The number of runs.
    runs: usize,
    is_seen: bool,
    began: Instant,
    calls: AtomicU32,
    is_drawn: AtomicBool,
    last: Mutex<Instant>,
}

impl Watch {
    /// Creates a monitor for a number of runs over a time span.
    pub fn new(from: f64, to: f64, runs: usize) -> Watch {
        let now = Instant::now();
        Watch {
            from,
            to,
            runs,
            is_seen: std::io::stderr().is_terminal(),
            began: now,
            calls: AtomicU32::new(0),
            is_drawn: AtomicBool::new(false),
            last: Mutex::new(now),
        }
    }

    /// Draws the bar, unless it was drawn recently or the run has just started.
    fn draw(&self, share: f64, words: &str) {
        let now = Instant::now();
        if now - self.began < PATIENCE {
            return;
        }
        // If another thread is drawing, this update is skipped.
        let Ok(mut last) = self.last.try_lock() else { return };
        if now - *last < REFRESH {
            return;
        }
        *last = now;
        let bar = bar(share);
        let left = (now - self.began).as_secs_f64() * (1.0 - share) / share.max(1e-9);
        let left = if share > 0.01 && left < 1e6 {
            format!(", {left:.0} s left")
        } else {
            String::new()
        };
        let mut stream = std::io::stderr().lock();
        let _ = write!(stream, "\r\x1b[2K{bar} {:3.0}%  {words}{left}", 100.0 * share);
        let _ = stream.flush();
        self.is_drawn.store(true, Ordering::Relaxed);
    }

    /// Updates the number of completed runs.
    pub fn finished(&self, runs: usize) {
        if self.is_seen {
            self.draw(
                runs as f64 / self.runs.max(1) as f64,
                &format!("{runs} of {} runs", self.runs),
            );
        }
    }

    /// Removes the bar.
    pub fn clear(&self) {
        if self.is_drawn.swap(false, Ordering::Relaxed) {
            let mut stream = std::io::stderr().lock();
            let _ = write!(stream, "\r\x1b[2K");
            let _ = stream.flush();
        }
    }
}

impl Progress for Watch {
    fn reached(&self, time: f64) -> Result<(), Stop> {
        if interrupt::is_asked_for() {
            return Err(Stop::Interrupted);
        }
        if self.is_seen && self.runs == 1 && self.calls.fetch_add(1, Ordering::Relaxed).is_multiple_of(STEPS) {
            let share = ((time - self.from) / (self.to - self.from)).clamp(0.0, 1.0);
            self.draw(share, &format!("time {time:.4} s"));
        }
        Ok(())
    }
}

fn bar(share: f64) -> String {
    let full = (share.clamp(0.0, 1.0) * LENGTH as f64).round() as usize;
    format!("[{}{}]", "#".repeat(full), " ".repeat(LENGTH - full))
}

/// Formats the cost of a completed run on one line.
pub(super) fn statistics(summary: &Summary) -> String {
    let mut text = format!(
        "method {}, {} steps ({} rejected), {} evaluations",
        summary.method.word(),
        summary.steps,
        summary.rejected,
        summary.evaluations
    );
    if summary.jacobians > 0 {
        text.push_str(&format!(
            ", {} Jacobians, {} factorisations",
            summary.jacobians, summary.factorisations
        ));
    }
    if summary.restarts > 0 {
        let word = if summary.restarts == 1 { "restart" } else { "restarts" };
        text.push_str(&format!(", {} {word}", summary.restarts));
    }
    if let Some(time) = summary.stiff_from {
        text.push_str(&format!("; stiff from {} s on", instant(time)));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_fills_up() {
        assert_eq!(bar(0.0).matches('#').count(), 0);
        assert_eq!(bar(0.5).matches('#').count(), 16);
        assert_eq!(bar(7.0).matches('#').count(), 32);
    }
}
