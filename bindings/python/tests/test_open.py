"""Opening and closing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import cambium


def test_create_and_reopen(path: Path) -> None:
    with cambium.DB(path, create_if_missing=True) as db:
        assert not db.closed
        assert db.name == path
        assert not db.read_only
        assert repr(db) == f"<cambium.DB {str(path)!r}>"
        db.put(b"k", b"v")
    assert db.closed
    assert "closed" in repr(db)
    with cambium.DB(path) as db:
        assert db.get(b"k") == b"v"


@pytest.mark.parametrize("kind", [str, os.fsencode, Path])
def test_kinds_of_names(path: Path, kind: type) -> None:
    with cambium.DB(kind(path), create_if_missing=True) as db:
        assert db.name == kind(path)


def test_name_with_other_characters(tmp_path: Path) -> None:
    with cambium.DB(tmp_path / "úñîçøđê", create_if_missing=True):
        pass
    with pytest.raises(ValueError, match="null byte"):
        cambium.DB("a\0b")
    with pytest.raises(TypeError):
        cambium.DB(123)  # type: ignore[arg-type]


def test_missing(path: Path) -> None:
    with pytest.raises(cambium.InvalidArgumentError):
        cambium.DB(path)
    assert not path.exists()


def test_error_if_exists(path: Path) -> None:
    cambium.DB(path, create_if_missing=True).close()
    with pytest.raises(cambium.InvalidArgumentError):
        cambium.DB(path, error_if_exists=True)


def test_locked(db: cambium.DB, path: Path) -> None:
    with pytest.raises(cambium.LockedError) as caught:
        cambium.DB(path)
    assert isinstance(caught.value, cambium.IOError)
    assert isinstance(caught.value, OSError)
    assert not caught.value.fatal


def test_read_only(path: Path) -> None:
    with pytest.raises(cambium.Error):
        cambium.DB(path, read_only=True)
    with cambium.DB(path, create_if_missing=True) as db:
        db.put(b"k", b"v")
        db.create_column_family("other")
    with cambium.DB(path, read_only=True) as reader, cambium.DB(path, read_only=True) as other:
        assert reader.read_only
        assert reader.get(b"k") == b"v"
        assert other.get(b"k") == b"v"
        with pytest.raises(cambium.NotSupportedError):
            reader.put(b"k", b"w")
        with pytest.raises(cambium.NotSupportedError):
            reader.checkpoint(path.with_name("copy"))


def test_options_are_copied(path: Path) -> None:
    options = cambium.Options(create_if_missing=True)
    with cambium.DB(path, options=options, write_buffer_size=1 << 20) as db:
        options.write_buffer_size = 1 << 21
        assert db.get_options().write_buffer_size == 1 << 20
        assert db.opened_with.write_buffer_size == 1 << 20
    assert options.create_if_missing


def test_unknown_argument(path: Path) -> None:
    with pytest.raises(TypeError, match="no option"):
        cambium.DB(path, nonsense=1)  # type: ignore[call-arg]


def test_close_twice(path: Path) -> None:
    db = cambium.DB(path, create_if_missing=True)
    db.close()
    db.close()
    with pytest.raises(cambium.ClosedError), db:
        pass


def test_identity_and_sequence_number(db: cambium.DB) -> None:
    before = db.latest_sequence_number
    db.put(b"k", b"v")
    assert db.latest_sequence_number == before + 1
    try:
        identity = db.identity
    except cambium.Error as error:
        assert "this version of the library" in str(error)
    else:
        assert identity is not None
        assert len(identity) == 32
        db.verify_checksum()


def test_versions() -> None:
    assert cambium.library_version().count(".") == 2
    assert cambium.__version__.count(".") == 2
