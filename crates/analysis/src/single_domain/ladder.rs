//! Impedances as ladders of series and parallel elements.
//!
//! The part of an impedance or an admittance at infinity or at 0 is removed, piece by piece. A pole there becomes a storage element, a
//! value there a dissipator (Cauer's forms, mixed). Poles are always removed; for values there is a choice, and the first sequence of
//! choices without a negative element is used.

use crate::one_port::Kind;
use lgm_algebra::{Field, Rationals};
use num_rational::BigRational;
use num_traits::Signed;

/// A piece that is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pull {
    /// True if the piece is removed from the impedance, in series; false for the admittance, in parallel.
    pub(super) is_series: bool,
    /// The kind of the piece's element.
    pub(super) kind: Kind,
    /// True if the piece is evaluated at s = 0; false for infinity.
    is_at_zero: bool,
}

/// Coefficients of the powers of s, in ascending order: across over through.
#[derive(Clone, Debug)]
pub(super) struct Impedance<E> {
    pub(super) above: Vec<E>,
    pub(super) below: Vec<E>,
}

/// The maximum number of steps tried.
const TRIED: usize = 20_000;

fn trim<F: Field>(field: &F, list: &mut Vec<F::Element>) {
    while list.last().is_some_and(|value| field.is_zero(value)) {
        list.pop();
    }
}

impl<E: Clone> Impedance<E> {
    /// Returns true if nothing remains: a short circuit or an open circuit.
    fn is_done(&self) -> bool {
        self.above.is_empty() || self.below.is_empty()
    }

    /// Removes a piece; returns the value of its element, C, L or R, or `None` if no such piece exists.
    fn pull<F: Field<Element = E>>(&mut self, field: &mut F, pull: Pull) -> Option<E> {
        let (p, q) = match pull.is_series {
            true => (&mut self.above, &mut self.below),
            false => (&mut self.below, &mut self.above),
        };
        let (top, bottom) = (p.last()?.clone(), q.last()?.clone());
        let is_pole = pull.kind != Kind::DType;
        let piece;
        if pull.is_at_zero && is_pole {
            // X/s, with q = s q'.
            if !field.is_zero(q.first()?) || field.is_zero(p.first()?) {
                return None;
            }
            q.remove(0);
            piece = field.div(&p[0], q.first().filter(|value| !field.is_zero(value))?);
            subtract(field, p, &piece, q, 0);
            p.remove(0);
        } else {
            let shift = usize::from(is_pole && !pull.is_at_zero);
            piece = match pull.is_at_zero {
                true => {
                    let (first, own) = (q.first()?.clone(), p.first()?.clone());
                    if field.is_zero(&first) || field.is_zero(&own) {
                        return None;
                    }
                    field.div(&own, &first)
                }
                false if p.len() == q.len() + shift => field.div(&top, &bottom),
                false => return None,
            };
            subtract(field, p, &piece, q, shift);
        }
        trim(field, p);
        if pull.kind == Kind::DType && pull.is_at_zero {
            // Neither has lost any other term, so a common factor s is impossible.
            debug_assert!(p.first().is_none_or(|value| field.is_zero(value)));
        }
        // In series X is L, 1/C or R; in parallel C, 1/L or 1/R.
        let is_direct = match (pull.is_series, pull.kind) {
            (true, Kind::DType) => true,
            (false, Kind::DType) => false,
            _ => !pull.is_at_zero,
        };
        Some(if is_direct { piece } else { field.invert(&piece) })
    }
}

/// `p -= factor s^shift q`
fn subtract<F: Field>(field: &mut F, p: &mut Vec<F::Element>, factor: &F::Element, q: &[F::Element], shift: usize) {
    for (at, value) in q.iter().enumerate() {
        let product = field.mul(factor, value);
        match p.get_mut(at + shift) {
            Some(entry) => *entry = field.sub(entry, &product),
            None => {
                p.resize(at + shift, field.zero());
                p.push(field.neg(&product));
            }
        }
    }
}

/// Returns the poles at 0 and infinity, which are removed first, or else the values there.
fn choices(impedance: &Impedance<BigRational>) -> Vec<Pull> {
    let field = Rationals;
    let (above, below) = (&impedance.above, &impedance.below);
    let pole = |is_series: bool, is_at_zero: bool| Pull {
        is_series,
        kind: if is_series == is_at_zero {
            Kind::AType
        } else {
            Kind::TType
        },
        is_at_zero,
    };
    let starts_with_zero = |list: &[BigRational]| list.first().is_some_and(|value| field.is_zero(value));
    if above.len() > below.len() {
        return vec![pole(true, false)];
    }
    if below.len() > above.len() {
        return vec![pole(false, false)];
    }
    if starts_with_zero(below) {
        return vec![pole(true, true)];
    }
    if starts_with_zero(above) {
        return vec![pole(false, true)];
    }
    let value = |is_series: bool, is_at_zero: bool| Pull {
        is_series,
        kind: Kind::DType,
        is_at_zero,
    };
    vec![
        value(true, false),
        value(false, false),
        value(true, true),
        value(false, true),
    ]
}

/// Returns a sequence of pieces with positive values that make up the impedance; `None` if the search finds no such sequence.
pub(super) fn search(impedance: &Impedance<BigRational>) -> Option<Vec<Pull>> {
    let mut tried = 0;
    let mut found = Vec::new();
    further(impedance, &mut found, &mut tried).then_some(found)
}

fn further(impedance: &Impedance<BigRational>, found: &mut Vec<Pull>, tried: &mut usize) -> bool {
    if impedance.is_done() {
        return true;
    }
    for pull in choices(impedance) {
        *tried += 1;
        if *tried > TRIED {
            return false;
        }
        let mut rest = impedance.clone();
        let value = rest.pull(&mut Rationals, pull);
        if value.is_some_and(|value| value.is_positive()) {
            found.push(pull);
            if further(&rest, found, tried) {
                return true;
            }
            found.pop();
        }
    }
    false
}

/// Returns the values of the pieces in a field; `None` if the field has no such pieces, for example because a coefficient is 0 only for
/// some parameter values.
pub(super) fn values<F: Field>(
    field: &mut F,
    mut impedance: Impedance<F::Element>,
    pulls: &[Pull],
) -> Option<Vec<F::Element>> {
    let mut found = Vec::with_capacity(pulls.len());
    for pull in pulls {
        found.push(impedance.pull(field, *pull)?);
    }
    impedance.is_done().then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn impedance(above: &[i64], below: &[i64]) -> Impedance<BigRational> {
        let list = |numbers: &[i64]| {
            numbers
                .iter()
                .map(|value| BigRational::from_integer((*value).into()))
                .collect()
        };
        Impedance {
            above: list(above),
            below: list(below),
        }
    }

    fn found(above: &[i64], below: &[i64]) -> Vec<(bool, Kind, String)> {
        let whole = impedance(above, below);
        let pulls = search(&whole).unwrap_or_default();
        let values = values(&mut Rationals, whole, &pulls).unwrap_or_default();
        let list = pulls.iter().zip(values);
        list.map(|(pull, value)| (pull.is_series, pull.kind, value.to_string()))
            .collect()
    }

    #[test]
    fn an_oscillator_is_three_branches_in_parallel() {
        // s/(2 s^2 + 3 s + 5)
        assert_eq!(
            found(&[0, 1], &[5, 3, 2]),
            [
                (false, Kind::AType, "2".to_string()),
                (false, Kind::TType, "1/5".to_string()),
                (true, Kind::DType, "1/3".to_string()),
            ]
        );
    }

    #[test]
    fn a_coil_is_an_inductance_and_a_resistance_in_series() {
        assert_eq!(
            found(&[7, 3], &[2]),
            [
                (true, Kind::TType, "3/2".to_string()),
                (true, Kind::DType, "7/2".to_string()),
            ]
        );
    }

    #[test]
    fn a_ladder_is_found_with_its_values() {
        // 3 s + 1/(2 s + 1/(5 + 1/(7 s)))
        assert_eq!(
            found(&[1, 35, 27, 210], &[0, 9, 70]),
            [
                (true, Kind::TType, "3".to_string()),
                (false, Kind::AType, "2".to_string()),
                (true, Kind::AType, "7".to_string()),
                (true, Kind::DType, "5".to_string()),
            ]
        );
    }

    #[test]
    fn what_is_no_passive_network_has_no_ladder() {
        assert_eq!(search(&impedance(&[1], &[1, -2])), None);
        assert_eq!(search(&impedance(&[1, 0, 0, 1], &[1])), None);
    }
}
