//! The language server: the protocol around the features of `lgm_ide`.
//!
//! The server has four threads and no async runtime. One thread reads messages, and one writes them. `server` keeps the open documents and
//! answers requests that need no model; `worker` computes on immutable worlds. The newest edit wins: it cancels work on older texts.

mod cache;
mod context;
mod diagnostics;
mod features;
mod held;
mod jobs;
mod library;
mod progress;
mod protocol;
mod server;
mod uri;
mod worker;
mod world;

pub use context::Plot;
use std::error::Error;
use std::io;

/// Serves an editor over standard input and output until it sends `exit`. Previews show the plots that `plot` draws.
///
/// # Errors
///
/// Returns an error if the editor exits without a prior `shutdown`, or if the pipes break.
pub fn run(plot: Plot) -> Result<(), Box<dyn Error + Send + Sync>> {
    let incoming = protocol::transport::reader(io::stdin())?;
    let (out, writer) = protocol::transport::writer(io::stdout())?;
    let ended_well = server::Server::new(out.clone(), plot)?.serve(&incoming);
    out.end();
    // A panic of the writer cannot be reported.
    let _ = writer.join();
    match ended_well {
        true => Ok(()),
        false => Err("the editor exited without requesting `shutdown` first".into()),
    }
}
