#!/usr/bin/env bash
# Each public header must compile alone, and twice in a row, under warnings that users may enable.
#
#   tools/check_headers.sh [ROOT]     ROOT: a source tree, by default the one that holds this script
set -u
root=${1:-$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)}
compiler=${CXX:-g++}

failed=0
count=0
while IFS= read -r header; do
  count=$((count + 1))
  # Included twice: a missing include guard fails.
  name=${header#"$root"/include/}
  printf '#include "%s"\n#include "%s"\n' "$name" "$name" |
    "$compiler" -std=c++20 -fsyntax-only -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Werror \
      -I"$root/include" -x c++ - || { echo "check_headers: $name does not compile alone" >&2; failed=1; }
done < <(find "$root/include/cambium" -name '*.h' | sort)
[ "$count" -gt 0 ] || { echo "check_headers: $root/include/cambium has no headers" >&2; exit 2; }
[ "$failed" -eq 0 ] || exit 1
echo "check_headers: each of the $count public headers compiles alone."
