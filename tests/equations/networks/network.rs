//! A linear network in the tests: junctions, elements, bonds, integrals, outputs.

pub use crate::support::domain::Domain;

use super::scalar::Scalar;
use std::fmt;

/// `mantissa * 10^exponent`, or its reciprocal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Value {
    /// Digits.
    pub mantissa: i64,
    /// Power of ten.
    pub exponent: i32,
    /// True if the value is the reciprocal.
    pub reciprocal: bool,
}

impl Value {
    /// A decimal number.
    pub fn new(mantissa: i64, exponent: i32) -> Value {
        Value {
            mantissa,
            exponent,
            reciprocal: false,
        }
    }

    /// The number in a given arithmetic.
    pub fn to<T: Scalar>(self) -> T {
        let decimal = T::decimal(self.mantissa, self.exponent);
        if self.reciprocal {
            T::one().div(decimal)
        } else {
            decimal
        }
    }

    /// Its reciprocal.
    pub fn inverse(self) -> Value {
        Value {
            reciprocal: !self.reciprocal,
            ..self
        }
    }

    /// The negative.
    pub fn negative(self) -> Value {
        Value {
            mantissa: -self.mantissa,
            ..self
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.reciprocal {
            f.write_str("1/")?;
        }
        let negative = self.mantissa < 0;
        let digits = self.mantissa.abs().to_string();
        let text = match self.exponent {
            0 => digits,
            1..=2 => format!("{digits}{}", "0".repeat(self.exponent as usize)),
            -4..=-1 => {
                let places = (-self.exponent) as usize;
                let padded = format!("{digits:0>width$}", width = places + 1);
                let (whole, part) = padded.split_at(padded.len() - places);
                format!("{whole}.{part}")
            }
            _ => format!("{digits}e{}", self.exponent),
        };
        if negative && self.reciprocal {
            write!(f, "(-{text})")
        } else if negative {
            write!(f, "-{text}")
        } else {
            f.write_str(&text)
        }
    }
}

/// A matrix of values, row by row; 1-by-1 over wider ports means times the identity.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub columns: usize,
    /// Entries, row by row.
    pub entries: Vec<Value>,
}

impl Matrix {
    /// A scalar.
    pub fn scalar(value: Value) -> Matrix {
        Matrix {
            rows: 1,
            columns: 1,
            entries: vec![value],
        }
    }

    /// Returns true if it is a single number.
    pub fn is_scalar(&self) -> bool {
        self.entries.len() == 1
    }

    /// The entry in a row and a column of the matrix over ports of width `width` (0 off the diagonal of a scalar).
    pub fn entry<T: Scalar>(&self, row: usize, column: usize) -> T {
        if self.is_scalar() {
            return if row == column { self.entries[0].to() } else { T::zero() };
        }
        self.entries[row * self.columns + column].to()
    }

    /// The transposed matrix.
    pub fn transpose(&self) -> Matrix {
        let entries = (0..self.columns)
            .flat_map(|column| (0..self.rows).map(move |row| self.entries[row * self.columns + column]))
            .collect();
        Matrix {
            rows: self.columns,
            columns: self.rows,
            entries,
        }
    }
}

/// The kind of a junction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JunctionKind {
    /// A node of a linear graph.
    Node,
    /// A 0-junction.
    Zero,
    /// A 1-junction.
    One,
}

/// A junction, scalar or a vector of them.
#[derive(Clone, Debug)]
pub struct Junction {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: JunctionKind,
    /// Its domain; nodes and vector junctions always have one.
    pub domain: Option<Domain>,
    /// Its width; `None` for a plain scalar junction.
    pub width: Option<usize>,
    /// True if the text declares it elsewhere (in a component or an array).
    pub hidden: bool,
}

/// A junction, or one entry (from 0) of a vector junction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// The junction.
    pub junction: usize,
    /// The entry; `None` for all entries.
    pub entry: Option<usize>,
}

/// Where a port is connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Connection {
    /// A branch; `None` is the reference node.
    Branch {
        /// Its tail.
        from: Option<Slot>,
        /// Its head.
        to: Option<Slot>,
    },
    /// A bond to or from a junction, directed as in the element's law.
    Bond(Slot),
}

/// The law of an element; x and y are across and through of a branch, effort and flow of a bond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Law {
    /// `through = M der(across)`
    AType,
    /// `across = M der(through)`
    TType,
    /// `der(through) = M across`
    Stiffness,
    /// `across = M through`
    Resistance,
    /// `through = M across`
    Conductance,
    /// `across = value`
    AcrossSource,
    /// `through = value`
    ThroughSource,
    /// `b.across = M a.across`, `a.through = -M' b.through`
    Transformer,
    /// `b.across = M a.through`, `a.across = -M' b.through`
    Gyrator,
    /// Bond storage, `effort = M der(flow)`
    BondI,
    /// Bond storage, `flow = M der(effort)`
    BondC,
    /// `effort = M flow`
    BondR,
    /// `effort = value`
    Se,
    /// `flow = value`
    Sf,
    /// `effort_in = M effort_out`, `flow_out = M' flow_in`
    Tf,
    /// `effort_in = M flow_out`, `effort_out = M' flow_in`
    Gy,
}

impl Law {
    /// Returns true if it is a bond element.
    pub fn is_bond(self) -> bool {
        use Law::*;
        matches!(self, BondI | BondC | BondR | Se | Sf | Tf | Gy)
    }

    /// Returns true if its value is a signal.
    pub fn is_source(self) -> bool {
        matches!(self, Law::AcrossSource | Law::ThroughSource | Law::Se | Law::Sf)
    }

    /// Returns true if it has two ports.
    pub fn is_coupler(self) -> bool {
        matches!(self, Law::Transformer | Law::Gyrator | Law::Tf | Law::Gy)
    }

    /// Returns true if it stores energy.
    pub fn is_storage(self) -> bool {
        use Law::*;
        matches!(self, AType | TType | Stiffness | BondI | BondC)
    }

    /// Names of the two ports of a coupler in the language.
    pub fn port_name(self, port: usize) -> &'static str {
        match (self, port) {
            (Law::Tf | Law::Gy, 0) => "in",
            (Law::Tf | Law::Gy, _) => "out",
            (_, 0) => "a",
            _ => "b",
        }
    }
}

/// A term of a linear combination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Term {
    /// An input.
    Input(usize),
    /// Across (or effort of the bond) of an entry of a port of an element.
    First(usize, usize, usize),
    /// Through (or flow of the bond) of an entry of a port of an element.
    Second(usize, usize, usize),
    /// The common variable of an entry of a junction.
    Common(usize, usize),
    /// An integral.
    Integral(usize),
}

/// A linear combination.
pub type Linear = Vec<(Value, Term)>;

/// An element.
#[derive(Clone, Debug)]
pub struct Element {
    /// Its name, `cell[2].c` for a member.
    pub name: String,
    /// Its law.
    pub law: Law,
    /// The value of a passive element.
    pub matrix: Matrix,
    /// The values of a source, one for each entry.
    pub signals: Vec<Linear>,
    /// Its ports.
    pub ports: Vec<Connection>,
    /// Its keyword in the language.
    pub kind: &'static str,
    /// True if the value is a `param`.
    pub named: bool,
    /// True if the text declares it elsewhere (in a component).
    pub hidden: bool,
}

/// A bond between two junctions.
#[derive(Clone, Copy, Debug)]
pub struct Bond {
    /// The junction that supplies power.
    pub tail: Slot,
    /// The junction that receives power.
    pub head: Slot,
}

/// The quantity that an output shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The value.
    Value,
    /// The derivative, `der(..)`.
    Derivative,
    /// The integral, `int(..)`.
    Integral,
}

/// An output.
#[derive(Clone, Debug)]
pub struct Output {
    /// Its value.
    pub value: Linear,
    /// True if the output is the value itself, its derivative or its integral.
    pub change: Change,
}

/// The end of a branch in a ladder's cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The node before the cell.
    Left,
    /// The node after the cell.
    Right,
    /// The cell's own node.
    Inner,
    /// The reference.
    Reference,
}

/// A chain of equal cells, written as a component in a `for` loop.
#[derive(Clone, Debug)]
pub struct Ladder {
    /// Name of the array of nodes.
    pub nodes: String,
    /// Name of the array of cells; the component has the same name with a capital.
    pub cells: String,
    /// The domain.
    pub domain: Domain,
    /// Number of cells.
    pub count: usize,
    /// True if the cell has an inner node.
    pub inner: bool,
    /// Elements of a cell.
    pub body: Vec<(String, Law, &'static str, Value, Place, Place)>,
}

/// A network.
#[derive(Clone, Debug, Default)]
pub struct Network {
    /// Number of inputs, named `u1`, `u2`, ...
    pub inputs: usize,
    /// Junctions.
    pub junctions: Vec<Junction>,
    /// Elements.
    pub elements: Vec<Element>,
    /// Bonds between junctions.
    pub bonds: Vec<Bond>,
    /// Integrals, named `z1`, `z2`, ...
    pub integrals: Vec<Linear>,
    /// Outputs, named `y1`, `y2`, ...
    pub outputs: Vec<Output>,
    /// Ladders; their elements and nodes are among the hidden ones above.
    pub ladders: Vec<Ladder>,
}

impl Network {
    /// The number of scalar entries that a slot names.
    pub fn width(&self, slot: Slot) -> usize {
        match slot.entry {
            Some(_) => 1,
            None => self.junctions[slot.junction].width.unwrap_or(1),
        }
    }

    /// The number of scalar entries of a port.
    pub fn port_width(&self, element: usize, port: usize) -> usize {
        match self.elements[element].ports[port] {
            Connection::Bond(slot) => self.width(slot),
            Connection::Branch { from: Some(slot), .. } | Connection::Branch { to: Some(slot), .. } => self.width(slot),
            // Both ends are the reference: only the value determines the width of the port.
            Connection::Branch { from: None, to: None } => 1,
        }
    }

    /// Entries of a slot, from 0.
    pub fn entries(&self, slot: Slot) -> std::ops::Range<usize> {
        match slot.entry {
            Some(entry) => entry..entry + 1,
            None => 0..self.width(slot),
        }
    }

    /// Number of scalar storage ports and integrals: a bound on the order.
    pub fn storage(&self) -> usize {
        let ports: usize = (0..self.elements.len())
            .filter(|&element| self.elements[element].law.is_storage())
            .map(|element| self.port_width(element, 0))
            .sum();
        ports + self.integrals.len()
    }

    /// Number of outputs that are integrals, each of which may add a state.
    pub fn integral_outputs(&self) -> usize {
        self.outputs
            .iter()
            .filter(|output| output.change == Change::Integral)
            .count()
    }

    /// Returns true if some source depends on the network itself.
    pub fn is_controlled(&self) -> bool {
        let own = |linear: &Linear| linear.iter().any(|(_, term)| !matches!(term, Term::Input(_)));
        self.elements.iter().any(|element| element.signals.iter().any(own))
    }
}
