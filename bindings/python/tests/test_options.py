"""Options."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import cambium
from cambium import _options


def test_attributes_are_the_options_of_the_library() -> None:
    names = set(cambium.Options().as_dict()) - {"comparator"}
    attributes = {name for name, value in vars(cambium.Options).items() if isinstance(value, _options._Option)}
    assert attributes == names
    assert set(cambium.OptionValues.__annotations__) == names


OTHER_VALUES: dict[str, Any] = {
    "wal_recovery_mode": cambium.WalRecoveryMode.POINT_IN_TIME_RECOVERY,
    "page_size": 8192,
    "index_type": cambium.IndexType.LSM,
    "blob_compression_type": cambium.CompressionType.ZSTD,
    "value_clustering": cambium.ValueClustering.AUTO,
    "compaction_style": cambium.CompactionStyle.LAZY_LEVEL,
    "compression": cambium.CompressionType.LZ4,
    "blob_garbage_collection_age_cutoff": 0.5,
    "blob_garbage_collection_force_threshold": 0.5,
    "db_write_buffer_size": 1 << 20,
    "max_total_wal_size": 1 << 20,
    "level0_file_num_compaction_trigger": 5,
    "level0_slowdown_writes_trigger": 25,
    "level0_stop_writes_trigger": 45,
}


@pytest.mark.parametrize("name", sorted(set(cambium.Options().as_dict()) - {"comparator"}))
def test_each_option(name: str) -> None:
    options = cambium.Options()
    old = getattr(options, name)
    if name in OTHER_VALUES:
        new = OTHER_VALUES[name]
    elif isinstance(old, bool):
        new = not old
    elif isinstance(old, float):
        new = old * 2
    else:
        new = old + 1
    setattr(options, name, new)
    assert getattr(options, name) == new
    assert getattr(cambium.Options(**{name: new}), name) == new
    assert name in repr(options)
    with pytest.raises(TypeError):
        setattr(options, name, "text")
    with pytest.raises(TypeError):
        setattr(options, name, None)


def test_update_is_all_or_nothing() -> None:
    options = cambium.Options()
    with pytest.raises(cambium.InvalidArgumentError):
        options.update(write_buffer_size=1 << 20, page_size=1000)
    assert options.write_buffer_size == 64 << 20
    with pytest.raises(cambium.NotSupportedError):
        options.compression = cambium.CompressionType.SNAPPY
    with pytest.raises(TypeError):
        options.update(nonsense=1)  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        options.write_buffer_size = True
    with pytest.raises(TypeError):
        options.write_buffer_size = 1.5  # type: ignore[assignment]


def test_text() -> None:
    options = cambium.Options()
    options.set("write_buffer_size", "16M")
    assert options.get("write_buffer_size") == str(16 << 20)
    with pytest.raises(cambium.InvalidArgumentError, match="nonsense"):
        options.set("nonsense", "1")
    with pytest.raises(KeyError):
        options.get("nonsense")
    copy = cambium.Options.from_string(options.to_string())
    assert copy.as_dict() == options.as_dict()
    assert cambium.Options.from_string("compression=kZSTD; sweep_ratio=4").sweep_ratio == 4
    assert re.search("write_buffer_size=", options.to_string())
    with pytest.raises(cambium.InvalidArgumentError):
        cambium.Options.from_string("nonsense")


def test_copy_and_rocksdb() -> None:
    options = cambium.Options(sweep_ratio=4)
    copy = options.copy()
    copy.sweep_ratio = 5
    assert options.sweep_ratio == 4
    copy.optimize_for_rocksdb_compatibility()
    assert copy.max_write_buffer_number == 2


def test_objects_cannot_be_read() -> None:
    with pytest.raises(AttributeError):
        cambium.Options().comparator  # noqa: B018
    options = cambium.Options()
    for name in ("comparator", "rate_limiter", "write_buffer_manager"):
        with pytest.raises(TypeError):
            setattr(options, name, object())
    with pytest.raises(TypeError):
        options.compaction_filter_factory = 1


def test_load_latest_options(path: Path) -> None:
    own = cambium.Comparator(lambda a, b: (a > b) - (a < b), "own")
    other = cambium.Options(sweep_ratio=5)
    other.comparator = own
    with cambium.DB(path, create_if_missing=True, sweep_ratio=4, comparator=cambium.REVERSE_BYTEWISE) as db:
        db.create_column_family("other", other)
    with pytest.raises(cambium.InvalidArgumentError):
        cambium.load_latest_options(path)
    options, families = cambium.load_latest_options(path, comparators=[own], ignore_unknown_options=True)
    assert families["default"].sweep_ratio == 4
    assert families["other"].sweep_ratio == 5
    options.create_if_missing = False
    del families["default"]
    options.comparator = cambium.REVERSE_BYTEWISE
    with cambium.DB(path, options=options, column_families=families) as db:
        db.column_family("other").put(b"k", b"v")
        db.put(b"a", b"")
        db.put(b"b", b"")
        assert list(db.iterator(include_value=False, start=b"b", include_start=False)) == [b"a"]
    with pytest.raises(cambium.Error):
        cambium.load_latest_options(path.with_name("missing"))


def test_comparator_as_text(path: Path) -> None:
    options = cambium.Options.from_string("create_if_missing=true;comparator=cambium.ReverseBytewiseComparator")
    with cambium.DB(path, options=options) as db:
        for key in (b"a", b"b", b"c"):
            db.put(key, b"")
        assert list(db.iterator(start=b"c", include_start=False, include_value=False)) == [b"b", b"a"]
        assert db.get_options().get("comparator") == "cambium.ReverseBytewiseComparator"
    options.set("comparator", "cambium.BytewiseComparator")
    with pytest.raises(cambium.InvalidArgumentError):
        cambium.DB(path, options=options)


def test_rate_limiter(path: Path) -> None:
    limiter = cambium.RateLimiter(1 << 30, refill_period_us=10_000, fairness=10)
    assert limiter.bytes_per_second == 1 << 30
    limiter.bytes_per_second = 1 << 29
    assert limiter.bytes_per_second == 1 << 29
    with pytest.raises(cambium.InvalidArgumentError):
        limiter.bytes_per_second = 1
    options = cambium.Options(create_if_missing=True)
    options.rate_limiter = limiter
    with cambium.DB(path, options=options) as db:
        db.put(b"k", b"v" * 1000)
        db.flush()
    options.rate_limiter = None


def test_write_buffer_manager(path: Path) -> None:
    manager = cambium.WriteBufferManager(1 << 20, allow_stall=True)
    assert manager.enabled
    assert manager.buffer_size == 1 << 20
    manager.set_allow_stall(False)
    options = cambium.Options(create_if_missing=True)
    options.write_buffer_manager = manager
    with cambium.DB(path, options=options) as db:
        db.put(b"k", b"v" * 1000)
        assert manager.memory_usage > 0
        assert manager.mutable_memory_usage > 0
        manager.buffer_size = 1 << 21
        assert manager.buffer_size == 1 << 21
    options.write_buffer_manager = None


def test_statistics(path: Path) -> None:
    options = cambium.Options(create_if_missing=True)
    assert options.statistics() is None
    assert options.ticker("rocksdb.memtable.hit") == 0
    options.enable_statistics()
    with cambium.DB(path, options=options) as db:
        db.put(b"k", b"v")
        db.get(b"k")
        assert options.ticker("rocksdb.memtable.hit") == 1
        assert db.opened_with.ticker("rocksdb.memtable.hit") == 1
        histogram = options.histogram("rocksdb.db.get.micros")
        assert histogram.count == 1
        assert histogram.min <= histogram.median <= histogram.max
        text = options.statistics()
        assert text is not None
        assert "rocksdb.memtable.hit" in text
    level = options.statistics_level
    options.statistics_level = level - 1
    assert options.statistics_level == level - 1
    with pytest.raises(KeyError):
        options.ticker("nonsense")
    with pytest.raises(KeyError):
        options.histogram("nonsense")
