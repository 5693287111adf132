//! Layers: a phase that works on what the layers below it hold.

use crate::context::Context;
use crate::context::scopes::Place;

/// What reports its faults for the place that it is at.
pub(crate) trait AtPlace {
    /// The place that faults are reported for.
    fn here(&mut self) -> &mut Place;

    /// Does something at another place, so that its faults are reported there.
    fn at<T>(&mut self, place: Place, work: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(self.here(), place);
        let result = work(self);
        *self.here() = before;
        result
    }
}

impl AtPlace for Context<'_> {
    fn here(&mut self) -> &mut Place {
        &mut self.reports.here
    }
}

/// Puts a layer over another one: it dereferences to the one below, so that it can do all that this one can.
macro_rules! layer {
    ($over:ident<$($lifetime:lifetime),+>, $field:ident: $below:ty) => {
        impl<$($lifetime),+> std::ops::Deref for $over<$($lifetime),+> {
            type Target = $below;

            fn deref(&self) -> &Self::Target {
                &self.$field
            }
        }

        impl<$($lifetime),+> std::ops::DerefMut for $over<$($lifetime),+> {
            fn deref_mut(&mut self) -> &mut Self::Target {
                &mut self.$field
            }
        }

        impl<$($lifetime),+> $crate::context::AtPlace for $over<$($lifetime),+> {
            fn here(&mut self) -> &mut $crate::context::Place {
                &mut self.reports.here
            }
        }
    };
}

pub(crate) use layer;
