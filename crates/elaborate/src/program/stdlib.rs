//! The standard library: written in the language, carried inside the compiler.

/// One module of the standard library.
pub(crate) struct Module {
    /// What follows `import`.
    pub name: &'static str,
    /// The name that diagnostics show.
    pub title: &'static str,
    /// Its text.
    pub text: &'static str,
    /// Whether it is in scope without an import.
    pub prelude: bool,
}

macro_rules! module {
    ($name:literal, $prelude:literal) => {
        Module {
            name: $name,
            title: concat!("stdlib/", $name, ".lgm"),
            text: include_str!(concat!("../../../../stdlib/", $name, ".lgm")),
            prelude: $prelude,
        }
    };
}

/// All modules; those of the prelude first.
pub(crate) const MODULES: &[Module] = &[
    module!("domains", true),
    module!("electrical", true),
    module!("translational", true),
    module!("rotational", true),
    module!("fluid", true),
    module!("thermal", true),
    module!("generic", true),
    module!("bond", true),
    module!("nonlinear", false),
    module!("planar", false),
    module!("spatial", false),
    module!("distributed", false),
    module!("switching", false),
];
