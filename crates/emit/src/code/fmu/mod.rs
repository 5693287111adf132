//! Functional mock-up units: FMI 2.0 and 3.0, model exchange and co-simulation in one, built over the C of [`super::c`].

mod archive;
mod description;
mod variables;
mod version;

use super::functions::wrapped;
use super::subject::Subject;
use super::template::fill;
use super::{Package, SharedLibrary, c};
use crate::code::template::Values;
pub use archive::archive;
use description::{Facts, build_description, description, escaped, table};
use sha2::{Digest, Sha256};
use variables::Variables;

pub(super) use version::Version;

/// Seconds that corners are looked for ahead, where nobody says when a run ends.
const LOOK_AHEAD: f64 = 10.0;

/// How long corners are looked for, which inputs have signals, and how large states are.
fn run_values(subject: &Subject<'_>, values: &mut Values) {
    let (start, stop, _) = subject.plan();
    let has_signal = subject.system.inputs.iter().map(|input| {
        let kind = u8::from(input.signal.is_some()) + u8::from(input.is_internal);
        kind.to_string()
    });
    let has_signal: Vec<String> = has_signal.collect();
    values
        .set(
            "look_ahead",
            format!("{:?}", stop.map_or(LOOK_AHEAD, |stop| stop - start)),
        )
        .set(
            "has_signal",
            if has_signal.is_empty() {
                "0".into()
            } else {
                has_signal.join(", ")
            },
        )
        .set(
            "nominals",
            if subject.states.is_empty() {
                "1.0".into()
            } else {
                let sizes = variables::nominals(subject).into_iter().map(|size| format!("{size:?}"));
                wrapped(&sizes.collect::<Vec<_>>())
            },
        )
        .flag(
            "corners",
            subject.corners.instants().outputs() + subject.corners.switches().outputs() > 0,
        );
}

/// A token of the form of a GUID, of all that the texts hold.
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

/// What is reported of inputs without a signal.
fn remarks(subject: &Subject<'_>) -> impl Iterator<Item = String> {
    let inputs = subject.system.inputs.iter().filter(|input| input.signal.is_none());
    inputs.map(|input| {
        format!(
            "the input `{}` has no signal of its own: the FMU holds it at 0 until it is set",
            input.name
        )
    })
}

/// All files, and what is to be built of them.
pub(super) fn package(subject: &Subject<'_>, version: Version) -> Package {
    let c::Library {
        files,
        sensitivities,
        mut values,
    } = c::library(subject);
    let variables = Variables::new(subject, &sensitivities);
    let identifier = values.get("name").to_string();
    run_values(subject, &mut values);
    let (functions, template) = version.functions();
    let instance_source = c::file_name("@name@_instance.c", &values);
    let mut sources: Vec<String> = files
        .iter()
        .map(|file| file.0.clone())
        .filter(|name| name.ends_with(".c"))
        .collect();
    sources.extend([instance_source.clone(), functions.to_string()]);
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
    // Whatever differs in what is described or in the equations has another token.
    let token = token_of(std::iter::once(describe("").0.as_str()).chain(files.iter().map(|file| file.1.as_str())));
    values.set("token", &token);

    let mut package = Package::default();
    for (name, text) in files {
        package.add(format!("sources/{name}"), text);
    }
    package.add(
        format!("sources/{instance_source}"),
        fill(include_str!("instance.c"), &values),
    );
    let header = c::file_name("sources/@name@_instance.h", &values);
    package.add(header, fill(include_str!("instance.h"), &values));
    package.add(format!("sources/{functions}"), fill(template, &values));
    for (name, text) in version.headers() {
        package.add(format!("sources/{name}"), text);
    }
    let (description, build) = describe(&token);
    package.add("modelDescription.xml", description);
    if version == Version::Three {
        package.add("sources/buildDescription.xml", build);
    }
    values
        .set("origin_html", escaped(&subject.origin.sentence()))
        .set("model_html", escaped(&subject.system.model))
        .set("fmi", version.number())
        .set("source_files", sources.join(" "))
        .set("variable_table", table(&variables))
        .flag("reads_rates", subject.reads_rates);
    package.add("documentation/index.html", fill(include_str!("index.html"), &values));
    package.add(
        "documentation/licenses/fmi-headers.txt",
        include_str!("headers/LICENSE.txt"),
    );
    package.remarks.extend(remarks(subject));
    package.library = Some(SharedLibrary {
        sources,
        path: format!(
            "binaries/{}/{identifier}{}",
            version.platform(),
            std::env::consts::DLL_SUFFIX
        ),
    });
    package
}
