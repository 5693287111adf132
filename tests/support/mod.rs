//! What the tests of whole models share: the records of known answers, the program, arithmetic on A..F.

// Every test binary compiles all of this and uses a part of it.
#![allow(dead_code)]

pub mod arithmetic;
pub mod emitted;
pub mod linear;
pub mod points;
pub mod program;
pub mod records;
