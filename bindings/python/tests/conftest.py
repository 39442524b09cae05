from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import cambium


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "db"


@pytest.fixture
def db(path: Path) -> Iterator[cambium.DB]:
    with cambium.DB(path, create_if_missing=True) as opened:
        yield opened


class Unraisable:
    """Collects what sys.unraisablehook gets."""

    def __init__(self) -> None:
        self.errors: list[BaseException] = []

    def __call__(self, unraisable: sys.UnraisableHookArgs) -> None:
        if unraisable.exc_value is not None:
            self.errors.append(unraisable.exc_value)


@pytest.fixture
def unraisable(monkeypatch: pytest.MonkeyPatch) -> Unraisable:
    hook = Unraisable()
    monkeypatch.setattr(sys, "unraisablehook", hook)
    return hook
