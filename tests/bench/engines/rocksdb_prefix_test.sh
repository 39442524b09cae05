#!/usr/bin/env bash
# Tests what cmake reports about a CAMBIUM_BENCH_ROCKSDB_PREFIX: why the prefix is unusable, or where RocksDB is.
#   rocksdb_prefix_test.sh CMAKE SOURCE_DIR
set -euo pipefail
cmake=$1
module=$2/cmake/RocksDbPrefix.cmake
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/rocksdb

cat >"$work/ask.cmake" <<EOF
include($module)
cambium_rocksdb_in($prefix include library)
message(STATUS "\${include} and \${library}")
EOF
fail() { echo "FAILED: $*"; exit 1; }
# expect TEXT: cmake must refuse, and say this in one line.
expect() {
  if "$cmake" -P "$work/ask.cmake" >"$work/said" 2>&1; then fail "taken, where this was expected: $1"; fi
  tr -s ' \n' ' ' <"$work/said" | grep -F -- "$1" >/dev/null || fail "expected '$1', got: $(cat "$work/said")"
}
version() { printf '#define ROCKSDB_MAJOR %s\n#define ROCKSDB_MINOR %s\n#define ROCKSDB_PATCH 3\n' "$1" "$2" >"$prefix/include/rocksdb/version.h"; }

expect "CAMBIUM_BENCH_ROCKSDB_PREFIX=$prefix: no RocksDB is installed there"
mkdir -p "$prefix/include/rocksdb" "$prefix/lib64"
touch "$prefix/include/rocksdb/db.h" "$prefix/include/rocksdb/version.h"
expect "says nothing of a version"
version 7 7
expect "RocksDB 7.7 is too old"
version 10 2
expect "there is no librocksdb.so"
touch "$prefix/lib64/librocksdb.so"
"$cmake" -P "$work/ask.cmake" >"$work/said" 2>&1 || fail "refused: $(cat "$work/said")"
grep -qF "$prefix/include and $prefix/lib64/librocksdb.so" "$work/said" || fail "found something else: $(cat "$work/said")"

# The whole project, as a user configures it.
expected="CAMBIUM_BENCH_ROCKSDB_PREFIX=$work/nowhere: no RocksDB is installed there"
if "$cmake" -S "$2" -B "$work/build" "-DCAMBIUM_BENCH_ROCKSDB_PREFIX=$work/nowhere" >"$work/said" 2>&1; then
  fail "the project is configured with a prefix that does not exist"
fi
tr -s ' \n' ' ' <"$work/said" | grep -F -- "$expected" >/dev/null || fail "the project says something else: $(cat "$work/said")"
echo "rocksdb_prefix_test: all as expected"
