//! Keywords, with the text that each inserts.

/// Common units without a name of their own.
pub(crate) const USUAL_UNITS: &[&str] = &[
    "kg", "mm", "ms", "mA", "mV", "kN", "kPa", "kohm", "mH", "uH", "uF", "nF", "pF", "m/s", "m/s^2", "rad/s", "N/m",
    "N.s/m", "N.m", "N.m/rad", "kg.m^2", "m^2", "m^3", "m^3/s", "Pa.s/m^3", "V.s", "A/s", "J/K", "K/W",
];

/// Settings of an experiment, with the text that each inserts.
pub(crate) const SETTINGS: &[(&str, &str)] = &[
    ("start", "start = ${1:0} [s];"),
    ("stop", "stop = ${1:1} [s];"),
    ("points", "points = ${1:501};"),
    ("step", "step = ${1:1e-3} [s];"),
    ("method", "method = ${1:auto};"),
    ("rtol", "rtol = ${1:1e-6};"),
    ("atol", "atol = ${1:1e-9};"),
    ("plot", "plot = [$1];"),
    ("events", "events = ${1:1};"),
];

/// Attributes of an instance or a state, with the text that each inserts.
pub(super) const ATTRIBUTES: &[(&str, &str)] = &[("start", "start = ${1:0}"), ("nominal", "nominal = ${1:1}")];

/// The attribute of an instance whose element has modes, with the text that it inserts.
pub(super) const MODE: &[(&str, &str)] = &[("mode", "mode = $1")];

/// Words after the domain of a node or a junction, with the text that each inserts.
pub(super) const FLAGS: &[(&str, &str)] = &[("floating", "floating"), ("on", "on = ${1:condition}")];

/// The beginnings of entries of an element, with their snippets.
pub(crate) const LAWS: &[(&str, &str)] = &[
    ("across", "across = ${1:k}*${2:through};"),
    ("through", "through = ${1:k}*${2:across};"),
    ("der", "der(${1:through}) = ${2:k*across};"),
    ("effort", "effort = ${1:k}*${2:flow};"),
    ("flow", "flow = ${1:k}*${2:effort};"),
    ("port", "port ${1:a}, ${2:b};"),
    ("mode", "mode ${1:open} { ${2:through = 0;} }"),
    ("when", "when ${1:condition} -> ${2:mode};"),
];

/// Entries that a mode cannot contain.
pub(super) const OF_ELEMENTS: &[&str] = &["port", "mode", "when"];

/// The beginnings of entries of a domain, with their snippets.
pub(super) const DOMAIN_ENTRIES: &[(&str, &str)] = &[
    ("across", "across ${1:v} [${2:V}];"),
    ("through", "through ${1:i} [${2:A}];"),
    ("effort", "effort = ${1:across};"),
];

/// The beginnings of entries of a modal block, with their snippets.
pub(crate) const MODAL_ENTRIES: &[(&str, &str)] = &[
    ("mode", "mode ${1:i};"),
    ("drive", "drive ${1:across};"),
    ("mass", "mass = ${1:rho*A*L/2};"),
    ("stiffness", "stiffness = ${1:mass*wave^2};"),
    ("damping", "damping = ${1:2*zeta*sqrt(mass*stiffness)};"),
    ("shape", "shape(${1:x}) = ${2:sin(wave*x)};"),
    ("integral", "integral(${1:x}) = ${2:-cos(wave*x)/wave};"),
    ("compliance", "compliance(${1:x}, ${2:y}) = ${3:min(x, y)};"),
    ("resistance", "resistance(${1:x}, ${2:y}) = ${3:1};"),
    ("conductance", "conductance(${1:x}, ${2:y}) = ${3:1};"),
    ("force", "force(${1:x}) = ${2:0};"),
    ("shear", "shear(${1:x}) = ${2:0};"),
    ("moment", "moment(${1:x}) = ${2:0};"),
];

/// Statements that are allowed only in a component, or only in a model.
pub(super) const OF_COMPONENTS: &[&str] = &["port"];
pub(super) const OF_MODELS: &[&str] = &["input", "output", "experiment"];

/// Keywords that begin a statement, with the text that each inserts.
pub(super) const STATEMENTS: &[(&str, &str)] = &[
    ("node", "node ${1:x} : ${2:translational};"),
    ("param", "param ${1:k} = ${2:1} [${3:N/m}];"),
    ("input", "input ${1:u} [${2:N}] = ${3:1};"),
    ("output", "output ${1:y} = ${2:across(x)};"),
    ("signal", "signal ${1:e} = ${2:0};"),
    ("state", "state ${1:z} = int(${2:x}), start = ${3:0};"),
    ("discrete", "discrete ${1:n} = ${2:0};"),
    ("const", "const ${1:N} = ${2:4};"),
    ("port", "port ${1:p}, ${2:n} : ${3:electrical};"),
    ("zero", "zero ${1:J};"),
    ("one", "one ${1:J};"),
    ("for", "for ${1:i} in 1:${2:N} {\n  $0\n}"),
    ("if", "if ${1:condition} {\n  $0\n}"),
    ("when", "when ${1:condition} {\n  $0\n}"),
    ("every", "every ${1:Ts} {\n  $0\n}"),
    ("experiment", "experiment { stop = ${1:1} [s]; points = ${2:501}; }"),
];

pub(super) fn item_snippet(word: &str) -> String {
    match word {
        "import" => "import ${1:nonlinear};".to_string(),
        "domain" => {
            "domain ${1:name} { across ${2:v} [${3:V}]; through ${4:i} [${5:A}]; effort = across; }".to_string()
        }
        "element" => "element ${1:Name}(${2:k}) : ${3:translational} { $0 }".to_string(),
        "modal" => "modal ${1:Name}(${2:L}) : ${3:translational} {\n  $0\n}".to_string(),
        "component" => "component ${1:Name}(${2:k}) {\n  $0\n}".to_string(),
        _ => format!("{word} ${{1:Name}} {{\n  $0\n}}"),
    }
}
