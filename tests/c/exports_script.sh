#!/usr/bin/env bash
# Checks that the shared library exports exactly the functions that c.h declares, and that a test calls each of them.
#
#   bash tests/c/exports_script.sh LIBRARY
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

declared=$("${CC:-cc}" -E -P "$root/include/cambium/c.h" | grep -oE '\bcambium_[A-Za-z0-9_]+\(' | tr -d '(' | sort)
repeated=$(uniq -d <<<"$declared")
[ -z "$repeated" ] || { echo "exports_script: declared twice: $repeated" >&2; exit 1; }
[ "$(wc -l <<<"$declared")" -gt 200 ] || { echo "exports_script: found too few functions in c.h" >&2; exit 1; }

exported=$(nm -D --defined-only "$1" | awk '{ print $3 }' | sed 's/@.*//' | sort)
if ! difference=$(diff <(echo "$declared") <(echo "$exported")); then
  echo "exports_script: < is declared only, > is exported only" >&2
  echo "$difference" >&2
  exit 1
fi

tests=$(cat "$root"/tests/c/*.[ch] "$root"/tests/c/*.cc)
missing=0
for name in $declared; do
  # c_options_test finds these by the names of the options.
  [[ $name =~ ^cambium_options_[sg]et_ ]] && continue
  if ! grep -q "\b$name\b" <<<"$tests"; then
    echo "exports_script: no test calls $name" >&2
    missing=1
  fi
done
[ "$missing" = 0 ]
echo "exports_script: $(wc -l <<<"$declared") functions are declared, exported and tested."
