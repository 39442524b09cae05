"""Writes that take effect only if keys are as expected."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Callable

import pytest

import cambium

Open = Callable[..., cambium.DB]


@pytest.fixture(params=[cambium.DB, cambium.TransactionDB])
def db(request: pytest.FixtureRequest, path: Path) -> Iterator[cambium.DB]:
    """A plain database, and one that locks keys."""
    opened: Open = request.param
    with opened(path, create_if_missing=True) as db:
        yield db


def test_put_if_absent(db: cambium.DB) -> None:
    assert db.put_if_absent(b"k", b"v") is True
    assert db.put_if_absent(b"k", b"w") is False
    assert db.get(b"k") == b"v"
    db.delete(b"k")
    assert db.put_if_absent(b"k", b"", sync=True)
    assert not db.put_if_absent(b"k", b"w")  # an empty value is a value
    assert db.get(b"k") == b""
    assert db.put_if_absent(b"", b"of the empty key")


def test_compare_and_set(db: cambium.DB) -> None:
    assert db.compare_and_set(b"k", b"", b"v") is False  # an absent key has no value, not even an empty one
    db.put(b"k", b"v")
    assert not db.compare_and_set(b"k", b"", b"w")
    assert not db.compare_and_set(b"k", b"v2", b"w")
    assert db.get(b"k") == b"v"
    assert db.compare_and_set(b"k", bytearray(b"v"), memoryview(b""), sync=True, no_slowdown=True) is True
    assert db.get(b"k") == b""
    assert db.compare_and_set(b"k", b"", b"x" * 100_000)
    db.flush()
    assert db.compare_and_set(expected=b"x" * 100_000, value=b"y", key=b"k")
    assert db.get(b"k") == b"y"


def test_compare_and_delete(db: cambium.DB) -> None:
    assert db.compare_and_delete(b"k", b"") is False
    db.put(b"k", b"v")
    assert not db.compare_and_delete(b"k", b"")
    assert db.get(b"k") == b"v"
    assert db.compare_and_delete(b"k", b"v", sync=True) is True
    assert db.get(b"k") is None
    db.put(b"k", b"")
    assert db.compare_and_delete(b"k", b"")


def test_families_and_prefixes(db: cambium.DB) -> None:
    family = db.create_column_family("other")
    view = family.prefixed_db(b"p")
    assert db.put_if_absent(b"pk", b"1")
    assert view.put_if_absent(b"k", b"2")
    assert not family.put_if_absent(b"pk", b"3")
    assert not family.compare_and_set(b"pk", b"1", b"3")
    assert view.compare_and_set(b"k", b"2", b"3")
    assert db.get(b"pk") == b"1"
    assert family.get(b"pk") == b"3"
    assert not view.compare_and_delete(b"k", b"1")
    assert view.compare_and_delete(b"k", b"3")
    assert list(family) == []
    db.drop_column_family(family)
    with pytest.raises(cambium.ColumnFamilyDroppedError):
        family.put_if_absent(b"k", b"v")


def test_write_if(db: cambium.DB) -> None:
    family = db.create_column_family("other")
    view = family.prefixed_db(b"p")
    db.put(b"stock", b"3")
    family.put(b"pempty", b"")
    batch = db.write_batch(sync=True)
    batch.put(b"stock", b"2")
    batch.put(b"order", b"1", column_family=family)
    conditions = db.write_conditions()
    conditions.has_value(b"stock", b"3")
    conditions.is_absent(b"order", column_family=family)
    conditions.has_value(b"empty", b"", column_family=view)
    assert len(conditions) == 3
    assert batch.write_if(conditions) is True
    assert db.get(b"stock") == b"2"
    assert family.get(b"order") == b"1"
    # Now two of them do not hold; then one.
    batch.clear()
    batch.put(b"stock", b"1")
    assert batch.write_if(conditions) is False
    family.delete(b"order")
    assert not batch.write_if(conditions)
    assert db.get(b"stock") == b"2"
    conditions.clear()
    assert len(conditions) == 0
    assert batch.write_if(conditions)  # nothing is asked
    assert db.get(b"stock") == b"1"
    # Without operations it is a question.
    of_view = cambium.WriteConditions(view)
    of_view.has_value(b"empty", b"")
    assert db.write_batch().write_if(of_view)
    of_view.is_absent(b"empty")
    assert not db.write_batch().write_if(of_view)


def raise_counter(db: cambium.DB, family: cambium.Store, times: int) -> None:
    for _ in range(times):
        written = False
        while not written:
            old = family.get(b"counter")
            if old is None:
                written = family.put_if_absent(b"counter", b"1")
            else:
                written = family.compare_and_set(b"counter", old, b"%d" % (int(old) + 1))


def raise_two(db: cambium.DB, family: cambium.Store, times: int) -> None:
    batch = db.write_batch()
    conditions = db.write_conditions()
    for _ in range(times):
        written = False
        while not written:
            batch.clear()
            conditions.clear()
            for store in (db, family):
                old = store.get(b"counter")
                if old is None:
                    conditions.is_absent(b"counter", column_family=store)
                else:
                    conditions.has_value(b"counter", old, column_family=store)
                batch.put(b"counter", b"%d" % (int(old or 0) + 1), column_family=store)
            written = batch.write_if(conditions)


@pytest.mark.parametrize("work", [raise_counter, raise_two])
def test_no_increment_is_lost(db: cambium.DB, work: Callable[[cambium.DB, cambium.Store, int], None]) -> None:
    family = db.create_column_family("other")
    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(work, db, family, 100) for _ in range(4)]:
            done.result()
    assert family.get(b"counter") == b"400"
    assert db.get(b"counter") == (b"400" if work is raise_two else None)


def test_another_writer_between_the_reads_of_transactions(path: Path) -> None:
    """In a TransactionDB a conditional write waits for the locks of transactions."""
    with cambium.TransactionDB(path, create_if_missing=True, default_lock_timeout=0.001) as db:
        db.put(b"k", b"v")
        with db.transaction() as txn:
            txn.put(b"k", b"w")
            with pytest.raises(cambium.TimedOutError):
                db.compare_and_set(b"k", b"v", b"x")
        assert not db.compare_and_set(b"k", b"v", b"x")
        assert db.compare_and_set(b"k", b"w", b"x")
    with cambium.DB(path, read_only=True) as db, pytest.raises(cambium.NotSupportedError):
        db.put_if_absent(b"k", b"v")


def test_bad_arguments(db: cambium.DB, tmp_path: Path) -> None:
    batch = db.write_batch()
    conditions = db.write_conditions()
    untyped: Any = db
    wrong: Any = "text"
    calls: list[Callable[[], Any]] = [
        lambda: db.put_if_absent(wrong, b"v"),
        lambda: db.put_if_absent(b"k", wrong),
        lambda: db.compare_and_set(wrong, b"v", b"w"),
        lambda: db.compare_and_set(b"k", wrong, b"w"),
        lambda: db.compare_and_set(b"k", b"v", wrong),
        lambda: untyped.compare_and_set(b"k", None, b"w"),
        lambda: untyped.compare_and_set(b"k", b"v"),
        lambda: db.compare_and_delete(wrong, b"v"),
        lambda: db.compare_and_delete(b"k", wrong),
        lambda: untyped.put_if_absent(b"k", b"v", True),
        lambda: conditions.is_absent(wrong),
        lambda: conditions.is_absent(b"k", column_family=wrong),
        lambda: conditions.has_value(wrong, b"v"),
        lambda: conditions.has_value(b"k", wrong),
        lambda: conditions.has_value(b"k", b"v", column_family=wrong),
        lambda: batch.write_if(wrong),
        lambda: cambium.WriteConditions(wrong),
        lambda: conditions.__init__(db),
    ]
    for call in calls:
        with pytest.raises(TypeError):
            call()
    with pytest.raises(cambium.InvalidArgumentError):
        db.put_if_absent(b"k" * 70_000, b"v")
    with pytest.raises(cambium.InvalidArgumentError):
        db.put_if_absent(b"k", b"v", sync=True, disable_wal=True)
    with pytest.raises(cambium.ClosedError):
        cambium.WriteConditions.__new__(cambium.WriteConditions).clear()
    with cambium.DB(tmp_path / "foreign", create_if_missing=True) as other:
        with pytest.raises(ValueError, match="another database"):
            conditions.is_absent(b"k", column_family=other)
        with pytest.raises(ValueError, match="another database"):
            batch.write_if(other.write_conditions())
    assert len(conditions) == 0
    assert list(db) == []


def test_one_thread_uses_conditions_at_a_time(path: Path) -> None:
    with cambium.TransactionDB(path, create_if_missing=True, default_lock_timeout=10) as db:
        batch = db.write_batch()
        batch.put(b"k", b"v")
        conditions = db.write_conditions()
        conditions.is_absent(b"k")
        transaction = db.transaction()
        transaction.get_for_update(b"k")
        waiting = threading.Thread(target=lambda: batch.write_if(conditions))
        waiting.start()
        while True:  # until the thread waits for the lock
            try:
                len(batch)
            except cambium.Error:
                break
        with pytest.raises(cambium.Error, match="the conditions"):
            conditions.clear()
        with pytest.raises(cambium.Error, match="the conditions"):
            db.write_batch().write_if(conditions)
        transaction.rollback()
        waiting.join()
        assert db.get(b"k") == b"v"
        conditions.clear()
