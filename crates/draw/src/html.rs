//! A drawing as a page of its own: the picture, to be moved, enlarged and searched. It needs no network.

use crate::drawing::Drawing;
use crate::svg::{escaped, svg};

/// The page. Who points at an element sees all that belongs to it, and what it is.
pub fn html(drawing: &Drawing) -> String {
    let named = |part: &str| part.replace("TITLE", &escaped(&drawing.model));
    // Taken apart first: what is put in may hold any word.
    match include_str!("page.html").split_once("PICTURE") {
        Some((before, behind)) => format!("{}{}{}", named(before), svg(drawing), named(behind)),
        None => svg(drawing),
    }
}
