//! Batches that are read before they are written.

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::ptr::{self, NonNull};

use cambium_sys as ffi;

use crate::call_options::{ReadOptions, WriteOptions, with_default_read};
use crate::column_family::ColumnFamily;
use crate::db::Db;
use crate::error::Result;
use crate::overlay::{OverlayCursor, OverlayEntries};
use crate::pinned::PinnedValue;
use crate::raw;

/// A batch of a database that can be read before it is written: alone, or as if it had been written.
///
/// If an operation is refused, for example because its key is too long, reads and the write fail with the reason, until
/// the batch is cleared, or rolled back to a save point before that operation.
///
/// ```
/// # fn main() -> cambium::Result<()> {
/// # let path = std::env::temp_dir().join(format!("cambium-doc-indexed-{}", std::process::id()));
/// # let db = cambium::Db::open_default(&path)?;
/// let mut batch = db.indexed_batch(0);
/// batch.put("key", "value");
/// assert_eq!((batch.get("key")?, db.get("key")?), (Some(b"value".to_vec()), None));
/// batch.write(&cambium::WriteOptions::synced())?;
/// # drop(batch);
/// # db.close()?;
/// # cambium::destroy_db(&cambium::Options::new(), &path)
/// # }
/// ```
pub struct IndexedBatch<'db> {
    raw: NonNull<ffi::cambium_writebatch_wi_t>,
    db: &'db Db,
    /// `&IndexedBatch` is not `Send`.
    one_thread: PhantomData<Cell<()>>,
}

// SAFETY: one thread at a time may use a batch, and that may be any thread. What borrows it is not `Send`.
unsafe impl Send for IndexedBatch<'_> {}

impl Db {
    /// An empty batch for this database, of at most `max_bytes`; 0: no limit.
    #[must_use]
    pub fn indexed_batch(&self, max_bytes: usize) -> IndexedBatch<'_> {
        // All operations name their family, so the order of the batch does not matter.
        // SAFETY: the arguments are valid.
        let raw = unsafe { ffi::cambium_writebatch_wi_create_with_params(ptr::null(), 0, 1, max_bytes) };
        let raw = NonNull::new(raw).expect("the library returns no NULL here");
        IndexedBatch { raw, db: self, one_thread: PhantomData }
    }
}

impl IndexedBatch<'_> {
    /// Adds: set the value of a key.
    pub fn put(&mut self, key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> &mut Self {
        self.put_at(&self.db.default, key.as_ref(), value.as_ref());
        self
    }

    /// Adds: set the value of a key of a column family.
    ///
    /// # Errors
    /// `InvalidArgument` if the family is of another database.
    pub fn put_cf(
        &mut self,
        family: &ColumnFamily,
        key: impl AsRef<[u8]>,
        value: impl AsRef<[u8]>,
    ) -> Result<&mut Self> {
        self.db.check_own(family)?;
        self.put_at(family, key.as_ref(), value.as_ref());
        Ok(self)
    }

    fn put_at(&self, family: &ColumnFamily, key: &[u8], value: &[u8]) {
        // SAFETY: batch, family, key and value are valid.
        unsafe {
            ffi::cambium_writebatch_wi_put_cf(
                self.raw.as_ptr(),
                family.inner.as_ptr(),
                raw::address(key),
                key.len(),
                raw::address(value),
                value.len(),
            );
        }
    }

    /// Adds: delete a key.
    pub fn delete(&mut self, key: impl AsRef<[u8]>) -> &mut Self {
        self.delete_at(&self.db.default, key.as_ref());
        self
    }

    /// Adds: delete a key of a column family.
    ///
    /// # Errors
    /// As [`put_cf`](Self::put_cf).
    pub fn delete_cf(&mut self, family: &ColumnFamily, key: impl AsRef<[u8]>) -> Result<&mut Self> {
        self.db.check_own(family)?;
        self.delete_at(family, key.as_ref());
        Ok(self)
    }

    fn delete_at(&self, family: &ColumnFamily, key: &[u8]) {
        let its = family.inner.as_ptr();
        // SAFETY: batch, family and key are valid.
        unsafe { ffi::cambium_writebatch_wi_delete_cf(self.raw.as_ptr(), its, raw::address(key), key.len()) };
    }

    /// Adds: delete the keys of a column family from `start` to `end`, without `end`.
    ///
    /// # Errors
    /// As [`put_cf`](Self::put_cf).
    pub fn delete_range_cf(
        &mut self,
        family: &ColumnFamily,
        start: impl AsRef<[u8]>,
        end: impl AsRef<[u8]>,
    ) -> Result<&mut Self> {
        self.db.check_own(family)?;
        let (start, end) = (start.as_ref(), end.as_ref());
        // SAFETY: batch, family and keys are valid.
        unsafe {
            ffi::cambium_writebatch_wi_delete_range_cf(
                self.raw.as_ptr(),
                family.inner.as_ptr(),
                raw::address(start),
                start.len(),
                raw::address(end),
                end.len(),
            );
        }
        Ok(self)
    }

    /// The number of operations.
    #[must_use]
    pub fn len(&self) -> usize {
        // SAFETY: the batch is valid.
        usize::try_from(unsafe { ffi::cambium_writebatch_wi_count(self.raw.as_ptr()) }).unwrap_or(usize::MAX)
    }

    /// Whether there are no operations.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Removes all operations and save points.
    pub fn clear(&mut self) -> &mut Self {
        // SAFETY: the batch is valid.
        unsafe { ffi::cambium_writebatch_wi_clear(self.raw.as_ptr()) };
        self
    }

    /// Remembers the operations that the batch has now.
    pub fn set_save_point(&mut self) -> &mut Self {
        // SAFETY: the batch is valid.
        unsafe { ffi::cambium_writebatch_wi_set_save_point(self.raw.as_ptr()) };
        self
    }

    /// Removes the operations since the newest save point, and the save point.
    ///
    /// # Errors
    /// `NotFound` if there is none.
    pub fn rollback_to_save_point(&mut self) -> Result<()> {
        // SAFETY: the batch is valid.
        raw::check(|error| unsafe { ffi::cambium_writebatch_wi_rollback_to_save_point(self.raw.as_ptr(), error) })
    }

    /// Removes the newest save point, and no operation.
    ///
    /// # Errors
    /// `NotFound` if there is none.
    pub fn pop_save_point(&mut self) -> Result<()> {
        // SAFETY: the batch is valid.
        raw::check(|error| unsafe { ffi::cambium_writebatch_wi_pop_save_point(self.raw.as_ptr(), error) })
    }

    /// The value that a key would have if the batch were written. `None`: there would be no such key.
    ///
    /// # Errors
    /// If it cannot be read, or the batch has refused an operation.
    pub fn get(&self, key: impl AsRef<[u8]>) -> Result<Option<Vec<u8>>> {
        self.get_cf(&self.db.default, key)
    }

    /// As [`get`](Self::get), for a key of a column family.
    ///
    /// # Errors
    /// As `get`; `InvalidArgument` if the family is of another database.
    pub fn get_cf(&self, family: &ColumnFamily, key: impl AsRef<[u8]>) -> Result<Option<Vec<u8>>> {
        self.db.check_own(family)?;
        let (its, key) = (family.inner.as_ptr(), key.as_ref());
        let slice = with_default_read(|options| {
            // SAFETY: batch, database, options, family and key are valid.
            raw::check(|error| unsafe {
                ffi::cambium_writebatch_wi_get_pinned_from_batch_and_db_cf(
                    self.raw.as_ptr(),
                    self.db.raw(),
                    options,
                    its,
                    raw::address(key),
                    key.len(),
                    error,
                )
            })
        })?;
        // SAFETY: the slice is ours, and its database is borrowed.
        Ok(unsafe { PinnedValue::own(slice) }.map(|value| value.to_vec()))
    }

    /// The value that the batch alone gives a key of a column family. `None`: it says nothing about the key, or deletes
    /// it.
    ///
    /// # Errors
    /// As [`get_cf`](Self::get_cf).
    pub fn get_from_batch_cf(&self, family: &ColumnFamily, key: impl AsRef<[u8]>) -> Result<Option<Vec<u8>>> {
        self.db.check_own(family)?;
        let (its, key) = (family.inner.as_ptr(), key.as_ref());
        let mut length = 0;
        // SAFETY: batch, family and key are valid.
        let value = raw::check(|error| unsafe {
            ffi::cambium_writebatch_wi_get_from_batch_cf(
                self.raw.as_ptr(),
                ptr::null(),
                its,
                raw::address(key),
                key.len(),
                &raw mut length,
                error,
            )
        })?;
        if value.is_null() {
            return Ok(None);
        }
        // SAFETY: the value is ours.
        let copy = unsafe { raw::bytes(value, length) }.to_vec();
        // SAFETY: the value is ours, and freed once.
        unsafe { ffi::cambium_free(value.cast()) };
        Ok(Some(copy))
    }

    /// A cursor over a column family as if the batch had been written.
    ///
    /// # Errors
    /// As [`get_cf`](Self::get_cf).
    pub fn cursor_cf_opt(&self, family: &ColumnFamily, options: &ReadOptions) -> Result<OverlayCursor<'_>> {
        self.db.check_own(family)?;
        let its = family.inner.as_ptr();
        // SAFETY: batch, database, options and family are valid. The second iterator takes the first one over.
        let made = unsafe {
            let below = ffi::cambium_create_iterator_cf(self.db.raw(), options.as_ptr(), its);
            ffi::cambium_writebatch_wi_create_iterator_with_base_cf_readopts(
                self.raw.as_ptr(),
                below,
                its,
                options.as_ptr(),
            )
        };
        // SAFETY: the iterator is ours, and the cursor borrows this batch.
        unsafe { OverlayCursor::own(made, &family.inner, options) }
    }

    /// Iterates over the entries of the default column family as if the batch had been written.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    pub fn iter(&self) -> Result<OverlayEntries<'_>> {
        self.cursor_cf_opt(&self.db.default, &ReadOptions::new()).map(OverlayEntries::new)
    }

    /// Writes all operations, or none. The batch keeps them.
    ///
    /// # Errors
    /// As [`ColumnFamily::put`]; also if the batch has refused an operation.
    pub fn write(&self, options: &WriteOptions) -> Result<()> {
        // SAFETY: database, options and batch are valid.
        raw::check(|error| unsafe {
            ffi::cambium_write_writebatch_wi(self.db.raw(), options.as_ptr(), self.raw.as_ptr(), error);
        })
    }
}

impl Drop for IndexedBatch<'_> {
    fn drop(&mut self) {
        // SAFETY: the batch is ours.
        unsafe { ffi::cambium_writebatch_wi_destroy(self.raw.as_ptr()) };
    }
}

impl fmt::Debug for IndexedBatch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IndexedBatch").field("len", &self.len()).finish_non_exhaustive()
    }
}
