#!/usr/bin/env bash
# The program in README.md is examples/quickstart.cc, line by line, so that the one which readers copy is compiled and run.
set -u
root=$1
shown=$(awk '/^```cpp$/ { inside = 1; next } /^```$/ { if (inside) exit } inside' "$root/README.md")
if [ "$shown" != "$(cat "$root/examples/quickstart.cc")" ]; then
  diff <(echo "$shown") "$root/examples/quickstart.cc"
  echo "check_quickstart: the program in README.md is not examples/quickstart.cc" >&2
  exit 1
fi
