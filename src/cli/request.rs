//! The arguments that commands share, and the compilation that they ask for.

use super::disk::{Disk, read_root};
use crate::Request;
use crate::diagnostic::Diagnostic;
use crate::elaborate::Settings;
use crate::equations::{Options, StateRequest, StateSystem};
use crate::source::{SourceId, SourceMap};
use clap::ValueEnum;
use std::path::PathBuf;

/// Which model, with which values.
#[derive(Debug, clap::Args)]
pub(super) struct ModelArguments {
    /// The model's text; `-` is standard input
    file: PathBuf,
    /// Which model of the file; the last one unless given
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// Gives a `param` or `const` another value; may be given several times
    #[arg(long, value_name = "NAME=VALUE", allow_hyphen_values = true)]
    set: Vec<String>,
    /// Also lets imports use the files of this folder; may be given several times
    #[arg(long, value_name = "DIR")]
    include: Vec<PathBuf>,
}

/// Which variables are the states.
#[derive(Debug, clap::Args)]
pub(super) struct StateArguments {
    /// Power variables (across, through) or energy variables (p, q) for all storage
    #[arg(long, value_enum)]
    states: Option<States>,
    /// Let this storage element keep its state where one of several must give way; may be given several times
    #[arg(long, value_name = "ELEM")]
    retain: Vec<String>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum States {
    Power,
    Energy,
}

impl ModelArguments {
    /// Everything up to the equations, for the diagnostics alone.
    pub(super) fn check(&self, verify: bool) -> (SourceMap, Vec<Diagnostic>) {
        let mut map = SourceMap::default();
        let diagnostics = match self.read(&mut map) {
            Err(diagnostic) => vec![diagnostic],
            Ok(root) => {
                let request = Request {
                    settings: self.settings(&mut map),
                    // Numbers find every singular value; symbols are made only where they are to be verified, so
                    // that checking takes time in proportion to the model.
                    equations: Options {
                        symbolic: verify,
                        ..Options::default()
                    },
                    verify,
                };
                crate::check(&self.disk(), &mut map, root, &request)
            }
        };
        (map, diagnostics)
    }

    /// The equations of the model, as `wanted` says and with the states that were asked for.
    pub(super) fn compile(
        &self,
        states: &StateArguments,
        wanted: Options,
    ) -> (SourceMap, Option<StateSystem>, Vec<Diagnostic>) {
        let mut map = SourceMap::default();
        let (system, diagnostics) = match self.read(&mut map) {
            Err(diagnostic) => (None, vec![diagnostic]),
            Ok(root) => {
                let request = Request {
                    settings: self.settings(&mut map),
                    equations: Options {
                        states: match states.states {
                            None => StateRequest::Natural,
                            Some(States::Power) => StateRequest::Power,
                            Some(States::Energy) => StateRequest::Energy,
                        },
                        retain: states.retain.clone(),
                        ..wanted
                    },
                    verify: false,
                };
                crate::compile(&self.disk(), &mut map, root, &request)
            }
        };
        (map, system, diagnostics)
    }

    /// FILE, once the folders named by `--include` are known to be there.
    fn read(&self, map: &mut SourceMap) -> Result<SourceId, Diagnostic> {
        match self.include.iter().find(|folder| !folder.is_dir()) {
            Some(folder) => {
                let message = format!("`--include {}`: there is no such folder", folder.display());
                Err(Diagnostic::error("LGM0909", message).help("name a folder that holds files to import"))
            }
            None => read_root(&self.file, map),
        }
    }

    fn disk(&self) -> Disk {
        Disk {
            include: self.include.clone(),
        }
    }

    /// Each `--set` becomes a text of its own, so that a diagnostic can point into it.
    fn settings(&self, map: &mut SourceMap) -> Settings {
        let sets = self.set.iter();
        let sets = sets.map(|text| (text.clone(), map.add(format!("--set {text}"), text.as_str(), None)));
        Settings {
            sets: sets.collect(),
            model: self.model.clone(),
            ..Settings::default()
        }
    }
}
