//! Templates: texts in a target's folder with placeholders for model-specific parts.
//!
//! `@key@` is replaced by its value. `@if key@`, `@else@` and `@end@` occupy their own lines; the enclosed text is kept if the
//! value holds: a nonempty text, a nonzero number, a true flag, or an existing group. Conditions may be nested.
//!
//! The values of a template are a struct, declared by [`values!`], so no value can be omitted. [`template!`] reads a
//! template with the type of its values; a key without a value is a compile-time error.

use super::keys::{Keys, Line, first_fault, first_key};
use std::borrow::Cow;
use std::marker::PhantomData;

/// The value of a key.
pub(crate) trait Value {
    /// Returns the text of the value.
    fn text(&self) -> Cow<'_, str>;
    /// Returns true if conditions on the key hold.
    fn holds(&self) -> bool;
}

impl Value for String {
    fn text(&self) -> Cow<'_, str> {
        Cow::Borrowed(self)
    }

    fn holds(&self) -> bool {
        !self.is_empty()
    }
}

impl Value for &'static str {
    fn text(&self) -> Cow<'_, str> {
        Cow::Borrowed(self)
    }

    fn holds(&self) -> bool {
        !self.is_empty()
    }
}

impl Value for usize {
    fn text(&self) -> Cow<'_, str> {
        Cow::Owned(self.to_string())
    }

    fn holds(&self) -> bool {
        *self != 0
    }
}

impl Value for bool {
    fn text(&self) -> Cow<'_, str> {
        Cow::Borrowed(if *self { "true" } else { "false" })
    }

    fn holds(&self) -> bool {
        *self
    }
}

/// Values of keys; [`values!`] declares them.
pub(crate) trait Values {
    /// The keys.
    const KEYS: &'static Keys;
    /// Returns the value of a key that is requested as a text or as a condition; none if no group contains the key.
    fn find(&self, key: &str) -> Option<&dyn Value>;
    /// Returns true if the condition of a key holds.
    fn holds(&self, key: &str) -> bool;
}

/// Declares the values of templates: a struct with a field for each key.
///
/// `..field: Group;` includes the keys of another struct. `?field: Group;` does the same for an optional struct
/// (`Option<Group>`): its keys may only appear between `@if field@` and the matching `@else@` or `@end@`.
macro_rules! values {
    ($(#[$meta:meta])* $visibility:vis struct $name:ident {
        $(..$group:ident: $type:ty;)*
        $(?$option:ident: $kind:ty;)*
        $($key:ident: $value:ty,)*
    }) => {
        $(#[$meta])*
        #[derive(Clone)]
        $visibility struct $name {
            $($visibility $group: $type,)*
            $($visibility $option: Option<$kind>,)*
            $($visibility $key: $value,)*
        }

        impl $crate::code::template::Values for $name {
            const KEYS: &'static $crate::code::keys::Keys = &$crate::code::keys::Keys {
                own: &[$(stringify!($key)),*],
                groups: &[
                    $($crate::code::keys::Group {
                        guard: None,
                        keys: <$type as $crate::code::template::Values>::KEYS,
                    },)*
                    $($crate::code::keys::Group {
                        guard: Some(stringify!($option)),
                        keys: <$kind as $crate::code::template::Values>::KEYS,
                    },)*
                ],
            };

            fn find(&self, key: &str) -> Option<&dyn $crate::code::template::Value> {
                match key {
                    $(stringify!($key) => Some(&self.$key),)*
                    _ => None
                        $(.or_else(|| self.$group.find(key)))*
                        $(.or_else(|| self.$option.as_ref()?.find(key)))*,
                }
            }

            fn holds(&self, key: &str) -> bool {
                match key {
                    $(stringify!($option) => self.$option.is_some(),)*
                    _ => self.find(key).is_some_and($crate::code::template::Value::holds)
                        $(|| self.$group.holds(key))*
                        $(|| self.$option.as_ref().is_some_and(|group| group.holds(key)))*,
                }
            }
        }

        const _: () = $crate::code::keys::assert_apart(
            stringify!($name),
            <$name as $crate::code::template::Values>::KEYS,
        );
    };
}

/// Creates a template from its path in a package, itself a template, and the file next to the source.
macro_rules! template {
    ($path:literal, $file:literal) => {
        const { $crate::code::template::Template::new($path, $file, include_str!($file)) }
    };
}

pub(crate) use {template, values};

/// A template that uses only keys of its values.
pub(crate) struct Template<V> {
    path: &'static str,
    text: &'static str,
    values: PhantomData<fn(&V)>,
}

impl<V: Values> Template<V> {
    /// Checks the path and the text; [`template!`] calls this function at compile time.
    pub(crate) const fn new(path: &'static str, file: &'static str, text: &'static str) -> Template<V> {
        if let Some(fault) = first_fault(path, V::KEYS) {
            fault.raise(path);
        }
        if let Some(fault) = first_fault(text, V::KEYS) {
            fault.raise(file);
        }
        Template {
            path,
            text,
            values: PhantomData,
        }
    }

    /// Returns the path of the file in its package.
    pub(crate) fn path(&self, values: &V) -> String {
        fill(self.path, values).trim_end().to_string()
    }

    /// Returns the contents of the file.
    pub(crate) fn text(&self, values: &V) -> String {
        fill(self.text, values)
    }

    /// Returns the path and the contents of the file.
    pub(crate) fn file(&self, values: &V) -> (String, String) {
        (self.path(values), self.text(values))
    }
}

/// Fills in a template.
fn fill(template: &str, values: &impl Values) -> String {
    let mut text = String::with_capacity(2 * template.len());
    // For every open condition, true if the lines here are kept.
    let mut kept: Vec<bool> = Vec::new();
    for line in template.lines() {
        match Line::of(line) {
            Line::If(key) => kept.push(values.holds(key)),
            Line::Else => {
                let last = kept.last_mut().expect("invariant: `@else@` stands behind `@if ..@`");
                *last = !*last;
            }
            Line::End => {
                kept.pop().expect("invariant: `@end@` stands behind `@if ..@`");
            }
            Line::Text => {
                if kept.iter().all(|kept| *kept) {
                    replace(line, values, &mut text);
                    text.push('\n');
                }
            }
        }
    }
    text
}

/// Replaces the keys of one line; an `@` that encloses no key stays unchanged.
fn replace(line: &str, values: &impl Values, text: &mut String) {
    let mut rest = line;
    while let Some((before, key, behind)) = first_key(rest) {
        let value = values
            .find(key)
            .expect("invariant: a template names keys of its values");
        text.push_str(before);
        text.push_str(&value.text());
        rest = behind;
    }
    text.push_str(rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    values! {
        struct Inner {
            count: usize,
        }
    }

    values! {
        struct Outer {
            ..always: Inner;
            ?perhaps: Further;
            name: &'static str,
            yes: bool,
            no: bool,
        }
    }

    values! {
        struct Further {
            more: String,
        }
    }

    fn outer(more: Option<&str>) -> Outer {
        Outer {
            always: Inner { count: 3 },
            perhaps: more.map(|more| Further { more: more.to_string() }),
            name: "A",
            yes: true,
            no: false,
        }
    }

    #[test]
    fn keys_are_replaced_and_conditions_kept() {
        let template = "x @name@_y@name@ a@b.c\n@if yes@\n@count@\n@if no@\n2\n@else@\n3\n@end@\n@end@\n";
        assert_eq!(first_fault(template, Outer::KEYS), None);
        assert_eq!(fill(template, &outer(None)), "x A_yA a@b.c\n3\n3\n");
    }

    #[test]
    fn groups_may_be_absent() {
        let template = "@if perhaps@\n@more@\n@else@\nnone\n@end@\n";
        assert_eq!(first_fault(template, Outer::KEYS), None);
        assert_eq!(fill(template, &outer(Some("1"))), "1\n");
        assert_eq!(fill(template, &outer(None)), "none\n");
    }

    #[test]
    #[should_panic(expected = "run.c: its values have no such key here: `nme`")]
    fn messages_name_the_template() {
        Template::<Outer>::new("@name@_run.c", "run.c", "@nme@");
    }
}
