//! The computing thread: it answers requests in order, and computes diagnostics of the newest world when no request waits.

use crate::cache::{Cache, Stopped, guarded};
use crate::context::{Plot, Refusal, RequestContext};
use crate::diagnostics::{self, DiagnosticsOfUris};
use crate::features::requests;
use crate::jobs::{Job, Purpose, Shared, locked};
use crate::progress::Progress;
use crate::protocol::capabilities::Client;
use crate::protocol::transport::Out;
use crate::world::documents::World;
use crossbeam_channel::Receiver;
use gen_lsp_types::{Diagnostic, PublishDiagnosticsParams, Uri};
use lgm_source::cancellation::Cancellation;
use lsp_server::{ErrorCode, Request};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

/// The worker.
#[derive(Debug)]
pub(crate) struct Worker {
    shared: Arc<Shared>,
    out: Out,
    client: Client,
    plot: Plot,
    cache: Cache,
    progress: Progress,
    /// The last findings, with the version of the text if it is open.
    found: BTreeMap<String, (Option<i32>, Vec<Diagnostic>)>,
    /// The last answer to a diagnostic request for a text, with the version of the text.
    pulled: HashMap<String, (Option<i32>, Value)>,
}

impl Worker {
    pub(crate) fn new(shared: Arc<Shared>, out: Out, client: Client, plot: Plot) -> Worker {
        Worker {
            cache: Cache::new(shared.clone()),
            progress: Progress::new(out.clone(), client.shows_progress),
            shared,
            out,
            client,
            plot,
            found: BTreeMap::new(),
            pulled: HashMap::new(),
        }
    }

    /// Works until the job channel closes.
    pub(crate) fn work(mut self, jobs: &Receiver<Job>) {
        let (mut requests, mut check): (VecDeque<(Request, Arc<World>, Cancellation)>, bool) = (VecDeque::new(), false);
        loop {
            let mut take = |job| match job {
                Job::Check => check = true,
                Job::Answer(request, world, cancellation) => requests.push_back((request, world, cancellation)),
            };
            jobs.try_iter().for_each(&mut take);
            // Requests that need equations wait until everything else is done, the diagnostics included.
            let light = requests.iter().position(|(request, ..)| !requests::is_heavy(request));
            let next = match light {
                Some(at) => requests.remove(at),
                None if check => None,
                None => requests.pop_front(),
            };
            if let Some((request, world, cancellation)) = next {
                self.answer(request, world, &cancellation);
            } else if std::mem::take(&mut check) {
                self.check();
            } else {
                self.cache.free_stale();
                match jobs.recv() {
                    Ok(Job::Check) => check = true,
                    Ok(Job::Answer(request, world, cancellation)) => requests.push_back((request, world, cancellation)),
                    Err(_) => return,
                }
            }
        }
    }

    /// Computes the diagnostics; a newer world starts another job of this kind.
    fn check(&mut self) {
        let _underway = self.progress.begin("checking models");
        let world = self.shared.latest();
        self.cache.keep_open(&world);
        self.cache.begin(Purpose::Check);
        let (shared, out, cache) = (&self.shared, &self.out, &mut self.cache);
        let is_wanted = || shared.is_latest(&world);
        let report = |words: &str| out.log_error(&format!("a compiler bug in {words}"));
        let found = guarded(|| diagnostics::of_world(cache, &world, is_wanted, report));
        match found {
            Ok(Ok(found)) if self.shared.is_latest(&world) => self.publish(&world, found),
            Err(Stopped::Panicked(words)) => report(&words),
            _ => {}
        }
    }

    /// Reports changed diagnostics to the editor.
    fn publish(&mut self, world: &World, found: DiagnosticsOfUris) {
        let mut last = std::mem::take(&mut self.found);
        let mut is_stale = false;
        for (uri, diagnostics) in found {
            let version = world.documents.get(&uri).map(|document| document.version);
            let now = (version, diagnostics);
            let before = last.remove(&uri);
            if before.as_ref() != Some(&now) {
                match self.client.pulls && version.is_some() {
                    false => self.push(&uri, now.clone()),
                    true => {
                        // Diagnostics pushed before the text was opened would duplicate the requested ones.
                        if before.is_some_and(|before| before.0.is_none() && !before.1.is_empty()) {
                            self.push(&uri, (version, Vec::new()));
                        }
                    }
                }
            }
            is_stale |= self.is_stale(&uri, &now);
            self.found.insert(uri, now);
        }
        for (uri, _) in last {
            self.push(&uri, (None, Vec::new()));
        }
        if is_stale {
            self.out
                .request("lgm-refresh", "workspace/diagnostic/refresh", Value::Null);
        }
    }

    /// Returns true if the diagnostics have changed since the editor requested this version of the text. The editor pulls diagnostics of a
    /// changed text by itself, but not of other texts that the change affects.
    fn is_stale(&self, uri: &str, (version, diagnostics): &(Option<i32>, Vec<Diagnostic>)) -> bool {
        let pulled = self.pulled.get(uri).filter(|pulled| pulled.0 == *version);
        pulled.is_some_and(|pulled| serde_json::to_value(diagnostics).ok().as_ref() != Some(&pulled.1))
    }

    fn push(&self, uri: &str, (version, diagnostics): (Option<i32>, Vec<Diagnostic>)) {
        let params = PublishDiagnosticsParams {
            uri: Uri(uri.to_string()),
            version,
            diagnostics,
        };
        let params = serde_json::to_value(params).unwrap_or_default();
        self.out.notify("textDocument/publishDiagnostics", params);
    }

    fn answer(&mut self, request: Request, world: Arc<World>, cancellation: &Cancellation) {
        let id = request.id.clone();
        let uri = request.params["textDocument"]["uri"]
            .as_str()
            .unwrap_or_default()
            .to_string();
        let version = world.documents.get(&uri).map(|document| document.version);
        let is_pull = request.method == "textDocument/diagnostic";
        let _underway = self.progress.begin(match request.method.as_str() {
            "textDocument/diagnostic" => "checking a model",
            "lgm/preview" | "lgm/equations" => "making equations",
            _ => "reading models",
        });
        let result = self.result(request, world, cancellation);
        if let (true, Ok(report)) = (is_pull, &result) {
            self.pulled.insert(uri, (version, report["items"].clone()));
        }
        if let Err((ErrorCode::InternalError, words)) = &result {
            self.out.log_error(words);
        }
        locked(&self.shared.waiting).remove(&id);
        self.out.respond(&id, result);
    }

    /// Returns the answer, computed again if an edit of another text has cancelled it.
    fn result(
        &mut self,
        request: Request,
        mut world: Arc<World>,
        cancellation: &Cancellation,
    ) -> Result<Value, (ErrorCode, String)> {
        let overtaken = match request.method.as_str() {
            "textDocument/diagnostic" => ErrorCode::ServerCancelled,
            _ => ErrorCode::ContentModified,
        };
        let overtaken = || Err((overtaken, "the text has changed since this request".to_string()));
        let cancelled = || {
            Err((
                ErrorCode::RequestCanceled,
                "the editor cancelled the request".to_string(),
            ))
        };
        loop {
            if cancellation.is_cancelled() {
                return cancelled();
            }
            let latest = self.shared.latest();
            if requests::is_overtaken(&request.params, &world, &latest) {
                return overtaken();
            }
            self.cache.begin(Purpose::Answer(request.id.clone()));
            let mut context = RequestContext {
                cache: &mut self.cache,
                world: &world,
                client: &self.client,
                out: &self.out,
                plot: self.plot,
            };
            let result = guarded(|| requests::answer(&mut context, &request.method, request.params.clone()));
            let result = result.unwrap_or_else(|stopped| Err(Refusal::Stopped(stopped)));
            let latest = self.shared.latest();
            match result {
                _ if cancellation.is_cancelled() => return cancelled(),
                Err(Refusal::Stopped(Stopped::Panicked(words))) => {
                    let words = format!("a compiler bug in `{}`: {words}", request.method);
                    return Err((ErrorCode::InternalError, words));
                }
                Err(Refusal::Stopped(Stopped::Cancelled)) => world = latest_unless(world, latest, &request),
                _ if self.cache.is_overtaken(&latest) => return overtaken(),
                Err(Refusal::Fault(code, words)) => return Err((code, words)),
                Ok(value) => return Ok(value),
            }
        }
    }
}

/// Returns the newest world if it contains the requested text unchanged; otherwise the old world, in which the request is overtaken.
fn latest_unless(world: Arc<World>, latest: Arc<World>, request: &Request) -> Arc<World> {
    match requests::is_overtaken(&request.params, &world, &latest) {
        true => world,
        false => latest,
    }
}
