//! The matrices of LG2ss (Pourazadi, tables 5-1 to 5-3): their valid entries and their meaning.
//!
//! A graph row is `[branch, tail node, head node, type]`; node 1 is the ground. An output row is `[output, branch, type]`. Two consecutive
//! rows with consecutive branch numbers define one transformer or gyrator.

use super::matrix::{self, Entry, Matrix, Row};
use super::print;
use crate::elements::{Branch, Element, ElementType, GROUND, Output, OutputType};
use lgm_source::codes::Code;
use lgm_source::diagnostic::{Diagnostic, has_errors};
use lgm_source::{SourceId, SourceMap, Span};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

const WIDTH: Code = Code::LGM0804;
const UNKNOWN_TYPE: Code = Code::LGM0805;
const REPEATED_NUMBER: Code = Code::LGM0806;
const UNPAIRED: Code = Code::LGM0807;
const NO_GROUND: Code = Code::LGM0808;
const DANGLING: Code = Code::LGM0809;
const NO_SUCH_BRANCH: Code = Code::LGM0810;
const EMPTY: Code = Code::LGM0811;
const SELF_LOOP: Code = Code::LGM0812;
const BAD_NAME: Code = Code::LGM0813;

/// Turns the two matrices of LG2ss into a model of the given name.
///
/// The diagnostics of both texts are returned together, each with its location. The text is `None` if and only if one of them is an error.
pub fn lg2ss(map: &SourceMap, graph: SourceId, outputs: SourceId, name: &str) -> (Option<String>, Vec<Diagnostic>) {
    let mut faults = Vec::new();
    check_name(name, &mut faults);
    let graph = matrix::parse(map, graph, &mut faults);
    let outputs = matrix::parse(map, outputs, &mut faults);
    let elements = graph.as_ref().map(|graph| read_graph(graph, &mut faults));
    let outputs = outputs.map(|outputs| read_outputs(&outputs, graph.as_ref(), &mut faults));
    match (elements, outputs) {
        (Some(elements), Some(outputs)) if !has_errors(&faults) => {
            (Some(print::model(name, &elements, &outputs)), faults)
        }
        _ => (None, faults),
    }
}

fn check_name(name: &str, faults: &mut Vec<Diagnostic>) {
    let letters = name.starts_with(|letter: char| letter.is_ascii_alphabetic())
        && name
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    if !letters || lgm_syntax::is_reserved(name) {
        faults.push(
            Diagnostic::error(BAD_NAME, format!("`{name}` cannot be the name of a model")).help(
                "use ASCII letters, digits and `_`, starting with a letter, and avoid reserved words; for \
                    example `Circuit`",
            ),
        );
    }
}

fn read_graph(matrix: &Matrix, faults: &mut Vec<Diagnostic>) -> Vec<Element> {
    if matrix.rows.is_empty() {
        faults.push(
            Diagnostic::error(EMPTY, "the graph has no branches")
                .label(matrix.span, "this matrix is empty")
                .help("write one row for each branch: `[branch, tail node, head node, type]`"),
        );
        return Vec::new();
    }
    let rows = rows_of_width(matrix, 4, "a graph row is `branch, tail node, head node, type`", faults);
    check_repeats(&rows, "branch", faults);
    let elements = pair_up(&rows, faults);
    for row in &rows {
        let [_, tail, head, _] = columns(row);
        if tail.value == head.value {
            faults.push(
                Diagnostic::error(SELF_LOOP, format!("this branch starts and ends at node {}", tail.value))
                    .label(tail.span.to(head.span), "tail and head are the same node")
                    .help("a branch connects two different nodes; give its head node another number"),
            );
        }
    }
    // An unreadable row would lose its nodes.
    if rows.len() == matrix.rows.len() {
        check_nodes(matrix, &rows, faults);
    }
    elements
}

/// Returns the rows with the right number of entries, and reports the others.
fn rows_of_width<'a>(matrix: &'a Matrix, width: usize, layout: &str, faults: &mut Vec<Diagnostic>) -> Vec<&'a Row> {
    let mut rows = Vec::new();
    for (index, row) in matrix.rows.iter().enumerate() {
        let found = row.entries.len();
        if found == width {
            rows.push(row);
            continue;
        }
        let entries = if found == 1 { "entry" } else { "entries" };
        let fault = Diagnostic::error(
            WIDTH,
            format!("row {} has {found} {entries} instead of {width}", index + 1),
        )
        .label(row.span(), format!("{found} {entries}"));
        faults.push(if found > width && found.is_multiple_of(width) {
            fault.note(layout.to_owned()).help("write `;` between two rows")
        } else {
            fault.help(layout.to_owned())
        });
    }
    rows
}

/// Returns the entries of a row; its width is already checked.
fn columns<const N: usize>(row: &Row) -> [Entry; N] {
    row.entries
        .clone()
        .try_into()
        .expect("invariant: the width of the row was checked")
}

fn check_repeats(rows: &[&Row], what: &str, faults: &mut Vec<Diagnostic>) {
    let mut seen: FxHashMap<u32, Span> = FxHashMap::default();
    for row in rows {
        let number = row.entries[0];
        match seen.get(&number.value) {
            Some(first) => faults.push(
                Diagnostic::error(
                    REPEATED_NUMBER,
                    format!("there are two rows for {what} {}", number.value),
                )
                .label(number.span, "given again here")
                .label(*first, "first given here")
                .help(format!("give each {what} its own number")),
            ),
            None => {
                seen.insert(number.value, number.span);
            }
        }
    }
}

/// Reads types and joins the two rows of every transformer and gyrator.
fn pair_up(rows: &[&Row], faults: &mut Vec<Diagnostic>) -> Vec<Element> {
    let kinds: Vec<Option<ElementType>> = rows.iter().map(|row| element_type(row, faults)).collect();
    let mut elements = Vec::new();
    let mut at = 0;
    while at < rows.len() {
        let row = rows[at];
        let Some(kind) = kinds[at] else {
            at += 1;
            continue;
        };
        at += 1;
        if !kind.is_two_port() {
            elements.push(Element::One(branch(row, kind)));
            continue;
        }
        let first = branch(row, kind);
        let noun = kind.noun();
        // A next row of unknown type may be meant as the partner: one error is enough.
        if at < rows.len() && kinds[at].is_none() {
            continue;
        }
        if at < rows.len() && kinds[at] == Some(kind) {
            let second = branch(rows[at], kind);
            if first.number.checked_add(1) == Some(second.number) {
                elements.push(Element::Two(first, second));
            } else {
                faults.push(
                    Diagnostic::error(
                        UNPAIRED,
                        format!("the two branches of a {noun} must have consecutive numbers"),
                    )
                    .label(
                        rows[at].entries[0].span,
                        format!("branch {}, not {} + 1", second.number, first.number),
                    )
                    .label(row.entries[0].span, format!("branch {}, its first side", first.number))
                    .help(format!("number the second branch {}", u64::from(first.number) + 1)),
                );
            }
            at += 1;
        } else {
            faults.push(
                Diagnostic::error(
                    UNPAIRED,
                    format!("the {noun} of branch {} has only one row", first.number),
                )
                .label(row.span(), format!("a {noun} has two consecutive rows"))
                .help(format!(
                    "write its second side as the next row: branch {}, its two nodes and type {}",
                    u64::from(first.number) + 1,
                    row.entries[3].value
                )),
            );
        }
    }
    elements
}

fn element_type(row: &Row, faults: &mut Vec<Diagnostic>) -> Option<ElementType> {
    let entry = row.entries[3];
    let kind = ElementType::of(entry.value);
    if kind.is_none() {
        faults.push(
            Diagnostic::error(UNKNOWN_TYPE, format!("there is no element type {}", entry.value))
                .label(entry.span, "types range from 1 to 7")
                .help("1 A-type, 2 T-type, 3 D-type, 4 across source, 5 through source, 6 transformer, 7 gyrator"),
        );
    }
    kind
}

fn branch(row: &Row, kind: ElementType) -> Branch {
    let [number, tail, head, _] = columns(row);
    Branch {
        number: number.value,
        tail: tail.value,
        head: head.value,
        kind,
    }
}

/// Checks that every node except the ground has at least two branches, and that the whole graph is connected to the ground.
fn check_nodes(matrix: &Matrix, rows: &[&Row], faults: &mut Vec<Diagnostic>) {
    let mut uses: BTreeMap<u32, Vec<Span>> = BTreeMap::new();
    for row in rows {
        let [_, tail, head, _] = columns(row);
        uses.entry(tail.value).or_default().push(tail.span);
        uses.entry(head.value).or_default().push(head.span);
    }
    for (node, places) in &uses {
        if *node != GROUND && places.len() == 1 {
            faults.push(
                Diagnostic::error(DANGLING, format!("node {node} is the end of one branch only"))
                    .label(places[0], "no other branch ends here, so nothing can flow")
                    .help("connect another branch to this node, or correct its number"),
            );
        }
    }
    if !uses.contains_key(&GROUND) {
        faults.push(
            Diagnostic::error(NO_GROUND, "no branch ends at node 1")
                .label(matrix.span, "node 1 is the ground, to which across variables refer")
                .help("give the reference node of the graph the number 1"),
        );
        return;
    }
    let mut parts = Parts::new(uses.keys().copied());
    for row in rows {
        let [_, tail, head, _] = columns(row);
        parts.join(tail.value, head.value);
    }
    let ground = parts.root(GROUND);
    let mut floating: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for node in uses.keys() {
        let root = parts.root(*node);
        if root != ground {
            floating.entry(root).or_default().push(*node);
        }
    }
    for nodes in floating.values() {
        let listed: Vec<String> = nodes.iter().map(u32::to_string).collect();
        let noun = if nodes.len() == 1 { "node" } else { "nodes" };
        faults.push(
            Diagnostic::error(
                NO_GROUND,
                format!("no path leads from {noun} {} to the ground", listed.join(", ")),
            )
            .label(uses[&nodes[0]][0], "its across variable has no reference")
            .note("a transformer or gyrator couples its two sides by power, not by a path")
            .help("connect one node of this part to node 1"),
        );
    }
}

/// The connected nodes.
struct Parts {
    parent: FxHashMap<u32, u32>,
}

impl Parts {
    fn new(nodes: impl Iterator<Item = u32>) -> Parts {
        Parts {
            parent: nodes.map(|node| (node, node)).collect(),
        }
    }

    fn root(&mut self, node: u32) -> u32 {
        let mut at = node;
        while self.parent[&at] != at {
            let grandparent = self.parent[&self.parent[&at]];
            self.parent.insert(at, grandparent);
            at = grandparent;
        }
        at
    }

    fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        // The smaller number is the representative, so that the result is independent of the order of rows.
        self.parent.insert(a.max(b), a.min(b));
    }
}

fn read_outputs(matrix: &Matrix, graph: Option<&Matrix>, faults: &mut Vec<Diagnostic>) -> Vec<Output> {
    if matrix.rows.is_empty() {
        faults.push(
            Diagnostic::warning(EMPTY, "no outputs are requested")
                .label(matrix.span, "this matrix is empty")
                .help("write one row for each output: `[output, branch, type]`"),
        );
    }
    let rows = rows_of_width(matrix, 3, "an output row is `output, branch, type`", faults);
    check_repeats(&rows, "output", faults);
    let listed: Option<Vec<u32>> = graph.map(|graph| graph.rows.iter().map(|row| row.entries[0].value).collect());
    let branches: FxHashSet<u32> = listed.iter().flatten().copied().collect();
    let mut outputs = Vec::new();
    for row in rows {
        let [number, branch, kind] = columns(row);
        if let Some(listed) = &listed
            && !branches.contains(&branch.value)
        {
            let known: Vec<String> = listed.iter().take(20).map(u32::to_string).collect();
            let more = if listed.len() > known.len() { ", .." } else { "" };
            faults.push(
                Diagnostic::error(NO_SUCH_BRANCH, format!("the graph has no branch {}", branch.value))
                    .label(branch.span, "an output of this branch is requested")
                    .help(format!("its branches are {}{more}", known.join(", "))),
            );
        }
        match OutputType::of(kind.value) {
            Some(kind) => outputs.push(Output {
                number: number.value,
                branch: branch.value,
                kind,
            }),
            None => faults.push(
                Diagnostic::error(UNKNOWN_TYPE, format!("there is no output type {}", kind.value))
                    .label(kind.span, "types range from 1 to 4")
                    .help("1 across, 2 through, 3 integrated across, 4 integrated through"),
            ),
        }
    }
    outputs.sort_by_key(|output| output.number);
    outputs
}
