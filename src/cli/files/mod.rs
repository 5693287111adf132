//! Files and folders: reading, locating imports, and writing complete results.

pub(in crate::cli) mod disk;
pub(in crate::cli) mod folder;
pub(in crate::cli) mod library;
