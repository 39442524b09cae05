#!/usr/bin/env bash
# The table of other projects' suites in docs/C_API.md has the numbers of tests/suites/*.listed: how many tests there are,
# and how many pass, which are those that are not listed. tools/test_bindings.sh compares the lists with the suites.
set -eu
root=$1
document=$root/docs/C_API.md
failed=0
count=0
for list in "$root"/tests/suites/*.listed; do
  suite=$(basename "$list" .listed)
  tests=$(sed -n 's/^# tests: //p' "$list")
  listed=$(grep -c '^[^#]' "$list" || true)
  row=$(grep "^| \`$suite\`:" "$document" || true)
  if ! grep -qE "\| $tests \| $((tests - listed)) \|\$" <<<"$row"; then
    echo "check_suites: $suite has $tests tests, of which $((tests - listed)) pass; docs/C_API.md says: $row" >&2
    failed=1
  fi
  if grep '^[^#]' "$list" | grep -vE '^[^|]+ \| .+'; then
    echo "check_suites: in $list each listed test needs a reason" >&2
    failed=1
  fi
  count=$((count + 1))
done
rows=$(grep -cE '^\| `[a-z_]+`: ' "$document" || true)
[ "$rows" -eq "$count" ] || { echo "check_suites: $rows rows for $count suites" >&2; failed=1; }
[ "$failed" -eq 0 ] || exit 1
echo "check_suites: the numbers of $count suites agree."
