//! A page for every diagnostic code: its meaning, its causes and fixes, with an example of each.
//!
//! The pages are the Markdown files of `docs/codes`, embedded in the program, so that `lgm explain` needs no files. [`Code`] is generated
//! from them when the crate is built. A test compares them with the codes in the source, in both directions, and runs every example.

use std::fmt;

include!(concat!(env!("OUT_DIR"), "/codes.rs"));

impl Code {
    /// Returns the number in the code.
    pub fn number(self) -> u32 {
        number_of(self.as_str()).expect("invariant: a code is `LGM` and four digits")
    }

    /// Returns true if the code concerns the command line and not a model: an option, a name in an option, or a file.
    pub fn is_of_command_line(self) -> bool {
        matches!(self.number() / 10, 90 | 92)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.as_str())
    }
}

impl PartialEq<&str> for Code {
    fn eq(&self, written: &&str) -> bool {
        self.as_str() == *written
    }
}

/// The page about one code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// The code, such as `LGM0301`.
    pub code: Code,
    /// The whole page, in Markdown.
    pub text: &'static str,
}

impl Page {
    /// Returns the text after the code in the page's first line.
    pub fn title(&self) -> &'static str {
        let line = self.text.lines().next().unwrap_or("");
        line.split_once(": ").map_or("", |parts| parts.1)
    }
}

/// Returns the number of a code written as `LGM0301`, `lgm0301`, `0301` or `301`.
fn number_of(written: &str) -> Option<u32> {
    let digits = match written.get(..3) {
        Some(letters) if letters.eq_ignore_ascii_case("lgm") => &written[3..],
        _ => written,
    };
    let plain = (1..=4).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    if plain { digits.parse().ok() } else { None }
}

/// Returns the requested page, for any notation of its code.
pub fn page(written: &str) -> Option<&'static Page> {
    let number = number_of(written.trim())?;
    PAGES.iter().find(|page| page.code.number() == number)
}

/// Returns the pages with the codes closest to a nonexistent one, at most three, in order; none if the text is not a code at
/// all.
pub fn nearest(written: &str) -> Vec<&'static Page> {
    let Some(number) = number_of(written.trim()) else {
        return Vec::new();
    };
    let mut list: Vec<&Page> = PAGES.iter().collect();
    list.sort_by_key(|page| (page.code.number().abs_diff(number), page.code.number()));
    list.truncate(3);
    list.sort_by_key(|page| page.code.number());
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_may_be_written_in_several_ways() {
        for written in ["LGM0301", "lgm0301", "Lgm301", "0301", "301", " 301 "] {
            assert_eq!(page(written).map(|page| page.code), Some(Code::LGM0301), "{written}");
        }
        for written in [
            "", "LGM", "LGM 301", "LGM00301", "E0301", "+301", "-301", "µ301", "9999",
        ] {
            assert_eq!(page(written), None, "{written}");
        }
    }

    #[test]
    fn the_nearest_codes_are_those_with_the_nearest_numbers() {
        let codes = |written| nearest(written).iter().map(|page| page.code).collect::<Vec<_>>();
        assert_eq!(codes("0"), ["LGM0001", "LGM0002", "LGM0003"]);
        assert_eq!(codes("LGM0300"), ["LGM0301", "LGM0302", "LGM0303"]);
        assert!(codes("voltage").is_empty());
    }

    #[test]
    fn a_title_is_what_follows_the_code() {
        let page = Page {
            code: Code::LGM0001,
            text: "# LGM0001: a comment that never ends: `/*`\n\n## Meaning\n",
        };
        assert_eq!(page.title(), "a comment that never ends: `/*`");
    }
}
