#!/usr/bin/env bash
# Builds the `release` preset, which users get, and tries it once. The tests run on a build with asserts and test hooks.
# This script finds the errors that show only in a build without them: a warning at -O3, or a name that only an assert
# uses.
#
#   bash tools/check_release.sh
#
# Builds the library, the examples, the tool, the bench, its kernels and the demo, into build/release. Then it runs
# three examples, and the tool on their databases; installs and packs the build, and uses the installation from another
# project; runs the kernels, except those with much data, and every installed engine of the bench; and lets the demo
# load, kill and verify a small folder. Nothing is timed. JOBS limits parallel compilation; CMAKE_ARGS is passed to
# cmake; ccache is used if installed. As root, it also drops the system's page cache. If dropping it, or a control
# group, is not possible here, the bench must refuse, and "SKIPPED: why" is printed.
#
# Exits with 0 if everything was built and every program succeeded.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
BUILD=build/release
FOLDER=/usr/include  # exists wherever a compiler is installed

say() { printf '\n==== %s (%d s)\n' "$*" "$SECONDS"; }

say "Packages"
bash tools/install_deps.sh

say "Build ($BUILD)"
arguments=()
if command -v ccache >/dev/null; then arguments+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
read -r -a given <<<"${CMAKE_ARGS:-}"
cmake --preset release ${arguments[@]+"${arguments[@]}"} ${given[@]+"${given[@]}"}
cmake --build "$BUILD" --parallel "${JOBS:-$(nproc)}"

WORK=$(mktemp -d "${TMPDIR:-/tmp}/cambium_release-XXXXXX")
trap 'rm -rf "$WORK"' EXIT
export TMPDIR=$WORK

# Fault points and mutants, one of which ignores all checksums, are for tests alone.
say "No test hooks in the libraries"
for library in "$BUILD/libcambium.a" "$BUILD/libcambium.so"; do
  symbols=$(nm -C "$library" 2>/dev/null)
  if ! grep -q 'cambium::Checksum64(' <<<"$symbols" || grep -E 'cambium::(active_mutant|FaultPoints)' <<<"$symbols"; then
    echo "check_release: $library has test hooks, or no symbols to tell" >&2
    exit 1
  fi
done

say "The examples, and the tool on their databases"
for example in quickstart families quickstart_c; do
  "$BUILD/examples/cambium_$example" "$WORK/$example.db"
  "$BUILD/tools/cambium" verify "$WORK/$example.db" --deep
done

say "Install, and use from another project"
bash tests/install/install_script.sh "$BUILD"

say "The kernels once, except those with much data"
if [ -x "$BUILD/bench/kernels/cambium_kernels" ]; then
  "$BUILD/bench/kernels/cambium_kernels" --benchmark_min_time=0.0001 \
    "--benchmark_filter=-keys:1000000|mib:256|^Db.*value:16384"
else
  echo "SKIPPED: cambium_kernels is not built (libbenchmark-dev is not installed)"
fi

say "The bench, every engine, both indexes"
if "$BUILD/bench/cambium_bench" --help | LC_ALL=C grep '[^[:print:][:space:]]'; then
  echo "check_release: --help has unprintable bytes" >&2
  exit 1
fi
"$BUILD/bench/cambium_bench" --engine=all,raw --index=both --num=20000 --value_size=1024 --threads=2 --batch_size=32 \
  --benchmarks=fillsync,filluniquerandom,fillbatch,overwrite,readrandom,multireadrandom,readmissing,readseqkeys \
  --benchmarks=readreverse,seekrandomkeys,readwhilewriting,deleterandom,verify
"$BUILD/bench/cambium_bench" --engine=all --index=both --num=5000 --value_size=1024 --threads=2 --seek_nexts=10 \
  --mmap_read --benchmarks=fillseq,fillrandom,flush,waitforcompaction,readseq,seekrandom,seekrandomwhilewriting \
  --benchmarks=readwhilesyncing,compact,verify

say "The bench's report, from a run and from its results"
"$BUILD/bench/cambium_bench" --engine=cambium,lmdb --index=both --num=5000 --value_size=1024 --rounds=2 \
  --benchmarks=filluniquerandom,overwrite,readrandom --json="$WORK/lines.json" --report="$WORK/report"
"$BUILD/bench/cambium_bench" report --json="$WORK/lines.json" --report="$WORK/again"
cmp "$WORK/report/report.html" "$WORK/again/report.html"
bash tests/bench/html/browser_script.sh none "$WORK/again/report.html"

# bench_or_refusal MAY FLAGS...: runs the bench briefly with FLAGS. The bench may refuse, with a reason, unless MAY is
# yes: this machine then allows what the flags need.
bench_or_refusal() {
  local may=$1 code=0
  shift
  "$BUILD/bench/cambium_bench" --engine=all --index=both --num=5000 --value_size=1024 --batch_size=32 --seek_nexts=10 \
    --cache_size=8388608 --benchmarks=filluniquerandom,readrandom,multireadrandom,seekrandom "$@" \
    2>"$WORK/refusal" || code=$?
  cat "$WORK/refusal" >&2
  [ "$code" -ne 0 ] || return 0
  if [ "$may" != yes ] && [ "$code" -eq 2 ] && grep -q 'refused: .' "$WORK/refusal"; then
    echo "SKIPPED: $*: $(sed -n 's/.*refused: //p' "$WORK/refusal")"
    return 0
  fi
  echo "check_release: the bench with $* ended with $code" >&2
  return 1
}

say "The bench, with a cold cache and with little memory"
may_drop=no
if [ -w /proc/sys/vm/drop_caches ]; then may_drop=yes; fi
bench_or_refusal "$may_drop" --drop_caches
bench_or_refusal unknown --memory_limit=256m

say "The demo on $FOLDER"
"$BUILD/bench/cambium_demo" "$FOLDER" --max_mib=20
printf '\ncheck_release: everything was built and succeeded, %d s\n' "$SECONDS"
