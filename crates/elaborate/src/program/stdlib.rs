//! The standard library: written in the language and embedded in the compiler.

/// One module of the standard library.
#[derive(Debug)]
pub struct LibraryModule {
    /// The name after `import`.
    pub name: &'static str,
    /// The name shown in diagnostics.
    pub title: &'static str,
    /// Its text.
    pub text: &'static str,
    /// True if it is in scope without an import.
    pub prelude: bool,
}

macro_rules! module {
    ($name:literal, $prelude:literal) => {
        LibraryModule {
            name: $name,
            title: concat!("stdlib/", $name, ".lgm"),
            text: include_str!(concat!("../../../../stdlib/", $name, ".lgm")),
            prelude: $prelude,
        }
    };
}

/// All modules, with the prelude first.
pub const LIBRARY: &[LibraryModule] = &[
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
    module!("electronics", false),
    module!("drives", false),
    module!("hydraulics", false),
    module!("heat", false),
    module!("magnetic", false),
    module!("signals", false),
    module!("constants", false),
];
