//! Text to syntax tree. Parsing never fails: it returns a tree and diagnostics.
//!
//! `token` splits the text, `nesting` rejects texts that nest too deeply, and the generated parser (grammar/lgm.lalrpop) builds the tree of
//! a correct text in one run. If it stops at an error, `recover` reads the statements one by one, `explain` describes the errors of the
//! faulty ones, and the tree is built from the others.
//!
//! After this point: every part of the tree has its location in the text; operator chains are flat; the depth of the tree is bounded (1024
//! levels), so that recursion over it is safe; [`ast::ExprKind::Missing`] occurs only where an error is reported. Names are not resolved
//! and units are not looked up.

mod again;
pub mod ast;
mod build;
mod driver;
mod explain;
mod format;
mod grammar;
mod moving;
mod nesting;
mod recover;
#[cfg(test)]
mod robustness_tests;
mod slips;
mod symbols;
#[cfg(test)]
mod tests;
pub mod token;
pub mod visit;

pub use again::parse_again;
use build::{Context, Parsed};
pub use format::format;
use lgm_source::diagnostic::{Diagnostic, in_source_order};
use lgm_source::{SourceId, Span};
use rustc_hash::FxHashSet;
pub use token::is_reserved;
use token::{Lexed, Spanned, Token};

/// Parses a whole text. Faulty parts are reported; the tree contains the names of faulty statements, but no other faulty parts.
pub fn parse(source: SourceId, text: &str) -> (ast::Ast, Vec<Diagnostic>) {
    let Lexed {
        tokens,
        docs,
        comments: _,
        mut diagnostics,
    } = token::lex(source, text);
    let mut items = Vec::new();
    if let Some(refusal) = nesting::check(source, &tokens) {
        diagnostics.push(refusal);
    } else {
        let context = Context::new(source, text, &docs, declared_names(&tokens));
        match driver::run(&context, Token::StartFile, &tokens) {
            Ok(Parsed::File(parsed)) => items = parsed,
            Ok(_) => {}
            Err(stop) => {
                context.take_diagnostics();
                items = recover::file(&context, &tokens, stop, &mut diagnostics);
            }
        }
        diagnostics.extend(context.take_diagnostics());
    }
    in_source_order(&mut diagnostics);
    let is_faultless = diagnostics.is_empty();
    (ast::Ast { items, is_faultless }, diagnostics)
}

/// Parses one expression, such as the value of `--set` or `--input`.
pub fn parse_expression(source: SourceId, text: &str) -> (ast::Expr, Vec<Diagnostic>) {
    let Lexed {
        tokens,
        docs,
        comments: _,
        mut diagnostics,
    } = token::lex(source, text);
    let mut expression = None;
    if let Some(refusal) = nesting::check(source, &tokens) {
        diagnostics.push(refusal);
    } else {
        let context = Context::new(source, text, &docs, FxHashSet::default());
        match driver::run(&context, Token::StartExpression, &tokens) {
            Ok(Parsed::Expression(parsed)) => expression = Some(parsed),
            Ok(_) => {}
            Err(stop) => diagnostics.extend(explain::expression(&context, &tokens, &stop)),
        }
        diagnostics.extend(context.take_diagnostics());
    }
    in_source_order(&mut diagnostics);
    let missing = ast::Expr {
        kind: ast::ExprKind::Missing,
        span: Span::new(source, 0, text.len()),
    };
    (expression.unwrap_or(missing), diagnostics)
}

/// Returns the names that a text declares as values. Such a name in brackets is an index, even if it could be a unit.
fn declared_names<'t>(tokens: &[Spanned<'t>]) -> FxHashSet<&'t str> {
    let mut names = FxHashSet::default();
    for (index, (_, token, _)) in tokens.iter().enumerate() {
        let Token::Name(name) = token else { continue };
        let before = index.checked_sub(1).map(|before| tokens[before].1);
        let after = tokens.get(index + 1).map(|token| token.1);
        let declares = match before {
            Some(Token::Const | Token::Param | Token::Input | Token::For) => true,
            Some(Token::Signal | Token::State | Token::Output | Token::Discrete) => true,
            Some(Token::Name("mode")) => after != Some(Token::BraceOpen),
            _ => after == Some(Token::In),
        };
        if declares {
            names.insert(*name);
        }
    }
    names
}
