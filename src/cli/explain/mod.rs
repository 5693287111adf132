//! `lgm explain`

mod library;

use super::files::disk::write_result;
use super::report;
use crate::cli::outcome::Outcome;
use lgm_source::SourceMap;
use lgm_source::codes::{self, Code, PAGES};
use lgm_source::diagnostic::Diagnostic;
use lgm_source::nearest::nearest;
use std::io::{self, IsTerminal};

/// Explains a diagnostic code or an element of the library.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  lgm explain LGM0301\n  lgm explain Mass")]
pub(super) struct Arguments {
    /// A code, such as `LGM0301`, `lgm0301` or `301`, or a name of the library, such as `Mass`; without it all of them are listed
    #[arg(value_name = "CODE|NAME")]
    topic: Option<String>,
    /// Print the reference of the whole library, as Markdown
    #[arg(long, conflicts_with = "topic")]
    library: bool,
}

/// Runs the command.
pub(super) fn run(arguments: &Arguments) -> Outcome {
    let map = SourceMap::default();
    let found = match &arguments.topic {
        None if arguments.library => Ok(library::page()),
        None => Ok(list()),
        Some(topic) => page(topic),
    };
    let page = match found {
        Ok(page) => page,
        Err(fault) => {
            report::print(&map, std::slice::from_ref(&fault));
            return report::outcome(&[fault]);
        }
    };
    let text = match arguments.topic.is_some() && report::wants_color() && io::stdout().is_terminal() {
        true => for_terminal(&page),
        false => page,
    };
    let written = write_result(None, &mut |stream| stream.write_all(text.as_bytes()));
    report::after_writing(&map, written)
}

/// Lists every code with its title, and every library definition with its first sentence.
fn list() -> String {
    let codes = PAGES.iter().map(|page| format!("{}  {}\n", page.code, page.title()));
    let entries = library::entries().into_iter();
    codes
        .chain(entries.map(|entry| format!("{}  {}\n", entry.name, entry.summary)))
        .collect()
}

/// Returns the page of a code, or the entry of a name.
fn page(topic: &str) -> Result<String, Diagnostic> {
    if let Some(page) = codes::page(topic) {
        return Ok(page.text.to_string());
    }
    let mut entries = library::entries();
    let exact = entries.iter().position(|entry| entry.name == topic);
    let at = exact.or_else(|| entries.iter().position(|entry| entry.name.eq_ignore_ascii_case(topic)));
    match at {
        Some(at) => Ok(entries.swap_remove(at).text),
        None => Err(unknown(topic, &entries)),
    }
}

fn unknown(topic: &str, entries: &[library::Entry]) -> Diagnostic {
    let codes = codes::nearest(topic)
        .into_iter()
        .map(|page| format!("`{}` ({})", page.code, page.title()));
    let names = nearest(topic, entries.iter().map(|entry| &*entry.name))
        .into_iter()
        .map(|name| format!("`{name}`"));
    let near: Vec<String> = codes.chain(names).collect();
    let message = format!("`{topic}` is neither a diagnostic code nor a name of the library");
    Diagnostic::error(Code::LGM0906, message).help(match near.is_empty() {
        true => "write a code such as `LGM0301` or a name such as `Mass`; `lgm explain` lists all of them".to_string(),
        false => format!("the nearest are {}", near.join(", ")),
    })
}

/// Formats a page for a terminal: headings are bold, and examples are indented instead of fenced.
fn for_terminal(page: &str) -> String {
    const BOLD: &str = "\x1b[1m";
    const PLAIN: &str = "\x1b[0m";
    let mut out = String::new();
    let mut inside = false;
    for line in page.lines() {
        if let Some(tag) = line.strip_prefix("```") {
            inside = !inside;
            // Only the fence states the file name and which example fails.
            if tag.ends_with("fails") {
                out.push_str("    (fails)\n");
            } else if let Some(file) = tag.strip_prefix("lgm in ") {
                out.push_str(&format!("    ({file})\n"));
            }
        } else if inside {
            out.push_str(if line.is_empty() { "" } else { "    " });
            out.push_str(line);
            out.push('\n');
        } else if line.starts_with('#') {
            let heading = line.trim_start_matches('#').trim_start();
            out.push_str(&format!("{BOLD}{heading}{PLAIN}\n"));
        } else {
            out.push_str(line);
            out.push('\n');
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_gets_bold_headings_and_examples_without_fences() {
        let page = "# LGM0001: title\n\n## Fix\n\nWrite `;`.\n\n```lgm fails\nmodel M {\n\n}\n```\n";
        let shown =
            "\x1b[1mLGM0001: title\x1b[0m\n\n\x1b[1mFix\x1b[0m\n\nWrite `;`.\n\n    (fails)\n    model M {\n\n    }\n";
        assert_eq!(for_terminal(page), shown);
    }

    #[test]
    fn an_unknown_topic_is_answered_with_the_nearest() {
        let help = |topic: &str| unknown(topic, &library::entries()).help.unwrap();
        assert!(help("LGM0300").contains("`LGM0301` ("), "{}", help("LGM0300"));
        assert!(help("Resistr").contains("`Resistor`"), "{}", help("Resistr"));
        assert!(help("q").contains("lists all of them"), "{}", help("q"));
    }

    /// Checks that the entry or the top of its module describes every parameter, and that every entry has an example.
    #[test]
    fn entries_are_complete() {
        let entries = library::entries();
        assert!(entries.len() > 80, "{} entries", entries.len());
        for entry in entries {
            assert!(!entry.text.contains("not described"), "{}", entry.text);
            assert!(entry.text.contains("- Example: `"), "{}", entry.text);
            assert!(!entry.summary.is_empty(), "{}", entry.name);
        }
    }
}
