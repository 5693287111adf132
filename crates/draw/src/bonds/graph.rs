//! Junctions, elements and bonds as drawn: the entries of a vector are merged, and so are the elements of a modal block.

use crate::content::Content;
use crate::drawing::{Shape, Stroke};
use lgm_equations::bond::Origin;
use lgm_explain::causality::End;
use lgm_model::{Connection, ElementId, JunctionKind, Law, PathId, PortId, Variable};
use lgm_source::Span;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// A bond graph to be drawn.
#[derive(Debug, Default)]
pub(super) struct Graph {
    pub(super) vertices: Vec<Vertex>,
    pub(super) bonds: Vec<Bond>,
}

/// A junction or an element.
#[derive(Clone, Debug)]
pub(super) struct Vertex {
    /// The name in the model.
    pub(super) id: String,
    /// The written text.
    pub(super) text: String,
    pub(super) shape: Shape,
    pub(super) domain: Option<Arc<str>>,
    pub(super) width: usize,
    /// The modulus or parameter, if it is shown.
    pub(super) value: Option<String>,
    /// Names of modulating quantities that are drawn as texts.
    pub(super) signals: Vec<String>,
    /// The vertices whose variables modulate the element.
    pub(super) modulated_by: Vec<usize>,
    pub(super) role: Role,
    /// The enclosing components, the outermost first.
    pub(super) home: Vec<PathId>,
    /// The location of the declaration: the same for the corresponding vertices of all components with the same definition.
    pub(super) declared: Option<Span>,
    /// The element, if the vertex is one.
    pub(super) element: Option<ElementId>,
    /// The size, including its contents, of a component drawn as a single vertex.
    pub(super) size: Option<Size>,
    pub(super) title: String,
}

impl Vertex {
    /// Creates an element with only its name in the model and its text.
    pub(super) fn new(id: String, text: String) -> Vertex {
        Vertex {
            id,
            text,
            shape: Shape::Element(None),
            domain: None,
            width: 1,
            value: None,
            signals: Vec::new(),
            modulated_by: Vec::new(),
            role: Role::Other,
            home: Vec::new(),
            declared: None,
            element: None,
            size: None,
            title: String::new(),
        }
    }
}

/// The extent of a component's frame from its row.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Size {
    pub(super) w: f64,
    pub(super) above: f64,
    pub(super) below: f64,
}

/// The role of a vertex in the power flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Role {
    /// A source of this variable.
    Source(Variable),
    /// Storage or a dissipator: it absorbs power.
    Sink,
    /// Power enters at one port and leaves at another.
    Coupler,
    /// The junction of a branch between two nodes.
    Branch,
    /// Another junction, or a modal block.
    Other,
}

impl Vertex {
    pub(super) fn is_source(&self) -> bool {
        matches!(self.role, Role::Source(_))
    }
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
    /// The bonds that were reversed.
    pub(super) turned: Vec<usize>,
    pub(super) stroke: Stroke,
    /// The ports at the tail and the head.
    pub(super) ports: [Option<PortEnd>; 2],
    pub(super) conflict: bool,
    /// True if both ends require the stroke.
    pub(super) contested: bool,
}

/// The port of an element at an end of a bond. Effort and flow of the port, absorbing power, equal the effort and flow of the drawn bond
/// times 1 or -1.
#[derive(Clone, Copy, Debug)]
pub(super) struct PortEnd {
    pub(super) port: PortId,
    pub(super) effort_sign: i8,
    pub(super) flow_sign: i8,
}

impl Bond {
    /// Returns the other end.
    pub(super) fn other(&self, end: usize) -> usize {
        if self.tail == end { self.head } else { self.tail }
    }

    /// Reverses the bond; `changes` is the variable that changes its sign.
    pub(super) fn turn(&mut self, changes: Variable) {
        std::mem::swap(&mut self.tail, &mut self.head);
        self.ports.swap(0, 1);
        for end in self.ports.iter_mut().flatten() {
            match changes {
                Variable::Effort => end.effort_sign = -end.effort_sign,
                Variable::Flow => end.flow_sign = -end.flow_sign,
            }
        }
        self.stroke = match self.stroke {
            Stroke::Tail => Stroke::Head,
            Stroke::Head => Stroke::Tail,
            other => other,
        };
        let before = std::mem::take(&mut self.turned);
        self.turned = self
            .bonds
            .iter()
            .copied()
            .filter(|bond| !before.contains(bond))
            .collect();
    }
}

/// The model object that a vertex represents.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Key {
    Node(PathId),
    Branch(ElementId, Option<Arc<str>>),
    Direct(String),
    Element(ElementId),
    Box(PathId),
    Added(usize),
}

/// A graph under construction.
struct Reader<'c, 'a> {
    content: &'c Content<'a>,
    graph: Graph,
    known: FxHashMap<Key, usize>,
    /// Junctions inserted between elements that were bonded to each other directly.
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
    // In declaration order, elements first, so that the first source is found first.
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
        // Bonds between two junctions that are not vectors are drawn separately.
        let is_vector = reader.graph.vertices[tail].width > 1 || reader.graph.vertices[head].width > 1;
        let is_one = bond.name.is_empty() && !is_vector;
        let key = (tail, head, if is_one { format!("#{index}") } else { bond.name.clone() });
        match lines.get(&key) {
            Some(place) => {
                let known = &mut reader.graph.bonds[*place];
                known.width += 1;
                known.bonds.push(index);
                known.conflict |= bond.conflict;
                known.contested |= bond.contested;
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
    reader.modulate();
    reader.settle_added();
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
                let node = &model.graph.nodes[node.index()];
                (Key::Node(node.path), Some(model.path_name(node.path)), node.domain)
            }
            Some(Origin::Branch(port)) => {
                let port = &model.graph.ports[port.index()];
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
                let bond = &model.graph.bonds[bond.index()];
                let name = |end| match end {
                    lgm_model::BondEnd::Port(port) => self.port_name(port),
                    lgm_model::BondEnd::Node(node) => model.path_name(model.graph.nodes[node.index()].path),
                };
                let key = Key::Direct(format!("{} {}", name(bond.tail), name(bond.head)));
                (key, None, None)
            }
            None => (Key::Added(junction), Some(info.name.clone()), None),
        };
        let is_direct = matches!(key, Key::Direct(_));
        let is_branch = matches!(key, Key::Branch(..));
        let own = match &key {
            Key::Node(path) => Some(*path),
            Key::Branch(element, _) => Some(model.graph.elements[element.index()].path),
            _ => None,
        };
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
            text: match (&name, own) {
                (Some(_), Some(path)) => format!("{digit} {}", content.own_name(path)),
                (Some(name), None) => format!("{digit} {name}"),
                (None, _) => digit.to_string(),
            },
            shape: Shape::Junction(info.kind),
            domain: content.domain(domain),
            width: 0,
            value: None,
            signals: Vec::new(),
            modulated_by: Vec::new(),
            role: if is_branch { Role::Branch } else { Role::Other },
            home: own.map_or(Vec::new(), |path| content.components(path)),
            declared: own.map(|path| model.paths[path.index()].span),
            element: None,
            size: None,
            title: info.name.clone(),
        });
        if place == count && is_direct {
            self.direct.push(place);
        }
        place
    }

    fn port(&mut self, port: usize) -> usize {
        let model = self.content.model;
        let Some(info) = model.graph.ports.get(port) else {
            // A velocity that is a state of the equations.
            let name = self.content.report.ports[port].name.clone();
            return self.put(Key::Added(usize::MAX - port), |_| Vertex {
                role: Role::Sink,
                title: format!("the velocity of {name} is a state, because a modulus depends on its integral"),
                ..Vertex::new(format!("velocity of {name}"), "velocity".to_string())
            });
        };
        match self.content.boxes.of_element(info.element) {
            Some(path) => self.boxed(path),
            None => self.element(info.element),
        }
    }

    fn boxed(&mut self, path: PathId) -> usize {
        self.put(Key::Box(path), |content| {
            let elements = (0..content.model.graph.elements.len() as u32).map(ElementId);
            let mut own = elements.filter(|element| content.boxes.of_element(*element) == Some(path));
            let kind = own.next().map(|element| content.kind(element)).unwrap_or_default();
            let name = content.model.path_name(path);
            Vertex {
                home: content.components(path),
                declared: Some(content.model.paths[path.index()].span),
                title: format!("{name}: {kind}, with its modes"),
                ..Vertex::new(name, format!("{kind}:{}", content.own_name(path)))
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
            let info = &content.model.graph.elements[element.index()];
            let first = PortId(info.ports.start);
            Vertex {
                shape: Shape::Element(integral),
                domain: content.domain(content.model.graph.ports[first.index()].domain),
                signals: content.modulation(element),
                role: match &info.law {
                    _ if content.is_switched(element) => Role::Sink,
                    Law::Source { given, .. } => Role::Source(*given),
                    Law::Coupler { .. } => Role::Coupler,
                    Law::Storage { .. } | Law::Dissipator(_) | Law::Nonlinear(_) => {
                        match letters.trim_start_matches('M') {
                            "I" | "C" | "R" | "IC" => Role::Sink,
                            _ => Role::Other,
                        }
                    }
                },
                home: content.components(info.path),
                declared: Some(content.model.paths[info.path.index()].span),
                element: Some(element),
                title: format!("{name}: {}{says}", info.kind),
                ..Vertex::new(name, element_text(&letters, &content.own_name(info.path)))
            }
        })
    }

    fn port_name(&self, port: PortId) -> String {
        let info = &self.content.model.graph.ports[port.index()];
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
        let own = port.filter(|port| *port < content.model.graph.ports.len());
        let own = own.map(|port| PortId(port as u32));
        let of_port = own.and_then(|port| content.domain(content.model.graph.ports[port.index()].domain));
        let domains = [tail, head].map(|vertex| self.graph.vertices[vertex].domain.clone());
        let [of_tail, of_head] = domains;
        Bond {
            tail,
            head,
            element: match own {
                Some(port) => Some(content.name(content.model.graph.ports[port.index()].element)),
                None => port.map(|_| self.graph.vertices[tail.max(head)].id.clone()),
            },
            name: match (own, port) {
                (Some(port), _) => self.port_name(port),
                (None, Some(port)) => content.report.ports[port].name.clone(),
                (None, None) => String::new(),
            },
            kind: own.map(|port| content.kind(content.model.graph.ports[port.index()].element)),
            domain: of_port.or(of_tail).or(of_head),
            width: 1,
            bonds: vec![index],
            turned: Vec::new(),
            ports: [bond.tail, bond.head].map(|end| match end {
                End::Port(port) if port < content.model.graph.ports.len() => Some(PortEnd {
                    port: PortId(port as u32),
                    effort_sign: content.graph.ports[port].effort_sign,
                    flow_sign: content.graph.ports[port].flow_sign,
                }),
                _ => None,
            }),
            conflict: content.conflict.bonds.contains(&index),
            contested: content.conflict.contested.contains(&index),
            stroke: match bond.effort_at {
                Some(end) if end == bond.tail => Stroke::Tail,
                Some(_) => Stroke::Head,
                None => Stroke::Open,
            },
        }
    }

    /// Draws a line from each measured vertex; all other modulating names remain texts.
    fn modulate(&mut self) {
        let content = self.content;
        let measured = content.measured_names();
        let ids: FxHashMap<String, usize> = (self.graph.vertices.iter().enumerate())
            .map(|(at, vertex)| (vertex.id.clone(), at))
            .collect();
        for element in 0..content.model.graph.elements.len() as u32 {
            let Some(at) = self.known.get(&Key::Element(ElementId(element))).copied() else {
                continue;
            };
            let vertex = &mut self.graph.vertices[at];
            let found = std::mem::take(&mut vertex.signals);
            for name in found {
                match ids.get(&name).filter(|other| **other != at && measured.contains(&name)) {
                    Some(other) => vertex.modulated_by.push(*other),
                    None => vertex.signals.push(name),
                }
            }
        }
    }

    /// Puts each added vertex into the component of its junction.
    fn settle_added(&mut self) {
        for bond in &self.graph.bonds {
            for (end, other) in [(bond.tail, bond.head), (bond.head, bond.tail)] {
                let vertex = &self.graph.vertices[end];
                if vertex.declared.is_none() && vertex.id.starts_with("velocity of ") {
                    self.graph.vertices[end].home = self.graph.vertices[other].home.clone();
                }
            }
        }
    }

    /// Joins the two bonds at each inserted junction into the original bond.
    fn join_direct(&mut self) {
        let direct = std::mem::take(&mut self.direct);
        self.graph.join(&direct);
    }
}

impl Graph {
    /// Removes junctions with one bond in and one out, whose bonds are joined.
    pub(super) fn join(&mut self, junctions: &[usize]) {
        let mut gone = vec![false; self.vertices.len()];
        for junction in junctions {
            let into = self.bonds.iter().position(|bond| bond.head == *junction);
            let out = self.bonds.iter().position(|bond| bond.tail == *junction);
            let (Some(into), Some(out)) = (into, out) else {
                continue;
            };
            if self.bonds[into].tail == self.bonds[out].head || into == out {
                continue;
            }
            let second = self.bonds[out].clone();
            let first = &mut self.bonds[into];
            first.head = second.head;
            first.ports[1] = second.ports[1];
            first.bonds.extend(second.bonds);
            first.turned.extend(second.turned);
            first.conflict |= second.conflict;
            first.contested |= second.contested;
            first.name = match (first.name.is_empty(), second.name.is_empty()) {
                (false, false) => format!("{} -> {}", first.name, second.name),
                (true, _) => second.name,
                (false, true) => std::mem::take(&mut first.name),
            };
            if first.element.is_none() {
                (first.element, first.kind) = (second.element, second.kind);
            }
            first.domain = first.domain.take().or(second.domain);
            self.bonds.remove(out);
            gone[*junction] = true;
        }
        let own: Vec<usize> = (0..gone.len()).collect();
        self.remove(&gone, &own);
    }

    /// Merges each junction into the one that represents it. The bonds between them disappear.
    pub(super) fn unite(&mut self, stands_for: &[usize]) {
        self.bonds.retain(|bond| stands_for[bond.tail] != stands_for[bond.head]);
        let gone: Vec<bool> = (0..stands_for.len())
            .map(|vertex| stands_for[vertex] != vertex)
            .collect();
        for vertex in (0..gone.len()).filter(|vertex| gone[*vertex]) {
            let title = std::mem::take(&mut self.vertices[vertex].title);
            let kept = &mut self.vertices[stands_for[vertex]];
            kept.title = format!("{}, {title}", kept.title);
        }
        self.remove(&gone, stands_for);
    }

    /// Removes vertices; their representatives replace them at bonds and signals.
    fn remove(&mut self, gone: &[bool], stands_for: &[usize]) {
        let mut count = 0;
        let own = gone.iter().map(|is_gone| {
            count += usize::from(!is_gone);
            count - usize::from(!is_gone)
        });
        let own: Vec<usize> = own.collect();
        let places: Vec<usize> = stands_for.iter().map(|vertex| own[*vertex]).collect();
        let mut kept = gone.iter();
        self.vertices.retain(|_| kept.next() == Some(&false));
        for vertex in &mut self.vertices {
            vertex.modulated_by.iter_mut().for_each(|at| *at = places[*at]);
        }
        for bond in &mut self.bonds {
            (bond.tail, bond.head) = (places[bond.tail], places[bond.head]);
        }
    }
}

/// Returns `1(spring[2])` as `1(spring)`.
fn without_entry(name: &str) -> String {
    match name.strip_suffix("])").and_then(|start| start.rsplit_once('[')) {
        Some((start, number)) if number.bytes().all(|byte| byte.is_ascii_digit()) => format!("{start})"),
        _ => name.to_string(),
    }
}

/// Formats `I:mass`; a name that already contains the letters, such as `SE` or `I1`, is not prefixed.
fn element_text(letters: &str, name: &str) -> String {
    let own = name.strip_prefix(letters);
    match own.is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit())) {
        true => name.to_string(),
        false => format!("{letters}:{name}"),
    }
}
