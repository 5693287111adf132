//! The reference of the standard library: an entry for each definition, made from its declaration and its `///` lines.
//!
//! `///` lines hold a description, a list of parameters, ``- `m`: mass``, and an example, ``Example: `cart : Mass(2 [kg]) x -> gnd;` ``.
//! Parameters that all definitions of a module share are listed once, in the comment at the top of the module.

use lgm_elaborate::{LIBRARY, LibraryModule};
use lgm_source::{SourceMap, Span};
use lgm_syntax::ast::{Domain, Element, Formal, Item, Modal, PortDecl, Statement, StatementKind};
use std::fmt::Write;

/// The entry of one definition.
pub(super) struct Entry {
    /// The name of the definition, such as `Mass`.
    pub name: String,
    /// The first sentence of its description.
    pub summary: String,
    /// The whole entry, in Markdown, with the name as a third-level heading.
    pub text: String,
}

/// A module with its entries.
struct Chapter {
    module: &'static LibraryModule,
    entries: Vec<Entry>,
}

/// Returns all entries, grouped by module.
pub(super) fn entries() -> Vec<Entry> {
    chapters().into_iter().flat_map(|chapter| chapter.entries).collect()
}

/// Returns the whole reference.
pub(super) fn page() -> String {
    let mut out = String::from(
        "# The library\n\n\
         Made by `lgm explain --library` from `stdlib/`. `lgm explain Mass` prints one entry.\n\n\
         Each entry has its law, its ports, its parameters with units, and an example. Parameters without a default must be given. \
         A branch `a -> b` has `across = across(a) - across(b)`, and `through` is positive from `a` to `b` \
         ([signs.md](signs.md)).\n\n",
    );
    let chapters = chapters();
    out.push_str("| module | import | definitions |\n| --- | --- | --- |\n");
    for Chapter { module, entries } in &chapters {
        let names: Vec<String> = entries
            .iter()
            .map(|entry| format!("[{0}](#{1})", entry.name, entry.name.to_lowercase()))
            .collect();
        let import = if module.prelude {
            "none".to_string()
        } else {
            format!("`import {};`", module.name)
        };
        let _ = writeln!(
            out,
            "| [{0}](#module-{0}) | {import} | {1} |",
            module.name,
            names.join(", ")
        );
    }
    out.push_str(&domains());
    for Chapter { module, entries } in &chapters {
        let _ = write!(out, "\n## Module {}\n\n{}\n", module.name, introduction(module.text));
        for entry in entries {
            let _ = write!(out, "\n{}", entry.text);
        }
    }
    out
}

fn chapters() -> Vec<Chapter> {
    let chapters = LIBRARY.iter().map(|module| {
        let (map, items) = parsed(module);
        let entry = |item: &Item| entry(module, &map, item);
        Chapter {
            module,
            entries: items.iter().filter_map(entry).collect(),
        }
    });
    chapters.filter(|chapter| !chapter.entries.is_empty()).collect()
}

fn parsed(module: &LibraryModule) -> (SourceMap, Vec<Item>) {
    let mut map = SourceMap::default();
    let source = map.add(module.title, module.text, None);
    let (ast, _) = lgm_syntax::parse(source, module.text);
    (map, ast.items)
}

/// Returns the table of domains.
fn domains() -> String {
    let mut out =
        "\n## Domains\n\n| domain | across | through | effort | description |\n| --- | --- | --- | --- | --- |\n"
            .to_string();
    for module in LIBRARY {
        let (map, items) = parsed(module);
        for item in &items {
            let Item::Domain(domain) = item else { continue };
            let [across, through] = variables(&map, domain);
            let effort = domain.effort.as_ref().map_or("", |name| &*name.text);
            let doc = domain.doc.as_deref().unwrap_or_default().trim();
            let _ = writeln!(
                out,
                "| `{}` | {across} | {through} | {effort} | {doc} |",
                domain.name.text
            );
        }
    }
    out
}

/// Returns the across and through variables of a domain with their units.
fn variables(map: &SourceMap, domain: &Domain) -> [String; 2] {
    [&domain.across, &domain.through].map(|variable| {
        variable.as_ref().map_or(String::new(), |variable| {
            let unit = variable.unit.as_ref().map_or("", |unit| map.slice(unit.span));
            format!("`{}` {unit}", variable.name.text)
        })
    })
}

/// Returns the comment at the top of a module, without the list of shared parameters.
fn introduction(text: &str) -> String {
    let lines: Vec<&str> = head(text).filter(|line| described(line).is_none()).collect();
    lines.join("\n").trim_end().to_string()
}

/// Returns the lines of the comment at the top of a module.
fn head(text: &str) -> impl Iterator<Item = &str> {
    let lines = text
        .lines()
        .map_while(|line| line.strip_prefix("//").filter(|line| !line.starts_with('/')));
    lines.map(|line| line.strip_prefix(' ').unwrap_or(line))
}

/// Splits a line such as ``- `m`: mass`` into the name and the description.
fn described(line: &str) -> Option<(&str, &str)> {
    line.strip_prefix("- `")?.split_once("`: ")
}

/// The `///` lines of a definition, split into parts.
struct Described<'t> {
    words: String,
    parameters: Vec<(&'t str, &'t str)>,
    example: Option<&'t str>,
}

impl<'t> Described<'t> {
    fn of(doc: &'t str, module: &'static LibraryModule) -> Described<'t> {
        let (parameters, rest): (Vec<&str>, Vec<&str>) =
            doc.lines().map(str::trim).partition(|line| described(line).is_some());
        let example = rest
            .iter()
            .find_map(|line| line.strip_prefix("Example: `")?.strip_suffix('`'));
        let words: Vec<&str> = rest
            .into_iter()
            .filter(|line| !line.is_empty() && !line.starts_with("Example: "))
            .collect();
        let shared = head(module.text).filter_map(described);
        Described {
            words: words.join("\n"),
            parameters: parameters.into_iter().filter_map(described).chain(shared).collect(),
            example,
        }
    }

    fn parameter(&self, name: &str) -> Option<&'t str> {
        self.parameters
            .iter()
            .find(|entry| entry.0 == name)
            .map(|entry| entry.1)
    }
}

/// Returns the entry of an element, a component or a modal block.
fn entry(module: &'static LibraryModule, map: &SourceMap, item: &Item) -> Option<Entry> {
    let (name, doc, formals, ports) = match item {
        Item::Element(element) => (&element.name, &element.doc, &element.formals, ports_of_element(element)),
        Item::Modal(modal) => (&modal.name, &modal.doc, &modal.formals, ports_of_modal(modal)),
        Item::Component(component) => (
            &component.name,
            &component.doc,
            &component.formals,
            ports_of_body(map, &component.body),
        ),
        Item::Import(_) | Item::Domain(_) | Item::Model(_) | Item::Function(_) | Item::Const(_) => return None,
    };
    let described = Described::of(doc.as_deref().unwrap_or_default(), module);
    let summary = described
        .words
        .split(". ")
        .next()
        .unwrap_or_default()
        .trim_end_matches('.')
        .replace('\n', " ");
    let mut text = format!("### {}\n\n{}\n\n", name.text, described.words);
    let declaration = map.slice(item.span());
    match (item, declaration.find('{')) {
        (Item::Element(_), _) | (_, None) => {
            // The domains of a module are in scope with its import.
            let import = match module.prelude || !module.text.contains("\ndomain ") {
                true => String::new(),
                false => format!("import {};\n\n", module.name),
            };
            let _ = write!(text, "```lgm\n{import}{declaration}\n```\n");
        }
        // A long body is not useful as a reference for the law.
        (_, Some(brace)) => {
            let words: Vec<&str> = declaration[..brace].split_whitespace().collect();
            let _ = writeln!(text, "`{}`", words.join(" "));
        }
    }
    let _ = write!(text, "\n- Ports: {ports}\n");
    for formal in formals {
        text.push_str(&parameter(map, formal, described.parameter(&formal.name.text)));
    }
    if !module.prelude {
        let _ = writeln!(text, "- Import: `import {};`", module.name);
    }
    if let Some(example) = described.example {
        let _ = writeln!(text, "- Example: `{example}`");
    }
    Some(Entry {
        name: name.text.to_string(),
        summary,
        text,
    })
}

/// Formats the line of a parameter: its unit, its default and its description.
fn parameter(map: &SourceMap, formal: &Formal, words: Option<&str>) -> String {
    let slice = |span: Span| map.slice(span).to_string();
    let unit = formal
        .unit
        .as_ref()
        .map_or(String::new(), |unit| format!(" {}", slice(unit.span)));
    let default = formal
        .default
        .as_ref()
        .map_or(String::new(), |default| format!(" (default `{}`)", slice(default.span)));
    let structural = if formal.structural { ", a `const`" } else { "" };
    format!(
        "- `{}`{unit}: {}{structural}{default}\n",
        formal.name.text,
        words.unwrap_or("not described")
    )
}

fn ports_of_element(element: &Element) -> String {
    let of = match &element.domain {
        Some(domain) if &*domain.text == "bond" => return bonds(element),
        Some(domain) => format!("`{}`", domain.text),
        None if element.ports.iter().all(|port| port.domain.is_some()) => String::new(),
        None => "any domain".to_string(),
    };
    let names: Vec<String> = element.ports.iter().map(port).collect();
    match (&names[..], &*of) {
        ([], _) => format!("a branch `a -> b`, {of}"),
        (names, "") => format!("branches {}", names.join(" and ")),
        (names, of) => format!("branches {}, {of}", names.join(" and ")),
    }
}

/// Returns the name of a port, with its domain if it is declared.
fn port(port: &PortDecl) -> String {
    let name = &port.declared.name.text;
    match &port.domain {
        Some(domain) => format!("`{name} : {}`", domain.text),
        None => format!("`{name}`"),
    }
}

fn bonds(element: &Element) -> String {
    match element.ports.is_empty() {
        true => "a bond".to_string(),
        false => "a bond in and a bond out".to_string(),
    }
}

fn ports_of_modal(modal: &Modal) -> String {
    let domain = modal
        .domain
        .as_ref()
        .map_or("any domain".to_string(), |domain| format!("`{}`", domain.text));
    format!("a branch `a -> b` for each entry of `at` and of `over`, {domain}")
}

/// Returns the ports, inputs and outputs of a component.
fn ports_of_body(map: &SourceMap, body: &[Statement]) -> String {
    let kinds = body.iter().map(|statement| &statement.kind);
    let ports = body
        .iter()
        .filter(|statement| matches!(statement.kind, StatementKind::Port(_)));
    let mut parts: Vec<String> = ports
        .map(|statement| {
            let words = map.slice(statement.span).trim_end_matches(';');
            format!("`{}`", words.strip_prefix("port ").unwrap_or(words))
        })
        .collect();
    let inputs = kinds.clone().filter_map(|kind| match kind {
        StatementKind::Input(assigned) => Some(&*assigned.name.text),
        _ => None,
    });
    let outputs = kinds.filter_map(|kind| match kind {
        StatementKind::Output(indexed) => Some(&*indexed.declared.name.text),
        _ => None,
    });
    for (word, names) in [("input", inputs.collect::<Vec<_>>()), ("output", outputs.collect())] {
        match &names[..] {
            [] => {}
            [name] => parts.push(format!("{word} `{name}`")),
            names => parts.push(format!("{word}s `{}`", names.join("`, `"))),
        }
    }
    parts.join("; ")
}

#[cfg(test)]
mod tests {
    use super::entries;
    use crate::rendering::render;
    use lgm_source::diagnostic::Severity;
    use lgm_source::{SourceMap, Sources};
    use std::collections::BTreeSet;
    use std::path::Path;

    /// The tables that examples refer to.
    struct Tables;

    impl Sources for Tables {
        fn read(&self, path: &Path) -> Result<String, String> {
            match path.to_str() {
                Some("modes.csv") => Ok("frequency [Hz],shape(0.4)\n10,1\n".to_string()),
                Some("panel.csv") => Ok("frequency [Hz],\"shape(0.2, 0.1)\"\n10,1\n".to_string()),
                _ => Err("no such file".to_string()),
            }
        }
    }

    /// Returns the names at both ends of the arrows of an example that the example does not declare.
    fn ends(example: &str) -> BTreeSet<&str> {
        let declared: BTreeSet<&str> = example
            .split("; ")
            .filter_map(|part| part.split_once(" : "))
            .map(|parts| parts.0)
            .collect();
        let words: Vec<&str> = example.split([' ', ';', ',']).filter(|word| !word.is_empty()).collect();
        let arrows = (0..words.len()).filter(|&at| words[at] == "->");
        let ends = arrows.flat_map(|at| [words[at - 1], words[at + 1]]);
        ends.filter(|end| *end != "gnd" && !declared.contains(end)).collect()
    }

    /// Returns the ports in a line such as "`p, n : electrical`, `shaft : rotational`" with their domains.
    fn domains_of(ports: &str) -> Vec<(&str, &str)> {
        let groups = ports.split('`').filter_map(|group| group.split_once(" : "));
        let declared = groups.flat_map(|(names, domain)| names.split(", ").map(move |name| (name, domain)));
        let declared: Vec<(&str, &str)> = declared.collect();
        match ports.rsplit_once(", `") {
            Some((_, domain)) if declared.is_empty() => vec![("", domain.trim_end_matches('`'))],
            _ => declared,
        }
    }

    /// Returns the index of the branch of an example that ends at a node.
    fn branch_of(example: &str, end: &str) -> Option<usize> {
        let branches = example
            .trim_end_matches(';')
            .rsplit_once(") ")
            .map_or(example, |parts| parts.1);
        let mut branches = branches.split(", ");
        branches.position(|branch| branch.split(' ').any(|word| word == end))
    }

    /// Returns the nodes to which the ports of a component are bound, `(p = a, n = gnd)`, with these ports.
    fn bindings(example: &str) -> BTreeSet<(&str, &str)> {
        let list = example
            .trim_end_matches(");")
            .rsplit_once(") (")
            .map_or("", |parts| parts.1);
        let pairs = list.split(", ").filter_map(|pair| pair.split_once(" = "));
        let own = |end: &str| {
            end != "gnd" && !end.starts_with('[') && !example.contains("(turn = turn") && !example.contains("(w = w)")
        };
        pairs
            .filter(|pair| own(pair.1))
            .map(|(port, end)| (end, port))
            .collect()
    }

    /// Declares a node with a dissipator, and with storage if requested.
    fn loaded(end: &str, domain: &str, has_storage: bool) -> String {
        let storage = match has_storage {
            true => format!(" of_{end} : AType(1) {end} -> gnd;"),
            false => String::new(),
        };
        format!("  node {end} : {domain}; at_{end} : DType(1) {end} -> gnd;{storage}\n")
    }

    /// Returns a model that contains an example, with a dissipator at each of its nodes.
    fn model(text: &str, example: &str, has_storage: bool) -> String {
        let mut model = String::new();
        let imports = text
            .lines()
            .filter_map(|line| line.strip_prefix("- Import: `")?.strip_suffix('`'));
        model.extend(imports);
        model += "\nmodel Example {\n";
        let ports = text.lines().find_map(|line| line.strip_prefix("- Ports: ")).unwrap();
        if ports.contains("bond") {
            for end in ends(example) {
                model += &format!("  one {end}; at_{end} : R(1); {end} -> at_{end};\n");
            }
        } else if example.contains("(turn = turn") {
            model += "  node turn : rotational; node centre[2] vector, tip[2] vector : translational;\n";
            model +=
                "  at_turn : DType(1) turn -> gnd; at_centre : DType(1) centre -> gnd; at_tip : DType(1) tip -> gnd;\n";
        } else if example.contains("(w = w)") {
            model += "  node w[3] vector : rotational; at_w : DType(1) w -> gnd;\n";
        }
        let domains = domains_of(ports);
        for end in ends(example).iter().filter(|_| !ports.contains("bond")) {
            let of_branch = branch_of(example, end).and_then(|branch| domains.get(branch));
            let domain = of_branch.or(domains.first()).map_or("rotational", |found| found.1);
            model += &loaded(end, domain, has_storage);
        }
        for (end, port) in bindings(example)
            .into_iter()
            .filter(|_| !ports.starts_with("input") && !ports.starts_with("output"))
        {
            let domain = domains
                .iter()
                .find(|found| found.0 == port)
                .map_or("rotational", |found| found.1);
            model += &loaded(end, domain, has_storage);
        }
        model + "  " + example + "\n}\n"
    }

    /// Returns what is reported about an example; none if it is verified.
    fn faults(text: &str) -> Option<String> {
        let mut map = SourceMap::default();
        let root = map.add("model.lgm", text, Some("model.lgm".into()));
        let request = crate::Request {
            verify: true,
            ..crate::Request::default()
        };
        let found = crate::check(&Tables, &mut map, root, &request);
        let is_right = found.iter().all(|found| found.severity == Severity::Information);
        (!is_right).then(|| format!("{text}\n{}", render(&map, &found, false)))
    }

    #[test]
    fn every_example_compiles_and_verifies() {
        for entry in entries() {
            let example = entry
                .text
                .lines()
                .find_map(|line| line.strip_prefix("- Example: `")?.strip_suffix('`'));
            // A steep law alone with dissipators is a loop; with storage it follows a state.
            let of = |has_storage: bool| faults(&model(&entry.text, example.unwrap(), has_storage));
            if let Some(first) = of(false) {
                assert_eq!(of(true), None, "{first}");
            }
        }
    }
}
