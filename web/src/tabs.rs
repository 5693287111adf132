//! The texts that are open in the page, as files for imports.

use lgm_source::Sources;
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

/// The open texts by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tabs(pub(crate) BTreeMap<String, String>);

impl Sources for Tabs {
    fn read(&self, path: &Path) -> Result<String, String> {
        let name = self.resolve(path).display().to_string();
        let text = self.0.get(&name).cloned();
        text.ok_or_else(|| "no tab has this name".to_string())
    }

    fn resolve(&self, path: &Path) -> PathBuf {
        let mut found = PathBuf::new();
        for part in path.components() {
            match part {
                Component::Normal(name) => found.push(name),
                Component::ParentDir => _ = found.pop(),
                _ => {}
            }
        }
        found
    }
}
