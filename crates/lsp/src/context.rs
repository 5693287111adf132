//! The context of a request, and the reasons why a request has no result.

use crate::cache::{Cache, Stopped};
use crate::protocol::capabilities::Client;
use crate::protocol::convert::Places;
use crate::protocol::transport::Out;
use crate::uri;
use crate::world::documents::World;
use gen_lsp_types::{Uri, *};
use lgm_model::Model;
use lgm_model::system::StateSystem;
use lsp_server::ErrorCode;
use std::path::Path;

/// Why a request has no result.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// The computation did not finish.
    Stopped(Stopped),
    /// The request cannot be answered.
    Fault(ErrorCode, String),
}

impl From<Stopped> for Refusal {
    fn from(stopped: Stopped) -> Refusal {
        Refusal::Stopped(stopped)
    }
}

/// Returns a refusal with a message for the user.
pub(crate) fn failed(words: String) -> Refusal {
    Refusal::Fault(ErrorCode::RequestFailed, words)
}

/// The data for an answer.
#[derive(Debug)]
pub(crate) struct RequestContext<'a> {
    pub cache: &'a mut Cache,
    pub world: &'a World,
    pub client: &'a Client,
    /// The target of the editor's log.
    pub out: &'a Out,
    /// Draws the run of a preview.
    pub plot: Plot,
}

impl RequestContext<'_> {
    /// Applies a function to the snapshot of an open text. No result for a text of the standard library, which is not open here.
    pub(crate) fn on<R>(&mut self, uri: &Uri, work: impl FnOnce(&Places) -> Option<R>) -> Result<Option<R>, Refusal> {
        let (world, uri) = (self.world, uri.0.as_str());
        let done = self
            .cache
            .with(world, uri, |entry| work(&Places::of(world, uri, &entry.snapshot)))?;
        RequestContext::known(uri, done)
    }

    /// Applies a function to the snapshot of the steady text if lines are half-written.
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

    /// Applies a function to the snapshot of the steady text if it has all lines of a range, and otherwise to that of the current text.
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

    /// Returns the result of work on a text, if it is open.
    fn known<R>(uri: &str, done: Option<Option<R>>) -> Result<Option<R>, Refusal> {
        match done {
            Some(result) => Ok(result),
            None if uri.starts_with(uri::LIBRARY) => Ok(None),
            None => Err(Refusal::Fault(ErrorCode::InvalidParams, format!("{uri} is not open"))),
        }
    }

    /// Applies a function to the snapshot of a file that is not open.
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

/// Runs the experiment of a model and returns the plot as SVG, or the reason why there is no plot. The function argument returns true while
/// the plot is needed; otherwise the run is cancelled.
pub type Plot = fn(&Model, &StateSystem, &(dyn Fn() -> bool + Sync)) -> Result<String, String>;

pub(crate) fn invalid(words: &str) -> Refusal {
    Refusal::Fault(ErrorCode::InvalidParams, words.to_string())
}
