//! Removal of unused code from several sources: unreachable functions, types, constants and files are omitted.
//!
//! In these sources, every declaration begins in the first column of a line. A comment belongs to the
//! declarations below it, up to an empty line.

use super::words::{Word, words};
use rustc_hash::FxHashSet;

/// The name and the text of a file.
pub(in crate::code::c) type File = (String, String);

/// A part of a file; all declarations are in such parts.
enum Fragment {
    /// An empty line.
    Blank,
    /// Lines that always stay: include guards, `extern "C"`.
    Fixed(String),
    /// An included file: its name, and whether the file is one of the sources.
    Include(String, bool),
    /// A comment above declarations.
    Comment(String),
    /// Declarations with the names that they introduce.
    Declaration { text: String, names: Vec<String> },
}

/// Returns the files without the parts that are unreachable from `roots`.
pub(in crate::code::c) fn reachable<'r>(files: Vec<File>, roots: impl IntoIterator<Item = &'r str>) -> Vec<File> {
    let parsed: Vec<(String, Vec<Fragment>)> = files.into_iter().map(|(name, text)| (name, parts(&text))).collect();
    let declarations = || parsed.iter().flat_map(|file| &file.1);
    let mut reached: FxHashSet<String> = roots.into_iter().map(String::from).collect();
    let mut looked_at: FxHashSet<*const Fragment> = FxHashSet::default();
    loop {
        let before = looked_at.len();
        for part in declarations() {
            if let Fragment::Declaration { text, names } = part
                && is_reached(names, &reached)
                && looked_at.insert(std::ptr::from_ref(part))
            {
                reached.extend(names_in(text));
            }
        }
        if looked_at.len() == before {
            break;
        }
    }
    let is_there = |parts: &[Fragment]| {
        let mut list = parts.iter();
        list.any(|part| matches!(part, Fragment::Declaration { names, .. } if is_reached(names, &reached)))
    };
    let there: FxHashSet<String> = parsed
        .iter()
        .filter(|file| is_there(&file.1))
        .map(|file| file.0.clone())
        .collect();
    let all: FxHashSet<String> = parsed.iter().map(|file| file.0.clone()).collect();
    let kept = parsed.into_iter().filter(|file| there.contains(&file.0));
    let is_included = |name: &str, own: bool| !own || there.contains(name) || !all.contains(name);
    kept.map(|(name, parts)| {
        let text = joined(&parts, &reached, &is_included);
        (name, text)
    })
    .collect()
}

/// Returns true if a declaration is used; an unnamed declaration always is.
fn is_reached(names: &[String], reached: &FxHashSet<String>) -> bool {
    names.is_empty() || names.iter().any(|name| reached.contains(name))
}

/// Returns the names in a text, except those in comments.
pub(in crate::code::c) fn names_in(text: &str) -> impl Iterator<Item = String> + '_ {
    words(text).filter_map(|word| match word {
        Word::Name(name) => Some(name.to_string()),
        _ => None,
    })
}

fn parts(text: &str) -> Vec<Fragment> {
    let lines: Vec<&str> = text.lines().collect();
    let mut parts = Vec::new();
    let mut at = 0;
    let lines_to = |from: usize, to: usize| lines[from..to.min(lines.len())].join("\n");
    while at < lines.len() {
        let line = lines[at];
        let second = lines.get(at + 1).copied().unwrap_or_default();
        let is_extern = line == "#ifdef __cplusplus" && (second.starts_with("extern") || second == "}");
        let (end, part) = if line.trim().is_empty() {
            (at + 1, Fragment::Blank)
        } else if line.starts_with("/*") {
            let end = end_of_comment(&lines, at);
            (end, Fragment::Comment(lines_to(at, end)))
        } else if let Some(name) = line.strip_prefix("#include ") {
            let is_own = name.starts_with('"');
            (
                at + 1,
                Fragment::Include(name.trim_matches(['"', '<', '>']).to_string(), is_own),
            )
        } else if is_extern {
            (at + 3, Fragment::Fixed(lines_to(at, at + 3)))
        } else if line.starts_with("#ifndef ") && second == line.replace("#ifndef", "#define") {
            (at + 2, Fragment::Fixed(lines_to(at, at + 2)))
        } else if line.starts_with("#if") {
            let end = end_of_condition(&lines, at);
            (end, declaration(lines_to(at, end)))
        } else if line.starts_with("#define ") {
            let mut end = at + 1;
            while lines[end - 1].ends_with('\\') && end < lines.len() {
                end += 1;
            }
            (end, declaration(lines_to(at, end)))
        } else if line.starts_with('#') {
            (at + 1, Fragment::Fixed(line.to_string()))
        } else {
            let end = end_of_code(&lines, at);
            (end, declaration(lines_to(at, end)))
        };
        parts.push(part);
        at = end;
    }
    parts
}

fn end_of_comment(lines: &[&str], from: usize) -> usize {
    let mut end = from;
    while end < lines.len() && !lines[end].contains("*/") {
        end += 1;
    }
    (end + 1).min(lines.len())
}

fn end_of_condition(lines: &[&str], from: usize) -> usize {
    let (mut end, mut depth) = (from, 0);
    while end < lines.len() {
        depth += usize::from(lines[end].starts_with("#if"));
        depth -= usize::from(lines[end].starts_with("#endif"));
        end += 1;
        if depth == 0 {
            break;
        }
    }
    end
}

fn end_of_code(lines: &[&str], from: usize) -> usize {
    let mut depth = 0;
    for (at, line) in lines.iter().enumerate().skip(from) {
        let mut last = "";
        for word in words(line) {
            match word {
                Word::Comment(_) => continue,
                Word::Other("(" | "{" | "[") => depth += 1,
                Word::Other(")" | "}" | "]") => depth -= 1,
                Word::Other(" ") => continue,
                _ => {}
            }
            last = word.text();
        }
        if depth <= 0 && matches!(last, ";" | "}") {
            return at + 1;
        }
    }
    lines.len()
}

fn declaration(text: String) -> Fragment {
    let names = declared(&text);
    Fragment::Declaration { text, names }
}

/// Returns the names that a declaration introduces.
fn declared(text: &str) -> Vec<String> {
    if text.starts_with('#') {
        let lines = text.lines().filter_map(|line| line.strip_prefix("#define "));
        return lines.filter_map(|line| names_in(line).next()).collect();
    }
    let list: Vec<Word> = words(text)
        .filter(|word| !word.text().trim().is_empty() && !matches!(word, Word::Comment(_)))
        .collect();
    let mut names = Vec::new();
    let is_typedef = matches!(list.first(), Some(Word::Name("typedef")));
    if is_typedef || matches!(list.first(), Some(Word::Name("enum"))) {
        let is_enum = list.iter().take(2).any(|word| *word == Word::Name("enum"));
        let pairs = list
            .windows(2)
            .filter(|pair| is_enum && matches!(pair[0], Word::Other("{" | ",")));
        names.extend(pairs.filter_map(|pair| match pair[1] {
            Word::Name(name) => Some(name.to_string()),
            _ => None,
        }));
        let pointer = list
            .windows(2)
            .find(|pair| pair[0] == Word::Other("*"))
            .map(|pair| pair[1]);
        let last = list.iter().rev().find(|word| matches!(word, Word::Name(_))).copied();
        let own = match list.contains(&Word::Other("{")) {
            true => last,
            false => pointer.or(last),
        };
        names.extend(own.filter(|_| is_typedef).map(|word| word.text().to_string()));
        return names;
    }
    let found = list
        .windows(2)
        .find(|pair| matches!(pair, [Word::Name(_), Word::Other("(" | "[" | "=" | ";")]));
    names.extend(found.map(|pair| pair[0].text().to_string()));
    names
}

/// Joins the used parts into a text.
fn joined(parts: &[Fragment], reached: &FxHashSet<String>, is_included: &dyn Fn(&str, bool) -> bool) -> String {
    let mut body = String::new();
    for (at, part) in parts.iter().enumerate() {
        match part {
            Fragment::Blank => {
                if !body.ends_with("\n\n") {
                    body.push('\n');
                }
            }
            Fragment::Fixed(text) => body.push_str(&format!("{text}\n")),
            Fragment::Include(name, true) if is_included(name, true) => {
                body.push_str(&format!("#include \"{name}\"\n"))
            }
            Fragment::Include(_, true) => {}
            Fragment::Include(name, false) => body.push_str(&format!("#include <{name}>\n")),
            Fragment::Comment(text) => {
                let below = parts[at + 1..].iter();
                let mut below = below
                    .take_while(|part| !matches!(part, Fragment::Blank | Fragment::Comment(_)))
                    .peekable();
                let is_alone = at == 0 || below.peek().is_none();
                let is_used = |part: &Fragment| match part {
                    Fragment::Declaration { names, .. } => is_reached(names, reached),
                    _ => true,
                };
                if is_alone || below.any(is_used) {
                    body.push_str(&format!("{text}\n"));
                }
            }
            Fragment::Declaration { text, names } => {
                if is_reached(names, reached) {
                    body.push_str(&format!("{}\n", without_idle_uses(text)));
                }
            }
        }
    }
    without_idle_headers(&body)
}

/// Removes `(void)name;` from a function for names that it uses.
fn without_idle_uses(text: &str) -> String {
    let is_idle = |line: &str| line.starts_with("    (void)") && line.split(';').all(is_void);
    let Some((_, body)) = text.split_once("{\n").filter(|_| text.contains("    (void)")) else {
        return text.to_string();
    };
    let used: FxHashSet<String> = body.lines().filter(|line| !is_idle(line)).flat_map(names_in).collect();
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        if !is_idle(line) {
            lines.push(line.to_string());
            continue;
        }
        let names = line.split(';').filter_map(|each| each.trim().strip_prefix("(void)"));
        let unused: Vec<String> = names
            .filter(|name| !used.contains(*name))
            .map(|name| format!("(void){name};"))
            .collect();
        if !unused.is_empty() {
            lines.push(format!("    {}", unused.join(" ")));
        }
    }
    lines.join("\n")
}

/// Returns true for `(void)name` or an empty statement.
fn is_void(statement: &str) -> bool {
    let name = statement.trim().strip_prefix("(void)").unwrap_or_default();
    statement.trim().is_empty()
        || (!name.is_empty()
            && name
                .chars()
                .all(|letter| letter.is_ascii_alphanumeric() || letter == '_'))
}

/// C standard headers with the names that the sources use from them.
const HEADERS: [(&str, &str); 5] = [
    ("float.h", "DBL_EPSILON DBL_MIN FLT_EPSILON FLT_MIN"),
    (
        "math.h",
        "HUGE_VAL HUGE_VALF INFINITY NAN isfinite isnan signbit fabs pow ceil floor nextafter log10 round sqrt sin cos \
         tan asin acos atan atan2 sinh cosh tanh asinh exp expm1 log trunc",
    ),
    ("stddef.h", "NULL size_t"),
    ("stdlib.h", "strtod exit malloc free strtol"),
    ("string.h", "memcpy memset memcmp strcmp strlen strncmp strrchr strcspn"),
];

/// Removes unused headers, repeated empty lines, and empty lines at the beginning or end of a block.
fn without_idle_headers(text: &str) -> String {
    let used: FxHashSet<String> = names_in(text).collect();
    let is_used = |header: &str| {
        let known = HEADERS.iter().find(|known| known.0 == header);
        known.is_none_or(|known| {
            let mut names = known.1.split(' ');
            names.any(|name| used.contains(name) || used.contains(&format!("{name}f")))
        })
    };
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        let header = line.strip_prefix("#include <").map(|rest| rest.trim_end_matches('>'));
        if header.is_some_and(|header| !is_used(header)) || (line.is_empty() && out.ends_with("\n\n")) {
            continue;
        }
        if line.starts_with('}') && out.ends_with("\n\n") {
            out.pop();
        }
        out.push_str(line);
        out.push('\n');
    }
    out.trim_end().to_string() + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nothing_uses_is_left_out() {
        let header = "/* Head. */\n#ifndef A_H\n#define A_H\n\n#include \"b.h\"\n\n#define USED 1\n#define IDLE 2\n\n\
                      /* A way. */\ntypedef int (*way)(int);\n\n/* Both. */\nint first(int a);\nint second(int a);\n\n#endif\n";
        let source = "#include \"a.h\"\n#include <math.h>\n#include <stdio.h>\n\n/* One. */\nint first(int a) {\n    (void)a;\n    \
                      return a + USED + TWO;\n}\n\n/* Two. */\nint second(int a) {\n    return a;\n}\n\nenum { ONE, TWO };\n\n\
                      /* Table. */\nstatic const int idle[2] = {\n    1, 2\n};\n";
        let other = "/* Nothing. */\nstatic int nothing;\n";
        let files =
            [("a.h", header), ("a.c", source), ("b.h", other)].map(|(name, text)| (name.to_string(), text.to_string()));
        let found = reachable(files.to_vec(), ["first"]);
        let names: Vec<&str> = found.iter().map(|file| file.0.as_str()).collect();
        assert_eq!(names, ["a.h", "a.c"]);
        assert_eq!(
            found[0].1,
            "/* Head. */\n#ifndef A_H\n#define A_H\n\n#define USED 1\n\n/* Both. */\nint first(int a);\n\n#endif\n"
        );
        assert_eq!(
            found[1].1,
            "#include \"a.h\"\n#include <stdio.h>\n\n/* One. */\nint first(int a) {\n    return a + USED + TWO;\n}\n\n\
             enum { ONE, TWO };\n"
        );
    }
}
