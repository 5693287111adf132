//! Files as one archive, the same bytes for the same files.

use super::super::CodeFile;
use std::io::{Cursor, Write};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

/// A zip archive with the files in the order given. No entry has a time of its own, and all have the same rights; the comment
/// stands at the end of the archive.
pub fn archive(files: &[CodeFile], comment: &str) -> Vec<u8> {
    const WHY: &str = "invariant: a vector takes all that is written";
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .last_modified_time(DateTime::default())
        .unix_permissions(0o644);
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    writer.set_comment(comment).expect("invariant: a sentence is short");
    for file in files {
        writer.start_file(file.path.as_str(), options).expect(WHY);
        writer.write_all(&file.contents).expect(WHY);
    }
    writer.finish().expect(WHY).into_inner()
}
