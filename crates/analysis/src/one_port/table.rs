//! The conversion of a network behind a coupler in the steps of a textbook (de Silva, Tables 1 and 2).

use lgm_algebra::expr::{ExprId, SymbolKind, text};
use lgm_equations::{lowest_terms, port_variable_name};
use lgm_model::{ElementId, Law, Model, PortId, Variable};

/// Returns the equations of the conversion with their kinds, from the law of the network, `across = source - Z*through`, to that of the
/// network as the near port of the coupler sees it. `is_across` tells which variable of a port is the across variable.
pub(super) fn lines(
    model: &mut Model,
    id: ElementId,
    near: PortId,
    is_across: fn(&Model, PortId, Variable) -> bool,
) -> Vec<(&'static str, String)> {
    let first = PortId(model.graph.elements[id.index()].ports.start);
    let last = PortId(first.0 + 1);
    let far = if near == first { last } else { first };
    let Law::Coupler { input, output, matrix } = model.graph.elements[id.index()].law.clone() else {
        return Vec::new();
    };
    let Some(domain) = model.graph.ports[far.index()].domain else {
        return Vec::new();
    };
    let domain = &model.graph.domains[domain.index()];
    let (across, through) = (domain.across.to_string(), domain.through.to_string());
    let variable = |model: &Model, port: PortId, wants_across: bool| {
        let variable = match is_across(model, port, Variable::Effort) == wants_across {
            true => Variable::Effort,
            false => Variable::Flow,
        };
        port_variable_name(model, port, variable)
    };
    let names =
        [(far, true), (far, false), (near, true), (near, false)].map(|(port, across)| variable(model, port, across));
    let (x, y) = (is_across(model, first, input), is_across(model, last, output));
    let exprs = &mut model.exprs;
    let symbols = names
        .each_ref()
        .map(|name| exprs.new_symbol(name.as_str(), SymbolKind::Measure));
    let [own_across, own_through, near_across, near_through] = symbols.map(|symbol| exprs.symbol(symbol));
    let near_through_symbol = symbols[3];
    let [source, z] = [format!("{across}_oc"), "Z".to_string()].map(|name| {
        let symbol = exprs.new_symbol(name, SymbolKind::Parameter);
        exprs.symbol(symbol)
    });
    let (one, m) = (exprs.one(), matrix.entries[0]);
    let (up, down) = (m, exprs.div(one, m));
    let (less, under) = (exprs.neg(up), exprs.neg(down));
    // y = m x, and the conjugate of x is -m times the conjugate of y; solved for the far variables.
    let is_y_near = near == last;
    let (of_across, of_through) = match (x, y) {
        (true, true) if is_y_near => ((down, near_across), (less, near_through)),
        (true, true) => ((up, near_across), (under, near_through)),
        (false, false) if is_y_near => ((less, near_across), (down, near_through)),
        (false, false) => ((under, near_across), (up, near_through)),
        (true, false) if is_y_near => ((down, near_through), (less, near_across)),
        (true, false) => ((under, near_through), (up, near_across)),
        (false, true) if is_y_near => ((less, near_through), (down, near_across)),
        (false, true) => ((up, near_through), (under, near_across)),
    };
    let (a, t) = (
        exprs.mul(of_across.0, of_across.1),
        exprs.mul(of_through.0, of_through.1),
    );
    let drop = exprs.mul(z, t);
    let right = exprs.sub(source, drop);
    // k*near = source - c*Z*other near variable, or the two exchanged.
    let (k, c) = (of_across.0, of_through.0);
    let result = match of_across.1 == near_across {
        true => {
            let factor = exprs.product([c, z, near_through]);
            let rest = exprs.sub(source, factor);
            exprs.div(rest, k)
        }
        false => {
            let factor = exprs.mul(k, near_through);
            let (rest, below) = (exprs.sub(source, factor), exprs.mul(c, z));
            exprs.div(rest, below)
        }
    };
    let zero = exprs.zero();
    let by_source = exprs.substitute(&[result], |symbol| (symbol == near_through_symbol).then_some(zero))[0];
    let by_through = exprs.differentiate(result, near_through_symbol).unwrap_or(zero);
    let [by_source, by_through] = [by_source, by_through].map(|value| lowest_terms(exprs, value));
    let exprs = &model.exprs;
    let shown = |id: ExprId| text(exprs, id);
    vec![
        ("impedance", format!("{across}_e = Z*{through}_e")),
        ("coupler", format!("{} = {}", shown(own_across), shown(a))),
        ("coupler", format!("{} = {}", shown(own_through), shown(t))),
        (
            "loop",
            format!("{} - {across}_e - {} = 0", shown(source), shown(own_across)),
        ),
        ("node", format!("{through}_e - {} = 0", shown(own_through))),
        ("substituted", format!("{} = {}", shown(a), shown(right))),
        ("result", format!("{} = {}", shown(near_across), shown(result))),
        ("source", shown(by_source)),
        ("impedance", shown(by_through)),
    ]
}
