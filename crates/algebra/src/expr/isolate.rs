//! Solving one equation for one symbol in closed form.
//!
//! Only steps with exactly one real solution, wherever a solution exists, are taken. The solution is therefore the inverse of the law and
//! never one of several branches: affine functions, odd powers, exponentials and similar functions, `x*abs(x)`, and compositions of these.
//!
//! If a function has a bounded range, such as a root, its inverse is undefined outside it: the squared value is
//! [guarded](super::guard).

use super::Exprs;
use crate::expr::{End, ExprId, Function, Node, SymbolId};
use num_bigint::BigInt;
use num_integer::Integer;
use num_rational::BigRational;
use num_traits::{One, Signed, Zero};

impl Exprs {
    /// Returns the expression that `symbol` must equal for `residual` to be zero; `None` if no closed form exists, or if it is not the only
    /// solution.
    pub fn isolate(&mut self, residual: ExprId, symbol: SymbolId) -> Option<ExprId> {
        if !self.depends_on(residual, symbol) {
            return None;
        }
        let is_it = |exprs: &Exprs, id: ExprId| matches!(exprs.node(id), Node::Symbol(found) if *found == symbol);
        if let Some(form) = self.affine(residual, &is_it)
            && let [(_, coefficient)] = form.terms[..]
        {
            let minus = self.neg(form.rest);
            return Some(self.div(minus, coefficient));
        }
        let (mut at, mut right) = (residual, self.zero());
        // Each step moves the outermost operation of `at = right` to the other side.
        loop {
            (at, right) = match self.node(at).clone() {
                Node::Symbol(found) if found == symbol => return Some(right),
                Node::Sum(list) => self.step_of_sum(&list, right, symbol)?,
                Node::Product(list) => self.step_of_product(&list, right, symbol)?,
                Node::Power(base, exponent) => self.step_of_power(base, exponent, right, symbol)?,
                Node::Call(function, list) if list.len() == 1 => (list[0], self.inverse_call(function, right)?),
                _ => return None,
            };
        }
    }

    /// Returns true if a symbol occurs in an expression.
    pub fn depends_on(&self, id: ExprId, symbol: SymbolId) -> bool {
        self.reachable(&[id])
            .into_iter()
            .any(|id| matches!(self.node(id), Node::Symbol(found) if *found == symbol))
    }

    fn step_of_sum(&mut self, list: &[ExprId], right: ExprId, symbol: SymbolId) -> Option<(ExprId, ExprId)> {
        let (held, free): (Vec<ExprId>, Vec<ExprId>) = list.iter().partition(|term| self.depends_on(**term, symbol));
        let free = self.sum(free);
        let right = self.sub(right, free);
        if let [only] = held[..] {
            return Some((only, right));
        }
        // Several terms are combined if all are multiples of the same expression.
        let mut factors = Vec::with_capacity(held.len());
        let mut common = None;
        for term in held {
            let parts = match self.node(term).clone() {
                Node::Product(list) => list.to_vec(),
                _ => vec![term],
            };
            let (varying, steady): (Vec<ExprId>, Vec<ExprId>) =
                parts.into_iter().partition(|part| self.depends_on(*part, symbol));
            let varying = self.product(varying);
            if *common.get_or_insert(varying) != varying {
                return None;
            }
            factors.push(self.product(steady));
        }
        let factor = self.sum(factors);
        Some((common?, self.div(right, factor)))
    }

    fn step_of_product(&mut self, list: &[ExprId], right: ExprId, symbol: SymbolId) -> Option<(ExprId, ExprId)> {
        let (held, free): (Vec<ExprId>, Vec<ExprId>) = list.iter().partition(|part| self.depends_on(**part, symbol));
        let mut right = right;
        for factor in free {
            right = self.div(right, factor);
        }
        if let [only] = held[..] {
            return Some((only, right));
        }
        // The root of a product is a product of roots.
        let mut varying = Vec::with_capacity(held.len());
        for part in held {
            let (inner, outer) = self.split_root(part, symbol);
            varying.push(inner);
            if let Some(outer) = outer {
                right = self.div(right, outer);
            }
        }
        self.odd_composition(&varying, right)
    }

    /// Splits the root of a product into the root of the factors that contain a symbol, and the root of the others.
    fn split_root(&mut self, id: ExprId, symbol: SymbolId) -> (ExprId, Option<ExprId>) {
        if let Node::Call(Function::Sqrt, list) = self.node(id).clone()
            && let Node::Product(factors) = self.node(list[0]).clone()
        {
            let (held, free): (Vec<ExprId>, Vec<ExprId>) =
                factors.iter().partition(|part| self.depends_on(**part, symbol));
            let (held, free) = (self.product(held), self.product(free));
            return (
                self.call(Function::Sqrt, [held]),
                Some(self.call(Function::Sqrt, [free])),
            );
        }
        (id, None)
    }

    /// Solves `sign(E) f(abs(E)) = right` and `E abs(E)^n = right`, by the sign and the magnitude of the right-hand side.
    fn odd_composition(&mut self, held: &[ExprId], right: ExprId) -> Option<(ExprId, ExprId)> {
        let [a, b] = *held else { return None };
        for (odd, even) in [(a, b), (b, a)] {
            let inner = match self.node(odd).clone() {
                Node::Call(Function::Sign, list) => list[0],
                _ => odd,
            };
            let size = self.call(Function::Abs, [inner]);
            let exponent = match self.node(even).clone() {
                _ if even == size => BigRational::one(),
                Node::Power(base, exponent) if base == size => self.as_number(exponent)?.clone(),
                Node::Call(Function::Sqrt, list) if list[0] == size => BigRational::new(1.into(), 2.into()),
                _ => continue,
            };
            let total = if inner == odd {
                exponent + BigRational::one()
            } else {
                exponent
            };
            if !total.is_positive() {
                return None;
            }
            if total.recip() == BigRational::from_integer(2.into()) {
                let size = self.size(right);
                return Some((inner, self.mul(right, size)));
            }
            let (sign, size) = (self.call(Function::Sign, [right]), self.call(Function::Abs, [right]));
            let root = self.rational_power(size, total.recip());
            return Some((inner, self.mul(sign, root)));
        }
        None
    }

    /// Returns the magnitude of a product as the product of magnitudes, so that squares of one variable with several coefficients become
    /// like terms.
    fn size(&mut self, id: ExprId) -> ExprId {
        match self.node(id).clone() {
            Node::Product(list) => {
                let sizes: Vec<ExprId> = list.iter().map(|factor| self.size(*factor)).collect();
                self.product(sizes)
            }
            Node::Power(base, exponent) if self.as_number(exponent).is_some() => {
                let size = self.size(base);
                self.power(size, exponent)
            }
            _ => self.call(Function::Abs, [id]),
        }
    }

    fn rational_power(&mut self, base: ExprId, exponent: BigRational) -> ExprId {
        if exponent == BigRational::new(1.into(), 2.into()) {
            return self.call(Function::Sqrt, [base]);
        }
        let exponent = self.number(exponent);
        self.power(base, exponent)
    }

    fn step_of_power(
        &mut self,
        base: ExprId,
        exponent: ExprId,
        right: ExprId,
        symbol: SymbolId,
    ) -> Option<(ExprId, ExprId)> {
        if self.depends_on(exponent, symbol) {
            // b^x for a positive number b.
            let positive = self
                .as_number(base)
                .is_some_and(|number| number.is_positive() && !number.is_one());
            if !positive {
                return None;
            }
            let (above, below) = (self.call(Function::Log, [right]), self.call(Function::Log, [base]));
            return Some((exponent, self.div(above, below)));
        }
        let power = self.as_number(exponent)?.clone();
        if power.is_zero() {
            return None;
        }
        if power.is_integer() {
            let count: BigInt = power.to_integer();
            if count.is_even() {
                return None;
            }
            if count == BigInt::from(-1) {
                let one = self.one();
                return Some((base, self.div(one, right)));
            }
            let (sign, size) = (self.call(Function::Sign, [right]), self.call(Function::Abs, [right]));
            let root = self.rational_power(size, power.recip());
            return Some((base, self.mul(sign, root)));
        }
        // Other powers have only positive bases, for which they are monotone; so are their values. A fractional power ensures this by
        // itself.
        let inverse = self.rational_power(right, power.recip());
        let end = if power.is_positive() { End::Within } else { End::Beyond };
        Some(match power.recip().is_integer() {
            true => (base, self.guarded(right, end, inverse)),
            false => (base, inverse),
        })
    }

    fn inverse_call(&mut self, function: Function, right: ExprId) -> Option<ExprId> {
        let one = self.one();
        let two = self.integer(2);
        Some(match function {
            Function::Exp => self.call(Function::Log, [right]),
            Function::Log => self.call(Function::Exp, [right]),
            Function::Sqrt => {
                let margin = self.with_factors_inside(right);
                let square = self.power(margin, two);
                self.guarded(margin, End::Within, square)
            }
            Function::Atan => {
                let (angle, margin) = (self.call(Function::Tan, [right]), self.within_quarter(right));
                self.guarded(margin, End::Beyond, angle)
            }
            Function::Asin => {
                let (sine, margin) = (self.call(Function::Sin, [right]), self.within_quarter(right));
                self.guarded(margin, End::Within, sine)
            }
            Function::Acos => {
                // From 0 to pi.
                let quarter = self.quarter();
                let turned = self.sub(right, quarter);
                let (cosine, margin) = (self.call(Function::Cos, [right]), self.within_quarter(turned));
                self.guarded(margin, End::Within, cosine)
            }
            Function::Sinh => self.call(Function::Asinh, [right]),
            Function::Asinh => self.call(Function::Sinh, [right]),
            Function::Tanh => {
                let (above, below) = (self.add(one, right), self.sub(one, right));
                let quotient = self.div(above, below);
                let logarithm = self.call(Function::Log, [quotient]);
                self.div(logarithm, two)
            }
            _ => return None,
        })
    }

    /// Returns `pi/2`.
    fn quarter(&mut self) -> ExprId {
        let (pi, two) = (self.pi(), self.integer(2));
        self.div(pi, two)
    }

    /// Returns `pi^2/4 - angle^2`, which has no kink.
    fn within_quarter(&mut self, angle: ExprId) -> ExprId {
        let (quarter, two) = (self.quarter(), self.integer(2));
        let (most, square) = (self.power(quarter, two), self.power(angle, two));
        self.sub(most, square)
    }

    /// Builds `1 - x` instead of `-(x - 1)`.
    fn with_factors_inside(&mut self, id: ExprId) -> ExprId {
        let Node::Product(list) = self.node(id).clone() else {
            return id;
        };
        let [factor, sum] = *list else { return id };
        let (Some(_), Node::Sum(terms)) = (self.as_number(factor), self.node(sum).clone()) else {
            return id;
        };
        let terms: Vec<ExprId> = terms.iter().map(|term| self.mul(factor, *term)).collect();
        self.sum(terms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::SymbolKind;

    /// Solves `law(x) = y` for x, and substitutes the solution.
    fn round_trip(law: impl Fn(&mut Exprs, ExprId) -> ExprId, at: &[f64]) {
        let mut exprs = Exprs::default();
        let x = exprs.new_symbol("x", SymbolKind::Measure);
        let y = exprs.new_symbol("y", SymbolKind::Measure);
        let (x_expr, y_expr) = (exprs.symbol(x), exprs.symbol(y));
        let value = law(&mut exprs, x_expr);
        let residual = exprs.sub(y_expr, value);
        let inverse = exprs.isolate(residual, x).expect("there is a closed form");
        for &point in at {
            let forward = exprs
                .evaluate_f64(&[value], &|symbol| (symbol == x).then_some(point))
                .unwrap()[0];
            let back = exprs
                .evaluate_f64(&[inverse], &|symbol| (symbol == y).then_some(forward))
                .unwrap()[0];
            assert!(
                (back - point).abs() <= 1e-12 * point.abs().max(1.0),
                "{point}: {forward}, {back}"
            );
        }
    }

    #[test]
    fn a_diode_gives_its_voltage() {
        round_trip(
            |exprs, x| {
                let (exponential, one) = (exprs.call(Function::Exp, [x]), exprs.one());
                let inner = exprs.sub(exponential, one);
                let three = exprs.integer(3);
                exprs.mul(three, inner)
            },
            &[-2.0, 0.0, 1.5],
        );
    }

    #[test]
    fn an_orifice_and_a_quadratic_drag_keep_their_sign() {
        round_trip(
            |exprs, x| {
                let (sign, size) = (exprs.call(Function::Sign, [x]), exprs.call(Function::Abs, [x]));
                let root = exprs.call(Function::Sqrt, [size]);
                let two = exprs.integer(2);
                exprs.product([two, sign, root])
            },
            &[-2.0, 0.0, 1.5],
        );
        // The coefficient may be under the root.
        round_trip(
            |exprs, x| {
                let (sign, size) = (exprs.call(Function::Sign, [x]), exprs.call(Function::Abs, [x]));
                let two = exprs.integer(2);
                let inner = exprs.mul(two, size);
                let root = exprs.call(Function::Sqrt, [inner]);
                exprs.mul(sign, root)
            },
            &[-2.0, 0.0, 1.5],
        );
        round_trip(
            |exprs, x| {
                let size = exprs.call(Function::Abs, [x]);
                exprs.mul(x, size)
            },
            &[-2.0, 0.0, 1.5],
        );
    }

    #[test]
    fn odd_powers_and_hyperbolic_functions_have_one_inverse() {
        round_trip(
            |exprs, x| {
                let three = exprs.integer(3);
                exprs.power(x, three)
            },
            &[-1.3, 0.4],
        );
        round_trip(|exprs, x| exprs.call(Function::Tanh, [x]), &[-1.3, 0.4]);
        round_trip(|exprs, x| exprs.call(Function::Sinh, [x]), &[-30.0, -1.3, 0.4]);
        round_trip(|exprs, x| exprs.call(Function::Asinh, [x]), &[-1e9, -1.3, 0.4]);
    }

    #[test]
    fn beyond_the_range_of_a_function_its_inverse_is_no_number() {
        for (function, inside, beyond) in [
            (Function::Sqrt, [0.0, 0.5], [-0.1, -2.0]),
            (Function::Atan, [1.5, -1.5], [1.6, -1.6]),
            (Function::Asin, [1.57, -1.57], [1.58, -1.58]),
            (Function::Acos, [0.0, 3.1], [-0.1, 3.2]),
        ] {
            let mut exprs = Exprs::default();
            let x = exprs.new_symbol("x", SymbolKind::Measure);
            let y = exprs.new_symbol("y", SymbolKind::Measure);
            let (argument, wanted) = (exprs.symbol(x), exprs.symbol(y));
            let value = exprs.call(function, [argument]);
            let residual = exprs.sub(wanted, value);
            let inverse = exprs.isolate(residual, x).expect("there is a closed form");
            let rate = exprs.differentiate(inverse, y).expect("it is differentiable");
            for (points, is_number) in [(inside, true), (beyond, false)] {
                for point in points {
                    let of = |symbol| (symbol == y).then_some(point);
                    let found = exprs.evaluate_unchecked(&[inverse, rate], &of);
                    assert!(
                        found.iter().all(|value| value.is_nan() != is_number),
                        "{function:?} at {point}: {found:?}"
                    );
                }
            }
            // Arguments that are within the range by their form need no guard.
            let square = exprs.call(Function::Exp, [wanted]);
            let replaced = exprs.substitute(&[inverse], |symbol| (symbol == y).then_some(square))[0];
            assert_eq!(exprs.as_guarded(replaced).is_none(), function == Function::Sqrt);
        }
    }

    #[test]
    fn a_square_and_a_cubic_with_two_terms_are_left_alone() {
        let mut exprs = Exprs::default();
        let x = exprs.new_symbol("x", SymbolKind::Measure);
        let y = exprs.new_symbol("y", SymbolKind::Measure);
        let (x_expr, y_expr) = (exprs.symbol(x), exprs.symbol(y));
        for power in [2, 3] {
            let exponent = exprs.integer(power);
            let value = exprs.power(x_expr, exponent);
            let value = if power == 3 { exprs.add(value, x_expr) } else { value };
            let residual = exprs.sub(y_expr, value);
            assert_eq!(exprs.isolate(residual, x), None);
        }
    }
}
