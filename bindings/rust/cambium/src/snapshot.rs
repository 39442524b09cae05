//! States of a database.

use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;

use cambium_sys as ffi;

use crate::call_options::ReadOptions;
use crate::db_core::DbCore;
use crate::error::{Error, ErrorKind, Result};

/// The state of a database, in all column families, at one moment. Any number of threads may read it.
///
/// A snapshot keeps its database open, and the files of its state on disk. Clones are the same snapshot, which is released
/// with the last of them and of the [`ReadOptions`] that have it.
///
/// ```
/// # fn main() -> cambium::Result<()> {
/// # let path = std::env::temp_dir().join(format!("cambium-doc-snapshot-{}", std::process::id()));
/// # let db = cambium::Db::open_default(&path)?;
/// db.put("key", "old")?;
/// let snapshot = db.snapshot()?;
/// db.put("key", "new")?;
/// assert_eq!(db.get_opt("key", &snapshot.read_options())?, Some(b"old".to_vec()));
/// # drop(snapshot);
/// # db.close()?;
/// # cambium::destroy_db(&cambium::Options::new(), &path)
/// # }
/// ```
#[derive(Clone)]
pub struct Snapshot {
    inner: Arc<Inner>,
}

struct Inner {
    raw: NonNull<ffi::cambium_snapshot_t>,
    core: Arc<DbCore>,
}

// SAFETY: any thread may use a snapshot.
unsafe impl Send for Inner {}
// SAFETY: as above.
unsafe impl Sync for Inner {}

impl Snapshot {
    pub(crate) fn new(core: &Arc<DbCore>) -> Result<Self> {
        // SAFETY: the database is open.
        let raw = unsafe { ffi::cambium_create_snapshot(core.raw().as_ptr()) };
        // The database is not closed, so the reason can only be the other one.
        let raw = NonNull::new(raw.cast_mut())
            .ok_or_else(|| Error::new(ErrorKind::NotSupported, "a database cannot be used in a forked child"))?;
        Ok(Self { inner: Arc::new(Inner { raw, core: Arc::clone(core) }) })
    }

    pub(crate) fn as_ptr(&self) -> *const ffi::cambium_snapshot_t {
        self.inner.raw.as_ptr()
    }

    /// The number of the last operation that the snapshot has.
    #[must_use]
    pub fn sequence_number(&self) -> u64 {
        // SAFETY: the snapshot is valid.
        unsafe { ffi::cambium_snapshot_get_sequence_number(self.as_ptr()) }
    }

    /// Default options for reading this state.
    #[must_use]
    pub fn read_options(&self) -> ReadOptions {
        let mut options = ReadOptions::new();
        options.set_snapshot(Some(self));
        options
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // SAFETY: the snapshot is ours, and its database is open.
        unsafe { ffi::cambium_release_snapshot(self.core.raw().as_ptr(), self.raw.as_ptr()) };
    }
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Snapshot").field("sequence_number", &self.sequence_number()).finish()
    }
}
