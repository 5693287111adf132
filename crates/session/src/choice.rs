//! Choices that a caller makes outside the text of a model.

use crate::disk::Disk;
use lgm_elaborate::{Delays, Settings};
use lgm_equations::StateRequest;
use lgm_model::{Model, Scale};
use lgm_source::SourceMap;
use std::fmt;
use std::path::PathBuf;

/// The model to choose from a text, and values that override those of the text.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// The name of the model; by default the last one of the text.
    pub model: Option<String>,
    /// Values of a `param` or `const`, as `m=3` or `m=3 [kg]`, or of a parameter of an instance, as `motor.R_a=2`.
    pub set: Vec<String>,
    /// Parameters of instances that vary over runs, as `motor.R_a`; other names are ignored.
    pub varied: Vec<String>,
    /// True if a person wrote the values: numbers without a unit are warned of if the text gives the parameter in another unit than SI.
    pub are_written: bool,
    /// Modes of elements, as `d1=conducting`.
    pub modes: Vec<String>,
    /// Folders for imports.
    pub include: Vec<PathBuf>,
    /// True if discrete variables are treated as inputs, for an analysis of the equations between events.
    pub open_discretes: bool,
    /// True if the caller closes delays itself, as a frequency response does.
    pub open_delays: bool,
    /// True if delays are errors, for an analysis that requires a finite number of states.
    pub refuse_delays: bool,
    /// The order of Pade approximations that replace delays.
    pub pade: Option<u32>,
}

impl Choice {
    /// Returns the choice as settings of a compilation. Each value becomes a separate source text, so that a diagnostic can point into it.
    pub fn settings(&self, map: &mut SourceMap) -> Settings {
        let sets = self.set.iter();
        let sets = sets.map(|text| (text.clone(), map.add(format!("--set {text}"), text.as_str(), None)));
        Settings {
            sets: sets.collect(),
            model: self.model.clone(),
            varied: self.varied.clone(),
            are_written: self.are_written,
            modes: self.modes.clone(),
            open_discretes: self.open_discretes,
            delays: match self.pade {
                Some(order) => Delays::Pade(order),
                None if self.open_delays => Delays::Open,
                None if self.open_discretes || self.refuse_delays => Delays::Refused,
                None => Delays::Kept,
            },
            ..Settings::default()
        }
    }

    /// Returns the source of the files that imports are read from.
    pub fn disk(&self) -> Disk {
        Disk {
            include: self.include.clone(),
        }
    }
}

/// The choice of states.
#[derive(Clone, Debug, Default)]
pub struct States {
    /// Power or energy variables.
    pub request: StateRequest,
    /// Storage elements that keep their states if one of several must be dependent, in order of preference.
    pub retain: Vec<String>,
}

/// A value of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A number in SI units.
    Number(f64),
    /// A vector, or the rows of a matrix.
    List(Vec<Value>),
    /// A literal of the language, such as `3 [mm]`.
    Text(String),
}

impl fmt::Display for Value {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Number(number) => write!(formatter, "{number:?}"),
            Value::Text(text) => formatter.write_str(text),
            Value::List(values) => {
                formatter.write_str("[")?;
                for (at, value) in values.iter().enumerate() {
                    let comma = if at > 0 { ", " } else { "" };
                    write!(formatter, "{comma}{value}")?;
                }
                formatter.write_str("]")
            }
        }
    }
}

impl Value {
    /// Returns the value as an option, `k=3.0`. For a parameter declared in a non-SI unit, the SI unit is added. A `const` takes a number
    /// in the unit of its declaration.
    pub(crate) fn option(&self, name: &str, model: Option<&Model>) -> String {
        let parameters = model.into_iter().flat_map(|model| &model.parameters);
        let declared = parameters
            .into_iter()
            .find(|parameter| *parameter.name == *name && parameter.scale != Scale::SI);
        match (self, declared.and_then(|parameter| parameter.unit.as_ref())) {
            (Value::Text(_), _) | (_, None) => format!("{name}={self}"),
            (_, Some(unit)) => format!("{name}={self} [{unit}]"),
        }
    }
}
