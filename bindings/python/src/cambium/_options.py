"""Options of a database and of a column family."""

from __future__ import annotations

import enum
import operator
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, Generic, TypedDict, TypeVar, overload

from . import _core
from ._comparator import Comparator, library_comparator
from ._enums import CompactionStyle, CompressionType, IndexType, LogLevel, ValueClustering, WalRecoveryMode
from ._filter import CompactionFilter, FilterContext, FilterFactory
from ._listener import EventListener

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._types import Path

T = TypeVar("T")


class OptionValues(TypedDict, total=False):
    """The options that have a text form, by name. docs/OPTIONS.md of the library describes them."""

    create_if_missing: bool
    create_missing_column_families: bool
    error_if_exists: bool
    wal_recovery_mode: WalRecoveryMode
    lock_wait_micros: int
    page_cache_size: int
    db_write_buffer_size: int
    max_total_wal_size: int
    max_space_amplification: float
    min_space_limit: int
    min_punch_size: int
    allow_mmap_reads: bool
    max_open_files: int
    max_background_jobs: int
    index_type: IndexType
    page_size: int
    filter_bits_per_key: int
    write_buffer_size: int
    max_write_buffer_number: int
    enable_blob_files: bool
    min_blob_size: int
    large_value_size: int
    blob_compression_type: CompressionType
    blob_file_size: int
    value_clustering: ValueClustering
    enable_blob_garbage_collection: bool
    blob_garbage_collection_age_cutoff: float
    blob_garbage_collection_force_threshold: float
    sweep_ratio: int
    compaction_style: CompactionStyle
    level0_file_num_compaction_trigger: int
    level0_slowdown_writes_trigger: int
    level0_stop_writes_trigger: int
    target_file_size_base: int
    target_file_size_multiplier: int
    max_bytes_for_level_base: int
    max_bytes_for_level_multiplier: float
    num_levels: int
    compression: CompressionType


@dataclass(frozen=True)
class Histogram:
    """What a histogram of the statistics has counted."""

    median: float
    percentile95: float
    percentile99: float
    average: float
    standard_deviation: float
    max: float
    min: float
    count: int
    sum: int


def format_value(value: object) -> str:
    """Return the text of an option's value."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, enum.Enum) and isinstance(value.value, str):
        return value.value
    if isinstance(value, float):
        return repr(value)
    return str(operator.index(value))  # type: ignore[arg-type]


class _Option(Generic[T]):
    """An attribute that is an option of the library, read and set as text."""

    def __init__(self, parse: Callable[[str], T], accepts: type | tuple[type, ...]) -> None:
        self._parse = parse
        self._accepts = accepts

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, options: None, owner: type) -> _Option[T]: ...
    @overload
    def __get__(self, options: Options, owner: type) -> T: ...
    def __get__(self, options: Options | None, owner: type) -> T | _Option[T]:
        if options is None:
            return self
        return self._parse(options.get(self._name))

    def __set__(self, options: Options, value: T) -> None:
        options.set(self._name, self.text(value))

    def text(self, value: object) -> str:
        if not isinstance(value, self._accepts) or (isinstance(value, bool) and self._accepts is not bool):
            raise TypeError(f"the option {self._name} does not take {type(value).__name__}")
        return format_value(value)


def _bool() -> _Option[bool]:
    return _Option(lambda text: text == "true", bool)


def _int() -> _Option[int]:
    return _Option(int, int)


def _float() -> _Option[float]:
    return _Option(float, (float, int))


def _enum(kind: type[T]) -> _Option[T]:
    return _Option(kind, kind)


class Options:
    """Options of a database and of its default family, or of another column family.

    Each option that has a text form is an attribute, and an argument of the constructor. The objects are attributes as
    well: ``comparator``, ``compaction_filter`` and so on can be set, and cannot be read.
    """

    create_if_missing = _bool()
    create_missing_column_families = _bool()
    error_if_exists = _bool()
    wal_recovery_mode = _enum(WalRecoveryMode)
    lock_wait_micros = _int()
    page_cache_size = _int()
    db_write_buffer_size = _int()
    max_total_wal_size = _int()
    max_space_amplification = _float()
    min_space_limit = _int()
    min_punch_size = _int()
    allow_mmap_reads = _bool()
    max_open_files = _int()
    max_background_jobs = _int()
    index_type = _enum(IndexType)
    page_size = _int()
    filter_bits_per_key = _int()
    write_buffer_size = _int()
    max_write_buffer_number = _int()
    enable_blob_files = _bool()
    min_blob_size = _int()
    large_value_size = _int()
    blob_compression_type = _enum(CompressionType)
    blob_file_size = _int()
    value_clustering = _enum(ValueClustering)
    enable_blob_garbage_collection = _bool()
    blob_garbage_collection_age_cutoff = _float()
    blob_garbage_collection_force_threshold = _float()
    sweep_ratio = _int()
    compaction_style = _enum(CompactionStyle)
    level0_file_num_compaction_trigger = _int()
    level0_slowdown_writes_trigger = _int()
    level0_stop_writes_trigger = _int()
    target_file_size_base = _int()
    target_file_size_multiplier = _int()
    max_bytes_for_level_base = _int()
    max_bytes_for_level_multiplier = _float()
    num_levels = _int()
    compression = _enum(CompressionType)

    def __init__(self, **values: Unpack[OptionValues]) -> None:
        self._rep = _core.Options()
        self.update(**values)

    @classmethod
    def _wrap(cls, rep: _core.Options) -> Options:
        options = cls.__new__(cls)
        options._rep = rep
        return options

    def __repr__(self) -> str:
        defaults = Options().as_dict()
        changed = {name: text for name, text in self.as_dict().items() if defaults.get(name) != text}
        return f"Options({', '.join(f'{name}={text}' for name, text in changed.items())})"

    # ---- Values ----

    def update(self, **values: Unpack[OptionValues]) -> None:
        """Set several options at once: all of them, or none."""
        texts = {}
        for name, value in values.items():
            option = getattr(type(self), name, None)
            if not isinstance(option, _Option):
                raise TypeError(f"there is no option {name}")
            texts[name] = option.text(value)
        self._set_texts(texts)

    def set(self, name: str, value: str) -> None:
        """Set an option by its name and its text, such as ``("write_buffer_size", "16M")``."""
        self._set_texts({name: value})

    def get(self, name: str) -> str:
        """Return the text of an option. KeyError for an unknown name."""
        return self.as_dict()[name]

    def as_dict(self) -> dict[str, str]:
        """Return the texts of all options by name."""
        return _parse(self._rep.to_string())

    def to_string(self) -> str:
        """Return all options as one text."""
        return self._rep.to_string()

    @classmethod
    def from_string(cls, text: str) -> Options:
        """Make options from a text such as ``"write_buffer_size=16M; compression=kZSTD"``."""
        options = cls()
        options._rep.update_text(text)
        name = options.as_dict()["comparator"]
        if library_comparator(name) is not None:
            options.set("comparator", name)
        return options

    def copy(self) -> Options:
        """Return a copy, which refers to the same objects and counts in the same statistics."""
        return Options._wrap(self._rep.copy())

    def optimize_for_rocksdb_compatibility(self) -> None:
        """Set RocksDB's defaults for the options that it has."""
        self._rep.optimize_for_rocksdb_compatibility()

    def _set_texts(self, texts: dict[str, str]) -> None:
        comparator = library_comparator(texts.get("comparator", ""))
        rest = {name: text for name, text in texts.items() if name != "comparator" or comparator is None}
        if rest:
            self._rep.update_text(";".join(f"{name}={{{text}}}" for name, text in rest.items()))
        if comparator is not None:
            self._rep.set_comparator(comparator)

    # ---- Objects ----

    def _cannot_read(self) -> Any:
        raise AttributeError("objects among the options cannot be read")

    def _set_comparator(self, comparator: Comparator) -> None:
        self._rep.set_comparator(comparator)

    def _set_compaction_filter(self, compaction_filter: CompactionFilter) -> None:
        self._rep.set_compaction_filter(_core.Filter(compaction_filter))

    def _set_compaction_filter_factory(self, factory: FilterFactory) -> None:
        def create(is_full: bool, is_manual: bool, family: int) -> CompactionFilter | None:
            return factory(FilterContext(is_full, is_manual, family))

        if not callable(factory):
            raise TypeError("a factory of compaction filters must be callable")
        self._rep.set_compaction_filter_factory(_core.FilterFactory(create, b"python_factory"))

    def _set_rate_limiter(self, limiter: _core.RateLimiter | None) -> None:
        self._rep.set_rate_limiter(limiter)

    def _set_write_buffer_manager(self, manager: _core.WriteBufferManager | None) -> None:
        self._rep.set_write_buffer_manager(manager)

    comparator = property(_cannot_read, _set_comparator, doc="The order of keys.")
    compaction_filter = property(_cannot_read, _set_compaction_filter, doc="Decides about entries in compactions.")
    compaction_filter_factory = property(
        _cannot_read, _set_compaction_filter_factory, doc="Makes a compaction filter for each job."
    )
    rate_limiter = property(_cannot_read, _set_rate_limiter, doc="Limits background writes. None: no limit.")
    write_buffer_manager = property(
        _cannot_read, _set_write_buffer_manager, doc="Limits memory of several databases. None: no such limit."
    )

    def set_logger(self, log: Callable[[int, str], object] | None, level: LogLevel = LogLevel.INFO) -> None:
        """Call ``log(level, line)`` for each line of the log from a level on, instead of writing the file LOG.

        None drops all lines. The function must not call a database.
        """
        self._rep.set_logger(_core.Logger(log, int(level)))

    def add_listener(self, listener: EventListener) -> None:
        """Call the methods of a listener for each event."""
        self._rep.add_listener(_core.Listener(listener))

    # ---- Statistics ----

    def enable_statistics(self) -> None:
        """Count what all databases that are opened with these options, or with their copies, do."""
        self._rep.enable_statistics()

    @property
    def statistics_level(self) -> int:
        """What is counted: see ``StatsLevel`` in statistics.h of the library. It needs enabled statistics."""
        return self._rep.statistics_level

    @statistics_level.setter
    def statistics_level(self, level: int) -> None:
        self._rep.statistics_level = level

    def statistics(self) -> str | None:
        """Return all counts as text; None without statistics."""
        return self._rep.statistics()

    def ticker(self, name: str) -> int:
        """Return a count, such as that of ``"rocksdb.memtable.hit"``. KeyError for an unknown name."""
        return self._rep.ticker(name)

    def histogram(self, name: str) -> Histogram:
        """Return a histogram, such as that of ``"rocksdb.db.get.micros"``. KeyError for an unknown name."""
        return Histogram(*self._rep.histogram(name))


def _parse(text: str) -> dict[str, str]:
    pairs = (item.partition("=") for item in text.split(";") if item)
    return {name.strip(): value for name, _, value in pairs}


def load_latest_options(
    name: Path, *, ignore_unknown_options: bool = False, comparators: Iterable[Comparator] = ()
) -> tuple[Options, dict[str, Options]]:
    """Return the options that a database was last opened with: those of the database, and those of each family.

    Comparators of your own are found by name in ``comparators``.
    """
    own = list(comparators)
    db, families = _core.load_latest_options(name, ignore_unknown_options, own)

    def wrap(rep: _core.Options) -> Options:
        options = Options._wrap(rep)
        text = options.as_dict()["comparator"]
        for comparator in [library_comparator(text), *own]:
            if comparator is not None and comparator.name.decode() == text:
                rep.set_comparator(comparator)
                break
        return options

    return wrap(db), {family: wrap(rep) for family, rep in families}
