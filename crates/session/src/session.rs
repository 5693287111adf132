//! [`Session`]: one model from one text, with its parameter values.

use crate::choice::{Choice, States, Value};
use crate::code;
use crate::diagnostics::Faults;
use crate::disk::read_model;
use crate::drawing;
use crate::run::inputs::{InputOptions, InputValue, say_where_tables_end};
use crate::run::plan::{RunOptions, length_by_modes};
use crate::run::ready::Ready;
use crate::run::verified::Origin;
use lgm_analysis::LinearizeRequest;
use lgm_compilation::{Compilation, Request, Whole};
use lgm_draw::{Drawing, Kind, Manner};
use lgm_elaborate::Settings;
use lgm_emit::code::{CodeOptions, Package, Target};
use lgm_equations::{Options, StateSystem};
use lgm_model::Model;
use lgm_source::codes::Code;
use lgm_source::diagnostic::{Diagnostic, has_errors};
use lgm_source::{SourceId, SourceMap, Sources};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// A model with known equations. Repeated queries are cheap: each form of the equations is derived once, on first use.
///
/// ```
/// use lgm_session::{Choice, Session, States};
///
/// let text = "model M { node a : electrical; c : Capacitor(2 [F]) a -> gnd; r : Resistor(3 [ohm]) a -> gnd; }";
/// let session = Session::of_text("rc.lgm", text, &Choice::default(), &States::default())?;
/// let matrices = session.numbers()?.matrices.numeric.as_ref().expect("the model is linear");
/// assert_eq!(matrices.a.get(0, 0), Some(&(-1.0 / 6.0)));
/// # Ok::<(), lgm_session::Faults>(())
/// ```
#[derive(Debug)]
pub struct Session {
    compilation: Arc<Compilation>,
    numbers: OnceLock<Compilation>,
    /// Linear analyses, with symbolic parameters and with numbers only.
    between: [OnceLock<Compilation>; 2],
    /// The equations that programs are printed from.
    code: OnceLock<Result<(SourceMap, Whole), Faults>>,
}

/// A change of the equations of a run.
pub(crate) type Change<'c> = &'c dyn Fn(&StateSystem) -> Result<StateSystem, Box<Diagnostic>>;

/// A run that is ready to start, and remarks on it.
#[derive(Debug)]
pub struct Prepared {
    /// The run.
    pub ready: Ready,
    /// The reference for verifying the run.
    pub origin: Origin,
    /// Warnings and remarks.
    pub diagnostics: Vec<Diagnostic>,
}

/// Returns the options for the equations of [`Session::equations`].
fn over_parameters(states: &States) -> Options {
    Options {
        states: states.request,
        retain: states.retain.clone(),
        numeric: false,
        ..Options::default()
    }
}

impl Session {
    /// Reads a file and forms the equations of its model.
    ///
    /// # Errors
    ///
    /// All errors of the text, of the values, and of the equations.
    pub fn open(file: &Path, choice: &Choice, states: &States) -> Result<Session, Faults> {
        let mut map = SourceMap::default();
        match read_model(file, &mut map) {
            Ok(root) => Session::of_root(&choice.disk(), map, root, choice, states),
            Err(fault) => Err(Faults {
                map,
                diagnostics: vec![fault],
            }),
        }
    }

    /// Forms the equations of a model in a text; imports are relative to the current folder.
    ///
    /// # Errors
    ///
    /// As for [`Session::open`].
    pub fn of_text(name: &str, text: &str, choice: &Choice, states: &States) -> Result<Session, Faults> {
        Session::of_text_at(name, None, text, choice, states)
    }

    /// Forms the equations of a model in a text that was read from a file. Imports are relative to the file.
    ///
    /// # Errors
    ///
    /// As for [`Session::open`].
    pub fn of_text_at(
        name: &str,
        path: Option<PathBuf>,
        text: &str,
        choice: &Choice,
        states: &States,
    ) -> Result<Session, Faults> {
        Session::of_sources(&choice.disk(), (name, path), text, choice, states)
    }

    /// Forms the equations of a model in a text with a name and a path. Imports are read from the given sources.
    ///
    /// # Errors
    ///
    /// As for [`Session::open`].
    pub fn of_sources(
        files: &dyn Sources,
        (name, path): (&str, Option<PathBuf>),
        text: &str,
        choice: &Choice,
        states: &States,
    ) -> Result<Session, Faults> {
        let mut map = SourceMap::default();
        let root = map.add(name, text, path);
        Session::of_root(files, map, root, choice, states)
    }

    fn of_root(
        files: &dyn Sources,
        mut map: SourceMap,
        root: SourceId,
        choice: &Choice,
        states: &States,
    ) -> Result<Session, Faults> {
        let request = Request {
            settings: choice.settings(&mut map),
            equations: over_parameters(states),
            ..Request::default()
        };
        Session::of(Compilation::new(files, map, root, request))
    }

    /// Creates a session from a compilation, such as that of [`checked`].
    ///
    /// # Errors
    ///
    /// The diagnostics of the compilation if one of them is an error.
    pub fn of(compilation: impl Into<Arc<Compilation>>) -> Result<Session, Faults> {
        let compilation = compilation.into();
        sound(&compilation)?;
        Ok(Session {
            compilation,
            numbers: OnceLock::new(),
            between: Default::default(),
            code: OnceLock::new(),
        })
    }

    /// Returns the same model with other parameter values. The text is not read again.
    ///
    /// # Errors
    ///
    /// If the model has no such parameter, or its equations have errors with these values.
    pub fn with_parameters(&self, values: &[(String, Value)]) -> Result<Session, Faults> {
        let written = |model: Option<&Model>| -> Vec<String> {
            values.iter().map(|(name, value)| value.option(name, model)).collect()
        };
        let options = written(self.compilation.model());
        let found = self.compilation.with_values(&options);
        // The unit of an instance's parameter is known only after the parameter is set for the first time.
        let again = written(found.model().or(self.compilation.model()));
        Session::of(match again == options {
            true => found,
            false => self.compilation.with_values(&again),
        })
    }

    /// Returns the same model with parameters of instances (`motor.R_a`) as symbols, for analyses that vary or differentiate by them;
    /// `None` if no name is that of an instance's parameter.
    ///
    /// # Errors
    ///
    /// If the model has no such parameter.
    pub fn with_varied(&self, names: &[String]) -> Result<Option<Session>, Faults> {
        if names.iter().all(|name| !name.contains('.')) {
            return Ok(None);
        }
        let compilation = self.compilation.asked_anew(|_, request| {
            request.settings.varied.extend(names.iter().cloned());
        });
        Session::of(compilation).map(Some)
    }

    /// Returns the same model, linearised at given values of states, inputs and time (`theta=0.1`), or at an equilibrium near them.
    ///
    /// # Errors
    ///
    /// If the values are incomplete or unknown, or no equilibrium is found.
    pub fn linearized(&self, at: &[String], equilibrium: bool) -> Result<Session, Faults> {
        Session::of(self.compilation.asked_anew(|map, request| {
            let point = at.iter();
            request.settings.point = point
                .map(|text| (text.clone(), map.add(format!("--at {text}"), text.as_str(), None)))
                .collect();
            request.linearize = Some(LinearizeRequest {
                equilibrium,
                symbolic: request.equations.symbolic,
            });
        }))
    }

    /// Returns the compilation, for all further results of the stages.
    pub fn compilation(&self) -> &Compilation {
        &self.compilation
    }

    /// Returns warnings and remarks on the text and the equations.
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        self.compilation.diagnostics()
    }

    /// Returns the state equations with symbolic parameters.
    pub fn equations(&self) -> &StateSystem {
        self.compilation.system().expect("invariant: a session has equations")
    }

    /// Returns the state equations with numeric parameters, including matrices if the equations are linear.
    ///
    /// # Errors
    ///
    /// If the equations are singular with these numbers, or contain delays, which no numbers represent.
    pub fn numbers(&self) -> Result<&StateSystem, Faults> {
        let make = |options: &mut Options| {
            (options.symbolic, options.numeric, options.shows_matrices) = (false, true, true);
        };
        let compilation = self.numbers.get_or_init(|| self.asked(false, make));
        let system = system_of(compilation)?;
        match system.events.delays.is_empty() {
            true => Ok(system),
            false => Err(faults(compilation, vec![with_delays(system)])),
        }
    }

    /// Returns the equations for linear analyses: between events, and without nonlinear outputs.
    ///
    /// # Errors
    ///
    /// If the equations are singular with the numbers of the parameters.
    pub fn between_events(&self, symbolic: bool) -> Result<&StateSystem, Faults> {
        let is_linearized = self.compilation.request().linearize.is_some();
        let make = |options: &mut Options| {
            (options.symbolic, options.numeric) = (symbolic, true);
            options.linear_outputs = !is_linearized;
        };
        system_of(self.between[usize::from(symbolic)].get_or_init(|| self.asked(true, make)))
    }

    /// Returns these equations with their model and graph, for changes to the model.
    ///
    /// # Errors
    ///
    /// If the equations are singular with the numbers of the parameters.
    pub fn whole(&self, symbolic: bool) -> Result<Whole, Faults> {
        let is_linearized = self.compilation.request().linearize.is_some();
        let compilation = self.asked(true, |options| {
            (options.symbolic, options.numeric) = (symbolic, true);
            options.linear_outputs = !is_linearized;
        });
        let (_, whole) = self::whole(compilation)?.into_parts();
        Ok(whole.expect("invariant: there are equations without errors"))
    }

    /// Returns the equations with symbolic parameters in the form that runs with varied values use
    /// ([`fit`](crate::analysis::fit::fit)). The varied names may include parameters of instances.
    ///
    /// # Errors
    ///
    /// If the equations are singular with the numbers of the parameters, or an instance has no such parameter.
    pub fn parametric(&self, varied: &[String]) -> Result<Compilation, Faults> {
        let own = self.with_varied(varied)?;
        let session = own.as_ref().unwrap_or(self);
        whole(session.asked(false, |options| (options.readable, options.numeric) = (false, true)))
    }

    /// Compiles the same texts and values in another form.
    fn asked(&self, open_discretes: bool, change: impl FnOnce(&mut Options)) -> Compilation {
        let changed = |request: &mut Request| {
            // Both were done for this session.
            (request.verify, request.every_model) = (false, false);
            change(&mut request.equations);
            if let Some(asked) = &mut request.linearize {
                asked.symbolic = request.equations.symbolic;
            }
        };
        match open_discretes && !self.compilation.request().settings.open_discretes {
            true => self.compilation.asked_anew(|_, request| {
                request.settings.open_discretes = true;
                request.settings.delays = request.settings.delays.or_refused();
                changed(request);
            }),
            false => self.compilation.formed_anew(changed),
        }
    }

    /// Compiles a run: its plan, and the signals of its inputs by name.
    ///
    /// # Errors
    ///
    /// If an input has no signal or an unknown name, or the options contradict each other.
    pub fn prepare(&self, options: &RunOptions, inputs: &[(String, InputValue)]) -> Result<Prepared, Faults> {
        self.prepare_changed(options, inputs, false, None)
    }

    /// Compiles runs with varied parameters, whose equations have symbolic parameters ([`Batch`](crate::run::batch::Batch)).
    ///
    /// # Errors
    ///
    /// As for [`Session::prepare`].
    pub fn prepare_batch(&self, options: &RunOptions, inputs: &[(String, InputValue)]) -> Result<Prepared, Faults> {
        self.prepare_changed(options, inputs, true, None)
    }

    /// Compiles a run of changed equations.
    pub(crate) fn prepare_changed(
        &self,
        options: &RunOptions,
        inputs: &[(String, InputValue)],
        symbolic: bool,
        change: Option<Change<'_>>,
    ) -> Result<Prepared, Faults> {
        let changed = |request: &mut Request| {
            (request.verify, request.every_model) = (false, false);
            (request.equations.symbolic, request.equations.numeric) = (symbolic, true);
            // Nobody reads the equations of a run.
            request.equations.readable = false;
            request.linearize = None;
        };
        let mut read = InputOptions::default();
        let compilation = match inputs {
            [] => self.compilation.formed_anew(changed),
            _ => self.compilation.asked_anew(|map, request| {
                read = InputOptions::of(inputs, map);
                request.settings.inputs = read.expressions();
                changed(request);
            }),
        };
        let compilation = whole(compilation)?;
        let mut diagnostics = compilation.diagnostics();
        let (mut map, whole) = compilation.into_parts();
        let Whole {
            model,
            graph,
            mut system,
            retained,
            switched,
        } = whole.expect("invariant: there are equations without errors");
        let signals = read.signals(&system, &mut map, &mut diagnostics);
        diagnostics.extend(
            switched
                .iter()
                .filter_map(|(events, options)| events.other_states(options)),
        );
        let length = match options.is_endless(&system.experiment) {
            true => length_by_modes(&model, &system, options.start(&system.experiment), &mut diagnostics),
            // Not requested.
            false => Ok(0.0),
        };
        let plan = options.plan(&system.experiment, &system.model, &length);
        let plan = plan.map_err(|fault| diagnostics.push(*fault)).ok();
        let Some(plan) = plan.filter(|_| !has_errors(&diagnostics)) else {
            return Err(Faults { map, diagnostics });
        };
        say_where_tables_end(&system, &signals, &plan, &mut diagnostics);
        if let Some(change) = change {
            system = change(&system).map_err(|fault| Faults {
                map: map.clone(),
                diagnostics: vec![*fault],
            })?;
        }
        let ready = Ready::new(map, system, signals, plan, switched);
        let states = self.compilation.request().equations.states;
        let origin = Origin {
            model,
            graph,
            retained,
            states,
        };
        Ok(Prepared {
            ready,
            origin,
            diagnostics,
        })
    }

    /// Returns the drawing of the model, by default in its own notation.
    ///
    /// # Errors
    ///
    /// If the model is too large, or has no linear graph.
    pub fn drawing(&self, kind: Option<Kind>, manner: Manner) -> Result<Drawing, Faults> {
        let compilation = self.asked(false, |options| {
            (options.symbolic, options.readable, options.numeric) = (false, false, true);
        });
        let drawn = drawing::drawing(&compilation, kind, manner);
        let drawn = drawn.map_err(|fault| faults(&compilation, vec![fault]))?;
        drawn.ok_or_else(|| faults(&compilation, compilation.diagnostics()))
    }

    /// Returns the files of a program that computes the model.
    ///
    /// # Errors
    ///
    /// If the target cannot express the model.
    pub fn package(&self, target: Target, options: &CodeOptions) -> Result<Package, Faults> {
        let parts = self.code.get_or_init(|| {
            let compilation = whole(self.asked(false, |options| options.numeric = true))?;
            let (map, whole) = compilation.into_parts();
            Ok((map, whole.expect("invariant: there are equations without errors")))
        });
        let (map, whole) = parts.as_ref().map_err(Faults::clone)?;
        let mut diagnostics: Vec<Diagnostic> = whole
            .switched
            .iter()
            .filter_map(|(events, options)| events.other_states(options))
            .collect();
        let (system, switched) = code::with_length(whole.clone(), target, &mut diagnostics);
        let faults = |diagnostics| Faults {
            map: map.clone(),
            diagnostics,
        };
        if has_errors(&diagnostics) {
            return Err(faults(diagnostics));
        }
        let package = code::package(map, (&system, switched.as_ref()), target, options);
        let mut package = package.map_err(|fault| faults(vec![fault]))?;
        package.warnings.append(&mut diagnostics);
        Ok(package)
    }
}

/// Returns the compilation if it has equations and no errors.
fn whole(compilation: Compilation) -> Result<Compilation, Faults> {
    sound(&compilation).map(|()| compilation)
}

fn sound(compilation: &Compilation) -> Result<(), Faults> {
    let diagnostics = compilation.diagnostics_of_model();
    match compilation.system() {
        Some(_) if !has_errors(&diagnostics) => Ok(()),
        _ => Err(faults(compilation, diagnostics)),
    }
}

fn system_of(compilation: &Compilation) -> Result<&StateSystem, Faults> {
    let found = compilation.system();
    found.ok_or_else(|| faults(compilation, compilation.diagnostics_of_model()))
}

fn with_delays(system: &StateSystem) -> Diagnostic {
    let message = format!(
        "the equations of `{}` contain delays, which have no finite number of states",
        system.model
    );
    let help = "approximate them with `PadeDelay` of `import signals;`";
    Diagnostic::error(Code::LGM0725, message).help(help)
}

fn faults(compilation: &Compilation, diagnostics: Vec<Diagnostic>) -> Faults {
    Faults {
        map: compilation.map().clone(),
        diagnostics,
    }
}

/// Compiles a text for a check of the chosen model or, without a choice, of all models. With `verify`, the equations are compared with the
/// laws of the graph.
pub fn checked(map: SourceMap, root: SourceId, choice: &Choice, verify: bool) -> Compilation {
    let mut map = map;
    let request = check_request(choice.settings(&mut map), choice.model.is_none(), verify);
    Compilation::new(&choice.disk(), map, root, request)
}

/// Returns the request of a check of every model, or of the chosen model.
pub fn check_request(settings: Settings, every_model: bool, verify: bool) -> Request {
    Request {
        settings,
        // Numbers suffice to find every singular value. Symbols are derived and simplified only for verification, so that the time for a
        // check is proportional to the model size.
        equations: Options {
            symbolic: verify,
            readable: verify,
            ..Options::default()
        },
        verify,
        every_model,
        ..Request::default()
    }
}
