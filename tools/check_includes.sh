#!/usr/bin/env bash
# A file of src/ may include a header of its own folder, or of a folder below it: one that it reaches through DEPS in
# src/*/CMakeLists.txt. In src/, include/, bench/ and tools/, no files may include each other in a cycle, where a header
# and its source count as one: x.h, x.cc and x.c are the unit x. Prints every include of a folder that is not below, and
# every cycle that is not an exception below. Exits with 1 if there is any.
#
#   tools/check_includes.sh [ROOT]     ROOT: a source tree, by default the one that holds this script
#
# The linker notices only what has code: a header without a .cc file can be included from anywhere.
set -u
root=${1:-$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)}
[ -d "$root/src" ] || { echo "$0: $root has no src/" >&2; exit 2; }
cd "$root" || exit 2

# Units that may include each other, a group a line, each after its reason.
exceptions() {
  sed 's/#.*//' <<'GROUPS'
# A pool counts and closes its files, and a file asks its pool for a descriptor: one state under two locks.
src/io/file_pool src/io/pooled_file
# An index file gives its frames back to the pool, and the pool reads pages by their file.
src/index/index_file src/index/page_pool
# The shares of a budget change its figures under its mutex.
src/memtable/budget_charges src/memtable/write_budget
# compaction_step.h has Compactor::OneStep, a class of Compactor.
src/upkeep/compact/compactor src/upkeep/compact/compaction_step
# The simulated file system is one state with one mutex. Its files, maps and queues call it back, and its switches for
# tests are parts of it.
src/io/sim/sim_file_system src/io/sim/sim_file src/io/sim/sim_map src/io/sim/sim_open_directory src/io/sim/sim_probe src/io/sim/sim_read_queue src/io/sim/sim_tampering
# c.h includes c_transaction.h, so that programs include one header, and that header needs the types of c.h.
include/cambium/c include/cambium/c_transaction
GROUPS
}

# Prints for awk: "folder TARGET FOLDER" for each folder that is a target, "dep FOLDER TARGET" for each of DEPS, "may
# UNIT UNIT..." for each exception, "file FILE" for each file, and "include FILE LINE HEADER" for each include in
# quotes. The target of src/io/sim is cambium_sim.
facts() {
  local plan folder
  find src -name CMakeLists.txt | sort | while read -r plan; do
    folder=${plan#src/}
    folder=${folder%/CMakeLists.txt}
    printf 'folder %s %s\n' "$(sed -n 's/^cambium_floor(\([a-z_]*\).*/\1/p' "$plan")" "$folder"
    tr '\n' ' ' <"$plan" | grep -oE 'DEPS[^)]*' | grep -oE 'cambium_[a-z_]+' | sed "s|^cambium_|dep $folder |"
  done
  exceptions | sed -n 's/^[^ ]/may &/p'
  files | sed 's/^/file /'
  files | xargs -r grep -HnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' |
    sed -E 's/^([^:]+):([0-9]+):[^"]*"([^"]+)".*/include \1 \2 \3/'
}
files() {
  local top
  for top in src include bench tools; do
    if [ -d "$top" ]; then find "$top" -name '*.h' -o -name '*.cc' -o -name '*.c' -o -name '*.def'; fi
  done | sort
}

facts | LC_ALL=C awk '
  # The deepest folder of `path` (below src/) that is a target.
  function folder_of(path) {
    while (sub(/\/[^\/]*$/, "", path)) if (path in folders) return path
    return ""
  }
  function reach(from, to, i, n, list) {
    if (from == to) return 1
    if ((from, to) in known) return known[from, to]
    known[from, to] = 0
    n = split(below[from], list, " ")
    for (i = 1; i <= n; i++) if (reach(target[list[i]], to)) return known[from, to] = 1
    return 0
  }
  function unit_of(path) {
    sub(/\.(h|cc|c)$/, "", path)
    return path
  }
  # The file that `file` includes as `header`, or "".
  function find_file(file, header, own, i) {
    own = file
    sub(/[^\/]*$/, "", own)
    if ((own header) in files) return own header
    for (i = 1; i <= 4; i++) if ((tops[i] header) in files) return tops[i] header
    return ""
  }
  # Depth first; `path` is the way here. A unit that is on it closes a cycle.
  function walk(unit, path, i, n, list) {
    state[unit] = 1
    n = split(includes[unit], list, " ")
    for (i = 1; i <= n; i++) {
      if (state[list[i]] == 1) {
        print list[i] ": a cycle: " substr(path, index(" " path " ", " " list[i] " ")) " " list[i]
        wrong = 1
      } else if (state[list[i]] != 2) {
        walk(list[i], path " " list[i])
      }
    }
    state[unit] = 2
  }
  BEGIN { split("src/ include/ bench/ tools/", tops, " ") }
  $1 == "folder" { folders[$3] = 1; target[$2] = $3; count++ }
  $1 == "dep" { below[$2] = below[$2] " " $3 }
  # A group is one unit in cycles with others: that of its first member.
  $1 == "may" { for (i = 2; i <= NF; i++) { group[$i] = $2; members[++members_count] = $i } }
  $1 == "file" { files[$2] = 1; units[unit_of($2)] = 1 }
  $1 == "include" {
    found = find_file($2, $4)
    if (found == $2) { print $2 ":" $3 ": includes itself"; wrong = 1 }
    from = unit_of($2); to = unit_of(found)
    if (found != "" && from != to) {
      if (from in group && to in group && group[from] == group[to]) used_out[from] = used_in[to] = 1
      if (from in group) from = group[from]
      if (to in group) to = group[to]
      if (from != to && !((from, to) in edge)) {
        edge[from, to] = 1
        includes[from] = includes[from] " " to
        if (!(from in numbered)) { numbered[from] = 1; order[++order_count] = from }
      }
    }
    if ($2 !~ /^src\//) next
    file = $2; sub(/^src\//, "", file)
    to = folder_of($4)
    if (to == "" && $4 !~ /^cambium\//) {
      print $2 ":" $3 ": \"" $4 "\" is neither of a folder nor of include/cambium"
      wrong = 1
    }
    if (to == "") next
    source[++source_count] = file
    line[source_count] = $3; header[source_count] = $4
  }
  END {
    if (count == 0) { print "no folder has a CMakeLists.txt with cambium_floor"; exit 1 }
    for (i = 1; i <= source_count; i++) {
      from = folder_of(source[i]); to = folder_of(header[i])
      if (!reach(from, to)) {
        print "src/" source[i] ":" line[i] ": \"" header[i] "\" is not below " from
        wrong = 1
      }
    }
    for (i = 1; i <= order_count; i++) if (state[order[i]] != 2) walk(order[i], order[i])
    for (i = 1; i <= members_count; i++) {
      if (!(members[i] in units) || (members[i] in used_out && members[i] in used_in)) continue
      print members[i] ": an exception of tools/check_includes.sh, and in no cycle with its group"
      wrong = 1
    }
    exit wrong
  }' || {
  echo "check_includes: the lines above break the plan of src/*/CMakeLists.txt, or are cycles." >&2
  exit 1
}
echo "check_includes: all includes of src/ lead to lower folders, and no files include each other in a cycle."
