#!/usr/bin/env bash
# Copies the files that check_options.sh reads, removes or adds one name at a time, and expects check_options.sh to
# report it.
set -u
check=$1
root=$(cd "$(dirname "$check")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fresh() {
  rm -rf "$work/tree"
  mkdir -p "$work/tree/docs" "$work/tree/include/cambium" "$work/tree/src/api" "$work/tree/src/options"
  cp "$root/docs/OPTIONS.md" "$work/tree/docs/"
  cp "$root/include/cambium/"{options,db,async,convenience,trace}.h "$work/tree/include/cambium/"
  cp "$root/src/api/properties.cc" "$work/tree/src/api/"
  cp "$root/src/options/option_table.cc" "$work/tree/src/options/"
}
failed=0
expect() {  # exit code, text that must be in the output, what was done
  local output code
  output=$("$check" "$work/tree" 2>&1)
  code=$?
  if [ "$code" -ne "$1" ] || [[ "$output" != *"$2"* ]]; then
    printf '%s: exit code %s, expected %s with "%s" in:\n%s\n' "$3" "$code" "$1" "$2" "$output"
    failed=1
  fi
}

fresh
expect 0 "agree" "the tree as it is"
fresh
sed -i 's/^struct ReadOptions {/&\n  int new_option = 0;  \/\/ undocumented/' "$work/tree/include/cambium/options.h"
expect 1 "ReadOptions.new_option" "an option that the document lacks"
fresh
sed -i '/^| `write_buffer_size`/d' "$work/tree/docs/OPTIONS.md"
expect 1 "Options.write_buffer_size" "a row that was removed"
fresh
sed -i 's/^| `min_blob_size`/| `minimal_blob_size`/' "$work/tree/docs/OPTIONS.md"
expect 1 "Options.minimal_blob_size" "an option that the code lacks"
fresh
sed -i 's/("num-snapshots"/("count-snapshots"/' "$work/tree/src/api/properties.cc"
expect 1 "Properties.count-snapshots" "a property under another name"
fresh
sed -i 's/^    {"log-syncs",/    {"log-fsyncs",/' "$work/tree/src/api/properties.cc"
expect 1 "Properties.log-fsyncs" "a property with a row of several lines, under another name"
fresh
sed -i 's/name == "blob-stats"/name == "value-stats"/' "$work/tree/src/api/properties.cc"
expect 1 "Properties.value-stats" "a property that is compared, under another name"
fresh
sed -i 's/AtLevel = "num-files-at-level"/AtLevel = "files-at-level"/' "$work/tree/src/api/properties.cc"
expect 1 "Properties.files-at-level<N>" "a property with a number, under another name"
fresh
sed -i '/^| `num-runs`/d' "$work/tree/docs/OPTIONS.md"
expect 1 "Properties.num-runs" "a property that the document lacks"
fresh
sed -i '/^    {"sweep_ratio"/d' "$work/tree/src/options/option_table.cc"
expect 1 "< ColumnFamilyOptions.sweep_ratio" "a field without a row in the table"
fresh
sed -i 's/^    {"sweep_ratio", .*/    {"sweep_ratio", \&F::sweep_ratio, kFixed, {1, 1000}},/' "$work/tree/src/options/option_table.cc"
expect 1 "< ColumnFamilyOptions.sweep_ratio" "an option that only the document calls dynamic"
fresh
sed -i 's/^\(    {"num_levels", .*\)kFixed/\1kDynamic/' "$work/tree/src/options/option_table.cc"
expect 1 "> ColumnFamilyOptions.num_levels" "an option that only the table calls dynamic"
fresh
rm "$work/tree/docs/OPTIONS.md"
expect 2 "cannot read" "no document"
exit "$failed"
