//! Files in one archive; equal files produce identical bytes.

use super::super::CodeFile;
use std::io::{Cursor, Write};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

/// Creates a zip archive with the files in the given order. All entries have the same fixed time and the same permissions; the
/// comment is at the end of the archive.
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
