//! The exit status of a command.

/// The exit status of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Success, possibly with warnings.
    Success,
    /// The model or the run has an error.
    Failure,
    /// The command line has an error.
    Misuse,
    /// Ctrl-C ended the run. The results up to that time are written.
    Interrupted,
}
