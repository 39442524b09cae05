"""RawIterator."""

from __future__ import annotations

import pytest

import cambium


def test_moves(db: cambium.DB) -> None:
    for key in (b"a", b"c", b"e"):
        db.put(key, key * 2)
    raw = db.raw_iterator()
    assert not raw.valid()
    raw.seek_to_first()
    assert raw.valid()
    assert raw.item() == (b"a", b"aa")
    raw.next()
    assert raw.key() == b"c"
    assert raw.value() == b"cc"
    assert raw.value_size() == 2
    raw.prev()
    assert raw.key() == b"a"
    raw.seek_to_last()
    assert raw.key() == b"e"
    raw.seek(b"b")
    assert raw.key() == b"c"
    raw.seek_for_prev(b"d")
    assert raw.key() == b"c"
    raw.seek_for_prev(b"c")
    assert raw.key() == b"c"
    raw.seek(b"f")
    assert not raw.valid()


def test_invalid(db: cambium.DB) -> None:
    raw = db.raw_iterator()
    for call in (raw.key, raw.value, raw.item, raw.value_size, raw.next, raw.prev):
        with pytest.raises(cambium.IteratorInvalidError):
            call()
    with pytest.raises(TypeError):
        raw.seek("a")  # type: ignore[arg-type]


def test_bounds_and_options(db: cambium.DB) -> None:
    for key in (b"a", b"b", b"c", b"d"):
        db.put(key, b"v" * 2000)
    raw = db.raw_iterator(
        lower_bound=bytearray(b"b"),
        upper_bound=b"d",
        verify_checksums=False,
        fill_cache=False,
        async_io=False,
        pin_mapped_values=True,
        allow_unprepared_value=True,
    )
    keys = []
    raw.seek_to_first()
    while raw.valid():
        keys.append(raw.key())
        assert raw.value_size() > 1900
        assert raw.value() == b"v" * 2000
        raw.next()
    assert keys == [b"b", b"c"]
    with pytest.raises(TypeError):
        db.raw_iterator(lower_bound="a")  # type: ignore[arg-type]


def test_prefix(db: cambium.DB) -> None:
    view = db.prefixed_db(b"p")
    view.put(b"a", b"1")
    db.put(b"q", b"2")
    raw = view.raw_iterator()
    raw.seek(b"")
    assert raw.item() == (b"a", b"1")
    raw.next()
    assert raw.key() == b"q"  # without bounds it leaves the prefix


def test_close(db: cambium.DB) -> None:
    with db.raw_iterator() as raw:
        raw.seek_to_first()
    assert raw.closed
    raw.close()
    for call in (raw.valid, raw.key, raw.next, raw.seek_to_last, lambda: raw.seek(b"")):
        with pytest.raises(cambium.ClosedError):
            call()
