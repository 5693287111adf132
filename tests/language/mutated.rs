//! Examples with nonlinear laws, varying moduli, closed chains, controllers and initial values, mutated at random: the
//! compiler responds to any text, and quickly.
//!
//! `LGM_CASES=100 cargo test --release --test all mutated:: -- --nocapture` compiles 100 times the usual number, and
//! `LGM_SEED=17` other mutants.

use crate::support::cases::{first_seed, many};
use lgm::Request;
use lgm::analysis::LinearizeRequest;
use lgm::equations::StateRequest;
use lgm::rendering::render;
use lgm::source::{NoFiles, SourceMap};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

/// The usual number of mutants.
const MUTANTS: u64 = 40;

/// A compilation without a result after this time counts as endless.
const PATIENCE: Duration = Duration::from_secs(120);

/// Language constructs for these models, and numbers that cause trouble.
const WORDS: [&str; 40] = [
    "0", "1", "-1", "2", "0.5", "1e-9", "1e9", "1e300", "pi", "time", "start", "guess", "close", "int", "der",
    "across", "through", "sin", "cos", "exp", "sqrt", "abs", "sign", "min", "step", "if", "then", "else", "gnd",
    "vector", "signal", "state", "output", "input", "+", "*", "^", "/", ";", ",",
];

/// Texts of nonlinear or controlled models.
fn originals() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let mut files: Vec<_> = [folder.clone(), folder.join("seeds")]
        .iter()
        .flat_map(|folder| std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()))
        .filter(|path| path.extension().is_some_and(|ending| ending == "lgm"))
        .collect();
    files.sort();
    let texts = files.into_iter().map(|file| std::fs::read_to_string(file).unwrap());
    let mut found: Vec<String> = texts
        .filter(|text| {
            ["state ", "signal ", "Euler", "Planar"]
                .iter()
                .any(|word| text.contains(word))
        })
        .map(|text| without_comments(&text))
        .collect();
    assert!(found.len() > 15, "{}", found.len());
    // Dependent initial values.
    found.push(
        "model Swing { param m = 1; param L = 0.5; node joint : rotational; node p[2] vector : translational;
         state theta = int(across(joint)), guess = 0.2; signal height = L*(1 - cos(theta)), start = 0.1;
         signal speed = across(p)[1], start = 0.8; arm : Transformer([[L*cos(theta)], [L*sin(theta)]]) joint -> gnd, p -> gnd;
         bob : Mass(m) p -> gnd; weight : ForceSource([0, -m*9.81]) gnd -> p; output y = int(across(joint)); }"
            .to_string(),
    );
    found
}

fn without_comments(text: &str) -> String {
    let lines = text
        .lines()
        .map(|line| line.split("//").next().unwrap_or("").trim_end());
    lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

/// Names, numbers, symbols and the whitespace between them.
fn tokens(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let kind = |letter: char| match letter {
        letter if letter.is_alphanumeric() || letter == '_' || letter == '.' => 0,
        letter if letter.is_whitespace() => 1,
        _ => 2,
    };
    let mut last = 3;
    for letter in text.chars() {
        let now = kind(letter);
        if now == last && now != 2 {
            found.last_mut().unwrap().push(letter);
        } else {
            found.push(letter.to_string());
        }
        last = now;
    }
    found
}

/// Pseudorandom numbers, the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, count: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % count.max(1)
    }
}

/// A text with one to four tokens removed, duplicated, swapped or replaced.
fn mutant(originals: &[String], random: &mut Random) -> String {
    let text = &originals[random.below(originals.len())];
    let mut list = tokens(text);
    let said: Vec<usize> = (0..list.len()).filter(|at| !list[*at].trim().is_empty()).collect();
    for _ in 0..=random.below(4) {
        let at = said[random.below(said.len())];
        let other = said[random.below(said.len())];
        match random.below(6) {
            0 => list[at].clear(),
            1 => list[at] = format!("{} {}", list[at], list[at]),
            2 => list.swap(at, other),
            3 => list[at] = list[other].clone(),
            _ => list[at] = WORDS[random.below(WORDS.len())].to_string(),
        }
    }
    list.concat()
}

/// Compiles a text in one of several ways; returns the message of a panic.
fn compile(text: &str, way: usize) -> Result<(), String> {
    let run = || {
        let mut map = SourceMap::default();
        let root = map.add("model.lgm", text, None);
        let mut request = Request {
            verify: way % 3 == 1,
            linearize: (way % 3 == 2).then(LinearizeRequest::default),
            ..Request::default()
        };
        request.equations.states = match way % 4 {
            1 => StateRequest::Energy,
            2 => StateRequest::Power,
            _ => StateRequest::Natural,
        };
        let (_, diagnostics) = lgm::compile(&NoFiles, &mut map, root, &request);
        // A failed verification is a bug of the compiler.
        assert!(
            !diagnostics.iter().any(|found| found.code == "LGM0711"),
            "{}",
            render(&map, &diagnostics, false)
        );
        render(&map, &diagnostics, false);
    };
    catch_unwind(AssertUnwindSafe(run)).map_err(|fault| {
        let words = fault.downcast_ref::<String>().cloned();
        words.unwrap_or_else(|| fault.downcast_ref::<&str>().unwrap_or(&"").to_string())
    })
}

#[test]
fn changed_examples_are_answered() {
    let (count, seed) = (many(MUTANTS), first_seed() + 1);
    let originals = originals();
    let mut faults = Vec::new();
    for k in 0..count {
        let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ (seed << 32) ^ (k + 1));
        // The first numbers of adjacent seeds are similar.
        (0..8).for_each(|_| {
            random.below(2);
        });
        let text = mutant(&originals, &mut random);
        let (answer, waiting) = mpsc::channel();
        let (copy, way) = (text.clone(), k as usize);
        std::thread::Builder::new()
            .stack_size(256 << 20)
            .spawn(move || answer.send(compile(&copy, way)))
            .unwrap();
        match waiting.recv_timeout(PATIENCE) {
            Ok(Ok(())) => {}
            Ok(Err(words)) => faults.push(format!("==== {k}: {words}\n{text}")),
            Err(_) => faults.push(format!("==== {k}: no answer after {PATIENCE:?}\n{text}")),
        }
        if faults.len() >= 5 {
            break;
        }
    }
    println!("{count} mutants of {} models, seed {seed}", originals.len());
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
}
