//! Rejects deep nesting before a tree is built, so that building, traversing and dropping the tree cannot overflow a stack.

use super::token::{Spanned, Token};
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_source::{SourceId, Span};

/// The maximum nesting of brackets, prefix operators and member or index steps.
const LEVELS: u32 = 256;

/// The maximum depth of the tree: between two brackets there are up to eight kinds of operators.
const TREE_LEVELS: u32 = 1024;

/// One open bracket, and the part of it since the last separator.
#[derive(Default)]
struct Level {
    open: usize,
    /// True for `[` after an operand: an index, which nests its operand.
    is_index: bool,
    /// The number of prefix signs and accessors (`.a`, `[i]`) that are nested at this location.
    run: u32,
    /// The longest such run in this part.
    longest_run: u32,
    /// The kinds of operators in this part, one bit each.
    kinds: u32,
    /// The deepest bracket in this part.
    inner: u32,
    /// The deepest earlier part.
    deepest: u32,
}

impl Level {
    fn depth(&self) -> u32 {
        self.deepest
            .max(self.inner + self.longest_run + self.kinds.count_ones())
    }

    fn separate(&mut self) {
        self.deepest = self.depth();
        (self.run, self.longest_run, self.kinds, self.inner) = (0, 0, 0, 0);
    }

    fn step(&mut self) {
        self.run += 1;
        self.longest_run = self.longest_run.max(self.run);
    }
}

/// Returns an error for the first location that is nested too deeply, if any.
pub fn check(source: SourceId, tokens: &[Spanned<'_>]) -> Option<Diagnostic> {
    use Token::*;
    let mut levels = vec![Level::default()];
    // The number of brackets plus runs around the current location.
    let mut depth = 0;
    // True if the previous token could end an operand, so that `-` is binary and `[` is an index.
    let mut after_operand = false;
    for (index, (_, token, _)) in tokens.iter().enumerate() {
        let level = levels
            .last_mut()
            .expect("invariant: the outermost level is never closed");
        let run_before = level.run;
        let mut operand = false;
        match token {
            ParenOpen | BracketOpen | BraceOpen => {
                if *token == BraceOpen {
                    level.separate();
                }
                depth = depth + level.run - run_before;
                if depth + 1 > LEVELS {
                    return Some(refusal(source, tokens, index, &levels));
                }
                depth += 1;
                levels.push(Level {
                    open: index,
                    is_index: *token == BracketOpen && after_operand,
                    ..Level::default()
                });
                after_operand = false;
                continue;
            }
            ParenClose | BracketClose | BraceClose => {
                if levels.len() > 1 {
                    let closed = levels.pop().expect("invariant: more than one level");
                    depth -= 1 + closed.run;
                    let level = levels
                        .last_mut()
                        .expect("invariant: the outermost level is never closed");
                    level.inner = level.inner.max(closed.depth() + 1);
                    if closed.is_index {
                        level.step();
                        depth += 1;
                    }
                    if level.depth() > TREE_LEVELS || depth > LEVELS {
                        return Some(refusal(source, tokens, closed.open, &levels));
                    }
                    if *token == BraceClose {
                        depth -= level.run;
                        level.separate();
                    }
                }
                after_operand = *token != BraceClose;
                continue;
            }
            // A statement ends here, and also its unclosed brackets: it is faulty, and no tree is built from it.
            Semicolon => {
                while levels.len() > 1 && levels.last().is_some_and(|level| tokens[level.open].1 != BraceOpen) {
                    let left_open = levels.pop().expect("invariant: more than one level");
                    depth -= 1 + left_open.run;
                }
                let level = levels
                    .last_mut()
                    .expect("invariant: the outermost level is never closed");
                depth -= level.run;
                level.separate();
                after_operand = false;
                continue;
            }
            Minus | Not if !after_operand => level.step(),
            Dot => level.step(),
            Plus | Minus => bump(level, 0),
            Star | Slash => bump(level, 1),
            Less | LessEqual | Greater | GreaterEqual | EqualEqual | NotEqual => bump(level, 2),
            And => bump(level, 3),
            Or => bump(level, 4),
            If | Then | Else => bump(level, 5),
            Caret => level.kinds |= 1 << 6,
            Arrow => bump(level, 7),
            Comma | Equals | Assign | Colon => level.separate(),
            _ => operand = true,
        }
        depth = depth + level.run - run_before;
        if depth > LEVELS {
            return Some(refusal(source, tokens, index, &levels));
        }
        after_operand = operand;
    }
    None
}

/// Records a binary operator of one kind, which ends the nesting under prefix signs.
fn bump(level: &mut Level, kind: u32) {
    level.kinds |= 1 << kind;
    level.run = 0;
}

fn refusal(source: SourceId, tokens: &[Spanned<'_>], index: usize, levels: &[Level]) -> Diagnostic {
    let span = |at: usize| Span::new(source, tokens[at].0, tokens[at].2);
    let mut diagnostic = Diagnostic::error(Code::LGM0010, format!("this is nested more than {LEVELS} levels deep"))
        .label(span(index), "too deep from here on")
        .help("name a part of it, with `signal` or `param`, and use the name");
    if let Some(first) = levels.get(1)
        && first.open != index
    {
        diagnostic = diagnostic.label(span(first.open), "the nesting starts here");
    }
    diagnostic
}
