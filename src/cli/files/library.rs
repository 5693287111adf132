//! Shared libraries of emitted packages, built by the local C compiler.

use crate::cli::interrupt;
use lgm_emit::code::{CodeFile, Package, SharedLibrary};
use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::process::{Command, Stdio};

/// Compilers to try if no environment variable names a compiler.
const COMPILERS: [&str; 3] = ["cc", "gcc", "clang"];

/// Builds and adds the library of a package. If this fails, a remark reports the failure, and the package keeps its sources.
pub(in crate::cli) fn add_library(package: &mut Package) {
    let Some(library) = package.library.take() else {
        return;
    };
    match build(&package.files, &library) {
        Ok(contents) => {
            package.files.push(CodeFile {
                path: library.path,
                contents,
            });
            package.sort();
        }
        Err(reason) => package.remarks.push(format!(
            "{reason}; it contains only the sources, which the importing tool must compile"
        )),
    }
}

/// Returns the bytes of the library, or the reason why the build failed.
fn build(files: &[CodeFile], library: &SharedLibrary) -> Result<Vec<u8>, String> {
    let scratch = Scratch::new().map_err(|error| format!("cannot create a folder for compilation: {error}"))?;
    let folder = scratch.path();
    let failed = |error: io::Error| format!("the sources cannot be compiled: {error}");
    for file in files {
        if let Some(name) = file.path.strip_prefix("sources/") {
            fs::write(folder.join(name), &file.contents).map_err(failed)?;
        }
    }
    let result = "library";
    let chosen = std::env::var("CC").ok().filter(|words| !words.trim().is_empty());
    let compilers = match &chosen {
        // The name of a compiler can include options: `ccache gcc`.
        Some(words) => vec![words.as_str()],
        None => COMPILERS.to_vec(),
    };
    for compiler in &compilers {
        let mut words = compiler.split_whitespace();
        let mut command = Command::new(words.next().unwrap_or_default());
        command.args(words).args(flags()).args(["-o", result]);
        command.args(&library.sources).arg("-lm").current_dir(folder);
        // The output is reproducible at any time and on any machine.
        command
            .env("SOURCE_DATE_EPOCH", "0")
            .env("ZERO_AR_DATE", "1")
            .stdin(Stdio::null());
        match command.output() {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(format!("cannot run the C compiler `{compiler}`: {error}")),
            Ok(output) if output.status.success() => return fs::read(folder.join(result)).map_err(failed),
            Ok(output) => {
                let said = String::from_utf8_lossy(&output.stderr);
                let first = said.lines().find(|line| line.contains("error")).or(said.lines().next());
                return Err(format!(
                    "the C compiler `{compiler}` fails: {}",
                    first.unwrap_or("it reports no reason")
                ));
            }
        }
    }
    Err(match chosen {
        Some(words) => format!("`{words}`, named by CC, was not found"),
        None => format!("no C compiler was found (`{}`)", COMPILERS.join("`, `")),
    })
}

fn flags() -> Vec<&'static str> {
    // Products and sums are rounded separately, so that results are the same on every machine.
    let mut flags = vec!["-std=c99", "-O2", "-ffp-contract=off", "-fPIC", "-fvisibility=hidden"];
    match std::env::consts::OS {
        "macos" => flags.extend(["-dynamiclib", "-Wl,-no_uuid"]),
        "windows" => flags.extend(["-shared", "-s"]),
        _ => flags.extend(["-shared", "-s", "-Wl,--build-id=none"]),
    }
    flags
}

/// A temporary folder that is removed when dropped.
struct Scratch(std::path::PathBuf);

impl Scratch {
    fn new() -> io::Result<Scratch> {
        let base = std::env::temp_dir();
        let mut attempt = 0;
        loop {
            let path = base.join(format!("lgm-{}-{attempt}", std::process::id()));
            match interrupt::create(&path, || fs::create_dir(&path)) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists && attempt < 100 => attempt += 1,
                made => return made.map(|()| Scratch(path)),
            }
        }
    }

    fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Files that cannot be removed remain.
        let _ = fs::remove_dir_all(&self.0);
        interrupt::finished(&self.0);
    }
}
