//! Splits the words into rows: one statement, several short statements that the author put on one line, the head of a block, its closing
//! brace, or a separate comment. A row is written as one line if it fits.
//!
//! The changes of a mode follow on its line if the author put all of them there and they fit; otherwise they are written below it.

use super::super::token::Token;
use super::words::{Kind, Matrix, Stop, Word};
use crate::format::limits::{COLUMNS, INDENT};

/// Consecutive words that are written as one line if they fit, and the comments at the end of that line.
pub(super) struct Row {
    /// First word.
    pub first: usize,
    /// One past the last word.
    pub last: usize,
    /// One past the last of the comments that follow on the same line. Comments after a line comment are below it.
    pub trail: usize,
    /// The number of spaces before it.
    pub indent: usize,
    /// True if an empty line precedes it.
    pub blank: bool,
    /// The kind, for alignment.
    pub class: Class,
    /// True if the row needs several lines.
    pub broken: bool,
    /// The innermost pair of braces around it, counted through the text.
    pub block: usize,
    /// Spaces before the comment at its end.
    pub comment_gap: usize,
}

/// The kind of a row, as far as it matters for alignment with similar ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// `mass : Mass(m) x -> gnd;`
    Instance,
    /// `SE -> A -> I1;`
    Chain,
    /// A declaration that starts with a reserved word of this kind.
    Declaration(Keyword),
    /// `through = k*across;`, `stop = 5 [s];`
    Equation,
    /// An item with its body on one line.
    Item(Keyword),
    /// `mode open { through = 0; }` and the changes after it.
    Mode,
    /// Changes below a mode, `when closed -> shut;`
    Change,
    /// A separate comment.
    Comment,
    /// Anything else.
    Other,
}

/// Reserved words, grouped by common alignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keyword {
    Junction,
    Port,
    Parameter,
    Input,
    Signal,
    Output,
    State,
    Discrete,
    Domain,
    Definition,
}

/// Sums over the words before a position, so that any range of words is measured in constant time.
struct Sums {
    columns: Vec<usize>,
    breaks: Vec<usize>,
    /// The numbers of words that force a line to end, and of matrices in rows.
    forced: Vec<usize>,
    blocks: Vec<usize>,
}

impl Sums {
    fn of(words: &[Word<'_>]) -> Sums {
        let sum = |part: fn(&Word<'_>) -> usize| {
            let mut total = 0;
            let sums = words.iter().map(|word| {
                total += part(word);
                total
            });
            std::iter::once(0).chain(sums).collect()
        };
        Sums {
            columns: sum(|word| word.gap + word.width()),
            breaks: sum(|word| usize::from(word.breaks > 0)),
            forced: sum(|word| usize::from(word.ends_line() || word.matrix == Some(Matrix::Rows))),
            blocks: sum(|word| usize::from(word.is(Token::BraceOpen))),
        }
    }

    /// Returns the number of one kind in a sequence of words.
    fn within(sums: &[usize], first: usize, last: usize) -> usize {
        sums[last] - sums[first]
    }
}

struct Arrangement<'a, 't> {
    words: &'a mut [Word<'t>],
    /// For each word, the index of the first word from there on that is not a comment.
    tokens: Vec<usize>,
    sums: Sums,
    rows: Vec<Row>,
    /// The number of each open block.
    blocks: Vec<usize>,
    /// The number of blocks so far.
    count: usize,
}

/// Splits the words into rows.
pub(super) fn arrange(words: &mut [Word<'_>]) -> Vec<Row> {
    let sums = Sums::of(words);
    let mut tokens: Vec<usize> = (0..=words.len()).collect();
    for at in (0..words.len()).rev().filter(|at| words[*at].is_comment()) {
        tokens[at] = tokens[at + 1];
    }
    let mut arrangement = Arrangement {
        words,
        tokens,
        sums,
        rows: Vec::new(),
        blocks: vec![0],
        count: 0,
    };
    let mut at = 0;
    while at < arrangement.words.len() {
        at = arrangement.row(at);
    }
    arrangement.rows
}

impl<'t> Arrangement<'_, 't> {
    fn token(&self, at: usize) -> Option<Token<'t>> {
        self.words.get(at).and_then(|word| word.token())
    }

    fn indent(&self) -> usize {
        INDENT * (self.blocks.len() - 1)
    }

    /// Returns the number of spaces before a row that starts at a word.
    fn indent_of(&self, first: usize) -> usize {
        match self.is_change(first) {
            true => self.indent() + INDENT,
            false => self.indent(),
        }
    }

    /// Returns true if a change of modes starts at a word, after optional comments.
    fn is_change(&self, at: usize) -> bool {
        let word = self.words.get(self.skip_comments(at));
        word.is_some_and(|word| word.stop == Some(Stop::Change))
    }

    /// Adds the row that starts at a word, and returns the start of the next row.
    fn row(&mut self, at: usize) -> usize {
        if self.words[at].is_comment() && self.stands_alone(at) {
            return self.push(at, at + 1, Class::Comment);
        }
        if self.words[at].is(Token::BraceClose) {
            self.blocks.pop();
            let end = match self.token(at + 1) {
                Some(Token::Else) => self.header(at + 1),
                _ => self.with_changes(at, self.with_semicolons(at + 1)),
            };
            return self.push_block(at, end);
        }
        let start = self.skip_comments(at);
        let end = self.statement_end(start);
        if self.words[end - 1].is(Token::BraceOpen) {
            return match self.inline_block(at, end - 1) {
                Some(end) => {
                    self.space_statements(at, end);
                    let class = self.class_of_block(start, end);
                    let end = self.with_changes(at, end);
                    self.push(at, end, class)
                }
                None => {
                    let end = self.header(start);
                    self.push_block(at, end)
                }
            };
        }
        self.group(at, end)
    }

    /// Returns true if a comment that starts a row is a separate row: only comments follow on its line.
    fn stands_alone(&self, at: usize) -> bool {
        if self.words[at].ends_line() {
            return true;
        }
        let mut next = at + 1;
        while let Some(word) = self.words.get(next) {
            if word.breaks > 0 || word.ends_line() || word.is(Token::BraceClose) {
                return true;
            }
            if !word.is_comment() {
                return false;
            }
            next += 1;
        }
        true
    }

    fn skip_comments(&self, at: usize) -> usize {
        self.tokens[at]
    }

    /// Returns the index one past the `;` or `{` of a statement, and past stray `;` after it.
    fn statement_end(&self, mut at: usize) -> usize {
        loop {
            match self.token(at) {
                Some(Token::Semicolon) => return self.with_semicolons(at + 1),
                Some(Token::BraceOpen) => return at + 1,
                _ if at >= self.words.len() => return at,
                _ => at += 1,
            }
        }
    }

    fn with_semicolons(&self, mut at: usize) -> usize {
        while self.token(at) == Some(Token::Semicolon) {
            at += 1;
        }
        at
    }

    /// Returns the end of the changes after the mode that ends at `end`, in a row that starts at `first`: after all of them,
    /// or after none.
    fn with_changes(&self, first: usize, end: usize) -> usize {
        let mut last = end;
        while self.is_change(last) {
            let start = self.skip_comments(last);
            let next = self.statement_end(start);
            if Sums::within(&self.sums.breaks, last, start + 1) > 0 || Sums::within(&self.sums.forced, last, next) > 0 {
                return end;
            }
            last = next;
        }
        if self.fits(first, last) { last } else { end }
    }

    /// Returns the end of a block (with its `else` parts) if it is written on one line.
    fn inline_block(&self, first: usize, mut open: usize) -> Option<usize> {
        let end = loop {
            let close = self.words[open].partner;
            let was = Sums::within(&self.sums.breaks, open + 1, close + 1) == 0;
            let is_empty = close == open + 1;
            if !(was || is_empty) || Sums::within(&self.sums.blocks, open + 1, close) > 0 {
                return None;
            }
            if self.token(close + 1) != Some(Token::Else) {
                break self.with_semicolons(close + 1);
            }
            open = self.statement_end(close + 1) - 1;
        };
        let is_free = Sums::within(&self.sums.forced, first, end) == 0;
        (is_free && self.fits(first, end)).then_some(end)
    }

    /// Returns the end of a row that starts with the head of a block whose entries are on separate lines. Empty blocks stay on one line,
    /// and an `else` after them is included.
    fn header(&self, at: usize) -> usize {
        let end = self.statement_end(at);
        if !self.words[end - 1].is(Token::BraceOpen) || self.words[end - 1].partner != end {
            return end;
        }
        match self.token(end + 1) {
            Some(Token::Else) => self.header(end + 1),
            _ => self.with_semicolons(end + 1),
        }
    }

    /// Adds a row that may open a block.
    fn push_block(&mut self, first: usize, last: usize) -> usize {
        let next = self.push(first, last, Class::Other);
        if self.words[last - 1].is(Token::BraceOpen) {
            self.count += 1;
            self.blocks.push(self.count);
        }
        next
    }

    /// Adds the statements of one line as one row if they fit; `end` is the end of the first statement.
    fn group(&mut self, first: usize, end: usize) -> usize {
        let mut statements = vec![(first, end)];
        loop {
            let (begun, at) = statements[statements.len() - 1];
            let start = self.skip_comments(at);
            let follows = self.words.get(start).is_some_and(|word| !word.is(Token::BraceClose));
            if !follows
                || self.is_change(start) != self.is_change(first)
                || Sums::within(&self.sums.breaks, at, start + 1) > 0
                || Sums::within(&self.sums.forced, begun, start) > 0
            {
                break;
            }
            let end = self.statement_end(start);
            if self.words[end - 1].is(Token::BraceOpen) || Sums::within(&self.sums.forced, start, end) > 0 {
                break;
            }
            statements.push((at, end));
        }
        let last = statements[statements.len() - 1].1;
        if statements.len() > 1 && self.fits(first, last) {
            self.space_statements(first, last);
            let class = match self.is_change(first) {
                true => Class::Change,
                false => Class::Other,
            };
            return self.push(first, last, class);
        }
        let mut next = last;
        for (first, last) in statements {
            let class = self.class_of_statement(first, last);
            next = self.push(first, last, class);
        }
        next
    }

    /// Returns true if words fit on one line here.
    fn fits(&self, first: usize, last: usize) -> bool {
        // A line longer than this is not searched for its statements.
        self.width(first, last) <= COLUMNS && self.width(first, last) + self.wider_statements(first, last) <= COLUMNS
    }

    fn width(&self, first: usize, last: usize) -> usize {
        self.indent_of(first) + Sums::within(&self.sums.columns, first, last) - self.words[first].gap
    }

    /// Returns the words in a row that start a statement, except the first one.
    fn further_statements(&self, first: usize, last: usize) -> impl Iterator<Item = usize> {
        further_statements(self.words, first, last)
    }

    /// Returns the additional columns of a row if its statements are two spaces apart, which applies if the author always left at least
    /// two.
    fn wider_statements(&self, first: usize, last: usize) -> usize {
        match self.further_statements(first, last).all(|at| self.words[at].spaces > 1) {
            true => self.further_statements(first, last).count(),
            false => 0,
        }
    }

    fn space_statements(&mut self, first: usize, last: usize) {
        if self.wider_statements(first, last) > 0 {
            let starts: Vec<usize> = self.further_statements(first, last).collect();
            for at in starts {
                self.words[at].gap = 2;
            }
        }
    }

    /// Adds a row and returns the start of the next row, after the comments at its end.
    fn push(&mut self, first: usize, last: usize, class: Class) -> usize {
        let trail = self.trail(first, last);
        let indent = self.indent_of(first);
        let closes = self.words[first].is(Token::BraceClose);
        let opened = match self.rows.last() {
            Some(row) => self.words[row.last - 1].is(Token::BraceOpen),
            None => true,
        };
        let is_long = Sums::within(&self.sums.forced, first, last) > 0 || self.width(first, last) > COLUMNS;
        let broken = is_long && class != Class::Comment;
        self.rows.push(Row {
            first,
            last,
            trail,
            indent,
            blank: self.words[first].breaks > 1 && !closes && !opened,
            class: if broken { Class::Other } else { class },
            broken,
            block: self.blocks[self.blocks.len() - 1],
            comment_gap: 2,
        });
        trail
    }

    /// Returns the end of the comments that follow a row: those on its line, if no token follows there, and those that
    /// continue a line comment directly below it.
    fn trail(&self, first: usize, last: usize) -> usize {
        let mut end = last;
        let mut next = last;
        loop {
            match self.words.get(next) {
                Some(word) if word.breaks > 0 || word.is(Token::BraceClose) => end = next,
                None => end = next,
                Some(word) if word.is_comment() => {
                    next += 1;
                    if word.ends_line() {
                        end = next;
                    }
                    continue;
                }
                Some(_) => {}
            }
            break;
        }
        if end == last + 1 && self.words[last].kind == Kind::LineComment {
            let (column, indent) = (self.words[last].column, self.indent_of(first));
            let continues = |word: &Word<'_>| {
                word.kind == Kind::LineComment && word.breaks == 1 && word.column == column && column > indent
            };
            while self.words.get(end).is_some_and(continues) {
                end += 1;
            }
        }
        end
    }

    fn class_of_statement(&self, first: usize, last: usize) -> Class {
        let at_top = self.blocks.len() == 1;
        match self.token(self.skip_comments(first)) {
            Some(Token::Node | Token::Zero | Token::One) => Class::Declaration(Keyword::Junction),
            Some(Token::Port) => Class::Declaration(Keyword::Port),
            Some(Token::Param | Token::Const) => Class::Declaration(Keyword::Parameter),
            Some(Token::Input) => Class::Declaration(Keyword::Input),
            Some(Token::Signal) => Class::Declaration(Keyword::Signal),
            Some(Token::Output) => Class::Declaration(Keyword::Output),
            Some(Token::State) => Class::Declaration(Keyword::State),
            Some(Token::Discrete) => Class::Declaration(Keyword::Discrete),
            Some(Token::When) => Class::Change,
            Some(token) if !token.is_reserved() && !at_top => {
                let words = &self.words[first..last];
                let has = |stop| words.iter().any(|word| word.stop == Some(stop));
                match () {
                    _ if has(Stop::Colon) => Class::Instance,
                    _ if has(Stop::Equals) => Class::Equation,
                    _ if words.iter().any(|word| word.is(Token::Arrow)) => Class::Chain,
                    _ => Class::Other,
                }
            }
            _ => Class::Other,
        }
    }

    fn class_of_block(&self, start: usize, end: usize) -> Class {
        let one_body = Sums::within(&self.sums.blocks, start, end) == 1;
        match self.token(start) {
            Some(Token::Domain) => Class::Item(Keyword::Domain),
            Some(Token::Element | Token::Component | Token::Modal) if one_body => Class::Item(Keyword::Definition),
            Some(token) if !token.is_reserved() => Class::Mode,
            _ => Class::Other,
        }
    }
}

/// Returns the words in a row that start a statement, except the first one. Changes of modes have a separate distance.
pub(super) fn further_statements(words: &[Word<'_>], first: usize, last: usize) -> impl Iterator<Item = usize> {
    (first + 1..last).filter(move |&at| {
        let starts = !words[at].is(Token::Semicolon) && !words[at].is(Token::BraceClose);
        starts && words[at].stop != Some(Stop::Change) && words[at - 1].is(Token::Semicolon)
    })
}
