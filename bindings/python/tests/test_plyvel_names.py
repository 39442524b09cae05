"""The names and parameters of plyvel."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cambium import plyvel


def test_options(path: Path) -> None:
    with plyvel.DB(
        str(path),
        create_if_missing=True,
        error_if_exists=True,
        paranoid_checks=True,
        write_buffer_size=16 << 20,
        max_open_files=512,
        lru_cache_size=64 << 20,
        block_size=2048,
        block_restart_interval=32,
        max_file_size=1 << 20,
        compression="snappy",
        bloom_filter_bits=12,
    ) as db:
        options = db.get_options()
        assert options.write_buffer_size == 16 << 20
        assert options.page_cache_size == 64 << 20
        assert options.page_size == 2048
        assert options.filter_bits_per_key == 12
    plyvel.DB(str(path), compression=None, paranoid_checks=False).close()
    plyvel.DB(str(path), compression="zstd").close()


def test_wrong_options(path: Path) -> None:
    wrong: Any
    for wrong in ({"write_buffer_size": "invalid"}, {"lru_cache_size": "invalid"}, {"block_restart_interval": "x"}):
        with pytest.raises(TypeError):
            plyvel.DB(str(path), **wrong)
    with pytest.raises(TypeError):
        plyvel.DB(str(path), nonsense=1)
    with pytest.raises(ValueError, match="compression"):
        plyvel.DB(str(path), compression="invalid", create_if_missing=True)
    with pytest.raises(ValueError, match="together"):
        plyvel.DB(str(path), comparator=None, comparator_name=b"invalid")
    with pytest.raises(TypeError):
        plyvel.DB(str(path), comparator=b"not-a-callable", comparator_name=b"invalid")
    with pytest.raises(TypeError):
        plyvel.DB(str(path), comparator=lambda a, b: 1, comparator_name=12)
    with pytest.raises(plyvel.Error):
        plyvel.DB(str(path), create_if_missing=False)


def test_comparator_and_properties(path: Path) -> None:
    def compare(a: bytes, b: bytes) -> int:
        return (a.lower() > b.lower()) - (a.lower() < b.lower())

    with plyvel.DB(str(path), create_if_missing=True, comparator=compare, comparator_name=b"NoCase") as db:
        with db.write_batch(transaction=True) as batch:
            for key in (b"aaa", b"BBB", b"ccc"):
                batch.put(key, b"")
        assert list(db.iterator(include_value=False)) == [b"aaa", b"BBB", b"ccc"]
        for name in (b"leveldb.stats", b"leveldb.sstables", b"leveldb.num-files-at-level0"):
            assert isinstance(db.get_property(name), bytes)
        assert db.get_property(b"does-not-exist") is None
        with pytest.raises(TypeError):
            db.get_property(42)
    plyvel.repair_db(str(path), comparator=compare, comparator_name=b"NoCase")
    plyvel.destroy_db(str(path))
    assert not path.exists()
    assert plyvel.__leveldb_version__.startswith("1.")
