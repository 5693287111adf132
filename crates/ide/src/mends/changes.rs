//! Changes implied by a code.

use super::places::{Change, Places};
use crate::{Edit, Snapshot};
use lgm_source::Span;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_source::words::has_word;
use lgm_syntax::ast::Item;

/// Returns the changes for an error, the most likely first, given its locations in the root text, the primary location first.
pub(super) fn changes(snapshot: &Snapshot, places: &Places, diagnostic: &Diagnostic, own: &[Span]) -> Vec<Change> {
    let Some(place) = own.first().copied() else {
        return Vec::new();
    };
    let at = At { places, place };
    let found = match diagnostic.code {
        Code::LGM0001 => at.behind_line(" */"),
        Code::LGM0035 | Code::LGM0042 | Code::LGM0152 => at.without(place),
        Code::LGM0036 => at.instead(":"),
        Code::LGM0041 | Code::LGM0308 => at.without(places.statement(place)),
        Code::LGM0045 => return at.in_parentheses(),
        Code::LGM0046 => at.before("gnd"),
        Code::LGM0047 => return at.another_statement(),
        Code::LGM0048 => at.before("1"),
        Code::LGM0049 => at.behind(" {"),
        Code::LGM0107 | Code::LGM0147 => at.instead(&fresh(places, places.words(place))),
        Code::LGM0115 | Code::LGM0206 => at.behind("[1]"),
        Code::LGM0124 => return vec![at.wrapped("flow"), at.wrapped("effort")],
        Code::LGM0132 | Code::LGM0133 | Code::LGM0136 | Code::LGM0153 | Code::LGM0409 | Code::LGM0304 => {
            return at.left_out(own);
        }
        Code::LGM0137 => return of_bonds(snapshot, places),
        Code::LGM0139 => return at.called(&["effort", "flow"]),
        Code::LGM0143 => return at.called(&["through"]),
        Code::LGM0155 => return at.without_brackets(),
        Code::LGM0163 => return at.unwrapped(),
        Code::LGM0164 => at.behind(" > 0.5"),
        Code::LGM0203 => return at.divided(diagnostic),
        Code::LGM0207 => return at.padded(),
        Code::LGM0302 => return at.bound(diagnostic),
        Code::LGM0307 | Code::LGM0317 => return at.to_the_reference(),
        Code::LGM0314 => return at.of_a_domain(snapshot),
        Code::LGM0315 => return at.turned(),
        Code::LGM0401 => at.wrapped("floor"),
        Code::LGM0402 => return at.declared(own.get(1), "const"),
        Code::LGM0405 => at.behind(" = 1"),
        Code::LGM0406 | Code::LGM0407 => return at.declared(own.first(), "signal"),
        Code::LGM0408 => return [at.declared(own.first(), "signal"), vec![at.wrapped("int")]].concat(),
        Code::LGM0423 | Code::LGM0427 => return at.positive(own),
        Code::LGM0425 => return at.left_out(own),
        Code::LGM0426 | Code::LGM0428 | Code::LGM0429 => at.without(places.statement(place)),
        Code::LGM0444 => return at.last_of(diagnostic),
        Code::LGM0451 => return at.started(diagnostic),
        _ => return Vec::new(),
    };
    vec![found]
}

/// Returns a name that is unused in the text.
fn fresh(places: &Places, name: &str) -> String {
    let mut numbered = (2..).map(|number| format!("{name}_{number}"));
    numbered.find(|name| !has_word(places.text, name)).unwrap_or_default()
}

/// Replaces branch variables by bond variables in all errors of this kind at once.
fn of_bonds(snapshot: &Snapshot, places: &Places) -> Vec<Change> {
    let all = snapshot
        .diagnostics()
        .iter()
        .filter(|fault| fault.code == Code::LGM0137);
    let spans = all.filter_map(|fault| fault.labels.first().map(|label| label.span));
    let own = spans.filter(|span| span.source == places.source);
    let edits = own.map(|span| Edit {
        span,
        text: if places.words(span) == "across" {
            "effort"
        } else {
            "flow"
        }
        .to_string(),
    });
    vec![("write `effort` and `flow`".to_string(), edits.collect())]
}

/// The location of an error.
struct At<'p, 't> {
    places: &'p Places<'t>,
    place: Span,
}

impl At<'_, '_> {
    fn words(&self) -> &str {
        self.places.words(self.place)
    }

    fn instead(&self, text: &str) -> Change {
        let span = self.place;
        let text = text.to_string();
        (format!("write `{}`", text.trim()), vec![Edit { span, text }])
    }

    fn inserted(&self, at: usize, text: &str) -> Change {
        let edit = Edit {
            span: self.places.span(at, at),
            text: text.to_string(),
        };
        (format!("write `{}`", text.trim()), vec![edit])
    }

    fn before(&self, text: &str) -> Change {
        self.inserted(self.place.start as usize, text)
    }

    fn behind(&self, text: &str) -> Change {
        self.inserted(self.place.end as usize, text)
    }

    fn behind_line(&self, text: &str) -> Change {
        let rest = &self.places.text[self.place.start as usize..];
        let end = rest.find('\n').unwrap_or(rest.len());
        self.inserted(self.place.start as usize + rest[..end].trim_end().len(), text)
    }

    fn without(&self, part: Span) -> Change {
        let words = self.places.words(part).trim().trim_start_matches(',').trim();
        let edit = Edit {
            span: self.places.with_line(part),
            text: String::new(),
        };
        (format!("remove `{words}`"), vec![edit])
    }

    /// Returns the removal of one location from its list; a single branch is removed with the space before it.
    fn left_out(&self, own: &[Span]) -> Vec<Change> {
        let parts = own.iter().flat_map(|place| {
            let front = self.places.text[..place.start as usize].trim_end();
            let alone = self.places.span(front.len(), place.end as usize);
            [self.places.listed(*place), Some(alone)]
        });
        parts.flatten().map(|part| self.without(part)).collect()
    }

    fn wrapped(&self, function: &str) -> Change {
        self.instead(&format!("{function}({})", self.words()))
    }

    fn unwrapped(&self) -> Vec<Change> {
        let inner = self.words().split_once('(').and_then(|entry| entry.1.strip_suffix(')'));
        inner.map(|inner| self.instead(inner)).into_iter().collect()
    }

    /// Returns changes to another function in the call around the location.
    fn called(&self, functions: &[&str]) -> Vec<Change> {
        let name = self.places.call(self.place).and_then(|call| self.places.name_of(call));
        let call = |place| At { place, ..*self };
        let all = name
            .into_iter()
            .flat_map(|name| functions.iter().map(move |function| (name, function)));
        all.map(|(name, function)| call(name).instead(function)).collect()
    }

    /// Encloses the text from the location to the end of the statement in parentheses.
    fn in_parentheses(&self) -> Vec<Change> {
        let statement = self.places.statement(self.place);
        let end = statement.start as usize + self.places.words(statement).trim_end_matches(';').len();
        let edits = [(self.place.start as usize, "("), (end, ")")].map(|(at, text)| Edit {
            span: self.places.span(at, at),
            text: text.to_string(),
        });
        vec![("write it in parentheses".to_string(), edits.to_vec())]
    }

    fn another_statement(&self) -> Vec<Change> {
        let word = self.places.keyword(self.places.statement(self.place));
        vec![self.instead(&format!("; {}", self.places.words(word)))]
    }

    /// Removes the brackets around the location, with their contents.
    fn without_brackets(&self) -> Vec<Change> {
        let group = self.places.group(self.place, '[', ']');
        let trimmed = group.map(|group| {
            let front = self.places.text[..group.start as usize].trim_end();
            self.places.span(front.len(), group.end as usize)
        });
        trimmed.map(|part| self.without(part)).into_iter().collect()
    }

    /// Divides the value by 1 in its unit, which the help names.
    fn divided(&self, diagnostic: &Diagnostic) -> Vec<Change> {
        let unit = diagnostic
            .help
            .as_ref()
            .and_then(|help| Some(&help[help.find('[')?..=help.rfind(']')?]));
        let written = unit.map(|unit| self.instead(&format!("{}/1 {unit}", self.words())));
        written.into_iter().collect()
    }

    /// Adds a zero to a row of a matrix.
    fn padded(&self) -> Vec<Change> {
        let row = self.words().strip_suffix(']');
        row.map(|row| self.instead(&format!("{row}, 0]"))).into_iter().collect()
    }

    /// Binds the port that the help names to the reference.
    fn bound(&self, diagnostic: &Diagnostic) -> Vec<Change> {
        let help = diagnostic.help.as_deref().unwrap_or_default();
        let port = help.split_once("`(").and_then(|entry| entry.1.split_once(" = "));
        let Some((port, _)) = port else { return Vec::new() };
        let statement = self.places.statement(self.place);
        let closing = self.places.words(statement).rfind(')');
        let bound = closing.map(|at| self.inserted(statement.start as usize + at, &format!(", {port} = gnd")));
        bound.into_iter().collect()
    }

    /// Ends a branch at the reference.
    fn to_the_reference(&self) -> Vec<Change> {
        let ends = self.words().split_once("->");
        let first = ends.map(|(from, _)| self.instead(&format!("{} -> gnd", from.trim())));
        let other = ends.map(|(_, to)| self.instead(&format!("{} -> gnd", to.trim())));
        first.into_iter().chain(other).collect()
    }

    /// Reverses a bond.
    fn turned(&self) -> Vec<Change> {
        let ends = self.words().trim_end_matches(';').split_once("->");
        let turned = ends.map(|(from, to)| self.instead(&format!("{} -> {}", to.trim(), from.trim())));
        turned.into_iter().collect()
    }

    /// Adds each possible domain to a node that has none.
    fn of_a_domain(&self, snapshot: &Snapshot) -> Vec<Change> {
        let program = snapshot.compilation().program();
        let all = snapshot.map().iter().filter_map(|entry| program.ast(entry.0));
        let domains = all.flat_map(|ast| &ast.items).filter_map(|item| match item {
            Item::Domain(domain) => Some(self.behind(&format!(" : {}", domain.name.text))),
            _ => None,
        });
        domains.collect()
    }

    /// Replaces the keyword of a declaration.
    fn declared(&self, place: Option<&Span>, word: &str) -> Vec<Change> {
        let keyword = place.map(|place| self.places.keyword(self.places.statement(*place)));
        let at = |place| At { place, ..*self };
        keyword.map(|keyword| at(keyword).instead(word)).into_iter().collect()
    }

    /// Removes the sign of negative numbers.
    fn positive(&self, own: &[Span]) -> Vec<Change> {
        let at = |place: &Span| At { place: *place, ..*self };
        let numbers = own
            .iter()
            .map(at)
            .filter_map(|at| Some(at.instead(at.words().strip_prefix('-')?)));
        numbers.collect()
    }

    /// Inserts the last number of the help.
    fn last_of(&self, diagnostic: &Diagnostic) -> Vec<Change> {
        let help = diagnostic.help.as_deref().unwrap_or_default();
        let number = help.rsplit(' ').next().filter(|word| word.parse::<f64>().is_ok());
        number.map(|number| self.instead(number)).into_iter().collect()
    }

    /// Sets the initial value that the help names.
    fn started(&self, diagnostic: &Diagnostic) -> Vec<Change> {
        let help = diagnostic.help.as_deref().unwrap_or_default();
        let Some((_, start)) = help.split_once(", start = ") else {
            return Vec::new();
        };
        let start = start.split([';', '`']).next().unwrap_or_default();
        let statement = self.places.statement(self.place);
        let end = statement.start as usize + self.places.words(statement).trim_end_matches(';').len();
        vec![self.inserted(end, &format!(", start = {start}"))]
    }
}
