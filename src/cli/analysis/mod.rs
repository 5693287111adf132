//! Commands for linear analysis.

pub(super) mod approximate;
pub(super) mod fit;
pub(super) mod modes;
pub(super) mod one_port;
pub(super) mod response;
mod sampled_modes;
pub(super) mod second_order;
pub(super) mod structure;
mod sweep;
pub(super) mod switching;
pub(super) mod terminals;
pub(super) mod transfer;
pub(super) mod trim;

mod converge;
mod mode_profile;
pub(in crate::cli) mod pictures;
mod polynomials;
mod realisation;
pub(in crate::cli) mod shared;
