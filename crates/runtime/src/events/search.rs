//! The search for the modes after an instant. Every run uses it: runs with tables, and runs that derive equations when modes occur.
//!
//! During the search, conditions evaluate impulses before finite values, and states jump only in the combination found. A value set by
//! a change moves the states immediately, and remains in force in all later modes.

use super::cause::MOST_AT_ONCE;
use super::complementarity::Outcome;

/// The maximum number of successive changes at one instant.
const MOST_ROUNDS: usize = 1000;
/// The maximum number of combinations examined if changes form a cycle.
pub const MOST_SEARCHED: usize = 4096;
/// The maximum number of elements whose modes are changed in pairs during the search.
const MOST_PAIRED: usize = 24;

/// A change that acts at the current point of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acting {
    /// The next mode.
    pub to: usize,
    /// True if the change sets variables of ports, as a contact does.
    pub has_sets: bool,
}

/// The reason why a search finds no modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unsettled {
    /// Neither the next modes nor any modes near them have equations.
    NoEquations,
    /// No combination is consistent with its own conditions.
    Circle,
    /// No examined combination is consistent; the total number of combinations is given.
    TooMany(usize),
}

/// A run at an instant whose modes are unknown. The run is in one combination, with the states there.
pub trait Transition {
    /// One mode for each element.
    type Modes: Clone + AsRef<[usize]> + AsMut<[usize]>;
    /// The reason why an instant has no solution.
    type Fault;

    /// Returns the number of modes of an element.
    fn count(&self, element: usize) -> usize;
    /// Returns true if a change of an element may be tried without its condition, because the element leaves a wrong mode.
    fn is_free(&self, element: usize, from: usize, to: usize) -> bool;
    /// Returns the first acting change of an element at the current point.
    fn acting(&self, element: usize) -> Option<Acting>;
    /// Enters a combination from the state before the instant; returns false if it has no equations.
    fn stand_in(&mut self, modes: &Self::Modes) -> Result<bool, Self::Fault>;
    /// Changes the modes of all complementary elements to consistent ones, estimated in the combination in force, which is given.
    fn complementary(&mut self, modes: &mut Self::Modes) -> Result<Outcome, Self::Fault>;
    /// Applies the values of acting contacts, in addition to those that closed earlier at this instant. The result becomes the state before
    /// the instant, and of all combinations only the one in force counts as tried.
    fn close_contacts(&mut self, modes: &mut Self::Modes) -> Result<(), Self::Fault>;
    /// Treats bounds that are exceeded here, but hold after the step of the problem, as reached; returns false if there are none.
    fn keep(&mut self) -> bool;
    /// Returns the mode in which an element sticks that slides at rest, because others hold it.
    fn at_rest(&self, element: usize) -> Option<usize>;
    /// Enters a combination if no change acts in it; otherwise, leaves the run as it is. Returns 1 for each element that acts there, or
    /// `None` if the combination cannot be entered.
    fn attempt(&mut self, modes: &Self::Modes) -> Result<Option<Self::Modes>, Self::Fault>;
    /// Returns the modes before the instant, or before the search if states have jumped at this instant.
    fn former(&self) -> Self::Modes;
    /// Returns true if an element returns to a mode, as a diode does, once its free variable exceeds a bound. A thyristor without its
    /// gate does not return; dry friction that slides may also stick, if it sticks up to a larger force.
    fn returns(&self, element: usize, to: usize) -> bool;
    /// Returns true if a change acts by an impulse on a bound: the modes then forbid the jump to this point.
    fn is_struck(&self) -> bool;
    /// Makes the current states those just before the instant; only the combination in force then counts as tried.
    fn jump(&mut self, modes: &Self::Modes);
    /// Discards contacts and all tried combinations except the one in force.
    fn begin(&mut self, modes: &Self::Modes);
    /// Marks a combination as tried; returns false if it was already.
    fn is_new(&mut self, modes: &Self::Modes) -> bool;
    /// Returns true if an element has, in a tried combination, another mode than before the instant.
    fn was_changed(&self, element: usize) -> bool;
    /// Returns true if an element was in a mode before the instant, or in a tried combination.
    fn was_in(&self, element: usize, mode: usize) -> bool;
    /// Returns the fault of an instant without modes; `modes` were requested last.
    fn fault(&mut self, modes: &Self::Modes, reason: Unsettled) -> Self::Fault;
}

/// Finds the modes after an instant, starting from the given modes, and leaves the run in them.
pub fn settle<T: Transition>(run: &mut T, modes: &mut T::Modes) -> Result<(), T::Fault> {
    if !enter_nearest(run, modes)? {
        return Err(run.fault(modes, Unsettled::NoEquations));
    }
    run.begin(modes);
    stick(run, modes)?;
    let mut one_by_one = false;
    // True if the combination in force is the solution of a linear complementarity problem.
    let mut is_solved = false;
    for _ in 0..MOST_ROUNDS {
        if plain(run, modes).next().is_none() {
            if elements(modes).all(|element| run.acting(element).is_none()) {
                keep_former(run, modes)?;
                return stick(run, modes);
            }
            // During the search, an inconsistent mode may transmit an impulse and thereby close a contact. All other changes therefore come
            // first.
            run.close_contacts(modes)?;
            continue;
        }
        let mut are_contradictory = false;
        if !one_by_one {
            let mut solved = modes.clone();
            let outcome = run.complementary(&mut solved)?;
            are_contradictory = outcome == Outcome::Unsolvable && run.former().as_ref() == modes.as_ref();
            let solved = (outcome == Outcome::Solved).then_some(solved);
            if solved.as_ref().is_some_and(|solved| solved.as_ref() == modes.as_ref()) && run.keep() {
                continue;
            }
            if enter_solved(run, solved.as_ref(), modes)? {
                is_solved = true;
                continue;
            }
            if let Some(next) = solved.filter(|next| is_solved && next.as_ref() != modes.as_ref() && !run.is_struck()) {
                // The modes of a jump may differ from those after it: an element brought to a bound by the jump may leave it immediately.
                run.jump(modes);
                is_solved = false;
                if enter_solved(run, Some(&next), modes)? {
                    continue;
                }
            }
        }
        is_solved = false;
        let kept = modes.clone();
        let mut is_new = take_changes(run, modes, one_by_one);
        if !is_new && !one_by_one {
            // Simultaneous changes form a cycle, so from here on only the first change is taken.
            one_by_one = true;
            modes.clone_from(&kept);
            is_new = take_changes(run, modes, true);
        }
        if !is_new {
            search(run, modes)?;
        } else if are_contradictory && !run.stand_in(modes)? {
            // No modes near these are a solution: two thyristors that short a source do not block.
            return Err(run.fault(modes, Unsettled::NoEquations));
        } else if !are_contradictory && !enter_nearest(run, modes)? {
            if one_by_one {
                return Err(run.fault(modes, Unsettled::NoEquations));
            }
            // Many diodes that conduct at once, as in a bridge of five phases, short its sources.
            one_by_one = true;
            modes.clone_from(&kept);
            run.stand_in(modes)?;
        }
    }
    Err(run.fault(modes, Unsettled::Circle))
}

/// Keeps elements in their former modes if a search has made them leave these needlessly, and they do not return. From the former modes,
/// only elements that act change to the modes found.
fn keep_former<T: Transition>(run: &mut T, found: &mut T::Modes) -> Result<(), T::Fault> {
    let mut between = run.former();
    let mut left = between.clone();
    let mut changed = 0;
    for element in elements(found) {
        let (from, to) = (between.as_ref()[element], found.as_ref()[element]);
        changed += usize::from(from != to);
        left.as_mut()[element] = usize::from(from != to && !run.returns(element, from));
    }
    let mut keeps = changed > 1 && !is_idle(&left);
    while keeps {
        let Some(acting) = run.attempt(&between)? else { break };
        if is_idle(&acting) {
            found.clone_from(&between);
            break;
        }
        let mut moves = false;
        keeps = false;
        for element in elements(found) {
            let to = found.as_ref()[element];
            if acting.as_ref()[element] == 1 && between.as_ref()[element] != to {
                between.as_mut()[element] = to;
                moves = true;
            }
            keeps |= left.as_ref()[element] == 1 && between.as_ref()[element] != to;
        }
        keeps &= moves;
    }
    Ok(())
}

/// Returns true if no element acts.
fn is_idle<M: AsRef<[usize]>>(acting: &M) -> bool {
    acting.as_ref().iter().all(|acts| *acts == 0)
}

/// Lets all elements stick that slide at rest. Together with those that hold them, they hold more.
fn stick<T: Transition>(run: &mut T, modes: &mut T::Modes) -> Result<(), T::Fault> {
    let mut stuck = modes.clone();
    for element in elements(modes) {
        stuck.as_mut()[element] = run.at_rest(element).unwrap_or(modes.as_ref()[element]);
    }
    if stuck.as_ref() != modes.as_ref() && run.attempt(&stuck)?.is_some_and(|acting| is_idle(&acting)) {
        modes.clone_from(&stuck);
    }
    Ok(())
}

/// Enters the modes in which no bound is exceeded, unless they were tried already.
fn enter_solved<T: Transition>(run: &mut T, solved: Option<&T::Modes>, modes: &mut T::Modes) -> Result<bool, T::Fault> {
    let Some(solved) = solved else { return Ok(false) };
    if !run.is_new(solved) || !run.stand_in(solved)? {
        return Ok(false);
    }
    modes.clone_from(solved);
    Ok(true)
}

fn elements<M: AsRef<[usize]>>(modes: &M) -> core::ops::Range<usize> {
    0..modes.as_ref().len()
}

/// Returns the elements with an acting change that sets no values, and their next modes.
fn plain<'r, T: Transition>(run: &'r T, modes: &T::Modes) -> impl Iterator<Item = (usize, usize)> + 'r {
    elements(modes).filter_map(move |element| {
        let change = run.acting(element).filter(|change| !change.has_sets)?;
        Some((element, change.to))
    })
}

/// Takes all acting changes that set no values, or only the first one; returns true if this leads to an untried combination.
fn take_changes<T: Transition>(run: &mut T, modes: &mut T::Modes, is_first_alone: bool) -> bool {
    let began = modes.clone();
    for (element, to) in plain(run, &began).take(if is_first_alone { 1 } else { usize::MAX }) {
        modes.as_mut()[element] = to;
    }
    run.is_new(modes)
}

/// Enters these modes. If they have no equations, enters the nearest modes with equations: one or two elements are tried in another
/// permitted mode. Returns false if there are none.
fn enter_nearest<T: Transition>(run: &mut T, modes: &mut T::Modes) -> Result<bool, T::Fault> {
    if run.stand_in(modes)? {
        return Ok(true);
    }
    let began = modes.clone();
    let others = |run: &T, at: usize| {
        let own = began.as_ref()[at];
        (0..run.count(at)).filter(move |mode| *mode != own)
    };
    let may_be = |run: &T, at: usize, mode: usize| may_try(run, at, began.as_ref()[at], mode);
    for at in elements(&began) {
        for mode in others(run, at) {
            modes.as_mut()[at] = mode;
            if may_be(run, at, mode) && run.stand_in(modes)? {
                return Ok(true);
            }
        }
        modes.clone_from(&began);
    }
    let paired = began.as_ref().len().min(MOST_PAIRED);
    for (first, second) in (0..paired).flat_map(|first| (first + 1..paired).map(move |second| (first, second))) {
        for mode in others(run, first) {
            for other in others(run, second) {
                (modes.as_mut()[first], modes.as_mut()[second]) = (mode, other);
                if may_be(run, first, mode) && may_be(run, second, other) && run.stand_in(modes)? {
                    return Ok(true);
                }
            }
        }
        modes.clone_from(&began);
    }
    Ok(false)
}

/// Returns the number of combinations of the modes of some elements.
fn product<T: Transition>(run: &T, elements: impl Iterator<Item = usize>) -> usize {
    elements.fold(1, |all: usize, element| all.saturating_mul(run.count(element)))
}

/// Searches the combinations of the open elements for one in which no changes act, except contacts.
fn search<T: Transition>(run: &mut T, modes: &mut T::Modes) -> Result<(), T::Fault> {
    // Every element that acts or whose mode has changed during the search is open; if there are few combinations, all elements are open.
    let are_few = product(run, elements(modes)) <= MOST_SEARCHED;
    // One number for each element: 1 if it is open.
    let mut open = modes.clone();
    for element in elements(modes) {
        let acts = run.acting(element).is_some_and(|change| !change.has_sets);
        open.as_mut()[element] = usize::from(are_few || acts || run.was_changed(element));
    }
    let is_open = |element: &usize| open.as_ref()[*element] == 1;
    let possible = product(run, elements(modes).filter(is_open));
    for index in 0..possible.min(MOST_SEARCHED) {
        let mut rest = index;
        for element in elements(modes).filter(is_open) {
            modes.as_mut()[element] = rest % run.count(element);
            rest /= run.count(element);
        }
        let is_founded = elements(modes).all(|element| is_founded(run, element, modes.as_ref()[element]));
        if is_founded && run.stand_in(modes)? && plain(run, modes).next().is_none() {
            return Ok(());
        }
    }
    let reason = match possible > MOST_SEARCHED {
        true => Unsettled::TooMany(possible),
        false => Unsettled::Circle,
    };
    Err(run.fault(modes, reason))
}

/// Returns true if an element may be tried in another mode, by one or two changes.
fn may_try<T: Transition>(run: &T, element: usize, from: usize, to: usize) -> bool {
    let mut between = 0..run.count(element);
    run.is_free(element, from, to)
        || between.any(|mode| run.is_free(element, from, mode) && run.is_free(element, mode, to))
}

/// Returns true if an element may be in a mode after the search: it was in this mode, or may be tried in it.
fn is_founded<T: Transition>(run: &T, element: usize, mode: usize) -> bool {
    let mut from = 0..run.count(element);
    from.any(|from| run.was_in(element, from) && (from == mode || may_try(run, element, from, mode)))
}

/// The blocks and changes of modes at the current point of a run.
pub trait Follow {
    /// The reason why an instant has no solution.
    type Fault;

    /// Marks the sampled blocks that are due at this instant, and counts their instants; returns true if there are any.
    fn mark_due(&mut self) -> bool;
    /// Marks the blocks whose condition has become true, and records which conditions hold; returns true if any block is marked.
    fn mark_became(&mut self) -> bool;
    /// Returns true if the condition of a block has become true.
    fn has_become(&self) -> bool;
    /// Runs the marked blocks in source order, and then finds the modes.
    fn run_marked(&mut self) -> Result<(), Self::Fault>;
    /// Records which conditions of marked blocks hold after the blocks.
    fn hold_marked(&mut self);
    /// Finds the modes at the current point; returns true if they have changed.
    fn change_modes(&mut self) -> Result<bool, Self::Fault>;
    /// Returns the fault of blocks that follow each other endlessly.
    fn endless(&mut self) -> Self::Fault;
}

/// Performs all events at the current point of a run, until nothing follows.
pub fn follow<R: Follow>(run: &mut R) -> Result<(), R::Fault> {
    if run.mark_due() {
        run.run_marked()?;
    }
    for _ in 0..MOST_AT_ONCE {
        if run.mark_became() {
            run.run_marked()?;
            run.hold_marked();
        } else if !run.change_modes()? && !run.has_become() {
            return Ok(());
        }
    }
    Err(run.endless())
}
