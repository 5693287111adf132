//! Syntax tree to flat model: names, imports, components, arrays, units, laws.

pub mod model;
