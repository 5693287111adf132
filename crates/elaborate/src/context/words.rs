//! Parts of messages that several errors share.

use crate::context::NodeShape;
use lgm_model::JunctionKind;

/// Returns the shape of a node in readable form.
pub(crate) fn shape_words(shape: &NodeShape) -> String {
    let each = match shape.vector {
        true => format!("a vector node of width {}", shape.width),
        false => "a scalar node".to_string(),
    };
    match &shape.sizes[..] {
        [] => each,
        sizes => {
            let sizes: Vec<String> = sizes.iter().map(i64::to_string).collect();
            format!("an array of size [{}], each {each}", sizes.join(", "))
        }
    }
}

/// Returns the words for a kind of junction.
pub(crate) fn junction_words(kind: JunctionKind) -> &'static str {
    match kind {
        JunctionKind::Zero => "a 0-junction",
        JunctionKind::One => "a 1-junction",
    }
}

/// Returns a text, shortened if it is long.
pub(crate) fn short(words: &str) -> String {
    const LONGEST: usize = 48;
    let one_line = words.split_whitespace().collect::<Vec<_>>().join(" ");
    match one_line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}..", &one_line[..end]),
        None => one_line,
    }
}
