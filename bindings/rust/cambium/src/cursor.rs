//! Walking over keys without copies.

use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;

use cambium_sys as ffi;

use crate::call_options::ReadOptions;
use crate::db_core::{DbCore, FamilyCore};
use crate::error::{Error, ErrorKind, Result};
use crate::raw;
use crate::snapshot::Snapshot;

/// Walks over the keys of a column family in both directions. It shows the state at its creation, or that of a snapshot.
///
/// Each move returns whether the cursor is at an entry, whose key and value are then borrowed from it until it moves.
/// Nothing is copied. [`iter`](crate::Db::iter) has the interface of [`Iterator`], and copies.
///
/// A cursor keeps its database open, and the files of its state on disk. One thread at a time may use it.
///
/// ```
/// # fn main() -> cambium::Result<()> {
/// # let path = std::env::temp_dir().join(format!("cambium-doc-cursor-{}", std::process::id()));
/// # let db = cambium::Db::open_default(&path)?;
/// db.put("a", "1")?;
/// db.put("b", "22")?;
/// let mut bytes = 0;
/// let mut cursor = db.cursor()?;
/// cursor.seek_to_first()?;
/// while let Some((key, value)) = cursor.entry() {
///     bytes += key.len() + value.len();
///     cursor.next()?;
/// }
/// assert_eq!(bytes, 5);
/// # drop(cursor);
/// # db.close()?;
/// # cambium::destroy_db(&cambium::Options::new(), &path)
/// # }
/// ```
pub struct Cursor {
    raw: NonNull<ffi::cambium_iterator_t>,
    is_valid: bool,
    /// The value of the entry has been read.
    has_value: bool,
    /// Moves read no values.
    is_unprepared: bool,
    /// Borrowed by the library.
    _snapshot: Option<Snapshot>,
    /// Released after the cursor.
    _core: Arc<DbCore>,
}

// SAFETY: one thread at a time may use a cursor, and that may be any thread.
unsafe impl Send for Cursor {}

impl Cursor {
    pub(crate) fn new(family: &FamilyCore, options: &ReadOptions) -> Result<Self> {
        // SAFETY: database, options and family are valid.
        let raw = unsafe { ffi::cambium_create_iterator_cf(family.db(), options.as_ptr(), family.as_ptr()) };
        // SAFETY: the iterator is ours.
        let cursor = unsafe { Self::own(raw, &family.core, options) };
        cursor.error()?;
        Ok(cursor)
    }

    /// One cursor for each family, all of the same state.
    pub(crate) fn new_many(core: &Arc<DbCore>, families: &[&FamilyCore], options: &ReadOptions) -> Result<Vec<Self>> {
        let mut handles: Vec<_> = families.iter().map(|family| family.as_ptr()).collect();
        let mut made = vec![std::ptr::null_mut(); families.len()];
        // SAFETY: database, options and families are valid, and there is room for the iterators.
        raw::check(|error| unsafe {
            ffi::cambium_create_iterators(
                core.raw().as_ptr(),
                options.as_ptr(),
                handles.as_mut_ptr(),
                made.as_mut_ptr(),
                handles.len(),
                error,
            );
        })?;
        // SAFETY: the iterators are ours.
        Ok(made.into_iter().map(|raw| unsafe { Self::own(raw, core, options) }).collect())
    }

    /// A cursor of an iterator that was made by another function.
    ///
    /// # Safety
    /// As [`own`](Self::own).
    pub(crate) unsafe fn adopt(
        iterator: *mut ffi::cambium_iterator_t,
        family: &FamilyCore,
        options: &ReadOptions,
    ) -> Result<Self> {
        // SAFETY: the caller promises it.
        let cursor = unsafe { Self::own(iterator, &family.core, options) };
        cursor.error()?;
        Ok(cursor)
    }

    /// # Safety
    /// `iterator` is an iterator of this database, made with these options, that nothing else destroys.
    unsafe fn own(iterator: *mut ffi::cambium_iterator_t, core: &Arc<DbCore>, options: &ReadOptions) -> Self {
        Self {
            raw: NonNull::new(iterator).expect("the library returns no NULL here"),
            is_valid: false,
            has_value: false,
            is_unprepared: options.allow_unprepared_value(),
            _snapshot: options.snapshot().cloned(),
            _core: Arc::clone(core),
        }
    }

    /// Moves to the first entry. Returns false if there is none.
    ///
    /// # Errors
    /// If an entry cannot be read. The cursor is then at no entry until the next seek.
    pub fn seek_to_first(&mut self) -> Result<bool> {
        // SAFETY: the iterator is valid.
        unsafe { ffi::cambium_iter_seek_to_first(self.raw.as_ptr()) };
        self.arrive()
    }

    /// Moves to the last entry. Returns false if there is none.
    ///
    /// # Errors
    /// As [`seek_to_first`](Self::seek_to_first).
    pub fn seek_to_last(&mut self) -> Result<bool> {
        // SAFETY: the iterator is valid.
        unsafe { ffi::cambium_iter_seek_to_last(self.raw.as_ptr()) };
        self.arrive()
    }

    /// Moves to the first entry whose key is `key` or after it. Returns false if there is none.
    ///
    /// # Errors
    /// As [`seek_to_first`](Self::seek_to_first).
    pub fn seek(&mut self, key: impl AsRef<[u8]>) -> Result<bool> {
        let key = key.as_ref();
        // SAFETY: the iterator is valid, and copies the key.
        unsafe { ffi::cambium_iter_seek(self.raw.as_ptr(), raw::address(key), key.len()) };
        self.arrive()
    }

    /// Moves to the last entry whose key is `key` or before it. Returns false if there is none.
    ///
    /// # Errors
    /// As [`seek_to_first`](Self::seek_to_first).
    pub fn seek_for_prev(&mut self, key: impl AsRef<[u8]>) -> Result<bool> {
        let key = key.as_ref();
        // SAFETY: the iterator is valid, and copies the key.
        unsafe { ffi::cambium_iter_seek_for_prev(self.raw.as_ptr(), raw::address(key), key.len()) };
        self.arrive()
    }

    /// Moves to the next entry. Returns false if there is none, or if the cursor was at no entry.
    ///
    /// # Errors
    /// As [`seek_to_first`](Self::seek_to_first).
    #[expect(clippy::should_implement_trait, reason = "an Iterator could not lend its entries")]
    pub fn next(&mut self) -> Result<bool> {
        // SAFETY: the iterator is valid. If it is at no entry, this does nothing.
        unsafe { ffi::cambium_iter_next(self.raw.as_ptr()) };
        self.arrive()
    }

    /// Moves to the previous entry. Returns false if there is none, or if the cursor was at no entry.
    ///
    /// # Errors
    /// As [`seek_to_first`](Self::seek_to_first).
    pub fn prev(&mut self) -> Result<bool> {
        // SAFETY: the iterator is valid. If it is at no entry, this does nothing.
        unsafe { ffi::cambium_iter_prev(self.raw.as_ptr()) };
        self.arrive()
    }

    /// Looks where a move has ended.
    fn arrive(&mut self) -> Result<bool> {
        // SAFETY: the iterator is valid.
        self.is_valid = unsafe { ffi::cambium_iter_valid(self.raw.as_ptr()) } != 0;
        self.has_value = self.is_valid && !self.is_unprepared;
        if !self.is_valid {
            self.error()?;
        }
        Ok(self.is_valid)
    }

    fn error(&self) -> Result<()> {
        // SAFETY: the iterator is valid.
        raw::check(|error| unsafe { ffi::cambium_iter_get_error(self.raw.as_ptr(), error) })
    }

    /// Whether the cursor is at an entry.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.is_valid
    }

    /// The key of the entry.
    #[must_use]
    pub fn key(&self) -> Option<&[u8]> {
        if !self.is_valid {
            return None;
        }
        let mut length = 0;
        // SAFETY: the iterator is at an entry. Its key is valid until it moves, which needs an exclusive borrow.
        unsafe {
            let data = ffi::cambium_iter_key(self.raw.as_ptr(), &raw mut length);
            Some(raw::bytes(data, length))
        }
    }

    /// The value of the entry. `None` too if it has not been read, see [`prepare_value`](Self::prepare_value).
    #[must_use]
    pub fn value(&self) -> Option<&[u8]> {
        if !self.has_value {
            return None;
        }
        let mut length = 0;
        // SAFETY: the iterator is at an entry whose value was read. It is valid until the iterator moves, which needs an
        // exclusive borrow.
        unsafe {
            let data = ffi::cambium_iter_value(self.raw.as_ptr(), &raw mut length);
            Some(raw::bytes(data, length))
        }
    }

    /// Key and value of the entry. `None` if there is no entry, or its value has not been read.
    #[must_use]
    pub fn entry(&self) -> Option<(&[u8], &[u8])> {
        Some((self.key()?, self.value()?))
    }

    /// The bytes of the value. If it has not been read: as far as the index knows them.
    #[must_use]
    pub fn value_size(&self) -> Option<u64> {
        // SAFETY: the iterator is at an entry.
        self.is_valid.then(|| unsafe { ffi::cambium_iter_value_size(self.raw.as_ptr()) })
    }

    /// Reads the value of the entry, if the options have
    /// [`allow_unprepared_value`](ReadOptions::set_allow_unprepared_value). Otherwise it has been read. Returns false if
    /// the cursor is at no entry.
    ///
    /// # Errors
    /// If the value cannot be read. The cursor is then at no entry until the next seek.
    pub fn prepare_value(&mut self) -> Result<bool> {
        if !self.is_valid || self.has_value {
            return Ok(self.is_valid);
        }
        // SAFETY: the iterator is at an entry.
        self.has_value = unsafe { ffi::cambium_iter_prepare_value(self.raw.as_ptr()) } != 0;
        self.is_valid = self.has_value;
        if !self.has_value {
            self.error()?;
            return Err(Error::new(ErrorKind::Unknown, "a value could not be read"));
        }
        Ok(true)
    }
}

impl Drop for Cursor {
    fn drop(&mut self) {
        // SAFETY: the iterator is ours, and its database is open.
        unsafe { ffi::cambium_iter_destroy(self.raw.as_ptr()) };
    }
}

impl fmt::Debug for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cursor").field("key", &self.key()).finish_non_exhaustive()
    }
}
