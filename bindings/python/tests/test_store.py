"""Reading and writing keys."""

from __future__ import annotations

import array
from typing import Any

import pytest

import cambium


def test_put_get_delete(db: cambium.DB) -> None:
    assert db.get(b"k") is None
    assert db.get(b"k", b"default") == b"default"
    assert db.get(b"k", 7) == 7
    db.put(b"k", b"v")
    assert db.get(b"k") == b"v"
    db.put(b"k", b"w")
    assert db.get(b"k") == b"w"
    db.delete(b"k")
    assert db.get(b"k") is None
    db.delete(b"k")
    db.put(b"k", b"v")
    db.single_delete(b"k")
    assert db.get(b"k") is None


def test_mapping(db: cambium.DB) -> None:
    db[b"k"] = b"v"
    assert db[b"k"] == b"v"
    assert b"k" in db
    del db[b"k"]
    assert b"k" not in db
    with pytest.raises(KeyError):
        db[b"k"]
    wrong: Any = (b"k", b"default")
    with pytest.raises(TypeError):
        db[wrong]


def test_delete_range(db: cambium.DB) -> None:
    for key in b"abcde":
        db.put(bytes([key]), b"")
    db.delete_range(b"b", b"d")
    assert list(db.iterator(include_value=False)) == [b"a", b"d", b"e"]
    db.delete_range(b"e", b"e")
    with pytest.raises(cambium.InvalidArgumentError):
        db.delete_range(b"e", b"d")


def test_write_options(db: cambium.DB) -> None:
    db.put(b"k", b"v", sync=True)
    db.put(b"k", b"v", disable_wal=True, no_slowdown=True)
    db.delete(b"k", sync=True, no_slowdown=True)
    db.single_delete(b"k", disable_wal=True)
    db.delete_range(b"a", b"b", sync=True)
    with pytest.raises(cambium.InvalidArgumentError):
        db.put(b"k", b"v", sync=True, disable_wal=True)
    db.put(b"k", b"v", sync=None)


def test_read_options(db: cambium.DB) -> None:
    db.put(b"k", b"v", sync=True)
    for truth in (True, False, None):
        assert db.get(b"k", verify_checksums=truth, fill_cache=truth, durable_only=truth) == b"v"
    db.put(b"unsynced", b"v")
    assert db.get(b"unsynced", durable_only=True) is None
    with db.snapshot() as snapshot, pytest.raises(cambium.InvalidArgumentError):
        snapshot.get(b"k", durable_only=True)


def test_multi_get(db: cambium.DB) -> None:
    for i in range(100):
        db.put(b"%d" % i, b"v" * i)
    keys = [b"%d" % i for i in range(99, -1, -1)]
    assert db.multi_get(keys) == [b"v" * i for i in range(99, -1, -1)]
    assert db.multi_get([b"1", b"none", b"0", b"1"]) == [b"v", None, b"", b"v"]
    assert db.multi_get(iter([b"none"]), b"default", async_io=False, verify_checksums=False) == [b"default"]
    assert db.multi_get([]) == []
    with pytest.raises(TypeError):
        db.multi_get([b"1", 2])  # type: ignore[list-item]
    with pytest.raises(TypeError):
        db.multi_get(None)  # type: ignore[call-overload]
    with db.snapshot() as snapshot:
        with pytest.raises(cambium.InvalidArgumentError):
            snapshot.multi_get([b"1"], durable_only=True)
        db.put(b"1", b"new")
        assert snapshot.multi_get([b"1"]) == [b"v"]


def test_bytes_like(db: cambium.DB) -> None:
    numbers = array.array("I", [1, 2, 3])
    db.put(bytearray(b"k"), memoryview(b"xvx")[1:2])
    assert db.get(memoryview(b"k")) == b"v"
    db.put(numbers, numbers)
    assert db.get(numbers.tobytes()) == numbers.tobytes()
    assert memoryview(b"k") in db
    db.delete(bytearray(b"k"))
    key = bytearray(b"key")
    db.put(key, key)
    key.append(0)  # no buffer is held after the call
    with pytest.raises(BufferError):
        db.put(b"k", memoryview(b"abcdef")[::2])


class Keyed(bytes):
    pass


def test_subclass_of_bytes(db: cambium.DB) -> None:
    db.put(Keyed(b"k"), Keyed(b"v"))
    assert db.get(Keyed(b"k")) == b"v"


@pytest.mark.parametrize("wrong", ["text", 1, None, 1.5, [b"k"]])
def test_wrong_types(db: cambium.DB, wrong: Any) -> None:
    with pytest.raises(TypeError, match="key must be a bytes-like object"):
        db.get(wrong)
    with pytest.raises(TypeError, match="value must be a bytes-like object"):
        db.put(b"k", wrong)
    with pytest.raises(TypeError):
        db.put(wrong, b"v")
    with pytest.raises(TypeError):
        db.delete(wrong)
    with pytest.raises(TypeError):
        db.delete_range(b"a", wrong)
    with pytest.raises(TypeError):
        db.delete_range(wrong, b"a")
    with pytest.raises(TypeError):
        wrong in db  # noqa: B015


def test_wrong_arguments(db: cambium.DB) -> None:
    untyped: Any = db
    for call in (
        lambda: untyped.get(),
        lambda: untyped.put(b"k"),
        lambda: untyped.get(b"k", b"d", True),
        lambda: untyped.get(b"k", nonsense=1),
        lambda: untyped.get(b"k", key=b"k"),
        lambda: untyped.iterator(True),
    ):
        with pytest.raises(TypeError):
            call()  # type: ignore[no-untyped-call]
    assert untyped.get(key=b"k", default=1) == 1


@pytest.mark.parametrize(
    "data", [b"", b"\0", b"\0\0\1", b"a\0b", bytes(range(256))], ids=["empty", "zero", "zeros", "inside", "all"]
)
def test_bytes_with_zeros(db: cambium.DB, data: bytes) -> None:
    db.put(data, data)
    assert db.get(data) == data
    assert data in db
    assert list(db) == [(data, data)]
    assert list(db.iterator(reverse=True)) == [(data, data)]
    assert db.multi_get([data]) == [data]
    with db.write_batch() as batch:
        batch.put(data + b"x", data)
    assert db.get(data + b"x") == data
    raw = db.raw_iterator()
    raw.seek(data)
    assert raw.item() == (data, data)
    db.delete(data)
    assert db.get(data) is None


@pytest.mark.parametrize("size", [0, 1, 64 << 20])
def test_sizes_of_values(db: cambium.DB, size: int) -> None:
    value = bytes(range(256)) * (size // 256) + b"x" * (size % 256)
    assert len(value) == size
    db.put(b"k", value)
    assert db.get(b"k") == value
    assert next(iter(db)) == (b"k", value)
    assert next(db.iterator(reverse=True, include_key=False)) == value
    pinned = db.get_pinned(b"k")
    assert pinned is not None
    assert len(pinned) == size
    with pinned as view:
        assert view == value
    assert db.multi_get([b"k", b"l"]) == [value, None]


def test_key_too_long(db: cambium.DB) -> None:
    longest = b"k" * (64 << 10)
    db.put(longest, b"v")
    assert db.get(longest) == b"v"
    assert next(db.prefixed_db(b"k").iterator()) == (longest[1:], b"v")
    with pytest.raises(cambium.InvalidArgumentError):
        db.put(longest + b"k", b"v")
