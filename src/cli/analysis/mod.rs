//! The commands of linear analysis.

pub(super) mod approximate;
pub(super) mod convert;
pub(super) mod fit;
pub(super) mod modes;
pub(super) mod response;
pub(super) mod second_order;
pub(super) mod structure;
pub(super) mod thevenin;
pub(super) mod transfer;
pub(super) mod trim;

mod converge;
mod one_port;
mod pictures;
mod polynomials;
mod realisation;
mod same;
pub(in crate::cli) mod shared;
