//! Words of texts, and helpers for messages.

/// Returns the parts of a text that could be names or keywords; an empty part separates two adjacent other characters.
pub fn words_of(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !(letter.is_alphanumeric() || letter == '_'))
}

/// Returns true if a text contains a word, not only as a part of another word.
pub fn has_word(text: &str, word: &str) -> bool {
    words_of(text).any(|other| other == word)
}

/// Returns the word with `a` or `an` before it.
pub fn article(word: &str) -> String {
    let vowel = word.starts_with(['a', 'e', 'i', 'o', 'u']);
    format!("{} {word}", if vowel { "an" } else { "a" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stand_by_themselves() {
        assert!(has_word("a*mass_2(b)", "mass_2"));
        assert!(!has_word("a*mass_2(b)", "mass"));
        // A line of documentation does not begin with a word.
        assert_eq!(words_of("/// element").next(), Some(""));
    }
}
