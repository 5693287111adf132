//! Heat capacities that begin at 0 K in a model of absolute temperatures, because no initial value is given.

use crate::connect::GraphCheck;
use lgm_algebra::expr::{ExprId, SymbolId, SymbolKind, to_f64};
use lgm_algebra::units::Dimension;
use lgm_model::{Connection, Element, ElementId, Law, NodeId, Variable};
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use num_rational::BigRational;
use rustc_hash::FxHashSet;

/// Temperatures from this value in kelvin are absolute; smaller values are differences.
const ABSOLUTE: f64 = 100.0;
/// The number of heat capacities shown.
const SHOWN: usize = 4;

impl GraphCheck<'_, '_> {
    /// Warns of heat capacities without an initial value if a source or another initial value is an absolute temperature.
    pub fn check_temperatures(&mut self) {
        let mut hottest: Option<(f64, ElementId)> = None;
        let mut held: FxHashSet<NodeId> = FxHashSet::default();
        let mut cold: Vec<(ElementId, Option<NodeId>)> = Vec::new();
        for at in 0..self.graph.model.graph.elements.len() {
            let (id, element) = (ElementId(at as u32), &self.graph.model.graph.elements[at]);
            let Some((effort_is_across, node)) = self.thermal(element) else {
                continue;
            };
            let is_across = |variable: Variable| effort_is_across == (variable == Variable::Effort);
            let given: Vec<ExprId> = match &element.law {
                Law::Source { given, values } if is_across(*given) => {
                    held.extend(node);
                    values.clone()
                }
                Law::Storage { co_energy, .. } if is_across(*co_energy) => match element.start_span {
                    Some(_) => element.start.iter().copied().flatten().collect(),
                    None => {
                        cold.push((id, node));
                        continue;
                    }
                },
                _ => continue,
            };
            let temperature = given
                .into_iter()
                .filter_map(|value| self.at_the_start(value))
                .fold(0.0, f64::max);
            if hottest.is_none_or(|(known, _)| temperature > known) {
                hottest = Some((temperature, id));
            }
        }
        // A heat capacity at a temperature source begins at the temperature of the source.
        cold.retain(|(_, node)| node.is_some_and(|node| !held.contains(&node)));
        let Some((temperature, hot)) = hottest.filter(|(temperature, _)| *temperature >= ABSOLUTE && !cold.is_empty())
        else {
            return;
        };
        let name = |id: ElementId| self.graph.model.element_name(id);
        let first = name(cold[0].0);
        let others = match cold.len() {
            1 => String::new(),
            count => format!(" and {} more", count - 1),
        };
        let message = format!("the temperature of `{first}`{others} starts at 0 K, because no initial value is given");
        let mut diagnostic = Diagnostic::warning(Code::LGM0451, message);
        for (id, _) in cold.iter().take(SHOWN) {
            diagnostic = diagnostic.label(self.graph.model.element_span(*id), "no initial value is given");
        }
        let diagnostic = diagnostic
            .label(
                self.graph.model.element_span(hot),
                format!("`{}` is at {temperature} K", name(hot)),
            )
            .help(format!(
                "write the initial value after the branch: `.. -> gnd, start = {temperature};`"
            ));
        self.report(diagnostic);
    }

    /// Returns, for an element whose across variable is a temperature, true if the temperature is its effort, and its first node.
    fn thermal(&self, element: &Element) -> Option<(bool, Option<NodeId>)> {
        let port = self.graph.model.graph.ports.get(element.ports.start as usize)?;
        let domain = &self.graph.model.graph.domains[port.domain?.index()];
        let is_temperature = domain.dimension(true) == Some(Dimension::TEMPERATURE);
        let Connection::Branch { from, to, .. } = port.connection else {
            return None;
        };
        is_temperature.then_some((domain.effort_is_across, from.or(to)))
    }

    /// Returns the value of an expression when the run begins; none if it depends on the graph.
    fn at_the_start(&self, value: ExprId) -> Option<f64> {
        let (exprs, model) = (&self.arena.exprs, &self.graph.model);
        let fixed = |symbol: SymbolId| {
            let mut entries = model.parameters.iter().flat_map(|parameter| &parameter.entries);
            match exprs.symbol_info(symbol).kind {
                SymbolKind::Time => Some(BigRational::from_integer(0.into())),
                _ => entries
                    .find(|entry| entry.symbol == symbol)
                    .map(|entry| entry.value.clone()),
            }
        };
        let signal = |symbol: SymbolId| {
            let input = model.inputs.iter().find(|input| input.symbol == symbol)?;
            Some(exprs.evaluate_exact(&[input.signal?], &fixed).ok()?.swap_remove(0))
        };
        let known = |symbol| fixed(symbol).or_else(|| signal(symbol));
        Some(to_f64(&exprs.evaluate_exact(&[value], &known).ok()?[0]))
    }
}
