"""Builds the extension module cambium._core.

The library is found, in this order, by
  CAMBIUM_PREFIX   a directory with include/cambium/c.h and lib/libcambium.so,
  pkg-config       the package `cambium`,
  the compiler     its own directories.

With CAMBIUM_BUNDLE=1 and CAMBIUM_PREFIX the wheel has a copy of the library, and needs no installed one.
"""

from __future__ import annotations

import glob
import os
import shutil
import subprocess
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

HERE = Path(__file__).resolve().parent
LIBRARY = "libcambium.so.1"


def pkg_config(option: str) -> list[str]:
    try:
        output = subprocess.run(["pkg-config", option, "cambium"], check=True, capture_output=True, text=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return []
    return output.split()


class BuildExtension(build_ext):
    """Copies the library next to the extension module if the wheel is to have it."""

    def run(self) -> None:
        super().run()
        prefix = os.environ.get("CAMBIUM_PREFIX")
        if os.environ.get("CAMBIUM_BUNDLE") != "1" or prefix is None:
            return
        target = Path(self.get_ext_fullpath("cambium._core")).parent / LIBRARY
        shutil.copyfile(Path(prefix) / "lib" / LIBRARY, target)


def extension() -> Extension:
    prefix = os.environ.get("CAMBIUM_PREFIX")
    made = Extension(
        "cambium._core",
        sources=sorted(os.path.relpath(path, HERE) for path in glob.glob(str(HERE / "native" / "*.c"))),
        depends=["native/core.h"],
        extra_compile_args=[
            "-std=c11",
            "-O2",
            "-fvisibility=hidden",
            "-Wall",
            "-Wextra",
            "-Wno-unused-parameter",
            "-Wno-missing-field-initializers",
            "-Wno-cast-function-type",
            "-Wno-deprecated-declarations",
        ],
        libraries=["cambium"],
    )
    if prefix is not None:
        made.include_dirs = [os.path.join(prefix, "include")]
        made.library_dirs = [os.path.join(prefix, "lib")]
        bundle = os.environ.get("CAMBIUM_BUNDLE") == "1"
        made.runtime_library_dirs = ["$ORIGIN" if bundle else os.path.join(prefix, "lib")]
    else:
        made.extra_compile_args += pkg_config("--cflags")
        made.extra_link_args = pkg_config("--libs")
    return made


setup(ext_modules=[extension()], cmdclass={"build_ext": BuildExtension})
