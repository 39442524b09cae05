//! Iterators over entries and over keys.

use std::fmt;
use std::iter::FusedIterator;

use crate::cursor::Cursor;
use crate::error::Result;

/// A key and its value.
pub type Entry = (Vec<u8>, Vec<u8>);

/// Walks a cursor from both ends, until they meet.
struct Walk {
    cursor: Cursor,
    at: At,
    /// The last key that the other end has passed. While the cursor is at an end, that end's own key is the cursor's.
    front: Option<Vec<u8>>,
    back: Option<Vec<u8>>,
}

/// Which end the cursor is at.
#[derive(Clone, Copy, PartialEq)]
enum At {
    /// Neither: it has not moved yet.
    Nowhere,
    Front,
    Back,
    /// All keys have been passed, or an error was returned.
    Done,
}

#[derive(Clone, Copy, PartialEq)]
enum End {
    Front,
    Back,
}

impl Walk {
    fn new(cursor: Cursor) -> Self {
        Self { cursor, at: At::Nowhere, front: None, back: None }
    }

    /// Moves one end to its next key. Returns false if there is none, and from then on.
    fn step(&mut self, end: End) -> Result<bool> {
        if self.at == At::Done {
            return Ok(false);
        }
        let moved = self.advance(end);
        // Both ends see the same state in the same order, so they meet at a key, and not between two keys.
        let met = if end == End::Front { &self.back } else { &self.front };
        if !matches!(moved, Ok(true)) || (met.is_some() && met.as_deref() == self.cursor.key()) {
            self.at = At::Done;
            return moved.map(|_| false);
        }
        Ok(true)
    }

    fn advance(&mut self, end: End) -> Result<bool> {
        match (self.at, end) {
            (At::Front, End::Front) => self.cursor.next(),
            (At::Back, End::Back) => self.cursor.prev(),
            (_, End::Front) => {
                if self.at == At::Back {
                    self.back = self.cursor.key().map(<[u8]>::to_vec);
                }
                self.at = At::Front;
                match self.front.take() {
                    None => self.cursor.seek_to_first(),
                    Some(key) => Ok(self.cursor.seek(key)? && self.cursor.next()?),
                }
            }
            (_, End::Back) => {
                if self.at == At::Front {
                    self.front = self.cursor.key().map(<[u8]>::to_vec);
                }
                self.at = At::Back;
                match self.back.take() {
                    None => self.cursor.seek_to_last(),
                    Some(key) => Ok(self.cursor.seek_for_prev(key)? && self.cursor.prev()?),
                }
            }
        }
    }

    fn entry(&mut self, end: End) -> Option<Result<Entry>> {
        let entry = match self.step(end) {
            Ok(false) => return None,
            Ok(true) => self.copy(),
            Err(error) => Err(error),
        };
        if entry.is_err() {
            self.at = At::Done;
        }
        Some(entry)
    }

    fn copy(&mut self) -> Result<Entry> {
        self.cursor.prepare_value()?;
        let (key, value) = self.cursor.entry().expect("the cursor is at an entry whose value was read");
        Ok((key.to_vec(), value.to_vec()))
    }

    fn key(&mut self, end: End) -> Option<Result<Vec<u8>>> {
        match self.step(end) {
            Ok(false) => None,
            Ok(true) => Some(Ok(self.cursor.key().expect("the cursor is at an entry").to_vec())),
            Err(error) => Some(Err(error)),
        }
    }
}

/// Iterates over keys and values, from either end. Made by [`iter`](crate::Db::iter) and similar functions.
///
/// After an error it ends. It shows the state at its creation, keeps its database open, and may be sent to another thread.
pub struct Entries {
    walk: Walk,
}

impl Entries {
    pub(crate) fn new(cursor: Cursor) -> Self {
        Self { walk: Walk::new(cursor) }
    }
}

impl Iterator for Entries {
    type Item = Result<Entry>;

    fn next(&mut self) -> Option<Self::Item> {
        self.walk.entry(End::Front)
    }
}

impl DoubleEndedIterator for Entries {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.walk.entry(End::Back)
    }
}

impl FusedIterator for Entries {}

impl fmt::Debug for Entries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entries").field("cursor", &self.walk.cursor).finish_non_exhaustive()
    }
}

/// Iterates over keys, from either end, without reading values. Made by [`keys`](crate::Db::keys) and similar functions.
///
/// After an error it ends. It shows the state at its creation, keeps its database open, and may be sent to another thread.
pub struct KeyIter {
    walk: Walk,
}

impl KeyIter {
    pub(crate) fn new(cursor: Cursor) -> Self {
        Self { walk: Walk::new(cursor) }
    }
}

impl Iterator for KeyIter {
    type Item = Result<Vec<u8>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.walk.key(End::Front)
    }
}

impl DoubleEndedIterator for KeyIter {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.walk.key(End::Back)
    }
}

impl FusedIterator for KeyIter {}

impl fmt::Debug for KeyIter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyIter").field("cursor", &self.walk.cursor).finish_non_exhaustive()
    }
}
