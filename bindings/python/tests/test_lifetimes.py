"""What is still there when a database is closed."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path
from typing import Any, Callable

import pytest

import cambium
from cambium import _core


def test_every_method_of_a_closed_database_raises(path: Path, tmp_path: Path) -> None:
    db = cambium.DB(path, create_if_missing=True)
    family = db.create_column_family("a")
    view = db.prefixed_db(b"p")
    snapshot = db.snapshot()
    iterator = db.iterator()
    raw = snapshot.raw_iterator()
    batch = db.write_batch()
    batch.put(b"k", b"v")
    conditions = db.write_conditions()
    conditions.is_absent(b"k", column_family=family)
    pinned = db.get_pinned(b"none")
    assert pinned is None
    reader = cambium.AsyncReader(db)
    db.close()
    assert snapshot.closed
    assert iterator.closed
    assert raw.closed
    assert reader.closed
    assert view.closed
    assert family.closed
    stores: list[cambium.Store] = [db, family, view]
    calls: list[Callable[[], Any]] = []
    for store in stores:
        calls += [
            lambda store=store: store.get(b"k"),  # type: ignore[misc]
            lambda store=store: store.get_pinned(b"k"),  # type: ignore[misc]
            lambda store=store: store.multi_get([b"k"]),  # type: ignore[misc]
            lambda store=store: b"k" in store,  # type: ignore[misc]
            lambda store=store: store.put(b"k", b"v"),  # type: ignore[misc]
            lambda store=store: store.delete(b"k"),  # type: ignore[misc]
            lambda store=store: store.single_delete(b"k"),  # type: ignore[misc]
            lambda store=store: store.delete_range(b"k", b"l"),  # type: ignore[misc]
            lambda store=store: store.put_if_absent(b"k", b"v"),  # type: ignore[misc]
            lambda store=store: store.compare_and_set(b"k", b"v", b"w"),  # type: ignore[misc]
            lambda store=store: store.compare_and_delete(b"k", b"v"),  # type: ignore[misc]
            lambda store=store: store.iterator(),  # type: ignore[misc]
            lambda store=store: store.raw_iterator(),  # type: ignore[misc]
            lambda store=store: list(store),  # type: ignore[misc]
            lambda store=store: store.snapshot(),  # type: ignore[misc]
            lambda store=store: store.flush(),  # type: ignore[misc]
            lambda store=store: store.compact_range(),  # type: ignore[misc]
            lambda store=store: store.get_property("cambium.stats"),  # type: ignore[misc]
            lambda store=store: store.get_int_property("cambium.num-runs"),  # type: ignore[misc]
            lambda store=store: store.approximate_size(b"a", b"b"),  # type: ignore[misc]
            lambda store=store: store.set_options(sweep_ratio=4),  # type: ignore[misc]
            lambda store=store: store.get_options(),  # type: ignore[misc]
        ]
    calls += [
        lambda: family.id,
        lambda: db.create_column_family("b"),
        lambda: db.drop_column_family(family),
        lambda: db.multi_get_families([(db, b"k")]),
        db.flush_wal,
        db.wait_for_compact,
        lambda: db.latest_sequence_number,
        lambda: db.set_db_options(page_cache_size=1 << 20),
        lambda: db.checkpoint(tmp_path / "copy"),
        lambda: db.start_trace(tmp_path / "trace"),
        db.end_trace,
        batch.write,
        lambda: batch.write_if(conditions),
        lambda: batch.put(b"k", b"v"),
        lambda: conditions.is_absent(b"k"),
        lambda: snapshot.get(b"k"),
        lambda: snapshot.sequence_number,
        lambda: next(iterator),
        iterator.prev,
        raw.valid,
        lambda: reader.get(db, b"k", print),
        reader.poll,
        reader.submit,
        reader.event_fd,
        lambda: reader.in_flight,
        lambda: cambium.AsyncReader(db),
    ]
    for call in calls:
        with pytest.raises(cambium.ClosedError):
            call()
    snapshot.close()
    iterator.close()
    raw.close()
    reader.close()
    batch.clear()
    assert len(batch) == 0
    assert family.name == "a"


def test_objects_in_any_order_of_release(path: Path) -> None:
    names = ["db", "family", "snapshot", "iterator", "raw", "pinned", "batch", "view"]
    for first in range(len(names)):
        db = cambium.DB(path, create_if_missing=True, column_families=["a"], create_missing_column_families=True)
        db.put(b"k", b"v" * 5000)
        family = db.column_family("a")
        snapshot = db.snapshot()
        objects: dict[str, Any] = {
            "db": db,
            "family": family,
            "snapshot": snapshot,
            "iterator": snapshot.iterator(),
            "raw": family.raw_iterator(),
            "pinned": db.get_pinned(b"k", pin_mapped_values=True),
            "batch": family.write_batch(),
            "view": family.prefixed_db(b"p"),
        }
        next(objects["iterator"])
        del db, family, snapshot
        for name in names[first:] + names[:first]:
            del objects[name]
        gc.collect()
    cambium.DB(path, column_families=["a"]).close()


def test_the_last_object_closes_the_database(path: Path) -> None:
    iterator = cambium.DB(path, create_if_missing=True).iterator()
    with pytest.raises(cambium.LockedError):
        cambium.DB(path)
    del iterator
    cambium.DB(path).close()


def test_handle_is_freed(path: Path) -> None:
    db = cambium.DB(path, create_if_missing=True)
    reference = weakref.ref(db._handle)
    del db
    assert reference() is None


def test_objects_that_were_not_initialized(db: cambium.DB) -> None:
    class Careless(cambium.DB):
        def __init__(self) -> None:
            pass

    careless = Careless()
    assert careless.closed
    for call in (
        lambda: careless.get(b"k"),
        lambda: careless.put(b"k", b"v"),
        lambda: list(careless),
        lambda: cambium.WriteBatch(careless).put(b"k", b"v"),
        lambda: cambium.AsyncReader(careless),
    ):
        with pytest.raises(cambium.ClosedError):
            call()
    batch = cambium.WriteBatch.__new__(cambium.WriteBatch)
    with pytest.raises(cambium.ClosedError):
        batch.put(b"k", b"v")
    with pytest.raises(cambium.ClosedError):
        len(batch)
    for uncreatable in (_core.Handle, _core.Family, cambium.Iterator, cambium.PinnedValue, cambium.RawIterator):
        with pytest.raises(TypeError):
            uncreatable()
    with pytest.raises(TypeError, match="already"):
        db.__class__.__mro__[2].__init__(db, db._handle, db._family, None, None)  # type: ignore[misc]


def test_many_iterators(db: cambium.DB) -> None:
    for i in range(100):
        db.put(b"%03d" % i, b"v")
    iterators = [db.iterator(start=b"%03d" % i, include_value=False) for i in range(100)]
    assert [next(iterator) for iterator in iterators] == [b"%03d" % i for i in range(100)]
    db.close()
    assert all(iterator.closed for iterator in iterators)
