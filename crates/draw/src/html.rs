//! A drawing as a page of its own: the picture, to be moved, enlarged and searched. It needs no network.

use crate::drawing::Drawing;
use crate::svg::{escaped, svg};

/// The page. Who points at an element sees all that belongs to it, and what it is.
pub fn html(drawing: &Drawing) -> String {
    // The picture goes in last, so that nothing in it is taken for a place to fill.
    let page = include_str!("page.html").replace("TITLE", &escaped(&drawing.model));
    match page.split_once("PICTURE") {
        Some((before, behind)) => format!("{before}{}{behind}", svg(drawing)),
        None => page,
    }
}
