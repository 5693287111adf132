//! A run from one discontinuity to the next: its samples, its scales, and its reports.

pub(crate) mod ahead;
pub(crate) mod balance;
pub(crate) mod branch;
pub(crate) mod course;
pub(crate) mod crossing;
pub(crate) mod drive;
pub(crate) mod expected;
pub(crate) mod first_step;
pub(crate) mod headway;
pub(crate) mod output_errors;
pub(crate) mod piece;
pub(crate) mod recorder;
pub(crate) mod reported;
pub(crate) mod rows;
