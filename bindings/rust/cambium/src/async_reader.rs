//! Many reads in flight from one thread.

use std::any::Any;
use std::cell::Cell;
use std::ffi::{c_char, c_void};
use std::fmt;
use std::marker::PhantomData;
use std::os::fd::BorrowedFd;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::NonNull;
use std::rc::Rc;
use std::slice;
use std::sync::Arc;
use std::time::Duration;

use cambium_sys as ffi;

use crate::call_options::ReadOptions;
use crate::column_family::ColumnFamily;
use crate::db_core::DbCore;
use crate::error::Result;
use crate::raw::{self, Keys};
use crate::snapshot::Snapshot;

/// How a reader works. `AsyncReaderOptions::default()` is the default of the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AsyncReaderOptions {
    /// The most keys in flight; 1 to 4096.
    pub depth: usize,
    /// A read waits if its value would raise the sum of the values in flight above this.
    pub bytes_max: u64,
    /// If false, or if the system refuses io_uring, threads read.
    pub use_io_uring: bool,
}

impl Default for AsyncReaderOptions {
    fn default() -> Self {
        Self { depth: 64, bytes_max: 64 << 20, use_io_uring: true }
    }
}

/// Has many reads in flight, for one thread at a time. Made by [`Db::async_reader`](crate::Db::async_reader).
///
/// [`get`](Self::get) begins a read, and [`poll`](Self::poll) calls the closures of reads that have ended. Closures are
/// called only there, and when the reader is dropped: then those of all reads that are left are called, perhaps with
/// `Aborted`. In a forked child none are called.
///
/// A panic in a closure goes on to the caller of `poll`, after all closures of that call have been called. It is lost when
/// the reader is dropped.
///
/// A reader keeps its database open. The closures may borrow what lives as long as `'env`.
///
/// ```
/// # fn main() -> cambium::Result<()> {
/// # let path = std::env::temp_dir().join(format!("cambium-doc-async-{}", std::process::id()));
/// # let db = cambium::Db::open_default(&path)?;
/// use std::cell::Cell;
/// use std::sync::Mutex;
///
/// db.put("a", "1")?;
/// let found = Mutex::new(Vec::new());
/// let mut reader = db.async_reader(Default::default())?;
/// for key in ["a", "b"] {
///     reader.get(key, |value| found.lock().unwrap().push(value.unwrap().map(<[u8]>::to_vec)))?;
/// }
/// while reader.in_flight() > 0 {
///     reader.poll(1, None);
/// }
/// drop(reader);
/// let mut found = found.into_inner().unwrap();
/// found.sort();
/// assert_eq!(found, [None, Some(b"1".to_vec())]);
/// # db.close()?;
/// # cambium::destroy_db(&cambium::Options::new(), &path)
/// # }
/// ```
pub struct AsyncReader<'env> {
    raw: NonNull<ffi::cambium_asyncreader_t>,
    depth: usize,
    default: ColumnFamily,
    panic: Rc<PanicSlot>,
    /// Released after the reader.
    _core: Arc<DbCore>,
    /// Invariant: a reader for closures that live long must not become one for shorter ones.
    env: PhantomData<Cell<&'env ()>>,
}

// SAFETY: one thread at a time may use a reader, and that may be any thread. The closures are `Send`, and those that wait
// go where the reader goes, with all counted references to the slot.
unsafe impl Send for AsyncReader<'_> {}

/// The first panic of a closure, until the call that ended its read returns.
#[derive(Default)]
struct PanicSlot {
    panic: Cell<Option<Box<dyn Any + Send>>>,
}

impl PanicSlot {
    fn run(&self, call: impl FnOnce()) {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(call)) {
            let first = self.panic.take().unwrap_or(panic);
            self.panic.set(Some(first));
        }
    }
}

/// A closure, until its read has ended.
struct Pending<F> {
    then: F,
    slot: Rc<PanicSlot>,
    /// What the read uses.
    _uses: Uses,
}

/// What the library borrows during a read.
#[derive(Default)]
struct Uses {
    _families: Vec<ColumnFamily>,
    _snapshot: Option<Snapshot>,
}

impl<'env> AsyncReader<'env> {
    pub(crate) fn new(default: &ColumnFamily, options: AsyncReaderOptions) -> Result<Self> {
        let core = &default.inner.core;
        // SAFETY: the database is open.
        let made = raw::check(|error| unsafe {
            ffi::cambium_asyncreader_create(
                core.raw().as_ptr(),
                options.depth,
                options.bytes_max,
                options.use_io_uring.into(),
                error,
            )
        })?;
        Ok(Self {
            raw: NonNull::new(made).expect("without an error there is a reader"),
            depth: options.depth,
            default: default.clone(),
            panic: Rc::default(),
            _core: Arc::clone(core),
            env: PhantomData,
        })
    }

    /// Begins to read a key of the default family. If the result is true, `then` will be called with the value, or with
    /// `None` if there is no such key. If it is false, there is no room: see [`has_room`](Self::has_room). `then` is then
    /// dropped.
    ///
    /// # Errors
    /// If the read cannot begin. `then` is then dropped.
    pub fn get<F>(&mut self, key: impl AsRef<[u8]>, then: F) -> Result<bool>
    where
        F: FnOnce(Result<Option<&[u8]>>) + Send + 'env,
    {
        let family = self.default.clone();
        self.get_opt(&family, key, &ReadOptions::new(), then)
    }

    /// As [`get`](Self::get), for a column family and with options.
    ///
    /// # Errors
    /// As `get`.
    pub fn get_opt<F>(
        &mut self,
        family: &ColumnFamily,
        key: impl AsRef<[u8]>,
        options: &ReadOptions,
        then: F,
    ) -> Result<bool>
    where
        F: FnOnce(Result<Option<&[u8]>>) + Send + 'env,
    {
        let key = key.as_ref();
        let uses = Uses { _families: vec![family.clone()], _snapshot: options.snapshot().cloned() };
        self.begin(then, uses, |reader, state, error| {
            // SAFETY: reader, options and family are valid; the key is copied; the callback is that for this state.
            unsafe {
                ffi::cambium_asyncreader_get_cf(
                    reader,
                    options.as_ptr(),
                    family.inner.as_ptr(),
                    raw::address(key),
                    key.len(),
                    Some(end_one::<F>),
                    state,
                    error,
                )
            }
        })
    }

    /// Begins to read keys, of any families, at one state: at most `depth`. `then` will be called when all have been read,
    /// with one result for each. Otherwise as [`get`](Self::get).
    ///
    /// # Errors
    /// As `get`; `InvalidArgument` if there are too many keys.
    pub fn multi_get<K, F>(&mut self, keys: &[(&ColumnFamily, K)], options: &ReadOptions, then: F) -> Result<bool>
    where
        K: AsRef<[u8]>,
        F: FnOnce(&[Result<Option<&[u8]>>]) + Send + 'env,
    {
        let families: Vec<_> = keys.iter().map(|(family, _)| family.inner.as_ptr().cast_const()).collect();
        let all_families = keys.iter().map(|(family, _)| (*family).clone()).collect();
        let uses = Uses { _families: all_families, _snapshot: options.snapshot().cloned() };
        let keys: Vec<&K> = keys.iter().map(|(_, key)| key).collect();
        let keys = Keys::new(&keys);
        self.begin(then, uses, |reader, state, error| {
            // SAFETY: reader, options and families are valid; the keys are copied; the callback is that for this state.
            unsafe {
                ffi::cambium_asyncreader_multi_get_cf(
                    reader,
                    options.as_ptr(),
                    families.as_ptr(),
                    keys.len(),
                    keys.addresses.as_ptr(),
                    keys.lengths.as_ptr(),
                    Some(end_many::<F>),
                    state,
                    error,
                )
            }
        })
    }

    /// Boxes a closure, and begins a read whose callback takes the box. The box is freed here if no read has begun.
    fn begin<F>(
        &mut self,
        then: F,
        uses: Uses,
        call: impl FnOnce(*mut ffi::cambium_asyncreader_t, *mut c_void, *mut *mut c_char) -> u8,
    ) -> Result<bool> {
        let pending = Box::into_raw(Box::new(Pending { then, slot: Rc::clone(&self.panic), _uses: uses }));
        let begun = raw::check(|error| call(self.raw.as_ptr(), pending.cast(), error));
        if !matches!(begun, Ok(begun) if begun != 0) {
            // SAFETY: no read has begun, so the callback will not be called.
            drop(unsafe { Box::from_raw(pending) });
        }
        Ok(begun? != 0)
    }

    /// Hands the reads that have begun to the system, as each poll does.
    pub fn submit(&mut self) {
        // SAFETY: the reader is valid.
        unsafe { ffi::cambium_asyncreader_submit(self.raw.as_ptr()) };
    }

    /// Ends reads and calls their closures, until `least` have ended, or the time has passed, or none is in flight.
    /// Returns how many it has ended. `None`: no limit of time.
    ///
    /// # Panics
    /// If a closure panics.
    pub fn poll(&mut self, least: usize, timeout: Option<Duration>) -> usize {
        let micros = timeout.map_or(u64::MAX, |time| u64::try_from(time.as_micros()).unwrap_or(u64::MAX));
        // SAFETY: the reader is valid, and borrowed exclusively.
        let ended = unsafe { ffi::cambium_asyncreader_poll(self.raw.as_ptr(), least, micros) };
        if let Some(panic) = self.panic.panic.take() {
            resume_unwind(panic);
        }
        ended
    }

    /// The number of keys that are in flight.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        // SAFETY: the reader is valid.
        unsafe { ffi::cambium_asyncreader_in_flight(self.raw.as_ptr()) }
    }

    /// Whether a read of one key can begin.
    #[must_use]
    pub fn has_room(&self) -> bool {
        self.in_flight() < self.depth
    }

    /// An eventfd that is readable when [`poll`](Self::poll) has something to do, for programs with an event loop. Neither
    /// read it nor close it.
    ///
    /// # Errors
    /// `NotSupported` if the system cannot signal.
    pub fn event_fd(&mut self) -> Result<BorrowedFd<'_>> {
        // SAFETY: the reader is valid.
        let fd = raw::check(|error| unsafe { ffi::cambium_asyncreader_event_fd(self.raw.as_ptr(), error) })?;
        // SAFETY: the descriptor is open as long as the reader, which the result borrows.
        Ok(unsafe { BorrowedFd::borrow_raw(fd) })
    }
}

impl Drop for AsyncReader<'_> {
    fn drop(&mut self) {
        // SAFETY: the reader is ours, and its database is open. What the closures borrow lives longer than this reader.
        unsafe { ffi::cambium_asyncreader_destroy(self.raw.as_ptr()) };
    }
}

impl fmt::Debug for AsyncReader<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AsyncReader").field("in_flight", &self.in_flight()).finish_non_exhaustive()
    }
}

/// The result of one read.
///
/// # Safety
/// The value, unless NULL, can be read during 'a, and the error is NULL or ends with a zero.
unsafe fn result<'a>(value: *const c_char, length: usize, error: *const c_char) -> Result<Option<&'a [u8]>> {
    // SAFETY: the caller promises it.
    unsafe {
        match raw::borrow_error(error) {
            Some(error) => Err(error),
            None if value.is_null() => Ok(None),
            None => Ok(Some(raw::bytes(value, length))),
        }
    }
}

/// # Safety
/// `state` is a `Pending<F>` in a box that nothing else frees; value and error are as `result` requires.
unsafe extern "C" fn end_one<F>(state: *mut c_void, value: *const c_char, length: usize, error: *const c_char)
where
    F: FnOnce(Result<Option<&[u8]>>),
{
    // SAFETY: the caller promises it.
    let (pending, result) = unsafe { (Box::from_raw(state.cast::<Pending<F>>()), result(value, length, error)) };
    let Pending { then, slot, _uses } = *pending;
    slot.run(|| then(result));
}

/// # Safety
/// As `end_one`; there are `count` values, lengths and errors.
unsafe extern "C" fn end_many<F>(
    state: *mut c_void,
    count: usize,
    values: *const *const c_char,
    lengths: *const usize,
    errors: *const *const c_char,
) where
    F: FnOnce(&[Result<Option<&[u8]>>]),
{
    // SAFETY: the caller promises it.
    let Pending { then, slot, _uses } = *unsafe { Box::from_raw(state.cast::<Pending<F>>()) };
    let results: Vec<_> = if count == 0 {
        Vec::new()
    } else {
        // SAFETY: the caller promises it.
        unsafe {
            let values = slice::from_raw_parts(values, count).iter();
            let lengths = slice::from_raw_parts(lengths, count).iter();
            let errors = slice::from_raw_parts(errors, count).iter();
            values.zip(lengths).zip(errors).map(|((value, length), error)| result(*value, *length, *error)).collect()
        }
    };
    slot.run(|| then(&results));
}

#[cfg(test)]
mod tests {
    use std::ptr;

    use super::*;

    /// Calls the functions as the library does.
    fn one<F: FnOnce(Result<Option<&[u8]>>)>(
        slot: &Rc<PanicSlot>,
        then: F,
        value: Option<&[u8]>,
        error: *const c_char,
    ) {
        let state = Box::into_raw(Box::new(Pending { then, slot: Rc::clone(slot), _uses: Uses::default() }));
        let (data, length) = value.map_or((ptr::null(), 0), |value| (raw::address(value), value.len()));
        // SAFETY: the state is of this type, and value and error are valid.
        unsafe { end_one::<F>(state.cast(), data, length, error) };
    }

    #[test]
    fn callbacks_pass_results_on() {
        let slot = Rc::default();
        let mut seen = Vec::new();
        one(&slot, |result| seen.push(result.map(|value| value.map(<[u8]>::to_vec))), Some(b"a\0"), ptr::null());
        one(&slot, |result| seen.push(result.map(|value| value.map(<[u8]>::to_vec))), Some(b""), ptr::null());
        one(&slot, |result| seen.push(result.map(|value| value.map(<[u8]>::to_vec))), None, ptr::null());
        assert_eq!(seen, [Ok(Some(b"a\0".to_vec())), Ok(Some(Vec::new())), Ok(None)]);
        assert!(slot.panic.take().is_none());
    }

    #[test]
    #[cfg_attr(miri, ignore = "asks the library")]
    fn errors_are_passed_on() {
        let slot = Rc::default();
        one(&slot, |result| assert_eq!(result.unwrap_err().text(), "Corruption: x"), None, c"Corruption: x".as_ptr());
        many(&slot, |results| assert!(results[2].is_err()), c"Corruption".as_ptr());
        assert!(slot.panic.take().is_none());
    }

    #[test]
    fn the_first_panic_is_kept() {
        let slot = Rc::default();
        one(&slot, |_| panic!("first, expected by the test"), None, ptr::null());
        one(&slot, |_| panic!("second, expected by the test"), None, ptr::null());
        let panic = slot.panic.take().unwrap();
        assert_eq!(*panic.downcast_ref::<&str>().unwrap(), "first, expected by the test");
    }

    fn many<F: FnOnce(&[Result<Option<&[u8]>>])>(slot: &Rc<PanicSlot>, then: F, last_error: *const c_char) {
        let values = [c"ab".as_ptr(), ptr::null(), ptr::null()];
        let errors = [ptr::null(), ptr::null(), last_error];
        let state = Box::into_raw(Box::new(Pending { then, slot: Rc::clone(slot), _uses: Uses::default() }));
        // SAFETY: the state is of this type, and there are three values, lengths and errors.
        unsafe { end_many::<F>(state.cast(), 3, values.as_ptr(), [2, 0, 0].as_ptr(), errors.as_ptr()) };
    }

    #[test]
    fn several_results_arrive_in_order() {
        let slot = Rc::default();
        many(&slot, |results| assert_eq!(results, [Ok(Some(b"ab".as_slice())), Ok(None), Ok(None)]), ptr::null());
        assert!(slot.panic.take().is_none());
    }
}
