//! Words of Python, and calls of programs in the methods of the class.

use crate::code::dialect::Array;
use crate::code::functions::wrapped;
use crate::code::names::quoted;
use crate::code::scripts::Script;
use lgm_kernels::operation::Space;

/// A string of Python.
pub(super) fn string(text: &str) -> String {
    quoted(text, &['\\', '"'])
}

/// A list of strings.
pub(super) fn strings<'n>(list: impl Iterator<Item = &'n str>) -> String {
    let list: Vec<String> = list.map(string).collect();
    format!("[{}]", wrapped(&list))
}

/// A truth value.
pub(super) fn boolean(holds: bool) -> &'static str {
    if holds { "True" } else { "False" }
}

/// The calls of the programs in the methods of the class.
pub(super) const SCRIPT: Script = Script {
    prefix: "_",
    argument: |array, out| {
        match array {
            Array::Read(Space::Time) => "t",
            Array::Read(Space::Parameters) => "self._p",
            Array::Read(Space::States) => "x",
            Array::Read(Space::Inputs) => "u",
            Array::Read(Space::Rates) => "du",
            Array::Read(Space::Unknowns) => "self._w",
            Array::Read(Space::Numbers) => unreachable!("invariant: tables of numbers are the module's"),
            Array::Read(Space::Temporaries) => "self._s",
            Array::Output => out,
        }
        .to_string()
    },
    starts: "self.starts",
    nothing: "pass",
    quote: string,
    derived: |position, call| {
        format!(
            "            if math.isnan(p[{position}]):\n                one = np.zeros(1)\n                {call}\n                \
             p[{position}] = one[0]\n"
        )
    },
    first: 0,
    goes_on: "",
};
