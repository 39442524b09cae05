//! Options that a database was opened with.

use std::path::Path;
use std::ptr;

use cambium_sys as ffi;

use crate::comparator::Comparator;
use crate::error::Result;
use crate::options::Options;
use crate::raw;

/// Options as a database has stored them.
#[derive(Debug)]
#[non_exhaustive]
pub struct LatestOptions {
    /// Those of the database, and of its default family.
    pub db: Options,
    /// Those of each column family, with its name.
    pub families: Vec<(String, Options)>,
}

impl LatestOptions {
    /// Reads the newest OPTIONS file of a database, open or not. Comparators of your own are found by name among
    /// `comparators`. Objects such as filters and statistics are not stored.
    ///
    /// # Errors
    /// `NotFound` if there is no such file; `InvalidArgument` if it has an option or a comparator that is unknown.
    pub fn load(path: impl AsRef<Path>, ignore_unknown_options: bool, comparators: &[&Comparator]) -> Result<Self> {
        let path = raw::c_path(path.as_ref())?;
        let mut db = ptr::null_mut();
        let mut count = 0;
        let mut names = ptr::null_mut();
        let mut families = ptr::null_mut();
        Comparator::with(comparators, |comparators| {
            // SAFETY: path and comparators are valid, and there is room for the results.
            raw::check(|error| unsafe {
                ffi::cambium_load_latest_options(
                    path.as_ptr(),
                    ignore_unknown_options.into(),
                    comparators.as_ptr(),
                    comparators.len(),
                    &raw mut db,
                    &raw mut count,
                    &raw mut names,
                    &raw mut families,
                    error,
                );
            })
        })?;
        let keep: Vec<_> = comparators.iter().map(|comparator| comparator.keep()).collect();
        // SAFETY: without an error there are so many names and options. They are destroyed together, after they were
        // copied.
        unsafe {
            let copy = |options| Options::own(ffi::cambium_options_create_copy(options), keep.clone());
            let name = |i| std::ffi::CStr::from_ptr(*names.add(i)).to_string_lossy().into_owned();
            let made = Self { db: copy(db), families: (0..count).map(|i| (name(i), copy(*families.add(i)))).collect() };
            ffi::cambium_load_latest_options_destroy(db, names, families, count);
            Ok(made)
        }
    }
}
