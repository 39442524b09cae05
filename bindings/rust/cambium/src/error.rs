//! Errors, and how they are read from the messages of the C interface.

use std::error::Error as StdError;
use std::fmt;
use std::io;

/// The result of a call that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// What kind of error it is. The library's status codes, with the parts of an I/O error that the C interface tells apart.
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
    /// The call would have had to wait, and must not; or it ended early.
    Incomplete,
    /// The database is being closed.
    ShutdownInProgress,
    /// The call took too long.
    TimedOut,
    /// The call failed because of an earlier failure, or because memory ran out.
    Aborted,
    /// Nothing was done; the same call may succeed later.
    Busy,
    /// A transaction has taken longer than its expiration.
    Expired,
    /// Whether a transaction has a conflict is not known any more. A new one may succeed.
    TryAgain,
    /// The column family was dropped.
    ColumnFamilyDropped,
    /// The library reported an error that this crate does not know.
    Unknown,
}

impl ErrorKind {
    /// The text with which the library begins a message of this kind.
    const NAMES: [(&'static str, ErrorKind); 13] = [
        ("NotFound", ErrorKind::NotFound),
        ("Corruption", ErrorKind::Corruption),
        ("Not implemented", ErrorKind::NotSupported),
        ("Invalid argument", ErrorKind::InvalidArgument),
        ("IO error", ErrorKind::IoError),
        ("Result incomplete", ErrorKind::Incomplete),
        ("Shutdown in progress", ErrorKind::ShutdownInProgress),
        ("Operation timed out", ErrorKind::TimedOut),
        ("Operation aborted", ErrorKind::Aborted),
        ("Resource busy", ErrorKind::Busy),
        ("Operation expired", ErrorKind::Expired),
        ("Operation failed. Try again.", ErrorKind::TryAgain),
        ("Column family dropped", ErrorKind::ColumnFamilyDropped),
    ];

    fn name(self) -> &'static str {
        match self {
            ErrorKind::NoSpace => "IO error (no space)",
            ErrorKind::Locked => "IO error (locked)",
            ErrorKind::Unknown => "Unknown error",
            other => Self::NAMES.iter().find(|(_, kind)| *kind == other).map_or("", |(name, _)| name),
        }
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
    /// Reads a message such as `IO error (locked): LOCK: another process has it`.
    pub(crate) fn from_text(text: impl Into<Box<str>>) -> Self {
        let text = text.into();
        let (kind, is_fatal) = classify(&text);
        Self { kind, is_fatal, text }
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
            ErrorKind::NotFound => io::ErrorKind::NotFound,
            ErrorKind::Corruption => io::ErrorKind::InvalidData,
            ErrorKind::NotSupported => io::ErrorKind::Unsupported,
            ErrorKind::InvalidArgument => io::ErrorKind::InvalidInput,
            ErrorKind::NoSpace => io::ErrorKind::StorageFull,
            ErrorKind::Locked | ErrorKind::Busy => io::ErrorKind::ResourceBusy,
            ErrorKind::Incomplete => io::ErrorKind::WouldBlock,
            ErrorKind::TimedOut => io::ErrorKind::TimedOut,
            _ => io::ErrorKind::Other,
        };
        io::Error::new(kind, error)
    }
}

/// Reads kind and severity from the beginning of a message: a name, then qualifiers in parentheses, then a colon and the
/// rest, or the end.
fn classify(text: &str) -> (ErrorKind, bool) {
    let Some((mut rest, mut kind)) =
        ErrorKind::NAMES.iter().find_map(|(name, kind)| Some((text.strip_prefix(name)?, *kind)))
    else {
        return (ErrorKind::Unknown, false);
    };
    let mut is_fatal = false;
    loop {
        if let Some(shorter) = rest.strip_prefix(" (no space)") {
            (rest, kind) = (shorter, ErrorKind::NoSpace);
        } else if let Some(shorter) = rest.strip_prefix(" (locked)") {
            (rest, kind) = (shorter, ErrorKind::Locked);
        } else if let Some(shorter) = rest.strip_prefix(" (fatal until reopened)") {
            (rest, is_fatal) = (shorter, true);
        } else if rest.is_empty() || rest.starts_with(':') {
            return (kind, is_fatal);
        } else {
            return (ErrorKind::Unknown, false);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_read() {
        for (name, kind) in ErrorKind::NAMES {
            for text in [name.to_owned(), format!("{name}: why (no space)")] {
                let error = Error::from_text(text.clone());
                assert_eq!((error.kind(), error.is_fatal(), error.text()), (kind, false, text.as_str()));
            }
        }
    }

    #[test]
    fn qualifiers_are_read() {
        let cases = [
            ("IO error (no space): x", ErrorKind::NoSpace, false),
            ("IO error (locked): x", ErrorKind::Locked, false),
            ("IO error (no space) (fatal until reopened): x", ErrorKind::NoSpace, true),
            ("Corruption (fatal until reopened)", ErrorKind::Corruption, true),
            ("Corruption (odd): x", ErrorKind::Unknown, false),
            ("NotFounder", ErrorKind::Unknown, false),
            ("std::bad_function_call", ErrorKind::Unknown, false),
            ("", ErrorKind::Unknown, false),
        ];
        for (text, kind, is_fatal) in cases {
            let error = Error::from_text(text);
            assert_eq!((error.kind(), error.is_fatal()), (kind, is_fatal), "{text}");
        }
    }

    #[test]
    fn own_errors_read_like_those_of_the_library() {
        let kinds = ErrorKind::NAMES.map(|(_, kind)| kind);
        for kind in kinds.into_iter().chain([ErrorKind::NoSpace, ErrorKind::Locked]) {
            let error = Error::new(kind, "why");
            assert_eq!(Error::from_text(error.text()), error);
            assert_eq!(error.to_string(), error.text());
        }
        assert_eq!(Error::new(ErrorKind::Unknown, "why").text(), "Unknown error: why");
    }

    #[test]
    fn converts_to_an_io_error() {
        let converted = io::Error::from(Error::from_text("IO error (no space): disk"));
        assert_eq!(converted.kind(), io::ErrorKind::StorageFull);
        assert_eq!(converted.to_string(), "IO error (no space): disk");
        let inner = converted.into_inner().and_then(|inner| inner.downcast::<Error>().ok()).unwrap();
        assert_eq!(inner.kind(), ErrorKind::NoSpace);
    }
}
