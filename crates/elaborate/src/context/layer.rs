//! Layers: a phase works on the data of the layers below it.

use crate::context::Context;
use crate::context::scopes::Place;

/// Reports its errors at its own location.
pub(crate) trait AtPlace {
    /// Returns the place for which errors are reported.
    fn here(&mut self) -> &mut Place;

    /// Does some work at another place, so that its errors are reported there.
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

/// Defines a layer above another one: it dereferences to the layer below and therefore has all of its methods.
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
