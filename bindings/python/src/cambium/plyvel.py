"""The names of plyvel 1.5, for programs that were written for it: ``import cambium.plyvel as plyvel``.

LevelDB's options without a counterpart are accepted, and have no effect: ``block_restart_interval``, and the
compression ``"snappy"``, in whose place nothing is compressed. Names of properties that begin with ``leveldb.`` are
looked up as Cambium's. Files of LevelDB cannot be read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable

from . import _db, _tools
from ._comparator import Comparator
from ._core import Iterator, RawIterator, WriteBatch
from ._db import PrefixedDB, Snapshot
from ._enums import CompressionType, WalRecoveryMode
from ._errors import CorruptionError, Error, IOError, IteratorInvalidError
from ._options import Options

if TYPE_CHECKING:
    from ._types import Path

__all__ = [
    "DB",
    "CorruptionError",
    "Error",
    "IOError",
    "Iterator",
    "IteratorInvalidError",
    "PrefixedDB",
    "RawIterator",
    "Snapshot",
    "WriteBatch",
    "__leveldb_version__",
    "__version__",
    "destroy_db",
    "repair_db",
]

#: The version of plyvel whose names these are.
__version__ = "1.5.1"
#: The version of LevelDB whose interface plyvel has; no LevelDB is in use.
__leveldb_version__ = "1.23"


def _options(
    create_if_missing: bool = False,
    error_if_exists: bool = False,
    paranoid_checks: bool | None = None,
    write_buffer_size: int | None = None,
    max_open_files: int | None = None,
    lru_cache_size: int | None = None,
    block_size: int | None = None,
    block_restart_interval: int | None = None,
    max_file_size: int | None = None,
    compression: str | None = "snappy",
    bloom_filter_bits: int = 0,
    comparator: Callable[[bytes, bytes], int] | None = None,
    comparator_name: str | bytes | None = None,
) -> Options:
    options = Options(create_if_missing=bool(create_if_missing), error_if_exists=bool(error_if_exists))
    if paranoid_checks is not None:
        options.wal_recovery_mode = (
            WalRecoveryMode.TOLERATE_CORRUPTED_TAIL_RECORDS
            if paranoid_checks
            else WalRecoveryMode.POINT_IN_TIME_RECOVERY
        )
    numbers = {
        "write_buffer_size": write_buffer_size,
        "max_open_files": max_open_files,
        "page_cache_size": lru_cache_size,
        "page_size": block_size,
        "target_file_size_base": max_file_size,
    }
    for name, value in numbers.items():
        if value is not None:
            setattr(options, name, value)
    if block_restart_interval is not None and not isinstance(block_restart_interval, int):
        raise TypeError("block_restart_interval must be int")
    if compression in (None, "snappy", b"snappy"):
        options.compression = CompressionType.NONE
    elif compression in ("zstd", b"zstd"):
        options.compression = CompressionType.ZSTD
    else:
        raise ValueError("'compression' must be None, 'snappy' or 'zstd'")
    if bloom_filter_bits:
        options.filter_bits_per_key = bloom_filter_bits
    if comparator is not None or comparator_name is not None:
        # LevelDB has no filters that keys of different bytes could miss, so nothing is known about the order.
        made = _db._as_comparator(comparator, comparator_name)
        if comparator is not None:
            made = Comparator(comparator, made.name.decode(), equal_means_same_bytes=False)
        options.comparator = made
    return options


class DB(_db.DB):
    """A database with plyvel's parameters."""

    def __init__(self, name: str | bytes, **options: Any) -> None:
        super().__init__(name, options=_options(**options))

    def get_property(self, name: Any) -> Any:
        """Return a property of LevelDB, or of Cambium, as bytes."""
        if not isinstance(name, bytes):
            raise TypeError("the name of a property must be bytes")
        if name == b"leveldb.sstables":
            name = b"cambium.levelstats"
        elif name.startswith(b"leveldb."):
            name = b"cambium." + name[len(b"leveldb.") :]
        return super().get_property(name)


def destroy_db(name: Path) -> None:
    """Remove all files of a database."""
    _tools.destroy_db(name)


def repair_db(name: Path, **options: Any) -> None:
    """Replace a damaged database by what survives of it."""
    _tools.repair_db(name, options=_options(**options))
