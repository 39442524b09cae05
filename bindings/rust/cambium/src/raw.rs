//! What every call of the C interface needs: errors, bytes, strings and lists in both directions.

use std::ffi::{CStr, CString, c_char, c_int};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::{self, NonNull};
use std::slice;

use cambium_sys as ffi;

use crate::error::{Error, ErrorKind, Result};

/// Calls a function of the library that has an errptr, and returns its error. `call` gives the pointer to nothing else.
pub(crate) fn check<T>(call: impl FnOnce(*mut *mut c_char) -> T) -> Result<T> {
    let mut message: *mut c_char = ptr::null_mut();
    let result = call(&raw mut message);
    // SAFETY: the library leaves the message NULL, or sets it to a message that is now ours.
    match unsafe { take_error(message) } {
        None => Ok(result),
        Some(error) => Err(error),
    }
}

/// Converts a message of the library to an error, and frees it.
///
/// # Safety
/// `message` is NULL, or a message that the library gave and that nothing else frees.
pub(crate) unsafe fn take_error(message: *mut c_char) -> Option<Error> {
    if message.is_null() {
        return None;
    }
    // SAFETY: a message ends with a zero.
    let error = unsafe { borrow_error(message) };
    // SAFETY: the message is ours, and freed once.
    unsafe { ffi::cambium_free(message.cast()) };
    error
}

/// Converts a message that remains the library's.
///
/// # Safety
/// `message` is NULL, or a string that ends with a zero.
pub(crate) unsafe fn borrow_error(message: *const c_char) -> Option<Error> {
    if message.is_null() {
        return None;
    }
    // SAFETY: the caller promises it.
    let text = unsafe { CStr::from_ptr(message) };
    Some(Error::from_text(text))
}

/// Bytes of the library. NULL with any length is no bytes.
///
/// # Safety
/// `data` is NULL, or `length` bytes can be read there during 'a, and nothing changes them.
pub(crate) unsafe fn bytes<'a>(data: *const c_char, length: usize) -> &'a [u8] {
    if data.is_null() {
        return &[];
    }
    // SAFETY: the caller promises it.
    unsafe { slice::from_raw_parts(data.cast(), length) }
}

/// The address of bytes for the library. It is not NULL, which may mean "none", even if there are no bytes.
pub(crate) fn address(bytes: &[u8]) -> *const c_char {
    bytes.as_ptr().cast()
}

/// A text that the library gave: copied, and freed. `None` for NULL. Bytes that are not UTF-8 are replaced.
///
/// # Safety
/// `text` is NULL, or a string of the library that ends with a zero and that nothing else frees.
pub(crate) unsafe fn take_string(text: *mut c_char) -> Option<String> {
    let text = NonNull::new(text)?;
    // SAFETY: the string ends with a zero.
    let copy = unsafe { CStr::from_ptr(text.as_ptr()) }.to_string_lossy().into_owned();
    // SAFETY: the string is ours, and freed once.
    unsafe { ffi::cambium_free(text.as_ptr().cast()) };
    Some(copy)
}

/// A list of texts that the library gave: copied, and freed.
///
/// # Safety
/// `list` is NULL, or a list of `length` strings for `cambium_string_list_destroy` that nothing else destroys.
pub(crate) unsafe fn take_list(list: *mut *mut c_char, length: usize) -> Vec<String> {
    if list.is_null() {
        return Vec::new();
    }
    // SAFETY: the list has that many strings, each of which ends with a zero.
    let copies = unsafe { slice::from_raw_parts(list, length) }
        .iter()
        .map(|text| unsafe { CStr::from_ptr(*text) }.to_string_lossy().into_owned())
        .collect();
    // SAFETY: the list is ours, and destroyed once.
    unsafe { ffi::cambium_string_list_destroy(list, length) };
    copies
}

/// A string for the library. `what` names it in the error that is returned if it has a zero byte.
pub(crate) fn c_string(what: &str, text: &[u8]) -> Result<CString> {
    CString::new(text).map_err(|error| {
        Error::new(ErrorKind::InvalidArgument, format_args!("{what} has a zero byte at {}", error.nul_position()))
    })
}

pub(crate) fn c_path(path: &Path) -> Result<CString> {
    c_string("the path", path.as_os_str().as_bytes())
}

/// Names and values for the library.
pub(crate) struct Pairs {
    _texts: Vec<CString>,
    names: Vec<*const c_char>,
    values: Vec<*const c_char>,
}

impl Pairs {
    pub(crate) fn new(pairs: &[(&str, &str)]) -> Result<Self> {
        let mut texts = Vec::new();
        for (name, value) in pairs {
            texts.push(c_string("the name of an option", name.as_bytes())?);
            texts.push(c_string("the value of an option", value.as_bytes())?);
        }
        // From here on the texts stay where they are: a move of a CString would invalidate addresses taken before.
        let names = texts.iter().step_by(2).map(|name| name.as_ptr()).collect();
        let values = texts.iter().skip(1).step_by(2).map(|value| value.as_ptr()).collect();
        Ok(Self { _texts: texts, names, values })
    }

    pub(crate) fn count(&self) -> c_int {
        count(self.names.len())
    }

    pub(crate) fn names(&self) -> *const *const c_char {
        self.names.as_ptr()
    }

    pub(crate) fn values(&self) -> *const *const c_char {
        self.values.as_ptr()
    }
}

/// Keys for a call that takes arrays of addresses and of lengths.
pub(crate) struct Keys {
    pub(crate) addresses: Vec<*const c_char>,
    pub(crate) lengths: Vec<usize>,
}

impl Keys {
    /// The addresses are valid as long as the keys are. Each key is asked for its bytes once: a second answer of a
    /// strange `AsRef` could have another length.
    pub(crate) fn new<K: AsRef<[u8]>>(keys: &[K]) -> Self {
        let (addresses, lengths) = keys.iter().map(AsRef::as_ref).map(|key| (address(key), key.len())).unzip();
        Self { addresses, lengths }
    }

    pub(crate) fn len(&self) -> usize {
        self.addresses.len()
    }
}

/// A count for a parameter of type int. More objects than an int can count cannot be made.
pub(crate) fn count(number: usize) -> c_int {
    c_int::try_from(number).expect("fewer than 2^31 objects")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_error_is_ok() {
        assert_eq!(check(|_| 7), Ok(7));
    }

    #[test]
    fn null_is_no_bytes() {
        // SAFETY: NULL is allowed.
        unsafe {
            assert_eq!(bytes(ptr::null(), 3), b"");
            assert_eq!(take_string(ptr::null_mut()), None);
            assert_eq!(take_list(ptr::null_mut(), 3), Vec::<String>::new());
            assert_eq!(take_error(ptr::null_mut()), None);
        }
    }

    #[test]
    fn bytes_may_have_zeros() {
        let given = b"a\0b";
        // SAFETY: the array has that many bytes.
        assert_eq!(unsafe { bytes(address(given), given.len()) }, given);
        assert!(!address(b"").is_null());
    }

    #[test]
    #[cfg_attr(miri, ignore = "asks the library")]
    fn messages_are_read() {
        // SAFETY: the string ends with a zero.
        let error = unsafe { borrow_error(c"Resource busy: x\xff".as_ptr()) }.unwrap();
        assert_eq!((error.kind(), error.text()), (ErrorKind::Busy, "Resource busy: x\u{fffd}"));
    }

    #[test]
    fn a_zero_byte_in_a_string_is_an_error() {
        let error = c_path(Path::new("a\0b")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        assert_eq!(error.text(), "Invalid argument: the path has a zero byte at 1");
        assert!(Pairs::new(&[("a", "b\0")]).is_err());
    }

    #[test]
    fn pairs_and_keys_keep_their_order() {
        let pairs = Pairs::new(&[("a", "1"), ("b", "22")]).unwrap();
        assert_eq!(pairs.count(), 2);
        // SAFETY: there are two names and two values, which live as long as the pairs.
        unsafe {
            assert_eq!(CStr::from_ptr(*pairs.names().add(1)), c"b");
            assert_eq!(CStr::from_ptr(*pairs.values().add(1)), c"22");
        }
        let given = ["key", ""];
        let keys = Keys::new(&given);
        assert_eq!((keys.len(), keys.lengths.as_slice()), (2, [3, 0].as_slice()));
        // SAFETY: the address is that of the first key.
        assert_eq!(unsafe { bytes(keys.addresses[0], 3) }, b"key");
    }
}
