//! Checks of the complete graph: every part is connected.

mod references;
mod temperatures;

use crate::context::{Context, layer};
use lgm_model::NodeId;
use lgm_source::Span;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use rustc_hash::{FxHashMap, FxHashSet};

/// The constructed graph.
pub(crate) struct GraphCheck<'e, 'a> {
    cx: &'e mut Context<'a>,
}

layer!(GraphCheck<'e, 'a>, cx: Context<'a>);

/// Checks that every junction is connected, and that every part of a linear graph reaches `gnd` unless it is declared floating.
pub(crate) fn check(cx: &mut Context<'_>) {
    GraphCheck { cx }.check_connection();
}

impl GraphCheck<'_, '_> {
    /// Checks that every junction is connected, and that every part of a linear graph reaches `gnd` unless it is declared floating.
    pub fn check_connection(&mut self) {
        // If a part of the model could not be built, dangling parts are not errors of the graph.
        if self.program.is_damaged || lgm_source::diagnostic::has_errors(&self.reports.diagnostics) {
            return;
        }
        let mut floating: FxHashSet<u32> = FxHashSet::default();
        for at in 0..self.graph.model.graph.nodes.len() {
            if self.graph.model.graph.nodes[at].floating {
                floating.insert(self.graph.branching.part(NodeId(at as u32)));
            }
        }
        let mut loose: FxHashMap<u32, Vec<NodeId>> = FxHashMap::default();
        let mut order = Vec::new();
        for at in 0..self.graph.model.graph.nodes.len() {
            let id = NodeId(at as u32);
            let graph = &mut self.cx.graph;
            let node = &graph.model.graph.nodes[at];
            if !graph.branching.is_touched(id) {
                if node.entry.is_none_or(|entry| entry == 1) {
                    self.untouched(id);
                }
                continue;
            }
            if !node.is_graph_node {
                continue;
            }
            let part = self.graph.branching.part(id);
            if part != 0 && !floating.contains(&part) {
                let list = loose.entry(part).or_default();
                if list.is_empty() {
                    order.push(part);
                }
                list.push(id);
            }
        }
        for part in order {
            let list = &loose[&part];
            self.no_datum(list);
        }
        self.check_references();
        self.check_temperatures();
    }

    fn node_name(&self, id: NodeId) -> String {
        let node = &self.graph.model.graph.nodes[id.index()];
        let entry = node.entry.map_or(String::new(), |entry| format!("[{entry}]"));
        format!("{}{entry}", self.graph.model.path_name(node.path))
    }

    fn node_span(&self, id: NodeId) -> Span {
        self.graph.model.paths[self.graph.model.graph.nodes[id.index()].path.index()].span
    }

    fn untouched(&mut self, id: NodeId) {
        let node = &self.graph.model.graph.nodes[id.index()];
        let place = self.place_of(node.path);
        let name = self.graph.model.path_name(node.path);
        let diagnostic = match node.is_graph_node {
            true => Diagnostic::error(Code::LGM0312, format!("nothing is connected to the node `{name}`"))
                .label(self.node_span(id), "no branch ends here")
                .help("connect an element to it, or remove it"),
            false => Diagnostic::error(Code::LGM0312, format!("no bond ends at the junction `{name}`"))
                .label(self.node_span(id), "declared here, but no bond ends at it")
                .help("draw its bonds, or remove it"),
        };
        let empty = self.reports.empty_loops(place.frame).first();
        let diagnostic = match empty {
            Some(empty) => diagnostic.label(empty.range, "this range is empty, so the loop has no iterations"),
            None => diagnostic,
        };
        self.reports.here = place;
        self.report(diagnostic);
    }

    fn no_datum(&mut self, list: &[NodeId]) {
        let domain = self.graph.model.graph.nodes[list[0].index()].domain;
        let domain = domain.map_or(String::new(), |domain| {
            format!(" {}", self.graph.model.graph.domains[domain.index()].name)
        });
        let mut names: Vec<String> = list
            .iter()
            .take(4)
            .map(|id| format!("`{}`", self.node_name(*id)))
            .collect();
        if list.len() > names.len() {
            names.push(format!("{} more", list.len() - names.len()));
        }
        let first = self.node_name(list[0]);
        self.reports.here = self.place_of(self.graph.model.graph.nodes[list[0].index()].path);
        let mut diagnostic = Diagnostic::error(
            Code::LGM0313,
            match list.len() {
                1 => format!("the{domain} node {} has no path to `gnd`", names[0]),
                _ => format!("the{domain} nodes {} have no path to `gnd`", names.join(", ")),
            },
        )
        .label(
            self.node_span(list[0]),
            "nothing fixes its across variable: it has no datum",
        );
        let mut seen = vec![self.node_span(list[0])];
        for id in list.iter().skip(1).take(3) {
            let span = self.node_span(*id);
            if !seen.contains(&span) {
                diagnostic = diagnostic.label(span, "this one has no datum either");
                seen.push(span);
            }
        }
        diagnostic = diagnostic
            .note("branches connect nodes; a transformer or gyrator does not connect its two sides")
            .help(format!(
                "connect a branch to the reference, `gnd`; if only differences matter, write `node {first} : .., \
                 floating;`"
            ));
        self.report(diagnostic);
    }
}
