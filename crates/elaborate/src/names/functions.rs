//! Names of called functions, and the functions and constants outside of models.

use crate::function_table::{DELAY, MEASURES, TABLE, function_names, is_function};
use crate::names::checker::Checker;
use crate::syntax_queries::value_parts;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_source::nearest::{corrections, did_you_mean, suggestion};
use lgm_syntax::ast::{self, Expr, ExprKind, Name};

/// A function of other languages, and its replacement.
struct Elsewhere {
    name: &'static str,
    help: &'static str,
    /// The equivalent function with a different name.
    renamed: Option<&'static str>,
}

const fn elsewhere(name: &'static str, help: &'static str, renamed: Option<&'static str>) -> Elsewhere {
    Elsewhere { name, help, renamed }
}

/// Names that users of other languages expect.
const ELSEWHERE: [Elsewhere; 12] = [
    elsewhere("limit", "`min(max(x, low), high)` keeps a value within limits", None),
    elsewhere("clamp", "`min(max(x, low), high)` keeps a value within limits", None),
    elsewhere("saturate", "`min(max(x, low), high)` keeps a value within limits", None),
    elsewhere("ln", "`log(x)` is the natural logarithm", Some("log")),
    elsewhere(
        "csv",
        "a file belongs in a table, `table t = csv(\"file.csv\");`, or is the whole signal of an input",
        None,
    ),
    elsewhere("pow", "write `x^n`", None),
    elsewhere("sgn", "write `sign(x)`", Some("sign")),
    elsewhere("integrate", "write `int(x)`", Some("int")),
    elsewhere(
        "voltage",
        "write `across(c)` for an element or a node `c`",
        Some("across"),
    ),
    elsewhere("current", "write `through(c)` for an element `c`", Some("through")),
    elsewhere(
        "pressure",
        "write `across(c)` for an element or a node `c`",
        Some("across"),
    ),
    elsewhere(
        "temperature",
        "write `across(c)` for an element or a node `c`",
        Some("across"),
    ),
];

/// Checks the name of a called function; `tables` are those in scope.
pub(crate) fn check_function<'t>(checker: &mut Checker, name: &Name, tables: impl Iterator<Item = &'t str> + Clone) {
    let is_known = is_function(&name.text)
        || checker.program.function(&name.text, name.span.source).is_some()
        || tables.clone().any(|table| table == &*name.text);
    if is_known || !checker.is_looking() {
        return;
    }
    let program = checker.program;
    let mut all: Vec<String> = function_names().map(str::to_string).collect();
    all.extend(program.functions().map(str::to_string));
    all.extend(tables.map(str::to_string));
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    let mut diagnostic =
        Diagnostic::error(Code::LGM0145, format!("there is no function `{}`", name.text)).label(name.span, "unknown");
    let elsewhere = ELSEWHERE.iter().find(|entry| entry.name == &*name.text);
    let suggested = match elsewhere {
        Some(_) => None,
        None => suggestion(&name.text, all.iter().copied()),
    };
    diagnostic.fixes = match elsewhere.map(|entry| entry.renamed) {
        Some(Some(plain)) => corrections(name.span, plain, [plain]),
        Some(None) => Box::default(),
        None => corrections(name.span, &name.text, all.iter().copied()),
    };
    diagnostic.help = Some(match (elsewhere, suggested) {
        (Some(entry), _) => entry.help.to_string(),
        _ if &*name.text == TABLE => {
            "a table of modes belongs in `modes = table(\"modes.csv\")` of a modal block".to_string()
        }
        (None, Some(near)) => format!("did you mean `{near}`?"),
        (None, None) => format!("the functions are `{}`", all.join("`, `")),
    });
    checker.report(diagnostic);
}

/// Checks the names in a function: its value sees its arguments and the constants of the program.
pub(crate) fn check_user_function<'a>(checker: &mut Checker<'a>, function: &'a ast::Function) {
    let mut names: Vec<&str> = Vec::new();
    for formal in &function.formals {
        if let Some(default) = &formal.default {
            apart(checker, default, &mut names);
        }
        names.push(&formal.name.text);
    }
    apart(checker, &function.value, &mut names);
}

/// Checks the names in a constant outside of models.
pub(crate) fn check_constant<'a>(checker: &mut Checker<'a>, constant: &'a ast::Const) {
    if let Some(value) = &constant.assigned.value {
        apart(checker, value, &mut Vec::new());
    }
}

fn apart<'a>(checker: &mut Checker<'a>, expr: &'a Expr, names: &mut Vec<&'a str>) {
    match &expr.kind {
        ExprKind::Name(name) => {
            let text = &*name.text;
            let is_known = matches!(text, "time" | "pi")
                || names.contains(&text)
                || checker.program.constant(text, name.span.source).is_some();
            if is_known || !checker.is_looking() {
                return;
            }
            let diagnostic = Diagnostic::error(Code::LGM0110, format!("`{text}` is not declared here"))
                .label(name.span, "not declared")
                .note("a function sees only its arguments and the constants outside of models");
            let help = did_you_mean(text, names.iter().copied()).unwrap_or(format!("add an argument `{text}`"));
            checker.report(diagnostic.help(help));
        }
        ExprKind::Call(name, arguments) => {
            if MEASURES.contains(&&*name.text) || matches!(&*name.text, "int" | "der" | "before" | DELAY) {
                let diagnostic = Diagnostic::error(
                    Code::LGM0126,
                    format!("`{}(..)` is not allowed in a function", name.text),
                )
                .label(expr.span, "a function depends only on its arguments")
                .help("pass the measured value as an argument");
                return checker.report(diagnostic);
            }
            check_function(checker, name, std::iter::empty());
            arguments
                .iter()
                .for_each(|argument| apart(checker, &argument.value, names));
        }
        ExprKind::Over(over) => {
            apart(checker, &over.from, names);
            apart(checker, &over.to, names);
            let shadowed = names.iter().position(|name| *name == &*over.index.text);
            if shadowed.is_some() {
                let message = format!("`{}` is declared twice", over.index.text);
                let diagnostic = Diagnostic::error(Code::LGM0107, message)
                    .label(over.index.span, "an argument of the function has the same name")
                    .help("rename one of the two");
                checker.report(diagnostic);
            }
            names.push(&over.index.text);
            apart(checker, &over.body, names);
            names.pop();
        }
        ExprKind::Member(owner, _) => {
            let diagnostic = Diagnostic::error(Code::LGM0119, "a function has no access to parts of a model")
                .label(owner.span, "not declared here")
                .help("pass the value as an argument");
            checker.report(diagnostic);
        }
        _ => value_parts(expr, &mut |child| apart(checker, child, names)),
    }
}
