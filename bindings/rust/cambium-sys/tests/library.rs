//! The declarations match the library that is linked.

use std::ffi::{CStr, c_char, c_int};
use std::mem::{align_of, size_of};
use std::ptr;

use cambium_sys as ffi;

#[test]
fn the_library_has_the_version_of_the_declarations() {
    // SAFETY: the function has no requirements.
    assert_eq!(unsafe { ffi::cambium_abi_version() }, ffi::CAMBIUM_ABI_VERSION as c_int);
    // SAFETY: as above.
    let version = unsafe { [ffi::cambium_major_version(), ffi::cambium_minor_version(), ffi::cambium_patch_version()] };
    assert!(version >= [0, 1, 0], "{version:?}");
}

/// All types of c.h are declared without their content, so bindgen has no layout to check. Pointers to them are all
/// that the interface passes.
#[test]
fn types_are_opaque() {
    assert_eq!(size_of::<ffi::cambium_t>(), 0);
    assert_eq!(align_of::<ffi::cambium_t>(), 1);
    assert_eq!(size_of::<ffi::cambium_options_t>(), 0);
    assert_eq!(size_of::<*mut ffi::cambium_t>(), size_of::<usize>());
}

#[test]
fn constants_have_the_numbers_of_the_header() {
    assert_eq!(ffi::cambium_lsm_index, 2);
    assert_eq!(ffi::cambium_zstd_compression, 7);
    assert_eq!(ffi::cambium_lazy_level_compaction, 8);
    assert_eq!(ffi::cambium_filter_undetermined, 8);
    assert_eq!(ffi::cambium_trace_filter_multiget, 16);
}

#[test]
fn an_error_has_a_message_that_the_caller_frees() {
    let mut error: *mut c_char = ptr::null_mut();
    // SAFETY: the options live until they are destroyed, the path ends with a zero, and the message is freed once.
    unsafe {
        let options = ffi::cambium_options_create();
        let db = ffi::cambium_open(options, c"/nowhere/at/all".as_ptr(), &mut error);
        assert!(db.is_null());
        let text = CStr::from_ptr(error).to_str().expect("the message is UTF-8").to_owned();
        assert!(text.contains("/nowhere/at/all"), "{text}");
        ffi::cambium_free(error.cast());
        ffi::cambium_options_destroy(options);
    }
}

#[test]
fn a_generated_file_is_committed() {
    let text = include_str!("../src/bindings.rs");
    assert!(text.contains("Made by bindgen.sh"));
    assert!(text.contains("extern \"C-unwind\""));
}
