//! The language server: the protocol around what an editor asks of `lgm_ide`.
//!
//! Four threads and no async runtime. One reads messages, one writes them; `server` keeps the open documents and answers what needs no
//! model; `worker` computes on immutable worlds. The newest edit wins: it raises the flag of the work that it makes useless.

mod cache;
mod context;
mod diagnostics;
mod features;
mod held;
mod jobs;
mod progress;
mod protocol;
mod server;
mod worker;
mod world;

pub use context::Plot;
use std::error::Error;
use std::io;

/// Serves an editor over standard input and output until it says `exit`. Previews show the pictures that `plot` draws.
///
/// # Errors
///
/// The editor left without saying `shutdown` first, or the pipes broke.
pub fn run(plot: Plot) -> Result<(), Box<dyn Error + Send + Sync>> {
    let incoming = protocol::transport::reader(io::stdin())?;
    let (out, writer) = protocol::transport::writer(io::stdout())?;
    let ended_well = server::Server::new(out.clone(), plot)?.serve(&incoming);
    out.end();
    // A panic of the writer leaves nobody to report it to.
    let _ = writer.join();
    match ended_well {
        true => Ok(()),
        false => Err("the editor left without asking for `shutdown` first".into()),
    }
}
