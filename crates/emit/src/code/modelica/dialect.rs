//! Expressions and equations in Modelica: every value has a name, and loops do not exist.

use super::super::dialect::{Array, Binding, Dialect, Lane, Text, function_name_of_two};
use super::super::names::Rules;
use lgm_kernels::operation::Space;
use lgm_kernels::operation::{Binary, Unary};

/// Reserved words, and the names of functions and types of the language.
pub(super) const RULES: Rules = Rules {
    reserved: "algorithm and annotation assert block break class connect connector constant constrainedby der discrete each \
        else elseif elsewhen encapsulated end enumeration equation expandable extends external false final flow for \
        function if import impure in initial inner input loop model not operator or outer output package parameter \
        partial protected public pure record redeclare replaceable return stream then true type when while within \
        Boolean Integer Modelica Real String StateSelect abs acos actualStream asin atan atan2 cardinality ceil change \
        cos cosh cross delay diagonal div edge exp fill floor homotopy identity inStream integer linspace log log10 \
        matrix max min mod ndims noEvent ones outerProduct pre product reinit rem sample scalar semiLinear sign sin \
        sinh size skew smooth spatialDistribution sqrt sum symmetric tan tanh terminal terminate time transpose vector \
        zeros",
    ignores_case: false,
    snake: false,
};

/// The names of the values of one program.
pub(super) struct Names<'n> {
    pub(super) parameters: &'n [String],
    pub(super) states: &'n [String],
    pub(super) inputs: &'n [String],
    /// Time derivatives of the inputs.
    pub(super) rates: &'n [String],
    pub(super) unknowns: &'n [String],
    /// The prefix of the program's intermediate values.
    pub(super) prefix: &'n str,
    /// The type of the program's intermediate values: `Real`, or parameters.
    pub(super) kind: &'n str,
}

/// Prints a double as a standalone literal. Modelica has neither infinity nor NaN.
pub(super) fn literal(value: f64) -> String {
    match value {
        value if value.is_finite() => format!("{value:?}"),
        value if value.is_nan() => "(0.0/0.0)".to_string(),
        value if value > 0.0 => "(1.0/0.0)".to_string(),
        _ => "(-1.0/0.0)".to_string(),
    }
}

impl Dialect for Names<'_> {
    fn literal(&self, value: f64) -> String {
        literal(value)
    }

    fn element(&self, array: Array, _name: &str, index: &str) -> Text {
        let names = match array {
            Array::Read(Space::Time) => return Text::atom("time"),
            Array::Read(Space::Temporaries) => return Text::atom(format!("{}_s{index}", self.prefix)),
            Array::Read(Space::Parameters) => self.parameters,
            Array::Read(Space::States) => self.states,
            Array::Read(Space::Inputs) => self.inputs,
            Array::Read(Space::Rates) => self.rates,
            Array::Read(Space::Unknowns) => self.unknowns,
            Array::Output => return Text::atom(index),
            Array::Read(Space::Numbers) => unreachable!("invariant: programs without loops have no tables"),
        };
        let index: usize = index
            .parse()
            .expect("invariant: programs without loops have no computed index");
        Text::atom(names[index].clone())
    }

    fn unary(&self, operation: Unary, a: &Text) -> Text {
        match operation {
            // Modelica has no `asinh`. Each form is accurate to the rounding of 1 on its side of 0. Both are 0 at 0, so no event is needed.
            Unary::Asinh => {
                let (power, term) = (a.within(Binding::Atom), a.within(Binding::Product));
                let root = format!("sqrt({power}^2 + 1)");
                let (below, above) = (format!("-log({root} - {term})"), format!("log({root} + {term})"));
                Text::atom(format!(
                    "noEvent(if {} < 0 then {below} else {above})",
                    a.within(Binding::Sum)
                ))
            }
            // Modelica has no `expm1` either: near 0 the difference has round-off, as in the model's text.
            Unary::ExpMinusOne => Text::new(Binding::Sum, format!("exp({}) - 1", a.text)),
            _ => Text::atom(format!("{}({})", self.name_of_one(operation), a.text)),
        }
    }

    fn binary(&self, operation: Binary, a: &Text, b: &Text) -> Text {
        let name = match operation {
            Binary::Minimum => "min",
            Binary::Maximum => "max",
            Binary::Power => {
                let text = format!("{}^{}", a.within(Binding::Atom), b.within(Binding::Atom));
                // Nested powers need parentheses.
                return Text::new(Binding::Sign, text);
            }
            _ => function_name_of_two(operation),
        };
        Text::atom(format!("{name}({}, {})", a.text, b.text))
    }

    /// Returns the precedence of `-a`: `a*-b` is not a valid expression.
    fn sign(&self) -> Binding {
        Binding::Sum
    }

    /// Returns the maximum length of an expression. The limit is high because inlined expressions keep equations readable.
    fn longest(&self) -> usize {
        1000
    }

    fn local(&self, name: String) -> String {
        format!("{}_{name}", self.prefix)
    }

    fn select(&self, condition: &Text, a: &Text, b: &Text) -> Text {
        let (a, b) = (a.within(Binding::Sum), b.within(Binding::Sum));
        Text::new(Binding::Loose, format!("if {} then {a} else {b}", condition.text))
    }

    /// Prints a condition; Modelica does not allow equality comparisons of real numbers.
    fn condition(&self, operation: Binary, a: &Text, b: &Text) -> Text {
        let (a, b) = (a.within(Binding::Sum), b.within(Binding::Sum));
        let text = match operation {
            Binary::Less => format!("{a} < {b}"),
            Binary::LessEqual => format!("{a} <= {b}"),
            Binary::Equal => format!("{a} <= {b} and {a} >= {b}"),
            Binary::NotEqual => format!("{a} < {b} or {a} > {b}"),
            Binary::And => format!("{a} and {b}"),
            Binary::Or => format!("{a} or {b}"),
            _ => unreachable!("invariant: conditions are relations or logic"),
        };
        Text::new(Binding::Loose, text)
    }

    fn negation(&self, a: &Text) -> Text {
        Text::new(Binding::Loose, format!("not ({})", a.text))
    }

    /// Prints no remark: names identify the subject of equations.
    fn remark(&self, _remark: &str) -> String {
        String::new()
    }

    fn declare(&self, name: &str, value: &str) -> String {
        format!("{} {name} = {value};", self.kind)
    }

    /// Stores a result as a value: the left-hand sides of results do not belong to the program.
    fn store(&self, array: Array, place: &str, value: &str, _remark: Option<&str>) -> String {
        match array {
            Array::Output => value.to_string(),
            _ => self.declare(place, value),
        }
    }

    fn head(&self, _count: u32) -> Option<String> {
        unreachable!("invariant: programs are written out")
    }

    fn table_index(&self, _table: &str, _first: u32, _lane: Lane) -> String {
        unreachable!("invariant: programs without loops have no tables")
    }
}
