//! Fuses loops of one level over the same arrays, so that each number is loaded once.

use super::body::Builder;
use super::operation::Space;
use super::program::{Index, Instruction, Loop, Store};

/// The maximum size of a fused body: its results must fit the machine's registers.
const LARGEST_FUSED: usize = 40;

/// The maximum difference in length between fused loops, in lanes; the excess lanes are written out.
const MOST_PEELED: u32 = 4;

/// The number of previous loops searched for a loop to fuse with.
pub(crate) const REACH: usize = 8;

/// Fuses loops without an order dependence; excess lanes become straight-line code.
pub(crate) fn fuse(loops: &mut Vec<Loop>, straight: &mut Vec<Loop>, indices: &[u32]) {
    let mut fused: Vec<Loop> = Vec::with_capacity(loops.len());
    for entry in loops.drain(..) {
        let partner = fused.iter_mut().rev().take(REACH).find(|other| fits(other, &entry));
        let Some(other) = partner else {
            fused.push(entry);
            continue;
        };
        let count = other.count.min(entry.count);
        for long in [&*other, &entry] {
            straight.extend((count..long.count).map(|lane| slice(long, lane, indices)));
        }
        let mut builder = Builder::default();
        builder.append(other);
        builder.append(&entry);
        *other = builder.finish(count);
    }
    *loops = fused;
}

/// Returns true if two loops have about the same length and read from the same arrays.
fn fits(a: &Loop, b: &Loop) -> bool {
    let reads = |entry: &Loop, space: Space| {
        let varying = |instruction: &Instruction| matches!(instruction, Instruction::Load(from, index) if *from == space && !index.is_uniform());
        entry.body.iter().any(varying)
    };
    a.count.abs_diff(b.count) <= MOST_PEELED
        && a.count.min(b.count) > 2 * MOST_PEELED
        && a.body.len() + b.body.len() <= LARGEST_FUSED
        && [Space::States, Space::Temporaries, Space::Unknowns]
            .iter()
            .any(|space| reads(a, *space) && reads(b, *space))
}

/// Returns one lane as a separate loop.
fn slice(entry: &Loop, lane: u32, indices: &[u32]) -> Loop {
    let moved = |index: Index| Index::fixed(index.of_lane(lane, indices));
    let body = entry.body.iter().map(|instruction| match *instruction {
        Instruction::Load(space, index) => Instruction::Load(space, moved(index)),
        other => other,
    });
    let stores = entry.stores.iter().map(|store| Store {
        index: moved(store.index),
        ..*store
    });
    Loop {
        count: 1,
        body: body.collect(),
        stores: stores.collect(),
    }
}
