//! What is asked of emitted code, and the files that it comes as.

use lgm_source::diagnostic::Diagnostic;

/// What is asked of the code.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CodeOptions {
    /// Single precision.
    pub float: bool,
    /// Also a run in steps of this length in seconds, as real-time loops need it.
    pub fixed_step: Option<f64>,
    /// Newton's iterations on the algebraic loops at most, in each evaluation.
    pub loop_iterations: Option<u64>,
}

impl CodeOptions {
    /// Newton's iterations on the algebraic loops at most: 50 unless it is said.
    pub fn iterations(&self) -> u64 {
        self.loop_iterations.unwrap_or(50)
    }
}

/// One file of a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeFile {
    /// Its path inside the package, with slashes.
    pub path: String,
    /// What it holds.
    pub contents: Vec<u8>,
}

/// The files of one target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Package {
    /// In order of their paths.
    pub files: Vec<CodeFile>,
    /// What is reported to the user about them.
    pub remarks: Vec<String>,
    /// What a user is warned of.
    pub warnings: Vec<Diagnostic>,
    /// What a C compiler is to build of them; none where the files are all there is.
    pub library: Option<SharedLibrary>,
}

/// A shared library built from files of a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedLibrary {
    /// The files to be compiled, in the folder `sources` of the package.
    pub sources: Vec<String>,
    /// Where the library belongs in the package.
    pub path: String,
}

impl Package {
    /// Puts the files into the order of their paths.
    pub fn sort(&mut self) {
        self.files.sort_by(|a, b| a.path.cmp(&b.path));
    }

    pub(super) fn add(&mut self, path: impl Into<String>, contents: impl Into<Vec<u8>>) {
        self.files.push(CodeFile {
            path: path.into(),
            contents: contents.into(),
        });
    }
}
