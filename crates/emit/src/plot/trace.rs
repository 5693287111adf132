//! A curve that stays small during a run. A short curve keeps every point. A long curve keeps the first, lowest, highest and last point
//! of each of many equal time intervals, so that no peak is lost.

/// One point of a curve.
type Point = (f64, f64);

/// The record of one time interval.
#[derive(Clone, Copy, Debug)]
struct Bin {
    first: Point,
    lowest: Point,
    highest: Point,
    last: Point,
    /// True if the interval contains a non-finite value, which breaks the curve.
    broken: bool,
}

/// A curve under construction, with ascending times.
#[derive(Clone, Debug)]
pub struct Trace {
    from: f64,
    to: f64,
    bins: usize,
    /// The points themselves, if there are few.
    points: Vec<Point>,
    binned: Option<Vec<Option<Bin>>>,
}

impl Trace {
    /// Creates a curve from one time to another, with at most `4 * bins` points.
    pub fn new(from: f64, to: f64, bins: usize) -> Trace {
        Trace {
            from,
            to,
            bins: bins.max(1),
            points: Vec::new(),
            binned: None,
        }
    }

    /// Adds a point; a non-finite value leaves a gap.
    pub fn push(&mut self, time: f64, value: f64) {
        if self.binned.is_none() {
            self.points.push((time, value));
            if self.points.len() <= 4 * self.bins {
                return;
            }
            self.binned = Some(vec![None; self.bins]);
            for (time, value) in std::mem::take(&mut self.points) {
                self.put(time, value);
            }
        } else {
            self.put(time, value);
        }
    }

    fn put(&mut self, time: f64, value: f64) {
        let Some(binned) = &mut self.binned else { return };
        let share = (time - self.from) / (self.to - self.from);
        // In a run of zero length the fraction is NaN and becomes 0.
        let at = ((share * self.bins as f64) as usize).min(self.bins - 1);
        let point = (time, value);
        let broken = !value.is_finite();
        match &mut binned[at] {
            Some(bin) if broken => bin.broken = true,
            Some(bin) => {
                // A bin that began with a gap uses its first number for all its points.
                if !bin.first.1.is_finite() {
                    (bin.first, bin.lowest, bin.highest) = (point, point, point);
                }
                if value < bin.lowest.1 {
                    bin.lowest = point;
                }
                if value > bin.highest.1 {
                    bin.highest = point;
                }
                bin.last = point;
            }
            empty => {
                *empty = Some(Bin {
                    first: point,
                    lowest: point,
                    highest: point,
                    last: point,
                    broken,
                });
            }
        }
    }

    /// Returns the points in order of time; NaN represents a gap.
    pub fn points(&self) -> Vec<(f64, f64)> {
        let Some(binned) = &self.binned else {
            return self.points.clone();
        };
        let mut points: Vec<Point> = Vec::with_capacity(4 * self.bins);
        for bin in binned.iter().flatten() {
            let middle = match bin.lowest.0 <= bin.highest.0 {
                true => [bin.lowest, bin.highest],
                false => [bin.highest, bin.lowest],
            };
            for point in [bin.first, middle[0], middle[1], bin.last] {
                if point.1.is_finite() && points.last() != Some(&point) {
                    points.push(point);
                }
            }
            if bin.broken {
                points.push((bin.last.0, f64::NAN));
            }
        }
        points
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_curve_is_kept_as_it_is() {
        let mut trace = Trace::new(0.0, 1.0, 10);
        for at in 0..40 {
            trace.push(f64::from(at) / 39.0, f64::from(at * at));
        }
        assert_eq!(trace.points().len(), 40);
    }

    #[test]
    fn a_long_curve_keeps_its_peaks_and_its_ends() {
        let mut trace = Trace::new(0.0, 1.0, 10);
        let count = 100_000;
        for at in 0..=count {
            let time = f64::from(at) / f64::from(count);
            let value = if at == 77_777 { 9.0 } else { (300.0 * time).sin() };
            trace.push(time, value);
        }
        let points = trace.points();
        assert!(points.len() <= 40, "{}", points.len());
        assert!(points.is_sorted_by(|a, b| a.0 <= b.0));
        assert!(points.iter().any(|point| point.1 == 9.0));
        assert_eq!(points.first(), Some(&(0.0, 0.0)));
        assert_eq!(points.last().map(|point| point.0), Some(1.0));
    }

    #[test]
    fn a_gap_stays_a_gap() {
        let mut trace = Trace::new(0.0, 1.0, 2);
        for at in 0..100 {
            let value = if (40..45).contains(&at) { f64::NAN } else { 1.0 };
            trace.push(f64::from(at) / 99.0, value);
        }
        assert!(trace.points().iter().any(|point| point.1.is_nan()));
    }
}
