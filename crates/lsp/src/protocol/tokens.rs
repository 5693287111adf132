//! Kinds of names as numbers of the protocol: semantic tokens, and kinds of completions and symbols.

use crate::protocol::convert::Places;
use gen_lsp_types::{CompletionItemKind, SemanticToken, SemanticTokensLegend, SymbolKind};
use lgm_ide::NameKind;

/// The types of tokens, in the order of the numbers of [`token_type`].
const TYPES: [&str; 10] = [
    "class",
    "namespace",
    "parameter",
    "variable",
    "property",
    "function",
    "keyword",
    "type",
    "struct",
    "enumMember",
];

/// Returns the meanings of the numbers of tokens.
pub(crate) fn legend() -> SemanticTokensLegend {
    SemanticTokensLegend {
        token_types: TYPES.iter().map(ToString::to_string).collect(),
        token_modifiers: vec!["declaration".to_string()],
    }
}

fn token_type(kind: NameKind) -> u32 {
    let name = match kind {
        NameKind::Model | NameKind::Component | NameKind::Element => "class",
        NameKind::Domain => "struct",
        NameKind::Module => "namespace",
        NameKind::Parameter => "parameter",
        NameKind::Input | NameKind::Output | NameKind::Signal | NameKind::State | NameKind::Index => "variable",
        NameKind::Node | NameKind::Port | NameKind::Instance => "property",
        NameKind::Function => "function",
        NameKind::Keyword => "keyword",
        NameKind::Unit => "type",
        NameKind::Mode => "enumMember",
    };
    TYPES.iter().position(|entry| *entry == name).unwrap_or_default() as u32
}

/// Returns the names in the root text, with each position relative to the previous name.
pub(crate) fn tokens(places: &Places) -> Vec<SemanticToken> {
    let (mut line, mut start) = (0, 0);
    let mut tokens = Vec::new();
    for colored in places.snapshot.colors() {
        let range = places.range(colored.span);
        let is_ahead = (range.start.line, range.start.character) >= (line, start);
        // The protocol cannot express a token that goes back or crosses the end of a line.
        if !is_ahead || range.end.line != range.start.line {
            continue;
        }
        let same_line = range.start.line == line;
        tokens.push(SemanticToken {
            delta_line: range.start.line - line,
            delta_start: range.start.character - if same_line { start } else { 0 },
            length: range.end.character - range.start.character,
            token_type: token_type(colored.kind),
            token_modifiers_bitset: u32::from(colored.declares),
        });
        (line, start) = (range.start.line, range.start.character);
    }
    tokens
}

pub(crate) fn completion_kind(kind: NameKind) -> CompletionItemKind {
    match kind {
        NameKind::Model | NameKind::Component | NameKind::Element => CompletionItemKind::Class,
        NameKind::Domain => CompletionItemKind::Struct,
        NameKind::Module => CompletionItemKind::Module,
        NameKind::Parameter => CompletionItemKind::Constant,
        NameKind::Input | NameKind::Output | NameKind::Signal | NameKind::State | NameKind::Index => {
            CompletionItemKind::Variable
        }
        NameKind::Node | NameKind::Port => CompletionItemKind::Field,
        NameKind::Instance => CompletionItemKind::Property,
        NameKind::Function => CompletionItemKind::Function,
        NameKind::Keyword => CompletionItemKind::Keyword,
        NameKind::Unit => CompletionItemKind::Unit,
        NameKind::Mode => CompletionItemKind::EnumMember,
    }
}

pub(crate) fn symbol_kind(kind: NameKind) -> SymbolKind {
    match kind {
        NameKind::Model | NameKind::Component | NameKind::Element => SymbolKind::Class,
        NameKind::Domain => SymbolKind::Struct,
        NameKind::Module => SymbolKind::Module,
        NameKind::Parameter => SymbolKind::Constant,
        NameKind::Input | NameKind::Output | NameKind::Signal | NameKind::State | NameKind::Index => {
            SymbolKind::Variable
        }
        NameKind::Node | NameKind::Port => SymbolKind::Field,
        NameKind::Instance => SymbolKind::Object,
        NameKind::Function => SymbolKind::Function,
        NameKind::Keyword => SymbolKind::Key,
        NameKind::Unit => SymbolKind::Number,
        NameKind::Mode => SymbolKind::EnumMember,
    }
}
