//! The instants of sampled blocks, and times without the round-off of their computation.

use super::tables::Trigger;
use core::fmt::Write;

/// The text of a number.
struct Digits {
    text: [u8; 40],
    length: usize,
}

impl Write for Digits {
    fn write_str(&mut self, part: &str) -> core::fmt::Result {
        let end = self.length + part.len();
        let room = self.text.get_mut(self.length..end).ok_or(core::fmt::Error)?;
        room.copy_from_slice(part.as_bytes());
        self.length = end;
        Ok(())
    }
}

/// Rounds a time to its decimal digits if the difference is only round-off of its computation: 0.02 instead of
/// 0.020000000000000004.
pub fn plain(time: f64, size: f64) -> f64 {
    let digits = 14.0 - libm::floor(libm::log10(size));
    if !(0.0..=290.0).contains(&digits) {
        return time;
    }
    let whole = libm::round(time * libm::pow(10.0, digits));
    let rounded = if digits <= 22.0 {
        whole / libm::pow(10.0, digits)
    } else {
        let mut number = Digits {
            text: [0; 40],
            length: 0,
        };
        let written = write!(number, "{whole:.0}e-{digits:.0}");
        let text = core::str::from_utf8(&number.text[..number.length]).ok();
        let read = text.and_then(|text| text.parse().ok());
        written.ok().and(read).unwrap_or(time)
    };
    if libm::fabs(rounded - time) <= 2.0 * f64::EPSILON * size {
        rounded
    } else {
        time
    }
}

impl Trigger {
    /// Returns an instant by its number, without accumulated round-off; infinity for a trigger without instants.
    pub fn instant(self, number: f64) -> f64 {
        let Trigger::Every { period, first } = self else {
            return f64::INFINITY;
        };
        let time = first + number * period;
        plain(time, libm::fabs(time).max(libm::fabs(first)))
    }

    /// Returns the number of the first instant at or after a time.
    pub fn first_number(self, start: f64) -> f64 {
        let Trigger::Every { period, first } = self else {
            return 0.0;
        };
        libm::ceil((start - first) / period - 1e-9).max(0.0)
    }
}
