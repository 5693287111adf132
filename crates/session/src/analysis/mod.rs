//! Linear analyses as data, each with a JSON form.

pub mod modes;
pub mod response;
pub mod transfer;
