//! An open database.

use std::ffi::c_char;
use std::fmt;
use std::path::Path;
use std::ptr::{self, NonNull};
use std::sync::Arc;

use cambium_sys as ffi;

use crate::async_reader::{AsyncReader, AsyncReaderOptions};
use crate::call_options::{ReadOptions, TraceOptions, WriteOptions, with_default_read, with_default_write};
use crate::column_family::ColumnFamily;
use crate::cursor::Cursor;
use crate::db_core::{DbCore, FamilyCore};
use crate::error::{Error, ErrorKind, Result};
use crate::multi_get;
use crate::offline::Families;
use crate::options::Options;
use crate::raw::{self, Keys, Pairs};
use crate::snapshot::Snapshot;
use crate::statistics::Statistics;
use crate::write_batch::WriteBatch;

/// An open database: ordered maps from keys to values, one in each column family, that survive crashes.
///
/// Clones are the same database, and any number of threads may use it. It is closed with the last of its clones, column
/// families, snapshots, cursors, iterators and asynchronous readers. [`close`](Self::close) reports errors; a database
/// that is closed otherwise loses them.
///
/// Functions without a column family use the default one. [`ColumnFamily`] describes them.
#[derive(Clone)]
pub struct Db {
    pub(crate) default: ColumnFamily,
}

/// A database could not be closed, or was closed with an error.
#[derive(Debug)]
pub struct CloseError {
    error: Error,
    db: Option<Db>,
}

impl CloseError {
    /// Why. `Busy`: clones or objects of the database exist.
    #[must_use]
    pub fn error(&self) -> &Error {
        &self.error
    }

    /// The database, if it is still open.
    #[must_use]
    pub fn into_db(self) -> Option<Db> {
        self.db
    }
}

impl fmt::Display for CloseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl std::error::Error for CloseError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

impl From<CloseError> for Error {
    /// Drops the database, if it is still open. It is closed with the last of its objects.
    fn from(error: CloseError) -> Self {
        error.error
    }
}

/// A function of the library that opens a database.
type Open = unsafe extern "C-unwind" fn(
    *const ffi::cambium_options_t,
    *const std::ffi::c_char,
    *mut *mut std::ffi::c_char,
) -> *mut ffi::cambium_t;

/// A function of the library that opens a database with column families.
type OpenFamilies = unsafe extern "C-unwind" fn(
    *const ffi::cambium_options_t,
    *const std::ffi::c_char,
    std::ffi::c_int,
    *const *const std::ffi::c_char,
    *const *const ffi::cambium_options_t,
    *mut *mut ffi::cambium_column_family_handle_t,
    *mut *mut std::ffi::c_char,
) -> *mut ffi::cambium_t;

impl Db {
    /// Opens the database at `path`, which has only the default column family.
    ///
    /// # Errors
    /// `InvalidArgument` for an option that is not legal, and if there is no database; `Locked` if another handle has it
    /// open; `Corruption` if it is damaged.
    pub fn open(options: &Options, path: impl AsRef<Path>) -> Result<Self> {
        Self::open_by(options, path.as_ref(), ffi::cambium_open)
    }

    /// As [`open`](Self::open), with default options, except that the database is created if it does not exist.
    ///
    /// # Errors
    /// As `open`.
    pub fn open_default(path: impl AsRef<Path>) -> Result<Self> {
        let mut options = Options::new();
        options.set_create_if_missing(true);
        Self::open(&options, path)
    }

    /// Opens the database at `path` for reading. Any number of readers may have it open, and no writer meanwhile. Column
    /// families may be left out.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_read_only(options: &Options, path: impl AsRef<Path>) -> Result<Self> {
        Self::open_by(options, path.as_ref(), ffi::cambium_open_for_read_only)
    }

    fn open_by(options: &Options, path: &Path, open: Open) -> Result<Self> {
        // SAFETY: options and path are valid.
        let core =
            DbCore::open(path, [options].into_iter(), |path, error| unsafe { open(options.as_ptr(), path, error) })?;
        Ok(Self::new(&Arc::new(core)))
    }

    /// Opens the database at `path` with column families, given by name with their options. Every family of the database
    /// must be named, `default` included. One that does not exist is created if
    /// [`create_missing_column_families`](Options::set_create_missing_column_families) is set. The families are returned in
    /// the order of the names.
    ///
    /// ```
    /// # fn main() -> cambium::Result<()> {
    /// # let path = std::env::temp_dir().join(format!("cambium-doc-families-{}", std::process::id()));
    /// use cambium::{Db, Options};
    ///
    /// let mut options = Options::new();
    /// options.set_create_if_missing(true).set_create_missing_column_families(true);
    /// let (db, families) = Db::open_column_families(&options, &path, &[("default", &options), ("users", &options)])?;
    /// let users = &families[1];
    /// users.put("1", "Ada")?;
    /// assert_eq!(db.get("1")?, None);
    /// # drop(families);
    /// # db.close()?;
    /// # cambium::destroy_db(&Options::new(), &path)
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`open`](Self::open); `InvalidArgument` if the names are not right.
    pub fn open_column_families(
        options: &Options,
        path: impl AsRef<Path>,
        families: &[(&str, &Options)],
    ) -> Result<(Self, Vec<ColumnFamily>)> {
        Self::open_families_by(options, path.as_ref(), families, ffi::cambium_open_column_families)
    }

    /// As [`open_column_families`](Self::open_column_families), for reading. Families may be left out.
    ///
    /// # Errors
    /// As `open_column_families`.
    pub fn open_read_only_column_families(
        options: &Options,
        path: impl AsRef<Path>,
        families: &[(&str, &Options)],
    ) -> Result<(Self, Vec<ColumnFamily>)> {
        Self::open_families_by(options, path.as_ref(), families, ffi::cambium_open_for_read_only_column_families)
    }

    fn open_families_by(
        options: &Options,
        path: &Path,
        families: &[(&str, &Options)],
        open: OpenFamilies,
    ) -> Result<(Self, Vec<ColumnFamily>)> {
        let named = Families::new(families)?;
        let mut handles = vec![ptr::null_mut(); families.len()];
        let all_options = families.iter().map(|(_, options)| *options).chain([options]);
        // SAFETY: options, path and families are valid, and there is room for the handles.
        let core = DbCore::open(path, all_options, |path, error| unsafe {
            open(options.as_ptr(), path, named.count(), named.names(), named.options(), handles.as_mut_ptr(), error)
        })?;
        let core = Arc::new(core);
        // SAFETY: the handles are those of this database, and ours.
        let own = |handle| ColumnFamily::new(unsafe { FamilyCore::own(&core, handle) });
        let families = handles.into_iter().map(own).collect();
        Ok((Self::new(&core), families))
    }

    /// Opens a database whose transactions lock their keys.
    pub(crate) fn open_locking_by(
        options: &Options,
        path: &Path,
        open: impl FnOnce(*const c_char, *mut *mut c_char) -> *mut ffi::cambium_transactiondb_t,
    ) -> Result<Self> {
        let mut locking = None;
        let mut core = DbCore::open(path, [options].into_iter(), |path, error| {
            locking = NonNull::new(open(path, error));
            // SAFETY: the database is open, or NULL.
            locking.map_or(ptr::null_mut(), |db| unsafe { ffi::cambium_transactiondb_as_db(db.as_ptr()) })
        })?;
        core.locking = locking;
        Ok(Self::new(&Arc::new(core)))
    }

    /// The same with column families.
    pub(crate) fn open_locking_families_by(
        options: &Options,
        path: &Path,
        families: &[(&str, &Options)],
        open: impl FnOnce(
            *const c_char,
            &Families,
            *mut *mut ffi::cambium_column_family_handle_t,
            *mut *mut c_char,
        ) -> *mut ffi::cambium_transactiondb_t,
    ) -> Result<(Self, Vec<ColumnFamily>)> {
        let named = Families::new(families)?;
        let mut handles = vec![ptr::null_mut(); families.len()];
        let all_options = families.iter().map(|(_, options)| *options).chain([options]);
        let mut locking = None;
        let mut core = DbCore::open(path, all_options, |path, error| {
            locking = NonNull::new(open(path, &named, handles.as_mut_ptr(), error));
            // SAFETY: the database is open, or NULL.
            locking.map_or(ptr::null_mut(), |db| unsafe { ffi::cambium_transactiondb_as_db(db.as_ptr()) })
        })?;
        core.locking = locking;
        let core = Arc::new(core);
        // SAFETY: the handles are those of this database, and ours.
        let own = |handle| ColumnFamily::new(unsafe { FamilyCore::own(&core, handle) });
        let families = handles.into_iter().map(own).collect();
        Ok((Self::new(&core), families))
    }

    /// The database for [`transaction`](Self::transaction), if its transactions lock their keys.
    pub(crate) fn locking(&self) -> Option<NonNull<ffi::cambium_transactiondb_t>> {
        self.core().locking
    }

    /// `InvalidArgument` if the family is of another database.
    pub(crate) fn check_own(&self, family: &ColumnFamily) -> Result<()> {
        if Arc::ptr_eq(&family.inner.core, self.core()) {
            return Ok(());
        }
        Err(Error::new(ErrorKind::InvalidArgument, "the column family is of another database"))
    }

    fn new(core: &Arc<DbCore>) -> Self {
        Self { default: ColumnFamily::new(FamilyCore::of_default(core)) }
    }

    fn core(&self) -> &Arc<DbCore> {
        &self.default.inner.core
    }

    pub(crate) fn raw(&self) -> *mut ffi::cambium_t {
        self.default.inner.db()
    }

    /// The names of the column families of a database, open or not, in the order of their creation.
    ///
    /// # Errors
    /// If there is no database, or it cannot be read.
    pub fn list_column_families(options: &Options, path: impl AsRef<Path>) -> Result<Vec<String>> {
        let path = raw::c_path(path.as_ref())?;
        let mut count = 0;
        // SAFETY: options and path are valid, and there is room for the number.
        let list = raw::check(|error| unsafe {
            ffi::cambium_list_column_families(options.as_ptr(), path.as_ptr(), &raw mut count, error)
        })?;
        // SAFETY: the list is ours.
        Ok(unsafe { raw::take_list(list, count) })
    }

    /// Closes the database: syncs the log, waits for background work, and releases the lock.
    ///
    /// # Errors
    /// `Busy` if clones, column families, snapshots, cursors, iterators, asynchronous readers or options with a snapshot
    /// exist; `Aborted` if memory ran out, or pinned values were forgotten. The database is then still open, and in the
    /// error. After any other error it is closed.
    pub fn close(self) -> std::result::Result<(), CloseError> {
        match self.take_core() {
            Err(db) => {
                let message = "clones, column families, snapshots, cursors or readers of the database exist";
                Err(CloseError { error: Error::new(ErrorKind::Busy, message), db: Some(db) })
            }
            Ok(core) => match core.close() {
                Ok(closed) => closed.map_err(|error| CloseError { error, db: None }),
                Err((error, core)) => Err(CloseError { error, db: Some(Self::new(&Arc::new(core))) }),
            },
        }
    }

    /// Takes the database out of its last object, if this is the last one.
    fn take_core(self) -> std::result::Result<DbCore, Self> {
        let default = Arc::try_unwrap(self.default.inner).map_err(|inner| Self { default: ColumnFamily { inner } })?;
        let core = Arc::clone(&default.core);
        drop(default);
        Arc::try_unwrap(core).map_err(|core| Self::new(&core))
    }

    /// The default column family.
    #[must_use]
    pub fn default_column_family(&self) -> &ColumnFamily {
        &self.default
    }

    /// Creates a column family. It is durable when the call returns.
    ///
    /// # Errors
    /// `InvalidArgument` if there is a family of this name, or an option is not legal.
    pub fn create_column_family(&self, name: &str, options: &Options) -> Result<ColumnFamily> {
        let name = raw::c_string("the name of a column family", name.as_bytes())?;
        self.core().keep(options);
        // SAFETY: database, options and name are valid.
        let handle = raw::check(|error| unsafe {
            ffi::cambium_create_column_family(self.raw(), options.as_ptr(), name.as_ptr(), error)
        })?;
        // SAFETY: the handle is one of this database, and ours.
        Ok(ColumnFamily::new(unsafe { FamilyCore::own(self.core(), handle) }))
    }

    /// Drops a column family. It is gone when the call returns; its space is freed once its handles, and the snapshots and
    /// cursors that see it, are gone.
    ///
    /// # Errors
    /// `InvalidArgument` for the default family, or one of another database.
    pub fn drop_column_family(&self, family: &ColumnFamily) -> Result<()> {
        // SAFETY: database and family are valid.
        raw::check(|error| unsafe { ffi::cambium_drop_column_family(self.raw(), family.inner.as_ptr(), error) })
    }

    /// Writes a batch.
    ///
    /// # Errors
    /// As [`ColumnFamily::put`]; also if the batch has refused an operation.
    pub fn write(&self, batch: &WriteBatch) -> Result<()> {
        with_default_write(|options| self.write_at(batch, options))
    }

    /// As [`write`](Self::write), with options.
    ///
    /// # Errors
    /// As `write`.
    pub fn write_opt(&self, batch: &WriteBatch, options: &WriteOptions) -> Result<()> {
        self.write_at(batch, options.as_ptr())
    }

    fn write_at(&self, batch: &WriteBatch, options: *const ffi::cambium_writeoptions_t) -> Result<()> {
        // SAFETY: database, options and batch are valid.
        raw::check(|error| unsafe { ffi::cambium_write(self.raw(), options, batch.as_ptr(), error) })
    }

    /// The values of keys of any families, at one state, in the order of the keys. Each has an error of its own.
    pub fn multi_get_cf<K: AsRef<[u8]>>(&self, keys: &[(&ColumnFamily, K)]) -> Vec<Result<Option<Vec<u8>>>> {
        with_default_read(|options| self.multi_get_cf_at(keys, options))
    }

    /// As [`multi_get_cf`](Self::multi_get_cf), with options.
    pub fn multi_get_cf_opt<K: AsRef<[u8]>>(
        &self,
        keys: &[(&ColumnFamily, K)],
        options: &ReadOptions,
    ) -> Vec<Result<Option<Vec<u8>>>> {
        self.multi_get_cf_at(keys, options.as_ptr())
    }

    fn multi_get_cf_at<K: AsRef<[u8]>>(
        &self,
        keys: &[(&ColumnFamily, K)],
        options: *const ffi::cambium_readoptions_t,
    ) -> Vec<Result<Option<Vec<u8>>>> {
        let families: Vec<_> = keys.iter().map(|(family, _)| &*family.inner).collect();
        let keys: Vec<_> = keys.iter().map(|(_, key)| key).collect();
        multi_get::copies(self.core(), &families, &Keys::new(&keys), options)
    }

    /// One cursor for each family, all of the same state.
    ///
    /// # Errors
    /// If the database cannot be read; `InvalidArgument` if a family is of another database.
    pub fn cursors(&self, families: &[&ColumnFamily], options: &ReadOptions) -> Result<Vec<Cursor>> {
        let families: Vec<_> = families.iter().map(|family| &*family.inner).collect();
        Cursor::new_many(self.core(), &families, options)
    }

    /// The state of all families now.
    ///
    /// # Errors
    /// `NotSupported` in a forked child.
    pub fn snapshot(&self) -> Result<Snapshot> {
        Snapshot::new(self.core())
    }

    /// The number of the last operation.
    #[must_use]
    pub fn latest_sequence_number(&self) -> u64 {
        // SAFETY: the database is open.
        unsafe { ffi::cambium_get_latest_sequence_number(self.raw()) }
    }

    /// A reader that has many reads in flight from one thread.
    ///
    /// # Errors
    /// `InvalidArgument` for an option that is out of range.
    pub fn async_reader<'env>(&self, options: AsyncReaderOptions) -> Result<AsyncReader<'env>> {
        AsyncReader::new(&self.default, options)
    }

    /// Makes everything written so far durable, in all families.
    ///
    /// # Errors
    /// If the sync fails: see [`Error::is_fatal`].
    pub fn sync_wal(&self) -> Result<()> {
        self.flush_wal(true)
    }

    /// As [`sync_wal`](Self::sync_wal) with `sync`. Otherwise there is nothing to do: each write is handed to the system
    /// at once.
    ///
    /// # Errors
    /// As `sync_wal`.
    pub fn flush_wal(&self, sync: bool) -> Result<()> {
        // SAFETY: the database is open.
        raw::check(|error| unsafe { ffi::cambium_flush_wal(self.raw(), sync.into(), error) })
    }

    /// Waits until no background work is left.
    ///
    /// # Errors
    /// The error of work that failed.
    pub fn wait_for_compact(&self) -> Result<()> {
        // SAFETY: the database is open.
        raw::check(|error| unsafe { ffi::cambium_wait_for_compact(self.raw(), error) })
    }

    /// Reads each key and value of each column family, and compares checksums.
    ///
    /// # Errors
    /// The first damage.
    pub fn verify_checksum(&self) -> Result<()> {
        with_default_read(|options| self.verify_checksum_at(options))
    }

    /// As [`verify_checksum`](Self::verify_checksum), with options.
    ///
    /// # Errors
    /// As `verify_checksum`.
    pub fn verify_checksum_opt(&self, options: &ReadOptions) -> Result<()> {
        self.verify_checksum_at(options.as_ptr())
    }

    fn verify_checksum_at(&self, options: *const ffi::cambium_readoptions_t) -> Result<()> {
        // SAFETY: database and options are valid.
        raw::check(|error| unsafe { ffi::cambium_verify_checksum(self.raw(), options, error) })
    }

    /// Changes options of the database while it is open, by name and text. All changes take effect, or none.
    ///
    /// # Errors
    /// As [`ColumnFamily::set_options`].
    pub fn set_db_options(&self, changes: &[(&str, &str)]) -> Result<()> {
        let changes = Pairs::new(changes)?;
        // SAFETY: database and texts are valid.
        raw::check(|error| unsafe {
            ffi::cambium_set_db_options(self.raw(), changes.count(), changes.names(), changes.values(), error);
        })
    }

    /// The statistics of the options that the database was opened with.
    ///
    /// # Errors
    /// `NotSupported` in a forked child.
    pub fn statistics(&self) -> Result<Statistics> {
        Ok(self.options()?.statistics())
    }

    /// 32 digits that the database got when it was created. Copies of it have the same. `None` after a fatal error, and in
    /// a forked child.
    #[must_use]
    pub fn identity(&self) -> Option<String> {
        let mut length = 0;
        // SAFETY: the database is open, and the text is ours.
        unsafe { raw::take_string(ffi::cambium_get_db_identity(self.raw(), &raw mut length)) }
    }

    /// Makes a copy of the database at this moment, of hard links where possible. `directory` must not exist. Memtables
    /// are flushed first.
    ///
    /// # Errors
    /// If it cannot be done. The directory is then not created.
    pub fn checkpoint(&self, directory: impl AsRef<Path>) -> Result<()> {
        self.checkpoint_with(directory, 0)
    }

    /// As [`checkpoint`](Self::checkpoint). Memtables are flushed first only if the log that recovery would replay has at
    /// least `log_size_for_flush` bytes.
    ///
    /// # Errors
    /// As `checkpoint`.
    pub fn checkpoint_with(&self, directory: impl AsRef<Path>, log_size_for_flush: u64) -> Result<()> {
        let directory = raw::c_path(directory.as_ref())?;
        // SAFETY: the database is open.
        let maker = raw::check(|error| unsafe { ffi::cambium_checkpoint_object_create(self.raw(), error) })?;
        // SAFETY: the object is ours, and the directory is valid.
        let made = raw::check(|error| unsafe {
            ffi::cambium_checkpoint_create(maker, directory.as_ptr(), log_size_for_flush, error);
        });
        // SAFETY: the object is ours.
        unsafe { ffi::cambium_checkpoint_object_destroy(maker) };
        made
    }

    /// Starts to record operations in a new file, which must not exist.
    ///
    /// # Errors
    /// `Busy` if a trace is running; `InvalidArgument` for an option that is out of range.
    pub fn start_trace(&self, options: &TraceOptions, path: impl AsRef<Path>) -> Result<()> {
        let path = raw::c_path(path.as_ref())?;
        // SAFETY: database, options and path are valid.
        raw::check(|error| unsafe { ffi::cambium_start_trace(self.raw(), options.as_ptr(), path.as_ptr(), error) })
    }

    /// Ends the trace.
    ///
    /// # Errors
    /// The first error of the trace; `NotFound` if none is running.
    pub fn end_trace(&self) -> Result<()> {
        // SAFETY: the database is open.
        raw::check(|error| unsafe { ffi::cambium_end_trace(self.raw(), error) })
    }
}

impl fmt::Debug for Db {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Db").field("identity", &self.identity()).finish_non_exhaustive()
    }
}
