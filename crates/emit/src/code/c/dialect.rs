//! Expressions and functions in C.

use super::super::dialect::{Array, Binding, Dialect, Lane, Operation, Text, function_name, function_name_of_two};
use super::super::functions::{Language, Signature, wrapped};
use super::super::names::Rules;
use super::super::subject::{Parameter, Subject};
use crate::code::script::double;
use lgm_kernels::operation::{Binary, Space, Unary};
use lgm_kernels::program::{Index, Instruction, Program};

/// Names that C, C++ or the templates reserve.
pub(super) const RULES: Rules = Rules {
    reserved: "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t char8_t class \
        co_await co_return co_yield compl complex concept const const_cast consteval constexpr constinit continue \
        decltype default delete do double dynamic_cast else enum errno explicit export extern false float for friend \
        goto I if imaginary inline int linux long main mutable namespace NAN new noexcept not not_eq NULL nullptr \
        operator or or_eq private protected public register reinterpret_cast requires restrict return short signed \
        sizeof static static_assert static_cast struct switch template this thread_local throw true try typedef typeid \
        typename typeof union unix unsigned using virtual void volatile wchar_t while xor xor_eq HUGE_VAL INFINITY",
    ignores_case: false,
    snake: false,
};

/// C99 with one floating-point type.
#[derive(Clone, Copy)]
pub(super) struct C<'c> {
    pub(super) float: bool,
    /// The members of the parameter struct, if functions read parameters from it.
    pub(super) members: Option<&'c Members>,
}

/// The members of the parameter struct.
pub(super) struct Members {
    /// For each member, the index of its first entry in the list of all entries, the number of entries, and the name.
    list: Vec<(usize, usize, String)>,
    /// The expression that accesses each entry.
    entries: Vec<String>,
}

impl Members {
    /// Creates the members with these names.
    pub(super) fn new(subject: &Subject<'_>, names: &[String]) -> Members {
        let named = || subject.parameters.iter().zip(names);
        let entries = named().flat_map(|(parameter, name)| {
            let places = 0..parameter.entries.len();
            places.map(move |at| format!("p->{}", entry_place(parameter, name, at)))
        });
        let list = named().map(|(parameter, name)| (parameter.first, parameter.entries.len(), name.clone()));
        Members {
            list: list.collect(),
            entries: entries.collect(),
        }
    }

    /// Returns the member that contains an entry.
    fn of(&self, entry: usize) -> Option<&(usize, usize, String)> {
        let mut list = self.list.iter();
        list.find(|member| (member.0..member.0 + member.1).contains(&entry))
    }

    /// Returns true if every loop of a program reads the entries of one member at a time.
    pub(super) fn suffice(&self, program: &Program) -> bool {
        let loads = program.loops.iter().flat_map(|entry| {
            let count = entry.count;
            entry.body.iter().map(move |instruction| (count, *instruction))
        });
        loads.into_iter().all(|(count, instruction)| match instruction {
            Instruction::Load(Space::Parameters, index @ Index::Affine { .. }) => {
                let [first, last] = [0, count - 1].map(|lane| index.of_lane(lane, &[]) as usize);
                let member = self.of(first);
                member.is_some_and(|member| (member.0..member.0 + member.1).contains(&last))
            }
            Instruction::Load(Space::Parameters, Index::Table { .. }) => false,
            _ => true,
        })
    }
}

/// Returns the expression that accesses a parameter entry in the struct.
pub(super) fn entry_place(parameter: &Parameter, member: &str, at: usize) -> String {
    match parameter.shape.is_empty() {
        true => member.to_string(),
        false => format!("{member}[{at}]"),
    }
}

/// Prints a C string literal: each byte of non-ASCII text becomes three octal digits.
pub(super) fn string(text: &str) -> String {
    let mut literal = "\"".to_string();
    for byte in text.bytes() {
        match byte {
            b'"' | b'\\' => {
                literal.push('\\');
                literal.push(char::from(byte));
            }
            // Avoid trigraphs.
            b'?' => literal.push_str("\\?"),
            b' '..=b'~' => literal.push(char::from(byte)),
            _ => literal.push_str(&format!("\\{byte:03o}")),
        }
    }
    literal + "\""
}

impl C<'_> {
    /// Returns the machine epsilon: the distance from 1 to the next larger floating-point number.
    pub(super) fn epsilon(self) -> f64 {
        if self.float {
            f64::from(f32::EPSILON)
        } else {
            f64::EPSILON
        }
    }

    /// Returns the name of a mathematics library function.
    pub(super) fn function(self, name: &str) -> String {
        if self.float {
            format!("{name}f")
        } else {
            name.to_string()
        }
    }
}

impl Dialect for C<'_> {
    fn shares_reciprocals(&self) -> bool {
        true
    }

    fn literal(&self, value: f64) -> String {
        let single = value as f32;
        match self.float {
            true if single.is_finite() => format!("{single:?}F"),
            true => double(f64::from(single), "NAN", "INFINITY"),
            false => double(value, "NAN", "INFINITY"),
        }
    }

    fn parameter(&self, index: Index, lane: Lane) -> Option<Text> {
        let members = self.members?;
        let Index::Affine { first, stride } = index else {
            return None;
        };
        let Lane::Of(count) = lane else {
            return Some(Text::atom(&members.entries[first as usize]));
        };
        if stride == 0 {
            return Some(Text::atom(&members.entries[first as usize]));
        }
        let (begin, _, name) = members.of(first as usize)?;
        let place = self.lane_index(first - *begin as u32, stride, count);
        Some(Text::atom(format!("p->{name}[{place}]")))
    }

    fn name_of_one(&self, operation: Unary) -> String {
        match operation {
            Unary::Absolute => self.function("fabs"),
            Unary::Sign => "sign_of".to_string(),
            _ => self.function(function_name(operation)),
        }
    }

    fn name_of_two(&self, operation: Binary) -> String {
        match operation {
            Binary::Atan2 => self.function("atan2"),
            _ => function_name_of_two(operation).to_string(),
        }
    }

    fn select(&self, condition: &Text, a: &Text, b: &Text) -> Text {
        let text = format!(
            "({}) ? {} : {}",
            condition.text,
            a.within(Binding::Sum),
            b.within(Binding::Sum)
        );
        Text::new(Binding::Loose, text)
    }

    fn remark(&self, remark: &str) -> String {
        format!(" /* {remark} */")
    }

    fn declare(&self, name: &str, value: &str) -> String {
        format!("const real {}", self.assign(name, value, None))
    }

    fn head(&self, count: u32) -> Option<String> {
        Some(format!("for (int k = 0; k < {count}; k++) {{"))
    }
}

/// Definitions of `Unary::Sign`, `Binary::Minimum`, `Binary::Maximum` and `Binary::Power`, for which C has no
/// equivalent function.
const HELPERS: [(Operation, &str); 4] = [
    (
        Operation::One(Unary::Sign),
        "/* Returns -1, 0 or 1, or NaN if a is NaN. */
static real sign_of(real a) {
    return (a > @zero@) ? @one@ : ((a < @zero@) ? -@one@ : @fabs@(a));
}
",
    ),
    (
        Operation::Two(Binary::Minimum),
        "/* Returns the smaller value, or NaN if either is NaN; -0 counts as below 0. */
static real minimum(real a, real b) {
    if (a < b) {
        return a;
    }
    if (b < a) {
        return b;
    }
    if (isnan(a) || isnan(b)) {
        return NAN;
    }
    return signbit(a) ? a : b;
}
",
    ),
    (
        Operation::Two(Binary::Maximum),
        "/* Returns the larger value, or NaN if either is NaN; 0 counts as above -0. */
static real maximum(real a, real b) {
    if (a > b) {
        return a;
    }
    if (b > a) {
        return b;
    }
    if (isnan(a) || isnan(b)) {
        return NAN;
    }
    return signbit(a) ? b : a;
}
",
    ),
    (
        Operation::Two(Binary::Power),
        "/* Returns a^b, by multiplication if b is an integer below 1024 in magnitude. */
static real power(real a, real b) {
    if (@fabs@(b) < @most@ && b == @trunc@(b)) {
        int left = (int)@fabs@(b);
        real square = a;
        real result = @one@;
        for (;;) {
            if (left % 2 != 0) {
                result *= square;
            }
            left /= 2;
            if (left == 0) {
                break;
            }
            square *= square;
        }
        return (b < @zero@) ? @one@ / result : result;
    }
    return @pow@(a, b);
}
",
    ),
];

impl C<'_> {
    /// Returns the definitions of operations for which C has no function.
    pub(super) fn helpers(self, operations: &[Operation], is_guarded: bool) -> String {
        let mut helpers = String::new();
        for (_, helper) in HELPERS.iter().filter(|helper| operations.contains(&helper.0)) {
            let name = helper
                .split_once("static real ")
                .and_then(|(_, rest)| rest.split_once('('));
            let name = name.expect("invariant: a helper is a function of numbers").0;
            let guard = format!("LGM_HAS_{}", name.to_uppercase());
            if is_guarded {
                // Several headers may contain this definition.
                helpers.push_str(&format!("#ifndef {guard}\n#define {guard}\n"));
            }
            let helper = helper
                .replace("@zero@", &self.literal(0.0))
                .replace("@one@", &self.literal(1.0))
                .replace("@most@", &self.literal(1024.0));
            let functions = ["fabs", "trunc", "pow"];
            helpers.push_str(&functions.iter().fold(helper, |helper, function| {
                helper.replace(&format!("@{function}@"), &self.function(function))
            }));
            helpers.push_str(if is_guarded { "#endif\n\n" } else { "\n" });
        }
        helpers
    }
}

impl Language for C<'_> {
    fn constant(&self, name: String) -> String {
        name
    }

    fn table(&self, name: &str, entries: &[String], is_index: bool) -> String {
        let kind = if is_index { "int" } else { "real" };
        format!(
            "static const {kind} {name}[{}] = {{{}}};\n\n",
            entries.len(),
            wrapped(entries)
        )
    }

    fn open(&self, signature: &Signature<'_>) -> String {
        let one = |array: Array| match array {
            Array::Read(Space::Time) => "real t".to_string(),
            Array::Read(Space::Temporaries) | Array::Output => format!("real *RESTRICT {}", array.name()),
            Array::Read(Space::Parameters) if self.members.is_some() => "const lgm_parameters *RESTRICT p".to_string(),
            _ => format!("const real *RESTRICT {}", array.name()),
        };
        let list = if signature.arrays.is_empty() {
            "void".to_string()
        } else {
            signature.declared(one)
        };
        format!("static void {}({list}) {{", signature.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_exact_and_strings_safe() {
        let of = |float: bool| C { float, members: None };
        let (double, single) = (of(false), of(true));
        assert_eq!(double.literal(0.1), "0.1");
        assert_eq!(double.literal(1e300), "1e300");
        assert_eq!(single.literal(0.1), "0.1F");
        assert_eq!(single.literal(1e300), "INFINITY");
        assert_eq!(single.literal(-1e300), "-INFINITY");
        assert_eq!(double.literal(f64::NAN), "NAN");
        assert_eq!(string("a\"b\\?é"), "\"a\\\"b\\\\\\?\\303\\251\"");
    }
}
