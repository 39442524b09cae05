#!/usr/bin/env bash
# Runs tools/bench_check.sh with a script in place of the bench. The script measures nothing, and writes fixed results.
#   bench_check_script.sh SOURCE_DIR
set -euo pipefail
check=$1/tools/bench_check.sh
command -v python3 >/dev/null || { echo "SKIPPED: no python3, which the script needs"; exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Three rounds, in which Cambium's tree does 150, 200 and 400 operations a second, its LSM 90, and the others 100.
cat >"$work/bench" <<'EOF'
#!/usr/bin/env bash
set -euo pipefail
for word in "$@"; do case $word in --json=*) json=${word#*=} ;; --benchmarks=*) benchmarks=${word#*=} ;; esac; done
[ ! -e "$0.fails" ] || { echo "bench: out of order"; exit 1; }
row() { printf '{"engine": "%s", "index": %s, "benchmark": "%s", "round": %s, "ops_per_sec": %s}\n' "$@" >>"$json"; }
for benchmark in ${benchmarks//,/ }; do
  for round in 1 2 3; do
    speeds=(0 150 200 400)
    row cambium '"btree"' "$benchmark" $round ${speeds[$round]}
    row cambium '"lsm"' "$benchmark" $round 90
    row rocksdb_leveled null "$benchmark" $round 100
    row rocksdb_blob null "$benchmark" $round 100
  done
done
EOF
chmod +x "$work/bench"

fail() { echo "FAILED: $*"; cat "$work/said"; exit 1; }
# expect CODE TEXT: the script must end with CODE and say TEXT.
expect() {
  local code=0
  bash "$check" "$work/bench" 3 "$work/floors" >"$work/said" 2>&1 || code=$?
  [ "$code" -eq "$1" ] || fail "expected exit code $1, got $code"
  grep -qF -- "$2" "$work/said" || fail "expected '$2'"
}
floors() { printf '%s\n' "$@" >"$work/floors"; }

expect 2 "$work/floors does not exist"
floors '# values, workload, of, beside, ratio'
expect 2 "has no floors"
floors '1KiB overwrite cambium/btree rocksdb_blob 2.0  # the median' '100B overwrite cambium/lsm rocksdb_leveled 0.9'
expect 0 "0 below their floors"
grep -Eq '^1KiB +overwrite +cambium/btree +rocksdb_blob +2.00 +2.00   1.50 to 4.00$' "$work/said" || fail "another line was expected"
floors '1KiB overwrite cambium/btree rocksdb_blob 2.01' '16KiB seekrandom cambium/lsm rocksdb_blob 0.5'
expect 1 "1 below their floors"
grep -q 'BELOW$' "$work/said" || fail "nothing is marked as BELOW"
floors '16KiB readmissing cambium/lsm rocksdb_blob 0.5'
expect 1 "not measured"
floors '16KiB seekrandom cambium/lsm rocksdb_blob' ''
expect 2 "floors, line 1: expected values, workload, engine, engine, ratio"
floors '16KiB seekrandom cambium/lsm rocksdb_blob 0.5'
touch "$work/bench.fails"
expect 2 "bench: out of order"
rm "$work/bench"
expect 2 "$work/bench does not exist"
echo "ok"
