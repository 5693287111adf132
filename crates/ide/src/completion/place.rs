//! What is expected at a place, from the tokens in front of it: the statement there is most often incomplete, so that the tree does
//! not have it.

use super::scope::kinds;
use crate::Snapshot;
use lgm_elaborate::MEASURES;
use lgm_elaborate::analysis::DefinitionId;
use lgm_source::Span;
use lgm_syntax::token::{self, Spanned, Token};

/// What is expected at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expected {
    /// The beginning of an item.
    Item,
    /// The beginning of a statement.
    Statement {
        /// Whether it stands in a component and not in a model.
        in_component: bool,
    },
    /// The beginning of an entry: of an element, a domain or a modal block.
    Entry(Body),
    /// A setting of an experiment.
    Setting,
    /// An output, in a list of an experiment.
    Output,
    /// What an instance is one of.
    Kind,
    /// A domain.
    Domain,
    /// A unit in brackets.
    Unit,
    /// A module after `import`.
    Module,
    /// A member of what was declared under this name.
    Member(DefinitionId),
    /// Nothing that could be listed: a new name, a number.
    Nothing,
    /// A word behind the domain of a node.
    Flag,
    /// What follows a comma behind an instance or a state: an attribute; behind an instance of this kind another branch too.
    Attribute(Option<DefinitionId>),
    /// A port of this component, to be bound.
    Binding(DefinitionId),
    /// A node or a port, where a branch of this kind begins or ends; in a chain of bonds an element too.
    Node {
        /// Whether bonds are drawn.
        in_chain: bool,
        /// What the branch is one of.
        of: Option<DefinitionId>,
    },
    /// What a measure is of: `across(|`.
    Measured,
    /// An expression.
    Expression {
        /// Inside of the parentheses of an instance, what it is one of: its formals are offered too.
        of: Option<DefinitionId>,
        /// Whether it may change with time.
        values: Values,
    },
}

/// The bodies that hold no statements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Body {
    /// `element E(k) : d { .. }`
    Element,
    /// `domain d { .. }`
    Domain,
    /// `modal B(L) : d { .. }`
    Modal,
}

/// What an expression may be made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Values {
    /// Parameters alone.
    Fixed,
    /// Whatever has a value.
    Any,
    /// Formals, and the variables of ports.
    Law,
}

/// The text up to a place, without the word that is being written.
pub(super) struct Before<'s, 't> {
    pub(super) snapshot: &'s Snapshot,
    pub(super) tokens: Vec<Spanned<'t>>,
    pub(super) at: u32,
    /// What is being written: it is replaced.
    pub(super) word: Span,
}

impl<'s, 't> Before<'s, 't> {
    pub(super) fn new(snapshot: &'s Snapshot, text: &'t str, at: u32) -> Before<'s, 't> {
        let root = snapshot.root();
        let mut tokens = token::lex(root, text).tokens;
        tokens.retain(|(start, ..)| *start < at as usize);
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
            at,
            word,
        }
    }

    pub(super) fn last(&self) -> Option<Token<'t>> {
        self.tokens.last().map(|entry| entry.1)
    }

    /// The tokens of the statement up to the place.
    pub(super) fn statement(&self) -> &[Spanned<'t>] {
        let ends = |token: &Token<'_>| matches!(token, Token::Semicolon | Token::BraceOpen | Token::BraceClose);
        let from = self
            .tokens
            .iter()
            .rposition(|entry| ends(&entry.1))
            .map_or(0, |place| place + 1);
        &self.tokens[from..]
    }

    /// Whether the place lies in no braces.
    pub(super) fn is_outside(&self) -> bool {
        let depth = self.tokens.iter().fold(0i32, |depth, entry| match entry.1 {
            Token::BraceOpen => depth + 1,
            Token::BraceClose => depth - 1,
            _ => depth,
        });
        depth <= 0
    }

    /// The bracket or parenthesis that is open at the place, by its place among the tokens, and the commas since.
    pub(super) fn open(&self) -> Option<(usize, usize)> {
        let from = self.tokens.len() - self.statement().len();
        let (mut depth, mut commas) = (0, 0);
        for place in (from..self.tokens.len()).rev() {
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

    /// What a name stands for, seen from the item around the place.
    pub(super) fn named(&self, name: &str) -> Option<DefinitionId> {
        let item = self.snapshot.analysis().item_at(self.snapshot.root(), self.at)?;
        self.snapshot.analysis().member(item, name)
    }

    /// What the path that ends before a token names: `cell[2]` of `cell[2].`.
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

    /// The definition of the element or component that an open parenthesis belongs to: `Spring` of `s : Spring(`.
    pub(super) fn kind_before(&self, place: usize) -> Option<DefinitionId> {
        let Token::Name(name) = self.tokens[place.checked_sub(1)?].1 else {
            return None;
        };
        (self.tokens.get(place.checked_sub(2)?)?.1 == Token::Colon).then(|| self.definition(name))?
    }

    /// The name that the argument at the place is given by: `b` of `Damper(b = `.
    pub(super) fn argument_name(&self, open: usize) -> Option<&'t str> {
        let from = self.tokens[open..]
            .iter()
            .rposition(|entry| matches!(entry.1, Token::Comma | Token::ParenOpen))?;
        match self.tokens.get(open + from + 1..)? {
            [(_, Token::Name(name), _), (_, Token::Equals, _), ..] => Some(name),
            _ => None,
        }
    }

    pub(super) fn definition(&self, name: &str) -> Option<DefinitionId> {
        kinds(self.snapshot)
            .into_iter()
            .find(|id| *self.snapshot.analysis().get(*id).name == *name)
    }

    /// Whether a bracket holds a unit and no index.
    pub(super) fn is_unit(&self, place: usize) -> bool {
        let before = place.checked_sub(1).map(|before| self.tokens[before].1);
        let declares = |token: Token<'_>| matches!(token, Token::Param | Token::Input | Token::Const);
        match before {
            Some(Token::Number(_) | Token::BracketClose) => true,
            // `param m [kg]`, and the formals of an item.
            Some(Token::Name(_)) => {
                place >= 2 && declares(self.tokens[place - 2].1) || self.is_outside() && self.begins_with_item()
            }
            _ => false,
        }
    }

    /// The indices of the loops around the place.
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

    /// Whether the innermost braces around the place are those of an experiment.
    pub(super) fn is_in_experiment(&self) -> bool {
        let mut depth = 0;
        for place in (1..self.tokens.len()).rev() {
            match self.tokens[place].1 {
                Token::BraceClose => depth += 1,
                Token::BraceOpen if depth == 0 => return self.tokens[place - 1].1 == Token::Experiment,
                Token::BraceOpen => depth -= 1,
                _ => {}
            }
        }
        false
    }

    pub(super) fn begins_with_item(&self) -> bool {
        self.statement().first().is_some_and(|entry| entry.1.begins_item())
    }

    /// The word of the item whose braces hold the place.
    fn item_word(&self) -> Option<Token<'t>> {
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

    /// What the statement at the place is an instance of.
    fn kind_of_statement(&self) -> Option<DefinitionId> {
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

    /// What is expected between brackets or parentheses.
    fn within(&self, place: usize, values: Values) -> Expected {
        let before = place.checked_sub(1).map(|before| self.tokens[before].1);
        match (self.tokens[place].1, before) {
            (Token::BracketOpen, _) if self.is_unit(place) => Expected::Unit,
            (Token::ParenOpen, Some(Token::Name(name))) if MEASURES.contains(&name) && values == Values::Any => {
                Expected::Measured
            }
            // The second parentheses of a component bind its ports.
            (Token::ParenOpen, Some(Token::ParenClose)) => match (self.kind_of_statement(), self.last()) {
                (Some(of), Some(Token::ParenOpen | Token::Comma)) => Expected::Binding(of),
                (_, Some(Token::Equals)) => Expected::Node {
                    in_chain: false,
                    of: None,
                },
                _ => Expected::Nothing,
            },
            (Token::ParenOpen, _) => Expected::Expression {
                of: self.kind_before(place),
                values,
            },
            _ => Expected::Expression { of: None, values },
        }
    }

    /// What is expected in the body of an element, a domain or a modal block.
    fn entry(&self, body: Body) -> Expected {
        match (self.statement().is_empty(), self.open(), body) {
            (true, ..) => Expected::Entry(body),
            (_, Some((place, _)), _) => self.within(place, Values::Law),
            (_, None, Body::Domain) => match self.last() {
                Some(Token::Equals) => Expected::Entry(body),
                _ => Expected::Nothing,
            },
            _ => Expected::Expression {
                of: None,
                values: Values::Law,
            },
        }
    }

    /// What is expected in an experiment.
    fn setting(&self) -> Expected {
        match (self.statement().is_empty(), self.open()) {
            (true, _) => Expected::Setting,
            (false, Some((place, _))) if self.is_unit(place) => Expected::Unit,
            (false, Some((place, _))) if self.tokens[place].1 == Token::BracketOpen => Expected::Output,
            _ => Expected::Expression {
                of: None,
                values: Values::Fixed,
            },
        }
    }

    pub(super) fn expected(&self) -> Expected {
        match self.last() {
            Some(Token::Dot) => {
                return self
                    .path_before(self.tokens.len() - 1)
                    .map_or(Expected::Nothing, Expected::Member);
            }
            Some(Token::Import) => return Expected::Module,
            Some(Token::Number(_)) => return Expected::Nothing,
            _ => {}
        }
        if self.is_in_experiment() {
            return self.setting();
        }
        if !self.is_outside() {
            match self.item_word() {
                Some(Token::Element) => return self.entry(Body::Element),
                Some(Token::Domain) => return self.entry(Body::Domain),
                Some(Token::Modal) => return self.entry(Body::Modal),
                _ => {}
            }
        }
        self.of_statement()
    }

    /// What is expected in a statement, or between items.
    fn of_statement(&self) -> Expected {
        let Some((_, first, _)) = self.statement().first().copied() else {
            return match self.is_outside() {
                true => Expected::Item,
                false => Expected::Statement {
                    in_component: self.item_word() == Some(Token::Component),
                },
            };
        };
        let values = match first {
            Token::Param | Token::Const | Token::Node | Token::Zero | Token::One | Token::Port | Token::For => {
                Values::Fixed
            }
            _ => Values::Any,
        };
        if let Some((place, _)) = self.open() {
            return self.within(place, values);
        }
        let statement = self.statement();
        let colon = statement.iter().rposition(|entry| entry.1 == Token::Colon);
        let last = self.last();
        match (first, colon) {
            (Token::Node | Token::Zero | Token::One, Some(_)) if last == Some(Token::Comma) => Expected::Flag,
            (Token::Node | Token::Zero | Token::One | Token::Port, Some(_)) => Expected::Domain,
            (Token::Node | Token::Zero | Token::One | Token::Port, None) => Expected::Nothing,
            (first, Some(_)) if first.begins_item() => Expected::Domain,
            (Token::Name(_), Some(place)) if place + 1 == statement.len() => Expected::Kind,
            (Token::Name(_), Some(_)) if last == Some(Token::Comma) => Expected::Attribute(self.kind_of_statement()),
            (Token::State, _) if last == Some(Token::Comma) => Expected::Attribute(None),
            (Token::Name(_), Some(_)) if last != Some(Token::Equals) => Expected::Node {
                in_chain: false,
                of: self.kind_of_statement(),
            },
            (Token::Name(_), None) if last == Some(Token::Arrow) => Expected::Node {
                in_chain: true,
                of: None,
            },
            // A new name.
            (first, _) if statement.len() == 1 && first.begins_statement() && !matches!(first, Token::If) => {
                Expected::Nothing
            }
            _ => Expected::Expression { of: None, values },
        }
    }
}
