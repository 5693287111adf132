//! Vertices, lines, signals and frames with positions.

use super::places::Gaps;
use crate::drawing::{Point, Rect};

/// A vertex with its position.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    pub(super) vertex: usize,
    pub(super) at: Point,
    pub(super) w: f64,
    pub(super) h: f64,
}

impl Placed {
    pub(super) fn rect(&self) -> Rect {
        Rect::around(self.at, self.w, self.h)
    }
}

/// A signal without a source vertex, as a text with an arrow.
#[derive(Clone, Debug)]
pub(super) struct Note {
    pub(super) vertex: usize,
    pub(super) text: String,
    pub(super) at: Rect,
    pub(super) arrow: (Point, Point),
}

/// The frame of a component.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    pub(super) block: usize,
    pub(super) at: Rect,
    pub(super) title: Rect,
}

/// All positioned items.
#[derive(Clone, Debug, Default)]
pub(super) struct Laid {
    pub(super) placed: Vec<Placed>,
    /// Bonds with their lines, from tail to head.
    pub(super) lines: Vec<(usize, Vec<Point>)>,
    pub(super) notes: Vec<Note>,
    pub(super) frames: Vec<Frame>,
    pub(super) gaps: Gaps,
}

impl Laid {
    /// Moves everything.
    pub(super) fn shift(&mut self, dx: f64, dy: f64) {
        let by = |at: Point| at.moved(dx, dy);
        let boxed = |at: Rect| Rect {
            x: at.x + dx,
            y: at.y + dy,
            ..at
        };
        self.placed.iter_mut().for_each(|each| each.at = by(each.at));
        self.lines
            .iter_mut()
            .flat_map(|each| &mut each.1)
            .for_each(|at| *at = by(*at));
        for note in &mut self.notes {
            note.at = boxed(note.at);
            note.arrow = (by(note.arrow.0), by(note.arrow.1));
        }
        for frame in &mut self.frames {
            (frame.at, frame.title) = (boxed(frame.at), boxed(frame.title));
        }
        self.gaps
            .xs
            .iter_mut()
            .chain(&mut self.gaps.cuts)
            .for_each(|x| *x += dx);
        self.gaps.ys.iter_mut().for_each(|y| *y += dy);
    }

    /// Returns the bounding box of all items.
    pub(super) fn bounds(&self) -> Rect {
        let boxes = self
            .placed
            .iter()
            .map(Placed::rect)
            .chain(self.notes.iter().map(|note| note.at));
        let boxes = boxes.chain(self.frames.iter().map(|frame| frame.at));
        let points = self.lines.iter().flat_map(|each| &each.1);
        let points = points.map(|at| Rect::around(*at, 16.0, 16.0));
        let all = boxes.chain(points).fold(None, |known: Option<Rect>, next| {
            Some(known.map_or(next, |known| {
                let (x, y) = (known.x.min(next.x), known.y.min(next.y));
                let right = (known.x + known.w).max(next.x + next.w);
                let bottom = (known.y + known.h).max(next.y + next.h);
                Rect {
                    x,
                    y,
                    w: right - x,
                    h: bottom - y,
                }
            }))
        });
        all.unwrap_or(Rect::around(Point::new(0.0, 0.0), 0.0, 0.0))
    }

    /// Adds the items of an inner layout.
    pub(super) fn add(&mut self, other: Laid) {
        self.placed.extend(other.placed);
        self.lines.extend(other.lines);
        self.notes.extend(other.notes);
        self.frames.extend(other.frames);
        self.gaps.xs.extend(other.gaps.xs);
        self.gaps.ys.extend(other.gaps.ys);
    }
}
