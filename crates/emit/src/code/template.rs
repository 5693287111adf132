//! Templates: texts of a target's folder with places for what differs from model to model.
//!
//! `@key@` is replaced by its value. Lines `@if key@`, `@else@`, `@end@` stand alone; what they enclose is kept where the
//! value holds: a text that is not empty, a number that is not 0, a flag, or a group that is there. They may be nested.
//!
//! The values of a template are a struct, declared by [`values!`], so that none can be left out. [`template!`] reads a
//! template with the type of its values, and a key that these do not have is an error when lgm is compiled.

use super::keys::{Keys, Line, first_fault, first_key};
use std::borrow::Cow;
use std::marker::PhantomData;

/// What stands for a key.
pub(crate) trait Value {
    /// Its text.
    fn text(&self) -> Cow<'_, str>;
    /// Whether conditions of the key hold.
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
    /// The value of a key that is asked for as a text or as a condition; none where no group has it.
    fn find(&self, key: &str) -> Option<&dyn Value>;
    /// Whether the condition of a key holds.
    fn holds(&self, key: &str) -> bool;
}

/// Declares the values of templates: a struct with a field for each key.
///
/// `..field: Group;` takes the keys of another struct in. `?field: Group;` does the same where that struct is there
/// (`Option<Group>`): its keys may only stand between `@if field@` and the `@else@` or `@end@` that belongs to it.
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

/// A template, from the path of its file in a package, itself a template, and the file that holds it beside the source.
macro_rules! template {
    ($path:literal, $file:literal) => {
        const { $crate::code::template::Template::new($path, $file, include_str!($file)) }
    };
}

pub(crate) use {template, values};

/// A template whose keys are among those of its values.
pub(crate) struct Template<V> {
    path: &'static str,
    text: &'static str,
    values: PhantomData<fn(&V)>,
}

impl<V: Values> Template<V> {
    /// Checks the path and the text; [`template!`] does so while lgm is compiled.
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

    /// The path of the file in its package.
    pub(crate) fn path(&self, values: &V) -> String {
        fill(self.path, values).trim_end().to_string()
    }

    /// What the file holds.
    pub(crate) fn text(&self, values: &V) -> String {
        fill(self.text, values)
    }

    /// The path and what the file holds.
    pub(crate) fn file(&self, values: &V) -> (String, String) {
        (self.path(values), self.text(values))
    }
}

/// Fills a template in.
fn fill(template: &str, values: &impl Values) -> String {
    let mut text = String::with_capacity(2 * template.len());
    // Whether the lines here are kept, for every condition that is open.
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

/// Replaces the keys of one line; an `@` that encloses no key stays.
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
