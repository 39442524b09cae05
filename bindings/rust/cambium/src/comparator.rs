//! Orders of keys.

use std::cmp::Ordering;
use std::ffi::{CString, c_char, c_int, c_void};
use std::fmt;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError};

use cambium_sys as ffi;

use crate::error::Result;
use crate::raw;

/// The order of the keys of a column family.
///
/// A database stores the name of the order, and cannot be opened with an order of another name. Under one name the order
/// must never change. Options and databases keep the comparators that they use.
///
/// ```
/// # fn main() -> cambium::Result<()> {
/// # let path = std::env::temp_dir().join(format!("cambium-doc-comparator-{}", std::process::id()));
/// use cambium::{Comparator, Db, Options};
///
/// // SAFETY: this is a total order, and the name never means another one.
/// let by_length = unsafe { Comparator::new("by-length", |a, b| a.len().cmp(&b.len()).then_with(|| a.cmp(b)))? };
/// let mut options = Options::new();
/// options.set_create_if_missing(true).set_comparator(&by_length);
/// let db = Db::open(&options, &path)?;
/// db.put("long", "1")?;
/// db.put("a", "2")?;
/// let keys = db.keys()?.collect::<cambium::Result<Vec<_>>>()?;
/// assert_eq!(keys, [b"a".as_slice(), b"long"]);
/// # db.close()?;
/// # cambium::destroy_db(&Options::new(), &path)
/// # }
/// ```
#[derive(Clone)]
pub struct Comparator {
    inner: Arc<Inner>,
}

struct Inner {
    raw: NonNull<ffi::cambium_comparator_t>,
}

/// Only one thread at a time may use the object itself, for example give it to options.
static LOCK: Mutex<()> = Mutex::new(());

// SAFETY: any thread may compare: `new` requires it. `LOCK` guards all other use.
unsafe impl Send for Inner {}
// SAFETY: as above.
unsafe impl Sync for Inner {}

impl Drop for Inner {
    fn drop(&mut self) {
        // SAFETY: each user of the comparator holds the `Arc`, so it is unused now.
        unsafe { ffi::cambium_comparator_destroy(self.raw.as_ptr()) };
    }
}

struct State<F> {
    name: CString,
    compare: F,
}

impl Comparator {
    /// Makes an order of your own, in which keys with different bytes are never equal. Several threads call it at once.
    ///
    /// `name` has 1 to 255 bytes; otherwise opening a database fails. Names that begin with `cambium.` are reserved.
    ///
    /// A panic in `compare` aborts the process, because a wrong answer could damage the order of the keys on disk. As
    /// after a kill, nothing that was acknowledged is lost.
    ///
    /// # Safety
    /// `compare` is a total order, always gives the same answer for the same keys, and no other order ever has this name.
    /// The library sorts keys with it; with contradictory answers it would leave the bounds of its memory.
    ///
    /// # Errors
    /// `InvalidArgument` if the name has a zero byte.
    pub unsafe fn new<F>(name: &str, compare: F) -> Result<Self>
    where
        F: Fn(&[u8], &[u8]) -> Ordering + Send + Sync + 'static,
    {
        let state = State { name: raw::c_string("the name of a comparator", name.as_bytes())?, compare };
        let state = Box::into_raw(Box::new(state)).cast();
        // SAFETY: the functions are those for this type of state. The destructor frees the state.
        let made = unsafe {
            ffi::cambium_comparator_create(state, Some(destroy::<F>), Some(compare_keys::<F>), Some(name_of::<F>))
        };
        Ok(Self::own(made))
    }

    /// As [`new`](Self::new), for an order in which keys with different bytes may be equal, for example one that ignores
    /// case. There are no filters with such an order.
    ///
    /// # Safety
    /// As `new`, except that the order is total only between keys that are not equal.
    ///
    /// # Errors
    /// As `new`.
    pub unsafe fn new_with_equivalent_keys<F>(name: &str, compare: F) -> Result<Self>
    where
        F: Fn(&[u8], &[u8]) -> Ordering + Send + Sync + 'static,
    {
        // SAFETY: the caller promises it.
        let made = unsafe { Self::new(name, compare)? };
        // SAFETY: the comparator is not used yet.
        unsafe { ffi::cambium_comparator_set_equal_means_same_bytes(made.inner.raw.as_ptr(), 0) };
        Ok(made)
    }

    /// The order of unsigned bytes, in which a prefix precedes longer keys that begin with it. The default.
    #[must_use]
    pub fn bytewise() -> Self {
        // SAFETY: the function has no requirements.
        Self::own(unsafe { ffi::cambium_comparator_create_bytewise() })
    }

    /// The reverse of [`bytewise`](Self::bytewise).
    #[must_use]
    pub fn reverse_bytewise() -> Self {
        // SAFETY: the function has no requirements.
        Self::own(unsafe { ffi::cambium_comparator_create_reverse_bytewise() })
    }

    fn own(made: *mut ffi::cambium_comparator_t) -> Self {
        let raw = NonNull::new(made).expect("the library returns no NULL here");
        Self { inner: Arc::new(Inner { raw }) }
    }

    /// Calls `call` with the comparators, while no other thread does.
    pub(crate) fn with<R>(these: &[&Self], call: impl FnOnce(&[*const ffi::cambium_comparator_t]) -> R) -> R {
        let _lock = LOCK.lock().unwrap_or_else(PoisonError::into_inner);
        let raw: Vec<_> = these.iter().map(|each| each.inner.raw.as_ptr().cast_const()).collect();
        call(&raw)
    }

    /// What must live as long as options or a database use the comparator.
    pub(crate) fn keep(&self) -> Arc<dyn Send + Sync> {
        self.inner.clone()
    }
}

impl fmt::Debug for Comparator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Comparator").finish_non_exhaustive()
    }
}

/// # Safety
/// `state` is a `State<F>` that is not destroyed yet, and the keys can be read.
unsafe extern "C" fn compare_keys<F>(
    state: *mut c_void,
    a: *const c_char,
    a_length: usize,
    b: *const c_char,
    b_length: usize,
) -> c_int
where
    F: Fn(&[u8], &[u8]) -> Ordering + Send + Sync + 'static,
{
    // SAFETY: the caller promises it.
    let (state, a, b) = unsafe { (&*state.cast::<State<F>>(), raw::bytes(a, a_length), raw::bytes(b, b_length)) };
    match catch_unwind(AssertUnwindSafe(|| (state.compare)(a, b))) {
        Ok(order) => order as c_int,
        Err(_) => {
            let name = state.name.to_string_lossy();
            // Nothing can be done if there is no stderr.
            let _ =
                writeln!(std::io::stderr(), "cambium: comparator {name} panicked: no answer would be right, aborting");
            process::abort();
        }
    }
}

/// # Safety
/// `state` is a `State<F>` that is not destroyed yet.
unsafe extern "C" fn name_of<F>(state: *mut c_void) -> *const c_char {
    // SAFETY: the caller promises it.
    unsafe { &*state.cast::<State<F>>() }.name.as_ptr()
}

/// # Safety
/// `state` is a `State<F>` that nothing uses any more.
unsafe extern "C" fn destroy<F>(state: *mut c_void) {
    // SAFETY: the caller promises it.
    let state = unsafe { Box::from_raw(state.cast::<State<F>>()) };
    let _ = catch_unwind(AssertUnwindSafe(|| drop(state)));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls the functions as the library does.
    fn check<F: Fn(&[u8], &[u8]) -> Ordering + Send + Sync + 'static>(compare: F, answer: Ordering) {
        let state: *mut c_void = Box::into_raw(Box::new(State { name: c"its name".to_owned(), compare })).cast();
        // SAFETY: the state is of this type, and destroyed last.
        unsafe {
            assert_eq!(compare_keys::<F>(state, c"ab".as_ptr(), 2, std::ptr::null(), 0), answer as c_int);
            assert_eq!(std::ffi::CStr::from_ptr(name_of::<F>(state)), c"its name");
            destroy::<F>(state);
        }
    }

    #[test]
    fn callbacks_call_the_closure_and_free_it() {
        let alive = Arc::new(());
        let its = Arc::clone(&alive);
        check(
            move |a, b| {
                assert_eq!(Arc::strong_count(&its), 2);
                assert_eq!((a, b), (b"ab".as_slice(), b"".as_slice()));
                a.cmp(b)
            },
            Ordering::Greater,
        );
        assert_eq!(Arc::strong_count(&alive), 1);
        check(|_, _| Ordering::Less, Ordering::Less);
        check(|_, _| Ordering::Equal, Ordering::Equal);
    }

    #[test]
    fn a_panic_of_a_destructor_stays_inside() {
        struct Bad;
        impl Drop for Bad {
            fn drop(&mut self) {
                panic!("expected by the test");
            }
        }
        let bad = Bad;
        check(
            move |_, _| {
                let _ = &bad;
                Ordering::Equal
            },
            Ordering::Equal,
        );
    }
}
