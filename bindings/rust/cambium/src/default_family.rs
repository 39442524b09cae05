//! What a database does with its default column family.

use crate::call_options::{CompactOptions, FlushOptions, ReadOptions, WriteOptions};
use crate::cursor::Cursor;
use crate::db::Db;
use crate::entries::{Entries, KeyIter};
use crate::error::Result;
use crate::family_upkeep::SizeParts;
use crate::key_range::KeyRange;
use crate::options::Options;
use crate::pinned::PinnedValue;

/// Functions of the default column family. They are those of
/// [`ColumnFamily`](crate::ColumnFamily).
impl Db {
    /// The value of a key. `None`: there is no such key.
    ///
    /// # Errors
    /// As [`ColumnFamily::get`](crate::ColumnFamily::get).
    pub fn get(&self, key: impl AsRef<[u8]>) -> Result<Option<Vec<u8>>> {
        self.default.get(key)
    }

    /// As [`get`](Self::get), with options.
    ///
    /// # Errors
    /// As [`ColumnFamily::get_opt`](crate::ColumnFamily::get_opt).
    pub fn get_opt(&self, key: impl AsRef<[u8]>, options: &ReadOptions) -> Result<Option<Vec<u8>>> {
        self.default.get_opt(key, options)
    }

    /// Replaces what is in `value` by the value of a key, and uses its memory. False: there is no such key.
    ///
    /// # Errors
    /// As [`ColumnFamily::get_into`](crate::ColumnFamily::get_into).
    pub fn get_into(&self, key: impl AsRef<[u8]>, value: &mut Vec<u8>) -> Result<bool> {
        self.default.get_into(key, value)
    }

    /// As [`get_into`](Self::get_into), with options.
    ///
    /// # Errors
    /// As [`ColumnFamily::get_into_opt`](crate::ColumnFamily::get_into_opt).
    pub fn get_into_opt(&self, key: impl AsRef<[u8]>, options: &ReadOptions, value: &mut Vec<u8>) -> Result<bool> {
        self.default.get_into_opt(key, options, value)
    }

    /// The value of a key, without a copy into a `Vec`.
    ///
    /// # Errors
    /// As [`ColumnFamily::get_pinned`](crate::ColumnFamily::get_pinned).
    pub fn get_pinned(&self, key: impl AsRef<[u8]>) -> Result<Option<PinnedValue<'_>>> {
        self.default.get_pinned(key)
    }

    /// As [`get_pinned`](Self::get_pinned), with options.
    ///
    /// # Errors
    /// As [`ColumnFamily::get_pinned_opt`](crate::ColumnFamily::get_pinned_opt).
    pub fn get_pinned_opt(&self, key: impl AsRef<[u8]>, options: &ReadOptions) -> Result<Option<PinnedValue<'_>>> {
        self.default.get_pinned_opt(key, options)
    }

    /// The values of several keys, at one state, in the order of the keys.
    pub fn multi_get<K: AsRef<[u8]>>(&self, keys: &[K]) -> Vec<Result<Option<Vec<u8>>>> {
        self.default.multi_get(keys)
    }

    /// As [`multi_get`](Self::multi_get), with options.
    pub fn multi_get_opt<K: AsRef<[u8]>>(&self, keys: &[K], options: &ReadOptions) -> Vec<Result<Option<Vec<u8>>>> {
        self.default.multi_get_opt(keys, options)
    }

    /// The values of several keys, without copies into a `Vec`.
    pub fn multi_get_pinned<K: AsRef<[u8]>>(&self, keys: &[K]) -> Vec<Result<Option<PinnedValue<'_>>>> {
        self.default.multi_get_pinned(keys)
    }

    /// As [`multi_get_pinned`](Self::multi_get_pinned), with options.
    pub fn multi_get_pinned_opt<K: AsRef<[u8]>>(
        &self,
        keys: &[K],
        options: &ReadOptions,
    ) -> Vec<Result<Option<PinnedValue<'_>>>> {
        self.default.multi_get_pinned_opt(keys, options)
    }

    /// Sets the value of a key.
    ///
    /// # Errors
    /// As [`ColumnFamily::put`](crate::ColumnFamily::put).
    pub fn put(&self, key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Result<()> {
        self.default.put(key, value)
    }

    /// As [`put`](Self::put), with options.
    ///
    /// # Errors
    /// As [`ColumnFamily::put_opt`](crate::ColumnFamily::put_opt).
    pub fn put_opt(&self, key: impl AsRef<[u8]>, value: impl AsRef<[u8]>, options: &WriteOptions) -> Result<()> {
        self.default.put_opt(key, value, options)
    }

    /// Deletes a key.
    ///
    /// # Errors
    /// As [`ColumnFamily::delete`](crate::ColumnFamily::delete).
    pub fn delete(&self, key: impl AsRef<[u8]>) -> Result<()> {
        self.default.delete(key)
    }

    /// As [`delete`](Self::delete), with options.
    ///
    /// # Errors
    /// As [`ColumnFamily::delete_opt`](crate::ColumnFamily::delete_opt).
    pub fn delete_opt(&self, key: impl AsRef<[u8]>, options: &WriteOptions) -> Result<()> {
        self.default.delete_opt(key, options)
    }

    /// Deletes a key, by the name in RocksDB.
    ///
    /// # Errors
    /// As [`ColumnFamily::single_delete`](crate::ColumnFamily::single_delete).
    pub fn single_delete(&self, key: impl AsRef<[u8]>) -> Result<()> {
        self.default.single_delete(key)
    }

    /// As [`single_delete`](Self::single_delete), with options.
    ///
    /// # Errors
    /// As [`ColumnFamily::single_delete_opt`](crate::ColumnFamily::single_delete_opt).
    pub fn single_delete_opt(&self, key: impl AsRef<[u8]>, options: &WriteOptions) -> Result<()> {
        self.default.single_delete_opt(key, options)
    }

    /// Sets the value of a key that does not exist. Returns whether it has written.
    ///
    /// # Errors
    /// As [`ColumnFamily::put_if_absent`](crate::ColumnFamily::put_if_absent).
    pub fn put_if_absent(&self, key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Result<bool> {
        self.default.put_if_absent(key, value)
    }

    /// As [`put_if_absent`](Self::put_if_absent), with options.
    ///
    /// # Errors
    /// As [`ColumnFamily::put_if_absent`](crate::ColumnFamily::put_if_absent).
    pub fn put_if_absent_opt(
        &self,
        key: impl AsRef<[u8]>,
        value: impl AsRef<[u8]>,
        options: &WriteOptions,
    ) -> Result<bool> {
        self.default.put_if_absent_opt(key, value, options)
    }

    /// Sets the value of a key that has the value `expected`. Returns whether it has written.
    ///
    /// ```
    /// # fn main() -> cambium::Result<()> {
    /// # let path = std::env::temp_dir().join(format!("cambium-doc-set-{}", std::process::id()));
    /// # let db = cambium::Db::open_default(&path)?;
    /// # let next = |old: &[u8]| [old, b"+"].concat();
    /// db.put_if_absent("counter", "")?;
    /// loop {
    ///     let old = db.get("counter")?.unwrap_or_default();
    ///     if db.compare_and_set("counter", &old, next(&old))? {
    ///         break; // no other thread has written it since it was read
    ///     }
    /// }
    /// # assert_eq!(db.get("counter")?.unwrap(), b"+");
    /// # db.close()?;
    /// # cambium::destroy_db(&cambium::Options::new(), &path)
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`ColumnFamily::compare_and_set`](crate::ColumnFamily::compare_and_set).
    pub fn compare_and_set(
        &self,
        key: impl AsRef<[u8]>,
        expected: impl AsRef<[u8]>,
        value: impl AsRef<[u8]>,
    ) -> Result<bool> {
        self.default.compare_and_set(key, expected, value)
    }

    /// As [`compare_and_set`](Self::compare_and_set), with options.
    ///
    /// # Errors
    /// As [`ColumnFamily::compare_and_set`](crate::ColumnFamily::compare_and_set).
    pub fn compare_and_set_opt(
        &self,
        key: impl AsRef<[u8]>,
        expected: impl AsRef<[u8]>,
        value: impl AsRef<[u8]>,
        options: &WriteOptions,
    ) -> Result<bool> {
        self.default.compare_and_set_opt(key, expected, value, options)
    }

    /// Deletes a key that has the value `expected`. Returns whether it has deleted it.
    ///
    /// # Errors
    /// As [`ColumnFamily::compare_and_delete`](crate::ColumnFamily::compare_and_delete).
    pub fn compare_and_delete(&self, key: impl AsRef<[u8]>, expected: impl AsRef<[u8]>) -> Result<bool> {
        self.default.compare_and_delete(key, expected)
    }

    /// As [`compare_and_delete`](Self::compare_and_delete), with options.
    ///
    /// # Errors
    /// As [`ColumnFamily::compare_and_delete`](crate::ColumnFamily::compare_and_delete).
    pub fn compare_and_delete_opt(
        &self,
        key: impl AsRef<[u8]>,
        expected: impl AsRef<[u8]>,
        options: &WriteOptions,
    ) -> Result<bool> {
        self.default.compare_and_delete_opt(key, expected, options)
    }

    /// Deletes the keys from `start` to `end`, without `end`.
    ///
    /// # Errors
    /// As [`ColumnFamily::delete_range`](crate::ColumnFamily::delete_range).
    pub fn delete_range(&self, start: impl AsRef<[u8]>, end: impl AsRef<[u8]>) -> Result<()> {
        self.default.delete_range(start, end)
    }

    /// As [`delete_range`](Self::delete_range), with options.
    ///
    /// # Errors
    /// As [`ColumnFamily::delete_range_opt`](crate::ColumnFamily::delete_range_opt).
    pub fn delete_range_opt(
        &self,
        start: impl AsRef<[u8]>,
        end: impl AsRef<[u8]>,
        options: &WriteOptions,
    ) -> Result<()> {
        self.default.delete_range_opt(start, end, options)
    }

    /// A cursor over all keys.
    ///
    /// # Errors
    /// As [`ColumnFamily::cursor`](crate::ColumnFamily::cursor).
    pub fn cursor(&self) -> Result<Cursor> {
        self.default.cursor()
    }

    /// As [`cursor`](Self::cursor), with options.
    ///
    /// # Errors
    /// As [`ColumnFamily::cursor_opt`](crate::ColumnFamily::cursor_opt).
    pub fn cursor_opt(&self, options: &ReadOptions) -> Result<Cursor> {
        self.default.cursor_opt(options)
    }

    /// Iterates over all entries, in the order of their keys; with [`rev`](Iterator::rev) backward.
    ///
    /// # Errors
    /// As [`ColumnFamily::iter`](crate::ColumnFamily::iter).
    pub fn iter(&self) -> Result<Entries> {
        self.default.iter()
    }

    /// As [`iter`](Self::iter), with options.
    ///
    /// # Errors
    /// As [`ColumnFamily::iter_opt`](crate::ColumnFamily::iter_opt).
    pub fn iter_opt(&self, options: &ReadOptions) -> Result<Entries> {
        self.default.iter_opt(options)
    }

    /// Iterates over the entries of a range of keys, for example `iter_range("a".."b")`.
    ///
    /// # Errors
    /// As [`ColumnFamily::iter_range`](crate::ColumnFamily::iter_range).
    pub fn iter_range(&self, range: impl KeyRange) -> Result<Entries> {
        self.default.iter_range(range)
    }

    /// Iterates over the entries whose keys begin with `prefix`.
    ///
    /// # Errors
    /// As [`ColumnFamily::iter_prefix`](crate::ColumnFamily::iter_prefix).
    pub fn iter_prefix(&self, prefix: impl AsRef<[u8]>) -> Result<Entries> {
        self.default.iter_prefix(prefix)
    }

    /// Iterates over all keys, without reading values.
    ///
    /// # Errors
    /// As [`ColumnFamily::keys`](crate::ColumnFamily::keys).
    pub fn keys(&self) -> Result<KeyIter> {
        self.default.keys()
    }

    /// As [`keys`](Self::keys), with options.
    ///
    /// # Errors
    /// As [`ColumnFamily::keys_opt`](crate::ColumnFamily::keys_opt).
    pub fn keys_opt(&self, options: &ReadOptions) -> Result<KeyIter> {
        self.default.keys_opt(options)
    }

    /// Moves the content of memtables into the index.
    ///
    /// # Errors
    /// As [`ColumnFamily::flush`](crate::ColumnFamily::flush).
    pub fn flush(&self) -> Result<()> {
        self.default.flush()
    }

    /// As [`flush`](Self::flush), with options.
    ///
    /// # Errors
    /// As [`ColumnFamily::flush_opt`](crate::ColumnFamily::flush_opt).
    pub fn flush_opt(&self, options: &FlushOptions) -> Result<()> {
        self.default.flush_opt(options)
    }

    /// Compacts the keys from `start` to `end`, both included. `None`: no bound.
    ///
    /// # Errors
    /// As [`ColumnFamily::compact_range`](crate::ColumnFamily::compact_range).
    pub fn compact_range(&self, start: Option<&[u8]>, end: Option<&[u8]>) -> Result<()> {
        self.default.compact_range(start, end)
    }

    /// As [`compact_range`](Self::compact_range), with options.
    ///
    /// # Errors
    /// As [`ColumnFamily::compact_range_opt`](crate::ColumnFamily::compact_range_opt).
    pub fn compact_range_opt(&self, start: Option<&[u8]>, end: Option<&[u8]>, options: &CompactOptions) -> Result<()> {
        self.default.compact_range_opt(start, end, options)
    }

    /// A property as text.
    #[must_use]
    pub fn property(&self, name: &str) -> Option<String> {
        self.default.property(name)
    }

    /// A property that is a number.
    #[must_use]
    pub fn property_int(&self, name: &str) -> Option<u64> {
        self.default.property_int(name)
    }

    /// Changes options of the default family while the database is open.
    ///
    /// # Errors
    /// As [`ColumnFamily::set_options`](crate::ColumnFamily::set_options).
    pub fn set_options(&self, changes: &[(&str, &str)]) -> Result<()> {
        self.default.set_options(changes)
    }

    /// The options in force.
    ///
    /// # Errors
    /// As [`ColumnFamily::options`](crate::ColumnFamily::options).
    pub fn options(&self) -> Result<Options> {
        self.default.options()
    }

    /// About how many bytes the keys of each range take in files.
    ///
    /// # Errors
    /// As [`ColumnFamily::approximate_sizes`](crate::ColumnFamily::approximate_sizes).
    pub fn approximate_sizes<K: AsRef<[u8]>>(&self, ranges: &[(K, K)]) -> Result<Vec<u64>> {
        self.default.approximate_sizes(ranges)
    }

    /// As [`approximate_sizes`](Self::approximate_sizes), with memtables or without files.
    ///
    /// # Errors
    /// As [`ColumnFamily::approximate_sizes_with`](crate::ColumnFamily::approximate_sizes_with).
    pub fn approximate_sizes_with<K: AsRef<[u8]>>(&self, ranges: &[(K, K)], parts: SizeParts) -> Result<Vec<u64>> {
        self.default.approximate_sizes_with(ranges, parts)
    }
}
