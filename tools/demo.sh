#!/usr/bin/env bash
# Shows Cambium's main job on real data, with a tree and with an LSM as its index, then measures both against the other
# stores that are installed. Takes a few minutes.
#
#   bash tools/demo.sh [FOLDER [MAX_MIB]]
#
# FOLDER   whose files become keys and values; /usr/share if not given
# MAX_MIB  take no more than this many MiB of them; 2048 if not given
#
# Environment: CAMBIUM_DEMO_DIR is a directory for the databases, instead of a temporary one below TMPDIR (or /tmp); the
# demo removes what it created there, unless a check failed. CAMBIUM_BENCH_NUM is the number of keys with values of 1
# KiB in the bench, 100000 by default.
#
# Installs missing packages with apt (tools/install_deps.sh). Exits with 0 if every check succeeded.
set -euo pipefail

FOLDER=${1:-/usr/share}
MAX_MIB=${2:-2048}
BENCH_NUM=${CAMBIUM_BENCH_NUM:-100000}
SOURCE=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
BUILD=$SOURCE/build/release

say() { printf '\n==== %s\n' "$*"; }
fail() {
  printf '\ndemo: %s\n' "$*" >&2
  exit 1
}

[ "$#" -le 2 ] || fail "usage: bash tools/demo.sh [FOLDER [MAX_MIB]]"
[ -d "$FOLDER" ] || fail "$FOLDER is not a directory"
case $MAX_MIB in
  '' | *[!0-9]*) fail "MAX_MIB must be a number, not '$MAX_MIB'" ;;
esac
FOLDER=$(cd "$FOLDER" && pwd)

WORK=$(mktemp -d "${CAMBIUM_DEMO_DIR:-${TMPDIR:-/tmp}}/cambium_demo-XXXXXX") || fail "cannot create a directory for the databases"
trap 'rm -rf "$WORK"' EXIT

# Space for the files, their overwritten part, and both in the log until log GC; and for the bench.
need_kib=$((MAX_MIB * 1024 * 2))
have_kib=$(df -Pk "$WORK" | awk 'NR == 2 { print $4 }')
used_kib=$(du -sk "$FOLDER" 2>/dev/null | awk '{ print $1 * 2 }')
[ "${used_kib:-0}" -lt "$need_kib" ] && need_kib=${used_kib:-0}
need_kib=$((need_kib + BENCH_NUM * 4))
[ "$have_kib" -gt "$need_kib" ] ||
  fail "$WORK has $((have_kib / 1024)) MiB free, about $((need_kib / 1024)) are needed; set CAMBIUM_DEMO_DIR"

say "Packages"
bash "$SOURCE/tools/install_deps.sh" || fail "packages are missing"
echo "all installed"

say "Build ($BUILD); the first time this takes some minutes"
cd "$SOURCE"
log=$WORK/build.log
if ! { cmake --preset release && cmake --build --preset release --target cambium_demo cambium_bench; } >"$log" 2>&1; then
  tail -n 40 "$log" >&2
  fail "the build failed"
fi
grep 'cambium_bench: built without' "$log" || true
echo "built"

failed=0
say "The files below $FOLDER, loaded, checked, killed, checked again"
if ! TMPDIR=$WORK "$BUILD/bench/cambium_demo" "$FOLDER" --max_mib="$MAX_MIB" | tee "$WORK/demo.txt"; then
  failed=1
  trap - EXIT  # keep the damaged database for inspection
fi

say "The bench: $BENCH_NUM keys, values of 1 KiB, 2 threads"
TMPDIR=$WORK "$BUILD/bench/cambium_bench" --engine=all --index=both --num="$BENCH_NUM" --value_size=1024 --threads=2 --seek_nexts=10 \
  --benchmarks=filluniquerandom,overwrite,readrandom,readseq,seekrandom,verify || failed=1

say "The demo's steps again"
sed -n '/^step  /,$p' "$WORK/demo.txt"
[ "$failed" -eq 0 ] || fail "A CHECK FAILED; see above"
echo "Demo and bench: every check succeeded."
