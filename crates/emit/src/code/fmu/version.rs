//! The versions of FMI.

use crate::code::c::Common;
use crate::code::template::{Template, template};

/// The version of the standard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Version {
    Two,
    Three,
}

impl Version {
    pub(super) fn number(self) -> &'static str {
        match self {
            Version::Two => "2.0",
            Version::Three => "3.0",
        }
    }

    pub(super) fn token_attribute(self) -> &'static str {
        match self {
            Version::Two => "guid",
            Version::Three => "instantiationToken",
        }
    }

    /// Returns the file with the functions of the standard.
    pub(super) const fn functions(self) -> Template<Common> {
        match self {
            Version::Two => template!("fmi2.c", "fmi2.c"),
            Version::Three => template!("fmi3.c", "fmi3.c"),
        }
    }

    /// Returns the headers of the standard.
    pub(super) fn headers(self) -> [(&'static str, &'static str); 3] {
        match self {
            Version::Two => [
                ("fmi2FunctionTypes.h", include_str!("headers/fmi2FunctionTypes.h")),
                ("fmi2Functions.h", include_str!("headers/fmi2Functions.h")),
                ("fmi2TypesPlatform.h", include_str!("headers/fmi2TypesPlatform.h")),
            ],
            Version::Three => [
                ("fmi3FunctionTypes.h", include_str!("headers/fmi3FunctionTypes.h")),
                ("fmi3Functions.h", include_str!("headers/fmi3Functions.h")),
                ("fmi3PlatformTypes.h", include_str!("headers/fmi3PlatformTypes.h")),
            ],
        }
    }

    /// Returns the folder for a machine's binaries.
    pub(super) fn platform(self) -> String {
        use std::env::consts::{ARCH, OS};
        let system = if OS == "macos" { "darwin" } else { OS };
        match (self, system, ARCH) {
            (Version::Two, "linux", "x86_64") => "linux64".into(),
            (Version::Two, "linux", "x86") => "linux32".into(),
            (Version::Two, "darwin", "x86_64") => "darwin64".into(),
            (Version::Two, "windows", "x86_64") => "win64".into(),
            (Version::Two, "windows", "x86") => "win32".into(),
            // Version 2 defines no other names; tools use those of version 3.
            (_, system, machine) => format!("{machine}-{system}"),
        }
    }
}
