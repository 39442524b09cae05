"""Values that are read without a copy."""

from __future__ import annotations

from pathlib import Path

import pytest

import cambium


def pinned(db: cambium.DB, key: bytes, pin_mapped_values: bool = False) -> cambium.PinnedValue:
    value = db.get_pinned(key, pin_mapped_values=pin_mapped_values)
    assert value is not None
    return value


def test_buffer(db: cambium.DB) -> None:
    db.put(b"k", b"value")
    assert db.get_pinned(b"none") is None
    value = pinned(db, b"k")
    assert len(value) == 5
    assert bytes(value) == b"value"
    assert value.tobytes() == b"value"
    view = memoryview(value)
    assert view.readonly
    assert bytes(view[1:3]) == b"al"
    with pytest.raises(BufferError):
        value.release()
    view.release()
    value.release()
    value.release()
    for call in (lambda: memoryview(value), value.tobytes, lambda: len(value)):
        with pytest.raises(cambium.ClosedError):
            call()


def test_context_manager(db: cambium.DB) -> None:
    db.put(b"k", b"value")
    with pinned(db, b"k") as view:
        assert bytes(view) == b"value"
    with pytest.raises(ValueError, match="released"):
        view[0]
    with pytest.raises(ZeroDivisionError), pinned(db, b"k") as view:
        raise ZeroDivisionError


@pytest.mark.parametrize("pin_mapped_values", [False, True])
def test_mapped(path: Path, pin_mapped_values: bool) -> None:
    with cambium.DB(path, create_if_missing=True) as db:
        db.put(b"k", b"v" * 100_000)
    with cambium.DB(path) as db:
        for _ in range(3):
            with pinned(db, b"k", pin_mapped_values) as view:
                db.put(b"other", b"w")
                assert view == b"v" * 100_000
                db.delete(b"k")
                db.put(b"k", b"v" * 100_000)


def test_close_while_in_use(path: Path) -> None:
    db = cambium.DB(path, create_if_missing=True)
    db.put(b"k", b"v" * 10_000)
    value = pinned(db, b"k", True)
    view = memoryview(value)
    with pytest.raises(BufferError, match="1 buffers"):
        db.close()
    assert not db.closed
    assert db.get(b"k") == bytes(view)
    part = view[:10]
    view.release()
    with pytest.raises(BufferError):
        db.close()
    part.release()
    db.close()
    assert db.closed
    with pytest.raises(cambium.ClosedError):
        memoryview(value)
    value.release()


def test_view_holds_the_database(path: Path) -> None:
    db = cambium.DB(path, create_if_missing=True)
    db.put(b"k", b"v" * 10_000)
    view = memoryview(pinned(db, b"k"))
    del db
    assert view == b"v" * 10_000
    with pytest.raises(cambium.LockedError):
        cambium.DB(path)
    del view
    cambium.DB(path).close()
