//! Shared parts of the tests of whole models: the records of known answers, the program, arithmetic on A..F.

// The tests of `symbolica` are a separate program, and use part of this.
#![allow(dead_code)]

pub mod arithmetic;
pub mod cases;
pub mod command;
pub mod domain;
pub mod emitted;
pub mod linear;
pub mod models;
pub mod modules;
pub mod pages;
pub mod points;
pub mod program;
pub mod records;
