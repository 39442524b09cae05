"""Transactions, and batches with an index."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Callable

import pytest

import cambium


@pytest.fixture
def locking(path: Path) -> Iterator[cambium.TransactionDB]:
    with cambium.TransactionDB(path, create_if_missing=True, default_lock_timeout=0.001) as opened:
        yield opened


def test_commit_and_rollback(db: cambium.DB) -> None:
    with db.transaction(sync=True) as txn:
        txn.put(b"a", b"1")
        txn.put(b"b", b"1")
        txn.delete(b"b")
        assert (txn.get(b"a"), txn.get(b"b"), txn.get(b"b", b"none")) == (b"1", None, b"none")
        assert db.get(b"a") is None
        assert (txn.num_keys, txn.num_puts, txn.num_deletes) == (2, 2, 1)
        assert txn.id > 0
        assert txn.elapsed_ms < 1_000_000
        assert not txn.closed
    assert txn.closed
    assert db.get(b"a") == b"1"
    with pytest.raises(ZeroDivisionError), db.transaction() as txn:
        txn.put(b"a", b"2")
        raise ZeroDivisionError
    assert txn.closed
    assert db.get(b"a") == b"1"
    with db.transaction() as txn:  # ends before its block does
        txn.put(b"a", b"3")
        txn.rollback()
    assert db.get(b"a") == b"1"
    txn = db.transaction()
    txn.put(b"a", b"4")
    txn.commit()
    txn.rollback()  # does nothing
    assert db.get(b"a") == b"4"


def test_of_two_transactions_one_commits(db: cambium.DB) -> None:
    first = db.transaction()
    second = db.transaction()
    assert first.get_for_update(b"a") is None
    assert first.get_for_update(b"b", b"none", exclusive=False) == b"none"
    first.put(b"a", b"1")
    second.put(b"a", b"2")
    first.commit()
    with pytest.raises(cambium.BusyError):
        second.commit()
    assert isinstance(cambium.BusyError("x"), cambium.CONFLICTS)
    assert not second.closed
    second.rollback()
    assert db.get(b"a") == b"1"
    # A commit that fails at the end of a block ends the transaction too.
    with pytest.raises(cambium.BusyError), db.transaction() as txn:
        txn.put(b"a", b"3")
        db.put(b"a", b"others")
    assert txn.closed
    with db.transaction() as txn:
        txn.get_for_update(b"a")
        txn.undo_get_for_update(b"a")
        db.put(b"a", b"others")
        txn.put(b"b", b"1")
    assert db.get(b"b") == b"1"


def test_after_the_end(db: cambium.DB) -> None:
    txn = db.transaction()
    iterator = txn.iterator()
    txn.commit()
    calls: list[Callable[[], Any]] = [
        txn.commit,
        txn.set_snapshot,
        txn.clear_snapshot,
        txn.set_save_point,
        txn.rollback_to_save_point,
        txn.pop_save_point,
        txn.iterator,
        lambda: txn.put(b"a", b"1"),
        lambda: txn.delete(b"a"),
        lambda: txn.get(b"a"),
        lambda: txn.get_for_update(b"a"),
        lambda: txn.undo_get_for_update(b"a"),
        lambda: txn.id,
        lambda: txn.name,
        lambda: txn.has_lost_locks,
        lambda: txn.snapshot_sequence_number,
        lambda: txn.write(db.write_batch()),
        lambda: next(iterator),
    ]
    for call in calls:
        with pytest.raises(cambium.ClosedError):
            call()
    txn.rollback()


def test_closing_the_database(path: Path) -> None:
    db = cambium.DB(path, create_if_missing=True)
    txn = db.transaction()
    txn.put(b"a", b"1")
    iterator = txn.iterator()
    assert next(iterator) == (b"a", b"1")
    batch = db.indexed_batch()
    over = batch.iterator()
    db.close()
    assert txn.closed
    assert batch.closed
    for call in (txn.commit, txn.iterator, lambda: next(iterator), lambda: next(over), batch.write, db.transaction):
        with pytest.raises(cambium.ClosedError):
            call()
    txn.rollback()
    batch.close()
    with cambium.DB(path) as db:
        assert db.get(b"a") is None
        db.transaction().put(b"a", b"1")  # a transaction that nothing refers to is rolled back
        gc.collect()
        txn = db.transaction()
        del db
    with cambium.DB(path, read_only=True) as db, pytest.raises(cambium.NotSupportedError):
        db.transaction()


@pytest.mark.parametrize("kind", [cambium.DB, cambium.TransactionDB])
def test_closing_the_database_within_a_block(kind: type[cambium.DB], path: Path) -> None:
    def write_and_close(txn: cambium.Transaction) -> None:
        txn.put(b"a", b"1")
        thread = threading.Thread(target=txn_db.close)
        thread.start()
        thread.join()
        assert txn.closed

    txn_db = kind(path, create_if_missing=True)
    with pytest.raises(cambium.ClosedError), txn_db.transaction() as txn:
        write_and_close(txn)
    txn_db = kind(path)
    with pytest.raises(cambium.ClosedError):
        txn_db.transact(write_and_close)
    txn_db = kind(path)
    with pytest.raises(ZeroDivisionError), txn_db.transaction() as txn:
        write_and_close(txn)
        raise ZeroDivisionError
    # What was rolled back has nothing to commit.
    txn_db = kind(path)
    with txn_db.transaction() as txn:
        write_and_close(txn)
        txn.rollback()
    txn_db = kind(path)
    with txn_db.transaction() as txn:
        txn.put(b"b", b"1")
        txn.commit()
        txn_db.close()
    with kind(path) as txn_db:
        assert list(txn_db.iterator()) == [(b"b", b"1")]


def test_snapshots_and_save_points(db: cambium.DB) -> None:
    with db.transaction() as txn:
        begun = txn.snapshot_sequence_number
        assert begun is not None
        db.put(b"a", b"1")
        assert txn.get(b"a") is None
        txn.set_snapshot()
        now = txn.snapshot_sequence_number
        assert now is not None
        assert now > begun
        assert txn.get(b"a") == b"1"
        txn.set_save_point()
        txn.put(b"b", b"1")
        txn.set_save_point()
        txn.delete(b"a")
        txn.rollback_to_save_point()
        assert txn.get(b"a") == b"1"
        txn.pop_save_point()
        for call in (txn.pop_save_point, txn.rollback_to_save_point):
            with pytest.raises(cambium.NotFoundError):
                call()
        txn.clear_snapshot()
        assert txn.snapshot_sequence_number is None
        db.put(b"a", b"2")
        assert txn.get(b"a") == b"2"
    with db.transaction(snapshot=False) as txn:
        assert txn.snapshot_sequence_number is None
    with db.transaction(read_newest=True) as txn:
        db.put(b"a", b"3")
        assert txn.get(b"a") == b"3"


def test_families_and_prefixes(db: cambium.DB, tmp_path: Path) -> None:
    family = db.create_column_family("x")
    trees = db.prefixed_db(b"tree-")
    with trees.transaction() as txn:
        txn.put(b"oak", b"1")
        txn.put(b"oak", b"in x", column_family=family)
        txn.put(b"a", b"1", column_family=db)
        assert txn.get(b"oak") == b"1"
        assert txn.get(b"oak", column_family=family) == b"in x"
        assert txn.get_for_update(b"a", column_family=db) == b"1"
        assert list(txn.iterator()) == [(b"oak", b"1")]
        assert list(txn.iterator(column_family=family)) == [(b"oak", b"in x")]
        assert list(txn.iterator(column_family=db, include_value=False)) == [b"a", b"tree-oak"]
        batch = db.write_batch()
        batch.put(b"b", b"2")
        txn.write(batch)
        txn.put(b"y1", b"1", column_family=db)
        batch.delete_range(b"y", b"z")
        txn.write(batch)
        assert txn.get(b"y1", column_family=db) is None
        with cambium.DB(tmp_path / "other", create_if_missing=True) as other:
            for call in (
                lambda: txn.put(b"a", b"1", column_family=other),
                lambda: txn.iterator(column_family=other),
                lambda: txn.write(other.write_batch()),
            ):
                with pytest.raises(ValueError, match="another database"):
                    call()
        with pytest.raises(TypeError):
            txn.put(b"a", b"1", column_family="x")  # type: ignore[arg-type]
        with pytest.raises(TypeError):
            txn.write(1)  # type: ignore[arg-type]
    assert db.get(b"tree-oak") == b"1"
    assert family.get(b"oak") == b"in x"
    assert db.get(b"b") == b"2"


def test_iterators(db: cambium.DB) -> None:
    for key in (b"a", b"c", b"e"):
        db.put(key, b"1")
    with db.transaction() as txn:
        txn.put(b"b", b"2")
        txn.delete(b"c")
        assert list(txn.iterator()) == [(b"a", b"1"), (b"b", b"2"), (b"e", b"1")]
        assert list(txn.iterator(reverse=True, include_value=False)) == [b"e", b"b", b"a"]
        assert list(txn.iterator(start=b"b", stop=b"e")) == [(b"b", b"2")]
        # It turns at a key that the transaction has deleted meanwhile.
        iterator = txn.iterator(include_value=False)
        iterator.seek(b"b")
        assert next(iterator) == b"b"
        assert iterator.prev() == b"b"
        txn.delete(b"b")
        assert iterator.prev() == b"a"
        txn.delete(b"a")
        assert next(iterator) == b"a"  # it was read before
        assert next(iterator) == b"e"
        # It stands at an entry that is gone when it is read.
        txn.set_save_point()
        txn.put(b"d", b"4" * 100)
        iterator.seek(b"d")
        txn.rollback_to_save_point()
        txn.put(b"dd", b"5")
        assert next(iterator) == b"dd"
        with pytest.raises(TypeError):
            txn.iterator(nonsense=1)  # type: ignore[call-overload]
        with txn.iterator() as closed:
            pass
        assert closed.closed


def add_one(txn: cambium.Transaction) -> int:
    count = int(txn.get_for_update(b"counter", b"0")) + 1
    txn.put(b"counter", b"%d" % count)
    return count


@pytest.mark.parametrize("kind", [cambium.DB, cambium.TransactionDB])
def test_threads_count(kind: type[cambium.DB], path: Path) -> None:
    with kind(path, create_if_missing=True) as db:
        threads = [
            threading.Thread(target=lambda: [db.transact(add_one, attempts=1000) for _ in range(25)]) for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert db.get(b"counter") == b"100"


def test_attempts(db: cambium.DB) -> None:
    calls = 0

    def conflict(txn: cambium.Transaction) -> None:
        nonlocal calls
        calls += 1
        txn.put(b"a", b"1")
        db.put(b"a", b"others")

    with pytest.raises(cambium.BusyError):
        db.transact(conflict, attempts=3, sync=True)
    assert calls == 3
    assert db.transact(add_one) == 1


def test_many_attempts(db: cambium.DB, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = 0
    pauses: list[float] = []
    monkeypatch.setattr("time.sleep", pauses.append)

    def conflict(txn: cambium.Transaction) -> None:
        nonlocal calls
        calls += 1
        raise cambium.BusyError

    with pytest.raises(cambium.BusyError):
        db.transact(conflict, attempts=2000)
    assert calls == 2000
    assert len(pauses) == 1999
    assert max(pauses) <= 0.02


def test_two_threads_in_one_transaction(db: cambium.DB) -> None:
    """One of them gets an error, and nothing breaks."""
    txn = db.transaction()
    iterator = txn.iterator()
    errors: list[Exception] = []

    def use(call: Callable[[], Any]) -> None:
        for _ in range(300):
            try:
                call()
            except (cambium.Error, StopIteration) as error:
                errors.append(error)

    calls: list[Callable[[], Any]] = [
        lambda: txn.put(b"a", b"v" * 1000),
        lambda: txn.get(b"a"),
        lambda: next(iterator),
        lambda: txn.iterator().close(),
    ]
    threads = [threading.Thread(target=use, args=(call,)) for call in calls]
    threads.append(threading.Thread(target=db.close))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert db.closed
    for error in errors:
        assert isinstance(error, (cambium.ClosedError, StopIteration)) or "in use" in str(error)


def test_locks(locking: cambium.TransactionDB) -> None:
    first = locking.transaction()
    first.name = "first"
    assert first.name == "first"
    first.put(b"a", b"1")
    second = locking.transaction(lock_timeout=0.001)
    with pytest.raises(cambium.InvalidArgumentError):
        second.name = "first"
    with pytest.raises(TypeError):
        del second.name
    with pytest.raises(cambium.TimedOutError):
        second.put(b"a", b"2")
    with pytest.raises(cambium.TimedOutError):
        locking.put(b"a", b"2")
    with pytest.raises(cambium.TimedOutError):
        locking.delete_range(b"a", b"b")
    first.commit()
    second.put(b"a", b"2")
    second.commit()

    first, second = locking.transaction(), locking.transaction(lock_timeout=0)
    assert first.get_for_update(b"a", exclusive=False) == b"2"
    assert second.get_for_update(b"a", exclusive=False) == b"2"
    with pytest.raises(cambium.TimedOutError):
        second.get_for_update(b"a")
    first.rollback()
    second.rollback()

    with locking.transaction(max_write_batch_size=100) as limited, pytest.raises(cambium.AbortedError):
        limited.put(b"large", b"v" * 200)
    expired = locking.transaction(expiration=0.001)
    while expired.elapsed_ms < 5:
        pass
    assert not expired.has_lost_locks
    with pytest.raises(cambium.ExpiredError):
        expired.commit()
    expired.rollback()


@pytest.mark.parametrize("seconds", [float("nan"), float("inf"), float("-inf")])
def test_times_are_finite(seconds: float, locking: cambium.TransactionDB, path: Path) -> None:
    with pytest.raises(ValueError, match="finite"):
        locking.transaction(lock_timeout=seconds)
    with pytest.raises(ValueError, match="finite"):
        locking.transaction(expiration=seconds)
    with pytest.raises(ValueError, match="finite"):
        cambium.TransactionDB(path, transaction_lock_timeout=seconds)
    with pytest.raises(ValueError, match="finite"):
        cambium.TransactionDB(path, default_lock_timeout=seconds)


def test_long_times(path: Path) -> None:
    with (
        cambium.TransactionDB(
            path, create_if_missing=True, transaction_lock_timeout=1e308, default_lock_timeout=1e308
        ) as db,
        db.transaction(lock_timeout=1e308, expiration=1e308) as txn,
    ):
        txn.put(b"a", b"1")


def test_deadlock(locking: cambium.TransactionDB) -> None:
    first, second = (locking.transaction(deadlock_detect=True, lock_timeout=-1) for _ in range(2))
    first.put(b"a", b"1")
    second.put(b"b", b"1")
    errors: list[cambium.Error] = []

    def want(txn: cambium.Transaction, key: bytes) -> None:
        try:
            txn.put(key, b"2")
        except cambium.Error as error:
            errors.append(error)
            txn.rollback()

    thread = threading.Thread(target=want, args=(first, b"b"))
    thread.start()
    want(second, b"a")
    thread.join()
    assert [isinstance(error, cambium.BusyError) for error in errors] == [True]


def test_opening_with_locks(path: Path) -> None:
    with cambium.TransactionDB(path, create_if_missing=True, max_num_locks=1, num_stripes=2) as db:
        family = db.create_column_family("x")
        with db.transaction() as txn:
            txn.put(b"a", b"1", column_family=family)
            with pytest.raises(cambium.BusyError):
                txn.put(b"b", b"1", column_family=family)
    with cambium.TransactionDB(path, column_families=["x"], transaction_lock_timeout=-1) as db:
        assert db.column_family("x").get(b"a") == b"1"
        with pytest.raises(cambium.LockedError):
            cambium.TransactionDB(path, column_families=["x"])
    with pytest.raises(ValueError, match="read"):
        cambium.TransactionDB(path, read_only=True)


def begin_named(db: cambium.TransactionDB, name: str, **options: Any) -> cambium.Transaction:
    txn = db.transaction(**options)
    txn.name = name
    txn.put(b"a", name.encode())
    return txn


def names(transactions: list[cambium.Transaction]) -> list[str]:
    return [txn.name for txn in transactions]


def test_prepare(locking: cambium.TransactionDB) -> None:
    txn = begin_named(locking, "t", sync=True)
    assert not txn.is_prepared
    txn.prepare()
    assert txn.is_prepared
    assert not txn.closed
    assert (txn.get(b"a"), list(txn.iterator())) == (b"t", [(b"a", b"t")])
    assert locking.get(b"a") is None
    calls: list[Callable[[], Any]] = [
        txn.prepare,
        lambda: txn.put(b"b", b"1"),
        lambda: txn.delete(b"a"),
        lambda: txn.get_for_update(b"c"),
        txn.rollback_to_save_point,
    ]
    for call in calls:
        with pytest.raises(cambium.InvalidArgumentError, match="prepared"):
            call()
    with pytest.raises(cambium.TimedOutError):
        locking.put(b"a", b"others")
    assert locking.prepared_transactions() == []  # it has its object
    txn.commit()
    assert txn.closed
    assert locking.get(b"a") == b"t"
    with pytest.raises(cambium.ClosedError):
        _ = txn.is_prepared
    with pytest.raises(cambium.ClosedError):
        txn.prepare()

    txn = begin_named(locking, "t")
    txn.prepare()
    iterator = txn.iterator()
    txn.rollback()
    txn.rollback()
    assert txn.closed
    with pytest.raises(cambium.ClosedError):
        next(iterator)
    locking.put(b"a", b"others")


def test_what_cannot_be_prepared(locking: cambium.TransactionDB, tmp_path: Path) -> None:
    with locking.transaction() as txn, pytest.raises(cambium.InvalidArgumentError, match="name"):
        txn.prepare()
    with cambium.DB(tmp_path / "optimistic", create_if_missing=True) as db:
        with db.transaction() as txn, pytest.raises(cambium.InvalidArgumentError, match="optimistic"):
            txn.prepare()
        assert not hasattr(db, "prepared_transactions")
    txn = begin_named(locking, "t", skip_prepare=False)
    with pytest.raises(cambium.InvalidArgumentError, match="skip_prepare"):
        txn.commit()
    txn.prepare()
    txn.commit()
    assert locking.get(b"a") == b"t"


@pytest.mark.parametrize("commits", [True, False])
def test_prepared_transactions_after_an_open(commits: bool, path: Path) -> None:
    with cambium.TransactionDB(path, create_if_missing=True, default_lock_timeout=0) as db:
        txn = begin_named(db, "t")
        txn.delete(b"b")
        txn.prepare()
    assert txn.closed
    txn.rollback()  # does nothing: it has ended with its database
    for _ in range(2):  # what is left alone is found again
        with cambium.TransactionDB(path, default_lock_timeout=0) as db:
            (txn,) = db.prepared_transactions()
            assert db.prepared_transactions() == []
            assert (txn.name, txn.is_prepared, txn.num_puts, txn.num_deletes) == ("t", True, 1, 1)
    with cambium.TransactionDB(path, default_lock_timeout=0) as db:
        with pytest.raises(cambium.LockTimeoutError):
            db.put(b"b", b"others")
        (txn,) = db.prepared_transactions()
        assert txn.get(b"a") == b"t"
        assert db.get(b"a") is None
        if commits:
            txn.commit()
        else:
            txn.rollback()
        db.put(b"b", b"others")
        assert db.get(b"a") == (b"t" if commits else None)
    with cambium.TransactionDB(path) as db:
        assert db.prepared_transactions() == []
    with pytest.raises(cambium.ClosedError):
        db.prepared_transactions()


def test_a_prepared_transaction_that_is_freed_remains_prepared(path: Path) -> None:
    with cambium.TransactionDB(path, create_if_missing=True, default_lock_timeout=0) as db:
        for name in ("second", "first"):
            txn = db.transaction()
            txn.name = name
            txn.put(name.encode(), b"1")
            txn.prepare()
        del txn
        gc.collect()
        with pytest.raises(cambium.LockTimeoutError):
            db.put(b"first", b"others")
    with cambium.TransactionDB(path) as db:
        transactions = db.prepared_transactions()
        assert names(transactions) == ["first", "second"]
        transactions.pop(0).commit()
        del transactions
    with cambium.TransactionDB(path) as db:
        assert names(db.prepared_transactions()) == ["second"]
        assert db.get(b"first") == b"1"


def test_a_block_ends_a_prepared_transaction(path: Path) -> None:
    def fail(txn: cambium.Transaction) -> None:
        txn.name = "t"
        txn.put(b"a", b"2")
        txn.prepare()
        raise ZeroDivisionError

    with cambium.TransactionDB(path, create_if_missing=True, default_lock_timeout=0) as db:
        with begin_named(db, "t") as txn:
            txn.prepare()
        assert db.get(b"a") == b"t"
        with pytest.raises(ZeroDivisionError), db.transaction() as txn:
            fail(txn)
        assert txn.closed
        with pytest.raises(ZeroDivisionError):
            db.transact(fail)
        db.put(b"a", b"others")
    with cambium.TransactionDB(path) as db:
        assert db.prepared_transactions() == []


def test_a_prepared_transaction_whose_commit_fails_remains_prepared(path: Path) -> None:
    with cambium.TransactionDB(path, create_if_missing=True) as db:
        family = db.create_column_family("x")
        with pytest.raises(cambium.Error), begin_named(db, "t") as txn:
            txn.put(b"a", b"1", column_family=family)
            txn.prepare()
            db.drop_column_family(family)
        assert txn.is_prepared
        with pytest.raises(cambium.Error):
            txn.commit()
        assert txn.is_prepared
    with cambium.TransactionDB(path) as db:
        (txn,) = db.prepared_transactions()
        with pytest.raises(cambium.InvalidArgumentError):
            txn.commit()
        txn.rollback()
    with cambium.TransactionDB(path) as db:
        assert db.prepared_transactions() == []


def test_a_rollback_that_fails_leaves_the_transaction_prepared(path: Path) -> None:
    """What takes the room for the rollback away is a limit of the size of files."""
    code = """
import resource, signal, sys
import cambium

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
db = cambium.TransactionDB(sys.argv[1], create_if_missing=True)
txn = db.transaction()
txn.name = "t"
txn.put(b"a", b"1")
txn.prepare()
resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
for call in (txn.rollback, lambda: txn.__exit__(ZeroDivisionError, ZeroDivisionError(), None)):
    try:
        call()
        sys.exit(1)
    except cambium.Error:
        assert not txn.closed
        assert txn.is_prepared
"""
    subprocess.run([sys.executable, "-c", code, str(path)], check=True, timeout=60)
    with cambium.TransactionDB(path) as db:
        assert names(db.prepared_transactions()) == ["t"]


def test_fork(db: cambium.DB) -> None:
    txn = db.transaction()
    txn.put(b"a", b"1")
    child = os.fork()
    if child == 0:
        try:
            txn.put(b"b", b"1")
        except cambium.NotSupportedError:
            txn.rollback()
            os._exit(0)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    txn.commit()
    assert db.get(b"a") == b"1"


def test_prepared_transactions_in_a_fork(path: Path) -> None:
    with cambium.TransactionDB(path, create_if_missing=True) as db:
        txn = begin_named(db, "t")
        txn.prepare()
        child = os.fork()
        if child == 0:
            for call in (db.prepared_transactions, txn.commit, txn.prepare):
                try:
                    call()
                    os._exit(1)
                except cambium.NotSupportedError:
                    pass
            txn.rollback()  # does nothing
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        txn.commit()
        assert db.get(b"a") == b"t"


def test_indexed_batch(db: cambium.DB) -> None:
    family = db.create_column_family("x")
    db.put(b"a", b"old")
    db.put(b"b", b"old")
    with db.indexed_batch() as batch:
        batch.put(b"a", b"new")
        batch.put(b"a", b"in x", column_family=family)
        assert (batch.get(b"a"), batch.get(b"b"), batch.get(b"c", b"none")) == (b"new", b"old", b"none")
        assert (batch.get_from_batch(b"a"), batch.get_from_batch(b"b", b"none")) == (b"new", b"none")
        assert batch.get(b"a", column_family=family) == b"in x"
        assert list(batch.iterator()) == [(b"a", b"new"), (b"b", b"old")]
        assert len(batch) == 2
        batch.set_save_point()
        batch.delete(b"a")
        batch.delete_range(b"a", b"z", column_family=family)
        assert batch.get(b"a") is None
        assert batch.get(b"a", column_family=family) is None
        batch.rollback_to_save_point()
        assert batch.get(b"a") == b"new"
        with pytest.raises(cambium.NotFoundError):
            batch.pop_save_point()
        batch.write(sync=True)
        assert db.get(b"a") == b"new"
        batch.clear()
        assert len(batch) == 0
        batch.put(b"long" * 20_000, b"")
        refused: list[Callable[[], Any]] = [
            batch.write,
            lambda: batch.get(b"a"),
            lambda: batch.get_from_batch(b"a"),
        ]
        for call in refused:
            with pytest.raises(cambium.InvalidArgumentError):
                call()
    assert batch.closed
    batch.close()
    with pytest.raises(cambium.ClosedError):
        batch.put(b"a", b"1")
    with pytest.raises(cambium.ClosedError):
        len(batch)
    with db.indexed_batch(max_bytes=10) as small:
        small.put(b"a", b"v" * 100)
        with pytest.raises(cambium.AbortedError):
            small.write()
