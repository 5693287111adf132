//! `lgm man`

use crate::cli::files::disk::{WriteFault, write_result};
use crate::cli::outcome::Outcome;
use crate::cli::report;
use crate::cli::shell::markdown;
use clap::{Command, ValueEnum};
use clap_mangen::Man;
use lgm_files::sentence;
use lgm_source::SourceMap;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Writes manual pages to a folder: `lgm.1`, and one page for each command.
#[derive(Debug, clap::Args)]
#[command(after_help = "The folder is created if it does not exist.\n\n\
    Examples:\n  lgm man ~/.local/share/man/man1\n  lgm man pages && man pages/lgm-simulate.1\n  lgm man docs --format markdown")]
pub(in crate::cli) struct Arguments {
    /// The folder
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Pages for `man`, or one page `cli.md` in Markdown
    #[arg(long, value_enum, default_value = "man")]
    format: Format,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    Man,
    Markdown,
}

/// Runs the command; `all` is the complete command-line definition.
pub(in crate::cli) fn run(arguments: &Arguments, all: Command) -> Outcome {
    let written = make_folder(&arguments.folder)
        .and_then(|()| match arguments.format {
            Format::Man => pages(all),
            Format::Markdown => Ok(vec![("cli.md".to_string(), markdown::page(all).into_bytes())]),
        })
        .map_err(|error| unwritten(&arguments.folder, &error))
        .and_then(|pages| {
            pages
                .iter()
                .try_for_each(|(name, text)| write_page(&arguments.folder.join(name), text))
        });
    report::after_writing(&SourceMap::default(), written)
}

fn make_folder(folder: &Path) -> io::Result<()> {
    if fs::metadata(folder).is_ok_and(|place| !place.is_dir()) {
        return Err(io::Error::other("exists and is not a folder"));
    }
    fs::create_dir_all(folder)
}

fn write_page(path: &Path, text: &[u8]) -> Result<(), WriteFault> {
    write_result(Some(path), &mut |stream| stream.write_all(text))
}

fn unwritten(folder: &Path, error: &io::Error) -> WriteFault {
    let message = format!("cannot write `{}`: {}", folder.display(), sentence(error));
    WriteFault::Failed(Diagnostic::error(Code::LGM0908, message).help("name a writable folder"))
}

/// Returns every page with its file name.
fn pages(all: Command) -> io::Result<Vec<(String, Vec<u8>)>> {
    // The command `help` adds no information to the page of `lgm`.
    let mut root = all.disable_help_subcommand(true);
    root.build();
    let mut pages = Vec::new();
    let mut open = vec![root];
    while let Some(command) = open.pop() {
        open.extend(command.get_subcommands().cloned());
        pages.push(page(command)?);
    }
    Ok(pages)
}

fn page(command: Command) -> io::Result<(String, Vec<u8>)> {
    let man = Man::new(command)
        .source(concat!("lgm ", env!("CARGO_PKG_VERSION")))
        .manual("lgm manual");
    let mut text = Vec::new();
    man.render(&mut text)?;
    Ok((man.get_filename(), text))
}
