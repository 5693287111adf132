//! The domains of random models.

/// A physical domain of the standard library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Domain {
    Electrical,
    Translational,
    Rotational,
    Fluid,
}

impl Domain {
    /// All of them.
    pub const ALL: [Domain; 4] = [
        Domain::Electrical,
        Domain::Translational,
        Domain::Rotational,
        Domain::Fluid,
    ];

    /// Its name in the language.
    pub fn name(self) -> &'static str {
        match self {
            Domain::Electrical => "electrical",
            Domain::Translational => "translational",
            Domain::Rotational => "rotational",
            Domain::Fluid => "fluid",
        }
    }

    /// Returns true if the effort is the across variable.
    pub fn effort_is_across(self) -> bool {
        matches!(self, Domain::Electrical | Domain::Fluid)
    }

    /// Its index in [`Domain::ALL`].
    pub fn place(self) -> usize {
        self as usize
    }
}
