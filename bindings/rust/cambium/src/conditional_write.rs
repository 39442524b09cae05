//! Writes that take effect only if keys are as expected, without a transaction.

use std::ffi::c_char;
use std::fmt;
use std::marker::PhantomData;
use std::ptr::NonNull;

use cambium_sys as ffi;

use crate::call_options::{WriteOptions, with_default_write};
use crate::column_family::ColumnFamily;
use crate::db::Db;
use crate::error::Result;
use crate::raw;
use crate::write_batch::WriteBatch;

/// What keys must be when [`Db::write_if`] writes a batch. Copies keys and values, and borrows column families.
///
/// ```
/// # fn main() -> cambium::Result<()> {
/// # let path = std::env::temp_dir().join(format!("cambium-doc-conditions-{}", std::process::id()));
/// # let db = cambium::Db::open_default(&path)?;
/// use cambium::{WriteBatch, WriteConditions};
///
/// db.put("stock", "3")?;
/// let mut batch = WriteBatch::new();
/// batch.put("stock", "2").put("order", "1");
/// let mut conditions = WriteConditions::new();
/// conditions.has_value("stock", "3").is_absent("order");
/// assert!(db.write_if(&batch, &conditions)?);
/// assert!(!db.write_if(&batch, &conditions)?);
/// # db.close()?;
/// # cambium::destroy_db(&cambium::Options::new(), &path)
/// # }
/// ```
pub struct WriteConditions<'f> {
    raw: NonNull<ffi::cambium_writeconditions_t>,
    len: usize,
    families: PhantomData<&'f ColumnFamily>,
}

// SAFETY: one thread at a time may use conditions, and that may be any thread. Any thread may use a family.
unsafe impl Send for WriteConditions<'_> {}

impl<'f> WriteConditions<'f> {
    /// No conditions.
    #[must_use]
    pub fn new() -> Self {
        // SAFETY: the function has no requirements.
        let made = unsafe { ffi::cambium_writeconditions_create() };
        let raw = NonNull::new(made).expect("the library returns no NULL here");
        Self { raw, len: 0, families: PhantomData }
    }

    pub(crate) fn as_ptr(&self) -> *mut ffi::cambium_writeconditions_t {
        self.raw.as_ptr()
    }

    /// Adds: the key does not exist in the default family.
    pub fn is_absent(&mut self, key: impl AsRef<[u8]>) -> &mut Self {
        let key = key.as_ref();
        // SAFETY: the conditions are valid and borrowed exclusively, and copy the key.
        unsafe { ffi::cambium_writeconditions_is_absent(self.as_ptr(), raw::address(key), key.len()) };
        self.len += 1;
        self
    }

    /// Adds: the key does not exist in a family.
    pub fn is_absent_cf(&mut self, family: &'f ColumnFamily, key: impl AsRef<[u8]>) -> &mut Self {
        let key = key.as_ref();
        let handle = family.inner.as_ptr();
        // SAFETY: the conditions are valid and borrowed exclusively, and copy the key. The family outlives them.
        unsafe { ffi::cambium_writeconditions_is_absent_cf(self.as_ptr(), handle, raw::address(key), key.len()) };
        self.len += 1;
        self
    }

    /// Adds: the key exists in the default family, with this value.
    pub fn has_value(&mut self, key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> &mut Self {
        let (key, value) = (key.as_ref(), value.as_ref());
        // SAFETY: the conditions are valid and borrowed exclusively, and copy key and value.
        unsafe {
            ffi::cambium_writeconditions_has_value(
                self.as_ptr(),
                raw::address(key),
                key.len(),
                raw::address(value),
                value.len(),
            );
        }
        self.len += 1;
        self
    }

    /// Adds: the key exists in a family, with this value.
    pub fn has_value_cf(
        &mut self,
        family: &'f ColumnFamily,
        key: impl AsRef<[u8]>,
        value: impl AsRef<[u8]>,
    ) -> &mut Self {
        let (key, value) = (key.as_ref(), value.as_ref());
        // SAFETY: the conditions are valid and borrowed exclusively, and copy key and value. The family outlives them.
        unsafe {
            ffi::cambium_writeconditions_has_value_cf(
                self.as_ptr(),
                family.inner.as_ptr(),
                raw::address(key),
                key.len(),
                raw::address(value),
                value.len(),
            );
        }
        self.len += 1;
        self
    }

    /// Removes all conditions.
    pub fn clear(&mut self) -> &mut Self {
        // SAFETY: the conditions are valid and borrowed exclusively.
        unsafe { ffi::cambium_writeconditions_clear(self.as_ptr()) };
        self.len = 0;
        self
    }

    /// The number of conditions.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no conditions.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl Default for WriteConditions<'_> {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for WriteConditions<'_> {
    fn drop(&mut self) {
        // SAFETY: the conditions are ours.
        unsafe { ffi::cambium_writeconditions_destroy(self.as_ptr()) };
    }
}

impl fmt::Debug for WriteConditions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WriteConditions").field("len", &self.len).finish_non_exhaustive()
    }
}

impl Db {
    /// Writes a batch if all conditions hold at that moment: no other write comes in between. False: a condition does not
    /// hold, and nothing was written.
    ///
    /// Waits for no lock. In a database of [`open_transaction_db`](Self::open_transaction_db) it locks the keys of batch
    /// and conditions, and waits for them as other writes do.
    ///
    /// # Errors
    /// As [`write`](Self::write), and as [`ColumnFamily::get`] for the keys of the conditions; `InvalidArgument` if one is
    /// of another database.
    pub fn write_if(&self, batch: &WriteBatch, conditions: &WriteConditions<'_>) -> Result<bool> {
        with_default_write(|options| self.write_if_at(batch, conditions, options))
    }

    /// As [`write_if`](Self::write_if), with options.
    ///
    /// # Errors
    /// As `write_if`.
    pub fn write_if_opt(
        &self,
        batch: &WriteBatch,
        conditions: &WriteConditions<'_>,
        options: &WriteOptions,
    ) -> Result<bool> {
        self.write_if_at(batch, conditions, options.as_ptr())
    }

    fn write_if_at(
        &self,
        batch: &WriteBatch,
        conditions: &WriteConditions<'_>,
        options: *const ffi::cambium_writeoptions_t,
    ) -> Result<bool> {
        // SAFETY: database, options, conditions with their families, and batch are valid.
        written(|error| unsafe {
            ffi::cambium_write_if(self.raw(), options, conditions.as_ptr(), batch.as_ptr(), error)
        })
    }
}

/// Calls a function of the library that returns whether it has written.
fn written(call: impl FnOnce(*mut *mut c_char) -> u8) -> Result<bool> {
    raw::check(call).map(|written| written != 0)
}

/// Conditional writes of one key. They wait as [`Db::write_if`] does.
impl ColumnFamily {
    /// Sets the value of a key that does not exist. Returns whether it has written.
    ///
    /// # Errors
    /// As [`put`](Self::put) and [`get`](Self::get).
    pub fn put_if_absent(&self, key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Result<bool> {
        with_default_write(|options| self.put_if_absent_at(key.as_ref(), value.as_ref(), options))
    }

    /// As [`put_if_absent`](Self::put_if_absent), with options.
    ///
    /// # Errors
    /// As `put_if_absent`.
    pub fn put_if_absent_opt(
        &self,
        key: impl AsRef<[u8]>,
        value: impl AsRef<[u8]>,
        options: &WriteOptions,
    ) -> Result<bool> {
        self.put_if_absent_at(key.as_ref(), value.as_ref(), options.as_ptr())
    }

    fn put_if_absent_at(&self, key: &[u8], value: &[u8], options: *const ffi::cambium_writeoptions_t) -> Result<bool> {
        let family = &*self.inner;
        // SAFETY: database, options, family, key and value are valid.
        written(|error| unsafe {
            ffi::cambium_put_if_absent_cf(
                family.db(),
                options,
                family.as_ptr(),
                raw::address(key),
                key.len(),
                raw::address(value),
                value.len(),
                error,
            )
        })
    }

    /// Sets the value of a key that has the value `expected`. Returns whether it has written.
    ///
    /// # Errors
    /// As [`put_if_absent`](Self::put_if_absent).
    pub fn compare_and_set(
        &self,
        key: impl AsRef<[u8]>,
        expected: impl AsRef<[u8]>,
        value: impl AsRef<[u8]>,
    ) -> Result<bool> {
        with_default_write(|options| self.compare_and_set_at(key.as_ref(), expected.as_ref(), value.as_ref(), options))
    }

    /// As [`compare_and_set`](Self::compare_and_set), with options.
    ///
    /// # Errors
    /// As `put_if_absent`.
    pub fn compare_and_set_opt(
        &self,
        key: impl AsRef<[u8]>,
        expected: impl AsRef<[u8]>,
        value: impl AsRef<[u8]>,
        options: &WriteOptions,
    ) -> Result<bool> {
        self.compare_and_set_at(key.as_ref(), expected.as_ref(), value.as_ref(), options.as_ptr())
    }

    fn compare_and_set_at(
        &self,
        key: &[u8],
        expected: &[u8],
        value: &[u8],
        options: *const ffi::cambium_writeoptions_t,
    ) -> Result<bool> {
        let family = &*self.inner;
        // SAFETY: database, options, family, key and values are valid.
        written(|error| unsafe {
            ffi::cambium_compare_and_set_cf(
                family.db(),
                options,
                family.as_ptr(),
                raw::address(key),
                key.len(),
                raw::address(expected),
                expected.len(),
                raw::address(value),
                value.len(),
                error,
            )
        })
    }

    /// Deletes a key that has the value `expected`. Returns whether it has deleted it.
    ///
    /// # Errors
    /// As [`put_if_absent`](Self::put_if_absent).
    pub fn compare_and_delete(&self, key: impl AsRef<[u8]>, expected: impl AsRef<[u8]>) -> Result<bool> {
        with_default_write(|options| self.compare_and_delete_at(key.as_ref(), expected.as_ref(), options))
    }

    /// As [`compare_and_delete`](Self::compare_and_delete), with options.
    ///
    /// # Errors
    /// As `put_if_absent`.
    pub fn compare_and_delete_opt(
        &self,
        key: impl AsRef<[u8]>,
        expected: impl AsRef<[u8]>,
        options: &WriteOptions,
    ) -> Result<bool> {
        self.compare_and_delete_at(key.as_ref(), expected.as_ref(), options.as_ptr())
    }

    fn compare_and_delete_at(
        &self,
        key: &[u8],
        expected: &[u8],
        options: *const ffi::cambium_writeoptions_t,
    ) -> Result<bool> {
        let family = &*self.inner;
        // SAFETY: database, options, family, key and value are valid.
        written(|error| unsafe {
            ffi::cambium_compare_and_delete_cf(
                family.db(),
                options,
                family.as_ptr(),
                raw::address(key),
                key.len(),
                raw::address(expected),
                expected.len(),
                error,
            )
        })
    }
}
