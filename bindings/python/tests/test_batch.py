"""Write batches."""

from __future__ import annotations

from pathlib import Path

import pytest

import cambium


def test_nothing_is_written_before_write(db: cambium.DB) -> None:
    batch = db.write_batch()
    for i in range(1000):
        batch.put(b"k%d" % i, b"v")
    batch.delete(b"k2")
    batch.single_delete(b"k3")
    assert len(batch) == 1002
    assert db.get(b"k1") is None
    batch.write()
    assert db.get(b"k1") == b"v"
    assert db.get(b"k2") is None
    assert db.get(b"k3") is None


def test_clear(db: cambium.DB) -> None:
    batch = db.write_batch(sync=True)
    batch.put(b"k", b"v")
    batch.clear()
    assert len(batch) == 0
    batch.write()
    assert db.get(b"k") is None


def test_context_manager(db: cambium.DB) -> None:
    with db.write_batch(sync=True) as batch:
        batch.put(b"k", b"v")
    assert db.get(b"k") == b"v"
    with pytest.raises(ZeroDivisionError), db.write_batch() as batch:
        batch.put(b"written", b"v")
        raise ZeroDivisionError
    assert db.get(b"written") == b"v"
    with pytest.raises(ZeroDivisionError), db.write_batch(transaction=True) as batch:
        batch.put(b"discarded", b"v")
        raise ZeroDivisionError
    assert db.get(b"discarded") is None
    assert len(batch) == 0


def test_families_and_ranges(db: cambium.DB) -> None:
    family = db.create_column_family("other")
    with db.write_batch() as batch:
        batch.put(b"a", b"1")
        batch.put(b"a", b"2", column_family=family)
        batch.delete(b"b", column_family=family)
        batch.delete_range(b"x", b"z", column_family=family.prefixed_db(b"p"))
        assert batch.operations() == [
            ("put", 0, b"a", b"1"),
            ("put", family.id, b"a", b"2"),
            ("delete", family.id, b"b", None),
            ("delete_range", family.id, b"px", b"pz"),
        ]
    assert db.get(b"a") == b"1"
    assert family.get(b"a") == b"2"


def test_batch_of_a_family(db: cambium.DB) -> None:
    family = db.create_column_family("other")
    with family.write_batch() as batch:
        batch.put(b"a", b"1")
    assert family.get(b"a") == b"1"
    assert db.get(b"a") is None


def test_another_database(db: cambium.DB, tmp_path: Path) -> None:
    with cambium.DB(tmp_path / "other", create_if_missing=True) as other:
        batch = db.write_batch()
        with pytest.raises(ValueError, match="another database"):
            batch.put(b"a", b"1", column_family=other)
        with pytest.raises(ValueError, match="another database"):
            batch.append(other.write_batch())


def test_append(db: cambium.DB) -> None:
    first = db.write_batch()
    first.put(b"a", b"1")
    second = db.write_batch()
    second.put(b"b", b"2")
    first.append(second)
    first.write()
    assert list(db) == [(b"a", b"1"), (b"b", b"2")]
    with pytest.raises(ValueError, match="itself"):
        first.append(first)
    with pytest.raises(TypeError):
        first.append(b"")  # type: ignore[arg-type]


def test_data(db: cambium.DB) -> None:
    batch = db.write_batch()
    batch.put(b"a", b"1")
    data = batch.data()
    assert batch.approximate_size() == len(data)
    copy = db.write_batch_from(data, sync=True)
    assert copy.operations() == [("put", 0, b"a", b"1")]
    copy.write()
    assert db.get(b"a") == b"1"
    with pytest.raises(ValueError, match="not those of a batch"):
        db.write_batch_from(b"nonsense")


def test_save_points(db: cambium.DB) -> None:
    batch = db.write_batch()
    batch.put(b"a", b"1")
    batch.set_save_point()
    batch.put(b"b", b"2")
    batch.rollback_to_save_point()
    assert len(batch) == 1
    with pytest.raises(cambium.NotFoundError):
        batch.rollback_to_save_point()
    batch.set_save_point()
    batch.pop_save_point()
    with pytest.raises(cambium.NotFoundError):
        batch.pop_save_point()


def test_refused_operation(db: cambium.DB) -> None:
    batch = db.write_batch()
    batch.put(b"a", b"1")
    batch.set_save_point()
    batch.put(b"k" * (1 << 17), b"v")
    with pytest.raises(cambium.InvalidArgumentError):
        batch.write()
    batch.rollback_to_save_point()
    batch.write()
    assert list(db) == [(b"a", b"1")]


def test_wrong_types(db: cambium.DB) -> None:
    batch = db.write_batch()
    with pytest.raises(TypeError):
        batch.put("a", b"1")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        batch.put(b"a", 1)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        batch.put(b"a", b"1", column_family="other")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        cambium.WriteBatch(b"")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        batch.delete_range(b"a", None)  # type: ignore[arg-type]
    assert len(batch) == 0
