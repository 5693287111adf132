//! Words of texts, and small parts of sentences.

/// The parts of a text that could be names or words of the language; between two other letters that touch, the empty one.
pub fn words_of(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !(letter.is_alphanumeric() || letter == '_'))
}

/// Whether a text holds a word, by itself and not as a part of another one.
pub fn has_word(text: &str, word: &str) -> bool {
    words_of(text).any(|other| other == word)
}

/// `a` or `an` with a word.
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
