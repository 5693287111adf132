//! Files and folders: what is read, where imports are found, and what is written in one piece.

pub(in crate::cli) mod disk;
pub(in crate::cli) mod folder;
pub(in crate::cli) mod library;
