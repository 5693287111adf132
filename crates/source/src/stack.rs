//! Room for recursion: trees of statements and expressions are walked by recursion, to a depth that the language bounds.

/// What a stage needs at most, with room to spare; pages that are not touched cost nothing.
const NEEDED: usize = 256 << 20;

/// Does the work on a stack that is deep enough, a new one if what is left of this one is not.
///
/// Every stage that walks trees calls this in its public function, so that callers need no thread with a large stack. Where stacks
/// cannot be grown (WebAssembly), the work is done on the stack that there is.
pub fn deep<R>(work: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(NEEDED / 2, NEEDED, work)
}
