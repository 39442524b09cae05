#!/usr/bin/env bash
# Builds the Go binding against the library in CAMBIUM_PREFIX and tests it. The last line counts what has passed and
# failed. What it makes is in build/, which git ignores, and in Go's caches.
#
#   CAMBIUM_PREFIX=/path bash bindings/go/test.sh
set -u
[ -z "${CAMBIUM_PREFIX:-}" ] || CAMBIUM_PREFIX=$(cd "$CAMBIUM_PREFIX" && pwd) || exit 1
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 1

skip() {
  echo "SKIPPED: $*"
  exit 0
}

# Where the installation of Go is not in PATH.
command -v go >/dev/null || PATH=$PATH:/usr/local/go/bin
command -v go >/dev/null || skip "there is no Go"
command -v gofmt >/dev/null || PATH=$PATH:$(go env GOROOT)/bin
has=$(go env GOVERSION)
case $has in
  go1.[0-9] | go1.[0-9].* | go1.1[0-9]* | go1.2[0-2]*) skip "Go 1.23 or later is needed, there is $has" ;;
esac
command -v "${CC:-gcc}" >/dev/null || skip "there is no C compiler, which cgo needs"
: "${CAMBIUM_PREFIX:?names the folder that has include/cambium/c.h and lib/libcambium.so}"
[ -e "$CAMBIUM_PREFIX/include/cambium/c.h" ] || { echo "$CAMBIUM_PREFIX has no include/cambium/c.h"; exit 1; }

export CGO_ENABLED=1
export CGO_CFLAGS="-O2 -g -I$CAMBIUM_PREFIX/include"
export CGO_LDFLAGS="-L$CAMBIUM_PREFIX/lib -Wl,-rpath,$CAMBIUM_PREFIX/lib"
export GOFLAGS="-p=1 -mod=readonly"
export GOTOOLCHAIN=local

passed=0
failed=0

# check NAME COMMAND...: counts the command, and shows its output if it fails.
check() {
  local name=$1 output
  shift
  if output=$("$@" 2>&1); then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf 'FAILED: %s\n%s\n' "$name" "$output"
  fi
}

# tests NAME FLAGS...: counts each test.
tests() {
  local name=$1 log=build/$1.log status
  shift
  go test -count=1 -v "$@" ./... >"$log" 2>&1
  status=$?
  passed=$((passed + $(grep -c '^--- PASS' "$log")))
  local failures
  failures=$(grep -c '^--- FAIL' "$log")
  failed=$((failed + failures))
  [ "$name" = race ] || grep '^--- SKIP' "$log"
  if [ "$status" -ne 0 ]; then
    [ "$failures" -ne 0 ] || failed=$((failed + 1))
    printf 'FAILED: tests, %s\n' "$name"
    grep -v '^=== \|^--- PASS' "$log" | tail -n 60
  fi
}

formatted() { [ -z "$(gofmt -l . | tee /dev/stderr)" ]; }

# staticcheck is used if it is installed, or can be installed by go install.
staticcheck_version=v0.8.2
find_staticcheck() {
  staticcheck=$(command -v staticcheck) && return
  staticcheck=$PWD/build/bin/staticcheck
  [ -x "$staticcheck" ] && return
  GOFLAGS= timeout 10 go list -m "honnef.co/go/tools@$staticcheck_version" >build/staticcheck.log 2>&1 || return
  env GOFLAGS=-p=1 CGO_CFLAGS= CGO_LDFLAGS= CGO_ENABLED=0 GOBIN="$PWD/build/bin" timeout 300 \
    go install "honnef.co/go/tools/cmd/staticcheck@$staticcheck_version" >build/staticcheck.log 2>&1
}

mkdir -p build
check "gofmt" formatted
check "warnings of the C compiler" "${CC:-gcc}" -std=c99 -fsyntax-only -Wall -Wextra -Werror \
  "-I$CAMBIUM_PREFIX/include" shim_write.c shim_read.c shim_iter.c shim_txn.c shim_async.c
check "go build" go build ./...
check "go vet" go vet ./...
check "go mod verify" go mod verify
if find_staticcheck; then
  check "staticcheck" "$staticcheck" ./...
else
  echo "not run: staticcheck, which cannot be installed"
fi
tests plain
tests race -race -short

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
