"""Orders of keys."""

from __future__ import annotations

from typing import Any, Callable

from . import _core


class Comparator(_core.Comparator):
    """An order of keys that a Python function defines.

    ``compare(a, b)`` returns a number below 0, 0 or above 0 if the key ``a`` is before, equal to, or after ``b``. It is
    called by threads of the library and must not call a database. Under one name the order must never change.

    Its answers must not contradict each other: the library sorts by them, and would leave the bounds of its memory.
    If the function raises an exception, or returns no number, the exception is printed and the process ends
    (SIGABRT), since no answer would be right.
    """

    def __new__(
        cls, compare: Callable[[bytes, bytes], int], name: str, *, equal_means_same_bytes: bool = True
    ) -> Comparator:
        if not isinstance(name, str):
            raise TypeError("the name of a comparator must be str")
        return super().__new__(cls, compare, name.encode(), equal_means_same_bytes, 0)


class _LibraryComparator(Comparator):
    def __new__(cls, name: str, kind: int) -> Any:
        return _core.Comparator.__new__(cls, None, name.encode(), True, kind)


#: Unsigned order of bytes, the default.
BYTEWISE: Comparator = _LibraryComparator("cambium.BytewiseComparator", 1)
#: The reverse of it.
REVERSE_BYTEWISE: Comparator = _LibraryComparator("cambium.ReverseBytewiseComparator", -1)


def library_comparator(name: str) -> Comparator | None:
    """Return the library's own comparator of a name."""
    for comparator in (BYTEWISE, REVERSE_BYTEWISE):
        if comparator.name == name.encode():
            return comparator
    return None
