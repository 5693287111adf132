//! Vectors plotted over positions: the positions and the entries of the vector.

use lgm_algebra::expr::to_f64;
use lgm_emit::plot::{ProfileFigure, Series};
use lgm_equations::StateSystem;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_source::nearest::did_you_mean;

/// The positions of the entries of a vector.
#[derive(Clone, Debug)]
pub(super) struct Positions {
    name: String,
    unit: Option<String>,
    values: Vec<f64>,
}

impl Positions {
    /// Uses the entries of a parameter as positions, or the indices of the entries if no parameter is given.
    pub(super) fn of(
        system: &StateSystem,
        over: Option<&str>,
        (vector, count): (&str, usize),
    ) -> Result<Positions, Box<Diagnostic>> {
        if count < 2 {
            let message =
                format!("`--profile {vector}` requires a vector with at least two entries, but this has {count}");
            let help = "name an output with several entries, such as `output w = list(i in 0:20, displacement(beam, \
                 L*i/20));`";
            return Err(Box::new(Diagnostic::error(Code::LGM0905, message).help(help)));
        }
        let Some(name) = over else {
            return Ok(Positions {
                name: "entry".to_string(),
                unit: None,
                values: (1..=count).map(|at| at as f64).collect(),
            });
        };
        let Some(found) = system.parameters.iter().find(|known| *known.name == *name) else {
            let message = format!("`--over {name}`: the model has no parameter `{name}`");
            let fault = Diagnostic::error(Code::LGM0905, message);
            let help = did_you_mean(name, system.parameters.iter().map(|known| &*known.name));
            return Err(Box::new(help.into_iter().fold(fault, Diagnostic::help)));
        };
        if found.entries.len() != count {
            let message = format!(
                "`--over {name}` has {} of the {count} positions of `{vector}`",
                found.entries.len()
            );
            let help = "declare a position for each entry: `param x = list(i in 0:20, L*i/20);`";
            return Err(Box::new(Diagnostic::error(Code::LGM0905, message).help(help)));
        }
        Ok(Positions {
            name: name.to_string(),
            unit: found.unit.as_ref().map(ToString::to_string),
            values: found.entries.iter().map(|entry| to_f64(&entry.value)).collect(),
        })
    }

    /// Returns a curve of the vector.
    pub(super) fn series(&self, name: String, unit: Option<String>, values: &[f64]) -> Series {
        let mut points: Vec<(f64, f64)> = self.values.iter().copied().zip(values.iter().copied()).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        Series { name, unit, points }
    }

    /// Returns a plot of curves.
    pub(super) fn figure(&self, title: String, series: Vec<Series>) -> ProfileFigure {
        ProfileFigure {
            title,
            x: (self.name.clone(), self.unit.clone()),
            series,
        }
    }
}
