#!/usr/bin/env bash
# A file of src/ may include a header of its own folder, or of a folder below it: one that it reaches through DEPS in
# src/*/CMakeLists.txt. Prints every include of another folder, and every cycle of files that include each other. Exits
# with 1 if there is one.
#
#   tools/check_includes.sh [ROOT]     ROOT: a source tree, by default the one that holds this script
#
# The linker notices only what has code: a header without a .cc file can be included from anywhere.
set -u
root=${1:-$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)}
[ -d "$root/src" ] || { echo "$0: $root has no src/" >&2; exit 2; }
cd "$root" || exit 2

# Prints for awk: "folder TARGET FOLDER" for each folder that is a target, "dep FOLDER TARGET" for each edge of the plan,
# and for each include in quotes "include FILE LINE HEADER". The target of src/io/sim is cambium_sim.
facts() {
  local plan folder
  find src -name CMakeLists.txt | sort | while read -r plan; do
    folder=${plan#src/}
    folder=${folder%/CMakeLists.txt}
    printf 'folder %s %s\n' "$(sed -n 's/^cambium_floor(\([a-z_]*\).*/\1/p' "$plan")" "$folder"
    tr '\n' ' ' <"$plan" | grep -oE 'DEPS[^)]*' | grep -oE 'cambium_[a-z_]+' | sed "s|^cambium_|dep $folder |"
  done
  find src -name '*.h' -o -name '*.cc' -o -name '*.def' | sort | xargs -r grep -nE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' |
    sed -E 's/^([^:]+):([0-9]+):[^"]*"([^"]+)".*/include \1 \2 \3/'
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
  # Depth first; `path` is the way here. A file that is on it closes a cycle.
  function walk(file, path, i, n, list) {
    state[file] = 1
    n = split(includes[file], list, " ")
    for (i = 1; i <= n; i++) {
      if (state[list[i]] == 1) {
        print "src/" list[i] ": a cycle: " substr(path, index(path " ", list[i] " ")) " " list[i]
        wrong = 1
      } else if (state[list[i]] != 2) {
        walk(list[i], path " " list[i])
      }
    }
    state[file] = 2
  }
  $1 == "folder" { folders[$3] = 1; target[$2] = $3; count++ }
  $1 == "dep" { below[$2] = below[$2] " " $3 }
  $1 == "include" {
    file = $2; sub(/^src\//, "", file)
    to = folder_of($4)
    if (to == "" && $4 !~ /^cambium\//) {
      print $2 ":" $3 ": \"" $4 "\" is neither of a folder nor of include/cambium"
      wrong = 1
    }
    if (to == "") next
    files[++files_count] = file
    includes[file] = includes[file] " " $4
    line[files_count] = $3; header[files_count] = $4
  }
  END {
    if (count == 0) { print "no folder has a CMakeLists.txt with cambium_floor"; exit 1 }
    for (i = 1; i <= files_count; i++) {
      from = folder_of(files[i]); to = folder_of(header[i])
      if (!reach(from, to)) {
        print "src/" files[i] ":" line[i] ": \"" header[i] "\" is not below " from
        wrong = 1
      }
    }
    for (i = 1; i <= files_count; i++) if (state[files[i]] != 2) walk(files[i], files[i])
    exit wrong
  }' || {
  echo "check_includes: the lines above break the plan of src/*/CMakeLists.txt." >&2
  exit 1
}
echo "check_includes: all includes of src/ lead to lower folders, without cycles."
