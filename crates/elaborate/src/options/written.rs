//! Options of the form `target=value`, split into the target and the expression after the `=`.

use lgm_source::diagnostic::Diagnostic;
use lgm_source::{SourceId, SourceMap, Span};
use lgm_syntax::ast::Expr;
use lgm_syntax::parse_expression;

/// An option with its own source.
pub(crate) struct Written<'t> {
    source: SourceId,
    text: &'t str,
    /// The text before the `=`, without surrounding spaces.
    pub target: &'t str,
    pub target_span: Span,
    /// The byte after the `=`.
    pub value_at: usize,
}

impl<'t> Written<'t> {
    /// Splits an option; `malformed` reports a missing `=`.
    pub fn read(
        map: &'t SourceMap,
        source: SourceId,
        malformed: fn(Span, &str) -> Diagnostic,
    ) -> Result<Written<'t>, Diagnostic> {
        let text = &*map.get(source).text;
        let Some(at) = text.find('=') else {
            return Err(malformed(Span::new(source, 0, text.len()), "there is no `=`"));
        };
        let target = text[..at].trim();
        let start = text.find(target).unwrap_or(0);
        Ok(Written {
            source,
            text,
            target,
            target_span: Span::new(source, start, start + target.len()),
            value_at: at + 1,
        })
    }

    /// Returns the location of the whole option.
    pub fn whole(&self) -> Span {
        Span::new(self.source, 0, self.text.len())
    }

    /// Returns the expression after the `=`; its first error is passed to `malformed`.
    pub fn value(&self, malformed: fn(Span, &str) -> Diagnostic) -> Result<Expr, Diagnostic> {
        // The target is replaced by spaces, so that locations in the value are those in the whole option.
        let blanked = format!("{}{}", " ".repeat(self.value_at), &self.text[self.value_at..]);
        let (value, faults) = parse_expression(self.source, &blanked);
        let Some(fault) = faults.into_iter().find(Diagnostic::is_error) else {
            return Ok(value);
        };
        let label = fault.labels.first();
        let place = label.map_or(self.whole(), |label| label.span);
        let words = label.map(|label| &label.message).filter(|words| !words.is_empty());
        Err(malformed(place, words.unwrap_or(&fault.message)))
    }
}

/// Returns true if a word is a name of the language.
pub(crate) fn is_name(word: &str) -> bool {
    let mut letters = word.chars();
    letters
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}
