//! A run from one discontinuity to the next: its samples, its scales, and its reports.

pub(crate) mod course;
pub(crate) mod drive;
pub(crate) mod expected;
pub(crate) mod first_step;
pub(crate) mod headway;
pub(crate) mod output_errors;
pub(crate) mod piece;
pub(crate) mod reported;
pub(crate) mod rows;
pub(crate) mod scales;
pub(crate) mod trial;
