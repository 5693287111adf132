//! Names and words in TeX notation.

use crate::expr::Exprs;
use rustc_hash::{FxHashMap, FxHashSet};

/// Formats a name as LaTeX: Greek names as letters; trailing digits, indices and the owner's name as subscripts.
fn latex_name(name: &str) -> String {
    if let Some(inner) = rate_of(name) {
        let inner = latex_name(inner);
        // The dot is over the letter, and not over its subscripts.
        return match inner.split_once("_{") {
            Some((letter, subscripts)) if !letter.ends_with('\\') => format!("\\dot{{{letter}}}_{{{subscripts}"),
            _ => format!("\\dot{{{inner}}}"),
        };
    }
    let NameParts {
        stem,
        tail,
        owner,
        index,
    } = parts_of(name);
    let mut subscripts = Vec::new();
    if !tail.is_empty() {
        let plain = tail.len() == 1 || tail.chars().all(|c| c.is_ascii_digit());
        subscripts.push(if plain {
            escaped(tail, Mode::Formula)
        } else {
            format!("\\mathrm{{{}}}", escaped(tail, Mode::Formula))
        });
    }
    if !owner.is_empty() {
        subscripts.push(format!("\\mathrm{{{}}}", escaped(owner, Mode::Formula)));
    }
    if !index.is_empty() {
        subscripts.push(escaped(index, Mode::Formula));
    }
    let letter = if GREEK.contains(&stem) {
        format!("\\{stem}")
    } else if stem.chars().count() == 1 {
        escaped(stem, Mode::Formula)
    } else {
        format!("\\mathit{{{}}}", escaped(stem, Mode::Formula))
    };
    if subscripts.is_empty() {
        return letter;
    }
    format!("{letter}_{{{}}}", subscripts.join(","))
}

/// Returns the input of which this is the time derivative: rates are separate symbols, named after the input.
pub(super) fn rate_of(name: &str) -> Option<&str> {
    name.strip_prefix("der(")?.strip_suffix(')')
}

/// Returns the names with the letter and the subscripts of another name: `P_tank` and `tank.P`.
fn alike<'n>(names: impl Iterator<Item = &'n str>) -> FxHashSet<Box<str>> {
    let mut first: FxHashMap<String, &str> = FxHashMap::default();
    let mut found = FxHashSet::default();
    for name in names {
        let parts = parts_of(name);
        let subscripts = [parts.tail, parts.owner, parts.index];
        let subscripts: Vec<&str> = subscripts.into_iter().filter(|part| !part.is_empty()).collect();
        let other = *first
            .entry(format!("{} {}", parts.stem, subscripts.join(" ")))
            .or_insert(name);
        if other != name {
            found.extend([other, name].map(Box::from));
        }
    }
    found
}

impl Exprs {
    /// Formats a name as LaTeX: Greek names as letters; trailing digits, indices and the owner's name as subscripts. The name is unchanged
    /// if it would look like another one.
    pub fn latex_name(&self, name: &str) -> String {
        if !self.looks_like_another(rate_of(name).unwrap_or(name)) {
            return latex_name(name);
        }
        let written = |name| format!("\\mathtt{{{}}}", escaped(name, Mode::Formula));
        match rate_of(name) {
            Some(inner) => format!("\\dot{{{}}}", written(inner)),
            None => written(name),
        }
    }

    /// Returns true if another symbol or output has the same letter with the same subscripts. Names added after the first call are ignored.
    pub(super) fn looks_like_another(&self, name: &str) -> bool {
        let names = self.symbols.iter().map(|symbol| &*symbol.name);
        let alike = self
            .alike
            .get_or_init(|| alike(names.chain(self.outputs.iter().map(|name| &**name))));
        alike.contains(name)
    }
}

/// A split name: `cell[2].c.v_x[1]` is the quantity `v` with the tail `x` and the index `1`, in `cell[2].c`.
pub(super) struct NameParts<'n> {
    pub(super) stem: &'n str,
    pub(super) tail: &'n str,
    pub(super) owner: &'n str,
    pub(super) index: &'n str,
}

/// Splits a name; trailing digits are a tail too.
pub(super) fn parts_of(name: &str) -> NameParts<'_> {
    let (owner, member) = match name.rfind('.') {
        Some(dot) => (&name[..dot], &name[dot + 1..]),
        None => ("", name),
    };
    let (base, index) = match member.find('[') {
        Some(at) => (&member[..at], member[at + 1..].trim_end_matches(']')),
        None => (member, ""),
    };
    let (stem, tail) = match base.find('_') {
        Some(at) if at > 0 && at + 1 < base.len() => (&base[..at], &base[at + 1..]),
        _ => {
            let digits = base.len() - base.trim_end_matches(|c: char| c.is_ascii_digit()).len();
            base.split_at(base.len() - if digits < base.len() { digits } else { 0 })
        }
    };
    NameParts {
        stem,
        tail,
        owner,
        index,
    }
}

/// The letters that have LaTeX commands.
pub(super) const GREEK: [&str; 34] = [
    "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu", "nu", "xi",
    "pi", "rho", "sigma", "tau", "upsilon", "phi", "chi", "psi", "omega", "Gamma", "Delta", "Theta", "Lambda", "Xi",
    "Pi", "Sigma", "Upsilon", "Phi", "Psi", "Omega",
];

/// The context of a text in a TeX document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Between dollars.
    Formula,
    /// In running text.
    Text,
}

/// Escapes TeX's special characters in a text.
pub fn escaped(text: &str, mode: Mode) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match (c, mode) {
            ('_' | '%' | '#' | '&' | '$' | '{' | '}', _) => {
                escaped.push('\\');
                escaped.push(c);
            }
            ('\\', Mode::Formula) => escaped.push_str("\\backslash "),
            ('^', Mode::Formula) => escaped.push_str("\\wedge "),
            ('~', Mode::Formula) => escaped.push_str("\\sim "),
            ('\\', Mode::Text) => escaped.push_str("\\textbackslash{}"),
            ('^', Mode::Text) => escaped.push_str("\\textasciicircum{}"),
            ('~', Mode::Text) => escaped.push_str("\\textasciitilde{}"),
            _ => escaped.push(c),
        }
    }
    escaped
}
