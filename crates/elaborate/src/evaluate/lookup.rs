//! The meanings of names: loop indices, values of the frame, nodes and instances.

use crate::context::reports::EmptyLoop;
use crate::context::values::{DimId, Value};
use crate::context::{
    AtPlace, FrameId, GraphPart, Indices, NodeShape, NodeView, Origin, Place, ValueSlot, index_text, pair,
};
use crate::evaluate::Evaluator;
use crate::syntax_queries::declared_at;
use lgm_source::Span;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_source::nearest::corrections;
use lgm_syntax::ast::{Declared, Expr, ExprKind, Name};

/// Beyond this number of errors, similar names are not searched for.
const MOST_SUGGESTED: usize = 100;

impl<'a> Evaluator<'a> {
    /// Returns the value to which an enclosing expression binds a name.
    fn bound_value(&self, name: &str) -> Option<Value> {
        let found = self.bound.iter().rev().find(|bound| bound.0 == name);
        found.map(|bound| bound.1.clone())
    }

    /// Returns the value of a plain name.
    pub(super) fn name_value(&mut self, name: &'a Name, place: Place) -> Value {
        if let Some(value) = self.bound_value(&name.text) {
            return value;
        }
        if let Some(value) = self.scopes.loop_index(&name.text, place) {
            // An index is a number without a unit, like a literal: it matches every unit.
            let expr = self.arena.exprs.integer(value);
            return Value::scalar(expr, DimId::PLAIN);
        }
        if self.law.is_some() && !self.is_apart {
            return self.law_name(name);
        }
        match &*name.text {
            "time" if self.law.is_some() => return self.law_name(name),
            "time" => {
                let expr = self.time();
                return Value::scalar(expr, DimId::UNKNOWN);
            }
            "pi" => {
                let expr = self.arena.exprs.pi();
                return Value::scalar(expr, DimId::PLAIN);
            }
            "gnd" => {
                let diagnostic = Diagnostic::error(Code::LGM0113, "`gnd` is a node, not a number")
                    .label(name.span, "the reference node")
                    .help("write 0 if you mean a number");
                self.report(diagnostic);
                return Value::Error;
            }
            _ => {}
        }
        let slot = match self.is_apart {
            true => None,
            false => self.scopes.value_slot(&name.text, place.frame),
        };
        match slot {
            Some(slot) => self.slot_value(slot, None, &name.text, name.span, place.frame),
            None => self.global_constant(name).unwrap_or_else(|| {
                self.not_a_value(name, place.frame);
                Value::Error
            }),
        }
    }

    fn not_a_value(&mut self, name: &'a Name, frame: FrameId) {
        // Undeclared names are reported by `names`; here a name of the graph is used as a value.
        if self.scopes.part_slot(&name.text, frame).is_none() {
            return;
        }
        let diagnostic = Diagnostic::error(
            Code::LGM0113,
            format!("`{}` is a part of the graph, not a number", name.text),
        )
        .label(name.span, "a number is required here")
        .help(
            match self
                .scopes
                .part_slot(&name.text, frame)
                .map(|slot| &self.scopes.parts[slot])
            {
                // A node itself has no through variable.
                Some(GraphPart::Nodes(view)) if self.scopes.shapes[view.shape as usize].sizes.is_empty() => {
                    format!("measure one of its variables: `across({})`", name.text)
                }
                Some(GraphPart::Element(_)) => {
                    format!(
                        "measure one of its variables: `across({0})` or `through({0})`",
                        name.text
                    )
                }
                Some(GraphPart::Component(inside)) => {
                    let body = self.scopes.frames[inside.0 as usize].body as usize;
                    match self.scopes.bodies[body].output_names().next() {
                        Some(output) => format!("write its output: `{}.{output}`", name.text),
                        None => "measure a variable of one of its elements, such as `across(..)`".to_string(),
                    }
                }
                _ => "measure a variable of one of its elements, such as `across(..)`".to_string(),
            },
        );
        let diagnostic = self.label_declared(diagnostic, &name.text, frame, "declared here");
        self.report(diagnostic);
    }

    /// Returns the value in a slot, evaluated when it is first requested.
    pub(crate) fn slot_value(
        &mut self,
        slot: usize,
        indices: Option<Indices>,
        name: &str,
        span: Span,
        frame: FrameId,
    ) -> Value {
        let entry = match (&mut self.scopes.values[slot], indices) {
            (ValueSlot::Indexed(map), Some(at)) => match map.get_mut(&at) {
                Some(entry) => entry,
                None => {
                    let written = index_text(at);
                    let diagnostic = Diagnostic::error(Code::LGM0114, format!("`{name}[{written}]` is not declared"))
                        .label(span, format!("no statement declares `{name}` with this index"))
                        .help("indices start at 1, and ranges include both ends");
                    let diagnostic = self.label_declared(diagnostic, name, frame, "declared here, with other indices");
                    self.report(diagnostic);
                    return Value::Error;
                }
            },
            (ValueSlot::Indexed(_), None) => {
                let diagnostic = Diagnostic::error(
                    Code::LGM0115,
                    format!("`{name}` is an array, but a single entry is required"),
                )
                .label(span, "the index is missing")
                .help(format!("write `{name}[1]`"));
                self.report(diagnostic);
                return Value::Error;
            }
            (plain, _) => plain,
        };
        match entry {
            ValueSlot::Done(value) => value.clone(),
            ValueSlot::Absent => {
                self.not_taken(name, span, frame);
                Value::Error
            }
            ValueSlot::Busy => {
                let from = self
                    .open
                    .iter()
                    .rposition(|open| open.0 == (slot, indices))
                    .unwrap_or(0);
                if let Some(value) = self.use_behind_delay(from, ((slot, indices), name, span)) {
                    return value;
                }
                let mut chain: Vec<String> = self.open[from..].iter().map(|open| format!("`{}`", open.1)).collect();
                let others: Vec<(String, Span)> = self.open[from..]
                    .iter()
                    .skip(1)
                    .take(3)
                    .map(|open| (open.1.clone(), open.2))
                    .collect();
                chain.push(format!("`{name}`"));
                let mut diagnostic = Diagnostic::error(Code::LGM0117, format!("`{name}` is defined through itself"))
                    .label(span, "this use closes the cycle");
                for (other, place) in others {
                    diagnostic = diagnostic.label(place, format!("`{other}` is required here"));
                }
                let diagnostic = diagnostic
                    .note(format!("{} in a cycle", chain.join(" needs ")))
                    .help("break the cycle: a value may depend on itself only through `state z = int(..)`");
                self.report(diagnostic);
                Value::Error
            }
            ValueSlot::Deferred(origin, env) => {
                let (origin, env) = (*origin, *env);
                *entry = ValueSlot::Busy;
                let value = if self.enter(span) {
                    self.open.push(((slot, indices), name.to_string(), span));
                    let place = Place { frame, env };
                    // A root around a use does not change the meaning of a name in its declaration.
                    let bound = std::mem::take(&mut self.bound);
                    let value = self.at(place, |this| this.evaluate_origin(origin, place, indices));
                    let value = value.named();
                    self.bound = bound;
                    self.open.pop();
                    self.depth -= 1;
                    value
                } else {
                    Value::Error
                };
                let entry = match (&mut self.scopes.values[slot], indices) {
                    (ValueSlot::Indexed(map), Some(at)) => map.entry(at).or_default(),
                    (plain, _) => plain,
                };
                *entry = ValueSlot::Done(value.clone());
                value
            }
            ValueSlot::Indexed(_) => Value::Error,
        }
    }

    fn evaluate_origin(&mut self, origin: Origin<'a>, place: Place, indices: Option<Indices>) -> Value {
        match origin {
            Origin::Formal(at) => self.formal_value(at as usize, place.frame),
            Origin::Param(assigned) => self.param_value(assigned, place),
            Origin::Const(assigned) => self.const_value(assigned, place),
            Origin::Input(assigned) => self.input_value(assigned, place),
            Origin::Signal(indexed) => self.eval(&indexed.value, place),
            Origin::Output(indexed) => self.output_value(indexed, place),
            Origin::State(indexed) => self.state_value(indexed, place, indices),
            Origin::Discrete(indexed) => self.discrete_value(indexed, place, indices),
        }
    }

    /// Returns the part of the graph that an expression names; errors are reported.
    pub(crate) fn graph_part(&mut self, expr: &'a Expr, place: Place) -> GraphPart {
        match &expr.kind {
            ExprKind::Name(name) if &*name.text == "gnd" => GraphPart::Nodes(NodeView::ground()),
            ExprKind::Name(name) => self.named_part(name, None, place.frame, name.span),
            ExprKind::Index(base, indices) => {
                let Some(list) = self.integers(indices, place) else {
                    return GraphPart::Failed;
                };
                let (name, frame) = match &base.kind {
                    ExprKind::Name(name) => (name, place.frame),
                    ExprKind::Member(owner, name) => match self.graph_part(owner, place) {
                        GraphPart::Component(frame) => (name, frame),
                        other => return self.member_of(other, owner, name),
                    },
                    _ => {
                        let inner = self.graph_part(base, place);
                        return self.part_entry(inner, &list, expr.span);
                    }
                };
                if let Some(slot) = self.scopes.part_slot(&name.text, frame)
                    && matches!(self.scopes.parts[slot], GraphPart::Indexed(_))
                {
                    return self.named_part(name, Some(&list), frame, expr.span);
                }
                let inner = self.named_part(name, None, frame, name.span);
                self.part_entry(inner, &list, expr.span)
            }
            ExprKind::Member(owner, name) => match self.graph_part(owner, place) {
                GraphPart::Component(frame) => self.named_part(name, None, frame, name.span),
                other => self.member_of(other, owner, name),
            },
            ExprKind::Missing => GraphPart::Failed,
            _ => {
                let diagnostic = Diagnostic::error(Code::LGM0118, "a node or an instance is required here")
                    .label(expr.span, "this is a value")
                    .help("write the name of a node or an instance, such as `x`, `v[2]`, `cell[2].c` or `gnd`");
                self.report(diagnostic);
                GraphPart::Failed
            }
        }
    }

    fn member_of(&mut self, owner: GraphPart, owner_expr: &'a Expr, name: &'a Name) -> GraphPart {
        if !matches!(owner, GraphPart::Failed | GraphPart::Absent) {
            let diagnostic = Diagnostic::error(Code::LGM0119, format!("`{}` is not accessible here", name.text))
                .label(name.span, "no such member")
                .label(owner_expr.span, "this is not an instance of a component")
                .help("only component instances contain elements; measure an element with `across(..)`");
            self.report(diagnostic);
        }
        GraphPart::Failed
    }

    fn named_part(&mut self, name: &'a Name, indices: Option<&[i64]>, frame: FrameId, span: Span) -> GraphPart {
        let Some(slot) = self.scopes.part_slot(&name.text, frame) else {
            self.no_such_part(name, frame);
            return GraphPart::Failed;
        };
        match (&self.scopes.parts[slot], indices) {
            (GraphPart::Indexed(map), Some(list)) => {
                let at = pair(list);
                if let Some(found) = map.get(&at) {
                    return found.clone();
                }
                let diagnostic = Diagnostic::error(
                    Code::LGM0114,
                    format!("`{}[{}]` is not declared", name.text, index_text(at)),
                )
                .label(span, format!("no statement declares `{}` with this index", name.text))
                .help("indices start at 1, and ranges include both ends");
                let diagnostic =
                    self.label_declared(diagnostic, &name.text, frame, "declared here, with other indices");
                self.report(diagnostic);
                GraphPart::Failed
            }
            (GraphPart::Indexed(_), None) => {
                let diagnostic = Diagnostic::error(
                    Code::LGM0115,
                    format!("`{}` is an array, but a single entry is required", name.text),
                )
                .label(span, "the index is missing")
                .help(format!("write `{}[1]`", name.text));
                self.report(diagnostic);
                GraphPart::Failed
            }
            (GraphPart::Absent, _) => {
                self.not_taken(&name.text, span, frame);
                GraphPart::Failed
            }
            (found, None) => found.clone(),
            (found, Some(list)) => {
                let found = found.clone();
                self.part_entry(found, list, span)
            }
        }
    }

    /// Reports a name whose only declarations are in branches of an `if` that are not taken.
    fn not_taken(&mut self, name: &str, span: Span, frame: FrameId) {
        let statements = self.scopes.bodies[self.scopes.frames[frame.0 as usize].body as usize].statements;
        let mut diagnostic = Diagnostic::error(Code::LGM0116, format!("`{name}` does not exist in this scope"))
            .label(span, "it is used here");
        let declared = declared_at(statements, name);
        let is_around = |each: &&EmptyLoop| {
            let is_within = |span: Span| {
                span.source == each.body.source && span.start >= each.body.start && span.end <= each.body.end
            };
            declared.is_some_and(is_within)
        };
        if let (Some(declared), Some(around)) = (declared, self.reports.empty_loops(frame).iter().find(is_around)) {
            let diagnostic = diagnostic
                .label(declared, "declared here, in a loop without iterations")
                .label(around.range, "this range is empty: its end is below its start")
                .help(format!(
                    "write an `if` around statements that need `{name}`, or a nonempty range, such as `1:1`"
                ));
            self.report(diagnostic);
            return;
        }
        if let Some(declared) = declared {
            diagnostic = diagnostic.label(
                declared,
                "declared here, in an `if` branch that was not taken or in a dependency cycle",
            );
        }
        self.report(diagnostic.help(format!(
            "use `{name}` inside the same `if`, declare it in every branch, or break the cycle"
        )));
    }

    fn no_such_part(&mut self, name: &'a Name, frame: FrameId) {
        let body = &self.scopes.bodies[self.scopes.frames[frame.0 as usize].body as usize];
        if self.scopes.value_slot(&name.text, frame).is_some() {
            let diagnostic = Diagnostic::error(
                Code::LGM0118,
                format!("`{}` is a value, not a part of the graph", name.text),
            )
            .label(name.span, "a node or an instance is required here")
            .help("nodes are declared with `node`, instances with `name : Element(..) a -> b;`");
            let diagnostic = self.label_declared(diagnostic, &name.text, frame, "declared here, as a value");
            self.report(diagnostic);
            return;
        }
        let message = format!("`{}` has no node or instance `{}`", body.name.text, name.text);
        if self.reports.is_missed_elsewhere(&message, name.span) {
            return;
        }
        let body = &self.scopes.bodies[self.scopes.frames[frame.0 as usize].body as usize];
        // Similar names are not useful for very many errors.
        let is_suggesting = self.reports.diagnostics.len() < MOST_SUGGESTED;
        let fixes = match is_suggesting {
            true => corrections(name.span, &name.text, body.parts.keys().copied()),
            false => Box::default(),
        };
        // It may be in the unreadable part of the text.
        if self.program.is_damaged && fixes.is_empty() {
            return;
        }
        let help = is_suggesting
            .then(|| lgm_source::nearest::did_you_mean(&name.text, body.parts.keys().copied()))
            .flatten();
        let mut diagnostic = Diagnostic::error(Code::LGM0111, message).label(name.span, "not declared");
        diagnostic.fixes = fixes;
        if let Some(help) = help {
            diagnostic = diagnostic.help(help);
        }
        self.report(diagnostic);
    }

    fn part_entry(&mut self, part: GraphPart, indices: &[i64], span: Span) -> GraphPart {
        match part {
            GraphPart::Nodes(view) => {
                let mut view = view;
                for index in indices {
                    match self.index_view(view, *index, span) {
                        Some(next) => view = next,
                        None => return GraphPart::Failed,
                    }
                }
                GraphPart::Nodes(view)
            }
            GraphPart::Failed | GraphPart::Absent => GraphPart::Failed,
            GraphPart::Element(_) | GraphPart::Component(_) | GraphPart::Modal(..) | GraphPart::Indexed(_) => {
                let diagnostic = Diagnostic::error(Code::LGM0120, "this cannot be indexed")
                    .label(span, "an index is written here")
                    .help("index the measured variable of a vector element: `across(M)[2]`");
                self.report(diagnostic);
                GraphPart::Failed
            }
        }
    }

    /// Returns one entry of an array of nodes, or the scalar slice of a vector node.
    fn index_view(&mut self, view: NodeView, index: i64, span: Span) -> Option<NodeView> {
        if view.is_ground() {
            return Some(view);
        }
        let shape = self.scopes.shapes[view.shape as usize].clone();
        let (size, stride, next) = match shape.sizes.split_first() {
            Some((size, rest)) => {
                let stride = rest.iter().product::<i64>() * i64::from(shape.width);
                let next = NodeShape {
                    sizes: rest.to_vec(),
                    ..shape
                };
                (*size, stride, next)
            }
            None if shape.vector => {
                let next = NodeShape {
                    sizes: Vec::new(),
                    width: 1,
                    vector: false,
                };
                (i64::from(shape.width), 1, next)
            }
            None => {
                let diagnostic = Diagnostic::error(Code::LGM0120, "this node cannot be indexed")
                    .label(span, "it is a single scalar node")
                    .help("remove the index, or declare an array: `node v[N] : electrical;`");
                self.report(diagnostic);
                return None;
            }
        };
        if size == 0 {
            let diagnostic = Diagnostic::error(
                Code::LGM0121,
                format!("the array is empty, so the index {index} is out of range"),
            )
            .label(span, "the size of this array is 0")
            .help(
                "a size of 0 and an empty range `1:0` are allowed: write an `if` around statements that need an \
                entry",
            );
            self.report(diagnostic);
            return None;
        }
        if index < 1 || index > size {
            let diagnostic = Diagnostic::error(Code::LGM0121, format!("the index {index} is outside 1:{size}"))
                .label(
                    span,
                    format!("there {} {size}", if size == 1 { "is only" } else { "are" }),
                )
                .help("indices start at 1, and ranges include both ends");
            let declared = &self.graph.model.paths[self.graph.model.graph.nodes[view.base as usize].path.index()];
            let words = format!("`{}` is declared here", declared.name);
            let diagnostic = lgm_model::instances::label_once(diagnostic, declared.span, words);
            self.report(diagnostic);
            return None;
        }
        let offset = (index - 1) * stride;
        Some(NodeView {
            base: view.base + offset as u32,
            shape: self.scopes.shapes.insert_full(next).0 as u32,
        })
    }

    /// Returns the indices of a declared name, `cell[i, j]`; `None` if it has none, `Err` if they failed.
    pub(crate) fn declared_indices(&mut self, declared: &'a Declared, place: Place) -> Result<Option<Indices>, ()> {
        let Some(first) = declared.brackets.first() else {
            return Ok(None);
        };
        if declared.brackets.len() > 1 {
            let diagnostic = Diagnostic::error(Code::LGM0122, "two pairs of brackets follow this name")
                .label(declared.span, "expected one pair")
                .help("write two indices as `a[i, j]`");
            self.report(diagnostic);
            return Err(());
        }
        match self.integers(first, place) {
            Some(list) => Ok(Some(pair(&list))),
            None => Err(()),
        }
    }
}
