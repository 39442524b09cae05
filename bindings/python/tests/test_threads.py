"""Several threads."""

from __future__ import annotations

import sys
import threading
import time
from pathlib import Path
from typing import Any, Callable

import pytest

import cambium


def run(*functions: Callable[[], Any]) -> list[Any]:
    """Run functions at the same time, and return their results or exceptions."""
    results: list[Any] = [None] * len(functions)

    def call(index: int, function: Callable[[], Any]) -> None:
        try:
            results[index] = function()
        except BaseException as error:
            results[index] = error

    threads = [threading.Thread(target=call, args=item) for item in enumerate(functions)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


@pytest.fixture(autouse=True)
def fast_switches() -> Any:
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(interval)


def test_reads_and_writes(db: cambium.DB) -> None:
    def work(name: int) -> int:
        for i in range(500):
            key = b"%d-%d" % (name, i)
            db.put(key, key * 20)
            assert db.get(key) == key * 20
            if i % 50 == 0:
                with db.snapshot() as snapshot, db.write_batch() as batch:
                    batch.put(key + b"b", b"")
                    assert snapshot.get(key) == key * 20
                assert len(list(db.iterator(prefix=b"%d-" % name, include_value=False))) > i
        return name

    assert run(*(lambda name=name: work(name) for name in range(6))) == list(range(6))
    assert len(list(db)) == 6 * 510


def test_close_waits_for_calls(path: Path) -> None:
    for _ in range(5):
        db = cambium.DB(path, create_if_missing=True)
        started = threading.Barrier(5)

        def work(db: cambium.DB = db, started: threading.Barrier = started) -> None:
            started.wait()
            i = 0
            while True:
                i += 1
                db.put(b"%d" % (i % 1000), b"v" * 100)
                db.get(b"%d" % i)
                for _ in db.iterator(include_value=False):
                    pass

        def close(db: cambium.DB = db, started: threading.Barrier = started) -> None:
            started.wait()
            time.sleep(0.02)
            db.close()

        results = run(close, work, work, work, work)
        assert results[0] is None
        assert all(isinstance(result, cambium.ClosedError) for result in results[1:]), results
        assert db.closed


def test_close_in_two_threads(path: Path) -> None:
    for _ in range(20):
        db = cambium.DB(path, create_if_missing=True)
        db.put(b"k", b"v" * 1000)
        iterators = [db.iterator() for _ in range(10)]
        results = run(db.close, db.close, iterators.clear)
        assert db.closed
        for result in results:
            assert result is None or "another thread is closing" in str(result)


def test_iterators_are_released_while_the_database_is_closed(path: Path) -> None:
    for _ in range(20):
        db = cambium.DB(path, create_if_missing=True)
        for i in range(50):
            db.put(b"%d" % i, b"v")
        snapshots = [db.snapshot() for _ in range(5)]
        iterators = [snapshot.iterator() for snapshot in snapshots for _ in range(5)]
        for iterator in iterators:
            next(iterator)
        results = run(snapshots.clear, iterators.clear, db.close)
        assert results == [None, None, None]


def test_one_iterator_in_two_threads(db: cambium.DB) -> None:
    with db.write_batch() as batch:
        for i in range(20_000):
            batch.put(b"%06d" % i, b"v" * 50)
    iterator = db.iterator(include_value=False)
    found: list[bytes] = []

    def work() -> None:
        while True:
            try:
                found.append(next(iterator))
            except StopIteration:
                return
            except cambium.Error as error:
                assert "in use by another thread" in str(error)

    assert run(work, work, work) == [None] * 3
    assert sorted(found) == [b"%06d" % i for i in range(20_000)]


def test_one_batch_in_two_threads(db: cambium.DB) -> None:
    batch = db.write_batch()
    refused = []

    def work(name: int) -> None:
        for i in range(2000):
            try:
                batch.put(b"%d-%d" % (name, i), b"v" * 1000)
                if i % 100 == 0:
                    batch.write()
            except cambium.Error as error:
                assert "in use by another thread" in str(error)
                refused.append(error)

    assert run(lambda: work(1), lambda: work(2)) == [None, None]
    assert len(batch) + len(refused) >= 3900
    batch.write()
    assert len(list(db)) == len(batch)


def test_calls_release_the_gil(path: Path) -> None:
    """Another thread runs Python code while a call waits for the device."""
    with cambium.DB(path, create_if_missing=True) as db:
        is_inside = is_done = False
        turns = 0

        def count() -> None:
            nonlocal turns
            while not is_done:
                turns += is_inside
                time.sleep(0)  # gives up the GIL

        def write() -> None:
            nonlocal is_inside, is_done
            for i in range(5):
                is_inside = True
                db.put(b"%d" % i, b"v" * (8 << 20), sync=True)
                is_inside = False
            is_done = True

        sys.setswitchinterval(100)  # no thread is interrupted: it must give up the GIL by itself
        try:
            run(write, count)
        finally:
            sys.setswitchinterval(1e-5)
        assert turns > 0
