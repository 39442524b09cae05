"""AsyncReader, and the package for asyncio."""

from __future__ import annotations

import asyncio
import select
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import cambium
from cambium import aio

from .conftest import Unraisable


def run(coroutine: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(coroutine, 60))


# ---- AsyncReader ----


@pytest.mark.parametrize("use_io_uring", [True, False])
def test_reader(path: Path, use_io_uring: bool) -> None:
    with cambium.DB(path, create_if_missing=True) as db:
        for i in range(100):
            db.put(b"%d" % i, b"v" * 1000 + b"%d" % i)
    results: dict[int, tuple[bytes | None, Exception | None]] = {}
    with (
        cambium.DB(path, allow_mmap_reads=False) as db,
        cambium.AsyncReader(db, depth=10, bytes_max=1 << 20, use_io_uring=use_io_uring) as reader,
    ):
        for i in range(101):

            def done(value: bytes | None, error: Exception | None, i: int = i) -> None:
                results[i] = (value, error)

            while not reader.get(db, b"%d" % i, done, verify_checksums=True, fill_cache=False):
                assert reader.in_flight == 10
                assert reader.poll(1, 10.0) >= 1
        reader.submit()
        fd = reader.event_fd()
        while reader.in_flight > 0:
            select.select([fd], [], [], 5)
            reader.poll(0, 0)
    assert results.pop(100) == (None, None)
    assert results == {i: (b"v" * 1000 + b"%d" % i, None) for i in range(100)}


def test_reader_of_parts(db: cambium.DB) -> None:
    family = db.create_column_family("a")
    family.put(b"pk", b"1")
    snapshot = db.snapshot()
    family.put(b"pk", b"2")
    reader = cambium.AsyncReader(db)
    results: list[Any] = []
    reader.get(snapshot.of(family), b"pk", lambda value, error: results.append(value))
    reader.get(family.prefixed_db(b"p"), b"k", lambda value, error: results.append(value))
    snapshot.close()
    with pytest.raises(ValueError, match="not a number"):
        reader.poll(2, float("nan"))
    assert reader.poll(2) == 2
    assert sorted(results) == [b"1", b"2"]
    with pytest.raises(cambium.ClosedError):
        reader.get(snapshot, b"k", print)
    assert reader.in_flight == 0


def test_reader_errors(db: cambium.DB, tmp_path: Path, unraisable: Unraisable) -> None:
    db.put(b"k", b"v")
    reader = cambium.AsyncReader(db)
    for wrong in ((db, "k", print), (db, b"k", 1), (1, b"k", print)):
        with pytest.raises(TypeError):
            reader.get(*wrong)
    with pytest.raises(cambium.InvalidArgumentError):
        cambium.AsyncReader(db, depth=0)
    with cambium.DB(tmp_path / "other", create_if_missing=True) as other, pytest.raises(ValueError, match="another"):
        reader.get(other, b"k", print)

    def fail(value: object, error: object) -> None:
        raise ZeroDivisionError

    def use(value: object, error: object) -> None:
        reader.get(db, b"k", fail)

    reader.get(db, b"k", fail)
    reader.get(db, b"k", use)
    assert reader.poll(2) == 2
    kinds = {type(error) for error in unraisable.errors}
    assert kinds == {ZeroDivisionError, cambium.Error}


def test_close_with_reads_in_flight(path: Path) -> None:
    db = cambium.DB(path, create_if_missing=True)
    db.put(b"k", b"v")
    results: list[Any] = []
    reader = cambium.AsyncReader(db)
    reader.get(db, b"k", lambda value, error: results.append((value, error)))
    db.close()
    assert reader.closed
    assert len(results) == 1
    value, error = results[0]
    assert value == b"v" or isinstance(error, cambium.AbortedError)


# ---- asyncio ----


def test_store(path: Path, tmp_path: Path) -> None:
    async def main() -> None:
        async with await aio.AsyncDB.open(path, create_if_missing=True) as db:
            await db.put(b"a", b"1", sync=True)
            await db.put(bytearray(b"b"), b"2")
            assert await db.get(b"a") == b"1"
            assert await db.get(b"none") is None
            assert await db.get(b"none", b"default") == b"default"
            assert await db.multi_get([b"a", b"none", b"b"]) == [b"1", None, b"2"]
            await db.delete(b"b")
            batch = db.write_batch(sync=True)
            for i in range(1000):
                batch.put(b"k%03d" % i, b"v" * i)
            await db.write(batch)
            assert [entry async for entry in db.iterator(prefix=b"k", include_value=False, chunk=7)] == [
                b"k%03d" % i for i in range(1000)
            ]
            assert [key async for key, _ in db] == [b"a"] + [b"k%03d" % i for i in range(1000)]
            async with db.iterator(reverse=True) as entries:
                assert (await entries.__anext__())[0] == b"k999"
            async with await db.snapshot() as snapshot:
                await db.put(b"a", b"2")
                assert await snapshot.get(b"a") == b"1"
                keys = [key async for key, _ in snapshot]
                assert keys == [b"a"] + [b"k%03d" % i for i in range(1000)]
            with pytest.raises(cambium.ClosedError):
                await snapshot.get(b"a")
            assert await db.put_if_absent(b"c", b"1", sync=True)
            assert not await db.compare_and_set(b"c", b"0", b"2")
            assert await db.compare_and_set(b"c", b"1", b"2")
            conditions = db.write_conditions()
            conditions.has_value(b"c", b"2")
            batch.clear()
            batch.put(b"c", b"3")
            assert await db.write_if(batch, conditions)
            assert not await db.write_if(batch, conditions)
            assert await db.compare_and_delete(b"c", b"3")
            await db.delete_range(b"k", b"l")
            await db.flush()
            await db.compact_range()
            await db.flush_wal()
            assert await db.get_property("cambium.num-runs") is not None
            view = db.prefixed_db(b"p")
            await view.put(b"k", b"3")
            assert await view.get(b"k") == b"3"
            assert await db.get(b"pk") == b"3"
            family = await db.create_column_family("f")
            await family.put(b"k", b"4")
            assert await db.column_family("f").get(b"k") == b"4"
            await db.checkpoint(tmp_path / "copy")
            assert db.sync.get(b"a") == b"2"
        assert db.closed
        await db.close()
        for call in (db.get(b"a"), db.put(b"a", b"1"), db.multi_get([b"a"]), db.flush()):
            with pytest.raises(cambium.ClosedError):
                await call
        with pytest.raises(cambium.ClosedError):
            db.iterator()

    run(main())


async def fill(db: aio.AsyncDB, count: int) -> None:
    batch = db.write_batch()
    for i in range(count):
        batch.put(b"%04d" % i, b"v")
    await db.write(batch)


def test_closed_iterator(path: Path) -> None:
    async def main() -> None:
        async with await aio.AsyncDB.open(path, create_if_missing=True) as db:
            await fill(db, 1000)
            begun = db.iterator()
            assert (await begun.__anext__())[0] == b"0000"
            fresh = db.iterator()
            ended = db.iterator(start=b"0999", include_value=False)
            assert [key async for key in ended] == [b"0999"]
            with pytest.raises(StopAsyncIteration):
                await ended.__anext__()
            for entries in (begun, fresh, ended):
                await entries.aclose()
                await entries.aclose()
                for _ in range(2):
                    with pytest.raises(cambium.ClosedError, match="iterator is closed"):
                        await entries.__anext__()
            left = db.iterator()
            assert (await left.__anext__())[0] == b"0000"  # further entries have been fetched
            never_begun = db.iterator()
            snapshot = await db.snapshot()
            of_snapshot = snapshot.iterator()
            assert (await of_snapshot.__anext__())[0] == b"0000"
            await snapshot.close()
            with pytest.raises(cambium.ClosedError, match="snapshot, is closed"):
                await of_snapshot.__anext__()
        for entries in (left, never_begun):
            with pytest.raises(cambium.ClosedError, match="database, or"):
                await entries.__anext__()
            await entries.aclose()
            with pytest.raises(cambium.ClosedError, match="iterator is closed"):
                await entries.__anext__()

    run(main())


def test_iterator_is_closed_while_it_fetches(path: Path) -> None:
    async def main() -> None:
        async with await aio.AsyncDB.open(path, create_if_missing=True) as db:
            await fill(db, 1000)
            for turns in range(20):
                entries = db.iterator(chunk=1000)
                fetching = asyncio.ensure_future(entries.__anext__())
                for _ in range(turns):
                    await asyncio.sleep(0)
                await entries.aclose()
                result: Any = (await asyncio.gather(fetching, return_exceptions=True))[0]
                assert isinstance(result, cambium.ClosedError) or result == (b"0000", b"v")

    run(main())


def test_cancelled_fetch_loses_no_entry(path: Path) -> None:
    async def main() -> None:
        async with await aio.AsyncDB.open(path, create_if_missing=True) as db:
            await fill(db, 300)
            entries = db.iterator(include_value=False, chunk=10)
            keys = []
            for turn in range(10_000):
                fetching = asyncio.ensure_future(entries.__anext__())
                for _ in range(turn % 3):
                    await asyncio.sleep(0)
                fetching.cancel()
                result: Any = (await asyncio.gather(fetching, return_exceptions=True))[0]
                if isinstance(result, bytes):
                    keys.append(result)
                elif isinstance(result, StopAsyncIteration):
                    break
                else:
                    assert isinstance(result, asyncio.CancelledError)
                    await asyncio.sleep(0.0005)
            keys += [key async for key in entries]
            assert keys == [b"%04d" % i for i in range(300)]

    run(main())


@pytest.mark.parametrize("arguments", [{}, {"use_io_uring": False, "depth": 3}])
def test_many_reads_at_once(path: Path, arguments: dict[str, Any]) -> None:
    with cambium.DB(path, create_if_missing=True) as db:
        for i in range(2000):
            db.put(b"%d" % i, b"%d" % i * 200)

    async def main() -> None:
        with ThreadPoolExecutor(2) as executor:
            async with await aio.AsyncDB.open(path, executor=executor, allow_mmap_reads=False, **arguments) as db:
                values = await asyncio.gather(*(db.get(b"%d" % i) for i in range(2000)))
                assert values == [b"%d" % i * 200 for i in range(2000)]
                assert await db.multi_get(b"%d" % i for i in range(2000)) == values

    run(main())


def test_errors_and_cancelling(path: Path) -> None:
    async def main() -> None:
        async with await aio.AsyncDB.open(path, create_if_missing=True, depth=1) as db:
            await db.put(b"k", b"v")
            wrong: Any = "text"
            with pytest.raises(TypeError):
                await db.get(wrong)
            with pytest.raises(TypeError):
                await db.get(b"k", nonsense=True)
            tasks = [asyncio.ensure_future(db.get(b"k")) for _ in range(20)]
            await asyncio.sleep(0)
            for task in tasks[::2]:
                task.cancel()
            results = await asyncio.gather(*tasks, return_exceptions=True)
            assert results[1::2] == [b"v"] * 10
            assert all(isinstance(result, asyncio.CancelledError) for result in results[::2])
            snapshot = await db.snapshot()
            with pytest.raises(cambium.InvalidArgumentError):
                await snapshot.get(b"k", durable_only=True)
            waiting = [asyncio.ensure_future(db.get(b"k")) for _ in range(5)]
            await asyncio.sleep(0)
            db.sync._handle.close()  # without its knowledge
            results = await asyncio.gather(*waiting, return_exceptions=True)
            assert all(result == b"v" or isinstance(result, cambium.Error) for result in results)

    run(main())


def test_two_event_loops(path: Path) -> None:
    db = aio.AsyncDB(cambium.DB(path, create_if_missing=True))

    async def main(value: bytes) -> None:
        await db.put(b"k", value)
        assert await db.get(b"k") == value

    run(main(b"1"))
    run(main(b"2"))
    db.sync._handle.close()


def test_loop_goes_on_while_a_call_waits(path: Path) -> None:
    async def main() -> None:
        async with await aio.AsyncDB.open(path, create_if_missing=True) as db:
            ticks = 0

            async def tick() -> None:
                nonlocal ticks
                while True:
                    ticks += 1
                    await asyncio.sleep(0)

            ticker = asyncio.ensure_future(tick())
            await asyncio.gather(*(db.put(b"%d" % i, b"v" * (1 << 20), sync=True) for i in range(5)))
            ticker.cancel()
            assert ticks > 1

    run(main())
