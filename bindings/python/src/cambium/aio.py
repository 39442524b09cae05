"""Cambium for asyncio.

    import asyncio
    from cambium import aio

    async def main() -> None:
        async with await aio.AsyncDB.open("store.db", create_if_missing=True) as db:
            await db.put(b"oak", b"a ring a year", sync=True)
            print(await db.get(b"oak"))
            async for key, value in db.iterator(prefix=b"o"):
                print(key, value)

    asyncio.run(main())

``get`` and ``multi_get`` run in the thread of the event loop, over an AsyncReader: many reads are in flight at once,
and io_uring tells the loop which have ended. Only a page of the index that is not in memory is waited for. All other
calls run in an executor.
"""

from __future__ import annotations

import asyncio
import functools
from collections import deque
from collections.abc import AsyncIterator
from concurrent.futures import Executor
from typing import TYPE_CHECKING, Any, Callable, Generic, TypeVar, overload

from . import _core
from ._db import DB, ColumnFamily, Snapshot, Store
from ._errors import ClosedError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import TracebackType

    from typing_extensions import Self

    from ._types import Buffer, Path

__all__ = ["AsyncDB", "AsyncRange", "AsyncSnapshot", "AsyncStore"]

T = TypeVar("T")


class _Reads:
    """The reads of one event loop."""

    def __init__(self, store: _core.Reader, loop: asyncio.AbstractEventLoop, depth: int, use_io_uring: bool) -> None:
        self.loop = loop
        self._reader = _core.AsyncReader(store, depth=depth, use_io_uring=use_io_uring)
        self._waiting: deque[Callable[[], bool]] = deque()
        self._is_scheduled = False
        self._fd = self._reader.event_fd()
        loop.add_reader(self._fd, self._poll)

    def get(self, store: _core.Reader, key: Buffer, flags: dict[str, Any]) -> asyncio.Future[bytes | None]:
        future: asyncio.Future[bytes | None] = self.loop.create_future()
        begin = functools.partial(
            self._reader.get, store, bytes(memoryview(key)), functools.partial(_set, future), **flags
        )
        if self._waiting or not begin():
            self._waiting.append(functools.partial(_begin, begin, future))
        self._schedule()
        return future

    def close(self) -> None:
        if not self.loop.is_closed():
            self.loop.remove_reader(self._fd)
        waiting, self._waiting = self._waiting, deque()
        self._reader.close()
        for begin in waiting:
            begin()

    def _schedule(self) -> None:
        # The reads that begin in one turn of the loop are handed to the system together.
        if not self._is_scheduled:
            self._is_scheduled = True
            self.loop.call_soon(self._poll)

    def _poll(self) -> None:
        self._is_scheduled = False
        if self._reader.closed:
            self.loop.remove_reader(self._fd)
            while self._waiting:
                self._waiting.popleft()()
            return
        ended = self._reader.poll(0, 0)
        while self._waiting and self._waiting[0]():
            self._waiting.popleft()
        if ended > 0 or self._waiting:
            # Reads of values in memory have ended already; others signal through the descriptor.
            self._reader.submit()
            if ended > 0:
                self._schedule()


def _begin(begin: Callable[[], bool], future: asyncio.Future[bytes | None]) -> bool:
    """Begin a read that has waited for room. False: there is still none."""
    if future.done():
        return True
    try:
        return begin()
    except Exception as error:
        future.set_exception(error)
        return True


def _set(future: asyncio.Future[bytes | None], value: bytes | None, error: Exception | None) -> None:
    if future.done() or future.get_loop().is_closed():
        return
    if error is None:
        future.set_result(value)
    else:
        future.set_exception(error)


class _Shared:
    """What the views of one database share."""

    def __init__(self, executor: Executor | None, depth: int, use_io_uring: bool) -> None:
        self.executor = executor
        self.depth = depth
        self.use_io_uring = use_io_uring
        self.reads: _Reads | None = None

    def reads_of(self, store: _core.Reader) -> _Reads:
        loop = asyncio.get_running_loop()
        if self.reads is not None and self.reads.loop is not loop:
            self.close()
        if self.reads is None:
            self.reads = _Reads(store, loop, self.depth, self.use_io_uring)
        return self.reads

    def close(self) -> None:
        reads, self.reads = self.reads, None
        if reads is not None:
            reads.close()

    async def run(self, function: Callable[..., T], *args: Any, **kwargs: Any) -> T:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self.executor, functools.partial(function, *args, **kwargs))


class AsyncRange(AsyncIterator[T], Generic[T]):
    """An asynchronous iterator over entries. A chunk of them is fetched at once."""

    def __init__(self, shared: _Shared, store: _core.Reader, make: Callable[[], _core.Iterator[T]], chunk: int) -> None:
        self._shared = shared
        self._store = store
        self._make = make
        self._chunk = chunk
        self._iterator: _core.Iterator[T] | None = None
        self._entries: deque[T] = deque()
        self._filling: asyncio.Task[None] | None = None
        self._is_done = False
        self._is_closed = False

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> T:
        self._check()
        while not self._entries and not self._is_done:
            # A task of its own, so that no entries are lost if the caller's is cancelled meanwhile.
            if self._filling is None:
                self._filling = asyncio.ensure_future(self._fill())
            await asyncio.shield(self._filling)
            self._check()
        if not self._entries:
            await self._release()
            raise StopAsyncIteration
        return self._entries.popleft()

    def _check(self) -> None:
        if self._is_closed:
            raise ClosedError("the iterator is closed")
        if self._store.closed:
            raise ClosedError("the database, or the snapshot, is closed")

    async def _fill(self) -> None:
        try:
            entries = await self._shared.run(self._fetch)
            self._entries.extend(entries)
            self._is_done = not entries
        finally:
            self._filling = None

    def _fetch(self) -> list[T]:
        if self._iterator is None:
            self._iterator = self._make()
        return self._iterator.take(self._chunk)

    async def aclose(self) -> None:
        """Release what the iterator holds. Afterwards it gives no entries: ``ClosedError``."""
        self._is_closed = True
        await self._release()

    async def _release(self) -> None:
        self._is_done = True
        if self._filling is not None:
            await asyncio.wait([self._filling])
        iterator, self._iterator = self._iterator, None
        if iterator is not None:
            await self._shared.run(iterator.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


class _AsyncReader:
    """The reading methods. Their parameters are those of the synchronous ones."""

    def __init__(self, store: _core.Reader, shared: _Shared) -> None:
        self._store = store
        self._shared = shared

    @property
    def closed(self) -> bool:
        return self._store.closed

    @overload
    async def get(self, key: Buffer, default: None = None, **flags: bool) -> bytes | None: ...
    @overload
    async def get(self, key: Buffer, default: T, **flags: bool) -> bytes | T: ...
    async def get(self, key: Buffer, default: Any = None, **flags: bool) -> Any:
        """Return the value of a key, or ``default``."""
        self._check()
        value = await self._shared.reads_of(self._store).get(self._store, key, flags)
        return default if value is None else value

    async def multi_get(self, keys: Iterable[Buffer], **flags: bool) -> list[bytes | None]:
        """Return the values of several keys. Use a snapshot for values of one state."""
        self._check()
        reads = self._shared.reads_of(self._store)
        futures = [reads.get(self._store, key, flags) for key in keys]
        try:
            return [await future for future in futures]
        finally:
            for future in futures:
                future.cancel()

    def iterator(self, *, chunk: int = 256, **arguments: Any) -> AsyncRange[Any]:
        """Return an asynchronous iterator. The arguments are those of ``DB.iterator``."""
        self._check()
        make = functools.partial(self._store.iterator, **arguments)
        return AsyncRange(self._shared, self._store, make, chunk)

    def __aiter__(self) -> AsyncRange[tuple[bytes, bytes]]:
        return self.iterator()

    def _check(self) -> None:
        if self._store.closed:
            raise ClosedError("the database, or the snapshot, is closed")


class AsyncSnapshot(_AsyncReader):
    """A snapshot."""

    _store: Snapshot

    async def close(self) -> None:
        await self._shared.run(self._store.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


class AsyncStore(_AsyncReader):
    """A database, a column family or a prefix."""

    _store: Store

    @property
    def sync(self) -> Store:
        """The synchronous object."""
        return self._store

    async def put(self, key: Buffer, value: Buffer, **flags: bool) -> None:
        """Set the value of a key."""
        await self._shared.run(self._store.put, key, value, **flags)

    async def delete(self, key: Buffer, **flags: bool) -> None:
        """Delete a key."""
        await self._shared.run(self._store.delete, key, **flags)

    async def delete_range(self, start: Buffer, stop: Buffer, **flags: bool) -> None:
        """Delete the keys from ``start`` (included) to ``stop`` (excluded)."""
        await self._shared.run(self._store.delete_range, start, stop, **flags)

    async def put_if_absent(self, key: Buffer, value: Buffer, **flags: bool) -> bool:
        """Set the value of a key that does not exist. Return whether it was written."""
        return await self._shared.run(self._store.put_if_absent, key, value, **flags)

    async def compare_and_set(self, key: Buffer, expected: Buffer, value: Buffer, **flags: bool) -> bool:
        """Set the value of a key that has the value ``expected``. Return whether it was written."""
        return await self._shared.run(self._store.compare_and_set, key, expected, value, **flags)

    async def compare_and_delete(self, key: Buffer, expected: Buffer, **flags: bool) -> bool:
        """Delete a key that has the value ``expected``. Return whether it was deleted."""
        return await self._shared.run(self._store.compare_and_delete, key, expected, **flags)

    def write_batch(self, **arguments: bool) -> _core.WriteBatch:
        """Return a new batch. Fill it, and give it to ``write``."""
        return self._store.write_batch(**arguments)

    async def write(self, batch: _core.WriteBatch) -> None:
        """Write all operations of a batch, or none."""
        await self._shared.run(batch.write)

    def write_conditions(self) -> _core.WriteConditions:
        """Return new conditions. Fill them, and give them to ``write_if``."""
        return self._store.write_conditions()

    async def write_if(self, batch: _core.WriteBatch, conditions: _core.WriteConditions) -> bool:
        """Write all operations of a batch if all conditions hold. Return whether they did."""
        return await self._shared.run(batch.write_if, conditions)

    async def snapshot(self) -> AsyncSnapshot:
        """Return a snapshot."""
        return AsyncSnapshot(await self._shared.run(self._store.snapshot), self._shared)

    def prefixed_db(self, prefix: Buffer) -> AsyncStore:
        """Return a view of the keys that begin with a prefix."""
        return AsyncStore(self._store.prefixed_db(prefix), self._shared)

    async def flush(self, *, wait: bool = True) -> None:
        """Move what the memtables of the family hold into its index."""
        await self._shared.run(self._store.flush, wait=wait)

    async def compact_range(self, start: Buffer | None = None, stop: Buffer | None = None, **arguments: Any) -> None:
        """Flush and compact a range of keys."""
        await self._shared.run(self._store.compact_range, start, stop, **arguments)

    async def get_property(self, name: str) -> str | None:
        """Return a property as text."""
        result: str | None = await self._shared.run(self._store.get_property, name)
        return result


class AsyncDB(AsyncStore):
    """An open database. ``executor`` runs the calls that may wait; None: the executor of the event loop.

    ``depth`` is how many reads are in flight at most; further ones wait for room.
    """

    _store: DB

    def __init__(self, db: DB, *, executor: Executor | None = None, depth: int = 64, use_io_uring: bool = True) -> None:
        super().__init__(db, _Shared(executor, depth, use_io_uring))

    @classmethod
    async def open(
        cls,
        name: Path,
        *,
        executor: Executor | None = None,
        depth: int = 64,
        use_io_uring: bool = True,
        **arguments: Any,
    ) -> Self:
        """Open a database. The other arguments are those of ``DB``."""
        loop = asyncio.get_running_loop()
        db = await loop.run_in_executor(executor, functools.partial(DB, name, **arguments))
        return cls(db, executor=executor, depth=depth, use_io_uring=use_io_uring)

    def column_family(self, name: str) -> AsyncStore:
        """Return an open column family."""
        return AsyncStore(self._store.column_family(name), self._shared)

    async def create_column_family(self, name: str, **arguments: Any) -> AsyncStore:
        """Create a column family."""
        family: ColumnFamily = await self._shared.run(self._store.create_column_family, name, **arguments)
        return AsyncStore(family, self._shared)

    async def flush_wal(self, *, sync: bool = True) -> None:
        """Make everything written so far durable."""
        await self._shared.run(self._store.flush_wal, sync=sync)

    async def checkpoint(self, directory: Path, **arguments: int) -> None:
        """Make a copy of the database."""
        await self._shared.run(self._store.checkpoint, directory, **arguments)

    async def close(self) -> None:
        """Close the database, after all calls have returned. Reads that are in flight end first."""
        if self._store.closed:
            return
        self._shared.close()
        await self._shared.run(self._store.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
