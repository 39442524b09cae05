#!/usr/bin/env bash
# Tests the whole program with every store of this build: its exit codes, the files that it leaves, and the command
# lines that it refuses.
#   bench_program_script.sh CAMBIUM_BENCH
set -euo pipefail
bench=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/tmp" "$work/here"
export TMPDIR=$work/tmp  # databases are made here, unless --db is given
cd "$work/here"          # --report_file would write here

fail() { echo "FAILED: $*"; cat "$work/said"; exit 1; }
# expect CODE TEXT WORDS...: the program must end with CODE and say TEXT.
expect() {
  local code=$1 text=$2 ended=0
  shift 2
  "$bench" "$@" >"$work/said" 2>&1 || ended=$?
  [ $ended = "$code" ] || fail "ended with $ended, not $code: $*"
  grep -qF -- "$text" "$work/said" || fail "does not say '$text': $*"
}
nothing_ran() { ! grep -q '^== ' "$work/said" || fail "something ran: $*"; }
nothing_left() {
  local left
  left=$(find "$work/tmp" "$work/here" -mindepth 1)
  [ -z "$left" ] || fail "files remain: $left"
}

quick=(--preset=quick --scale=0.01)

# A complete run: every benchmark of every store, and the report.
expect 0 "Report:     $work/report/report.html" "${quick[@]}" --engine=all --report="$work/report"
stores=$(grep -c '^== ' "$work/said")
for benchmark in filluniquerandom overwrite readrandom readseq seekrandom deleterandom verify; do
  got=$(grep -c "\"benchmark\": *\"$benchmark\"" "$work/report/results.json") || true
  [ "$got" = "$stores" ] || fail "$benchmark has $got results of $stores stores"
done
[ "$stores" -ge 2 ] || fail "both indexes of Cambium have a turn"
[ -s "$work/report/report.html" ] && [ -s "$work/report/results.csv" ] || fail "no report"
! grep -q 'interrupted' "$work/report/report.html" || fail "says interrupted, and was not"
nothing_left

# Ctrl-C in the middle, after the first results and with hundreds of rounds left: the report has the results so far.
"$bench" "${quick[@]}" --engine=cambium --rounds=1000 --report="$work/cut" >"$work/said" 2>&1 &
pid=$!
for ((i = 0; i < 300; ++i)); do
  ! grep -q 'round 2 of 1000' "$work/said" || break
  sleep 0.05
done
grep -q 'round 2 of 1000' "$work/said" || fail "did not come to a second round"
kill -INT $pid
ended=0
wait $pid || ended=$?
[ $ended = 130 ] || fail "interrupted, it ended with $ended"
! grep -q 'round 1000 of' "$work/said" || fail "went on to the end"
grep -q 'It was interrupted' "$work/cut/report.html" || fail "the report does not say that it was interrupted"
grep -q '"benchmark": *"filluniquerandom"' "$work/cut/results.json" || fail "the report lacks the results until then"
nothing_left

# If the reader of the output goes away, the run ends as after Ctrl-C, and removes its databases.
"$bench" "${quick[@]}" --engine=cambium --rounds=1000 2>"$work/said" | head -n 1 >/dev/null || true
nothing_left

# Output that cannot be written is reported.
ended=0
"$bench" "${quick[@]}" --engine=cambium 2>"$work/said" >/dev/full || ended=$?
[ $ended = 1 ] || fail "with a full output it ended with $ended"
grep -q 'the output cannot be written' "$work/said" || fail "does not say that the output cannot be written"
nothing_left

# If another process ends a store's process, the run fails, because figures are missing.
"$bench" --engine=cambium --benchmarks=fillrandom,readrandom --num=1000 --duration=60 >"$work/said" 2>&1 &
pid=$!
for ((i = 0; i < 300; ++i)); do
  ! grep -q '^fillrandom' "$work/said" || break
  sleep 0.05
done
child=$(grep -l "^PPid:[[:space:]]*$pid$" /proc/[0-9]*/status 2>/dev/null | cut -d/ -f3) || true
[ -n "$child" ] || fail "has no process for the store"
kill -TERM "$child"
ended=0
wait $pid || ended=$?
[ $ended = 1 ] || fail "when its child was ended it ended with $ended"
nothing_left

# If memory runs out, the program reports it, and removes the files that it made. Before that, it checks that the disk
# has the space that so many keys may need; this space is not used.
free_mib=$(($(df --output=avail -k "$work" | tail -1) / 1024))
if [ "$free_mib" -ge 6000 ]; then
  ended=0
  (ulimit -v 400000 && exec "$bench" --engine=cambium --benchmarks=fillseq --num=100000000 --value_size=0) \
    >"$work/said" 2>&1 || ended=$?
  [ $ended = 1 ] || fail "without memory it ended with $ended"
  grep -q 'out of memory' "$work/said" || fail "does not say that it is out of memory"
  nothing_left
else
  echo "SKIPPED: memory that runs out: $free_mib MiB are free on the disk, and the keys that it takes need 6000"
fi

# If a word is unknown, the nearest word is suggested, and nothing is created, not even the report's directory.
expect 2 "did you mean quick?" --preset=quik --report="$work/none"
expect 2 "did you mean cambium?" --engine=cambiun --report="$work/none"
expect 2 "did you mean fillseq?" --benchmarks=filseq --report="$work/none"
expect 2 "did you mean --engine?" --engin=cambium --report="$work/none"
expect 2 "there is no $work/none/cambium_btree" --db="$work/none" --use_existing_db --benchmarks=readrandom
expect 2 "there is no directory $work/none" trace record --trace_file="$work/none/t"
expect 2 "--value_size distinguishes" --preset=slides4 --value_size=1 --report="$work/none"
[ ! -e "$work/none" ] || fail "made the directory of a report"
nothing_left

# An engine whose library is not there is refused with the reason, and the others run.
missing() { CAMBIUM_ROCKSDB11_LIBRARY=$work/none.so expect "$@"; }
missing 2 "Left out:   rocksdb11_leveled, refused: $work/none.so: " "${quick[@]}" --engine=rocksdb11_leveled
grep -q 'none of these engines can run here' "$work/said" || fail "does not say that no engine is left"
nothing_ran
missing 0 "Left out:   rocksdb11_blob, refused: " "${quick[@]}" --benchmarks=fillseq --engine=cambium,rocksdb11_blob
missing 0 "all values in leveled tables; refused: $work/none.so: " --list
nothing_left

# A report that cannot be written is reported before anything runs.
touch "$work/file"
expect 2 "--report: " "${quick[@]}" --engine=cambium --report="$work/file/report"
nothing_ran
expect 2 "cannot write $work/file/json" "${quick[@]}" --engine=cambium --json="$work/file/json"
nothing_ran
nothing_left

# Also reported before anything runs: a --source without files, a --db that cannot be written, and more keys than memory
# or disk can hold.
mkdir "$work/empty"
expect 2 "--source: " --source="$work/empty" --engine=cambium
nothing_ran
expect 2 "cannot create or write /proc/self" --db=/proc/self "${quick[@]}" --engine=cambium
nothing_ran
expect 2 "MiB of memory" --num=1000000000000 --value_size=1000000 --engine=cambium
nothing_ran
expect 2 "MiB free, and up to" --num=100000000 --value_size=1000000000 --engine=cambium
nothing_ran
nothing_left

# Also a disk that is too small: here a tmpfs of 1 MiB, which is unmounted when its mount namespace ends.
mkdir "$work/disk"
small() {
  unshare --map-root-user --mount bash -c 'mount -t tmpfs -o size=1m none "$0" && exec "$@"' "$work/disk" "$@"
}
if why=$(small true 2>&1); then
  ended=0
  small "$bench" --preset=quick --scale=0.1 --engine=cambium --db="$work/disk/db" >"$work/said" 2>&1 || ended=$?
  [ $ended = 2 ] || fail "with a small disk it ended with $ended"
  grep -q 'MiB free, and up to' "$work/said" || fail "does not say how much room is needed"
  nothing_ran
else
  echo "SKIPPED: the small disk: $why"
fi
