//! See `lgm_fuzz::checks::formatter`.
#![no_main]

lgm_fuzz::target!(formatter);
