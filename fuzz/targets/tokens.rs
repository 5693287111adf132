//! See `lgm_fuzz::checks::tokens`.
#![no_main]

lgm_fuzz::target!(tokens);
