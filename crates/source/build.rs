//! Makes the enum of diagnostic codes from the pages of `docs/codes`, one variant for each page.

use std::fmt::Write;
use std::path::Path;

fn main() {
    let pages = "../../docs/codes";
    println!("cargo:rerun-if-changed={pages}");
    println!("cargo:rerun-if-changed=build.rs");
    if let Err(fault) = generate(Path::new(pages)) {
        eprintln!("the pages of diagnostic codes cannot be read: {fault}");
        std::process::exit(1);
    }
}

fn generate(pages: &Path) -> Result<(), String> {
    let mut codes = Vec::new();
    for entry in std::fs::read_dir(pages).map_err(|fault| format!("{}: {fault}", pages.display()))? {
        let path = entry.map_err(|fault| fault.to_string())?.path();
        let code = path
            .file_stem()
            .and_then(|stem| stem.to_str())
            .unwrap_or_default()
            .to_string();
        let is_code = code.len() == 7 && code.starts_with("LGM") && code[3..].bytes().all(|byte| byte.is_ascii_digit());
        if is_code && path.extension().is_some_and(|ending| ending == "md") {
            let text = std::fs::read_to_string(&path).map_err(|fault| format!("{}: {fault}", path.display()))?;
            let title = text.lines().next().and_then(|line| line.split_once(": "));
            let title = title.ok_or_else(|| format!("{} does not begin with `# {code}: title`", path.display()))?;
            let path = path.canonicalize().map_err(|fault| fault.to_string())?;
            codes.push((code, title.1.to_string(), path));
        }
    }
    codes.sort();
    let mut text = String::from(
        "/// A diagnostic code; each has a page in `docs/codes`, and `lgm explain` shows it.\n\
         #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]\n\
         #[allow(clippy::upper_case_acronyms)]\npub enum Code {\n",
    );
    for (code, title, _) in &codes {
        let title = title.replace('[', "\\[").replace(']', "\\]");
        let _ = writeln!(text, "    /// {title}\n    {code},");
    }
    text.push_str("}\n\n/// Every page, in the order of the codes.\npub const PAGES: &[Page] = &[\n");
    for (code, _, path) in &codes {
        let _ = writeln!(text, "    Page {{ code: Code::{code}, text: include_str!({path:?}) }},");
    }
    text.push_str("];\n\nimpl Code {\n    /// The code as it is written.\n    pub const fn as_str(self) -> &'static str {\n        match self {\n");
    for (code, ..) in &codes {
        let _ = writeln!(text, "            Code::{code} => \"{code}\",");
    }
    text.push_str("        }\n    }\n}\n");
    let folder = std::env::var("OUT_DIR").map_err(|fault| fault.to_string())?;
    std::fs::write(Path::new(&folder).join("codes.rs"), text).map_err(|fault| fault.to_string())
}
