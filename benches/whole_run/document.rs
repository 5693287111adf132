//! Tables written into docs/simulation-speed.md, each between its own marks.

use std::path::Path;

/// Replaces the text between `<!-- NAME -->` and `<!-- end of NAME -->` in the page.
pub fn write(tables: &[(&str, String)]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/simulation-speed.md");
    let written = std::fs::read_to_string(&path).and_then(|mut text| {
        for (name, table) in tables {
            let (begin, end) = (format!("<!-- {name} -->\n"), format!("<!-- end of {name} -->"));
            let place = text.find(&begin).map(|at| at + begin.len());
            match place.and_then(|from| Some((from, from + text[from..].find(&end)?))) {
                Some((from, to)) => text.replace_range(from..to, &format!("\n{}\n\n", table.trim())),
                None => eprintln!("{}: there are no marks of {name}", path.display()),
            }
        }
        std::fs::write(&path, text)
    });
    if let Err(fault) = written {
        eprintln!("{}: {fault}", path.display());
    }
}

/// The machine: the processor, its cores, the C compiler.
pub fn machine() -> String {
    let about = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = about.lines().find_map(|line| line.strip_prefix("model name"));
    let model = model.map_or("an unknown processor", |rest| rest.trim_start_matches([' ', '\t', ':']));
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let compiler = std::process::Command::new("cc").arg("--version").output();
    let compiler = compiler.map_or(String::new(), |output| {
        String::from_utf8_lossy(&output.stdout).into_owned()
    });
    let compiler = compiler.lines().next().unwrap_or("no C compiler");
    format!(
        "Measured on {model}, {cores} cores, {}, {compiler}.",
        std::env::consts::OS
    )
}
