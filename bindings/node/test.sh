#!/bin/bash
# Builds the addon against the library in CAMBIUM_PREFIX, and runs the linter, the type checks and all tests:
#   CAMBIUM_PREFIX=/path bash bindings/node/test.sh
# The last line is "N passed, N failed", or "SKIPPED: why".
set -u
: "${CAMBIUM_PREFIX:?is not set: it names the directory that has include/ and lib/}"
CAMBIUM_PREFIX=$(realpath "$CAMBIUM_PREFIX") || exit 1
export CAMBIUM_PREFIX
cd "$(dirname "$0")" || exit 1

skip() {
  echo "SKIPPED: $1"
  exit 0
}

command -v node > /dev/null || skip "node is not installed"
command -v npm > /dev/null || skip "npm is not installed"
node -e 'process.exit(Number(process.versions.node.split(".")[0]) >= 20 ? 0 : 1)' ||
  skip "the tests need Node.js 20, this is $(node --version)"
command -v "${CXX:-c++}" > /dev/null || skip "there is no C++ compiler"
echo 'int main() {}' | "${CXX:-c++}" -std=c++20 -fsyntax-only -x c++ - 2> /dev/null || skip "the compiler has no C++20"

# The headers that were installed with Node.js need no download.
prefix=$(dirname "$(dirname "$(readlink -f "$(command -v node)")")")
if [ -e "$prefix/include/node/node_api.h" ]; then export npm_config_nodedir=$prefix; fi

log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT

# Development packages, once.
if ! node -e 'for (const name of Object.keys(require("./package.json").devDependencies)) {
    require("fs").accessSync(`node_modules/${name}/package.json`);
  }' 2> /dev/null; then
  timeout 300 npm install --ignore-scripts --no-audit --no-fund > "$log" 2>&1 || {
    tail -n 5 "$log"
    skip "the development packages cannot be installed"
  }
fi

# node-gyp is npm's own. A build for another library or another Node.js is done again.
gyp=$(command -v node-gyp || echo "node $(npm root -g)/npm/node_modules/node-gyp/bin/node-gyp.js")
stamp="$CAMBIUM_PREFIX $(node --version)"
if [ "$(cat build/stamp 2> /dev/null)" != "$stamp" ]; then
  $gyp configure > "$log" 2>&1 || {
    cat "$log"
    echo "0 passed, 1 failed"
    exit 1
  }
  echo "$stamp" > build/stamp
fi
JOBS=1 $gyp build > "$log" 2>&1 || {
  cat "$log"
  echo "0 passed, 1 failed"
  exit 1
}

passed=0
failed=0
if npx --no-install eslint .; then passed=1; else failed=1; fi
node --test --test-reporter=tap test/*.test.js > "$log" 2>&1
status=$?
tests_passed=$(sed -n 's/^# pass //p' "$log")
tests_failed=$(sed -n 's/^# fail //p' "$log")
if [ "$status" -ne 0 ]; then
  grep -A 14 '^ *not ok' "$log"
  if [ "${tests_failed:-0}" -eq 0 ]; then tests_failed=1; fi
fi
grep 'assertions passed' "$log"
echo "$((passed + ${tests_passed:-0})) passed, $((failed + ${tests_failed:-0})) failed"
[ $((failed + ${tests_failed:-0})) -eq 0 ]
