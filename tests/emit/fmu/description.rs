//! A parser of `modelDescription.xml` for tests.

use std::collections::HashMap;

/// An XML element with its attributes, followed by its children.
#[derive(Debug)]
pub struct Element {
    pub name: String,
    pub depth: usize,
    attributes: HashMap<String, String>,
}

impl Element {
    pub fn get(&self, name: &str) -> Option<&str> {
        self.attributes.get(name).map(String::as_str)
    }

    pub fn number(&self, name: &str) -> Option<usize> {
        self.get(name).map(|text| text.parse().unwrap())
    }

    pub fn numbers(&self, name: &str) -> Vec<usize> {
        let list = self.get(name).unwrap_or("").split_whitespace();
        list.map(|text| text.parse().unwrap()).collect()
    }
}

/// All elements of a well-formed text in order.
pub fn elements(text: &str) -> Vec<Element> {
    let mut rest = text.strip_prefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>").unwrap();
    let (mut open, mut found): (Vec<String>, Vec<Element>) = (Vec::new(), Vec::new());
    while let Some(at) = rest.find('<') {
        assert!(rest[..at].trim().is_empty(), "text between elements: {}", &rest[..at]);
        let end = rest.find('>').unwrap();
        let tag = &rest[at + 1..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name));
            continue;
        }
        let (tag, is_empty) = tag.strip_suffix('/').map_or((tag, false), |tag| (tag, true));
        let (name, mut list) = tag.split_once(' ').unwrap_or((tag, ""));
        let mut attributes = HashMap::new();
        while !list.trim().is_empty() {
            let (key, value) = list.trim_start().split_once("=\"").unwrap();
            let (value, after) = value.split_once('"').unwrap();
            assert!(!value.contains('<'));
            let value = value.replace("&quot;", "\"").replace("&lt;", "<").replace("&gt;", ">");
            let value = value.replace("&amp;", "&");
            assert!(attributes.insert(key.to_string(), value).is_none(), "{key} twice");
            list = after;
        }
        found.push(Element {
            name: name.to_string(),
            depth: open.len(),
            attributes,
        });
        if !is_empty {
            open.push(name.to_string());
        }
    }
    assert!(open.is_empty() && rest.trim().is_empty());
    found
}

/// The contents of a `modelDescription.xml`.
pub struct Description {
    pub is_three: bool,
    pub all: Vec<Element>,
    /// Value references by name.
    references: HashMap<String, usize>,
    pub token: String,
    pub identifier: String,
}

impl Description {
    pub fn read(text: &str) -> Description {
        let all = elements(text);
        let root = &all[0];
        let is_three = root.get("fmiVersion") == Some("3.0");
        let variables = all.iter().filter(|element| is_variable(element));
        let mut references = HashMap::new();
        for variable in variables {
            let name = variable.get("name").unwrap().to_string();
            let reference = variable.number("valueReference").unwrap();
            assert!(references.insert(name, reference).is_none(), "a name twice");
        }
        let exchange = all.iter().find(|element| element.name == "ModelExchange").unwrap();
        Description {
            token: root
                .get(if is_three { "instantiationToken" } else { "guid" })
                .unwrap()
                .into(),
            identifier: exchange.get("modelIdentifier").unwrap().into(),
            references,
            is_three,
            all,
        }
    }

    pub fn variables(&self) -> Vec<&Element> {
        self.all.iter().filter(|element| is_variable(element)).collect()
    }

    pub fn reference(&self, column: &str) -> String {
        let name = column.replace(", ", ",");
        let found = self.references.get(&name);
        found.unwrap_or_else(|| panic!("no variable `{name}`")).to_string()
    }

    pub fn count(&self, attribute: &str, value: &str) -> usize {
        let variables = self.variables();
        let having = variables
            .iter()
            .filter(|variable| variable.get(attribute) == Some(value));
        having.count()
    }
}

pub fn is_variable(element: &Element) -> bool {
    element.name == "ScalarVariable" || element.name == "Float64"
}
