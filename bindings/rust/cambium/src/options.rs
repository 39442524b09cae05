//! Options of a database and of a column family.

use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;

use cambium_sys as ffi;

use crate::compaction_filter::{self, CompactionFilter, CompactionFilterFactory, OwnedFilter};
use crate::comparator::Comparator;
use crate::enums::{LogLevel, StatisticsLevel};
use crate::error::{Error, ErrorKind, Result};
use crate::limits::{RateLimiter, WriteBufferManager};
use crate::listener::{self, EventListener};
use crate::logger;
use crate::raw;
use crate::statistics::Statistics;

/// What the library borrows from options: comparators, filters, loggers. Options, their copies, and the databases that
/// are opened with them hold it.
pub(crate) type Keep = Vec<Arc<dyn Send + Sync>>;

/// Options of a database, and of one column family: of the default one, or of the one that is opened or created with
/// them. Defaults are the library's.
///
/// Setters accept every value. If one is out of range, the call that uses the options fails with `InvalidArgument`, and
/// the message names the option and its range. Every option that is documented can also be set by its name, as text.
///
/// ```
/// use cambium::{Compression, Options};
///
/// # fn main() -> cambium::Result<()> {
/// let mut options = Options::new();
/// options.set_create_if_missing(true).set_blob_compression_type(Compression::Zstd);
/// options.set("write_buffer_size", "16M")?;
/// assert_eq!(options.write_buffer_size(), 16 << 20);
/// # Ok(())
/// # }
/// ```
pub struct Options {
    raw: NonNull<ffi::cambium_options_t>,
    keep: Keep,
}

// SAFETY: one thread at a time may use options, and that may be any thread. What they keep is `Send` and `Sync`.
unsafe impl Send for Options {}

impl Options {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        // SAFETY: the function has no requirements.
        unsafe { Self::own(ffi::cambium_options_create(), Keep::new()) }
    }

    /// The defaults, with the changes of a text `name=value; name=value`.
    ///
    /// # Errors
    /// As [`apply`](Self::apply).
    pub fn parse(text: &str) -> Result<Self> {
        let mut options = Self::new();
        options.apply(text)?;
        Ok(options)
    }

    /// # Safety
    /// `options` are options that nothing else destroys, and `keep` has what they borrow.
    pub(crate) unsafe fn own(options: *mut ffi::cambium_options_t, keep: Keep) -> Self {
        Self { raw: NonNull::new(options).expect("the library returns no NULL here"), keep }
    }

    pub(crate) fn as_ptr(&self) -> *const ffi::cambium_options_t {
        self.raw.as_ptr()
    }

    pub(crate) fn as_mut_ptr(&mut self) -> *mut ffi::cambium_options_t {
        self.raw.as_ptr()
    }

    pub(crate) fn keep(&self) -> &Keep {
        &self.keep
    }

    /// Sets the options that a text `name=value; name=value` names. Whole numbers may end with `K`, `M`, `G` or `T`.
    ///
    /// # Errors
    /// `InvalidArgument` for an unknown name, a name given twice, or a value that is not legal. Nothing is then changed.
    pub fn apply(&mut self, text: &str) -> Result<()> {
        let text = raw::c_string("the text of options", text.as_bytes())?;
        // SAFETY: the options are valid; the function allows that both are the same.
        raw::check(|error| unsafe {
            ffi::cambium_get_options_from_string(self.as_ptr(), text.as_ptr(), self.raw.as_ptr(), error);
        })
    }

    /// Sets the option of this name to what the text says, for example `set("compression", "kZSTD")`.
    ///
    /// # Errors
    /// `InvalidArgument` for an unknown name, or a value that is not legal.
    pub fn set(&mut self, name: &str, value: &str) -> Result<&mut Self> {
        // In texts of several options these characters have a meaning. No legal name or value has them.
        let is_odd = |text: &str| text.contains(['=', ';', '{', '}']);
        if is_odd(name) || is_odd(value) {
            let message = format!("option {name:?} with value {value:?} has a character that is not legal");
            return Err(Error::new(ErrorKind::InvalidArgument, message));
        }
        self.apply(&format!("{name}={value}"))?;
        Ok(self)
    }

    /// All options that have a text form.
    ///
    /// # Errors
    /// `InvalidArgument` if an option is not legal.
    pub fn to_text(&self) -> Result<String> {
        // SAFETY: the options are valid, and the text is ours.
        let text = raw::check(|error| unsafe { ffi::cambium_options_to_string(self.as_ptr(), error) })?;
        // SAFETY: as above.
        Ok(unsafe { raw::take_string(text) }.unwrap_or_default())
    }

    /// Sets the options that RocksDB also has to the defaults of RocksDB, and removes the ceiling on disk space.
    pub fn optimize_for_rocksdb_compatibility(&mut self) -> &mut Self {
        // SAFETY: the options are valid, and borrowed exclusively.
        unsafe { ffi::cambium_options_optimize_for_rocksdb_compatibility(self.as_mut_ptr()) };
        self
    }

    /// Sets the order of keys. Its name is stored with the column family.
    pub fn set_comparator(&mut self, comparator: &Comparator) -> &mut Self {
        self.keep.push(comparator.keep());
        let options = self.as_mut_ptr();
        // SAFETY: both are valid. These options, their copies and databases keep the comparator.
        Comparator::with(&[comparator], |raw| unsafe {
            ffi::cambium_options_set_comparator(options, raw[0].cast_mut());
        });
        self
    }

    /// Sets the filter that compactions ask. Several threads call it at once. The name is for messages.
    ///
    /// # Errors
    /// `InvalidArgument` if the name has a zero byte.
    pub fn set_compaction_filter<F>(&mut self, name: &str, filter: F) -> Result<&mut Self>
    where
        F: CompactionFilter + Send + Sync + 'static,
    {
        let filter = OwnedFilter::new(name, filter)?;
        // SAFETY: both are valid. These options, their copies and databases keep the filter.
        unsafe { ffi::cambium_options_set_compaction_filter(self.as_mut_ptr(), filter.as_ptr()) };
        self.keep.push(filter);
        Ok(self)
    }

    /// Sets what makes a filter for each compaction. No effect if there is a [filter](Self::set_compaction_filter). The
    /// name is for messages.
    ///
    /// # Errors
    /// `InvalidArgument` if the name has a zero byte.
    pub fn set_compaction_filter_factory<T>(&mut self, name: &str, factory: T) -> Result<&mut Self>
    where
        T: CompactionFilterFactory + Send + Sync + 'static,
    {
        let factory = compaction_filter::create_raw_factory(name, factory)?;
        // SAFETY: both are valid. The options own the factory from here on.
        unsafe { ffi::cambium_options_set_compaction_filter_factory(self.as_mut_ptr(), factory) };
        Ok(self)
    }

    /// Limits what background work writes. `None`: no limit. Several databases may share a limiter.
    pub fn set_rate_limiter(&mut self, limiter: Option<&RateLimiter>) -> &mut Self {
        let limiter = limiter.map_or(std::ptr::null_mut(), RateLimiter::as_ptr);
        // SAFETY: the options are valid, and the limiter is valid or NULL. The options keep what they need.
        unsafe { ffi::cambium_options_set_ratelimiter(self.as_mut_ptr(), limiter) };
        self
    }

    /// Limits the memory of memtables and filters. `None`: `db_write_buffer_size` counts. Several databases may share a
    /// manager.
    pub fn set_write_buffer_manager(&mut self, manager: Option<&WriteBufferManager>) -> &mut Self {
        let manager = manager.map_or(std::ptr::null_mut(), WriteBufferManager::as_ptr);
        // SAFETY: the options are valid, and the manager is valid or NULL. The options keep what they need.
        unsafe { ffi::cambium_options_set_write_buffer_manager(self.as_mut_ptr(), manager) };
        self
    }

    /// Gives lines of the log of events that have at least this level to a closure, not to the file `LOG`. Any thread of
    /// the library may call it, several at once.
    pub fn set_info_log<F>(&mut self, level: LogLevel, log: F) -> &mut Self
    where
        F: Fn(LogLevel, &str) + Send + Sync + 'static,
    {
        // SAFETY: the options are valid, and borrowed exclusively. They, their copies and databases keep the closure.
        let state = unsafe { logger::set(self.as_mut_ptr(), level, log) };
        self.keep.push(state);
        self
    }

    /// Drops the log of events.
    pub fn disable_info_log(&mut self) -> &mut Self {
        // SAFETY: the options are valid, and keep what they need.
        unsafe {
            let made = ffi::cambium_logger_create_null_logger();
            ffi::cambium_options_set_info_log(self.as_mut_ptr(), made);
            ffi::cambium_logger_destroy(made);
        }
        self
    }

    /// Writes the log of events to the file `LOG` in the directory of the database. The default.
    pub fn set_default_info_log(&mut self) -> &mut Self {
        // SAFETY: the options are valid, and NULL is allowed.
        unsafe { ffi::cambium_options_set_info_log(self.as_mut_ptr(), std::ptr::null_mut()) };
        self
    }

    /// Adds a listener, which is called for each event.
    pub fn add_event_listener<L>(&mut self, listener: L) -> &mut Self
    where
        L: EventListener + Send + Sync + 'static,
    {
        // SAFETY: the options are valid, and borrowed exclusively.
        unsafe { listener::add(self.as_mut_ptr(), listener) };
        self
    }

    /// Counts what databases do that are opened with these options, or with copies of them made from now on.
    pub fn enable_statistics(&mut self) -> &mut Self {
        // SAFETY: the options are valid, and borrowed exclusively.
        unsafe { ffi::cambium_options_enable_statistics(self.as_mut_ptr()) };
        self
    }

    /// Sets what is counted. No effect without statistics.
    pub fn set_statistics_level(&mut self, level: StatisticsLevel) -> &mut Self {
        // SAFETY: the options are valid, and borrowed exclusively.
        unsafe { ffi::cambium_options_set_statistics_level(self.as_mut_ptr(), level.to_raw()) };
        self
    }

    /// The statistics of these options.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        // SAFETY: the options are valid, and the copy is ours.
        unsafe { Statistics::own(ffi::cambium_options_create_copy(self.as_ptr())) }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self::new()
    }
}

impl Clone for Options {
    /// The copy shares statistics, listeners and other objects.
    fn clone(&self) -> Self {
        // SAFETY: the options are valid, and the copy is ours.
        unsafe { Self::own(ffi::cambium_options_create_copy(self.as_ptr()), self.keep.clone()) }
    }
}

impl Drop for Options {
    fn drop(&mut self) {
        // SAFETY: the options are ours.
        unsafe { ffi::cambium_options_destroy(self.raw.as_ptr()) };
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.to_text() {
            Ok(text) => write!(f, "Options({text})"),
            Err(error) => write!(f, "Options({error})"),
        }
    }
}
