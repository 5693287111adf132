//! The errors of a modal block's body by itself.

use crate::function_table::{MEASURES, TABLE, is_function};
use crate::modal_rules::{MODAL_ARGUMENTS, Rules, free_names};
use crate::names::checker::Checker;
use crate::names::functions::check_function;
use crate::syntax_queries::value_parts;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_source::nearest::did_you_mean;
use lgm_syntax::ast::{self, Expr, ExprKind};

/// Checks the body of a modal block by itself.
pub(crate) fn check<'a>(checker: &mut Checker<'a>, modal: &'a ast::Modal) {
    if modal.domain.is_none() {
        checker.report(
            Diagnostic::error(
                Code::LGM0440,
                format!("the modal block `{}` has no domain", modal.name.text),
            )
            .label(modal.name.span, "declared here")
            .help(format!(
                "write `modal {}(..) : translational {{`, or another domain",
                modal.name.text
            )),
        );
    }
    for formal in &modal.formals {
        if MODAL_ARGUMENTS.contains(&&*formal.name.text) {
            checker.report(
                Diagnostic::error(
                    Code::LGM0440,
                    format!("every modal block has an argument `{}`", formal.name.text),
                )
                .label(formal.name.span, "declared again here")
                .help("rename the parameter"),
            );
        }
    }
    Rules::read(modal, &mut |diagnostic| checker.report(diagnostic));
    for equation in &modal.equations {
        let mut own: Vec<&'a str> = Vec::new();
        if let ExprKind::Call(_, arguments) = &equation.left.kind {
            own.extend(arguments.iter().filter_map(|argument| match &argument.value.kind {
                ExprKind::Name(name) => Some(&*name.text),
                _ => None,
            }));
        }
        names_of(checker, modal, &equation.right, &own);
        functions_of(checker, &equation.right, !own.is_empty());
    }
}

fn names_of<'a>(checker: &mut Checker<'a>, modal: &'a ast::Modal, expr: &'a Expr, own: &[&'a str]) {
    let mut used = Vec::new();
    free_names(expr, &mut own.to_vec(), &mut used);
    let assigned = || {
        modal.equations.iter().filter_map(|equation| match &equation.left.kind {
            ExprKind::Name(name) => Some(&*name.text),
            _ => None,
        })
    };
    for name in used {
        let text = &*name.text;
        let known = text == "pi"
            || modal.mode.as_ref().is_some_and(|index| &*index.text == text)
            || modal.formals.iter().any(|formal| &*formal.name.text == text)
            || assigned().any(|other| other == text);
        if known || !checker.is_looking() {
            continue;
        }
        let mut diagnostic = Diagnostic::error(
            Code::LGM0110,
            format!("the modal block `{}` declares no `{text}`", modal.name.text),
        )
        .label(name.span, "not declared");
        let formals = modal.formals.iter().map(|formal| &*formal.name.text);
        diagnostic.help = match text {
            "time" => Some("the modes of a block must not change with time".to_string()),
            _ => did_you_mean(text, formals.chain(assigned()).chain(own.iter().copied())),
        };
        checker.report(diagnostic);
    }
}

fn functions_of<'a>(checker: &mut Checker<'a>, expr: &'a Expr, of_position: bool) {
    match &expr.kind {
        ExprKind::Call(name, _) if MEASURES.contains(&&*name.text) => checker.report(
            Diagnostic::error(
                Code::LGM0126,
                format!("`{}(..)` is not allowed in a modal block", name.text),
            )
            .label(name.span, "a measured variable")
            .help("the values of a mode may depend only on the parameters of the block and the index of the mode"),
        ),
        ExprKind::Call(name, _) if matches!(&*name.text, "step" | "pulse" | "ramp") => checker.report(
            Diagnostic::error(
                Code::LGM0440,
                format!("`{}(..)` is not allowed in a modal block", name.text),
            )
            .label(name.span, "a function of time")
            .help("the modes of a block must not change with time"),
        ),
        ExprKind::Call(name, _) if &*name.text == TABLE && of_position => {}
        ExprKind::Call(name, _) if &*name.text == TABLE => checker.report(
            Diagnostic::error(
                Code::LGM0440,
                "a table defines parameters and functions of the position",
            )
            .label(name.span, "this is neither of them")
            .help("declare a parameter with the name of the column; it has a value for each mode"),
        ),
        ExprKind::Call(name, _) if !is_function(&name.text) => {
            check_function(checker, name, std::iter::empty());
        }
        _ => {}
    }
    value_parts(expr, &mut |child| functions_of(checker, child, of_position));
}
