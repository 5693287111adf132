//! Blocks of pages: the files, models and commands between the fences, and what the program makes of them.
//!
//! | fence | meaning |
//! | --- | --- |
//! | `lgm` | a text without errors, whose equations verify |
//! | `lgm warns`, `lgm fails` | a text with a warning, with an error |
//! | `lgm in PATH`, `lgm fails in PATH`, `csv in PATH`, .. | the same as a file, which other blocks may import or read |
//! | `console` | commands behind `$ `, each with the lines that it prints or with none; `..` stands for any number of lines |
//! | `console fails` | the same, and the last command ends with another code than 0 |

use lgm::source::Sources;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A block of a page.
pub struct Block {
    /// The words after the fence.
    pub tag: String,
    /// The lines between the fences.
    pub text: String,
}

impl Block {
    /// The path of a file shown on the page.
    pub fn path(&self) -> Option<&Path> {
        self.tag.split_once(" in ").map(|(_, path)| Path::new(path))
    }
}

/// The folder of the package.
pub fn package() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// All blocks of a page in their order.
pub fn blocks(page: &str) -> Vec<Block> {
    let mut found: Vec<Block> = Vec::new();
    let mut inside = false;
    for line in page.lines() {
        match line.strip_prefix("```") {
            Some(_) if inside => inside = false,
            Some(tag) => {
                inside = true;
                found.push(Block {
                    tag: tag.to_string(),
                    text: String::new(),
                });
            }
            None if inside => {
                let text = &mut found.last_mut().unwrap().text;
                text.push_str(line);
                text.push('\n');
            }
            None => {}
        }
    }
    found
}

/// The files of a page, as the compiler reads them.
pub struct PageFiles(BTreeMap<PathBuf, String>);

impl PageFiles {
    pub fn of(blocks: &[Block]) -> PageFiles {
        let files = blocks
            .iter()
            .filter_map(|block| Some((block.path()?.to_path_buf(), block.text.clone())));
        PageFiles(files.collect())
    }
}

impl Sources for PageFiles {
    fn read(&self, path: &Path) -> Result<String, String> {
        self.0.get(path).cloned().ok_or_else(|| "no such file".to_string())
    }
}

pub fn files_below(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files_below(&path, found),
            false => found.push(path),
        }
    }
}

/// Writes a file of a page.
pub fn write(folder: &Path, path: &Path, text: &str) {
    let place = folder.join(path);
    fs::create_dir_all(place.parent().unwrap()).unwrap();
    fs::write(place, text).unwrap();
}

/// A folder with the examples that a text or the files of its page name, under their paths and under their names alone, and these
/// files. All examples for each of hundreds of texts would take longer than the commands; they are there if the text names a file
/// that does not exist, since the answer may name one that does.
pub fn folder(files: &PageFiles, text: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut examples = Vec::new();
    files_below(&package().join("examples"), &mut examples);
    let exists = |name: &str| files.0.contains_key(Path::new(name)) || examples.iter().any(|path| path.ends_with(name));
    let mut names = text.split_whitespace().filter(|word| word.ends_with(".lgm"));
    let has_all = !names.all(exists);
    for path in examples {
        let stem = path.file_stem().unwrap().to_string_lossy();
        let is_named = || text.contains(&*stem) || files.0.values().any(|file| file.contains(&*stem));
        if !has_all && !is_named() {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        write(folder.path(), path.strip_prefix(package()).unwrap(), &text);
        write(folder.path(), Path::new(path.file_name().unwrap()), &text);
    }
    for (path, text) in &files.0 {
        write(folder.path(), path, text);
    }
    folder
}

/// The programs with which commands of a page may begin; `./` starts one that an earlier command has built.
const PROGRAMS: [&str; 5] = ["lgm", "printf", "head", "cc", "make"];

/// The output of a page's command on both streams, and its exit code.
pub fn printed(line: &str, folder: &Path) -> (String, Option<i32>) {
    let ([both, _], code) = run("exec 2>&1", line, folder);
    (both, code)
}

/// The standard output and the standard error of a page's command, and its exit code.
pub fn apart(line: &str, folder: &Path) -> ([String; 2], Option<i32>) {
    run("", line, folder)
}

fn run(redirected: &str, line: &str, folder: &Path) -> ([String; 2], Option<i32>) {
    let program = line.split_whitespace().next().unwrap_or("");
    let is_known = PROGRAMS.contains(&program) || program.starts_with("./");
    assert!(is_known, "`{line}`: only {PROGRAMS:?} are run");
    let built = Path::new(env!("CARGO_BIN_EXE_lgm")).parent().unwrap();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths([built.to_path_buf()].into_iter().chain(std::env::split_paths(&path))).unwrap();
    let output = Command::new("sh")
        .args(["-c", &format!("{redirected}\n{line}")])
        .current_dir(folder)
        .env("PATH", path)
        .env_remove("RUST_BACKTRACE")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let streams = [output.stdout, output.stderr].map(|stream| String::from_utf8_lossy(&stream).into_owned());
    (streams, output.status.code())
}

/// The commands of a console block, each with the lines that follow it.
pub fn commands(text: &str) -> Vec<(&str, Vec<&str>)> {
    let mut found: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in text.lines() {
        match (line.strip_prefix("$ "), found.last_mut()) {
            (Some(command), _) => found.push((command, Vec::new())),
            (None, Some((_, lines))) => lines.push(line.trim_end()),
            (None, None) => panic!("`{line}` stands before the first command"),
        }
    }
    found
}

/// The relative difference allowed between a number and the page, and the difference that is always ignored: compilers
/// round sines differently.
const ROUNDING: [f64; 2] = [1e-6, 1e-9];

/// Returns true if two lines have the same words and, up to round-off, the same numbers.
fn is_same_line(shown: &str, printed: &str) -> bool {
    let words = |line: &str| -> Vec<String> { line.split([' ', ',']).map(str::to_string).collect() };
    let number = |word: &str| word.trim_end_matches([':', ';']).parse::<f64>().ok();
    let is_same_word = |(shown, printed): (&String, &String)| match (number(shown), number(printed)) {
        (Some(shown), Some(printed)) => (shown - printed).abs() <= ROUNDING[0] * shown.abs() + ROUNDING[1],
        _ => shown == printed,
    };
    let (known, found) = (words(shown), words(printed));
    shown == printed || known.len() == found.len() && known.iter().zip(&found).all(is_same_word)
}

fn are_same(shown: &[&str], printed: &[&str]) -> bool {
    let mut pairs = shown.iter().zip(printed);
    shown.len() == printed.len() && pairs.all(|(shown, printed)| is_same_line(shown, printed))
}

/// Returns true if these lines were printed; `..` stands for any number of lines.
pub fn is_as_shown(shown: &[&str], printed: &str) -> bool {
    let printed: Vec<&str> = printed.lines().map(str::trim_end).collect();
    let pieces: Vec<&[&str]> = shown.split(|line| *line == "..").collect();
    let (first, rest) = pieces.split_first().expect("a split has a piece");
    let Some((last, inner)) = rest.split_last() else {
        return are_same(first, &printed);
    };
    let Some((head, mut left)) = printed.split_at_checked(first.len()) else {
        return false;
    };
    for piece in inner.iter().filter(|piece| !piece.is_empty()) {
        match left.windows(piece.len()).position(|window| are_same(piece, window)) {
            Some(at) => left = &left[at + piece.len()..],
            None => return false,
        }
    }
    are_same(first, head) && last.len() <= left.len() && are_same(last, &left[left.len() - last.len()..])
}

/// The differences between two pictures of runs that round-off does not explain: curves may differ by less than a
/// pixel.
pub fn difference_of_pictures(drawn: &str, known: &str) -> Option<String> {
    // The choice between two neighbouring points to omit may depend on round-off; texts and axes must not.
    let is_curve = |line: &&str| line.starts_with("<path stroke=\"#") && line.contains(" d=\"M");
    let frame = |text: &str| {
        let lines: Vec<&str> = text.lines().filter(|line| !is_curve(line)).collect();
        lines.join("\n")
    };
    let (words, numbers) = taken_apart(&frame(drawn));
    let (known_words, known_numbers) = taken_apart(&frame(known));
    if words != known_words || numbers.len() != known_numbers.len() {
        return Some("its texts or axes differ".to_string());
    }
    let mut pairs = numbers.iter().zip(&known_numbers);
    if let Some((number, known)) = pairs.find(|(number, known)| (*number - *known).abs() >= 1.0) {
        return Some(format!("{number} in place of {known}"));
    }
    let curves = |text: &str| text.lines().filter(is_curve).count();
    (curves(drawn) != curves(known)).then(|| "the number of curves differs".to_string())
}

/// A text without its numbers, and the numbers.
fn taken_apart(text: &str) -> (String, Vec<f64>) {
    let is_part = |letter: char| letter.is_ascii_digit() || matches!(letter, '.' | '-');
    let mut words = String::new();
    let mut numbers = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(is_part) {
        words.push_str(&rest[..at]);
        let end = rest[at..]
            .find(|letter| !is_part(letter))
            .map_or(rest.len(), |length| at + length);
        match rest[at..end].parse() {
            Ok(number) => {
                words.push('0');
                numbers.push(number);
            }
            Err(_) => words.push_str(&rest[at..end]),
        }
        rest = &rest[end..];
    }
    words.push_str(rest);
    (words, numbers)
}
