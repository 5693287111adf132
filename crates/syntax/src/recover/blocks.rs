//! Blocks within the body of an item: `for`, `if`, `experiment`, `when`, `every`, and the modes of an element.

use super::{Body, Recovery};
use crate::explain::{FilePart, missing_brace, mode_elsewhere};
use crate::token::Token;

impl<'t> Recovery<'_, 't> {
    /// Returns the brace of the block that an entry opens, and the kind of its body.
    pub(super) fn opened(&self, body: Body, start: usize) -> Option<(usize, Body)> {
        let within = match (body, self.at(start)?) {
            (Body::Statements, Token::For | Token::If) => Body::Statements,
            (Body::Statements, Token::Experiment) => Body::Settings,
            (Body::Statements, Token::When | Token::Every) => Body::Actions,
            (Body::Actions, Token::If) => Body::Actions,
            (Body::Laws, _) if self.opens_mode(start) => Body::Equations,
            _ => return None,
        };
        Some((self.block_brace(start)?, within))
    }

    /// Returns true if tokens read `mode NAME {`, with any word or no word as the name.
    pub(super) fn opens_mode(&self, index: usize) -> bool {
        let brace = |index: usize| self.at(index) == Some(Token::BraceOpen);
        let is_ended = matches!(self.at(index + 1), Some(Token::Semicolon | Token::BraceClose));
        self.at(index) == Some(Token::Name("mode")) && !is_ended && (brace(index + 1) || brace(index + 2))
    }

    /// Returns true if the next statement belongs to an outer block, although no brace closes this block.
    pub(super) fn leaves(&self, body: Body) -> bool {
        let next = self.position;
        match body {
            Body::Equations => self.opens_mode(next) || self.at(next) == Some(Token::When),
            Body::Actions => self.surplus > 0 && self.at(next) != Some(Token::If) && self.statement_starts(next),
            _ => false,
        }
    }

    /// Returns true if tokens read `x :=`, `x[i] :=` or `across(c) :=`, on one line.
    pub(super) fn looks_like_assignment(&self, index: usize) -> bool {
        let is_name = matches!(self.at(index), Some(Token::Name(_) | Token::In | Token::Vector));
        let sign = (index + 1..index + 64).find(|next| {
            let token = self.at(*next);
            let ends = matches!(
                token,
                Some(Token::Semicolon | Token::BraceOpen | Token::BraceClose) | None
            );
            ends || token == Some(Token::Assign) || self.first_on_line(*next)
        });
        is_name && sign.is_some_and(|sign| self.at(sign) == Some(Token::Assign) && !self.first_on_line(sign))
    }

    /// Returns the opening brace of the block whose head starts at `start`, unless the head ends before.
    fn block_brace(&self, start: usize) -> Option<usize> {
        for index in start + 1..self.all.len() {
            match self.at(index) {
                Some(Token::BraceOpen) => return Some(index),
                Some(Token::Semicolon | Token::BraceClose) => return None,
                _ if self.item_starts(index) || self.statement_starts(index) => return None,
                _ => {}
            }
        }
        None
    }

    /// Reads `for ..`, `if .. else ..`, `when ..` or `mode ..`, whose first brace is at `brace`.
    pub(super) fn block(&mut self, brace: usize, body: Body) {
        let mark = self.kept.len();
        let start = self.position;
        self.split_end = 0;
        let is_if = self.peek() == Some(Token::If);
        let mut right = self.head(start, start, brace);
        self.body(body, start, brace + 1);
        while is_if && self.peek() == Some(Token::Else) {
            let at = self.position;
            let Some(brace) = self.block_brace(at) else { break };
            // `else if c {` is checked from its `if` on, `else {` as a whole.
            let from = at + usize::from(self.at(at + 1) == Some(Token::If));
            right &= self.head(at, from, brace);
            self.body(body, at, brace + 1);
            if from == at {
                // A second plain `else` is an error.
                break;
            }
        }
        if !right {
            self.kept.truncate(mark);
            if body == Body::Equations {
                self.skip_changes();
            }
        }
    }

    /// Reads a head up to its brace; returns true if it is correct.
    fn head(&mut self, start: usize, from: usize, brace: usize) -> bool {
        let result = self.check(Token::StartHeader, from, brace + 1);
        self.keep(start, brace + 1);
        self.position = brace + 1;
        match result {
            Ok(()) => true,
            Err(stop) => {
                self.explain(FilePart::Header, from, brace + 1, &stop);
                false
            }
        }
    }

    /// Continues in the body of `when`, `every` or `mode` if its head, from `start` on, is correct and ends with its line, but has no
    /// brace. Returns true in this case.
    pub(super) fn lacks_brace(&mut self, body: Body, start: usize, end: usize) -> bool {
        let within = match (body, self.at(start)) {
            (Body::Statements, Some(Token::When | Token::Every)) => Body::Actions,
            (Body::Laws, Some(Token::Name("mode"))) => Body::Equations,
            _ => return false,
        };
        let Err(stop) = self.check(Token::StartHeader, start, end) else {
            return false;
        };
        let stopped = start + stop.index;
        let is_head = stop.expects("{") && stopped < end && self.first_on_line(stopped);
        if !is_head || self.at(stopped) == Some(Token::BraceClose) {
            return false;
        }
        let kept = self.kept.len();
        self.keep(start, stopped);
        self.diagnostics.push(missing_brace(self.context, &self.kept[kept..]));
        self.keep_made(Token::BraceOpen);
        self.surplus += 1;
        self.position = stopped;
        self.body(within, start, stopped);
        true
    }

    /// Reports a mode outside of an element, once for the mode and all its changes.
    pub(super) fn skip_mode(&mut self, start: usize) {
        let (first, _, end) = self.all[start];
        self.diagnostics.push(mode_elsewhere(
            "in a model or a component",
            self.context.span(first, end),
        ));
        self.position = self.entry_end(start);
        self.skip_changes();
    }

    /// Continues after the changes of a mode that is not kept: otherwise they would be changes of the mode before it.
    fn skip_changes(&mut self) {
        while self.peek() == Some(Token::When) && self.block_brace(self.position).is_none() {
            self.position = self.entry_end(self.position);
        }
    }
}
