//! The contribution of the omitted modes to the compliance and the resistance between two positions.
//!
//! For a port over a span the mean is used, by Gauss quadrature, which is exact for polynomials up to degree 7 on both
//! sides of x = y.

use crate::context::modal::{ModalBlock, Position};
use crate::context::values::Scalar;
use crate::evaluate::Evaluator;
use crate::modal_rules::{Rules, Shape};
use lgm_algebra::expr::ExprId;
use lgm_source::Span;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use num_rational::BigRational;

/// The contribution of one mode to the compliance or the resistance: the product of its shapes, divided or multiplied by a value.
#[derive(Clone, Copy)]
pub(crate) enum Kept {
    /// Divided by the value.
    Inverse(ExprId),
    /// Multiplied by the value.
    Direct(ExprId),
}

/// Nodes and weights of four-point Gauss-Legendre quadrature on [0, 1].
const GAUSS: [(f64, f64); 4] = [
    (0.069_431_844_202_973_71, 0.173_927_422_568_726_93),
    (0.330_009_478_207_571_9, 0.326_072_577_431_273_1),
    (0.669_990_521_792_428_1, 0.326_072_577_431_273_1),
    (0.930_568_155_797_026_3, 0.173_927_422_568_726_93),
];

/// An interval of the block; a point if both ends are equal.
#[derive(Clone)]
struct Stretch {
    from: (Scalar, BigRational),
    to: (Scalar, BigRational),
}

impl Stretch {
    fn is_point(&self) -> bool {
        self.from.1 == self.to.1
    }
}

/// Returns the contribution of a mode to the compliance.
pub(crate) fn kept_compliance(restoring: Option<ExprId>) -> Option<Kept> {
    restoring.map(Kept::Inverse)
}

/// Returns the contribution of a mode to the resistance: the loss in series with its spring or, for a block without springs such as a heat
/// rod, its dissipator.
pub(crate) fn kept_resistance(
    rules: &Rules<'_>,
    restoring: Option<ExprId>,
    dissipation: Option<ExprId>,
    loss: Option<ExprId>,
) -> Option<Kept> {
    match rules.has_restoring() {
        true => restoring.and(loss).map(Kept::Direct),
        false => dissipation.map(Kept::Inverse),
    }
}

impl<'a> Evaluator<'a> {
    /// Returns the total minus the contributions of the kept modes, each given with its shapes at two positions.
    pub(crate) fn less_kept(&mut self, whole: ExprId, parts: &[(ExprId, ExprId, Kept)]) -> ExprId {
        let exprs = &mut self.arena.exprs;
        let mut terms = vec![whole];
        for (here, there, kept) in parts {
            let product = exprs.mul(*here, *there);
            let part = match kept {
                Kept::Inverse(value) => exprs.div(product, *value),
                Kept::Direct(value) => exprs.mul(product, *value),
            };
            terms.push(exprs.neg(part));
        }
        exprs.sum(terms)
    }

    /// Returns a function of two positions of a line at two ports, or its mean over a span.
    pub(crate) fn averaged(
        &mut self,
        block: &ModalBlock<'a>,
        shape: &Shape<'a>,
        a: &Position,
        b: &Position,
        span: Span,
    ) -> Option<ExprId> {
        let (a, b) = (self.stretch(a, span)?, self.stretch(b, span)?);
        let samples = self.samples(&a, &b);
        let formals = block.formals.clone();
        let mut terms = Vec::with_capacity(samples.len());
        self.with_scope(block.instance, formals, |this| {
            for (x, y, weight) in samples {
                let value = this.shape_at(shape, &[x, y])?;
                terms.push(this.arena.exprs.mul(weight, value.expr));
            }
            Some(())
        })?;
        Some(self.arena.exprs.sum(terms))
    }

    fn stretch(&mut self, position: &Position, span: Span) -> Option<Stretch> {
        let (from, to) = match position {
            Position::Point(at) if at.len() == 1 => (at[0], at[0]),
            Position::Span(from, to) => (*from, *to),
            Position::Point(_) => {
                let diagnostic = Diagnostic::error(Code::LGM0446, "`residual` requires all ports on one line")
                    .label(span, "`residual` is requested here")
                    .help("remove `residual` and use more modes");
                self.report(diagnostic);
                return None;
            }
        };
        let mut values = self.exact(&[from.expr, to.expr], span)?;
        let last = values.pop()?;
        Some(Stretch {
            from: (from, values.pop()?),
            to: (to, last),
        })
    }

    /// Returns the interval, split at the ends of another interval inside it.
    fn cut(stretch: &Stretch, other: &Stretch) -> Vec<Stretch> {
        let mut ends = vec![stretch.from.clone()];
        for end in [&other.from, &other.to] {
            let last = &ends[ends.len() - 1].1;
            if end.1 > *last && end.1 < stretch.to.1 {
                ends.push(end.clone());
            }
        }
        ends.push(stretch.to.clone());
        let pairs = ends.windows(2);
        pairs
            .map(|pair| Stretch {
                from: pair[0].clone(),
                to: pair[1].clone(),
            })
            .collect()
    }

    pub(in crate::evaluate) fn number(&mut self, value: f64) -> ExprId {
        let value = BigRational::from_float(value).expect("invariant: the points of Gauss's rule are finite");
        self.arena.exprs.number(value)
    }

    /// Returns the point of an interval at the fraction `share` of its length.
    fn along(&mut self, stretch: &Stretch, share: f64) -> Scalar {
        let share = self.number(share);
        let exprs = &mut self.arena.exprs;
        let width = exprs.sub(stretch.to.0.expr, stretch.from.0.expr);
        let way = exprs.mul(share, width);
        Scalar {
            expr: exprs.add(stretch.from.0.expr, way),
            dim: stretch.from.0.dim,
        }
    }

    /// Returns the length of a part as a fraction of an interval.
    fn share(&mut self, part: &Stretch, whole: &Stretch) -> ExprId {
        let exprs = &mut self.arena.exprs;
        if whole.is_point() {
            return exprs.one();
        }
        let own = exprs.sub(part.to.0.expr, part.from.0.expr);
        let all = exprs.sub(whole.to.0.expr, whole.from.0.expr);
        exprs.div(own, all)
    }

    /// Returns pairs of positions with weights whose weighted sum is the mean over two intervals.
    fn samples(&mut self, a: &Stretch, b: &Stretch) -> Vec<(Scalar, Scalar, ExprId)> {
        let mut list = Vec::new();
        for x in Self::cut(a, b) {
            for y in Self::cut(b, a) {
                let (share_x, share_y) = (self.share(&x, a), self.share(&y, b));
                let share = self.arena.exprs.mul(share_x, share_y);
                let is_square = !x.is_point() && x.from.1 == y.from.1 && x.to.1 == y.to.1;
                let points = |stretch: &Stretch| match stretch.is_point() {
                    true => vec![(0.0, 1.0)],
                    false => GAUSS.to_vec(),
                };
                for (s, weight_s) in points(&x) {
                    for (t, weight_t) in points(&y) {
                        // Over a square the function has a kink along the diagonal and is symmetric: twice the lower triangle, parametrised
                        // from a corner by s along and t across.
                        let (along_x, along_y, weight) = match is_square {
                            true => (s, s * t, 2.0 * s * weight_s * weight_t),
                            false => (s, t, weight_s * weight_t),
                        };
                        let (at_x, at_y) = (self.along(&x, along_x), self.along(&y, along_y));
                        let weight = self.number(weight);
                        let weight = self.arena.exprs.mul(weight, share);
                        list.push((at_x, at_y, weight));
                    }
                }
            }
        }
        list
    }
}
