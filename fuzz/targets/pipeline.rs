//! See `lgm_fuzz::checks::pipeline`.
#![no_main]

lgm_fuzz::target!(pipeline);
