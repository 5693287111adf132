//! See `lgm_fuzz::checks::parser`.
#![no_main]

lgm_fuzz::target!(parser);
