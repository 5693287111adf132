//! Expressions as formulas of a language, with as few parentheses as they need, in the order in which the model prints them.

use crate::code::dialect::{Binding, Dialect, Operation, Text};
use lgm_algebra::expr::{ExprId, Exprs, Function, Node, Relation, to_f64};
use lgm_kernels::operation::{Binary, Unary};
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Signed, ToPrimitive, Zero};
use rustc_hash::FxHashMap;

/// Numerators and denominators beyond this are written as one number.
const LARGEST_FRACTION: u32 = 1_000_000;

/// A power as a multiplication up to this exponent, where a language has no operator for it.
const LARGEST_PRODUCT: u32 = 4;

/// A product or a power taken apart: `number * above / below`, every factor with its exponent.
#[derive(Clone, Debug)]
pub(super) struct Fraction {
    pub(super) number: BigRational,
    pub(super) above: Vec<Factor>,
    pub(super) below: Vec<Factor>,
}

/// A base and its positive exponent.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Factor {
    pub(super) base: ExprId,
    pub(super) exponent: BigRational,
}

impl Fraction {
    pub(super) fn new(exprs: &Exprs, id: ExprId) -> Fraction {
        let mut fraction = Fraction {
            number: BigRational::one(),
            above: Vec::new(),
            below: Vec::new(),
        };
        let list = match exprs.node(id) {
            Node::Product(list) => list,
            _ => std::slice::from_ref(&id),
        };
        for factor in list {
            let (base, exponent) = match exprs.node(*factor) {
                Node::Number(value) => {
                    fraction.number *= &**value;
                    continue;
                }
                Node::Power(base, exponent) => match exprs.as_number(*exponent) {
                    Some(exponent) => (*base, exponent.clone()),
                    None => (*factor, BigRational::one()),
                },
                _ => (*factor, BigRational::one()),
            };
            let side = match exponent.is_negative() {
                true => &mut fraction.below,
                false => &mut fraction.above,
            };
            side.push(Factor {
                base,
                exponent: exponent.abs(),
            });
        }
        fraction
    }

    fn factors(&self) -> impl Iterator<Item = &Factor> {
        self.above.iter().chain(&self.below)
    }
}

/// The whole number that an exponent is, if it is a small one.
fn whole(exponent: &BigRational) -> Option<u32> {
    exponent.is_integer().then(|| exponent.to_integer().to_u32()).flatten()
}

/// The expressions that the text of an expression is made of, one for each time that it stands there.
pub(super) fn operands(exprs: &Exprs, id: ExprId, has_powers: bool) -> Vec<ExprId> {
    match exprs.node(id) {
        Node::Product(_) => factors(exprs, id, has_powers),
        Node::Power(_, exponent) if exprs.as_number(*exponent).is_some() => factors(exprs, id, has_powers),
        node => node.children().collect(),
    }
}

fn factors(exprs: &Exprs, id: ExprId, has_powers: bool) -> Vec<ExprId> {
    let fraction = Fraction::new(exprs, id);
    let times = |factor: &Factor| match whole(&factor.exponent) {
        Some(times) if !has_powers && times <= LARGEST_PRODUCT => times as usize,
        _ => 1,
    };
    let list = fraction
        .factors()
        .flat_map(|factor| std::iter::repeat_n(factor.base, times(factor)));
    list.collect()
}

/// The operations of an expression itself, without those of its operands.
pub(super) fn cost(exprs: &Exprs, id: ExprId) -> u32 {
    match exprs.node(id) {
        Node::Number(_) | Node::Pi | Node::Symbol(_) => 0,
        Node::Sum(list) => list.len() as u32 - 1,
        Node::Product(_) | Node::Power(..) => {
            let fraction = Fraction::new(exprs, id);
            let own = |factor: &Factor| match whole(&factor.exponent) {
                Some(times) => times.min(LARGEST_PRODUCT) + u32::from(times > LARGEST_PRODUCT) * 6,
                None => 8,
            };
            let has_number = u32::from(!fraction.number.abs().is_one());
            (fraction.factors().map(own).sum::<u32>() + has_number).saturating_sub(1)
        }
        Node::Call(Function::Min | Function::Max | Function::Abs | Function::Sign | Function::Floor, list) => {
            list.len() as u32
        }
        Node::Call(Function::Step | Function::Pulse | Function::Ramp, _) => 1,
        Node::Call(..) => 6,
        Node::Relation(..) | Node::Not(_) | Node::If(..) => 1,
    }
}

/// Writes expressions whose operands have their texts.
pub(super) struct Writer<'a> {
    pub(super) exprs: &'a Exprs,
    pub(super) dialect: &'a dyn Dialect,
    /// The functions that were called, each once.
    pub(super) operations: Vec<Operation>,
    /// The names of reciprocals of products.
    pub(super) reciprocals: FxHashMap<Vec<Factor>, String>,
}

/// A text, and whether it is a condition.
pub(super) type Known = (Text, bool);

impl Writer<'_> {
    /// The text of an expression. `of` contains the texts of its operands, and whether each is a name for its operand.
    pub(super) fn text(&mut self, id: ExprId, of: &dyn Fn(ExprId) -> (Known, bool)) -> Known {
        let number = |id: ExprId| self.number(&of(id).0);
        match self.exprs.node(id) {
            Node::Number(value) => (self.constant(value), false),
            Node::Pi => (self.dialect.number(std::f64::consts::PI), false),
            Node::Symbol(_) => unreachable!("invariant: symbols have names"),
            Node::Sum(list) => (self.sum(list, of), false),
            Node::Product(_) => (self.signed(id, of), false),
            Node::Power(base, exponent) => match self.exprs.as_number(*exponent) {
                Some(_) => (self.signed(id, of), false),
                None => {
                    let (base, exponent) = (number(*base), number(*exponent));
                    (self.two(Binary::Power, &base, &exponent), false)
                }
            },
            Node::Call(function, list) => {
                let list: Vec<Text> = list.iter().map(|argument| number(*argument)).collect();
                self.call(*function, &list)
            }
            Node::Relation(relation, a, b) => (self.relation(*relation, &of(*a).0, &of(*b).0), true),
            Node::Not(a) => {
                let a = self.condition(&of(*a).0);
                (self.dialect.negation(&a), true)
            }
            Node::If(condition, a, b) => {
                let (a, b) = (number(*a), number(*b));
                let condition = self.condition(&of(*condition).0);
                self.takes(Operation::Choice);
                (self.dialect.select(&condition, &a, &b), false)
            }
        }
    }

    fn takes(&mut self, operation: Operation) {
        if !self.operations.contains(&operation) {
            self.operations.push(operation);
        }
    }

    fn number(&self, known: &Known) -> Text {
        match known.1 {
            true => self.dialect.as_number(&known.0),
            false => known.0.clone(),
        }
    }

    fn condition(&self, known: &Known) -> Text {
        match known.1 {
            true => known.0.clone(),
            false => self.dialect.holds(&known.0),
        }
    }

    fn one(&mut self, operation: Unary, a: &Text) -> Text {
        self.takes(Operation::One(operation));
        self.dialect.unary(operation, a)
    }

    fn two(&mut self, operation: Binary, a: &Text, b: &Text) -> Text {
        self.takes(Operation::Two(operation));
        self.dialect.binary(operation, a, b)
    }

    fn constant(&self, value: &BigRational) -> Text {
        self.dialect.short(to_f64(value))
    }

    fn relation(&self, relation: Relation, a: &Known, b: &Known) -> Text {
        let operation = match relation {
            Relation::And | Relation::Or => {
                let operation = if relation == Relation::And {
                    Binary::And
                } else {
                    Binary::Or
                };
                return self
                    .dialect
                    .condition(operation, &self.condition(a), &self.condition(b));
            }
            Relation::Less | Relation::Greater => Binary::Less,
            Relation::LessEqual | Relation::GreaterEqual => Binary::LessEqual,
            Relation::Equal => Binary::Equal,
            Relation::NotEqual => Binary::NotEqual,
        };
        let (a, b) = match relation {
            Relation::Greater | Relation::GreaterEqual => (b, a),
            _ => (a, b),
        };
        self.dialect.condition(operation, &self.number(a), &self.number(b))
    }

    fn call(&mut self, function: Function, list: &[Text]) -> Known {
        if let Some(unary) = Unary::of(function) {
            return (self.one(unary, &list[0]), false);
        }
        if let Some(binary) = Binary::of(function) {
            let all = list[1..].iter();
            return (
                all.fold(list[0].clone(), |all, next| self.two(binary, &all, next)),
                false,
            );
        }
        match function {
            Function::Step => (self.dialect.condition(Binary::LessEqual, &list[0], &list[1]), true),
            Function::Pulse => {
                let end = self.plus(&list[0], "+", &list[1]);
                let begun = self.dialect.condition(Binary::LessEqual, &list[0], &list[2]);
                let lasts = self.dialect.condition(Binary::Less, &list[2], &end);
                (self.dialect.condition(Binary::And, &begun, &lasts), true)
            }
            Function::Ramp => {
                let since = self.plus(&list[1], "-", &list[0]);
                let zero = self.dialect.short(0.0);
                (self.two(Binary::Maximum, &since, &zero), false)
            }
            // Measures are gone from every system; alone in an expression they have no value.
            Function::Int | Function::Der => (self.dialect.number(f64::NAN), false),
            other => unreachable!("invariant: {other:?} is an operation"),
        }
    }

    fn plus(&self, a: &Text, sign: &str, b: &Text) -> Text {
        let text = format!("{} {sign} {}", a.within(Binding::Sum), b.within(Binding::Product));
        Text::new(Binding::Sum, text)
    }

    /// Terms with their signs between them; of `a*exp(x) - a`, the difference is that of `expm1`.
    fn sum(&mut self, list: &[ExprId], of: &dyn Fn(ExprId) -> (Known, bool)) -> Text {
        let mut terms: Vec<(bool, Text)> = Vec::new();
        for (fraction, id) in self.terms(list, of) {
            let Some((fraction, differs)) = fraction else {
                terms.push((false, self.number(&of(id).0)));
                continue;
            };
            let is_negative = fraction.number.is_negative();
            terms.push((is_negative, self.fraction(&fraction, differs, of)));
        }
        // A positive term leads, as in `1 - x`.
        if terms[0].0
            && let Some(at) = terms.iter().position(|term| !term.0)
            && terms[at..].len() == 1
        {
            terms.rotate_right(1);
        }
        let mut text = String::new();
        for (at, (is_negative, term)) in terms.iter().enumerate() {
            text.push_str(match (at, is_negative) {
                (0, true) => "-",
                (0, false) => "",
                (_, true) => " - ",
                (_, false) => " + ",
            });
            text.push_str(&term.within(Binding::Product));
        }
        let binding = if terms.len() == 1 && !terms[0].0 {
            terms[0].1.binding
        } else {
            Binding::Sum
        };
        Text::new(binding, text)
    }

    /// The terms of a sum: as fractions, with the exponential that one less is meant of; those that have a name as they are.
    #[allow(clippy::type_complexity)]
    fn terms(
        &self,
        list: &[ExprId],
        of: &dyn Fn(ExprId) -> (Known, bool),
    ) -> Vec<(Option<(Fraction, Option<ExprId>)>, ExprId)> {
        let taken = |id: &ExprId| (Fraction::new(self.exprs, *id), *id);
        let mut left: Vec<(Fraction, ExprId)> = list.iter().map(taken).collect();
        let mut found = Vec::with_capacity(left.len());
        while !left.is_empty() {
            let (fraction, id) = left.remove(0);
            let is_exponential = |factor: &&Factor| {
                factor.exponent.is_one() && matches!(self.exprs.node(factor.base), Node::Call(Function::Exp, _))
            };
            let pair = fraction
                .above
                .iter()
                .find(is_exponential)
                .map(|factor| factor.base)
                .and_then(|exponential| {
                    let mut rest = fraction.clone();
                    rest.above.retain(|factor| factor.base != exponential);
                    let is_other = |other: &(Fraction, ExprId)| {
                        other.0.number == -&rest.number && other.0.above == rest.above && other.0.below == rest.below
                    };
                    Some((left.iter().position(is_other)?, rest, exponential))
                });
            if let Some((other, rest, exponential)) = pair {
                left.remove(other);
                found.push((Some((rest, Some(exponential))), id));
            } else if of(id).1 {
                found.push((None, id));
            } else {
                found.push((Some((fraction, None)), id));
            }
        }
        found
    }

    /// A product or a power with its sign.
    fn signed(&mut self, id: ExprId, of: &dyn Fn(ExprId) -> (Known, bool)) -> Text {
        let fraction = Fraction::new(self.exprs, id);
        let text = self.fraction(&fraction, None, of);
        if !fraction.number.is_negative() {
            return text;
        }
        // A negative product is a product: in a denominator it needs parentheses.
        let binding = match text.binding {
            Binding::Atom => self.dialect.sign(),
            _ => self.dialect.sign().min(Binding::Product),
        };
        Text::new(binding, format!("-{}", text.within(Binding::Product)))
    }

    /// A product over a product, without its sign.
    fn fraction(&mut self, of_it: &Fraction, differs: Option<ExprId>, of: &dyn Fn(ExprId) -> (Known, bool)) -> Text {
        let (number, divisor) = parts(&of_it.number.abs());
        let mut above: Vec<Text> = Vec::new();
        if !number.is_one() || (of_it.above.is_empty() && differs.is_none()) {
            above.push(self.constant(&number));
        }
        above.extend(of_it.above.iter().map(|factor| self.power(factor, of)));
        if let Some(Node::Call(_, list)) = differs.map(|id| self.exprs.node(id)) {
            let exponent = self.number(&of(list[0]).0);
            above.push(self.one(Unary::ExpMinusOne, &exponent));
        }
        let mut below: Vec<Text> = Vec::new();
        if !divisor.is_one() {
            below.push(self.constant(&divisor));
        }
        match self.reciprocals.get(&of_it.below) {
            Some(name) => {
                let is_alone = number.is_one() && of_it.above.is_empty() && differs.is_none();
                above.truncate(if is_alone { 0 } else { above.len() });
                above.push(Text::atom(name.clone()));
            }
            None => below.extend(of_it.below.iter().map(|factor| self.power(factor, of))),
        }
        let joined = |list: &[Text]| {
            let list: Vec<String> = list.iter().map(|text| text.within(Binding::Product)).collect();
            list.join("*")
        };
        match (above.as_slice(), below.as_slice()) {
            ([only], []) => only.clone(),
            (above, []) => Text::new(Binding::Product, joined(above)),
            (above, [only]) => {
                let text = format!("{}/{}", joined(above), only.within(Binding::Sign));
                Text::new(Binding::Product, text)
            }
            (above, below) => Text::new(Binding::Product, format!("{}/({})", joined(above), joined(below))),
        }
    }

    /// The reciprocal of a product.
    pub(super) fn reciprocal(&mut self, below: &[Factor], of: &dyn Fn(ExprId) -> (Known, bool)) -> Text {
        let fraction = Fraction {
            number: BigRational::one(),
            above: Vec::new(),
            below: below.to_vec(),
        };
        self.fraction(&fraction, None, of)
    }

    /// A base to its exponent.
    fn power(&mut self, factor: &Factor, of: &dyn Fn(ExprId) -> (Known, bool)) -> Text {
        let base = self.number(&of(factor.base).0);
        if let Some(times) = whole(&factor.exponent) {
            return self.whole_power(&base, times);
        }
        let half = BigRational::new(BigInt::one(), BigInt::from(2));
        match whole(&(&factor.exponent - &half)) {
            Some(0) => self.one(Unary::SquareRoot, &base),
            Some(times) if times <= LARGEST_PRODUCT => {
                let (power, root) = (self.whole_power(&base, times), self.one(Unary::SquareRoot, &base));
                let text = format!("{}*{}", power.within(Binding::Product), root.within(Binding::Product));
                Text::new(Binding::Product, text)
            }
            _ => {
                let exponent = self.dialect.number(to_f64(&factor.exponent));
                self.two(Binary::Power, &base, &exponent)
            }
        }
    }

    fn whole_power(&mut self, base: &Text, times: u32) -> Text {
        if times == 1 {
            return base.clone();
        }
        if let Some(power) = self.dialect.whole_power(base, times) {
            return power;
        }
        if base.binding == Binding::Atom && times <= LARGEST_PRODUCT {
            let list = vec![base.text.as_str(); times as usize];
            return Text::new(Binding::Product, list.join("*"));
        }
        let exponent = self.dialect.number(f64::from(times));
        self.two(Binary::Power, base, &exponent)
    }
}

/// A positive coefficient as a number in front and one below the line, as the equations of the model show it.
fn parts(value: &BigRational) -> (BigRational, BigRational) {
    let (above, below) = (value.numer(), value.denom());
    let is_common = *above < BigInt::from(10) && [2, 4, 8].iter().any(|part| *below == BigInt::from(*part));
    let largest = BigInt::from(LARGEST_FRACTION);
    let is_small = *above <= largest && *below <= largest;
    if is_common || (is_small && !is_decimal(below)) {
        let whole = |value: &BigInt| BigRational::from_integer(value.clone());
        return (whole(above), whole(below));
    }
    (value.clone(), BigRational::one())
}

/// True if a number below the line ends as a decimal.
fn is_decimal(below: &BigInt) -> bool {
    let mut rest = below.clone();
    for prime in [2u32, 5] {
        while !rest.is_one() && (&rest % prime).is_zero() {
            rest /= prime;
        }
    }
    rest.is_one()
}
