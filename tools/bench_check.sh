#!/usr/bin/env bash
# Guards against slowdowns. Run it by hand on a quiet machine: for three minutes it runs Cambium and RocksDB in turn,
# and compares each ratio of their speeds with its recorded floor.
#
#   bash tools/bench_check.sh [BENCH] [ROUNDS] [FLOORS]
#
# BENCH: the program, by default build/release/bench/cambium_bench. ROUNDS: 4 by default; the median of the rounds'
# ratios is compared. FLOORS: by default tools/bench_floors.txt. Prints a line for each ratio. Exits with 0 if no ratio
# is below its floor, 1 if a ratio is below its floor or was not measured, 2 if it could not run.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
bench=${1:-build/release/bench/cambium_bench}
rounds=${2:-4}
floors=${3:-tools/bench_floors.txt}

stop() {
  echo "bench_check: $*" >&2
  exit 2
}
[ -x "$bench" ] || stop "$bench does not exist; build the target cambium_bench of the preset release"
[ -r "$floors" ] || stop "$floors does not exist"
grep -q '^[^#]' "$floors" || stop "$floors has no floors"
command -v python3 >/dev/null || stop "needs python3"
work=$(mktemp -d "${TMPDIR:-/tmp}/cambium_bench_check-XXXXXX")
trap 'rm -rf "$work"' EXIT

# run NAME FLAGS...: writes results to NAME.json
run() {
  local name=$1
  shift
  "$bench" --engine=cambium,rocksdb_blob,rocksdb_leveled --index=both --rounds="$rounds" --threads=2 --mmap_read \
    --json="$work/$name.json" "$@" >"$work/$name.log" 2>&1 || { cat "$work/$name.log" >&2; stop "$bench failed"; }
}
run 100B --num=400000 --value_size=100 --reads=200000 --benchmarks=filluniquerandom,overwrite,readrandom,readmissing
run 1KiB --num=131072 --value_size=1024 --seek_nexts=10 --reads=50000 \
  --benchmarks=filluniquerandom,overwrite,readrandom,seekrandom,readwhilewriting
run 16KiB --num=8192 --value_size=16384 --seek_nexts=10 --reads=8192 \
  --benchmarks=filluniquerandom,overwrite,readrandom,seekrandom

python3 - "$floors" "$work" <<'PYTHON'
import json, statistics, sys
floors_path, work = sys.argv[1:]
rates = {}  # (set, engine, benchmark) -> {round: operations a second}
for name in ("100B", "1KiB", "16KiB"):
    for line in open(f"{work}/{name}.json"):
        r = json.loads(line)
        engine = r["engine"] + ("/" + r["index"] if r["index"] else "")
        rates.setdefault((name, engine, r["benchmark"]), {})[r["round"]] = r["ops_per_sec"]
below = 0
print(f"{'values':8}{'workload':20}{'engine':16}{'against':18}{'floor':>7}{'median':>8}   rounds")
for number, line in enumerate(open(floors_path), 1):
    words = line.split("#")[0].split()
    if not words:
        continue
    try:
        name, benchmark, engine, other, floor = words
        floor = float(floor)
    except ValueError:
        print(f"bench_check: {floors_path}, line {number}: expected values, workload, engine, engine, ratio", file=sys.stderr)
        sys.exit(2)
    ours, theirs = rates.get((name, engine, benchmark), {}), rates.get((name, other, benchmark), {})
    ratios = sorted(ours[i] / theirs[i] for i in ours if theirs.get(i))
    ok = bool(ratios) and statistics.median(ratios) >= floor
    below += not ok
    median = f"{statistics.median(ratios):8.2f}" if ratios else "       -"
    spread = f"{ratios[0]:.2f} to {ratios[-1]:.2f}" if ratios else "not measured"
    print(f"{name:8}{benchmark:20}{engine:16}{other:18}{floor:7.2f}{median}   {spread}{'' if ok else '   BELOW'}")
print(f"{below} below their floors")
sys.exit(1 if below else 0)
PYTHON
