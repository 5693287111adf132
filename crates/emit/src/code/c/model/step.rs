//! Steps of fixed length for real-time loops: the fourth-order Runge-Kutta method, or the exact solution of linear equations.

use super::blocks;
use super::facts::Model;
use crate::code::dialect::Dialect;
use crate::code::events::{Clock, Sampled};
use lgm_kernels::operation::Space;
use std::fmt::Write;

/// For linear equations with more states than this, the matrix-vector product costs more than the Runge-Kutta method.
const MOST_EXACT: usize = 16;

/// The share of a step after an instant at which conditions of time are tested: more than the round-off of the time in a billion steps.
const JUST_AFTER: &str = "1e-6";

impl Model<'_> {
    /// Returns true if a step multiplies the states by a matrix.
    pub(super) fn is_exact(&self) -> bool {
        self.subject.system.equations.linear
            && (1..=MOST_EXACT).contains(&self.subject.states.len())
            && !self.has_loops()
            && self.is_dense()
            && self.subject.kernels.derivatives.program().needs(Space::Time) == 0
    }

    /// Prints the members of a model with fixed steps.
    pub(super) fn step_members(&self) -> String {
        let mut out = "    /* The number of steps so far, and the states after them. */\n    unsigned long long steps;\n    real x[LGM_ROOM(LGM_STATES)];\n"
            .to_string();
        if self.c.float {
            out.push_str(
                "    /* The round-off of each state that is still to be added. */\n    real rest[LGM_ROOM(LGM_STATES)];\n",
            );
        }
        let clocks = self.clocks();
        if !clocks.is_empty() {
            let _ = write!(
                out,
                "    /* Steps before blocks run again. */\n    unsigned long wait[{}];\n",
                clocks.len()
            );
        }
        let conditions = self.conditions();
        if conditions > 0 {
            let _ = write!(
                out,
                "    /* Nonzero for each condition of a `when` block that held at the last step. */\n    int held[{conditions}];\n"
            );
        }
        if self.subject.moves {
            out.push_str("    /* The inputs of the last step. */\n    real before[LGM_ROOM(LGM_INPUTS)];\n");
        }
        if self.names.formulas.is_none() {
            out.push_str("    real slope[4][LGM_STATES];\n    real point[LGM_STATES];\n");
        }
        if self.is_exact() {
            let size = self.columns();
            let by = match self.subject.discretes.is_empty() {
                true => "",
                false => ", to discrete variables",
            };
            let _ = write!(
                out,
                "    /* The change of the states in a step: due to states, to inputs{by}, and the constant part. */\n    real \
                 growth[LGM_STATES][{size} + 1];\n"
            );
        }
        out
    }

    /// Prints the declarations of the functions.
    pub(super) fn step_prototypes(&self, step: f64) -> String {
        let result = self.result();
        let start = match self.has_starts() {
            true => "int",
            false => "void",
        };
        let held = match self.subject.moves {
            true => " A step of an input moves the states that it determines.",
            false => "",
        };
        let first = match self.subject.sampled.is_some() {
            true => "Runs the blocks that are due, writes",
            false => "Writes",
        };
        format!(
            "\n/* The length of a step in seconds. */\n#define LGM_STEP {}\n\n/* Sets the parameters, and begins at the initial states. \
             */\n{start} lgm_begin(lgm_model *model, const lgm_parameters *parameters);\n\n/* {first} the outputs y, then makes one step \
             with constant inputs u.{held} */\n{result} lgm_step(lgm_model *model, const real u[], real y[]);\n",
            self.c.literal(step)
        )
    }

    fn has_starts(&self) -> bool {
        !self.subject.system.starts.constraints.is_empty()
    }

    /// Prints the functions.
    pub(super) fn steps(&self) -> String {
        let mut out = String::new();
        let is_exact = self.is_exact();
        if is_exact {
            out.push_str(&self.discretisation());
        }
        out.push_str(&self.begin(is_exact));
        out.push_str(&match is_exact {
            true => self.exact_step(),
            false => self.runge_kutta(),
        });
        out
    }

    fn begin(&self, is_exact: bool) -> String {
        let (kind, call) = match self.has_starts() {
            true => ("int", "const int status = "),
            false => ("void", ""),
        };
        let mut out = format!(
            "{kind} lgm_begin(lgm_model *model, const lgm_parameters *parameters) {{\n    {call}lgm_init(model, parameters, \
             model->x);\n    model->steps = 0;\n"
        );
        for (is_there, member, count) in [
            (self.c.float, "rest", "LGM_STATES"),
            (self.subject.moves, "before", "LGM_INPUTS"),
        ] {
            if is_there {
                let _ = write!(
                    out,
                    "    for (int at = 0; at < {count}; at++) {{\n        model->{member}[at] = (real)0.0;\n    }}\n"
                );
            }
        }
        for (at, (_, first)) in self.clocks().iter().enumerate() {
            let _ = writeln!(out, "    model->wait[{at}] = {first}UL;");
        }
        if is_exact {
            out.push_str("    discretise(model);\n");
        }
        if self.has_starts() {
            out.push_str("    return status;\n");
        }
        out + "}\n\n"
    }

    /// Prints the code before a step: outputs, and state jumps caused by jumps of inputs.
    fn before_step(&self) -> String {
        let mut out = format!("    const real t = {};\n", self.time(""));
        let reads_rates = "LGM_DU(    static const real still[LGM_ROOM(LGM_INPUTS)] = {(real)0.0};\n)";
        out.push_str(reads_rates);
        if self.subject.moves {
            out.push_str(
                "    {
        /* x' holds E u': a step of the inputs moves the states by E times the step. */
        real with[LGM_ROOM(LGM_STATES)], without[LGM_ROOM(LGM_STATES)], jump[LGM_ROOM(LGM_INPUTS)];
        for (int at = 0; at < LGM_INPUTS; at++) {
            jump[at] = u[at] - model->before[at];
            model->before[at] = u[at];
        }
",
            );
            out.push_str(&self.call("rhs", "model->x, u, jump, with", "        "));
            out.push_str(&self.call("rhs", "model->x, u, still, without", "        "));
            let given = self.subject.system.states.iter().map(|state| state.start_given);
            let moves = match given.clone().any(|is_given| is_given) {
                true => {
                    let given: Vec<String> = given.map(|given| u8::from(given).to_string()).collect();
                    let _ = write!(
                        out,
                        "        /* Initial values given by the model apply after the first step. */\n        static const int \
                         is_given[LGM_STATES] = {{{}}};\n",
                        given.join(", ")
                    );
                    "            if (model->steps > 0 || is_given[at] == 0) {
                model->x[at] += with[at] - without[at];
            }
"
                }
                false => "            model->x[at] += with[at] - without[at];\n",
            };
            let _ = write!(
                out,
                "        for (int at = 0; at < LGM_STATES; at++) {{\n{moves}        }}\n    }}\n"
            );
        }
        out.push_str(&self.blocks_before_step());
        out.push_str(&self.call("outputs", "model->x, u LGM_DU(, still), y", "    "));
        out
    }

    /// Returns the period and the first instant of the blocks that do not run at every step.
    fn clocks(&self) -> Vec<(u32, u32)> {
        self.subject.sampled.as_ref().map_or(Vec::new(), Sampled::clocks)
    }

    /// Returns the number of conditions of `when` blocks.
    fn conditions(&self) -> usize {
        self.subject
            .sampled
            .as_ref()
            .map_or(0, |sampled| sampled.conditions.len())
    }

    /// Prints the calls that run the blocks of a step.
    fn blocks_before_step(&self) -> String {
        let Some(sampled) = &self.subject.sampled else {
            return String::new();
        };
        let call = |name: &str, time: &str, further: &str, indent: &str| match self.has_loops() {
            true => format!(
                "{indent}if ({name}(model, {time}, u LGM_DU(, still){further}) != 0) {{\n{indent}    return 1;\n{indent}}}\n"
            ),
            false => format!("{indent}{name}(model, {time}, u LGM_DU(, still){further});\n"),
        };
        let mut out = String::new();
        let mut at_start = String::new();
        let functions = blocks::functions(sampled);
        let mut initial = functions
            .iter()
            .filter(|(_, blocks)| blocks.iter().all(|block| block.clock == Clock::Initially));
        // A condition that holds at the start waits until it becomes true again.
        for tested in sampled.tested_at_start() {
            match tested {
                Some(0) => at_start.push_str(&call("test_conditions", "t", ", model->held", "        ")),
                Some(first) => {
                    let _ = writeln!(at_start, "        {{\n            int holds[{}];", self.conditions());
                    at_start.push_str(&call("test_conditions", "t", ", holds", "            "));
                    let _ = writeln!(
                        at_start,
                        "            for (int at = {first}; at < {}; at++) {{\n                model->held[at] = holds[at];\n            }}\n        }}",
                        self.conditions()
                    );
                }
                None => {}
            }
            if let Some((name, _)) = initial.next() {
                at_start.push_str(&call(name, "t", "", "        "));
            }
        }
        if !at_start.is_empty() {
            let _ = write!(out, "    if (model->steps == 0) {{\n{at_start}    }}\n");
        }
        if sampled.timed().any(|block| block.clock.is_each_step()) {
            out.push_str(&call("run_blocks", "t", "", "    "));
        } else if sampled.timed().next().is_some() {
            let due = (0..self.clocks().len()).map(|at| format!("model->wait[{at}] == 0"));
            let due = due.collect::<Vec<_>>().join(" || ");
            let _ = write!(
                out,
                "    if ({due}) {{\n{}    }}\n",
                call("run_blocks", "t", "", "        ")
            );
        }
        for (at, (period, _)) in self.clocks().iter().enumerate() {
            let _ = writeln!(
                out,
                "    model->wait[{at}] = ((model->wait[{at}] > 0) ? model->wait[{at}] : {period}UL) - 1UL;"
            );
        }
        if self.conditions() > 0 {
            out.push_str(
                "    /* Conditions are tested at the steps only, and conditions of time just after them. */\n",
            );
            out.push_str(&call(
                "follow_conditions",
                &format!("t, {}", self.time(JUST_AFTER)),
                "",
                "    ",
            ));
        }
        out
    }

    /// Prints the time of a step, with further steps added to their number.
    fn time(&self, further: &str) -> String {
        let steps = match further.is_empty() {
            true => "(double)model->steps".to_string(),
            false => format!("((double)model->steps + {further})"),
        };
        let start = match self.common.plans_from_zero() {
            true => String::new(),
            false => format!(
                "{}{} + ",
                if self.c.float { "(double)" } else { "" },
                self.common.planned.plan_start
            ),
        };
        match self.c.float {
            true => format!("(float)({start}(double)LGM_STEP * {steps})"),
            false => format!("{start}LGM_STEP * {steps}"),
        }
    }

    /// Prints a call that ends the step if the call has no solution.
    fn call(&self, name: &str, arguments: &str, indent: &str) -> String {
        let call = format!("lgm_{name}(model, t, {arguments})");
        match self.has_loops() {
            true => format!("{indent}if ({call} != 0) {{\n{indent}    return 1;\n{indent}}}\n"),
            false => format!("{indent}{call};\n"),
        }
    }

    /// Returns the statements that add `growth` to a state.
    fn sum(&self) -> &'static str {
        if self.c.float {
            "        const real due = growth - model->rest[at];
        const real sum = model->x[at] + due;
        model->rest[at] = (sum - model->x[at]) - due;
        model->x[at] = sum;
"
        } else {
            "        model->x[at] += growth;\n"
        }
    }

    fn runge_kutta(&self) -> String {
        let result = self.result();
        let mut out = format!(
            "{result} lgm_step(lgm_model *model, const real u[], real y[]) {{\n    const real h = LGM_STEP;\n{}",
            match self.names.formulas.is_some() {
                true => "    real slope[4][LGM_ROOM(LGM_STATES)], point[LGM_ROOM(LGM_STATES)];\n",
                false => "    real (*const slope)[LGM_STATES] = model->slope;\n    real *const point = model->point;\n",
            }
        );
        out.push_str(&self.before_step());
        out.push_str(&self.call("rhs", "model->x, u LGM_DU(, still), slope[0]", "    "));
        out.push_str(
            "    for (int stage = 1; stage < 4; stage++) {
        const real share = (stage < 3) ? (real)0.5 * h : h;
        for (int at = 0; at < LGM_STATES; at++) {
            point[at] = model->x[at] + share * slope[stage - 1][at];
        }
",
        );
        let call = self.call("rhs", "point, u LGM_DU(, still), slope[stage]", "        ");
        out.push_str(&call.replace("(model, t, ", "(model, t + share, "));
        let _ = write!(
            out,
            "    }}\n    for (int at = 0; at < LGM_STATES; at++) {{\n        const real middle = slope[1][at] + slope[2][at];\n        \
             const real growth = h / (real)6.0 * (slope[0][at] + (real)2.0 * middle + slope[3][at]);\n{}    }}\n    \
             model->steps++;\n",
            self.sum()
        );
        if self.has_loops() {
            out.push_str("    return 0;\n");
        }
        out + "}\n"
    }

    fn exact_step(&self) -> String {
        let size = self.columns();
        let by_discretes = match self.subject.discretes.is_empty() {
            true => "",
            false => {
                "        for (int from = 0; from < LGM_DISCRETES; from++) {
            next[at] += model->growth[at][LGM_STATES + LGM_INPUTS + from] * model->d[from];
        }
"
            }
        };
        let mut out =
            "void lgm_step(lgm_model *model, const real u[], real y[]) {\n    real next[LGM_STATES];\n".to_string();
        out.push_str(&self.before_step());
        let _ = write!(
            out,
            "    for (int at = 0; at < LGM_STATES; at++) {{\n        next[at] = model->growth[at][{size}];\n        for \
             (int from = 0; from < LGM_STATES; from++) {{\n            next[at] += model->growth[at][from] * model->x[from];\n        \
             }}\n        for (int from = 0; from < LGM_INPUTS; from++) {{\n            next[at] += model->growth[at][LGM_STATES + from] \
             * u[from];\n        }}\n{by_discretes}    }}\n    for (int at = 0; at < LGM_STATES; at++) {{\n        const real growth = \
             next[at];\n{}    }}\n    model->steps++;\n}}\n",
            self.sum()
        );
        out
    }

    /// Prints the function that computes the matrix.
    fn discretisation(&self) -> String {
        "/* With inputs held, (x, u, 1)' = M (x, u, 1), which changes by exp(M h) - 1 times itself in a step: computed by a Taylor
 * series for a small part of the step, which is then doubled by E + E + E E. */
static void discretise(lgm_model *model) {
    enum { SIZE = LGM_ALL + 1 };
    double part[SIZE][SIZE] = {{0.0}}, term[SIZE][SIZE], sum[SIZE][SIZE], next[SIZE][SIZE];
    real jacobian[LGM_STATES][LGM_STATES], x[LGM_STATES] = {(real)0.0}, u[LGM_ROOM(LGM_INPUTS)] = {(real)0.0};
    real still[LGM_STATES], moved[LGM_STATES];
LGM_DU(    static const real du[LGM_ROOM(LGM_INPUTS)] = {(real)0.0};
)    double size = 0.0;
    int doublings = 0;
#if LGM_DISCRETES
    real kept[LGM_DISCRETES];
    for (int at = 0; at < LGM_DISCRETES; at++) {
        kept[at] = model->d[at];
        model->d[at] = (real)0.0;
    }
#endif
    lgm_jacobian(model, (real)0.0, x, u LGM_DU(, du), jacobian);
    lgm_rhs(model, (real)0.0, x, u LGM_DU(, du), still);
    for (int row = 0; row < LGM_STATES; row++) {
        for (int column = 0; column < LGM_STATES; column++) {
            part[row][column] = (wide)LGM_STEP * (wide)jacobian[row][column];
        }
        part[row][LGM_ALL] = (wide)LGM_STEP * (wide)still[row];
    }
    for (int input = 0; input < LGM_INPUTS; input++) {
        u[input] = (real)1.0;
        lgm_rhs(model, (real)0.0, x, u LGM_DU(, du), moved);
        u[input] = (real)0.0;
        for (int row = 0; row < LGM_STATES; row++) {
            part[row][LGM_STATES + input] = (wide)LGM_STEP * ((wide)moved[row] - (wide)still[row]);
        }
    }
#if LGM_DISCRETES
    for (int at = 0; at < LGM_DISCRETES; at++) {
        model->d[at] = (real)1.0;
        lgm_rhs(model, (real)0.0, x, u LGM_DU(, du), moved);
        model->d[at] = (real)0.0;
        for (int row = 0; row < LGM_STATES; row++) {
            part[row][LGM_STATES + LGM_INPUTS + at] = (wide)LGM_STEP * ((wide)moved[row] - (wide)still[row]);
        }
    }
    for (int at = 0; at < LGM_DISCRETES; at++) {
        model->d[at] = kept[at];
    }
#endif
    for (int row = 0; row < LGM_STATES; row++) {
        double sizes = 0.0;
        for (int column = 0; column < LGM_STATES; column++) {
            sizes += fabs(part[row][column]);
        }
        size = (sizes > size) ? sizes : size;
    }
    while (size > 0.25 && doublings < 64) {
        size *= 0.5;
        doublings++;
    }
    for (int row = 0; row < SIZE; row++) {
        for (int column = 0; column < SIZE; column++) {
            part[row][column] = ldexp(part[row][column], -doublings);
            term[row][column] = part[row][column];
            sum[row][column] = part[row][column];
        }
    }
    for (int order = 2; order <= 14 + doublings; order++) {
        const int is_term = order <= 14;
        for (int row = 0; row < SIZE; row++) {
            for (int column = 0; column < SIZE; column++) {
                double product = 0.0;
                for (int at = 0; at < SIZE; at++) {
                    product += is_term ? term[row][at] * part[at][column] : sum[row][at] * sum[at][column];
                }
                next[row][column] = is_term ? product / (double)order : 2.0 * sum[row][column] + product;
            }
        }
        for (int row = 0; row < SIZE; row++) {
            for (int column = 0; column < SIZE; column++) {
                term[row][column] = next[row][column];
                sum[row][column] = is_term ? sum[row][column] + next[row][column] : next[row][column];
            }
        }
    }
    for (int row = 0; row < LGM_STATES; row++) {
        for (int column = 0; column < SIZE; column++) {
            model->growth[row][column] = (narrow)sum[row][column];
        }
    }
}

"
        .replace("LGM_ALL", self.columns())
    }

    /// Returns the number of columns that states, inputs and discrete variables have in the matrix of a step.
    fn columns(&self) -> &'static str {
        match self.subject.discretes.is_empty() {
            true => "LGM_STATES + LGM_INPUTS",
            false => "LGM_STATES + LGM_INPUTS + LGM_DISCRETES",
        }
    }
}
