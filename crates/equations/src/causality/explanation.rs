//! The steps of a conflict as messages with source locations.

use super::chain::Step;
use super::elimination::find;
use super::structure::{Equation, column_port, port_column};
use super::words::{Fact, list, plural};
use crate::bond::Origin;
use crate::causality::context::{ConflictContext, given};
use lgm_algebra::expr::{self, ExprId};
use lgm_model::{Connection, Law, PortId, Variable};
use lgm_source::Span;
use lgm_source::words::article;
use rustc_hash::FxHashSet;

/// Converts steps to messages with source locations.
pub(super) struct Explanation<'a> {
    context: &'a ConflictContext<'a>,
    port: PortId,
    target: u32,
    /// Columns measured against a reference that is not `gnd`, and its name.
    relative: FxHashSet<u32>,
    /// True if no source takes part, so that everything in the chain is zero.
    is_zero: bool,
    reference: Option<String>,
}

impl<'a> Explanation<'a> {
    pub(super) fn new(context: &'a ConflictContext<'a>, port: PortId, steps: &[Step]) -> Explanation<'a> {
        let mut relative: FxHashSet<u32> = FxHashSet::default();
        let mut reference = None;
        for step in steps {
            match step {
                Step::Reference(column) => {
                    relative.insert(*column);
                    if let Fact::Common(junction) = context.fact(*column) {
                        reference = Some(context.words.junction(junction));
                    }
                }
                Step::Forced { row, column } if !relative.is_empty() => {
                    let depends = context.rows[*row as usize]
                        .iter()
                        .any(|entry| entry.0 != *column && relative.contains(&entry.0));
                    if depends && matches!(context.fact(*column), Fact::Common(_)) {
                        relative.insert(*column);
                    }
                }
                _ => {}
            }
        }
        Explanation {
            context,
            port,
            target: context.given_column(port),
            relative,
            is_zero: !steps.iter().any(|step| matches!(step, Step::Given(_))),
            reference,
        }
    }

    fn name(&self, column: u32) -> String {
        if let (Some(reference), true) = (&self.reference, self.relative.contains(&column))
            && let Fact::Common(junction) = self.context.fact(column)
            && let Origin::Node(node) = self.context.graph.junctions[junction as usize].origin
        {
            let domain = self.context.model.graph.nodes[node.index()].domain;
            let common = self.context.graph.junctions[junction as usize].kind.common();
            let word = self.context.words.variable(domain, common);
            return format!("the {word} from {} to {reference}", self.context.words.node(node));
        }
        self.context.name(column)
    }

    /// Returns the steps that are worth a message.
    pub(super) fn reported<'s>(&self, steps: &'s [Step]) -> Vec<&'s Step> {
        // A source on a branch whose other end is known sets the node directly: one message, not two.
        let merged: FxHashSet<u32> = steps
            .iter()
            .filter_map(|step| match step {
                Step::Forced { row, column } => self.source_of_branch(*row, *column),
                _ => None,
            })
            .collect();
        let reported = |step: &&Step| match step {
            Step::Reference(_) => false,
            Step::Given(column) => !merged.contains(column),
            Step::Forced { row, column } => match self.context.structure.equations[*row as usize] {
                // The port and its junction share the variable, so there is nothing new to report.
                Equation::Port(_) => false,
                // The conclusion reports it at this location.
                Equation::Junction(junction) => {
                    let origin = self.context.graph.junctions[junction as usize].origin;
                    *column != self.target || origin != Origin::Branch(self.port)
                }
                Equation::Bond(_) | Equation::Coupler(..) => true,
            },
            Step::Together { .. } => true,
        };
        steps.iter().filter(reported).collect()
    }

    /// Returns the source location and the message of a step.
    pub(super) fn sentence(&self, step: &Step) -> (Span, String) {
        match step {
            Step::Given(column) | Step::Reference(column) => {
                let (port, _) = column_port(*column);
                let what = self.context.own_name(*column, port);
                let text = format!("{} sets {what}", self.context.words.port(port));
                (self.context.words.port_span(port), text)
            }
            Step::Forced { row, column } => self.forced(*row, *column),
            Step::Together { rows, column } => self.together(rows, *column),
        }
    }

    /// Returns the given column of the source whose branch leads from one node to the other.
    fn source_of_branch(&self, row: u32, column: u32) -> Option<u32> {
        let Equation::Junction(junction) = self.context.structure.equations[row as usize] else {
            return None;
        };
        let Origin::Branch(port) = self.context.graph.junctions[junction as usize].origin else {
            return None;
        };
        let variable = given(self.context.model, port)?;
        let own = port_column(port, variable);
        let takes_part = find(&self.context.rows[row as usize], own).is_some();
        (takes_part && own != column && port != self.port).then_some(own)
    }

    /// Returns the variables that the step builds on.
    fn inputs(&self, row: u32, column: u32) -> Vec<u32> {
        self.context.rows[row as usize]
            .iter()
            .map(|entry| entry.0)
            .filter(|other| *other != column)
            .collect()
    }

    fn forced(&self, row: u32, column: u32) -> (Span, String) {
        let words = self.context.words;
        let inputs = self.inputs(row, column);
        match self.context.structure.equations[row as usize] {
            Equation::Port(port) => (words.port_span(port), format!("this sets {}", self.name(column))),
            Equation::Bond(bond) => {
                let text = format!("the bond transmits it: it sets {} too", self.name(column));
                (self.bond_span(bond), text)
            }
            Equation::Coupler(port, variable) => (words.port_span(port), self.coupled(port, variable, column, &inputs)),
            Equation::Junction(junction) => match self.context.graph.junctions[junction as usize].origin {
                Origin::Branch(port) => self.along_branch(port, row, column, &inputs),
                Origin::Node(_) | Origin::Direct(_) => {
                    (words.junction_span(junction), self.balanced(junction, column, &inputs))
                }
            },
        }
    }

    /// Explains a step along a branch between two nodes: one of three differences follows from the others.
    fn along_branch(&self, port: PortId, row: u32, column: u32, inputs: &[u32]) -> (Span, String) {
        let words = self.context.words;
        let span = words.port_span(port);
        let what = self.name(column);
        if let Some(source) = self.source_of_branch(row, column) {
            let own = self.context.own_name(source, port);
            let text = match own == what {
                true => format!("{} sets {own}", words.port(port)),
                false => format!("{} sets {own}, and so {what}", words.port(port)),
            };
            return (span, text);
        }
        if let Fact::Own(..) = self.context.fact(column) {
            return (span, format!("this sets {what}"));
        }
        let names: Vec<String> = inputs.iter().map(|other| self.name(*other)).collect();
        (span, format!("with {}, {what} is set too", list(&names)))
    }

    /// Explains a balance of currents at a node, or of efforts at a 1-junction.
    fn balanced(&self, junction: u32, column: u32, inputs: &[u32]) -> String {
        let words = self.context.words;
        let place = words.junction(junction);
        let what = self.name(column);
        let word = self.balance_word(junction);
        match inputs {
            [] => format!("nothing else at {place} absorbs {}, so {what} is zero", article(&word)),
            _ => {
                let names: Vec<String> = inputs.iter().map(|other| self.name(*other)).collect();
                format!(
                    "at {place} the {} add up to zero: with {}, {what} is set too",
                    plural(&word),
                    list(&names)
                )
            }
        }
    }

    /// Names the terms of the balance at a junction.
    fn balance_word(&self, junction: u32) -> String {
        let info = &self.context.graph.junctions[junction as usize];
        let domain = match info.origin {
            Origin::Node(node) => self.context.model.graph.nodes[node.index()].domain,
            Origin::Branch(port) => self.context.model.graph.ports[port.index()].domain,
            Origin::Direct(_) => None,
        };
        self.context.words.variable(domain, info.kind.common().conjugate())
    }

    /// Explains how a coupler carries a variable from one of its sides to the other.
    fn coupled(&self, port: PortId, variable: Variable, column: u32, inputs: &[u32]) -> String {
        let model = self.context.model;
        let id = model.graph.ports[port.index()].element;
        let name = format!("`{}`", model.element_name(id));
        let what = self.name(column);
        let Law::Coupler { output, matrix, input } = &model.graph.elements[id.index()].law else {
            unreachable!("invariant: only couplers have such equations")
        };
        let scalar = matrix.rows == 1 && matrix.columns == 1;
        match inputs {
            [] if scalar => {
                let modulus = expr::print::brief(&model.exprs, matrix.get(0, 0));
                match model.exprs.as_number(matrix.get(0, 0)) {
                    Some(_) => format!("the modulus of {name} is zero, so {what} is zero"),
                    None => format!("the modulus `{modulus}` of {name} is zero, so {what} is zero"),
                }
            }
            [] => format!("{name} forces {what} to be zero"),
            [other] if scalar => {
                let first = PortId(model.graph.elements[id.index()].ports.start);
                let is_output = port != first;
                // The equation gives `variable` of `port` as the modulus times that of the other port, reversed for the conjugates.
                let (partner, partner_variable) = match is_output {
                    true => (first, *input),
                    false => (PortId(first.0 + 1), output.conjugate()),
                };
                let forwards = port_column(port, variable) == column || {
                    // The junction's variable represents that of the port.
                    self.context.fact(column) == self.context.fact(port_column(port, variable))
                };
                let turned = self.sign(port, variable) != self.sign(partner, partner_variable);
                let negative = if is_output { turned } else { !turned };
                let factor = self.factor(matrix.get(0, 0), negative, forwards);
                let from = self.name(*other);
                match factor.as_str() {
                    "1" => format!("{name} transmits it: {what} equals {from}"),
                    factor => format!("{name} transmits it: {what} is {factor} times {from}"),
                }
            }
            others => {
                let names: Vec<String> = others.iter().map(|other| self.name(*other)).collect();
                format!("{name} transmits it: {what} follows from {}", list(&names))
            }
        }
    }

    /// Returns the sign of a port's variable relative to the reported one.
    fn sign(&self, port: PortId, variable: Variable) -> i8 {
        let side = &self.context.graph.ports[port.index()];
        let on_branch = matches!(
            self.context.model.graph.ports[port.index()].connection,
            Connection::Branch { .. }
        );
        match self.context.fact(port_column(port, variable)) {
            Fact::Own(..) if on_branch => 1,
            _ => match variable {
                Variable::Effort => side.effort_sign,
                Variable::Flow => side.flow_sign,
            },
        }
    }

    /// Formats a modulus or its inverse, with a sign, as the prefix of "times".
    fn factor(&self, modulus: ExprId, negative: bool, forwards: bool) -> String {
        // Few factors are printed, and only in an error, so copying the expressions is cheap.
        let mut exprs = self.context.model.exprs.clone();
        let one = exprs.one();
        let zero = exprs.is_zero(modulus);
        let factor = if forwards || zero {
            modulus
        } else {
            exprs.div(one, modulus)
        };
        let factor = if negative { exprs.neg(factor) } else { factor };
        match exprs.as_number(factor) {
            Some(number) => expr::print::number(number),
            None => format!("`{}`", expr::print::brief(&exprs, factor)),
        }
    }

    /// Explains equations that are only jointly sufficient.
    fn together(&self, rows: &[u32], column: u32) -> (Span, String) {
        let words = self.context.words;
        let what = self.name(column);
        let mut names: Vec<String> = Vec::new();
        let mut place = None;
        for row in rows.iter().filter(|row| !self.context.is_silent(**row)) {
            let (name, span) = match self.context.structure.equations[*row as usize] {
                Equation::Junction(junction) => (words.junction(junction), words.junction_span(junction)),
                Equation::Coupler(port, _) | Equation::Port(port) => {
                    let id = self.context.model.graph.ports[port.index()].element;
                    (
                        format!("`{}`", self.context.model.element_name(id)),
                        words.port_span(port),
                    )
                }
                Equation::Bond(bond) => ("a bond".to_string(), self.bond_span(bond)),
            };
            place = place.or(Some(span));
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let span = place.unwrap_or(words.port_span(self.port));
        if self.context.is_cut(rows) {
            let junction = rows
                .iter()
                .find_map(|row| match self.context.structure.equations[*row as usize] {
                    Equation::Junction(junction) => Some(junction),
                    _ => None,
                });
            let word = junction.map_or("flow".to_string(), |junction| self.balance_word(junction));
            let text = format!(
                "for {} together: the {} flowing in from outside add up to zero and set {what}",
                list(&names),
                plural(&word)
            );
            return (span, text);
        }
        let only = match self.is_zero {
            true => format!("no value except zero for {what}"),
            false => format!("only one value for {what}"),
        };
        let text = match names.len() {
            1 => format!("{} leaves {only}", names[0]),
            _ => format!(
                "none of {} decides this by itself, but together their equations leave {only}",
                list(&names)
            ),
        };
        (span, text)
    }

    fn bond_span(&self, bond: u32) -> Span {
        let drawn = self.context.graph.drawn.iter().position(|carrier| *carrier == bond);
        match drawn {
            Some(index) => self.context.model.graph.bonds[index].span,
            None => self.context.words.port_span(self.port),
        }
    }
}
