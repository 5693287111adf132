//! The tokens around a location, and the context that they imply: the statement there is usually incomplete, and therefore missing from the
//! tree.

use super::scope::kinds;
use crate::Snapshot;
use lgm_elaborate::analysis::DefinitionId;
use lgm_source::Span;
use lgm_syntax::token::{self, Spanned, Token};

/// The text before a location, without the incomplete word.
pub(super) struct Before<'s, 't> {
    pub(super) snapshot: &'s Snapshot,
    pub(super) tokens: Vec<Spanned<'t>>,
    /// The tokens after the location.
    pub(super) after: Vec<Spanned<'t>>,
    pub(super) at: u32,
    /// The incomplete word, which is replaced.
    pub(super) word: Span,
    /// The context of the location.
    pub(super) inside: Inside,
}

/// The context of a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Inside {
    /// Tokens of the language, or the space between them.
    Code,
    /// A comment.
    Comment,
    /// A string literal: the part before the location.
    Text(Span),
}

/// Returns the parts of a list of arguments up to its end.
fn split_at_commas<'a, 't>(tokens: &'a [Spanned<'t>]) -> Vec<&'a [Spanned<'t>]> {
    let (mut parts, mut from, mut depth) = (Vec::new(), 0, 0);
    for (place, (_, token, _)) in tokens.iter().enumerate() {
        match token {
            Token::ParenOpen | Token::BracketOpen => depth += 1,
            Token::ParenClose | Token::BracketClose if depth == 0 => {
                parts.push(&tokens[from..place]);
                return parts;
            }
            Token::ParenClose | Token::BracketClose => depth -= 1,
            Token::Comma if depth == 0 => {
                parts.push(&tokens[from..place]);
                from = place + 1;
            }
            Token::Semicolon | Token::BraceOpen | Token::BraceClose => break,
            _ => {}
        }
    }
    // In an unclosed list, the last part may belong to the following text and is omitted unless it ends with a comma.
    parts.push(&tokens[from..from]);
    parts
}

impl<'s, 't> Before<'s, 't> {
    pub(super) fn new(snapshot: &'s Snapshot, text: &'t str, at: u32) -> Before<'s, 't> {
        let root = snapshot.root();
        let lexed = token::lex(root, text);
        let place = at as usize;
        let is_comment = lexed.comment_at(place).is_some();
        let mut tokens = lexed.tokens;
        let after = tokens.split_off(tokens.partition_point(|(start, ..)| *start < place));
        let quoted = tokens.last().filter(|(start, token, end)| {
            let is_text = matches!(token, Token::Text(_) | Token::Error) && text[*start..].starts_with('"');
            // A string without its closing quote continues.
            let is_open = *token == Token::Error;
            is_text && (place < *end || is_open && !text[*end..place].contains('\n'))
        });
        let inside = match quoted {
            _ if is_comment => Inside::Comment,
            Some((start, ..)) => Inside::Text(Span::new(root, start + 1, place)),
            None => Inside::Code,
        };
        let mut word = Span {
            source: root,
            start: at,
            end: at,
        };
        let last = tokens
            .last()
            .map(|(start, token, end)| (*start, token.is_word() || matches!(token, Token::Name(_)), *end));
        if let Some((start, true, end)) = last
            && end >= at as usize
        {
            word = Span::new(root, start, end);
            tokens.pop();
        }
        Before {
            snapshot,
            tokens,
            after,
            at,
            word,
            inside,
        }
    }

    pub(super) fn last(&self) -> Option<Token<'t>> {
        self.tokens.last().map(|entry| entry.1)
    }

    /// Returns the tokens of the statement up to the location.
    pub(super) fn statement(&self) -> &[Spanned<'t>] {
        let ends = |token: &Token<'_>| matches!(token, Token::Semicolon | Token::BraceOpen | Token::BraceClose);
        let from = self
            .tokens
            .iter()
            .rposition(|entry| ends(&entry.1))
            .map_or(0, |place| place + 1);
        &self.tokens[from..]
    }

    /// Returns true if the location is outside all braces.
    pub(super) fn is_outside(&self) -> bool {
        let depth = self.tokens.iter().fold(0i32, |depth, entry| match entry.1 {
            Token::BraceOpen => depth + 1,
            Token::BraceClose => depth - 1,
            _ => depth,
        });
        depth <= 0
    }

    /// Returns the token index of the bracket or parenthesis that is open at the location, and the number of commas after it.
    pub(super) fn open(&self) -> Option<(usize, usize)> {
        self.open_at(self.tokens.len())
    }

    /// Returns the open bracket or parenthesis before a token of the statement.
    pub(super) fn open_at(&self, end: usize) -> Option<(usize, usize)> {
        let from = self.tokens.len() - self.statement().len();
        let (mut depth, mut commas) = (0, 0);
        for place in (from..end).rev() {
            match self.tokens[place].1 {
                Token::ParenClose | Token::BracketClose => depth += 1,
                Token::ParenOpen | Token::BracketOpen if depth == 0 => return Some((place, commas)),
                Token::ParenOpen | Token::BracketOpen => depth -= 1,
                Token::Comma if depth == 0 => commas += 1,
                _ => {}
            }
        }
        None
    }

    /// Returns the meaning of a name within the item around the location.
    pub(super) fn named(&self, name: &str) -> Option<DefinitionId> {
        let item = self.snapshot.analysis().item_at(self.snapshot.root(), self.at)?;
        self.snapshot.analysis().member(item, name)
    }

    /// Returns the meaning of the path that ends before a token: `cell[2]` of `cell[2].`.
    pub(super) fn path_before(&self, place: usize) -> Option<DefinitionId> {
        let mut at = place.checked_sub(1)?;
        if self.tokens[at].1 == Token::BracketClose {
            let mut depth = 1;
            while depth > 0 {
                at = at.checked_sub(1)?;
                match self.tokens[at].1 {
                    Token::BracketClose => depth += 1,
                    Token::BracketOpen => depth -= 1,
                    _ => {}
                }
            }
            at = at.checked_sub(1)?;
        }
        let Token::Name(name) = self.tokens[at].1 else {
            return None;
        };
        match at.checked_sub(1).map(|before| self.tokens[before].1) {
            Some(Token::Dot) => self.snapshot.analysis().member(self.path_before(at - 1)?, name),
            _ => self.named(name),
        }
    }

    /// Returns true if the bracket that closes before a token contains the index of a name.
    fn ends_index(&self, place: usize) -> bool {
        let mut depth = 0;
        for at in (0..place).rev() {
            match self.tokens[at].1 {
                Token::BracketClose => depth += 1,
                Token::BracketOpen => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return matches!(at.checked_sub(1).map(|at| self.tokens[at].1), Some(Token::Name(_)));
            }
        }
        false
    }

    /// Returns the definition of the element or component that an open parenthesis belongs to: `Spring` of `s : Spring(`.
    pub(super) fn kind_before(&self, place: usize) -> Option<DefinitionId> {
        let Token::Name(name) = self.tokens[place.checked_sub(1)?].1 else {
            return None;
        };
        (self.tokens.get(place.checked_sub(2)?)?.1 == Token::Colon).then(|| self.definition(name))?
    }

    /// Returns the name of the argument at the location: `b` in `Damper(b = `.
    pub(super) fn argument_name(&self, open: usize) -> Option<&'t str> {
        let from = self.tokens[open..]
            .iter()
            .rposition(|entry| matches!(entry.1, Token::Comma | Token::ParenOpen))?;
        match self.tokens.get(open + from + 1..)? {
            [(_, Token::Name(name), _), (_, Token::Equals, _), ..] => Some(name),
            _ => None,
        }
    }

    /// Returns true if the formal parameter at the location already has the `=` of its default.
    pub(super) fn has_default(&self, open: usize) -> bool {
        let since = self.tokens[open..].iter().rev();
        since
            .take_while(|entry| !matches!(entry.1, Token::Comma | Token::ParenOpen))
            .any(|entry| entry.1 == Token::Equals)
    }

    /// Returns the name that the statement at the location declares, which its own value must not use.
    pub(super) fn declared(&self) -> Option<&'t str> {
        match self.statement() {
            [
                (_, Token::Param | Token::Const | Token::Signal | Token::Output, _),
                (_, Token::Name(name), _),
                ..,
            ] => Some(name),
            _ => None,
        }
    }

    /// Returns the start node of the branch whose end is being written, `x` in `x -> |`.
    pub(super) fn branch_begins_at(&self) -> Option<&'t str> {
        match self.statement() {
            [.., (_, Token::Name(name), _), (_, Token::Arrow, _)] => Some(name),
            _ => None,
        }
    }

    /// Returns the names of the arguments between a parenthesis and its end, before and after the location, and the number of unnamed
    /// arguments before it. The incomplete word is excluded.
    pub(super) fn given(&self, open: usize) -> (Vec<&'t str>, usize) {
        let (mut names, mut unnamed) = (Vec::new(), 0);
        let before = &self.tokens[open + 1..];
        let name_of = |part: &[Spanned<'t>]| match part {
            [(_, Token::Name(name), _), (_, Token::Equals, _), ..] => Some(*name),
            _ => None,
        };
        let mut parts = split_at_commas(before);
        parts.pop();
        for part in parts {
            match name_of(part) {
                Some(name) => names.push(name),
                None => unnamed += 1,
            }
        }
        // The text after the argument at the location.
        names.extend(split_at_commas(&self.after).into_iter().skip(1).filter_map(name_of));
        (names, unnamed)
    }

    /// Returns the assigned names in the statement or experiment at the location, before and after it.
    pub(super) fn assigned(&self) -> Vec<&'t str> {
        let is_in_experiment = self.is_in_experiment();
        let ends = |token: Token<'_>| {
            matches!(token, Token::BraceOpen | Token::BraceClose) || !is_in_experiment && token == Token::Semicolon
        };
        let from = self
            .tokens
            .iter()
            .rposition(|entry| ends(entry.1))
            .map_or(0, |place| place + 1);
        let to = self
            .after
            .iter()
            .position(|entry| ends(entry.1))
            .unwrap_or(self.after.len());
        let (mut depth, mut names) = (0, Vec::new());
        for part in [&self.tokens[from..], &self.after[..to]] {
            for pair in part.windows(2) {
                match (pair[0].1, pair[1].1) {
                    (Token::ParenOpen | Token::BracketOpen, _) => depth += 1,
                    (Token::ParenClose | Token::BracketClose, _) => depth -= 1,
                    (Token::Name(name), Token::Equals) if depth == 0 => names.push(name),
                    _ => {}
                }
            }
        }
        names
    }

    /// Returns the arguments of the function on the left-hand side of the equation at the location: `x` in `shape(x) = `.
    pub(super) fn coordinates(&self) -> Vec<&'t str> {
        let statement = self.statement();
        let end = statement.iter().position(|entry| entry.1 == Token::Equals);
        let left = end.map_or(&[][..], |end| &statement[..end]);
        let inside = match left {
            [(_, Token::Name(_), _), (_, Token::ParenOpen, _), inside @ ..] => inside,
            _ => &[],
        };
        let name = |entry: &Spanned<'t>| match entry.1 {
            Token::Name(name) => Some(name),
            _ => None,
        };
        inside.iter().filter_map(name).collect()
    }

    pub(super) fn definition(&self, name: &str) -> Option<DefinitionId> {
        kinds(self.snapshot)
            .into_iter()
            .find(|id| *self.snapshot.analysis().get(*id).name == *name)
    }

    /// Returns true if a bracket contains a unit and not an index.
    pub(super) fn is_unit(&self, place: usize) -> bool {
        let before = place.checked_sub(1).map(|before| self.tokens[before].1);
        let declares = |token: Token<'_>| matches!(token, Token::Param | Token::Input | Token::Const);
        match before {
            Some(Token::Number(_)) => true,
            // After a list, and not after an index.
            Some(Token::BracketClose) => !self.ends_index(place),
            // `param m [kg]`, and the formal parameters of an item.
            Some(Token::Name(_)) => {
                place >= 2 && declares(self.tokens[place - 2].1) || self.is_outside() && self.begins_with_item()
            }
            _ => false,
        }
    }

    /// Returns the indices of the loops around the location.
    pub(super) fn loop_indices(&self) -> Vec<&'t str> {
        let mut open: Vec<Option<&'t str>> = Vec::new();
        let mut index = None;
        for (place, (_, token, _)) in self.tokens.iter().enumerate() {
            match (token, self.tokens.get(place + 1)) {
                (Token::For, Some((_, Token::Name(name), _))) => index = Some(*name),
                (Token::Semicolon, _) => index = None,
                (Token::BraceOpen, _) => open.push(index.take()),
                (Token::BraceClose, _) => drop(open.pop()),
                _ => {}
            }
        }
        open.into_iter().flatten().collect()
    }

    /// Returns the first keyword before the innermost braces around the location, except those of `if` and `else`.
    pub(super) fn block_word(&self) -> Option<Token<'t>> {
        let ends = |token: Token<'_>| matches!(token, Token::Semicolon | Token::BraceOpen | Token::BraceClose);
        let mut depth = 0;
        for place in (0..self.tokens.len()).rev() {
            match self.tokens[place].1 {
                Token::BraceClose => depth += 1,
                Token::BraceOpen if depth == 0 => {
                    let head = self.tokens[..place].iter().rposition(|entry| ends(entry.1));
                    match self.tokens[head.map_or(0, |end| end + 1)].1 {
                        Token::If | Token::Else => {}
                        word => return Some(word),
                    }
                }
                Token::BraceOpen => depth -= 1,
                _ => {}
            }
        }
        None
    }

    /// Returns true if the innermost braces around the location are those of an experiment.
    pub(super) fn is_in_experiment(&self) -> bool {
        self.block_word() == Some(Token::Experiment)
    }

    /// Returns true if a value is being written after the last comma: `on = |`.
    pub(super) fn is_value_of_attribute(&self) -> bool {
        let since = self.statement().iter().rev();
        let mut since = since.take_while(|entry| entry.1 != Token::Comma);
        since.any(|entry| entry.1 == Token::Equals)
    }

    pub(super) fn begins_with_item(&self) -> bool {
        self.statement().first().is_some_and(|entry| entry.1.begins_item())
    }

    /// Returns the keyword of the item whose braces contain the location.
    pub(super) fn item_word(&self) -> Option<Token<'t>> {
        let (mut depth, mut word) = (0, None);
        for (_, token, _) in &self.tokens {
            match token {
                Token::BraceOpen => depth += 1,
                Token::BraceClose => depth -= 1,
                token if depth == 0 && token.begins_item() => word = Some(*token),
                _ => {}
            }
        }
        word
    }

    /// Returns the definition of the instance in the statement at the location.
    pub(super) fn kind_of_statement(&self) -> Option<DefinitionId> {
        match self.statement() {
            [(_, Token::Name(_), _), ..] => {
                let statement = self.statement();
                let colon = statement.iter().position(|entry| entry.1 == Token::Colon)?;
                match statement.get(colon + 1)?.1 {
                    Token::Name(name) => self.definition(name),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}
