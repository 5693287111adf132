//! Progress of long work: the editor shows it after half a second.

use crate::protocol::transport::Out;
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, unbounded};
use serde_json::{Value, json};
use std::thread;
use std::time::Duration;

/// Shorter work shows no progress.
const PATIENCE: Duration = Duration::from_millis(500);

/// The messages to the watching thread: the title of a task that starts, or its end.
type Event = Option<&'static str>;

/// Watches the work of one thread.
#[derive(Debug)]
pub(crate) struct Progress(Option<Sender<Event>>);

/// A piece of work; it ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Underway(Option<Sender<Event>>);

impl Progress {
    /// Starts the watching thread if the editor shows progress.
    pub(crate) fn new(out: Out, is_shown: bool) -> Progress {
        let (sender, events) = unbounded();
        let thread = thread::Builder::new().name("lgm-progress".to_string());
        // Without a thread no progress is shown, and everything else continues.
        let is_started = is_shown && thread.spawn(move || watch(&out, &events)).is_ok();
        Progress(is_started.then_some(sender))
    }

    /// Begins a piece of work.
    pub(crate) fn begin(&self, words: &'static str) -> Underway {
        send(self.0.as_ref(), Some(words));
        Underway(self.0.clone())
    }
}

impl Drop for Underway {
    fn drop(&mut self) {
        send(self.0.as_ref(), None);
    }
}

fn send(to: Option<&Sender<Event>>, event: Event) {
    if let Some(sender) = to {
        // If the thread has ended, the editor is gone.
        let _ = sender.send(event);
    }
}

fn watch(out: &Out, events: &Receiver<Event>) {
    let mut count = 0;
    while let Ok(event) = events.recv() {
        let Some(words) = event else { continue };
        match events.recv_timeout(PATIENCE) {
            Ok(_) => continue,
            Err(RecvTimeoutError::Disconnected) => return,
            Err(RecvTimeoutError::Timeout) => {}
        }
        count += 1;
        let token = format!("lgm-work-{count}");
        let report = |value: Value| out.notify("$/progress", json!({ "token": token, "value": value }));
        out.request(&token, "window/workDoneProgress/create", json!({ "token": token }));
        report(json!({ "kind": "begin", "title": "lgm", "message": words }));
        let end = events.recv();
        report(json!({ "kind": "end" }));
        if end.is_err() {
            return;
        }
    }
}
