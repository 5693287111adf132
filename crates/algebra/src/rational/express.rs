//! Conversion of rational functions to readable expressions.

use super::rational_function::RationalFunction;
use crate::expr::{ExprId, Exprs, Function};
use crate::integer::Integer;
use crate::polynomials::gcd::{Budget, gcd, gcd_list};
use crate::polynomials::polynomial::{Polynomial, Variable};
use crate::rational::kernels::{Kernels, Meaning};
use crate::rational::rational_functions::RationalFunctions;
use num_bigint::BigInt;
use num_integer::Integer as _;
use num_rational::BigRational;
use num_traits::{One, Signed, Zero};
use std::borrow::Cow;

/// Polynomials longer than this are unchanged: they are unreadable, and factors are expensive to find.
const LONGEST_TO_FACTOR: usize = 200;

impl RationalFunctions {
    /// Returns a readable expression. A common sign, number and monomial are in front, and factors are separated if they are found without
    /// a search. Terms and factors are in the order of declaration, positive terms first.
    pub fn to_expression(&self, exprs: &mut Exprs, f: &RationalFunction) -> ExprId {
        if let Some(number) = f.as_number() {
            return exprs.number(number);
        }
        if f.numerator.term_count() == 1 && f.denominator.term_count() == 1 {
            return self.of_monomials(exprs, f);
        }
        let numerator = Written::new(self.shortest(&f.numerator));
        let denominator = Written::new(self.shortest(&f.denominator));
        let mut number = &numerator.number / &denominator.number;
        let top_scale = best_scale(&mut number, &numerator.factors, false);
        let bottom_scale = best_scale(&mut number, &denominator.factors, true);
        let mut product = vec![exprs.number(number)];
        numerator.push_factors(&self.kernels, exprs, &top_scale, 1, &mut product);
        denominator.push_factors(&self.kernels, exprs, &bottom_scale, -1, &mut product);
        exprs.product(product)
    }

    /// Converts a quotient of two single terms, as most entries of a sparse system are: factoring is unnecessary.
    fn of_monomials(&self, exprs: &mut Exprs, f: &RationalFunction) -> ExprId {
        let number = BigRational::new(f.numerator.coefficient(0), f.denominator.coefficient(0));
        let mut product = vec![exprs.number(number)];
        for (polynomial, sign) in [(&f.numerator, 1), (&f.denominator, -1)] {
            for (variable, exponent) in polynomial.factors(0) {
                let base = self.kernels.expression(exprs, variable);
                let exponent = exprs.integer(sign * i64::from(exponent));
                product.push(exprs.power(base, exponent));
            }
        }
        exprs.product(product)
    }

    /// Returns the polynomial with squared cosines replaced by squared sines, if that is shorter.
    fn shortest<'p>(&self, polynomial: &'p Polynomial) -> Cow<'p, Polynomial> {
        let mut best = Cow::Borrowed(polynomial);
        for variable in polynomial.variables() {
            let Meaning::Call(function @ (Function::Cos | Function::Cosh), argument) = self.kernels.meaning(variable)
            else {
                continue;
            };
            let odd = if function == Function::Cos {
                Function::Sin
            } else {
                Function::Sinh
            };
            let Some(odd) = self.kernels.known(Meaning::Call(odd, argument)) else {
                continue;
            };
            if best.degree(variable) < 2 || best.term_count() > LONGEST_TO_FACTOR {
                continue;
            }
            let square = Polynomial::monomial(&[(odd, 2)]);
            let square = if function == Function::Cos {
                Polynomial::one().sub(&square)
            } else {
                Polynomial::one().add(&square)
            };
            let mut parts = [Polynomial::zero(), Polynomial::zero()];
            for (exponent, coefficient) in best.coefficients_in(variable).iter().enumerate() {
                let part = coefficient.mul(&square.power(exponent as u32 / 2));
                parts[exponent % 2] = parts[exponent % 2].add(&part);
            }
            let other = Polynomial::from_coefficients_in(variable, &parts);
            if other.term_count() < best.term_count() {
                best = Cow::Owned(other);
            }
        }
        best
    }
}

/// A polynomial as a number times powers of variables times primitive factors.
struct Written {
    number: BigRational,
    monomial: Vec<(Variable, u32)>,
    factors: Vec<(Polynomial, u32)>,
}

impl Written {
    fn new(polynomial: Cow<'_, Polynomial>) -> Written {
        let content = polynomial.integer_content();
        // Only a sign common to all terms goes in front: `b - a` is better than `-(a - b)`.
        let negative = polynomial.coefficients.iter().all(Integer::is_negative);
        let content = if negative { content.neg() } else { content };
        let monomial = polynomial.monomial_content();
        let rest = polynomial
            .divide_integer(&content)
            .expect("invariant: the content divides every coefficient")
            .without_monomial_content();
        let mut factors = Vec::new();
        let mut number = BigRational::from_integer(content.big());
        if !rest.is_one() {
            let mut budget = Budget::new(100_000, usize::MAX);
            factor(rest.clone(), &mut factors, &mut budget);
            // Factors have positive leading coefficients; the remaining sign goes into the first factor with mixed signs, or in front.
            let is_whole = match &factors[..] {
                [(only, 1)] => *only == rest,
                _ => {
                    let powers = factors.iter().map(|(factor, power)| factor.power(*power));
                    powers.fold(Polynomial::one(), |product, power| product.mul(&power)) == rest
                }
            };
            if !is_whole {
                let mixed = factors
                    .iter_mut()
                    .find(|(factor, power)| power % 2 == 1 && factor.coefficients.iter().any(Integer::is_negative));
                match mixed {
                    Some((factor, _)) => *factor = factor.neg(),
                    None => number = -number,
                }
            }
        }
        Written {
            number,
            monomial,
            factors,
        }
    }

    /// Appends the factors, raised to `sign`, with the polynomial of the scale divided by its number.
    fn push_factors(&self, kernels: &Kernels, exprs: &mut Exprs, scale: &Scale, sign: i64, product: &mut Vec<ExprId>) {
        for (variable, exponent) in &self.monomial {
            let base = kernels.expression(exprs, *variable);
            let exponent = exprs.integer(sign * i64::from(*exponent));
            product.push(exprs.power(base, exponent));
        }
        for (index, (polynomial, exponent)) in self.factors.iter().enumerate() {
            let divisor = if index == scale.factor {
                scale.divisor.clone()
            } else {
                BigInt::one()
            };
            let base = terms(kernels, exprs, polynomial, &divisor);
            let exponent = exprs.integer(sign * i64::from(*exponent));
            product.push(exprs.power(base, exponent));
        }
    }
}

/// Splits a primitive polynomial without monomial content into factors that are found without a search: those that do not contain some
/// variable, and repeated ones.
fn factor(polynomial: Polynomial, list: &mut Vec<(Polynomial, u32)>, budget: &mut Budget) {
    if polynomial.is_one() {
        return;
    }
    let may_split = polynomial.term_count() > 2 && polynomial.term_count() <= LONGEST_TO_FACTOR;
    // A factor without a variable that occurs in only one term, to the first power, would divide that term and all others, which is
    // impossible.
    if may_split && !polynomial.has_variable_of_one_term() {
        for variable in polynomial.variables() {
            let mut parts = polynomial.coefficients_in(variable);
            if parts.len() > 2 {
                // A repeated factor divides the derivative.
                let repeated = gcd(&polynomial, &polynomial.derivative(variable), budget);
                if !repeated.is_constant() && !budget.exhausted() {
                    let rest = budget.quotient(&polynomial, &repeated);
                    factor(repeated.primitive_part(), list, budget);
                    factor(rest.primitive_part(), list, budget);
                    return;
                }
            }
            parts.retain(|part| !part.is_zero());
            let content = gcd_list(parts, budget);
            if !content.is_constant() && !budget.exhausted() {
                let rest = budget.quotient(&polynomial, &content);
                factor(content.primitive_part(), list, budget);
                factor(rest.primitive_part(), list, budget);
                return;
            }
        }
    }
    let polynomial = polynomial.primitive_part();
    match list.iter_mut().find(|known| known.0 == polynomial) {
        Some(known) => known.1 += 1,
        None => list.push((polynomial, 1)),
    }
    list.sort_by(|a, b| a.0.variables.cmp(&b.0.variables));
}

/// Returns the sum of the terms over a number, positive ones first.
fn terms(kernels: &Kernels, exprs: &mut Exprs, polynomial: &Polynomial, divisor: &BigInt) -> ExprId {
    let mut positive = Vec::new();
    let mut negative = Vec::new();
    for term in 0..polynomial.term_count() {
        let coefficient = BigRational::new(polynomial.coefficient(term), divisor.clone());
        let is_negative = coefficient.is_negative();
        let mut product = vec![exprs.number(coefficient)];
        for (variable, exponent) in polynomial.factors(term) {
            let base = kernels.expression(exprs, variable);
            let exponent = exprs.integer(i64::from(exponent));
            product.push(exprs.power(base, exponent));
        }
        let product = exprs.product(product);
        if is_negative {
            negative.push(product)
        } else {
            positive.push(product)
        }
    }
    exprs.sum(positive.into_iter().chain(negative))
}

/// A number by which one of the factors is divided, so that decimals look as typed.
struct Scale {
    factor: usize,
    divisor: BigInt,
}

/// Chooses between decimals inside a sum, `0.5*k1 + 9.81*m`, and a common denominator, `(50*k1 + 981*m)/100`; adapts the number in front.
fn best_scale(number: &mut BigRational, factors: &[(Polynomial, u32)], inverse: bool) -> Scale {
    let none = Scale {
        factor: usize::MAX,
        divisor: BigInt::one(),
    };
    let [(polynomial, 1)] = factors else {
        return none;
    };
    let available = if inverse { number.numer() } else { number.denom() };
    let smooth = smooth_part(available);
    if polynomial.term_count() > LONGEST_TO_FACTOR || smooth < BigInt::from(2) {
        return none;
    }
    let mut candidates = vec![BigInt::one(), smooth.clone()];
    let mut power = BigInt::from(10);
    while smooth.is_multiple_of(&power) {
        candidates.push(power.clone());
        power *= 10;
    }
    let cost = |divisor: &BigInt| {
        let scale = BigRational::from_integer(divisor.clone());
        let front = if inverse { &*number / &scale } else { &*number * &scale };
        let inside: usize = (0..polynomial.term_count())
            .map(|term| length(&BigRational::new(polynomial.coefficient(term), divisor.clone())))
            .sum();
        inside + length(&front)
    };
    let best = candidates
        .into_iter()
        .min_by_key(cost)
        .expect("invariant: 1 is always a candidate");
    let scale = BigRational::from_integer(best.clone());
    *number = if inverse { &*number / &scale } else { &*number * &scale };
    Scale {
        factor: 0,
        divisor: best,
    }
}

/// Returns the greatest divisor of the form 2^a 5^b.
fn smooth_part(value: &BigInt) -> BigInt {
    let mut smooth = BigInt::one();
    if value.is_zero() {
        return smooth;
    }
    let mut rest = value.abs();
    for prime in [2, 5] {
        let prime = BigInt::from(prime);
        while rest.is_multiple_of(&prime) {
            rest /= &prime;
            smooth *= &prime;
        }
    }
    smooth
}

/// Returns the approximate number of characters of a coefficient; 0 if it is 1.
fn length(value: &BigRational) -> usize {
    let value = value.abs();
    if value.is_one() {
        return 0;
    }
    let (numerator, denominator) = (value.numer(), value.denom());
    if denominator.is_one() {
        return numerator.to_string().len();
    }
    if smooth_part(denominator) == *denominator && *denominator > BigInt::from(8) {
        let mut places = 0;
        let mut power = BigInt::one();
        while !power.is_multiple_of(denominator) && places < 40 {
            power *= 10;
            places += 1;
        }
        return (value.to_integer().to_string().len()) + 1 + places;
    }
    let over = denominator.to_string().len() + 1;
    if numerator.is_one() {
        over
    } else {
        numerator.to_string().len() + over
    }
}
