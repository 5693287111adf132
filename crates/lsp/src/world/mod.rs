//! Texts: open ones, those in folders, and those of the program; and the settings.

pub(crate) mod documents;
pub(crate) mod files;
pub(crate) mod folders;
pub(crate) mod settings;
