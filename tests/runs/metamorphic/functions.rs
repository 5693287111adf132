//! Functions of time: as text, in another unit of time, and as a linear system for the exact solution.

use super::model::{Function, Shape};
use super::write::number;

/// A factor before a text; none if it is 1.
pub fn product(factor: f64, text: &str) -> String {
    match factor {
        1.0 => text.to_string(),
        -1.0 => format!("-{text}"),
        _ => format!("{}*{text}", number(factor)),
    }
}

/// A sum of texts that may begin with a minus.
pub fn joined(terms: &[String]) -> String {
    let mut text = terms.first().cloned().unwrap_or_else(|| "0".to_string());
    for term in &terms[1.min(terms.len())..] {
        match term.strip_prefix('-') {
            Some(rest) => text += &format!(" - {rest}"),
            None => text += &format!(" + {term}"),
        }
    }
    text
}

/// `time - at`, in parentheses if it is a difference.
fn since(at: f64) -> String {
    match at {
        0.0 => "time".to_string(),
        _ => format!("(time - {})", number(at)),
    }
}

impl Shape {
    /// The text of a shape.
    fn text(&self) -> String {
        match self {
            Shape::Constant => "1".to_string(),
            Shape::Step { at } => format!("step({})", number(*at)),
            Shape::Pulse { at, width } => format!("pulse({}, {})", number(*at), number(*width)),
            Shape::Ramp { at, unit } => format!("ramp({})/{}", number(*at), number(*unit)),
            Shape::Sine { omega, phase } if *phase == 0.0 => format!("sin({}*time)", number(*omega)),
            Shape::Sine { omega, phase } => format!("sin({}*time + {})", number(*omega), number(*phase)),
            Shape::Decay { rate } => format!("exp(-{}*time)", number(*rate)),
            Shape::Bump { at, width } => format!("exp(-({}/{})^2)", since(*at), number(*width)),
            Shape::When { at } => format!("(if time > {} then 1 else 0)", number(*at)),
            Shape::Rectified { omega } => format!("abs(sin({}*time))", number(*omega)),
            Shape::Lines { times, values } => lines(times, values),
        }
    }

    /// The same shape with a second counted as `factor`.
    fn in_time(&self, factor: f64) -> Shape {
        match self {
            Shape::Constant => Shape::Constant,
            Shape::Step { at } => Shape::Step { at: at * factor },
            Shape::Pulse { at, width } => Shape::Pulse {
                at: at * factor,
                width: width * factor,
            },
            Shape::Ramp { at, unit } => Shape::Ramp {
                at: at * factor,
                unit: unit * factor,
            },
            Shape::Sine { omega, phase } => Shape::Sine {
                omega: omega / factor,
                phase: *phase,
            },
            Shape::Decay { rate } => Shape::Decay { rate: rate / factor },
            Shape::Bump { at, width } => Shape::Bump {
                at: at * factor,
                width: width * factor,
            },
            Shape::When { at } => Shape::When { at: at * factor },
            Shape::Rectified { omega } => Shape::Rectified { omega: omega / factor },
            Shape::Lines { times, values } => Shape::Lines {
                times: times.iter().map(|time| time * factor).collect(),
                values: values.clone(),
            },
        }
    }

    /// The same shape with the clock advanced by this time, with the resulting factor; none if it has no such text.
    fn later(&self, by: f64) -> Option<(f64, Shape)> {
        let shape = match self {
            Shape::Constant => Shape::Constant,
            Shape::Step { at } => Shape::Step { at: at + by },
            Shape::Pulse { at, width } => Shape::Pulse {
                at: at + by,
                width: *width,
            },
            Shape::Ramp { at, unit } => Shape::Ramp {
                at: at + by,
                unit: *unit,
            },
            Shape::Sine { omega, phase } => Shape::Sine {
                omega: *omega,
                phase: phase - omega * by,
            },
            Shape::Decay { rate } => {
                let factor = (rate * by).exp();
                return (1e-9..1e9).contains(&factor).then(|| (factor, self.clone()));
            }
            Shape::Bump { at, width } => Shape::Bump {
                at: at + by,
                width: *width,
            },
            Shape::When { at } => Shape::When { at: at + by },
            Shape::Rectified { .. } => return None,
            Shape::Lines { times, values } => Shape::Lines {
                times: times.iter().map(|time| time + by).collect(),
                values: values.clone(),
            },
        };
        Some((1.0, shape))
    }

    /// Times at which the shape is not smooth; none if the exact solution does not support it.
    fn corners(&self) -> Option<Vec<f64>> {
        match self {
            Shape::Constant | Shape::Sine { .. } | Shape::Decay { .. } => Some(Vec::new()),
            Shape::Step { at } | Shape::Ramp { at, .. } | Shape::When { at } => Some(vec![*at]),
            Shape::Pulse { at, width } => Some(vec![*at, at + width]),
            Shape::Lines { times, .. } => Some(times.clone()),
            Shape::Bump { .. } | Shape::Rectified { .. } => None,
        }
    }

    /// Values of the basis of [`Shape::basis`] just after a time, between corners.
    fn coefficients(&self, from: f64) -> [f64; 2] {
        match self {
            Shape::Constant => [1.0, 0.0],
            Shape::Step { at } | Shape::When { at } => [f64::from(from >= *at), 0.0],
            Shape::Pulse { at, width } => [f64::from(from >= *at && from < at + width), 0.0],
            Shape::Ramp { at, unit } if from >= *at => [(from - at) / unit, 1.0 / unit],
            Shape::Lines { times, values } => segment(times, values, from),
            _ => [0.0, 0.0],
        }
    }
}

/// Value and slope of straight lines just after a time.
fn segment(times: &[f64], values: &[f64], from: f64) -> [f64; 2] {
    let place = times.iter().take_while(|time| **time <= from).count();
    if place == 0 {
        return [values[0], 0.0];
    }
    if place == times.len() {
        return [values[place - 1], 0.0];
    }
    let slope = (values[place] - values[place - 1]) / (times[place] - times[place - 1]);
    [values[place - 1] + slope * (from - times[place - 1]), slope]
}

/// Straight lines as ramps with the same corners.
fn lines(times: &[f64], values: &[f64]) -> String {
    let mut slope = 0.0;
    let mut terms = vec![number(values[0])];
    for at in 0..times.len() {
        let next = match at + 1 < times.len() {
            true => (values[at + 1] - values[at]) / (times[at + 1] - times[at]),
            false => 0.0,
        };
        if next != slope {
            terms.push(product(next - slope, &format!("ramp({})", number(times[at]))));
        }
        slope = next;
    }
    format!("({})", joined(&terms))
}

impl Function {
    /// The text of the function.
    pub fn text(&self) -> String {
        let terms = self.0.iter().map(|(factor, shape)| match shape {
            Shape::Constant => number(*factor),
            shape => product(*factor, &shape.text()),
        });
        joined(&terms.collect::<Vec<_>>())
    }

    /// The same function with a second counted as `factor`.
    pub fn in_time(&self, factor: f64) -> Function {
        let terms = self.0.iter();
        Function(terms.map(|(part, shape)| (*part, shape.in_time(factor))).collect())
    }

    /// The same function with the clock advanced by this time.
    pub fn later(&self, by: f64) -> Option<Function> {
        let terms = self.0.iter().map(|(part, shape)| {
            let (factor, shape) = shape.later(by)?;
            Some((part * factor, shape))
        });
        Some(Function(terms.collect::<Option<_>>()?))
    }

    /// The table, if the function is a single table.
    pub fn table(&self) -> Option<(Vec<f64>, Vec<f64>)> {
        match &self.0[..] {
            [(factor, Shape::Lines { times, values })] => {
                let values = values.iter().map(|value| value * factor).collect();
                Some((times.clone(), values))
            }
            _ => None,
        }
    }

    /// Times at which the function is not smooth; none if the exact solution does not support it.
    pub fn corners(&self) -> Option<Vec<f64>> {
        let lists: Option<Vec<Vec<f64>>> = self.0.iter().map(|term| term.1.corners()).collect();
        lists.map(|lists| lists.concat())
    }

    /// Value and slope of the piecewise linear part, just after a time.
    pub fn straight(&self, from: f64) -> [f64; 2] {
        self.0.iter().fold([0.0, 0.0], |sum, (factor, shape)| {
            let [value, slope] = shape.coefficients(from);
            [sum[0] + factor * value, sum[1] + factor * slope]
        })
    }

    /// The sines: factor, angular frequency and phase.
    pub fn sines(&self) -> impl Iterator<Item = (f64, f64, f64)> {
        self.0.iter().filter_map(|(factor, shape)| match shape {
            Shape::Sine { omega, phase } => Some((*factor, *omega, *phase)),
            _ => None,
        })
    }

    /// The exponentials: factor and rate.
    pub fn decays(&self) -> impl Iterator<Item = (f64, f64)> {
        self.0.iter().filter_map(|(factor, shape)| match shape {
            Shape::Decay { rate } => Some((*factor, *rate)),
            _ => None,
        })
    }
}
