#!/usr/bin/env bash
# The programs in README.md, and the one in docs/C_API.md, are those of examples/, line by line and in this order, so that
# what readers copy is compiled and run.
set -u
root=$1
examples=(quickstart families)
program() {  # the n-th block of C++ in README.md
  awk -v n="$1" '/^```cpp$/ { inside = 1; ++seen; next } /^```$/ { inside = 0 } inside && seen == n' "$root/README.md"
}
failed=0
for i in "${!examples[@]}"; do
  file=$root/examples/${examples[i]}.cc
  shown=$(program "$((i + 1))")
  if [ "$shown" != "$(cat "$file")" ]; then
    diff <(echo "$shown") "$file"
    echo "check_quickstart: program $((i + 1)) in README.md is not examples/${examples[i]}.cc" >&2
    failed=1
  fi
done
count=$(grep -c '^```cpp$' "$root/README.md")
if [ "$count" -ne "${#examples[@]}" ]; then
  echo "check_quickstart: README.md has $count programs, ${#examples[@]} of them are examples" >&2
  failed=1
fi
if ! diff <(awk '/^```c$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$root/docs/C_API.md") \
  "$root/examples/quickstart.c"; then
  echo "check_quickstart: the program in docs/C_API.md is not examples/quickstart.c" >&2
  failed=1
fi
exit "$failed"
