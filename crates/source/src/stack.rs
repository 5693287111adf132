//! Stack space for recursion: trees of statements and expressions are traversed recursively, to a depth that the language bounds.

/// The maximum stack of a stage, with a margin; unused pages cost nothing.
const NEEDED: usize = 256 << 20;

/// Runs the work on a stack that is large enough; creates a new stack if the rest of the current stack is too small.
///
/// Every stage that traverses trees calls this in its public function, so that callers need no thread with a large stack.
/// If stacks cannot grow (WebAssembly), the work is done on the existing stack.
pub fn deep<R>(work: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(NEEDED / 2, NEEDED, work)
}
