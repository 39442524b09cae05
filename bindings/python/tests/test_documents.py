"""The programs of the documents run."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import cambium

ROOT = Path(__file__).resolve().parent.parent


def test_readme(tmp_path: Path) -> None:
    text = (ROOT / "README.md").read_text()
    programs = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert len(programs) == 8
    program = "\n".join(programs)
    expected = re.findall(r"print\(.*\)  # (.*)$", program, re.MULTILINE)
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path, timeout=60, check=False
    )
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    assert [line for line in lines if line in expected] == expected
    assert "b'ash' b'1'" in lines
    assert "b'oak' b'1'" in lines


def test_readme_names_every_exception() -> None:
    text = (ROOT / "README.md").read_text()
    for name in cambium.__all__:
        value = getattr(cambium, name)
        if isinstance(value, type) and issubclass(value, Exception):
            assert f"`{name}`" in text or f"`cambium.{name}`" in text


def test_example(tmp_path: Path) -> None:
    result = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "quickstart.py"), str(tmp_path / "db")],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == "oak: a ring a year\nash: 1\nelm: 2\n"


def test_transfer(tmp_path: Path) -> None:
    result = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "transfer.py"), str(tmp_path / "db")],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == "anna has 30\nben has 70\nnot enough money\n"


def test_benchmark(path: Path) -> None:
    program = [sys.executable, str(ROOT / "bench" / "bench.py"), str(path), "0.1"]
    with cambium.DB(path, create_if_missing=True) as db:
        db.put(b"key%010d" % 0, b"")
    failed = subprocess.run(program, capture_output=True, text=True, timeout=60, check=False)
    assert failed.returncode == 1
    assert "missing" in failed.stderr or "1024 bytes" in failed.stderr
    with cambium.DB(path) as db:
        for base in range(0, 100_000, 1000):
            with db.write_batch() as batch:
                for i in range(base, base + 1000):
                    batch.put(b"key%010d" % i, b"v" * 1024)
    result = subprocess.run(program, capture_output=True, text=True, timeout=60, check=False)
    assert (result.returncode, result.stderr) == (0, "")
    assert re.fullmatch(r"get 1024: \d+ ns\nscan 1024: \d+ ns per entry\n", result.stdout)


def test_every_public_name_is_documented() -> None:
    for name in cambium.__all__:
        value = getattr(cambium, name)
        if isinstance(value, type) and value.__module__.startswith("cambium") and "Enum" not in str(value.__mro__):
            assert value.__doc__ or value.__module__ == "cambium._listener", name


@pytest.mark.parametrize("module", ["cambium", "cambium.aio", "cambium.plyvel", "cambium.__main__"])
def test_modules_are_documented(module: str) -> None:
    __import__(module)
    assert sys.modules[module].__doc__
