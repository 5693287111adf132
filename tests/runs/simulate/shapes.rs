//! Signals for tests.

use lgm::simulate::{Corner, Side, Signals};

#[allow(dead_code)] // Each reader of this file uses its own part.
/// One input over time, from time 0 on.
#[derive(Clone, Copy, Debug)]
pub enum Shape {
    Zero,
    Constant(f64),
    /// Amplitude and angular frequency.
    Sine(f64, f64),
    /// Amplitude and angular frequency.
    Cosine(f64, f64),
    /// Slope.
    Ramp(f64),
    /// Height, from the first time to the second.
    Pulse(f64, f64, f64),
}

/// The shapes of all inputs.
pub struct Shapes(pub Vec<Shape>);

impl Shape {
    fn value(self, time: f64, side: Side) -> (f64, f64) {
        let after = |instant: f64| time > instant || time == instant && side == Side::After;
        if !after(0.0) {
            return (0.0, 0.0);
        }
        match self {
            Shape::Zero => (0.0, 0.0),
            Shape::Constant(value) => (value, 0.0),
            Shape::Sine(amplitude, omega) => {
                let (sine, cosine) = (omega * time).sin_cos();
                (amplitude * sine, amplitude * omega * cosine)
            }
            Shape::Cosine(amplitude, omega) => {
                let (sine, cosine) = (omega * time).sin_cos();
                (amplitude * cosine, -amplitude * omega * sine)
            }
            Shape::Ramp(slope) => (slope * time, slope),
            Shape::Pulse(height, from, to) => (if after(from) && !after(to) { height } else { 0.0 }, 0.0),
        }
    }

    fn corners(self) -> Vec<f64> {
        match self {
            Shape::Zero => Vec::new(),
            Shape::Pulse(_, from, to) => vec![from, to],
            _ => vec![0.0],
        }
    }
}

impl Signals for Shapes {
    fn count(&self) -> usize {
        self.0.len()
    }

    fn values(&self, time: f64, side: Side, values: &mut [f64], rates: &mut [f64]) {
        for ((shape, value), rate) in self.0.iter().zip(values).zip(rates) {
            (*value, *rate) = shape.value(time, side);
        }
    }

    fn corners(&self, from: f64, to: f64) -> Vec<Corner> {
        let mut times: Vec<f64> = self.0.iter().flat_map(|shape| shape.corners()).collect();
        times.retain(|time| (from..=to).contains(time));
        times.sort_by(f64::total_cmp);
        times.dedup();
        let steps = |time: f64| {
            let step = |shape: &Shape| shape.value(time, Side::After).0 - shape.value(time, Side::Before).0;
            let all = self.0.iter().map(step).enumerate();
            all.filter(|entry| entry.1 != 0.0).collect()
        };
        times
            .into_iter()
            .map(|time| Corner {
                time,
                steps: steps(time),
            })
            .collect()
    }
}
