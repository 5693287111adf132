//! How a command ends.

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// All is well, or nearly.
    Success,
    /// The model or the run has an error.
    Failure,
    /// The command line has.
    Misuse,
    /// Ctrl-C ended the run; what there was is written.
    Interrupted,
}
