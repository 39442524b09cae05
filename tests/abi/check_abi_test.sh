#!/usr/bin/env bash
# Shows that check_abi.sh finds each kind of break: makes a record of a tiny library, changes the library, and checks.
#
#   bash tests/abi/check_abi_test.sh CHECK_ABI
set -euo pipefail
check=$1
if ! command -v abidiff >/dev/null; then
  echo "SKIPPED: no break is tried (abidiff is not installed)"
  exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
  cat "$work/said" >&2
  echo "check_abi_test: $*" >&2
  exit 1
}

cat >"$work/tiny.h" <<'TINY'
#include <stdint.h>
enum { tiny_oak = 1, tiny_ash = 2 };
typedef struct tiny_t tiny_t;
typedef struct tiny_other_t tiny_other_t;
typedef struct tiny_pair_t { int first; int second; } tiny_pair_t;
tiny_t *tiny_open(const char *name, int size);
void tiny_close(tiny_t *tiny);
uint64_t tiny_count(const tiny_t *tiny);
tiny_pair_t tiny_pair(tiny_t *tiny);
void tiny_each(tiny_t *tiny, void (*callback)(void *state, int size), void *state);
TINY

# tiny NUMBER [EXPRESSION]: builds $work/libtiny.so from the header, as sed changes it.
tiny() {
  mkdir -p "$work/now"
  sed "${2:-}" "$work/tiny.h" >"$work/now/tiny.h"
  sed '/^enum/d; /^tiny\|^void\|^uint\|^int/s/);$/) { __builtin_trap(); }/' "$work/now/tiny.h" >"$work/tiny.c"
  "${CC:-cc}" -w -g -fPIC -shared "-Wl,-soname,libtiny.so.$1" "$work/tiny.c" -o "$work/libtiny.so"
}
run() { bash "$check" --records "$work" --header "$work/now/tiny.h" "$@" "$work/libtiny.so" >"$work/said" 2>&1; }

tiny 1
if run; then fail "a library without a record passed"; fi
grep -q 'there is no record of libtiny.so.1' "$work/said" || fail "the missing record is not named"
run --renew || fail "no record was made"
run || fail "an unchanged library does not have the functions of its record"
if grep -q note "$work/said"; then fail "something is said to be new"; fi

# allowed WORD EXPRESSION: a change that no program notices. A note has the word.
allowed() {
  tiny 1 "$2"
  run || fail "refused: $2"
  grep -q "$1" "$work/said" || fail "$1 is not named: $2"
}
allowed tiny_new '$a int tiny_new(tiny_t *tiny);'
allowed tiny_elm 's/tiny_ash = 2/tiny_ash = 2, tiny_elm = 3/'
allowed libtiny 's/int size);/int bytes);/'

# After a renewal nothing is new.
tiny 1 '$a int tiny_new(tiny_t *tiny);'
run --renew || fail "a record with a new function was not made"
run || fail "a renewed record differs from its library"
if grep -q note "$work/said"; then fail "something is said to be new after --renew"; fi
tiny 1
if run; then fail "the removal of the new function passed"; fi
printf '%s\n' 'int tiny_new(tiny_t *tiny);' >>"$work/tiny.h"

# broken WORD EXPRESSION: the check and --renew must refuse this change, with a message that contains the word.
broken() {
  tiny 1 "$2"
  for mode in "" --renew; do
    # shellcheck disable=SC2086 # no mode is no argument
    if run $mode; then fail "passed $mode: $2"; fi
    grep -q "$1" "$work/said" || fail "$1 is not named: $2"
  done
}
broken tiny_close '/tiny_close/d'
broken tiny_open 's/int size);/int64_t size);/'
broken tiny_open 's/int size);/int size, int mode);/'
broken tiny_count 's/^uint64_t/uint32_t/'
broken tiny_close 's/tiny_close(tiny_t/tiny_close(tiny_other_t/'
broken tiny_each 's/(void \*state, int size)/(void *state)/'
broken tiny_pair 's/int second;/int64_t second;/'
broken tiny_ash 's/tiny_ash = 2/tiny_ash = 3/'
broken tiny_ash 's/, tiny_ash = 2//'

# Under a new number everything is allowed, but the record has to be made.
tiny 2 '/tiny_close/d'
if run; then fail "a new number without a record passed"; fi
run --renew || fail "no record was made for the new number"
run || fail "the new number does not have the functions of its record"
echo "check_abi_test: breaks are found"
