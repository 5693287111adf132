//! What the fuzz targets have in common: the limit of time, and how bytes become a text.
//!
//! The checks themselves, in `checks`, are also run by `tests/fuzz_found.rs` over every input that once broke
//! something.

pub mod checks;
pub use libfuzzer_sys;

/// The most processor time that one input may take, with debug assertions, overflow checks and instrumentation.
const SECONDS: f64 = 2.0;

/// The command line gives its work as much stack as this (`src/cli/mod.rs`).
const STACK: usize = 256 << 20;

/// Makes the entry point of the fuzzer from one of the checks.
#[macro_export]
macro_rules! target {
    ($check:ident) => {
        $crate::libfuzzer_sys::fuzz_target!(|text: &str| { $crate::run($crate::checks::$check, text) });
    };
}

/// Runs a check on a text as the command line would run its work, and panics where it takes too long.
///
/// What counts is the processor's time and not the clock's, so that other programs on the machine make no faults;
/// an input that never ends is stopped by the `-timeout` of libFuzzer.
pub fn run(check: fn(&str), text: &str) {
    let text = text.to_string();
    let work = std::thread::Builder::new().stack_size(STACK).spawn(move || {
        check(&text);
        processor_time()
    });
    let seconds = work.expect("a thread for the work").join().expect("no panic");
    assert!(seconds <= SECONDS, "it took {seconds:.1} s, more than {SECONDS} s");
}

/// Seconds that the processor has spent on this thread.
fn processor_time() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a `timespec` of this function, which the call fills.
    let failed = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    assert_eq!(failed, 0, "this system has no clock for the time of a thread");
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}
