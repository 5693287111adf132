//! The names in a row, and their replacements when the row's indices are written differently.

use rustc_hash::FxHashMap;
use std::ops::Range;

/// Names with indices, and their replacements.
#[derive(Debug)]
pub(crate) struct Names(FxHashMap<String, String>);

impl Names {
    /// Maps the names in the cells of a row to those in another notation of the same cells; none if a name would need two replacements.
    pub(crate) fn between(own: &[String], now: &[String]) -> Option<Names> {
        let mut found: FxHashMap<String, String> = FxHashMap::default();
        if own.len() != now.len() {
            return None;
        }
        for (own, now) in own.iter().zip(now) {
            let (all, others) = (places(own), places(now));
            if all.len() != others.len() {
                return None;
            }
            for (one, other) in all.into_iter().zip(others) {
                let (one, other) = (&own[one], &now[other]);
                match found.get(one) {
                    Some(before) if before == other => {}
                    Some(_) => return None,
                    None => _ = found.insert(one.to_string(), other.to_string()),
                }
            }
        }
        Some(Names(found))
    }

    /// Replaces the names in a text.
    pub(crate) fn put_into(&self, text: &str) -> String {
        let mut written = String::with_capacity(text.len());
        let mut from = 0;
        for place in places(text) {
            written.push_str(&text[from..place.start]);
            let name = &text[place.clone()];
            written.push_str(self.0.get(name).map_or(name, |other| other));
            from = place.end;
        }
        written.push_str(&text[from..]);
        written
    }
}

/// Returns the positions of names with indices, such as `cell[3].c.v`; numbers and their exponents are not
/// names.
fn places(text: &str) -> Vec<Range<usize>> {
    let mut places = Vec::new();
    let mut at = 0;
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '.';
    while let Some(letter) = text[at..].chars().next() {
        if !is_part(letter) {
            at += letter.len_utf8();
            continue;
        }
        let start = at;
        let mut has_index = false;
        loop {
            at += text[at..].find(|letter| !is_part(letter)).unwrap_or(text.len() - at);
            let bracket = text[at..].starts_with('[').then(|| text[at..].find(']')).flatten();
            match bracket {
                Some(length) => at += length + 1,
                None => break,
            }
            has_index = true;
        }
        if has_index {
            places.push(start..at);
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(list: &[&str]) -> Vec<String> {
        list.iter().map(|text| text.to_string()).collect()
    }

    #[test]
    fn names_have_others_by_their_places() {
        let own = cells(&["der(c[3].l[1].v)", "= 2e5*c[4].v - [S1]*u[3]*K[2, 3]"]);
        let now = cells(&["der(c[i].l[j].v)", "= 2e5*c[i + 1].v - [S1]*u[i]*K[2, i]"]);
        let names = Names::between(&own, &now).unwrap();
        for (own, now) in own.iter().zip(&now) {
            assert_eq!(names.put_into(own), *now);
        }
        assert_eq!(names.put_into("der(u[3]) + c[5].v + c"), "der(u[i]) + c[5].v + c");
    }

    #[test]
    fn a_name_has_one_other() {
        assert!(Names::between(&cells(&["a[1] + a[1]"]), &cells(&["a[1] + a[2]"])).is_none());
        assert!(Names::between(&cells(&["a[1] + a[1]"]), &cells(&["a[1] + b"])).is_none());
    }
}
