#!/usr/bin/env bash
# Builds the Rust binding against the library in CAMBIUM_PREFIX and runs all its tests and checks. Warnings are errors.
#
#   CAMBIUM_PREFIX=/path bash bindings/rust/test.sh
#
# Builds in `target`, which git ignores, unless CARGO_TARGET_DIR is set. Needs no network: there are no dependencies.
# CAMBIUM_MIRI=0 leaves Miri out.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 1
unset RUSTFLAGS
export CARGO_TERM_COLOR=never RUST_BACKTRACE=0 CARGO_BUILD_JOBS=1 CARGO_NET_OFFLINE=true

skip() {
  echo "SKIPPED: $1"
  exit 0
}

command -v cargo >/dev/null || skip "cargo is not installed"
command -v cc >/dev/null || skip "a linker (cc) is not installed"
version=$(rustc --version | cut -d ' ' -f 2)
[ "$(printf '1.85\n%s\n' "$version" | sort -V | head -n 1)" = 1.85 ] || skip "rustc $version is too old, 1.85 is needed"

passed=0
failed=0
log=$(mktemp)
scratch=$(mktemp -d)
trap 'rm -rf "$log" "$scratch"' EXIT

# A check that either passes or fails as a whole. Its output is shown if it fails.
check() {
  local what=$1
  shift
  if "$@" >"$log" 2>&1; then
    passed=$((passed + 1))
    echo "ok: $what"
  else
    failed=$((failed + 1))
    echo "FAILED: $what"
    cat "$log"
  fi
}

# A run of tests, each of which counts.
tests() {
  local what=$1 status ok bad
  shift
  "$@" >"$log" 2>&1
  status=$?
  ok=$(awk '/^test result:/ { sum += $4 } END { print sum + 0 }' "$log")
  bad=$(awk '/^test result:/ { sum += $6 } END { print sum + 0 }' "$log")
  if [ "$status" -ne 0 ] && [ "$bad" -eq 0 ]; then bad=1; fi
  passed=$((passed + ok))
  failed=$((failed + bad))
  if [ "$status" -eq 0 ] && [ "$ok" -gt 0 ]; then
    echo "ok: $what, $ok tests"
  else
    [ "$bad" -gt 0 ] || failed=$((failed + 1))
    echo "FAILED: $what, $bad of $((ok + bad)) tests"
    cat "$log"
  fi
  grep -h '^SKIPPED' "$log"
}

has_library() {
  [ -n "${CAMBIUM_PREFIX:-}" ] || { echo "CAMBIUM_PREFIX is not set"; return 1; }
  [ -e "$CAMBIUM_PREFIX/lib/libcambium.so" ] || { echo "there is no $CAMBIUM_PREFIX/lib/libcambium.so"; return 1; }
}

# The library has every function that is declared.
exports_all() {
  local missing
  missing=$(comm -23 \
    <(grep -o 'pub fn cambium_[A-Za-z0-9_]*' cambium-sys/src/bindings.rs | cut -d ' ' -f 3 | sort -u) \
    <(nm -D --defined-only "$CAMBIUM_PREFIX/lib/libcambium.so" | awk '{ sub(/@.*/, "", $3); print $3 }' | sort -u))
  [ -z "$missing" ] || { echo "the library is older than c.h, it lacks:"; echo "$missing"; return 1; }
}

quickstart() {
  local directory=$scratch/quickstart.db
  cargo run --locked --quiet --example quickstart -- "$directory" >"$scratch/out" || return 1
  diff - "$scratch/out" <<'OUT'
oak: a ring a year
from the last key to f: ["yew", "oak"]
OUT
}

# The build script of cambium-sys, in a directory of its own. Each case removes CAMBIUM_PREFIX or sets another one.
build_sys() {
  env -u CAMBIUM_PREFIX -u PKG_CONFIG_PATH CARGO_TARGET_DIR="$scratch/target" "$@" \
    cargo build --locked --quiet -p cambium-sys 2>&1
}

expect_error() {
  local text=$1 output
  shift
  if output=$("$@"); then echo "it should have failed"; return 1; fi
  [[ $output == *"$text"* ]] || { echo "$output"; return 1; }
}

build_script() {
  local other=$scratch/other
  mkdir -p "$other/lib" "$other/include/cambium" "$scratch/pc"
  expect_error "has no lib/libcambium.so" build_sys CAMBIUM_PREFIX="$other" || return 1
  expect_error "did not run" build_sys PKG_CONFIG=/nowhere/pkg-config || return 1
  ln -s "$CAMBIUM_PREFIX/lib/libcambium.so" "$other/lib/libcambium.so"
  echo "#define CAMBIUM_ABI_VERSION 99" >"$other/include/cambium/c.h"
  expect_error "declares version 99 of the C interface" build_sys CAMBIUM_PREFIX="$other" || return 1
  build_sys DOCS_RS=1 PKG_CONFIG=/nowhere/pkg-config || return 1
  if command -v pkg-config >/dev/null; then
    printf 'libdir=%s\nincludedir=%s\n\nName: cambium\nDescription: a test\nVersion: 0.1.0\n' \
      "$CAMBIUM_PREFIX/lib" "$CAMBIUM_PREFIX/include" >"$scratch/pc/cambium.pc"
    build_sys PKG_CONFIG_PATH="$scratch/pc" || return 1
    grep -q "rustc-link-search=native=$CAMBIUM_PREFIX/lib" "$scratch"/target/debug/build/cambium-sys-*/output || return 1
    sed -i 's/^Version: .*/Version: 0.0.9/' "$scratch/pc/cambium.pc"
    expect_error "pkg-config says" build_sys PKG_CONFIG_PATH="$scratch/pc" PKG_CONFIG=pkg-config || return 1
  fi
}

# Without the right library nothing else can pass.
stop_if_failed() {
  [ "$failed" -gt 0 ] || return 0
  echo "$passed passed, $failed failed"
  exit 1
}

check "the prefix has a library" has_library
stop_if_failed
CAMBIUM_PREFIX=$(cd "$CAMBIUM_PREFIX" && pwd)
export CAMBIUM_PREFIX
export LD_LIBRARY_PATH=$CAMBIUM_PREFIX/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

if command -v nm >/dev/null; then
  check "the library has all functions" exports_all
  stop_if_failed
else
  echo "SKIPPED the functions of the library: nm is not installed"
fi
if command -v bindgen >/dev/null && [[ $(bindgen --version) == "bindgen 0.72."* ]]; then
  check "the declarations are those of c.h" bash cambium-sys/bindgen.sh --check
else
  echo "SKIPPED the comparison with c.h: bindgen 0.72 is not installed"
fi
check "the build script finds the library, or says why not" build_script
if cargo fmt --version >/dev/null 2>&1; then
  check "format" cargo fmt --all --check
else
  echo "SKIPPED the format: rustfmt is not installed"
fi
if cargo clippy --version >/dev/null 2>&1; then
  check "clippy" cargo clippy --locked --workspace --all-targets -- -D warnings
else
  echo "SKIPPED clippy: it is not installed"
fi
tests "tests" cargo test --locked --workspace --lib --tests --no-fail-fast
tests "documentation tests, and programs that must not compile" cargo test --locked -p cambium --doc
check "rustdoc" env RUSTDOCFLAGS="-D warnings" cargo doc --locked --workspace --no-deps
check "the program in README.md" quickstart
has_miri() {
  export RUSTUP_AUTO_INSTALL=0
  [ "${CAMBIUM_MIRI:-1}" != 0 ] && cargo +nightly miri --version >/dev/null 2>&1 &&
    [ -d "$(rustc +nightly --print sysroot)/lib/rustlib/src/rust/library" ]
}
if has_miri; then
  tests "unit tests in Miri" cargo +nightly miri test --locked -p cambium --lib
else
  echo "SKIPPED Miri: a nightly compiler with Miri and rust-src is not installed, or CAMBIUM_MIRI is 0"
fi

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
