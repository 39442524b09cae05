"""In a forked child every call raises an error, and none waits."""

from __future__ import annotations

import os
import signal
import threading
import time
import traceback
import warnings
from pathlib import Path
from typing import Any, Callable

import pytest

import cambium
from cambium import aio

warnings.filterwarnings("ignore", message=".*fork.*", category=DeprecationWarning)


def in_child(function: Callable[[], None], seconds: int = 20) -> None:
    """Run a function in a forked child, and expect that it succeeds in time."""
    child = os.fork()
    if child == 0:
        signal.alarm(seconds)
        code = 1
        try:
            function()
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    assert status == 0, f"the child has ended with status {status:#x}"


def refused(call: Callable[[], Any]) -> None:
    with pytest.raises(cambium.NotSupportedError, match="forked child"):
        call()


def test_calls_in_the_child(db: cambium.DB, tmp_path: Path) -> None:
    db.put(b"k", b"v" * 5000)
    family = db.create_column_family("a")
    snapshot = db.snapshot()
    iterator = db.iterator()
    raw = db.raw_iterator()
    raw.seek_to_first()
    pinned = db.get_pinned(b"k", pin_mapped_values=True)
    batch = db.write_batch()
    batch.put(b"a", b"b")
    engine = cambium.BackupEngine(tmp_path / "backup")
    reader = cambium.AsyncReader(db)
    reader.get(db, b"k", lambda value, error: None)

    def child() -> None:
        assert pinned is not None
        for call in (
            lambda: db.get(b"k"),
            lambda: db.put(b"k", b"v"),
            lambda: db.delete(b"k"),
            lambda: db.multi_get([b"k"]),
            db.iterator,
            db.snapshot,
            db.flush,
            db.compact_range,
            lambda: db.get_property("cambium.stats"),
            lambda: family.get(b"k"),
            lambda: family.put(b"k", b"v"),
            lambda: snapshot.get(b"k"),
            lambda: next(iterator),
            iterator.prev,
            raw.next,
            raw.key,
            batch.write,
            lambda: memoryview(pinned),
            engine.backups,
            lambda: engine.create_backup(db),
            reader.poll,
            lambda: reader.get(db, b"k", print),
        ):
            refused(call)
        # What is released in the child belongs to the parent, and is left alone.
        snapshot.close()
        iterator.close()
        raw.close()
        reader.close()
        pinned.release()
        db.close()
        engine.close()
        with cambium.DB(tmp_path / "other", create_if_missing=True) as other:
            other.put(b"k", b"v")
            assert list(other) == [(b"k", b"v")]
        with pytest.raises(cambium.LockedError):
            cambium.DB(tmp_path / "db", column_families=["a"])

    in_child(child)
    assert db.get(b"k") == b"v" * 5000
    assert next(iterator) == (b"k", b"v" * 5000)
    assert snapshot.get(b"k") == b"v" * 5000
    assert pinned is not None
    assert pinned.tobytes() == b"v" * 5000
    assert reader.poll() == 1
    engine.create_backup(db)
    engine.close()
    batch.write()


def test_release_by_the_child(path: Path) -> None:
    db = cambium.DB(path, create_if_missing=True)
    db.put(b"k", b"v")
    objects: list[Any] = [db.iterator(), db.snapshot(), db.get_pinned(b"k"), db.raw_iterator(), db.write_batch(), db]
    del db

    def child() -> None:
        objects.clear()

    in_child(child)
    objects.clear()
    cambium.DB(path).close()


def test_fork_while_other_threads_work(db: cambium.DB, tmp_path: Path) -> None:
    stop = threading.Event()

    def work() -> None:
        i = 0
        while not stop.is_set():
            i += 1
            db.put(b"%d" % (i % 100), b"v" * 1000)
            for _ in db:
                pass

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()

    def child() -> None:
        refused(lambda: db.get(b"1"))
        db.close()
        with cambium.DB(tmp_path / f"other{os.getpid()}", create_if_missing=True) as other:
            other.put(b"k", b"v", sync=True)
            other.compact_range()

    try:
        for _ in range(5):
            time.sleep(0.01)
            in_child(child)
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def test_child_that_exits_normally(tmp_path: Path) -> None:
    """The functions that run at exit leave the parent's database alone."""
    import subprocess
    import sys

    program = f"""
import os, sys, cambium
db = cambium.DB({str(tmp_path / "db")!r}, create_if_missing=True)
db.put(b"k", b"v")
child = os.fork()
if child == 0:
    sys.exit(0)
assert os.waitpid(child, 0)[1] == 0
assert db.get(b"k") == b"v"
db.put(b"k", b"w")
print("done")
"""
    result = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    assert (result.returncode, result.stdout, result.stderr) == (0, "done\n", "")
    with cambium.DB(tmp_path / "db") as db:
        assert db.get(b"k") == b"w"


def test_comparator_in_the_child(path: Path) -> None:
    with cambium.DB(
        path, create_if_missing=True, comparator=lambda a, b: (a > b) - (a < b), comparator_name="own"
    ) as db:
        db.put(b"k", b"v")

        def child() -> None:
            refused(lambda: db.get(b"k"))

        in_child(child)


def test_asyncio_in_the_child(path: Path) -> None:
    import asyncio

    async def parent() -> None:
        async with await aio.AsyncDB.open(path, create_if_missing=True) as db:
            await db.put(b"k", b"v")
            assert await db.get(b"k") == b"v"

            def child() -> None:
                refused(lambda: db.sync.get(b"k"))

            in_child(child)
            assert await db.get(b"k") == b"v"

    asyncio.run(parent())
