//! Latency of cancelling a compilation: `cargo bench --bench cancel -- [--size N]`.
//!
//! A compilation of each family is cancelled at 20 moments, spread over its full duration. The benchmark prints the
//! median and the maximum time from the request to the end. Other load on the machine is included.

#[path = "scale/models.rs"]
#[expect(dead_code, reason = "the tables of the other benchmark use the rest")]
mod models;

use lgm::source::cancellation::Cancellation;
use lgm::source::{NoFiles, SourceMap};
use lgm::{Compilation, Request};
use models::FAMILIES;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// The number of cancellations per family.
const MOMENTS: u32 = 20;

/// The default number of elements for each family.
const SIZE: usize = 10_000;

/// Equations with parameters as symbols, as in an editor.
fn compile(text: String, cancellation: Cancellation) {
    let mut map = SourceMap::default();
    let root = map.add("cancel.lgm", text, None);
    let request = Request {
        cancellation,
        ..Request::default()
    };
    let compilation = Compilation::new(&NoFiles, map, root, request);
    let _ = compilation.system();
}

/// The time from a cancellation at `after` to the end of the compilation.
fn ending(text: &str, after: Duration) -> Duration {
    let cancellation = Cancellation::default();
    let (text, flag) = (text.to_string(), cancellation.clone());
    let (begins, began) = mpsc::channel();
    let work = thread::spawn(move || {
        begins.send(()).expect("the main thread waits");
        compile(text, flag);
    });
    began.recv().expect("the work begins");
    thread::sleep(after);
    cancellation.cancel();
    let asked = Instant::now();
    work.join().expect("the work ends");
    asked.elapsed()
}

fn main() -> Result<(), String> {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let size = match arguments.as_slice() {
        [] => SIZE,
        [name, value] if name == "--size" => value.parse().map_err(|_| format!("`{value}` is not a number"))?,
        _ => return Err("usage: cargo bench --bench cancel -- [--size N]".to_string()),
    };
    println!(
        "{:<45} {:>9} {:>9} {:>9}   ms, {size} elements or the largest size",
        "", "whole", "median", "most"
    );
    for family in &FAMILIES {
        let text = (family.text)(size.min(family.largest));
        let began = Instant::now();
        compile(text.clone(), Cancellation::default());
        let whole = began.elapsed();
        let mut times: Vec<Duration> = (0..MOMENTS)
            .map(|moment| ending(&text, whole * moment / MOMENTS))
            .collect();
        times.sort();
        let [whole, median, most] =
            [whole, times[times.len() / 2], times[times.len() - 1]].map(|time| time.as_secs_f64() * 1e3);
        println!("{:<45} {whole:>9.1} {median:>9.1} {most:>9.1}", family.name);
    }
    Ok(())
}
