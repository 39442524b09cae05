"""Backups of databases in a directory of their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from . import _core
from ._db import DB
from ._options import Options

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self

    from ._types import Path


@dataclass(frozen=True)
class BackupInfo:
    """A backup that can be read."""

    backup_id: int
    timestamp: int  #: when it began, in seconds since 1970
    size: int  #: of its files, those shared with other backups included
    number_files: int
    sequence_number: int  #: of the newest operation in it
    is_checked: bool  #: its files were compared with their checksums


class BackupEngine:
    """Makes, lists, verifies and restores backups. A backup adds only what changed since earlier ones.

    Any thread may call the methods. With ``read_only`` nothing is written to the directory.
    """

    def __init__(self, directory: Path, *, options: Options | None = None, read_only: bool = False) -> None:
        self._rep = _core.BackupEngine(directory, (options or Options())._rep, read_only)

    def close(self) -> None:
        """Release the directory. A second call does nothing."""
        self._rep.close()

    @property
    def closed(self) -> bool:
        return self._rep.closed

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def create_backup(self, db: DB, *, flush: bool = False) -> None:
        """Back up an open database, which stays in use."""
        self._rep.create(db._handle, flush)

    def create_backup_offline(self, name: Path) -> None:
        """Back up a database that no process has open for writing."""
        self._rep.create_offline(name)

    def set_verify_checksums(self, verify: bool) -> None:
        """Set whether new backups compare what they store with the checksums in it, as they do by default."""
        self._rep.set_verify_checksums(verify)

    def stop(self) -> None:
        """End the running backup, and all later ones, with IncompleteError. It cannot be undone."""
        self._rep.stop()

    def backups(self) -> list[BackupInfo]:
        """Return the backups that can be read, in the order of their numbers."""
        return [BackupInfo(*fields) for fields in self._rep.info()]

    def corrupted(self) -> list[int]:
        """Return the numbers of the backups that cannot be read."""
        return self._rep.corrupted()

    def purge(self, keep: int) -> None:
        """Delete all but the newest ``keep`` backups."""
        self._rep.purge(keep)

    def delete(self, backup_id: int) -> None:
        """Delete a backup. NotFoundError if there is none of this number."""
        self._rep.delete(backup_id)

    def garbage_collect(self) -> None:
        """Remove files that no backup has."""
        self._rep.garbage_collect()

    def verify(self, backup_id: int, *, with_checksum: bool = False) -> None:
        """Check the files of a backup; with ``with_checksum``, every byte."""
        self._rep.verify(backup_id, with_checksum)

    def restore(self, directory: Path, backup_id: int) -> None:
        """Restore a backup into a directory that must not exist."""
        self._rep.restore(directory, backup_id)

    def restore_latest(self, directory: Path) -> None:
        """Restore the newest backup."""
        self._rep.restore_latest(directory)
