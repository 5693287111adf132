//! What is emitted: a system with its compiled functions, under names that every target makes its own of.

use super::functions::wrapped;
use super::names::{Rules, Scope};
use super::template::values;
use super::trials::{TrialRuns, UNKNOWN_SPAN};
use crate::rows::Columns;
use crate::shortest;
use lgm_algebra::expr::{ExprId, print, to_f64};
use lgm_kernels::operation::Space;
use lgm_kernels::program::Program;
use lgm_kernels::{Corners, Jacobians, Kernel, KernelOptions, Kernels, Layout, SparseKernel, expression};
use lgm_model::SiUnit;
use lgm_model::system::StateSystem;
use lgm_runtime::loops::OVER_BENDS;
use std::fmt::Write;
use std::ops::Range;
use std::sync::OnceLock;

/// Where the emitted code comes from: said in the head of every file.
#[derive(Clone, Debug)]
pub struct Origin {
    /// The name of the file that holds the model, without its folder.
    pub file: String,
    /// The version of this program.
    pub version: &'static str,
    /// A hash of all texts that the model was made of.
    pub hash: String,
}

impl Origin {
    /// One sentence for the head of a file.
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
    /// What it follows from, in the language's syntax.
    pub(crate) derived: Option<String>,
}

/// One parameter.
pub(crate) struct Parameter {
    pub(crate) name: String,
    pub(crate) unit: Option<SiUnit>,
    pub(crate) shape: Vec<usize>,
    pub(crate) entries: Vec<ParameterEntry>,
    /// Where its first entry is among all.
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
    /// The model's own comment in one line; empty where it has none.
    pub(crate) description: String,
    pub(crate) kernels: Kernels,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) states: Vec<Named>,
    pub(crate) inputs: Vec<Named>,
    pub(crate) outputs: Vec<Named>,
    pub(crate) columns: Columns,
    /// Corners of the default signals and of the equations.
    pub(crate) corners: Corners,
    /// Conditions on states at which right sides jump, by their places among the crossings.
    pub(crate) jumping: Vec<usize>,
    /// Those at which they bend.
    pub(crate) bending: Vec<usize>,
    /// Of what size the states are, once that was asked for.
    scales: OnceLock<Vec<f64>>,
    /// Of what size they are in a short run.
    trial: OnceLock<Vec<f64>>,
    /// Given and following starts of dependent storage, in pairs; none where there are none.
    pub(crate) constraints: Option<Kernel>,
    /// Whether the right sides of states depend on rates of inputs, through loops too: steps move states then.
    pub(crate) moves: bool,
    /// Whether right sides or outputs do.
    pub(crate) reads_rates: bool,
    /// Of a model with events, what it holds between them.
    pub(crate) held: Option<HeldBetween>,
}

/// The most parts of the way of a jump, as `lgm simulate` has them.
pub(crate) const JUMP_PARTS: u64 = lgm_runtime::jump::PARTS as u64;

/// The results of a model with events beside the equations of its first combination of modes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Further {
    /// Right sides and margins of conditions, and outputs.
    pub(crate) roots: Vec<ExprId>,
    pub(crate) shown: Vec<ExprId>,
    /// The number of states that have a column.
    pub(crate) columns: Option<usize>,
    /// Of a model with events, what it holds between them.
    pub(crate) held: Option<HeldBetween>,
}

/// The values that a model with events holds between them.
#[derive(Clone, Debug, Default)]
pub(crate) struct HeldBetween {
    /// The number of combinations of modes.
    pub(crate) combinations: usize,
    /// The inputs of discrete variables, and of offsets.
    pub(crate) discretes: Vec<usize>,
    pub(crate) offsets: Range<usize>,
    /// The number of elements with modes and of blocks, each with an indicator.
    pub(crate) indicators: usize,
}

impl<'a> Subject<'a> {
    pub(crate) fn new(system: &'a StateSystem, origin: &'a Origin, trials: &'a dyn TrialRuns) -> Subject<'a> {
        Subject::with(system, origin, &Further::default(), trials)
    }

    /// The same of a model with events.
    pub(crate) fn with(
        system: &'a StateSystem,
        origin: &'a Origin,
        further: &Further,
        trials: &'a dyn TrialRuns,
    ) -> Subject<'a> {
        let interpreted = KernelOptions { native: false };
        let kernels = Kernels::new(system, &interpreted);
        let layout = Layout::new(system);
        let mut roots: Vec<ExprId> = system.equations.derivatives.clone();
        roots.extend(system.equations.loops.iter().flat_map(|entry| &entry.residuals));
        roots.extend(system.inputs.iter().filter_map(|input| input.signal));
        roots.extend(&further.roots);
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
            inputs: named(system.inputs.iter().map(|input| (&*input.name, &input.unit))),
            outputs: named(system.outputs.iter().map(|output| (&*output.name, &output.unit))),
            columns,
            held: further.held.clone(),
            constraints: match pairs.is_empty() {
                true => None,
                false => Some(expression(&system.exprs, &pairs, &layout, &interpreted)),
            },
            reads_rates: moves || reads(&kernels.residuals) || reads(&kernels.outputs),
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

    /// Whether steps of inputs move states by what depends on the point.
    pub(crate) fn jumps(&self) -> bool {
        self.moves && !self.system.equations.linear
    }

    /// Numbers of which states of one unit have the same.
    pub(crate) fn kinds(&self) -> Vec<usize> {
        let mut units = Vec::new();
        let kinds = self.states.iter().map(|state| {
            let known = units.iter().position(|unit| *unit == &state.unit);
            known.unwrap_or_else(|| {
                units.push(&state.unit);
                units.len() - 1
            })
        });
        kinds.collect()
    }

    /// Whether steps of a solver are bounded by what oscillates with time ([`lgm_kernels::longest_step`]).
    pub(crate) fn bounds_steps(&self) -> bool {
        (!self.system.equations.linear || self.held.is_some()) && self.corners.phases().outputs() > 0
    }

    /// Whether the fastest oscillation of time is asked for: by the bound on steps, or by what looks for corners between samples.
    pub(crate) fn needs_fastest(&self) -> bool {
        self.bounds_steps() || (self.corners.switches().outputs() > 0 && self.corners.phases().outputs() > 0)
    }

    /// The element whose algebraic loop each unknown belongs to; the unknown itself if it is no single element's.
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

    /// The elements of the algebraic loops, each of them once, as a sentence names them.
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

    /// All entries of all parameters.
    pub(crate) fn entries(&self) -> impl Iterator<Item = &ParameterEntry> {
        self.parameters.iter().flat_map(|parameter| &parameter.entries)
    }

    /// Unknowns of all loops.
    pub(crate) fn unknowns(&self) -> usize {
        self.kernels.residuals.outputs()
    }

    /// Which unknowns of all loops leave no choice between solutions: those of linear loops, and the displacements of closed chains,
    /// which have first values and go on from there.
    pub(crate) fn settled_unknowns(&self) -> impl Iterator<Item = bool> {
        let loops = self.system.equations.loops.iter();
        loops.flat_map(|each| each.unknowns.iter().map(|_| each.linear || !each.guesses.is_empty()))
    }

    /// The number of times that an iteration on the loops may go aside where they have no slopes, as turbulent laws at rest. Closed chains
    /// stay where they are.
    pub(crate) fn asides(&self) -> usize {
        match self.system.equations.loops.iter().any(|each| !each.guesses.is_empty()) {
            true => 0,
            false => OVER_BENDS,
        }
    }

    /// Whether loops may have several solutions, of which a run follows one as far as it goes.
    pub(crate) fn has_branches(&self) -> bool {
        self.settled_unknowns().any(|is_settled| !is_settled)
    }

    /// For each unknown of all loops, true if it gives a stored quantity: such unknowns do not jump.
    pub(crate) fn stored_unknowns(&self) -> impl Iterator<Item = bool> {
        let loops = self.system.equations.loops.iter();
        loops.flat_map(|each| (0..each.unknowns.len()).map(|at| each.rated.get(at) == Some(&true)))
    }

    /// Returns true if a state is a conserved quantity, so that the stored quantities may have several solutions.
    pub(crate) fn has_totals(&self) -> bool {
        self.has_branches() && self.system.states.iter().any(|state| state.is_total())
    }

    /// Where the unknowns of all loops are looked for at first, one list after another.
    pub(crate) fn guesses(&self) -> [Vec<f64>; 5] {
        [0.0, 1.0, -1.0, 1e-3, 1e3].map(|guess| self.system.first_unknowns(guess))
    }

    /// When a run starts and stops and how many rows it has, as far as the model says so.
    pub(crate) fn plan(&self) -> (f64, Option<f64>, usize) {
        let asked = &self.system.experiment;
        (asked.start.unwrap_or(0.0), asked.stop, asked.rows() as usize)
    }

    /// Relative and absolute tolerance; no absolute one where that follows the scale of each state.
    pub(crate) fn tolerances(&self) -> (f64, Option<f64>) {
        let asked = &self.system.experiment;
        (asked.rtol.unwrap_or(1e-6), asked.atol)
    }

    /// The scales that the states begin with, found with the parameters and over the time of the model; a negative one stays.
    pub(crate) fn scales(&self) -> &[f64] {
        self.scales
            .get_or_init(|| self.trials.scales(self.system, &self.kernels))
    }

    /// The sizes of the states that a short run with the same parameters over the same time shows; 0 where it shows none.
    pub(crate) fn trial_sizes(&self) -> &[f64] {
        self.trial.get_or_init(|| self.trials.sizes(self.system, &self.kernels))
    }

    /// The most working memory that any of these programs needs.
    pub(crate) fn scratch(programs: &[&Program]) -> usize {
        programs.iter().map(|program| program.temporaries).max().unwrap_or(0)
    }

    /// The partial derivatives.
    pub(crate) fn jacobians(&self) -> &Jacobians {
        self.kernels.jacobians(self.system)
    }

    /// The matrix of the loops, and those that derivatives through loops are made of: directly, by unknowns, and residuals by
    /// states.
    pub(crate) fn matrices(&self) -> [&SparseKernel; 4] {
        let jacobians = self.jacobians();
        [
            &jacobians.residuals_by_unknowns,
            &jacobians.rates_by_states,
            &jacobians.rates_by_unknowns,
            &jacobians.residuals_by_states,
        ]
    }

    /// The pattern of the derivatives by the states, loops resolved: row starts and columns.
    pub(crate) fn jacobian_pattern(&self) -> (Vec<usize>, Vec<usize>) {
        let jacobians = self.jacobians();
        let direct = &jacobians.rates_by_states;
        if self.unknowns() == 0 {
            return (direct.row_starts.clone(), direct.columns_of.clone());
        }
        // Every unknown may depend on every state that any residual reads.
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

/// What emitted code ends its steps at. It has no bounds of its functions of time, and begins anew where these say that a step may
/// leap over something: with the parameters and over the time of the model.
fn corners_with_looks(
    system: &StateSystem,
    kernels: &Kernels,
    roots: (&[ExprId], &[ExprId]),
    layout: &Layout,
) -> Corners {
    let corners = Corners::with_shown(&system.exprs, roots, layout, &[]);
    let start = system.experiment.start.unwrap_or(0.0);
    let stop = system.experiment.stop.unwrap_or(start + UNKNOWN_SPAN);
    let looks = corners.looks(&kernels.parameters(&[]), start, stop);
    match looks.is_empty() {
        true => corners,
        false => Corners::with_shown(&system.exprs, roots, layout, &looks),
    }
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

/// Remarks on the results of a program, one a name of the list, in the way that `quote` makes a name harmless.
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

/// Lists of first guesses in brackets, each number written by `literal`.
pub(crate) fn bracketed_guesses(subject: &Subject<'_>, literal: impl Fn(f64) -> String) -> String {
    let lists = subject.guesses().map(|list| {
        let list: Vec<String> = list.iter().map(|value| literal(*value)).collect();
        format!("[{}]", wrapped(&list))
    });
    lists.join(", ")
}

/// Names for a list in one scope.
pub(crate) fn names<'n>(users: impl Iterator<Item = &'n str>, rules: Rules, reserved: &[&str]) -> Vec<String> {
    let mut scope = Scope::new(rules);
    for word in reserved {
        scope.reserve(word);
    }
    users.map(|name| scope.name(name)).collect()
}

/// `[kg]`, or nothing where the unit is unknown.
pub(crate) fn bracketed(unit: &Option<SiUnit>) -> String {
    unit.as_ref().map_or_else(String::new, |unit| format!("[{unit}]"))
}

/// `[kg] default 2`, and what a derived one follows from.
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
    /// The starts of dependent storage.
    pub(crate) struct Constraints {
        constraint_count: usize,
        constraints_call: String,
    }
}

values! {
    /// What READMEs say about a model.
    pub(crate) struct ReadmeTables {
        description_markdown: String,
        rates_words: &'static str,
        parameter_table: String,
        quantity_table: String,
    }
}

/// Tables of the README, with the names that parameters have in the target's language.
pub(crate) fn readme_tables(subject: &Subject<'_>, members: &[String]) -> ReadmeTables {
    readme_tables_from(0, subject, members)
}

/// The same where arrays begin at `first`.
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

/// What every member stands for.
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
