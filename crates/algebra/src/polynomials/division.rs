//! Exact division of polynomials, with a heap of pending products so that each term is visited once.

use super::polynomial::{Exponents, GUARD, Polynomial};
use crate::integer::Integer;
use std::borrow::Cow;

impl Polynomial {
    /// Returns the quotient if the nonzero divisor divides the polynomial over the integers.
    pub fn divide_exact(&self, divisor: &Polynomial) -> Option<Polynomial> {
        let mut allowance = u64::MAX;
        self.divide_within(divisor, &mut allowance)
    }

    /// Divides within an allowance of term products; if the allowance is insufficient, returns `None` and sets it to zero.
    pub(crate) fn divide_within(&self, divisor: &Polynomial, allowance: &mut u64) -> Option<Polynomial> {
        assert!(!divisor.is_zero(), "a nonzero divisor was promised");
        if self.is_zero() {
            return Some(Polynomial::zero());
        }
        if self == divisor {
            return Some(Polynomial::one());
        }
        if divisor.is_constant() {
            return self.divide_integer(&divisor.coefficients[0]);
        }
        if divisor
            .variables
            .iter()
            .any(|variable| self.position(*variable).is_none())
        {
            return None;
        }
        let divisor = if divisor.variables == self.variables {
            Cow::Borrowed(divisor)
        } else {
            Cow::Owned(divisor.repack(&self.variables))
        };
        if divisor.term_count() == 1 {
            return self.divide_by_term(&divisor);
        }
        // The least terms of both must divide like the greatest ones, which is a cheap test.
        let (last, divisor_last) = (self.term_count() - 1, divisor.term_count() - 1);
        quotient_words(self.words(last), divisor.words(divisor_last))?;
        self.coefficients[last].divide_exact(&divisor.coefficients[divisor_last])?;
        let bounds: Option<Vec<u32>> = self
            .degrees()
            .into_iter()
            .zip(divisor.degrees())
            .map(|(whole, part)| whole.checked_sub(part))
            .collect();
        self.divide_with_heap(&divisor, &bounds?, allowance)
    }

    fn divide_by_term(&self, divisor: &Polynomial) -> Option<Polynomial> {
        let mut exponents = Exponents::with_capacity(self.exponents.len());
        for term in 0..self.term_count() {
            exponents.extend(quotient_words(self.words(term), divisor.words(0))?);
        }
        let quotient = Polynomial {
            variables: self.variables.clone(),
            exponents,
            coefficients: self.coefficients.clone(),
        };
        quotient.divide_integer(&divisor.coefficients[0]).map(Polynomial::trim)
    }

    fn divide_with_heap(&self, divisor: &Polynomial, bounds: &[u32], allowance: &mut u64) -> Option<Polynomial> {
        let stride = self.stride();
        let mut quotient = Polynomial {
            variables: self.variables.clone(),
            ..Polynomial::default()
        };
        let mut heap = Products {
            stride,
            keys: Vec::new(),
            next: Vec::new(),
            heap: Vec::new(),
        };
        let mut term = 0;
        loop {
            let from_self = term < self.term_count();
            let from_heap = !heap.heap.is_empty();
            let mut monomial: Exponents;
            match (from_self, from_heap) {
                (false, false) => return Some(quotient.trim()),
                (true, false) => monomial = self.words(term).into(),
                (false, true) => monomial = heap.top().into(),
                (true, true) => monomial = self.words(term).max(heap.top()).into(),
            }
            let mut value = Integer::Small(0);
            if from_self && *self.words(term) == *monomial {
                value = self.coefficients[term].clone();
                term += 1;
            }
            while !heap.heap.is_empty() && *heap.top() == *monomial {
                let (left, right) = heap.advance(&quotient, divisor);
                *allowance = allowance.saturating_sub(1);
                value = value.sub(&quotient.coefficients[left].mul(&divisor.coefficients[right]));
            }
            if *allowance == 0 {
                return None;
            }
            if value.is_zero() {
                continue;
            }
            let leading = divisor.words(0);
            if monomial
                .iter()
                .zip(leading)
                .any(|(word, less)| ((word | GUARD) - less) & GUARD != GUARD)
            {
                return None;
            }
            for (word, less) in monomial.iter_mut().zip(leading) {
                *word -= less;
            }
            let value = value.divide_exact(&divisor.coefficients[0])?;
            quotient.exponents.extend_from_slice(&monomial);
            quotient.coefficients.push(value);
            let new = quotient.term_count() - 1;
            if bounds
                .iter()
                .enumerate()
                .any(|(position, bound)| quotient.exponent(new, position) > *bound)
            {
                return None;
            }
            heap.start(&quotient, divisor, new);
        }
    }
}

/// Returns the packed quotient of two monomials, if the second divides the first.
fn quotient_words(a: &[u64], b: &[u64]) -> Option<Exponents> {
    a.iter()
        .zip(b)
        .map(|(word, less)| {
            let difference = (word | GUARD) - less;
            (difference & GUARD == GUARD).then_some(difference & !GUARD)
        })
        .collect()
}

/// For each term of the quotient, its next product with a term of the divisor; the greatest monomial is on top.
struct Products {
    stride: usize,
    /// The monomial of each quotient term's pending product.
    keys: Vec<u64>,
    /// The divisor term of each quotient term's pending product.
    next: Vec<usize>,
    /// Quotient terms, as a binary heap by their keys.
    heap: Vec<usize>,
}

impl Products {
    fn key(&self, index: usize) -> &[u64] {
        &self.keys[index * self.stride..(index + 1) * self.stride]
    }

    fn top(&self) -> &[u64] {
        self.key(self.heap[0])
    }

    /// Starts a new quotient term, after the product with the leading term of the divisor.
    fn start(&mut self, quotient: &Polynomial, divisor: &Polynomial, index: usize) {
        let words = quotient.words(index).iter().zip(divisor.words(1)).map(|(a, b)| a + b);
        self.keys.extend(words);
        self.next.push(1);
        self.heap.push(index);
        let mut child = self.heap.len() - 1;
        while child > 0 {
            let parent = (child - 1) / 2;
            if self.key(self.heap[child]) <= self.key(self.heap[parent]) {
                break;
            }
            self.heap.swap(child, parent);
            child = parent;
        }
    }

    /// Removes the top product, returned as its quotient and divisor terms, and inserts the next one.
    fn advance(&mut self, quotient: &Polynomial, divisor: &Polynomial) -> (usize, usize) {
        let index = self.heap[0];
        let taken = self.next[index];
        self.next[index] += 1;
        if self.next[index] < divisor.term_count() {
            let start = index * self.stride;
            for (word, (a, b)) in quotient.words(index).iter().zip(divisor.words(taken + 1)).enumerate() {
                self.keys[start + word] = a + b;
            }
        } else {
            self.heap.swap_remove(0);
        }
        let mut parent = 0;
        loop {
            let (left, right) = (2 * parent + 1, 2 * parent + 2);
            let mut greatest = parent;
            for child in [left, right] {
                if child < self.heap.len() && self.key(self.heap[child]) > self.key(self.heap[greatest]) {
                    greatest = child;
                }
            }
            if greatest == parent {
                return (index, taken);
            }
            self.heap.swap(parent, greatest);
            parent = greatest;
        }
    }
}
