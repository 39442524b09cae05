#!/usr/bin/env bash
# check_includes_test.sh SCRIPT: SCRIPT must find cycles, exceptions that are in no cycle, and includes of folders that
# are not below the including folder. It must allow includes of folders below.
set -u
script=$1
tree=$(mktemp -d) || exit 1
trap 'rm -rf "$tree"' EXIT
failed=0

# The plan: api above tree and lsm, these above io, that above util; io/sim above io.
mkdir -p "$tree"/src/{util,io/sim,tree,lsm,api}
echo 'cambium_floor(util SOURCES a.cc DEPS Threads::Threads)' > "$tree/src/util/CMakeLists.txt"
echo 'cambium_floor(io SOURCES a.cc DEPS cambium_util PkgConfig::URING)' > "$tree/src/io/CMakeLists.txt"
printf '# For tests.\ncambium_floor(sim\n  SOURCES a.cc\n          b.cc\n  DEPS cambium_io)\n' > "$tree/src/io/sim/CMakeLists.txt"
echo 'cambium_floor(tree SOURCES a.cc DEPS cambium_io)' > "$tree/src/tree/CMakeLists.txt"
echo 'cambium_floor(lsm SOURCES a.cc DEPS cambium_io)' > "$tree/src/lsm/CMakeLists.txt"
printf 'cambium_floor(api\n  SOURCES a.cc\n  DEPS cambium_tree cambium_lsm)\n' > "$tree/src/api/CMakeLists.txt"

expect() {  # expect STATUS NAME [LINE]: runs the script over the tree; LINE must be printed
  bash "$script" "$tree" > "$tree/out" 2>&1
  local status=$?
  if [ "$status" -ne "$1" ]; then
    echo "FAILED: $2: exit $status, expected $1"; cat "$tree/out"; failed=1
  elif [ $# -gt 2 ] && ! grep -qxF "$3" "$tree/out"; then
    echo "FAILED: $2: not printed: $3"; cat "$tree/out"; failed=1
  fi
}

cat > "$tree/src/api/a.cc" <<'GOOD'
#include "api/a.h"

#include <vector>

#include "cambium/db.h"
#include "io/sim_like.h"
#include "lsm/a.h"
#include "tree/a.h"
  #  include "util/a.h"
// #include "nowhere/a.h"
GOOD
echo '#include "io/a.h"' > "$tree/src/io/sim/a.h"
expect 0 "includes that go down"

while IFS='|' read -r file header line; do
  printf '\n#include "%s"\n' "$header" > "$tree/src/$file"
  expect 1 "$file includes $header" "src/$file:2: $line"
  rm "$tree/src/$file"
done <<'BAD'
util/b.h|io/a.h|"io/a.h" is not below util
tree/b.cc|api/a.h|"api/a.h" is not below tree
tree/b.h|lsm/a.h|"lsm/a.h" is not below tree
io/b.cc|io/sim/a.h|"io/sim/a.h" is not below io
api/b.cc|io/sim/a.h|"io/sim/a.h" is not below api
io/b.h|b.h|"b.h" is neither of a folder nor of include/cambium
BAD

touch "$tree/src/io/e.h"
echo '#include "io/d.h"' > "$tree/src/io/c.h"
echo '#include "io/e.h"' > "$tree/src/io/d.h"
expect 0 "a chain of three files"
echo '#include "io/c.h"' > "$tree/src/io/e.h"
expect 1 "a cycle of three files" "src/io/c: a cycle: src/io/c src/io/d src/io/e src/io/c"
rm "$tree/src/io/e.h"
echo '#include "io/e.h"' > "$tree/src/io/e.cc"
touch "$tree/src/io/e.h"
expect 0 "a source that includes its header"
echo '#include "io/c.h"' >> "$tree/src/io/e.cc"
expect 1 "a cycle through a source" "src/io/c: a cycle: src/io/c src/io/d src/io/e src/io/c"
rm "$tree"/src/io/?.h "$tree/src/io/e.cc"
echo '#include "io/c.h"' > "$tree/src/io/c.h"
expect 1 "a file that includes itself" "src/io/c.h:1: includes itself"
rm "$tree/src/io/c.h"

mkdir -p "$tree/include/cambium" "$tree/bench/run" "$tree/tools"
for path in include/cambium bench/run tools; do
  echo '#include "b.h"' > "$tree/$path/a.h"
  echo '#include "a.h"' > "$tree/$path/b.h"
  expect 1 "a cycle in $path" "$path/a: a cycle: $path/a $path/b $path/a"
  rm "$tree/$path"/?.h
done
echo '#include "io/pooled_file.h"' > "$tree/src/io/file_pool.cc"
echo '#include "io/file_pool.h"' > "$tree/src/io/pooled_file.h"
touch "$tree/src/io/file_pool.h"
expect 0 "a cycle that is an exception"
echo '#include "io/x.h"' > "$tree/src/io/pooled_file.cc"
echo '#include "io/file_pool.h"' > "$tree/src/io/x.h"
expect 1 "a cycle through an exception" "src/io/file_pool: a cycle: src/io/file_pool src/io/x src/io/file_pool"
rm "$tree/src/io/pooled_file.cc" "$tree/src/io/x.h"
rm "$tree/src/io/file_pool.cc"
expect 1 "an exception that is no cycle" \
  "src/io/pooled_file: an exception of tools/check_includes.sh, and in no cycle with its group"
rm "$tree"/src/io/*.h

bash "$script" "$tree/nowhere" > /dev/null 2>&1
[ $? -eq 2 ] || { echo "FAILED: a tree without src/"; failed=1; }
rm "$tree"/src/*/CMakeLists.txt "$tree/src/io/sim/CMakeLists.txt"
expect 1 "a tree without a plan"
exit $failed
