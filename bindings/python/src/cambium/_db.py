"""Databases, column families, prefixes and snapshots."""

from __future__ import annotations

import atexit
import contextlib
import math
import os
import random
import time
import weakref
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Callable, Optional, TypeVar, Union, overload

from . import _core
from ._comparator import Comparator
from ._enums import BlobGcPolicy, TraceFilter
from ._errors import BusyError, ClosedError, Error, TimedOutError, TryAgainError
from ._options import Options, OptionValues, format_value

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self, Unpack

    from ._types import Buffer, Path

DEFAULT_COLUMN_FAMILY = "default"

#: What says that transactions were in each other's way: the same work may succeed in a new transaction.
CONFLICTS = (BusyError, TryAgainError, TimedOutError)

_Result = TypeVar("_Result")

_handles: weakref.WeakSet[_core.Handle] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    """Close what the program has not closed, while threads of the library can still call Python functions."""
    for handle in list(_handles):
        with contextlib.suppress(Error, BufferError):
            handle.close()
    _core.callbacks_stop()


class Store(_core.Store):
    """What databases, column families and prefixes have in common."""

    def write_batch(
        self, *, transaction: bool = False, sync: bool = False, disable_wal: bool = False, no_slowdown: bool = False
    ) -> _core.WriteBatch:
        """Return a new WriteBatch.

        As a context manager it is written at the end. If an exception ends the block, a batch with ``transaction`` is
        discarded; another one is written all the same.
        """
        return _core.WriteBatch(
            self, transaction=transaction, sync=sync, disable_wal=disable_wal, no_slowdown=no_slowdown
        )

    def write_batch_from(self, data: Buffer, *, sync: bool = False) -> _core.WriteBatch:
        """Return a WriteBatch from the bytes that ``WriteBatch.data`` has returned."""
        return _core.WriteBatch(self, sync=sync, data=data)

    def write_conditions(self) -> _core.WriteConditions:
        """Return a new WriteConditions, for ``WriteBatch.write_if``."""
        return _core.WriteConditions(self)

    def transaction(
        self,
        *,
        sync: bool = False,
        disable_wal: bool = False,
        no_slowdown: bool = False,
        snapshot: bool | None = None,
        read_newest: bool = False,
        deadlock_detect: bool = False,
        lock_timeout: float | None = None,
        expiration: float | None = None,
        max_write_batch_size: int = 0,
        skip_prepare: bool = True,
    ) -> _core.Transaction:
        """Begin a Transaction: an optimistic one, unless the database is a TransactionDB.

        As a context manager it is committed at the end, and rolled back if an exception ends the block, or if the
        commit fails; but if it is prepared, and its commit fails, it remains so. If the database was closed within the
        block, the commit raises ClosedError. ``sync``, ``disable_wal`` and ``no_slowdown`` are for the commit, and for
        ``prepare``.

        With a ``snapshot``, the default except in a TransactionDB, a key conflicts if others have written it after
        the begin, and reads see that state, unless ``read_newest`` is set. The other arguments are for a
        TransactionDB; times are in seconds, a negative one is without limit. Without ``skip_prepare``, a commit of a
        transaction that is not prepared raises InvalidArgumentError.
        """
        return _core.begin(
            self,
            sync,
            disable_wal,
            no_slowdown,
            snapshot,
            read_newest,
            deadlock_detect,
            lock_timeout,
            expiration,
            max_write_batch_size,
            skip_prepare,
        )

    def transact(
        self, function: Callable[[_core.Transaction], _Result], *, attempts: int = 10, **options: Any
    ) -> _Result:
        """Call ``function`` with a transaction, commit it, and return the result of the function.

        After a conflict, this is repeated in a new transaction, ``attempts`` times at most; then the last of the
        CONFLICTS is raised. So the function must have no effects outside of the transaction. ``options`` are those
        of ``transaction``.
        """
        attempt = 1
        while True:
            try:
                with self.transaction(**options) as transaction:
                    return function(transaction)
            except CONFLICTS:
                if attempt >= attempts:
                    raise
            # Some chance, so that two transactions do not meet again and again.
            time.sleep(random.uniform(0, min(0.0001 * 2 ** min(attempt, 8), 0.02)))
            attempt += 1

    def indexed_batch(self, *, max_bytes: int = 0) -> _core.IndexedBatch:
        """Return a new IndexedBatch, which can be read before it is written. Close it, or use ``with``.

        ``max_bytes``: the most bytes that it may have; 0: no limit.
        """
        return _core.indexed_batch(self, max_bytes)

    def snapshot(self) -> Snapshot:
        """Return a Snapshot: the state of the database at this moment, seen as this object sees it."""
        return Snapshot._make(self, self._handle.snapshot())

    def prefixed_db(self, prefix: Buffer) -> PrefixedDB:
        """Return a view of the keys that begin with a prefix, without this prefix."""
        return PrefixedDB._make(self, _bytes(prefix))

    # ---- Properties and sizes ----

    @overload
    def get_property(self, name: str) -> str | None: ...
    @overload
    def get_property(self, name: bytes) -> bytes | None: ...
    def get_property(self, name: str | bytes) -> str | bytes | None:
        """Return a property as text, of the type of its name; None for an unknown name."""
        text = self._family.get_property(name)
        if text is None or isinstance(name, bytes):
            return text
        return text.decode(errors="backslashreplace")

    def get_int_property(self, name: str) -> int | None:
        """Return a property that is a number; None for an unknown name, or a property that is none."""
        return self._family.get_int_property(name)

    def approximate_size(
        self,
        start: Buffer,
        stop: Buffer,
        *,
        include_memtables: bool = False,
        include_files: bool = True,
    ) -> int:
        """Return about how many bytes the keys from ``start`` to ``stop`` take, values included."""
        sizes = self.approximate_sizes((start, stop), include_memtables=include_memtables, include_files=include_files)
        return sizes[0]

    def approximate_sizes(
        self,
        *ranges: tuple[Buffer, Buffer],
        include_memtables: bool = False,
        include_files: bool = True,
    ) -> list[int]:
        """Return the approximate sizes of several ranges."""
        prefix = self.prefix
        whole = [(prefix + _bytes(start), prefix + _bytes(stop)) for start, stop in ranges]
        return self._family.approximate_sizes(whole, include_memtables + 2 * include_files)

    # ---- Maintenance ----

    def flush(self, *, wait: bool = True) -> None:
        """Move what the memtables of the family hold into its index. Not needed for durability."""
        self._family.flush(wait)

    def compact_range(
        self,
        start: Buffer | None = None,
        stop: Buffer | None = None,
        *,
        blob_garbage_collection_policy: BlobGcPolicy = BlobGcPolicy.USE_DEFAULT,
        blob_garbage_collection_age_cutoff: float = -1.0,
        cluster_values: bool = False,
    ) -> None:
        """Flush and compact the keys from ``start`` to ``stop``, both included; None: unbounded."""
        prefix = self.prefix
        low = None if start is None and not prefix else prefix + (b"" if start is None else _bytes(start))
        high = _prefix_end(prefix) if stop is None else prefix + _bytes(stop)
        self._family.compact_range(
            low, high, int(blob_garbage_collection_policy), blob_garbage_collection_age_cutoff, cluster_values
        )

    def set_options(self, **values: Unpack[OptionValues]) -> None:
        """Change options of the column family that can be changed while it is open: all of them, or none."""
        self._family.set_options([(name, format_value(value)) for name, value in values.items()])

    def get_options(self) -> Options:
        """Return the options in force: those of the database, and of this column family."""
        return Options._wrap(self._family.get_options())


def _bytes(buffer: Buffer) -> bytes:
    if not isinstance(buffer, bytes):
        if isinstance(buffer, (int, str)):
            raise TypeError(f"a bytes-like object is required, not {type(buffer).__name__}")
        return bytes(memoryview(buffer))
    return buffer


def _prefix_end(prefix: bytes) -> bytes | None:
    """Return the first key after all keys with a prefix; None if there is none."""
    stripped = prefix.rstrip(b"\xff")
    return stripped[:-1] + bytes([stripped[-1] + 1]) if stripped else None


class ColumnFamily(Store):
    """A column family of an open database: keys of its own, written and synced together with the others."""

    @classmethod
    def _make(cls, handle: _core.Handle, family: _core.Family) -> ColumnFamily:
        return cls(handle, family, None, None)

    @property
    def name(self) -> str:
        return self._family.name

    @property
    def id(self) -> int:
        """The number of the family, as in ``WriteBatch.operations``."""
        return self._family.id

    def __repr__(self) -> str:
        return f"<cambium.ColumnFamily {self.name!r}>"


class PrefixedDB(Store):
    """The keys of a database, or of a column family, that begin with a prefix. They are given without this prefix."""

    db: Store

    @classmethod
    def _make(cls, parent: Store, prefix: bytes) -> PrefixedDB:
        view = cls(parent._handle, parent._family, parent.prefix + prefix, None)
        view.db = parent
        return view

    def __repr__(self) -> str:
        return f"<cambium.PrefixedDB {self.prefix!r}>"


class Snapshot(_core.Reader):
    """The state of a database at one moment. It covers all column families.

    Release it with ``close`` or ``with``: while it exists, the files of its state stay on disk.
    """

    @classmethod
    def _make(cls, reader: _core.Reader, snapshot: _core.SnapshotHandle) -> Snapshot:
        return cls(reader._handle, reader._family, reader.prefix or None, snapshot)

    def close(self) -> None:
        """Release the snapshot, of all families. Iterators over it may still be used."""
        self._state.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def _state(self) -> _core.SnapshotHandle:
        state = self._snapshot
        assert state is not None
        return state

    @property
    def sequence_number(self) -> int:
        """The number of the newest write that the snapshot shows."""
        return self._state.sequence_number

    def of(self, store: Store) -> Snapshot:
        """Return the same snapshot of another column family, or of a prefix, of the database."""
        if store._handle is not self._handle:
            raise ValueError("the column family is of another database")
        return Snapshot._make(store, self._state)


#: Column families with their options; None: default options. Or the names alone.
ColumnFamilies = Union[Mapping[str, Optional[Options]], Iterable[str]]


def _families(families: ColumnFamilies) -> tuple[list[str], list[_core.Options]]:
    if isinstance(families, Mapping):
        pairs = [(name, options or Options()) for name, options in families.items()]
    else:
        pairs = [(name, Options()) for name in families]
    return [name for name, _ in pairs], [options._rep for _, options in pairs]


class DB(Store):
    """An open database, and its default column family.

    ``name`` is its directory. Options are given by name, or as ``options``, or both: then those by name apply to a
    copy. If the database has column families besides the default one, all must be named in ``column_families``, unless
    it is opened with ``read_only``.

    ``comparator`` is a Comparator, or a function; a function needs a ``comparator_name``.
    """

    _locks: tuple[int, int, int, int] | None = None

    def __init__(
        self,
        name: Path,
        *,
        options: Options | None = None,
        column_families: ColumnFamilies | None = None,
        read_only: bool = False,
        comparator: Comparator | Callable[[bytes, bytes], int] | None = None,
        comparator_name: str | bytes | None = None,
        **values: Unpack[OptionValues],
    ) -> None:
        self._name = name
        self._read_only = read_only
        whole = Options() if options is None else options.copy()
        whole.update(**values)
        if comparator is not None or comparator_name is not None:
            whole.comparator = _as_comparator(comparator, comparator_name)
        names: list[str] | None = None
        reps: list[_core.Options] | None = None
        if column_families is not None:
            names, reps = _families(column_families)
            if DEFAULT_COLUMN_FAMILY not in names:
                names.insert(0, DEFAULT_COLUMN_FAMILY)
                reps.insert(0, whole._rep)
        handle, families = _core.open(name, whole._rep, names, reps, read_only, self._locks)
        _handles.add(handle)
        default = families[0] if names is None else families[names.index(DEFAULT_COLUMN_FAMILY)]
        super().__init__(handle, default, None, None)
        self._families = {family.name: ColumnFamily._make(handle, family) for family in families}

    def __repr__(self) -> str:
        state = "closed " if self.closed else ""
        return f"<cambium.DB {state}{os.fsdecode(self._name)!r}>"

    @property
    def name(self) -> Path:
        """The directory, as it was given."""
        return self._name

    @property
    def read_only(self) -> bool:
        return self._read_only

    # ---- Closing ----

    def close(self) -> None:
        """Close the database, after all calls of other threads have returned. A second call does nothing.

        Iterators, transactions, snapshots and asynchronous readers are closed too. BufferError if a memoryview of a
        pinned value exists: then the database is still open.
        """
        self._handle.close()

    def __enter__(self) -> Self:
        if self.closed:
            raise ClosedError("the database is closed")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # ---- Column families ----

    @property
    def column_families(self) -> dict[str, ColumnFamily]:
        """The open column families by name."""
        return dict(self._families)

    def column_family(self, name: str) -> ColumnFamily:
        """Return an open column family. KeyError for an unknown name."""
        return self._families[name]

    def create_column_family(self, name: str, options: Options | None = None) -> ColumnFamily:
        """Create a column family. It is durable when the call returns."""
        family = self._handle.create_family((options or Options())._rep, name)
        made = ColumnFamily._make(self._handle, family)
        self._families[name] = made
        return made

    def drop_column_family(self, family: str | ColumnFamily) -> None:
        """Drop a column family. Calls on it then raise ColumnFamilyDroppedError; iterators over it may go on."""
        dropped = self._families[family] if isinstance(family, str) else family
        self._handle.drop_family(dropped._family)
        self._families.pop(dropped.name, None)

    # ---- Reading ----

    def multi_get_families(self, keys: Iterable[tuple[_core.Reader, Buffer]]) -> list[bytes | None]:
        """Return the values of keys of several column families, all of one state: ``[(family, key), ...]``."""
        return self._multi_get_families(keys)

    # ---- Durability and background work ----

    def flush_wal(self, *, sync: bool = True) -> None:
        """With ``sync``, make everything written so far durable, in all column families."""
        self._handle.flush_wal(sync)

    def wait_for_compact(self) -> None:
        """Wait until no background work is left."""
        self._handle.wait_for_compact()

    def verify_checksum(self) -> None:
        """Read each key and value of each column family, and raise the first damage: CorruptionError."""
        self._handle.verify_checksum()

    @property
    def latest_sequence_number(self) -> int:
        """The number of the newest write."""
        return self._handle.latest_sequence_number()

    @property
    def identity(self) -> str | None:
        """32 digits that no other database has; None after a fatal error."""
        return self._handle.identity()

    def set_db_options(self, **values: Unpack[OptionValues]) -> None:
        """Change options of the database that can be changed while it is open: all of them, or none."""
        self._handle.set_db_options([(name, format_value(value)) for name, value in values.items()])

    @property
    def opened_with(self) -> Options:
        """A copy of the options that the database was opened with. Its statistics are those of the database."""
        return Options._wrap(self._handle.options()).copy()

    # ---- Copies and traces ----

    def checkpoint(self, directory: Path, *, log_size_for_flush: int = 0) -> None:
        """Make a copy of the database in a directory that must not exist, with hard links where possible."""
        self._handle.checkpoint(directory, log_size_for_flush)

    def start_trace(
        self,
        path: Path,
        *,
        max_trace_file_size: int | None = None,
        sampling_frequency: int | None = None,
        filter: TraceFilter = TraceFilter.NONE,
        preserve_write_order: bool = False,
        include_values: bool = False,
    ) -> None:
        """Record the operations on the database in a new file, until ``end_trace``."""
        self._handle.start_trace(
            path, max_trace_file_size, sampling_frequency, int(filter), preserve_write_order, include_values
        )

    def end_trace(self) -> None:
        """End the trace, and raise its first error."""
        self._handle.end_trace()


class TransactionDB(DB):
    """A database whose transactions lock the keys that they use, so that others wait for them.

    Its writes without a transaction lock their keys too, and ``delete_range`` its range. The arguments are those of DB,
    and:

    ``max_num_locks``: the most keys of a family that are locked at a time; negative: no limit.
    ``num_stripes``: how many tables the locks are in.
    ``transaction_lock_timeout``, ``default_lock_timeout``: seconds that transactions, and other writes, wait for a
    lock; negative: without limit.
    """

    def __init__(
        self,
        name: Path,
        *,
        max_num_locks: int = -1,
        num_stripes: int = 16,
        transaction_lock_timeout: float = 1.0,
        default_lock_timeout: float = 1.0,
        **others: Any,
    ) -> None:
        if others.get("read_only"):
            raise ValueError("a TransactionDB cannot be opened for reading only")
        self._locks = (
            max_num_locks,
            num_stripes,
            _milliseconds(transaction_lock_timeout),
            _milliseconds(default_lock_timeout),
        )
        super().__init__(name, **others)

    def prepared_transactions(self) -> list[_core.Transaction]:
        """Return the transactions that were prepared before the database was opened, in the order of their names.

        Their keys are locked. Commit each, or roll it back; what is neither remains prepared. Each is returned once.
        """
        return _core.prepared_transactions(self)


def _milliseconds(seconds: float) -> int:
    if not math.isfinite(seconds):
        raise ValueError("a time must be a finite number of seconds")
    return -1 if seconds < 0 else math.ceil(min(seconds, 1e12) * 1000)


def _as_comparator(comparator: Any, name: str | bytes | None) -> Comparator:
    if isinstance(comparator, _core.Comparator):
        if name is not None:
            raise ValueError("a Comparator has a name already")
        return comparator  # type: ignore[return-value]
    if comparator is None or name is None:
        raise ValueError("a comparator function and its name must be given together")
    if not callable(comparator):
        raise TypeError("a comparator must be callable")
    if isinstance(name, bytes):
        name = name.decode()
    return Comparator(comparator, name)
