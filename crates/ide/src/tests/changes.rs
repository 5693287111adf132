//! The effect of offered changes.

use crate::{Action, Snapshot};
use lgm_source::cancellation::Cancellation;
use lgm_source::{NoFiles, Span};

pub(crate) fn snapshot(text: &str) -> Snapshot {
    Snapshot::new(&NoFiles, None, "model.lgm", text, Cancellation::default())
}

/// Returns the completions after some words.
pub(crate) fn offered(text: &str, words: &str) -> Vec<Action> {
    let found = snapshot(text);
    let at = text.find(words).expect("the words") + words.len();
    found.actions(Span::new(found.root(), at, at))
}

/// Returns the text with the first matching change that is offered after some words.
#[track_caller]
pub(crate) fn with_change(text: &str, words: &str, is_wanted: impl Fn(&Action) -> bool) -> String {
    let actions = offered(text, words);
    let titles: Vec<&str> = actions.iter().map(|action| action.title.as_str()).collect();
    let action = actions.iter().find(|action| is_wanted(action));
    let mut edits = action
        .unwrap_or_else(|| panic!("it is not among {titles:?}"))
        .edits
        .clone();
    edits.sort_by_key(|edit| std::cmp::Reverse(edit.span.start));
    let mut text = text.to_string();
    for edit in edits {
        text.replace_range(edit.span.start as usize..edit.span.end as usize, &edit.text);
    }
    text
}
