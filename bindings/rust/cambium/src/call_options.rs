//! Options of single calls.

use std::fmt;
use std::ptr::{self, NonNull};

use cambium_sys as ffi;

use crate::enums::BlobGcPolicy;
use crate::key_range::{KeyRange, end_of_prefix};
use crate::raw;
use crate::snapshot::Snapshot;

/// Defines a truth value of options: its setter and its getter.
macro_rules! truth {
    ($(#[$doc:meta])* $set:ident, $get:ident, $c_set:ident, $c_get:ident) => {
        $(#[$doc])*
        pub fn $set(&mut self, value: bool) -> &mut Self {
            // SAFETY: the options are valid, and borrowed exclusively.
            unsafe { ffi::$c_set(self.raw.as_ptr(), value.into()) };
            self
        }
        $(#[$doc])*
        #[must_use]
        pub fn $get(&self) -> bool {
            // SAFETY: the options are valid.
            unsafe { ffi::$c_get(self.raw.as_ptr()) != 0 }
        }
    };
}

/// Defines how options are made and destroyed.
macro_rules! life {
    ($name:ident, $raw:ident, $create:ident, $destroy:ident $(, $field:ident: $value:expr)*) => {
        // SAFETY: one thread at a time may use options, and that may be any thread.
        unsafe impl Send for $name {}

        impl $name {
            /// The defaults.
            #[must_use]
            pub fn new() -> Self {
                // SAFETY: the function has no requirements.
                let made = unsafe { ffi::$create() };
                Self { raw: NonNull::new(made).expect("the library returns no NULL here"), $($field: $value)* }
            }

            pub(crate) fn as_ptr(&self) -> *const ffi::$raw {
                self.raw.as_ptr()
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self::new()
            }
        }

        impl Drop for $name {
            fn drop(&mut self) {
                // SAFETY: the options are ours.
                unsafe { ffi::$destroy(self.raw.as_ptr()) };
            }
        }
    };
}

/// Options of reads: of gets, cursors and iterators.
pub struct ReadOptions {
    raw: NonNull<ffi::cambium_readoptions_t>,
    /// The library borrows the snapshot.
    snapshot: Option<Snapshot>,
}

life!(ReadOptions, cambium_readoptions_t, cambium_readoptions_create, cambium_readoptions_destroy, snapshot: None);

impl ReadOptions {
    /// Reads the state of a snapshot. `None`: the state now. While these options have a snapshot, the database remains
    /// open.
    pub fn set_snapshot(&mut self, snapshot: Option<&Snapshot>) -> &mut Self {
        let raw = snapshot.map_or(ptr::null(), Snapshot::as_ptr);
        // SAFETY: the options are valid, and the snapshot lives as long as they have it.
        unsafe { ffi::cambium_readoptions_set_snapshot(self.raw.as_ptr(), raw) };
        self.snapshot = snapshot.cloned();
        self
    }

    /// The snapshot.
    #[must_use]
    pub fn snapshot(&self) -> Option<&Snapshot> {
        self.snapshot.as_ref()
    }

    /// Cursors and iterators have no keys before this one. `None`: no bound.
    pub fn set_lower_bound(&mut self, key: Option<&[u8]>) -> &mut Self {
        let (data, length) = optional(key);
        // SAFETY: the options are valid, and copy the key.
        unsafe { ffi::cambium_readoptions_set_iterate_lower_bound(self.raw.as_ptr(), data, length) };
        self
    }

    /// Cursors and iterators have neither this key nor later ones. `None`: no bound.
    pub fn set_upper_bound(&mut self, key: Option<&[u8]>) -> &mut Self {
        let (data, length) = optional(key);
        // SAFETY: the options are valid, and copy the key.
        unsafe { ffi::cambium_readoptions_set_iterate_upper_bound(self.raw.as_ptr(), data, length) };
        self
    }

    /// Sets both bounds to those of a range.
    pub fn set_range(&mut self, range: impl KeyRange) -> &mut Self {
        self.set_lower_bound(range.start());
        self.set_upper_bound(range.end())
    }

    /// Sets both bounds so that cursors and iterators have the keys that begin with `prefix`, for a column family whose
    /// keys have the order of bytes.
    pub fn set_prefix(&mut self, prefix: impl AsRef<[u8]>) -> &mut Self {
        let prefix = prefix.as_ref();
        self.set_lower_bound(Some(prefix));
        self.set_upper_bound(end_of_prefix(prefix).as_deref())
    }

    truth! {
        /// Compare the checksum of each value. True by default. Checksums of keys and of the index are always compared.
        set_verify_checksums, verify_checksums,
        cambium_readoptions_set_verify_checksums, cambium_readoptions_get_verify_checksums
    }
    truth! {
        /// Keep index pages that are read in memory. True by default. Scans of data that will not be read again set
        /// false.
        set_fill_cache, fill_cache, cambium_readoptions_set_fill_cache, cambium_readoptions_get_fill_cache
    }
    truth! {
        /// Moves of a cursor read no values, so [`Cursor::prepare_value`](crate::Cursor::prepare_value) must. For scans
        /// of keys. False by default.
        set_allow_unprepared_value, allow_unprepared_value,
        cambium_readoptions_set_allow_unprepared_value, cambium_readoptions_get_allow_unprepared_value
    }
    truth! {
        /// Read values that are not in memory many at a time. True by default.
        set_async_io, async_io, cambium_readoptions_set_async_io, cambium_readoptions_get_async_io
    }
    truth! {
        /// Read only what is known to survive a power cut. False by default. `InvalidArgument` together with a snapshot.
        set_durable_only, durable_only,
        cambium_readoptions_set_durable_only, cambium_readoptions_get_durable_only
    }

    /// Let pinned values, and values of cursors, of 1 KiB and more refer to a mapped file, without a copy. False by
    /// default.
    ///
    /// # Safety
    /// As long as a value that was read with this option exists, its bytes in the file must not change, and must be
    /// readable: no other program writes to the files of the database, and the device does not fail. If a page of the
    /// value has left memory and cannot be read again, use of the bytes raises SIGBUS. If other bytes are read, nothing
    /// notices it.
    pub unsafe fn set_pin_mapped_values(&mut self, value: bool) -> &mut Self {
        // SAFETY: the options are valid, and borrowed exclusively.
        unsafe { ffi::cambium_readoptions_set_pin_mapped_values(self.raw.as_ptr(), value.into()) };
        self
    }

    /// Whether values may refer to a mapped file.
    #[must_use]
    pub fn pin_mapped_values(&self) -> bool {
        // SAFETY: the options are valid.
        unsafe { ffi::cambium_readoptions_get_pin_mapped_values(self.raw.as_ptr()) != 0 }
    }
}

fn optional(key: Option<&[u8]>) -> (*const std::ffi::c_char, usize) {
    key.map_or((ptr::null(), 0), |key| (raw::address(key), key.len()))
}

impl fmt::Debug for ReadOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadOptions")
            .field("snapshot", &self.snapshot)
            .field("verify_checksums", &self.verify_checksums())
            .field("fill_cache", &self.fill_cache())
            .field("allow_unprepared_value", &self.allow_unprepared_value())
            .field("async_io", &self.async_io())
            .field("durable_only", &self.durable_only())
            .field("pin_mapped_values", &self.pin_mapped_values())
            .finish_non_exhaustive()
    }
}

/// Options of writes.
pub struct WriteOptions {
    raw: NonNull<ffi::cambium_writeoptions_t>,
}

life!(WriteOptions, cambium_writeoptions_t, cambium_writeoptions_create, cambium_writeoptions_destroy);

impl WriteOptions {
    /// As [`new`](Self::new), with [`set_sync`](Self::set_sync).
    #[must_use]
    pub fn synced() -> Self {
        let mut options = Self::new();
        options.set_sync(true);
        options
    }

    truth! {
        /// Return once the write, and everything visible before it, survives a power cut. False by default.
        set_sync, sync, cambium_writeoptions_set_sync, cambium_writeoptions_get_sync
    }
    truth! {
        /// Return `Incomplete` instead of waiting for background work. False by default.
        set_no_slowdown, no_slowdown,
        cambium_writeoptions_set_no_slowdown, cambium_writeoptions_get_no_slowdown
    }

    /// As in RocksDB by name. Here every write is logged, so it has no effect, except that it is `InvalidArgument`
    /// together with `sync`.
    pub fn set_disable_wal(&mut self, value: bool) -> &mut Self {
        // SAFETY: the options are valid, and borrowed exclusively.
        unsafe { ffi::cambium_writeoptions_disable_WAL(self.raw.as_ptr(), value.into()) };
        self
    }

    /// Whether the option of that name is set.
    #[must_use]
    pub fn disable_wal(&self) -> bool {
        // SAFETY: the options are valid.
        unsafe { ffi::cambium_writeoptions_get_disable_WAL(self.raw.as_ptr()) != 0 }
    }
}

impl fmt::Debug for WriteOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WriteOptions")
            .field("sync", &self.sync())
            .field("no_slowdown", &self.no_slowdown())
            .field("disable_wal", &self.disable_wal())
            .finish()
    }
}

/// Options of [flushes](crate::ColumnFamily::flush_opt).
pub struct FlushOptions {
    raw: NonNull<ffi::cambium_flushoptions_t>,
}

life!(FlushOptions, cambium_flushoptions_t, cambium_flushoptions_create, cambium_flushoptions_destroy);

impl FlushOptions {
    truth! {
        /// Wait until the flush has committed. True by default. If false, the flush is only begun.
        set_wait, wait, cambium_flushoptions_set_wait, cambium_flushoptions_get_wait
    }
}

impl fmt::Debug for FlushOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FlushOptions").field("wait", &self.wait()).finish()
    }
}

/// Options of [compactions](crate::ColumnFamily::compact_range_opt) that a caller runs.
pub struct CompactOptions {
    raw: NonNull<ffi::cambium_compactoptions_t>,
}

life!(CompactOptions, cambium_compactoptions_t, cambium_compactoptions_create, cambium_compactoptions_destroy);

impl CompactOptions {
    truth! {
        /// Rewrite values of the range in the order of their keys. False by default.
        set_cluster_values, cluster_values,
        cambium_compactoptions_set_cluster_values, cambium_compactoptions_get_cluster_values
    }

    /// Sets what log GC does.
    pub fn set_blob_garbage_collection_policy(&mut self, policy: BlobGcPolicy) -> &mut Self {
        // SAFETY: the options are valid, and borrowed exclusively.
        unsafe {
            ffi::cambium_compactoptions_set_blob_garbage_collection_policy(self.raw.as_ptr(), policy.to_raw());
        }
        self
    }

    /// What log GC does.
    #[must_use]
    pub fn blob_garbage_collection_policy(&self) -> BlobGcPolicy {
        // SAFETY: the options are valid.
        BlobGcPolicy::from_raw(unsafe {
            ffi::cambium_compactoptions_get_blob_garbage_collection_policy(self.raw.as_ptr())
        })
    }

    /// Sets the part of the segments, the oldest ones, that log GC may collect. Outside 0 to 1: the option of the column
    /// family counts. -1 by default.
    pub fn set_blob_garbage_collection_age_cutoff(&mut self, cutoff: f64) -> &mut Self {
        // SAFETY: the options are valid, and borrowed exclusively.
        unsafe { ffi::cambium_compactoptions_set_blob_garbage_collection_age_cutoff(self.raw.as_ptr(), cutoff) };
        self
    }

    /// The part of the segments that log GC may collect.
    #[must_use]
    pub fn blob_garbage_collection_age_cutoff(&self) -> f64 {
        // SAFETY: the options are valid.
        unsafe { ffi::cambium_compactoptions_get_blob_garbage_collection_age_cutoff(self.raw.as_ptr()) }
    }
}

impl fmt::Debug for CompactOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CompactOptions")
            .field("blob_garbage_collection_policy", &self.blob_garbage_collection_policy())
            .field("blob_garbage_collection_age_cutoff", &self.blob_garbage_collection_age_cutoff())
            .field("cluster_values", &self.cluster_values())
            .finish()
    }
}

/// Options of [traces](crate::Db::start_trace).
pub struct TraceOptions {
    raw: NonNull<ffi::cambium_traceoptions_t>,
}

life!(TraceOptions, cambium_traceoptions_t, cambium_traceoptions_create, cambium_traceoptions_destroy);

/// Defines a number of trace options: its setter and its getter.
macro_rules! number {
    ($(#[$doc:meta])* $set:ident, $get:ident, $c_set:ident, $c_get:ident) => {
        $(#[$doc])*
        pub fn $set(&mut self, value: u64) -> &mut Self {
            // SAFETY: the options are valid, and borrowed exclusively.
            unsafe { ffi::$c_set(self.raw.as_ptr(), value) };
            self
        }
        $(#[$doc])*
        #[must_use]
        pub fn $get(&self) -> u64 {
            // SAFETY: the options are valid.
            unsafe { ffi::$c_get(self.raw.as_ptr()) }
        }
    };
}

impl TraceOptions {
    /// Bit of [`set_filter`](Self::set_filter): gets are left out.
    pub const FILTER_GET: u64 = ffi::cambium_trace_filter_get as u64;
    /// Bit of [`set_filter`](Self::set_filter): writes are left out.
    pub const FILTER_WRITE: u64 = ffi::cambium_trace_filter_write as u64;
    /// Bit of [`set_filter`](Self::set_filter): seeks forward are left out.
    pub const FILTER_ITERATOR_SEEK: u64 = ffi::cambium_trace_filter_iterator_seek as u64;
    /// Bit of [`set_filter`](Self::set_filter): seeks backward are left out.
    pub const FILTER_ITERATOR_SEEK_FOR_PREV: u64 = ffi::cambium_trace_filter_iterator_seek_for_prev as u64;
    /// Bit of [`set_filter`](Self::set_filter): gets of several keys are left out.
    pub const FILTER_MULTI_GET: u64 = ffi::cambium_trace_filter_multiget as u64;

    number! {
        /// The trace ends before its file would be larger.
        set_max_trace_file_size, max_trace_file_size,
        cambium_traceoptions_set_max_trace_file_size, cambium_traceoptions_get_max_trace_file_size
    }
    number! {
        /// One in this many operations is recorded.
        set_sampling_frequency, sampling_frequency,
        cambium_traceoptions_set_sampling_frequency, cambium_traceoptions_get_sampling_frequency
    }
    number! {
        /// Bits of the operations that are left out.
        set_filter, filter, cambium_traceoptions_set_filter, cambium_traceoptions_get_filter
    }
    truth! {
        /// Record writes in the order in which they become visible; other writes wait meanwhile. False by default.
        set_preserve_write_order, preserve_write_order,
        cambium_traceoptions_set_preserve_write_order, cambium_traceoptions_get_preserve_write_order
    }
    truth! {
        /// Record values, not only their lengths. False by default.
        set_include_values, include_values,
        cambium_traceoptions_set_include_values, cambium_traceoptions_get_include_values
    }
}

impl fmt::Debug for TraceOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TraceOptions")
            .field("max_trace_file_size", &self.max_trace_file_size())
            .field("sampling_frequency", &self.sampling_frequency())
            .field("filter", &self.filter())
            .field("preserve_write_order", &self.preserve_write_order())
            .field("include_values", &self.include_values())
            .finish()
    }
}

thread_local! {
    // One thread at a time may use options, so each thread has its own defaults.
    static READ: ReadOptions = ReadOptions::new();
    static WRITE: WriteOptions = WriteOptions::new();
}

/// Calls `call` with default options.
pub(crate) fn with_default_read<R>(call: impl FnOnce(*const ffi::cambium_readoptions_t) -> R) -> R {
    match READ.try_with(ReadOptions::as_ptr) {
        // This thread destroys its defaults only when it ends.
        Ok(options) => call(options),
        // The thread is ending: a destructor of another thread-local value reads.
        Err(_) => call(ReadOptions::new().as_ptr()),
    }
}

/// Calls `call` with default options.
pub(crate) fn with_default_write<R>(call: impl FnOnce(*const ffi::cambium_writeoptions_t) -> R) -> R {
    match WRITE.try_with(WriteOptions::as_ptr) {
        Ok(options) => call(options),
        Err(_) => call(WriteOptions::new().as_ptr()),
    }
}
