//! The states on paths between inputs and outputs.

use lgm_model::system::LinearForm;

/// Returns all states reachable from `from` along the arrows.
pub(crate) fn reach(from: impl Iterator<Item = usize>, arrows: &[Vec<u32>]) -> Vec<bool> {
    let mut reached = vec![false; arrows.len()];
    let mut open: Vec<usize> = from.collect();
    while let Some(state) = open.pop() {
        if !std::mem::replace(&mut reached[state], true) {
            open.extend(arrows[state].iter().map(|next| *next as usize));
        }
    }
    reached
}

/// The nonzero entries of a linear form.
pub(crate) struct Structure {
    /// For each state, the states whose rates depend on it.
    influences: Vec<Vec<u32>>,
    /// For each state, the states that its rate depends on.
    influenced_by: Vec<Vec<u32>>,
}

impl Structure {
    /// The structure of A.
    pub(crate) fn of<T>(form: &LinearForm<T>, is_zero: &impl Fn(&T) -> bool) -> Structure {
        let count = form.a.rows.len();
        let (mut influences, mut influenced_by) = (vec![Vec::new(); count], vec![Vec::new(); count]);
        for (row, entries) in form.a.rows.iter().enumerate() {
            for (column, _) in entries.iter().filter(|entry| !is_zero(&entry.1)) {
                influenced_by[row].push(*column);
                influences[*column as usize].push(row as u32);
            }
        }
        Structure {
            influences,
            influenced_by,
        }
    }

    /// Returns the states, ascending, that are reachable from `excited` and from which `seen` is reachable.
    pub(crate) fn between(&self, excited: impl Iterator<Item = usize>, seen: impl Iterator<Item = usize>) -> Vec<u32> {
        let reached = reach(excited, &self.influences);
        let observed = reach(seen, &self.influenced_by);
        let all = 0..reached.len() as u32;
        all.filter(|state| reached[*state as usize] && observed[*state as usize])
            .collect()
    }
}

/// Returns the states, ascending, on paths from the inputs to the outputs; the others appear in no transfer function.
pub(crate) fn states_between<T: Clone>(
    form: &LinearForm<T>,
    inputs: &[usize],
    outputs: &[usize],
    is_zero: &impl Fn(&T) -> bool,
) -> Vec<u32> {
    let has = |row: &[(u32, T)]| {
        let mut entries = row.iter().filter(|entry| inputs.contains(&(entry.0 as usize)));
        entries.any(|entry| !is_zero(&entry.1))
    };
    let excited = (0..form.a.rows.len()).filter(|state| has(&form.b.rows[*state]) || has(&form.e.rows[*state]));
    let entries = outputs.iter().flat_map(|output| &form.c.rows[*output]);
    let seen = entries.filter(|entry| !is_zero(&entry.1)).map(|entry| entry.0 as usize);
    Structure::of(form, is_zero).between(excited, seen)
}
