//! Reading and writing a column family.

use std::fmt;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::Arc;

use cambium_sys as ffi;

use crate::call_options::{ReadOptions, WriteOptions, with_default_read, with_default_write};
use crate::cursor::Cursor;
use crate::db_core::FamilyCore;
use crate::entries::{Entries, KeyIter};
use crate::error::{Error, ErrorKind, Result};
use crate::key_range::KeyRange;
use crate::multi_get;
use crate::pinned::PinnedValue;
use crate::raw::{self, Keys};

/// A column family: an ordered map from keys to values of its own.
///
/// A family keeps its database open. Clones are the same family, and any number of threads may use it. Once the family is
/// [dropped](crate::Db::drop_column_family), calls fail with `ColumnFamilyDropped`.
///
/// Keys and values are anything that has bytes. A key has at most 64 KiB, a value less than 4 GiB.
#[derive(Clone)]
pub struct ColumnFamily {
    pub(crate) inner: Arc<FamilyCore>,
}

/// Makes room for a value. Without memory for it the call fails, as it does if the library has none.
fn make_room(value: &mut Vec<u8>, length: usize) -> Result<()> {
    let room = value.try_reserve_exact(length);
    room.map_err(|_| Error::new(ErrorKind::OutOfMemory, format_args!("a value has {length} bytes")))
}

impl ColumnFamily {
    pub(crate) fn new(inner: FamilyCore) -> Self {
        Self { inner: Arc::new(inner) }
    }

    /// The name. Bytes that are not UTF-8 are replaced.
    #[must_use]
    pub fn name(&self) -> String {
        let mut length = 0;
        // SAFETY: the family is valid, and the name is ours.
        unsafe {
            let name = ffi::cambium_column_family_handle_get_name(self.inner.as_ptr(), &raw mut length);
            raw::take_string(name).unwrap_or_default()
        }
    }

    /// The number, which no other family of the database ever has.
    #[must_use]
    pub fn id(&self) -> u32 {
        // SAFETY: the family is valid.
        unsafe { ffi::cambium_column_family_handle_get_id(self.inner.as_ptr()) }
    }

    /// The value of a key. `None`: there is no such key.
    ///
    /// # Errors
    /// If it cannot be read, or is damaged.
    pub fn get(&self, key: impl AsRef<[u8]>) -> Result<Option<Vec<u8>>> {
        with_default_read(|options| self.copy(key.as_ref(), options))
    }

    /// As [`get`](Self::get), with options.
    ///
    /// # Errors
    /// As `get`.
    pub fn get_opt(&self, key: impl AsRef<[u8]>, options: &ReadOptions) -> Result<Option<Vec<u8>>> {
        self.copy(key.as_ref(), options.as_ptr())
    }

    /// Replaces what is in `value` by the value of a key, and uses its memory. False: there is no such key, and `value`
    /// is empty.
    ///
    /// # Errors
    /// As `get`. `value` is then empty.
    pub fn get_into(&self, key: impl AsRef<[u8]>, value: &mut Vec<u8>) -> Result<bool> {
        with_default_read(|options| self.copy_into(key.as_ref(), options, value))
    }

    /// As [`get_into`](Self::get_into), with options.
    ///
    /// # Errors
    /// As `get_into`.
    pub fn get_into_opt(&self, key: impl AsRef<[u8]>, options: &ReadOptions, value: &mut Vec<u8>) -> Result<bool> {
        self.copy_into(key.as_ref(), options.as_ptr(), value)
    }

    fn copy(&self, key: &[u8], options: *const ffi::cambium_readoptions_t) -> Result<Option<Vec<u8>>> {
        // A short value is read in one call, and its `Vec` has no more room than it needs.
        let mut short = [MaybeUninit::<u8>::uninit(); 4096];
        let Some(length) = self.read_to(key, options, &mut short)? else { return Ok(None) };
        if length <= short.len() {
            // SAFETY: the library has written that many bytes.
            let written = unsafe { std::slice::from_raw_parts(short.as_ptr().cast::<u8>(), length) };
            return Ok(Some(written.to_vec()));
        }
        let mut value = Vec::new();
        make_room(&mut value, length)?;
        Ok(self.copy_into(key, options, &mut value)?.then_some(value))
    }

    fn copy_into(&self, key: &[u8], options: *const ffi::cambium_readoptions_t, value: &mut Vec<u8>) -> Result<bool> {
        value.clear();
        loop {
            let Some(length) = self.read_to(key, options, value.spare_capacity_mut())? else { return Ok(false) };
            if length <= value.capacity() {
                // SAFETY: the library has written that many bytes.
                unsafe { value.set_len(length) };
                return Ok(true);
            }
            make_room(value, length)?;
        }
    }

    /// Copies the value of a key to `room` if it fits, and returns its length.
    fn read_to(
        &self,
        key: &[u8],
        options: *const ffi::cambium_readoptions_t,
        room: &mut [MaybeUninit<u8>],
    ) -> Result<Option<usize>> {
        let family = &*self.inner;
        let mut length = 0;
        let mut found = 0;
        // SAFETY: database, options, family and key are valid, and the library writes to `room` only.
        raw::check(|error| unsafe {
            ffi::cambium_get_into_buffer_cf(
                family.db(),
                options,
                family.as_ptr(),
                raw::address(key),
                key.len(),
                room.as_mut_ptr().cast(),
                room.len(),
                &raw mut length,
                &raw mut found,
                error,
            )
        })?;
        Ok((found != 0).then_some(length))
    }

    /// As [`get`](Self::get), without a copy into a `Vec`.
    ///
    /// # Errors
    /// As `get`.
    pub fn get_pinned(&self, key: impl AsRef<[u8]>) -> Result<Option<PinnedValue<'_>>> {
        with_default_read(|options| self.pin(key.as_ref(), options))
    }

    /// As [`get_pinned`](Self::get_pinned), with options.
    ///
    /// # Errors
    /// As `get`.
    pub fn get_pinned_opt(&self, key: impl AsRef<[u8]>, options: &ReadOptions) -> Result<Option<PinnedValue<'_>>> {
        self.pin(key.as_ref(), options.as_ptr())
    }

    fn pin(&self, key: &[u8], options: *const ffi::cambium_readoptions_t) -> Result<Option<PinnedValue<'_>>> {
        let family = &*self.inner;
        // SAFETY: database, options, family and key are valid.
        let slice = raw::check(|error| unsafe {
            ffi::cambium_get_pinned_cf(family.db(), options, family.as_ptr(), raw::address(key), key.len(), error)
        })?;
        // SAFETY: the slice is ours. This family, which the result borrows, keeps the database open.
        Ok(unsafe { PinnedValue::own(slice) })
    }

    /// The values of several keys, at one state, in the order of the keys. Each has an error of its own.
    pub fn multi_get<K: AsRef<[u8]>>(&self, keys: &[K]) -> Vec<Result<Option<Vec<u8>>>> {
        with_default_read(|options| self.copies(keys, options))
    }

    /// As [`multi_get`](Self::multi_get), with options.
    pub fn multi_get_opt<K: AsRef<[u8]>>(&self, keys: &[K], options: &ReadOptions) -> Vec<Result<Option<Vec<u8>>>> {
        self.copies(keys, options.as_ptr())
    }

    fn copies<K: AsRef<[u8]>>(
        &self,
        keys: &[K],
        options: *const ffi::cambium_readoptions_t,
    ) -> Vec<Result<Option<Vec<u8>>>> {
        multi_get::copies(&self.inner.core, &vec![&*self.inner; keys.len()], &Keys::new(keys), options)
    }

    /// As [`multi_get`](Self::multi_get), without copies into a `Vec`.
    pub fn multi_get_pinned<K: AsRef<[u8]>>(&self, keys: &[K]) -> Vec<Result<Option<PinnedValue<'_>>>> {
        with_default_read(|options| multi_get::pinned(&self.inner, &Keys::new(keys), options))
    }

    /// As [`multi_get_pinned`](Self::multi_get_pinned), with options.
    pub fn multi_get_pinned_opt<K: AsRef<[u8]>>(
        &self,
        keys: &[K],
        options: &ReadOptions,
    ) -> Vec<Result<Option<PinnedValue<'_>>>> {
        multi_get::pinned(&self.inner, &Keys::new(keys), options.as_ptr())
    }

    /// Sets the value of a key. The write survives the end of the process, but not a power cut before it is synced.
    ///
    /// # Errors
    /// If it cannot be written. Nothing is then changed, except after a failed sync: see [`Error::is_fatal`].
    pub fn put(&self, key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Result<()> {
        with_default_write(|options| self.put_at(key.as_ref(), value.as_ref(), options))
    }

    /// As [`put`](Self::put), with options.
    ///
    /// # Errors
    /// As `put`.
    pub fn put_opt(&self, key: impl AsRef<[u8]>, value: impl AsRef<[u8]>, options: &WriteOptions) -> Result<()> {
        self.put_at(key.as_ref(), value.as_ref(), options.as_ptr())
    }

    fn put_at(&self, key: &[u8], value: &[u8], options: *const ffi::cambium_writeoptions_t) -> Result<()> {
        let family = &*self.inner;
        // SAFETY: database, options, family, key and value are valid.
        raw::check(|error| unsafe {
            ffi::cambium_put_cf(
                family.db(),
                options,
                family.as_ptr(),
                raw::address(key),
                key.len(),
                raw::address(value),
                value.len(),
                error,
            );
        })
    }

    /// Deletes a key. It need not exist.
    ///
    /// # Errors
    /// As [`put`](Self::put).
    pub fn delete(&self, key: impl AsRef<[u8]>) -> Result<()> {
        with_default_write(|options| self.delete_at(key.as_ref(), options, ffi::cambium_delete_cf))
    }

    /// As [`delete`](Self::delete), with options.
    ///
    /// # Errors
    /// As `put`.
    pub fn delete_opt(&self, key: impl AsRef<[u8]>, options: &WriteOptions) -> Result<()> {
        self.delete_at(key.as_ref(), options.as_ptr(), ffi::cambium_delete_cf)
    }

    /// As [`delete`](Self::delete), by its name in RocksDB. Here both are the same.
    ///
    /// # Errors
    /// As `put`.
    pub fn single_delete(&self, key: impl AsRef<[u8]>) -> Result<()> {
        with_default_write(|options| self.delete_at(key.as_ref(), options, ffi::cambium_singledelete_cf))
    }

    /// As [`single_delete`](Self::single_delete), with options.
    ///
    /// # Errors
    /// As `put`.
    pub fn single_delete_opt(&self, key: impl AsRef<[u8]>, options: &WriteOptions) -> Result<()> {
        self.delete_at(key.as_ref(), options.as_ptr(), ffi::cambium_singledelete_cf)
    }

    fn delete_at(&self, key: &[u8], options: *const ffi::cambium_writeoptions_t, delete: Delete) -> Result<()> {
        let family = &*self.inner;
        // SAFETY: database, options, family and key are valid.
        raw::check(|error| unsafe {
            delete(family.db(), options, family.as_ptr(), raw::address(key), key.len(), error);
        })
    }

    /// Deletes the keys from `start` to `end`, without `end`.
    ///
    /// # Errors
    /// As [`put`](Self::put); `InvalidArgument` if `start` is after `end`.
    pub fn delete_range(&self, start: impl AsRef<[u8]>, end: impl AsRef<[u8]>) -> Result<()> {
        with_default_write(|options| self.delete_range_at(start.as_ref(), end.as_ref(), options))
    }

    /// As [`delete_range`](Self::delete_range), with options.
    ///
    /// # Errors
    /// As `delete_range`.
    pub fn delete_range_opt(
        &self,
        start: impl AsRef<[u8]>,
        end: impl AsRef<[u8]>,
        options: &WriteOptions,
    ) -> Result<()> {
        self.delete_range_at(start.as_ref(), end.as_ref(), options.as_ptr())
    }

    fn delete_range_at(&self, start: &[u8], end: &[u8], options: *const ffi::cambium_writeoptions_t) -> Result<()> {
        let family = &*self.inner;
        // SAFETY: database, options, family and keys are valid.
        raw::check(|error| unsafe {
            ffi::cambium_delete_range_cf(
                family.db(),
                options,
                family.as_ptr(),
                raw::address(start),
                start.len(),
                raw::address(end),
                end.len(),
                error,
            );
        })
    }

    /// A cursor over all keys, at none of them yet.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn cursor(&self) -> Result<Cursor> {
        self.cursor_opt(&ReadOptions::new())
    }

    /// As [`cursor`](Self::cursor), with options, among them bounds.
    ///
    /// # Errors
    /// As `cursor`.
    pub fn cursor_opt(&self, options: &ReadOptions) -> Result<Cursor> {
        Cursor::new(&self.inner, options)
    }

    /// Iterates over all entries, in the order of their keys; with [`rev`](Iterator::rev) backward.
    ///
    /// # Errors
    /// As [`cursor`](Self::cursor).
    pub fn iter(&self) -> Result<Entries> {
        self.iter_opt(&ReadOptions::new())
    }

    /// As [`iter`](Self::iter), with options, among them bounds.
    ///
    /// # Errors
    /// As `cursor`.
    pub fn iter_opt(&self, options: &ReadOptions) -> Result<Entries> {
        self.cursor_opt(options).map(Entries::new)
    }

    /// Iterates over the entries of a range of keys, for example `iter_range("a".."b")`.
    ///
    /// # Errors
    /// As `cursor`.
    pub fn iter_range(&self, range: impl KeyRange) -> Result<Entries> {
        let mut options = ReadOptions::new();
        options.set_range(range);
        self.iter_opt(&options)
    }

    /// Iterates over the entries whose keys begin with `prefix`.
    ///
    /// # Errors
    /// As `cursor`; `NotSupported` if the order of the keys is not that of their bytes, because such keys need not be
    /// neighbours.
    pub fn iter_prefix(&self, prefix: impl AsRef<[u8]>) -> Result<Entries> {
        self.check_bytewise()?;
        let mut options = ReadOptions::new();
        options.set_prefix(prefix);
        self.iter_opt(&options)
    }

    /// Iterates over all keys, without reading values.
    ///
    /// # Errors
    /// As `cursor`.
    pub fn keys(&self) -> Result<KeyIter> {
        let mut options = ReadOptions::new();
        options.set_allow_unprepared_value(true);
        self.keys_opt(&options)
    }

    /// As [`keys`](Self::keys), with options. Without
    /// [`allow_unprepared_value`](ReadOptions::set_allow_unprepared_value) values are read, although they are not returned.
    ///
    /// # Errors
    /// As `cursor`.
    pub fn keys_opt(&self, options: &ReadOptions) -> Result<KeyIter> {
        self.cursor_opt(options).map(KeyIter::new)
    }

    fn check_bytewise(&self) -> Result<()> {
        let is_bytewise = match self.inner.is_bytewise.get() {
            Some(is_bytewise) => *is_bytewise,
            None => {
                let text = self.options()?.to_text()?;
                let is_bytewise = text.split(';').any(|each| each == "comparator=cambium.BytewiseComparator");
                *self.inner.is_bytewise.get_or_init(|| is_bytewise)
            }
        };
        if is_bytewise {
            return Ok(());
        }
        Err(Error::new(ErrorKind::NotSupported, "a prefix is a range of keys only in the order of bytes"))
    }
}

/// A function of the library that deletes a key.
type Delete = unsafe extern "C-unwind" fn(
    *mut ffi::cambium_t,
    *const ffi::cambium_writeoptions_t,
    *mut ffi::cambium_column_family_handle_t,
    *const std::ffi::c_char,
    usize,
    *mut *mut std::ffi::c_char,
);

impl PartialEq for ColumnFamily {
    /// True for clones of the same handle.
    fn eq(&self, other: &Self) -> bool {
        ptr::eq(Arc::as_ptr(&self.inner), Arc::as_ptr(&other.inner))
    }
}

impl Eq for ColumnFamily {}

impl fmt::Debug for ColumnFamily {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ColumnFamily").field("id", &self.id()).field("name", &self.name()).finish()
    }
}
