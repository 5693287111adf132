//! The expected items at a location, from the tokens before it.

use super::place::{Before, Inside};
use lgm_elaborate::MEASURES;
use lgm_elaborate::analysis::DefinitionId;
use lgm_syntax::token::Token;

/// The expected items at a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expected {
    /// The beginning of an item.
    Item,
    /// The beginning of a statement.
    Statement {
        /// True if it is in a component and not in a model.
        in_component: bool,
    },
    /// The beginning of an entry: of an element, a domain or a modal block.
    Entry(Body),
    /// A setting of an experiment.
    Setting,
    /// The way in which an experiment is run.
    Method,
    /// A curve, in a list of an experiment.
    Curve,
    /// A state of this instance, in such a list.
    CurveOf(DefinitionId),
    /// The definition of an instance.
    Kind,
    /// A domain.
    Domain,
    /// A unit in brackets.
    Unit,
    /// A unit of time in brackets.
    UnitOfTime,
    /// A variable of a port, after its dot.
    PortVariable,
    /// A module after `import`.
    Module,
    /// A member of this definition.
    Member(DefinitionId),
    /// Nothing that could be listed: a new name, a number.
    Nothing,
    /// A keyword after the domain of a node or, for a junction, also a condition.
    Flag {
        /// True if a keyword such as `floating` is allowed.
        of_domain: bool,
    },
    /// The beginning of an entry of a `when` or an `every` block.
    Action,
    /// The word between the period and the first instant of an `every` block, or an operator.
    First,
    /// A mode of this element, or of the element around the location.
    Mode(Option<DefinitionId>),
    /// A variable that a change of modes sets.
    Set,
    /// The items after a comma following an instance or a state: an attribute, or for this kind also another branch.
    Attribute(Option<DefinitionId>),
    /// A port of this component, to be bound in the parentheses that open here.
    Binding(DefinitionId, usize),
    /// A node or a port, where a branch of this kind begins or ends; in a chain of bonds also an element.
    Node {
        /// True if bonds are drawn.
        in_chain: bool,
        /// The definition of the branch.
        of: Option<DefinitionId>,
    },
    /// A node for a port, if the port is known.
    Bound(Option<DefinitionId>),
    /// The target of a measurement: `across(|`.
    Measured {
        /// True if only elements have the quantity, such as power and energy.
        of_elements: bool,
    },
    /// An expression.
    Expression {
        /// Inside the parentheses of an instance: its definition and the opening parenthesis, so that its formal parameters are also
        /// offered.
        of: Option<(DefinitionId, usize)>,
        /// The allowed values, by their dependence on time.
        values: Values,
    },
}

/// The bodies without statements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Body {
    /// `element E(k) : d { .. }`
    Element,
    /// `domain d { .. }`
    Domain,
    /// `modal B(L) : d { .. }`
    Modal,
    /// `mode open { .. }` in an element
    Mode,
}

/// The parts of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Values {
    /// Compile-time values: constants and indices.
    Constant,
    /// Only parameters and constants.
    Fixed,
    /// Any value.
    Any,
    /// Formal parameters and the variables of ports.
    Law,
    /// Values set by a change of modes: as in a law, and values before the change.
    Set,
    /// The values of a mode: formal parameters, values that the block assigns, and coordinates.
    Mode,
}

/// Returns true if the first keyword of a statement is followed by a value and not by a name.
fn has_condition(first: Token<'_>) -> bool {
    matches!(first, Token::If | Token::When | Token::Every)
}

/// Returns true if an operand ends with a token.
fn is_operand(token: Option<Token<'_>>) -> bool {
    matches!(
        token,
        Some(Token::Name(_) | Token::Number(_) | Token::ParenClose | Token::BracketClose)
    )
}

/// Returns true if the name of a node ends with a token.
fn ends_a_node(token: Option<Token<'_>>) -> bool {
    matches!(token, Some(Token::Name(_) | Token::BracketClose))
}

impl Before<'_, '_> {
    /// Returns the expected items between brackets or parentheses.
    fn within(&self, place: usize, values: Values) -> Expected {
        let before = place.checked_sub(1).map(|before| self.tokens[before].1);
        match (self.tokens[place].1, before) {
            (Token::BracketOpen, _) if self.is_unit(place) => self.unit(),
            (Token::ParenOpen, Some(Token::Name(name))) if MEASURES.contains(&name) && values == Values::Any => {
                Expected::Measured {
                    of_elements: matches!(name, "power" | "energy"),
                }
            }
            // The second parentheses of a component bind its ports.
            (Token::ParenOpen, Some(Token::ParenClose)) => match (self.kind_of_statement(), self.last()) {
                (Some(of), Some(Token::ParenOpen | Token::Comma)) => Expected::Binding(of, place),
                (of, Some(Token::Equals)) => {
                    let port = self.argument_name(place).zip(of);
                    Expected::Bound(port.and_then(|(name, of)| self.snapshot.analysis().member(of, name)))
                }
                _ => Expected::Nothing,
            },
            // A named argument is followed by a value, not by another name.
            (Token::ParenOpen, _) => Expected::Expression {
                of: self
                    .kind_before(place)
                    .filter(|_| self.argument_name(place).is_none())
                    .map(|of| (of, place)),
                values,
            },
            (Token::BracketOpen, Some(Token::Name(_))) if !matches!(values, Values::Law | Values::Set) => {
                Expected::Expression {
                    of: None,
                    values: Values::Constant,
                }
            }
            _ => Expected::Expression { of: None, values },
        }
    }

    /// Returns the expected items in the brackets of a unit: a name, unless a power is being written.
    fn unit(&self) -> Expected {
        match self.last() {
            Some(Token::BracketOpen | Token::Dot | Token::Star | Token::Slash | Token::ParenOpen) => Expected::Unit,
            _ => Expected::Nothing,
        }
    }

    /// Returns the expected items in the body of an element, a domain or a modal block.
    fn entry(&self, body: Body) -> Expected {
        let is_change = self.statement().first().is_some_and(|entry| entry.1 == Token::When);
        let values = match body {
            Body::Modal => Values::Mode,
            _ if is_change && self.is_value_of_attribute() => Values::Set,
            _ => Values::Law,
        };
        if is_change && self.open().is_none() {
            match self.last() {
                Some(Token::Arrow) => return Expected::Mode(None),
                Some(Token::Comma) => return Expected::Set,
                _ => {}
            }
        }
        match (self.statement().is_empty(), self.open(), body) {
            (true, ..) => Expected::Entry(body),
            (_, Some((place, _)), _) => self.within(place, values),
            (_, None, Body::Domain) => match self.last() {
                Some(Token::Equals) => Expected::Entry(body),
                _ => Expected::Nothing,
            },
            _ => Expected::Expression { of: None, values },
        }
    }

    /// Returns the expected items in an experiment.
    fn setting(&self) -> Expected {
        let word = |at: usize| self.statement().get(at).map(|entry| entry.1);
        match (word(0), self.open()) {
            (None, _) => Expected::Setting,
            (Some(Token::Name("method")), _) if word(1) == Some(Token::Equals) => Expected::Method,
            (Some(Token::Name("start" | "stop" | "step")), Some((place, _))) if self.is_unit(place) => {
                match self.unit() {
                    Expected::Unit => Expected::UnitOfTime,
                    other => other,
                }
            }
            (_, Some((place, _))) if self.is_unit(place) => self.unit(),
            (Some(Token::Name("plot")), Some((place, _))) if self.tokens[place].1 == Token::BracketOpen => {
                Expected::Curve
            }
            _ => Expected::Expression {
                of: None,
                values: Values::Fixed,
            },
        }
    }

    pub(super) fn expected(&self) -> Expected {
        if self.inside != Inside::Code {
            return Expected::Nothing;
        }
        let in_unit = || self.open().is_some_and(|(place, _)| self.is_unit(place));
        match self.last() {
            Some(Token::Dot) if !in_unit() => {
                // The body of an element has ports, even if other items have the same names.
                if !self.is_outside() && self.item_word() == Some(Token::Element) {
                    return Expected::PortVariable;
                }
                return match self.path_before(self.tokens.len() - 1) {
                    Some(of) if self.is_in_experiment() => Expected::CurveOf(of),
                    Some(of) => Expected::Member(of),
                    None => Expected::Nothing,
                };
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
                Some(Token::Element) if self.block_word() != Some(Token::Element) => return self.entry(Body::Mode),
                Some(Token::Element) => return self.entry(Body::Element),
                Some(Token::Domain) => return self.entry(Body::Domain),
                Some(Token::Modal) => return self.entry(Body::Modal),
                _ => {}
            }
        }
        self.of_statement()
    }

    /// Returns the expected items in a statement, or between items.
    fn of_statement(&self) -> Expected {
        let Some((_, first, _)) = self.statement().first().copied() else {
            return match self.is_outside() {
                true => Expected::Item,
                false if matches!(self.block_word(), Some(Token::When | Token::Every)) => Expected::Action,
                false => Expected::Statement {
                    in_component: self.item_word() == Some(Token::Component),
                },
            };
        };
        let values = match first {
            Token::Param => Values::Fixed,
            Token::Every => Values::Constant,
            Token::If if matches!(self.block_word(), Some(Token::When | Token::Every)) => Values::Any,
            Token::Node | Token::Zero | Token::One if self.is_value_of_attribute() => Values::Any,
            Token::Const | Token::Node | Token::Zero | Token::One | Token::Port | Token::For | Token::If => {
                Values::Constant
            }
            _ => Values::Any,
        };
        if let Some((place, _)) = self.open() {
            // Formal parameters are new names, each with a default after `=`.
            if first.begins_item() && self.tokens[place].1 == Token::ParenOpen && !self.has_default(place) {
                return Expected::Nothing;
            }
            return self.within(place, values);
        }
        let statement = self.statement();
        let colon = statement.iter().rposition(|entry| entry.1 == Token::Colon);
        let last = self.last();
        match (first, colon) {
            (Token::Node | Token::Zero | Token::One, _) if values == Values::Any => {
                Expected::Expression { of: None, values }
            }
            (Token::Node | Token::Zero | Token::One, Some(_)) if last == Some(Token::Comma) => {
                Expected::Flag { of_domain: true }
            }
            (Token::Zero | Token::One, None) if last == Some(Token::Comma) => Expected::Flag { of_domain: false },
            (Token::Every, _) if is_operand(last) && statement.len() > 1 => Expected::First,
            (Token::Node | Token::Zero | Token::One | Token::Port, Some(_)) => Expected::Domain,
            (Token::Node | Token::Zero | Token::One | Token::Port, None) => Expected::Nothing,
            (first, Some(_)) if first.begins_item() => Expected::Domain,
            (Token::Name(_), Some(place)) if place + 1 == statement.len() => Expected::Kind,
            (Token::Name(_), Some(_)) if last == Some(Token::Comma) => Expected::Attribute(self.kind_of_statement()),
            (Token::Name(_), Some(_))
                if matches!(statement, [.., (_, Token::Name("mode"), _), (_, Token::Equals, _)]) =>
            {
                Expected::Mode(self.kind_of_statement())
            }
            (Token::State, _) if last == Some(Token::Comma) => Expected::Attribute(None),
            // An arrow follows the node at which a branch begins.
            (Token::Name(_), Some(place)) if place + 2 < statement.len() && ends_a_node(last) => Expected::Nothing,
            (Token::Name(_), Some(_)) if last != Some(Token::Equals) => Expected::Node {
                in_chain: false,
                of: self.kind_of_statement(),
            },
            (Token::Name(_), None) if last == Some(Token::Arrow) => Expected::Node {
                in_chain: true,
                of: None,
            },
            // A new name.
            (first, _) if statement.len() == 1 && first.begins_statement() && !has_condition(first) => {
                Expected::Nothing
            }
            _ => Expected::Expression { of: None, values },
        }
    }
}
