#!/usr/bin/env bash
# Compares the functions of a shared library with their record in tests/abi. Programs that were built with an earlier
# version must run with this one as long as the number in the library's name is the same.
#
#   bash tools/check_abi.sh [--records DIR] [--header HEADER] LIBRARY
#   bash tools/check_abi.sh --renew [--records DIR] [--header HEADER] LIBRARY
#
# LIBRARY has debug information about its functions. The build for tests makes such libraries: the target cambium_abi
# puts them into build/check/tests/abi. The record is the file DIR/SONAME.c: the functions as C. With --header, the
# numbers of the header's enumerators are compared too (DIR/SONAME.constants.c).
#
# Exits with 1, and names the function, if one is missing or has other parameters or another result. A function that is
# not in the record is allowed; a note says so. --renew writes the record anew, unless the check fails. Without abidiff
# (package abigail-tools) it prints "SKIPPED: why". --renew needs python3.
set -euo pipefail
export LC_ALL=C
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
records=$root/tests/abi
header=
renew=no
library=
say() { echo "check_abi: $*"; }
fail() {
  say "$*" >&2
  exit 1
}
while [ "$#" -gt 0 ]; do
  case $1 in
    --records) records=$2 && shift 2 ;;
    --header) header=$(realpath "$2") && shift 2 ;;
    --renew) renew=yes && shift ;;
    -*) fail "there is no option $1" ;;
    *) library=$1 && shift ;;
  esac
done
[ -n "$library" ] || fail "no library is given"

if ! command -v abidiff >/dev/null || ! command -v abidw >/dev/null; then
  [ "$renew" = no ] || fail "abidw is not installed (package abigail-tools)"
  echo "SKIPPED: the functions of $(basename "$library") are not compared (abidiff is not installed)"
  exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

soname=$(objdump -p "$library" | awk '$1 == "SONAME" { print $2 }')
[ -n "$soname" ] || fail "$library has no SONAME"
record=$records/$soname.c
constants=$records/$soname.constants.c

# Prints the names of the enumerators of $header.
enumerators() {
  "${CC:-cc}" -E -P "$header" | tr '\n' ' ' | grep -oE '\benum\b[^{};]*\{[^}]*\}' | sed 's/^[^{]*{//; s/}$//' |
    tr ',' '\n' | sed 's/=.*//' | tr -d ' ' | grep . || true
}

# Writes a library with the functions of a record, all of them empty, to $work/recorded.so.
build_record() {
  {
    grep '^#include' "$1"
    echo 'extern "C" {'
    sed '/^#include/d; s/);$/) {}/' "$1"
    echo '}'
  } >"$work/recorded.cc"
  "${CXX:-c++}" -w -g -fPIC -shared -nostdlib "-Wl,-soname,$soname" "$work/recorded.cc" -o "$work/recorded.so"
}

# Compares the library with its record. If a program could notice a difference, prints it and returns 1. Otherwise
# $work/new gets the functions that are not in the record.
compare() {
  local broken=no
  build_record "$record"
  : >"$work/new"
  if ! abidiff --no-show-locs "$work/recorded.so" "$library" >"$work/difference" 2>&1; then
    sed -n 's/^ *\[A\] .*{\(.*\)}$/\1/p' "$work/difference" >"$work/new"
    # The new functions may be the only difference.
    abidiff --no-added-syms "$work/recorded.so" "$library" >"$work/difference" 2>&1 || broken=yes
  fi
  if [ "$broken" = yes ]; then
    sed 's/^/  /' "$work/difference" >&2
    say "programs that were built with an earlier $soname can fail with this one, see above. Undo the change, or give" \
      "the library another number: docs/CONTRIBUTING.md, \"The binary interface\"" >&2
    return 1
  fi
  if [ -n "$header" ] && ! "${CC:-cc}" -fsyntax-only -include "$header" "$constants" 2>"$work/difference"; then
    grep error "$work/difference" >&2
    say "a constant of $(basename "$header") has another number than in $constants" >&2
    return 1
  fi
}

if [ -e "$record" ]; then
  compare || exit 1
elif [ "$renew" = no ]; then
  fail "there is no record of $soname. If its number is new, make one: bash tools/check_abi.sh --renew" \
    "${header:+--header $header }$library"
fi

if [ "$renew" = no ]; then
  if [ -n "$header" ]; then
    enumerators | while read -r name; do grep -q "($name ==" "$constants" || echo "$name"; done >>"$work/new"
  fi
  if [ -s "$work/new" ]; then
    say "note: these are not in the record, renew it: $(head -n 20 "$work/new" | tr '\n' ' ')"
  fi
  say "$soname has the functions of its record"
  exit 0
fi

abidw --no-corpus-path --no-show-locs --no-comp-dir-path --no-elf-needed --no-parameter-names \
  --out-file "$work/library.xml" "$library"
python3 "$root/tests/abi/prototypes.py" "$work/library.xml" >"$work/record.c"
made="Written by tools/check_abi.sh --renew."
printf '/* The functions of %s. %s */\n%s\n' "$soname" "$made" "$(cat "$work/record.c")" >"$record"
if [ -n "$header" ]; then
  {
    printf '#include <stdio.h>\nint main(void) {\n  puts("/* The constants of %s. %s */");\n' "$soname" "$made"
    enumerators | sed 's/.*/  printf("_Static_assert(& == %d, \\"&\\");\\n", (int)&);/'
    printf '}\n'
  } >"$work/constants.c"
  "${CC:-cc}" -include "$header" "$work/constants.c" -o "$work/constants"
  "$work/constants" >"$constants"
fi
compare
say "$record is written, with $(grep -c ');$' "$record") functions"
