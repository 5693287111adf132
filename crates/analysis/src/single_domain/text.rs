//! The complete text of a model in one domain.

use super::names::words;
use super::writer::{Writer, stand_in};
use crate::values::in_digits;
use lgm_algebra::expr::{ExprId, Exprs, SymbolId, text as written};
use lgm_model::{Parameter, SiUnit};
use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt::Write;

/// Formats ` [N]`; empty without a unit.
fn unit(unit: &Option<SiUnit>) -> String {
    match unit {
        Some(unit) if !unit.is_empty() && &**unit != "1" => format!(" [{unit}]"),
        _ => String::new(),
    }
}

/// Groups the entries of vectors and keeps scalars separate: `u[1], u[2]` are one vector `u`.
fn gathered(names: &[&str]) -> Vec<(String, Vec<usize>)> {
    let mut found: Vec<(String, Vec<usize>)> = Vec::new();
    for (at, name) in names.iter().enumerate() {
        let base = name.split_once('[').map(|pair| pair.0);
        match (base, found.last_mut()) {
            (Some(base), Some(last)) if last.0 == base => last.1.push(at),
            _ => found.push((base.unwrap_or(name).to_string(), vec![at])),
        }
    }
    found
}

fn of_places(places: &[usize], names: &[&str], texts: &[String]) -> String {
    match places {
        [only] if !names[*only].contains('[') => texts[*only].clone(),
        _ => {
            let entries: Vec<&str> = places.iter().map(|at| &*texts[*at]).collect();
            format!("[{}]", entries.join(", "))
        }
    }
}

impl Writer<'_> {
    /// Returns the text, after all couplers are written.
    pub(super) fn finished(mut self) -> String {
        let mut exprs = self.conversion.model.exprs.clone();
        let known = self.stand_ins(&mut exprs);
        self.sources(&mut exprs, &known);
        let integrals = self.integrals(&mut exprs, &known);
        let outputs: Vec<String> = self
            .model
            .outputs
            .iter()
            .map(|output| plain(&text_of(&mut exprs, output.value, &known)))
            .collect();
        let body = self.body(&integrals, &outputs);
        let mut text = String::new();
        let domain = &self.conversion.domain;
        if !self.parts.is_standard()
            && let Some(own) = self.model.graph.domains.iter().find(|own| *own.name == **domain)
        {
            let effort = if own.effort_is_across { "across" } else { "through" };
            let (across, through) = (unit(&own.across_unit), unit(&own.through_unit));
            let pseudo = if own.pseudo { " pseudo;" } else { "" };
            let _ = writeln!(
                text,
                "domain {domain} {{ across {}{across}; through {}{through}; effort = {effort};{pseudo} }}\n",
                own.across, own.through
            );
        }
        let _ = writeln!(text, "/// `{}` in the domain {domain} alone.", self.model.heading.name);
        let mut letters = domain.chars();
        let first = letters.next().map(|letter| letter.to_ascii_uppercase());
        let suffix: String = first.into_iter().chain(letters).collect();
        let _ = writeln!(text, "model {}{suffix} {{", self.model.heading.name);
        text.push_str(&self.head(&exprs, &known, &body));
        text.push_str(&body);
        text.push_str("}\n");
        text
    }

    /// Returns symbols that print each measurement in the notation of the domain. Integrals keep their names if possible.
    fn stand_ins(&mut self, exprs: &mut Exprs) -> FxHashMap<SymbolId, ExprId> {
        let mut known: FxHashMap<SymbolId, ExprId> = FxHashMap::default();
        for (symbol, measure) in &self.model.measures {
            let text = self
                .measures
                .get(symbol)
                .cloned()
                .or_else(|| self.own_measure(*measure));
            if let Some(text) = text {
                known.insert(*symbol, stand_in(exprs, &text));
            }
        }
        for integral in &self.model.integrals {
            let name = self.names.fresh(&self.model.path_name(integral.path));
            known.insert(integral.symbol, stand_in(exprs, &name));
        }
        known
    }

    /// Writes the sources of the domain itself.
    fn sources(&mut self, exprs: &mut Exprs, known: &FxHashMap<SymbolId, ExprId>) {
        for branch in &self.conversion.branches {
            let Some((is_across, value)) = branch.source else {
                continue;
            };
            let value = plain(&text_of(exprs, value, known));
            let ends = (self.node(&branch.ends.0), self.node(&branch.ends.1));
            let name = self.elements[&branch.element].clone();
            self.parts.source(name, is_across, &value, ends);
        }
    }

    /// Returns the declared states that appear in sources and outputs.
    fn integrals(&mut self, exprs: &mut Exprs, known: &FxHashMap<SymbolId, ExprId>) -> Vec<String> {
        let used: FxHashSet<SymbolId> = self.model.exprs.symbols_of(&self.roots()).into_iter().collect();
        let integrals = self.model.integrals.iter();
        let list = integrals.filter(|integral| used.contains(&integral.symbol) && integral.owner.is_none());
        list.map(|integral| {
            let name = written(exprs, known[&integral.symbol]);
            let rate = text_of(exprs, integral.rate, known);
            format!("state {name} = int({});", plain(&rate))
        })
        .collect()
    }

    /// Writes all lines after parameters, inputs and nodes.
    fn body(&self, integrals: &[String], outputs: &[String]) -> String {
        let mut text = String::new();
        let nodes: Vec<&str> = self.nodes.iter().map(|node| &*node.1).collect();
        if !nodes.is_empty() {
            let _ = writeln!(text, "  node {} : {};\n", nodes.join(", "), self.conversion.domain);
        }
        let width = |texts: &mut dyn Iterator<Item = usize>| texts.max().unwrap_or(0);
        let branches = &self.parts.branches;
        let first = width(&mut branches.iter().map(|branch| branch.0.chars().count()));
        let second = width(
            &mut branches
                .iter()
                .map(|branch| branch.1.chars().count())
                .filter(|width| *width <= 60),
        );
        for state in self.parts.states.iter().chain(integrals) {
            let _ = writeln!(text, "  {state}");
        }
        for (name, element, (from, to)) in branches {
            let _ = writeln!(text, "  {name:<first$} : {element:<second$}  {from} -> {to};");
        }
        let names: Vec<&str> = self.model.outputs.iter().map(|output| &*output.name).collect();
        text.push('\n');
        for (name, places) in gathered(&names) {
            let _ = writeln!(text, "  output {name} = {};", of_places(&places, &names, outputs));
        }
        text
    }

    /// Writes the parameters that the text needs, and all inputs.
    fn head(&self, exprs: &Exprs, known: &FxHashMap<SymbolId, ExprId>, body: &str) -> String {
        let mut inputs = String::new();
        let declared: Vec<_> = self.model.inputs.iter().filter(|input| !input.is_internal).collect();
        let names: Vec<&str> = declared.iter().map(|input| &*input.name).collect();
        let mut exprs = exprs.clone();
        let signals: Vec<String> = declared
            .iter()
            .map(|input| {
                input
                    .signal
                    .map_or("0".to_string(), |id| text_of(&mut exprs, id, known))
            })
            .collect();
        for (name, places) in gathered(&names) {
            let signal = of_places(&places, &names, &signals);
            let of_vector = names[places[0]].contains('[');
            let unit = unit(&declared[places[0]].unit);
            let _ = match of_vector {
                true => writeln!(inputs, "  input {name} = {signal}{unit};"),
                false => writeln!(inputs, "  input {name}{unit} = {signal};"),
            };
        }
        let mut needed: FxHashSet<&str> = words(body).chain(words(&inputs)).collect();
        for _ in 0..self.parameters.len() {
            let more = self.derived.iter().filter(|pair| needed.contains(&**pair.0));
            let more: Vec<&str> = more.flat_map(|pair| words(pair.1)).collect();
            let before = needed.len();
            needed.extend(more);
            if needed.len() == before {
                break;
            }
        }
        let mut text = String::new();
        if let Some(unit) = self.unit.as_ref().filter(|unit| needed.contains(&***unit)) {
            let _ = writeln!(text, "  const {unit} = 1;");
        }
        for parameter in self
            .parameters
            .iter()
            .filter(|parameter| needed.contains(&*parameter.name))
        {
            let _ = writeln!(text, "  param {};", self.parameter(parameter));
        }
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&inputs);
        text.push('\n');
        text
    }

    fn parameter(&self, parameter: &Parameter) -> String {
        let unit = unit(&parameter.unit);
        let name = &parameter.name;
        if let Some(derived) = self.derived.get(&**name).filter(|_| parameter.shape.is_empty()) {
            return format!("{name} = {derived}");
        }
        let numbers: Vec<String> = parameter.entries.iter().map(|entry| in_digits(&entry.value)).collect();
        match parameter.shape[..] {
            [] => format!("{name} = {}{unit}", numbers.join("")),
            [_] => format!("{name} = [{}]{unit}", numbers.join(", ")),
            [_, columns, ..] => {
                let rows = numbers
                    .chunks(columns.max(1))
                    .map(|row| format!("[{}]", row.join(", ")));
                format!("{name} = [{}]{unit}", rows.collect::<Vec<_>>().join(", "))
            }
        }
    }
}

/// Formats an expression with all measurements in the notation of the domain.
fn text_of(exprs: &mut Exprs, value: ExprId, known: &FxHashMap<SymbolId, ExprId>) -> String {
    let value = exprs.substitute(&[value], |symbol| known.get(&symbol).copied())[0];
    written(exprs, value)
}

/// Removes brackets that enclose the whole text.
fn plain(text: &str) -> String {
    let Some(inner) = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')) else {
        return text.to_string();
    };
    let mut depth = 0;
    let closes_early = inner.chars().any(|letter| {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        depth < 0
    });
    if closes_early {
        text.to_string()
    } else {
        inner.to_string()
    }
}
