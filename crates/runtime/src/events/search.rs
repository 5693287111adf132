//! The search for the modes behind an instant, the same for every run: one of tables, and one that makes equations when it meets modes.
//!
//! In the search conditions read impulses before finite values, and states jump only in the combination that is found. A value that a
//! change sets moves the states at once, and stays whatever mode follows.

use super::super::real::Real;
use super::cause::MOST_AT_ONCE;

/// Changes follow each other at one instant this number of times at most.
const MOST_ROUNDS: usize = 1000;
/// If changes lead in a circle, at most this number of combinations is looked through.
pub const MOST_SEARCHED: usize = 4096;
/// Of the elements, so many have their modes changed two by two in the search.
const MOST_PAIRED: usize = 24;

/// A change that acts where the run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acting {
    /// The mode that follows.
    pub to: usize,
    /// True if it sets variables of ports, as a contact does.
    pub has_sets: bool,
}

/// The share of the largest of all values up to which a port is idle.
const IDLE: f64 = 1e-6;

/// The reason for which a search finds no modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unsettled {
    /// The modes that follow have no equations, and no others near them have.
    NoEquations,
    /// No combination agrees with its own conditions.
    Circle,
    /// No combination that was looked through agrees, of this number.
    TooMany(usize),
}

/// A run at an instant whose modes are looked for. It stands in one combination, with the states there.
pub trait Transition {
    /// A mode for each element.
    type Modes: Clone + AsRef<[usize]> + AsMut<[usize]>;
    /// The reason for which an instant has no answer.
    type Fault;

    /// The number of modes of an element.
    fn count(&self, element: usize) -> usize;
    /// Returns true if a change of an element may be tried without its condition, since a mode that is wrong is left by itself.
    fn is_free(&self, element: usize, from: usize, to: usize) -> bool;
    /// Returns true if another mode may stand in for this one of an element while nothing flows: no change leaves it without variables of
    /// its ports.
    fn may_stay(&self, element: usize, mode: usize) -> bool;
    /// Returns true if nothing flows at the ports of an element where the run stands, and nothing drives it.
    fn is_idle(&self, element: usize) -> bool;
    /// The mode that is wanted of an element whose mode is assumed; kept until the next search.
    fn wanted(&self, element: usize) -> Option<usize>;
    /// Keeps the mode that is wanted of an element, or forgets it.
    fn want(&mut self, element: usize, mode: Option<usize>);
    /// The first change of an element that acts where the run stands; none of an element whose mode is assumed.
    fn acting(&self, element: usize) -> Option<Acting>;
    /// Enters a combination from what was before the instant; false if it has no equations.
    fn stand_in(&mut self, modes: &Self::Modes) -> Result<bool, Self::Fault>;
    /// The modes in which all complementary elements agree, as far as the combination in force tells; none for fewer than two of them.
    fn complementary(&mut self) -> Result<Option<Self::Modes>, Self::Fault>;
    /// Lets the contacts that act set their values, together with those that closed at this instant before. What was before the instant
    /// is from then on what they leave, and no combination but the one in force has been tried.
    fn close_contacts(&mut self, modes: &mut Self::Modes) -> Result<(), Self::Fault>;
    /// Forgets contacts, and all combinations that were tried but this one, in force.
    fn begin(&mut self, modes: &Self::Modes);
    /// Marks a combination as tried; false if it was.
    fn is_new(&mut self, modes: &Self::Modes) -> bool;
    /// Returns true if a combination was tried in which an element has another mode than before the instant.
    fn was_changed(&self, element: usize) -> bool;
    /// Returns true if an element was in a mode before the instant, or in a combination that was tried.
    fn was_in(&self, element: usize, mode: usize) -> bool;
    /// The fault of an instant without modes; `modes` were wanted last.
    fn fault(&mut self, modes: &Self::Modes, reason: Unsettled) -> Self::Fault;
}

/// Finds the modes behind an instant, beginning with some, and leaves the run there.
pub fn settle<T: Transition>(run: &mut T, modes: &mut T::Modes) -> Result<(), T::Fault> {
    for element in elements(modes) {
        if let Some(mode) = run.wanted(element) {
            modes.as_mut()[element] = mode;
            run.want(element, None);
        }
    }
    enter_nearest(run, modes)?;
    run.begin(modes);
    let mut one_by_one = false;
    for _ in 0..MOST_ROUNDS {
        if plain(run, modes).next().is_none() {
            if elements(modes).all(|element| run.acting(element).is_none()) {
                if take_back(run, modes)? {
                    continue;
                }
                return Ok(());
            }
            // In the search a mode that cannot hold may pass on an impulse, and close a contact that way: so all other changes come
            // first.
            run.close_contacts(modes)?;
            continue;
        }
        if !one_by_one && enter_complementary(run, modes)? {
            continue;
        }
        let kept = modes.clone();
        let mut is_new = take_changes(run, modes, one_by_one);
        if !is_new && !one_by_one {
            // All at once leads in a circle: from here on the first change alone is taken.
            one_by_one = true;
            modes.clone_from(&kept);
            is_new = take_changes(run, modes, true);
        }
        if is_new {
            enter_nearest(run, modes)?;
        } else {
            search(run, modes)?;
        }
    }
    Err(run.fault(modes, Unsettled::Circle))
}

/// Puts the elements whose modes were assumed back into the modes that were wanted, one after the other: the others may have changed so
/// that these have equations now. True if an element stays there. Where these have none, the assumed mode stands in if nothing can flow;
/// else it is an error, since it is no answer, as that of a relay that is shut without its coil.
fn take_back<T: Transition>(run: &mut T, modes: &mut T::Modes) -> Result<bool, T::Fault> {
    for element in elements(modes) {
        let Some(mode) = run.wanted(element) else { continue };
        let assumed = modes.as_ref()[element];
        run.want(element, None);
        if mode == assumed {
            continue;
        }
        modes.as_mut()[element] = mode;
        let has_equations = run.stand_in(modes)?;
        if has_equations && run.acting(element).is_none_or(|change| change.to != assumed) {
            run.is_new(modes);
            return Ok(true);
        }
        modes.as_mut()[element] = assumed;
        run.stand_in(modes)?;
        if !has_equations {
            if !run.may_stay(element, mode) || !run.is_idle(element) {
                modes.as_mut()[element] = mode;
                return Err(run.fault(modes, Unsettled::NoEquations));
            }
            run.want(element, Some(mode));
        }
    }
    Ok(false)
}

/// Enters the modes that complementary elements agree on, if they were not tried yet.
fn enter_complementary<T: Transition>(run: &mut T, modes: &mut T::Modes) -> Result<bool, T::Fault> {
    let Some(solved) = run.complementary()? else {
        return Ok(false);
    };
    if !run.is_new(&solved) || !run.stand_in(&solved)? {
        return Ok(false);
    }
    *modes = solved;
    Ok(true)
}

fn elements<M: AsRef<[usize]>>(modes: &M) -> core::ops::Range<usize> {
    0..modes.as_ref().len()
}

/// The elements with a change that acts and sets nothing, and the modes that follow.
fn plain<'r, T: Transition>(run: &'r T, modes: &T::Modes) -> impl Iterator<Item = (usize, usize)> + 'r {
    elements(modes).filter_map(move |element| {
        let change = run.acting(element).filter(|change| !change.has_sets)?;
        Some((element, change.to))
    })
}

/// Takes all changes that act and set nothing, or the first one alone; true if that leads to a combination that was not tried yet.
fn take_changes<T: Transition>(run: &mut T, modes: &mut T::Modes, is_first_alone: bool) -> bool {
    let began = modes.clone();
    for (element, to) in plain(run, &began).take(if is_first_alone { 1 } else { usize::MAX }) {
        modes.as_mut()[element] = to;
    }
    run.is_new(modes)
}

/// The run in these modes; where they have no equations, in the nearest ones that have: with one element in another mode, or two. Modes
/// that elements may be tried in come first. Others are assumed, and the modes in their places are kept.
fn enter_nearest<T: Transition>(run: &mut T, modes: &mut T::Modes) -> Result<(), T::Fault> {
    if run.stand_in(modes)? {
        return Ok(());
    }
    let began = modes.clone();
    let others = |run: &T, at: usize| {
        let own = began.as_ref()[at];
        (0..run.count(at)).filter(move |mode| *mode != own)
    };
    let is_free = |run: &T, at: usize, mode: usize| may_try(run, at, began.as_ref()[at], mode);
    for are_free in [true, false] {
        for at in elements(&began) {
            for mode in others(run, at) {
                if is_free(run, at, mode) != are_free {
                    continue;
                }
                modes.as_mut()[at] = mode;
                if run.stand_in(modes)? {
                    assume(run, &began, modes);
                    return Ok(());
                }
            }
            modes.clone_from(&began);
        }
    }
    let paired = began.as_ref().len().min(MOST_PAIRED);
    for are_free in [true, false] {
        for (first, second) in (0..paired).flat_map(|first| (first + 1..paired).map(move |second| (first, second))) {
            for mode in others(run, first) {
                for other in others(run, second) {
                    if (is_free(run, first, mode) && is_free(run, second, other)) != are_free {
                        continue;
                    }
                    (modes.as_mut()[first], modes.as_mut()[second]) = (mode, other);
                    if run.stand_in(modes)? {
                        assume(run, &began, modes);
                        return Ok(());
                    }
                }
            }
            modes.clone_from(&began);
        }
    }
    Err(run.fault(&began, Unsettled::NoEquations))
}

/// Keeps the modes that were wanted in the places of those that are assumed.
fn assume<T: Transition>(run: &mut T, began: &T::Modes, modes: &T::Modes) {
    for element in elements(modes) {
        let (from, to) = (began.as_ref()[element], modes.as_ref()[element]);
        if from != to && !may_try(run, element, from, to) {
            run.want(element, Some(from));
        }
    }
}

/// The number of combinations of the modes of some elements.
fn product<T: Transition>(run: &T, elements: impl Iterator<Item = usize>) -> usize {
    elements.fold(1, |all: usize, element| all.saturating_mul(run.count(element)))
}

/// The combinations of the elements that act, looked through one after the other for one in which contacts act at most.
fn search<T: Transition>(run: &mut T, modes: &mut T::Modes) -> Result<(), T::Fault> {
    // Every element whose mode was changed in the search is open, and all if that is not too much.
    let are_few = product(run, elements(modes)) <= MOST_SEARCHED;
    // One number an element: 1 where it is open.
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

/// Returns true if an element may be tried in a mode instead of another one, by one change or by two.
fn may_try<T: Transition>(run: &T, element: usize, from: usize, to: usize) -> bool {
    let mut between = 0..run.count(element);
    run.is_free(element, from, to)
        || between.any(|mode| run.is_free(element, from, mode) && run.is_free(element, mode, to))
}

/// Returns true if an element may be in a mode behind the search: it was there, or may be tried there.
fn is_founded<T: Transition>(run: &T, element: usize, mode: usize) -> bool {
    let mut from = 0..run.count(element);
    from.any(|from| run.was_in(element, from) && (from == mode || may_try(run, element, from, mode)))
}

/// Returns true if effort and flow of ports are zero beside the largest of all values.
pub fn is_idle<T: Real>(ports: &[T], all: &[T]) -> bool {
    let largest = |values: &[T]| {
        let sizes = values
            .iter()
            .map(|value| value.abs())
            .filter(|size| *size < T::c(f64::MAX));
        sizes.fold(T::c(0.0), |most, size| if size > most { size } else { most })
    };
    largest(ports) <= T::c(IDLE) * largest(all)
}

/// Blocks and changes of modes where a run is.
pub trait Follow {
    /// The reason for which an instant has no answer.
    type Fault;

    /// Marks the sampled blocks whose instant this is, and counts it; true if there are any.
    fn mark_due(&mut self) -> bool;
    /// Marks the blocks whose condition has become true, and keeps which conditions hold; true if there are any.
    fn mark_became(&mut self) -> bool;
    /// Returns true if the condition of a block has become true.
    fn has_become(&self) -> bool;
    /// Runs the marked blocks in the order of the text, and then finds the modes.
    fn run_marked(&mut self) -> Result<(), Self::Fault>;
    /// Keeps which conditions of marked blocks hold behind them.
    fn hold_marked(&mut self);
    /// Finds the modes where the run stands; true if they are others.
    fn change_modes(&mut self) -> Result<bool, Self::Fault>;
    /// The fault of blocks that follow each other without end.
    fn endless(&mut self) -> Self::Fault;
}

/// Carries out all that happens where a run stands, until nothing follows.
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
