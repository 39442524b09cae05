"""Exceptions for the codes of the library."""

from __future__ import annotations

import pickle
import resource
from pathlib import Path

import pytest

import cambium
from cambium import _core

MESSAGES = {
    "NotFound": cambium.NotFoundError,
    "Corruption: page checksum mismatch at 000007.idx:8192": cambium.CorruptionError,
    "Not implemented: merge": cambium.NotSupportedError,
    "Invalid argument: page_size": cambium.InvalidArgumentError,
    "IO error: read": cambium.IOError,
    "IO error (no space): write": cambium.NoSpaceError,
    "IO error (locked): LOCK": cambium.LockedError,
    "IO error (not found): open": cambium.PathNotFoundError,
    "IO error (denied): open": cambium.DeniedError,
    "IO error (fatal until reopened): sync": cambium.IOError,
    "IO error (no space) (fatal until reopened): sync": cambium.NoSpaceError,
    "Result incomplete": cambium.IncompleteError,
    "Shutdown in progress": cambium.ShutdownInProgressError,
    "Operation timed out": cambium.TimedOutError,
    "Operation timed out (lock): a": cambium.LockTimeoutError,
    "Operation aborted: snapshots exist": cambium.AbortedError,
    "Operation aborted (out of memory)": cambium.OutOfMemoryError,
    "Operation aborted (out of memory): no memory for the error message": cambium.OutOfMemoryError,
    "Resource busy": cambium.BusyError,
    "Resource busy (deadlock): a": cambium.DeadlockError,
    "Resource busy (lock limit): a": cambium.LockLimitError,
    "Operation expired: a": cambium.ExpiredError,
    "Operation failed. Try again.: a": cambium.TryAgainError,
    "Column family dropped": cambium.ColumnFamilyDroppedError,
    "Unknown code: 77": cambium.Error,
    "Corruption (of an unknown kind): page": cambium.Error,
    "Corruption: a name: (fatal until reopened)": cambium.CorruptionError,
}


@pytest.mark.parametrize("message", MESSAGES)
def test_class_of_a_message(message: str) -> None:
    error = _core.make_error(message)
    assert type(error) is MESSAGES[message]
    assert str(error) == message
    assert error.fatal == ("(fatal until reopened):" in message)
    assert isinstance(error, cambium.Error)
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert str(copy) == message


def test_built_in_base_classes() -> None:
    assert issubclass(cambium.IOError, OSError)
    assert issubclass(cambium.InvalidArgumentError, ValueError)
    assert issubclass(cambium.OutOfMemoryError, MemoryError)
    assert issubclass(cambium.TimedOutError, TimeoutError)
    assert issubclass(cambium.PathNotFoundError, FileNotFoundError)
    assert issubclass(cambium.DeadlockError, cambium.BusyError)
    assert issubclass(cambium.LockLimitError, cambium.BusyError)
    assert issubclass(cambium.LockTimeoutError, cambium.TimedOutError)
    assert issubclass(cambium.ClosedError, RuntimeError)


def test_message_names_the_cause(path: Path) -> None:
    with pytest.raises(cambium.InvalidArgumentError, match="create_if_missing"):
        cambium.DB(path)


def test_io_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(cambium.Error):
        cambium.DB(tmp_path / "file", create_if_missing=True)
    with pytest.raises(cambium.PathNotFoundError):
        cambium.DB(tmp_path / "missing" / "db", create_if_missing=True)


def test_failed_write(path: Path) -> None:
    """A write that the system refuses raises IOError; the database can still be read."""
    import signal

    old = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    db = cambium.DB(path, create_if_missing=True, large_value_size=4096)
    db.put(b"k", b"v")
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, limits[1]))
        with pytest.raises(cambium.IOError):
            db.put(b"large", b"v" * (1 << 20))
        assert db.get(b"k") == b"v"
        assert db.get(b"large") is None
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, old)
    db.put(b"large", b"v" * (1 << 20))
    db.close()
