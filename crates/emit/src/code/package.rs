//! The options and files of emitted code.

use lgm_source::diagnostic::Diagnostic;

/// The options of the code.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CodeOptions {
    /// Emits only the functions of the model, without a program that runs the model.
    pub functions: bool,
    /// Uses single precision.
    pub float: bool,
    /// Adds a run with steps of this length in seconds, for real-time loops.
    pub fixed_step: Option<f64>,
    /// The maximum number of Newton iterations on the algebraic loops in each evaluation.
    pub loop_iterations: Option<u64>,
}

impl CodeOptions {
    /// Returns the maximum number of Newton iterations on the algebraic loops: 50 by default.
    pub fn iterations(&self) -> u64 {
        self.loop_iterations.unwrap_or(50)
    }
}

/// One file of a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeFile {
    /// The path inside the package, with slashes.
    pub path: String,
    /// The contents of the file.
    pub contents: Vec<u8>,
}

/// The files of one target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Package {
    /// The files, sorted by path.
    pub files: Vec<CodeFile>,
    /// Remarks for the user about the files.
    pub remarks: Vec<String>,
    /// Warnings for the user.
    pub warnings: Vec<Diagnostic>,
    /// The products of a C compiler; none if the files are complete.
    pub library: Option<SharedLibrary>,
}

/// A shared library built from files of a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedLibrary {
    /// The files to be compiled, in the folder `sources` of the package.
    pub sources: Vec<String>,
    /// The path of the library in the package.
    pub path: String,
}

impl Package {
    /// Sorts the files by path.
    pub fn sort(&mut self) {
        self.files.sort_by(|a, b| a.path.cmp(&b.path));
    }

    /// Adds a text without blanks at the ends of lines.
    pub(super) fn add_trimmed(&mut self, path: impl Into<String>, text: &str) {
        let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
        let mut text = lines.join("\n").trim_end().to_string() + "\n";
        while text.contains("\n\n\n") {
            text = text.replace("\n\n\n", "\n\n");
        }
        self.add(path, text);
    }

    pub(super) fn add(&mut self, path: impl Into<String>, contents: impl Into<Vec<u8>>) {
        self.files.push(CodeFile {
            path: path.into(),
            contents: contents.into(),
        });
    }
}
