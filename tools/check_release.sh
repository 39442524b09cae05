#!/usr/bin/env bash
# Builds what users get, the `release` preset, and tries it once. The tests run on a build with asserts and hooks; what
# only a build without them shows, a warning at -O3 or a name that only an assert used, would meet a user first.
#
#   bash tools/check_release.sh
#
# Builds all of it, the library, the examples, the tool, the bench, its kernels and the demo, into build/release. Then the
# examples run, what was built is installed, packed and used by a project outside, the bench runs every engine that is
# installed, and the demo loads, kills and verifies a small folder. Nothing is timed. JOBS limits what compiles at once; ccache is used where it is installed. As root the
# system's page cache is dropped, some times; where that, or a control group, is not to be had, it must be refused, and
# "SKIPPED: why" is printed.
#
# Exits with 0 if all was built and every program ended well.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
BUILD=build/release
FOLDER=/usr/include  # whoever compiles has it

say() { printf '\n==== %s (%d s)\n' "$*" "$SECONDS"; }

say "Packages"
bash tools/install_deps.sh

say "Build ($BUILD)"
arguments=()
if command -v ccache >/dev/null; then arguments+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
cmake --preset release ${arguments[@]+"${arguments[@]}"}
cmake --build "$BUILD" --parallel "${JOBS:-$(nproc)}"

WORK=$(mktemp -d "${TMPDIR:-/tmp}/cambium_release-XXXXXX")
trap 'rm -rf "$WORK"' EXIT
export TMPDIR=$WORK

say "The examples, and the tool over what they have left"
for example in quickstart families quickstart_c; do
  "$BUILD/examples/cambium_$example" "$WORK/$example.db"
  "$BUILD/tools/cambium" verify "$WORK/$example.db" --deep
done

say "Installed, and used by a project outside"
bash tests/install/install_script.sh "$BUILD"

say "The kernels, each once, but for those with much data"
if [ -x "$BUILD/bench/kernels/cambium_kernels" ]; then
  "$BUILD/bench/kernels/cambium_kernels" --benchmark_min_time=0.0001 \
    "--benchmark_filter=-keys:1000000|mib:256|^Db.*value:16384"
else
  echo "SKIPPED: cambium_kernels is not built (libbenchmark-dev is not installed)"
fi

say "The bench, every engine, both indexes"
if "$BUILD/bench/cambium_bench" --help | LC_ALL=C grep '[^[:print:][:space:]]'; then
  echo "check_release: --help has bytes that nobody can read" >&2
  exit 1
fi
"$BUILD/bench/cambium_bench" --engine=all,raw --index=both --num=20000 --value_size=1024 --threads=2 --batch_size=32 \
  --benchmarks=fillsync,filluniquerandom,fillbatch,overwrite,readrandom,multireadrandom,readmissing,readseqkeys \
  --benchmarks=readreverse,seekrandomkeys,readwhilewriting,deleterandom,verify
"$BUILD/bench/cambium_bench" --engine=all --index=both --num=5000 --value_size=1024 --threads=2 --seek_nexts=10 \
  --mmap_read --benchmarks=fillseq,fillrandom,flush,waitforcompaction,readseq,seekrandom,seekrandomwhilewriting \
  --benchmarks=readwhilesyncing,compact,verify

say "The bench's report, once from a run and once from its results"
"$BUILD/bench/cambium_bench" --engine=cambium,lmdb --index=both --num=5000 --value_size=1024 --rounds=2 \
  --benchmarks=filluniquerandom,overwrite,readrandom --json="$WORK/lines.json" --report="$WORK/report"
"$BUILD/bench/cambium_bench" report --json="$WORK/lines.json" --report="$WORK/again"
cmp "$WORK/report/report.html" "$WORK/again/report.html"
bash tests/bench/html_browser_script.sh none "$WORK/again/report.html"

# bench_or_refusal MAY FLAGS...: a small run with them. It may be refused, with the reason, unless MAY is yes: then this
# machine is known to allow what they need.
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

say "The bench, cold and short of memory"
may_drop=no
if [ -w /proc/sys/vm/drop_caches ]; then may_drop=yes; fi
bench_or_refusal "$may_drop" --drop_caches
bench_or_refusal unknown --memory_limit=256m

say "The demo on $FOLDER"
"$BUILD/bench/cambium_demo" "$FOLDER" --max_mib=20
printf '\ncheck_release: all was built and ended well, %d s\n' "$SECONDS"
