//! Inputs that once broke the compiler, found by the fuzz targets of `fuzz/` and minimised. Each goes through the check
//! of the target that found it, within the time and memory limits of the targets.

#[path = "../fuzz/src/checks/mod.rs"]
mod checks;

use std::alloc::{GlobalAlloc, Layout, System};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The fuzzers allow 2 s in an optimised program; the tests' program is slower, and shares the machine.
const LONGEST: Duration = Duration::from_secs(10);

/// The maximum number of bytes in use at any moment.
const MEMORY: usize = 500 << 20;

/// The stack size of the command line's worker thread (`src/cli/mod.rs`).
const STACK: usize = 256 << 20;

/// The system's allocator, which also counts.
struct Counting;

static IN_USE: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = IN_USE.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        MOST.fetch_max(now, Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        IN_USE.fetch_sub(layout.size(), Ordering::Relaxed);
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// One input at a time, so that the count belongs to it alone.
static ALONE: Mutex<()> = Mutex::new(());

/// Runs the check of a target on one of the files in `tests/fuzz_found`.
fn survives(folder: &str, file: &str, check: fn(&str)) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fuzz_found")
        .join(folder)
        .join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let _alone = ALONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let before = IN_USE.load(Ordering::Relaxed);
    MOST.store(before, Ordering::Relaxed);
    let started = Instant::now();
    let work = std::thread::Builder::new()
        .stack_size(STACK)
        .spawn(move || check(&text));
    assert!(
        work.unwrap().join().is_ok(),
        "{folder}/{file} breaks the check of `{folder}`"
    );
    let took = started.elapsed();
    assert!(took < LONGEST, "{folder}/{file} takes {took:?}");
    let most = MOST.load(Ordering::Relaxed).saturating_sub(before);
    assert!(most < MEMORY, "{folder}/{file} takes {} MB", most >> 20);
}

/// One test for each file: its former effect, the folder (the name of the target), its name.
macro_rules! found {
    ($($(#[doc = $what:literal])+ $folder:ident $test:ident $file:literal;)*) => {
        $($(#[doc = $what])+
        #[test]
        fn $test() {
            survives(stringify!($folder), $file, checks::$folder);
        })*

        const FILES: &[(&str, &str)] = &[$((stringify!($folder), $file)),*];
    };
}

found! {
    /// The minimum 32-bit exponent has no negative; taking its absolute value overflowed.
    pipeline a_power_of_ten_that_has_no_opposite "a_power_of_ten_that_has_no_opposite.lgm";
    /// Each parameter is the square of the previous one: exact values doubled their digits sixty times.
    pipeline a_chain_of_squares "a_chain_of_squares.lgm";
    /// The same with constants, which are multiplied during parsing.
    pipeline a_chain_of_squares_of_constants "a_chain_of_squares_of_constants.lgm";
    /// Nested sums were merged, which doubled the number of terms with each signal of the chain.
    pipeline a_chain_of_signals_that_double "a_chain_of_signals_that_double.lgm";
    /// The sum of these fractions has a denominator of a hundred thousand bits, and each step cancelled in it.
    pipeline a_sum_of_very_many_fractions "a_sum_of_very_many_fractions.lgm";
    /// Each sum was within the limit of terms, but their product was not.
    pipeline sums_within_sums "sums_within_sums.lgm";
    /// Nested loops of a hundred iterations with empty bodies did not count towards the limit.
    pipeline rounds_that_make_nothing "rounds_that_make_nothing.lgm";
    /// A loop without a body did not count either, and all its iterations were executed.
    pipeline rounds_around_nothing "rounds_around_nothing.lgm";
    /// A small graph of shared expressions was expanded to compare its length with another one.
    pipeline functions_of_functions_of_sums "functions_of_functions_of_sums.lgm";
    /// Exact elimination had no limit on the digits of its numbers; as doubles, these overflow, and no row had a pivot.
    pipeline resistors_of_very_many_digits "resistors_of_very_many_digits.lgm";
    /// The inactive branch of an `if` was still evaluated during verification.
    pipeline a_branch_that_is_not_taken_divides_by_zero "a_branch_that_is_not_taken_divides_by_zero.lgm";
    /// With energy variables as states, the failure was in an element that preparation had added, but was searched for
    /// among the model's own.
    pipeline states_of_an_element_that_was_added "states_of_an_element_that_was_added.lgm";
    /// The power of a coupler is pure round-off, which was large relative to itself during verification.
    pipeline the_power_of_a_coupler_is_rounding "the_power_of_a_coupler_is_rounding.lgm";
    /// The frequency response of a model without states solved a system without equations, which the library does not
    /// support.
    pipeline a_response_without_states "a_response_without_states.lgm";
    /// The report of a conflict quoted a modulus in full: its length doubled with each enclosing component.
    pipeline a_modulus_of_very_many_words "a_modulus_of_very_many_words.lgm";
    /// A displacement determined by a position equation was removed from the states, but not from the matrices.
    pipeline a_displacement_that_is_closed_by_a_line "a_displacement_that_is_closed_by_a_line.lgm";
}

#[test]
fn every_file_has_a_test() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz_found");
    let mut there = BTreeSet::new();
    for folder in std::fs::read_dir(root).unwrap() {
        let folder = folder.unwrap();
        for file in std::fs::read_dir(folder.path()).unwrap() {
            let name = |name: std::ffi::OsString| name.into_string().unwrap();
            there.insert((name(folder.file_name()), name(file.unwrap().file_name())));
        }
    }
    let tested: BTreeSet<(String, String)> = FILES
        .iter()
        .map(|(folder, file)| (folder.to_string(), file.to_string()))
        .collect();
    assert_eq!(there, tested);
}
