//! Elements that can be inserted into a text, found by their domain and their law.

use crate::Snapshot;
use crate::completion::{domain_of, kinds};
use crate::equations::facts::meaning;
use lgm_elaborate::analysis::Definition;
use lgm_syntax::ast::{Domain, Element, Equation, Expr, ExprKind, Item, UnitExpr};
use num_rational::BigRational;

/// The effect on a branch of a law with one parameter `p`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// `across = p`
    AcrossSource,
    /// `through = p`
    ThroughSource,
    /// `across = p*through` or, with the inverse parameter, `through = p*across`.
    Dissipator,
    /// `across = p*der(through)` or, with the inverse parameter, `der(through) = p*across`.
    ThroughStorage,
}

/// An element with one port and one parameter.
#[derive(Clone, Debug)]
pub(super) struct LibraryElement<'s> {
    pub name: &'s str,
    /// True if the law is in the second form, with an inverse parameter: a conductance, a stiffness.
    pub is_inverse: bool,
    /// The unit of the parameter in SI, with its brackets; none if it declares none.
    pub unit: Option<String>,
}

/// Returns the domain that a name refers to in a text.
pub(super) fn domain<'s>(snapshot: &'s Snapshot, name: &str) -> Option<&'s Domain> {
    let program = snapshot.compilation().program();
    let all = snapshot.map().iter().filter_map(|entry| program.ast(entry.0));
    let domains = all.flat_map(|ast| &ast.items).filter_map(|item| match item {
        Item::Domain(domain) if *domain.name.text == *name => Some(domain),
        _ => None,
    });
    // A user domain overrides the library domain.
    domains.min_by_key(|domain| program.is_library(domain.name.span.source))
}

/// Returns the first element in scope with a law of this form in a domain. Elements with a domain of their own have priority over those
/// that adopt the domain of their nodes.
pub(super) fn part<'s>(snapshot: &'s Snapshot, wanted: &str, form: Form) -> Option<LibraryElement<'s>> {
    let effort_is_across = match domain(snapshot, wanted)?.effort.as_ref()?.text.as_ref() {
        "across" => true,
        "through" => false,
        _ => return None,
    };
    let find = |own: bool| {
        kinds(snapshot).into_iter().find_map(|id| {
            let definition = snapshot.analysis().get(id);
            let is_wanted = match domain_of(snapshot, definition) {
                Some(domain) => own && domain == wanted,
                None => !own,
            };
            is_wanted
                .then(|| element(snapshot, definition))??
                .part(snapshot, form, effort_is_across)
        })
    };
    find(true).or_else(|| find(false))
}

/// Returns the form of a kind that sets its across or its through variable; none for other kinds.
pub(super) fn source_form(snapshot: &Snapshot, kind: &Definition) -> Option<Form> {
    let wanted = domain_of(snapshot, kind)?;
    let effort_is_across = &*domain(snapshot, &wanted)?.effort.as_ref()?.text == "across";
    let law = element(snapshot, kind)?;
    let forms = [Form::AcrossSource, Form::ThroughSource];
    forms
        .into_iter()
        .find(|form| law.part(snapshot, *form, effort_is_across).is_some())
}

/// An element of one port, with its law.
struct OnePort<'s>(&'s Element, &'s Equation);

fn element<'s>(snapshot: &'s Snapshot, definition: &Definition) -> Option<OnePort<'s>> {
    let items = &snapshot.compilation().program().ast(definition.name_span.source)?.items;
    items.iter().find_map(|item| match item {
        Item::Element(element) if element.name.span == definition.name_span => match &element.equations[..] {
            [equation] if element.ports.is_empty() => Some(OnePort(element, equation)),
            _ => None,
        },
        _ => None,
    })
}

/// The exponents of the factors of a law, all on one side: their product is 1.
#[derive(Debug, Default, PartialEq, Eq)]
struct Exponents {
    parameter: i32,
    across: i32,
    through: i32,
    across_rate: i32,
    through_rate: i32,
}

impl<'s> OnePort<'s> {
    fn part(&self, snapshot: &Snapshot, form: Form, effort_is_across: bool) -> Option<LibraryElement<'s>> {
        let OnePort(element, equation) = self;
        let [formal] = &element.formals[..] else { return None };
        if formal.structural {
            return None;
        }
        let mut found = Exponents::default();
        let known = Words {
            parameter: &formal.name.text,
            effort_is_across,
        };
        known.gather(&equation.left, 1, &mut found)?;
        known.gather(&equation.right, -1, &mut found)?;
        // The sign of the parameter's exponent, if the law is that of the form.
        let sign = |variable: i32, other: i32, rest: [i32; 3]| {
            let is_it = variable.abs() == 1 && other == -variable && rest == [0; 3] && found.parameter.abs() == 1;
            is_it.then_some(found.parameter * variable)
        };
        let Exponents {
            across,
            through,
            across_rate,
            through_rate,
            ..
        } = found;
        let sign = match form {
            Form::AcrossSource => {
                let is_it = across.abs() == 1 && found.parameter == -across;
                (is_it && [through, across_rate, through_rate] == [0; 3]).then_some(-1)
            }
            Form::ThroughSource => {
                let is_it = through.abs() == 1 && found.parameter == -through;
                (is_it && [across, across_rate, through_rate] == [0; 3]).then_some(-1)
            }
            Form::Dissipator => sign(across, through, [across_rate, through_rate, 0]),
            Form::ThroughStorage => sign(across, through_rate, [through, across_rate, 0]),
        }?;
        Some(LibraryElement {
            name: &element.name.text,
            is_inverse: sign > 0,
            unit: match &formal.unit {
                Some(unit) => Some(in_si(snapshot, unit)?),
                None => None,
            },
        })
    }
}

/// The meanings of the names in a law.
struct Words<'w> {
    parameter: &'w str,
    effort_is_across: bool,
}

impl Words<'_> {
    /// Adds the exponents of a product; none if it contains anything else.
    fn gather(&self, expr: &Expr, sign: i32, found: &mut Exponents) -> Option<()> {
        match &expr.kind {
            ExprKind::Product(factors) => factors.iter().try_for_each(|(divides, factor)| {
                let sign = if *divides { -sign } else { sign };
                self.gather(factor, sign, found)
            }),
            ExprKind::Name(name) if *name.text == *self.parameter => {
                found.parameter += sign;
                Some(())
            }
            ExprKind::Name(name) => {
                match self.is_across(&name.text)? {
                    true => found.across += sign,
                    false => found.through += sign,
                }
                Some(())
            }
            ExprKind::Call(function, arguments) if &*function.text == "der" => {
                let [argument] = &arguments[..] else { return None };
                let ExprKind::Name(name) = &argument.value.kind else {
                    return None;
                };
                match self.is_across(&name.text)? {
                    true => found.across_rate += sign,
                    false => found.through_rate += sign,
                }
                Some(())
            }
            _ => None,
        }
    }

    fn is_across(&self, word: &str) -> Option<bool> {
        match word {
            "across" => Some(true),
            "through" => Some(false),
            "effort" => Some(self.effort_is_across),
            "flow" => Some(!self.effort_is_across),
            _ => None,
        }
    }
}

/// Returns a unit in its brackets: unchanged if it is SI, otherwise converted to SI.
fn in_si(snapshot: &Snapshot, unit: &UnitExpr) -> Option<String> {
    let found = meaning(unit)?;
    let one = BigRational::from_integer(1.into());
    Some(match found.to_si(&one) == one {
        true => snapshot.map().slice(unit.span).to_string(),
        false => format!("[{}]", found.dimension.text()),
    })
}
