//! The same model in other base units: every number changes, and every column of its samples by one factor.

use super::model::{Curve, Domain, Kind, Model, Quantity, Sum};

/// The number of new units in an old one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Units {
    /// For the across variable of each domain.
    pub across: [f64; 4],
    /// For power, in all domains.
    pub power: f64,
    /// For time.
    pub time: f64,
}

impl Units {
    /// No change.
    pub const SAME: Units = Units {
        across: [1.0; 4],
        power: 1.0,
        time: 1.0,
    };

    fn of(&self, domain: Domain) -> (f64, f64) {
        let across = self.across[domain.place()];
        (across, self.power / across)
    }

    /// The factor of a quantity.
    pub fn factor(&self, model: &Model, quantity: &Quantity) -> f64 {
        match quantity {
            Quantity::One | Quantity::Function(_) | Quantity::Controller(_) => 1.0,
            Quantity::Across(element, port) => self.of(model.domain(*element, *port)).0,
            Quantity::Through(element, port) => self.of(model.domain(*element, *port)).1,
            Quantity::IntAcross(element) => self.of(model.domain(*element, 0)).0 * self.time,
            Quantity::Power(_) => self.power,
            Quantity::Energy(_) => self.power * self.time,
            Quantity::Modulated(_, of) => self.factor(model, of),
        }
    }

    fn sum(&self, model: &Model, sum: &Sum, whole: f64) -> Sum {
        let term =
            |(factor, quantity): &(f64, Quantity)| (factor * whole / self.factor(model, quantity), quantity.clone());
        Sum {
            terms: sum.terms.iter().map(term).collect(),
            limit: sum.limit.map(|limit| limit * whole),
        }
    }

    /// The law of an element in the new units.
    fn kind(&self, model: &Model, element: usize) -> Kind {
        let (across, through) = self.of(model.domain(element, 0));
        let time = self.time;
        match &model.elements[element].kind {
            Kind::AType(value) => Kind::AType(value * through * time / across),
            Kind::TType(value) => Kind::TType(value * across * time / through),
            Kind::DType(value) => Kind::DType(value * across / through),
            Kind::CubicT { linear, cubic } => {
                let displacement = across * time;
                Kind::CubicT {
                    linear: linear * through / displacement,
                    cubic: cubic * through / displacement.powi(3),
                }
            }
            Kind::CubicA { linear, cubic } => {
                let charge = through * time;
                Kind::CubicA {
                    linear: linear * across / charge,
                    cubic: cubic * across / charge.powi(3),
                }
            }
            Kind::Curved {
                curve,
                linear,
                part,
                size,
            } => Kind::Curved {
                curve: *curve,
                linear: linear * through / across,
                part: part * through,
                size: size * across,
            },
            Kind::AcrossSource(sum) => Kind::AcrossSource(self.sum(model, sum, across)),
            Kind::ThroughSource(sum) => Kind::ThroughSource(self.sum(model, sum, through)),
            Kind::Transformer(ratio) => Kind::Transformer(ratio * self.of(model.domain(element, 1)).0 / across),
            Kind::Gyrator(ratio) => Kind::Gyrator(ratio * self.of(model.domain(element, 1)).0 / through),
            Kind::Bar {
                density,
                modulus,
                zeta,
                modes,
            } => Kind::Bar {
                density: density * through * time / across,
                modulus: modulus * through / (across * time),
                zeta: *zeta,
                modes: *modes,
            },
        }
    }

    /// The model in the new units.
    pub fn apply(&self, model: &Model) -> Model {
        let mut out = model.clone();
        out.stop *= self.time;
        for (at, element) in out.elements.iter_mut().enumerate() {
            let (across, through) = self.of(model.domain(at, 0));
            element.kind = self.kind(model, at);
            let factor = match element.kind {
                Kind::TType(_) => through,
                Kind::CubicT { .. } => across * self.time,
                Kind::CubicA { .. } => through * self.time,
                _ => across,
            };
            element.start = element.start.map(|start| start * factor);
        }
        out.functions = model
            .functions
            .iter()
            .map(|function| function.in_time(self.time))
            .collect();
        for controller in &mut out.controllers {
            controller.rate = self.sum(model, &controller.rate, 1.0 / self.time);
        }
        out
    }
}

/// Returns true if a curve is odd, so that a branch may be reversed.
pub fn is_odd(curve: Curve) -> bool {
    !matches!(curve, Curve::Exponential | Curve::Gap)
}
