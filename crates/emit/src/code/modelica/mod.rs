//! A single flat model in Modelica that keeps the user's names.

mod dialect;

use super::Package;
use super::dialect::Tables;
use super::names::{Scope, legal, one_line, quoted};
use super::planned::{Planned, planned};
use super::program::parts;
use super::subject::{Named, Parameter, Subject, parameter_table};
use super::template::{Template, template, values};
use dialect::{Names, RULES, literal};
use lgm_algebra::expr::{ExprId, Gradient};
use lgm_kernels::operation::Space;
use lgm_kernels::program::{Index, Instruction, Loop, Program, Store};
use lgm_kernels::{Kernel, KernelOptions, Layout, expression};
use lgm_model::SiUnit;
use lgm_model::system::StateSystem;
use std::fmt::Write;

const MODEL: Template<Model> = template!("@name@.mo", "model.mo");

const README: Template<Readme> = template!("README.md", "README.md");

values! {
    /// Values shared by all templates.
    struct Common {
        name: String,
        model: String,
        description_markdown: String,
    }
}

values! {
    struct Model {
        ..common: Common;
        ..planned: Planned;
        origin: String,
        description: String,
        parameter_lines: String,
        variable_lines: String,
        protected_lines: String,
        initial_lines: String,
        equation_lines: String,
        interval: String,
    }
}

values! {
    struct Readme {
        ..common: Common;
        origin_markdown: String,
        parameter_table: String,
        variable_table: String,
        modification: String,
        remark: String,
    }
}

/// The names of all quantities.
struct Book {
    /// One name per parameter.
    members: Vec<String>,
    /// One name per parameter entry: `K[1, 2]`.
    entries: Vec<String>,
    inputs: Vec<String>,
    rates: Vec<String>,
    outputs: Vec<String>,
    states: Vec<String>,
    unknowns: Vec<String>,
    /// The prefix of intermediate values; user names never have this prefix.
    within: String,
}

/// The lines of the model, by section.
#[derive(Default)]
struct Sections {
    parameters: String,
    variables: String,
    /// Intermediate values.
    protected: String,
    initial: String,
    equations: String,
    count: usize,
}

/// Returns all files of the package.
pub(super) fn package(subject: &Subject<'_>) -> Package {
    let system = subject.system;
    let name = legal(&system.model, RULES);
    let book = Book::new(subject, &name);
    let mut sections = Sections::default();
    parameters(subject, &book, &mut sections);
    let remark = variables(subject, &book, &mut sections);
    let (start, stop, points) = subject.plan();
    let interval = stop.map_or(0.0, |stop| (stop - start) / (points - 1) as f64);
    let description = match subject.description.as_str() {
        "" => "State equations",
        text => text,
    };
    let with_signal = system
        .inputs
        .iter()
        .zip(book.inputs.iter().zip(&book.rates))
        .find(|entry| entry.0.signal.is_some());
    let modification = with_signal.map(|(_, (input, rate))| match subject.reads_rates {
        true => format!(" together with their rates, such as `{name}({input}=sin(time), {rate}=cos(time))`"),
        false => format!(", such as `{name}({input}=sin(time))`"),
    });
    let common = Common {
        name,
        model: one_line(&system.model),
        description_markdown: subject.description.clone(),
    };
    let model = Model {
        common: common.clone(),
        planned: planned(subject, literal, "0.0"),
        origin: one_line(&subject.origin.sentence()),
        description: string(description),
        parameter_lines: sections.parameters,
        variable_lines: sections.variables,
        protected_lines: sections.protected,
        initial_lines: sections.initial,
        equation_lines: sections.equations,
        interval: literal(interval),
    };
    let readme = Readme {
        common,
        origin_markdown: subject.origin.sentence(),
        parameter_table: parameter_table(subject, &book.members),
        variable_table: variable_table(subject, &book),
        modification: modification.unwrap_or_default(),
        remark,
    };
    let mut package = Package::default();
    package.add(MODEL.path(&model), MODEL.text(&model));
    package.add(README.path(&readme), README.text(&readme));
    package
        .remarks
        .extend((!readme.remark.is_empty()).then_some(readme.remark));
    package
}

/// Prints a Modelica string.
fn string(text: &str) -> String {
    quoted(text, &['\\', '"'])
}

impl Book {
    fn new(subject: &Subject<'_>, model: &str) -> Book {
        let mut scope = Scope::new(RULES);
        scope.reserve(model);
        let mut list =
            |names: &mut dyn Iterator<Item = &str>| -> Vec<String> { names.map(|name| scope.name(name)).collect() };
        let of = |named: &[Named]| -> Vec<String> { named.iter().map(|entry| entry.name.clone()).collect() };
        let members = list(&mut subject.parameters.iter().map(|parameter| parameter.name.as_str()));
        let inputs = list(&mut of(&subject.inputs).iter().map(String::as_str));
        let outputs = list(&mut of(&subject.outputs).iter().map(String::as_str));
        let states = list(&mut of(&subject.states).iter().map(String::as_str));
        let system = subject.system;
        let symbols = system.equations.loops.iter().flat_map(|entry| &entry.unknowns);
        let symbols: Vec<String> = symbols
            .map(|symbol| system.exprs.symbol_info(*symbol).name.to_string())
            .collect();
        let unknowns = list(&mut symbols.iter().map(String::as_str));
        let rate_names: Vec<String> = subject
            .inputs
            .iter()
            .map(|input| format!("der_{}", input.name))
            .collect();
        let rates = list(&mut rate_names.iter().map(String::as_str));
        let mut within = "aux".to_string();
        let all = [&members, &inputs, &outputs, &states, &unknowns, &rates];
        while all
            .iter()
            .any(|names| names.iter().any(|name| name.starts_with(&within)))
        {
            within.push('x');
        }
        let entries = subject.parameters.iter().zip(&members);
        let entries =
            entries.flat_map(|(parameter, member)| (0..parameter.entries.len()).map(|at| place(parameter, member, at)));
        Book {
            entries: entries.collect(),
            members,
            inputs,
            rates,
            outputs,
            states,
            unknowns,
            within,
        }
    }
}

/// Prints the access to a parameter entry.
fn place(parameter: &Parameter, member: &str, at: usize) -> String {
    match parameter.shape.as_slice() {
        [] => member.to_string(),
        [_, columns] => format!("{member}[{}, {}]", at / columns + 1, at % columns + 1),
        _ => format!("{member}[{}]", at + 1),
    }
}

/// Returns a program without loops: every lane is written out.
fn written_out(program: &Program) -> Program {
    let mut loops = Vec::new();
    for entry in &program.loops {
        for lane in 0..entry.count {
            let fixed = |index: Index| Index::fixed(index.of_lane(lane, &program.indices));
            let body = entry.body.iter().map(|instruction| match *instruction {
                Instruction::Load(Space::Numbers, index) => {
                    Instruction::Number(program.numbers[index.of_lane(lane, &program.indices) as usize])
                }
                Instruction::Load(space, index) => Instruction::Load(space, fixed(index)),
                other => other,
            });
            let stores = entry.stores.iter().map(|store| Store {
                index: fixed(store.index),
                ..*store
            });
            loops.push(Loop {
                count: 1,
                body: body.collect(),
                stores: stores.collect(),
            });
        }
    }
    Program {
        loops,
        ..program.clone()
    }
}

impl Sections {
    /// Adds the computations of a program: declares intermediate values, and returns the results.
    fn values(&mut self, book: &Book, kernel: &Kernel, kind: &str) -> Vec<String> {
        self.count += 1;
        let prefix = format!("{}{}", book.within, self.count);
        let names = Names {
            parameters: &book.entries,
            states: &book.states,
            inputs: &book.inputs,
            rates: &book.rates,
            unknowns: &book.unknowns,
            prefix: &prefix,
            kind,
        };
        let no_tables = Tables {
            numbers: String::new(),
            indices: String::new(),
        };
        let mut values = vec![String::new(); kernel.outputs()];
        for part in parts(&written_out(kernel.program()), &names, &no_tables, &|_| None) {
            for line in part.lines {
                match line.result {
                    Some(at) => values[at as usize] = line.text,
                    None => {
                        let _ = writeln!(self.protected, "  {}", line.text);
                    }
                }
            }
        }
        values
    }
}

/// Prints a unit in Modelica notation: `unit="N.m/rad"`.
fn unit(unit: &Option<SiUnit>) -> Option<String> {
    let unit = unit.as_deref().filter(|unit| !unit.contains("^("))?;
    let factors = unit.replace('^', "");
    // Only a whole factor is the unit of resistance.
    let is_word = |letter: char| letter.is_ascii_alphabetic();
    let mut text = String::new();
    let mut rest = factors.as_str();
    while let Some(first) = rest.find(is_word) {
        let end = rest[first..]
            .find(|letter| !is_word(letter))
            .map_or(rest.len(), |end| first + end);
        text.push_str(&rest[..first]);
        text.push_str(match &rest[first..end] {
            "ohm" => "Ohm",
            other => other,
        });
        rest = &rest[end..];
    }
    text.push_str(rest);
    Some(format!("unit={}", string(&text)))
}

/// Prints `(a, b)`, or nothing.
fn attributes(list: &[Option<String>]) -> String {
    let list: Vec<&str> = list.iter().flatten().map(String::as_str).collect();
    match list.as_slice() {
        [] => String::new(),
        list => format!("({})", list.join(", ")),
    }
}

/// Prints the entries by the shape of the parameter: `{1, 2}` or `{{1, 2}, {3, 4}}`.
fn shaped(parameter: &Parameter, entries: &[String]) -> String {
    match parameter.shape.as_slice() {
        [] => entries[0].clone(),
        [_, columns] => {
            let rows = entries
                .chunks((*columns).max(1))
                .map(|row| format!("{{{}}}", row.join(", ")));
            format!("{{{}}}", rows.collect::<Vec<_>>().join(", "))
        }
        _ => format!("{{{}}}", entries.join(", ")),
    }
}

fn parameters(subject: &Subject<'_>, book: &Book, sections: &mut Sections) {
    let mut entries: Vec<String> = subject.entries().map(|entry| literal(entry.value)).collect();
    for (position, kernel) in subject.kernels.derived() {
        entries[*position] = sections.values(book, kernel, "final parameter Real").remove(0);
    }
    for (parameter, member) in subject.parameters.iter().zip(&book.members) {
        let count = parameter.entries.len();
        let sizes: Vec<String> = parameter.shape.iter().map(usize::to_string).collect();
        let (sizes, each) = match sizes.as_slice() {
            [] => (String::new(), ""),
            list => (format!("[{}]", list.join(", ")), "each "),
        };
        let own = attributes(&[unit(&parameter.unit).map(|unit| format!("{each}{unit}"))]);
        let value = shaped(parameter, &entries[parameter.first..parameter.first + count]);
        let _ = writeln!(
            sections.parameters,
            "  parameter Real {member}{sizes}{own} = {value} {};",
            string(&parameter.name)
        );
    }
}

/// The system without input derivatives in its rates, and the contribution of each input to each state.
struct Shifted {
    derivatives: Kernel,
    /// State, input and factor.
    factors: Vec<(usize, usize)>,
    values: Kernel,
}

/// Replaces the states of linear equations by z in `x = z + E u`: z does not change when an input jumps.
fn shifted(system: &StateSystem) -> Shifted {
    let options = KernelOptions { native: false };
    let layout = Layout::new(system);
    let mut exprs = system.exprs.clone();
    let mut gradient = Gradient::new(&mut exprs, &system.input_rates);
    let known = "invariant: `int` and `der` are gone from the equations";
    for assignment in &system.equations.assignments {
        gradient
            .define(&mut exprs, assignment.symbol, assignment.value)
            .expect(known);
    }
    let (mut factors, mut roots) = (Vec::new(), Vec::new());
    for (state, derivative) in system.equations.derivatives.iter().enumerate() {
        let row = gradient.row(&mut exprs, *derivative).expect(known);
        for (input, factor) in row.iter() {
            factors.push((state, *input as usize));
            roots.push(*factor);
        }
    }
    let values = expression(&exprs, &roots, &layout, &options);
    let mut still = system.clone();
    let zero = still.exprs.zero();
    let replacement = |symbol| system.input_rates.contains(&symbol).then_some(zero);
    let roots: Vec<ExprId> = still
        .equations
        .assignments
        .iter()
        .map(|assignment| assignment.value)
        .collect();
    let now = still.exprs.substitute(&roots, replacement);
    for (assignment, value) in still.equations.assignments.iter_mut().zip(now) {
        assignment.value = value;
    }
    let roots = still.equations.derivatives.clone();
    let derivatives = still.exprs.substitute(&roots, replacement);
    Shifted {
        derivatives: expression(&still.exprs, &derivatives, &Layout::new(&still), &options),
        factors,
        values,
    }
}

/// Prints inputs, outputs, states and unknowns with their equations; returns remarks for the user.
fn variables(subject: &Subject<'_>, book: &Book, sections: &mut Sections) -> String {
    let system = subject.system;
    let kernels = &subject.kernels;
    let signals = sections.values(book, &kernels.inputs, "Real");
    for (at, (input, name)) in subject.inputs.iter().zip(&book.inputs).enumerate() {
        let own = attributes(&[unit(&input.unit)]);
        let quoted = string(&input.name);
        let has_signal = system.inputs[at].signal.is_some();
        let line = match has_signal {
            true => format!("  Real {name}{own} = {} {quoted};\n", signals[at]),
            false => format!("  input Real {name}{own} {quoted};\n"),
        };
        sections.variables.push_str(&line);
        if subject.reads_rates {
            let rate = match has_signal {
                true => signals[subject.inputs.len() + at].clone(),
                false => format!("der({name})"),
            };
            let replaced = if has_signal {
                "; replace it together with the input"
            } else {
                ""
            };
            let quoted = string(&format!("der({}){replaced}", input.name));
            let _ = writeln!(sections.variables, "  Real {} = {rate} {quoted};", book.rates[at]);
        }
    }
    let starts = sections.values(book, &kernels.starts, "final parameter Real");
    let shift = (subject.moves && system.equations.linear && subject.unknowns() == 0).then(|| shifted(system));
    let mut lefts: Vec<String> = book.states.iter().map(|state| format!("der({state})")).collect();
    let mut held: Vec<Vec<String>> = vec![Vec::new(); book.states.len()];
    if let Some(shift) = &shift {
        let factors = sections.values(book, &shift.values, "final parameter Real");
        for ((state, input), factor) in shift.factors.iter().zip(factors) {
            held[*state].push(format!("({factor})*{}", book.inputs[*input]));
        }
    }
    for (at, (state, name)) in subject.states.iter().zip(&book.states).enumerate() {
        let quoted = string(&state.name);
        if held[at].is_empty() {
            let own = attributes(&[
                Some(format!("start={}", starts[at])),
                Some("fixed=true".to_string()),
                unit(&state.unit),
            ]);
            let _ = writeln!(sections.variables, "  Real {name}{own} {quoted};");
            continue;
        }
        let own = attributes(&[unit(&state.unit)]);
        let still = format!("{}z{}", book.within, at + 1);
        let quoted_still = string(&format!("{} without its direct input terms", state.name));
        let _ = writeln!(
            sections.variables,
            "  Real {name}{own} {quoted};\n  Real {still}{own} {quoted_still};"
        );
        let _ = writeln!(sections.equations, "  {name} = {still} + {};", held[at].join(" + "));
        // A given initial value holds after the first input jump; all other initial values hold before it.
        let started = if system.states[at].start_given { name } else { &still };
        let _ = writeln!(sections.initial, "  {started} = {};", starts[at]);
        lefts[at] = format!("der({still})");
    }
    let guesses = system.first_unknowns(0.0);
    for (name, guess) in book.unknowns.iter().zip(&guesses) {
        let _ = writeln!(
            sections.variables,
            "  Real {name}(start={}) \"unknown of an algebraic loop\";",
            literal(*guess)
        );
    }
    for (output, name) in subject.outputs.iter().zip(&book.outputs) {
        let own = attributes(&[unit(&output.unit)]);
        let _ = writeln!(
            sections.variables,
            "  output Real {name}{own} {};",
            string(&output.name)
        );
    }
    let zeros = vec!["0".to_string(); book.unknowns.len()];
    let derivatives = shift.as_ref().map_or(&kernels.derivatives, |shift| &shift.derivatives);
    for (kernel, lefts) in [
        (&kernels.residuals, &zeros),
        (derivatives, &lefts),
        (&kernels.outputs, &book.outputs),
    ] {
        for (left, value) in lefts.iter().zip(sections.values(book, kernel, "Real")) {
            let _ = writeln!(sections.equations, "  {left} = {value};");
        }
    }
    match subject.moves && shift.is_none() {
        true => "The Modelica text omits the jumps of states at input steps, because the equations are nonlinear."
            .to_string(),
        false => String::new(),
    }
}

/// Prints a table with the meaning of every variable.
fn variable_table(subject: &Subject<'_>, book: &Book) -> String {
    let mut table = "| variable | name | unit |\n| --- | --- | --- |\n".to_string();
    for (kind, list, names) in [
        ("state", &subject.states, &book.states),
        ("input", &subject.inputs, &book.inputs),
        ("output", &subject.outputs, &book.outputs),
    ] {
        for (entry, name) in list.iter().zip(names).take(200) {
            let unit = entry.unit.as_deref().unwrap_or("");
            let _ = writeln!(table, "| `{name}` | {kind} `{}` | {unit} |", entry.name);
        }
    }
    let rates = book.rates.iter().take(if subject.reads_rates { 200 } else { 0 });
    for (rate, input) in rates.zip(&subject.inputs) {
        let unit = input.unit.as_ref().map_or(String::new(), |unit| format!("{unit}/s"));
        let _ = writeln!(table, "| `{rate}` | rate of `{}` | {unit} |", input.name);
    }
    table
}
