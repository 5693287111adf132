//! Items and lists of junctions.

use super::{Context, DomainEntry, JunctionPart, JunctionTail, LawEntry};
use crate::ast::*;
use lgm_source::Span;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;

/// Returns the error for a block in an element that is not a mode.
fn no_block(word: &Name) -> Diagnostic {
    Diagnostic::error(
        Code::LGM0042,
        format!("`{}` does not start a block in an element", word.text),
    )
    .label(word.span, "expected `mode`")
    .help("write `mode NAME { through = 0; }`")
}

/// Returns the error for invalid text after the `on` of junctions.
fn behind_on(place: Span, what: &str) -> Diagnostic {
    Diagnostic::error(Code::LGM0046, format!("{what} is not allowed after `on`"))
        .label(place, "expected `;`")
        .help("write the names, then the domain, then `on`: `one A, B : electrical, on = closed;`")
}

impl Context<'_> {
    /// Builds `domain d { .. }`.
    pub fn domain(&self, start: usize, name: Name, entries: Vec<DomainEntry>, end: usize) -> Item {
        let mut domain = Domain {
            doc: self.doc(start),
            name,
            across: None,
            through: None,
            effort: None,
            pseudo: None,
            unknown: Vec::new(),
            span: self.span(start, end),
        };
        for entry in entries {
            match entry {
                DomainEntry::Variable(word, variable, span) => {
                    let place = match &*word.text {
                        "across" => &mut domain.across,
                        "through" => &mut domain.through,
                        _ => {
                            domain.unknown.push(span);
                            continue;
                        }
                    };
                    self.once(&domain.name, &word, place.as_ref().map(|first| first.name.span));
                    place.get_or_insert(variable);
                }
                DomainEntry::Setting(word, value, span) => {
                    if &*word.text != "effort" {
                        domain.unknown.push(span);
                        continue;
                    }
                    self.once(&domain.name, &word, domain.effort.as_ref().map(|first| first.span));
                    if !matches!(&*value.text, "across" | "through") {
                        self.report(
                            Diagnostic::error(Code::LGM0040, format!("`{}` cannot be the effort", value.text))
                                .label(value.span, "expected `across` or `through`")
                                .help("write `effort = across;` or `effort = through;`"),
                        );
                        continue;
                    }
                    domain.effort.get_or_insert(value);
                }
                DomainEntry::Word(word, span) => match &*word.text {
                    "pseudo" => domain.pseudo = Some(word.span),
                    _ => domain.unknown.push(span),
                },
            }
        }
        Item::Domain(domain)
    }

    fn once(&self, owner: &Name, word: &Name, first: Option<Span>) {
        if let Some(first) = first {
            self.report(
                Diagnostic::error(
                    Code::LGM0041,
                    format!("`{}` is given twice in `{}`", word.text, owner.text),
                )
                .label(word.span, "given again here")
                .label(first, "first given here")
                .help("keep one of them"),
            );
        }
    }

    /// Builds `element E(..) : d { .. }`.
    pub fn element(
        &self,
        start: usize,
        head: (Name, Vec<Formal>, Option<Name>),
        entries: Vec<LawEntry>,
        end: usize,
    ) -> Item {
        let (name, formals, domain) = head;
        let mut ports = Vec::new();
        let mut tables = Vec::new();
        let mut equations = Vec::new();
        let mut modes: Vec<(Name, Vec<Equation>, Vec<ModeChange>, Span)> = Vec::new();
        for entry in entries {
            match entry {
                LawEntry::Ports(more, _) => ports.extend(more),
                LawEntry::Equation(equation) => equations.push(equation),
                LawEntry::Table(table) => tables.push(table),
                LawEntry::Mode(word, name, equations, span) => match &*word.text {
                    "mode" => modes.push((name, equations, Vec::new(), span)),
                    _ => self.report(no_block(&word)),
                },
                LawEntry::Change(change) => match modes.last_mut() {
                    Some((_, _, changes, span)) => {
                        *span = span.to(change.span);
                        changes.push(change);
                    }
                    None => self.report(
                        Diagnostic::error(Code::LGM0042, "a mode change needs a preceding mode")
                            .label(change.span, "expected a mode before this")
                            .help("write it after the mode that it leaves: `mode open { through = 0; } when closed -> shut;`"),
                    ),
                },
                LawEntry::Words(_, _, span) => self.report(
                    Diagnostic::error(
                        Code::LGM0042,
                        format!("`{}` is not allowed in an element", self.words(span)),
                    )
                    .label(span, "expected `port`, an equation or a mode")
                    .help("an element contains `port a, b;`, equations such as `through = R*across;` and modes such \
                        as `mode open { through = 0; }`"),
                ),
            }
        }
        let mut element = Element {
            doc: self.doc(start),
            name,
            formals,
            domain,
            ports,
            tables,
            equations,
            modes: Vec::new(),
            span: self.span(start, end),
        };
        let modes = modes.into_iter().map(|(name, equations, changes, span)| ElementMode {
            name,
            law: Box::new(Element {
                equations,
                ..element.clone()
            }),
            changes,
            span,
        });
        element.modes = modes.collect();
        Item::Element(element)
    }

    /// Builds `a, b[3] : electrical, floating, on = closed`.
    pub fn junctions(&self, parts: Vec<JunctionPart>, domain: Option<Name>, tail: Vec<JunctionTail>) -> JunctionDecl {
        let (mut names, mut flags, mut attributes) = (Vec::new(), Vec::new(), Vec::new());
        for part in parts {
            match part {
                JunctionPart::Name(declared) => {
                    if !attributes.is_empty() {
                        self.report(behind_on(declared.span, "another name of a junction"));
                    }
                    names.push(declared);
                }
                JunctionPart::Attribute(attribute) if names.is_empty() || &*attribute.name.text != "on" => {
                    names.push(self.declared_with_equals(attribute));
                }
                JunctionPart::Attribute(attribute) => attributes.push(attribute),
            }
        }
        if let Some(domain) = domain.as_ref().filter(|_| !attributes.is_empty()) {
            self.report(behind_on(domain.span, "the domain"));
        }
        for part in tail {
            match part {
                JunctionTail::Flag(name) => flags.push(name),
                JunctionTail::Attribute(attribute) => attributes.push(attribute),
            }
        }
        JunctionDecl {
            names,
            domain,
            flags,
            attributes,
        }
    }

    /// Builds the intended name of `node x = translational`.
    fn declared_with_equals(&self, attribute: Attribute) -> Declared {
        let name = attribute.name;
        let (end, value) = (name.span.end as usize, attribute.value.span.start as usize);
        let sign = end + self.words(self.span(end, value)).find('=').unwrap_or(0);
        let place = self.span(sign, sign + 1);
        self.report(
            Diagnostic::error(Code::LGM0036, format!("expected `:` after `{}`, found `=`", name.text))
                .label(place, "`=` assigns a value, `:` a kind or a domain")
                .help(format!("write `{} : ..`", name.text))
                .fix("write `:`", place, ":"),
        );
        Declared {
            span: name.span,
            name,
            brackets: Vec::new(),
            vector: None,
        }
    }

    /// Builds `modal B(..) : d { .. }`.
    pub fn modal(
        &self,
        start: usize,
        head: (Name, Vec<Formal>, Option<Name>),
        entries: Vec<LawEntry>,
        end: usize,
    ) -> Item {
        let (name, formals, domain) = head;
        let (mut mode, mut drive) = (None, None);
        let mut equations = Vec::new();
        for entry in entries {
            let refused = match entry {
                LawEntry::Equation(equation) => {
                    equations.push(equation);
                    continue;
                }
                LawEntry::Words(word, value, span) => {
                    let place = match &*word.text {
                        "mode" => Some(&mut mode),
                        "drive" => Some(&mut drive),
                        _ => None,
                    };
                    match place {
                        None => span,
                        Some(place) => {
                            self.once(&name, &word, place.as_ref().map(|first: &Name| first.span));
                            place.get_or_insert(value);
                            continue;
                        }
                    }
                }
                LawEntry::Ports(_, span) | LawEntry::Mode(_, _, _, span) => span,
                LawEntry::Change(change) => change.span,
                LawEntry::Table(table) => table.name.span.to(table.value.span),
            };
            self.report(
                Diagnostic::error(
                    Code::LGM0042,
                    format!("`{}` is not allowed in a modal block", self.words(refused)),
                )
                .label(refused, "expected `mode`, `drive` or an assignment")
                .help(
                    "a modal block contains `mode i;`, `drive across;` and assignments such as `mass = ..;`; \
                        `at` defines its ports",
                ),
            );
        }
        Item::Modal(Modal {
            doc: self.doc(start),
            name,
            formals,
            domain,
            mode,
            drive,
            equations,
            span: self.span(start, end),
        })
    }
}
