//! `modelDescription.xml` for both FMI versions.

use super::super::subject::Subject;
use super::Version;
use super::variables::{Causality, Variable, Variables};
use crate::shortest;
use lgm_model::SiUnit;
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The contents of the description other than its variables.
pub(super) struct Facts<'a> {
    pub(super) identifier: &'a str,
    pub(super) token: &'a str,
    /// The files to be compiled, in `sources`.
    pub(super) sources: &'a [String],
}

/// Escapes text for an attribute.
pub(super) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            letter if letter.is_control() => safe.push(' '),
            letter => safe.push(letter),
        }
    }
    safe
}

/// Prints ` name="value"`.
fn attribute(name: &str, value: &str) -> String {
    format!(" {name}=\"{}\"", escaped(value))
}

/// Prints the whole file.
pub(super) fn description(subject: &Subject<'_>, variables: &Variables, version: Version, facts: &Facts<'_>) -> String {
    let mut text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<fmiModelDescription".to_string();
    let names_are_structured = variables.list.iter().all(|variable| is_structured(&variable.name));
    text += &attribute("fmiVersion", version.number());
    text += &attribute("modelName", &subject.system.model);
    text += &attribute(version.token_attribute(), facts.token);
    text += &attribute("description", &subject.origin.sentence());
    text += &attribute("generationTool", &format!("lgm {}", subject.origin.version));
    text += &attribute(
        "variableNamingConvention",
        if names_are_structured { "structured" } else { "flat" },
    );
    if version == Version::Two {
        text += &attribute("numberOfEventIndicators", &variables.conditions.len().to_string());
    }
    text += ">\n";
    interfaces(version, facts, subject.held.is_none(), &mut text);
    units(variables, &mut text);
    text += "  <LogCategories>\n    <Category name=\"logStatusError\"/>\n  </LogCategories>\n";
    experiment(subject, &mut text);
    text += "  <ModelVariables>\n";
    for (at, variable) in variables.list.iter().enumerate() {
        if version == Version::Two && variables.conditions.contains(&at) {
            continue;
        }
        scalar(variable, variables, version, &mut text);
    }
    text += "  </ModelVariables>\n";
    text += "  <ModelStructure>\n";
    structure(variables, version, &mut text);
    text += "  </ModelStructure>\n";
    text + "</fmiModelDescription>\n"
}

/// Prints the capabilities of the FMU in model exchange and co-simulation.
fn interfaces(version: Version, facts: &Facts<'_>, is_directional: bool, text: &mut String) {
    let identifier = attribute("modelIdentifier", facts.identifier);
    let state = match version {
        Version::Two => " canGetAndSetFMUstate=\"true\" canSerializeFMUstate=\"true\"",
        Version::Three => " canGetAndSetFMUState=\"true\" canSerializeFMUState=\"true\"",
    };
    let directional = match version {
        _ if !is_directional => "",
        Version::Two => " providesDirectionalDerivative=\"true\"",
        Version::Three => " providesDirectionalDerivatives=\"true\"",
    };
    let [exchange, together] = match version {
        Version::Two => [
            " completedIntegratorStepNotNeeded=\"true\" canNotUseMemoryManagementFunctions=\"true\"",
            " canHandleVariableCommunicationStepSize=\"true\" canInterpolateInputs=\"true\" \
             canNotUseMemoryManagementFunctions=\"true\"",
        ],
        Version::Three => ["", " canHandleVariableCommunicationStepSize=\"true\""],
    };
    for (element, own) in [("ModelExchange", exchange), ("CoSimulation", together)] {
        let _ = write!(text, "  <{element}{identifier}{own}{state}{directional}");
        if version == Version::Three {
            text.push_str("/>\n");
            continue;
        }
        text.push_str(">\n    <SourceFiles>\n");
        for source in facts.sources {
            let _ = writeln!(text, "      <File{}/>", attribute("name", source));
        }
        let _ = writeln!(text, "    </SourceFiles>\n  </{element}>");
    }
}

/// Prints every unit with its exponents of SI base units, if these are whole.
fn units(variables: &Variables, text: &mut String) {
    let used: BTreeMap<&str, &SiUnit> = variables
        .list
        .iter()
        .filter_map(|variable| variable.unit.as_ref())
        .map(|unit| (&**unit, unit))
        .collect();
    if used.is_empty() {
        return;
    }
    text.push_str("  <UnitDefinitions>\n");
    for (unit, meaning) in used {
        let _ = write!(text, "    <Unit{}", attribute("name", unit));
        let list = meaning.dimension.exponents;
        match list.iter().all(|exponent| exponent.1 == 1) && !meaning.scale.is_logarithmic {
            false => text.push_str("/>\n"),
            true => {
                text.push_str("><BaseUnit");
                let names = ["m", "kg", "s", "A", "K", "mol", "cd"];
                let angle = (radians(unit), 1);
                for (name, (exponent, _)) in names.into_iter().zip(list).chain([("rad", angle)]) {
                    if exponent != 0 {
                        text.push_str(&attribute(name, &exponent.to_string()));
                    }
                }
                for (name, value, of_si) in [("factor", meaning.scale.step, 1.0), ("offset", meaning.scale.zero, 0.0)] {
                    if value != of_si {
                        text.push_str(&attribute(name, &shortest(value)));
                    }
                }
                text.push_str("/></Unit>\n");
            }
        }
    }
    text.push_str("  </UnitDefinitions>\n");
}

/// Returns the exponent of `rad` in a unit. In all other places, radians are pure numbers.
fn radians(unit: &str) -> i16 {
    let (top, bottom) = unit.split_once('/').unwrap_or((unit, ""));
    let count = |text: &str| {
        let factors = text.split(['.', '(', ')', '/']);
        factors.filter(|factor| *factor == "rad").count() as i16
    };
    count(top) - count(bottom)
}

fn experiment(subject: &Subject<'_>, text: &mut String) {
    let (start, stop, points) = subject.plan();
    *text += "  <DefaultExperiment";
    *text += &attribute("startTime", &shortest(start));
    if let Some(stop) = stop {
        *text += &attribute("stopTime", &shortest(stop));
    }
    *text += &attribute("tolerance", &shortest(subject.tolerances().0));
    if let Some(stop) = stop {
        *text += &attribute("stepSize", &shortest((stop - start) / (points - 1) as f64));
    }
    *text += "/>\n";
}

/// Prints one variable.
fn scalar(variable: &Variable, variables: &Variables, version: Version, text: &mut String) {
    let (causality, variability) = match variable.causality {
        Causality::Independent => ("independent", "continuous"),
        Causality::Input => ("input", "continuous"),
        Causality::Output => ("output", "continuous"),
        Causality::Local => ("local", "continuous"),
        Causality::Parameter => ("parameter", "tunable"),
        Causality::Calculated => ("calculatedParameter", "tunable"),
    };
    let mut head = attribute("name", &variable.name);
    head += &attribute("valueReference", &variable.reference.to_string());
    if !variable.description.is_empty() {
        head += &attribute("description", &variable.description);
    }
    head += &attribute("causality", causality);
    head += &attribute("variability", variability);
    match (variable.causality, variable.start) {
        // Inputs and independent values have no alternatives.
        (Causality::Independent | Causality::Input, _) => {}
        (_, Some(_)) => head += &attribute("initial", "exact"),
        (_, None) => head += &attribute("initial", "calculated"),
    }
    let mut body = String::new();
    if let Some(unit) = &variable.unit {
        body += &attribute("unit", unit);
    }
    if let Some(state) = variable.rate_of {
        let of = match version {
            Version::Two => state + 1,
            Version::Three => variables.list[state].reference,
        };
        body += &attribute("derivative", &of.to_string());
    }
    if let Some(nominal) = variable.nominal {
        body += &attribute("nominal", &shortest(nominal));
    }
    if variable.jumps {
        body += &attribute("reinit", "true");
    }
    if let Some(start) = variable.start {
        body += &attribute("start", &shortest(start));
    }
    let _ = match version {
        Version::Two => writeln!(text, "    <ScalarVariable{head}><Real{body}/></ScalarVariable>"),
        Version::Three => writeln!(text, "    <Float64{head}{body}/>"),
    };
}

/// Prints the dependencies.
fn structure(variables: &Variables, version: Version, text: &mut String) {
    let place = |at: usize| match version {
        // Version 2 counts variables from 1.
        Version::Two => (at + 1).to_string(),
        Version::Three => variables.list[at].reference.to_string(),
    };
    let known = |list: &[usize]| {
        let list: Vec<String> = list.iter().map(|at| place(*at)).collect();
        attribute("dependencies", &list.join(" "))
    };
    let key = match version {
        Version::Two => "index",
        Version::Three => "valueReference",
    };
    let mut group = |around: &str, element: &str, entries: &mut dyn Iterator<Item = (usize, String)>| {
        let mut lines = String::new();
        for (at, dependencies) in entries {
            match version {
                Version::Two => lines.push_str("      <Unknown"),
                Version::Three => {
                    let _ = write!(lines, "    <{element}");
                }
            }
            let _ = writeln!(lines, "{}{dependencies}/>", attribute(key, &place(at)));
        }
        match version {
            Version::Two if !lines.is_empty() => {
                let _ = write!(text, "    <{around}>\n{lines}    </{around}>\n");
            }
            _ => text.push_str(&lines),
        }
    };
    group(
        "Outputs",
        "Output",
        &mut variables.outputs.iter().map(|(at, list)| (*at, known(list))),
    );
    let rates = variables.rates.iter().zip(&variables.rate_dependencies);
    group(
        "Derivatives",
        "ContinuousStateDerivative",
        &mut rates.map(|(at, list)| (*at, known(list))),
    );
    let states = variables.rates.iter().filter_map(|rate| variables.list[*rate].rate_of);
    let states: FxHashSet<usize> = states.collect();
    let computed = |at: &usize| {
        let variable = &variables.list[*at];
        let asked = match variable.causality {
            Causality::Output | Causality::Calculated => true,
            Causality::Local => states.contains(at) || variable.rate_of.is_some(),
            _ => false,
        };
        asked && variable.start.is_none()
    };
    let unknowns = (0..variables.list.len()).filter(computed);
    group(
        "InitialUnknowns",
        "InitialUnknown",
        &mut unknowns.map(|at| (at, String::new())),
    );
    if version == Version::Three {
        let conditions = variables.conditions.iter();
        group("", "EventIndicator", &mut conditions.map(|at| (*at, String::new())));
    }
}

/// Returns true if a name follows the structured naming convention of FMI: `a.b[1,2].c`, `der(a.b)`.
fn is_structured(name: &str) -> bool {
    let inner = name.strip_prefix("der(").and_then(|rest| rest.strip_suffix(')'));
    inner.unwrap_or(name).split('.').all(|part| {
        let (plain, indices) = match part.split_once('[') {
            Some((plain, rest)) => (plain, rest.strip_suffix(']')),
            None => (part, Some("0")),
        };
        let mut letters = plain.chars();
        letters
            .next()
            .is_some_and(|letter| letter.is_ascii_alphabetic() || letter == '_')
            && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
            && indices.is_some_and(|list| {
                list.split(',')
                    .all(|index| !index.is_empty() && index.chars().all(|letter| letter.is_ascii_digit()))
            })
    })
}

/// Prints `buildDescription.xml` of version 3.
pub(super) fn build_description(facts: &Facts<'_>) -> String {
    let mut text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<fmiBuildDescription fmiVersion=\"3.0\">\n".to_string();
    let _ = writeln!(
        text,
        "  <BuildConfiguration{}>\n    <SourceFileSet language=\"C99\">",
        attribute("modelIdentifier", facts.identifier)
    );
    for source in facts.sources {
        let _ = writeln!(text, "      <SourceFile{}/>", attribute("name", source));
    }
    text + "    </SourceFileSet>\n    <Library name=\"m\" external=\"true\"/>\n  </BuildConfiguration>\n</fmiBuildDescription>\n"
}

/// Prints an HTML table of all variables.
pub(super) fn table(variables: &Variables) -> String {
    let mut text = String::new();
    for variable in variables.list.iter().take(500) {
        let what = match variable.causality {
            Causality::Independent => "independent",
            Causality::Input => "input",
            Causality::Output => "output",
            Causality::Local => "local",
            Causality::Parameter => "parameter",
            Causality::Calculated => "follows",
        };
        let unit = variable.unit.as_deref().unwrap_or("");
        let start = variable.start.map_or_else(String::new, shortest);
        let cells = [&*variable.name, what, unit, &start, &variable.description];
        let cells: Vec<String> = cells.iter().map(|cell| format!("<td>{}</td>", escaped(cell))).collect();
        let _ = writeln!(text, "<tr>{}</tr>", cells.concat());
    }
    if variables.list.len() > 500 {
        text.push_str("<tr><td>..</td><td>and so on: modelDescription.xml has all of them</td></tr>\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_the_structured_convention_are_known() {
        for name in ["a", "cell[2].c.v", "K[1,2]", "der(bar.v[1])", "_x1"] {
            assert!(is_structured(name), "{name}");
        }
        for name in ["", "theta (state)", "K[1, 2]", "K[]", "2x", "a..b", "a[1", "der(a"] {
            assert!(!is_structured(name), "{name}");
        }
    }

    #[test]
    fn radians_are_counted() {
        assert_eq!(radians("rad/s"), 1);
        assert_eq!(radians("N.m.s/rad"), -1);
        assert_eq!(radians("kg/(m.rad)"), -1);
        assert_eq!(radians("m/s"), 0);
    }
}
