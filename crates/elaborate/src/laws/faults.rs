//! The message for an unusable law.

use crate::context::values::{DimId, Value};
use crate::law_forms::classify::Fault;
use crate::laws::LawReader;
use crate::units::mass_for_force;
use lgm_model::{BondEnd, Connection, ElementId};
use lgm_source::Span;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_syntax::ast;

impl<'a> LawReader<'_, 'a> {
    /// Returns the location of an error in a law: the user's definition, or the use of a library element.
    pub fn law_diagnostic(&self, diagnostic: Diagnostic, id: ElementId, equation: Span) -> Diagnostic {
        let instance = self.graph.records[id.index()].instance;
        let use_span = self.graph.model.graph.elements[id.index()].law_span;
        if self.program.is_library(equation.source) {
            diagnostic
                .label(use_span, format!("for `{}`", instance.declared.name.text))
                .label(equation, "the law of the element")
        } else {
            diagnostic
                .label(equation, "in this law")
                .label(use_span, format!("used for `{}` here", instance.declared.name.text))
        }
    }

    /// Reports two sides of a law that differ in width.
    pub fn law_width(
        &mut self,
        id: ElementId,
        element: &'a ast::Element,
        equation: &ast::Equation,
        left: &Value,
        right: &Value,
    ) {
        let ports = self.graph.model.graph.elements[id.index()].ports.len();
        let diagnostic = Diagnostic::error(
            Code::LGM0202,
            format!(
                "the widths in the law of `{}` do not agree: {} and {}",
                element.name.text,
                left.shape_text(),
                right.shape_text()
            ),
        );
        let mut diagnostic = self.law_diagnostic(diagnostic, id, equation.span);
        if let Some(Connection::Branch { span, .. }) = self
            .graph
            .model
            .graph
            .ports
            .get(self.graph.model.graph.elements[id.index()].ports.start as usize)
            .map(|port| port.connection.clone())
            && element.ports.is_empty()
        {
            diagnostic = diagnostic.label(span, format!("the node has width {ports}"));
        }
        let help = match (left, right) {
            (Value::Scalar(_), _) | (_, Value::Scalar(_)) if ports > 1 => {
                format!("a source on a vector node requires a vector: `[.., ..]` with {ports} entries")
            }
            _ => "the value must have the width of the nodes".to_string(),
        };
        self.report(diagnostic.help(help));
    }

    /// Reports two sides of a law that differ in dimension; a warning if one of them rests on a number without a unit.
    pub fn law_dimension(
        &mut self,
        id: ElementId,
        element: &'a ast::Element,
        equation: &'a ast::Equation,
        (a, b): (DimId, DimId),
        arguments: &[Value],
    ) {
        let (left, right) = (self.dims.text(a), self.dims.text(b));
        let diagnostic = Diagnostic::error(
            Code::LGM0201,
            format!(
                "the two sides of the law of `{}` differ in dimension: {left} and {right}",
                element.name.text
            ),
        );
        let diagnostic = self.law_diagnostic(diagnostic, id, equation.span);
        let mut diagnostic = diagnostic
            .note(format!("`{}` is in {left}", self.sources.slice(equation.left.span)))
            .note(format!("`{}` is in {right}", self.sources.slice(equation.right.span)));
        // The names of a law have a meaning only while it is read.
        for side in [&equation.left, &equation.right] {
            if self.law.is_some() && !matches!(side.kind, lgm_syntax::ast::ExprKind::Name(_)) {
                diagnostic = self.explain_dimension(diagnostic, Some(side));
            }
        }
        let fitting = self.fitting_couplers(id, element, arguments);
        let shown: Vec<&str> = fitting.iter().map(|fitting| &*fitting.shown).collect();
        let help = match shown.is_empty() {
            false => format!(
                "{} would fit between these ports; the right coupler depends on the notation, see docs/signs.md",
                shown.join(" or ")
            ),
            true => {
                let given = &self.graph.records[id.0 as usize].instance.arguments;
                let mass = given.iter().find_map(|argument| mass_for_force(&argument.value));
                mass.unwrap_or_else(|| format!("choose units so that both sides are in {left}, or correct the law"))
            }
        };
        for fitting in fitting {
            diagnostic = diagnostic.with(fitting.fix);
        }
        diagnostic.help = Some(help);
        if a.is_known() && b.is_known() {
            self.report(diagnostic);
            return;
        }
        let number = self.plain_number_of_law(id, element, equation, arguments);
        let missing = match b.rests_on_number() {
            true => self.dims.over(a.firm(), b.firm()),
            false => self.dims.over(b.firm(), a.firm()),
        };
        self.warn_of_number(diagnostic, number, missing);
    }

    /// Reports a law without a class.
    pub fn unclassified(&mut self, id: ElementId, element: &'a ast::Element, fault: Fault) {
        let whole = match (element.equations.first(), element.equations.last()) {
            (Some(first), Some(last)) => first.span.to(last.span),
            _ => element.name.span,
        };
        let name = &element.name.text;
        let (diagnostic, span) = match fault {
            Fault::NotLinear => unreachable!("invariant: what is not linear is read as a law by residuals"),
            Fault::Count(equations, ports) => (
                Diagnostic::error(
                    Code::LGM0310,
                    format!(
                        "the law of `{name}` has {equations} scalar equation{} for {ports} scalar port{}",
                        if equations == 1 { "" } else { "s" },
                        if ports == 1 { "" } else { "s" }
                    ),
                )
                .help("write one equation for each port"),
                whole,
            ),
            Fault::Dependent => (
                Diagnostic::error(
                    Code::LGM0311,
                    format!("the equations of `{name}` do not determine one variable of each port"),
                )
                .help(
                    "write an equation with `across` or `through` for each port; one of these contains neither, \
                     follows from the others, or contradicts them",
                ),
                whole,
            ),
            Fault::Form(words) => (
                Diagnostic::error(Code::LGM0603, format!("the law of `{name}` has an unsupported form"))
                    .note(words)
                    .help("write a law that determines one variable of each port: `across = ..;` or `through = ..;`"),
                whole,
            ),
        };
        let diagnostic = self.law_diagnostic(diagnostic, id, span);
        self.report(diagnostic);
    }

    /// Checks that bonds point into absorbing one-ports and away from sources, according to the sign conventions.
    pub fn check_arrow(&mut self, id: ElementId, is_source: bool) -> Option<()> {
        let about = &self.graph.model.graph.elements[id.index()];
        let first = about.ports.start;
        let port = &self.graph.model.graph.ports[first as usize];
        let Connection::Bond(bond) = port.connection else {
            return Some(());
        };
        let bond = &self.graph.model.graph.bonds[bond.index()];
        let leaves = bond.tail == BondEnd::Port(lgm_model::PortId(first));
        if port.name.is_some() || leaves == is_source {
            return Some(());
        }
        let name = self.graph.model.element_name(id);
        let (way, arrow, does, mend) = match is_source {
            true => ("away from", "points into", "gives", format!("{name} -> J")),
            false => ("into", "leaves", "absorbs", format!("J -> {name}")),
        };
        let diagnostic = Diagnostic::error(Code::LGM0315, format!("the bond of `{name}` must point {way} it"))
            .label(bond.span, format!("this arrow {arrow} `{name}`"))
            .label(
                self.graph.records[id.index()].instance.kind.span,
                format!("this {does} power"),
            )
            .help(format!("reverse it: `{mend};`"));
        self.report(diagnostic);
        None
    }
}
