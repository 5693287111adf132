//! Spacing of words on one line, possible line breaks, and alignment.

use super::super::symbols;
use super::super::token::Token;
use super::words::{Kind, Matrix, Stop, Word};

/// An open bracket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bracket {
    /// Arguments, an index, parentheses in an expression.
    Plain,
    /// `[a, b]`
    List,
    /// The formal parameters of an item.
    Formals,
    /// `[kg.m^2]`, and parentheses within.
    Unit,
}

/// The effect of the previous token on the distance to the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Last {
    /// A plain name.
    Name,
    /// A number or a list, to which a unit may bind.
    Literal,
    /// The `)` or `]` of anything else.
    Closed,
    /// A token without a space after it: an opening bracket, `*`, a sign.
    Tight,
    /// Anything else.
    Loose,
}

struct Spacing<'a, 't> {
    words: &'a mut [Word<'t>],
    /// Brackets that are open in this statement, with their indices.
    brackets: Vec<(Bracket, usize)>,
    /// Open braces: true if the brace contains a domain's entries, and its index.
    bodies: Vec<(bool, usize)>,
    /// The first token of the statement or header.
    first: Option<Token<'t>>,
    /// Its location in the text.
    start: usize,
    /// The number of its tokens so far.
    count: usize,
    /// The token before the last one.
    before: Option<Token<'t>>,
    previous: Option<Token<'t>>,
    last: Last,
    /// The stops of the statement seen so far: the `:`, the branch, the arrow, the `=`.
    seen: Vec<Stop>,
    /// The index of the last comma, after which a line may be broken.
    comma: Option<usize>,
}

/// Sets distances, breaks and stops of all words.
pub(super) fn decide(words: &mut [Word<'_>]) {
    let mut spacing = Spacing {
        words,
        brackets: Vec::new(),
        bodies: Vec::new(),
        first: None,
        start: 0,
        count: 0,
        before: None,
        previous: None,
        last: Last::Loose,
        seen: Vec::new(),
        comma: None,
    };
    for index in 0..spacing.words.len() {
        spacing.word(index);
    }
}

impl<'t> Spacing<'_, 't> {
    fn word(&mut self, index: usize) {
        if self.comma.is_some_and(|comma| comma + 1 == index) {
            self.words[index].split = Some(4 * self.depth());
        }
        match self.words[index].kind {
            Kind::Token(token) => self.token(index, token),
            Kind::LineComment => self.words[index].gap = 2,
            Kind::BlockComment | Kind::LongComment => {
                let inside = index > 0 && matches!(self.words[index - 1].text, "(" | "[");
                self.words[index].gap = usize::from(!inside);
            }
        }
    }

    fn depth(&self) -> u32 {
        self.brackets.len() as u32
    }

    fn is_unit(&self) -> bool {
        matches!(self.brackets.last(), Some((Bracket::Unit, _)))
    }

    fn is_operand(&self) -> bool {
        matches!(self.last, Last::Name | Last::Literal | Last::Closed)
    }

    fn token(&mut self, index: usize, token: Token<'t>) {
        if self.count == 0 {
            (self.first, self.start) = (Some(token), index);
        }
        self.note_matrix_rows(index);
        let after_comment = index > 0 && self.words[index - 1].is_comment();
        let in_unit = self.is_unit();
        let level = 4 * self.depth();
        let (gap, last) = self.distance(index, token);
        let gap = match token {
            Token::Comma | Token::Semicolon | Token::ParenClose | Token::BracketClose => 0,
            _ if after_comment => 1,
            _ if in_unit && self.is_unit() => self.distance_in_unit(index, token),
            _ => gap,
        };
        if !in_unit && self.count > 0 {
            self.words[index].split = self.words[index].split.or(match token {
                Token::And | Token::Or | Token::Else | Token::Arrow => Some(level + 1),
                Token::Plus | Token::Minus if self.is_operand() => Some(level + 2),
                _ => None,
            });
        }
        self.words[index].gap = gap;
        self.count += 1;
        self.last = last;
        self.before = self.previous;
        self.previous = Some(token);
        if matches!(token, Token::BraceOpen | Token::BraceClose) || token == Token::Semicolon && self.depth() == 0 {
            if token == Token::Semicolon && self.first == Some(Token::When) {
                self.mark_change();
            }
            self.start_statement();
        }
    }

    /// Marks the end of `when across > 0 -> conducting;`, which follows a mode or is below it.
    fn mark_change(&mut self) {
        let after_comment = self.start > 0 && self.words[self.start - 1].is_comment();
        let word = &mut self.words[self.start];
        word.stop = Some(Stop::Change);
        word.gap = if after_comment { 1 } else { 2 };
    }

    fn start_statement(&mut self) {
        (self.first, self.before, self.previous) = (None, None, None);
        self.count = 0;
        self.last = Last::Loose;
        self.seen.clear();
    }

    /// Marks a token as a stop if it is the first of its kind in a statement.
    fn stop(&mut self, index: usize, stop: Stop) {
        if !self.seen.contains(&stop) {
            self.seen.push(stop);
            self.words[index].stop = Some(stop);
        }
    }

    /// Returns the distance of a token outside a unit from the previous token, and its effect on the next distance.
    fn distance(&mut self, index: usize, token: Token<'t>) -> (usize, Last) {
        let at_top = self.brackets.is_empty();
        let follows = usize::from(self.last != Last::Tight);
        match token {
            Token::Semicolon | Token::Dot => (0, if token == Token::Dot { Last::Tight } else { Last::Loose }),
            Token::Comma => {
                self.comma = Some(index);
                (0, Last::Loose)
            }
            Token::Star | Token::Slash | Token::Caret => (0, Last::Tight),
            Token::Plus | Token::Minus if self.is_operand() => (1, Last::Loose),
            Token::Plus | Token::Minus => (follows, Last::Tight),
            Token::ParenOpen => self.paren_open(index, follows),
            Token::BracketOpen => self.bracket_open(index, follows),
            Token::ParenClose | Token::BracketClose => self.close(index),
            Token::BraceOpen => {
                self.stop(index, Stop::Open);
                self.bodies.push((self.first == Some(Token::Domain), index));
                (1, Last::Loose)
            }
            Token::BraceClose => {
                if let Some((_, open)) = self.bodies.pop() {
                    (self.words[index].partner, self.words[open].partner) = (open, index);
                }
                let empty = index > 0 && self.words[index - 1].is(Token::BraceOpen);
                (usize::from(!empty), Last::Loose)
            }
            // Within brackets and in the head of a loop it is a range.
            Token::Colon if !at_top || self.first == Some(Token::For) => (0, Last::Tight),
            Token::Colon => {
                self.stop(index, Stop::Colon);
                (1, Last::Loose)
            }
            Token::Equals | Token::Assign => {
                if at_top {
                    self.stop(index, Stop::Equals);
                }
                (1, Last::Loose)
            }
            Token::Arrow => {
                if self.in_tail() || at_top && self.first == Some(Token::When) {
                    self.stop(index, Stop::Arrow);
                }
                (1, Last::Loose)
            }
            Token::Number(_) | Token::Text(_) => (follows, Last::Literal),
            Token::Name(_) => self.name(index, follows),
            Token::In | Token::Vector if !self.is_mark(token) => self.name(index, follows),
            Token::Port if self.previous == Some(Token::Dot) => (0, Last::Name),
            _ => (follows, Last::Loose),
        }
    }

    /// Returns true after the kind of an instance.
    fn in_tail(&self) -> bool {
        let is_instance = !self.first.is_some_and(|first| first.is_reserved());
        is_instance && self.brackets.is_empty() && self.seen.contains(&Stop::Colon)
    }

    /// Returns true if `in` or `vector` is not a name here.
    fn is_mark(&self, token: Token<'_>) -> bool {
        let first = self.first;
        match token {
            Token::In => self.last == Last::Name && (first == Some(Token::For) || !self.brackets.is_empty()),
            _ => {
                matches!(self.last, Last::Name | Last::Closed)
                    && self.brackets.is_empty()
                    && first.is_some_and(|first| first.begins_statement())
            }
        }
    }

    fn name(&mut self, index: usize, follows: usize) -> (usize, Last) {
        if self.in_tail() && matches!(self.last, Last::Name | Last::Closed) {
            self.stop(index, Stop::Branch);
        }
        let is_from = self.first == Some(Token::Every) && self.brackets.is_empty() && self.is_operand();
        (follows, if is_from { Last::Loose } else { Last::Name })
    }

    fn paren_open(&mut self, index: usize, follows: usize) -> (usize, Last) {
        let declares = matches!(self.first, Some(Token::Element | Token::Component | Token::Modal));
        let bracket = match () {
            _ if self.is_unit() => Bracket::Unit,
            _ if declares && self.brackets.is_empty() && !self.seen.contains(&Stop::Colon) => Bracket::Formals,
            _ => Bracket::Plain,
        };
        self.brackets.push((bracket, index));
        let gap = match self.last {
            Last::Name => 0,
            _ => follows,
        };
        (gap, Last::Tight)
    }

    fn bracket_open(&mut self, index: usize, follows: usize) -> (usize, Last) {
        let (bracket, gap) = match self.last {
            Last::Name if self.awaits_unit() => (Bracket::Unit, 1),
            Last::Literal => (Bracket::Unit, 1),
            Last::Name | Last::Closed if self.is_unit_after(index) => (Bracket::Unit, 1),
            Last::Name | Last::Closed => (Bracket::Plain, 0),
            _ => (Bracket::List, follows),
        };
        if bracket == Bracket::List
            && let Some((Bracket::List, outer)) = self.brackets.last()
            && self.previous == Some(Token::BracketOpen)
        {
            self.words[*outer].matrix = Some(Matrix::Single);
        }
        self.brackets.push((bracket, index));
        (gap, Last::Tight)
    }

    /// Returns true for brackets after a space that contain only symbols of units: `across(n) [degC]`.
    fn is_unit_after(&self, index: usize) -> bool {
        let is_apart = self.words[index].spaces > 0 || self.words[index].breaks > 0;
        let mut symbols = 0;
        for word in &self.words[index + 1..] {
            match word.token() {
                Some(Token::Name(name)) if symbols::is_unit(name) => symbols += 1,
                Some(Token::Percent) => symbols += 1,
                Some(Token::BracketClose) => return is_apart && symbols > 0,
                Some(Token::Dot | Token::Slash | Token::Caret | Token::Minus | Token::Number(_)) => {}
                Some(Token::ParenOpen | Token::ParenClose) => {}
                _ => return false,
            }
        }
        false
    }

    /// Returns true after a declared name that may have a unit.
    fn awaits_unit(&self) -> bool {
        if let Some((bracket, _)) = self.brackets.last() {
            return *bracket == Bracket::Formals
                && matches!(self.before, Some(Token::ParenOpen | Token::Comma | Token::Const));
        }
        let takes_unit = matches!(self.first, Some(Token::Param | Token::Const | Token::Input));
        let in_domain = matches!(self.bodies.last(), Some((true, _)));
        self.count == 2 && (takes_unit || in_domain)
    }

    fn close(&mut self, index: usize) -> (usize, Last) {
        let Some((bracket, open)) = self.brackets.pop() else {
            return (0, Last::Closed);
        };
        (self.words[index].partner, self.words[open].partner) = (open, index);
        let last = match bracket {
            Bracket::List => Last::Literal,
            _ => Last::Closed,
        };
        (0, last)
    }

    /// Returns the distance within a unit: no space, unless a number and a dot would merge. A dot after a number must be followed by a
    /// letter that does not start an exponent.
    fn distance_in_unit(&self, index: usize, token: Token<'t>) -> usize {
        let next = self.words.get(index + 1).and_then(|word| word.token());
        let merges = match (self.previous, token) {
            (Some(Token::Dot), Token::Number(_)) => true,
            (Some(Token::Number(_)), Token::Dot) => match next {
                None | Some(Token::Number(_)) => true,
                Some(Token::Name(name)) => {
                    let mut letters = name.chars();
                    matches!(letters.next(), Some('e' | 'E')) && letters.next().is_some_and(|c| c.is_ascii_digit())
                }
                _ => false,
            },
            _ => false,
        };
        usize::from(merges)
    }

    /// After a comma between the rows of a matrix, records whether the author started a new line.
    fn note_matrix_rows(&mut self, index: usize) {
        let Some(comma) = self.comma.take() else { return };
        let Some((Bracket::List, open)) = self.brackets.last() else {
            return;
        };
        let begins_line = self.words[comma + 1..=index].iter().any(|word| word.breaks > 0);
        let rows = &mut self.words[*open].matrix;
        match rows {
            Some(_) if begins_line => *rows = Some(Matrix::Rows),
            Some(Matrix::Single) => *rows = Some(Matrix::Flat),
            _ => {}
        }
    }
}
