//! The arguments that commands share, and the resulting compilation.

use super::files::disk::read_root;
use super::times::time;
use super::{interrupt, report};
use crate::cli::outcome::Outcome;
use crate::{Compilation, Request, Whole};
use clap::ValueEnum;
use lgm_analysis::LinearizeRequest;
use lgm_elaborate::Settings;
use lgm_equations::{Options, StateRequest, StateSystem};
use lgm_session::Choice;
use lgm_session::run::record::{Patience, states_at};
use lgm_source::codes::Code;
use lgm_source::diagnostic::{Diagnostic, has_errors, six_digits};
use lgm_source::{Source, SourceId, SourceMap};
use std::path::PathBuf;
use std::time::Duration;

/// The number of equilibrium values listed in a remark.
const POINT_SHOWN: usize = 8;

/// Maximum duration of a run to a point of linearisation.
const LONGEST_RUN: Duration = Duration::from_secs(3600);

/// The model, with its values.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct ModelArguments {
    /// The model's text; `-` is standard input
    file: PathBuf,
    /// The model to use; by default the last one in the file (`check` checks all of them)
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// Sets a `param` or `const`, such as `--set m=3` (in SI units) or `--set "m=3 [kg]"`, or a parameter of an instance,
    /// `--set motor.R_a=2`; repeatable
    #[arg(long, value_name = "NAME=VALUE", allow_hyphen_values = true)]
    set: Vec<String>,
    /// Parameters of instances that vary over the runs of a command.
    #[arg(skip)]
    varied: Vec<String>,
    /// True if a command computed some of the values.
    #[arg(skip)]
    is_computed: bool,
    /// Sets the modes of elements, such as `--mode d1=conducting,d2=blocking`; repeatable
    #[arg(long, value_name = "ELEM=MODE,..")]
    mode: Vec<String>,
    /// Adds a folder for imports; repeatable
    #[arg(long, value_name = "DIR")]
    include: Vec<PathBuf>,
    /// Replaces each `delay(x, T)` by a Pade approximation of this order, for analyses and programs that require states
    #[arg(long, value_name = "ORDER", value_parser = clap::value_parser!(u32).range(1..=20))]
    pade: Option<u32>,
    /// Discrete variables are inputs, as for an analysis of the equations between events.
    #[arg(skip)]
    open_discretes: bool,
    /// True if the command closes delays itself.
    #[arg(skip)]
    open_delays: bool,
    /// True if the command requires a finite number of states.
    #[arg(skip)]
    refuse_delays: bool,
}

/// The choice of states.
#[derive(Clone, Debug, Default, clap::Args)]
pub(super) struct StateArguments {
    /// Power variables (across, through) or energy variables (p, q) for all storage
    #[arg(long, value_enum)]
    states: Option<States>,
    /// Let this storage element keep its state if one of several must be dependent; an error if it cannot. Repeatable,
    /// in order of priority
    #[arg(long, value_name = "ELEM")]
    retain: Vec<String>,
}

/// True if the equations are linearised, and where.
#[derive(Clone, Debug, Default, clap::Args)]
pub(super) struct LinearizeArguments {
    /// Linearise the equations; without --at or --equilibrium at the initial states and the inputs at time 0
    #[arg(long)]
    linearize: bool,
    /// Linearise at these values of states, inputs and `time`, which may contain parameters, such as `--at "theta=pi/6,
    /// u=2 [N]"`; repeatable
    #[arg(long, value_name = "NAME=VALUE,..", allow_hyphen_values = true)]
    at: Vec<String>,
    /// Linearise at an equilibrium, searched from the initial states or from the values of --at; inputs keep theirs
    #[arg(long)]
    equilibrium: bool,
    /// Linearise at the states of a run at this time, in seconds; values of --at override those of the run
    #[arg(long, value_name = "TIME", value_parser = time, conflicts_with = "equilibrium", allow_hyphen_values = true)]
    along: Option<f64>,
}

impl LinearizeArguments {
    /// Returns true if any of the options is given.
    pub(super) fn is_asked_for(&self) -> bool {
        self.linearize || self.equilibrium || !self.at.is_empty() || self.along.is_some()
    }

    /// Returns true if the operating point requires the whole model, as an equilibrium or a point of a run.
    pub(super) fn is_of_whole_model(&self) -> bool {
        self.equilibrium || self.along.is_some()
    }

    /// Returns the remark that names the equilibrium of the results. A model can have several equilibria.
    pub(super) fn remark_on_equilibrium(&self, system: &StateSystem) -> Option<Diagnostic> {
        let point = system.linearized_at.as_ref().filter(|_| self.equilibrium)?;
        let values = point
            .states
            .iter()
            .map(|state| format!("{} = {}", state.name, six_digits(state.value)));
        let values: Vec<String> = values.collect();
        let shown = values.len().min(POINT_SHOWN);
        let mut list = values[..shown].join(", ");
        if values.len() > shown {
            list.push_str(&format!(" and {} more", values.len() - shown));
        }
        (shown > 0).then(|| {
            Diagnostic::information(Code::LGM0724, format!("the equilibrium is at {list}"))
                .help("`lgm equations --equilibrium` prints all values; set another guess with `--at`")
        })
    }

    /// Removes and returns the entries of `--at` that are locations in the network and not values of variables.
    pub(super) fn take_places(&mut self) -> Vec<String> {
        let (values, places) = std::mem::take(&mut self.at)
            .into_iter()
            .partition(|text| text.contains('='));
        self.at = values;
        places
    }

    /// Returns the request for a linearisation, if any of the options is given.
    pub(super) fn asked(&self, symbolic: bool) -> Option<LinearizeRequest> {
        self.is_asked_for().then(|| self.request(symbolic))
    }

    /// Returns the request for the linearisation.
    pub(super) fn request(&self, symbolic: bool) -> LinearizeRequest {
        LinearizeRequest {
            equilibrium: self.equilibrium,
            symbolic,
        }
    }

    /// Returns the values of the point. Each value becomes a separate source text, so that a diagnostic can point into it.
    pub(super) fn point(&self, map: &mut SourceMap) -> Vec<(String, SourceId)> {
        let values = self.at.iter().flat_map(|text| split_at_commas(text));
        let values = values.map(|text| (text.to_string(), map.add(format!("--at {text}"), text, None)));
        values.collect()
    }
}

/// Splits a list at its commas, except those inside brackets.
pub(super) fn split_at_commas(text: &str) -> Vec<&str> {
    let (mut parts, mut from, mut depth) = (Vec::new(), 0, 0i32);
    for (at, letter) in text.char_indices() {
        match letter {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(text[from..at].trim());
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(text[from..].trim());
    parts
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum States {
    Power,
    Energy,
}

impl StateArguments {
    /// Returns the requested choice of states.
    pub(super) fn request(&self) -> StateRequest {
        match self.states {
            None => StateRequest::Natural,
            Some(States::Power) => StateRequest::Power,
            Some(States::Energy) => StateRequest::Energy,
        }
    }

    /// Returns these options, with energy variables unless another choice is requested.
    pub(super) fn or_energy(&self) -> StateArguments {
        StateArguments {
            states: self.states.or(Some(States::Energy)),
            retain: self.retain.clone(),
        }
    }

    /// Returns these options with an additional element that keeps its state, with the highest priority.
    pub(super) fn retaining(&self, element: &str) -> StateArguments {
        let mut states = self.clone();
        states.retain.insert(0, element.to_string());
        states
    }

    /// Returns the storage elements that keep their states, in order of preference.
    pub(super) fn retained(&self) -> Vec<String> {
        self.retain.clone()
    }
}

/// Returns the equations of a compilation. Diagnostics are printed, and errors become the outcome.
pub(super) fn equations_of(compilation: Compilation) -> Result<(SourceMap, StateSystem), Outcome> {
    let diagnostics = compilation.diagnostics_of_model();
    let (map, whole) = compilation.into_parts();
    reported(map, whole.map(|whole| whole.system), &diagnostics)
}

fn reported(
    map: SourceMap,
    system: Option<StateSystem>,
    diagnostics: &[Diagnostic],
) -> Result<(SourceMap, StateSystem), Outcome> {
    report::print(&map, diagnostics);
    match (system, report::outcome(diagnostics)) {
        (Some(system), Outcome::Success) => Ok((map, system)),
        (_, outcome) => Err(outcome),
    }
}

impl ModelArguments {
    /// Selects the only or last model of a file, without options.
    pub(super) fn of_file(file: PathBuf) -> ModelArguments {
        ModelArguments {
            file,
            model: None,
            set: Vec::new(),
            varied: Vec::new(),
            is_computed: false,
            mode: Vec::new(),
            include: Vec::new(),
            pade: None,
            open_discretes: false,
            open_delays: false,
            refuse_delays: false,
        }
    }

    /// Returns a remark that the written text contains the values of the file and not the values of `--set`; None without `--set`.
    pub(super) fn unwritten_values(&self) -> Option<Diagnostic> {
        let given = self.set.iter().map(|set| format!("`--set {set}`"));
        let given = given.collect::<Vec<_>>().join(", ");
        (!given.is_empty()).then(|| {
            Diagnostic::information(
                Code::LGM0940,
                format!("{given}: the text contains the values of the file"),
            )
            .help("pass the values again for the new text, or change them in the text")
        })
    }

    /// Returns the path of the model; None for standard input.
    pub(super) fn path(&self) -> Option<&std::path::Path> {
        (!self.is_standard_input()).then_some(self.file.as_path())
    }

    /// Returns true if the model is read from standard input.
    pub(super) fn is_standard_input(&self) -> bool {
        self.file.as_os_str() == "-"
    }

    /// Returns true if no option overrides the file's choice of a model.
    pub(super) fn chooses_no_model(&self) -> bool {
        self.model.is_none()
    }

    /// Returns the same model with one additional value.
    pub(super) fn with(&self, name: &str, value: u32) -> ModelArguments {
        let mut model = self.clone();
        model.set.push(format!("{name}={value}"));
        model
    }

    /// Returns the same model for a command that varies parameters, given by their names or by options `name=..`.
    pub(super) fn varying<'o>(&self, options: impl IntoIterator<Item = &'o String>) -> ModelArguments {
        let names = options.into_iter().filter_map(|text| text.split('=').next());
        ModelArguments {
            varied: names.map(|name| name.trim().to_string()).collect(),
            ..self.clone()
        }
    }

    /// Returns the same model with a parameter set to a number in its declared unit.
    pub(super) fn with_number(&self, name: &str, value: f64) -> ModelArguments {
        let mut model = self.clone();
        model.set.push(format!("{name}={value:?}"));
        model.is_computed = true;
        model
    }

    /// Reads FILE and its options, and returns the compilation before any stage has run. If FILE cannot be read, returns the source texts
    /// and the error.
    pub(super) fn compilation(
        &self,
        mut map: SourceMap,
        request: impl FnOnce(Settings, &mut SourceMap) -> Request,
    ) -> Result<Compilation, (SourceMap, Vec<Diagnostic>)> {
        match self.read(&mut map) {
            Err(diagnostic) => Err((map, vec![diagnostic])),
            Ok(root) => {
                let settings = self.choice().settings(&mut map);
                let request = request(settings, &mut map);
                Ok(Compilation::new(&self.choice().disk(), map, root, request))
            }
        }
    }

    /// Compiles the equations of the model with the options in `wanted` and the requested states.
    pub(super) fn compile(
        &self,
        states: &StateArguments,
        linearize: &LinearizeArguments,
        wanted: Options,
    ) -> (SourceMap, Option<StateSystem>, Vec<Diagnostic>) {
        let (map, whole, diagnostics) = self.compile_whole(SourceMap::default(), states, linearize, wanted, Vec::new());
        (map, whole.map(|whole| whole.system), diagnostics)
    }

    /// Compiles for a command that requires a result without errors. Diagnostics are printed, and errors become the outcome.
    pub(super) fn compiled(
        &self,
        states: &StateArguments,
        linearize: &LinearizeArguments,
        wanted: Options,
    ) -> Result<(SourceMap, StateSystem), Outcome> {
        let (map, system, diagnostics) = self.compile(states, linearize, wanted);
        reported(map, system, &diagnostics)
    }

    /// Returns the same model for an analysis between events, with discrete variables as inputs.
    pub(super) fn between_events(&self) -> ModelArguments {
        ModelArguments {
            open_discretes: true,
            ..self.clone()
        }
    }

    /// Returns the same model for a command that closes delays itself.
    pub(super) fn with_open_delays(&self) -> ModelArguments {
        ModelArguments {
            open_delays: true,
            ..self.clone()
        }
    }

    /// Returns the same model for a command that requires a finite number of states.
    pub(super) fn refusing_delays(&self) -> ModelArguments {
        ModelArguments {
            refuse_delays: true,
            ..self.clone()
        }
    }

    /// Returns the remark that an analysis covers a single mode combination, or ignores blocks; None if the modes are requested.
    pub(super) fn remark_on_events(&self, system: &StateSystem) -> Option<Diagnostic> {
        let events = &system.events;
        let asked: Vec<&str> = self.mode.iter().flat_map(|text| split_at_commas(text)).collect();
        let is_asked = |element: &str| {
            asked
                .iter()
                .any(|text| text.split('=').next().map(str::trim) == Some(element))
        };
        let (message, help) = match events.modes.iter().all(|each| is_asked(&each.element)) {
            false => (
                format!("the results hold only for these modes: {}", events.words()),
                "choose other modes with `--mode NAME=MODE`; `lgm switching` lists them",
            ),
            true if events.modes.is_empty() && !events.discretes.is_empty() => (
                format!("discrete variables are inputs here: {}", events.discretes.join(", ")),
                "blocks assign them only during a run; `lgm modes --sampled` prints the poles of a loop with a \
                 sampled controller",
            ),
            true => return None,
        };
        Some(Diagnostic::information(Code::LGM0723, message).help(help))
    }

    /// Compiles the equations with signals of inputs, each a text of the map. The result includes the model and the graph of the equations.
    pub(super) fn compile_whole(
        &self,
        map: SourceMap,
        states: &StateArguments,
        linearize: &LinearizeArguments,
        wanted: Options,
        inputs: Vec<(String, SourceId)>,
    ) -> (SourceMap, Option<Whole>, Vec<Diagnostic>) {
        let asked = linearize.asked(wanted.symbolic);
        let Some(time) = linearize.along else {
            return self.compile_asked(map, (states, linearize), asked, wanted, inputs);
        };
        let (found, whole, mut diagnostics) = self.compile_asked(
            map.clone(),
            (states, &LinearizeArguments::default()),
            None,
            wanted.clone(),
            inputs.clone(),
        );
        let Some(whole) = whole.filter(|_| !has_errors(&diagnostics)) else {
            return (found, None, diagnostics);
        };
        if whole.system.events.happen {
            let fault = Diagnostic::error(Code::LGM0722, "`--along` does not support a model with events").help(
                "read modes and states at this time from `lgm simulate --events`, and pass them as `--mode` and `--at`",
            );
            diagnostics.push(fault);
            return (found, None, diagnostics);
        }
        let patience = Patience::new(LONGEST_RUN, &interrupt::is_not_asked_for);
        match states_at(&whole.system, time, &patience) {
            Ok(reached) => {
                let given: Vec<&str> = linearize.at.iter().flat_map(|text| split_at_commas(text)).collect();
                let is_given = |name: &str| {
                    given
                        .iter()
                        .any(|text| text.split('=').next().map(str::trim) == Some(name))
                };
                let reached = reached.into_iter().chain([("time".to_string(), time)]);
                let own = reached.filter(|(name, _)| !is_given(name));
                let own = own.map(|(name, value)| format!("{name}={value:?}"));
                let along = LinearizeArguments {
                    at: linearize.at.iter().cloned().chain(own).collect(),
                    ..linearize.clone()
                };
                self.compile_asked(map, (states, &along), asked, wanted, inputs)
            }
            Err(reason) => {
                let message = format!("the run does not reach {time} s");
                let fault = Diagnostic::error(Code::LGM0722, message).note(reason);
                diagnostics.push(fault.help("give a time after the start, or the values of the states with `--at`"));
                (found, None, diagnostics)
            }
        }
    }

    /// Compiles the equations without linearisation. The values of `--at` are the initial guess of a search.
    pub(super) fn compile_at(
        &self,
        states: &StateArguments,
        at: &[String],
        wanted: Options,
    ) -> (SourceMap, Option<Whole>, Vec<Diagnostic>) {
        let point = LinearizeArguments {
            at: at.to_vec(),
            ..LinearizeArguments::default()
        };
        self.compile_asked(SourceMap::default(), (states, &point), None, wanted, Vec::new())
    }

    fn compile_asked(
        &self,
        map: SourceMap,
        (states, point): (&StateArguments, &LinearizeArguments),
        linearize: Option<LinearizeRequest>,
        wanted: Options,
        inputs: Vec<(String, SourceId)>,
    ) -> (SourceMap, Option<Whole>, Vec<Diagnostic>) {
        let compilation = self.compilation(map, |settings, map| Request {
            settings: Settings {
                inputs,
                point: point.point(map),
                ..settings
            },
            equations: Options {
                states: states.request(),
                retain: states.retain.clone(),
                ..wanted
            },
            linearize,
            ..Request::default()
        });
        match compilation {
            Err((map, diagnostics)) => (map, None, diagnostics),
            Ok(compilation) => {
                let diagnostics = compilation.diagnostics_of_model();
                let (map, whole) = compilation.into_parts();
                (map, whole, diagnostics)
            }
        }
    }

    /// Returns the compilation for a report on the model. Misuse of the options is printed and becomes the outcome.
    pub(super) fn asked(&self, states: &StateArguments, wanted: Options) -> Result<Compilation, Outcome> {
        let compilation = self.compilation(SourceMap::default(), |settings, _| Request {
            settings,
            equations: Options {
                states: states.request(),
                retain: states.retained(),
                ..wanted
            },
            ..Request::default()
        });
        compilation.map_err(|(map, diagnostics)| {
            report::print(&map, &diagnostics);
            report::outcome(&diagnostics)
        })
    }

    /// Compiles another text instead of FILE, with the same values and the default choice of states.
    pub(super) fn of_text(&self, file: &Source, text: &str) -> Compilation {
        self.of_text_asked(file, text, |settings, _| Request {
            settings,
            ..Request::default()
        })
    }

    /// Compiles another text instead of FILE, with a separate request.
    pub(super) fn of_text_asked(
        &self,
        file: &Source,
        text: &str,
        request: impl FnOnce(Settings, &mut SourceMap) -> Request,
    ) -> Compilation {
        let mut map = SourceMap::default();
        let root = map.add(file.name.clone(), text, file.path.clone());
        let settings = self.choice().settings(&mut map);
        let request = request(settings, &mut map);
        Compilation::new(&self.choice().disk(), map, root, request)
    }

    /// Returns true if an option sets the parameter.
    pub(super) fn sets(&self, name: &str) -> bool {
        let named = |text: &String| text.split('=').next().is_some_and(|left| left.trim() == name);
        self.set.iter().any(named)
    }

    /// Compiles an independent text, without any values from the options.
    pub(super) fn of_new_text(&self, name: &str, text: &str) -> Compilation {
        let mut map = SourceMap::default();
        let root = map.add(name, text, None);
        Compilation::new(&self.choice().disk(), map, root, Request::default())
    }

    /// Reads FILE after a check that the folders of `--include` exist.
    fn read(&self, map: &mut SourceMap) -> Result<SourceId, Diagnostic> {
        match self.include.iter().find(|folder| !folder.is_dir()) {
            Some(folder) => {
                let message = format!("`--include {}`: no such folder", folder.display());
                Err(Diagnostic::error(Code::LGM0909, message).help("name a folder with files to import"))
            }
            None => read_root(&self.file, map),
        }
    }

    /// Returns the options as a choice.
    fn choice(&self) -> Choice {
        Choice {
            model: self.model.clone(),
            set: self.set.clone(),
            varied: self.varied.clone(),
            are_written: !self.is_computed,
            modes: self.mode.clone(),
            include: self.include.clone(),
            open_discretes: self.open_discretes,
            open_delays: self.open_delays,
            refuse_delays: self.refuse_delays,
            pade: self.pade,
        }
    }
}
