#!/usr/bin/env bash
# Fuzzes what reads files: builds the targets of tests/fuzz with clang, libFuzzer, AddressSanitizer and
# UndefinedBehaviorSanitizer (the preset fuzz), and runs them.
#
#   bash tools/fuzz.sh [TARGET...] [--seconds N] [--jobs N] [--preset clang]
#
#   TARGET        manifest, page, log, footer, run, options, batch, rocksdb_batch, trace, backup_record, jsonl, database
#                 or salvage; all of them by default
#   --seconds N   of running, over all targets by turns; 3600 by default. Each target has at least one second
#   --jobs N      targets that run at the same time; 1 by default
#   --preset P    clang: take the build of tools/check_clang.sh, without sanitizers, as CI does for a short run
#
# The corpus of a target stays in build/PRESET/corpus/TARGET, so that the next run continues with it. The golden
# databases and tests/fuzz/regressions are inputs of every run. An input may use 512 MiB of memory, 64 MiB at once (only
# checked with sanitizers), and 10 seconds.
#
# Prints the executions, the coverage (edges, and libFuzzer's features) and the corpus of each target. Exits with 1 if
# an input was found, and says where it is and how to repeat it; with 2 if the targets cannot be built. If clang or its
# fuzzer runtime is missing and cannot be installed with apt, prints "SKIPPED: why" and exits with 0.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
ALL=(manifest page log footer run options batch rocksdb_batch trace backup_record jsonl database salvage)

targets=()
seconds=3600
jobs=1
preset=fuzz
while [ $# -gt 0 ]; do
  case $1 in
    --seconds|--jobs)
      if ! [[ ${2:-} =~ ^[1-9][0-9]*$ ]]; then echo "fuzz.sh: $1 needs a number from 1" >&2; exit 2; fi
      if [ "$1" = --seconds ]; then seconds=$2; else jobs=$2; fi
      shift 2 ;;
    --preset)
      if [ "${2:-}" != fuzz ] && [ "${2:-}" != clang ]; then echo "fuzz.sh: --preset is fuzz or clang" >&2; exit 2; fi
      preset=$2
      shift 2 ;;
    -h|--help)
      sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0"
      exit 0 ;;
    *)
      if ! [[ " ${ALL[*]} " == *" $1 "* ]]; then echo "fuzz.sh: no target $1; there are: ${ALL[*]}" >&2; exit 2; fi
      targets+=("$1")
      shift ;;
  esac
done
if [ ${#targets[@]} -eq 0 ]; then targets=("${ALL[@]}"); fi
BUILD=build/$preset

has_fuzzer() {
  local program
  command -v clang++ >/dev/null || return 1
  program=$(mktemp)
  echo 'extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }' |
    clang++ -fsanitize=fuzzer,address,undefined -x c++ - -o "$program" 2>/dev/null
  local code=$?
  rm -f "$program"
  return $code
}
if ! has_fuzzer; then bash tools/install_deps.sh clang libclang-rt-dev || true; fi
if ! has_fuzzer; then
  echo "SKIPPED: clang++ with libFuzzer is not installed, and could not be (packages clang and libclang-rt-dev)"
  exit 0
fi

arguments=()
if command -v ccache >/dev/null; then
  arguments+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  export CCACHE_SLOPPINESS=${CCACHE_SLOPPINESS:-pch_defines,time_macros}
fi
begin=$SECONDS
mkdir -p "$BUILD"
cmake --preset "$preset" ${arguments[@]+"${arguments[@]}"} >"$BUILD/configure.log" || { cat "$BUILD/configure.log"; exit 2; }
cmake --build "$BUILD" --parallel "${JOBS:-$(nproc)}" --target cambium_fuzz || exit 2
printf 'fuzz.sh: built in %d s\n' $((SECONDS - begin))

# With a small quarantine of freed memory, the limit is on the library's memory.
export ASAN_OPTIONS=quarantine_size_mb=16:malloc_context_size=8:${ASAN_OPTIONS:-}
export UBSAN_OPTIONS=print_stacktrace=1:${UBSAN_OPTIONS:-}
PROGRAM=$BUILD/tests/fuzz/cambium_fuzz
LIMITS=(-rss_limit_mb=512 -malloc_limit_mb=64 -timeout=10)
share=$((seconds * jobs / ${#targets[@]}))
if [ "$share" -lt 1 ]; then share=1; fi
mkdir -p "$BUILD/corpus" "$BUILD/found" "$BUILD/seeds"

# run TARGET: runs it for its share of the time, and writes its line of the table to $BUILD/TARGET.row. Fails if
# something was found.
run() {
  local target=$1 log=$BUILD/$1.log code=0 last executions features edges corpus verdict=ok
  local corpora=("$BUILD/corpus/$target" "$BUILD/seeds/$target")
  mkdir -p "${corpora[@]}" "$BUILD/found/$target"
  export CAMBIUM_FUZZ_TARGET=$target
  CAMBIUM_FUZZ_SEEDS=$BUILD/seeds/$target "$PROGRAM" >"$log" 2>&1 || code=$?
  if [ -d "tests/fuzz/regressions/$target" ]; then corpora+=("tests/fuzz/regressions/$target"); fi
  if [ "$code" -eq 0 ]; then
    "$PROGRAM" "${corpora[@]}" "${LIMITS[@]}" -max_total_time="$share" -print_final_stats=1 -reload=0 \
      -artifact_prefix="$BUILD/found/$target/" >"$log" 2>&1 || code=$?
  fi
  last=$(grep -aE '^#[0-9]+.* cov: ' "$log" | tail -n 1 || true)
  executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  edges=$(sed -n 's/.* cov: \([0-9]*\).*/\1/p' <<<"$last")
  features=$(sed -n 's/.* ft: \([0-9]*\).*/\1/p' <<<"$last")
  corpus=$(sed -n 's/.* corp: \([0-9]*\).*/\1/p' <<<"$last")
  if [ "$code" -ne 0 ]; then verdict=FOUND; fi
  printf '%-14s %12s %8s %9s %8s %8s  %s\n' "$target" "${executions:--}" "${edges:--}" "${features:--}" "${corpus:--}" \
    "$share" "$verdict" >"$BUILD/$target.row"
  return $((code != 0))
}

pending=()
found=()
wait_for_first() {
  local process=${pending[0]%%:*} target=${pending[0]#*:}
  pending=("${pending[@]:1}")
  wait "$process" || found+=("$target")
}
for target in "${targets[@]}"; do
  if [ ${#pending[@]} -ge "$jobs" ]; then wait_for_first; fi
  run "$target" &
  pending+=("$!:$target")
done
while [ ${#pending[@]} -gt 0 ]; do wait_for_first; done

printf '%-14s %12s %8s %9s %8s %8s\n' target executions edges features corpus seconds
for target in "${targets[@]}"; do cat "$BUILD/$target.row"; done
for target in ${found[@]+"${found[@]}"}; do
  printf '\n%s:\n' "$target"
  grep -m 5 -aE 'BROKEN PROMISE|SUMMARY|ERROR: |runtime error|Assertion|nothing to run|waits, but' "$BUILD/$target.log" || true
  input=$(sed -n 's/.*Test unit written to //p' "$BUILD/$target.log" | tail -n 1)
  if [ -n "$input" ]; then
    printf 'input:  %s\nrepeat: CAMBIUM_FUZZ_TARGET=%s %s %s %s\n' "$input" "$target" "$PROGRAM" "${LIMITS[*]}" "$input"
  else
    tail -n 5 "$BUILD/$target.log"
  fi
done
[ ${#found[@]} -eq 0 ]
