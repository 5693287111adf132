//! The run of a model in C: the sources of `lgm_runtime` with the model's data.

use super::changes::{ChangeTables, change_functions, change_numbers, change_tables};
use super::common::Common;
use super::dialect::{C, entry_place, string};
use super::engine::{Engine, File};
use super::hooks::{HookArguments, Hooks};
use super::loops::Pattern;
use super::model::{Names, Written};
use super::text::{integers, list};
use crate::code::dialect::Dialect;
use crate::code::events::{Changing, Sampled};
use crate::code::subject::Subject;
use crate::code::template::{Template, template, values};
use lgm_kernels::operation::Space;
use lgm_kernels::{Kernel, Sensitivities};
use std::fmt::Write;

/// The names and tables of the model.
const TABLES: Template<Listed> = template!("lgm_tables.c", "tables.c");

values! {
    struct Listed {
        ..common: Common;
        ?change_tables: ChangeTables;
        column_names: String,
        column_states: String,
        parameter_names: String,
        state_names: String,
        output_names: String,
        loop_names: String,
        parameter_cases: String,
        start_given: String,
        state_kinds: String,
        state_scales: String,
        settled_unknowns: String,
        stored_unknowns: String,
        jumping: String,
        bending: String,
    }
}

/// The inputs from which the sources of a run are written.
pub(super) struct Run<'a> {
    pub(super) subject: &'a Subject<'a>,
    pub(super) c: C<'a>,
    pub(super) names: &'a Names<'a>,
    pub(super) common: &'a Common,
    pub(super) changing: Changing<'a>,
    /// The partial derivatives that an FMU provides.
    pub(super) sensitivities: Option<&'a Sensitivities>,
    /// The path to the model header, relative to the sources of the run.
    pub(super) header: String,
}

impl Run<'_> {
    /// Returns the model's numbers with their macro names, including numbers that the sources also contain as variables.
    pub(super) fn numbers(&self, written: Option<&Written>) -> Vec<(&'static str, usize)> {
        let subject = self.subject;
        let corners = &subject.corners;
        let partials = self.sensitivities.map(|partials| {
            let kernels = [&partials.rates, &partials.outputs, &partials.residuals];
            kernels.iter().map(|kernel| kernel.stored()).max().unwrap_or(0)
        });
        let mut numbers = vec![
            ("LGM_FLOAT", usize::from(self.c.float)),
            ("LGM_DU", usize::from(self.reads_rates())),
            ("LGM_STATES", subject.states.len()),
            ("LGM_INPUTS", subject.inputs.len()),
            ("LGM_OUTPUTS", subject.outputs.len()),
            ("LGM_UNKNOWNS", subject.unknowns()),
            ("LGM_PARAMETERS", subject.entries().count()),
            ("LGM_CONDITIONS", subject.jumping.len()),
            ("LGM_BENDS", subject.bending.len()),
            ("LGM_STATE_COLUMNS", subject.columns.states.len()),
            (
                "LGM_DENSE",
                usize::from(written.is_some_and(|written| written.is_dense)),
            ),
            ("LGM_JACOBIAN_ENTRIES", written.map_or(0, |written| written.entries)),
            ("LGM_BRANCHES", usize::from(subject.has_branches())),
            ("LGM_TOTALS", usize::from(subject.has_totals())),
            ("LGM_MOVES", usize::from(subject.moves)),
            (
                "LGM_SETS_STATES",
                usize::from(subject.sampled.as_ref().is_some_and(Sampled::sets_states)),
            ),
            ("LGM_LINEAR", usize::from(subject.system.equations.linear)),
            ("LGM_JUMPS", usize::from(subject.jumps())),
            ("LGM_JUMP_PARTS", crate::code::subject::JUMP_PARTS as usize),
            ("LGM_BOUNDS_STEPS", usize::from(subject.bounds_steps())),
            ("LGM_INSTANTS", corners.instants().outputs()),
            ("LGM_SWITCHES", corners.switches().outputs()),
            (
                "LGM_PHASES",
                if subject.needs_fastest() {
                    corners.phases().outputs()
                } else {
                    0
                },
            ),
            ("LGM_CROSSINGS", corners.crossings().outputs()),
            ("LGM_CONSTRAINTS", subject.system.starts.constraints.len()),
            ("LGM_PARTIALS", partials.unwrap_or(0)),
            ("LGM_EVENTS", usize::from(self.changing.is_some())),
        ];
        // The event indicators of an FMU.
        let indicators = subject.held.as_ref().map_or(0, |held| held.indicators);
        let ends = usize::from(subject.has_branches());
        numbers.push(("INDICATORS", subject.jumping.len() + ends + indicators));
        match self.changing {
            Some((gathered, _)) => numbers.extend(change_numbers(gathered)),
            None => numbers.extend([("LGM_COMBINATIONS", 1), ("LGM_DISCRETES", subject.discretes.len())]),
        }
        numbers
    }

    /// Returns true if a model function reads time derivatives of inputs.
    fn reads_rates(&self) -> bool {
        let kernels = &self.subject.kernels;
        let own = [&kernels.derivatives, &kernels.outputs, &kernels.residuals];
        let sampled = self.subject.sampled.iter();
        let read = sampled.flat_map(|sampled| sampled.kernels.at_points());
        let modal = self
            .changing
            .iter()
            .flat_map(|changing| [&changing.1.derivatives, &changing.1.outputs]);
        let mut all = own.into_iter().chain(read).chain(modal.flatten().map(|entry| &entry.1));
        all.any(|kernel| kernel.program().needs(Space::Rates) > 0)
    }

    /// Returns the files of the run with the declarations that any model needs, including files of other programs.
    pub(super) fn files(
        &self,
        engine: &Engine<'_>,
        numbers: &[(&'static str, usize)],
        further: &[(&str, &str)],
    ) -> Vec<File> {
        let events = lgm_runtime::C_EVENTS.iter().filter(|_| self.changing.is_some());
        let sources = lgm_runtime::C_SOURCES.iter().chain(events).chain(further);
        let mut files: Vec<File> = sources
            .map(|(name, text)| match *name {
                "lgm_model.h" => (name.to_string(), self.bridge(text, numbers)),
                _ => (name.to_string(), text.to_string()),
            })
            .collect();
        files.push(("lgm_corners.h".to_string(), self.signals()));
        files.push(TABLES.file(&self.tables()));
        if let Some(partials) = self.sensitivities {
            files.push(("lgm_partials.h".to_string(), self.partials(partials)));
        }
        if let Some((gathered, kernels)) = self.changing {
            let text = change_functions(gathered, kernels, &self.c, &self.common.model);
            files.push(("lgm_changes.h".to_string(), text));
        }
        let of_engine = |(name, text): File| (name, engine.source(&text));
        files.into_iter().map(of_engine).collect()
    }

    /// Prints the interface between the model and the sources.
    fn bridge(&self, text: &str, numbers: &[(&'static str, usize)]) -> String {
        let mut out = text.replace("\"MODEL.h\"", &format!("\"{}\"", self.header));
        for (name, value) in numbers {
            if !matches!(
                *name,
                "LGM_STATES" | "LGM_INPUTS" | "LGM_OUTPUTS" | "LGM_UNKNOWNS" | "INDICATORS"
            ) && (*name != "LGM_DISCRETES" || self.changing.is_some())
            {
                let _ = writeln!(out, "#define {name} {value}");
            }
        }
        if !self.common.changing {
            out.push_str("#define LGM_COMBINATIONS 1\n");
        }
        let common = self.common;
        let planned = &common.planned;
        let _ = write!(
            out,
            "\n/* The experiment of the model; without a stop time, the stop is the start. */\n#define LGM_PLAN_START {}\n#define \
             LGM_PLAN_STOP {}\n#define LGM_PLAN_POINTS {}\n#define LGM_PLAN_RTOL {}\n#define LGM_PLAN_ATOL {}\n",
            planned.plan_start, planned.plan_stop, planned.plan_points, planned.plan_rtol, planned.plan_atol
        );
        out + "\n#endif\n"
    }

    /// Prints the default signals of inputs, and the times of their jumps and kinks and of those in the equations.
    fn signals(&self) -> String {
        let subject = self.subject;
        let mut hooks = Hooks::new(&self.c);
        let corners = &subject.corners;
        let has_phases = subject.needs_fastest() && corners.phases().outputs() > 0;
        let has_crossings = !(subject.jumping.is_empty() && subject.bending.is_empty());
        let has = |kernel: &Kernel| kernel.outputs() > 0;
        for (name, given, kernel, is_there) in [
            ("inputs", HookArguments::Time, subject.signals(), true),
            (
                "instants",
                HookArguments::Time,
                corners.instants(),
                has(corners.instants()),
            ),
            (
                "switches",
                HookArguments::Time,
                corners.switches(),
                has(corners.switches()),
            ),
            ("phases", HookArguments::Time, corners.phases(), has_phases),
            ("crossings", HookArguments::Point, corners.crossings(), has_crossings),
        ] {
            if is_there {
                hooks.add(name, given, kernel.program());
            }
        }
        let [helpers, programs, hooks] = hooks.finish(true);
        format!(
            "/* The signals of {}. */\n#include <math.h>\n\n{helpers}{programs}{hooks}",
            self.common.model
        )
    }

    /// Prints the partial derivatives with respect to all arguments.
    fn partials(&self, partials: &Sensitivities) -> String {
        let mut hooks = Hooks::new(&self.c);
        let mut tables = String::new();
        for (name, kernel) in [
            ("rates", &partials.rates),
            ("outputs", &partials.outputs),
            ("residuals", &partials.residuals),
        ] {
            // Without loops the residuals are unused.
            if kernel.rows > 0 || name != "residuals" {
                let own = match name {
                    "rates" => "rates_partials",
                    "outputs" => "outputs_partials",
                    _ => "residuals_partials",
                };
                hooks.add(own, HookArguments::Point, kernel.values.program());
                tables.push_str(&Pattern::of(kernel).tables(name));
            }
        }
        let [helpers, programs, hooks] = hooks.finish(true);
        format!(
            "/* The partial derivatives of {}. */\n{helpers}{programs}{hooks}{tables}",
            self.common.model
        )
    }

    fn tables(&self) -> Listed {
        let (subject, c) = (self.subject, &self.c);
        let columns = subject.columns.table();
        let lines = |list: &mut dyn Iterator<Item = &str>| -> String {
            let lines: Vec<String> = list.map(|name| format!("    {}", string(name))).collect();
            lines.join(",\n")
        };
        let fields: Vec<String> = columns
            .iter()
            .map(|column| crate::rows::csv_field(&column.name))
            .collect();
        let states: Vec<usize> = subject.columns.states.iter().map(|entry| entry.0).collect();
        let mut cases = String::new();
        for (parameter, member) in subject.parameters.iter().zip(&self.names.members) {
            for at in 0..parameter.entries.len() {
                let place = entry_place(parameter, member, at);
                let _ = writeln!(
                    cases,
                    "    case {}:\n        return &parameters->{place};",
                    parameter.first + at
                );
            }
        }
        if cases.is_empty() {
            cases.push_str("    case -1:\n        return &parameters->none;\n");
        }
        // C has no empty arrays.
        let names = |list: &mut dyn Iterator<Item = &str>| match lines(list) {
            none if none.is_empty() => "    \"\"".to_string(),
            some => some,
        };
        let flags =
            |flags: &mut dyn Iterator<Item = bool>| list(flags.map(|flag| u8::from(flag).to_string()), "0".into());
        // Single precision covers fewer powers of ten.
        let least = if c.float { 1e-18 } else { 0.0 };
        let scales = subject.scales().iter();
        let scales = scales.map(|scale| c.literal(if *scale < 0.0 { *scale } else { scale.max(least) }));
        Listed {
            change_tables: self.changing.map(|changing| change_tables(changing.0, c)),
            start_given: flags(&mut subject.system.states.iter().map(|state| state.start_given)),
            state_kinds: integers(&subject.system.kinds()),
            state_scales: list(scales, c.literal(1.0)),
            settled_unknowns: flags(&mut subject.settled_unknowns()),
            stored_unknowns: flags(&mut subject.stored_unknowns()),
            jumping: integers(&subject.jumping),
            bending: integers(&subject.bending),
            column_names: lines(&mut fields.iter().map(String::as_str)),
            column_states: integers(&states),
            parameter_names: names(&mut subject.entries().map(|entry| entry.name.as_str())),
            state_names: names(&mut subject.states.iter().map(|state| state.name.as_str())),
            output_names: names(&mut subject.outputs.iter().map(|output| output.name.as_str())),
            loop_names: names(&mut subject.loop_elements()),
            parameter_cases: cases,
            common: self.common.clone(),
        }
    }
}
