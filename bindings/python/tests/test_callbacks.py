"""Comparators, compaction filters, listeners and loggers that are Python functions."""

from __future__ import annotations

import gc
import signal
import subprocess
import sys
import threading
import weakref
from pathlib import Path
from typing import Any

import pytest

import cambium

from .conftest import Unraisable


def case_insensitive(a: bytes, b: bytes) -> int:
    return (a.lower() > b.lower()) - (a.lower() < b.lower())


# ---- Comparators ----


@pytest.mark.parametrize("index_type", list(cambium.IndexType))
def test_comparator(path: Path, index_type: cambium.IndexType) -> None:
    order = cambium.Comparator(case_insensitive, "case_insensitive", equal_means_same_bytes=False)
    assert order.name == b"case_insensitive"
    with cambium.DB(path, create_if_missing=True, comparator=order, index_type=index_type) as db:
        for key in (b"aaa", b"BBB", b"ccc", b"AAA"):
            db.put(key, key)
        assert list(db.iterator(include_key=False)) == [b"AAA", b"BBB", b"ccc"]
        assert db.get(b"bbb") == b"BBB"
        db.compact_range()
        assert list(db.iterator(include_key=False, reverse=True)) == [b"ccc", b"BBB", b"AAA"]
    with pytest.raises(cambium.InvalidArgumentError):
        cambium.DB(path, index_type=index_type)
    with cambium.DB(path, comparator=case_insensitive, comparator_name="case_insensitive", index_type=index_type) as db:
        assert db.get(b"bBb") == b"BBB"


def test_wrong_comparators(path: Path) -> None:
    wrong: Any
    with pytest.raises(ValueError, match="together"):
        cambium.DB(path, comparator=case_insensitive)
    with pytest.raises(ValueError, match="together"):
        cambium.DB(path, comparator_name="name")
    with pytest.raises(ValueError, match="already"):
        cambium.DB(path, comparator=cambium.BYTEWISE, comparator_name="name")
    for wrong in (1, "name"):
        with pytest.raises(TypeError):
            cambium.DB(path, comparator=wrong, comparator_name="name")
        with pytest.raises(TypeError):
            cambium.Comparator(wrong, "name")
    wrong = 1
    with pytest.raises(TypeError):
        cambium.Comparator(case_insensitive, wrong)
    with pytest.raises(ValueError, match="zero byte"):
        cambium.Comparator(case_insensitive, "a\0b")


FRAGILE = """
import sys, cambium
broken = False
def compare(a, b):
    if broken:
        {answer}
    return (b > a) - (b < a)
db = cambium.DB(sys.argv[1], create_if_missing=True, comparator=compare, comparator_name="fragile")
for i in range(10):
    db.put(b"%d" % i, b"v")
other = db
broken = True
db.delete_range(b"3", b"5")
print("the process goes on")
"""


@pytest.mark.parametrize("answer", ["1 / 0", "return 'text'", "return None", "other.get(a)"])
def test_comparator_that_fails(path: Path, answer: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", FRAGILE.format(answer=answer), str(path)], capture_output=True, text=True
    )
    assert ended.returncode == -signal.SIGABRT
    assert "goes on" not in ended.stdout
    assert "a comparator has raised an exception" in ended.stderr
    if answer == "1 / 0":
        assert "ZeroDivisionError" in ended.stderr

    def compare(a: bytes, b: bytes) -> int:
        return (b > a) - (b < a)

    with cambium.DB(path, comparator=compare, comparator_name="fragile") as again:
        assert len(list(again)) == 10


def test_comparator_in_several_threads(path: Path) -> None:
    with cambium.DB(
        path,
        create_if_missing=True,
        comparator=lambda a, b: (a > b) - (a < b),
        comparator_name="slow",
        write_buffer_size=1 << 16,
    ) as db:

        def write(name: int) -> None:
            for i in range(300):
                db.put(b"%d-%d" % (name, i), b"v" * 50)
                assert db.get(b"%d-%d" % (name, i)) == b"v" * 50

        threads = [threading.Thread(target=write, args=(name,)) for name in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        db.compact_range()
        assert len(list(db)) == 1200


# ---- Filters ----


class Expiring(cambium.CompactionFilter):
    def __init__(self) -> None:
        self.levels: set[int] = set()

    def filter(self, level: int, key: bytes, value: bytes) -> cambium.Answer:
        self.levels.add(level)
        if value == b"old":
            return cambium.Decision.REMOVE
        if value == b"change":
            return cambium.ChangeValue(b"changed\0")
        if key == b"skip":
            return cambium.RemoveAndSkipUntil(b"skipz")
        return cambium.Decision.KEEP


def fill(db: cambium.DB) -> None:
    db.put(b"a", b"old")
    db.put(b"b", b"new")
    db.put(b"c", b"change")
    for key in (b"skip", b"skip1", b"skip2", b"tail"):
        db.put(key, b"v")


FILTERED = [(b"b", b"new"), (b"c", b"changed\0"), (b"tail", b"v")]


@pytest.mark.parametrize("index_type", list(cambium.IndexType))
def test_filter(path: Path, index_type: cambium.IndexType) -> None:
    options = cambium.Options(create_if_missing=True, index_type=index_type)
    chosen = Expiring()
    options.compaction_filter = chosen
    with cambium.DB(path, options=options) as db:
        fill(db)
        db.compact_range()
        assert list(db) == FILTERED
    assert chosen.levels


def test_filter_by_key(path: Path) -> None:
    asked: list[bytes] = []

    class ByKey(cambium.CompactionFilter):
        def filter_by_key(self, level: int, key: bytes) -> cambium.Answer:
            return cambium.Decision.REMOVE if key == b"a" else cambium.Decision.UNDETERMINED

        def filter(self, level: int, key: bytes, value: bytes) -> cambium.Answer:
            asked.append(key)
            return cambium.Decision.KEEP

    options = cambium.Options(create_if_missing=True)
    options.compaction_filter = ByKey()
    with cambium.DB(path, options=options) as db:
        for key in (b"a", b"b"):
            db.put(key, b"v" * 10_000)
        db.compact_range()
        assert list(db.iterator(include_value=False)) == [b"b"]
    assert asked == [b"b"]


def test_filter_factory(path: Path) -> None:
    contexts: list[cambium.FilterContext] = []
    expires = True

    def make(context: cambium.FilterContext) -> cambium.CompactionFilter | None:
        contexts.append(context)
        return Expiring() if expires else None

    options = cambium.Options(create_if_missing=True)
    options.compaction_filter_factory = make
    with cambium.DB(path, options=options) as db:
        fill(db)
        db.compact_range()
        assert list(db) == FILTERED
        expires = False
        db.put(b"a", b"old")
        db.compact_range()
        assert db.get(b"a") == b"old"
    assert any(context.is_manual_compaction for context in contexts)
    assert contexts[0].column_family_id == 0


class Broken(cambium.CompactionFilter):
    answer: Any = None

    def filter(self, level: int, key: bytes, value: bytes) -> cambium.Answer:
        if self.answer is not None:
            answer: cambium.Answer = self.answer
            return answer
        raise ZeroDivisionError


@pytest.mark.parametrize("answer", [None, "keep", cambium.Decision.UNDETERMINED, cambium.ChangeValue("text")])  # type: ignore[arg-type]
def test_filter_that_fails(path: Path, answer: Any, unraisable: Unraisable) -> None:
    options = cambium.Options(create_if_missing=True)
    broken = Broken()
    broken.answer = answer
    options.compaction_filter = broken
    with cambium.DB(path, options=options) as db:
        db.put(b"a", b"1")
        with pytest.raises(cambium.InvalidArgumentError):
            db.compact_range()
        assert db.get(b"a") == b"1"
        broken.answer = cambium.Decision.REMOVE
        db.compact_range()
        assert db.get(b"a") is None
    assert bool(unraisable.errors) == (answer is not cambium.Decision.UNDETERMINED)


def test_filter_factory_that_fails(path: Path, unraisable: Unraisable) -> None:
    def make(context: cambium.FilterContext) -> cambium.CompactionFilter | None:
        if broken:
            raise ZeroDivisionError
        return None

    broken = True

    options = cambium.Options(create_if_missing=True)
    options.compaction_filter_factory = make
    with cambium.DB(path, options=options) as db:
        db.put(b"a", b"1")
        with pytest.raises(cambium.InvalidArgumentError):
            db.compact_range()
        broken = False
        db.compact_range()
        assert db.get(b"a") == b"1"
    assert isinstance(unraisable.errors[0], ZeroDivisionError)


# ---- Listeners ----


class Collecting(cambium.EventListener):
    def __init__(self) -> None:
        self.events: list[tuple[str, Any]] = []

    def on_flush_begin(self, info: cambium.FlushJobInfo) -> None:
        self.events.append(("flush_begin", info))

    def on_flush_completed(self, info: cambium.FlushJobInfo) -> None:
        self.events.append(("flush_completed", info))

    def on_compaction_begin(self, info: cambium.CompactionJobInfo) -> None:
        self.events.append(("compaction_begin", info))

    def on_compaction_completed(self, info: cambium.CompactionJobInfo) -> None:
        self.events.append(("compaction_completed", info))

    def on_log_gc_completed(self, info: cambium.LogGcJobInfo) -> None:
        self.events.append(("log_gc", info))

    def on_memtable_sealed(self, info: cambium.MemTableInfo) -> None:
        self.events.append(("sealed", info))

    def on_background_error(self, info: cambium.BackgroundErrorInfo) -> None:
        self.events.append(("error", info))

    def on_stall_conditions_changed(self, info: cambium.WriteStallInfo) -> None:
        self.events.append(("stall", info))

    def on_table_file_creation_started(self, info: cambium.TableFileCreationInfo) -> None:
        self.events.append(("table_started", info))

    def on_table_file_created(self, info: cambium.TableFileCreationInfo) -> None:
        self.events.append(("table_created", info))

    def on_table_file_deleted(self, info: cambium.TableFileDeletionInfo) -> None:
        self.events.append(("table_deleted", info))

    def on_blob_file_creation_started(self, info: cambium.BlobFileCreationInfo) -> None:
        self.events.append(("blob_started", info))

    def on_blob_file_created(self, info: cambium.BlobFileCreationInfo) -> None:
        self.events.append(("blob_created", info))

    def on_blob_file_deleted(self, info: cambium.BlobFileDeletionInfo) -> None:
        self.events.append(("blob_deleted", info))

    def first(self, name: str) -> Any:
        return next(info for event, info in self.events if event == name)


def test_listener(path: Path, unraisable: Unraisable) -> None:
    listener = Collecting()
    options = cambium.Options(
        create_if_missing=True,
        index_type=cambium.IndexType.LSM,
        write_buffer_size=1 << 16,
        blob_file_size=1 << 16,
        max_write_buffer_number=2,
        min_space_limit=0,
    )
    options.add_listener(listener)
    broken = Broken()
    broken.answer = cambium.Decision.KEEP
    options.compaction_filter = broken
    with cambium.DB(path, options=options) as db:
        for i in range(3000):
            db.put(b"%d" % (i % 500), b"v" * 1000)
        db.compact_range(
            blob_garbage_collection_policy=cambium.BlobGcPolicy.FORCE, blob_garbage_collection_age_cutoff=1.0
        )
        broken.answer = None
        for i in range(1000):
            if any(event == "error" for event, _ in listener.events):
                break
            db.put(b"%d" % (i % 10), b"1")
            db.flush()
        broken.answer = cambium.Decision.KEEP
        db.compact_range()
    names = {event for event, _ in listener.events}
    assert names >= {
        "flush_begin",
        "flush_completed",
        "compaction_begin",
        "compaction_completed",
        "log_gc",
        "sealed",
        "error",
        "table_started",
        "table_created",
        "table_deleted",
        "blob_started",
        "blob_created",
        "blob_deleted",
    }
    flush = listener.first("flush_completed")
    assert flush.db_name == str(path)
    assert flush.cf_name == "default"
    assert isinstance(flush.flush_reason, cambium.FlushReason)
    assert flush.status is None
    assert all(Path(file).is_absolute() for file in flush.output_files)
    error = listener.first("error")
    assert isinstance(error.status, cambium.InvalidArgumentError)
    assert error.reason is cambium.BackgroundErrorReason.COMPACTION
    created = listener.first("blob_created")
    assert isinstance(created.reason, cambium.BlobFileReason)
    assert created.file_number > 0


def test_stalls_are_reported(path: Path) -> None:
    listener = Collecting()
    options = cambium.Options(
        create_if_missing=True, write_buffer_size=4096, max_write_buffer_number=2, max_space_amplification=0.0
    )
    options.add_listener(listener)
    with cambium.DB(path, options=options) as db:
        for i in range(20_000):
            db.put(b"%d" % i, b"v" * 100)
            if any(event == "stall" for event, _ in listener.events):
                break
    stall = listener.first("stall")
    assert isinstance(stall.cause, cambium.WriteStallCause)
    assert isinstance(stall.cur, cambium.WriteStallCondition)


def test_listener_may_read_and_may_fail(path: Path, unraisable: Unraisable) -> None:
    read: list[bytes | None] = []

    class Reading(cambium.EventListener):
        def on_flush_completed(self, info: cambium.FlushJobInfo) -> None:
            read.append(opened[0].get(b"k"))
            opened[0].close()

    opened: list[cambium.DB] = []
    options = cambium.Options(create_if_missing=True)
    options.add_listener(Reading())
    with cambium.DB(path, options=options) as db:
        opened.append(db)
        db.put(b"k", b"v")
        db.flush()
        db.wait_for_compact()
        assert not db.closed
    assert read == [b"v"]
    assert "must not close" in str(unraisable.errors[0])


# ---- Loggers ----


def test_logger(path: Path, unraisable: Unraisable) -> None:
    lines: list[tuple[int, str]] = []
    options = cambium.Options(create_if_missing=True)
    options.set_logger(lambda level, line: lines.append((level, line)), cambium.LogLevel.DEBUG)
    with cambium.DB(path, options=options):
        pass
    assert lines
    assert not (path / "LOG").exists()
    assert not unraisable.errors

    def fail(level: int, line: str) -> None:
        raise ZeroDivisionError

    options.set_logger(fail)
    with cambium.DB(path, options=options):
        pass
    assert unraisable.errors
    options.set_logger(None)
    with cambium.DB(path, options=options):
        pass
    assert not (path / "LOG").exists()
    with pytest.raises(TypeError):
        options.set_logger(1)  # type: ignore[arg-type]


# ---- Lifetimes ----


def test_callbacks_live_as_long_as_the_database(path: Path) -> None:
    order = cambium.Comparator(case_insensitive, "c")
    listener = Collecting()
    reference = weakref.ref(listener)
    options = cambium.Options(create_if_missing=True)
    options.comparator = order
    options.add_listener(listener)
    options.compaction_filter = Expiring()
    db = cambium.DB(path, options=options)
    del options, order, listener
    gc.collect()
    for i in range(100):
        db.put(b"%d" % i, b"old")
    db.compact_range()
    assert list(db) == []
    assert reference() is not None
    db.close()
    del db
    gc.collect()
    assert reference() is None


def test_cycle_is_collected(path: Path) -> None:
    """A callback that refers to its database does not keep it open for ever."""

    class Referring(cambium.EventListener):
        db: cambium.DB

        def on_flush_begin(self, info: cambium.FlushJobInfo) -> None:
            self.db.get(b"k")

    def make() -> None:
        listener = Referring()
        options = cambium.Options(create_if_missing=True)
        options.add_listener(listener)
        listener.db = cambium.DB(path, options=options)
        listener.db.put(b"k", b"v")
        listener.db.flush()

    make()
    gc.collect()
    with cambium.DB(path) as db:
        assert db.get(b"k") == b"v"


def test_objects_that_are_freed_in_a_callback(path: Path, tmp_path: Path) -> None:
    """A garbage collection may run in a comparator, where the library must not be called."""
    held: list[Any] = []

    def compare(a: bytes, b: bytes) -> int:
        held.clear()
        return (a > b) - (a < b)

    with cambium.DB(path, create_if_missing=True, comparator=compare, comparator_name="freeing") as db:
        for i in range(20):
            db.put(b"%d" % i, b"v" * 5000)
        for _ in range(3):
            snapshot = db.snapshot()
            other = cambium.DB(tmp_path / "other", create_if_missing=True)
            other.put(b"k", b"v")
            objects: list[Any] = [
                other,
                other.iterator(),
                other.snapshot(),
                db.iterator(),
                snapshot.iterator(),
                snapshot.raw_iterator(),
                snapshot,
                db.get_pinned(b"1", pin_mapped_values=True),
                cambium.AsyncReader(db),
                cambium.AsyncReader(other),
            ]
            del snapshot, other
            held.extend(objects)
            objects.clear()
            assert db.get(b"1") == b"v" * 5000
            assert not held
            with cambium.DB(tmp_path / "other") as again:
                assert again.get(b"k") == b"v"


def test_database_that_is_freed_in_its_own_callback(path: Path, unraisable: Unraisable) -> None:
    class Freeing(cambium.EventListener):
        def on_flush_completed(self, info: cambium.FlushJobInfo) -> None:
            held.clear()

    held: list[Any] = []
    options = cambium.Options(create_if_missing=True)
    options.add_listener(Freeing())
    db = cambium.DB(path, options=options)
    db.put(b"k", b"v")
    held.append(db)
    family = db.column_family("default")
    del db
    family.flush()
    del family
    gc.collect()
    with cambium.DB(path) as db:
        assert db.get(b"k") == b"v"
    assert not unraisable.errors
