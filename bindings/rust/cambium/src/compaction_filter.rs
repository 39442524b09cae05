//! Functions that decide about values in compactions.

use std::ffi::{CString, c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::{self, NonNull};
use std::sync::Arc;

use cambium_sys as ffi;

use crate::error::Result;
use crate::raw;

/// What becomes of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It stays.
    Keep,
    /// It is removed. An older value of the key does not come back.
    Remove,
    /// It gets this value.
    Change(Vec<u8>),
    /// It is removed, with all keys of this job before this one. If this key is not greater, the entry stays.
    RemoveAndSkipUntil(Vec<u8>),
}

/// Decides about each value that a compaction takes up. A closure `Fn(level, key, value) -> Decision` is a filter too.
///
/// - A filter is called by threads of the library, and by the thread that calls
///   [`compact_range`](crate::Db::compact_range). `level` is the level of an LSM that the keys are written to, and 1 in a
///   tree.
/// - It must not call its database.
/// - A panic in it fails the compaction with `InvalidArgument`, and changes nothing. The compaction is tried again; after
///   ten failures in a row, writes to the column family fail too.
///
/// ```
/// # fn main() -> cambium::Result<()> {
/// # let path = std::env::temp_dir().join(format!("cambium-doc-filter-{}", std::process::id()));
/// use cambium::{Db, Decision, Options};
///
/// let mut options = Options::new();
/// options.set_create_if_missing(true).set_compaction_filter("drop-old", |_level: i32, _key: &[u8], value: &[u8]| {
///     if value.starts_with(b"old") { Decision::Remove } else { Decision::Keep }
/// })?;
/// let db = Db::open(&options, &path)?;
/// db.put("a", "old value")?;
/// db.put("b", "new value")?;
/// db.compact_range(None, None)?;
/// assert_eq!(db.get("a")?, None);
/// assert!(db.get("b")?.is_some());
/// # db.close()?;
/// # cambium::destroy_db(&Options::new(), &path)
/// # }
/// ```
pub trait CompactionFilter {
    /// Decides by key and value.
    fn filter(&self, level: i32, key: &[u8], value: &[u8]) -> Decision;

    /// Decides about a value in the log, before it is read. `None`: the value is needed, and [`filter`](Self::filter)
    /// decides. Not called for values that are stored with their keys.
    fn filter_by_key(&self, level: i32, key: &[u8]) -> Option<Decision> {
        let _ = (level, key);
        None
    }
}

impl<F: Fn(i32, &[u8], &[u8]) -> Decision> CompactionFilter for F {
    fn filter(&self, level: i32, key: &[u8], value: &[u8]) -> Decision {
        self(level, key, value)
    }
}

/// The job that a filter is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FilterContext {
    /// The job compacts everything in the column family.
    pub is_full_compaction: bool,
    /// [`compact_range`](crate::Db::compact_range) runs the job.
    pub is_manual_compaction: bool,
    /// The number of the column family.
    pub column_family_id: u32,
}

/// Makes a filter for each job: a compaction, or one step of a sweep. A closure
/// `Fn(FilterContext) -> Option<Box<dyn CompactionFilter + Send>>` is a factory too.
///
/// Any thread may call the factory. One thread at a time calls a filter that it made, so such a filter need not be `Sync`
/// and may count in a `Cell`.
pub trait CompactionFilterFactory {
    /// Makes the filter of a job. `None`: the job keeps everything. If this panics, the job fails once it has an entry to
    /// decide about.
    fn create(&self, context: FilterContext) -> Option<Box<dyn CompactionFilter + Send>>;
}

impl<F: Fn(FilterContext) -> Option<Box<dyn CompactionFilter + Send>>> CompactionFilterFactory for F {
    fn create(&self, context: FilterContext) -> Option<Box<dyn CompactionFilter + Send>> {
        self(context)
    }
}

/// An answer that is not legal: it fails the job.
const ILLEGAL: c_int = -1;

struct State {
    name: CString,
    /// `None`: its factory panicked, so it fails the job.
    filter: Option<Box<dyn CompactionFilter>>,
}

/// A filter that options use, and that is destroyed when no options and no database need it.
pub(crate) struct OwnedFilter {
    raw: NonNull<ffi::cambium_compactionfilter_t>,
}

// SAFETY: the filter is `Send` and `Sync`, as `new` requires; otherwise only the owner uses the object.
unsafe impl Send for OwnedFilter {}
// SAFETY: as above.
unsafe impl Sync for OwnedFilter {}

impl Drop for OwnedFilter {
    fn drop(&mut self) {
        // SAFETY: each user of the filter holds the `Arc` around this object, so it is unused now.
        unsafe { ffi::cambium_compactionfilter_destroy(self.raw.as_ptr()) };
    }
}

impl OwnedFilter {
    pub(crate) fn new(name: &str, filter: impl CompactionFilter + Send + Sync + 'static) -> Result<Arc<Self>> {
        let name = filter_name(name)?;
        let made = create_raw(State { name, filter: Some(Box::new(filter)) });
        Ok(Arc::new(Self { raw: NonNull::new(made).expect("the library returns no NULL here") }))
    }

    pub(crate) fn as_ptr(&self) -> *mut ffi::cambium_compactionfilter_t {
        self.raw.as_ptr()
    }
}

struct FactoryState<T> {
    name: CString,
    factory: T,
}

/// Makes a factory that the caller gives to options, which own it from then on.
pub(crate) fn create_raw_factory<T>(name: &str, factory: T) -> Result<*mut ffi::cambium_compactionfilterfactory_t>
where
    T: CompactionFilterFactory + Send + Sync + 'static,
{
    let state = Box::new(FactoryState { name: filter_name(name)?, factory });
    let state = Box::into_raw(state).cast();
    // SAFETY: the functions are those for this type of state. The destructor frees the state.
    Ok(unsafe {
        ffi::cambium_compactionfilterfactory_create(
            state,
            Some(destroy::<FactoryState<T>>),
            Some(create_for_job::<T>),
            Some(name_of_factory::<T>),
        )
    })
}

fn filter_name(name: &str) -> Result<CString> {
    raw::c_string("the name of a compaction filter", name.as_bytes())
}

fn create_raw(state: State) -> *mut ffi::cambium_compactionfilter_t {
    let state = Box::into_raw(Box::new(state)).cast();
    // SAFETY: the functions are those for this type of state. The destructor frees the state.
    unsafe {
        ffi::cambium_compactionfilter_create_v2(
            state,
            Some(destroy::<State>),
            Some(filter_by_key),
            Some(filter),
            Some(name_of),
        )
    }
}

/// Runs a decision, and catches its panic. `None`: undetermined.
fn decide(
    state: &State,
    call: impl FnOnce(&dyn CompactionFilter) -> Option<Decision>,
) -> std::result::Result<Option<Decision>, ()> {
    let filter = state.filter.as_deref().ok_or(())?;
    catch_unwind(AssertUnwindSafe(|| call(filter))).map_err(drop)
}

/// Converts a decision to a number, and gives its bytes to `answer`.
///
/// # Safety
/// `answer` is that of the current call of the library, unless the decision has no bytes.
unsafe fn tell(
    decision: std::result::Result<Option<Decision>, ()>,
    answer: *mut ffi::cambium_compactionfilteranswer_t,
) -> c_int {
    match decision {
        Err(()) => ILLEGAL,
        Ok(None) => ffi::cambium_filter_undetermined as c_int,
        Ok(Some(Decision::Keep)) => ffi::cambium_filter_keep as c_int,
        Ok(Some(Decision::Remove)) => ffi::cambium_filter_remove as c_int,
        Ok(Some(Decision::Change(value))) => {
            // SAFETY: the library copies the value.
            unsafe { ffi::cambium_compactionfilteranswer_set_value(answer, raw::address(&value), value.len()) };
            ffi::cambium_filter_change_value as c_int
        }
        Ok(Some(Decision::RemoveAndSkipUntil(key))) => {
            // SAFETY: the library copies the key.
            unsafe { ffi::cambium_compactionfilteranswer_skip_until(answer, raw::address(&key), key.len()) };
            ffi::cambium_filter_remove_and_skip_until as c_int
        }
    }
}

/// # Safety
/// `state` is a `State` that is not destroyed yet, the key can be read, and `answer` is that of this call.
unsafe extern "C" fn filter_by_key(
    state: *mut c_void,
    level: c_int,
    key: *const c_char,
    key_length: usize,
    answer: *mut ffi::cambium_compactionfilteranswer_t,
) -> c_int {
    // SAFETY: the caller promises it.
    unsafe {
        let (state, key) = (&*state.cast::<State>(), raw::bytes(key, key_length));
        tell(decide(state, |filter| filter.filter_by_key(level, key)), answer)
    }
}

/// # Safety
/// As `filter_by_key`; the value can be read too.
unsafe extern "C" fn filter(
    state: *mut c_void,
    level: c_int,
    key: *const c_char,
    key_length: usize,
    value: *const c_char,
    value_length: usize,
    answer: *mut ffi::cambium_compactionfilteranswer_t,
) -> c_int {
    // SAFETY: the caller promises it.
    unsafe {
        let (state, key) = (&*state.cast::<State>(), raw::bytes(key, key_length));
        let value = raw::bytes(value, value_length);
        tell(decide(state, |filter| Some(filter.filter(level, key, value))), answer)
    }
}

/// # Safety
/// `state` is a `State` that is not destroyed yet.
unsafe extern "C" fn name_of(state: *mut c_void) -> *const c_char {
    // SAFETY: the caller promises it.
    unsafe { &*state.cast::<State>() }.name.as_ptr()
}

/// # Safety
/// `state` is a `FactoryState<T>` that is not destroyed yet.
unsafe extern "C" fn name_of_factory<T>(state: *mut c_void) -> *const c_char {
    // SAFETY: the caller promises it.
    unsafe { &*state.cast::<FactoryState<T>>() }.name.as_ptr()
}

/// # Safety
/// `state` is a `FactoryState<T>` that is not destroyed yet, and `context` is that of this call.
unsafe extern "C" fn create_for_job<T: CompactionFilterFactory + Send + Sync + 'static>(
    state: *mut c_void,
    context: *mut ffi::cambium_compactionfiltercontext_t,
) -> *mut ffi::cambium_compactionfilter_t {
    // SAFETY: the caller promises it.
    let (state, context) = unsafe {
        let context = FilterContext {
            is_full_compaction: ffi::cambium_compactionfiltercontext_is_full_compaction(context) != 0,
            is_manual_compaction: ffi::cambium_compactionfiltercontext_is_manual_compaction(context) != 0,
            column_family_id: ffi::cambium_compactionfiltercontext_column_family_id(context),
        };
        (&*state.cast::<FactoryState<T>>(), context)
    };
    let filter = match catch_unwind(AssertUnwindSafe(|| state.factory.create(context))) {
        Ok(None) => return ptr::null_mut(),
        Ok(Some(filter)) => Some(filter as Box<dyn CompactionFilter>),
        Err(_) => None,
    };
    create_raw(State { name: state.name.clone(), filter })
}

/// # Safety
/// `state` is a `T` in a box, and nothing uses it any more.
unsafe extern "C" fn destroy<T>(state: *mut c_void) {
    // SAFETY: the caller promises it.
    let state = unsafe { Box::from_raw(state.cast::<T>()) };
    let _ = catch_unwind(AssertUnwindSafe(|| drop(state)));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls the functions as the library does. The answers have no bytes, so the library is not needed.
    fn ask(state: State) -> (c_int, c_int) {
        let state: *mut c_void = Box::into_raw(Box::new(state)).cast();
        // SAFETY: the state is of this type, and destroyed last.
        unsafe {
            assert_eq!(std::ffi::CStr::from_ptr(name_of(state)), c"its name");
            let by_key = filter_by_key(state, 3, c"key".as_ptr(), 3, ptr::null_mut());
            let by_value = filter(state, 3, c"key".as_ptr(), 3, raw::address(b"v\0w"), 3, ptr::null_mut());
            destroy::<State>(state);
            (by_key, by_value)
        }
    }

    fn state(filter: Option<Box<dyn CompactionFilter>>) -> State {
        State { name: c"its name".to_owned(), filter }
    }

    #[test]
    fn callbacks_call_the_filter_and_free_it() {
        let alive = Arc::new(());
        let its = Arc::clone(&alive);
        let closure = move |level: i32, key: &[u8], value: &[u8]| {
            assert_eq!(Arc::strong_count(&its), 2);
            assert_eq!((level, key, value), (3, b"key".as_slice(), b"v\0w".as_slice()));
            Decision::Remove
        };
        let answers = ask(state(Some(Box::new(closure))));
        assert_eq!(answers, (ffi::cambium_filter_undetermined as c_int, ffi::cambium_filter_remove as c_int));
        assert_eq!(Arc::strong_count(&alive), 1);
    }

    #[test]
    fn a_panic_and_a_missing_filter_are_illegal_answers() {
        struct Panics;
        impl CompactionFilter for Panics {
            fn filter(&self, _: i32, _: &[u8], _: &[u8]) -> Decision {
                panic!("expected by the test");
            }
            fn filter_by_key(&self, _: i32, _: &[u8]) -> Option<Decision> {
                panic!("expected by the test");
            }
        }
        assert_eq!(ask(state(Some(Box::new(Panics)))), (ILLEGAL, ILLEGAL));
        assert_eq!(ask(state(None)), (ILLEGAL, ILLEGAL));
    }
}
