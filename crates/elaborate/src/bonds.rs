//! Bond chains: each arrow is a bond, and bond elements get their ports from the bonds that end at them.

use crate::context::words::shape_words;
use crate::context::{ArrowBonds, EndKey, GraphPart, NodeView, Place, Progress, layer};
use crate::evaluate::Evaluator;
use crate::expand::Deferred;
use lgm_model::{Bond, BondEnd, BondId, Connection, ElementId, NodeId, Port, PortId};
use lgm_source::Span;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_syntax::ast::{self, Expr, Item, Name};
use rustc_hash::{FxHashMap, FxHashSet};

/// The end of an arrow.
#[derive(Clone, Copy, Debug)]
pub(crate) enum End<'a> {
    Node(NodeView),
    Element(ElementId, Option<&'a Name>),
}

impl End<'_> {
    pub fn key(&self) -> EndKey {
        match self {
            End::Node(view) => EndKey::Node(view.base),
            End::Element(id, _) => EndKey::Element(*id),
        }
    }
}

/// One arrow, equivalent to a number of scalar bonds, the width of its ends.
#[derive(Clone, Copy, Debug)]
struct Arrow<'a> {
    tail: End<'a>,
    head: End<'a>,
    tail_span: Span,
    head_span: Span,
    width: Option<u32>,
}

/// A placeholder for a port of an element whose ports failed and were reported.
const FAILED: PortId = PortId(u32::MAX);

/// The bonds of all chains during construction.
pub(crate) struct Bonding<'e, 'a> {
    evaluator: &'e mut Evaluator<'a>,
}

layer!(Bonding<'e, 'a>, evaluator: Evaluator<'a>);

/// Makes the bonds of all chains, and the ports of all bond elements.
pub(crate) fn join_chains<'a>(evaluator: &mut Evaluator<'a>, chains: &[Deferred<'a, Vec<Expr>>]) {
    Bonding { evaluator }.join_chains(chains);
}

impl<'a> Bonding<'_, 'a> {
    /// Makes the bonds of all chains, and the ports of all bond elements.
    fn join_chains(&mut self, chains: &[Deferred<'a, Vec<Expr>>]) {
        let mut arrows: Vec<Arrow<'a>> = Vec::new();
        // Elements that lack a bond because of a reported error at its other end.
        let mut excused: FxHashSet<ElementId> = FxHashSet::default();
        for later in chains {
            self.reports.here = later.place;
            let ends: Vec<Option<End<'a>>> = later
                .statement
                .iter()
                .map(|expr| self.chain_end(expr, later.place))
                .collect();
            for (pair, words) in ends.windows(2).zip(later.statement.windows(2)) {
                let arrow = match *pair {
                    [Some(tail), Some(head)] => self.arrow(tail, head, words[0].span, words[1].span),
                    _ => None,
                };
                match arrow {
                    Some(arrow) => arrows.push(arrow),
                    None => excused.extend(pair.iter().flatten().filter_map(|end| match end {
                        End::Element(id, _) => Some(*id),
                        End::Node(_) => None,
                    })),
                }
            }
        }
        let mut uses: FxHashMap<ElementId, Vec<(usize, bool)>> = FxHashMap::default();
        for (at, arrow) in arrows.iter().enumerate() {
            for (end, is_tail) in [(arrow.tail, true), (arrow.head, false)] {
                if let End::Element(id, _) = end {
                    uses.entry(id).or_default().push((at, is_tail));
                }
            }
        }
        self.spread_widths(&mut arrows, &uses);
        let mut firsts = Vec::with_capacity(arrows.len());
        let mut next = 0;
        for arrow in &arrows {
            firsts.push(next);
            next += arrow.width.unwrap_or(1);
        }
        // The port at each end of an arrow: one entry for the tail, one for the head.
        let mut ports: Vec<[Option<u32>; 2]> = vec![[None; 2]; arrows.len()];
        for index in 0..self.graph.records.len() {
            let program = self.program;
            let Item::Element(element) = program.item(self.graph.records[index].definition) else {
                continue;
            };
            if element.domain.as_ref().is_none_or(|domain| &*domain.text != "bond") {
                continue;
            }
            if self.graph.records[index].progress == Progress::Failed {
                continue;
            }
            let id = ElementId(index as u32);
            self.reports.here = self.graph.records[index].place;
            let list = uses.get(&id).map_or(&[][..], |list| list);
            // Missing bonds may be in the unreadable part of the text.
            let is_excused = excused.contains(&id) || self.program.is_damaged;
            if is_excused && list.len() < element.ports.len().max(1) {
                self.graph.records[index].progress = Progress::Failed;
                continue;
            }
            if !self.bond_ports(id, element, list, &arrows, &firsts, &mut ports) {
                self.graph.records[index].progress = Progress::Failed;
            }
        }
        self.make_bonds(&arrows, &firsts, &ports);
    }

    fn chain_end(&mut self, expr: &'a Expr, place: Place) -> Option<End<'a>> {
        if let Some((id, owner, port)) = self.element_port(expr, place) {
            return self.bond_element(id, owner, Some(port));
        }
        match self.graph_part(expr, place) {
            GraphPart::Nodes(view) if view.is_ground() => {
                let diagnostic = Diagnostic::error(Code::LGM0308, "a bond cannot end at `gnd`")
                    .label(expr.span, "the reference is not a junction")
                    .help("remove this bond: elements at a junction act against the reference");
                self.report(diagnostic);
                None
            }
            GraphPart::Nodes(view) => {
                let shape = &self.scopes.shapes[view.shape as usize];
                if !shape.sizes.is_empty() {
                    let words = shape_words(shape);
                    let diagnostic = Diagnostic::error(Code::LGM0115, "one junction is required here")
                        .label(expr.span, format!("this is {words}"))
                        .help("write its index after it, such as `[1]`");
                    self.report(diagnostic);
                    return None;
                }
                Some(End::Node(view))
            }
            GraphPart::Element(id) => self.bond_element(id, expr, None),
            GraphPart::Modal(..) => {
                let diagnostic =
                    Diagnostic::error(Code::LGM0308, "a bond ends at junctions, nodes and bond graph elements")
                        .label(expr.span, "this is a modal block")
                        .help("connect it to nodes by branches, and connect bonds to those nodes");
                self.report(diagnostic);
                None
            }
            GraphPart::Component(_) => {
                let diagnostic = Diagnostic::error(Code::LGM0308, "a bond cannot end at a component")
                    .label(expr.span, "this is a component")
                    .help("name a junction inside it, `sub.J`, or bind one of its ports to a node");
                self.report(diagnostic);
                None
            }
            GraphPart::Failed | GraphPart::Absent | GraphPart::Indexed(_) => None,
        }
    }

    fn bond_element(&mut self, id: ElementId, expr: &'a Expr, port: Option<&'a Name>) -> Option<End<'a>> {
        let program = self.program;
        let Item::Element(element) = program.item(self.graph.records[id.index()].definition) else {
            return None;
        };
        if element.domain.as_ref().is_none_or(|domain| &*domain.text != "bond") {
            let diagnostic =
                Diagnostic::error(Code::LGM0308, "a bond ends at junctions, nodes and bond graph elements")
                    .label(expr.span, "this is an element of a linear graph")
                    .label(element.name.span, "declared here")
                    .help("bond to the node that it is connected to");
            self.report(diagnostic);
            return None;
        }
        if let Some(port) = port
            && !element
                .ports
                .iter()
                .any(|declared| declared.declared.name.text == port.text)
        {
            let mut diagnostic = Diagnostic::error(
                Code::LGM0135,
                format!("`{}` has no port `{}`", element.name.text, port.text),
            )
            .label(port.span, "no such port")
            .label(element.name.span, "declared here");
            let names = element.ports.iter().map(|declared| &*declared.declared.name.text);
            diagnostic.help = lgm_source::nearest::did_you_mean(&port.text, names)
                .or_else(|| Some("it has a single port: write only its name".to_string()));
            self.report(diagnostic);
            return None;
        }
        Some(End::Element(id, port))
    }

    fn arrow(&mut self, tail: End<'a>, head: End<'a>, tail_span: Span, head_span: Span) -> Option<Arrow<'a>> {
        if tail.key() == head.key() {
            let diagnostic = Diagnostic::error(Code::LGM0308, "a bond must connect two different elements")
                .label(tail_span.to(head_span), "this bond starts and ends at the same element")
                .help("connect it to another junction or element, or remove it");
            self.report(diagnostic);
            return None;
        }
        let width = |end: &End| match end {
            End::Node(view) => Some(self.scopes.shapes[view.shape as usize].width),
            End::Element(..) => None,
        };
        let (a, b) = (width(&tail), width(&head));
        if let (Some(a), Some(b)) = (a, b)
            && a != b
        {
            let diagnostic =
                Diagnostic::error(Code::LGM0202, format!("a bond connects junctions of width {a} and {b}"))
                    .label(tail_span, format!("this has width {a}"))
                    .label(head_span, format!("this has width {b}"))
                    .help("connect junctions of different width with a `TF` or `GY` with a matrix");
            self.report(diagnostic);
            return None;
        }
        if let (End::Node(a), End::Node(b)) = (tail, head) {
            let domain = |view: NodeView| self.graph.model.graph.nodes[view.base as usize].domain;
            if let (Some(a), Some(b)) = (domain(a), domain(b))
                && a != b
            {
                let name = |id: lgm_model::DomainId| self.graph.model.graph.domains[id.index()].name.to_string();
                let (a, b) = (name(a), name(b));
                let diagnostic = Diagnostic::error(Code::LGM0303, format!("a bond connects the domains {a} and {b}"))
                    .label(tail_span, format!("this is {a}"))
                    .label(head_span, format!("this is {b}"))
                    .help("domains are coupled by `TF` or `GY`");
                self.report(diagnostic);
                return None;
            }
        }
        Some(Arrow {
            tail,
            head,
            tail_span,
            head_span,
            width: a.or(b),
        })
    }

    /// Gives arrows between two elements the width of the next arrow, or 1.
    fn spread_widths(&mut self, arrows: &mut [Arrow<'a>], uses: &FxHashMap<ElementId, Vec<(usize, bool)>>) {
        let mut waiting: Vec<usize> = (0..arrows.len()).filter(|at| arrows[*at].width.is_some()).collect();
        while let Some(at) = waiting.pop() {
            for end in [arrows[at].tail, arrows[at].head] {
                let End::Element(id, _) = end else {
                    continue;
                };
                for (other, _) in &uses[&id] {
                    if arrows[*other].width.is_none() {
                        arrows[*other].width = arrows[at].width;
                        waiting.push(*other);
                    }
                }
            }
        }
        for arrow in arrows.iter_mut() {
            arrow.width.get_or_insert(1);
        }
    }

    fn bond_ports(
        &mut self,
        id: ElementId,
        element: &'a ast::Element,
        uses: &[(usize, bool)],
        arrows: &[Arrow<'a>],
        firsts: &[u32],
        ports: &mut [[Option<u32>; 2]],
    ) -> bool {
        let start = self.graph.model.graph.ports.len() as u32;
        let mut chosen: Vec<(Option<&'a Name>, usize, bool)> = Vec::new();
        if self.names_no_port(id, element, uses, arrows) {
            return false;
        }
        if element.ports.is_empty() {
            let [(arrow, is_tail)] = *uses else {
                self.wrong_bonds(id, element, None, uses, arrows);
                return false;
            };
            chosen.push((None, arrow, is_tail));
        }
        for port in &element.ports {
            let name = &port.declared.name;
            let fitting: Vec<(usize, bool)> = uses
                .iter()
                .copied()
                .filter(|(at, is_tail)| {
                    let end = if *is_tail { arrows[*at].tail } else { arrows[*at].head };
                    match end {
                        End::Element(_, Some(written)) => written.text == name.text,
                        _ => &*name.text == if *is_tail { "out" } else { "in" },
                    }
                })
                .collect();
            let [(arrow, is_tail)] = fitting[..] else {
                self.wrong_bonds(id, element, Some(name), &fitting, arrows);
                return false;
            };
            chosen.push((Some(name), arrow, is_tail));
        }
        for (name, arrow, is_tail) in chosen {
            ports[arrow][usize::from(!is_tail)] = Some(self.graph.model.graph.ports.len() as u32);
            let width = arrows[arrow].width.unwrap_or(1);
            for entry in 0..width {
                self.graph.model.graph.ports.push(Port {
                    element: id,
                    name: name.map(|name| name.text.clone()),
                    entry: (width > 1).then_some(entry + 1),
                    domain: None,
                    connection: Connection::Bond(BondId(firsts[arrow] + entry)),
                });
            }
        }
        self.graph.model.graph.elements[id.index()].ports = start..self.graph.model.graph.ports.len() as u32;
        true
    }

    /// Reports bonds that end at an element with several ports without naming a port.
    fn names_no_port(
        &mut self,
        id: ElementId,
        element: &'a ast::Element,
        uses: &[(usize, bool)],
        arrows: &[Arrow<'a>],
    ) -> bool {
        let names: Vec<&str> = element.ports.iter().map(|port| &*port.declared.name.text).collect();
        // An arrow into an element ends at its port `in`, and one out of it begins at `out`.
        let mut unnamed = Vec::new();
        for (at, is_tail) in uses {
            let arrow = &arrows[*at];
            let (end, span) = match is_tail {
                true => (arrow.tail, arrow.tail_span),
                false => (arrow.head, arrow.head_span),
            };
            let implied = if *is_tail { "out" } else { "in" };
            if matches!(end, End::Element(_, None)) && !names.contains(&implied) {
                unnamed.push(span);
            }
        }
        if names.is_empty() || unnamed.is_empty() {
            return false;
        }
        let name = self.graph.model.element_name(id);
        let list: Vec<String> = names.iter().map(|port| format!("`{port}`")).collect();
        let mut diagnostic = Diagnostic::error(Code::LGM0309, format!("a bond to `{name}` must name its port"));
        for span in unnamed.into_iter().take(4) {
            diagnostic = diagnostic.label(span, "which port?");
        }
        let diagnostic = diagnostic
            .label(element.name.span, format!("its ports are {}", list.join(", ")))
            .help(format!("write the port after the name: `A -> {name}.{};`", names[0]));
        self.report(diagnostic);
        true
    }

    fn wrong_bonds(
        &mut self,
        id: ElementId,
        element: &'a ast::Element,
        port: Option<&'a Name>,
        uses: &[(usize, bool)],
        arrows: &[Arrow<'a>],
    ) {
        let instance = self.graph.records[id.index()].instance;
        let name = self.graph.model.element_name(id);
        let count = match uses.len() {
            0 => "no bond".to_string(),
            count => format!("{count} bonds"),
        };
        let (message, help) = match port.map(|port| &*port.text) {
            None => (
                format!("`{name}` has {count}, but exactly one is required"),
                match uses.len() {
                    0 => format!("draw it: `J -> {name};` (or `{name} -> J;` for a source)"),
                    _ => format!("connect these bonds to a junction, and bond `{name}` to it"),
                },
            ),
            Some("in") => (
                format!(
                    "`{name}` has {} into it, but exactly one is required",
                    count.replace("bond", "arrow")
                ),
                format!("draw one arrow into it and one out of it: `A -> {name} -> B;`"),
            ),
            Some("out") => (
                format!(
                    "`{name}` has {} out of it, but exactly one is required",
                    count.replace("bond", "arrow")
                ),
                format!("draw one arrow into it and one out of it: `A -> {name} -> B;`"),
            ),
            Some(port) => (
                format!("the port `{port}` of `{name}` has {count}, and needs exactly one"),
                format!("draw it: `A -> {name}.{port};`"),
            ),
        };
        let mut diagnostic = Diagnostic::error(Code::LGM0309, message).label(instance.declared.span, count);
        for (at, is_tail) in uses.iter().take(4) {
            let arrow = &arrows[*at];
            let span = if *is_tail { arrow.tail_span } else { arrow.head_span };
            diagnostic = diagnostic.label(span, "a bond ends here");
        }
        if uses.is_empty() && port.is_some() {
            diagnostic = diagnostic.label(element.name.span, "declared here");
        }
        self.report(diagnostic.help(help));
    }

    fn make_bonds(&mut self, arrows: &[Arrow<'a>], firsts: &[u32], ports: &[[Option<u32>; 2]]) {
        for (at, arrow) in arrows.iter().enumerate() {
            let width = arrow.width.unwrap_or(1);
            let bonds = ArrowBonds {
                first: firsts[at],
                width,
            };
            let key = (arrow.tail.key(), arrow.head.key());
            self.graph.bond_ends.arrows.entry(key).or_default().push(bonds);
            for k in 0..width {
                let end = |end: &End, port: Option<u32>| match end {
                    End::Node(view) => BondEnd::Node(NodeId(view.base + k)),
                    End::Element(..) => BondEnd::Port(port.map_or(FAILED, |port| PortId(port + k))),
                };
                let bond = Bond {
                    tail: end(&arrow.tail, ports[at][0]),
                    head: end(&arrow.head, ports[at][1]),
                    span: arrow.tail_span.to(arrow.head_span),
                };
                for end in [bond.tail, bond.head] {
                    if let BondEnd::Node(node) = end {
                        // Elements bonded to a graph node act against the reference.
                        self.graph.branching.join(Some(node), None);
                    }
                }
                self.graph.model.graph.bonds.push(bond);
            }
        }
    }
}
