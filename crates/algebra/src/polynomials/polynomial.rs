//! Sparse multivariate polynomials with integer coefficients.
//!
//! A polynomial lists its variables in ascending order, and its terms in descending lexicographic order (the variable with the least index
//! weighs most). Equal polynomials are therefore equal values. Exponents are packed four to a word, the first variable in the highest bits:
//! a monomial product is an addition of words, and comparing words compares monomials.

use crate::integer::Integer;
use num_bigint::BigInt;
use smallvec::{SmallVec, smallvec};
use std::borrow::Cow;
use std::cmp::Ordering;

/// An indeterminate of polynomials.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Variable(pub u32);

/// The highest bit of each packed exponent, never set: room for a borrow when monomials are divided.
pub(crate) const GUARD: u64 = 0x8000_8000_8000_8000;

/// Ascending; up to four without a heap allocation, as in the local entries of a sparse system.
pub(crate) type Variables = SmallVec<[u32; 4]>;

/// Packed words, `stride` per term.
pub(crate) type Exponents = SmallVec<[u64; 2]>;

/// One coefficient per term.
pub(crate) type Coefficients = SmallVec<[Integer; 1]>;

/// A polynomial over the integers.
#[derive(Debug, PartialEq, Eq, Default)]
pub struct Polynomial {
    pub(crate) variables: Variables,
    pub(crate) exponents: Exponents,
    pub(crate) coefficients: Coefficients,
}

impl Clone for Polynomial {
    fn clone(&self) -> Polynomial {
        Polynomial {
            // Copies words as a block; a derived clone would copy word by word.
            variables: Variables::from_slice(&self.variables),
            exponents: Exponents::from_slice(&self.exponents),
            coefficients: self.coefficients.clone(),
        }
    }
}

/// Returns the position of a variable in the packed words: word and shift.
pub(crate) fn lane(position: usize) -> (usize, u32) {
    (position / 4, 48 - 16 * (position % 4) as u32)
}

impl Polynomial {
    /// Returns 0.
    pub fn zero() -> Polynomial {
        Polynomial::default()
    }

    /// Returns 1.
    pub fn one() -> Polynomial {
        Polynomial::from_integer(Integer::ONE)
    }

    /// Creates a constant.
    pub fn constant(value: impl Into<BigInt>) -> Polynomial {
        Polynomial::from_integer(Integer::from(value.into()))
    }

    pub(crate) fn from_integer(value: Integer) -> Polynomial {
        if value.is_zero() {
            return Polynomial::zero();
        }
        Polynomial {
            variables: Variables::new(),
            exponents: Exponents::new(),
            coefficients: smallvec![value],
        }
    }

    /// Creates the polynomial of a variable.
    pub fn variable(variable: Variable) -> Polynomial {
        Polynomial::monomial(&[(variable, 1)])
    }

    /// Creates a product of powers with the coefficient 1; the variables may be in any order, each at most once.
    ///
    /// # Panics
    /// If an exponent is 2^15 or more.
    pub fn monomial(factors: &[(Variable, u32)]) -> Polynomial {
        let mut factors: SmallVec<[(Variable, u32); 4]> =
            factors.iter().copied().filter(|factor| factor.1 > 0).collect();
        factors.sort_unstable();
        let variables: Variables = factors.iter().map(|factor| factor.0.0).collect();
        let mut exponents: Exponents = smallvec![0; variables.len().div_ceil(4)];
        for (position, (_, exponent)) in factors.iter().enumerate() {
            assert!(*exponent < 1 << 15, "an exponent below 2^15 was promised");
            let (word, shift) = lane(position);
            exponents[word] |= u64::from(*exponent) << shift;
        }
        Polynomial {
            variables,
            exponents,
            coefficients: smallvec![Integer::ONE],
        }
    }

    /// Returns the sum of a list, by halves, so that no term is moved more than log(list) times.
    pub fn sum(list: &[Polynomial]) -> Polynomial {
        match list {
            [] => Polynomial::zero(),
            [only] => only.clone(),
            _ => {
                let (left, right) = list.split_at(list.len() / 2);
                Polynomial::sum(left).add(&Polynomial::sum(right))
            }
        }
    }

    /// Returns the number of words per monomial.
    pub(crate) fn stride(&self) -> usize {
        self.variables.len().div_ceil(4)
    }

    pub(crate) fn words(&self, term: usize) -> &[u64] {
        let stride = self.stride();
        &self.exponents[term * stride..(term + 1) * stride]
    }

    pub(crate) fn exponent(&self, term: usize, position: usize) -> u32 {
        let (word, shift) = lane(position);
        (self.words(term)[word] >> shift) as u32 & 0xFFFF
    }

    pub(crate) fn position(&self, variable: u32) -> Option<usize> {
        self.variables.binary_search(&variable).ok()
    }

    /// Returns the number of terms.
    pub fn term_count(&self) -> usize {
        self.coefficients.len()
    }

    /// Returns true if the polynomial depends on a variable.
    pub(crate) fn contains(&self, variable: Variable) -> bool {
        self.position(variable.0).is_some()
    }

    /// Returns true if some variable occurs in only one term, to the first power.
    pub(crate) fn has_variable_of_one_term(&self) -> bool {
        (0..self.variables.len()).any(|position| {
            let mut exponents = (0..self.term_count()).map(|term| self.exponent(term, position));
            let first = exponents.find(|exponent| *exponent > 0);
            first == Some(1) && exponents.all(|exponent| exponent == 0)
        })
    }

    /// Returns the factors of a term, variables ascending; terms are numbered from 0, lexicographically greatest first.
    pub fn factors(&self, term: usize) -> Vec<(Variable, u32)> {
        (0..self.variables.len())
            .map(|position| (Variable(self.variables[position]), self.exponent(term, position)))
            .filter(|factor| factor.1 > 0)
            .collect()
    }

    /// Returns the coefficient of a term.
    pub fn coefficient(&self, term: usize) -> BigInt {
        self.coefficients[term].big()
    }

    /// Returns the variables that the polynomial depends on, ascending.
    pub fn variables(&self) -> impl Iterator<Item = Variable> + '_ {
        self.variables.iter().map(|variable| Variable(*variable))
    }

    /// Returns true if the polynomial is 0.
    pub fn is_zero(&self) -> bool {
        self.coefficients.is_empty()
    }

    /// Returns true if the polynomial is 1.
    pub fn is_one(&self) -> bool {
        self.is_constant() && self.coefficients.first().is_some_and(Integer::is_one)
    }

    /// Returns true if the polynomial depends on no variable.
    pub fn is_constant(&self) -> bool {
        self.variables.is_empty()
    }

    /// Returns true if the leading coefficient is negative.
    pub fn is_negative(&self) -> bool {
        self.coefficients.first().is_some_and(Integer::is_negative)
    }

    /// Returns the degree in one variable; 0 for the zero polynomial.
    pub fn degree(&self, variable: Variable) -> u32 {
        self.position(variable.0).map_or(0, |position| {
            (0..self.term_count())
                .map(|term| self.exponent(term, position))
                .max()
                .unwrap_or(0)
        })
    }

    /// Returns the degree in each of the polynomial's variables.
    pub(crate) fn degrees(&self) -> Vec<u32> {
        let mut degrees = vec![0; self.variables.len()];
        for term in 0..self.term_count() {
            for (position, degree) in degrees.iter_mut().enumerate() {
                *degree = self.exponent(term, position).max(*degree);
            }
        }
        degrees
    }

    /// Returns true if all exponents are below 2^14, so that a product of two such polynomials is safe.
    pub(crate) fn is_safe_factor(&self) -> bool {
        self.exponents.iter().all(|word| word & (GUARD | (GUARD >> 1)) == 0)
    }

    /// Returns the same terms over another ascending list of variables, which must contain all variables of the polynomial.
    pub(crate) fn repack(&self, variables: &[u32]) -> Polynomial {
        let map: SmallVec<[(usize, u32); 4]> = self
            .variables
            .iter()
            .map(|variable| {
                lane(
                    variables
                        .binary_search(variable)
                        .expect("invariant: a polynomial is repacked over a superset of its variables"),
                )
            })
            .collect();
        let stride = variables.len().div_ceil(4);
        let mut exponents: Exponents = smallvec![0; stride * self.term_count()];
        for term in 0..self.term_count() {
            for (position, (word, shift)) in map.iter().enumerate() {
                exponents[term * stride + word] |= u64::from(self.exponent(term, position)) << shift;
            }
        }
        Polynomial {
            variables: variables.into(),
            exponents,
            coefficients: self.coefficients.clone(),
        }
    }

    /// Removes variables that no term depends on any more.
    pub(crate) fn trim(mut self) -> Polynomial {
        let stride = self.stride();
        let mut used: Exponents = smallvec![0; stride];
        for words in self.exponents.chunks_exact(stride.max(1)) {
            for (all, word) in used.iter_mut().zip(words) {
                *all |= word;
            }
        }
        let kept: SmallVec<[usize; 8]> = (0..self.variables.len())
            .filter(|position| {
                let (word, shift) = lane(*position);
                (used[word] >> shift) & 0xFFFF != 0
            })
            .collect();
        if kept.len() == self.variables.len() {
            return self;
        }
        let new_stride = kept.len().div_ceil(4);
        let mut exponents: Exponents = smallvec![0; new_stride * self.term_count()];
        for term in 0..self.term_count() {
            for (new, old) in kept.iter().enumerate() {
                let (word, shift) = lane(new);
                exponents[term * new_stride + word] |= u64::from(self.exponent(term, *old)) << shift;
            }
        }
        self.variables = kept.into_iter().map(|position| self.variables[position]).collect();
        self.exponents = exponents;
        self
    }

    /// Returns both polynomials over one list of variables.
    pub(crate) fn unify<'a>(a: &'a Polynomial, b: &'a Polynomial) -> (Cow<'a, Polynomial>, Cow<'a, Polynomial>) {
        if a.variables == b.variables {
            return (Cow::Borrowed(a), Cow::Borrowed(b));
        }
        let mut union: Variables = a.variables.iter().chain(&b.variables).copied().collect();
        union.sort_unstable();
        union.dedup();
        let over = |polynomial: &'a Polynomial| {
            if polynomial.variables == union {
                Cow::Borrowed(polynomial)
            } else {
                Cow::Owned(polynomial.repack(&union))
            }
        };
        (over(a), over(b))
    }

    /// Returns the sum or difference of polynomials over one list of variables, not trimmed.
    fn merge(a: &Polynomial, b: &Polynomial, minus: bool) -> Polynomial {
        let (m, n) = (a.term_count(), b.term_count());
        let mut result = Polynomial {
            variables: Variables::from_slice(&a.variables),
            exponents: Exponents::with_capacity(a.exponents.len() + b.exponents.len()),
            coefficients: Coefficients::with_capacity(m + n),
        };
        let signed = |value: &Integer| if minus { value.neg() } else { value.clone() };
        let (mut i, mut j) = (0, 0);
        while i < m && j < n {
            match a.words(i).cmp(b.words(j)) {
                Ordering::Greater => {
                    result.exponents.extend_from_slice(a.words(i));
                    result.coefficients.push(a.coefficients[i].clone());
                    i += 1;
                }
                Ordering::Less => {
                    result.exponents.extend_from_slice(b.words(j));
                    result.coefficients.push(signed(&b.coefficients[j]));
                    j += 1;
                }
                Ordering::Equal => {
                    let value = if minus {
                        a.coefficients[i].sub(&b.coefficients[j])
                    } else {
                        a.coefficients[i].add(&b.coefficients[j])
                    };
                    if !value.is_zero() {
                        result.exponents.extend_from_slice(a.words(i));
                        result.coefficients.push(value);
                    }
                    i += 1;
                    j += 1;
                }
            }
        }
        let stride = a.stride();
        result.exponents.extend_from_slice(&a.exponents[i * stride..]);
        result.coefficients.extend(a.coefficients[i..].iter().cloned());
        result.exponents.extend_from_slice(&b.exponents[j * stride..]);
        result.coefficients.extend(b.coefficients[j..].iter().map(signed));
        result
    }

    /// Computes a + b.
    pub fn add(&self, other: &Polynomial) -> Polynomial {
        if self.is_zero() {
            return other.clone();
        }
        if other.is_zero() {
            return self.clone();
        }
        let (a, b) = Polynomial::unify(self, other);
        Polynomial::merge(&a, &b, false).trim()
    }

    /// Computes a - b.
    pub fn sub(&self, other: &Polynomial) -> Polynomial {
        if other.is_zero() {
            return self.clone();
        }
        let (a, b) = Polynomial::unify(self, other);
        Polynomial::merge(&a, &b, true).trim()
    }

    /// Computes -a.
    pub fn neg(&self) -> Polynomial {
        Polynomial {
            variables: self.variables.clone(),
            exponents: self.exponents.clone(),
            coefficients: self.coefficients.iter().map(Integer::neg).collect(),
        }
    }

    pub(crate) fn scale(&self, factor: &Integer) -> Polynomial {
        if factor.is_zero() {
            return Polynomial::zero();
        }
        if factor.is_one() {
            return self.clone();
        }
        Polynomial {
            variables: self.variables.clone(),
            exponents: self.exponents.clone(),
            coefficients: self.coefficients.iter().map(|value| value.mul(factor)).collect(),
        }
    }

    /// Returns the product with one term over the same list of variables.
    fn times_term(&self, words: &[u64], factor: &Integer) -> Polynomial {
        let mut exponents = self.exponents.clone();
        if !words.is_empty() {
            for monomial in exponents.chunks_exact_mut(words.len()) {
                for (word, more) in monomial.iter_mut().zip(words) {
                    *word += more;
                }
            }
        }
        let coefficients = if factor.is_one() {
            self.coefficients.clone()
        } else {
            self.coefficients.iter().map(|value| value.mul(factor)).collect()
        };
        Polynomial {
            variables: self.variables.clone(),
            exponents,
            coefficients,
        }
    }

    /// Computes a * b.
    ///
    /// # Panics
    /// If an exponent of the product is 2^15 or more.
    pub fn mul(&self, other: &Polynomial) -> Polynomial {
        if self.is_zero() || other.is_zero() {
            return Polynomial::zero();
        }
        if self.is_constant() {
            return other.scale(&self.coefficients[0]);
        }
        if other.is_constant() {
            return self.scale(&other.coefficients[0]);
        }
        let (a, b) = Polynomial::unify(self, other);
        let (few, many) = if a.term_count() <= b.term_count() {
            (a, b)
        } else {
            (b, a)
        };
        let product = products(&few, &many, 0, few.term_count());
        assert!(
            product.exponents.iter().all(|word| word & GUARD == 0),
            "an exponent below 2^15 was promised"
        );
        product
    }

    /// Computes a^n.
    pub fn power(&self, exponent: u32) -> Polynomial {
        let mut result = Polynomial::one();
        let mut base = Cow::Borrowed(self);
        let mut rest = exponent;
        while rest > 0 {
            if rest & 1 == 1 {
                result = result.mul(&base);
            }
            rest >>= 1;
            if rest > 0 {
                base = Cow::Owned(base.mul(&base));
            }
        }
        result
    }

    /// Returns the total number of words of the coefficients that do not fit one word.
    pub(crate) fn long_words(&self) -> u64 {
        self.coefficients.iter().map(Integer::long_words).sum()
    }

    /// Returns the number of words of the longest coefficient, 0 if each fits one word.
    pub(crate) fn longest_words(&self) -> u64 {
        self.coefficients.iter().map(Integer::long_words).max().unwrap_or(0)
    }

    /// Returns the positive greatest common divisor of the coefficients; 0 for the zero polynomial.
    pub(crate) fn integer_content(&self) -> Integer {
        let mut content = Integer::Small(0);
        for coefficient in &self.coefficients {
            content = content.gcd(coefficient);
            if content.is_one() {
                break;
            }
        }
        content
    }

    /// Returns the positive greatest common divisor of the coefficients; 0 for the zero polynomial.
    pub fn content(&self) -> BigInt {
        self.integer_content().big()
    }

    /// Divides all coefficients by an integer that divides them.
    pub(crate) fn divide_integer(&self, divisor: &Integer) -> Option<Polynomial> {
        if divisor.is_one() {
            return Some(self.clone());
        }
        let coefficients: Option<Coefficients> = self
            .coefficients
            .iter()
            .map(|value| value.divide_exact(divisor))
            .collect();
        Some(Polynomial {
            variables: self.variables.clone(),
            exponents: self.exponents.clone(),
            coefficients: coefficients?,
        })
    }

    /// Returns the polynomial divided by its content, with a positive leading coefficient.
    pub fn primitive_part(&self) -> Polynomial {
        if self.is_zero() {
            return Polynomial::zero();
        }
        let content = self.integer_content();
        let content = if self.is_negative() { content.neg() } else { content };
        self.divide_integer(&content)
            .expect("invariant: the content divides every coefficient")
    }

    /// Returns the packed minimum exponents over all terms.
    fn least_words(&self) -> Vec<u64> {
        if self.is_zero() {
            return Vec::new();
        }
        let mut least = self.words(0).to_vec();
        for term in 1..self.term_count() {
            if least.iter().all(|word| *word == 0) {
                break;
            }
            for (word, other) in least.iter_mut().zip(self.words(term)) {
                let mut both = 0;
                for shift in [0, 16, 32, 48] {
                    both |= ((*word >> shift) & 0xFFFF).min((*other >> shift) & 0xFFFF) << shift;
                }
                *word = both;
            }
        }
        least
    }

    /// Returns the product of powers that divides every term.
    pub fn monomial_content(&self) -> Vec<(Variable, u32)> {
        let least = self.least_words();
        (0..self.variables.len())
            .map(|position| {
                let (word, shift) = lane(position);
                (
                    Variable(self.variables[position]),
                    (least[word] >> shift) as u32 & 0xFFFF,
                )
            })
            .filter(|factor| factor.1 > 0)
            .collect()
    }

    /// Returns the polynomial divided by its monomial content.
    pub fn without_monomial_content(&self) -> Polynomial {
        let least = self.least_words();
        if least.iter().all(|word| *word == 0) {
            return self.clone();
        }
        let mut result = self.clone();
        for monomial in result.exponents.chunks_exact_mut(least.len()) {
            for (word, less) in monomial.iter_mut().zip(&least) {
                *word -= less;
            }
        }
        result.trim()
    }
}

/// Returns the sum of the products of a range of terms with a whole polynomial, by halves.
fn products(few: &Polynomial, many: &Polynomial, from: usize, to: usize) -> Polynomial {
    if to - from == 1 {
        return many.times_term(few.words(from), &few.coefficients[from]);
    }
    let middle = from + (to - from) / 2;
    Polynomial::merge(
        &products(few, many, from, middle),
        &products(few, many, middle, to),
        false,
    )
}
