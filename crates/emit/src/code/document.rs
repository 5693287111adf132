//! Packages whose only file is written by another emitter of this crate: the equations as JSON and as LaTeX.

use super::Package;
use super::names::{Rules, legal};
use super::subject::Subject;
use crate::{MatrixOptions, json, latex};

/// The rules for file names: any letters and digits.
const RULES: Rules = Rules {
    reserved: "",
    ignores_case: true,
    snake: false,
};

/// Returns the equations in the schema `lgm-equations/1`.
pub(super) fn json_package(subject: &Subject<'_>) -> Package {
    let mut contents = Vec::new();
    json(subject.system, MatrixOptions::default(), &mut contents)
        .expect("invariant: a vector takes all that is written");
    let what = "The state equations in the schema `lgm-equations/1`, as `lgm equations --format json` prints them.";
    package(subject, "json", contents, what)
}

/// Returns the equations as a LaTeX document.
pub(super) fn latex_package(subject: &Subject<'_>) -> Package {
    let contents = latex(subject.system, MatrixOptions::default());
    let what = "The state equations for LaTeX, as `lgm equations --format latex` prints them.";
    package(subject, "tex", contents.into_bytes(), what)
}

fn package(subject: &Subject<'_>, ending: &str, contents: Vec<u8>, what: &str) -> Package {
    let (model, origin) = (&subject.system.model, subject.origin.sentence());
    let name = format!("{}.{ending}", legal(model, RULES));
    let mut package = Package::default();
    let description = match subject.description.as_str() {
        "" => String::new(),
        text => format!("{text}\n\n"),
    };
    let readme = format!("# {model}\n\n{origin}\n\n{description}`{name}`: {what}\n");
    package.add("README.md", readme);
    package.add(name, contents);
    package
}
