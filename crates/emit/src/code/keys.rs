//! Keys of templates, and whether a template names no others. All of it is evaluated while lgm is compiled, and so written without
//! loops over iterators.

/// The keys of a group of values.
pub(crate) struct Keys {
    /// Those of the group itself.
    pub(crate) own: &'static [&'static str],
    /// Those of the groups within it.
    pub(crate) groups: &'static [Group],
}

/// A group of values within another one.
pub(crate) struct Group {
    /// The name under which conditions ask whether the group is there; none where it always is.
    pub(crate) guard: Option<&'static str>,
    pub(crate) keys: &'static Keys,
}

/// What a line of a template is.
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
            // There is no key of this name, and the error says so.
            false => Line::If(word),
        }
    }
}

/// What stands before the first `@key@` of a line, the key, and what stands behind.
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

/// The conditions that are open at a line, each with whether the line stands before its `@else@`.
struct Open<'t> {
    list: [(&'t str, bool); Open::MOST],
    count: usize,
}

impl Open<'_> {
    const MOST: usize = 8;

    /// Whether the lines here are only kept where a condition holds.
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
    /// Whether there is a value for a key, as a text or as a condition, wherever these conditions hold.
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

    /// How many times a key is declared, here and in all groups.
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

    /// A key of these that is declared more than once in `all`.
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

/// Ends the compilation where a key would hide another one of the same name.
pub(crate) const fn assert_apart(name: &str, keys: &Keys) {
    if let Some(key) = keys.first_repeated(keys) {
        Fault::new("declare this key more than once", key).raise(name);
    }
}

/// What is wrong with a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fault<'t> {
    what: &'static str,
    /// The key that it is about, or nothing.
    key: &'t str,
}

impl<'t> Fault<'t> {
    const fn new(what: &'static str, key: &'t str) -> Fault<'t> {
        Fault { what, key }
    }

    /// Ends the compilation with a message; code that is evaluated while compiling cannot format one.
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
const NO_CONDITION: &str = "this line ends or turns a condition that was not begun, or was turned before";
const NO_END: &str = "this condition has no `@end@`";
const TOO_DEEP: &str = "this condition stands within too many others";

/// What is wrong with a template that is filled with the values of these keys; nothing if it is in order.
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

/// The first line of a text, and what stands behind its end.
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
