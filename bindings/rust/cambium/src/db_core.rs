//! The open database, which all of its objects share.

use std::ffi::c_char;
use std::path::Path;
use std::process;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use cambium_sys as ffi;

use crate::error::{Error, ErrorKind, Result};
use crate::options::{Keep, Options};
use crate::raw;
use crate::version;

/// An open database. Column families, snapshots and cursors hold an `Arc` of it, so none of them outlives it; it is closed
/// with the last of them.
pub(crate) struct DbCore {
    /// `None`: closed, which only happens at the end.
    open: Option<NonNull<ffi::cambium_t>>,
    /// The same database. `None`: transactions do not lock their keys.
    pub(crate) locking: Option<NonNull<ffi::cambium_transactiondb_t>>,
    /// The process that opened the database. In a forked child most calls return an error; those that would not are not
    /// made.
    process: u32,
    /// What the database borrows.
    keep: Mutex<Keep>,
}

// SAFETY: any thread may use a database. What it keeps is `Send` and `Sync`.
unsafe impl Send for DbCore {}
// SAFETY: as above.
unsafe impl Sync for DbCore {}

impl DbCore {
    /// Opens a database by a function of the library, which gets the path and an errptr. `options` are all options that
    /// the function uses.
    pub(crate) fn open<'a>(
        path: &Path,
        options: impl Iterator<Item = &'a Options>,
        open: impl FnOnce(*const c_char, *mut *mut c_char) -> *mut ffi::cambium_t,
    ) -> Result<Self> {
        version::check()?;
        let path = raw::c_path(path)?;
        let keep = options.flat_map(|options| options.keep().iter().cloned()).collect();
        let raw = raw::check(|error| open(path.as_ptr(), error))?;
        let raw = NonNull::new(raw).expect("without an error there is a database");
        Ok(Self { open: Some(raw), locking: None, process: process::id(), keep: Mutex::new(keep) })
    }

    /// The database, as long as it is open.
    pub(crate) fn raw(&self) -> NonNull<ffi::cambium_t> {
        self.open.expect("a database is closed only at the end")
    }

    pub(crate) fn is_in_forked_child(&self) -> bool {
        process::id() != self.process
    }

    /// Keeps what options borrow, before the database uses them.
    pub(crate) fn keep(&self, options: &Options) {
        self.keep.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(options.keep());
    }

    pub(crate) fn kept(&self) -> Keep {
        self.keep.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Closes the database. If that is not possible, it remains open, and is returned with the error.
    pub(crate) fn close(mut self) -> std::result::Result<Result<()>, (Error, Self)> {
        match self.try_close() {
            Ok(closed) => Ok(closed),
            Err(error) => Err((error, self)),
        }
    }

    /// The inner result: the database is closed, perhaps with an error. The outer error: it remains open.
    fn try_close(&mut self) -> Result<Result<()>> {
        let raw = self.raw().as_ptr();
        // Only a `PinnedValue` that was forgotten can still be there: it borrows what holds the database. The library
        // would refuse too, and would not say why in the words of this crate.
        let mut pinned = 0;
        // SAFETY: the database is open, and the name ends with a zero.
        unsafe { ffi::cambium_property_int(raw, c"cambium.num-pinned-values".as_ptr(), &raw mut pinned) };
        if pinned > 0 {
            let message = format!("{pinned} pinned values were forgotten, and still refer to mappings");
            return Err(Error::new(ErrorKind::Aborted, message));
        }
        let mut is_gone = false;
        // SAFETY: the database is open, and nothing uses it: column families, snapshots, cursors and readers hold an `Arc`
        // of it, so the last of them is gone.
        let closed = raw::check(|error| is_gone = unsafe { ffi::cambium_close_with_status(raw, error) } != 0);
        match closed {
            Err(error) if !is_gone => Err(error),
            closed => {
                self.open = None;
                Ok(closed)
            }
        }
    }
}

impl Drop for DbCore {
    fn drop(&mut self) {
        if self.open.is_some() && self.try_close().is_err() {
            // It remains open until the process ends, and uses what it keeps.
            std::mem::forget(self.kept());
        }
    }
}

/// A handle of a column family. It is released before its database is closed.
pub(crate) struct FamilyCore {
    raw: NonNull<ffi::cambium_column_family_handle_t>,
    /// The same as `core.raw()`, without a detour.
    db: NonNull<ffi::cambium_t>,
    /// Whether its keys have the order of bytes, once somebody has asked.
    pub(crate) is_bytewise: OnceLock<bool>,
    pub(crate) core: Arc<DbCore>,
}

// SAFETY: any thread may use a family.
unsafe impl Send for FamilyCore {}
// SAFETY: as above.
unsafe impl Sync for FamilyCore {}

impl FamilyCore {
    /// # Safety
    /// `handle` is a handle of this database that nothing else destroys.
    pub(crate) unsafe fn own(core: &Arc<DbCore>, handle: *mut ffi::cambium_column_family_handle_t) -> Self {
        let raw = NonNull::new(handle).expect("without an error there is a handle");
        Self { raw, db: core.raw(), is_bytewise: OnceLock::new(), core: Arc::clone(core) }
    }

    /// A handle of the default family.
    pub(crate) fn of_default(core: &Arc<DbCore>) -> Self {
        // SAFETY: the database is open, and the handle is ours.
        unsafe { Self::own(core, ffi::cambium_get_default_column_family_handle(core.raw().as_ptr())) }
    }

    pub(crate) fn db(&self) -> *mut ffi::cambium_t {
        self.db.as_ptr()
    }

    pub(crate) fn as_ptr(&self) -> *mut ffi::cambium_column_family_handle_t {
        self.raw.as_ptr()
    }
}

impl Drop for FamilyCore {
    fn drop(&mut self) {
        // The release of a handle takes a lock of the database, which in a forked child a thread may hold that is not
        // there.
        if !self.core.is_in_forked_child() {
            // SAFETY: the handle is ours, and the database is open.
            unsafe { ffi::cambium_column_family_handle_destroy(self.as_ptr()) };
        }
    }
}
