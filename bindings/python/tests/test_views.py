"""Snapshots and prefixes."""

from __future__ import annotations

from pathlib import Path

import pytest

import cambium


def test_snapshot(db: cambium.DB) -> None:
    db.put(b"a", b"1")
    with db.snapshot() as snapshot:
        number = snapshot.sequence_number
        db.put(b"a", b"2")
        db.put(b"b", b"2")
        assert snapshot.get(b"a") == b"1"
        assert snapshot.get(b"b") is None
        assert snapshot.get(b"b", b"d") == b"d"
        assert b"b" not in snapshot
        assert snapshot.multi_get([b"a", b"b"]) == [b"1", None]
        assert list(snapshot) == [(b"a", b"1")]
        assert list(snapshot.iterator(reverse=True)) == [(b"a", b"1")]
        pinned = snapshot.get_pinned(b"a")
        assert pinned is not None
        assert pinned.tobytes() == b"1"
        raw = snapshot.raw_iterator()
        raw.seek_to_last()
        assert raw.key() == b"a"
        assert snapshot.sequence_number == number
        assert not snapshot.closed
        assert not hasattr(snapshot, "put")
    assert snapshot.closed
    snapshot.close()
    for call in (lambda: snapshot.get(b"a"), snapshot.iterator, snapshot.raw_iterator, lambda: list(snapshot)):
        with pytest.raises(cambium.ClosedError):
            call()
    with pytest.raises(cambium.ClosedError):
        snapshot.sequence_number  # noqa: B018


def test_snapshot_of_other_families(db: cambium.DB, tmp_path: Path) -> None:
    family = db.create_column_family("a")
    family.put(b"k", b"1")
    snapshot = db.snapshot()
    family.put(b"k", b"2")
    assert snapshot.of(family).get(b"k") == b"1"
    assert snapshot.of(family.prefixed_db(b"k")).get(b"") == b"1"
    with cambium.DB(tmp_path / "other", create_if_missing=True) as other, pytest.raises(ValueError, match="another"):
        snapshot.of(other)
    snapshot.close()
    with pytest.raises(cambium.ClosedError):
        snapshot.of(family).get(b"k")


def test_iterator_outlives_its_snapshot(db: cambium.DB) -> None:
    for i in range(1000):
        db.put(b"%04d" % i, b"1")
    snapshot = db.snapshot()
    entries = snapshot.iterator(include_key=False)
    raw = snapshot.raw_iterator()
    next(entries)
    snapshot.close()
    for i in range(1000):
        db.put(b"%04d" % i, b"2")
    assert set(entries) == {b"1"}
    raw.seek(b"0500")
    assert raw.value() == b"1"
    del entries, raw, snapshot


def test_prefix(db: cambium.DB) -> None:
    view = db.prefixed_db(bytearray(b"p-"))
    assert view.prefix == b"p-"
    assert view.db is db
    assert repr(view) == "<cambium.PrefixedDB b'p-'>"
    view.put(b"a", b"1")
    view[b"b"] = b"2"
    db.put(b"o", b"")
    db.put(b"q", b"")
    assert db.get(b"p-a") == b"1"
    assert view.get(b"a") == b"1"
    assert list(view) == [(b"a", b"1"), (b"b", b"2")]
    assert list(view.iterator(reverse=True, include_value=False)) == [b"b", b"a"]
    assert list(view.iterator(start=b"b", include_value=False)) == [b"b"]
    assert list(view.iterator(stop=b"b", include_value=False)) == [b"a"]
    assert list(view.iterator(start=b"a", include_start=False, stop=b"b", include_stop=True)) == [(b"b", b"2")]
    assert list(view.iterator(prefix=b"b", include_value=False)) == [b"b"]
    entries = view.iterator(include_value=False)
    entries.seek(b"b")
    assert next(entries) == b"b"
    assert view.multi_get([b"a", b"x"]) == [b"1", None]
    with view.write_batch() as batch:
        batch.put(b"c", b"3")
        batch.delete(b"a")
    assert db.get(b"p-c") == b"3"
    with view.snapshot() as snapshot:
        view.put(b"c", b"4")
        assert snapshot.get(b"c") == b"3"
        assert snapshot.prefix == b"p-"
    inner = view.prefixed_db(b"i-")
    inner.put(b"k", b"5")
    assert inner.db is view
    assert db.get(b"p-i-k") == b"5"
    assert list(inner) == [(b"k", b"5")]
    view.delete_range(b"a", b"z")
    assert list(view) == []
    view.compact_range()
    view.compact_range(b"a", b"b")
    assert list(db.iterator(include_value=False)) == [b"o", b"q"]


def test_prefix_without_end(db: cambium.DB) -> None:
    view = db.prefixed_db(b"\xff\xff")
    view.put(b"a", b"1")
    db.put(b"\xff", b"2")
    assert list(view) == [(b"a", b"1")]
    assert list(view.iterator(reverse=True)) == [(b"a", b"1")]
    view.compact_range()
    assert list(db.prefixed_db(b"")) == list(db)


def test_long_prefix(db: cambium.DB) -> None:
    view = db.prefixed_db(b"p" * 1000)
    view.put(b"k", b"v")
    assert view.get(b"k") == b"v"
    assert db.get(b"p" * 1000 + b"k") == b"v"
    with pytest.raises(TypeError):
        db.prefixed_db("text")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        db.prefixed_db(5)  # type: ignore[arg-type]
