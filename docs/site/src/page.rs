//! One page: its Markdown, the links and headings in it, and its HTML.

use crate::highlight::highlighted;
use crate::{out_of, resolved};
use pulldown_cmark::{CodeBlockKind, CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{fs, io};

/// A page in Markdown.
pub struct Page {
    /// The first heading.
    pub title: String,
    /// The whole text.
    pub text: String,
}

/// Headings of the index with the links below each: a name, and a path relative to docs/README.md.
pub type Navigation = Vec<(String, Vec<(String, String)>)>;

impl Page {
    /// The page of a file: Markdown itself, a model as a block of code, a folder as a list. None for a file that is copied.
    pub fn read(root: &Path, path: &Path) -> io::Result<Option<Page>> {
        let place = root.join(path);
        let name = path
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default();
        if place.is_dir() {
            let mut names: Vec<String> = fs::read_dir(&place)?
                .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
                .filter(|name| name.ends_with(".md") || name.ends_with(".lgm"))
                .collect();
            names.sort();
            let mut text = format!("# {name}\n\n");
            for entry in names {
                let title = heading(&fs::read_to_string(place.join(&entry))?);
                text += &format!("- [{}]({entry})\n", title.unwrap_or_else(|| entry.clone()));
            }
            return Ok(Some(Page { title: name, text }));
        }
        match path.extension().and_then(|ending| ending.to_str()) {
            Some("md") => {
                let text = fs::read_to_string(place)?;
                Ok(Some(Page {
                    title: heading(&text).unwrap_or(name),
                    text,
                }))
            }
            Some("lgm") => {
                let text = format!("# {name}\n\n```lgm\n{}```\n", fs::read_to_string(place)?);
                Ok(Some(Page { title: name, text }))
            }
            _ => Ok(None),
        }
    }
}

fn heading(text: &str) -> Option<String> {
    let line = text.lines().find_map(|line| line.strip_prefix("# "))?;
    Some(line.replace('`', ""))
}

fn parser(text: &str) -> Parser<'_> {
    Parser::new_ext(
        text,
        Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES | Options::ENABLE_STRIKETHROUGH,
    )
}

fn is_outside(link: &str) -> bool {
    link.contains("://") || link.starts_with("mailto:")
}

/// Links and pictures that lead to files or headings.
pub fn links(text: &str) -> Vec<String> {
    let targets = parser(text).filter_map(|event| match event {
        Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => Some(dest_url.to_string()),
        _ => None,
    });
    targets.filter(|link| !is_outside(link)).collect()
}

/// Identifiers of headings, as GitHub forms them: lower case, dashes, no punctuation; repeated ones are numbered.
fn identifiers(text: &str) -> Vec<String> {
    let (mut found, mut count) = (Vec::new(), BTreeMap::<String, usize>::new());
    let mut words: Option<String> = None;
    for event in parser(text) {
        match event {
            Event::Start(Tag::Heading { .. }) => words = Some(String::new()),
            Event::Text(part) | Event::Code(part) => words.iter_mut().for_each(|words| words.push_str(&part)),
            Event::End(TagEnd::Heading(_)) => {
                let slug: String = (words.take().unwrap_or_default().to_lowercase().chars())
                    .filter(|letter| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_'))
                    .map(|letter| if letter == ' ' { '-' } else { letter })
                    .collect();
                let before = count.entry(slug.clone()).or_default();
                found.push(if *before == 0 { slug } else { format!("{slug}-{before}") });
                *before += 1;
            }
            _ => {}
        }
    }
    found
}

/// The places of a page that a link can lead to.
pub fn anchors(text: &str) -> BTreeSet<String> {
    identifiers(text).into_iter().collect()
}

/// The second headings of the index with the first link of each row below them.
pub fn navigation(text: &str) -> Navigation {
    let mut found: Navigation = Vec::new();
    let (mut heading, mut link, mut words) = (false, None::<String>, String::new());
    for event in parser(text) {
        match event {
            Event::Start(Tag::Heading {
                level: HeadingLevel::H2,
                ..
            }) => (heading, words) = (true, String::new()),
            Event::End(TagEnd::Heading(_)) if std::mem::take(&mut heading) => {
                found.push((std::mem::take(&mut words), Vec::new()))
            }
            Event::Start(Tag::Link { dest_url, .. }) => (link, words) = (Some(dest_url.to_string()), String::new()),
            Event::End(TagEnd::Link) => {
                if let (Some(link), Some(section)) = (link.take().filter(|link| !is_outside(link)), found.last_mut()) {
                    section.1.push((std::mem::take(&mut words), link));
                }
            }
            Event::Text(part) | Event::Code(part) => words.push_str(&part),
            _ => {}
        }
    }
    found
}

/// A link on a page of the site that leads to what a link in the repository leads to.
fn rewritten(root: &Path, page: &Path, link: &str) -> String {
    if is_outside(link) || link.starts_with('#') {
        return link.to_string();
    }
    let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
    let target = out_of(root, &resolved(root, page, file));
    let up = "../".repeat(out_of(root, page).components().count() - 1);
    let anchor = if anchor.is_empty() {
        String::new()
    } else {
        format!("#{anchor}")
    };
    format!("{up}{}{anchor}", target.display())
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// A text in base 64 for the fragment of an address.
fn base64url(text: &str) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut out = String::new();
    for three in text.as_bytes().chunks(3) {
        let bits = three
            .iter()
            .enumerate()
            .map(|(at, byte)| u32::from(*byte) << (16 - 8 * at));
        let bits: u32 = bits.sum();
        out.extend((0..=three.len()).map(|at| char::from(LETTERS[(bits >> (18 - 6 * at)) as usize & 63])));
    }
    out
}

/// A block of code: models in colours, commands of a terminal in bold. `compiler` is the address of the compiler's page.
fn code(language: &str, text: &str, faults: &mut Vec<String>, path: &Path, compiler: Option<&str>) -> String {
    let inner = match language.split(|letter: char| !letter.is_alphanumeric()).next() {
        Some("lgm") => highlighted(text).unwrap_or_else(|error| {
            faults.push(format!("{}: a model cannot be highlighted: {error}", path.display()));
            escaped(text)
        }),
        Some("console") => text
            .lines()
            .fold(String::new(), |html, line| match line.starts_with("$ ") {
                true => format!("{html}<b>{}</b>\n", escaped(line)),
                false => format!("{html}{}\n", escaped(line)),
            }),
        _ => escaped(text),
    };
    let is_model = language.starts_with("lgm") && text.lines().any(|line| line.starts_with("model "));
    let open = compiler.filter(|_| is_model).map_or(String::new(), |compiler| {
        format!(
            "<a class=\"open\" href=\"{compiler}#text={}\">open in the page</a>\n",
            base64url(text)
        )
    });
    format!("<pre><code>{inner}</code></pre>\n{open}")
}

/// The page of the site.
pub fn html(root: &Path, path: &Path, page: &Page, navigation: &Navigation, faults: &mut Vec<String>) -> String {
    // The page with the compiler, if it was built.
    let up = "../".repeat(out_of(root, path).components().count() - 1);
    let is_built = root.join(crate::COMPILER).join("index.html").exists();
    let compiler = is_built.then(|| format!("{up}page/index.html"));
    let mut identifiers = identifiers(&page.text).into_iter();
    let mut block: Option<(String, String)> = None;
    let mut events = Vec::new();
    for event in parser(&page.text) {
        match (event, &mut block) {
            (Event::Start(Tag::CodeBlock(kind)), _) => {
                let language = match kind {
                    CodeBlockKind::Fenced(language) => language.to_string(),
                    CodeBlockKind::Indented => String::new(),
                };
                block = Some((language, String::new()));
            }
            (Event::Text(part), Some((_, text))) => text.push_str(&part),
            (Event::End(TagEnd::CodeBlock), _) => {
                let (language, text) = block.take().unwrap_or_default();
                events.push(Event::Html(CowStr::from(code(
                    &language,
                    &text,
                    faults,
                    path,
                    compiler.as_deref(),
                ))));
            }
            (
                Event::Start(Tag::Heading {
                    level, classes, attrs, ..
                }),
                _,
            ) => {
                let id = identifiers.next().map(CowStr::from);
                events.push(Event::Start(Tag::Heading {
                    level,
                    id,
                    classes,
                    attrs,
                }));
            }
            (
                Event::Start(Tag::Link {
                    link_type,
                    dest_url,
                    title,
                    id,
                }),
                _,
            ) => {
                let dest_url = CowStr::from(rewritten(root, path, &dest_url));
                events.push(Event::Start(Tag::Link {
                    link_type,
                    dest_url,
                    title,
                    id,
                }));
            }
            (
                Event::Start(Tag::Image {
                    link_type,
                    dest_url,
                    title,
                    id,
                }),
                _,
            ) => {
                let dest_url = CowStr::from(rewritten(root, path, &dest_url));
                events.push(Event::Start(Tag::Image {
                    link_type,
                    dest_url,
                    title,
                    id,
                }));
            }
            (event, _) => events.push(event),
        }
    }
    let mut body = String::new();
    pulldown_cmark::html::push_html(&mut body, events.into_iter());
    let index = PathBuf::from("docs/README.md");
    let mut menu = String::new();
    for (heading, entries) in navigation {
        menu += &format!("<h2>{}</h2>\n", escaped(heading));
        for (name, link) in entries {
            let target = resolved(root, &index, link.split('#').next().unwrap_or(link));
            let current = if target == path { " class=\"current\"" } else { "" };
            let href = rewritten(root, &index, link);
            menu += &format!(
                "<a{current} href=\"{up}{}\">{}</a>\n",
                href.trim_start_matches("../"),
                escaped(name)
            );
        }
    }
    include_str!("page.html")
        .replace("TITLE", &escaped(&page.title))
        .replace("ROOT", &up)
        .replace("MENU", &menu)
        .replace("BODY", &body)
}
