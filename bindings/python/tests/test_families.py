"""Column families."""

from __future__ import annotations

from pathlib import Path

import pytest

import cambium


def test_create_list_open_drop(path: Path) -> None:
    with cambium.DB(path, create_if_missing=True) as db:
        family = db.create_column_family("trees", cambium.Options(index_type=cambium.IndexType.LSM))
        assert family.name == "trees"
        assert family.id == 1
        assert repr(family) == "<cambium.ColumnFamily 'trees'>"
        family.put(b"oak", b"1")
        db.put(b"oak", b"2")
        assert family.get(b"oak") == b"1"
        assert set(db.column_families) == {"default", "trees"}
        assert family.get_options().index_type is cambium.IndexType.LSM
        with pytest.raises(cambium.InvalidArgumentError):
            db.create_column_family("trees")
    assert cambium.list_column_families(path) == ["default", "trees"]
    with pytest.raises(cambium.InvalidArgumentError):
        cambium.DB(path)
    options = {"trees": cambium.Options(index_type=cambium.IndexType.LSM)}
    with cambium.DB(path, column_families=options) as db:
        trees = db.column_family("trees")
        assert trees.get(b"oak") == b"1"
        assert db.get(b"oak") == b"2"
        db.drop_column_family("trees")
        with pytest.raises(cambium.ColumnFamilyDroppedError):
            trees.get(b"oak")
        with pytest.raises(KeyError):
            db.column_family("trees")
    assert cambium.list_column_families(path) == ["default"]


def test_open_with_names(path: Path) -> None:
    options = {"default": None, "a": None}
    with cambium.DB(path, create_if_missing=True, create_missing_column_families=True, column_families=options) as db:
        db.column_family("a").put(b"k", b"v")
    with cambium.DB(path, column_families=["a"]) as db:
        assert db.column_family("a").get(b"k") == b"v"
        assert db.column_family("default").name == "default"
    with cambium.DB(path, read_only=True) as db:
        assert set(db.column_families) == {"default"}
    with cambium.DB(path, read_only=True, column_families=["a"]) as db:
        assert list(db.column_family("a")) == [(b"k", b"v")]
    with pytest.raises(cambium.InvalidArgumentError):
        cambium.DB(path, column_families=["a", "missing"])


def test_wrong_arguments(db: cambium.DB, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="zero byte"):
        db.create_column_family("a\0b")
    with pytest.raises(TypeError):
        db.create_column_family(1)  # type: ignore[arg-type]
    with pytest.raises(cambium.InvalidArgumentError):
        db.drop_column_family("default")
    with pytest.raises(KeyError):
        db.drop_column_family("missing")
    with cambium.DB(tmp_path / "other", create_if_missing=True) as other:
        family = other.create_column_family("a")
        with pytest.raises(ValueError, match="another database"):
            db.drop_column_family(family)
        with pytest.raises(ValueError, match="another database"):
            db.multi_get_families([(family, b"k")])


def test_reads_of_several_families(db: cambium.DB) -> None:
    family = db.create_column_family("a")
    db.put(b"k", b"1")
    family.put(b"k", b"2")
    view = family.prefixed_db(b"p")
    view.put(b"k", b"3")
    assert db.multi_get_families([(db, b"k"), (family, b"k"), (view, b"k"), (db, b"x")]) == [b"1", b"2", b"3", None]
    assert db.multi_get_families([]) == []
    with db.snapshot() as snapshot, pytest.raises(ValueError, match="snapshots"):
        db.multi_get_families([(db, b"k"), (snapshot, b"k")])
    with pytest.raises(TypeError):
        db.multi_get_families([b"k"])  # type: ignore[list-item]


def test_iterator_of_a_dropped_family(db: cambium.DB) -> None:
    family = db.create_column_family("a")
    for i in range(1000):
        family.put(b"%04d" % i, b"v")
    entries = family.iterator(include_value=False)
    assert next(entries) == b"0000"
    db.drop_column_family(family)
    del family
    assert len(list(entries)) == 999


def test_families_are_released(path: Path) -> None:
    db = cambium.DB(path, create_if_missing=True)
    family = db.create_column_family("a")
    del db  # the family holds the database open
    family.put(b"k", b"v")
    del family
    with cambium.DB(path, column_families=["a"]) as db:
        assert db.column_family("a").get(b"k") == b"v"
