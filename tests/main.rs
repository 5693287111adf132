//! All integration tests in one binary, so that they are compiled and linked once: `cargo test --test all starts::` runs those of
//! one file.

#[macro_use]
mod faulty;

mod algebra;
mod analysis;
mod architecture;
mod causality;
mod corpus;
mod emit;
mod equations;
mod language;
mod nonlinear;
mod pages;
mod runs;
mod support;
mod systems;
