//! [`Compilation`]: a text and the result of each stage, computed once, on demand.

mod curves;
pub mod stretched;

pub use curves::unknown_curves;
use lgm_analysis::{LinearizeRequest, linearize};
use lgm_elaborate::analysis::Analysis;
use lgm_elaborate::{Program, Settings};
use lgm_equations::bond::{self, BondGraph};
use lgm_equations::switching::{Events, Made};
use lgm_equations::{Options, StateRequest, StateSystem};
use lgm_explain::CausalityReport;
use lgm_explain::causality::CausalityByHand;
use lgm_explain::derivation::{Derivation, DerivationSource, VectorDerivation, derivation, vector_derivation};
use lgm_model::{ElementId, Model};
use lgm_source::cancellation::Cancellation;
use lgm_source::codes::Code;
use lgm_source::diagnostic::{Diagnostic, has_errors, in_source_order};
use lgm_source::{SourceId, SourceMap, Sources, stack};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// The options of one compilation.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The model and the values of its parameters.
    pub settings: Settings,
    /// The states and the form of the requested matrices.
    pub equations: Options,
    /// The operating point if the equations are linearised.
    pub linearize: Option<LinearizeRequest>,
    /// True if the equations are compared with the laws of the flat graph.
    pub verify: bool,
    /// True if [`Compilation::diagnostics`] also contains the diagnostics of the other models of the root text, and of unused definitions.
    pub every_model: bool,
    /// Ends the work early; the results are then incomplete.
    pub cancellation: Cancellation,
}

/// The result of a stage.
#[derive(Clone, Debug)]
struct Stage<T> {
    /// None if there is an error in this stage or before it.
    value: Option<T>,
    diagnostics: Vec<Diagnostic>,
}

impl<T> Stage<T> {
    /// Returns a stage that was not reached.
    fn skipped() -> Stage<T> {
        Stage {
            value: None,
            diagnostics: Vec::new(),
        }
    }
}

/// The equations and the flat model that they were formed from.
#[derive(Debug)]
struct Formulated {
    /// The model if functions of time became inputs; otherwise `None`, and the elaborated model applies.
    model: Option<Model>,
    system: StateSystem,
}

/// The results of the stages up to the flat model and its graph. Compilations that differ only in the form of the equations share them.
#[derive(Clone, Debug, Default)]
struct Flat {
    elaborated: OnceLock<Stage<Model>>,
    /// The model as written, from which the equations of other modes are formulated.
    written: OnceLock<Model>,
    known: OnceLock<Option<Model>>,
    graph: OnceLock<Option<BondGraph>>,
}

/// One text with its imports, and the result of each stage.
///
/// Every client of the compiler (the command line, an editor, a library user) uses this object, and runs no stage directly. Each stage runs
/// at most once, when a result first requires it.
#[derive(Debug)]
pub struct Compilation {
    map: Arc<SourceMap>,
    root: SourceId,
    request: Request,
    program: Arc<Program>,
    loading: Vec<Diagnostic>,
    flat: Arc<Flat>,
    /// The equations that the search for the first modes formulated.
    first: Mutex<Option<Made>>,
    formulated: OnceLock<Stage<Formulated>>,
    verified: OnceLock<Vec<Diagnostic>>,
    linearized: OnceLock<Stage<StateSystem>>,
    symbolic: OnceLock<Arc<Compilation>>,
    causality: OnceLock<Option<CausalityReport>>,
}

impl Compilation {
    /// Reads and parses the root text and its imports; every other stage runs on request.
    ///
    /// The map contains the root text and the texts of options in `request`.
    pub fn new(files: &dyn Sources, map: SourceMap, root: SourceId, request: Request) -> Compilation {
        Compilation::after(None, files, map, root, request)
    }

    /// Returns the compilation of an edited text. Unchanged parts of the previous compilation are not parsed again.
    pub fn after(
        before: Option<&Compilation>,
        files: &dyn Sources,
        mut map: SourceMap,
        root: SourceId,
        mut request: Request,
    ) -> Compilation {
        request.settings.cancellation = request.cancellation.clone();
        request.equations.cancellation = request.cancellation.clone();
        let before = before.map(|before| (&*before.map, &*before.program));
        let (program, loading) = stack::deep(|| lgm_elaborate::load_again(files, &mut map, root, before));
        Compilation::of(Arc::new(map), root, request, Arc::new(program), loading)
    }

    /// Returns a compilation of the same texts in which no stage has run yet.
    fn of(
        map: Arc<SourceMap>,
        root: SourceId,
        request: Request,
        program: Arc<Program>,
        loading: Vec<Diagnostic>,
    ) -> Compilation {
        Compilation {
            map,
            root,
            request,
            program,
            loading,
            flat: Arc::default(),
            first: Mutex::default(),
            formulated: OnceLock::new(),
            verified: OnceLock::new(),
            linearized: OnceLock::new(),
            symbolic: OnceLock::new(),
            causality: OnceLock::new(),
        }
    }

    /// Returns the compilation of another model of the root text, by its name, with the values in the text. The texts are not read again.
    pub fn of_model(&self, name: &str) -> Compilation {
        let mut request = self.request.clone();
        request.settings = Settings {
            model: Some(name.to_string()),
            largest: request.settings.largest,
            cancellation: request.cancellation.clone(),
            ..Settings::default()
        };
        request.every_model = false;
        Compilation::of(
            Arc::clone(&self.map),
            self.root,
            request,
            Arc::clone(&self.program),
            self.loading.clone(),
        )
    }

    /// Returns the same model with other values of parameters, each as `name=value`. The texts are not read again.
    pub fn with_values(&self, values: &[String]) -> Compilation {
        self.asked_anew(|map, request| {
            request.every_model = false;
            for value in values {
                let source = map.add(format!("--set {value}"), value.as_str(), None);
                request.settings.sets.push((value.clone(), source));
            }
        })
    }

    /// Returns the same model, linearised. The texts are not read again.
    pub fn linearized_anew(&self, asked: LinearizeRequest) -> Compilation {
        self.asked_anew(|_, request| request.linearize = Some(asked))
    }

    /// The same model with another request, whose options may add texts. The texts are not read again.
    pub fn asked_anew(&self, change: impl FnOnce(&mut SourceMap, &mut Request)) -> Compilation {
        let (mut map, mut request) = (SourceMap::clone(&self.map), self.request.clone());
        change(&mut map, &mut request);
        let (program, loading) = (Arc::clone(&self.program), self.loading.clone());
        Compilation::of(Arc::new(map), self.root, request, program, loading)
    }

    /// The same flat model with equations in another form. Only the equations are formed again.
    pub fn formed_anew(&self, change: impl FnOnce(&mut Request)) -> Compilation {
        let mut request = self.request.clone();
        change(&mut request);
        let (map, program, loading) = (Arc::clone(&self.map), Arc::clone(&self.program), self.loading.clone());
        let mut formed = Compilation::of(map, self.root, request, program, loading);
        formed.flat = Arc::clone(&self.flat);
        formed
    }

    /// Returns all texts: the root, its imports, the standard library, and options.
    pub fn map(&self) -> &SourceMap {
        &self.map
    }

    /// Returns only the texts; the results are dropped.
    pub fn into_map(self) -> SourceMap {
        Arc::unwrap_or_clone(self.map)
    }

    /// Returns the root text.
    pub fn root(&self) -> SourceId {
        self.root
    }

    /// Returns the request.
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// Returns the parsed texts.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Returns all diagnostics of all stages up to the equations, in source order; this runs every stage that can run.
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        // The last stage requires all earlier ones.
        let last = self.linearized_stage();
        let mut all = self.loading.clone();
        all.extend(self.elaborated_stage().diagnostics.iter().cloned());
        all.extend(self.formulated_stage().diagnostics.iter().cloned());
        all.extend(self.experiment_faults());
        all.extend(self.verification().iter().cloned());
        all.extend(last.diagnostics.iter().cloned());
        self.add_others(&mut all);
        in_source_order(&mut all);
        all
    }

    /// Adds the diagnostics outside the chosen model, if requested.
    fn add_others(&self, all: &mut Vec<Diagnostic>) {
        if self.request.every_model {
            self.add_other_models(all);
            let unused = || lgm_elaborate::check_unused(&self.program, &self.map, &self.request.cancellation);
            add_new(all, stack::deep(unused));
            // Seemingly unused values may be used in an unreadable part.
            if !has_errors(all) {
                let values = || Analysis::of(&self.program).warnings(&self.program);
                all.extend(stack::deep(values));
            }
        }
    }

    /// Returns the known diagnostics outside the chosen model: of the texts, of other models, and of unused definitions.
    pub fn diagnostics_of_others(&self) -> Vec<Diagnostic> {
        let mut all = self.loading.clone();
        self.add_others(&mut all);
        in_source_order(&mut all);
        all
    }

    /// Returns the diagnostics of all stages up to the flat model; the equations are not formed.
    pub fn diagnostics_of_elaboration(&self) -> Vec<Diagnostic> {
        let mut all = self.loading.clone();
        all.extend(self.elaborated_stage().diagnostics.iter().cloned());
        in_source_order(&mut all);
        all
    }

    /// Adds the diagnostics of the other models of the root text. Errors in shared definitions occur in each of these models, and are
    /// reported once.
    fn add_other_models(&self, all: &mut Vec<Diagnostic>) {
        let mut others = lgm_elaborate::model_names(&self.program);
        match &self.request.settings.model {
            Some(chosen) => others.retain(|name| name != chosen),
            None => _ = others.pop(),
        }
        for name in others {
            add_new(all, self.of_model(&name).diagnostics());
        }
    }

    /// Returns the diagnostics for a client that requires a model: a missing model is also an error.
    pub fn diagnostics_of_model(&self) -> Vec<Diagnostic> {
        let mut all = self.diagnostics();
        if self.model().is_none() && !has_errors(&all) && !self.is_cancelled() {
            let name = &self.map.get(self.root).name;
            let help = "write `model Name { .. }`, or name another file; `lgm check` also accepts a file of \
                components";
            all.push(Diagnostic::error(Code::LGM0910, format!("there is no model in `{name}`")).help(help));
        }
        all
    }

    /// Returns the flat model; none if there is an error in the texts, or no model.
    pub fn model(&self) -> Option<&Model> {
        self.elaborated_stage().value.as_ref()
    }

    /// Returns the flat model or, if there is an error, its known parts: values, units, nodes and instances without errors. Use it only for
    /// display.
    pub fn known_model(&self) -> Option<&Model> {
        self.model().or_else(|| self.flat.known.get()?.as_ref())
    }

    /// Returns the flat bond graph.
    pub fn bond_graph(&self) -> Option<&BondGraph> {
        let graph = self
            .flat
            .graph
            .get_or_init(|| self.model().map(|model| stack::deep(|| bond::lower(model))));
        graph.as_ref()
    }

    /// Returns the flat model that the equations were formed from: [`Compilation::model`], or the same model with functions of time as
    /// inputs.
    pub fn formulated_model(&self) -> Option<&Model> {
        let formulated = self.formulated_stage().value.as_ref()?;
        formulated.model.as_ref().or_else(|| self.model())
    }

    /// Returns the state equations, linearised if that was requested.
    pub fn system(&self) -> Option<&StateSystem> {
        match self.request.linearize {
            None => self
                .formulated_stage()
                .value
                .as_ref()
                .map(|formulated| &formulated.system),
            Some(_) => self.linearized_stage().value.as_ref(),
        }
    }

    /// Returns the same model with symbolic equations in readable form, for any requested form.
    pub fn symbolic(&self) -> &Arc<Compilation> {
        self.symbolic.get_or_init(|| {
            Arc::new(self.formed_anew(|request| {
                let equations = &mut request.equations;
                (equations.symbolic, equations.numeric, equations.readable) = (true, false, true);
                (request.verify, request.every_model, request.linearize) = (false, false, None);
            }))
        })
    }

    /// Returns the causality of the equations and its reasons; none if there is no model. If sources contradict each other, it returns the
    /// rest of the report.
    pub fn causality(&self) -> Option<&CausalityReport> {
        let make = || {
            let (graph, options) = (self.bond_graph()?, &self.request.equations);
            let formulated = self.formulated_stage().value.as_ref();
            let model = self.formulated_model().or_else(|| self.model())?;
            let system = formulated.map(|formulated| &formulated.system);
            Some(stack::deep(|| {
                lgm_explain::causality::causality(model, graph, options, system)
            }))
        };
        self.causality.get_or_init(make).as_ref()
    }

    /// Returns the causality with variables that elements set by hand, such as `I1=flow`, and reports of impossible strokes; none if there
    /// is no model.
    pub fn causality_by_hand(&self, strokes: &[String]) -> Option<CausalityByHand> {
        let (model, graph) = (self.formulated_model().or_else(|| self.model())?, self.bond_graph()?);
        let options = &self.request.equations;
        Some(stack::deep(|| {
            lgm_explain::causality::causality_by_hand(model, graph, options, strokes)
        }))
    }

    /// Returns the derivation of the equations from the elements, or why it cannot be written; none if there are no equations. A full
    /// derivation contains every step of the elimination. Linearised equations have the derivation of the original equations.
    pub fn derivation(&self, is_full: bool) -> Option<Result<Derivation, Diagnostic>> {
        self.of_derivation(|given| derivation(given, is_full).map_err(|diagnostic| *diagnostic))
    }

    /// Returns the derivation in vectors and matrices of a model with vector elements; none if it has no such derivation.
    pub fn vector_derivation(&self) -> Option<VectorDerivation> {
        self.of_derivation(vector_derivation).flatten()
    }

    fn of_derivation<T>(&self, of: impl FnOnce(DerivationSource<'_>) -> T) -> Option<T> {
        let given = DerivationSource {
            model: self.formulated_model()?,
            graph: self.bond_graph()?,
            system: &self.formulated_stage().value.as_ref()?.system,
            options: &self.request.equations,
            retained: &self.retained(),
            causality: self.causality()?,
        };
        Some(stack::deep(|| of(given)))
    }

    /// Returns the storage elements that the user requires to keep their states.
    pub fn retained(&self) -> Vec<ElementId> {
        let retained = |model: &Model| lgm_equations::retained(model, &self.request.equations, &mut Vec::new());
        self.formulated_model().map(retained).unwrap_or_default()
    }

    /// Returns the texts, and the equations with the model and the graph that they were formed from; no equations if there is an error.
    pub fn into_parts(self) -> (SourceMap, Option<Whole>) {
        if self.system().is_none() {
            return (self.into_map(), None);
        }
        let retained = self.retained();
        let flat = Arc::unwrap_or_clone(self.flat);
        let (formulated, linearized) = (self.formulated.into_inner(), self.linearized.into_inner());
        let whole = || {
            let formulated = formulated?.value?;
            let elaborated = flat.elaborated.into_inner()?.value;
            let written = flat.written.into_inner();
            let switched = written.map(|model| (Events::new(&model), self.request.equations.clone()));
            let system = match self.request.linearize {
                None => formulated.system,
                Some(_) => linearized?.value?,
            };
            Some(Whole {
                model: formulated.model.or(elaborated)?,
                graph: flat.graph.into_inner()??,
                system,
                retained,
                switched,
            })
        };
        (Arc::unwrap_or_clone(self.map), whole())
    }

    fn is_cancelled(&self) -> bool {
        self.request.cancellation.is_cancelled()
    }

    fn elaborated_stage(&self) -> &Stage<Model> {
        self.flat.elaborated.get_or_init(|| {
            if self.is_cancelled() {
                return Stage::skipped();
            }
            let lgm_elaborate::Elaborated {
                mut model,
                known,
                diagnostics,
            } = stack::deep(|| lgm_elaborate::elaborated(&self.program, &self.map, &self.request.settings));
            let failed = has_errors(&self.loading) || has_errors(&diagnostics);
            let value = model.take_if(|_| !failed && !self.is_cancelled());
            let value = value.map(|model| stack::deep(|| self.in_first_modes(model)));
            self.flat
                .known
                .get_or_init(|| known.or(model).filter(|_| !self.is_cancelled()));
            Stage { value, diagnostics }
        })
    }

    /// Returns the model in modes that have equations: the modes in the text or, if these contradict each other, the nearest other modes.
    fn in_first_modes(&self, model: Model) -> Model {
        if !model.switching.is_empty() {
            self.flat.written.get_or_init(|| model.clone());
        }
        if model.switching.elements.is_empty() || !self.request.settings.modes.is_empty() {
            return lgm_equations::switching::shared(model);
        }
        let (model, made) = lgm_equations::switching::first_modes(model, &self.request.equations);
        *self.first() = Some(made);
        model
    }

    fn first(&self) -> MutexGuard<'_, Option<Made>> {
        self.first.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn formulated_stage(&self) -> &Stage<Formulated> {
        self.formulated.get_or_init(|| {
            let (Some(model), Some(graph), false) = (self.model(), self.bond_graph(), self.is_cancelled()) else {
                return Stage::skipped();
            };
            let formulate = || lgm_equations::formulate_with_time(model, graph, &self.request.equations);
            let first = self.first().take();
            let (found, mut diagnostics) = first.unwrap_or_else(|| stack::deep(formulate));
            if !has_errors(&diagnostics) {
                diagnostics.extend(stack::deep(|| lgm_equations::causality::locked(model, graph)));
            }
            model.show_instances(&mut diagnostics);
            let failed = has_errors(&diagnostics);
            let value = found
                .filter(|_| !failed && !self.is_cancelled())
                .map(|(system, model)| Formulated { model, system });
            Stage { value, diagnostics }
        })
    }

    /// Returns the equations that fail verification; empty if verification was not requested.
    fn verification(&self) -> &[Diagnostic] {
        self.verified.get_or_init(|| {
            let (Some(model), Some(graph), Some(formulated), true, false) = (
                self.formulated_model(),
                self.bond_graph(),
                &self.formulated_stage().value,
                self.request.verify,
                self.is_cancelled(),
            ) else {
                return Vec::new();
            };
            let Options { states, symbolic, .. } = self.request.equations;
            let retained = self.retained();
            let verification =
                stack::deep(|| lgm_equations::verify(model, graph, &formulated.system, &retained, states, symbolic));
            verification.into_diagnostics(model)
        })
    }

    /// Returns errors for curves of the experiment that no run contains. If the states were changed, their names are different, and the
    /// curves are not checked.
    fn experiment_faults(&self) -> Vec<Diagnostic> {
        let Options { states, retain, .. } = &self.request.equations;
        let is_own = *states == StateRequest::Natural && retain.is_empty();
        match &self.formulated_stage().value {
            Some(formulated) if is_own => unknown_curves(&formulated.system),
            _ => Vec::new(),
        }
    }

    fn linearized_stage(&self) -> &Stage<StateSystem> {
        self.linearized.get_or_init(|| {
            let (Some(model), Some(formulated), Some(asked), false) = (
                self.formulated_model(),
                &self.formulated_stage().value,
                &self.request.linearize,
                self.is_cancelled(),
            ) else {
                return Stage::skipped();
            };
            if let Some(delay) = model.switching.delays.first() {
                let message = format!("equations with `{}` cannot be linearised", delay.name);
                let fault = Diagnostic::error(Code::LGM0725, message)
                    .label(delay.span, "this delay has no finite number of states")
                    .help("approximate delays with `--pade 4`");
                return Stage {
                    value: None,
                    diagnostics: vec![fault],
                };
            }
            let (value, diagnostics) = stack::deep(|| linearize(model, &formulated.system, asked));
            Stage { value, diagnostics }
        })
    }
}

/// Adds new diagnostics. Equal errors at the same location are duplicates, even if different models cause them.
fn add_new(all: &mut Vec<Diagnostic>, found: Vec<Diagnostic>) {
    let is_known = |new: &Diagnostic| {
        let place = |each: &Diagnostic| each.labels.first().map(|label| label.span);
        let same = |old: &Diagnostic| old.code == new.code && place(old).is_some() && place(old) == place(new);
        all.iter().any(|old| old == new || same(old))
    };
    let new: Vec<Diagnostic> = found.into_iter().filter(|each| !is_known(each)).collect();
    all.extend(new);
}

/// A model and its results.
#[derive(Clone, Debug)]
pub struct Whole {
    /// The flat model.
    pub model: Model,
    /// Its bond graph.
    pub graph: BondGraph,
    /// Its equations.
    pub system: StateSystem,
    /// The storage elements that the user requires to keep their states.
    pub retained: Vec<ElementId>,
    /// The changes at events, and the options to formulate other combinations of modes; none for a model of fixed structure.
    pub switched: Option<(Events, Options)>,
}
