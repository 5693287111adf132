//! Answers to an editor's queries about a model, as plain data: no protocol, no files, no threads.
//!
//! A [`Snapshot`] is the current version of one root text with its imports. It also answers for incomplete texts: results that require
//! equations are omitted if there are none, and all others use the names in the readable parts.
//!
//! Locations are [`Span`]s of bytes; [`Snapshot::map`] returns the texts, and [`lgm_source::Source::position`] converts offsets to lines
//! and columns in any encoding.

mod actions;
mod answers;
mod completion;
mod equations;
mod functions;
mod hints;
mod hover;
mod keywords;
mod mends;
mod modes;
mod navigation;
mod problems;
mod rewrites;
mod snapshot;
mod symbols;
#[cfg(test)]
mod tests;
mod trial;

pub use answers::{
    Action, Colored, Completion, Completions, Edit, Hint, HintKind, Hover, Link, NameKind, Problem, Signature, Symbol,
};
pub use completion::{PathKind, is_part};
pub use lgm_elaborate::LIBRARY;
pub use lgm_elaborate::analysis::DefinitionId;
use lgm_model::system::StateSystem;
use lgm_source::{SourceId, Span};
pub use problems::syntax_faults;
pub use snapshot::Snapshot;

/// Returns the keywords of the language, for an editor that colours words without a compiler.
pub fn keywords() -> impl Iterator<Item = &'static str> {
    keywords::words()
}

/// The answers; each is computed in its own module.
impl Snapshot {
    /// Returns every error, warning and remark of the root text and its imports, like the terminal.
    pub fn problems(&self) -> Vec<Problem> {
        self.listed(|| problems::problems(self)).to_vec()
    }

    /// Returns the hover text of a location.
    pub fn hover(&self, at: (SourceId, u32)) -> Option<Hover> {
        hover::hover(self, at)
    }

    /// Returns the completions at a byte of the root text.
    pub fn completions(&self, at: u32) -> Completions {
        completion::completions(self, at)
    }

    /// Returns the documentation of a completion as Markdown, if its definition still has this name.
    pub fn documentation(&self, definition: DefinitionId, name: &str) -> Option<String> {
        let found = self.analysis().definitions.get(definition.0 as usize)?;
        (*found.name == *name).then(|| hover::of_definition(self, definition))
    }

    /// Returns, for a byte in a quoted path, the part of the path before the byte, and the kind of its target.
    pub fn path_at(&self, at: u32) -> Option<(Span, PathKind)> {
        completion::path_at(self, at)
    }

    /// Returns the formal parameters of the call that is being written at a byte of the root text.
    pub fn signature(&self, at: u32) -> Option<Signature> {
        completion::signature(self, at)
    }

    /// Returns the declaration of the name at the location.
    pub fn definition(&self, at: (SourceId, u32)) -> Option<Span> {
        navigation::definition(self, at)
    }

    /// Returns every reference to the definition of the name at the location, optionally with its declaration first.
    pub fn references(&self, at: (SourceId, u32), with_declaration: bool) -> Vec<Span> {
        navigation::references(self, at, with_declaration)
    }

    /// Returns the name at the location if it can be renamed.
    pub fn renamed_name(&self, at: (SourceId, u32)) -> Result<Span, String> {
        navigation::renamed_name(self, at)
    }

    /// Returns the changes that rename the definition of the name at the location, or the reason why this is impossible.
    pub fn rename(&self, at: (SourceId, u32), new: &str) -> Result<Vec<Edit>, String> {
        navigation::rename(self, at, new)
    }

    /// Returns the declarations of the root text.
    pub fn symbols(&self) -> Vec<Symbol> {
        symbols::symbols(self)
    }

    /// Returns the foldable parts of the root text: bodies, and comments of several lines.
    pub fn folds(&self) -> Vec<Span> {
        symbols::folds(self)
    }

    /// Returns the parts of the root text that contain a byte, the smallest first.
    pub fn selections(&self, at: u32) -> Vec<Span> {
        symbols::selections(self, at)
    }

    /// Returns the kinds of the names in the root text, in text order.
    pub fn colors(&self) -> Vec<Colored> {
        symbols::colors(self)
    }

    /// Returns hints on states and causality of elements, and on values of derived parameters.
    pub fn hints(&self) -> Vec<Hint> {
        hints::hints(self)
    }

    /// Returns changes of a part of the root text: those that fix errors, and those that change the causality of storage.
    pub fn actions(&self, span: Span) -> Vec<Action> {
        let mut found = actions::actions(self, span);
        found.extend(rewrites::rewrites(self, span));
        // Fixes based on the whole model are better than fixes based on the text of a help.
        if !found.iter().any(|action| action.is_fix) {
            found.extend(mends::offers(self, span));
        }
        found
    }

    /// Returns the locations of the kind names in a part of the root text that nothing in scope defines.
    pub fn undefined_kinds(&self, span: Span) -> Vec<Span> {
        actions::undefined_kinds(self, span)
    }

    /// Returns true if the root text defines a kind of this name.
    pub fn defines_kind(&self, name: &str) -> bool {
        actions::defines_kind(self, name)
    }

    /// Returns the action that imports a file with a missing kind, by its path as written.
    pub fn importing(&self, path: &str) -> Option<Action> {
        actions::importing(self, path)
    }

    /// Returns the root text formatted like `lgm fmt`; none if errors prevent this.
    pub fn formatted(&self) -> Option<String> {
        let text = &self.map().get(self.root()).text;
        let formatted = lgm_syntax::format(self.root(), text).ok()?;
        // The text keeps its line ends.
        Some(match text.contains("\r\n") {
            true => formatted.replace("\r\n", "\n").replace('\n', "\r\n"),
            false => formatted,
        })
    }

    /// Returns the quoted imports of the root text.
    pub fn links(&self) -> Vec<Link> {
        symbols::links(self)
    }

    /// Returns the equations of the model in terms of its parameters; none if it has errors, or too many elements to form them quickly.
    pub fn system(&self) -> Option<&StateSystem> {
        equations::facts::symbolic(self)
    }

    /// Returns the scalar parameters of the model with their own values: names, values in SI, and SI units.
    pub fn parameters(&self) -> Vec<(&str, f64, Option<&str>)> {
        equations::facts::parameters(self)
    }

    /// Returns the names of the models in the root text, in its order.
    pub fn models(&self) -> Vec<Span> {
        symbols::models(self)
    }
}
