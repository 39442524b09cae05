#!/usr/bin/env bash
# The programs that documents show must equal those of examples/, line by line, so that what readers copy is compiled
# and run. A document named here must show its program, and no other program in that language.
set -u
root=$1
failed=0
check() {  # document, language of the block, program
  local document=$root/$1 language=$2 program=$root/examples/$3 count
  if ! diff <(awk -v fence="\`\`\`$language" '$0 == fence { inside = 1; next } /^```$/ { inside = 0 } inside' "$document") \
    "$program"; then
    echo "check_quickstart: the program in $1 is not examples/$3" >&2
    failed=1
  fi
  count=$(grep -c "^\`\`\`$language\$" "$document")
  if [ "$count" -ne 1 ]; then
    echo "check_quickstart: $1 has $count programs in $language, not 1" >&2
    failed=1
  fi
}
check README.md cpp quickstart.cc
check docs/CHOOSING_AN_INDEX.md cpp families.cc
check docs/C_API.md c quickstart.c
# Every line of C++ that docs/CONTRIBUTING.md shows must be in the sources; comments may differ.
while IFS= read -r line; do
  if ! grep -rqF -- "$line" "$root/src" "$root/tests"; then
    echo "check_quickstart: docs/CONTRIBUTING.md shows a line that no source has: $line" >&2
    failed=1
  fi
done < <(awk '/^ *```cpp$/ { inside = 1; next } /^ *```$/ { inside = 0 } inside' "$root/docs/CONTRIBUTING.md" |
  sed 's/^ *//; s/ *\/\/.*//; /^}*$/d')
exit "$failed"
