//! The values of the modes of a modal block, and the positions of its ports.

use crate::context::modal::{ModalBlock, Owner, Position};
use crate::context::values::{Agreement, DimId, Scalar, Value};
use crate::context::{GraphPart, Indices, Place};
use crate::evaluate::Claim;
use crate::expand::Expansion;
use crate::expand::modal::ModeValues;
use crate::expand::modal::parts::Parts;
use crate::modal_rules::{LENGTH, LENGTH_FORMAL, MODAL_ARGUMENTS, Rules};
use crate::program::ItemRef;
use crate::program::mode_table::{ModeTable, table_use};
use crate::syntax_queries::{argument, argument_for};
use lgm_algebra::expr::{ExprId, to_f64};
use lgm_model::PathId;
use lgm_source::Span;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_syntax::ast::{self, Expr, ExprKind, Instance};
use num_traits::{Signed, Zero};
use std::rc::Rc;

/// The maximum number of parts of a mode.
const PARTS: usize = 4;

impl<'a> Expansion<'_, 'a> {
    /// Makes the parts of a modal block.
    pub fn modal(
        &mut self,
        instance: &'a Instance,
        at: ItemRef,
        modal: &'a ast::Modal,
        indices: Option<Indices>,
        place: Place,
    ) -> GraphPart {
        self.expand_block(instance, at, modal, indices, place)
            .unwrap_or(GraphPart::Failed)
    }

    fn expand_block(
        &mut self,
        instance: &'a Instance,
        at: ItemRef,
        modal: &'a ast::Modal,
        indices: Option<Indices>,
        place: Place,
    ) -> Option<GraphPart> {
        let rules = match self.modal_rules.get(&at) {
            Some(known) => known.clone()?,
            None => {
                // `names` has reported its errors.
                let rules = Rules::read(modal, &mut |_| {}).map(Rc::new);
                self.modal_rules.insert(at, rules.clone());
                rules?
            }
        };
        let domain = self.domain(modal.domain.as_ref()?)?;
        let table = match table_use(instance) {
            // Errors in a table are reported when it is read; errors in its name are reported here.
            Some(used) => match self.table_of(instance).flatten() {
                Some(table) => Some(table),
                None => return self.table_count(&used, None, place).and(None),
            },
            None => None,
        };
        let in_table = |name: &str| table.is_some_and(|table| table.gives(name));
        let good = self.check_arguments(instance, &modal.formals, &modal.name, MODAL_ARGUMENTS, &in_table);
        if !good || !self.expect_no_bindings(instance) {
            return None;
        }
        let count = self.mode_count(instance, modal, place)?;
        let starts = self.mode_starts(instance, &rules, domain, count, place)?;
        self.check_columns(instance, modal, &rules, table)?;
        let path = self.instance_path(instance, indices, place);
        let mut formals = self.formal_values(instance, modal, (path, place), table)?;
        self.fixed_arguments(instance, modal, &formals)?;
        // Values from the table are per mode.
        formals.retain(|formal| !in_table(formal.0));
        let ports = self.positions(instance, &rules, place)?;
        if instance.branches.len() != ports.len() {
            self.wrong_port_count(instance, ports.len());
            return None;
        }
        // A mode has its node and up to three elements.
        if !self.room_for(4 * u128::from(count) + ports.len() as u128, instance.declared.span) {
            return None;
        }
        self.made += 4 * u64::from(count);
        let sides = self.sides(instance, modal, &rules, &formals)?;
        self.check_positions(
            instance,
            &ports,
            &sides,
            table.filter(|_| rules.tabulated.contains(&"shape")),
        )?;
        let values = count as usize * (ports.len() + PARTS);
        let owner = self.owner(path, instance.kind.span, &sides, values);
        let mut values = self.mode_values((instance, modal), &rules, &formals, (count, table), &owner)?;
        self.name_values(&owner, &rules, domain, &mut values);
        let block = ModalBlock {
            owner,
            instance,
            modal,
            rules,
            formals,
            modes: Vec::with_capacity(values.len()),
            ports,
            residual: Default::default(),
            sides,
        };
        let wants_residual = self.wants_residual(instance, place)?;
        let parts = Parts {
            domain,
            definition: at,
            path,
            place,
            wants_residual,
        };
        self.make_parts(block, values, parts, starts)
    }

    fn mode_count(&mut self, instance: &'a Instance, modal: &ast::Modal, place: Place) -> Option<u32> {
        let Some(expr) = argument(instance, "modes") else {
            let diagnostic = Diagnostic::error(
                Code::LGM0442,
                format!("`{}` requires its number of modes", instance.declared.name.text),
            )
            .label(instance.kind.span, "`modes` is missing")
            .help(format!("write `{}(.., modes = 5, at = [..])`", modal.name.text));
            self.report(diagnostic);
            return None;
        };
        if let Some(used) = table_use(instance) {
            let table = self.table_of(instance).flatten();
            return self.table_count(&used, table, place);
        }
        let count = self.integer(expr, place)?;
        match u32::try_from(count) {
            Ok(count @ 1..) => Some(count),
            _ => {
                let diagnostic = Diagnostic::error(Code::LGM0442, "a modal block needs at least one mode")
                    .label(expr.span, format!("this is {count}"))
                    .help("write a whole number of at least 1; `lgm modes --converge` shows how many are enough");
                self.report(diagnostic);
                None
            }
        }
    }

    /// Returns the values of the parameters, except those in a table.
    fn formal_values(
        &mut self,
        instance: &'a Instance,
        modal: &'a ast::Modal,
        of: (PathId, Place),
        table: Option<&'a ModeTable>,
    ) -> Option<Vec<(&'a str, Value)>> {
        let before = self.reports.errors;
        let in_table = |name: &str| table.is_some_and(|table| table.gives(name));
        let values = self.argument_values(instance, &modal.formals, of, &in_table);
        if values.is_none() && self.reports.errors == before {
            let diagnostic = Diagnostic::error(Code::LGM0448, "a default depends on a parameter from the table")
                .label(instance.kind.span, "of this block")
                .label(modal.name.span, "declared here")
                .help("set the parameter in the model, or add a column for it");
            self.report(diagnostic);
        }
        let names = modal.formals.iter().map(|formal| &*formal.name.text);
        Some(names.zip(values?).collect())
    }

    /// Checks that the arguments of a block depend only on parameters: its frequencies are constant.
    fn fixed_arguments(
        &mut self,
        instance: &'a Instance,
        modal: &'a ast::Modal,
        formals: &[(&'a str, Value)],
    ) -> Option<()> {
        for (at, (name, value)) in formals.iter().enumerate() {
            if value.entries().iter().any(|entry| self.varies(entry.expr)) {
                let expr = argument_for(instance, &modal.formals[at], at);
                self.changing_value(expr.map_or(instance.kind.span, |expr| expr.span), name);
                return None;
            }
        }
        Some(())
    }

    fn changing_value(&mut self, span: Span, what: &str) {
        let diagnostic = Diagnostic::error(
            Code::LGM0443,
            format!("`{what}` of a modal block may depend on parameters only"),
        )
        .label(span, "this changes with time")
        .help(
            "a modal block is linear and time-invariant; model moving or time-varying parts as separate \
            elements at ports",
        );
        self.report(diagnostic);
    }

    /// Returns the positions of `at`, then the spans of `over`.
    fn positions(&mut self, instance: &'a Instance, rules: &Rules<'a>, place: Place) -> Option<Vec<Position>> {
        let (points, spans) = (argument(instance, "at"), argument(instance, "over"));
        let dimensions = rules.dimensions();
        let mut ports = Vec::new();
        if let Some(expr) = points {
            for entries in self.rows_of(expr, dimensions, place, "at", &["x", "x, y"])? {
                ports.push(Position::Point(entries));
            }
        }
        if let Some(expr) = spans {
            if rules.shape("integral").is_none() {
                let diagnostic =
                    Diagnostic::error(Code::LGM0446, "this modal block has no `integral(x)` of its shapes")
                        .label(expr.span, "a span is given here")
                        .label(instance.kind.span, "it defines `shape(x)` only")
                        .help("define `integral(x) = ..;`, an antiderivative of `shape(x)`, in the block");
                self.report(diagnostic);
                return None;
            }
            for entries in self.rows_of(expr, 2, place, "over", &["x1", "x1, x2"])? {
                if let [from, to] = entries[..] {
                    ports.push(Position::Span(from, to));
                }
            }
        }
        if ports.is_empty() {
            let diagnostic = Diagnostic::error(
                Code::LGM0442,
                format!("`{}` requires the positions of its ports", instance.declared.name.text),
            )
            .label(instance.kind.span, "`at` is missing")
            .help("write `at = [x1, x2]` with one position for each branch");
            self.report(diagnostic);
            return None;
        }
        Some(ports)
    }

    /// Returns the entries of a list of positions. A list of scalars contains one position per entry or, if `width` is larger than 1, it is
    /// one position; a list of lists contains one position per list.
    fn rows_of(
        &mut self,
        expr: &'a Expr,
        width: usize,
        place: Place,
        name: &str,
        words: &[&str; 2],
    ) -> Option<Vec<Vec<Scalar>>> {
        let value = self.eval(expr, place);
        if value.is_error() {
            return None;
        }
        if value.entries().iter().any(|entry| self.varies(entry.expr)) {
            self.changing_value(expr.span, name);
            return None;
        }
        let entries = value.entries();
        let (rows, columns) = value.shape();
        let fits = match width {
            1 => columns == 1,
            _ if columns == 1 => rows == width,
            _ => columns == width,
        };
        if !fits {
            let shape = value.shape_text();
            let words = if width == 1 { words[0] } else { words[1] };
            let diagnostic = Diagnostic::error(
                Code::LGM0444,
                format!(
                    "`{name}` requires positions with {width} {}",
                    if width == 1 { "number" } else { "numbers" }
                ),
            )
            .label(expr.span, format!("this is {shape}"))
            .help(format!("write `{name} = [{words}]`, or a list of such lists"));
            self.report(diagnostic);
            return None;
        }
        Some(entries.chunks(width).map(<[Scalar]>::to_vec).collect())
    }

    fn wrong_port_count(&mut self, instance: &'a Instance, ports: usize) {
        let given = instance.branches.len();
        let name = &instance.declared.name.text;
        let span = match (instance.branches.first(), instance.branches.last()) {
            (Some((from, _)), Some((_, to))) => from.span.to(to.span),
            _ => instance.declared.span,
        };
        let plural = |count: usize, one: &str, many: &str| match count {
            1 => format!("one {one}"),
            count => format!("{count} {many}"),
        };
        let mut diagnostic = Diagnostic::error(
            Code::LGM0445,
            format!(
                "`{name}` has {}, but {}",
                plural(ports, "position", "positions"),
                plural(given, "branch", "branches")
            ),
        )
        .label(span, format!("{} here", plural(given, "branch", "branches")));
        for word in ["at", "over"] {
            if let Some(expr) = argument(instance, word) {
                diagnostic = diagnostic.label(expr.span, "positions here");
            }
        }
        let example: Vec<String> = (1..=ports.min(3)).map(|at| format!("x{at} -> gnd")).collect();
        let diagnostic = diagnostic.help(format!(
            "write one branch for each position, in the same order: `{}`",
            example.join(", ")
        ));
        self.report(diagnostic);
    }

    /// Returns the bounds of positions: `length`, or else the parameter `L`.
    fn sides(
        &mut self,
        instance: &'a Instance,
        modal: &'a ast::Modal,
        rules: &Rules<'a>,
        formals: &[(&'a str, Value)],
    ) -> Option<Vec<Scalar>> {
        let value = match rules.values.iter().find(|value| value.0 == LENGTH) {
            Some((_, expr)) => self.with_scope(instance, formals.to_vec(), |this| this.eval(expr, Place::MODEL)),
            None => match modal
                .formals
                .iter()
                .position(|formal| &*formal.name.text == LENGTH_FORMAL)
            {
                Some(at) => formals[at].1.clone(),
                None => return Some(Vec::new()),
            },
        };
        match value {
            Value::Error => None,
            value => Some(value.entries().to_vec()),
        }
    }

    fn check_positions(
        &mut self,
        instance: &'a Instance,
        ports: &[Position],
        sides: &[Scalar],
        table: Option<&'a ModeTable>,
    ) -> Option<()> {
        for (at, port) in ports.iter().enumerate() {
            let coordinates = match port {
                Position::Point(list) => list.clone(),
                Position::Span(from, to) => vec![*from, *to],
            };
            let (name, before) = match port {
                Position::Point(_) => ("at", 0),
                Position::Span(..) => (
                    "over",
                    ports.iter().filter(|port| matches!(port, Position::Point(_))).count(),
                ),
            };
            let Some(expr) = argument(instance, name) else {
                continue;
            };
            let span = match &expr.kind {
                ExprKind::List(items, _)
                    if matches!(port, Position::Point(_)) || matches!(items[0].kind, ExprKind::List(..)) =>
                {
                    items.get(at - before).map_or(expr.span, |item| item.span)
                }
                _ => expr.span,
            };
            self.check_position(span, &coordinates, sides)?;
            if let (Position::Point(_), Some(table)) = (port, table) {
                self.table_column(span, &coordinates, table, "shape")?;
            }
            if let Position::Span(from, to) = port {
                let values = self.exact(&[from.expr, to.expr], span)?;
                if values[0] >= values[1] {
                    let diagnostic = Diagnostic::error(Code::LGM0444, "this span is empty")
                        .label(span, format!("from {} to {}", to_f64(&values[0]), to_f64(&values[1])))
                        .help("write the smaller end first: `over = [x1, x2]`");
                    self.report(diagnostic);
                    return None;
                }
            }
        }
        Some(())
    }

    fn wants_residual(&mut self, instance: &'a Instance, place: Place) -> Option<bool> {
        let Some(expr) = argument(instance, "residual") else {
            return Some(false);
        };
        match &expr.kind {
            ExprKind::Name(name) if &*name.text == "true" => Some(true),
            ExprKind::Name(name) if &*name.text == "false" => Some(false),
            _ => self.condition(expr, place),
        }
    }

    /// Returns the values of all modes.
    fn mode_values(
        &mut self,
        (instance, modal): (&'a Instance, &'a ast::Modal),
        rules: &Rules<'a>,
        formals: &[(&'a str, Value)],
        (count, table): (u32, Option<&'a ModeTable>),
        owner: &Owner,
    ) -> Option<Vec<ModeValues<'a>>> {
        let mut modes = Vec::with_capacity(count as usize);
        let roles = rules.roles();
        for k in 1..=count {
            let index = self.arena.exprs.integer(i64::from(k));
            let index = Value::scalar(index, DimId::PLAIN);
            let mut known = formals.to_vec();
            known.push((rules.index, index));
            if let Some(table) = table {
                known.extend(self.table_row(modal, table, k as usize - 1)?);
            }
            let own = formals.len();
            let scope = self.with_scope(instance, known, |this| {
                for (name, expr) in &rules.values {
                    let value = match this.eval(expr, Place::MODEL) {
                        Value::Error => return None,
                        Value::Scalar(value) if !roles.has(name) => {
                            Value::Scalar(this.number_constant(owner, name, k, value)).named()
                        }
                        value => value.named(),
                    };
                    if let Some(law) = &mut this.law {
                        law.formals.push((name, value));
                    }
                }
                let law = this.law.as_mut()?;
                Some(law.formals.split_off(own))
            })?;
            modes.push(self.mode_of(instance, rules, scope)?);
        }
        self.check_modes(instance, rules, &mut modes)?;
        Some(modes)
    }

    fn mode_of(
        &mut self,
        instance: &'a Instance,
        rules: &Rules<'a>,
        scope: Vec<(&'a str, Value)>,
    ) -> Option<ModeValues<'a>> {
        let roles = rules.roles();
        let zero = Scalar {
            expr: self.arena.exprs.zero(),
            dim: DimId::UNKNOWN,
        };
        let mut value = |names: &[&str]| -> Option<Scalar> {
            match scope.iter().find(|entry| names.contains(&entry.0)) {
                None => Some(zero),
                Some((_, Value::Scalar(scalar))) => Some(*scalar),
                Some((name, value)) => {
                    let expr = rules
                        .values
                        .iter()
                        .find(|entry| entry.0 == *name)
                        .map_or(instance.kind.span, |entry| entry.1.span);
                    let diagnostic = Diagnostic::error(Code::LGM0206, "a scalar is required here")
                        .label(expr, format!("this is {}", value.shape_text()))
                        .help(format!("`{name}` is one number for each mode"));
                    self.report(diagnostic);
                    None
                }
            }
        };
        let (primary, restoring) = (value(&roles.primary)?, value(&roles.restoring)?);
        let (dissipation, loss) = (value(&roles.dissipation)?, value(&[roles.loss])?);
        Some(ModeValues {
            scope,
            primary,
            restoring: Some(restoring),
            dissipation: Some(dissipation),
            loss: Some(loss),
        })
    }

    /// Checks signs and dimensions of the values of the modes, and omits zeros: rigid-body modes have no spring. A dissipator that is zero
    /// only for the given parameters is kept, because the parameters may change later.
    fn check_modes(&mut self, instance: &'a Instance, rules: &Rules<'a>, modes: &mut [ModeValues<'a>]) -> Option<()> {
        let roles = rules.roles();
        let span_of = |names: &[&str]| {
            let found = rules.values.iter().find(|value| names.contains(&value.0));
            found.map_or(instance.kind.span, |value| value.1.span)
        };
        let per_second = self.dims.times_seconds(DimId::NONE, -1);
        for (mode, at) in modes.iter_mut().zip(1..) {
            let restoring = mode.restoring.unwrap_or(mode.primary);
            let exprs: Vec<ExprId> = vec![mode.primary.expr, restoring.expr];
            let values = self.exact(&exprs, span_of(&roles.primary))?;
            let fault = if !values[0].is_positive() {
                Some((&roles.primary, &values[0], "must be positive"))
            } else if values[1].is_negative() {
                Some((&roles.restoring, &values[1], "cannot be negative"))
            } else {
                None
            };
            if let Some((names, value, words)) = fault {
                let name = names
                    .iter()
                    .find(|name| scope_has(&mode.scope, name))
                    .unwrap_or(&names[0]);
                let diagnostic = Diagnostic::error(Code::LGM0443, format!("the {name} of a mode {words}"))
                    .label(span_of(names), format!("this is {} for mode {at}", to_f64(value)))
                    .label(
                        instance.kind.span,
                        format!("for `{}` here", instance.declared.name.text),
                    )
                    .help("check for a wrong sign or a zero parameter");
                self.report(diagnostic);
                return None;
            }
            // Stiffness divided by mass is the square of an angular frequency, in any units of the shapes.
            let ratio = self.dims.over(restoring.dim, mode.primary.dim);
            let square = self.dims.times_power(DimId::NONE, per_second, 2, 1);
            if ratio.agreement(square) != Agreement::Yes && !values[1].is_zero() {
                let shown = self.dims.text(ratio);
                let diagnostic = Diagnostic::error(Code::LGM0203, "the values of a mode do not define a frequency")
                    .label(
                        span_of(&roles.restoring),
                        format!("divided by `{}`, this is in {shown}", roles.primary[0]),
                    )
                    .label(span_of(&roles.primary), "given here")
                    .help("stiffness divided by mass must be in [1/s^2]");
                let claim = Claim {
                    dim: ratio,
                    wanted: square,
                    expr: None,
                };
                if !self.disagree(diagnostic, &[claim]) {
                    return None;
                }
            }
            if values[1].is_zero() {
                mode.restoring = None;
            }
            let exprs = &self.arena.exprs;
            let present = |entry: &Scalar| !exprs.is_zero(entry.expr);
            mode.dissipation = mode.dissipation.filter(present);
            mode.loss = mode.loss.filter(present);
        }
        Some(())
    }
}

fn scope_has(scope: &[(&str, Value)], name: &str) -> bool {
    scope.iter().any(|entry| entry.0 == name)
}
