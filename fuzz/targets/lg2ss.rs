//! See `lgm_fuzz::checks::lg2ss`.
#![no_main]

lgm_fuzz::target!(lg2ss);
