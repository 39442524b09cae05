//! Several operations that take effect together, or not at all.

use std::any::Any;
use std::ffi::{c_char, c_void};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::NonNull;

use cambium_sys as ffi;

use crate::column_family::ColumnFamily;
use crate::error::{Error, ErrorKind, Result};
use crate::raw;

/// Several operations, of any column families of one database, that are [written](crate::Db::write) together or not at
/// all. Of two operations on a key the later one counts.
///
/// The operations report no errors. If one is refused, for example because its key is too long, the write of the batch
/// fails with the reason, until the batch is cleared, or rolled back to a save point before that operation.
///
/// ```
/// # fn main() -> cambium::Result<()> {
/// # let path = std::env::temp_dir().join(format!("cambium-doc-batch-{}", std::process::id()));
/// # let db = cambium::Db::open_default(&path)?;
/// use cambium::WriteBatch;
///
/// let mut batch = WriteBatch::new();
/// batch.put("a", "1");
/// batch.delete("b");
/// db.write(&batch)?;
/// assert_eq!(db.get("a")?, Some(b"1".to_vec()));
/// # db.close()?;
/// # cambium::destroy_db(&cambium::Options::new(), &path)
/// # }
/// ```
pub struct WriteBatch {
    raw: NonNull<ffi::cambium_writebatch_t>,
}

// SAFETY: one thread at a time may use a batch, and that may be any thread.
unsafe impl Send for WriteBatch {}

/// An operation of a batch. Column families are given by [number](ColumnFamily::id); that of the default one is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation<'a> {
    /// Sets the value of a key.
    Put {
        /// The number of the column family.
        family: u32,
        /// The key.
        key: &'a [u8],
        /// The value.
        value: &'a [u8],
    },
    /// Deletes a key.
    Delete {
        /// The number of the column family.
        family: u32,
        /// The key.
        key: &'a [u8],
    },
    /// Deletes a range of keys.
    DeleteRange {
        /// The number of the column family.
        family: u32,
        /// The first key.
        start: &'a [u8],
        /// The first key after the range.
        end: &'a [u8],
    },
}

impl WriteBatch {
    /// A batch without operations.
    #[must_use]
    pub fn new() -> Self {
        // SAFETY: the function has no requirements.
        let made = unsafe { ffi::cambium_writebatch_create() };
        Self { raw: NonNull::new(made).expect("the library returns no NULL here") }
    }

    /// Makes a batch from its [bytes](Self::data).
    ///
    /// # Errors
    /// `Corruption` if the bytes are not those of a batch.
    pub fn from_data(data: impl AsRef<[u8]>) -> Result<Self> {
        let data = data.as_ref();
        // SAFETY: the bytes can be read.
        let made = unsafe { ffi::cambium_writebatch_create_from(raw::address(data), data.len()) };
        match NonNull::new(made) {
            Some(raw) => Ok(Self { raw }),
            None => Err(Error::new(ErrorKind::Corruption, "the bytes are not those of a batch")),
        }
    }

    pub(crate) fn as_ptr(&self) -> *mut ffi::cambium_writebatch_t {
        self.raw.as_ptr()
    }

    /// Sets the value of a key of the default family.
    pub fn put(&mut self, key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> &mut Self {
        let (key, value) = (key.as_ref(), value.as_ref());
        // SAFETY: the batch is valid and borrowed exclusively, and copies key and value.
        unsafe {
            ffi::cambium_writebatch_put(self.as_ptr(), raw::address(key), key.len(), raw::address(value), value.len());
        }
        self
    }

    /// Sets the value of a key of a family.
    pub fn put_cf(&mut self, family: &ColumnFamily, key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> &mut Self {
        let (key, value) = (key.as_ref(), value.as_ref());
        // SAFETY: the batch is valid and borrowed exclusively, the family is valid, and key and value are copied.
        unsafe {
            ffi::cambium_writebatch_put_cf(
                self.as_ptr(),
                family.inner.as_ptr(),
                raw::address(key),
                key.len(),
                raw::address(value),
                value.len(),
            );
        }
        self
    }

    /// Deletes a key of the default family.
    pub fn delete(&mut self, key: impl AsRef<[u8]>) -> &mut Self {
        let key = key.as_ref();
        // SAFETY: the batch is valid and borrowed exclusively, and copies the key.
        unsafe { ffi::cambium_writebatch_delete(self.as_ptr(), raw::address(key), key.len()) };
        self
    }

    /// Deletes a key of a family.
    pub fn delete_cf(&mut self, family: &ColumnFamily, key: impl AsRef<[u8]>) -> &mut Self {
        let key = key.as_ref();
        // SAFETY: the batch is valid and borrowed exclusively, the family is valid, and the key is copied.
        unsafe {
            ffi::cambium_writebatch_delete_cf(self.as_ptr(), family.inner.as_ptr(), raw::address(key), key.len());
        }
        self
    }

    /// As [`delete`](Self::delete), by its name in RocksDB.
    pub fn single_delete(&mut self, key: impl AsRef<[u8]>) -> &mut Self {
        let key = key.as_ref();
        // SAFETY: the batch is valid and borrowed exclusively, and copies the key.
        unsafe { ffi::cambium_writebatch_singledelete(self.as_ptr(), raw::address(key), key.len()) };
        self
    }

    /// As [`delete_cf`](Self::delete_cf), by its name in RocksDB.
    pub fn single_delete_cf(&mut self, family: &ColumnFamily, key: impl AsRef<[u8]>) -> &mut Self {
        let key = key.as_ref();
        // SAFETY: the batch is valid and borrowed exclusively, the family is valid, and the key is copied.
        unsafe {
            ffi::cambium_writebatch_singledelete_cf(self.as_ptr(), family.inner.as_ptr(), raw::address(key), key.len());
        }
        self
    }

    /// Deletes the keys of the default family from `start` to `end`, without `end`, as they are at this point of the batch.
    pub fn delete_range(&mut self, start: impl AsRef<[u8]>, end: impl AsRef<[u8]>) -> &mut Self {
        let (start, end) = (start.as_ref(), end.as_ref());
        // SAFETY: the batch is valid and borrowed exclusively, and copies the keys.
        unsafe {
            ffi::cambium_writebatch_delete_range(
                self.as_ptr(),
                raw::address(start),
                start.len(),
                raw::address(end),
                end.len(),
            );
        }
        self
    }

    /// As [`delete_range`](Self::delete_range), in a family.
    pub fn delete_range_cf(
        &mut self,
        family: &ColumnFamily,
        start: impl AsRef<[u8]>,
        end: impl AsRef<[u8]>,
    ) -> &mut Self {
        let (start, end) = (start.as_ref(), end.as_ref());
        // SAFETY: the batch is valid and borrowed exclusively, the family is valid, and the keys are copied.
        unsafe {
            ffi::cambium_writebatch_delete_range_cf(
                self.as_ptr(),
                family.inner.as_ptr(),
                raw::address(start),
                start.len(),
                raw::address(end),
                end.len(),
            );
        }
        self
    }

    /// Appends all operations of another batch.
    pub fn append(&mut self, other: &WriteBatch) -> &mut Self {
        // SAFETY: both batches are valid, and this one is borrowed exclusively.
        unsafe { ffi::cambium_writebatch_append(self.as_ptr(), other.as_ptr()) };
        self
    }

    /// Removes all operations and save points.
    pub fn clear(&mut self) -> &mut Self {
        // SAFETY: the batch is valid and borrowed exclusively.
        unsafe { ffi::cambium_writebatch_clear(self.as_ptr()) };
        self
    }

    /// The number of operations.
    #[must_use]
    pub fn len(&self) -> usize {
        // SAFETY: the batch is valid.
        let count = unsafe { ffi::cambium_writebatch_count(self.as_ptr()) };
        // The library counts in 32 bits without a sign.
        count as u32 as usize
    }

    /// Whether there are no operations.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The operations as bytes, in a format of the library. [`from_data`](Self::from_data) makes the batch again.
    #[must_use]
    pub fn data(&self) -> &[u8] {
        let mut length = 0;
        // SAFETY: the batch is valid. The bytes are valid until it changes, which needs an exclusive borrow.
        unsafe {
            let data = ffi::cambium_writebatch_data(self.as_ptr(), &raw mut length);
            raw::bytes(data, length)
        }
    }

    /// Marks the current end of the batch.
    pub fn set_save_point(&mut self) -> &mut Self {
        // SAFETY: the batch is valid and borrowed exclusively.
        unsafe { ffi::cambium_writebatch_set_save_point(self.as_ptr()) };
        self
    }

    /// Removes what was added since the last save point, and that save point.
    ///
    /// # Errors
    /// `NotFound` if there is no save point.
    pub fn rollback_to_save_point(&mut self) -> Result<()> {
        // SAFETY: the batch is valid and borrowed exclusively.
        raw::check(|error| unsafe { ffi::cambium_writebatch_rollback_to_save_point(self.as_ptr(), error) })
    }

    /// Removes the last save point, and keeps what was added since.
    ///
    /// # Errors
    /// `NotFound` if there is no save point.
    pub fn pop_save_point(&mut self) -> Result<()> {
        // SAFETY: the batch is valid and borrowed exclusively.
        raw::check(|error| unsafe { ffi::cambium_writebatch_pop_save_point(self.as_ptr(), error) })
    }

    /// Calls `visit` for each operation, in order. A panic in it goes on to the caller.
    ///
    /// # Errors
    /// If the batch is damaged.
    pub fn for_each(&self, mut visit: impl FnMut(Operation<'_>)) -> Result<()> {
        let mut visitor = Visitor { visit: &mut visit, panic: None };
        let state: *mut c_void = (&raw mut visitor).cast();
        // SAFETY: the batch is valid, and the functions are those for this state, which lives during the call.
        let done = raw::check(|error| unsafe {
            ffi::cambium_writebatch_iterate_cf(
                self.as_ptr(),
                state,
                Some(visit_put),
                Some(visit_delete),
                Some(visit_delete_range),
                error,
            );
        });
        if let Some(panic) = visitor.panic {
            resume_unwind(panic);
        }
        done
    }
}

impl Default for WriteBatch {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for WriteBatch {
    fn drop(&mut self) {
        // SAFETY: the batch is ours.
        unsafe { ffi::cambium_writebatch_destroy(self.as_ptr()) };
    }
}

impl fmt::Debug for WriteBatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WriteBatch").field("len", &self.len()).finish_non_exhaustive()
    }
}

/// Passes operations on, until there is a panic.
struct Visitor<'a> {
    visit: &'a mut dyn FnMut(Operation<'_>),
    panic: Option<Box<dyn Any + Send>>,
}

impl Visitor<'_> {
    fn pass(&mut self, operation: Operation<'_>) {
        if self.panic.is_none() {
            self.panic = catch_unwind(AssertUnwindSafe(|| (self.visit)(operation))).err();
        }
    }
}

/// # Safety
/// `state` is a `Visitor` that nothing else uses, and the bytes can be read.
unsafe extern "C" fn visit_put(
    state: *mut c_void,
    family: u32,
    key: *const c_char,
    key_length: usize,
    value: *const c_char,
    value_length: usize,
) {
    // SAFETY: the caller promises it.
    unsafe {
        let (key, value) = (raw::bytes(key, key_length), raw::bytes(value, value_length));
        (*state.cast::<Visitor<'_>>()).pass(Operation::Put { family, key, value });
    }
}

/// # Safety
/// As `visit_put`.
unsafe extern "C" fn visit_delete(state: *mut c_void, family: u32, key: *const c_char, key_length: usize) {
    // SAFETY: the caller promises it.
    unsafe {
        let key = raw::bytes(key, key_length);
        (*state.cast::<Visitor<'_>>()).pass(Operation::Delete { family, key });
    }
}

/// # Safety
/// As `visit_put`.
unsafe extern "C" fn visit_delete_range(
    state: *mut c_void,
    family: u32,
    start: *const c_char,
    start_length: usize,
    end: *const c_char,
    end_length: usize,
) {
    // SAFETY: the caller promises it.
    unsafe {
        let (start, end) = (raw::bytes(start, start_length), raw::bytes(end, end_length));
        (*state.cast::<Visitor<'_>>()).pass(Operation::DeleteRange { family, start, end });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls the functions as the library does.
    #[test]
    fn callbacks_pass_operations_on_until_there_is_a_panic() {
        let mut seen = Vec::new();
        let mut visit = |operation: Operation<'_>| {
            assert_ne!(operation, Operation::Delete { family: 9, key: b"bad" }, "expected by the test");
            seen.push(format!("{operation:?}"));
        };
        let mut visitor = Visitor { visit: &mut visit, panic: None };
        let state: *mut c_void = (&raw mut visitor).cast();
        // SAFETY: the state is of this type, and the bytes can be read.
        unsafe {
            visit_put(state, 1, c"k".as_ptr(), 1, std::ptr::null(), 0);
            visit_delete_range(state, 2, c"a".as_ptr(), 1, c"b".as_ptr(), 1);
            visit_delete(state, 9, c"bad".as_ptr(), 3);
            visit_delete(state, 1, c"k".as_ptr(), 1);
        }
        assert!(visitor.panic.is_some());
        assert_eq!(seen.len(), 2);
    }
}
