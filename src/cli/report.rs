//! Diagnostics on standard error, and the resulting exit code.

use super::files::disk::WriteFault;
use super::outcome::Outcome;
use crate::rendering::{render, render_briefly};
use lgm_source::SourceMap;
use lgm_source::codes::Code;
use lgm_source::diagnostic::{Diagnostic, has_errors};
use std::io::{IsTerminal, Write};

/// Prints diagnostics to standard error, and shows remarks without an excerpt of the source.
pub(super) fn print(map: &SourceMap, diagnostics: &[Diagnostic]) {
    print_as(map, diagnostics, render_briefly);
}

/// Prints diagnostics to standard error, all of them with excerpts of the source.
pub(super) fn print_in_full(map: &SourceMap, diagnostics: &[Diagnostic]) {
    print_as(map, diagnostics, render);
}

/// Prints diagnostics to standard error, in colour if it is a terminal and colour is not disabled.
fn print_as(map: &SourceMap, diagnostics: &[Diagnostic], render: fn(&SourceMap, &[Diagnostic], bool) -> String) {
    let mut stream = std::io::stderr().lock();
    let is_seen = stream.is_terminal();
    let mut text = render(map, diagnostics, wants_color() && is_seen);
    // Tools that read standard error recognise the codes; readers may need a hint about the pages.
    if is_seen && let Some(pointer) = pointer(diagnostics) {
        text.push_str(&pointer);
    }
    // If standard error itself is closed, there is nowhere left to report this.
    let _ = stream.write_all(text.as_bytes());
}

/// Reports success and what was checked to a person; tools use the exit code.
pub(super) fn say_without_faults(checked: &str) {
    let mut stream = std::io::stderr().lock();
    if stream.is_terminal() {
        let _ = writeln!(stream, "no faults found{checked}");
    }
}

/// Returns true if the user has not disabled colours.
pub(super) fn wants_color() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// Returns a line that refers to the explanation of the first error.
fn pointer(diagnostics: &[Diagnostic]) -> Option<String> {
    let first = diagnostics.iter().find(|diagnostic| diagnostic.is_error())?;
    Some(format!("For more: lgm explain {}\n", first.code))
}

/// Returns the exit code for diagnostics.
pub(super) fn outcome(diagnostics: &[Diagnostic]) -> Outcome {
    let is_misuse = |diagnostic: &Diagnostic| diagnostic.is_error() && diagnostic.code.is_of_command_line();
    if diagnostics.iter().any(is_misuse) {
        Outcome::Misuse
    } else if has_errors(diagnostics) {
        Outcome::Failure
    } else {
        Outcome::Success
    }
}

/// Returns the exit code after an attempt to write a result.
pub(super) fn after_writing(map: &SourceMap, written: Result<(), WriteFault>) -> Outcome {
    match written {
        Ok(()) | Err(WriteFault::NobodyListens) => Outcome::Success,
        Err(WriteFault::Failed(diagnostic)) => {
            print(map, std::slice::from_ref(&diagnostic));
            outcome(&[diagnostic])
        }
    }
}

/// Creates a diagnostic about the command line as a whole.
pub(super) fn misuse(code: Code, message: String, help: &str) -> Diagnostic {
    Diagnostic::error(code, message).help(help)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lgm_source::codes::Code;

    #[test]
    fn the_pointer_names_the_first_error_and_stays_away_without_one() {
        let warning = Diagnostic::warning(Code::LGM0702, "a pole");
        let error = Diagnostic::error(Code::LGM0301, "two sources");
        assert_eq!(pointer(std::slice::from_ref(&warning)), None);
        assert_eq!(
            pointer(&[warning, error]).as_deref(),
            Some("For more: lgm explain LGM0301\n")
        );
    }
}
