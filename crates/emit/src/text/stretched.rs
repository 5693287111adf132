//! The text of a system of many equal sections, extrapolated from texts of the same system with a few sections.

use super::pieces::written;
use super::tables::TextOptions;
use super::text_pieces;
use crate::repeating::{Growth, stretched};
use lgm_model::system::StateSystem;

/// Returns the text that [`text`](crate::text()) would print for `count` sections. `systems` are the systems with `first` sections,
/// one section more, and so on; `states` are those of the long system.
pub fn stretched_text(
    systems: &[&StateSystem],
    counts: (u64, u64),
    states: usize,
    options: &TextOptions,
) -> Option<String> {
    let matrices = options.matrices.of_sections(states, options.flat)?;
    let short = TextOptions { matrices, ..*options };
    let all = systems.iter().map(|system| text_pieces(system, &short).into_list());
    let growth = Growth::new(counts, options.most_entries)?;
    stretched(all.collect(), growth).map(written)
}
