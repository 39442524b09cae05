#!/usr/bin/env bash
# Builds the package against the library in CAMBIUM_PREFIX, in the directory .build, and runs all tests and checks.
# Ends with a line "N passed, N failed".
set -u
cd "$(dirname "$0")" || exit 1
here=$PWD
skip() { echo "SKIPPED: $1"; exit 0; }

: "${CAMBIUM_PREFIX:?set CAMBIUM_PREFIX to a directory with include/cambium/c.h and lib/libcambium.so}"
CAMBIUM_PREFIX=$(cd "$CAMBIUM_PREFIX" && pwd) || exit 1
export CAMBIUM_PREFIX
python=${PYTHON:-python3}
command -v "$python" >/dev/null || skip "there is no $python"
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 9))' || skip "Python 3.9 or later is needed"
command -v "${CC:-cc}" >/dev/null || skip "there is no C compiler"
"$python" -c 'import os, sysconfig, sys; sys.exit(not os.path.exists(sysconfig.get_paths()["include"] + "/Python.h"))' ||
  skip "the headers of Python are not installed"

# Packages for the build and the tests, in a virtual environment that later runs use again.
work=$here/.build
venv=$work/venv-$("$python" -c 'import sys; print(sys.implementation.cache_tag)')
mkdir -p "$work"
packages="setuptools>=64 wheel pytest>=7 mypy>=1.8 ruff>=0.4"
stamp=$venv/installed
if [ "$(cat "$stamp" 2>/dev/null)" != "$packages" ]; then
  "$python" -m venv "$venv" >/dev/null 2>&1 || skip "$python has no module venv"
  # shellcheck disable=SC2086
  "$venv/bin/pip" install --quiet --disable-pip-version-check $packages >"$work/pip.log" 2>&1 ||
    skip "packages for the tests cannot be installed: $(tail -n 1 "$work/pip.log")"
  echo "$packages" >"$stamp"
fi

passed=0
failed=0
check() {
  local name=$1
  shift
  if "$@" >"$work/check.log" 2>&1; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED: $name"
    cat "$work/check.log"
  fi
}

# The wheel, from a copy of the sources.
rm -rf "$work/tree" "$work/site" "$work/dist"
mkdir -p "$work/tree"
cp -r native src tests examples bench pyproject.toml setup.py MANIFEST.in README.md LICENSE test.sh "$work/tree"
if [ -z "${CC:-}" ] && command -v ccache >/dev/null; then export CC="ccache cc"; fi
export CFLAGS="${CFLAGS:-} -Werror"
check "pip wheel" "$venv/bin/pip" wheel --quiet --disable-pip-version-check --no-build-isolation --no-deps \
  --wheel-dir "$work/dist" "$work/tree"
check "pip install" "$venv/bin/pip" install --quiet --disable-pip-version-check --no-deps --target "$work/site" \
  --find-links "$work/dist" --no-index cambium
if [ "$failed" -ne 0 ]; then
  echo "$passed passed, $failed failed"
  exit 1
fi

check "ruff check" "$venv/bin/ruff" check --no-cache .
check "ruff format" "$venv/bin/ruff" format --no-cache --check .
check "mypy" "$venv/bin/mypy" --cache-dir "$work/mypy_cache"
export PYTHONPATH=$work/site MYPY_CACHE_DIR=$work/mypy_cache PYTHONDONTWRITEBYTECODE=1
"$venv/bin/python" -X faulthandler -m pytest -q --tb=short --basetemp="$work/pytest" 2>&1 | tee "$work/pytest.log"
status=${PIPESTATUS[0]}
rm -rf "$work/pytest"
count() { tail -n 3 "$work/pytest.log" | grep -o "[0-9]* $1" | grep -o '[0-9]*' | tail -n 1; }
tests_passed=$(count passed)
tests_failed=$(count failed)
tests_errors=$(count error)
passed=$((passed + ${tests_passed:-0}))
failed=$((failed + ${tests_failed:-0} + ${tests_errors:-0}))
if [ "$status" -ne 0 ] && [ "$failed" -eq 0 ]; then failed=1; fi

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
