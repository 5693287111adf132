//! Builds a static site from README.md and every page that its links reach: `site FOLDER`, run in the root of the repository.
//!
//! Pages of Markdown become HTML, models are highlighted with the grammar that editors use, and other linked files are copied. A link
//! to a missing file, heading or model ends the build with exit code 1.

mod highlight;
mod page;

use page::{Page, anchors, html, links, navigation};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Component, Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs, io};

/// The folder in which `web/build` writes the page with the compiler. If it exists, it becomes the folder `page` of the site.
const COMPILER: &str = "web/dist";

fn main() -> ExitCode {
    let Some(folder) = env::args_os().nth(1).map(PathBuf::from) else {
        eprintln!("usage: site FOLDER");
        return ExitCode::from(2);
    };
    match build(Path::new("."), &folder) {
        Ok((count, faults)) => {
            for fault in &faults {
                eprintln!("{fault}");
            }
            println!("{count} files in {}", folder.display());
            ExitCode::from(u8::from(!faults.is_empty()))
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Writes all that links of README.md reach; the number of files, and the broken links.
fn build(root: &Path, folder: &Path) -> io::Result<(usize, Vec<String>)> {
    let (mut open, mut found) = (VecDeque::from([PathBuf::from("README.md")]), BTreeMap::new());
    let mut faults = Vec::new();
    let mut asked: Vec<(PathBuf, PathBuf, String)> = Vec::new();
    while let Some(path) = open.pop_front() {
        if found.contains_key(&path) {
            continue;
        }
        let page = Page::read(root, &path)?;
        for link in page.as_ref().map(|page| links(&page.text)).unwrap_or_default() {
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = if file.is_empty() {
                path.clone()
            } else {
                resolved(root, &path, file)
            };
            if !root.join(&target).exists() {
                faults.push(format!("{}: {link} does not exist", path.display()));
                continue;
            }
            if !anchor.is_empty() {
                asked.push((path.clone(), target.clone(), anchor.to_string()));
            }
            open.push_back(target);
        }
        found.insert(path, page);
    }
    let known: BTreeMap<&PathBuf, BTreeSet<String>> = found
        .iter()
        .filter_map(|(path, page)| Some((path, anchors(&page.as_ref()?.text))))
        .collect();
    for (from, target, anchor) in &asked {
        if !known.get(target).is_some_and(|anchors| anchors.contains(anchor)) {
            faults.push(format!(
                "{}: {} has no heading #{anchor}",
                from.display(),
                target.display()
            ));
        }
    }
    let index = Path::new("docs/README.md");
    let navigation = found
        .get(index)
        .and_then(Option::as_ref)
        .map(|page| navigation(&page.text));
    let mut navigation = navigation.unwrap_or_default();
    // Entries have the titles of their pages.
    for (words, link) in navigation.iter_mut().flat_map(|section| &mut section.1) {
        if let Some(Some(page)) = found.get(&resolved(root, index, link)) {
            *words = page.title.clone();
        }
    }
    for (path, page) in &found {
        let target = folder.join(out_of(root, path));
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent)?;
        }
        match page {
            Some(page) => fs::write(&target, html(root, path, page, &navigation, &mut faults))?,
            None => drop(fs::copy(root.join(path), &target)?),
        }
    }
    fs::write(folder.join("style.css"), include_str!("style.css"))?;
    let mut count = found.len() + 1;
    if root.join(COMPILER).join("index.html").exists() {
        fs::create_dir_all(folder.join("page"))?;
        for entry in fs::read_dir(root.join(COMPILER))? {
            let entry = entry?;
            fs::copy(entry.path(), folder.join("page").join(entry.file_name()))?;
            count += 1;
        }
    }
    Ok((count, faults))
}

/// The file or folder that a link on a page leads to, relative to the root. A folder with a README is that page.
fn resolved(root: &Path, page: &Path, link: &str) -> PathBuf {
    let folder = if root.join(page).is_dir() {
        page
    } else {
        page.parent().unwrap_or(Path::new(""))
    };
    let mut path = PathBuf::new();
    for part in folder.join(link).components() {
        match part {
            Component::ParentDir => drop(path.pop()),
            Component::Normal(name) => path.push(name),
            _ => {}
        }
    }
    let readme = path.join("README.md");
    if root.join(&readme).is_file() { readme } else { path }
}

/// The file of the site that a file of the repository becomes.
fn out_of(root: &Path, path: &Path) -> PathBuf {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let ending = path.extension().and_then(|ending| ending.to_str());
    match (name, ending) {
        _ if root.join(path).is_dir() => path.join("index.html"),
        ("README.md", _) => path.with_file_name("index.html"),
        (_, Some("md")) => path.with_extension("html"),
        (_, Some("lgm")) => path.with_extension("lgm.html"),
        _ => path.to_path_buf(),
    }
}
