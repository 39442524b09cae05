//! Versions of the library.

use std::ffi::c_int;

use cambium_sys as ffi;

use crate::error::{Error, ErrorKind, Result};

/// The version of the library that is linked: major, minor, patch.
#[must_use]
pub fn version() -> (i32, i32, i32) {
    // SAFETY: the functions have no requirements.
    unsafe { (ffi::cambium_major_version(), ffi::cambium_minor_version(), ffi::cambium_patch_version()) }
}

/// The version of the C interface of the library that is linked. This crate needs version
/// [`ABI_VERSION`](cambium_sys::CAMBIUM_ABI_VERSION); with another one, no database can be opened.
#[must_use]
pub fn abi_version() -> i32 {
    // SAFETY: the function has no requirements.
    unsafe { ffi::cambium_abi_version() }
}

/// Fails if the library has another interface than the one that this crate declares.
pub(crate) fn check() -> Result<()> {
    compare(abi_version())
}

fn compare(found: c_int) -> Result<()> {
    let needed = ffi::CAMBIUM_ABI_VERSION;
    if u32::try_from(found) == Ok(needed) {
        return Ok(());
    }
    let message = format!("the library has version {found} of the C interface, and this crate needs version {needed}");
    Err(Error::new(ErrorKind::NotSupported, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_version_is_not_supported() {
        assert_eq!(compare(ffi::CAMBIUM_ABI_VERSION as c_int), Ok(()));
        for other in [0, 2, -1] {
            assert_eq!(compare(other).unwrap_err().kind(), ErrorKind::NotSupported);
        }
    }
}
