//! What is done with a database that is not open.

use std::error::Error as StdError;
use std::ffi::{CString, c_char, c_int};
use std::fmt;
use std::path::Path;
use std::ptr;

use cambium_sys as ffi;

use crate::error::{Error, Result};
use crate::options::Options;
use crate::raw;

/// Names and options of column families for the library. It borrows the options.
pub(crate) struct Families {
    _texts: Vec<CString>,
    names: Vec<*const c_char>,
    options: Vec<*const ffi::cambium_options_t>,
}

impl Families {
    pub(crate) fn new(families: &[(&str, &Options)]) -> Result<Self> {
        let texts = families
            .iter()
            .map(|(name, _)| raw::c_string("the name of a column family", name.as_bytes()))
            .collect::<Result<Vec<_>>>()?;
        // From here on the texts stay where they are: a move of a CString would invalidate addresses taken before.
        let names = texts.iter().map(|name| name.as_ptr()).collect();
        let options = families.iter().map(|(_, options)| options.as_ptr()).collect();
        Ok(Self { _texts: texts, names, options })
    }

    pub(crate) fn count(&self) -> c_int {
        raw::count(self.names.len())
    }

    pub(crate) fn names(&self) -> *const *const c_char {
        self.names.as_ptr()
    }

    pub(crate) fn options(&self) -> *const *const ffi::cambium_options_t {
        self.options.as_ptr()
    }
}

/// Removes all files of a database, and its directory if nothing else is in it. It is no error if there is no database.
///
/// # Errors
/// `Locked` if the database is open.
pub fn destroy_db(options: &Options, path: impl AsRef<Path>) -> Result<()> {
    let path = raw::c_path(path.as_ref())?;
    // SAFETY: options and path are valid.
    raw::check(|error| unsafe { ffi::cambium_destroy_db(options.as_ptr(), path.as_ptr(), error) })
}

/// Replaces a damaged database by what survives of it. The damaged one is renamed to `path`.damaged, which must not exist.
/// A healthy database is not changed.
///
/// # Errors
/// If it cannot be done. The database is then as before.
pub fn repair_db(options: &Options, path: impl AsRef<Path>) -> Result<()> {
    let path = raw::c_path(path.as_ref())?;
    // SAFETY: options and path are valid.
    raw::check(|error| unsafe { ffi::cambium_repair_db(options.as_ptr(), path.as_ptr(), error) })
}

/// What [`salvage_db`] could not save.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Salvaged {
    /// How many things were lost.
    pub lost: u64,
    /// How many values may be old, or of deleted keys. They are written only if that was asked for.
    pub unproven: u64,
}

/// Creates a new database `out` from what survives of the one at `path`, which is not changed. `families` gives options of
/// column families by name; one with a comparator of your own must be named. Other families get default options. If none
/// is named, the default family gets `options`.
///
/// # Errors
/// If it cannot be done.
pub fn salvage_db(
    options: &Options,
    path: impl AsRef<Path>,
    out: impl AsRef<Path>,
    include_unproven: bool,
    families: &[(&str, &Options)],
) -> Result<Salvaged> {
    let (path, out) = (raw::c_path(path.as_ref())?, raw::c_path(out.as_ref())?);
    let named = Families::new(families)?;
    let mut salvaged = Salvaged { lost: 0, unproven: 0 };
    let (lost, unproven) = (&raw mut salvaged.lost, &raw mut salvaged.unproven);
    let include = include_unproven.into();
    // SAFETY: options, paths and families are valid, and there is room for the numbers.
    raw::check(|error| unsafe {
        if families.is_empty() {
            ffi::cambium_salvage_db(options.as_ptr(), path.as_ptr(), out.as_ptr(), include, lost, unproven, error);
        } else {
            ffi::cambium_salvage_db_column_families(
                options.as_ptr(),
                path.as_ptr(),
                named.count(),
                named.names(),
                named.options(),
                out.as_ptr(),
                include,
                lost,
                unproven,
                error,
            );
        }
    })?;
    Ok(salvaged)
}

/// Something could not be read by [`verify_db`], which has checked everything else.
#[derive(Clone, Debug)]
pub struct VerifyError {
    /// Why.
    pub error: Error,
    /// What is damaged.
    pub problems: Vec<String>,
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl StdError for VerifyError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        Some(&self.error)
    }
}

impl From<Error> for VerifyError {
    fn from(error: Error) -> Self {
        Self { error, problems: Vec::new() }
    }
}

impl From<VerifyError> for Error {
    fn from(error: VerifyError) -> Self {
        error.error
    }
}

/// Checks a database that no process has open for writing; with `deep`, every value too. Returns lines about what is
/// damaged: none if nothing is. `families` gives options of column families by name; one with a comparator of your own
/// must be named.
///
/// # Errors
/// If something cannot be read. The error also has what was found.
pub fn verify_db(
    options: &Options,
    path: impl AsRef<Path>,
    deep: bool,
    families: &[(&str, &Options)],
) -> std::result::Result<Vec<String>, VerifyError> {
    let path = raw::c_path(path.as_ref())?;
    let named = Families::new(families)?;
    let (mut list, mut count) = (ptr::null_mut(), 0);
    let (its_list, its_count) = (&raw mut list, &raw mut count);
    // SAFETY: options, path and families are valid, and there is room for the list.
    let checked = raw::check(|error| unsafe {
        if families.is_empty() {
            ffi::cambium_verify_db(options.as_ptr(), path.as_ptr(), deep.into(), its_list, its_count, error);
        } else {
            ffi::cambium_verify_db_column_families(
                options.as_ptr(),
                path.as_ptr(),
                named.count(),
                named.names(),
                named.options(),
                deep.into(),
                its_list,
                its_count,
                error,
            );
        }
    });
    // SAFETY: the list is ours.
    let problems = unsafe { raw::take_list(list, count) };
    match checked {
        Ok(()) => Ok(problems),
        Err(error) => Err(VerifyError { error, problems }),
    }
}

/// Makes a checkpoint of a database that no process has open for writing. The directory must not exist.
///
/// # Errors
/// If it cannot be done. The directory is then not created.
pub fn checkpoint_offline(options: &Options, path: impl AsRef<Path>, directory: impl AsRef<Path>) -> Result<()> {
    let (path, directory) = (raw::c_path(path.as_ref())?, raw::c_path(directory.as_ref())?);
    // SAFETY: options and paths are valid.
    raw::check(|error| unsafe {
        ffi::cambium_checkpoint_offline(options.as_ptr(), path.as_ptr(), directory.as_ptr(), error);
    })
}
