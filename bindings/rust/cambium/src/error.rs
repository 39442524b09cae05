//! Errors.

use std::error::Error as StdError;
use std::ffi::{CStr, c_int};
use std::fmt;
use std::io;

use cambium_sys as ffi;

/// The result of a call that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// What kind of error it is: the library's codes and subcodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// What the call needs does not exist, for example a backup or a save point. A missing key is no error.
    NotFound,
    /// Bytes on disk are not what was written.
    Corruption,
    /// Not available in this version or on this system. Also every call in a forked child, and writes to a database that
    /// is open for reading only. Nothing was done.
    NotSupported,
    /// The caller can correct this, for example an option that is out of range.
    InvalidArgument,
    /// The system refused.
    IoError,
    /// Disk or quota is full.
    NoSpace,
    /// Another handle, in this process or another one, has the database open.
    Locked,
    /// A file or a directory does not exist. A database that does not exist is `InvalidArgument`.
    PathNotFound,
    /// The system denied this process access, a file descriptor or memory. It says nothing about the file.
    Denied,
    /// The call would have had to wait, and must not; or it ended early.
    Incomplete,
    /// The database is being closed.
    ShutdownInProgress,
    /// The call took too long.
    TimedOut,
    /// A transaction has waited too long for the lock of a key.
    LockTimeout,
    /// The call failed because of an earlier failure.
    Aborted,
    /// The library could not allocate memory.
    OutOfMemory,
    /// Nothing was done; the same call may succeed later.
    Busy,
    /// Transactions wait for each other.
    Deadlock,
    /// Too many keys are locked.
    LockLimit,
    /// The time of a transaction has passed.
    Expired,
    /// A transaction cannot find out whether it has a conflict. A new one may succeed.
    TryAgain,
    /// The column family was dropped.
    ColumnFamilyDropped,
    /// The library reported an error that this crate does not know.
    Unknown,
}

/// A code and a subcode of the library, their kind, and how an error of that kind begins.
type Row = (u32, u32, ErrorKind, &'static str);
const ROWS: [Row; 21] = [
    (ffi::cambium_code_not_found, ffi::cambium_subcode_none, ErrorKind::NotFound, "NotFound"),
    (ffi::cambium_code_corruption, ffi::cambium_subcode_none, ErrorKind::Corruption, "Corruption"),
    (ffi::cambium_code_not_supported, ffi::cambium_subcode_none, ErrorKind::NotSupported, "Not implemented"),
    (ffi::cambium_code_invalid_argument, ffi::cambium_subcode_none, ErrorKind::InvalidArgument, "Invalid argument"),
    (ffi::cambium_code_io_error, ffi::cambium_subcode_none, ErrorKind::IoError, "IO error"),
    (ffi::cambium_code_io_error, ffi::cambium_subcode_no_space, ErrorKind::NoSpace, "IO error (no space)"),
    (ffi::cambium_code_io_error, ffi::cambium_subcode_locked, ErrorKind::Locked, "IO error (locked)"),
    (ffi::cambium_code_io_error, ffi::cambium_subcode_path_not_found, ErrorKind::PathNotFound, "IO error (not found)"),
    (ffi::cambium_code_io_error, ffi::cambium_subcode_denied, ErrorKind::Denied, "IO error (denied)"),
    (ffi::cambium_code_incomplete, ffi::cambium_subcode_none, ErrorKind::Incomplete, "Result incomplete"),
    (
        ffi::cambium_code_shutdown_in_progress,
        ffi::cambium_subcode_none,
        ErrorKind::ShutdownInProgress,
        "Shutdown in progress",
    ),
    (ffi::cambium_code_timed_out, ffi::cambium_subcode_none, ErrorKind::TimedOut, "Operation timed out"),
    (
        ffi::cambium_code_timed_out,
        ffi::cambium_subcode_lock_timeout,
        ErrorKind::LockTimeout,
        "Operation timed out (lock)",
    ),
    (ffi::cambium_code_aborted, ffi::cambium_subcode_none, ErrorKind::Aborted, "Operation aborted"),
    (
        ffi::cambium_code_aborted,
        ffi::cambium_subcode_out_of_memory,
        ErrorKind::OutOfMemory,
        "Operation aborted (out of memory)",
    ),
    (ffi::cambium_code_busy, ffi::cambium_subcode_none, ErrorKind::Busy, "Resource busy"),
    (ffi::cambium_code_busy, ffi::cambium_subcode_deadlock, ErrorKind::Deadlock, "Resource busy (deadlock)"),
    (ffi::cambium_code_busy, ffi::cambium_subcode_lock_limit, ErrorKind::LockLimit, "Resource busy (lock limit)"),
    (ffi::cambium_code_expired, ffi::cambium_subcode_none, ErrorKind::Expired, "Operation expired"),
    (ffi::cambium_code_try_again, ffi::cambium_subcode_none, ErrorKind::TryAgain, "Operation failed. Try again."),
    (
        ffi::cambium_code_column_family_dropped,
        ffi::cambium_subcode_none,
        ErrorKind::ColumnFamilyDropped,
        "Column family dropped",
    ),
];

impl ErrorKind {
    /// A subcode that this crate does not know is as none.
    fn of(code: c_int, subcode: c_int) -> Self {
        let find = |subcode| {
            ROWS.iter().find(|row| (i64::from(row.0), i64::from(row.1)) == (i64::from(code), i64::from(subcode)))
        };
        find(subcode).or_else(|| find(0)).map_or(ErrorKind::Unknown, |row| row.2)
    }

    fn name(self) -> &'static str {
        ROWS.iter().find(|row| row.2 == self).map_or("Unknown error", |row| row.3)
    }
}

/// An error of the library, with the message that the library gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    is_fatal: bool,
    text: Box<str>,
}

impl Error {
    /// Asks the library what an error is.
    pub(crate) fn from_text(text: &CStr) -> Self {
        // SAFETY: the functions read a string that ends with a zero.
        let (code, subcode, severity) = unsafe {
            (
                ffi::cambium_error_code(text.as_ptr()),
                ffi::cambium_error_subcode(text.as_ptr()),
                ffi::cambium_error_severity(text.as_ptr()),
            )
        };
        let is_fatal = i64::from(severity) == i64::from(ffi::cambium_severity_fatal);
        Self { kind: ErrorKind::of(code, subcode), is_fatal, text: text.to_string_lossy().into() }
    }

    /// Makes an error of this crate's own.
    pub(crate) fn new(kind: ErrorKind, message: impl fmt::Display) -> Self {
        Self { kind, is_fatal: false, text: format!("{}: {message}", kind.name()).into() }
    }

    /// The kind of the error.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// True if the database takes no more writes until it is opened again, for example because a sync failed.
    #[must_use]
    pub fn is_fatal(&self) -> bool {
        self.is_fatal
    }

    /// The whole message, as the library gave it.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl StdError for Error {}

impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        let kind = match error.kind {
            ErrorKind::Corruption => io::ErrorKind::InvalidData,
            ErrorKind::NotSupported => io::ErrorKind::Unsupported,
            ErrorKind::InvalidArgument => io::ErrorKind::InvalidInput,
            ErrorKind::NotFound | ErrorKind::PathNotFound => io::ErrorKind::NotFound,
            ErrorKind::NoSpace => io::ErrorKind::StorageFull,
            ErrorKind::Locked | ErrorKind::Busy | ErrorKind::LockLimit => io::ErrorKind::ResourceBusy,
            ErrorKind::Deadlock => io::ErrorKind::Deadlock,
            ErrorKind::Incomplete => io::ErrorKind::WouldBlock,
            ErrorKind::TimedOut | ErrorKind::LockTimeout => io::ErrorKind::TimedOut,
            ErrorKind::OutOfMemory => io::ErrorKind::OutOfMemory,
            _ => io::ErrorKind::Other,
        };
        io::Error::new(kind, error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CString;

    fn from_text(text: &str) -> Error {
        Error::from_text(&CString::new(text).unwrap())
    }

    #[test]
    #[cfg_attr(miri, ignore = "asks the library")]
    fn every_kind_is_known() {
        for (_, _, kind, name) in ROWS {
            for text in [name.to_owned(), format!("{name}: why (no space)")] {
                let error = from_text(&text);
                assert_eq!((error.kind(), error.is_fatal(), error.text()), (kind, false, text.as_str()));
                let fatal = from_text(&text.replacen(name, &format!("{name} (fatal until reopened)"), 1));
                assert_eq!((fatal.kind(), fatal.is_fatal()), (kind, true));
            }
        }
        for text in ["Corruption (odd): x", "NotFounder", "std::bad_function_call", ""] {
            assert_eq!((from_text(text).kind(), from_text(text).is_fatal()), (ErrorKind::Unknown, false), "{text}");
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "asks the library")]
    fn own_errors_read_like_those_of_the_library() {
        for (_, _, kind, _) in ROWS {
            let error = Error::new(kind, "why");
            assert_eq!(from_text(error.text()), error);
            assert_eq!(error.to_string(), error.text());
        }
        assert_eq!(Error::new(ErrorKind::Unknown, "why").text(), "Unknown error: why");
    }

    #[test]
    fn a_new_subcode_is_as_none_and_a_new_code_is_unknown() {
        assert_eq!(ErrorKind::of(11, 200), ErrorKind::Busy);
        assert_eq!(ErrorKind::of(200, 0), ErrorKind::Unknown);
        assert_eq!(ErrorKind::of(-1, -1), ErrorKind::Unknown);
    }

    #[test]
    fn converts_to_an_io_error() {
        let converted = io::Error::from(Error::new(ErrorKind::NoSpace, "disk"));
        assert_eq!(converted.kind(), io::ErrorKind::StorageFull);
        assert_eq!(converted.to_string(), "IO error (no space): disk");
        let inner = converted.into_inner().and_then(|inner| inner.downcast::<Error>().ok()).unwrap();
        assert_eq!(inner.kind(), ErrorKind::NoSpace);
    }
}
