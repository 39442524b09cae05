"""Compaction filters: they remove or change entries while the library compacts."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Callable, Optional, Union


class Decision(enum.IntEnum):
    KEEP = 0
    REMOVE = 1
    UNDETERMINED = 8  #: an answer of ``filter_by_key`` only: the value is needed


@dataclass(frozen=True)
class ChangeValue:
    """Replaces the value."""

    value: bytes


@dataclass(frozen=True)
class RemoveAndSkipUntil:
    """Removes the key, and all keys before ``key``."""

    key: bytes


Answer = Union[Decision, ChangeValue, RemoveAndSkipUntil]


class CompactionFilter:
    """Base class of filters. The methods are called by threads of the library, several at once unless a factory made
    the filter. They must not call a database. If one raises an exception, sys.unraisablehook gets it, and the
    compaction ends with InvalidArgumentError and changes nothing.
    """

    def filter(self, level: int, key: bytes, value: bytes) -> Answer:
        """Decide about an entry."""
        raise NotImplementedError

    def filter_by_key(self, level: int, key: bytes) -> Answer:
        """Decide about an entry whose value is not in the index, before the value is read."""
        return Decision.UNDETERMINED

    @property
    def _asks_by_key(self) -> bool:
        return type(self).filter_by_key is not CompactionFilter.filter_by_key

    def _by_value(self, level: int, key: bytes, value: bytes) -> tuple[int, bytes | None]:
        return _encode(self.filter(level, key, value))

    def _by_key(self, level: int, key: bytes) -> tuple[int, bytes | None]:
        return _encode(self.filter_by_key(level, key))


def _encode(answer: Answer) -> tuple[int, bytes | None]:
    if isinstance(answer, Decision):
        return int(answer), None
    if isinstance(answer, ChangeValue):
        return 2, answer.value
    if isinstance(answer, RemoveAndSkipUntil):
        return 3, answer.key
    raise TypeError(f"not an answer of a compaction filter: {answer!r}")


@dataclass(frozen=True)
class FilterContext:
    """Describes a job to a factory of filters."""

    is_full_compaction: bool
    is_manual_compaction: bool
    column_family_id: int


#: Makes a filter for each job; None: the job keeps everything.
FilterFactory = Callable[[FilterContext], Optional[CompactionFilter]]
