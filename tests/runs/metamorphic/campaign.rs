//! Many models on several threads, and the report of failures.

use super::draw::{Drawn, draw};
use super::model::Model;
use super::random::Random;
use super::relations::{Broken, Case, Relation, Settings};
use super::run::Fault;
use super::shrink::shrink;
use super::targets::{self, Target};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Counts over all models.
#[derive(Default)]
pub struct Tally {
    /// Models that run.
    pub models: usize,
    linear: usize,
    /// The models compared with the matrix exponential.
    exact: usize,
    /// The tested relations.
    pub checked: usize,
    /// Models that the compiler rejects, or that have no reference, by code or word.
    skipped: BTreeMap<String, usize>,
    /// Violated relations by relation and kind.
    broken: BTreeMap<String, usize>,
    pub failures: Vec<String>,
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} models, {} linear, {} against the exponential, {} relations, {} broken",
            self.models,
            self.linear,
            self.exact,
            self.checked,
            self.failures.len()
        )?;
        writeln!(f, "without rows: {:?}", self.skipped)?;
        self.broken
            .iter()
            .try_for_each(|(kind, count)| writeln!(f, "{count:6} {kind}"))
    }
}

/// Runs the models of seeds, with n of the relations each.
pub fn campaign(seeds: Range<u64>, relations: &[Relation], count: usize) -> Tally {
    let next = AtomicU64::new(seeds.start);
    let tally = Mutex::new(Tally::default());
    std::thread::scope(|scope| {
        for _ in 0..super::threads() {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= seeds.end {
                        return;
                    }
                    one(seed, &chosen(seed, relations, count), &tally);
                }
            });
        }
    });
    tally.into_inner().expect("no thread panicked")
}

/// n random relations; the unchanged run costs nothing more, and is kept.
fn chosen(seed: u64, relations: &[Relation], count: usize) -> Vec<Relation> {
    let mut all = relations.to_vec();
    let mut random = Random::new(seed ^ 0x4e1a);
    let kept = usize::from(all.first() == Some(&Relation::Itself));
    while all.len() > count.max(kept) {
        all.remove(kept + random.below(all.len() - kept));
    }
    all
}

/// The number of failures of each kind that are shrunk.
const SHRUNK: usize = 3;

/// The time limit for shrinking a model.
const SHRINKING: Duration = Duration::from_secs(20);

/// The model of one seed.
fn one(seed: u64, relations: &[Relation], tally: &Mutex<Tally>) {
    let Drawn { model, units } = draw(seed);
    let settings = Settings::draw(seed);
    let traces = std::env::var("LGM_TRACE").is_ok();
    if traces {
        eprintln!("seed {seed}");
    }
    let case = match Case::new(&model, units, settings) {
        Ok(case) => case,
        Err(fault) => {
            if traces {
                eprintln!("seed {seed} has no rows: {fault:?}");
            }
            let mut tally = tally.lock().expect("no thread panicked");
            *tally.skipped.entry(fault.word()).or_default() += 1;
            if let Fault::Panicked(words) = fault {
                tally.failures.push(format!("seed {seed}: panic: {words}"));
            }
            return;
        }
    };
    let broken: Vec<(Relation, Broken)> = relations
        .iter()
        .filter_map(|relation| Some((*relation, case.check(*relation, seed)?)))
        .collect();
    let mut lines = Vec::new();
    for (relation, broken) in broken {
        let kind = format!("{} {}", relation.word(), broken.kind);
        let known = tally.lock().expect("no thread panicked").broken.get(&kind).copied();
        let line = format!("seed {seed} {kind}: {}", broken.words);
        eprintln!("{line}");
        if known.unwrap_or(0) < SHRUNK {
            let small = smaller(&model, &case, relation, &broken, seed);
            keep(&small, seed, &relation.word(), &line);
        }
        lines.push((kind, line));
    }
    let mut tally = tally.lock().expect("no thread panicked");
    tally.models += 1;
    tally.linear += usize::from(case.is_linear());
    tally.exact += usize::from(case.is_exact);
    tally.checked += relations.len();
    for (kind, line) in lines {
        *tally.broken.entry(kind).or_default() += 1;
        tally.failures.push(line);
    }
}

/// A shrunk failing model: its case, and the violated relation.
fn smaller(
    model: &Model,
    case: &Case,
    relation: Relation,
    broken: &Broken,
    seed: u64,
) -> (Model, String, String, String) {
    let fails = |model: &Model| {
        let case = Case::new(model, case.units, case.settings).ok()?;
        let found = case.check(relation, seed)?;
        (found.kind == broken.kind && found.share >= 0.2 * broken.share).then_some((case, found))
    };
    let small = shrink(model, (300, SHRINKING), &|model| fails(model).is_some());
    match fails(&small) {
        Some((case, found)) => (small, case.text.clone(), found.text, found.words),
        None => (small, case.text.clone(), broken.text.clone(), broken.words.clone()),
    }
}

/// Runs n models in a target, from the first seed on; unsupported ones are skipped.
pub fn campaign_of_targets(first: u64, count: u64, target: Target) -> Tally {
    let next = AtomicU64::new(first);
    let tally = Mutex::new(Tally::default());
    std::thread::scope(|scope| {
        for thread in 0..super::threads() {
            let (next, tally) = (&next, &tally);
            scope.spawn(move || {
                // Each thread has a separate folder for shared builds.
                let targets = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("metamorphic-rust-{thread}"));
                while (tally.lock().expect("no thread panicked").models as u64) < count {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    one_in_target(seed, target, &targets, tally);
                }
            });
        }
    });
    tally.into_inner().expect("no thread panicked")
}

fn one_in_target(seed: u64, target: Target, targets: &Path, tally: &Mutex<Tally>) {
    let Drawn { model, units } = draw(seed);
    let settings = Settings::draw(seed);
    let Ok(case) = Case::new(&model, units, settings) else {
        return;
    };
    let broken = targets::check(&case, target, targets, seed);
    let kind = broken
        .as_ref()
        .map(|broken| format!("{} {}", target.word(), broken.kind));
    let line = broken
        .as_ref()
        .map(|broken| format!("seed {seed} {}: {}", target.word(), broken.words));
    if let (Some(broken), Some(line)) = (&broken, &line) {
        eprintln!("{line}");
        let tries = if target == Target::C { 60 } else { 25 };
        let fails = |model: &Model| {
            let case = Case::new(model, case.units, case.settings).ok()?;
            let found = targets::check(&case, target, targets, seed)?;
            (found.kind == broken.kind && found.share >= 0.2 * broken.share).then_some((case, found))
        };
        let small = shrink(&model, (tries, SHRINKING), &|model| fails(model).is_some());
        let (text, words) = match fails(&small) {
            Some((_, found)) => (found.text, found.words),
            None => (broken.text.clone(), broken.words.clone()),
        };
        keep(&(small, text.clone(), text, words), seed, &target.word(), line);
    }
    let mut tally = tally.lock().expect("no thread panicked");
    tally.models += 1;
    tally.linear += usize::from(case.is_linear());
    tally.exact += usize::from(case.is_exact);
    tally.checked += 1;
    tally.failures.extend(line);
    if let Some(kind) = kind {
        *tally.broken.entry(kind).or_default() += 1;
    }
}

/// Writes both texts of a failure.
fn keep((_, plain, other, words): &(Model, String, String, String), seed: u64, relation: &str, line: &str) {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("metamorphic");
    std::fs::create_dir_all(&folder).expect("the folder can be made");
    let mut text = format!("// {line}\n// made small: {words}\n{plain}");
    if other != plain {
        text += &format!("\n// and {relation}:\n/*\n{other}*/\n");
    }
    let file = folder.join(format!("{seed}-{relation}.lgm"));
    std::fs::write(file, text).expect("the file can be written");
}
