//! Blocks that run between fixed steps. Discrete variables are in the model; a function runs the blocks of an instant in
//! source order, with the continuous values that hold just before it.

use super::facts::Model;
use super::named::Printer;
use crate::code::c::text::{comment, wrapped_code};
use crate::code::dialect::Dialect;
use crate::code::events::{Clock, Place, Sampled, SampledBlock};
use lgm_algebra::expr::{ExprId, Node, SymbolId};
use std::fmt::Write;

/// The parameters of a function that runs blocks.
const INSTANT: &str = "lgm_model *model, real t, const real u[] LGM_DU(, const real du[])";

/// The function that runs `when` blocks.
pub(super) const RUN_WHEN: &str = "run_when";

/// Returns the functions that run blocks, each with its blocks: one for each initial block, one for all `every` blocks, and one for
/// all `when` blocks.
pub(super) fn functions(sampled: &Sampled) -> Vec<(String, Vec<&SampledBlock>)> {
    let initial = sampled.blocks.iter().filter(|block| block.clock == Clock::Initially);
    let initial = initial.enumerate();
    let mut list: Vec<(String, Vec<&SampledBlock>)> = initial
        .map(|(at, block)| (format!("run_initially_{}", at + 1), vec![block]))
        .collect();
    let timed: Vec<&SampledBlock> = sampled.timed().collect();
    let conditional: Vec<&SampledBlock> = sampled.conditional().collect();
    for (name, blocks) in [("run_blocks", timed), (RUN_WHEN, conditional)] {
        if !blocks.is_empty() {
            list.push((name.to_string(), blocks));
        }
    }
    list
}

impl Model<'_> {
    /// Returns the expression for a discrete variable in the model.
    pub(super) fn discrete(&self, at: usize) -> String {
        match self.names.formulas.is_some() {
            true => format!("model->d[{at}]"),
            false => format!("model->u[LGM_INPUTS + {at}]"),
        }
    }

    /// Returns the condition under which a block of a function runs; none if it runs whenever that function is called.
    fn condition(&self, sampled: &Sampled, block: &SampledBlock) -> Option<String> {
        let is_alone = sampled.timed().all(|other| other.clock == block.clock);
        let (period, first) = match block.clock {
            Clock::Every { period, first } => (period, first),
            Clock::Becomes(at) => return Some(format!("runs[{at}] != 0")),
            Clock::Initially => return None,
        };
        let at = sampled.clocks().iter().position(|clock| *clock == (period, first))?;
        (!is_alone).then(|| format!("model->wait[{at}] == 0"))
    }

    /// Prints a block: its description, its condition, and its lines.
    pub(super) fn block(&self, sampled: &Sampled, block: &SampledBlock, lines: &str) -> String {
        let title = comment(&block.title);
        match self.condition(sampled, block) {
            None => format!("    /* {title} */\n{lines}"),
            Some(condition) => {
                let lines: String = lines.lines().map(|line| format!("    {line}\n")).collect();
                format!("    if ({condition}) {{ /* {title} */\n{lines}    }}\n")
            }
        }
    }

    /// Prints the assignment of a state.
    pub(super) fn state_assignment(&self, state: usize, value: &str) -> String {
        let name = comment(&self.subject.states[state].name);
        let mut out = wrapped_code(&format!("model->x[{state}] = {value};"), &format!(" /* {name} */"));
        if self.c.float {
            let _ = writeln!(out, "    model->rest[{state}] = {};", self.c.literal(0.0));
        }
        out
    }

    /// Prints a function that runs blocks.
    pub(super) fn block_function(&self, name: &str, reads_unknowns: bool, lines: &str) -> String {
        let runs = if name == RUN_WHEN { ", const int runs[]" } else { "" };
        let mut out = format!(
            "static {} {name}({INSTANT}{runs}) {{\n    (void)t; (void)u;LGM_DU( (void)du;)\n",
            self.result()
        );
        if reads_unknowns {
            out.push_str("    if (!solve_loops(model, t, model->x, u LGM_DU(, du))) {\n        return 1;\n    }\n");
        }
        out.push_str(lines);
        if self.has_loops() {
            out.push_str("    return 0;\n");
        }
        out + "}\n\n"
    }
}

impl Model<'_> {
    /// Prints the functions that test conditions and run `when` blocks, given the lines that write `holds`.
    pub(super) fn condition_functions(&self, count: usize, reads_unknowns: bool, lines: &str) -> String {
        let result = self.result();
        let (status, done) = match self.has_loops() {
            true => (
                ["if (", " != 0) {\n            return 1;\n        }"],
                "    return 0;\n",
            ),
            false => (["", ";"], ""),
        };
        let solved = match reads_unknowns {
            true => "    if (!solve_loops(model, t, model->x, u LGM_DU(, du))) {\n        return 1;\n    }\n",
            false => "",
        };
        let inner = |call: &str| format!("{}{call}{}", status[0], status[1]);
        format!(
            "/* Tests the conditions of `when` blocks. */\nstatic {result} test_conditions({INSTANT}, int holds[]) {{\n    (void)t; (void)u;LGM_DU( (void)du;)\n{solved}{lines}{done}}}\n\n\
             /* Runs each block whose condition has become true since the last step, or because of another block. */\n\
             static {result} follow_conditions(lgm_model *model, real t, real just_after, const real u[] LGM_DU(, const real du[])) {{\n    for (int pass = 0; pass <= {count}; pass++) {{\n        \
             int holds[{count}], runs[{count}], is_any = 0;\n        {test}\n        for (int at = 0; at < {count}; at++) {{\n            \
             runs[at] = (holds[at] != 0 && model->held[at] == 0);\n            model->held[at] = holds[at];\n            \
             is_any = (runs[at] != 0) ? 1 : is_any;\n        }}\n        if (is_any == 0) {{\n            break;\n        }}\n        \
             {run}\n    }}\n{done}}}\n\n",
            test = inner("test_conditions(model, just_after, u LGM_DU(, du), holds)"),
            run = inner(&format!("{RUN_WHEN}(model, t, u LGM_DU(, du), runs)")),
        )
    }
}

/// A line of a block: an intermediate value, or an assignment.
enum Line {
    Value(String, String),
    Assigned(Place, String),
}

impl Printer<'_, '_> {
    /// Returns the initial values of discrete variables.
    pub(super) fn discrete_starts(&self) -> Vec<(String, ExprId, Option<String>)> {
        let subject = self.model.subject;
        let starts = subject.sampled.iter().flat_map(|sampled| &sampled.starts);
        let starts = starts.zip(&subject.discretes).enumerate();
        let start = |(at, (value, each)): (usize, (&ExprId, &crate::code::subject::Named))| {
            (self.model.discrete(at), *value, Some(comment(&each.name)))
        };
        starts.map(start).collect()
    }

    /// Prints the functions that run blocks.
    pub(super) fn blocks(&mut self) {
        let model = self.model;
        let Some(sampled) = &model.subject.sampled else { return };
        for (name, blocks) in functions(sampled) {
            let text = self.blocks_of(sampled, &name, &blocks);
            self.bodies.blocks.push_str(&text);
        }
        if !sampled.conditions.is_empty() {
            let text = self.conditions(&sampled.conditions);
            self.bodies.blocks.push_str(&text);
        }
    }

    /// Prints the functions that test conditions.
    fn conditions(&mut self, conditions: &[ExprId]) -> String {
        let model = self.model;
        let body = self.formulas.body(conditions, &model.names.book, &model.c);
        self.bodies.takes(&body.operations);
        let mut lines = String::new();
        if self.reads_parameters(&body.reads) {
            lines.push_str("    const lgm_parameters *const p = &model->p;\n");
        }
        self.constants(&mut lines, &body.reads, "model->x", "model->w");
        self.discrete_constants(&mut lines, &body.reads);
        if !lines.is_empty() {
            lines.push('\n');
        }
        for (name, value) in &body.statements {
            lines.push_str(&wrapped_code(&format!("const real {name} = {value};"), ""));
        }
        for (at, condition) in body.conditions.iter().enumerate() {
            lines.push_str(&wrapped_code(&format!("holds[{at}] = ({condition});"), ""));
        }
        let unknowns = self.formulas.unknowns();
        let reads_unknowns = unknowns.iter().any(|unknown| body.reads.contains(unknown));
        model.condition_functions(conditions.len(), reads_unknowns, &lines)
    }

    /// Splits the values that blocks read: those with a name of their own in any case, and those computed before the first block.
    fn read_by(&self, sampled: &Sampled, blocks: &[&SampledBlock]) -> [Vec<(SymbolId, ExprId)>; 2] {
        let (system, own) = (self.model.subject.system, self.model.subject.inputs.len());
        let assigned = blocks.iter().flat_map(|block| &block.assignments);
        let values: Vec<ExprId> = assigned.map(|assigned| assigned.value).collect();
        let symbols = system.exprs.symbols_of(&values);
        let used = sampled.read.iter().filter(|read| symbols.contains(&read.symbol));
        let is_constant = |symbol: SymbolId| {
            let mut discretes = system.inputs.iter().skip(own);
            !self.formulas.is_defined(symbol) && discretes.all(|input| input.symbol != symbol)
        };
        let has_name = |read: &(SymbolId, ExprId)| match system.exprs.node(read.1) {
            Node::Symbol(symbol) => is_constant(*symbol),
            Node::Number(_) => true,
            _ => false,
        };
        let (named, computed) = used.map(|read| (read.symbol, read.value)).partition(has_name);
        [named, computed]
    }

    fn blocks_of(&mut self, sampled: &Sampled, name: &str, blocks: &[&SampledBlock]) -> String {
        let model = self.model;
        let book = &model.names.book;
        let mut scope = book.locals();
        let [named, computed] = self.read_by(sampled, blocks);
        let roots: Vec<ExprId> = computed.iter().map(|read| read.1).collect();
        let head = self.formulas.body_in(&roots, &[], (book, &mut scope), &model.c);
        self.bodies.takes(&head.operations);
        let mut reads = head.reads;
        let values = computed
            .iter()
            .map(|read| book.name(read.0).to_string())
            .zip(head.values);
        let values = head.statements.into_iter().chain(values);
        let before: String = values
            .map(|(name, value)| wrapped_code(&format!("const real {name} = {value};"), ""))
            .collect();
        let mut list = Vec::new();
        for block in blocks {
            let mut lines = Vec::new();
            for assigned in &block.assignments {
                let body = (self.formulas).body_in(&[assigned.value], &named, (book, &mut scope), &model.c);
                self.bodies.takes(&body.operations);
                reads.extend(body.reads);
                lines.extend(
                    body.statements
                        .into_iter()
                        .map(|(name, value)| Line::Value(name, value)),
                );
                lines.extend(
                    body.values
                        .into_iter()
                        .map(|value| Line::Assigned(assigned.target, value)),
                );
            }
            list.push((*block, lines));
        }
        let mut out = String::new();
        if self.reads_parameters(&reads) {
            out.push_str("    const lgm_parameters *const p = &model->p;\n");
        }
        self.constants(&mut out, &reads, "model->x", "model->w");
        let symbols = model.subject.system.inputs.iter().skip(model.subject.inputs.len());
        let is_read: Vec<bool> = symbols.map(|input| reads.contains(&input.symbol)).collect();
        let is_assigned = |at: usize| {
            let mut lines = list.iter().flat_map(|block| &block.1);
            lines.any(|line| matches!(line, Line::Assigned(Place::Discrete(place), _) if *place == at))
        };
        for (at, name) in book.discretes.iter().enumerate().filter(|entry| is_read[entry.0]) {
            let kind = if is_assigned(at) { "real" } else { "const real" };
            let _ = writeln!(out, "    {kind} {name} = model->d[{at}];");
        }
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(&before);
        for (block, lines) in &list {
            out.push_str(&model.block(sampled, block, &self.block_lines(sampled, lines, &is_read)));
        }
        let unknowns = self.formulas.unknowns();
        let reads_unknowns = unknowns.iter().any(|unknown| reads.contains(unknown));
        model.block_function(name, reads_unknowns, &out)
    }

    fn block_lines(&self, sampled: &Sampled, lines: &[Line], is_read: &[bool]) -> String {
        let book = &self.model.names.book;
        let mut out = String::new();
        let mut written = Vec::new();
        for line in lines {
            let code = match line {
                Line::Value(name, value) => format!("const real {name} = {value};"),
                Line::Assigned(Place::Temporary(at), value) => {
                    format!("const real {} = {value};", book.name(sampled.temporaries[*at]))
                }
                Line::Assigned(Place::Discrete(at), value) if is_read[*at] => {
                    if !written.contains(at) {
                        written.push(*at);
                    }
                    format!("{} = {value};", book.discretes[*at])
                }
                Line::Assigned(Place::Discrete(at), value) => {
                    let name = comment(&self.model.subject.discretes[*at].name);
                    let code = format!("model->d[{at}] = {value};");
                    out.push_str(&wrapped_code(&code, &format!(" /* {name} */")));
                    continue;
                }
                Line::Assigned(Place::State(at), value) => {
                    out.push_str(&self.model.state_assignment(*at, value));
                    continue;
                }
            };
            out.push_str(&wrapped_code(&code, ""));
        }
        for at in written {
            let _ = writeln!(out, "    model->d[{at}] = {};", book.discretes[at]);
        }
        out
    }
}
