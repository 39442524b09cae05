#!/usr/bin/env bash
# Checks that the library for programs of RocksDB exports exactly the functions of RocksDB 11.8.1's c.h.
#
#   bash tests/rocksdb_c/exports_script.sh LIBRARY
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

exported=$(nm -D --defined-only "$1" | awk '{ print $3 }' | sed 's/@.*//' | LC_ALL=C sort)
if ! difference=$(diff <(LC_ALL=C sort "$root/src/rocksdb_c/functions.txt") <(echo "$exported")); then
  echo "exports_script: < is in functions.txt only, > is exported only" >&2
  echo "$difference" >&2
  exit 1
fi
echo "exports_script: $(wc -l <<<"$exported") functions are exported."
