//! What an editor asks of a model, answered as plain data: no protocol, no files, no threads.
//!
//! A [`Snapshot`] is one root text as it is now, with all that it imports. It answers whatever state the text is in: what needs
//! equations is left out where there are none, and everything else goes by the names in what could be read.
//!
//! Places are [`Span`]s of bytes; [`Snapshot::map`] has the texts, and [`lgm_source::Source::position`] turns offsets into lines and columns
//! of whatever encoding.

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
pub use lgm_elaborate::analysis::DefinitionId;
use lgm_model::system::StateSystem;
use lgm_source::{SourceId, Span};
pub use problems::syntax_faults;
pub use snapshot::Snapshot;

/// The answers; each is worked out in a module of its own.
impl Snapshot {
    /// Every fault and remark, of the root and of what it imports: the same as the terminal prints.
    pub fn problems(&self) -> Vec<Problem> {
        self.listed(|| problems::problems(self)).to_vec()
    }

    /// What is known of the place.
    pub fn hover(&self, at: (SourceId, u32)) -> Option<Hover> {
        hover::hover(self, at)
    }

    /// What can be written at a byte of the root text.
    pub fn completions(&self, at: u32) -> Completions {
        completion::completions(self, at)
    }

    /// What is shown of something that can be written, if it still has this name: Markdown.
    pub fn documentation(&self, definition: DefinitionId, name: &str) -> Option<String> {
        let found = self.analysis().definitions.get(definition.0 as usize)?;
        (*found.name == *name).then(|| hover::of_definition(self, definition))
    }

    /// If a byte of the root text lies in a quoted path: what of it is written up to there, and what it leads to.
    pub fn path_at(&self, at: u32) -> Option<(Span, PathKind)> {
        completion::path_at(self, at)
    }

    /// The formals of what is being written at a byte of the root text.
    pub fn signature(&self, at: u32) -> Option<Signature> {
        completion::signature(self, at)
    }

    /// Where the name at the place is declared: its name there.
    pub fn definition(&self, at: (SourceId, u32)) -> Option<Span> {
        navigation::definition(self, at)
    }

    /// Every place that means what the name at the place means, its declaration first if that is wanted.
    pub fn references(&self, at: (SourceId, u32), with_declaration: bool) -> Vec<Span> {
        navigation::references(self, at, with_declaration)
    }

    /// The name at the place, if it can be given another one.
    pub fn renamed_name(&self, at: (SourceId, u32)) -> Result<Span, String> {
        navigation::renamed_name(self, at)
    }

    /// The changes that give what the name at the place means another name, or why that cannot be.
    pub fn rename(&self, at: (SourceId, u32), new: &str) -> Result<Vec<Edit>, String> {
        navigation::rename(self, at, new)
    }

    /// What the root text declares.
    pub fn symbols(&self) -> Vec<Symbol> {
        symbols::symbols(self)
    }

    /// The parts of the root text that can be folded away: bodies, and comments of several lines.
    pub fn folds(&self) -> Vec<Span> {
        symbols::folds(self)
    }

    /// For a byte of the root text, the parts that hold it, the smallest first.
    pub fn selections(&self, at: u32) -> Vec<Span> {
        symbols::selections(self, at)
    }

    /// What the names in the root text are, in the order of the text.
    pub fn colors(&self) -> Vec<Colored> {
        symbols::colors(self)
    }

    /// States and causality of elements, and values of derived parameters.
    pub fn hints(&self) -> Vec<Hint> {
        hints::hints(self)
    }

    /// Changes of a part of the root text: those that mend what is wrong there, and those that give storage another causality.
    pub fn actions(&self, span: Span) -> Vec<Action> {
        let mut found = actions::actions(self, span);
        found.extend(rewrites::rewrites(self, span));
        // Fixes by the whole model are better than those by the words of a help.
        if !found.iter().any(|action| action.is_fix) {
            found.extend(mends::offers(self, span));
        }
        found
    }

    /// The kinds in a part of the root text that nothing in scope defines: their names, where they stand.
    pub fn undefined_kinds(&self, span: Span) -> Vec<Span> {
        actions::undefined_kinds(self, span)
    }

    /// Whether the root text defines something that an instance can be one of.
    pub fn defines_kind(&self, name: &str) -> bool {
        actions::defines_kind(self, name)
    }

    /// The import of a file, by its path as it is written, that defines a kind which is missing.
    pub fn importing(&self, path: &str) -> Option<Action> {
        actions::importing(self, path)
    }

    /// The root text in the form of `lgm fmt`; none if it has faults that stop that.
    pub fn formatted(&self) -> Option<String> {
        let text = &self.map().get(self.root()).text;
        let formatted = lgm_syntax::format(self.root(), text).ok()?;
        // The text keeps its line ends.
        Some(match text.contains("\r\n") {
            true => formatted.replace("\r\n", "\n").replace('\n', "\r\n"),
            false => formatted,
        })
    }

    /// Quoted imports of the root text.
    pub fn links(&self) -> Vec<Link> {
        symbols::links(self)
    }

    /// The equations of the model over its parameters; none if it has faults, or so many elements that making them takes long.
    pub fn system(&self) -> Option<&StateSystem> {
        equations::facts::symbolic(self)
    }

    /// The parameters of the model that have one value of their own: their names, values in SI, and SI units.
    pub fn parameters(&self) -> Vec<(&str, f64, Option<&str>)> {
        equations::facts::parameters(self)
    }

    /// The names of the models in the root text, in its order.
    pub fn models(&self) -> Vec<Span> {
        symbols::models(self)
    }
}
