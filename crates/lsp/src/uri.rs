//! Paths as URIs and back.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use std::path::{Path, PathBuf};

/// The scheme of the URI of a standard library text.
pub(crate) const LIBRARY: &str = "lgm-library:/";

/// Characters that must be escaped in a URI.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'/')
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~');

/// Returns the path of a `file:` URI; none for any other URI.
pub(crate) fn to_path(uri: &str) -> Option<PathBuf> {
    let rest = uri.strip_prefix("file://")?;
    let at = rest.find('/')?;
    if !matches!(&rest[..at], "" | "localhost") {
        return None;
    }
    let path = percent_decode_str(&rest[at..]).decode_utf8().ok()?;
    // `/c:/models` means `c:/models` on systems with drive letters.
    let has_drive = cfg!(windows) && path.as_bytes().get(2) == Some(&b':');
    let path = if has_drive { &path[1..] } else { &*path };
    Some(PathBuf::from(path))
}

/// Returns a path as a `file:` URI.
pub(crate) fn of_path(path: &Path) -> String {
    let path = path.to_string_lossy();
    let (root, path) = match cfg!(windows) {
        true => ("file:///", path.replace('\\', "/")),
        false => ("file://", path.into_owned()),
    };
    format!("{root}{}", utf8_percent_encode(&path, RESERVED))
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
