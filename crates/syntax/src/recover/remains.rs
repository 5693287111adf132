//! The readable part of a faulty statement: tokens that form a declaration without a value, or an error node with the
//! names of the statement.

use super::Recovery;
use crate::token::Token;

impl Recovery<'_, '_> {
    /// Returns true if tokens read `name :`, `name[..] :` or `name ->`, like the start of an instance or a chain.
    pub(super) fn looks_like_instance(&self, index: usize) -> bool {
        if !matches!(self.at(index), Some(Token::Name(_))) {
            return false;
        }
        let mut next = index + 1;
        while self.at(next) == Some(Token::BracketOpen) {
            let limit = next + 64;
            let mut level = 0;
            while next < limit {
                match self.at(next) {
                    Some(Token::BracketOpen) => level += 1,
                    Some(Token::BracketClose) => level -= 1,
                    Some(Token::Semicolon | Token::BraceOpen | Token::BraceClose) | None => return false,
                    _ => {}
                }
                next += 1;
                if level == 0 {
                    break;
                }
            }
            if level != 0 {
                return false;
            }
        }
        matches!(self.at(next), Some(Token::Colon | Token::Arrow))
    }

    /// Returns true if tokens that satisfy [`Recovery::looks_like_instance`] declare an instance: no expression continues like that.
    pub(super) fn declares_instance(&self, index: usize) -> bool {
        let signs = (index..self.all.len()).map(|index| self.at(index));
        let mut ends =
            signs.filter(|token| matches!(token, Some(Token::Colon | Token::Arrow | Token::Semicolon) | None));
        ends.next() == Some(Some(Token::Colon))
    }

    /// Keeps the readable part of the faulty statement from `start` up to here; the parser stopped at `stopped`.
    pub(super) fn keep_remains(&mut self, start: usize, stopped: usize) {
        let is_declared = self.keep_declaration(start, stopped);
        let read = if is_declared { start + 2 } else { start };
        let mark = self.kept.len();
        let has_names = self.keep_names(read, self.position);
        if is_declared && !has_names {
            self.kept.truncate(mark);
        }
    }

    /// Keeps the reliable part of a faulty value declaration: its keyword and its name. The name stays known without a value, so that its
    /// uses are not reported. Returns true if there is such a part.
    fn keep_declaration(&mut self, start: usize, stopped: usize) -> bool {
        let word = matches!(
            self.at(start),
            Some(
                Token::Param
                    | Token::Const
                    | Token::Input
                    | Token::Signal
                    | Token::State
                    | Token::Output
                    | Token::Discrete
            )
        );
        let is_sure = word && stopped >= start + 2 && matches!(self.at(start + 1), Some(Token::Name(_)));
        if is_sure {
            self.keep(start, start + 2);
            self.keep_made(Token::Equals);
            self.keep_made(Token::Missing);
            self.keep_made(Token::Semicolon);
        }
        is_sure
    }

    /// Keeps the names in a faulty statement, so that an editor can use them: its declarations, their kinds, and other names. Returns true
    /// if there are any.
    fn keep_names(&mut self, from: usize, to: usize) -> bool {
        let place = self.all[from.min(to - 1)].0;
        self.kept.push((place, Token::Faulty, place));
        let mut next = from;
        if self.is_name(from, to) && from + 1 < to && self.at(from + 1) == Some(Token::Colon) {
            let has_kind = self.is_name(from + 2, to) && !self.first_on_line(from + 2);
            next = from + 2 + usize::from(has_kind);
            self.keep(from, next);
            if !has_kind {
                self.keep_made(Token::Missing);
            }
        }
        while next < to {
            let is_argument = self.at(next + 1) == Some(Token::Equals);
            if !self.is_name(next, to) || is_argument || self.at(next.wrapping_sub(1)) == Some(Token::Dot) {
                next += 1;
                continue;
            }
            let start = next;
            next += 1;
            while next + 1 < to && self.at(next) == Some(Token::Dot) && self.is_name(next + 1, to) {
                next += 2;
            }
            self.keep(start, next);
        }
        let end = self.all[to - 1].2;
        let has_names = self.kept.last().is_some_and(|last| last.1 != Token::Faulty);
        self.kept.push((end, Token::Semicolon, end));
        has_names
    }

    /// Returns true if a name is at a location before `to`.
    fn is_name(&self, index: usize, to: usize) -> bool {
        index < to && matches!(self.at(index), Some(Token::Name(_)))
    }
}
