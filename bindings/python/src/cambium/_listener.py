"""Event listeners: calls for each event of a database."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable

from ._enums import (
    BackgroundErrorReason,
    BlobFileReason,
    CompactionReason,
    FlushReason,
    LogGcReason,
    TableFileReason,
    WriteStallCause,
    WriteStallCondition,
)
from ._errors import Error


@dataclass(frozen=True)
class FlushJobInfo:
    db_name: str
    cf_name: str
    cf_id: int
    job_id: int
    flush_reason: FlushReason
    num_entries: int
    largest_seqno: int
    merged_into_tree: bool
    output_files: tuple[str, ...]
    bytes_written: int
    elapsed_micros: int
    status: Error | None


@dataclass(frozen=True)
class CompactionJobInfo:
    db_name: str
    cf_name: str
    cf_id: int
    job_id: int
    compaction_reason: CompactionReason
    base_input_level: int
    output_level: int
    input_files: tuple[str, ...]
    output_files: tuple[str, ...]
    bytes_read: int
    bytes_written: int
    entries_merged: int
    entries_dropped: int
    elapsed_micros: int
    status: Error | None


@dataclass(frozen=True)
class LogGcJobInfo:
    db_name: str
    job_id: int
    reason: LogGcReason
    input_files: tuple[str, ...]
    emptied_files: tuple[str, ...]
    punched_files: tuple[str, ...]
    bytes_read: int
    keys_relocated: int
    bytes_written: int
    bytes_freed: int
    elapsed_micros: int
    status: Error | None


@dataclass(frozen=True)
class MemTableInfo:
    db_name: str
    cf_name: str
    cf_id: int
    num_entries: int
    num_range_deletes: int
    memory_bytes: int
    reason: FlushReason


@dataclass(frozen=True)
class BackgroundErrorInfo:
    db_name: str
    reason: BackgroundErrorReason
    status: Error | None


@dataclass(frozen=True)
class WriteStallInfo:
    db_name: str
    cf_name: str
    cf_id: int
    cause: WriteStallCause
    cur: WriteStallCondition
    prev: WriteStallCondition
    change: int


@dataclass(frozen=True)
class TableFileCreationInfo:
    db_name: str
    cf_name: str
    cf_id: int
    file_path: str
    file_number: int
    job_id: int
    reason: TableFileReason
    file_size: int
    status: Error | None


@dataclass(frozen=True)
class TableFileDeletionInfo:
    db_name: str
    file_path: str
    file_number: int


@dataclass(frozen=True)
class BlobFileCreationInfo:
    db_name: str
    file_path: str
    file_number: int
    reason: BlobFileReason
    file_size: int
    status: Error | None


@dataclass(frozen=True)
class BlobFileDeletionInfo:
    db_name: str
    file_path: str
    file_number: int


class EventListener:
    """Base class of listeners: override the methods of the events that you need.

    A method is called on the thread that did the work, which may be one of the caller's; several threads may call at
    once. The database waits for the call. The method may read, take snapshots, and write with ``no_slowdown=True``; it
    must not call other writes, ``flush``, ``compact_range``, ``wait_for_compact`` or ``close``. An exception goes to
    sys.unraisablehook.
    """

    def on_flush_begin(self, info: FlushJobInfo) -> None:
        """A flush begins."""

    def on_flush_completed(self, info: FlushJobInfo) -> None:
        """A flush has ended."""

    def on_compaction_begin(self, info: CompactionJobInfo) -> None:
        """A step of a sweep or a compaction begins."""

    def on_compaction_completed(self, info: CompactionJobInfo) -> None:
        """A step of a sweep or a compaction has ended."""

    def on_log_gc_completed(self, info: LogGcJobInfo) -> None:
        """A step of log GC has ended."""

    def on_memtable_sealed(self, info: MemTableInfo) -> None:
        """A memtable takes no more writes."""

    def on_background_error(self, info: BackgroundErrorInfo) -> None:
        """Background work has failed."""

    def on_stall_conditions_changed(self, info: WriteStallInfo) -> None:
        """Writes begin to wait, or no longer wait."""

    def on_table_file_creation_started(self, info: TableFileCreationInfo) -> None:
        """An index file exists, and is empty."""

    def on_table_file_created(self, info: TableFileCreationInfo) -> None:
        """An index file is complete, or its job has failed."""

    def on_table_file_deleted(self, info: TableFileDeletionInfo) -> None:
        """An index file was deleted."""

    def on_blob_file_creation_started(self, info: BlobFileCreationInfo) -> None:
        """A file for values exists, and is empty."""

    def on_blob_file_created(self, info: BlobFileCreationInfo) -> None:
        """A file for values is complete, or takes records."""

    def on_blob_file_deleted(self, info: BlobFileDeletionInfo) -> None:
        """A file for values was deleted."""

    def _listens(self, event: str) -> bool:
        return getattr(type(self), event) is not getattr(EventListener, event)

    def _event(self, event: str, fields: dict[str, Any]) -> None:
        info, enumerations = _INFOS[event]
        for name, enumeration in enumerations.items():
            fields[name] = enumeration(fields[name])
        getattr(self, event)(info(**fields))


_FLUSH: Any = (FlushJobInfo, {"flush_reason": FlushReason})
_COMPACTION: Any = (CompactionJobInfo, {"compaction_reason": CompactionReason})
_TABLE_FILE: Any = (TableFileCreationInfo, {"reason": TableFileReason})
_BLOB_FILE: Any = (BlobFileCreationInfo, {"reason": BlobFileReason})
_INFOS: dict[str, tuple[Callable[..., Any], dict[str, Callable[[int], Any]]]] = {
    "on_flush_begin": _FLUSH,
    "on_flush_completed": _FLUSH,
    "on_compaction_begin": _COMPACTION,
    "on_compaction_completed": _COMPACTION,
    "on_log_gc_completed": (LogGcJobInfo, {"reason": LogGcReason}),
    "on_memtable_sealed": (MemTableInfo, {"reason": FlushReason}),
    "on_background_error": (BackgroundErrorInfo, {"reason": BackgroundErrorReason}),
    "on_stall_conditions_changed": (
        WriteStallInfo,
        {"cause": WriteStallCause, "cur": WriteStallCondition, "prev": WriteStallCondition},
    ),
    "on_table_file_creation_started": _TABLE_FILE,
    "on_table_file_created": _TABLE_FILE,
    "on_table_file_deleted": (TableFileDeletionInfo, {}),
    "on_blob_file_creation_started": _BLOB_FILE,
    "on_blob_file_created": _BLOB_FILE,
    "on_blob_file_deleted": (BlobFileDeletionInfo, {}),
}
