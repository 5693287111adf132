//! The stages of one text, each computed once when an answer first requires it.

pub(crate) mod loops;
pub(crate) mod storage;

use crate::answers::Problem;
use lgm_compilation::{Compilation, Request};
use lgm_elaborate::analysis::{Analysis, Definition};
use lgm_equations::Options;
use lgm_model::{Element, Model, Parameter, Variable};
use lgm_source::cancellation::Cancellation;
use lgm_source::diagnostic::Diagnostic;
use lgm_source::{SourceId, SourceMap, Sources};
use loops::Loop;
use std::path::PathBuf;
use std::sync::OnceLock;
use storage::{Storages, declared_at};

/// One root text with its imports, at one version.
#[derive(Debug)]
pub struct Snapshot {
    compilation: Compilation,
    analysis: OnceLock<Analysis>,
    diagnostics: OnceLock<Vec<Diagnostic>>,
    problems: OnceLock<Vec<Problem>>,
    storages: OnceLock<Option<Storages>>,
    solved: OnceLock<Option<Vec<Option<Variable>>>>,
    loops: OnceLock<Vec<Loop>>,
}

impl Snapshot {
    /// Reads a root text and its imports. The path, if any, locates the imports.
    pub fn new(
        files: &dyn Sources,
        path: Option<PathBuf>,
        name: &str,
        text: &str,
        cancellation: Cancellation,
    ) -> Snapshot {
        Snapshot::after(None, files, path, name, text, cancellation)
    }

    /// Returns the snapshot of an edited text. Unchanged parts of the previous snapshot are not parsed again.
    pub fn after(
        before: Option<&Snapshot>,
        files: &dyn Sources,
        path: Option<PathBuf>,
        name: &str,
        text: &str,
        cancellation: Cancellation,
    ) -> Snapshot {
        let mut map = SourceMap::default();
        let root = map.add(name, text, path);
        let request = Request {
            // Like `lgm check`: numeric equations reveal every singular value in linear time, and are never displayed.
            equations: Options {
                symbolic: false,
                readable: false,
                ..Options::default()
            },
            every_model: true,
            cancellation,
            ..Request::default()
        };
        let before = before.map(|before| &before.compilation);
        Snapshot::of(Compilation::after(before, files, map, root, request))
    }

    fn of(compilation: Compilation) -> Snapshot {
        Snapshot {
            compilation,
            analysis: OnceLock::new(),
            diagnostics: OnceLock::new(),
            problems: OnceLock::new(),
            storages: OnceLock::new(),
            solved: OnceLock::new(),
            loops: OnceLock::new(),
        }
    }

    /// Returns a snapshot of the same texts for another model; none if this snapshot already compiles that model.
    pub fn of_model(&self, model: &str) -> Option<Snapshot> {
        let is_own = self.compilation.model().is_some_and(|own| *own.heading.name == *model);
        (!is_own).then(|| Snapshot::of(self.compilation.of_model(model)))
    }

    /// Returns a snapshot of the same model with other parameter values, given in SI; none if no parameter has one.
    pub fn with_values(&self, asked: &dyn Fn(&str) -> Option<f64>) -> Option<Snapshot> {
        let options = options(self.compilation.model()?, asked);
        (!options.is_empty()).then(|| Snapshot::of(self.compilation.with_values(&options)))
    }

    /// Returns the meaning of each name.
    pub(crate) fn analysis(&self) -> &Analysis {
        self.analysis.get_or_init(|| Analysis::of(self.compilation.program()))
    }

    /// Returns all diagnostics of the stages up to the equations.
    pub(crate) fn diagnostics(&self) -> &[Diagnostic] {
        self.diagnostics.get_or_init(|| self.compilation.diagnostics())
    }

    /// Returns the problems that an editor lists, found once.
    pub(crate) fn listed(&self, find: impl FnOnce() -> Vec<Problem>) -> &[Problem] {
        self.problems.get_or_init(find)
    }

    /// Returns the storage of each declaration; none if there are no equations.
    pub(crate) fn storages(&self) -> Option<&Storages> {
        let make = || Some(Storages::of(self.compilation.model()?, self.compilation.system()?));
        self.storages.get_or_init(make).as_ref()
    }

    /// Returns the algebraic loops of the model.
    pub(crate) fn loops(&self) -> &[Loop] {
        self.loops.get_or_init(|| loops::loops(&self.compilation))
    }

    /// Returns the loop that contains an instance or one of its elements, and the name of this element.
    pub(crate) fn loop_of(&self, definition: &Definition) -> Option<(String, &Loop)> {
        let model = self.compilation.model().filter(|_| !self.loops().is_empty())?;
        let is_here = |element: &&Element| declared_at(model, element).contains(&definition.name_span);
        model.graph.elements.iter().filter(is_here).find_map(|element| {
            let name = model.path_name(element.path);
            let own = self.loops().iter().find(|each| each.elements.contains(&name))?;
            Some((name, own))
        })
    }

    /// Returns, for each port of the model, the variable set by the rest of the model; none if there are no equations.
    pub(crate) fn solved(&self) -> Option<&[Option<Variable>]> {
        let make = || {
            self.compilation.system()?;
            let (model, graph) = (self.compilation.formulated_model()?, self.compilation.bond_graph()?);
            let found = lgm_equations::port_causality(model, graph, &self.compilation.request().equations);
            // The model of the equations lists the ports of the original model first.
            found.filter(|solved| solved.len() >= self.compilation.model().map_or(0, |model| model.graph.ports.len()))
        };
        self.solved.get_or_init(|| lgm_source::stack::deep(make)).as_deref()
    }

    /// Returns all texts: the root, its imports, and the standard library, whose texts have no path.
    pub fn map(&self) -> &SourceMap {
        self.compilation.map()
    }

    /// Returns the root text.
    pub fn root(&self) -> SourceId {
        self.compilation.root()
    }

    /// Returns the underlying compilation, for callers that need a stage.
    pub fn compilation(&self) -> &Compilation {
        &self.compilation
    }
}

/// Returns the options for other parameter values, which are requested in SI: an option uses the unit after the name of the parameter.
fn options(model: &Model, asked: &dyn Fn(&str) -> Option<f64>) -> Vec<String> {
    let option = |parameter: &Parameter| {
        let value = parameter.scale.from_si(asked(&parameter.name)?);
        Some(format!("{}={value:?}", parameter.name))
    };
    model.parameters.iter().filter_map(option).collect()
}
