"""Functions on databases that are not open, and backups."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import cambium


def make(path: Path, **arguments: Any) -> None:
    with cambium.DB(path, create_if_missing=True, **arguments) as db:
        for i in range(100):
            db.put(b"key%03d" % i, b"v" * 900)
        db.flush()


def damage(path: Path) -> None:
    for file in path.iterdir():
        data = bytearray(file.read_bytes())
        if b"key050" in data and b"v" * 900 in data:
            data[data.index(b"v" * 900) + 10] ^= 1
            file.write_bytes(data)
            return
    raise AssertionError("no value found")


def test_destroy(path: Path) -> None:
    make(path)
    db = cambium.DB(path)
    with pytest.raises(cambium.LockedError):
        cambium.destroy_db(path)
    db.close()
    cambium.destroy_db(path)
    assert not path.exists()
    cambium.destroy_db(path, options=cambium.Options())


def test_verify_and_repair(path: Path) -> None:
    make(path)
    assert cambium.verify_db(path) == []
    assert cambium.verify_db(path, deep=True) == []
    damage(path)
    problems = cambium.verify_db(path, deep=True)
    assert any("checksum mismatch" in problem for problem in problems)
    cambium.repair_db(path)
    with cambium.DB(path) as db:
        assert len(list(db)) == 99
    assert path.with_name("db.damaged").exists()


def test_verify_missing(path: Path) -> None:
    with pytest.raises(cambium.Error):
        cambium.verify_db(path)


def test_salvage(path: Path) -> None:
    make(path)
    damage(path)
    out = path.with_name("out")
    salvaged = cambium.salvage_db(path, out, include_unproven=True)
    assert salvaged.lost >= 1
    assert salvaged.unproven == 0
    with cambium.DB(out) as db:
        assert len(list(db)) == 99


def test_own_comparators(path: Path) -> None:
    order = cambium.Comparator(lambda a, b: (a > b) - (a < b), "own")
    options = cambium.Options()
    options.comparator = order
    with cambium.DB(path, create_if_missing=True, comparator=order) as db:
        db.put(b"k", b"v")
        db.create_column_family("other", options).put(b"k", b"v")
        db.flush()
    with pytest.raises(cambium.InvalidArgumentError):
        cambium.verify_db(path)
    families = {"default": options, "other": options}
    assert cambium.verify_db(path, deep=True, column_families=families, options=options) == []
    out = path.with_name("out")
    cambium.salvage_db(path, out, options=options, column_families=families)
    with cambium.DB(out, options=options, column_families={"other": options}) as db:
        assert db.column_family("other").get(b"k") == b"v"


def test_wrong_arguments(path: Path) -> None:
    wrong: Any = 1
    for call in (
        lambda: cambium.destroy_db(wrong),
        lambda: cambium.repair_db(wrong),
        lambda: cambium.verify_db(wrong),
        lambda: cambium.salvage_db(path, wrong),
        lambda: cambium.list_column_families(wrong),
        lambda: cambium.checkpoint_offline(path, wrong),
        lambda: cambium.load_latest_options(wrong),
        lambda: cambium.load_latest_options(path, comparators=[wrong]),
        lambda: cambium.BackupEngine(wrong),
    ):
        with pytest.raises((TypeError, AttributeError)):
            call()
    with pytest.raises(cambium.Error):
        cambium.list_column_families(path)


def test_backups(path: Path, tmp_path: Path) -> None:
    make(path)
    with cambium.DB(path) as db, cambium.BackupEngine(tmp_path / "backup") as engine:
        assert engine.backups() == []
        engine.create_backup(db)
        db.put(b"new", b"1")
        engine.set_verify_checksums(False)
        engine.create_backup(db, flush=True)
        infos = engine.backups()
        assert [info.backup_id for info in infos] == [1, 2]
        assert [info.is_checked for info in infos] == [True, False]
        assert infos[1].size > 0
        assert infos[1].number_files > 0
        assert infos[1].sequence_number > infos[0].sequence_number
        assert infos[0].timestamp > 1_600_000_000
        assert engine.corrupted() == []
        engine.verify(1)
        engine.verify(2, with_checksum=True)
        engine.restore(tmp_path / "first", 1)
        engine.restore_latest(tmp_path / "latest")
        with pytest.raises(cambium.LockedError):
            cambium.BackupEngine(tmp_path / "backup")
        with pytest.raises(cambium.NotFoundError):
            engine.delete(7)
        with pytest.raises(ValueError, match="2\\*\\*32"):
            engine.delete(1 << 32)
    assert engine.closed
    engine.close()
    with pytest.raises(cambium.ClosedError):
        engine.backups()
    with cambium.DB(tmp_path / "first") as first, cambium.DB(tmp_path / "latest") as latest:
        assert first.get(b"new") is None
        assert latest.get(b"new") == b"1"
    with cambium.BackupEngine(tmp_path / "backup", read_only=True) as engine:
        assert len(engine.backups()) == 2
        with pytest.raises(cambium.Error):
            engine.create_backup_offline(path)
    with cambium.BackupEngine(tmp_path / "backup", options=cambium.Options()) as engine:
        engine.create_backup_offline(path)
        engine.purge(2)
        assert [info.backup_id for info in engine.backups()] == [2, 3]
        engine.delete(2)
        engine.garbage_collect()
        assert [info.backup_id for info in engine.backups()] == [3]
        engine.stop()
        with pytest.raises(cambium.IncompleteError):
            engine.create_backup_offline(path)


def test_backup_of_a_closed_database(db: cambium.DB, tmp_path: Path) -> None:
    with cambium.BackupEngine(tmp_path / "backup") as engine:
        db.close()
        with pytest.raises(cambium.ClosedError):
            engine.create_backup(db)
