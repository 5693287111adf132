//! The sources of [`lgm_runtime`] specialised for one model. Conditions are decided, names and numbers are written out, and unused
//! functions, types and constants are removed.
//!
//! The sources compile unmodified, with a model's features as macros. Emitted code contains no macros
//! of that kind. For a model without loops, for example, no line about loops is emitted.

mod arithmetic;
mod reachable;
mod words;

pub(super) use reachable::{File, names_in, reachable};

use arithmetic::value;
use rustc_hash::FxHashMap;
use words::{Word, words};

/// The name of a model and the numbers that it defines.
pub(super) struct Engine<'e> {
    /// The model's name in C, which replaces `lgm` in names.
    pub(super) name: &'e str,
    /// True for single precision.
    pub(super) float: bool,
    /// The macros of the sources, by name.
    pub(super) numbers: FxHashMap<&'static str, usize>,
}

/// Mathematics functions with names that are independent of the precision.
const MATHEMATICS: [&str; 5] = ["fabs", "pow", "ceil", "floor", "nextafter"];

/// Returns true if words begin with a number of double precision, in parentheses or with a sign.
fn is_signed_double(words: &[Word]) -> bool {
    let signs = words
        .iter()
        .take_while(|word| matches!(word, Word::Other("(" | "-")))
        .count();
    signs > 0 && matches!(words.get(signs), Some(Word::Number(number)) if number.contains('.'))
}

impl Engine<'_> {
    /// Specialises a source for this model.
    pub(super) fn source(&self, text: &str) -> String {
        let kept = self.decided(text);
        self.renamed(&kept)
    }

    /// Keeps the lines whose conditions hold. Conditions over other macros remain.
    fn decided(&self, text: &str) -> String {
        let mut kept = String::with_capacity(text.len());
        // For each open condition, whether its lines are kept; none if the condition stays in the text.
        let mut open: Vec<Option<bool>> = Vec::new();
        for line in text.lines() {
            let is_kept = open.iter().all(|each| each.unwrap_or(true));
            match line.split_once(' ').unwrap_or((line, "")) {
                ("#if", condition) => {
                    let decided = value(condition, &self.numbers).map(|value| value != 0);
                    open.push(decided);
                    if decided.is_some() {
                        continue;
                    }
                }
                ("#ifdef" | "#ifndef", _) => open.push(None),
                ("#else", _) => {
                    if let Some(Some(holds)) = open.last_mut() {
                        *holds = !*holds;
                        continue;
                    }
                }
                ("#endif", _) if open.pop().flatten().is_some() => continue,
                _ => {}
            }
            if is_kept {
                kept.push_str(line);
                kept.push('\n');
            }
        }
        kept
    }

    /// Writes the text with this model's names and numbers.
    fn renamed(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let list: Vec<Word> = words(text).collect();
        let mut at = 0;
        while at < list.len() {
            let rest = &list[at..];
            at += match rest {
                // A conversion between the precision of the model and double precision.
                [Word::Other("("), Word::Name("wide"), Word::Other(")"), ..] => self.converted("(double)", &mut out),
                [Word::Other("("), Word::Name("narrow"), Word::Other(")"), ..] => self.converted("(float)", &mut out),
                [Word::Other("("), Word::Name("real"), Word::Other(")"), value @ ..] if is_signed_double(value) => {
                    self.converted("(float)", &mut out)
                }
                // Print a number in the precision of the model.
                [
                    Word::Other("("),
                    Word::Name("real"),
                    Word::Other(")"),
                    Word::Number(number),
                    ..,
                ] => {
                    out.push_str(number);
                    out.push_str(if self.float { "F" } else { "" });
                    4
                }
                [Word::Name("LGM_ROOM"), Word::Other("("), ..] => self.room(rest, &mut out),
                [Word::Name("LGM_DU"), Word::Other("("), ..] => self.rates_of_inputs(rest, &mut out),
                [Word::Name(name), ..] => {
                    out.push_str(&self.name(name));
                    1
                }
                [Word::Comment(comment), ..] => {
                    out.push_str(&self.in_comment(comment));
                    1
                }
                [word, ..] => {
                    out.push_str(word.text());
                    1
                }
                [] => 1,
            };
        }
        out
    }

    /// Prints a conversion of three words, which double precision does not need.
    fn converted(&self, conversion: &str, out: &mut String) -> usize {
        out.push_str(if self.float { conversion } else { "" });
        3
    }

    /// Prints the size of an array that may be empty: at least 1, because C has no empty arrays.
    fn room(&self, rest: &[Word<'_>], out: &mut String) -> usize {
        let (inner, count) = within_brackets(rest);
        match value(&inner, &self.numbers) {
            Some(0) => out.push('1'),
            _ => out.push_str(&self.renamed(&inner)),
        }
        count
    }

    /// Prints an argument that exists only if the model's equations read time derivatives of inputs.
    fn rates_of_inputs(&self, rest: &[Word<'_>], out: &mut String) -> usize {
        let (inner, count) = within_brackets(rest);
        if out.ends_with(' ') {
            out.pop();
        }
        if self.numbers.get("LGM_DU").is_some_and(|reads| *reads != 0) {
            out.push_str(&self.renamed(&inner));
        }
        count
    }

    fn name(&self, name: &str) -> String {
        if name == "real" || name == "lgm_real" {
            return if self.float { "float" } else { "double" }.to_string();
        }
        if let Some(function) = name.strip_prefix("lgm_").filter(|name| MATHEMATICS.contains(name)) {
            return format!("{function}{}", if self.float { "f" } else { "" });
        }
        self.own(name).unwrap_or_else(|| name.to_string())
    }

    /// Returns the model's own name for a function: `lgm_run` becomes `Oscillator_run`.
    fn own(&self, name: &str) -> Option<String> {
        let rest = name.strip_prefix("lgm_").or_else(|| name.strip_prefix("LGM_"))?;
        Some(format!("{}_{rest}", self.name))
    }

    /// Replaces names in a comment; file names stay.
    fn in_comment(&self, comment: &str) -> String {
        let is_of_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        let mut out = String::with_capacity(comment.len());
        let mut rest = comment;
        while let Some(begin) = rest.find(is_of_name) {
            let (before, from) = rest.split_at(begin);
            let (name, behind) = from.split_at(from.find(|letter| !is_of_name(letter)).unwrap_or(from.len()));
            let is_file = behind.starts_with(".h") || behind.starts_with(".c");
            out.push_str(before);
            out.push_str(&self.own(name).filter(|_| !is_file).unwrap_or_else(|| name.to_string()));
            rest = behind;
        }
        out + rest
    }
}

/// Returns the text in the brackets after the first word, and the number of words up to the closing bracket.
fn within_brackets(rest: &[Word<'_>]) -> (String, usize) {
    let mut depth = 0;
    let mut count = 1;
    for word in &rest[1..] {
        count += 1;
        match word {
            Word::Other("(") => depth += 1,
            Word::Other(")") => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    (rest[2..count - 1].iter().map(Word::text).collect(), count)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn engine(float: bool) -> Engine<'static> {
        let numbers = [
            ("LGM_STATES", 2),
            ("LGM_INPUTS", 0),
            ("LGM_EVENTS", 0),
            ("LGM_BENDS", 1),
        ];
        Engine {
            name: "Motor",
            float,
            numbers: numbers.into_iter().collect(),
        }
    }

    #[test]
    fn conditions_are_decided_and_others_stay() {
        let text = "a\n#if LGM_EVENTS\nb\n#if LGM_BENDS\nc\n#endif\n#else\nd\n#endif\n#ifdef __cplusplus\ne\n#endif\n\
                    #if LGM_EVENTS || LGM_BENDS\nf\n#endif\n#if OTHER < 7\ng\n#else\nh\n#endif\n";
        assert_eq!(
            engine(false).source(text),
            "a\nd\n#ifdef __cplusplus\ne\n#endif\nf\n#if OTHER < 7\ng\n#else\nh\n#endif\n"
        );
    }

    #[test]
    fn names_and_numbers_are_those_of_the_model() {
        let text = "#include \"lgm_run.h\"\n/* As lgm_run, real of lgm_run.h. */\nstatic real a[LGM_ROOM(2 * LGM_INPUTS)] = \
                    {(real)0.5 * lgm_fabs(x)};\nlgm_real b[LGM_ROOM(LGM_STATES)]; f(\"lgm_run\");\n";
        let expected = "#include \"lgm_run.h\"\n/* As Motor_run, real of lgm_run.h. */\nstatic double a[1] = \
                        {0.5 * fabs(x)};\ndouble b[Motor_STATES]; f(\"lgm_run\");\n";
        assert_eq!(engine(false).source(text), expected);
        assert_eq!(engine(true).source("f(u LGM_DU(, du), x)").trim_end(), "f(u, x)");
        let conversions = "(wide)x + (narrow)y + (real)(1.0 / 3.0) + (real)-0.2 + (real)n + (double)steps;\n";
        assert_eq!(
            engine(false).source(conversions),
            "x + y + (1.0 / 3.0) + -0.2 + (double)n + (double)steps;\n"
        );
        assert_eq!(
            engine(true).source(conversions),
            "(double)x + (float)y + (float)(1.0 / 3.0) + (float)-0.2 + (float)n + (double)steps;\n"
        );
        let single = expected
            .replace("double", "float")
            .replace("0.5", "0.5F")
            .replace("fabs", "fabsf");
        assert_eq!(engine(true).source(text), single);
    }
}
