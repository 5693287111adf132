//! One compilation, stage by stage, as in `lgm equations --numeric --sparse --format json`.

use crate::measure::{own_memory, own_seconds};
use lgm::elaborate::Settings;
use lgm::emit::MatrixOptions;
use lgm::equations::Options;
use lgm::source::{NoFiles, SourceMap};
use lgm::{bond, causality, elaborate, emit, equations};
use std::io::Write;

/// One stage: its name, its seconds, and the resident bytes after it.
pub type Stage = (&'static str, f64, u64);

/// Counts the bytes written to it.
struct Counter(u64);

impl Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Compiles a text; returns the bytes of JSON, and the stages.
///
/// The equations determine causality again, so their time is given without that of causality, which was measured
/// before.
pub fn stages(text: String) -> (u64, Vec<Stage>) {
    let mut list: Vec<Stage> = Vec::new();
    let mut clock = own_seconds();
    let mut note = |name: &'static str, without: f64| {
        let now = own_seconds();
        let took = now - clock - without;
        list.push((name, took, own_memory()));
        clock = now;
        took
    };
    let mut map = SourceMap::default();
    let root = map.add("scale.lgm", text, None);
    let (program, faults) = elaborate::load(&NoFiles, &mut map, root);
    assert!(faults.is_empty(), "{faults:?}");
    note("read: tokens, grammar, tree", 0.0);
    let (model, _) = elaborate::elaborate(&program, &map, &Settings::default());
    let model = model.expect("the model has no errors");
    note("elaborate", 0.0);
    let graph = bond::lower(&model);
    note("lower to a bond graph", 0.0);
    let (decided, ..) = equations::decide(&model, &graph, &causality::Request::default());
    drop(decided);
    let causal = note("causality", 0.0);
    let options = Options {
        symbolic: false,
        ..Options::default()
    };
    let (system, _) = equations::formulate(&model, &graph, &options);
    let system = system.expect("the model has equations");
    note("formulate: reduce, assemble, write", causal);
    let mut counter = Counter(0);
    let matrices = MatrixOptions {
        numeric: true,
        sparse: true,
        blocks: false,
    };
    emit::json(&system, matrices, &mut counter).expect("a counter takes all that is written");
    note("emit JSON", 0.0);
    (counter.0, list)
}
