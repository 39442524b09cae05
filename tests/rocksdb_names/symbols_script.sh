#!/usr/bin/env bash
# Checks that no symbol of the library can be taken for one of RocksDB's: a program may link both.
#
#   bash tests/rocksdb_names/symbols_script.sh ARCHIVE
set -euo pipefail
# Mangled, a name of namespace rocksdb begins with 7rocksdb, and one of its inner namespace with 7rocksdb10on_cambium.
symbols=$(nm --defined-only "$1" 2>/dev/null | awk '{ print $3 }' | grep '7rocksdb')
if grep -E '7rocksdb([^1]|1[^0]|10[^o])' <<<"$symbols"; then
  echo "symbols_script: these are outside of the inner namespace" >&2
  exit 1
fi
echo "symbols_script: $(wc -l <<<"$symbols") symbols are in the inner namespace."
