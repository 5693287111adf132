//! What can be written at a place, by what stands in front of it.
//!
//! The statement under the pointer is most often incomplete, so that the tree does not have it: the place is found from the tokens,
//! and names from the item around it, whose other statements are known.

use crate::hover::{function, of_definition};
use crate::symbols::{detail_of, kind_of};
use crate::{Completion, NameKind, Signature, Snapshot};
use lgm_algebra::units::named_units;
use lgm_elaborate::analysis::{DefinitionId, DefinitionKind};
use lgm_elaborate::{Program, function_names};
use lgm_source::Span;
use lgm_syntax::token::{self, Spanned, Token};

/// What is expected at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    /// The beginning of an item.
    Item,
    /// The beginning of a statement.
    Statement,
    /// A setting of an experiment.
    Setting,
    /// An output, in a list of an experiment.
    Output,
    /// What an instance is one of.
    Kind,
    /// A domain.
    Domain,
    /// A unit in brackets.
    Unit,
    /// A module after `import`.
    Module,
    /// A member of what was declared under this name.
    Member(DefinitionId),
    /// A member of something unknown.
    Nothing,
    /// A node or a port, where a branch begins or ends; in a chain of bonds an element too.
    Node { in_chain: bool },
    /// An expression; inside of the parentheses of an instance, its formals too.
    Expression(Option<DefinitionId>),
}

/// The text up to a place, without the word that is being written.
struct Before<'s, 't> {
    snapshot: &'s Snapshot,
    tokens: Vec<Spanned<'t>>,
    at: u32,
    /// What is being written: it is replaced.
    word: Span,
}

impl<'s, 't> Before<'s, 't> {
    fn new(snapshot: &'s Snapshot, text: &'t str, at: u32) -> Before<'s, 't> {
        let root = snapshot.root();
        let mut tokens = token::lex(root, text).tokens;
        tokens.retain(|(start, ..)| *start < at as usize);
        let mut word = Span {
            source: root,
            start: at,
            end: at,
        };
        let last = tokens
            .last()
            .map(|(start, token, end)| (*start, token.is_word() || matches!(token, Token::Name(_)), *end));
        if let Some((start, true, end)) = last
            && end >= at as usize
        {
            word = Span::new(root, start, end);
            tokens.pop();
        }
        Before {
            snapshot,
            tokens,
            at,
            word,
        }
    }

    fn last(&self) -> Option<Token<'t>> {
        self.tokens.last().map(|entry| entry.1)
    }

    /// The tokens of the statement up to the place.
    fn statement(&self) -> &[Spanned<'t>] {
        let ends = |token: &Token<'_>| matches!(token, Token::Semicolon | Token::BraceOpen | Token::BraceClose);
        let from = self
            .tokens
            .iter()
            .rposition(|entry| ends(&entry.1))
            .map_or(0, |place| place + 1);
        &self.tokens[from..]
    }

    /// Whether the place lies in no braces.
    fn is_outside(&self) -> bool {
        let depth = self.tokens.iter().fold(0i32, |depth, entry| match entry.1 {
            Token::BraceOpen => depth + 1,
            Token::BraceClose => depth - 1,
            _ => depth,
        });
        depth <= 0
    }

    /// The bracket or parenthesis that is open at the place, by its place among the tokens, and the commas since.
    fn open(&self) -> Option<(usize, usize)> {
        let from = self.tokens.len() - self.statement().len();
        let (mut depth, mut commas) = (0, 0);
        for place in (from..self.tokens.len()).rev() {
            match self.tokens[place].1 {
                Token::ParenClose | Token::BracketClose => depth += 1,
                Token::ParenOpen | Token::BracketOpen if depth == 0 => return Some((place, commas)),
                Token::ParenOpen | Token::BracketOpen => depth -= 1,
                Token::Comma if depth == 0 => commas += 1,
                _ => {}
            }
        }
        None
    }

    /// What a name stands for, seen from the item around the place.
    fn named(&self, name: &str) -> Option<DefinitionId> {
        let item = self.snapshot.analysis().item_at(self.snapshot.root(), self.at)?;
        self.snapshot.analysis().member(item, name)
    }

    /// What the path that ends before a token names: `cell[2]` of `cell[2].`.
    fn path_before(&self, place: usize) -> Option<DefinitionId> {
        let mut at = place.checked_sub(1)?;
        if self.tokens[at].1 == Token::BracketClose {
            let mut depth = 1;
            while depth > 0 {
                at = at.checked_sub(1)?;
                match self.tokens[at].1 {
                    Token::BracketClose => depth += 1,
                    Token::BracketOpen => depth -= 1,
                    _ => {}
                }
            }
            at = at.checked_sub(1)?;
        }
        let Token::Name(name) = self.tokens[at].1 else {
            return None;
        };
        match at.checked_sub(1).map(|before| self.tokens[before].1) {
            Some(Token::Dot) => self.snapshot.analysis().member(self.path_before(at - 1)?, name),
            _ => self.named(name),
        }
    }

    /// The definition of the element or component that an open parenthesis belongs to: `Spring` of `s : Spring(`.
    fn kind_before(&self, place: usize) -> Option<DefinitionId> {
        let Token::Name(name) = self.tokens[place.checked_sub(1)?].1 else {
            return None;
        };
        (self.tokens.get(place.checked_sub(2)?)?.1 == Token::Colon).then(|| self.definition(name))?
    }

    /// The name that the argument at the place is given by: `b` of `Damper(b = `.
    fn argument_name(&self, open: usize) -> Option<&'t str> {
        let from = self.tokens[open..]
            .iter()
            .rposition(|entry| matches!(entry.1, Token::Comma | Token::ParenOpen))?;
        match self.tokens.get(open + from + 1..)? {
            [(_, Token::Name(name), _), (_, Token::Equals, _), ..] => Some(name),
            _ => None,
        }
    }

    fn definition(&self, name: &str) -> Option<DefinitionId> {
        kinds(self.snapshot)
            .into_iter()
            .find(|id| *self.snapshot.analysis().get(*id).name == *name)
    }

    /// Whether a bracket holds a unit and no index.
    fn is_unit(&self, place: usize) -> bool {
        let before = place.checked_sub(1).map(|before| self.tokens[before].1);
        let declares = |token: Token<'_>| matches!(token, Token::Param | Token::Input | Token::Const);
        match before {
            Some(Token::Number(_) | Token::BracketClose) => true,
            // `param m [kg]`, and the formals of an item.
            Some(Token::Name(_)) => {
                place >= 2 && declares(self.tokens[place - 2].1) || self.is_outside() && self.begins_with_item()
            }
            _ => false,
        }
    }

    /// The indices of the loops around the place.
    fn loop_indices(&self) -> Vec<&'t str> {
        let mut open: Vec<Option<&'t str>> = Vec::new();
        let mut index = None;
        for (place, (_, token, _)) in self.tokens.iter().enumerate() {
            match (token, self.tokens.get(place + 1)) {
                (Token::For, Some((_, Token::Name(name), _))) => index = Some(*name),
                (Token::Semicolon, _) => index = None,
                (Token::BraceOpen, _) => open.push(index.take()),
                (Token::BraceClose, _) => drop(open.pop()),
                _ => {}
            }
        }
        open.into_iter().flatten().collect()
    }

    /// Whether the innermost braces around the place are those of an experiment.
    fn is_in_experiment(&self) -> bool {
        let mut depth = 0;
        for place in (1..self.tokens.len()).rev() {
            match self.tokens[place].1 {
                Token::BraceClose => depth += 1,
                Token::BraceOpen if depth == 0 => return self.tokens[place - 1].1 == Token::Experiment,
                Token::BraceOpen => depth -= 1,
                _ => {}
            }
        }
        false
    }

    fn begins_with_item(&self) -> bool {
        self.statement().first().is_some_and(|entry| entry.1.begins_item())
    }

    fn expected(&self) -> Expected {
        let statement = self.statement();
        let last = self.last();
        match last {
            Some(Token::Dot) => {
                return self
                    .path_before(self.tokens.len() - 1)
                    .map_or(Expected::Nothing, Expected::Member);
            }
            Some(Token::Import) => return Expected::Module,
            Some(Token::Number(_)) => return Expected::Nothing,
            _ => {}
        }
        if self.is_in_experiment() {
            return match (statement.is_empty(), self.open()) {
                (true, _) => Expected::Setting,
                (false, Some((place, _))) if self.tokens[place].1 == Token::BracketOpen && !self.is_unit(place) => {
                    Expected::Output
                }
                (false, Some((place, _))) if self.is_unit(place) => Expected::Unit,
                _ => Expected::Expression(None),
            };
        }
        if let Some((place, _)) = self.open() {
            return match self.tokens[place].1 {
                Token::BracketOpen if self.is_unit(place) => Expected::Unit,
                Token::ParenOpen => Expected::Expression(self.kind_before(place)),
                _ => Expected::Expression(None),
            };
        }
        if statement.is_empty() {
            return if self.is_outside() {
                Expected::Item
            } else {
                Expected::Statement
            };
        }
        let colon = statement.iter().rposition(|entry| entry.1 == Token::Colon);
        match (statement[0].1, colon) {
            (Token::Node | Token::Zero | Token::One | Token::Port, Some(_)) => Expected::Domain,
            (first, Some(_)) if first.begins_item() => Expected::Domain,
            (Token::Name(_), Some(place)) if place + 1 == statement.len() => Expected::Kind,
            (Token::Name(_), Some(_)) if last != Some(Token::Equals) => Expected::Node { in_chain: false },
            (Token::Name(_), None) if last == Some(Token::Arrow) => Expected::Node { in_chain: true },
            _ => Expected::Expression(None),
        }
    }
}

/// Everything that an instance can be one of, seen from the root text.
fn kinds(snapshot: &Snapshot) -> Vec<DefinitionId> {
    let analysis = snapshot.analysis();
    let ids = (0..analysis.definitions.len() as u32).map(DefinitionId);
    let is_kind = |id: &DefinitionId| {
        matches!(
            analysis.get(*id).kind,
            DefinitionKind::Element | DefinitionKind::Component | DefinitionKind::Modal
        )
    };
    ids.filter(is_kind).collect()
}

/// Whether something can be the end of a branch or a bond.
fn is_end(analysis: &lgm_elaborate::analysis::Analysis, id: DefinitionId, in_chain: bool) -> bool {
    match analysis.get(id).kind {
        DefinitionKind::Node | DefinitionKind::Junction | DefinitionKind::Port => true,
        // A component has nodes inside.
        DefinitionKind::Instance => {
            let of = analysis.get(id).of.map(|of| analysis.get(of).kind);
            in_chain || of == Some(DefinitionKind::Component)
        }
        _ => false,
    }
}

/// What an expression may hold: the arguments of what it is an argument of, indices, names, constants and functions.
fn expression(
    snapshot: &Snapshot,
    before: &Before<'_, '_>,
    of: Option<DefinitionId>,
    members: Vec<DefinitionId>,
    plain: &dyn Fn(&str, NameKind) -> Completion,
    known: &dyn Fn(DefinitionId) -> Completion,
) -> Vec<Completion> {
    let analysis = snapshot.analysis();
    let formals = of.map(|of| analysis.members(of)).unwrap_or_default().into_iter();
    let formals = formals
        .filter(|id| is_formal(analysis.get(*id).kind))
        .map(|id| Completion {
            label: format!("{} =", analysis.get(id).name),
            insert: format!("{} = ", analysis.get(id).name),
            ..known(id)
        });
    let functions = function_names().map(|name| Completion {
        documentation: function(name).map(str::to_string),
        insert: format!("{name}($1)"),
        ..plain(name, NameKind::Function)
    });
    let indices = before
        .loop_indices()
        .into_iter()
        .map(|name| plain(name, NameKind::Index));
    let constants = ["time", "pi"].map(|word| plain(word, NameKind::Keyword));
    formals
        .chain(indices)
        .chain(members.into_iter().map(known))
        .chain(constants)
        .chain(functions)
        .collect()
}

/// What can be written at a byte of the root text.
pub(crate) fn completions(snapshot: &Snapshot, at: u32) -> Vec<Completion> {
    let text = snapshot.map().get(snapshot.root()).text.clone();
    if is_in_comment(&text, at as usize) {
        return Vec::new();
    }
    let before = Before::new(snapshot, &text, at);
    let analysis = snapshot.analysis();
    let plain = |label: &str, kind: NameKind| Completion {
        label: label.to_string(),
        kind,
        detail: None,
        documentation: None,
        insert: label.to_string(),
        replace: before.word,
    };
    let known = |id: DefinitionId| Completion {
        detail: detail_of(snapshot, id),
        documentation: Some(of_definition(snapshot, id)),
        ..plain(&analysis.get(id).name, kind_of(analysis.get(id).kind))
    };
    let item = analysis.item_at(snapshot.root(), at);
    let members = || item.map(|item| analysis.members(item)).unwrap_or_default();
    match before.expected() {
        Expected::Nothing => Vec::new(),
        Expected::Item => ["import", "model", "component", "element", "modal", "domain"]
            .into_iter()
            .map(|word| Completion {
                insert: item_snippet(word),
                ..plain(word, NameKind::Keyword)
            })
            .collect(),
        Expected::Statement => STATEMENTS
            .iter()
            .map(|(word, insert)| Completion {
                insert: insert.to_string(),
                ..plain(word, NameKind::Keyword)
            })
            .chain(
                members()
                    .into_iter()
                    .filter(|id| analysis.get(*id).kind == DefinitionKind::Instance)
                    .map(known),
            )
            .collect(),
        Expected::Setting => SETTINGS
            .iter()
            .map(|(word, insert)| Completion {
                insert: insert.to_string(),
                ..plain(word, NameKind::Keyword)
            })
            .collect(),
        Expected::Output => {
            let outputs = members().into_iter();
            outputs
                .filter(|id| analysis.get(*id).kind == DefinitionKind::Output)
                .map(known)
                .collect()
        }
        Expected::Kind => kinds(snapshot)
            .into_iter()
            .map(|id| Completion {
                insert: kind_snippet(snapshot, id),
                ..known(id)
            })
            .collect(),
        Expected::Domain => {
            let ids = (0..analysis.definitions.len() as u32).map(DefinitionId);
            ids.filter(|id| analysis.get(*id).kind == DefinitionKind::Domain)
                .map(known)
                .collect()
        }
        Expected::Unit => {
            let named = named_units()
                .filter(|unit| unit.0 != "1")
                .map(|(name, dimension)| Completion {
                    detail: Some(dimension.text()).filter(|text| text != name),
                    ..plain(name, NameKind::Unit)
                });
            named
                .chain(USUAL_UNITS.iter().map(|name| plain(name, NameKind::Unit)))
                .collect()
        }
        Expected::Module => Program::modules().map(|name| plain(name, NameKind::Module)).collect(),
        Expected::Member(id) => {
            let mut list: Vec<Completion> = analysis.members(id).into_iter().map(known).collect();
            if analysis.get(id).kind == DefinitionKind::Port {
                list.extend(["across", "through", "effort", "flow"].map(|word| plain(word, NameKind::Function)));
            }
            list
        }
        Expected::Node { in_chain } => {
            let nodes = members()
                .into_iter()
                .filter(|id| is_end(analysis, *id, in_chain))
                .map(known);
            nodes.chain([plain("gnd", NameKind::Node)]).collect()
        }
        Expected::Expression(of) => expression(snapshot, &before, of, members(), &plain, &known),
    }
}

/// Units that engineers write and that have no name of their own.
pub(crate) const USUAL_UNITS: &[&str] = &[
    "kg", "mm", "ms", "mA", "mV", "kN", "kPa", "kohm", "mH", "uH", "uF", "nF", "pF", "m/s", "m/s^2", "rad/s", "N/m",
    "N.s/m", "N.m", "N.m/rad", "kg.m^2", "m^2", "m^3", "m^3/s", "Pa.s/m^3", "V.s", "A/s", "J/K", "K/W",
];

/// Settings of an experiment, with what they write.
pub(crate) const SETTINGS: &[(&str, &str)] = &[
    ("start", "start = ${1:0} [s];"),
    ("stop", "stop = ${1:1} [s];"),
    ("points", "points = ${1:501};"),
    ("step", "step = ${1:1e-3} [s];"),
    ("method", "method = ${1:auto};"),
    ("rtol", "rtol = ${1:1e-6};"),
    ("atol", "atol = ${1:1e-9};"),
    ("plot", "plot = [$1];"),
    ("events", "events = ${1:1};"),
];

/// Words that begin a statement, with what they write.
const STATEMENTS: &[(&str, &str)] = &[
    ("node", "node ${1:x} : ${2:translational};"),
    ("param", "param ${1:k} = ${2:1} [${3:N/m}];"),
    ("input", "input ${1:u} [${2:N}] = ${3:1};"),
    ("output", "output ${1:y} = ${2:across(x)};"),
    ("signal", "signal ${1:e} = ${2:0};"),
    ("state", "state ${1:z} = int(${2:x}), start = ${3:0};"),
    ("const", "const ${1:N} = ${2:4};"),
    ("port", "port ${1:p}, ${2:n} : ${3:electrical};"),
    ("zero", "zero ${1:J};"),
    ("one", "one ${1:J};"),
    ("for", "for ${1:i} in 1:${2:N} {\n  $0\n}"),
    ("if", "if ${1:condition} {\n  $0\n}"),
    ("experiment", "experiment { stop = ${1:1} [s]; points = ${2:501}; }"),
];

fn item_snippet(word: &str) -> String {
    match word {
        "import" => "import ${1:nonlinear};".to_string(),
        "domain" => {
            "domain ${1:name} { across ${2:v} [${3:V}]; through ${4:i} [${5:A}]; effort = across; }".to_string()
        }
        "element" => "element ${1:Name}(${2:k}) : ${3:translational} { $0 }".to_string(),
        "modal" => "modal ${1:Name}(${2:L}) : ${3:translational} {\n  $0\n}".to_string(),
        "component" => "component ${1:Name}(${2:k}) {\n  $0\n}".to_string(),
        _ => format!("{word} ${{1:Name}} {{\n  $0\n}}"),
    }
}

fn is_formal(kind: DefinitionKind) -> bool {
    matches!(kind, DefinitionKind::Formal | DefinitionKind::StructuralFormal)
}

/// The formals of an item, in order.
fn formals(snapshot: &Snapshot, id: DefinitionId) -> Vec<DefinitionId> {
    let analysis = snapshot.analysis();
    let mut list = analysis.members(id);
    list.retain(|member| is_formal(analysis.get(*member).kind));
    list.sort_by_key(|member| analysis.get(*member).name_span);
    list
}

/// `Spring(${1:k}) ${2:a} -> ${3:b}`
fn kind_snippet(snapshot: &Snapshot, id: DefinitionId) -> String {
    let analysis = snapshot.analysis();
    let names = formals(snapshot, id)
        .into_iter()
        .map(|formal| &analysis.get(formal).name);
    let names: Vec<String> = names.zip(1..).map(|(name, at)| format!("${{{at}:{name}}}")).collect();
    format!("{}({})$0", analysis.get(id).name, names.join(", "))
}

/// Whether a place lies behind `//` in its line.
fn is_in_comment(text: &str, at: usize) -> bool {
    let before = text.get(..at).unwrap_or("");
    let line = &before[before.rfind('\n').map_or(0, |line| line + 1)..];
    let outside: String = line.split('"').step_by(2).collect();
    outside.contains("//")
}

/// The formals of the element or component whose parentheses are open at a byte of the root text.
pub(crate) fn signature(snapshot: &Snapshot, at: u32) -> Option<Signature> {
    let text = snapshot.map().get(snapshot.root()).text.clone();
    let mut before = Before::new(snapshot, &text, at);
    // A word that is being written belongs to the argument.
    if before.word.start < before.word.end {
        before.word = Span {
            end: before.word.start,
            ..before.word
        };
    }
    let (mut place, mut commas) = before.open()?;
    // Out of the brackets of a unit or an index, and of the calls in an argument.
    while before.tokens[place].1 == Token::BracketOpen || before.kind_before(place).is_none() {
        before.tokens.truncate(place);
        (place, commas) = before.open()?;
    }
    let id = before.kind_before(place)?;
    let named = before.argument_name(place);
    let analysis = snapshot.analysis();
    let mut label = format!("{}(", analysis.get(id).name);
    let mut ranges = Vec::new();
    let mut by_name = None;
    for (index, formal) in formals(snapshot, id).into_iter().enumerate() {
        by_name = by_name.or((named == Some(&*analysis.get(formal).name)).then_some(index));
        if index > 0 {
            label.push_str(", ");
        }
        let from = label.len();
        label.push_str(snapshot.map().slice(analysis.get(formal).span));
        ranges.push(from..label.len());
    }
    label.push(')');
    let active = by_name.or(Some(commas)).filter(|active| *active < ranges.len());
    let documentation = analysis.get(id).doc.as_ref().map(|doc| doc.trim().to_string());
    Some(Signature {
        label,
        formals: ranges,
        active,
        documentation,
    })
}
