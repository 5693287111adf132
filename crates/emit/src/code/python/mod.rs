//! One Python module over NumPy and SciPy.

pub(super) mod dialect;

use super::Package;
use super::functions::wrapped;
use super::named::Book;
use super::names::{Rules, legal};
use super::script::{
    Facts, Notation, Places, ScriptLanguage, Writer, column_places, derived_lines, facts, name_list, parameter_words,
};
use super::subject::{Parameter, ReadmeTables, Subject, readme_tables};
use super::template::{Template, template, values};
use dialect::{Python, RULES, literal, quote};
use std::fmt::Write;

const MODULE: Template<Module> = template!("@library@.py", "model.py.txt");

const README: Template<Readme> = template!("README.md", "README.md");

/// Modules that a file in the same folder would hide from Python itself, NumPy or SciPy.
const MODULES: &str = "\
    abc aifc antigravity argparse array ast asynchat asyncio asyncore atexit audioop base64 bdb binascii bisect \
    builtins bz2 calendar cgi cgitb chunk cmath cmd code codecs codeop collections colorsys compileall concurrent \
    configparser contextlib contextvars copy copyreg crypt csv ctypes curses dataclasses datetime dbm decimal \
    difflib dis distutils doctest email encodings ensurepip enum errno faulthandler fcntl filecmp fileinput \
    fnmatch fractions ftplib functools gc genericpath getopt getpass gettext glob graphlib grp gzip hashlib heapq \
    hmac html http idlelib imaplib imghdr imp importlib inspect io ipaddress itertools json keyword lib2to3 \
    linecache locale logging lzma mailbox mailcap marshal math mimetypes mmap modulefinder msilib msvcrt \
    multiprocessing netrc nis nntplib nt ntpath nturl2path numbers opcode operator optparse os ossaudiodev pathlib \
    pdb pickle pickletools pipes pkgutil platform plistlib poplib posix posixpath pprint profile pstats pty pwd \
    py_compile pyclbr pydoc pydoc_data pyexpat queue quopri random re readline reprlib resource rlcompleter runpy \
    sched secrets select selectors shelve shlex shutil signal site smtpd smtplib sndhdr socket socketserver spwd \
    sqlite3 sre_compile sre_constants sre_parse ssl stat statistics string stringprep struct subprocess sunau \
    symtable sys sysconfig syslog tabnanny tarfile telnetlib tempfile termios textwrap this threading time timeit \
    tkinter token tokenize tomllib trace traceback tracemalloc tty turtle turtledemo types typing unicodedata \
    unittest urllib uu uuid venv warnings wave weakref webbrowser winreg winsound wsgiref xdrlib xml xmlrpc zipapp \
    zipfile zipimport zlib zoneinfo \
    numpy scipy casadi control sympy lgm";

values! {
    struct Module {
        ..facts: Facts;
        library: String,
        states_list: String,
        outputs_list: String,
        parameter_fields: String,
        derived_lines: String,
        flat: bool,
        arrays: bool,
        functions: String,
        sparse: bool,
        unknowns: usize,
        corner_times: &'static str,
        stop_word: &'static str,
        here: String,
        clamped: String,
        pieces: bool,
        method: &'static str,
        column_states: String,
    }
}

values! {
    struct Readme {
        ..tables: ReadmeTables;
        library: String,
        model: String,
        origin: String,
        states: usize,
        stop_argument: &'static str,
        stop_word: &'static str,
    }
}

/// The notation of numbers and lists.
pub(super) const NOTATION: Notation = Notation {
    literal,
    list: |entries| format!("[{}]", wrapped(entries)),
    boolean: |holds| if holds { "True" } else { "False" },
    first: 0,
    no_number: "None",
    quote,
};

/// Returns the name of a module for a model.
pub(super) fn library(model: &str) -> String {
    let name = legal(model, Rules { snake: true, ..RULES });
    match MODULES.split_whitespace().any(|module| module == name) {
        true => format!("{name}_model"),
        false => name,
    }
}

/// All files.
pub(super) fn package(subject: &Subject<'_>) -> Package {
    let plain = Python {
        module: "np",
        names: None,
    };
    let book = Book::new(subject, &plain.naming());
    let places = Places::new(&book);
    let language = Python {
        names: Some(&places),
        ..plain
    };
    let facts = facts(subject, NOTATION);
    let functions = Writer::new(subject, &language, &plain, (&book, &places))
        .write(facts.jacobian)
        .0;
    let calls = facts
        .point
        .replace(", u", ", inputs(t, p)")
        .replace(", du", ", input_rates(t, p)");
    let library = library(&subject.system.model);
    let module = Module {
        library: library.clone(),
        states_list: name_list(&subject.states, quote),
        outputs_list: name_list(&subject.outputs, quote),
        parameter_fields: fields(subject, &book).trim_end().to_string(),
        derived_lines: derived_lines(
            (subject, &book),
            &language,
            (&|place| format!("        if np.isnan({place}):\n"), ""),
            (12, ""),
        )
        .trim_end()
        .to_string(),
        flat: functions.contains("p._entries()"),
        sparse: functions.contains("csc_array("),
        unknowns: subject.unknowns(),
        corner_times: match (facts.instants, facts.switches) {
            (true, true) => "[*instants(p), *switch_times(p, start, stop)]",
            (false, true) => "switch_times(p, start, stop)",
            _ => "instants(p)",
        },
        stop_word: stop_word(&facts),
        arrays: subject.parameters.iter().any(|parameter| !parameter.shape.is_empty()),
        clamped: match facts.loops {
            true => "*point(min(t, latest), x)".to_string(),
            false => calls.replace("t,", "min(t, latest),"),
        },
        here: if facts.loops { "*point(t, x)".to_string() } else { calls },
        pieces: facts.timed || facts.conditions || facts.moves,
        method: if facts.stiff { "Radau" } else { "DOP853" },
        column_states: column_places(subject, 0),
        functions: functions.trim_end().to_string(),
        facts,
    };
    let names: Vec<String> = subject
        .parameters
        .iter()
        .zip(&book.members)
        .map(|entry| entry.1.clone())
        .collect();
    let readme = Readme {
        tables: readme_tables(subject, &names),
        library,
        model: subject.system.model.to_string(),
        origin: subject.origin.sentence(),
        states: subject.states.len(),
        stop_argument: if module.facts.has_stop { "" } else { "stop=10.0" },
        stop_word: stop_word(&module.facts),
    };
    let mut package = Package::default();
    package.add(MODULE.path(&module), MODULE.text(&module));
    package.add(README.path(&readme), README.text(&readme));
    package
}

fn stop_word(facts: &Facts) -> &'static str {
    if facts.has_stop { "" } else { "--stop 10 " }
}

/// The fields of the class of parameters.
fn fields(subject: &Subject<'_>, book: &Book) -> String {
    let mut fields = String::new();
    for (parameter, member) in subject.parameters.iter().zip(&book.members) {
        let remark = parameter_words("#", parameter, member, quote);
        let _ = writeln!(fields, "    {member}: {}{remark}", default(parameter));
    }
    fields
}

/// The type and the default of a parameter.
fn default(parameter: &Parameter) -> String {
    let numbers = super::planned::entry_literals(parameter, literal, "np.nan");
    let array = match parameter.shape.as_slice() {
        [] => return format!("float = {}", numbers[0]),
        [_, columns] => {
            let rows: Vec<String> = numbers
                .chunks((*columns).max(1))
                .map(|row| format!("[{}]", row.join(", ")))
                .collect();
            wrapped(&rows)
        }
        _ => wrapped(&numbers),
    };
    format!("np.ndarray = field(default_factory=lambda: np.array([{array}]))")
}
