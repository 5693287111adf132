//! The classical Runge-Kutta method of order 4 with a fixed step size.

use super::array::Array;
use super::real::Real;
use super::system::Fault;

/// Advances the states `x` from time `t` to `t + h` by four evaluations of `f`, which computes `x'` from a time and states.
/// If an evaluation fails, `x` is unchanged.
pub fn step<T: Real, X: Array<Item = T>>(
    mut f: impl FnMut(T, &X, &mut X) -> Result<(), Fault>,
    t: T,
    h: T,
    x: &mut X,
) -> Result<(), Fault> {
    let none = X::filled(T::c(0.0));
    let (mut sum, mut slope, mut point) = (none, none, none);
    for (share, weight) in [(0.0, 1.0), (0.5, 2.0), (0.5, 2.0), (1.0, 1.0)] {
        let length = T::c(share) * h;
        for at in 0..X::LENGTH {
            point[at] = x[at] + length * slope[at];
        }
        f(t + length, &point, &mut slope)?;
        for at in 0..X::LENGTH {
            sum[at] = sum[at] + T::c(weight) * slope[at];
        }
    }
    for at in 0..X::LENGTH {
        x[at] = x[at] + h / T::c(6.0) * sum[at];
    }
    Ok(())
}
