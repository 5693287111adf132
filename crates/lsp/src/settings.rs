//! What the person at the editor has chosen, as `initializationOptions` and `workspace/didChangeConfiguration` say it.

use lgm_ide::HintKind;
use serde_json::Value;

/// Which hints and lenses are shown. Hints are shown unless they are turned off; lenses are shown only to an editor that asks for
/// them, since their commands are its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Settings {
    causality: bool,
    values: bool,
    domains: bool,
    /// Whether models have lenses.
    pub lenses: bool,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            causality: true,
            values: true,
            domains: true,
            lenses: false,
        }
    }
}

impl Settings {
    /// Reads `{ "inlayHints": { "causality": true, "values": true, "domains": true }, "codeLenses": true }`; what is missing or no
    /// such value is as before.
    pub(crate) fn changed(self, given: &Value) -> Settings {
        let is = |path: &str, before: bool| given.pointer(path).and_then(Value::as_bool).unwrap_or(before);
        Settings {
            causality: is("/inlayHints/causality", self.causality),
            values: is("/inlayHints/values", self.values),
            domains: is("/inlayHints/domains", self.domains),
            lenses: is("/codeLenses", self.lenses),
        }
    }

    /// Whether hints of this kind are shown.
    pub(crate) fn shows(self, kind: HintKind) -> bool {
        match kind {
            HintKind::Causality => self.causality,
            HintKind::Value => self.values,
            HintKind::Domain => self.domains,
        }
    }
}
