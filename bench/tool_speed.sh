#!/usr/bin/env bash
# Compares the speed of the offline tool with that of a copy of the same bytes in blocks of 1 MiB, in one run. Caches
# are cold, and results durable.
#
#   bash bench/tool_speed.sh BUILD DIR [ROUNDS] [VALUES]
#
# BUILD: a release build. DIR: an empty directory with room for four times the database. The database has VALUES
# (262144) values of 16 KiB, which do not compress. After the load they are overwritten by 1.5 times as many writes, so
# that 60 % of the log's 10 GiB is garbage. Needs root, to drop the page cache. Prints a line for each measurement.
# MiB/s: bytes read and written per second. peak: resident memory in MiB. ratio: the speed divided by the speed of the
# copy in the same round.
set -euo pipefail
build=$1
dir=$2
rounds=${3:-3}
values=${4:-262144}
tool=$build/tools/cambium
base=$dir/base
work=$dir/work

forget() { sync; echo 3 > /proc/sys/vm/drop_caches; }
now() { date +%s.%N; }
fresh() { rm -rf "$work" && cp -r "$base/cambium_btree" "$work"; }
# field FILE NAME...: prints a field of a JSON object
field() { python3 -c 'import json,sys; v=json.load(open(sys.argv[1])); [v:=v[k] for k in sys.argv[2:]]; print(v)' "$@"; }
# line WHAT BYTES SECONDS COPY_RATE PEAK_KIB
line() {
  python3 -c 'import sys; w,b,s,c,p=sys.argv[1],*map(float,sys.argv[2:]); r=b/s/2**20
print(f"{w:28} {b/2**30:7.2f} GiB {s:7.2f} s {r:7.0f} MiB/s" + (f"  ratio {r/c:4.2f}" if c else "") + (f"  peak {p/1024:4.0f}" if p else ""))' "$@"
}

# Copies as many bytes of the log as the compaction writes.
copy() {
  local bytes=$1 copied=0 begun ended
  rm -rf "$dir/copy" && mkdir "$dir/copy"
  forget
  begun=$(now)
  for file in "$work"/*.log; do
    dd if="$file" of="$dir/copy/${file##*/}" bs=1M conv=fsync status=none
    copied=$((copied + $(stat -c %s "$file")))
    [ "$copied" -lt "$bytes" ] || break
  done
  ended=$(now)
  rm -rf "$dir/copy"
  copied_bytes=$((2 * copied))
  copy_seconds=$(python3 -c "print($ended - $begun)")
  copy_rate=$(python3 -c "print($copied_bytes / $copy_seconds / 2**20)")
}
# run ARGUMENTS...: runs the tool; sets seconds and peak, and leaves the report in $dir/report.json
run() {
  local begun ended
  forget
  begun=$(now)
  /usr/bin/time -f %M -o "$dir/peak" "$tool" "$@" --json > "$dir/report.json"
  ended=$(now)
  seconds=$(python3 -c "print($ended - $begun)")
  peak=$(tail -1 "$dir/peak")
}
compacted() { echo $(($(field "$dir/report.json" fact bytes_read) + $(field "$dir/report.json" fact bytes_written))); }

mkdir -p "$dir"
if [ ! -d "$base" ]; then
  "$build/bench/cambium_bench" --benchmarks=fillseq,overwrite --num="$values" --writes=$((values * 3 / 2)) \
    --value_size=16384 --db="$base" --enable_blob_garbage_collection=false --max_space_amplification=0 --check=ends \
    > "$dir/make.log"
fi
alive=$((values * 16440))
for round in $(seq "$rounds"); do
  fresh
  copy "$alive"
  line "copy" "$copied_bytes" "$copy_seconds" 0 0
  run verify "$work"
  line "verify" "$(field "$dir/report.json" bytes_read)" "$seconds" 0 "$peak"
  run verify "$work" --deep
  line "verify --deep" "$(field "$dir/report.json" bytes_read)" "$seconds" "$copy_rate" "$peak"
  for how in "" "--cluster" "--recompress zstd" "--recompress lz4"; do
    [ -z "$how" ] || fresh
    # shellcheck disable=SC2086  # words
    run compact "$work" $how
    line "compact $how" "$(compacted)" "$seconds" "$copy_rate" "$peak"
  done
done
rm -rf "$work"
