//! Junctions, elements and bonds as they are drawn: the entries of vectors as one, and the elements of a modal block as one.

use crate::content::Content;
use crate::drawing::{Shape, Stroke};
use lgm_equations::bond::Origin;
use lgm_explain::causality::End;
use lgm_model::{Connection, ElementId, JunctionKind, PathId, PortId};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// A bond graph to be drawn.
#[derive(Debug, Default)]
pub(super) struct Graph {
    pub(super) vertices: Vec<Vertex>,
    pub(super) bonds: Vec<Bond>,
}

/// A junction or an element.
#[derive(Debug)]
pub(super) struct Vertex {
    /// Its name in the model.
    pub(super) id: String,
    /// What is written.
    pub(super) text: String,
    pub(super) shape: Shape,
    pub(super) domain: Option<Arc<str>>,
    pub(super) width: usize,
    /// What modulates it.
    pub(super) signals: Vec<String>,
    pub(super) is_source: bool,
    pub(super) title: String,
}

/// A bond; power is positive from tail to head.
#[derive(Clone, Debug)]
pub(super) struct Bond {
    pub(super) tail: usize,
    pub(super) head: usize,
    pub(super) element: Option<String>,
    pub(super) name: String,
    pub(super) kind: Option<Arc<str>>,
    pub(super) domain: Option<Arc<str>>,
    pub(super) width: usize,
    pub(super) bonds: Vec<usize>,
    pub(super) stroke: Stroke,
    pub(super) conflict: bool,
}

impl Bond {
    /// The other end.
    pub(super) fn other(&self, end: usize) -> usize {
        if self.tail == end { self.head } else { self.tail }
    }
}

/// What a vertex stands for.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Key {
    Node(PathId),
    Branch(ElementId, Option<Arc<str>>),
    Direct(String),
    Element(ElementId),
    Box(PathId),
    Added(usize),
}

/// A graph while it is made.
struct Reader<'c, 'a> {
    content: &'c Content<'a>,
    graph: Graph,
    known: FxHashMap<Key, usize>,
    /// Junctions between elements that were bonded to each other directly: no one drew them.
    direct: Vec<usize>,
}

/// Reads the graph of a model.
pub(super) fn read(content: &Content<'_>) -> Graph {
    let mut reader = Reader {
        content,
        graph: Graph::default(),
        known: FxHashMap::default(),
        direct: Vec::new(),
    };
    // In the order of their declarations, elements first: the first source is found first.
    for port in 0..content.report.ports.len() {
        reader.vertex(End::Port(port));
    }
    for junction in 0..content.report.junctions.len() {
        let place = reader.junction(junction);
        if matches!(reader.graph.vertices[place].shape, Shape::Junction(_)) {
            reader.graph.vertices[place].width += 1;
        }
    }
    let ends: Vec<(usize, usize)> = (content.report.bonds.iter())
        .map(|bond| (reader.vertex(bond.tail), reader.vertex(bond.head)))
        .collect();
    let mut lines: FxHashMap<(usize, usize, String), usize> = FxHashMap::default();
    for (index, (tail, head)) in ends.into_iter().enumerate() {
        if tail == head {
            continue;
        }
        let bond = reader.bond(index, tail, head);
        // Bonds between two junctions that are no vectors are as many as were drawn.
        let is_vector = reader.graph.vertices[tail].width > 1 || reader.graph.vertices[head].width > 1;
        let is_one = bond.name.is_empty() && !is_vector;
        let key = (tail, head, if is_one { format!("#{index}") } else { bond.name.clone() });
        match lines.get(&key) {
            Some(place) => {
                let known = &mut reader.graph.bonds[*place];
                known.width += 1;
                known.bonds.push(index);
                known.conflict |= bond.conflict;
                if known.stroke != bond.stroke {
                    known.stroke = Stroke::Both;
                }
            }
            None => {
                lines.insert(key, reader.graph.bonds.len());
                reader.graph.bonds.push(bond);
            }
        }
    }
    reader.join_direct();
    reader.graph
}

impl Reader<'_, '_> {
    fn vertex(&mut self, end: End) -> usize {
        match end {
            End::Junction(junction) => self.junction(junction),
            End::Port(port) => self.port(port),
        }
    }

    fn put(&mut self, key: Key, make: impl FnOnce(&Content<'_>) -> Vertex) -> usize {
        match self.known.get(&key) {
            Some(place) => *place,
            None => {
                self.graph.vertices.push(make(self.content));
                let place = self.graph.vertices.len() - 1;
                self.known.insert(key, place);
                place
            }
        }
    }

    fn junction(&mut self, junction: usize) -> usize {
        let content = self.content;
        let model = content.model;
        let info = &content.report.junctions[junction];
        let mut has_entry = false;
        let (key, name, domain) = match content.graph.junctions.get(junction).map(|each| each.origin) {
            Some(Origin::Node(node)) => {
                if let Some(path) = content.boxes.of_node(node) {
                    return self.boxed(path);
                }
                let node = &model.nodes[node.index()];
                (Key::Node(node.path), Some(model.path_name(node.path)), node.domain)
            }
            Some(Origin::Branch(port)) => {
                let port = &model.ports[port.index()];
                if let Connection::Branch { from, to, .. } = &port.connection
                    && let Some(path) = content.boxes.of_element(port.element)
                    && [from, to]
                        .into_iter()
                        .flatten()
                        .any(|node| content.boxes.of_node(*node) == Some(path))
                {
                    return self.boxed(path);
                }
                has_entry = port.entry.is_some();
                (Key::Branch(port.element, port.name.clone()), None, port.domain)
            }
            Some(Origin::Direct(bond)) => {
                let bond = &model.bonds[bond.index()];
                let name = |end| match end {
                    lgm_model::BondEnd::Port(port) => self.port_name(port),
                    lgm_model::BondEnd::Node(node) => model.path_name(model.nodes[node.index()].path),
                };
                let key = Key::Direct(format!("{} {}", name(bond.tail), name(bond.head)));
                (key, None, None)
            }
            None => (Key::Added(junction), Some(info.name.clone()), None),
        };
        let is_direct = matches!(key, Key::Direct(_));
        let digit = match info.kind {
            JunctionKind::Zero => "0",
            JunctionKind::One => "1",
        };
        let count = self.graph.vertices.len();
        let place = self.put(key, |content| Vertex {
            id: name.clone().unwrap_or_else(|| match has_entry {
                true => without_entry(&info.name),
                false => info.name.clone(),
            }),
            text: match &name {
                Some(name) => format!("{digit} {name}"),
                None => digit.to_string(),
            },
            shape: Shape::Junction(info.kind),
            domain: content.domain(domain),
            width: 0,
            signals: Vec::new(),
            is_source: false,
            title: info.name.clone(),
        });
        if place == count && is_direct {
            self.direct.push(place);
        }
        place
    }

    fn port(&mut self, port: usize) -> usize {
        let model = self.content.model;
        let Some(info) = model.ports.get(port) else {
            // A velocity that the equations have as a state.
            let name = self.content.report.ports[port].name.clone();
            return self.put(Key::Added(usize::MAX - port), |_| Vertex {
                id: format!("velocity of {name}"),
                text: "velocity".to_string(),
                shape: Shape::Element(None),
                domain: None,
                width: 1,
                signals: Vec::new(),
                is_source: false,
                title: format!("the velocity of {name} is a state, since a modulus depends on its integral"),
            });
        };
        match self.content.boxes.of_element(info.element) {
            Some(path) => self.boxed(path),
            None => self.element(info.element),
        }
    }

    fn boxed(&mut self, path: PathId) -> usize {
        self.put(Key::Box(path), |content| {
            let elements = (0..content.model.elements.len() as u32).map(ElementId);
            let mut own = elements.filter(|element| content.boxes.of_element(*element) == Some(path));
            let kind = own.next().map(|element| content.kind(element)).unwrap_or_default();
            let name = content.model.path_name(path);
            Vertex {
                text: format!("{kind}:{name}"),
                shape: Shape::Element(None),
                domain: None,
                width: 1,
                signals: Vec::new(),
                is_source: false,
                title: format!("{name}: {kind}, with its modes"),
                id: name,
            }
        })
    }

    fn element(&mut self, element: ElementId) -> usize {
        self.put(Key::Element(element), |content| {
            let name = content.model.element_name(element);
            let letters = content.letters(element);
            let integral = content.is_integral(element);
            let says = match integral {
                Some(true) => ", integral causality",
                Some(false) => ", derivative causality",
                None => "",
            };
            let info = &content.model.elements[element.index()];
            let first = PortId(info.ports.start);
            Vertex {
                text: element_text(&letters, &name),
                shape: Shape::Element(integral),
                domain: content.domain(content.model.ports[first.index()].domain),
                width: 1,
                signals: content.modulation(element),
                is_source: matches!(info.law, lgm_model::Law::Source { .. }),
                title: format!("{name}: {}{says}", info.kind),
                id: name,
            }
        })
    }

    fn port_name(&self, port: PortId) -> String {
        let info = &self.content.model.ports[port.index()];
        let element = self.content.name(info.element);
        match &info.name {
            Some(own) => format!("{element}.{own}"),
            None => element,
        }
    }

    fn bond(&self, index: usize, tail: usize, head: usize) -> Bond {
        let content = self.content;
        let bond = &content.report.bonds[index];
        let port = match (bond.tail, bond.head) {
            (End::Port(port), _) | (_, End::Port(port)) => Some(port),
            _ => None,
        };
        let own = port.filter(|port| *port < content.model.ports.len());
        let own = own.map(|port| PortId(port as u32));
        let of_port = own.and_then(|port| content.domain(content.model.ports[port.index()].domain));
        let domains = [tail, head].map(|vertex| self.graph.vertices[vertex].domain.clone());
        let [of_tail, of_head] = domains;
        Bond {
            tail,
            head,
            element: match own {
                Some(port) => Some(content.name(content.model.ports[port.index()].element)),
                None => port.map(|_| self.graph.vertices[tail.max(head)].id.clone()),
            },
            name: match (own, port) {
                (Some(port), _) => self.port_name(port),
                (None, Some(port)) => content.report.ports[port].name.clone(),
                (None, None) => String::new(),
            },
            kind: own.map(|port| content.kind(content.model.ports[port.index()].element)),
            domain: of_port.or(of_tail).or(of_head),
            width: 1,
            bonds: vec![index],
            conflict: content.conflict.bonds.contains(&index),
            stroke: match bond.effort_at {
                Some(end) if end == bond.tail => Stroke::Tail,
                Some(_) => Stroke::Head,
                None => Stroke::Open,
            },
        }
    }

    /// Two bonds at a junction that no one drew are the one that was drawn.
    fn join_direct(&mut self) {
        let mut gone = vec![false; self.graph.vertices.len()];
        for direct in std::mem::take(&mut self.direct) {
            let into = self.graph.bonds.iter().position(|bond| bond.head == direct);
            let out = self.graph.bonds.iter().position(|bond| bond.tail == direct);
            let (Some(into), Some(out)) = (into, out) else {
                continue;
            };
            let second = self.graph.bonds[out].clone();
            let first = &mut self.graph.bonds[into];
            first.head = second.head;
            first.bonds.extend(second.bonds);
            first.conflict |= second.conflict;
            first.name = format!("{} -> {}", first.name, second.name);
            first.domain = first.domain.take().or(second.domain);
            self.graph.bonds.remove(out);
            gone[direct] = true;
        }
        let mut places = Vec::with_capacity(gone.len());
        let mut count = 0;
        for is_gone in &gone {
            places.push(count);
            count += usize::from(!is_gone);
        }
        let mut kept = gone.iter();
        self.graph.vertices.retain(|_| kept.next() == Some(&false));
        for bond in &mut self.graph.bonds {
            (bond.tail, bond.head) = (places[bond.tail], places[bond.head]);
        }
    }
}

/// `1(spring[2])` as `1(spring)`.
fn without_entry(name: &str) -> String {
    match name.strip_suffix("])").and_then(|start| start.rsplit_once('[')) {
        Some((start, number)) if number.bytes().all(|byte| byte.is_ascii_digit()) => format!("{start})"),
        _ => name.to_string(),
    }
}

/// `I:mass`; an element that is called by its letters, `SE` or `I1`, has no need of them twice.
fn element_text(letters: &str, name: &str) -> String {
    let own = name.strip_prefix(letters);
    match own.is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit())) {
        true => name.to_string(),
        false => format!("{letters}:{name}"),
    }
}
