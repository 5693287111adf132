//! The user's settings, from `initializationOptions` and `workspace/didChangeConfiguration`.

use lgm_ide::HintKind;
use serde_json::Value;

/// The enabled hints, lenses and links. Hints are shown unless they are turned off; lenses and code links only for
/// editors that enable them, because these must support their commands and URIs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Settings {
    causality: bool,
    values: bool,
    domains: bool,
    /// True if models have lenses.
    pub lenses: bool,
    /// True if codes of diagnostics link to their pages.
    pub code_links: bool,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            causality: true,
            values: true,
            domains: true,
            lenses: false,
            code_links: false,
        }
    }
}

impl Settings {
    /// Reads `{ "inlayHints": { "causality": true, "values": true, "domains": true }, "codeLenses": true, "codeLinks":
    /// true }`; missing entries keep their values. Invalid values leave a setting unchanged, and each is reported in
    /// the log.
    pub(crate) fn changed(self, given: &Value) -> (Settings, Vec<String>) {
        let mut faults = Vec::new();
        let mut is = |path: &str, before: bool| match given.pointer(path) {
            None | Some(Value::Null) => before,
            Some(Value::Bool(value)) => *value,
            Some(other) => {
                let name = path.trim_start_matches('/').replace('/', ".");
                faults.push(format!(
                    "the setting `{name}` is `{other}`, and must be `true` or `false`; it stays `{before}`"
                ));
                before
            }
        };
        let settings = Settings {
            causality: is("/inlayHints/causality", self.causality),
            values: is("/inlayHints/values", self.values),
            domains: is("/inlayHints/domains", self.domains),
            lenses: is("/codeLenses", self.lenses),
            code_links: is("/codeLinks", self.code_links),
        };
        (settings, faults)
    }

    /// Returns true if hints of this kind are shown.
    pub(crate) fn shows(self, kind: HintKind) -> bool {
        match kind {
            HintKind::Causality => self.causality,
            HintKind::Value => self.values,
            HintKind::Domain => self.domains,
        }
    }
}
