//! `lgm explain`

use super::files::disk::write_result;
use super::report;
use crate::cli::outcome::Outcome;
use lgm_source::SourceMap;
use lgm_source::codes::{self, Code, PAGES};
use lgm_source::diagnostic::Diagnostic;
use std::io::{self, IsTerminal, Write};

/// Says what a diagnostic code means, why, and how to mend it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  lgm explain LGM0301")]
pub(super) struct Arguments {
    /// The code, such as `LGM0301`, `lgm0301` or `301`; every code with its title where none is given
    code: Option<String>,
}

/// Runs the command.
pub(super) fn run(arguments: &Arguments) -> Outcome {
    let map = SourceMap::default();
    let Some(code) = &arguments.code else {
        return report::after_writing(&map, write_result(None, &mut write_list));
    };
    let Some(page) = codes::page(code) else {
        let fault = unknown(code);
        report::print(&map, std::slice::from_ref(&fault));
        return report::outcome(&[fault]);
    };
    let text = match report::wants_color() && io::stdout().is_terminal() {
        true => for_terminal(page.text),
        false => page.text.to_string(),
    };
    let written = write_result(None, &mut |stream| stream.write_all(text.as_bytes()));
    report::after_writing(&map, written)
}

/// Every code with its title.
fn write_list(stream: &mut dyn Write) -> io::Result<()> {
    for page in PAGES {
        writeln!(stream, "{}  {}", page.code, page.title())?;
    }
    Ok(())
}

fn unknown(code: &str) -> Diagnostic {
    let near: Vec<String> = codes::nearest(code)
        .iter()
        .map(|page| format!("`{}` ({})", page.code, page.title()))
        .collect();
    Diagnostic::error(Code::LGM0906, format!("there is no diagnostic code `{code}`")).help(match near.is_empty() {
        true => "a code is written like `LGM0301`; `lgm explain` alone lists them all".to_string(),
        false => format!("the nearest codes are {}", near.join(", ")),
    })
}

/// A page for a person at a terminal: headings in bold, examples moved in instead of fenced.
fn for_terminal(page: &str) -> String {
    const BOLD: &str = "\x1b[1m";
    const PLAIN: &str = "\x1b[0m";
    let mut out = String::new();
    let mut inside = false;
    for line in page.lines() {
        if let Some(tag) = line.strip_prefix("```") {
            inside = !inside;
            // Which example fails, and what a file is called, is said by the fence alone.
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
        let page = "# LGM0001: title\n\n## Mend\n\nWrite `;`.\n\n```lgm fails\nmodel M {\n\n}\n```\n";
        let shown =
            "\x1b[1mLGM0001: title\x1b[0m\n\n\x1b[1mMend\x1b[0m\n\nWrite `;`.\n\n    (fails)\n    model M {\n\n    }\n";
        assert_eq!(for_terminal(page), shown);
    }

    #[test]
    fn an_unknown_code_is_answered_with_the_nearest() {
        let help = unknown("LGM0300").help.unwrap();
        assert!(help.contains("`LGM0301` ("), "{help}");
        assert!(unknown("volt").help.unwrap().contains("lists them all"));
    }
}
