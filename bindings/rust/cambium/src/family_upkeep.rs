//! Flushing, compacting, properties and options of a column family.

use std::ptr;

use cambium_sys as ffi;

use crate::call_options::{CompactOptions, FlushOptions};
use crate::column_family::ColumnFamily;
use crate::error::{Error, ErrorKind, Result};
use crate::options::Options;
use crate::raw::{self, Keys, Pairs};

/// What [`approximate_sizes_with`](ColumnFamily::approximate_sizes_with) counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SizeParts {
    /// Data that is not flushed yet.
    pub memtables: bool,
    /// Index files, and the values that their entries refer to.
    pub files: bool,
}

impl ColumnFamily {
    /// Moves the content of memtables into the index, and waits for it. Not needed for durability.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn flush(&self) -> Result<()> {
        self.flush_opt(&FlushOptions::new())
    }

    /// As [`flush`](Self::flush), with options.
    ///
    /// # Errors
    /// As `flush`.
    pub fn flush_opt(&self, options: &FlushOptions) -> Result<()> {
        let family = &*self.inner;
        // SAFETY: database, options and family are valid.
        raw::check(|error| unsafe {
            ffi::cambium_flush_cf(family.db(), options.as_ptr(), family.as_ptr(), error);
        })
    }

    /// Compacts the keys from `start` to `end`, both included. `None`: no bound.
    ///
    /// # Errors
    /// If it cannot be done; `InvalidArgument` if a compaction filter panicked.
    pub fn compact_range(&self, start: Option<&[u8]>, end: Option<&[u8]>) -> Result<()> {
        self.compact_range_opt(start, end, &CompactOptions::new())
    }

    /// As [`compact_range`](Self::compact_range), with options.
    ///
    /// # Errors
    /// As `compact_range`; `Incomplete` if values are to be clustered and there is no space.
    pub fn compact_range_opt(&self, start: Option<&[u8]>, end: Option<&[u8]>, options: &CompactOptions) -> Result<()> {
        let family = &*self.inner;
        let address = |key: Option<&[u8]>| key.map_or(ptr::null(), raw::address);
        // SAFETY: database, options, family and keys are valid.
        raw::check(|error| unsafe {
            ffi::cambium_compact_range_cf_opt(
                family.db(),
                family.as_ptr(),
                options.as_ptr(),
                address(start),
                start.map_or(0, <[u8]>::len),
                address(end),
                end.map_or(0, <[u8]>::len),
                error,
            );
        })
    }

    /// A property as text, for example `cambium.stats`. `None`: there is no such property, or this is a forked child.
    #[must_use]
    pub fn property(&self, name: &str) -> Option<String> {
        let name = raw::c_string("the name of a property", name.as_bytes()).ok()?;
        // SAFETY: database, family and name are valid, and the text is ours.
        unsafe { raw::take_string(ffi::cambium_property_value_cf(self.inner.db(), self.inner.as_ptr(), name.as_ptr())) }
    }

    /// A property that is a number, for example `cambium.estimate-num-keys`. `None`: there is no such property, it is not
    /// a number, or this is a forked child.
    #[must_use]
    pub fn property_int(&self, name: &str) -> Option<u64> {
        let name = raw::c_string("the name of a property", name.as_bytes()).ok()?;
        let mut value = 0;
        // SAFETY: database, family, name and the place for the number are valid.
        let found = unsafe {
            ffi::cambium_property_int_cf(self.inner.db(), self.inner.as_ptr(), name.as_ptr(), &raw mut value)
        };
        (found == 0).then_some(value)
    }

    /// Changes options while the database is open, by name and text. All changes take effect, or none.
    ///
    /// # Errors
    /// `InvalidArgument` for an option that is unknown, not legal, or cannot be changed. After any other error the options
    /// are in force but not persisted.
    pub fn set_options(&self, changes: &[(&str, &str)]) -> Result<()> {
        let changes = Pairs::new(changes)?;
        let family = &*self.inner;
        // SAFETY: database, family and texts are valid.
        raw::check(|error| unsafe {
            ffi::cambium_set_options_cf(
                family.db(),
                family.as_ptr(),
                changes.count(),
                changes.names(),
                changes.values(),
                error,
            );
        })
    }

    /// The options in force.
    ///
    /// # Errors
    /// `NotSupported` in a forked child.
    pub fn options(&self) -> Result<Options> {
        let core = &self.inner.core;
        if core.is_in_forked_child() {
            return Err(Error::new(ErrorKind::NotSupported, "a database cannot be used in a forked child"));
        }
        // SAFETY: database and family are valid, the options are ours, and the database knows what they borrow.
        Ok(unsafe {
            let options = ffi::cambium_get_options_cf(self.inner.db(), self.inner.as_ptr());
            Options::own(options, core.kept())
        })
    }

    /// About how many bytes the keys of each range take in files. A range begins with its first key, and ends before its
    /// second.
    ///
    /// # Errors
    /// If pages of the index cannot be read.
    pub fn approximate_sizes<K: AsRef<[u8]>>(&self, ranges: &[(K, K)]) -> Result<Vec<u64>> {
        self.approximate_sizes_with(ranges, SizeParts { memtables: false, files: true })
    }

    /// As [`approximate_sizes`](Self::approximate_sizes), with memtables or without files.
    ///
    /// # Errors
    /// As `approximate_sizes`; `InvalidArgument` if neither is counted.
    pub fn approximate_sizes_with<K: AsRef<[u8]>>(&self, ranges: &[(K, K)], parts: SizeParts) -> Result<Vec<u64>> {
        let starts: Vec<&K> = ranges.iter().map(|(start, _)| start).collect();
        let limits: Vec<&K> = ranges.iter().map(|(_, limit)| limit).collect();
        let (starts, limits) = (Keys::new(&starts), Keys::new(&limits));
        let mut include = 0;
        if parts.memtables {
            include |= ffi::cambium_size_approximation_include_memtables;
        }
        if parts.files {
            include |= ffi::cambium_size_approximation_include_files;
        }
        let mut sizes = vec![0; ranges.len()];
        let family = &*self.inner;
        // SAFETY: database, family and keys are valid, and there is room for the sizes.
        raw::check(|error| unsafe {
            ffi::cambium_approximate_sizes_cf_with_flags(
                family.db(),
                family.as_ptr(),
                raw::count(ranges.len()),
                starts.addresses.as_ptr(),
                starts.lengths.as_ptr(),
                limits.addresses.as_ptr(),
                limits.lengths.as_ptr(),
                include as u8,
                sizes.as_mut_ptr(),
                error,
            );
        })?;
        Ok(sizes)
    }
}
