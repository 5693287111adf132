//! The value of an expression of the language: entries with dimensions, in a shape.

pub(crate) use crate::literals::{LARGEST_EXPONENT, LONGEST_LITERAL, Text, decimal};
use lgm_algebra::expr::{ExprId, Exprs};
use lgm_algebra::units::Dimension;
use lgm_model::SiUnit;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// A dimension in [`Dimensions`]; the first is "unknown", the second that of pure numbers.
///
/// A number without a unit matches any dimension by itself ([`DimId::PLAIN`]), but counts as a pure number in a product with a known
/// dimension. The dimension of such a product *rests on a number*: it is checked, but a mismatch
/// is only a warning, because the number may be a quantity whose unit was omitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct DimId(pub u32);

/// The bit of a dimension that rests on a number.
const RESTS: u32 = 1 << 31;

impl DimId {
    pub const UNKNOWN: DimId = DimId(0);
    pub const NONE: DimId = DimId(1);
    /// The dimension of a number as written, without a unit.
    pub const PLAIN: DimId = DimId(RESTS | 1);

    /// Returns true if the dimension is certain and does not rest on a number.
    pub fn is_known(self) -> bool {
        self != DimId::UNKNOWN && self.0 & RESTS == 0
    }

    /// Returns true for a dimension that may be wrong because of a number without a unit.
    pub fn rests_on_number(self) -> bool {
        self.0 & RESTS != 0 && self != DimId::PLAIN
    }

    /// Returns true if the dimension can disagree with another one.
    pub fn says_something(self) -> bool {
        self.is_known() || self.rests_on_number()
    }

    /// Returns the dimension of a value computed from numbers with this one: a number without a unit fits every dimension.
    pub fn or_unknown(self) -> DimId {
        match self {
            DimId::PLAIN => DimId::UNKNOWN,
            dim => dim,
        }
    }

    /// Returns the same dimension as a certain one.
    pub fn firm(self) -> DimId {
        DimId(self.0 & !RESTS)
    }

    /// Returns the same dimension as one that rests on a number.
    fn resting(self) -> DimId {
        match self {
            DimId::UNKNOWN => self,
            DimId(word) => DimId(word | RESTS),
        }
    }

    /// Returns the dimension of the name of a quantity: unknown without a unit, even for a number.
    pub fn named(self) -> DimId {
        if self == DimId::PLAIN { DimId::UNKNOWN } else { self }
    }

    /// Returns the dimension of a sum of two terms: certain dimensions have priority.
    pub fn joined(self, other: DimId) -> DimId {
        let rank = |dim: DimId| match dim {
            DimId::PLAIN => 0,
            DimId::UNKNOWN => 1,
            _ if dim.is_known() => 3,
            _ => 2,
        };
        if rank(other) > rank(self) { other } else { self }
    }

    /// Compares the dimensions of two quantities.
    pub fn agreement(self, other: DimId) -> Agreement {
        match (self.says_something(), other.says_something()) {
            (true, true) if self.firm() != other.firm() => match self.is_known() && other.is_known() {
                true => Agreement::No,
                false => Agreement::RestsOnNumber,
            },
            _ => Agreement::Yes,
        }
    }
}

/// The result of comparing two dimensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Agreement {
    /// They are equal, or one of them is unknown.
    Yes,
    /// They differ, but one of them rests on a number without a unit.
    RestsOnNumber,
    /// They differ.
    No,
}

/// The distinct dimensions.
#[derive(Debug)]
pub(crate) struct Dimensions {
    list: Vec<Dimension>,
    ids: FxHashMap<Dimension, DimId>,
    /// The units of the through variables of the domains in use: a torque is in N.m, and is not an energy.
    pub words: FxHashMap<Dimension, SiUnit>,
}

impl Dimensions {
    pub fn new() -> Dimensions {
        let mut dimensions = Dimensions {
            // The entry of the unknown dimension is never read.
            list: vec![Dimension::NONE],
            ids: FxHashMap::default(),
            words: FxHashMap::default(),
        };
        dimensions.id(Dimension::NONE);
        dimensions
    }

    pub fn id(&mut self, dimension: Dimension) -> DimId {
        let next = DimId(self.list.len() as u32);
        let id = *self.ids.entry(dimension).or_insert(next);
        if id == next {
            self.list.push(dimension);
        }
        id
    }

    pub fn optional(&mut self, dimension: Option<Dimension>) -> DimId {
        dimension.map_or(DimId::UNKNOWN, |dimension| self.id(dimension))
    }

    pub fn get(&self, id: DimId) -> Option<Dimension> {
        id.is_known().then(|| self.list[id.0 as usize])
    }

    /// Returns the dimension in readable form.
    pub fn text(&self, id: DimId) -> String {
        match self.get(id.firm()).filter(|_| id != DimId::PLAIN) {
            Some(dimension) if dimension.is_none() => "[1] (a pure number)".to_string(),
            Some(dimension) => match self.words.get(&dimension) {
                Some(unit) => format!("[{unit}]"),
                None => format!("[{}]", dimension.text()),
            },
            None => "unknown".to_string(),
        }
    }

    /// Returns the dimension of `a * b^(numerator/denominator)`. A product with an unknown factor is unknown; a product with a plain number
    /// rests on it.
    pub fn times_power(&mut self, a: DimId, b: DimId, numerator: i64, denominator: i64) -> DimId {
        if b == DimId::NONE {
            return a;
        }
        let product = match (self.get(a.firm()), self.get(b.firm())) {
            (Some(x), Some(y)) => self.optional(x.times_power(&y, numerator, denominator)),
            _ => return DimId::UNKNOWN,
        };
        match a.firm() == a && b.firm() == b {
            true => product,
            false => product.resting(),
        }
    }

    pub fn times(&mut self, a: DimId, b: DimId) -> DimId {
        if a == DimId::NONE {
            return b;
        }
        self.times_power(a, b, 1, 1)
    }

    pub fn over(&mut self, a: DimId, b: DimId) -> DimId {
        self.times_power(a, b, -1, 1)
    }

    /// Returns a dimension times a power of seconds; unknown for a plain number, which may be any quantity.
    pub fn times_seconds(&mut self, a: DimId, power: i64) -> DimId {
        if a == DimId::PLAIN {
            return DimId::UNKNOWN;
        }
        let time = self.id(Dimension::TIME);
        self.times_power(a, time, power, 1)
    }
}

/// A scalar: an expression with its dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scalar {
    pub expr: ExprId,
    pub dim: DimId,
}

/// A vector or a matrix, row by row.
#[derive(Clone, Debug)]
pub(crate) struct ArrayValue {
    pub rows: usize,
    pub columns: usize,
    /// True if written as a list of rows, and therefore indexed and printed with two indices.
    pub matrix: bool,
    pub entries: Vec<Scalar>,
}

/// The value of an expression.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    /// A reported error; uses of the value cause no further errors.
    Error,
    /// A scalar.
    Scalar(Scalar),
    /// A vector or a matrix.
    Array(Rc<ArrayValue>),
}

impl Value {
    pub fn scalar(expr: ExprId, dim: DimId) -> Value {
        Value::Scalar(Scalar { expr, dim })
    }

    /// Returns a column; a column of one entry is a scalar.
    pub fn column(entries: Vec<Scalar>) -> Value {
        match entries[..] {
            [only] => Value::Scalar(only),
            _ => Value::array(entries.len(), 1, false, entries),
        }
    }

    pub fn array(rows: usize, columns: usize, matrix: bool, entries: Vec<Scalar>) -> Value {
        Value::Array(Rc::new(ArrayValue {
            rows,
            columns,
            matrix,
            entries,
        }))
    }

    pub fn is_error(&self) -> bool {
        matches!(self, Value::Error)
    }

    /// Returns the numbers of rows and columns; a scalar and an error are 1 by 1.
    pub fn shape(&self) -> (usize, usize) {
        match self {
            Value::Error | Value::Scalar(_) => (1, 1),
            Value::Array(array) => (array.rows, array.columns),
        }
    }

    pub fn entries(&self) -> &[Scalar] {
        match self {
            Value::Error => &[],
            Value::Scalar(scalar) => std::slice::from_ref(scalar),
            Value::Array(array) => &array.entries,
        }
    }

    /// Returns the shape in readable form.
    pub fn shape_text(&self) -> String {
        match self {
            Value::Error => "unknown".to_string(),
            Value::Scalar(_) => "a scalar".to_string(),
            Value::Array(array) if array.columns == 1 => format!("a vector of width {}", array.rows),
            Value::Array(array) => format!("a {}-by-{} matrix", array.rows, array.columns),
        }
    }

    /// Returns the common dimension of all entries with a dimension, if they agree.
    pub fn common_dim(&self) -> DimId {
        let mut common = DimId::UNKNOWN;
        for entry in self.entries() {
            if entry.dim.says_something() {
                if common.says_something() && common.firm() != entry.dim.firm() {
                    return DimId::UNKNOWN;
                }
                common = common.joined(entry.dim);
            }
        }
        common
    }

    /// Returns the value as the value of a name: see [`DimId::named`].
    pub fn named(self) -> Value {
        if self.entries().iter().all(|entry| entry.dim != DimId::PLAIN) {
            return self;
        }
        self.map(|entry| Scalar {
            expr: entry.expr,
            dim: entry.dim.named(),
        })
    }

    /// Returns the value with a function applied to each entry.
    pub fn map(&self, mut change: impl FnMut(Scalar) -> Scalar) -> Value {
        match self {
            Value::Error => Value::Error,
            Value::Scalar(scalar) => Value::Scalar(change(*scalar)),
            Value::Array(array) => Value::array(
                array.rows,
                array.columns,
                array.matrix,
                array.entries.iter().map(|entry| change(*entry)).collect(),
            ),
        }
    }
}

/// Returns the names of a value's entries: `K`, `u[2]`, `K[1, 2]`.
pub(crate) fn entry_names(name: &str, value: &Value) -> Vec<String> {
    match value {
        Value::Error => Vec::new(),
        Value::Scalar(_) => vec![name.to_string()],
        Value::Array(array) => (0..array.entries.len())
            .map(|at| {
                if array.matrix {
                    format!("{name}[{}, {}]", at / array.columns + 1, at % array.columns + 1)
                } else {
                    format!("{name}[{}]", at + 1)
                }
            })
            .collect(),
    }
}

/// Expressions under construction, and the literals read so far, so that each is read once.
#[derive(Debug, Default)]
pub(crate) struct Arena<'a> {
    pub exprs: Exprs,
    /// The value in SI and the dimension of each valid literal, by its text with the unit.
    pub literals: FxHashMap<&'a str, Scalar>,
}
