"""Flushes, compactions, properties, sizes, traces, checkpoints."""

from __future__ import annotations

from pathlib import Path

import pytest

import cambium


def test_flush_and_compact(db: cambium.DB) -> None:
    for i in range(100):
        db.put(b"%03d" % i, b"v" * 100)
    db.flush()
    db.flush(wait=False)
    db.wait_for_compact()
    db.compact_range()
    db.compact_range(start=b"a", stop=b"b")
    db.compact_range(start=b"a")
    db.compact_range(stop=b"b")
    db.compact_range(
        b"0",
        b"9",
        blob_garbage_collection_policy=cambium.BlobGcPolicy.FORCE,
        blob_garbage_collection_age_cutoff=1.0,
        cluster_values=True,
    )
    db.flush_wal(sync=True)
    db.flush_wal(sync=False)
    with pytest.raises(TypeError):
        db.compact_range(1)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        db.compact_range(b"a", "b")  # type: ignore[arg-type]
    assert len(list(db)) == 100


def test_properties(db: cambium.DB) -> None:
    stats = db.get_property("rocksdb.stats")
    assert isinstance(stats, str)
    assert isinstance(db.get_property(b"cambium.stats"), bytes)
    assert db.get_property("nonsense") is None
    assert db.get_property(b"nonsense") is None
    assert db.get_int_property("cambium.num-runs") == 0
    assert db.get_int_property("cambium.stats") is None
    assert db.get_int_property("nonsense") is None
    with pytest.raises(TypeError):
        db.get_property(42)  # type: ignore[call-overload]
    with pytest.raises(ValueError, match="zero byte"):
        db.get_property("a\0b")


def test_approximate_sizes(db: cambium.DB) -> None:
    with db.write_batch() as batch:
        for i in range(1000):
            batch.put(b"%04d" % i, b"v" * 1000)
    assert db.approximate_size(b"0", b"9", include_memtables=True) > 900_000
    db.flush()
    assert db.approximate_size(b"0", b"9") > 900_000
    assert db.approximate_sizes() == []
    halves = db.approximate_sizes((b"0", b"0500"), (bytearray(b"0500"), b"9"))
    assert 400_000 < halves[0] < 600_000
    assert 400_000 < halves[1] < 600_000
    assert db.prefixed_db(b"0").approximate_size(b"", b"500") > 400_000
    for wrong in ((1, 2), ("a", "b"), (b"a", None)):
        with pytest.raises(TypeError):
            db.approximate_size(*wrong)
    with pytest.raises(TypeError):
        db.approximate_sizes(None)  # type: ignore[arg-type]


def test_change_options(db: cambium.DB) -> None:
    db.set_options(min_blob_size=1024, compression=cambium.CompressionType.LZ4)
    assert db.get_options().min_blob_size == 1024
    assert db.get_options().compression is cambium.CompressionType.LZ4
    db.set_db_options(page_cache_size=1 << 20, max_space_amplification=2.0)
    assert db.get_options().page_cache_size == 1 << 20
    assert db.get_options().max_space_amplification == 2.0
    with pytest.raises(cambium.InvalidArgumentError):
        db.set_options(min_blob_size=1, num_levels=5)
    assert db.get_options().min_blob_size == 1024
    with pytest.raises(TypeError):
        db.set_options(min_blob_size=None)  # type: ignore[arg-type]


def test_checkpoint(db: cambium.DB, tmp_path: Path) -> None:
    db.put(b"k", b"v")
    db.checkpoint(tmp_path / "copy")
    db.put(b"k", b"w")
    db.checkpoint(str(tmp_path / "copy2"), log_size_for_flush=1 << 30)
    with pytest.raises(cambium.InvalidArgumentError):
        db.checkpoint(tmp_path / "copy")
    with cambium.DB(tmp_path / "copy") as copy:
        assert copy.get(b"k") == b"v"
    with cambium.DB(tmp_path / "copy2") as copy:
        assert copy.get(b"k") == b"w"
    with pytest.raises(cambium.LockedError):
        cambium.checkpoint_offline(tmp_path / "db", tmp_path / "copy3")
    db.close()
    cambium.checkpoint_offline(tmp_path / "db", tmp_path / "copy3")
    with cambium.DB(tmp_path / "copy3") as copy:
        assert copy.get(b"k") == b"w"


def test_trace(db: cambium.DB, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    db.start_trace(
        trace,
        max_trace_file_size=1 << 20,
        sampling_frequency=1,
        filter=cambium.TraceFilter.GET | cambium.TraceFilter.MULTI_GET,
        preserve_write_order=True,
        include_values=True,
    )
    with pytest.raises(cambium.BusyError):
        db.start_trace(tmp_path / "other")
    db.put(b"traced key", b"traced value")
    db.end_trace()
    assert b"traced value" in trace.read_bytes()
    with pytest.raises(cambium.NotFoundError):
        db.end_trace()
    with pytest.raises(cambium.InvalidArgumentError):
        db.start_trace(tmp_path / "third", sampling_frequency=0)
