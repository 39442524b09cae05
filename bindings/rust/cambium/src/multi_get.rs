//! Reading several keys at one state.

use std::ptr;
use std::slice;
use std::sync::Arc;

use cambium_sys as ffi;

use crate::db_core::{DbCore, FamilyCore};
use crate::error::Result;
use crate::pinned::PinnedValue;
use crate::raw::{self, Keys};

/// Reads `keys[i]` of `families[i]`.
pub(crate) fn copies(
    core: &Arc<DbCore>,
    families: &[&FamilyCore],
    keys: &Keys,
    options: *const ffi::cambium_readoptions_t,
) -> Vec<Result<Option<Vec<u8>>>> {
    let count = keys.len();
    assert_eq!(families.len(), count, "each key has a family");
    let families: Vec<_> = families.iter().map(|family| family.as_ptr().cast_const()).collect();
    let mut values = vec![ptr::null_mut(); count];
    let mut lengths = vec![0; count];
    let mut errors = vec![ptr::null_mut(); count];
    // SAFETY: database, options, families and keys are valid, and there is room for the results.
    unsafe {
        ffi::cambium_multi_get_cf(
            core.raw().as_ptr(),
            options,
            families.as_ptr(),
            count,
            keys.addresses.as_ptr(),
            keys.lengths.as_ptr(),
            values.as_mut_ptr(),
            lengths.as_mut_ptr(),
            errors.as_mut_ptr(),
        );
    }
    let results = values.into_iter().zip(lengths).zip(errors);
    results
        .map(|((value, length), error)| {
            // SAFETY: the value, unless NULL, has that many bytes and is ours, and so is the error.
            unsafe {
                let copy = (!value.is_null()).then(|| slice::from_raw_parts(value.cast(), length).to_vec());
                ffi::cambium_free(value.cast());
                raw::take_error(error).map_or(Ok(copy), Err)
            }
        })
        .collect()
}

/// Reads keys of one family.
pub(crate) fn pinned<'db>(
    family: &'db FamilyCore,
    keys: &Keys,
    options: *const ffi::cambium_readoptions_t,
) -> Vec<Result<Option<PinnedValue<'db>>>> {
    let count = keys.len();
    let mut values = vec![ptr::null_mut(); count];
    let mut errors = vec![ptr::null_mut(); count];
    // SAFETY: database, options, family and keys are valid, and there is room for the results.
    unsafe {
        ffi::cambium_batched_multi_get_cf(
            family.db(),
            options,
            family.as_ptr(),
            count,
            keys.addresses.as_ptr(),
            keys.lengths.as_ptr(),
            values.as_mut_ptr(),
            errors.as_mut_ptr(),
            0,
        );
    }
    let results = values.into_iter().zip(errors);
    // SAFETY: values and errors are ours. The family, which the results borrow, keeps the database open.
    results
        .map(|(value, error)| unsafe {
            let value = PinnedValue::own(value);
            raw::take_error(error).map_or(Ok(value), Err)
        })
        .collect()
}
