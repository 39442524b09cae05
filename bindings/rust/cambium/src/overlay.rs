//! Walking over a database with the writes of a transaction, or of an indexed batch, above it.

use std::cell::Cell;
use std::fmt;
use std::iter::FusedIterator;
use std::marker::PhantomData;

use cambium_sys as ffi;

use crate::call_options::ReadOptions;
use crate::cursor::Cursor;
use crate::db_core::FamilyCore;
use crate::entries::{Entries, Entry};
use crate::error::Result;

/// A borrow during 'a, which must outlive the object that holds this, its drop included. It is not `Send`.
struct Borrowed<'a>(PhantomData<&'a Cell<()>>);

impl Drop for Borrowed<'_> {
    // Without this function, the compiler would let 'a end before the cursor is dropped.
    fn drop(&mut self) {}
}

/// A [`Cursor`] that also shows the writes of a [`Transaction`](crate::Transaction) or of an
/// [`IndexedBatch`](crate::IndexedBatch), which it borrows: it must be dropped before the next write. It stays in its
/// thread, like the borrow.
pub struct OverlayCursor<'a> {
    cursor: Cursor,
    borrowed: Borrowed<'a>,
}

impl OverlayCursor<'_> {
    /// # Safety
    /// `iterator` is an iterator over the family, made with these options, that nothing else destroys. What it reads
    /// above the database is valid, and not written to, during 'a.
    pub(crate) unsafe fn own(
        iterator: *mut ffi::cambium_iterator_t,
        family: &FamilyCore,
        options: &ReadOptions,
    ) -> Result<Self> {
        // SAFETY: the caller promises it.
        let cursor = unsafe { Cursor::adopt(iterator, family, options) }?;
        Ok(Self { cursor, borrowed: Borrowed(PhantomData) })
    }

    /// As [`Cursor::seek_to_first`].
    ///
    /// # Errors
    /// If an entry cannot be read. The cursor is then at no entry until the next seek.
    pub fn seek_to_first(&mut self) -> Result<bool> {
        self.cursor.seek_to_first()
    }

    /// As [`Cursor::seek_to_last`].
    ///
    /// # Errors
    /// As [`seek_to_first`](Self::seek_to_first).
    pub fn seek_to_last(&mut self) -> Result<bool> {
        self.cursor.seek_to_last()
    }

    /// As [`Cursor::seek`].
    ///
    /// # Errors
    /// As [`seek_to_first`](Self::seek_to_first).
    pub fn seek(&mut self, key: impl AsRef<[u8]>) -> Result<bool> {
        self.cursor.seek(key)
    }

    /// As [`Cursor::seek_for_prev`].
    ///
    /// # Errors
    /// As [`seek_to_first`](Self::seek_to_first).
    pub fn seek_for_prev(&mut self, key: impl AsRef<[u8]>) -> Result<bool> {
        self.cursor.seek_for_prev(key)
    }

    /// As [`Cursor::next`].
    ///
    /// # Errors
    /// As [`seek_to_first`](Self::seek_to_first).
    #[expect(clippy::should_implement_trait, reason = "an Iterator could not lend its entries")]
    pub fn next(&mut self) -> Result<bool> {
        self.cursor.next()
    }

    /// As [`Cursor::prev`].
    ///
    /// # Errors
    /// As [`seek_to_first`](Self::seek_to_first).
    pub fn prev(&mut self) -> Result<bool> {
        self.cursor.prev()
    }

    /// Whether the cursor is at an entry.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.cursor.is_valid()
    }

    /// The key of the entry.
    #[must_use]
    pub fn key(&self) -> Option<&[u8]> {
        self.cursor.key()
    }

    /// The value of the entry. `None` too if it has not been read, see [`Cursor::prepare_value`].
    #[must_use]
    pub fn value(&self) -> Option<&[u8]> {
        self.cursor.value()
    }

    /// Key and value of the entry.
    #[must_use]
    pub fn entry(&self) -> Option<(&[u8], &[u8])> {
        self.cursor.entry()
    }

    /// As [`Cursor::prepare_value`].
    ///
    /// # Errors
    /// If the value cannot be read.
    pub fn prepare_value(&mut self) -> Result<bool> {
        self.cursor.prepare_value()
    }
}

impl fmt::Debug for OverlayCursor<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.cursor.fmt(f)
    }
}

/// Iterates over entries as [`Entries`] does, with the writes of a transaction or of an indexed batch.
pub struct OverlayEntries<'a> {
    entries: Entries,
    _borrowed: Borrowed<'a>,
}

impl<'a> OverlayEntries<'a> {
    pub(crate) fn new(cursor: OverlayCursor<'a>) -> Self {
        Self { entries: Entries::new(cursor.cursor), _borrowed: cursor.borrowed }
    }
}

impl Iterator for OverlayEntries<'_> {
    type Item = Result<Entry>;

    fn next(&mut self) -> Option<Self::Item> {
        self.entries.next()
    }
}

impl DoubleEndedIterator for OverlayEntries<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.entries.next_back()
    }
}

impl FusedIterator for OverlayEntries<'_> {}

impl fmt::Debug for OverlayEntries<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OverlayEntries").finish_non_exhaustive()
    }
}
