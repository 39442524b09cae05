"""The shell: python -m cambium."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import pytest

import cambium
from cambium.__main__ import Shell, decode, encode, main


@pytest.mark.parametrize("data", [b"", b"plain", b"a\\b", b"\0\xff\n", "é".encode(), b"\xe9", bytes(range(256))])
def test_escapes(data: bytes) -> None:
    text = decode(data)
    assert text.isprintable()
    assert encode(text) == data


def test_wrong_escape() -> None:
    for text in ("\\", "\\q", "\\x1", "\\xzz"):
        with pytest.raises(ValueError):
            encode(text)


def test_commands(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    directory = str(path)
    assert main([directory, "get", "k"]) == 1
    assert "error" in capsys.readouterr().err
    assert main(["--create", directory, "put", "k", "v\\x00"]) == 0
    assert main([directory, "put", "l", "w"]) == 0
    assert main([directory, "get", "k"]) == 0
    assert capsys.readouterr().out == "v\\x00\n"
    assert main([directory, "scan"]) == 0
    assert capsys.readouterr().out == "k\tv\\x00\nl\tw\n"
    assert main([directory, "scan", "l"]) == 0
    assert capsys.readouterr().out == "l\tw\n"
    assert main([directory, "scan", "", "1"]) == 0
    assert capsys.readouterr().out == "k\tv\\x00\n"
    assert main([directory, "delete", "k"]) == 0
    assert main([directory, "get", "k"]) == 1
    assert "no such key" in capsys.readouterr().out
    assert main(["--read-only", directory, "put", "k", "v"]) == 1
    assert main([directory, "stats"]) == 0
    assert "index: btree" in capsys.readouterr().out
    assert main([directory, "stats", "cambium.num-runs"]) == 0
    assert capsys.readouterr().out.strip().isdigit()
    assert main([directory, "stats", "nonsense"]) == 1
    assert main([directory, "nonsense"]) == 1
    assert main([directory, "get"]) == 1
    assert main([directory, "help"]) == 0
    assert "put KEY VALUE" in capsys.readouterr().out
    assert main(["--column-family", "none", directory, "scan"]) == 1
    with cambium.DB(path) as db:
        db.create_column_family("other").put(b"o", b"1")
    assert main(["--column-family", "other", directory, "scan"]) == 0
    assert "o\t1\n" in capsys.readouterr().out


def test_interactive(db: cambium.DB) -> None:
    lines: list[str] = []
    shell = Shell(db, lines.append)
    for line in ("put 'a b' c", "get 'a b'", "", "get 'unclosed", "put \\x00 zero", "get \\x00"):
        assert not shell.onecmd(line)
    assert lines[0] == "c"
    assert lines[1].startswith("error: No closing quotation")
    assert lines[2] == "zero"
    assert db.get(b"\0") == b"zero"
    assert shell.completenames("g") == ["get"]
    assert shell.emptyline() is False
    assert shell.onecmd("quit")
    assert shell.onecmd("EOF")


def test_as_a_program(path: Path) -> None:
    result = subprocess.run(
        [sys.executable, "-m", "cambium", "--create", str(path)],
        input="put k v\nget k\nscan\nquit\n",
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.split() == ["v", "k", "v"]


def test_shell_without_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with pytest.raises(SystemExit):
        main([])
