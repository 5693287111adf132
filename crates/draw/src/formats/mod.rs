//! The output formats of drawings.

mod dot;
mod html;
mod json;
mod play;
mod svg;

pub use dot::dot;
pub use html::{html, html_in};
pub use json::json;
pub use play::{play, steps};
pub use svg::{Theme, svg, svg_in};
