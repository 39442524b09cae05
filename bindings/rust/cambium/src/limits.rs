//! Limits that several databases may share.

use std::fmt;
use std::ptr::NonNull;

use cambium_sys as ffi;

use crate::error::Result;
use crate::raw;

/// A limit on the bytes that background work writes in a second.
pub struct RateLimiter {
    raw: NonNull<ffi::cambium_ratelimiter_t>,
}

// SAFETY: one thread at a time may use it, and that may be any thread.
unsafe impl Send for RateLimiter {}

impl RateLimiter {
    /// `bytes_per_second`: 16 KiB to 1 TiB. `refill_period_micros`: 1 ms to 10 s. `fairness`, 1 to 1000: how many times
    /// more important requests overtake one. Opening a database fails if a number is out of range.
    #[must_use]
    pub fn new(bytes_per_second: i64, refill_period_micros: i64, fairness: i32) -> Self {
        // SAFETY: the function has no requirements.
        let made = unsafe { ffi::cambium_ratelimiter_create(bytes_per_second, refill_period_micros, fairness) };
        Self { raw: NonNull::new(made).expect("the library returns no NULL here") }
    }

    /// Changes the limit at once, also for databases that use it.
    ///
    /// # Errors
    /// `InvalidArgument` if the number is out of range.
    pub fn set_bytes_per_second(&self, bytes_per_second: i64) -> Result<()> {
        // SAFETY: the limiter is valid.
        raw::check(|error| unsafe {
            ffi::cambium_ratelimiter_set_bytes_per_second(self.as_ptr(), bytes_per_second, error);
        })
    }

    /// The limit.
    #[must_use]
    pub fn bytes_per_second(&self) -> i64 {
        // SAFETY: the limiter is valid.
        unsafe { ffi::cambium_ratelimiter_get_bytes_per_second(self.as_ptr()) }
    }

    pub(crate) fn as_ptr(&self) -> *mut ffi::cambium_ratelimiter_t {
        self.raw.as_ptr()
    }
}

impl Drop for RateLimiter {
    fn drop(&mut self) {
        // SAFETY: the limiter is ours. Options and databases keep what they need.
        unsafe { ffi::cambium_ratelimiter_destroy(self.as_ptr()) };
    }
}

impl fmt::Debug for RateLimiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RateLimiter").field("bytes_per_second", &self.bytes_per_second()).finish()
    }
}

/// A limit on the memory of memtables and filters, for all databases that are opened with it.
pub struct WriteBufferManager {
    raw: NonNull<ffi::cambium_write_buffer_manager_t>,
}

// SAFETY: one thread at a time may use it, and that may be any thread.
unsafe impl Send for WriteBufferManager {}

impl WriteBufferManager {
    /// `buffer_size`: 0 (no limit), or 64 KiB to 1 PiB. `allow_stall`: all writes wait while the limit is reached.
    #[must_use]
    pub fn new(buffer_size: usize, allow_stall: bool) -> Self {
        // SAFETY: the function has no requirements.
        let made = unsafe { ffi::cambium_write_buffer_manager_create(buffer_size, allow_stall.into()) };
        Self { raw: NonNull::new(made).expect("the library returns no NULL here") }
    }

    /// Whether there is a limit.
    #[must_use]
    pub fn enabled(&self) -> bool {
        // SAFETY: the manager is valid.
        unsafe { ffi::cambium_write_buffer_manager_enabled(self.as_ptr()) != 0 }
    }

    /// Bytes that memtables and filters take now.
    #[must_use]
    pub fn memory_usage(&self) -> usize {
        // SAFETY: the manager is valid.
        unsafe { ffi::cambium_write_buffer_manager_memory_usage(self.as_ptr()) }
    }

    /// Bytes that active memtables take now.
    #[must_use]
    pub fn mutable_memtable_memory_usage(&self) -> usize {
        // SAFETY: the manager is valid.
        unsafe { ffi::cambium_write_buffer_manager_mutable_memtable_memory_usage(self.as_ptr()) }
    }

    /// The limit.
    #[must_use]
    pub fn buffer_size(&self) -> usize {
        // SAFETY: the manager is valid.
        unsafe { ffi::cambium_write_buffer_manager_buffer_size(self.as_ptr()) }
    }

    /// Changes the limit at once.
    pub fn set_buffer_size(&self, buffer_size: usize) {
        // SAFETY: the manager is valid.
        unsafe { ffi::cambium_write_buffer_manager_set_buffer_size(self.as_ptr(), buffer_size) };
    }

    /// Sets whether all writes wait while the limit is reached.
    pub fn set_allow_stall(&self, allow_stall: bool) {
        // SAFETY: the manager is valid.
        unsafe { ffi::cambium_write_buffer_manager_set_allow_stall(self.as_ptr(), allow_stall.into()) };
    }

    pub(crate) fn as_ptr(&self) -> *mut ffi::cambium_write_buffer_manager_t {
        self.raw.as_ptr()
    }
}

impl Drop for WriteBufferManager {
    fn drop(&mut self) {
        // SAFETY: the manager is ours. Options and databases keep what they need.
        unsafe { ffi::cambium_write_buffer_manager_destroy(self.as_ptr()) };
    }
}

impl fmt::Debug for WriteBufferManager {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WriteBufferManager").field("buffer_size", &self.buffer_size()).finish_non_exhaustive()
    }
}
