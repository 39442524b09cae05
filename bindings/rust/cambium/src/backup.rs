//! Backups of databases in a directory of their own.

use std::fmt;
use std::path::Path;
use std::ptr::NonNull;
use std::slice;

use cambium_sys as ffi;

use crate::db::Db;
use crate::error::Result;
use crate::options::Options;
use crate::raw;

/// A directory of backups. A backup adds only what has changed since earlier ones.
///
/// Any number of threads may use an engine; calls that write wait for one another. Only one engine at a time, in any
/// process, may have a directory open for writing.
///
/// ```
/// # fn main() -> cambium::Result<()> {
/// # let base = std::env::temp_dir().join(format!("cambium-doc-backup-{}", std::process::id()));
/// # std::fs::create_dir_all(&base).unwrap();
/// # let db = cambium::Db::open_default(base.join("db"))?;
/// use cambium::{BackupEngine, Options};
///
/// let engine = BackupEngine::open(&Options::new(), base.join("backups"))?;
/// engine.create_backup(&db)?;
/// assert_eq!(engine.backups().len(), 1);
/// engine.restore_latest(base.join("restored"))?;
/// # drop(engine);
/// # db.close()?;
/// # std::fs::remove_dir_all(&base).unwrap();
/// # Ok(())
/// # }
/// ```
pub struct BackupEngine {
    raw: NonNull<ffi::cambium_backup_engine_t>,
}

// SAFETY: any thread may use an engine.
unsafe impl Send for BackupEngine {}
// SAFETY: as above. `set_verify_checksums`, which must run alone, needs an exclusive borrow.
unsafe impl Sync for BackupEngine {}

/// A backup that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BackupInfo {
    /// Its number.
    pub id: u32,
    /// When it began, in seconds since 1970.
    pub timestamp: i64,
    /// The bytes of its files, with those that it shares with other backups.
    pub size: u64,
    /// How many files it has.
    pub number_files: u32,
    /// The number of the newest operation in it.
    pub sequence_number: u64,
    /// The contents of its files were compared with their checksums when it was made.
    pub is_checked: bool,
}

impl BackupEngine {
    /// Opens a directory, which is created if it does not exist.
    ///
    /// # Errors
    /// `Locked` if another engine has it open; `InvalidArgument` if it has other files.
    pub fn open(options: &Options, directory: impl AsRef<Path>) -> Result<Self> {
        Self::open_by(options, directory.as_ref(), ffi::cambium_backup_engine_open)
    }

    /// Opens a directory for listing, verifying and restoring.
    ///
    /// # Errors
    /// As [`open`](Self::open), or if it does not exist.
    pub fn open_read_only(options: &Options, directory: impl AsRef<Path>) -> Result<Self> {
        Self::open_by(options, directory.as_ref(), ffi::cambium_backup_engine_open_for_read_only)
    }

    fn open_by(options: &Options, directory: &Path, open: Open) -> Result<Self> {
        crate::version::check()?;
        let directory = raw::c_path(directory)?;
        // SAFETY: options and directory are valid.
        let made = raw::check(|error| unsafe { open(options.as_ptr(), directory.as_ptr(), error) })?;
        Ok(Self { raw: NonNull::new(made).expect("without an error there is an engine") })
    }

    fn as_ptr(&self) -> *mut ffi::cambium_backup_engine_t {
        self.raw.as_ptr()
    }

    /// Backs up an open database. What is not flushed is stored as log.
    ///
    /// # Errors
    /// `Corruption` names the damaged file of the database; no backup is made.
    pub fn create_backup(&self, db: &Db) -> Result<()> {
        self.create_backup_flush(db, false)
    }

    /// As [`create_backup`](Self::create_backup); with `flush`, memtables are flushed first.
    ///
    /// # Errors
    /// As `create_backup`.
    pub fn create_backup_flush(&self, db: &Db, flush: bool) -> Result<()> {
        // SAFETY: engine and database are valid.
        raw::check(|error| unsafe {
            ffi::cambium_backup_engine_create_new_backup_flush(self.as_ptr(), db.raw(), flush.into(), error);
        })
    }

    /// Backs up a database that no process has open for writing.
    ///
    /// # Errors
    /// As [`create_backup`](Self::create_backup).
    pub fn create_backup_offline(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = raw::c_path(path.as_ref())?;
        // SAFETY: engine and path are valid.
        raw::check(|error| unsafe {
            ffi::cambium_backup_engine_create_new_backup_offline(self.as_ptr(), path.as_ptr(), error);
        })
    }

    /// Sets whether new backups compare the contents of the files that they store with their checksums. True by default.
    pub fn set_verify_checksums(&mut self, verify: bool) {
        // SAFETY: the engine is valid, and no backup is being made, because it would borrow the engine.
        unsafe { ffi::cambium_backup_engine_set_verify_checksums(self.as_ptr(), verify.into()) };
    }

    /// Makes the running call, and all later ones, end with `Incomplete`. It cannot be undone.
    pub fn stop_backup(&self) {
        // SAFETY: the engine is valid.
        unsafe { ffi::cambium_backup_engine_stop_backup(self.as_ptr()) };
    }

    /// Deletes all but the newest backups that can be read.
    ///
    /// # Errors
    /// If files cannot be removed.
    pub fn purge_old_backups(&self, keep: u32) -> Result<()> {
        // SAFETY: the engine is valid.
        raw::check(|error| unsafe { ffi::cambium_backup_engine_purge_old_backups(self.as_ptr(), keep, error) })
    }

    /// Deletes a backup. It may be damaged.
    ///
    /// # Errors
    /// `NotFound` if there is no such backup.
    pub fn delete_backup(&self, id: u32) -> Result<()> {
        // SAFETY: the engine is valid.
        raw::check(|error| unsafe { ffi::cambium_backup_engine_delete_backup(self.as_ptr(), id, error) })
    }

    /// Removes files that no backup has. The deletion of a backup does this too.
    ///
    /// # Errors
    /// If files cannot be removed.
    pub fn garbage_collect(&self) -> Result<()> {
        // SAFETY: the engine is valid.
        raw::check(|error| unsafe { ffi::cambium_backup_engine_garbage_collect(self.as_ptr(), error) })
    }

    /// Checks that all files of a backup exist and have their size; with `read_all`, also their contents.
    ///
    /// # Errors
    /// `Corruption` names the file that fails.
    pub fn verify_backup(&self, id: u32, read_all: bool) -> Result<()> {
        // SAFETY: the engine is valid.
        raw::check(|error| unsafe {
            ffi::cambium_backup_engine_verify_backup(self.as_ptr(), id, read_all.into(), error);
        })
    }

    /// Creates a database from a backup in a directory that must not exist.
    ///
    /// # Errors
    /// `NotFound` if there is no such backup; `Corruption` names a damaged file. The directory is then not created.
    pub fn restore(&self, id: u32, directory: impl AsRef<Path>) -> Result<()> {
        let directory = raw::c_path(directory.as_ref())?;
        // SAFETY: engine and directory are valid.
        raw::check(|error| unsafe {
            ffi::cambium_backup_engine_restore_db_from_backup(self.as_ptr(), directory.as_ptr(), id, error);
        })
    }

    /// As [`restore`](Self::restore), from the newest backup.
    ///
    /// # Errors
    /// As `restore`; also if the newest backup cannot be read.
    pub fn restore_latest(&self, directory: impl AsRef<Path>) -> Result<()> {
        let directory = raw::c_path(directory.as_ref())?;
        // SAFETY: engine and directory are valid.
        raw::check(|error| unsafe {
            ffi::cambium_backup_engine_restore_db_from_latest_backup(self.as_ptr(), directory.as_ptr(), error);
        })
    }

    /// The backups that can be read, in the order of their numbers.
    #[must_use]
    pub fn backups(&self) -> Vec<BackupInfo> {
        // SAFETY: the engine is valid, and the list is ours until it is destroyed.
        unsafe {
            let list = ffi::cambium_backup_engine_get_backup_info(self.as_ptr());
            let infos = (0..ffi::cambium_backup_engine_info_count(list))
                .map(|i| BackupInfo {
                    id: ffi::cambium_backup_engine_info_backup_id(list, i),
                    timestamp: ffi::cambium_backup_engine_info_timestamp(list, i),
                    size: ffi::cambium_backup_engine_info_size(list, i),
                    number_files: ffi::cambium_backup_engine_info_number_files(list, i),
                    sequence_number: ffi::cambium_backup_engine_info_sequence_number(list, i),
                    is_checked: ffi::cambium_backup_engine_info_is_checked(list, i) != 0,
                })
                .collect();
            ffi::cambium_backup_engine_info_destroy(list);
            infos
        }
    }

    /// The numbers of the backups whose record cannot be read.
    #[must_use]
    pub fn corrupted_backups(&self) -> Vec<u32> {
        let mut count = 0;
        // SAFETY: the engine is valid, and the numbers are ours.
        unsafe {
            let numbers = ffi::cambium_backup_engine_get_corrupted_backups(self.as_ptr(), &raw mut count);
            let copy = if numbers.is_null() { Vec::new() } else { slice::from_raw_parts(numbers, count).to_vec() };
            ffi::cambium_free(numbers.cast());
            copy
        }
    }
}

/// A function of the library that opens an engine.
type Open = unsafe extern "C-unwind" fn(
    *const ffi::cambium_options_t,
    *const std::ffi::c_char,
    *mut *mut std::ffi::c_char,
) -> *mut ffi::cambium_backup_engine_t;

impl Drop for BackupEngine {
    fn drop(&mut self) {
        // SAFETY: the engine is ours.
        unsafe { ffi::cambium_backup_engine_close(self.as_ptr()) };
    }
}

impl fmt::Debug for BackupEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BackupEngine").field("backups", &self.backups()).finish()
    }
}
