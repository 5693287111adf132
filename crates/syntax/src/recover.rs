//! Reads a faulty text in parts.
//!
//! Statements end with `;`, blocks are enclosed in braces, and the words that open items and most statements are reserved. The parts can
//! therefore be separated without parsing them. Each part is parsed separately. A faulty part is reported once, and fixed if the fix is
//! certain (a missing `;` or `}`); otherwise only its names are kept. Then the grammar builds each item from the rest. The work is linear
//! in the length of the text, for any number of errors.

mod blocks;
mod remains;

use super::ast::Item;
use super::build::{Context, Parsed};
use super::driver::{self, Stop};
use super::explain::{self, Fault, FilePart};
use super::token::{self, Spanned, Token};
use lgm_source::codes::Code;
use lgm_source::diagnostic::{Diagnostic, MOST_FAULTS};

/// Parses all valid items and reports the errors in the others. `stop` is the location at which the first parse stopped.
pub fn file<'t>(
    context: &Context<'t>,
    tokens: &[Spanned<'t>],
    stop: Stop,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<Item> {
    let mut recovery = Recovery {
        context,
        all: tokens.to_vec(),
        position: 0,
        kept: Vec::new(),
        surplus: 0,
        split_end: 0,
        diagnostics,
        items: Vec::new(),
    };
    recovery.run();
    let items = recovery.items;
    if diagnostics.is_empty() {
        // Every part is correct, but the whole text is not. Reports where the parser stopped.
        let fault = Fault {
            context,
            part: FilePart::Statement,
            tokens,
            next: None,
            stop: &stop,
        };
        diagnostics.extend(fault.explain());
    }
    items
}

/// The contents of a pair of braces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Body {
    Statements,
    Laws,
    Domain,
    Settings,
    Equations,
    Actions,
}

impl Body {
    /// Returns the kind of its entries, and the token that selects the grammar for one.
    fn entries(self) -> (FilePart, Token<'static>) {
        match self {
            Body::Statements => (FilePart::Statement, Token::StartStatement),
            Body::Laws => (FilePart::Law, Token::StartLaw),
            Body::Domain => (FilePart::Domain, Token::StartDomain),
            Body::Settings => (FilePart::Setting, Token::StartSetting),
            Body::Equations => (FilePart::Equation, Token::StartEquation),
            Body::Actions => (FilePart::Action, Token::StartAction),
        }
    }
}

/// The maximum number of fixed tokens per entry, each with a pass over the whole entry.
const MOST_MENDED: usize = 8;

struct Recovery<'a, 't> {
    context: &'a Context<'t>,
    /// The tokens of the text, some of them fixed.
    all: Vec<Spanned<'t>>,
    position: usize,
    /// The correct tokens of the current item.
    kept: Vec<Spanned<'t>>,
    /// Opening minus closing braces from the current item to the next one.
    surplus: i64,
    /// The end of the entry that was split last; its remainder ends there too.
    split_end: usize,
    diagnostics: &'a mut Vec<Diagnostic>,
    items: Vec<Item>,
}

impl<'t> Recovery<'_, 't> {
    fn run(&mut self) {
        while let Some(token) = self.peek().filter(|_| self.is_looking()) {
            if token == Token::Semicolon {
                self.position += 1;
            } else if token.begins_item() {
                self.item();
            } else if token == Token::Const || self.function_starts(self.position) {
                self.kept.clear();
                self.flat_item(FilePart::Statement);
            } else {
                self.outside();
            }
        }
    }

    /// Returns true if tokens read `function f(`.
    fn function_starts(&self, index: usize) -> bool {
        self.at(index) == Some(Token::Name("function"))
            && matches!(self.at(index + 1), Some(Token::Name(_)))
            && self.at(index + 2) == Some(Token::ParenOpen)
    }

    /// Returns true if the search for errors continues.
    fn is_looking(&self) -> bool {
        self.diagnostics.len() < MOST_FAULTS
    }

    fn peek(&self) -> Option<Token<'t>> {
        self.at(self.position)
    }

    fn at(&self, index: usize) -> Option<Token<'t>> {
        self.all.get(index).map(|token| token.1)
    }

    /// Returns true if a line break precedes a token.
    fn first_on_line(&self, index: usize) -> bool {
        let before = index
            .checked_sub(1)
            .and_then(|before| self.all.get(before))
            .map_or(0, |token| token.2);
        let start = self.all.get(index).map_or(before, |token| token.0);
        index == 0 || self.context.words(self.context.span(before, start)).contains('\n')
    }

    /// Returns true if an item starts at a token: its word is reserved and a statement could start there.
    fn item_starts(&self, index: usize) -> bool {
        (self.at(index).is_some_and(|token| token.begins_item()) || self.function_starts(index))
            && (self.first_on_line(index)
                || matches!(
                    self.at(index - 1),
                    Some(Token::Semicolon | Token::BraceOpen | Token::BraceClose)
                ))
    }

    /// Returns true if a statement certainly starts at a token that is first on its line.
    fn statement_starts(&self, index: usize) -> bool {
        if !self.first_on_line(index) {
            return false;
        }
        match self.at(index) {
            // `if` also continues an incomplete expression of the previous line.
            Some(Token::If) => matches!(
                self.at(index.saturating_sub(1)),
                Some(Token::Name(_) | Token::Number(_) | Token::Text(_) | Token::ParenClose | Token::BracketClose)
            ),
            Some(token) if token.begins_statement() => self.at(index.saturating_sub(1)) != Some(Token::Dot),
            _ => false,
        }
    }

    fn keep(&mut self, from: usize, to: usize) {
        self.kept.extend_from_slice(&self.all[from..to]);
    }

    /// Adds a missing token.
    fn keep_made(&mut self, token: Token<'t>) {
        let end = self.kept.last().map_or(0, |token| token.2);
        self.kept.push((end, token, end));
    }

    fn explain(&mut self, part: FilePart, from: usize, to: usize, stop: &Stop) {
        let fault = Fault {
            context: self.context,
            part,
            tokens: &self.all[from..to],
            next: self.all.get(to).copied(),
            stop,
        };
        self.diagnostics.extend(fault.explain());
    }

    fn check(&self, start: Token<'t>, from: usize, to: usize) -> Result<(), Stop> {
        let result = driver::run(self.context, start, &self.all[from..to]);
        // The actions repeat their reports for this part when the item is built.
        self.context.take_diagnostics();
        result.map(|_| ())
    }

    // ---- Items -------------------------------------------------------------------------------------------------

    /// Reads the tokens outside of any item, up to the next item.
    fn outside(&mut self) {
        let start = self.position;
        while self.position < self.all.len() && !self.item_starts(self.position) {
            self.position += 1;
        }
        // A reserved word within such a sequence is not an item.
        let (first, token, end) = self.all[start];
        let span = self.context.span(first, end);
        let words = self.context.words(span);
        let diagnostic = match token {
            Token::Error => return,
            Token::BraceClose => Diagnostic::error(Code::LGM0035, "this `}` closes nothing")
                .label(span, "every `{` before it is already closed")
                .help("remove it, or check for an extra `}` above"),
            _ if self.opens_mode(start) => explain::mode_elsewhere("outside of an element", span),
            Token::Name(name) if token::is_reserved(&name.to_lowercase()) => {
                let word = name.to_lowercase();
                Diagnostic::error(Code::LGM0044, format!("`{name}` starts no item"))
                    .label(span, "reserved words are written in lower case")
                    .help(format!("write `{word}`"))
                    .fix(format!("write `{word}`"), span, word)
            }
            _ if token.begins_statement() || matches!(token, Token::Name(_)) => Diagnostic::error(
                Code::LGM0044,
                format!("`{words}` is outside any model or component"),
            )
            .label(span, "statements belong inside the braces of a model")
            .help("write `model Name { .. }` around the statements; if there is one, check for an extra `}` above"),
            _ => Diagnostic::error(
                Code::LGM0044,
                format!("expected a model or another item, found `{words}`"),
            )
            .label(span, "an item cannot start like this")
            .help("a file contains `import`, `domain`, `element`, `component`, `modal`, `model`, `function` and `const` items"),
        };
        self.diagnostics.push(diagnostic);
    }

    fn item(&mut self) {
        let start = self.position;
        self.kept.clear();
        self.measure_surplus();
        let keyword = self.at(start);
        if keyword == Some(Token::Import) {
            self.flat_item(FilePart::Import);
            return;
        }
        let body = match keyword {
            Some(Token::Domain) => Body::Domain,
            Some(Token::Element | Token::Modal) => Body::Laws,
            _ => Body::Statements,
        };
        if !self.item_head(start) {
            return;
        }
        let mark = self.position;
        self.body(body, start, mark);
        self.build();
    }

    /// Counts the braces up to the next item, to determine whether one is missing or extra.
    fn measure_surplus(&mut self) {
        self.surplus = 0;
        for index in self.position..self.all.len() {
            if index > self.position && self.item_starts(index) {
                break;
            }
            match self.at(index) {
                Some(Token::BraceOpen) => self.surplus += 1,
                Some(Token::BraceClose) => self.surplus -= 1,
                _ => {}
            }
        }
    }

    fn build(&mut self) {
        match driver::run(self.context, Token::StartItem, &self.kept) {
            Ok(Parsed::File(items)) => self.items.extend(items),
            Ok(_) => {}
            // The parts are correct and should fit together. If they do not, an error is reported.
            Err(stop) => {
                let fault = Fault {
                    context: self.context,
                    part: FilePart::Statement,
                    tokens: &self.kept,
                    next: None,
                    stop: &stop,
                };
                self.diagnostics.extend(fault.explain());
            }
        }
        // The checks of the next item would discard the errors of this item.
        self.diagnostics.extend(self.context.take_diagnostics());
    }

    /// Reads an item without a body, up to its semicolon.
    fn flat_item(&mut self, part: FilePart) {
        let start = self.position;
        let mut end = start + 1;
        while end < self.all.len() && !self.item_starts(end) {
            end += 1;
            if self.at(end - 1) == Some(Token::Semicolon) {
                break;
            }
        }
        match self.check(Token::StartItem, start, end) {
            Ok(()) => {
                self.keep(start, end);
                self.build();
            }
            Err(stop) if stop.expects(";") && (start + stop.index == end || self.first_on_line(start + stop.index)) => {
                end = start + stop.index;
                self.keep(start, end);
                self.diagnostics
                    .push(explain::missing_semicolon(self.context, part, &self.kept));
                self.keep_made(Token::Semicolon);
                self.build();
            }
            Err(stop) => self.explain(part, start, end, &stop),
        }
        self.position = end;
    }

    /// Reads `model Name {` and similar; returns `false` if the item has no body.
    fn item_head(&mut self, start: usize) -> bool {
        let mut end = start + 1;
        loop {
            match self.at(end) {
                Some(Token::BraceOpen) => break,
                None | Some(Token::Semicolon | Token::BraceClose) => break,
                Some(_) if self.item_starts(end) || self.statement_starts(end) => break,
                Some(_) => end += 1,
            }
        }
        let has_brace = self.at(end) == Some(Token::BraceOpen);
        let to = end + usize::from(has_brace);
        let Err(stop) = self.check(Token::StartHeader, start, to) else {
            self.keep(start, to);
            self.position = to;
            return true;
        };
        let stopped = start + stop.index;
        let goes_on =
            stopped < self.all.len() && !matches!(self.at(stopped), Some(Token::Semicolon | Token::BraceClose));
        if stop.expects("{") && goes_on && self.first_on_line(stopped) && !self.item_starts(stopped) {
            // `model M` followed by the statements, without a brace.
            self.keep(start, stopped);
            self.diagnostics.push(explain::missing_brace(self.context, &self.kept));
            self.keep_made(Token::BraceOpen);
            self.surplus += 1;
            self.position = stopped;
            return true;
        }
        self.explain(FilePart::Header, start, to, &stop);
        self.position = to;
        if !has_brace {
            if self.at(end) == Some(Token::Semicolon) {
                self.position = end + 1;
            }
            return false;
        }
        // Continue with the certain part of the head: its keyword and its name.
        self.keep(start, start + 1);
        match self.at(start + 1) {
            Some(Token::Name(_)) => self.keep(start + 1, start + 2),
            _ => self.keep_made(Token::Name("")),
        }
        self.kept.push(self.all[end]);
        true
    }

    // ---- Bodies ------------------------------------------------------------------------------------------------

    /// Reads entries up to and including the closing brace. `opener` is the first token of the head, `after` the token after the opening
    /// brace.
    fn body(&mut self, body: Body, opener: usize, after: usize) {
        loop {
            if !self.is_looking() {
                self.keep_made(Token::BraceClose);
                return;
            }
            match self.peek() {
                Some(Token::BraceClose) => {
                    let first = self.first_on_line(self.position);
                    if first && self.surplus > 0 && self.column(self.position) < self.line_column(opener) {
                        // It belongs to an outer block.
                        self.unclosed(after);
                        return;
                    }
                    if first && self.surplus < 0 && self.column(self.position) > self.line_column(opener) {
                        let (start, _, end) = self.all[self.position];
                        self.diagnostics.push(
                            Diagnostic::error(Code::LGM0035, "this `}` closes nothing")
                                .label(self.context.span(start, end), "there is an extra `}`")
                                .help("remove it")
                                .fix("remove `}`", self.context.span(start, end), ""),
                        );
                        self.surplus += 1;
                        self.position += 1;
                        continue;
                    }
                    self.keep(self.position, self.position + 1);
                    self.position += 1;
                    return;
                }
                Some(Token::Semicolon) => self.position += 1,
                Some(_) if self.leaves(body) => {
                    self.unclosed(after);
                    return;
                }
                Some(_) if !self.item_starts(self.position) => self.entry(body),
                _ => {
                    self.unclosed(after);
                    return;
                }
            }
        }
    }

    /// Returns the column of a token, in bytes.
    fn column(&self, index: usize) -> usize {
        let start = self.all[index].0;
        let before = self.context.words(self.context.span(0, start));
        start - before.rfind('\n').map_or(0, |at| at + 1)
    }

    /// Returns the column of the first token on the line of a token.
    fn line_column(&self, index: usize) -> usize {
        let mut first = index;
        while !self.first_on_line(first) {
            first -= 1;
        }
        self.column(first)
    }

    fn unclosed(&mut self, after: usize) {
        self.surplus -= 1;
        let end = self.kept.last().map_or(0, |token| token.2);
        let opener = self.all.get(after.wrapping_sub(1)).copied();
        self.diagnostics
            .push(explain::unclosed_block(self.context, opener, end));
        self.keep_made(Token::BraceClose);
    }

    fn entry(&mut self, body: Body) {
        let start = self.position;
        if let Some((brace, within)) = self.opened(body, start) {
            self.block(brace, within);
            return;
        }
        if matches!(body, Body::Statements | Body::Actions) && self.opens_mode(start) {
            self.skip_mode(start);
            return;
        }
        let (part, word) = body.entries();
        let end = if start < self.split_end {
            self.split_end
        } else {
            self.entry_end(start)
        };
        let mut mended = 0;
        let stop = loop {
            match self.check(word, start, end) {
                Ok(()) => {
                    self.keep(start, end);
                    self.position = end;
                    return;
                }
                Err(stop) if mended < MOST_MENDED && self.mend(part, start, end, &stop) => mended += 1,
                Err(stop) => break stop,
            }
        };
        if self.lacks_brace(body, start, end) {
            return;
        }
        let (own_end, stop) = self.cut(body, start, end, stop);
        let stopped = start + stop.index;
        let next_starts = stopped == own_end
            || self.first_on_line(stopped)
            || self.at(stopped).is_some_and(|token| token.begins_statement())
            || self.looks_like_instance(stopped);
        if stop.index > 0 && stop.expects(";") && next_starts {
            let kept = self.kept.len();
            self.keep(start, stopped);
            self.diagnostics
                .push(explain::missing_semicolon(self.context, part, &self.kept[kept..]));
            self.keep_made(Token::Semicolon);
            self.position = stopped;
            self.split_end = end;
            return;
        }
        // Continue after it or, if the `;` is also missing, at the next line that clearly starts a statement. An unclosed bracket consumes
        // the words of that line before the parser stops, so a declaration there also counts.
        self.position = (start + 1..own_end)
            .find(|&index| {
                let starts = self.first_on_line(index) && self.looks_like_instance(index);
                starts && (index >= stopped || self.declares_instance(index))
                    || body == Body::Actions && self.first_on_line(index) && self.looks_like_assignment(index)
            })
            .unwrap_or(own_end);
        let braces = self.all[start..self.position]
            .iter()
            .any(|token| token.1 == Token::BraceOpen);
        self.split_end = if braces { 0 } else { end };
        self.explain(part, start, self.position, &stop);
        if part == FilePart::Statement {
            self.keep_remains(start, stopped);
        }
    }

    /// Returns the end of the entry from `start` to `end`, and where the parser stops in it. A half-written entry ends with its line: the
    /// next line starts another entry.
    fn cut(&self, body: Body, start: usize, end: usize, stop: Stop) -> (usize, Stop) {
        let stopped = start + stop.index;
        let begins = |index: usize| {
            let is_named = || matches!(self.at(index), Some(Token::Name(_)));
            self.first_on_line(index)
                && match body {
                    Body::Statements => {
                        self.looks_like_instance(index) && (index == stopped || self.declares_instance(index))
                    }
                    Body::Actions => self.looks_like_assignment(index),
                    Body::Laws | Body::Equations | Body::Settings => {
                        is_named() && self.at(index + 1) == Some(Token::Equals)
                    }
                    Body::Domain => false,
                }
        };
        let next = (start + 1..end.min(stopped + 1)).find(|index| begins(*index));
        let shorter = next.and_then(|next| Some((next, self.check(body.entries().1, start, next).err()?)));
        shorter.unwrap_or((end, stop))
    }

    /// Replaces `:=` by `=` in a declaration, and `=` by `:=` in an assignment. Returns true if it did so.
    fn mend(&mut self, part: FilePart, start: usize, end: usize, stop: &Stop) -> bool {
        let at = start + stop.index;
        let meant = match self.at(at) {
            Some(Token::Assign) if stop.expects("=") => Token::Equals,
            Some(Token::Equals) if stop.expects(":=") => Token::Assign,
            _ => return false,
        };
        if at >= end {
            return false;
        }
        self.explain(part, start, end, stop);
        self.all[at].1 = meant;
        true
    }

    /// Returns the index one past the last token of the entry that starts at `start`.
    fn entry_end(&self, start: usize) -> usize {
        let mut braces = 0;
        for index in start..self.all.len() {
            let mode_starts = || self.opens_mode(index) && self.first_on_line(index);
            let starts = || self.statement_starts(index) || mode_starts();
            if index > start && (self.item_starts(index) || braces == 0 && starts()) {
                return index;
            }
            match self.at(index) {
                Some(Token::Semicolon) if braces == 0 => return index + 1,
                Some(Token::BraceOpen) => braces += 1,
                Some(Token::BraceClose) if braces == 0 => return index.max(start + 1),
                Some(Token::BraceClose) => {
                    braces -= 1;
                    if braces == 0 {
                        return index + 1;
                    }
                }
                _ => {}
            }
        }
        self.all.len()
    }
}
