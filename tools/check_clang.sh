#!/usr/bin/env bash
# Compiles the library with clang, whose warnings differ from gcc's, and which checks the annotations of locks
# (src/util/thread_annotations.h). Every warning is an error. Nothing is run.
#
#   bash tools/check_clang.sh
#
# Builds the floors of src/, the simulator among them, into build/clang (the preset clang). Then it compiles lines that
# break a rule of locks. Clang must reject each of these lines: without the flags for locks it would check nothing, and
# report no error. JOBS limits how many files compile at once; ccache is used where it is installed.
#
# Installs clang with apt if it is missing. If that fails, prints "SKIPPED: why" and exits with 0. Exits with 1 if there
# is a warning, or if a broken rule is accepted.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
BUILD=build/clang

if ! command -v clang++ >/dev/null; then bash tools/install_deps.sh clang || true; fi
if ! command -v clang++ >/dev/null; then
  echo "SKIPPED: clang++ is not installed, and could not be"
  exit 0
fi
clang++ --version | sed -n 1p

arguments=()
if command -v ccache >/dev/null; then arguments+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
cmake --preset clang ${arguments[@]+"${arguments[@]}"}
cmake --build "$BUILD" --parallel "${JOBS:-$(nproc)}" --target cambium cambium_sim -- -k 0

# accepts CODE: compiles the body of a function that has two mutexes and what they guard.
accepts() {
  clang++ -std=c++20 -Isrc -Iinclude -fsyntax-only -Wthread-safety -Wthread-safety-beta -Werror -x c++ - 2>"$BUILD/rejection" <<CODE
#include "util/mutex.h"
struct Guarded {
  cambium::Mutex first CAMBIUM_ACQUIRED_BEFORE(second);
  cambium::Mutex second;
  cambium::CondVar changed;
  int number CAMBIUM_GUARDED_BY(first) = 0;
  void Locked() CAMBIUM_REQUIRES(first);
  void Unlocked() CAMBIUM_EXCLUDES(first);
};
void Function(Guarded& g) { $1 }
CODE
}
accepts 'const cambium::MutexLock lock(g.first); g.number = 1; g.Locked();' || { cat "$BUILD/rejection"; exit 1; }
while IFS= read -r code; do
  if accepts "$code" || ! grep -q 'Wthread-safety' "$BUILD/rejection"; then
    echo "check_clang: clang accepts this, or rejects it for another reason: $code" >&2
    exit 1
  fi
done <<'BROKEN'
g.number = 1;
return static_cast<void>(g.number + 1);
g.Locked();
g.changed.Wait(g.first);
const cambium::MutexLock lock(g.second); g.number = 1;
const cambium::MutexLock lock(g.first); g.Unlocked();
const cambium::MutexLock lock(g.first); const cambium::MutexLock again(g.first);
const cambium::MutexLock second(g.second); const cambium::MutexLock first(g.first);
cambium::MutexLock lock(g.first); lock.Unlock(); g.number = 1;
const cambium::MutexLock lock(g.first); const cambium::MutexUnlock unlocked(g.first); g.number = 1;
g.first.Lock();
BROKEN
printf 'check_clang: the library compiles without a warning, and clang rejects broken rules of locks, %d s\n' "$SECONDS"
