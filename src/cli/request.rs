//! The arguments that commands share, and the compilation that they ask for.

use super::files::disk::{Disk, read_root};
use super::report;
use super::simulate::record::states_at;
use super::times::time;
use crate::cli::outcome::Outcome;
use crate::{Compilation, Request, Whole};
use clap::ValueEnum;
use lgm_analysis::LinearizeRequest;
use lgm_elaborate::Settings;
use lgm_equations::{Options, StateRequest, StateSystem};
use lgm_source::codes::Code;
use lgm_source::diagnostic::{Diagnostic, has_errors, six_digits};
use lgm_source::{Source, SourceId, SourceMap};
use std::path::PathBuf;

/// So many values of an equilibrium are named in a remark.
const POINT_SHOWN: usize = 8;

/// Which model, with which values.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct ModelArguments {
    /// The model's text; `-` is standard input
    file: PathBuf,
    /// Which model of the file; the last one unless given (`check` looks at all of them)
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// Gives a `param` or `const` another value, as in `--set m=3` or `--set "m=3 [kg]"`; may be given several times
    #[arg(long, value_name = "NAME=VALUE", allow_hyphen_values = true)]
    set: Vec<String>,
    /// Puts elements with modes into these modes, as in `--mode d1=conducting,d2=blocking`; may be given several times
    #[arg(long, value_name = "ELEM=MODE,..")]
    mode: Vec<String>,
    /// Also lets imports use the files of this folder; may be given several times
    #[arg(long, value_name = "DIR")]
    include: Vec<PathBuf>,
    /// Discrete variables are inputs, as for an analysis of the equations between events.
    #[arg(skip)]
    open_discretes: bool,
}

/// Which variables are the states.
#[derive(Clone, Debug, Default, clap::Args)]
pub(super) struct StateArguments {
    /// Power variables (across, through) or energy variables (p, q) for all storage
    #[arg(long, value_enum)]
    states: Option<States>,
    /// Let this storage element keep its state where one of several must give way; an error if it cannot. May be given several
    /// times, the most wanted first
    #[arg(long, value_name = "ELEM")]
    retain: Vec<String>,
}

/// Whether the equations are linearised, and where.
#[derive(Clone, Debug, Default, clap::Args)]
pub(super) struct LinearizeArguments {
    /// Linearise the equations: at the starts of the states and the inputs' values at time 0 unless --at or --equilibrium says
    /// otherwise
    #[arg(long)]
    linearize: bool,
    /// Linearise at these values of states, inputs and `time`, over the parameters, as in `--at "theta=pi/6, u=2 [N]"`; may be
    /// given several times
    #[arg(long, value_name = "NAME=VALUE,..", allow_hyphen_values = true)]
    at: Vec<String>,
    /// Linearise at an equilibrium, looked for from the starts or from the values of --at; inputs keep theirs
    #[arg(long)]
    equilibrium: bool,
    /// Linearise where a run of the model is at this time, in seconds; values of --at take the place of those of the run
    #[arg(long, value_name = "TIME", value_parser = time, conflicts_with = "equilibrium", allow_hyphen_values = true)]
    along: Option<f64>,
}

impl LinearizeArguments {
    /// Whether any of the options is there.
    pub(super) fn is_asked_for(&self) -> bool {
        self.linearize || self.equilibrium || !self.at.is_empty() || self.along.is_some()
    }

    /// Returns true if the point is to be an equilibrium.
    pub(super) fn equilibrium(&self) -> bool {
        self.equilibrium
    }

    /// Returns true if the point is one of a whole model, as it rests or runs.
    pub(super) fn is_of_whole_model(&self) -> bool {
        self.equilibrium || self.along.is_some()
    }

    /// The remark that names the equilibrium at which the answers are; a model may have several.
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
                .help("`lgm equations --equilibrium` has all values; `--at` gives another guess")
        })
    }

    /// Takes those values of `--at` that are places of the network and not values of variables.
    pub(super) fn take_places(&mut self) -> Vec<String> {
        let (values, places) = std::mem::take(&mut self.at)
            .into_iter()
            .partition(|text| text.contains('='));
        self.at = values;
        places
    }

    /// The request for the linearisation.
    pub(super) fn request(&self, symbolic: bool) -> LinearizeRequest {
        LinearizeRequest {
            equilibrium: self.equilibrium,
            symbolic,
        }
    }

    /// Each value becomes a text of its own, so that a diagnostic can point into it.
    pub(super) fn point(&self, map: &mut SourceMap) -> Vec<(String, SourceId)> {
        let values = self.at.iter().flat_map(|text| split_at_commas(text));
        let values = values.map(|text| (text.to_string(), map.add(format!("--at {text}"), text, None)));
        values.collect()
    }
}

/// The parts of a list; commas inside brackets belong to a part.
fn split_at_commas(text: &str) -> Vec<&str> {
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
    /// What is asked of the states.
    pub(super) fn request(&self) -> StateRequest {
        match self.states {
            None => StateRequest::Natural,
            Some(States::Power) => StateRequest::Power,
            Some(States::Energy) => StateRequest::Energy,
        }
    }

    /// The same, with energy variables unless something else is asked for.
    pub(super) fn or_energy(&self) -> StateArguments {
        StateArguments {
            states: self.states.or(Some(States::Energy)),
            retain: self.retain.clone(),
        }
    }

    /// The same, with one more element that is to keep its state, wanted before all others.
    pub(super) fn retaining(&self, element: &str) -> StateArguments {
        let mut states = self.clone();
        states.retain.insert(0, element.to_string());
        states
    }

    /// The storage elements that are to keep their states, the most wanted first.
    pub(super) fn retained(&self) -> Vec<String> {
        self.retain.clone()
    }
}

/// The equations of a compilation; diagnostics are printed, and errors are the outcome.
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
    /// The only or last model of a file, as it is.
    pub(super) fn of_file(file: PathBuf) -> ModelArguments {
        ModelArguments {
            file,
            model: None,
            set: Vec::new(),
            mode: Vec::new(),
            include: Vec::new(),
            open_discretes: false,
        }
    }

    /// The remark that a text on the way out has the values of the file and not those of `--set`; none if there are none of these.
    pub(super) fn unwritten_values(&self) -> Option<Diagnostic> {
        let given = self.set.iter().map(|set| format!("`--set {set}`"));
        let given = given.collect::<Vec<_>>().join(", ");
        (!given.is_empty()).then(|| {
            Diagnostic::information(Code::LGM0940, format!("{given}: the text keeps the values of the file"))
                .help("give the values again with the new text, or change them in it")
        })
    }

    /// Returns true if the model is read from standard input.
    pub(super) fn is_standard_input(&self) -> bool {
        self.file.as_os_str() == "-"
    }

    /// Whether the file's own choice of a model holds.
    pub(super) fn chooses_no_model(&self) -> bool {
        self.model.is_none()
    }

    /// The same model with one more value set.
    pub(super) fn with(&self, name: &str, value: u32) -> ModelArguments {
        let mut model = self.clone();
        model.set.push(format!("{name}={value}"));
        model
    }

    /// The same model with a parameter set to a number in the unit of its declaration.
    pub(super) fn with_number(&self, name: &str, value: f64) -> ModelArguments {
        let mut model = self.clone();
        model.set.push(format!("{name}={value:?}"));
        model
    }

    /// The compilation that a command begins with: FILE and its options are read, and nothing has run yet. If FILE cannot be read,
    /// the texts there are and what is wrong.
    pub(super) fn compilation(
        &self,
        mut map: SourceMap,
        request: impl FnOnce(Settings, &mut SourceMap) -> Request,
    ) -> Result<Compilation, (SourceMap, Vec<Diagnostic>)> {
        match self.read(&mut map) {
            Err(diagnostic) => Err((map, vec![diagnostic])),
            Ok(root) => {
                let settings = self.settings(&mut map);
                let request = request(settings, &mut map);
                Ok(Compilation::new(&self.disk(), map, root, request))
            }
        }
    }

    /// The equations of the model, as `wanted` says and with the states that were asked for.
    pub(super) fn compile(
        &self,
        states: &StateArguments,
        linearize: &LinearizeArguments,
        wanted: Options,
    ) -> (SourceMap, Option<StateSystem>, Vec<Diagnostic>) {
        let (map, whole, diagnostics) = self.compile_whole(SourceMap::default(), states, linearize, wanted, Vec::new());
        (map, whole.map(|whole| whole.system), diagnostics)
    }

    /// The same for a command that goes on only if all is well: diagnostics are printed, and errors are the outcome.
    pub(super) fn compiled(
        &self,
        states: &StateArguments,
        linearize: &LinearizeArguments,
        wanted: Options,
    ) -> Result<(SourceMap, StateSystem), Outcome> {
        let (map, system, diagnostics) = self.compile(states, linearize, wanted);
        reported(map, system, &diagnostics)
    }

    /// The same model for an analysis of the equations between events, in which discrete variables are inputs.
    pub(super) fn between_events(&self) -> ModelArguments {
        ModelArguments {
            open_discretes: true,
            ..self.clone()
        }
    }

    /// The remark that an analysis sees one combination of modes, or no block; none where the modes are asked for.
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
                format!("the answers are for these modes alone: {}", events.words()),
                "`--mode NAME=MODE` gives others; `lgm switching` lists what they are",
            ),
            true if events.modes.is_empty() && !events.discretes.is_empty() => (
                format!("discrete variables are inputs here: {}", events.discretes.join(", ")),
                "blocks assign them in a run alone; `lgm modes --sampled` has the poles of a loop with its sampled controller",
            ),
            true => return None,
        };
        Some(Diagnostic::information(Code::LGM0723, message).help(help))
    }

    /// The equations with signals of inputs, each a text of the map, and with the model and the graph that the equations were made from.
    pub(super) fn compile_whole(
        &self,
        map: SourceMap,
        states: &StateArguments,
        linearize: &LinearizeArguments,
        wanted: Options,
        inputs: Vec<(String, SourceId)>,
    ) -> (SourceMap, Option<Whole>, Vec<Diagnostic>) {
        let asked = linearize.is_asked_for().then(|| linearize.request(wanted.symbolic));
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
        match states_at(&whole.system, time) {
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

    /// The equations as they are, with values of `--at` as a point where something is looked for first.
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

    /// The compilation that a report on the model asks; misuse of the options is printed, and is the outcome.
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

    /// Another text in the place of FILE, with the same values and the states that it has of its own.
    pub(super) fn of_text(&self, file: &Source, text: &str) -> Compilation {
        self.of_text_asked(file, text, |settings, _| Request {
            settings,
            ..Request::default()
        })
    }

    /// The same with a request of its own.
    pub(super) fn of_text_asked(
        &self,
        file: &Source,
        text: &str,
        request: impl FnOnce(Settings, &mut SourceMap) -> Request,
    ) -> Compilation {
        let mut map = SourceMap::default();
        let root = map.add(file.name.clone(), text, file.path.clone());
        let settings = self.settings(&mut map);
        let request = request(settings, &mut map);
        Compilation::new(&self.disk(), map, root, request)
    }

    /// If an option gives a parameter a value.
    pub(super) fn sets(&self, name: &str) -> bool {
        let named = |text: &String| text.split('=').next().is_some_and(|left| left.trim() == name);
        self.set.iter().any(named)
    }

    /// A text that stands for itself: nothing is set in it.
    pub(super) fn of_new_text(&self, name: &str, text: &str) -> Compilation {
        let mut map = SourceMap::default();
        let root = map.add(name, text, None);
        Compilation::new(&self.disk(), map, root, Request::default())
    }

    /// FILE, once the folders named by `--include` are known to be there.
    fn read(&self, map: &mut SourceMap) -> Result<SourceId, Diagnostic> {
        match self.include.iter().find(|folder| !folder.is_dir()) {
            Some(folder) => {
                let message = format!("`--include {}`: there is no such folder", folder.display());
                Err(Diagnostic::error(Code::LGM0909, message).help("name a folder that holds files to import"))
            }
            None => read_root(&self.file, map),
        }
    }

    fn disk(&self) -> Disk {
        Disk {
            include: self.include.clone(),
        }
    }

    /// Each `--set` becomes a text of its own, so that a diagnostic can point into it.
    fn settings(&self, map: &mut SourceMap) -> Settings {
        let sets = self.set.iter();
        let sets = sets.map(|text| (text.clone(), map.add(format!("--set {text}"), text.as_str(), None)));
        Settings {
            sets: sets.collect(),
            model: self.model.clone(),
            modes: self.mode.clone(),
            open_discretes: self.open_discretes,
            ..Settings::default()
        }
    }
}
