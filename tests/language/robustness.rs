//! Hostile and accidental texts: the compiler answers any text with a diagnostic, and quickly.
//!
//! The tests run the built program with a limit on its memory where the system has one, and kill it after a time that
//! only an endless computation reaches. How quick it is beyond that is read from what each run prints:
//!
//! ```sh
//! cargo test --release --test all robustness:: -- --nocapture --test-threads=1 2>&1 | grep '^measured' | sort -k2 -n
//! ```

#![cfg(unix)]

use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// The time after which an endless computation is killed.
const PATIENCE: Duration = Duration::from_secs(120);
/// The address space of the program, in KiB: 256 MiB of it are its stack, which remains mostly unused.
const MEMORY: u32 = 1_500_000;

/// The program's response: its exit code, and the codes of its diagnostics.
struct Answer {
    exit: Option<i32>,
    said: String,
    codes: Vec<String>,
}

/// Runs `lgm check` on a text.
fn check(text: impl AsRef<[u8]>) -> Answer {
    run(text, &["check"])
}

// `wait4` waits for it and reports its resource usage.
#[allow(clippy::zombie_processes)]
fn run(text: impl AsRef<[u8]>, arguments: &[&str]) -> Answer {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("model.lgm");
    std::fs::File::create(&file).unwrap().write_all(text.as_ref()).unwrap();
    let mut program = Command::new("sh")
        .current_dir(folder.path())
        .arg("-c")
        .arg(format!("ulimit -v {MEMORY} 2>/dev/null; exec \"$0\" \"$@\""))
        .arg(env!("CARGO_BIN_EXE_lgm"))
        .args(arguments)
        .arg("model.lgm")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(std::fs::File::create(folder.path().join("said")).unwrap())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    let (status, usage) = loop {
        if let Some(ended) = ended(&program) {
            break ended;
        }
        if begun.elapsed() > PATIENCE {
            program.kill().unwrap();
            program.wait().unwrap();
            panic!("no answer after {PATIENCE:?}");
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    measured(&usage, text.as_ref());
    let said = std::fs::read(folder.path().join("said")).unwrap();
    assert!(said.len() < 400_000, "{} bytes are more than anybody reads", said.len());
    let said = String::from_utf8(said).unwrap();
    let codes = said
        .lines()
        .filter_map(|line| line.strip_prefix('[')?.get(..7).map(str::to_string));
    Answer {
        exit: status.code(),
        codes: codes.collect(),
        said,
    }
}

/// The exit status of a child and its resource usage, once it has ended.
fn ended(child: &std::process::Child) -> Option<(ExitStatus, libc::rusage)> {
    let (mut status, mut usage) = (0, std::mem::MaybeUninit::<libc::rusage>::zeroed());
    // SAFETY: both pointers are valid for the call, and zeroes are a valid rusage. Only this call waits for the child.
    unsafe {
        let waited = libc::wait4(
            child.id() as libc::pid_t,
            &mut status,
            libc::WNOHANG,
            usage.as_mut_ptr(),
        );
        assert!(waited >= 0, "{}", std::io::Error::last_os_error());
        (waited > 0).then(|| (ExitStatus::from_raw(status), usage.assume_init()))
    }
}

/// Prints seconds of processor time, the peak of resident memory, and the start of the text.
fn measured(usage: &libc::rusage, text: &[u8]) {
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 * 1e-6;
    // Linux counts in units of 1024 bytes, macOS in bytes.
    let megabytes = usage.ru_maxrss as f64 / if cfg!(target_os = "macos") { 1e6 } else { 1e6 / 1024.0 };
    let time = seconds(usage.ru_utime) + seconds(usage.ru_stime);
    let shown = String::from_utf8_lossy(&text[text.len().min(90)..text.len().min(150)]);
    println!("measured {time:.2} s {megabytes:.0} MB {shown:?}");
}

/// The text is rejected, and the first diagnostic has this code.
#[track_caller]
fn refused(code: &str, text: impl AsRef<[u8]>) {
    let answer = check(text);
    let first = answer.codes.first().map(String::as_str);
    assert_eq!((answer.exit, first), (Some(1), Some(code)), "{}", head(&answer.said));
}

#[track_caller]
fn accepted(text: impl AsRef<[u8]>) {
    let answer = check(text);
    assert_eq!(answer.exit, Some(0), "{}", head(&answer.said));
}

fn head(said: &str) -> String {
    said.chars().take(2000).collect()
}

/// A valid model except for these statements.
fn model(statements: &str) -> String {
    format!(
        "model M {{ node a : electrical; r : Resistor(1) a -> gnd; s : CurrentSource(1) gnd -> a; {statements} }}\n"
    )
}

const MANY: usize = 100_000;

#[test]
fn long_tokens_that_are_not_ascii_use_no_stack() {
    let long = "é".repeat(2_000_000);
    for text in [
        format!("// {long}\nmodel M {{}}\n"),
        format!("/// {long}\nmodel M {{}}\n"),
        format!("import \"{long}.lgm\";\n"),
        format!("/* {long} */ model M {{}}\n"),
        format!("import \"{long}\n"),
    ] {
        let lexed = lgm_syntax::token::lex(lgm_source::SourceId(0), &text);
        assert!(lexed.tokens.len() < 8);
    }
}

#[test]
fn deep_nesting_is_refused_whatever_is_nested() {
    let around = |open: &str, middle: &str, close: &str| {
        model(&format!(
            "signal p = {}{middle}{};",
            open.repeat(MANY),
            close.repeat(MANY)
        ))
    };
    refused("LGM0010", around("(", "1", ")"));
    refused("LGM0010", around("[", "1", "]"));
    refused("LGM0010", around("-", "1", ""));
    refused("LGM0010", around("not ", "1", ""));
    refused("LGM0010", around("sin(", "1", ")"));
    refused("LGM0010", around("(if 1 > 0 then ", "1", " else 2)"));
    refused("LGM0010", around("sum(i in 1:2, ", "1", ")"));
    refused(
        "LGM0010",
        model(&format!("{}{}", "for i in 1:1 { ".repeat(MANY), "}".repeat(MANY))),
    );
    refused(
        "LGM0010",
        model(&format!("{}{}", "if 1 > 0 { ".repeat(MANY), "}".repeat(MANY))),
    );
    refused("LGM0010", model(&format!("node v{} : electrical;", "[2]".repeat(MANY))));
    refused(
        "LGM0010",
        model(&format!("param p = 1 [{}];", vec!["m"; MANY].join("."))),
    );
    refused("LGM0010", "[({".repeat(MANY));
    // Unclosed brackets, and unopened ones.
    refused("LGM0010", model(&format!("param p = {};", "(".repeat(MANY))));
    let answer = check(model(&format!("param p = 1{};", ")".repeat(MANY))));
    assert_eq!(answer.exit, Some(1));
}

#[test]
fn long_chains_are_no_nesting() {
    accepted(model(&format!(
        "signal p = {}2;",
        "if time > 1 then 1 else ".repeat(20_000)
    )));
    accepted(model(&format!("if 0 > 1 {{ }}{}", " else if 0 > 1 { }".repeat(20_000))));
    let numbers: Vec<String> = (0..250_000).map(|i| i.to_string()).collect();
    accepted(model(&format!("param p = {};", numbers.join(" + "))));
    accepted(model(&format!("param p = {};", numbers.join(" - "))));
    accepted(model(&format!("signal p = {};", vec!["time"; MANY].join(" + "))));
    accepted(model(&format!("param p = {};", vec!["1.25"; MANY].join("/"))).replace("1.25/1.25", "1*1"));
    accepted(model(&format!(
        "signal p = if {} then 1 else 2;",
        vec!["time > 0"; 20_000].join(" and ")
    )));
}

#[test]
fn towers_of_powers_and_numbers_out_of_range() {
    refused("LGM0406", model("param p = 2^3^4^5^6^7;"));
    refused("LGM0406", model(&format!("param p = {};", vec!["2"; MANY].join("^"))));
    refused("LGM0406", model("param p = 2^1000000000;"));
    refused("LGM0406", model("const p = 2^1000000000; node v[p] : electrical;"));
    refused("LGM0406", model("param p = 1.23456789^987654321;"));
    refused("LGM0406", model("param p = exp(exp(exp(100)));"));
    refused("LGM0403", model("param p = 1e999999999;"));
    refused("LGM0403", model("param p = 1e99999999999999999999999;"));
    refused("LGM0403", model("param p = 1e-999999999;"));
    refused("LGM0403", model(&format!("param p = {};", "9".repeat(1_000_000))));
    refused(
        "LGM0406",
        model(&format!("param p = {};", vec!["1e399"; 2000].join("*"))),
    );
    refused("LGM0025", model("param p = 1 [m^99999999999];"));
    // Each parameter is the square of the previous one.
    let squares: String = (0..100).map(|i| format!("param s{} = s{i}*s{i};", i + 1)).collect();
    refused("LGM0406", model(&format!("param s0 = 1.5; {squares}")));
    let squares = squares.replace("param", "const");
    refused(
        "LGM0406",
        model(&format!("const s0 = 1.5; {squares} q : Resistor(s99) a -> gnd;")),
    );
    // Exact fractions with growing denominators eventually become doubles.
    accepted(model("param p = sum(i in 1:100000, 1/i);"));
    accepted(model(&format!(
        "param p = {};",
        (1..3000).map(|i| format!("1.0{i}")).collect::<Vec<_>>().join("/")
    )));
}

#[test]
fn huge_arrays_and_loops_are_refused_before_they_are_made() {
    for statements in [
        "node v[1000000000] : electrical;",
        "node v[1000000000][1000000000] : electrical;",
        "node v[9223372036854775807][9223372036854775807] : electrical;",
        "for i in 1:1000000000 { q[i] : Resistor(1) a -> gnd; }",
        "for i in 1:1000000000 { if i < 0 { q[i] : Resistor(1) a -> gnd; } }",
        "for i in 1:1000000000 { signal q[i] = across(a); }",
        "for i in 1:1000000000 { output q[i] = across(a); }",
        "for i in (0 - 9223372036854775807):9223372036854775807 { q[i] : Resistor(1) a -> gnd; }",
        "for i in 1:100000 { for j in 1:100000 { q[i, j] : Resistor(1) a -> gnd; } }",
        "for i in 1:100000 { for j in 1:100000 { if i > j + 100000 { q[i, j] : Resistor(1) a -> gnd; } } }",
        "for i in 1:10000 { for j in 1:9999 { if i > 20000 or j == 0 { q[i, j] : Resistor(1) a -> gnd; } } }",
        "for i in 1:10000 { for j in 1:9999 { for k in 2:1 { q[i, j] : Resistor(1) a -> gnd; } } }",
    ] {
        refused("LGM0129", model(statements));
    }
    refused("LGM0401", model("node v[1000000000] vector : electrical;"));
    accepted(model("for i in 1:1000000000 { }"));
    refused(
        "LGM0401",
        model("node v[3] : electrical; q : Resistor(1) v[99999999999999999999999999] -> gnd;"),
    );
    refused(
        "LGM0401",
        model("node v[3] : electrical; q : Resistor(1) v[9223372036854775807 + 1] -> gnd;"),
    );
    refused(
        "LGM0121",
        model("node v[3] : electrical; q : Resistor(1) v[9223372036854775807] -> gnd;"),
    );
}

#[test]
fn huge_sums_and_matrices_are_refused() {
    refused("LGM0125", model("param p = sum(i in 1:1000000000, i);"));
    refused("LGM0125", model("const p = sum(i in 1:9999999, i);"));
    refused(
        "LGM0125",
        model("param p = sum(i in 1:100000, sum(j in 1:100000, i*j));"),
    );
    refused("LGM0401", model("param p = identity(1000000);"));
    accepted(model("param K = identity(300)*identity(300)*identity(300);"));
    let matrix = |size: usize| {
        let row = |i: usize| (0..size).map(|j| (i * j % 7).to_string()).collect::<Vec<_>>().join(",");
        let rows: Vec<String> = (0..size).map(|i| format!("[{}]", row(i))).collect();
        format!("[{}]", rows.join(","))
    };
    refused("LGM0125", model(&format!("param K = {}; param L = K*K;", matrix(300))));
    refused("LGM0207", model(&format!("param K = {};", matrix(1000))));
    refused(
        "LGM0207",
        model(&format!("param K = [{}];", vec!["1"; 1_000_000].join(","))),
    );
    let ragged: Vec<&str> = (0..MANY).map(|i| ["[1]", "[1,1]"][i % 2]).collect();
    refused("LGM0207", model(&format!("param K = [{}];", ragged.join(","))));
    refused(
        "LGM0125",
        model(&format!(
            "param v = [{}]; param K = v*transpose(v);",
            vec!["1"; 2000].join(",")
        )),
    );
    refused(
        "LGM0202",
        model(&format!("param K = diag([{}]);", vec!["1"; MANY].join(","))),
    );
    refused(
        "LGM0123",
        model(&format!("node v[{}] : electrical;", vec!["2"; MANY].join(","))),
    );
}

#[test]
fn components_that_hold_themselves() {
    let root = "model M { node x : electrical; a : A(1) (p = x); }\n";
    refused(
        "LGM0130",
        format!("component A(const n) {{ port p : electrical; a : A(n + 1) (p = p); }}\n{root}"),
    );
    refused(
        "LGM0130",
        format!("component A(const n) {{ port p : electrical; if n > 0 {{ a : A(n + 1) (p = p); }} }}\n{root}"),
    );
    refused(
        "LGM0130",
        format!(
            "component A(const n) {{ port p : electrical; if n > 0 {{ a : A(n + 1) (p = p); b : A(n + 1) (p = p); }} }}\n{root}"
        ),
    );
    // Sixty levels that double each time, with and without an end of the recursion.
    let root = "model M { node x : electrical; a : A(60) (p = x); }\n";
    refused(
        "LGM0129",
        format!(
            "component A(const n) {{ port p : electrical; if n > 0 {{ a : A(n - 1) (p = p); b : A(n - 1) (p = p); }} \
             else {{ r : Resistor(1) p -> gnd; }} }}\n{root}"
        ),
    );
    let level = |i: usize| {
        format!(
            "component A{i} {{ port p : electrical; a : A{0} (p = p); b : A{0} (p = p); }}\n",
            i + 1
        )
    };
    let levels: String = (0..60).map(level).collect();
    refused(
        "LGM0129",
        format!(
            "{levels}component A60 {{ port p : electrical; r : Resistor(1) p -> gnd; }}\n\
             model M {{ node x : electrical; a : A0 (p = x); }}\n"
        ),
    );
    let level = |i: usize| format!("component A{i} {{ port p : electrical; a : A{} (p = p); }}\n", i + 1);
    let levels: String = (0..5000).map(level).collect();
    refused(
        "LGM0130",
        format!(
            "{levels}component A5000 {{ port p : electrical; r : Resistor(1) p -> gnd; }}\n\
             model M {{ node x : electrical; a : A0 (p = x); }}\n"
        ),
    );
    // A tree whose recursion ends is an ordinary model.
    accepted(
        "component A(const n) { port p : electrical; if n > 0 { a : A(n - 1) (p = p); b : A(n - 1) (p = p); } \
         else { r : Resistor(1) p -> gnd; } }\nmodel M { node x : electrical; a : A(9) (p = x); c : Capacitor(1) x -> gnd; }\n",
    );
}

#[test]
fn very_many_faults_are_counted_rather_than_shown() {
    for (code, text) in [
        ("LGM0046", format!("model M {{\n{}}}\n", "param = 2;\n".repeat(MANY))),
        (
            "LGM0149",
            model(
                &(0..MANY)
                    .map(|i| format!("q{i} : Resistr(1) a -> gnd; "))
                    .collect::<String>(),
            ),
        ),
        (
            "LGM0110",
            model(&(0..MANY).map(|i| format!("param p{i} = q{i}; ")).collect::<String>()),
        ),
        (
            "LGM0110",
            model(&format!(
                "param p = {};",
                (0..170_000).map(|i| format!("x{i}")).collect::<Vec<_>>().join(" + ")
            )),
        ),
        (
            "LGM0110",
            model(&format!("param p = {};", vec!["xyz"; 170_000].join(" + "))),
        ),
        ("LGM0107", model(&"param a = 1; ".repeat(MANY))),
        ("LGM0101", "import \"missing.lgm\";\n".repeat(20_000)),
        ("LGM0005", "$ ".repeat(500_000)),
        (
            "LGM0112",
            model(
                &(0..MANY)
                    .map(|i| format!("signal s{i} = s{} + 1; ", i + 1))
                    .collect::<String>(),
            )
            .replace("s100000", "1"),
        ),
    ] {
        let answer = check(&text);
        assert_eq!(answer.exit, Some(1), "{code}");
        assert!(
            answer.codes.iter().any(|found| found == code),
            "{code}: {}",
            head(&answer.said)
        );
        assert!(
            answer.codes.len() <= 101,
            "{code}: {} diagnostics are shown",
            answer.codes.len()
        );
        assert!(
            answer.said.ends_with(" more\n") || answer.codes.len() < 100,
            "{code}: {}",
            answer.codes.len()
        );
    }
}

#[test]
fn a_fault_in_a_million_instances_is_reported_once_and_ends_the_work() {
    let part = "component Part(R) { port p : electrical; r : Resistor(R) p -> gnd; }\n";
    for (code, statement) in [
        ("LGM0201", "q[i] : Resistor(1 [kg]) a -> gnd;"),
        ("LGM0121", "q[i] : Resistor(1) v[i] -> gnd;"),
        ("LGM0132", "q[i] : Resistor(1, 2) a -> gnd;"),
        ("LGM0302", "q[i] : Part(1);"),
        ("LGM0201", "q[i] : Part(1 [kg]) (p = a);"),
        ("LGM0111", "output y[i] = across(nothing[i]);"),
    ] {
        let text = model(&format!("node v[2] : electrical; for i in 1:1000000 {{ {statement} }}"));
        let answer = check(format!("{part}{text}"));
        assert_eq!((answer.exit, answer.codes[0].as_str()), (Some(1), code));
        assert_eq!(
            answer.codes.iter().filter(|found| *found == code).count(),
            1,
            "{}",
            head(&answer.said)
        );
        let ends = "this problem occurred 100000 times; the rest of the model was not checked";
        assert!(
            answer.said.contains(ends) || code == "LGM0111",
            "{code}: {}",
            head(&answer.said)
        );
    }
}

#[test]
fn one_line_of_a_million_letters() {
    refused("LGM0005", "$".repeat(1_000_000));
    refused("LGM0005", vec![0; 1_000_000]);
    refused("LGM0044", "word ".repeat(200_000));
    accepted(model(&format!("param {} = 1;", "a".repeat(1_000_000))));
    refused("LGM0110", model(&format!("param b = {};", "a".repeat(1_000_000))));
    refused("LGM0101", format!("import \"{}\";\n", "a".repeat(1_000_000)));
    refused("LGM0001", format!("/* {}", "a".repeat(1_000_000)));
    refused("LGM0001", "/* ".repeat(300_000));
    refused("LGM0002", format!("import \"{}\n", "a".repeat(1_000_000)));
    // An error at the end of a long line is shown with its context.
    let answer = check(format!(
        "/* {} */ model M {{ param limit = 1; param b = limi; }}",
        "a".repeat(1_000_000)
    ));
    assert!(
        answer
            .said
            .contains("..*/ model M { param limit = 1; param b = limi; }"),
        "{}",
        head(&answer.said)
    );
    assert!(
        answer.said.contains("did you mean `limit` or `time`?"),
        "{}",
        head(&answer.said)
    );
    assert_eq!(answer.exit, Some(1));
    assert!(answer.said.len() < 10_000, "{}", answer.said.len());
}

#[test]
fn what_is_no_text_and_what_only_looks_like_one() {
    refused("LGM0007", b"model M { \xff\xfe }\n");
    refused("LGM0005", b"model M { \0 }\n");
    refused("LGM0005", "model M {\u{7} }\n");
    // Letters of other alphabets that look like ASCII, a zero-width letter, and one that reverses the direction of
    // text.
    refused("LGM0006", "model \u{41c} { param a = 1; }\n");
    refused("LGM0006", "model M { param \u{430} = 1; }\n");
    refused("LGM0006", "model M { param \u{ff42} = 2; }\n");
    refused("LGM0005", "model M { param x\u{200b} = 1; }\n");
    refused("LGM0005", "model M { param \u{202e}x = 2; }\n");
    accepted("");
    accepted("\u{feff}model M { param a = 1; }\n");
}

#[test]
fn other_commands_give_the_same_answers() {
    let text = model("param p = 2^3^4^5^6^7;");
    for arguments in [
        &["equations"][..],
        &["response", "--omega", "1"],
        &["check", "--verify"],
        &["check", "--set", "r=2"],
    ] {
        let answer = run(&text, arguments);
        let expected = if arguments.contains(&"--set") { 2 } else { 1 };
        assert_eq!(answer.exit, Some(expected), "{arguments:?}: {}", head(&answer.said));
    }
    let answer = run("(".repeat(MANY), &["fmt"]);
    assert_eq!((answer.exit, answer.codes[0].as_str()), (Some(1), "LGM0010"));
    let answer = run(
        model("param p = 1;"),
        &[
            "check",
            "--set",
            &format!("p={}1{}", "(".repeat(30_000), ")".repeat(30_000)),
        ],
    );
    assert_eq!(answer.exit, Some(2), "{}", head(&answer.said));
    let answer = run(model("param p = 1;"), &["check", "--set", "p=1e999999999"]);
    assert_eq!(answer.exit, Some(1), "{}", head(&answer.said));
}
