//! Signs of functions of time and parameters, for conditions on time. No round-off tolerance is used: between two changes a sign is
//! constant, and each change is at the exact double.

use super::roots::Search;
use super::timed::{Maker, Switch, Timed};
use crate::programs::layout::Layout;
use crate::{Arguments, Kernel, KernelOptions, expression};
use lgm_algebra::expr::{ExprId, Exprs};

/// The signs of those values that depend only on time and parameters.
#[derive(Clone, Debug)]
pub struct Signs {
    timed: Timed,
    kernel: Kernel,
    places: Vec<usize>,
    /// The sign of each value that is 0.
    zeros: Vec<f64>,
}

impl Signs {
    /// Selects the values that change with time and depend only on time and parameters. Each is given with its index and the sign that
    /// replaces 0.
    pub fn new(exprs: &Exprs, values: &[(usize, ExprId, f64)], layout: &Layout) -> Signs {
        let all: Vec<ExprId> = values.iter().map(|value| value.1).collect();
        let maker = Maker::new(exprs, layout, &all);
        let timed = || values.iter().filter(|value| maker.of_time(value.1).is_some());
        let places: Vec<usize> = timed().map(|value| value.0).collect();
        let roots: Vec<ExprId> = timed().map(|value| value.1).collect();
        let zeros = timed().map(|value| value.2).collect();
        let maker = Maker::new(exprs, layout, &roots);
        let own: Vec<Switch> = roots
            .iter()
            .filter_map(|root| maker.of_time(*root))
            .map(|a| Switch {
                is_whole: false,
                a,
                b: None,
            })
            .collect();
        let (mut timed, _) = maker.functions();
        timed.switches.extend(own);
        Signs {
            timed,
            kernel: expression(exprs, &roots, layout, &KernelOptions { native: false }),
            places,
            zeros,
        }
    }

    /// Returns the indices of these values.
    pub fn places(&self) -> &[usize] {
        &self.places
    }

    /// Returns the signs at a time: -1, 0 or 1.
    pub fn at(&self, parameters: &[f64], time: f64) -> Vec<f64> {
        let mut signs = Vec::new();
        self.write(parameters, time, &mut vec![0.0; self.kernel.scratch()], &mut signs);
        signs
    }

    fn write(&self, parameters: &[f64], time: f64, scratch: &mut [f64], signs: &mut Vec<f64>) {
        let at = Arguments {
            time,
            parameters,
            ..Arguments::default()
        };
        signs.resize(self.places.len(), 0.0);
        self.kernel.call(&at, scratch, signs);
        for (sign, zero) in signs.iter_mut().zip(&self.zeros) {
            *sign = if *sign == 0.0 { *zero } else { sign.signum() };
        }
    }

    /// Returns the first changes of these signs after one time, up to another, in order; at most `most` of them.
    pub fn changes(&self, parameters: &[f64], (from, to): (f64, f64), most: usize) -> Vec<f64> {
        let mut scratch = vec![0.0; self.kernel.scratch()];
        let mut values = |time: f64, signs: &mut Vec<f64>| self.write(parameters, time, &mut scratch, signs);
        Search::new(&self.timed, parameters).changes((from, to), most, &mut values)
    }
}
