#!/usr/bin/env bash
# Builds Cambium and runs its tests. On a fresh Debian 12 or Ubuntu 24.04 it installs missing packages first.
#
#   bash tools/test.sh                            everything, as before a release
#   bash tools/test.sh -p asan                    another preset of CMakePresets.json: debug, asan, tsan
#   bash tools/test.sh -R 'threads|epoch'         only tests whose name matches, and only what they need is built
#   bash tools/test.sh -p tsan -L threads         only tests with a label; "threads" marks tests that start threads
#   bash tools/test.sh -E 'model'                 without tests whose name matches
#
# CAMBIUM_SEED repeats a random test (each prints its seed), CAMBIUM_SCALE=20 makes them all longer, JOBS limits
# parallel jobs, CMAKE_ARGS is passed to cmake. ccache is used if installed.
#
# The last line counts tests as ctest does: "41 passed, 0 failed". The exit code is 0 only if none failed. A failed
# build counts as one failure.
set -euo pipefail

PRESET=check
MATCHING=
LABELLED=
WITHOUT=
usage() { sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}" >&2; exit 2; }
while getopts 'p:R:L:E:h' flag; do
  case $flag in
    p) PRESET=$OPTARG ;;
    R) MATCHING=$OPTARG ;;
    L) LABELLED=$OPTARG ;;
    E) WITHOUT=$OPTARG ;;
    *) usage ;;
  esac
done
[ "$OPTIND" -gt "$#" ] || usage

cd "$(dirname "${BASH_SOURCE[0]}")/.."
JOBS=${JOBS:-$(nproc)}
BUILD=build/$PRESET

say() { printf '\n==== %s (%d s)\n' "$*" "$SECONDS"; }
# Nothing was tested: counts as one failure.
give_up() {
  printf 'test.sh: %s\n\n0 passed, 1 failed\n' "$*"
  exit 1
}

say "Packages"
bash tools/install_deps.sh || give_up "packages are missing"

say "Configure ($BUILD)"
arguments=()
if command -v ccache >/dev/null; then
  arguments+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  export CCACHE_SLOPPINESS=${CCACHE_SLOPPINESS:-pch_defines,time_macros}  # needed for precompiled headers
fi
read -r -a given <<<"${CMAKE_ARGS:-}"
cmake --preset "$PRESET" ${arguments[@]+"${arguments[@]}"} ${given[@]+"${given[@]}"} || give_up "cmake failed"

selection=()
[ -z "$MATCHING" ] || selection+=(-R "$MATCHING")
[ -z "$LABELLED" ] || selection+=(-L "^$LABELLED\$")
[ -z "$WITHOUT" ] || selection+=(-E "$WITHOUT")
targets=()
if [ -n "$MATCHING$LABELLED$WITHOUT" ]; then
  # A test that is a program is a target of the same name, also if CMAKE_ARGS links several tests as one program.
  # Scripts are not targets: if only scripts are selected, everything is built.
  known=$(cmake --build "$BUILD" --target help)
  listed=0
  while IFS= read -r name; do
    listed=1
    for target in "$name" "cambium_$name"; do  # examples have the longer name
      if grep -q "^$target: phony$" <<<"$known"; then targets+=(--target "$target"); fi
    done
  done < <(ctest --test-dir "$BUILD" -N "${selection[@]}" | sed -n 's/^ *Test *#[0-9]*: //p')
  [ "$listed" -eq 1 ] || give_up "no test matches $MATCHING$LABELLED, without $WITHOUT"
fi

say "Build"
cmake --build "$BUILD" --parallel "$JOBS" ${targets[@]+"${targets[@]}"} || give_up "the build failed"

say "Tests"
results=$PWD/$BUILD/results.xml
rm -f "$results"
code=0
# gcc's ThreadSanitizer cannot start if the kernel randomizes mappings too widely; not every container lets us disable
# that.
fixed=()
if [ "$PRESET" = tsan ] && setarch "$(uname -m)" -R true 2>/dev/null; then fixed=(setarch "$(uname -m)" -R); fi
# AddressSanitizer keeps the stack of each allocation: the innermost frames tell enough, and take less time.
if [ "$PRESET" = asan ]; then export ASAN_OPTIONS=malloc_context_size=8:${ASAN_OPTIONS:-}; fi
# Two more than there are processors: some tests wait for the disk most of their time.
${fixed[@]+"${fixed[@]}"} ctest --test-dir "$BUILD" -j $((JOBS + 2)) --output-on-failure --output-junit "$results" \
  ${selection[@]+"${selection[@]}"} || code=$?
[ -s "$results" ] || give_up "ctest ended with $code and no results"

passed=$(grep -c '<testcase .*status="run"' "$results" || true)
total=$(grep -c '<testcase ' "$results" || true)
failed=$((total - passed))
say "Summary"
if [ "$failed" -gt 0 ]; then
  sed -n 's/.*<testcase name="\([^"]*\)".*status="\([a-z]*\)".*/\2 \1/p' "$results" | grep -v '^run ' || true
fi
echo "the slowest:"
# awk reads all lines: if head ended after five, sort could be killed by SIGPIPE, and this script would end.
sed -n 's/.*<testcase name="\([^"]*\)".* time="\([^"]*\)".*/\2 \1/p' "$results" | sort -rn |
  awk 'NR <= 5 { printf "  %7.1f s  %s\n", $1, $2 }'
# ctest also reports failures without a test, such as a crash of its own.
if [ "$code" -ne 0 ] && [ "$failed" -eq 0 ]; then failed=1; fi
[ "$total" -gt 0 ] || failed=1

printf '\n%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
