//! Reads and writes that take effect together, or not at all.

use std::cell::Cell;
use std::collections::hash_map::RandomState;
use std::ffi::{c_char, c_int, c_uint};
use std::fmt;
use std::hash::{BuildHasher, Hasher};
use std::marker::PhantomData;
use std::path::Path;
use std::ptr::{self, NonNull};
use std::slice;
use std::time::Duration;

use cambium_sys as ffi;

use crate::call_options::{ReadOptions, WriteOptions, with_default_read};
use crate::column_family::ColumnFamily;
use crate::db::Db;
use crate::error::{Error, ErrorKind, Result};
use crate::options::Options;
use crate::overlay::{OverlayCursor, OverlayEntries};
use crate::pinned::PinnedValue;
use crate::raw;
use crate::write_batch::WriteBatch;

/// Options of a transaction. The last five are for databases of [`Db::open_transaction_db`].
#[derive(Clone, Debug)]
pub struct TransactionOptions {
    /// The commit, and [`Transaction::prepare`], return once they survive a power cut.
    pub sync: bool,
    /// They return `Incomplete` instead of waiting for background work.
    pub no_slowdown: bool,
    /// Whether the transaction begins with a snapshot: a key then conflicts if others have written it after the begin.
    /// `None`: optimistic transactions do, others do not.
    pub snapshot: Option<bool>,
    /// Reads see the newest state, also if the transaction has a snapshot.
    pub read_newest: bool,
    /// Look before a wait for a lock whether transactions wait for each other, and then return an error at once.
    pub deadlock_detect: bool,
    /// How long a call waits for a lock; [`Duration::MAX`]: without limit. `None`: as long as the database says.
    pub lock_timeout: Option<Duration>,
    /// After that, others may take the locks, and the commit returns `Expired`.
    pub expiration: Option<Duration>,
    /// The most bytes of the writes; 0: no limit.
    pub max_write_batch_size: usize,
    /// If false, the commit of a transaction that is not prepared returns `InvalidArgument`.
    pub skip_prepare: bool,
}

impl Default for TransactionOptions {
    fn default() -> Self {
        Self {
            sync: false,
            no_slowdown: false,
            snapshot: None,
            read_newest: false,
            deadlock_detect: false,
            lock_timeout: None,
            expiration: None,
            max_write_batch_size: 0,
            skip_prepare: true,
        }
    }
}

/// Options of [`Db::open_transaction_db`].
#[derive(Clone, Debug)]
pub struct TransactionDbOptions {
    /// The most keys of a column family that are locked at a time. `None`: no limit.
    pub max_num_locks: Option<u32>,
    /// How many tables the locks are in.
    pub num_stripes: usize,
    /// How long a transaction waits for a lock; [`Duration::MAX`]: without limit.
    pub transaction_lock_timeout: Duration,
    /// The same for writes without a transaction.
    pub default_lock_timeout: Duration,
}

impl Default for TransactionDbOptions {
    fn default() -> Self {
        let second = Duration::from_secs(1);
        Self { max_num_locks: None, num_stripes: 16, transaction_lock_timeout: second, default_lock_timeout: second }
    }
}

/// Milliseconds, rounded up; -1: without limit.
fn milliseconds(time: Duration) -> i64 {
    if time == Duration::MAX {
        return -1;
    }
    i64::try_from(time.as_nanos().div_ceil(1_000_000)).unwrap_or(i64::MAX / 2)
}

/// Options of the library, destroyed at the end.
struct RawDbOptions(*mut ffi::cambium_transactiondb_options_t);

impl RawDbOptions {
    fn new(options: &TransactionDbOptions) -> Self {
        // SAFETY: the options are ours.
        unsafe {
            let raw = ffi::cambium_transactiondb_options_create();
            ffi::cambium_transactiondb_options_set_max_num_locks(raw, options.max_num_locks.map_or(-1, i64::from));
            ffi::cambium_transactiondb_options_set_num_stripes(raw, options.num_stripes);
            let wait = milliseconds(options.transaction_lock_timeout);
            ffi::cambium_transactiondb_options_set_transaction_lock_timeout(raw, wait);
            let wait = milliseconds(options.default_lock_timeout);
            ffi::cambium_transactiondb_options_set_default_lock_timeout(raw, wait);
            Self(raw)
        }
    }
}

impl Drop for RawDbOptions {
    fn drop(&mut self) {
        // SAFETY: the options are ours.
        unsafe { ffi::cambium_transactiondb_options_destroy(self.0) };
    }
}

impl Error {
    /// Whether transactions were in each other's way: `Busy`, `Deadlock`, `LockLimit`, `TryAgain`, `TimedOut` or
    /// `LockTimeout`. The same work may succeed in a new transaction.
    #[must_use]
    pub fn is_conflict(&self) -> bool {
        use crate::ErrorKind::{Busy, Deadlock, LockLimit, LockTimeout, TimedOut, TryAgain};
        matches!(self.kind(), Busy | Deadlock | LockLimit | TryAgain | TimedOut | LockTimeout)
    }
}

impl Db {
    /// Opens a database whose transactions lock the keys that they use, so that others wait for them. Its writes without
    /// a transaction lock their keys too, and a range delete locks its range.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_transaction_db(
        options: &Options,
        transactions: &TransactionDbOptions,
        path: impl AsRef<Path>,
    ) -> Result<Self> {
        let its = RawDbOptions::new(transactions);
        Self::open_locking_by(options, path.as_ref(), |path, error| {
            // SAFETY: options and path are valid.
            unsafe { ffi::cambium_transactiondb_open(options.as_ptr(), its.0, path, error) }
        })
    }

    /// As [`open_transaction_db`](Self::open_transaction_db), with column families as in
    /// [`open_column_families`](Self::open_column_families).
    ///
    /// # Errors
    /// As [`open_column_families`](Self::open_column_families).
    pub fn open_transaction_db_column_families(
        options: &Options,
        transactions: &TransactionDbOptions,
        path: impl AsRef<Path>,
        families: &[(&str, &Options)],
    ) -> Result<(Self, Vec<ColumnFamily>)> {
        let its = RawDbOptions::new(transactions);
        Self::open_locking_families_by(options, path.as_ref(), families, |path, named, handles, error| {
            // SAFETY: options, path and families are valid, and there is room for the handles.
            unsafe {
                ffi::cambium_transactiondb_open_column_families(
                    options.as_ptr(),
                    its.0,
                    path,
                    named.count(),
                    named.names(),
                    named.options(),
                    handles,
                    error,
                )
            }
        })
    }

    /// Begins a transaction with default options: an optimistic one, unless the database was opened by
    /// [`open_transaction_db`](Self::open_transaction_db).
    ///
    /// # Errors
    /// `NotSupported` if the database is open for reading only, and in a forked child.
    pub fn transaction(&self) -> Result<Transaction<'_>> {
        self.transaction_opt(&TransactionOptions::default())
    }

    /// As [`transaction`](Self::transaction), with options.
    ///
    /// # Errors
    /// As `transaction`.
    pub fn transaction_opt(&self, options: &TransactionOptions) -> Result<Transaction<'_>> {
        let mut write = WriteOptions::new();
        write.set_sync(options.sync).set_no_slowdown(options.no_slowdown);
        let raw = match self.locking() {
            None => self.begin_optimistic(&write, options)?,
            Some(db) => begin_locking(db, &write, options),
        };
        let raw =
            NonNull::new(raw).ok_or_else(|| Error::new(ErrorKind::NotSupported, "the database takes no writes"))?;
        Ok(Transaction { raw, db: self, one_thread: PhantomData })
    }

    /// The transactions that were [prepared](Transaction::prepare) before the database was opened, in the order of their
    /// names. Their keys are locked. Commit each of them, or roll it back; one that is dropped remains prepared. Each is
    /// returned once.
    ///
    /// # Errors
    /// `NotSupported` unless the database was opened by [`open_transaction_db`](Self::open_transaction_db), and in a
    /// forked child.
    pub fn prepared_transactions(&self) -> Result<Vec<Transaction<'_>>> {
        let Some(db) = self.locking() else {
            return Err(Error::new(ErrorKind::NotSupported, "transactions of this database cannot be prepared"));
        };
        let mut count = 0;
        // SAFETY: the database is open.
        let all = raw::check(|error| unsafe {
            ffi::cambium_transactiondb_get_prepared_transactions(db.as_ptr(), &raw mut count, error)
        })?;
        if all.is_null() {
            return Ok(Vec::new());
        }
        // SAFETY: the array has that many transactions, which are ours, as it is.
        unsafe {
            let own = |raw: &_| Transaction { raw: *raw, db: self, one_thread: PhantomData };
            let owned = slice::from_raw_parts(all.cast::<NonNull<_>>(), count).iter().map(own).collect();
            ffi::cambium_free(all.cast());
            Ok(owned)
        }
    }

    fn begin_optimistic(
        &self,
        write: &WriteOptions,
        options: &TransactionOptions,
    ) -> Result<*mut ffi::cambium_transaction_t> {
        // SAFETY: the options are ours, and copied; the database is open.
        unsafe {
            let its = ffi::cambium_optimistictransaction_options_create();
            if let Some(snapshot) = options.snapshot {
                ffi::cambium_optimistictransaction_options_set_set_snapshot(its, snapshot.into());
            }
            let at_snapshot = !options.read_newest;
            ffi::cambium_optimistictransaction_options_set_read_at_snapshot(its, at_snapshot.into());
            let begun =
                raw::check(|error| ffi::cambium_begin_optimistic_transaction(self.raw(), write.as_ptr(), its, error));
            ffi::cambium_optimistictransaction_options_destroy(its);
            begun
        }
    }

    /// Calls `work` with a transaction, and commits it if the result is `Ok`. Otherwise, and if it panics, the
    /// transaction is rolled back. After a [conflict](Error::is_conflict), of the work or of the commit, this is repeated
    /// in a new transaction, `attempts` times at most. So the work must have no effects outside of the transaction.
    ///
    /// If the work has [prepared](Transaction::prepare) the transaction, and the commit fails, it remains prepared.
    ///
    /// ```
    /// # fn main() -> cambium::Result<()> {
    /// # let path = std::env::temp_dir().join(format!("cambium-doc-transact-{}", std::process::id()));
    /// # let db = cambium::Db::open_default(&path)?;
    /// let count = db.transact(10, |transaction| {
    ///     let count = transaction.get_for_update("visits")?.map_or(0, |value| value[0]) + 1;
    ///     transaction.put("visits", [count])?;
    ///     Ok(count)
    /// })?;
    /// assert_eq!((count, db.get("visits")?), (1, Some(vec![1])));
    /// # db.close()?;
    /// # cambium::destroy_db(&cambium::Options::new(), &path)
    /// # }
    /// ```
    ///
    /// # Errors
    /// That of the work or of the commit; after the last attempt a conflict. That of the rollback of a prepared
    /// transaction, which then remains prepared.
    pub fn transact<T>(&self, attempts: u32, mut work: impl FnMut(&mut Transaction<'_>) -> Result<T>) -> Result<T> {
        let mut attempt = 1;
        loop {
            let mut transaction = RolledBack(Some(self.transaction()?));
            let done = work(transaction.get());
            let transaction = transaction.take();
            let done = match done {
                Ok(result) => transaction.commit().map(|()| result),
                Err(error) => Err(transaction.rollback().err().unwrap_or(error)),
            };
            match done {
                Err(error) if error.is_conflict() && attempt < attempts => {}
                done => return done,
            }
            // Some chance, so that two transactions do not meet again and again.
            let most = 100 << attempt.min(7);
            let pause = RandomState::new().build_hasher().finish() % most;
            std::thread::sleep(Duration::from_micros(pause));
            attempt += 1;
        }
    }
}

/// A transaction that is rolled back when this is dropped, also if it is prepared, unless it was taken.
struct RolledBack<'db>(Option<Transaction<'db>>);

impl<'db> RolledBack<'db> {
    fn get(&mut self) -> &mut Transaction<'db> {
        self.0.as_mut().expect("it is taken at the end")
    }

    fn take(&mut self) -> Transaction<'db> {
        self.0.take().expect("it is taken once")
    }
}

impl Drop for RolledBack<'_> {
    fn drop(&mut self) {
        // The panic that goes on is what the caller learns of.
        let _ = self.0.take().map(Transaction::rollback);
    }
}

fn begin_locking(
    db: NonNull<ffi::cambium_transactiondb_t>,
    write: &WriteOptions,
    options: &TransactionOptions,
) -> *mut ffi::cambium_transaction_t {
    // SAFETY: the options are ours, and copied; the database is open.
    unsafe {
        let its = ffi::cambium_transaction_options_create();
        ffi::cambium_transaction_options_set_set_snapshot(its, options.snapshot.unwrap_or(false).into());
        let at_snapshot = !options.read_newest;
        ffi::cambium_transaction_options_set_read_at_snapshot(its, at_snapshot.into());
        ffi::cambium_transaction_options_set_deadlock_detect(its, options.deadlock_detect.into());
        ffi::cambium_transaction_options_set_max_write_batch_size(its, options.max_write_batch_size);
        ffi::cambium_transaction_options_set_skip_prepare(its, options.skip_prepare.into());
        if let Some(time) = options.expiration {
            ffi::cambium_transaction_options_set_expiration(its, milliseconds(time));
        }
        let begun = ffi::cambium_transaction_begin(db.as_ptr(), write.as_ptr(), its, ptr::null_mut());
        ffi::cambium_transaction_options_destroy(its);
        if let Some(time) = options.lock_timeout {
            ffi::cambium_transaction_set_lock_timeout(begun, milliseconds(time));
        }
        begun
    }
}

/// Reads and writes keys that take effect together when it [commits](Self::commit), and only if no other writer has
/// written a key that it tracks: one that it writes, or reads by [`get_for_update`](Self::get_for_update). Its reads
/// see its own writes; other reads do not.
///
/// A transaction borrows its database, so a program that closes or drops the database before does not compile. A
/// transaction that is dropped is rolled back, unless it is [prepared](Self::prepare). It may be sent to another thread,
/// and only one thread at a time may use it.
///
/// ```
/// # fn main() -> cambium::Result<()> {
/// # let path = std::env::temp_dir().join(format!("cambium-doc-transaction-{}", std::process::id()));
/// # let db = cambium::Db::open_default(&path)?;
/// let mut first = db.transaction()?;
/// let mut second = db.transaction()?;
/// first.put("key", "1")?;
/// second.put("key", "2")?;
/// first.commit()?;
/// assert!(second.commit().unwrap_err().is_conflict());
/// # db.close()?;
/// # cambium::destroy_db(&cambium::Options::new(), &path)
/// # }
/// ```
pub struct Transaction<'db> {
    raw: NonNull<ffi::cambium_transaction_t>,
    db: &'db Db,
    /// `&Transaction` is not `Send`.
    one_thread: PhantomData<Cell<()>>,
}

// SAFETY: one thread at a time may use a transaction, and that may be any thread. What borrows it is not `Send`.
unsafe impl Send for Transaction<'_> {}

/// Whether a read tracks its key.
#[derive(Clone, Copy)]
enum Use {
    Read,
    Shared,
    Exclusive,
}

impl Transaction<'_> {
    // ---- The end ----

    /// The first of two phases: records the transaction, which needs a [name](Self::set_name), in the database. From then
    /// on it can only be read, committed or rolled back, and neither others nor a crash can make its commit fail. It
    /// remains prepared until then, also if it is dropped: see [`Db::prepared_transactions`]. For databases of
    /// [`Db::open_transaction_db`] only.
    ///
    /// # Errors
    /// `InvalidArgument` if it has no name, is prepared already, or is optimistic; `Expired`; otherwise as
    /// [`ColumnFamily::put`].
    pub fn prepare(&mut self) -> Result<()> {
        // SAFETY: the transaction is valid.
        raw::check(|error| unsafe { ffi::cambium_transaction_prepare(self.raw.as_ptr(), error) })
    }

    /// Writes what the transaction has written, as a whole. After an error nothing is written, except after a failed
    /// sync: then the database takes no writes until it is opened again, and reads may see those of the transaction.
    /// If it is [prepared](Self::prepare), it remains so after an error.
    ///
    /// # Errors
    /// `Busy` if others have written a key that it tracks; `TryAgain` if whether that is so is not known any more;
    /// `Expired`; otherwise as [`ColumnFamily::put`].
    pub fn commit(self) -> Result<()> {
        // SAFETY: the transaction is valid.
        raw::check(|error| unsafe { ffi::cambium_transaction_commit(self.raw.as_ptr(), error) })
    }

    /// Discards what the transaction has written. The same as to drop it, unless it is [prepared](Self::prepare).
    ///
    /// # Errors
    /// Only if it is prepared: as [`ColumnFamily::put`]. It then remains prepared.
    pub fn rollback(self) -> Result<()> {
        if !self.is_prepared() {
            return Ok(());
        }
        // SAFETY: the transaction is valid.
        raw::check(|error| unsafe { ffi::cambium_transaction_rollback(self.raw.as_ptr(), error) })
    }

    // ---- Reading ----

    /// The value of a key of the default column family. `None`: there is no such key.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn get(&self, key: impl AsRef<[u8]>) -> Result<Option<Vec<u8>>> {
        self.copy(&self.db.default, key.as_ref(), Use::Read)
    }

    /// The value of a key of a column family.
    ///
    /// # Errors
    /// As [`get`](Self::get); `InvalidArgument` if the family is of another database.
    pub fn get_cf(&self, family: &ColumnFamily, key: impl AsRef<[u8]>) -> Result<Option<Vec<u8>>> {
        self.copy(family, key.as_ref(), Use::Read)
    }

    /// As [`get`](Self::get), without a copy into a `Vec`.
    ///
    /// # Errors
    /// As `get`.
    pub fn get_pinned(&self, key: impl AsRef<[u8]>) -> Result<Option<PinnedValue<'_>>> {
        with_default_read(|options| self.pin(&self.db.default, key.as_ref(), Use::Read, options))
    }

    /// As [`get_cf`](Self::get_cf), with options, and without a copy into a `Vec`.
    ///
    /// # Errors
    /// As `get_cf`.
    pub fn get_pinned_cf_opt(
        &self,
        family: &ColumnFamily,
        key: impl AsRef<[u8]>,
        options: &ReadOptions,
    ) -> Result<Option<PinnedValue<'_>>> {
        self.pin(family, key.as_ref(), Use::Read, options.as_ptr())
    }

    /// Tracks a key, whether it exists or not, and returns its value. If others write it before the commit, the commit
    /// fails; in a database of [`Db::open_transaction_db`] they wait for the end of the transaction.
    ///
    /// # Errors
    /// As [`get`](Self::get); a [conflict](Error::is_conflict).
    pub fn get_for_update(&self, key: impl AsRef<[u8]>) -> Result<Option<Vec<u8>>> {
        self.copy(&self.db.default, key.as_ref(), Use::Exclusive)
    }

    /// As [`get_for_update`](Self::get_for_update), for a key of a column family.
    ///
    /// # Errors
    /// As `get_for_update`.
    pub fn get_for_update_cf(&self, family: &ColumnFamily, key: impl AsRef<[u8]>) -> Result<Option<Vec<u8>>> {
        self.copy(family, key.as_ref(), Use::Exclusive)
    }

    /// As [`get_for_update`](Self::get_for_update). In a database of [`Db::open_transaction_db`], others may share the
    /// key too.
    ///
    /// # Errors
    /// As `get_for_update`.
    pub fn get_for_share(&self, key: impl AsRef<[u8]>) -> Result<Option<Vec<u8>>> {
        self.copy(&self.db.default, key.as_ref(), Use::Shared)
    }

    /// As [`get_for_share`](Self::get_for_share), for a key of a column family.
    ///
    /// # Errors
    /// As `get_for_update`.
    pub fn get_for_share_cf(&self, family: &ColumnFamily, key: impl AsRef<[u8]>) -> Result<Option<Vec<u8>>> {
        self.copy(family, key.as_ref(), Use::Shared)
    }

    /// Takes one [`get_for_update`](Self::get_for_update) of a key back, if nothing else tracks it.
    pub fn undo_get_for_update(&self, key: impl AsRef<[u8]>) {
        let family = self.db.default.inner.as_ptr();
        let key = key.as_ref();
        // SAFETY: transaction, family and key are valid.
        unsafe {
            let data = raw::address(key);
            ffi::cambium_transaction_undo_get_for_update_cf(self.raw.as_ptr(), family, data, key.len());
        }
    }

    fn copy(&self, family: &ColumnFamily, key: &[u8], how: Use) -> Result<Option<Vec<u8>>> {
        let value = with_default_read(|options| self.pin(family, key, how, options))?;
        Ok(value.map(|value| value.to_vec()))
    }

    fn pin(
        &self,
        family: &ColumnFamily,
        key: &[u8],
        how: Use,
        options: *const ffi::cambium_readoptions_t,
    ) -> Result<Option<PinnedValue<'_>>> {
        self.db.check_own(family)?;
        let txn = self.raw.as_ptr();
        let its = family.inner.as_ptr();
        let data = raw::address(key);
        // SAFETY: transaction, options, family and key are valid.
        let slice = raw::check(|error| unsafe {
            match how {
                Use::Read => ffi::cambium_transaction_get_pinned_cf(txn, options, its, data, key.len(), error),
                Use::Shared | Use::Exclusive => {
                    let exclusive = matches!(how, Use::Exclusive).into();
                    ffi::cambium_transaction_get_pinned_for_update_cf(
                        txn,
                        options,
                        its,
                        data,
                        key.len(),
                        exclusive,
                        error,
                    )
                }
            }
        })?;
        // SAFETY: the slice is ours, and its database is borrowed.
        Ok(unsafe { PinnedValue::own(slice) })
    }

    /// A cursor over the default column family that also shows the writes of the transaction. It does not track keys.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn cursor(&self) -> Result<OverlayCursor<'_>> {
        self.cursor_cf_opt(&self.db.default, &ReadOptions::new())
    }

    /// As [`cursor`](Self::cursor), over a column family, with options, among them bounds.
    ///
    /// # Errors
    /// As `cursor`; `InvalidArgument` if the family is of another database.
    pub fn cursor_cf_opt(&self, family: &ColumnFamily, options: &ReadOptions) -> Result<OverlayCursor<'_>> {
        self.db.check_own(family)?;
        // SAFETY: transaction, options and family are valid.
        let made = unsafe {
            ffi::cambium_transaction_create_iterator_cf(self.raw.as_ptr(), options.as_ptr(), family.inner.as_ptr())
        };
        // SAFETY: the iterator is ours, and the cursor borrows this transaction.
        unsafe { OverlayCursor::own(made, &family.inner, options) }
    }

    /// Iterates over the entries of the default column family, with the writes of the transaction.
    ///
    /// # Errors
    /// As [`cursor`](Self::cursor).
    pub fn iter(&self) -> Result<OverlayEntries<'_>> {
        self.cursor().map(OverlayEntries::new)
    }

    /// As [`iter`](Self::iter), over a column family, with options, among them bounds.
    ///
    /// # Errors
    /// As [`cursor_cf_opt`](Self::cursor_cf_opt).
    pub fn iter_cf_opt(&self, family: &ColumnFamily, options: &ReadOptions) -> Result<OverlayEntries<'_>> {
        self.cursor_cf_opt(family, options).map(OverlayEntries::new)
    }

    // ---- Writing. A cursor or a pinned value that is used later keeps these from compiling ----

    /// Sets the value of a key, and tracks it.
    ///
    /// # Errors
    /// A [conflict](Error::is_conflict); `Aborted` if the writes would have more bytes than the options allow.
    pub fn put(&mut self, key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Result<()> {
        self.put_at(&self.db.default, key.as_ref(), value.as_ref())
    }

    /// Sets the value of a key of a column family, and tracks it.
    ///
    /// # Errors
    /// As [`put`](Self::put); `InvalidArgument` if the family is of another database.
    pub fn put_cf(&mut self, family: &ColumnFamily, key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Result<()> {
        self.put_at(family, key.as_ref(), value.as_ref())
    }

    fn put_at(&self, family: &ColumnFamily, key: &[u8], value: &[u8]) -> Result<()> {
        self.db.check_own(family)?;
        // SAFETY: transaction, family, key and value are valid.
        raw::check(|error| unsafe {
            ffi::cambium_transaction_put_cf(
                self.raw.as_ptr(),
                family.inner.as_ptr(),
                raw::address(key),
                key.len(),
                raw::address(value),
                value.len(),
                error,
            );
        })
    }

    /// Deletes a key, and tracks it. It need not exist.
    ///
    /// # Errors
    /// As [`put`](Self::put).
    pub fn delete(&mut self, key: impl AsRef<[u8]>) -> Result<()> {
        self.delete_at(&self.db.default, key.as_ref())
    }

    /// Deletes a key of a column family, and tracks it.
    ///
    /// # Errors
    /// As [`put_cf`](Self::put_cf).
    pub fn delete_cf(&mut self, family: &ColumnFamily, key: impl AsRef<[u8]>) -> Result<()> {
        self.delete_at(family, key.as_ref())
    }

    fn delete_at(&self, family: &ColumnFamily, key: &[u8]) -> Result<()> {
        self.db.check_own(family)?;
        let its = family.inner.as_ptr();
        // SAFETY: transaction, family and key are valid.
        raw::check(|error| unsafe {
            ffi::cambium_transaction_delete_cf(self.raw.as_ptr(), its, raw::address(key), key.len(), error);
        })
    }

    /// Does the operations of a batch one by one.
    ///
    /// # Errors
    /// As [`put`](Self::put).
    pub fn write(&mut self, batch: &WriteBatch) -> Result<()> {
        // SAFETY: transaction and batch are valid.
        raw::check(|error| unsafe {
            ffi::cambium_transaction_rebuild_from_writebatch(self.raw.as_ptr(), batch.as_ptr(), error);
        })
    }

    // ---- Save points and snapshots ----

    /// Remembers what was written and tracked so far.
    pub fn set_save_point(&mut self) {
        // SAFETY: the transaction is valid.
        unsafe { ffi::cambium_transaction_set_savepoint(self.raw.as_ptr()) };
    }

    /// Takes back what was done since the newest save point, and removes it.
    ///
    /// # Errors
    /// `NotFound` if there is none.
    pub fn rollback_to_save_point(&mut self) -> Result<()> {
        // SAFETY: the transaction is valid.
        raw::check(|error| unsafe { ffi::cambium_transaction_rollback_to_savepoint(self.raw.as_ptr(), error) })
    }

    /// Removes the newest save point, and takes nothing back.
    ///
    /// # Errors
    /// `NotFound` if there is none.
    pub fn pop_save_point(&mut self) -> Result<()> {
        // SAFETY: the transaction is valid.
        raw::check(|error| unsafe { ffi::cambium_transaction_pop_savepoint(self.raw.as_ptr(), error) })
    }

    /// Takes a snapshot now: from now on, a key conflicts if others have written it after it.
    pub fn set_snapshot(&mut self) {
        // SAFETY: the transaction is valid.
        unsafe { ffi::cambium_transaction_set_snapshot(self.raw.as_ptr()) };
    }

    /// Releases the snapshot of the transaction. Reads then see the newest state.
    pub fn clear_snapshot(&mut self) {
        // SAFETY: the transaction is valid.
        unsafe { ffi::cambium_transaction_clear_snapshot(self.raw.as_ptr()) };
    }

    /// The number of the last operation that the snapshot has. `None`: the transaction has no snapshot.
    #[must_use]
    pub fn snapshot_sequence_number(&self) -> Option<u64> {
        // SAFETY: the transaction is valid, and so is its snapshot.
        unsafe {
            let snapshot = ffi::cambium_transaction_snapshot(self.raw.as_ptr());
            (!snapshot.is_null()).then(|| ffi::cambium_snapshot_get_sequence_number(snapshot))
        }
    }

    // ---- Names and figures ----

    /// Gives the transaction a name of 1 to 511 bytes, which no other one may have until it ends. For databases of
    /// [`Db::open_transaction_db`] only.
    ///
    /// # Errors
    /// `InvalidArgument` if the name is taken, or this transaction has one; `NotSupported` for optimistic transactions.
    pub fn set_name(&mut self, name: &str) -> Result<()> {
        let data: *const c_char = raw::address(name.as_bytes());
        // SAFETY: the transaction is valid, and copies the name.
        raw::check(|error| unsafe { ffi::cambium_transaction_set_name(self.raw.as_ptr(), data, name.len(), error) })
    }

    /// The name; empty if it has none.
    #[must_use]
    pub fn name(&self) -> String {
        let mut length = 0;
        // SAFETY: the transaction is valid, and the name is ours.
        unsafe {
            raw::take_string(ffi::cambium_transaction_get_name(self.raw.as_ptr(), &raw mut length)).unwrap_or_default()
        }
    }

    /// A number that no other transaction of the process has.
    #[must_use]
    pub fn id(&self) -> u64 {
        // SAFETY: the transaction is valid.
        unsafe { ffi::cambium_transaction_get_id(self.raw.as_ptr()) }
    }

    /// How many keys are tracked.
    #[must_use]
    pub fn num_keys(&self) -> u64 {
        // SAFETY: the transaction is valid.
        unsafe { ffi::cambium_transaction_get_num_keys(self.raw.as_ptr()) }
    }

    /// How many puts it has.
    #[must_use]
    pub fn num_puts(&self) -> u64 {
        // SAFETY: the transaction is valid.
        unsafe { ffi::cambium_transaction_get_num_puts(self.raw.as_ptr()) }
    }

    /// How many deletes it has.
    #[must_use]
    pub fn num_deletes(&self) -> u64 {
        // SAFETY: the transaction is valid.
        unsafe { ffi::cambium_transaction_get_num_deletes(self.raw.as_ptr()) }
    }

    /// How long ago it began.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        // SAFETY: the transaction is valid.
        Duration::from_millis(unsafe { ffi::cambium_transaction_get_elapsed_time(self.raw.as_ptr()) })
    }

    /// Whether it has expired, and another transaction has taken one of its locks.
    #[must_use]
    pub fn has_lost_locks(&self) -> bool {
        self.is_in(ffi::cambium_transaction_locks_stolen)
    }

    /// Whether [`prepare`](Self::prepare) was called, and has succeeded.
    #[must_use]
    pub fn is_prepared(&self) -> bool {
        self.is_in(ffi::cambium_transaction_prepared)
    }

    fn is_in(&self, state: c_uint) -> bool {
        // SAFETY: the transaction is valid.
        let its = unsafe { ffi::cambium_transaction_get_state(self.raw.as_ptr()) };
        its == state as c_int
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        // SAFETY: the transaction is ours, and its database is borrowed.
        unsafe { ffi::cambium_transaction_destroy(self.raw.as_ptr()) };
    }
}

impl fmt::Debug for Transaction<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transaction")
            .field("id", &self.id())
            .field("num_keys", &self.num_keys())
            .finish_non_exhaustive()
    }
}
