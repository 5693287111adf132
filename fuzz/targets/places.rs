//! See `lgm_fuzz::checks::places`.
#![no_main]

lgm_fuzz::target!(places);
