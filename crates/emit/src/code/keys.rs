//! Keys of templates, and the check that a template uses only known keys. Everything is evaluated while lgm is compiled, hence without
//! iterators.

/// The keys of a group of values.
pub(crate) struct Keys {
    /// The keys of the group itself.
    pub(crate) own: &'static [&'static str],
    /// The groups nested in this one.
    pub(crate) groups: &'static [Group],
}

/// A group of values inside another group.
pub(crate) struct Group {
    /// The name under which conditions test for the group; none if it always exists.
    pub(crate) guard: Option<&'static str>,
    pub(crate) keys: &'static Keys,
}

/// The kind of a template line.
pub(super) enum Line<'t> {
    If(&'t str),
    Else,
    End,
    Text,
}

impl Line<'_> {
    pub(super) const fn of(line: &str) -> Line<'_> {
        let word = line.trim_ascii();
        if same(word, "@else@") {
            return Line::Else;
        }
        if same(word, "@end@") {
            return Line::End;
        }
        const IF: &str = "@if ";
        if word.len() <= IF.len() || !same(word.split_at(IF.len()).0, IF) {
            return Line::Text;
        }
        let (condition, end) = word.split_at(word.len() - 1);
        match same(end, "@") {
            true => Line::If(condition.split_at(IF.len()).1),
            // No key has this name, and the error reports it.
            false => Line::If(word),
        }
    }
}

/// Splits a line at its first `@key@`: the text before it, the key, and the text after it.
pub(super) const fn first_key(line: &str) -> Option<(&str, &str, &str)> {
    let bytes = line.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let mut end = at + 1;
        while bytes[at] == b'@' && end < bytes.len() && (bytes[end].is_ascii_alphanumeric() || bytes[end] == b'_') {
            end += 1;
        }
        if end > at + 1 && end < bytes.len() && bytes[end] == b'@' {
            let (rest, behind) = line.split_at(end);
            let (before, key) = rest.split_at(at);
            return Some((before, key.split_at(1).1, behind.split_at(1).1));
        }
        at += 1;
    }
    None
}

const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut at = 0;
    while at < a.len() && at < b.len() && a[at] == b[at] {
        at += 1;
    }
    at == a.len() && at == b.len()
}

/// The conditions that are open at a line, each with a flag that is true before its `@else@`.
struct Open<'t> {
    list: [(&'t str, bool); Open::MOST],
    count: usize,
}

impl Open<'_> {
    const MOST: usize = 8;

    /// Returns true if the lines here are kept only under a condition on this key.
    const fn ask(&self, key: &str) -> bool {
        let mut at = 0;
        while at < self.count {
            let (asked, holds) = self.list[at];
            if holds && same(asked, key) {
                return true;
            }
            at += 1;
        }
        false
    }
}

impl Keys {
    /// Returns true if a key has a value, as text or as a condition, whenever these conditions hold.
    const fn have(&self, key: &str, is_condition: bool, open: &Open<'_>) -> bool {
        if self.own_has(key) {
            return true;
        }
        let mut at = 0;
        while at < self.groups.len() {
            let group = &self.groups[at];
            let is_there = match group.guard {
                None => true,
                Some(guard) if is_condition && same(guard, key) => return true,
                Some(guard) => open.ask(guard),
            };
            if is_there && group.keys.have(key, is_condition, open) {
                return true;
            }
            at += 1;
        }
        false
    }

    const fn own_has(&self, key: &str) -> bool {
        let mut at = 0;
        while at < self.own.len() {
            if same(self.own[at], key) {
                return true;
            }
            at += 1;
        }
        false
    }

    /// Returns the number of declarations of a key, here and in all groups.
    const fn count(&self, key: &str) -> usize {
        let mut count = self.own_has(key) as usize;
        let mut at = 0;
        while at < self.groups.len() {
            let group = &self.groups[at];
            if let Some(guard) = group.guard {
                count += same(guard, key) as usize;
            }
            count += group.keys.count(key);
            at += 1;
        }
        count
    }

    /// Returns a key of this group that is declared more than once in `all`.
    const fn first_repeated(&self, all: &Keys) -> Option<&'static str> {
        let mut at = 0;
        while at < self.own.len() {
            if all.count(self.own[at]) > 1 {
                return Some(self.own[at]);
            }
            at += 1;
        }
        let mut at = 0;
        while at < self.groups.len() {
            let group = &self.groups[at];
            if let Some(guard) = group.guard
                && all.count(guard) > 1
            {
                return Some(guard);
            }
            if let Some(key) = group.keys.first_repeated(all) {
                return Some(key);
            }
            at += 1;
        }
        None
    }
}

/// Fails the compilation if a key would hide another key with the same name.
pub(crate) const fn assert_apart(name: &str, keys: &Keys) {
    if let Some(key) = keys.first_repeated(keys) {
        Fault::new("declare this key more than once", key).raise(name);
    }
}

/// An error in a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fault<'t> {
    what: &'static str,
    /// The affected key, or nothing.
    key: &'t str,
}

impl<'t> Fault<'t> {
    const fn new(what: &'static str, key: &'t str) -> Fault<'t> {
        Fault { what, key }
    }

    /// Fails the compilation with a message; code that is evaluated at compile time cannot format one.
    pub(super) const fn raise(self, place: &str) {
        let mut message = [b' '; 160];
        let mut length = 0;
        let parts = [place, ": ", self.what, ": `", self.key, "`"];
        let mut part = 0;
        while part < parts.len() {
            let bytes = parts[part].as_bytes();
            let mut at = 0;
            while at < bytes.len() && length < message.len() {
                message[length] = bytes[at];
                at += 1;
                length += 1;
            }
            part += 1;
        }
        match std::str::from_utf8(message.split_at(length).0) {
            Ok(message) => panic!("{}", message),
            Err(_) => panic!("{}", self.what),
        }
    }
}

const UNKNOWN: &str = "its values have no such key here";
const NO_CONDITION: &str = "this line ends or inverts a condition that was not opened, or was already inverted";
const NO_END: &str = "this condition has no `@end@`";
const TOO_DEEP: &str = "this condition is nested too deeply";

/// Returns the first error of a template that is filled with the values of these keys, if any.
pub(super) const fn first_fault<'t>(template: &'t str, keys: &Keys) -> Option<Fault<'t>> {
    let mut open = Open {
        list: [("", false); Open::MOST],
        count: 0,
    };
    let mut rest = template;
    while !rest.is_empty() {
        let (line, behind) = first_line(rest);
        rest = behind;
        match Line::of(line) {
            Line::If(key) => {
                if !keys.have(key, true, &open) {
                    return Some(Fault::new(UNKNOWN, key));
                }
                if open.count == Open::MOST {
                    return Some(Fault::new(TOO_DEEP, key));
                }
                open.list[open.count] = (key, true);
                open.count += 1;
            }
            Line::Else => {
                if open.count == 0 || !open.list[open.count - 1].1 {
                    return Some(Fault::new(NO_CONDITION, "@else@"));
                }
                open.list[open.count - 1].1 = false;
            }
            Line::End => {
                if open.count == 0 {
                    return Some(Fault::new(NO_CONDITION, "@end@"));
                }
                open.count -= 1;
            }
            Line::Text => {
                let mut rest = line;
                while let Some((_, key, behind)) = first_key(rest) {
                    if !keys.have(key, false, &open) {
                        return Some(Fault::new(UNKNOWN, key));
                    }
                    rest = behind;
                }
            }
        }
    }
    match open.count {
        0 => None,
        count => Some(Fault::new(NO_END, open.list[count - 1].0)),
    }
}

/// Returns the first line of a text, and the text after its line break.
const fn first_line(text: &str) -> (&str, &str) {
    let bytes = text.as_bytes();
    let mut end = 0;
    while end < bytes.len() && bytes[end] != b'\n' {
        end += 1;
    }
    let (line, rest) = text.split_at(end);
    match rest.is_empty() {
        true => (line, rest),
        false => (line, rest.split_at(1).1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTER: Keys = Keys {
        own: &["name", "yes", "no"],
        groups: &[
            Group {
                guard: None,
                keys: &Keys {
                    own: &["count"],
                    groups: &[],
                },
            },
            Group {
                guard: Some("perhaps"),
                keys: &Keys {
                    own: &["more"],
                    groups: &[],
                },
            },
        ],
    };

    #[test]
    fn faults_of_templates_are_found() {
        for (template, what, key) in [
            ("@name@ @nme@", UNKNOWN, "nme"),
            ("@if nme@\n@end@", UNKNOWN, "nme"),
            ("@if name\n@end@", UNKNOWN, "@if name"),
            // The group may be absent there.
            ("@more@", UNKNOWN, "more"),
            ("@if perhaps@\n@else@\n@more@\n@end@", UNKNOWN, "more"),
            ("@if perhaps@\n@perhaps@\n@end@", UNKNOWN, "perhaps"),
            ("x @else@", UNKNOWN, "else"),
            ("@if yes@\n@if no@\n@end@", NO_END, "yes"),
            ("@if yes@\n@end@\n@end@", NO_CONDITION, "@end@"),
            ("@if yes@\n@else@\n@else@\n@end@", NO_CONDITION, "@else@"),
        ] {
            assert_eq!(first_fault(template, &OUTER), Some(Fault::new(what, key)), "{template}");
        }
    }

    #[test]
    #[should_panic(expected = "Twice: declare this key more than once: `name`")]
    fn keys_hide_no_others() {
        let again = Keys {
            own: &["name"],
            groups: &[Group {
                guard: None,
                keys: &OUTER,
            }],
        };
        assert_apart("Twice", &again);
    }
}
