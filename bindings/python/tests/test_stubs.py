"""The types of the extension module are those of its stub."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def test_stubtest() -> None:
    pytest.importorskip("mypy")
    result = subprocess.run(
        [
            sys.executable,
            "-m",
            "mypy.stubtest",
            "cambium._core",
            "--mypy-config-file",
            str(ROOT / "pyproject.toml"),
            "--allowlist",
            str(ROOT / "tests" / "stubtest_allowlist.txt"),
            "--ignore-unused-allowlist",
        ],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert result.returncode == 0, result.stdout + result.stderr
