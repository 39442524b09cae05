"""Iterators, compared with a model: a sorted list and a gap in it."""

from __future__ import annotations

import functools
import random
from pathlib import Path
from typing import Any, Callable

import pytest

import cambium


def by_length(a: bytes, b: bytes) -> int:
    return (len(a) > len(b)) - (len(a) < len(b)) or (a > b) - (a < b)


def reversed_bytes(a: bytes, b: bytes) -> int:
    return (a < b) - (a > b)


def bytewise(a: bytes, b: bytes) -> int:
    return (a > b) - (a < b)


ORDERS: dict[str, tuple[Callable[[bytes, bytes], int], cambium.Comparator | None]] = {
    "bytewise": (bytewise, None),
    "reverse": (reversed_bytes, cambium.REVERSE_BYTEWISE),
    "own": (by_length, cambium.Comparator(by_length, "by_length")),
}


class Model:
    """What an iterator must do."""

    def __init__(self, keys: list[bytes], order: Callable[[bytes, bytes], int], reverse: bool) -> None:
        self.keys = sorted(keys, key=functools.cmp_to_key(order))
        self.order = order
        self.reverse = reverse
        self.gap = len(self.keys) if reverse else 0

    def move(self, forward: bool) -> bytes | None:
        if forward:
            if self.gap == len(self.keys):
                return None
            self.gap += 1
            return self.keys[self.gap - 1]
        if self.gap == 0:
            return None
        self.gap -= 1
        return self.keys[self.gap]

    def next(self) -> bytes | None:
        return self.move(not self.reverse)

    def prev(self) -> bytes | None:
        return self.move(self.reverse)

    def seek(self, target: bytes) -> None:
        self.gap = sum(self.order(key, target) < 0 for key in self.keys)


def step(function: Callable[[], Any]) -> bytes | None:
    try:
        key: bytes = function()
        return key
    except StopIteration:
        return None


def in_range(arguments: dict[str, Any], order: Callable[[bytes, bytes], int], key: bytes) -> bool:
    if "start" in arguments:
        low = order(key, arguments["start"])
        if low < 0 or (low == 0 and not arguments["include_start"]):
            return False
    if "stop" in arguments:
        high = order(key, arguments["stop"])
        if high > 0 or (high == 0 and not arguments["include_stop"]):
            return False
    return True


@pytest.mark.parametrize("name", ORDERS)
def test_random_moves(path: Path, name: str) -> None:
    order, comparator = ORDERS[name]
    random_ = random.Random(7)
    with cambium.DB(path, create_if_missing=True, comparator=comparator) as db:
        keys = [b"%x" % i for i in range(0, 600, 2)]
        for key in keys:
            db.put(key, b"value of " + key)
        for round_ in range(60):
            arguments: dict[str, Any] = {"reverse": random_.random() < 0.5}
            if random_.random() < 0.6:
                arguments["start"] = b"%x" % random_.randrange(620)
            if random_.random() < 0.6:
                arguments["stop"] = b"%x" % random_.randrange(620)
            arguments["include_start"] = random_.random() < 0.5
            arguments["include_stop"] = random_.random() < 0.5
            model = Model([key for key in keys if in_range(arguments, order, key)], order, arguments["reverse"])
            with db.iterator(include_value=round_ % 2 == 0, **arguments) as entries:
                for _ in range(200):
                    choice = random_.random()
                    if choice < 0.45:
                        expected = model.next()
                        found = step(lambda: next(entries))
                    elif choice < 0.85:
                        expected = model.prev()
                        found = step(entries.prev)
                    elif choice < 0.95:
                        target = b"%x" % random_.randrange(620)
                        model.seek(target)
                        entries.seek(target)
                        continue
                    elif choice < 0.97:
                        model.gap = 0
                        entries.seek_to_start()
                        continue
                    elif choice < 0.98:
                        model.gap = len(model.keys)
                        entries.seek_to_stop()
                        continue
                    else:
                        count = random_.randrange(300)
                        taken = [model.next() for _ in range(count)]
                        found_keys = entries.take(count)
                        if round_ % 2 == 0:
                            assert all(value == b"value of " + key for key, value in found_keys)
                            found_keys = [key for key, _ in found_keys]
                        assert found_keys == [key for key in taken if key is not None]
                        continue
                    if isinstance(found, tuple):
                        assert found[1] == b"value of " + found[0]
                        found = found[0]
                    assert found == expected, (arguments, round_)


def test_all_entries_of_all_sizes(db: cambium.DB) -> None:
    random_ = random.Random(3)
    entries = {
        b"%06d" % i: random_.randbytes(random_.choice([0, 1, 100, 1000, 5000, 65536, 65537, 200_000]))
        for i in range(2000)
    }
    with db.write_batch() as batch:
        for key, value in entries.items():
            batch.put(key, value)
    expected = sorted(entries.items())
    assert list(db) == expected
    assert list(db.iterator(reverse=True)) == expected[::-1]
    assert list(db.iterator(include_key=False)) == [value for _, value in expected]
    there = db.iterator()
    forward = [next(there) for _ in range(1500)]
    back = [there.prev() for _ in range(1500)]
    assert forward == expected[:1500]
    assert back == forward[::-1]


def test_what_is_returned(db: cambium.DB) -> None:
    db.put(b"k", b"v")
    assert list(db.iterator()) == [(b"k", b"v")]
    assert list(db.iterator(include_value=False)) == [b"k"]
    assert list(db.iterator(include_key=False)) == [b"v"]
    assert list(db.iterator(include_key=False, include_value=False)) == [None]


def test_prefix(db: cambium.DB) -> None:
    for key in (b"a", b"ab", b"ab\xff", b"ab\xff\xff", b"ac", b"b", b"\xff", b"\xff\xff", b"\xff\xffa"):
        db.put(key, b"")

    def keys(**arguments: Any) -> Any:
        return db.iterator(include_value=False, **arguments)

    assert list(keys(prefix=b"ab")) == [b"ab", b"ab\xff", b"ab\xff\xff"]
    assert list(keys(prefix=b"ab\xff")) == [b"ab\xff", b"ab\xff\xff"]
    assert list(keys(prefix=b"\xff", reverse=True)) == [b"\xff\xffa", b"\xff\xff", b"\xff"]
    assert len(list(keys(prefix=b""))) == 9
    assert list(keys(prefix=b"c")) == []
    assert list(keys(prefix=b"a")) == [b"a", b"ab", b"ab\xff", b"ab\xff\xff", b"ac"]  # a prefix of one byte, twice
    with pytest.raises(TypeError, match="together"):
        db.iterator(prefix=b"a", start=b"a")


def test_read_options_and_wrong_arguments(db: cambium.DB) -> None:
    db.put(b"a", b"1", sync=True)
    db.put(b"b", b"2")
    assert list(db.iterator(durable_only=True, verify_checksums=False, fill_cache=False, async_io=False)) == [
        (b"a", b"1")
    ]
    with pytest.raises(TypeError):
        db.iterator(start="a")  # type: ignore[call-overload]
    with pytest.raises(TypeError):
        db.iterator(stop=1)  # type: ignore[call-overload]
    entries = db.iterator()
    with pytest.raises(TypeError):
        entries.seek("a")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        entries.take("a")  # type: ignore[arg-type]
    assert entries.take(0) == []
    assert entries.take(9) == [(b"a", b"1"), (b"b", b"2")]


def test_shows_the_state_at_its_creation(db: cambium.DB) -> None:
    db.put(b"a", b"1")
    entries = db.iterator()
    db.put(b"a", b"2")
    db.put(b"b", b"2")
    assert list(entries) == [(b"a", b"1")]


def test_empty(db: cambium.DB) -> None:
    entries = db.iterator()
    entries.seek_to_start()
    entries.seek_to_stop()
    for _ in range(2):
        with pytest.raises(StopIteration):
            entries.prev()
        with pytest.raises(StopIteration):
            next(entries)
    db.put(b"b", b"")
    assert list(db.iterator(start=b"c", stop=b"a")) == []
    assert list(db.iterator(start=b"c", stop=b"a", reverse=True)) == []


def test_close(db: cambium.DB) -> None:
    db.put(b"a", b"1")
    with db.iterator() as entries:
        assert not entries.closed
        assert next(entries) == (b"a", b"1")
    assert entries.closed
    entries.close()
    for call in (lambda: next(entries), entries.prev, entries.seek_to_start, lambda: entries.seek(b"a")):
        with pytest.raises(cambium.ClosedError):
            call()
    with pytest.raises(cambium.ClosedError):
        entries.take(1)


def test_damaged_value(path: Path) -> None:
    value = b"v" * 900
    with cambium.DB(path, create_if_missing=True) as db:
        for i in range(20):
            db.put(b"key%02d" % i, b"%02d" % i + value)
        db.flush()
    (log,) = (file for file in path.iterdir() if b"10" + value in file.read_bytes())
    data = bytearray(log.read_bytes())
    data[data.index(b"10" + value) + 100] ^= 1
    log.write_bytes(data)
    with cambium.DB(path) as db:
        with pytest.raises(cambium.Error, match=r"checksum mismatch|this version of the library"):
            db.verify_checksum()
        entries = db.iterator(include_value=True)
        found: list[bytes] = []
        with pytest.raises(cambium.CorruptionError):
            found.extend(entry[0] for entry in iter(lambda: next(entries), None))
        entries.seek_to_start()
        assert len(entries.take(100)) == 10
        with pytest.raises(cambium.CorruptionError):
            next(entries)
        with pytest.raises(cambium.CorruptionError):
            entries.take(1)
        assert entries.prev()[0] == b"key09"
        entries.seek(b"key11")
        assert len(list(entries)) == 9
        with pytest.raises(cambium.CorruptionError):
            db.get(b"key10")
        with pytest.raises(cambium.CorruptionError):
            db.multi_get([b"key09", b"key10"])
        assert len(list(db.iterator(include_value=False))) == 20
        raw = db.raw_iterator()
        with pytest.raises(cambium.CorruptionError):
            raw.seek(b"key10")
        assert not raw.valid()
        raw = db.raw_iterator(allow_unprepared_value=True)
        raw.seek(b"key10")
        assert raw.key() == b"key10"
        with pytest.raises(cambium.CorruptionError):
            raw.value()
