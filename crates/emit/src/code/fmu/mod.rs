//! Functional mock-up units for FMI 2.0 and 3.0, with both model exchange and co-simulation, based on the C code of [`super::c`].

mod archive;
mod description;
mod variables;
mod version;

use super::events::Changing;
use super::functions::wrapped;
use super::subject::Subject;
use super::template::{Template, template, values};
use super::{Package, SharedLibrary, c};
pub use archive::archive;
use description::{Facts, build_description, description, escaped, table};
use sha2::{Digest, Sha256};
use variables::Variables;

pub(super) use version::Version;

/// Without a stop time, time events are searched this many seconds ahead.
const LOOK_AHEAD: f64 = 10.0;

const INSTANCE_HEADER: Template<Instance> = template!("@name@_instance.h", "instance.h");

const INSTANCE: Template<Instance> = template!("@name@_instance.c", "instance.c");

const DOCUMENTATION: Template<Documentation> = template!("documentation/index.html", "index.html");

values! {
    struct Instance {
        ..common: c::Common;
        look_ahead: String,
        has_signal: String,
        nominals: String,
        corners: bool,
        in_arrays: bool,
        constrained: bool,
    }
}

values! {
    struct Documentation {
        name: String,
        origin_html: String,
        model_html: String,
        fmi: &'static str,
        source_files: String,
        variable_table: String,
        reads_rates: bool,
    }
}

/// Returns the look-ahead for derivative discontinuities, the inputs with signals, and the magnitudes of states.
fn instance(subject: &Subject<'_>, common: c::Common, in_arrays: bool) -> Instance {
    let (start, stop, _) = subject.plan();
    let has_signal = subject.system.inputs.iter().map(|input| {
        let kind = u8::from(input.signal.is_some()) + u8::from(input.is_internal);
        kind.to_string()
    });
    let has_signal: Vec<String> = has_signal.collect();
    let sizes = variables::nominals(subject).into_iter().map(|size| format!("{size:?}"));
    Instance {
        common,
        look_ahead: format!("{:?}", stop.map_or(LOOK_AHEAD, |stop| stop - start)),
        // C has no empty arrays.
        has_signal: match has_signal.is_empty() {
            true => "0".to_string(),
            false => has_signal.join(", "),
        },
        nominals: match subject.states.is_empty() {
            true => "1.0".to_string(),
            false => wrapped(&sizes.collect::<Vec<_>>()),
        },
        corners: subject.held.is_some()
            || subject.corners.instants().outputs() + subject.corners.switches().outputs() > 0,
        in_arrays,
        constrained: !subject.system.starts.constraints.is_empty(),
    }
}

/// The placeholder for the token in the sources, before the token is known.
const TOKEN: &str = "{token}";

/// Computes a token in the form of a GUID from the contents of all texts.
fn token_of<'t>(texts: impl Iterator<Item = &'t str>) -> String {
    let mut hash = Sha256::new();
    texts.for_each(|text| hash.update(text.as_bytes()));
    let digits: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    format!(
        "{{{}-{}-{}-{}-{}}}",
        &digits[..8],
        &digits[8..12],
        &digits[12..16],
        &digits[16..20],
        &digits[20..32]
    )
}

/// Returns the remarks about inputs without a signal.
fn remarks(subject: &Subject<'_>) -> impl Iterator<Item = String> {
    let inputs = subject.system.inputs.iter().filter(|input| input.signal.is_none());
    inputs.map(|input| {
        format!(
            "the input `{}` has no default signal: the FMU holds it at 0 until it is set",
            input.name
        )
    })
}

/// Returns all files, and the libraries to build from them.
pub(super) fn package(subject: &Subject<'_>, version: Version, changing: Changing<'_>) -> Package {
    let functions = version.functions();
    let callers = |common: &c::Common, in_arrays: bool| {
        let instance = instance(subject, common.clone(), in_arrays);
        vec![
            INSTANCE.file(&instance),
            INSTANCE_HEADER.file(&instance),
            functions.file(&instance.common),
        ]
    };
    let c::CodeFiles {
        mut files,
        sensitivities,
        common,
    } = c::library(subject, changing, &callers);
    let variables = Variables::new(subject, &sensitivities);
    let identifier = common.name.clone();
    let mut sources: Vec<String> = files
        .iter()
        .map(|file| file.0.clone())
        .filter(|name| name.ends_with(".c"))
        .collect();
    sources.sort();

    let describe = |token: &str| {
        let facts = Facts {
            identifier: &identifier,
            token,
            sources: &sources,
        };
        (
            description(subject, &variables, version, &facts),
            build_description(&facts),
        )
    };
    // A changed description or changed equations produce another token.
    let token = token_of(std::iter::once(describe("").0.as_str()).chain(files.iter().map(|file| file.1.as_str())));
    let (description, build) = describe(&token);
    for (_, text) in &mut files {
        *text = text.replace(TOKEN, &token);
    }
    let headers = version.headers().into_iter();
    files.extend(headers.map(|(name, text)| (name.to_string(), text.to_string())));

    let mut package = Package::default();
    for (name, text) in files {
        package.add(format!("sources/{name}"), text);
    }
    package.add("modelDescription.xml", description);
    if version == Version::Three {
        package.add("sources/buildDescription.xml", build);
    }
    let documentation = Documentation {
        name: identifier,
        origin_html: escaped(&subject.origin.sentence()),
        model_html: escaped(&subject.system.model),
        fmi: version.number(),
        source_files: sources.join(" "),
        variable_table: table(&variables),
        reads_rates: subject.reads_rates,
    };
    package.add(DOCUMENTATION.path(&documentation), DOCUMENTATION.text(&documentation));
    package.add(
        "documentation/licenses/fmi-headers.txt",
        include_str!("headers/LICENSE.txt"),
    );
    package.remarks.extend(remarks(subject));
    package.library = Some(SharedLibrary {
        sources,
        path: format!(
            "binaries/{}/{}{}",
            version.platform(),
            documentation.name,
            std::env::consts::DLL_SUFFIX
        ),
    });
    package
}
