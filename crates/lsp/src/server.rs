//! The thread that reads messages: it keeps the open texts, and passes requests that need a model to the worker.

use crate::context::Plot;
use crate::features::requests;
use crate::jobs::{Job, Shared};
use crate::protocol::capabilities::{self, Client};
use crate::protocol::transport::{Incoming, Out};
use crate::uri;
use crate::worker::Worker;
use crate::world::documents::World;
use crate::world::settings::Settings;
use crossbeam_channel::{Receiver, Sender, unbounded};
use gen_lsp_types::{
    DidChangeTextDocumentNotification, DidChangeWorkspaceFoldersNotification, DidCloseTextDocumentNotification,
    DidOpenTextDocumentNotification, InitializeResult, Notification as Kind, ServerInfo,
};
use lgm_source::stack;
use lsp_server::{ErrorCode, Message, Notification, Request, RequestId};
use serde_json::{Value, json};
use std::sync::Arc;
use std::{io, thread};

/// The phase of the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Before `initialize`.
    New,
    /// After `initialize`.
    Running,
    /// `shutdown` was requested.
    ShutDown,
}

/// The server.
#[derive(Debug)]
pub(crate) struct Server {
    out: Out,
    phase: Phase,
    client: Client,
    shared: Arc<Shared>,
    plot: Plot,
    jobs: Sender<Job>,
    /// The initial data of the worker, until it starts.
    for_worker: Option<Receiver<Job>>,
}

impl Server {
    pub(crate) fn new(out: Out, plot: Plot) -> io::Result<Server> {
        let (jobs, for_worker) = unbounded();
        Ok(Server {
            out,
            phase: Phase::New,
            client: Client::default(),
            shared: Arc::default(),
            plot,
            jobs,
            for_worker: Some(for_worker),
        })
    }

    /// Serves until `exit` or the end of the pipe; returns true if `shutdown` was requested before.
    pub(crate) fn serve(&mut self, incoming: &Receiver<Incoming>) -> bool {
        for message in incoming {
            match message {
                Incoming::Faulty(code, reason) => self.out.refuse(code, &reason),
                Incoming::Message(Message::Request(request)) => self.request(request),
                Incoming::Message(Message::Notification(notification)) if notification.method == "exit" => break,
                Incoming::Message(Message::Notification(notification)) if self.phase == Phase::Running => {
                    self.notification(notification)
                }
                // Requests of this server need no answer; messages before `initialize` or after `shutdown` are ignored.
                Incoming::Message(_) => {}
            }
        }
        self.phase == Phase::ShutDown
    }

    fn request(&mut self, request: Request) {
        let refuse = |code, words: &str| self.out.respond(&request.id, Err((code, words.to_string())));
        match (self.phase, request.method.as_str()) {
            (Phase::New, "initialize") => self.initialize(&request),
            (Phase::New, _) => refuse(
                ErrorCode::ServerNotInitialized,
                "the first request must be `initialize`",
            ),
            (Phase::ShutDown, _) => refuse(ErrorCode::InvalidRequest, "`shutdown` was requested"),
            (Phase::Running, "initialize") => refuse(ErrorCode::InvalidRequest, "`initialize` may be sent only once"),
            (Phase::Running, "shutdown") => {
                self.phase = Phase::ShutDown;
                self.out.respond(&request.id, Ok(Value::Null));
            }
            (Phase::Running, method) if !requests::is_known(method) => {
                refuse(ErrorCode::MethodNotFound, &format!("`{method}` is not supported"));
            }
            (Phase::Running, _) => {
                let cancellation = self.shared.wait(&request.id);
                self.send(Job::Answer(request, self.shared.latest(), cancellation));
            }
        }
    }

    fn send(&self, job: Job) {
        if self.jobs.send(job).is_err() {
            self.out.log_error("the thread that computes has ended");
        }
    }

    fn initialize(&mut self, request: &Request) {
        self.client = Client::new(&request.params);
        let (settings, faults) = Settings::default().changed(&request.params["initializationOptions"]);
        for fault in faults {
            self.out.log_error(&fault);
        }
        let mut world = World {
            encoding: self.client.encoding,
            shows_related: self.client.shows_related,
            folders: self.client.folders.clone(),
            settings,
            ..World::default()
        };
        world.include(&request.params["initializationOptions"]);
        self.shared.renew(world, false);
        if let Some(jobs) = self.for_worker.take() {
            let worker = Worker::new(self.shared.clone(), self.out.clone(), self.client.clone(), self.plot);
            let thread = thread::Builder::new().name("lgm-worker".to_string());
            if let Err(error) = thread.spawn(move || stack::deep(|| worker.work(&jobs))) {
                let words = format!("cannot start a thread: {error}");
                return self.out.respond(&request.id, Err((ErrorCode::InternalError, words)));
            }
        }
        let result = InitializeResult {
            capabilities: capabilities::of_server(&self.client),
            server_info: Some(ServerInfo {
                name: "lgm".to_string(),
                version: Some(env!("CARGO_PKG_VERSION").to_string()),
            }),
        };
        let result = serde_json::to_value(result).map_err(|error| (ErrorCode::InternalError, error.to_string()));
        self.out.respond(&request.id, result);
        self.phase = Phase::Running;
    }

    fn notification(&mut self, notification: Notification) {
        let method = notification.method.clone();
        let done = match method.as_str() {
            "initialized" => {
                self.watch_files();
                Ok(())
            }
            "$/cancelRequest" => self.cancel(&notification.params),
            "textDocument/didOpen" => self.open(notification.params),
            "textDocument/didChange" => self.change(notification.params),
            "textDocument/didClose" => self.close(notification.params),
            "textDocument/didSave" => self.save(&notification.params),
            "workspace/didChangeWatchedFiles" => self.disk_changed(),
            "workspace/didChangeConfiguration" => self.settings_changed(&notification.params["settings"]["lgm"]),
            "workspace/didChangeWorkspaceFolders" => self.change_folders(notification.params),
            _ => Ok(()),
        };
        if let Err(reason) = done {
            self.out.log_error(&format!("`{method}`: {reason}"));
        }
    }

    /// Requests that the editor reports changes of files.
    fn watch_files(&self) {
        if !self.client.watches {
            return;
        }
        let watchers = json!([{ "globPattern": "**/*.lgm" }, { "globPattern": "**/*.csv" }]);
        let registration = json!({ "id": "lgm-files", "method": "workspace/didChangeWatchedFiles",
            "registerOptions": { "watchers": watchers } });
        let params = json!({ "registrations": [registration] });
        self.out.request("lgm-watch", "client/registerCapability", params);
    }

    fn cancel(&self, params: &Value) -> Result<(), String> {
        let id = params.get("id").cloned().unwrap_or_default();
        let id: RequestId = serde_json::from_value(id).map_err(|error| error.to_string())?;
        self.shared.cancel(&id);
        Ok(())
    }

    /// Makes a new world and starts its check.
    fn renew(&self, is_edit: bool, make: impl FnOnce(&mut World) -> Result<(), String>) -> Result<(), String> {
        let mut world = World::clone(&self.shared.latest());
        make(&mut world)?;
        self.shared.renew(world, is_edit);
        self.send(Job::Check);
        Ok(())
    }

    fn open(&self, params: Value) -> Result<(), String> {
        let opened = parsed::<DidOpenTextDocumentNotification>(params)?.text_document;
        // The compiler contains these texts; on their own they are not models.
        if opened.uri.0.starts_with(uri::LIBRARY) {
            return Ok(());
        }
        self.renew(false, |world| {
            world.open(&opened.uri.0, opened.version, opened.text);
            Ok(())
        })
    }

    fn change(&self, params: Value) -> Result<(), String> {
        let changed = parsed::<DidChangeTextDocumentNotification>(params)?;
        let uri = changed.text_document.text_document_identifier.uri.0;
        self.renew(true, |world| {
            match world.change(&uri, changed.text_document.version, changed.content_changes) {
                true => Ok(()),
                false => Err(format!("{uri} is not open")),
            }
        })
    }

    /// Records that a text was saved. If the editor cannot watch files, other files may have changed too.
    fn save(&self, params: &Value) -> Result<(), String> {
        let uri = params.pointer("/textDocument/uri").and_then(Value::as_str);
        let uri = uri.ok_or("`textDocument` has no `uri`")?;
        self.renew(false, |world| {
            world.save(uri);
            world.disk += u64::from(!self.client.watches);
            Ok(())
        })
    }

    fn close(&self, params: Value) -> Result<(), String> {
        let closed = parsed::<DidCloseTextDocumentNotification>(params)?.text_document;
        self.renew(false, |world| {
            world.documents.remove(&closed.uri.0);
            Ok(())
        })
    }

    /// Applies the settings; visible data are requested again.
    fn settings_changed(&self, given: &Value) -> Result<(), String> {
        self.renew(false, |world| {
            let (settings, faults) = world.settings.changed(given);
            world.settings = settings;
            world.include(given);
            for fault in faults {
                self.out.log_error(&fault);
            }
            Ok(())
        })?;
        for (id, method) in [
            ("lgm-hints", "workspace/inlayHint/refresh"),
            ("lgm-lenses", "workspace/codeLens/refresh"),
        ] {
            if self.client.refreshes.contains(&method) {
                self.out.request(id, method, Value::Null);
            }
        }
        Ok(())
    }

    fn disk_changed(&self) -> Result<(), String> {
        self.renew(false, |world| {
            world.disk += 1;
            Ok(())
        })
    }

    fn change_folders(&self, params: Value) -> Result<(), String> {
        let event = parsed::<DidChangeWorkspaceFoldersNotification>(params)?.event;
        let paths = |folders: &[gen_lsp_types::WorkspaceFolder]| -> Vec<_> {
            let paths = folders.iter().filter_map(|folder| uri::to_path(&folder.uri.0));
            paths.map(|path| lgm_files::resolve(&path)).collect()
        };
        let (added, removed) = (paths(&event.added), paths(&event.removed));
        self.renew(false, |world| {
            world.folders.retain(|folder| !removed.contains(folder));
            world.folders.extend(added);
            Ok(())
        })
    }
}

fn parsed<K: Kind>(params: Value) -> Result<K::Params, String> {
    serde_json::from_value(params).map_err(|error| error.to_string())
}
