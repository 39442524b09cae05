"""Functions on databases that are not open."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from . import _core
from ._db import ColumnFamilies, _families
from ._options import Options

if TYPE_CHECKING:
    from ._types import Path


def _rep(options: Options | None) -> _core.Options:
    return (options or Options())._rep


def destroy_db(name: Path, *, options: Options | None = None) -> None:
    """Remove all files of a database, and its directory if nothing else is in it. No error if there is none."""
    _core.destroy_db(name, _rep(options))


def repair_db(name: Path, *, options: Options | None = None) -> None:
    """Replace a damaged database by what survives of it; the damaged one is renamed to ``name``.damaged."""
    _core.repair_db(name, _rep(options))


@dataclass(frozen=True)
class Salvaged:
    lost: int  #: how many things were lost
    unproven: int  #: how many values may be old, or of deleted keys


def salvage_db(
    name: Path,
    out: Path,
    *,
    options: Options | None = None,
    column_families: ColumnFamilies = (),
    include_unproven: bool = False,
) -> Salvaged:
    """Create a new database ``out`` from what survives of ``name``, which is not changed.

    Families with a comparator of your own must be named.
    """
    names, reps = _families(column_families)
    return Salvaged(*_core.salvage_db(name, out, _rep(options), names, reps, include_unproven))


def verify_db(
    name: Path,
    *,
    deep: bool = False,
    options: Options | None = None,
    column_families: ColumnFamilies = (),
) -> list[str]:
    """Check a database that no process has open for writing, and return what is damaged, a line each.

    With ``deep``, every value is read. If something cannot be read, the exception has the lines as ``problems``.
    """
    names, reps = _families(column_families)
    return _core.verify_db(name, _rep(options), names, reps, deep)


def list_column_families(name: Path, *, options: Options | None = None) -> list[str]:
    """Return the names of the column families of a database, open or not."""
    return _core.list_column_families(name, _rep(options))


def checkpoint_offline(name: Path, directory: Path, *, options: Options | None = None) -> None:
    """Copy a database that no process has open for writing to a directory that must not exist."""
    _core.checkpoint_offline(name, _rep(options), directory)


def library_version() -> str:
    """Return the version of the library that is in use."""
    return ".".join(str(part) for part in _core.library_version())
