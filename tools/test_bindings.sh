#!/usr/bin/env bash
# Runs the tests of the bindings in bindings/, and other projects' test suites, against an installation of a build.
#
#   bash tools/test_bindings.sh                       everything
#   bash tools/test_bindings.sh own                   bindings/*/test.sh only: what .ci/run runs
#   bash tools/test_bindings.sh suites [SUITE...]     other projects' suites: leveldb_c plyvel rocksdb_c rocksdb_cpp
#                                                     grocksdb rust_rocksdb
#
# Installs build/release, which must be built, into a temporary directory; CAMBIUM_PREFIX names another installation.
# The suites' sources come from the registries of Rust, Go and Python; they are kept, with their builds, in build/suites.
# A binding or a suite whose tools are missing, or whose registry does not answer, prints "SKIPPED: why".
#
# The last line is "N passed, N failed"; the exit code is 0 only if none failed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

what=${1:-all}
case $what in
  all | own | suites) ;;
  *) sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}" >&2; exit 2 ;;
esac
[ "$#" -eq 0 ] || shift

scratch=$(mktemp -d "${TMPDIR:-/tmp}/cambium_bindings-XXXXXX")
trap 'rm -rf "$scratch"' EXIT
if [ -z "${CAMBIUM_PREFIX:-}" ]; then
  cmake --install build/release --prefix "$scratch/prefix" >/dev/null
  CAMBIUM_PREFIX=$scratch/prefix
fi
export CAMBIUM_PREFIX

passed=0
failed=0
# run NAME COMMAND...: runs it, with its output, exit code and seconds in files of this name.
run() {
  local name=$1 code=0 start=$SECONDS
  shift
  "$@" >"$scratch/$name.log" 2>&1 || code=$?
  printf '%d %d\n' "$code" "$((SECONDS - start))" >"$scratch/$name.end"
}
# add NAME COMMAND...: prints the output of what has run, and adds up its last line "N passed, N failed".
add() {
  local name=$1 log=$scratch/$1.log code seconds closing
  shift
  read -r code seconds <"$scratch/$name.end"
  printf '\n==== %s\n' "$*"
  cat "$log"
  grep -a '^SKIPPED' "$log" | sed "s|^|$*: |" >>"$scratch/skipped" || true
  closing=$(grep -aE '^[0-9]+ passed, [0-9]+ failed$' "$log" | tail -n 1 || true)
  if [[ $closing =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
    passed=$((passed + BASH_REMATCH[1]))
    failed=$((failed + BASH_REMATCH[2]))
    if [ "$code" -ne 0 ] && [ "${BASH_REMATCH[2]}" -eq 0 ]; then failed=$((failed + 1)); fi
  elif [ "$code" -ne 0 ] || ! grep -q '^SKIPPED: ' "$log"; then
    failed=$((failed + 1))
  fi
  printf '==== %s: %d s\n' "$*" "$seconds"
}

# Two at a time: each waits for its registry and for processes that do one thing after another.
if [ "$what" != suites ]; then
  for binding in bindings/*/test.sh; do
    while [ "$(jobs -rp | wc -l)" -ge 2 ]; do wait -n; done
    run "$(basename "$(dirname "$binding")")" bash "$binding" &
  done
  wait
  for binding in bindings/*/test.sh; do add "$(basename "$(dirname "$binding")")" bash "$binding"; done
fi
if [ "$what" != own ]; then
  suites=(python3 tests/suites/run_suites.py "$CAMBIUM_PREFIX" build/suites "$@")
  run suites "${suites[@]}"
  add suites "${suites[@]}"
fi

if [ -s "$scratch/skipped" ]; then printf '\n==== skipped\n%s\n' "$(cat "$scratch/skipped")"; fi
printf '\n%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
