//! The system to be emitted with its compiled functions, under names that every target adapts.

use super::instants::Sampled;
use super::names::{Rules, Scope};
use super::template::values;
use super::trials::{TrialRuns, UNKNOWN_SPAN};
use crate::rows::Columns;
use crate::shortest;
use lgm_algebra::expr::{ExprId, print, to_f64};
use lgm_kernels::operation::Space;
use lgm_kernels::program::Program;
use lgm_kernels::{Corners, Jacobians, Kernel, KernelOptions, Kernels, Layout, Signs, SparseKernel, expression};
use lgm_model::SiUnit;
use lgm_model::system::{Equations, StateSystem};
use lgm_runtime::loops::OVER_BENDS;
use std::fmt::Write;
use std::ops::Range;
use std::sync::OnceLock;

/// The origin of the emitted code, which the head of every file states.
#[derive(Clone, Debug)]
pub struct Origin {
    /// The name of the file that holds the model, without its folder.
    pub file: String,
    /// The version of this program.
    pub version: &'static str,
    /// A hash of all source texts of the model.
    pub hash: String,
}

impl Origin {
    /// Returns one sentence for the head of a file.
    pub(crate) fn sentence(&self) -> String {
        format!(
            "Made by lgm {} from {}, SHA-256 {}.",
            self.version, self.file, self.hash
        )
    }
}

/// One entry of a parameter.
pub(crate) struct ParameterEntry {
    /// The user's name: `K[1, 2]`.
    pub(crate) name: String,
    /// The number in SI.
    pub(crate) value: f64,
    /// The formula of a derived entry, in the language's syntax.
    pub(crate) derived: Option<String>,
}

/// One parameter.
pub(crate) struct Parameter {
    pub(crate) name: String,
    pub(crate) unit: Option<SiUnit>,
    pub(crate) shape: Vec<usize>,
    pub(crate) entries: Vec<ParameterEntry>,
    /// The index of its first entry in the list of all entries.
    pub(crate) first: usize,
}

/// A state, an input or an output.
pub(crate) struct Named {
    pub(crate) name: String,
    pub(crate) unit: Option<SiUnit>,
}

/// A system with all its functions.
pub(crate) struct Subject<'a> {
    pub(crate) system: &'a StateSystem,
    pub(crate) origin: &'a Origin,
    trials: &'a dyn TrialRuns,
    /// The model's own comment in one line; empty if it has none.
    pub(crate) description: String,
    pub(crate) kernels: Kernels,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) states: Vec<Named>,
    pub(crate) inputs: Vec<Named>,
    pub(crate) outputs: Vec<Named>,
    pub(crate) columns: Columns,
    /// Discontinuities of the default signals and of the equations.
    pub(crate) corners: Corners,
    /// Conditions on states at which right-hand sides jump, as indices of crossings.
    pub(crate) jumping: Vec<usize>,
    /// Conditions on states at which right-hand sides have a kink, as indices of crossings.
    pub(crate) bending: Vec<usize>,
    /// The scales of the states, computed on first request.
    scales: OnceLock<Vec<f64>>,
    /// The magnitudes of the states in a short run, computed on first request.
    trial: OnceLock<Vec<f64>>,
    /// Given and derived initial values of dependent storage, in pairs; none if there are none.
    pub(crate) constraints: Option<Kernel>,
    /// True if the right-hand sides of states depend on time derivatives of inputs, directly or through loops: input jumps then move
    /// states.
    pub(crate) moves: bool,
    /// True if right-hand sides or outputs depend on time derivatives of inputs.
    pub(crate) reads_rates: bool,
    /// For a model with events, the values held between events.
    pub(crate) held: Option<HeldBetween>,
    /// The discrete variables of a model with fixed steps, which are none of its inputs.
    pub(crate) discretes: Vec<Named>,
    /// The blocks of a model with fixed steps.
    pub(crate) sampled: Option<Sampled>,
    /// The default signals of its inputs, without the discrete variables.
    signals: Option<Kernel>,
}

/// The maximum number of parts into which a jump is divided, as in `lgm simulate`.
pub(crate) const JUMP_PARTS: u64 = lgm_runtime::jump::PARTS as u64;

/// The results of a model with events in addition to the equations of its first combination of modes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Further {
    /// Right-hand sides, margins of conditions, and outputs.
    pub(crate) roots: Vec<ExprId>,
    pub(crate) shown: Vec<ExprId>,
    /// The two sides of the margins; those that depend only on time create discontinuities.
    pub(crate) crossings: Vec<ExprId>,
    /// The number of states with a column.
    pub(crate) columns: Option<usize>,
    /// For a model with events, the values held between events.
    pub(crate) held: Option<HeldBetween>,
    /// The blocks of a model with fixed steps.
    pub(crate) sampled: Option<Sampled>,
}

/// The values that a model with events holds between them.
#[derive(Clone, Debug, Default)]
pub(crate) struct HeldBetween {
    /// The number of combinations of modes.
    pub(crate) combinations: usize,
    /// The inputs of discrete variables and of offsets.
    pub(crate) discretes: Vec<usize>,
    pub(crate) offsets: Range<usize>,
    /// The number of elements with modes plus blocks; each of them has an indicator.
    pub(crate) indicators: usize,
}

impl<'a> Subject<'a> {
    pub(crate) fn new(system: &'a StateSystem, origin: &'a Origin, trials: &'a dyn TrialRuns) -> Subject<'a> {
        Subject::with(system, origin, &Further::default(), trials)
    }

    /// Creates the subject of a model with events.
    pub(crate) fn with(
        system: &'a StateSystem,
        origin: &'a Origin,
        further: &Further,
        trials: &'a dyn TrialRuns,
    ) -> Subject<'a> {
        let interpreted = KernelOptions { native: false };
        let kernels = Kernels::new(system, &interpreted);
        let own = system.inputs.len() - further.sampled.as_ref().map_or(0, |sampled| sampled.discretes);
        let signals = (own < system.inputs.len()).then(|| signals(system, own, &interpreted));
        let layout = Layout::new(system);
        let mut roots: Vec<ExprId> = system.equations.derivatives.clone();
        roots.extend(system.equations.residuals());
        roots.extend(system.inputs.iter().filter_map(|input| input.signal));
        roots.extend(&further.roots);
        let crossings = further.crossings.iter().enumerate().map(|(at, id)| (at, *id, 0.0));
        let crossings: Vec<(usize, ExprId, f64)> = crossings.collect();
        let timed = Signs::new(&system.exprs, &crossings, &layout);
        roots.extend(timed.places().iter().map(|at| further.crossings[*at]));
        let shown = [&system.equations.output_values[..], &further.shown].concat();
        let corners = corners_with_looks(system, &kernels, (&roots, &shown), &layout);
        let conditions = corners.conditions();
        let (jumping, bending) = (0..conditions.len()).partition(|at| conditions[*at].jumps);
        let pairs: Vec<ExprId> = system
            .starts
            .constraints
            .iter()
            .flat_map(|constraint| [constraint.given, constraint.follows])
            .collect();
        let reads = |kernel: &Kernel| kernel.program().needs(Space::Rates) > 0;
        let through_loops = reads(&kernels.residuals) && kernels.derivatives.program().needs(Space::Unknowns) > 0;
        let moves = match further.roots.is_empty() {
            true => reads(&kernels.derivatives) || through_loops,
            false => through_loops || reads(&expression(&system.exprs, &further.roots, &layout, &interpreted)),
        };
        let mut columns = Columns::of(system);
        columns
            .states
            .retain(|column| further.columns.is_none_or(|count| column.0 < count));
        let words = system.doc.as_deref().unwrap_or("").split_whitespace();
        Subject {
            description: words.collect::<Vec<_>>().join(" "),
            parameters: parameters(system),
            states: named(system.states.iter().map(|state| (&*state.name, &state.unit))),
            inputs: named(system.inputs[..own].iter().map(|input| (&*input.name, &input.unit))),
            discretes: named(system.inputs[own..].iter().map(|input| (&*input.name, &input.unit))),
            sampled: further.sampled.clone(),
            signals,
            outputs: named(system.outputs.iter().map(|output| (&*output.name, &output.unit))),
            columns,
            held: further.held.clone(),
            constraints: match pairs.is_empty() {
                true => None,
                false => Some(expression(&system.exprs, &pairs, &layout, &interpreted)),
            },
            reads_rates: moves
                || (further.sampled.iter()).any(|sampled| sampled.kernels.at_points().into_iter().any(&reads))
                || reads(&kernels.residuals)
                || reads(&kernels.outputs),
            moves,
            corners,
            jumping,
            bending,
            scales: OnceLock::new(),
            trial: OnceLock::new(),
            kernels,
            origin,
            trials,
            system,
        }
    }

    /// Returns the default signals of the inputs, followed by their time derivatives.
    pub(crate) fn signals(&self) -> &Kernel {
        self.signals.as_ref().unwrap_or(&self.kernels.inputs)
    }

    /// Returns true if input jumps move states by amounts that depend on the evaluation point.
    pub(crate) fn jumps(&self) -> bool {
        self.moves && !self.system.equations.linear
    }

    /// Returns true if oscillations in time bound the steps of a solver ([`lgm_kernels::longest_step`]).
    pub(crate) fn bounds_steps(&self) -> bool {
        (!self.system.equations.linear || self.held.is_some()) && self.corners.phases().outputs() > 0
    }

    /// Returns true if the fastest oscillation in time is needed: for the bound on steps, or for the search for discontinuities between
    /// samples.
    pub(crate) fn needs_fastest(&self) -> bool {
        self.bounds_steps() || (self.corners.switches().outputs() > 0 && self.corners.phases().outputs() > 0)
    }

    /// Returns the element whose algebraic loop contains each unknown; the unknown itself if it has no single owner.
    pub(crate) fn loop_elements(&self) -> impl Iterator<Item = &str> {
        self.system.equations.loops.iter().flat_map(|each| {
            each.unknowns
                .iter()
                .enumerate()
                .map(|(at, unknown)| match each.owners.get(at).and_then(Option::as_ref) {
                    Some((element, _)) => &**element,
                    None => &*self.system.exprs.symbol_info(*unknown).name,
                })
        })
    }

    /// Lists the elements of the algebraic loops for a sentence, each element once.
    pub(crate) fn loops_in_words(&self) -> String {
        let mut elements: Vec<&str> = Vec::new();
        for element in self.loop_elements() {
            if !elements.contains(&element) && elements.len() < 4 {
                elements.push(element);
            }
        }
        elements
            .iter()
            .map(|element| format!("`{element}`"))
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// Returns all entries of all parameters.
    pub(crate) fn entries(&self) -> impl Iterator<Item = &ParameterEntry> {
        self.parameters.iter().flat_map(|parameter| &parameter.entries)
    }

    /// Returns the number of unknowns of all loops.
    pub(crate) fn unknowns(&self) -> usize {
        self.kernels.residuals.outputs()
    }

    /// For each unknown of all loops, returns true if its solution is unique. This includes linear loops, and displacements of closed
    /// chains, which continue from their first values.
    pub(crate) fn settled_unknowns(&self) -> impl Iterator<Item = bool> {
        let loops = self.system.equations.loops.iter();
        loops.flat_map(|each| each.unknowns.iter().map(|_| each.linear || !each.guesses.is_empty()))
    }

    /// Returns the number of detours that an iteration on the loops may take at points without slopes, such as turbulent laws at rest.
    /// Closed chains take no detours.
    pub(crate) fn asides(&self) -> usize {
        match self.system.equations.loops.iter().any(|each| !each.guesses.is_empty()) {
            true => 0,
            false => OVER_BENDS,
        }
    }

    /// Returns true if loops may have several solutions; a run follows one solution as far as it exists.
    pub(crate) fn has_branches(&self) -> bool {
        self.settled_unknowns().any(|is_settled| !is_settled)
    }

    /// For each unknown of all loops, returns true if it determines a stored quantity: such unknowns do not jump.
    pub(crate) fn stored_unknowns(&self) -> impl Iterator<Item = bool> {
        let loops = self.system.equations.loops.iter();
        loops.flat_map(|each| (0..each.unknowns.len()).map(|at| each.rated.get(at) == Some(&true)))
    }

    /// Returns true if a state is a conserved quantity, so that the stored quantities may have several solutions.
    pub(crate) fn has_totals(&self) -> bool {
        self.has_branches() && self.system.states.iter().any(|state| state.is_total())
    }

    /// Returns several lists of first guesses for the unknowns of all loops.
    pub(crate) fn guesses(&self) -> [Vec<f64>; 5] {
        [0.0, 1.0, -1.0, 1e-3, 1e3].map(|guess| self.system.first_unknowns(guess))
    }

    /// Returns the start time, the stop time and the number of samples of a run, as far as the model specifies them.
    pub(crate) fn plan(&self) -> (f64, Option<f64>, usize) {
        let asked = &self.system.experiment;
        (asked.start.unwrap_or(0.0), asked.stop, asked.rows() as usize)
    }

    /// Returns the relative and absolute tolerance; no absolute tolerance if it follows the scale of each state.
    pub(crate) fn tolerances(&self) -> (f64, Option<f64>) {
        let asked = &self.system.experiment;
        (asked.rtol.unwrap_or(1e-6), asked.atol)
    }

    /// Returns the initial scales of the states, determined with the parameters and over the time of the model; negative scales stay
    /// fixed.
    pub(crate) fn scales(&self) -> &[f64] {
        self.scales
            .get_or_init(|| self.trials.scales(self.system, &self.kernels))
    }

    /// Returns the magnitudes of the states in a short run with the same parameters and time span; 0 if the run shows none.
    pub(crate) fn trial_sizes(&self) -> &[f64] {
        self.trial.get_or_init(|| self.trials.sizes(self.system, &self.kernels))
    }

    /// Returns the maximum working memory of these programs.
    pub(crate) fn scratch(programs: &[&Program]) -> usize {
        programs.iter().map(|program| program.temporaries).max().unwrap_or(0)
    }

    /// Returns the partial derivatives.
    pub(crate) fn jacobians(&self) -> &Jacobians {
        self.kernels.jacobians(self.system)
    }

    /// Returns the matrix of the loops, and the matrices for derivatives through loops: rates with respect to states, rates with respect
    /// to unknowns, and residuals with respect to states.
    pub(crate) fn matrices(&self) -> [&SparseKernel; 4] {
        let jacobians = self.jacobians();
        [
            &jacobians.residuals_by_unknowns,
            &jacobians.rates_by_states,
            &jacobians.rates_by_unknowns,
            &jacobians.residuals_by_states,
        ]
    }

    /// Returns the pattern of the derivatives with respect to the states, with loops resolved: row starts and columns.
    pub(crate) fn jacobian_pattern(&self) -> (Vec<usize>, Vec<usize>) {
        let jacobians = self.jacobians();
        let direct = &jacobians.rates_by_states;
        if self.unknowns() == 0 {
            return (direct.row_starts.clone(), direct.columns_of.clone());
        }
        // Every unknown may depend on every state that some residual reads.
        let through = &jacobians.residuals_by_states.columns_of;
        let by_unknowns = &jacobians.rates_by_unknowns;
        let (mut starts, mut columns) = (vec![0], Vec::new());
        for row in 0..direct.rows {
            let mut own: Vec<usize> = direct.columns_of[direct.row_starts[row]..direct.row_starts[row + 1]].to_vec();
            if by_unknowns.row_starts[row] < by_unknowns.row_starts[row + 1] {
                own.extend(through);
            }
            own.sort_unstable();
            own.dedup();
            columns.extend(own);
            starts.push(columns.len());
        }
        (starts, columns)
    }
}

/// The maximum number of changes that the search for narrow pulses examines.
const MOST_CHANGES: usize = 1000;

/// Returns the times at which emitted code ends its steps. The code has no bounds on its functions of time. It restarts where those
/// bounds, for the model's parameters and time span, show that a step may skip something.
fn corners_with_looks(
    system: &StateSystem,
    kernels: &Kernels,
    roots: (&[ExprId], &[ExprId]),
    layout: &Layout,
) -> Corners {
    let corners = Corners::with_shown(&system.exprs, roots, layout, &[]);
    let start = system.experiment.start.unwrap_or(0.0);
    let stop = system.experiment.stop.unwrap_or(start + UNKNOWN_SPAN);
    let parameters = kernels.parameters(&[]);
    let mut further = corners.looks(&parameters, start, stop);
    // Samples of conditions on time may miss a narrow pulse between them.
    let least = (stop - start) / lgm_runtime::signals::SAMPLES;
    let (changes, _) = corners.first_times(&parameters, (start, stop), MOST_CHANGES);
    let narrow = changes.windows(2).filter(|pair| pair[1] - pair[0] < least);
    further.extend(narrow.flatten());
    match further.is_empty() {
        true => corners,
        false => Corners::with_shown(&system.exprs, roots, layout, &further),
    }
}

/// Returns the default signals of the first inputs.
fn signals(system: &StateSystem, count: usize, options: &KernelOptions) -> Kernel {
    let mut alone = system.clone();
    alone.equations = Equations::default();
    alone.inputs.truncate(count);
    alone.input_rates.truncate(count);
    Kernels::new(&alone, options).inputs
}

fn named<'n>(list: impl Iterator<Item = (&'n str, &'n Option<SiUnit>)>) -> Vec<Named> {
    let own = |(name, unit): (&str, &Option<SiUnit>)| Named {
        name: name.to_string(),
        unit: unit.clone(),
    };
    list.map(own).collect()
}

fn parameters(system: &StateSystem) -> Vec<Parameter> {
    let mut first = 0;
    let mut list = Vec::with_capacity(system.parameters.len());
    for parameter in &system.parameters {
        let entries = parameter.entries.iter().map(|entry| ParameterEntry {
            name: system.exprs.symbol_info(entry.symbol).name.to_string(),
            value: to_f64(&entry.value),
            derived: entry.derived.map(|value| match system.exprs.as_number(value) {
                Some(number) => shortest(to_f64(number)),
                None => print::text(&system.exprs, value),
            }),
        });
        let entries: Vec<ParameterEntry> = entries.collect();
        let count = entries.len();
        list.push(Parameter {
            name: parameter.name.to_string(),
            unit: parameter.unit.clone(),
            shape: parameter.shape.clone(),
            entries,
            first,
        });
        first += count;
    }
    list
}

/// Returns remarks on the results of a program, one per name in the list; `quote` makes a name safe.
pub(crate) fn labels(
    prefix: &str,
    list: &[Named],
    quote: fn(&str) -> String,
) -> impl Fn(u32) -> Option<String> + use<> {
    let list: Vec<String> = list
        .iter()
        .map(|entry| format!("{prefix}{}", quote(&entry.name)))
        .collect();
    move |at: u32| list.get(at as usize).cloned()
}

/// Returns names for a list in one scope.
pub(crate) fn names<'n>(users: impl Iterator<Item = &'n str>, rules: Rules, reserved: &[&str]) -> Vec<String> {
    let mut scope = Scope::new(rules);
    for word in reserved {
        scope.reserve(word);
    }
    users.map(|name| scope.name(name)).collect()
}

/// Prints `[kg]`, or nothing if the unit is unknown or 1.
pub(crate) fn bracketed(unit: &Option<SiUnit>) -> String {
    match unit.as_deref() {
        None | Some("1") => String::new(),
        Some(unit) => format!("[{unit}]"),
    }
}

/// Describes a parameter: `[kg] default 2`, and the formula of a derived one.
pub(crate) fn parameter_remark(parameter: &Parameter) -> String {
    let mut text = bracketed(&parameter.unit);
    if let [rows, columns] = parameter.shape.as_slice() {
        let _ = write!(text, " {rows} by {columns}, row by row;");
    }
    let shown: Vec<String> = parameter
        .entries
        .iter()
        .take(16)
        .map(|entry| shortest(entry.value))
        .collect();
    let _ = write!(text, " default {}", shown.join(", "));
    if parameter.entries.len() > shown.len() {
        text.push_str(", ..");
    }
    let follows: Vec<&str> = parameter
        .entries
        .iter()
        .filter_map(|entry| entry.derived.as_deref())
        .take(4)
        .collect();
    if !follows.is_empty() {
        let _ = write!(text, ", follows: {}", follows.join("; "));
    }
    text.trim().to_string()
}

values! {
    /// The initial values of dependent storage.
    pub(crate) struct Constraints {
        constraint_count: usize,
        constraints_call: String,
    }
}

values! {
    /// The tables of a README about a model.
    pub(crate) struct ReadmeTables {
        description_markdown: String,
        rates_words: &'static str,
        parameter_table: String,
        quantity_table: String,
    }
}

/// Returns the README tables, with the parameter names of the target language.
pub(crate) fn readme_tables(subject: &Subject<'_>, members: &[String]) -> ReadmeTables {
    readme_tables_from(0, subject, members)
}

/// Returns the README tables for a language whose arrays begin at `first`.
pub(crate) fn readme_tables_from(first: usize, subject: &Subject<'_>, members: &[String]) -> ReadmeTables {
    ReadmeTables {
        description_markdown: subject.description.clone(),
        rates_words: match subject.reads_rates {
            true => "reads",
            false => "does not read",
        },
        parameter_table: parameter_table(subject, members),
        quantity_table: quantity_table(first, subject),
    }
}

/// Prints a table with the meaning of every parameter.
pub(crate) fn parameter_table(subject: &Subject<'_>, members: &[String]) -> String {
    if subject.parameters.is_empty() {
        return "The model has none.\n".to_string();
    }
    let mut table = "| member | meaning |\n| --- | --- |\n".to_string();
    for (parameter, member) in subject.parameters.iter().zip(members).take(200) {
        let remark = parameter_remark(parameter).replace('|', "\\|");
        let _ = writeln!(table, "| `{member}` | `{}` {remark} |", parameter.name);
    }
    table
}

fn quantity_table(first: usize, subject: &Subject<'_>) -> String {
    let mut table = "| array | index | name | unit |\n| --- | ---: | --- | --- |\n".to_string();
    for (array, list) in [("x", &subject.states), ("u", &subject.inputs), ("y", &subject.outputs)] {
        for (at, entry) in list.iter().enumerate().take(200) {
            let unit = entry.unit.as_deref().unwrap_or("");
            let _ = writeln!(table, "| `{array}` | {} | `{}` | {unit} |", at + first, entry.name);
        }
        if list.len() > 200 {
            let _ = writeln!(
                table,
                "| `{array}` | .. | and so on up to {} | |",
                list.len() - 1 + first
            );
        }
    }
    table
}
