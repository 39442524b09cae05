"""Repeated calls leak no Python objects."""

from __future__ import annotations

import contextlib
import gc
import sys
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import cambium


def attempt(call: Callable[[], Any]) -> None:
    with contextlib.suppress(cambium.Error, TypeError, ValueError, KeyError, StopIteration, BufferError):
        call()


def check(call: Callable[[], Any], count: int) -> None:
    """Expect that calls leave less than one block of memory each, once caches of the interpreter are full."""
    growth = []
    for _ in range(12):
        gc.collect()
        before = sys.getallocatedblocks()
        for _ in range(count):
            call()
        gc.collect()
        growth.append(sys.getallocatedblocks() - before)
        if growth[-1] < count / 2:
            return
    raise AssertionError(f"{count} calls leave {growth} blocks")


def calls(db: cambium.DB) -> dict[str, Callable[[], Any]]:
    wrong: Any = "text"
    family = db.create_column_family("f")
    view = db.prefixed_db(b"p" * 300)
    order = cambium.Comparator(lambda a, b: 0, "own")

    def mapping() -> None:
        db[b"m"] = b"v"
        assert db[b"m"] == b"v"
        del db[b"m"]
        attempt(lambda: db[b"m"])

    def wrong_keys() -> None:
        attempt(lambda: db.get(wrong))
        attempt(lambda: db.multi_get([b"k", wrong]))

    def prefix() -> None:
        view.put(b"k", b"v")
        view.get(b"k")
        view.delete(b"k")

    def sizes() -> None:
        db.approximate_size(b"a", b"z")
        attempt(lambda: db.approximate_sizes((b"a", wrong)))

    def batch() -> None:
        with family.write_batch() as operations:
            operations.put(b"k", b"v")
            operations.put(b"k", b"v", column_family=view)
            operations.operations()
            operations.append(db.write_batch_from(operations.data()))
            attempt(lambda: operations.put(b"k", wrong))

    def scan() -> None:
        entries = db.iterator(start=b"a", include_start=False, stop=b"z", include_stop=True)
        entries.take(3)
        attempt(entries.prev)
        entries.seek(b"k")
        attempt(entries.prev)
        attempt(lambda: db.iterator(prefix=wrong))
        attempt(lambda: entries.seek(wrong))

    def raw() -> None:
        entries = view.raw_iterator(lower_bound=b"a")
        entries.seek_to_first()
        attempt(entries.item)
        attempt(lambda: view.raw_iterator(lower_bound=wrong))

    def pinned() -> None:
        value = db.get_pinned(b"large", pin_mapped_values=True)
        assert value is not None
        with value as bytes_:
            attempt(value.release)
            bytes_.tobytes()

    def snapshot() -> None:
        with view.snapshot() as state:
            state.of(family).get(b"k")
            iterator = state.iterator()
            attempt(lambda: next(iterator))

    def options() -> None:
        made = cambium.Options(sweep_ratio=4)
        made.comparator = order
        made.add_listener(cambium.EventListener())
        made.compaction_filter = cambium.CompactionFilter()
        made.compaction_filter_factory = lambda context: None
        made.set_logger(print)
        made.rate_limiter = cambium.RateLimiter(1 << 20)
        made.write_buffer_manager = cambium.WriteBufferManager(1 << 20)
        made.copy().as_dict()
        attempt(lambda: made.set("nonsense", "1"))
        attempt(lambda: setattr(made, "comparator", 1))

    def reader() -> None:
        with cambium.AsyncReader(view) as reads:
            reads.get(view, b"k", lambda value, error: None)
            reads.get(db, b"large", lambda value, error: None)
            attempt(lambda: reads.get(db, wrong, print))
            reads.poll(1)

    def conditional() -> None:
        db.delete(b"c")
        assert db.put_if_absent(b"c", bytearray(b"1"))
        assert not db.put_if_absent(b"c", b"1")
        assert view.compare_and_set(b"", bytearray(b"1"), bytearray(b"2")) is False
        assert db.compare_and_set(b"c", bytearray(b"1"), bytearray(b"2"))
        assert db.compare_and_delete(b"c", memoryview(b"2"))
        attempt(lambda: db.compare_and_set(b"c", b"1", wrong))
        attempt(lambda: db.compare_and_set(b"c", wrong, b"1"))
        attempt(lambda: db.put_if_absent(b"k" * 70_000, b"v"))
        conditions = cambium.WriteConditions(view)
        conditions.is_absent(bytearray(b"c"))
        conditions.has_value(b"k", bytearray(b"v"), column_family=db)
        attempt(lambda: conditions.has_value(b"k", wrong))
        batch = db.write_batch()
        batch.put(b"c", b"1")
        batch.write_if(conditions)
        attempt(lambda: batch.write_if(wrong))
        conditions.clear()
        attempt(lambda: cambium.WriteConditions(wrong))

    return {
        "get": lambda: (db.get(b"k"), db.get(b"none", 1), db.get(bytearray(b"large")), b"k" in db),
        "prefix": prefix,
        "multi_get": lambda: db.multi_get([b"k", bytearray(b"none"), b"large"], 1),
        "multi_get_families": lambda: db.multi_get_families([(db, b"k"), (view, b"k")]),
        "wrong keys": wrong_keys,
        "wrong names": lambda: attempt(lambda: db.get(b"k", nonsense=1)),  # type: ignore[call-overload]
        "errors": lambda: attempt(lambda: db.put(b"k" * 70_000, b"v")),
        "mapping": mapping,
        "conditional": conditional,
        "delete_range": lambda: db.delete_range(b"x", b"y"),
        "batch": batch,
        "scan": scan,
        "raw": raw,
        "pinned": pinned,
        "snapshot": snapshot,
        "options": options,
        "reader": reader,
        "properties": lambda: (db.get_property("cambium.stats"), db.get_property(b"x"), db.get_options().copy()),
        "sizes": sizes,
        "set_options": lambda: attempt(lambda: db.set_options(num_levels=5)),
        "views": lambda: (db.prefixed_db(b"a").prefixed_db(b"b"), db.column_families, repr(db)),
    }


NAMES = [
    *("get", "prefix", "multi_get", "multi_get_families", "wrong keys", "wrong names", "errors", "mapping"),
    *("delete_range", "batch", "scan", "raw", "pinned", "snapshot", "options", "reader", "properties", "sizes"),
    *("set_options", "views", "conditional"),
]


@pytest.mark.parametrize("name", NAMES)
def test_no_objects_are_left(db: cambium.DB, name: str) -> None:
    db.put(b"k", b"v")
    db.put(b"large", b"v" * 100_000)
    all_calls = calls(db)
    assert set(all_calls) == set(NAMES)
    check(all_calls[name], 200)


def test_what_open_holds_is_released(path: Path) -> None:
    class Listener(cambium.EventListener):
        pass

    def call() -> list[weakref.ref[Any]]:
        def compare(a: bytes, b: bytes) -> int:
            return (a > b) - (a < b)

        order = cambium.Comparator(compare, "own")
        listener = Listener()
        options = cambium.Options(create_if_missing=True)
        options.comparator = order
        options.add_listener(listener)
        with cambium.DB(path, options=options) as db:
            db.put(b"k", b"v")
            db.iterator().take(1)
            db.snapshot()
            handle = weakref.ref(db._handle)
        attempt(lambda: cambium.DB(path))
        attempt(lambda: cambium.DB(path, options=options, column_families=["missing"]))
        cambium.list_column_families(path)
        cambium.verify_db(path, options=options, column_families={"default": options})
        cambium.load_latest_options(path, comparators=[order])
        return [weakref.ref(compare), weakref.ref(listener), handle]

    for _ in range(3):
        references = call()
        gc.collect()
        assert [reference() for reference in references] == [None] * 3
