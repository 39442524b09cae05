//! Directories for databases, and small helpers.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use cambium::{Db, ErrorKind, Options, Result};

/// A new directory, removed at the end.
pub(crate) struct TempDir(PathBuf);

impl TempDir {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("cambium-test-{}-{number}", std::process::id()));
        fs::create_dir(&path).expect("a new directory");
        Self(path)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Options that create the database, with small limits.
pub(crate) fn options() -> Options {
    let mut options = Options::new();
    options.set_create_if_missing(true).set_create_missing_column_families(true).set_page_cache_size(4 << 20);
    options.set_write_buffer_size(1 << 20).set_blob_file_size(4 << 20).disable_info_log();
    options
}

/// A new database.
pub(crate) fn new_db() -> (TempDir, Db) {
    new_db_with(&options())
}

pub(crate) fn new_db_with(options: &Options) -> (TempDir, Db) {
    let directory = TempDir::new();
    let db = Db::open(options, directory.path("db")).expect("a new database");
    (directory, db)
}

/// The error of a result whose value is not shown.
pub(crate) fn kind<T>(result: Result<T>) -> Option<ErrorKind> {
    result.err().map(|error| error.kind())
}

pub(crate) fn bytes(text: &str) -> Vec<u8> {
    text.as_bytes().to_vec()
}

/// Entries as text `key=value`.
pub(crate) fn texts<T: AsRef<[u8]>>(entries: impl Iterator<Item = Result<(T, T)>>) -> Vec<String> {
    entries
        .map(|entry| {
            let (key, value) = entry.expect("an entry");
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            format!("{}={}", text(key.as_ref()), text(value.as_ref()))
        })
        .collect()
}

pub(crate) fn files_with_ending(directory: &Path, ending: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).expect("a directory");
    let mut files: Vec<_> = entries
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == ending))
        .collect();
    files.sort();
    files
}

/// Changes a byte of the value that begins with `text`, in a log file of a closed database.
pub(crate) fn damage_value(directory: &Path, text: &[u8]) {
    let mut damaged = 0;
    for path in files_with_ending(directory, "log") {
        let mut content = fs::read(&path).expect("a log file");
        if let Some(at) = content.windows(text.len()).position(|window| window == text) {
            content[at + text.len()] ^= 1;
            fs::write(&path, content).expect("a log file");
            damaged += 1;
        }
    }
    assert_eq!(damaged, 1, "one file has the value");
}
