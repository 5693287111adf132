//! Paths as URIs and back.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// What a text of the standard library is called by an editor, before its title.
pub(crate) const LIBRARY: &str = "lgm-library:/";

/// The path of a `file:` URI; none for any other one.
pub(crate) fn to_path(uri: &str) -> Option<PathBuf> {
    let rest = uri.strip_prefix("file://")?;
    let at = rest.find('/')?;
    if !matches!(&rest[..at], "" | "localhost") {
        return None;
    }
    let path = String::from_utf8(decoded(&rest[at..])).ok()?;
    // `/c:/models` is `c:/models` where drives have letters.
    let has_drive = cfg!(windows) && path.as_bytes().get(2) == Some(&b':');
    let path = if has_drive { &path[1..] } else { &path };
    Some(PathBuf::from(path))
}

/// The bytes that `%20` and the like stand for.
fn decoded(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let (mut out, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while let Some(byte) = bytes.get(at) {
        let digits = (*byte == b'%').then(|| text.get(at + 1..at + 3)).flatten();
        let code = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        out.push(code.unwrap_or(*byte));
        at += if code.is_some() { 3 } else { 1 };
    }
    out
}

/// A path as a `file:` URI.
pub(crate) fn of_path(path: &Path) -> String {
    let path = path.to_string_lossy();
    let mut out = "file://".to_string();
    if cfg!(windows) {
        out.push('/');
    }
    for byte in path.bytes() {
        match byte {
            b'\\' if cfg!(windows) => out.push('/'),
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => out.push(byte.into()),
            _ => {
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
    out
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn paths_survive_the_way_there_and_back() {
        for path in ["/a/b.lgm", "/with space/ü %41.lgm", "/a#b?c:d"] {
            let uri = of_path(Path::new(path));
            assert!(uri.is_ascii() && !uri.contains([' ', '#', '?']), "{uri}");
            assert_eq!(to_path(&uri), Some(PathBuf::from(path)));
        }
    }

    #[test]
    fn other_schemes_and_hosts_have_no_path() {
        assert_eq!(to_path("file://localhost/a%2"), Some(PathBuf::from("/a%2")));
        assert_eq!(to_path("untitled:Untitled-1"), None);
        assert_eq!(to_path("file://server/share"), None);
        assert_eq!(to_path("file://"), None);
        assert_eq!(to_path("file:///%ff"), None);
    }
}

/// The path with links resolved; what is not there lies where its nearest folder that is there says.
pub(crate) fn resolve(path: &Path) -> PathBuf {
    let here = Path::new(".");
    let path = if path.as_os_str().is_empty() { here } else { path };
    let there = path.ancestors().find_map(|folder| {
        let folder = if folder.as_os_str().is_empty() { here } else { folder };
        let rest = path.strip_prefix(folder).unwrap_or(path);
        Some(fs::canonicalize(folder).ok()?.join(rest))
    });
    // Joining an empty rest leaves a slash at the end of a file.
    there.unwrap_or_else(|| path.to_path_buf()).components().collect()
}
