"""The exceptions of the package. The class tells the code of the library's status."""

from __future__ import annotations

import builtins


class Error(Exception):
    """Base class of all exceptions of this package.

    ``str(error)`` is the library's message, which begins with the name of the code.
    """

    #: The database takes no more writes until it is opened again.
    fatal: bool = False


class NotFoundError(Error):
    """What the call is about does not exist. A missing key is no error: ``get`` returns its default."""


class CorruptionError(Error):
    """Bytes on disk are not what was written. The message names the file and the offset."""


class NotSupportedError(Error):
    """Not available in this version, on this system, in a read-only database, or in a forked child."""


class InvalidArgumentError(Error, ValueError):
    """The caller can correct this."""


class IOError(Error, builtins.OSError):
    """The system refused an operation on a file."""


class NoSpaceError(IOError):
    """The disk, or a quota, is full."""


class LockedError(IOError):
    """Another handle, of this process or of another one, has the database open."""


class PathNotFoundError(IOError, builtins.FileNotFoundError):
    """A file or a directory does not exist. A database that does not exist is InvalidArgumentError."""


class DeniedError(IOError):
    """The system denied this process access, a file descriptor or memory. It says nothing about the file."""


class IncompleteError(Error):
    """The call would have to wait, and must not; or it ended early."""


class ShutdownInProgressError(Error):
    """The database is being closed."""


class TimedOutError(Error, builtins.TimeoutError):
    """A time limit has passed."""


class LockTimeoutError(TimedOutError):
    """A transaction has waited too long for the lock of a key."""


class AbortedError(Error):
    """The call failed because of an earlier failure, or because of what is still in use."""


class OutOfMemoryError(AbortedError, MemoryError):
    """The library had no memory for the call."""


class BusyError(Error):
    """Nothing was done. The same call may succeed later."""


class DeadlockError(BusyError):
    """Transactions wait for each other."""


class LockLimitError(BusyError):
    """Too many keys are locked."""


class ExpiredError(Error):
    """The time of a transaction has passed."""


class TryAgainError(Error):
    """A transaction cannot find out whether it has a conflict. A new one may succeed."""


class ColumnFamilyDroppedError(Error):
    """The column family was dropped."""


class ClosedError(Error, RuntimeError):
    """The database, snapshot, iterator or value is closed. The library was not called."""


class IteratorInvalidError(Error):
    """A RawIterator is at no entry."""
