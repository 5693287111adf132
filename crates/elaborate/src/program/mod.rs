//! Loading: the root text, its imports, and the standard library.

mod defining;
mod importing;
pub(crate) mod mode_table;
mod stdlib;

use crate::program::mode_table::{ModeTable, table_use};
pub(crate) use crate::program::mode_table::{csv_call, csv_use};
pub use crate::program::stdlib::{LIBRARY, LibraryModule};
use lgm_source::codes::Code;
use lgm_source::diagnostic::{Diagnostic, MOST_FAULTS, has_errors};
use lgm_source::nearest::suggestion;
use lgm_source::{SourceId, SourceMap, Sources, Span};
use lgm_syntax::ast::{self, Ast, ImportTarget, Item, Name, Statement, StatementKind};
use lgm_syntax::visit::statements;
use rustc_hash::FxHashMap;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// The maximum depth of a chain of imports.
const DEEPEST_IMPORT: usize = 256;

/// Every text of one compilation, parsed, with the definitions that are in scope.
#[derive(Clone, Debug, Default)]
pub struct Program {
    pub(crate) files: Vec<File>,
    /// The index of the root text in `files`.
    pub(crate) root: usize,
    /// For each source, by its number, true if it is a module of the standard library.
    pub(crate) library_sources: Vec<bool>,
    /// Definitions of the user: elements, components and modal blocks.
    pub(crate) user: FxHashMap<Arc<str>, ItemRef>,
    /// Definitions of the standard library.
    pub(crate) library: FxHashMap<Arc<str>, ItemRef>,
    /// Domains of the user.
    pub(crate) user_domains: FxHashMap<Arc<str>, ItemRef>,
    /// Domains of the standard library.
    pub(crate) library_domains: FxHashMap<Arc<str>, ItemRef>,
    /// Functions and constants outside of models, of the user and of the standard library.
    pub(crate) user_functions: FxHashMap<Arc<str>, ItemRef>,
    pub(crate) library_functions: FxHashMap<Arc<str>, ItemRef>,
    pub(crate) user_constants: FxHashMap<Arc<str>, ItemRef>,
    pub(crate) library_constants: FxHashMap<Arc<str>, ItemRef>,
    /// True if a part of a text could not be read; then a missing name is not an error by itself.
    pub(crate) is_damaged: bool,
    /// The targets of quoted imports, by the locations of the quotes.
    imports: FxHashMap<Span, SourceId>,
    /// Tables of modes, each read once, and the table for each quoted path by its location.
    mode_tables: Vec<ModeTable>,
    table_at: FxHashMap<Span, usize>,
    /// The modules that must be imported, by the kinds that they define; read at the first missing kind.
    importable: OnceLock<FxHashMap<Arc<str>, &'static str>>,
}

/// One parsed text.
#[derive(Clone, Debug)]
pub(crate) struct File {
    pub source: SourceId,
    /// The tree, shared with other compilations for library texts.
    pub ast: Arc<Ast>,
    pub library: bool,
}

/// A top-level item, by its index in the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ItemRef {
    pub file: u32,
    pub item: u32,
}

impl Program {
    pub(crate) fn item(&self, at: ItemRef) -> &Item {
        &self.files[at.file as usize].ast.items[at.item as usize]
    }

    /// Returns true if models use tables of modes.
    pub(crate) fn has_tables(&self) -> bool {
        !self.mode_tables.is_empty()
    }

    /// Returns the tree of a text.
    pub fn ast(&self, source: SourceId) -> Option<&Ast> {
        let file = self.files.iter().find(|file| file.source == source);
        file.map(|file| &*file.ast)
    }

    /// Returns the modules of the standard library that can be imported by name.
    pub fn modules() -> impl Iterator<Item = &'static str> {
        LIBRARY
            .iter()
            .filter(|module| !module.prelude)
            .map(|module| module.name)
    }

    /// Returns the target of a quoted import at a location; none if it could not be read.
    pub fn imported(&self, at: Span) -> Option<SourceId> {
        self.imports.get(&at).copied()
    }

    /// Returns true if a source belongs to the standard library.
    pub fn is_library(&self, source: SourceId) -> bool {
        self.library_sources.get(source.0 as usize).copied().unwrap_or(false)
    }

    /// Returns the table of modes for the quoted path at a location; none if it could not be read.
    pub(crate) fn table(&self, at: Span) -> Option<&ModeTable> {
        self.table_at.get(&at).map(|index| &self.mode_tables[*index])
    }

    /// Returns the definition that a name refers to in a text: user names are not visible in the library.
    pub(crate) fn definition(&self, name: &str, from: SourceId) -> Option<ItemRef> {
        let user = if self.is_library(from) {
            None
        } else {
            self.user.get(name)
        };
        user.or_else(|| self.library.get(name)).copied()
    }

    /// Returns the domain that a name refers to in a text.
    pub(crate) fn domain(&self, name: &str, from: SourceId) -> Option<ItemRef> {
        let user = if self.is_library(from) {
            None
        } else {
            self.user_domains.get(name)
        };
        user.or_else(|| self.library_domains.get(name)).copied()
    }

    /// Returns the function that a name refers to in a text.
    pub(crate) fn function(&self, name: &str, from: SourceId) -> Option<ItemRef> {
        let user = self.user_functions.get(name).filter(|_| !self.is_library(from));
        user.or_else(|| self.library_functions.get(name)).copied()
    }

    /// Returns the constant outside of models that a name refers to in a text.
    pub(crate) fn constant(&self, name: &str, from: SourceId) -> Option<ItemRef> {
        let user = self.user_constants.get(name).filter(|_| !self.is_library(from));
        user.or_else(|| self.library_constants.get(name)).copied()
    }

    /// Returns the names of the functions in scope of a text.
    pub(crate) fn functions(&self) -> impl Iterator<Item = &str> {
        let tables = [&self.user_functions, &self.library_functions];
        tables.into_iter().flat_map(|table| table.keys().map(|name| &**name))
    }

    /// Returns the models of the root text in order.
    pub(crate) fn models(&self) -> impl DoubleEndedIterator<Item = &ast::Model> {
        let items: &[Item] = self.files.get(self.root).map_or(&[], |file| &file.ast.items);
        items.iter().filter_map(|item| match item {
            Item::Model(model) => Some(model),
            _ => None,
        })
    }
}

/// Parses the root text and all of its imports.
///
/// AFTER THIS POINT all imports are loaded, and each name of a definition refers to one item.
pub fn load(files: &dyn Sources, map: &mut SourceMap, root: SourceId) -> (Program, Vec<Diagnostic>) {
    load_again(files, map, root, None)
}

/// Loads an edited root text: unchanged parts are taken from the program of the previous text.
pub fn load_again(
    files: &dyn Sources,
    map: &mut SourceMap,
    root: SourceId,
    before: Option<(&SourceMap, &Program)>,
) -> (Program, Vec<Diagnostic>) {
    let mut loader = Loader {
        files,
        // A text without a path is in the folder where the compiler was started.
        folder: map.get(root).path.as_deref().map(folder_of).unwrap_or_default(),
        map,
        program: Program::default(),
        diagnostics: Vec::new(),
        loaded: FxHashMap::default(),
        modules: FxHashMap::default(),
        chain: Vec::new(),
        tables: FxHashMap::default(),
    };
    for (at, module) in LIBRARY.iter().enumerate() {
        if module.prelude {
            loader.module(at);
        }
    }
    let title = loader.map.get(root).name.clone();
    let path = loader.map.get(root).path.as_deref().map(normal);
    let again = before.and_then(|(map, program)| {
        let File { source, ast, .. } = program.files.get(program.root)?;
        lgm_syntax::parse_again(root, &loader.map.get(root).text, (&map.get(*source).text, ast))
    });
    let parsed = match again {
        Some(ast) => (root, Arc::new(ast)),
        None => loader.parse(root),
    };
    loader.program.root = loader.file(parsed, path, title, false);
    let Loader {
        mut program,
        mut diagnostics,
        ..
    } = loader;
    program.is_damaged = has_errors(&diagnostics);
    program.define(&mut diagnostics);
    (program, diagnostics)
}

struct Loader<'a> {
    files: &'a dyn Sources,
    map: &'a mut SourceMap,
    /// The folder of the root text, which no import may leave.
    folder: PathBuf,
    program: Program,
    diagnostics: Vec<Diagnostic>,
    loaded: FxHashMap<PathBuf, usize>,
    modules: FxHashMap<usize, usize>,
    /// The files that are currently being loaded, links resolved, with the names shown in diagnostics.
    chain: Vec<(PathBuf, String)>,
    /// Tables of modes by their files, links resolved; none for a table with errors.
    tables: FxHashMap<PathBuf, Option<usize>>,
}

/// The purpose of reading a path, which determines the messages.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Import,
    Table,
}

impl Wanted {
    fn word(self) -> &'static str {
        match self {
            Wanted::Import => "import",
            Wanted::Table => "table",
        }
    }
}

fn folder_of(path: &Path) -> PathBuf {
    normal(path.parent().unwrap_or(Path::new("")))
}

/// Returns the path without `.` and `..`, without disk access; a leading `..` stays.
fn normal(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => match out.components().next_back() {
                Some(Component::Normal(_)) => {
                    out.pop();
                }
                Some(Component::RootDir | Component::Prefix(_)) => {}
                _ => out.push(".."),
            },
            other => out.push(other),
        }
    }
    out
}

/// Returns the tree of a library module. It is parsed once per process for one source number, which is the same in all compilations with
/// the same preceding texts. For another number it is parsed again.
fn module_ast(at: usize, source: SourceId) -> Arc<Ast> {
    static PARSED: [OnceLock<(SourceId, Arc<Ast>)>; LIBRARY.len()] = [const { OnceLock::new() }; LIBRARY.len()];
    let parse = || {
        let (ast, diagnostics) = lgm_syntax::parse(source, LIBRARY[at].text);
        assert!(diagnostics.is_empty(), "invariant: the library has no faults");
        Arc::new(ast)
    };
    let (known, ast) = PARSED[at].get_or_init(|| (source, parse()));
    match *known == source {
        true => ast.clone(),
        false => parse(),
    }
}

impl Loader<'_> {
    fn module(&mut self, at: usize) {
        if self.modules.contains_key(&at) {
            return;
        }
        self.modules.insert(at, 0);
        let module = &LIBRARY[at];
        let source = self.map.add(module.title, module.text, None);
        let ast = module_ast(at, source);
        let index = self.file((source, ast), None, module.title.to_string(), true);
        self.modules.insert(at, index);
    }

    fn parse(&mut self, source: SourceId) -> (SourceId, Arc<Ast>) {
        let (ast, mut diagnostics) = lgm_syntax::parse(source, &self.map.get(source).text);
        self.diagnostics.append(&mut diagnostics);
        (source, Arc::new(ast))
    }

    /// Adds a text and loads its imports.
    fn file(
        &mut self,
        (source, ast): (SourceId, Arc<Ast>),
        path: Option<PathBuf>,
        title: String,
        library: bool,
    ) -> usize {
        let imports: Vec<ast::Import> = ast
            .items
            .iter()
            .filter_map(|item| match item {
                Item::Import(import) => Some(import.clone()),
                _ => None,
            })
            .collect();
        let mut tables = Vec::new();
        for item in &ast.items {
            match item {
                Item::Component(component) => named_tables(&component.body, &mut tables),
                Item::Element(element) => {
                    let paths = element
                        .tables
                        .iter()
                        .filter_map(|table| csv_use(&table.value))
                        .filter_map(|used| used.path);
                    tables.extend(paths.map(|(words, span)| (words.clone(), span)));
                }
                Item::Model(model) => named_tables(&model.body, &mut tables),
                _ => {}
            }
        }
        let index = self.program.files.len();
        let place = source.0 as usize;
        if self.program.library_sources.len() <= place {
            self.program.library_sources.resize(place + 1, false);
        }
        self.program.library_sources[place] = library;
        self.program.files.push(File { source, ast, library });
        let folder = path.as_deref().map(folder_of);
        let resolved = path.map(|path| self.files.resolve(&path)).unwrap_or_default();
        if !resolved.as_os_str().is_empty() {
            self.loaded.insert(resolved.clone(), index);
        }
        self.chain.push((resolved, title));
        for import in &imports {
            match &import.target {
                ImportTarget::Module(name) => self.import_module(name),
                ImportTarget::Path(words, span) => self.open(words, *span, folder.as_deref(), Wanted::Import),
            }
        }
        for (words, span) in tables {
            self.open(&words, span, folder.as_deref(), Wanted::Table);
        }
        self.chain.pop();
        index
    }

    fn import_module(&mut self, name: &Name) {
        if let Some(at) = LIBRARY.iter().position(|module| module.name == &*name.text) {
            self.module(at);
            return;
        }
        let names = LIBRARY.iter().map(|module| module.name);
        let diagnostic = Diagnostic::error(
            Code::LGM0102,
            format!("the standard library has no module `{}`", name.text),
        )
        .label(name.span, "no such module")
        .help(match suggestion(&name.text, names.clone()) {
            Some(near) => format!("did you mean `import {near};`?"),
            None => format!(
                "write one of `{}`, or a path in quotes: `import \"{}.lgm\";`",
                names.collect::<Vec<_>>().join("`, `"),
                name.text
            ),
        });
        self.diagnostics.push(diagnostic);
    }

    /// Reads the target of a quoted path, which must be in the folder of the model, or in a folder that an option allows.
    fn open(&mut self, words: &str, span: Span, folder: Option<&Path>, wanted: Wanted) {
        let base = folder.unwrap_or(&self.folder);
        let own = normal(&base.join(words));
        let mut candidates = Vec::new();
        // An absolute path refers to the same file from everywhere, so only an option allows it.
        if self.may_import(&own) && (Path::new(words).is_relative() || self.is_included(&own)) {
            candidates.push(own.clone());
        }
        if Path::new(words).is_relative() {
            let shared = self.files.included().iter().map(|folder| normal(&folder.join(words)));
            candidates.extend(shared.filter(|path| self.is_included(path)));
        }
        if candidates.is_empty() {
            return self.outside(words, span, &own, "this path points outside", wanted);
        }
        self.open_first(words, span, candidates, wanted);
    }

    /// Returns true if a path is in the folder of the model, or in a folder that an option allows.
    fn may_import(&self, path: &Path) -> bool {
        is_below(path, &self.folder) || self.is_included(path)
    }

    fn is_included(&self, path: &Path) -> bool {
        self.files
            .included()
            .iter()
            .any(|folder| is_below(path, &normal(folder)))
    }

    /// Returns true if a path with all links resolved is in an allowed folder.
    fn may_import_resolved(&self, path: &Path) -> bool {
        let below = |folder: &Path| is_below(path, &self.files.resolve(folder));
        below(&self.folder) || self.files.included().iter().any(|folder| below(folder))
    }

    fn outside(&mut self, words: &str, span: Span, path: &Path, why: &str, wanted: Wanted) {
        let folder = path.parent().unwrap_or(path).display().to_string();
        let folder = if folder.is_empty() { "." } else { &folder };
        let diagnostic = Diagnostic::error(
            Code::LGM0103,
            format!("the {} `{words}` points outside the model's folder", wanted.word()),
        )
        .label(span, why)
        .note("a model may read only files in its own folder or below, or in a folder passed with `--include`")
        .help(format!(
            "move the file into the folder of the model, or pass `--include {folder}` on the command line"
        ));
        self.diagnostics.push(diagnostic);
    }

    /// Reads the first existing candidate.
    fn open_first(&mut self, words: &str, span: Span, candidates: Vec<PathBuf>, wanted: Wanted) {
        let mut reason = None;
        for path in candidates {
            let resolved = self.files.resolve(&path);
            if !self.may_import_resolved(&resolved) {
                return self.outside(
                    words,
                    span,
                    &resolved,
                    "this symbolic link leads outside the folder",
                    wanted,
                );
            }
            let read = match wanted {
                Wanted::Import => self.import_file(span, path, resolved),
                Wanted::Table => self.table_file(span, path, resolved),
            };
            match read {
                Ok(()) => return,
                Err(why) => reason = reason.or(Some(why)),
            }
        }
        if self.diagnostics.len() >= MOST_FAULTS {
            return;
        }
        let word = wanted.word();
        let mut help = format!("paths are relative to the file with the {word}");
        if self.files.included().is_empty() {
            help.push_str("; on the command line, `--include DIR` adds a folder of shared files");
        }
        let diagnostic = Diagnostic::error(Code::LGM0101, format!("cannot read the {word} `{words}`"))
            .label(span, reason.unwrap_or_default())
            .help(help);
        self.diagnostics.push(diagnostic);
    }

    /// Imports a file. `Err` contains the reason why the file cannot be read; every other error is reported.
    fn import_file(&mut self, span: Span, path: PathBuf, resolved: PathBuf) -> Result<(), String> {
        if let Some(at) = self
            .chain
            .iter()
            .position(|entry| entry.0 == resolved && !resolved.as_os_str().is_empty())
        {
            let mut names: Vec<&str> = self.chain[at..].iter().map(|entry| entry.1.as_str()).collect();
            names.push(&self.chain[at].1);
            let diagnostic = Diagnostic::error(Code::LGM0104, "these files import each other in a cycle")
                .label(span, "this import closes the cycle")
                .note(names.join(" imports "))
                .help("move the shared definitions into a third file, and import it from both");
            self.diagnostics.push(diagnostic);
            return Ok(());
        }
        if let Some(at) = self.loaded.get(&resolved) {
            self.program.imports.insert(span, self.program.files[*at].source);
            return Ok(());
        }
        if self.chain.len() > DEEPEST_IMPORT {
            let diagnostic = Diagnostic::error(
                Code::LGM0105,
                format!("imports are nested deeper than {DEEPEST_IMPORT} levels"),
            )
            .label(span, "at this import")
            .help("import the required files directly");
            self.diagnostics.push(diagnostic);
            return Ok(());
        }
        let text = self.files.read(&resolved)?;
        let title = path.display().to_string();
        let source = self.map.add(title.clone(), text, Some(path.clone()));
        self.program.imports.insert(span, source);
        let parsed = self.parse(source);
        self.file(parsed, Some(path), title, false);
        Ok(())
    }
}

impl Loader<'_> {
    /// Reads a table. `Err` contains the reason why the file cannot be read; errors in its contents are reported.
    fn table_file(&mut self, span: Span, path: PathBuf, resolved: PathBuf) -> Result<(), String> {
        let known = match self.tables.get(&resolved) {
            Some(known) => *known,
            None => {
                let text = self.files.read(&resolved)?;
                let source = self.map.add(path.display().to_string(), text, Some(path));
                let place = match ModeTable::read(self.map, source, span) {
                    Ok(table) => {
                        self.program.mode_tables.push(table);
                        Some(self.program.mode_tables.len() - 1)
                    }
                    Err(faults) => {
                        self.diagnostics.extend(faults);
                        None
                    }
                };
                self.tables.insert(resolved, place);
                place
            }
        };
        self.program.table_at.extend(known.map(|index| (span, index)));
        Ok(())
    }
}

/// Collects the paths of the tables in the instances of a body, with their locations.
fn named_tables(body: &[Statement], found: &mut Vec<(Arc<str>, Span)>) {
    statements(body, &mut |statement| {
        let path = match &statement.kind {
            StatementKind::Instance(instance) => table_use(instance).and_then(|used| used.path),
            StatementKind::Table(table) => csv_use(&table.value).and_then(|used| used.path),
            StatementKind::Input(assigned) => assigned.value.as_ref().and_then(csv_use).and_then(|used| used.path),
            _ => None,
        };
        found.extend(path.map(|(words, span)| (words.clone(), span)));
    });
}

/// Returns true if a path is below a folder, without disk access.
fn is_below(path: &Path, folder: &Path) -> bool {
    match folder.as_os_str().is_empty() {
        true => !path.starts_with("..") && path.is_relative(),
        false => path.starts_with(folder),
    }
}
