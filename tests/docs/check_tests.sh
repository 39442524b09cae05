#!/usr/bin/env bash
# A table whose header ends with "| tests |" says which test checks which sentence. Each name in backquotes in that
# column must be a file of tests (`api/limits_test`; also a program in C or a script) or, after a file, one of its tests
# (`KillTest.AcknowledgedBatches...` is written `AcknowledgedBatchesSurviveWhole`). A failing test names its suite only.
# So no two files share the name of a suite, and x_y_test.cc has one that begins with XY, or with the name of one of its
# folders and XY.
set -u
root=$1
failed=0
count=0
complain() {
  echo "$1: $2" >&2
  failed=1
}
# Prints "document:line token" for each name in the last column.
names() {
  awk '
    /\| tests \|$/ { in_table = 1; next }
    !/^\|/ { in_table = 0 }
    in_table && !/^\|-/ {
      columns = split($0, cells, "|")
      rest = cells[columns - 1]
      if (rest ~ /^ *$/) print FILENAME ":" FNR, "-"
      while (match(rest, /`[^`]+`/)) {
        print FILENAME ":" FNR, substr(rest, RSTART + 1, RLENGTH - 2)
        rest = substr(rest, RSTART + RLENGTH)
      }
    }' "$1"
}
while IFS= read -r document; do
  row=
  while read -r where name; do
    [ "$where" = "$row" ] || { row=$where; file=; }
    case $name in
      -) complain "${where#"$root"/}" "the row names no test" ;;
      */*)
        file=$root/tests/${name#tests/}.cc
        for ending in c sh; do [ -f "$file" ] || [ ! -f "${file%.cc}.$ending" ] || file=${file%.cc}.$ending; done
        [ -f "$file" ] || complain "${where#"$root"/}" "${file#"$root"/} does not exist" ;;
      *)
        [ -n "$file" ] || { complain "${where#"$root"/}" "no file before the test $name"; continue; }
        grep -qE "^TEST(_P|_F)?\([A-Za-z0-9_]+, *$name\)" "$file" ||
          complain "${where#"$root"/}" "${file#"$root"/} has no test $name" ;;
    esac
    count=$((count + 1))
  done < <(names "$document")
done < <(find "$root/README.md" "$root/docs" -name '*.md' | sort)
# Prints "file suite" once for each suite of a file.
suites() {
  grep -rE --include='*_test.cc' '^TEST(_P|_F)?\(' "$root/tests" |
    sed -E 's/^([^:]*):TEST(_P|_F)?\(([^,]*),.*/\1 \3/' | sort -u
}
while read -r complaint; do
  complain "tests" "$complaint"
done < <(suites | awk -v root="$root/tests/" '
  {
    file = substr($1, length(root) + 1)
    if ($2 in file_of) print file " and " file_of[$2] " both have the suite " $2
    file_of[$2] = file
    parts = split(tolower(file), part, "/")
    stem = part[parts]
    sub(/_test\.cc$/, "", stem)
    gsub("_", "", stem)
    if (!(file in follows)) follows[file] = 0
    for (i = 0; i < parts; ++i) {
      folder = i == 0 ? "" : part[i]
      gsub("_", "", folder)
      if (index(tolower($2), folder stem) == 1) follows[file] = 1
    }
  }
  END {
    for (file in follows) if (!follows[file]) print file " has no suite with its name"
  }')
[ "$failed" -eq 0 ] || exit 1
[ "$count" -gt 0 ] || { echo "check_tests: found no name of a test" >&2; exit 1; }
echo "check_tests: $count names of tests lead to tests; $(suites | wc -l) suites have names of their own."
