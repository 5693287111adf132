//! Fuses loops of one level over the same arrays, so that each number is loaded once.

use super::body::Builder;
use super::operation::Space;
use super::program::{Index, Instruction, Loop, Store, Target};

/// The maximum size of a fused body: its results must fit the machine's registers.
const LARGEST_FUSED: usize = 40;

/// The maximum difference in length between fused loops, in lanes; the excess lanes are written out.
const MOST_PEELED: u32 = 4;

/// The number of previous loops searched for a loop to fuse with.
pub(crate) const REACH: usize = 8;

/// Fuses loops without an order dependence, so that the results of a lane are adjacent; excess lanes become straight-line code.
pub(crate) fn fuse(loops: &mut Vec<Loop>, straight: &mut Vec<Loop>, indices: &[u32]) {
    let mut fused: Vec<Loop> = Vec::with_capacity(loops.len());
    for entry in loops.drain(..) {
        let partner = fused.iter_mut().rev().take(REACH).find(|other| fits(other, &entry));
        let Some(other) = partner else {
            fused.push(entry);
            continue;
        };
        let skipped = skipped(other, &entry);
        for (whole, skipped) in [&*other, &entry].into_iter().zip(skipped) {
            straight.extend((0..skipped).map(|lane| slice(whole, lane, indices)));
        }
        let [first, second] = [ahead(other, skipped[0]), ahead(&entry, skipped[1])];
        let count = first.count.min(second.count);
        for long in [&first, &second] {
            straight.extend((count..long.count).map(|lane| slice(long, lane, indices)));
        }
        let mut builder = Builder::default();
        builder.append(&first);
        builder.append(&second);
        *other = builder.finish(count);
    }
    *loops = fused;
}

/// Returns the number of first lanes of each loop to be written out, so that a fused lane stores interleaved results next to each other:
/// compilers then store them together. No lanes are written out if the loops would share fewer loads.
fn skipped(a: &Loop, b: &Loop) -> [u32; 2] {
    let first = |entry: &Loop| {
        let stored = |store: &Store| match (store.target, store.index) {
            (Target::Output, Index::Affine { first, stride }) if stride > 1 => {
                Some((i64::from(first), i64::from(stride)))
            }
            _ => None,
        };
        entry.stores.iter().find_map(stored)
    };
    let (Some((a_first, stride)), Some((b_first, other_stride))) = (first(a), first(b)) else {
        return [0, 0];
    };
    let distance = (a_first - b_first) / stride;
    let lanes = distance.unsigned_abs() as u32;
    if stride != other_stride || lanes > MOST_PEELED {
        return [0, 0];
    }
    let skipped = if distance > 0 { [0, lanes] } else { [lanes, 0] };
    let loads = |entry: &Loop, lanes: u32| {
        let body = ahead(entry, lanes).body.into_iter();
        let loads =
            body.filter(|instruction| matches!(instruction, Instruction::Load(_, index) if !index.is_uniform()));
        loads.collect::<Vec<_>>()
    };
    let shared = |skipped: [u32; 2]| {
        let others = loads(b, skipped[1]);
        loads(a, skipped[0]).iter().filter(|load| others.contains(load)).count()
    };
    if shared(skipped) < shared([0, 0]) {
        [0, 0]
    } else {
        skipped
    }
}

/// Returns a loop without its first lanes.
fn ahead(entry: &Loop, lanes: u32) -> Loop {
    let body = entry.body.iter().map(|instruction| match *instruction {
        Instruction::Load(space, index) => Instruction::Load(space, index.ahead(lanes)),
        other => other,
    });
    let stores = entry.stores.iter().map(|store| Store {
        index: store.index.ahead(lanes),
        ..*store
    });
    Loop {
        count: entry.count - lanes,
        body: body.collect(),
        stores: stores.collect(),
    }
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

#[cfg(test)]
mod tests {
    use super::super::program::Register;
    use super::*;

    fn copies(from: u32, to: u32, count: u32) -> Loop {
        let affine = |first: u32| Index::Affine { first, stride: 2 };
        Loop {
            count,
            body: vec![Instruction::Load(Space::States, affine(from))],
            stores: vec![Store {
                value: Register(0),
                target: Target::Output,
                index: affine(to),
            }],
        }
    }

    #[test]
    fn interleaved_results_are_stored_next_to_each_other() {
        // Results 3, 5, .. are copies of states 2, 4, ..; results 0, 2, .. are copies of states 3, 5, ...
        let (mut loops, mut straight) = (vec![copies(2, 3, 20), copies(3, 0, 20)], Vec::new());
        fuse(&mut loops, &mut straight, &[]);
        assert_eq!(loops.len(), 1);
        let indices: Vec<u32> = loops[0]
            .stores
            .iter()
            .map(|store| store.index.of_lane(0, &[]))
            .collect();
        assert_eq!(indices, [3, 2]);
        // Each result is still the copy of the same state, and is stored once.
        let mut found = Vec::new();
        for entry in loops.iter().chain(&straight) {
            for (store, lane) in entry
                .stores
                .iter()
                .flat_map(|store| (0..entry.count).map(move |lane| (store, lane)))
            {
                let Instruction::Load(_, from) = entry.body[store.value.0 as usize] else {
                    panic!("a copy is a load")
                };
                found.push((store.index.of_lane(lane, &[]), from.of_lane(lane, &[])));
            }
        }
        found.sort_unstable();
        let odd = (0..20).map(|lane| (2 * lane + 3, 2 * lane + 2));
        let mut expected: Vec<(u32, u32)> = (0..20).map(|lane| (2 * lane, 2 * lane + 3)).chain(odd).collect();
        expected.sort_unstable();
        assert_eq!(found, expected);
    }
}
