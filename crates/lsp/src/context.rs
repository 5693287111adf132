//! A request while it is answered, and why it may not be.

use crate::cache::{Cache, Stopped};
use crate::protocol::capabilities::Client;
use crate::protocol::convert::Places;
use crate::protocol::transport::Out;
use crate::protocol::uri;
use crate::world::documents::World;
use gen_lsp_types::{Uri, *};
use lgm_model::Model;
use lgm_model::system::StateSystem;
use lsp_server::ErrorCode;
use std::path::Path;

/// Why a request has no result.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// It was not computed to its end.
    Stopped(Stopped),
    /// It cannot be answered.
    Fault(ErrorCode, String),
}

impl From<Stopped> for Refusal {
    fn from(stopped: Stopped) -> Refusal {
        Refusal::Stopped(stopped)
    }
}

/// A refusal that the person at the editor reads.
pub(crate) fn failed(words: String) -> Refusal {
    Refusal::Fault(ErrorCode::RequestFailed, words)
}

/// What an answer is made from.
#[derive(Debug)]
pub(crate) struct RequestContext<'a> {
    pub cache: &'a mut Cache,
    pub world: &'a World,
    pub client: &'a Client,
    /// Where the editor's log is written to.
    pub out: &'a Out,
    /// Draws the run of a preview.
    pub plot: Plot,
}

impl RequestContext<'_> {
    /// Does something with the snapshot of an open text. No result for a text of the standard library, which is not open here.
    pub(crate) fn on<R>(&mut self, uri: &Uri, work: impl FnOnce(&Places) -> Option<R>) -> Result<Option<R>, Refusal> {
        let (world, uri) = (self.world, uri.0.as_str());
        let done = self
            .cache
            .with(world, uri, |entry| work(&Places::of(world, uri, &entry.snapshot)))?;
        RequestContext::known(uri, done)
    }

    /// The same with the steady text where lines are half-written.
    pub(crate) fn on_steady<R>(
        &mut self,
        uri: &Uri,
        work: impl FnOnce(&Places) -> Option<R>,
    ) -> Result<Option<R>, Refusal> {
        let (world, uri) = (self.world, uri.0.as_str());
        let done = self.cache.with_pair(world, uri, |pair| match pair.held {
            Some((steady, hunks)) => work(&Places {
                hunks,
                ..Places::of(world, uri, &steady.snapshot)
            }),
            None => work(&Places::of(world, uri, &pair.now.snapshot)),
        })?;
        RequestContext::known(uri, done)
    }

    /// The same with the steady text if it has all lines of a range, and otherwise with the text as it is.
    pub(crate) fn on_lines<R>(
        &mut self,
        uri: &Uri,
        range: Range,
        work: impl FnOnce(&Places) -> Option<R>,
    ) -> Result<Option<R>, Refusal> {
        let (world, uri) = (self.world, uri.0.as_str());
        let done = self.cache.with_pair(world, uri, |pair| {
            let steady = pair.held.map(|(steady, hunks)| Places {
                hunks,
                ..Places::of(world, uri, &steady.snapshot)
            });
            let (first, last) = (range.start.line, range.end.line);
            let has_lines = |places: &Places| places.has_line(first) && places.has_line(last);
            work(
                &steady
                    .filter(has_lines)
                    .unwrap_or(Places::of(world, uri, &pair.now.snapshot)),
            )
        })?;
        RequestContext::known(uri, done)
    }

    /// The result of work on a text, if it is open.
    fn known<R>(uri: &str, done: Option<Option<R>>) -> Result<Option<R>, Refusal> {
        match done {
            Some(result) => Ok(result),
            None if uri.starts_with(uri::LIBRARY) => Ok(None),
            None => Err(Refusal::Fault(ErrorCode::InvalidParams, format!("{uri} is not open"))),
        }
    }

    /// The same with a file that is not open, as if it were.
    pub(crate) fn on_closed<R>(
        &mut self,
        path: &Path,
        text: String,
        work: impl FnOnce(&Places) -> Option<R>,
    ) -> Result<Option<R>, Refusal> {
        let uri = uri::of_path(path);
        let mut world = self.world.clone();
        world.open(&uri, 0, text);
        let done = self
            .cache
            .with(&world, &uri, |entry| work(&Places::of(&world, &uri, &entry.snapshot)));
        self.cache.forget(&uri);
        Ok(done?.flatten())
    }

    pub(super) fn at<R>(
        &mut self,
        at: &TextDocumentPositionParams,
        work: impl FnOnce(&Places, u32) -> Option<R>,
    ) -> Result<Option<R>, Refusal> {
        self.on(&at.text_document.uri, |places| work(places, places.offset(at.position)))
    }
}

/// Runs the experiment of a model and draws it as SVG, or says why there is no picture. The function that it is given says whether the
/// picture is still wanted; a run that is not is given up.
pub type Plot = fn(&Model, &StateSystem, &(dyn Fn() -> bool + Sync)) -> Result<String, String>;

pub(crate) fn invalid(words: &str) -> Refusal {
    Refusal::Fault(ErrorCode::InvalidParams, words.to_string())
}
