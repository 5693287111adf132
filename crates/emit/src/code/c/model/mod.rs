//! The model in C: one header and one source, which depend only on each other and the mathematics library.

mod arrays;
mod blocks;
mod facts;
mod named;
mod names;
mod parts;
mod step;

pub(super) use facts::Model;
pub(super) use names::Names;

use super::loops::Pattern;
use super::text::{comment, indices, list, wrapped_comment};
use crate::code::dialect::Dialect;
use crate::code::subject::parameter_remark;
use facts::{Bodies, POINT};
use std::fmt::Write;

/// The header, the source, and the properties of the Jacobian that other files use.
pub(super) struct Written {
    pub(super) header: String,
    pub(super) source: String,
    /// True if the Jacobian is a matrix.
    pub(super) is_dense: bool,
    /// The number of entries of the Jacobian.
    pub(super) entries: usize,
    /// True if fixed steps are exact.
    pub(super) is_exact: bool,
}

impl Model<'_> {
    /// Writes both files.
    pub(super) fn write(&self) -> Written {
        let bodies = match &self.names.formulas {
            Some(formulas) => named::bodies(self, &mut formulas.borrow_mut()),
            None => arrays::bodies(self),
        };
        let is_dense = self.is_dense();
        Written {
            header: self.header(&bodies),
            source: self.source(&bodies),
            entries: bodies.pattern.as_ref().map_or(0, |pattern| pattern.columns.len()),
            is_dense,
            is_exact: self.step.is_some() && self.is_exact(),
        }
    }

    fn header(&self, bodies: &Bodies) -> String {
        let name = &self.common.name;
        let subject = self.subject;
        let mut out = wrapped_comment(&[
            &self.common.title,
            &self.common.origin,
            "All quantities are in SI units. No function allocates memory or keeps state of its own, and no two arguments of a \
             call overlap.",
        ]);
        out.push_str("#ifndef LGM_H\n#define LGM_H\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
        let [states, inputs, outputs] = [&subject.states, &subject.inputs, &subject.outputs].map(|list| list.len());
        let discretes = match subject.discretes.len() {
            0 => String::new(),
            count => format!(", LGM_DISCRETES = {count}"),
        };
        let _ = writeln!(
            out,
            "enum {{ LGM_STATES = {states}, LGM_INPUTS = {inputs}, LGM_OUTPUTS = {outputs}{discretes} }};"
        );
        if self.has_loops() {
            let _ = write!(
                out,
                "\n/* Unknowns of algebraic loops. */\nenum {{ LGM_UNKNOWNS = {} }};\n",
                subject.unknowns()
            );
        }
        for (title, letter, users) in [
            ("States in x, and their time derivatives in dx.", "x", &subject.states),
            (
                match self.common.changing {
                    true => {
                        "Inputs in u. Offsets are added to the variables that modes impose; outside events they are 0."
                    }
                    false => "Inputs in u.",
                },
                "u",
                &subject.inputs,
            ),
            ("Outputs in y.", "y", &subject.outputs),
            (
                "Discrete variables, which the blocks of the model assign.",
                "d",
                &subject.discretes,
            ),
        ] {
            if !users.is_empty() {
                let _ = write!(out, "\n/* {title} */\n{}\n", indices(name, letter, users));
            }
        }
        out.push_str(&self.parameter_struct());
        out.push_str(&self.model_struct(bodies));
        out.push_str(&self.prototypes(bodies));
        out + "#ifdef __cplusplus\n}\n#endif\n\n#endif\n"
    }

    fn parameter_struct(&self) -> String {
        let subject = self.subject;
        let is_derived = subject.entries().any(|entry| entry.derived.is_some());
        let mut out = match is_derived {
            true => "\n/* Parameters. A derived one that is NAN is computed from the others. */\n".to_string(),
            false => "\n/* Parameters. */\n".to_string(),
        };
        out.push_str("typedef struct {\n");
        let of_member = |(parameter, member): (&crate::code::subject::Parameter, &String)| {
            let size = match parameter.shape.as_slice() {
                [] => String::new(),
                _ => format!("[{}]", parameter.entries.len()),
            };
            (
                format!("real {member}{size};"),
                comment(&parameter_remark(parameter)).to_string(),
            )
        };
        let members: Vec<(String, String)> = subject
            .parameters
            .iter()
            .zip(&self.names.members)
            .map(of_member)
            .collect();
        let width = members.iter().map(|member| member.0.len()).max().unwrap_or(0).min(30);
        for (member, remark) in &members {
            let _ = writeln!(out, "    {member:width$} /* {remark} */");
        }
        if members.is_empty() {
            out.push_str("    real none; /* The model has none. */\n");
        }
        out + "} lgm_parameters;\n"
    }

    fn model_struct(&self, bodies: &Bodies) -> String {
        let mut out = "\n/* One instance of the model. */\ntypedef struct {\n".to_string();
        if self.common.changing {
            out.push_str("    /* The combination of modes in force. */\n    int combination;\n");
        }
        match self.names.formulas.is_some() {
            true => out.push_str("    lgm_parameters p;\n"),
            false => {
                let count = self.subject.entries().count().max(1);
                let _ = write!(
                    out,
                    "    /* All entries of all parameters in order of declaration. */\n    real p[{count}];\n"
                );
            }
        }
        match (self.subject.discretes.is_empty(), self.keeps_inputs()) {
            (true, _) => {}
            (_, false) => out.push_str("    /* Discrete variables. */\n    real d[LGM_DISCRETES];\n"),
            (_, true) => out.push_str(
                "    /* The inputs of a call, and after them the discrete variables. */\n    real u[LGM_INPUTS + LGM_DISCRETES];\n",
            ),
        }
        if bodies.scratch > 0 {
            let _ = write!(out, "    /* Working memory. */\n    real s[{}];\n", bodies.scratch);
        }
        if self.has_loops() {
            out.push_str(&parts::loop_members(self));
        }
        if self.step.is_some() {
            out.push_str(&self.step_members());
        }
        out + "} lgm_model;\n"
    }

    fn prototypes(&self, bodies: &Bodies) -> String {
        let (model, result) = (self.instance(), self.result());
        let mut out =
            "\n/* Sets all parameters to their defaults. */\nvoid lgm_defaults(lgm_parameters *parameters);\n"
                .to_string();
        out.push_str(match bodies.constraints.is_some() {
            true => {
                "\n/* Sets the parameters and writes the initial states x; returns 1 if initial values of dependent storage contradict \
                 each other, else 0. */\nint "
            }
            false => "\n/* Sets the parameters and writes the initial states x. */\nvoid ",
        });
        out.push_str("lgm_init(lgm_model *model, const lgm_parameters *parameters, real x[]);\n");
        let fails = match self.has_loops() {
            true => " Returns 1 if Newton's method finds no solution of an algebraic loop, else 0.",
            false => "",
        };
        let _ = write!(
            out,
            "\n/* Time derivatives dx of the states.{fails} */\n{result} lgm_rhs({model}, {POINT}, real dx[]);\n\n\
             /* Outputs y. */\n{result} lgm_outputs({model}, {POINT}, real y[]);\n"
        );
        if self.has_jacobian() {
            let what = match self.is_dense() {
                true => "jacobian[row][column] = d(dx[row])/d(x[column])".to_string(),
                false => format!(
                    "The nonzero entries of d(dx)/dx: those of a row are from {0}_jacobian_rows[row] on, with their columns in \
                     {0}_jacobian_columns",
                    self.common.name
                ),
            };
            let _ = write!(
                out,
                "\n/* {what}. */\n{result} lgm_jacobian({model}, {POINT}, {});\n",
                self.jacobian_argument()
            );
            if !self.is_dense() {
                let room = bodies.pattern.as_ref().map_or(1, Pattern::room);
                let _ = write!(
                    out,
                    "extern const int lgm_jacobian_rows[LGM_STATES + 1];\nextern const int lgm_jacobian_columns[{room}];\n"
                );
            }
        }
        if let Some(step) = self.step {
            out.push_str(&self.step_prototypes(step));
        }
        if self.has_loops() {
            out.push_str(parts::LOOP_PROTOTYPES);
        }
        out + "\n"
    }

    fn source(&self, bodies: &Bodies) -> String {
        let mut out = wrapped_comment(&[&self.common.title, &self.common.origin]);
        let _ = write!(
            out,
            "#include \"{}.h\"\n\n#include <float.h>\n#include <math.h>\n\n",
            self.common.name
        );
        if self.has_loops() || bodies.constraints.is_some() {
            out.push_str(parts::numbers());
        }
        if self.names.formulas.is_none() {
            out.push_str("#ifdef __cplusplus\n#define RESTRICT\n#else\n#define RESTRICT restrict\n#endif\n\n");
        }
        out.push_str(&self.c.helpers(&bodies.operations, false));
        out.push_str(&bodies.statics);
        if self.has_loops() {
            out.push_str(&parts::loop_tables(self, self.iterations));
            out.push_str(lgm_runtime::C_LOOPS);
            out.push('\n');
        }
        out.push_str(&bodies.parts);
        out.push_str(&self.defaults());
        out.push_str(&self.init(bodies));
        let [rates, outputs] = &bodies.equations;
        out.push_str(&self.function(("rhs", rates), "real dx[]", &bodies.rates));
        out.push_str(&self.function(("outputs", outputs), "real y[]", &bodies.outputs));
        if self.has_jacobian() {
            out.push_str(&self.jacobian(bodies));
        }
        if self.step.is_some() {
            out.push('\n');
            out.push_str(&bodies.blocks);
            out.push_str(&self.steps());
        }
        out
    }

    fn defaults(&self) -> String {
        let mut out = "void lgm_defaults(lgm_parameters *parameters) {\n".to_string();
        for (parameter, member) in self.subject.parameters.iter().zip(&self.names.members) {
            for (at, entry) in parameter.entries.iter().enumerate() {
                let value = match entry.derived {
                    Some(_) => "NAN".to_string(),
                    None => self.c.literal(entry.value),
                };
                let place = super::dialect::entry_place(parameter, member, at);
                let _ = writeln!(out, "    parameters->{place} = {value};");
            }
        }
        if self.subject.parameters.is_empty() {
            let _ = writeln!(out, "    parameters->none = {};", self.c.literal(0.0));
        }
        out + "}\n\n"
    }

    fn init(&self, bodies: &Bodies) -> String {
        let kind = if bodies.constraints.is_some() { "int" } else { "void" };
        let mut out = format!("{kind} lgm_init(lgm_model *model, const lgm_parameters *parameters, real x[]) {{\n");
        out.push_str("    (void)x; (void)parameters;\n");
        if let Some((gathered, _)) = self.changing {
            let _ = writeln!(out, "    model->combination = {};", gathered.first);
        }
        out.push_str(&bodies.derived);
        if self.has_loops() {
            out.push_str("    model->is_solved = 0;\n    model->small = LGM_LOOP_ABSOLUTE;\n");
            if self.subject.has_branches() && self.has_run {
                out.push_str("    model->is_frozen = 0;\n");
            }
        }
        out.push_str(&bodies.starts);
        if let Some(constraints) = &bodies.constraints {
            out.push_str(&parts::check_of_starts(
                self.subject.system.starts.constraints.len(),
                constraints,
            ));
        }
        out + "}\n\n"
    }

    /// Prints a public function that is evaluated at a point.
    fn function(&self, (name, equations): (&str, &str), result: &str, body: &str) -> String {
        let (instance, kind) = (self.instance(), self.result());
        let mut out = equations.to_string();
        let idle = match result.contains("dx") {
            true => "(void)dx;",
            false => "(void)y;",
        };
        let _ = write!(
            out,
            "{kind} lgm_{name}({instance}, {POINT}, {result}) {{\n    (void)model; (void)t; (void)x; (void)u;LGM_DU( (void)du;) \
             {idle}\n"
        );
        out.push_str(self.kept_inputs());
        if self.has_loops() {
            out.push_str("    if (!solve_loops(model, t, x, u LGM_DU(, du))) {\n        return 1;\n    }\n");
        }
        out.push_str(body);
        if self.has_loops() {
            out.push_str("    return 0;\n");
        }
        out + "}\n\n"
    }

    /// Prints the lines that store the inputs next to the discrete variables.
    fn kept_inputs(&self) -> &'static str {
        match self.keeps_inputs() {
            true => "    for (int at = 0; at < LGM_INPUTS; at++) {\n        model->u[at] = u[at];\n    }\n",
            false => "",
        }
    }

    fn jacobian(&self, bodies: &Bodies) -> String {
        let (instance, kind) = (self.instance(), self.result());
        let mut out = String::new();
        let argument = self.jacobian_argument();
        if let Some(pattern) = bodies.pattern.as_ref().filter(|_| !self.is_dense()) {
            let _ = write!(
                out,
                "const int lgm_jacobian_rows[LGM_STATES + 1] = {{{}}};\nconst int lgm_jacobian_columns[{}] = {{{}}};\n\n",
                list(pattern.rows.iter().map(usize::to_string), "0".into()),
                pattern.room(),
                list(pattern.columns.iter().map(usize::to_string), "0".into())
            );
        }
        let _ = write!(
            out,
            "{kind} lgm_jacobian({instance}, {POINT}, {argument}) {{\n    (void)model; (void)t; (void)x; (void)u;LGM_DU( \
             (void)du;)\n{}{}",
            self.kept_inputs(),
            bodies.jacobian
        );
        if self.has_loops() {
            let name = if self.is_dense() { "jacobian" } else { "entries" };
            let _ = writeln!(
                out,
                "    return jacobian_through_loops(model, t, x, u LGM_DU(, du), {name}) ? 0 : 1;"
            );
        }
        out + "}\n"
    }
}
